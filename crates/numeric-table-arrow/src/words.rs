//! Words as categories and back: text, and dictionaries of text.
//!
//! A column has one list of words, even if the dictionaries of its batches differ: first all words of the first
//! dictionary, in its order, used or not, then the new words of later dictionaries. Words of plain text are listed in
//! the order of their first appearance.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array as ArrowArray, ArrayRef, DictionaryArray, GenericStringArray, OffsetSizeTrait, PrimitiveArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::internal::{match_element, with_room};
use numeric_table::{
    AnyArray, Array, Element, ElementType, Error, Result, array::Validity, dictionary::Categories, error::Hint,
};

use crate::error::failed;
use crate::gaps::to_nulls;
use crate::types::{nulls_of_nans, values};

/// Why a column cannot be imported: a reason that the caller reports with its place, or an error without a place.
pub(crate) enum Refusal {
    Reason(String),
    /// A reason, and what helps.
    Hinted(String, Hint),
    Error(Error),
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Shortens a word for an error to at most 40 characters.
fn excerpt(word: &str) -> String {
    let is_short = word.chars().nth(40).is_none();
    if is_short { word.to_owned() } else { word.chars().take(37).chain("...".chars()).collect() }
}

/// Returns whether an Arrow type holds words.
pub(crate) fn is_words(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, words) => is_text(words),
        _ => is_text(data_type),
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The words of a column, collected from its batches.
#[derive(Default)]
pub(crate) struct Words {
    indices: HashMap<String, u32>,
    /// Whether new words are refused.
    are_all: bool,
    /// The dictionary of the last batch, and the indices of its words. Batches often share a dictionary.
    last: Option<(ArrayRef, Vec<Option<u32>>)>,
}

impl Words {
    pub(crate) fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns the smallest type that holds all indices.
    pub(crate) fn element_type(&self) -> ElementType {
        match self.len() {
            0..=0x100 => ElementType::U8,
            0x101..=0x1_0000 => ElementType::U16,
            _ => ElementType::U32,
        }
    }

    /// Returns the words in the order of their indices.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn to_categories(&self) -> Result<Categories> {
        let mut words = with_room(self.len())?;
        words.resize(self.len(), "");
        for (word, &index) in &self.indices {
            words[index as usize] = word; // indices are those below the number of words
        }
        Categories::from_labels(words)
    }

    /// Creates the words of categories. New words are refused.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn of(categories: &Categories) -> Result<Self> {
        let mut words = Self::default();
        for word in categories.labels() {
            words.index_of(word).map_err(|refusal| match refusal {
                Refusal::Error(error) => error,
                Refusal::Reason(_) | Refusal::Hinted(..) => Error::out_of_memory(usize::MAX), // never: 2^32 of them
            })?;
        }
        Ok(Self { are_all: true, ..words })
    }

    /// Returns the index of a word. Adds the word if it is new.
    fn index_of(&mut self, word: &str) -> Result<u32, Refusal> {
        if let Some(&index) = self.indices.get(word) {
            return Ok(index);
        }
        if self.are_all {
            let word = excerpt(word);
            return Err(format!("{word:?} is none of the {} words of the column", self.len()).into());
        }
        let index = u32::try_from(self.len()).map_err(|_| "more than 2^32 words".to_owned())?;
        let (mut owned, bytes) = (String::new(), word.len());
        owned.try_reserve_exact(bytes).map_err(|_| Error::out_of_memory(bytes))?;
        owned.push_str(word);
        let bytes = self.len().saturating_mul(size_of::<(String, u32)>());
        self.indices.try_reserve(1).map_err(|_| Error::out_of_memory(bytes))?;
        self.indices.insert(owned, index);
        Ok(index)
    }

    /// Returns the indices of an array of words, and the rows without a word: `nulls`, and nulls of the dictionary.
    pub(crate) fn indices(
        &mut self,
        array: &dyn ArrowArray,
        nulls: Option<NullBuffer>,
    ) -> Result<(AnyArray, Option<NullBuffer>), Refusal> {
        let mut indices = Array::<u32>::zeros(array.len())?;
        let target = indices.mutable_data()?;
        let Some(dictionary) = array.as_any_dictionary_opt() else {
            for_each_word(array, |row, word| {
                if let Some(word) = word.filter(|_| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))) {
                    target[row] = self.index_of(word)?;
                }
                Ok(())
            })?;
            return Ok((indices.into(), nulls));
        };
        self.learn(dictionary.values())?;
        let empty = Vec::new();
        let known = self.last.as_ref().map_or(&empty, |(_, known)| known);
        let keys = values(dictionary.keys()).ok_or_else(|| "its keys are no integers".to_owned())?; // never
        let mut has_nulls = false;
        match_element!(keys.element_type(), K => {
            for (target, key) in target.iter_mut().zip(keys.downcast::<K>().unwrap_or_default()) {
                // The key at a null is arbitrary.
                let index = index_in(*key, known.len()).and_then(|key| known[key]);
                has_nulls |= index.is_none();
                *target = index.unwrap_or(0);
            }
            if !has_nulls {
                return Ok((indices.into(), nulls));
            }
            let keys = keys.downcast::<K>().unwrap_or_default();
            let is_valid = |key: K| index_in(key, known.len()).is_some_and(|key| known[key].is_some());
            let own = valid_where(keys.len(), |row| is_valid(keys[row]))?;
            Ok((indices.into(), NullBuffer::union(nulls.as_ref(), own.as_ref())))
        })
    }

    /// Looks up the words of a dictionary, unless it is the dictionary of the last batch.
    fn learn(&mut self, dictionary: &ArrayRef) -> Result<(), Refusal> {
        if self.last.as_ref().is_some_and(|(last, _)| Arc::ptr_eq(last, dictionary)) {
            return Ok(());
        }
        let mut known = with_room(dictionary.len())?;
        for_each_word(dictionary, |_, word| {
            known.push(word.map(|word| self.index_of(word)).transpose()?);
            Ok(())
        })?;
        self.last = Some((dictionary.clone(), known));
        Ok(())
    }
}

/// Calls `visit` with the position of each word of an array of text, and the word, or `None` for a null.
fn for_each_word(
    array: &dyn ArrowArray,
    mut visit: impl FnMut(usize, Option<&str>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    if let Some(array) = array.as_string_opt::<i32>() {
        array.iter().enumerate().try_for_each(|(row, word)| visit(row, word))
    } else if let Some(array) = array.as_string_opt::<i64>() {
        array.iter().enumerate().try_for_each(|(row, word)| visit(row, word))
    } else if let Some(array) = array.as_string_view_opt() {
        array.iter().enumerate().try_for_each(|(row, word)| visit(row, word))
    } else {
        Ok(())
    }
}

/// Returns a value as an index, if it is an integer below `count`.
fn index_in<T: Element>(value: T, count: usize) -> Option<usize> {
    value.exact().index().filter(|&index| index < count)
}

/// Returns which of `count` rows are valid, or `None` if all are.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub(crate) fn valid_where(count: usize, is_valid: impl Fn(usize) -> bool) -> Result<Option<NullBuffer>> {
    let Some(first) = (0..count).position(|row| !is_valid(row)) else { return Ok(None) };
    let mut bits = with_room(count.div_ceil(8))?;
    bits.resize(first / 8, u8::MAX);
    for start in (first / 8 * 8..count).step_by(8) {
        let rows = start..count.min(start + 8);
        bits.push(rows.fold(0, |byte, row| byte | u8::from(is_valid(row)) << (row - start)));
    }
    Ok(Some(NullBuffer::new(BooleanBuffer::new(Buffer::from(bits), 0, count))))
}

/// Returns the Arrow type of a column of words.
pub(crate) fn words_type(categories: &Categories) -> DataType {
    let text = if is_long(categories) { DataType::LargeUtf8 } else { DataType::Utf8 };
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(text))
}

/// Returns whether the total length of the words exceeds 32 bits.
fn is_long(categories: &Categories) -> bool {
    let bytes = categories.labels().fold(0_usize, |sum, word| sum.saturating_add(word.len()));
    i32::try_from(bytes).is_err()
}

/// Creates an array of the words, whose total length fits an `O`.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
fn text_of<O: OffsetSizeTrait>(categories: &Categories) -> Result<GenericStringArray<O>> {
    let bytes = categories.labels().fold(0_usize, |sum, word| sum.saturating_add(word.len()));
    let mut text = with_room::<u8>(bytes)?;
    let mut offsets = with_room(categories.len().saturating_add(1))?;
    offsets.push(O::usize_as(0));
    for word in categories.labels() {
        text.extend_from_slice(word.as_bytes());
        offsets.push(O::usize_as(text.len()));
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let array = GenericStringArray::try_new(offsets, Buffer::from_vec(text), None);
    array.map_err(failed)
}

/// Creates an Arrow dictionary of the words with the values as keys. Missing values and NaN become null: a missing
/// word.
///
/// # Errors
/// A reason, if a value is not the index of a word; [`ErrorKind::OutOfMemory`].
pub(crate) fn to_words<T: Element>(
    values: &[T],
    validity: Option<&Validity>,
    categories: &Categories,
) -> Result<ArrayRef, Refusal> {
    let count = categories.len().min(i32::MAX as usize); // whatever is more is refused as no index
    let mut keys = with_room(values.len())?;
    let add = |keys: &mut Vec<i32>, rows: Range<usize>| {
        for (row, value) in rows.clone().zip(&values[rows]) {
            match index_in(*value, count) {
                Some(index) => keys.push(index as i32),
                None if value.ne(value) => keys.push(0),
                None => {
                    return Err(Refusal::from(format!("{value} in row {row}, which is no index of {count} words")));
                }
            }
        }
        Ok(())
    };
    match validity {
        None => add(&mut keys, 0..values.len())?,
        Some(validity) => {
            for (rows, _) in validity.runs().filter(|(_, is_present)| *is_present) {
                keys.resize(rows.start, 0);
                add(&mut keys, rows)?;
            }
            keys.resize(values.len(), 0);
        }
    }
    let nulls = NullBuffer::union(validity.map(to_nulls).as_ref(), nulls_of_nans(values)?.as_ref());
    let text: ArrayRef = match is_long(categories) {
        true => Arc::new(text_of::<i64>(categories)?),
        false => Arc::new(text_of::<i32>(categories)?),
    };
    let keys = PrimitiveArray::<Int32Type>::new(keys.into(), nulls);
    let dictionary = DictionaryArray::try_new(keys, text);
    Ok(Arc::new(dictionary.map_err(failed)?))
}
