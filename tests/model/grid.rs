//! The model of a table of any kind: a grid of numbers, the types of its columns, and what its kind refuses.

use std::ops::Range;

use numeric_table::Triangle;
use numeric_table::prelude::*;

use super::number::{Number, number_of};

/// The variant of an error, with as much of it as the model foretells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    Rows,
    Column,
    /// A value that its column cannot hold; where, if the model says so.
    Value(Option<(usize, usize)>),
    NotStored,
    Mirror,
    Outside,
    ReadOnly,
    Unforeseen(String),
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        match error {
            Error::RowsOutOfRange { .. } => Self::Rows,
            Error::ColumnOutOfRange { .. } => Self::Column,
            &Error::ValueNotRepresentable { row, column, value, .. } => {
                number_of(value);
                Self::Value(Some((row, column)))
            }
            Error::NotStored { .. } => Self::NotStored,
            Error::UnequalMirror { .. } => Self::Mirror,
            Error::OutsideTriangle { .. } => Self::Outside,
            Error::ReadOnlyTable => Self::ReadOnly,
            other => Self::Unforeseen(other.to_string()),
        }
    }
}

/// What may come of a call. If any fault must be reported, the call fails; nothing has changed then.
#[derive(Debug, Default)]
pub(crate) struct Foretold {
    must: Vec<Fault>,
    may: Vec<Fault>,
}

impl Foretold {
    pub(crate) fn fault(fault: Fault) -> Self {
        Self { must: vec![fault], may: Vec::new() }
    }

    /// Checks what has come of the call, and returns whether it succeeded.
    pub(crate) fn agrees_with(&self, result: &Result<(), Error>) -> Result<bool, String> {
        match result {
            Ok(()) if self.must.is_empty() => Ok(true),
            Ok(()) => Err(format!("succeeded, and not {:?}", self.must)),
            Err(error) => {
                let found = Fault::from(error);
                let is =
                    |fault: &Fault| *fault == found || matches!((fault, &found), (Fault::Value(None), Fault::Value(_)));
                match self.must.iter().chain(&self.may).any(is) {
                    true => Ok(false),
                    false => Err(format!("failed with {error:?}, and not {self:?}")),
                }
            }
        }
    }
}

/// Which cells can be written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rule {
    All,
    /// Those that are stored; any other is zero.
    Stored(Vec<Vec<bool>>),
    /// Each with its mirror.
    Symmetric,
    /// Those of a triangle; any other is zero.
    Triangular(Triangle),
}

#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) types: Vec<ElementType>,
    pub(crate) cells: Vec<Vec<Number>>,
    pub(crate) rule: Rule,
    pub(crate) can_resize: bool,
}

fn is_zero(number: Number) -> bool {
    match number {
        Number::Integer(value) => value == 0,
        Number::Float(value) => value == 0.0,
    }
}

impl Grid {
    pub(crate) fn shape(&self) -> Shape {
        Shape { rows: self.cells.len(), columns: self.types.len() }
    }

    /// Returns what is wrong with asking for rows, and for one column or all.
    pub(crate) fn check(&self, rows: &Range<usize>, column: Option<usize>) -> Foretold {
        let mut foretold = Foretold::default();
        if rows.start > rows.end || rows.end > self.cells.len() {
            foretold.must.push(Fault::Rows);
        }
        if column.is_some_and(|column| column >= self.types.len()) {
            foretold.must.push(Fault::Column);
        }
        foretold
    }

    fn columns(&self, column: Option<usize>) -> Range<usize> {
        column.map_or(0..self.types.len(), |column| column..column + 1)
    }

    /// Returns the values of a region in another type, row by row.
    pub(crate) fn read(&self, rows: Range<usize>, column: Option<usize>, element: ElementType) -> Vec<Number> {
        let show = |row: &Vec<Number>| {
            let shown = self.columns(column).map(|column| self.shown(row[column], column, element));
            shown.collect::<Vec<_>>()
        };
        self.cells[rows].iter().flat_map(show).collect()
    }

    fn shown(&self, value: Number, column: usize, element: ElementType) -> Number {
        if element == self.types[column] { value } else { value.saturate(element) }
    }

    /// Writes what has changed of a region's values, which are of type `element`: all of it, or nothing if anything is
    /// refused. Returns what is foretold, and the grid if the call succeeds.
    pub(crate) fn write(
        &self,
        rows: Range<usize>,
        column: Option<usize>,
        element: ElementType,
        values: &[Number],
    ) -> (Foretold, Self) {
        let (mut foretold, mut written) = (Foretold::default(), self.clone());
        let places = rows.flat_map(|row| self.columns(column).map(move |column| (row, column)));
        let given = places.zip(values.iter().copied()).collect::<Vec<_>>();
        let value_at = |place: (usize, usize)| given.iter().find(|(other, _)| *other == place).map(|&(_, value)| value);
        for &((row, column), new) in &given {
            let (old, target) = (self.cells[row][column], self.types[column]);
            let is_changed = self.shown(old, column, element) != new;
            if element != target && !is_changed {
                continue;
            }
            if element != target && !new.fits(target) && !foretold.must.iter().any(|f| matches!(f, Fault::Value(_))) {
                foretold.must.push(Fault::Value(Some((row, column))));
            }
            let converted = if element == target { new } else { new.saturate(target) };
            if let Some(fault) = self.refuses(row, column, new, value_at((column, row))) {
                // A value that becomes what is there already may be taken or refused.
                let becomes_it = match fault {
                    Fault::Mirror => value_at((column, row)).is_some_and(|mirror| mirror.saturate(target) == converted),
                    _ => is_zero(converted),
                };
                if becomes_it {
                    foretold.may.push(fault)
                } else {
                    foretold.must.push(fault)
                }
                continue;
            }
            written.put(row, column, converted);
        }
        (foretold, written)
    }

    /// Returns why a value cannot be written to a cell, whose mirror is given a value too, or not.
    fn refuses(&self, row: usize, column: usize, new: Number, mirror: Option<Number>) -> Option<Fault> {
        match &self.rule {
            Rule::All => None,
            Rule::Stored(is_stored) => (!is_stored[row][column] && !is_zero(new)).then_some(Fault::NotStored),
            Rule::Symmetric => mirror.is_some_and(|mirror| mirror != new).then_some(Fault::Mirror),
            Rule::Triangular(triangle) => {
                (!is_inside(*triangle, row, column) && !is_zero(new)).then_some(Fault::Outside)
            }
        }
    }

    fn put(&mut self, row: usize, column: usize, value: Number) {
        let is_there = match &self.rule {
            Rule::Stored(is_stored) => is_stored[row][column],
            Rule::Triangular(triangle) => is_inside(*triangle, row, column),
            Rule::All | Rule::Symmetric => true,
        };
        if is_there {
            self.cells[row][column] = value;
        }
        if self.rule == Rule::Symmetric {
            self.cells[column][row] = value;
        }
    }

    /// Writes one value to every cell.
    pub(crate) fn fill(&self, element: ElementType, value: Number) -> (Foretold, Self) {
        let (mut foretold, mut written) = (Foretold::default(), self.clone());
        for row in 0..self.cells.len() {
            for column in 0..self.types.len() {
                let target = self.types[column];
                if element != target && !value.fits(target) {
                    foretold.must.push(Fault::Value(None));
                }
                let converted = if element == target { value } else { value.saturate(target) };
                match self.refuses(row, column, value, None) {
                    Some(fault) if is_zero(converted) => foretold.may.push(fault),
                    Some(fault) => foretold.must.push(fault),
                    None => written.put(row, column, converted),
                }
            }
        }
        (foretold, written)
    }

    pub(crate) fn resize(&self, rows: usize) -> (Foretold, Self) {
        if !self.can_resize {
            return (Foretold::fault(Fault::ReadOnly), self.clone());
        }
        let mut resized = self.clone();
        let zeros = self.types.iter().map(|&element| Number::zero(element)).collect::<Vec<_>>();
        resized.cells.resize(rows, zeros);
        if let Rule::Stored(is_stored) = &mut resized.rule {
            is_stored.resize(rows, vec![false; self.types.len()]);
        }
        (Foretold::default(), resized)
    }
}

pub(crate) fn is_inside(triangle: Triangle, row: usize, column: usize) -> bool {
    match triangle {
        Triangle::Upper => column >= row,
        Triangle::Lower => column <= row,
    }
}
