//! Metadata that libtiledb wrote, releases 1.4 to 2.30 and the main branch: every byte is accounted for, and written again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "tests fail by panicking"
)]

#[path = "support/real.rs"]
mod support;

use std::collections::BTreeSet;
use std::path::Path;

use support::{RealConsolidated, RealFragment, data, files, name_version};
use talavera_codec::Writer;
use talavera_fragment::{
    ConsolidatedFooters, FieldId, FieldSection, Footer, FooterLocation, FragmentStatistics, OptionalSection, ProcessedConditions,
    RTree, TileMinMax, TileNullCounts, TileOffsets, TileSizes, TileSums, ValueSize, legacy, stored_statistics,
};

#[test]
fn every_byte_of_real_metadata_is_decoded_and_encoded_again() {
    check_folder(&data(""));
}

#[test]
#[ignore = "needs a folder of more files, named by TALAVERA_FRAGMENT_DATA"]
fn every_byte_of_more_real_metadata_is_decoded_and_encoded_again() {
    check_folder(Path::new(&std::env::var("TALAVERA_FRAGMENT_DATA").unwrap()));
}

fn check_folder(folder: &Path) {
    let (mut checked, mut failed) = (0, Vec::new());
    for path in [files(folder, "fragment"), files(folder, "consolidated")].concat() {
        checked += 1;
        if std::panic::catch_unwind(|| check_file(&path)).is_err() {
            failed.push(path);
        }
    }
    assert!(checked > 0, "no files");
    assert!(failed.is_empty(), "{} of {checked} files: {failed:#?}", failed.len());
}

fn check_file(path: &Path) {
    if path.extension().is_some_and(|extension| extension == "consolidated") {
        return check_consolidated(&RealConsolidated::read(path));
    }
    let fragment = RealFragment::read(path);
    if fragment.name_version().has_footer() { check_fragment(&fragment) } else { check_legacy(&fragment) }
}

fn encoded(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut w = Writer::new();
    write(&mut w);
    w.into_vec()
}

fn check_data_files(fragment: &RealFragment, footer: &Footer) {
    let named = footer.data_files().map(|(file, bytes)| (file.name(footer.version, &fragment.schema).unwrap(), bytes));
    assert_eq!(named.collect::<std::collections::BTreeMap<_, _>>(), fragment.data_files);
}

fn check_tree(tree: &RTree, footer: &Footer) {
    assert_eq!(tree.leaves().len() as u64, footer.sparse_tile_count);
    assert_eq!(*tree, RTree::build(tree.leaves().to_vec()));
    if !footer.dense {
        let root = tree.levels()[0].clone();
        assert_eq!(footer.non_empty_domain.as_ref(), root.first());
        let all = tree.tiles_intersecting(&root[0]);
        assert_eq!(all.len(), tree.leaves().len());
        assert!(all.iter().all(|cover| cover.full));
    }
}

fn check_legacy(fragment: &RealFragment) {
    let dense = !fragment.data_files.contains_key("__coords.tdb");
    let (schema, payload) = (&fragment.schema, &fragment.tiles[&0]);
    let metadata = legacy::decode(payload, schema, dense).unwrap();
    assert_eq!(encoded(|w| metadata.encode(w, schema)), *payload);
    assert_eq!(FooterLocation::of(fragment.name_version(), schema), None);
    check_data_files(fragment, &metadata.footer);
    check_tree(&metadata.rtree, &metadata.footer);
    let tiles = metadata.tile_offsets[0].len();
    for (index, entry) in metadata.footer.fields.iter().enumerate() {
        let offsets = &metadata.tile_offsets[index];
        assert_eq!(offsets.ranges(entry.file_bytes).unwrap().len(), tiles);
        if let Some(offsets) = metadata.tile_var_offsets.get(index) {
            assert_eq!(offsets.ranges(entry.var_file_bytes).unwrap().len(), metadata.tile_var_sizes[index].len());
        }
    }
}

fn check_fragment(fragment: &RealFragment) {
    let schema = &fragment.schema;
    let bytes = fragment.footer_bytes();
    let last_eight = *fragment.file.last_chunk().unwrap();
    let location = FooterLocation::of(fragment.name_version(), schema).unwrap();
    let range = location.range(fragment.file.len() as u64, last_eight).unwrap();
    assert_eq!(range, fragment.footer_offset..fragment.footer_offset + bytes.len() as u64);
    let footer = Footer::decode_all(bytes, schema).unwrap();
    let mut again = encoded(|w| footer.encode(w, schema));
    if footer.version.number() == 11 {
        again.extend(&bytes[again.len()..]);
    }
    assert_eq!(again, bytes);
    if footer.version.number() != 11 {
        assert_eq!(encoded(|w| footer.encode_at_end(w, schema)), fragment.file[usize::try_from(range.start).unwrap()..]);
    }
    assert_eq!(Footer::peek(bytes).unwrap(), (footer.version, footer.schema_name.clone()));
    check_data_files(fragment, &footer);
    let mut seen = Seen { fragment, footer: &footer, seen: BTreeSet::new() };
    check_sections(&mut seen);
    let unseen: Vec<_> = fragment.tiles.keys().filter(|at| !seen.seen.contains(at)).collect();
    assert_eq!(unseen.len(), usize::from(footer.version.number() == 15), "tiles that nothing points to: {unseen:?}");
}

/// The payloads of a fragment, and which were asked for.
struct Seen<'f> {
    fragment: &'f RealFragment,
    footer: &'f Footer,
    seen: BTreeSet<u64>,
}

impl<'f> Seen<'f> {
    fn payload(&mut self, offset: u64) -> &'f [u8] {
        assert!(self.seen.insert(offset), "two sections at {offset}");
        let next = self.fragment.tiles.keys().find(|at| **at > offset).copied();
        let end = next.unwrap_or(self.fragment.footer_offset);
        let bound = self.footer.section_end(offset, self.fragment.footer_offset);
        assert!(bound == end || self.footer.version.number() == 15 && bound > end);
        &self.fragment.tiles[&offset]
    }

    fn section(&mut self, section: FieldSection, field: FieldId) -> Option<&'f [u8]> {
        let offset = self.footer.section(section, field)?;
        Some(self.payload(offset))
    }
}

fn check_sections(seen: &mut Seen<'_>) {
    let (footer, schema) = (seen.footer, &seen.fragment.schema);
    let payload = seen.payload(footer.rtree);
    let tree = RTree::decode(payload, footer.version, &schema.domain).unwrap();
    assert_eq!(encoded(|w| tree.encode(w, footer.version, &schema.domain)), payload);
    check_tree(&tree, footer);
    let first = seen.fragment.tiles[&footer.section(FieldSection::TileOffsets, FieldId::Attribute(0)).unwrap()].clone();
    let tiles = TileOffsets::decode(&first).unwrap().len();
    assert!(footer.dense || tiles as u64 == footer.sparse_tile_count);
    for field in footer.layout.fields() {
        check_lists(seen, field, tiles);
        check_statistics(seen, field, tiles);
    }
    if let Some(offset) = footer.fragment_statistics {
        let payload = seen.payload(offset);
        let statistics = FragmentStatistics::decode(payload, footer.layout).unwrap();
        assert_eq!(encoded(|w| statistics.encode(w)), payload);
        for (field, statistics) in footer.layout.fields().zip(&statistics.fields) {
            let stored = stored_statistics(schema, field, footer.dense);
            let size = field.shape(schema).unwrap().cell_bytes();
            assert!(stored.min_max || statistics.min.is_empty() && statistics.max.is_empty());
            assert!(
                size.is_none_or(|size| statistics.min.len() as u64 == if stored.min_max { size } else { 0 })
                    || field == FieldId::Coordinates
            );
        }
    }
    if let Some(offset) = footer.processed_conditions {
        let payload = seen.payload(offset);
        let processed = ProcessedConditions::decode(payload).unwrap();
        assert_eq!(encoded(|w| processed.encode(w)), payload);
        assert!(processed.conditions.iter().all(|path| path.starts_with("__commits/") && path.ends_with(".del")));
    }
    for section in &footer.optional_sections {
        let OptionalSection::GlobalOrderBounds { mins, maxes } = section else { panic!("{section:?}") };
        for offsets in [mins, maxes] {
            for (dimension, offset) in offsets.iter().enumerate() {
                let size = ValueSize::of(FieldId::Dimension(dimension).shape(schema).unwrap());
                let payload = seen.payload(*offset);
                let bounds = TileMinMax::decode(payload, size).unwrap();
                assert_eq!(encoded(|w| bounds.encode(w)), payload);
                assert_eq!(bounds.len(), tiles);
            }
        }
    }
}

fn check_lists(seen: &mut Seen<'_>, field: FieldId, tiles: usize) {
    let entry = *seen.footer.field(field).unwrap();
    let offsets = [
        (FieldSection::TileOffsets, entry.file_bytes),
        (FieldSection::TileVarOffsets, entry.var_file_bytes),
        (FieldSection::TileValidityOffsets, entry.validity_file_bytes),
    ];
    for (section, file_bytes) in offsets {
        let Some(payload) = seen.section(section, field) else { continue };
        let offsets = TileOffsets::decode(payload).unwrap();
        assert_eq!(encoded(|w| offsets.encode(w)), payload);
        let sizes = offsets.sizes(file_bytes).unwrap();
        assert!(sizes.len() == tiles || sizes.is_empty() && file_bytes == 0, "{section:?} of {field:?}");
        assert_eq!(sizes.iter().sum::<u64>(), file_bytes);
    }
    if let Some(payload) = seen.section(FieldSection::TileVarSizes, field) {
        let sizes = TileSizes::decode(payload).unwrap();
        assert_eq!(encoded(|w| sizes.encode(w)), payload);
        assert!(sizes.len() == tiles || sizes.is_empty() && entry.var_file_bytes == 0);
    }
}

fn check_statistics(seen: &mut Seen<'_>, field: FieldId, tiles: usize) {
    let stored = stored_statistics(&seen.fragment.schema, field, seen.footer.dense);
    let shape = field.shape(&seen.fragment.schema).unwrap();
    let expected = |stored: bool| if stored { tiles } else { 0 };
    for section in [FieldSection::Mins, FieldSection::Maxes] {
        let Some(payload) = seen.section(section, field) else { continue };
        let bounds = TileMinMax::decode(payload, ValueSize::of(shape)).unwrap();
        assert_eq!(encoded(|w| bounds.encode(w)), payload);
        assert_eq!(bounds.len(), expected(stored.min_max), "{section:?} of {field:?}");
    }
    if let Some(payload) = seen.section(FieldSection::Sums, field) {
        let sums = TileSums::decode(payload).unwrap();
        assert_eq!(encoded(|w| sums.encode(w)), payload);
        assert_eq!(sums.len(), expected(stored.sum), "sums of {field:?}");
    }
    if let Some(payload) = seen.section(FieldSection::NullCounts, field) {
        let counts = TileNullCounts::decode(payload).unwrap();
        assert_eq!(encoded(|w| counts.encode(w)), payload);
        assert_eq!(counts.len(), expected(stored.null_count), "null counts of {field:?}");
    }
}

fn check_consolidated(real: &RealConsolidated) {
    let footers = ConsolidatedFooters::decode(&real.payload).unwrap();
    assert_eq!(encoded(|w| footers.encode(w)), real.payload);
    for entry in &footers.footers {
        // Fragments that were vacuumed are still named.
        let Some((schema, own)) = real.fragments.get(entry.folder()) else { continue };
        let footer = Footer::decode_all(entry.bytes, schema).unwrap();
        assert_eq!(footer.version, name_version(entry.folder()));
        let own = Footer::decode(&mut talavera_codec::Reader::new(own), schema).unwrap();
        assert_eq!(footer, own);
        assert_eq!(footers.footer_bytes(entry.folder()), Some(entry.bytes));
    }
}
