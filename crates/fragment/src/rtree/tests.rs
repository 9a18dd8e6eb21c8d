use proptest::prelude::*;
use talavera_schema::{Dimension, Range};

use super::*;
use crate::test_support::{domain, encoded, int_dimension, version};

fn ints(low: i64, high: i64) -> NdRange {
    NdRange(vec![Range::Signed(low, high)])
}

fn one_dimension() -> Domain {
    domain(vec![int_dimension("d")])
}

#[test]
fn a_tree_of_two_tiles_has_the_bytes_of_the_format_page() {
    let payload = [
        10, 0, 0, 0, // fanout
        2, 0, 0, 0, // two levels
        1, 0, 0, 0, 0, 0, 0, 0, // root
        1, 0, 0, 0, 4, 0, 0, 0, // 1 to 4
        2, 0, 0, 0, 0, 0, 0, 0, // two leaves
        1, 0, 0, 0, 2, 0, 0, 0, // 1 to 2
        4, 0, 0, 0, 4, 0, 0, 0, // 4 to 4
    ];
    let tree = RTree::decode(&payload, version(22), &one_dimension()).unwrap();
    assert_eq!(tree, RTree::build(vec![ints(1, 2), ints(4, 4)]));
    assert_eq!(encoded(|w| tree.encode(w, version(22), &one_dimension())), payload);
    assert_eq!(tree.tiles_intersecting(&ints(2, 4)), [TileCover { tile: 0, full: false }, TileCover { tile: 1, full: true }]);
    assert_eq!(tree.tiles_intersecting(&ints(3, 3)), []);
}

#[test]
fn versions_3_and_4_say_the_dimensions_as_well() {
    let payload = [
        1, 0, 0, 0, // one dimension
        10, 0, 0, 0, // fanout
        0, // INT32
        1, 0, 0, 0, // one level
        1, 0, 0, 0, 0, 0, 0, 0, // one tile
        7, 0, 0, 0, 9, 0, 0, 0, // 7 to 9
    ];
    let tree = RTree::decode(&payload, version(3), &one_dimension()).unwrap();
    assert_eq!(tree.leaves(), [ints(7, 9)]);
    assert_eq!(encoded(|w| tree.encode(w, version(3), &one_dimension())), payload);
}

#[test]
fn a_tree_over_many_tiles_has_one_parent_for_ten_children() {
    let sizes = |tiles: i64| {
        let tree = RTree::build((0..tiles).map(|tile| ints(tile, tile)).collect());
        tree.levels().iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert!(sizes(0).is_empty());
    assert_eq!(sizes(1), [1]);
    assert_eq!(sizes(10), [1, 10]);
    assert_eq!(sizes(1001), [1, 2, 11, 101, 1001]);
}

#[test]
fn levels_that_do_not_fit_under_each_other_are_refused() {
    let decode = |levels: &[u32]| {
        let payload = encoded(|w| {
            w.u32(10);
            w.len_u32(levels.len());
            for &count in levels {
                w.u64(count.into());
                (0..count).for_each(|_| w.u64(0));
            }
        });
        RTree::decode(&payload, version(22), &one_dimension())
    };
    assert!(decode(&[1, 2, 11]).is_ok());
    for levels in [&[2][..], &[1, 11], &[1, 2, 10], &[1, 0], &[0]] {
        assert_eq!(decode(levels).unwrap_err().field, "R-tree level mbr num", "{levels:?}");
    }
}

#[test]
fn hostile_counts_are_refused_before_anything_is_reserved() {
    let levels = [10, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(RTree::decode(&levels, version(22), &one_dimension()).unwrap_err().field, "R-tree level num");
    let mbrs = [&[10, 0, 0, 0, 1, 0, 0, 0][..], &[0xff; 8]].concat();
    assert_eq!(RTree::decode(&mbrs, version(22), &one_dimension()).unwrap_err().field, "R-tree level mbr num");
    let fanout = [0; 8];
    assert_eq!(RTree::decode(&fanout, version(22), &one_dimension()).unwrap_err().field, "R-tree fanout");
}

#[test]
fn rectangles_that_bound_nothing_rule_nothing_out() {
    let tree = RTree::build(vec![ints(5, 4)]);
    assert_eq!(tree.tiles_intersecting(&ints(90, 99)), [TileCover { tile: 0, full: false }]);
}

fn mixed_domain() -> Domain {
    domain(vec![int_dimension("d"), Dimension::string("s")])
}

fn mixed_mbrs() -> impl Strategy<Value = NdRange> {
    let text = || proptest::collection::vec(any::<u8>(), 0..4);
    (any::<(i32, i32)>(), text(), text()).prop_map(|((a, b), low, high)| {
        NdRange(vec![Range::Signed(a.min(b).into(), a.max(b).into()), Range::String(low.into(), high.into())])
    })
}

talavera_testkit::decoder_laws! {
    mod laws {
        value: RTree = proptest::collection::vec(mixed_mbrs(), 0..25).prop_map(RTree::build),
        encode: |value: &RTree| encoded(|w| value.encode(w, version(22), &mixed_domain())),
        decode: |payload: &[u8]| RTree::decode(payload, version(22), &mixed_domain()),
    }
}

talavera_testkit::decoder_laws! {
    mod laws_of_versions_3_and_4 {
        value: RTree = proptest::collection::vec(any::<(i32, i32)>(), 0..25).prop_map(|mbrs| {
            RTree::build(mbrs.into_iter().map(|(low, high)| ints(low.into(), high.into())).collect())
        }),
        encode: |value: &RTree| encoded(|w| value.encode(w, version(4), &one_dimension())),
        decode: |payload: &[u8]| {
            let tree = RTree::decode(payload, version(4), &one_dimension())?;
            let _ = tree.tiles_intersecting(&ints(0, 9));
            Ok::<_, DecodeError>(tree)
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..Default::default() })]

    #[test]
    fn the_tree_finds_what_looking_at_every_leaf_finds(
        leaves in proptest::collection::vec((0i64..100, 0i64..9), 0..250),
        low in 0i64..110,
        length in 0i64..50,
    ) {
        let leaves: Vec<_> = leaves.into_iter().map(|(low, length)| ints(low, low + length)).collect();
        let range = ints(low, low + length);
        let expected: Vec<_> = leaves.iter().enumerate().filter(|(_, leaf)| range.intersects(leaf))
            .map(|(tile, leaf)| TileCover { tile, full: range.contains(leaf) }).collect();
        prop_assert_eq!(RTree::build(leaves).tiles_intersecting(&range), expected);
    }
}
