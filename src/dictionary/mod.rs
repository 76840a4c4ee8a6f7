//! The data dictionary: the meaning of each column of a table.
//!
//! Features are defined in `feature`, the labels of categories in `categories`. `columns` stores features that differ,
//! `names` looks up their names, and `compare` compares two dictionaries. The **table** owns its shape: a dictionary
//! only describes it, and a table rejects a dictionary that does not match. Semantics: DAAL `DataDictionary`; a uniform
//! dictionary is DAAL's "features equal".

mod categories;
mod columns;
mod compare;
mod feature;
mod names;
mod time_unit;

pub use categories::Categories;
pub(crate) use categories::{CategoriesView, EncodedLabels};
pub(crate) use columns::{collect_columns, from_views};
pub(crate) use feature::FeatureView;
pub use feature::{Feature, FeatureType, PmmlType};
pub use time_unit::TimeUnit;

use std::alloc::{Layout, handle_alloc_error};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use self::columns::Columns;
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::near::near;
use crate::base::text::excerpt;

/// Describes the columns of a table with one [`Feature`] each.
///
/// A dictionary in which all features are equal is *uniform*: it stores one feature and a count, so a million equal
/// columns cost no more than one. Otherwise each column costs 4 bytes, and each stored feature 56 bytes plus its name
/// and labels. Equal features of neighboring columns are stored once, and so are equal features with neither a name nor
/// categories. Changing one feature of a uniform dictionary does not change the others (in DAAL it changes all of
/// them). Cloning shares the features: O(1).
///
/// # Examples
/// ```
/// use numeric_table::{DataDictionary, ElementType, Feature, FeatureType};
/// let mut dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 1_000_000);
/// assert!(dictionary.is_uniform());
/// dictionary.set_feature(2, Feature::new(ElementType::F32).named("species").categorical(3))?;
/// assert_eq!(dictionary.index_of("species"), Some(2));
/// assert_eq!(dictionary.feature(3)?.feature_type, FeatureType::Continuous);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DataDictionary {
    features: Features,
}

#[derive(Clone, Debug)]
enum Features {
    /// One feature shared by all columns.
    Equal(Arc<Feature>, usize),
    /// Features that differ.
    Each(Arc<Columns>),
}

impl DataDictionary {
    /// Creates a dictionary of `count` columns that share one feature. O(1) in memory.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// assert_eq!(DataDictionary::uniform(Feature::new(ElementType::U8), 64).len(), 64);
    /// ```
    pub fn uniform(feature: Feature, count: usize) -> Self {
        Self { features: Features::Equal(Arc::new(feature), count) }
    }

    /// Creates a dictionary from one feature per column. The dictionary is uniform if all features are equal. Aborts if
    /// there is not enough memory, as `Vec` does.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let names = ["length", "width"];
    /// let features = names.map(|name| Feature::new(ElementType::F64).named(name));
    /// assert_eq!(DataDictionary::from_features(features).index_of("width"), Some(1));
    /// ```
    pub fn from_features(features: impl IntoIterator<Item = Feature>) -> Self {
        let features = features.into_iter().map(Ok::<_, Infallible>);
        let Ok(dictionary) = collect_columns(features, |_| handle_alloc_error(Layout::new::<Feature>()));
        dictionary
    }

    /// Returns the number of features, which is the number of columns that the dictionary describes.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::DataDictionary;
    /// assert_eq!(DataDictionary::from_features([]).len(), 0);
    /// ```
    pub fn len(&self) -> usize {
        match &self.features {
            Features::Equal(_, count) => *count,
            Features::Each(columns) => columns.len(),
        }
    }

    /// Returns whether the dictionary is empty.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::DataDictionary;
    /// assert!(DataDictionary::from_features([]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether one feature is stored for all columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// assert!(DataDictionary::uniform(Feature::new(ElementType::F32), 3).is_uniform());
    /// ```
    pub fn is_uniform(&self) -> bool {
        matches!(self.features, Features::Equal(..))
    }

    /// Returns the feature of a column. O(1).
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let dictionary = DataDictionary::uniform(Feature::new(ElementType::I8), 2);
    /// assert_eq!(dictionary.feature(1)?.element_type, ElementType::I8);
    /// assert!(dictionary.feature(2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn feature(&self, column: usize) -> Result<&Feature> {
        let column_count = self.len();
        if column < column_count {
            Ok(self.at(column))
        } else {
            Err(Error::new(ErrorKind::ColumnOutOfRange { column, column_count }))
        }
    }

    /// Returns an iterator over the features, one per column.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let dictionary = DataDictionary::uniform(Feature::new(ElementType::I8).named("pixel"), 2);
    /// assert!(dictionary.iter().all(|feature| feature.name.as_deref() == Some("pixel")));
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Feature> {
        (0..self.len()).map(|column| self.at(column))
    }

    /// Returns the first column with the given name. O(1) in a uniform dictionary. Otherwise O(columns) for a single
    /// lookup and O(1) each for many: repeated lookups build an index of about 40 bytes per column.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let dictionary = DataDictionary::from_features([Feature::new(ElementType::F32).named("width")]);
    /// assert_eq!((dictionary.index_of("width"), dictionary.index_of("height")), (Some(0), None));
    /// ```
    pub fn index_of(&self, name: &str) -> Option<usize> {
        match &self.features {
            Features::Equal(feature, count) => (*count > 0 && feature.name.as_deref() == Some(name)).then_some(0),
            Features::Each(columns) => columns.index_of(name),
        }
    }

    /// Like [`index_of`](Self::index_of), but returns an error that lists similar names.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let dictionary = DataDictionary::from_features([Feature::new(ElementType::F32).named("width")]);
    /// assert_eq!(dictionary.try_index_of("width")?, 0);
    /// let error = dictionary.try_index_of("widht").unwrap_err();
    /// assert_eq!(error.to_string(), r#"no column has the name "widht"; similar names: "width""#);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn try_index_of(&self, name: &str) -> Result<usize> {
        self.index_of(name).ok_or_else(|| {
            let names = self.listed().filter_map(|feature| feature.name.as_deref());
            Error::new(ErrorKind::UnknownName {
                what: "column",
                name: excerpt(name.as_bytes()),
                near: near(name, names),
            })
        })
    }

    /// Returns the names of the columns, in order; `None` for an unnamed column.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let feature = Feature::new(ElementType::F32);
    /// let dictionary = DataDictionary::from_features([feature.clone().named("width"), feature]);
    /// assert!(dictionary.names().eq([Some("width"), None]));
    /// ```
    pub fn names(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.iter().map(|feature| feature.name.as_deref())
    }

    /// Returns the same columns with new names, one per column.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the numbers of names and columns differ.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 2);
    /// assert!(dictionary.with_names(["x", "y"])?.names().eq([Some("x"), Some("y")]));
    /// assert!(dictionary.with_names(["x"]).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn with_names<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> Result<Self> {
        let (mut names, mut found) = (names.into_iter(), 0);
        let features = self.iter().zip(names.by_ref()).map(|(feature, name)| {
            found += 1;
            feature.clone().named(name)
        });
        let named = features.collect::<Self>();
        let found = found + usize::from(names.next().is_some()); // there may be no end of them
        match named.len() == self.len() && found == self.len() {
            true => Ok(named),
            false => Err(Error::new(ErrorKind::LengthMismatch { expected: self.len(), actual: found })),
        }
    }

    /// Replaces the feature of one column without changing the others. Amortized O(1); O(columns) the first time and
    /// when a clone shares the features.
    ///
    /// Source: DAAL `setFeature`, which changes all columns if "features equal" is set.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`]; [`ErrorKind::OutOfMemory`] if the features cannot be stored per column.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let mut dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 3);
    /// dictionary.set_feature(1, Feature::new(ElementType::F32).named("width"))?;
    /// assert_eq!(dictionary.feature(0)?.name, None);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn set_feature(&mut self, column: usize, feature: Feature) -> Result<()> {
        let old = self.feature(column)?;
        if *old == feature {
            return Ok(());
        }
        let mut changed = match &mut self.features {
            Features::Equal(_, 1) => {
                *self = Self::uniform(feature, 1);
                return Ok(());
            }
            Features::Equal(equal, count) => Columns::equal(equal, *count)?,
            Features::Each(columns) => match Arc::get_mut(columns) {
                Some(columns) => return columns.set(column, feature),
                None => columns.try_clone()?,
            },
        };
        changed.set(column, feature)?;
        self.features = Features::Each(Arc::new(changed));
        Ok(())
    }

    /// Returns a dictionary of the same columns with another element type and otherwise equal features, but without
    /// missing values. Conversions of tables use it.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 3).with_element_type(ElementType::F64)?;
    /// assert_eq!(dictionary.feature(0)?.element_type, ElementType::F64);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn with_element_type(&self, element_type: ElementType) -> Result<Self> {
        let features = match &self.features {
            Features::Equal(feature, _) if feature.element_type == element_type && !feature.nullable => {
                return Ok(self.clone());
            }
            Features::Each(columns) if columns.are_all(element_type) && !columns.has_nullable() => {
                return Ok(self.clone());
            }
            Features::Equal(feature, count) => {
                Features::Equal(Arc::new(Feature { element_type, nullable: false, ..feature.try_clone()? }), *count)
            }
            Features::Each(columns) => Features::Each(Arc::new(columns.with_element_type(element_type)?)),
        };
        Ok(Self { features })
    }

    /// Returns the element type of all columns, if it is the same for all. O(distinct features).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let (float, count) = (Feature::new(ElementType::F64), Feature::new(ElementType::U32));
    /// assert_eq!(DataDictionary::uniform(float.clone(), 3).uniform_type(), Some(ElementType::F64));
    /// assert_eq!(DataDictionary::from_features([float, count]).uniform_type(), None);
    /// ```
    pub fn uniform_type(&self) -> Option<ElementType> {
        match &self.features {
            Features::Equal(feature, _) => Some(feature.element_type),
            Features::Each(columns) => columns.uniform_type(),
        }
    }

    /// Returns whether values of any column may be missing. O(distinct features).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let features = [Feature::new(ElementType::F64), Feature::new(ElementType::I64).nullable()];
    /// assert!(DataDictionary::from_features(features).has_nullable());
    /// ```
    pub fn has_nullable(&self) -> bool {
        match &self.features {
            Features::Equal(feature, columns) => feature.nullable && *columns > 0,
            Features::Each(columns) => columns.has_nullable(),
        }
    }

    /// Returns the columns whose values may be missing, in ascending order.
    pub(crate) fn nullable_columns(&self) -> impl Iterator<Item = usize> {
        let count = if self.has_nullable() { self.len() } else { 0 };
        (0..count).filter(|&column| self.is_nullable(column))
    }

    /// Returns the same dictionary without nullable columns. Shares the features if there are none, and keeps features
    /// that columns share.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn without_nullable(&self) -> Result<Self> {
        if !self.has_nullable() {
            return Ok(self.clone());
        }
        let features = match &self.features {
            Features::Equal(feature, count) => {
                Features::Equal(Arc::new(Feature { nullable: false, ..feature.try_clone()? }), *count)
            }
            Features::Each(columns) => Features::Each(Arc::new(columns.without_nullable()?)),
        };
        Ok(Self { features })
    }

    /// Returns whether values of a column may be missing; `false` for a column that does not exist.
    pub(crate) fn is_nullable(&self, column: usize) -> bool {
        self.feature(column).is_ok_and(|feature| feature.nullable)
    }

    /// Declares whether values of a column may be missing.
    ///
    /// # Errors
    /// Those of [`set_feature`](Self::set_feature).
    pub(crate) fn set_nullable(&mut self, column: usize, nullable: bool) -> Result<()> {
        let feature = self.feature(column)?;
        if feature.nullable == nullable {
            return Ok(());
        }
        let feature = Feature { nullable, ..feature.try_clone()? };
        self.set_feature(column, feature)
    }

    /// Declares that values of a column may be missing where they may be in another dictionary of as many columns.
    ///
    /// # Errors
    /// Those of [`set_feature`](Self::set_feature). Nothing is changed.
    pub(crate) fn add_nullable(&mut self, other: &Self) -> Result<()> {
        if !other.has_nullable() {
            return Ok(());
        }
        let mut new = self.clone();
        let mut nullable = other.nullable_columns().take_while(|&column| column < self.len());
        nullable.try_for_each(|column| new.set_nullable(column, true))?;
        *self = new;
        Ok(())
    }

    /// Returns the common element type of all columns.
    ///
    /// # Errors
    /// [`ErrorKind::MixedElementTypes`] if the types differ.
    pub(crate) fn one_type(&self) -> Result<ElementType> {
        if let Some(element) = self.uniform_type() {
            return Ok(element);
        }
        if self.is_empty() {
            return Ok(ElementType::F32); // no column has another
        }
        let first = self.feature(0)?.element_type;
        let mut types = self.iter().map(|feature| feature.element_type).enumerate();
        let (column, found) = types.find(|&(_, found)| found != first).unwrap_or((0, first));
        Err(Error::new(ErrorKind::MixedElementTypes { column, expected: first, actual: found }))
    }

    /// Appends the features of another dictionary. O(added columns) if this dictionary is not shared, O(1) if all
    /// features are equal.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]. Nothing is changed.
    pub(crate) fn append(&mut self, other: &Self) -> Result<()> {
        if other.is_empty() {
            return Ok(());
        }
        if self.is_empty() {
            *self = other.clone();
            return Ok(());
        }
        let mut new = match &mut self.features {
            Features::Equal(mine, count) => {
                if let Features::Equal(theirs, others) = &other.features
                    && mine == theirs
                {
                    *count = count.checked_add(*others).ok_or(Error::out_of_memory(usize::MAX))?;
                    return Ok(());
                }
                Columns::equal(mine, *count)?
            }
            Features::Each(columns) => match Arc::get_mut(columns) {
                Some(columns) => return columns.append(other),
                None => columns.try_clone()?,
            },
        };
        new.append(other)?;
        self.features = Features::Each(Arc::new(new));
        Ok(())
    }

    /// Returns the features of consecutive columns. Shares the features if all columns are selected: O(1). Otherwise
    /// O(columns returned).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`], [`ErrorKind::OutOfMemory`].
    pub(crate) fn part(&self, columns: Range<usize>) -> Result<Self> {
        if columns == (0..self.len()) {
            return Ok(self.clone());
        }
        if columns.start > columns.end || columns.end > self.len() {
            return Err(Error::new(ErrorKind::OutOfRange { what: "columns", range: columns, count: self.len() }));
        }
        match &self.features {
            Features::Equal(feature, _) if !columns.is_empty() => {
                Ok(Self { features: Features::Equal(Arc::clone(feature), columns.len()) })
            }
            _ => from_views(columns.map(|column| Ok(self.at(column).view())), |error| error),
        }
    }

    /// Renames a column. Amortized O(1); O(columns) the first time and when a clone shares the features.
    ///
    /// # Errors
    /// Those of [`set_feature`](Self::set_feature).
    pub(crate) fn rename(&mut self, column: usize, name: String) -> Result<()> {
        let feature = self.feature(column)?.clone().named(name);
        self.set_feature(column, feature)
    }

    /// Checks that the dictionary describes the given number of columns. `element` returns the table's element type if
    /// it has only one, and is called only if the numbers differ, so the check is O(1).
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`].
    pub(crate) fn check_count(&self, columns: usize, element: impl FnOnce() -> Option<ElementType>) -> Result<()> {
        if self.len() == columns {
            return Ok(());
        }
        let element = element().unwrap_or(ElementType::F32);
        Err(Error::new(ErrorKind::DictionaryMismatch { features: self.len(), columns, element, actual: None }))
    }

    /// Returns the features as files list them: one if the dictionary is uniform, even without columns, otherwise one
    /// per column.
    pub(crate) fn listed(&self) -> impl ExactSizeIterator<Item = &Feature> + Clone {
        let count = if self.is_uniform() { 1 } else { self.len() };
        (0..count).map(|column| self.at(column))
    }

    /// Returns whether any feature has labels.
    pub(crate) fn has_labels(&self) -> bool {
        self.listed().any(|feature| feature.categories.as_ref().is_some_and(Categories::has_labels))
    }

    /// Returns the feature of a column, which must exist.
    fn at(&self, column: usize) -> &Feature {
        match &self.features {
            Features::Equal(feature, _) => feature,
            Features::Each(columns) => columns.get(column),
        }
    }

    /// Checks that the dictionary describes `columns` columns of one element type, as a homogeneous table requires. A
    /// dictionary with features of different types never passes. Kinds of tables with such columns compare them one by
    /// one.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`] with the first feature of a different element type, if there is one.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{DataDictionary, ElementType, Feature};
    /// let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 3);
    /// assert!(dictionary.check(3, ElementType::F32).is_ok());
    /// assert!(dictionary.check(4, ElementType::F32).is_err() && dictionary.check(3, ElementType::F64).is_err());
    /// ```
    pub fn check(&self, columns: usize, element: ElementType) -> Result<()> {
        let types = self.listed().take(self.len()).map(|feature| feature.element_type);
        let found = types.enumerate().find(|&(_, found)| found != element);
        if self.len() != columns || found.is_some() {
            return Err(Error::new(ErrorKind::DictionaryMismatch {
                features: self.len(),
                columns,
                element,
                actual: found,
            }));
        }
        Ok(())
    }
}

impl<'a> IntoIterator for &'a DataDictionary {
    type Item = &'a Feature;
    type IntoIter = Box<dyn ExactSizeIterator<Item = &'a Feature> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl FromIterator<Feature> for DataDictionary {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        Self::from_features(features)
    }
}
