//! Units of dates and times.

use std::fmt;

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::FeatureType;

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
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
