//! The truth table of copies: what every call that takes or hands over values of another library does under every copy
//! policy, by the addresses of values.
//!
//! For each source there is at most one reason why its values cannot be used where they are. Without one, `Never` and
//! `IfNeeded` share; with one, `Never` is refused with it, and `IfNeeded` copies. `Always` copies.

use numeric_table::{CopyPolicy, CopyReason, prelude::*};

#[derive(Debug, PartialEq)]
enum Outcome {
    Shared,
    Copied,
    Refused(CopyReason),
}

/// What came of a call, if the first value went in at an address.
fn outcome<R>(result: Result<R, Error>, before: *const f32, first: impl Fn(&R) -> *const f32) -> Outcome {
    match result.map_err(Error::into_kind) {
        Ok(result) if first(&result) == before => Outcome::Shared,
        Ok(_) => Outcome::Copied,
        Err(ErrorKind::CopyRequired { reason }) => Outcome::Refused(reason),
        Err(error) => panic!("{error:?}"),
    }
}

/// As [`outcome`], of a table, whose memory status must agree.
fn outcome_of_table(result: Result<HomogenNumericTable<f32>, Error>, before: *const f32) -> Outcome {
    if let Ok(table) = &result {
        let is_shared = table.data_memory_status() == MemoryStatus::UserAllocated;
        assert_eq!(is_shared, table.as_slice().unwrap().as_ptr() == before, "the status tells");
    }
    outcome(result, before, |table| table.as_slice().unwrap().as_ptr())
}

/// Checks one source under every policy.
#[track_caller]
fn check(source: &str, reason: Option<CopyReason>, pass: impl Fn(CopyPolicy) -> Outcome) {
    let (never, if_needed) = match reason {
        Some(reason) => (Outcome::Refused(reason), Outcome::Copied),
        None => (Outcome::Shared, Outcome::Shared),
    };
    for (policy, expected) in
        [(CopyPolicy::Never, never), (CopyPolicy::IfNeeded, if_needed), (CopyPolicy::Always, Outcome::Copied)]
    {
        assert_eq!(pass(policy), expected, "{source}, {policy:?}");
    }
}

fn table(layout: DataLayout) -> HomogenNumericTable<f32> {
    let values: Vec<f32> = (0..12).map(|value| value as f32).collect();
    HomogenNumericTable::from_array_in(values, Shape { rows: 4, columns: 3 }, layout).unwrap()
}

#[cfg(any(feature = "ndarray", feature = "ndarray-016"))]
macro_rules! ndarray_calls {
    ($feature:literal, $ndarray:ident) => {
        #[cfg(feature = $feature)]
        mod $ndarray {
            use ::$ndarray::{Array2, ArrayView2, CowArray, ShapeBuilder, s};
            use numeric_table::NdarraySource;

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
                        let array = array(super::$ndarray::array());
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
                    assert_eq!(::$ndarray::ArrayViewMut2::try_from(view).unwrap().as_ptr(), first);

                    // Only a `Vec` that nobody else has goes over. What does not is as it was.
                    let other = table.clone();
                    let table = Array2::try_from(table).unwrap_err();
                    assert_eq!((table.as_slice().unwrap().as_ptr(), table.data_layout()), (first, layout));
                    drop(other);
                    assert_eq!(Array2::try_from(table).unwrap().as_ptr(), first);
                    let library = HomogenNumericTable::full_in(Shape { rows: 4, columns: 3 }, 1.0_f32, layout).unwrap();
                    assert_eq!(Array2::try_from(library).unwrap_err().as_slice().unwrap(), [1.0; 12]);
                }
            }
        }
    };
}
#[cfg(any(feature = "ndarray", feature = "ndarray-016"))]
ndarray_calls!("ndarray", ndarray);
#[cfg(any(feature = "ndarray", feature = "ndarray-016"))]
ndarray_calls!("ndarray-016", ndarray_016);

#[cfg(feature = "arrow")]
mod arrow {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Float32Type;
    use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, Float64Array, RecordBatch};
    use numeric_table::ArrowOptions;

    use super::*;

    fn first_of_batch(batch: &RecordBatch) -> *const f32 {
        batch.column(0).as_primitive::<Float32Type>().values().as_ptr()
    }

    fn first_of_lists(lists: &FixedSizeListArray) -> *const f32 {
        lists.values().as_primitive::<Float32Type>().values().as_ptr()
    }

    #[test]
    fn tables_as_record_batches() {
        let pass = |table: HomogenNumericTable<f32>| {
            move |policy| outcome(table.to_record_batch_with(policy), first(&table), first_of_batch)
        };
        let (rows, columns) = (table(DataLayout::RowMajor), table(DataLayout::ColumnMajor));
        check("column-major", None, pass(columns.clone()));
        check("column-major, some rows", None, pass(columns.slice_rows(1..3).unwrap()));
        check("row-major", Some(CopyReason::Layout), pass(rows.clone()));
        check("row-major, one row", None, pass(rows.slice_rows(2..3).unwrap()));
        check("row-major, one column", None, pass(one_column(DataLayout::RowMajor)));
    }

    #[test]
    fn tables_as_lists() {
        let pass = |table: HomogenNumericTable<f32>| {
            move |policy| outcome(table.to_fixed_size_list_with(policy), first(&table), first_of_lists)
        };
        let (rows, columns) = (table(DataLayout::RowMajor), table(DataLayout::ColumnMajor));
        check("row-major", None, pass(rows.clone()));
        check("row-major, some rows", None, pass(rows.slice_rows(1..3).unwrap()));
        check("column-major", Some(CopyReason::Layout), pass(columns.clone()));
        check("column-major, one column", None, pass(one_column(DataLayout::ColumnMajor)));
    }

    #[test]
    fn record_batches_as_tables() {
        let pass = |batches: Vec<RecordBatch>, options: ArrowOptions| {
            move |policy| {
                let table = HomogenNumericTable::from_record_batches(&batches, options.clone().copy(policy));
                let first = batches[0].column(0).to_data().buffers()[0].as_ptr().cast();
                outcome_of_table(table, first)
            }
        };
        let batch = |columns: Vec<ArrayRef>| {
            RecordBatch::try_from_iter(
                columns.into_iter().enumerate().map(|(index, column)| (index.to_string(), column)),
            )
            .unwrap()
        };
        let column = || Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0])) as ArrayRef;
        let options = ArrowOptions::new();
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            let options = options.clone().layout(layout);
            check("one column", None, pass(vec![batch(vec![column()])], options.clone()));
            check("some rows of one column", None, pass(vec![batch(vec![column()]).slice(1, 2)], options.clone()));
            let (some, all) = (batch(vec![column(), column()]), batch(vec![column()]));
            check("two columns", Some(CopyReason::Layout), pass(vec![some], options.clone()));
            check("two chunks", Some(CopyReason::Layout), pass(vec![all.clone(), all], options.clone()));
        }
        let nulls: ArrayRef = Arc::new(Float32Array::from(vec![Some(1.0), None]));
        let (nulls, with_nan) = (vec![batch(vec![nulls])], options.clone().nulls_to_nan(true));
        check("nulls", Some(CopyReason::Nulls), pass(nulls.clone(), with_nan.clone()));
        check("no nulls in these rows", None, pass(vec![nulls[0].slice(0, 1)], options.clone()));
        let other = vec![batch(vec![Arc::new(Float64Array::from(vec![1.0, 2.0]))])];
        check(
            "another type",
            Some(CopyReason::ElementType),
            pass(other, options.clone().convert(ConversionPolicy::Exact)),
        );
    }

    #[test]
    fn lists_as_tables() {
        let lists = table(DataLayout::RowMajor).to_fixed_size_list().unwrap();
        let pass = |lists: Vec<FixedSizeListArray>, layout: DataLayout| {
            move |policy| {
                let options = ArrowOptions::new().copy(policy).layout(layout);
                outcome_of_table(HomogenNumericTable::from_fixed_size_lists(&lists, options), first_of_lists(&lists[0]))
            }
        };
        check("all", None, pass(vec![lists.clone()], DataLayout::RowMajor));
        check("some", None, pass(vec![lists.slice(1, 2)], DataLayout::RowMajor));
        check("two chunks", Some(CopyReason::Layout), pass(vec![lists.clone(), lists.clone()], DataLayout::RowMajor));
    }

    fn first(table: &HomogenNumericTable<f32>) -> *const f32 {
        let view = table.view().unwrap();
        view.row(0).map_or_else(|| view.column(0).unwrap().as_ptr(), <[f32]>::as_ptr)
    }

    fn one_column(layout: DataLayout) -> HomogenNumericTable<f32> {
        HomogenNumericTable::from_array_in(vec![1.0, 2.0, 3.0], Shape { rows: 3, columns: 1 }, layout).unwrap()
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
