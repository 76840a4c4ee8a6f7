//! The rows of an object block by block. The next block is requested while one is in use.

use std::ops::Range;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use numeric_table::internal::{Meter, StoredValues};
use numeric_table::table::spi::Region;
use numeric_table::{Array, BlockMut, Element, Error, ErrorKind, Result, Shape};

use crate::RemoteTable;

/// Number of blocks that are requested at a time: the one that the caller waits for, and the next.
const AHEAD: usize = 2;

impl RemoteTable {
    /// Iterates over all rows in blocks of `rows_per_block`. The last block may be shorter.
    ///
    /// Each call also requests the next block. A store's client that receives on its own tasks receives it while the
    /// caller works on the current block. This takes the memory of three blocks, or of six for a column-major object.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] for blocks of no rows;
    /// [`ErrorKind::TableKindMismatch`] if the table is not homogeneous;
    /// [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// save_to_store(&store, &path, &table, StoreOptions::new()).await?;
    /// let remote = RemoteTable::open(store, &path).await?;
    /// let mut sums = [0.0; 2];
    /// let mut blocks = remote.row_blocks::<f64>(2)?;
    /// while let Some(block) = blocks.next_block().await? {
    ///     for row in block.iter_rows() {
    ///         sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    ///     }
    /// }
    /// assert_eq!(sums, [9.0, 12.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn row_blocks<U: Element>(&self, rows_per_block: usize) -> Result<RemoteBlocks<'_, U>> {
        let (values, Shape { rows, columns }) = (self.homogeneous()?, self.shape());
        if rows_per_block == 0 {
            let name = "the number of rows of a block".into();
            return Err(Error::new(ErrorKind::ParameterOutOfRange {
                name,
                value: 0.0,
                allowed: "at least 1 is needed".into(),
            }));
        }
        Shape { rows: rows_per_block.min(rows), columns }.element_count_of(U::TYPE)?;
        Ok(RemoteBlocks {
            table: self,
            values,
            rows_per_block,
            next: 0,
            requested: 0,
            coming: FuturesOrdered::new(),
            block: Array::new(),
            meter: Arc::new(self.whole_meter()),
        })
    }

    async fn read_block<U: Element>(
        &self,
        values: StoredValues,
        rows: Range<usize>,
        meter: Arc<Meter>,
    ) -> Result<Array<U>> {
        let shape = Shape { rows: rows.len(), ..values.shape };
        let mut array = Array::zeros(shape.element_count_of(U::TYPE)?)?;
        let read = self.read_rows(values, rows, array.mutable_data()?, &meter).await;
        read.map_err(|error| self.object.name(error))?;
        Ok(array)
    }
}

/// The rows of an object, block by block: see [`RemoteTable::row_blocks`].
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use numeric_table::prelude::*;
/// # use numeric_table_object_store::{RemoteBlocks, RemoteTable, StoreOptions, save_to_store};
/// # use object_store::{memory::InMemory, path::Path};
/// # pollster::block_on(async {
/// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
/// # save_to_store(&store, &path, &HomogenNumericTable::from_rows(&[[1_i16, 2, 3]])?, StoreOptions::new()).await?;
/// let remote = RemoteTable::open(store, &path).await?;
/// let mut blocks: RemoteBlocks<'_, f32> = remote.row_blocks(100)?;
/// assert_eq!(blocks.next_block().await?.unwrap()[..], [1.0, 2.0, 3.0]);
/// # Ok::<(), numeric_table::Error>(())
/// # }).unwrap();
/// ```
pub struct RemoteBlocks<'r, U> {
    table: &'r RemoteTable,
    values: StoredValues,
    rows_per_block: usize,
    /// The index of the next block, and of the first one that has not been requested.
    next: usize,
    requested: usize,
    /// The blocks in between.
    coming: FuturesOrdered<BoxFuture<'r, Result<Array<U>>>>,
    block: Array<U>,
    meter: Arc<Meter>,
}

impl<U: Element> RemoteBlocks<'_, U> {
    /// Returns the rows of a block; `None` past the last one.
    fn rows_of(&self, block: usize) -> Option<Range<usize>> {
        let (start, rows) = (block.checked_mul(self.rows_per_block)?, self.table.shape().rows);
        (start < rows).then(|| start..start.saturating_add(self.rows_per_block).min(rows))
    }

    /// Waits for the next block, which replaces the previous one. Returns `None` after the last block. A block is a
    /// writable buffer; writing to it does not change the object.
    ///
    /// After an error, the next call requests the same block again, and progress counts its bytes again. Dropping a
    /// call loses nothing: the next call continues to wait.
    ///
    /// # Errors
    /// Those of [`RemoteTable::load_rows`].
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
    /// # use object_store::{memory::InMemory, path::Path};
    /// # pollster::block_on(async {
    /// # let (store, path) = (Arc::new(InMemory::new()), Path::from("table.ntb"));
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// save_to_store(&store, &path, &table, StoreOptions::new()).await?;
    /// let (remote, mut rows) = (RemoteTable::open(store, &path).await?, Vec::new());
    /// let mut blocks = remote.row_blocks::<i16>(2)?;
    /// while let Some(block) = blocks.next_block().await? {
    ///     rows.push(block.row_range());
    /// }
    /// assert_eq!(rows, [0..2, 2..3]);
    /// # Ok::<(), numeric_table::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn next_block(&mut self) -> Result<Option<BlockMut<'_, U>>> {
        while self.coming.len() < AHEAD
            && let Some(rows) = self.rows_of(self.requested)
        {
            self.coming.push_back(Box::pin(self.table.read_block(self.values, rows, self.meter.clone())));
            self.requested += 1;
        }
        match self.coming.next().await {
            None => return Ok(None),
            Some(Ok(block)) => self.block = block,
            Some(Err(error)) => {
                self.coming = FuturesOrdered::new();
                self.requested = self.next;
                return Err(error);
            }
        }
        let rows = self.rows_of(self.next).unwrap_or_default(); // never: it has been requested
        self.next += 1;
        let columns = 0..self.table.shape().columns;
        Ok(Some(BlockMut::staged(self.block.mutable_data()?, Region { rows, columns })))
    }
}
