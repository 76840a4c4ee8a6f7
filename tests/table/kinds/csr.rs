//! Sparse rows: DAAL's cases, and what only they have.

use numeric_table::convert::WriteRule;
use numeric_table::table::spi::{Region, TableKind};
use numeric_table::{AnyValue, CsrNumericTable, array::AnySlice, bf16, f16, prelude::*};
use numeric_table::{MergedNumericTable, RowMergedNumericTable, table::by_ref};
use test_support::bits::Random;
use test_support::tables::{assert_error, shape};
use test_support::{SmallNumber, for_each_element};

/// DAAL's table: 5 x 5, counted from one.
const VALUES: [f64; 13] = [1., -1., -3., -2., 5., 4., 6., 4., -4., 2., 7., 8., -5.];
const COLUMNS: [i32; 13] = [1, 2, 4, 1, 2, 3, 4, 5, 1, 3, 4, 2, 5];
const OFFSETS: [i32; 6] = [1, 4, 6, 9, 12, 14];

fn daals_table<T: Element>() -> CsrNumericTable {
    let values = VALUES.map(numeric_table::convert::cast::<f64, T>).to_vec();
    CsrNumericTable::from_one_based(shape(5, 5), OFFSETS.to_vec(), COLUMNS.to_vec(), values).unwrap()
}

fn list<T: Clone>(values: &[T]) -> Vec<T> {
    values.to_vec()
}

#[test]
fn daals_rows_are_read_dense_and_sparse() {
    for table in [daals_table::<f32>(), daals_table::<i8>(), daals_table::<f64>()] {
        assert_eq!((table.kind(), table.kind().name(), table.nnz()), (TableKind::CSR, "csr", 13));
        let dense = [[-2., 5., 0., 0., 0.], [0., 0., 4., 6., 4.], [-4., 0., 2., 7., 0.]];
        assert_eq!(table.rows::<f64>(1..4).unwrap()[..], *dense.as_flattened());
        assert_eq!(table.column::<f32>(3, ..).unwrap()[..], [-3.0, 0.0, 6.0, 7.0, 0.0]);
        let block = table.sparse_rows::<f64>(1..4).unwrap();
        assert_eq!(block.values(), [-2., 5., 4., 6., 4., -4., 2., 7.]);
        assert_eq!((block.nnz(), block.row_count(), block.column_count(), block.row_range()), (8, 3, 5, 1..4));
        assert_eq!(block.offsets_from(1).unwrap().downcast::<i32>().unwrap()[..], [1, 3, 6, 9]);
        assert_eq!(block.indices_from(1).unwrap().downcast::<i32>().unwrap()[..], [1, 2, 3, 4, 5, 1, 3, 4]);
        assert_eq!(block.offsets().iter().collect::<Vec<_>>(), [0, 2, 5, 8]);
        assert_eq!(block.is_zero_copy(), table.uniform_type() == Some(ElementType::F64));
    }
}

#[test]
fn daals_values_are_written_through_a_sparse_block() {
    for mut table in [daals_table::<f64>(), daals_table::<i16>()] {
        let mut block = table.sparse_rows_mut::<f64>(1..4).unwrap();
        block.values_mut().iter_mut().enumerate().for_each(|(i, value)| *value = -(1.0 + i as f64));
        block.release().unwrap();
        let dense = [[-1., -2., 0., 0., 0.], [0., 0., -3., -4., -5.], [-6., 0., -7., -8., 0.]];
        assert_eq!(table.rows::<f64>(1..4).unwrap()[..], *dense.as_flattened());
        assert_eq!(table.rows::<f64>(0..1).unwrap()[..], [1., -1., 0., -3., 0.]);
        assert_eq!(table.rows::<f64>(4..).unwrap()[..], [0., 8., 0., 0., -5.]);
    }
}

/// `csr_table`: 4 x 4, rows 1 to 3, zero-based and one-based in and out.
#[test]
fn the_accessors_rows_are_read_from_either_base_in_either_base() {
    let (values, columns, offsets) =
        (vec![1, 2, 3, 4, 1, 11, 8], vec![1, 2, 4, 3, 2, 4, 2_i64], vec![1, 5, 5, 7, 8_i64]);
    let minus_one = |numbers: &[i64]| numbers.iter().map(|number| number - 1).collect::<Vec<_>>();
    let (from_zero, offsets_from_zero) = (minus_one(&columns), minus_one(&offsets));
    // Row 0 has the columns 1 2 4 3, which do not ascend.
    let one = CsrNumericTable::from_one_based(shape(4, 4), offsets, columns, values.clone());
    assert_error!(
        one.map_err(|refused| refused.error),
        ErrorKind::SparseStructure { row: Some(0), position: Some(3), .. },
        "not ascend"
    );
    let table = CsrNumericTable::from_unsorted(shape(4, 4), offsets_from_zero, from_zero, values).unwrap();
    assert_eq!(table.values_slice::<i32>().unwrap(), [1, 2, 4, 3, 1, 11, 8]);
    let block = table.sparse_rows::<i32>(2..4).unwrap();
    assert_eq!(block.values(), [1, 11, 8]);
    for (base, columns, offsets) in [(0, [1, 3, 1], [0, 2, 3]), (1, [2, 4, 2], [1, 3, 4])] {
        assert_eq!(block.indices().to_array::<i64>(base).unwrap()[..], columns);
        assert_eq!(block.offsets_from(base).unwrap().downcast::<i64>().unwrap()[..], offsets);
    }
}

/// DAAL loses what is written.
#[test]
fn a_dense_write_goes_into_stored_cells_and_refuses_others() {
    let mut table = daals_table::<f32>();
    table
        .update_rows::<f64, _>(1..4, |block| {
            block.iter_mut().for_each(|value| *value *= 10.0); // zeros stay zeros
            Ok(())
        })
        .unwrap();
    assert_eq!(table.rows::<f32>(1..2).unwrap()[..], [-20., 50., 0., 0., 0.]);
    let before = list(table.values_slice::<f32>().unwrap());
    let refused = table.update_rows::<f64, _>(1..4, |block| {
        block.row_mut(2)[1] = 0.5;
        block.row_mut(1)[4] = 77.0;
        Ok(())
    });
    let error = refused.unwrap_err();
    assert_eq!(error.to_string(), "the cell at row 3, column 1 is not stored: only zero can be written to it");
    assert_eq!(table.values_slice::<f32>().unwrap(), before);

    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(0, 5, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[2] = 1.0;
    assert_error!(table.release_block_of_rows(&mut block), ErrorKind::NotStored { row: 0, column: 2, .. });
    block.as_mut_slice().unwrap()[2] = 0.0;
    block.as_mut_slice().unwrap()[1] = 9.0;
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(table.get(0, 1).unwrap(), Some(AnyValue::F32(9.0)));

    table.set_value(0, 0, 5).unwrap();
    assert_error!(table.set_value(4, 0, 5), ErrorKind::NotStored { row: 4, column: 0, .. });
    table.set_value(4, 0, 0).unwrap();
    assert_error!(table.fill(1), ErrorKind::NotStored { row: 0, column: 2, .. });
    assert_eq!(table.value::<f64>(0, 0).unwrap(), 5.0);
    table.fill(0).unwrap();
    assert_eq!((table.nnz(), table.rows::<f64>(..).unwrap().to_vec()), (13, vec![0.0; 25]));
    assert_error!(
        table.column_mut::<f64>(2, ..).unwrap().release_with(1.0),
        ErrorKind::NotStored { row: 0, column: 2, .. }
    );
}

trait ReleaseWith {
    fn release_with(self, value: f64) -> Result<(), Error>;
}

impl ReleaseWith for BlockMut<'_, f64> {
    fn release_with(mut self, value: f64) -> Result<(), Error> {
        self.fill(value);
        self.release()
    }
}

#[test]
fn what_a_conversion_makes_zero_can_be_written_anywhere() {
    let mut table = CsrNumericTable::try_new(shape(1, 3), vec![0, 1], vec![1], vec![7_i32]).unwrap();
    let rule = |policy| WriteRule { policy, keep_unchanged: true };
    let whole = Region { rows: 0..1, columns: 0..3 };
    table.write_region(&whole, AnySlice::new(&[0.4, 8.9, -0.0]), rule(ConversionPolicy::Checked)).unwrap();
    assert_eq!(table.rows::<i32>(..).unwrap()[..], [0, 8, 0]);
    let exact = rule(ConversionPolicy::Exact);
    let refused = table.write_region(&whole, AnySlice::new(&[0.4, 9.0, 0.0]), exact);
    assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
    // The earlier one of two refusals of different kinds.
    let refused = table.write_region(&whole, AnySlice::new(&[1.0, 9.5, 0.0]), exact);
    assert_error!(refused, ErrorKind::NotStored { row: 0, column: 0, .. });
    let refused = table.write_region(&whole, AnySlice::new(&[0.0, 9.5, 1.0]), exact);
    assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 0, column: 1, .. });
    let refused = table.write_region(&whole, AnySlice::new(&[1e300, 9.0, 1.0]), rule(ConversionPolicy::Checked));
    assert_error!(refused, ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
    let refused = table.write_region(&whole, AnySlice::new(&[0.0; 2]), exact);
    assert_error!(refused, ErrorKind::LengthMismatch { expected: 3, actual: 2 });
    assert_eq!(table.rows::<i32>(..).unwrap()[..], [0, 8, 0]);
    let mut floats = CsrNumericTable::try_new(shape(1, 2), vec![0, 1], vec![0], vec![1.5_f32]).unwrap();
    floats.fill(-0.0).unwrap();
    let signs = floats.rows::<f32>(..).unwrap().iter().map(|value| value.is_sign_negative()).collect::<Vec<_>>();
    assert_eq!(signs, [true, false]); // a cell that is not stored is +0
}

#[test]
fn entries_in_any_order_make_the_same_table() {
    fn check<T: SmallNumber>(random: &mut Random) {
        let size = shape(9, 6);
        let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::<T>::new());
        let mut model = [[None::<u8>; 6]; 9];
        for _ in 0..40 {
            let (row, column, value) = (random.below(9), random.below(6), random.below(3) as u8);
            *model[row][column].get_or_insert(0) += value;
            rows.push(row as i64);
            columns.push(column as u32);
            values.push(T::small(value));
        }
        let table = CsrNumericTable::from_triplets(size, rows.clone(), columns.clone(), values.clone()).unwrap();
        let expected = model.as_flattened().iter().map(|cell| T::small(cell.unwrap_or(0))).collect::<Vec<_>>();
        assert_eq!(table.rows::<T>(..).unwrap()[..], expected);
        assert_eq!(table.nnz(), model.as_flattened().iter().flatten().count()); // sums of zero are stored
        assert_eq!(
            (table.indices().element_type(), table.offsets().element_type()),
            (ElementType::U32, ElementType::U32)
        );

        // By rows, in the order that they came in.
        let mut order = (0..rows.len()).collect::<Vec<_>>();
        order.sort_by_key(|&at| rows[at]);
        let offsets = (0..=9).map(|row| rows.iter().filter(|&&other| other < row).count() as u64).collect::<Vec<_>>();
        let indices = order.iter().map(|&at| columns[at] as i32).collect::<Vec<_>>();
        let sorted = order.iter().map(|&at| values[at]).collect::<Vec<_>>();
        let table = CsrNumericTable::from_unsorted(size, offsets, indices, sorted).unwrap();
        assert_eq!(table.rows::<T>(..).unwrap()[..], expected);
        assert_eq!(
            (table.indices().element_type(), table.offsets().element_type()),
            (ElementType::I32, ElementType::U64)
        );
    }
    let mut random = Random::new(8);
    for_each_element!(T => check::<T>(&mut random));
}

#[test]
fn sums_are_exact_or_an_error() {
    fn sum<T: Element>(values: &[T]) -> Result<AnyValue, String> {
        let (offsets, indices) = (vec![0, values.len() as i64], vec![2; values.len()]);
        let table = CsrNumericTable::from_unsorted(shape(1, 3), offsets, indices, values.to_vec());
        table.map(|table| table.get(0, 2).unwrap().unwrap()).map_err(|refused| {
            assert_eq!((refused.value.values.len(), refused.value.indices.len()), (values.len(), values.len()));
            refused.error.to_string()
        })
    }
    let message = |value: &str, target: &str| {
        Err(format!("the value {value} at row 0, column 2 is not representable as {target}"))
    };
    assert_eq!(sum(&[100_i8, 100, -100]), Ok(AnyValue::I8(100))); // what leaves the type on the way may come back
    assert_eq!(sum(&[100_i8, 100]), message("200", "i8"));
    assert_eq!(sum(&[u64::MAX, 0]), Ok(AnyValue::U64(u64::MAX)));
    assert_eq!(sum(&[u64::MAX, 1]), message("1.8446744073709552e19", "u64"));
    assert_eq!(sum(&[i64::MIN, -1, 1]), Ok(AnyValue::I64(i64::MIN)));
    assert_eq!(sum(&[i64::MAX, 1]), message("9223372036854775808", "i64"));
    assert_eq!(
        sum(&[0.1_f32, 0.2, 0.3]),
        Ok(AnyValue::F32((f64::from(0.1_f32) + f64::from(0.2_f32) + f64::from(0.3_f32)) as f32))
    );
    assert_eq!(sum(&[f16::MAX, f16::MAX]), message("131008", "f16"));
    assert_eq!(sum(&[bf16::ONE, bf16::ONE]), Ok(AnyValue::Bf16(bf16::from_f32(2.0))));
    assert_eq!(sum(&[f64::MAX, f64::MAX]), message("inf", "f64"));
    assert_eq!(sum(&[f64::INFINITY, 1.0]), Ok(AnyValue::F64(f64::INFINITY)));
    assert!(matches!(sum(&[f64::INFINITY, f64::NEG_INFINITY]), Ok(AnyValue::F64(value)) if value.is_nan()));
    let quiet = f32::from_bits(0x7FC0_1234);
    let table = CsrNumericTable::from_unsorted(shape(1, 3), vec![0, 2], vec![2, 0], vec![quiet, 1.0]).unwrap();
    assert_eq!(table.values_slice::<f32>().unwrap()[1].to_bits(), quiet.to_bits()); // one value is not added to anything
}

#[test]
fn what_needs_no_copy_is_not_copied() {
    let (offsets, indices) = (Array::from(vec![0_u64, 2, 3]), Array::from(vec![0_u32, 3, 1]));
    let values = Array::from(vec![1.5_f32, 2.5, 3.5]);
    let is_shared = |table: &CsrNumericTable| {
        let parts = table.clone().into_parts();
        [
            parts.offsets.downcast_ref::<u64>().unwrap().shares_memory_with(&offsets),
            parts.indices.downcast_ref::<u32>().unwrap().shares_memory_with(&indices),
            parts.values.downcast_ref::<f32>().unwrap().shares_memory_with(&values),
        ]
    };
    let parts = || (offsets.clone(), indices.clone(), values.clone());
    let (a, b, c) = parts();
    let mut table = CsrNumericTable::try_new(shape(2, 4), a, b, c).unwrap();
    assert_eq!(is_shared(&table), [true; 3]);
    let (a, b, c) = parts();
    assert_eq!(is_shared(&CsrNumericTable::from_unsorted(shape(2, 4), a, b, c).unwrap()), [true; 3]);
    assert_eq!(is_shared(&table.slice_rows(..1).unwrap()), [true; 3]);
    assert_eq!(is_shared(&table.slice_rows(1..).unwrap()), [false, true, true]);
    let block = table.sparse_rows::<f32>(1..).unwrap();
    assert_eq!(block.values().as_ptr(), values[2..].as_ptr());
    assert_eq!(block.indices().downcast::<u32>().unwrap().as_ptr(), indices[2..].as_ptr());
    assert!(block.offsets().downcast::<u64>().is_none());
    assert_eq!(table.sparse_rows::<f64>(..).unwrap().offsets().downcast::<u64>().unwrap().as_ptr(), offsets.as_ptr());

    // A refused write copies nothing; one that is not refused copies the values, which others share.
    assert_error!(table.fill(1), ErrorKind::NotStored { .. });
    let refused = table.sparse_rows_mut::<f64>(..).map(|mut block| {
        block.values_mut()[1] = 1e300;
        block.release()
    });
    assert_error!(refused.unwrap(), ErrorKind::ValueNotRepresentable { row: 0, column: 3, .. });
    assert_eq!(is_shared(&table), [true; 3]);
    table.set_value(0, 0, 7).unwrap();
    assert_eq!(is_shared(&table), [true, true, false]);
    assert_eq!((values[0], table.values_slice::<f32>().unwrap()), (1.5, &[7.0, 2.5, 3.5][..]));
}

#[test]
fn a_converted_sparse_block_keeps_what_nobody_changed_and_writes_all_or_nothing() {
    let big = (1_i64 << 53) + 1; // no f64 holds this
    let mut table = CsrNumericTable::try_new(shape(2, 3), vec![0, 2, 3], vec![0, 2, 1], vec![big, 2, 3]).unwrap();
    let mut block = table.sparse_rows_mut::<f64>(..).unwrap();
    assert!(!block.is_zero_copy());
    block.row_mut(1).1[0] = 30.0;
    block.release().unwrap();
    assert_eq!(table.values_slice::<i64>().unwrap(), [big, 2, 30]);
    let mut block = table.sparse_rows_mut::<f64>(1..).unwrap().with_policy(ConversionPolicy::Exact);
    block.values_mut()[0] = 0.5;
    assert_error!(block.release(), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. });
    for (value, expected) in [(5.0, 5), (f64::NAN, 5)] {
        let mut block = table.sparse_rows_mut::<f64>(1..).unwrap();
        block.values_mut()[0] = value;
        drop(block); // written if it fits
        assert_eq!(table.values_slice::<i64>().unwrap(), [big, 2, expected]);
    }
    let mut block = table.sparse_rows_mut::<f64>(..).unwrap();
    block.values_mut().fill(1.0);
    block.discard();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut block = table.sparse_rows_mut::<f64>(..).unwrap();
        block.values_mut().fill(1.0);
        panic!("half-way");
    }));
    assert!(result.is_err());
    assert_eq!(table.values_slice::<i64>().unwrap(), [big, 2, 5]);
    assert_error!(
        table.sparse_rows_with::<f64>(.., ConversionPolicy::Exact).map(drop),
        ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. }
    );
}

#[test]
fn an_update_of_sparse_rows_is_written_or_undone_whatever_is_stored() {
    fn check<T: SmallNumber, U: SmallNumber>() {
        let stored = [1, 2, 3].map(T::small);
        let mut table = CsrNumericTable::try_new(shape(2, 3), vec![0, 2, 3], vec![0, 2, 1], stored.to_vec()).unwrap();
        let untouched = table.clone();
        let count = table.update_sparse_rows::<U, _>(1.., |block| {
            assert!(!block.is_zero_copy() && block.row_range() == (1..2));
            block.row_mut(0).1[0] = U::small(7);
            Ok(block.nnz())
        });
        assert_eq!(count.unwrap(), 1);
        assert_eq!(table.values_slice::<T>().unwrap(), [1, 2, 7].map(T::small));
        let failed = table.update_sparse_rows::<U, ()>(.., |block| {
            block.values_mut().fill(U::small(9));
            Err(Error::other("given up"))
        });
        assert_error!(failed, ErrorKind::Other { .. });
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            table.update_sparse_rows::<U, ()>(.., |block| {
                block.values_mut().fill(U::small(9));
                panic!("half-way");
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(table.values_slice::<T>().unwrap(), [1, 2, 7].map(T::small));
        assert_eq!(untouched.values_slice::<T>().unwrap(), stored);
        let called = table.update_sparse_rows::<U, ()>(..3, |_| panic!("there is no third row"));
        assert_error!(called, ErrorKind::RowsOutOfRange { row_count: 2, .. });
        assert_eq!(table.update_sparse_rows::<U, _>(2.., |block| Ok(block.values().len())).unwrap(), 0);
    }
    for_each_element!(T => {
        check::<T, T>();
        check::<T, f64>();
        check::<T, u8>();
    });

    // What the closure leaves alone keeps every digit, and a value that does not fit undoes all of them.
    let big = (1_i64 << 53) + 1;
    let mut table = CsrNumericTable::try_new(shape(2, 3), vec![0, 2, 3], vec![0, 2, 1], vec![big, 2, 3]).unwrap();
    let mut set = |values: [f64; 2]| {
        table.update_sparse_rows::<f64, _>(.., |block| {
            block.values_mut()[1..].copy_from_slice(&values);
            Ok(())
        })
    };
    set([20.0, 3.0]).unwrap();
    assert_error!(set([6.0, 1e30]), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. });
    assert_eq!(table.values_slice::<i64>().unwrap(), [big, 20, 3]);
}

#[test]
fn sparse_blocks_and_indices_print_and_compare() {
    let mut table =
        CsrNumericTable::try_new(shape(3, 4), vec![0, 2, 3, 4], vec![0_u64, 3, 1, 2], vec![1_u8, 2, 3, 4]).unwrap();
    let expected = "rows: 1..3, columns: 4, offsets: [0, 1, 2], indices: [1, 2], values: [3.0, 4.0] }";
    assert_eq!(format!("{:?}", table.sparse_rows::<f32>(1..).unwrap()), format!("SparseBlock {{ {expected}"));
    assert_eq!(format!("{:?}", table.sparse_rows_mut::<f32>(1..).unwrap()), format!("SparseBlockMut {{ {expected}"));
    assert_error!(table.sparse_rows::<f32>(..4), ErrorKind::RowsOutOfRange { .. });

    let same = CsrNumericTable::try_new(shape(2, 4), vec![0, 1, 2], vec![1, 2], vec![0.5, 0.5]).unwrap();
    let block = table.sparse_rows::<u8>(1..).unwrap();
    assert!(block.offsets() == same.offsets() && block.indices() == same.indices()); // other types, and another start
    assert!(block.offsets() != same.indices() && block.indices() != table.indices());
    let mut columns = table.indices().into_iter();
    assert_eq!((columns.len(), columns.next_back(), columns.nth(1)), (4, Some(2), Some(3)));
    assert_eq!(columns.clone().collect::<Vec<_>>(), [1]);
    assert_eq!((columns.next(), columns.next(), columns.next_back()), (Some(1), None, None));
}

#[test]
fn rows_are_cut_off_and_added_without_values() {
    for rows in [0, 2, 5, 8] {
        let mut table = daals_table::<f32>();
        let dense = table.to_dense::<f32>().unwrap();
        table.resize(rows).unwrap();
        let kept = dense.as_slice().unwrap().iter().copied().chain(std::iter::repeat(0.0)).take(rows * 5);
        assert_eq!(table.rows::<f32>(..).unwrap()[..], kept.collect::<Vec<_>>());
        assert_eq!((table.nnz(), table.offsets().len()), (OFFSETS[rows.min(5)] as usize - 1, rows + 1));
        table.resize(6).unwrap();
        assert!(table.rows::<f32>(rows.min(6)..).unwrap().iter().all(|&value| value == 0.0)); // gone for ever
    }
    let mut table = daals_table::<f32>();
    assert_error!(table.resize(usize::MAX), ErrorKind::SizeOverflow { .. });
    assert!(table.resize(usize::MAX - 1).is_err());
    assert_eq!((table.row_count(), table.offsets().len()), (5, 6));
}

#[test]
fn columns_keep_their_names() {
    let features = ["a", "b", "c"].map(|name| Feature::new(ElementType::F64).named(name));
    let mut dense = HomogenNumericTable::from_rows(&[[0.0, 1.5, f64::NAN]]).unwrap();
    dense.set_dictionary(features.into_iter().collect()).unwrap();
    let table = CsrNumericTable::from_dense::<f32>(&dense).unwrap();
    assert_eq!((table.nnz(), table.dictionary().index_of("b")), (2, Some(1)));
    assert_eq!(table.column_type(1).unwrap(), ElementType::F32);
    assert_eq!(table.slice_rows(..).unwrap().dictionary().index_of("c"), Some(2));
    assert_eq!(table.clone().dictionary().index_of("c"), Some(2));
    assert_eq!(table.transpose().unwrap().dictionary().len(), 1);
}

#[test]
fn sparse_tables_are_parts_of_others() {
    let (sparse, dense) = (daals_table::<f32>(), daals_table::<f32>().to_dense::<f32>().unwrap());
    let side_by_side = MergedNumericTable::new([by_ref(&sparse), by_ref(&dense)]).unwrap();
    assert_eq!(side_by_side.rows::<f64>(2..3).unwrap()[..], [0., 0., 4., 6., 4., 0., 0., 4., 6., 4.]);
    assert_eq!(side_by_side.column::<i32>(8, ..).unwrap()[..], [-3, 0, 6, 7, 0]);
    let end_to_end = RowMergedNumericTable::new([by_ref(&dense), by_ref(&sparse)]).unwrap();
    assert_eq!(
        end_to_end.rows::<f32>(4..7).unwrap()[..],
        [0., 8., 0., 0., -5., 1., -1., 0., -3., 0., -2., 5., 0., 0., 0.]
    );
    let mut lower = RowMergedNumericTable::new([
        Box::new(daals_table::<f32>().to_dense::<f32>().unwrap()) as Box<dyn NumericTable>,
        Box::new(daals_table::<f32>()),
    ])
    .unwrap();
    assert_error!(lower.set_value(9, 2, 1), ErrorKind::NotStored { row: 9, column: 2, .. });
    lower.set_value(9, 4, 1).unwrap();
    assert_eq!(lower.value::<f64>(9, 4).unwrap(), 1.0);
}
