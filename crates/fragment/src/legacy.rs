//! Fragment metadata of versions 1 and 2: fragment page, "Footer", note on versions 1 and 2.

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_schema::{ArraySchema, NdRange};
use talavera_types::FormatVersion;

use crate::rtree::mbr_bytes;
use crate::{FieldEntry, FieldLayout, Footer, RTree, TileOffsets, TileSizes};

/// All metadata of a fragment of version 1 or 2, in the shape that later versions have.
///
/// Fields are the attributes and, last, `__coords`; lists about variable lengths are of attributes only.
#[derive(Debug, Clone, PartialEq)]
pub struct LegacyMetadata {
    /// What later versions keep in the footer. Its offsets are all 0.
    pub footer: Footer,
    /// The tree over the MBRs, built here: files of these versions hold the leaves only.
    pub rtree: RTree,
    /// The first and the last cell's coordinates of each tile, as they are stored; nothing needs them.
    pub bounding_coordinates: Vec<u8>,
    /// For each field, where its tiles begin.
    pub tile_offsets: Vec<TileOffsets>,
    /// For each attribute, where the tiles of its variable-length values begin.
    pub tile_var_offsets: Vec<TileOffsets>,
    /// For each attribute, the sizes of the tiles of its variable-length values.
    pub tile_var_sizes: Vec<TileSizes>,
}

/// Reads the payload of the one generic tile that these versions have.
///
/// `dense` is not stored: a fragment is dense if its folder has no `__coords.tdb`. `schema` is `__array_schema.tdb`.
///
/// # Errors
/// When the version is another, or counts do not match the bytes or the schema.
pub fn decode(payload: &[u8], schema: &ArraySchema, dense: bool) -> Result<LegacyMetadata, DecodeError> {
    let mut r = Reader::new(payload);
    let version = decode_version(&mut r)?;
    let layout = FieldLayout::new(version, schema, false, false);
    let attributes = layout.var_count(version);
    let non_empty_domain = decode_non_empty_domain(&mut r, schema)?;
    let mbr_bytes = mbr_bytes(&schema.domain);
    let mbr_count = r.count_u64("mbr num", mbr_bytes)?;
    let mbrs = (0..mbr_count).map(|_| NdRange::decode(&mut r, &schema.domain, "MBR")).collect::<Result<Vec<_>, _>>()?;
    let pair_count = r.count_u64("bounding coords num", mbr_bytes)? as u64;
    let bounding_coordinates = r.bytes(pair_count.saturating_mul(mbr_bytes), "bounding coords")?.to_vec();
    let tile_offsets = lists(layout.count(), || TileOffsets::decode_next(&mut r))?;
    let tile_var_offsets = lists(attributes, || TileOffsets::decode_next(&mut r))?;
    let tile_var_sizes = lists(attributes, || TileSizes::decode_next(&mut r))?;
    let last_tile_cells = r.u64("last tile cell num")?;
    let mut fields = vec![FieldEntry::default(); layout.count()];
    FieldEntry::decode_sizes(&mut r, &mut fields, version, layout)?;
    r.finish("fragment metadata")?;
    let footer = Footer {
        version,
        schema_name: None,
        dense,
        non_empty_domain,
        sparse_tile_count: if dense { 0 } else { mbr_count as u64 },
        last_tile_cells,
        layout,
        fields,
        rtree: 0,
        fragment_statistics: None,
        processed_conditions: None,
        optional_sections: Vec::new(),
    };
    let rtree = RTree::build(mbrs);
    Ok(LegacyMetadata { footer, rtree, bounding_coordinates, tile_offsets, tile_var_offsets, tile_var_sizes })
}

impl LegacyMetadata {
    /// Writes what [`decode`] reads.
    pub fn encode(&self, w: &mut Writer, schema: &ArraySchema) {
        let Footer { version, layout, fields, .. } = &self.footer;
        let mbr_bytes = mbr_bytes(&schema.domain);
        version.encode(w);
        w.u64(if self.footer.non_empty_domain.is_some() { mbr_bytes } else { 0 });
        if let Some(domain) = &self.footer.non_empty_domain {
            domain.encode(w, &schema.domain);
        }
        w.len_u64(self.rtree.leaves().len());
        for mbr in self.rtree.leaves() {
            mbr.encode(w, &schema.domain);
        }
        w.u64((self.bounding_coordinates.len() as u64).checked_div(mbr_bytes).unwrap_or(0));
        w.bytes(&self.bounding_coordinates);
        self.tile_offsets.iter().for_each(|list| list.encode(w));
        self.tile_var_offsets.iter().for_each(|list| list.encode(w));
        self.tile_var_sizes.iter().for_each(|list| list.encode(w));
        w.u64(self.footer.last_tile_cells);
        FieldEntry::encode_sizes(w, fields, *version, *layout);
    }
}

fn decode_version(r: &mut Reader<'_>) -> Result<FormatVersion, DecodeError> {
    let start = r.clone();
    let version = FormatVersion::decode(r, "fragment version")?;
    if version.has_footer() {
        return Err(start.invalid("fragment version", version.number().into(), "a version without footers (1 or 2)"));
    }
    Ok(version)
}

/// The non-empty domain behind its size in bytes; size 0 means none.
fn decode_non_empty_domain(r: &mut Reader<'_>, schema: &ArraySchema) -> Result<Option<NdRange>, DecodeError> {
    let offset = r.offset();
    let expected = mbr_bytes(&schema.domain);
    match r.u64("non-empty domain size")? {
        0 => Ok(None),
        found if found == expected => NdRange::decode(r, &schema.domain, "non-empty domain").map(Some),
        found => Err(DecodeErrorKind::Mismatch { found, expected }.at("non-empty domain size", offset)),
    }
}

fn lists<T>(count: usize, mut decode: impl FnMut() -> Result<T, DecodeError>) -> Result<Vec<T>, DecodeError> {
    (0..count).map(|_| decode()).collect()
}

#[cfg(test)]
mod tests;
