//! Tables saved to files, loaded, converted while loading, mapped and verified.
//!
//! Damaged files are in `damaged_table_files`, saves that fail half-way beside the code.

use std::fs;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use numeric_table::files::TableWriter;
use numeric_table::{
    files::{self, SaveOptions, TableReader, verify},
    prelude::*,
};
use test_support::bits::{Random, special_values};
use test_support::tables::{LAYOUTS, assert_error, feature, huge, numbered, shape, values_of};
use test_support::{SmallNumber, for_each_element};

type Table<T> = HomogenNumericTable<T>;

/// A folder that goes away with the test, and the name of a file in it.
fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    (folder, path)
}

/// As fast as can be: the tests do not cut the power.
fn fast() -> SaveOptions {
    SaveOptions::new().durable(false)
}

fn files_in(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// The same table, value for value and bit for bit.
#[track_caller]
fn assert_same<T: Element>(found: &Table<T>, expected: &Table<T>) {
    assert_eq!(found.shape(), expected.shape());
    assert_eq!(found.data_layout(), expected.data_layout());
    assert_eq!(found.dictionary(), expected.dictionary());
    assert_eq!(found.dictionary().is_uniform(), expected.dictionary().is_uniform());
    let [found, expected] = [found, expected].map(values_of);
    assert_eq!(bytemuck::cast_slice::<T, u8>(&found), bytemuck::cast_slice::<T, u8>(&expected));
}

fn round_trip<T: Element>(table: &Table<T>) {
    let (_folder, path) = scratch();
    table.save_with(&path, fast()).unwrap();
    assert!(verify(&path).unwrap());
    assert_same(&Table::<T>::load(&path).unwrap(), table);
    assert_same(&Table::<T>::load_cast(&path).unwrap(), table);
    assert_same(files::load(&path).unwrap().downcast_ref::<Table<T>>().unwrap(), table);
    #[cfg(feature = "mmap")]
    {
        // SAFETY: nobody else knows the file.
        let mapped = unsafe { Table::<T>::map(&path) }.unwrap();
        assert_same(&mapped, table);
    }
}

#[test]
fn every_element_type_comes_back_bit_for_bit() {
    fn check<T: SmallNumber>() {
        let values = special_values::<T>();
        for layout in LAYOUTS {
            let columns = 3;
            let rows = values.len() / columns;
            let whole_rows = values[..rows * columns].to_vec();
            round_trip(&Table::from_array_with_layout(whole_rows, shape(rows, columns), layout).unwrap());
        }
    }
    for_each_element!(check);
}

#[test]
fn tables_without_rows_or_columns_come_back() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            for shape in [shape(0, 0), shape(0, 3), shape(3, 0), shape(1, 1), shape(0, huge(60))] {
                round_trip(&Table::<T>::new_with_layout(shape, AllocationFlag::DoAllocate, layout).unwrap());
            }
        }
        round_trip(&Table::<T>::default());
    }
    for_each_element!(check);
}

#[test]
fn rows_without_columns_are_only_counted() {
    let (_folder, path) = scratch();
    let shape = shape(isize::MAX as usize, 0);
    for layout in LAYOUTS {
        Table::<f32>::new_with_layout(shape, AllocationFlag::DoAllocate, layout)
            .unwrap()
            .save_with(&path, fast())
            .unwrap();
        assert_eq!(Table::<f32>::load(&path).unwrap().shape(), shape);
        assert_eq!(Table::<f64>::load_cast(&path).unwrap().shape(), shape);
    }
}

#[test]
fn a_slice_saves_only_what_it_shows() {
    fn check<T: SmallNumber>() {
        let (_folder, path) = scratch();
        for layout in LAYOUTS {
            let table = numbered::<T>(10, 4, layout);
            for rows in [0..10, 3..7, 9..10, 4..4] {
                let slice = table.slice_rows(rows.clone()).unwrap();
                round_trip(&slice);
                slice.save_with(&path, fast().checksums(None)).unwrap();
                let (length, payload) = (fs::metadata(&path).unwrap().len(), rows.len() * 4 * size_of::<T>());
                assert_eq!(length, 4096 + payload as u64);
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn room_for_further_rows_is_not_saved() {
    let table = Table::from_array_with_spare_rows(vec![1_u16; 99], shape(2, 3)).unwrap();
    round_trip(&table);
}

#[test]
fn long_columns_of_a_slice_are_gathered_in_pieces() {
    let mut random = Random::new(7);
    let table =
        Table::<f32>::from_array_with_layout(random.values(3 * 400_000), shape(400_000, 3), DataLayout::ColumnMajor)
            .unwrap();
    let slice = table.slice_rows(1234..399_999).unwrap(); // 4.8 MB: several tasks
    round_trip(&slice);
    let wide =
        Table::<u8>::from_array_with_layout(random.values(300_000 * 20), shape(20, 300_000), DataLayout::ColumnMajor)
            .unwrap();
    round_trip(&wide.slice_rows(3..17).unwrap());
}

#[test]
fn dictionaries_come_back() {
    fn check<T: SmallNumber>() {
        let mut table = numbered::<T>(2, 3, DataLayout::RowMajor);
        let dictionaries = [
            DataDictionary::uniform(feature::<T>().named("pixel").categorical(usize::MAX), 3),
            DataDictionary::from_features([
                feature::<T>().named("länge, \0 \u{1F600}"),
                feature::<T>().named("").ordinal(),
                feature::<T>().categorical(0),
            ]),
            DataDictionary::from_features(vec![feature::<T>(); 3]),
        ];
        for dictionary in dictionaries {
            table.set_dictionary(dictionary).unwrap();
            round_trip(&table);
        }
    }
    for_each_element!(check);
}

#[test]
fn a_dictionary_that_no_header_has_room_for_is_refused() {
    let (folder, path) = scratch();
    let mut table = numbered::<u8>(1, 1, DataLayout::RowMajor);
    let name = "x".repeat(16 << 20);
    table.set_dictionary(DataDictionary::from_features([feature::<u8>().named(name)])).unwrap();
    assert_error!(table.save_with(&path, fast()), ErrorKind::Format { .. }, "dictionary");
    assert_eq!(files_in(folder.path()), 0);
    let old = numbered::<u8>(2, 2, DataLayout::RowMajor);
    old.save_with(&path, fast()).unwrap();
    assert_error!(table.save_with(&path, fast().in_place(true)), ErrorKind::Format { .. }); // before anything is lost
    assert_same(&Table::load(&path).unwrap(), &old);
    let name = "x".repeat((16 << 20) - 38); // the largest: 27 bytes in front, 11 around the name
    table.set_dictionary(DataDictionary::from_features([feature::<u8>().named(name)])).unwrap();
    round_trip(&table);
}

#[test]
fn checksums_of_any_chunk_size_are_found_right() {
    let (_folder, path) = scratch();
    let table = numbered::<f64>(5, 7, DataLayout::RowMajor);
    for chunk_size in [1, 3, 8, 64, 279, 280, 281, 4096, u32::MAX] {
        table.save_with(&path, fast().checksums(Some(chunk_size))).unwrap();
        assert!(verify(&path).unwrap(), "{chunk_size}");
        assert_same(&Table::load(&path).unwrap(), &table);
        let chunks = 280_u64.div_ceil(chunk_size.into());
        assert_eq!(fs::metadata(&path).unwrap().len(), 4096 + 280 + 8 + 4 * chunks);
    }
    table.save_with(&path, fast().checksums(None)).unwrap();
    assert!(!verify(&path).unwrap());
    assert_same(&Table::load(&path).unwrap(), &table);
}

#[test]
fn large_tables_come_back_and_chunks_may_lie_across_tasks() {
    let (_folder, path) = scratch();
    let mut random = Random::new(11);
    let table = Table::<f64>::from_array(random.values(1_500_000), shape(500_000, 3)).unwrap(); // 12 MB
    for chunk_size in [SaveOptions::CHUNK_SIZE, 999_999, 5 << 20, 64 << 20] {
        table.save_with(&path, fast().checksums(Some(chunk_size))).unwrap();
        assert!(verify(&path).unwrap());
        assert_same(&Table::load(&path).unwrap(), &table);
    }
    let converted = Table::<f32>::load_cast(&path).unwrap();
    assert_same(&converted, &table.convert().unwrap());
}

#[test]
fn loading_as_another_type_is_loading_and_then_converting() {
    fn from<S: Element>() {
        let (_folder, path) = scratch();
        let values = special_values::<S>();
        for layout in LAYOUTS {
            let rows = values.len() / 3;
            let mut table = Table::from_array_with_layout(values[..rows * 3].to_vec(), shape(rows, 3), layout).unwrap();
            let features = ["a", "b", "c"].map(|name| feature::<S>().named(name).categorical(9));
            table.set_dictionary(DataDictionary::from_features(features)).unwrap();
            table.save_with(&path, fast()).unwrap();
            for_each_element!(T => assert_same(&Table::<T>::load_cast(&path).unwrap(), &table.convert::<T>().unwrap()));
        }
    }
    for_each_element!(from);
}

#[test]
fn another_element_type_is_refused() {
    let (_folder, path) = scratch();
    numbered::<i16>(2, 2, DataLayout::RowMajor).save_with(&path, fast()).unwrap();
    let (expected, found) = (ElementType::U16, ElementType::I16);
    assert_error!(
        Table::<u16>::load(&path),
        ErrorKind::ElementTypeMismatch { expected: e, actual: f, .. } if (*e, *f) == (expected, found)
    );
    #[cfg(feature = "mmap")]
    {
        // SAFETY: nobody else knows the file.
        let mapped = unsafe { Table::<u16>::map(&path) };
        assert_error!(mapped, ErrorKind::ElementTypeMismatch { .. });
    }
}

#[test]
fn the_error_about_another_element_type_names_the_file_and_the_call_that_converts() {
    let (_folder, path) = scratch();
    numbered::<f32>(2, 2, DataLayout::RowMajor).save_with(&path, fast()).unwrap();
    let expected = format!("{}: the element type is f32, not f64: `load_cast` converts", path.display());
    assert_eq!(Table::<f64>::load(&path).unwrap_err().to_string(), expected);
    assert_eq!(TableReader::open(&path).unwrap().load::<f64>().unwrap_err().to_string(), expected);
    assert_eq!(Table::<f64>::load_cast(&path).unwrap().as_slice().unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn an_error_about_a_damaged_file_begins_with_its_path() {
    let (_folder, path) = scratch();
    fs::write(&path, "1,2\n").unwrap();
    let expected = format!("{}: bad format at byte 0: this is not a table file", path.display());
    assert_eq!(files::load(&path).unwrap_err().to_string(), expected);
    assert_eq!(verify(&path).unwrap_err().to_string(), expected);
    assert_eq!(TableReader::open(&path).unwrap_err().to_string(), expected);
    assert_eq!(Table::<u8>::load_cast(&path).unwrap_err().to_string(), expected);
}

#[test]
fn a_loaded_table_is_the_librarys_and_can_be_written() {
    let (_folder, path) = scratch();
    numbered::<i16>(2, 2, DataLayout::RowMajor).save_with(&path, fast()).unwrap();
    let mut table = Table::<i16>::load(&path).unwrap();
    assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
    assert!(table.array().unwrap().has_mutable_data());
    table.as_mut_slice().unwrap()[0] = 9;
    assert_eq!(table.as_slice().unwrap(), [9, 2, 3, 4]);
}

#[test]
fn a_table_of_any_kind_can_be_saved() {
    let (_folder, path) = scratch();
    for layout in LAYOUTS {
        let table = numbered::<i16>(3, 4, layout);
        let any: &dyn NumericTable = &table;
        any.save(&path).unwrap();
        assert_same(files::load(&path).unwrap().downcast_ref::<Table<i16>>().unwrap(), &table);
    }
}

// --- what cannot be saved, and where -------------------------------------------------------------------------------

#[test]
fn a_table_without_memory_or_lent_out_is_not_saved() {
    let (folder, path) = scratch();
    let table = Table::<f32>::new(shape(2, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(table.save(&path), ErrorKind::NotAllocated);
    let mut table = numbered::<f32>(2, 2, DataLayout::RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(table.save(&path), ErrorKind::BlockOutstanding { .. });
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(files_in(folder.path()), 0);
    table.save(&path).unwrap();
    assert_eq!(files_in(folder.path()), 1);
}

#[test]
fn a_place_that_cannot_be_written_is_an_error_with_the_path() {
    let (folder, _) = scratch();
    let table = numbered::<f32>(2, 2, DataLayout::RowMajor);
    let missing = folder.path().join("missing");
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    let bad = [
        folder.path().to_owned(),
        missing.join("table.ntb"),
        file.join("table.ntb"),
        folder.path().join("new/"),
        PathBuf::new(),
        PathBuf::from("/"),
    ];
    for path in bad {
        let error = table.save(&path).unwrap_err();
        let ErrorKind::Io { source } = error.kind() else { panic!("{path:?}: {error:?}") };
        assert_eq!(error.path(), Some(path.as_path()));
        assert!(!source.to_string().is_empty());
    }
    assert_eq!(files_in(folder.path()), 1);
    assert_eq!(fs::read(&file).unwrap(), b"text");
    let error = table.save(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with(&folder.path().display().to_string()) && error.contains("directory"), "{error}");
}

#[test]
fn a_file_name_without_a_folder_is_in_the_current_one() {
    // Not the same as a path with a folder: there is no parent to ask.
    let name = format!("numeric-table-test-{}.ntb.tmp", std::process::id());
    let table = numbered::<f32>(2, 2, DataLayout::RowMajor);
    table.save(&name).unwrap();
    let loaded = Table::<f32>::load(&name);
    fs::remove_file(&name).unwrap();
    assert_same(&loaded.unwrap(), &table);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn in_place_the_file_stays_the_same_one() {
        let (folder, path) = scratch();
        let table = numbered::<u8>(2, 2, DataLayout::ColumnMajor);
        let in_place = || fast().in_place(true);
        table.save_with(&path, in_place()).unwrap(); // a new one
        assert_same(&Table::<u8>::load(&path).unwrap(), &table);

        let (other_name, link) = (folder.path().join("other name"), folder.path().join("link"));
        fs::hard_link(&path, &other_name).unwrap();
        symlink("table.ntb", &link).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let small = numbered::<u8>(1, 1, DataLayout::RowMajor);
        small.save_with(&link, in_place()).unwrap();
        assert_same(&Table::<u8>::load(&other_name).unwrap(), &small);
        assert_eq!((mode(&path), link.is_symlink()), (0o640, true));

        let mut writer = TableWriter::<u8>::create_with(&path, 2, None, in_place()).unwrap();
        assert_same(&Table::<u8>::load(&other_name).unwrap(), &small); // nothing has been written
        writer.append(&[1_u8, 2, 3, 4]).unwrap();
        assert_error!(Table::<u8>::load(&path), ErrorKind::Format { offset: 0, .. });
        writer.finish().unwrap();
        assert_eq!(Table::<u8>::load(&other_name).unwrap().as_slice().unwrap(), [1, 2, 3, 4]);
        assert_error!(table.save_with(folder.path(), in_place()), ErrorKind::Io { .. });
        assert_error!(table.save_with("/dev/null", in_place()), ErrorKind::Io { .. });
        assert_eq!(files_in(folder.path()), 3);
    }

    #[test]
    fn the_permissions_of_the_old_file_stay() {
        let (folder, path) = scratch();
        let table = numbered::<u8>(2, 2, DataLayout::RowMajor);
        table.save(&path).unwrap();
        let fresh = folder.path().join("fresh");
        fs::write(&fresh, "").unwrap();
        assert_eq!(mode(&path), mode(&fresh)); // what any new file gets
        for permissions in [0o600, 0o640, 0o444, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(permissions)).unwrap();
            table.save(&path).unwrap();
            assert_eq!(mode(&path), permissions);
        }
    }

    #[test]
    fn a_symbolic_link_stays_and_what_it_leads_to_is_replaced() {
        let (folder, path) = scratch();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let table = numbered::<u8>(2, 2, DataLayout::RowMajor);
        symlink("elsewhere/real.ntb", &path).unwrap(); // leads nowhere yet
        for _ in 0..2 {
            table.save(&path).unwrap();
            assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
            assert_same(&Table::load(elsewhere.join("real.ntb")).unwrap(), &table);
        }
        assert_eq!((files_in(folder.path()), files_in(&elsewhere)), (2, 1));
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(
            table
                .save(&circle)
                .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == circle)
        );
    }

    #[test]
    fn what_is_no_file_is_neither_replaced_nor_waited_for() {
        let table = numbered::<u8>(2, 2, DataLayout::RowMajor);
        let device = Path::new("/dev/null");
        assert!(
            table
                .save(device)
                .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == device)
        );
        assert_error!(Table::<u8>::load(device), ErrorKind::Io { .. });
        let (_folder, socket) = scratch();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_error!(table.save(&socket), ErrorKind::Io { .. });
        assert_error!(verify(&socket), ErrorKind::Io { .. });
    }

    #[test]
    fn a_hard_link_keeps_the_old_file() {
        let (folder, path) = scratch();
        numbered::<u8>(2, 2, DataLayout::RowMajor).save(&path).unwrap();
        let other = folder.path().join("other.ntb");
        fs::hard_link(&path, &other).unwrap();
        numbered::<u8>(3, 3, DataLayout::RowMajor).save(&path).unwrap();
        assert_eq!(Table::<u8>::load(&other).unwrap().row_count(), 2);
    }
}

// --- maps ----------------------------------------------------------------------------------------------------------

#[cfg(feature = "mmap")]
mod mapped {
    use super::*;

    fn map<T: Element>(path: &Path) -> Table<T> {
        // SAFETY: the files of these tests are replaced, never written.
        unsafe { Table::<T>::map(path) }.unwrap()
    }

    #[test]
    fn a_mapped_table_is_immutable_and_the_first_write_copies() {
        let (_folder, path) = scratch();
        numbered::<i32>(3, 2, DataLayout::RowMajor).save(&path).unwrap();
        let before = fs::read(&path).unwrap();
        let mut table = map::<i32>(&path);
        let clone = table.clone();
        assert!(!table.array().unwrap().has_mutable_data());
        assert_eq!(table.as_slice().unwrap().as_ptr().addr() % 4096, 0);
        let address = table.as_slice().unwrap().as_ptr();
        assert!(table.rows::<i32>(1..3).unwrap().is_zero_copy());
        table.set_value(0, 0, 99).unwrap();
        assert_ne!(table.as_slice().unwrap().as_ptr(), address);
        assert_eq!((table.as_slice().unwrap()[0], clone.as_slice().unwrap()[0]), (99, 1));
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_mapped_table_can_be_saved_where_it_came_from() {
        let (folder, path) = scratch();
        for layout in LAYOUTS {
            let table = numbered::<i32>(3, 2, layout);
            table.save(&path).unwrap();
            let mapped = map::<i32>(&path);
            mapped.save(&path).unwrap();
            mapped.slice_rows(1..3).unwrap().save(&path).unwrap();
            assert_same(&mapped, &table); // the old file lives on
            assert_same(&map(&path), &table.slice_rows(1..3).unwrap());
        }
        assert_eq!(files_in(folder.path()), 1);
    }

    #[test]
    fn a_map_outlives_the_name_of_its_file() {
        let (_folder, path) = scratch();
        let table = numbered::<i32>(3, 2, DataLayout::RowMajor);
        table.save(&path).unwrap();
        let array = map::<i32>(&path).into_array().unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(array[..], [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn mapping_looks_at_no_value() {
        let (_folder, path) = scratch();
        let table = numbered::<i32>(3, 2, DataLayout::RowMajor);
        table.save(&path).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[4096] = 77;
        fs::write(&path, bytes).unwrap();
        assert_eq!(map::<i32>(&path).as_slice().unwrap()[0], 77);
        assert_error!(verify(&path), ErrorKind::Format { offset: 4096, .. });
    }
}

#[test]
fn a_file_in_a_folder_that_does_not_exist_names_the_folder() {
    let (folder, _) = scratch();
    let path = folder.path().join("missing").join("table.ntb");
    let error = Table::from_rows(&[[1_u8]]).unwrap().save(&path).unwrap_err();
    let missing = folder.path().join("missing");
    assert_eq!(error.to_string(), format!("{}: the folder {} does not exist", path.display(), missing.display()));
    assert!(matches!(error.kind(), ErrorKind::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound));
}
