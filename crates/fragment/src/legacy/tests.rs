use proptest::prelude::*;
use talavera_schema::{Attribute, Range};
use talavera_types::{ArrayType, Datatype};

use super::*;
use crate::test_support::{encoded, int_dimension, schema};

fn one_attribute() -> ArraySchema {
    schema(ArrayType::Sparse, vec![int_dimension("d")], vec![Attribute::new("a", Datatype::UInt8)])
}

#[rustfmt::skip]
const PAYLOAD: &[u8] = &[
    2, 0, 0, 0, // version
    8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, // non-empty domain: eight bytes, 1 to 4
    1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, // one MBR, 1 to 4
    1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, // one pair of bounding coordinates
    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // tile offsets of a: one, at 0
    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // tile offsets of __coords: one, at 0
    0, 0, 0, 0, 0, 0, 0, 0, // tile var offsets of a: none
    0, 0, 0, 0, 0, 0, 0, 0, // tile var sizes of a: none
    3, 0, 0, 0, 0, 0, 0, 0, // cells in the last tile
    23, 0, 0, 0, 0, 0, 0, 0, // file size of a
    41, 0, 0, 0, 0, 0, 0, 0, // file size of __coords
    0, 0, 0, 0, 0, 0, 0, 0, // file var size of a
];

#[test]
fn metadata_of_one_tile_has_the_shape_of_later_versions() {
    let metadata = decode(PAYLOAD, &one_attribute(), false).unwrap();
    let footer = &metadata.footer;
    assert_eq!(footer.non_empty_domain, Some(NdRange(vec![Range::Signed(1, 4)])));
    assert_eq!((footer.sparse_tile_count, footer.last_tile_cells), (1, 3));
    assert_eq!(footer.fields.iter().map(|entry| entry.file_bytes).collect::<Vec<_>>(), [23, 41]);
    assert_eq!(metadata.rtree.leaves().len(), 1);
    assert_eq!((metadata.tile_offsets.len(), metadata.tile_var_offsets.len()), (2, 1));
    assert_eq!(encoded(|w| metadata.encode(w, &one_attribute())), PAYLOAD);
}

#[test]
fn other_versions_and_other_domains_are_refused() {
    let error = |at: usize, byte: u8| {
        let mut payload = PAYLOAD.to_vec();
        payload[at] = byte;
        decode(&payload, &one_attribute(), false).unwrap_err().field
    };
    assert_eq!(error(0, 3), "fragment version");
    assert_eq!(error(4, 7), "non-empty domain size");
    assert_eq!(error(27, 0xff), "mbr num");
    assert_eq!(error(43, 0xff), "bounding coords num");
}

prop_compose! {
    fn metadata()(
        mbrs in proptest::collection::vec(any::<(i32, i32)>(), 0..13),
        lists in proptest::collection::vec(proptest::collection::vec(any::<u64>(), 0..4), 4),
        numbers: [u64; 4],
        has_domain: bool,
    ) -> LegacyMetadata {
        let mut payload = PAYLOAD.to_vec();
        payload[0] = 1;
        let mut metadata = decode(&payload, &one_attribute(), false).unwrap();
        if !has_domain {
            metadata.footer.non_empty_domain = None;
        }
        metadata.bounding_coordinates = vec![7; 8 * mbrs.len()];
        metadata.footer.sparse_tile_count = mbrs.len() as u64;
        let mbrs = mbrs.into_iter().map(|(low, high)| NdRange(vec![Range::Signed(low.into(), high.into())]));
        metadata.rtree = RTree::build(mbrs.collect());
        let mut lists = lists.into_iter();
        let mut next = || lists.next().unwrap();
        metadata.tile_offsets = vec![TileOffsets(next()), TileOffsets(next())];
        metadata.tile_var_offsets = vec![TileOffsets(next())];
        metadata.tile_var_sizes = vec![TileSizes(next())];
        let [last_tile_cells, a, a_var, coordinates] = numbers;
        metadata.footer.last_tile_cells = last_tile_cells;
        metadata.footer.fields[0].file_bytes = a;
        metadata.footer.fields[0].var_file_bytes = a_var;
        metadata.footer.fields[1].file_bytes = coordinates;
        metadata
    }
}

talavera_testkit::decoder_laws! {
    mod laws {
        value: LegacyMetadata = metadata(),
        encode: |value: &LegacyMetadata| encoded(|w| value.encode(w, &one_attribute())),
        decode: |payload: &[u8]| decode(payload, &one_attribute(), false),
    }
}
