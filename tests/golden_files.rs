//! Files of version 1, one for each element type and layout: they are read for ever, by the library and by Python.
//!
//! `cargo test --test golden_files -- --ignored` made them. Never again: a change of what is written is a new version.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::bits::{is_nan, is_same, special_values};
use common::tables::{LAYOUTS, feature, shape, values_of};
use common::{SmallNumber, for_each_element};
use numeric_table::{SaveOptions, TableReader, load_any, prelude::*, verify};

type Table<T> = HomogenNumericTable<T>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden/v1")
}

fn path<T: Element>(layout: DataLayout) -> PathBuf {
    let layout = if layout == DataLayout::RowMajor { "row_major" } else { "column_major" };
    folder().join(format!("{}_{layout}.ntb", T::TYPE))
}

/// 3 x 3 values, limits among them, and a name, a feature type and categories here and there.
fn golden<T: SmallNumber>(layout: DataLayout) -> Table<T> {
    let values = special_values::<T>()[..9].to_vec();
    let mut table = Table::from_array_in(values, shape(3, 3), layout).unwrap();
    let features = match layout {
        DataLayout::RowMajor => DataDictionary::from_features([
            feature::<T>().named("länge"),
            feature::<T>().ordinal(),
            feature::<T>().named("").categorical(300),
        ]),
        DataLayout::ColumnMajor => DataDictionary::uniform(feature::<T>().named("pixel"), 3),
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
            assert!(!path::<T>(layout).exists());
            save::<T>(layout, &path::<T>(layout));
        }
    }
    for_each_element!(make);
}

#[test]
fn the_golden_files_are_read() {
    fn check<T: SmallNumber>() {
        for layout in LAYOUTS {
            let (path, golden) = (path::<T>(layout), golden::<T>(layout));
            let loaded = Table::<T>::load(&path).unwrap();
            assert_eq!((loaded.shape(), loaded.data_layout()), (golden.shape(), layout));
            assert_eq!(loaded.dictionary(), golden.dictionary());
            let [found, expected] = [&loaded, &golden].map(values_of);
            assert_eq!(bytemuck::cast_slice::<T, u8>(&found), bytemuck::cast_slice::<T, u8>(&expected));
            assert!(verify(&path).unwrap());
            assert_eq!(load_any(&path).unwrap().uniform_type(), Some(T::TYPE));
            assert_eq!(TableReader::open(&path).unwrap().load_rows::<T>(1..2).unwrap().column_count(), 3);
        }
    }
    for_each_element!(check);
}

#[test]
fn what_is_written_today_is_still_version_1() {
    fn check<T: SmallNumber>() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new.ntb");
        for layout in LAYOUTS {
            save::<T>(layout, &new);
            assert_eq!(std::fs::read(&new).unwrap(), std::fs::read(path::<T>(layout)).unwrap());
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
        for layout in LAYOUTS {
            let output =
                Command::new("python3").arg(folder().join("read_ntb.py")).arg(path::<T>(layout)).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let (name, features): (_, [&str; 3]) = match layout {
                DataLayout::RowMajor => {
                    ("row_major", ["länge\tcontinuous\tNone", "None\tordinal\tNone", "\tcategorical\t300"])
                }
                DataLayout::ColumnMajor => ("column_major", ["pixel\tcontinuous\tNone"; 3]),
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
    let page = include_str!("../src/format/README.md");
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
