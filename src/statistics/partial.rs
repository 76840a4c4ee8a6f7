//! Statistics as partial results: computed of some rows at a time, merged, sent and kept as bytes.

use super::{BasicStatistics, Covariance, GroupStatistics, Histogram, QuantileSketch, StatisticsOptions};
use crate::base::error::{Error, Result};
use crate::partial::Partial;
use crate::table::NumericTable;

impl Partial for BasicStatistics {
    const NAME: &'static str = "basic-statistics";

    /// As many columns, and whether NaN [propagates](BasicStatistics::propagate_nan); names are those of the tables.
    fn empty(&self) -> Result<Self> {
        let mut empty = Self::new(self.columns.len())?;
        for (empty, column) in empty.columns.iter_mut().zip(&self.columns) {
            empty.propagates_nan = column.propagates_nan;
        }
        Ok(empty)
    }

    fn update_table(&mut self, rows: &dyn NumericTable) -> Result<()> {
        check_columns(self.columns.len(), rows)?;
        self.merge(&Self::of(rows)?)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(&self.columns[..])
    }
}

impl Partial for Covariance {
    const NAME: &'static str = "covariance";

    /// As many columns; names are those of the tables.
    fn empty(&self) -> Result<Self> {
        Self::new(self.column_count())
    }

    fn update_table(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.add_table(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        self.size_of_sums()
    }
}

impl Partial for Histogram {
    const NAME: &'static str = "histogram";

    /// The same bins.
    fn empty(&self) -> Result<Self> {
        self.without_rows()
    }

    fn update_table(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.add_block(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        self.columns().iter().map(|column| size_of_val(column.counts()) + size_of_val(column)).sum()
    }
}

impl Partial for QuantileSketch {
    const NAME: &'static str = "quantile-sketch";

    /// As many columns, and the same capacity.
    fn empty(&self) -> Result<Self> {
        self.without_rows()
    }

    fn update_table(&mut self, rows: &dyn NumericTable) -> Result<()> {
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

    /// As many columns and categories, which the same column tells; names are those of the tables.
    fn empty(&self) -> Result<Self> {
        self.without_rows()
    }

    fn update_table(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.add_table(rows, &StatisticsOptions::new())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn size_in_bytes(&self) -> usize {
        self.size_of_statistics()
    }
}

fn check_columns(expected: usize, rows: &dyn NumericTable) -> Result<()> {
    match rows.column_count() {
        found if found == expected => Ok(()),
        found => Err(Error::LengthMismatch { expected, found }),
    }
}
