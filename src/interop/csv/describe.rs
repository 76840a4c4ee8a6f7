//! Which columns are words, and which words there are: what the whole file decides.

use std::collections::HashMap;
use std::sync::Arc;

use super::CsvKind;
use super::input::Input;
use super::number::is_number;
use super::roles::{Categories, Roles};
use super::survey::{Piece, Survey};
use super::syntax::Syntax;
use crate::error::Result;
use crate::parallel;

/// What some records say about the columns.
#[derive(Default)]
pub(super) struct Findings {
    /// Columns that are open, and have a field that is neither a number nor missing.
    words_in: Vec<bool>,
    /// The words of the columns that want them, in the order in which they first appear.
    words: HashMap<usize, Categories>,
}

impl Findings {
    pub(super) fn new(roles: &Roles) -> Self {
        Self { words_in: vec![false; roles.columns.len()], words: HashMap::new() }
    }

    /// Looks at whole records, `limit` at most. Errors are for the parser to find: here, what is no record of the right
    /// shape says what it can.
    pub(super) fn look_at(&mut self, syntax: &Syntax, roles: &Roles, bytes: &[u8], limit: usize) {
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
                at = self.look_at_record(syntax, roles, bytes, at, &mut scratch);
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
                        } else {
                            self.add(index, field.text);
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

    fn add(&mut self, column: usize, word: &[u8]) {
        let categories = self.words.entry(column).or_default();
        if !categories.indices.contains_key(word)
            && let Ok(word) = std::str::from_utf8(word)
        {
            categories.add(word);
        }
    }

    /// Adds what later records say.
    fn append(&mut self, later: Self) {
        self.words_in.iter_mut().zip(later.words_in).for_each(|(found, more)| *found |= more);
        for (column, words) in later.words {
            let categories = self.words.entry(column).or_default();
            words.names.iter().for_each(|word| categories.add(word));
        }
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

/// Looks through the whole file until nothing is open. Once, unless a column of numbers has its first words late.
pub(super) fn settle(syntax: &Syntax, input: &Input, survey: &Survey, mut roles: Roles) -> Result<Roles> {
    while !roles.are_settled() {
        let looked_at = parallel::map(survey.runs(), |run: Vec<Piece>| -> Result<Findings> {
            let (mut findings, mut buffer) = (Findings::new(&roles), Vec::new());
            for piece in run {
                let bytes = input.read(piece.bytes, &mut buffer)?;
                findings.look_at(syntax, &roles, bytes, usize::MAX);
            }
            Ok(findings)
        });
        let mut findings = Findings::new(&roles);
        for part in looked_at {
            findings.append(part?);
        }
        for (index, column) in roles.columns.iter_mut().enumerate() {
            if column.wants_words() {
                column.categories = Some(Arc::new(findings.words.remove(&index).unwrap_or_default()));
            }
        }
        if !findings.mark_words(&mut roles) {
            roles = roles.into_numbers(); // all others
        }
    }
    Ok(roles)
}
