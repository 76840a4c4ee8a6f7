//! Dates and times of ISO 8601, as seconds and nanoseconds since 1970-01-01T00:00:00 UTC.
//!
//! The extended formats of calendar dates and times of day: `2024-02-29`, and `2024-02-29T12:34:56.789+01:00` with `T`,
//! `t` or a space before the time. Seconds, decimals and the offset are optional. The calendar is Gregorian, even for
//! dates before its introduction. Years have four digits, or a sign and six. Sources: ISO 8601-1:2019, RFC 3339, and
//! ECMAScript for the six digits. As in Unix time, leap seconds do not exist. `base/calendar` has the
//! other direction.

use super::digits::pair;
#[cfg(doc)]
use crate::base::calendar::show_date;
use crate::base::calendar::{DAY, date_of};

/// A point in time: `seconds` since the beginning of 1970, and `nanoseconds` after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::interop) struct Moment {
    pub(in crate::interop) seconds: i64,
    pub(in crate::interop) nanoseconds: u32,
    /// Whether a fraction of a nanosecond has been cut off.
    pub(in crate::interop) is_finer: bool,
}

/// Why a string is not a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::interop) enum MomentRefusal {
    /// It does not have the form of one.
    Form,
    Month,
    Day,
    Time,
    LeapSecond,
    Offset,
}

impl Moment {
    /// Reads a string that is exactly a date or a date and a time. Without an offset it is in UTC.
    pub(in crate::interop) fn read(text: &[u8]) -> Result<Self, MomentRefusal> {
        let mut rest = Rest(text);
        let days = rest.date()?;
        let mut moment = Self { seconds: days * DAY, nanoseconds: 0, is_finer: false };
        if rest.0.is_empty() {
            return Ok(moment);
        }
        if !matches!(rest.next(), Some(b'T' | b't' | b' ')) {
            return Err(MomentRefusal::Form);
        }
        rest.time(&mut moment)?;
        moment.seconds -= rest.offset()?;
        if rest.0.is_empty() { Ok(moment) } else { Err(MomentRefusal::Form) }
    }
}

/// The unread rest of a string.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.0.first() == Some(&byte);
        if is_there {
            self.0 = &self.0[1..];
        }
        is_there
    }

    /// Reads a number with the given number of digits.
    fn digits(&mut self, count: usize) -> Result<i64, MomentRefusal> {
        let (digits, rest) = self.0.split_at_checked(count).ok_or(MomentRefusal::Form)?;
        self.0 = rest;
        digits.iter().try_fold(0, |number, digit| match digit {
            b'0'..=b'9' => Ok(number * 10 + i64::from(digit - b'0')),
            _ => Err(MomentRefusal::Form),
        })
    }

    fn expect(&mut self, byte: u8) -> Result<(), MomentRefusal> {
        if self.take(byte) { Ok(()) } else { Err(MomentRefusal::Form) }
    }

    /// Reads a date; returns the days since 1970-01-01.
    fn date(&mut self) -> Result<i64, MomentRefusal> {
        let year = match self.0.first() {
            Some(&sign @ (b'+' | b'-')) => {
                self.next();
                match (self.digits(6)?, sign) {
                    (0, b'-') => return Err(MomentRefusal::Form), // there is only one year 0
                    (year, b'-') => -year,
                    (year, _) => year,
                }
            }
            _ => self.digits(4)?,
        };
        self.expect(b'-')?;
        let month = self.digits(2)?;
        self.expect(b'-')?;
        let day = self.digits(2)?;
        if !(1..=12).contains(&month) {
            return Err(MomentRefusal::Month);
        }
        if day < 1 || day > days_of(year, month) {
            return Err(MomentRefusal::Day);
        }
        Ok(days_before(year, month, day))
    }

    /// Reads a time of day, and adds it.
    fn time(&mut self, moment: &mut Moment) -> Result<(), MomentRefusal> {
        let hour = self.digits(2)?;
        self.expect(b':')?;
        let minute = self.digits(2)?;
        let mut second = 0;
        if self.take(b':') {
            second = self.digits(2)?;
            if self.take(b'.') || self.take(b',') {
                self.decimals(moment)?;
            }
        }
        match (hour, minute, second) {
            (0..=23, 0..=59, 0..=59) => {}
            (0..=23, 0..=59, 60) => return Err(MomentRefusal::LeapSecond),
            _ => return Err(MomentRefusal::Time),
        }
        moment.seconds += hour * 3600 + minute * 60 + second;
        Ok(())
    }

    /// Reads the decimals of a second.
    fn decimals(&mut self, moment: &mut Moment) -> Result<(), MomentRefusal> {
        let mut unit = 1_000_000_000;
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        for digit in digits {
            let digit = u32::from(digit - b'0');
            unit /= 10;
            moment.nanoseconds += digit * unit;
            moment.is_finer |= unit == 0 && digit > 0;
        }
        if count == 0 { Err(MomentRefusal::Form) } else { Ok(()) }
    }

    /// Reads an offset from UTC, if there is one; returns its seconds.
    fn offset(&mut self) -> Result<i64, MomentRefusal> {
        let sign = match self.0.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            Some(b'Z' | b'z') => 0,
            _ => return Ok(0),
        };
        self.next();
        if sign == 0 {
            return Ok(0);
        }
        let hours = self.digits(2)?;
        let has_colon = self.take(b':');
        let minutes = if has_colon || !self.0.is_empty() { self.digits(2)? } else { 0 };
        if hours > 23 || minutes > 59 {
            return Err(MomentRefusal::Offset);
        }
        Ok(sign * (hours * 3600 + minutes * 60))
    }
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the number of days from 1970-01-01 to a date. The year starts in March, so that the leap day is its last.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Appends a date as [`show_date`] formats it, if its year has four digits. Returns whether it has.
#[inline]
pub(in crate::interop) fn push_date(days: i64, text: &mut Vec<u8>) -> bool {
    let (year @ 0..=9999, month, day) = date_of(days) else { return false };
    let year = year as u32; // in range
    let ([a, b], [c, d], [e, f], [g, h]) = (pair(year / 100), pair(year), pair(month), pair(day));
    text.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
    true
}

/// Reads the date at the beginning of the bytes if its year has four digits. Returns its number of days and the number
/// of bytes. The caller must check the text that follows.
#[inline]
pub(in crate::interop) fn fast_date(bytes: &[u8]) -> Option<(i64, usize)> {
    const LENGTH: usize = 10;
    let text = bytes.first_chunk::<LENGTH>()?;
    let digit = |at: usize| text[at].wrapping_sub(b'0');
    let mut largest = 0;
    let mut pair = |at: usize| {
        largest = largest.max(digit(at)).max(digit(at + 1));
        i64::from(digit(at)) * 10 + i64::from(digit(at + 1))
    };
    let (year, month, day) = (pair(0) * 100 + pair(2), pair(5), pair(8));
    let has_form = largest < 10 && text[4] == b'-' && text[7] == b'-';
    let is_date = has_form && (1..=12).contains(&month) && day >= 1 && day <= days_of(year, month);
    is_date.then(|| (days_before(year, month, day), LENGTH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::calendar::show_date;

    fn read(text: &str) -> Result<(i64, u32), MomentRefusal> {
        Moment::read(text.as_bytes()).map(|moment| (moment.seconds, moment.nanoseconds))
    }

    #[test]
    fn days_are_counted_one_by_one() {
        // From the first representable day to the last: each is one day after the previous one.
        let mut expected = None;
        for year in (-999_999_i64..-999_900).chain(-5..2500).chain(9_990..10_010).chain(999_900..1_000_000) {
            for month in 1..=12 {
                for day in 1..=days_of(year, month) {
                    let text = match year {
                        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
                        _ => format!("{year:+07}-{month:02}-{day:02}"),
                    };
                    let days = read(&text).unwrap().0 / DAY;
                    assert_eq!(show_date(days), text);
                    let mut pushed = Vec::new();
                    let has_four_digits = push_date(days, &mut pushed);
                    assert_eq!(pushed, if has_four_digits { text.as_bytes() } else { b"" });
                    assert_eq!((0..=9999).contains(&year), has_four_digits);
                    assert_eq!(fast_date(text.as_bytes()), has_four_digits.then_some((days, 10)));
                    let is_next = expected.is_none_or(|expected| days == expected);
                    assert!(is_next || (month == 1 && day == 1), "{text}");
                    expected = Some(days + 1);
                }
            }
        }
        let of_the_year = |year: i64| days_before(year, 1, 1);
        for year in -999_999..999_999 {
            assert_eq!(of_the_year(year + 1) - of_the_year(year), 337 + days_of(year, 2), "{year}");
        }
    }

    #[test]
    fn moments_are_those_of_python() {
        // datetime.fromisoformat(text).timestamp(), with UTC where there is no offset.
        for (text, seconds, nanoseconds) in [
            ("1970-01-01", 0, 0),
            ("2024-02-29", 1_709_164_800, 0),
            ("0001-01-01", -62_135_596_800, 0),
            ("9999-12-31", 253_402_214_400, 0),
            ("1969-12-31T23:59:59.5Z", -1, 500_000_000),
            ("2024-02-29T12:34:56.789Z", 1_709_210_096, 789_000_000),
            ("2024-02-29 12:34", 1_709_210_040, 0),
            ("2024-02-29t12:34:56,000000001z", 1_709_210_096, 1),
            ("2024-02-29T12:34:56+05:30", 1_709_190_296, 0),
            ("2024-02-29T12:34:56-0800", 1_709_238_896, 0),
            ("2024-02-29T12:34:56+01", 1_709_206_496, 0),
            ("1900-03-01T00:00:00", -2_203_891_200, 0),
        ] {
            assert_eq!(read(text), Ok((seconds, nanoseconds)), "{text}");
        }
        assert!(Moment::read(b"2024-02-29T12:34:56.0000000001").unwrap().is_finer);
        assert!(!Moment::read(b"2024-02-29T12:34:56.0000000000").unwrap().is_finer);
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        use MomentRefusal::*;
        for (text, refusal) in [
            ("", Form),
            ("20240229", Form),
            ("2024-2-29", Form),
            ("24-02-29", Form),
            ("2024/02/29", Form),
            ("2024-02-29T", Form),
            ("2024-02-29T12", Form),
            ("2024-02-29T12:34:", Form),
            ("2024-02-29T12:34:56.", Form),
            ("2024-02-29T12:34:56X", Form),
            ("2024-02-29T12:34:56+1", Form),
            ("2024-02-29T12:34:56+01:", Form),
            ("2024-02-29T12:34:56Z ", Form),
            ("-000000-01-01", Form),
            ("12024-01-01", Form),
            ("\u{661}970-01-01", Form),
            ("2024-00-01", Month),
            ("2024-13-01", Month),
            ("2023-02-29", Day),
            ("1900-02-29", Day),
            ("2024-04-31", Day),
            ("2024-01-00", Day),
            ("2024-02-29T24:00", Time),
            ("2024-02-29T12:60", Time),
            ("2024-02-29T12:34:61", Time),
            ("2016-12-31T23:59:60Z", LeapSecond),
            ("2024-02-29T12:34:56+24:00", Offset),
            ("2024-02-29T12:34:56+01:60", Offset),
        ] {
            assert_eq!(read(text), Err(refusal), "{text}");
            let found = fast_date(text.as_bytes()); // other text may follow a date
            assert!(found.is_none_or(|(days, length)| read(&text[..length]) == Ok((days * DAY, 0))), "{text}");
        }
        assert!(read("2000-02-29").is_ok() && read("2024-02-29").is_ok());
    }
}
