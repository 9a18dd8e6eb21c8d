//! What libtiledb says of arrays, found in the metadata that it wrote: values are from its own reads, not from here.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    dead_code,
    reason = "tests fail by panicking, and share helpers that not all of them need"
)]

#[path = "support/real.rs"]
mod support;

use support::{RealFragment, data};
use talavera_codec::Writer;
use talavera_fragment::{
    FieldId, FieldSection, Footer, FragmentStatistics, OptionalSection, ProcessedConditions, RTree, Sum, TileCover, TileMinMax,
    TileNullCounts, TileSums, ValueSize, legacy,
};
use talavera_schema::{NdRange, Range};

fn open(name: &str) -> (RealFragment, Footer) {
    let fragment = RealFragment::read(&data(name));
    let footer = Footer::decode_all(fragment.footer_bytes(), &fragment.schema).unwrap();
    (fragment, footer)
}

fn payload<'f>(fragment: &'f RealFragment, footer: &Footer, section: FieldSection, field: FieldId) -> &'f [u8] {
    &fragment.tiles[&footer.section(section, field).unwrap()]
}

fn bounds(fragment: &RealFragment, footer: &Footer, section: FieldSection, field: FieldId) -> TileMinMax {
    let size = ValueSize::of(field.shape(&fragment.schema).unwrap());
    TileMinMax::decode(payload(fragment, footer, section, field), size).unwrap()
}

fn ints(ranges: &[(i64, i64)]) -> NdRange {
    ranges.iter().map(|&(low, high)| Range::Signed(low, high)).collect()
}

fn text_range(low: &str, high: &str) -> Range {
    Range::String(low.as_bytes().into(), high.as_bytes().into())
}

#[test]
fn version_2_has_25_cells_in_tiles_of_9() {
    let fragment = RealFragment::read(&data("v02-sparse-var-attrs.fragment"));
    let metadata = legacy::decode(&fragment.tiles[&0], &fragment.schema, false).unwrap();
    assert_eq!(metadata.footer.version.number(), 2);
    assert_eq!(metadata.footer.non_empty_domain, Some(ints(&[(17, 100), (1, 96)])));
    assert_eq!((metadata.footer.sparse_tile_count, metadata.footer.last_tile_cells), (3, 7));
    assert_eq!(metadata.rtree.leaves().len(), 3);
}

#[test]
fn version_8_percent_encodes_the_names_of_files() {
    let (fragment, footer) = open("v08-dense-special-names.fragment");
    let names: Vec<_> = footer.data_files().map(|(file, _)| file.name(footer.version, &fragment.schema).unwrap()).collect();
    assert_eq!(names, ["a b.tdb", "x%2Fy.tdb", "p%25q.tdb", "c%3Ad%2Ae%3F.tdb", "%5Bq%5D.tdb", "naïve.tdb"]);
    assert!(footer.dense);
    assert_eq!(footer.non_empty_domain, Some(ints(&[(1, 6)])));
}

#[test]
fn version_11_by_a_later_library_ends_in_eight_stray_bytes() {
    let (fragment, footer) = open("v11-appended-by-current.fragment");
    assert_eq!(footer.non_empty_domain, Some(ints(&[(19, 96), (12, 97)])));
    assert_eq!((footer.sparse_tile_count, footer.last_tile_cells), (1, 9));
    let mut w = Writer::new();
    footer.encode(&mut w, &fragment.schema);
    assert_eq!(w.len() + 8, fragment.footer_bytes().len());
}

#[test]
fn consolidation_keeps_the_time_of_each_cell() {
    let (fragment, footer) = open("v14-consolidated-with-timestamps.fragment");
    assert!(footer.layout.has_timestamps() && !footer.layout.has_delete_metadata());
    assert_eq!((footer.sparse_tile_count, footer.last_tile_cells), (5, 1));
    assert_eq!(footer.non_empty_domain, Some(ints(&[(7, 98), (3, 100)])));
    assert!(fragment.data_files.contains_key("t.tdb"));
    let number = |section, tile| {
        let bounds = bounds(&fragment, &footer, section, FieldId::Timestamps);
        u64::from_le_bytes(bounds.value(tile).unwrap().try_into().unwrap())
    };
    assert_eq!((0..5).map(|tile| number(FieldSection::Mins, tile)).min(), Some(1010));
    assert_eq!((0..5).map(|tile| number(FieldSection::Maxes, tile)).max(), Some(1040));
}

#[test]
fn consolidation_keeps_the_deletes_that_it_took_into_account() {
    for name in ["v16-deletes-consolidated.fragment", "v22-deletes-consolidated.fragment"] {
        let (fragment, footer) = open(name);
        assert!(footer.layout.has_timestamps() && footer.layout.has_delete_metadata());
        assert_eq!((footer.sparse_tile_count, footer.last_tile_cells), (4, 6));
        assert_eq!(footer.non_empty_domain, Some(ints(&[(1, 85), (10, 85)])));
        assert!(["t.tdb", "dt.tdb", "dci.tdb"].iter().all(|file| fragment.data_files.contains_key(*file)));
        let processed = ProcessedConditions::decode(&fragment.tiles[&footer.processed_conditions.unwrap()]).unwrap();
        let times: Vec<_> = processed.conditions.iter().map(|path| &path[..21]).collect();
        assert_eq!(times, ["__commits/__1020_1020", "__commits/__1040_1040"]);
    }
}

#[test]
fn statistics_of_an_attribute_are_those_of_its_cells() {
    let (fragment, footer) = open("v23-sparse-hetero-dims.fragment");
    let v = FieldId::Attribute(0);
    let statistics = FragmentStatistics::decode(&fragment.tiles[&footer.fragment_statistics.unwrap()], footer.layout).unwrap();
    let statistics = &statistics.fields[footer.layout.index(v).unwrap()];
    assert_eq!((&statistics.min[..], &statistics.max[..]), (&1665u16.to_le_bytes()[..], &59465u16.to_le_bytes()[..]));
    assert_eq!(statistics.sum(fragment.schema.attributes[0].datatype), Some(Sum::Unsigned(471_571)));
    let sums = TileSums::decode(payload(&fragment, &footer, FieldSection::Sums, v)).unwrap();
    assert_eq!(sums.0.iter().sum::<u64>(), 471_571);
    assert_eq!(TileNullCounts::decode(payload(&fragment, &footer, FieldSection::NullCounts, v)).unwrap().len(), 0);
}

#[test]
fn version_23_says_where_tiles_begin_and_end_in_global_order() {
    let (fragment, footer) = open("v23-sparse-hetero-dims.fragment");
    let [OptionalSection::GlobalOrderBounds { mins, maxes }] = &footer.optional_sections[..] else { panic!("one section") };
    let text = |offset: &u64, tile| {
        let bounds = TileMinMax::decode(&fragment.tiles[offset], ValueSize::Var).unwrap();
        String::from_utf8(bounds.value(tile).unwrap().to_vec()).unwrap()
    };
    assert_eq!([text(&mins[0], 0), text(&maxes[0], 0)], ["ae", "sp2m"]);
    assert_eq!([text(&mins[0], 3), text(&maxes[0], 3)], ["nA", "jkzff1a"]);
}

#[test]
fn the_tree_finds_the_tiles_of_a_range() {
    let (fragment, footer) = open("v23-sparse-hetero-dims.fragment");
    let tree = RTree::decode(&fragment.tiles[&footer.rtree], footer.version, &fragment.schema.domain).unwrap();
    let find = |low: &str, high: &str, n: (i64, i64)| {
        tree.tiles_intersecting(&NdRange(vec![text_range(low, high), Range::Signed(n.0, n.1), Range::Float64(-1.0, 1.0)]))
    };
    let (whole, part) = (|tile| TileCover { tile, full: true }, |tile| TileCover { tile, full: false });
    assert_eq!(find("", "zz", (0, 21)), [whole(0), part(1)]);
    assert_eq!(find("", "zz", (40, 70)), [whole(2)]);
    assert_eq!(find("", "zz", (70, 79)), []);
    assert_eq!(find("", "h12ggq", (0, 40)), [part(0), part(1)]);
    assert_eq!(find("", "h12gg", (0, 40)), [part(0)]);
}
