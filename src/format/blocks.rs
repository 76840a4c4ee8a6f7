//! The rows of a file, block by block: one after the other in one buffer, or on several threads with a buffer for each.

#[cfg(feature = "rayon")]
use std::sync::Arc;

use super::reader::TableReader;
use crate::array::Array;
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
#[cfg(feature = "rayon")]
use crate::base::parallel::{self, IndexedParallelIterator};
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::block::BlockMut;
#[cfg(feature = "rayon")]
use crate::block::{Buffer, Cuts, Pool, Pooled};
use crate::storage::stored::Stored;
use crate::table::Region;
use crate::window::AnySliceMut;

impl TableReader {
    /// Iterates over all rows in blocks of `rows_per_block`. One buffer is reused for every block, and the last block
    /// may be shorter.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if `rows_per_block` is 0; [`ErrorKind::SizeOverflow`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let reader = TableReader::open(&path)?;
    /// let mut blocks = reader.row_blocks::<f32>(2)?;
    /// assert_eq!(blocks.next_block()?.unwrap()[..], [1.0, 2.0, 3.0, 4.0]);
    /// assert_eq!(blocks.next_block()?.unwrap().row_range(), 2..3);
    /// assert!(blocks.next_block()?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn row_blocks<U: Element>(&self, rows_per_block: usize) -> Result<FileBlocks<'_, U>> {
        if rows_per_block == 0 {
            return Err(Error::empty_blocks());
        }
        let Shape { rows, columns } = self.file.shape;
        let largest = Shape { rows: rows_per_block.min(rows), columns };
        let values = Array::zeros(largest.element_count_of(U::TYPE)?)?;
        Ok(FileBlocks {
            reader: self,
            rows_per_block,
            next_row: 0,
            values,
            stored: Stored::new(self.file.element_type),
            meter: self.whole_meter(),
        })
    }

    /// Returns a parallel iterator over the blocks of [`row_blocks`](Self::row_blocks), on the caller's rayon pool.
    /// Several threads read from the file and convert values at the same time.
    ///
    /// Blocks are ordered by index where that matters, as in `collect` or `enumerate`, and otherwise unordered;
    /// [`row_range`](BlockMut::row_range) returns their position. Each block has its own buffer, which a later block
    /// reuses after the block is dropped, so the number of buffers is the number of blocks that exist at the same time.
    /// Nothing is written back to the file. Without the feature `rayon`, use [`row_blocks`](Self::row_blocks) with its
    /// single buffer. For a column-major file, a few blocks of many rows are best.
    ///
    /// # Errors
    /// The errors of [`row_blocks`](Self::row_blocks). Each item can fail with the errors of
    /// [`next_block`](FileBlocks::next_block).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::TableReader, prelude::*};
    /// use rayon::iter::ParallelIterator;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let reader = TableReader::open(&path)?;
    /// let sums: Result<Vec<f64>, Error> =
    ///     reader.par_row_blocks::<f64>(2)?.map(|block| Ok(block?.iter().sum())).collect();
    /// assert_eq!(sums?, [10.0, 11.0]); // in the order of the rows
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "rayon")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rayon")))]
    pub fn par_row_blocks<U: Element>(
        &self,
        rows_per_block: usize,
    ) -> Result<impl IndexedParallelIterator<Item = Result<BlockMut<'_, U>>>> {
        let Shape { rows, columns } = self.shape();
        let cuts = Cuts::new(rows, rows_per_block)?;
        let room = Shape { rows: rows_per_block.min(rows), columns }.element_count_of(U::TYPE)?;
        let (buffers, stored, meter) = (Arc::new(Pool::<Buffer<U>>::new()), Pool::new(), self.whole_meter());
        Ok(parallel::map_indices(cuts.count(), move |index| {
            let rows = cuts.block(index);
            let mut values = Pooled::new(&buffers, room, rows.len() * columns)?;
            let mut read = stored.take().unwrap_or_else(|| Stored::new(self.element_type()));
            // Other threads have their own blocks.
            let outcome = parallel::serially(|| {
                self.read_into(rows.clone(), AnySliceMut::new(values.as_mut_slice()), &mut read, None)
            });
            stored.put(read);
            outcome?;
            meter.add(self.file.size_of_rows(rows.len()));
            Ok(BlockMut::pooled(values, Region { rows, columns: 0..columns }))
        }))
    }
}

/// The rows of a file, block by block: see [`TableReader::row_blocks`].
///
/// A block is writable: it is the buffer itself, and changes are not written to the file. A file that exceeds memory
/// can therefore be transformed into another one in a single loop with one buffer, read in the type for computing and
/// written in the type for storage:
/// ```
/// use numeric_table::{files::{TableReader, TableWriter}, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// # let [path, scaled] = ["table.ntb", "scaled.ntb"].map(|name| folder.path().join(name));
/// HomogenNumericTable::from_rows(&[[1_i16, 20], [3, 40], [5, 60]])?.save(&path)?;
/// let reader = TableReader::open(&path)?; // of `i16`
/// let mut writer = TableWriter::<f32>::create(&scaled, reader.shape().columns, None)?;
/// let mut blocks = reader.row_blocks::<f64>(2)?;
/// while let Some(mut block) = blocks.next_block()? {
///     block.iter_rows_mut().for_each(|row| row[1] /= 10.0); // in place
///     writer.append(&block)?; // from `f64` to `f32`: values that do not fit are errors
/// }
/// writer.finish()?;
/// assert_eq!(HomogenNumericTable::<f32>::load(&scaled)?.as_slice()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileBlocks<'r, U> {
    reader: &'r TableReader,
    rows_per_block: usize,
    next_row: usize,
    values: Array<U>,
    stored: Stored,
    meter: Meter,
}

impl<U: Element> FileBlocks<'_, U> {
    /// Reads the next block, which replaces the previous one. Returns `None` after the last one. After an error, the
    /// next call tries the same block again.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; [`ErrorKind::OutOfMemory`]; [`ErrorKind::Format`] if the file has become shorter since it was
    /// opened.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{files::TableReader, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("table.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?.save(&path)?;
    /// let (reader, mut rows) = (TableReader::open(&path)?, 0);
    /// let mut blocks = reader.row_blocks::<i16>(2)?;
    /// while let Some(block) = blocks.next_block()? {
    ///     rows += block.row_range().len();
    /// }
    /// assert_eq!(rows, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_block(&mut self) -> Result<Option<BlockMut<'_, U>>> {
        let Shape { rows: row_count, columns } = self.reader.shape();
        if self.next_row == row_count {
            return Ok(None);
        }
        let end = self.next_row.saturating_add(self.rows_per_block).min(row_count);
        let rows = self.next_row..end;
        let values = &mut self.values.mutable_data()?[..rows.len() * columns];
        self.reader.read_into(rows.clone(), AnySliceMut::new(values), &mut self.stored, None)?;
        self.next_row = end;
        self.meter.add(self.reader.file.size_of_rows(rows.len()));
        Ok(Some(BlockMut::staged(values, Region { rows, columns: 0..columns })))
    }
}
