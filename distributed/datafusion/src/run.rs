//! Consecutive shards, as one partition of a plan.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use datafusion::physical_plan::streaming::PartitionStream;
use futures::StreamExt;
use futures::stream::once;
use numeric_table::prelude::*;
use numeric_table::shards::{ShardInfo, Shards};

use crate::columns::column_of;
use crate::open::{Access, open, tables};
use crate::types::external;

/// Number of batches that wait for the consumer. The reading thread does not get further ahead.
const BATCHES_AHEAD: usize = 2;

/// Divides the shards into at most `count` runs of consecutive ones with about the same number of rows. Every run has
/// at least one shard.
pub(crate) fn runs(shards: &Shards, count: usize) -> Vec<Range<usize>> {
    let (all, count) = (shards.shape().rows as u128, count.max(1) as u128);
    let part_of = |rows: Range<usize>| {
        let middle = rows.start as u128 + rows.end as u128; // times 2
        (middle * count).checked_div(2 * all).map_or(0, |part| part.min(count - 1))
    };
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for (shard, file) in shards.files().enumerate() {
        let part = Some(part_of(file.rows));
        match runs.last_mut() {
            Some(run) if part == last => run.end = shard + 1,
            _ => runs.push(shard..shard + 1),
        }
        last = part;
    }
    runs
}

/// Some columns of consecutive shards.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) shards: Arc<Shards>,
    pub(crate) range: Range<usize>,
    pub(crate) access: Access,
    /// The requested columns.
    pub(crate) columns: Arc<[usize]>,
    /// Invariant: describes those columns.
    pub(crate) schema: SchemaRef,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("shards", &self.range).field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl PartitionStream for Run {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the rows in batches of at most the session's batch size. A thread for blocking work reads the files. It
    /// starts when the stream is first polled, and ends at the first batch after the stream was dropped.
    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (run, schema) = (self.clone(), self.schema.clone());
        let batch_rows = context.session_config().batch_size().max(1);
        let begin = async move {
            let mut builder = RecordBatchReceiverStreamBuilder::new(run.schema.clone(), BATCHES_AHEAD);
            let sender = builder.tx();
            builder.spawn_blocking(move || run.read(batch_rows, |batch| sender.blocking_send(Ok(batch)).is_ok()));
            builder.build()
        };
        Box::pin(RecordBatchStreamAdapter::new(schema, once(begin).flatten()))
    }
}

impl Run {
    /// Reads all shards, in order, and calls `send` with batches of their rows, until it returns `false`.
    fn read(&self, batch_rows: usize, mut send: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        for file in self.shards.files().skip(self.range.start).take(self.range.len()) {
            if !self.read_shard(&file, batch_rows, &mut send)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads one shard, and returns whether the consumer still wants rows.
    fn read_shard(
        &self,
        file: &ShardInfo<'_>,
        batch_rows: usize,
        send: &mut impl FnMut(RecordBatch) -> bool,
    ) -> Result<bool> {
        if self.columns.is_empty() {
            open(file).map_err(external)?; // the number of rows belongs to the expected file
            return Ok(send(self.batch(None, 0..file.rows.len())?));
        }
        for table in tables(file, self.access).map_err(external)? {
            let table = table.map_err(external)?;
            let row_count = table.row_count();
            for first in (0..row_count).step_by(batch_rows) {
                let rows = first..first.saturating_add(batch_rows).min(row_count);
                if !send(self.batch(Some(&*table), rows)?) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn batch(&self, table: Option<&dyn NumericTable>, rows: Range<usize>) -> Result<RecordBatch> {
        let columns = self.columns.iter().flat_map(|&column| Some(column_of(table?, rows.clone(), column)));
        let columns = columns.collect::<numeric_table::Result<Vec<_>>>().map_err(external)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates files with these numbers of rows, in a folder that must outlive them.
    fn files(rows: &[usize]) -> (tempfile::TempDir, Shards) {
        let folder = tempfile::tempdir().unwrap();
        for (shard, &rows) in rows.iter().enumerate() {
            let table = Table::<f32>::zeros(Shape { rows, columns: 1 }).unwrap();
            table.save(folder.path().join(format!("part-{shard:03}.ntb"))).unwrap();
        }
        let shards = Shards::open(folder.path()).unwrap();
        (folder, shards)
    }

    fn runs_of(rows: &[usize], count: usize) -> Vec<(usize, usize)> {
        runs(&files(rows).1, count).into_iter().map(|run| (run.start, run.end)).collect()
    }

    #[test]
    fn runs_have_about_as_many_rows_each() {
        assert_eq!(runs_of(&[10; 8], 4), [(0, 2), (2, 4), (4, 6), (6, 8)]);
        assert_eq!(runs_of(&[10; 7], 3), [(0, 2), (2, 5), (5, 7)]);
        assert_eq!(runs_of(&[70, 10, 10, 10], 2), [(0, 1), (1, 4)]);
        assert_eq!(runs_of(&[10, 10, 10, 70], 2), [(0, 3), (3, 4)]);
        assert_eq!(runs_of(&[5, 5, 5], 1), [(0, 3)]);
    }

    #[test]
    fn there_are_no_more_runs_than_files_nor_runs_without_files() {
        assert_eq!(runs_of(&[1, 1, 1], 64), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(runs_of(&[0, 0, 0], 4), [(0, 3)]);
        assert_eq!(runs_of(&[0, 1, 0], 2), [(0, 1), (1, 3)]);
        assert_eq!(runs_of(&[1, 1], 0), [(0, 2)]);
    }

    #[test]
    fn every_file_is_in_one_run() {
        let rows: Vec<usize> = (0..40).map(|shard| shard * 7919 % 23).collect();
        let (_folder, shards) = files(&rows);
        for count in 1..50 {
            let runs = runs(&shards, count);
            assert!(runs.len() <= count);
            assert!(runs.into_iter().flatten().eq(0..40));
        }
    }
}
