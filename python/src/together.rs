//! Several tables: stacked, and compared.

use numeric_table::table::spi::{Region, Target};
use numeric_table::{
    ConversionPolicy, ConversionReport, Element, ElementType, NumericTable, Shape, TableCombination, TableConversion,
    TableDescription, TableSelection, array::AnySliceMut,
};
use pyo3::prelude::*;

use crate::element::with_type;
use crate::error::{OrRaise, TableError};
use crate::reading::owned;
use crate::sparse;
use crate::table::Table;

/// Stacks tables vertically or horizontally.
pub(crate) fn stack(py: Python<'_>, tables: &[Bound<'_, Table>], is_vertical: bool) -> PyResult<Table> {
    let tables = tables.iter().map(|table| table.get().snapshot(py)).collect::<PyResult<Vec<_>>>()?;
    let tables: Vec<&dyn NumericTable> = tables.iter().map(|table| &**table).collect();
    let Some((first, others)) = tables.split_first() else {
        return Err(TableError::new_err("there are no tables"));
    };
    let stacked = py.detach(|| match (sparse::stack(&tables, is_vertical)?, is_vertical) {
        (Some(stacked), _) => Ok(Box::new(stacked) as Box<dyn NumericTable>),
        (None, true) => first.vstack(others)?.to_table(),
        (None, false) => first.hstack(others)?.to_table(),
    });
    stacked.or_raise().map(Table::new)
}

/// Returns some columns of a table, given their indices. A sparse table stays sparse; a structure of arrays is not
/// copied.
pub(crate) fn select(table: &dyn NumericTable, columns: &[usize]) -> numeric_table::Result<Box<dyn NumericTable>> {
    match sparse::of(table) {
        Some(sparse) => Ok(Box::new(sparse::select_columns(sparse, columns)?)),
        None => owned(&table.select_columns(columns)?, table),
    }
}

/// Compares tables of one shape and one dictionary: NaN equals NaN.
pub(crate) fn are_equal(one: &dyn NumericTable, two: &dyn NumericTable) -> numeric_table::Result<bool> {
    const VALUES: usize = 1 << 14;
    if let (Some(one), Some(two)) = (sparse::of(one), sparse::of(two)) {
        return sparse::are_equal(one, two);
    }
    let Shape { rows, columns } = one.shape();
    // All columns at once, if they have one type.
    let width = if one.uniform_type().is_some() { columns.max(1) } else { 1 };
    let height = (VALUES / width).max(1);
    for column in (0..columns).step_by(width) {
        let element = one.column_type(column)?;
        for first in (0..rows).step_by(height) {
            let region = Region { rows: first..rows.min(first + height), columns: column..column + width };
            let is_equal = with_type!(element, T => {
                let (one, two) = (values_of::<T>(one, &region)?, values_of::<T>(two, &region)?);
                let is_nan = |value: &T| value.partial_cmp(value).is_none();
                one.iter().zip(&two).all(|(a, b)| a == b || (is_nan(a) && is_nan(b)))
            });
            if !is_equal {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn values_of<T: Element>(table: &dyn NumericTable, region: &Region) -> numeric_table::Result<Vec<T>> {
    let shape = region.shape();
    let mut values = vec![T::default(); shape.element_count()?];
    let target = Target::new(AnySliceMut::new(&mut values), shape, ConversionPolicy::Saturate)?;
    table.read_region(region, target.allow_partial_write())?;
    Ok(values)
}

/// Reports the losses of a conversion of all columns, each from its own type.
pub(crate) fn report(table: &dyn NumericTable, element: ElementType) -> numeric_table::Result<ConversionReport> {
    if let Some(sparse) = sparse::of(table) {
        return sparse::report(sparse, element);
    }
    if let Some(own) = table.uniform_type() {
        return with_type!(own, S => {
            let table = table.convert::<S>()?;
            with_type!(element, T => table.conversion_report::<T>())
        });
    }
    let mut all: Option<ConversionReport> = None;
    for column in 0..table.column_count() {
        let one = table.select_columns(column..column + 1)?;
        let mut found = report(&one, element)?;
        found.first = found.first.map(|(row, _)| (row, column));
        match &mut all {
            None => all = Some(found),
            Some(all) => {
                all.values += found.values;
                all.nan_to_int += found.nan_to_int;
                all.below_range += found.below_range;
                all.above_range += found.above_range;
                all.overflow_to_infinity += found.overflow_to_infinity;
                all.inexact += found.inexact;
                all.first = [all.first, found.first].into_iter().flatten().min();
            }
        }
    }
    match all {
        Some(report) => Ok(report),
        None => numeric_table::HomogenNumericTable::<f64>::zeros(table.shape())?.conversion_report::<f64>(),
    }
}
