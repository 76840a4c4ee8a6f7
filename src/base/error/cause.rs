//! The causes that an error of one kind can have.

/// How a table differs from the first of several tables: in
/// [`ErrorKind::UnequalTables`](super::ErrorKind::UnequalTables).
///
/// # Examples
/// ```
/// use numeric_table::{error::Difference, prelude::*};
/// let (two, three) = (HomogenNumericTable::from_rows(&[[1_u8, 2]])?, HomogenNumericTable::from_rows(&[[1_u8, 2, 3]])?);
/// let error = two.vstack(&[&three]).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::UnequalTables { difference: Difference::Columns, .. }));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Difference {
    /// The number of rows.
    Rows,
    /// The number of columns.
    Columns,
    /// The element type of a column.
    ElementType,
    /// The name of a column: it belongs to another column of table 0.
    Name,
    /// The labels of the categories of a column, or their order.
    Categories,
    /// The feature type, the name or the number of categories of a column.
    Description,
}

/// The defect of the row offsets and the indices of a sparse table: in
/// [`ErrorKind::SparseStructure`](super::ErrorKind::SparseStructure).
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, error::SparseFault, prelude::*};
/// let shape = Shape { rows: 1, columns: 4 };
/// let unsorted = CsrNumericTable::try_new(shape, vec![0_i32, 2], vec![3_i32, 1], vec![0.5, 1.5]).unwrap_err();
/// let fault = SparseFault::NotAscending;
/// assert!(matches!(unsorted.error.kind(), ErrorKind::SparseStructure { fault: found, .. } if *found == fault));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SparseFault {
    /// Their element type is not an index type.
    Type,
    /// There are too few or too many of them for the rows or the values.
    Count,
    /// The offsets descend or do not begin at the expected value.
    Offsets,
    /// An index is outside the table.
    OutOfRange,
    /// The indices of a row do not ascend, or repeat a column.
    NotAscending,
}

/// Why values do not determine a result: in [`ErrorKind::NotSolvable`](super::ErrorKind::NotSolvable).
///
/// # Examples
/// ```
/// use numeric_table::{error::Unsolvable, prelude::*, statistics::GroupStatistics};
/// let table = HomogenNumericTable::from_rows(&[[0.0, 5.0], [1.0, 6.0]])?;
/// let error = GroupStatistics::compute(&table, 0, None).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::NotSolvable { cause: Unsolvable::UnknownCategories, .. }));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unsolvable {
    /// Sums are NaN or infinite.
    NotFinite,
    /// A feature is constant within a class.
    Constant,
    /// Within rounding error, a column is constant or a linear combination of the columns before it.
    Dependent,
    /// The features are nearly collinear: fewer than six digits of the result would be correct.
    IllConditioned,
    /// The number of categories of a column is not known.
    UnknownCategories,
}
