//! Generic tiles, which carry every metadata structure but footers: the format's generic-tile page and 02-generic-tile.
//!
//! A header that says how to undo the filters, then an ordinary tile of bytes.

use talavera_codec::{DecodeError, DecodeErrorKind, Limits, Reader, Writer};
use talavera_filter::{FilterError, FilterList, FilterSpec};
use talavera_types::{Datatype, EncryptionType, FilterType, FormatVersion};

use crate::{ChunkTable, EncryptionKey, GenericTileError, Pipeline, PipelineError, TileFormat};

/// What stands before the data of a generic tile.
#[derive(Debug, Clone, PartialEq)]
pub struct GenericTileHeader {
    /// The newest format version that the writing library knew; not that of the array or fragment.
    pub version: FormatVersion,
    /// Bytes of the tile behind the header.
    pub persisted_bytes: u64,
    /// Bytes of the decoded tile.
    pub tile_bytes: u64,
    /// The datatype that the filters see; CHAR in every known file.
    pub datatype: Datatype,
    /// Bytes of one cell; 1 in every known file.
    pub cell_bytes: u64,
    /// How the tile is encrypted.
    pub encryption: EncryptionType,
    /// The filters, with encryption at their end where the tile is encrypted.
    pub filters: FilterList,
}

impl GenericTileHeader {
    /// Reads a header.
    ///
    /// # Errors
    /// A [`DecodeError`] for damaged bytes, unknown codes, and a filter list that is longer than its filters.
    pub fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let version = FormatVersion::decode(r, "generic tile version")?;
        let persisted_bytes = r.u64("generic tile persisted size")?;
        let tile_bytes = r.u64("generic tile size")?;
        let datatype = Datatype::decode(r, "generic tile datatype")?;
        let cell_bytes = r.u64("generic tile cell size")?;
        let encryption = EncryptionType::decode(r, "generic tile encryption type")?;
        let filter_pipeline_bytes = r.u32("generic tile filter pipeline size")?;
        let mut filter_pipeline = r.split(filter_pipeline_bytes.into(), "generic tile filter pipeline")?;
        let filters = FilterList::decode(&mut filter_pipeline)?;
        filter_pipeline.finish("generic tile filter pipeline")?;
        Ok(Self { version, persisted_bytes, tile_bytes, datatype, cell_bytes, encryption, filters })
    }

    /// Writes the header.
    pub fn encode(&self, w: &mut Writer) {
        self.version.encode(w);
        w.u64(self.persisted_bytes);
        w.u64(self.tile_bytes);
        self.datatype.encode(w);
        w.u64(self.cell_bytes);
        self.encryption.encode(w);
        let mut filter_pipeline = Writer::new();
        self.filters.encode(&mut filter_pipeline, self.version);
        w.bytes_u32(filter_pipeline.as_slice());
    }

    fn pipeline(&self, key: Option<&EncryptionKey>) -> Result<Pipeline, GenericTileError> {
        // More than memory can address is refused as cells of 0 bytes are.
        let cell_bytes = usize::try_from(self.cell_bytes).unwrap_or(0);
        let format = TileFormat { datatype: self.datatype, cell_bytes, version: self.version };
        Ok(Pipeline::new(&self.filters, format, key)?)
    }
}

/// The two directions of a generic tile; the payload is bytes that other crates understand.
#[derive(Debug)]
pub struct GenericTile;

impl GenericTile {
    /// Decodes the generic tile at the front of `bytes`: its payload, and the bytes that it takes on disk. Other bytes
    /// may follow it.
    ///
    /// The size of the payload is charged to `limits` before it becomes an allocation.
    ///
    /// # Errors
    /// [`GenericTileError::EncryptionMismatch`] when a key is given exactly where none is needed or missing where one is,
    /// [`GenericTileError::WrongKey`] when the key does not open the tile, and the errors of header and pipeline.
    pub fn decode(bytes: &[u8], key: Option<&EncryptionKey>, limits: &Limits) -> Result<(Vec<u8>, usize), GenericTileError> {
        let mut r = Reader::new(bytes);
        let header = GenericTileHeader::decode(&mut r)?;
        check_encryption(&header, key)?;
        let pipeline = header.pipeline(key)?;
        let tile = r.bytes(header.persisted_bytes, "generic tile data")?;
        // The table is checked against the bytes at hand before the size that it must add up to is believed.
        let found = ChunkTable::decode(tile).map_err(PipelineError::from)?.original_bytes() as u64;
        if found != header.tile_bytes {
            return Err(PipelineError::TileSize { found, expected: header.tile_bytes }.into());
        }
        let mut payload = vec![0; limits.charge("generic tile size", header.tile_bytes)?];
        pipeline.decode_tile(tile, &mut payload).map_err(wrong_key)?;
        Ok((payload, bytes.len() - r.remaining()))
    }

    /// Encodes a payload as the reference does: GZIP of level 1, then encryption if there is a key. `version` is the
    /// newest format version that the reader is expected to know, as a rule that of the array.
    ///
    /// # Errors
    /// [`PipelineError::Unsupported`] when GZIP, or encryption with a key, was switched off at build time, and errors of
    /// encryption.
    pub fn encode(payload: &[u8], version: FormatVersion, key: Option<&EncryptionKey>) -> Result<Vec<u8>, GenericTileError> {
        let mut filters = FilterList::new(vec![FilterSpec::Gzip { level: 1 }]);
        if key.is_some() {
            filters.filters.push(FilterSpec::Aes256Gcm);
        }
        let mut header = GenericTileHeader {
            version,
            persisted_bytes: 0,
            tile_bytes: payload.len() as u64,
            datatype: Datatype::Char,
            cell_bytes: 1,
            encryption: encryption_of(key),
            filters,
        };
        let pipeline = header.pipeline(key)?;
        let tile = if payload.is_empty() { Pipeline::encode_empty_tile() } else { pipeline.encode_tile(payload)? };
        header.persisted_bytes = tile.len() as u64;
        let mut w = Writer::with_capacity(64 + tile.len());
        header.encode(&mut w);
        w.bytes(&tile);
        Ok(w.into_vec())
    }
}

fn encryption_of(key: Option<&EncryptionKey>) -> EncryptionType {
    if key.is_some() { EncryptionType::Aes256Gcm } else { EncryptionType::None }
}

fn check_encryption(header: &GenericTileHeader, key: Option<&EncryptionKey>) -> Result<(), GenericTileError> {
    let (found, given) = (header.encryption, encryption_of(key));
    if found != given {
        return Err(GenericTileError::EncryptionMismatch { found, given });
    }
    // Without this, a header that was altered in one place would pass off a tile as authentic that is not.
    if found == EncryptionType::Aes256Gcm && !header.filters.contains(FilterType::Aes256Gcm) {
        return Err(GenericTileError::MissingEncryptionFilter { found });
    }
    Ok(())
}

/// Tells apart what encryption refused because of the key, or of altered bytes, from other damage.
fn wrong_key(source: PipelineError) -> GenericTileError {
    match &source {
        PipelineError::Chunk { source: FilterError::Corrupt { filter: FilterType::Aes256Gcm, source: refusal }, .. }
            if matches!(refusal.kind, DecodeErrorKind::Refused { .. }) =>
        {
            GenericTileError::WrongKey { source }
        }
        _ => source.into(),
    }
}

#[cfg(all(test, feature = "gzip", feature = "encryption"))]
mod tests;
