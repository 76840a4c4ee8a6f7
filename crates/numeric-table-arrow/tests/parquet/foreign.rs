//! Files that pyarrow and polars wrote, with `tests/data/make.py`.

use std::path::PathBuf;

use numeric_table::prelude::*;
use numeric_table_arrow::ArrowOptions;

use crate::common::{exact, open};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn a_file_of_pyarrow() {
    let columns = ["id", "small", "share", "price", "day", "time", "color", "is_even"];
    let options = ArrowOptions::new().columns(columns).nulls_to_nan(true).column_type("price", ElementType::F64);
    let source = open(&data("pyarrow.parquet")).options(options.clone());
    assert_eq!((source.row_group_count(), source.shape().unwrap()), (3, Shape { rows: 300, columns: 8 }));
    let table = source.load_columns().unwrap();
    for row in 0..300 {
        let value = |column| table.value::<f64>(row, column).unwrap();
        let number = row as f64;
        assert_eq!([value(0), value(1), value(3)], [number, (row % 200) as f64, (number * 25.0 - 1000.0) / 100.0]);
        assert_eq!(value(2).is_nan(), row % 7 == 3);
        assert_eq!([value(4), value(5)], [19_723.0 + number, 1.7e12 + 6e4 * number]);
        assert_eq!([value(6), value(7)], [(row % 3) as f64, f64::from(row % 2 == 0)]);
    }
    let colors = table.dictionary().feature(6).unwrap().categories.clone().unwrap();
    assert_eq!(colors.labels().collect::<Vec<_>>(), ["red", "green", "blue"]);
    let all = options.convert(ConversionPolicy::Exact);
    let part = open(&data("pyarrow.parquet")).options(all.columns([0, 1])).load_rows::<f32>(127..130).unwrap();
    assert_eq!(part.as_slice().unwrap(), [127.0, 127.0, 128.0, 128.0, 129.0, 129.0]);
    let error = open(&data("pyarrow.parquet")).load_columns().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported { column: Some(8), .. }), "{error}");
}

#[test]
fn a_file_of_polars() {
    let source = open(&data("polars.parquet")).options(exact().nulls_to(-1));
    let table = source.load::<f64>().unwrap();
    assert_eq!(table.shape(), Shape { rows: 300, columns: 3 });
    for (row, values) in table.as_slice().unwrap().chunks(3).enumerate() {
        let hole = if row % 5 == 0 { -1.0 } else { row as f64 };
        assert_eq!(values, [row as f64, row as f64 / 2.0, hole]);
    }
}

#[test]
fn pages_of_pyarrow_of_both_versions() {
    for name in ["pages-1.parquet", "pages-2.parquet"] {
        let source = open(&data(name)).options(exact().nulls_to(-1));
        let table = source.load::<f64>().unwrap();
        assert_eq!((source.row_group_count(), table.shape()), (2, Shape { rows: 1500, columns: 6 }));
        for (row, values) in table.as_slice().unwrap().chunks(6).enumerate() {
            let hole = if row >= 900 && row % 9 == 0 { -1.0 } else { row as f64 / 8.0 };
            let number = row as f64;
            let expected = [(row % 13) as f64 / 4.0, number * number / 2.0, 7.0, (row % 300) as f64];
            assert_eq!(values[..4], expected, "row {row} of {name}");
            assert_eq!(values[4..], [(row / 5) as f64 - 100.0, hole], "row {row} of {name}");
        }
        let columns = source.load_columns().unwrap();
        assert!(columns.column_slice::<i32>(2).unwrap().iter().all(|&value| value == 7));
        let rows = source.load_rows::<f64>(777..1203).unwrap();
        assert_eq!(rows.as_slice().unwrap(), &table.as_slice().unwrap()[6 * 777..6 * 1203]);
    }
}
