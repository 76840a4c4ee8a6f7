//! When the values of a file in memory are copied, and when they are used where they are.

use numeric_table::interop::{CopyPolicy, CopyReason};
use numeric_table::prelude::*;
use test_support::{SmallNumber, for_each_element};

use super::{Table, by_hand, bytes_of, has_no_bf16, numpy_name};

/// Bytes of a file whose values lie at an address that is so many bytes off the best alignment.
fn placed(bytes: &[u8], off: usize) -> Array<u8> {
    let mut room = Array::<u8>::zeros(bytes.len() + 64).unwrap(); // aligned to 64 bytes
    let range = off..off + bytes.len();
    room.mutable_data().unwrap()[range.clone()].copy_from_slice(bytes);
    room.slice(range).unwrap()
}

#[test]
fn what_is_copied_is_what_the_policy_says() {
    fn check<T: SmallNumber>() {
        if !has_no_bf16::<T>() {
            return;
        }
        let (native, other) = if cfg!(target_endian = "little") { ("<", ">") } else { (">", "<") };
        let values = T::counting(6);
        let swapped: Vec<u8> =
            values.iter().flat_map(|value| bytes_of(&[*value]).iter().rev().copied().collect::<Vec<_>>()).collect();
        for fortran in ["False", "True"] {
            for off in 0..16 {
                for (order, bytes) in [(native, bytes_of(&values)), (other, &swapped)] {
                    let file = by_hand(&format!("{order}{}", numpy_name::<T>()), fortran, "(2, 3)", bytes);
                    let file = placed(&file, off);
                    let reason = match () {
                        () if order == other && size_of::<T>() > 1 => Some(CopyReason::ByteOrder),
                        () if off % size_of::<T>() != 0 => Some(CopyReason::Alignment),
                        () => None,
                    };
                    for policy in [CopyPolicy::Never, CopyPolicy::IfNeeded, CopyPolicy::Always] {
                        let table = match (Table::<T>::from_npy(file.clone(), policy).map_err(Error::into_kind), reason)
                        {
                            (Err(ErrorKind::CopyRequired { reason: found }), Some(reason)) => {
                                assert_eq!((policy, found), (CopyPolicy::Never, reason));
                                continue;
                            }
                            (table, _) => table.unwrap(),
                        };
                        assert_eq!(table.as_slice().unwrap(), values);
                        let is_shared = table.array().unwrap().shares_memory_with(&file);
                        assert_eq!(is_shared, policy != CopyPolicy::Always && reason.is_none());
                        let in_file = table.as_slice().unwrap().as_ptr().addr() == file[128..].as_ptr().addr();
                        assert_eq!(in_file, is_shared);
                        let status = table.data_memory_status();
                        assert_eq!(is_shared, status == MemoryStatus::UserAllocated);
                    }
                }
            }
        }
    }
    for_each_element!(check);
}
