//! Traversal of a table: by groups of rows, several in parallel, whose results are merged in order.
//!
//! The division depends only on the shape, and results are merged from first to last. Results therefore depend neither
//! on the number of threads nor on the layout. All statistics of this module are computed this way.

use std::ops::Range;
use std::sync::Arc;

use super::options::StatisticsOptions;
use super::present::{ColumnsFrom, PresentRows, PresentValues, columns_with_missing, complete_rows};
use crate::base::count::same_count;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::progress::Meter;
use crate::base::room::{first_of, with_room};
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::Origin;
use crate::dictionary::{DataDictionary, Feature};
use crate::table::{ColumnKey, DataLayout, NumericTable, Region, TableView, lent_or_read, lent_slice, row_bytes};
use crate::window::{AnySlice, AnySliceMut};

/// Largest number of values that are read together before they are added to a result.
const FEW_VALUES: usize = 4 << 20;

/// Returns room for the values of a region at the front of a buffer.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(super) fn room_for<'a>(region: &Region, buffer: &'a mut Vec<f64>) -> Result<&'a mut [f64]> {
    first_of(buffer, region.shape().element_count()?)
}

/// A source of values.
pub(super) trait ValueSource: Sync {
    /// Returns the values of a region, row by row: borrowed from the table if possible. Otherwise they are copied to
    /// the front of the buffer, which grows as needed. The next call overwrites it.
    fn read<'a>(&'a self, region: &Region, buffer: &'a mut Vec<f64>) -> Result<&'a [f64]>;

    /// Borrows the values of a region from the table if they are of the given type and contiguous, row by row.
    fn lend(&self, region: &Region, element: ElementType) -> Result<Option<AnySlice<'_>>>;
}

pub(super) struct TableSource<'t>(pub(super) &'t dyn NumericTable);

impl ValueSource for TableSource<'_> {
    fn read<'a>(&'a self, region: &Region, buffer: &'a mut Vec<f64>) -> Result<&'a [f64]> {
        lent_or_read(self.0, region, || room_for(region, buffer))
    }

    fn lend(&self, region: &Region, element: ElementType) -> Result<Option<AnySlice<'_>>> {
        lent_slice(self.0, region, element)
    }
}

/// Rows in memory that were passed to `update_values`.
pub(super) struct ViewSource<'t, U>(pub(super) TableView<'t, U>);

impl<U: Element> ValueSource for ViewSource<'_, U> {
    fn read<'a>(&'a self, region: &Region, buffer: &'a mut Vec<f64>) -> Result<&'a [f64]> {
        let view = self.0.region(region)?;
        if let Some(values) = view.as_slice().and_then(|values| AnySlice::new(values).downcast::<f64>()) {
            return Ok(values);
        }
        let room = room_for(region, buffer)?;
        view.read_over(AnySliceMut::new(&mut *room), ConversionPolicy::Saturate, Origin::default())?;
        Ok(room)
    }

    fn lend(&self, region: &Region, element: ElementType) -> Result<Option<AnySlice<'_>>> {
        let values = self.0.region(region)?.as_slice().map(AnySlice::new);
        Ok(values.filter(|values| values.element_type() == element))
    }
}

/// Rows and columns of a table, or rows in memory, and the progress of the work on them.
pub(super) struct Work<'t> {
    pub(super) source: &'t dyn ValueSource,
    pub(super) shape: Shape,
    /// The column of the table that is the first one here.
    pub(super) first: usize,
    /// Number of rows that are left out because values are missing.
    pub(super) missing: u64,
    /// The columns with missing values. The source reads these as NaN.
    gaps: Vec<PresentValues<'t>>,
    meter: Option<Arc<Meter>>,
    /// Number of bytes of a row in the types of its columns, and of the columns, for progress reports.
    row_bytes: u64,
    all_columns: usize,
}

impl<'t> Work<'t> {
    /// Begins work on a table.
    ///
    /// # Errors
    /// Those of finding the missing values.
    pub(super) fn on_table(
        table: &'t dyn NumericTable,
        source: &'t TableSource<'t>,
        options: &StatisticsOptions,
    ) -> Result<Self> {
        Self::of_shape(table.shape(), table, source, options)
    }

    /// Begins work on a table that must have the given number of columns. A user-defined table may change its answer.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`]; those of finding the missing values.
    pub(super) fn on_columns(
        expected: usize,
        table: &'t dyn NumericTable,
        source: &'t TableSource<'t>,
        options: &StatisticsOptions,
    ) -> Result<Self> {
        let shape = table.shape();
        same_count(expected, shape.columns)?;
        Self::of_shape(shape, table, source, options)
    }

    fn of_shape(
        shape: Shape,
        table: &'t dyn NumericTable,
        source: &'t TableSource<'t>,
        options: &StatisticsOptions,
    ) -> Result<Self> {
        let gaps = columns_with_missing(table, shape)?;
        Ok(Self { gaps, ..Self::of_source(source, shape, table, options) })
    }

    fn of_source(
        source: &'t dyn ValueSource,
        shape: Shape,
        table: &dyn NumericTable,
        options: &StatisticsOptions,
    ) -> Self {
        let row_bytes = row_bytes(table);
        let total = (shape.rows as u64).saturating_mul(row_bytes);
        let meter = Some(Arc::new(Meter::start(options.hook(), total)));
        let all_columns = shape.columns;
        Self { source, shape, first: 0, missing: 0, gaps: Vec::new(), meter, row_bytes, all_columns }
    }

    /// Calls `of` with the complete rows of a table: those without a missing value.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the table does not have `expected` columns; those of finding the missing
    /// values, and of `of`.
    pub(super) fn with_complete_rows<R>(
        table: &dyn NumericTable,
        expected: Option<usize>,
        options: &StatisticsOptions,
        of: impl FnOnce(&Work<'_>) -> Result<R>,
    ) -> Result<R> {
        let shape = table.shape();
        expected.map_or(Ok(()), |expected| same_count(expected, shape.columns))?;
        let Some(complete) = complete_rows(table, shape)? else {
            return of(&Work::of_source(&TableSource(table), shape, table, options));
        };
        let (rows, missing) = (complete.rows.count(), complete.rows.missing());
        let work = Work::of_source(&complete, shape, table, options);
        let work = Work { shape: Shape { rows, ..shape }, missing, ..work };
        let found = of(&work)?;
        work.missing_done();
        Ok(found)
    }

    /// Returns whether values are missing.
    pub(super) fn has_missing(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// Returns the columns with missing values, and their present rows.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (usize, &PresentRows)> + Clone {
        self.gaps.iter().map(|gap| (gap.column, &gap.rows))
    }

    /// Computes a result of each column. `of` is called with columns without missing values, and with the present
    /// values of single columns, as if there were no others.
    ///
    /// # Errors
    /// Those of `of`.
    pub(super) fn by_column<R: Send>(&self, of: impl Fn(&Work<'_>) -> Result<Vec<R>> + Sync) -> Result<Vec<R>> {
        if self.gaps.is_empty() {
            return of(self);
        }
        let (mut parts, mut start) = (Vec::new(), 0);
        for gap in &self.gaps {
            parts.extend((start < gap.column).then_some((start..gap.column, None)));
            parts.push((gap.column..gap.column + 1, Some(gap)));
            start = gap.column + 1;
        }
        parts.extend((start < self.shape.columns).then_some((start..self.shape.columns, None)));
        let of_part = |(columns, gap): (Range<usize>, Option<&PresentValues<'_>>)| {
            let Some(gap) = gap else {
                let source = ColumnsFrom { source: self.source, first: columns.start };
                return of(&self.part(&source, self.shape.rows, columns, 0));
            };
            let part = self.part(gap, gap.rows.count(), columns, gap.rows.missing());
            let found = of(&part)?;
            part.missing_done();
            Ok(found)
        };
        let bytes = self.shape.element_count()?.saturating_mul(size_of::<f64>());
        let found: Vec<Result<Vec<R>>> = match parallel::task_count(bytes) {
            1 => parts.into_iter().map(of_part).collect(),
            _ => parallel::map(parts, of_part),
        };
        let mut all = with_room(self.shape.columns)?;
        for columns in found {
            all.extend(columns?);
        }
        Ok(all)
    }

    /// Returns the work on some columns of the same table.
    fn part<'p>(&self, source: &'p dyn ValueSource, rows: usize, columns: Range<usize>, missing: u64) -> Work<'p> {
        Work {
            source,
            shape: Shape { rows, columns: columns.len() },
            first: self.first + columns.start,
            missing,
            gaps: Vec::new(),
            meter: self.meter.clone(),
            row_bytes: self.row_bytes,
            all_columns: self.all_columns,
        }
    }

    /// Reads all values, row by row, so that nothing can fail while they are added to a result. Values that cannot be
    /// borrowed are copied to `buffer`.
    ///
    /// # Errors
    /// The errors of reading the table; [`ErrorKind::OutOfMemory`].
    pub(super) fn read_all<'v>(&'v self, buffer: &'v mut Vec<f64>) -> Result<&'v [f64]> {
        self.source.read(&Region::whole(self.shape), buffer)
    }

    /// Reads the values of each column.
    ///
    /// # Errors
    /// Those of [`read_all`](Self::read_all).
    pub(super) fn columns(&self) -> Result<Vec<Vec<f64>>> {
        let (mut buffer, columns) = (Vec::new(), self.shape.columns);
        let values = self.read_all(&mut buffer)?;
        let mut all = with_room(columns)?;
        for column in 0..columns {
            let mut own = with_room(self.shape.rows)?;
            own.extend(values.iter().skip(column).step_by(columns));
            all.push(own);
        }
        Ok(all)
    }

    /// Returns whether the values are few enough to be read together: up to 32 MiB.
    pub(super) fn are_few(&self) -> bool {
        self.shape.element_count().is_ok_and(|count| count <= FEW_VALUES)
    }

    /// Reports that the given number of rows of the given columns is done.
    pub(super) fn done(&self, rows: usize, columns: Range<usize>) {
        let Some(meter) = &self.meter else { return };
        // Columns have about the same size: the remainder is reported with the last of them.
        let before = |column: usize| {
            let column = (self.first + column) as u128;
            (u128::from(self.row_bytes) * column).checked_div(self.all_columns as u128).unwrap_or(0)
        };
        let bytes = (before(columns.end) - before(columns.start)).saturating_mul(rows as u128);
        meter.add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// Reports that the given number of complete rows is done.
    pub(super) fn rows_done(&self, rows: usize) {
        self.done(rows, 0..self.shape.columns);
    }

    /// Reports that the rows that are left out are done.
    fn missing_done(&self) {
        self.rows_done(usize::try_from(self.missing).unwrap_or(usize::MAX));
    }
}

/// Calls `work` with a slice of complete rows as a source.
///
/// # Errors
/// [`ErrorKind::NotWholeRows`]; the errors of `work`.
pub(super) fn with_rows<U: Element, R>(
    rows: &[U],
    columns: usize,
    work: impl FnOnce(&Work<'_>) -> Result<R>,
) -> Result<R> {
    let count = rows.len().checked_div(columns).unwrap_or(0);
    if count * columns != rows.len() {
        return Err(Error::new(ErrorKind::NotWholeRows { values: rows.len(), columns }));
    }
    let shape = Shape { rows: count, columns };
    let source = ViewSource(TableView::new(rows, shape, DataLayout::RowMajor)?);
    let gaps = Vec::new();
    work(&Work { source: &source, shape, first: 0, missing: 0, gaps, meter: None, row_bytes: 0, all_columns: columns })
}

/// Returns the dictionary of a table, without nullable columns, so that results keep the form that older libraries read;
/// `None` if a user-defined table has a dictionary that does not fit it.
pub(super) fn dictionary_of(table: &dyn NumericTable, columns: usize) -> Option<DataDictionary> {
    let dictionary = Some(table.dictionary()).filter(|dictionary| dictionary.len() == columns)?;
    Some(dictionary.without_nullable().unwrap_or_else(|_| dictionary.clone())) // without memory for another one
}

/// Checks that no column of a table has the name of another column of a result that keeps only names, so that labels and
/// units are not compared.
///
/// # Errors
/// [`ErrorKind::UnequalTables`](crate::ErrorKind::UnequalTables), with the number 1;
/// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
pub(super) fn check_names(mine: Option<&DataDictionary>, table: &dyn NumericTable) -> Result<()> {
    match mine {
        Some(mine) if mine.len() == table.dictionary().len() => mine.check_names(table.dictionary()),
        _ => Ok(()),
    }
}

/// Takes the names of a table's columns if the table has names and a result, with this dictionary, does not. No other
/// metadata is kept: the same values make the same result for every element type.
pub(super) fn take_names(mine: &mut Option<DataDictionary>, table: &dyn NumericTable, columns: usize) {
    if mine.is_none() {
        let named = dictionary_of(table, columns).filter(|found| found.names().any(|name| name.is_some()));
        *mine = named.map(|named| names_of(Some(&named), columns));
    }
}

/// Checks that the columns of other results, or of a table, match the columns of these results: none has the name or
/// the labels of a different column, or times in a different unit. Columns without metadata are not checked.
///
/// # Errors
/// [`ErrorKind::UnequalTables`](crate::ErrorKind::UnequalTables), with the number 1.
pub(super) fn check_addition(mine: Option<&DataDictionary>, theirs: Option<&DataDictionary>) -> Result<()> {
    match mine.zip(theirs) {
        Some((mine, theirs)) if mine.len() == theirs.len() => mine.check_addition(theirs),
        _ => Ok(()),
    }
}

/// Returns the index of a result's column, given by number or name; `dictionary` holds the names, if there are any.
///
/// # Errors
/// [`ErrorKind::ColumnOutOfRange`](crate::ErrorKind::ColumnOutOfRange),
/// [`ErrorKind::UnknownName`](crate::ErrorKind::UnknownName).
pub(super) fn column_by(key: impl ColumnKey, dictionary: Option<&DataDictionary>, columns: usize) -> Result<usize> {
    match dictionary.filter(|dictionary| dictionary.len() == columns) {
        Some(dictionary) => key.column_in(dictionary),
        None => key.column_in(&DataDictionary::uniform(Feature::new(ElementType::F64), columns)),
    }
}

/// Checks that a deserialized dictionary describes the given number of columns.
pub(super) fn fits(dictionary: Option<&DataDictionary>, columns: usize) -> std::result::Result<(), String> {
    match dictionary.map(DataDictionary::len) {
        Some(found) if found != columns => {
            Err(format!("the dictionary describes {found} columns instead of {columns}"))
        }
        _ => Ok(()),
    }
}

/// Returns the dictionary of results in `f64`, one for each column that `dictionary` describes, with the column names.
pub(super) fn names_of(dictionary: Option<&DataDictionary>, columns: usize) -> DataDictionary {
    let plain = Feature::new(ElementType::F64);
    match dictionary.filter(|dictionary| dictionary.len() == columns) {
        Some(names) if names.is_uniform() => {
            let name = names.names().next().flatten();
            DataDictionary::uniform(name.map_or(plain.clone(), |name| plain.named(name)), columns)
        }
        Some(names) => names.names().map(|name| name.map_or(plain.clone(), |name| plain.clone().named(name))).collect(),
        None => DataDictionary::uniform(plain, columns),
    }
}
