//! Which of several causes a kind of error has.

/// What differs between two tables that are to be one: in [`ErrorKind::UnequalTables`](super::ErrorKind::UnequalTables).
///
/// # Examples
/// ```
/// use numeric_table::{Difference, prelude::*};
/// let (two, three) = (HomogenNumericTable::from_rows(&[[1_u8, 2]])?, HomogenNumericTable::from_rows(&[[1_u8, 2, 3]])?);
/// let error = two.vstack(&[&three]).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::UnequalTables { difference: Difference::Columns, .. }));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Difference {
    /// The numbers of rows.
    Rows,
    /// The numbers of columns.
    Columns,
    /// The element types of a column.
    ElementType,
    /// The names of a column: the name belongs to another column of the first table.
    Name,
    /// The words of the categories of a column, or their order.
    Categories,
    /// The feature type, the name or the number of categories of a column.
    Description,
}

/// What is wrong with the row offsets and the indices of a sparse table: in
/// [`ErrorKind::SparseStructure`](super::ErrorKind::SparseStructure).
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, SparseFault, prelude::*};
/// let shape = Shape { rows: 1, columns: 4 };
/// let unsorted = CsrNumericTable::try_new(shape, vec![0_i32, 2], vec![3_i32, 1], vec![0.5, 1.5]).unwrap_err();
/// let fault = SparseFault::NotAscending;
/// assert!(matches!(unsorted.error.kind(), ErrorKind::SparseStructure { fault: found, .. } if *found == fault));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SparseFault {
    /// They have a type that is none for indices.
    Type,
    /// There are too few or too many of them for the rows or the values.
    Count,
    /// The offsets do not begin where they should, or descend.
    Offsets,
    /// An index lies outside the table.
    OutOfRange,
    /// The indices of a row do not ascend, or name a column twice.
    NotAscending,
}

/// Why values do not determine a result: in [`ErrorKind::NotSolvable`](super::ErrorKind::NotSolvable).
///
/// # Examples
/// ```
/// use numeric_table::{GroupStatistics, Unsolvable, prelude::*};
/// let table = HomogenNumericTable::from_rows(&[[0.0, 5.0], [1.0, 6.0]])?;
/// let error = GroupStatistics::of(&table, 0, None).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::NotSolvable { cause: Unsolvable::UnknownCategories, .. }));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unsolvable {
    /// Sums are NaN or infinite.
    NotFinite,
    /// A feature has one value in all rows of a class.
    Constant,
    /// To within rounding, a column is constant or a linear combination of those before it.
    Dependent,
    /// The features nearly depend on each other: less than six digits of the result would be right.
    IllConditioned,
    /// The number of categories of a column is not known.
    UnknownCategories,
}
