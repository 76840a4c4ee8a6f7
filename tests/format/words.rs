//! The words of categories in files, archives and serde: version 3 of files and archives, which only tables with words
//! need.
//!
//! `cargo test --test format words -- --ignored` made the golden files, which must not happen again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use numeric_table::{
    SoaNumericTable,
    dictionary::Categories,
    files::{self, SaveOptions, TableReader, TableWriter, verify},
    prelude::*,
};
use test_support::assert_error;

use crate::support::with_header;

type Table = HomogenNumericTable<u8>;

fn colours() -> Categories {
    Categories::from_labels(["red", "grün", "", "light, blue"]).unwrap()
}

fn homogeneous() -> Table {
    with_colours(colours())
}

fn with_colours(colours: Categories) -> Table {
    let feature = Feature::new(ElementType::U8);
    let features = [feature.clone().named("colour").categorical(colours), feature.categorical(9)];
    Table::from_rows(&[[3, 0], [1, 7], [0, 255]]).unwrap().with_dictionary(features.into_iter().collect()).unwrap()
}

fn columns() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_column("länge", vec![1.5_f32, -2.0]).unwrap();
    let level = Feature { feature_type: FeatureType::Ordinal, ..Feature::new(ElementType::I16).categorical(colours()) };
    table.push_feature(level.named("level"), vec![2_i16, -1]).unwrap();
    table
}

fn tables() -> [(&'static str, Box<dyn NumericTable>); 2] {
    [("homogeneous", Box::new(homogeneous())), ("structure-of-arrays", Box::new(columns()))]
}

fn golden(kind: &str, extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/golden/v3/{kind}.{extension}"))
}

fn save(table: &dyn NumericTable, path: &Path) {
    table.save_with(path, SaveOptions::new().checksums(Some(16))).unwrap();
}

#[test]
#[ignore = "the files are there, and stay as they are"]
fn make_the_golden_files() {
    for (kind, table) in tables() {
        let [file, archive] = ["ntb", "archive"].map(|extension| golden(kind, extension));
        assert!(!file.exists() && !archive.exists());
        save(&*table, &file);
        fs::write(archive, table.to_bytes().unwrap()).unwrap();
    }
}

#[test]
fn golden_files_and_archives_with_words_are_read_and_written_today_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new.ntb");
    for (kind, table) in tables() {
        let [file, archive] = ["ntb", "archive"].map(|extension| golden(kind, extension));
        save(&*table, &new);
        let (bytes, archive) = (fs::read(&file).unwrap(), fs::read(&archive).unwrap());
        assert_eq!(([bytes[8], archive[8]], verify(&file).unwrap()), ([3, 3], true), "{kind}");
        assert_eq!((fs::read(&new).unwrap(), table.to_bytes().unwrap()), (bytes, archive.clone()), "{kind}");
        for found in [files::load(&file).unwrap(), files::from_bytes(&archive).unwrap()] {
            assert_eq!((found.kind().name(), found.dictionary()), (kind, table.dictionary()));
            assert_eq!(found.rows::<f64>(..).unwrap()[..], table.rows::<f64>(..).unwrap()[..], "{kind}");
        }
    }
}

#[test]
fn python_reads_words() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: there is no python3");
        return;
    }
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden/read_ntb.py");
    let words = r#"["red", "grün", "", "light, blue"]"#;
    let expected = [
        format!("u8 row_major 3 2\ncolour\tcategorical\t{words}\nNone\tcategorical\t9\n3 0\n1 7\n0 255\n"),
        format!(
            "structure-of-arrays 2 2\nlänge\tcontinuous\tNone\tf32\nlevel\tordinal\t{words}\ti16\n1.5 2\n-2.0 -1\n"
        ),
    ];
    for ((kind, _), expected) in tables().into_iter().zip(expected) {
        let output = Command::new("python3").arg(&reader).arg(golden(kind, "ntb")).output().unwrap();
        assert!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}

#[test]
fn words_survive_every_way_through_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let table = homogeneous();
    table.save(&path).unwrap();
    assert_eq!(Table::load(&path).unwrap(), table);
    assert_eq!(HomogenNumericTable::<f64>::load_cast(&path).unwrap(), table.convert::<f64>().unwrap());
    let reader = TableReader::open(&path).unwrap();
    assert_eq!(reader.dictionary(), table.dictionary());
    #[cfg(feature = "mmap")]
    // SAFETY: nobody else knows the file.
    assert_eq!(unsafe { Table::map(&path) }.unwrap(), table);

    let mut writer = TableWriter::<u8>::create(&path, 2, table.dictionary().clone()).unwrap();
    writer.append(table.as_slice().unwrap()).unwrap();
    writer.finish().unwrap();
    assert_eq!(Table::load(&path).unwrap(), table);
    assert_eq!(fs::read(&path).unwrap()[8], 3);

    let uniform = DataDictionary::uniform(Feature::new(ElementType::U8).categorical(colours()), 2);
    let table = table.with_dictionary(uniform).unwrap();
    table.save(&path).unwrap();
    assert_eq!(Table::load(&path).unwrap(), table);
    assert_eq!(Table::from_bytes(&table.to_bytes().unwrap()).unwrap(), table);
}

#[test]
fn the_same_words_in_another_order_are_another_table() {
    let table = homogeneous();
    let other = Categories::from_labels(["grün", "red", "", "light, blue"]).unwrap();
    assert_ne!(with_colours(other), table);
    assert_ne!(with_colours(Categories::new(4)), table); // the words are not known
    assert_eq!(with_colours(colours()), table);
}

#[test]
fn rows_of_other_words_are_not_appended_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let [path, source] = ["table.ntb", "source.ntb"].map(|name| folder.path().join(name));
    let turned = with_colours(Categories::from_labels(["grün", "red", "", "light, blue"]).unwrap());
    turned.save(&source).unwrap();
    let (same, reader) = (homogeneous(), TableReader::open(&source).unwrap());
    for dictionary in [Some(same.dictionary().clone()), None] {
        let has_labels = dictionary.is_some();
        let mut writer = TableWriter::<u8>::create(&path, 2, dictionary).unwrap();
        assert_error!(
            writer.append_table(&turned),
            ErrorKind::UnequalTables { table: 1, column: Some(0), .. },
            "categories"
        );
        assert_error!(
            writer.copy_rows(&reader, ..),
            ErrorKind::UnequalTables { table: 1, column: Some(0), .. },
            "categories"
        );
        assert_eq!(writer.shape().rows, 0);
        assert_eq!(writer.append_table(&same).is_ok(), has_labels); // as for a table in memory
        writer.append(&[1_u8, 2]).unwrap(); // values without a dictionary mean what the file's says
        writer.finish().unwrap();
    }
}

#[test]
fn words_survive_serde() {
    let dictionary = homogeneous().dictionary().clone();
    let text = serde_json::to_string(&dictionary).unwrap();
    assert!(text.contains(r#""category_count":4,"categories":["red","grün","","light, blue"]}"#), "{text}");
    assert_eq!(serde_json::from_str::<DataDictionary>(&text).unwrap(), dictionary);
    assert_eq!(serde_json::from_reader::<_, DataDictionary>(text.as_bytes()).unwrap(), dictionary);
    let config = bincode::config::standard();
    let bytes = bincode::serde::encode_to_vec(&dictionary, config).unwrap();
    assert_eq!(bincode::serde::decode_from_slice::<DataDictionary, _>(&bytes, config).unwrap().0, dictionary);
    for feature in &dictionary {
        let bytes = bincode::serde::encode_to_vec(feature, config).unwrap();
        assert_eq!(bincode::serde::decode_from_slice::<Feature, _>(&bytes, config).unwrap().0, *feature);
    }
    let only = r#"{"element_type":"u8","feature_type":"categorical","categories":["a","b"]}"#;
    assert_eq!(serde_json::from_str::<Feature>(only).unwrap().label(1), Some("b"));
}

#[test]
fn json_that_contradicts_itself_is_refused() {
    let error = |text: &str| serde_json::from_str::<Feature>(text).unwrap_err().to_string();
    let found = error(r#"{"element_type":"u8","category_count":3,"categories":["a","b"]}"#);
    assert!(found.starts_with("3 categories are stated, but 2 are listed"), "{found}");
    let found = error(r#"{"element_type":"u8","categories":["a","b","a"]}"#);
    assert!(found.starts_with(r#"the index of category "a" is 2: the label already has the index 0"#), "{found}");
}

/// Where a part of bytes begins, which is there once.
fn place_of(part: &[u8], bytes: &[u8]) -> usize {
    let places: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(part)).collect();
    assert_eq!(places.len(), 1);
    places[0]
}

#[test]
fn damaged_words_are_refused_and_no_damage_is_anything_but_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.ntb");
    let load = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        files::load(&path).map(drop)
    };
    for (kind, _) in tables() {
        let (file, archive) = (fs::read(golden(kind, "ntb")).unwrap(), fs::read(golden(kind, "archive")).unwrap());
        let header = file[64..].to_vec();
        let red = place_of(b"red", &header[..400]);

        let twice = with_header(&file, |header| {
            let at = place_of("grün".as_bytes(), header) - 8;
            header.splice(at..at + 13, [3_u64.to_le_bytes().as_slice(), b"red"].concat());
        });
        assert_error!(load(&twice), ErrorKind::Format { .. });
        let reason = load(&twice).unwrap_err().to_string();
        assert!(reason.contains(r#"the index of category "red" is 1: the label already has the index 0"#), "{reason}");

        let no_text = with_header(&file, |header| header[red] = 0xFF);
        let reason = load(&no_text).unwrap_err().to_string();
        assert!(reason.contains(&format!("byte {}", 64 + red)) && reason.contains("UTF-8"), "{reason}");

        for many in [u64::MAX, 0, 1 << 40] {
            let wrong = with_header(&file, |header| header[red - 16..red - 8].copy_from_slice(&many.to_le_bytes()));
            assert_error!(load(&wrong), ErrorKind::Format { .. });
        }
        let mut older = with_header(&file, |_| ());
        older[8] = 2;
        let sum = crc32fast::hash(&older[..60]);
        older[60..64].copy_from_slice(&sum.to_le_bytes());
        let reason = load(&older).unwrap_err().to_string();
        assert!(reason.contains("flag 2, not 0 or 1"), "{reason}");

        let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
        for (at, bits) in (0..length).flat_map(|at| [(at, 0xFF_u8), (at, 1), (at, 0x80)]) {
            let _ = load(&with_header(&file, |header| header[at] ^= bits));
            assert_error!(load(&with_header(&file, |header| header.truncate(at))), ErrorKind::Format { .. });
        }
        for (at, bits) in (0..archive.len()).flat_map(|at| [(at, 0xFF_u8), (at, 1), (at, 0x80)]) {
            let mut archive = archive.clone();
            archive[at] ^= bits;
            let _ = files::from_bytes(&archive);
            assert_error!(files::from_bytes(&archive[..at]).map(drop), ErrorKind::Format { .. });
        }
    }
}

#[test]
fn words_that_do_not_fit_the_header_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let table = with_colours(Categories::from_labels([&"w".repeat(17 << 20)]).unwrap());
    assert_error!(table.save(&path), ErrorKind::Format { .. });
    assert!(!path.exists());
    assert_eq!(Table::from_bytes(&table.to_bytes().unwrap()).unwrap(), table); // archives have no such limit
}
