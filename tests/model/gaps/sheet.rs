//! The model: a grid of optional numbers, the types of its columns, and the tables that it consists of.

use std::cmp::Ordering;
use std::ops::Range;

use numeric_table::prelude::*;

use super::super::number::Number;

/// The variant of an error, with the cell that it names.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fault {
    Rows,
    Column,
    Missing(usize, usize),
    /// A value that its column or block cannot hold; where.
    Value(usize, usize),
    ReadOnly,
    Unforeseen(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match *error.kind() {
            ErrorKind::RowsOutOfRange { .. } => Self::Rows,
            ErrorKind::ColumnOutOfRange { .. } => Self::Column,
            ErrorKind::MissingValue { row, column } => Self::Missing(row, column),
            ErrorKind::ValueNotRepresentable { row, column, .. } => Self::Value(row, column),
            ErrorKind::ReadOnlyTable => Self::ReadOnly,
            _ => Self::Unforeseen(error.to_string()),
        }
    }
}

/// What comes of a call, or the faults of which it reports one and changes nothing.
pub(super) type Expected<T> = Result<T, Vec<Fault>>;

pub(super) type Cell = Option<Number>;

/// A table that is a part of the sheet, or all of it.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
    /// Whether it is a structure of arrays. Others are homogeneous.
    pub(super) takes_gaps: bool,
    /// Which of its columns are nullable.
    pub(super) nullable: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) types: Vec<ElementType>,
    pub(super) cells: Vec<Vec<Cell>>,
    pub(super) parts: Vec<Part>,
}

pub(super) fn is_nan(number: Number) -> bool {
    matches!(number, Number::Float(value) if value.is_nan())
}

/// Whether `Exact` permits a number in another type.
fn is_exact(number: Number, element: ElementType) -> bool {
    match (number, number.saturate(element)) {
        (Number::Integer(one), Number::Integer(other)) => one == other,
        (Number::Integer(one), Number::Float(other)) => other.is_finite() && other as i128 == one,
        (Number::Float(one), Number::Integer(other)) => one.fract() == 0.0 && one as i128 == other,
        (Number::Float(one), Number::Float(other)) => one == other || (one.is_nan() && other.is_nan()),
    }
}

fn may_convert(number: Number, from: ElementType, to: ElementType, policy: ConversionPolicy) -> bool {
    match policy {
        _ if from == to => true,
        ConversionPolicy::Saturate => true,
        ConversionPolicy::Checked => number.fits(to),
        _ => is_exact(number, to),
    }
}

fn converted(number: Number, from: ElementType, to: ElementType) -> Number {
    if from == to { number } else { number.saturate(to) }
}

impl Sheet {
    /// A sheet that is one table.
    pub(super) fn one(types: Vec<ElementType>, cells: Vec<Vec<Cell>>, nullable: Vec<bool>, takes_gaps: bool) -> Self {
        let part = Part { rows: 0..cells.len(), columns: 0..types.len(), takes_gaps, nullable };
        Self { types, cells, parts: vec![part] }
    }

    pub(super) fn shape(&self) -> Shape {
        Shape { rows: self.cells.len(), columns: self.types.len() }
    }

    pub(super) fn is_columns(&self) -> bool {
        self.parts.len() == 1 && self.parts[0].takes_gaps
    }

    /// Whether the dictionary says that values of a column may be missing.
    pub(super) fn flag(&self, column: usize) -> bool {
        let has_flag = |part: &Part| part.columns.contains(&column) && part.nullable[column - part.columns.start];
        self.parts.iter().any(has_flag)
    }

    pub(super) fn flags(&self) -> Vec<bool> {
        (0..self.types.len()).map(|column| self.flag(column)).collect()
    }

    fn part_of(&self, row: usize, column: usize) -> usize {
        let is_there = |part: &Part| part.rows.contains(&row) && part.columns.contains(&column);
        self.parts.iter().position(is_there).expect("the parts are the sheet")
    }

    fn is_nullable(&self, row: usize, column: usize) -> bool {
        let part = &self.parts[self.part_of(row, column)];
        part.nullable[column - part.columns.start]
    }

    pub(super) fn column(&self, column: usize) -> Vec<Cell> {
        self.cells.iter().map(|row| row[column]).collect()
    }

    pub(super) fn has_missing(&self, column: usize) -> bool {
        self.cells.iter().any(|row| row[column].is_none())
    }

    pub(super) fn columns_of(&self, column: Option<usize>) -> Range<usize> {
        column.map_or(0..self.types.len(), |column| column..column + 1)
    }

    pub(super) fn check(&self, rows: &Range<usize>, column: Option<usize>) -> Expected<()> {
        let mut faults = Vec::new();
        if column.is_some_and(|column| column >= self.types.len()) {
            faults.push(Fault::Column);
        }
        if rows.start > rows.end || rows.end > self.cells.len() {
            faults.push(Fault::Rows);
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn places(rows: Range<usize>, columns: Range<usize>) -> impl Iterator<Item = (usize, usize)> + Clone {
        rows.flat_map(move |row| columns.clone().map(move |column| (row, column)))
    }

    /// What a block shows: NaN for a missing value.
    pub(super) fn read(
        &self,
        rows: Range<usize>,
        column: Option<usize>,
        element: ElementType,
        policy: ConversionPolicy,
    ) -> Expected<Vec<Number>> {
        self.check(&rows, column)?;
        let places = Self::places(rows, self.columns_of(column));
        let missing = places.clone().find(|&(row, column)| self.cells[row][column].is_none());
        let refused = places.clone().find(|&(row, column)| {
            let number = self.cells[row][column];
            number.is_some_and(|number| !may_convert(number, self.types[column], element, policy))
        });
        // The first one of both.
        let missing = missing.filter(|_| !element.is_float());
        match (missing, refused) {
            (Some((row, column)), _) if refused.is_none_or(|place| place > (row, column)) => {
                return Err(vec![Fault::Missing(row, column)]);
            }
            (_, Some((row, column))) => return Err(vec![Fault::Value(row, column)]),
            _ => {}
        }
        Ok(places.map(|(row, column)| self.shown(row, column, element)).collect())
    }

    fn shown(&self, row: usize, column: usize, element: ElementType) -> Number {
        match self.cells[row][column] {
            Some(number) => converted(number, self.types[column], element),
            None => Number::Float(f64::NAN),
        }
    }

    /// Writes a region, all or nothing. `keeps` leaves alone what a block has shown and what was not changed.
    pub(super) fn write(
        &self,
        rows: Range<usize>,
        column: Option<usize>,
        element: ElementType,
        values: &[Number],
        keeps: bool,
    ) -> Expected<Self> {
        self.check(&rows, column)?;
        let mut written = self.clone();
        for ((row, column), &new) in Self::places(rows, self.columns_of(column)).zip(values) {
            let stored = self.types[column];
            let makes_gaps = self.is_nullable(row, column) && !stored.is_float();
            let becomes = match self.cells[row][column] {
                None if is_nan(new) => None,
                Some(_) if is_nan(new) && makes_gaps => None,
                Some(old) if keeps && element != stored && converted(old, stored, element) == new => Some(old),
                _ if may_convert(new, element, stored, ConversionPolicy::Checked) => {
                    Some(converted(new, element, stored))
                }
                _ => return Err(vec![Fault::Value(row, column)]),
            };
            written.cells[row][column] = becomes;
        }
        Ok(written)
    }

    pub(super) fn fill(&self, element: ElementType, value: Number) -> Expected<Self> {
        let count = self.cells.len() * self.types.len();
        self.write(0..self.cells.len(), None, element, &vec![value; count], false)
    }

    /// Makes the flagged rows of a column missing.
    pub(super) fn with_missing(&self, column: usize, is_missing: &[bool]) -> Expected<Self> {
        let mut new = self.clone();
        for (row, _) in is_missing.iter().enumerate().filter(|(_, is_missing)| **is_missing) {
            let part = self.part_of(row, column);
            if !self.parts[part].takes_gaps {
                return Err(vec![Fault::ReadOnly]);
            }
            let first = self.parts[part].columns.start;
            new.parts[part].nullable[column - first] = true;
            new.cells[row][column] = None;
        }
        Ok(new)
    }

    /// Puts rows behind the last one: numbers of one type, or none.
    pub(super) fn append(
        &self,
        element: impl Fn(usize) -> ElementType,
        rows: &[Vec<Cell>],
        by: Source,
    ) -> Expected<Self> {
        let mut new = self.clone();
        for (index, cells) in rows.iter().enumerate() {
            let mut row = Vec::new();
            for (column, &cell) in cells.iter().enumerate() {
                let (from, stored) = (element(column), self.types[column]);
                let makes_gaps = by == Source::Numbers && self.parts[0].nullable[column] && !stored.is_float();
                row.push(match cell {
                    None => None,
                    Some(number) if is_nan(number) && makes_gaps => None,
                    Some(number) if may_convert(number, from, stored, ConversionPolicy::Checked) => {
                        Some(converted(number, from, stored))
                    }
                    _ => return Err(vec![Fault::Value(self.cells.len() + index, column)]),
                });
                new.parts[0].nullable[column] |= row[column].is_none();
            }
            new.cells.push(row);
        }
        new.parts[0].rows = 0..new.cells.len();
        Ok(new)
    }

    pub(super) fn resize(&self, rows: usize) -> Expected<Self> {
        if self.parts.len() > 1 {
            return Err(vec![Fault::ReadOnly]);
        }
        let mut new = self.clone();
        new.cells.resize(rows, self.types.iter().map(|&element| Some(Number::zero(element))).collect());
        new.parts[0].rows = 0..rows;
        Ok(new)
    }

    /// A copy of rows: as all calls make them that copy rows.
    pub(super) fn taken(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        let cells = rows.into_iter().map(|row| self.cells[row].clone()).collect();
        self.with_cells(cells)
    }

    pub(super) fn with_cells(&self, cells: Vec<Vec<Cell>>) -> Self {
        let flags = self.flags();
        let is_mixed = self.types.iter().any(|&element| element != self.types[0]);
        let takes_gaps = is_mixed || flags.contains(&true);
        Self::one(self.types.clone(), cells, flags, takes_gaps)
    }

    /// The same as a structure of arrays.
    pub(super) fn columns(&self) -> Self {
        Self::one(self.types.clone(), self.cells.clone(), self.flags(), true)
    }

    /// Some columns of some rows, as a view shows them.
    pub(super) fn part(&self, rows: Range<usize>, columns: &[usize]) -> Self {
        let cells = self.cells[rows].iter().map(|row| columns.iter().map(|&column| row[column]).collect()).collect();
        let flags = columns.iter().map(|&column| self.flag(column)).collect();
        Self::one(columns.iter().map(|&column| self.types[column]).collect(), cells, flags, true)
    }

    /// The numbers of the rows in ascending order of a column: numbers, NaN, missing values.
    pub(super) fn sorted(&self, column: usize) -> Vec<usize> {
        let mut rows = (0..self.cells.len()).collect::<Vec<_>>();
        let rank = |cell: Cell| cell.map_or(2, |number| u8::from(is_nan(number)));
        rows.sort_by(|&one, &other| {
            let (one, other) = (self.cells[one][column], self.cells[other][column]);
            rank(one).cmp(&rank(other)).then(match (one, other) {
                (Some(Number::Integer(one)), Some(Number::Integer(other))) => one.cmp(&other),
                (Some(Number::Float(one)), Some(Number::Float(other))) => {
                    one.partial_cmp(&other).unwrap_or(Ordering::Equal)
                }
                _ => Ordering::Equal,
            })
        });
        rows
    }

    pub(super) fn present_rows(&self, columns: Range<usize>) -> Vec<usize> {
        let is_present = |row: &usize| self.cells[*row][columns.clone()].iter().all(Option::is_some);
        (0..self.cells.len()).filter(is_present).collect()
    }
}

/// Where appended values are from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// NaN may make a gap.
    Numbers,
    Table,
}
