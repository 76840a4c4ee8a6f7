//! Reading a file to describe its columns, without creating a table.

use std::cmp::Ordering;

use super::collect::{Guess, load_by_guess};
use super::description::{CsvColumnDescription, CsvDescription};
use super::evidence::{Evidence, Ground, Sight};
use super::failure::{Failure, Reason, undecided};
use super::fast_path::FastValue;
use super::load::{first_failure, has_short_rows, read_runs};
use super::parse::{Sink, Taken};
use super::plan::ColumnPlan;
use super::roles::{Action, ColumnRole, Roles};
use super::sink::ColumnSink;
use super::syntax::{Field, Syntax};
use super::typed::Reader;
use super::whole::Whole;
use super::{CsvColumnKind, CsvMissing, CsvSample, CsvSource};
use crate::base::element::{ElementType, match_element};
use crate::base::error::Result;
use crate::base::number::{Exact, Number};
use crate::base::shape::Shape;
use crate::base::text::excerpt;
use crate::base::value::AnyValue;
use crate::convert::ConversionPolicy;
use crate::interop::text::number::value;

/// Describes all columns. Finds kinds and types as [`load`](super::typed::load) does.
pub(super) fn describe(source: &CsvSource) -> Result<CsvDescription> {
    load_by_guess(source, |roles, guess| attempt(source, roles, guess))
}

/// Describes columns that have the given roles, if the file fits them. With a guess, its roles are given, and the words
/// are collected.
fn attempt(source: &CsvSource, roles: &Roles, guess: Option<&Guess>) -> Result<Result<CsvDescription, Failure>> {
    let plan = ColumnPlan::examine(roles, source.options.policy).map_err(|error| source.input.name_in(error))?;
    let plan = if let Some(guess) = guess { plan.collect(&guess.is_collected) } else { plan };
    let (survey, width) = (source.survey()?, roles.width());
    Shape { rows: survey.rows(), columns: width }.element_count()?;
    let unseen = vec![Evidence::default(); roles.columns.len()];
    let reader = Reader { source, roles, width, rows: survey.rows() };
    let is_decided = source.options.sample != CsvSample::All;
    if has_short_rows(source, roles, reader.rows) {
        let mut sink = reader.blind(&plan, &plan.elements(&unseen, false), unseen);
        return first_failure(source, roles, &mut sink).map(Err);
    }
    let seen = reader.look_at_sample(&plan, unseen.clone())?;
    let guessed = plan.elements(&seen, is_decided);
    let plan = if is_decided { plan.fix(&guessed) } else { plan };
    let seen = if is_decided { unseen } else { seen };
    let sink = || SummarySink {
        inner: reader.blind(&plan, &guessed, seen.clone()),
        plan: &plan,
        tallies: vec![Tally::default(); roles.columns.len()],
        pending: Vec::new(),
    };
    let parts = survey.runs().into_iter().map(|run| (run, sink())).collect();
    let (mut evidence, mut tallies) = (seen.clone(), vec![Tally::default(); roles.columns.len()]);
    let (mut rows, mut words, mut failure) = (0, Vec::new(), None);
    for (sink, result) in read_runs(source, roles, parts) {
        if failure.is_some() {
            continue; // nothing after it counts
        }
        let result = result?;
        evidence.iter_mut().zip(sink.inner.evidence).for_each(|(all, later)| all.append(later));
        words.push(sink.inner.words);
        tallies.iter_mut().zip(sink.tallies).for_each(|(all, later)| all.append(later));
        match result {
            Ok(part) => rows += part.rows,
            Err(found) => failure = Some(found),
        }
    }
    if let Some(failure) = plan.first_failure(&evidence, failure.or_else(|| survey.failure.clone()), is_decided) {
        return Ok(Err(failure));
    }
    let mut known = None;
    if let Some(guess) = guess {
        let Some((roles, _)) = guess.number(&words)? else { return Ok(Err(undecided(source.start))) };
        known = Some(roles);
    }
    let roles = known.as_ref().unwrap_or(roles);
    let plan = if guess.is_some() { ColumnPlan::examine(roles, source.options.policy)? } else { plan };
    let elements = if is_decided { guessed } else { plan.elements(&evidence, true) };
    let reasons = reasons(source, &plan, &evidence, &tallies)?;
    let columns = roles.columns.iter().zip(tallies).zip(elements).zip(reasons);
    let columns = columns.map(|(((role, tally), element), reason)| describe_column(role, tally, element, reason));
    let left_out_rows = reader.rows.saturating_sub(rows);
    let description = CsvDescription { rows, left_out_rows, columns: columns.collect() };
    if let Some(roles) = known {
        source.settle_as(roles);
    }
    Ok(Ok(description))
}

fn describe_column(role: &ColumnRole, tally: Tally, element: ElementType, reason: String) -> CsvColumnDescription {
    let name = role.name.clone();
    if !role.is_kept {
        let reason = "the options".to_owned();
        return CsvColumnDescription {
            name,
            kind: None,
            element_type: None,
            reason,
            gaps: 0,
            nullable: false,
            range: None,
            categories: None,
        };
    }
    let kind = match (&role.kind, &role.categories) {
        (CsvColumnKind::Automatic, None) => CsvColumnKind::Continuous,
        (CsvColumnKind::Automatic, Some(_)) => CsvColumnKind::Categorical,
        (kind, _) => kind.clone(),
    };
    let of_type = |number: Exact| match_element!(element, T => AnyValue::from(T::nearest(number)));
    CsvColumnDescription {
        name,
        kind: Some(kind),
        element_type: Some(element),
        reason,
        gaps: tally.gaps,
        nullable: tally.gaps > 0 && role.missing == CsvMissing::Keep,
        range: tally.range.ends().map(|(low, high)| (of_type(low), of_type(high))),
        categories: role.categories.as_ref().map(|categories| categories.names.clone()),
    }
}

/// Returns the reasons for the kind and type of each column.
fn reasons(source: &CsvSource, plan: &ColumnPlan<'_>, evidence: &[Evidence], tallies: &[Tally]) -> Result<Vec<String>> {
    let columns = || plan.roles.columns.iter().zip(evidence.iter().zip(tallies));
    let place_of = |tally: &Tally| tally.first.as_ref().map(|first| first.place);
    let missing_of = |evidence: &Evidence| evidence.missing().map(|missing| missing.place);
    let places = columns().flat_map(|(_, (evidence, tally))| [place_of(tally), evidence.place(), missing_of(evidence)]);
    let mut places: Vec<u64> = places.flatten().collect();
    places.sort_unstable();
    places.dedup();
    let lines = source.input.lines_of(&places)?;
    let line_of = |place: u64| places.binary_search(&place).map_or(0, |index| lines[index]); // all of them are there
    let reason = |(column, (role, (evidence, tally))): (usize, (&ColumnRole, (&Evidence, &Tally)))| {
        let kind = match &tally.first {
            _ if role.is_stated => "kind set by the options".to_owned(),
            Some(first) if evidence.place() == Some(first.place) => String::new(), // named below
            Some(first) => format!("{:?} on line {}", first.text, line_of(first.place)),
            None if role.is_words() => "only words".to_owned(),
            None => "no values".to_owned(),
        };
        let missing = |sight: &Sight| format!("{:?} on line {} is missing", sight.text, line_of(sight.place));
        let by_type = match (role.element, plan.action(column), evidence.ground()) {
            (Some(_), ..) => "type set by the options".to_owned(),
            _ if !plan.examines(column) && source.options.sample != CsvSample::All => String::new(),
            (_, _, Ground::Gap(sight)) => missing(sight),
            (_, Action::Number { .. } | Action::Numeral { .. }, ground) => match ground {
                Ground::Real(sight) => format!("{:?} on line {} is not an integer", sight.text, line_of(sight.place)),
                Ground::Range => "integers that no integer type holds".to_owned(),
                Ground::Unsigned => "an integer that i64 does not hold".to_owned(),
                Ground::Whole => "only integers".to_owned(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        let by_sample = if role.is_sampled { "the sample" } else { "" };
        let by_missing = evidence.missing().map(missing).unwrap_or_default();
        let parts = [by_sample.to_owned(), kind, by_type, by_missing];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    };
    Ok(columns().enumerate().map(reason).collect())
}

/// The counts of a column.
#[derive(Clone, Default)]
struct Tally {
    gaps: usize,
    range: NumberRange,
    /// The first number.
    first: Option<Box<Sight>>,
}

/// The smallest and the largest number so far. Of numbers that are equal as floats, the first one.
#[derive(Clone, Copy, Default)]
enum NumberRange {
    #[default]
    Empty,
    /// Both are integers that `i64` holds.
    Wholes(i64, i64),
    Floats(f64, f64),
    /// Others, and the two as floats.
    Mixed([Exact; 2], [f64; 2]),
}

impl NumberRange {
    fn new(least: Exact, most: Exact) -> Self {
        let whole = |number: Exact| match number {
            Exact::Integer(number) => i64::try_from(number).ok(),
            Exact::Float(_) => None,
        };
        match (least, most) {
            (Exact::Float(least), Exact::Float(most)) => Self::Floats(least, most),
            _ => match (whole(least), whole(most)) {
                (Some(least), Some(most)) => Self::Wholes(least, most),
                _ => Self::Mixed([least, most], [float_of(least), float_of(most)]),
            },
        }
    }

    fn ends(self) -> Option<(Exact, Exact)> {
        match self {
            Self::Empty => None,
            Self::Wholes(least, most) => Some((Exact::Integer(least.into()), Exact::Integer(most.into()))),
            Self::Floats(least, most) => Some((Exact::Float(least), Exact::Float(most))),
            Self::Mixed([least, most], _) => Some((least, most)),
        }
    }

    /// Extends the range to an integer.
    #[inline(always)]
    fn add_whole(&mut self, number: i64) {
        match self {
            Self::Wholes(least, most) => (*least, *most) = (number.min(*least), number.max(*most)),
            _ => self.extend(Exact::Integer(number.into()), Exact::Integer(number.into())),
        }
    }

    /// Extends the range to a float.
    #[inline(always)]
    fn add_float(&mut self, number: f64) {
        match self {
            Self::Floats(least, most) | Self::Mixed(_, [least, most]) if *least < number && number < *most => {}
            _ => self.extend(Exact::Float(number), Exact::Float(number)),
        }
    }

    /// Extends the range to another.
    #[inline(never)]
    fn extend(&mut self, low: Exact, high: Exact) {
        let (mut least, mut most) = self.ends().unwrap_or((low, high));
        if compare(low, least) == Ordering::Less {
            least = low;
        }
        if compare(high, most) == Ordering::Greater {
            most = high;
        }
        *self = Self::new(least, most);
    }
}

/// The class of a field.
enum Counted {
    Gap,
    /// A number, or `None` for a NaN, with its position if it is the first.
    Number(Option<Exact>, Option<Box<Sight>>),
}

impl Tally {
    fn add(&mut self, counted: Counted) {
        match counted {
            Counted::Gap => self.gaps += 1,
            Counted::Number(number, first) => {
                self.first = self.first.take().or(first);
                if let Some(number) = number {
                    self.range.extend(number, number);
                }
            }
        }
    }

    /// Adds the counts of later rows.
    fn append(&mut self, later: Self) {
        self.gaps += later.gaps;
        self.first = self.first.take().or(later.first);
        if let Some((low, high)) = later.range.ends() {
            self.range.extend(low, high);
        }
    }
}

/// Compares two numbers that are not NaN. In a column with floats, all numbers become floats.
fn compare(one: Exact, other: Exact) -> Ordering {
    match (one, other) {
        (Exact::Integer(one), Exact::Integer(other)) => one.cmp(&other),
        _ => float_of(one).total_cmp(&float_of(other)),
    }
}

fn float_of(number: Exact) -> f64 {
    match number {
        Exact::Integer(number) => i64::try_from(number).map_or(number as f64, |number| number as f64),
        Exact::Float(number) => number,
    }
}

/// A sink that keeps no values. It rejects what a [`ColumnSink`] rejects.
struct SummarySink<'p> {
    inner: ColumnSink<'static, 'p>,
    plan: &'p ColumnPlan<'p>,
    tallies: Vec<Tally>,
    /// The evidence from the current row, if that row may be skipped.
    pending: Vec<(usize, Counted)>,
}

impl SummarySink<'_> {
    fn count(&self, column: usize, field: &Field<'_>, place: u64) -> Option<Counted> {
        let (roles, action) = (self.plan.roles, self.plan.action(column));
        if let Action::Custom { convert, .. } = action {
            let number = std::str::from_utf8(field.text).ok().and_then(|text| convert(text).ok());
            let number = number.filter(|number| !number.is_nan());
            return Some(Counted::Number(number.map(Exact::Float), None));
        }
        if roles.is_missing(column, field) {
            return Some(Counted::Gap);
        }
        let number = match action {
            Action::Time { unit, .. } => unit.read(field.number_text()).ok().map(|count| Exact::Integer(count.into())),
            Action::Number { .. } | Action::Numeral { .. } => roles.numerals.read(field.number_text(), number_of)?,
            _ => return None,
        };
        let is_first = self.tallies[column].first.is_none();
        let first = is_first.then(|| Box::new(Sight { place, text: excerpt(field.text) }));
        Some(Counted::Number(number, first))
    }
}

/// Returns the number of a string in the plain spelling, unless it is a NaN.
fn number_of(plain: &[u8]) -> Option<Exact> {
    let whole =
        Whole::of(plain).and_then(|whole| whole.as_i64().map(i128::from).or_else(|| whole.as_u64().map(i128::from)));
    if let Some(whole) = whole {
        return Some(Exact::Integer(whole));
    }
    let number = value::<f64>(plain, ConversionPolicy::Saturate).ok()?;
    (!number.is_nan()).then_some(Exact::Float(number))
}

impl Sink for SummarySink<'_> {
    #[inline(always)]
    fn take(&mut self, column: usize, bytes: &[u8], syntax: &Syntax) -> Taken {
        if self.plan.ignores(column) {
            return Taken::Ignored;
        }
        let found = if self.plan.may_skip { None } else { self.inner.fast_value(column, bytes, syntax) };
        let Some((value, length)) = found else { return Taken::Field };
        let tally = &mut self.tallies[column];
        match value {
            FastValue::Index(_) => {}
            FastValue::Nan | FastValue::Missing => tally.gaps += 1,
            // The text of the first number is kept.
            _ if tally.first.is_none() => return Taken::Field,
            FastValue::Whole { is_negative, magnitude } => match i64::try_from(magnitude) {
                Ok(number) => tally.range.add_whole(if is_negative { -number } else { number }),
                // Only in a column of `u64`, which takes no negative numbers.
                Err(_) => tally.range.extend(Exact::Integer(magnitude.into()), Exact::Integer(magnitude.into())),
            },
            FastValue::Days(days) => tally.range.add_whole(days),
            // Perhaps written as an integer, but a column of floats holds only integers that are floats.
            FastValue::Float(number) => tally.range.add_float(number),
        }
        Taken::Stored(length)
    }

    fn store(&mut self, column: usize, field: Field<'_>, place: u64) -> Result<bool, Reason> {
        let is_kept = self.inner.store(column, field, place)?;
        if is_kept && let Some(counted) = self.count(column, &field, place) {
            self.pending.push((column, counted));
        }
        Ok(is_kept)
    }

    fn end_row(&mut self, is_kept: bool) {
        self.inner.end_row(is_kept);
        if !self.pending.is_empty() {
            for (column, counted) in self.pending.drain(..).filter(|_| is_kept) {
                self.tallies[column].add(counted);
            }
        }
    }
}
