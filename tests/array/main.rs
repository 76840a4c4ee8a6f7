//! The shared array: who owns its memory, how it is made, windows on it, writing, threads.
//!
//! How often owners are dropped, over many runs, is in `tests/ownership`.

mod constructors;
mod onedal;
mod owners;
mod raw_parts;
mod threads;
mod validity;
mod windows;
mod writing;

use numeric_table::Array;
use test_support::DropCount;

static CONSTANTS: [f32; 4] = [1.0, 2.0, 3.0, 4.0];

/// The smallest alignment in bytes that the library promises for its own memory.
const LIBRARY_ALIGNMENT: usize = 64;

/// From about here on the library's memory comes from maps and is filled in parallel.
const LARGE_BYTES: usize = test_support::sized(4 << 20, 4 << 10);

fn one_to_four() -> Array<f32> {
    Array::from(vec![1.0, 2.0, 3.0, 4.0])
}

/// Lends `values` through a raw pointer; `drops` counts the calls of the deleter.
fn from_raw<T: Send + 'static>(values: Vec<T>, drops: &DropCount) -> Array<T> {
    let (data, count, capacity) = leak(values);
    let drops = drops.clone();
    let deleter = move |data: *const T, count: usize| {
        drops.add_one();
        // SAFETY: these are the parts of the leaked `Vec`, put together again once.
        drop(unsafe { Vec::from_raw_parts(data.cast_mut(), count, capacity) });
    };
    // SAFETY: nothing but the deleter touches the leaked `Vec`, and it may run anywhere, since `T: Send`.
    unsafe { Array::from_raw_parts(data, count, deleter) }
}

/// As `from_raw`, for writing as well.
fn from_raw_mut<T: Send + 'static>(values: Vec<T>, drops: &DropCount) -> Array<T> {
    let (data, count, capacity) = leak(values);
    let drops = drops.clone();
    let deleter = move |data: *mut T, count: usize| {
        drops.add_one();
        // SAFETY: these are the parts of the leaked `Vec`, put together again once.
        drop(unsafe { Vec::from_raw_parts(data, count, capacity) });
    };
    // SAFETY: nothing but the deleter touches the leaked `Vec`, and it may run anywhere, since `T: Send`.
    unsafe { Array::from_raw_parts_mut(data, count, deleter) }
}

fn leak<T>(values: Vec<T>) -> (*mut T, usize, usize) {
    let mut values = std::mem::ManuallyDrop::new(values);
    (values.as_mut_ptr(), values.len(), values.capacity())
}
