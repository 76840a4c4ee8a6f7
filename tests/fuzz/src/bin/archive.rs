//! Archives in memory: whatever reads one says the same of it, and what is read can be written and is read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use numeric_table::table::spi::TableKind;
use numeric_table::{Element, ElementType, Error, ErrorKind, HomogenNumericTable, TableOutput, files};
use numeric_table_fuzz::{assert_same, check_same_again, refusal, table_of, with_element};

type Table<T> = HomogenNumericTable<T>;

fuzz_target!(|data: &[u8]| {
    match files::from_bytes(data) {
        Ok(any) if any.kind() != TableKind::HOMOGENEOUS => {
            let again = check_same_again(&*any);
            assert!(files::from_bytes(&again[..again.len() - 1]).is_err());
            check_other_kind::<f32>(data);
        }
        Ok(any) => with_element!(any.uniform_type().unwrap(), T => check_accepted::<T>(data, table_of(&*any))),
        Err(error) => {
            let reason = refusal(Err::<(), _>(error));
            check_refused::<f32>(data, &reason);
            check_refused::<u8>(data, &reason);
            check_refused::<i64>(data, &reason);
        }
    }
});

/// An archive that is refused is refused by everybody: for the same reason, or because it names another type.
fn check_refused<T: Element>(archive: &[u8], reason: &(u64, String)) {
    let error = Table::<T>::from_bytes(archive).unwrap_err();
    match *error.kind() {
        ErrorKind::ElementTypeMismatch { expected, actual: found, .. } => {
            assert!(expected == T::TYPE && found != expected)
        }
        ErrorKind::TableKindMismatch { actual: found, .. } => assert_ne!(found, TableKind::HOMOGENEOUS.name()),
        _ => assert_eq!(refusal(Err::<(), _>(error)), *reason),
    }
}

fn check_other_kind<T: Element>(archive: &[u8]) {
    assert!(
        Table::<T>::from_bytes(archive).is_err_and(|error| matches!(error.kind(), ErrorKind::TableKindMismatch { .. }))
    );
}

fn check_accepted<T: Element>(archive: &[u8], table: &Table<T>) {
    assert_same(&Table::<T>::from_bytes(archive).unwrap(), table);
    let again = table.to_bytes().unwrap();
    assert_same(&Table::<T>::from_bytes(&again).unwrap(), table);
    assert_eq!(Table::<T>::from_bytes(&again).unwrap().to_bytes().unwrap(), again);
    check_other_type::<T, f32>(archive);
    check_other_type::<T, u8>(archive);

    // Nothing in it can be left out.
    assert!(Table::<T>::from_bytes(&again[..again.len() - 1]).is_err());
}

fn check_other_type<T: Element, U: Element>(archive: &[u8]) {
    if U::TYPE != T::TYPE {
        let types: (ElementType, ElementType) = match Table::<U>::from_bytes(archive).map_err(Error::into_kind) {
            Err(ErrorKind::ElementTypeMismatch { expected, actual: found, .. }) => (expected, found),
            other => panic!("{other:?}"),
        };
        assert_eq!(types, (U::TYPE, T::TYPE));
    }
}
