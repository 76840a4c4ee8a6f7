//! Record batches of more and more rows, columns and tables cost what their pages say: counted as in `tests/growth` of
//! `numeric-table`.

#[allow(dead_code)] // the meter counts more than is asked here
#[path = "../../../../tests/growth/meter.rs"]
mod meter;

use meter::Cost::Each;
use numeric_table::prelude::*;
use numeric_table::{RowMergedNumericTable, SoaNumericTable};
use numeric_table_arrow::prelude::*;

/// Hides the constant cost of a batch, so that the growth of the rest shows.
const LEAST: usize = 100;

fn there_and_back(what: &str, make: impl Fn(usize) -> Box<dyn NumericTable>) {
    meter::check(what, Each, LEAST, make, |table, _| {
        let batch = table.to_record_batch().unwrap();
        drop(SoaNumericTable::from_record_batch(&batch).unwrap());
    });
}

fn filled(rows: usize, columns: usize, layout: DataLayout) -> Table<f32> {
    Table::full_with_layout(Shape { rows, columns }, 1.0_f32, layout).unwrap()
}

fn arrays(rows: usize, columns: usize) -> SoaNumericTable {
    let mut table = filled(rows, columns, DataLayout::ColumnMajor).to_columns().unwrap();
    table.set_column(1, vec![1_u8; rows]).unwrap();
    table
}

#[test]
fn record_batches_of_many_rows_cost_what_their_pages_say() {
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        there_and_back("homogeneous", |rows| Box::new(filled(rows, 3, layout)));
    }
    there_and_back("structure of arrays", |rows| Box::new(arrays(rows, 3)));
    there_and_back("tables end to end", |tables| {
        let parts = (0..tables).map(|_| Box::new(filled(1, 3, DataLayout::RowMajor)) as Box<dyn NumericTable>);
        Box::new(RowMergedNumericTable::new(parts).unwrap())
    });
}

#[test]
fn record_batches_of_many_columns_cost_what_their_pages_say() {
    there_and_back("homogeneous", |columns| Box::new(filled(3, columns, DataLayout::RowMajor)));
    there_and_back("structure of arrays", |columns| Box::new(arrays(3, columns)));
}
