//! What is written is read again, from files and from streams.

use std::fs;

use numeric_table::prelude::*;
use numeric_table::{files::SaveOptions, interop::CopyPolicy, npy};
use test_support::bits::{Random, special_values};
use test_support::tables::{LAYOUTS, assert_error, numbered, shape, values_of};
use test_support::{SmallNumber, for_each_element};

use super::{Table, by_hand, bytes_of, has_no_bf16, layout_in_file, write};

#[test]
fn every_value_layout_slice_and_empty_table_comes_back_bit_for_bit() {
    fn check<T: SmallNumber>() {
        if !has_no_bf16::<T>() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.npy");
        let values = special_values::<T>();
        let whole = Table::from_array(values.clone(), shape(values.len(), 1)).unwrap();
        let mut tables = vec![whole];
        for layout in LAYOUTS {
            let counted = numbered::<T>(7, 5, layout);
            tables.extend([0..7, 2..5, 6..7, 3..3].map(|rows| counted.slice_rows(rows).unwrap()));
            tables.push(Table::full_with_layout(shape(4, 0), T::small(1), layout).unwrap());
            tables.push(counted);
        }
        for table in tables {
            table.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
            let bytes = write(&table);
            assert_eq!(fs::read(&path).unwrap(), bytes);
            let copies = [
                Table::<T>::load_npy(&path).unwrap(),
                Table::<T>::read_npy(&bytes[..]).unwrap(),
                Table::<T>::from_npy(bytes.clone(), CopyPolicy::Always).unwrap(),
                Table::<T>::from_npy(bytes, CopyPolicy::IfNeeded).unwrap(),
            ];
            for copy in copies {
                assert_eq!((copy.shape(), copy.data_layout()), (table.shape(), layout_in_file(&table)));
                assert_eq!(bytes_of(&values_of(&copy)), bytes_of(&values_of(&table)));
            }
        }
    }
    for_each_element!(check);
}

/// Long enough for several threads, pieces and parts of a stream.
#[test]
fn large_tables_come_back_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    let values = Random::new(1).values::<u16>(1_000_001 * 3);
    for layout in LAYOUTS {
        let table = Table::from_array_with_layout(values.clone(), shape(1_000_001, 3), layout).unwrap();
        let table = table.slice_rows(1..1_000_000).unwrap();
        table.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        assert_eq!(write(&table), bytes);
        let expected = values_of(&table);
        assert_eq!(values_of(&Table::<u16>::load_npy(&path).unwrap()), expected);
        assert_eq!(values_of(&Table::<u16>::read_npy(&bytes[..]).unwrap()), expected);
        let wide = Table::<f64>::load_npy_cast(&path).unwrap();
        assert!(values_of(&wide).iter().zip(&expected).all(|(&wide, &narrow)| wide == f64::from(narrow)));
        // The same, big-endian.
        let at = bytes.iter().position(|&byte| byte == b'<').unwrap();
        bytes[at] = b'>';
        bytes[128..].chunks_exact_mut(2).for_each(<[u8]>::reverse);
        assert_eq!(values_of(&Table::<u16>::from_npy(bytes.clone(), CopyPolicy::IfNeeded).unwrap()), expected);
        assert_eq!(values_of(&Table::<u16>::read_npy(&bytes[..]).unwrap()), expected);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(values_of(&Table::<u16>::load_npy(&path).unwrap()), expected);
        assert_eq!(values_of(&Table::<f64>::load_npy_cast(&path).unwrap()), values_of(&wide));
    }
}

#[test]
fn several_arrays_follow_each_other_in_a_stream_but_not_in_a_file() {
    let tables = [numbered::<i16>(2, 3, DataLayout::RowMajor), numbered::<i16>(4, 1, DataLayout::ColumnMajor)];
    let bytes = [write(&tables[0]), write(&tables[1])].concat();
    let mut stream = &bytes[..];
    for table in &tables {
        assert_eq!(&Table::<i16>::read_npy(&mut stream).unwrap(), table);
    }
    assert_error!(
        npy::read(&mut stream),
        ErrorKind::Format { offset: 0, reason, .. } if reason == "it is empty"
    );
    let refused = Table::<i16>::from_npy(bytes, CopyPolicy::Always);
    assert_error!(
        refused,
        ErrorKind::Format { offset: 140, .. },
        "bytes after the array: 136; 2 x 3 i16 values end at byte 140: `read_npy` reads several arrays from one file"
    );
}

#[test]
fn a_stream_of_one_byte_at_a_time_or_with_interruptions_is_read() {
    struct Slow<'a>(&'a [u8], usize);
    impl std::io::Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(3) {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let count = buffer.len().min(1);
            self.0.read(&mut buffer[..count])
        }
    }
    let table = numbered::<f64>(5, 4, DataLayout::ColumnMajor);
    assert_eq!(Table::<f64>::read_npy(Slow(&write(&table), 0)).unwrap(), table);
}

#[test]
fn what_a_stream_fails_with_is_handed_on() {
    struct Failing(usize);
    impl std::io::Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let bytes = by_hand("<i2", "False", "(9, 1)", &[]);
            let Some(&byte) = bytes.get(self.0) else { return Err(std::io::Error::other("gone")) };
            (self.0, buffer[0]) = (self.0 + 1, byte);
            Ok(1)
        }
    }
    impl std::io::Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let count = bytes.len().min(self.0);
            self.0 -= count;
            if count == 0 { Err(std::io::Error::other("full")) } else { Ok(count) }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::Error::other("not flushed"))
        }
    }
    assert_error!(Table::<i16>::read_npy(Failing(0)), ErrorKind::Io { source, .. } if source.to_string() == "gone");
    let table = numbered::<i16>(3, 2, DataLayout::RowMajor);
    for (room, words) in [(0, "full"), (127, "full"), (139, "full"), (140, "not flushed")] {
        assert_error!(table.write_npy(Failing(room)), ErrorKind::Io { source, .. } if source.to_string() == words);
    }
}

#[test]
fn a_save_that_fails_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    let table = numbered::<i16>(3, 2, DataLayout::RowMajor);
    table.save_npy(&path).unwrap();
    let refused = numbered::<numeric_table::bf16>(3, 2, DataLayout::RowMajor);
    let words = "NumPy has no element type bf16: convert the table first";
    for error in
        [refused.save_npy(&path), (&refused as &dyn NumericTable).save_npy(&path), refused.write_npy(Vec::new())]
    {
        assert_eq!(error.unwrap_err().to_string(), words);
    }
    let empty = Table::<f32>::new(shape(3, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(empty.save_npy(&path), ErrorKind::NotAllocated);
    assert_error!(empty.write_npy(Vec::new()), ErrorKind::NotAllocated);
    let wrong = folder.path().join("missing/array.npy");
    assert!(
        table
            .save_npy(&wrong)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == wrong)
    );
    assert_eq!(Table::<i16>::load_npy(&path).unwrap(), table);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(
        Table::<i16>::load_npy(&wrong)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == wrong)
    );
    assert_error!(Table::<i16>::load_npy(folder.path()), ErrorKind::Io { .. });
}

#[test]
fn the_hook_of_the_options_is_told_of_progress() {
    use std::sync::{Arc, Mutex};
    let folder = tempfile::tempdir().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let options = SaveOptions::new().durable(false).on_progress(move |progress| told.lock().unwrap().push(progress));
    numbered::<i16>(3, 2, DataLayout::RowMajor).save_npy_with(folder.path().join("array.npy"), options).unwrap();
    let seen: Vec<_> = seen.lock().unwrap().iter().map(|progress| (progress.done, progress.total)).collect();
    assert_eq!(seen, [(0, Some(12)), (12, Some(12))]);
}
