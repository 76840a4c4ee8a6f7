//! Compares queries on tables of many files with the results of the library.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::catalog::TableProvider;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::TryStreamExt;
use numeric_table::prelude::*;
use numeric_table::{
    AnyArray, Error, SoaNumericTable, files,
    shards::Shards,
    statistics::{BasicStatistics, GroupStatistics},
};
use numeric_table_datafusion::ShardsTable;
use test_support::{SmallNumber, for_each_element};

/// Rows of 2 columns, a group and a value, in files of every layout and kind, some of them empty.
fn grouped(folder: &Path, rows: &[usize]) -> Shards {
    let names = ["group", "value"].map(|name| Feature::new(ElementType::F64).named(name));
    let mut first = 0;
    for (shard, &rows) in rows.iter().enumerate() {
        let table = Table::from_fn(Shape { rows, columns: 2 }, |row, column| match column {
            0 => ((first + row) % 5) as f64,
            _ => (first + row) as f64 * 0.1 - 7.0,
        });
        first += rows;
        let table = table.unwrap().with_dictionary(names.iter().cloned().collect()).unwrap();
        save_as(&table, shard, &folder.join(format!("part-{shard:03}.ntb")));
    }
    Shards::open(folder).unwrap()
}

/// Saves a table row-major, column-major or as a structure of arrays, in turn.
fn save_as<T: Element>(table: &HomogenNumericTable<T>, turn: usize, path: &Path) {
    match turn % 3 {
        0 => table.save(path).unwrap(),
        1 => table.to_layout(DataLayout::ColumnMajor).unwrap().save(path).unwrap(),
        _ => {
            let columns = (0..table.column_count()).map(|column| {
                let values: Vec<T> = (0..table.row_count()).map(|row| table.value(row, column).unwrap()).collect();
                (format!("{column}"), AnyArray::from(values))
            });
            let mut arrays = SoaNumericTable::from_columns(columns).unwrap();
            arrays.set_dictionary(table.dictionary().clone()).unwrap();
            arrays.save(path).unwrap();
        }
    }
}

fn session(partitions: usize, batch_rows: usize, table: ShardsTable) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(batch_rows);
    let context = SessionContext::new_with_config(config);
    context.register_table("shards", Arc::new(table)).unwrap();
    context
}

/// The table loaded, and mapped.
#[allow(unsafe_code)]
fn both(shards: &Shards) -> [ShardsTable; 2] {
    // SAFETY: nobody writes to the files of a test.
    let mapped = unsafe { ShardsTable::mapped(shards.clone()) };
    [ShardsTable::new(shards.clone()).unwrap(), mapped.unwrap()]
}

async fn ask(context: &SessionContext, sql: &str) -> Result<RecordBatch, DataFusionError> {
    let frame = context.sql(sql).await?;
    let schema = Arc::new(frame.schema().as_arrow().clone());
    Ok(concat_batches(&schema, &frame.collect().await?)?)
}

/// A column of a result, as numbers.
fn numbers(batch: &RecordBatch, column: usize) -> Vec<f64> {
    cast(batch.column(column), &DataType::Float64).unwrap().as_primitive::<Float64Type>().values().to_vec()
}

/// The library's error that made a query fail.
fn source_of(error: &DataFusionError) -> &Error {
    match error.find_root() {
        DataFusionError::External(source) => source.downcast_ref::<Error>().expect("an error of the library"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn moments_of_groups_are_those_of_reduce() {
    let folder = tempfile::tempdir().unwrap();
    let shards = grouped(folder.path(), &[100, 37, 0, 1, 250, 64, 0]);
    let expected = shards.reduce(&GroupStatistics::new(2, 0, 5).unwrap()).unwrap();
    let sql = "SELECT count(*), min(value), max(value), avg(value), stddev(value) \
               FROM shards GROUP BY \"group\" ORDER BY \"group\"";
    for (partitions, batch_rows) in [(1, 8192), (2, 7), (5, 1), (64, 100)] {
        for table in both(&shards) {
            let found = ask(&session(partitions, batch_rows, table), sql).await.unwrap();
            assert_eq!(found.num_rows(), 5);
            let [rows, minima, maxima, means, deviations] = [0, 1, 2, 3, 4].map(|column| numbers(&found, column));
            for group in 0..5 {
                let value = expected.column(group, 1).unwrap();
                assert_eq!(rows[group], expected.row_count_of(group).unwrap() as f64);
                assert_eq!([minima[group], maxima[group]], [value.minimum(), value.maximum()]);
                // Partitions are merged in any order: the last bits differ.
                assert!((means[group] - value.mean()).abs() <= 1e-12 * value.maximum());
                let deviation = value.standard_deviation();
                assert!((deviations[group] - deviation).abs() <= 1e-10 * deviation);
            }
        }
    }
}

#[tokio::test]
async fn every_row_is_read_once_for_any_number_of_partitions() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = 0;
    for (shard, rows) in [3, 0, 1, 40, 2, 2, 2, 0, 11].into_iter().enumerate() {
        let table = Table::<f64>::from_fn(Shape { rows, columns: 1 }, |row, _| (first + row) as f64).unwrap();
        save_as(&table, shard, &folder.path().join(format!("part-{shard}.ntb")));
        first += rows;
    }
    let shards = Shards::open(folder.path()).unwrap();
    for partitions in 1..=12 {
        for table in both(&shards) {
            let context = session(partitions, 4, table);
            let mut rows = numbers(&ask(&context, "SELECT column_0 FROM shards").await.unwrap(), 0);
            rows.sort_by(f64::total_cmp);
            assert_eq!(rows, (0..61).map(f64::from).collect::<Vec<_>>());
            assert_eq!(numbers(&ask(&context, "SELECT count(*) FROM shards").await.unwrap(), 0), [61.0]);
        }
    }
}

#[tokio::test]
async fn rows_of_a_file_that_is_read_in_parts_keep_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 300_000; // 4.8 MB, more than a part
    let table = Table::<f64>::from_fn(Shape { rows, columns: 2 }, |row, column| (row * 2 + column) as f64).unwrap();
    table.save(folder.path().join("part-0.ntb")).unwrap();
    let shards = Shards::open(folder.path()).unwrap();
    for table in both(&shards) {
        let found = ask(&session(4, 8192, table), "SELECT column_1 FROM shards").await.unwrap();
        let expected: Vec<_> = (0..rows).map(|row| (row * 2 + 1) as f64).collect();
        assert!(numbers(&found, 0) == expected);
    }
}

#[test]
fn columns_of_all_element_types_arrive() {
    fn check<T: SmallNumber>() {
        let folder = tempfile::tempdir().unwrap();
        let shape = Shape { rows: 13, columns: 3 };
        let table = HomogenNumericTable::from_array(T::counting(39), shape).unwrap();
        (0..3).for_each(|turn| save_as(&table, turn, &folder.path().join(format!("part-{turn}.ntb"))));
        let shards = Shards::open(folder.path()).unwrap();
        let expected = shards.reduce(&BasicStatistics::new(3).unwrap()).unwrap();
        let last = expected.column(2).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        for table in both(&shards) {
            let is_arrow = match T::TYPE {
                ElementType::Bf16 => DataType::Float32,
                ElementType::F16 => DataType::Float16,
                _ => table.schema().field(0).data_type().clone(),
            };
            assert_eq!(*table.schema().field(2).data_type(), is_arrow);
            let context = session(3, 5, table);
            let sql = "SELECT count(column_2), min(column_2), max(column_2), avg(column_2) FROM shards \
                       WHERE column_0 + 2 = column_2";
            let found = runtime.block_on(ask(&context, sql)).unwrap();
            let found: Vec<_> = (0..4).flat_map(|column| numbers(&found, column)).collect();
            assert_eq!(found, [39.0, last.minimum(), last.maximum(), last.mean()], "{:?}", T::TYPE);
        }
    }
    for_each_element!(check);
}

#[tokio::test]
async fn batches_of_column_major_files_lie_beside_each_other_in_their_memory() {
    for turn in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let table = Table::<f64>::from_fn(Shape { rows: 50, columns: 2 }, |row, column| (row * 2 + column) as f64);
        save_as(&table.unwrap(), turn, &folder.path().join("part-0.ntb"));
        let shards = Shards::open(folder.path()).unwrap();
        for table in both(&shards) {
            let context = session(2, 8, table.clone());
            let plan = table.scan(&context.state(), None, &[], None).await.unwrap();
            let batches: Vec<_> = plan.execute(0, context.task_ctx()).unwrap().try_collect().await.unwrap();
            assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [8, 8, 8, 8, 8, 8, 2]);
            for column in 0..2 {
                let address =
                    |batch: &RecordBatch| batch.column(column).as_primitive::<Float64Type>().values().as_ptr();
                let first = address(&batches[0]);
                for (index, batch) in batches.iter().enumerate() {
                    assert_eq!(address(batch), first.wrapping_add(8 * index)); // slices of one array, no copies
                }
            }
        }
    }
}

#[tokio::test]
async fn only_columns_that_a_query_names_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let shards = grouped(folder.path(), &[10, 10, 10]);
    for table in both(&shards) {
        let context = session(2, 8192, table);
        let plan = context.sql("SELECT value FROM shards").await.unwrap().create_physical_plan().await.unwrap();
        let shown = datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string();
        assert!(shown.contains("StreamingTableExec: partition_sizes=2, projection=[value]"), "{shown}");
        let batches: Vec<_> = plan.execute(0, context.task_ctx()).unwrap().try_collect().await.unwrap();
        assert!(batches.iter().all(|batch| batch.num_columns() == 1));
        let found = ask(&context, "SELECT value, \"group\" FROM shards ORDER BY value").await.unwrap(); // reordered
        assert_eq!((numbers(&found, 0)[29], numbers(&found, 1)[29]), (29.0 * 0.1 - 7.0, 4.0));
    }
}

#[tokio::test]
async fn nan_is_larger_than_all_numbers_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let table = Table::from_rows(&[[1.0], [f64::NAN], [f64::INFINITY], [-2.0]]).unwrap();
    table.save(folder.path().join("part-0.ntb")).unwrap();
    let shards = Shards::open(folder.path()).unwrap();
    let expected = shards.reduce(&BasicStatistics::new(1).unwrap()).unwrap();
    assert_eq!(expected.column(0).unwrap().maximum(), f64::INFINITY); // the library skips it
    for table in both(&shards) {
        let sql = "SELECT count(column_0), min(column_0), max(column_0) FROM shards";
        let found = ask(&session(2, 8192, table), sql).await.unwrap();
        assert_eq!([numbers(&found, 0)[0], numbers(&found, 1)[0]], [4.0, -2.0]);
        assert!(numbers(&found, 2)[0].is_nan());
    }
}

#[tokio::test]
async fn tables_without_rows_are_empty() {
    let folder = tempfile::tempdir().unwrap();
    let shards = grouped(folder.path(), &[0, 0, 0]);
    for table in both(&shards) {
        let context = session(2, 8192, table);
        let found = ask(&context, "SELECT count(*), count(value), sum(value) FROM shards").await.unwrap();
        assert_eq!(found.column(0).as_primitive::<Int64Type>().value(0), 0);
        assert_eq!(found.column(1).as_primitive::<Int64Type>().value(0), 0);
        assert!(found.column(2).is_null(0));
        assert_eq!(ask(&context, "SELECT * FROM shards").await.unwrap().num_rows(), 0);
    }
}

#[tokio::test]
async fn an_error_of_a_shard_is_an_error_of_the_query_and_names_the_file() {
    type Spoil = fn(&PathBuf);
    let spoils: [Spoil; 4] = [
        |path| std::fs::remove_file(path).unwrap(),
        |path| std::fs::write(path, "no table").unwrap(),
        |path| std::fs::File::options().write(true).open(path).unwrap().set_len(100).unwrap(),
        |path| {
            let other = files::load(path).unwrap().convert::<f64>().unwrap();
            let mut other = other.slice_rows(..).unwrap();
            other.set_value(3, 1, 99.0).unwrap(); // the same number of rows, one of them different
            std::fs::remove_file(path).unwrap();
            other.save(path).unwrap();
        },
    ];
    for (spoil, shard) in spoils.iter().flat_map(|spoil| [(spoil, 0), (spoil, 1), (spoil, 2)]) {
        let folder = tempfile::tempdir().unwrap();
        let shards = grouped(folder.path(), &[20, 20, 20]);
        let path = folder.path().join(format!("part-{shard:03}.ntb"));
        spoil(&path);
        for table in both(&shards) {
            for sql in ["SELECT avg(value) FROM shards", "SELECT count(*) FROM shards"] {
                for partitions in [1, 3] {
                    let error = ask(&session(partitions, 8192, table.clone()), sql).await.unwrap_err();
                    let source = source_of(&error);
                    assert!(
                        matches!(
                            source.kind(),
                            ErrorKind::Io { .. } | ErrorKind::Format { .. } | ErrorKind::ShardChanged { .. }
                        ),
                        "{source:?}"
                    );
                    let message = error.to_string();
                    assert!(message.contains(path.to_str().unwrap()), "{message}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_query_that_has_enough_rows_opens_no_more_files() {
    let folder = tempfile::tempdir().unwrap();
    let shards = grouped(folder.path(), &[100, 100]);
    std::fs::remove_file(folder.path().join("part-001.ntb")).unwrap();
    for table in both(&shards) {
        let context = session(1, 8, table); // 13 batches, few of them waiting
        let found = ask(&context, "SELECT value FROM shards LIMIT 10").await.unwrap();
        assert_eq!(found.num_rows(), 10);
        assert!(ask(&context, "SELECT value FROM shards").await.is_err());
    }
}

#[test]
fn columns_of_the_same_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a", "a"].map(|name| Feature::new(ElementType::F64).named(name));
    let table = Table::<f64>::zeros(Shape { rows: 1, columns: 2 }).unwrap();
    let table = table.with_dictionary(names.into_iter().collect()).unwrap();
    table.save(folder.path().join("part-0.ntb")).unwrap();
    let error = ShardsTable::new(Shards::open(folder.path()).unwrap()).unwrap_err().to_string();
    assert!(error.ends_with("column 1 is not the first with the name \"a\""), "{error}");
}
