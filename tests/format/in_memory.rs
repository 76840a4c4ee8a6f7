//! Tables that several threads save into files in memory (tmpfs): the bytes are those of one thread, and whatever fails
//! leaves nothing. A memory that gets full is tested in `processes`.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use numeric_table::{
    AosNumericTable, PackedSymmetricMatrix, SoaNumericTable,
    prelude::*,
    table::{RecordLayout, Triangle},
};
use tempfile::TempDir;
use test_support::bits::Random;
use test_support::tables::shape;

use crate::support::{Table, fast, scratch};

const MI: usize = 1 << 20;

/// A folder in memory, where Linux has one; elsewhere an ordinary one.
fn memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| scratch().0)
}

fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Compares what several threads write into memory with what one thread writes on the disk.
fn check(name: &str, table: &dyn NumericTable, options: &SaveOptions) {
    let (_disk, expected) = scratch();
    with_threads(1, || table.save_with(&expected, options.clone()).unwrap());
    let expected = fs::read(&expected).unwrap();
    let memory = memory();
    let path = memory.path().join("table.ntb");
    for threads in [1, 2, 5] {
        with_threads(threads, || table.save_with(&path, options.clone()).unwrap());
        assert!(fs::read(&path).unwrap() == expected, "{name}, {threads} threads");
        assert_eq!(fs::read_dir(memory.path()).unwrap().count(), 1, "{name}: something is left behind");
    }
}

fn bytes(count: usize) -> Table<u8> {
    Table::from_array(Random::quiet(count as u64).values(count), shape(count, 1)).unwrap()
}

#[test]
fn any_number_of_threads_writes_the_same_bytes_at_the_ends_of_chunks_pieces_and_pages() {
    for count in [0, 1, MI, 4 * MI - 1, 4 * MI, 4 * MI + 1, 5 * MI + 4095, 9 * MI - 3] {
        let table = bytes(count);
        for checksums in [None, Some(1 << 20), Some(100_003)] {
            check(&format!("{count} bytes, checksums of {checksums:?}"), &table, &fast().checksums(checksums));
        }
    }
}

#[test]
fn any_number_of_threads_writes_the_same_bytes_of_tables_of_every_kind() {
    let values: Vec<f32> = Random::quiet(1).values(3 * 700_001);
    let columns = Table::from_array_with_layout(values.clone(), shape(700_001, 3), DataLayout::ColumnMajor).unwrap();
    check("columns", &columns, &fast());
    check("strided rows of columns", &columns.slice_rows(17..700_000).unwrap(), &fast());
    let rows = Table::from_array(values, shape(700_001, 3)).unwrap();
    check("rows of a table", &rows.slice_rows(5..699_998).unwrap(), &fast());
    let soa = SoaNumericTable::from_columns([("a", vec![7_u8; 3 * MI + 5]), ("b", vec![9; 3 * MI + 5])]).unwrap();
    check("a structure of arrays", &soa, &fast());
    let wide: Vec<f64> = Random::quiet(2).values(MI + 3);
    let mixed = SoaNumericTable::from_columns([("a", wide)]).unwrap();
    check("one wide column", &mixed, &fast().checksums(None));
    let layout = RecordLayout::new(16).field("x", ElementType::F64, 0).unwrap();
    let layout = layout.field("y", ElementType::I16, 10).unwrap();
    let mut records = AosNumericTable::zeros(&layout, 400_000).unwrap();
    let count = |block: &mut BlockMut<'_, f64>| {
        block.iter_mut().enumerate().for_each(|(i, value)| *value = (i % 30_000) as f64);
        Ok(())
    };
    records.update_rows::<f64, _>(.., count).unwrap();
    check("records", &records, &fast());
    let values: Vec<f32> = Random::quiet(4).values(1700 * 1701 / 2);
    let packed =
        PackedSymmetricMatrix::from_packed(Array::from(values), Triangle::Upper, DataLayout::RowMajor).unwrap();
    check("half of a matrix", &packed, &fast());
}

#[test]
fn a_durable_save_into_memory_is_loaded_again() {
    let (memory, table) = (memory(), bytes(9 * MI + 7));
    let path = memory.path().join("table.ntb");
    with_threads(4, || table.save(&path).unwrap());
    assert_eq!(Table::<u8>::load(&path).unwrap(), table);
    // A file that is there is replaced, or overwritten in place.
    let other = bytes(7 * MI);
    for in_place in [false, true] {
        with_threads(4, || other.save_with(&path, fast().in_place(in_place)).unwrap());
        assert_eq!(Table::<u8>::load(&path).unwrap(), other, "in place: {in_place}");
        table.save(&path).unwrap();
    }
}

#[test]
fn a_hook_that_panics_half_way_leaves_the_old_file() {
    let memory = memory();
    let path = memory.path().join("table.ntb");
    bytes(3).save(&path).unwrap();
    let table = bytes(12 * MI);
    for limit in [0, 1, 6 * MI as u64] {
        let options = fast().on_progress(move |progress| assert!(progress.done < limit, "enough"));
        let result = catch_unwind(AssertUnwindSafe(|| with_threads(4, || table.save_with(&path, options))));
        assert!(result.is_err(), "{limit}");
        assert_eq!(files::load(&path).unwrap().shape(), shape(3, 1), "{limit}");
        assert_eq!(fs::read_dir(memory.path()).unwrap().count(), 1, "{limit}");
    }
}

#[test]
fn a_file_that_everybody_may_write_is_saved_as_well() {
    use std::os::unix::fs::PermissionsExt;
    let memory = memory();
    let path = memory.path().join("table.ntb");
    bytes(3).save(&path).unwrap();
    for mode in [0o666, 0o200, 0o400] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let table = bytes(6 * MI + 1);
        with_threads(3, || table.save_with(&path, fast()).unwrap());
        assert_eq!(mode_of(&path), mode);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Table::<u8>::load(&path).unwrap(), table, "{mode:o}");
    }
}

fn mode_of(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
}

#[cfg(feature = "npy")]
#[test]
fn any_number_of_threads_writes_the_same_npy_file() {
    let memory = memory();
    let table = Table::from_array(Random::quiet(3).values::<f64>(3 * 500_000), shape(500_000, 3)).unwrap();
    let mut expected = Vec::new();
    table.write_npy(&mut expected).unwrap();
    for threads in [1, 2, 5] {
        let path = memory.path().join("table.npy");
        with_threads(threads, || table.save_npy_with(&path, fast()).unwrap());
        assert!(fs::read(&path).unwrap() == expected, "{threads}");
    }
}
