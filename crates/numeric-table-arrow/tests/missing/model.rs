//! Random batches beside plain vectors of cells.

use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use numeric_table::{RowMergedNumericTable, SoaNumericTable, prelude::*};
use numeric_table_arrow::ipc::{IpcSource, save_ipc};
use numeric_table_arrow::parquet::{ParquetSource, save_parquet};
use numeric_table_arrow::prelude::*;
use test_support::bits::Random;

use crate::{Cell, KINDS, array_of, batch_of, cells_of, column_cells, random_cells};

#[test]
fn two_thousand_random_tables_are_as_their_models() {
    let (mut random, folder) = (Random::new(88), tempfile::tempdir().unwrap());
    for round in 0..2000 {
        let kinds: Vec<usize> = (0..1 + random.below(4)).map(|_| random.below(KINDS)).collect();
        let mut model: Vec<Vec<Cell>> = vec![Vec::new(); kinds.len()];
        let batches: Vec<RecordBatch> = (0..1 + random.below(4))
            .map(|_| {
                let (lead, rows) = (random.below(10), [0, 1, 8, 65, random.below(150)][random.below(5)]);
                let columns = kinds.iter().zip(&mut model).map(|(&kind, model)| -> ArrayRef {
                    let gaps = [0, 0, 1, 4, 8][random.below(5)];
                    let count = lead + rows + random.below(9);
                    let cells = random_cells(&mut random, kind, count, gaps);
                    model.extend(&cells[lead..lead + rows]);
                    array_of(kind, &cells).slice(lead, rows)
                });
                batch_of(columns.collect())
            })
            .collect();
        let options = ArrowOptions::new();
        let mut table: Box<dyn NumericTable> = match random.below(3) {
            0 => Box::new(SoaNumericTable::from_record_batches(&batches, options).unwrap()),
            1 => Box::new(RowMergedNumericTable::from_record_batches(&batches, options).unwrap()),
            _ => {
                let reader = RecordBatchIterator::new(batches.iter().cloned().map(Ok), batches[0].schema());
                Box::new(SoaNumericTable::read_record_batches(reader, options).unwrap())
            }
        };
        for _ in 0..random.below(3) {
            table = change(&mut random, table, &mut model, folder.path());
        }
        let batch = table.to_record_batch().unwrap();
        for (column, expected) in model.iter().enumerate() {
            assert_eq!(&column_cells(&*table, column), expected, "round {round}, column {column}");
            assert_eq!(&cells_of(batch.column(column)), expected, "round {round}, column {column}");
            let missing = expected.iter().filter(|cell| cell.is_none()).count();
            assert_eq!(table.missing_count(column).unwrap(), missing, "round {round}, column {column}");
        }
    }
}

/// Makes another table of a table and of its model.
fn change(
    random: &mut Random,
    mut table: Box<dyn NumericTable>,
    model: &mut Vec<Vec<Cell>>,
    folder: &std::path::Path,
) -> Box<dyn NumericTable> {
    let rows = table.row_count();
    match random.below(6) {
        0 => {
            let first = random.below(rows + 1);
            let end = first + random.below(rows - first + 1);
            model.iter_mut().for_each(|cells| *cells = cells[first..end].to_vec());
            let batch = table.select_rows(first..end).unwrap().to_record_batch().unwrap();
            Box::new(SoaNumericTable::from_record_batch(&batch).unwrap())
        }
        1 => {
            let chosen: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(model.len())).collect();
            let chosen: Vec<usize> = (0..model.len()).filter(|column| chosen.contains(column)).collect();
            *model = chosen.iter().map(|&column| model[column].clone()).collect();
            let batch = table.select_columns(chosen).unwrap().to_record_batch().unwrap();
            Box::new(SoaNumericTable::from_record_batch(&batch).unwrap())
        }
        2 if rows > 0 && table.downcast_ref::<SoaNumericTable>().is_some() => {
            let (row, column) = (random.below(rows), random.below(model.len()));
            table.set_missing(row, column).unwrap();
            model[column][row] = None;
            table
        }
        3 => {
            let path = folder.join("model.parquet");
            save_parquet(&path, &*table).unwrap();
            Box::new(ParquetSource::open(&path).unwrap().load_columns().unwrap())
        }
        4 => {
            let path = folder.join("model.arrow");
            save_ipc(&path, &*table).unwrap();
            Box::new(IpcSource::open(&path).unwrap().load_columns().unwrap())
        }
        _ => Box::new(SoaNumericTable::from_record_batch(&table.to_record_batch().unwrap()).unwrap()),
    }
}
