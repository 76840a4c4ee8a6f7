//! Tables made of a sheet, and the cells of a table.

use std::ops::Range;

use numeric_table::array::Validity;
use numeric_table::prelude::*;
use numeric_table::{AnyArray, MergedNumericTable, RowMergedNumericTable, SoaNumericTable};

use super::super::number::{Number, Typed, with_type};
use super::calls::{Creation, Kind};
use super::sheet::{Cell, Part, Sheet};
use super::{Boxed, flags_of};

/// A bitmap whose first bit is not that of a byte.
pub(super) fn validity(is_present: &[bool]) -> Validity {
    let all = [&[false, true, false][..], is_present].concat();
    Validity::from_flags(&all).unwrap().slice(3..).unwrap()
}

/// An array of values in turn, and the numbers in it.
pub(super) fn array(element: ElementType, values: &[Number], count: usize) -> (AnyArray, Vec<Number>) {
    let numbers: Vec<Number> = values.iter().map(|value| value.saturate(element)).cycle().take(count).collect();
    let array = with_type!(element, T => {
        AnyArray::from(numbers.iter().map(|&number| T::from_number(number)).collect::<Vec<T>>())
    });
    (array, numbers)
}

/// What is missing and what is there.
pub(super) fn cells_of(table: &dyn NumericTable, column: usize) -> Result<Vec<Cell>, Error> {
    let (array, validity) = table.column_with_validity(column, ..)?;
    let is_present = |row| validity.as_ref().is_none_or(|validity| validity.is_present(row) == Some(true));
    Ok(with_type!(array.element_type(), T => {
        let values = array.downcast_ref::<T>().expect("its own type").iter().enumerate();
        values.map(|(row, value)| is_present(row).then(|| value.number())).collect()
    }))
}

/// Makes the table, and its model.
pub(super) fn create(creation: &Creation) -> (Boxed, Sheet) {
    let Creation { kind, rows, ref types, ref values, nullable, gaps } = *creation;
    let mut types = types.clone();
    if matches!(kind, Kind::Homogeneous) {
        let first = types[0];
        types.fill(first);
    }
    let (columns, is_uniform) = (types.len(), |types: &[ElementType]| types.iter().all(|it| *it == types[0]));
    let has_flag = |column: usize| nullable >> (column % 8) & 1 == 1;
    let part = |rows: Range<usize>, columns: Range<usize>, takes_gaps: bool| Part {
        nullable: columns.clone().map(|column| takes_gaps && has_flag(column)).collect(),
        rows,
        columns,
        takes_gaps,
    };
    let parts = match kind {
        Kind::Columns => vec![part(0..rows, 0..columns, true)],
        Kind::Homogeneous => vec![part(0..rows, 0..columns, false)],
        Kind::SideBySide(cut, is_plain) => {
            let cut = 1 + cut % columns;
            let right = (cut < columns).then(|| {
                let is_plain = is_plain && is_uniform(&types[cut..]);
                part(0..rows, cut..columns, !is_plain)
            });
            std::iter::once(part(0..rows, 0..cut, true)).chain(right).collect()
        }
        Kind::EndToEnd(cut, is_plain) => {
            let cut = cut % (rows + 1);
            let is_plain = is_plain && is_uniform(&types);
            vec![part(0..cut, 0..columns, true), part(cut..rows, 0..columns, !is_plain)]
        }
    };
    let missing = flags_of(gaps, rows * columns);
    let mut next = values.iter().cycle();
    let mut sheet = Sheet { types, cells: Vec::new(), parts };
    for row in 0..rows {
        let cells = (0..columns).map(|column| Some(next.next().unwrap().saturate(sheet.types[column]))).collect();
        sheet.cells.push(cells);
        for part in sheet.parts.iter().filter(|part| part.rows.contains(&row)) {
            for column in part.columns.clone().filter(|&column| part.nullable[column - part.columns.start]) {
                if missing[row * columns + column] {
                    sheet.cells[row][column] = None;
                }
            }
        }
    }
    let tables = sheet.parts.iter().map(|part| match part.takes_gaps {
        true => Box::new(columns_of(&sheet, part)) as Boxed,
        false => homogeneous(&sheet, part),
    });
    let mut tables = tables.collect::<Vec<_>>();
    let table: Boxed = match kind {
        Kind::Columns | Kind::Homogeneous => tables.remove(0),
        Kind::SideBySide(..) => Box::new(MergedNumericTable::new(tables).unwrap()),
        Kind::EndToEnd(..) => Box::new(RowMergedNumericTable::new(tables).unwrap()),
    };
    let is_one_merged = sheet.parts.len() == 1 && matches!(kind, Kind::SideBySide(..));
    if is_one_merged {
        return (Box::new(table.to_columns().unwrap()), sheet.columns());
    }
    (table, sheet)
}

fn columns_of(sheet: &Sheet, part: &Part) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    for (column, &is_nullable) in part.columns.clone().zip(&part.nullable) {
        let element = sheet.types[column];
        let cells = &sheet.cells[part.rows.clone()];
        let hidden = Number::WILD[(column * 7 + 11) % Number::WILD.len()].saturate(element);
        let array = with_type!(element, T => {
            let stored = cells.iter().map(|row| T::from_number(row[column].unwrap_or(hidden)));
            AnyArray::from(stored.collect::<Vec<T>>())
        });
        let is_present: Vec<bool> = cells.iter().map(|row| row[column].is_some()).collect();
        let feature = Feature::new(element);
        let feature = if is_nullable { feature.nullable() } else { feature };
        table.push_nullable(feature, array, Some(validity(&is_present))).unwrap();
    }
    table
}

fn homogeneous(sheet: &Sheet, part: &Part) -> Boxed {
    let shape = Shape { rows: part.rows.len(), columns: part.columns.len() };
    with_type!(sheet.types[part.columns.start], T => {
        let cell = |row: usize, column: usize| sheet.cells[part.rows.start + row][part.columns.start + column];
        let value = |row: usize, column: usize| T::from_number(cell(row, column).expect("no gaps"));
        Box::new(HomogenNumericTable::<T>::from_fn(shape, value).unwrap())
    })
}
