//! Filters and their options as a schema stores them: the format's filter-pipeline page.

use talavera_codec::{DecodeError, Reader, Writer};
use talavera_types::{Compressor, Datatype, FilterType, FormatVersion};

use crate::FilterError;

/// The filters of a field in the order of writing, and the chunk size that the schema records.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterList {
    /// Upper bound of a chunk in bytes as the schema records it. Libraries since 2.0 cut at 64 KiB whatever it says;
    /// since 2.16, 0 means a whole tile in one chunk.
    pub max_chunk_bytes: u32,
    /// The filters in the order of writing.
    pub filters: Vec<FilterSpec>,
}

/// One filter with its options.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterSpec {
    /// Nothing happens; for a dimension, an explicitly empty list.
    None,
    /// zlib streams, level -1 (the default, 6) to 9.
    Gzip {
        /// Compression level.
        level: i32,
    },
    /// Zstandard frames, level -7 to 22.
    Zstd {
        /// Compression level.
        level: i32,
    },
    /// LZ4 blocks.
    Lz4 {
        /// Stored, without effect.
        level: i32,
    },
    /// Runs of equal cells or strings.
    Rle {
        /// Stored, without effect.
        level: i32,
    },
    /// bzip2 streams, level 1 to 9.
    Bzip2 {
        /// Compression level.
        level: i32,
    },
    /// Differences of differences.
    DoubleDelta {
        /// Stored, without effect.
        level: i32,
        /// The datatype to take the elements for; `Any` leaves them what they are.
        reinterpret: Datatype,
    },
    /// Integers less their window's minimum.
    BitWidthReduction {
        /// Bytes of a window before reduction.
        max_window_bytes: u32,
    },
    /// Bits of equal weight side by side.
    Bitshuffle,
    /// Bytes of equal weight side by side.
    Byteshuffle,
    /// Differences of ascending integers.
    PositiveDelta {
        /// Bytes of a window.
        max_window_bytes: u32,
    },
    /// Encryption; in the pipelines of generic tiles only.
    Aes256Gcm,
    /// MD5 digests.
    ChecksumMd5,
    /// SHA-256 digests.
    ChecksumSha256,
    /// A dictionary of strings.
    Dictionary {
        /// Stored, without effect.
        level: i32,
    },
    /// Floats as scaled integers: `stored = round((x - offset) / scale)`.
    FloatScale {
        /// The step between two stored numbers.
        scale: f64,
        /// What a stored zero stands for.
        offset: f64,
        /// Bytes of a stored number: 1, 2, 4 or 8.
        byte_width: u64,
    },
    /// Each element xor the one before.
    Xor,
    /// Retired; known by name, never run.
    Bitsort,
    /// WebP images.
    Webp {
        /// Quality of lossy images, 0 to 100.
        quality: f32,
        /// The order of colours in the cells.
        format: WebpFormat,
        /// Whether pixels come back exactly.
        lossless: bool,
        /// Rows of an image.
        y_extent: u16,
        /// Bytes of a row.
        x_extent: u16,
    },
    /// Differences.
    Delta {
        /// Stored, without effect.
        level: i32,
        /// The datatype to take the elements for; `Any` leaves them what they are.
        reinterpret: Datatype,
    },
}

/// The order of colours in the cells of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum WebpFormat {
    /// Not said; no image can be decoded.
    None = 0,
    /// Red, green, blue.
    Rgb = 1,
    /// Blue, green, red.
    Bgr = 2,
    /// Red, green, blue, alpha.
    Rgba = 3,
    /// Blue, green, red, alpha.
    Bgra = 4,
}

impl FilterList {
    /// The chunk size that schemas record by default.
    pub const DEFAULT_MAX_CHUNK_BYTES: u32 = 65536;

    /// The filters, with the default chunk size.
    #[must_use]
    pub fn new(filters: Vec<FilterSpec>) -> Self {
        Self { max_chunk_bytes: Self::DEFAULT_MAX_CHUNK_BYTES, filters }
    }

    /// Whether the list holds no filter at all; for a dimension, that it inherits the coordinates' list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Whether a filter of this type is in the list.
    #[must_use]
    pub fn contains(&self, filter_type: FilterType) -> bool {
        self.filters.iter().any(|filter| filter.filter_type() == filter_type)
    }

    /// Whether cells may come back other than they went in: by fewer digits, or by other colours.
    #[must_use]
    pub fn is_lossy(&self) -> bool {
        self.contains(FilterType::FloatScale) || self.contains(FilterType::Webp)
    }

    /// Reads the list.
    ///
    /// # Errors
    /// A [`DecodeError`] for damaged bytes, unknown filters and unknown option values.
    pub fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let max_chunk_bytes = r.u32("filter pipeline max chunk size")?;
        let count = r.count_u32("filter count", FilterSpec::MIN_BYTES)?;
        let filters = (0..count).map(|_| FilterSpec::decode(r)).collect::<Result<_, _>>()?;
        Ok(Self { max_chunk_bytes, filters })
    }

    /// Writes the list as schemas of `version` store it.
    pub fn encode(&self, w: &mut Writer, version: FormatVersion) {
        w.u32(self.max_chunk_bytes);
        w.len_u32(self.filters.len());
        for filter in &self.filters {
            filter.encode(w, version);
        }
    }
}

impl FilterSpec {
    /// Type and length of the options.
    const MIN_BYTES: u64 = 5;

    /// Which filter this is.
    #[must_use]
    pub fn filter_type(&self) -> FilterType {
        match self {
            Self::None => FilterType::None,
            Self::Gzip { .. } => FilterType::Gzip,
            Self::Zstd { .. } => FilterType::Zstd,
            Self::Lz4 { .. } => FilterType::Lz4,
            Self::Rle { .. } => FilterType::Rle,
            Self::Bzip2 { .. } => FilterType::Bzip2,
            Self::DoubleDelta { .. } => FilterType::DoubleDelta,
            Self::BitWidthReduction { .. } => FilterType::BitWidthReduction,
            Self::Bitshuffle => FilterType::Bitshuffle,
            Self::Byteshuffle => FilterType::Byteshuffle,
            Self::PositiveDelta { .. } => FilterType::PositiveDelta,
            Self::Aes256Gcm => FilterType::Aes256Gcm,
            Self::ChecksumMd5 => FilterType::ChecksumMd5,
            Self::ChecksumSha256 => FilterType::ChecksumSha256,
            Self::Dictionary { .. } => FilterType::Dictionary,
            Self::FloatScale { .. } => FilterType::FloatScale,
            Self::Xor => FilterType::Xor,
            Self::Bitsort => FilterType::Bitsort,
            Self::Webp { .. } => FilterType::Webp,
            Self::Delta { .. } => FilterType::Delta,
        }
    }

    /// The datatype that the next filter sees when this one sees `input` (format versions that hand it on).
    ///
    /// # Errors
    /// [`FilterError::Unsupported`] when the filter does not take the datatype (11-filters §0).
    pub fn output_datatype(&self, input: Datatype) -> Result<Datatype, FilterError> {
        let refuse = || Err(FilterError::unsupported(self.filter_type(), format!("it does not take {input}")));
        match self {
            Self::FloatScale { byte_width, .. } => {
                let width = usize::try_from(*byte_width).ok().and_then(Datatype::signed_of_size);
                match (input.size(), width) {
                    (4 | 8, Some(output)) => Ok(output),
                    _ => refuse(),
                }
            }
            Self::Xor => Datatype::signed_of_size(input.size()).map_or_else(refuse, Ok),
            Self::Delta { reinterpret, .. } | Self::DoubleDelta { reinterpret, .. } => {
                let output = if *reinterpret == Datatype::Any { input } else { *reinterpret };
                if output.is_float() || !input.size().is_multiple_of(output.size()) { refuse() } else { Ok(output) }
            }
            Self::BitWidthReduction { .. } | Self::PositiveDelta { .. } => {
                if input.is_float() || input.is_string() || matches!(input, Datatype::Char | Datatype::Any) {
                    refuse()
                } else {
                    Ok(input)
                }
            }
            Self::Webp { .. } if input != Datatype::UInt8 => refuse(),
            Self::Aes256Gcm => Ok(Datatype::Blob),
            _ => Ok(input),
        }
    }

    /// Reads type and options.
    ///
    /// # Errors
    /// A [`DecodeError`] for damaged bytes, an unknown filter and unknown option values. Options that are longer than
    /// this library knows are read as far as it knows them.
    pub fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let filter_type = FilterType::decode(r, "filter type")?;
        let options_bytes = r.u32("filter options size")?;
        let mut o = r.split(options_bytes.into(), "filter options")?;
        Ok(match filter_type {
            FilterType::None => Self::None,
            FilterType::Gzip => Self::Gzip { level: level(&mut o)? },
            FilterType::Zstd => Self::Zstd { level: level(&mut o)? },
            FilterType::Lz4 => Self::Lz4 { level: level(&mut o)? },
            FilterType::Rle => Self::Rle { level: level(&mut o)? },
            FilterType::Bzip2 => Self::Bzip2 { level: level(&mut o)? },
            FilterType::Dictionary => Self::Dictionary { level: level(&mut o)? },
            FilterType::DoubleDelta => Self::DoubleDelta { level: level(&mut o)?, reinterpret: reinterpret(&mut o)? },
            FilterType::Delta => Self::Delta { level: level(&mut o)?, reinterpret: reinterpret(&mut o)? },
            FilterType::BitWidthReduction => Self::BitWidthReduction { max_window_bytes: o.u32("max window size")? },
            FilterType::PositiveDelta => Self::PositiveDelta { max_window_bytes: o.u32("max window size")? },
            FilterType::Bitshuffle => Self::Bitshuffle,
            FilterType::Byteshuffle => Self::Byteshuffle,
            FilterType::Aes256Gcm => Self::Aes256Gcm,
            FilterType::ChecksumMd5 => Self::ChecksumMd5,
            FilterType::ChecksumSha256 => Self::ChecksumSha256,
            FilterType::FloatScale => Self::FloatScale {
                scale: o.f64("float scale factor")?,
                offset: o.f64("float scale offset")?,
                byte_width: o.u64("float scale byte width")?,
            },
            FilterType::Xor => Self::Xor,
            FilterType::Bitsort => Self::Bitsort,
            FilterType::Webp => Self::Webp {
                quality: o.f32("webp quality")?,
                format: WebpFormat::decode(&mut o)?,
                // A byte that the reference reads as a C++ enum; anything but 0 means lossless.
                lossless: o.u8("webp lossless")? != 0,
                y_extent: o.u16("webp y extent")?,
                x_extent: o.u16("webp x extent")?,
            },
        })
    }

    /// Writes type and options as schemas of `version` store them.
    pub fn encode(&self, w: &mut Writer, version: FormatVersion) {
        self.filter_type().encode(w);
        let mut options = Writer::new();
        self.encode_options(&mut options, version);
        w.bytes_u32(options.as_slice());
    }

    fn encode_options(&self, w: &mut Writer, version: FormatVersion) {
        let mut compressor = |compressor: Compressor, level: i32| {
            compressor.encode(w);
            w.i32(level);
        };
        match *self {
            Self::Gzip { level } => compressor(Compressor::Gzip, level),
            Self::Zstd { level } => compressor(Compressor::Zstd, level),
            Self::Lz4 { level } => compressor(Compressor::Lz4, level),
            Self::Rle { level } => compressor(Compressor::Rle, level),
            Self::Bzip2 { level } => compressor(Compressor::Bzip2, level),
            Self::Dictionary { level } => compressor(Compressor::Dictionary, level),
            Self::DoubleDelta { level, reinterpret } => {
                compressor(Compressor::DoubleDelta, level);
                if version.has_double_delta_reinterpret() {
                    reinterpret.encode(w);
                }
            }
            Self::Delta { level, reinterpret } => {
                compressor(Compressor::Delta, level);
                reinterpret.encode(w);
            }
            Self::BitWidthReduction { max_window_bytes } | Self::PositiveDelta { max_window_bytes } => w.u32(max_window_bytes),
            Self::FloatScale { scale, offset, byte_width } => {
                w.f64(scale);
                w.f64(offset);
                w.u64(byte_width);
            }
            Self::Webp { quality, format, lossless, y_extent, x_extent } => {
                w.f32(quality);
                w.u8(format as u8);
                w.bool(lossless);
                w.u16(y_extent);
                w.u16(x_extent);
                w.u16(0); // Padding of the reference's struct.
            }
            Self::None
            | Self::Bitshuffle
            | Self::Byteshuffle
            | Self::Aes256Gcm
            | Self::ChecksumMd5
            | Self::ChecksumSha256
            | Self::Xor
            | Self::Bitsort => {}
        }
    }
}

/// The compressor byte, which repeats the filter type in another numbering, and the level.
fn level(o: &mut Reader<'_>) -> Result<i32, DecodeError> {
    o.u8("compressor")?;
    o.i32("compression level")
}

/// The datatype to reinterpret as, stored where the options are long enough for it.
fn reinterpret(o: &mut Reader<'_>) -> Result<Datatype, DecodeError> {
    if o.is_empty() { Ok(Datatype::Any) } else { Datatype::decode(o, "reinterpret datatype") }
}

impl WebpFormat {
    fn decode(o: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let before = o.clone();
        Ok(match o.u8("webp format")? {
            0 => Self::None,
            1 => Self::Rgb,
            2 => Self::Bgr,
            3 => Self::Rgba,
            4 => Self::Bgra,
            found => return Err(before.invalid("webp format", found.into(), "a WebP colour format")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Option bytes that libtiledb wrote (11-filters §0).
    #[test]
    fn options_have_the_bytes_of_the_reference() {
        let check = |spec: FilterSpec, version: u32, expected: &[u8]| {
            let version = FormatVersion::new(version).unwrap();
            let mut w = Writer::new();
            spec.encode_options(&mut w, version);
            assert_eq!(w.as_slice(), expected, "{spec:?}");
            let mut whole = Writer::new();
            spec.encode(&mut whole, version);
            let bytes = whole.into_vec();
            let mut r = Reader::new(&bytes);
            assert_eq!(FilterSpec::decode(&mut r).unwrap(), spec);
            r.finish("filter").unwrap();
        };
        let any = Datatype::Any;
        check(FilterSpec::Zstd { level: -1 }, 22, &[2, 0xff, 0xff, 0xff, 0xff]);
        check(FilterSpec::Gzip { level: 1 }, 22, &[1, 1, 0, 0, 0]);
        check(FilterSpec::Dictionary { level: -1 }, 22, &[7, 0xff, 0xff, 0xff, 0xff]);
        check(FilterSpec::Delta { level: -1, reinterpret: any }, 19, &[8, 0xff, 0xff, 0xff, 0xff, 0x11]);
        check(FilterSpec::DoubleDelta { level: -1, reinterpret: any }, 19, &[6, 0xff, 0xff, 0xff, 0xff]);
        check(FilterSpec::DoubleDelta { level: -1, reinterpret: any }, 22, &[6, 0xff, 0xff, 0xff, 0xff, 0x11]);
        check(FilterSpec::BitWidthReduction { max_window_bytes: 256 }, 22, &[0, 1, 0, 0]);
        let scale = FilterSpec::FloatScale { scale: 0.25, offset: 10.0, byte_width: 4 };
        check(scale, 22, &[0, 0, 0, 0, 0, 0, 0xd0, 0x3f, 0, 0, 0, 0, 0, 0, 0x24, 0x40, 4, 0, 0, 0, 0, 0, 0, 0]);
        let webp = FilterSpec::Webp { quality: 50.0, format: WebpFormat::Rgb, lossless: false, y_extent: 5, x_extent: 24 };
        check(webp, 22, &[0, 0, 0x48, 0x42, 1, 0, 5, 0, 0x18, 0, 0, 0]);
    }

    #[test]
    fn an_impossible_filter_count_is_refused() {
        let bytes = [0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0];
        assert!(FilterList::decode(&mut Reader::new(&bytes)).is_err());
    }
}
