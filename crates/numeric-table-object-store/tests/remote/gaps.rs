//! Tables with missing values: the same bytes as a saved file, and the same gaps after loading.

use std::sync::Arc;

use numeric_table::prelude::*;
use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use test_support::gaps::{assert_same_cells, gaps_of_every_type};
use test_support::tables::assert_error;

use crate::support::{file, object, path, run};

#[test]
fn an_object_keeps_gaps_and_has_the_bytes_of_the_file() {
    run(async {
        for rows in [0, 1, 64, 777] {
            let table = gaps_of_every_type(rows);
            for chunk_size in [None, Some(1000)] {
                let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                let options = StoreOptions::new().checksums(chunk_size);
                save_to_store(&*store, &path(), &table, options).await.unwrap();
                assert!(object(&*store).await.unwrap() == file(&table, chunk_size));
                let remote = RemoteTable::open(store, &path()).await.unwrap();
                assert_eq!((remote.dictionary(), remote.shape()), (table.dictionary(), table.shape()));
                assert_eq!(remote.verify().await.unwrap(), chunk_size.is_some());
                assert_same_cells(&*remote.load_any().await.unwrap(), &table);
            }
        }
    });
}

#[test]
fn a_part_of_a_large_table_with_gaps_is_one_object() {
    run(async {
        let mut table = numeric_table::SoaNumericTable::new();
        let rows = 3_000_001;
        table.push_optional("a", (0..rows).map(|row| (row % 7 != 3).then_some(row as u32))).unwrap();
        table.push_optional("b", (0..rows).map(|row| (row % 1001 != 0).then_some(row as u8))).unwrap();
        let view = table.select_rows(1..rows).unwrap(); // bitmaps begin inside a byte
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        save_to_store(&*store, &path(), &*view, StoreOptions::new().parts(0, 2)).await.unwrap();
        let remote = RemoteTable::open(store, &path()).await.unwrap();
        assert_same_cells(&*remote.load_any().await.unwrap(), &*view);
    });
}

#[test]
fn a_remote_cast_shows_gaps_as_nan_and_rows_are_only_those_of_homogeneous_tables() {
    run(async {
        let mut table = numeric_table::SoaNumericTable::new();
        table.push_optional("a", [Some(1_i16), None]).unwrap();
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        save_to_store(&*store, &path(), &table, StoreOptions::new()).await.unwrap();
        let remote = RemoteTable::open(store, &path()).await.unwrap();
        let found = remote.load_cast::<f64>().await.unwrap();
        assert!(found.as_slice().unwrap()[0] == 1.0 && found.as_slice().unwrap()[1].is_nan());
        assert_error!(remote.load_cast::<i16>().await, ErrorKind::MissingValue { row: 1, column: 0 });
        assert_error!(remote.load_rows::<f64>(..).await, ErrorKind::TableKindMismatch { .. });
    });
}
