//! A table of many files as a DataFusion table.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use numeric_table::shards::Shards;

use crate::open::Access;
use crate::run::{Run, runs};
use crate::types::schema_of;

/// [`Shards`] as a DataFusion table. All columns are numbers, with the names of the dictionary, or `column_0` and so on
/// if it has no names. SQL requires quotes around names with capitals. Missing values are null; NaN is a value.
///
/// Columns have the element types of the files, except for `bf16`, which Arrow lacks: it is widened to `Float32`.
/// Categories are the numbers in the files.
///
/// A query reads the shards in at most
/// [`target_partitions`](datafusion::prelude::SessionConfig::with_target_partitions) partitions of consecutive shards,
/// each with a reading thread and at most two waiting batches. Each shard is opened when its turn comes, and compared
/// with its known description. Only the columns that the query names become arrays. DataFusion applies filters, not
/// this table.
///
/// Rows are in the order of the files only within a partition, and partial results of partitions are merged in any
/// order. **Sums of floats may differ in the last bits** from run to run, and from
/// [`Shards::reduce`](numeric_table::shards::Shards::reduce), which is deterministic.
///
/// # Examples
/// See the [page of this crate](crate).
#[derive(Clone, Debug)]
pub struct ShardsTable {
    shards: Arc<Shards>,
    schema: SchemaRef,
    access: Access,
}

impl ShardsTable {
    /// Creates a table that reads its files: row-major ones a few megabytes at a time, all others completely, when
    /// their turn comes. O(columns): opens no files yet.
    ///
    /// # Errors
    /// [`Plan`](datafusion::error::DataFusionError::Plan) if two columns have the same name.
    ///
    /// # Examples
    /// ```
    /// use datafusion::catalog::TableProvider;
    /// use numeric_table::{prelude::*, shards::Shards};
    /// use numeric_table_datafusion::ShardsTable;
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save(folder.path().join("part-0.ntb"))?;
    /// let table = ShardsTable::new(Shards::open(folder.path())?)?;
    /// assert_eq!(table.schema().field(1).name(), "column_1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(shards: Shards) -> Result<Self> {
        Self::with(shards, Access::Loaded)
    }

    /// Creates a table that maps its files when their turn comes. Columns of column-major files are the file's memory.
    /// From any file, only the columns that the query names are read from the disk. Files of other kinds of tables than
    /// the homogeneous one are loaded.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    ///
    /// # Safety
    /// That of [`HomogenNumericTable::map`](numeric_table::HomogenNumericTable#method.map), for every file: no file may
    /// be written to or truncated while a query of the table runs, or while a batch or an array that it returned
    /// exists. Replacing and removing files is fine.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, shards::Shards};
    /// # use numeric_table_datafusion::ShardsTable;
    /// # let folder = tempfile::tempdir()?;
    /// HomogenNumericTable::from_rows(&[[1_i16, 2]])?.save(folder.path().join("part-0.ntb"))?;
    /// // SAFETY: no other program uses the files, and they are only ever replaced.
    /// let table = unsafe { ShardsTable::mapped(Shards::open(folder.path())?) }?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(unsafe_code)]
    pub unsafe fn mapped(shards: Shards) -> Result<Self> {
        Self::with(shards, Access::Mapped)
    }

    fn with(shards: Shards, access: Access) -> Result<Self> {
        let schema = Arc::new(schema_of(shards.dictionary())?);
        Ok(Self { shards: Arc::new(shards), schema, access })
    }
}

#[async_trait]
impl TableProvider for ShardsTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns: Arc<[usize]> =
            projection.map_or_else(|| (0..self.schema.fields().len()).collect(), |wanted| wanted[..].into());
        let schema: SchemaRef = Arc::new(self.schema.project(&columns)?);
        let partition = |range| -> Arc<dyn PartitionStream> {
            let (shards, access, columns) = (self.shards.clone(), self.access, columns.clone());
            Arc::new(Run { shards, range, access, columns, schema: schema.clone() })
        };
        let partitions = runs(&self.shards, session.config().target_partitions()).into_iter().map(partition).collect();
        // The runs select the columns: if the plan did so, all of them would become arrays first.
        Ok(Arc::new(StreamingTableExec::try_new(schema.clone(), partitions, None, [], false, limit)?))
    }
}
