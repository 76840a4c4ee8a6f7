//! Writes a table as an Arrow IPC file, which Polars, pandas, DuckDB and others can read, and reads such a file as a
//! table.
//!
//! ```text
//! cargo run --release -p more-examples --example arrow_ipc
//! ```

#[path = "../common/mod.rs"]
mod common;

use std::fs::File;

use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use common::{heading, load};
use numeric_table::{interop::CopyPolicy, prelude::*};
use numeric_table_arrow::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?; // removed when `main` returns
    let path = folder.path().join("wine.arrow");

    heading("from a column-major table: every column of the batch is the memory of the table");
    let table = load("wine.csv")?.to_layout(DataLayout::ColumnMajor)?;
    let batch = table.to_record_batch_with(CopyPolicy::Never)?;
    println!("{} rows and {} columns, nothing copied", batch.num_rows(), batch.num_columns());

    heading("a file of three batches");
    let mut writer = FileWriter::try_new(File::create(&path)?, &batch.schema())?;
    for start in (0..batch.num_rows()).step_by(64) {
        writer.write(&batch.slice(start, 64.min(batch.num_rows() - start)))?;
    }
    writer.finish()?;
    println!("{} bytes, {} of them values", path.metadata()?.len(), table.array()?.size_in_bytes());

    heading("and back, with names, row-major, as f32");
    let reader = FileReader::try_new(File::open(&path)?, None)?;
    println!("{} batches", reader.num_batches());
    let options = ArrowOptions::new().convert(ConversionPolicy::Saturate);
    let copy = HomogenNumericTable::<f32>::read_record_batches(reader, options)?;
    println!("{}", copy.display().max_rows(4));
    assert_eq!(copy, table.convert::<f32>()?);

    heading("what a table cannot hold is an error that says where");
    let reader = FileReader::try_new(File::open(&path)?, None)?;
    println!("{}", HomogenNumericTable::<u8>::read_record_batches(reader, ArrowOptions::new()).unwrap_err());
    let reader = FileReader::try_new(File::open(&path)?, None)?;
    let exact = ArrowOptions::new().convert(ConversionPolicy::Exact);
    println!("{}", HomogenNumericTable::<u8>::read_record_batches(reader, exact).unwrap_err());
    Ok(())
}
