//! What is made of a table: files, archives and statistics, of more and more rows, columns and tables.

use numeric_table::prelude::*;
use numeric_table::{
    AosNumericTable, Partial, SoaNumericTable, files,
    statistics::{
        BasicStatistics, Covariance, GramMatrix, GroupStatistics, Histogram, HistogramBins, QuantileSketch, Quantiles,
    },
    table::RecordLayout,
};

use super::meter::Cost::{Each, Fixed};
use super::{Call, check_all};

/// Enough for what a file costs whatever is in it not to hide how the rest grows.
const LEAST: usize = 100;

const CALLS: &[Call] = &[
    ("save, load", Each, |table| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.ntb");
        table.save_with(&path, SaveOptions::new().durable(false)).unwrap();
        assert_eq!(files::load(&path).unwrap().shape(), table.shape());
    }),
    ("from_bytes", Each, |table| drop(files::from_bytes(&table.to_bytes().unwrap()).unwrap())),
    ("CSV", Each, |table| {
        #[cfg(feature = "csv")]
        table.write_csv_to(&mut Vec::new(), numeric_table::csv::CsvWriteOptions::new()).unwrap();
        drop(table.head(1));
    }),
    (".npy", Each, |table| {
        #[cfg(feature = "npy")]
        if table.uniform_type().is_some() {
            let mut bytes = Vec::new();
            table.write_npy(&mut bytes).unwrap();
            drop(numeric_table::npy::read(&bytes[..]).unwrap());
        }
        drop(table.head(1));
    }),
    ("BasicStatistics and its bytes", Each, |table| {
        let found = BasicStatistics::compute(table).unwrap();
        drop(BasicStatistics::from_bytes(&found.to_bytes().unwrap()).unwrap());
    }),
    ("Histogram", Each, |table| {
        let bins = HistogramBins::uniform(0.0, 2.0, 4).unwrap();
        drop(Histogram::compute(table, &bins).unwrap());
    }),
    ("Quantiles", Each, |table| drop(Quantiles::compute(table, &[0.25, 0.5]).unwrap())),
    ("QuantileSketch", Each, |table| drop(QuantileSketch::compute(table).unwrap())),
    ("GroupStatistics", Each, |table| drop(GroupStatistics::compute(table, 0, 2).unwrap())),
];

/// What takes the square of the number of columns.
const SQUARES: &[Call] = &[
    ("Covariance", Each, |table| drop(Covariance::compute(table).unwrap())),
    ("GramMatrix", Each, |table| drop(GramMatrix::compute(table).unwrap())),
];

fn filled(rows: usize, columns: usize, layout: DataLayout) -> Table<f32> {
    Table::full_with_layout(Shape { rows, columns }, 1.0_f32, layout).unwrap()
}

fn arrays(rows: usize, columns: usize) -> SoaNumericTable {
    let mut table = filled(rows, columns, DataLayout::ColumnMajor).to_columns().unwrap();
    table.set_column(1, vec![1_u8; rows]).unwrap();
    table
}

#[test]
fn files_and_statistics_of_many_rows_cost_what_their_pages_say() {
    for calls in [CALLS, SQUARES] {
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            check_all(LEAST, |rows| Box::new(filled(rows, 3, layout)), calls);
        }
        check_all(LEAST, |rows| Box::new(arrays(rows, 3)), calls);
        check_all(LEAST, |tables| Box::new(super::tables::stacked(tables)), calls);
        let layout = RecordLayout::new(16).field("a", ElementType::F32, 0).unwrap();
        let layout = layout.field("b", ElementType::U8, 4).unwrap().field("c", ElementType::F64, 8).unwrap();
        check_all(LEAST, |rows| Box::new(AosNumericTable::zeros(&layout, rows).unwrap()), calls);
    }
}

#[test]
fn files_and_statistics_of_many_columns_cost_what_their_pages_say() {
    check_all(LEAST, |columns| Box::new(filled(3, columns, DataLayout::RowMajor)), CALLS);
    check_all(LEAST, |columns| Box::new(arrays(3, columns)), CALLS);
}

#[test]
fn calls_of_a_homogeneous_table_alone_cost_what_their_pages_say() {
    use super::meter::check;
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        let other = match layout {
            DataLayout::RowMajor => DataLayout::ColumnMajor,
            _ => DataLayout::RowMajor,
        };
        let make = |rows| filled(rows, 3, layout);
        check("slice_rows, clone", Fixed, LEAST, make, |table, rows| {
            drop((table.slice_rows(1..rows).unwrap(), table.clone()));
        });
        check("to_layout, convert_to, to_compact", Each, LEAST, make, |table, _| {
            drop((table.to_layout(other).unwrap(), table.to_compact().unwrap()));
            drop(table.convert_to::<i16>(other, ConversionPolicy::Exact).unwrap());
        });
        check("conversion_report", Each, LEAST, make, |table, rows| {
            assert_eq!(table.conversion_report::<u8>().unwrap().values, 3 * rows);
        });
        check("append, reserve_rows", Each, LEAST, make, |table, rows| {
            let mut grown = table.clone();
            grown.reserve_rows(rows).unwrap();
            grown.append(&vec![1.0_f32; 3 * rows]).unwrap();
        });
        check("set_array", Fixed, LEAST, make, |table, rows| {
            let array = table.array().unwrap().clone();
            table.set_array(array, rows).unwrap();
        });
    }
}
