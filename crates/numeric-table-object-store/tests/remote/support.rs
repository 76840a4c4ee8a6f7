//! Runtimes, tables whose values are known without the library, and their files.

use std::sync::Arc;
use std::time::Duration;

use crate::stores::{Faults, Faulty};
use numeric_table::{
    AosNumericTable, CsrNumericTable, PackedSymmetricMatrix, SoaNumericTable, files::SaveOptions, impl_record,
    prelude::*, table::Triangle,
};
use numeric_table_object_store::{RemoteTable, StoreOptions, save_to_store};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

/// Runs a test on a runtime of two threads; one that hangs fails.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(120), test).await.expect("it ends") })
}

pub(crate) fn path() -> Path {
    Path::from("folder/table.ntb")
}

/// The value of [`table`] at a position: a different one in each row and column.
pub(crate) fn value(row: usize, column: usize) -> i32 {
    (row * 7 + column * 1000) as i32 % 30_000
}

/// The values of some rows, row by row.
pub(crate) fn values(rows: std::ops::Range<usize>, columns: usize) -> Vec<f64> {
    rows.flat_map(|row| (0..columns).map(move |column| f64::from(value(row, column)))).collect()
}

/// A table of known values, which fit every type of 16 bits and more.
pub(crate) fn table<T: Element>(rows: usize, columns: usize, layout: DataLayout) -> HomogenNumericTable<T> {
    let values: Vec<i32> = match layout {
        DataLayout::RowMajor => (0..rows * columns).map(|i| value(i / columns, i % columns)).collect(),
        _ => (0..rows * columns).map(|i| value(i % rows, i / rows)).collect(),
    };
    HomogenNumericTable::from_array_with_layout(values, Shape { rows, columns }, layout).unwrap().convert().unwrap()
}

#[derive(Clone, Copy)]
struct Record {
    count: i16,
    size: f64,
}
impl_record!(Record { count, size });

/// A table of each kind that is not homogeneous; the first arrays end within 64 bytes, so that there is padding.
pub(crate) fn other_kinds() -> Vec<Box<dyn NumericTable>> {
    let mut columns = SoaNumericTable::new();
    columns.push_column("a", (0..3001).map(|row| row as u8).collect::<Vec<_>>()).unwrap();
    columns.push_feature(Feature::new(ElementType::F64), (0..3001).map(f64::from).collect::<Vec<_>>()).unwrap();
    let sparse = CsrNumericTable::from_dense::<i16>(&table::<i16>(100, 7, DataLayout::RowMajor)).unwrap();
    let packed: Vec<f32> = (0..45).map(|i| i as f32).collect();
    let packed = PackedSymmetricMatrix::from_packed(packed, Triangle::Lower, DataLayout::RowMajor).unwrap();
    let records: Vec<Record> = (0..50).map(|i| Record { count: i, size: f64::from(i) / 4.0 }).collect();
    let records = AosNumericTable::from_records(records).unwrap();
    vec![Box::new(columns), Box::new(sparse), Box::new(packed), Box::new(records)]
}

/// The file that saving writes.
pub(crate) fn file(table: &dyn NumericTable, chunk_size: Option<u32>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    table.save_with(&path, SaveOptions::new().durable(false).checksums(chunk_size)).unwrap();
    std::fs::read(path).unwrap()
}

/// A store in memory with one object of these bytes.
pub(crate) async fn store_of(bytes: Vec<u8>) -> Arc<dyn ObjectStore> {
    let store = InMemory::new();
    store.put(&path(), bytes.into()).await.unwrap();
    Arc::new(store)
}

/// A store in memory with one table, which fails on demand.
pub(crate) async fn faulty(table: &dyn NumericTable, faults: Faults) -> Arc<Faulty> {
    let bytes = file(table, Some(4096));
    Arc::new(Faulty::new(store_of(bytes).await, faults))
}

/// Opens an object to be read by small requests.
pub(crate) async fn open(store: Arc<dyn ObjectStore>) -> Result<RemoteTable, Error> {
    Ok(RemoteTable::open(store, &path()).await?.with_requests(4096, 3))
}

pub(crate) async fn save(store: &dyn ObjectStore, table: &dyn NumericTable) -> Result<(), Error> {
    save_to_store(store, &path(), table, StoreOptions::new()).await
}

/// The bytes of the object; `None` if there is none.
pub(crate) async fn object(store: &dyn ObjectStore) -> Option<Vec<u8>> {
    match store.get(&path()).await {
        Ok(found) => Some(found.bytes().await.unwrap().to_vec()),
        Err(object_store::Error::NotFound { .. }) => None,
        Err(other) => panic!("{other}"),
    }
}
