//! Several batches as one table, with and without nulls.

use arrow_array::{RecordBatch, RecordBatchIterator};
use numeric_table::files::TableWriter;
use numeric_table::{RowMergedNumericTable, SoaNumericTable, prelude::*};
use numeric_table_arrow::prelude::*;
use test_support::bits::Random;

use crate::{Cell, KINDS, array_of, batch_of, column_cells, random_cells};

/// Batches of two columns, and the cells of each column. Gaps begin with the second batch.
fn batches(random: &mut Random, kind: usize, sizes: &[usize]) -> (Vec<RecordBatch>, [Vec<Cell>; 2]) {
    let (mut batches, mut all) = (Vec::new(), [Vec::new(), Vec::new()]);
    for (index, &rows) in sizes.iter().enumerate() {
        let first = random_cells(random, kind, rows + index, if index == 0 { 0 } else { index * 3 % 9 });
        let second = random_cells(random, 10 - kind, rows + index, 0);
        let arrays = [(kind, &first), (10 - kind, &second)].map(|(kind, cells)| array_of(kind, cells));
        batches.push(batch_of(arrays.map(|array| array.slice(index, rows)).to_vec()));
        all[0].extend(&first[index..]);
        all[1].extend(&second[index..]);
    }
    (batches, all)
}

fn reader(batches: &[RecordBatch]) -> impl arrow_array::RecordBatchReader + use<> {
    let schema = batches[0].schema();
    RecordBatchIterator::new(batches.iter().cloned().map(Ok).collect::<Vec<_>>(), schema)
}

#[test]
fn batches_with_and_without_nulls_are_one_table() {
    let mut random = Random::new(84);
    for kind in 0..KINDS {
        for sizes in [&[5, 9, 64][..], &[1, 0, 130, 2], &[0, 0, 3], &[100, 1]] {
            let (batches, cells) = batches(&mut random, kind, sizes);
            let check = |table: &dyn NumericTable| {
                assert_eq!([0, 1].map(|column| column_cells(table, column)), cells);
                let has_gaps = cells[0].contains(&None);
                let nullable = [0, 1].map(|column| table.dictionary().feature(column).unwrap().nullable);
                assert_eq!(nullable, [has_gaps, false]);
            };
            check(&SoaNumericTable::from_record_batches(&batches, ArrowOptions::new()).unwrap());
            check(&SoaNumericTable::read_record_batches(reader(&batches), ArrowOptions::new()).unwrap());
            let few = ArrowOptions::new().expected_rows(2);
            check(&SoaNumericTable::read_record_batches(reader(&batches), few).unwrap());
            check(&RowMergedNumericTable::from_record_batches(&batches, ArrowOptions::new()).unwrap());
        }
    }
}

#[test]
fn a_long_stream_grows_its_bitmap_only_when_a_value_is_missing() {
    // More batches than are read together, so that the table grows; the first null comes late.
    let (mut random, mut all) = (Random::new(85), Vec::new());
    let batches: Vec<RecordBatch> = (0..2500)
        .map(|index| {
            let cells = random_cells(&mut random, 5, 3, if index < 2000 { 0 } else { 3 });
            all.extend(&cells);
            batch_of(vec![array_of(5, &cells)])
        })
        .collect();
    let table = SoaNumericTable::read_record_batches(reader(&batches), ArrowOptions::new()).unwrap();
    assert_eq!(column_cells(&table, 0), all);
    let none = SoaNumericTable::read_record_batches(reader(&batches[..2000]), ArrowOptions::new()).unwrap();
    assert!(!none.dictionary().has_nullable());
    let filled = ArrowOptions::new().nulls_to(7);
    let table = SoaNumericTable::read_record_batches(reader(&batches), filled).unwrap();
    assert_eq!(column_cells(&table, 0), all.iter().map(|cell| cell.or(Some(7))).collect::<Vec<_>>());
}

#[test]
fn table_files_of_one_type_refuse_nulls_or_take_nan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ntb");
    let batch = batch_of(vec![array_of(5, &[Some(1), None])]);
    let save = |options| TableWriter::<f64>::save_record_batches(&path, reader(std::slice::from_ref(&batch)), options);
    let exact = || ArrowOptions::new().convert(ConversionPolicy::Exact);
    assert!(save(exact()).is_err() && !path.exists());
    save(exact().nulls_to_nan(true)).unwrap();
    let table = HomogenNumericTable::<f64>::load(&path).unwrap();
    assert!(table.value::<f64>(1, 0).unwrap().is_nan());
}
