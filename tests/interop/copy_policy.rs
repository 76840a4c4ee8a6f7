//! The truth table of copies: what every call that takes or hands over values of another library does under every copy
//! policy, by the addresses of values.
//!
//! For each source there is at most one reason why its values cannot be used where they are. Without one, `Never` and
//! `IfNeeded` share; with one, `Never` is refused with it, and `IfNeeded` copies. `Always` copies.

use numeric_table::{
    interop::{CopyPolicy, CopyReason},
    prelude::*,
};
use test_support::copies::{Outcome, check, outcome_of_table, table};

#[cfg(feature = "ndarray")]
mod ndarray {
    use ::ndarray::{Array2, ArrayView2, CowArray, ShapeBuilder, s};
    use numeric_table::interop::NdarraySource;

    use super::*;

    fn array() -> Array2<f32> {
        Array2::from_shape_vec((4, 3), (0..12).map(|value| value as f32).collect()).unwrap()
    }

    fn from<A: NdarraySource<f32>>(array: A, first: *const f32, policy: CopyPolicy) -> Outcome {
        let reason = array.copy_reason();
        let outcome = outcome_of_table(HomogenNumericTable::from_ndarray_with(array, policy), first);
        if let Outcome::Refused(refused) = &outcome {
            assert_eq!(Some(*refused), reason, "the reason could be asked for");
        }
        outcome
    }

    #[test]
    fn arrays_as_tables() {
        let owned = |array: fn(Array2<f32>) -> Array2<f32>| {
            move |policy| {
                let array = array(super::ndarray::array());
                let first = array.as_ptr();
                from(array, first, policy)
            }
        };
        check("standard layout", None, owned(|array| array));
        check("whole rows", None, owned(|array| array.slice_move(s![1..3, ..])));
        check("Fortran layout", None, owned(|array| array.reversed_axes()));
        check("Fortran layout, made so", None, |policy| {
            let array = Array2::from_shape_vec((4, 3).f(), vec![1.5_f32; 12]).unwrap();
            let first = array.as_ptr();
            from(array, first, policy)
        });
        check("gaps in rows", Some(CopyReason::Layout), owned(|array| array.slice_move(s![.., 1..])));
        check("gaps between rows", Some(CopyReason::Layout), owned(|array| array.slice_move(s![..;2, ..])));
        check("upside down", Some(CopyReason::Layout), owned(|array| array.slice_move(s![..;-1, ..])));

        check("shared, alone", None, |policy| {
            let array = array().into_shared();
            let first = array.as_ptr();
            from(array, first, policy)
        });
        let shared = array().into_shared();
        check("shared by two", None, |policy| from(shared.clone(), shared.as_ptr(), policy));
        let part = shared.clone().slice_move(s![1..3, ..]);
        check("whole rows, shared", None, |policy| from(part.clone(), part.as_ptr(), policy));
        let gaps = shared.clone().slice_move(s![.., 1..]);
        check("gaps, shared", Some(CopyReason::Layout), |policy| from(gaps.clone(), gaps.as_ptr(), policy));

        let array = array();
        let view = array.view();
        check("view", Some(CopyReason::Lifetime), |policy| from(view, array.as_ptr(), policy));
        check("reference", Some(CopyReason::Lifetime), |policy| from(&array, array.as_ptr(), policy));
        check("lent, or owned: lent", Some(CopyReason::Lifetime), |policy| {
            from(CowArray::from(view), array.as_ptr(), policy)
        });
        check("lent, or owned: owned", None, |policy| {
            let array = array.clone();
            let first = array.as_ptr();
            from(CowArray::from(array), first, policy)
        });
    }

    #[test]
    fn tables_as_arrays() {
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            let mut table = table(layout);
            let first = table.as_slice().unwrap().as_ptr();
            assert_eq!(ArrayView2::try_from(table.view().unwrap()).unwrap().as_ptr(), first, "a view shares");
            assert_ne!(Array2::try_from(&table).unwrap().as_ptr(), first, "an owned copy does not");
            let view = table.view_mut().unwrap();
            assert_eq!(::ndarray::ArrayViewMut2::try_from(view).unwrap().as_ptr(), first);

            // Only a `Vec` that nobody else has goes over. What does not is as it was.
            let other = table.clone();
            let table = Array2::try_from(table).unwrap_err();
            assert_eq!((table.as_slice().unwrap().as_ptr(), table.data_layout()), (first, layout));
            drop(other);
            assert_eq!(Array2::try_from(table).unwrap().as_ptr(), first);
            let library =
                HomogenNumericTable::full_with_layout(Shape { rows: 4, columns: 3 }, 1.0_f32, layout).unwrap();
            assert_eq!(Array2::try_from(library).unwrap_err().as_slice().unwrap(), [1.0; 12]);
        }
    }
}

#[cfg(feature = "npy")]
mod npy {
    use super::*;

    /// An aligned file of 4 x 3 values, as bytes.
    fn file(layout: DataLayout) -> Array<u8> {
        let mut bytes = Vec::new();
        table(layout).write_npy(&mut bytes).unwrap();
        Array::copy_of(&bytes).unwrap()
    }

    /// The same with its values turned round.
    fn turned() -> Array<u8> {
        let mut bytes = file(DataLayout::RowMajor).to_vec();
        let header = bytes.windows(3).position(|three| three == b"<f4").unwrap();
        bytes[header] = b'>';
        let start = bytes.len() - 48;
        bytes[start..].chunks_exact_mut(4).for_each(<[u8]>::reverse);
        Array::copy_of(&bytes).unwrap()
    }

    fn first(bytes: &[u8]) -> *const f32 {
        bytes[bytes.len() - 48..].as_ptr().cast()
    }

    #[test]
    fn bytes_as_tables() {
        let pass = |bytes: Array<u8>| {
            move |policy| outcome_of_table(HomogenNumericTable::from_npy(bytes.clone(), policy), first(&bytes))
        };
        check("C order", None, pass(file(DataLayout::RowMajor)));
        check("Fortran order", None, pass(file(DataLayout::ColumnMajor)));
        check("big-endian", Some(CopyReason::ByteOrder), pass(turned()));
        let shifted = [&[0], &file(DataLayout::RowMajor)[..]].concat();
        let shifted = Array::copy_of(&shifted).unwrap().slice(1..).unwrap();
        check("not aligned", Some(CopyReason::Alignment), pass(shifted));
    }

    #[cfg(feature = "mmap")]
    #[test]
    fn files_as_tables() {
        let folder = tempfile::tempdir().unwrap();
        let check = |source: &str, bytes: &[u8], reason: Option<CopyReason>| {
            let path = folder.path().join("array.npy");
            std::fs::write(&path, bytes).unwrap();
            super::check(source, reason, |policy| {
                // SAFETY: nobody else knows the file, and it is only written when no table maps it.
                match unsafe { HomogenNumericTable::<f32>::map_npy_with(&path, policy) }.map_err(Error::into_kind) {
                    Ok(table) if table.data_memory_status() == MemoryStatus::UserAllocated => Outcome::Shared,
                    Ok(_) => Outcome::Copied,
                    Err(ErrorKind::CopyRequired { reason }) => Outcome::Refused(reason),
                    Err(error) => panic!("{error:?}"),
                }
            });
        };
        check("C order", &file(DataLayout::RowMajor), None);
        check("big-endian", &turned(), Some(CopyReason::ByteOrder));
        // A header that is one byte longer; version 1.0 has its length in bytes 8 and 9.
        let mut longer = file(DataLayout::RowMajor).to_vec();
        longer[8] += 1;
        longer.insert(10 + 117, b' ');
        check("not aligned", &longer, Some(CopyReason::Alignment));
    }
}
