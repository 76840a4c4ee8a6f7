//! What every kind of table can do: it is saved, archived, printed, written as text, held as `dyn`.

use numeric_table::prelude::*;
use numeric_table::table::spi::TableKind;
use numeric_table::{
    files::{self, SaveOptions},
    statistics::BasicStatistics,
};

use super::{Ramp, stacked, values_of};

#[test]
fn any_kind_of_table_is_saved_as_a_homogeneous_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 70_000, columns: 3 }));
    let tables: [&dyn NumericTable; 2] = [&stacked, &ramp];
    for table in tables {
        table.save_with(&path, SaveOptions::new().durable(false)).unwrap();
        let loaded = files::load(&path).unwrap();
        assert_eq!((loaded.shape(), loaded.uniform_type()), (table.shape(), table.uniform_type()));
        assert_eq!(values_of::<f64>(&*loaded), values_of::<f64>(table));
    }
}

#[test]
fn any_kind_of_table_has_statistics_and_is_printed() {
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 5, columns: 2 }));
    let tables: [(&dyn NumericTable, f64, &str); 2] = [
        (&stacked, 1.0, "5 x 2 i16, row major\n   0   1\n0  1   2\n1  3   4\n2  5   6\n3  7   8\n4  9  10"),
        (&ramp, 0.0, "5 x 2 i32, row major\n   0  1\n0  0  1\n1  2  3\n2  4  5\n3  6  7\n4  8  9"), // and no memory
    ];
    for (table, first, text) in tables {
        let statistics = BasicStatistics::compute(table).unwrap();
        for (column, first) in statistics.per_column().iter().zip([first, first + 1.0]) {
            assert_eq!((column.minimum(), column.maximum(), column.mean()), (first, first + 8.0, first + 4.0));
            assert_eq!(column.variance(), 10.0);
        }
        assert_eq!(table.to_string(), text);
    }
}

#[cfg(feature = "npy")]
#[test]
fn any_kind_of_table_is_written_as_a_numpy_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 200_000, columns: 3 }));
    let tables: [&dyn NumericTable; 2] = [&stacked, &ramp];
    for table in tables {
        let mut bytes = Vec::new();
        table.write_npy(&mut bytes).unwrap();
        table.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        let copy = numeric_table::npy::read(&bytes[..]).unwrap();
        assert_eq!((copy.shape(), copy.uniform_type()), (table.shape(), table.uniform_type()));
        assert_eq!(values_of::<f64>(&*copy), values_of::<f64>(table));
    }
}

#[cfg(feature = "csv")]
#[test]
fn any_kind_of_table_is_written_as_csv() {
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 2, columns: 3 }));
    let tables: [(&dyn NumericTable, &str); 2] = [(&stacked, "1,2\n3,4\n5,6\n7,8\n9,10\n"), (&ramp, "0,1,2\n3,4,5\n")];
    for (table, expected) in tables {
        let mut text = Vec::new();
        table.write_csv_to(&mut text, numeric_table::csv::CsvWriteOptions::new().header(false)).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}

#[test]
fn a_pipeline_holds_any_kind_of_table() {
    let mut tables: Vec<Box<dyn NumericTable>> = vec![
        Box::new(stacked::<u8>()),
        Box::new(Ramp::new(Shape { rows: 5, columns: 2 })),
        Box::new(HomogenNumericTable::full(Shape { rows: 5, columns: 2 }, 1.0_f32).unwrap()),
    ];
    let sums = tables.iter().map(|table| values_of::<f64>(&**table).iter().sum::<f64>()).collect::<Vec<_>>();
    assert_eq!(sums, [55.0, 45.0, 10.0]);
    let mut block = BlockDescriptor::<f32>::new();
    for table in &mut tables {
        table.get_block_of_rows(1, 2, ReadWriteMode::ReadOnly, &mut block).unwrap();
        assert_eq!((block.row_count(), block.column_count(), block.row_offset()), (2, 2, 1));
        table.release_block_of_rows(&mut block).unwrap();
        match table.resize(3).map_err(Error::into_kind) {
            Ok(()) => assert_eq!(table.shape(), Shape { rows: 3, columns: 2 }),
            Err(ErrorKind::ReadOnlyTable) => assert_eq!(table.shape(), Shape { rows: 5, columns: 2 }),
            Err(other) => panic!("{other:?}"),
        }
    }
    let rows = tables.iter().map(|table| table.row_count()).collect::<Vec<_>>();
    assert_eq!(rows, [3, 5, 3]); // what is computed changes in no way that it does not say
}

#[test]
fn what_a_custom_table_archives_is_read_as_a_homogeneous_one() {
    let table: Box<dyn NumericTable> = Box::new(stacked::<u8>());
    let copy = HomogenNumericTable::<u8>::from_bytes(&table.to_bytes().unwrap()).unwrap();
    assert_eq!(copy.as_slice().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let ramp: &dyn NumericTable = &Ramp::new(Shape { rows: 300, columns: 70 });
    let copy = files::from_bytes(&ramp.to_bytes().unwrap()).unwrap();
    assert_eq!((copy.kind(), copy.uniform_type()), (TableKind::HOMOGENEOUS, Some(ElementType::I32)));
    assert_eq!(values_of::<i32>(&*copy), (0..21_000).collect::<Vec<_>>());
}

#[test]
fn what_every_table_derives_from_its_dictionary_works_for_a_custom_one() {
    let mut table = stacked::<i32>();
    let features = ["kind", "size"].map(|name| Feature::new(ElementType::I32).named(name).categorical(3));
    table.set_dictionary(features.into_iter().collect()).unwrap();
    assert_eq!(table.feature_type(1).unwrap(), FeatureType::Categorical);
    assert_eq!(table.category_count(0).unwrap(), Some(3));
    table.reset_dictionary().unwrap();
    assert_eq!((table.feature_type(1).unwrap(), table.dictionary().index_of("kind")), (FeatureType::Continuous, None));
    assert_eq!((table.uniform_type(), table.column_type(1).unwrap()), (Some(ElementType::I32), ElementType::I32));
    assert!(
        table
            .column_type(2)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ColumnOutOfRange { column: 2, column_count: 2 }))
    );
}
