//! The filter: a table of parts with their IVs and tags beside the encrypted parts.
//!
//! ```text
//! own metadata := u32 metadata parts; u32 data parts; per part { u32 plain bytes; u32 encrypted bytes; u8 iv[12]; u8 tag[16] }
//! data         := encrypted metadata parts, then encrypted data parts
//! ```
//!
//! Source: the format's tile page, encryption, and 11-filters, "AES_256_GCM". The page shows IV and tag as numbers of 32
//! bits; every library writes them whole, as above.

use std::borrow::Cow;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts};
use talavera_types::FilterType;

use crate::{Aes256Gcm, IV_BYTES, TAG_BYTES};

const FILTER: FilterType = FilterType::Aes256Gcm;

/// Bytes that the table takes for a part.
const ENTRY_BYTES: u64 = 4 + 4 + IV_BYTES as u64 + TAG_BYTES as u64;

impl Filter for Aes256Gcm {
    fn filter_type(&self) -> FilterType {
        FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        let mut table = Writer::with_capacity(8 + 36 * (chunk.metadata.count() + chunk.data.count()));
        table.len_u32(chunk.metadata.count());
        table.len_u32(chunk.data.count());
        let mut data = cx.buffers.take(chunk.metadata.total_bytes() + chunk.data.total_bytes());
        let mut rest = data.as_mut_slice();
        for part in chunk.metadata.iter().chain(chunk.data.iter()) {
            let (sealed, behind) = rest.split_at_mut(part.len());
            self.encode_part(part, sealed, &mut table)?;
            rest = behind;
        }
        chunk.data.give_back(cx.buffers);
        Ok(Chunk { metadata: Parts::one(table.into_vec()), data: Parts::one(data) })
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        let decoded = self.decode_chunk(&chunk, cx).map_err(FilterError::corrupt(FILTER))?;
        cx.buffers.give_back(chunk.data);
        Ok(decoded)
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, _: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        self.decode_cells(&chunk, cells).map_err(FilterError::corrupt(FILTER))
    }
}

impl Aes256Gcm {
    /// Encrypts a part under a fresh IV and writes its entry.
    fn encode_part(&self, part: &[u8], sealed: &mut [u8], table: &mut Writer) -> Result<(), FilterError> {
        let too_long = || FilterError::invalid_input(FILTER, format!("a part of {} bytes; 4 GiB is the limit", part.len()));
        let bytes = u32::try_from(part.len()).map_err(|_| too_long())?;
        let mut iv = [0; IV_BYTES];
        getrandom::fill(&mut iv)
            .map_err(|error| FilterError::unsupported(FILTER, format!("the system has no random numbers: {error}")))?;
        let tag = self.seal(&iv, part, sealed).ok_or_else(too_long)?;
        table.u32(bytes);
        table.u32(bytes);
        table.bytes(&iv);
        table.bytes(&tag);
        Ok(())
    }

    fn decode_chunk<'a>(&self, chunk: &EncodedChunk<'_>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, DecodeError> {
        let table = PartTable::decode(&chunk.metadata)?;
        let mut data = Reader::new(&chunk.data);
        // Checked before anything is allocated: the parts are all of the data.
        data.check_count("encrypted parts", table.metadata_bytes + table.data_bytes, 1)?;
        let mut metadata = vec![0; cx.limits.charge("encrypted part length", table.metadata_bytes)?];
        let mut cells = cx.buffers.take(cx.limits.charge("encrypted part length", table.data_bytes)?);
        self.decode_parts(table.metadata, &mut data, &mut metadata)?;
        self.decode_parts(table.data, &mut data, &mut cells)?;
        data.finish("encrypted parts")?;
        Ok(EncodedChunk { metadata: Cow::Owned(metadata), data: Cow::Owned(cells) })
    }

    fn decode_cells(&self, chunk: &EncodedChunk<'_>, cells: &mut [u8]) -> Result<(), DecodeError> {
        let table = PartTable::decode(&chunk.metadata)?;
        if table.metadata_bytes > 0 {
            return Err(DecodeErrorKind::Trailing { left: table.metadata_bytes }.at("chunk metadata", 0));
        }
        if table.data_bytes != cells.len() as u64 {
            let kind = DecodeErrorKind::Mismatch { found: table.data_bytes, expected: cells.len() as u64 };
            return Err(kind.at("encrypted part length", 0));
        }
        let mut data = Reader::new(&chunk.data);
        self.decode_parts(table.metadata, &mut data, &mut [])?;
        self.decode_parts(table.data, &mut data, cells)?;
        data.finish("encrypted parts")
    }

    /// Decrypts parts from the front of `data`; `out` is as long as all of them.
    fn decode_parts(&self, mut parts: Reader<'_>, data: &mut Reader<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
        let mut rest = out;
        while !parts.is_empty() {
            let plain_bytes = parts.u32("plain part length")?;
            let before = parts.clone();
            let sealed_bytes = parts.u32("encrypted part length")?;
            let iv = parts.array("encrypted part IV")?;
            let tag = parts.array("encrypted part tag")?;
            if sealed_bytes != plain_bytes {
                let kind = DecodeErrorKind::Mismatch { found: sealed_bytes.into(), expected: plain_bytes.into() };
                return Err(kind.at("encrypted part length", before.offset()));
            }
            let at = data.offset();
            let sealed = data.bytes(sealed_bytes.into(), "encrypted part")?;
            let Some((plain, behind)) = std::mem::take(&mut rest).split_at_mut_checked(sealed.len()) else {
                return Err(before.invalid("encrypted part length", sealed_bytes.into(), "within the chunk"));
            };
            self.open(iv, tag, sealed, plain)
                .map_err(|error| DecodeErrorKind::Refused { reason: error.to_string() }.at("encrypted part", at))?;
            rest = behind;
        }
        Ok(())
    }
}

/// The table of parts, its entries still to be read.
struct PartTable<'a> {
    metadata: Reader<'a>,
    metadata_bytes: u64,
    data: Reader<'a>,
    data_bytes: u64,
}

impl<'a> PartTable<'a> {
    fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let metadata_parts = u64::from(r.u32("metadata part count")?);
        let data_parts = u64::from(r.u32("data part count")?);
        let metadata = r.split(metadata_parts * ENTRY_BYTES, "encrypted metadata parts")?;
        let data = r.split(data_parts * ENTRY_BYTES, "encrypted data parts")?;
        r.finish("chunk metadata")?;
        Ok(Self { metadata_bytes: plain_bytes(metadata.clone())?, data_bytes: plain_bytes(data.clone())?, metadata, data })
    }
}

fn plain_bytes(mut parts: Reader<'_>) -> Result<u64, DecodeError> {
    let mut total = 0;
    while !parts.is_empty() {
        total += u64::from(parts.u32("plain part length")?);
        parts.bytes(ENTRY_BYTES - 4, "encrypted part")?;
    }
    Ok(total)
}
