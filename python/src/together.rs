//! Several tables: put together, and compared.

use numeric_table::table::{Region, Target};
use numeric_table::{AnySliceMut, ConversionPolicy, Element, NumericTable, Shape};
use pyo3::prelude::*;

use crate::element::with_type;
use crate::error::{OrRaise, TableError};
use crate::reading::Reading;
use crate::table::Table;

/// Puts tables one below the other, or side by side.
pub(crate) fn stack(py: Python<'_>, tables: &[Bound<'_, Table>], is_vertical: bool) -> PyResult<Table> {
    // Each table is locked once, although it may come several times.
    let mut locked: Vec<(&Table, Reading<'_>)> = Vec::new();
    for table in tables.iter().map(Bound::get) {
        if !locked.iter().any(|&(other, _)| std::ptr::eq(other, table)) {
            locked.push((table, table.read(py)));
        }
    }
    let place = |table: &Table| locked.iter().find(|&&(other, _)| std::ptr::eq(other, table));
    let tables: Vec<&dyn NumericTable> =
        tables.iter().filter_map(|table| place(table.get())).map(|(_, table)| &***table).collect();
    let Some((first, others)) = tables.split_first() else {
        return Err(TableError::new_err("there are no tables"));
    };
    let stacked = py.detach(|| match is_vertical {
        true => first.vstack(others.iter().copied())?.as_dyn().to_table(),
        false => first.hstack(others.iter().copied())?.as_dyn().to_table(),
    });
    stacked.or_raise().map(Table::new)
}

/// Compares tables of one shape and one dictionary: NaN equals NaN.
pub(crate) fn are_equal(one: &dyn NumericTable, two: &dyn NumericTable) -> numeric_table::Result<bool> {
    const VALUES: usize = 1 << 14;
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
    table.read_region(region, target.over())?;
    Ok(values)
}
