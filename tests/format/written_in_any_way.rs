//! Random sequences of appending values, tables and rows of files, against rows in a `Vec`.

use std::fs;
use std::ops::Range;

use numeric_table::{
    SoaNumericTable,
    files::{SaveOptions, TableReader, TableWriter},
    prelude::*,
};
use proptest::prelude::*;
use test_support::tables::{assert_error, shape};

const COLUMNS: usize = 3;
/// The rows of each file that rows are copied from.
const ROWS: usize = 50;

/// What is appended next.
#[derive(Clone, Debug)]
enum Step {
    /// Rows in memory: a number of them, and the first value.
    Values(usize, i16),
    /// The same as `f64`.
    Converted(usize, i16),
    /// A table of a kind.
    Table(usize, usize, i16),
    /// Rows of a file.
    Rows(usize, Range<usize>),
    /// A table, or a file, with a value that does not fit in its last row.
    Refused(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let rows = (0..=ROWS, 0..=ROWS).prop_map(|(a, b)| a.min(b)..a.max(b));
    prop_oneof![
        (0_usize..20, -1000_i16..1000).prop_map(|(rows, first)| Step::Values(rows, first)),
        (0_usize..20, -1000_i16..1000).prop_map(|(rows, first)| Step::Converted(rows, first)),
        (0_usize..4, 0_usize..20, -1000_i16..1000).prop_map(|(kind, rows, first)| Step::Table(kind, rows, first)),
        (0_usize..5, rows).prop_map(|(file, rows)| Step::Rows(file, rows)),
        any::<bool>().prop_map(Step::Refused),
    ]
}

fn counted(rows: usize, first: i16) -> Vec<i16> {
    (0..(rows * COLUMNS) as i16).map(|i| first + i * 7).collect()
}

fn table(rows: usize, first: i16) -> HomogenNumericTable<i16> {
    HomogenNumericTable::from_array(counted(rows, first), shape(rows, COLUMNS)).unwrap()
}

fn of_kind(kind: usize, rows: usize, first: i16) -> Box<dyn NumericTable> {
    let table = table(rows, first);
    match kind {
        0 => Box::new(table),
        1 => Box::new(table.to_layout(DataLayout::ColumnMajor).unwrap()),
        2 => Box::new(table.convert::<f32>().unwrap()),
        _ => {
            let column = |column| table.column::<i64>(column, ..).unwrap().to_vec();
            let names = ["a", "b", "c"].into_iter().zip((0..COLUMNS).map(column));
            Box::new(SoaNumericTable::from_columns(names).unwrap())
        }
    }
}

proptest! {
    #[test]
    fn a_file_that_is_written_in_any_way_is_the_one_that_save_writes(
        steps in prop::collection::vec(step(), 0..12),
        chunk_size in prop::sample::select(vec![None, Some(5), Some(16), Some(12), Some(1 << 20)]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let [path, saved] = ["written.ntb", "saved.ntb"].map(|name| folder.path().join(name));
        let options = |chunk_size| SaveOptions::new().durable(false).checksums(chunk_size);
        let source = table(ROWS, -500);
        let by_columns = source.to_layout(DataLayout::ColumnMajor).unwrap();
        let wide = by_columns.convert::<f64>().unwrap();
        let sources: [(&dyn NumericTable, _); 5] =
            [(&source, Some(16)), (&source, Some(5)), (&source, None), (&by_columns, Some(16)), (&wide, Some(16))];
        let readers: Vec<TableReader> = (0..).zip(sources).map(|(index, (table, chunk_size))| {
            let path = folder.path().join(format!("{index}.ntb"));
            table.save_with(&path, options(chunk_size)).unwrap();
            TableReader::open(&path).unwrap()
        }).collect();
        let refused = HomogenNumericTable::from_rows(&[[1.0; COLUMNS], [2.0, 3.0, 1e9]]).unwrap();
        let refused_path = folder.path().join("refused.ntb");
        refused.save_with(&refused_path, options(None)).unwrap();
        let refused_rows = TableReader::open(&refused_path).unwrap();

        let mut model: Vec<i16> = Vec::new();
        let mut writer = TableWriter::<i16>::create_with(&path, COLUMNS, None, options(chunk_size)).unwrap();
        for step in steps {
            match step {
                Step::Values(rows, first) => {
                    writer.append(&counted(rows, first)).unwrap();
                    model.extend(counted(rows, first));
                }
                Step::Converted(rows, first) => {
                    let values: Vec<f64> = counted(rows, first).into_iter().map(f64::from).collect();
                    writer.append(&values).unwrap();
                    model.extend(counted(rows, first));
                }
                Step::Table(kind, rows, first) => {
                    writer.append_table(&*of_kind(kind, rows, first)).unwrap();
                    model.extend(counted(rows, first));
                }
                Step::Rows(file, rows) => {
                    writer.copy_rows(&readers[file], rows.clone()).unwrap();
                    model.extend(&counted(ROWS, -500)[rows.start * COLUMNS..rows.end * COLUMNS]);
                }
                Step::Refused(is_file) => {
                    let outcome =
                        if is_file { writer.copy_rows(&refused_rows, ..) } else { writer.append_table(&refused) };
                    let expected = model.len() / COLUMNS + 1;
                    assert_error!(outcome, ErrorKind::ValueNotRepresentable { row, column: 2, .. } if *row == expected);
                }
            }
            prop_assert_eq!(writer.shape(), shape(model.len() / COLUMNS, COLUMNS));
        }
        writer.finish().unwrap();
        let rows = model.len() / COLUMNS;
        let table = HomogenNumericTable::from_array(model, shape(rows, COLUMNS)).unwrap();
        table.save_with(&saved, options(chunk_size)).unwrap();
        prop_assert!(fs::read(&path).unwrap() == fs::read(&saved).unwrap());
    }
}
