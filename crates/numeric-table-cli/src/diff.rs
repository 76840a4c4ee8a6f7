//! `diff`: where two tables differ.

use numeric_table::{BlockAccess, DataDictionary, NumericTable, TableConversion, TableSelection};
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
    let open = |path| Input::open_path(path, None, &args.csv, None);
    let (left, right) = (open(&args.left)?, open(&args.right)?);
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
            count += compare(&*here, &*there, row, args, &mut found)?;
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
            let plural = if count == 1 { "" } else { "s" };
            print::line(&format!("{} value{plural} differ{}", grouped(count), if count == 1 { "s" } else { "" }))?;
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
        let name = |feature: &numeric_table::Feature| feature.name.clone().unwrap_or_else(|| column.to_string());
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

/// Compares rows. Returns the number of different values, and keeps the first ones.
fn compare(
    left: &dyn NumericTable,
    right: &dyn NumericTable,
    first: usize,
    args: &DiffArgs,
    found: &mut Vec<Difference>,
) -> Outcome<u64> {
    let (rows, columns) = (left.shape().rows, left.shape().columns);
    let mut places = Vec::new();
    for column in 0..columns {
        let cells =
            |table: &dyn NumericTable| -> Outcome<Vec<Vec<Cell>>> { Ok(cells_of(&table.select_columns(column)?)?) };
        let text = |table: &dyn NumericTable| table.dictionary().feature(column).is_ok_and(is_text);
        if text(left) || text(right) {
            // Words are compared by their labels: their numbers may differ.
            let pairs = cells(left)?.into_iter().zip(cells(right)?);
            places.extend(pairs.enumerate().filter(|(_, (here, there))| here != there).map(|(row, _)| (row, column)));
            continue;
        }
        let types = (left.dictionary().feature(column)?.element_type, right.dictionary().feature(column)?.element_type);
        let is_exact = args.tolerance == 0.0 && args.relative == 0.0;
        let wide = |element: numeric_table::ElementType| !element.is_float() && element.size_in_bytes() == 8;
        if is_exact && (wide(types.0) || wide(types.1)) {
            let same = |here: &Cell, there: &Cell| match (here, there) {
                (Cell::Number(here), Cell::Number(there)) => {
                    here == there
                        || (here.parse::<i128>().is_err() || there.parse::<i128>().is_err())
                            && here.parse::<f64>() == there.parse::<f64>()
                }
                (here, there) => here == there,
            };
            let pairs = cells(left)?.into_iter().zip(cells(right)?).enumerate();
            places.extend(pairs.filter(|(_, (here, there))| !same(&here[0], &there[0])).map(|(row, _)| (row, column)));
            continue;
        }
        let (here, there) = (left.column::<f64>(column, ..)?, right.column::<f64>(column, ..)?);
        for row in 0..rows {
            if !is_near(here[row], there[row], args) {
                places.push((row, column));
            }
        }
    }
    places.sort_unstable();
    let left_over = args.first.saturating_sub(found.len());
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

fn is_near(left: f64, right: f64, args: &DiffArgs) -> bool {
    if left == right || (left.is_nan() && right.is_nan()) {
        return true;
    }
    let distance = (left - right).abs();
    distance <= args.tolerance || distance <= args.relative * left.abs().max(right.abs()) && distance.is_finite()
}
