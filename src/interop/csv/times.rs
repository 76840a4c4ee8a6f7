//! Dates and times as numbers of units since 1970.

use super::failure::Reason;
use crate::base::calendar::DAY;
use crate::base::element::ElementType;
use crate::base::error::Hint;
use crate::dictionary::TimeUnit;
use crate::interop::text::digits::pair;
use crate::interop::text::moment::{Moment, MomentRefusal, push_date};

impl TimeUnit {
    /// Returns the type of the numbers.
    pub(super) fn element_type(self) -> ElementType {
        if self == Self::Days { ElementType::I32 } else { ElementType::I64 }
    }

    /// Converts the text of a date, or of a date and a time, to the number of units since 1970. The type of the unit
    /// must hold it.
    pub(super) fn read(self, text: &[u8]) -> Result<i64, Reason> {
        let moment = Moment::read(text).map_err(refused)?;
        self.count(moment).ok_or_else(|| self.not_a_number_of_units(moment))
    }

    /// Returns the number of units, if it is an integer that the type holds.
    fn count(self, moment: Moment) -> Option<i64> {
        let Moment { seconds, nanoseconds, is_finer } = moment;
        let Some(per_second) = self.per_second() else {
            let is_midnight = seconds % DAY == 0 && nanoseconds == 0 && !is_finer;
            return is_midnight.then_some(seconds / DAY);
        };
        let nanoseconds_of_unit = 1_000_000_000 / per_second;
        if is_finer || !nanoseconds.is_multiple_of(nanoseconds_of_unit) {
            return None;
        }
        let units = i128::from(seconds) * i128::from(per_second) + i128::from(nanoseconds / nanoseconds_of_unit);
        i64::try_from(units).ok()
    }

    /// Appends a number of units since 1970 as a field. Returns `false`, and appends nothing, if reading it would not
    /// return the same number: if its year has more than six digits.
    pub(super) fn push_field(self, count: i64, text: &mut Vec<u8>) -> bool {
        if self.push_plain(count, text) {
            return true;
        }
        let field = self.show(count);
        let is_same = matches!(self.read(field.as_bytes()), Ok(found) if found == count);
        if is_same {
            text.extend_from_slice(field.as_bytes());
        }
        is_same
    }

    /// Appends a number of units as [`show`](Self::show) formats it, if its year has four digits: such a text is always
    /// read as the same number. Returns whether it has.
    fn push_plain(self, count: i64, text: &mut Vec<u8>) -> bool {
        let Some(per_second) = self.per_second() else { return push_date(count, text) };
        let (seconds, units) = (count.div_euclid(per_second.into()), count.rem_euclid(per_second.into()));
        if !push_date(seconds.div_euclid(DAY), text) {
            return false;
        }
        let time = seconds.rem_euclid(DAY) as u32; // below the seconds of a day
        let ([a, b], [c, d], [e, f]) = (pair(time / 3600), pair(time / 60 % 60), pair(time % 60));
        text.extend_from_slice(&[b'T', a, b, b':', c, d, b':', e, f]);
        let mut digit = per_second / 10;
        if digit > 0 {
            text.push(b'.');
        }
        while digit > 0 {
            text.push(b'0' + (units / i64::from(digit) % 10) as u8);
            digit /= 10;
        }
        text.push(b'Z');
        true
    }

    #[cold]
    fn not_a_number_of_units(self, moment: Moment) -> Reason {
        let Some(per_second) = self.per_second() else {
            return Reason::advised(
                "is not the beginning of a day in UTC",
                [Hint::new("TimeUnit::Seconds", "and finer units keep the time of day")],
            );
        };
        let name = self.name();
        let has_fraction = moment.is_finer || !moment.nanoseconds.is_multiple_of(1_000_000_000 / per_second);
        match (has_fraction, self) {
            (true, Self::Nanoseconds) => "has a fraction of a nanosecond, which no TimeUnit keeps".into(),
            (true, _) => format!("is not a whole number of {name}: a finer TimeUnit keeps the fraction").into(),
            (false, _) => format!("is more {name} from 1970 than i64 holds: a coarser TimeUnit reaches further").into(),
        }
    }
}

#[cold]
fn refused(refusal: MomentRefusal) -> Reason {
    match refusal {
        MomentRefusal::Form => "is not a date like 2024-02-29, or a date and a time like 2024-02-29T12:34:56.789Z",
        MomentRefusal::Month => "has a month that is not from 01 to 12",
        MomentRefusal::Day => "has a day that its month does not have",
        MomentRefusal::Time => "has a time of day that is not from 00:00 to 23:59:59",
        MomentRefusal::LeapSecond => "has a leap second, which has no number in Unix time",
        MomentRefusal::Offset => "has an offset that is not from -23:59 to +23:59",
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_what_is_shown_and_is_read_as_the_same_number() {
        let units =
            [TimeUnit::Days, TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];
        let counts = (0..63_u32).flat_map(|power| [1_i64 << power, (1 << power) - 1, 3 << (power.min(61))]);
        for count in counts.flat_map(|count| [count, -count]).chain([i64::MIN, i64::MAX]) {
            for unit in units {
                let (mut text, shown) = (vec![b'x'], unit.show(count));
                let is_read = matches!(unit.read(shown.as_bytes()), Ok(found) if found == count);
                assert_eq!(unit.push_field(count, &mut text), is_read, "{shown}");
                assert_eq!(&text[1..], if is_read { shown.as_bytes() } else { &[] });
            }
        }
    }
}
