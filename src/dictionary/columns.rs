//! Storage for dictionaries whose features differ: each distinct feature once, and an index per column.
//!
//! Invariants of [`Columns`]: every number in `of_column` is an index into `features`, and `columns` of a feature is
//! the number of its indices there, never 0. So there are at most as many features as columns, and a feature of a
//! single column can be replaced in place.

use super::feature::{Feature, FeatureView};
use super::names::NameIndex;
use super::{DataDictionary, Features};
use crate::base::element::ElementType;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// A feature, and the number of columns that have it.
#[derive(Clone, Debug)]
struct Shared {
    feature: Feature,
    columns: usize,
}

/// Features, one per column. Equal ones may be stored once.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    features: Vec<Shared>,
    of_column: Vec<u32>,
    names: NameIndex,
}

impl Columns {
    /// Creates `count` columns that share one feature, with room for one more feature, which the caller then sets.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn equal(feature: &Feature, count: usize) -> Result<Self> {
        let mut new = Self::default();
        reserve(&mut new.of_column, count)?;
        reserve(&mut new.features, 2)?;
        new.features.push(Shared { feature: feature.try_clone()?, columns: count });
        new.of_column.resize(count, 0);
        Ok(new)
    }

    pub(super) fn len(&self) -> usize {
        self.of_column.len()
    }

    /// Returns the feature of a column, which must exist.
    pub(super) fn get(&self, column: usize) -> &Feature {
        &self.features[self.of_column[column] as usize].feature
    }

    /// Returns the first column with the given name.
    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        self.names.find(name, self.len(), |column| self.get(column).name.as_deref())
    }

    /// Replaces the feature of a column, which must exist. Amortized O(1).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]. Nothing is changed.
    pub(super) fn set(&mut self, column: usize, feature: Feature) -> Result<()> {
        let old = self.of_column[column] as usize;
        let (old_name, new_name) = (self.features[old].feature.name.as_deref(), feature.name.as_deref());
        if self.features[old].columns == 1 {
            self.names.rename(column, old_name, new_name);
            self.features[old].feature = feature;
            return Ok(());
        }
        let index = self.push(feature)?;
        let name_of = |index: usize| self.features[index].feature.name.as_deref();
        self.names.rename(column, name_of(old), name_of(index as usize));
        self.features[old].columns -= 1;
        self.of_column[column] = index;
        Ok(())
    }

    /// Copies all columns and features.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn try_clone(&self) -> Result<Self> {
        self.try_map(Feature::try_clone)
    }

    /// Returns the same columns with a single element type.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn with_element_type(&self, element_type: ElementType) -> Result<Self> {
        self.try_map(|feature| Ok(Feature { element_type, nullable: false, ..feature.try_clone()? }))
    }

    pub(super) fn uniform_type(&self) -> Option<ElementType> {
        let first = self.features.first()?.feature.element_type;
        self.are_all(first).then_some(first)
    }

    /// Returns the same columns, none of them nullable.
    pub(super) fn without_nullable(&self) -> Result<Self> {
        self.try_map(|feature| Ok(Feature { nullable: false, ..feature.try_clone()? }))
    }

    /// Returns whether values of any column may be missing. O(distinct features).
    pub(super) fn has_nullable(&self) -> bool {
        self.features.iter().any(|shared| shared.feature.nullable)
    }

    pub(super) fn are_all(&self, element_type: ElementType) -> bool {
        self.features.iter().all(|shared| shared.feature.element_type == element_type)
    }

    fn try_map(&self, change: impl Fn(&Feature) -> Result<Feature>) -> Result<Self> {
        let mut new = Self::default();
        reserve(&mut new.of_column, self.of_column.len())?;
        reserve(&mut new.features, self.features.len())?;
        new.of_column.extend_from_slice(&self.of_column);
        for &Shared { ref feature, columns } in &self.features {
            new.features.push(Shared { feature: change(feature)?, columns });
        }
        Ok(new)
    }

    /// Adds a feature for one column and returns its index.
    fn push(&mut self, feature: Feature) -> Result<u32> {
        let count = self.features.len();
        let full = Error::out_of_memory(count.saturating_mul(size_of::<Shared>()));
        let index = u32::try_from(count).map_err(|_| full)?;
        reserve_more(&mut self.features)?;
        self.features.push(Shared { feature, columns: 1 });
        Ok(index)
    }
}

impl Columns {
    /// Appends the features of another dictionary. On an error nothing is changed.
    pub(super) fn append(&mut self, other: &DataDictionary) -> Result<()> {
        let before = (self.features.len(), self.of_column.len());
        let result = self.try_append(other);
        if result.is_err() {
            self.features.truncate(before.0);
            self.of_column.truncate(before.1);
        } else if self.names.is_known() {
            for (column, &index) in self.of_column.iter().enumerate().skip(before.1) {
                self.names.add(column, self.features[index as usize].feature.name.as_deref());
            }
        }
        result
    }

    fn try_append(&mut self, other: &DataDictionary) -> Result<()> {
        let bytes = other.len().saturating_mul(size_of::<u32>());
        self.of_column.try_reserve(other.len()).map_err(|_| Error::out_of_memory(bytes))?;
        match &other.features {
            Features::Equal(feature, count) => {
                let last = self.of_column.last().copied();
                let index = match last.filter(|&last| self.features[last as usize].feature == **feature) {
                    Some(last) => last,
                    None => self.push_for(feature.try_clone()?, 0)?,
                };
                self.features[index as usize].columns += count;
                self.of_column.resize(self.of_column.len() + count, index);
            }
            Features::Each(columns) => {
                let before = self.features.len();
                for &Shared { ref feature, columns } in &columns.features {
                    self.push_for(feature.try_clone()?, columns)?;
                }
                // `push_for` has checked that all indices fit into 32 bits.
                self.of_column.extend(columns.of_column.iter().map(|index| before as u32 + index));
            }
        }
        Ok(())
    }

    /// Stores a feature for `columns` columns and returns its index.
    fn push_for(&mut self, feature: Feature, columns: usize) -> Result<u32> {
        let index = self.push(feature)?;
        self.features[index as usize].columns = columns;
        Ok(index)
    }
}

/// Builds a dictionary column by column.
///
/// A column shares its feature with the previous column if they are equal. All columns with the same feature share it
/// if it has neither a name nor a number of categories. While all features are equal, nothing is stored per column.
#[derive(Default)]
struct Collector {
    /// Invariant: `of_column` is empty while there is at most one feature.
    columns: Columns,
    count: usize,
    /// The feature of the previous column.
    last: u32,
    /// Features with only an element type and a feature type: at most one for each pair of them.
    plain: Vec<u32>,
    /// The expected number of columns, if it is known.
    expected: usize,
}

impl Collector {
    /// Reserves room for `columns` columns with `features` distinct features.
    fn with_room(columns: usize, features: usize) -> Result<Self> {
        let mut new = Self { expected: columns, ..Self::default() };
        reserve(&mut new.columns.features, features)?;
        Ok(new)
    }

    fn push(&mut self, feature: Feature) -> Result<()> {
        match self.find(feature.view()) {
            Some(index) => self.repeat(index),
            None => self.add(feature),
        }
    }

    fn push_view(&mut self, view: FeatureView<'_>) -> Result<()> {
        match self.find(view) {
            Some(index) => self.repeat(index),
            None => self.add(view.to_feature()?),
        }
    }

    /// Returns the index of a stored feature that the next column can share, if there is one.
    fn find(&self, view: FeatureView<'_>) -> Option<u32> {
        let is = |&index: &u32| self.columns.features[index as usize].feature.view() == view;
        if self.count > 0 && is(&self.last) {
            return Some(self.last);
        }
        if view.is_plain() { self.plain.iter().copied().find(is) } else { None }
    }

    /// Adds a column with a stored feature.
    fn repeat(&mut self, index: u32) -> Result<()> {
        if self.columns.features.len() > 1 {
            reserve_more(&mut self.columns.of_column)?;
            self.columns.of_column.push(index);
        }
        self.columns.features[index as usize].columns += 1;
        self.last = index;
        self.count += 1;
        Ok(())
    }

    /// Adds a column with a new feature.
    fn add(&mut self, feature: Feature) -> Result<()> {
        let is_plain = feature.view().is_plain();
        if self.columns.features.len() == 1 {
            reserve(&mut self.columns.of_column, self.expected.max(self.count + 1))?;
            self.columns.of_column.resize(self.count, 0);
        }
        let index = self.columns.push(feature)?;
        if is_plain {
            reserve_more(&mut self.plain)?;
            self.plain.push(index);
        }
        if index > 0 {
            reserve_more(&mut self.columns.of_column)?;
            self.columns.of_column.push(index);
        }
        self.last = index;
        self.count += 1;
        Ok(())
    }

    fn finish(mut self) -> DataDictionary {
        match self.columns.features.pop() {
            Some(Shared { feature, .. }) if self.columns.features.is_empty() => {
                DataDictionary::uniform(feature, self.count)
            }
            last => {
                self.columns.features.extend(last);
                DataDictionary { features: Features::Each(self.columns.into()) }
            }
        }
    }
}

/// Creates a dictionary from one feature per column.
///
/// # Errors
/// The first error of the features; [`ErrorKind::OutOfMemory`], passed through `refuse`.
pub(crate) fn collect_columns<E>(
    features: impl Iterator<Item = Result<Feature, E>>,
    refuse: impl Fn(Error) -> E,
) -> Result<DataDictionary, E> {
    let mut collector = Collector::default();
    for feature in features {
        collector.push(feature?).map_err(&refuse)?;
    }
    Ok(collector.finish())
}

/// Creates a dictionary from one borrowed feature per column. Iterates over the features twice: once to validate them,
/// and once more after allocating exactly the memory that they need.
///
/// # Errors
/// The first error of the features; [`ErrorKind::OutOfMemory`], passed through `refuse`.
pub(crate) fn from_views<'a, E>(
    views: impl Iterator<Item = Result<FeatureView<'a>, E>> + Clone,
    refuse: impl Fn(Error) -> E,
) -> Result<DataDictionary, E> {
    let (mut columns, mut own, mut plain, mut last) = (0, 0, 0, None);
    for view in views.clone() {
        let view = view?;
        columns += 1;
        if last.replace(view) != Some(view) {
            *if view.is_plain() { &mut plain } else { &mut own } += 1;
        }
    }
    let kinds = ElementType::ALL.len() * 3;
    let mut collector = Collector::with_room(columns, own + plain.min(kinds)).map_err(&refuse)?;
    for view in views {
        collector.push_view(view?).map_err(&refuse)?;
    }
    Ok(collector.finish())
}

/// Reserves exactly the memory that `count` more items need.
fn reserve<T>(items: &mut Vec<T>, count: usize) -> Result<()> {
    let bytes = count.saturating_mul(size_of::<T>());
    items.try_reserve_exact(count).map_err(|_| Error::out_of_memory(bytes))
}

/// Reserves room for one more item and some that may follow.
fn reserve_more<T>(items: &mut Vec<T>) -> Result<()> {
    let bytes = items.len().saturating_add(1).saturating_mul(size_of::<T>());
    items.try_reserve(1).map_err(|_| Error::out_of_memory(bytes))
}
