//! Kinds of tables that are not the library's, small, and everything that a table can do tried on them.
//!
//! `Ramp` has no memory at all: it computes its values, and nobody can write them. `Stacked` is one table on top of
//! another: a block may or may not lie in one of them. `View` borrows what it shows. Columns of different types are in
//! `custom_table/columns.rs`, random tilings in `custom_table/tiling.rs`, a table that is written in a way of its own in
//! `custom_table/own_writer.rs`, and tables that say what is not so in `custom_table/lying.rs`.
//! Semantics: the pages of `NumericTable`, `Piece`, `Target`, `Lease` and `BlockAccess`.

#[path = "custom_table/columns.rs"]
mod columns;
mod common;
#[path = "custom_table/lying.rs"]
mod lying;
#[path = "custom_table/own_writer.rs"]
mod own_writer;
#[path = "custom_table/tiling.rs"]
mod tiling;

use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::{Lease, Piece, PieceMut, Region, TableId, TableKind, Target};
use numeric_table::{AnySlice, AnySliceMut, BasicStatistics, SaveOptions, from_bytes_any, load_any};

type Result<T, E = Error> = std::result::Result<T, E>;

// --- a kind that is read --------------------------------------------------------------------------------------------

/// The whole numbers from 0 on, row by row: computed, and written by nobody.
struct Ramp {
    id: TableId,
    shape: Shape,
    dictionary: DataDictionary,
}

impl Ramp {
    fn new(shape: Shape) -> Self {
        let dictionary = DataDictionary::uniform(Feature::new(ElementType::I32), shape.columns);
        Self { id: TableId::new(), shape, dictionary }
    }
}

impl NumericTable for Ramp {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        region.check(self.shape)?;
        target.fill_with(region, |row, column| (row * self.shape.columns + column) as i32)
    }
}

// --- a kind that is read and written, and lends its memory ----------------------------------------------------------

/// One table on top of another, of the same type and number of columns.
struct Stacked<T: Element> {
    id: TableId,
    head: HomogenNumericTable<T>,
    tail: HomogenNumericTable<T>,
}

impl<T: Element> Stacked<T> {
    fn new(head: HomogenNumericTable<T>, tail: HomogenNumericTable<T>) -> Self {
        assert_eq!(head.column_count(), tail.column_count());
        Self { id: TableId::new(), head, tail }
    }

    /// Makes sure that all values are here: a block of one part is a block of the table.
    fn check(&self) -> Result<()> {
        self.head.view()?;
        self.tail.view().map(drop).map_err(moved_by(self.head.row_count()))
    }
}

/// Turns rows of the second part into rows of the table.
fn moved_by(seam: usize) -> impl Fn(Error) -> Error {
    move |error| match error {
        Error::BlockOutstanding { rows } => Error::BlockOutstanding { rows: rows.start + seam..rows.end + seam },
        other => other,
    }
}

impl<T: Element> NumericTable for Stacked<T> {
    fn shape(&self) -> Shape {
        Shape { rows: self.head.row_count() + self.tail.row_count(), columns: self.head.column_count() }
    }

    fn dictionary(&self) -> &DataDictionary {
        self.head.dictionary()
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn data_layout(&self) -> DataLayout {
        self.head.data_layout()
    }

    fn data_memory_status(&self) -> MemoryStatus {
        self.head.data_memory_status()
    }

    fn set_dictionary(&mut self, dictionary: DataDictionary) -> Result<()> {
        self.head.set_dictionary(dictionary)
    }

    /// Rows come and go at the end.
    fn resize(&mut self, rows: usize) -> Result<()> {
        self.check()?;
        self.tail.resize(rows.saturating_sub(self.head.row_count()))?;
        self.head.resize(rows.min(self.head.row_count()))
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        self.check()?;
        match row.checked_sub(self.head.row_count()) {
            None => self.head.piece(row, column),
            Some(row) => Ok(self.tail.piece(row, column)?.map(|piece| piece.moved(self.head.row_count(), 0))),
        }
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        self.check()?;
        let seam = self.head.row_count();
        let mut pieces = self.head.pieces_mut()?;
        pieces.extend(self.tail.pieces_mut()?.into_iter().map(|piece| piece.moved(seam, 0)));
        Ok(pieces)
    }

    /// A block that is written in place is lent by the part that it lies in.
    fn lend_region(&mut self, region: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool> {
        region.check(self.shape())?;
        self.check()?;
        let (seam, rows) = (self.head.row_count(), region.rows.clone());
        match in_place {
            Some(_) if rows.end <= seam => self.head.lend_region(region, in_place, lease),
            Some(_) if rows.start >= seam => {
                let region = Region { rows: rows.start - seam..rows.end - seam, ..region.clone() };
                self.tail.lend_region(&region, in_place, lease)
            }
            Some(_) => Ok(false),
            None => {
                lease.reset(region);
                Ok(false)
            }
        }
    }

    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        if lease.is_empty() {
            return Ok(());
        }
        self.head.take_back(lease).or_else(|_| self.tail.take_back(lease))
    }
}

// --- a kind that borrows --------------------------------------------------------------------------------------------

/// Somebody's memory, row by row.
struct View<'a> {
    id: TableId,
    values: TableView<'a, f32>,
    dictionary: DataDictionary,
}

impl<'a> View<'a> {
    fn new(values: &'a [f32], shape: Shape) -> Self {
        let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), shape.columns);
        let values = TableView::new(values, shape, DataLayout::RowMajor).unwrap();
        Self { id: TableId::new(), values, dictionary }
    }
}

impl NumericTable for View<'_> {
    fn shape(&self) -> Shape {
        self.values.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn piece(&self, _: usize, _: usize) -> Result<Option<Piece<'_>>> {
        Ok(Some(Piece::new(0, 0, self.values)))
    }
}

// --------------------------------------------------------------------------------------------------------------------

/// `[[1, 2], [3, 4]]` on top of `[[5, 6], [7, 8], [9, 10]]`.
fn stacked<T: Element + From<u8>>() -> Stacked<T> {
    let row = |first: u8| [T::from(first), T::from(first + 1)];
    let head = HomogenNumericTable::from_rows(&[row(1), row(3)]).unwrap();
    let tail = HomogenNumericTable::from_rows(&[row(5), row(7), row(9)]).unwrap();
    Stacked::new(head, tail)
}

/// All values, whatever kind of table it is.
fn values_of<U: Element>(table: &dyn NumericTable) -> Vec<U> {
    table.rows::<U>(..).unwrap().to_vec()
}

#[test]
fn any_kind_of_table_is_saved_as_a_homogeneous_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 70_000, columns: 3 }));
    let tables: [&dyn NumericTable; 2] = [&stacked, &ramp];
    for table in tables {
        table.save_with(&path, SaveOptions::new().durable(false)).unwrap();
        let loaded = load_any(&path).unwrap();
        assert_eq!((loaded.shape(), loaded.uniform_type()), (table.shape(), table.uniform_type()));
        assert_eq!(values_of::<f64>(&*loaded), values_of::<f64>(table));
    }
}

#[test]
fn rows_across_the_seam_come_from_both_parts() {
    let table = stacked::<i16>();
    assert_eq!(&table.rows::<f64>(1..4).unwrap()[..], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
}

#[test]
fn rows_across_the_seam_are_a_copy_even_if_the_type_is_the_stored_one() {
    let table = stacked::<i16>();
    let block = table.rows::<i16>(1..3).unwrap();
    assert_eq!((&block[..], block.is_zero_copy()), (&[3, 4, 5, 6][..], false));
}

#[test]
fn rows_of_one_part_are_its_memory() {
    let table = stacked::<i16>();
    for (rows, address) in [(0..2, table.head.as_slice().unwrap()), (3..5, &table.tail.as_slice().unwrap()[2..])] {
        let block = table.rows::<i16>(rows).unwrap();
        assert!(block.is_zero_copy());
        assert_eq!(block.as_ptr(), address.as_ptr());
    }
}

#[test]
fn columns_run_across_the_seam() {
    let table = stacked::<i16>();
    assert_eq!(&table.column::<f32>(1, 0..5).unwrap()[..], [2.0, 4.0, 6.0, 8.0, 10.0]);
}

#[test]
fn row_blocks_walk_across_the_seam() {
    let table = stacked::<u8>();
    let blocks: Vec<Vec<f32>> = table.row_blocks(2).unwrap().map(|block| block.unwrap().to_vec()).collect();
    assert_eq!(blocks, [vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0], vec![9.0, 10.0]]);
}

#[test]
fn rows_that_the_table_does_not_have_are_refused() {
    let table = stacked::<u8>();
    assert!(matches!(table.rows::<u8>(4..6), Err(Error::RowsOutOfRange { row_count: 5, .. })));
}

#[test]
fn a_converted_block_is_written_back_into_both_parts() {
    let mut table = stacked::<i32>();
    let mut block = table.rows_mut::<f64>(1..3).unwrap();
    block.iter_mut().for_each(|value| *value *= 10.0);
    block.release().unwrap();
    assert_eq!(table.head.as_slice().unwrap(), [1, 2, 30, 40]);
    assert_eq!(table.tail.as_slice().unwrap(), [50, 60, 7, 8, 9, 10]);
}

#[test]
fn a_block_of_one_part_is_written_in_place() {
    let mut table = stacked::<i32>();
    let mut block = table.rows_mut::<i32>(2..3).unwrap();
    assert!(block.is_zero_copy());
    block.fill(0);
    block.discard(); // nothing to write back
    assert_eq!(values_of::<i32>(&table), [1, 2, 3, 4, 0, 0, 7, 8, 9, 10]);
}

#[test]
fn a_column_is_written_back_into_both_parts() {
    let mut table = stacked::<u8>();
    table.column_mut::<i64>(0, 1..4).unwrap().fill(0);
    assert_eq!(values_of::<u8>(&table), [1, 2, 0, 4, 0, 6, 0, 8, 9, 10]);
}

#[test]
fn an_update_across_the_seam_writes_both_parts_or_neither() {
    let mut table = stacked::<u8>();
    let double = |block: &mut BlockMut<'_, i32>| {
        block.iter_mut().for_each(|value| *value *= 2);
        Ok(block.row_count())
    };
    assert_eq!(table.update_rows(1..4, double).unwrap(), 3);
    assert_eq!(values_of::<u8>(&table), [1, 2, 6, 8, 10, 12, 14, 16, 9, 10]);
    for value in [256_i64, -1] {
        let refused = table.update_column::<i64, _>(1, .., |column| {
            column.fill(7);
            column[3] = value;
            Ok(())
        });
        assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 1, .. })), "{refused:?}");
    }
    let given_up = table.update_rows::<u8, ()>(0..2, |block| {
        block.fill(0); // rows of one part, which could be written in place
        Err(Error::other("given up"))
    });
    assert!(matches!(given_up, Err(Error::Other { .. })), "{given_up:?}");
    assert_eq!(values_of::<u8>(&table), [1, 2, 6, 8, 10, 12, 14, 16, 9, 10]);
}

#[test]
fn an_update_of_a_table_that_takes_no_writer_is_an_error() {
    let mut table = Ramp::new(Shape { rows: 2, columns: 2 });
    let refused = table.update_rows::<i32, _>(.., |block| {
        block.fill(0);
        Ok(())
    });
    assert!(matches!(refused, Err(Error::ReadOnlyTable)), "{refused:?}");
    assert!(matches!(table.update_row_blocks::<f64>(1, |_| Ok(())), Err(Error::ReadOnlyTable)));
}

#[test]
fn a_refused_value_in_the_second_part_leaves_the_first_unchanged() {
    let mut table = stacked::<u8>();
    let mut block = table.rows_mut::<i32>(1..4).unwrap();
    block.fill(100);
    block[5] = 256;
    let refused = block.release();
    assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 1, .. })), "{refused:?}");
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn what_is_refused_copies_no_shared_memory() {
    let mut table = stacked::<u8>();
    let (head, tail) = (table.head.clone(), table.tail.clone());
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    let region = Region { rows: 0..5, columns: 1..2 };
    assert!(table.write_region(&region, AnySlice::new(&[1, 2, 3, 4, -5]), rule).is_err());
    assert!(table.write_region(&Region { rows: 4..5, columns: 0..2 }, AnySlice::new(&[1, -5]), rule).is_err());
    assert!(table.set_value(3, 1, 256).is_err());
    assert!(table.fill(256).is_err());
    let updated = table.update_rows::<i32, _>(.., |block| {
        block.fill(-1);
        Ok(())
    });
    assert!(updated.is_err());
    assert_eq!(table.head.as_slice().unwrap().as_ptr(), head.as_slice().unwrap().as_ptr());
    assert_eq!(table.tail.as_slice().unwrap().as_ptr(), tail.as_slice().unwrap().as_ptr());
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn a_value_nobody_changed_survives_in_both_parts() {
    let big = (1_i64 << 53) + 1; // no f64 holds this
    let rows = HomogenNumericTable::from_rows(&[[big, 1]]).unwrap();
    let mut table = Stacked::new(rows.clone(), rows);
    let mut block = table.rows_mut::<f64>(0..2).unwrap();
    (block[1], block[3]) = (7.0, 8.0);
    block.release().unwrap();
    assert_eq!(values_of::<i64>(&table), [big, 7, big, 8]);
}

#[test]
fn writable_row_blocks_are_disjoint_across_the_seam() {
    let mut table = stacked::<i16>();
    let blocks: Vec<_> = table.row_blocks_mut::<f32>(3).unwrap().map(Result::unwrap).collect();
    for (i, mut block) in blocks.into_iter().enumerate() {
        block.iter_mut().for_each(|value| *value += 100.0 * (i + 1) as f32);
        block.release().unwrap();
    }
    assert_eq!(values_of::<i16>(&table), [101, 102, 103, 104, 105, 106, 207, 208, 209, 210]);
}

#[cfg(feature = "rayon")]
#[test]
fn parallel_writers_write_both_parts() {
    use rayon::iter::ParallelIterator;
    let mut table = stacked::<i16>();
    let blocks = table.par_row_blocks_mut::<i64>(1).unwrap();
    let written = blocks.try_for_each(|block| {
        let mut block = block?;
        block.iter_mut().for_each(|value| *value = -*value);
        block.release()
    });
    assert!(written.is_ok());
    assert_eq!(values_of::<i16>(&table), [-1, -2, -3, -4, -5, -6, -7, -8, -9, -10]);
}

#[cfg(feature = "rayon")]
#[test]
fn parallel_readers_read_both_parts() {
    use rayon::iter::ParallelIterator;
    let table = stacked::<u8>();
    let sums = table.par_row_blocks::<f64>(2).unwrap().map(|block| block.map(|block| block.iter().sum::<f64>()));
    assert_eq!(sums.collect::<Result<Vec<_>>>().unwrap(), [10.0, 26.0, 19.0]);
}

#[test]
fn a_descriptor_reads_across_the_seam_into_a_buffer_that_it_keeps() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<f32>::new();
    let mut values = Vec::new();
    for first_row in (0..5).step_by(3) {
        table.get_block_of_rows(first_row, 3, ReadWriteMode::ReadOnly, &mut block).unwrap();
        values.extend_from_slice(block.as_slice());
        table.release_block_of_rows(&mut block).unwrap();
    }
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    assert_eq!(block.capacity(), 6);
}

#[test]
fn a_block_taken_for_reading_keeps_what_it_showed() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(2, 1, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert!(block.is_zero_copy());
    table.fill(0).unwrap();
    assert_eq!(block.as_slice(), [5, 6]);
    assert_eq!(values_of::<u8>(&table), [0; 10]);
}

#[test]
fn a_converted_descriptor_is_written_back_into_both_parts() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(1, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap().copy_from_slice(&[30.0, 40.0, 50.0, 60.0]);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 30, 40, 50, 60, 7, 8, 9, 10]);
}

#[test]
fn a_descriptor_can_be_corrected_after_a_refused_value() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<i32>::new();
    table.get_block_of_column_values(1, 1, 3, ReadWriteMode::WriteOnly, &mut block).unwrap();
    block.as_mut_slice().unwrap().copy_from_slice(&[40, 60, -1]);
    let refused = table.release_block_of_column_values(&mut block);
    assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 1, .. })), "{refused:?}");
    block.as_mut_slice().unwrap()[2] = 80;
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 40, 5, 60, 7, 80, 9, 10]);
}

#[test]
fn a_descriptor_writes_one_part_in_place() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(3, 9, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(block.is_zero_copy());
    block.as_mut_slice().unwrap().fill(0);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 4, 5, 6, 0, 0, 0, 0]);
}

#[test]
fn a_table_that_lends_nothing_is_used_while_a_converted_block_is_out() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(1, 3, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 30.0;
    table.set_value(4, 1, 100).unwrap();
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 30, 4, 5, 6, 7, 8, 9, 100]);
}

#[test]
fn every_other_access_is_refused_while_a_part_is_written_in_place() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(3, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(matches!(table.rows::<u8>(0..1), Err(Error::BlockOutstanding { rows }) if rows == (3..4)));
    drop(block);
    assert_eq!(&table.rows::<u8>(0..1).unwrap()[..], [1, 2]);
}

#[test]
fn a_block_is_released_only_where_it_was_taken() {
    let (mut table, mut other) = (stacked::<u8>(), stacked::<u8>());
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 5, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(matches!(other.release_block_of_rows(&mut block), Err(Error::WrongTable)));
    assert!(matches!(table.release_block_of_column_values(&mut block), Err(Error::WrongBlockKind { .. })));
    table.release_block_of_rows(&mut block).unwrap();
}

#[test]
fn single_values_are_read_and_written_on_either_side_of_the_seam() {
    let mut table = stacked::<u8>();
    table.set_value(1, 1, 40.0).unwrap();
    table.set_value(2, 0, 50_i64).unwrap();
    assert_eq!((table.value::<f64>(1, 1).unwrap(), table.value::<u16>(2, 0).unwrap()), (40.0, 50));
}

#[test]
fn a_value_that_does_not_fit_names_its_position_in_the_table() {
    let mut table = stacked::<u8>();
    let refused = table.set_value(3, 1, 300);
    assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 1, .. })), "{refused:?}");
}

#[test]
fn a_value_that_cannot_be_read_names_its_position_in_the_table() {
    let table = Stacked::new(
        HomogenNumericTable::from_rows(&[[1.0], [2.0]]).unwrap(),
        HomogenNumericTable::from_rows(&[[3.0], [f64::NAN]]).unwrap(),
    );
    let refused = table.rows_with::<i32>(1..4, ConversionPolicy::Checked);
    assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 0, .. })), "{refused:?}");
}

#[test]
fn a_generated_table_gives_blocks_of_any_type() {
    let table = Ramp::new(Shape { rows: 4, columns: 3 });
    assert_eq!(&table.rows::<f64>(1..3).unwrap()[..], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(&table.rows::<i32>(1..2).unwrap()[..], [3, 4, 5]);
    assert_eq!(&table.column::<u8>(2, 0..4).unwrap()[..], [2, 5, 8, 11]);
    assert_eq!(table.value::<f32>(3, 2).unwrap(), 11.0);
}

#[test]
fn any_kind_of_table_has_statistics_and_is_printed() {
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 5, columns: 2 }));
    let tables: [(&dyn NumericTable, f64, &str); 2] = [
        (&stacked, 1.0, "5 x 2 i16, row major\n   0   1\n0  1   2\n1  3   4\n2  5   6\n3  7   8\n4  9  10"),
        (&ramp, 0.0, "5 x 2 i32, row major\n   0  1\n0  0  1\n1  2  3\n2  4  5\n3  6  7\n4  8  9"), // and no memory
    ];
    for (table, first, text) in tables {
        let statistics = BasicStatistics::of(table).unwrap();
        for (column, first) in statistics.columns().iter().zip([first, first + 1.0]) {
            assert_eq!((column.minimum(), column.maximum(), column.mean()), (first, first + 8.0, first + 4.0));
            assert_eq!(column.variance(), 10.0);
        }
        assert_eq!(table.to_string(), text);
    }
}

#[cfg(feature = "npy")]
#[test]
fn any_kind_of_table_is_written_as_a_numpy_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 200_000, columns: 3 }));
    let tables: [&dyn NumericTable; 2] = [&stacked, &ramp];
    for table in tables {
        let mut bytes = Vec::new();
        table.write_npy(&mut bytes).unwrap();
        table.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        let copy = numeric_table::read_npy_any(&bytes[..]).unwrap();
        assert_eq!((copy.shape(), copy.uniform_type()), (table.shape(), table.uniform_type()));
        assert_eq!(values_of::<f64>(&*copy), values_of::<f64>(table));
    }
}

#[test]
fn a_generated_table_is_read_through_a_descriptor_that_keeps_its_buffer() {
    let table = Ramp::new(Shape { rows: 4, columns: 3 });
    let mut block = BlockDescriptor::<i32>::new();
    for row in 0..4 {
        let first = 3 * row as i32;
        assert_eq!(table.read_rows(row..row + 1, &mut block).unwrap(), [first, first + 1, first + 2]);
    }
    assert_eq!(block.capacity(), 3);
}

#[test]
fn a_generated_table_refuses_every_writer() {
    let mut table = Ramp::new(Shape { rows: 4, columns: 3 });
    assert!(matches!(table.rows_mut::<i32>(0..1), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.column_mut::<f64>(0, 0..1), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.set_value(0, 0, 1), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.fill(1), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.row_blocks_mut::<f32>(2).map(drop), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.check_writable(), Err(Error::ReadOnlyTable)));
    assert_eq!(values_of::<i32>(&table), (0..12).collect::<Vec<_>>());
}

#[test]
fn a_descriptor_holds_nothing_after_a_refused_get() {
    let mut table = Ramp::new(Shape { rows: 4, columns: 3 });
    let mut block = BlockDescriptor::<f64>::new();
    let refused = table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block);
    assert!(matches!(refused, Err(Error::ReadOnlyTable)));
    assert!(matches!(table.release_block_of_rows(&mut block), Err(Error::NoBlock)));
}

#[test]
fn a_pipeline_holds_any_kind_of_table() {
    let mut tables: Vec<Box<dyn NumericTable>> = vec![
        Box::new(stacked::<u8>()),
        Box::new(Ramp::new(Shape { rows: 5, columns: 2 })),
        Box::new(HomogenNumericTable::full(Shape { rows: 5, columns: 2 }, 1.0_f32).unwrap()),
    ];
    let sums = tables.iter().map(|table| values_of::<f64>(&**table).iter().sum::<f64>()).collect::<Vec<_>>();
    assert_eq!(sums, [55.0, 45.0, 10.0]);
    let mut block = BlockDescriptor::<f32>::new();
    for table in &mut tables {
        table.get_block_of_rows(1, 2, ReadWriteMode::ReadOnly, &mut block).unwrap();
        assert_eq!((block.row_count(), block.column_count(), block.row_offset()), (2, 2, 1));
        table.release_block_of_rows(&mut block).unwrap();
        match table.resize(3) {
            Ok(()) => assert_eq!(table.shape(), Shape { rows: 3, columns: 2 }),
            Err(Error::ReadOnlyTable) => assert_eq!(table.shape(), Shape { rows: 5, columns: 2 }),
            Err(other) => panic!("{other:?}"),
        }
    }
    let rows = tables.iter().map(|table| table.row_count()).collect::<Vec<_>>();
    assert_eq!(rows, [3, 5, 3]); // what is computed changes in no way that it does not say
}

#[test]
fn what_a_custom_table_archives_is_read_as_a_homogeneous_one() {
    let table: Box<dyn NumericTable> = Box::new(stacked::<u8>());
    let copy = HomogenNumericTable::<u8>::from_bytes(&table.to_bytes().unwrap()).unwrap();
    assert_eq!(copy.as_slice().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let ramp: &dyn NumericTable = &Ramp::new(Shape { rows: 300, columns: 70 });
    let copy = from_bytes_any(&ramp.to_bytes().unwrap()).unwrap();
    assert_eq!((copy.kind(), copy.uniform_type()), (TableKind::HOMOGENEOUS, Some(ElementType::I32)));
    assert_eq!(values_of::<i32>(&*copy), (0..21_000).collect::<Vec<_>>());
}

#[test]
fn what_every_table_derives_from_its_dictionary_works_for_a_custom_one() {
    let mut table = stacked::<i32>();
    let features = ["kind", "size"].map(|name| Feature::new(ElementType::I32).named(name).categorical(3));
    table.set_dictionary(features.into_iter().collect()).unwrap();
    assert_eq!(table.feature_type(1).unwrap(), FeatureType::Categorical);
    assert_eq!(table.category_count(0).unwrap(), Some(3));
    table.reset_dictionary().unwrap();
    assert_eq!((table.feature_type(1).unwrap(), table.dictionary().index_of("kind")), (FeatureType::Continuous, None));
    assert_eq!((table.uniform_type(), table.column_type(1).unwrap()), (Some(ElementType::I32), ElementType::I32));
    assert!(matches!(table.column_type(2), Err(Error::ColumnOutOfRange { column: 2, column_count: 2 })));
}

#[test]
fn what_a_kind_does_not_say_it_can_is_refused() {
    let mut table = Ramp::new(Shape { rows: 4, columns: 2 });
    let features = DataDictionary::uniform(Feature::new(ElementType::I32).named("a"), 2);
    assert!(matches!(table.set_dictionary(features), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.reset_dictionary(), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.resize(5), Err(Error::ReadOnlyTable)));
    assert_eq!((table.kind(), table.data_layout()), (TableKind::CUSTOM, DataLayout::RowMajor));
    assert_eq!((table.shape(), table.dictionary().index_of("a")), (Shape { rows: 4, columns: 2 }, None));
    let mut lease = Lease::new();
    let rows = Region { rows: 0..1, columns: 0..2 };
    assert!(matches!(table.lend_region(&rows, None, &mut lease), Err(Error::ReadOnlyTable)));
    assert!(lease.is_empty());
}

#[cfg(feature = "csv")]
#[test]
fn any_kind_of_table_is_written_as_csv() {
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 2, columns: 3 }));
    let tables: [(&dyn NumericTable, &str); 2] = [(&stacked, "1,2\n3,4\n5,6\n7,8\n9,10\n"), (&ramp, "0,1,2\n3,4,5\n")];
    for (table, expected) in tables {
        let mut text = Vec::new();
        table.write_csv_to(&mut text, numeric_table::CsvWriteOptions::new().header(false)).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}

#[test]
fn a_computed_value_that_cannot_be_converted_is_named_and_nothing_is_written() {
    for columns in [3, 5000] {
        let table = Ramp::new(Shape { rows: 1000, columns });
        let region = Region { rows: 0..1000, columns: 1..columns };
        let mut values = vec![7_u8; region.shape().element_count().unwrap()];
        let target = Target::new(AnySliceMut::new(&mut values), region.shape(), ConversionPolicy::Checked);
        let place = (256 / columns, 256 % columns);
        match table.read_region(&region, target.unwrap()) {
            Err(Error::ValueNotRepresentable { row, column, .. }) => assert_eq!((row, column), place),
            other => panic!("{other:?}"),
        }
        assert!(values.iter().all(|&value| value == 7));
        let refused = table.rows_with::<u8>(.., ConversionPolicy::Checked);
        assert!(matches!(refused, Err(Error::ValueNotRepresentable { row, column, .. }) if (row, column) == place));
    }
}

#[test]
fn many_computed_values_are_each_where_they_belong() {
    let table = Ramp::new(Shape { rows: 3000, columns: 1500 });
    let values = table.rows::<i64>(1..2999).unwrap();
    assert!(values.iter().copied().eq(1500..2999 * 1500));
    let column = table.column::<f64>(1499, ..).unwrap();
    assert!(column.iter().enumerate().all(|(row, &value)| value == (row * 1500 + 1499) as f64));
}

#[test]
fn borrowed_values_are_a_table_while_the_loan_lasts() {
    let values = vec![1.5_f32, 2.0, -3.0, 4.0, 5.0, 600.0];
    let statistics = {
        let view = View::new(&values, Shape { rows: 3, columns: 2 });
        let table: &dyn NumericTable = &view;
        let rows = table.rows::<f32>(1..).unwrap();
        assert!(rows.is_zero_copy() && rows.as_ptr() == values[2..].as_ptr());
        assert_eq!(&table.rows::<f64>(..2).unwrap()[..], [1.5, 2.0, -3.0, 4.0]);
        assert_eq!(&table.column::<u8>(1, ..).unwrap()[..], [2, 4, 255]);
        let refused = table.rows_with::<u8>(.., ConversionPolicy::Checked);
        assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 1, column: 0, .. })));
        let mut block = BlockDescriptor::<f32>::new();
        assert_eq!(table.read_rows(2.., &mut block).unwrap(), [5.0, 600.0]);
        assert!(!block.is_zero_copy()); // it may outlive the loan
        let sums: Vec<f32> = table.row_blocks::<f32>(2).unwrap().map(|block| block.unwrap().iter().sum()).collect();
        assert_eq!(sums, [4.5, 605.0]);
        assert_eq!(
            table.to_string(),
            "3 x 2 f32, row major\n      0      1\n0   1.5    2.0\n1  -3.0    4.0\n2   5.0  600.0"
        );
        BasicStatistics::of(table).unwrap()
    };
    assert_eq!(statistics.columns().iter().map(|column| column.mean()).collect::<Vec<_>>(), [3.5 / 3.0, 202.0]);
}

#[test]
fn borrowed_values_are_saved_and_are_not_written() {
    let (folder, values) = (tempfile::tempdir().unwrap(), [1.0_f32, 2.0, 3.0, 4.0]);
    let path = folder.path().join("table.ntb");
    let mut tables: Vec<Box<dyn NumericTable + '_>> = vec![Box::new(View::new(&values, Shape { rows: 2, columns: 2 }))];
    let table = &mut *tables[0];
    table.save_with(&path, SaveOptions::new().durable(false)).unwrap();
    assert_eq!(values_of::<f32>(&*load_any(&path).unwrap()), values);
    assert_eq!(values_of::<f32>(&*from_bytes_any(&table.to_bytes().unwrap()).unwrap()), values);
    assert!(matches!(table.rows_mut::<f32>(..), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.rows_mut::<f64>(..), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.set_value(0, 0, 1.0_f32), Err(Error::ReadOnlyTable)));
    assert!(matches!(table.fill(1), Err(Error::ReadOnlyTable)));
    let mut block = BlockDescriptor::<f32>::new();
    let refused = table.get_block_of_rows(0, 1, ReadWriteMode::WriteOnly, &mut block);
    assert!(matches!(refused, Err(Error::ReadOnlyTable)));
}
