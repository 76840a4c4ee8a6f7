//! SQL over many files: [`Shards`](numeric_table::shards::Shards) as a table of DataFusion.
//!
//! [`ShardsTable`] is a [`TableProvider`](datafusion::catalog::TableProvider) whose plan is DataFusion's own
//! [`StreamingTableExec`](datafusion::physical_plan::streaming::StreamingTableExec). It has at most the number of
//! partitions that the session requests. Each has consecutive shards, and opens them one at a time when DataFusion
//! requests rows. Every shard belongs to one partition, so that each row is read once. The README of this crate lists
//! the pitfalls of a custom plan.
//!
//! Columns whose values are contiguous in memory become Arrow arrays without a copy: those of column-major files and of
//! structures of arrays, [loaded](ShardsTable::new) or [mapped](ShardsTable::mapped). Columns of row-major files are
//! gathered, a batch at a time.
//!
//! ```
//! use std::sync::Arc;
//!
//! use datafusion::arrow::{array::AsArray, datatypes::Float64Type};
//! use datafusion::prelude::SessionContext;
//! use numeric_table::{prelude::*, shards::Shards};
//! use numeric_table_datafusion::ShardsTable;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?.save(folder.join("part-0.ntb"))?;
//! HomogenNumericTable::from_rows(&[[5_i16, 6]])?.save(folder.join("part-1.ntb"))?;
//!
//! let context = SessionContext::new();
//! context.register_table("shards", Arc::new(ShardsTable::new(Shards::open(folder)?)?))?;
//! let found = context.sql("SELECT avg(column_1) FROM shards").await?.collect().await?;
//! assert_eq!(found[0].column(0).as_primitive::<Float64Type>().value(0), 4.0);
//! # Ok(())
//! # }
//! ```

mod columns;
mod open;
mod run;
mod table;
mod types;

pub use table::ShardsTable;
