//! Files that are mapped: the values are used where they are, if that is possible.

use std::fs;

use numeric_table::prelude::*;
use numeric_table::{
    files::SaveOptions,
    interop::{CopyPolicy, CopyReason},
};
use test_support::tables::{LAYOUTS, assert_error, numbered};
use test_support::{SmallNumber, for_each_element};

use super::{Table, by_hand, has_no_bf16, layout_in_file};

#[test]
fn a_map_is_the_file_and_a_write_copies_it() {
    fn check<T: SmallNumber>() {
        if !has_no_bf16::<T>() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.npy");
        for layout in LAYOUTS {
            for rows in [0, 5] {
                let table = numbered::<T>(rows, 3, layout);
                table.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
                // SAFETY: nobody else knows the file, and it is only ever replaced.
                let mut mapped = unsafe { Table::<T>::map_npy_with(&path, CopyPolicy::Never) }.unwrap();
                assert_eq!((&mapped, mapped.data_layout()), (&table, layout_in_file(&table)));
                assert_eq!(mapped.data_memory_status(), MemoryStatus::UserAllocated);
                assert!(!mapped.array().unwrap().has_mutable_data());
                mapped.fill(T::small(9)).unwrap();
                assert_eq!(mapped.data_memory_status() == MemoryStatus::InternallyAllocated, rows > 0);
                mapped.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
                // SAFETY: as above.
                let loaded = unsafe { Table::<T>::map_npy_with(&path, CopyPolicy::Always) }.unwrap();
                assert_eq!((&loaded, loaded.data_memory_status()), (&mapped, MemoryStatus::InternallyAllocated));
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn a_file_that_cannot_be_mapped_is_loaded_or_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    let other = if cfg!(target_endian = "little") { ">" } else { "<" };
    let swapped = by_hand(&format!("{other}i2"), "False", "(2, 1)", &[1, 2, 3, 4]);
    let text = format!("{:<60}\n", "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1)}");
    let unaligned = [b"\x93NUMPY\x01\0\x3d\0", text.as_bytes(), &[2, 1, 4, 3]].concat(); // values at byte 71
    for (bytes, reason) in [(swapped, CopyReason::ByteOrder), (unaligned, CopyReason::Alignment)] {
        let reason = if cfg!(target_endian = "big") { CopyReason::ByteOrder } else { reason };
        fs::write(&path, bytes).unwrap();
        // SAFETY: nobody else knows the file.
        let map = |policy| unsafe { Table::<i16>::map_npy_with(&path, policy) };
        assert_error!(map(CopyPolicy::Never), ErrorKind::CopyRequired { reason: found } if *found == reason);
        // SAFETY: as above.
        for table in [map(CopyPolicy::IfNeeded), map(CopyPolicy::Always), unsafe { Table::map_npy(&path) }] {
            let table = table.unwrap();
            assert_eq!(
                (table.as_slice().unwrap(), table.data_memory_status()),
                (&[258, 772][..], MemoryStatus::InternallyAllocated)
            );
        }
        // SAFETY: as above.
        assert_error!(unsafe { Table::<u16>::map_npy(&path) }, ErrorKind::ElementTypeMismatch { .. });
    }
}
