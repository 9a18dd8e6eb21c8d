//! Timestamped names: page 01-layout, "Timestamped names".

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use talavera_types::{FormatVersion, UnsupportedVersion};

use crate::DirectoryError;

/// A name that tells when its content was written, without extension.
///
/// The text is kept as it was found, so that a name is always written back as it was read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimestampedName {
    text: Arc<str>,
    form: NameForm,
    start: u64,
    end: u64,
    suffix: Option<u32>,
}

/// How a name is made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameForm {
    /// `__uuid_t`, or `__uuid_x_t` of a consolidated fragment, whose last number counts: fragments of format versions 1
    /// and 2. Names of enumerations look alike, with their version in place of the time.
    UuidFirst,
    /// `__t1_t2_uuid`: fragments of versions 3 and 4, and files that do not tell their version.
    Range,
    /// `__t1_t2_uuid_v`: everything else.
    RangeAndVersion,
}

impl TimestampedName {
    /// The name for content of the times `start` to `end`, in milliseconds.
    ///
    /// # Errors
    /// [`DirectoryError::InvalidName`] when `start` is after `end`.
    pub fn new(start: u64, end: u64, uuid: [u8; 16], suffix: Option<u32>) -> Result<Self, DirectoryError> {
        let uuid = u128::from_be_bytes(uuid);
        let text = match suffix {
            Some(suffix) => format!("__{start}_{end}_{uuid:032x}_{suffix}"),
            None => format!("__{start}_{end}_{uuid:032x}"),
        };
        text.parse()
    }

    /// The name itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How the name is made up.
    #[must_use]
    pub fn form(&self) -> NameForm {
        self.form
    }

    /// The earliest time of the content, in milliseconds since 1970.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The latest time of the content, in milliseconds since 1970; not before [`TimestampedName::start`].
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The version at the end: of the format, or of the group in a group's folder.
    #[must_use]
    pub fn suffix(&self) -> Option<u32> {
        self.suffix
    }

    /// The format version of a fragment of this name, as far as the name tells: 2 may be 1, and 4 may be 3.
    ///
    /// It decides where commit files lie and how time windows apply; what a fragment holds is decoded by its metadata's
    /// own version.
    ///
    /// # Errors
    /// When the version is not supported.
    pub fn fragment_version(&self) -> Result<FormatVersion, UnsupportedVersion> {
        FormatVersion::new(match self.form {
            NameForm::UuidFirst => 2,
            NameForm::Range => 4,
            NameForm::RangeAndVersion => self.suffix.unwrap_or_default(),
        })
    }

    /// The name of a file that belongs to this name: `name.extension`.
    #[must_use]
    pub fn with_extension(&self, extension: &str) -> String {
        format!("{}.{extension}", self.text)
    }
}

impl FromStr for TimestampedName {
    type Err = DirectoryError;

    fn from_str(text: &str) -> Result<Self, DirectoryError> {
        let invalid = |reason| DirectoryError::InvalidName { name: text.chars().take(MAX_NAME_CHARS).collect(), reason };
        let rest = text.strip_prefix("__").ok_or_else(|| invalid("does not start with two underscores"))?;
        let fields: Vec<&str> = rest.splitn(5, '_').collect();
        let (uuid, form, start, end, suffix) = match *fields.as_slice() {
            [start, end, uuid, suffix] => (uuid, NameForm::RangeAndVersion, start, end, Some(suffix)),
            [start, end, uuid] if uuid.len() == UUID_CHARS => (uuid, NameForm::Range, start, end, None),
            [uuid, time] | [uuid, _, time] => (uuid, NameForm::UuidFirst, time, time, None),
            _ => return Err(invalid("does not have two to four fields")),
        };
        if uuid.len() != UUID_CHARS || !uuid.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(invalid("has no UUID of 32 characters"));
        }
        if let (NameForm::UuidFirst, [_, time, _]) = (form, fields.as_slice()) {
            decimal(time).ok_or_else(|| invalid("holds a time that is not a number"))?;
        }
        let start = decimal(start).ok_or_else(|| invalid("holds a time that is not a number"))?;
        let end = decimal(end).ok_or_else(|| invalid("holds a time that is not a number"))?;
        if start > end {
            return Err(invalid("starts after its end"));
        }
        let number = |suffix| decimal(suffix).and_then(|number| u32::try_from(number).ok());
        let suffix = suffix.map(|suffix| number(suffix).ok_or_else(|| invalid("holds a version that is not a number")));
        let suffix = suffix.transpose()?;
        Ok(Self { text: text.into(), form, start, end, suffix })
    }
}

impl fmt::Display for TimestampedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for TimestampedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text, f)
    }
}

/// Cuts a file name at its last dot: the name and its extension, without the dot.
#[must_use]
pub fn split_extension(file_name: &str) -> (&str, Option<&str>) {
    match file_name.rsplit_once('.') {
        Some((name, extension)) => (name, Some(extension)),
        None => (file_name, None),
    }
}

/// Digits only: no sign, no more than a 64-bit number has.
fn decimal(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.len() <= MAX_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

const UUID_CHARS: usize = 32;
const MAX_DIGITS: usize = 20;
const MAX_NAME_CHARS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "00112233445566778899aabbccddeeff";

    fn name(text: &str) -> TimestampedName {
        text.parse().unwrap()
    }

    fn parts(text: &str) -> (NameForm, u64, u64, u32) {
        let name = name(text);
        (name.form(), name.start(), name.end(), name.fragment_version().unwrap().number())
    }

    #[test]
    fn every_form_of_fragment_name_tells_times_and_version() {
        assert_eq!(parts(&format!("__{UUID}_17")), (NameForm::UuidFirst, 17, 17, 2));
        // The middle number may be the larger one; the last one counts.
        assert_eq!(parts(&format!("__{UUID}_1795254877956_1795254877937")).1, 1_795_254_877_937);
        assert_eq!(parts(&format!("__5_9_{UUID}")), (NameForm::Range, 5, 9, 4));
        assert_eq!(parts(&format!("__5_9_{UUID}_22")), (NameForm::RangeAndVersion, 5, 9, 22));
    }

    #[test]
    fn names_that_tell_no_time_are_refused() {
        let long = "9".repeat(500);
        let hostile = [
            String::new(),
            "__".to_owned(),
            "_____".to_owned(),
            "__array_schema.tdb".to_owned(),
            "__lock.tdb".to_owned(),
            "__fragments".to_owned(),
            "__foo_bar".to_owned(),
            format!("__5_9_{UUID}_22_1"),
            format!("__9_5_{UUID}_22"),
            format!("__+5_9_{UUID}_22"),
            format!("__-5_9_{UUID}_22"),
            format!("__5_18446744073709551616_{UUID}_22"),
            format!("__5_{long}_{UUID}_22"),
            format!("__5_9_{UUID}_"),
            format!("__5_9_{UUID}_4294967296"),
            format!("__5_9_{UUID}_22.tmp"),
            format!("__5_9_{}_22", "é".repeat(16)),
            format!("__5_9_{}/_22", &UUID[1..]),
            format!("_5_9_{UUID}_22"),
            format!("__{UUID}_x_5"),
        ];
        for text in hostile {
            assert!(matches!(text.parse::<TimestampedName>(), Err(DirectoryError::InvalidName { .. })), "{text:?}");
        }
    }

    #[test]
    fn a_name_with_an_unknown_version_is_a_name_without_a_known_version() {
        let name = name(&format!("__5_9_{UUID}_4294967295"));
        assert_eq!(name.suffix(), Some(u32::MAX));
        assert_eq!(name.fragment_version().unwrap_err().found, u32::MAX);
    }

    #[test]
    fn an_extension_is_what_follows_the_last_dot() {
        assert_eq!(split_extension("__1_2_u_3.wrt"), ("__1_2_u_3", Some("wrt")));
        assert_eq!(split_extension("a.b.c"), ("a.b", Some("c")));
        assert_eq!(split_extension("a"), ("a", None));
        assert_eq!(name(&format!("__5_9_{UUID}_22")).with_extension("vac"), format!("__5_9_{UUID}_22.vac"));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn made_names_say_what_they_were_made_of(times: (u64, u64), uuid: [u8; 16], suffix: Option<u32>) {
            let (start, end) = (times.0.min(times.1), times.0.max(times.1));
            let made = TimestampedName::new(start, end, uuid, suffix).unwrap();
            let read = name(&made.to_string());
            proptest::prop_assert_eq!((read.start(), read.end(), read.suffix()), (start, end, suffix));
            proptest::prop_assert_eq!(read, made);
        }

        #[test]
        fn no_text_makes_names_panic(text in "_{0,2}[0-9a-f_.é]{0,60}|.*") {
            if let Ok(name) = text.parse::<TimestampedName>() {
                proptest::prop_assert_eq!(name.as_str(), text);
                proptest::prop_assert!(name.start() <= name.end());
                let _ = name.fragment_version();
            }
        }
    }
}
