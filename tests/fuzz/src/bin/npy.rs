//! NumPy files: whoever reads one says the same of it, and what is read can be written and is read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use numeric_table::{
    Array, DataLayout, Element, Error, ErrorKind, HomogenNumericTable, NumericTable, Shape, TableOutput,
    interop::CopyPolicy, npy,
};
use numeric_table_fuzz::{assert_same, refusal, table_of, with_element};

type Table<T> = HomogenNumericTable<T>;

fuzz_target!(|data: &[u8]| {
    let mut rest = data;
    match npy::read(&mut rest) {
        Ok(any) => {
            with_element!(any.uniform_type().unwrap(), T => check_accepted::<T>(data, rest.len(), table_of(&*any)))
        }
        Err(error) => {
            let reason = refusal(Err::<(), _>(error));
            check_refused::<f32>(data, &reason);
            check_refused::<u8>(data, &reason);
            check_refused::<i64>(data, &reason);
        }
    }
});

/// Bytes that are refused are refused by everybody: for the same reason, or because they name another type. How much is
/// missing at the end is told otherwise where the length is known.
fn check_refused<T: Element>(data: &[u8], reason: &(u64, String)) {
    let error = Table::<T>::read_npy(data).unwrap_err();
    match *error.kind() {
        ErrorKind::ElementTypeMismatch { expected, actual: found, .. } => {
            assert!(expected == T::TYPE && found != expected)
        }
        _ => assert_eq!(refusal(Err::<(), _>(error)), *reason),
    }
    for policy in [CopyPolicy::IfNeeded, CopyPolicy::Always, CopyPolicy::Never] {
        match Table::<T>::from_npy(data.to_vec(), policy).map_err(Error::into_kind) {
            Err(ErrorKind::Format { .. } | ErrorKind::ElementTypeMismatch { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn check_accepted<T: Element>(data: &[u8], behind: usize, table: &Table<T>) {
    let data = &data[..data.len() - behind];
    assert_same(&Table::<T>::read_npy(data).unwrap(), table);
    let aligned = Array::copy_of(data).unwrap();
    for bytes in [aligned, data.to_vec().into()] {
        for policy in [CopyPolicy::IfNeeded, CopyPolicy::Always] {
            let same = Table::<T>::from_npy(bytes.clone(), policy).unwrap();
            assert_same(&same, table);
            assert!(policy == CopyPolicy::IfNeeded || !same.array().unwrap().shares_memory_with(&bytes));
        }
        match Table::<T>::from_npy(bytes, CopyPolicy::Never).map_err(Error::into_kind) {
            Ok(same) => assert_same(&same, table),
            Err(ErrorKind::CopyRequired { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    let mut longer = data.to_vec();
    longer.push(0);
    assert!(
        Table::<T>::from_npy(longer, CopyPolicy::IfNeeded)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. }))
    );

    let mut again = Vec::new();
    table.write_npy(&mut again).unwrap();
    // What is in both orders is written, and read again, row by row.
    let Shape { rows, columns } = table.shape();
    let in_both = (rows <= 1 || columns <= 1).then(|| table.to_layout(DataLayout::RowMajor).unwrap());
    assert_same(&Table::<T>::read_npy(&again[..]).unwrap(), in_both.as_ref().unwrap_or(table));
    let mut once_more = Vec::new();
    Table::<T>::read_npy(&again[..]).unwrap().write_npy(&mut once_more).unwrap();
    assert_eq!(again, once_more);
    check_other_type::<T, f32>(data);
    check_other_type::<T, u8>(data);
}

fn check_other_type<T: Element, U: Element>(data: &[u8]) {
    if U::TYPE != T::TYPE {
        match Table::<U>::read_npy(data).map_err(Error::into_kind) {
            Err(ErrorKind::ElementTypeMismatch { expected, actual: found, .. }) => {
                assert_eq!((expected, found), (U::TYPE, T::TYPE))
            }
            other => panic!("{other:?}"),
        }
    }
}
