//! Saves that fail half-way, and headers byte by byte.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::header;
use super::plan::FilePlan;
use crate::prelude::*;
use crate::storage::output::Output;
use crate::storage::position::Sink;
use crate::storage::replace::replace;
use crate::{SoaNumericTable, files::SaveOptions};

/// A disk with space for `room` more bytes.
struct AlmostFull<'a> {
    file: &'a dyn Sink,
    room: AtomicUsize,
}

impl Sink for AlmostFull<'_> {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let take = |room: usize| Some(room - room.min(bytes.len()));
        let room = self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).unwrap();
        let fits = room.min(bytes.len());
        self.file.write_at(&bytes[..fits], offset)?;
        if fits == bytes.len() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    /// Reserves nothing: writing finds that the disk is full.
    fn reserve(&self, _length: u64) -> io::Result<()> {
        Ok(())
    }
}

fn save_with_room(table: &dyn NumericTable, path: &Path, room: usize, in_place: bool) -> crate::Result<()> {
    let options = SaveOptions::new().durable(false).checksums(Some(16)).in_place(in_place);
    let plan = FilePlan::new(table, options.chunk_size())?;
    replace(path, &options, |file| {
        let sink = &AlmostFull { file, room: AtomicUsize::new(room) };
        plan.write(&Output { sink, path }, options.hook())
    })
}

fn values_of(table: &dyn NumericTable) -> Vec<f32> {
    table.rows(..).unwrap().to_vec()
}

#[test]
fn a_save_that_fails_after_any_number_of_bytes_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let old = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0]]).unwrap();
    old.save(&path).unwrap();
    let old_bytes = fs::read(&path).unwrap();
    let whole = HomogenNumericTable::from_rows(&[[5.0_f32, 6.0, 7.0], [8.0, 9.0, 10.0], [11.0, 12.0, 13.0]]).unwrap();
    let columns = whole.to_layout(DataLayout::ColumnMajor).unwrap().slice_rows(1..3).unwrap();
    let arrays = SoaNumericTable::from_columns([("a", vec![1_u8, 2, 3]), ("b", vec![4, 5, 6])]).unwrap();
    for new in [&whole as &dyn NumericTable, &columns, &arrays] {
        fs::write(&path, &old_bytes).unwrap();
        let mut room = 0;
        while let Err(error) = save_with_room(new, &path, room, false) {
            let is_full = error.path() == Some(path.as_path())
                && matches!(error.kind(), ErrorKind::Io { source } if source.kind() == io::ErrorKind::StorageFull);
            assert!(is_full, "{room}: {error:?}");
            assert_eq!(fs::read(&path).unwrap(), old_bytes, "{room}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{room}: a file is left behind");
            room += 1;
        }
        assert_eq!(room, fs::read(&path).unwrap().len());
        let found = crate::files::load(&path).unwrap();
        assert_eq!((found.kind(), values_of(&*found)), (new.kind(), values_of(new)));
    }
}

#[test]
fn a_save_in_place_that_fails_leaves_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let new = HomogenNumericTable::from_rows(&[[5.0_f32, 6.0, 7.0], [8.0, 9.0, 10.0]]).unwrap();
    for was_there in [true, false] {
        let mut room = 0;
        loop {
            if was_there {
                fs::write(&path, "something else").unwrap();
            } else if path.exists() {
                fs::remove_file(&path).unwrap();
            }
            if save_with_room(&new, &path, room, true).is_ok() {
                break;
            }
            assert_eq!(path.exists(), was_there, "{room}");
            assert!(!was_there || fs::read(&path).unwrap().is_empty(), "{room}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), usize::from(was_there), "{room}");
            room += 1;
        }
        assert_eq!(room, fs::read(&path).unwrap().len());
        assert_eq!(HomogenNumericTable::load(&path).unwrap(), new);
    }
}

/// Simulates a kill at any moment, which leaves the bytes written so far.
#[test]
fn a_save_in_place_that_stops_anywhere_leaves_nothing_that_is_taken_for_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let new = HomogenNumericTable::from_rows(&[[5.0_f32, 6.0, 7.0], [8.0, 9.0, 10.0]]).unwrap();
    let options = SaveOptions::new().checksums(None); // they would detect it
    for room in 0.. {
        let file = File::create(&path).unwrap();
        let sink = &AlmostFull { file: &file, room: AtomicUsize::new(room) };
        let plan = FilePlan::new(&new, options.chunk_size()).unwrap();
        if plan.write(&Output { sink, path: &path }, options.hook()).is_ok() {
            break;
        }
        // If it loads, only zeros after the header can be missing.
        assert!(HomogenNumericTable::<f32>::load(&path).map_or(true, |found| found == new), "{room}");
    }
    assert_eq!(HomogenNumericTable::load(&path).unwrap(), new);
}

#[test]
fn many_tasks_that_fail_change_nothing_either() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let table = HomogenNumericTable::full(Shape { rows: 3 << 20, columns: 1 }, 1.0_f32).unwrap();
    for room in [0, 4096, 4097, 5 << 20, (12 << 20) + 4096] {
        assert!(save_with_room(&table, &path, room, false).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{room}");
    }
}

#[test]
fn headers_are_written_as_the_format_says() {
    let features = [Feature::new(ElementType::I16).named("é").categorical(3), Feature::new(ElementType::I16).ordinal()];
    let shape = Shape { rows: 5, columns: 2 };
    let dictionary = DataDictionary::from_features(features);
    let bytes = header::encode(ElementType::I16, DataLayout::ColumnMajor, shape, &dictionary).unwrap();
    let mut expected = b"\x0bhomogeneous".to_vec();
    expected.extend([8, 1, 5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([0, 2, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([1, 2, 0, 0, 0, 0, 0, 0, 0, 0xc3, 0xa9, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([0, 1, 0]);
    assert_eq!(bytes[..], expected);
    let found = header::HomogeneousHeader::decode(bytes.to_vec(), 12, bytes.major, 20).unwrap();
    assert_eq!((found.element_type, found.layout, found.shape), (ElementType::I16, DataLayout::ColumnMajor, shape));
    assert_eq!(found.dictionary(ElementType::I16).unwrap(), dictionary);
}
