//! Loading whole files, several pieces in parallel, directly into the memory of the table.

use std::sync::atomic::{AtomicU64, Ordering};

use super::CsvSource;
use super::batches::Batches;
use super::failure::{Failure, Reason};
use super::parse::{RecordParser, Sink, Taken};
use super::roles::{Roles, RowPlan};
use super::rows::RowSink;
use super::survey::RecordRange;
use super::syntax::{Field, Syntax};
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::Result;
use crate::base::parallel;
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::table::{DataLayout, HomogenNumericTable};

/// Loads a table of one type.
pub(super) fn load<T: Element>(source: &CsvSource) -> Result<HomogenNumericTable<T>> {
    load_by(source, |roles| attempt(source, roles))
}

/// Loads something by attempts with roles. Columns whose kind the first records leave open are taken for numbers. If
/// that fails, the kinds are determined from the whole file first.
pub(super) fn load_by<R>(source: &CsvSource, attempt: impl Fn(&Roles) -> Result<Result<R, Failure>>) -> Result<R> {
    let guess = source.guess();
    let are_words_known = !guess.columns.iter().any(|column| column.wants_words());
    let mut failure = None;
    if are_words_known {
        match attempt(guess)? {
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
        // A string in quotes was a word or a missing value, and the roles now decide which.
        Some(Failure { reason: Reason::Undecided, .. }) => {}
        Some(failure)
            if roles.columns.iter().zip(&guess.columns).all(|(now, then)| !then.is_open() || !now.is_words()) =>
        {
            return Err(source.error(failure)); // they are numbers after all
        }
        _ => {}
    }
    attempt(roles)?.map_err(|failure| source.error(failure))
}

/// Loads a table whose columns have the given roles, if the file fits them.
fn attempt<T: Element>(source: &CsvSource, roles: &Roles) -> Result<Result<HomogenNumericTable<T>, Failure>> {
    let plan = RowPlan::<T>::new(roles).map_err(|error| source.input.name_in(error))?;
    let survey = source.survey()?;
    let shape = Shape { rows: survey.rows(), columns: plan.width };
    if has_short_rows(source, roles, shape.rows) {
        // The failure is found before memory is allocated.
        let mut row = Array::<T>::zeros(plan.width)?;
        let row: &mut [T] = if plan.width == 0 { &mut [] } else { row.mutable_data()? };
        let mut sink = RowSink::new(&plan, source.options.policy, row);
        return first_failure(source, roles, &mut sink).map(Err);
    }
    let mut array = Array::<T>::zeros(shape.element_count_of(T::TYPE)?)?;
    let mut rest = if shape.is_empty() { &mut [] } else { array.mutable_data()? };
    let mut parts = Vec::new();
    for run in survey.runs() {
        let rows: usize = run.iter().map(|piece| piece.rows.len()).sum();
        let (target, later) = rest.split_at_mut(rows * plan.width);
        parts.push((run, RowSink::new(&plan, source.options.policy, target)));
        rest = later;
    }
    let mut written = Vec::new();
    for (_, result) in read_runs(source, roles, parts) {
        match result? {
            Ok(part) => written.push(part),
            Err(failure) => return Ok(Err(failure)),
        }
    }
    if let Some(failure) = &survey.failure {
        return Ok(Err(failure.clone()));
    }
    let array = close_gaps(array, &written, plan.width)?;
    let rows = written.iter().map(|part| part.rows).sum();
    trace::record(CopyKind::Loaded, array.size_in_bytes());
    let table = HomogenNumericTable::internal(array, Shape { rows, ..shape }, DataLayout::RowMajor);
    table.with_dictionary(roles.dictionary(&|_| (T::TYPE, false))?).map(Ok)
}

/// Returns whether some row must have too few fields, since every field takes at least a byte.
pub(super) fn has_short_rows(source: &CsvSource, roles: &Roles, rows: usize) -> bool {
    (rows as u128) * (roles.columns.len() as u128) > u128::from(source.length()) + 1
}

/// The rows that a run has been converted to.
#[derive(Clone, Copy)]
pub(super) struct Written {
    /// The row of the first record of the run.
    pub(super) first: usize,
    /// Number of rows that are kept.
    pub(super) rows: usize,
}

/// Reads all records, several runs in parallel, each into its own sink. Returns the sinks with the outcome of their
/// runs. Runs before the first failing one are read to their ends.
pub(super) fn read_runs<S: Sink + Send>(
    source: &CsvSource,
    roles: &Roles,
    parts: Vec<(Vec<RecordRange>, S)>,
) -> Vec<(S, Result<Result<Written, Failure>>)> {
    let (meter, end, may_skip) = (source.meter(), AtomicU64::new(u64::MAX), roles.may_skip());
    let task = Task { source, roles, may_skip, meter: &meter, end: &end };
    parallel::map(parts, |(run, mut sink)| {
        let result = task.run(&run, &mut sink);
        (sink, result)
    })
}

/// The state that all tasks share.
struct Task<'a> {
    source: &'a CsvSource,
    roles: &'a Roles,
    may_skip: bool,
    meter: &'a Meter,
    /// Position of the first failure found so far. Nothing after it is needed.
    end: &'a AtomicU64,
}

impl Task<'_> {
    /// Reads consecutive pieces.
    fn run<S: Sink>(&self, run: &[RecordRange], sink: &mut S) -> Result<Result<Written, Failure>> {
        let first = run.first().map_or(0, |piece| piece.rows.start);
        let (mut buffer, mut rows) = (Vec::new(), 0);
        let mut parser = RecordParser::new(self.source, self.roles, self.may_skip);
        for piece in run {
            if self.end.load(Ordering::Relaxed) < piece.bytes.start {
                break; // an earlier failure is the result
            }
            let bytes = self.source.input.read(piece.bytes.clone(), &mut buffer)?;
            let failure = match parser.parse(bytes, piece.bytes.start, sink, piece.rows.len()) {
                Ok(parsed) => {
                    let is_whole = parsed.rows == piece.rows.len() || self.may_skip;
                    rows += parsed.rows;
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
        Ok(Ok(Written { first, rows }))
    }
}

/// Finds the first record that does not fit the roles, when one is known to exist. The sink writes all rows to the same
/// place.
pub(super) fn first_failure(source: &CsvSource, roles: &Roles, sink: &mut dyn Sink) -> Result<Failure> {
    let mut parser = RecordParser::new(source, roles, roles.may_skip());
    let mut batches = Batches::new(source.start);
    let mut row = OneRow(sink);
    while batches.fill(&source.syntax, &source.input, source.step)? {
        match parser.parse(batches.bytes(&source.input), batches.place(), &mut row, usize::MAX) {
            Ok(parsed) => batches.advance(parsed.bytes),
            Err((failure, _)) => return Ok(failure),
        }
    }
    Ok(changed(source.start))
}

/// A sink that stays in its first row.
struct OneRow<'s>(&'s mut dyn Sink);

impl Sink for OneRow<'_> {
    fn take(&mut self, column: usize, bytes: &[u8], syntax: &Syntax) -> Taken {
        self.0.take(column, bytes, syntax)
    }

    fn store(&mut self, column: usize, field: Field<'_>, place: u64) -> Result<bool, Reason> {
        self.0.store(column, field, place)
    }

    fn end_row(&mut self, _: bool) {
        self.0.end_row(false);
    }
}

fn changed(place: u64) -> Failure {
    let reason = "or the text after it changed while it was read".into();
    Failure { place, column: None, text: String::new(), reason }
}

/// Moves rows together to close the gaps of skipped rows.
pub(super) fn close_gaps<T: Element>(mut array: Array<T>, written: &[Written], width: usize) -> Result<Array<T>> {
    let total = written.iter().map(|part| part.rows).sum::<usize>() * width;
    if total == array.len() {
        return Ok(array);
    }
    if total == 0 {
        return Ok(Array::new());
    }
    let (values, mut end) = (array.mutable_data()?, 0);
    for &Written { first, rows } in written {
        values.copy_within(first * width..(first + rows) * width, end);
        end += rows * width;
    }
    // The rest is spare capacity for further rows; an excess is released.
    if total < array.len() / 2 { Array::duplicate(&array[..total]) } else { Ok(array) }
}
