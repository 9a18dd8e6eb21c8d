//! The RLE filter: the format's filter-pipeline page and 11-filters, "RLE, fixed" and "RLE, string mode".

use talavera_codec::{DecodeError, Reader, Writer};
use talavera_filter::compressor::PartCodec;
use talavera_filter::strings::{self, Fields, Header};
use talavera_filter::{Chunk, EncodedChunk, FilterContext, FilterError, Parts, StringFilter};
use talavera_types::FilterType;

use crate::strings::Widths;

/// Filter 4: runs of cells, or of strings where it comes first for variable-length text.
///
/// The cells are those of the tile, whatever filters before made of them; the parts of other filters' metadata are cut
/// into cells of the same size. The level that a schema stores with the filter has no effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rle;

impl PartCodec for Rle {
    const FILTER: FilterType = FilterType::Rle;

    fn compress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
        crate::encode(part, cx.cell_bytes, out)
    }

    fn decompress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
        crate::decode(part, cx.cell_bytes, out)
    }

    fn string_filter(&self) -> Option<&dyn StringFilter> {
        Some(self)
    }
}

const FIELDS: Fields = Fields { stored: "string runs size", widths: ["string run length width", "string length width"] };

impl StringFilter for Rle {
    fn encode_strings(&self, values: &[u8], offsets: &[u64], _cx: &FilterContext<'_>) -> Result<Chunk<'static>, FilterError> {
        let (widths, runs) = crate::strings::encode(values, offsets)?;
        let widths = [widths.run, widths.string];
        let mut w = Writer::new();
        Header::new(Self::FILTER, values.len(), runs.len(), offsets.len(), widths)?.encode(&mut w);
        Ok(Chunk { metadata: Parts::one(w.into_vec()), data: Parts::one(runs) })
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
            r.finish("chunk metadata")?;
            strings::equal("values size", header.values_bytes, values.len())?;
            strings::equal(FIELDS.stored, header.stored_bytes, chunk.data.len())?;
            header.reserve_offsets(cells, cx, offsets)?;
            let [run, string] = header.widths;
            crate::strings::decode(&chunk.data, Widths { run, string }, cells, values, offsets)
        };
        decode().map_err(FilterError::corrupt(Self::FILTER))
    }
}
