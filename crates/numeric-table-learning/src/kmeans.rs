//! One step of k-means. The sums of the rows are in `totals`, the loops in `nearest`.

mod totals;

use std::borrow::Cow;

use numeric_table::internal::{Numbers, filled, refused, remember, rows_after, same_count};
use numeric_table::{Element, Error, ErrorKind, HomogenNumericTable, NumericTable, Partial, Result, Shape};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::checks::{not_combinable, parameter};
use crate::nearest::{Centroids, Finder, NONE};
use crate::rows::{Reader, block_rows, blocks, fits_f32, for_each_row, shape_with};
use crate::sum::{self, Sum};
use totals::Totals;

/// One step of k-means: each row is assigned to its nearest centroid, and the means of the clusters are the centroids
/// of the next step (Lloyd's algorithm).
///
/// A step is a [`Partial`] result and implements serde's traits. Steps with the same centroids, computed from parts of
/// a table or from many files, can be merged. Everything is computed in `f64`. Values of other types are converted,
/// exactly except for 64-bit integers beyond 2^53. Squared distances are sums of squared differences, not differences
/// of large products, so their error is some units in the last place for each column, even if they are small compared
/// with the values. If several centroids are equally near, the row belongs to the first. Rows and the inertia are
/// summed in blocks, and the sums of blocks are added with compensation.
///
/// A row with a NaN or an infinity is skipped and counted by [`non_finite_rows`](Self::non_finite_rows), and one with a
/// missing value by [`missing_rows`](Self::missing_rows). A cluster
/// without rows keeps its centroid; DAAL moves it to the farthest row.
///
/// Cost: O(rows * clusters * columns) for a step, and O(clusters * columns) for each call of `update` and
/// `merge`. Memory: 32 bytes for each value of the centroids, and about the same again during a call. On several
/// threads also the sums of some blocks: 64 MiB, or those of one block if they are larger.
///
/// Source: DAAL `kmeans` (`step1Local`, `step2Master`), scikit-learn `KMeans` (`algorithm="lloyd"`).
///
/// # Examples
/// ```
/// use numeric_table::{Partial, prelude::*};
/// use numeric_table_learning::KMeansStep;
/// let table = HomogenNumericTable::from_rows(&[[0.0_f32, 1.0], [0.0, 3.0], [9.0, 9.0], [11.0, 9.0]])?;
/// let mut centroids = table.slice_rows(1..3)?.convert::<f64>()?; // start with any two rows
/// loop {
///     let step = KMeansStep::new(&centroids)?.compute_over(&table)?; // in parallel if the table is large
///     centroids = step.centroids()?;
///     if step.shift() == 0.0 {
///         break;
///     }
/// }
/// assert_eq!(centroids.as_slice()?, [0.0, 2.0, 10.0, 9.0]);
/// assert_eq!(KMeansStep::new(&centroids)?.assign(&table)?.as_slice()?, [0, 0, 1, 1]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KMeansStep {
    centroids: Centroids,
    totals: Totals,
}

impl KMeansStep {
    /// Creates a step without rows. Each row of `centroids` is the centroid of a cluster.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if the number of centroids is 0 or above 2^31 - 1, or that of columns is 0;
    /// [`ErrorKind::ValueNotAllowed`] for the first value that is NaN, infinite or missing; those of reading the table;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::KMeansStep;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]])?)?;
    /// assert_eq!((step.cluster_count(), step.column_count(), step.row_count()), (3, 2, 0));
    /// let error = KMeansStep::new(&HomogenNumericTable::from_rows(&[[1.0, f64::NAN]])?).unwrap_err();
    /// assert_eq!(error.to_string(), "the value NaN at row 0, column 1 is not finite");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn new(centroids: &dyn NumericTable) -> Result<Self> {
        let shape = centroids.shape();
        check_shape(shape)?;
        let mut values = filled(shape.element_count()?, 0.0)?;
        let mut reader = Reader::<f64>::new(centroids, shape.columns);
        for rows in blocks(0..shape.rows, shape.columns) {
            let place = rows.start * shape.columns..rows.end * shape.columns;
            values[place].copy_from_slice(reader.read(rows)?);
        }
        Self::from_values(values, shape.columns)
    }

    fn from_values(centroids: Vec<f64>, columns: usize) -> Result<Self> {
        if let Some(at) = centroids.iter().position(|value| !value.is_finite()) {
            return Err(Error::new(ErrorKind::ValueNotAllowed {
                row: at / columns,
                column: at % columns,
                value: centroids[at],
                reason: "is not finite".to_owned(),
            }));
        }
        let centroids = Centroids::new(centroids, columns)?;
        Ok(Self { totals: Totals::new(centroids.count(), columns)?, centroids })
    }

    /// Returns the number of clusters. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::KMeansStep;
    /// assert_eq!(KMeansStep::new(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.cluster_count(), 3);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cluster_count(&self) -> usize {
        self.centroids.count()
    }

    /// Returns the number of columns. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::KMeansStep;
    /// assert_eq!(KMeansStep::new(&HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?)?.column_count(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn column_count(&self) -> usize {
        self.centroids.columns()
    }

    /// Returns the number of rows that were added, including the skipped ones. O(clusters).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::KMeansStep;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0.0], [10.0]])?)?;
    /// let step = step.compute_over(&HomogenNumericTable::from_rows(&[[1.0], [f64::NAN], [12.0]])?)?;
    /// assert_eq!((step.row_count(), step.counts(), step.non_finite_rows()), (3, &[1, 1][..], 1));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn row_count(&self) -> u64 {
        self.totals.rows()
    }

    /// Returns the number of rows of each cluster. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::KMeansStep;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0, 0], [9, 9], [99, 99]])?)?;
    /// let step = step.compute_over(&HomogenNumericTable::from_rows(&[[1_u8, 2], [10, 8], [2, 0]])?)?;
    /// assert_eq!(step.counts(), [2, 1, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn counts(&self) -> &[u64] {
        &self.totals.counts
    }

    /// Returns the number of rows that were skipped because they have a NaN or an infinity, and no missing value. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::KMeansStep;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0.0, 0.0]])?)?;
    /// let step = step.compute_over(&HomogenNumericTable::from_rows(&[[1.0, 2.0], [3.0, f64::INFINITY]])?)?;
    /// assert_eq!((step.non_finite_rows(), step.inertia()), (1, 5.0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn non_finite_rows(&self) -> u64 {
        self.totals.non_finite_rows
    }

    /// Returns the number of rows that were skipped because they have a missing value. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, SoaNumericTable, prelude::*};
    /// # use numeric_table_learning::KMeansStep;
    /// let mut table = SoaNumericTable::new();
    /// table.push_optional("a", [Some(1.0), None, Some(f64::NAN)])?;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0.0]])?)?.compute_over(&table)?;
    /// assert_eq!((step.counts(), step.missing_rows(), step.non_finite_rows()), (&[1][..], 1, 1));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn missing_rows(&self) -> u64 {
        self.totals.missing_rows
    }

    /// Returns the sums of the rows of each cluster, one row per cluster. O(clusters * columns). Sums beyond the range
    /// of `f64` are infinite.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::KMeansStep;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0, 0], [9, 9], [99, 99]])?)?;
    /// let step = step.compute_over(&HomogenNumericTable::from_rows(&[[1_u8, 2], [10, 8], [2, 0]])?)?;
    /// assert_eq!(step.sums()?.as_slice()?, [3.0, 2.0, 10.0, 8.0, 0.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn sums(&self) -> Result<HomogenNumericTable<f64>> {
        self.table(|place| self.totals.sums[place].value())
    }

    /// Returns the sum of the squared distances of the rows from their nearest centroids. It is infinite beyond the
    /// range of `f64`. Source: scikit-learn `inertia_`, DAAL's objective function.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::KMeansStep;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0, 0], [9, 9]])?)?;
    /// let step = step.compute_over(&HomogenNumericTable::from_rows(&[[1_u8, 2], [10, 8]])?)?;
    /// assert_eq!(step.inertia(), 5.0 + 2.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn inertia(&self) -> f64 {
        self.totals.inertia.value()
    }

    /// Returns the centroids of the next step: the mean of each cluster, or the old centroid if the cluster has no
    /// rows. O(clusters * columns).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::KMeansStep;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0, 0], [9, 9], [99, 99]])?)?;
    /// let step = step.compute_over(&HomogenNumericTable::from_rows(&[[1_u8, 2], [10, 8], [2, 0]])?)?;
    /// assert_eq!(step.centroids()?.as_slice()?, [1.5, 1.0, 10.0, 8.0, 99.0, 99.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn centroids(&self) -> Result<HomogenNumericTable<f64>> {
        self.table(|place| self.next(place))
    }

    /// Returns the sum of the squared distances between the centroids of this step and of the next. It is zero when
    /// another step changes nothing. O(clusters * columns). scikit-learn stops when it is at most `tol` times the mean
    /// variance of the columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, prelude::*};
    /// # use numeric_table_learning::KMeansStep;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0, 0], [9, 9]])?)?;
    /// let step = step.compute_over(&HomogenNumericTable::from_rows(&[[1_u8, 2], [10, 8], [3, 0]])?)?;
    /// assert_eq!(step.shift(), 2.0 * 2.0 + 1.0 + 2.0); // to (2, 1) and to (10, 8)
    /// # Ok::<(), Error>(())
    /// ```
    pub fn shift(&self) -> f64 {
        let apart = |(place, centre): (usize, &f64)| self.next(place) - centre;
        self.centroids.values().iter().enumerate().map(apart).map(|apart| apart * apart).sum()
    }

    /// Returns, for each row of a table, the index of the nearest of the centroids that the step was created with, or
    /// -1 for rows with a NaN, an infinity or a missing value. Runs in parallel if the feature `rayon` is on and the
    /// table is large. O(rows * clusters * columns). Source: scikit-learn `labels_`, DAAL's assignments.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the numbers of columns differ; those of reading the table;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_learning::KMeansStep;
    /// let step = KMeansStep::new(&HomogenNumericTable::from_rows(&[[0.0], [4.0], [9.0]])?)?;
    /// let table = HomogenNumericTable::from_rows(&[[8.0], [1.0], [f64::NAN], [2.0]])?; // 2 is as near to 0 as to 4
    /// let labels = step.assign(&table)?;
    /// assert_eq!((labels.shape().columns, labels.as_slice()?), (1, &[2, 0, -1, 0][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn assign(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<i32>> {
        match fits_f32(table) {
            true => self.assign_as::<f32>(table),
            false => self.assign_as::<f64>(table),
        }
    }

    fn assign_as<T: Element + Into<f64>>(&self, table: &dyn NumericTable) -> Result<HomogenNumericTable<i32>> {
        let shape = shape_with(table, self.column_count())?;
        for_each_row(shape, 1, |rows, labels: &mut [i32]| {
            let mut reader = Reader::<T>::new(table, shape.columns);
            let mut finder = Finder::new(&self.centroids, block_rows(shape.columns).min(rows.len()))?;
            let start = rows.start;
            for rows in blocks(rows, shape.columns) {
                let labels = &mut labels[rows.start - start..rows.end - start];
                finder.find(reader.read(rows)?);
                // Indices are below 2^31, and `NONE` becomes -1.
                labels.iter_mut().zip(&finder.nearest).for_each(|(label, &nearest)| *label = nearest as i32);
            }
            Ok(())
        })
    }

    /// Adds totals of steps with the same centroids.
    fn add(&mut self, found: &Totals) -> Result<()> {
        rows_after(self.row_count(), found.rows())?;
        let totals = &mut self.totals;
        totals.counts.iter_mut().zip(&found.counts).for_each(|(mine, theirs)| *mine += theirs);
        totals.sums.iter_mut().zip(&found.sums).for_each(|(mine, theirs)| mine.merge(*theirs));
        totals.inertia.merge(found.inertia);
        totals.non_finite_rows += found.non_finite_rows;
        totals.missing_rows += found.missing_rows;
        Ok(())
    }

    fn next(&self, place: usize) -> f64 {
        match self.totals.counts[place / self.column_count()] {
            0 => self.centroids.values()[place],
            count => self.totals.sums[place].mean(count),
        }
    }

    fn table(&self, value: impl Fn(usize) -> f64 + Sync) -> Result<HomogenNumericTable<f64>> {
        let shape = Shape { rows: self.cluster_count(), columns: self.column_count() };
        HomogenNumericTable::from_fn(shape, |row, column| value(row * shape.columns + column))
    }
}

/// `update` adds a block of rows. For an entire table, call [`compute_over`](Partial::compute_over), which uses all
/// threads; `update` does so only if the block is large. It reads the rows once, in O(rows * clusters * columns). An
/// error adds nothing. `merge` takes O(clusters * columns). Different centroids are [`ErrorKind::ShapeMismatch`] or
/// [`ErrorKind::NotCombinable`]. If the same rows are divided among calls differently, the last digits of the sums and
/// of the inertia may differ.
impl Partial for KMeansStep {
    const NAME: &'static str = "k-means-step";
    const VERSION: u32 = 2; // since sums beyond the range of `f64` are kept
    const NEWEST_VERSION: u32 = 3; // since values may be missing

    fn version(&self) -> u32 {
        if self.missing_rows() > 0 { Self::NEWEST_VERSION } else { Self::VERSION }
    }

    fn new_like(&self) -> Result<Self> {
        let mut values = filled(self.centroids.values().len(), 0.0)?;
        values.copy_from_slice(self.centroids.values());
        Self::from_values(values, self.column_count())
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        let shape = shape_with(rows, self.column_count())?;
        let found = match fits_f32(rows) {
            true => self.found::<f32>(rows, shape)?,
            false => self.found::<f64>(rows, shape)?,
        };
        self.add(&found)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        let shape = |step: &Self| Shape { rows: step.cluster_count(), columns: step.column_count() };
        if shape(self) != shape(other) {
            return Err(Error::new(ErrorKind::ShapeMismatch { expected: shape(self), actual: shape(other) }));
        }
        let mut pairs = self.centroids.values().iter().zip(other.centroids.values());
        if let Some(place) = pairs.position(|(mine, theirs)| mine != theirs) {
            return Err(not_combinable(format!(
                "the centroid of cluster {} differs in the other step",
                place / self.column_count()
            )));
        }
        self.add(&other.totals)
    }

    fn size_in_bytes(&self) -> usize {
        let bytes_of_a_value = 2 * size_of::<f64>() + size_of::<Sum>(); // centroids are stored twice
        self.centroids.values().len().saturating_mul(bytes_of_a_value)
    }
}

/// Checks the shape of centroids.
fn check_shape(shape: Shape) -> Result<()> {
    let check = |name, count: usize, limit: usize, allowed| match (1..=limit).contains(&count) {
        true => Ok(()),
        false => Err(parameter(name, count as f64, allowed)),
    };
    check("the number of centroids", shape.rows, i32::MAX as usize, "1 to 2147483647 are needed")?;
    check("the number of columns of centroids", shape.columns, usize::MAX, "at least 1 is needed")
}

/// The serialized form of a step. The number of rows with missing values, if there are any, follows the counts of the
/// clusters: older libraries reject it.
#[derive(Serialize, Deserialize)]
#[serde(rename = "KMeansStep", deny_unknown_fields)]
struct Parts<'a> {
    columns: usize,
    /// Row by row.
    centroids: Numbers<'a, f64>,
    counts: Numbers<'a, u64>,
    sums: sum::Parts<'a>,
    inertia: sum::Parts<'a>,
    non_finite_rows: u64,
}

impl Serialize for KMeansStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Totals { counts, sums, inertia, non_finite_rows, missing_rows } = &self.totals;
        let mut counts = Cow::Borrowed(&counts[..]);
        if *missing_rows > 0 {
            counts.to_mut().push(*missing_rows);
        }
        let parts = |sums: &[Sum]| sum::Parts::of(sums).map_err(refused);
        let parts = Parts {
            columns: self.column_count(),
            centroids: Numbers(Cow::Borrowed(self.centroids.values())),
            counts: Numbers(counts),
            sums: parts(sums)?,
            inertia: parts(&[*inertia])?,
            non_finite_rows: *non_finite_rows,
        };
        parts.serialize(serializer)
    }
}

/// Rejects centroids, counts and sums whose lengths differ, and centroids that are not finite.
impl<'de> Deserialize<'de> for KMeansStep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Parts::deserialize(deserializer)?.check().map_err(remember)
    }
}

impl Parts<'_> {
    fn check(self) -> Result<KMeansStep> {
        let (centroids, mut counts) = (self.centroids.0.into_owned(), self.counts.0.into_owned());
        let has_more = centroids.len().checked_div(self.columns).is_some_and(|clusters| counts.len() > clusters);
        let missing_rows = if has_more { counts.pop().unwrap_or(0) } else { 0 };
        let shape = Shape { rows: counts.len(), columns: self.columns };
        check_shape(shape)?;
        let expected = shape.element_count()?;
        same_count(expected, centroids.len())?;
        let others = rows_after(self.non_finite_rows, missing_rows)?;
        counts.iter().try_fold(others, |rows, &added| rows_after(rows, added))?;
        let (sums, inertia) = (self.sums.join(expected)?, self.inertia.join(1)?[0]);
        let empty = KMeansStep::from_values(centroids, self.columns)?;
        let non_finite_rows = self.non_finite_rows;
        Ok(KMeansStep { totals: Totals { counts, sums, inertia, non_finite_rows, missing_rows }, ..empty })
    }
}

const _: () = assert!(NONE as i32 == -1, "the label of rows that belong to no cluster");
