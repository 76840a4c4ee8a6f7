//! Parsing the lines of a piece into rows.

use super::{SvmlightIndices, SvmlightOptions};
use crate::base::element::Element;
use crate::base::error::Result;
use crate::convert::ConversionPolicy;
use crate::interop::sparse::pieces::{Local, Piece, Refusal, Words, is_space, lines, not_whole, reserve, whole_number};
use crate::interop::text::number::{NumberRefusal, fast_number, value};

/// The rows of a piece.
#[derive(Debug)]
pub(super) struct Rows<T> {
    /// The end of each row among the values.
    pub(super) ends: Vec<usize>,
    /// The columns of the values, counted from zero, or the indices in the file while their base is unknown.
    pub(super) indices: Vec<u64>,
    pub(super) values: Vec<T>,
    pub(super) labels: Vec<f64>,
    /// The end of the labels of each row, if rows may have any number of labels.
    pub(super) label_ends: Vec<usize>,
    pub(super) queries: Vec<i64>,
    /// The first row.
    pub(super) first: Option<Local>,
    /// The first index that is past the last column if the base is zero, while the base is unknown.
    pub(super) edge: Option<Local>,
}

/// The reason to reject a row that differs from the first one.
pub(super) const QUERY_MISSING: &str = "is a row without a query, but the first row has one";
pub(super) const QUERY_UNEXPECTED: &str = "is a row with a query, but the first row has none";

/// Parses all lines of a piece.
pub(super) fn rows<T: Element>(piece: &Piece, options: &SvmlightOptions) -> Result<Rows<T>, Refusal> {
    let mut rows = Rows {
        ends: Vec::new(),
        indices: Vec::new(),
        values: Vec::new(),
        labels: Vec::new(),
        label_ends: Vec::new(),
        queries: Vec::new(),
        first: None,
        edge: None,
    };
    for (number, line) in lines(piece) {
        let line = memchr::memchr(b'#', line).map_or(line, |end| &line[..end]);
        let mut words = Words::new(line);
        if words.clone().next().is_some() {
            rows.first.get_or_insert_with(|| Local::new(0, line, QUERY_MISSING).on_line(number));
            let edge = rows.edge.is_some();
            row(&mut rows, line, &mut words, options).map_err(|refusal| refusal.on_line(number))?;
            rows.edge = rows.edge.map(|place| if edge { place } else { place.on_line(number) });
        }
    }
    Ok(rows)
}

/// Parses a line that is not blank.
fn row<T: Element>(
    rows: &mut Rows<T>,
    line: &[u8],
    words: &mut Words<'_>,
    options: &SvmlightOptions,
) -> Result<(), Refusal> {
    labels(rows, words, options)?;
    let mut rest = words.clone();
    let query = rest.next().and_then(|(at, word)| Some((at, word.strip_prefix(b"qid:")?)));
    if let Some((at, text)) = query {
        *words = rest;
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        let number: i64 = number.ok_or_else(|| Local::new(at + 4, text, "is not a query, which is an integer"))?;
        reserve(&mut rows.queries, 1)?;
        rows.queries.push(number);
    }
    if query.is_some() && rows.queries.len() != rows.ends.len() + 1 {
        return Err(Local::new(0, line, QUERY_UNEXPECTED).into());
    }
    if query.is_none() && !rows.queries.is_empty() {
        return Err(Local::new(0, line, QUERY_MISSING).into());
    }
    let start = rows.values.len();
    entries(rows, line, words.at, options)?;
    if options.sorts {
        sort(rows, start, line)?;
    }
    reserve(&mut rows.ends, 1)?;
    rows.ends.push(rows.values.len());
    Ok(())
}

/// Parses the labels at the beginning of a line.
fn labels<T>(rows: &mut Rows<T>, words: &mut Words<'_>, options: &SvmlightOptions) -> Result<(), Refusal> {
    let mut rest = words.clone();
    let first = rest.next().filter(|(_, word)| !word.contains(&b':'));
    match first {
        None if options.is_multilabel => {}
        None => {
            let (at, word) = words.next().unwrap_or_default();
            let reason = "is where a label should be: `SvmlightOptions::multilabel` allows rows without one";
            return Err(Local::new(at, word, reason).into());
        }
        Some((mut at, word)) => {
            *words = rest;
            for text in word.split(|&byte| byte == b',') {
                let Ok(label) = value::<f64>(text, ConversionPolicy::Exact) else {
                    return Err(Local::new(at, text, "is not a label, which is a number").into());
                };
                reserve(&mut rows.labels, 1)?;
                rows.labels.push(label);
                at += text.len() + 1;
            }
            if !options.is_multilabel && word.contains(&b',') {
                let reason = "has several labels: `SvmlightOptions::multilabel` allows them";
                return Err(Local::new(at - word.len() - 1, word, reason).into());
            }
        }
    }
    if options.is_multilabel {
        reserve(&mut rows.label_ends, 1)?;
        rows.label_ends.push(rows.labels.len());
    }
    Ok(())
}

/// Parses the indices and values of a line from a position.
fn entries<T: Element>(
    rows: &mut Rows<T>,
    line: &[u8],
    mut at: usize,
    options: &SvmlightOptions,
) -> Result<(), Refusal> {
    let mut before = None;
    loop {
        at += line[at..].iter().take_while(|&&byte| is_space(byte)).count();
        let digits = line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || line.get(at + digits) != Some(&b':') {
            return if at == line.len() { Ok(()) } else { Err(not_an_entry(line, at).into()) };
        }
        let text = &line[at..at + digits];
        let column = column(text, options).map_err(|reason| Local::new(at, text, reason))?;
        if column == limit(options) {
            rows.edge.get_or_insert_with(|| Local::new(at, text, past_the_end(options, 0)));
        }
        if !options.sorts && before.is_some_and(|before| before >= column) {
            return Err(Local::new(
                at,
                text,
                "is not larger than the index before it: `SvmlightOptions::sort` allows any order",
            )
            .into());
        }
        before = Some(column);
        at += digits + 1;
        let (value, length) = number(&line[at..], options.policy).map_err(|(length, refusal)| {
            let reason = match refusal {
                NumberRefusal::NotANumber => "is not a number".to_owned(),
                NumberRefusal::NotRepresentable => format!("is not representable as {}", T::TYPE),
            };
            Local::new(at, &line[at..at + length], reason)
        })?;
        if rows.values.len() == rows.values.capacity() {
            reserve(&mut rows.values, 1)?;
            reserve(&mut rows.indices, 1)?;
        }
        rows.values.push(value);
        rows.indices.push(column);
        at += length;
    }
}

/// Parses the number at the beginning of a string up to a space. Returns it with its length.
#[inline]
fn number<T: Element>(text: &[u8], policy: ConversionPolicy) -> Result<(T, usize), (usize, NumberRefusal)> {
    if let Some((value, length)) = fast_number::<T>(text)
        && text.get(length).is_none_or(|&byte| is_space(byte))
    {
        return Ok((value, length));
    }
    let length = text.iter().take_while(|&&byte| !is_space(byte)).count();
    match value::<T>(&text[..length], policy) {
        Ok(value) => Ok((value, length)),
        Err(refusal) => Err((length, refusal)),
    }
}

/// Converts an index to a column, counted from zero. Leaves it unchanged while the base is unknown.
#[inline]
fn column(text: &[u8], options: &SvmlightOptions) -> Result<u64, String> {
    let Some(index) = whole_number(text) else { return Err(not_whole(text).to_owned()) };
    let (column, first) = match options.indices {
        SvmlightIndices::FromOne if index == 0 => {
            let reason = "is not an index: the first is 1 unless `SvmlightOptions::indices` sets another base";
            return Err(reason.to_owned());
        }
        SvmlightIndices::FromOne => (index - 1, 1),
        SvmlightIndices::FromZero => (index, 0),
        SvmlightIndices::Automatic => (index, 1),
    };
    // While the base is unknown, an index may equal the number of columns.
    let (limit, may_be_one_more) = (limit(options), options.indices == SvmlightIndices::Automatic);
    if column < limit || (may_be_one_more && column == limit) { Ok(column) } else { Err(past_the_end(options, first)) }
}

/// Returns the number of columns that the table may have.
#[inline]
fn limit(options: &SvmlightOptions) -> u64 {
    options.columns.map_or(usize::MAX as u64, |columns| columns as u64)
}

/// Returns the reason for an index past the last column. `first` is the index of the first column.
#[cold]
fn past_the_end(options: &SvmlightOptions, first: u64) -> String {
    match options.columns {
        None => "is more columns than a table can have".to_owned(),
        Some(0) => "is past the last column: the table has none".to_owned(),
        Some(columns) => format!("is past the last column, whose index is {}", columns as u64 - 1 + first),
    }
}

/// Returns the error for a string that should be an index, a colon and a value.
#[cold]
fn not_an_entry(line: &[u8], at: usize) -> Local {
    let mut words = Words::new(line);
    words.at = at;
    let (at, word) = words.next().unwrap_or_default();
    match word.iter().position(|&byte| byte == b':') {
        None => Local::new(at, word, "has no colon between index and value"),
        Some(length) => Local::new(at, &word[..length], not_whole(&word[..length])),
    }
}

/// Sorts the values of the last row, which begin at `start`, by their columns.
fn sort<T: Element>(rows: &mut Rows<T>, start: usize, line: &[u8]) -> Result<(), Refusal> {
    let indices = &mut rows.indices[start..];
    if indices.is_sorted_by(|before, index| before < index) {
        return Ok(());
    }
    let mut pairs = Vec::new();
    reserve(&mut pairs, indices.len())?;
    pairs.extend(indices.iter().copied().zip(rows.values[start..].iter().copied()));
    pairs.sort_unstable_by_key(|&(index, _)| index); // equal ones are rejected
    if pairs.windows(2).any(|two| two[0].0 == two[1].0) {
        return Err(Local::new(0, line, "is a row with an index that occurs twice").into());
    }
    for ((index, value), pair) in indices.iter_mut().zip(&mut rows.values[start..]).zip(pairs) {
        (*index, *value) = pair;
    }
    Ok(())
}
