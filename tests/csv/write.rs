//! Tables written as CSV files, and read again.

use numeric_table::{
    AnyArray, SoaNumericTable,
    csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSource, CsvWriteOptions},
    dictionary::Categories,
    prelude::*,
};
use test_support::bits::{Random, is_same, special_values};
use test_support::tables::{LAYOUTS, assert_error, huge, shape, values_of};
use test_support::{SmallNumber, for_each_element};

use super::{Table, assert_values, load, numbers, written};

#[test]
fn what_is_written_is_read_back_bit_for_bit() {
    fn check<T: SmallNumber>() {
        let mut values = special_values::<T>();
        values.extend(Random::new(T::TYPE.id().into()).values::<T>(2000));
        values.truncate(values.len() / 3 * 3);
        for layout in LAYOUTS {
            let table = Table::from_array_with_layout(values.clone(), shape(values.len() / 3, 3), layout).unwrap();
            for table in [table.slice_rows(5..77).unwrap(), table.slice_rows(3..3).unwrap(), table] {
                let text = written(&table, CsvWriteOptions::new());
                let back = numbers::<T>(&text).unwrap();
                assert_values(&back, &values_of(&table));
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn tables_are_written_as_they_should_be_read() {
    let mut table = Table::from_rows(&[[1.5, 0.0], [f64::NAN, 1.0], [-0.0, 2.0]]).unwrap();
    assert_eq!(written(&table, CsvWriteOptions::new()), "1.5,0\nNaN,1\n-0,2\n");
    let features = [Feature::new(ElementType::F64).named("a,\"b\""), Feature::new(ElementType::F64).named(" c")];
    table.set_dictionary(features.into_iter().collect()).unwrap();
    let options = CsvWriteOptions::new().nan("NA").categories(1, ["x", "y z", "\n"]);
    let text = written(&table, options);
    assert_eq!(text, "\"a,\"\"b\"\"\",\" c\"\n1.5,x\nNA,y z\n-0,\"\n\"\n");
    let source = CsvSource::from_bytes_with(text.into_bytes(), CsvOptions::new().missing(CsvMissing::Nan)).unwrap();
    assert_values(&source.load::<f64>().unwrap(), &values_of(&table));
    assert_eq!(source.names().collect::<Vec<_>>(), [Some("a,\"b\""), Some(" c")]);

    let single = Table::from_rows(&[[f64::NAN], [1.0]]).unwrap();
    let text = written(&single, CsvWriteOptions::new().nan("").header(true));
    assert_eq!(text, "\"\"\nNA\n1\n"); // an empty line would be no row
    assert_values(&load::<f64>(&text, CsvOptions::new().missing(CsvMissing::Nan)).unwrap(), &[f64::NAN, 1.0]);
    assert_eq!(
        written(&Table::<u8>::new(shape(0, 3), AllocationFlag::DoAllocate).unwrap(), CsvWriteOptions::new()),
        ""
    );
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    let table = Table::from_rows(&[[1_i16, 2], [3, 4]]).unwrap();
    table.write_csv(&path).unwrap();
    let options = CsvWriteOptions::new().categories(1, ["a", "b", "c"]);
    let error = table.write_csv_with(&path, options).unwrap_err();
    assert!(error.to_string().ends_with("4 at row 1, column 1 is not an index of 3 categories"), "{error}");
    assert_error!(
        table.write_csv_with(&path, CsvWriteOptions::new().categories(2, ["a"])),
        ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 }
    );
    assert_error!(table.write_csv_with(&path, CsvWriteOptions::new().delimiter(b'1')), ErrorKind::CsvOption { .. });
    let empty = Table::<i16>::new(shape(2, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(empty.write_csv(&path), ErrorKind::NotAllocated);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "1,2\n3,4\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let dynamic: &dyn NumericTable = &table.slice_rows(1..2).unwrap();
    dynamic.write_csv_with(&path, CsvWriteOptions::new().durable(false)).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "3,4\n");
}

#[test]
fn words_of_the_dictionary_are_written_and_read_back_as_the_same_table() {
    let text = "size,colour,shape\n1,\"light, blue\",round\n2,red,\" flat\"\n3,\"light, blue\",round\n";
    let source = CsvSource::from_bytes(text.as_bytes().to_vec()).unwrap();
    let table = source.load::<u8>().unwrap();
    assert_eq!(table.dictionary().feature(1).unwrap().label(0), Some("light, blue"));
    assert_eq!(written(&table, CsvWriteOptions::new()), text);
    assert_eq!(load::<u8>(&written(&table, CsvWriteOptions::new()), CsvOptions::new()).unwrap(), table);
    let stated = written(&table, CsvWriteOptions::new().header(false).categories(1, ["x", "y"]));
    assert_eq!(stated, "1,x,round\n2,y,\" flat\"\n3,x,round\n");
    assert_eq!(written(&table, CsvWriteOptions::new().labels(false).header(false)), "1,0,0\n2,1,1\n3,0,0\n");
}

#[test]
fn words_of_any_length_are_written() {
    let names: Vec<String> = (0..70).map(|length| "wörter,".chars().cycle().take(length).collect()).collect();
    let codes: Vec<u8> = (0..70).chain((0..70).rev()).collect();
    let table = Table::from_array(codes.clone(), shape(codes.len(), 1)).unwrap();
    let quoted = |name: &String| {
        if name.is_empty() || name.contains(',') { format!("\"{name}\"\n") } else { format!("{name}\n") }
    };
    let expected: String = codes.iter().map(|&code| quoted(&names[usize::from(code)])).collect();
    assert_eq!(written(&table, CsvWriteOptions::new().categories(0, &names)), expected);
}

#[test]
fn long_files_have_all_lines_and_no_more_room_on_the_disk_than_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    for rows in [100_000_usize, 400_000] {
        let columns = [
            ("a", AnyArray::from((0..rows as i64).map(|row| row * 1_000_003).collect::<Vec<_>>())),
            ("b", AnyArray::from((0..rows).map(|row| row as f64 / 4.0).collect::<Vec<_>>())),
        ];
        let table = SoaNumericTable::from_columns(columns).unwrap();
        let expected = written_any(&table, CsvWriteOptions::new());
        assert!(expected.len() > 1 << 20);
        for in_place in [false, true] {
            table.write_csv_with(&path, CsvWriteOptions::new().durable(false).in_place(in_place)).unwrap();
            assert!(std::fs::read(&path).unwrap() == expected.as_bytes());
            #[cfg(target_os = "linux")]
            {
                let file = std::fs::File::open(&path).unwrap();
                file.sync_all().unwrap();
                let taken = std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap()) * 512;
                assert!(taken < expected.len() as u64 + (1 << 20), "{taken} bytes for {}", expected.len());
            }
        }
    }
}

#[test]
fn an_index_without_a_word_is_an_error_unless_indices_are_asked_for() {
    let words = Categories::from_labels(["a", "b"]).unwrap();
    let uniform = DataDictionary::uniform(Feature::new(ElementType::F32).categorical(words), 2);
    for value in [2.0, -1.0, 0.5, f32::INFINITY] {
        let table = Table::from_rows(&[[0.0, 1.0], [1.0, value]]).unwrap().with_dictionary(uniform.clone()).unwrap();
        let error = table.write_csv_to(Vec::new(), CsvWriteOptions::new()).unwrap_err().to_string();
        assert!(error.ends_with(&format!("{value} at row 1, column 1 is not an index of 2 categories")), "{error}");
        assert_eq!(written(&table, CsvWriteOptions::new().labels(false)), format!("0,1\n1,{value}\n"));
    }
    let gap = Table::from_rows(&[[0.0, f32::NAN]]).unwrap().with_dictionary(uniform).unwrap();
    assert_eq!(written(&gap, CsvWriteOptions::new().missing("NA")), "a,NA\n");
    let none = DataDictionary::uniform(Feature::new(ElementType::U8).categorical(2), huge(40));
    let wide = Table::<u8>::zeros(shape(0, huge(40))).unwrap().with_dictionary(none).unwrap();
    assert_eq!(written(&wide, CsvWriteOptions::new()), ""); // no column is looked at
}

#[test]
fn a_first_field_that_begins_with_a_mark_of_utf_8_keeps_it() {
    let table = Table::from_rows(&[[0_u8, 1], [1, 0]]).unwrap();
    let names = ["\u{FEFF}a", "b"];
    let text = written(&table, CsvWriteOptions::new().categories(0, names));
    assert_eq!(text, "\"\u{FEFF}a\",1\nb,0\n");
    let options = CsvOptions::new().header(CsvHeader::No).kind(0, CsvColumnKind::Categorical);
    let source = CsvSource::from_bytes_with(text.into_bytes(), options).unwrap();
    assert_eq!(source.categories(0).unwrap().unwrap(), names);
}

/// Writes a table of any kind.
fn written_any(table: &dyn NumericTable, options: CsvWriteOptions) -> String {
    let mut text = Vec::new();
    table.write_csv_to(&mut text, options).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn mixed_tables_are_written_each_column_by_its_type_and_read_back() {
    let text = "id,size,colour\n9007199254740993,1.5,red\n-7,0.1,blue\n0,-0,red\n";
    let source = CsvSource::from_bytes(text.as_bytes().to_vec()).unwrap();
    let table = source.load_typed().unwrap();
    assert_eq!(written_any(&table, CsvWriteOptions::new()), text);
    assert_eq!(
        written_any(&table, CsvWriteOptions::new().labels(false)),
        text.replace("red", "0").replace("blue", "1")
    );
    let gaps = CsvWriteOptions::new().header(false).nan("NA").delimiter(b';');
    let mut table = SoaNumericTable::new();
    table.push_column("a", vec![f32::NAN, 0.1, 3.0]).unwrap();
    table.push_column("b", vec![u64::MAX, 0, 1]).unwrap();
    assert_eq!(written_any(&table, gaps), "NA;18446744073709551615\n0.1;0\n3;1\n");
    let few = CsvWriteOptions::new().categories(1, ["x"]);
    let dynamic: &dyn NumericTable = &table;
    let error = dynamic.write_csv_to(Vec::new(), few).unwrap_err().to_string();
    assert!(error.ends_with("18446744073709551615 at row 0, column 1 is not an index of 1 categories"), "{error}");
    let empty = SoaNumericTable::from_columns([
        ("a", AnyArray::from(Vec::<u8>::new())),
        ("b", AnyArray::from(Vec::<f64>::new())),
    ]);
    assert_eq!(written_any(&empty.unwrap(), CsvWriteOptions::new()), "a,b\n");
}

#[test]
fn every_value_of_a_mixed_table_is_read_back_bit_for_bit() {
    let (mut table, mut options) = (SoaNumericTable::new(), CsvOptions::new().kind(.., CsvColumnKind::Continuous));
    for_each_element!(T => {
        let mut values = special_values::<T>();
        values.extend(Random::new(T::TYPE.id().into()).values::<T>(20_000 - values.len()));
        table.push_column(T::TYPE.name(), values).unwrap();
        options = std::mem::take(&mut options).column_type(T::TYPE.name(), T::TYPE);
    });
    let text = written_any(&table, CsvWriteOptions::new());
    let back =
        CsvSource::from_bytes_with(text.into_bytes(), options.header(CsvHeader::Yes)).unwrap().load_typed().unwrap();
    assert_eq!(back.dictionary(), table.dictionary());
    for column in 0..table.column_count() {
        for_each_element!(T => if table.column_type(column).unwrap() == T::TYPE {
            let (values, expected) = (back.column_slice::<T>(column).unwrap(), table.column_slice::<T>(column).unwrap());
            assert!(values.len() == 20_000 && values.iter().zip(expected).all(|(&one, &other)| is_same(one, other)));
        });
    }
}

#[test]
fn writing_reports_the_bytes_of_the_values_and_ends_when_the_callback_panics() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, Mutex};

    use numeric_table::files::Progress;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    let columns = [("a", AnyArray::from(vec![1_u8; 100_000])), ("b", AnyArray::from(vec![0.5_f64; 100_000]))];
    let mixed = SoaNumericTable::from_columns(columns).unwrap();
    let empty = Table::<i16>::zeros(shape(0, 3)).unwrap();
    for (table, total) in [(&mixed as &dyn NumericTable, 900_000), (&empty, 0)] {
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = told.clone();
        let options = CsvWriteOptions::new().on_progress(move |progress| hears.lock().unwrap().push(progress));
        table.write_csv_with(&path, options).unwrap();
        let told = told.lock().unwrap();
        let at = |done| Some(Progress { done, total: Some(total) });
        assert_eq!((told.first().copied(), told.last().copied()), (at(0), at(total)));
        assert!(told.is_sorted_by(|one, next| one.done < next.done));
    }
    std::fs::write(&path, "old").unwrap();
    let options = CsvWriteOptions::new().on_progress(|progress| assert!(progress.done == 0, "enough"));
    assert!(catch_unwind(AssertUnwindSafe(|| mixed.write_csv_with(&path, options))).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
