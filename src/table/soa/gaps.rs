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
use crate::base::parallel;
use crate::base::range;
use crate::base::room::with_room;
use crate::base::value::AnyValue;
use crate::convert::kernel::{self, OldValues, Origin};
use crate::convert::{ConversionPolicy, WriteRule};
use crate::table::{NumericTable, PieceMut, Region, TableDescription, Target, tiling};
use crate::window::{AnyRows, AnySlice, AnyWindow};

/// The size in bytes of a band of rows: half of a second-level cache. Smaller bands, of the first-level cache, take longer:
/// each is a call with its own plan.
const BAND_BYTES: usize = 512 << 10;

/// The smallest number of rows of a band: those of a word of a bitmap.
const MIN_ROWS: usize = 64;

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

    /// Appends rows without gaps to each bitmap. Amortized O(`count` / 64) for each. On an error nothing has changed.
    pub(super) fn append(&mut self, rows: usize, count: usize) -> Result<()> {
        for column in 0..self.of_column.len() {
            if let Some(validity) = &mut self.of_column[column]
                && let Err(error) = validity.append(count, true)
            {
                self.truncate(rows)?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Cuts bitmaps with more rows.
    pub(super) fn truncate(&mut self, rows: usize) -> Result<()> {
        for validity in self.of_column.iter_mut().flatten().filter(|validity| validity.len() > rows) {
            *validity = validity.slice(..rows)?; // shares the bytes
        }
        Ok(())
    }

    /// Returns the bitmap of a column of `rows` rows for changes that do not fail: exclusive, and new if there is none.
    pub(super) fn owned(&mut self, columns: usize, column: usize, rows: usize) -> Result<&mut Validity> {
        if self.of_column.get(column).is_none_or(Option::is_none) {
            let all = Validity::all_present(rows)?;
            let missing = columns.saturating_sub(self.of_column.len());
            let bytes = columns.saturating_mul(size_of::<Option<Validity>>());
            self.of_column.try_reserve(missing).map_err(|_| Error::out_of_memory(bytes))?;
            self.of_column.resize(columns.max(self.of_column.len()), None);
            self.of_column[column] = Some(all);
        }
        let none = || Error::new(ErrorKind::ColumnOutOfRange { column, column_count: columns });
        let validity = self.of_column.get_mut(column).and_then(Option::as_mut).ok_or_else(none)?;
        validity.own()?;
        Ok(validity)
    }
}

/// A run of rows of a column that a write treats alike.
struct Planned {
    column: usize,
    rows: Range<usize>,
    change: Change,
}

/// What a write does to a run of rows of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// The values were missing, and stay so.
    Nothing,
    /// The values become missing.
    Remove,
    /// The values were missing and are written over those under the gap.
    Add,
    /// The values were present and are written.
    Write,
}

impl Change {
    /// Returns whether the rows become present or missing, if they change.
    fn state(self) -> Option<bool> {
        match self {
            Self::Remove => Some(false),
            Self::Add => Some(true),
            Self::Nothing | Self::Write => None,
        }
    }

    /// Returns the rule for writing the values; `None` if none is written.
    fn rule(self, rule: WriteRule) -> Option<WriteRule> {
        match self {
            Self::Nothing | Self::Remove => None,
            Self::Add => Some(WriteRule { keep_unchanged: false, ..rule }),
            Self::Write => Some(rule),
        }
    }
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
        let Target { values, policy, old } = target;
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
        let tasks = parallel::task_count(values.size_in_bytes().saturating_mul(2)); // every value is read and written
        let bands = parallel::cut((region.rows.clone(), values), region.rows.len(), tasks, |(rows, values), count| {
            let middle = rows.start + count;
            let (head, tail) = values.split_at(true, count);
            ((rows.start..middle, head), (middle..rows.end, tail))
        });
        let read = |(rows, values)| self.read_band_with_gaps(&Region { rows, columns: region.columns.clone() }, values);
        parallel::map(bands, read).into_iter().collect()
    }

    /// Reads floating-point values in bands that stay in the second-level cache until their gaps are NaN.
    fn read_band_with_gaps(&self, region: &Region, mut values: AnyRows<'_>) -> Result<()> {
        let width = values.columns();
        let height = (BAND_BYTES / (width * values.element_type().size_in_bytes()).max(1)).max(MIN_ROWS);
        for rows in range::cut(region.rows.clone(), height) {
            let first = rows.start;
            let mut here = values.cut(rows.start - region.rows.start..rows.end - region.rows.start, 0..width);
            let target = Target { values: here.reborrow(), policy: ConversionPolicy::Saturate, old: OldValues::Lost };
            self.read_stored(&Region { rows, columns: region.columns.clone() }, target)?;
            for (column, validity) in region.columns.clone().filter_map(|column| Some((column, self.gaps.of(column)?)))
            {
                kernel::overlay_missing(&mut here, column - region.columns.start, validity, first);
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

    /// Returns whether a write that accepts every value may make gaps: NaN would become 0.
    pub(super) fn may_saturate_gaps(&self, values: AnySlice<'_>, rule: WriteRule) -> bool {
        rule.policy == ConversionPolicy::Saturate && values.element_type().is_float() && self.dictionary.has_nullable()
    }

    /// Returns whether a refused write may make gaps: whether NaN was refused, and a column is nullable.
    pub(super) fn may_make_gaps(&self, error: &Error) -> bool {
        let is_nan = |value: AnyValue| value.convert::<f64>(ConversionPolicy::Saturate).is_ok_and(f64::is_nan);
        matches!(error.kind(), ErrorKind::ValueNotRepresentable { value, .. } if is_nan(*value))
            && self.dictionary.has_nullable()
    }

    /// Plans what a write does to a column. Missing values are neither compared nor checked. On an error the plan is
    /// incomplete.
    fn plan_column(
        &self,
        column: usize,
        rows: &Range<usize>,
        new: AnyWindow<'_>,
        rule: WriteRule,
        plan: &mut Vec<Planned>,
    ) -> Result<()> {
        let stored = self.stored(column)?.as_slice();
        self.for_each_change(column, rows, new, |run, change| {
            let planned = Planned { column, rows: rows.start + run.start..rows.start + run.end, change };
            if let Some(rule) = change.rule(rule) {
                let (old, origin) = (stored.range(planned.rows.clone()), Origin { row: planned.rows.start, column });
                kernel::check_write(AnyWindow::of_rows(old, old.len(), 1), new.cut(run, 0..1), rule, origin)?;
            }
            let bytes = size_of::<Planned>().saturating_mul(plan.len() + 1);
            plan.try_reserve(1).map_err(|_| Error::out_of_memory(bytes))?;
            plan.push(planned);
            Ok(())
        })
    }

    /// Plans a write: the runs of rows of each column, and what happens to them. Checks all values, and makes all memory
    /// that it writes exclusive, so that carrying it out cannot fail.
    fn plan_write(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<Vec<Planned>> {
        region.check(self.shape())?;
        let (new, first) = (tiling::new_values(region, values)?, region.columns.start);
        let (mut plan, mut outcome) = (Vec::new(), Ok(()));
        for column in region.columns.clone() {
            let new = new.cut(0..new.rows(), column - first..column - first + 1);
            outcome = tiling::earlier(outcome, self.plan_column(column, &region.rows, new, rule, &mut plan));
        }
        outcome?;
        let (columns, rows) = (self.columns.len(), self.row_count);
        for changes in plan.chunk_by(|one, next| one.column == next.column) {
            if changes.iter().any(|planned| planned.change.state().is_some()) {
                self.gaps.owned(columns, changes[0].column, rows)?;
            }
        }
        region.columns.clone().try_for_each(|column| self.stored_mut(column)?.need_mutable_data().map(drop))?;
        Ok(plan)
    }

    /// Makes the memory that a write needs exclusive, so that the write cannot fail.
    pub(super) fn prepare_write_with_gaps(
        &mut self,
        region: &Region,
        values: AnySlice<'_>,
        rule: WriteRule,
    ) -> Result<()> {
        self.plan_write(region, values, rule).map(drop)
    }

    /// Writes values into a region in which some are or become missing, all or nothing.
    pub(super) fn write_with_gaps(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        let plan = self.plan_write(region, values, rule)?;
        let new = tiling::new_values(region, values)?;
        let (columns, row_count) = (self.columns.len(), self.row_count);
        for Planned { column, rows, change } in plan {
            let there = Region { rows: rows.clone(), columns: column..column + 1 };
            if let Some(is_present) = change.state() {
                self.gaps.owned(columns, column, row_count)?.fill(rows, is_present)?;
            }
            if let Some(rule) = change.rule(rule)
                && let Some(place) = region.place_of(&there)
                && let Some(window) =
                    PieceMut::of_column(column, self.stored_mut(column)?.need_mutable_data()?).into_window_of(&there)
            {
                kernel::write_checked(window, new.cut(place.rows, place.columns), rule);
            }
        }
        Ok(())
    }

    /// Sets the bitmaps of several nullable columns of a new table, which have one bit for each row. O(columns).
    pub(in crate::table) fn set_gaps(&mut self, gaps: Vec<(usize, Validity)>) -> Result<()> {
        let count = self.columns.len();
        gaps.into_iter().try_for_each(|(column, validity)| self.gaps.set(count, column, Some(validity)))
    }

    /// Sets which of some consecutive rows of a column are present, from `first_row` on.
    pub(super) fn set_rows_validity(&mut self, column: usize, first_row: usize, validity: &Validity) -> Result<()> {
        self.stored(column)?;
        let rows = first_row..first_row.saturating_add(validity.len());
        Region { rows: rows.clone(), columns: column..column + 1 }.check(self.shape())?;
        if !validity.has_missing() && self.gaps.of(column).is_none() {
            return Ok(());
        }
        let (columns, row_count) = (self.columns.len(), self.row_count);
        if !self.dictionary.is_nullable(column) {
            self.dictionary.set_nullable(column, true)?;
        }
        if rows == (0..row_count) {
            return self.gaps.set(columns, column, Some(validity.clone()));
        }
        self.gaps.owned(columns, column, row_count)?.copy_from(first_row, validity)
    }
}
