//! Loading whole files, several pieces in parallel, directly into the memory of the table.

use std::sync::atomic::{AtomicU64, Ordering};

use super::CsvSource;
use super::batches::Batches;
use super::failure::Failure;
use super::parse::RecordParser;
use super::roles::{Roles, RowPlan};
use super::survey::RecordRange;
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::Result;
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::files::progress::Meter;
use crate::table::{DataLayout, HomogenNumericTable};

/// Loads a table. Columns whose kind the first records leave open are taken for numbers; if that fails, the kinds are
/// determined from the whole file first.
pub(super) fn load<T: Element>(source: &CsvSource) -> Result<HomogenNumericTable<T>> {
    let guess = source.guess();
    let are_words_known = !guess.columns.iter().any(|column| column.wants_words());
    let mut failure = None;
    if are_words_known {
        match attempt(source, guess)? {
            Ok(table) => {
                source.settle_as_numbers();
                return Ok(table);
            }
            Err(found) if guess.are_settled() => return Err(source.error(found)),
            Err(found) => failure = Some(found),
        }
    }
    let roles = source.roles()?;
    match failure {
        Some(failure)
            if roles.columns.iter().zip(&guess.columns).all(|(now, then)| !then.is_open() || !now.is_words()) =>
        {
            Err(source.error(failure)) // they are numbers after all
        }
        _ => attempt(source, roles)?.map_err(|failure| source.error(failure)),
    }
}

/// Loads a table whose columns have the given roles, if the file fits them.
fn attempt<T: Element>(source: &CsvSource, roles: &Roles) -> Result<Result<HomogenNumericTable<T>, Failure>> {
    let plan = RowPlan::<T>::new(roles).map_err(|error| source.input.name_in(error))?;
    let survey = source.survey()?;
    let shape = Shape { rows: survey.rows(), columns: plan.width };
    let bytes_needed = (shape.rows as u128) * (roles.columns.len() as u128);
    if bytes_needed > u128::from(source.length()) + 1 {
        // Every field takes at least a byte, so some row has too few: it is found before memory is allocated.
        return Ok(Err(first_failure(source, &plan)?));
    }
    let mut array = Array::<T>::zeros(shape.element_count_of(T::TYPE)?)?;
    let meter = source.meter();
    let end = AtomicU64::new(u64::MAX);
    let task = Task { source, plan: &plan, meter: &meter, end: &end };

    let mut rest = if shape.is_empty() { &mut [] } else { array.mutable_data()? };
    let mut parts = Vec::new();
    for run in survey.runs() {
        let rows: usize = run.iter().map(|piece| piece.rows.len()).sum();
        let (target, later) = rest.split_at_mut(rows * plan.width);
        parts.push((run, target));
        rest = later;
    }
    let results = parallel::map(parts, |(run, target)| task.run(&run, target));

    let mut written = Vec::new();
    for (run, result) in survey.runs().into_iter().zip(results) {
        match result? {
            Ok(rows) => written.push((run.first().map_or(0, |piece| piece.rows.start), rows)),
            Err(failure) => return Ok(Err(failure)),
        }
    }
    if let Some(failure) = &survey.failure {
        return Ok(Err(failure.clone()));
    }
    let array = close_gaps(array, &written, plan.width)?;
    let rows = written.iter().map(|&(_, rows)| rows).sum();
    let table = HomogenNumericTable::internal(array, Shape { rows, ..shape }, DataLayout::RowMajor);
    table.described_by(roles.dictionary(T::TYPE)).map(Ok)
}

/// The state that all tasks share.
struct Task<'a, T> {
    source: &'a CsvSource,
    plan: &'a RowPlan<'a, T>,
    meter: &'a Meter,
    /// Position of the first failure found so far: nothing after it is needed.
    end: &'a AtomicU64,
}

impl<T: Element> Task<'_, T> {
    /// Reads consecutive pieces into consecutive rows. Returns the number of rows.
    fn run(&self, run: &[RecordRange], target: &mut [T]) -> Result<Result<usize, Failure>> {
        let (mut buffer, mut written) = (Vec::new(), 0);
        let mut parser = RecordParser::new(self.source, self.plan);
        for piece in run {
            if self.end.load(Ordering::Relaxed) < piece.bytes.start {
                break; // an earlier failure is the result
            }
            let bytes = self.source.input.read(piece.bytes.clone(), &mut buffer)?;
            let rows = &mut target[written * self.plan.width..];
            let failure = match parser.parse(bytes, piece.bytes.start, rows, piece.rows.len()) {
                Ok(parsed) => {
                    let is_whole = parsed.rows == piece.rows.len() || self.plan.may_skip;
                    written += parsed.rows;
                    (!is_whole || parsed.bytes < bytes.len()).then(|| changed(piece.bytes.start))
                }
                Err((failure, _)) => Some(failure),
            };
            if let Some(failure) = failure {
                self.end.fetch_min(failure.place, Ordering::Relaxed);
                return Ok(Err(failure));
            }
            self.meter.add(bytes.len() as u64);
        }
        Ok(Ok(written))
    }
}

/// Finds the first record that does not fit the plan, when it is known that there is one.
fn first_failure<T: Element>(source: &CsvSource, plan: &RowPlan<'_, T>) -> Result<Failure> {
    let mut row = Array::<T>::zeros(plan.width)?;
    let row: &mut [T] = if plan.width == 0 { &mut [] } else { row.mutable_data()? };
    let mut parser = RecordParser::new(source, plan);
    let mut batches = Batches::new(source.start);
    while batches.fill(&source.syntax, &source.input, source.step)? {
        match parser.parse(batches.bytes(&source.input), batches.place(), row, 1) {
            Ok(parsed) => batches.advance(parsed.bytes),
            Err((failure, _)) => return Ok(failure),
        }
    }
    Ok(changed(source.start))
}

fn changed(place: u64) -> Failure {
    let reason = "or what follows has changed while it was read".into();
    Failure { place, column: None, text: String::new(), reason }
}

/// Moves rows together where some have been left out. `written` holds the first row and the number of rows of each run.
fn close_gaps<T: Element>(mut array: Array<T>, written: &[(usize, usize)], width: usize) -> Result<Array<T>> {
    let total = written.iter().map(|&(_, rows)| rows).sum::<usize>() * width;
    if total == array.len() {
        return Ok(array);
    }
    if total == 0 {
        return Ok(Array::new());
    }
    let (values, mut end) = (array.mutable_data()?, 0);
    for &(first, rows) in written {
        values.copy_within(first * width..(first + rows) * width, end);
        end += rows * width;
    }
    // The rest is reserve for further rows; too much of it is released.
    if total < array.len() / 2 { Array::copy_of(&array[..total]) } else { Ok(array) }
}
