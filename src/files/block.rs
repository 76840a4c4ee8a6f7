//! Some rows of a file that is read block by block.

use std::ops::{Deref, Range};

/// Some rows of a file, row by row in a buffer: a slice of all their values.
#[derive(Debug)]
pub struct FileBlock<'b, U> {
    values: &'b [U],
    rows: Range<usize>,
    columns: usize,
}

impl<'b, U> FileBlock<'b, U> {
    pub(crate) fn new(values: &'b [U], rows: Range<usize>, columns: usize) -> Self {
        Self { values, rows, columns }
    }

    /// Returns the rows of the file that these are.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let reader = TableReader::open(&path)?;
    /// assert_eq!(reader.row_blocks::<i16>(2)?.next_block()?.unwrap().rows(), 0..2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Walks over the rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let reader = TableReader::open(&path)?;
    /// assert_eq!(reader.row_blocks::<i16>(2)?.next_block()?.unwrap().iter_rows().nth(1), Some(&[3, 4][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = &[U]> + DoubleEndedIterator {
        (0..self.rows.len()).map(|row| &self.values[row * self.columns..(row + 1) * self.columns])
    }
}

impl<U> Deref for FileBlock<'_, U> {
    type Target = [U];

    fn deref(&self) -> &[U] {
        self.values
    }
}
