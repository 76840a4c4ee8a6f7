//! Statistics as partial results, computed from some of the rows, merged, sent and stored as bytes.

use super::{BasicStatistics, GroupStatistics, Histogram, QuantileSketch, StatisticsOptions, sparse_of};
use crate::base::count::same_count;
use crate::base::error::Result;
use crate::base::progress::{Hook, Progress};
use crate::partial::{Partial, in_units};
use crate::table::{NumericTable, TableDescription};

impl Partial for BasicStatistics {
    const NAME: &'static str = "basic-statistics";
    const NEWEST_VERSION: u32 = 2; // since values may be missing

    fn version(&self) -> u32 {
        if self.columns.iter().any(|column| column.missing_count() > 0) { Self::NEWEST_VERSION } else { Self::VERSION }
    }

    /// Keeps the number of columns and whether NaN [propagates](BasicStatistics::propagate_nan). Names come from the
    /// tables.
    fn new_like(&self) -> Result<Self> {
        let mut empty = Self::new(self.columns.len())?;
        for (empty, column) in empty.columns.iter_mut().zip(&self.columns) {
            empty.propagates_nan = column.propagates_nan;
        }
        Ok(empty)
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        same_count(self.columns.len(), rows.column_count())?;
        self.merge(&Self::compute(rows)?)
    }

    /// Processes a sparse table in a single call, which reads only its stored values.
    fn compute_over(&self, table: &dyn NumericTable) -> Result<Self> {
        self.compute_hooked(table, Hook::default())
    }

    fn compute_over_with_progress(
        &self,
        table: &dyn NumericTable,
        hook: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Result<Self> {
        self.compute_hooked(table, Hook::new(hook))
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(&self.columns[..])
    }
}

impl BasicStatistics {
    fn compute_hooked(&self, table: &dyn NumericTable, hook: Hook) -> Result<Self> {
        if sparse_of(table).is_none() {
            return in_units(self, table, &hook);
        }
        let mut all = self.new_like()?;
        same_count(all.columns.len(), table.column_count())?;
        all.merge(&Self::compute_with(table, StatisticsOptions::of_hook(hook))?)?;
        Ok(all)
    }
}

impl Partial for Histogram {
    const NAME: &'static str = "histogram";
    const VERSION: u32 = 2; // since they have the names of columns
    const NEWEST_VERSION: u32 = 3; // since values may be missing

    fn version(&self) -> u32 {
        if self.per_column().iter().any(|column| column.missing_count() > 0) {
            Self::NEWEST_VERSION
        } else {
            Self::VERSION
        }
    }

    /// Keeps the bins.
    fn new_like(&self) -> Result<Self> {
        self.without_rows()
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.add_block(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        self.per_column().iter().map(|column| size_of_val(column.counts()) + size_of_val(column)).sum()
    }
}

impl Partial for QuantileSketch {
    const NAME: &'static str = "quantile-sketch";
    const VERSION: u32 = 2; // since columns have names
    const NEWEST_VERSION: u32 = 3; // since values may be missing

    fn version(&self) -> u32 {
        if self.has_missing() { Self::NEWEST_VERSION } else { Self::VERSION }
    }

    /// Keeps the number of columns and the capacity.
    fn new_like(&self) -> Result<Self> {
        self.without_rows()
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.add_block(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        self.size_of_levels()
    }
}

impl Partial for GroupStatistics {
    const NAME: &'static str = "group-statistics";
    const VERSION: u32 = 2; // since they have all columns
    const NEWEST_VERSION: u32 = 3; // since values may be missing

    fn version(&self) -> u32 {
        if self.has_missing() { Self::NEWEST_VERSION } else { Self::VERSION }
    }

    /// Keeps the numbers of columns and categories and the column that holds the category. Names come from the tables.
    fn new_like(&self) -> Result<Self> {
        self.without_rows()
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.update_with(rows, &StatisticsOptions::new())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        self.size_of_statistics()
    }
}
