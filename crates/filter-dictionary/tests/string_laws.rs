//! The laws of encoder and decoder for strings.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use talavera_codec::Limits;
use talavera_filter::{EncodedChunk, Filter, FilterContext, FilterError};
use talavera_filter_dictionary::Dictionary;
use talavera_types::{Datatype, FormatVersion};

const FILTER: Dictionary = Dictionary;

/// Words of which some repeat, as cells.
fn words() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let word = vec(b'a'..b'd', 0..4);
    vec((word, 1usize..4), 0..20).prop_map(|runs| runs.into_iter().flat_map(|(word, len)| vec![word; len]).collect())
}

/// Values and the start of each cell, with the length of the values behind.
fn flatten(words: &[Vec<u8>]) -> (Vec<u8>, Vec<u64>) {
    let mut offsets = vec![0];
    for word in words {
        offsets.push(offsets.last().unwrap() + word.len() as u64);
    }
    (words.concat(), offsets)
}

fn decode_chunk(metadata: &[u8], data: &[u8], cells: usize, len: usize) -> Result<(Vec<u8>, Vec<u64>), FilterError> {
    with_context(|cx| {
        let (mut values, mut offsets) = (vec![0; len], Vec::new());
        let strings = FILTER.as_string_filter().unwrap();
        strings.decode_strings(EncodedChunk::new(metadata, data), cx, cells, &mut values, &mut offsets)?;
        Ok((values, offsets))
    })
}

fn with_context<T>(act: impl FnOnce(&FilterContext<'_>) -> T) -> T {
    let limits = Limits::new(1 << 20);
    let version = FormatVersion::DEFAULT;
    act(&FilterContext { datatype: Datatype::StringAscii, cell_bytes: 1, version, limits: &limits })
}

fn flip(bytes: &[u8], at: usize, bit: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1 << bit;
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..Default::default() })]

    #[test]
    fn strings_that_were_encoded_are_decoded(words in words()) {
        let (values, offsets) = flatten(&words);
        let chunk = with_context(|cx| FILTER.as_string_filter().unwrap().encode_strings(&values, &offsets, cx)).unwrap();
        let (metadata, data) = (chunk.metadata.concat(), chunk.data.concat());
        let decoded = decode_chunk(&metadata, &data, words.len(), values.len()).unwrap();
        prop_assert_eq!(decoded, (values, offsets[..words.len()].to_vec()));
    }

    #[test]
    fn wrong_sizes_and_shorter_prefixes_of_strings_are_errors(words in words()) {
        let (values, offsets) = flatten(&words);
        let chunk = with_context(|cx| FILTER.as_string_filter().unwrap().encode_strings(&values, &offsets, cx)).unwrap();
        let (metadata, data) = (chunk.metadata.concat(), chunk.data.concat());
        for len in 0..metadata.len() {
            prop_assert!(decode_chunk(&metadata[..len], &data, words.len(), values.len()).is_err());
        }
        for len in 0..data.len() {
            prop_assert!(decode_chunk(&metadata, &data[..len], words.len(), values.len()).is_err());
        }
        prop_assert!(decode_chunk(&metadata, &data, words.len() + 1, values.len()).is_err());
        prop_assert!(decode_chunk(&metadata, &data, words.len(), values.len() + 1).is_err());
    }

    #[test]
    fn every_flipped_bit_of_strings_is_an_error_or_a_value(words in words()) {
        let (values, offsets) = flatten(&words);
        let chunk = with_context(|cx| FILTER.as_string_filter().unwrap().encode_strings(&values, &offsets, cx)).unwrap();
        let (metadata, data) = (chunk.metadata.concat(), chunk.data.concat());
        for bit in 0..8 {
            for at in 0..metadata.len() {
                let _ = decode_chunk(&flip(&metadata, at, bit), &data, words.len(), values.len());
            }
            for at in 0..data.len() {
                let _ = decode_chunk(&metadata, &flip(&data, at, bit), words.len(), values.len());
            }
        }
    }
}
