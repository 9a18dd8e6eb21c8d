//! Filters and their options, as a schema describes them.

use crate::codes::codes;
use crate::column::bytes_of;

codes! {
    /// A kind of filter.
    FilterType {
        None = 0 "NONE",
        Gzip = 1 "GZIP",
        Zstd = 2 "ZSTD",
        Lz4 = 3 "LZ4",
        Rle = 4 "RLE",
        Bzip2 = 5 "BZIP2",
        DoubleDelta = 6 "DOUBLE_DELTA",
        BitWidthReduction = 7 "BIT_WIDTH_REDUCTION",
        Bitshuffle = 8 "BITSHUFFLE",
        Byteshuffle = 9 "BYTESHUFFLE",
        PositiveDelta = 10 "POSITIVE_DELTA",
        ChecksumMd5 = 12 "CHECKSUM_MD5",
        ChecksumSha256 = 13 "CHECKSUM_SHA256",
        Dictionary = 14 "DICTIONARY",
        FloatScale = 15 "SCALE_FLOAT",
        Xor = 16 "XOR",
        Webp = 18 "WEBP",
        Delta = 19 "DELTA",
    }
}

/// One option of a filter with its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FilterOption {
    /// Level of a compressor.
    Level(i32),
    /// Largest window of `BIT_WIDTH_REDUCTION` in bytes.
    BitWidthWindow(u32),
    /// Largest window of `POSITIVE_DELTA` in bytes.
    PositiveDeltaWindow(u32),
    /// Bytes per stored integer of `SCALE_FLOAT`.
    FloatScaleByteWidth(u64),
    /// Factor of `SCALE_FLOAT`.
    FloatScaleFactor(f64),
    /// Offset of `SCALE_FLOAT`.
    FloatScaleOffset(f64),
    /// Quality of `WEBP`, 0 to 100.
    WebpQuality(f32),
    /// Order of colours of `WEBP`.
    WebpFormat(u8),
    /// Whether `WEBP` is lossless: 0 or 1.
    WebpLossless(u8),
    /// Number of the datatype that `DELTA` and `DOUBLE_DELTA` take the values for.
    Reinterpret(u8),
}

impl FilterOption {
    /// Its number in the C API and the bytes of its value.
    pub(crate) fn to_bytes(self) -> (i32, Vec<u8>) {
        match self {
            Self::Level(value) => (0, bytes_of(&[value])),
            Self::BitWidthWindow(value) => (1, bytes_of(&[value])),
            Self::PositiveDeltaWindow(value) => (2, bytes_of(&[value])),
            Self::FloatScaleByteWidth(value) => (3, bytes_of(&[value])),
            Self::FloatScaleFactor(value) => (4, bytes_of(&[value])),
            Self::FloatScaleOffset(value) => (5, bytes_of(&[value])),
            Self::WebpQuality(value) => (6, bytes_of(&[value])),
            Self::WebpFormat(value) => (7, bytes_of(&[value])),
            Self::WebpLossless(value) => (8, bytes_of(&[value])),
            Self::Reinterpret(value) => (9, bytes_of(&[value])),
        }
    }

    /// The same option with the value that these bytes begin with.
    pub(crate) fn with_bytes(self, bytes: &[u8; 8]) -> Self {
        let [b0, b1, b2, b3, ..] = *bytes;
        let four = [b0, b1, b2, b3];
        match self {
            Self::Level(_) => Self::Level(i32::from_ne_bytes(four)),
            Self::BitWidthWindow(_) => Self::BitWidthWindow(u32::from_ne_bytes(four)),
            Self::PositiveDeltaWindow(_) => Self::PositiveDeltaWindow(u32::from_ne_bytes(four)),
            Self::FloatScaleByteWidth(_) => Self::FloatScaleByteWidth(u64::from_ne_bytes(*bytes)),
            Self::FloatScaleFactor(_) => Self::FloatScaleFactor(f64::from_ne_bytes(*bytes)),
            Self::FloatScaleOffset(_) => Self::FloatScaleOffset(f64::from_ne_bytes(*bytes)),
            Self::WebpQuality(_) => Self::WebpQuality(f32::from_ne_bytes(four)),
            Self::WebpFormat(_) => Self::WebpFormat(b0),
            Self::WebpLossless(_) => Self::WebpLossless(b0),
            Self::Reinterpret(_) => Self::Reinterpret(b0),
        }
    }
}

impl FilterType {
    /// The options that filters of this kind have, with a value of zero.
    pub(crate) fn options(self) -> &'static [FilterOption] {
        use FilterOption as O;
        match self {
            Self::Gzip | Self::Zstd | Self::Lz4 | Self::Rle | Self::Bzip2 | Self::Dictionary => &[O::Level(0)],
            Self::DoubleDelta | Self::Delta => &[O::Level(0), O::Reinterpret(0)],
            Self::BitWidthReduction => &[O::BitWidthWindow(0)],
            Self::PositiveDelta => &[O::PositiveDeltaWindow(0)],
            Self::FloatScale => &[O::FloatScaleByteWidth(0), O::FloatScaleFactor(0.0), O::FloatScaleOffset(0.0)],
            Self::Webp => &[O::WebpQuality(0.0), O::WebpFormat(0), O::WebpLossless(0)],
            _ => &[],
        }
    }
}

/// A filter with those options that are not left at the library's default.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Its kind.
    pub filter_type: FilterType,
    /// Its options.
    pub options: Vec<FilterOption>,
}

impl From<FilterType> for Filter {
    fn from(filter_type: FilterType) -> Self {
        Self { filter_type, options: Vec::new() }
    }
}

/// The filters that a field goes through when written, in that order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilterList {
    /// The filters.
    pub filters: Vec<Filter>,
    /// The largest chunk in bytes; `None` for the library's default.
    pub max_chunk_bytes: Option<u32>,
}

impl FilterList {
    /// A list of filters with default chunks.
    #[must_use]
    pub fn new(filters: impl IntoIterator<Item = impl Into<Filter>>) -> Self {
        Self { filters: filters.into_iter().map(Into::into).collect(), max_chunk_bytes: None }
    }
}
