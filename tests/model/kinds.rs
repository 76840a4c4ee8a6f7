//! Random sequences of calls on tables of every kind, against the model of `grid`.
//!
//! `NUMERIC_TABLE_SEQUENCES` and `NUMERIC_TABLE_SEED` as for the model of homogeneous tables.

use std::ops::Range;

use numeric_table::prelude::*;
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, MergedNumericTable, PackedSymmetricMatrix, PackedTriangularMatrix,
    RowMergedNumericTable, SoaNumericTable, files,
    table::{RecordLayout, Triangle},
};
use proptest::prelude::{Just, Strategy, any, prop};
use proptest::prop_oneof;
use proptest::test_runner::{TestCaseError, TestCaseResult};

use super::grid::{Fault, Foretold, Grid, Rule, is_inside};
use super::number::{ELEMENTS, Number, Typed, with_type};
use super::real::{self, Cut, End};
use super::state::edit;

type Boxed = Box<dyn NumericTable>;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Homogeneous(DataLayout),
    Columns,
    Records,
    Sparse(u64),
    Symmetric(Triangle, DataLayout),
    Triangular(Triangle, DataLayout),
    SideBySide(usize),
    /// A structure of arrays, and sparse rows from this column on.
    BesideSparse(usize, u64),
    EndToEnd(usize),
}

#[derive(Clone, Debug)]
struct Creation {
    kind: Kind,
    rows: usize,
    types: Vec<ElementType>,
    values: Vec<Number>,
}

#[derive(Clone, Debug)]
enum Call {
    Read { element: ElementType, column: Option<usize>, rows: Range<usize> },
    Write { element: ElementType, column: Option<usize>, rows: Range<usize>, edits: Vec<(usize, Number)>, end: End },
    Lend { element: ElementType, column: Option<usize>, rows: Range<usize>, edits: Vec<(usize, Number)> },
    SetValue { element: ElementType, row: usize, column: usize, value: Number },
    Fill { element: ElementType, value: Number },
    Resize { rows: usize },
    ThroughFile,
    ThroughArchive,
    Convert { element: ElementType },
}

/// Makes the table, and its model.
fn create(Creation { kind, rows, types, values }: Creation) -> (Boxed, Grid) {
    let is_square = matches!(kind, Kind::Symmetric(..) | Kind::Triangular(..));
    let has_one_type = !matches!(kind, Kind::Columns | Kind::Records | Kind::SideBySide(_) | Kind::BesideSparse(..));
    let columns = if is_square { rows } else { types.len() };
    let last_type = match kind {
        _ if has_one_type => 0,
        Kind::BesideSparse(first, _) => first % (columns + 1),
        _ => columns,
    };
    let types = (0..columns).map(|column| types[column.min(last_type)]).collect::<Vec<_>>();
    let mut next = values.iter().cycle();
    let cell = |element: &ElementType, next: &mut dyn Iterator<Item = &Number>| next.next().unwrap().saturate(*element);
    let mut cells =
        (0..rows).map(|_| types.iter().map(|element| cell(element, &mut next)).collect::<Vec<_>>()).collect::<Vec<_>>();
    let pattern = |first: usize, bits: u64| {
        let is_stored = |row: usize, column: usize| bits >> ((row * columns + column) % 64) & 1 == 1;
        let row = |row: usize| (0..columns).map(|column| column < first || is_stored(row, column)).collect::<Vec<_>>();
        (0..rows).map(row).collect::<Vec<_>>()
    };
    let rule = match kind {
        Kind::Sparse(bits) => Rule::Stored(pattern(0, bits)),
        Kind::BesideSparse(first, bits) => {
            let first = first % (columns + 1);
            Rule::Beside(first, pattern(first, bits))
        }
        Kind::Symmetric(..) => Rule::Symmetric,
        Kind::Triangular(triangle, _) => Rule::Triangular(triangle),
        _ => Rule::All,
    };
    for row in 0..rows {
        for column in 0..columns {
            let is_zero = match &rule {
                Rule::Stored(is_stored) | Rule::Beside(_, is_stored) => !is_stored[row][column],
                Rule::Triangular(triangle) => !is_inside(*triangle, row, column),
                _ => false,
            };
            if is_zero {
                cells[row][column] = Number::zero(types[column]);
            } else if rule == Rule::Symmetric {
                cells[row][column] = cells[column.min(row)][column.max(row)];
            }
        }
    }
    let is_merged = matches!(kind, Kind::SideBySide(_) | Kind::BesideSparse(..) | Kind::EndToEnd(_));
    let can_resize = !is_square && !is_merged;
    let grid = Grid { types, cells, rule, can_resize };
    (table_of(kind, &grid), grid)
}

fn array(element: ElementType, values: impl Iterator<Item = Number>) -> AnyArray {
    with_type!(element, T => AnyArray::from(values.map(T::from_number).collect::<Vec<T>>()))
}

fn homogeneous(grid: &Grid, rows: Range<usize>, columns: Range<usize>, layout: DataLayout) -> Boxed {
    let shape = Shape { rows: rows.len(), columns: columns.len() };
    with_type!(grid.types.first().copied().unwrap_or(ElementType::F64), T => {
        let values = |row: usize, column: usize| T::from_number(grid.cells[rows.start + row][columns.start + column]);
        let table = HomogenNumericTable::<T>::from_fn(shape, values).unwrap();
        Box::new(table.to_layout(layout).unwrap())
    })
}

fn columns_of(grid: &Grid, columns: Range<usize>) -> SoaNumericTable {
    let column =
        |column: usize| (column.to_string(), array(grid.types[column], grid.cells.iter().map(|row| row[column])));
    SoaNumericTable::from_columns(columns.map(column)).unwrap()
}

/// Records in which the last column comes first, and some bytes are of no column.
fn records(grid: &Grid) -> AosNumericTable {
    let columns = grid.types.len();
    let mut layout = RecordLayout::new(8 * columns + 8);
    for (column, &element) in grid.types.iter().enumerate() {
        layout = layout.field("", element, 8 * (columns - column)).unwrap();
    }
    let mut bytes = Vec::new();
    for row in &grid.cells {
        let mut record = vec![0xA5_u8; layout.size()];
        for (column, (&element, &value)) in grid.types.iter().zip(row).enumerate() {
            let at = 8 * (columns - column);
            with_type!(element, T => {
                record[at..at + size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&T::from_number(value)));
            });
        }
        bytes.extend(record);
    }
    AosNumericTable::from_record_bytes(bytes, &layout).unwrap()
}

/// The columns from one on, of one type.
fn sparse(grid: &Grid, columns: Range<usize>, is_stored: &[Vec<bool>]) -> CsrNumericTable {
    let (mut offsets, mut indices, mut values) = (vec![0_i32], Vec::<u32>::new(), Vec::new());
    for (row, is_stored) in grid.cells.iter().zip(is_stored) {
        for column in columns.clone().filter(|&column| is_stored[column]) {
            indices.push((column - columns.start) as u32);
            values.push(row[column]);
        }
        offsets.push(indices.len() as i32);
    }
    let values = array(grid.types.get(columns.start).copied().unwrap_or(ElementType::F64), values.into_iter());
    let shape = Shape { rows: grid.cells.len(), columns: columns.len() };
    CsrNumericTable::try_new(shape, offsets, indices, values).unwrap()
}

/// The values of a triangle, in the order in which they are packed.
fn packed(grid: &Grid, triangle: Triangle, order: DataLayout) -> AnyArray {
    let n = grid.cells.len();
    let mut places = (0..n).flat_map(|row| (0..n).map(move |column| (row, column))).collect::<Vec<_>>();
    places.retain(|&(row, column)| is_inside(triangle, row, column));
    if order == DataLayout::ColumnMajor {
        places.sort_by_key(|&(row, column)| (column, row));
    }
    let element = grid.types.first().copied().unwrap_or(ElementType::F64);
    array(element, places.into_iter().map(|(row, column)| grid.cells[row][column]))
}

fn table_of(kind: Kind, grid: &Grid) -> Boxed {
    let Shape { rows, columns } = grid.shape();
    match (kind, &grid.rule) {
        (Kind::Homogeneous(layout), _) => homogeneous(grid, 0..rows, 0..columns, layout),
        (Kind::Columns, _) => Box::new(columns_of(grid, 0..columns)),
        (Kind::Records, _) => Box::new(records(grid)),
        (Kind::Sparse(_), Rule::Stored(is_stored)) => Box::new(sparse(grid, 0..columns, is_stored)),
        (Kind::Symmetric(triangle, order), _) => {
            Box::new(PackedSymmetricMatrix::from_packed(packed(grid, triangle, order), triangle, order).unwrap())
        }
        (Kind::Triangular(triangle, order), _) => {
            Box::new(PackedTriangularMatrix::from_packed(packed(grid, triangle, order), triangle, order).unwrap())
        }
        (Kind::SideBySide(cut), _) => {
            let cut = cut % (columns + 1);
            let first: Boxed = Box::new(columns_of(grid, 0..cut));
            let right = Grid { types: grid.types[cut..].to_vec(), ..grid.clone() };
            let right = Grid { cells: grid.cells.iter().map(|row| row[cut..].to_vec()).collect(), ..right };
            let parts = [first, Box::new(records(&right))];
            // A structure of arrays without columns has no rows to put beside others.
            let parts = parts.into_iter().filter(|part| part.column_count() > 0 || rows == 0);
            Box::new(MergedNumericTable::new(parts).unwrap())
        }
        (Kind::BesideSparse(..), Rule::Beside(first, is_stored)) => {
            let parts: [Boxed; 2] =
                [Box::new(columns_of(grid, 0..*first)), Box::new(sparse(grid, *first..columns, is_stored))];
            let parts = parts.into_iter().filter(|part| part.column_count() > 0 || rows == 0);
            Box::new(MergedNumericTable::new(parts).unwrap())
        }
        (Kind::EndToEnd(cut), _) => {
            let cut = cut % (rows + 1);
            let parts = [
                homogeneous(grid, 0..cut, 0..columns, DataLayout::RowMajor),
                homogeneous(grid, cut..rows, 0..columns, DataLayout::ColumnMajor),
            ];
            Box::new(RowMergedNumericTable::new(parts).unwrap())
        }
        (kind, rule) => unreachable!("{kind:?} with {rule:?}"),
    }
}

fn cut_of(column: Option<usize>) -> Cut {
    column.map_or(Cut::AllColumns, Cut::Column)
}

struct World {
    table: Boxed,
    grid: Grid,
}

impl World {
    fn apply(&mut self, call: Call) -> Result<(), String> {
        match call {
            Call::Read { element, column, rows } => {
                let read = real::read(&*self.table, element, cut_of(column), rows.clone());
                let found = read.as_ref().map(|shown| shown.values.clone());
                let result = read.as_ref().map(drop).map_err(clone_of);
                if self.grid.check(&rows, column).agrees_with(&result)? {
                    same(&found.unwrap_or_default(), &self.grid.read(rows, column, element))?;
                }
            }
            Call::Write { element, column, rows, edits, end } => {
                let written = real::write(&mut *self.table, element, cut_of(column), rows.clone(), &edits, end);
                let result = written.as_ref().map(drop).map_err(clone_of);
                if !self.grid.check(&rows, column).agrees_with(&result)? {
                    return Ok(());
                }
                let (shown, _, last) = written.map_err(|error| error.to_string())?;
                let mut values = self.grid.read(rows.clone(), column, element);
                same(&shown.values, &values)?;
                edit(&mut values, &edits, element);
                let (foretold, after) = self.grid.write(rows, column, element, &values);
                match end {
                    End::Release => {
                        if foretold.agrees_with(&last)? {
                            self.grid = after;
                        }
                    }
                    End::Discard if !shown.is_zero_copy => {}
                    _ => self.grid = after, // in place
                }
            }
            Call::Lend { element, column, rows, edits } => {
                let (result, found) = with_type!(element, U => self.lend::<U>(column, rows.clone(), &edits));
                let mut values = self.grid.read(rows.clone(), column, element);
                same(&found, &values)?;
                edit(&mut values, &edits, element);
                let (foretold, after) = self.grid.write(rows, column, element, &values);
                if foretold.agrees_with(&result)? {
                    self.grid = after;
                }
            }
            Call::SetValue { element, row, column, value } => {
                let value = value.saturate(element);
                let result = real::set_value(&mut *self.table, element, row, column, value);
                let wrong = if row < self.grid.cells.len() { Fault::Column } else { Fault::Rows };
                if self.is_there(row, column) {
                    let (foretold, after) = self.grid.set(row, column, element, value);
                    if foretold.agrees_with(&result)? {
                        self.grid = after;
                    }
                } else {
                    Foretold::fault(wrong).agrees_with(&result)?;
                }
            }
            Call::Fill { element, value } => {
                let value = value.saturate(element);
                let result = real::assign(&mut *self.table, element, value);
                let (foretold, after) = self.grid.fill(element, value);
                if foretold.agrees_with(&result)? {
                    self.grid = after;
                }
            }
            Call::Resize { rows } => {
                let (foretold, after) = self.grid.resize(rows);
                if foretold.agrees_with(&self.table.resize(rows))? {
                    self.grid = after;
                }
            }
            Call::ThroughFile => {
                let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
                let path = folder.path().join("table.ntb");
                let options = numeric_table::files::SaveOptions::new().durable(false);
                self.table.save_with(&path, options).map_err(|error| error.to_string())?;
                self.replace(files::load(&path));
            }
            Call::ThroughArchive => self.replace(self.table.to_bytes().and_then(|bytes| files::from_bytes(&bytes))),
            Call::Convert { element } => {
                let (rows, columns) = (self.grid.cells.len(), self.grid.types.len());
                let values = self.grid.read(0..rows, None, element);
                self.table = with_type!(element, T => Box::new(self.table.convert::<T>().unwrap()));
                let cells = (0..rows).map(|row| values[row * columns..(row + 1) * columns].to_vec()).collect();
                self.grid = Grid { types: vec![element; columns], cells, rule: Rule::All, can_resize: true };
            }
        }
        self.check()
    }

    fn is_there(&self, row: usize, column: usize) -> bool {
        row < self.grid.cells.len() && column < self.grid.types.len()
    }

    /// Changes values in a descriptor; returns what releasing it gave, and what it had shown.
    fn lend<U: Typed>(
        &mut self,
        column: Option<usize>,
        rows: Range<usize>,
        edits: &[(usize, Number)],
    ) -> (Result<(), Error>, Vec<Number>) {
        let (table, mut block, mode) = (&mut *self.table, BlockDescriptor::<U>::new(), ReadWriteMode::ReadWrite);
        match column {
            None => table.get_block_of_rows(rows.start, rows.len(), mode, &mut block).unwrap(),
            Some(column) => {
                table.get_block_of_column_values(column, rows.start, rows.len(), mode, &mut block).unwrap();
            }
        }
        let shown = block.as_slice().iter().map(|value| value.number()).collect::<Vec<_>>();
        let mut values = shown.clone();
        edit(&mut values, edits, U::TYPE);
        for (to, &value) in block.as_mut_slice().unwrap().iter_mut().zip(&values) {
            *to = U::from_number(value);
        }
        let released = match column {
            None => table.release_block_of_rows(&mut block),
            Some(_) => table.release_block_of_column_values(&mut block),
        };
        (released, shown)
    }

    /// What comes back has the kind's rule, or none if it is stored as what it shows.
    fn replace(&mut self, table: Result<Boxed, Error>) {
        self.table = table.unwrap();
        if matches!(self.grid.rule, Rule::Beside(..)) {
            self.grid.rule = Rule::All;
        }
        self.grid.can_resize |= self.grid.rule == Rule::All;
    }

    fn check(&self) -> Result<(), String> {
        if self.table.shape() != self.grid.shape() {
            return Err(format!("the shape is {}, not {}", self.table.shape(), self.grid.shape()));
        }
        for (column, &element) in self.grid.types.iter().enumerate() {
            let rows = 0..self.grid.cells.len();
            if self.table.column_type(column).ok() != Some(element) {
                return Err(format!("column {column} is not {element}"));
            }
            let read = real::read(&*self.table, element, Cut::Column(column), rows.clone());
            let found = read.map_err(|error| error.to_string())?.values;
            same(&found, &self.grid.read(rows, Some(column), element))?;
        }
        Ok(())
    }
}

impl Grid {
    /// Writes one value, whether it has changed or not.
    fn set(&self, row: usize, column: usize, element: ElementType, value: Number) -> (Foretold, Self) {
        let one = Grid { types: vec![self.types[column]], cells: vec![vec![self.cells[row][column]]], ..self.clone() };
        let one = Grid { rule: Rule::All, ..one };
        let (fits, _) = one.fill(element, value);
        if fits.agrees_with(&Ok(())).is_err() {
            return (Foretold::fault(Fault::Value(row, column)), self.clone());
        }
        let (foretold, after) = self.write(row..row + 1, Some(column), element, &[value]);
        match foretold.agrees_with(&Ok(())) {
            Ok(_) if self.types[column] != element => {
                // `write` keeps what shows the same value; `set_value` does not.
                let converted = value.saturate(self.types[column]);
                let (_, after) = self.write(row..row + 1, Some(column), self.types[column], &[converted]);
                (foretold, after)
            }
            _ => (foretold, after),
        }
    }
}

fn clone_of(error: &Error) -> Error {
    match error.kind() {
        ErrorKind::RowsOutOfRange { rows, row_count } => {
            Error::new(ErrorKind::RowsOutOfRange { rows: rows.clone(), row_count: *row_count })
        }
        &ErrorKind::ColumnOutOfRange { column, column_count } => {
            Error::new(ErrorKind::ColumnOutOfRange { column, column_count })
        }
        _ => Error::other(error.to_string()),
    }
}

fn same(found: &[Number], expected: &[Number]) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found:?} is not {expected:?}")) }
}

fn creation() -> impl Strategy<Value = Creation> + Clone {
    let layout = prop_oneof![Just(DataLayout::RowMajor), Just(DataLayout::ColumnMajor)];
    let triangle = prop::sample::select(&[Triangle::Upper, Triangle::Lower][..]);
    let order = prop::sample::select(&[DataLayout::RowMajor, DataLayout::ColumnMajor][..]);
    let kind = prop_oneof![
        1 => layout.prop_map(Kind::Homogeneous),
        2 => Just(Kind::Columns),
        2 => Just(Kind::Records),
        3 => any::<u64>().prop_map(Kind::Sparse),
        2 => (triangle.clone(), order.clone()).prop_map(|(triangle, order)| Kind::Symmetric(triangle, order)),
        2 => (triangle, order).prop_map(|(triangle, order)| Kind::Triangular(triangle, order)),
        2 => (0_usize..6).prop_map(Kind::SideBySide),
        2 => (0_usize..6, any::<u64>()).prop_map(|(first, bits)| Kind::BesideSparse(first, bits)),
        2 => (0_usize..6).prop_map(Kind::EndToEnd),
    ];
    let types = prop::collection::vec(prop::sample::select(ELEMENTS), 1..5);
    (kind, 0_usize..6, types, prop::collection::vec(value(), 1..9)).prop_map(|(kind, rows, types, values)| Creation {
        kind,
        rows,
        types,
        values,
    })
}

fn value() -> impl Strategy<Value = Number> + Clone {
    prop_oneof![2 => prop::sample::select(Number::TAME), 3 => prop::sample::select(Number::WILD)]
}

fn edits() -> impl Strategy<Value = Vec<(usize, Number)>> + Clone {
    prop::collection::vec((0_usize..30, value()), 0..5)
}

fn call() -> impl Strategy<Value = Call> {
    let element = || prop::sample::select(ELEMENTS);
    let rows = || (0_usize..7, 0_usize..7).prop_map(|(one, other)| one.min(other)..one.max(other));
    let column = || prop_oneof![1 => Just(None), 1 => (0_usize..6).prop_map(Some)];
    let end = prop_oneof![3 => Just(End::Release), 1 => Just(End::Discard)];
    prop_oneof![
        4 => (element(), column(), rows()).prop_map(|(element, column, rows)| Call::Read { element, column, rows }),
        8 => (element(), column(), rows(), edits(), end)
            .prop_map(|(element, column, rows, edits, end)| Call::Write { element, column, rows, edits, end }),
        4 => (element(), column(), rows(), edits())
            .prop_map(|(element, column, rows, edits)| Call::Lend { element, column, rows, edits }),
        4 => (element(), 0_usize..6, 0_usize..6, value())
            .prop_map(|(element, row, column, value)| Call::SetValue { element, row, column, value }),
        1 => (element(), value()).prop_map(|(element, value)| Call::Fill { element, value }),
        1 => (0_usize..8).prop_map(|rows| Call::Resize { rows }),
        1 => Just(Call::ThroughFile),
        2 => Just(Call::ThroughArchive),
        1 => element().prop_map(|element| Call::Convert { element }),
    ]
}

fn run(creation: &Creation, calls: &[Call]) -> TestCaseResult {
    let (table, grid) = create(creation.clone());
    let mut world = World { table, grid };
    world.check().map_err(TestCaseError::fail)?;
    for (index, call) in calls.iter().enumerate() {
        if let Call::Lend { column, rows, .. } = call {
            let is_inside = rows.end <= world.grid.cells.len() && column.is_none_or(|it| it < world.grid.types.len());
            if !is_inside {
                continue; // a descriptor is cut at the end; the other model has that
            }
        }
        world.apply(call.clone()).map_err(|error| TestCaseError::fail(format!("call {index}, {call:?}: {error}")))?;
    }
    Ok(())
}

#[test]
fn random_sequences_of_calls_on_tables_of_every_kind_do_what_the_model_says() {
    let calls = prop::collection::vec(call(), 1..25);
    super::run_sequences(&(creation(), calls), |(creation, calls)| run(creation, calls));
}
