//! MatrixMarket files: what is written is read back, and what is wrong is named with line and byte.

use std::fs;

use numeric_table::{ConversionPolicy, CsrNumericTable, prelude::*, sparse::MatrixMarketOptions};
use test_support::bits::{is_same, special_values};
use test_support::for_each_element;
use test_support::tables::{assert_error, shape};

use super::{dense, message, parts_of};

fn read<T: Element>(text: &str) -> CsrNumericTable {
    CsrNumericTable::read_mtx::<T>(text.as_bytes()).unwrap()
}

#[track_caller]
fn refusal<T: Element>(text: &str) -> String {
    message(CsrNumericTable::read_mtx::<T>(text.as_bytes()))
}

#[test]
fn entries_are_in_any_order_and_those_of_one_cell_are_summed() {
    let text = "%%matrixmarket MATRIX Coordinate Double GENERAL\r\n%c\r\n\r\n 2\t3 4 \r\n2 3 1.5\r\n1 1 -1\r\n%\r\n\r\n2 3 2\r\n2 1 0";
    let table = read::<f64>(text);
    assert_eq!(parts_of::<f64>(&table), (vec![0, 1, 3], vec![0, 0, 2], vec![-1.0, 0.0, 3.5])); // a zero that is there
    assert_eq!(table.indices().element_type(), ElementType::U32);
    let error = CsrNumericTable::read_mtx::<i8>(
        &b"%%MatrixMarket matrix coordinate integer general\n1 1 2\n1 1 100\n1 1 100\n"[..],
    );
    assert_error!(error, ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
}

#[test]
fn the_header_is_checked_word_by_word() {
    for (header, expected) in [
        ("", r#"line 1, byte 1: "" is not a header: the text is empty"#),
        ("\n", r#"line 1, byte 1: "" is where the header should have %%MatrixMarket"#),
        (
            "MatrixMarket matrix",
            r#"line 1, byte 1: "MatrixMarket" is not the header of a MatrixMarket file, which is %%MatrixMarket"#,
        ),
        ("%%MatrixMarket", r#"line 1, byte 15: "" is where the header should have matrix"#),
        ("%%MatrixMarket vector", r#"line 1, byte 16: "vector" is not supported: only matrix is"#),
        ("%%MatrixMarket matrix sparse", r#"line 1, byte 23: "sparse" is not a format: expected coordinate or array"#),
        (
            "%%MatrixMarket matrix array pattern general",
            r#"line 1, byte 29: "pattern" is only valid for the format coordinate: an array has values"#,
        ),
        (
            "%%MatrixMarket matrix array quaternion",
            r#"line 1, byte 29: "quaternion" is not a type of values: expected real, integer or pattern"#,
        ),
        (
            "%%MatrixMarket matrix coordinate real hermitian",
            r#"line 1, byte 39: "hermitian" is for complex values, which a table cannot hold"#,
        ),
        (
            "%%MatrixMarket matrix coordinate real odd",
            r#"line 1, byte 39: "odd" is not a symmetry: expected general, symmetric or skew-symmetric"#,
        ),
        (
            "%%MatrixMarket matrix coordinate pattern skew-symmetric",
            r#"line 1, byte 42: "skew-symmetric" is not valid for patterns, which have no sign"#,
        ),
        ("%%MatrixMarket matrix array real general x", r#"line 1, byte 42: "x" is past the end of the header"#),
        (
            "%%MatrixMarket matrix array real general\n%\n",
            r#"line 3, byte 1: "" is where the size should be: the file ends here"#,
        ),
    ] {
        assert_eq!(refusal::<f64>(header), expected, "{header:?}");
    }
}

#[test]
fn the_size_and_the_entries_are_checked_number_by_number() {
    for (rest, expected) in [
        ("2 2", r#"line 2, byte 4: "" is where the size should have the number of entries"#),
        ("2 x 1", r#"line 2, byte 3: "x" is not a whole number"#),
        ("2 -1 1", r#"line 2, byte 3: "-1" is not a whole number"#),
        ("2 2 1 1", r#"line 2, byte 7: "1" is past the end of the size"#),
        ("18446744073709551616 2 1", r#"line 2, byte 1: "18446744073709551616" is too large"#),
        ("2 2 1\n", r#"line 3, byte 1: "" the file ends after 0 of 1 entries"#),
        (
            "2 2 18446744073709551615\n1 1 1\n",
            r#"line 4, byte 1: "" the file ends after 1 of 18446744073709551615 entries"#,
        ),
        ("2 2 1\n1 1 1\n\n2 2 5\n", r#"line 5, byte 1: "2 2 5" is one entry more than the 1 in the size"#),
        ("2 2 1\n0 1 1\n", r#"line 3, byte 1: "0" is not a row: 1 to 2 are allowed"#),
        ("2 2 1\n3 1 1\n", r#"line 3, byte 1: "3" is not a row: 1 to 2 are allowed"#),
        ("2 2 1\n1 3 1\n", r#"line 3, byte 3: "3" is not a column: 1 to 2 are allowed"#),
        ("2 2 1\n1 1\n", r#"line 3, byte 4: "" is where the entry should have its value"#),
        ("2 2 1\n1\n", r#"line 3, byte 2: "" is where the entry should have its column"#),
        ("2 2 1\n1 1 1 1\n", r#"line 3, byte 7: "1" is past the end of the entry"#),
        ("2 2 1\n1 1 1e\n", r#"line 3, byte 5: "1e" is not a number"#),
        ("2 2 1\n1 1 1e999\n", r#"line 3, byte 5: "1e999" is not representable as f64"#),
        ("2 2 1\n1 1 \0\n", r#"line 3, byte 5: "\0" is not a number"#),
    ] {
        let text = format!("%%MatrixMarket matrix coordinate real general\n{rest}");
        assert_eq!(refusal::<f64>(&text), expected, "{rest:?}");
    }
    let integer = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n";
    assert_eq!(refusal::<f64>(integer), r#"line 3, byte 5: "1.5" is not an integer, but the header declares integers"#);
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n";
    assert_eq!(refusal::<f64>(pattern), r#"line 3, byte 5: "1" is past the end of the entry"#);
}

#[test]
fn a_symmetric_file_has_one_half_whichever_it_is() {
    let header = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n";
    let expected = [0.0, 2.0, 3.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0];
    for entries in ["2 1 2\n3 1 3\n", "1 2 2\n1 3 3\n"] {
        assert_eq!(dense(&read::<f64>(&format!("{header}{entries}"))), expected);
    }
    let error = refusal::<f64>(&format!("{header}2 1 2\n1 3 3\n"));
    assert_eq!(
        error,
        r#"line 4, byte 1: "1 3 3" is not on the same side of the diagonal as an earlier entry: a file has one half of a symmetric matrix"#
    );
    let rectangular = refusal::<f64>("%%MatrixMarket matrix array real symmetric\n2 3\n");
    assert_eq!(rectangular, r#"line 2, byte 3: "3" columns and 2 rows are not symmetric"#);
}

#[test]
fn the_other_half_of_a_skew_symmetric_matrix_is_negative() {
    let header = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n";
    assert_eq!(dense(&read::<i8>(&format!("{header}2 1 127\n"))), [0.0, -127.0, 127.0, 0.0]);
    assert_eq!(
        refusal::<i8>(&format!("{header}2 1 -128\n")),
        r#"line 3, byte 1: "2 1 -128" also stands for its negative, which is not representable as i8"#
    );
    assert_eq!(
        refusal::<u8>("%%MatrixMarket matrix array integer skew-symmetric\n2 2\n% below\n7\n"),
        r#"line 4, byte 1: "7" also stands for its negative, which is not representable as u8"#
    );
    let options = MatrixMarketOptions::new().policy(ConversionPolicy::Saturate);
    let clamped = CsrNumericTable::read_mtx_with::<i8>(format!("{header}2 1 -128\n").as_bytes(), options).unwrap();
    assert_eq!(dense(&clamped), [0.0, 127.0, -128.0, 0.0]);
    assert_eq!(
        refusal::<i8>(&format!("{header}1 1 1\n")),
        r#"line 3, byte 1: "1 1 1" is on the diagonal, which is zero in a skew-symmetric matrix"#
    );
    assert_eq!(read::<i8>(&format!("{header}1 1 0\n")).nnz(), 1);
}

#[test]
fn an_array_has_its_values_column_by_column_and_its_zeros_are_not_stored() {
    let table = read::<f32>("%%MatrixMarket matrix array real general\n2 3\n1\n0\n-0.0\n4\nnan\n6\n");
    assert_eq!((table.nnz(), table.offsets().get(1)), (4, Some(2)));
    let cells = dense(&table);
    assert!(cells[2].is_nan());
    assert_eq!((&cells[..2], &cells[3..]), (&[1.0, 0.0][..], &[0.0, 4.0, 6.0][..]));
    let few = refusal::<f32>("%%MatrixMarket matrix array real general\n2 3\n1\n0\n");
    assert_eq!(few, r#"line 5, byte 1: "" the file ends after 2 of 6 entries"#);
    let two = refusal::<f32>("%%MatrixMarket matrix array real general\n1 2\n1 2\n");
    assert_eq!(two, r#"line 3, byte 3: "2" is past the end of the entry"#);
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "32 bits refuse some numbers earlier, with another message")]
fn sizes_that_a_file_only_claims_are_refused_without_memory() {
    let huge = [
        "array real general\n18446744073709551615 18446744073709551615\n",
        "array real symmetric\n18446744073709551615 18446744073709551615\n1\n",
        "coordinate real general\n18446744073709551615 3 18446744073709551615\n1 1 1\n",
    ];
    for text in huge {
        assert!(refusal::<f64>(&format!("%%MatrixMarket matrix {text}")).contains("the file ends after"), "{text}");
    }
    let rows = "%%MatrixMarket matrix coordinate real general\n1000000000000 3 1\n1 1 1\n";
    let expected =
        r#"line 2, byte 1: "1000000000000" rows are more than 1049136: `MatrixMarketOptions::max_rows` allows more"#;
    assert_eq!(refusal::<f64>(rows), expected);
    let none = "%%MatrixMarket matrix array real general\n18446744073709551615 0\n";
    assert!(refusal::<f64>(none).contains("`MatrixMarketOptions::max_rows` allows more"));
    // Columns cost nothing.
    let wide = "%%MatrixMarket matrix coordinate real general\n1 18446744073709551615 1\n1 18446744073709551615 1\n";
    assert_eq!(read::<f64>(wide).indices().get(0), Some(usize::MAX - 1));
    let options = MatrixMarketOptions::new().max_rows(2);
    let three = b"%%MatrixMarket matrix coordinate real general\n3 1 0\n";
    assert_error!(CsrNumericTable::read_mtx_with::<f64>(&three[..], options), ErrorKind::Text { line: 2, .. });
}

#[test]
fn matrices_without_rows_columns_or_entries_are_read_and_written() {
    for (rows, columns) in [(0, 0), (0, 3), (3, 0), (2, 2)] {
        let text = format!("%%MatrixMarket matrix coordinate real general\n{rows} {columns} 0\n");
        let table = read::<f64>(&text);
        assert_eq!((table.shape(), table.nnz()), (shape(rows, columns), 0));
        let mut again = Vec::new();
        table.write_mtx(&mut again).unwrap();
        assert_eq!(String::from_utf8(again).unwrap(), text);
    }
}

#[test]
fn what_is_written_is_read_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.mtx");
    for_each_element!(T => {
        let values = special_values::<T>();
        let count = values.len();
        let indices: Vec<i64> = (0..count as i64).map(|index| index * 1000).collect();
        let (offsets, shape) = (vec![0_i32, 1, 1, count as i32], shape(3, count * 1000));
        let table = CsrNumericTable::try_new(shape, offsets, indices, values.clone()).unwrap();
        table.save_mtx(&path).unwrap();
        let back = CsrNumericTable::load_mtx::<T>(&path).unwrap();
        assert_eq!(back.shape(), table.shape());
        assert!(back.indices().iter().eq(table.indices().iter()) && back.offsets().iter().eq(table.offsets().iter()));
        for (&found, &expected) in back.values_slice::<T>().unwrap().iter().zip(&values) {
            let are_nan = found.partial_cmp(&found).is_none() && expected.partial_cmp(&expected).is_none();
            assert!(are_nan || is_same(found, expected), "{found} {expected}");
        }
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.contains(" real "), T::TYPE.is_float());
    });
}

#[test]
fn many_entries_are_the_same_in_one_piece_or_several() {
    let (rows, columns) = (5000, 40);
    let offsets: Vec<u64> = (0..=rows as u64).map(|row| row * 20).collect();
    let indices: Vec<u32> = (0..rows as u32 * 20).map(|at| at % 20 * 2 + at / 20 % 2).collect();
    let values: Vec<f32> = (0..rows * 20).map(|at| at as f32 * 0.37 - 5.0).collect();
    let table = CsrNumericTable::try_new(shape(rows, columns), offsets, indices, values).unwrap();
    let mut text = Vec::new();
    table.write_mtx(&mut text).unwrap();
    assert!(text.len() > 1 << 20, "several pieces");
    let back = CsrNumericTable::read_mtx::<f32>(&text[..]).unwrap();
    assert_eq!(parts_of::<f32>(&back), parts_of::<f32>(&table));
}
