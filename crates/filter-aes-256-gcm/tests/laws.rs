//! The laws of the filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit
//! is an error or a value; and no bytes make it panic.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_codec::Limits;
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, Parts};
use talavera_filter_aes_256_gcm::Aes256Gcm;
use talavera_types::{Datatype, FormatVersion};

const DATATYPES: &[Datatype] = &[Datatype::Int32];

fn with_context<R>(datatype: Datatype, check: impl FnOnce(&FilterContext<'_>) -> R) -> R {
    let limits = Limits::new(1 << 20);
    check(&FilterContext { datatype, cell_bytes: datatype.size(), version: FormatVersion::DEFAULT, limits: &limits })
}

/// A filter, the datatype it sees and cells that it takes.
fn chunks() -> impl Strategy<Value = (Aes256Gcm, Datatype, Vec<u8>)> {
    (select(DATATYPES), vec(any::<u8>(), 0..60)).prop_map(|(datatype, cells)| (Aes256Gcm::new(&[7; 32]), datatype, cells))
}

/// Metadata and data of encoded cells, each in one piece.
fn encode(filter: &Aes256Gcm, cells: &[u8], cx: &FilterContext<'_>) -> (Vec<u8>, Vec<u8>) {
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
    fn every_flipped_bit_is_an_error((filter, datatype, cells) in chunks()) {
        with_context(datatype, |cx| {
            let (metadata, data) = encode(&filter, &cells, cx);
            let mut both = [metadata.clone(), data].concat();
            let mut out = vec![0; cells.len()];
            for at in 0..both.len() {
                for bit in 0..8 {
                    both[at] ^= 1 << bit;
                    let (metadata, data) = both.split_at(metadata.len());
                    prop_assert!(filter.decode_into(EncodedChunk::new(metadata, data), cx, &mut out).is_err());
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
fn every_part_has_an_iv_of_its_own() {
    with_context(Datatype::Int32, |cx| {
        let filter = Aes256Gcm::new(&[7; 32]);
        let (first, second) = (encode(&filter, &[1; 16], cx), encode(&filter, &[1; 16], cx));
        // Counts and lengths are the same, IVs and tags are not.
        assert_eq!(first.0[..16], second.0[..16]);
        assert_ne!(first.0[16..28], second.0[16..28]);
        assert_ne!(first.1, second.1);
    });
}

#[test]
fn the_key_is_not_shown() {
    assert_eq!(format!("{:?}", Aes256Gcm::new(&[7; 32])), "Aes256Gcm { .. }");
}
