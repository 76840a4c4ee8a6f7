//! What comes back of a table from a file, from an archive and through serde.

use numeric_table::files::{self, SaveOptions, TableReader, verify};
use numeric_table::prelude::*;
use numeric_table::table::spi::TableKind;
use test_support::tables::assert_error;

use super::Boxed;

/// Checks that a table of a kind, with these values, comes back as the kind `saved`, with its dictionary: as what it
/// was, or, if its kind has no name in files, as what it showed.
pub(super) fn check(table: &mut dyn NumericTable, values: &[f64], kind: TableKind, saved: TableKind) {
    assert_eq!(table.kind(), kind);
    let features = table.dictionary().iter().enumerate();
    let named = features.map(|(i, old)| Feature::new(old.element_type).named(format!("n{i}"))).collect();
    table.set_dictionary(named).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    table.save_with(&path, SaveOptions::new().checksums(Some(32))).unwrap();
    assert!(verify(&path).unwrap());
    let copies: [Boxed; 4] = [
        files::load(&path).unwrap(),
        files::from_bytes(&table.to_bytes().unwrap()).unwrap(),
        serde_json::from_str(&serde_json::to_string(&*table).unwrap()).unwrap(),
        serde_json::from_value(serde_json::to_value(&*table).unwrap()).unwrap(),
    ];
    for copy in copies {
        assert_eq!((copy.kind(), copy.shape()), (saved, table.shape()));
        assert_eq!(copy.dictionary(), table.dictionary());
        assert_eq!(copy.rows::<f64>(..).unwrap()[..], *values);
        assert_eq!(copy.data_memory_status(), MemoryStatus::InternallyAllocated);
        if saved == kind {
            assert_eq!(copy.to_bytes().unwrap(), table.to_bytes().unwrap()); // all that a kind consists of
        }
    }
    let wide = HomogenNumericTable::<f64>::load_cast(&path).unwrap();
    assert_eq!(wide.rows::<f64>(..).unwrap()[..], *values);
    assert_eq!(wide.dictionary().index_of("n3"), Some(3));
    if saved != TableKind::HOMOGENEOUS {
        assert_error!(HomogenNumericTable::<f64>::load(&path), ErrorKind::TableKindMismatch { .. });
        assert_error!(TableReader::open(&path), ErrorKind::TableKindMismatch { .. });
    }
}
