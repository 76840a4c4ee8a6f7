//! Every owner of memory is dropped exactly once, and at the right moment: with the last array, table or block on it.
//!
//! Semantics: the data ownership requirements of oneDAL's `array` (seeds 000, 001, 002), carried over to tables and
//! blocks of rows. Each scenario runs 10,000 times with every source of memory whose end can be counted: an owner, a
//! deleter, elements that count their drops. Memory that nothing can count, that of the library and plain `Vec`s, is
//! covered by leak checks: this program's allocator counts the blocks that a thread has and has not given back.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use numeric_table::prelude::*;

use common::{CountingOwner, DropCount};

const REPEATS: usize = 10_000;

const VALUES: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

const SHAPE: Shape = Shape { rows: 3, columns: 2 };

// ---- Sources of memory ---------------------------------------------------------------------------------------------

/// A source of memory: makes an array of `VALUES` whose owner counts its drop.
type Source = (&'static str, fn(&DropCount) -> Array<f32>);

/// Arrays that are never writable in place.
const IMMUTABLE: [Source; 6] = [
    ("from_owner", |drops| Array::from_owner(CountingOwner::new(VALUES, drops))),
    ("from_raw_parts", |drops| {
        let (data, delete) = (Box::into_raw(Box::new(VALUES)), drops.clone());
        let deleter = move |data: *const f32, _| {
            delete.add_one();
            // SAFETY: this is the box that was leaked above.
            drop(unsafe { Box::from_raw(data.cast_mut().cast::<[f32; 6]>()) });
        };
        // SAFETY: nothing but the deleter touches the box.
        unsafe { Array::from_raw_parts(data.cast_const().cast(), VALUES.len(), deleter) }
    }),
    ("Vec of counted elements", |drops| numbers(Array::from(vec![Counted::new(drops)]))),
    ("Box of counted elements", |drops| numbers(Array::from(vec![Counted::new(drops)].into_boxed_slice()))),
    ("Arc of counted elements", |drops| numbers(Array::from(Arc::from(vec![Counted::new(drops)])))),
    ("iterator of counted elements", |drops| numbers([Counted::new(drops)].into_iter().collect())),
];

/// Arrays that are writable in place by their only owner.
const MUTABLE: [Source; 2] = [
    ("from_owner_mut", |drops| Array::from_owner_mut(CountingOwner::new(VALUES, drops))),
    ("from_raw_parts_mut", |drops| {
        let (data, delete) = (Box::into_raw(Box::new(VALUES)), drops.clone());
        let deleter = move |data: *mut f32, _| {
            delete.add_one();
            // SAFETY: this is the box that was leaked above.
            drop(unsafe { Box::from_raw(data.cast::<[f32; 6]>()) });
        };
        // SAFETY: nothing but the deleter touches the box.
        unsafe { Array::from_raw_parts_mut(data.cast(), VALUES.len(), deleter) }
    }),
];

/// One element that holds all the values, and counts its drop.
struct Counted {
    values: [f32; 6],
    drops: DropCount,
}

impl Counted {
    fn new(drops: &DropCount) -> Self {
        Self { values: VALUES, drops: drops.clone() }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.drops.add_one();
    }
}

/// Shows the numbers inside the one element.
fn numbers(array: Array<Counted>) -> Array<f32> {
    array.project(|elements| &elements[0].values[..])
}

/// The owner of the memory of one run of a scenario.
struct Owner {
    source: &'static str,
    drops: DropCount,
}

impl Owner {
    #[track_caller]
    fn assert_alive(&self) {
        assert_eq!(self.drops.get(), 0, "{}: dropped too early", self.source);
    }

    #[track_caller]
    fn assert_dropped(&self) {
        assert_eq!(self.drops.get(), 1, "{}: drops", self.source);
    }
}

/// Runs `scenario` 10,000 times with a fresh array from each source; the owner must be dropped once by then.
fn repeat(sources: &[Source], scenario: impl Fn(Array<f32>, &Owner)) {
    for &(source, make) in sources {
        for _ in 0..REPEATS {
            let owner = Owner { source, drops: DropCount::new() };
            scenario(make(&owner.drops), &owner);
            owner.assert_dropped();
        }
    }
}

fn repeat_with_all(scenario: impl Fn(Array<f32>, &Owner)) {
    repeat(&IMMUTABLE, &scenario);
    repeat(&MUTABLE, &scenario);
}

fn table(array: Array<f32>) -> HomogenNumericTable<f32> {
    HomogenNumericTable::from_array(array, SHAPE).unwrap()
}

/// Gets all rows but the first into a new descriptor.
fn rows_of<U: Element>(table: &mut HomogenNumericTable<f32>, mode: ReadWriteMode) -> BlockDescriptor<U> {
    let mut block = BlockDescriptor::new();
    table.get_block_of_rows(1, 2, mode, &mut block).unwrap();
    block
}

// ---- Arrays --------------------------------------------------------------------------------------------------------

#[test]
fn an_array_alone_drops_its_owner() {
    repeat_with_all(|array, owner| {
        assert_eq!(array.as_slice(), VALUES);
        owner.assert_alive();
        drop(array);
    });
}

#[test]
fn a_slice_that_outlives_its_array_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let slice = array.slice(1..3).unwrap();
        drop(array);
        owner.assert_alive();
        assert_eq!(slice.as_slice(), [2.0, 3.0]);
        drop(slice);
    });
}

#[test]
fn an_array_that_outlives_its_slice_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let slice = array.slice(1..3).unwrap();
        drop(slice);
        owner.assert_alive();
        assert_eq!(array.as_slice(), VALUES);
        drop(array);
    });
}

#[test]
fn an_empty_slice_is_an_owner_too() {
    repeat_with_all(|array, owner| {
        let empty = array.slice(6..).unwrap();
        drop(array);
        owner.assert_alive();
        drop(empty);
    });
}

#[test]
fn windows_of_other_types_that_outlive_their_array_drop_the_owner() {
    repeat_with_all(|array, owner| {
        let bytes = array.reinterpret::<u8>().unwrap();
        let part = bytes.project(|bytes| &bytes[4..8]);
        drop(array);
        drop(bytes);
        owner.assert_alive();
        assert_eq!(part.as_slice(), 2.0_f32.to_ne_bytes());
        drop(part);
    });
}

#[test]
fn reset_lets_go_of_the_owner_at_once() {
    repeat_with_all(|mut array, owner| {
        array.reset();
        owner.assert_dropped();
        drop(array);
    });
}

#[test]
fn reset_to_a_count_lets_go_of_the_owner_at_once() {
    repeat_with_all(|mut array, owner| {
        array.reset_to(2).unwrap();
        owner.assert_dropped();
        drop(array);
    });
}

#[test]
fn a_refused_reset_keeps_the_owner() {
    repeat_with_all(|mut array, owner| {
        assert!(array.reset_to(usize::MAX).is_err());
        owner.assert_alive();
        drop(array);
    });
}

#[test]
fn assignment_lets_go_of_the_owner_at_once() {
    repeat_with_all(|mut array, owner| {
        assert_eq!(array[0], 1.0);
        array = Array::from(vec![7.0]);
        owner.assert_dropped();
        assert_eq!(array[0], 7.0);
    });
}

#[test]
fn need_mutable_data_lets_go_of_an_immutable_owner_at_once() {
    repeat(&IMMUTABLE, |mut array, owner| {
        array.need_mutable_data().unwrap()[0] = 9.0;
        owner.assert_dropped();
        assert_eq!(array.as_slice(), [9.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    });
}

#[test]
fn need_mutable_data_keeps_a_mutable_owner() {
    repeat(&MUTABLE, |mut array, owner| {
        array.need_mutable_data().unwrap()[0] = 9.0;
        owner.assert_alive();
        drop(array);
    });
}

#[test]
fn need_mutable_data_of_a_sharer_leaves_the_owner_to_the_others() {
    repeat_with_all(|array, owner| {
        let mut sharer = array.clone();
        sharer.need_mutable_data().unwrap()[0] = 9.0;
        owner.assert_alive();
        drop(array);
        owner.assert_dropped();
        assert_eq!(sharer.as_slice(), [9.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    });
}

#[test]
fn an_array_that_cannot_become_a_vec_still_drops_its_owner() {
    repeat_with_all(|array, owner| {
        let array = array.try_into_vec().unwrap_err();
        owner.assert_alive();
        drop(array);
    });
}

#[test]
fn elements_that_went_back_into_a_vec_are_dropped_with_the_vec() {
    for _ in 0..REPEATS {
        let drops = DropCount::new();
        let array = Array::from(vec![Counted::new(&drops), Counted::new(&drops)]);
        let vec = array.try_into_vec().unwrap_or_else(|_| panic!("a whole and unshared Vec"));
        assert_eq!(drops.get(), 0);
        drop(vec);
        assert_eq!(drops.get(), 2);
    }
}

#[test]
fn an_array_on_another_thread_drops_its_owner() {
    for (source, make) in IMMUTABLE.into_iter().chain(MUTABLE) {
        let owner = Owner { source, drops: DropCount::new() };
        let array = make(&owner.drops);
        let slice = array.slice(2..).unwrap();
        thread::spawn(move || drop(array)).join().unwrap();
        owner.assert_alive();
        thread::spawn(move || drop(slice)).join().unwrap();
        owner.assert_dropped();
    }
}

// ---- Tables --------------------------------------------------------------------------------------------------------

#[test]
fn a_table_that_outlives_its_array_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array.clone());
        drop(array);
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
        drop(table);
    });
}

#[test]
fn an_array_that_outlives_its_table_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array.clone());
        drop(table);
        owner.assert_alive();
        assert_eq!(array.as_slice(), VALUES);
        drop(array);
    });
}

#[test]
fn a_table_of_some_rows_that_outlives_its_table_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let tail = table.slice_rows(1..3).unwrap();
        drop(table);
        owner.assert_alive();
        assert_eq!(tail.as_slice().unwrap(), [3.0, 4.0, 5.0, 6.0]);
        drop(tail);
    });
}

#[test]
fn a_clone_that_outlives_its_table_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let clone = table.clone();
        drop(table);
        owner.assert_alive();
        assert_eq!(clone.as_slice().unwrap(), VALUES);
        drop(clone);
    });
}

#[test]
fn a_table_behind_dyn_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let table: Box<dyn NumericTable> = Box::new(table(array));
        owner.assert_alive();
        drop(table);
    });
}

#[test]
fn an_array_that_is_too_short_for_its_table_is_dropped_once() {
    repeat_with_all(|array, owner| {
        assert!(HomogenNumericTable::from_array(array, Shape { rows: 4, columns: 2 }).is_err());
        owner.assert_dropped();
    });
}

#[test]
fn the_first_write_lets_go_of_an_immutable_owner_at_once() {
    repeat(&IMMUTABLE, |array, owner| {
        let mut table = table(array);
        table.set_value(0, 0, 9.0_f32).unwrap();
        owner.assert_dropped();
        assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
    });
}

#[test]
fn writing_keeps_a_mutable_owner() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        table.set_value(0, 0, 9.0_f32).unwrap();
        owner.assert_alive();
        assert_eq!(table.data_memory_status(), MemoryStatus::UserAllocated);
    });
}

#[test]
fn the_first_write_to_a_clone_leaves_the_owner_to_the_other() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let mut clone = table.clone();
        clone.set_value(0, 0, 9.0_f32).unwrap();
        owner.assert_alive();
        drop(table);
        owner.assert_dropped();
        assert_eq!(clone.as_slice().unwrap()[..2], [9.0, 2.0]);
    });
}

#[test]
fn set_array_lets_go_of_the_old_owner_and_keeps_the_new_one() {
    repeat_with_all(|array, owner| {
        let new = Owner { source: "the new array", drops: DropCount::new() };
        let mut table = table(array);
        table.set_array(Array::from_owner(CountingOwner::new([7.0, 8.0], &new.drops)), 1).unwrap();
        owner.assert_dropped();
        new.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [7.0, 8.0]);
        drop(table);
        new.assert_dropped();
    });
}

#[test]
fn a_refused_set_array_keeps_the_old_owner_and_lets_go_of_the_new_one() {
    repeat_with_all(|array, owner| {
        let new = Owner { source: "the refused array", drops: DropCount::new() };
        let mut table = table(array);
        assert!(table.set_array(Array::from_owner(CountingOwner::new([7.0], &new.drops)), 1).is_err());
        new.assert_dropped();
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
    });
}

#[test]
fn free_data_memory_lets_go_of_the_owner_at_once() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        table.free_data_memory().unwrap();
        owner.assert_dropped();
        assert_eq!(table.shape(), SHAPE);
    });
}

#[test]
fn allocate_data_memory_lets_go_of_the_owner_at_once() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        table.allocate_data_memory().unwrap();
        owner.assert_dropped();
        assert_eq!(table.as_slice().unwrap(), [0.0; 6]);
    });
}

#[test]
fn fewer_rows_keep_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        for rows in [3, 1, 0] {
            table.resize(rows).unwrap();
            owner.assert_alive();
        }
    });
}

#[test]
fn rows_that_appear_again_keep_the_owner_of_memory_that_may_be_written() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        table.resize(1).unwrap();
        table.resize(3).unwrap();
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    });
}

#[test]
fn rows_that_appear_again_let_go_of_the_owner_of_memory_that_may_not_be_written() {
    repeat(&IMMUTABLE, |array, owner| {
        let mut table = table(array);
        table.resize(1).unwrap();
        table.resize(3).unwrap();
        owner.assert_dropped();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    });
}

#[test]
fn spare_rows_that_appear_keep_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = HomogenNumericTable::from_array_with_spare_rows(array, Shape { rows: 1, columns: 2 }).unwrap();
        table.resize(3).unwrap();
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
    });
}

#[test]
fn resize_beyond_the_memory_lets_go_of_the_owner_at_once() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        table.resize(4).unwrap();
        owner.assert_dropped();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0]);
    });
}

#[test]
fn a_refused_resize_keeps_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        assert!(table.resize(usize::MAX).is_err());
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
    });
}

#[test]
fn into_array_hands_the_owner_on() {
    repeat_with_all(|array, owner| {
        let array = table(array).into_array().unwrap();
        owner.assert_alive();
        assert_eq!((array.owner_count(), array.as_slice()), (1, &VALUES[..]));
        drop(array);
    });
}

#[test]
fn into_array_of_some_rows_hands_the_owner_on() {
    repeat_with_all(|array, owner| {
        let array = table(array).slice_rows(1..2).unwrap().into_array().unwrap();
        owner.assert_alive();
        assert_eq!((array.owner_count(), array.as_slice()), (1, &[3.0, 4.0][..]));
        drop(array);
    });
}

#[test]
fn a_table_converted_to_its_own_type_shares_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let same = table.convert::<f32>().unwrap();
        drop(table);
        owner.assert_alive();
        assert_eq!(same.as_slice().unwrap(), VALUES);
        drop(same);
    });
}

#[test]
fn a_table_converted_to_another_type_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let other = table.convert::<i64>().unwrap();
        drop(table);
        owner.assert_dropped();
        assert_eq!(other.as_slice().unwrap(), [1, 2, 3, 4, 5, 6]);
    });
}

#[test]
fn a_table_in_another_layout_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let other = table.to_layout(DataLayout::ColumnMajor).unwrap();
        drop(table);
        owner.assert_dropped();
        assert_eq!(other.as_slice().unwrap(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    });
}

#[test]
fn a_compact_copy_of_some_rows_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let row = table.slice_rows(1..2).unwrap();
        let compact = row.to_compact().unwrap();
        drop((table, row));
        owner.assert_dropped();
        assert_eq!(compact.as_slice().unwrap(), [3.0, 4.0]);
    });
}

#[test]
fn a_compact_copy_has_nothing_to_do_with_the_owner_even_if_the_whole_table_went_first() {
    repeat_with_all(|array, owner| {
        let row = table(array).slice_rows(1..2).unwrap(); // the only owner left, of a block three times its size
        let compact = row.to_compact().unwrap();
        drop(row);
        owner.assert_dropped();
        assert_eq!(compact.as_slice().unwrap(), [3.0, 4.0]);
    });
}

#[test]
fn an_archived_table_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        let bytes = table.to_bytes().unwrap();
        drop(table);
        owner.assert_dropped();
        let table = HomogenNumericTable::<f32>::from_bytes(&bytes).unwrap();
        assert_eq!(table.as_slice().unwrap(), VALUES);
    });
}

// ---- Blocks that borrow the table ----------------------------------------------------------------------------------

#[test]
fn row_blocks_for_reading_keep_the_owner_alive_through_their_scope() {
    repeat_with_all(|array, owner| {
        let table = table(array);
        {
            let (in_place, converted) = (table.rows::<f32>(1..3).unwrap(), table.rows::<f64>(1..3).unwrap());
            let column = table.column::<f32>(1, 0..3).unwrap();
            assert_eq!((in_place[0], converted[0], column[0]), (3.0, 3.0, 2.0));
        }
        owner.assert_alive();
        assert_eq!(table.array().unwrap().owner_count(), 1);
        drop(table);
    });
}

#[test]
fn row_blocks_for_writing_in_place_keep_a_mutable_owner_alive_through_their_scope() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        table.rows_mut::<f32>(1..3).unwrap()[0] = 9.0;
        table.rows_mut::<f64>(1..3).unwrap()[1] = 8.0;
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 9.0, 8.0, 5.0, 6.0]);
        drop(table);
    });
}

#[test]
fn row_blocks_for_writing_let_go_of_an_immutable_owner_when_they_are_taken() {
    repeat(&IMMUTABLE, |array, owner| {
        let mut table = table(array);
        let block = table.rows_mut::<f64>(1..3).unwrap();
        owner.assert_dropped();
        block.release().unwrap();
    });
}

#[test]
fn row_block_iterators_keep_the_owner_alive_through_their_scope() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        for block in table.row_blocks_mut::<f64>(2).unwrap() {
            block.unwrap().fill(5.0);
        }
        assert_eq!(table.row_blocks::<f32>(2).unwrap().count(), 2);
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [5.0; 6]);
        drop(table);
    });
}

// ---- Descriptors ---------------------------------------------------------------------------------------------------

#[test]
fn a_zero_copy_reading_block_that_outlives_its_table_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        assert!(block.is_zero_copy());
        drop(table);
        owner.assert_alive();
        assert_eq!(block.as_slice(), [3.0, 4.0, 5.0, 6.0]);
        drop(block);
    });
}

#[test]
fn a_table_that_outlives_its_zero_copy_reading_block_drops_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        drop(block);
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), VALUES);
        drop(table);
    });
}

#[test]
fn a_released_reading_block_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let mut block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        table.release_block_of_rows(&mut block).unwrap();
        drop(table);
        owner.assert_dropped();
        assert!(block.as_slice().is_empty());
    });
}

#[test]
fn a_converted_reading_block_has_nothing_to_do_with_the_owner() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f64>(&mut table, ReadWriteMode::ReadOnly);
        assert!(!block.is_zero_copy());
        drop(table);
        owner.assert_dropped();
        assert_eq!(block.as_slice(), [3.0, 4.0, 5.0, 6.0]);
    });
}

#[test]
fn a_reading_block_lets_go_of_the_owner_when_its_descriptor_gets_another_block() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let mut block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        drop(table);
        owner.assert_alive();
        let mut other = HomogenNumericTable::from_rows(&[[7.0_f32, 8.0]]).unwrap();
        other.get_block_of_rows(0, 1, ReadWriteMode::ReadOnly, &mut block).unwrap();
        owner.assert_dropped();
        assert_eq!(block.as_slice(), [7.0, 8.0]);
    });
}

#[test]
fn a_reading_block_keeps_the_owner_of_the_array_that_was_replaced() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        table.set_array(vec![0.0; 6], 3).unwrap();
        owner.assert_alive();
        assert_eq!(block.as_slice(), [3.0, 4.0, 5.0, 6.0]);
        drop(block);
        owner.assert_dropped();
    });
}

#[test]
fn a_table_that_is_written_while_a_reading_block_is_out_leaves_the_owner_to_the_block() {
    repeat_with_all(|array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadOnly);
        table.fill(9.0_f32).unwrap();
        owner.assert_alive();
        assert_eq!(block.as_slice(), [3.0, 4.0, 5.0, 6.0]);
        drop(block);
        owner.assert_dropped();
        assert_eq!(table.as_slice().unwrap(), [9.0; 6]);
    });
}

#[test]
fn a_writable_block_lets_go_of_an_immutable_owner_when_it_is_got() {
    for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
        repeat(&IMMUTABLE, |array, owner| {
            let mut table = table(array);
            let _block = rows_of::<f32>(&mut table, mode);
            owner.assert_dropped();
        });
        repeat(&IMMUTABLE, |array, owner| {
            let mut table = table(array);
            let _block = rows_of::<f64>(&mut table, mode);
            owner.assert_dropped();
        });
    }
}

#[test]
fn a_zero_copy_writable_block_that_outlives_its_table_drops_the_owner() {
    for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
        repeat(&MUTABLE, |array, owner| {
            let mut table = table(array);
            let mut block = rows_of::<f32>(&mut table, mode);
            assert!(block.is_zero_copy());
            drop(table);
            owner.assert_alive();
            block.as_mut_slice().unwrap()[0] = 30.0;
            assert_eq!(block.as_slice(), [30.0, 4.0, 5.0, 6.0]);
            drop(block);
        });
    }
}

#[test]
fn a_converted_writable_block_that_outlives_its_table_drops_the_owner() {
    for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
        repeat(&MUTABLE, |array, owner| {
            let mut table = table(array);
            let mut block = rows_of::<f64>(&mut table, mode);
            assert!(!block.is_zero_copy());
            drop(table);
            owner.assert_alive();
            block.as_mut_slice().unwrap().fill(30.0);
            drop(block);
        });
    }
}

#[test]
fn a_table_that_outlives_its_dropped_writable_block_has_its_owner_back() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let in_place = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        drop(in_place);
        let converted = rows_of::<f64>(&mut table, ReadWriteMode::ReadWrite);
        drop(converted);
        owner.assert_alive();
        assert_eq!(table.array().unwrap().owner_count(), 1);
        drop(table);
    });
}

#[test]
fn a_table_that_never_looked_again_after_its_writable_block_still_drops_the_owner() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        drop(block);
        owner.assert_alive();
        drop(table);
    });
}

#[test]
fn released_writable_blocks_leave_the_owner_to_the_table() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let mut in_place = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        in_place.as_mut_slice().unwrap()[0] = 30.0;
        table.release_block_of_rows(&mut in_place).unwrap();
        let mut converted = rows_of::<f64>(&mut table, ReadWriteMode::ReadWrite);
        converted.as_mut_slice().unwrap()[1] = 40.0;
        table.release_block_of_rows(&mut converted).unwrap();
        owner.assert_alive();
        assert_eq!(table.as_slice().unwrap(), [1.0, 2.0, 30.0, 40.0, 5.0, 6.0]);
        drop(table);
        owner.assert_dropped();
        drop((in_place, converted));
    });
}

#[test]
fn column_blocks_drop_the_owner_once_in_both_orders() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let mut block = BlockDescriptor::<f32>::new();
        table.get_block_of_column_values(1, 0, 3, ReadWriteMode::ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap()[0] = 20.0;
        table.release_block_of_column_values(&mut block).unwrap();
        assert_eq!(table.as_slice().unwrap()[1], 20.0);
        table.get_block_of_column_values(1, 0, 3, ReadWriteMode::ReadWrite, &mut block).unwrap();
        drop(table);
        owner.assert_alive();
        drop(block);
    });
}

#[test]
fn a_writable_block_dropped_on_another_thread_drops_the_owner() {
    for (source, make) in MUTABLE {
        let owner = Owner { source, drops: DropCount::new() };
        let mut table = table(make(&owner.drops));
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        drop(table);
        thread::spawn(move || drop(block)).join().unwrap();
        owner.assert_dropped();
    }
}

#[test]
fn calls_that_a_leased_table_refuses_keep_the_owner() {
    repeat(&MUTABLE, |array, owner| {
        let mut table = table(array);
        let block = rows_of::<f32>(&mut table, ReadWriteMode::ReadWrite);
        assert!(matches!(table.free_data_memory(), Err(Error::BlockOutstanding { .. })));
        assert!(matches!(table.set_array(vec![0.0; 6], 3), Err(Error::BlockOutstanding { .. })));
        assert!(matches!(table.resize(9), Err(Error::BlockOutstanding { .. })));
        assert!(matches!(table.into_array(), Err(Error::BlockOutstanding { .. })));
        owner.assert_alive();
        drop(block);
    });
}

#[test]
fn a_leased_table_its_clone_and_the_block_drop_the_owner_in_every_order() {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in ORDERS {
        repeat(&MUTABLE, |array, owner| {
            let mut original = table(array);
            let block = rows_of::<f32>(&mut original, ReadWriteMode::ReadWrite);
            let clone = original.clone();
            assert!(matches!(clone.as_slice(), Err(Error::BlockOutstanding { .. })));
            let (mut tables, mut block) = ([Some(original), Some(clone)], Some(block));
            for (step, &part) in order.iter().enumerate() {
                owner.assert_alive();
                match part {
                    2 => drop(block.take()),
                    part => drop(tables[part].take()),
                }
                assert_eq!(owner.drops.get(), usize::from(step == 2), "{}: step {step} of {order:?}", owner.source);
            }
        });
    }
}

#[test]
fn a_clone_of_a_leased_table_shares_what_comes_back() {
    repeat(&MUTABLE, |array, owner| {
        let mut original = table(array);
        let mut block = rows_of::<f32>(&mut original, ReadWriteMode::ReadWrite);
        let mut clone = original.clone();
        block.as_mut_slice().unwrap()[0] = 30.0;
        original.release_block_of_rows(&mut block).unwrap();
        assert!(clone.array().unwrap().shares_memory_with(original.array().unwrap()));
        assert_eq!(clone.array().unwrap().owner_count(), 2);
        clone.set_value(0, 0, 9.0_f32).unwrap(); // copies: the owner stays with the original
        owner.assert_alive();
        assert_eq!(original.as_slice().unwrap(), [1.0, 2.0, 30.0, 4.0, 5.0, 6.0]);
        drop(original);
        owner.assert_dropped();
        assert_eq!(clone.as_slice().unwrap(), [9.0, 2.0, 30.0, 4.0, 5.0, 6.0]);
    });
}

#[test]
fn a_chain_of_clones_of_a_leased_table_drops_the_owner() {
    repeat(&MUTABLE, |array, owner| {
        let mut original = table(array);
        let block = rows_of::<f64>(&mut original, ReadWriteMode::ReadWrite);
        let first = original.clone();
        let second = first.clone();
        drop(first);
        drop(block);
        assert_eq!(second.as_slice().unwrap(), VALUES);
        let third = second.clone();
        drop(original);
        drop(second);
        owner.assert_alive();
        assert_eq!(third.array().unwrap().owner_count(), 1);
        drop(third);
    });
}

// ---- Leaks: memory that nothing can count --------------------------------------------------------------------------

/// The system's allocator, which also counts the bytes and blocks that this thread took and did not give back.
struct CountingAllocator;

thread_local! {
    static LIVE: Cell<Live> = const { Cell::new(Live { blocks: 0, bytes: 0 }) };
}

/// What a thread took and did not give back; negative if it frees what others took.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Live {
    blocks: i64,
    bytes: i64,
}

impl Live {
    fn count(sign: i64, layout: Layout) {
        // Nothing is counted while the thread ends.
        let _ = LIVE.try_with(|live| {
            let Live { blocks, bytes } = live.get();
            live.set(Live { blocks: blocks + sign, bytes: bytes + sign * layout.size() as i64 });
        });
    }

    fn now() -> Self {
        LIVE.get()
    }
}

// SAFETY: every call is passed on to the system's allocator; counting neither allocates nor panics. `realloc` and
// `alloc_zeroed` have defaults that come here.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        let data = unsafe { System.alloc(layout) };
        if !data.is_null() {
            Live::count(1, layout);
        }
        data
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        Live::count(-1, layout);
        // SAFETY: `data` came from `alloc` above with this layout: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(data, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Runs `scenario` a few times to warm up, then 10,000 times; these must give back all that they take.
#[track_caller]
fn assert_no_leak(scenario: impl Fn()) {
    (0..3).for_each(|_| scenario());
    let before = Live::now();
    (0..REPEATS).for_each(|_| scenario());
    assert_eq!(Live::now(), before);
}

#[test]
fn the_allocator_sees_a_leak() {
    let before = Live::now();
    let leaked = Box::into_raw(Box::new(1_u64));
    assert_eq!(Live::now(), Live { blocks: before.blocks + 1, bytes: before.bytes + 8 });
    // SAFETY: leaked above.
    drop(unsafe { Box::from_raw(leaked) });
    assert_eq!(Live::now(), before);
}

#[test]
fn every_array_gives_its_memory_back() {
    static CONSTANTS: [f32; 6] = VALUES;
    const MAKERS: [fn() -> Array<f32>; 11] = [
        Array::new,
        || Array::zeros(6).unwrap(),
        || Array::full(6, 1.0).unwrap(),
        || Array::from_fn(6, |i| i as f32).unwrap(),
        || Array::copy_of(&VALUES).unwrap(),
        || Array::from(VALUES.to_vec()),
        || Array::from(VALUES.to_vec().into_boxed_slice()),
        || Array::from(Arc::from(VALUES)),
        || Array::from(&CONSTANTS[..]),
        || VALUES.into_iter().collect(),
        || Array::from_owner_mut(VALUES.to_vec()),
    ];
    for make in MAKERS {
        assert_no_leak(|| {
            let mut array = make();
            let part = array.slice(array.len() / 2..).unwrap();
            array.need_mutable_data().unwrap();
            drop(array);
            drop(part.clone().try_into_vec());
            drop(part);
            drop(make().try_into_vec());
            let mut array = make();
            array.reset_to(3).unwrap();
            array.reset();
        });
    }
}

#[test]
fn unwritten_memory_is_given_back() {
    assert_no_leak(|| drop(Array::<f64>::uninit(100).unwrap()));
}

#[test]
fn refused_arrays_take_nothing() {
    assert_no_leak(|| {
        assert!(Array::<f64>::zeros(usize::MAX).is_err());
        assert!(Array::<f64>::zeros(isize::MAX as usize / 8).is_err());
        assert!(Array::full(isize::MAX as usize / 8, 1.0).is_err());
    });
}

#[test]
fn a_panicking_closure_leaks_nothing() {
    assert_no_leak(|| {
        let fill = |i| if i == 50 { resume_unwind(Box::new("half-way")) } else { i as u64 };
        assert!(catch_unwind(AssertUnwindSafe(|| Array::from_fn(100, fill))).is_err());
    });
}

#[test]
fn every_table_gives_its_memory_back() {
    const MAKERS: [fn() -> HomogenNumericTable<f32>; 6] = [
        HomogenNumericTable::default,
        || HomogenNumericTable::new(SHAPE, AllocationFlag::DoAllocate).unwrap(),
        || HomogenNumericTable::new(SHAPE, AllocationFlag::DoNotAllocate).unwrap(),
        || HomogenNumericTable::full(SHAPE, 1.0).unwrap(),
        || HomogenNumericTable::from_array(VALUES.to_vec(), SHAPE).unwrap(),
        || HomogenNumericTable::from_rows(&[[1.0, 2.0], [3.0, 4.0]]).unwrap(),
    ];
    for make in MAKERS {
        assert_no_leak(|| {
            let mut table = make();
            table.resize(5).unwrap();
            let clone = table.clone();
            table.fill(3.0_f64).unwrap();
            drop(table.convert::<u8>().unwrap());
            drop(table.to_layout(DataLayout::ColumnMajor).unwrap());
            drop(HomogenNumericTable::<f32>::from_bytes(&table.to_bytes().unwrap()).unwrap());
            table.free_data_memory().unwrap();
            drop(table);
            drop(clone.into_array().unwrap());
        });
    }
}

#[test]
fn every_block_gives_its_memory_back() {
    fn get_all<U: Element>(table: &mut HomogenNumericTable<f32>) {
        let mut block = BlockDescriptor::<U>::new();
        for mode in [ReadWriteMode::ReadOnly, ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
            table.get_block_of_rows(0, 2, mode, &mut block).unwrap();
            table.release_block_of_rows(&mut block).unwrap();
            table.get_block_of_column_values(1, 0, 3, mode, &mut block).unwrap();
            table.release_block_of_column_values(&mut block).unwrap();
            drop(rows_of::<U>(table, mode)); // unreleased
        }
        drop(table.rows::<U>(0..2).unwrap());
        drop(table.rows_mut::<U>(0..2).unwrap());
        table.rows_mut::<U>(0..2).unwrap().discard();
    }
    assert_no_leak(|| {
        let mut table = HomogenNumericTable::full(SHAPE, 1.0_f32).unwrap();
        get_all::<f32>(&mut table);
        get_all::<f64>(&mut table);
        get_all::<i8>(&mut table);
    });
}

#[test]
fn a_table_dropped_before_its_writable_block_leaks_nothing() {
    assert_no_leak(|| {
        for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
            let mut table = HomogenNumericTable::full(SHAPE, 1.0_f32).unwrap();
            let in_place = rows_of::<f32>(&mut table, mode);
            let clone = table.clone();
            drop(table);
            drop(in_place);
            drop(clone);
            let mut table = HomogenNumericTable::full(SHAPE, 1.0_f32).unwrap();
            let converted = rows_of::<f64>(&mut table, mode);
            drop(table);
            drop(converted);
        }
    });
}

/// Large memory of the library comes from maps, which the allocator does not see; the process does.
#[cfg(target_os = "linux")]
#[test]
fn large_arrays_give_their_memory_back() {
    const BYTES: usize = 8 << 20;
    fn pages_of_process() -> usize {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').next().unwrap().parse().unwrap()
    }
    let before = pages_of_process();
    for _ in 0..REPEATS {
        let array = Array::<u8>::zeros(BYTES).unwrap(); // no page is touched
        let part = array.slice(BYTES / 2..).unwrap();
        drop(array);
        drop(part);
    }
    // All of them together would be 80 GiB; what other tests take meanwhile is far below one.
    let grown = pages_of_process().saturating_sub(before);
    assert!(grown < (1 << 30) / 4096, "{grown} pages");
}
