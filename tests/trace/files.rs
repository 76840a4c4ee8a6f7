//! Files, archives and arrays of other libraries: what is loaded, saved and exchanged, and what is mapped.

use numeric_table::files::{self, TableReader, TableWriter};
use numeric_table::interop::CopyPolicy;
use numeric_table::prelude::*;
use numeric_table::trace::{CopyKind, copies_of};
use numeric_table::{SoaNumericTable, csv::CsvSource};
use test_support::tables::*;

use super::{NOTHING, copies};
use CopyKind::{Exchanged, Loaded, Saved};
use DataLayout::{ColumnMajor, RowMajor};

#[test]
fn table_files_are_saved_and_loaded_or_mapped() {
    let folder = tempfile::tempdir().unwrap();
    for layout in LAYOUTS {
        let (table, path) = (numbered::<f32>(4, 3, layout), folder.path().join("table.ntb"));
        assert_eq!(copies(|| table.save(&path).unwrap()), [(Saved, 1, 48)]);
        assert_eq!(copies(|| HomogenNumericTable::<f32>::load(&path).unwrap()), [(Loaded, 1, 48)]);
        assert_eq!(copies(|| HomogenNumericTable::<f64>::load_cast(&path).unwrap()), [(Loaded, 1, 96)]);
        assert_eq!(copies(|| files::load(&path).unwrap()), [(Loaded, 1, 48)]);
        assert_eq!(copies(|| files::verify(&path).unwrap()), NOTHING);
        // SAFETY: no other program changes the file.
        let mapped = copies(|| unsafe { HomogenNumericTable::<f32>::map(&path) }.unwrap().view().map(|_| ()).unwrap());
        assert_eq!(mapped, NOTHING);
        let reader = TableReader::open(&path).unwrap();
        assert_eq!(copies(|| reader.load_rows::<f32>(1..3).unwrap()), [(Loaded, 1, 24)]);
        assert_eq!(copies(|| reader.load_rows::<f64>(1..3).unwrap()), [(Loaded, 1, 48)]);
    }
    let mut columns = SoaNumericTable::new();
    columns.push_column("a", Array::from(vec![1.0_f32, 2.0])).unwrap();
    columns.push_column("b", Array::from(vec![1_u8, 2])).unwrap();
    let path = folder.path().join("columns.ntb");
    let (_, saved) = copies_of(|| columns.save(&path).unwrap());
    assert!(saved.of(Saved).bytes >= 10 && saved.total().count == 1, "{saved}"); // with padding between arrays
    assert_eq!(copies(|| files::load(&path).unwrap()), [(Loaded, 2, 10)]);
    let streamed = copies(|| {
        let mut writer = TableWriter::<f64>::create(folder.path().join("stream.ntb"), 3, None).unwrap();
        writer.append(&[1.0; 6]).unwrap();
        writer.append_table(&numbered::<f64>(2, 3, RowMajor)).unwrap();
        writer.finish().unwrap();
    });
    assert_eq!(streamed, [(Saved, 2, 96)]);
}

#[test]
fn files_that_are_one_table_are_loaded_one_by_one() {
    use numeric_table::shards::Shards;
    let folder = tempfile::tempdir().unwrap();
    numbered::<i16>(4, 3, RowMajor).save(folder.path().join("a.ntb")).unwrap();
    numbered::<i16>(2, 3, ColumnMajor).save(folder.path().join("b.ntb")).unwrap();
    let shards = Shards::from_paths(["a.ntb", "b.ntb"].map(|name| folder.path().join(name))).unwrap();
    let (_, report) = copies_of(|| shards.load_rows::<i16>(..).unwrap());
    assert_eq!((report.of(Loaded).bytes, report.total().bytes), (36, 36), "{report}");
}

#[test]
fn archives_are_saved_and_loaded() {
    let table = numbered::<i16>(4, 3, RowMajor);
    let (bytes, report) = copies_of(|| table.to_bytes().unwrap());
    assert_eq!((report.of(Saved).bytes, report.total().count), (bytes.len() as u64, 1));
    let loaded = [(Loaded, 1, bytes.len() as u64)];
    assert_eq!(copies(|| HomogenNumericTable::<i16>::from_bytes(&bytes).unwrap()), loaded);
    assert_eq!(copies(|| files::from_bytes(&bytes).unwrap()), loaded);
}

#[test]
fn npy_files_are_saved_loaded_mapped_and_shared() {
    let folder = tempfile::tempdir().unwrap();
    let (table, path) = (numbered::<f32>(4, 3, ColumnMajor), folder.path().join("table.npy"));
    assert_eq!(copies(|| table.save_npy(&path).unwrap()), [(Saved, 1, 48)]);
    let mut bytes = Vec::new();
    assert_eq!(copies(|| table.write_npy(&mut bytes).unwrap()), [(Saved, 1, 48)]);
    assert_eq!(copies(|| HomogenNumericTable::<f32>::load_npy(&path).unwrap()), [(Loaded, 1, 48)]);
    assert_eq!(copies(|| HomogenNumericTable::<f32>::read_npy(&bytes[..]).unwrap()), [(Loaded, 1, 48)]);
    assert_eq!(copies(|| HomogenNumericTable::<f64>::load_npy_cast(&path).unwrap()), [(Loaded, 1, 96)]);
    // SAFETY: no other program changes the file.
    assert_eq!(copies(|| unsafe { HomogenNumericTable::<f32>::map_npy(&path) }.unwrap()), NOTHING);
    let bytes = Array::copy_of(&bytes).unwrap();
    assert_eq!(copies(|| HomogenNumericTable::<f32>::from_npy(bytes.clone(), CopyPolicy::Never).unwrap()), NOTHING);
    assert_eq!(
        copies(|| HomogenNumericTable::<f32>::from_npy(bytes.clone(), CopyPolicy::Always).unwrap()),
        [(Loaded, 1, 48)]
    );
}

#[test]
fn text_files_count_the_values_and_not_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let (table, path) = (numbered::<f32>(4, 3, RowMajor), folder.path().join("table.csv"));
    assert_eq!(copies(|| table.write_csv(&path).unwrap()), [(Saved, 1, 48)]);
    let source = CsvSource::open(&path).unwrap();
    assert_eq!(copies(|| source.load::<f64>().unwrap()), [(Loaded, 1, 96)]);
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray_arrays_are_shared_or_exchanged() {
    use ndarray::{Array2, s};
    let array = || Array2::<f32>::zeros((4, 3));
    let shared = array();
    assert_eq!(copies(|| HomogenNumericTable::from_ndarray(shared).unwrap()), NOTHING);
    let lent = array();
    assert_eq!(copies(|| HomogenNumericTable::from_ndarray(&lent).unwrap()), [(Exchanged, 1, 48)]);
    assert_eq!(copies(|| HomogenNumericTable::from_ndarray(lent.slice(s![.., 1..])).unwrap()), [(Exchanged, 1, 32)]);
    let table = numbered::<f32>(4, 3, RowMajor);
    assert_eq!(copies(|| table.view().unwrap().as_ndarray().map(|view| view.sum()).unwrap()), NOTHING);
    assert_eq!(copies(|| Array2::try_from(&table).unwrap()), [(Exchanged, 1, 48)]);
    assert_eq!(copies(|| Array2::try_from(table).unwrap()), NOTHING);
}
