//! A table of many files as a table of DataFusion.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use numeric_table::Shards;

use crate::open::Access;
use crate::run::{Run, runs};
use crate::types::schema_of;

/// [`Shards`] as a table of DataFusion: columns of numbers without nulls, named as the dictionary has it, `column_0`
/// and so on if it has no names. SQL takes names with capitals in quotes only.
///
/// Columns have the element types of the files, but for `bf16`, which Arrow lacks: it is widened to `Float32`.
/// Categories are the numbers that the files hold.
///
/// A query reads the shards in as many partitions as the session has
/// [`target_partitions`](datafusion::prelude::SessionConfig::with_target_partitions), each of consecutive shards, with
/// a thread that reads and at most two batches that wait. Each shard is opened when its turn comes, and compared with
/// what is known of it. Only columns that the query names are made arrays; filters are not applied here, but by
/// DataFusion.
///
/// The order of rows is that of the files within a partition only, and partial results of partitions are merged in any
/// order: **sums of floats may differ in the last bits** from run to run, and from
/// [`Shards::reduce`](numeric_table::Shards::reduce), which is the same always.
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
    /// Creates a table whose files are read: row-major ones some megabytes at a time, all others whole, when their turn
    /// comes. O(columns): nothing is opened yet.
    ///
    /// # Errors
    /// [`Plan`](datafusion::error::DataFusionError::Plan) if two columns have the same name.
    ///
    /// # Examples
    /// ```
    /// use datafusion::catalog::TableProvider;
    /// use numeric_table::{Shards, prelude::*};
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

    /// Creates a table whose files are mapped when their turn comes: columns of column-major ones are the file's
    /// memory, and of any, only what the query names is read from the disk. Files of other kinds of tables than the
    /// homogeneous one are loaded.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    ///
    /// # Safety
    /// That of [`HomogenNumericTable::map`](numeric_table::HomogenNumericTable#method.map), for every file: no file is
    /// written to or truncated while a query of the table runs, or a batch or an array lives that it returned.
    /// Replacing and removing files is fine.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Shards, prelude::*};
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
        // Columns are chosen by the runs: the plan itself would have all of them made arrays first.
        Ok(Arc::new(StreamingTableExec::try_new(schema.clone(), partitions, None, [], false, limit)?))
    }
}
