//! Features of columns that differ: each feature once, and for each column which one it is.
//!
//! Invariants of [`Columns`]: every number in `of_column` is an index into `features`, and `columns` of a feature is how
//! often its index is there, never 0. So there are no more features than columns, and a feature of one column can be
//! replaced in its place.

use super::feature::{Feature, FeatureView};
use super::{DataDictionary, Features};
use crate::base::element::ElementType;
use crate::base::error::{Error, Result};

/// A feature, and how many columns have it.
#[derive(Clone, Debug)]
struct Shared {
    feature: Feature,
    columns: usize,
}

/// Features, one for each column, of which equal ones may be the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    features: Vec<Shared>,
    of_column: Vec<u32>,
}

impl Columns {
    /// `count` columns of which all have one feature, but for the one whose feature will be set.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
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

    /// The feature of a column, which there is.
    pub(super) fn get(&self, column: usize) -> &Feature {
        &self.features[self.of_column[column] as usize].feature
    }

    /// Replaces the feature of a column, which there is.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; nothing has changed then.
    pub(super) fn set(&mut self, column: usize, feature: Feature) -> Result<()> {
        let old = self.of_column[column] as usize;
        if self.features[old].columns == 1 {
            self.features[old].feature = feature;
            return Ok(());
        }
        let index = self.push(feature)?;
        self.features[old].columns -= 1;
        self.of_column[column] = index;
        Ok(())
    }

    /// Copies everything.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn try_clone(&self) -> Result<Self> {
        self.try_map(Feature::try_clone)
    }

    /// Makes the element type of all columns the same.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn with_element_type(&self, element_type: ElementType) -> Result<Self> {
        self.try_map(|feature| Ok(Feature { element_type, ..feature.try_clone()? }))
    }

    pub(super) fn uniform_type(&self) -> Option<ElementType> {
        let first = self.features.first()?.feature.element_type;
        self.are_all(first).then_some(first)
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

    /// Adds a feature that one column has, and returns its index.
    fn push(&mut self, feature: Feature) -> Result<u32> {
        let count = self.features.len();
        let full = Error::OutOfMemory { bytes: count.saturating_mul(size_of::<Shared>()) };
        let index = u32::try_from(count).map_err(|_| full)?;
        reserve_more(&mut self.features)?;
        self.features.push(Shared { feature, columns: 1 });
        Ok(index)
    }
}

/// Puts a dictionary together, column by column.
///
/// A column shares its feature with the one before, if they are equal; and with all others that have neither a name nor a
/// number of categories, if it has none. As long as all are equal, nothing is stored for a column at all.
#[derive(Default)]
struct Collector {
    /// Invariant: `of_column` is empty as long as there is one feature at most.
    columns: Columns,
    count: usize,
    /// The feature of the column before.
    last: u32,
    /// Features that are nothing but an element type and a feature type: at most one for each pair of those.
    plain: Vec<u32>,
    /// How many columns there will be, if that is known.
    expected: usize,
}

impl Collector {
    /// Room for so many columns, which have so many features that no others share.
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

    /// The feature that is to be shared with one more column, if there is one.
    fn find(&self, view: FeatureView<'_>) -> Option<u32> {
        let is = |&index: &u32| self.columns.features[index as usize].feature.view() == view;
        if self.count > 0 && is(&self.last) {
            return Some(self.last);
        }
        if view.is_plain() { self.plain.iter().copied().find(is) } else { None }
    }

    /// Adds a column with a feature that is there.
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

    /// Adds a column with a feature of its own.
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

/// Describes each column by a feature.
///
/// # Errors
/// The first among the features; what `refuse` makes of [`Error::OutOfMemory`].
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

/// Describes each column by a feature whose name lies elsewhere. They are gone over twice: memory is taken when all are known to
/// be good, and no more of it than they need.
///
/// # Errors
/// The first among the features; what `refuse` makes of [`Error::OutOfMemory`].
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

/// Takes exactly as much memory as so many more items need.
fn reserve<T>(items: &mut Vec<T>, count: usize) -> Result<()> {
    let bytes = count.saturating_mul(size_of::<T>());
    items.try_reserve_exact(count).map_err(|_| Error::OutOfMemory { bytes })
}

/// Makes room for one more item, and for some that may follow.
fn reserve_more<T>(items: &mut Vec<T>) -> Result<()> {
    let bytes = items.len().saturating_add(1).saturating_mul(size_of::<T>());
    items.try_reserve(1).map_err(|_| Error::OutOfMemory { bytes })
}
