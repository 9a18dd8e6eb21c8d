//! What RLE and DICTIONARY share when they take strings: the sizes in front, the widths of numbers, and strings cut by their
//! offsets.
//!
//! ```text
//! own metadata := u32 0 metadata parts; u32 1 data part; u32 values bytes; u32 stored bytes; u32 offsets bytes;
//!                 u8 width; u8 width, then what the filter adds
//! ```
//!
//! Source: the format's filter-pipeline page and 11-filters, "RLE, string mode" and "DICTIONARY".

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_types::FilterType;

use crate::{FilterContext, FilterError};

/// What errors call the fields that each filter names in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields {
    /// Bytes of the stored form.
    pub stored: &'static str,
    /// The two widths.
    pub widths: [&'static str; 2],
}

/// The front of the metadata; sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Of all strings.
    pub values_bytes: u32,
    /// Of their stored form.
    pub stored_bytes: u32,
    /// Of their offsets, eight to a string.
    pub offsets_bytes: u32,
    /// Of the two kinds of numbers in the stored form: 1, 2, 4 or 8.
    pub widths: [u8; 2],
}

impl Header {
    /// The header for strings of `values` bytes with `offsets` offsets, one more than there are strings, in `stored` bytes.
    ///
    /// # Errors
    /// [`FilterError::InvalidInput`] for sizes of 4 GiB and more.
    pub fn new(filter: FilterType, values: usize, stored: usize, offsets: usize, widths: [u8; 2]) -> Result<Self, FilterError> {
        Ok(Self {
            values_bytes: length(filter, values)?,
            stored_bytes: length(filter, stored)?,
            offsets_bytes: length(filter, offsets.saturating_sub(1).saturating_mul(8))?,
            widths,
        })
    }

    /// Reads the header; what the filter adds stays in the reader.
    ///
    /// # Errors
    /// A [`DecodeError`] for other numbers of parts and for widths that are none.
    pub fn decode(r: &mut Reader<'_>, fields: &Fields) -> Result<Self, DecodeError> {
        equal("metadata part count", r.u32("metadata part count")?, 0)?;
        equal("data part count", r.u32("data part count")?, 1)?;
        let values_bytes = r.u32("values size")?;
        let stored_bytes = r.u32(fields.stored)?;
        let offsets_bytes = r.u32("offsets size")?;
        let [first, second] = fields.widths;
        let widths = [width(r, first)?, width(r, second)?];
        Ok(Self { values_bytes, stored_bytes, offsets_bytes, widths })
    }

    /// Writes the header.
    pub fn encode(&self, w: &mut Writer) {
        w.u32(0);
        w.u32(1);
        w.u32(self.values_bytes);
        w.u32(self.stored_bytes);
        w.u32(self.offsets_bytes);
        w.bytes(&self.widths);
    }

    /// Makes room for the offsets of `cells` strings, charged to the limits where there is none yet.
    ///
    /// # Errors
    /// A [`DecodeError`] when there are offsets for another number of strings, and when the limits do not allow them.
    pub fn reserve_offsets(&self, cells: usize, cx: &FilterContext<'_>, offsets: &mut Vec<u64>) -> Result<(), DecodeError> {
        equal("offsets size", self.offsets_bytes, cells.saturating_mul(8))?;
        if offsets.capacity() - offsets.len() < cells {
            offsets.reserve_exact(cx.limits.charge("offsets size", self.offsets_bytes.into())? / 8);
        }
        Ok(())
    }
}

/// Checks a size that is known from elsewhere.
///
/// # Errors
/// [`DecodeErrorKind::Mismatch`] when it is another.
pub fn equal(field: &'static str, found: u32, expected: usize) -> Result<(), DecodeError> {
    if u64::from(found) == expected as u64 {
        return Ok(());
    }
    Err(DecodeErrorKind::Mismatch { found: found.into(), expected: expected as u64 }.at(field, 0))
}

/// A size as the metadata stores it.
///
/// # Errors
/// [`FilterError::InvalidInput`] from 4 GiB on.
pub fn length(filter: FilterType, bytes: usize) -> Result<u32, FilterError> {
    u32::try_from(bytes).map_err(|_| FilterError::invalid_input(filter, format!("strings of {bytes} bytes; 4 GiB is the limit")))
}

/// Bytes of the narrowest number that can say `largest`: 1, 2, 4 or 8.
#[must_use]
pub fn narrowest_width(largest: u64) -> u8 {
    match largest {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// The strings in `values`. `offsets` holds the start of each, one more than there are strings: the last is the length of
/// `values`.
///
/// # Errors
/// [`FilterError::InvalidInput`] for offsets that do not begin at 0 or do not end at the length of `values`, and in place
/// of a string whose offsets descend.
pub fn split<'a>(
    filter: FilterType,
    values: &'a [u8],
    offsets: &'a [u64],
) -> Result<impl Iterator<Item = Result<&'a [u8], FilterError>>, FilterError> {
    if offsets.first() != Some(&0) || offsets.last() != Some(&(values.len() as u64)) {
        return Err(FilterError::invalid_input(filter, "offsets do not go from 0 to the length of the values"));
    }
    Ok(offsets.iter().zip(offsets.iter().skip(1)).map(move |(&start, &end)| {
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        range
            .and_then(|(start, end)| values.get(start..end))
            .ok_or_else(|| FilterError::invalid_input(filter, format!("offset {start} before offset {end}")))
    }))
}

/// Copies a string, which most often is too short to be worth a call of the library's copy.
///
/// # Panics
/// When the two are not equally long and the longer has 17 bytes or more.
#[inline]
pub fn copy(string: &[u8], target: &mut [u8]) {
    match string.len() {
        0..=3 => target.iter_mut().zip(string).for_each(|(target, byte)| *target = *byte),
        4..=7 => copy_ends::<4>(string, target),
        8..=16 => copy_ends::<8>(string, target),
        _ => target.copy_from_slice(string),
    }
}

/// Copies the first and the last bytes, which meet or overlap.
#[inline]
fn copy_ends<const N: usize>(string: &[u8], target: &mut [u8]) {
    if let (Some(first), Some(target)) = (string.first_chunk::<N>(), target.first_chunk_mut::<N>()) {
        *target = *first;
    }
    if let (Some(last), Some(target)) = (string.last_chunk::<N>(), target.last_chunk_mut::<N>()) {
        *target = *last;
    }
}

fn width(r: &mut Reader<'_>, field: &'static str) -> Result<u8, DecodeError> {
    let before = r.clone();
    match r.u8(field)? {
        width @ (1 | 2 | 4 | 8) => Ok(width),
        found => Err(before.invalid(field, found.into(), "a width of 1, 2, 4 or 8 bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: Fields = Fields { stored: "stored size", widths: ["first width", "second width"] };

    #[test]
    fn strings_of_any_length_are_copied() {
        for len in 0..40 {
            let string: Vec<u8> = (1..=len).collect();
            let mut target = vec![0; string.len()];
            copy(&string, &mut target);
            assert_eq!(target, string);
        }
    }

    #[test]
    fn headers_are_encoded_and_decoded() {
        let header = Header::new(FilterType::Rle, 28, 34, 8, [1, 2]).unwrap();
        let mut w = Writer::new();
        header.encode(&mut w);
        // Parts of metadata and of data, bytes of values, of the stored form and of seven offsets, widths.
        let bytes = [0, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 34, 0, 0, 0, 56, 0, 0, 0, 1, 2];
        assert_eq!(w.as_slice(), bytes);
        let mut r = Reader::new(&bytes);
        assert_eq!(Header::decode(&mut r, &FIELDS), Ok(header));
        assert!(r.is_empty());
        for len in 0..bytes.len() {
            assert!(Header::decode(&mut Reader::new(&bytes[..len]), &FIELDS).is_err());
        }
    }

    #[test]
    fn other_parts_and_widths_that_are_none_are_refused_by_field() {
        let check = |at: usize, byte: u8, expected: &str| {
            let mut bytes = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1];
            bytes[at] = byte;
            assert_eq!(Header::decode(&mut Reader::new(&bytes), &FIELDS).unwrap_err().to_string(), expected);
        };
        check(0, 1, "metadata part count: is 1, expected 0 (at byte 0)");
        check(4, 2, "data part count: is 2, expected 1 (at byte 0)");
        check(20, 3, "first width: 3 is not a width of 1, 2, 4 or 8 bytes (at byte 20)");
        check(21, 0, "second width: 0 is not a width of 1, 2, 4 or 8 bytes (at byte 21)");
    }

    #[test]
    fn widths_grow_with_the_largest_number() {
        let largest = [0, 0xff, 0x100, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000, u64::MAX];
        assert_eq!(largest.map(narrowest_width), [1, 1, 2, 2, 4, 4, 8, 8]);
    }
}
