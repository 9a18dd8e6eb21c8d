//! Strings as numbers into a dictionary: 11-filters, "DICTIONARY".
//!
//! ```text
//! dictionary := entries { uint (big-endian, length_width bytes) length; u8 string[length] }, in order of appearance
//! ids        := uint (big-endian, id_width bytes) per string, counting entries from 0
//! ```

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::FilterError;
use talavera_filter::strings::{copy, narrowest_width, split};
use talavera_types::FilterType;

/// Strings as a dictionary and numbers into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded<'a> {
    /// Bytes of each number in `ids`: 1, 2, 4 or 8.
    pub id_width: u8,
    /// Bytes of each length in `dictionary`: 1, 2, 4 or 8.
    pub length_width: u8,
    /// The distinct strings, each behind its length.
    pub dictionary: Cow<'a, [u8]>,
    /// The number of each string, big-endian.
    pub ids: Cow<'a, [u8]>,
}

/// Numbers the strings in `values` in order of first appearance.
///
/// `offsets` holds the start of each string in `values`, one more than there are strings: the last is the length of
/// `values`.
///
/// # Errors
/// [`FilterError::InvalidInput`] for offsets that do not begin at 0, descend, or do not end at the length of `values`.
pub fn encode(values: &[u8], offsets: &[u64]) -> Result<Encoded<'static>, FilterError> {
    let mut strings = Vec::with_capacity(offsets.len());
    for string in split(FilterType::Dictionary, values, offsets)? {
        strings.push(string?);
    }
    let longest = strings.iter().map(|string| string.len() as u64).max().unwrap_or(0);
    let (id_width, length_width) = (narrowest_width(strings.len() as u64), narrowest_width(longest));
    let (mut dictionary, mut ids) = (Writer::new(), Writer::with_capacity(strings.len() * usize::from(id_width)));
    let (mut known, mut recent) = (HashMap::new(), Recent::new());
    for string in strings {
        let id = recent.find(string).unwrap_or_else(|slot| {
            let next = known.len() as u64;
            let id = match known.entry(string) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    dictionary.uint_be(string.len() as u64, length_width);
                    dictionary.bytes(string);
                    *entry.insert(next)
                }
            };
            *slot = (string, Some(id));
            id
        });
        ids.uint_be(id, id_width);
    }
    Ok(Encoded { id_width, length_width, dictionary: dictionary.into_vec().into(), ids: ids.into_vec().into() })
}

/// Strings seen lately and their numbers: one comparison finds again what the map would hash byte by byte, with a hash
/// that takes long because nobody can choose strings that collide under it. Here those that do take each other's place.
struct Recent<'a>(Box<[Seen<'a>]>);

type Seen<'a> = (&'a [u8], Option<u64>);

impl<'a> Recent<'a> {
    const SLOT_BITS: u32 = 10;

    fn new() -> Self {
        Self(vec![Seen::default(); 1 << Self::SLOT_BITS].into())
    }

    /// The number of a string, or the place where it belongs.
    #[inline]
    fn find(&mut self, string: &'a [u8]) -> Result<u64, &mut Seen<'a>> {
        let ends = [string.first_chunk::<8>(), string.last_chunk::<8>()];
        let mixed = match ends {
            [Some(first), Some(last)] => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29),
            _ => string.iter().fold(0, |mixed, byte| mixed << 8 | u64::from(*byte)),
        };
        let slot = (mixed ^ string.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Self::SLOT_BITS);
        #[expect(clippy::indexing_slicing, reason = "as many bits as there are slots for")]
        let seen = &mut self.0[slot as usize];
        match seen {
            (known, Some(id)) if *known == string => Ok(*id),
            _ => Err(seen),
        }
    }
}

/// Fills `values` with the strings and appends the start of each to `offsets`.
///
/// There are as many strings as `encoded.ids` has numbers. After an error both hold what was decoded until then.
///
/// # Errors
/// A [`DecodeError`] for widths that are none, entries and numbers that are cut short, a number without an entry, and
/// strings that are more or fewer bytes than asked for.
pub fn decode(encoded: &Encoded<'_>, values: &mut [u8], offsets: &mut Vec<u64>) -> Result<(), DecodeError> {
    let entries = entries(&encoded.dictionary, encoded.length_width, |_| Ok(()))?;
    decode_ids(&encoded.ids, encoded.id_width, &entries, values, offsets)
}

/// The strings of a dictionary; `charge` hears of each before it takes memory.
pub(crate) fn entries(
    dictionary: &[u8],
    length_width: u8,
    charge: impl Fn(u64) -> Result<(), DecodeError>,
) -> Result<Vec<&[u8]>, DecodeError> {
    let mut r = Reader::new(dictionary);
    let mut entries = Vec::new();
    while !r.is_empty() {
        let length = r.uint_be(length_width, "dictionary string length")?;
        let string = r.bytes(length, "dictionary string")?;
        charge(size_of::<&[u8]>() as u64)?;
        entries.push(string);
    }
    Ok(entries)
}

pub(crate) fn decode_ids(
    ids: &[u8],
    id_width: u8,
    entries: &[&[u8]],
    values: &mut [u8],
    offsets: &mut Vec<u64>,
) -> Result<(), DecodeError> {
    match id_width {
        1 => decode_ids_of_width::<1>(ids, entries, values, offsets),
        2 => decode_ids_of_width::<2>(ids, entries, values, offsets),
        4 => decode_ids_of_width::<4>(ids, entries, values, offsets),
        8 => decode_ids_of_width::<8>(ids, entries, values, offsets),
        _ => Err(Reader::new(ids).invalid("dictionary id width", id_width.into(), "1, 2, 4 or 8 bytes")),
    }
}

fn decode_ids_of_width<const N: usize>(
    ids: &[u8],
    entries: &[&[u8]],
    values: &mut [u8],
    offsets: &mut Vec<u64>,
) -> Result<(), DecodeError> {
    let whole = values.len() as u64;
    let (ids, cut_id) = ids.as_chunks::<N>();
    let (mut rest, mut start) = (values, 0);
    for (index, bytes) in ids.iter().enumerate() {
        let id = bytes.iter().fold(0, |id, &byte| id << 8 | u64::from(byte));
        let invalid = |expected| DecodeErrorKind::Invalid { found: id, expected }.at("dictionary id", (index * N) as u64);
        let Some(string) = usize::try_from(id).ok().and_then(|id| entries.get(id)) else {
            return Err(invalid("the number of an entry"));
        };
        let Some((target, behind)) = std::mem::take(&mut rest).split_at_mut_checked(string.len()) else {
            return Err(invalid("an entry within the bytes left"));
        };
        copy(string, target);
        offsets.push(start);
        (rest, start) = (behind, start + string.len() as u64);
    }
    let end = ids.as_flattened().len() as u64;
    if !cut_id.is_empty() {
        Reader::at(cut_id, end).array::<N>("dictionary id")?;
    }
    if rest.is_empty() {
        return Ok(());
    }
    Err(DecodeErrorKind::Mismatch { found: start, expected: whole }.at("decoded length", end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From arrays of the reference: 255 cells take ids of one byte, 256 of two, 65536 of four.
    #[test]
    fn the_width_of_ids_follows_from_the_number_of_cells() {
        let id_width = |cells: usize| encode(&[], &vec![0; cells + 1]).unwrap().id_width;
        assert_eq!([255, 256, 65_535, 65_536].map(id_width), [1, 2, 2, 4]);
    }

    #[test]
    fn ids_without_an_entry_are_refused() {
        let encoded = Encoded { id_width: 1, length_width: 1, dictionary: (&[1, b'a']).into(), ids: (&[0, 1]).into() };
        let error = decode(&encoded, &mut [0; 2], &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "dictionary id: 1 is not the number of an entry (at byte 1)");
    }

    #[test]
    fn more_or_fewer_bytes_than_asked_for_are_refused() {
        let encoded = encode(b"abab", &[0, 2, 4]).unwrap();
        let check = |len: usize| decode(&encoded, &mut vec![0; len], &mut Vec::new());
        assert!(check(4).is_ok());
        assert!(check(3).is_err());
        assert!(check(5).is_err());
    }

    #[test]
    fn widths_and_dictionaries_that_are_none_are_refused() {
        let check = |id_width, length_width, dictionary: &'static [u8], ids: &'static [u8]| {
            let encoded = Encoded { id_width, length_width, dictionary: dictionary.into(), ids: ids.into() };
            decode(&encoded, &mut [0; 1], &mut Vec::new())
        };
        assert!(check(1, 1, &[1, b'a'], &[0]).is_ok());
        assert!(check(3, 1, &[1, b'a'], &[0, 0, 0]).is_err());
        assert!(check(1, 0, &[1, b'a'], &[0]).is_err());
        assert!(check(2, 1, &[1, b'a'], &[0]).is_err(), "half a number");
        assert!(check(1, 1, &[2, b'a'], &[0]).is_err(), "half an entry");
        assert!(check(1, 2, &[0], &[0]).is_err(), "half a length");
    }

    #[test]
    fn offsets_that_are_none_are_refused() {
        assert!(encode(b"abc", &[]).is_err());
        assert!(encode(b"abc", &[1, 3]).is_err());
        assert!(encode(b"abc", &[0, 2]).is_err());
        assert!(encode(b"abc", &[0, 2, 1, 3]).is_err());
        assert!(encode(b"abc", &[0, u64::MAX, 3]).is_err());
    }
}
