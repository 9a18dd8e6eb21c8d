//! The three laws of decoders, for schemas, enumerations and ranges.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::num::NonZeroU32;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;
use talavera_codec::{Reader, Writer};
use talavera_filter::{FilterList, FilterSpec};
use talavera_schema::{
    ArraySchema, Attribute, Dimension, DimensionLabel, Domain, Enumeration, EnumerationReference, NdRange, Range, TileExtent,
};
use talavera_types::{ArrayType, CellValNum, DataOrder, Datatype, FormatVersion, Layout};

fn written(encode: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut w = Writer::new();
    encode(&mut w);
    w.into_vec()
}

fn version() -> impl Strategy<Value = FormatVersion> {
    (1u32..=23).prop_map(|number| FormatVersion::new(number).unwrap())
}

fn name() -> impl Strategy<Value = String> {
    "[a-zé/% ]{0,4}"
}

fn filters(version: FormatVersion) -> impl Strategy<Value = FilterList> {
    let reinterpret = if version.has_double_delta_reinterpret() { Datatype::Int16 } else { Datatype::Any };
    let filter = prop_oneof![
        Just(FilterSpec::None),
        (-7i32..23).prop_map(|level| FilterSpec::Zstd { level }),
        Just(FilterSpec::DoubleDelta { level: -1, reinterpret }),
        any::<u32>().prop_map(|max_window_bytes| FilterSpec::BitWidthReduction { max_window_bytes }),
        Just(FilterSpec::FloatScale { scale: 0.25, offset: 10.0, byte_width: 4 }),
    ];
    (any::<u32>(), vec(filter, 0..2)).prop_map(|(max_chunk_bytes, filters)| FilterList { max_chunk_bytes, filters })
}

fn dimension_datatype() -> impl Strategy<Value = Datatype> {
    let datatypes = Datatype::ALL.iter().copied().filter(|datatype| datatype.is_dimension_type());
    select(datatypes.collect::<Vec<_>>())
}

/// A valid range of a datatype.
fn range(datatype: Datatype) -> BoxedStrategy<Range> {
    let ordered = |(a, b): (Range, Range)| {
        let mut union = a.clone();
        union.union_with(&b);
        union
    };
    let unused_bits = 64 - 8 * u32::try_from(datatype.size()).unwrap();
    let point = match datatype {
        Datatype::StringAscii => {
            vec(any::<u8>(), 0..5).prop_map(|bytes| Range::String(bytes.clone().into(), bytes.into())).boxed()
        }
        Datatype::Float32 => (-1e9f32..1e9).prop_map(|value| Range::Float32(value, value)).boxed(),
        Datatype::Float64 => (-1e9..1e9).prop_map(|value| Range::Float64(value, value)).boxed(),
        Datatype::UInt8 | Datatype::UInt16 | Datatype::UInt32 | Datatype::UInt64 => {
            any::<u64>().prop_map(move |value| Range::Unsigned(value >> unused_bits, value >> unused_bits)).boxed()
        }
        _ => any::<i64>().prop_map(move |value| Range::Signed(value >> unused_bits, value >> unused_bits)).boxed(),
    };
    (point.clone(), point).prop_map(ordered).boxed()
}

fn dimension(datatype: Datatype, version: FormatVersion) -> impl Strategy<Value = Dimension> {
    (name(), range(datatype), any::<u8>(), filters(version)).prop_map(move |(name, range, extent, filters)| {
        let fields = version.has_dimension_fields();
        let tile_extent = match datatype {
            Datatype::StringAscii => None,
            _ if extent == 0 => None,
            Datatype::Float32 => Some(TileExtent::Float32(extent.into())),
            Datatype::Float64 => Some(TileExtent::Float64(extent.into())),
            _ => Some(TileExtent::Integer(extent.into())),
        };
        let mut dimension = Dimension::new(name, datatype, range, tile_extent);
        dimension.domain = dimension.domain.filter(|_| datatype != Datatype::StringAscii);
        dimension.filters = if fields { filters } else { FilterList::new(Vec::new()) };
        dimension
    })
}

fn domain(version: FormatVersion) -> impl Strategy<Value = Domain> {
    let mixed = vec(dimension_datatype(), 1..4);
    let datatypes = mixed.prop_map(move |datatypes| {
        let first = if datatypes[0] == Datatype::StringAscii { Datatype::Int32 } else { datatypes[0] };
        if version.has_dimension_fields() { datatypes } else { vec![first; datatypes.len()] }
    });
    let dimensions = datatypes
        .prop_flat_map(move |datatypes| datatypes.into_iter().map(|datatype| dimension(datatype, version)).collect::<Vec<_>>());
    dimensions.prop_map(|dimensions| Domain { dimensions })
}

fn cell_val_num() -> impl Strategy<Value = CellValNum> {
    prop_oneof![Just(CellValNum::Var), (1u32..5).prop_map(|values| CellValNum::Fixed(NonZeroU32::new(values).unwrap()))]
}

fn attribute(version: FormatVersion) -> impl Strategy<Value = Attribute> {
    let flags = (any::<bool>(), any::<bool>(), select(DataOrder::ALL), name());
    (name(), select(Datatype::ALL), cell_val_num(), filters(version), flags).prop_map(
        move |(name, datatype, cell_val_num, filters, (nullable, fill_validity, order, enumeration))| {
            let mut attribute = Attribute::with_cell_val_num(name, datatype, cell_val_num);
            attribute.filters = filters;
            if version.has_fill_value() {
                attribute.fill_value.fill(7);
            }
            if version.has_validity() {
                (attribute.nullable, attribute.fill_validity) = (nullable, fill_validity);
            }
            if version.has_data_order() {
                attribute.order = order;
            }
            if version.has_enumerations() && !enumeration.is_empty() {
                attribute.enumeration = Some(enumeration);
            }
            attribute
        },
    )
}

fn label() -> impl Strategy<Value = DimensionLabel> {
    let order = select(vec![DataOrder::Increasing, DataOrder::Decreasing]);
    (name(), order, select(Datatype::ALL), any::<bool>()).prop_map(|(name, order, datatype, external)| {
        let label = DimensionLabel::internal(0, 0, name, order, datatype);
        DimensionLabel { external, relative: !external, ..label }
    })
}

fn schema() -> impl Strategy<Value = ArraySchema> {
    let of_version = |version: FormatVersion| {
        let lists = (filters(version), filters(version), filters(version));
        let orders = (select(&Layout::ALL[..2]), select(Layout::ALL), any::<bool>(), 1u64..);
        let fields = (domain(version), vec(attribute(version), 0..3), vec(label(), 0..2));
        let references = vec((name(), name()), 0..2);
        (Just(version), orders, lists, fields, references, any::<bool>())
    };
    version().prop_flat_map(of_version).prop_map(|(version, orders, lists, (domain, attributes, labels), references, bounded)| {
        let validity_filters = if version.has_validity() { lists.2 } else { FilterList::new(Vec::new()) };
        let references = references.into_iter().map(|(name, file_name)| EnumerationReference { name, file_name });
        let whole =
            domain.dimensions.iter().map(|dimension| dimension.domain.clone().unwrap_or(Range::String([].into(), [1].into())));
        let current_domain = Some(whole.collect::<NdRange>()).filter(|_| bounded && version.has_current_domain());
        ArraySchema {
            version,
            array_type: ArrayType::Sparse,
            allows_dups: orders.2 && version.has_allows_dups(),
            tile_order: orders.0,
            cell_order: orders.1,
            capacity: orders.3,
            coords_filters: lists.0,
            offsets_filters: lists.1,
            validity_filters,
            domain,
            attributes,
            labels: if version.has_dimension_labels() { labels } else { Vec::new() },
            enumerations: if version.has_enumerations() { references.collect() } else { Vec::new() },
            current_domain,
        }
    })
}

fn enumeration() -> impl Strategy<Value = Enumeration> {
    let values = btree_set(vec(any::<u8>(), 0..6), 0..6);
    (name(), any::<bool>(), any::<bool>(), values).prop_map(|(name, ordered, var, values)| {
        let cell_val_num = if var { CellValNum::Var } else { CellValNum::Fixed(NonZeroU32::new(3).unwrap()) };
        let values = values.iter().map(Vec::as_slice).filter(|value| var || value.len() == 3);
        Enumeration::from_values(name, "__0_0", Datatype::StringUtf8, cell_val_num, ordered, values).unwrap()
    })
}

talavera_testkit::decoder_laws! {
    mod schema_laws {
        value: ArraySchema = schema(),
        encode: |schema: &ArraySchema| written(|w| schema.encode(w)),
        decode: ArraySchema::decode,
    }
}

talavera_testkit::decoder_laws! {
    mod enumeration_laws {
        value: Enumeration = enumeration(),
        encode: |enumeration: &Enumeration| written(|w| enumeration.encode(w)),
        decode: Enumeration::decode,
    }
}

talavera_testkit::decoder_laws! {
    mod string_range_laws {
        value: Range = range(Datatype::StringAscii),
        encode: |range: &Range| written(|w| range.encode(w, Datatype::StringAscii)),
        decode: |bytes: &[u8]| Range::decode(&mut Reader::new(bytes), Datatype::StringAscii, "range"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn ranges_of_every_datatype_come_back((datatype, range) in dimension_datatype().prop_flat_map(|d| (Just(d), range(d)))) {
        let bytes = written(|w| range.encode(w, datatype));
        prop_assert!(range.is_of(datatype) && range.is_valid());
        prop_assert_eq!(Range::decode(&mut Reader::new(&bytes), datatype, "range").unwrap(), range);
        for len in 0..bytes.len() {
            prop_assert!(Range::decode(&mut Reader::new(&bytes[..len]), datatype, "range").is_err());
        }
    }

    #[test]
    fn unions_contain_and_intersections_are_contained((a, b) in dimension_datatype().prop_flat_map(|d| (range(d), range(d)))) {
        let mut union = a.clone();
        union.union_with(&b);
        prop_assert!(union.contains(&a) && union.contains(&b));
        prop_assert_eq!(a.intersection(&b).is_some(), a.intersects(&b));
        if let Some(both) = a.intersection(&b) {
            prop_assert!(a.contains(&both) && b.contains(&both) && both.is_valid());
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in vec(any::<u8>(), 0..200), version in 1u8..24) {
        let headed = [vec![version, 0, 0, 0], bytes.clone()].concat();
        drop(ArraySchema::decode(&headed));
        drop(Enumeration::decode(&[vec![0; 4], bytes].concat()));
    }
}
