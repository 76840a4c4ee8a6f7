//! Verification of all files of a table, in parallel.

use super::entry::Check;
use super::{FILES_AT_ONCE, Shards};
use crate::base::error::Result;
use crate::base::parallel::in_order;
use crate::base::progress::Meter;

impl Shards {
    /// Checks all files in parallel, without keeping their content in memory. Each must be the file that the manifest
    /// lists or that was opened, and every checksum is compared, as by [`verify`](crate::files::verify). If several
    /// files are damaged, the error is about the first of them. Returns whether all files have checksums of values;
    /// without them, damage to values cannot be detected.
    ///
    /// # Errors
    /// [`ErrorKind::ShardChanged`](crate::ErrorKind::ShardChanged) if a file was replaced by another one;
    /// [`ErrorKind::UnequalTables`](crate::ErrorKind::UnequalTables) if its columns differ;
    /// [`ErrorKind::Format`](crate::ErrorKind::Format) with the first damaged chunk of a file;
    /// [`ErrorKind::Io`](crate::ErrorKind::Io). All of them name the file.
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, shards::Shards};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("part-0.ntb");
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(&path)?;
    /// let shards = Shards::from_paths([&path])?;
    /// assert!(shards.verify()?);
    /// HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 5]])?.save(&path)?; // of the same shape
    /// assert!(shards.verify().unwrap_err().to_string().contains("part-0.ntb: the file was replaced"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify(&self) -> Result<bool> {
        let meter = Meter::start(&self.hook, self.size_of_rows(self.row_count()));
        let check = |shard: usize| {
            let opened = self.open_shard(shard, Check::Values)?;
            let values = self.size_of_rows(self.entries[shard].rows);
            // Other kinds of tables do not store the values of all cells.
            let exact = Some(&meter).filter(|_| opened.payload_length() == values);
            let verified = opened.verify(exact).map_err(|error| error.in_file(&self.entries[shard].path))?;
            if exact.is_none() {
                meter.add(values);
            }
            Ok(verified)
        };
        let (shards, mut have_sums) = (0..self.entries.len(), true);
        let work = self.work_of(shards.len(), self.row_count());
        in_order(shards, work, FILES_AT_ONCE, check, |has_sums| {
            have_sums &= has_sums;
            Ok(())
        })?;
        Ok(have_sums)
    }
}
