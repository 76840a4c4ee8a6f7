//! What rows show that appear: the same whoever shares the memory, whatever the layout and whoever has lent the memory.
//!
//! Semantics: the page of `NumericTable::resize`. The four rules about memory are in `resize`.

use std::any::Any;
use std::sync::Arc;

use numeric_table::prelude::*;
use test_support::tables::*;

use DataLayout::RowMajor;

type Table = HomogenNumericTable<u8>;

/// What is done to a table.
#[derive(Clone, Copy, Debug)]
enum Step {
    Resize(usize),
    /// Writes the value everywhere.
    Assign(u8),
}
use Step::{Assign, Resize};

/// Who else has the memory while the steps are done. What it returns keeps it.
type Sharer = (&'static str, fn(&mut Table) -> Box<dyn Any>);

const SHARERS: [Sharer; 7] = [
    ("nobody", |_| Box::new(())),
    ("a clone", |table| Box::new(table.clone())),
    ("a clone that is gone", |table| {
        drop(table.clone());
        Box::new(())
    }),
    ("a slice", |table| Box::new(table.slice_rows(0..1.min(table.row_count())).unwrap())),
    ("a clone that was made while a block was out", |table| {
        let mut block = BlockDescriptor::<u8>::new();
        table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
        let clone = table.clone();
        table.release_block_of_rows(&mut block).unwrap();
        Box::new(clone)
    }),
    ("a block for reading", |table| {
        let mut block = BlockDescriptor::<u8>::new();
        table.read_rows(0..table.row_count(), &mut block).unwrap();
        Box::new(block)
    }),
    ("an array", |table| Box::new(table.array().unwrap().clone())),
];

/// Does the steps, with every sharer there from before any of them, or only before one of them.
fn assert_shows(what: &str, make: &dyn Fn() -> Table, steps: &[Step], expected: &[u8]) {
    for (name, share) in SHARERS {
        for shared_from in 0..steps.len() {
            for shared_to in shared_from..steps.len() {
                let (mut table, mut sharers) = (make(), Vec::new());
                for (i, &step) in steps.iter().enumerate() {
                    if (shared_from..=shared_to).contains(&i) {
                        sharers.push(share(&mut table));
                    } else {
                        sharers.clear();
                    }
                    match step {
                        Resize(rows) => table.resize(rows).unwrap(),
                        Assign(value) => table.fill(value).unwrap(),
                    }
                }
                let found = values_of(&table);
                assert_eq!(found, expected, "{what}, {steps:?}, shared by {name} in steps {shared_from}..={shared_to}");
            }
        }
    }
}

/// The values 1 to 8 in 4 x 2, on every kind of memory.
fn assert_all_show(steps: &[Step], expected: &[u8]) {
    for layout in LAYOUTS {
        let make = || numbered::<u8>(4, 2, layout);
        let in_layout_order = || make().into_array().unwrap().to_vec();
        let from = |array: Array<u8>| Table::from_array_with_layout(array, shape(4, 2), layout).unwrap();
        assert_shows("a vec", &make, steps, expected);
        assert_shows("an arc", &|| from(Arc::<[u8]>::from(in_layout_order()).into()), steps, expected);
        assert_shows("an owner", &|| from(Array::from_owner(in_layout_order())), steps, expected);
        assert_shows("the library's", &|| Table::from_bytes(&make().to_bytes().unwrap()).unwrap(), steps, expected);
        assert_shows(
            "a slice",
            &|| {
                let mut larger = make();
                larger.resize(6).unwrap();
                larger.slice_rows(0..4).unwrap()
            },
            steps,
            expected,
        );
    }
}

#[test]
fn rows_that_were_cut_off_are_zero_when_they_appear_again() {
    assert_all_show(&[Resize(2), Resize(4)], &[1, 2, 3, 4, 0, 0, 0, 0]);
    assert_all_show(&[Resize(0), Resize(4)], &[0; 8]);
    assert_all_show(&[Resize(4), Resize(3), Resize(4)], &[1, 2, 3, 4, 5, 6, 0, 0]);
}

#[test]
fn rows_that_were_cut_off_are_zero_after_a_write_as_well() {
    assert_all_show(&[Resize(1), Assign(9), Resize(3)], &[9, 9, 0, 0, 0, 0]);
    assert_all_show(&[Resize(3), Resize(1), Assign(9), Resize(2), Resize(4)], &[9, 9, 0, 0, 0, 0, 0, 0]);
    assert_all_show(
        &[Assign(7), Resize(2), Resize(3), Assign(8), Resize(2), Resize(5)],
        &[8, 8, 8, 8, 0, 0, 0, 0, 0, 0],
    );
}

/// The values 1 to 12 in 6 x 2, of which 2 rows are shown.
fn assert_spare_rows_show(steps: &[Step], expected: &[u8]) {
    static VALUES: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let from = |array: Array<u8>| Table::from_array_with_spare_rows(array, shape(2, 2)).unwrap();
    assert_shows("a vec", &|| from(VALUES.to_vec().into()), steps, expected);
    assert_shows("a static", &|| from(Array::from(&VALUES[..])), steps, expected);
    assert_shows("an owner", &|| from(Array::from_owner_mut(VALUES.to_vec())), steps, expected);
    let set = || {
        let mut table = Table::new(shape(5, 2), AllocationFlag::DoAllocate).unwrap();
        table.set_array_with_spare_rows(VALUES.to_vec(), 2).unwrap();
        table
    };
    assert_shows("set", &set, steps, expected);
}

#[test]
fn spare_rows_show_what_the_lender_put_there() {
    assert_spare_rows_show(&[Resize(4)], &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_spare_rows_show(&[Assign(9), Resize(4)], &[9, 9, 9, 9, 5, 6, 7, 8]);
    assert_spare_rows_show(&[Resize(3), Assign(9), Resize(6)], &[9, 9, 9, 9, 9, 9, 7, 8, 9, 10, 11, 12]);
}

#[test]
fn spare_rows_that_were_cut_off_are_zero() {
    assert_spare_rows_show(&[Resize(4), Resize(3), Resize(5)], &[1, 2, 3, 4, 5, 6, 0, 0, 9, 10]);
    assert_spare_rows_show(&[Resize(1), Assign(9), Resize(4)], &[9, 9, 0, 0, 5, 6, 7, 8]);
    assert_spare_rows_show(&[Resize(0), Resize(6)], &[0, 0, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12]);
}

#[test]
fn spare_rows_go_along_into_larger_memory() {
    assert_spare_rows_show(&[Resize(7)], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0]);
    assert_spare_rows_show(&[Resize(6), Resize(7)], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0]);
    assert_spare_rows_show(&[Resize(1), Resize(7)], &[1, 2, 0, 0, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0]);
}

#[test]
fn a_table_without_spare_rows_of_its_own_shows_none_of_another() {
    let table = Table::from_array_with_spare_rows(vec![1, 2, 3, 4, 5, 6], shape(1, 2)).unwrap();
    for mut other in [table.slice_rows(0..1).unwrap(), table.to_compact().unwrap()] {
        other.resize(2).unwrap();
        assert_eq!(values_of(&other), [1, 2, 0, 0]);
    }
    let mut clone = table.clone();
    clone.resize(2).unwrap();
    assert_eq!((values_of(&clone), values_of(&table)), (vec![1, 2, 3, 4], vec![1, 2]));
}

#[test]
fn an_array_with_spare_rows_is_a_whole_number_of_rows() {
    let from = |count, rows, columns| Table::from_array_with_spare_rows(vec![1; count], shape(rows, columns));
    assert_error!(from(5, 3, 2), ErrorKind::ArrayLength { have: 5, need: 6, .. });
    assert!(from(6, 3, 2).is_ok() && from(8, 3, 2).is_ok() && from(8, 0, 2).is_ok());
    assert_error!(from(9, 3, 2), ErrorKind::ArrayLength { have: 9, need: 8, .. });
    assert_error!(from(1, 0, 2), ErrorKind::ArrayLength { have: 1, need: 0, .. });
    assert_error!(from(6, 3, 0), ErrorKind::ArrayLength { have: 6, need: 0, .. });
    assert_error!(from(6, usize::MAX, 2), ErrorKind::SizeOverflow { .. });
}

#[test]
fn a_column_major_table_has_no_spare_rows() {
    let mut table = Table::new_with_layout(shape(2, 2), AllocationFlag::DoAllocate, DataLayout::ColumnMajor).unwrap();
    assert_error!(table.set_array_with_spare_rows(vec![1; 6], 2), ErrorKind::ArrayLength { have: 6, need: 4, .. });
    table.set_array_with_spare_rows(vec![1, 2, 3, 4], 2).unwrap();
    assert_eq!(values_of(&table), [1, 3, 2, 4]);
}

#[test]
fn rows_that_were_cut_off_stay_zero_for_those_who_share_them() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(3, 2, layout);
        let before = table.clone();
        table.resize(1).unwrap();
        let mut after = table.clone();
        after.resize(3).unwrap();
        assert_eq!(values_of(&after), [1, 2, 0, 0, 0, 0]);
        assert_eq!((values_of(&table), values_of(&before)), (vec![1, 2], vec![1, 2, 3, 4, 5, 6]));
    }
}

#[test]
fn a_resize_that_is_refused_while_a_block_is_out_cuts_nothing_off() {
    let mut table = numbered::<u8>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(0, 3, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(table.resize(1), ErrorKind::BlockOutstanding { .. });
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of(&table), [1, 2, 3, 4, 5, 6]);
}
