//! Kinds and categories of columns, as far as they depend on the whole file.
//!
//! A record with the wrong number of fields is ignored, and so is everything after it: the parser stops there.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::CsvMissing;
use super::failure::{Failure, Reason};
use super::input::Input;
use super::roles::{Categories, ColumnRole, Roles, Skips};
use super::signs::Signs;
use super::survey::{RecordRange, Survey};
use super::syntax::{Fit, Syntax};
use crate::base::error::{Error, Hint, Result};
use crate::base::parallel;
use crate::base::text::excerpt;

/// Findings about the columns from some records.
#[derive(Default)]
pub(super) struct Findings {
    /// Findings about the columns that are not decided yet.
    columns: HashMap<usize, Finding>,
    /// The first position so far where a column has one word too many. Later words are not needed.
    end: Option<u64>,
    is_past_end: bool,
    /// Whether a record with the wrong number of fields, or the last one of the file, has been seen. Nothing after it
    /// counts.
    is_over: bool,
}

/// Findings about one column.
#[derive(Default)]
struct Finding {
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
    /// Adds a word, unless it is known, not UTF-8, or beyond the limit. Returns whether the limit was exceeded.
    fn add_word(&mut self, word: &[u8], place: u64, most: usize) -> Result<bool> {
        if self.places.len() > most {
            return Ok(true);
        }
        if !self.words.indices.contains_key(word)
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
        mut at: usize,
        ends: &[usize],
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        let &RecordBytes { syntax, bytes, place } = records;
        for ((index, column), &end) in roles.columns.iter().enumerate().zip(ends) {
            let start = std::mem::replace(&mut at, end + 1);
            let (is_open, wants_words) = (column.is_open(), column.wants_words() && !self.is_past_end);
            let may_skip = column.is_kept && column.missing == CsvMissing::SkipRow;
            if !is_open && !wants_words && !may_skip {
                continue;
            }
            let field = syntax.field_between(bytes, start, end, scratch);
            if may_skip && roles.is_undecided(index, &field) {
                self.columns.entry(index).or_default().has_skipping_gap = true;
            }
            if !is_open && !wants_words {
                continue;
            }
            if roles.is_missing(index, &field) {
                continue;
            }
            let (finding, place) = (self.columns.entry(index).or_default(), place + start as u64);
            if is_open {
                let bare = syntax.bare_start(bytes, start).filter(|_| ends.len() == 1).map(|bare| &bytes[bare..end]);
                finding.signs.add(&field, place, bare, &roles.numerals);
            }
            if column.is_sampled && finding.stray.is_none() && roles.numerals.is_meant(field.number_text()) {
                finding.stray = Some((place, excerpt(field.text)));
            }
            if wants_words && finding.add_word(field.text, place, column.most_categories())? {
                self.end.get_or_insert(place);
            }
        }
        Ok(())
    }

    /// Adds the findings from later records.
    fn append(&mut self, later: Self, roles: &Roles) -> Result<()> {
        if self.is_over {
            return Ok(());
        }
        self.is_over = later.is_over;
        for (index, more) in later.columns {
            let (finding, most) = (self.columns.entry(index).or_default(), roles.columns[index].most_categories());
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
        let failures = self.columns.iter().filter(|(index, _)| among(&roles.columns[**index]));
        let failures = failures.filter_map(|(&index, finding)| {
            let most = roles.columns[index].most_categories();
            let (&place, word) = (finding.places.get(most)?, finding.words.names.get(most)?);
            let reason = format!("is one category more than {most}, which is the limit").into();
            Some(Failure { place, column: Some(index), text: excerpt(word.as_bytes()), reason })
        });
        failures.min_by_key(|failure| failure.place)
    }

    /// Returns whether skipped rows have been counted, according to the current kinds of columns.
    fn has_skipping_gap(&self, roles: &Roles) -> bool {
        self.columns.iter().any(|(&index, finding)| finding.has_skipping_gap && !roles.columns[index].is_words())
    }

    /// Returns the first number in a column of words, as decided by the sampled rows.
    fn stray(&self) -> Option<Failure> {
        let failures = self.columns.iter().filter_map(|(&index, finding)| {
            let (place, text) = finding.stray.clone()?;
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
            let signs = self.columns.get_mut(&index).map(|finding| std::mem::take(&mut finding.signs));
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
                column.categories = Some(Arc::new(findings.columns.remove(&index).unwrap_or_default().words));
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
