//! Slices, and the same memory seen as another type.

use std::ops::{Bound, Range};

use numeric_table::{Array, Error, ErrorKind};
use test_support::{CountingOwner, DropCount, SmallNumber, for_each_element};

use super::{LIBRARY_ALIGNMENT, from_raw, one_to_four};

// --- Slices --------------------------------------------------------------------------------------------------------

#[test]
fn slices_take_every_kind_of_range() {
    let array = Array::from(vec![0, 1, 2, 3, 4]);
    let slice = |bounds: (Bound<usize>, Bound<usize>)| array.slice(bounds).unwrap().to_vec();
    assert_eq!(array.slice(..).unwrap().as_slice(), [0, 1, 2, 3, 4]);
    assert_eq!(array.slice(2..).unwrap().as_slice(), [2, 3, 4]);
    assert_eq!(array.slice(..2).unwrap().as_slice(), [0, 1]);
    assert_eq!(array.slice(..=2).unwrap().as_slice(), [0, 1, 2]);
    assert_eq!(array.slice(1..3).unwrap().as_slice(), [1, 2]);
    assert_eq!(array.slice(1..=3).unwrap().as_slice(), [1, 2, 3]);
    assert_eq!(slice((Bound::Excluded(1), Bound::Unbounded)), [2, 3, 4]);
    assert_eq!(slice((Bound::Excluded(1), Bound::Included(3))), [2, 3]);
    assert_eq!(slice((Bound::Excluded(1), Bound::Excluded(3))), [2]);
}

#[test]
fn slices_may_be_empty_anywhere_up_to_the_end() {
    let array = one_to_four();
    for start in 0..=4 {
        assert_eq!(array.slice(start..start).unwrap().len(), 0);
    }
    assert_eq!(array.slice((Bound::Excluded(3), Bound::Unbounded)).unwrap().len(), 0);
    assert_eq!(Array::<f32>::new().slice(..).unwrap().len(), 0);
}

#[test]
fn slices_beyond_the_end_are_errors_that_name_range_and_count() {
    let array = one_to_four();
    for range in [0..5, 4..5, 5..5, 5..6, 0..usize::MAX, usize::MAX..usize::MAX] {
        let error = array.slice(range.clone()).unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ErrorKind::OutOfRange { what: "elements", range: found, count: 4, .. } if *found == range
            ),
            "{error}"
        );
    }
    assert!(array.slice(5..).is_err());
    assert!(array.slice(usize::MAX..).is_err());
    assert!(array.slice(..=4).is_err());
}

#[test]
fn slices_that_run_backwards_are_errors() {
    let array = one_to_four();
    for (start, end) in [(3, 2), (4, 0), (1, 0), (usize::MAX, 0)] {
        let error = array.slice(Range { start, end }).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutOfRange { what: "elements", count: 4, .. }), "{error}");
    }
}

#[test]
fn ends_at_the_largest_index_do_not_overflow() {
    let array = one_to_four();
    assert!(
        array
            .slice(..=usize::MAX)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfRange { what: "elements", .. }))
    );
    assert!(
        array
            .slice(2..=usize::MAX)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfRange { what: "elements", .. }))
    );
    assert!(
        array
            .slice(usize::MAX..=usize::MAX)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::OutOfRange { what: "elements", .. }))
    );
}

#[test]
fn excluded_starts_at_or_beyond_the_end_are_errors() {
    let array = one_to_four();
    for start in [4, 5, usize::MAX - 1, usize::MAX] {
        assert!(array.slice((Bound::Excluded(start), Bound::Unbounded)).is_err(), "{start}");
    }
    assert!(array.slice((Bound::Excluded(usize::MAX), Bound::Included(usize::MAX))).is_err());
    assert!(array.slice((Bound::Excluded(2), Bound::Excluded(2))).is_err(), "from 3 up to 2");
}

#[test]
fn ranges_over_as_many_elements_as_can_be_counted_are_checked() {
    let array = Array::from(vec![(); usize::MAX]); // elements without size: no memory
    assert_eq!(array.slice(usize::MAX..).unwrap().len(), 0);
    assert_eq!(array.slice(..=usize::MAX - 1).unwrap().len(), usize::MAX);
    assert!(array.slice(..=usize::MAX).is_err());
    assert!(array.slice((Bound::Excluded(usize::MAX), Bound::Unbounded)).is_err());
}

#[test]
fn a_failed_slice_takes_no_share() {
    let array = one_to_four();
    assert!(array.slice(2..9).is_err());
    assert!(array.has_mutable_data());
}

#[test]
fn a_slice_of_a_slice_counts_from_the_slice() {
    let array = Array::from(i32::counting(10));
    let slice = array.slice(2..8).unwrap().slice(1..=2).unwrap();
    assert_eq!(slice.as_slice(), [3, 4]);
    assert_eq!(slice.as_ptr(), array[3..].as_ptr());
}

#[test]
fn a_slice_that_is_the_only_owner_writes_its_own_part() {
    let drops = DropCount::new();
    let array = Array::from_owner_mut(CountingOwner::new([1, 2, 3, 4], &drops));
    let mut slice = array.slice(1..3).unwrap();
    assert!(
        slice
            .mutable_data()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 2, .. }))
    );
    drop(array);
    assert_eq!(slice.mutable_data().unwrap(), [2, 3]);
}

#[test]
fn disjoint_slices_share_the_block_and_so_neither_is_mutable() {
    let array = one_to_four();
    let (mut low, mut high) = (array.slice(..2).unwrap(), array.slice(2..).unwrap());
    drop(array);
    assert!(low.shares_memory_with(&high));
    assert!(low.mutable_data().is_err() && high.mutable_data().is_err());
}

// --- Reinterpreting and projecting ---------------------------------------------------------------------------------

#[test]
fn every_element_type_can_be_seen_as_bytes_and_back() {
    fn check<T: SmallNumber>() {
        let array = Array::from(T::counting(6));
        let bytes = array.reinterpret::<u8>().unwrap();
        assert_eq!((bytes.len(), bytes.as_ptr()), (6 * size_of::<T>(), array.as_ptr().cast()));
        let back = bytes.reinterpret::<T>().unwrap();
        assert_eq!(back.as_slice(), T::counting(6));
        assert_eq!(array.owner_count(), 3);
    }
    for_each_element!(check);
}

#[test]
fn bytes_that_are_no_multiple_of_the_size_are_refused_in_every_element_type() {
    fn check<T: SmallNumber>() {
        for bytes in 0..2 * size_of::<T>() {
            let result = Array::<u8>::zeros(bytes).unwrap().reinterpret::<T>();
            match result.map_err(Error::into_kind) {
                Ok(array) => assert_eq!(array.size_in_bytes(), bytes),
                Err(ErrorKind::MemoryLayout { reason }) => {
                    assert_ne!(bytes % size_of::<T>(), 0);
                    assert!(
                        reason.starts_with(&format!("{bytes} bytes at ")) && reason.ends_with(T::TYPE.name()),
                        "{reason}"
                    );
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn bytes_that_are_not_aligned_are_refused_in_every_element_type() {
    fn check<T: SmallNumber>() {
        let bytes = Array::<u8>::zeros(4 * LIBRARY_ALIGNMENT).unwrap();
        for offset in 0..LIBRARY_ALIGNMENT {
            let result = bytes.slice(offset..offset + 2 * size_of::<T>()).unwrap().reinterpret::<T>();
            match result.map_err(Error::into_kind) {
                Ok(array) => assert_eq!((offset % align_of::<T>(), array.len()), (0, 2)),
                Err(ErrorKind::MemoryLayout { reason }) => {
                    assert_ne!(offset % align_of::<T>(), 0);
                    let alignment = 1 << offset.trailing_zeros();
                    assert!(reason.contains(&format!(" at {alignment}-byte alignment ")), "{reason}");
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    for_each_element!(check);
}

#[test]
fn an_empty_slice_at_any_offset_is_an_empty_array_of_every_element_type() {
    fn check<T: SmallNumber>() {
        let bytes = Array::<u8>::zeros(9).unwrap();
        for offset in 0..=9 {
            let empty = bytes.slice(offset..offset).unwrap().reinterpret::<T>().unwrap();
            assert!(empty.as_slice().is_empty());
        }
    }
    for_each_element!(check);
}

#[test]
fn a_reinterpreted_array_keeps_the_memory_alive() {
    let drops = DropCount::new();
    let array = from_raw(vec![0x0102_u16; 3], &drops);
    let bytes = array.reinterpret::<u8>().unwrap();
    drop(array);
    assert_eq!((drops.get(), bytes.len(), bytes[0] + bytes[1]), (0, 6, 3));
    drop(bytes);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_projection_shows_a_field_and_keeps_the_whole_alive() {
    let drops = DropCount::new();
    let records = Array::from_owner(CountingOwner::new([(7_u8, [1.0_f32, 2.0, 3.0])], &drops));
    let field = records.project(|records| &records[0].1[1..]);
    assert!(field.shares_memory_with(&records));
    drop(records);
    assert_eq!((drops.get(), field.as_slice()), (0, &[2.0, 3.0][..]));
    drop(field);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_projection_is_not_mutable_even_as_the_only_owner() {
    let mut flat = Array::from(vec![[1.0_f32, 2.0], [3.0, 4.0]]).project(|rows| rows.as_flattened());
    assert_eq!(flat.owner_count(), 1);
    assert!(
        flat.mutable_data().is_err_and(|error| matches!(error.kind(), ErrorKind::ImmutableData { owner_count: 1 }))
    );
    flat.need_mutable_data().unwrap()[3] = 9.0;
    assert_eq!(flat.as_slice(), [1.0, 2.0, 3.0, 9.0]);
}
