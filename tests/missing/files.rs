//! Table files, archives, serde and shards: what goes in comes out, with the same values and the same gaps.

use std::fs;
use std::path::Path;

use numeric_table::array::Validity;
use numeric_table::files::{self, SaveOptions, TableWriter, verify};
use numeric_table::prelude::*;
use numeric_table::shards::{Shards, ShardsWriter};
use numeric_table::statistics::BasicStatistics;
use numeric_table::{MergedNumericTable, Partial, RowMergedNumericTable, SoaNumericTable};
use serde::{Deserialize, Serialize};
use test_support::assert_error;
use test_support::gaps::{assert_same_cells, cells, gaps_of_every_type};

fn fast() -> SaveOptions {
    SaveOptions::new().durable(false)
}

/// Tables with gaps: of every element type in odd numbers of rows, without rows, without columns, without values,
/// without gaps, and with bitmaps that begin inside a byte.
fn tables() -> Vec<SoaNumericTable> {
    let mut tables = [0, 1, 8, 63, 64, 65, 777].map(gaps_of_every_type).to_vec();
    tables.push(SoaNumericTable::new());
    let mut odd = SoaNumericTable::new();
    odd.push_optional("none", [None::<i32>; 77]).unwrap();
    odd.push_optional("all", (0..77_u16).map(Some)).unwrap();
    odd.push_column("plain", vec![1.5_f32; 77]).unwrap();
    let validity = Validity::new(vec![0b1010_0101_u8; 13], 21, 77).unwrap();
    odd.push_nullable(Feature::new(ElementType::F64), vec![f64::NAN; 77], Some(validity)).unwrap();
    tables.push(odd);
    tables
}

/// Every way through a file or an archive, which ends in a table of the same kind.
#[track_caller]
fn check_doors(table: &dyn NumericTable, kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let check = |found: &dyn NumericTable| {
        assert_eq!(found.kind().name(), kind);
        assert_same_cells(found, table);
    };
    for chunks in [None, Some(16), Some(1 << 20)] {
        table.save_with(&path, fast().checksums(chunks)).unwrap();
        assert_eq!(verify(&path).unwrap(), chunks.is_some());
        check(&*files::load(&path).unwrap());
        #[cfg(feature = "mmap")]
        // SAFETY: nobody else knows the file.
        check(&*unsafe { Shards::from_paths([&path]).unwrap().map() }.unwrap().tables()[0]);
    }
    let bytes = table.to_bytes().unwrap();
    check(&*files::from_bytes(&bytes).unwrap());

    let text = serde_json::to_string(table).unwrap();
    check(&*serde_json::from_str::<Box<dyn NumericTable>>(&text).unwrap());
    let value = serde_json::to_value(table).unwrap(); // a tree, which is read ahead
    check(&*serde_json::from_value::<Box<dyn NumericTable>>(value).unwrap());
}

#[test]
fn files_archives_and_texts_keep_values_and_gaps_of_every_type() {
    for table in tables() {
        check_doors(&table, "structure-of-arrays");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.ntb");
        table.save_with(&path, fast()).unwrap();
        assert_same_cells(&SoaNumericTable::load(&path).unwrap(), &table);
        assert_same_cells(&SoaNumericTable::from_bytes(&table.to_bytes().unwrap()).unwrap(), &table);
        let text = serde_json::to_string(&table).unwrap();
        assert_same_cells(&serde_json::from_str::<SoaNumericTable>(&text).unwrap(), &table);
        let saved = fs::read(&path).unwrap();
        SoaNumericTable::load(&path).unwrap().save_with(&path, fast()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), saved);
    }
}

#[test]
fn views_and_tables_of_several_tables_are_saved_as_columns_with_their_gaps() {
    let table = gaps_of_every_type(77);
    let kind = "structure-of-arrays";
    check_doors(&*table.select_rows(5..70).unwrap(), kind);
    check_doors(&table.select_columns([11, 3, 4]).unwrap(), kind);
    check_doors(&table.select_columns([4]).unwrap(), kind); // of one type
    check_doors(&*table.select_columns([4]).unwrap().select_rows(9..10).unwrap(), kind);
    let mut other = SoaNumericTable::new();
    other.push_column("x", vec![1_u8; 77]).unwrap();
    let parts: Vec<Box<dyn NumericTable>> = vec![Box::new(other), Box::new(table.clone())];
    check_doors(&MergedNumericTable::new(parts).unwrap(), kind);
    let parts: Vec<Box<dyn NumericTable>> = vec![Box::new(table.clone()), Box::new(gaps_of_every_type(3))];
    check_doors(&RowMergedNumericTable::new(parts).unwrap(), kind);
    // Without nullable columns, views are what they were.
    let plain = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]]).unwrap();
    check_doors(&*plain.select_rows(1..3).unwrap(), "homogeneous");
}

#[test]
fn texts_have_null_for_missing_values_and_say_which_columns_are_nullable() {
    let mut table = SoaNumericTable::new();
    table.push_optional("count", [Some((1_i64 << 53) + 1), None]).unwrap();
    table.push_optional("share", [None, Some(f32::NAN)]).unwrap();
    table.push_column("plain", vec![1_u8, 2]).unwrap();
    let text = serde_json::to_string(&table).unwrap();
    let expected = concat!(
        r#"{"kind":"structure-of-arrays","rows":2,"columns":3,"settings":[],"dictionary":{"each":["#,
        r#"{"name":"count","element_type":"i64","feature_type":"continuous","category_count":null,"nullable":true},"#,
        r#"{"name":"share","element_type":"f32","feature_type":"continuous","category_count":null,"nullable":true},"#,
        r#"{"name":"plain","element_type":"u8","feature_type":"continuous","category_count":null}]},"#,
        r#""arrays":[{"i64":[9007199254740993,null]},{"f32":[null,"NaN"]},{"u8":[1,2]}]}"#
    );
    assert_eq!(text, expected);
    assert_same_cells(&serde_json::from_str::<SoaNumericTable>(expected).unwrap(), &table);

    // In a column that is not nullable, null is NaN, or an error.
    let plain = expected.replace(r#","nullable":true"#, "");
    let error = serde_json::from_str::<SoaNumericTable>(&plain).unwrap_err().to_string();
    assert!(error.contains("null is not a value of i64, and array 0 is not nullable"), "{error}");
    let floats = plain.replace("9007199254740993,null", "1,2");
    let floats = serde_json::from_str::<SoaNumericTable>(&floats).unwrap();
    assert!(floats.column_slice::<f32>(1).unwrap().iter().all(|value| value.is_nan()));
    let feature = Feature::new(ElementType::F32).nullable();
    assert_eq!(serde_json::from_str::<Feature>(&serde_json::to_string(&feature).unwrap()).unwrap(), feature);
    // Bitmaps and nulls at once are two answers to one question.
    let both = expected.replace(r#""settings":[]"#, r#""settings":[0,1]"#).replace("[1,2]}]", r#"[1,2]},{"u8":[1]}]"#);
    let error = serde_json::from_str::<SoaNumericTable>(&both).unwrap_err().to_string();
    assert!(error.contains("both bitmaps and values that are null"), "{error}");
}

/// A table inside a user's type, which serde reads ahead of.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Table(SoaNumericTable),
    #[allow(dead_code)]
    Nothing(()),
}

#[cfg(feature = "bincode")]
#[test]
fn bincode_keeps_gaps_by_value_borrowed_and_through_serde() {
    use bincode::{borrow_decode_from_slice, config, decode_from_slice, encode_to_vec};
    for table in tables() {
        let any: &dyn NumericTable = &table;
        for (bytes, again) in [
            (encode_to_vec(&table, config::standard()).unwrap(), encode_to_vec(any, config::standard()).unwrap()),
            (
                bincode::serde::encode_to_vec(&table, config::standard()).unwrap(),
                encode_to_vec(&table, config::standard()).unwrap(),
            ),
        ] {
            assert_eq!(bytes, again);
            let limited = config::standard().with_limit::<{ 1 << 22 }>();
            let found = decode_from_slice::<SoaNumericTable, _>(&bytes, limited).unwrap();
            assert_eq!(found.1, bytes.len());
            assert_same_cells(&found.0, &table);
            let found = borrow_decode_from_slice::<SoaNumericTable, _>(&bytes, config::standard()).unwrap().0;
            assert_same_cells(&found, &table);
            let found = decode_from_slice::<Box<dyn NumericTable>, _>(&bytes, limited).unwrap().0;
            assert_same_cells(&*found, &table);
        }
        let dictionary = table.dictionary();
        let bytes = encode_to_vec(dictionary, config::standard()).unwrap();
        let found = borrow_decode_from_slice::<DataDictionary, _>(&bytes, config::standard()).unwrap().0;
        assert_eq!(found, *dictionary);
    }
    // A feature by itself has no room for the flag in a format without names.
    let feature = Feature::new(ElementType::U8).nullable();
    let error = encode_to_vec(&feature, config::standard()).unwrap_err().to_string();
    assert!(error.contains("serialize a dictionary"), "{error}");
    let plain = Feature::new(ElementType::U8).named("a");
    let bytes = encode_to_vec(&plain, config::standard()).unwrap();
    assert_eq!(decode_from_slice::<Feature, _>(&bytes, config::standard()).unwrap(), (plain, bytes.len()));
}

#[test]
fn formats_that_are_read_ahead_keep_gaps() {
    let table = gaps_of_every_type(17);
    let text = serde_json::to_string(&Untagged::Table(table.clone())).unwrap();
    let Untagged::Table(found) = serde_json::from_str(&text).unwrap() else { panic!() };
    assert_same_cells(&found, &table);
}

#[test]
fn a_cast_shows_gaps_as_nan_and_refuses_them_in_integers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1_i16), Some(2), None]).unwrap();
    table.save_with(&path, fast()).unwrap();
    let found = HomogenNumericTable::<f64>::load_cast(&path).unwrap();
    assert!(found.as_slice().unwrap()[..2] == [1.0, 2.0] && found.as_slice().unwrap()[2].is_nan());
    assert!(!found.dictionary().has_nullable());
    let error = HomogenNumericTable::<i64>::load_cast(&path).unwrap_err();
    assert_error!(Err::<(), _>(error), ErrorKind::MissingValue { row: 2, column: 0 });
}

#[test]
fn writers_of_one_type_refuse_gaps_before_they_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let mut gaps = SoaNumericTable::new();
    gaps.push_optional("a", [Some(1.5_f64), None]).unwrap();
    for in_place in [false, true] {
        let mut writer = TableWriter::<f64>::create_with(&path, 1, None, fast().in_place(in_place)).unwrap();
        writer.append(&[0.5_f64]).unwrap();
        let error = writer.append_table(&gaps).unwrap_err();
        assert!(error.hints().iter().any(|hint| hint.call() == "fill_missing"));
        assert!(error.hints().iter().any(|hint| hint.call() == "drop_missing_rows"));
        assert_error!(Err::<(), _>(error), ErrorKind::MissingValue { row: 1, column: 0 });
        assert_eq!(writer.shape().rows, 1);
        let mut filled = gaps.clone();
        filled.set_value(1, 0, 2.5_f64).unwrap();
        assert!(filled.dictionary().has_nullable());
        writer.append_table(&filled).unwrap();
        writer.finish().unwrap();
        assert_eq!(HomogenNumericTable::<f64>::load(&path).unwrap().as_slice().unwrap(), [0.5, 1.5, 2.5]);
    }
    // The flag alone is a property of the columns, which the file keeps.
    let nullable = DataDictionary::uniform(Feature::new(ElementType::F64).nullable(), 1);
    let mut writer = TableWriter::<f64>::create_with(&path, 1, nullable.clone(), fast()).unwrap();
    assert_error!(writer.append_table(&gaps), ErrorKind::MissingValue { row: 1, column: 0 });
    writer.append(&[1.5_f64]).unwrap();
    writer.finish().unwrap();
    assert_eq!(files::load(&path).unwrap().dictionary(), &nullable);
    let shards = ShardsWriter::<f64>::create(folder.path().join("shards"), 1, None).unwrap();
    let mut shard = shards.shard(0).unwrap();
    assert_error!(shard.append_table(&gaps), ErrorKind::MissingValue { row: 1, column: 0 });
    drop(shard);
}

// --- shards ------------------------------------------------------------------------------------------------------

/// Three files: without nullable columns, with gaps, and nullable without gaps. Returns the files' tables.
fn save_shards(folder: &Path) -> Vec<SoaNumericTable> {
    let table = |rows: &[Option<i32>], is_nullable: bool| {
        let mut table = SoaNumericTable::new();
        match is_nullable {
            true => table.push_optional("a", rows.iter().copied()).unwrap(),
            false => table.push_column("a", rows.iter().flatten().copied().collect::<Vec<_>>()).unwrap(),
        }
        table.push_column("b", vec![0.5_f32; rows.len()]).unwrap();
        table
    };
    let tables = vec![table(&[Some(1), Some(2)], false), table(&[None, Some(4), None], true), table(&[Some(6)], true)];
    for (index, table) in tables.iter().enumerate() {
        table.save_with(folder.join(format!("part-{index}.ntb")), fast()).unwrap();
    }
    tables
}

#[test]
fn shards_with_and_without_gaps_are_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let tables = save_shards(folder.path());
    let manifest = folder.path().join("all.ntm");
    let mut shards = Shards::open(folder.path()).unwrap();
    shards.save_manifest(&manifest).unwrap();
    assert_eq!(fs::read(&manifest).unwrap()[8], 2);
    let tables = tables.into_iter().map(|table| Box::new(table) as Box<dyn NumericTable>);
    let whole = RowMergedNumericTable::new(tables).unwrap();
    for shards in [shards, Shards::open(&manifest).unwrap(), Shards::open(&manifest).unwrap().with_verification(true)] {
        assert_eq!(shards.dictionary(), whole.dictionary());
        assert!(shards.dictionary().feature(0).unwrap().nullable && !shards.dictionary().feature(1).unwrap().nullable);
        assert!(shards.verify().unwrap());
        let expected = [1.0, 0.5, 2.0, 0.5, f64::NAN, 0.5, 4.0, 0.5, f64::NAN, 0.5, 6.0, 0.5];
        let same = |found: &[f64]| {
            assert!(found.iter().zip(&expected).all(|(a, b)| a == b || (a.is_nan() && b.is_nan())), "{found:?}");
            assert_eq!(found.len(), expected.len());
        };
        same(shards.load_cast::<f64>().unwrap().as_slice().unwrap());
        same(shards.load_rows::<f64>(..).unwrap().as_slice().unwrap());
        let (mut blocks, mut found) = (shards.row_blocks::<f64>(4).unwrap(), Vec::new());
        while let Some(block) = blocks.next_block().unwrap() {
            found.extend_from_slice(&block);
        }
        same(&found);
        let error = shards.load_cast::<i32>().unwrap_err();
        assert!(error.path().unwrap().ends_with("part-1.ntb"));
        assert_error!(Err::<(), _>(error), ErrorKind::MissingValue { row: 0, column: 0 });
        assert_error!(shards.load_rows::<i64>(3..5), ErrorKind::MissingValue { row: 2, column: 0 });
        assert_eq!(shards.load_rows::<i32>(3..4).unwrap().as_slice().unwrap(), [4, 0]);
        let reduced = shards.reduce(&BasicStatistics::new(2).unwrap()).unwrap();
        let mut partial = BasicStatistics::new(2).unwrap();
        for part in whole.tables() {
            partial.merge(&BasicStatistics::new(2).unwrap().compute_over(&**part).unwrap()).unwrap();
        }
        assert_eq!(reduced.to_bytes().unwrap(), partial.to_bytes().unwrap());
        #[cfg(feature = "mmap")]
        // SAFETY: nobody else knows the files.
        assert_same_cells(&unsafe { shards.map() }.unwrap(), &whole);
    }
}

#[test]
fn appending_a_shard_with_gaps_makes_the_columns_of_the_manifest_nullable() {
    let folder = tempfile::tempdir().unwrap();
    save_shards(folder.path());
    let path = |index: usize| folder.path().join(format!("part-{index}.ntb"));
    let manifest = folder.path().join("all.ntm");
    let mut shards = Shards::from_paths([path(0)]).unwrap();
    shards.save_manifest(&manifest).unwrap();
    let before = fs::read(&manifest).unwrap();
    assert_eq!(before[8], 1);
    shards.append([path(1), path(2)]).unwrap();
    assert_eq!(fs::read(&manifest).unwrap()[8], 2);
    let found = Shards::open(&manifest).unwrap();
    assert_eq!(found.dictionary(), shards.dictionary());
    assert!(found.dictionary().has_nullable());
    // A file that replaced a listed one, and has gaps where the table has none, is another file.
    fs::write(&manifest, before).unwrap();
    fs::copy(path(1), path(0)).unwrap();
    assert!(Shards::open(&manifest).unwrap().load_cast::<f64>().is_err());
}

#[test]
fn a_load_of_one_type_refuses_gaps_of_shards_and_reads_files_without_any() {
    let folder = tempfile::tempdir().unwrap();
    for (index, values) in [[Some(1.5_f64), Some(2.5)], [Some(3.5), None]].into_iter().enumerate() {
        let mut table = SoaNumericTable::new();
        table.push_optional("a", values).unwrap();
        table.save_with(folder.path().join(format!("part-{index}.ntb")), fast()).unwrap();
    }
    let shards = Shards::open(folder.path()).unwrap();
    let error = shards.load::<f64>().unwrap_err();
    assert!(error.hints().iter().any(|hint| hint.call() == "load_cast"));
    assert!(error.hints().iter().any(|hint| hint.call() == "fill_missing"));
    assert!(error.path().unwrap().ends_with("part-1.ntb"));
    assert_error!(Err::<(), _>(error), ErrorKind::MissingValue { row: 1, column: 0 });
    let full = Shards::from_paths([folder.path().join("part-0.ntb")]).unwrap();
    assert_eq!(full.load::<f64>().unwrap().as_slice().unwrap(), [1.5, 2.5]);
}

#[test]
fn an_interrupted_writer_does_not_take_over_a_file_with_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1.5_f32), None]).unwrap();
    table.save_with(folder.path().join("part-000000.ntb"), fast()).unwrap();
    let names = DataDictionary::uniform(Feature::new(ElementType::F32).named("a"), 1);
    assert_error!(ShardsWriter::<f32>::resume(folder.path(), 1, names), ErrorKind::UnequalTables { .. }, "nullability");
}

#[test]
fn a_gap_of_a_large_table_is_found_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let rows = 1 << 20; // large enough for several threads
    let mut table = SoaNumericTable::new();
    table.push_optional("a", (0..rows).map(|row| (row % 1001 != 3).then_some(row as u64))).unwrap();
    table.push_optional("b", (0..rows).map(|row| (row % 13 != 5).then_some(row as f32))).unwrap();
    table.select_rows(1..rows).unwrap().save_with(&path, fast()).unwrap();
    let found = files::load(&path).unwrap();
    for column in 0..2 {
        assert!(cells(&*found, column) == cells(&table, column)[1..]);
    }
}
