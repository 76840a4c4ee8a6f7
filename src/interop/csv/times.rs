//! Dates and times as numbers of units since 1970.

use super::failure::Reason;
use crate::base::element::ElementType;
use crate::interop::text::moment::{DAY, Moment, MomentRefusal, show_date};

/// What dates and times are counted in, from the beginning of 1970 in UTC: see
/// [`CsvKind::Time`](super::CsvKind::Time).
///
/// # Examples
/// ```
/// use numeric_table::{CsvKind, CsvOptions, CsvSource, CsvTimeUnit, prelude::*};
/// let text = b"day,time\n1970-01-02,1970-01-01T00:00:01.5Z\n2024-02-29,2024-02-29 12:00+01:00\n";
/// let options = CsvOptions::new()
///     .kind("day", CsvKind::Time(CsvTimeUnit::Days))
///     .kind("time", CsvKind::Time(CsvTimeUnit::Milliseconds));
/// let table = CsvSource::from_bytes_with(&text[..], options)?.load_typed()?;
/// assert_eq!(table.column_as::<i32>(0)?, [1, 19_782]);
/// assert_eq!(table.column_as::<i64>(1)?, [1500, 1_709_204_400_000]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CsvTimeUnit {
    /// Days, as Arrow's `Date32` and NumPy's `datetime64[D]`: `i32`.
    Days,
    /// Seconds, as Unix time: `i64`.
    Seconds,
    /// Thousandths of a second: `i64`.
    Milliseconds,
    /// Millionths of a second: `i64`.
    Microseconds,
    /// Billionths of a second: `i64`, which holds times from 1677-09-21 to 2262-04-11.
    Nanoseconds,
}

impl CsvTimeUnit {
    /// Returns the type of the numbers.
    pub(super) fn element_type(self) -> ElementType {
        if self == Self::Days { ElementType::I32 } else { ElementType::I64 }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Days => "days",
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
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

    /// Converts the text of a date, or of a date and a time, to the number of units since 1970, which the type of the
    /// unit holds.
    pub(super) fn read(self, text: &[u8]) -> Result<i64, Reason> {
        let moment = Moment::read(text).map_err(refused)?;
        self.count(moment).ok_or_else(|| self.not_a_number_of_units(moment))
    }

    /// Returns the number of units, if it is a whole one and the type holds it.
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

    /// Formats a number of units since 1970, as it would be read.
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
            return "is not the beginning of a day in UTC: CsvTimeUnit::Seconds and finer units keep the time".into();
        };
        let name = self.name();
        let has_fraction = moment.is_finer || !moment.nanoseconds.is_multiple_of(1_000_000_000 / per_second);
        match (has_fraction, self) {
            (true, Self::Nanoseconds) => "has a fraction of a nanosecond, which no CsvTimeUnit keeps".into(),
            (true, _) => format!("is not a whole number of {name}: a finer CsvTimeUnit keeps the fraction").into(),
            (false, _) => {
                format!("is more {name} from 1970 than i64 holds: a coarser CsvTimeUnit reaches further").into()
            }
        }
    }
}

#[cold]
fn refused(refusal: MomentRefusal) -> Reason {
    match refusal {
        MomentRefusal::Form => "is not a date like 2024-02-29, or a date and a time like 2024-02-29T12:34:56.789Z",
        MomentRefusal::Month => "has a month that is none of 01 to 12",
        MomentRefusal::Day => "has a day that its month does not have",
        MomentRefusal::Time => "has a time of day that is not from 00:00 to 23:59:59",
        MomentRefusal::LeapSecond => "has a leap second, which has no number in Unix time",
        MomentRefusal::Offset => "has an offset that is not from -23:59 to +23:59",
    }
    .into()
}
