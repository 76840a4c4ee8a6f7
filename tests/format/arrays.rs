//! Files, archives and serde of tables that consist of several arrays: whatever is damaged is an error, and none of it
//! a panic or much memory.

use std::fs;

use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, PackedTriangularMatrix, SoaNumericTable,
    files::{self, SaveOptions, verify},
    impl_record,
    prelude::*,
    table::{RecordLayout, Triangle},
};
use test_support::tables::assert_error;

use crate::support::with_header;

/// Two columns of three rows, of different types; the second begins after padding.
fn table() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_column("a", vec![1_u8, 2, 3]).unwrap();
    table.push_feature(Feature::new(ElementType::F64).ordinal(), vec![0.5, f64::NAN, -0.0]).unwrap();
    table
}

/// The bits of all values, column by column.
fn bits(table: &dyn NumericTable) -> Vec<Vec<u64>> {
    let columns = 0..table.column_count();
    columns
        .map(|column| table.column::<f64>(column, ..).unwrap().iter().map(|value| value.to_bits()).collect())
        .collect()
}

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("table.ntb")
    }

    fn load(&self, bytes: &[u8]) -> Result<Box<dyn NumericTable>, Error> {
        fs::write(self.path(), bytes).unwrap();
        files::load(self.path())
    }
}

/// The file of the table.
fn file(scratch: &Scratch) -> Vec<u8> {
    table().save_with(scratch.path(), SaveOptions::new().durable(false).checksums(Some(16))).unwrap();
    fs::read(scratch.path()).unwrap()
}

/// Where the fields after the kind's name begin.
const AFTER_NAME: usize = 1 + "structure-of-arrays".len();

#[test]
fn a_file_is_laid_out_as_the_format_says() {
    let scratch = Scratch::new();
    let file = file(&scratch);
    let number = |number: u64| number.to_le_bytes().to_vec();
    let header = [
        b"\x13structure-of-arrays".to_vec(),
        [3, 2, 0, 2].map(number).concat(), // rows, columns, no settings, two arrays
        [vec![7], number(3), vec![1], number(3)].concat(), // u8 and f64, of three elements each
        [vec![0], number(2)].concat(),     // a feature for each of two columns
        [vec![7, 1], number(1), b"a".to_vec(), vec![2, 0]].concat(), // u8, a name, continuous
        vec![1, 0, 1, 0],                  // f64, no name, ordinal
    ]
    .concat();
    assert_eq!(file[64..64 + header.len()], header);
    assert_eq!(file[4096..4099], [1, 2, 3]);
    assert_eq!(file[4096 + 64..4096 + 72], 0.5_f64.to_le_bytes());
    assert_eq!(u64::from_le_bytes(file[24..32].try_into().unwrap()), 64 + 24);
    assert!(verify(scratch.path()).unwrap());
}

#[test]
fn every_bit_of_a_file_is_checked_and_no_cut_goes_unseen() {
    let scratch = Scratch::new();
    let file = file(&scratch);
    let expected = bits(&table());
    let used = (0..200).chain(4096..file.len());
    for byte in used {
        for bit in [1, 128] {
            let mut damaged = file.clone();
            damaged[byte] ^= bit;
            match scratch.load(&damaged).map_err(Error::into_kind) {
                Err(ErrorKind::Format { .. }) => {}
                Ok(found) => assert_eq!(bits(&*found), expected, "{byte}"), // between the header and the values
                Err(other) => panic!("{byte}: {other:?}"),
            }
        }
    }
    for length in (0..200).chain(4090..file.len()) {
        assert_error!(scratch.load(&file[..length]), ErrorKind::Format { .. });
    }
}

#[test]
fn headers_that_contradict_themselves_or_the_values_are_refused() {
    let scratch = Scratch::new();
    let file = file(&scratch);
    let huge = u64::MAX.to_le_bytes();
    let put = |at: usize, bytes: &[u8]| {
        with_header(&file, |header| header[AFTER_NAME + at..][..bytes.len()].copy_from_slice(bytes))
    };
    let (rows, columns, settings, arrays, first, second) = (0, 8, 16, 24, 32, 41);
    let features = 50;
    for (at, bytes) in [
        (rows, &4_u64.to_le_bytes()[..]),
        (rows, &huge),
        (columns, &3_u64.to_le_bytes()),
        (columns, &huge),
        (settings, &1_u64.to_le_bytes()), // the number of arrays becomes a setting
        (settings, &huge),
        (arrays, &1_u64.to_le_bytes()),
        (arrays, &huge),
        (first, &[99]),                    // no element type
        (first, &[6]),                     // i8: the dictionary says u8
        (first + 1, &2_u64.to_le_bytes()), // as long in the file, but two values for three rows
        (first + 1, &huge),
        (second + 1, &4_u64.to_le_bytes()),         // past the end
        (second + 1, &(1_u64 << 61).to_le_bytes()), // more bytes than can be counted
        (features, &[2]),
        (features, &[1]), // one feature for two columns: bytes are left
        (features + 1, &3_u64.to_le_bytes()),
        (features + 9, &[1]), // another type than the array's
    ] {
        assert_error!(scratch.load(&put(at, bytes)), ErrorKind::Format { .. });
    }
    let longer = with_header(&file, |header| header.push(0));
    assert_error!(scratch.load(&longer), ErrorKind::Format { .. });
    let other_kind = with_header(&file, |header| header[1..12].copy_from_slice(b"homogeneous"));
    assert_error!(scratch.load(&other_kind), ErrorKind::Format { .. });
    assert!(scratch.load(&file).is_ok());
}

#[test]
fn a_loaded_table_is_of_the_kind_that_was_asked_for_or_an_error_names_both() {
    let scratch = Scratch::new();
    file(&scratch);
    let loaded = SoaNumericTable::load(scratch.path()).unwrap();
    assert_eq!(bits(&loaded), bits(&table()));
    let error = HomogenNumericTable::<f64>::load(scratch.path()).unwrap_err();
    let path = scratch.path();
    let expected = format!(
        "{}: the table is of kind structure-of-arrays, not homogeneous: `files::load` loads any kind",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    let archive = table().to_bytes().unwrap();
    assert!(
        HomogenNumericTable::<f64>::from_bytes(&archive)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::TableKindMismatch { .. }) && error.path().is_none())
    );
    let homogeneous = HomogenNumericTable::from_rows(&[[1_u8, 2]]).unwrap();
    assert!(SoaNumericTable::from_bytes(&homogeneous.to_bytes().unwrap()).is_err_and(|error| matches!(
        error.kind(),
        ErrorKind::TableKindMismatch { expected: "structure-of-arrays", actual: "homogeneous", .. }
    )
        && error.path().is_none()));
    homogeneous.save(scratch.path()).unwrap();
    assert!(
        SoaNumericTable::load(scratch.path())
            .is_err_and(|error| matches!(error.kind(), ErrorKind::TableKindMismatch { .. }) && error.path().is_some())
    );
}

#[test]
fn an_archive_that_is_cut_or_changed_is_an_error_or_a_table() {
    let archive = table().to_bytes().unwrap();
    assert_eq!(bits(&*files::from_bytes(&archive).unwrap()), bits(&table()));
    for length in 0..archive.len() {
        assert_error!(files::from_bytes(&archive[..length]), ErrorKind::Format { .. });
    }
    for byte in 0..archive.len() {
        for bit in 0..8 {
            let mut damaged = archive.clone();
            damaged[byte] ^= 1 << bit;
            match files::from_bytes(&damaged).map_err(Error::into_kind) {
                Ok(found) => assert_eq!(found.dictionary().len(), found.column_count()), // a value, or a name
                Err(ErrorKind::Format { .. }) => {}
                Err(other) => panic!("{byte}: {other:?}"),
            }
        }
    }
    let longer = [&archive[..], &[0]].concat();
    assert_error!(files::from_bytes(&longer), ErrorKind::Format { .. });
}

#[test]
fn text_that_is_no_table_of_its_kind_is_refused() {
    let table =
        SoaNumericTable::from_columns([("a", AnyArray::from(vec![1.5_f32])), ("b", vec![2_i64].into())]).unwrap();
    let text = serde_json::to_string(&table).unwrap();
    let read = |text: &str| serde_json::from_str::<Box<dyn NumericTable>>(text);
    assert_eq!(bits(&*read(&text).unwrap()), bits(&table));
    assert_eq!(bits(&serde_json::from_str::<SoaNumericTable>(&text).unwrap()), bits(&table));
    for (old, new, problem) in [
        ("structure-of-arrays", "triangle", "unknown kind of table: \"triangle\""),
        ("structure-of-arrays", "homogeneous", "0 settings, but this kind has 1"),
        ("\"rows\":1", "\"rows\":2", "got 1 values, expected 2"),
        ("\"columns\":2", "\"columns\":1", "2 arrays for 1 columns"),
        ("\"settings\":[]", "\"settings\":[1]", "1 settings, but this kind has 0"),
        ("{\"f32\":[1.5]}", "{\"f33\":[1.5]}", "f33"),
        ("{\"f32\":[1.5]}", "{\"u8\":[1.5]}", "1.5 is not a value of u8"),
        ("{\"f32\":[1.5]}", "{\"f64\":[1.5]}", "dictionary"),
        (",{\"i64\":[2]}", "", "1 arrays for 2 columns"),
    ] {
        assert!(text.contains(old), "{old} is not in {text}");
        let error = read(&text.replacen(old, new, 1)).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let homogeneous = serde_json::to_string(&HomogenNumericTable::from_rows(&[[1_u8]]).unwrap() as &dyn NumericTable);
    assert!(serde_json::from_str::<SoaNumericTable>(&homogeneous.unwrap()).is_err());
}

/// A table of each kind, its text, and what makes it one no more.
#[test]
fn what_is_wrong_with_a_table_of_any_kind_is_an_error_of_the_format() {
    fn check(table: &dyn NumericTable, wrong: &[(&str, &str, &str)]) {
        let text = serde_json::to_string(table).unwrap();
        let read = |text: &str| serde_json::from_str::<Box<dyn NumericTable>>(text);
        assert_eq!(bits(&*read(&text).unwrap()), bits(table));
        for (old, new, problem) in wrong {
            assert!(text.contains(old), "{old} is not in {text}");
            let error = read(&text.replacen(old, new, 1)).unwrap_err().to_string();
            assert!(error.contains(problem), "{old} -> {new}: {error}");
        }
    }
    let shape = Shape { rows: 2, columns: 9 };
    let sparse = CsrNumericTable::try_new(shape, vec![0_u32, 1, 3], vec![4_i64, 0, 8], vec![1.5, 2.5, 3.5]).unwrap();
    let values = "{\"f64\":[1.5,2.5,3.5]}";
    check(
        &sparse,
        &[
            ("\"u32\":[0,1,3]", "\"u32\":[0,4,3]", "the row offsets descend"),
            ("\"u32\":[0,1,3]", "\"u32\":[1,1,3]", "first row offset"),
            ("\"u32\":[0,1,3]", "\"u32\":[0,1,4]", "the row offsets end at 4"),
            ("\"u32\":[0,1,3]", "\"u32\":[0,1]", "2 rows need one row offset each"),
            ("\"u32\":[0,1,3]", "\"u8\":[0,1,3]", "the row offsets are u8"),
            ("\"i64\":[4,0,8]", "\"i64\":[4,0,9]", "0 to 8 are allowed"),
            ("\"i64\":[4,0,8]", "\"i64\":[-1,0,8]", "0 to 8 are allowed"),
            ("\"i64\":[4,0,8]", "\"i64\":[4,8,8]", "do not ascend"),
            ("\"i64\":[4,0,8]", "\"i64\":[4,0]", "2 column indices"),
            (values, "{\"f32\":[1.5,2.5,3.5]}", "dictionary"),
            (values, "{\"f64\":[1.5]}", "1 values"),
            (&format!(",{values}"), "", "2 arrays, but this kind has 3"),
            ("\"rows\":2", &format!("\"rows\":{}", usize::MAX), "rows need one row offset each"),
            ("\"columns\":9", "\"columns\":8", "0 to 7 are allowed"),
        ],
    );
    let triangle = PackedTriangularMatrix::from_lapack(Triangle::Lower, vec![1_i8, 2, 3]).unwrap();
    check(
        &triangle,
        &[
            ("\"settings\":[1,1]", "\"settings\":[2,1]", "unknown triangle: 2"),
            ("\"settings\":[1,1]", "\"settings\":[1,2]", "unknown order: 2"),
            ("\"settings\":[1,1]", "\"settings\":[1]", "1 settings, but this kind has 2"),
            ("[1,2,3]", "[1,2,3,4]", "the number of values of a packed triangle is 4"),
            ("\"rows\":2", "\"rows\":3", "the stated shape is"),
            ("packed-triangular", "structure-of-arrays", "settings"),
        ],
    );
    let layout = RecordLayout::new(8).field("a", ElementType::U8, 3).unwrap();
    let layout = layout.field("b", ElementType::I16, 4).unwrap();
    let records = AosNumericTable::zeros(&layout, 2).unwrap();
    check(
        &records,
        &[
            ("\"settings\":[8,3,4]", "\"settings\":[8,3,7]", "outside its record"),
            ("\"settings\":[8,3,4]", "\"settings\":[8,3,5]", "not aligned"),
            ("\"settings\":[8,3,4]", "\"settings\":[0,3,4]", "outside its record"),
            ("\"settings\":[8,3,4]", "\"settings\":[6,3,4]", "16 bytes do not divide into records of 6 bytes"),
            ("\"settings\":[8,3,4]", "\"settings\":[8,3]", "1 offsets for 2 columns"),
            (
                "\"settings\":[8,3,4]",
                &format!("\"settings\":[{},3,4]", usize::MAX),
                "16 bytes do not divide into records",
            ),
            ("\"settings\":[8,3,4]", "\"settings\":[]", "0 offsets for 2 columns"),
            ("{\"u8\":[0", "{\"i8\":[0", "records must be bytes"),
            ("\"rows\":2", "\"rows\":1", "the stated shape is"),
        ],
    );
}

#[test]
fn no_records_come_back_from_text_whatever_the_alignment_of_no_bytes_is() {
    for &element in ElementType::ALL {
        let layout = RecordLayout::new(16).field("x", element, 8).unwrap();
        for rows in [0, 1, 3] {
            let table = AosNumericTable::zeros(&layout, rows).unwrap();
            let text = serde_json::to_string(&table).unwrap();
            let found = serde_json::from_str::<AosNumericTable>(&text).unwrap();
            assert_eq!((found.shape(), found.column_type(0).unwrap()), (table.shape(), element));
        }
    }
}

#[test]
fn padding_is_saved_as_zeros_and_records_come_back_as_what_they_were() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C, align(8))] // 32 bits align `f64` to 4
    struct Padded {
        b: f64,
        a: u8,
        c: u8,
    }
    impl_record!(Padded { a, b, c });
    let records = vec![Padded { a: 1, b: 2.5, c: 3 }, Padded { a: 4, b: -0.0, c: 6 }];
    let bytes = AosNumericTable::from_records(records.clone()).unwrap().to_bytes().unwrap();
    let ends = [&2.5_f64.to_le_bytes()[..], &[1, 3, 0, 0, 0, 0, 0, 0]].concat();
    assert!(bytes.windows(16).any(|window| window == ends));
    let found = AosNumericTable::from_bytes(&bytes).unwrap();
    assert_eq!(found.records::<Padded>().unwrap(), records);
}

#[test]
fn a_column_that_is_not_set_or_is_lent_is_not_saved() {
    let scratch = Scratch::new();
    let types = [ElementType::U8, ElementType::F32].map(Feature::new).into_iter().collect();
    let table = SoaNumericTable::from_dictionary(types, 2, AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(table.save(scratch.path()), ErrorKind::ColumnNotSet { column: 0 });
    assert_error!(table.to_bytes(), ErrorKind::ColumnNotSet { column: 0 });
    assert!(serde_json::to_string(&table).is_err() && !scratch.path().exists());
}

#[test]
fn tables_without_rows_or_columns_come_back() {
    let scratch = Scratch::new();
    let no_rows =
        SoaNumericTable::from_columns([("a", AnyArray::from(Vec::<u8>::new())), ("b", Vec::<f64>::new().into())]);
    for table in [SoaNumericTable::new(), no_rows.unwrap()] {
        table.save(scratch.path()).unwrap();
        for found in [files::load(scratch.path()).unwrap(), files::from_bytes(&table.to_bytes().unwrap()).unwrap()] {
            assert_eq!((found.kind(), found.shape()), (table.kind(), table.shape()));
            assert_eq!(found.dictionary(), table.dictionary());
        }
    }
}
