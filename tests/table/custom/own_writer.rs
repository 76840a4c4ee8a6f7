//! A kind of table that has no pieces, and is read and written by methods of its own.

use numeric_table::array::AnySlice;
use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::spi::{Lease, Lend, Region, TableId, Target};
use test_support::tables::LAYOUTS;

use super::{Result, Stacked, stacked, values_of};

/// Values that are walled in: nothing is known of where they lie. Rows from `first_locked` on cannot be written.
struct Walled {
    inside: HomogenNumericTable<i32>,
    first_locked: usize,
}

impl Walled {
    fn new(rows: usize, first_locked: usize) -> Self {
        let inside =
            HomogenNumericTable::from_array((0..2 * rows as i32).collect::<Vec<_>>(), Shape { rows, columns: 2 });
        Self { inside: inside.unwrap(), first_locked }
    }
}

impl NumericTable for Walled {
    fn shape(&self) -> Shape {
        self.inside.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        self.inside.dictionary()
    }

    fn id(&self) -> TableId {
        self.inside.id()
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        self.inside.read_region(region, target)
    }

    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        if region.rows.end > self.first_locked {
            return Err(Error::other("locked"));
        }
        self.inside.write_region(region, values, rule)
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}

impl Lend for Walled {
    fn check_block_writable(&mut self) -> Result<()> {
        Ok(())
    }
}

fn before(rows: usize) -> Vec<i32> {
    (0..2 * rows as i32).collect()
}

#[test]
fn a_table_without_pieces_is_written_by_every_call_but_the_walks_over_writable_blocks() {
    let mut table = Walled::new(5, 5);
    let mut block = table.rows_mut::<f64>(1..3).unwrap();
    assert!(!block.is_zero_copy());
    block[0] = 20.0;
    block.release().unwrap();
    table.set_value(0, 1, 10_u8).unwrap();
    table
        .update_column::<i64, _>(0, 3.., |column| {
            column.fill(-1);
            Ok(())
        })
        .unwrap();
    let mut descriptor = BlockDescriptor::<i32>::new();
    table.get_block_of_rows(4, 1, ReadWriteMode::ReadWrite, &mut descriptor).unwrap();
    descriptor.as_mut_slice().unwrap()[1] = 90;
    table.release_block_of_rows(&mut descriptor).unwrap();
    assert_eq!(values_of::<i32>(&table), [0, 10, 20, 3, 4, 5, -1, 7, -1, 90]);
    table
        .update_row_blocks::<i16>(2, |block| {
            block.iter_mut().for_each(|value| *value += 1);
            Ok(())
        })
        .unwrap();
    assert_eq!(values_of::<i32>(&table), [1, 11, 21, 4, 5, 6, 0, 8, 0, 91]);
    assert!(
        table.row_blocks_mut::<i32>(2).map(drop).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable))
    );
}

#[cfg(feature = "rayon")]
#[test]
fn a_parallel_update_of_a_table_without_pieces_does_one_block_after_the_other() {
    let mut table = Walled::new(100, 100);
    table
        .par_update_row_blocks::<f64>(7, |block| {
            block.iter_mut().for_each(|value| *value *= 2.0);
            Ok(())
        })
        .unwrap();
    assert!(values_of::<i32>(&table).iter().enumerate().all(|(index, &value)| value == 2 * index as i32));
}

#[test]
fn a_table_without_pieces_is_filled_as_a_whole_or_not_at_all() {
    let mut table = Walled::new(10_000, 9_999); // the last row is locked
    assert!(table.fill(7).is_err_and(|error| matches!(error.kind(), ErrorKind::Other { .. })));
    assert_eq!(values_of::<i32>(&table), before(10_000));
    let mut table = Walled::new(10_000, 10_000);
    assert!(
        table
            .fill(1e300)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. }))
    );
    table.fill(7).unwrap();
    assert!(values_of::<i32>(&table).iter().all(|&value| value == 7));
}

#[test]
fn blocks_without_values_are_taken_from_every_place_of_a_writable_table() {
    let mut table = stacked::<i16>();
    for row in 0..=5 {
        assert!(table.rows_mut::<i16>(row..row).unwrap().is_empty());
        assert!(table.rows_mut::<f32>(row..row).unwrap().is_empty());
        assert!(table.column_mut::<f32>(1, row..row).unwrap().is_empty());
        table
            .update_rows::<f32, _>(row..row, |block| {
                assert!(block.is_empty());
                Ok(())
            })
            .unwrap();
    }
    assert!(
        table
            .rows_mut::<i16>(6..6)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 5, .. }))
    );
    let mut ramp = super::Ramp::new(Shape { rows: 3, columns: 2 });
    assert!(ramp.rows_mut::<i32>(3..3).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
}

/// A stacked table that lends nothing.
struct LendsNothing(Stacked<u8>);

impl NumericTable for LendsNothing {
    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        self.0.dictionary()
    }

    fn id(&self) -> TableId {
        self.0.id()
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<numeric_table::table::spi::Piece<'_>>> {
        self.0.piece(row, column)
    }

    fn pieces_mut(&mut self) -> Result<Vec<numeric_table::table::spi::PieceMut<'_>>> {
        self.0.pieces_mut()
    }
}

#[test]
fn a_refused_descriptor_copies_no_memory_of_any_kind_of_table() {
    let part = HomogenNumericTable::from_rows(&[[1_u8, 2], [200, 4]]).unwrap();
    let mut table = LendsNothing(Stacked::new(part.clone(), part.clone()));
    let mut block = BlockDescriptor::<i8>::with_policy(ConversionPolicy::Exact);
    let refused = table.get_block_of_rows(1, 2, ReadWriteMode::ReadWrite, &mut block);
    assert!(
        refused
            .as_ref()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 1, column: 0, .. })),
        "{refused:?}"
    );
    assert_eq!(part.array().unwrap().owner_count(), 3);
}

#[test]
fn an_archive_of_any_table_has_its_layout() {
    for layout in LAYOUTS {
        let table = HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 6], [7, 8, 9]]).unwrap();
        let table = table.to_layout(layout).unwrap();
        for part in [table.clone(), table.slice_rows(..2).unwrap(), table.slice_rows(1..2).unwrap()] {
            let any: &dyn NumericTable = &part;
            assert_eq!(any.to_bytes().unwrap(), part.to_bytes().unwrap());
        }
    }
}

/// What a table does that lends the memory of another one.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    /// It lends in place only, and says nothing to the lease of a block that is converted.
    InPlaceOnly,
    /// It takes nothing back.
    TakesNothing,
    /// It returns an error after lending.
    FailsAfterLending,
}

struct Careless {
    inside: HomogenNumericTable<f32>,
    habit: Habit,
}

impl Careless {
    fn new(habit: Habit) -> Self {
        Self { inside: HomogenNumericTable::from_rows(&[[1.0, 2.0], [3.0, 4.0]]).unwrap(), habit }
    }
}

impl NumericTable for Careless {
    fn shape(&self) -> Shape {
        self.inside.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        self.inside.dictionary()
    }

    fn id(&self) -> TableId {
        self.inside.id()
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        self.inside.read_region(region, target)
    }

    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        self.inside.write_region(region, values, rule)
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}

impl Lend for Careless {
    fn check_block_writable(&mut self) -> Result<()> {
        Ok(())
    }

    fn lend_region(&mut self, region: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool> {
        if self.habit == Habit::InPlaceOnly && in_place.is_none() {
            return Ok(false);
        }
        let lent = self.inside.lend_region(region, in_place, lease);
        if self.habit == Habit::FailsAfterLending { Err(Error::other("in spite of that")) } else { lent }
    }

    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        if self.habit == Habit::TakesNothing || lease.is_empty() { Ok(()) } else { self.inside.take_back(lease) }
    }
}

#[test]
fn a_block_that_is_copied_goes_back_to_its_own_place_whatever_the_descriptor_held_before() {
    let mut table = Careless::new(Habit::InPlaceOnly);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap(); // in place
    table.release_block_of_rows(&mut block).unwrap();
    table.get_block_of_column_values(1, 0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[1] = 40.0;
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(table.inside.as_slice().unwrap(), [1.0, 2.0, 3.0, 40.0]);
}

#[test]
fn memory_that_a_table_leaves_in_a_lease_goes_back_to_it() {
    for habit in [Habit::TakesNothing, Habit::FailsAfterLending] {
        let (mut table, mut block) = (Careless::new(habit), BlockDescriptor::<f32>::new());
        let fails = habit == Habit::FailsAfterLending;
        let got = table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block);
        assert_eq!(got.is_err(), fails);
        if !fails {
            block.as_mut_slice().unwrap()[0] = 9.0;
            table.release_block_of_rows(&mut block).unwrap();
        }
        assert_eq!(table.inside.as_slice().unwrap()[0], if fails { 1.0 } else { 9.0 });
    }
}
