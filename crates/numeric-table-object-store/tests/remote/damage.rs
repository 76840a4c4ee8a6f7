//! Objects that are damaged, hostile or replaced, and stores that fail or send other bytes than the requested ones:
//! each is an error that names the object, never other values, and never much memory.

use std::ops::Range;
use std::sync::Arc;

use crate::stores::{Faults, Faulty};
use bytes::Bytes;
use futures_util::StreamExt;
use numeric_table::{files, prelude::*};
use numeric_table_object_store::RemoteTable;
use object_store::memory::InMemory;
use object_store::{Error as StoreError, GetResult, GetResultPayload, ObjectStore, ObjectStoreExt};
use test_support::tables::{LAYOUTS, assert_error};

use crate::support::{faulty, file, open, other_kinds, path, run, store_of, table};

/// Every way to read a table.
async fn read_all(remote: &RemoteTable) -> Vec<Error> {
    let mut blocks = remote.row_blocks::<f64>(100).unwrap();
    [
        remote.load::<i16>().await.err(),
        remote.load_cast::<f64>().await.err(),
        remote.load_any().await.err(),
        remote.load_rows::<f64>(1..2).await.err(),
        remote.verify().await.err(),
        blocks.next_block().await.err(),
    ]
    .into_iter()
    .map(|error| error.expect("an error"))
    .collect()
}

#[test]
fn an_object_that_was_replaced_is_an_error_in_every_way_to_read_it() {
    run(async {
        for layout in LAYOUTS {
            let saved = table::<i16>(500, 3, layout);
            let store = store_of(file(&saved, Some(64))).await;
            let remote = open(store.clone()).await.unwrap();
            store.put(&path(), file(&saved, Some(64)).into()).await.unwrap(); // even by the same bytes
            for error in read_all(&remote).await {
                assert!(error.to_string().starts_with("folder/table.ntb: the object was replaced"), "{error}");
                assert_error!(
                    Err::<(),
                    _>(error), ErrorKind::Foreign { source, .. }
                        if matches!(source.downcast_ref(), Some(StoreError::Precondition { .. }))
                );
            }
            store.delete(&path()).await.unwrap();
            for error in read_all(&remote).await {
                assert_eq!(error.to_string(), "folder/table.ntb: the object does not exist");
            }
        }
    });
}

#[test]
fn a_store_without_entity_tags_is_known_by_size_and_time() {
    fn without(_: usize, mut found: GetResult) -> GetResult {
        found.meta.e_tag = None;
        found
    }
    run(async {
        let saved = table::<i16>(500, 3, DataLayout::RowMajor);
        let inner = store_of(file(&saved, Some(64))).await;
        let store = Arc::new(Faulty::new(inner.clone(), Faults { answer: Some(without), ..Faults::default() }));
        let remote = open(store).await.unwrap();
        assert_eq!(remote.load::<i16>().await.unwrap(), saved);
        inner.put(&path(), file(&saved, Some(64)).into()).await.unwrap();
        for error in read_all(&remote).await {
            assert!(error.to_string().contains("the object was replaced after it was opened: its time"), "{error}");
        }
        inner.put(&path(), vec![0; 10_000].into()).await.unwrap();
        for error in read_all(&remote).await {
            assert!(error.to_string().ends_with("its size in bytes was 7292, and is 10000"), "{error}");
        }
    });
}

#[test]
fn a_weak_entity_tag_is_compared_and_not_a_condition() {
    fn weak(_: usize, mut found: GetResult) -> GetResult {
        found.meta.e_tag = found.meta.e_tag.map(|tag| format!("W/{tag}"));
        found
    }
    run(async {
        let saved = table::<i16>(500, 3, DataLayout::RowMajor);
        let inner = store_of(file(&saved, Some(64))).await;
        let store = Arc::new(Faulty::new(inner.clone(), Faults { answer: Some(weak), ..Faults::default() }));
        let remote = open(store).await.unwrap();
        assert_eq!(remote.load::<i16>().await.unwrap(), saved);
        inner.put(&path(), file(&saved, Some(64)).into()).await.unwrap();
        for error in read_all(&remote).await {
            assert!(error.to_string().ends_with("its entity tag was W/\"0\", and is W/\"1\""), "{error}");
        }
    });
}

/// Changes what every answer but that of opening says or sends.
fn later(number: usize, found: GetResult, change: fn(GetResult) -> GetResult) -> GetResult {
    if number == 0 { found } else { change(found) }
}

fn sends(mut found: GetResult, change: impl FnOnce(Vec<u8>) -> Vec<u8> + Send + 'static) -> GetResult {
    let payload =
        std::mem::replace(&mut found.payload, GetResultPayload::Stream(futures_util::stream::empty().boxed()));
    let GetResultPayload::Stream(stream) = payload else { panic!("a store in memory sends a stream") };
    let whole = stream.fold(Vec::new(), |mut all, bytes| async move {
        all.extend_from_slice(&bytes.unwrap());
        all
    });
    let changed = futures_util::stream::once(async move { Ok(Bytes::from(change(whole.await))) });
    found.payload = GetResultPayload::Stream(changed.boxed());
    found
}

#[test]
fn answers_that_are_not_what_was_requested_are_errors() {
    type Answer = fn(usize, GetResult) -> GetResult;
    let answers: [(Answer, &str); 7] = [
        (|number, found| later(number, found, |found| sends(found, |mut bytes| bytes.split_off(1))), "were requested"),
        (|number, found| later(number, found, |found| sends(found, |_| Vec::new())), "were requested"),
        (
            |number, found| later(number, found, |found| sends(found, |bytes| [bytes, vec![0]].concat())),
            "were requested",
        ),
        (|number, found| later(number, found, |found| sends(found, |_| vec![0; 1 << 20])), "were requested"),
        (
            |number, found| {
                later(number, found, |mut found| {
                    let Range { start, end } = found.range;
                    found.range = start + 1..end + 1;
                    found
                })
            },
            "were requested",
        ),
        (
            |number, found| {
                later(number, found, |mut found| {
                    found.meta.size = u64::MAX;
                    found
                })
            },
            "replaced",
        ),
        (
            |number, found| {
                later(number, found, |mut found| {
                    found.meta.e_tag = Some("\"another\"".to_owned());
                    found
                })
            },
            "replaced",
        ),
    ];
    run(async {
        for layout in LAYOUTS {
            for (answer, part) in answers {
                let faults = Faults { answer: Some(answer), ..Faults::default() };
                let remote = open(faulty(&table::<i16>(500, 3, layout), faults).await).await.unwrap();
                for error in read_all(&remote).await {
                    let message = error.to_string();
                    assert!(message.starts_with("folder/table.ntb: ") && message.contains(part), "{message}");
                }
            }
        }
    });
}

#[test]
fn a_store_that_lies_about_the_size_when_it_is_opened_is_refused_without_much_memory() {
    fn huge(_: usize, mut found: GetResult) -> GetResult {
        found.meta.size = u64::MAX;
        found
    }
    fn small(_: usize, mut found: GetResult) -> GetResult {
        found.meta.size = 10;
        found.range = 0..10;
        found
    }
    run(async {
        for answer in [huge as fn(usize, GetResult) -> GetResult, small] {
            let saved = table::<i16>(500, 3, DataLayout::RowMajor);
            let store = faulty(&saved, Faults { answer: Some(answer), ..Faults::default() }).await;
            let error = open(store).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Format { .. }), "{error}");
            assert!(error.to_string().starts_with("folder/table.ntb: "), "{error}");
        }
    });
}

#[test]
fn every_request_that_fails_is_an_error_and_the_next_call_succeeds() {
    run(async {
        let saved = table::<i16>(5000, 3, DataLayout::RowMajor);
        for failing in 0..10 {
            let store = faulty(&saved, Faults { get: Some(failing), ..Faults::default() }).await;
            let fails = match open(store.clone()).await {
                Ok(remote) => remote.load::<i16>().await.unwrap_err(),
                Err(error) => error,
            };
            assert!(fails.to_string().contains(&format!("call {failing} fails")), "{fails}");
            assert!(
                matches!(fails.kind(), ErrorKind::Foreign { .. }) && fails.path() == Some("folder/table.ntb".as_ref())
            );
            assert_eq!(open(store).await.unwrap().load::<i16>().await.unwrap(), saved);
        }
    });
}

#[test]
fn damaged_values_are_found_where_checksums_are_compared() {
    run(async {
        for layout in LAYOUTS {
            let mut bytes = file(&table::<i16>(5000, 3, layout), Some(512));
            bytes[4096 + 512 * 7 + 5] ^= 1;
            let remote = open(store_of(bytes).await).await.unwrap();
            let expected = "folder/table.ntb: bad format at byte 7680: the checksum of chunk 7 (of 59) does not match: \
                            bytes 7680..8192 are damaged";
            assert_eq!(remote.load::<i16>().await.unwrap_err().to_string(), expected);
            assert_eq!(remote.load_cast::<f64>().await.unwrap_err().to_string(), expected);
            assert_eq!(remote.verify().await.unwrap_err().to_string(), expected);
            remote.load_rows::<i16>(..).await.unwrap(); // as with files, rows are not compared
        }
        for saved in other_kinds() {
            let mut bytes = file(&*saved, Some(64));
            let last = bytes.len() - 1; // of the last checksum
            bytes[last] ^= 1;
            let remote = open(store_of(bytes).await).await.unwrap();
            assert!(
                remote
                    .load_any()
                    .await
                    .is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. }) && error.path().is_some())
            );
            assert!(
                remote
                    .verify()
                    .await
                    .is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. }) && error.path().is_some())
            );
        }
    });
}

#[test]
fn whatever_bytes_an_object_has_it_is_refused_for_what_a_file_of_them_is_refused_for() {
    let folder = tempfile::tempdir().unwrap();
    let on_disk = folder.path().join("table.ntb");
    run(async {
        let whole = file(&table::<i16>(5, 3, DataLayout::RowMajor), Some(8));
        let sparse = file(&*other_kinds()[1], Some(64));
        let mut objects: Vec<Vec<u8>> =
            [0, 1, 8, 63, 64, 65, 4095, 4096, whole.len() - 1].map(|length| whole[..length].to_vec()).to_vec();
        objects.extend([b"5.1,3.5,1.4\n".to_vec(), vec![0; 100_000], [&whole[..], &[0]].concat()]);
        for original in [&whole, &sparse] {
            for at in (0..160).chain(4096..4100).chain(original.len() - 20..original.len()) {
                for change in [1, 0x80, 0xff] {
                    let mut bytes = original.clone();
                    bytes[at] ^= change;
                    if at < 60 {
                        let sum = crc32(&bytes[..60]); // as somebody would who means it
                        bytes[60..64].copy_from_slice(&sum.to_le_bytes());
                    }
                    objects.push(bytes);
                }
            }
        }
        for bytes in objects {
            std::fs::write(&on_disk, &bytes).unwrap();
            let of_file = files::load(&on_disk).map_err(|error| error.to_string());
            let of_store = match open(store_of(bytes).await).await {
                Ok(remote) => remote.load_any().await,
                Err(error) => Err(error),
            };
            match (of_file, of_store.map_err(|error| error.to_string())) {
                (Ok(expected), Ok(found)) => {
                    assert_eq!(expected.rows::<f64>(..).unwrap()[..], found.rows::<f64>(..).unwrap()[..]);
                }
                (Err(expected), Err(found)) => {
                    assert_eq!(expected.replace(on_disk.to_str().unwrap(), "folder/table.ntb"), found);
                }
                (expected, found) => panic!("{:?} and {:?}", expected.err(), found.err()),
            }
        }
    });
}

/// CRC-32, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}

#[test]
fn a_missing_object_is_named() {
    run(async {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let error = open(store).await.unwrap_err();
        assert_eq!(error.to_string(), "folder/table.ntb: the object does not exist");
        assert_error!(
            Err::<(),
            _>(error), ErrorKind::Foreign { source, .. }
                if matches!(source.downcast_ref(), Some(StoreError::NotFound { .. }))
        );
    });
}
