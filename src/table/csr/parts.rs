//! What a sparse table is made of.

use crate::array::AnyArray;

/// The three arrays of a [`CsrNumericTable`](crate::CsrNumericTable): what it is made from, and what it gives back.
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, prelude::*, table::{CsrParts, Refused}};
/// let shape = Shape { rows: 2, columns: 4 };
/// let refused = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![3, 0, 1], vec![1.5_f32, 2.5, 3.5]);
/// let Refused { given, error } = refused.unwrap_err();
/// assert_eq!(error.to_string(), "the column indices do not ascend: row 0 has 0 at position 1, after 3");
/// let CsrParts { offsets, indices, values } = given; // nothing is lost
/// let table = CsrNumericTable::from_unsorted(shape, offsets, indices, values)?;
/// assert_eq!(table.values_as::<f32>()?, [2.5, 1.5, 3.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CsrParts {
    /// Where each row begins among the values, and where the last one ends: one number more than there are rows.
    pub offsets: AnyArray,
    /// The column of each value.
    pub indices: AnyArray,
    /// The values, row by row.
    pub values: AnyArray,
}
