//! The labels of an svmlight file: one per row, or any number per row.

use crate::array::Array;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::shape::Shape;
use crate::table::HomogenNumericTable;

/// The labels of the rows of an svmlight file: one number per row, or a set of numbers per row.
///
/// # Examples
/// ```
/// use numeric_table::sparse::SvmlightLabels;
/// let one_each = SvmlightLabels::from(vec![1.0, -1.0]);
/// assert_eq!((one_each.row_count(), one_each.row(1)), (2, &[-1.0][..]));
/// let sets = SvmlightLabels::sets([vec![1.0, 3.0], vec![]]);
/// assert_eq!((sets.row_count(), sets.row(0)), (2, &[1.0, 3.0][..]));
/// ```
#[derive(Clone, Debug)]
pub struct SvmlightLabels {
    /// All labels, row by row.
    values: Array<f64>,
    /// The end of the labels of each row; `None` if each row has one label. Ascending; the last one is the number of
    /// labels.
    ends: Option<Vec<usize>>,
}

impl SvmlightLabels {
    /// Creates labels for rows with any number of labels each.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::sparse::SvmlightLabels;
    /// let labels = SvmlightLabels::sets([&[2.0][..], &[], &[1.0, 2.0]]);
    /// assert_eq!(labels.row(2), [1.0, 2.0]);
    /// assert!(labels.array().is_none()); // not one per row
    /// ```
    pub fn sets<L: AsRef<[f64]>>(rows: impl IntoIterator<Item = L>) -> Self {
        let (mut values, mut ends) = (Vec::new(), Vec::new());
        for row in rows {
            values.extend_from_slice(row.as_ref());
            ends.push(values.len());
        }
        Self::from_sets(values, ends)
    }

    pub(super) fn from_sets(values: Vec<f64>, ends: Vec<usize>) -> Self {
        Self { values: values.into(), ends: Some(ends) }
    }

    /// Returns the number of rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::sparse::SvmlightLabels;
    /// assert_eq!(SvmlightLabels::sets([vec![1.0, 3.0], vec![]]).row_count(), 2);
    /// ```
    pub fn row_count(&self) -> usize {
        self.ends.as_ref().map_or(self.values.len(), Vec::len)
    }

    /// Returns the labels of a row; an empty slice for a row that does not exist.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::sparse::SvmlightLabels;
    /// let labels = SvmlightLabels::from(vec![1.0, -1.0]);
    /// assert_eq!((labels.row(0), labels.row(2)), (&[1.0][..], &[][..]));
    /// ```
    pub fn row(&self, row: usize) -> &[f64] {
        let range = match &self.ends {
            None => row..row.saturating_add(1),
            Some(ends) => {
                let start = row.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or_default();
                start..ends.get(row).copied().unwrap_or_default()
            }
        };
        self.values.get(range).unwrap_or_default()
    }

    /// Returns the array of labels, if each row has one.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::sparse::SvmlightLabels;
    /// assert_eq!(SvmlightLabels::from(vec![1.0, -1.0]).array().unwrap()[..], [1.0, -1.0]);
    /// ```
    pub fn array(&self) -> Option<&Array<f64>> {
        self.ends.is_none().then_some(&self.values)
    }

    /// Returns the labels as a table of one column that shares their memory.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the rows have sets of labels.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, sparse::SvmlightLabels};
    /// let table = SvmlightLabels::from(vec![1.0, -1.0]).to_table()?;
    /// assert_eq!((table.shape(), table.value::<f64>(1, 0)?), (Shape { rows: 2, columns: 1 }, -1.0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_table(&self) -> Result<HomogenNumericTable<f64>> {
        let rows = self.row_count();
        if self.ends.is_some() {
            return Err(Error::new(ErrorKind::LengthMismatch { expected: rows, actual: self.values.len() }));
        }
        HomogenNumericTable::from_array(self.values.clone(), Shape { rows, columns: 1 })
    }
}

/// One label per row, without a copy.
impl From<Array<f64>> for SvmlightLabels {
    fn from(values: Array<f64>) -> Self {
        Self { values, ends: None }
    }
}

/// One label per row, without a copy.
impl From<Vec<f64>> for SvmlightLabels {
    fn from(values: Vec<f64>) -> Self {
        Self::from(Array::from(values))
    }
}

/// Compares the labels row by row. One label per row equals sets of one label.
impl PartialEq for SvmlightLabels {
    fn eq(&self, other: &Self) -> bool {
        let rows = self.row_count();
        rows == other.row_count() && (0..rows).all(|row| self.row(row) == other.row(row))
    }
}
