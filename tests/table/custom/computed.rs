//! A table that computes its values is read in every way, and refuses every writer.

use numeric_table::array::{AnySlice, AnySliceMut};
use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::spi::{Lease, Lend, Region, TableId, TableKind, Target};

use super::{Ramp, Result, values_of};

#[test]
fn an_update_of_a_table_that_takes_no_writer_is_an_error() {
    let mut table = Ramp::new(Shape { rows: 2, columns: 2 });
    let refused = table.update_rows::<i32, _>(.., |block| {
        block.fill(0);
        Ok(())
    });
    assert!(refused.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)), "{refused:?}");
    assert!(
        table
            .update_row_blocks::<f64>(1, |_| Ok(()))
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable))
    );
}

#[test]
fn a_generated_table_lends_blocks_of_any_type() {
    let table = Ramp::new(Shape { rows: 4, columns: 3 });
    assert_eq!(&table.rows::<f64>(1..3).unwrap()[..], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(&table.rows::<i32>(1..2).unwrap()[..], [3, 4, 5]);
    assert_eq!(&table.column::<u8>(2, 0..4).unwrap()[..], [2, 5, 8, 11]);
    assert_eq!(table.value::<f32>(3, 2).unwrap(), 11.0);
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
    assert!(table.rows_mut::<i32>(0..1).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(table.column_mut::<f64>(0, 0..1).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(table.set_value(0, 0, 1).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(table.fill(1).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(
        table.row_blocks_mut::<f32>(2).map(drop).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable))
    );
    assert!(table.check_writable().is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert_eq!(values_of::<i32>(&table), (0..12).collect::<Vec<_>>());
}

#[test]
fn a_descriptor_holds_nothing_after_a_refused_get() {
    let mut table = Ramp::new(Shape { rows: 4, columns: 3 });
    let mut block = BlockDescriptor::<f64>::new();
    let refused = table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block);
    assert!(refused.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(
        table
            .release_block_of_rows(&mut block)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::WrongBlockKind { actual: None, .. }))
    );
}

#[test]
fn what_a_kind_does_not_say_it_can_is_refused() {
    let mut table = Ramp::new(Shape { rows: 4, columns: 2 });
    let features = DataDictionary::uniform(Feature::new(ElementType::I32).named("a"), 2);
    assert!(table.set_dictionary(features).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(table.reset_dictionary().is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert!(table.resize(5).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert_eq!((table.kind(), table.data_layout()), (TableKind::CUSTOM, DataLayout::RowMajor));
    assert_eq!((table.shape(), table.dictionary().index_of("a")), (Shape { rows: 4, columns: 2 }, None));
    assert!(table.lender().is_none() && table.lender_mut().is_none());
    let mut block = BlockDescriptor::<f64>::new();
    let refused = table.get_block_of_rows(0, 1, ReadWriteMode::WriteOnly, &mut block);
    assert!(refused.is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    assert_eq!(block.mode(), None);
}

/// A lender that overrides nothing.
struct Lender(Ramp);

impl NumericTable for Lender {
    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        self.0.dictionary()
    }

    fn id(&self) -> TableId {
        self.0.id()
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        self.0.read_region(region, target)
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}

impl Lend for Lender {}

#[test]
fn a_lender_that_overrides_nothing_lends_nothing() {
    let mut table = Lender(Ramp::new(Shape { rows: 4, columns: 2 }));
    let mut lease = Lease::new();
    let rows = Region { rows: 0..1, columns: 0..2 };
    let (element, past) = (ElementType::I32, Region { rows: 4..5, columns: 0..2 });
    assert!(table.slice_of(&rows, element).unwrap().is_none() && table.slice_of(&past, element).is_err());
    assert!(table.slice_of_mut(&rows, element).unwrap().is_none() && table.array_of(&rows, element).unwrap().is_none());
    assert!(!table.lend_region(&rows, Some(element), &mut lease).unwrap());
    table.take_back(&mut lease).unwrap();
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    table.write_lent(&mut lease, AnySlice::new::<i32>(&[]), rule).unwrap(); // the empty region of a new lease
    let (mut other, mut lease_of_other) = (HomogenNumericTable::from_rows(&[[1, 2]]).unwrap(), Lease::new());
    other.lend_region(&rows, None, &mut lease_of_other).unwrap();
    let written = table.write_lent(&mut lease_of_other, AnySlice::new(&[3, 4]), rule);
    assert!(written.is_err_and(|error| matches!(error.kind(), ErrorKind::WrongTable)));
    let taken = table.take_back(&mut lease_of_other);
    assert!(taken.is_err_and(|error| matches!(error.kind(), ErrorKind::WrongTable)));
    assert!(
        table.lend_region(&rows, None, &mut lease).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable))
    );
    assert!(lease.is_empty());
}

#[test]
fn a_computed_value_that_cannot_be_converted_is_named_and_nothing_is_written() {
    for columns in [3, 5000] {
        let table = Ramp::new(Shape { rows: 1000, columns });
        let region = Region { rows: 0..1000, columns: 1..columns };
        let mut values = vec![7_u8; region.shape().element_count().unwrap()];
        let target = Target::new(AnySliceMut::new(&mut values), region.shape(), ConversionPolicy::Checked);
        let place = (256 / columns, 256 % columns);
        match table.read_region(&region, target.unwrap()).map_err(Error::into_kind) {
            Err(ErrorKind::ValueNotRepresentable { row, column, .. }) => assert_eq!((row, column), place),
            other => panic!("{other:?}"),
        }
        assert!(values.iter().all(|&value| value == 7));
        let refused = table.rows_with::<u8>(.., ConversionPolicy::Checked);
        assert!(refused.as_ref().is_err_and(|error| matches!(
            error.kind(),
            ErrorKind::ValueNotRepresentable { row, column, .. } if (*row, *column) == place
        )));
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
