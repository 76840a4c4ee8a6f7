//! Saving: the bytes of a file, and nothing under the name before all of them have arrived, for every failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::stores::{Faults, Faulty};
use futures_util::TryStreamExt;
use numeric_table::prelude::*;
use numeric_table::table::spi::{Piece, TableId};
use numeric_table_object_store::{StoreOptions, save_to_store};
use object_store::memory::InMemory;
use object_store::{Error as StoreError, ObjectStore};
use test_support::tables::{LAYOUTS, assert_error};

use crate::support::{file, object, open, other_kinds, path, run, save, table};

/// A table whose file has three parts of 5 MiB, the last one shorter.
fn large(layout: DataLayout) -> HomogenNumericTable<f32> {
    table(1_000_003, 3, layout)
}

fn in_parts() -> StoreOptions {
    StoreOptions::new().parts(0, 2) // of 5 MiB, which is the least
}

#[test]
fn an_object_has_the_bytes_of_the_file() {
    run(async {
        let store = InMemory::new();
        let mut tables = other_kinds();
        for layout in LAYOUTS {
            tables.push(Box::new(table::<i16>(1000, 3, layout)));
            tables.push(Box::new(HomogenNumericTable::<f64>::full(Shape { rows: 0, columns: 3 }, 0.0).unwrap()));
        }
        for table in tables {
            for chunk_size in [None, Some(1), Some(1000), Some(1 << 20)] {
                let options = StoreOptions::new().checksums(chunk_size);
                save_to_store(&store, &path(), &*table, options).await.unwrap();
                assert!(object(&store).await.unwrap() == file(&*table, chunk_size), "{:?}", table.kind());
            }
        }
    });
}

#[test]
fn a_large_object_has_the_bytes_of_the_file() {
    run(async {
        let store = Arc::new(Faulty::new(Arc::new(InMemory::new()), Faults::default()));
        let mut columns = numeric_table::SoaNumericTable::new();
        columns.push_column("a", (0..3_000_001).map(|row| row as u8).collect::<Vec<_>>()).unwrap();
        columns.push_column("b", (0..3_000_001).map(|row| row as f32).collect::<Vec<_>>()).unwrap();
        let tables: [(Box<dyn NumericTable>, usize); 3] = [
            (Box::new(large(DataLayout::RowMajor)), 3),
            (Box::new(large(DataLayout::ColumnMajor)), 3),
            (Box::new(columns), 3),
        ];
        for (saved, parts) in tables {
            let before = store.uploads();
            save_to_store(&*store, &path(), &*saved, in_parts()).await.unwrap();
            assert_eq!(store.uploads(), [before[0] + parts, before[1] + 1, 0]);
            assert!(object(&*store).await.unwrap() == file(&*saved, Some(1 << 20)));
        }
    });
}

#[test]
fn no_more_parts_are_sent_at_a_time_than_are_set() {
    run(async {
        let faults = Faults { delay: Duration::from_millis(5), ..Faults::default() };
        let store = Faulty::new(Arc::new(InMemory::new()), faults);
        save_to_store(&store, &path(), &large(DataLayout::RowMajor), in_parts()).await.unwrap();
        assert_eq!(store.most_at_once(), 2);
    });
}

#[test]
fn whatever_fails_the_old_object_stays_and_the_upload_is_aborted() {
    let none = Faults::default;
    run(async {
        let old = table::<i16>(5, 3, DataLayout::RowMajor);
        let saved = large(DataLayout::RowMajor);
        for (faults, aborted) in [
            (Faults { create: Some(0), ..none() }, 0),
            (Faults { part: Some(0), ..none() }, 1),
            (Faults { part: Some(1), ..none() }, 1),
            (Faults { part: Some(2), ..none() }, 1),
            (Faults { complete: Some(0), ..none() }, 1),
        ] {
            let inner = Arc::new(InMemory::new());
            save(&*inner, &old).await.unwrap();
            let store = Faulty::new(inner.clone(), faults);
            let error = save_to_store(&store, &path(), &saved, in_parts()).await.unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::Foreign { .. }) && error.path() == Some("folder/table.ntb".as_ref())
            );
            assert_eq!(store.uploads()[2], aborted);
            assert_eq!(object(&*inner).await, Some(file(&old, Some(1 << 20))));
            save_to_store(&store, &path(), &saved, in_parts()).await.unwrap(); // the next call succeeds
            assert_eq!(open(inner).await.unwrap().shape(), saved.shape());
        }
        let inner = Arc::new(InMemory::new());
        save(&*inner, &old).await.unwrap();
        let store = Faulty::new(inner.clone(), Faults { put: Some(0), ..none() });
        assert_error!(save(&store, &table::<f64>(9, 9, DataLayout::RowMajor)).await, ErrorKind::Foreign { .. });
        assert_eq!(object(&*inner).await, Some(file(&old, Some(1 << 20))));
    });
}

#[test]
fn an_upload_is_aborted_when_no_part_of_it_is_on_its_way() {
    run(async {
        for at_once in [2, 3] {
            let faults = Faults { part: Some(1), delay: Duration::from_millis(200), ..Faults::default() };
            let store = Faulty::new(Arc::new(InMemory::new()), faults);
            let options = StoreOptions::new().parts(0, at_once);
            let saved = large(DataLayout::RowMajor);
            assert_error!(save_to_store(&store, &path(), &saved, options).await, ErrorKind::Foreign { .. });
            assert_eq!(store.most_at_once(), at_once - 1); // parts that arrive after the end would stay
            assert_eq!((store.unfinished(), store.uploads()), (0, [at_once, 0, 1]));
        }
    });
}

#[test]
fn a_call_that_is_dropped_leaves_nothing_under_the_name() {
    run(async {
        let inner = Arc::new(InMemory::new());
        let store = Faulty::new(inner.clone(), Faults { delay: Duration::from_secs(3600), ..Faults::default() });
        let saved = large(DataLayout::RowMajor);
        let name = path();
        let saving = save_to_store(&store, &name, &saved, in_parts());
        assert!(tokio::time::timeout(Duration::from_millis(200), saving).await.is_err());
        assert_eq!(store.uploads()[..2], [2, 0]); // two parts were on their way
        assert_eq!(object(&*inner).await, None);
        assert!(inner.list(None).try_collect::<Vec<_>>().await.unwrap().is_empty());
    });
}

#[test]
fn an_object_that_is_only_to_be_created_is_not_replaced() {
    run(async {
        let store = InMemory::new();
        let (first, second) = (large(DataLayout::RowMajor), table::<i16>(5, 3, DataLayout::RowMajor));
        let options = in_parts().create_only(true);
        save_to_store(&store, &path(), &first, options.clone()).await.unwrap(); // in one request
        for table in [&first as &dyn NumericTable, &second] {
            let error = save_to_store(&store, &path(), table, options.clone()).await.unwrap_err();
            assert_eq!(error.to_string(), "folder/table.ntb: the object already exists");
            assert_error!(
                Err::<(),
                _>(error), ErrorKind::Foreign { source, .. }
                    if matches!(source.downcast_ref(), Some(StoreError::AlreadyExists { .. }))
            );
        }
        assert!(object(&store).await.unwrap() == file(&first, Some(1 << 20)));
    });
}

/// A table that cannot be read from some row on.
struct Torn {
    dictionary: DataDictionary,
    id: TableId,
    from: usize,
}

impl NumericTable for Torn {
    fn shape(&self) -> Shape {
        Shape { rows: 2_000_000, columns: 1 }
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn piece(&self, _: usize, _: usize) -> Result<Option<Piece<'_>>, Error> {
        Ok(None)
    }

    fn read_region(
        &self,
        region: &numeric_table::table::spi::Region,
        target: numeric_table::table::spi::Target<'_>,
    ) -> Result<(), Error> {
        if region.rows.end > self.from {
            return Err(Error::other("the rest is missing"));
        }
        let values = vec![1.5_f64; region.rows.len()];
        let whole = HomogenNumericTable::from_array(values, region.shape())?;
        whole.read_region(&numeric_table::table::spi::Region { rows: 0..region.rows.len(), columns: 0..1 }, target)
    }
}

#[test]
fn a_table_that_cannot_be_read_to_its_end_leaves_the_old_object() {
    run(async {
        for (from, begun) in [(0, 0), (1_000_000, 1), (1_999_999, 2)] {
            let inner = Arc::new(InMemory::new());
            let old = table::<i16>(5, 3, DataLayout::RowMajor);
            save(&*inner, &old).await.unwrap();
            let store = Faulty::new(inner.clone(), Faults::default());
            let torn = Torn {
                dictionary: DataDictionary::uniform(Feature::new(ElementType::F64), 1),
                id: TableId::new(),
                from,
            };
            let error = save_to_store(&store, &path(), &torn, in_parts()).await.unwrap_err();
            assert_eq!(error.to_string(), "the rest is missing");
            assert_eq!((store.uploads()[0] >= begun, store.uploads()[1], store.uploads()[2]), (true, 0, 1));
            assert_eq!(object(&*inner).await, Some(file(&old, Some(1 << 20))));
        }
    });
}

#[test]
fn progress_ends_with_all_bytes_of_values_and_saving_can_run_on_another_task() {
    let done = Arc::new(AtomicU64::new(0));
    let seen = done.clone();
    run(async move {
        let options = in_parts().on_progress(move |progress| {
            assert_eq!(progress.total, Some(12_000_036));
            seen.store(progress.done, Ordering::SeqCst);
        });
        let store = InMemory::new();
        let task = async move { save_to_store(&store, &path(), &large(DataLayout::RowMajor), options).await };
        tokio::spawn(task).await.unwrap().unwrap();
    });
    assert_eq!(done.load(Ordering::SeqCst), 12_000_036);
}
