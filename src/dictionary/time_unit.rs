//! Units of dates and times.

use std::fmt;

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::FeatureType;
use crate::base::calendar::{DAY, show_date};

/// The unit of dates and times in a column of [`FeatureType::Time`], which are counted from the beginning of 1970 in
/// UTC.
///
/// # Examples
/// ```
/// # #[cfg(feature = "csv")] {
/// use numeric_table::{csv::{CsvColumnKind, CsvOptions, CsvSource}, dictionary::TimeUnit, prelude::*};
/// let text = b"day,time\n1970-01-02,1970-01-01T00:00:01.5Z\n2024-02-29,2024-02-29 12:00+01:00\n";
/// let options = CsvOptions::new()
///     .kind("day", CsvColumnKind::Time(TimeUnit::Days))
///     .kind("time", CsvColumnKind::Time(TimeUnit::Milliseconds));
/// let table = CsvSource::from_bytes_with(&text[..], options)?.load_typed()?;
/// assert_eq!(table.column_slice::<i32>(0)?, [1, 19_782]);
/// assert_eq!(table.column_slice::<i64>(1)?, [1500, 1_709_204_400_000]);
/// assert_eq!(table.dictionary().feature(0)?.feature_type, FeatureType::Time(TimeUnit::Days));
/// # }
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
#[non_exhaustive]
pub enum TimeUnit {
    /// Days, like Arrow's `Date32` and NumPy's `datetime64[D]`: `i32`.
    Days = 0,
    /// Seconds, like Unix time: `i64`.
    Seconds = 1,
    /// Milliseconds: `i64`.
    Milliseconds = 2,
    /// Microseconds: `i64`.
    Microseconds = 3,
    /// Nanoseconds: `i64`, which covers times from 1677-09-21 to 2262-04-11.
    Nanoseconds = 4,
}

impl TimeUnit {
    /// All units, from the longest to the shortest.
    pub const ALL: &'static [Self] =
        &[Self::Days, Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Days => "days",
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    /// Returns the number of units in a second; `None` for days.
    pub(crate) fn per_second(self) -> Option<u32> {
        match self {
            Self::Days => None,
            Self::Seconds => Some(1),
            Self::Milliseconds => Some(1_000),
            Self::Microseconds => Some(1_000_000),
            Self::Nanoseconds => Some(1_000_000_000),
        }
    }

    /// Formats a number of units since 1970 in the form in which CSV files have it: `2024-02-29`, `2024-02-29T12:34:56.789Z`.
    pub(crate) fn show(self, count: i64) -> String {
        let Some(per_second) = self.per_second() else { return show_date(count) };
        let (seconds, units) = (count.div_euclid(per_second.into()), count.rem_euclid(per_second.into()));
        let (date, time) = (show_date(seconds.div_euclid(DAY)), seconds.rem_euclid(DAY));
        let decimals = match per_second.ilog10() as usize {
            0 => String::new(),
            digits => format!(".{units:0digits$}"),
        };
        format!("{date}T{:02}:{:02}:{:02}{decimals}Z", time / 3600, time / 60 % 60, time % 60)
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
