//! Descriptions of single columns.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::categories::{Categories, CategoriesView};
use super::time_unit::TimeUnit;
use crate::base::element::ElementType;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};

/// Describes one column: its name, how its values are stored, and what kind of quantity they are.
///
/// Source: DAAL `NumericTableFeature`.
///
/// # Examples
/// ```
/// use numeric_table::{ElementType, Feature, FeatureType, dictionary::PmmlType};
/// let species = Feature::new(ElementType::F32).named("species").categorical(3);
/// assert_eq!(species.feature_type, FeatureType::Categorical);
/// assert_eq!((species.pmml_type(), species.type_size()), (PmmlType::Float, 4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Feature {
    /// The column's name, if it has one.
    pub name: Option<String>,
    /// The element type of the values.
    pub element_type: ElementType,
    /// What kind of quantity the values are.
    pub feature_type: FeatureType,
    /// The categories, if the values are indices of them.
    pub categories: Option<Categories>,
    /// Whether values of the column may be missing. Only columns with an array of their own can have missing values.
    pub nullable: bool,
}

impl Feature {
    /// Creates a continuous feature without a name.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Feature, FeatureType};
    /// let feature = Feature::new(ElementType::F64);
    /// assert_eq!((feature.name, feature.feature_type), (None, FeatureType::Continuous));
    /// ```
    pub const fn new(element_type: ElementType) -> Self {
        Self { name: None, element_type, feature_type: FeatureType::Continuous, categories: None, nullable: false }
    }

    /// Copies the feature and its name, and shares its labels. Fails if there is not enough memory.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        self.view().to_feature()
    }

    pub(crate) fn view(&self) -> FeatureView<'_> {
        let &Self { ref name, element_type, feature_type, ref categories, nullable } = self;
        let categories = categories.as_ref().map(Categories::view);
        FeatureView { name: name.as_deref(), element_type, feature_type, categories, nullable }
    }

    /// Returns the feature with the given name.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Feature};
    /// assert_eq!(Feature::new(ElementType::F64).named("width").name.as_deref(), Some("width"));
    /// ```
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns the feature as a categorical one, whose values are indices of categories. The categories are given as
    /// labels or as a number.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Error, Feature, dictionary::Categories};
    /// assert_eq!(Feature::new(ElementType::U8).categorical(3).category_count(), Some(3));
    /// let answer = Feature::new(ElementType::U8).categorical(Categories::from_labels(["yes", "no"])?);
    /// assert_eq!(answer.label(1), Some("no"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn categorical(self, categories: impl Into<Categories>) -> Self {
        Self { feature_type: FeatureType::Categorical, categories: Some(categories.into()), ..self }
    }

    /// Declares that values of the column may be missing. Source: Arrow's nullable fields.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Feature};
    /// assert!(Feature::new(ElementType::I64).nullable().nullable);
    /// assert!(!Feature::new(ElementType::I64).nullable);
    /// ```
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// Returns the number of categories, if it is known.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Feature};
    /// let feature = Feature::new(ElementType::U8);
    /// assert_eq!((feature.category_count(), feature.categorical(7).category_count()), (None, Some(7)));
    /// ```
    pub fn category_count(&self) -> Option<usize> {
        self.categories.as_ref().map(Categories::len)
    }

    /// Returns the label of a category, if it is known. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Error, Feature, dictionary::Categories};
    /// let answer = Feature::new(ElementType::U8).categorical(Categories::from_labels(["yes", "no"])?);
    /// assert_eq!((answer.label(0), answer.label(2)), (Some("yes"), None));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn label(&self, category: usize) -> Option<&str> {
        self.categories.as_ref()?.label(category)
    }

    /// Returns the feature as an ordinal one: the order of values is meaningful, their differences are not.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Feature, FeatureType};
    /// assert_eq!(Feature::new(ElementType::U8).ordinal().feature_type, FeatureType::Ordinal);
    /// ```
    pub fn ordinal(self) -> Self {
        Self { feature_type: FeatureType::Ordinal, ..self }
    }

    /// Returns the feature as one of points in time: the values are numbers of units since 1970-01-01T00:00:00 UTC.
    /// Text formats write them as dates.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Feature, FeatureType, dictionary::TimeUnit};
    /// let day = Feature::new(ElementType::I32).named("day").time(TimeUnit::Days);
    /// assert_eq!(day.feature_type, FeatureType::Time(TimeUnit::Days));
    /// ```
    pub fn time(self, unit: TimeUnit) -> Self {
        Self { feature_type: FeatureType::Time(unit), ..self }
    }

    /// Returns the PMML data type of the values. Source: DAAL `PMMLNumType`, whose only integer type is `int`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Feature, dictionary::PmmlType};
    /// assert_eq!(Feature::new(ElementType::I64).pmml_type(), PmmlType::Integer);
    /// ```
    pub const fn pmml_type(&self) -> PmmlType {
        match self.element_type {
            ElementType::F64 => PmmlType::Double,
            ElementType::F32 | ElementType::F16 | ElementType::Bf16 => PmmlType::Float,
            _ => PmmlType::Integer,
        }
    }

    /// Returns the size of one value in bytes. Source: DAAL `typeSize`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Feature};
    /// assert_eq!(Feature::new(ElementType::Bf16).type_size(), 2);
    /// ```
    pub const fn type_size(&self) -> usize {
        self.element_type.size_in_bytes()
    }
}

/// A feature with a borrowed name and borrowed labels, from a file or a [`Feature`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FeatureView<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) element_type: ElementType,
    pub(crate) feature_type: FeatureType,
    pub(crate) categories: Option<CategoriesView<'a>>,
    pub(crate) nullable: bool,
}

impl FeatureView<'_> {
    /// Returns whether the feature consists of its two types only.
    pub(crate) fn is_plain(self) -> bool {
        self.name.is_none() && self.categories.is_none()
    }

    /// Copies the name, and labels that are not shared yet. Fails if there is not enough memory.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn to_feature(self) -> Result<Feature> {
        let Self { name, element_type, feature_type, categories, nullable } = self;
        let categories = categories.map(CategoriesView::to_categories).transpose()?;
        Ok(Feature { name: name.map(try_to_string).transpose()?, element_type, feature_type, categories, nullable })
    }
}

/// Copies text. Fails if there is not enough memory.
fn try_to_string(text: &str) -> Result<String> {
    let mut string = String::new();
    string.try_reserve_exact(text.len()).map_err(|_| Error::out_of_memory(text.len()))?;
    string.push_str(text);
    Ok(string)
}

/// The kind of quantity that a feature is. Source: DAAL `FeatureType`, which has no times.
///
/// # Examples
/// ```
/// use numeric_table::FeatureType;
/// assert_eq!(FeatureType::default(), FeatureType::Continuous);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureType {
    /// Category indices: only equality is meaningful.
    Categorical,
    /// Ranks: order is meaningful, differences are not.
    Ordinal,
    /// Quantities.
    #[default]
    Continuous,
    /// Points in time: numbers of units since 1970-01-01T00:00:00 UTC. Order and differences are meaningful.
    Time(TimeUnit),
}

impl FeatureType {
    /// The id of times in the first unit. The ids of the other units follow.
    const TIME_ID: u8 = 3;

    /// Returns the number that represents the type in files and archives.
    pub(crate) const fn id(self) -> u8 {
        match self {
            Self::Categorical => 0,
            Self::Ordinal => 1,
            Self::Continuous => 2,
            Self::Time(unit) => Self::TIME_ID + unit as u8,
        }
    }

    pub(crate) fn from_id(id: u8) -> Option<Self> {
        match id {
            0 => Some(Self::Categorical),
            1 => Some(Self::Ordinal),
            2 => Some(Self::Continuous),
            _ => TimeUnit::ALL.get(usize::from(id - Self::TIME_ID)).map(|&unit| Self::Time(unit)),
        }
    }
}

impl fmt::Display for FeatureType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Categorical => "categorical",
            Self::Ordinal => "ordinal",
            Self::Continuous => "continuous",
            Self::Time(unit) => return f.pad(&format!("time in {unit}")),
        })
    }
}

/// The PMML data type of a feature. Source: DAAL `PMMLNumType`.
///
/// # Examples
/// ```
/// use numeric_table::dictionary::PmmlType;
/// assert_eq!(PmmlType::Double.to_string(), "double");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PmmlType {
    /// Binary floating point of at most single precision.
    Float,
    /// Binary floating point of double precision.
    Double,
    /// Any integer.
    Integer,
}

impl fmt::Display for PmmlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Float => "float",
            Self::Double => "double",
            Self::Integer => "integer",
        })
    }
}
