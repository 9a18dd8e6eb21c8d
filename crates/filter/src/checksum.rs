//! The framing that checksums share: a length and a digest for every part, the parts themselves untouched.
//!
//! ```text
//! own metadata := u32 metadata parts; u32 data parts; per part { u64 bytes; u8 digest[N] }, then the previous metadata
//! ```
//!
//! Source: the format's tile page and 11-filters, "CHECKSUM_MD5, CHECKSUM_SHA256".

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_types::FilterType;

use crate::{Chunk, EncodedChunk, FilterError};

/// Puts the digest of every part in front of the metadata.
#[must_use]
pub fn encode<'a, const N: usize>(chunk: Chunk<'a>, digest: impl Fn(&[u8]) -> [u8; N]) -> Chunk<'a> {
    let (metadata, data) = (&chunk.metadata, &chunk.data);
    let mut w = Writer::with_capacity(8 + (8 + N) * (metadata.count() + data.count()));
    w.len_u32(metadata.count());
    w.len_u32(data.count());
    for part in metadata.iter().chain(data.iter()) {
        w.len_u64(part.len());
        w.bytes(&digest(part));
    }
    // A part without bytes has a digest and is then lost.
    Chunk { metadata: chunk.metadata.passed_on().behind(w.into_vec()), data: chunk.data.passed_on() }
}

/// Checks the digest of every part and takes the digests away.
///
/// # Errors
/// [`FilterError::Corrupt`] when a digest does not match, or the lengths do not add up to the bytes.
pub fn decode<'a, const N: usize>(
    filter: FilterType,
    chunk: EncodedChunk<'a>,
    digest: impl Fn(&[u8]) -> [u8; N],
) -> Result<EncodedChunk<'a>, FilterError> {
    let header = verify(&chunk, digest).map_err(FilterError::corrupt(filter))?;
    Ok(chunk.consume_metadata(header))
}

/// The length of the checksum's own metadata, once every digest was found right.
fn verify<const N: usize>(chunk: &EncodedChunk<'_>, digest: impl Fn(&[u8]) -> [u8; N]) -> Result<usize, DecodeError> {
    let mut r = Reader::new(&chunk.metadata);
    let metadata_parts = u64::from(r.u32("metadata part count")?);
    let data_parts = u64::from(r.u32("data part count")?);
    let entry_bytes = 8 + N as u64;
    let mut metadata_entries = r.split(metadata_parts * entry_bytes, "metadata checksums")?;
    let mut data_entries = r.split(data_parts * entry_bytes, "data checksums")?;
    let header = chunk.metadata.len() - r.remaining();
    let check = |entries: &mut Reader<'_>, mut bytes: Reader<'_>| {
        while !entries.is_empty() {
            let len = entries.u64("checksummed length")?;
            let expected: &[u8; N] = entries.array("checksum")?;
            let offset = bytes.offset();
            if digest(bytes.bytes(len, "checksummed part")?) != *expected {
                return Err(DecodeErrorKind::Refused { reason: "checksum does not match".into() }.at("checksum", offset));
            }
        }
        bytes.finish("checksummed parts")
    };
    check(&mut metadata_entries, r)?;
    check(&mut data_entries, Reader::new(&chunk.data))?;
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(bytes: &[u8]) -> [u8; 1] {
        [bytes.iter().fold(0xd4, |sum: u8, byte| sum.wrapping_add(*byte))]
    }

    /// What the reference writes for variable-length cells that are all empty.
    #[test]
    fn an_empty_part_has_a_digest_and_is_not_handed_on() {
        let encoded = encode(Chunk::new(&[]), sum);
        let header = [
            0, 0, 0, 0, 1, 0, 0, 0, // no metadata parts, one data part
            0, 0, 0, 0, 0, 0, 0, 0, 0xd4, // length, digest
        ];
        assert_eq!(encoded.metadata.iter().collect::<Vec<_>>(), [header]);
        assert_eq!(encoded.data.count(), 0);
    }

    #[test]
    fn a_changed_byte_is_found() {
        let encoded = encode(Chunk::new(&[1, 2, 3]), sum);
        let metadata = encoded.metadata.concat();
        let decode = |data| decode(FilterType::ChecksumMd5, EncodedChunk::new(&metadata, data), sum);
        assert_eq!(decode(&[1, 2, 3]).unwrap(), EncodedChunk::new(&[], &[1, 2, 3]));
        assert!(decode(&[1, 2, 4]).is_err());
        assert!(decode(&[1, 2]).is_err());
        assert!(decode(&[1, 2, 3, 0]).is_err());
    }
}
