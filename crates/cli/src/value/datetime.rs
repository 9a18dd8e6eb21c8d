//! Dates and times between their number and ISO 8601.

use jiff::Span;
use jiff::civil::{Date, DateTime, Time};
use talavera::Datatype;

/// Attoseconds of a second, the finest unit there is.
const SECOND: i128 = 1_000_000_000_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// A number of a date or time datatype as ISO 8601 writes it, as fine as its unit: `2020-05-03T10:30:00.000`.
///
/// The lowest number is `NaT`, which is what stands where nothing was written. Years before -9999 and after 9999, and
/// times that are none of a day, are shown as the number.
pub(crate) fn text(datatype: Datatype, value: i64) -> String {
    if value == i64::MIN {
        return "NaT".to_owned();
    }
    let shown = if datatype.is_time() { time_text(datatype, value) } else { datetime_text(datatype, value) };
    shown.unwrap_or_else(|| value.to_string())
}

/// The number that a person writes for a date or time: ISO 8601, or the number itself.
///
/// # Errors
/// A sentence that says what is wrong.
pub(crate) fn number(datatype: Datatype, text: &str) -> Result<i64, String> {
    if let Ok(value) = text.parse() {
        return Ok(value);
    }
    let example = if datatype.is_time() { "10:30:00" } else { "2020-05-03 or 2020-05-03T10:30:00" };
    let not_iso = || format!("'{text}' is not a {datatype}: write it like {example}, or as the stored number");
    if datatype.is_time() {
        return whole_units(datatype, time_attoseconds(text).ok_or_else(not_iso)?, text);
    }
    let (moment, fraction) = moment(text).ok_or_else(not_iso)?;
    match datatype {
        Datatype::DateTimeYear | Datatype::DateTimeMonth => whole_months(datatype, moment, fraction, text),
        _ => whole_units(datatype, since_1970(moment) + fraction, text),
    }
}

fn datetime_text(datatype: Datatype, value: i64) -> Option<String> {
    match datatype {
        Datatype::DateTimeYear => Some(Date::new(i16::try_from(value.checked_add(1970)?).ok()?, 1, 1).ok()?.to_string()),
        Datatype::DateTimeMonth => {
            let year = i16::try_from(value.div_euclid(12).checked_add(1970)?).ok()?;
            let month = i8::try_from(value.rem_euclid(12)).ok()? + 1;
            let mut text = Date::new(year, month, 1).ok()?.to_string();
            text.truncate(text.len() - "-01".len());
            Some(text)
        }
        _ => {
            let attoseconds = i128::from(value).checked_mul(unit(datatype)?)?;
            let day = i64::try_from(attoseconds.div_euclid(DAY)).ok()?;
            let date = Date::constant(1970, 1, 1).checked_add(Span::new().try_days(day).ok()?).ok()?;
            let mut text = date.to_string();
            if unit(datatype)? < DAY {
                text.push('T');
                text.push_str(&clock_text(datatype, attoseconds.rem_euclid(DAY)));
            }
            Some(text)
        }
    }
}

fn time_text(datatype: Datatype, value: i64) -> Option<String> {
    let attoseconds = i128::from(value).checked_mul(unit(datatype)?)?;
    (0..DAY).contains(&attoseconds).then(|| clock_text(datatype, attoseconds))
}

/// Hours, minutes, seconds and fraction, as many of them as the unit of the datatype can tell apart.
fn clock_text(datatype: Datatype, attoseconds: i128) -> String {
    let seconds = attoseconds / SECOND;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match unit(datatype) {
        Some(unit) if unit >= 3600 * SECOND => format!("{hours:02}"),
        Some(unit) if unit >= 60 * SECOND => format!("{hours:02}:{minutes:02}"),
        Some(unit) if unit < SECOND => {
            let digits = usize::try_from((SECOND / unit).ilog10()).unwrap_or(0);
            format!("{hours:02}:{minutes:02}:{:02}.{:0digits$}", seconds % 60, attoseconds % SECOND / unit)
        }
        _ => format!("{hours:02}:{minutes:02}:{:02}", seconds % 60),
    }
}

/// Attoseconds of the unit of a datatype; months and years have no fixed length.
fn unit(datatype: Datatype) -> Option<i128> {
    use Datatype as D;
    Some(match datatype {
        D::DateTimeWeek => 7 * DAY,
        D::DateTimeDay => DAY,
        D::DateTimeHr | D::TimeHr => 3600 * SECOND,
        D::DateTimeMin | D::TimeMin => 60 * SECOND,
        D::DateTimeSec | D::TimeSec => SECOND,
        D::DateTimeMs | D::TimeMs => SECOND / 1_000,
        D::DateTimeUs | D::TimeUs => SECOND / 1_000_000,
        D::DateTimeNs | D::TimeNs => SECOND / 1_000_000_000,
        D::DateTimePs | D::TimePs => SECOND / 1_000_000_000_000,
        D::DateTimeFs | D::TimeFs => SECOND / 1_000_000_000_000_000,
        D::DateTimeAs | D::TimeAs => 1,
        _ => return None,
    })
}

/// The moment that a text names to the second, and the attoseconds behind it. Day, hour and minutes may be left out.
fn moment(text: &str) -> Option<(DateTime, i128)> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (whole, fraction) = split_fraction(text)?;
    let (date, clock) = whole.split_once(['T', ' ']).map_or((whole, None), |(date, clock)| (date, Some(clock)));
    let dashes = date.get(1..)?.matches('-').count();
    let date = if dashes == 1 { format!("{date}-01") } else { date.to_owned() };
    let date: Date = date.parse().ok()?;
    let clock = clock.map_or(Some(Time::midnight()), clock_of)?;
    Some((date.to_datetime(clock), fraction))
}

fn time_attoseconds(text: &str) -> Option<i128> {
    let (whole, fraction) = split_fraction(text)?;
    let clock = clock_of(whole)?;
    Some(since_1970(Date::constant(1970, 1, 1).to_datetime(clock)) + fraction)
}

fn clock_of(text: &str) -> Option<Time> {
    let text = if text.contains(':') { text.to_owned() } else { format!("{text}:00") };
    text.parse().ok()
}

/// What stands before a decimal point, and what stands behind it in attoseconds.
fn split_fraction(text: &str) -> Option<(&str, i128)> {
    let Some((whole, digits)) = text.split_once('.') else { return Some((text, 0)) };
    let valid = (1..=18).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    let fraction = valid.then(|| format!("{digits:0<18}").parse().ok())??;
    Some((whole, fraction))
}

fn since_1970(moment: DateTime) -> i128 {
    let epoch = Date::constant(1970, 1, 1).to_datetime(Time::midnight());
    i128::from(moment.duration_since(epoch).as_secs()) * SECOND
}

fn whole_units(datatype: Datatype, attoseconds: i128, text: &str) -> Result<i64, String> {
    let unit = unit(datatype).unwrap_or(1);
    if attoseconds.rem_euclid(unit) != 0 {
        return Err(format!("'{text}' lies between two values of {datatype}"));
    }
    i64::try_from(attoseconds / unit).map_err(|_| format!("'{text}' is too far from 1970 for {datatype}"))
}

fn whole_months(datatype: Datatype, moment: DateTime, fraction: i128, text: &str) -> Result<i64, String> {
    let (year, month) = (i64::from(moment.year()) - 1970, i64::from(moment.month()) - 1);
    let rest = moment.day() != 1 || moment.time() != Time::midnight() || fraction != 0;
    if rest || (datatype == Datatype::DateTimeYear && month != 0) {
        return Err(format!("'{text}' lies between two values of {datatype}"));
    }
    Ok(if datatype == Datatype::DateTimeYear { year } else { 12 * year + month })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(datatype: Datatype, value: i64, expected: &str) {
        assert_eq!(text(datatype, value), expected);
        assert_eq!(number(datatype, expected), Ok(value), "{expected}");
    }

    #[test]
    fn dates_and_times_come_back_from_their_text() {
        check(Datatype::DateTimeYear, 50, "2020-01-01");
        check(Datatype::DateTimeMonth, -1, "1969-12");
        check(Datatype::DateTimeWeek, 1, "1970-01-08");
        check(Datatype::DateTimeDay, -1, "1969-12-31");
        check(Datatype::DateTimeHr, 25, "1970-01-02T01");
        check(Datatype::DateTimeMin, 61, "1970-01-01T01:01");
        check(Datatype::DateTimeSec, -1, "1969-12-31T23:59:59");
        check(Datatype::DateTimeMs, 1_588_501_800_001, "2020-05-03T10:30:00.001");
        check(Datatype::DateTimeNs, -1, "1969-12-31T23:59:59.999999999");
        check(Datatype::DateTimeAs, i64::MAX, "1970-01-01T00:00:09.223372036854775807");
        check(Datatype::TimeSec, 3661, "01:01:01");
        check(Datatype::TimeMs, 1, "00:00:00.001");
        check(Datatype::TimeHr, 23, "23");
    }

    #[test]
    fn what_no_calendar_holds_is_shown_as_the_number() {
        assert_eq!(text(Datatype::DateTimeYear, 1_000_000), "1000000");
        assert_eq!(text(Datatype::DateTimeDay, i64::MAX), i64::MAX.to_string());
        assert_eq!(text(Datatype::DateTimeNs, i64::MIN), "NaT");
        assert_eq!(text(Datatype::TimeSec, 86_400), "86400");
        assert_eq!(text(Datatype::TimeSec, -1), "-1");
    }

    #[test]
    fn dates_may_be_written_in_short_and_must_be_values_of_the_unit() {
        assert_eq!(number(Datatype::DateTimeSec, "1970-01-02"), Ok(86_400));
        assert_eq!(number(Datatype::DateTimeSec, "1970-01-01 00:01Z"), Ok(60));
        assert_eq!(number(Datatype::DateTimeDay, "1970-02"), Ok(31));
        assert_eq!(number(Datatype::DateTimeDay, "7"), Ok(7));
        let between = number(Datatype::DateTimeDay, "1970-01-02T12").unwrap_err();
        assert_eq!(between, "'1970-01-02T12' lies between two values of DATETIME_DAY");
        let far = number(Datatype::DateTimeNs, "9999-01-01").unwrap_err();
        assert_eq!(far, "'9999-01-01' is too far from 1970 for DATETIME_NS");
        assert!(number(Datatype::DateTimeDay, "soon").unwrap_err().contains("write it like 2020-05-03"));
        assert!(number(Datatype::TimeSec, "25:00").is_err());
    }
}
