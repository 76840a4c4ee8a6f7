//! Memory-mapping of files as one table. The only unsafe code of this module.

use super::entry::Check;
use super::{FILES_AT_ONCE, Shards};
use crate::base::error::Result;
use crate::base::parallel::in_order;
use crate::format::StoredRows;
use crate::partial::Partial;
use crate::table::merged::RowMergedNumericTable;

impl Shards {
    /// Maps all files as one table that supports every kind of access. O(shards x columns), for any number of rows.
    /// Blocks within one file are borrowed from it; blocks that span files are copied.
    ///
    /// Each file is mapped as by [`HomogenNumericTable::map`](crate::HomogenNumericTable#method.map) and compared with
    /// its recorded data; a file of another kind of table is loaded. Checksums of values are not compared, unless you
    /// request [verification](Self::with_verification), which reads all files once. [`verify`](Self::verify) compares
    /// them without mapping.
    ///
    /// # Errors
    /// The errors of [`verify`](Self::verify) except for damaged values; [`ErrorKind::Io`](crate::ErrorKind::Io), also
    /// if the system permits no more maps. Linux permits 65,530 per program.
    ///
    /// # Safety
    /// As for [`HomogenNumericTable::map`](crate::HomogenNumericTable#method.map), for every file: as long as the
    /// table, or any array that shares its memory, is alive, no file may be written to or truncated. Files may be
    /// replaced or removed.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
    /// HomogenNumericTable::from_rows(&[[5_i16, 6]])?.save(folder.join("part-1.ntb"))?;
    /// // SAFETY: no other program uses the files, and they are only ever replaced.
    /// let table = unsafe { Shards::open(folder)?.map() }?;
    /// assert!(table.rows::<i16>(0..2)?.is_zero_copy());
    /// assert_eq!(table.rows::<i16>(1..3)?[..], [3, 4, 5, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn map(&self) -> Result<RowMergedNumericTable<'static>> {
        let map = |shard: usize| {
            let opened = self.open_shard(shard, Check::Description)?;
            if self.is_verified {
                opened.verify(None).map_err(|error| error.in_file(&self.entries[shard].path))?;
            }
            // SAFETY: the caller's promise.
            unsafe { opened.map() }.map_err(|error| error.in_file(&self.entries[shard].path))
        };
        let (shards, mut tables) = (0..self.entries.len(), Vec::new());
        let work = self.work_of(shards.len(), 0);
        in_order(shards, work, FILES_AT_ONCE, map, |table| {
            tables.push(table);
            Ok(())
        })?;
        RowMergedNumericTable::new(tables)
    }

    /// Computes the same result as [`reduce`](Self::reduce) from mapped files, without copying values first. The bits
    /// are the same if the result does not depend on the layout of the rows that it receives.
    ///
    /// # Errors
    /// The errors of [`reduce`](Self::reduce).
    ///
    /// # Safety
    /// As for [`map`](Self::map): during the call, and as long as any array that shares the memory of a file is alive,
    /// no file may be written to or truncated. The results in this library keep no such array. Your own may:
    /// `update` receives the mapped tables, and any [clone](crate::Array) or slice of their arrays shares the
    /// file's memory, even after this call has returned, and also in the results that it was merged into.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Partial, Result, prelude::*, shards::Shards};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Rows(u64);
    /// # impl Partial for Rows {
    /// #     const NAME: &'static str = "rows";
    /// #     fn new_like(&self) -> Result<Self> { Ok(Self(0)) }
    /// #     fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
    /// #         self.0 += rows.shape().rows as u64;
    /// #         Ok(())
    /// #     }
    /// #     fn merge(&mut self, other: &Self) -> Result<()> { self.0 += other.0; Ok(()) }
    /// # }
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.path().join("part-0.ntb"))?;
    /// // SAFETY: no other program uses the files, and they are only ever replaced.
    /// assert_eq!(unsafe { Shards::open(folder.path())?.reduce_mapped(&Rows(0)) }?.0, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn reduce_mapped<P: Partial>(&self, empty: &P) -> Result<P> {
        self.reduce_by(empty, &|opened| {
            if self.is_verified {
                opened.verify(None)?;
            }
            // SAFETY: the caller's promise, which covers all that the result keeps of the mapped memory.
            unsafe { opened.map() }.map(StoredRows::Table)
        })
    }
}
