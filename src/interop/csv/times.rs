//! Dates and times as numbers of units since 1970.

use super::failure::Reason;
use crate::base::element::ElementType;
use crate::base::error::Hint;
use crate::dictionary::TimeUnit;
use crate::interop::text::moment::{DAY, Moment, MomentRefusal, show_date};

impl TimeUnit {
    /// Returns the type of the numbers.
    pub(super) fn element_type(self) -> ElementType {
        if self == Self::Days { ElementType::I32 } else { ElementType::I64 }
    }

    /// Returns the number of units in a second; `None` for days.
    fn per_second(self) -> Option<u32> {
        match self {
            Self::Days => None,
            Self::Seconds => Some(1),
            Self::Milliseconds => Some(1_000),
            Self::Microseconds => Some(1_000_000),
            Self::Nanoseconds => Some(1_000_000_000),
        }
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

    /// Formats a number of units since 1970 as a field. Returns `None` if reading it would not return the same number:
    /// if its year has more than six digits.
    pub(super) fn field(self, count: i64) -> Option<String> {
        let text = self.show(count);
        matches!(self.read(text.as_bytes()), Ok(found) if found == count).then_some(text)
    }

    /// Formats a number of units since 1970 in the form in which it is read.
    pub(super) fn show(self, count: i64) -> String {
        let Some(per_second) = self.per_second() else { return show_date(count) };
        let (seconds, units) = (count.div_euclid(per_second.into()), count.rem_euclid(per_second.into()));
        let (date, time) = (show_date(seconds.div_euclid(DAY)), seconds.rem_euclid(DAY));
        let decimals = match per_second.ilog10() as usize {
            0 => String::new(),
            digits => format!(".{units:0digits$}"),
        };
        format!("{date}T{:02}:{:02}:{:02}{decimals}Z", time / 3600, time / 60 % 60, time % 60)
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
