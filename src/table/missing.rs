//! Missing values of tables of any kind: columns with their bitmaps, and dropping and making missing values. `fill`
//! replaces them.
//!
//! The kinds of tables say which values are missing. Everything here is written once, over any table.
//! Semantics: Arrow's validity bitmaps. Filling: pandas `fillna`, `ffill` and `bfill`, polars `fill_null`.

mod fill;

use std::ops::Range;

pub use self::fill::FillMissing;
pub(super) use self::fill::fill;
use super::take::filter_rows;
use super::tiling::copy_of;
use super::{NumericTable, Region, Shape, TableDescription, Target, Token, lend};
use crate::array::{AnyArray, NewArray, Validity};
use crate::base::count::same_count;
use crate::base::element::{ElementType, match_width};
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::room::{filled, with_room};
use crate::convert::ConversionPolicy;
use crate::dictionary::DataDictionary;

/// Returns the error for marking values as missing in a table without bitmaps.
#[cold]
pub(super) fn has_no_bitmaps() -> Error {
    Error::new(ErrorKind::ReadOnlyTable)
        .with_hint(Hint::new("to_columns", "copies the table into columns that can have missing values"))
}

/// Returns some rows of a column in its own type, and which of them have a value: for tables that do not know better.
pub(super) fn read_column<N: NumericTable + ?Sized>(
    table: &N,
    column: usize,
    rows: &Range<usize>,
) -> Result<(AnyArray, Option<Validity>)> {
    let element = table.column_type(column)?;
    let region = Region { rows: rows.clone(), columns: column..column + 1 };
    region.check(table.shape())?;
    if table.dictionary().is_nullable(column)
        && let Some(validity) = table.validity(column, rows.clone())?
    {
        // The validity of a user's kind of table is not trusted.
        same_count(rows.len(), validity.len())?;
        let mut array = AnyArray::zeros(element, rows.len())?;
        let mut values = array.need_mutable_data()?;
        for (run, _) in validity.runs().filter(|(_, is_present)| *is_present) {
            let here = Region { rows: rows.start + run.start..rows.start + run.end, columns: region.columns.clone() };
            let target = Target::new(values.reborrow().range(run), here.shape(), ConversionPolicy::Saturate)?;
            table.read_region(&here, target.allow_partial_write())?;
        }
        return Ok((array, Some(validity)));
    }
    if let Some((array, range)) = lend::array_of(table, &region, element)?
        && array.element_type() == element
    {
        same_count(rows.len(), range.len())?;
        return Ok((array.slice(range)?, None));
    }
    Ok((copy_of(table, &region, element, ConversionPolicy::Saturate)?, None))
}

/// Returns some rows of a column, of a type that the table has stated, shared if possible. Does not trust what a user's
/// kind of table returns now.
///
/// # Errors
/// Those of reading the table; [`ErrorKind::ElementTypeMismatch`], [`ErrorKind::LengthMismatch`].
pub(crate) fn column_of(
    table: &(dyn NumericTable + '_),
    column: usize,
    rows: &Range<usize>,
    element: ElementType,
) -> Result<(AnyArray, Option<Validity>)> {
    let (array, validity) = table.column_array(column, rows, Token::new())?;
    if array.element_type() != element {
        return Err(Error::element_type_mismatch(element, array.element_type()));
    }
    same_count(rows.len(), array.len())?;
    validity.as_ref().map_or(Ok(()), |validity| same_count(rows.len(), validity.len()))?;
    Ok((array, validity))
}

/// Copies arrays of one type, end to end, into an array of `count` values.
pub(super) fn end_to_end(element: ElementType, count: usize, parts: &[AnyArray]) -> Result<AnyArray> {
    same_count(count, parts.iter().map(AnyArray::len).sum())?;
    if let Some(part) = parts.iter().find(|part| part.element_type() != element) {
        return Err(Error::element_type_mismatch(element, part.element_type()));
    }
    let mut array = NewArray::new(element, count)?;
    match_width!(element, B => {
        let mut room = array.filling::<B>();
        parts.iter().for_each(|part| room.add(part.as_slice().bits::<B>()));
    });
    Ok(array.finish())
}

/// Returns whether any value of a table is missing.
pub(crate) fn has_missing<N: NumericTable + ?Sized>(table: &N) -> Result<bool> {
    let rows = table.shape().rows;
    for column in table.dictionary().nullable_columns() {
        if table.validity(column, 0..rows)?.is_some_and(|validity| validity.has_missing()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns which values of a column are present; `None` if all are.
pub(super) fn validity_of(table: &(dyn NumericTable + '_), column: usize) -> Result<Option<Validity>> {
    if !table.dictionary().is_nullable(column) {
        return table.column_type(column).map(|_| None);
    }
    bitmap_of(table, column, table.shape().rows)
}

/// Returns which values of a nullable column of `rows` rows are present; `None` if all are. Does not trust what a user's
/// kind of table returns.
///
/// # Errors
/// Those of the table; [`ErrorKind::LengthMismatch`].
pub(crate) fn bitmap_of(table: &(dyn NumericTable + '_), column: usize, rows: usize) -> Result<Option<Validity>> {
    let Some(validity) = table.validity(column, 0..rows)? else { return Ok(None) };
    same_count(rows, validity.len())?;
    Ok(Some(validity).filter(Validity::has_missing))
}

/// Columns that have missing values, in ascending order, with their bitmaps.
pub(crate) type ColumnGaps = Vec<(usize, Validity)>;

/// Returns the columns of a table that have missing values. The shape and the dictionary are those of the table.
///
/// # Errors
/// Those of `bitmap_of`; [`ErrorKind::OutOfMemory`].
pub fn columns_with_missing(
    table: &(dyn NumericTable + '_),
    shape: Shape,
    dictionary: &DataDictionary,
) -> Result<Vec<(usize, Validity)>> {
    let mut gaps = Vec::new();
    for column in dictionary.nullable_columns().take_while(|&column| column < shape.columns) {
        if let Some(validity) = bitmap_of(table, column, shape.rows)? {
            gaps.try_reserve(1).map_err(|_| Error::out_of_memory(size_of::<(usize, Validity)>()))?;
            gaps.push((column, validity));
        }
    }
    Ok(gaps)
}

/// Returns which rows of a table have no missing value: the states of 64 rows each, the first in the lowest bit; `None`
/// if no value is missing. Bits past the last row are zero.
///
/// # Errors
/// Those of [`columns_with_missing`].
pub fn complete_rows(table: &(dyn NumericTable + '_), shape: Shape) -> Result<Option<Vec<u64>>> {
    let gaps = columns_with_missing(table, shape, table.dictionary())?;
    if gaps.is_empty() {
        return Ok(None);
    }
    let mut words = filled(shape.rows.div_ceil(64), u64::MAX)?;
    for (_, validity) in &gaps {
        words.iter_mut().zip(validity.words()).for_each(|(word, other)| *word &= other);
    }
    Ok(Some(words))
}

/// Returns the row and the column of the first missing value of the first of some nullable columns that has any.
///
/// # Errors
/// Those of the table.
pub(crate) fn first_missing(
    table: &(dyn NumericTable + '_),
    columns: impl Iterator<Item = usize>,
    rows: &Range<usize>,
) -> Result<Option<(usize, usize)>> {
    for column in columns {
        let first = table.validity(column, rows.clone())?.and_then(|validity| validity.first_missing(0..rows.len()));
        if let Some(row) = first {
            return Ok(Some((rows.start + row, column)));
        }
    }
    Ok(None)
}

/// Checks that no value of some rows is missing, for destinations without bitmaps.
///
/// # Errors
/// [`ErrorKind::MissingValue`] with the first one in the first column that has any; those of the table.
pub(crate) fn check_none_missing(table: &(dyn NumericTable + '_), rows: &Range<usize>) -> Result<()> {
    let (dictionary, count) = (table.dictionary(), table.shape().columns);
    let columns = dictionary.nullable_columns().take_while(|&column| column < count);
    match first_missing(table, columns, rows)? {
        Some((row, column)) => Err(Error::new(ErrorKind::MissingValue { row, column })),
        None => Ok(()),
    }
}

/// Marks the flagged rows of a column as missing.
pub(super) fn set_missing_where(table: &mut (dyn NumericTable + '_), column: usize, is_missing: &[bool]) -> Result<()> {
    let count = table.shape().rows;
    same_count(count, is_missing.len())?;
    let old = validity_of(table, column)?;
    let mut is_present = with_room(count)?;
    is_present.extend(is_missing.iter().map(|is_missing| !is_missing));
    let new = Validity::from_flags(&is_present)?;
    let new = match old {
        Some(old) => new.and(&old)?,
        None => new,
    };
    table.write_validity(column, 0, &new, Token::new())
}

/// Copies the rows in which all of the given columns are present.
pub(super) fn drop_rows(table: &(dyn NumericTable + '_), columns: &[Range<usize>]) -> Result<Box<dyn NumericTable>> {
    let mut is_kept = filled(table.shape().rows, true)?;
    for column in columns.iter().cloned().flatten() {
        if let Some(validity) = validity_of(table, column)? {
            for (run, _) in validity.runs().filter(|(_, is_present)| !is_present) {
                if let Some(flags) = is_kept.get_mut(run) {
                    flags.fill(false);
                }
            }
        }
    }
    filter_rows(table, &is_kept)
}
