//! The peer's 69 known faults (DAAL and oneDAL, by source text), each made impossible here: one small test per fault that
//! has a counterpart in this library, named by its number. What each fault is, stands in the test's comment.
//!
//! | fault | cannot be written: why |
//! | --- | --- |
//! | 17 | constructors take no status of an earlier call; they return a `Result` |
//! | 22 | a cost, not a result: one conversion call per block is what `benches/` measures |
//! | 23 | a cost, not a result: columns are gathered in blocks, and `value` allocates nothing; see `benches/` |
//! | 24 | every feature has one of the 12 element types: there is no "other" to run off a table with |
//! | 29 | tables have no normalisation flag and carry no statistics that could go stale |
//! | 36 | there is no archive object to copy: an archive is a `Vec<u8>` |
//! | 37 | there is no cached pointer to an archive: each `to_bytes` gives its own `Vec` |
//! | 38 | there is no caller's buffer to be too small: `to_bytes` gives a `Vec` |
//! | 53 | row ranges are unsigned: there are no negative ends to mean anything |
//! | 62 | there is no untyped `get_data`; `AnySlice::downcast` to another type is `None` (`fault_66` uses it) |
//!
//! No counterpart (CSR, SOA, AOS, merged, Arrow, heterogeneous and chunked tables, CSV, the peer's own tests):
//! 43, 44, 45, 46, 47, 48, 49, 52, 64, 68, 69.

mod common;

use std::ops::Range;
use std::sync::Arc;

use common::tables::*;
use common::{SmallNumber, for_each_element};
use numeric_table::prelude::*;
use numeric_table::{BlockKind, from_bytes_any};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::{ColumnMajor, RowMajor};
use ReadWriteMode::{ReadOnly, ReadWrite, WriteOnly};

// ---------------------------------------------------------------------------------------- 2.1 bounds, overflow, lifetime

/// `getValue` out of range dereferences null.
#[test]
fn fault_01_a_value_out_of_range_is_an_error() {
    let table = numbered::<f32>(3, 2, RowMajor);
    assert_error!(table.value::<f64>(3, 0), Error::RowsOutOfRange { .. });
    assert_error!(table.value::<f64>(0, 2), Error::ColumnOutOfRange { .. });
}

/// The column index is not checked: the last row reads and writes past the end.
#[test]
fn fault_02_a_column_out_of_range_is_an_error() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    for mode in MODES {
        assert_error!(
            table.get_block_of_column_values(2, 0, 3, mode, &mut block),
            Error::ColumnOutOfRange { column: 2, column_count: 2 }
        );
    }
}

/// `start + count` wraps and passes the clamp.
#[test]
fn fault_03_a_huge_count_is_cut_and_does_not_wrap() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(2, usize::MAX - 1, ReadOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [5.0, 6.0]);
    table.get_block_of_column_values(1, 1, usize::MAX, ReadOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [4.0, 6.0]);
}

/// `resize` claims rows that the user's buffer does not hold.
#[test]
fn fault_04_resize_never_outgrows_the_users_buffer() {
    static VALUES: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
    let mut table = HomogenNumericTable::from_array(&VALUES[..], shape(2, 2)).unwrap();
    table.resize(1000).unwrap();
    assert_eq!(table.array().unwrap().len(), 2000);
    assert_eq!((table.data_memory_status(), VALUES), (MemoryStatus::InternallyAllocated, [1.0, 2.0, 3.0, 4.0]));
}

/// `resize` destroys the data, and has changed the row count before it fails.
#[test]
fn fault_05_resize_keeps_values_and_changes_nothing_if_it_fails() {
    let mut table = HomogenNumericTable::full(shape(2, 2), 7_i32).unwrap();
    table.resize(3).unwrap();
    assert_eq!(values_of(&table), [7, 7, 7, 7, 0, 0]);
    let before = state_of(&table);
    assert!(table.resize(usize::MAX).is_err());
    assert!(table.resize(isize::MAX as usize / 8).is_err());
    assert_eq!(state_of(&table), before);
}

/// `setArray` trusts the sizes. (It accepts null, too, which cannot be written here.)
#[test]
fn fault_06_set_array_checks_the_size() {
    let mut table = HomogenNumericTable::<f32>::new(shape(0, 2), DoNotAllocate).unwrap();
    assert_error!(table.set_array(vec![1.0; 3], 2), Error::ArrayTooShort { have: 3, need: 4 });
    assert_eq!((table.shape(), table.data_memory_status()), (shape(0, 2), MemoryStatus::NotAllocated));
}

/// The shared dictionary changes the shape of the table, and the memory stays.
#[test]
fn fault_07_a_dictionary_cannot_change_the_shape() {
    let mut table = numbered::<f32>(3, 2, RowMajor);
    let wider = DataDictionary::uniform(feature::<f32>(), 5);
    assert_error!(table.set_dictionary(wider), Error::DictionaryMismatch { features: 5, columns: 2, .. });
    assert_eq!((table.shape(), table.dictionary().len()), (shape(3, 2), 2));
}

/// A descriptor takes foreign memory for its own larger buffer, and writes into it.
#[test]
fn fault_08_a_reused_descriptor_never_writes_into_memory_that_it_showed() {
    static LENT: [f32; 8] = [1.0; 8];
    let lender = HomogenNumericTable::from_array(&LENT[..], shape(4, 2)).unwrap();
    let mut other = numbered::<u8>(3, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    lender.read_rows(0..4, &mut block).unwrap();
    assert!(block.is_zero_copy());
    other.get_block_of_rows(0, 3, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap().fill(9.0);
    other.release_block_of_rows(&mut block).unwrap();
    assert_eq!(LENT, [1.0; 8]);
}

/// A zero-copy block dangles when the table goes, is resized or gets another array.
#[test]
fn fault_09_a_block_outlives_its_table_and_its_memory() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let (mut reader, mut writer) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<f32>::new());
    table.get_block_of_rows(0, 2, ReadOnly, &mut reader).unwrap();
    table.resize(100).unwrap();
    table.set_array(vec![5.0, 6.0], 1).unwrap();
    table.get_block_of_rows(0, 1, ReadWrite, &mut writer).unwrap();
    assert_error!(table.resize(100), Error::BlockOutstanding { .. });
    drop(table);
    writer.as_mut_slice().unwrap()[0] = 9.0;
    assert_eq!((reader.as_slice(), writer.as_slice()), (&[1.0, 2.0, 3.0, 4.0][..], &[9.0, 6.0][..]));
}

/// Release as another kind, or on another table, writes with the wrong stride.
#[test]
fn fault_10_a_wrong_release_is_an_error_and_writes_nothing() {
    let (mut table, mut other) = (numbered::<f32>(3, 2, RowMajor), numbered::<f32>(2, 3, RowMajor));
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(0, 3, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap().fill(9.0);
    assert_error!(other.release_block_of_rows(&mut block), Error::WrongTable);
    assert_error!(
        table.release_block_of_column_values(&mut block),
        Error::WrongBlockKind { expected: BlockKind::ColumnValues, found: BlockKind::Rows }
    );
    drop(block);
    assert_eq!((values_of(&table), values_of(&other)), (numbers::<f32>(2, 0..3), numbers::<f32>(3, 0..2)));
}

/// Release after a failed get reads through null.
#[test]
fn fault_11_release_after_a_failed_get_is_an_error() {
    let mut table = HomogenNumericTable::<f32>::new(shape(3, 2), DoNotAllocate).unwrap();
    let mut block = BlockDescriptor::<f64>::new();
    assert_error!(table.get_block_of_rows(0, 3, ReadWrite, &mut block), Error::NotAllocated);
    assert_eq!((block.row_count(), block.column_count(), block.as_slice().len()), (0, 0, 0));
    assert_error!(table.release_block_of_rows(&mut block), Error::NoBlock);
}

/// A block for reading can be written if the types are the same.
#[test]
fn fault_12_read_only_is_read_only_for_every_type() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let (mut same, mut other) = (BlockDescriptor::<f32>::new(), BlockDescriptor::<f64>::new());
    table.get_block_of_rows(0, 2, ReadOnly, &mut same).unwrap();
    table.get_block_of_rows(0, 2, ReadOnly, &mut other).unwrap();
    assert_error!(same.as_mut_slice(), Error::NotWritable { mode: ReadOnly });
    assert_error!(other.as_mut_slice(), Error::NotWritable { mode: ReadOnly });
}

/// A converted block for writing writes back whatever its buffer held before.
#[test]
fn fault_13_a_converted_write_only_block_never_writes_left_over_values() {
    let (mut table, mut other) = (numbered::<f32>(2, 2, RowMajor), numbered::<i32>(2, 2, RowMajor));
    let mut block = BlockDescriptor::<f64>::new();
    other.get_block_of_rows(0, 2, ReadOnly, &mut block).unwrap();
    table.get_block_of_rows(0, 2, WriteOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [0.0; 4]);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of(&table), [0.0; 4]);
}

/// Release rewrites every value through the narrower type, changed or not.
#[test]
fn fault_14_a_value_nobody_changed_is_not_rewritten() {
    let mut table = HomogenNumericTable::from_rows(&[[0.1_f64, 1e300], [std::f64::consts::PI, 4.0]]).unwrap();
    let mut block = BlockDescriptor::<i32>::new();
    table.get_block_of_rows(0, 2, ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[3] = 5;
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(table.as_slice().unwrap(), [0.1, 1e300, std::f64::consts::PI, 5.0]);
}

/// Debug builds divide by zero for an empty range.
#[test]
fn fault_15_an_empty_block_is_an_ordinary_block() {
    for table_shape in [shape(3, 2), shape(0, 2), shape(3, 0), shape(0, 0)] {
        let mut table = HomogenNumericTable::<f32>::new(table_shape, DoAllocate).unwrap();
        let mut block = BlockDescriptor::<f64>::new();
        for mode in MODES {
            table.get_block_of_rows(table_shape.rows, 5, mode, &mut block).unwrap();
            assert_eq!((block.row_count(), block.column_count()), (0, table_shape.columns));
            table.release_block_of_rows(&mut block).unwrap();
        }
    }
}

/// A size that overflows is thrown, where all else returns a status; the old block is freed by then.
#[test]
fn fault_16_an_overflowing_size_is_an_ordinary_error() {
    let huge = shape(usize::MAX / 2, 3);
    assert_error!(HomogenNumericTable::<f32>::new(huge, DoAllocate), Error::SizeOverflow { shape, .. } if shape == huge);
    let mut table = numbered::<f32>(2, 3, RowMajor);
    assert_error!(table.resize(usize::MAX / 2), Error::SizeOverflow { .. });
    assert_eq!(values_of(&table), numbers::<f32>(3, 0..2));
}

/// Checks for null after `new` do not work.
#[test]
fn fault_18_memory_that_is_refused_is_an_error() {
    let rows = isize::MAX as usize / 4;
    assert_error!(HomogenNumericTable::<f32>::new(shape(rows, 1), DoAllocate), Error::OutOfMemory { .. });
    let mut dictionary = DataDictionary::uniform(feature::<f32>(), rows);
    assert_error!(dictionary.set_feature(0, feature::<f32>().ordinal()), Error::OutOfMemory { .. });
}

// ------------------------------------------------------------------------------------------------ 2.2 conversion and types

/// Floats that do not fit in an integer are undefined behaviour, and differ between machines.
#[test]
fn fault_19_every_float_has_a_defined_integer() {
    let table = HomogenNumericTable::from_rows(&[[f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300, -0.9]]).unwrap();
    assert_eq!(&table.rows::<i32>(0..1).unwrap()[..], [0, i32::MAX, i32::MIN, i32::MAX, 0]);
    assert_eq!(&table.rows::<u8>(0..1).unwrap()[..], [0, 255, 0, 255, 0]);
    assert_eq!(&table.rows::<u64>(0..1).unwrap()[..], [0, u64::MAX, 0, u64::MAX, 0]);
    assert_error!(table.convert_with::<i64>(ConversionPolicy::Checked), Error::ValueNotRepresentable { column: 0, .. });
}

/// `convertToHomogen` goes through `float`, even from `int64` to `int64`, and keeps the source's dictionary.
#[test]
fn fault_20_conversion_of_a_table_is_direct_and_describes_the_result() {
    let table = HomogenNumericTable::from_rows(&[[(1_i64 << 24) + 1, (1 << 53) + 1]]).unwrap();
    assert_eq!(table.convert::<i64>().unwrap().as_slice().unwrap(), [16_777_217, 9_007_199_254_740_993]);
    let converted = table.convert::<u64>().unwrap();
    assert_eq!(converted.as_slice().unwrap(), [16_777_217, 9_007_199_254_740_993]);
    assert_eq!(*converted.dictionary(), DataDictionary::uniform(feature::<u64>(), 2));
    let none = HomogenNumericTable::<i64>::new(shape(3, 0), DoAllocate).unwrap();
    assert_eq!(none.convert::<f32>().unwrap().shape(), shape(3, 0));
}

/// Blocks are `double`, `float` or `int` only.
#[test]
fn fault_21_64_bit_integers_are_read_and_written_exactly() {
    let mut table = HomogenNumericTable::from_rows(&[[i64::MAX, i64::MIN, (1 << 53) + 1]]).unwrap();
    assert_eq!(&table.rows::<i64>(0..1).unwrap()[..], [i64::MAX, i64::MIN, 9_007_199_254_740_993]);
    table.rows_mut::<u64>(0..1).unwrap()[2] = i64::MAX as u64 - 1;
    assert_eq!(table.as_slice().unwrap(), [i64::MAX, i64::MIN, i64::MAX - 1]);
}

/// `char` is labelled signed and is not, on some machines.
#[test]
fn fault_25_signed_and_unsigned_bytes_are_two_types() {
    let signed = HomogenNumericTable::from_rows(&[[-1_i8]]).unwrap();
    let unsigned = HomogenNumericTable::from_rows(&[[255_u8]]).unwrap();
    assert_eq!((signed.value::<f64>(0, 0).unwrap(), unsigned.value::<f64>(0, 0).unwrap()), (-1.0, 255.0));
    assert_eq!((ElementType::I8.id(), ElementType::U8.id()), (6, 7));
}

/// Two functions of one name give different type numbers; one knows three types.
#[test]
fn fault_26_every_type_has_one_number() {
    fn number_of<T: Element>() -> u8 {
        T::TYPE.id()
    }
    let numbers = [
        number_of::<f32>(),
        number_of::<f64>(),
        number_of::<i32>(),
        number_of::<u32>(),
        number_of::<i64>(),
        number_of::<u64>(),
        number_of::<i8>(),
        number_of::<u8>(),
        number_of::<i16>(),
        number_of::<u16>(),
    ];
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]); // DAAL's `IndexNumType`
}

/// `assign(double)` cannot express every value of a 64-bit table.
#[test]
fn fault_27_assign_takes_every_64_bit_value() {
    let mut table = numbered::<i64>(2, 2, RowMajor);
    table.fill((1_i64 << 53) + 1).unwrap();
    assert_eq!(table.as_slice().unwrap(), [9_007_199_254_740_993; 4]);
}

// ----------------------------------------------------------------------------------------------------------- 2.3 metadata

/// Where all features are equal, setting one changes all; the last column wins.
#[test]
fn fault_28_setting_one_of_equal_features_changes_one() {
    let mut dictionary = numbered::<f32>(2, 3, RowMajor).dictionary().clone();
    dictionary.set_feature(2, feature::<f32>().categorical(4)).unwrap();
    let types: Vec<_> = dictionary.iter().map(|feature| feature.feature_type).collect();
    assert_eq!(types, [FeatureType::Continuous, FeatureType::Continuous, FeatureType::Categorical]);
}

/// The CSV loader writes features that say `int` into a table of `float`.
#[test]
fn fault_30_a_feature_of_another_type_is_refused() {
    let mut table = numbered::<f32>(2, 3, RowMajor);
    let mut dictionary = table.dictionary().clone();
    dictionary.set_feature(1, feature::<i32>().categorical(4)).unwrap();
    assert_error!(
        table.set_dictionary(dictionary),
        Error::DictionaryMismatch { found: Some((1, ElementType::I32)), .. }
    );
}

/// Equal features of no columns: lookup, check and serialisation dereference null.
#[test]
fn fault_31_equal_features_of_no_columns_are_an_ordinary_dictionary() {
    let dictionary = DataDictionary::uniform(feature::<f32>(), 0);
    assert_error!(dictionary.feature(0), Error::ColumnOutOfRange { column: 0, column_count: 0 });
    let table = HomogenNumericTable::<f32>::with_dictionary(dictionary).unwrap();
    let bytes = table.to_bytes().unwrap();
    assert_eq!(HomogenNumericTable::<f32>::from_bytes(&bytes).unwrap(), table);
}

/// `create()` leaves the layout unknown, for good.
#[test]
fn fault_32_every_table_has_a_layout_from_the_start() {
    let mut table = HomogenNumericTable::<f32>::default();
    assert_eq!(table.data_layout(), RowMajor);
    table.resize(3).unwrap();
    table.set_array(Vec::new(), 3).unwrap();
    assert_eq!(table.data_layout(), RowMajor);
}

// ------------------------------------------------------------------------------------------------------ 2.4 serialisation

/// The magic number is never checked, and a `float` archive is read into a `double` table.
#[test]
fn fault_33_foreign_bytes_and_other_types_are_refused() {
    let mut bytes = numbered::<f32>(2, 2, RowMajor).to_bytes().unwrap();
    assert_error!(
        HomogenNumericTable::<f64>::from_bytes(&bytes),
        Error::ElementTypeMismatch { expected: ElementType::F64, found: ElementType::F32, .. }
    );
    for position in 0..8 {
        bytes[position] ^= 1;
        assert_error!(HomogenNumericTable::<f32>::from_bytes(&bytes), Error::Format { .. });
        assert_error!(from_bytes_any(&bytes), Error::Format { .. });
        bytes[position] ^= 1;
    }
    assert_error!(from_bytes_any(b"DAAL"), Error::Format { offset: 0, .. });
}

/// Short archives leave values uninitialised.
#[test]
fn fault_34_an_archive_that_is_cut_off_anywhere_is_refused() {
    let bytes = numbered::<f32>(3, 2, ColumnMajor).to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert_error!(HomogenNumericTable::<f32>::from_bytes(&bytes[..length]), Error::Format { .. });
        assert_error!(from_bytes_any(&bytes[..length]), Error::Format { .. });
    }
}

/// Reading past the last block of an archive uses uninitialised bookkeeping.
#[test]
fn fault_35_bytes_behind_the_table_are_refused() {
    let mut bytes = numbered::<f32>(3, 2, RowMajor).to_bytes().unwrap();
    bytes.push(0);
    assert_error!(HomogenNumericTable::<f32>::from_bytes(&bytes), Error::Format { .. });
}

/// Gives the archive of a table of 251 x 3 bytes, with every 8-byte number 251 or 3 replaced in turn.
fn archives_with_other_sizes(size: u64) -> impl Iterator<Item = Vec<u8>> {
    let archive = HomogenNumericTable::full(shape(251, 3), 77_u8).unwrap().to_bytes().unwrap();
    let is_size = |bytes: &[u8]| bytes == 251_u64.to_le_bytes() || bytes == 3_u64.to_le_bytes();
    let positions: Vec<usize> = (0..archive.len() - 8).filter(|&at| is_size(&archive[at..at + 8])).collect();
    assert!(positions.len() >= 2, "rows and columns are somewhere in the archive");
    positions.into_iter().map(move |at| {
        let mut damaged = archive.clone();
        damaged[at..at + 8].copy_from_slice(&size.to_le_bytes());
        damaged
    })
}

/// `rows * columns * size` is not checked, and can wrap to 0.
#[test]
fn fault_39_sizes_in_an_archive_that_overflow_are_refused() {
    for size in [u64::MAX, 1 << 63, (1 << 63) + 1, u64::MAX / 3 + 1, u64::MAX / 251 + 1] {
        for damaged in archives_with_other_sizes(size) {
            assert!(HomogenNumericTable::<u8>::from_bytes(&damaged).is_err());
            assert!(from_bytes_any(&damaged).is_err());
        }
    }
}

/// Objects are made from the archive's tag and cast to whatever class is expected.
#[test]
fn fault_40_an_archive_of_any_type_is_read_as_that_type_only() {
    fn read_as<S: SmallNumber, T: SmallNumber>() {
        let bytes = numbered::<S>(2, 2, RowMajor).to_bytes().unwrap();
        let read = HomogenNumericTable::<T>::from_bytes(&bytes);
        if S::TYPE == T::TYPE {
            assert_eq!(values_of(&read.unwrap()), numbers::<T>(2, 0..2));
        } else {
            assert_error!(read, Error::ElementTypeMismatch { expected, found, .. } if (expected, found) == (T::TYPE, S::TYPE));
        }
        assert_eq!(from_bytes_any(&bytes).unwrap().uniform_type(), Some(S::TYPE));
    }
    fn read_as_each<S: SmallNumber>() {
        for_each_element!(T => read_as::<S, T>());
    }
    for_each_element!(read_as_each);
}

/// 64 bytes per scalar: 10 x 11 floats, 440 bytes, take 4992.
#[test]
fn fault_41_an_archive_is_hardly_larger_than_the_values() {
    let bytes = HomogenNumericTable::full(shape(10, 11), 1.0_f32).unwrap().to_bytes().unwrap();
    assert!(bytes.len() < 440 + 256, "{}", bytes.len());
}

/// Categories may be lost.
#[test]
fn fault_42_categories_survive_an_archive() {
    let mut table = numbered::<f32>(2, 2, RowMajor);
    let species = feature::<f32>().named("species").categorical(3);
    table.set_dictionary(DataDictionary::from_features([species.clone(), feature::<f32>().ordinal()])).unwrap();
    let read = HomogenNumericTable::<f32>::from_bytes(&table.to_bytes().unwrap()).unwrap();
    assert_eq!(*read.dictionary().feature(0).unwrap(), species);
    assert_eq!((read.category_count(0).unwrap(), read.feature_type(1).unwrap()), (Some(3), FeatureType::Ordinal));
}

// ------------------------------------------------------------------------------------------------------------- 2.6 oneDAL

/// The builder's `copy_data` copies the allocated size, not the source's.
#[test]
fn fault_50_copying_checks_both_sizes() {
    let (source, mut table) = (numbered::<f32>(1, 2, RowMajor), numbered::<f32>(2, 2, RowMajor));
    let mut target = table.view_mut().unwrap();
    assert_error!(target.copy_from(source.view().unwrap()), Error::ShapeMismatch { .. });
    assert_eq!(values_of(&table), numbers::<f32>(2, 0..2));
}

/// Row ranges that run backwards, and negative starts, pass the check.
#[test]
fn fault_51_a_range_that_runs_backwards_is_an_error() {
    let backwards = Range { start: 2, end: 1 };
    let mut table = numbered::<f32>(3, 2, RowMajor);
    assert_error!(table.rows::<f32>(backwards.clone()), Error::RowsOutOfRange { .. });
    assert_error!(table.rows::<f64>(backwards.clone()), Error::RowsOutOfRange { .. });
    assert_error!(table.column_mut::<f64>(0, backwards.clone()), Error::RowsOutOfRange { .. });
    assert_error!(table.slice_rows(backwards), Error::RowsOutOfRange { .. });
}

/// Slicing or reinterpreting an empty array throws `bad_variant_access`.
#[test]
fn fault_54_an_empty_array_can_be_sliced_and_reinterpreted() {
    let read: Array<f32> = serde_json::from_str(&serde_json::to_string(&Array::<f32>::new()).unwrap()).unwrap();
    for array in [Array::<f32>::new(), Array::zeros(0).unwrap(), Array::from(Vec::new()), read] {
        assert_eq!(array.slice(0..0).unwrap().len(), 0);
        assert_eq!(array.reinterpret::<u64>().unwrap().len(), 0);
        assert_error!(array.slice(0..1), Error::ElementsOutOfRange { count: 0, .. });
    }
}

/// A moved-from array dereferences null; move-assignment keeps the old memory alive.
#[test]
fn fault_55_a_taken_array_is_an_ordinary_empty_one() {
    let owner: Arc<[f32]> = Arc::from([1.0, 2.0]);
    let mut array = Array::from(Arc::clone(&owner));
    let taken = std::mem::take(&mut array);
    assert_eq!((array.clone().len(), taken.len()), (0, 2));
    array.reset();
    array = taken;
    assert_eq!(&array[..], [1.0, 2.0]);
    array = Array::new();
    assert_eq!((array.len(), Arc::strong_count(&owner)), (0, 1));
}

/// Copies alias the same mutable memory, and slices are not checked in release builds.
#[test]
fn fault_56_two_arrays_never_write_one_block() {
    let mut array = Array::from(vec![1.0_f32, 2.0]);
    let mut copy = array.clone();
    assert_error!(array.mutable_data(), Error::SharedData { owner_count: 2 });
    assert_error!(copy.mutable_data(), Error::SharedData { owner_count: 2 });
    copy.need_mutable_data().unwrap()[0] = 9.0;
    assert_eq!((array[0], copy[0]), (1.0, 9.0));
    assert_error!(array.slice(1..3), Error::ElementsOutOfRange { count: 2, .. });
}

/// `need_mutable_data` of an empty array does not make it mutable.
#[test]
fn fault_57_an_empty_array_becomes_mutable_like_any_other() {
    let mut array = Array::<f32>::new();
    assert!(array.need_mutable_data().unwrap().is_empty());
    assert!(array.has_mutable_data() && array.mutable_data().unwrap().is_empty());
}

/// A larger block that is used again keeps its old count.
#[test]
fn fault_58_a_reused_block_has_the_count_of_what_it_shows() {
    let table = numbered::<u8>(5, 2, RowMajor);
    let mut block = BlockDescriptor::<f32>::new();
    assert_eq!(table.read_rows(0..5, &mut block).unwrap().len(), 10);
    assert_eq!(table.read_rows(1..2, &mut block).unwrap(), [3.0, 4.0]);
    assert_eq!((block.as_slice().len(), block.row_count(), block.capacity()), (2, 1, 10));
}

/// 8- and 16-bit tables can be built and not read.
#[test]
fn fault_59_tables_of_small_types_are_read() {
    fn read<T: SmallNumber>() {
        let table = numbered::<T>(2, 2, RowMajor);
        assert_eq!(&table.rows::<f32>(1..2).unwrap()[..], [3.0, 4.0]);
        assert_eq!(&table.column::<i32>(1, 0..2).unwrap()[..], [2, 4]);
    }
    read::<i8>();
    read::<u8>();
    read::<i16>();
    read::<u16>();
    read::<numeric_table::f16>();
    read::<numeric_table::bf16>();
}

/// A deserialised table is not validated.
#[test]
fn fault_60_sizes_in_an_archive_that_do_not_fit_the_values_are_refused() {
    for size in [0, 1, 2, 4, 250, 252, 1 << 32] {
        for damaged in archives_with_other_sizes(size) {
            assert!(HomogenNumericTable::<u8>::from_bytes(&damaged).is_err());
        }
    }
}

/// An "immutable" table shares its memory with arrays that stay mutable.
#[test]
fn fault_61_an_array_outside_cannot_write_the_table() {
    let mut outside = Array::from(vec![1.0_f32, 2.0]);
    let table = HomogenNumericTable::from_array(outside.clone(), shape(1, 2)).unwrap();
    assert_error!(outside.mutable_data(), Error::SharedData { .. });
    outside.need_mutable_data().unwrap()[0] = 9.0;
    assert_eq!(values_of(&table), [1.0, 2.0]);
}

/// Arrays that are too short are one kind of exception, those that are too long another.
#[test]
fn fault_63_an_array_is_neither_too_long_nor_too_short() {
    let from = |count| HomogenNumericTable::from_array(vec![1.0_f32; count], shape(3, 2));
    assert_error!(from(5), Error::ArrayTooShort { have: 5, need: 6 });
    assert_error!(from(7), Error::ArrayTooLong { have: 7, need: 6 });
    assert_eq!(values_of(&from(6).unwrap()), [1.0; 6]);
}

/// Archives have no version.
#[test]
fn fault_65_an_archive_of_another_version_is_refused() {
    let mut bytes = numbered::<f32>(2, 2, RowMajor).to_bytes().unwrap();
    bytes[8..12].copy_from_slice(&99_u32.to_le_bytes()); // behind the eight bytes of the magic number
    assert_error!(
        HomogenNumericTable::<f32>::from_bytes(&bytes),
        Error::Format { offset: 8, reason, .. } if reason.contains("99")
    );
}

/// A table of another kind is cast all the same, and so is a moved-from one.
#[test]
fn fault_66_a_table_is_never_taken_for_another_kind() {
    let mut source = numbered::<f32>(2, 2, RowMajor);
    let taken: Box<dyn NumericTable> = Box::new(std::mem::take(&mut source));
    assert_error!(source.array(), Error::NotAllocated);
    let piece = taken.piece(0, 0).unwrap().unwrap();
    assert_eq!(piece.view::<f32>().unwrap().row(0), Some(&[1.0, 2.0][..]));
    assert!(piece.view::<u32>().is_none());
}

/// A builder that is reset with a column-major table gives a row-major one with scrambled values.
#[test]
fn fault_67_the_layout_goes_where_the_values_go() {
    let table = numbered::<f32>(3, 2, ColumnMajor);
    let read = HomogenNumericTable::<f32>::from_bytes(&table.to_bytes().unwrap()).unwrap();
    assert_eq!((read.data_layout(), values_of(&read)), (ColumnMajor, numbers::<f32>(2, 0..3)));
    let layout = table.data_layout();
    let rebuilt = HomogenNumericTable::from_array_in(table.into_array().unwrap(), shape(3, 2), layout).unwrap();
    assert_eq!((rebuilt.data_layout(), values_of(&rebuilt)), (ColumnMajor, numbers::<f32>(2, 0..3)));
}
