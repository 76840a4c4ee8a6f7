//! Files and archives of every version, one of each for each element type and layout: they stay readable, by the
//! library and, files, by Python.
//!
//! `cargo test --test format golden_files -- --ignored` made them, which must not happen again: a change of what is
//! written is a new version.

use std::path::{Path, PathBuf};
use std::process::Command;

use numeric_table::{
    files::{self, SaveOptions, TableReader, TableWriter, verify},
    prelude::*,
    table::spi::TableKind,
};
use test_support::bits::{is_nan, is_same, special_values};
use test_support::tables::{LAYOUTS, feature, shape, values_of};
use test_support::{SmallNumber, for_each_element};

type Table<T> = HomogenNumericTable<T>;

/// The version of files and archives that is written today.
const TODAY: u8 = 2;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden")
}

/// The golden file of a version, or with `archive` in the place of `ntb` the archive.
fn path_of<T: Element>(version: u8, layout: DataLayout, extension: &str) -> PathBuf {
    let layout = if layout == DataLayout::RowMajor { "row_major" } else { "column_major" };
    folder().join(format!("v{version}/{}_{layout}.{extension}", T::TYPE))
}

/// 3 x 3 values, limits among them, and a name, a feature type and categories here and there.
fn golden<T: SmallNumber>(layout: DataLayout) -> Table<T> {
    let values = special_values::<T>()[..9].to_vec();
    let mut table = Table::from_array_with_layout(values, shape(3, 3), layout).unwrap();
    let features = match layout {
        DataLayout::RowMajor => DataDictionary::from_features([
            feature::<T>().named("länge"),
            feature::<T>().ordinal(),
            feature::<T>().named("").categorical(300),
        ]),
        _ => DataDictionary::uniform(feature::<T>().named("pixel"), 3),
    };
    table.set_dictionary(features).unwrap();
    table
}

fn save<T: SmallNumber>(layout: DataLayout, path: &Path) {
    golden::<T>(layout).save_with(path, SaveOptions::new().checksums(Some(16))).unwrap();
}

#[test]
#[ignore = "the files are there, and stay as they are"]
fn make_the_golden_files() {
    fn make<T: SmallNumber>() {
        for layout in LAYOUTS {
            let [file, archive] = ["ntb", "archive"].map(|extension| path_of::<T>(TODAY, layout, extension));
            assert!(!file.exists() && !archive.exists());
            save::<T>(layout, &file);
            std::fs::write(archive, golden::<T>(layout).to_bytes().unwrap()).unwrap();
        }
    }
    for_each_element!(make);
}

/// The same shape, layout, dictionary, and bits of all values.
#[track_caller]
fn assert_golden<T: SmallNumber>(found: &Table<T>, layout: DataLayout) {
    let golden = golden::<T>(layout);
    assert_eq!((found.shape(), found.data_layout()), (golden.shape(), layout));
    assert_eq!(found.dictionary(), golden.dictionary());
    let [found, expected] = [found, &golden].map(values_of);
    assert_eq!(bytemuck::cast_slice::<T, u8>(&found), bytemuck::cast_slice::<T, u8>(&expected));
}

#[track_caller]
fn assert_golden_of_any<T: SmallNumber>(found: &dyn NumericTable, layout: DataLayout) {
    assert_eq!((found.kind(), found.uniform_type()), (TableKind::HOMOGENEOUS, Some(T::TYPE)));
    assert_golden(found.downcast_ref::<Table<T>>().unwrap(), layout);
}

#[test]
fn the_golden_files_of_every_version_are_read_by_every_reader() {
    fn check<T: SmallNumber>() {
        for (version, layout) in (1..=TODAY).flat_map(|version| LAYOUTS.map(|layout| (version, layout))) {
            let path = path_of::<T>(version, layout, "ntb");
            assert_eq!(std::fs::read(&path).unwrap()[8..12], [version, 0, 0, 0]);
            assert_golden(&Table::<T>::load(&path).unwrap(), layout);
            assert_golden(&Table::<T>::load_cast(&path).unwrap(), layout);
            assert_golden_of_any::<T>(&*files::load(&path).unwrap(), layout);
            assert!(verify(&path).unwrap());
            #[cfg(feature = "mmap")]
            // SAFETY: nobody writes to the golden files.
            assert_golden(&unsafe { Table::<T>::map(&path) }.unwrap(), layout);

            let reader = TableReader::open(&path).unwrap();
            assert_eq!((reader.shape(), reader.element_type(), reader.data_layout()), (shape(3, 3), T::TYPE, layout));
            assert_eq!(reader.dictionary(), golden::<T>(layout).dictionary());
            assert!(reader.verify().unwrap());
            assert_golden(&reader.load::<T>().unwrap(), layout);
            assert_golden_of_any::<T>(&*reader.load_any().unwrap(), layout);
            let expected = values_of(&golden::<T>(layout).to_layout(DataLayout::RowMajor).unwrap());
            let row = reader.load_rows::<T>(1..2).unwrap();
            assert_eq!(bytemuck::cast_slice::<T, u8>(&values_of(&row)), bytemuck::cast_slice::<T, u8>(&expected[3..6]));
            let mut blocks = reader.row_blocks::<T>(2).unwrap();
            for values in expected.chunks(6) {
                let block = blocks.next_block().unwrap().unwrap();
                assert_eq!(bytemuck::cast_slice::<T, u8>(&block), bytemuck::cast_slice::<T, u8>(values));
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn the_golden_archives_of_every_version_are_read_by_every_reader() {
    fn check<T: SmallNumber>() {
        for (version, layout) in (1..=TODAY).flat_map(|version| LAYOUTS.map(|layout| (version, layout))) {
            let archive = std::fs::read(path_of::<T>(version, layout, "archive")).unwrap();
            assert_eq!(archive[8..12], [version, 0, 0, 0]);
            assert_golden(&Table::<T>::from_bytes(&archive).unwrap(), layout);
            assert_golden_of_any::<T>(&*files::from_bytes(&archive).unwrap(), layout);
        }
    }
    for_each_element!(check);
}

#[test]
fn what_is_written_today_is_still_version_2() {
    fn check<T: SmallNumber>() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new.ntb");
        for layout in LAYOUTS {
            save::<T>(layout, &new);
            assert_eq!(std::fs::read(&new).unwrap(), std::fs::read(path_of::<T>(2, layout, "ntb")).unwrap());
            let archive = golden::<T>(layout).to_bytes().unwrap();
            assert_eq!(archive, std::fs::read(path_of::<T>(2, layout, "archive")).unwrap());
        }
        let table = golden::<T>(DataLayout::RowMajor);
        let options = SaveOptions::new().checksums(Some(16));
        let mut writer = TableWriter::<T>::create_with(&new, 3, table.dictionary().clone(), options).unwrap();
        writer.append(&values_of(&table)).unwrap();
        writer.finish().unwrap();
        let expected = std::fs::read(path_of::<T>(2, DataLayout::RowMajor, "ntb")).unwrap();
        assert_eq!(std::fs::read(&new).unwrap(), expected);
    }
    for_each_element!(check);
}

#[test]
fn what_was_read_from_version_1_is_saved_as_version_2() {
    fn check<T: SmallNumber>() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.ntb");
        for layout in LAYOUTS {
            let old = path_of::<T>(1, layout, "ntb");
            std::fs::write(&path, std::fs::read(&old).unwrap()).unwrap();
            // SAFETY: the file is only ever replaced, and nobody else knows it.
            #[cfg(feature = "mmap")]
            let table = unsafe { Table::<T>::map(&path) }.unwrap();
            #[cfg(not(feature = "mmap"))]
            let table = Table::<T>::load(&path).unwrap();
            table.save_with(&path, SaveOptions::new().checksums(Some(16))).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(path_of::<T>(2, layout, "ntb")).unwrap());

            let archive = std::fs::read(path_of::<T>(1, layout, "archive")).unwrap();
            let table = files::from_bytes(&archive).unwrap();
            assert_eq!(table.to_bytes().unwrap(), std::fs::read(path_of::<T>(2, layout, "archive")).unwrap());
        }
    }
    for_each_element!(check);
}

#[test]
fn python_reads_the_same() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: there is no python3");
        return;
    }
    fn check<T: SmallNumber>() {
        for (version, layout) in (1..=TODAY).flat_map(|version| LAYOUTS.map(|layout| (version, layout))) {
            let path = path_of::<T>(version, layout, "ntb");
            let output = Command::new("python3").arg(folder().join("read_ntb.py")).arg(path).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let (name, features): (_, [&str; 3]) = match layout {
                DataLayout::RowMajor => {
                    ("row_major", ["länge\tcontinuous\tNone", "None\tordinal\tNone", "\tcategorical\t300"])
                }
                _ => ("column_major", ["pixel\tcontinuous\tNone"; 3]),
            };
            assert_eq!(lines[0], format!("{} {name} 3 3", T::TYPE));
            assert_eq!(lines[1..4], features);
            let found: Vec<&str> = lines[4..].iter().flat_map(|line| line.split(' ')).collect();
            let expected = values_of(&golden::<T>(layout));
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.into_iter().zip(expected) {
                let is_equal = if T::TYPE.is_float() {
                    let exact = numeric_table::convert::cast::<T, f64>(expected); // exact: f64 is the widest
                    let found: f64 = found.parse().unwrap();
                    is_same(found, exact) || (found.is_nan() && is_nan(expected))
                } else {
                    found == expected.to_string()
                };
                assert!(is_equal, "{found} is not {expected}");
            }
        }
    }
    for_each_element!(check);
}

/// The hex dump in the description of the format is what the library writes.
#[test]
fn the_worked_example_is_true() {
    let page = include_str!("../../src/format/README.md");
    let (mut expected, mut end) = (Vec::<u8>::new(), 0);
    for line in page.lines().filter(|line| line.len() > 9 && line.as_bytes()[8] == b' ') {
        let Ok(position) = usize::from_str_radix(&line[..8], 16) else { continue };
        let bytes = line[8..].split("  ").nth(1).unwrap();
        expected.resize(position, 0); // what is left out is zero
        expected.extend(bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()));
        end = expected.len();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("example.ntb");
    let mut table = Table::from_rows(&[[1_i16, 2], [3, 4], [5, -6]]).unwrap();
    let features = [feature::<i16>().named("size"), feature::<i16>().categorical(7)];
    table.set_dictionary(DataDictionary::from_features(features)).unwrap();
    table.save(&path).unwrap();
    assert_eq!((end, &expected), (expected.len(), &std::fs::read(&path).unwrap()));
}
