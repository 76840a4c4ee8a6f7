//! Tables of a few bytes whose shapes are as large as can be: every writer answers at once, with a small file or an
//! error.

use numeric_table::{
    files::{self, SaveOptions, TableWriter},
    prelude::*,
};
use test_support::tables::{LAYOUTS, assert_error, huge, shape};

type Table<T> = HomogenNumericTable<T>;

const MOST: usize = usize::MAX;

fn fast() -> SaveOptions {
    SaveOptions::new().durable(false)
}

/// Of bytes that nobody has.
fn without_memory() -> Table<u8> {
    Table::new(shape(huge(62), 1), AllocationFlag::DoNotAllocate).unwrap()
}

fn tables_without_values() -> Vec<Table<u8>> {
    let shapes = [shape(MOST, 0), shape(0, MOST), shape(huge(62), 0), shape(0, huge(62))];
    let table = |(shape, layout)| Table::full_with_layout(shape, 0, layout).unwrap();
    shapes.into_iter().flat_map(|shape| LAYOUTS.map(|layout| (shape, layout))).map(table).collect()
}

#[test]
fn table_files_and_archives_of_tables_without_values_are_small_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    for table in tables_without_values() {
        table.save_with(&path, fast()).unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() <= 4096 + 8);
        assert_eq!(Table::load(&path).unwrap(), table);
        let archive = table.to_bytes().unwrap();
        assert!(archive.len() < 256);
        assert_eq!(Table::from_bytes(&archive).unwrap(), table);
    }
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn a_table_without_memory_for_its_rows_is_neither_saved_nor_archived() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let table = without_memory();
    let any: &dyn NumericTable = &table;
    assert_error!(table.save(&path), ErrorKind::NotAllocated);
    assert_error!(any.save(&path), ErrorKind::NotAllocated);
    assert_error!(table.to_bytes(), ErrorKind::NotAllocated);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_table_writer_of_as_many_columns_as_can_be_writes_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let mut writer = TableWriter::<u8>::create_with(&path, MOST, None, fast()).unwrap();
    writer.append::<u8>(&[]).unwrap();
    assert_error!(writer.append(&[1_u8, 2]), ErrorKind::NotWholeRows { values: 2, columns: MOST });
    writer.finish().unwrap();
    assert_eq!(files::load(&path).unwrap().shape(), shape(0, MOST));
}

#[cfg(feature = "npy")]
#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn numpy_files_of_tables_without_values_are_small_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    for table in tables_without_values() {
        table.save_npy_with(&path, fast()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 128);
        assert_eq!(Table::load_npy(&path).unwrap(), table);
        let mut written = Vec::new();
        table.write_npy(&mut written).unwrap();
        assert_eq!(written, bytes);
    }
    let (table, mut written) = (without_memory(), Vec::new());
    assert_error!(table.save_npy(folder.path().join("new.npy")), ErrorKind::NotAllocated);
    assert_error!(table.write_npy(&mut written), ErrorKind::NotAllocated);
    assert!(written.is_empty() && !folder.path().join("new.npy").exists());
}

#[cfg(feature = "csv")]
mod csv {
    use test_support::tables::feature;

    use super::*;
    use numeric_table::csv::CsvWriteOptions;

    fn table(rows: usize, columns: usize) -> Table<u8> {
        Table::new(shape(rows, columns), AllocationFlag::DoAllocate).unwrap()
    }

    /// What every way to write a table says, which must be the same; the text, if there is no error.
    fn write(table: &Table<u8>, options: &CsvWriteOptions) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let any: &dyn NumericTable = table;
        let (mut text, mut same) = (Vec::new(), Vec::new());
        let results = [
            table.write_csv_to(&mut text, options.clone()),
            any.write_csv_to(&mut same, options.clone()),
            table.write_csv_with(&path, options.clone()),
            any.write_csv_with(&path, options.clone()),
        ];
        let [first, others @ ..] = results.map(|result| result.map_err(|error| error.to_string()));
        others.into_iter().for_each(|other| assert_eq!(other, first));
        assert_eq!(same, text);
        if first.is_err() {
            assert!(text.is_empty() && std::fs::read_dir(folder.path()).unwrap().count() == 0);
        } else {
            assert_eq!(std::fs::read(&path).unwrap(), text);
        }
        first.map(|()| String::from_utf8(text).unwrap())
    }

    fn plain() -> CsvWriteOptions {
        CsvWriteOptions::new()
    }

    #[test]
    fn rows_without_columns_are_refused_since_no_text_can_tell_how_many_there_are() {
        for rows in [1, 3, MOST] {
            for options in [plain(), plain().header(true)] {
                let words =
                    format!("CSV: a table of {rows} x 0 values cannot be written: rows without columns have no text");
                assert_eq!(write(&table(rows, 0), &options), Err(words));
            }
        }
        assert_eq!(write(&table(0, 0), &plain().header(true)).as_deref(), Ok(""));
    }

    #[test]
    fn columns_without_rows_are_an_empty_file_unless_there_is_a_header() {
        for columns in [1, 3, MOST] {
            assert_eq!(write(&table(0, columns), &plain()).as_deref(), Ok(""));
        }
        assert_eq!(write(&table(0, 3), &plain().header(true)).as_deref(), Ok(",,\n"));
        assert_eq!(write(&table(0, 1), &plain().header(true)).as_deref(), Ok("\"\"\n"));
    }

    #[test]
    fn a_header_longer_than_any_record_is_refused_before_it_is_built() {
        let refused = |columns: usize, bytes: usize| {
            Err(format!(
                "CSV: a table of 0 x {columns} values cannot be written: the line of names has {bytes} bytes \
                 or more, and the limit is 268435456"
            ))
        };
        for columns in [(256 << 20) + 1, huge(62), MOST] {
            assert_eq!(write(&table(0, columns), &plain().header(true)), refused(columns, columns));
        }
        let mut named = table(0, 1 << 27);
        named.set_dictionary(DataDictionary::uniform(feature::<u8>().named("ab"), 1 << 27)).unwrap();
        assert_eq!(write(&named, &plain()), refused(1 << 27, 3 << 27));
        assert_eq!(write(&named, &plain().header(false)).as_deref(), Ok(""));
    }

    #[test]
    fn categories_take_no_room_for_columns_that_have_none() {
        let wide = table(0, MOST);
        for column in [0, huge(40), MOST - 1] {
            let options = plain().header(false).categories(column, ["a"]);
            assert_eq!(write(&wide, &options).as_deref(), Ok(""));
        }
        let refused = write(&wide, &plain().categories(MOST, ["a"])).unwrap_err();
        assert_eq!(refused, format!("column {MOST} is out of range: the table has {MOST} columns"));
    }

    #[test]
    #[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
    fn a_table_without_memory_for_its_rows_is_not_written() {
        let words = Error::new(ErrorKind::NotAllocated).to_string();
        assert_eq!(write(&without_memory(), &plain()), Err(words.clone()));
        assert_eq!(write(&without_memory(), &plain().header(true)), Err(words));
    }

    #[test]
    fn a_table_file_of_no_rows_and_too_many_columns_is_loaded_and_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.ntb");
        table(0, MOST).save_with(&path, fast()).unwrap();
        let (loaded, mut text) = (files::load(&path).unwrap(), Vec::new());
        let refused = loaded.write_csv_to(&mut text, plain().header(true));
        assert_error!(refused, ErrorKind::Unsupported { target: "CSV", .. });
        assert!(text.is_empty());
    }

    #[test]
    fn words_are_written_in_their_columns_and_the_last_that_are_given_for_one_count() {
        let table = Table::from_rows(&[[0_u8, 1, 0, 1], [1, 0, 1, 0]]).unwrap();
        let options = plain().categories(3, ["c", "d"]).categories(1, ["x", "y"]).categories(1, ["a", "b"]);
        assert_eq!(write(&table, &options).as_deref(), Ok("0,b,0,d\n1,a,1,c\n"));
    }
}

#[test]
fn tables_of_equal_columns_beyond_number_follow_each_other() {
    let table = |words: [&str; 2]| {
        let categories = numeric_table::dictionary::Categories::from_labels(words).unwrap();
        let feature = Feature::new(ElementType::U8).named("answer").categorical(categories);
        Table::<u8>::full_with_layout(shape(0, MOST), 0, DataLayout::RowMajor)
            .and_then(|table| table.with_dictionary(DataDictionary::uniform(feature, MOST)))
            .unwrap()
    };
    let [first, same, other] = [["no", "yes"], ["no", "yes"], ["yes", "no"]].map(table);
    assert_eq!(first.vstack(&[&same]).unwrap().shape(), shape(0, MOST));
    assert_eq!(first.vstack_unified(&[&same]).unwrap().shape(), shape(0, MOST));
    let refused = first.vstack(&[&other]).map(|both| both.shape());
    assert_error!(refused, ErrorKind::UnequalTables { table: 1, column: Some(0), .. }, "categories");
}
