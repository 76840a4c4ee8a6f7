//! Rows of a table in another order: copies, with columns of the table's types.
//!
//! `gather` has the requests for rows, and the loops. Semantics: NumPy `take` and boolean indexing, along the first
//! axis.

use std::ops::Range;

use super::gather::{Chosen, Lane, Wanted};
use super::order::{Order, Rows};
use super::part::ColumnKey;
use super::tiling::{copy_of, lent_or_read, lent_slice};
use super::{
    CsrNumericTable, DataLayout, HomogenNumericTable, MemoryStatus, NumericTable, Region, Shape, SoaNumericTable,
    Target, missing,
};
use crate::array::{AnyArray, NewArray, Validity};
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::room::{first_of, with_room};
use crate::base::trace::{self, CopyKind};
use crate::convert::ConversionPolicy;
use crate::dictionary::DataDictionary;
use crate::window::AnySlice;

/// The number of values that a closure sees between two calls of the table.
const LOOKED_AT: usize = 4096;

/// Copies rows in the order of their numbers.
pub(super) fn take_rows(table: &(dyn NumericTable + '_), rows: &[usize]) -> Result<Box<dyn NumericTable>> {
    choose(table, Wanted::Listed(rows))
}

/// Copies the rows whose flag is set.
pub(super) fn filter_rows(table: &(dyn NumericTable + '_), is_kept: &[bool]) -> Result<Box<dyn NumericTable>> {
    let (expected, found) = (table.shape().rows, is_kept.len());
    if expected != found {
        return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
    }
    choose(table, Wanted::Flagged(is_kept))
}

/// Copies the rows that a closure accepts.
pub(super) fn filter_rows_by<U: Element>(
    table: &(dyn NumericTable + '_),
    is_kept: impl Fn(&[U]) -> bool + Sync,
) -> Result<Box<dyn NumericTable>> {
    let flags = flags_of(table, 0..table.shape().columns, is_kept)?;
    filter_rows(table, &flags)
}

/// Copies the rows whose value in a column a closure accepts.
pub(super) fn filter_by_column<U: Element>(
    table: &(dyn NumericTable + '_),
    column: impl ColumnKey,
    is_kept: impl Fn(U) -> bool + Sync,
) -> Result<Box<dyn NumericTable>> {
    let column = column.column_in(table.dictionary())?;
    let flags = flags_of(table, column..column + 1, |row: &[U]| is_kept(row[0]))?;
    filter_rows(table, &flags)
}

/// Copies all rows in ascending order of a column.
pub(super) fn sort_by(table: &(dyn NumericTable + '_), column: impl ColumnKey) -> Result<Box<dyn NumericTable>> {
    sort_by_columns(table, &[(column.column_in(table.dictionary())?, Order::default())])
}

/// Copies all rows in the order of several columns.
pub(super) fn sort_by_columns(
    table: &(dyn NumericTable + '_),
    columns: &[(usize, Order)],
) -> Result<Box<dyn NumericTable>> {
    match Rows::by(table, columns)? {
        Rows::Short(rows) => choose(table, Wanted::Short(&rows)),
        Rows::Long(rows) => choose(table, Wanted::Listed(&rows)),
    }
}

/// Returns whether a closure accepts each row, given the values of some columns.
fn flags_of<U: Element>(
    table: &(dyn NumericTable + '_),
    columns: Range<usize>,
    is_kept: impl Fn(&[U]) -> bool + Sync,
) -> Result<Vec<bool>> {
    let (rows, width) = (table.shape().rows, columns.len());
    let mut flags = with_room(rows)?;
    flags.resize(rows, false);
    let step = (LOOKED_AT / width.max(1)).max(1);
    let look = |(first, flags): (usize, &mut [bool])| {
        let mut buffer = Vec::new();
        for (index, flags) in flags.chunks_mut(step).enumerate() {
            let start = first + index * step;
            let region = Region { rows: start..start + flags.len(), columns: columns.clone() };
            let count = region.shape().element_count_of(U::TYPE)?;
            let values = lent_or_read(table, &region, || first_of(&mut buffer, count))?;
            for (row, flag) in flags.iter_mut().enumerate() {
                *flag = is_kept(&values[row * width..(row + 1) * width]);
            }
        }
        Ok(())
    };
    let tasks = parallel::task_count(rows.saturating_mul(width).saturating_mul(size_of::<U>()));
    let bands = parallel::cut((0, &mut flags[..]), rows, tasks, |(first, flags), count| {
        let (head, tail) = flags.split_at_mut(count);
        ((first, head), (first + count, tail))
    });
    parallel::map(bands, look).into_iter().collect::<Result<()>>()?;
    Ok(flags)
}

pub(super) fn column_of(shape: Shape, column: usize) -> Region {
    Region { rows: 0..shape.rows, columns: column..column + 1 }
}

/// Copies the requested rows.
fn choose(table: &(dyn NumericTable + '_), wanted: Wanted<'_>) -> Result<Box<dyn NumericTable>> {
    let (shape, dictionary) = (table.shape(), table.dictionary().clone());
    dictionary.check_count(shape.columns, || table.uniform_type())?;
    // A user's kind of table may present another table with a different shape.
    let sparse = table.downcast_ref::<CsrNumericTable>().filter(|sparse| sparse.shape() == shape);
    if let Some(sparse) = sparse {
        check_rows(wanted, shape.rows)?;
        let new = sparse.chosen(&Chosen::new(wanted, 0)?)?;
        trace::record(CopyKind::Selected, new.size_of_arrays());
        return Ok(Box::new(new));
    }
    if dictionary.has_nullable() {
        return choose_nullable(table, wanted, shape, dictionary);
    }
    if let Some(element) = table.uniform_type() {
        let row_bytes = shape.columns.saturating_mul(element.size_in_bytes());
        let chosen = Chosen::new(wanted, row_bytes)?;
        let new = Shape { rows: chosen.count, columns: shape.columns };
        let (array, layout) = copy_chosen(table, shape, wanted, &chosen, element)?;
        trace::record(CopyKind::Selected, array.len() * element.size_in_bytes());
        return match_element!(element, T => {
            let array = array.downcast::<T>().map_err(|other| {
                Error::element_type_mismatch(T::TYPE, other.element_type())
            })?;
            Ok(HomogenNumericTable::internal(array, new, layout).with_dictionary(dictionary)?.into_dyn())
        });
    }
    let row_bytes = dictionary.iter().map(|feature| feature.type_size()).sum();
    let chosen = Chosen::new(wanted, row_bytes)?;
    let mut copies = with_room(shape.columns)?;
    let mut columns = with_room(shape.columns)?;
    for (column, feature) in dictionary.iter().enumerate() {
        let (all, element) = (column_of(shape, column), feature.element_type);
        copies.push(match lent_slice(table, &all, element)? {
            Some(_) => None,
            None => Some(copy_of(table, &all, element, ConversionPolicy::Saturate)?),
        });
        columns.push(NewArray::new(element, chosen.count)?);
    }
    let mut lanes = with_room(shape.columns)?;
    for (column, (copy, target)) in copies.iter().zip(&mut columns).enumerate() {
        let (all, element) = (column_of(shape, column), target.element_type());
        let from = match copy {
            Some(copy) => copy.as_slice(),
            None => lent_slice(table, &all, element)?.ok_or_else(Error::not_contiguous)?,
        };
        lanes.extend(Lane::of(vec![from], target, chosen.count, 1));
    }
    gather(wanted, &chosen, lanes, shape)?;
    trace::record(CopyKind::Selected, chosen.count * row_bytes);
    let owner = MemoryStatus::InternallyAllocated;
    let columns = columns.into_iter().map(NewArray::finish).collect();
    Ok(Box::new(SoaNumericTable::of_arrays(dictionary, chosen.count, columns, owner)))
}

/// Copies the requested rows of a table with nullable columns, of one type or several, into a structure of arrays. The
/// columns stay nullable, whether the requested values are missing or not.
fn choose_nullable(
    table: &(dyn NumericTable + '_),
    wanted: Wanted<'_>,
    shape: Shape,
    dictionary: DataDictionary,
) -> Result<Box<dyn NumericTable>> {
    let row_bytes = dictionary.iter().map(|feature| feature.type_size()).sum();
    let chosen = Chosen::new(wanted, row_bytes)?;
    let (mut stored, mut arrays) = (with_room(shape.columns)?, with_room(shape.columns)?);
    for (column, feature) in dictionary.iter().enumerate() {
        stored.push(missing::column_of(table, column, &(0..shape.rows), feature.element_type)?);
        arrays.push(NewArray::new(feature.element_type, chosen.count)?);
    }
    let mut lanes = with_room(shape.columns)?;
    for ((array, _), target) in stored.iter().zip(&mut arrays) {
        lanes.extend(Lane::of(vec![array.as_slice()], target, chosen.count, 1));
    }
    gather(wanted, &chosen, lanes, shape)?;
    trace::record(CopyKind::Selected, chosen.count * row_bytes);
    let mut columns = with_room(shape.columns)?;
    for ((_, validity), array) in stored.iter().zip(arrays) {
        let validity = validity.as_ref().map(|validity| states_of(validity, wanted)).transpose()?;
        columns.push((array.finish(), validity));
    }
    let owner = MemoryStatus::InternallyAllocated;
    Ok(Box::new(SoaNumericTable::of_nullable_arrays(dictionary, chosen.count, columns, owner)?))
}

/// Returns which of the requested rows have a value. All of them must exist.
fn states_of(validity: &Validity, wanted: Wanted<'_>) -> Result<Validity> {
    match wanted {
        Wanted::Listed(rows) => validity.take(rows),
        Wanted::Short(rows) => {
            Validity::from_fn(rows.len(), |place| validity.is_present(rows[place] as usize).unwrap_or_default())
        }
        Wanted::Flagged(is_kept) => validity.filter(is_kept),
    }
}

/// Copies the requested rows of a table of one type. Returns the layout of the copy.
fn copy_chosen(
    table: &(dyn NumericTable + '_),
    shape: Shape,
    wanted: Wanted<'_>,
    chosen: &Chosen<'_>,
    element: ElementType,
) -> Result<(AnyArray, DataLayout)> {
    let count = Shape { rows: chosen.count, columns: shape.columns }.element_count_of(element)?;
    if shape.columns == 0 {
        check_rows(wanted, shape.rows)?;
        return Ok((AnyArray::zeros(element, count)?, DataLayout::RowMajor));
    }
    if let Some(values) = lent_slice(table, &Region::whole(shape), element)? {
        let mut array = NewArray::new(element, count)?;
        gather(wanted, chosen, Lane::of(vec![values], &mut array, chosen.count, shape.columns), shape)?;
        return Ok((array.finish(), DataLayout::RowMajor));
    }
    if let Some(columns) = columns_in_memory(table, shape, element)? {
        let mut array = NewArray::new(element, count)?;
        gather(wanted, chosen, Lane::of(columns, &mut array, chosen.count, 1), shape)?;
        return Ok((array.finish(), DataLayout::ColumnMajor));
    }
    check_rows(wanted, shape.rows)?;
    let mut array = AnyArray::zeros(element, count)?;
    let (mut parts, mut rest) = (with_room(chosen.parts.len())?, array.need_mutable_data()?);
    for part in &chosen.parts {
        let (here, others) = rest.split_at(part.count * shape.columns);
        parts.push((part, here));
        rest = others;
    }
    let read = parallel::map(parts, |(part, mut values)| {
        let mut done = 0;
        part.try_for_each_run(|rows| {
            let region = Region { rows, columns: 0..shape.columns };
            let place = done..done + region.rows.len() * shape.columns;
            done = place.end;
            let target = Target::new(values.reborrow().range(place), region.shape(), ConversionPolicy::Saturate)?;
            table.read_region(&region, target.allow_partial_write())
        })
    });
    read.into_iter().collect::<Result<()>>()?;
    Ok((array, DataLayout::RowMajor))
}

/// Returns the values of all columns, if each is contiguous in memory.
fn columns_in_memory<'t>(
    table: &'t (dyn NumericTable + '_),
    shape: Shape,
    element: ElementType,
) -> Result<Option<Vec<AnySlice<'t>>>> {
    let mut columns = Vec::new();
    for column in 0..shape.columns {
        let Some(values) = lent_slice(table, &column_of(shape, column), element)? else { return Ok(None) };
        columns.push(values);
    }
    Ok(Some(columns))
}

fn gather(wanted: Wanted<'_>, chosen: &Chosen<'_>, lanes: Vec<Lane<'_>>, shape: Shape) -> Result<()> {
    chosen.gather(lanes).or_else(|row| {
        check_rows(wanted, shape.rows)?; // names the first one
        Err(no_such_row(row, shape.rows))
    })
}

fn no_such_row(row: usize, row_count: usize) -> Error {
    Error::new(ErrorKind::RowsOutOfRange { rows: row..row.saturating_add(1), row_count })
}

/// Checks that all requested rows exist.
fn check_rows(wanted: Wanted<'_>, row_count: usize) -> Result<()> {
    let missing = match wanted {
        Wanted::Listed(rows) => rows.iter().copied().find(|&row| row >= row_count),
        Wanted::Short(rows) => rows.iter().map(|&row| row as usize).find(|&row| row >= row_count),
        Wanted::Flagged(_) => None,
    };
    missing.map_or(Ok(()), |row| Err(no_such_row(row, row_count)))
}
