//! Gaussian naive Bayes: means and variances by class. The model is in `gaussian_model`.

#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::table::ColumnKey;
use numeric_table::{Error, NumericTable, Partial, Result, TableDescription, statistics::GroupStatistics};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::classes;
use crate::gaussian_model::GaussianNaiveBayesModel;

/// The means and variances of the features in each class, for Gaussian naive Bayes. For counts, use
/// [`NaiveBayes`](crate::NaiveBayes).
///
/// One column contains the class of each row: an integer from 0 to the number of classes minus 1. Any other value is an
/// error that names the row. The other columns are the features. The means and variances are [`GroupStatistics`],
/// computed in one pass and exact to the last digits. [`statistics`](Self::statistics) returns them, and
/// `GaussianNaiveBayes::try_from` accepts existing ones.
///
/// A missing feature and a NaN are ignored, and rows whose class is missing are left out and
/// [counted](Self::missing_rows); scikit-learn rejects NaN. An infinity is an error when a model is created.
/// Values of other types are converted to `f64`, exactly except for 64-bit integers beyond 2^53. Cells of sparse tables
/// are read with their zeros.
///
/// The statistics are a [`Partial`] result and implement serde's traits: those of parts of a table, or of many files,
/// can be merged. Cost: O(rows * columns). Memory: 104 bytes for each class and feature, and the same for each class
/// among some thousand rows of each thread.
///
/// Source: scikit-learn `GaussianNB`, with `partial_fit`; Chan, Golub, LeVeque 1979 for merging.
///
/// # Examples
/// ```
/// use numeric_table::{Partial, prelude::*};
/// use numeric_table_learning::GaussianNaiveBayes;
/// // Length and width of four leaves; the last column is the class.
/// let table = HomogenNumericTable::from_rows(&[[1.0, 5.0, 0.0], [2.0, 7.0, 0.0], [8.0, 5.5, 1.0], [9.0, 6.0, 1.0]])?;
/// let statistics = GaussianNaiveBayes::compute(&table, 2, 2)?; // in parallel if the table is large
/// let model = statistics.model(1e-9)?;
/// assert_eq!(model.means()?.as_slice()?, [1.5, 6.0, 8.5, 5.75]); // a row for each class
///
/// let leaves = HomogenNumericTable::from_rows(&[[7.0_f32, 6.0], [2.5, 6.0]])?; // without the class
/// assert_eq!(model.predict(&leaves)?.as_slice()?, [1, 0]);
///
/// let mut all = GaussianNaiveBayes::new(3, 2, 2)?; // a part at a time
/// all.update(&table.slice_rows(..2)?)?;
/// all.update(&table.slice_rows(2..)?)?;
/// assert_eq!(all.to_bytes()?, GaussianNaiveBayes::new(3, 2, 2)?.compute_over(&table)?.to_bytes()?);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GaussianNaiveBayes {
    /// Invariant: 1 to 2^31 - 1 categories.
    groups: GroupStatistics,
}

impl GaussianNaiveBayes {
    /// Creates statistics without rows, for tables with `columns` columns. The column `by` contains the class, and
    /// `classes` is the number of classes.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`] for `by`; [`ErrorKind::ParameterOutOfRange`] if the number of classes is 0 or
    /// above 2^31 - 1; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let statistics = GaussianNaiveBayes::new(4, 0, 2)?; // three features, after the class
    /// assert_eq!((statistics.feature_count(), statistics.class_count(), statistics.row_count()), (3, 2, 0));
    /// assert!(GaussianNaiveBayes::new(4, 4, 2).is_err() && GaussianNaiveBayes::new(4, 0, 0).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize, by: usize, classes: usize) -> Result<Self> {
        classes::check(columns, by, classes)?;
        Ok(Self { groups: GroupStatistics::new(columns, by, classes)? })
    }

    /// Computes the statistics of a table of any kind. `by` is the index or the name of the class column. With `None`,
    /// the number of classes is that of the dictionary.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`] for `by`; [`ErrorKind::NotSolvable`] if the number
    /// of classes is unknown; [`ErrorKind::ValueNotAllowed`] for the first value of that column that is not a class;
    /// those of [`new`](Self::new) and of reading the table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let names = ["length", "class"].map(|name| Feature::new(ElementType::F64).named(name));
    /// let table = HomogenNumericTable::from_rows(&[[2.0, 1.0], [0.5, 0.0], [-1.0, 0.5]])?;
    /// let table = table.with_dictionary(names.into_iter().collect())?;
    /// assert_eq!(GaussianNaiveBayes::compute(&table.slice_rows(..2)?, "class", 2)?.class_rows(), [1, 1]);
    /// let error = GaussianNaiveBayes::compute(&table, "class", 2).unwrap_err();
    /// assert!(error.to_string().starts_with("the value 0.5 at row 2, column 1 is not a valid category: "));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compute(table: &dyn NumericTable, by: impl ColumnKey, classes: impl Into<Option<usize>>) -> Result<Self> {
        let (by, classes) = classes::column_and_count(table, by, classes.into())?;
        Self::new(table.column_count(), by, classes)?.compute_over(table)
    }

    /// Returns the number of features: the number of columns without the class column. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// assert_eq!(GaussianNaiveBayes::new(4, 3, 2)?.feature_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn feature_count(&self) -> usize {
        self.groups.column_count() - 1
    }

    /// Returns the number of classes. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// assert_eq!(GaussianNaiveBayes::new(4, 3, 2)?.class_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn class_count(&self) -> usize {
        self.groups.category_count()
    }

    /// Returns the number of rows of all classes. O(classes).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2.5, 1.0], [3.0, 0.0], [5.0, 1.0]])?;
    /// assert_eq!(GaussianNaiveBayes::compute(&table, 1, 2)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.groups.row_count()
    }

    /// Returns the number of rows that were left out because their class is missing. O(1). A missing feature leaves out
    /// only that feature of its row: [`statistics`](Self::statistics) counts them.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("length", [Some(2.5), Some(3.0), None])?;
    /// table.push_optional("class", [Some(1_u8), None, Some(1)])?;
    /// let found = GaussianNaiveBayes::compute(&table, "class", 2)?;
    /// assert_eq!((found.row_count(), found.missing_rows()), (2, 1));
    /// assert_eq!(found.statistics().column(1, "length")?.missing_count(), 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_rows(&self) -> u64 {
        self.groups.missing_rows()
    }

    /// Returns the number of rows of each class. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2.5, 1.0], [3.0, 0.0], [5.0, 1.0]])?;
    /// assert_eq!(GaussianNaiveBayes::compute(&table, 1, 3)?.class_rows(), [1, 2, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn class_rows(&self) -> &[u64] {
        self.groups.row_counts()
    }

    /// Returns the statistics of each feature in each class. The classes are its categories. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2.5, 1.0], [3.0, 0.0], [5.5, 1.0]])?;
    /// let statistics = GaussianNaiveBayes::compute(&table, 1, 2)?;
    /// let column = *statistics.statistics().column(1, 0)?;
    /// assert_eq!((column.mean(), column.population_variance(), column.maximum()), (4.0, 2.25, 5.5));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn statistics(&self) -> &GroupStatistics {
        &self.groups
    }

    /// Creates a model whose prior probabilities are the shares of the rows of each class. O(classes * features).
    ///
    /// `var_smoothing` times the largest variance of a feature over all rows is added to each variance. scikit-learn's
    /// default is 1e-9. Variances are population variances, divided by the number of values.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `var_smoothing` is negative or not finite; [`ErrorKind::TooFewRows`]
    /// without rows; [`ErrorKind::NotSolvable`] for the first column that has an infinity, has only NaN in a class, has
    /// a mean or variance beyond the range of `f64` in a class, or has a variance of zero after smoothing;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[1.0, 0.0], [3.0, 0.0], [6.0, 1.0]])?;
    /// let statistics = GaussianNaiveBayes::compute(&table, 1, 2)?;
    /// let model = statistics.model(0.5)?; // the variance of all rows is 38 / 9
    /// assert_eq!(model.log_priors(), [(2.0_f64 / 3.0).ln(), (1.0_f64 / 3.0).ln()]);
    /// let variances = model.variances()?;
    /// assert!((variances.value::<f64>(0, 0)? - (1.0 + 19.0 / 9.0)).abs() < 1e-14);
    /// assert!(matches!(statistics.model(0.0).unwrap_err().kind(), ErrorKind::NotSolvable { .. }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn model(&self, var_smoothing: f64) -> Result<GaussianNaiveBayesModel> {
        GaussianNaiveBayesModel::new(&self.groups, classes::log_shares(self.class_rows())?, var_smoothing)
    }

    /// Creates a model with the given prior probabilities. A class without rows is never predicted, even if its prior
    /// is positive. O(classes * features). Source: scikit-learn `GaussianNB(priors=..)`.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] unless there is one prior for each class; [`ErrorKind::ParameterOutOfRange`] for
    /// one that is negative or NaN, or if their sum differs from 1 by more than 1e-8; those of [`model`](Self::model).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::GaussianNaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[1.0, 0.0], [3.0, 0.0], [4.0, 1.0], [6.0, 1.0]])?;
    /// let statistics = GaussianNaiveBayes::compute(&table, 1, 2)?;
    /// let asked = HomogenNumericTable::from_rows(&[[3.25]])?;
    /// assert_eq!(statistics.model(1e-9)?.predict(&asked)?.as_slice()?, [0]);
    /// assert_eq!(statistics.model_with_priors(&[0.1, 0.9], 1e-9)?.predict(&asked)?.as_slice()?, [1]);
    /// assert!(statistics.model_with_priors(&[0.1, 0.8], 1e-9).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn model_with_priors(&self, priors: &[f64], var_smoothing: f64) -> Result<GaussianNaiveBayesModel> {
        let log_priors = classes::log_priors(self.class_rows(), priors)?;
        GaussianNaiveBayesModel::new(&self.groups, log_priors, var_smoothing)
    }
}

/// `update` adds a block of rows. For an entire table, call [`GaussianNaiveBayes::compute`] or
/// [`compute_over`](Partial::compute_over), which use all threads; `update` does so only if the block is large.
/// `update` and `merge` are those of [`GroupStatistics`]. An error adds nothing.
impl Partial for GaussianNaiveBayes {
    const NAME: &'static str = "gaussian-naive-bayes";
    const VERSION: u32 = 2; // as that of statistics of groups
    const NEWEST_VERSION: u32 = GroupStatistics::NEWEST_VERSION;

    fn version(&self) -> u32 {
        self.groups.version()
    }

    fn new_like(&self) -> Result<Self> {
        Ok(Self { groups: self.groups.new_like()? })
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.groups.update(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.groups.merge(&other.groups)
    }

    fn size_in_bytes(&self) -> usize {
        self.groups.size_in_bytes()
    }
}

/// Converts existing statistics. Their categories are the classes.
///
/// [`ErrorKind::ParameterOutOfRange`] if the number of categories is 0 or above 2^31 - 1.
impl TryFrom<GroupStatistics> for GaussianNaiveBayes {
    type Error = Error;

    fn try_from(groups: GroupStatistics) -> Result<Self> {
        classes::check(groups.column_count(), groups.category_column(), groups.category_count())?;
        Ok(Self { groups })
    }
}

/// Serialized like [`GroupStatistics`].
impl Serialize for GaussianNaiveBayes {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.groups.serialize(serializer)
    }
}

/// Rejects statistics without categories.
impl<'de> Deserialize<'de> for GaussianNaiveBayes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::try_from(GroupStatistics::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
