//! Which columns are words, and which words there are: what the whole file decides.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::input::Input;
use super::number::is_number;
use super::parse::Failure;
use super::roles::{Categories, Roles};
use super::survey::{Piece, Survey};
use super::syntax::Syntax;
use super::{CsvKind, excerpt};
use crate::error::Result;
use crate::parallel;

/// What some records say about the columns.
#[derive(Default)]
pub(super) struct Findings {
    /// Columns that are open, and have a field that is neither a number nor missing.
    words_in: Vec<bool>,
    /// The words of the columns that want them, in the order in which they first appear.
    words: HashMap<usize, Words>,
    /// The first place so far where a column has one word too many; behind it, nobody needs words.
    end: Option<u64>,
    is_behind_end: bool,
}

/// Words, and where each of them appears first.
#[derive(Default)]
struct Words {
    categories: Categories,
    places: Vec<u64>,
}

impl Words {
    /// Adds a word, unless it is there, or not UTF-8, or there is one too many already. Gives whether there is.
    fn add(&mut self, word: &[u8], place: u64, most: usize) -> bool {
        if self.places.len() > most {
            return true;
        }
        if !self.categories.indices.contains_key(word)
            && let Ok(word) = std::str::from_utf8(word)
        {
            self.categories.push(word);
            self.places.push(place);
        }
        false
    }
}

impl Findings {
    pub(super) fn new(roles: &Roles) -> Self {
        Self { words_in: vec![false; roles.columns.len()], words: HashMap::new(), end: None, is_behind_end: false }
    }

    /// Looks at whole records, `limit` at most; `place` is where they lie in the file. Errors are for the parser to find: here,
    /// what is no record of the right shape says what it can.
    pub(super) fn look_at(&mut self, syntax: &Syntax, roles: &Roles, bytes: &[u8], place: u64, limit: usize) {
        let mut scratch = Vec::new();
        let may_skip = roles.may_skip();
        let mut at = syntax.skip_blank(bytes, 0);
        for _ in 0..limit {
            if at == bytes.len() {
                break;
            }
            if may_skip && roles.skips(syntax, bytes, at, &mut scratch) {
                at = syntax.record_end(bytes, at, true).unwrap_or(bytes.len());
            } else {
                at = self.look_at_record(syntax, roles, bytes, place, at, &mut scratch);
            }
            at = syntax.skip_blank(bytes, at);
        }
    }

    /// Looks at one record. Gives where it ends.
    fn look_at_record(
        &mut self,
        syntax: &Syntax,
        roles: &Roles,
        bytes: &[u8],
        place: u64,
        mut at: usize,
        scratch: &mut Vec<u8>,
    ) -> usize {
        let mut columns = roles.columns.iter().enumerate();
        loop {
            let column = columns.next().filter(|(_, column)| column.is_open() || column.wants_words());
            let end = match column {
                None => syntax.field_end(bytes, at).unwrap_or(bytes.len()),
                Some((index, column)) => {
                    let field = syntax.field(bytes, at, scratch);
                    if field.is_closed && !roles.is_missing(field.text) {
                        if column.is_open() {
                            self.words_in[index] |= !is_number(field.number_text());
                        } else if !self.is_behind_end {
                            self.add(index, field.text, place + at as u64, column.most_categories());
                        }
                    }
                    field.end
                }
            };
            if bytes.get(end) != Some(&syntax.delimiter) {
                return end;
            }
            at = end + 1;
        }
    }

    fn add(&mut self, column: usize, word: &[u8], place: u64, most: usize) {
        if self.words.entry(column).or_default().add(word, place, most) {
            self.end.get_or_insert(place);
        }
    }

    /// Adds what later records say.
    fn append(&mut self, later: Self, roles: &Roles) {
        self.words_in.iter_mut().zip(later.words_in).for_each(|(found, more)| *found |= more);
        for (column, more) in later.words {
            let (words, most) = (self.words.entry(column).or_default(), roles.columns[column].most_categories());
            let mut more = more.categories.names.iter().zip(more.places);
            more.find(|(word, place)| words.add(word.as_bytes(), *place, most));
        }
    }

    /// The first word in the file that is one too many for its column.
    fn too_many(&self, roles: &Roles) -> Option<Failure> {
        let failures = self.words.iter().filter_map(|(&column, words)| {
            let most = roles.columns[column].most_categories();
            let (&place, word) = (words.places.get(most)?, words.categories.names.get(most)?);
            let reason = format!("is one category more than {most}, the most that the options permit");
            Some(Failure { place, column: Some(column), text: excerpt(word.as_bytes()), reason })
        });
        failures.min_by_key(|failure| failure.place)
    }

    /// Turns the open columns in which words were found into categorical ones. Gives whether there are any.
    pub(super) fn mark_words(&self, roles: &mut Roles) -> bool {
        let mut found = false;
        for (column, has_words) in roles.columns.iter_mut().zip(&self.words_in) {
            if *has_words && column.is_open() {
                column.kind = CsvKind::Categorical;
                found = true;
            }
        }
        found
    }
}

/// Looks through the whole file until nothing is open, or there are too many words. Once, unless a column of numbers has its
/// first words late.
pub(super) fn settle(
    syntax: &Syntax,
    input: &Input,
    survey: &Survey,
    mut roles: Roles,
) -> Result<Result<Roles, Failure>> {
    while !roles.are_settled() {
        let end = AtomicU64::new(u64::MAX);
        let looked_at = parallel::map(survey.runs(), |run: Vec<Piece>| -> Result<Findings> {
            let (mut findings, mut buffer) = (Findings::new(&roles), Vec::new());
            for piece in run {
                let bytes = input.read(piece.bytes.clone(), &mut buffer)?;
                findings.is_behind_end |= end.load(Ordering::Relaxed) < piece.bytes.start;
                findings.look_at(syntax, &roles, bytes, piece.bytes.start, usize::MAX);
                end.fetch_min(findings.end.unwrap_or(u64::MAX), Ordering::Relaxed);
            }
            Ok(findings)
        });
        let mut findings = Findings::new(&roles);
        for part in looked_at {
            findings.append(part?, &roles);
        }
        let too_many = findings.too_many(&roles);
        for (index, column) in roles.columns.iter_mut().enumerate() {
            if column.wants_words() && too_many.is_none() {
                column.categories = Some(Arc::new(findings.words.remove(&index).unwrap_or_default().categories));
            }
        }
        // Which columns have too many words is known when it is known which have any.
        if !findings.mark_words(&mut roles) {
            if let Some(failure) = too_many {
                return Ok(Err(failure));
            }
            roles = roles.into_numbers(); // all others
        }
    }
    Ok(Ok(roles))
}
