//! The 18 filters: decoding any chunk, and decoding what was encoded.
//!
//! ```text
//! input := u8 flags; u8 datatype; u8 version; u8 cell bytes; u16 split; u16 cells; u16 value bytes; options; bytes
//! flags: 1 encode first, 2 strings and offsets, 4 data in two parts, 8 metadata of a filter before
//! ```
//!
//! `split` is where the metadata ends and the data begins. `options` are those of the filter, in the order of its fields.

use std::borrow::Cow;

use talavera_codec::Limits;
use talavera_filter::{Buffers, Chunk, EncodedChunk, Filter, FilterContext, Parts, StringFilter, WebpFormat};

use crate::LIMIT_BYTES;
use crate::input::Input;

/// Whether a filter brings back exactly what it was given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Law {
    Exact,
    /// Floats become the nearest step.
    Lossy,
    /// Whole images come back, whatever the chunk had of them.
    Images,
}

/// GZIP; options: i32 level.
pub fn gzip(data: &[u8]) {
    run(data, Law::Exact, |input| Box::new(talavera_filter_gzip::Gzip { level: input.i32() }));
}

/// ZSTD; options: i32 level.
pub fn zstd(data: &[u8]) {
    run(data, Law::Exact, |input| Box::new(talavera_filter_zstd::Zstd { level: input.i32() }));
}

/// LZ4; no options.
pub fn lz4(data: &[u8]) {
    run(data, Law::Exact, |_| Box::new(talavera_filter_lz4::Lz4));
}

/// RLE of cells and of strings; no options.
pub fn rle(data: &[u8]) {
    run(data, Law::Exact, |_| Box::new(talavera_filter_rle::Rle));
}

/// BZIP2; options: i32 level.
pub fn bzip2(data: &[u8]) {
    run(data, Law::Exact, |input| Box::new(talavera_filter_bzip2::Bzip2 { level: input.i32() }));
}

/// DOUBLE_DELTA; options: u8 datatype to reinterpret as.
pub fn double_delta(data: &[u8]) {
    run(data, Law::Exact, |input| Box::new(talavera_filter_double_delta::DoubleDelta { reinterpret: input.datatype() }));
}

/// BIT_WIDTH_REDUCTION; options: u32 window.
pub fn bit_width_reduction(data: &[u8]) {
    run(data, Law::Exact, |input| {
        Box::new(talavera_filter_bit_width_reduction::BitWidthReduction { max_window_bytes: input.u32() })
    });
}

/// BITSHUFFLE; no options.
pub fn bitshuffle(data: &[u8]) {
    run(data, Law::Exact, |_| Box::new(talavera_filter_bitshuffle::Bitshuffle));
}

/// BYTESHUFFLE; no options.
pub fn byteshuffle(data: &[u8]) {
    run(data, Law::Exact, |_| Box::new(talavera_filter_byteshuffle::Byteshuffle));
}

/// POSITIVE_DELTA; options: u32 window.
pub fn positive_delta(data: &[u8]) {
    run(data, Law::Exact, |input| Box::new(talavera_filter_positive_delta::PositiveDelta { max_window_bytes: input.u32() }));
}

/// AES_256_GCM under [`KEY`](crate::tiles::KEY); no options.
pub fn aes_256_gcm(data: &[u8]) {
    run(data, Law::Exact, |_| Box::new(talavera_filter_aes_256_gcm::Aes256Gcm::new(crate::tiles::KEY)));
}

/// CHECKSUM_MD5; no options.
pub fn md5(data: &[u8]) {
    run(data, Law::Exact, |_| Box::new(talavera_filter_md5::ChecksumMd5));
}

/// CHECKSUM_SHA256; no options.
pub fn sha256(data: &[u8]) {
    run(data, Law::Exact, |_| Box::new(talavera_filter_sha256::ChecksumSha256));
}

/// DICTIONARY of strings; no options.
pub fn dictionary(data: &[u8]) {
    run(data, Law::Exact, |_| Box::new(talavera_filter_dictionary::Dictionary));
}

/// SCALE_FLOAT; options: f64 scale, f64 offset, u8 byte width.
pub fn float_scale(data: &[u8]) {
    run(data, Law::Lossy, |input| {
        let (scale, offset, byte_width) = (input.f64(), input.f64(), u64::from(input.u8()));
        Box::new(talavera_filter_float_scale::FloatScale { scale, offset, byte_width })
    });
}

/// XOR; no options.
pub fn xor(data: &[u8]) {
    run(data, Law::Exact, |_| Box::new(talavera_filter_xor::Xor));
}

/// WEBP; options: f32 quality, u8 format, u8 lossless, u16 rows, u16 bytes of a row.
pub fn webp(data: &[u8]) {
    run(data, Law::Images, |input| {
        let quality = input.f32();
        let format = match input.u8() % 5 {
            0 => WebpFormat::None,
            1 => WebpFormat::Rgb,
            2 => WebpFormat::Bgr,
            3 => WebpFormat::Rgba,
            _ => WebpFormat::Bgra,
        };
        let lossless = input.u8() != 0;
        Box::new(talavera_filter_webp::Webp { quality, format, lossless, y_extent: input.u16(), x_extent: input.u16() })
    });
}

/// DELTA; options: u8 datatype to reinterpret as.
pub fn delta(data: &[u8]) {
    run(data, Law::Exact, |input| Box::new(talavera_filter_delta::Delta { reinterpret: input.datatype() }));
}

/// What stands in front of the options.
struct Head {
    flags: u8,
    split: usize,
    cells: usize,
    value_bytes: usize,
}

fn run(data: &[u8], law: Law, filter: impl Fn(&mut Input<'_>) -> Box<dyn Filter>) {
    let mut input = Input::new(data);
    let flags = input.u8();
    let limits = Limits::new(LIMIT_BYTES);
    let (datatype, version, cell_bytes) = (input.datatype(), input.version(), usize::from(input.u8()));
    let cx = FilterContext { datatype, cell_bytes, version, limits: &limits, buffers: &Buffers::new() };
    let head =
        Head { flags, split: usize::from(input.u16()), cells: usize::from(input.u16()), value_bytes: usize::from(input.u16()) };
    let filter = filter(&mut input);
    let bytes = input.rest();
    let has_strings = head.flags & 2 != 0;
    match filter.as_string_filter().filter(|_| has_strings) {
        Some(strings) if head.flags & 1 == 0 => decode_strings(strings, &head, bytes, &cx),
        Some(strings) => encode_strings(strings, &head, bytes, &cx),
        None if head.flags & 1 == 0 => decode(filter.as_ref(), law, &head, bytes, &cx),
        None => encode(filter.as_ref(), law, &head, bytes, &cx),
    }
}

fn decode(filter: &dyn Filter, law: Law, head: &Head, bytes: &[u8], cx: &FilterContext<'_>) {
    let (metadata, data) = bytes.split_at(head.split.min(bytes.len()));
    let chunk = EncodedChunk::new(metadata, data);
    let mut cells = vec![0; head.value_bytes];
    let straight = filter.decode_into(chunk.clone(), cx, &mut cells);
    let Ok(decoded) = filter.decode(chunk.clone(), cx) else {
        // Straight into the cells, nothing but the cells is allocated, so that may succeed above a limit only.
        return;
    };
    if straight.is_ok() && law != Law::Images {
        assert_eq!(decoded.data, cells, "two ways to decode differ");
    }
    if decoded.metadata.is_empty() && law != Law::Images {
        let mut cells = vec![0; decoded.data.len()];
        filter.decode_into(chunk, cx, &mut cells).expect("what decodes also decodes straight into its cells");
        assert_eq!(decoded.data, cells, "two ways to decode differ");
    }
    let again = Chunk { metadata: one(decoded.metadata), data: one(decoded.data) };
    check(filter, law, again, cx);
}

fn encode(filter: &dyn Filter, law: Law, head: &Head, bytes: &[u8], cx: &FilterContext<'_>) {
    let (front, back) = bytes.split_at(head.split.min(bytes.len()));
    let (metadata, bytes) = if head.flags & 8 == 0 { (Parts::none(), bytes) } else { (Parts::one(front), back) };
    let data = if head.flags & 4 == 0 {
        Parts::one(bytes)
    } else {
        let (front, back) = bytes.split_at(head.value_bytes.min(bytes.len()));
        Parts::one(back).behind(front)
    };
    check(filter, law, Chunk { metadata, data }, cx);
}

/// What a filter encodes, it decodes.
fn check(filter: &dyn Filter, law: Law, chunk: Chunk<'_>, cx: &FilterContext<'_>) {
    let (metadata, data) = (chunk.metadata.clone().concat(), chunk.data.clone().concat());
    let Ok(encoded) = filter.encode(chunk, cx) else { return };
    let (encoded_metadata, encoded_data) = (encoded.metadata.concat(), encoded.data.concat());
    let limits = Limits::new(64 * LIMIT_BYTES);
    let cx = FilterContext { limits: &limits, ..*cx };
    match filter.decode(EncodedChunk::new(&encoded_metadata, &encoded_data), &cx) {
        Ok(decoded) => {
            assert_eq!(decoded.metadata, metadata, "the metadata of a filter before changed");
            assert!(law == Law::Images || decoded.data.len() == data.len(), "a length changed");
            assert!(law != Law::Exact || decoded.data == data, "the data changed");
        }
        Err(error) => panic!("what was encoded is refused: {error:?}"),
    }
}

fn one(bytes: Cow<'_, [u8]>) -> Parts<'_> {
    if bytes.is_empty() { Parts::none() } else { Parts::one(bytes) }
}

fn decode_strings(strings: &dyn StringFilter, head: &Head, bytes: &[u8], cx: &FilterContext<'_>) {
    let (metadata, data) = bytes.split_at(head.split.min(bytes.len()));
    let mut values = vec![0; head.value_bytes];
    let mut offsets = Vec::new();
    if strings.decode_strings(EncodedChunk::new(metadata, data), cx, head.cells, &mut values, &mut offsets).is_ok() {
        assert_eq!(offsets.len(), head.cells, "there are as many offsets as cells");
        assert!(offsets.is_sorted() && offsets.iter().all(|offset| *offset <= values.len() as u64), "offsets are in order");
        offsets.push(values.len() as u64);
        check_strings(strings, &values, &offsets, cx);
    }
}

/// The cells: each behind a byte with its length, modulo 8.
fn encode_strings(strings: &dyn StringFilter, head: &Head, bytes: &[u8], cx: &FilterContext<'_>) {
    let mut input = Input::new(bytes);
    let (mut values, mut offsets) = (Vec::new(), vec![0]);
    for _ in 0..head.cells.min(bytes.len()) {
        let len = usize::from(input.u8() % 8);
        values.extend_from_slice(input.take(len));
        offsets.push(values.len() as u64);
    }
    check_strings(strings, &values, &offsets, cx);
}

fn check_strings(strings: &dyn StringFilter, values: &[u8], offsets: &[u64], cx: &FilterContext<'_>) {
    // Strings that do not start at 0 were decoded from damaged bytes.
    if offsets.first() != Some(&0) {
        return;
    }
    let Ok(encoded) = strings.encode_strings(values, offsets, cx) else { return };
    let (metadata, data) = (encoded.metadata.concat(), encoded.data.concat());
    let (mut again, mut starts) = (vec![0; values.len()], Vec::new());
    let limits = Limits::new(64 * LIMIT_BYTES);
    let cx = FilterContext { limits: &limits, ..*cx };
    strings
        .decode_strings(EncodedChunk::new(&metadata, &data), &cx, offsets.len() - 1, &mut again, &mut starts)
        .expect("what was encoded is decoded");
    starts.push(values.len() as u64);
    assert!(again == values && starts == offsets, "strings changed on their way");
}
