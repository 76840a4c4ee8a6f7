//! The counts of naive Bayes. The model is in `naive_bayes_model`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use numeric_table::internal::{Numbers, refused, remember};
use numeric_table::table::ColumnKey;
use numeric_table::{Error, ErrorKind, HomogenNumericTable, NumericTable, Partial, Result, Shape, TableDescription};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::checks::not_combinable;
use crate::classes;
use crate::naive_bayes_model::NaiveBayesModel;
use crate::rows::{CompleteRows, Reader, blocks, shape_with};
use crate::sum::{self, Sum};
use numeric_table::internal::filled;
use numeric_table::internal::rows_after;

/// The counts of multinomial naive Bayes: the number of rows of each class, and the sum of each feature over them.
///
/// One column contains the class of each row: an integer from 0 to the number of classes minus 1. The other columns are
/// the features: counts, such as word counts, or weights that can be summed like counts. For other numbers, use
/// [`GaussianNaiveBayes`](crate::GaussianNaiveBayes). A negative value, a NaN, an infinity or an invalid class is an
/// error that names the row and the column; then nothing is added. Rows with a missing value are left out and
/// [counted](Self::missing_rows).
///
/// The counts are a [`Partial`] result and implement serde's traits: those of parts of a table, or of many files, can
/// be merged. Sums are computed in `f64` with compensation, so integers are exact up to 2^53. Values of other types are
/// converted, exactly except for 64-bit integers beyond 2^53. Cells of sparse tables are read with their zeros.
///
/// Cost: O(rows * columns). Memory: 16 bytes for each class and feature, and the same for each class among the rows of
/// a call.
///
/// Source: DAAL `multinomial_naive_bayes::training` (`step1Local`, `step2Master`), scikit-learn `MultinomialNB`.
///
/// # Examples
/// ```
/// use numeric_table::{Partial, prelude::*};
/// use numeric_table_learning::NaiveBayes;
/// // The counts of three words in each of four texts. The last column is the class.
/// let table = HomogenNumericTable::from_rows(&[[2_u8, 1, 0, 0], [1, 0, 0, 0], [0, 1, 3, 1], [0, 0, 2, 1]])?;
/// let counts = NaiveBayes::compute(&table, 3, 2)?; // in parallel if the table is large
/// assert_eq!(counts.counts()?.as_slice()?, [3.0, 1.0, 0.0, 0.0, 1.0, 5.0]); // a row for each class
///
/// let model = counts.model(1.0)?;
/// let texts = HomogenNumericTable::from_rows(&[[1_u8, 1, 0], [0, 1, 1]])?; // without the class
/// assert_eq!(model.predict(&texts)?.as_slice()?, [0, 1]);
///
/// let mut all = NaiveBayes::new(4, 3, 2)?; // a part at a time
/// all.update(&table.slice_rows(..1)?)?;
/// all.update(&table.slice_rows(1..)?)?;
/// assert_eq!(all, counts);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveBayes {
    /// The number of columns, including the class column: at least one.
    columns: usize,
    /// The class column.
    by: usize,
    /// The number of rows of each class. Invariant: the total is at most `u64::MAX`.
    rows: Vec<u64>,
    /// The number of rows with a missing value.
    missing_rows: u64,
    /// Class by class, the sum of each feature.
    sums: Vec<Sum>,
}

/// The number of rows and the sums of features of each class that has rows.
type Found = BTreeMap<usize, (u64, Vec<Sum>)>;

impl NaiveBayes {
    /// Creates counts without rows, for tables with `columns` columns. The column `by` contains the class, and
    /// `classes` is the number of classes.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`] for `by`; [`ErrorKind::ParameterOutOfRange`] if the number of classes is 0 or
    /// above 2^31 - 1; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_learning::NaiveBayes;
    /// let counts = NaiveBayes::new(4, 0, 2)?; // three features, after the class
    /// assert_eq!((counts.feature_count(), counts.class_count(), counts.row_count()), (3, 2, 0));
    /// assert!(NaiveBayes::new(4, 4, 2).is_err() && NaiveBayes::new(4, 0, 0).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(columns: usize, by: usize, classes: usize) -> Result<Self> {
        classes::check(columns, by, classes)?;
        let sums = filled(classes.saturating_mul(columns - 1), Sum::default())?;
        Ok(Self { columns, by, rows: filled(classes, 0)?, missing_rows: 0, sums })
    }

    /// Computes the counts of a table of any kind. `by` is the index or the name of the class column. With `None`, the
    /// number of classes is that of the dictionary.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::UnknownName`] for `by`; [`ErrorKind::NotSolvable`] if the number
    /// of classes is unknown; those of [`new`](Self::new), and those of `update`: [`ErrorKind::ValueNotAllowed`]
    /// for a value of that column that is not a class, or for any other value that is negative or not finite.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let names = ["word", "class"].map(|name| Feature::new(ElementType::F64).named(name));
    /// let table = HomogenNumericTable::from_rows(&[[2.0, 1.0], [0.5, 0.0], [-1.0, 0.0]])?;
    /// let table = table.with_dictionary(names.into_iter().collect())?;
    /// let counts = NaiveBayes::compute(&table.slice_rows(..2)?, "class", 2)?;
    /// assert_eq!(counts.counts()?.as_slice()?, [0.5, 2.0]);
    /// let error = NaiveBayes::compute(&table, "class", 2).unwrap_err();
    /// assert!(error.to_string().starts_with("the value -1 at row 2, column 0 is not a valid count: expected a finite"));
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
    /// # use numeric_table_learning::NaiveBayes;
    /// assert_eq!(NaiveBayes::new(4, 3, 2)?.feature_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn feature_count(&self) -> usize {
        self.columns - 1
    }

    /// Returns the number of classes. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_learning::NaiveBayes;
    /// assert_eq!(NaiveBayes::new(4, 3, 2)?.class_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn class_count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of rows of all classes. O(classes).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 1], [3, 0], [5, 1]])?;
    /// assert_eq!(NaiveBayes::compute(&table, 1, 2)?.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// Returns the number of rows that were left out because they have a missing value. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// # use numeric_table_learning::NaiveBayes;
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("word", [Some(2_u8), None, Some(5)])?;
    /// table.push_optional("class", [Some(1_u8), Some(0), None])?;
    /// let counts = NaiveBayes::compute(&table, "class", 2)?;
    /// assert_eq!((counts.row_count(), counts.missing_rows()), (1, 2));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_rows(&self) -> u64 {
        self.missing_rows
    }

    /// Returns the number of rows of each class. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 1], [3, 0], [5, 1]])?;
    /// assert_eq!(NaiveBayes::compute(&table, 1, 3)?.class_rows(), [1, 2, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn class_rows(&self) -> &[u64] {
        &self.rows
    }

    /// Returns the sum of each feature over the rows of each class, with a row for each class. O(classes * features).
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 1, 7], [3, 0, 0], [5, 1, 1]])?;
    /// assert_eq!(NaiveBayes::compute(&table, 1, 2)?.counts()?.as_slice()?, [3.0, 0.0, 7.0, 8.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn counts(&self) -> Result<HomogenNumericTable<f64>> {
        let shape = Shape { rows: self.class_count(), columns: self.feature_count() };
        HomogenNumericTable::from_fn(shape, |row, column| self.sums[row * shape.columns + column].value())
    }

    /// Creates a model from the logarithms of the share of each class in the rows and of the share of each feature in
    /// the counts of a class. `alpha` is added to each count first. O(classes * features).
    ///
    /// `alpha` is 1 for Laplace smoothing and below 1 for Lidstone smoothing. With 0, a feature that no row of a class
    /// has is impossible in that class.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `alpha` is negative or not finite; [`ErrorKind::TooFewRows`] without rows;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::NaiveBayes;
    /// let table = HomogenNumericTable::from_rows(&[[2_u8, 1, 0], [3, 0, 0], [0, 1, 1]])?;
    /// let model = NaiveBayes::compute(&table, 2, 2)?.model(1.0)?;
    /// assert_eq!(model.log_priors(), [(2.0_f64 / 3.0).ln(), (1.0_f64 / 3.0).ln()]);
    /// assert_eq!(model.log_probabilities()?.rows::<f64>(0..1)?[..], [(6.0_f64 / 8.0).ln(), (2.0_f64 / 8.0).ln()]);
    /// assert!(NaiveBayes::new(3, 2, 2)?.model(1.0).is_err()); // no rows
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn model(&self, alpha: f64) -> Result<NaiveBayesModel> {
        NaiveBayesModel::new(self.feature_count(), &self.rows, |place| self.sums[place], alpha)
    }

    /// Computes the counts of one table, and the number of rows with a missing value.
    fn found(&self, table: &dyn NumericTable) -> Result<(Found, u64)> {
        let shape = shape_with(table, self.columns)?;
        let complete = CompleteRows::of(table, shape)?;
        let (mut found, mut missing) = (Found::new(), 0);
        let mut reader = Reader::<f64>::new(table, self.columns);
        for rows in blocks(0..shape.rows, self.columns) {
            let start = rows.start;
            for (row, values) in reader.read(rows)?.chunks_exact(self.columns).enumerate() {
                if complete.contains(start + row) {
                    self.add_row(start + row, values, &mut found)?;
                } else {
                    missing += 1;
                }
            }
        }
        Ok((found, missing))
    }

    /// Returns the number of all rows, with those that are left out.
    fn all_rows(&self) -> u64 {
        self.row_count() + self.missing_rows
    }

    /// Adds a row, unless it has an invalid value.
    fn add_row(&self, row: usize, values: &[f64], found: &mut Found) -> Result<()> {
        let (class, classes, by) = (values[self.by], self.class_count(), self.by);
        if !(class >= 0.0 && class < classes as f64 && class.fract() == 0.0) {
            return Err(not_a_class(row, by, class, classes));
        }
        let (before, after) = (&values[..by], &values[by + 1..]);
        check_counts(before, row, 0)?;
        check_counts(after, row, by + 1)?;
        let class = class as usize;
        let (rows, sums) = match found.entry(class) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert((0, filled(self.feature_count(), Sum::default())?)),
        };
        *rows += 1;
        sums.iter_mut().zip(before.iter().chain(after)).for_each(|(sum, &value)| sum.add(value));
        Ok(())
    }
}

/// Checks that the values of a row, from the column `first` on, are counts.
pub(crate) fn check_counts(values: &[f64], row: usize, first: usize) -> Result<()> {
    let is_count = |value: f64| (0.0..f64::INFINITY).contains(&value);
    if values.iter().fold(true, |all, &value| all & is_count(value)) {
        return Ok(());
    }
    match values.iter().position(|&value| !is_count(value)) {
        Some(at) => Err(Error::new(ErrorKind::ValueNotAllowed {
            row,
            column: first + at,
            value: values[at],
            reason: "is not a valid count: expected a finite, non-negative number".to_owned(),
        })),
        None => Ok(()),
    }
}

/// Returns the error of a value that is not a class. There is at least one class.
fn not_a_class(row: usize, column: usize, value: f64, classes: usize) -> Error {
    let what = if value.is_nan() { "is missing" } else { "is not a valid category" };
    let reason = format!("{what}: expected an integer from 0 to {}", classes - 1);
    Error::new(ErrorKind::ValueNotAllowed { row, column, value, reason })
}

/// `update` adds a block of rows, on the calling thread. For an entire table, call [`NaiveBayes::compute`] or
/// [`compute_over`](Partial::compute_over), which use all threads. `update` reads the rows once, in O(rows * columns).
/// An error adds nothing. `merge` takes O(classes *
/// features). A different number of classes or columns is [`ErrorKind::ShapeMismatch`], a different class column
/// [`ErrorKind::NotCombinable`].
impl Partial for NaiveBayes {
    const NAME: &'static str = "naive-bayes-counts";
    const VERSION: u32 = 2; // since sums beyond the range of `f64` are kept
    const NEWEST_VERSION: u32 = 3; // since values may be missing

    fn version(&self) -> u32 {
        if self.missing_rows > 0 { Self::NEWEST_VERSION } else { Self::VERSION }
    }

    fn new_like(&self) -> Result<Self> {
        Self::new(self.columns, self.by, self.class_count())
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        let (found, missing) = self.found(rows)?;
        rows_after(self.all_rows(), found.values().map(|(rows, _)| rows).sum::<u64>() + missing)?;
        self.missing_rows += missing;
        let features = self.feature_count();
        for (class, (rows, sums)) in found {
            self.rows[class] += rows;
            let mine = &mut self.sums[class * features..(class + 1) * features];
            mine.iter_mut().zip(sums).for_each(|(mine, theirs)| mine.merge(theirs));
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        let shape = |counts: &Self| Shape { rows: counts.class_count(), columns: counts.columns };
        if shape(self) != shape(other) {
            return Err(Error::new(ErrorKind::ShapeMismatch { expected: shape(self), actual: shape(other) }));
        }
        if self.by != other.by {
            return Err(not_combinable(format!("rows are grouped by column {}, not by column {}", other.by, self.by)));
        }
        rows_after(self.all_rows(), other.all_rows())?;
        self.missing_rows += other.missing_rows;
        self.rows.iter_mut().zip(&other.rows).for_each(|(mine, theirs)| *mine += theirs);
        self.sums.iter_mut().zip(&other.sums).for_each(|(mine, theirs)| mine.merge(*theirs));
        Ok(())
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(&self.sums[..])
    }
}

/// The serialized form of counts. If values were missing, the number of such rows follows those of the classes, and the
/// number of columns is added to that of the class column, which older libraries reject.
#[derive(Serialize, Deserialize)]
#[serde(rename = "NaiveBayes", deny_unknown_fields)]
struct Parts<'a> {
    columns: usize,
    by: usize,
    rows: Numbers<'a, u64>,
    sums: sum::Parts<'a>,
}

impl Serialize for NaiveBayes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut rows, mut by) = (Cow::Borrowed(&*self.rows), self.by);
        if self.missing_rows > 0 {
            rows.to_mut().push(self.missing_rows);
            by = by.checked_add(self.columns).ok_or_else(|| refused(Error::out_of_memory(usize::MAX)))?;
        }
        let (rows, sums) = (Numbers(rows), sum::Parts::of(&self.sums).map_err(refused)?);
        Parts { columns: self.columns, by, rows, sums }.serialize(serializer)
    }
}

/// Rejects numbers that contradict each other.
impl<'de> Deserialize<'de> for NaiveBayes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Parts::deserialize(deserializer)?.check().map_err(remember)
    }
}

impl Parts<'_> {
    fn check(self) -> Result<NaiveBayes> {
        let (columns, mut by, mut rows) = (self.columns, self.by, self.rows.0.into_owned());
        let mut missing_rows = 0;
        if let Some(own) = by.checked_sub(columns) {
            (by, missing_rows) = (own, rows.pop().unwrap_or(0));
        }
        classes::check(columns, by, rows.len())?;
        let sums = self.sums.join(Shape { rows: rows.len(), columns: columns - 1 }.element_count()?)?;
        rows.iter().try_fold(missing_rows, |all, &added| rows_after(all, added))?;
        Ok(NaiveBayes { columns, by, rows, missing_rows, sums })
    }
}
