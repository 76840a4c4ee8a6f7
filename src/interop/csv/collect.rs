//! Reading a file with words in one pass, on a guess: that the columns whose first fields are words consist of words.
//!
//! Each task numbers the words of its rows in order of first appearance. Then the words of all tasks are numbered in
//! file order, which is the order of first appearance in the file, and the indices are translated. Anything that
//! contradicts the guess, and every error, ends the attempt. The file is then read in the usual way, in which its words
//! are known before its rows are read, so results never depend on the guess.

use std::sync::Arc;

use super::categories::Categories;
use super::failure::{Failure, Reason};
use super::load::{Written, load_by};
use super::roles::{ColumnRole, Roles};
use super::{CsvColumnKind, CsvMissing, CsvSample, CsvSource};
use crate::array::{AnyArray, Array};
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::Result;
use crate::base::number::Exact;
use crate::base::parallel;
use crate::base::room::with_room;
use crate::convert::{ConversionPolicy, cast};
use crate::interop::text::number::value_of;

/// For each run of rows and each column, the index in the file of each of its words.
pub(super) type Translations = Vec<Vec<Vec<u32>>>;

/// Stands for a missing value among the indices of words.
pub(super) const NO_WORD: u32 = u32::MAX;

/// The guess, and the columns of the file whose words are collected.
pub(super) struct Guess {
    pub(super) roles: Roles,
    pub(super) is_collected: Vec<bool>,
}

impl Guess {
    /// Returns the guess, if the words of a file are not known and can be collected.
    pub(super) fn new(source: &CsvSource) -> Option<Self> {
        let mut roles = source.guess().clone();
        let is_collected: Vec<bool> = roles.columns.iter().map(ColumnRole::wants_words).collect();
        let fits = |column: &ColumnRole| match column.wants_words() {
            true => !matches!(column.kind, CsvColumnKind::OneHot) && column.element.is_none(),
            false => !column.is_open(),
        };
        // The words of skipped rows do not count, and a file of one column may have another delimiter.
        let is_usual = source.options.sample == CsvSample::All && roles.columns.len() > 1 && !roles.may_skip();
        if !is_usual || !is_collected.contains(&true) || !roles.columns.iter().all(fits) {
            return None;
        }
        for (column, _) in roles.columns.iter_mut().zip(&is_collected).filter(|(_, is_collected)| **is_collected) {
            column.kind = CsvColumnKind::Categorical;
            column.categories = Some(Arc::default());
        }
        Some(Self { roles, is_collected })
    }

    /// Adds the words of all runs of rows to the roles. Returns, for each run and column, the index in the file of each
    /// of its words; `None` if there are too many words.
    pub(super) fn number(&self, runs: &[Vec<Categories>]) -> Result<Option<(Roles, Translations)>> {
        let mut roles = self.roles.clone();
        let mut translations: Translations = vec![vec![Vec::new(); roles.columns.len()]; runs.len()];
        for column in (0..roles.columns.len()).filter(|&column| self.is_collected[column]) {
            let most = most_words(&roles.columns[column]);
            let mut all = Categories::default();
            for (run, translations) in runs.iter().zip(&mut translations) {
                let names = &run[column].names;
                let mut indices = with_room(names.len())?;
                for name in names {
                    let index = match all.index_of(name.as_bytes()) {
                        Some(index) => index,
                        None if all.names.len() >= most => return Ok(None),
                        None => {
                            all.push(name)?;
                            all.names.len() - 1
                        }
                    };
                    indices.push(index as u32); // below `NO_WORD`
                }
                translations[column] = indices;
            }
            roles.columns[column].categories = Some(Arc::new(all));
        }
        Ok(Some((roles, translations)))
    }
}

/// Reads a file by a guess if there is one, and otherwise, or if the file contradicts it, as [`load_by`] does.
///
/// # Errors
/// Those of [`load_by`].
pub(super) fn load_by_guess<V>(
    source: &CsvSource,
    attempt: impl Fn(&Roles, Option<&Guess>) -> Result<Result<V, Failure>>,
) -> Result<V> {
    if let Some(guess) = Guess::new(source)
        && let Ok(Ok(value)) = attempt(&guess.roles, Some(&guess))
    {
        return Ok(value);
    }
    load_by(source, |roles| attempt(roles, None))
}

/// Returns the largest number of words that are collected for a column.
fn most_words(role: &ColumnRole) -> usize {
    role.most_categories().min(NO_WORD as usize)
}

/// Returns the index of a word of a column, which is added if it is new.
pub(super) fn collect(words: &mut Categories, roles: &Roles, column: usize, text: &[u8]) -> Result<u32, Reason> {
    let role = &roles.columns[column];
    let index = match words.index_of(text) {
        Some(index) => index,
        None => {
            let word = std::str::from_utf8(text).map_err(|_| Reason::Undecided)?;
            // In quotes, spaces may surround a number.
            let is_meant = |text: &[u8]| !role.is_stated && roles.numerals.is_meant(text);
            let is_full = words.names.len() >= most_words(role);
            // Without quotes, such a word would be a missing value, and the fast path does not distinguish the two.
            if is_full || role.markers.has_text(text) || is_meant(text) || is_meant(text.trim_ascii()) {
                return Err(Reason::Undecided);
            }
            words.push(word).map_err(|_| Reason::Undecided)?;
            words.names.len() - 1
        }
    };
    Ok(index as u32) // below `NO_WORD`
}

/// Translates the indices of one column to those in the file. `translations` are those of the runs.
pub(super) fn translate(
    indices: &AnyArray,
    element: ElementType,
    missing: CsvMissing,
    written: &[Written],
    translations: &[&[u32]],
) -> Result<AnyArray> {
    match_element!(element, T => translate_to::<T>(indices, missing, written, translations).map(AnyArray::new))
}

fn translate_to<T: Element>(
    indices: &AnyArray,
    missing: CsvMissing,
    written: &[Written],
    translations: &[&[u32]],
) -> Result<Array<T>> {
    let mut array = Array::<T>::zeros(indices.len())?;
    if array.is_empty() {
        return Ok(array);
    }
    let gap = if let CsvMissing::Value(value) = missing { value } else { f64::NAN };
    let gap = value_of::<T>(gap, ConversionPolicy::Exact).unwrap_or(T::nearest(Exact::Integer(0)));
    let (indices, mut rest) = (indices.as_slice().as_slice::<u32>(), array.mutable_data()?);
    let mut parts = Vec::new();
    for (run, translation) in written.iter().zip(translations) {
        let (target, later) = rest.split_at_mut(run.rows);
        parts.push((&indices[run.first..run.first + run.rows], *translation, target));
        rest = later;
    }
    parallel::map(parts, |(indices, translation, target)| {
        for (value, &index) in target.iter_mut().zip(indices) {
            *value = translation.get(index as usize).map_or(gap, |&index| cast(index));
        }
    });
    Ok(array)
}
