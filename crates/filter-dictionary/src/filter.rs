//! The DICTIONARY filter: the format's filter-pipeline page and 11-filters, "DICTIONARY".

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts, StringFilter};
use talavera_types::FilterType;

use crate::dictionary;

/// Filter 14: strings as numbers into a dictionary.
///
/// It runs as a [`StringFilter`] only; as in the reference, any other use of it is an error. The level that a schema
/// stores with it has no effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dictionary;

impl Filter for Dictionary {
    fn filter_type(&self) -> FilterType {
        FilterType::Dictionary
    }

    /// # Errors
    /// Always [`FilterError::Unsupported`].
    fn encode<'a>(&self, _chunk: Chunk<'a>, _cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        Err(strings_only())
    }

    /// # Errors
    /// Always [`FilterError::Unsupported`].
    fn decode<'a>(&self, _chunk: EncodedChunk<'a>, _cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        Err(strings_only())
    }

    fn as_string_filter(&self) -> Option<&dyn StringFilter> {
        Some(self)
    }
}

impl StringFilter for Dictionary {
    fn encode_strings(&self, values: &[u8], offsets: &[u64], _cx: &FilterContext<'_>) -> Result<Chunk<'static>, FilterError> {
        let encoded = dictionary::encode(values, offsets)?;
        let header = Header {
            values_bytes: length(values.len())?,
            ids_bytes: length(encoded.ids.len())?,
            offsets_bytes: length(offsets.len().saturating_sub(1).saturating_mul(8))?,
            id_width: encoded.id_width,
            length_width: encoded.length_width,
            dictionary: &encoded.dictionary,
        };
        length(encoded.dictionary.len())?;
        Ok(Chunk { metadata: Parts::one(header.encode()), data: Parts::one(encoded.ids) })
    }

    fn decode_strings(
        &self,
        chunk: EncodedChunk<'_>,
        cx: &FilterContext<'_>,
        cells: usize,
        values: &mut [u8],
        offsets: &mut Vec<u64>,
    ) -> Result<(), FilterError> {
        let mut decode = || {
            let header = Header::decode(&chunk.metadata)?;
            equal("values size", header.values_bytes, values.len())?;
            equal("dictionary ids size", header.ids_bytes, chunk.data.len())?;
            equal("dictionary ids size", header.ids_bytes, cells.saturating_mul(header.id_width.into()))?;
            equal("offsets size", header.offsets_bytes, cells.saturating_mul(8))?;
            if offsets.capacity() - offsets.len() < cells {
                offsets.reserve_exact(cx.limits.charge("offsets size", header.offsets_bytes.into())? / 8);
            }
            let charge = |bytes| cx.limits.charge("dictionary", bytes).map(|_| ());
            let entries = dictionary::entries(header.dictionary, header.length_width, charge)?;
            dictionary::decode_ids(&chunk.data, header.id_width, &entries, values, offsets)
        };
        decode().map_err(FilterError::corrupt(FilterType::Dictionary))
    }
}

/// The metadata of a chunk; sizes in bytes.
struct Header<'a> {
    values_bytes: u32,
    ids_bytes: u32,
    offsets_bytes: u32,
    id_width: u8,
    length_width: u8,
    dictionary: &'a [u8],
}

impl<'a> Header<'a> {
    fn decode(metadata: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(metadata);
        equal("metadata part count", r.u32("metadata part count")?, 0)?;
        equal("data part count", r.u32("data part count")?, 1)?;
        let values_bytes = r.u32("values size")?;
        let ids_bytes = r.u32("dictionary ids size")?;
        let offsets_bytes = r.u32("offsets size")?;
        let id_width = width(&mut r, "dictionary id width")?;
        let length_width = width(&mut r, "dictionary string length width")?;
        let dictionary = r.bytes_u32("dictionary")?;
        r.finish("chunk metadata")?;
        Ok(Self { values_bytes, ids_bytes, offsets_bytes, id_width, length_width, dictionary })
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::with_capacity(26 + self.dictionary.len());
        w.u32(0);
        w.u32(1);
        w.u32(self.values_bytes);
        w.u32(self.ids_bytes);
        w.u32(self.offsets_bytes);
        w.u8(self.id_width);
        w.u8(self.length_width);
        w.bytes_u32(self.dictionary);
        w.into_vec()
    }
}

fn width(r: &mut Reader<'_>, field: &'static str) -> Result<u8, DecodeError> {
    let before = r.clone();
    match r.u8(field)? {
        width @ (1 | 2 | 4 | 8) => Ok(width),
        found => Err(before.invalid(field, found.into(), "a width of 1, 2, 4 or 8 bytes")),
    }
}

fn equal(field: &'static str, found: u32, expected: usize) -> Result<(), DecodeError> {
    if u64::from(found) == expected as u64 {
        return Ok(());
    }
    Err(DecodeErrorKind::Mismatch { found: found.into(), expected: expected as u64 }.at(field, 0))
}

fn length(bytes: usize) -> Result<u32, FilterError> {
    u32::try_from(bytes)
        .map_err(|_| FilterError::invalid_input(FilterType::Dictionary, format!("strings of {bytes} bytes; 4 GiB is the limit")))
}

#[cold]
fn strings_only() -> FilterError {
    FilterError::unsupported(FilterType::Dictionary, "it takes variable-length text and comes first in a filter list")
}
