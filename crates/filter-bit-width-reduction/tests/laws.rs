//! The laws of the filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit
//! is an error or a value; and no bytes make it panic.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_codec::Limits;
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, Parts};
use talavera_filter_bit_width_reduction::BitWidthReduction;
use talavera_types::{Datatype, FormatVersion};

const DATATYPES: &[Datatype] = &[
    Datatype::Int8,
    Datatype::Int16,
    Datatype::UInt16,
    Datatype::Int32,
    Datatype::UInt32,
    Datatype::Int64,
    Datatype::UInt64,
    Datatype::DateTimeMs,
    Datatype::Float32,
];

fn with_context<R>(datatype: Datatype, check: impl FnOnce(&FilterContext<'_>) -> R) -> R {
    let limits = Limits::new(1 << 20);
    check(&FilterContext { datatype, cell_bytes: datatype.size(), version: FormatVersion::DEFAULT, limits: &limits })
}

/// A filter, the datatype it sees and cells that it takes: numbers of some bits, spread over their windows.
fn chunks() -> impl Strategy<Value = (BitWidthReduction, Datatype, Vec<u8>)> {
    let numbers = (0..64u32).prop_flat_map(|shift| vec(any::<u64>().prop_map(move |number| number >> shift), 0..40));
    (8..100u32, select(DATATYPES), any::<u64>(), numbers, 0..8usize).prop_map(|(window, datatype, base, numbers, tail)| {
        let number = |number: &u64| number.wrapping_add(base).to_le_bytes()[..datatype.size()].to_vec();
        let mut cells: Vec<u8> = numbers.iter().flat_map(number).collect();
        // Behind a filter that changes sizes, elements need not be whole.
        cells.extend(vec![7; tail * usize::from(window % 5 == 0)]);
        (BitWidthReduction { max_window_bytes: window }, datatype, cells)
    })
}

/// Metadata and data of encoded cells, each in one piece.
fn encode(filter: &BitWidthReduction, cells: &[u8], cx: &FilterContext<'_>) -> (Vec<u8>, Vec<u8>) {
    let encoded = filter.encode(Chunk::new(cells), cx).unwrap();
    (encoded.metadata.concat().into_owned(), encoded.data.concat().into_owned())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_encoded_is_decoded((filter, datatype, cells) in chunks()) {
        with_context(datatype, |cx| {
            let (metadata, data) = encode(&filter, &cells, cx);
            let chunk = EncodedChunk::new(&metadata, &data);
            let mut out = vec![0xaa; cells.len()];
            filter.decode_into(chunk.clone(), cx, &mut out).unwrap();
            prop_assert_eq!(&out, &cells);
            let decoded = filter.decode(chunk, cx).unwrap();
            prop_assert_eq!(&*decoded.data, &*cells);
            prop_assert!(decoded.metadata.is_empty());
            Ok(())
        })?;
    }

    #[test]
    fn metadata_of_filters_before_comes_back((filter, datatype, cells) in chunks(), before in vec(any::<u8>(), 1..40)) {
        with_context(datatype, |cx| {
            let chunk = Chunk { metadata: Parts::one(&*before), data: Parts::one(&*cells) };
            let encoded = filter.encode(chunk, cx).unwrap();
            let (metadata, data) = (encoded.metadata.concat(), encoded.data.concat());
            let decoded = filter.decode(EncodedChunk::new(&metadata, &data), cx).unwrap();
            prop_assert_eq!(&*decoded.data, &*cells);
            prop_assert_eq!(&*decoded.metadata, &*before);
            // Nearest the cells, the same metadata is too much.
            let mut out = vec![0; cells.len()];
            prop_assert!(filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut out).is_err());
            Ok(())
        })?;
    }

    #[test]
    fn less_metadata_or_data_is_an_error((filter, datatype, cells) in chunks()) {
        with_context(datatype, |cx| {
            let (metadata, data) = encode(&filter, &cells, cx);
            let mut out = vec![0; cells.len()];
            for (metadata, data) in (0..metadata.len())
                .map(|len| (&metadata[..len], &data[..]))
                .chain((0..data.len()).map(|len| (&metadata[..], &data[..len])))
            {
                prop_assert!(filter.decode_into(EncodedChunk::new(metadata, data), cx, &mut out).is_err());
            }
            Ok(())
        })?;
    }

    #[test]
    fn more_or_fewer_cells_are_an_error((filter, datatype, cells) in chunks()) {
        with_context(datatype, |cx| {
            let (metadata, data) = encode(&filter, &cells, cx);
            for len in [0, cells.len().saturating_sub(1), cells.len() + 1, 2 * cells.len() + 8] {
                if len != cells.len() {
                    let mut out = vec![0; len];
                    prop_assert!(filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut out).is_err());
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn every_flipped_bit_is_an_error_or_a_value((filter, datatype, cells) in chunks()) {
        with_context(datatype, |cx| {
            let (metadata, data) = encode(&filter, &cells, cx);
            let mut both = [metadata.clone(), data].concat();
            let mut out = vec![0; cells.len()];
            for at in 0..both.len() {
                for bit in 0..8 {
                    both[at] ^= 1 << bit;
                    let (metadata, data) = both.split_at(metadata.len());
                    drop(filter.decode(EncodedChunk::new(metadata, data), cx));
                    drop(filter.decode_into(EncodedChunk::new(metadata, data), cx, &mut out));
                    both[at] ^= 1 << bit;
                }
            }
            Ok::<_, TestCaseError>(())
        })?;
    }

    #[test]
    fn no_bytes_make_it_panic(
        (filter, datatype, _) in chunks(),
        parts in 0..4u32,
        mut metadata in vec(prop_oneof![Just(0u8), 0..20u8, any::<u8>()], 0..80),
        data in vec(any::<u8>(), 0..200),
        len in 0..300usize,
    ) {
        for (slot, byte) in metadata.iter_mut().zip(parts.to_le_bytes()) {
            *slot = byte;
        }
        with_context(datatype, |cx| {
            let mut out = vec![0; len];
            drop(filter.decode(EncodedChunk::new(&metadata, &data), cx));
            drop(filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut out));
        });
    }
}

#[test]
fn dates_are_reduced_from_version_20_on() {
    let limits = Limits::new(1 << 20);
    let cells = [5i64, 6].map(i64::to_le_bytes).concat();
    let encode = |version| {
        let version = FormatVersion::new(version).unwrap();
        let cx = FilterContext { datatype: Datatype::DateTimeDay, cell_bytes: 8, version, limits: &limits };
        encode(&BitWidthReduction::default(), &cells, &cx)
    };
    assert_eq!(encode(19), (vec![], cells.clone()));
    // 16 bytes in one window: offset 5, 8 bits, 16 bytes.
    let metadata = [16, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 8, 16, 0, 0, 0];
    assert_eq!(encode(20), (metadata.to_vec(), vec![0, 1]));
}

#[test]
fn a_window_smaller_than_an_element_is_refused() {
    with_context(Datatype::Int32, |cx| {
        let error = BitWidthReduction { max_window_bytes: 3 }.encode(Chunk::new(&[0; 8]), cx).unwrap_err();
        let expected = "BIT_WIDTH_REDUCTION cannot encode: a window of at most 3 bytes holds no element of 4";
        assert_eq!(error.to_string(), expected);
    });
}

#[test]
fn a_width_that_no_integer_has_is_refused() {
    with_context(Datatype::Int32, |cx| {
        // Four bytes in one window: offset 0, 12 bits, 4 bytes.
        let metadata = [4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 12, 4, 0, 0, 0];
        let error = BitWidthReduction::default().decode(EncodedChunk::new(&metadata, &[1, 2]), cx).unwrap_err();
        let expected = "BIT_WIDTH_REDUCTION: bit width window bits: 12 is not the width of an integer (at byte 12)";
        assert_eq!(error.to_string(), expected);
    });
}

#[test]
fn a_length_that_nothing_vouches_for_is_held_against_the_limit() {
    with_context(Datatype::Int32, |cx| {
        let metadata = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        let error = BitWidthReduction::default().decode(EncodedChunk::new(&metadata, &[]), cx).unwrap_err();
        let expected = "BIT_WIDTH_REDUCTION: bit width input length: 4294967295 bytes exceed the limit of 1048576 (at byte 0)";
        assert_eq!(error.to_string(), expected);
    });
}
