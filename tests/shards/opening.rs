//! Which files are a table, in which order, and which cannot be.

use std::fs;
use std::path::Path;

use numeric_table::{SoaNumericTable, dictionary::Categories, prelude::*, shards::Shards};

use crate::support::{Trace, counted_parts, counting, fast, in_columns, text};

#[track_caller]
fn names(shards: &Shards) -> Vec<String> {
    shards.files().map(|file| file.path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn a_folder_is_its_table_files_in_the_order_of_the_bytes_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    for (first, name) in ["part-10.ntb", "part-9.ntb", "Z.ntb", "é.ntb", "a.ntb"].iter().enumerate() {
        counting(first, 1, 2).save_with(folder.path().join(name), fast()).unwrap();
    }
    for ignored in [".0123456789abcdef.ntb.tmp", ".hidden.ntb", "notes.txt", "a.ntb.bak"] {
        fs::write(folder.path().join(ignored), "no table").unwrap();
    }
    fs::create_dir(folder.path().join("folder.ntb")).unwrap();
    let shards = Shards::open(folder.path()).unwrap();
    assert_eq!(names(&shards), ["Z.ntb", "a.ntb", "part-10.ntb", "part-9.ntb", "é.ntb"]);
    assert_eq!(shards.load::<f64>().unwrap().column::<f64>(0, ..).unwrap()[..], [2.0, 4.0, 0.0, 1.0, 3.0]);
    let matched = Shards::from_glob(folder.path().join("part-?*.ntb")).unwrap();
    assert_eq!(names(&matched), ["part-10.ntb", "part-9.ntb"]);
    assert_eq!(names(&Shards::from_glob(folder.path().join("?.ntb")).unwrap()), ["Z.ntb", "a.ntb", "é.ntb"]);
}

#[test]
fn files_come_in_the_order_that_they_are_listed_in_and_may_repeat() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = [0, 1].map(|first| {
        let path = folder.path().join(format!("{first}.ntb"));
        counting(first, first + 1, 1).save_with(&path, fast()).unwrap();
        path
    });
    let shards = Shards::from_paths([&b, &a, &b]).unwrap();
    assert_eq!(shards.load::<f64>().unwrap().as_slice().unwrap(), [1.0, 2.0, 0.0, 1.0, 2.0]);
    assert!(shards.files().map(|file| file.rows).eq([0..2, 2..3, 3..5]));
    assert!(shards.files().all(|file| file.bytes == fs::metadata(file.path).unwrap().len()));
}

#[test]
fn no_files_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Shards::from_paths([] as [&Path; 0]).is_err_and(
        |error| matches!(error.kind(), ErrorKind::ParameterOutOfRange { name, .. } if name.contains("number of tables"))
    ));
    let empty = text(Shards::open(folder.path()));
    assert!(empty.ends_with("the folder has no file whose name ends with .ntb"), "{empty}");
    assert!(text(Shards::from_glob(folder.path().join("*.ntb"))).ends_with("*.ntb: no file matches the pattern"));
    assert!(Shards::from_glob("").is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. })));
    assert!(
        Shards::from_glob(folder.path().join("none/*.ntb"))
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }))
    );
    assert!(Shards::open(folder.path().join("none")).is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. })));
    assert!(
        Shards::from_paths([folder.path().join("none.ntb")])
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }))
    );
}

#[test]
fn three_hundred_files_open_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1; 300], 2);
    let shards = Shards::open(folder.path()).unwrap();
    assert_eq!((shards.shape(), shards.shard_count()), (Shape { rows: 300, columns: 2 }, 300));
    assert!(shards.files().map(|file| file.path.to_owned()).eq(paths));
    let expected: Vec<f64> = (0..600).map(f64::from).collect();
    assert_eq!(shards.load::<f64>().unwrap().as_slice().unwrap(), expected);
}

#[test]
fn the_first_file_of_other_columns_is_named_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let feature = |name: &str| Feature::new(ElementType::F64).named(name);
    let words = |words: [&str; 2]| feature("b").categorical(Categories::from_labels(words).unwrap());
    let described = |second: Feature| {
        counting(0, 1, 2).with_dictionary(DataDictionary::from_features([feature("a"), second])).unwrap()
    };
    let saved = |name: &str, table: &dyn NumericTable| {
        let path = folder.path().join(name);
        table.save_with(&path, fast()).unwrap();
        path
    };
    let first = saved("first.ntb", &described(words(["x", "y"])));
    let swapped = counting(0, 1, 2).with_dictionary(DataDictionary::from_features([words(["x", "y"]), feature("a")]));
    let others: [(&dyn NumericTable, &str); 8] = [
        (&counting(0, 1, 3), "expected 2 columns, found 3"),
        (&counting(0, 1, 2).convert::<i16>().unwrap(), "column 0 has values of i16 instead of f64"),
        (&swapped.unwrap(), "column 0 has the name \"b\", which belongs to another column of table 0"),
        (&counting(0, 1, 2), "column 0 has a different name"),
        (&described(feature("b")), "column 1 has a different feature type"),
        (&described(words(["y", "x"])), "column 1 has categories without labels or with different labels"),
        (&described(feature("b").categorical(2)), "column 1 has categories without labels or with different labels"),
        (
            &SoaNumericTable::from_columns([("a", vec![1_u8]), ("b", vec![2])]).unwrap(),
            "column 0 has values of u8 instead of f64",
        ),
    ];
    for (other, expected) in others {
        let path = saved("other.ntb", other);
        let found = Shards::from_paths([&first, &first, &path]);
        assert!(found.as_ref().is_err_and(|error| error.path() == Some(path.as_path())), "{found:?}");
        assert_eq!(text(found), format!("{}: table 2 does not match table 0: {expected}", path.display()));
        let mut shards = Shards::from_paths([&first, &first]).unwrap();
        assert!(shards.append([&first, &path]).is_err());
        assert_eq!(shards.shard_count(), 2);
    }
    let counts = [2, 3].map(|count| saved(&format!("{count}.ntb"), &described(feature("b").categorical(count))));
    assert!(
        text(Shards::from_paths(counts))
            .ends_with("table 1 does not match table 0: column 1 has a different number of categories")
    );
}

#[test]
fn kinds_and_layouts_may_differ() {
    let folder = tempfile::tempdir().unwrap();
    let table = counting(0, 3, 2);
    let columns = counting(6, 2, 2).to_layout(DataLayout::ColumnMajor).unwrap();
    let paths = ["a.ntb", "b.ntb", "c.ntb"].map(|name| folder.path().join(name));
    table.save_with(&paths[0], fast()).unwrap();
    columns.save_with(&paths[1], fast()).unwrap();
    in_columns(&counting(10, 2, 2)).save_with(&paths[2], fast()).unwrap();
    let shards = Shards::open(folder.path()).unwrap();
    let expected: Vec<f64> = (0..14).map(f64::from).collect();
    assert_eq!(shards.load::<f64>().unwrap().as_slice().unwrap(), expected);
    assert!(shards.verify().unwrap());
}

/// Columns that take no memory, described by one feature for all.
fn saved_columns(path: &Path, feature: Feature) {
    let columns = usize::MAX / 16;
    let table = Table::<u8>::from_array(Vec::new(), Shape { rows: 0, columns }).unwrap();
    table.with_dictionary(DataDictionary::uniform(feature, columns)).unwrap().save_with(path, fast()).unwrap();
}

#[test]
fn files_of_equal_columns_beyond_number_are_compared_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let [first, other] = ["a.ntb", "b.ntb"].map(|name| folder.path().join(name));
    let words = |words: [&str; 2]| Feature::new(ElementType::U8).categorical(Categories::from_labels(words).unwrap());
    saved_columns(&first, words(["no", "yes"]));
    for (feature, expected) in [
        (
            Feature::new(ElementType::U8).ordinal(),
            "table 1 does not match table 0: column 0 has a different feature type",
        ),
        (Feature::new(ElementType::U8).named("a"), "table 1 does not match table 0: column 0 has a different name"),
        (
            words(["yes", "no"]),
            "table 1 does not match table 0: column 0 has categories without labels or with different labels",
        ),
    ] {
        saved_columns(&other, feature);
        let found = text(Shards::from_paths([&first, &other]));
        assert!(found.contains(expected), "{found}");
    }
    saved_columns(&other, words(["no", "yes"]));
    let shards = Shards::from_paths([&first, &other]).unwrap();
    assert_eq!(shards.reduce(&Trace::default()).unwrap().rows, 0);
    assert_eq!(shards.load::<u8>().unwrap().shape(), shards.shape());
    assert!(shards.verify().unwrap());
    #[cfg(feature = "mmap")]
    {
        // SAFETY: nobody else knows the files.
        assert_eq!(unsafe { shards.map() }.unwrap().shape(), shards.shape());
    }
}
