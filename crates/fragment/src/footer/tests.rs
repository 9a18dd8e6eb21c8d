use proptest::prelude::*;
use talavera_schema::{Attribute, Dimension, Range};
use talavera_types::{ArrayType, Datatype};

use super::*;
use crate::test_support::{encoded, int_dimension, schema, version};

fn one_attribute() -> ArraySchema {
    let mut attribute = Attribute::new("a", Datatype::UInt8);
    attribute.nullable = true;
    schema(ArrayType::Sparse, vec![int_dimension("d")], vec![attribute])
}

/// Version, name, flags, domain, counts and no timestamps or deletes: the start of the format page's example.
const HEAD: &[u8] = &[
    22, 0, 0, 0, // version
    3, 0, 0, 0, 0, 0, 0, 0, b'_', b'_', b's', // schema name
    0, 0, // sparse, with a domain
    1, 0, 0, 0, 4, 0, 0, 0, // 1 to 4
    2, 0, 0, 0, 0, 0, 0, 0, // two tiles
    1, 0, 0, 0, 0, 0, 0, 0, // one cell in the last
    0, 0, // neither timestamps nor delete metadata
];

/// File sizes of `a`, `__coords` and `d`, three lists; the R-tree; eight lists of offsets; two single offsets.
const NUMBERS: &[u64] = &[
    43, 0, 102, 0, 0, 0, 81, 0, 0, //
    0, //
    121, 223, 322, 424, 523, 622, 721, 820, 919, 1018, 1120, 1219, //
    1318, 1419, 1518, 1617, 1718, 1817, 1916, 2020, 2120, 2223, 2326, 2425, //
    2524, 2646,
];

#[test]
fn a_footer_says_where_every_list_of_every_field_is() {
    let mut w = Writer::new();
    w.bytes(HEAD);
    w.u64s(NUMBERS);
    let bytes = w.into_vec();
    assert_eq!(Footer::peek(&bytes).unwrap(), (version(22), Some("__s".to_owned())));
    let footer = Footer::decode_all(&bytes, &one_attribute()).unwrap();
    assert_eq!(footer.non_empty_domain, Some(NdRange(vec![Range::Signed(1, 4)])));
    assert_eq!((footer.sparse_tile_count, footer.last_tile_cells), (2, 1));
    let section = |section, field| footer.section(section, field).unwrap();
    assert_eq!(section(FieldSection::TileOffsets, FieldId::Coordinates), 223);
    assert_eq!(section(FieldSection::TileValidityOffsets, FieldId::Attribute(0)), 1018);
    assert_eq!(section(FieldSection::NullCounts, FieldId::Dimension(0)), 2425);
    assert_eq!(footer.section(FieldSection::Mins, FieldId::Timestamps), None);
    assert_eq!((footer.fragment_statistics, footer.processed_conditions), (Some(2524), Some(2646)));
    assert_eq!(footer.section_end(0, 2745), 121);
    assert_eq!(footer.section_end(2646, 2745), 2745);
    let names: Vec<_> = footer.data_files().map(|(file, _)| file.name(version(22), &one_attribute()).unwrap()).collect();
    assert_eq!(names, ["a0.tdb", "a0_validity.tdb", "d0.tdb"]);
    assert_eq!(encoded(|w| footer.encode(w, &one_attribute())), bytes);
    let at_end = encoded(|w| footer.encode_at_end(w, &one_attribute()));
    assert_eq!(at_end[bytes.len()..], (bytes.len() as u64).to_le_bytes());
}

#[test]
fn versions_without_footers_and_empty_schema_names_are_refused() {
    assert_eq!(Footer::peek(&[2, 0, 0, 0]).unwrap_err().field, "footer version");
    assert_eq!(Footer::peek(&[24, 0, 0, 0]).unwrap_err().field, "footer version");
    assert_eq!(Footer::peek(&[10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap_err().field, "schema name length");
    assert_eq!(Footer::peek(&[9, 0, 0, 0]).unwrap(), (version(9), None));
}

#[test]
fn version_11_may_end_in_eight_bytes_that_mean_nothing() {
    let value = example(version(11), false, false, &one_attribute(), &mut || 5);
    let mut bytes = encoded(|w| value.encode(w, &one_attribute()));
    assert_eq!(Footer::decode_all(&bytes, &one_attribute()).unwrap(), value);
    bytes.extend([0xab; 8]);
    assert_eq!(Footer::decode_all(&bytes, &one_attribute()).unwrap(), value);
    bytes.push(0);
    assert!(Footer::decode_all(&bytes, &one_attribute()).is_err());
    let value = example(version(10), false, false, &one_attribute(), &mut || 5);
    let mut bytes = encoded(|w| value.encode(w, &one_attribute()));
    bytes.extend([0xab; 8]);
    assert!(Footer::decode_all(&bytes, &one_attribute()).is_err());
}

#[test]
fn the_length_of_a_footer_follows_from_the_schema_where_no_length_is_stored() {
    let fixed = one_attribute();
    let mut text = one_attribute();
    text.domain.dimensions.push(Dimension::string("s"));
    assert_eq!(FooterLocation::of(version(2), &fixed), None);
    for number in 3..=23 {
        let value = example(version(number), false, false, &fixed, &mut || 5);
        let length = encoded(|w| value.encode(w, &fixed)).len() as u64;
        let expected = if number < 10 { FooterLocation::Last(length) } else { FooterLocation::LengthInLastEightBytes };
        assert_eq!(FooterLocation::of(version(number), &fixed), Some(expected), "{number}");
        assert_eq!(FooterLocation::of(version(number), &text), Some(FooterLocation::LengthInLastEightBytes));
    }
}

/// A footer with numbers everywhere that the version has room for.
fn example(
    version: FormatVersion,
    has_timestamps: bool,
    has_delete_metadata: bool,
    schema: &ArraySchema,
    number: &mut dyn FnMut() -> u64,
) -> Footer {
    let layout = FieldLayout::new(version, schema, has_timestamps, has_delete_metadata);
    let only_if = |has: bool, number: u64| if has { number } else { 0 };
    let entries = layout.fields().map(|field| {
        let var = version.has_dimension_fields() || field != FieldId::Coordinates;
        let (validity, statistics) = (version.has_validity(), version.has_tile_statistics());
        FieldEntry {
            file_bytes: number(),
            var_file_bytes: only_if(var, number()),
            validity_file_bytes: only_if(validity, number()),
            tile_offsets: number(),
            tile_var_offsets: only_if(var, number()),
            tile_var_sizes: only_if(var, number()),
            tile_validity_offsets: only_if(validity, number()),
            mins: only_if(statistics, number()),
            maxes: only_if(statistics, number()),
            sums: only_if(statistics, number()),
            null_counts: only_if(statistics, number()),
        }
    });
    let fields = entries.collect();
    let dimensions = schema.domain.dimensions.len();
    let offsets = |number: &mut dyn FnMut() -> u64| (0..dimensions).map(|_| number()).collect();
    let bounds = OptionalSection::GlobalOrderBounds { mins: offsets(number), maxes: offsets(number) };
    Footer {
        version,
        schema_name: version.has_schema_folder().then(|| "__schema".to_owned()),
        dense: number().is_multiple_of(2),
        non_empty_domain: Some(schema.domain.dimensions.iter().map(|_| Range::Signed(3, 9)).collect()),
        sparse_tile_count: number(),
        last_tile_cells: number(),
        layout,
        fields,
        rtree: number(),
        fragment_statistics: version.has_fragment_statistics().then(&mut *number),
        processed_conditions: version.has_processed_conditions().then(&mut *number),
        optional_sections: if version.has_optional_sections() { vec![bounds] } else { Vec::new() },
    }
}

prop_compose! {
    fn footers()(number in 3u32..=23, has_timestamps: bool, has_delete_metadata: bool, seed: u64) -> Footer {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state
        };
        example(version(number), has_timestamps, has_delete_metadata, &one_attribute(), &mut next)
    }
}

fn decode_and_look(bytes: &[u8]) -> Result<Footer, DecodeError> {
    let footer = Footer::decode_all(bytes, &one_attribute())?;
    let _ = Footer::peek(bytes)?;
    let _ = footer.data_files().count();
    let _ = footer.section_end(footer.rtree, u64::MAX);
    Ok(footer)
}

talavera_testkit::decoder_laws! {
    mod laws {
        value: Footer = footers(),
        encode: |value: &Footer| encoded(|w| value.encode(w, &one_attribute())),
        decode: decode_and_look,
    }
}
