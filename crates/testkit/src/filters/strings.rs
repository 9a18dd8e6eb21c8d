//! What the tests of filters of strings share: comparison with chunks that libtiledb wrote, and the laws. Each panics when
//! it is broken; that is how a test fails.

use proptest::collection::vec;
use proptest::strategy::Strategy;
use talavera_filter::{EncodedChunk, Filter, FilterError};
use talavera_types::Datatype;

use super::with_context;

/// The chunk is decoded to the strings, and the strings are encoded to the chunk.
pub fn check_strings(filter: &dyn Filter, metadata: &[u8], data: &[u8], strings: &[&str]) {
    let (values, offsets) = flatten(strings);
    let decoded = decode(filter, metadata, data, strings.len(), values.len()).unwrap();
    assert_eq!((&decoded.0, &*decoded.1), (&values, &offsets[..strings.len()]));
    let encoded = encode(filter, &values, &offsets);
    assert_eq!((&*encoded.0, &*encoded.1), (metadata, data));
}

/// Words of which some repeat, as cells.
pub fn words() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let word = vec(b'a'..b'd', 0..4);
    vec((word, 1usize..4), 0..20).prop_map(|runs| runs.into_iter().flat_map(|(word, len)| vec![word; len]).collect())
}

/// Strings that were encoded are decoded.
pub fn strings_that_were_encoded_are_decoded(filter: &dyn Filter, words: &[Vec<u8>]) {
    let (values, offsets) = flatten(words);
    let (metadata, data) = encode(filter, &values, &offsets);
    let decoded = decode(filter, &metadata, &data, words.len(), values.len()).unwrap();
    assert_eq!(decoded, (values, offsets[..words.len()].to_vec()));
}

/// Room for more strings or bytes is an error, and so is every shorter prefix of the metadata or of the data.
pub fn wrong_sizes_and_shorter_prefixes_of_strings_are_errors(filter: &dyn Filter, words: &[Vec<u8>]) {
    let (values, offsets) = flatten(words);
    let (metadata, data) = encode(filter, &values, &offsets);
    for len in 0..metadata.len() {
        assert!(decode(filter, &metadata[..len], &data, words.len(), values.len()).is_err());
    }
    for len in 0..data.len() {
        assert!(decode(filter, &metadata, &data[..len], words.len(), values.len()).is_err());
    }
    assert!(decode(filter, &metadata, &data, words.len() + 1, values.len()).is_err());
    assert!(decode(filter, &metadata, &data, words.len(), values.len() + 1).is_err());
}

/// Every single flipped bit is an error or a value, never a panic.
pub fn every_flipped_bit_of_strings_is_an_error_or_a_value(filter: &dyn Filter, words: &[Vec<u8>]) {
    let (values, offsets) = flatten(words);
    let (metadata, data) = encode(filter, &values, &offsets);
    let mut both = [metadata.clone(), data].concat();
    for at in 0..both.len() {
        for bit in 0..8 {
            both[at] ^= 1 << bit;
            let (metadata, data) = both.split_at(metadata.len());
            drop(decode(filter, metadata, data, words.len(), values.len()));
            both[at] ^= 1 << bit;
        }
    }
}

/// Values and the start of each cell, with the length of the values behind.
fn flatten(words: &[impl AsRef<[u8]>]) -> (Vec<u8>, Vec<u64>) {
    let (mut values, mut offsets) = (Vec::new(), vec![0]);
    for word in words {
        values.extend_from_slice(word.as_ref());
        offsets.push(values.len() as u64);
    }
    (values, offsets)
}

fn encode(filter: &dyn Filter, values: &[u8], offsets: &[u64]) -> (Vec<u8>, Vec<u8>) {
    let filter = filter.as_string_filter().unwrap();
    let chunk = with_context(Datatype::StringAscii, |cx| filter.encode_strings(values, offsets, cx)).unwrap();
    (chunk.metadata.concat().into_owned(), chunk.data.concat().into_owned())
}

fn decode(
    filter: &dyn Filter,
    metadata: &[u8],
    data: &[u8],
    cells: usize,
    len: usize,
) -> Result<(Vec<u8>, Vec<u64>), FilterError> {
    let filter = filter.as_string_filter().unwrap();
    with_context(Datatype::StringAscii, |cx| {
        let (mut values, mut offsets) = (vec![0xaa; len], Vec::new());
        filter.decode_strings(EncodedChunk::new(metadata, data), cx, cells, &mut values, &mut offsets)?;
        Ok((values, offsets))
    })
}

/// States the laws of a filter of strings as property tests in a module.
///
/// ```ignore
/// talavera_testkit::string_filter_laws! { mod laws { filter: Rle } }
/// ```
#[macro_export]
macro_rules! string_filter_laws {
    (mod $name:ident { filter: $filter:expr $(,)? }) => {
        #[cfg(test)]
        mod $name {
            use proptest::prelude::*;
            use $crate::filters::strings;

            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

                #[test]
                fn strings_that_were_encoded_are_decoded(words in strings::words()) {
                    strings::strings_that_were_encoded_are_decoded(&$filter, &words);
                }

                #[test]
                fn wrong_sizes_and_shorter_prefixes_of_strings_are_errors(words in strings::words()) {
                    strings::wrong_sizes_and_shorter_prefixes_of_strings_are_errors(&$filter, &words);
                }

                #[test]
                fn every_flipped_bit_of_strings_is_an_error_or_a_value(words in strings::words()) {
                    strings::every_flipped_bit_of_strings_is_an_error_or_a_value(&$filter, &words);
                }
            }
        }
    };
}
