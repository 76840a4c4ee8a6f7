//! A server that speaks S3, over a socket.

use std::sync::Arc;

use crate::stores::{Faults, Faulty, S3Server};
use numeric_table::prelude::*;
use numeric_table_object_store::{StoreOptions, save_to_store};
use object_store::{Error as StoreError, ObjectStore};
use test_support::tables::{LAYOUTS, assert_error};

use crate::support::{file, object, open, other_kinds, path, run, save, table, values};

#[test]
fn tables_are_saved_read_and_replaced_on_a_server_of_s3() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let server = S3Server::start(folder.path()).await;
        let store: Arc<dyn ObjectStore> = Arc::new(server.store());
        assert_error!(
            open(store.clone()).await,
            ErrorKind::Foreign { source, .. } if matches!(source.downcast_ref(), Some(StoreError::NotFound { .. }))
        );

        for layout in LAYOUTS {
            let saved = table::<f32>(20_000, 3, layout);
            save(&*store, &saved).await.unwrap();
            assert!(object(&*store).await.unwrap() == file(&saved, Some(1 << 20)));
            let remote = open(store.clone()).await.unwrap();
            assert_eq!(remote.load_rows::<f64>(7..19_000).await.unwrap().as_slice().unwrap(), values(7..19_000, 3));
            assert_eq!(remote.load::<f32>().await.unwrap(), saved);
            assert!(remote.verify().await.unwrap());

            save(&*store, &table::<f32>(20_001, 3, layout)).await.unwrap();
            let error = remote.load_rows::<f64>(..).await.unwrap_err();
            assert!(error.to_string().starts_with("folder/table.ntb: the object was replaced"), "{error}");
        }
        for saved in other_kinds() {
            save(&*store, &*saved).await.unwrap();
            let loaded = open(store.clone()).await.unwrap().load_any().await.unwrap();
            assert_eq!(loaded.kind(), saved.kind());
            assert_eq!(loaded.rows::<f64>(..).unwrap()[..], saved.rows::<f64>(..).unwrap()[..]);
        }
        let options = StoreOptions::new().create_only(true);
        let error = save_to_store(&*store, &path(), &table::<f32>(3, 2, DataLayout::RowMajor), options).await;
        assert_error!(
            error,
            ErrorKind::Foreign { source, .. }
                if matches!(source.downcast_ref(), Some(StoreError::AlreadyExists { .. }))
        );
    });
}

#[test]
fn a_large_table_is_sent_in_parts_to_a_server_of_s3_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let server = S3Server::start(folder.path()).await;
        let inner: Arc<dyn ObjectStore> = Arc::new(server.store());
        let saved = table::<f32>(1_000_003, 3, DataLayout::RowMajor);
        let options = StoreOptions::new().parts(5 << 20, 2);

        let store = Faulty::new(inner.clone(), Faults { part: Some(2), ..Faults::default() });
        assert_error!(save_to_store(&store, &path(), &saved, options.clone()).await, ErrorKind::Foreign { .. });
        assert_eq!(store.uploads(), [3, 0, 1]);
        assert_eq!(object(&*inner).await, None);
        assert!(parts_in(folder.path()).is_empty()); // the upload was aborted

        save_to_store(&store, &path(), &saved, options).await.unwrap();
        assert!(object(&*inner).await.unwrap() == file(&saved, Some(1 << 20)));
        let remote = open(inner).await.unwrap().with_requests(1 << 20, 4);
        assert_eq!(remote.load::<f32>().await.unwrap(), saved);
        let rows = remote.load_rows::<f64>(500_000..500_010).await.unwrap();
        assert_eq!(rows.as_slice().unwrap(), values(500_000..500_010, 3));
    });
}

/// The files of parts that the server keeps.
fn parts_in(root: &std::path::Path) -> Vec<std::ffi::OsString> {
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().contains(".part-")).collect()
}
