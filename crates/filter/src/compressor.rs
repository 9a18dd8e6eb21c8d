//! The framing that compressors share: every part of metadata and data is compressed alone, behind a table of lengths.
//!
//! ```text
//! own metadata := u32 metadata parts; u32 data parts; per part { u32 original bytes; u32 compressed bytes }
//! data         := compressed metadata parts, then compressed data parts
//! ```
//!
//! Source: the format's tile page and 11-filters, "Codecs". DELTA, DOUBLE_DELTA and RLE of cells use the same framing.

use std::borrow::Cow;
use std::fmt::Debug;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_types::FilterType;

use crate::part_table::part_length;
use crate::{Buffers, Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts, StringFilter};

/// What a filter with this framing does to one part.
///
/// Whoever does this is a [`Filter`] by it.
pub trait PartCodec: Debug + Send + Sync {
    /// Which filter this is.
    const FILTER: FilterType;

    /// Looks at what the filter is told before it looks at any byte; by default, all is well.
    ///
    /// # Errors
    /// [`FilterError::Unsupported`] for a datatype that the filter does not take.
    fn check(&self, _cx: &FilterContext<'_>) -> Result<(), FilterError> {
        Ok(())
    }

    /// Appends the compressed form of `part` to `out`.
    ///
    /// # Errors
    /// [`FilterError::InvalidInput`] for a part that cannot be stored.
    fn compress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut Vec<u8>) -> Result<(), FilterError>;

    /// Exactly fills `out` from the compressed form of a part.
    ///
    /// # Errors
    /// A [`DecodeError`] for bytes that are damaged or stand for more or fewer bytes.
    fn decompress(&self, part: &[u8], cx: &FilterContext<'_>, out: &mut [u8]) -> Result<(), DecodeError>;

    /// As [`Filter::as_string_filter`].
    fn string_filter(&self) -> Option<&dyn StringFilter> {
        None
    }
}

impl<C: PartCodec> Filter for C {
    fn filter_type(&self) -> FilterType {
        C::FILTER
    }

    fn encode<'a>(&self, chunk: Chunk<'a>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
        self.check(cx)?;
        encode(self, chunk, cx)
    }

    fn decode<'a>(&self, chunk: EncodedChunk<'a>, cx: &FilterContext<'_>) -> Result<EncodedChunk<'a>, FilterError> {
        self.check(cx)?;
        let decoded = decode(self, &chunk, cx)?;
        cx.buffers.give_back(chunk.data);
        Ok(decoded)
    }

    fn decode_into(&self, chunk: EncodedChunk<'_>, cx: &FilterContext<'_>, cells: &mut [u8]) -> Result<(), FilterError> {
        self.check(cx)?;
        decode_into(self, &chunk, cx, cells)?;
        cx.buffers.give_back(chunk.data);
        Ok(())
    }

    fn as_string_filter(&self) -> Option<&dyn StringFilter> {
        self.string_filter()
    }
}

/// Compresses every part of a chunk.
///
/// # Errors
/// Those of the codec, and parts of 4 GiB and more.
fn encode<'a, C: PartCodec>(codec: &C, chunk: Chunk<'_>, cx: &FilterContext<'_>) -> Result<Chunk<'a>, FilterError> {
    let mut table = Writer::with_capacity(8 + 8 * (chunk.metadata.count() + chunk.data.count()));
    table.len_u32(chunk.metadata.count());
    table.len_u32(chunk.data.count());
    let mut data = cx.buffers.take_empty();
    for part in chunk.metadata.iter().chain(chunk.data.iter()) {
        let start = data.len();
        codec.compress(part, cx, &mut data)?;
        table.u32(part_length(C::FILTER, part.len())?);
        table.u32(part_length(C::FILTER, data.len() - start)?);
    }
    chunk.data.give_back(cx.buffers);
    Ok(Chunk { metadata: Parts::one(table.into_vec()), data: Parts::one(data) })
}

/// Decompresses every part of a chunk.
///
/// # Errors
/// [`FilterError::Corrupt`] when the table and the data disagree, or the codec refuses a part.
fn decode<'a, C: PartCodec>(
    codec: &C,
    chunk: &EncodedChunk<'_>,
    cx: &FilterContext<'_>,
) -> Result<EncodedChunk<'a>, FilterError> {
    let corrupt = FilterError::corrupt(C::FILTER);
    let table = PartTable::decode(&chunk.metadata).map_err(corrupt)?;
    let mut data = Reader::new(&chunk.data);
    let mut section = |parts: Reader<'_>, bytes: u64, room: fn(&Buffers, usize) -> Vec<u8>| -> Result<Vec<u8>, DecodeError> {
        let mut out = room(cx.buffers, cx.limits.charge("part original length", bytes)?);
        decompress_parts(codec, parts, &mut data, cx, &mut out)?;
        Ok(out)
    };
    // Metadata are short, and a buffer that holds them is not given back.
    let metadata = section(table.metadata, table.metadata_bytes, |_, len| vec![0; len]).map_err(corrupt)?;
    let cells = section(table.data, table.data_bytes, Buffers::take).map_err(corrupt)?;
    data.finish("compressed parts").map_err(corrupt)?;
    Ok(EncodedChunk { metadata: Cow::Owned(metadata), data: Cow::Owned(cells) })
}

/// Decompresses a chunk that no other filter touched before, straight into its cells.
///
/// # Errors
/// As [`decode`], and when the parts do not add up to the cells.
fn decode_into<C: PartCodec>(
    codec: &C,
    chunk: &EncodedChunk<'_>,
    cx: &FilterContext<'_>,
    cells: &mut [u8],
) -> Result<(), FilterError> {
    let corrupt = FilterError::corrupt(C::FILTER);
    let table = PartTable::decode(&chunk.metadata).map_err(corrupt)?;
    if table.metadata_bytes > 0 {
        return Err(corrupt(DecodeErrorKind::Trailing { left: table.metadata_bytes }.at("chunk metadata", 0)));
    }
    if table.data_bytes != cells.len() as u64 {
        let kind = DecodeErrorKind::Mismatch { found: table.data_bytes, expected: cells.len() as u64 };
        return Err(corrupt(kind.at("part original length", 0)));
    }
    let mut data = Reader::new(&chunk.data);
    decompress_parts(codec, table.metadata, &mut data, cx, &mut []).map_err(corrupt)?;
    decompress_parts(codec, table.data, &mut data, cx, cells).map_err(corrupt)?;
    data.finish("compressed parts").map_err(corrupt)
}

/// The table of part lengths, its entries still to be read.
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
        let metadata = r.split(metadata_parts * 8, "metadata part lengths")?;
        let data = r.split(data_parts * 8, "data part lengths")?;
        r.finish("chunk metadata")?;
        Ok(Self { metadata_bytes: original_bytes(metadata.clone())?, data_bytes: original_bytes(data.clone())?, metadata, data })
    }
}

fn original_bytes(mut parts: Reader<'_>) -> Result<u64, DecodeError> {
    let mut total = 0;
    while !parts.is_empty() {
        total += u64::from(parts.u32("part original length")?);
        parts.u32("part compressed length")?;
    }
    Ok(total)
}

fn decompress_parts<C: PartCodec>(
    codec: &C,
    mut parts: Reader<'_>,
    data: &mut Reader<'_>,
    cx: &FilterContext<'_>,
    out: &mut [u8],
) -> Result<(), DecodeError> {
    let mut rest = out;
    while !parts.is_empty() {
        let original = parts.u32("part original length")?;
        let compressed = parts.u32("part compressed length")?;
        let part = data.bytes(compressed.into(), "compressed part")?;
        let Some((target, behind)) =
            usize::try_from(original).ok().and_then(|len| std::mem::take(&mut rest).split_at_mut_checked(len))
        else {
            return Err(parts.invalid("part original length", original.into(), "within the chunk"));
        };
        codec.decompress(part, cx, target)?;
        rest = behind;
    }
    Ok(())
}
