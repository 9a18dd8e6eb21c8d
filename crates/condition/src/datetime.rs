//! ISO 8601 text to the numbers that dates and times are stored as: 64-bit counts of a unit since 1970, or of a day.

use talavera_types::Datatype;

const DATE: &str = "not a date in ISO form, such as 2024-05-17 or 2024-05-17T08:30:00.25";
const TIME: &str = "not a time in ISO form, such as 08:30 or 08:30:00.25";
const WHOLE: &str = "not a whole number of the field's unit";
const RANGE: &str = "out of range of the field's unit";

const ATTOSECONDS: i128 = 1_000_000_000_000_000_000;
const DAY_SECONDS: i128 = 86_400;

/// The number for `text` (`[-]YYYY[-MM[-DD[(T| )HH[:MM[:SS[.f]]]]]][Z]`) in a datatype of dates.
///
/// Text between two numbers is refused rather than rounded: it would move the edge of a comparison.
pub(crate) fn datetime(text: &str, datatype: Datatype) -> Result<i64, &'static str> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, time_of_day(time).ok_or(DATE)?),
        None => (text, 0),
    };
    let (year, month, day) = civil(date).ok_or(DATE)?;
    let number = match datatype {
        Datatype::DateTimeYear if (month, day, time) == (1, 1, 0) => year - 1970,
        Datatype::DateTimeMonth if (day, time) == (1, 0) => (year - 1970) * 12 + month - 1,
        Datatype::DateTimeYear | Datatype::DateTimeMonth => return Err(WHOLE),
        _ => {
            let attoseconds = days_since_1970(year, month, day) * DAY_SECONDS * ATTOSECONDS + time;
            units(attoseconds, datatype)?
        }
    };
    i64::try_from(number).map_err(|_| RANGE)
}

/// The number for `text` (`HH[:MM[:SS[.f]]]`) in a datatype of times.
pub(crate) fn time(text: &str, datatype: Datatype) -> Result<i64, &'static str> {
    i64::try_from(units(time_of_day(text).ok_or(TIME)?, datatype)?).map_err(|_| RANGE)
}

fn units(attoseconds: i128, datatype: Datatype) -> Result<i128, &'static str> {
    use Datatype as D;
    let unit = match datatype {
        D::DateTimeWeek => 7 * DAY_SECONDS * ATTOSECONDS,
        D::DateTimeDay => DAY_SECONDS * ATTOSECONDS,
        D::DateTimeHr | D::TimeHr => 3600 * ATTOSECONDS,
        D::DateTimeMin | D::TimeMin => 60 * ATTOSECONDS,
        D::DateTimeSec | D::TimeSec => ATTOSECONDS,
        D::DateTimeMs | D::TimeMs => ATTOSECONDS / 1_000,
        D::DateTimeUs | D::TimeUs => ATTOSECONDS / 1_000_000,
        D::DateTimeNs | D::TimeNs => ATTOSECONDS / 1_000_000_000,
        D::DateTimePs | D::TimePs => 1_000_000,
        D::DateTimeFs | D::TimeFs => 1_000,
        _ => 1,
    };
    if attoseconds % unit != 0 {
        return Err(WHOLE);
    }
    Ok(attoseconds / unit)
}

/// Year, month and day; the year has four to nine digits.
fn civil(text: &str) -> Option<(i128, i128, i128)> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let mut parts = text.split('-');
    let year_text = parts.next()?;
    let year = sign * digits(year_text, 4..=9)?;
    let month = parts.next().map_or(Some(1), |text| digits(text, 2..=2))?;
    let day = parts.next().map_or(Some(1), |text| digits(text, 2..=2))?;
    let ok = parts.next().is_none() && (1..=12).contains(&month) && (1..=month_days(year, month)).contains(&day);
    ok.then_some((year, month, day))
}

/// Attoseconds since midnight.
fn time_of_day(text: &str) -> Option<i128> {
    let mut parts = text.split(':');
    let hours = digits(parts.next()?, 2..=2)?;
    let minutes = parts.next().map_or(Some(0), |text| digits(text, 2..=2))?;
    let (seconds, attoseconds) = match parts.next() {
        None => (0, 0),
        Some(text) => match text.split_once('.') {
            None => (digits(text, 2..=2)?, 0),
            Some((seconds, fraction)) => (digits(seconds, 2..=2)?, digits(&format!("{fraction:0<18}"), 18..=18)?),
        },
    };
    let ok = parts.next().is_none() && !text.ends_with('.') && hours < 24 && minutes < 60 && seconds < 60;
    ok.then_some((hours * 3600 + minutes * 60 + seconds) * ATTOSECONDS + attoseconds)
}

fn digits(text: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<i128> {
    let ok = lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if ok { text.parse().ok() } else { None }
}

fn month_days(year: i128, month: i128) -> i128 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the proleptic Gregorian calendar. The year is counted from March, so that a leap day is its last.
fn days_since_1970(year: i128, month: i128, day: i128) -> i128 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use Datatype as D;

    #[test]
    fn dates_count_their_unit_since_1970() {
        let check = |text, datatype, expected| assert_eq!(datetime(text, datatype), expected, "{text} as {datatype}");
        check("1970-01-01", D::DateTimeDay, Ok(0));
        check("1969-12-31", D::DateTimeDay, Ok(-1));
        check("2000-02-29", D::DateTimeDay, Ok(11_016));
        check("2024", D::DateTimeYear, Ok(54));
        check("2024-05", D::DateTimeMonth, Ok(652));
        check("1970-01-08", D::DateTimeWeek, Ok(1));
        check("1970-01-07", D::DateTimeWeek, Err(WHOLE));
        check("2024-05-17", D::DateTimeMonth, Err(WHOLE));
        check("2024-05-17T08:30:00Z", D::DateTimeSec, Ok(1_715_934_600));
        check("2024-05-17 08:30:00.25", D::DateTimeMs, Ok(1_715_934_600_250));
        check("2024-05-17 08:30:00.25", D::DateTimeSec, Err(WHOLE));
        check("-0001-12-31", D::DateTimeDay, Ok(-719_529));
        check("999999999-12-31", D::DateTimeAs, Err(RANGE));
        check("1969-12-31T23:59:59.999999999999999999", D::DateTimeAs, Ok(-1));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "-",
            "2023-02-29",
            "2024-13-01",
            "2024-1-1",
            "2024-05-17T",
            "2024-05-17T24:00",
            "2024-05-17T08:30:00.",
            "é",
            "20240517",
            "2024-05-17T08:30:00+02:00",
        ] {
            assert!(datetime(text, D::DateTimeNs).is_err(), "{text}");
        }
    }

    #[test]
    fn times_count_their_unit_since_midnight() {
        assert_eq!(time("23", D::TimeHr), Ok(23));
        assert_eq!(time("08:30:00.000000001", D::TimeNs), Ok(30_600_000_000_001));
        assert_eq!(time("08:30", D::TimeHr), Err(WHOLE));
        assert_eq!(time("24:00", D::TimeHr), Err(TIME));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text: String, code in 18_u8..=39) {
            let datatype = D::from_code(code).unwrap();
            let _ = datetime(&text, datatype);
            let _ = time(&text, datatype);
        }
    }

    #[test]
    fn days_follow_one_another() {
        // From 400 BC over more than a whole period of leap years, by the rules of the calendar alone.
        let (mut year, mut month, mut day) = (-400, 1, 1);
        let first = days_since_1970(year, month, day);
        for number in first..first + 200_000 {
            assert_eq!(days_since_1970(year, month, day), number);
            day += 1;
            if day > month_days(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }
}
