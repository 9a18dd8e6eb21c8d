//! Filters by name, with the options by which JSON and the command line know them.

use serde_json::Value;
use talavera::{Datatype, FilterList, FilterSpec, FilterType, WebpFormat};

use crate::value::{Num, Shape};

/// The level of compressors that are not given one.
const DEFAULT_LEVEL: i32 = -1;
/// The window of the integer filters that are not given one, in bytes.
const DEFAULT_WINDOW_BYTES: u32 = 256;
/// The quality of images unless it is given: the best.
const DEFAULT_QUALITY: f32 = 100.0;

/// The filter of this type with the options that `option` finds by name; the others are the defaults.
///
/// # Errors
/// A sentence about the option that is wrong, or a filter that no new array can have.
pub(crate) fn with_options(filter_type: FilterType, option: impl Fn(&str) -> Option<Value>) -> Result<FilterSpec, String> {
    let integer = |key: &str, default: i64| match option(key) {
        Some(value) => value.as_i64().ok_or_else(|| format!("{key} {value} is not a whole number")),
        None => Ok(default),
    };
    let narrow = |key: &'static str| move |_| format!("{key} is out of its range");
    let level = || i32::try_from(integer("level", DEFAULT_LEVEL.into())?).map_err(narrow("level"));
    let window = || u32::try_from(integer("window", DEFAULT_WINDOW_BYTES.into())?).map_err(narrow("window"));
    let reinterpret = || {
        let code = integer("reinterpret", Datatype::Any.code().into())?;
        let datatype = u8::try_from(code).ok().and_then(Datatype::from_code);
        datatype.ok_or_else(|| format!("reinterpret {code} is not the number of a datatype"))
    };
    let float = |key: &str, default: f64| {
        let Some(value) = option(key) else { return Ok(default) };
        let mut bytes = Vec::new();
        Shape::one(Datatype::Float64).append_json(&mut bytes, &value)?;
        match Num::from_le_bytes(Datatype::Float64, &bytes) {
            Some(Num::Float64(value)) => Ok(value),
            _ => Err(format!("{key} {value} is not a number")),
        }
    };
    Ok(match filter_type {
        FilterType::None => FilterSpec::None,
        FilterType::Gzip => FilterSpec::Gzip { level: level()? },
        FilterType::Zstd => FilterSpec::Zstd { level: level()? },
        FilterType::Lz4 => FilterSpec::Lz4 { level: level()? },
        FilterType::Rle => FilterSpec::Rle { level: level()? },
        FilterType::Bzip2 => FilterSpec::Bzip2 { level: level()? },
        FilterType::Dictionary => FilterSpec::Dictionary { level: level()? },
        FilterType::DoubleDelta => FilterSpec::DoubleDelta { level: level()?, reinterpret: reinterpret()? },
        FilterType::Delta => FilterSpec::Delta { level: level()?, reinterpret: reinterpret()? },
        FilterType::BitWidthReduction => FilterSpec::BitWidthReduction { max_window_bytes: window()? },
        FilterType::PositiveDelta => FilterSpec::PositiveDelta { max_window_bytes: window()? },
        FilterType::Bitshuffle => FilterSpec::Bitshuffle,
        FilterType::Byteshuffle => FilterSpec::Byteshuffle,
        FilterType::ChecksumMd5 => FilterSpec::ChecksumMd5,
        FilterType::ChecksumSha256 => FilterSpec::ChecksumSha256,
        FilterType::Xor => FilterSpec::Xor,
        FilterType::FloatScale => {
            let byte_width = u64::try_from(integer("bytewidth", 8)?).map_err(narrow("bytewidth"))?;
            FilterSpec::FloatScale { scale: float("factor", 1.0)?, offset: float("offset", 0.0)?, byte_width }
        }
        FilterType::Webp => FilterSpec::Webp {
            quality: quality(float("quality", DEFAULT_QUALITY.into())?),
            format: webp_format(integer("format", 0)?)?,
            lossless: integer("lossless", 0)? != 0,
            // They follow from the space tile.
            y_extent: 0,
            x_extent: 0,
        },
        FilterType::Aes256Gcm | FilterType::Bitsort => return Err(format!("no field can have the filter {filter_type}")),
    })
}

/// The filter list of a text such as `byteshuffle,zstd:5`; the number is a level or a window.
///
/// # Errors
/// A sentence about the filter that is wrong.
pub(crate) fn list_from_text(text: &str) -> Result<FilterList, String> {
    let filter = |text: &str| {
        let (name, option) = text.split_once(':').map_or((text, None), |(name, option)| (name, Some(option)));
        let format_name = name.trim().to_ascii_uppercase().replace('-', "_");
        let filter_type = FilterType::from_name(&format_name);
        let filter_type = filter_type.ok_or_else(|| format!("there is no filter '{name}'; write byteshuffle,zstd:5"))?;
        let number = option.map(|option| option.parse::<i64>().map_err(|_| format!("'{option}' is not a number"))).transpose()?;
        with_options(filter_type, |key| number.filter(|_| matches!(key, "level" | "window")).map(Value::from))
    };
    let texts = text.split(',').filter(|text| !text.trim().is_empty() && !text.trim().eq_ignore_ascii_case("none"));
    Ok(FilterList::new(texts.map(filter).collect::<Result<_, _>>()?))
}

fn webp_format(number: i64) -> Result<WebpFormat, String> {
    let formats = [WebpFormat::None, WebpFormat::Rgb, WebpFormat::Bgr, WebpFormat::Rgba, WebpFormat::Bgra];
    let found = formats.into_iter().find(|format| i64::from(*format as u8) == number);
    found.ok_or_else(|| format!("format {number} is not an order of colours, 0 to 4"))
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest float is what was meant")]
fn quality(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_lists_are_written_in_short() {
        let list = list_from_text("byteshuffle,zstd:5").unwrap();
        assert_eq!(list.filters, [FilterSpec::Byteshuffle, FilterSpec::Zstd { level: 5 }]);
        let list = list_from_text("Double-Delta, bit-width-reduction:64").unwrap();
        let delta = FilterSpec::DoubleDelta { level: -1, reinterpret: Datatype::Any };
        assert_eq!(list.filters, [delta, FilterSpec::BitWidthReduction { max_window_bytes: 64 }]);
        assert!(list_from_text("none").unwrap().is_empty());
        assert_eq!(list_from_text("zip").unwrap_err(), "there is no filter 'zip'; write byteshuffle,zstd:5");
        assert_eq!(list_from_text("zstd:x").unwrap_err(), "'x' is not a number");
    }
}
