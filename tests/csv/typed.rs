//! CSV files as structures of arrays: the type of each column, and what is exact. What is stated and what is refused is
//! in `typed_errors`.

use numeric_table::{
    SoaNumericTable,
    csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSource},
    dictionary::Categories,
    prelude::*,
};
use test_support::bits::{Random, is_same};
use test_support::for_each_element;
use test_support::tables::shape;

use super::{load, source};

pub(crate) const F64: ElementType = ElementType::F64;
pub(crate) const I64: ElementType = ElementType::I64;
pub(crate) const U64: ElementType = ElementType::U64;
pub(crate) const U8: ElementType = ElementType::U8;

pub(crate) fn typed(text: &str, options: CsvOptions) -> Result<SoaNumericTable, Error> {
    source(text, options)?.load_typed()
}

pub(crate) fn plain(text: &str) -> SoaNumericTable {
    typed(text, CsvOptions::new()).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

pub(crate) fn nan() -> CsvOptions {
    CsvOptions::new().missing(CsvMissing::Nan)
}

pub(crate) fn types(table: &SoaNumericTable) -> Vec<ElementType> {
    (0..table.column_count()).map(|column| table.column_type(column).unwrap()).collect()
}

#[track_caller]
pub(crate) fn assert_column<T: Element>(table: &SoaNumericTable, column: usize, expected: &[T]) {
    let values = table.column_slice::<T>(column).unwrap();
    assert_eq!(values.len(), expected.len(), "{values:?}");
    for (row, (&value, &expected)) in values.iter().zip(expected).enumerate() {
        assert!(is_same(value, expected), "row {row} is {value:?}, not {expected:?}");
    }
}

/// Asserts that both tables hold the same, bit for bit.
#[track_caller]
fn assert_same(one: &SoaNumericTable, other: &SoaNumericTable) {
    assert_eq!((one.shape(), one.dictionary()), (other.shape(), other.dictionary()));
    for column in 0..one.column_count() {
        for_each_element!(T => if one.column_type(column).unwrap() == T::TYPE {
            assert_column(one, column, other.column_slice::<T>(column).unwrap());
        });
    }
}

pub(crate) fn error(text: &str, options: CsvOptions) -> String {
    typed(text, options).unwrap_err().to_string()
}

// --- types ---------------------------------------------------------------------------------------------------------

#[test]
fn each_column_has_the_type_that_suits_it() {
    let text = "id,size,colour,count\n-1,1.5,red,0\n2,2,blue,1\n";
    let table = plain(text);
    assert_eq!((table.shape(), types(&table)), (shape(2, 4), vec![I64, F64, U8, I64]));
    assert_eq!((table.kind(), table.data_memory_status()), (plain("").kind(), MemoryStatus::InternallyAllocated));
    assert_column(&table, 0, &[-1_i64, 2]);
    assert_column(&table, 1, &[1.5_f64, 2.0]);
    assert_column(&table, 2, &[0_u8, 1]);
    let features: Vec<Feature> = table.dictionary().iter().cloned().collect();
    let expected = [
        Feature::new(I64).named("id"),
        Feature::new(F64).named("size"),
        Feature::new(U8).named("colour").categorical(Categories::from_labels(["red", "blue"]).unwrap()),
        Feature::new(I64).named("count"),
    ];
    assert_eq!(features, expected);
    let mut table = table; // its memory is its own
    table.column_slice_mut::<i64>(0).unwrap()[0] = 5;
    assert_column(&table, 0, &[5_i64, 2]);
}

#[test]
fn whole_numbers_are_kept_to_the_last_digit() {
    let table = plain("9007199254740993\n-9223372036854775808\n9223372036854775807\n+7\n007\n");
    assert_column(&table, 0, &[(1_i64 << 53) + 1, i64::MIN, i64::MAX, 7, 7]);
    let table = plain("9007199254740993\n18446744073709551615\n0\n");
    assert_column(&table, 0, &[(1_u64 << 53) + 1, u64::MAX, 0]);
    let quoted = plain("\"12\",\" 13 \"\n 14 ,\"15\"\n");
    assert_column(&quoted, 0, &[12_i64, 14]);
    assert_column(&quoted, 1, &[13_i64, 15]);
}

#[test]
fn a_number_that_is_not_written_as_a_whole_one_makes_a_column_of_floats() {
    for (text, value) in [("1.0", 1.0), ("1e3", 1000.0), (".5", 0.5), ("2.", 2.0), ("-inf", f64::NEG_INFINITY)] {
        assert_column(&plain(&format!("7\n{text}\n")), 0, &[7.0, value]);
    }
    assert_column(&plain("7\nnan\n"), 0, &[7.0, f64::NAN]);
    assert_column(&plain("-0\n7\n"), 0, &[-0.0, 7.0]); // no integer has this sign
    assert_column(&plain("-00\n7\n"), 0, &[-0.0, 7.0]);
    assert_column(&plain("0.1\n1e300\n"), 0, &[0.1, 1e300]);
}

#[test]
fn all_rows_decide_and_not_only_the_first() {
    let whole: String = (0..1000).map(|row| format!("{row},{}\n", row % 7)).collect();
    let mut expected: Vec<f64> = (0..1000).map(f64::from).collect();
    let table = plain(&(whole.clone() + "0.5,1\n"));
    expected.push(0.5);
    assert_eq!(types(&table), [F64, I64]);
    assert_column(&table, 0, &expected);
    let table = plain(&(whole.clone() + "9223372036854775808,1\n"));
    assert_eq!((types(&table), table.column_slice::<u64>(0).unwrap()[1000]), (vec![U64, I64], 1 << 63));
    let table = plain(&(whole.clone() + "-1,1\n9223372036854775808,1\n"));
    assert_eq!(
        (types(&table), table.column_slice::<f64>(0).unwrap()[1001]),
        (vec![F64, I64], 9_223_372_036_854_775_808.0)
    );
    let table = typed(&(whole.clone() + "NA,1\n"), nan()).unwrap();
    assert!(table.column_slice::<f64>(0).unwrap()[1000].is_nan());
    // The other way round: what the first rows seem to be is no reason either.
    let large = "9223372036854775808\n".repeat(300) + "-9223372036854775808\n";
    assert_eq!(types(&plain(&large)), [F64]);
    let gaps = "NA\n".repeat(300) + "5\n";
    assert_eq!(types(&typed(&gaps, CsvOptions::new().missing(CsvMissing::SkipRow)).unwrap()), [I64]);
    assert_eq!(types(&typed(&gaps, CsvOptions::new().missing(CsvMissing::Value(0.0))).unwrap()), [I64]);
    assert_eq!(types(&typed(&gaps, nan()).unwrap()), [F64]);
}

#[test]
fn words_have_the_smallest_type_that_holds_their_indices() {
    for (count, element) in [(1, U8), (256, U8), (257, ElementType::U16), (65_537, ElementType::U32)] {
        let text: String = (0..count).map(|word| format!("w{word},{word}\n")).collect();
        let source = source(&text, CsvOptions::new()).unwrap();
        let table = source.load_typed().unwrap();
        assert_eq!((types(&table), table.category_count(0).unwrap()), (vec![element, I64], Some(count)));
        assert_eq!(table.value::<u64>(count - 1, 0).unwrap(), count as u64 - 1);
        assert_eq!(source.categories(0).unwrap().unwrap()[count - 1], format!("w{}", count - 1));
    }
    let table = typed("w\nx\n\n", CsvOptions::new().header(CsvHeader::No).categories(0, ["x", "w"])).unwrap();
    assert_column(&table, 0, &[1_u8, 0]);
}

#[test]
fn kinds_decide_as_for_tables_of_one_type() {
    let text = "grade,code,colour,day\n1,10,red,mon\n3,20,blue,tue\n2,10,red,mon\n";
    let day = CsvColumnKind::custom(|text| match text {
        "mon" => Ok(1.0),
        "tue" => Ok(2.0),
        _ => Err("is no day".to_owned()),
    });
    let options = CsvOptions::new()
        .kind("grade", CsvColumnKind::Ordinal)
        .kind("code", CsvColumnKind::Categorical)
        .kind("colour", CsvColumnKind::OneHot)
        .kind("day", day);
    let table = typed(text, options.clone()).unwrap();
    assert_eq!(types(&table), [I64, U8, U8, U8, F64]);
    let one_type = load::<f64>(text, options.clone()).unwrap();
    assert_eq!(table.rows::<f64>(..).unwrap()[..], one_type.rows::<f64>(..).unwrap()[..]);
    let converted = one_type.dictionary().iter().zip(types(&table));
    let converted: Vec<Feature> =
        converted.map(|(feature, element_type)| Feature { element_type, ..feature.clone() }).collect();
    assert_eq!(table.dictionary().iter().cloned().collect::<Vec<_>>(), converted);
    assert_eq!(error(&text.replace("tue", "wed"), options.clone()), "line 3, column 3 (day): \"wed\" is no day");
    let some = typed(text, options.columns(["colour", "grade"])).unwrap();
    assert_eq!(types(&some), [U8, U8, I64]);
    assert_column(&some, 2, &[1_i64, 3, 2]);
}

// --- shapes --------------------------------------------------------------------------------------------------------

#[test]
fn files_may_be_empty_or_a_header_or_a_column_of_nothing() {
    for text in ["", "\n", "\u{FEFF}"] {
        assert_eq!(plain(text).shape(), shape(0, 0));
    }
    let header = plain("a,\"b\nc\"\n");
    assert_eq!((header.shape(), types(&header)), (shape(0, 2), vec![F64, F64]));
    assert_eq!(header.dictionary().index_of("b\nc"), Some(1));
    let empty = typed("a,b\n1,\n2,NA\n", nan()).unwrap();
    assert_eq!(types(&empty), [I64, F64]);
    assert_column(&empty, 1, &[f64::NAN, f64::NAN]);
    let skipped = typed("a,b\n1,\n2,\n", CsvOptions::new().missing(CsvMissing::SkipRow)).unwrap();
    assert_eq!((skipped.shape(), types(&skipped)), (shape(0, 2), vec![F64, F64]));
    let none = typed("1,2\n3,4\n", CsvOptions::new().exclude_columns(..)).unwrap();
    assert_eq!(none.shape(), shape(2, 0));
    let one = plain("5");
    assert_column(&one, 0, &[5_i64]);
    let header = typed("2023,2024\n1,2.5\n", CsvOptions::new().header(CsvHeader::Yes)).unwrap();
    assert_eq!((types(&header), header.dictionary().index_of("2024")), (vec![I64, F64], Some(1)));
}

#[test]
fn one_hot_encodings_without_categories_are_no_columns() {
    let options = nan().kind(0, CsvColumnKind::OneHot);
    let table = typed("a,b\nNA,1\n,2\n", options).unwrap();
    assert_eq!((table.shape(), types(&table)), (shape(2, 1), vec![I64]));
}

// --- missing values ------------------------------------------------------------------------------------------------

#[test]
fn missing_values_become_what_is_asked_for() {
    let text = "a,b\n1,x\n,y\n3,NA\n5,x\n";
    let with = |missing| typed(text, CsvOptions::new().missing(missing));
    let table = with(CsvMissing::Nan).unwrap();
    assert_eq!(types(&table), [F64, F64]);
    assert_column(&table, 0, &[1.0, f64::NAN, 3.0, 5.0]);
    assert_column(&table, 1, &[0.0, 1.0, f64::NAN, 0.0]);
    let table = with(CsvMissing::SkipRow).unwrap();
    assert_eq!((table.shape(), types(&table)), (shape(2, 2), vec![I64, U8]));
    assert_column(&table, 0, &[1_i64, 5]);
    assert_column(&table, 1, &[0_u8, 0]);
    let table = with(CsvMissing::Value(7.0)).unwrap();
    assert_column(&table, 0, &[1_i64, 7, 3, 5]);
    assert_column(&table, 1, &[0_u8, 1, 7, 0]);
    let table = with(CsvMissing::Value(-1.0)).unwrap();
    assert_column(&table, 0, &[1_i64, -1, 3, 5]);
    assert_column(&table, 1, &[0_i64, 1, -1, 0]);
    let table = with(CsvMissing::Value(300.0)).unwrap();
    assert_column(&table, 1, &[0_u16, 1, 300, 0]);
    let table = with(CsvMissing::Value(0.5)).unwrap();
    assert_column(&table, 0, &[1.0, 0.5, 3.0, 5.0]);
    assert_column(&table, 1, &[0.0, 1.0, 0.5, 0.0]);
    assert_eq!(
        with(CsvMissing::Error).unwrap_err().to_string(),
        "line 3, column 0 (a): \"\" is missing: `CsvOptions::missing` sets how missing values are treated"
    );
    // A value that stands for nothing decides nothing.
    assert_eq!(types(&typed("1,x\n2,y\n", CsvOptions::new().missing(CsvMissing::Value(0.5))).unwrap()), [I64, U8]);
    let large = "1\n9223372036854775808\n";
    assert_eq!(types(&typed(large, CsvOptions::new().missing(CsvMissing::Value(-1.0))).unwrap()), [U64]);
    let one_hot = typed(text, nan().kind("b", CsvColumnKind::OneHot)).unwrap();
    assert_eq!(types(&one_hot), [F64, F64, F64]);
    assert_column(&one_hot, 1, &[1.0, 0.0, f64::NAN, 1.0]);
}

#[test]
fn numbers_that_mean_a_missing_value_are_missing() {
    let options = CsvOptions::new().missing_texts(["-999", "nan"]).missing(CsvMissing::SkipRow);
    let table = typed("1,2\n-999,3\n4,-999.0\n5,nan\n", options).unwrap();
    assert_column(&table, 0, &[1_i64, 4]);
    assert_column(&table, 1, &[2.0, -999.0]);
    // Numbers are compared by value, in any spelling and in any type.
    let text = "n,x,w\n1,-999.000,-999.0\n-999,2.5,red\n3,-9.99E2,-999\n\"-999\",\"-999.0\",blue\n5,-998.5,red\n";
    let options = CsvOptions::new().missing_numbers([-999.0, f64::NAN]);
    let table = typed(text, options.clone()).unwrap();
    let missing = |table: &SoaNumericTable, column: usize| -> Vec<usize> {
        (0..table.shape().rows).filter(|&row| table.is_missing(row, column).unwrap()).collect()
    };
    assert_eq!(types(&table), [I64, F64, U8]);
    assert_eq!([0, 1, 2].map(|column| missing(&table, column)), [vec![1, 3], vec![0, 2, 3], vec![0, 2]]);
    let stated = options.clone().kind("w", CsvColumnKind::Categorical);
    assert!(missing(&typed(text, stated).unwrap(), 2).is_empty()); // "-999.0" and "-999" are two words
    let numbers = || options.clone().columns(["n", "x"]);
    assert_eq!(typed(text, numbers().missing(CsvMissing::SkipRow)).unwrap().shape().rows, 1);
    let filled = CsvSource::from_bytes_with(text.as_bytes(), numbers().missing(CsvMissing::Value(0.5))).unwrap();
    let filled = filled.load::<f32>().unwrap();
    assert_eq!(filled.as_slice().unwrap(), [1.0, 0.5, 0.5, 2.5, 3.0, 0.5, 0.5, 0.5, 5.0, -998.5]);
    let german = options.delimiter(b';').decimal(',').missing(CsvMissing::Nan);
    assert!(typed("1,5;2\n-999,0;3\n", german).unwrap().value::<f64>(1, 0).unwrap().is_nan());
}

#[test]
fn texts_of_pandas_are_missing_beside_numbers_of_any_kind() {
    let options = CsvOptions::new().missing_texts(CsvOptions::PANDAS_MISSING_TEXTS);
    for marker in CsvOptions::PANDAS_MISSING_TEXTS {
        let text = format!("n,x,w\n1,0.5,red\n{marker},{marker},{marker}\n3,NAN,blue\n");
        let table = typed(&text, options.clone()).unwrap();
        assert_eq!(types(&table), [I64, F64, U8], "{marker}");
        let counts = [0, 1, 2].map(|column| table.missing_count(column).unwrap());
        assert_eq!(counts, [1, 1, 1], "{marker}"); // and NAN is a number
    }
    // In quotes, such a text is a word among words, and missing among numbers, even if it looks like a number.
    let table = typed("w,n\n\"nan\",\"nan\"\nred,0.5\n\"-NaN\",\"NaN\"\n", options).unwrap();
    assert_eq!(types(&table), [U8, F64]);
    assert_eq!([0, 1].map(|column| table.missing_count(column).unwrap()), [0, 2]);
}

#[test]
fn a_row_that_is_left_out_says_nothing_about_its_columns() {
    let skip = || CsvOptions::new().missing(CsvMissing::SkipRow);
    let rows = "1,5\n".repeat(200);
    let table = typed(&format!("0.5,NA\n{rows}-7,NA\nword,NA\n18446744073709551615,NA\n"), skip()).unwrap();
    assert_eq!((table.shape(), types(&table)), (shape(200, 2), vec![I64, I64]));
    let table = typed(&format!("-7,NA\n{rows}9223372036854775808,5\n"), skip()).unwrap();
    assert_eq!(types(&table), [U64, I64]);
    // Columns that are read again skip the same rows.
    let table = typed(&format!("{rows}NA,9\n0.5,NA\n2,0.5\n"), skip()).unwrap();
    assert_eq!((table.shape(), types(&table)), (shape(201, 2), vec![I64, F64]));
    assert_eq!((table.value::<f64>(200, 0).unwrap(), table.value::<f64>(200, 1).unwrap()), (2.0, 0.5));
    // The ones of rows that are left out do not stay.
    let hot = skip().kind("w", CsvColumnKind::OneHot);
    let table = typed("w,b\nx,1\ny,NA\nx,2\nNA,3\ny,4\n", hot).unwrap();
    assert_column(&table, 0, &[1_u8, 1, 0]);
    assert_column(&table, 1, &[0_u8, 0, 1]);
    // Most rows are left out.
    let table = typed(&("NA,9\n".repeat(500) + "1,2\n" + &"9,NA\n".repeat(500) + "3,4\n"), skip()).unwrap();
    assert_column(&table, 0, &[1_i64, 3]);
    assert_column(&table, 1, &[2_i64, 4]);
}

// --- real files, threads, and back ---------------------------------------------------------------------------------

#[test]
fn real_files_are_what_they_are_as_f64() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut files = 0;
    for entry in std::fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "csv") {
            continue;
        }
        files += 1;
        let options = || CsvOptions::new().missing(CsvMissing::Nan);
        let source = CsvSource::open_with(&path, options()).unwrap();
        let (table, floats) = (source.load_typed().unwrap(), source.load::<f64>().unwrap());
        assert_eq!(table.shape(), floats.shape(), "{}", path.display());
        for column in 0..table.column_count() {
            let (values, expected) =
                (table.column::<f64>(column, ..).unwrap(), floats.column::<f64>(column, ..).unwrap());
            assert!(values.iter().zip(&expected[..]).all(|(&one, &other)| is_same(one, other)), "{}", path.display());
            let is_whole = expected.iter().all(|value| value.fract() == 0.0 && value.is_sign_positive());
            let found = table.column_type(column).unwrap();
            assert!(is_whole || found.is_float(), "{}, column {column} is {found}", path.display());
        }
    }
    assert!(files > 0, "there are files in {}", data.display());
}

/// Rows with everything that makes columns change their types late, and files hard to divide.
fn large_text() -> String {
    let mut random = Random::new(5);
    let mut text = "id,small,late,word,hole\n".to_owned();
    for row in 0..60_000_u64 {
        let word = match random.below(40) {
            0 => format!("\"line {row}\nend\""),
            _ => format!("word{}", random.below(300)),
        };
        let late = if row == 50_000 { "0.25".to_owned() } else { format!("{}", random.below(1000)) };
        let hole = if random.below(50) == 0 { String::new() } else { format!("{}", row % 97) };
        let end = ["\n", "\r\n", "\n\n"][random.below(40).saturating_sub(37)];
        text += &format!("{},{},{late},{word},{hole}{end}", random.next(), random.below(200));
    }
    text
}

#[test]
fn neither_threads_nor_the_place_of_the_text_decide_anything() {
    let text = large_text();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.csv");
    std::fs::write(&path, &text).unwrap();
    let table = typed(&text, nan()).unwrap();
    assert_eq!((table.row_count(), types(&table)), (60_000, vec![U64, I64, F64, ElementType::U16, F64]));
    let broken = text.clone() + "9007199254740993,1,9007199254740993,w,\n";
    let broken_message = error(&broken, nan());
    assert!(broken_message.contains("column 2 (late): \"9007199254740993\" is an integer"), "{broken_message}");
    let check = || {
        assert_same(&CsvSource::open_with(&path, nan()).unwrap().load_typed().unwrap(), &table);
        assert_eq!(error(&broken, nan()), broken_message);
        typed(&text, CsvOptions::new().missing(CsvMissing::SkipRow).columns(["hole", "late", "id"])).unwrap()
    };
    let skipped = check();
    assert!(skipped.row_count() < 60_000);
    assert_eq!(types(&skipped), [I64, F64, U64]);
    #[cfg(feature = "rayon")]
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_same(&pool.install(check), &skipped);
    }
}

#[test]
fn progress_is_told_in_bytes_of_the_file() {
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let hook = {
        let told = told.clone();
        move |progress: numeric_table::files::Progress| told.lock().unwrap().push(progress.done)
    };
    let rows: String = (0..100_000).map(|row| format!("{row},1\n")).collect();
    let source = source(&rows, CsvOptions::new()).unwrap().on_progress(hook);
    source.load_typed().unwrap();
    let told = told.lock().unwrap();
    assert!(told.is_sorted() && told.last() == Some(&(rows.len() as u64)), "{told:?}");
}
