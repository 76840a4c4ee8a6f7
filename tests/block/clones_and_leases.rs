//! Clones of a table that is leased, and leases without a descriptor.

use numeric_table::array::AnySlice;
use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::spi::{Lease, Lend, Region};
use test_support::tables::*;
use test_support::{CountingOwner, DropCount};

use DataLayout::RowMajor;
use MemoryStatus::{InternallyAllocated, UserAllocated};
use ReadWriteMode::{ReadWrite, WriteOnly};

// --- clones and leases ---------------------------------------------------------------------------------------------

#[test]
fn a_clone_made_before_a_lease_is_not_leased() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let clone = table.clone();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 9.0;
    assert_eq!(values_of(&clone), [1.0, 2.0, 3.0, 4.0]);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!((values_of(&table)[0], values_of(&clone)[0]), (9.0, 1.0));
}

#[test]
fn a_clone_made_while_leased_waits_and_then_shares_what_comes_back() {
    for layout in LAYOUTS {
        let mut table = numbered::<f32>(2, 2, layout);
        let mut block = BlockDescriptor::<f64>::new();
        table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
        let mut clone = table.clone();
        assert_error!(clone.as_slice(), ErrorKind::BlockOutstanding { rows } if *rows == (0..1));
        block.as_mut_slice().unwrap()[0] = 9.0;
        table.release_block_of_rows(&mut block).unwrap();
        assert_eq!((values_of(&table), values_of(&clone)), (vec![9.0, 2.0, 3.0, 4.0], vec![9.0, 2.0, 3.0, 4.0]));
        assert!(clone.array().unwrap().shares_memory_with(table.array().unwrap()));
        clone.fill(0).unwrap();
        assert_eq!(values_of(&table), [9.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn a_clone_made_while_leased_outlives_the_table() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 9.0;
    let mut clone = table.clone();
    drop(table);
    assert_error!(clone.as_slice(), ErrorKind::BlockOutstanding { .. });
    assert_error!(clone.release_block_of_rows(&mut block), ErrorKind::WrongTable);
    drop(block);
    assert_eq!(values_of(&clone), [9.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_clone_that_has_not_looked_yet_does_not_see_the_next_lease() {
    let mut table = numbered::<f32>(1, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    let clone = table.clone();
    block.as_mut_slice().unwrap()[0] = 8.0;
    table.release_block_of_rows(&mut block).unwrap();
    table.get_block_of_rows(0, 1, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 9.0;
    assert_eq!(values_of(&clone), [8.0, 2.0]);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!((values_of(&table), values_of(&clone)), (vec![9.0, 2.0], vec![8.0, 2.0]));
}

#[test]
fn a_block_outlives_its_table_and_frees_the_memory() {
    let drops = DropCount::new();
    let owner = CountingOwner::new(vec![1.0_f32, 2.0], &drops);
    let mut table = HomogenNumericTable::from_array(Array::from_owner_mut(owner), shape(2, 1)).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
    drop(table);
    block.as_mut_slice().unwrap()[1] = 9.0;
    assert_eq!((block.as_slice(), drops.get()), (&[1.0, 9.0][..], 0));
    drop(block);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_lease_of_shared_or_immutable_memory_is_of_a_copy() {
    static VALUES: [f32; 2] = [1.0, 2.0];
    let mut table = HomogenNumericTable::from_array(&VALUES[..], shape(2, 1)).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(1, 1, ReadWrite, &mut block).unwrap();
    assert_eq!(block.as_slice(), [2.0]);
    block.as_mut_slice().unwrap()[0] = 9.0;
    assert!(block.is_zero_copy());
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!((values_of(&table), VALUES), (vec![1.0, 9.0], [1.0, 2.0]));
    assert_eq!(table.data_memory_status(), InternallyAllocated);
}

#[test]
fn a_lease_of_mutable_user_memory_keeps_place_and_status() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let place = address(table.as_slice().unwrap());
    for mode in [ReadWrite, WriteOnly] {
        let mut block = BlockDescriptor::<f32>::new();
        table.get_block_of_rows(0, 2, mode, &mut block).unwrap();
        assert_eq!(address(block.as_slice()), place);
        table.release_block_of_rows(&mut block).unwrap();
    }
    assert_eq!((address(table.as_slice().unwrap()), table.data_memory_status()), (place, UserAllocated));
}

// --- leases, without a descriptor ----------------------------------------------------------------------------------

#[test]
fn a_lease_is_written_only_through_the_table_that_made_it() {
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    for layout in LAYOUTS {
        for in_place in [None, Some(ElementType::U8)] {
            let mut table = numbered::<u8>(2, 1, layout);
            let mut lease = Lease::new();
            let is_in_place = table.lend_region(&Region { rows: 0..2, columns: 0..1 }, in_place, &mut lease).unwrap();
            assert_eq!(is_in_place, in_place.is_some());
            let (mut clone, mut other) = (table.clone(), numbered::<u8>(2, 1, layout));
            let mut clone_of_clone = clone.clone();
            for stranger in [&mut clone, &mut clone_of_clone, &mut other] {
                let written = stranger.write_lent(&mut lease, AnySlice::new(&[7_u8, 8]), rule);
                assert_error!(written, ErrorKind::WrongTable);
                assert_error!(stranger.take_back(&mut lease), ErrorKind::WrongTable);
            }
            table.write_lent(&mut lease, AnySlice::new(&[5_u8, 6]), rule).unwrap();
            if is_in_place {
                drop(lease);
            } else {
                table.take_back(&mut lease).unwrap();
                assert_error!(table.take_back(&mut lease), ErrorKind::WrongTable); // it holds nothing any more
            }
            assert_eq!((values_of(&table), values_of(&clone), values_of(&other)), (vec![5, 6], vec![5, 6], vec![1, 2]));
        }
    }
}

#[test]
fn a_lease_whose_table_is_gone_is_written_by_no_clone() {
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    let mut table = numbered::<u8>(2, 1, RowMajor);
    let mut lease = Lease::new();
    table.lend_region(&Region { rows: 0..2, columns: 0..1 }, None, &mut lease).unwrap();
    let mut clone = table.clone();
    drop(table);
    assert_error!(clone.write_lent(&mut lease, AnySlice::new(&[7_u8, 8]), rule), ErrorKind::WrongTable);
    drop(lease);
    assert_eq!(values_of(&clone), [1, 2]);
    // What comes back to the clone is its own, to be lent again.
    let mut lease = Lease::new();
    clone.lend_region(&Region { rows: 0..2, columns: 0..1 }, None, &mut lease).unwrap();
    clone.write_lent(&mut lease, AnySlice::new(&[7_u8, 8]), rule).unwrap();
    drop(lease);
    assert_eq!(values_of(&clone), [7, 8]);
}
