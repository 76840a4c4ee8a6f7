//! Leaks: memory that no owner can count.

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use numeric_table::prelude::*;

use super::counting::Live;
use super::{REPEATS, SHAPE, VALUES, rows_of};

/// Runs `scenario` a few times to warm up, then 10,000 times; these must free all that they take.
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
    let leaked = black_box(Box::into_raw(Box::new(1_u64))); // so that the compiler keeps it
    assert_eq!(Live::now(), Live { blocks: before.blocks + 1, bytes: before.bytes + 8 });
    // SAFETY: leaked above.
    drop(unsafe { Box::from_raw(leaked) });
    assert_eq!(Live::now(), before);
}

#[test]
fn every_array_frees_its_memory() {
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
        if usize::BITS == 64 && !cfg!(miri) {
            // With 32 bits, 2 GiB may be there. Miri ends where memory ends.
            assert!(Array::<f64>::zeros(isize::MAX as usize / 8).is_err());
            assert!(Array::full(isize::MAX as usize / 8, 1.0).is_err());
        }
    });
}

/// What the library keeps of freed memory has a list that any thread may have made.
#[test]
#[cfg_attr(any(miri, target_pointer_width = "32"), ignore = "needs memory that is refused")]
fn a_refused_array_frees_nothing_of_another_thread() {
    std::thread::spawn(|| drop(Array::full(8 << 20, 1_u8).unwrap())).join().unwrap();
    let before = Live::now();
    assert!(Array::<f64>::zeros(isize::MAX as usize / 8).is_err());
    assert_eq!(Live::now(), before);
}

#[test]
fn a_panicking_closure_leaks_nothing() {
    assert_no_leak(|| {
        let fill = |i| if i == 50 { resume_unwind(Box::new("half-way")) } else { i as u64 };
        assert!(catch_unwind(AssertUnwindSafe(|| Array::from_fn(100, fill))).is_err());
    });
}

#[test]
fn every_table_frees_its_memory() {
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
fn every_block_frees_its_memory() {
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
fn large_arrays_free_their_memory() {
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
