//! The DICTIONARY filter: the format's filter-pipeline page and 11-filters, "DICTIONARY".

use talavera_codec::{Reader, Writer};
use talavera_filter::strings::{self, Fields, Header};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts, StringFilter};
use talavera_types::FilterType;

use crate::dictionary::{self, Encoded};

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

const FIELDS: Fields =
    Fields { stored: "dictionary ids size", widths: ["dictionary id width", "dictionary string length width"] };

impl StringFilter for Dictionary {
    fn encode_strings(&self, values: &[u8], offsets: &[u64], _cx: &FilterContext<'_>) -> Result<Chunk<'static>, FilterError> {
        let Encoded { id_width, length_width, dictionary, ids } = dictionary::encode(values, offsets)?;
        let widths = [id_width, length_width];
        let header = Header::new(FilterType::Dictionary, values.len(), ids.len(), offsets.len(), widths)?;
        strings::length(FilterType::Dictionary, dictionary.len())?;
        let mut w = Writer::with_capacity(26 + dictionary.len());
        header.encode(&mut w);
        w.bytes_u32(&dictionary);
        Ok(Chunk { metadata: Parts::one(w.into_vec()), data: Parts::one(ids) })
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
            let mut r = Reader::new(&chunk.metadata);
            let header = Header::decode(&mut r, &FIELDS)?;
            let dictionary = r.bytes_u32("dictionary")?;
            r.finish("chunk metadata")?;
            let [id_width, length_width] = header.widths;
            strings::equal("values size", header.values_bytes, values.len())?;
            strings::equal(FIELDS.stored, header.stored_bytes, chunk.data.len())?;
            strings::equal(FIELDS.stored, header.stored_bytes, cells.saturating_mul(id_width.into()))?;
            header.reserve_offsets(cells, cx, offsets)?;
            let charge = |bytes| cx.limits.charge("dictionary", bytes).map(|_| ());
            let entries = dictionary::entries(dictionary, length_width, charge)?;
            dictionary::decode_ids(&chunk.data, id_width, &entries, values, offsets)
        };
        decode().map_err(FilterError::corrupt(FilterType::Dictionary))
    }
}

#[cold]
fn strings_only() -> FilterError {
    FilterError::unsupported(FilterType::Dictionary, "it takes variable-length text and comes first in a filter list")
}
