//! Every owner of memory is dropped exactly once, and at the right moment: with the last array, table or block on it.
//!
//! What is asked for are the data ownership requirements of oneDAL's `array`, carried over to tables and blocks of
//! rows. Each scenario runs 10,000 times with every source of memory whose end can be counted: an owner, a deleter,
//! elements that count their drops. Memory that nothing can count, that of the library and plain `Vec`s, is covered by
//! leak checks: this program has an allocator that counts, for each thread by itself.

mod allocations;
mod arrays;
mod borrowed_blocks;
mod counting;
mod descriptors;
mod leaks;
mod tables;

use std::sync::Arc;

use numeric_table::prelude::*;
use test_support::{CountingOwner, DropCount};

const REPEATS: usize = test_support::sized(10_000, 4);

const VALUES: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

const SHAPE: Shape = Shape { rows: 3, columns: 2 };

// --- Sources of memory ---------------------------------------------------------------------------------------------

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
