//! New names, by the clock and at random (01-layout §3).

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use talavera_directory::{GroupVersion, NameSource, TimestampedName};
use talavera_types::FormatVersion;

use crate::Error;

/// The source of all names of this process.
///
/// The lock makes names of one process sort in the order they were made, whichever threads make them; it is held for the
/// making of one name, without any input or output.
static NAMES: Mutex<Option<NameSource>> = Mutex::new(None);

/// The next name of a fragment or commit file, for content of these first and last times in milliseconds since 1970; now
/// without them, or when both are 0.
///
/// # Errors
/// When the last time is before the first; [`Error::System`] when there is no clock or no random numbers.
pub(crate) fn next_name(timestamps: Option<(u64, u64)>, version: Option<FormatVersion>) -> Result<TimestampedName, Error> {
    next_with_suffix(timestamps, version.map(FormatVersion::number))
}

/// The next name of a schema or metadata file, which tells no version.
pub(crate) fn next_plain_name(timestamp: Option<u64>) -> Result<TimestampedName, Error> {
    next_with_suffix(timestamp.map(|time| (time, time)), None)
}

/// The next name of a file of group members.
pub(crate) fn next_group_name(timestamp: Option<u64>, version: GroupVersion) -> Result<TimestampedName, Error> {
    next_with_suffix(timestamp.map(|time| (time, time)), Some(version.number()))
}

/// A new name for the file of an enumeration, `__<32 hexadecimal digits>_0`, to be given to
/// [`Enumeration`](talavera_schema::Enumeration) (03-schema §6).
///
/// # Errors
/// [`Error::System`] when there are no random numbers.
pub fn enumeration_file_name() -> Result<String, Error> {
    Ok(format!("__{:032x}_0", u128::from_be_bytes(random()?)))
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> Result<u64, Error> {
    let before_1970 = |error| Error::System { what: "clock", source: io::Error::other(error) };
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).map_err(before_1970)?;
    u64::try_from(since_1970.as_millis()).map_err(|error| Error::System { what: "clock", source: io::Error::other(error) })
}

fn next_with_suffix(timestamps: Option<(u64, u64)>, suffix: Option<u32>) -> Result<TimestampedName, Error> {
    let (start, end) = match timestamps {
        None | Some((0, 0)) => (now_ms()?, None),
        Some((start, end)) => (start, Some(end)),
    };
    let rest = random()?;
    let seed = u32::from_be_bytes(random()?);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_with(|| NameSource::new(seed));
    Ok(names.next_with_suffix(start, end.unwrap_or(start), suffix, rest)?)
}

fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::System { what: "source of random numbers", source: io::Error::other(error.to_string()) })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use talavera_directory::NameForm;

    use super::*;

    #[test]
    fn names_of_one_time_sort_in_the_order_they_were_made() {
        let names: Vec<_> = (0..100).map(|_| next_name(Some((7, 7)), Some(FormatVersion::DEFAULT)).unwrap()).collect();
        assert!(names.is_sorted());
        assert!(names.iter().all(|name| (name.start(), name.end(), name.suffix()) == (7, 7, Some(22))));
    }

    #[test]
    fn no_time_and_time_zero_are_now() {
        let before = now_ms().unwrap();
        for timestamps in [None, Some((0, 0))] {
            let name = next_name(timestamps, None).unwrap();
            assert!((before..=now_ms().unwrap()).contains(&name.start()));
            assert_eq!((name.start(), name.form()), (name.end(), NameForm::Range));
        }
        assert_eq!(next_name(Some((0, 9)), None).unwrap().start(), 0);
    }

    #[test]
    fn a_span_that_ends_before_it_starts_has_no_name() {
        assert!(next_name(Some((9, 8)), None).is_err());
    }

    #[test]
    fn names_of_groups_end_in_the_group_version_and_those_of_enumerations_in_their_own() {
        assert_eq!(next_group_name(Some(5), GroupVersion::V2).unwrap().suffix(), Some(2));
        assert_eq!(next_plain_name(Some(5)).unwrap().suffix(), None);
        let name: TimestampedName = enumeration_file_name().unwrap().parse().unwrap();
        assert_eq!((name.form(), name.end()), (NameForm::UuidFirst, 0));
        assert_ne!(enumeration_file_name().unwrap(), enumeration_file_name().unwrap());
    }
}
