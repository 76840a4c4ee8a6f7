//! Random sequences of calls on tables with missing values, against a grid of optional numbers.
//!
//! The model is in `sheet` and `fill`, the calls in `calls`, tables made of a sheet in `make`. After each call its outcome
//! is compared with what the model says, and so is every table: types, which columns are nullable, values bit for bit,
//! gaps. What is stored under a gap is a number that no model knows.
//!
//! `NUMERIC_TABLE_SEQUENCES` and `NUMERIC_TABLE_SEED` as for the model of homogeneous tables.

mod calls;
mod fill;
mod make;
mod sheet;

use std::ops::Range;

use numeric_table::prelude::*;
use numeric_table::table::FillMissing;
use numeric_table::{AnyValue, SoaNumericTable};
use proptest::prelude::prop;
use proptest::test_runner::{TestCaseError, TestCaseResult};

use super::number::{Number, Typed, with_type};
use super::real::{self, Cut};
use super::state::edit;
use calls::{Call, Column, TABLES, call, creation};
use fill::How;
use make::{array, cells_of, create, validity};
use sheet::{Expected, Fault, Sheet, Source};

type Boxed = Box<dyn NumericTable>;

/// No table grows beyond this.
const MOST_ROWS: usize = 300;
const MOST_COLUMNS: usize = 6;

struct World {
    tables: Vec<(Boxed, Sheet)>,
}

/// Makes sure that a call returned what the model says, or one of the errors that apply. Returns both values, if any.
fn agree<R, M>(real: Result<R, Error>, expected: Expected<M>) -> Result<Option<(R, M)>, String> {
    match (real.map_err(Fault::from), expected) {
        (Ok(value), Ok(expected)) => Ok(Some((value, expected))),
        (Ok(_), Err(faults)) => Err(format!("it succeeded instead of one of {faults:?}")),
        (Err(fault), Ok(_)) => Err(format!("it failed: {fault:?}")),
        (Err(fault), Err(faults)) if faults.contains(&fault) => Ok(None),
        (Err(fault), Err(faults)) => Err(format!("it failed with {fault:?} instead of one of {faults:?}")),
    }
}

fn same(found: &[Number], expected: &[Number]) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found:?} is not {expected:?}")) }
}

fn numbers<U: Typed>(values: &[U]) -> Vec<Number> {
    values.iter().map(|value| value.number()).collect()
}

fn cut_of(column: Option<usize>) -> Cut {
    column.map_or(Cut::AllColumns, Cut::Column)
}

fn flags_of(bits: u64, rows: usize) -> Vec<bool> {
    (0..rows).map(|row| bits >> (row % 61) & 1 == 1).collect()
}

impl World {
    fn apply(&mut self, at: usize, call: &Call) -> Result<(), String> {
        let at = at % self.tables.len();
        let (table, sheet) = &mut self.tables[at];
        let Shape { rows: row_count, columns: column_count } = sheet.shape();
        let at_column = |column: &Option<Column>| column.map(|column| column.of(column_count));
        match call.clone() {
            Call::Create(creation) => self.tables[at] = create(&creation),
            Call::Read { element, policy, column, rows } => {
                let (column, rows) = (at_column(&column), rows.of(row_count));
                let read = with_type!(element, U => match column {
                    None => table.rows_with::<U>(rows.clone(), policy).map(|block| numbers::<U>(&block)),
                    Some(column) => table.column_with::<U>(column, rows.clone(), policy).map(|it| numbers::<U>(&it)),
                });
                if let Some((found, expected)) = agree(read, sheet.read(rows, column, element, policy))? {
                    same(&found, &expected)?;
                }
            }
            Call::Update { element, column, rows, edits } => {
                let (column, rows) = (at_column(&column), rows.of(row_count));
                let (shown, updated) =
                    with_type!(element, U => update::<U>(&mut **table, column, rows.clone(), &edits));
                match sheet.read(rows.clone(), column, element, ConversionPolicy::Saturate) {
                    Err(faults) => drop(agree(updated, Err::<(), _>(faults))?),
                    Ok(mut values) => {
                        same(&shown, &values)?;
                        edit(&mut values, &edits, element);
                        if let Some((_, after)) = agree(updated, sheet.write(rows, column, element, &values, true))? {
                            *sheet = after;
                        }
                    }
                }
            }
            Call::Lend { element, mode, column, rows, edits } => {
                let column = column.map(|column| column.inside(column_count));
                let rows = rows.inside(row_count);
                with_type!(element, U => lend::<U>(&mut **table, sheet, (column, rows), mode, &edits))?;
            }
            Call::SetValue { element, row, column, value } => {
                let (column, value) = (column.of(column_count), value.saturate(element));
                let set = real::set_value(&mut **table, element, row, column, value);
                let rows = row..row + 1;
                if let Some(((), after)) = agree(set, sheet.write(rows, Some(column), element, &[value], false))? {
                    *sheet = after;
                }
            }
            Call::Fill { element, value } => {
                let value = value.saturate(element);
                let filled = real::assign(&mut **table, element, value);
                let mut expected = sheet.fill(element, value);
                if let Err(faults) = &mut expected {
                    // The type of a column may be looked at before any value.
                    let refused = (0..column_count).find(|&c| element != sheet.types[c] && !value.fits(sheet.types[c]));
                    faults.extend(refused.map(|column| Fault::Value(0, column)));
                }
                if let Some(((), after)) = agree(filled, expected)? {
                    *sheet = after;
                }
            }
            Call::SetMissing { row, column } => {
                let column = column.of(column_count);
                let mut is_missing = vec![false; row_count];
                let expected = sheet.check(&(row..row + 1), Some(column)).and_then(|()| {
                    is_missing[row] = true;
                    sheet.with_missing(column, &is_missing)
                });
                if let Some(((), after)) = agree(table.set_missing(row, column), expected)? {
                    *sheet = after;
                }
            }
            Call::SetMissingWhere { column, bits } => {
                let (column, is_missing) = (column.of(column_count), flags_of(bits, row_count));
                let expected = sheet.check(&(0..0), Some(column));
                let expected = expected.and_then(|()| sheet.with_missing(column, &is_missing));
                if let Some(((), after)) = agree(table.set_missing_where(column, &is_missing), expected)? {
                    *sheet = after;
                }
            }
            Call::FillMissing { columns, how } => {
                let columns = columns.inside(column_count);
                let by = match how {
                    How::Value(element, value) => {
                        FillMissing::Value(with_type!(element, T => AnyValue::from(T::from_number(value))))
                    }
                    How::Previous => FillMissing::Previous,
                    How::Next => FillMissing::Next,
                    How::Mean => FillMissing::Mean,
                    How::Median => FillMissing::Median,
                };
                let filled = table.fill_missing(columns.clone(), by);
                if let Some((count, (mut after, expected))) = agree(filled, sheet.filled(columns.clone(), how))? {
                    if count != expected {
                        return Err(format!("{count} values were filled, not {expected}"));
                    }
                    if matches!(how, How::Mean) {
                        adopt_means(&**table, sheet, &mut after, columns)?;
                    }
                    *sheet = after;
                }
            }
            Call::DropMissing { columns } => {
                let columns = columns.inside(column_count);
                let rows = sheet.present_rows(columns.clone());
                self.tables[at] = (table.drop_missing_rows(columns).map_err(told)?, sheet.taken(rows));
            }
            Call::Append { element, rows, values, is_row } => {
                let rows = if is_row { 1 } else { rows };
                if !sheet.is_columns() || row_count + rows > MOST_ROWS {
                    return Ok(());
                }
                let numbers: Vec<Number> =
                    values.iter().map(|value| value.saturate(element)).cycle().take(rows * column_count).collect();
                let table = (**table).downcast_mut::<SoaNumericTable>().ok_or("no structure of arrays")?;
                let appended = with_type!(element, U => {
                    let values = numbers.iter().map(|&number| U::from_number(number)).collect::<Vec<_>>();
                    if is_row { table.push_row(&values) } else { table.append(&values) }
                });
                let cells: Vec<_> =
                    numbers.chunks(column_count).map(|row| row.iter().copied().map(Some).collect()).collect();
                if let Some(((), after)) = agree(appended, sheet.append(|_| element, &cells, Source::Numbers))? {
                    *sheet = after;
                }
            }
            Call::AppendTable { other } => self.append_table(at, other % TABLES)?,
            Call::Resize { rows } => {
                if let Some(((), after)) = agree(table.resize(rows), sheet.resize(rows))? {
                    *sheet = after;
                }
            }
            Call::Clone { to } => {
                // Other kinds cannot be cloned: their columns are shared instead.
                let (copy, sheet) = match (**table).downcast_ref::<SoaNumericTable>() {
                    Some(table) => (table.clone(), sheet.clone()),
                    None => (table.to_columns().map_err(told)?, sheet.columns()),
                };
                self.tables[to % TABLES] = (Box::new(copy), sheet);
            }
            Call::Take { rows } => {
                let rows: Vec<usize> = rows.into_iter().filter(|_| row_count > 0).map(|row| row % row_count).collect();
                self.tables[at] = (table.take_rows(&rows).map_err(told)?, sheet.taken(rows));
            }
            Call::Filter { bits } => {
                let flags = flags_of(bits, row_count);
                let rows = (0..row_count).filter(|&row| flags[row]).collect::<Vec<_>>();
                self.tables[at] = (table.filter_rows(&flags).map_err(told)?, sheet.taken(rows));
            }
            Call::Sort { column } => {
                let column = column.inside(column_count);
                self.tables[at] = (table.sort_by(column).map_err(told)?, sheet.taken(sheet.sorted(column)));
            }
            Call::Sample { count, seed, shuffles } => {
                // The same rows as of a table of their numbers.
                let ids = HomogenNumericTable::from_array(
                    (0..row_count as u32).collect::<Vec<_>>(),
                    Shape { rows: row_count, columns: 1 },
                );
                let (ids, count) = (ids.map_err(told)?, count.min(row_count));
                let (rows, sample) = match shuffles {
                    true => (ids.shuffle_rows(seed), table.shuffle_rows(seed)),
                    false => (ids.sample_rows(count, seed), table.sample_rows(count, seed)),
                };
                let rows = rows.map_err(told)?.column::<u32>(0, ..).map_err(told)?.to_vec();
                let rows = rows.into_iter().map(|row| row as usize);
                self.tables[at] = (sample.map_err(told)?, sheet.taken(rows));
            }
            Call::StackBelow { other } => self.stack_below(at, other % TABLES)?,
            Call::StackBeside { other } => self.stack_beside(at, other % TABLES)?,
            Call::ToColumns => self.tables[at] = (Box::new(table.to_columns().map_err(told)?), sheet.columns()),
            Call::ToTable => {
                self.tables[at] = (table.to_table().map_err(told)?, sheet.with_cells(sheet.cells.clone()));
            }
            Call::SetColumn { column, element, values, gaps } => {
                if !sheet.is_columns() {
                    return Ok(());
                }
                let column = column.inside(column_count);
                let (array, numbers) = array(element, &values, row_count);
                let is_present = gaps.map(|gaps| flags_of(!gaps, row_count));
                let table = (**table).downcast_mut::<SoaNumericTable>().ok_or("no structure of arrays")?;
                let set = match &is_present {
                    None => table.set_column(column, array),
                    Some(is_present) => table.set_nullable_column(column, array, Some(validity(is_present))),
                };
                set.map_err(|rejected| told(rejected.error))?;
                sheet.types[column] = element;
                for (row, number) in numbers.into_iter().enumerate() {
                    let is_present = is_present.as_ref().is_none_or(|is_present| is_present[row]);
                    sheet.cells[row][column] = is_present.then_some(number);
                }
                sheet.parts[0].nullable[column] |= sheet.has_missing(column);
            }
            Call::WithNullable { element, values, gaps } => {
                if column_count >= MOST_COLUMNS {
                    return Ok(());
                }
                let (array, numbers) = array(element, &values, row_count);
                let is_present = flags_of(!gaps, row_count);
                let feature = Feature::new(ElementType::U8);
                let wide = table.with_nullable(feature, array, Some(validity(&is_present)));
                let wide = wide.map_err(|rejected| told(rejected.error))?;
                let mut flags = sheet.flags();
                flags.push(is_present.contains(&false));
                let mut types = sheet.types.clone();
                types.push(element);
                let mut cells = sheet.cells.clone();
                for (row, number) in numbers.into_iter().enumerate() {
                    cells[row].push(is_present[row].then_some(number));
                }
                let expected = Sheet::one(types, cells, flags, true);
                check(&wide, &expected)?;
                let copy = wide.to_columns().map_err(told)?;
                drop(wide);
                self.tables[at] = (Box::new(copy), expected);
            }
            Call::RemoveColumn { column } => {
                if !sheet.is_columns() || column_count < 2 {
                    return Ok(());
                }
                let column = column.inside(column_count);
                let table = (**table).downcast_mut::<SoaNumericTable>().ok_or("no structure of arrays")?;
                let first = sheet.cells.iter().position(|row| row[column].is_none());
                let expected = first.map_or(Ok(()), |row| Err(vec![Fault::Missing(row, column)]));
                if agree(table.remove_column(column), expected)?.is_some() {
                    let left: Vec<usize> = (0..column_count).filter(|&other| other != column).collect();
                    *sheet = sheet.part(0..row_count, &left);
                }
            }
            Call::ResetDictionary => table.reset_dictionary().map_err(told)?,
            Call::View { rows, columns, element, keeps } => {
                let rows = rows.inside(row_count);
                let columns: Vec<usize> = columns.into_iter().map(|column| column % column_count).collect();
                let part = sheet.part(rows.clone(), &columns);
                let selected = table.select_columns(columns.clone()).map_err(told)?;
                let view = selected.select_rows(rows.clone()).map_err(told)?;
                check(&*view, &part)?;
                let read = real::read(&*view, element, Cut::AllColumns, 0..rows.len()).map(|shown| shown.values);
                let expected = part.read(0..rows.len(), None, element, ConversionPolicy::Saturate);
                if let Some((found, expected)) = agree(read, expected)? {
                    same(&found, &expected)?;
                }
                if keeps {
                    let copy = view.to_columns().map_err(told)?;
                    drop(view);
                    drop(selected);
                    self.tables[at] = (Box::new(copy), part);
                }
            }
        }
        Ok(())
    }

    fn append_table(&mut self, at: usize, other: usize) -> Result<(), String> {
        let (added, their) = &self.tables[other];
        let (copy, their) = (added.to_columns().map_err(told)?, their.columns());
        let (table, sheet) = &mut self.tables[at];
        let fits = their.types.len() == sheet.types.len() && sheet.cells.len() + their.cells.len() <= MOST_ROWS;
        if !sheet.is_columns() || !fits {
            return Ok(());
        }
        let table = (**table).downcast_mut::<SoaNumericTable>().ok_or("no structure of arrays")?;
        let expected = sheet.append(|column| their.types[column], &their.cells, Source::Table);
        if let Some(((), after)) = agree(table.append_table(&copy), expected)? {
            *sheet = after;
        }
        Ok(())
    }

    fn stack_below(&mut self, at: usize, other: usize) -> Result<(), String> {
        let ((upper, sheet), (lower, their)) = (&self.tables[at], &self.tables[other]);
        if sheet.types != their.types || sheet.cells.len() + their.cells.len() > MOST_ROWS {
            return Ok(());
        }
        let both = upper.vstack(&[&**lower]).map_err(told)?;
        let flags = (0..sheet.types.len()).map(|column| sheet.flag(column) || their.flag(column)).collect();
        let cells = sheet.cells.iter().chain(&their.cells).cloned().collect();
        let expected = Sheet::one(sheet.types.clone(), cells, flags, true);
        check(&both, &expected)?;
        let copy = both.to_columns().map_err(told)?;
        drop(both);
        self.tables[at] = (Box::new(copy), expected);
        Ok(())
    }

    fn stack_beside(&mut self, at: usize, other: usize) -> Result<(), String> {
        let ((left, sheet), (right, their)) = (&self.tables[at], &self.tables[other]);
        let is_narrow = sheet.types.len() + their.types.len() <= MOST_COLUMNS;
        if sheet.cells.len() != their.cells.len() || !is_narrow {
            return Ok(());
        }
        let both = left.hstack(&[&**right]).map_err(told)?;
        let cells = sheet.cells.iter().zip(&their.cells).map(|(one, other)| [&one[..], &other[..]].concat()).collect();
        let expected = Sheet::one(
            [&sheet.types[..], &their.types[..]].concat(),
            cells,
            [sheet.flags(), their.flags()].concat(),
            true,
        );
        check(&both, &expected)?;
        let copy = both.to_table().map_err(told)?;
        drop(both);
        self.tables[at] = (copy, expected.with_cells(expected.cells.clone()));
        Ok(())
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn told(error: Error) -> String {
    format!("it failed: {error:?}")
}

fn update<U: Typed>(
    table: &mut dyn NumericTable,
    column: Option<usize>,
    rows: Range<usize>,
    edits: &[(usize, Number)],
) -> (Vec<Number>, Result<(), Error>) {
    let mut shown = Vec::new();
    let mut change = |block: &mut [U]| {
        shown = numbers(block);
        let mut values = shown.clone();
        edit(&mut values, edits, U::TYPE);
        block.iter_mut().zip(&values).for_each(|(to, &value)| *to = U::from_number(value));
        Ok(())
    };
    let updated = match column {
        None => table.update_rows::<U, _>(rows, |block| change(block)),
        Some(column) => table.update_column::<U, _>(column, rows, |block| change(block)),
    };
    (shown, updated)
}

/// Takes a descriptor, changes values, and releases it.
fn lend<U: Typed>(
    table: &mut dyn NumericTable,
    sheet: &mut Sheet,
    (column, rows): (Option<usize>, Range<usize>),
    mode: ReadWriteMode,
    edits: &[(usize, Number)],
) -> Result<(), String> {
    let mut block = BlockDescriptor::<U>::new();
    let got = match column {
        None => table.get_block_of_rows(rows.start, rows.len(), mode, &mut block),
        Some(column) => table.get_block_of_column_values(column, rows.start, rows.len(), mode, &mut block),
    };
    let reads = mode != ReadWriteMode::WriteOnly;
    let expected = match reads {
        true => sheet.read(rows.clone(), column, U::TYPE, ConversionPolicy::Saturate),
        false => Ok(vec![Number::zero(U::TYPE); rows.len() * sheet.columns_of(column).len()]),
    };
    let Some(((), mut values)) = agree(got, expected)? else { return Ok(()) };
    if reads {
        same(&numbers(block.as_slice()), &values)?;
    }
    let writes = mode != ReadWriteMode::ReadOnly;
    if writes {
        edit(&mut values, edits, U::TYPE);
        let room = block.as_mut_slice().map_err(told)?;
        room.iter_mut().zip(&values).for_each(|(to, &value)| *to = U::from_number(value));
    }
    let released = match column {
        None => table.release_block_of_rows(&mut block),
        Some(_) => table.release_block_of_column_values(&mut block),
    };
    let expected = match writes {
        true => sheet.write(rows, column, U::TYPE, &values, reads),
        false => Ok(sheet.clone()),
    };
    match agree(released, expected)? {
        Some(((), after)) => *sheet = after,
        None => block.discard(),
    }
    Ok(())
}

/// Takes over the means of floats, which need only be near.
fn adopt_means(
    table: &dyn NumericTable,
    before: &Sheet,
    after: &mut Sheet,
    columns: Range<usize>,
) -> Result<(), String> {
    for column in columns.filter(|&column| before.types[column].is_float()) {
        let found = cells_of(table, column).map_err(told)?;
        let largest = before.column(column).into_iter().flatten().fold(0.0, |largest: f64, number| match number {
            Number::Float(value) if value.is_finite() => largest.max(value.abs()),
            _ => largest,
        });
        for (row, cell) in found.into_iter().enumerate().filter(|(row, _)| before.cells[*row][column].is_none()) {
            let mine = after.cells[row][column];
            let is_near = match (mine, cell) {
                (Some(Number::Float(mine)), Some(Number::Float(found))) => {
                    let is_same_class = mine == found || (mine.is_nan() && found.is_nan());
                    is_same_class || (mine - found).abs() <= 2e-3 * largest
                }
                (None, None) => true,
                _ => false,
            };
            if !is_near {
                return Err(format!("the mean is {cell:?}, not {mine:?}"));
            }
            after.cells[row][column] = cell;
        }
    }
    Ok(())
}

/// Compares a table with what the model says.
fn check(table: &dyn NumericTable, sheet: &Sheet) -> Result<(), String> {
    let shape = sheet.shape();
    if table.shape() != shape {
        return Err(format!("the shape is {}, not {shape}", table.shape()));
    }
    let mut has_missing = false;
    for (column, &element) in sheet.types.iter().enumerate() {
        let feature = table.dictionary().feature(column).map_err(told)?;
        if (feature.element_type, feature.nullable) != (element, sheet.flag(column)) {
            return Err(format!("column {column}: {feature:?} is not of {element}, or not {}", sheet.flag(column)));
        }
        let (found, expected) = (cells_of(table, column).map_err(told)?, sheet.column(column));
        if found != expected {
            return Err(format!("column {column}: {found:?} is not {expected:?}"));
        }
        let missing = expected.iter().filter(|cell| cell.is_none()).count();
        has_missing |= missing > 0;
        let counted = table.missing_count(column).map_err(told)?;
        if counted != missing {
            return Err(format!("column {column}: {counted} values are missing, not {missing}"));
        }
        let rows = shape.rows / 3..shape.rows;
        let validity = table.validity(column, rows.clone()).map_err(told)?;
        let is_present = expected[rows].iter().map(Option::is_some);
        match validity {
            None if is_present.clone().all(|it| it) => {}
            Some(validity) if validity.to_flags().map_err(told)?.into_iter().eq(is_present) => {}
            other => return Err(format!("column {column}: {other:?} is the bitmap of {expected:?}")),
        }
        let read = real::read(table, element, Cut::Column(column), 0..shape.rows).map(|shown| shown.values);
        let expected = sheet.read(0..shape.rows, Some(column), element, ConversionPolicy::Saturate);
        if let Some((found, expected)) = agree(read, expected)? {
            same(&found, &expected)?;
        }
    }
    if table.has_missing().map_err(told)? != has_missing {
        return Err(format!("whether values are missing: not {has_missing}"));
    }
    let read = real::read(table, ElementType::F64, cut_of(None), 0..shape.rows).map_err(told)?;
    let expected = sheet.read(0..shape.rows, None, ElementType::F64, ConversionPolicy::Saturate);
    same(&read.values, &expected.map_err(|faults| format!("{faults:?}"))?)
}

fn run(creations: &[calls::Creation], calls: &[(usize, Call)]) -> TestCaseResult {
    let mut world = World { tables: creations.iter().map(create).collect() };
    for (index, (at, call)) in calls.iter().enumerate() {
        let mut checked = world.apply(*at, call);
        for (place, (table, sheet)) in world.tables.iter().enumerate() {
            let is_columns = (**table).downcast_ref::<SoaNumericTable>().is_some();
            checked = checked.and_then(|()| match is_columns == sheet.is_columns() {
                true => check(&**table, sheet).map_err(|error| format!("table {place}: {error}")),
                false => Err(format!("table {place}: a structure of arrays? {is_columns}")),
            });
        }
        checked.map_err(|error| TestCaseError::fail(format!("call {index}, {call:?}: {error}")))?;
    }
    Ok(())
}

#[test]
fn random_sequences_of_calls_on_tables_with_gaps_do_what_the_model_says() {
    let creations = prop::collection::vec(creation(), TABLES..TABLES + 1);
    let calls = prop::collection::vec(call(), 1..25);
    super::run_sequences(&(creations, calls), |(creations, calls)| run(creations, calls));
}
