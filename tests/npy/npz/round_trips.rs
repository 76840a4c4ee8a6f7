//! What is written is read back, and what is refused leaves everything as it was.

use std::fs;
use std::sync::{Arc, Mutex};

use numeric_table::prelude::*;
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, RowMergedNumericTable, SoaNumericTable, bf16,
    npz::{self, NpzReader, NpzWriter},
    table::RecordLayout,
};
use test_support::bits::{Random, special_values};
use test_support::for_each_element;
use test_support::tables::{LAYOUTS, assert_error, shape};

use super::{names, options};
use crate::{Table, bytes_of, has_no_bf16, layout_in_file};

#[test]
fn every_type_layout_and_shape_comes_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays.npz");
    for is_compressed in [false, true] {
        for_each_element!(T => if has_no_bf16::<T>() {
            for layout in LAYOUTS {
                for (rows, columns) in [(3, 5), (5, 1), (1, 5), (0, 5), (5, 0), (0, usize::MAX), (1000, 7)] {
                    let count = rows * columns;
                    let mut values = special_values::<T>();
                    values.extend(Random::new(3).values::<T>(count));
                    values.truncate(count);
                    let table = Table::from_array_with_layout(values, shape(rows, columns), layout).unwrap();
                    npz::save_with(&path, &[("x", &table)], options().compressed(is_compressed)).unwrap();
                    let found = NpzReader::open(&path).unwrap().load::<T>("x").unwrap();
                    assert_eq!((found.shape(), found.data_layout()), (table.shape(), layout_in_file(&table)));
                    if count > 0 {
                        assert_eq!(bytes_of(found.as_slice().unwrap()), bytes_of(table.as_slice().unwrap()));
                    }
                }
            }
        });
    }
}

/// So many values that they are read and written in several pieces, and several threads gather them.
#[test]
fn a_large_table_comes_back_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.npz");
    let values: Vec<u32> = (0..1_200_000_u32).map(|index| index / 1000 * 3).collect();
    let table = Table::from_array(values, shape(400_000, 3)).unwrap();
    let strided = Table::from_array_with_layout(vec![7_u16; 1_200_000], shape(400_000, 3), LAYOUTS[1]).unwrap();
    let slice = strided.slice_rows(1..399_999).unwrap();
    for is_compressed in [false, true] {
        npz::save_with(&path, &[("x", &table), ("y", &slice)], options().compressed(is_compressed)).unwrap();
        let mut file = NpzReader::open(&path).unwrap();
        assert!(file.load::<u32>("x").unwrap() == table);
        assert!(file.load::<u16>("y").unwrap().to_compact().unwrap() == slice.to_compact().unwrap());
        assert!(file.load_cast::<f64>("x").unwrap() == table.convert::<f64>().unwrap());
    }
}

#[test]
fn tables_of_every_kind_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kinds.npz");
    let sparse = CsrNumericTable::try_new(shape(2, 3), vec![0, 1, 2], vec![2, 0], vec![1.5_f32, 2.5]).unwrap();
    let columns = [("a", AnyArray::from(vec![1_u8, 2])), ("b c", AnyArray::from(vec![0.5_f64, -0.5]))];
    let soa = SoaNumericTable::from_columns(columns).unwrap();
    let halves = [[1_i16, 2], [3, 4]].map(|row| Box::new(Table::from_rows(&[row]).unwrap()) as Box<dyn NumericTable>);
    let merged = RowMergedNumericTable::new(halves).unwrap();
    let layout = RecordLayout::new(16).field("v[0]", ElementType::I16, 2).unwrap();
    let layout = layout.field("v[1]", ElementType::I16, 4).unwrap().field("w", ElementType::F32, 8).unwrap();
    let mut aos = AosNumericTable::zeros(&layout, 2).unwrap();
    aos.set_value(1, 1, 7).unwrap();
    let boxed: Box<dyn NumericTable> = Box::new(merged);
    let arrays: [(&str, &dyn NumericTable); 5] =
        [("csr", &sparse), ("soa", &soa), ("merged", &*boxed), ("aos", &aos), ("none", &SoaNumericTable::new())];
    npz::save_with(&path, &arrays, options()).unwrap();
    let mut file = NpzReader::open(&path).unwrap();
    assert_eq!(names(&file), ["csr", "soa", "merged", "aos", "none"]);
    assert_eq!(file.load::<f32>("csr").unwrap().as_slice().unwrap(), [0.0, 0.0, 1.5, 2.5, 0.0, 0.0]);
    assert_eq!(file.load::<i16>("merged").unwrap().as_slice().unwrap(), [1, 2, 3, 4]);
    let found = file.load_any("soa").unwrap();
    assert!(found.dictionary().names().eq([Some("a"), Some("b c")]));
    assert_eq!(found.rows::<f64>(..).unwrap()[..], [1.0, 0.5, 2.0, -0.5]);
    let found = file.load_any("aos").unwrap();
    assert_eq!(found.downcast_ref::<AosNumericTable>().unwrap().layout(), layout);
    assert_eq!(found.rows::<i32>(..).unwrap()[..], [0, 0, 0, 0, 7, 0]);
    assert_eq!(file.describe("none").unwrap().shape, shape(0, 0));
}

#[test]
fn any_table_is_written_as_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.npz");
    let rows = 100_000; // several pieces
    let values: Vec<f32> = (0..rows * 3).map(|index| index as f32).collect();
    let table = Table::from_array(values, shape(rows, 3)).unwrap();
    let mut writer = NpzWriter::create_with(&path, options()).unwrap();
    writer.add_records("x", &table).unwrap();
    assert_error!(
        writer.add_records("y", &SoaNumericTable::new()),
        ErrorKind::RecordLayout { .. },
        "at least one byte"
    );
    let wide = Table::<f32>::new(shape(0, usize::MAX), AllocationFlag::DoAllocate).unwrap();
    assert_error!(writer.add_records("y", &wide), ErrorKind::LimitExceeded { what: "columns", limit: 65_536, .. });
    assert_error!(writer.add_columns(&wide), ErrorKind::LimitExceeded { what: "columns", limit: 65_536, .. });
    writer.finish().unwrap();
    let found = NpzReader::open(&path).unwrap().load_any("x").unwrap();
    assert!(found.dictionary().names().eq([Some("f0"), Some("f1"), Some("f2")]));
    assert!(found.rows::<f32>(..).unwrap()[..] == *table.as_slice().unwrap());
}

#[test]
fn a_refused_array_leaves_the_writer_and_the_file_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays.npz");
    fs::write(&path, "old").unwrap();
    let table = Table::from_rows(&[[1_u8, 2]]).unwrap();
    let brain = Table::from_rows(&[[bf16::ONE]]).unwrap();
    assert_error!(
        npz::save(&path, &[("x", &table), ("x", &table)]),
        ErrorKind::Unsupported { target: ".npz file", .. },
        "another array has the same name"
    );
    assert_error!(
        npz::save(&path, &[("x", &brain)]),
        ErrorKind::UnsupportedElementType { element: ElementType::Bf16, target: "NumPy" }
    );
    assert_error!(npz::save(folder.path().join("no/folder.npz"), &[]), ErrorKind::Io { .. });

    let mut writer = NpzWriter::create_with(&path, options()).unwrap();
    writer.add("first", &table).unwrap();
    for name in ["", "first", "a.npy", "/a", "../a", "a/../b", "a\\b", "a\0", "a//b", "c:/a"] {
        assert_error!(writer.add(name, &table), ErrorKind::Unsupported { target: ".npz file", .. });
    }
    assert_error!(writer.add("brain", &brain), ErrorKind::UnsupportedElementType { .. });
    let twice = SoaNumericTable::from_columns([("a", vec![1]), ("first", vec![2])]).unwrap();
    assert_error!(writer.add_columns(&twice), ErrorKind::Unsupported { target: ".npz file", .. });
    let same = SoaNumericTable::from_columns([("a", vec![1]), ("a", vec![2])]).unwrap();
    assert_error!(writer.add_columns(&same), ErrorKind::Unsupported { target: ".npz file", .. });
    assert_error!(
        writer.add_records("records", &same),
        ErrorKind::Unsupported { target: "NumPy", column: Some(1), .. }
    );
    let unset = Table::<f64>::new(shape(1000, 100), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(writer.add("unset", &unset), ErrorKind::NotAllocated);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    writer.add("last", &table).unwrap();
    writer.finish().unwrap();
    let mut file = NpzReader::open(&path).unwrap();
    assert_eq!(names(&file), ["first", "last"]);
    assert_eq!(file.load::<u8>("last").unwrap(), table);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let mut dropped = NpzWriter::create_with(&path, options()).unwrap();
    dropped.add("other", &table).unwrap();
    drop(dropped);
    assert_eq!(names(&NpzReader::open(&path).unwrap()), ["first", "last"]);
}

/// A table whose last rows cannot be read: what was written of it must not follow the directory.
#[test]
fn a_table_that_fails_while_it_is_written_leaves_nothing_in_the_file() {
    use numeric_table::table::spi::{Region, TableId, Target};

    struct Failing(DataDictionary, TableId);
    impl NumericTable for Failing {
        fn shape(&self) -> Shape {
            shape(300_000, 1)
        }
        fn dictionary(&self) -> &DataDictionary {
            &self.0
        }
        fn id(&self) -> TableId {
            self.1
        }
        fn read_region(&self, region: &Region, target: Target<'_>) -> Result<(), Error> {
            match region.rows.end > 250_000 {
                true => Err(Error::other("the disk is gone")),
                false => target.fill_with(region, |row, _| row as u32),
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays.npz");
    let failing = Failing(DataDictionary::uniform(Feature::new(ElementType::U32), 1), TableId::new());
    let table = Table::from_rows(&[[1_u8, 2]]).unwrap();
    for is_compressed in [false, true] {
        let mut writer = NpzWriter::create_with(&path, options().compressed(is_compressed)).unwrap();
        assert_error!(writer.add("failing", &failing), ErrorKind::Other { .. });
        assert_error!(writer.add_records("failing", &failing), ErrorKind::Other { .. });
        let columns = writer.add("table", &table).unwrap().add_columns(&failing).map(drop);
        assert_error!(columns, ErrorKind::Other { .. });
        writer.finish().unwrap();
        assert!(fs::metadata(&path).unwrap().len() < 500);
        let mut file = NpzReader::open(&path).unwrap();
        assert_eq!((names(&file), file.load::<u8>("table").unwrap()), (vec!["table".to_owned()], table.clone()));
    }
}

#[test]
fn more_arrays_than_a_directory_counts_in_two_bytes_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.npz");
    let table = Table::from_rows(&[[1_u8]]).unwrap();
    let mut writer = NpzWriter::create_with(&path, options().compressed(false)).unwrap();
    let count = 66_000;
    for index in 0..count {
        writer.add(&format!("{index}"), &table).unwrap();
    }
    writer.finish().unwrap();
    let mut file = NpzReader::open(&path).unwrap();
    assert_eq!(file.len(), count);
    assert!(file.names().zip(0..).all(|(name, index)| name == index.to_string()));
    assert_eq!(file.load::<u8>("65999").unwrap(), table);
}

#[test]
fn progress_counts_the_bytes_of_values() {
    let folder = tempfile::tempdir().unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    for is_compressed in [false, true] {
        let seen = told.clone();
        let save = SaveOptions::new().durable(false).on_progress(move |progress| seen.lock().unwrap().push(progress));
        let table = Table::from_array(vec![0.5_f64; 700_000], shape(350_000, 2)).unwrap();
        let path = folder.path().join("progress.npz");
        npz::save_with(&path, &[("x", &table), ("y", &table)], options().compressed(is_compressed).save(save)).unwrap();
        let told = std::mem::take(&mut *told.lock().unwrap());
        assert!(told.len() > 3 && told.iter().all(|progress| progress.total == Some(11_200_000)));
        assert!(told.is_sorted_by_key(|progress| progress.done));
        assert_eq!((told[0].done, told[told.len() - 1].done), (0, 11_200_000));
    }
}

#[test]
fn a_file_is_written_in_place_if_the_options_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays.npz");
    fs::write(&path, vec![7; 100_000]).unwrap();
    let table = Table::from_rows(&[[1_u8, 2]]).unwrap();
    let in_place = options().save(SaveOptions::new().durable(false).in_place(true));
    assert_error!(
        npz::save_with(&path, &[("", &table)], in_place.clone()),
        ErrorKind::Unsupported { target: ".npz file", .. }
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 100_000);
    npz::save_with(&path, &[("x", &table)], in_place).unwrap();
    assert_eq!(NpzReader::open(&path).unwrap().load::<u8>("x").unwrap(), table);
}
