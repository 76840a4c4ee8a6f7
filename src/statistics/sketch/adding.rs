//! Adding rows to sketches: value by value if they are few, and otherwise by merging a sketch of each group of rows.

use std::ops::Range;

use super::QuantileSketch;
use crate::base::count::{rows_after, same_count};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::parallel::in_order;
use crate::base::range::cut;
use crate::base::room::filled;
use crate::statistics::GROUP_ROWS;
use crate::statistics::StatisticsOptions;
use crate::statistics::block::BLOCK_ROWS;
use crate::statistics::blocks::{TableSource, Work, check_names, take_names};
use crate::statistics::levels::Levels;
use crate::table::{NumericTable, Region};

/// Number of columns that are processed together: one cache line of each row.
const PANEL: usize = 8;
/// Number of sketches of some columns of a group of rows, about 1 MiB each, that wait to be merged.
const HELD: usize = 64;

impl QuantileSketch {
    /// Adds few rows of the caller's memory, value by value.
    pub(super) fn add_few(&mut self, work: &Work<'_>) -> Result<()> {
        let (shape, rows) = (work.shape, rows_after(self.rows, work.shape.rows as u64)?);
        for column in &mut self.columns {
            column.reserve(shape.rows as u64)?;
        }
        // Nothing fails after the first block: either the caller's rows are all lent, or this block, the longest,
        // allocates the buffer. Every value can be converted to `f64`.
        let mut buffer = Vec::new();
        for rows in cut(0..shape.rows, BLOCK_ROWS) {
            let region = Region { rows, columns: 0..shape.columns };
            add_rows(&mut self.columns, work.source.read(&region, &mut buffer)?);
        }
        self.rows = rows;
        Ok(())
    }

    /// Adds the rows of a table. If they are few, reads them first and adds value by value.
    ///
    /// # Errors
    /// The errors of [`update_with`](Self::update_with).
    pub(in crate::statistics) fn add_block(&mut self, table: &dyn NumericTable) -> Result<()> {
        check_names(self.dictionary.as_ref(), table)?;
        let (source, options) = (TableSource(table), StatisticsOptions::new());
        let work = Work::on_columns(self.columns.len(), table, &source, &options)?;
        match work.are_few() && !work.shape.is_empty() {
            _ if work.has_missing() => self.add_columns(&work),
            true => self.update_values(work.read_all(&mut Vec::new())?),
            false => self.add_work(&work),
        }?;
        take_names(&mut self.dictionary, table, self.columns.len());
        Ok(())
    }

    /// Adds the rows of a table with missing values, each column as if it were a table of the present values.
    fn add_columns(&mut self, work: &Work<'_>) -> Result<()> {
        let (columns, rows) = (self.columns.len(), rows_after(self.rows, work.shape.rows as u64)?);
        let found = work.by_column(|part| match part.shape.rows <= GROUP_ROWS {
            true => part.columns()?.into_iter().map(|values| Ok(Addition::Values(values, part.missing))).collect(),
            false => Ok(self.levels_of(part)?.into_iter().map(Addition::Levels).collect()),
        })?;
        same_count(columns, found.len())?;
        let mut merged = filled(columns, None)?; // nothing fails after a value is added
        for ((mine, found), merged) in self.columns.iter_mut().zip(&found).zip(&mut merged) {
            match found {
                Addition::Values(values, _) => mine.reserve(values.len() as u64)?,
                Addition::Levels(theirs) => *merged = Some(mine.merged(theirs)?),
            }
        }
        for ((mine, found), merged) in self.columns.iter_mut().zip(&found).zip(merged) {
            if let Some(merged) = merged {
                *mine = merged;
            }
            if let Addition::Values(values, missing) = found {
                mine.missing += missing;
                values.iter().for_each(|&value| mine.add(value));
            }
        }
        self.rows = rows;
        Ok(())
    }

    /// Adds many rows: computes a sketch of each group of rows and merges the sketches in order.
    pub(super) fn add_work(&mut self, work: &Work<'_>) -> Result<()> {
        let (shape, rows) = (work.shape, rows_after(self.rows, work.shape.rows as u64)?);
        if shape.is_empty() {
            self.rows = rows;
            return Ok(());
        }
        let all = work.by_column(|part| self.levels_of(part))?;
        let found = Self { capacity: self.capacity, columns: all, rows: shape.rows as u64, dictionary: None };
        if self.rows == 0 {
            *self = Self { dictionary: self.dictionary.take(), ..found }; // a table without rows may have given names
            return Ok(());
        }
        self.merge(&found)
    }

    /// Computes a sketch of each group of rows and merges the sketches in order.
    fn levels_of(&self, work: &Work<'_>) -> Result<Vec<Levels>> {
        let shape = work.shape;
        let mut all = filled(shape.columns, Levels::new(self.capacity))?;
        let panels = || cut(0..shape.columns, PANEL);
        let pieces = cut(0..shape.rows, GROUP_ROWS).flat_map(|rows| panels().map(move |panel| (rows.clone(), panel)));
        let bytes = shape.element_count()?.saturating_mul(8 * size_of::<f64>()); // values are sorted
        let group = |(rows, columns): (Range<usize>, Range<usize>)| {
            let mut found = filled(columns.len(), Levels::new(self.capacity))?;
            found.iter_mut().try_for_each(|column| column.reserve(rows.len() as u64))?;
            let mut buffer = Vec::new();
            for rows in cut(rows.clone(), BLOCK_ROWS) {
                let region = Region { rows, columns: columns.clone() };
                add_rows(&mut found, work.source.read(&region, &mut buffer)?);
            }
            work.done(rows.len(), columns.clone());
            Ok((columns.start, found))
        };
        in_order(pieces, bytes, HELD, group, |(start, found): (usize, Vec<Levels>)| {
            for (mine, theirs) in all[start..].iter_mut().zip(&found) {
                *mine = mine.merged(theirs)?;
            }
            Ok(())
        })?;
        all.iter_mut().for_each(|column| column.missing = work.missing);
        Ok(all)
    }
}

/// The values to add to the sketch of a column.
enum Addition {
    /// A few values, and the number of missing ones.
    Values(Vec<f64>, u64),
    Levels(Levels),
}

/// Adds rows of values to the sketches of their columns.
fn add_rows(sketches: &mut [Levels], values: &[f64]) {
    let columns = sketches.len();
    for (column, sketch) in sketches.iter_mut().enumerate() {
        let own = values.get(column..).unwrap_or_default().iter().step_by(columns);
        own.for_each(|&value| sketch.add(value));
    }
}
