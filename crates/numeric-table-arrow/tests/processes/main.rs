//! Record batches where memory is refused, and of tables of extreme shapes: each test in a process of its own, with a
//! limit on its address space.

use std::hint::black_box;
use std::process::Command;

use numeric_table::prelude::*;
use numeric_table::{SoaNumericTable, dictionary::Categories};
use numeric_table_arrow::prelude::*;
use test_support::tables::{LAYOUTS, huge};

/// Set in the process that a test runs in.
const CHILD: &str = "NUMERIC_TABLE_ARROW_TEST";
/// Bytes that are left in the full address space for small calls; at most twice as many are.
const LEFT: usize = 8 << 20;
/// The numbers of rows and of columns that are combined.
const SIDES: [usize; 6] = [0, 1, 3, huge(40), huge(62), usize::MAX];

/// Runs a test in a process with an address space of this number of KiB.
fn alone(name: &str, limit: &str, test: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return test();
    }
    if std::env::var_os("ASAN_OPTIONS").is_some() {
        eprintln!("skipped: {name}: AddressSanitizer needs all of the address space");
        return;
    }
    let result = Command::new("sh")
        .args(["-c", r#"ulimit -v "$0" && exec "$@""#, limit])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .envs([(CHILD, "1"), ("RAYON_NUM_THREADS", "2"), ("RUST_BACKTRACE", "0")])
        // One heap, whose large blocks go back to the system when they are freed.
        .envs([("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TOP_PAD_", "4194304")])
        .output()
        .unwrap();
    let printed = [result.stdout, result.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(result.status.success() && printed[0].contains("1 passed"), "{}: {}", result.status, printed.concat());
}

#[test]
fn words_that_there_is_no_memory_for_are_an_error() {
    alone("words_that_there_is_no_memory_for_are_an_error", "262144", || {
        let word = "w".repeat(3 * LEFT);
        let categories = Categories::from_labels([&word]).unwrap();
        let mut table = SoaNumericTable::new();
        table.push_feature(Feature::new(ElementType::U8).categorical(categories), vec![0_u8]).unwrap();
        let batch = table.to_record_batch().unwrap();
        let mut ballast = Vec::with_capacity(64);
        while let Ok(array) = Array::<u8>::zeros(LEFT) {
            ballast.push(array);
        }
        assert!(ballast.pop().is_some(), "the limit is too small for this test");
        let refused = |result: Result<(), Error>| {
            let bytes = result.unwrap_err().refused_bytes().unwrap();
            assert!(bytes >= 3 * LEFT, "{bytes}");
        };
        refused(SoaNumericTable::from_record_batch(&batch).map(drop));
        refused(table.to_record_batch().map(drop));
        drop(ballast);
        assert_eq!(SoaNumericTable::from_record_batch(&batch).unwrap().dictionary(), table.dictionary());
    });
}

#[test]
fn tables_of_extreme_shapes_go_out_and_in_or_are_refused() {
    fn pass<T: Element>(table: &HomogenNumericTable<T>) {
        if let Ok(batch) = table.to_record_batch() {
            assert_eq!(batch.num_rows(), table.row_count());
            let _ = black_box(Table::<T>::from_record_batch(&batch));
        }
        if let Ok(lists) = table.to_fixed_size_list() {
            let _ = black_box(Table::<T>::from_fixed_size_list(&lists));
        }
        let any: &dyn NumericTable = table;
        let _ = black_box(any.to_record_batch());
    }
    alone("tables_of_extreme_shapes_go_out_and_in_or_are_refused", "786432", || {
        for (rows, columns) in SIDES.into_iter().flat_map(|rows| SIDES.map(|columns| (rows, columns))) {
            for allocation in [AllocationFlag::DoAllocate, AllocationFlag::DoNotAllocate] {
                for layout in LAYOUTS {
                    let shape = Shape { rows, columns };
                    println!("{shape} {allocation:?} {layout:?}");
                    let _ = HomogenNumericTable::<f32>::new_with_layout(shape, allocation, layout)
                        .map(|table| pass(&table));
                    let _ =
                        HomogenNumericTable::<u8>::new_with_layout(shape, allocation, layout).map(|table| pass(&table));
                }
            }
        }
    });
}
