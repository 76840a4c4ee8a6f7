//! Loading whole files into columns, each of the element type that suits its fields.
//!
//! The types are guessed from the first records, and the file is read with these types. Evidence about the types is
//! collected on the way. Columns whose guess turns out to be wrong are read once more, alone.

use super::batches::Batches;
use super::categories::Categories;
use super::cells::Cells;
use super::collect::{Guess, load_by_guess, translate};
use super::evidence::Evidence;
use super::failure::{Failure, undecided};
use super::load::{Written, close_gaps, first_failure, has_short_rows, read_runs};
use super::parse::RecordParser;
use super::plan::ColumnPlan;
use super::roles::Roles;
use super::sample::Rows;
use super::sink::ColumnSink;
use super::survey::RecordRange;
use super::{CsvSample, CsvSource, SAMPLE};
use crate::array::{AnyArray, Validity};
use crate::base::element::{ElementType, match_element};
use crate::base::error::Result;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::dictionary::DataDictionary;
use crate::table::MemoryStatus;
use crate::table::soa::SoaNumericTable;

/// Loads a table. Finds the kinds of columns as [`load`](super::load::load) does, unless one pass is enough.
pub(super) fn load(source: &CsvSource) -> Result<SoaNumericTable> {
    load_by_guess(source, |roles, guess| attempt(source, roles, guess))
}

/// Loads a table whose columns have the given roles, if the file fits them. With a guess, its roles are given, and the
/// words are collected.
fn attempt(source: &CsvSource, roles: &Roles, guess: Option<&Guess>) -> Result<Result<SoaNumericTable, Failure>> {
    let plan = ColumnPlan::examine(roles, source.options.policy).map_err(|error| source.input.name_in(error))?;
    let plan = if let Some(guess) = guess { plan.collect(&guess.is_collected) } else { plan };
    let (survey, width) = (source.survey()?, roles.width());
    Shape { rows: survey.rows(), columns: width }.element_count()?;
    let unseen = vec![Evidence::default(); roles.columns.len()];
    let reader = Reader { source, roles, width, rows: survey.rows() };
    if has_short_rows(source, roles, reader.rows) {
        // The failure is found before memory is allocated.
        let mut sink = reader.blind(&plan, &plan.elements(&unseen, false), unseen);
        return first_failure(source, roles, &mut sink).map(Err);
    }
    let seen = reader.look_at_sample(&plan, unseen.clone())?;
    let is_decided = source.options.sample != CsvSample::All;
    let guessed = plan.elements(&seen, is_decided);
    let plan = if is_decided { plan.fix(&guessed) } else { plan };
    // A sample need not be the first rows, whose evidence comes before that of others.
    let seen = if is_decided { unseen } else { seen };
    let mut arrays: Vec<Option<AnyArray>> = vec![None; width];
    let mut gaps: Vec<Option<Validity>> = vec![None; roles.columns.len()];
    let runs = || survey.runs();
    let outcome = reader.read(&plan, &guessed, seen, runs(), (&mut arrays, &mut gaps))?;
    let Outcome { written, evidence, words, failure } = outcome;
    // A failure before or after the last record, or of a number that its column does not hold.
    if let Some(failure) = plan.first_failure(&evidence, failure.or_else(|| survey.failure.clone()), is_decided) {
        return Ok(Err(failure));
    }
    let mut suited = if is_decided { guessed.clone() } else { plan.elements(&evidence, true) };
    let mut is_other: Vec<bool> = guessed.iter().zip(&suited).map(|(one, other)| one != other).collect();
    for column in (0..is_other.len()).filter(|&column| is_other[column]) {
        arrays[plan.targets(column)].fill(None); // frees the memory before more is allocated
    }
    for (column, is_other) in is_other.iter_mut().enumerate().filter(|(_, is_other)| **is_other) {
        if evidence[column].are_all_missing(plan.action(column)) {
            *is_other = false; // there are no values to read
            arrays[plan.targets(column)].fill(Some(AnyArray::zeros(suited[column], reader.rows)?));
        }
    }
    if is_other.contains(&true) {
        let again = ColumnPlan::examine(roles, source.options.policy)?.convert_only(&is_other);
        let outcome = reader.read(&again, &suited, evidence.clone(), runs(), (&mut arrays, &mut gaps))?;
        if let Some(failure) = outcome.failure {
            return Ok(Err(failure)); // the file has changed
        }
    }
    let mut known = None;
    if let Some(guess) = guess {
        let Some((roles, translations)) = guess.number(&words)? else { return Ok(Err(undecided(source.start))) };
        let plan = ColumnPlan::examine(&roles, source.options.policy)?;
        for column in (0..suited.len()).filter(|&column| guess.is_collected[column]) {
            suited[column] = plan.element(column, &evidence[column], true);
            let translations: Vec<&[u32]> = translations.iter().map(|run| &run[column][..]).collect();
            for array in arrays[plan.targets(column)].iter_mut().flatten() {
                *array = translate(array, suited[column], roles.columns[column].missing, &written, &translations)?;
            }
        }
        known = Some(roles);
    }
    let feature = |column: usize| (suited.get(column).copied().unwrap_or(ElementType::F64), gaps[column].is_some());
    let dictionary = known.as_ref().unwrap_or(roles).dictionary(&feature)?;
    let table = assemble(dictionary, &plan, &written, (arrays, gaps))?;
    if let Some(roles) = known {
        source.settle_as(roles);
    }
    Ok(Ok(table))
}

/// Creates the table of columns that have been read.
pub(super) fn assemble(
    dictionary: DataDictionary,
    plan: &ColumnPlan<'_>,
    written: &[Written],
    (arrays, gaps): (Vec<Option<AnyArray>>, Vec<Option<Validity>>),
) -> Result<SoaNumericTable> {
    let mut columns = Vec::new();
    for array in arrays.into_iter().flatten() {
        columns.push(match_element!(array.element_type(), T => match array.downcast::<T>() {
            Ok(array) => AnyArray::new(close_gaps(array, written, 1)?),
            Err(array) => array, // never: `T` is its type
        }));
    }
    let rows = written.iter().map(|part| part.rows).sum();
    for array in &mut columns {
        *array = array.resized(rows)?; // without spare capacity
    }
    let mut validities = vec![None; columns.len()];
    for (column, validity) in gaps.iter().enumerate().filter(|(_, validity)| validity.is_some()) {
        validities[plan.targets(column)].fill(validity.clone());
    }
    let bytes = columns.iter().map(|column| column.len() * column.element_type().size_in_bytes()).sum();
    trace::record(CopyKind::Loaded, bytes);
    let columns = columns.into_iter().zip(validities).collect();
    SoaNumericTable::of_nullable_arrays(dictionary, rows, columns, MemoryStatus::InternallyAllocated)
}

/// Reads columns.
pub(super) struct Reader<'a> {
    pub(super) source: &'a CsvSource,
    pub(super) roles: &'a Roles,
    /// Number of columns of the table.
    pub(super) width: usize,
    /// Number of rows of the runs that are read.
    pub(super) rows: usize,
}

/// The columns that have been read.
pub(super) struct Outcome {
    pub(super) written: Vec<Written>,
    /// The evidence of all columns.
    evidence: Vec<Evidence>,
    /// The words of each run, if some are collected.
    words: Vec<Vec<Categories>>,
    /// The first failure.
    pub(super) failure: Option<Failure>,
}

impl Reader<'_> {
    /// Returns a sink without memory, for columns of the given types.
    pub(super) fn blind<'p>(
        &self,
        plan: &'p ColumnPlan<'p>,
        elements: &[ElementType],
        evidence: Vec<Evidence>,
    ) -> ColumnSink<'static, 'p> {
        let mut cells: Vec<Cells<'static>> = (0..self.width).map(|_| Cells::none(ElementType::I64)).collect();
        for (column, &element) in elements.iter().enumerate() {
            plan.targets(column).for_each(|target| cells[target] = Cells::none(element));
        }
        ColumnSink::new(plan, cells, evidence)
    }

    /// Returns the evidence from the first records, up to the first one that fails, or from the records that the
    /// options select.
    pub(super) fn look_at_sample(&self, plan: &ColumnPlan<'_>, evidence: Vec<Evidence>) -> Result<Vec<Evidence>> {
        let CsvSource { input, syntax, start, step, options, .. } = self.source;
        let mut sink = self.blind(plan, &plan.elements(&evidence, false), evidence);
        let mut batches = Batches::new(*start);
        if options.sample != CsvSample::All {
            let mut parser = RecordParser::new(self.source, self.roles, self.roles.may_skip());
            let rows = Rows { sample: options.sample, syntax, input, start: *start, step: *step };
            let mut is_failed = false; // nothing after a failure counts, wherever the text is cut
            rows.visit(Some(self.source.survey()?), |bytes, place| {
                is_failed = is_failed || parser.parse(bytes, place, &mut sink, usize::MAX).is_err(); // found again
            })?;
        } else if self.rows > 0 && batches.fill(syntax, input, *step)? {
            let mut parser = RecordParser::new(self.source, self.roles, self.roles.may_skip());
            let _ = parser.parse(batches.bytes(input), *start, &mut sink, SAMPLE); // a failure is found again
        }
        Ok(sink.evidence)
    }

    /// Reads the columns that do not have an array yet, with the given types, from consecutive runs. Sets their arrays,
    /// one for each column of the table, and their missing values, for each column of the file.
    pub(super) fn read(
        &self,
        plan: &ColumnPlan<'_>,
        elements: &[ElementType],
        seen: Vec<Evidence>,
        all_runs: Vec<Vec<RecordRange>>,
        (arrays, gaps): (&mut [Option<AnyArray>], &mut [Option<Validity>]),
    ) -> Result<Outcome> {
        let is_wanted: Vec<bool> = arrays.iter().map(Option::is_none).collect();
        for (column, &element) in elements.iter().enumerate() {
            for target in plan.targets(column).filter(|&target| is_wanted[target]) {
                arrays[target] = Some(AnyArray::zeros(element, self.rows)?);
            }
        }
        let mut rest = Vec::new();
        for (array, &is_wanted) in arrays.iter_mut().zip(&is_wanted) {
            let array = array.as_mut().filter(|_| is_wanted && self.rows > 0);
            rest.push(match array {
                Some(array) => Cells::new(array.need_mutable_data()?),
                None => Cells::none(ElementType::F64), // not written
            });
        }
        let mut parts = Vec::new();
        for run in all_runs {
            let rows: usize = run.iter().map(|piece| piece.rows.len()).sum();
            let (mut cells, mut later) = (Vec::new(), Vec::new());
            for (column, is_wanted) in rest.into_iter().zip(&is_wanted) {
                let (now, then) = column.split_at(if *is_wanted { rows } else { 0 });
                cells.push(now);
                later.push(then);
            }
            parts.push((run, ColumnSink::new(plan, cells, seen.clone())));
            rest = later;
        }
        let (mut written, mut evidence, mut words, mut failure) = (Vec::new(), seen, Vec::new(), None);
        let mut runs = Vec::new();
        for (sink, result) in read_runs(self.source, self.roles, parts) {
            if failure.is_some() {
                continue; // nothing after it counts
            }
            let result = result?;
            evidence.iter_mut().zip(sink.evidence).for_each(|(all, later)| all.append(later));
            words.push(sink.words);
            match result {
                Ok(part) => {
                    let validities = sink.gaps.into_iter().map(|gaps| gaps.into_validity(part.rows));
                    runs.push(validities.collect::<Result<Vec<_>>>()?);
                    written.push(part);
                }
                Err(found) => failure = Some(found),
            }
        }
        for (column, gaps) in gaps.iter_mut().enumerate() {
            if plan.targets(column).any(|target| is_wanted[target]) {
                let parts = runs.iter().zip(&written).map(|(run, part)| (run[column].as_ref(), part.rows));
                *gaps = Validity::concat(&parts.collect::<Vec<_>>())?;
            }
        }
        Ok(Outcome { written, evidence, words, failure })
    }
}
