//! Stores that are folders: the objects are files.

use std::sync::Arc;
use std::time::Duration;

use crate::stores::{Faults, Faulty};
use numeric_table::{files, prelude::*};
use numeric_table_object_store::{StoreOptions, save_to_store};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use test_support::tables::LAYOUTS;

use crate::support::{open, other_kinds, path, run, save, table, values};

#[test]
fn objects_are_table_files_and_table_files_are_objects() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap());
    let file = folder.path().join("folder/table.ntb");
    run(async {
        for layout in LAYOUTS {
            let saved = table::<f32>(100_000, 5, layout);
            save(&*store, &saved).await.unwrap();
            assert_eq!(HomogenNumericTable::<f32>::load(&file).unwrap(), saved);
            let remote = open(store.clone()).await.unwrap();
            assert_eq!(remote.size_in_bytes(), std::fs::metadata(&file).unwrap().len());
            let rows = remote.load_rows::<f64>(99_000..).await.unwrap();
            assert_eq!(rows.as_slice().unwrap(), values(99_000..100_000, 5));
            assert_eq!(remote.load::<f32>().await.unwrap(), saved);

            table::<f32>(100_000, 5, layout).save(&file).unwrap();
            let error = remote.load_rows::<f64>(..).await.unwrap_err().to_string();
            assert!(error.starts_with("folder/table.ntb: the object was replaced"), "{error}");
        }
        for saved in other_kinds() {
            save(&*store, &*saved).await.unwrap();
            assert_eq!(files::load(&file).unwrap().kind(), saved.kind());
            let loaded = open(store.clone()).await.unwrap().load_any().await.unwrap();
            assert_eq!(loaded.rows::<f64>(..).unwrap()[..], saved.rows::<f64>(..).unwrap()[..]);
        }
    });
}

#[test]
fn a_save_that_fails_or_is_dropped_leaves_no_file() {
    let saved = table::<f32>(1_000_003, 3, DataLayout::RowMajor);
    for (faults, is_dropped) in [
        (Faults { part: Some(2), ..Faults::default() }, false),
        (Faults { complete: Some(0), ..Faults::default() }, false),
        (Faults { delay: Duration::from_secs(3600), ..Faults::default() }, true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let inner = Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap());
        run(async {
            let store = Faulty::new(inner, faults);
            let name = path();
            let saving = save_to_store(&store, &name, &saved, StoreOptions::new().parts(5 << 20, 2));
            match tokio::time::timeout(Duration::from_millis(if is_dropped { 200 } else { 60_000 }), saving).await {
                Ok(outcome) => assert!(!is_dropped && outcome.is_err()),
                Err(_) => assert!(is_dropped),
            }
            // What removes the file of a call that was dropped runs on a thread of the runtime.
            while std::fs::read_dir(folder.path().join("folder")).unwrap().count() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }
}
