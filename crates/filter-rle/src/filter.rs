//! The RLE filter: the format's filter-pipeline page and 11-filters, "RLE, fixed" and "RLE, string mode".

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::compressor::{self, PartCodec};
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts, StringFilter};
use talavera_types::FilterType;

use crate::strings::{self, Widths};

/// Filter 4: runs of cells, or of strings where it comes first for variable-length text.
///
/// The cells are those of the tile, whatever filters before made of them; the parts of other filters' metadata are cut
/// into cells of the same size. The level that a schema stores with the filter has no effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rle;

impl Filter for Rle {
    fn filter_type(&self) -> FilterType {
        Self::FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        compressor::encode(self, &chunk, cx)
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        compressor::decode(self, &chunk, cx)
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        compressor::decode_into(self, &chunk, cx, cells)
    }

    fn as_string_filter(&self) -> Option<&dyn StringFilter> {
        Some(self)
    }
}

impl PartCodec for Rle {
    const FILTER: FilterType = FilterType::Rle;

    fn compress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
        crate::encode(part, cx.cell_bytes, out)
    }

    fn decompress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut [u8]) -> Result<(), DecodeError> {
        crate::decode(part, cx.cell_bytes, out)
    }
}

impl StringFilter for Rle {
    fn encode_strings(&self, values: &[u8], offsets: &[u64], _cx: &FilterContext<'_>) -> Result<Chunk<'static>, FilterError> {
        let (widths, runs) = strings::encode(values, offsets)?;
        let header = Header {
            values_bytes: length(values.len())?,
            runs_bytes: length(runs.len())?,
            offsets_bytes: length(offsets.len().saturating_sub(1).saturating_mul(8))?,
            widths,
        };
        Ok(Chunk { metadata: Parts::one(header.encode()), data: Parts::one(runs) })
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
            equal("string runs size", header.runs_bytes, chunk.data.len())?;
            equal("offsets size", header.offsets_bytes, cells.saturating_mul(8))?;
            if offsets.capacity() - offsets.len() < cells {
                offsets.reserve_exact(cx.limits.charge("offsets size", header.offsets_bytes.into())? / 8);
            }
            strings::decode(&chunk.data, header.widths, cells, values, offsets)
        };
        decode().map_err(FilterError::corrupt(Self::FILTER))
    }
}

/// The metadata of a chunk in string mode; sizes in bytes.
struct Header {
    values_bytes: u32,
    runs_bytes: u32,
    offsets_bytes: u32,
    widths: Widths,
}

impl Header {
    fn decode(metadata: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(metadata);
        equal("metadata part count", r.u32("metadata part count")?, 0)?;
        equal("data part count", r.u32("data part count")?, 1)?;
        let values_bytes = r.u32("values size")?;
        let runs_bytes = r.u32("string runs size")?;
        let offsets_bytes = r.u32("offsets size")?;
        let run = width(&mut r, "string run length width")?;
        let string = width(&mut r, "string length width")?;
        r.finish("chunk metadata")?;
        Ok(Self { values_bytes, runs_bytes, offsets_bytes, widths: Widths { run, string } })
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::new();
        w.u32(0);
        w.u32(1);
        w.u32(self.values_bytes);
        w.u32(self.runs_bytes);
        w.u32(self.offsets_bytes);
        w.u8(self.widths.run);
        w.u8(self.widths.string);
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
        .map_err(|_| FilterError::invalid_input(FilterType::Rle, format!("strings of {bytes} bytes; 4 GiB is the limit")))
}
