//! Dates and times of ISO 8601 as numbers of units since 1970, for comparisons with columns of dates.

use numeric_table::dictionary::TimeUnit;

/// Returns the number of units since 1970 of `2024-02-29` or `2024-02-29T12:34:56.789Z`, or `None` for another text.
/// A time that is finer than the unit is rounded down.
pub(crate) fn units(text: &str, unit: TimeUnit) -> Option<i128> {
    let text = text.trim().trim_end_matches('Z');
    let (date, time) = text.split_once(['T', ' ']).map_or((text, None), |(date, time)| (date, Some(time)));
    let mut fields = date.rsplitn(3, '-');
    let (day, month, year) = (number(fields.next()?)?, number(fields.next()?)?, fields.next()?.parse::<i64>().ok()?);
    if !(1..=12).contains(&month) || day < 1 || day > month_days(year, month) || year.abs() > 1_000_000 {
        return None;
    }
    let mut nanoseconds = i128::from(days(year, month, day)) * 86_400_000_000_000;
    if let Some(time) = time {
        let (clock, fraction) = time.split_once('.').map_or((time, ""), |(clock, fraction)| (clock, fraction));
        let parts: Vec<&str> = clock.split(':').collect();
        let [hour, minute, rest @ ..] = &parts[..] else { return None };
        let second = match rest {
            [] => 0,
            [second] => number(second)?,
            _ => return None,
        };
        let (hour, minute) = (number(hour)?, number(minute)?);
        if hour > 23
            || minute > 59
            || second > 59
            || fraction.len() > 9
            || !fraction.bytes().all(|b| b.is_ascii_digit())
        {
            return None;
        }
        nanoseconds += i128::from((hour * 60 + minute) * 60 + second) * 1_000_000_000;
        nanoseconds += format!("{fraction:0<9}").parse::<i128>().ok()?;
    }
    let size = match unit {
        TimeUnit::Days => 86_400_000_000_000,
        TimeUnit::Seconds => 1_000_000_000,
        TimeUnit::Milliseconds => 1_000_000,
        TimeUnit::Microseconds => 1_000,
        _ => 1,
    };
    Some(nanoseconds.div_euclid(size))
}

fn number(text: &str) -> Option<i64> {
    (!text.is_empty() && text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970 of a date of the Gregorian calendar: Howard Hinnant's `days_from_civil`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_numbers_of_units_since_1970() {
        assert_eq!(units("1970-01-01", TimeUnit::Days), Some(0));
        assert_eq!(units("2024-02-29", TimeUnit::Days), Some(19_782));
        assert_eq!(units("1969-12-31T23:59:59.5Z", TimeUnit::Milliseconds), Some(-500));
        assert_eq!(units("1970-01-02 00:01", TimeUnit::Seconds), Some(86_460));
        for text in
            ["2023-02-29", "2024-13-01", "2024-1", "x", "2024-01-01T25:00", "2024-01-01T1", "2024-01-01T10:00:00.x"]
        {
            assert_eq!(units(text, TimeUnit::Days), None, "{text}");
        }
    }
}
