//! svmlight files: what is written is read back, and what is wrong is named with line and byte.

use std::fs;
use std::io::Read;

use numeric_table::{
    ConversionPolicy, CsrNumericTable, bf16, f16,
    files::SaveOptions,
    prelude::*,
    sparse::{LabeledRows, SvmlightIndices, SvmlightLabels, SvmlightOptions},
};
use test_support::bits::special_values;
use test_support::for_each_element;
use test_support::tables::{assert_error, shape};

use super::{message, parts_of};

fn read(text: &str) -> LabeledRows {
    LabeledRows::read::<f64>(text.as_bytes()).unwrap()
}

#[track_caller]
fn refusal_with(text: &[u8], options: SvmlightOptions) -> String {
    message(LabeledRows::read_with::<f64>(text, options))
}

#[track_caller]
fn refusal(text: &[u8]) -> String {
    refusal_with(text, SvmlightOptions::new())
}

#[test]
fn comments_blank_lines_and_spaces_of_any_kind_are_skipped() {
    let data = read("# head\n\n  \t\n1 1:2\t3:4 # 5:6\r\n\r\n -1\x0b\n2 2:5#7:8");
    assert_eq!(parts_of::<f64>(&data.features), (vec![0, 2, 2, 3], vec![0, 2, 1], vec![2.0, 4.0, 5.0]));
    assert_eq!(data.labels.array().unwrap()[..], [1.0, -1.0, 2.0]);
    assert_eq!(data.features.indices().element_type(), ElementType::U32);
}

#[test]
fn a_file_without_rows_or_values_has_no_columns() {
    for (text, rows) in [("", 0), ("\n\n", 0), ("# 1 1:1", 0), ("1\n2\n", 2)] {
        let data = read(text);
        assert_eq!((data.features.shape(), data.labels.row_count()), (shape(rows, 0), rows), "{text:?}");
        assert_eq!(data.labels.to_table().unwrap().shape(), shape(rows, 1));
    }
}

#[test]
fn numbers_become_the_nearest_value_rounded_once() {
    // The midpoint of two f16, and a little more.
    let text = "1 1:1.00048828125 2:1.00048828125000000000000000000001 3:nan 4:-inf 5:1e-400\n";
    let data = LabeledRows::read::<f16>(text.as_bytes()).unwrap();
    let bits: Vec<u16> = data.features.values_slice::<f16>().unwrap().iter().map(|value| value.to_bits()).collect();
    assert_eq!(bits, [0x3C00, 0x3C01, 0x7E00, 0xFC00, 0]);
    let exact = LabeledRows::read::<u64>(&b"1 1:18446744073709551615\n"[..]).unwrap();
    assert_eq!(exact.features.values_slice::<u64>().unwrap(), [u64::MAX]);
    let error = message(LabeledRows::read::<u8>(&b"1 1:7\n1 1:256\n"[..]));
    assert_eq!(error, r#"line 2, byte 5: "256" is not representable as u8"#);
    let options = SvmlightOptions::new().policy(ConversionPolicy::Saturate);
    let clamped = LabeledRows::read_with::<u8>(&b"1 1:256 2:-1 3:nan\n"[..], options).unwrap();
    assert_eq!(clamped.features.values_slice::<u8>().unwrap(), [255, 0, 0]);
}

#[test]
fn every_refusal_names_line_byte_and_text() {
    for (text, expected) in [
        ("1 1:2\nx 1:2\n", r#"line 2, byte 1: "x" is not a label, which is a number"#),
        (
            "1 1:2\n1:2\n",
            r#"line 2, byte 1: "1:2" is where a label should be: `SvmlightOptions::multilabel` allows rows without one"#,
        ),
        ("1 12\n", r#"line 1, byte 3: "12" has no colon between index and value"#),
        ("1 1:2 a:3\n", r#"line 1, byte 7: "a" is not a whole number"#),
        ("1 1:2 -2:3\n", r#"line 1, byte 7: "-2" is not a whole number"#),
        ("1 :3\n", r#"line 1, byte 3: "" is not a whole number"#),
        ("1 1: 2:3\n", r#"line 1, byte 5: "" is not a number"#),
        ("1 1:2x\n", r#"line 1, byte 5: "2x" is not a number"#),
        ("1 1:2:3\n", r#"line 1, byte 5: "2:3" is not a number"#),
        (
            "1 0:2\n",
            r#"line 1, byte 3: "0" is not an index: the first is 1 unless `SvmlightOptions::indices` sets another base"#,
        ),
        (
            "1 2:2 1:3\n",
            r#"line 1, byte 7: "1" is not larger than the index before it: `SvmlightOptions::sort` allows any order"#,
        ),
        (
            "1 2:2 2:3\n",
            r#"line 1, byte 7: "2" is not larger than the index before it: `SvmlightOptions::sort` allows any order"#,
        ),
        ("1 18446744073709551616:3\n", r#"line 1, byte 3: "18446744073709551616" is too large"#),
        ("1 qid:x 1:3\n", r#"line 1, byte 7: "x" is not a query, which is an integer"#),
        ("1 qid:9223372036854775808\n", r#"line 1, byte 7: "9223372036854775808" is not a query, which is an integer"#),
        ("1 1:3 qid:1\n", r#"line 1, byte 7: "qid" is not a whole number"#),
        ("1 sid:3 1:3\n", r#"line 1, byte 3: "sid" is not a whole number"#),
        ("1,2 1:3\n", r#"line 1, byte 1: "1,2" has several labels: `SvmlightOptions::multilabel` allows them"#),
        ("1 1:2\0\n", r#"line 1, byte 5: "2\0" is not a number"#),
        ("\0", r#"line 1, byte 1: "\0" is not a label, which is a number"#),
        ("1\n2 qid:1\n", r#"line 2, byte 1: "2 qid:1" is a row with a query, but the first row has none"#),
        ("1 qid:1\n\n2 1:1\n", r#"line 3, byte 1: "2 1:1" is a row without a query, but the first row has one"#),
        ("1e999\n", r#"line 1, byte 1: "1e999" is not a label, which is a number"#),
    ] {
        assert_eq!(refusal(text.as_bytes()), expected, "{text:?}");
    }
    let sets = SvmlightOptions::new().multilabel(true);
    assert_eq!(refusal_with(b"1,,2 1:3\n", sets), r#"line 1, byte 3: "" is not a label, which is a number"#);
}

#[test]
fn the_path_is_in_the_error_and_so_is_a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.svm");
    assert_error!(LabeledRows::load::<f32>(&path), ErrorKind::Io { .. });
    assert_error!(LabeledRows::load::<f32>(folder.path()), ErrorKind::Io { .. });
    fs::write(&path, "1 1:x\n").unwrap();
    let named = path.clone();
    assert!(
        LabeledRows::load::<f32>(&path)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Text { line: 1, byte: Some(5), .. })
                && error.path().unwrap() == named)
    );
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_largest_indices_are_columns_and_cost_no_memory() {
    let data = read("1 18446744073709551615:2\n");
    assert_eq!((data.features.column_count(), data.features.indices().get(0)), (usize::MAX, Some(usize::MAX - 1)));
    assert_eq!(data.features.indices().element_type(), ElementType::U64);
    for indices in [SvmlightIndices::FromZero, SvmlightIndices::Automatic] {
        let options = SvmlightOptions::new().indices(indices);
        let error = refusal_with(b"1 0:1 18446744073709551615:2\n", options);
        assert_eq!(error, r#"line 1, byte 7: "18446744073709551615" is more columns than a table can have"#);
    }
    let options = SvmlightOptions::new().indices(SvmlightIndices::Automatic);
    let data = LabeledRows::read_with::<f64>(&b"1 5000000000:1\n2 3:1 18446744073709551615:2\n"[..], options).unwrap();
    assert_eq!(data.features.indices().iter().collect::<Vec<_>>(), [4_999_999_999, 2, usize::MAX - 1]);
}

#[test]
fn indices_are_counted_from_zero_if_one_is_zero_as_in_scikit_learn() {
    let columns = |text: &str| {
        let options = SvmlightOptions::new().indices(SvmlightIndices::Automatic);
        let data = LabeledRows::read_with::<f64>(text.as_bytes(), options).unwrap();
        (data.features.indices().iter().collect::<Vec<_>>(), data.features.column_count())
    };
    assert_eq!(columns("1 1:1 3:1\n1 2:1\n"), (vec![0, 2, 1], 3));
    assert_eq!(columns("1 1:1 3:1\n1 0:1\n"), (vec![1, 3, 0], 4));
    assert_eq!(columns("1\n"), (vec![], 0));
}

#[test]
fn the_number_of_columns_can_be_given() {
    let options = || SvmlightOptions::new().column_count(3);
    let data = LabeledRows::read_with::<f64>(&b"1 1:1\n"[..], options()).unwrap();
    assert_eq!(data.features.shape(), shape(1, 3));
    let error = refusal_with(b"1 3:1\n1 4:1\n", options());
    assert_eq!(error, r#"line 2, byte 3: "4" is past the last column, whose index is 3"#);
    let error = refusal_with(b"1 1:1\n", SvmlightOptions::new().column_count(0));
    assert_eq!(error, r#"line 1, byte 3: "1" is past the last column: the table has none"#);
    let from_zero = options().indices(SvmlightIndices::FromZero);
    assert_eq!(refusal_with(b"1 3:1\n", from_zero), r#"line 1, byte 3: "3" is past the last column, whose index is 2"#);
}

#[test]
fn rows_are_sorted_on_request_but_no_index_may_occur_twice() {
    let sort = || SvmlightOptions::new().sort(true);
    let data = LabeledRows::read_with::<f64>(&b"1 3:3 1:1 2:2\n2 9:9\n3 2:5 1:4\n"[..], sort()).unwrap();
    let expected = (vec![0, 3, 4, 6], vec![0, 1, 2, 8, 0, 1], vec![1.0, 2.0, 3.0, 9.0, 4.0, 5.0]);
    assert_eq!(parts_of::<f64>(&data.features), expected);
    let error = refusal_with(b"1 3:3 1:1 3:2\n", sort());
    assert_eq!(error, r#"line 1, byte 1: "1 3:3 1:1 3:2" is a row with an index that occurs twice"#);
}

#[test]
fn what_is_written_is_read_back_bit_for_bit() {
    for_each_element!(T => {
        let values = special_values::<T>();
        let count = values.len();
        let indices: Vec<u64> = (0..count as u64).map(|index| index * 1000).collect();
        let offsets = vec![0_u32, 1, 1, count as u32];
        let shape = shape(3, count * 1000);
        let table = CsrNumericTable::try_new(shape, offsets, indices, values.clone()).unwrap();
        let data = LabeledRows::new(table, vec![0.1, -2.0, 1e300]).unwrap().with_queries(vec![1, i64::MIN, 3]).unwrap();
        let mut text = Vec::new();
        data.write(&mut text).unwrap();
        let options = SvmlightOptions::new().column_count(count * 1000);
        let back = LabeledRows::read_with::<T>(&text[..], options).unwrap();
        assert_eq!(back.features.shape(), data.features.shape());
        assert!(back.features.indices().iter().eq(data.features.indices().iter()));
        assert!(back.features.offsets().iter().eq(data.features.offsets().iter()));
        for (&found, &expected) in back.features.values_slice::<T>().unwrap().iter().zip(&values) {
            let are_nan = found.partial_cmp(&found).is_none() && expected.partial_cmp(&expected).is_none();
            assert!(are_nan || test_support::bits::is_same(found, expected), "{found} {expected}");
        }
        assert_eq!(back.labels, data.labels);
        assert_eq!(back.queries.unwrap()[..], [1, i64::MIN, 3]);
    });
}

#[test]
fn sets_of_labels_are_written_and_a_row_that_would_be_blank_is_refused() {
    let table = |offsets: Vec<i32>| {
        CsrNumericTable::try_new(shape(2, 3), offsets, vec![1_i32], vec![bf16::from_f32(0.5)]).unwrap()
    };
    let data = LabeledRows::new(table(vec![0, 0, 1]), SvmlightLabels::sets([vec![1.0, 2.5], vec![]])).unwrap();
    let mut text = Vec::new();
    data.write(&mut text).unwrap();
    assert_eq!(text, b"1,2.5\n2:0.5\n");
    let back = LabeledRows::read_with::<bf16>(&text[..], SvmlightOptions::new().multilabel(true)).unwrap();
    assert_eq!(back.labels, data.labels);

    let blank = LabeledRows::new(table(vec![0, 1, 1]), SvmlightLabels::sets([vec![1.0], vec![]])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.svm");
    fs::write(&path, "old").unwrap();
    assert_error!(blank.save(&path), ErrorKind::Unsupported { target: "svmlight", .. }, "row 1");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1); // nothing half-written beside it
    let told = blank.with_queries(vec![1, 2]).unwrap(); // a query is not blank
    let mut text = Vec::new();
    told.write(&mut text).unwrap();
    assert_eq!(text, b"1 qid:1 2:0.5\nqid:2\n");
}

#[test]
fn saving_replaces_the_file_and_counts_from_what_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.svm");
    let data = read("1 1:2 3:0\n");
    data.save(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"1 1:2 3:0\n"); // a zero that is stored
    data.save_with(&path, SvmlightIndices::FromZero, SaveOptions::new().in_place(true)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"1 0:2 2:0\n");
}

#[test]
fn labels_and_queries_must_be_as_many_as_rows() {
    let features = || read("1 1:2\n2 1:3\n").features;
    assert_error!(LabeledRows::new(features(), vec![1.0]), ErrorKind::LengthMismatch { expected: 2, actual: 1 });
    let mut data = LabeledRows::new(features(), vec![1.0, 2.0]).unwrap();
    assert_error!(data.clone().with_queries(vec![1, 2, 3]), ErrorKind::LengthMismatch { expected: 2, actual: 3 });
    data.labels = vec![].into(); // the fields are public: writing checks them again
    assert_error!(data.write(std::io::sink()), ErrorKind::LengthMismatch { expected: 2, actual: 0 });
    assert_error!(SvmlightLabels::sets([[1.0]]).to_table(), ErrorKind::LengthMismatch { .. });
}

#[test]
fn many_rows_are_the_same_in_one_piece_or_several() {
    let mut text = String::new();
    for row in 0..60_000 {
        text += &format!("{} {}:{}.5 {}:-1e-3 # {row}\n", row % 3, row % 100 + 1, row, 200 + row % 7);
    }
    assert!(text.len() > 1 << 20, "several pieces");
    let data = read(&text);
    assert_eq!(data.features.shape(), shape(60_000, 206));
    for row in [0, 1, 29_999, 59_999] {
        let cells: Vec<f64> = data.features.rows::<f64>(row..row + 1).unwrap().to_vec();
        assert_eq!((cells[row % 100], cells[199 + row % 7]), (row as f64 + 0.5, -1e-3));
        assert_eq!(data.labels.row(row), [(row % 3) as f64]);
    }
    let mut again = Vec::new();
    data.write(&mut again).unwrap();
    assert_eq!(
        parts_of::<f64>(&LabeledRows::read::<f64>(&again[..]).unwrap().features),
        parts_of::<f64>(&data.features)
    );
    let broken = text.replace("# 58000\n", "# 58000\nx\n");
    assert_eq!(refusal(broken.as_bytes()), r#"line 58002, byte 1: "x" is not a label, which is a number"#);
}

#[test]
fn a_very_long_line_is_one_row_or_one_error() {
    let row: String = (1..=400_000).map(|index| format!(" {index}:1")).collect();
    assert_eq!(read(&format!("1{row}")).features.nnz(), 400_000);
    let garbage = vec![b'a'; 5 << 20];
    assert_eq!(
        refusal(&garbage),
        format!(r#"line 1, byte 1: "{}..." is not a label, which is a number"#, "a".repeat(37))
    );
}

#[test]
fn an_error_of_the_reader_is_handed_on() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("broken"))
        }
    }
    assert_error!(LabeledRows::read::<f32>(b"1 1:1\n".chain(Broken)), ErrorKind::Io { .. });
}
