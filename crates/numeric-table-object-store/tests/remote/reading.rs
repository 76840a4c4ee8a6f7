//! Reading: whole tables, some rows, and blocks of rows, by as many bytes and requests as are needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::stores::Faults;
use futures_util::{FutureExt, StreamExt};
use numeric_table::prelude::*;
use numeric_table_object_store::RemoteTable;
use object_store::{GetResult, GetResultPayload, ObjectStore};
use test_support::tables::{LAYOUTS, assert_error, values_of};

use crate::support::{faulty, file, open, other_kinds, path, run, store_of, table, value, values};

/// Sends what a store sends in pieces of 1 to 13 bytes, so that values are cut.
fn crumbs(_: usize, found: GetResult) -> GetResult {
    let (meta, range, attributes, extensions) =
        (found.meta.clone(), found.range.clone(), found.attributes.clone(), Default::default());
    let pieces = found.into_stream().flat_map(|bytes| {
        let (bytes, mut at, mut length) = (bytes.unwrap(), 0, 0);
        futures_util::stream::iter(std::iter::from_fn(move || {
            length = length % 13 + 1;
            let end = bytes.len().min(at + length);
            let piece = bytes.slice(at..end);
            at = end;
            (!piece.is_empty()).then_some(Ok(piece))
        }))
    });
    GetResult { payload: GetResultPayload::Stream(pieces.boxed()), meta, range, attributes, extensions }
}

#[test]
fn rows_are_those_of_the_table_in_any_layout_type_and_range() {
    async fn check<T: Element>(layout: DataLayout, answer: Option<fn(usize, GetResult) -> GetResult>) {
        let store = faulty(&table::<T>(2500, 3, layout), Faults { answer, ..Faults::default() }).await;
        let remote = open(store).await.unwrap();
        assert_eq!((remote.shape(), remote.uniform_type()), (Shape { rows: 2500, columns: 3 }, Some(T::TYPE)));
        assert_eq!(remote.data_layout(), Some(layout));
        for rows in [0..0, 0..1, 7..8, 0..2500, 1..2499, 1000..2400, 2500..2500] {
            let same = remote.load_rows::<T>(rows.clone()).await.unwrap().convert::<f64>().unwrap();
            assert_eq!((same.data_layout(), same.shape().rows), (DataLayout::RowMajor, rows.len()));
            assert_eq!(same.as_slice().unwrap(), values(rows.clone(), 3), "{layout:?} {rows:?}");
            let converted = remote.load_rows::<f64>(rows.clone()).await.unwrap();
            assert_eq!(converted.as_slice().unwrap(), values(rows.clone(), 3), "{layout:?} {rows:?}");
        }
        assert_error!(remote.load_rows::<f64>(1..2501).await, ErrorKind::RowsOutOfRange { row_count: 2500, .. });
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = 3..2;
        assert_error!(remote.load_rows::<f64>(reversed).await, ErrorKind::RowsOutOfRange { .. });
    }
    run(async {
        for layout in LAYOUTS {
            for answer in [None, Some(crumbs as fn(usize, GetResult) -> GetResult)] {
                check::<i16>(layout, answer).await;
                check::<f32>(layout, answer).await;
                check::<f64>(layout, answer).await;
                check::<u64>(layout, answer).await;
            }
        }
    });
}

#[test]
fn whole_tables_of_every_kind_are_those_that_were_saved() {
    run(async {
        for layout in LAYOUTS {
            let saved = table::<f32>(3000, 3, layout);
            let remote =
                open(faulty(&saved, Faults { answer: Some(crumbs), ..Faults::default() }).await).await.unwrap();
            let loaded = remote.load::<f32>().await.unwrap();
            assert_eq!((loaded.data_layout(), &loaded), (layout, &saved));
            let converted = remote.load_cast::<i32>().await.unwrap();
            assert_eq!(converted.data_layout(), layout);
            assert!(values_of(&converted).iter().enumerate().all(|(i, &found)| found == value(i / 3, i % 3)));
            assert_eq!(remote.load_any().await.unwrap().uniform_type(), Some(ElementType::F32));
            assert!(remote.verify().await.unwrap());
        }
        for saved in other_kinds() {
            for chunk_size in [None, Some(1), Some(100), Some(1 << 20)] {
                let remote = open(store_of(file(&*saved, chunk_size)).await).await.unwrap();
                assert_eq!((remote.shape(), remote.data_layout()), (saved.shape(), None));
                let loaded = remote.load_any().await.unwrap();
                assert_eq!((loaded.kind(), loaded.dictionary()), (saved.kind(), saved.dictionary()));
                assert_eq!(loaded.rows::<f64>(..).unwrap()[..], saved.rows::<f64>(..).unwrap()[..]);
                let converted = remote.load_cast::<f64>().await.unwrap();
                assert_eq!(values_of(&converted), saved.rows::<f64>(..).unwrap()[..]);
                assert_eq!(remote.verify().await.unwrap(), chunk_size.is_some());
            }
        }
    });
}

#[test]
fn a_table_of_another_kind_has_no_rows_to_read_and_another_type_is_refused() {
    run(async {
        let saved = &other_kinds()[1];
        let remote = open(store_of(file(&**saved, None)).await).await.unwrap();
        let expected = "folder/table.ntb: the table is of kind csr, not homogeneous";
        for error in [
            remote.load_rows::<f64>(..).await.map(drop).unwrap_err(),
            remote.load::<i16>().await.map(drop).unwrap_err(),
            remote.row_blocks::<f64>(1).map(drop).unwrap_err(),
        ] {
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        let remote = open(store_of(file(&table::<i16>(3, 2, DataLayout::RowMajor), None)).await).await.unwrap();
        let error = remote.load::<f32>().await.unwrap_err().to_string();
        assert_eq!(error, "folder/table.ntb: the element type is i16, not f32: `load_cast` converts");
        assert_error!(remote.row_blocks::<f64>(0), ErrorKind::ParameterOutOfRange { .. }, "rows of a block");
    });
}

#[test]
fn opening_takes_one_request_and_a_long_description_another() {
    run(async {
        let store = faulty(&table::<i16>(2000, 3, DataLayout::RowMajor), Faults::default()).await;
        open(store.clone()).await.unwrap();
        assert_eq!(store.ranges().iter().collect::<Vec<_>>(), [&(0..65536)]);

        let names: Vec<String> = (0..3000).map(|column| format!("the name of column {column}")).collect();
        let wide = table::<i16>(2, 3000, DataLayout::RowMajor);
        let names = wide.dictionary().with_names(names).unwrap();
        let wide = wide.with_dictionary(names).unwrap();
        let store = faulty(&wide, Faults::default()).await;
        let remote = open(store.clone()).await.unwrap();
        assert_eq!(store.ranges().len(), 2);
        assert_eq!(store.ranges()[1].start, 65536);
        assert_eq!(remote.dictionary(), wide.dictionary());
        assert_eq!(remote.load::<i16>().await.unwrap(), wide);
    });
}

#[test]
fn only_the_bytes_of_the_rows_are_requested() {
    run(async {
        let store = faulty(&table::<i16>(9000, 4, DataLayout::RowMajor), Faults::default()).await;
        let remote = open(store.clone()).await.unwrap();
        remote.load_rows::<f64>(100..1300).await.unwrap(); // 8 bytes for each row, from 4096 on
        assert_eq!(store.ranges()[1..], [4896..8992, 8992..13088, 13088..14496]);
        remote.load_rows::<f64>(7..7).await.unwrap();
        assert_eq!(store.ranges().len(), 4);
    });
}

#[test]
fn columns_share_a_request_where_little_is_between_them() {
    run(async {
        // 300 bytes for each of 5 columns: 100 of each of 3 are within 4096 bytes of each other.
        let store = faulty(&table::<i16>(750, 5, DataLayout::ColumnMajor), Faults::default()).await;
        let remote = open(store.clone()).await.unwrap();
        let found = remote.load_rows::<f64>(100..150).await.unwrap();
        assert_eq!(found.as_slice().unwrap(), values(100..150, 5));
        assert_eq!(store.ranges()[1..], [4296..7396, 8796..10396]);

        // 400,000 bytes between two of them.
        let store = faulty(&table::<i16>(200_000, 3, DataLayout::ColumnMajor), Faults::default()).await;
        let remote = RemoteTable::open(store.clone(), &path()).await.unwrap(); // by large requests
        let found = remote.load_rows::<f64>(199_990..).await.unwrap();
        assert_eq!(found.as_slice().unwrap(), values(199_990..200_000, 3));
        assert_eq!(store.ranges()[1..], [404_076..404_096, 804_076..804_096, 1_204_076..1_204_096]);
    });
}

#[test]
fn no_more_requests_are_made_at_a_time_than_are_set() {
    run(async {
        let delay = Duration::from_millis(2);
        let store = faulty(&table::<f64>(3000, 3, DataLayout::RowMajor), Faults { delay, ..Faults::default() }).await;
        let remote = open(store.clone()).await.unwrap();
        remote.load::<f64>().await.unwrap();
        assert_eq!(store.most_at_once(), 3);
        remote.clone().with_requests(0, 0).verify().await.unwrap(); // counts as the least: one request
        assert_eq!(store.ranges().last().map(|range| range.end), Some(4096 + 72_000 + 8 + 18 * 4));
        remote.clone().with_requests(usize::MAX, usize::MAX).verify().await.unwrap(); // no limit
    });
}

#[test]
fn progress_ends_with_all_bytes_of_values() {
    run(async {
        for saved in other_kinds().into_iter().chain([Box::new(table::<f64>(999, 3, DataLayout::RowMajor)) as _]) {
            let bytes = file(&*saved, Some(512));
            let last = Arc::new(AtomicU64::new(0));
            let seen = last.clone();
            let remote = open(store_of(bytes).await).await.unwrap().on_progress(move |progress| {
                assert!(progress.done <= progress.total.unwrap());
                seen.store(progress.done * 1000 / progress.total.unwrap(), Ordering::SeqCst);
            });
            remote.load_any().await.unwrap();
            assert_eq!(last.swap(0, Ordering::SeqCst), 1000);
            remote.verify().await.unwrap();
            assert_eq!(last.load(Ordering::SeqCst), 1000);
        }
    });
}

#[test]
fn blocks_are_all_rows_in_order_and_the_next_is_requested_early() {
    run(async {
        for layout in LAYOUTS {
            let delay = Duration::from_millis(1);
            let store = faulty(&table::<i16>(1000, 3, layout), Faults { delay, ..Faults::default() }).await;
            let remote = open(store.clone()).await.unwrap().with_requests(8192, 1);
            let (mut blocks, mut found) = (remote.row_blocks::<f64>(300).unwrap(), Vec::new());
            while let Some(mut block) = blocks.next_block().await.unwrap() {
                assert_eq!(block.row_range().start * 3, found.len());
                found.extend_from_slice(&block);
                block.fill(0.0); // a buffer: nothing goes back
            }
            assert_eq!(found, values(0..1000, 3));
            assert!(blocks.next_block().await.unwrap().is_none());
            assert_eq!(store.most_at_once(), 2);
        }
    });
}

#[test]
fn a_block_that_failed_is_requested_again_and_one_that_was_not_waited_for_is_not_lost() {
    run(async {
        let saved = table::<i16>(1000, 3, DataLayout::RowMajor);
        let faults = Faults { get: Some(3), delay: Duration::from_millis(5), ..Faults::default() };
        let remote = open(faulty(&saved, faults).await).await.unwrap();
        let (mut blocks, mut found, mut failures, mut dropped) = (remote.row_blocks::<f64>(100).unwrap(), vec![], 0, 0);
        loop {
            let to_vec = |block: BlockMut<'_, f64>| block.to_vec();
            let mut outcome = blocks.next_block().now_or_never().map(|found| found.map(|block| block.map(to_vec)));
            if outcome.is_none() {
                dropped += 1; // the call, not the request
                outcome = Some(blocks.next_block().await.map(|block| block.map(to_vec)));
            }
            match outcome.unwrap() {
                Ok(Some(block)) => found.extend_from_slice(&block),
                Ok(None) => break,
                Err(error) => {
                    failures += 1;
                    assert!(error.to_string().contains("call 3 fails"), "{error}");
                }
            }
        }
        assert!(failures == 1 && found == values(0..1000, 3));
        assert!(dropped > 0);
    });
}

#[test]
fn tables_without_values_are_read_without_requests() {
    run(async {
        for (rows, columns) in [(0, 3), (3, 0), (0, 0)] {
            for layout in LAYOUTS {
                let saved =
                    HomogenNumericTable::from_array_with_layout(Vec::<f32>::new(), Shape { rows, columns }, layout)
                        .unwrap();
                let store = faulty(&saved, Faults::default()).await;
                let remote = open(store.clone()).await.unwrap();
                assert_eq!(remote.load_rows::<f64>(..).await.unwrap().shape(), Shape { rows, columns });
                assert_eq!(store.ranges().len(), 1);
                assert_eq!(remote.load::<f32>().await.unwrap().shape(), Shape { rows, columns });
                let mut blocks = remote.row_blocks::<f32>(2).unwrap();
                let mut count = 0;
                while let Some(block) = blocks.next_block().await.unwrap() {
                    count += block.row_range().len();
                }
                assert_eq!(count, rows);
            }
        }
    });
}

#[test]
fn calls_can_run_on_other_tasks() {
    run(async {
        let store: Arc<dyn ObjectStore> =
            faulty(&table::<i16>(5000, 3, DataLayout::ColumnMajor), Faults::default()).await;
        let remote = open(store).await.unwrap();
        let tasks: Vec<_> = (0..5)
            .map(|task| {
                let remote = remote.clone();
                tokio::spawn(async move { remote.load_rows::<f64>(task * 1000..(task + 1) * 1000).await })
            })
            .collect();
        for (task, outcome) in tasks.into_iter().enumerate() {
            let found = outcome.await.unwrap().unwrap();
            assert_eq!(found.as_slice().unwrap(), values(task * 1000..(task + 1) * 1000, 3));
        }
        let (whole, blocks) = (remote.clone(), remote.clone());
        assert!(tokio::spawn(async move { whole.verify().await }).await.unwrap().unwrap());
        let rows = tokio::spawn(async move {
            let (mut blocks, mut rows) = (blocks.row_blocks::<f32>(999)?, 0);
            while let Some(block) = blocks.next_block().await? {
                rows += block.row_range().len();
            }
            Ok::<usize, Error>(rows)
        });
        assert_eq!(rows.await.unwrap().unwrap(), 5000);
    });
}
