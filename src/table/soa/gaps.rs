//! Columns with missing values: which values are missing, reading around them, and writing over them.
//!
//! A column without missing values has no bitmap, and costs nothing. The value stored under a gap is unspecified: it is
//! never read, compared or checked. Reads convert all stored values, then overwrite the missing ones with NaN, so rows
//! are read as fast as without gaps.
//! Invariant: a column with a bitmap is nullable in the dictionary, and its bitmap has one bit for each row.

use std::ops::Range;

use super::SoaNumericTable;
use crate::array::Validity;
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::room::with_room;
use crate::base::value::AnyValue;
use crate::convert::kernel::{self, OldValues, Origin};
use crate::convert::{ConversionPolicy, WriteRule};
use crate::table::{Lend, NumericTable, PieceMut, Region, TableDescription, Target, tiling};
use crate::window::{AnySlice, AnyWindow};

/// The number of new values that are looked at for NaN at a time.
const FLAGS: usize = 1024;

/// The bitmaps of the columns of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// One for each column, or empty if no column has one.
    of_column: Vec<Option<Validity>>,
}

impl Gaps {
    /// Returns the bitmap of a column, if any value is missing.
    pub(super) fn of(&self, column: usize) -> Option<&Validity> {
        self.of_column.get(column)?.as_ref().filter(|validity| validity.has_missing())
    }

    /// Returns whether no value of the given columns is missing.
    #[inline]
    pub(super) fn are_none_in(&self, columns: Range<usize>) -> bool {
        self.of_column.is_empty() || columns.into_iter().all(|column| self.of(column).is_none())
    }

    /// Replaces the bitmap of a column. Fails only if there is not enough memory for a list of `columns` bitmaps, and
    /// then changes nothing.
    pub(super) fn set(&mut self, columns: usize, column: usize, validity: Option<Validity>) -> Result<()> {
        let validity = validity.filter(Validity::has_missing);
        if validity.is_none() && self.of_column.len() <= column {
            return Ok(());
        }
        let missing = columns.saturating_sub(self.of_column.len());
        let bytes = columns.saturating_mul(size_of::<Option<Validity>>());
        self.of_column.try_reserve(missing).map_err(|_| Error::out_of_memory(bytes))?;
        self.of_column.resize(columns.max(self.of_column.len()), None);
        self.of_column[column] = validity;
        Ok(())
    }

    /// Removes the bitmap of a column.
    pub(super) fn clear(&mut self, column: usize) {
        if let Some(validity) = self.of_column.get_mut(column) {
            *validity = None;
        }
    }

    /// Removes a column. Later columns move up by one.
    pub(super) fn remove(&mut self, column: usize) {
        if column < self.of_column.len() {
            self.of_column.remove(column);
        }
    }

    /// Returns the bitmaps for another number of rows. New rows are present.
    pub(super) fn resized(&self, rows: usize) -> Result<Self> {
        let mut of_column = with_room(self.of_column.len())?;
        for validity in &self.of_column {
            let validity = validity.as_ref().map(|validity| validity.resized(rows, true)).transpose()?;
            of_column.push(validity.filter(Validity::has_missing));
        }
        Ok(Self { of_column })
    }
}

/// What a write does to a run of rows of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// The values were missing, and stay so.
    Nothing,
    /// The values become missing.
    Remove,
    /// The values were missing and are written, whatever is stored under the gap.
    Add,
    /// The values were present and are written.
    Write,
}

impl SoaNumericTable {
    /// Returns the first missing value of a region in row-major order, as an error.
    pub(super) fn check_present(&self, region: &Region) -> Result<()> {
        let mut first = None;
        for column in region.columns.clone() {
            let row = self.gaps.of(column).and_then(|validity| validity.first_missing(region.rows.clone()));
            first = first.into_iter().chain(row.map(|row| (row, column))).min();
        }
        first.map_or(Ok(()), |(row, column)| Err(Error::new(ErrorKind::MissingValue { row, column })))
    }

    /// Reads a region with missing values.
    pub(super) fn read_with_gaps(&self, region: &Region, target: Target<'_>) -> Result<()> {
        let Target { mut values, policy, old } = target;
        let element = values.element_type();
        region.columns.clone().try_for_each(|column| self.stored(column).map(drop))?;
        let present = if element.is_float() { Ok(()) } else { self.check_present(region) };
        if present.is_ok() && !element.is_float() {
            return self.read_stored(region, Target { values, policy, old });
        }
        // Of a missing value and one that is refused, the first one is reported.
        let mut checked = present;
        if policy != ConversionPolicy::Saturate {
            let check = |column| self.check_present_values(column, &region.rows, element, policy);
            checked = region.columns.clone().map(check).fold(checked, tiling::earlier);
        }
        checked?;
        let target = Target { values: values.reborrow(), policy: ConversionPolicy::Saturate, old: OldValues::Lost };
        self.read_stored(region, target)?;
        for column in region.columns.clone() {
            if let Some(validity) = self.gaps.of(column) {
                kernel::overlay_missing(&mut values, column - region.columns.start, validity, region.rows.start);
            }
        }
        Ok(())
    }

    /// Checks that the present values of some rows of a column convert under a policy.
    fn check_present_values(
        &self,
        column: usize,
        rows: &Range<usize>,
        element: ElementType,
        policy: ConversionPolicy,
    ) -> Result<()> {
        let stored = self.stored(column)?.as_slice();
        let check = |rows: Range<usize>| {
            let origin = Origin { row: rows.start, column };
            let values = stored.range(rows);
            kernel::check(AnyWindow::of_rows(values, values.len(), 1), element, policy, origin)
        };
        let Some(validity) = self.gaps.of(column) else { return check(rows.clone()) };
        let here = validity.slice(rows.clone())?;
        let mut runs = here.runs().filter(|(_, is_present)| *is_present);
        runs.try_for_each(|(run, _)| check(rows.start + run.start..rows.start + run.end))
    }

    /// Calls `work` with the runs of rows of a column that a write treats alike. Rows count from the first one of the
    /// new values, which are one column.
    fn for_each_change(
        &self,
        column: usize,
        rows: &Range<usize>,
        new: AnyWindow<'_>,
        mut work: impl FnMut(Range<usize>, Change) -> Result<()>,
    ) -> Result<()> {
        let stored = self.column_type(column)?;
        let makes_gaps = self.dictionary.is_nullable(column) && !stored.is_float();
        let here = self.gaps.of(column).map(|validity| validity.slice(rows.clone())).transpose()?;
        if here.is_none() && !(makes_gaps && new.element_type().is_float()) {
            return work(0..rows.len(), Change::Write);
        }
        let mut run = (0..0, Change::Nothing);
        let mut add = |rows: Range<usize>, change| {
            if run.1 == change && run.0.end == rows.start {
                run.0.end = rows.end;
                return Ok(());
            }
            let (done, last) = std::mem::replace(&mut run, (rows, change));
            if done.is_empty() { Ok(()) } else { work(done, last) }
        };
        let mut flags = [false; FLAGS];
        let mut each = |rows: Range<usize>, is_present: bool| -> Result<()> {
            for start in rows.clone().step_by(FLAGS) {
                let flags = &mut flags[..FLAGS.min(rows.end - start)];
                kernel::mark_nan(new.cut(start..start + flags.len(), 0..1), flags);
                let mut first = start;
                for run in flags.chunk_by(PartialEq::eq) {
                    let rows = first..first + run.len();
                    first = rows.end;
                    add(
                        rows,
                        match (is_present, run[0]) {
                            (true, true) if makes_gaps => Change::Remove,
                            (true, _) => Change::Write,
                            (false, true) => Change::Nothing,
                            (false, false) => Change::Add,
                        },
                    )?;
                }
            }
            Ok(())
        };
        match &here {
            Some(here) => here.runs().try_for_each(|(rows, is_present)| each(rows, is_present))?,
            None => each(0..rows.len(), true)?,
        }
        let (last, change) = run;
        if last.is_empty() { Ok(()) } else { work(last, change) }
    }

    /// Returns whether a refused write may make gaps: whether NaN was refused, and a column is nullable.
    pub(super) fn may_make_gaps(&self, error: &Error) -> bool {
        let is_nan = |value: AnyValue| value.convert::<f64>(ConversionPolicy::Saturate).is_ok_and(f64::is_nan);
        matches!(error.kind(), ErrorKind::ValueNotRepresentable { value, .. } if is_nan(*value))
            && self.dictionary.has_nullable()
    }

    /// Checks that values may be written into a region. Missing values are neither compared nor checked.
    pub(super) fn check_write_with_gaps(&self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        region.check(self.shape())?;
        let new = tiling::new_values(region, values)?;
        let check_column = |column: usize| {
            let stored = self.stored(column)?.as_slice();
            let new = new.cut(0..new.rows(), column - region.columns.start..column - region.columns.start + 1);
            self.for_each_change(column, &region.rows, new, |run, change| {
                let rule = match change {
                    Change::Nothing | Change::Remove => return Ok(()),
                    Change::Add => WriteRule { keep_unchanged: false, ..rule },
                    Change::Write => rule,
                };
                let rows = region.rows.start + run.start..region.rows.start + run.end;
                let origin = Origin { row: rows.start, column };
                let old = stored.range(rows);
                kernel::check_write(AnyWindow::of_rows(old, old.len(), 1), new.cut(run, 0..1), rule, origin)
            })
        };
        region.columns.clone().map(check_column).fold(Ok(()), tiling::earlier)
    }

    /// Makes the memory of some columns exclusive, so that writing them cannot fail.
    pub(super) fn own_columns(&mut self, columns: Range<usize>) -> Result<()> {
        self.check_block_writable()?; // before any column is copied
        columns.into_iter().try_for_each(|column| self.stored_mut(column)?.need_mutable_data().map(drop))
    }

    /// Writes values into a region, of which some are or become missing, all or nothing.
    pub(super) fn write_with_gaps(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        self.check_write_with_gaps(region, values, rule)?;
        if region.shape().is_empty() {
            return Ok(());
        }
        let new = tiling::new_values(region, values)?;
        // The new bitmaps first: nothing fails after a value is written.
        let mut bitmaps = Vec::new();
        for column in region.columns.clone() {
            let new = new.cut(0..new.rows(), column - region.columns.start..column - region.columns.start + 1);
            let (mut validity, mut is_changed) = (self.gaps.of(column).cloned(), false);
            self.for_each_change(column, &region.rows, new, |run, change| {
                let rows = region.rows.start + run.start..region.rows.start + run.end;
                let is_present = match change {
                    Change::Nothing | Change::Write => return Ok(()),
                    Change::Remove => false,
                    Change::Add => true,
                };
                is_changed = true;
                let validity = match &mut validity {
                    Some(validity) => validity,
                    none => none.insert(Validity::all_present(self.row_count)?),
                };
                validity.fill(rows, is_present)
            })?;
            if is_changed {
                bitmaps.try_reserve(1).map_err(|_| Error::out_of_memory(size_of::<Validity>()))?;
                bitmaps.push((column, validity));
            }
        }
        self.own_columns(region.columns.clone())?;
        let mut gaps = self.gaps.clone();
        for (column, validity) in bitmaps {
            gaps.set(self.columns.len(), column, validity)?;
        }
        for column in region.columns.clone() {
            let new = new.cut(0..new.rows(), column - region.columns.start..column - region.columns.start + 1);
            let mut runs = Vec::new();
            self.for_each_change(column, &region.rows, new, |run, change| {
                match change {
                    Change::Nothing | Change::Remove => {}
                    Change::Add => runs.push((run, WriteRule { keep_unchanged: false, ..rule })),
                    Change::Write => runs.push((run, rule)),
                }
                Ok(())
            })?;
            for (run, rule) in runs {
                let stored = PieceMut::of_column(column, self.stored_mut(column)?.need_mutable_data()?);
                let rows = region.rows.start + run.start..region.rows.start + run.end;
                let Some(window) = stored.into_window_of(&Region { rows, columns: column..column + 1 }) else {
                    continue;
                };
                kernel::write_checked(window, new.cut(run, 0..1), rule);
            }
        }
        self.gaps = gaps;
        Ok(())
    }

    /// Sets which of some consecutive rows of a column are present, from `first_row` on.
    pub(super) fn set_rows_validity(&mut self, column: usize, first_row: usize, validity: &Validity) -> Result<()> {
        self.stored(column)?;
        let rows = first_row..first_row.saturating_add(validity.len());
        Region { rows: rows.clone(), columns: column..column + 1 }.check(self.shape())?;
        if !validity.has_missing() && self.gaps.of(column).is_none() {
            return Ok(());
        }
        let new = match self.gaps.of(column) {
            _ if rows == (0..self.row_count) => validity.clone(),
            Some(old) => {
                let mut new = old.clone();
                new.copy_from(first_row, validity)?;
                new
            }
            None => {
                let mut new = Validity::all_present(self.row_count)?;
                new.copy_from(first_row, validity)?;
                new
            }
        };
        let mut gaps = self.gaps.clone();
        gaps.set(self.columns.len(), column, Some(new))?;
        self.dictionary.set_nullable(column, true)?;
        self.gaps = gaps;
        Ok(())
    }
}
