//! Fragment metadata: the footer and each section, versions 1 and 2, consolidated footers.
//!
//! Where a decoder needs a schema, its payload stands in front, behind its length of two bytes.

use talavera_fragment::{
    ConsolidatedFooters, Cover, FieldId, FieldLayout, FieldSection, Footer, FooterLocation, FragmentStatistics,
    ProcessedConditions, RTree, TileMinMax, TileNullCounts, TileOffsets, TileSizes, TileSums, ValueSize, exact_statistics,
    float_bounds_are_exact, legacy, statistics_are_exact, stored_statistics,
};
use talavera_schema::ArraySchema;
use talavera_types::Datatype;

use crate::input::Input;
use crate::{encoded, stable};

const SECTIONS: [FieldSection; 8] = [
    FieldSection::TileOffsets,
    FieldSection::TileVarOffsets,
    FieldSection::TileVarSizes,
    FieldSection::TileValidityOffsets,
    FieldSection::Mins,
    FieldSection::Maxes,
    FieldSection::Sums,
    FieldSection::NullCounts,
];

/// A footer; input: the schema; the footer.
pub fn footer(data: &[u8]) {
    let mut input = Input::new(data);
    let Some(schema) = input.schema() else { return };
    let bytes = input.rest();
    let Ok(footer) = Footer::decode_all(bytes, &schema) else { return };
    let peeked = Footer::peek(bytes).expect("the front of a footer is decoded as the whole");
    assert_eq!(peeked, (footer.version, footer.schema_name.clone()));
    let decode = |bytes: &[u8]| Footer::decode_all(bytes, &schema);
    let footer = stable(&footer, |footer| encoded(|w| footer.encode(w, &schema)), decode);
    look_at_footer(&footer, &schema);
    let file = encoded(|w| footer.encode_at_end(w, &schema));
    if let (Some(location), Some(last_eight)) = (FooterLocation::of(footer.version, &schema), file.last_chunk()) {
        let _ = location.range(file.len() as u64, *last_eight);
        let _ = location.range(u64::from_le_bytes(*last_eight), [0xff; 8]);
    }
}

fn look_at_footer(footer: &Footer, schema: &ArraySchema) {
    for (file, _) in footer.data_files() {
        assert!(file.name(footer.version, schema).is_some(), "a data file has no name");
    }
    for field in footer.layout.fields() {
        assert!(footer.layout.index(field).is_some() && footer.field(field).is_some());
        for section in SECTIONS {
            if let Some(offset) = footer.section(section, field) {
                let _ = footer.section_end(offset, u64::MAX);
            }
        }
        let _ = (stored_statistics(schema, field, footer.dense), exact_statistics(footer.version, schema, field, footer.dense));
        let _ = statistics_are_exact(footer.version, schema, field, footer.dense);
        if let Some(shape) = field.shape(schema) {
            let _ = (shape.cell_bytes(), ValueSize::of(shape));
        }
    }
}

/// The front of a footer; input: the footer.
pub fn footer_peek(data: &[u8]) {
    let _ = Footer::peek(data);
}

/// An R-tree; input: u8 version; the schema; the payload.
pub fn rtree(data: &[u8]) {
    let mut input = Input::new(data);
    let version = input.version();
    let Some(schema) = input.schema() else { return };
    let domain = &schema.domain;
    let Ok(tree) = RTree::decode(input.rest(), version, domain) else { return };
    let encode = |tree: &RTree| encoded(|w| tree.encode(w, version, domain));
    let tree = stable(&tree, encode, |bytes| RTree::decode(bytes, version, domain));
    let leaves = tree.leaves().len();
    assert!(tree.levels().last().is_none_or(|level| level.len() == leaves));
    for range in tree.leaves().iter().take(4).chain(tree.levels().first().and_then(|root| root.first())) {
        assert!(tree.tiles_intersecting(range).iter().all(|cover| cover.tile < leaves), "a tile that is none");
    }
    assert_eq!(tree.search(|_| Cover::Full).len(), leaves, "a tree that covers all has all tiles");
    assert!(tree.search(|_| Cover::None).is_empty() && tree.search(|_| Cover::Partial).len() <= leaves);
    let built = RTree::build(tree.leaves().to_vec());
    assert_eq!(built.leaves().len(), leaves);
}

/// Tile offsets; input: u64 bytes of the file that they point into; the payload.
pub fn tile_offsets(data: &[u8]) {
    let mut input = Input::new(data);
    let file_bytes = input.u64();
    let Ok(offsets) = TileOffsets::decode(input.rest()) else { return };
    let offsets = stable(&offsets, |offsets| encoded(|w| offsets.encode(w)), TileOffsets::decode);
    assert!(offsets.get(offsets.len()).is_none() && offsets.range(offsets.len(), file_bytes).is_err());
    for tile in 0..offsets.len() {
        if let Ok(range) = offsets.range(tile, file_bytes) {
            assert!(range.start <= range.end && range.end <= file_bytes, "a tile ends behind its file");
        }
    }
    if let Ok(ranges) = offsets.ranges(file_bytes) {
        let sizes = offsets.sizes(file_bytes).expect("ranges have sizes");
        assert!(ranges.iter().map(|range| range.end - range.start).eq(sizes), "ranges and sizes differ");
    }
}

/// Tile sizes; input: the payload.
pub fn tile_sizes(data: &[u8]) {
    let Ok(sizes) = TileSizes::decode(data) else { return };
    let sizes = stable(&sizes, |sizes| encoded(|w| sizes.encode(w)), TileSizes::decode);
    assert!(sizes.is_empty() == (sizes.len() == 0) && sizes.get(sizes.len()).is_none());
}

/// Minima or maxima; input: u8 bytes of a value, 0 where they differ; the payload.
pub fn tile_min_max(data: &[u8]) {
    let mut input = Input::new(data);
    let size = match input.u8() {
        0 => ValueSize::Var,
        bytes => ValueSize::Fixed(bytes.into()),
    };
    let Ok(bounds) = TileMinMax::decode(input.rest(), size) else { return };
    let decode = |bytes: &[u8]| TileMinMax::decode(bytes, size);
    let bounds = stable(&bounds, |bounds| encoded(|w| bounds.encode(w)), decode);
    let values: Vec<_> = (0..bounds.len()).map(|tile| bounds.value(tile).expect("every tile has a value")).collect();
    assert!(bounds.value(bounds.len()).is_none() && bounds.is_empty() == values.is_empty());
    let again = TileMinMax::new(size, values.iter().copied()).expect("values make bounds");
    assert!((0..again.len()).map(|tile| again.value(tile)).eq(values.into_iter().map(Some)), "values changed on their way");
}

/// Sums; input: the payload.
pub fn tile_sums(data: &[u8]) {
    let Ok(sums) = TileSums::decode(data) else { return };
    let sums = stable(&sums, |sums| encoded(|w| sums.encode(w)), TileSums::decode);
    for tile in 0..sums.len().min(64) {
        for datatype in Datatype::ALL {
            if let Some(sum) = sums.sum(tile, *datatype) {
                assert_eq!(Some(sum.to_bits()), sums.get(tile));
                let _ = (sum.is_exact(), float_bounds_are_exact(f64::from_bits(sum.to_bits())));
            }
        }
    }
}

/// Null counts; input: the payload.
pub fn tile_null_counts(data: &[u8]) {
    let Ok(counts) = TileNullCounts::decode(data) else { return };
    let counts = stable(&counts, |counts| encoded(|w| counts.encode(w)), TileNullCounts::decode);
    assert!(counts.is_empty() == (counts.len() == 0) && counts.get(counts.len()).is_none());
}

/// Statistics of a fragment; input: u8 version; u8 flags (1 timestamps, 2 delete metadata); the schema; the payload.
pub fn fragment_statistics(data: &[u8]) {
    let mut input = Input::new(data);
    let (version, flags) = (input.version(), input.u8());
    let Some(schema) = input.schema() else { return };
    let layout = FieldLayout::new(version, &schema, flags & 1 != 0, flags & 2 != 0);
    let Ok(statistics) = FragmentStatistics::decode(input.rest(), layout) else { return };
    let decode = |bytes: &[u8]| FragmentStatistics::decode(bytes, layout);
    let statistics = stable(&statistics, |statistics| encoded(|w| statistics.encode(w)), decode);
    assert_eq!(statistics.fields.len(), layout.count());
    for (field, statistics) in layout.fields().zip(&statistics.fields) {
        let datatype = field.shape(&schema).map_or(Datatype::Any, |shape| shape.datatype);
        let _ = statistics.sum(datatype);
    }
    let _ = (layout.has_timestamps(), layout.has_delete_metadata(), layout.index(FieldId::Timestamps));
}

/// The list of processed conditions; input: the payload.
pub fn processed_conditions(data: &[u8]) {
    let Ok(processed) = ProcessedConditions::decode(data) else { return };
    let processed = stable(&processed, |value| encoded(|w| value.encode(w)), ProcessedConditions::decode);
    assert!(processed.conditions.iter().take(64).all(|path| processed.contains(path)));
}

/// Consolidated footers; input: the payload.
pub fn consolidated_footers(data: &[u8]) {
    let Ok(footers) = ConsolidatedFooters::decode(data) else { return };
    let again = encoded(|w| footers.encode(w));
    let decoded = ConsolidatedFooters::decode(&again).expect("what was encoded is decoded");
    assert_eq!(encoded(|w| decoded.encode(w)), again, "a value changed on its way");
    for footer in footers.footers.iter().take(64) {
        assert!(footers.footer_bytes(footer.folder()).is_some(), "a fragment is not found by its folder");
        let _ = Footer::peek(footer.bytes);
    }
    assert!(footers.footer_bytes("/").is_none_or(|bytes| bytes.len() <= data.len()));
}

/// Metadata of versions 1 and 2; input: u8, whether the fragment is dense; the schema; the payload.
pub fn legacy_metadata(data: &[u8]) {
    let mut input = Input::new(data);
    let dense = input.u8() & 1 != 0;
    let Some(schema) = input.schema() else { return };
    let Ok(metadata) = legacy::decode(input.rest(), &schema, dense) else { return };
    let decode = |bytes: &[u8]| legacy::decode(bytes, &schema, dense);
    let metadata = stable(&metadata, |metadata| encoded(|w| metadata.encode(w, &schema)), decode);
    look_at_footer(&metadata.footer, &schema);
    for (entry, offsets) in metadata.footer.fields.iter().zip(&metadata.tile_offsets) {
        let _ = offsets.ranges(entry.file_bytes);
    }
    let _ = metadata.rtree.search(|_| Cover::Full);
}
