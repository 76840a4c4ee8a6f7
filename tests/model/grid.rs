//! The model of a table of any kind: a grid of numbers, the types of its columns, and what its kind refuses.

use std::ops::Range;

use numeric_table::prelude::*;
use numeric_table::table::Triangle;

use super::number::{Number, number_of};

/// The variant of an error, with the cell that it names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    Rows,
    Column,
    /// A value that its column cannot hold; where.
    Value(usize, usize),
    NotStored(usize, usize),
    /// Where the upper one of the two cells is.
    Mirror(usize, usize),
    Outside(usize, usize),
    ReadOnly,
    Unforeseen(String),
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::RowsOutOfRange { .. } => Self::Rows,
            ErrorKind::ColumnOutOfRange { .. } => Self::Column,
            &ErrorKind::ValueNotRepresentable { row, column, value, .. } => {
                number_of(value);
                Self::Value(row, column)
            }
            &ErrorKind::NotStored { row, column, value: None } => Self::NotStored(row, column),
            &ErrorKind::AsymmetricValue { row, column, mirror, .. } if mirror == (column, row) => {
                Self::Mirror(row, column)
            }
            &ErrorKind::NotStored { row, column, value: Some(_) } => Self::Outside(row, column),
            ErrorKind::ReadOnlyTable => Self::ReadOnly,
            _ => Self::Unforeseen(error.to_string()),
        }
    }
}

/// What comes of a call: it fails with this fault, and nothing has changed then, or succeeds.
#[derive(Debug, Default)]
pub(crate) struct Foretold(Option<Fault>);

impl Foretold {
    pub(crate) fn fault(fault: Fault) -> Self {
        Self(Some(fault))
    }

    /// Checks what has come of the call, and returns whether it succeeded.
    pub(crate) fn agrees_with(&self, result: &Result<(), Error>) -> Result<bool, String> {
        match (result, &self.0) {
            (Ok(()), None) => Ok(true),
            (Ok(()), Some(fault)) => Err(format!("succeeded, and not {fault:?}")),
            (Err(error), Some(fault)) if Fault::from(error) == *fault => Ok(false),
            (Err(error), foretold) => Err(format!("failed with {error:?}, and not {foretold:?}")),
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
    /// As of `Stored`; those from a column on not together with those before it.
    Beside(usize, Vec<Vec<bool>>),
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
        if column.is_some_and(|column| column >= self.types.len()) {
            return Foretold::fault(Fault::Column);
        }
        Foretold((rows.start > rows.end || rows.end > self.cells.len()).then_some(Fault::Rows))
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
        let (mut written, columns) = (self.clone(), self.columns(column));
        if !rows.is_empty() && self.cannot_be_written_together(&columns) {
            return (Foretold::fault(Fault::ReadOnly), written);
        }
        let places = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
        let given = places.zip(values.iter().copied()).collect::<Vec<_>>();
        let becomes = |place: (usize, usize)| {
            let &(_, new) = given.iter().find(|(other, _)| *other == place)?;
            Some(if self.is_changed(place, element, new) { self.stored(place, element, new) } else { self.at(place) })
        };
        let fault = given.iter().find_map(|&(place, new)| {
            let fits = element == self.types[place.1] || new.fits(self.types[place.1]);
            if self.is_changed(place, element, new) && !fits {
                return Some(Fault::Value(place.0, place.1));
            }
            self.refuses(place, becomes(place)?, becomes((place.1, place.0)))
        });
        for &(place, new) in &given {
            if self.is_changed(place, element, new) {
                written.put(place.0, place.1, self.stored(place, element, new));
            }
        }
        (Foretold(fault), written)
    }

    fn at(&self, (row, column): (usize, usize)) -> Number {
        self.cells[row][column]
    }

    /// Returns whether a value of a block is written: not if the block has shown it.
    fn is_changed(&self, place: (usize, usize), element: ElementType, new: Number) -> bool {
        element == self.types[place.1] || self.shown(self.at(place), place.1, element) != new
    }

    /// Returns what a value is as it is stored.
    fn stored(&self, (_, column): (usize, usize), element: ElementType, new: Number) -> Number {
        if element == self.types[column] { new } else { new.saturate(self.types[column]) }
    }

    /// Returns why a cell cannot become a value, if its mirror, which is written too, becomes another one.
    fn refuses(&self, (row, column): (usize, usize), value: Number, mirror: Option<Number>) -> Option<Fault> {
        match &self.rule {
            Rule::All => None,
            Rule::Stored(is_stored) | Rule::Beside(_, is_stored) => {
                (!is_stored[row][column] && !is_zero(value)).then_some(Fault::NotStored(row, column))
            }
            Rule::Symmetric => {
                (row < column && mirror.is_some_and(|mirror| mirror != value)).then_some(Fault::Mirror(row, column))
            }
            Rule::Triangular(triangle) => {
                (!is_inside(*triangle, row, column) && !is_zero(value)).then_some(Fault::Outside(row, column))
            }
        }
    }

    fn cannot_be_written_together(&self, columns: &Range<usize>) -> bool {
        matches!(self.rule, Rule::Beside(first, _) if columns.start < first && first < columns.end)
    }

    fn put(&mut self, row: usize, column: usize, value: Number) {
        let is_there = match &self.rule {
            Rule::Stored(is_stored) | Rule::Beside(_, is_stored) => is_stored[row][column],
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

    /// Writes one value to every cell. Whether the columns can hold it is checked before all else.
    pub(crate) fn fill(&self, element: ElementType, value: Number) -> (Foretold, Self) {
        let mut written = self.clone();
        if self.cells.is_empty() {
            return (Foretold::default(), written);
        }
        let holds_it = |&target: &ElementType| element == target || value.fits(target);
        if let Some(column) = self.types.iter().position(|target| !holds_it(target)) {
            return (Foretold::fault(Fault::Value(0, column)), written);
        }
        if self.cannot_be_written_together(&self.columns(None)) {
            return (Foretold::fault(Fault::ReadOnly), written);
        }
        let places = (0..self.cells.len()).flat_map(|row| self.columns(None).map(move |column| (row, column)));
        let fault = places.clone().find_map(|place| self.refuses(place, self.stored(place, element, value), None));
        places.for_each(|place| written.put(place.0, place.1, self.stored(place, element, value)));
        (Foretold(fault), written)
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
