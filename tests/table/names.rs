//! Columns by their names.

use numeric_table::prelude::*;
use numeric_table::table::by_ref;
use numeric_table::{AnyArray, CsrNumericTable, MergedNumericTable, SoaNumericTable};
use test_support::tables::{assert_error, huge};

fn columns() -> SoaNumericTable {
    let columns = [("age", AnyArray::from(vec![36_u8, 41])), ("height", vec![1.7_f32, 1.8].into())];
    SoaNumericTable::from_columns(columns).unwrap()
}

#[test]
fn a_column_is_read_and_written_by_its_name() {
    let mut table = columns();
    assert_eq!(table.column_named::<f64>("age", 1..).unwrap()[..], [41.0]);
    assert!(table.column_named::<f32>("height", ..).unwrap().is_zero_copy());
    let mut block = table.column_named_mut::<i64>("age", ..1).unwrap();
    block[0] = 37;
    block.release().unwrap();
    assert_eq!(table.column_slice::<u8>(0).unwrap(), [37, 41]);
    let table: &mut dyn NumericTable = &mut table;
    assert_eq!(table.column_index("height").unwrap(), 1);
    assert_error!(table.column_named::<f64>("age", 1..9), ErrorKind::RowsOutOfRange { .. });
}

#[test]
fn an_unknown_name_says_which_are_near_and_changes_nothing() {
    let mut table = columns();
    for (name, message) in [
        ("hight", r#"no column has the name "hight"; similar names: "height""#),
        ("AGE", r#"no column has the name "AGE"; similar names: "age""#),
        ("", r#"no column has the name """#),
        ("weather", r#"no column has the name "weather""#),
    ] {
        assert_eq!(table.column_index(name).unwrap_err().to_string(), message);
        assert_error!(table.column_named::<u8>(name, ..), ErrorKind::UnknownName { what: "column", .. });
        assert_error!(table.column_named_mut::<u8>(name, ..), ErrorKind::UnknownName { what: "column", .. });
        assert_error!(table.rename(name, "x"), ErrorKind::UnknownName { what: "column", .. });
    }
    let long = "x".repeat(1 << 20);
    assert!(table.column_index(&long).unwrap_err().to_string().len() < 100);
    assert!(table.names().eq([Some("age"), Some("height")]));
}

#[test]
fn names_are_set_for_all_columns_or_none() {
    let mut table = columns();
    table.set_dictionary(table.dictionary().iter().map(|feature| feature.clone().ordinal()).collect()).unwrap();
    for (names, found) in [(&[][..], 0), (&["a"], 1), (&["a", "b", "c"], 3), (&["a"; 9], 3)] {
        assert_error!(
            table.set_names(names.iter().copied()),
            ErrorKind::LengthMismatch { expected: 2, actual: f } if *f == found
        );
    }
    assert_error!(table.set_names(std::iter::repeat("endless")), ErrorKind::LengthMismatch { .. });
    assert!(table.names().eq([Some("age"), Some("height")]));
    table.set_names(["same", "same"]).unwrap();
    assert_eq!((table.column_index("same").unwrap(), table.feature_type(1).unwrap()), (0, FeatureType::Ordinal));
    table.rename("same", "first").unwrap();
    assert!(table.names().eq([Some("first"), Some("same")]));
}

#[test]
fn tables_of_every_kind_have_names_and_those_that_are_read_only_refuse_new_ones() {
    let mut homogeneous = HomogenNumericTable::from_rows(&[[1_u8, 2, 3]]).unwrap();
    homogeneous.set_names(["a", "b", "c"]).unwrap();
    assert_eq!(homogeneous.column_named::<u8>("c", ..).unwrap()[..], [3]);
    assert_error!(by_ref(&homogeneous).set_names(["x", "y", "z"]), ErrorKind::ReadOnlyTable);
    let mut joined = MergedNumericTable::new([by_ref(&homogeneous), by_ref(&homogeneous)]).unwrap();
    joined.rename("b", "second").unwrap();
    let names = ["a", "second", "c", "a", "b", "c"].map(Some);
    assert!(joined.names().eq(names));
    assert_eq!(homogeneous.column_index("b").unwrap(), 1);

    let shape = Shape { rows: 1, columns: huge(40) };
    let sparse = CsrNumericTable::try_new(shape, vec![0, 1], vec![7_u64], vec![1.5]).unwrap();
    assert_eq!(sparse.names().len(), huge(40)); // there is one feature for all columns
    assert_error!(sparse.column_index("x"), ErrorKind::UnknownName { what: "column", .. });
}
