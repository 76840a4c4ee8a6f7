//! Memory that is not touched, and memory that the system refuses.
//!
//! Every test runs in a process of its own, so that nothing else takes memory there. Refusals come from a limit on
//! that process's address space, most of which is then taken: whatever needs more than [`LARGE`] bytes is refused, and
//! small calls are not.

use std::fmt::Debug;
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use numeric_table::prelude::*;
use numeric_table::{
    Array, bf16,
    files::{self, SaveOptions, TableReader, TableWriter, verify},
    statistics::BasicStatistics,
    table::BorrowedTable,
};
use test_support::tables::*;
use test_support::test_name;

use AllocationFlag::DoAllocate;
use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::{ReadOnly, ReadWrite, WriteOnly};

/// Set in the process that a test runs in.
const CHILD: &str = "NUMERIC_TABLE_MEMORY_TEST";

/// Limits of an address space, in KiB: for programs that look at no large table, and for others.
const SMALL_SPACE: &str = "262144";
const NO_LIMIT: &str = "unlimited";

/// Bytes of the table that there is no room for a second time.
const LARGE: usize = ROWS * COLUMNS;
const ROWS: usize = 24 << 10;
const COLUMNS: usize = 1 << 10;

/// Bytes that are left in the full address space for small calls; at most twice as many are.
const LEFT: usize = 8 << 20;

/// Runs a test in a process with a limited address space.
fn alone(name: &str, limit: &str, test: impl FnOnce()) {
    alone_with(name, limit, &[("RAYON_NUM_THREADS", "2")], test);
}

/// Runs a test in a process with a limited address space and more variables in its environment.
fn alone_with(name: &str, limit: &str, variables: &[(&str, &str)], test: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return test();
    }
    if limit != NO_LIMIT && std::env::var_os("ASAN_OPTIONS").is_some() {
        eprintln!("skipped: {name}: AddressSanitizer needs all of the address space");
        return;
    }
    let result = Command::new("sh")
        .args(["-c", r#"ulimit -v "$0" && exec "$@""#, limit])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test_name!(name), "--nocapture", "--test-threads=1"])
        .envs([(CHILD, "1"), ("RUST_BACKTRACE", "0")])
        .envs(variables.iter().copied())
        // One heap, whose large blocks go back to the system when they are freed. It has room for small ones from the
        // start: threads that fill the address space with their stacks still find the little that each of them needs.
        .envs([("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TOP_PAD_", "4194304")])
        .output()
        .unwrap();
    let printed = [result.stdout, result.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(result.status.success() && printed[0].contains("1 passed"), "{}: {}", result.status, printed.concat());
}

/// The bytes of this process that are in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[test]
fn a_table_of_zeros_takes_no_memory_before_it_is_written() {
    if cfg!(not(feature = "mmap")) {
        eprintln!("skipped: without the feature `mmap` zeros are written");
        return;
    }
    alone("a_table_of_zeros_takes_no_memory_before_it_is_written", NO_LIMIT, || {
        const SIZE: usize = 1 << 30;
        let before = resident();
        let array = Array::<f64>::zeros(SIZE / size_of::<f64>()).unwrap();
        let table = HomogenNumericTable::<f32>::new(shape(SIZE / 4 / 1000, 1000), DoAllocate).unwrap();
        let grown = resident().saturating_sub(before);
        assert!(grown < SIZE / 100, "{grown} bytes are in memory");
        // And they are zeros, wherever one looks.
        assert_eq!((array[0], array[array.len() / 3], array[array.len() - 1]), (0.0, 0.0, 0.0));
        assert_eq!(table.rows::<f64>(table.row_count() - 1..table.row_count()).unwrap()[..], [0.0; 1000]);
    });
}

/// The value of [`large_table`] at an index, in row-major order.
fn large_value(index: usize) -> u8 {
    (index % 251) as u8
}

fn large_table() -> HomogenNumericTable<u8> {
    let array = Array::from_fn(LARGE, large_value).unwrap(); // in parallel, so that all threads have been started
    HomogenNumericTable::from_array(array, shape(ROWS, COLUMNS)).unwrap()
}

/// Takes the address space up to a rest of at least [`LEFT`] bytes, and less than twice as many.
fn fill_address_space() -> Vec<Array<u8>> {
    let mut ballast = Vec::with_capacity(64);
    while let Ok(array) = Array::zeros(LEFT) {
        ballast.push(array);
    }
    assert!(ballast.pop().is_some(), "the limit is too small for this test");
    ballast
}

/// Makes sure that a call was refused memory, and that the table is as it was and can be used.
#[track_caller]
fn assert_refused<T: Debug>(result: Result<T, Error>, table: &HomogenNumericTable<u8>) {
    match result {
        Err(error) => match error.refused_bytes() {
            Some(bytes) => assert!(bytes >= LARGE, "{bytes}"),
            None => panic!("another error: {error:?}"),
        },
        Ok(_) => panic!("there was memory"),
    }
    assert_eq!((table.shape(), table.data_layout()), (shape(ROWS, COLUMNS), RowMajor));
    let values = table.as_slice().unwrap();
    assert!(values.len() == LARGE && values.iter().enumerate().all(|(index, &value)| value == large_value(index)));
    let few = table.slice_rows(1..3).unwrap().convert_to::<f64>(ColumnMajor, ConversionPolicy::Exact).unwrap();
    assert_eq!(few.value::<f64>(1, 1).unwrap(), f64::from(large_value(2 * COLUMNS + 1)));
}

#[test]
fn new_tables_that_are_refused_memory_are_an_error() {
    alone("new_tables_that_are_refused_memory_are_an_error", SMALL_SPACE, || {
        let table = large_table();
        let _ballast = fill_address_space();
        assert_refused(Array::<f64>::zeros(LARGE), &table);
        assert_refused(Array::full(LARGE, 1.5_f32), &table);
        assert_refused(Array::<u8>::copy_of(table.as_slice().unwrap()), &table);
        assert_refused(HomogenNumericTable::<i64>::new(table.shape(), DoAllocate), &table);
        assert_refused(HomogenNumericTable::full(table.shape(), 7_u8), &table);
        assert_refused(HomogenNumericTable::full_with_layout(table.shape(), 7_u64, ColumnMajor), &table);
        let mut unallocated = HomogenNumericTable::<u16>::new(table.shape(), AllocationFlag::DoNotAllocate).unwrap();
        assert_refused(unallocated.allocate_data_memory(), &table);
        assert_eq!(unallocated.data_memory_status(), MemoryStatus::NotAllocated);
    });
}

#[test]
fn conversions_that_are_refused_memory_are_an_error_and_change_nothing() {
    alone("conversions_that_are_refused_memory_are_an_error_and_change_nothing", SMALL_SPACE, || {
        let table = large_table();
        let ballast = fill_address_space();
        assert_refused(table.convert::<f32>(), &table);
        assert_refused(table.convert_with::<i16>(ConversionPolicy::Exact), &table);
        assert_refused(table.convert_to::<u8>(ColumnMajor, ConversionPolicy::Checked), &table);
        assert_refused(table.convert_to::<bf16>(ColumnMajor, ConversionPolicy::Saturate), &table);
        assert_refused(table.to_layout(ColumnMajor), &table);
        assert_refused(table.slice_rows(0..ROWS).unwrap().convert::<u64>(), &table);
        assert_refused(table.to_bytes(), &table);
        drop(ballast);
        assert_eq!(table.to_layout(ColumnMajor).unwrap(), table);
    });
}

#[test]
fn rows_in_another_order_that_are_refused_memory_are_an_error() {
    alone("rows_in_another_order_that_are_refused_memory_are_an_error", SMALL_SPACE, || {
        let table = large_table();
        let (flags, rows) = (vec![true; ROWS], (0..ROWS).rev().collect::<Vec<_>>());
        let ballast = fill_address_space();
        assert_refused(table.sort_by(0).map(|sorted| sorted.row_count()), &table);
        assert_refused(table.filter_rows(&flags).map(|kept| kept.row_count()), &table);
        assert_refused(table.take_rows(&rows).map(|taken| taken.row_count()), &table);
        drop(ballast);
        assert_eq!(table.sort_by(0).unwrap().row_count(), ROWS);
    });
}

#[test]
fn blocks_that_are_refused_memory_are_an_error_and_the_table_is_not_lent() {
    alone("blocks_that_are_refused_memory_are_an_error_and_the_table_is_not_lent", SMALL_SPACE, || {
        let mut table = large_table();
        let ballast = fill_address_space();
        assert_refused(table.rows::<f32>(0..ROWS), &table);
        let result = table.rows_mut::<i16>(0..ROWS).map(|block| block.discard());
        assert_refused(result, &table);
        let mut block = BlockDescriptor::<f64>::new();
        for mode in [ReadOnly, WriteOnly, ReadWrite] {
            let result = table.get_block_of_rows(0, ROWS, mode, &mut block);
            assert_refused(result, &table);
            assert_error!(table.release_block_of_rows(&mut block), ErrorKind::WrongBlockKind { actual: None, .. });
        }
        let result = table.read_rows(0..ROWS, &mut block).map(<[f64]>::len);
        assert_refused(result, &table);
        // The same descriptor, with a few rows.
        table.get_block_of_rows(1, 2, ReadWrite, &mut block).unwrap();
        block.as_mut_slice().unwrap()[0] = 9.0;
        table.release_block_of_rows(&mut block).unwrap();
        assert_eq!(table.value::<u8>(1, 0).unwrap(), 9);
        drop(ballast);
    });
}

#[test]
fn a_shared_table_that_is_refused_a_copy_still_shares() {
    alone("a_shared_table_that_is_refused_a_copy_still_shares", SMALL_SPACE, || {
        let table = large_table();
        let mut copy = table.clone();
        let ballast = fill_address_space();
        let result = copy.set_value(0, 0, 99.0_f64);
        assert_refused(result, &copy);
        let result = copy.as_mut_slice().map(|values| values.len());
        assert_refused(result, &copy);
        let result = copy.view_mut().map(|view| view.shape());
        assert_refused(result, &copy);
        let result = copy.fill(3.0_f32);
        assert_refused(result, &copy);
        let result = copy.rows_mut::<u8>(0..1).map(|block| block.discard());
        assert_refused(result, &copy);
        let mut block = BlockDescriptor::<u8>::new();
        let result = copy.get_block_of_rows(0, 1, ReadWrite, &mut block);
        assert_refused(result, &copy);
        assert!(copy.array().unwrap().shares_memory_with(table.array().unwrap()));
        drop((table, block));
        copy.set_value(0, 0, 99.0_f64).unwrap(); // nobody shares it any more
        assert_eq!(copy.as_slice().unwrap()[..2], [99, large_value(1)]);
        drop(ballast);
    });
}

#[test]
fn a_table_that_is_refused_more_rows_keeps_its_size() {
    alone("a_table_that_is_refused_more_rows_keeps_its_size", SMALL_SPACE, || {
        let mut table = large_table();
        let ballast = fill_address_space();
        for rows in [ROWS + 1, 2 * ROWS] {
            let result = table.resize(rows);
            assert_refused(result, &table);
        }
        drop(ballast);
        table.resize(ROWS + 1).unwrap();
        assert_eq!(table.rows::<u8>(ROWS..ROWS + 1).unwrap()[..], [0; COLUMNS]);
    });
}

#[test]
fn an_archive_that_there_is_no_memory_for_is_an_error() {
    alone("an_archive_that_there_is_no_memory_for_is_an_error", SMALL_SPACE, || {
        let table = large_table();
        let archive = table.to_bytes().unwrap();
        let small = table.slice_rows(0..2).unwrap().to_bytes().unwrap();
        let ballast = fill_address_space();
        assert_refused(HomogenNumericTable::<u8>::from_bytes(&archive), &table);
        assert_refused(files::from_bytes(&archive).map(|table| table.shape()), &table);
        assert_eq!(HomogenNumericTable::<u8>::from_bytes(&small).unwrap(), table.slice_rows(0..2).unwrap());
        drop(ballast);
        assert_eq!(HomogenNumericTable::<u8>::from_bytes(&archive).unwrap(), table);
    });
}

#[cfg(feature = "csv")]
#[test]
fn words_that_there_is_no_memory_for_are_an_error() {
    use numeric_table::{
        SoaNumericTable,
        csv::{CsvHeader, CsvOptions, CsvSource, CsvWriteOptions},
        dictionary::Categories,
    };
    alone("words_that_there_is_no_memory_for_are_an_error", SMALL_SPACE, || {
        let word = "w".repeat(3 * LEFT);
        let categories = Categories::from_labels([&word]).unwrap();
        let mut table = SoaNumericTable::new();
        table.push_feature(Feature::new(ElementType::U8).categorical(categories), vec![0_u8]).unwrap();
        let text = || CsvSource::from_bytes_with(word.clone().into_bytes(), CsvOptions::new().header(CsvHeader::No));
        let (source, again) = (text().unwrap(), text().unwrap());
        let ballast = fill_address_space();
        let refused = |result: Result<(), Error>| {
            let bytes = result.unwrap_err().refused_bytes().unwrap();
            assert!(bytes >= 3 * LEFT, "{bytes}");
        };
        refused(source.load::<u8>().map(drop));
        refused(source.load_typed().map(drop));
        refused(table.write_csv_to(std::io::sink(), CsvWriteOptions::new()));
        drop((ballast, source));
        assert_eq!(again.load::<u8>().unwrap().dictionary().feature(0).unwrap().label(0), Some(&word[..]));
    });
}

#[test]
fn threads_that_are_refused_leave_the_work_to_the_caller() {
    // Stacks so large that few threads fit, and that what is left beside them is most often enough for the few pages that
    // each thread takes when it begins. A thread without these ends the process.
    let variables = [("RAYON_NUM_THREADS", "200"), ("RUST_MIN_STACK", "16777216")];
    alone_with("threads_that_are_refused_leave_the_work_to_the_caller", "150000", &variables, || {
        let array = Array::full(8 << 20, 1.5_f32).unwrap(); // there is room for this, and for few threads
        assert!(array.iter().all(|&value| value == 1.5));
        // The few threads end in their own time, and only then return their memory.
        let is_room = |_| {
            Array::<u8>::zeros(32 << 20).is_ok() || {
                sleep(Duration::from_millis(10));
                false
            }
        };
        assert!((0..3000).any(is_room), "the threads are still there");
        let table = HomogenNumericTable::from_array(array, shape(1 << 20, 8)).unwrap();
        assert_eq!(table.convert::<i8>().unwrap().as_slice().unwrap()[..3], [1, 1, 1]);
    });
}

/// The most that this process has had in memory since `forget_peak`.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

/// How many bytes a call takes at once beyond what is in memory before it, its result included.
fn peak_of<R>(run: impl FnOnce() -> R) -> usize {
    fs::write("/proc/self/clear_refs", "5").unwrap(); // forgets the peak
    let before = resident();
    let result = run();
    let grown = peak().saturating_sub(before);
    drop(result);
    grown
}

#[test]
fn files_are_written_and_read_in_little_more_memory_than_the_table() {
    const MORE: usize = 8 << 20;
    if std::env::var_os("ASAN_OPTIONS").is_some() {
        eprintln!("skipped: AddressSanitizer keeps freed memory");
        return;
    }
    alone("files_are_written_and_read_in_little_more_memory_than_the_table", NO_LIMIT, || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.ntb");
        let options = || SaveOptions::new().durable(false);
        let (rows, size) = (1 << 19, 32 << 20);
        for layout in LAYOUTS {
            let table = HomogenNumericTable::full_with_layout(shape(rows, 16), 1.5_f32, layout).unwrap();
            let grown = peak_of(|| table.save_with(&path, options()).unwrap());
            assert!(grown < MORE, "save: {grown}");
            let slice = table.slice_rows(1..rows - 1).unwrap(); // gathered, if column-major
            let grown = peak_of(|| slice.save_with(&path, options()).unwrap());
            assert!(grown < MORE, "save of a slice: {grown}");
            let any: &dyn NumericTable = &table;
            let grown = peak_of(|| any.save_with(&path, options()).unwrap());
            assert!(grown < MORE, "save of a table of any kind: {grown}");
            drop((slice, table));

            let grown = peak_of(|| HomogenNumericTable::<f32>::load(&path).unwrap());
            assert!((size..size + MORE).contains(&grown), "load: {grown}");
            let grown = peak_of(|| HomogenNumericTable::<u8>::load_cast(&path).unwrap());
            assert!((size / 4..size / 4 + MORE).contains(&grown), "load_cast: {grown}");
            let grown = peak_of(|| verify(&path).unwrap());
            assert!(grown < MORE, "verify: {grown}");
            #[cfg(feature = "mmap")]
            {
                let map = || {
                    // SAFETY: nobody else knows the file.
                    let table = unsafe { HomogenNumericTable::<f32>::map(&path) }.unwrap();
                    assert_eq!(table.value::<f32>(rows / 2, 3).unwrap(), 1.5);
                    table
                };
                let grown = peak_of(map);
                assert!(grown < MORE, "map: {grown}");
            }
            let reader = TableReader::open(&path).unwrap();
            let grown = peak_of(|| reader.load_rows::<f64>(1..rows / 4).unwrap());
            assert!((size / 3..size / 2 + MORE).contains(&grown), "read_rows: {grown}");
            let walk = || {
                let mut blocks = reader.row_blocks::<f64>(rows / 16).unwrap();
                while let Some(block) = blocks.next_block().unwrap() {
                    assert_eq!(block[7], 1.5);
                }
            };
            let grown = peak_of(walk);
            assert!(grown < size / 8 + MORE, "row_blocks: {grown}");
            #[cfg(feature = "rayon")]
            {
                use rayon::iter::ParallelIterator;
                let blocks = || {
                    let blocks = reader.par_row_blocks::<f64>(4096).unwrap();
                    blocks.for_each(|block| assert_eq!(block.unwrap()[7], 1.5));
                };
                let grown = peak_of(blocks);
                assert!(grown < MORE, "par_row_blocks: {grown}");
            }
            let grown = peak_of(|| BasicStatistics::compute_file(&reader).unwrap());
            assert!(grown < MORE, "compute_file: {grown}");
            let copy = path.with_extension("copy");
            let copy_rows = || {
                let mut writer = TableWriter::<f64>::create_with(&copy, 16, None, options()).unwrap();
                writer.copy_rows(&reader, ..rows / 4).unwrap();
                let mut writer = TableWriter::<f32>::create_with(&copy, 16, None, options()).unwrap();
                writer.append(&[1.5_f32; 16]).unwrap();
                writer.copy_rows(&reader, ..).unwrap();
            };
            let grown = peak_of(copy_rows);
            assert!(grown < MORE, "copy_rows: {grown}");
        }
        let block = vec![2.5_f64; size / 8];
        let append = || {
            let mut writer = TableWriter::<f32>::create_with(&path, 16, None, options()).unwrap();
            (0..4).for_each(|_| writer.append(&block).unwrap());
            writer.finish().unwrap();
        };
        let grown = peak_of(append);
        assert!(grown < MORE, "append: {grown}");
        let table = BorrowedTable::new(&block, Shape { rows: block.len() / 16, columns: 16 }).unwrap();
        let append_table = || {
            let mut writer = TableWriter::<f32>::create_with(&path, 16, None, options()).unwrap();
            writer.append_table(&table).unwrap();
            writer.finish().unwrap();
        };
        let grown = peak_of(append_table);
        assert!(grown < MORE, "append_table: {grown}");
    });
}
