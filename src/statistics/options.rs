//! Options of the functions that compute statistics.

use crate::base::progress::{Hook, Progress};

/// Options of the functions that compute statistics of a table.
///
/// # Examples
/// ```
/// use std::sync::{Arc, Mutex};
/// use numeric_table::{prelude::*, statistics::{BasicStatistics, StatisticsOptions}};
/// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5], [3.5, 4.5]])?;
/// let told = Arc::new(Mutex::new(Vec::new()));
/// let hears = told.clone();
/// let options = StatisticsOptions::new().on_progress(move |progress| hears.lock().unwrap().push(progress.done));
/// assert_eq!(BasicStatistics::compute_with(&table, options)?.column(0)?.mean(), 2.5);
/// assert_eq!(*told.lock().unwrap(), [0, 16]); // bytes of values
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct StatisticsOptions {
    hook: Hook,
}

impl StatisticsOptions {
    /// Creates the default options: no progress callback.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{BasicStatistics, StatisticsOptions}};
    /// let table = HomogenNumericTable::from_rows(&[[1.0], [3.0]])?;
    /// let statistics = BasicStatistics::compute_with(&table, StatisticsOptions::new())?; // the same as `compute`
    /// assert_eq!(statistics.column(0)?.sum(), 4.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a progress callback. It is called at the beginning, after every group of a few thousand rows, and at the
    /// end. It receives the number of bytes processed and the total, measured in the types of the table's columns. Any
    /// thread that does the work may call it, but only one at a time; progress that other threads make meanwhile is
    /// reported in the next call. The callback may compute statistics itself.
    ///
    /// If the callback panics, the computation panics too and does not call it again.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, statistics::{Quantiles, StatisticsOptions}};
    /// # let table = HomogenNumericTable::from_rows(&[[1.0], [3.0]])?;
    /// let options = StatisticsOptions::new().on_progress(|progress| {
    ///     let percent = progress.total.map(|total| progress.done * 100 / total.max(1));
    ///     eprint!("\r{} %", percent.unwrap_or(0));
    /// });
    /// let medians = Quantiles::compute_with(&table, &[0.5], options)?;
    /// assert_eq!(medians.value(0, 0)?, 2.0);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn on_progress(self, hook: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { hook: Hook::new(hook) }
    }

    pub(super) fn of_hook(hook: Hook) -> Self {
        Self { hook }
    }

    pub(super) fn hook(&self) -> &Hook {
        &self.hook
    }
}
