//! The laws of a filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit is an
//! error or a value; and no bytes make it panic. Each panics when it is broken; that is how a test fails.

use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, Parts};
use talavera_types::Datatype;

use super::{encode, with_context};

/// Cells that were encoded are decoded, alone and straight into cells.
pub fn what_was_encoded_is_decoded(filter: &dyn Filter, datatype: Datatype, cells: &[u8]) {
    with_context(datatype, |cx| {
        let (metadata, data) = encode(filter, cells, cx);
        super::decodes_to(filter, cx, EncodedChunk::new(&metadata, &data), EncodedChunk::new(&[], cells));
    });
}

/// Metadata that filters before wrote is behind the filter's own, and is left; nearest the cells, it is too much.
pub fn metadata_of_filters_before_comes_back(filter: &dyn Filter, datatype: Datatype, cells: &[u8], before: &[u8]) {
    with_context(datatype, |cx| {
        let chunk = Chunk { metadata: Parts::one(before), data: Parts::one(cells) };
        let encoded = filter.encode(chunk, cx).unwrap();
        let (metadata, data) = (encoded.metadata.concat(), encoded.data.concat());
        super::decodes_to(filter, cx, EncodedChunk::new(&metadata, &data), EncodedChunk::new(before, cells));
    });
}

/// Every shorter prefix of the metadata or of the data is an error.
pub fn less_metadata_or_data_is_an_error(filter: &dyn Filter, datatype: Datatype, cells: &[u8]) {
    with_context(datatype, |cx| {
        let (metadata, data) = encode(filter, cells, cx);
        let mut out = vec![0; cells.len()];
        for len in 0..metadata.len() {
            assert!(filter.decode_into(EncodedChunk::new(&metadata[..len], &data), cx, &mut out).is_err());
        }
        for len in 0..data.len() {
            assert!(filter.decode_into(EncodedChunk::new(&metadata, &data[..len]), cx, &mut out).is_err());
        }
    });
}

/// Room for more or fewer cells than there are is an error.
pub fn more_or_fewer_cells_are_an_error(filter: &dyn Filter, datatype: Datatype, cells: &[u8]) {
    with_context(datatype, |cx| {
        let (metadata, data) = encode(filter, cells, cx);
        for len in [0, cells.len().saturating_sub(1), cells.len() + 1, 2 * cells.len() + 8] {
            if len != cells.len() {
                assert!(filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut vec![0; len]).is_err());
            }
        }
    });
}

/// Every single flipped bit is an error or a value, never a panic.
pub fn every_flipped_bit_is_an_error_or_a_value(filter: &dyn Filter, datatype: Datatype, cells: &[u8]) {
    with_flipped_bits(filter, datatype, cells, |chunk, cx, out| {
        drop(filter.decode(chunk.clone(), cx));
        drop(filter.decode_into(chunk, cx, out));
    });
}

/// Every single flipped bit is an error, as checksums and encryption promise.
pub fn every_flipped_bit_is_an_error(filter: &dyn Filter, datatype: Datatype, cells: &[u8]) {
    with_flipped_bits(filter, datatype, cells, |chunk, cx, out| {
        assert!(filter.decode_into(chunk, cx, out).is_err());
    });
}

/// No bytes make the filter panic.
pub fn no_bytes_make_it_panic(filter: &dyn Filter, datatype: Datatype, metadata: &[u8], data: &[u8], len: usize) {
    with_context(datatype, |cx| {
        drop(filter.decode(EncodedChunk::new(metadata, data), cx));
        drop(filter.decode_into(EncodedChunk::new(metadata, data), cx, &mut vec![0; len]));
    });
}

fn with_flipped_bits(
    filter: &dyn Filter,
    datatype: Datatype,
    cells: &[u8],
    mut check: impl FnMut(EncodedChunk<'_>, &FilterContext<'_>, &mut [u8]),
) {
    with_context(datatype, |cx| {
        let (metadata, data) = encode(filter, cells, cx);
        let mut both = [metadata.clone(), data].concat();
        let mut out = vec![0; cells.len()];
        for at in 0..both.len() {
            for bit in 0..8 {
                both[at] ^= 1 << bit;
                let (metadata, data) = both.split_at(metadata.len());
                check(EncodedChunk::new(metadata, data), cx, &mut out);
                both[at] ^= 1 << bit;
            }
        }
    });
}

/// States the laws as property tests in a module. `chunks` is a strategy of a filter, the datatype that it sees and cells
/// that it takes; `flipped_bits` says which of the two laws about them holds.
///
/// ```ignore
/// talavera_testkit::filter_laws! {
///     mod laws { chunks: chunks(), flipped_bits: every_flipped_bit_is_an_error_or_a_value }
/// }
/// ```
#[macro_export]
macro_rules! filter_laws {
    (mod $name:ident { chunks: $chunks:expr, flipped_bits: $flipped_bits:ident $(,)? }) => {
        #[cfg(test)]
        mod $name {
            use proptest::collection::vec;
            use proptest::prelude::*;
            use $crate::filters::laws;

            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

                #[test]
                fn what_was_encoded_is_decoded((filter, datatype, cells) in $chunks) {
                    laws::what_was_encoded_is_decoded(&filter, datatype, &cells);
                }

                #[test]
                fn metadata_of_filters_before_comes_back((filter, datatype, cells) in $chunks, before in vec(any::<u8>(), 1..40)) {
                    laws::metadata_of_filters_before_comes_back(&filter, datatype, &cells, &before);
                }

                #[test]
                fn less_metadata_or_data_is_an_error((filter, datatype, cells) in $chunks) {
                    laws::less_metadata_or_data_is_an_error(&filter, datatype, &cells);
                }

                #[test]
                fn more_or_fewer_cells_are_an_error((filter, datatype, cells) in $chunks) {
                    laws::more_or_fewer_cells_are_an_error(&filter, datatype, &cells);
                }

                #[test]
                fn $flipped_bits((filter, datatype, cells) in $chunks) {
                    laws::$flipped_bits(&filter, datatype, &cells);
                }

                #[test]
                fn no_bytes_make_it_panic(
                    (filter, datatype, _) in $chunks,
                    parts in 0..4u32,
                    mut metadata in vec(prop_oneof![Just(0u8), 0..20u8, any::<u8>()], 0..80),
                    data in vec(any::<u8>(), 0..200),
                    len in 0..300usize,
                ) {
                    for (slot, byte) in metadata.iter_mut().zip(parts.to_le_bytes()) {
                        *slot = byte;
                    }
                    laws::no_bytes_make_it_panic(&filter, datatype, &metadata, &data, len);
                }
            }
        }
    };
}
