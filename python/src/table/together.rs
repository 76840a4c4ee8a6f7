//! Several tables: stacked, and compared.

use std::collections::{HashMap, VecDeque};

use numeric_table::table::spi::{Region, Target};
use numeric_table::{
    ConversionPolicy, ConversionReport, DataDictionary, Element, ElementType, Feature, MissingValues, NumericTable,
    Shape, TableCombination, TableConversion, TableDescription, TableSelection, array::AnySliceMut, array::Validity,
};
use pyo3::prelude::*;

use crate::base::element::with_type;
use crate::base::error::{OrRaise, TableError};
use crate::table::Table;
use crate::table::gaps;
use crate::table::labels::{has_labels, name_of, unit_of};
use crate::table::reading::owned;
use crate::table::sparse;

/// Stacks tables vertically or horizontally.
pub(crate) fn stack(py: Python<'_>, tables: &[Bound<'_, Table>], is_vertical: bool) -> PyResult<Table> {
    let mut tables = tables.iter().map(|table| table.get().snapshot(py)).collect::<PyResult<Vec<_>>>()?;
    if is_vertical && let Some((first, others)) = tables.split_first_mut() {
        for (place, other) in others.iter_mut().enumerate() {
            let Some(columns) = by_name(first.dictionary(), other.dictionary(), place + 1)? else { continue };
            let ordered = py.detach(|| select(&**other, &columns)).or_raise()?;
            *other = ordered;
        }
    }
    if is_vertical && let Some((first, others)) = tables.split_first() {
        for (place, other) in others.iter().enumerate() {
            check_kinds(first.dictionary(), other.dictionary(), place + 1)?;
        }
    }
    let tables: Vec<&dyn NumericTable> = tables.iter().map(|table| &**table).collect();
    let Some((first, others)) = tables.split_first() else {
        return Err(TableError::new_err("there are no tables"));
    };
    let stacked = py.detach(|| match (sparse::stack(&tables, is_vertical)?, is_vertical) {
        (Some(stacked), _) => Ok(Box::new(stacked) as Box<dyn NumericTable>),
        (None, true) => first.vstack_unified(others)?.to_table(),
        (None, false) => first.hstack(others)?.to_table(),
    });
    stacked.or_raise().map(Table::new)
}

/// Returns the columns of a table in the order in which the first one has their names, or `None` if they are in that
/// order. Only columns with names are reordered. Refuses two tables whose columns have names that differ.
fn by_name(first: &DataDictionary, other: &DataDictionary, table: usize) -> PyResult<Option<Vec<usize>>> {
    let have_names = |columns: &DataDictionary| columns.names().all(|name| name.is_some());
    if first.len() != other.len() || !have_names(first) || !have_names(other) || first.names().eq(other.names()) {
        return Ok(None);
    }
    let mut places = HashMap::<_, VecDeque<_>>::new(); // several columns may have one name
    for (column, name) in other.names().enumerate() {
        places.entry(name).or_default().push_back(column);
    }
    let mut columns = Vec::new();
    for name in first.names() {
        let found = places.get_mut(&name).and_then(VecDeque::pop_front);
        columns.push(found.ok_or_else(|| {
            let name = name.unwrap_or_default();
            TableError::new_err(format!(
                "table {table} has no column {name:?}, which table 0 has: table.rename({{\"old\": {name:?}}}) gives a \
                 column another name"
            ))
        })?);
    }
    Ok(Some(columns))
}

/// Refuses two tables to stack if one has words or times where the other one has something else.
fn check_kinds(first: &DataDictionary, other: &DataDictionary, table: usize) -> PyResult<()> {
    let kind = |feature: &Feature| (has_labels(feature), unit_of(feature));
    let pairs = first.iter().zip(other.iter()).enumerate();
    let Some((column, (one, two))) = pairs.into_iter().find(|(_, (one, two))| kind(one) != kind(two)) else {
        return Ok(());
    };
    let holds = |feature: &Feature| match kind(feature) {
        (true, _) => "words".to_owned(),
        (_, Some(unit)) => format!("times in the unit {:?}", name_of(unit).unwrap_or("of another length")),
        _ => "numbers".to_owned(),
    };
    let name = one.name.as_ref().map_or_else(|| column.to_string(), |name| format!("{name:?}"));
    let advice = match (unit_of(one), unit_of(two)) {
        (Some(_), Some(_)) => "with_column(name, table[name].astype(\"datetime64[ns]\")) gives a column another unit",
        _ => "with_column(name, values) gives a column other values, and rename another name",
    };
    Err(TableError::new_err(format!(
        "column {name} of table {table} has {}, and that of table 0 has {}: {advice}",
        holds(two),
        holds(one)
    )))
}

/// Returns some columns of a table, given their indices. A sparse table stays sparse; a structure of arrays is not
/// copied.
pub(crate) fn select(table: &dyn NumericTable, columns: &[usize]) -> numeric_table::Result<Box<dyn NumericTable>> {
    match sparse::of(table) {
        Some(sparse) => Ok(Box::new(sparse::select_columns(sparse, columns)?)),
        None => owned(&table.select_columns(columns)?, table),
    }
}

/// Compares tables of one shape and one dictionary: NaN equals NaN, and a missing value equals only another one.
pub(crate) fn are_equal(one: &dyn NumericTable, two: &dyn NumericTable) -> numeric_table::Result<bool> {
    const VALUES: usize = 1 << 14;
    if let (Some(one), Some(two)) = (sparse::of(one), sparse::of(two)) {
        return sparse::are_equal(one, two);
    }
    let Shape { rows, columns } = one.shape();
    if !have_equal_gaps(one, two)? {
        return Ok(false);
    }
    let plain = (without_gaps(one)?, without_gaps(two)?);
    let (one, two) = (plain.0.as_deref().unwrap_or(one), plain.1.as_deref().unwrap_or(two));
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

/// Returns whether the same values of two tables are missing.
fn have_equal_gaps(one: &dyn NumericTable, two: &dyn NumericTable) -> numeric_table::Result<bool> {
    if !one.dictionary().has_nullable() && !two.dictionary().has_nullable() {
        return Ok(true);
    }
    for column in 0..one.column_count() {
        if one.column_validity(column)? != two.column_validity(column)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns a table with zeros in place of missing values, if there are any.
fn without_gaps(table: &dyn NumericTable) -> numeric_table::Result<Option<Box<dyn NumericTable>>> {
    Ok(match table.has_missing()? {
        true => Some(Box::new(gaps::with_zeros(table)?)),
        false => None,
    })
}

/// Returns whether two dictionaries describe the same columns. Whether values may be missing makes no difference.
pub(crate) fn are_described_alike(one: &DataDictionary, two: &DataDictionary) -> bool {
    let plain = |feature: &Feature| Feature { nullable: false, ..feature.clone() };
    one == two || (one.len() == two.len() && one.iter().map(plain).eq(two.iter().map(plain)))
}

pub(crate) fn values_of<T: Element>(table: &dyn NumericTable, region: &Region) -> numeric_table::Result<Vec<T>> {
    let shape = region.shape();
    let mut values = vec![T::default(); shape.element_count()?];
    let target = Target::new(AnySliceMut::new(&mut values), shape, ConversionPolicy::Saturate)?;
    table.read_region(region, target.allow_partial_write())?;
    Ok(values)
}

/// Reports the losses of a conversion of all columns, each from its own type. Missing values are not counted.
pub(crate) fn report(table: &dyn NumericTable, element: ElementType) -> numeric_table::Result<ConversionReport> {
    if let Some(sparse) = sparse::of(table) {
        return sparse::report(sparse, element);
    }
    if table.has_missing()? {
        return report_present(table, element);
    }
    if let Some(own) = table.uniform_type() {
        return with_type!(own, S => {
            let table = table.convert::<S>()?;
            with_type!(element, T => table.conversion_report::<T>())
        });
    }
    by_column(table, |column, _| report(column, element))
}

/// Like [`report`], for a table with missing values.
fn report_present(table: &dyn NumericTable, element: ElementType) -> numeric_table::Result<ConversionReport> {
    by_column(table, |column, validity| {
        let Some(validity) = validity else { return report(column, element) };
        let flags = validity.to_flags()?;
        // Rows without missing values, whose plain values the filtered column has.
        let mut found = report(&*column.filter_rows(&flags)?, element)?;
        let mut rows = (0..flags.len()).filter(|&row| flags[row]);
        found.first = found.first.and_then(|(row, column)| Some((rows.nth(row)?, column)));
        Ok(found)
    })
}

/// Adds up the reports of all columns.
fn by_column(
    table: &dyn NumericTable,
    report: impl Fn(&dyn NumericTable, Option<Validity>) -> numeric_table::Result<ConversionReport>,
) -> numeric_table::Result<ConversionReport> {
    let mut all: Option<ConversionReport> = None;
    for column in 0..table.column_count() {
        let one = table.select_columns(column..column + 1)?;
        let mut found = report(&one, table.column_validity(column)?)?;
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
