//! Kinds and categories of columns, as far as they depend on the whole file.
//!
//! A record with the wrong number of fields is ignored, and so is everything after it: the parser stops there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::categories::Categories;
use super::failure::{Failure, Reason};
use super::input::Input;
use super::roles::{ColumnRole, Roles, Skips};
use super::signs::Signs;
use super::survey::{RecordRange, Survey};
use super::syntax::{Fit, Syntax};
use crate::base::error::{Error, Hint, Result};
use crate::base::parallel;
use crate::base::text::excerpt;

/// Findings about the columns from some records.
#[derive(Default)]
pub(super) struct Findings {
    /// Findings about the columns that are not decided yet, in file order. Empty before the first record.
    columns: Vec<Finding>,
    /// The first position so far where a column has one word too many. Later words are not needed.
    end: Option<u64>,
    is_past_end: bool,
    /// Whether a record with the wrong number of fields, or the last one of the file, has been seen. Nothing after it
    /// counts.
    is_over: bool,
}

/// Findings about one column.
struct Finding {
    column: usize,
    /// Used if the kind of the column is open.
    signs: Signs,
    /// Used if the words of the column are needed: the words and their positions, in order of first appearance.
    words: Categories,
    places: Vec<u64>,
    /// The first number in a column of words, as decided by the sampled rows.
    stray: Option<(u64, String)>,
    /// Whether a field would mean a missing value in a column of numbers, so that its row would be skipped.
    has_skipping_gap: bool,
}

impl Finding {
    fn new(column: usize) -> Self {
        Self {
            column,
            signs: Signs::default(),
            words: Categories::default(),
            places: Vec::new(),
            stray: None,
            has_skipping_gap: false,
        }
    }

    /// Returns whether another field with this text adds nothing: its word is known, its signs are the same with and
    /// without quotes, and there is room for another word. Only for one of several columns.
    fn knows(&self, text: &[u8], most: usize) -> bool {
        let is_space = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
        let is_bare = !is_space(text.first()) && !is_space(text.last());
        is_bare && self.places.len() <= most && self.words.has(text)
    }

    /// Adds a word, unless it is known, not UTF-8, or beyond the limit. Returns whether the limit was exceeded.
    fn add_word(&mut self, word: &[u8], place: u64, most: usize) -> Result<bool> {
        if self.places.len() > most {
            return Ok(true);
        }
        if !self.words.has(word)
            && let Ok(word) = std::str::from_utf8(word)
        {
            let bytes = self.places.len().saturating_mul(size_of::<u64>());
            self.places.try_reserve(1).map_err(|_| Error::out_of_memory(bytes))?;
            self.words.push(word)?;
            self.places.push(place);
        }
        Ok(false)
    }
}

/// Complete records, and their position in the file.
pub(super) struct RecordBytes<'a> {
    pub(super) syntax: &'a Syntax,
    pub(super) bytes: &'a [u8],
    pub(super) place: u64,
}

impl Findings {
    /// Examines at most `limit` records. Errors are left to the parser.
    pub(super) fn look_at(&mut self, records: &RecordBytes<'_>, roles: &Roles, limit: usize) -> Result<()> {
        let &RecordBytes { syntax, bytes, .. } = records;
        let (mut ends, mut scratch) = (Vec::new(), Vec::new());
        let may_skip = roles.may_skip();
        if self.columns.is_empty() {
            let watched = roles.columns.iter().enumerate().filter(|(_, column)| column.is_watched());
            self.columns.extend(watched.map(|(index, _)| Finding::new(index)));
        }
        let mut at = syntax.skip_blank(bytes, 0);
        for _ in 0..limit {
            if at == bytes.len() || self.is_over {
                break;
            }
            let end = match syntax.fit(bytes, at, roles.columns.len(), &mut ends) {
                Fit::Right(end) => end,
                Fit::NotTrailing(end) => {
                    self.is_over = true;
                    end
                }
                Fit::Wrong | Fit::Unclosed(_) => {
                    self.is_over = true;
                    break;
                }
            };
            if !may_skip || roles.skips(syntax, bytes, at, &ends, &mut scratch) != Skips::Yes {
                self.look_at_record(records, roles, at, &ends, &mut scratch)?;
            }
            at = syntax.skip_blank(bytes, end);
        }
        Ok(())
    }

    /// Examines one record, whose fields end at `ends`.
    fn look_at_record(
        &mut self,
        records: &RecordBytes<'_>,
        roles: &Roles,
        at: usize,
        ends: &[usize],
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        let &RecordBytes { syntax, bytes, place } = records;
        for finding in &mut self.columns {
            let index = finding.column;
            let (column, end) = (&roles.columns[index], ends[index]);
            let start = if index == 0 { at } else { ends[index - 1] + 1 };
            let (is_open, wants_words) = (column.is_open(), column.wants_words() && !self.is_past_end);
            let field = syntax.field_between(bytes, start, end, scratch);
            let is_undecided = roles.is_undecided(index, &field);
            if column.may_skip() && is_undecided {
                finding.has_skipping_gap = true;
            }
            if (!is_open && !wants_words) || roles.is_missing(index, &field) {
                continue;
            }
            let (place, most) = (place + start as u64, column.most_categories());
            if wants_words && ends.len() > 1 && finding.knows(field.text, most) {
                continue;
            }
            if is_open {
                let bare = syntax.bare_start(bytes, start).filter(|_| ends.len() == 1).map(|bare| &bytes[bare..end]);
                finding.signs.add(&field, place, bare, (!is_undecided).then_some(&roles.numerals));
            }
            if column.is_sampled && finding.stray.is_none() && roles.numerals.is_meant(field.number_text()) {
                finding.stray = Some((place, excerpt(field.text)));
            }
            if wants_words && finding.add_word(field.text, place, most)? {
                self.end.get_or_insert(place);
            }
        }
        Ok(())
    }

    /// Returns the findings about a column, if there are any.
    fn of(&mut self, column: usize) -> Option<&mut Finding> {
        let found = self.columns.binary_search_by_key(&column, |finding| finding.column);
        found.ok().map(|index| &mut self.columns[index])
    }

    /// Adds the findings from later records.
    fn append(&mut self, later: Self, roles: &Roles) -> Result<()> {
        if self.is_over {
            return Ok(());
        }
        self.is_over = later.is_over;
        if self.columns.is_empty() {
            self.columns = later.columns;
            return Ok(());
        }
        for (finding, more) in self.columns.iter_mut().zip(later.columns) {
            let most = roles.columns[finding.column].most_categories();
            finding.signs.append(more.signs);
            finding.stray = finding.stray.take().or(more.stray);
            finding.has_skipping_gap |= more.has_skipping_gap;
            for (word, place) in more.words.names.iter().zip(more.places) {
                if finding.add_word(word.as_bytes(), place, most)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Returns the first word in the file that exceeds the limit of its column, among the columns for which `among` is
    /// true.
    fn too_many(&self, roles: &Roles, among: impl Fn(&ColumnRole) -> bool) -> Option<Failure> {
        let failures = self.columns.iter().filter(|finding| among(&roles.columns[finding.column]));
        let failures = failures.filter_map(|finding| {
            let index = finding.column;
            let most = roles.columns[index].most_categories();
            let (&place, word) = (finding.places.get(most)?, finding.words.names.get(most)?);
            let reason = format!("is one category more than {most}, which is the limit").into();
            Some(Failure { place, column: Some(index), text: excerpt(word.as_bytes()), reason })
        });
        failures.min_by_key(|failure| failure.place)
    }

    /// Returns whether skipped rows have been counted, according to the current kinds of columns.
    fn has_skipping_gap(&self, roles: &Roles) -> bool {
        self.columns.iter().any(|finding| finding.has_skipping_gap && !roles.columns[finding.column].is_words())
    }

    /// Returns the first number in a column of words, as decided by the sampled rows.
    fn stray(&self) -> Option<Failure> {
        let failures = self.columns.iter().filter_map(|finding| {
            let (index, (place, text)) = (finding.column, finding.stray.clone()?);
            let reason = Reason::advised(
                "is a number, but the sampled rows made the column one of words",
                [
                    Hint::new("CsvOptions::sample", "sets which rows are sampled"),
                    Hint::new("CsvOptions::kind", "can read the whole column as words"),
                ],
            );
            Some(Failure { place, column: Some(index), text, reason })
        });
        failures.min_by_key(|failure| failure.place)
    }

    /// Decides the kinds of open columns by these records alone.
    pub(super) fn decide_by_sample(&mut self, roles: &mut Roles) {
        let open: Vec<usize> = (0..roles.columns.len()).filter(|&index| roles.columns[index].is_open()).collect();
        self.decide(roles, true);
        open.into_iter().for_each(|index| roles.columns[index].is_sampled = true);
    }

    /// Decides the kinds of open columns, as far as these records permit. `is_all`: no other records exist.
    pub(super) fn decide(&mut self, roles: &mut Roles, is_all: bool) {
        let is_only = roles.columns.len() == 1;
        for (index, column) in roles.columns.iter_mut().enumerate().filter(|(_, column)| column.is_open()) {
            let signs = self.of(index).map(|finding| std::mem::take(&mut finding.signs));
            signs.unwrap_or_default().decide(column, is_only, is_all);
        }
    }
}

/// Scans the file until no column is open, or a column has too many words. One scan is enough, unless a column has its
/// first words late, or both too many words and a number.
pub(super) fn settle(
    syntax: &Syntax,
    input: &Input,
    survey: &Survey,
    mut roles: Roles,
) -> Result<Result<Roles, Failure>> {
    while !roles.are_settled() {
        let mut findings = look_through(syntax, input, survey, &roles)?;
        let wanted: Vec<bool> = roles.columns.iter().map(ColumnRole::wants_words).collect();
        findings.decide(&mut roles, true);
        if findings.has_skipping_gap(&roles) {
            continue; // skipped rows have been counted, but their words are not categories
        }
        let are_complete = findings.too_many(&roles, |_| true).is_none();
        let too_many = findings.too_many(&roles, ColumnRole::is_words);
        if let Some(stray) = findings.stray() {
            let first = [Some(stray.clone()), too_many].into_iter().flatten().min_by_key(|failure| failure.place);
            return Ok(Err(first.unwrap_or(stray)));
        }
        let mut are_all_wanted = true;
        for (index, column) in roles.columns.iter_mut().enumerate().filter(|(_, column)| column.wants_words()) {
            if wanted[index] && are_complete {
                let words = findings.of(index).map(|finding| std::mem::take(&mut finding.words));
                column.categories = Some(Arc::new(words.unwrap_or_default()));
            }
            are_all_wanted &= wanted[index];
        }
        // The first column with too many words is known only after the words of all columns have been collected.
        if let Some(failure) = too_many.filter(|_| are_all_wanted) {
            return Ok(Err(failure));
        }
    }
    Ok(Ok(roles))
}

fn look_through(syntax: &Syntax, input: &Input, survey: &Survey, roles: &Roles) -> Result<Findings> {
    let (end, over) = (AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX));
    let parts = parallel::map(survey.runs(), |run: Vec<RecordRange>| -> Result<Findings> {
        let (mut findings, mut buffer) = (Findings::default(), Vec::new());
        for piece in run {
            let start = piece.bytes.start;
            if findings.is_over || over.load(Ordering::Relaxed) < start {
                break;
            }
            let bytes = input.read(piece.bytes, &mut buffer)?;
            findings.is_past_end |= end.load(Ordering::Relaxed) < start;
            findings.look_at(&RecordBytes { syntax, bytes, place: start }, roles, usize::MAX)?;
            end.fetch_min(findings.end.unwrap_or(u64::MAX), Ordering::Relaxed);
            over.fetch_min(if findings.is_over { start } else { u64::MAX }, Ordering::Relaxed);
        }
        Ok(findings)
    });
    let mut findings = Findings::default();
    for part in parts {
        findings.append(part?, roles)?;
    }
    Ok(findings)
}
