//! Rows of all columns as readers bring them, a step at a time.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Fields};
use numeric_table::Result;

use crate::error::failed;
use crate::plan::Part;

/// Rows of all columns.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) fields: Fields,
    /// One for each field, or only one. Those that are not chosen may be empty.
    pub(crate) columns: Vec<ArrayRef>,
    /// The number of the first of them: 0, or that of the only one.
    pub(crate) first_column: usize,
    pub(crate) rows: usize,
    /// The row of the table that the first row is, if errors count from there.
    pub(crate) first_row: Option<usize>,
    /// The file, for errors.
    #[cfg_attr(not(any(feature = "ipc", feature = "parquet")), expect(dead_code))]
    pub(crate) path: Option<Arc<Path>>,
}

impl Step {
    fn of_batch(batch: RecordBatch) -> Self {
        let (schema, columns, rows) = batch.into_parts();
        Self { fields: schema.fields().clone(), columns, first_column: 0, rows, first_row: None, path: None }
    }

    pub(crate) fn part(&self) -> Part<'_> {
        let (fields, columns) = (&self.fields, &self.columns[..]);
        let (first_column, rows, first_row) = (self.first_column, self.rows, self.first_row);
        Part { fields, columns, first_column, nulls: None, rows, first_row }
    }
}

/// Returns the batches of a reader as steps, which do not count rows over batches.
pub(crate) fn steps_of(reader: impl RecordBatchReader) -> impl Iterator<Item = Result<Step>> {
    reader.map(|batch: Result<RecordBatch, ArrowError>| batch.map(Step::of_batch).map_err(failed))
}
