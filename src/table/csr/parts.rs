//! The parts of a sparse table.

use crate::array::AnyArray;

/// The three arrays of a [`CsrNumericTable`](crate::CsrNumericTable), passed to its constructors and returned by them
/// on failure.
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, prelude::*, table::{CsrParts, Rejected}};
/// let shape = Shape { rows: 2, columns: 4 };
/// let refused = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![3, 0, 1], vec![1.5_f32, 2.5, 3.5]);
/// let Rejected { value, error } = refused.unwrap_err();
/// assert_eq!(error.to_string(), "the column indices do not ascend: row 0 has 0 at position 1, after 3");
/// let CsrParts { offsets, indices, values } = value; // nothing is lost
/// let table = CsrNumericTable::from_unsorted(shape, offsets, indices, values)?;
/// assert_eq!(table.values_slice::<f32>()?, [2.5, 1.5, 3.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CsrParts {
    /// The position of each row's first value, then the number of values: one number more than there are rows.
    pub offsets: AnyArray,
    /// The column of each value.
    pub indices: AnyArray,
    /// The values, row by row.
    pub values: AnyArray,
}

/// A row index, a column index and a value for each cell, in any order. Other libraries call this COO.
/// [`CsrNumericTable::from_triplets`](crate::CsrNumericTable::from_triplets) takes these arrays, and returns them on
/// failure.
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, prelude::*, table::{CooParts, Rejected}};
/// let shape = Shape { rows: 2, columns: 4 };
/// let refused = CsrNumericTable::from_triplets(shape, vec![1, 2], vec![0, 0], vec![1.5, 2.5]);
/// let Rejected { value: CooParts { rows, .. }, error } = refused.unwrap_err();
/// assert_eq!(error.to_string(), "the row indices have 2 at position 1: 0 to 1 are allowed");
/// assert_eq!(rows.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct CooParts {
    /// The row of each value.
    pub rows: AnyArray,
    /// The column of each value.
    pub columns: AnyArray,
    /// The values.
    pub values: AnyArray,
}
