//! Tables end to end, without a copy. Categorical columns must have the same labels, or are recoded so that they do.
//!
//! Tables side by side are in `beside`; both are shown by the types in `merged`.

use std::collections::HashMap;

use super::beside::{NewColumn, with_columns_replaced};
use super::borrow::by_ref;
use super::merged::RowMergedNumericTable;
use super::tiling::copy_of;
use super::{NumericTable, Region, missing};
use crate::array::{AnyArray, Array, Validity};
use crate::base::element::{Element, ElementType, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::number::Exact;
use crate::base::trace::{self, CopyKind};
use crate::convert::{ConversionPolicy, cast};
use crate::dictionary::{Categories, Feature};

/// Stacks tables end to end.
pub(super) fn vstack<'s>(
    table: &'s (dyn NumericTable + 's),
    others: &[&'s (dyn NumericTable + 's)],
) -> Result<RowMergedNumericTable<'s>> {
    RowMergedNumericTable::new(std::iter::once(by_ref(table)).chain(others.iter().copied().map(by_ref)))
}

/// Stacks tables end to end, with one list of labels for each categorical column.
pub(super) fn vstack_unified<'s>(
    first: &'s (dyn NumericTable + 's),
    others: &[&'s (dyn NumericTable + 's)],
) -> Result<RowMergedNumericTable<'s>> {
    let tables: Vec<_> = std::iter::once(first).chain(others.iter().copied()).collect();
    let expected = first.shape().columns;
    for (table, found) in tables.iter().map(|table| table.dictionary().len()).enumerate() {
        if found != expected {
            return Err(Error::unequal_columns(table, expected, found));
        }
    }
    let mut replaced = tables.iter().map(|_| Vec::new()).collect::<Vec<_>>();
    let are_one = tables.iter().all(|table| table.dictionary() == first.dictionary());
    if !are_one && tables.iter().any(|table| table.dictionary().has_labels()) {
        for column in 0..expected {
            let features = tables.iter().map(|table| table.dictionary().feature(column));
            let Some(union) = Union::of(column, &features.collect::<Result<Vec<_>>>()?)? else { continue };
            let mut first_row = 0;
            for (index, (table, replaced)) in tables.iter().zip(&mut replaced).enumerate() {
                let new = union.recoded(*table, index).map_err(|error| error.moved(first_row, 0))?;
                replaced.push((column, new));
                first_row += table.shape().rows;
            }
        }
    }
    let members = tables.into_iter().zip(replaced).map(|(table, columns)| with_columns_replaced(table, columns));
    RowMergedNumericTable::new(members.collect::<Result<Vec<_>>>()?)
}

/// The combined categories of a column of all tables.
struct Union {
    column: usize,
    /// The column of the result, with the labels of all tables.
    feature: Feature,
    /// For each table and each of its categories, the index in the result.
    indices: Vec<Vec<usize>>,
}

impl Union {
    /// Collects the labels of a column of all tables. Returns `None` if nothing needs recoding.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`] if one table has no labels, and others have different ones;
    /// [`ErrorKind::OutOfMemory`].
    fn of(column: usize, features: &[&Feature]) -> Result<Option<Self>> {
        let words = |feature: &Feature| feature.categories.clone().filter(Categories::has_labels);
        let known = features.iter().map(|feature| words(feature)).collect::<Vec<_>>();
        let Some(some) = known.iter().flatten().next() else { return Ok(None) };
        let is_one_type = features.iter().all(|feature| feature.element_type == features[0].element_type);
        let is_one_list = known[0].is_some() && known.iter().flatten().all(|words| words == some);
        if is_one_type && is_one_list {
            return Ok(None);
        }
        if let Some(table) = known.iter().position(Option::is_none) {
            return Err(Error::unequal_categories(table, column));
        }
        let (mut of_word, mut all, mut indices) = (HashMap::<&str, usize>::new(), Vec::new(), Vec::new());
        for words in known.iter().flatten() {
            let index = |word| {
                *of_word.entry(word).or_insert_with(|| {
                    all.push(word);
                    all.len() - 1
                })
            };
            indices.push(words.labels().map(index).collect());
        }
        let element_type = type_for(features, all.len());
        let categories = Some(Categories::from_labels(all)?);
        let nullable = features.iter().any(|feature| feature.nullable);
        let feature = Feature { element_type, categories, nullable, ..features[0].clone() };
        Ok(Some(Self { column, feature, indices }))
    }

    /// Copies the column of a table, with the indices of the result. A missing category stays missing.
    fn recoded(&self, table: &(dyn NumericTable + '_), index: usize) -> Result<NewColumn> {
        let (rows, column) = (table.shape().rows, self.column);
        let region = Region { rows: 0..rows, columns: column..column + 1 };
        // All indices are below 2^53, so they are exact, and a value that is not an integer stays distinct from them.
        let values = copy_of(table, &region, ElementType::F64, ConversionPolicy::Saturate)?;
        let values = values.as_slice().as_slice::<f64>();
        let validity = missing::validity_of(table, column)?;
        let array = match_element!(self.feature.element_type, T => {
            let recoded = recode::<T>(values, validity.as_ref(), &self.indices[index]);
            let array = recoded.map_err(|error| error.moved(0, column))?;
            trace::record(CopyKind::Converted, array.size_in_bytes());
            AnyArray::new(array)
        });
        Ok(NewColumn { feature: self.feature.clone(), array, validity })
    }
}

fn recode<T: Element>(values: &[f64], validity: Option<&Validity>, indices: &[usize]) -> Result<Array<T>> {
    let mut array = Array::<T>::zeros(values.len())?;
    if array.is_empty() {
        return Ok(array);
    }
    let is_missing = |row| validity.is_some_and(|validity| validity.is_missing(row) == Some(true));
    for (row, (target, &value)) in array.mutable_data()?.iter_mut().zip(values).enumerate() {
        *target = match Exact::Float(value).index().and_then(|index| indices.get(index)) {
            Some(&new) => cast::<f64, T>(new as f64),
            None if value.is_nan() && is_missing(row) => continue,
            None if value.is_nan() && T::TYPE.is_float() => cast::<f64, T>(value),
            None => return Err(Error::not_a_category(row, 0, value, indices.len())),
        };
    }
    Ok(array)
}

/// Returns the type of a column with the given number of categories: its type in all tables, if that holds all indices.
fn type_for(features: &[&Feature], categories: usize) -> ElementType {
    let last = categories.saturating_sub(1) as f64;
    // Floats whose spacing is two or more cannot hold two consecutive integers.
    let holds = |element: ElementType| {
        match_element!(element, T => {
            [last, last - 1.0].iter().all(|&index| index < 0.0 || cast::<T, f64>(cast::<f64, T>(index)) == index)
        })
    };
    let first = features[0].element_type;
    if features.iter().all(|feature| feature.element_type == first) && holds(first) {
        return first;
    }
    let is_float = features.iter().any(|feature| feature.element_type.is_float());
    let candidates: &[ElementType] = match is_float {
        true => &[ElementType::F32, ElementType::F64],
        false => &[ElementType::U8, ElementType::U16, ElementType::U32],
    };
    candidates.iter().copied().find(|&element| holds(element)).unwrap_or(match is_float {
        true => ElementType::F64,
        false => ElementType::U64,
    })
}
