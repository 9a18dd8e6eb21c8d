//! The footer of fragment metadata: fragment page, "Footer" and "Optional Footer Sections".

mod location;
mod optional;
mod sections;

use talavera_codec::{DecodeError, Reader, Writer};
use talavera_schema::{ArraySchema, NdRange};
use talavera_types::FormatVersion;

pub use location::FooterLocation;
pub use optional::OptionalSection;
pub use sections::FieldSection;

use crate::{DataFile, DataPart, FieldId, FieldLayout};

/// What is known of a fragment without reading any list: its kind, extent, file sizes, and where the lists are.
///
/// Offsets are in bytes from the start of the metadata file and point to generic tiles; the footer itself is neither
/// filtered nor encrypted. Fragments of versions 1 and 2 have no footer on disk; [`legacy`](crate::legacy) gives the same
/// shape, all offsets 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Footer {
    /// The version that the fragment was written in.
    pub version: FormatVersion,
    /// The file name of the fragment's schema, from version 10 on; before, it is `__array_schema.tdb`.
    pub schema_name: Option<String>,
    /// Whether the fragment holds a value for every cell of its domain. Up to version 9 a dense array may have sparse
    /// fragments.
    pub dense: bool,
    /// Sparse: the smallest and largest coordinate of each dimension. Dense: the subarray that was written, not rounded to
    /// tiles. No library writes a fragment without one.
    pub non_empty_domain: Option<NdRange>,
    /// The number of tiles of a sparse fragment; 0 in a dense one, where the non-empty domain gives it.
    pub sparse_tile_count: u64,
    /// Cells in the last tile of a sparse fragment, never 0 in practice; cells of each tile in a dense one.
    pub last_tile_cells: u64,
    /// Which fields there are; carries the flags for timestamps (from version 14 on) and delete metadata (15).
    pub layout: FieldLayout,
    /// File sizes and offsets of each field, in the order of `layout`.
    pub fields: Vec<FieldEntry>,
    /// Offset of the R-tree.
    pub rtree: u64,
    /// Offset of the fragment statistics; from version 12 on. (Version 11 may have 8 bytes here that mean nothing.)
    pub fragment_statistics: Option<u64>,
    /// Offset of the processed conditions; from version 16 on. (Files of version 15 have the tile, but no offset.)
    pub processed_conditions: Option<u64>,
    /// Sections that a reader may skip; from version 23 on.
    pub optional_sections: Vec<OptionalSection>,
}

/// What a footer says of one field. Sizes are 0 where there is no file, offsets where the version has no such list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FieldEntry {
    /// Bytes of the file of cells, or of offsets.
    pub file_bytes: u64,
    /// Bytes of the file of variable-length values.
    pub var_file_bytes: u64,
    /// Bytes of the validity file; from version 7 on.
    pub validity_file_bytes: u64,
    /// Offset of the [`TileOffsets`](crate::TileOffsets) of the file of cells, or of offsets.
    pub tile_offsets: u64,
    /// Offset of the [`TileOffsets`](crate::TileOffsets) of the file of variable-length values.
    pub tile_var_offsets: u64,
    /// Offset of the [`TileSizes`](crate::TileSizes) of variable-length values.
    pub tile_var_sizes: u64,
    /// Offset of the [`TileOffsets`](crate::TileOffsets) of the validity file; from version 7 on.
    pub tile_validity_offsets: u64,
    /// Offset of the minima, a [`TileMinMax`](crate::TileMinMax); from version 11 on.
    pub mins: u64,
    /// Offset of the maxima, a [`TileMinMax`](crate::TileMinMax); from version 11 on.
    pub maxes: u64,
    /// Offset of the [`TileSums`](crate::TileSums); from version 11 on.
    pub sums: u64,
    /// Offset of the [`TileNullCounts`](crate::TileNullCounts); from version 11 on.
    pub null_counts: u64,
}

impl Footer {
    /// The version and, from version 10 on, the schema's name: all that is needed to find the schema that
    /// [`Footer::decode`] asks for.
    ///
    /// # Errors
    /// When the version is not supported or has no footer, or the name is cut off, empty or not UTF-8.
    pub fn peek(bytes: &[u8]) -> Result<(FormatVersion, Option<String>), DecodeError> {
        Self::decode_head(&mut Reader::new(bytes))
    }

    fn decode_head(r: &mut Reader<'_>) -> Result<(FormatVersion, Option<String>), DecodeError> {
        let start = r.clone();
        let version = FormatVersion::decode(r, "footer version")?;
        if !version.has_footer() {
            return Err(start.invalid("footer version", version.number().into(), "a version that has footers (3 to 23)"));
        }
        if !version.has_schema_folder() {
            return Ok((version, None));
        }
        let start = r.clone();
        let schema_name = r.string_u64("schema name")?;
        if schema_name.is_empty() {
            return Err(start.invalid("schema name length", 0, "the length of a file name"));
        }
        Ok((version, Some(schema_name)))
    }

    /// Reads a footer and stops behind it. `schema` is the fragment's own: the one that it names, else
    /// `__array_schema.tdb`.
    ///
    /// # Errors
    /// When the bytes end early or say what cannot be. A schema that is not the fragment's makes for nonsense or an error.
    pub fn decode(r: &mut Reader<'_>, schema: &ArraySchema) -> Result<Self, DecodeError> {
        let (version, schema_name) = Self::decode_head(r)?;
        let dense = r.bool("dense")?;
        // The flag means that no domain follows. Libraries that set it would write zeros all the same, but never do.
        let no_domain = r.bool("null non-empty domain")?;
        let non_empty_domain = if no_domain { None } else { Some(NdRange::decode(r, &schema.domain, "non-empty domain")?) };
        let sparse_tile_count = r.u64("sparse tile num")?;
        let last_tile_cells = r.u64("last tile cell num")?;
        let has_timestamps = version.has_cell_timestamps() && r.bool("includes timestamps")?;
        let has_delete_metadata = version.has_delete_metadata() && r.bool("includes delete metadata")?;
        let layout = FieldLayout::new(version, schema, has_timestamps, has_delete_metadata);
        let mut fields = vec![FieldEntry::default(); layout.count()];
        FieldEntry::decode_sizes(r, &mut fields, version, layout)?;
        let rtree = r.u64("R-tree offset")?;
        FieldEntry::decode_offsets(r, &mut fields, version, layout)?;
        let fragment_statistics =
            if version.has_fragment_statistics() { Some(r.u64("fragment statistics offset")?) } else { None };
        let processed_conditions =
            if version.has_processed_conditions() { Some(r.u64("processed conditions offset")?) } else { None };
        let optional_sections = if version.has_optional_sections() {
            OptionalSection::decode_all(r, schema.domain.dimensions.len() as u64)?
        } else {
            Vec::new()
        };
        Ok(Self {
            version,
            schema_name,
            dense,
            non_empty_domain,
            sparse_tile_count,
            last_tile_cells,
            layout,
            fields,
            rtree,
            fragment_statistics,
            processed_conditions,
            optional_sections,
        })
    }

    /// Reads bytes that are one footer and nothing else, as the end of a metadata file (without the length there) or an
    /// entry of [`ConsolidatedFooters`](crate::ConsolidatedFooters).
    ///
    /// In version 11, 8 more bytes are let pass: libraries from 2.8 on leave room for an offset that the version does not
    /// have, without a value.
    ///
    /// # Errors
    /// As [`Footer::decode`], and for bytes left over.
    pub fn decode_all(bytes: &[u8], schema: &ArraySchema) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let footer = Self::decode(&mut r, schema)?;
        if footer.version.has_tile_statistics() && !footer.version.has_fragment_statistics() && r.remaining() == 8 {
            r.u64("stray offset")?;
        }
        r.finish("footer")?;
        Ok(footer)
    }

    /// Writes what [`Footer::decode`] reads.
    ///
    /// Fields without an entry are written as zeros, a schema name that is missing as `__array_schema.tdb`. A missing
    /// non-empty domain should not be written: other readers expect one.
    pub fn encode(&self, w: &mut Writer, schema: &ArraySchema) {
        let (version, layout) = (self.version, self.layout);
        version.encode(w);
        if version.has_schema_folder() {
            w.string_u64(self.schema_name.as_deref().unwrap_or("__array_schema.tdb"));
        }
        w.bool(self.dense);
        w.bool(self.non_empty_domain.is_none());
        if let Some(domain) = &self.non_empty_domain {
            domain.encode(w, &schema.domain);
        }
        w.u64(self.sparse_tile_count);
        w.u64(self.last_tile_cells);
        if version.has_cell_timestamps() {
            w.bool(layout.has_timestamps());
        }
        if version.has_delete_metadata() {
            w.bool(layout.has_delete_metadata());
        }
        FieldEntry::encode_sizes(w, &self.fields, version, layout);
        w.u64(self.rtree);
        FieldEntry::encode_offsets(w, &self.fields, version, layout);
        if version.has_fragment_statistics() {
            w.u64(self.fragment_statistics.unwrap_or_default());
        }
        if version.has_processed_conditions() {
            w.u64(self.processed_conditions.unwrap_or_default());
        }
        if version.has_optional_sections() {
            OptionalSection::encode_all(&self.optional_sections, w);
        }
    }

    /// Writes the footer as it ends a metadata file: where the version and the schema ask for it, its length follows.
    pub fn encode_at_end(&self, w: &mut Writer, schema: &ArraySchema) {
        let start = w.len();
        self.encode(w, schema);
        if FooterLocation::of(self.version, schema) == Some(FooterLocation::LengthInLastEightBytes) {
            w.len_u64(w.len() - start);
        }
    }

    /// What the footer says of a field, or `None` for one that the fragment does not have.
    #[must_use]
    pub fn field(&self, field: FieldId) -> Option<&FieldEntry> {
        self.fields.get(self.layout.index(field)?)
    }

    /// The data files that the fragment should have, with their sizes in bytes.
    pub fn data_files(&self) -> impl Iterator<Item = (DataFile, u64)> {
        let parts = |(field, entry): (FieldId, &FieldEntry)| {
            [
                (DataFile { field, part: DataPart::Fixed }, entry.file_bytes),
                (DataFile { field, part: DataPart::Var }, entry.var_file_bytes),
                (DataFile { field, part: DataPart::Validity }, entry.validity_file_bytes),
            ]
        };
        self.layout.fields().zip(&self.fields).flat_map(parts).filter(|(_, bytes)| *bytes > 0)
    }
}

#[cfg(test)]
mod tests;
