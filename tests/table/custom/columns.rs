//! Columns of different element types: blocks across them, in both directions.

use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::spi::{Piece, PieceMut, Region, TableId, TableKind, Target};
use numeric_table::{
    array::{AnySlice, AnySliceMut},
    files,
    statistics::BasicStatistics,
};

use test_support::tables::assert_error;

use super::{Result, values_of};

enum Column {
    F32(Vec<f32>),
    U8(Vec<u8>),
    I64(Vec<i64>),
}

/// Each column in memory of its own.
struct Columns {
    id: TableId,
    rows: usize,
    dictionary: DataDictionary,
    columns: Vec<Column>,
}

impl Columns {
    fn new(columns: impl Into<Vec<Column>>) -> Self {
        let columns = columns.into();
        let (counts, types): (Vec<usize>, Vec<ElementType>) = columns
            .iter()
            .map(|column| match column {
                Column::F32(values) => (values.len(), ElementType::F32),
                Column::U8(values) => (values.len(), ElementType::U8),
                Column::I64(values) => (values.len(), ElementType::I64),
            })
            .unzip();
        assert!(counts.iter().all(|&count| count == counts[0]));
        Self { id: TableId::new(), rows: counts[0], dictionary: types.into_iter().map(Feature::new).collect(), columns }
    }

    fn column_shape(&self) -> Shape {
        Shape { rows: self.rows, columns: 1 }
    }
}

impl NumericTable for Columns {
    fn shape(&self) -> Shape {
        Shape { rows: self.rows, columns: self.columns.len() }
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn data_layout(&self) -> DataLayout {
        DataLayout::ColumnMajor
    }

    fn piece(&self, _: usize, column: usize) -> Result<Option<Piece<'_>>> {
        fn of<T: Element>(values: &[T], column: usize, shape: Shape) -> Result<Option<Piece<'_>>> {
            Ok(Some(Piece::new(0, column, TableView::new(values, shape, DataLayout::ColumnMajor)?)))
        }
        match self.columns.get(column) {
            Some(Column::F32(values)) => of(values, column, self.column_shape()),
            Some(Column::U8(values)) => of(values, column, self.column_shape()),
            Some(Column::I64(values)) => of(values, column, self.column_shape()),
            None => Ok(None),
        }
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        fn of<T: Element>(values: &mut [T], column: usize, shape: Shape) -> Result<PieceMut<'_>> {
            Ok(PieceMut::new(0, column, TableViewMut::new(values, shape, DataLayout::ColumnMajor)?))
        }
        let shape = self.column_shape();
        let pieces = self.columns.iter_mut().enumerate().map(|(column, values)| match values {
            Column::F32(values) => of(values, column, shape),
            Column::U8(values) => of(values, column, shape),
            Column::I64(values) => of(values, column, shape),
        });
        pieces.collect()
    }
}

const BIG: i64 = (1 << 53) + 1; // no f64 holds this

/// Three rows: `[0.5, 1, -1]`, `[1.5, 2, BIG]`, `[2.5, 3, 300]`.
fn small() -> Columns {
    Columns::new([Column::F32(vec![0.5, 1.5, 2.5]), Column::U8(vec![1, 2, 3]), Column::I64(vec![-1, BIG, 300])])
}

/// So many rows that threads and bands are used.
const MANY: usize = 100_000;

fn large() -> Columns {
    Columns::new([
        Column::F32((0..MANY).map(|row| row as f32 / 2.0 - 100.0).collect()),
        Column::U8((0..MANY).map(|row| (row % 251) as u8).collect()),
        Column::I64((0..MANY).map(|row| 3 * row as i64 - 7).collect()),
    ])
}

/// What every row of [`large`] is as `f64`.
fn row_of_large(row: usize) -> [f64; 3] {
    [row as f64 / 2.0 - 100.0, (row % 251) as f64, 3.0 * row as f64 - 7.0]
}

/// All of it, each column in its own type.
fn contents(table: &Columns) -> (Vec<f32>, Vec<u8>, Vec<i64>) {
    (
        table.column::<f32>(0, ..).unwrap().to_vec(),
        table.column::<u8>(1, ..).unwrap().to_vec(),
        table.column::<i64>(2, ..).unwrap().to_vec(),
    )
}

#[track_caller]
fn assert_refused<R>(result: Result<R>, place: (usize, usize)) {
    assert_error!(result, ErrorKind::ValueNotRepresentable { row, column, .. } if (*row, *column) == place);
}

#[test]
fn rows_run_across_columns_of_different_types() {
    let table = small();
    assert_eq!(values_of::<f64>(&table), [0.5, 1.0, -1.0, 1.5, 2.0, BIG as f64, 2.5, 3.0, 300.0]);
    assert_eq!(&table.rows::<u8>(1..).unwrap()[..], [1, 2, 255, 2, 3, 255]);
    assert_eq!(&table.rows::<i64>(..2).unwrap()[..], [0, 1, -1, 1, 2, BIG]);
    let blocks: Vec<Vec<f32>> = table.row_blocks(2).unwrap().map(|block| block.unwrap().to_vec()).collect();
    assert_eq!(blocks, [vec![0.5, 1.0, -1.0, 1.5, 2.0, BIG as f32], vec![2.5, 3.0, 300.0]]);
    assert_eq!((table.value::<i64>(1, 2).unwrap(), table.value::<f64>(2, 0).unwrap()), (BIG, 2.5));
}

#[test]
fn a_column_in_its_own_type_is_the_tables_memory() {
    let table = small();
    let column = table.column::<i64>(2, 1..).unwrap();
    assert!(column.is_zero_copy());
    assert_eq!(&column[..], [BIG, 300]);
    assert!(!table.column::<i64>(1, ..).unwrap().is_zero_copy());
    assert!(!table.rows::<u8>(..1).unwrap().is_zero_copy());
}

#[test]
fn many_rows_are_read_as_value_by_value() {
    let table = large();
    for rows in [0..MANY, 1..MANY - 1, 681..685, 77_777..77_778, MANY..MANY] {
        let block = table.rows::<f64>(rows.clone()).unwrap();
        assert_eq!(block.row_count(), rows.len());
        for (values, row) in block.iter_rows().zip(rows.clone()) {
            assert_eq!(values, row_of_large(row), "row {row}");
        }
        let block = table.rows::<i16>(rows.clone()).unwrap();
        for (values, row) in block.iter_rows().zip(rows.clone()) {
            assert_eq!(values, row_of_large(row).map(|value| value as i16), "row {row}"); // `as` saturates
        }
        let region = Region { rows: rows.clone(), columns: 1..3 };
        let mut values = vec![0_i32; 2 * rows.len()];
        let target = Target::new(AnySliceMut::new(&mut values), region.shape(), ConversionPolicy::Exact).unwrap();
        table.read_region(&region, target).unwrap();
        for (values, row) in values.chunks(2).zip(rows) {
            assert_eq!(values, [(row % 251) as i32, 3 * row as i32 - 7], "row {row}");
        }
    }
}

#[test]
fn descriptors_and_blocks_of_many_rows_show_the_same() {
    let mut table = large();
    let mut descriptor = BlockDescriptor::<f64>::new();
    for first in (0..MANY).step_by(30_011) {
        table.get_block_of_rows(first, 30_011, ReadWriteMode::ReadOnly, &mut descriptor).unwrap();
        for (values, row) in descriptor.as_slice().chunks(3).zip(first..) {
            assert_eq!(values, row_of_large(row), "row {row}");
        }
        table.release_block_of_rows(&mut descriptor).unwrap();
    }
    let blocks = table.row_blocks::<f64>(30_011).unwrap();
    let values: Vec<f64> = blocks.flat_map(|block| block.unwrap().to_vec()).collect();
    assert!(values.chunks(3).zip(0..).all(|(values, row)| values == row_of_large(row)));
}

#[test]
fn the_first_value_that_cannot_be_read_is_named_row_by_row() {
    let mut table = small();
    // Row 1: 2^53 + 1 is too large. Row 0: -1 is too small, and comes first though its column comes last.
    assert_refused(table.rows_with::<u8>(.., ConversionPolicy::Checked), (0, 2));
    assert_refused(table.rows_with::<u8>(1.., ConversionPolicy::Checked), (1, 2));
    assert_refused(table.rows_with::<u8>(.., ConversionPolicy::Exact), (0, 0));
    table.set_value(0, 0, f32::NAN).unwrap();
    table.set_value(0, 2, 0).unwrap();
    assert_refused(table.rows_with::<u8>(.., ConversionPolicy::Checked), (0, 0));
    let region = Region { rows: 0..3, columns: 0..3 };
    let mut values = [9_u8; 9];
    let target = Target::new(AnySliceMut::new(&mut values), region.shape(), ConversionPolicy::Checked).unwrap();
    assert_refused(table.read_region(&region, target), (0, 0));
    assert_eq!(values, [9; 9]);
}

#[test]
fn the_first_of_many_values_that_cannot_be_read_is_named_row_by_row() {
    for ((nan, below), expected) in [((99_999, 99_998), (99_998, 2)), ((70_000, 70_001), (70_000, 0)), ((5, 5), (5, 0))]
    {
        let mut table = large();
        table.set_value(nan, 0, f32::NAN).unwrap();
        table.set_value(below, 2, i64::MIN).unwrap();
        assert_refused(table.rows_with::<i32>(.., ConversionPolicy::Checked), expected);
        let region = Region { rows: 0..MANY, columns: 0..3 };
        let mut values = vec![9_i32; 3 * MANY];
        let target = Target::new(AnySliceMut::new(&mut values), region.shape(), ConversionPolicy::Checked).unwrap();
        assert_refused(table.read_region(&region, target), expected);
        assert!(values.iter().all(|&value| value == 9));
    }
}

#[test]
fn a_block_is_written_back_into_every_column() {
    let mut table = small();
    let mut block = table.rows_mut::<f64>(1..).unwrap();
    block.copy_from_slice(&[-0.25, 20.0, 7.0, 1e30, 30.9, -8.0]);
    block.release().unwrap();
    assert_eq!(contents(&table), (vec![0.5, -0.25, 1e30], vec![1, 20, 30], vec![-1, 7, -8]));
}

#[test]
fn a_value_nobody_changed_keeps_every_digit_of_its_column() {
    let mut table = small();
    let mut block = table.rows_mut::<f64>(..).unwrap();
    block[4] = 20.0; // beside 2^53 + 1, which it does not show
    block.release().unwrap();
    assert_eq!(contents(&table), (vec![0.5, 1.5, 2.5], vec![1, 20, 3], vec![-1, BIG, 300]));
    let mut block = table.rows_mut::<u8>(..).unwrap();
    assert_eq!(&block[..], [0, 1, 0, 1, 20, 255, 2, 3, 255]);
    (block[0], block[8]) = (9, 8);
    block.release().unwrap();
    assert_eq!(contents(&table), (vec![9.0, 1.5, 2.5], vec![1, 20, 3], vec![-1, BIG, 8]));
}

#[test]
fn a_refused_value_leaves_every_column_as_it_was_and_the_first_one_is_named() {
    type Changes = &'static [(usize, f64)];
    let changes: [(Changes, (usize, usize)); 5] = [
        (&[(4, 256.0), (2, 1e300)], (0, 2)), // row 1 of column 1, row 0 of column 2
        (&[(4, 256.0), (5, 1e300)], (1, 1)), // both in row 1
        (&[(7, -1.0), (5, f64::NAN)], (1, 2)),
        (&[(1, 256.0), (8, 1e300)], (0, 1)),
        (&[(8, 1e300)], (2, 2)),
    ];
    for (changed, place) in changes {
        let edit = |values: &mut [f64]| {
            values.iter_mut().for_each(|value| *value = 100.0);
            changed.iter().for_each(|&(index, value)| values[index] = value);
        };
        let mut table = small();
        let before = contents(&table);
        let mut block = table.rows_mut::<f64>(..).unwrap();
        edit(&mut block);
        assert_refused(block.release(), place);
        let updated = table.update_rows::<f64, _>(.., |block| {
            edit(block);
            Ok(())
        });
        assert_refused(updated, place);
        assert_refused(
            table.update_row_blocks::<f64>(3, |block| {
                let _: () = edit(block);
                Ok(())
            }),
            place,
        );
        let mut values = [0.0; 9];
        edit(&mut values);
        for keep_unchanged in [false, true] {
            let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged };
            let region = Region { rows: 0..3, columns: 0..3 };
            assert_refused(table.write_region(&region, AnySlice::new(&values), rule), place);
        }
        let mut descriptor = BlockDescriptor::<f64>::new();
        for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
            table.get_block_of_rows(0, 3, mode, &mut descriptor).unwrap();
            edit(descriptor.as_mut_slice().unwrap());
            assert_refused(table.release_block_of_rows(&mut descriptor), place);
            descriptor.discard();
        }
        assert_eq!(contents(&table), before);
    }
}

#[test]
fn many_rows_are_written_into_every_column_or_into_none() {
    let mut table = large();
    let mut block = table.rows_mut::<f64>(..).unwrap();
    block.iter_mut().for_each(|value| *value += 1.0);
    block[3 * 99_990 + 1] = -1.0;
    block[3 * 99_989 + 2] = f64::INFINITY;
    assert_refused(block.release(), (99_989, 2));
    assert!(values_of::<f64>(&table).chunks(3).zip(0..).all(|(values, row)| values == row_of_large(row)));
    let mut block = table.rows_mut::<f64>(1..).unwrap();
    block.iter_mut().for_each(|value| *value += 1.0);
    block.release().unwrap();
    for (values, row) in values_of::<f64>(&table).chunks(3).zip(0..) {
        let expected = row_of_large(row).map(|value| if row == 0 { value } else { value + 1.0 });
        assert_eq!(values, expected, "row {row}");
    }
}

#[test]
fn row_blocks_are_written_across_columns() {
    let mut table = small();
    let blocks: Vec<_> = table.row_blocks_mut::<i32>(2).unwrap().map(Result::unwrap).collect();
    for (index, mut block) in blocks.into_iter().enumerate() {
        block.iter_mut().for_each(|value| *value = 5 + index as i32);
        block.release().unwrap();
    }
    assert_eq!(contents(&table), (vec![5.0, 5.0, 6.0], vec![5, 5, 6], vec![5, 5, 6]));
}

#[cfg(feature = "rayon")]
#[test]
fn parallel_writers_write_every_column_of_their_rows() {
    use rayon::iter::{IndexedParallelIterator, ParallelIterator};
    let mut table = large();
    let written = table.par_row_blocks_mut::<f64>(1000).unwrap().enumerate().try_for_each(|(index, block)| {
        let mut block = block?;
        block.iter_mut().for_each(|value| *value = index as f64);
        block.release()
    });
    written.unwrap();
    let values = values_of::<f64>(&table);
    assert!(values.chunks(3).zip(0..).all(|(values, row)| values == [(row / 1000) as f64; 3]));
    let updated = table.par_update_row_blocks::<f64>(7000, |block| {
        block.iter_mut().for_each(|value| *value = -*value);
        Ok(())
    });
    assert_error!(updated, ErrorKind::ValueNotRepresentable { column: 1, .. });
}

#[test]
fn a_single_value_is_converted_into_the_type_of_its_column() {
    let mut table = small();
    table.set_value(0, 0, 7).unwrap();
    table.set_value(1, 1, 8.0).unwrap();
    table.set_value(2, 2, 9_u8).unwrap();
    assert_refused(table.set_value(1, 1, 256), (1, 1));
    table.set_value(1, 2, 256).unwrap();
    assert_eq!(contents(&table), (vec![7.0, 1.5, 2.5], vec![1, 8, 3], vec![-1, 256, 9]));
}

#[test]
fn one_value_is_assigned_to_every_column_or_to_none() {
    let mut table = small();
    let before = contents(&table);
    assert_refused(table.fill(256), (0, 1));
    assert_refused(table.fill(f64::NAN), (0, 1));
    assert_eq!(contents(&table), before);
    table.fill(7.5).unwrap();
    assert_eq!(contents(&table), (vec![7.5; 3], vec![7; 3], vec![7; 3]));
}

#[test]
fn each_column_has_its_type_and_the_table_has_none() {
    let table = small();
    assert_eq!(table.uniform_type(), None);
    let types = [0, 1, 2].map(|column| table.column_type(column).unwrap());
    assert_eq!(types, [ElementType::F32, ElementType::U8, ElementType::I64]);
    assert_error!(table.column_type(3), ErrorKind::ColumnOutOfRange { column: 3, column_count: 3 });
    let table: &dyn NumericTable = &table;
    assert!(format!("{table:?}").contains("mixed"));
    let same = Columns::new([Column::U8(vec![1]), Column::U8(vec![2])]);
    assert_eq!(same.uniform_type(), Some(ElementType::U8));
}

#[test]
fn columns_of_different_types_have_statistics() {
    let statistics = BasicStatistics::compute(&small()).unwrap();
    let columns = statistics.per_column();
    assert_eq!(columns.iter().map(|column| column.count()).collect::<Vec<_>>(), [3; 3]);
    assert_eq!((columns[0].minimum(), columns[0].mean(), columns[0].variance()), (0.5, 1.5, 1.0));
    assert_eq!((columns[1].maximum(), columns[1].mean()), (3.0, 2.0));
    assert_eq!((columns[2].minimum(), columns[2].maximum()), (-1.0, BIG as f64));
    let statistics = BasicStatistics::compute(&large()).unwrap();
    assert_eq!(statistics.per_column()[2].maximum(), row_of_large(MANY - 1)[2]);
    assert_eq!(statistics.per_column()[0].mean(), (row_of_large(0)[0] + row_of_large(MANY - 1)[0]) / 2.0);
}

#[test]
fn each_column_is_printed_in_its_own_type() {
    let expected = "3 x 3 mixed, column major\n     0  1                 2\n\
                    0  0.5  1                -1\n1  1.5  2  9007199254740993\n2  2.5  3               300";
    assert_eq!(small().to_dyn().to_string(), expected);
}

impl Columns {
    fn to_dyn(&self) -> &dyn NumericTable {
        self
    }
}

#[test]
fn columns_of_different_types_are_saved_as_a_structure_of_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let columns = small();
    let table = columns.to_dyn();
    table.save(&path).unwrap();
    for read in [files::load(&path).unwrap(), files::from_bytes(&table.to_bytes().unwrap()).unwrap()] {
        assert_eq!(read.kind(), TableKind::STRUCTURE_OF_ARRAYS);
        assert_eq!(read.dictionary(), table.dictionary());
        assert_eq!(read.rows::<f64>(..).unwrap()[..], table.rows::<f64>(..).unwrap()[..]);
    }
}

#[cfg(feature = "npy")]
#[test]
fn columns_of_different_types_are_no_array_of_numpy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let columns = small();
    let table = columns.to_dyn();
    for result in [table.save_npy(&path), table.write_npy(&mut Vec::new())] {
        assert_error!(
            result,
            ErrorKind::MixedElementTypes { column: 1, expected: ElementType::F32, actual: ElementType::U8 }
        );
    }
    assert!(!path.exists());
}

#[test]
fn columns_of_one_type_are_saved_as_a_homogeneous_table() {
    let columns = Columns::new([Column::U8(vec![1, 2, 3]), Column::U8(vec![4, 5, 6])]);
    let copy = HomogenNumericTable::<u8>::from_bytes(&columns.to_dyn().to_bytes().unwrap()).unwrap();
    assert_eq!(values_of::<u8>(&copy), [1, 4, 2, 5, 3, 6]);
}
