//! Parts of a table, borrowed as tables: a rectangle, or columns in any order.

use std::ops::{Range, RangeBounds};

use super::csr::cells::StoredCells;
use super::joined::depth_with;
use super::lend;
use super::numeric_table::describe;
use super::region::{columns_of, rows_of};
use super::{
    DataLayout, Lend, MemoryStatus, MergedNumericTable, NumericTable, Piece, Region, Shape, TableId, Target, Token,
};
use crate::array::{AnyArray, AnyArrayRef, Validity};
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::dictionary::DataDictionary;
use crate::window::AnySlice;

/// A rectangle of a table, borrowed for reading. Positions in errors are relative to the rectangle.
pub(super) struct TablePart<'t> {
    table: &'t (dyn NumericTable + 't),
    id: TableId,
    /// Invariant: it lay inside the table at construction. A user's kind of table may shrink; calls then return errors.
    region: Region,
    dictionary: DataDictionary,
    depth: usize,
}

impl<'t> TablePart<'t> {
    pub(super) fn new(table: &'t (dyn NumericTable + 't), region: Region) -> Result<Self> {
        region.check(table.shape())?;
        let depth = depth_with(table)?;
        let all = table.dictionary();
        all.check_count(table.shape().columns, || all.uniform_type())?;
        let dictionary = all.part(region.columns.clone())?;
        Ok(Self { table, id: TableId::new(), region, dictionary, depth })
    }

    fn offset(&self) -> (usize, usize) {
        (self.region.rows.start, self.region.columns.start)
    }

    fn there(&self, region: &Region) -> Region {
        region.moved(self.region.rows.start, self.region.columns.start)
    }

    fn back(&self) -> impl Fn(Error) -> Error + use<> {
        let (rows, columns) = self.offset();
        move |error| error.moved_back(rows, columns)
    }
}

impl NumericTable for TablePart<'_> {
    fn shape(&self) -> Shape {
        self.region.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn data_layout(&self) -> DataLayout {
        self.table.data_layout()
    }

    fn data_memory_status(&self) -> MemoryStatus {
        self.table.data_memory_status()
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        if row >= self.region.rows.len() || column >= self.region.columns.len() {
            return Ok(None);
        }
        let (rows, columns) = self.offset();
        let piece = self.table.piece(row + rows, column + columns).map_err(self.back())?;
        Ok(piece.and_then(|piece| piece.within(&self.region)).map(|piece| piece.moved_back(rows, columns)))
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        target.check(region, self.shape())?;
        self.table.read_region(&self.there(region), target).map_err(self.back())
    }

    fn validity(&self, column: usize, rows: Range<usize>) -> Result<Option<Validity>> {
        let region = Region { rows, columns: column..column.saturating_add(1) };
        region.check(self.shape())?;
        let there = self.there(&region);
        self.table.validity(there.columns.start, there.rows).map_err(self.back())
    }

    fn column_array(&self, column: usize, rows: &Range<usize>, token: Token) -> Result<(AnyArray, Option<Validity>)> {
        let region = Region { rows: rows.clone(), columns: column..column.saturating_add(1) };
        region.check(self.shape())?;
        let there = self.there(&region);
        self.table.column_array(there.columns.start, &there.rows, token).map_err(self.back())
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn stored_cells(&self, rows: &Range<usize>, token: Token) -> Option<StoredCells<'_>> {
        let (first, is_whole) = (self.region.rows.start, self.region.columns == (0..self.table.shape().columns));
        let is_inside = is_whole && rows.start <= rows.end && rows.end <= self.region.rows.len();
        if is_inside { self.table.stored_cells(&(first + rows.start..first + rows.end), token) } else { None }
    }
}

/// Lends only for reading: its `lender_mut` is `None`.
impl Lend for TablePart<'_> {
    fn slice_of(&self, region: &Region, element: ElementType) -> Result<Option<AnySlice<'_>>> {
        region.check(self.shape())?;
        lend::slice_of(self.table, &self.there(region), element).map_err(self.back())
    }

    fn array_of(&self, region: &Region, element: ElementType) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        region.check(self.shape())?;
        lend::array_of(self.table, &self.there(region), element).map_err(self.back())
    }
}

impl std::fmt::Debug for TablePart<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        describe("TablePart", self, f)
    }
}

/// Identifies a column of a table: a column number or a name.
pub trait ColumnKey {
    /// Returns the column number.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::ColumnKey};
    /// let dictionary = DataDictionary::from_features([Feature::new(ElementType::F32).named("width")]);
    /// assert_eq!(("width".column_in(&dictionary)?, 0.column_in(&dictionary)?), (0, 0));
    /// assert!("height".column_in(&dictionary).is_err() && 1.column_in(&dictionary).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    fn column_in(&self, dictionary: &DataDictionary) -> Result<usize>;
}

impl ColumnKey for usize {
    fn column_in(&self, dictionary: &DataDictionary) -> Result<usize> {
        let (column, column_count) = (*self, dictionary.len());
        if column < column_count {
            Ok(column)
        } else {
            Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count }))
        }
    }
}

impl ColumnKey for str {
    fn column_in(&self, dictionary: &DataDictionary) -> Result<usize> {
        dictionary.try_index_of(self)
    }
}

impl ColumnKey for String {
    fn column_in(&self, dictionary: &DataDictionary) -> Result<usize> {
        dictionary.try_index_of(self)
    }
}

impl<K: ColumnKey + ?Sized> ColumnKey for &K {
    fn column_in(&self, dictionary: &DataDictionary) -> Result<usize> {
        (**self).column_in(dictionary)
    }
}

/// Borrows the given columns.
pub(super) fn select_columns<'t>(
    table: &'t (dyn NumericTable + 't),
    columns: impl ColumnChoice,
) -> Result<MergedNumericTable<'t>> {
    let shape = table.shape();
    let mut parts = columns.ranges_in(table.dictionary())?;
    if parts.is_empty() {
        parts.push(0..0);
    }
    let part = |columns| {
        let part = TablePart::new(table, Region { rows: 0..shape.rows, columns })?;
        Ok(Box::new(part) as Box<dyn NumericTable + '_>)
    };
    MergedNumericTable::new(parts.into_iter().map(part).collect::<Result<Vec<_>>>()?)
}

/// Borrows all columns except the given ones.
pub(super) fn drop_columns<'t>(
    table: &'t (dyn NumericTable + 't),
    columns: impl ColumnChoice,
) -> Result<MergedNumericTable<'t>> {
    let mut dropped = columns.ranges_in(table.dictionary())?;
    dropped.sort_unstable_by_key(|range| range.start);
    let (mut rest, mut end) = (Vec::new(), 0);
    for range in dropped {
        rest.extend((end < range.start).then_some(end..range.start));
        end = end.max(range.end);
    }
    let columns = table.shape().columns;
    rest.extend((end < columns).then_some(end..columns));
    select_columns(table, Ranges(rest))
}

/// Borrows a range of rows.
pub(super) fn select_rows<'t>(
    table: &'t (dyn NumericTable + 't),
    rows: impl RangeBounds<usize>,
) -> Result<Box<dyn NumericTable + 't>> {
    let (shape, rows) = (table.shape(), rows_of(table.shape(), rows)?);
    Ok(Box::new(TablePart::new(table, Region { rows, columns: 0..shape.columns })?))
}

/// Borrows the first rows, up to `rows`.
pub(super) fn head<'t>(table: &'t (dyn NumericTable + 't), rows: usize) -> Result<Box<dyn NumericTable + 't>> {
    select_rows(table, ..rows.min(table.shape().rows))
}

/// Borrows the last rows, up to `rows`.
pub(super) fn tail<'t>(table: &'t (dyn NumericTable + 't), rows: usize) -> Result<Box<dyn NumericTable + 't>> {
    let count = table.shape().rows;
    select_rows(table, count.saturating_sub(rows)..count)
}

/// Identifies columns of a table: a number or a name, an array, vector or slice of them, or a range of numbers.
pub trait ColumnChoice {
    /// Returns the column numbers, in order, as ranges of consecutive numbers.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::OutOfRange`], [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::ColumnChoice};
    /// let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 5);
    /// assert_eq!([3, 4, 0].ranges_in(&dictionary)?, [3..5, 0..1]);
    /// assert_eq!((1..).ranges_in(&dictionary)?, [1..5]);
    /// # Ok::<(), Error>(())
    /// ```
    fn ranges_in(&self, dictionary: &DataDictionary) -> Result<Vec<Range<usize>>>;
}

fn listed<K: ColumnKey>(keys: &[K], dictionary: &DataDictionary) -> Result<Vec<Range<usize>>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for key in keys {
        let column = key.column_in(dictionary)?;
        match ranges.last_mut() {
            Some(last) if last.end == column => last.end += 1,
            _ => ranges.push(column..column + 1),
        }
    }
    Ok(ranges)
}

impl<K: ColumnKey, const N: usize> ColumnChoice for [K; N] {
    fn ranges_in(&self, dictionary: &DataDictionary) -> Result<Vec<Range<usize>>> {
        listed(self, dictionary)
    }
}

impl<K: ColumnKey> ColumnChoice for Vec<K> {
    fn ranges_in(&self, dictionary: &DataDictionary) -> Result<Vec<Range<usize>>> {
        listed(self, dictionary)
    }
}

impl<K: ColumnKey> ColumnChoice for &[K] {
    fn ranges_in(&self, dictionary: &DataDictionary) -> Result<Vec<Range<usize>>> {
        listed(self, dictionary)
    }
}

impl ColumnChoice for usize {
    fn ranges_in(&self, dictionary: &DataDictionary) -> Result<Vec<Range<usize>>> {
        listed(&[*self], dictionary)
    }
}

impl ColumnChoice for &str {
    fn ranges_in(&self, dictionary: &DataDictionary) -> Result<Vec<Range<usize>>> {
        listed(&[*self], dictionary)
    }
}

/// Ranges of existing columns.
struct Ranges(Vec<Range<usize>>);

impl ColumnChoice for Ranges {
    fn ranges_in(&self, _: &DataDictionary) -> Result<Vec<Range<usize>>> {
        Ok(self.0.clone())
    }
}

macro_rules! ranges {
    ($($Range:ty),*) => {$(
        impl ColumnChoice for $Range {
            fn ranges_in(&self, dictionary: &DataDictionary) -> Result<Vec<Range<usize>>> {
                let shape = Shape { rows: 0, columns: dictionary.len() };
                let columns = columns_of(shape, self.clone())?;
                Region { rows: 0..0, columns: columns.clone() }.check(shape)?;
                Ok(if columns.is_empty() { Vec::new() } else { vec![columns] })
            }
        }
    )*};
}
ranges!(
    Range<usize>,
    std::ops::RangeFrom<usize>,
    std::ops::RangeFull,
    std::ops::RangeInclusive<usize>,
    std::ops::RangeTo<usize>,
    std::ops::RangeToInclusive<usize>
);
