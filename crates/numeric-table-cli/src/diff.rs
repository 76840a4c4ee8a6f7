//! `diff`: where two tables differ.

use numeric_table::{
    BlockAccess, DataDictionary, Feature, MissingValues, NumericTable, TableConversion, TableSelection,
};
use serde_json::{Value, json};

use crate::args::{Choice, DiffArgs};
use crate::cells::{Cell, cells_of, is_text, names_of};
use crate::choice::Chooser;
use crate::failure::{Failure, Outcome};
use crate::input::{Block, Blocks, Input};
use crate::print::{self, Grid, grouped};

/// The rows of an input, in pieces of any size.
struct Rows<'a> {
    blocks: Blocks<'a>,
    chooser: Chooser,
    held: Option<(Block, usize)>,
}

impl Rows<'_> {
    /// Returns how many rows can be taken without reading, after reading some if there are none.
    fn ready(&mut self) -> Outcome<usize> {
        loop {
            if let Some((block, taken)) = &self.held
                && *taken < block.shape().rows
            {
                return Ok(block.shape().rows - taken);
            }
            match self.blocks.next() {
                None => return Ok(0),
                Some(block) => self.held = Some((self.chooser.apply(block?)?, 0)),
            }
        }
    }

    fn take(&mut self, rows: usize) -> Outcome<Block> {
        let Some((block, taken)) = &mut self.held else { return Err(Failure::usage("no rows are left")) };
        let part = block.select_rows(*taken..*taken + rows)?.to_table()?;
        *taken += rows;
        Ok(part)
    }
}

/// One difference of the values.
struct Difference {
    row: usize,
    column: usize,
    left: Cell,
    right: Cell,
}

pub(crate) fn run(args: &DiffArgs, json: bool) -> Outcome {
    if !(args.tolerance >= 0.0 && args.relative >= 0.0) {
        return Err(Failure::usage("--tolerance and --relative need numbers that are not negative"));
    }
    let inputs = Input::open_several(&[args.left.clone(), args.right.clone()], &args.read)?;
    let [left, right] = &inputs[..] else { return Err(Failure::usage("diff compares two files")) };
    let same =
        Same { tolerance: args.tolerance, relative: args.relative, distinguishes: left.can_miss() && right.can_miss() };
    let (all_left, all_right) = (left.dictionary()?, right.dictionary()?);
    let choice = Choice { columns: args.columns.clone(), r#where: None };
    let choosers = (Chooser::new(&choice, &all_left)?, Chooser::new(&choice, &all_right)?);
    let (described, other) = (choosers.0.dictionary(&all_left), choosers.1.dictionary(&all_right));
    let mut notes = of_columns(&described, &other, args.types);
    let mut found = Vec::new();
    let (mut count, mut row) = (0_u64, 0);
    if described.len() == other.len() {
        let mut left = Rows { blocks: left.blocks()?, chooser: choosers.0, held: None };
        let mut right = Rows { blocks: right.blocks()?, chooser: choosers.1, held: None };
        loop {
            let (here, there) = (left.ready()?, right.ready()?);
            let rows = here.min(there);
            if rows == 0 {
                let (mut left_rows, mut right_rows) = (row, row);
                for (side, total) in [(&mut left, &mut left_rows), (&mut right, &mut right_rows)] {
                    loop {
                        let more = side.ready()?;
                        if more == 0 {
                            break;
                        }
                        side.take(more)?;
                        *total += more;
                    }
                }
                if left_rows != right_rows {
                    notes.push(format!("{} and {} rows", grouped(left_rows as u64), grouped(right_rows as u64)));
                }
                break;
            }
            let (here, there) = (left.take(rows)?, right.take(rows)?);
            count += compare(&*here, &*there, row, &same, args.first, &mut found)?;
            row += rows;
        }
    }
    let names = names_of(&described);
    let is_same = notes.is_empty() && count == 0;
    if json {
        let values: Vec<Value> = found
            .iter()
            .map(|found| {
                json!({
                    "row": found.row, "column": found.column, "name": names[found.column],
                    "left": found.left.json(), "right": found.right.json(),
                })
            })
            .collect();
        print::json(
            &json!({ "same": is_same, "columns_and_rows": notes, "different_values": count, "first": values }),
        )?;
    } else {
        for note in &notes {
            print::line(note)?;
        }
        if count > 0 {
            print::line(&format!("{} differ{}", print::count(count, "value"), if count == 1 { "s" } else { "" }))?;
            let (one, two) = (args.left.display().to_string(), args.right.display().to_string());
            let mut grid = Grid::new(["row".to_owned(), "column".to_owned(), one, two]).left([1]);
            for found in found {
                let row = Cell::Number(found.row.to_string());
                grid.push(vec![row, Cell::Text(names[found.column].clone()), found.left, found.right]);
            }
            grid.print()?;
        }
    }
    if is_same { Ok(()) } else { Err(Failure::No) }
}

/// Returns how the columns differ: their number, names and, if asked for, types.
fn of_columns(left: &DataDictionary, right: &DataDictionary, types: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if left.len() != right.len() {
        notes.push(format!("{} and {} columns", left.len(), right.len()));
    }
    for (column, (here, there)) in left.iter().zip(right.iter()).enumerate() {
        let name = |feature: &Feature| feature.name.clone().unwrap_or_else(|| column.to_string());
        if name(here) != name(there) {
            notes.push(format!("column {column} is {:?} and {:?}", name(here), name(there)));
        }
        if types && here.element_type != there.element_type {
            notes.push(format!(
                "column {column} ({}) is of {} and {}",
                name(here),
                here.element_type,
                there.element_type
            ));
        }
    }
    notes
}

/// When two values are the same.
struct Same {
    tolerance: f64,
    relative: f64,
    /// Whether a missing value differs from NaN: both files can hold either.
    distinguishes: bool,
}

/// What a value is, before it is compared.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Missing,
    Nan,
    Value,
}

impl Same {
    /// Returns whether two values are the same, if missing values or NaN decide that: each equals itself, and they
    /// equal each other if one of the files has only NaN for both.
    fn by_state(&self, left: State, right: State) -> Option<bool> {
        match (left, right) {
            (State::Value, State::Value) => None,
            (State::Value, _) | (_, State::Value) => Some(false),
            (left, right) => Some(left == right || !self.distinguishes),
        }
    }

    fn is_exact(&self) -> bool {
        self.tolerance == 0.0 && self.relative == 0.0
    }

    fn numbers(&self, left: f64, right: f64) -> bool {
        let distance = (left - right).abs();
        left == right
            || distance <= self.tolerance
            || distance <= self.relative * left.abs().max(right.abs()) && distance.is_finite()
    }

    /// Compares cells as text, and numbers of all digits.
    fn cells(&self, left: &Cell, right: &Cell) -> bool {
        let state = |cell: &Cell| match cell {
            Cell::Missing => State::Missing,
            Cell::Number(text) if text == "NaN" => State::Nan,
            _ => State::Value,
        };
        self.by_state(state(left), state(right)).unwrap_or_else(|| match (left, right) {
            (Cell::Number(left), Cell::Number(right)) => {
                left == right
                    || (left.parse::<i128>().is_err() || right.parse::<i128>().is_err())
                        && left.parse::<f64>() == right.parse::<f64>()
            }
            (left, right) => left == right,
        })
    }
}

/// Compares rows. Returns the number of different values, and keeps the first ones.
fn compare(
    left: &dyn NumericTable,
    right: &dyn NumericTable,
    first: usize,
    same: &Same,
    most: usize,
    found: &mut Vec<Difference>,
) -> Outcome<u64> {
    let (rows, columns) = (left.shape().rows, left.shape().columns);
    let mut places = Vec::new();
    for column in 0..columns {
        let features = (left.dictionary().feature(column)?, right.dictionary().feature(column)?);
        let is_wide = |feature: &Feature| !feature.element_type.is_float() && feature.element_type.size_in_bytes() == 8;
        // Words are compared by their labels, because their numbers may differ, and long integers by all digits.
        let is_text_or_wide = is_text(features.0)
            || is_text(features.1)
            || same.is_exact() && (is_wide(features.0) || is_wide(features.1));
        if is_text_or_wide {
            let cells = |table: &dyn NumericTable| cells_of(&table.select_columns(column)?);
            let pairs = cells(left)?.into_iter().flatten().zip(cells(right)?.into_iter().flatten());
            let differ = pairs.enumerate().filter(|(_, (here, there))| !same.cells(here, there));
            places.extend(differ.map(|(row, _)| (row, column)));
            continue;
        }
        let states = |table: &dyn NumericTable, values: &[f64]| -> Outcome<Vec<State>> {
            let validity = table.column_validity(column)?;
            let state = |(row, value): (usize, &f64)| match &validity {
                Some(validity) if validity.is_present(row) == Some(false) => State::Missing,
                _ if value.is_nan() => State::Nan,
                _ => State::Value,
            };
            Ok(values.iter().enumerate().map(state).collect())
        };
        let (here, there) = (left.column::<f64>(column, ..)?, right.column::<f64>(column, ..)?);
        let (left_states, right_states) = (states(left, &here)?, states(right, &there)?);
        for row in 0..rows {
            let by_state = same.by_state(left_states[row], right_states[row]);
            if !by_state.unwrap_or_else(|| same.numbers(here[row], there[row])) {
                places.push((row, column));
            }
        }
    }
    places.sort_unstable();
    let left_over = most.saturating_sub(found.len());
    for &(row, column) in places.iter().take(left_over) {
        let cell = |table: &dyn NumericTable| -> Outcome<Cell> {
            let part = table.select_rows(row..row + 1)?.to_table()?;
            let cells = cells_of(&*part)?;
            Ok(cells.into_iter().flatten().nth(column).unwrap_or(Cell::Missing))
        };
        found.push(Difference { row: first + row, column, left: cell(left)?, right: cell(right)? });
    }
    Ok(places.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_and_nan_follow_one_rule_for_cells_and_numbers() {
        let distinguishes = Same { tolerance: 0.5, relative: 0.0, distinguishes: true };
        let merges = Same { distinguishes: false, ..distinguishes };
        let nan = Cell::Number("NaN".to_owned());
        for same in [&distinguishes, &merges] {
            assert_eq!(same.by_state(State::Missing, State::Missing), Some(true));
            assert_eq!(same.by_state(State::Nan, State::Nan), Some(true));
            assert_eq!(same.by_state(State::Nan, State::Value), Some(false));
            assert_eq!(same.by_state(State::Value, State::Value), None);
            assert_eq!(same.by_state(State::Nan, State::Missing), Some(!same.distinguishes));
            assert_eq!(same.cells(&nan, &Cell::Missing), !same.distinguishes);
            assert!(same.cells(&nan, &nan) && same.cells(&Cell::Missing, &Cell::Missing));
        }
    }
}
