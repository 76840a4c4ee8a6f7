//! Every call on every shape returns a value or a typed error.

use std::cmp::Ordering;

use numeric_table::files;
use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use test_support::tables::huge;

const EXTENTS: [usize; 6] = [0, 1, 2, 3, isize::MAX as usize, usize::MAX];

/// What the memory of a shape comes to: `None` if it cannot be addressed.
fn bytes_of<T>(shape: Shape) -> Option<usize> {
    let bytes = shape.rows.checked_mul(shape.columns)?.checked_mul(size_of::<T>())?;
    (bytes <= isize::MAX as usize).then_some(bytes)
}

fn constructors_follow_the_size<T: SmallNumber>() {
    for (rows, columns) in EXTENTS.iter().flat_map(|&rows| EXTENTS.map(|columns| (rows, columns))) {
        let shape = shape(rows, columns);
        for layout in LAYOUTS {
            let unallocated = HomogenNumericTable::<T>::new_with_layout(shape, DoNotAllocate, layout);
            let allocated = HomogenNumericTable::<T>::new_with_layout(shape, DoAllocate, layout);
            let full = HomogenNumericTable::<T>::full_with_layout(shape, T::small(1), layout);
            let wrapped = HomogenNumericTable::<T>::from_array_with_layout(vec![T::small(1); 9], shape, layout);
            match bytes_of::<T>(shape) {
                None => {
                    assert_error!(unallocated, ErrorKind::SizeOverflow { .. });
                    assert_error!(allocated, ErrorKind::SizeOverflow { .. });
                    assert_error!(full, ErrorKind::SizeOverflow { .. });
                    assert_error!(wrapped, ErrorKind::SizeOverflow { .. });
                }
                Some(bytes) if bytes > 1000 && usize::BITS == 32 => {} // 2 GiB, which there may be, or may not
                Some(bytes) if bytes > huge(50) => {
                    every_call_answers(unallocated.unwrap());
                    assert_error!(allocated, ErrorKind::OutOfMemory);
                    assert_error!(full, ErrorKind::OutOfMemory);
                    assert_error!(wrapped, ErrorKind::ArrayLength { have: 9, .. });
                }
                Some(bytes) => {
                    for table in [unallocated, allocated, full] {
                        every_call_answers(table.unwrap());
                    }
                    match (bytes / size_of::<T>()).cmp(&9) {
                        Ordering::Less => assert_error!(wrapped, ErrorKind::ArrayLength { have: 9, .. }),
                        Ordering::Equal => every_call_answers(wrapped.unwrap()),
                        Ordering::Greater => assert_error!(wrapped, ErrorKind::ArrayLength { have: 9, .. }),
                    }
                }
            }
        }
    }
}

/// Makes every public call with arguments inside, at and past the limits. It must come back; what it says is proved by
/// the tests of each call.
fn every_call_answers<T: SmallNumber>(table: HomogenNumericTable<T>) {
    let Shape { rows, columns } = table.shape();
    let limits = |extent: usize| [0, 1, extent.saturating_sub(1), extent, extent.saturating_add(1), usize::MAX];
    let _ = (format!("{table:?}"), table == table.clone(), table.array().is_ok(), table.as_slice().is_ok());
    if let Ok(view) = table.view() {
        let _ = (view.strides(), view.as_slice(), view.transposed().shape(), view.conversion_report::<u8>());
        let _ = (
            view.value(0, 0),
            view.value(rows, columns),
            view.row(0),
            view.row(rows),
            view.column(0),
            view.column(columns),
        );
        let _ = (view.slice_rows(0..rows).is_ok(), view.slice_columns(0..columns).is_ok());
        #[cfg(feature = "ndarray")]
        let _ = view.as_ndarray();
    }
    let _ = (table.convert::<T>(), table.convert::<f64>(), table.convert_with::<i8>(ConversionPolicy::Exact));
    let _ = (table.conversion_report::<i8>(), table.to_compact());
    let _ = LAYOUTS.map(|layout| table.to_layout(layout));
    if let Ok(bytes) = table.to_bytes() {
        assert_eq!(HomogenNumericTable::<T>::from_bytes(&bytes).unwrap(), table);
        assert_eq!(files::from_bytes(&bytes).unwrap().shape(), table.shape());
    }
    let mut block = BlockDescriptor::<f64>::new();
    let mut same = BlockDescriptor::<T>::new();
    for first in limits(rows) {
        for last in limits(rows) {
            let _ = (table.rows::<T>(first..last).is_ok(), table.rows::<f64>(first..last).is_ok());
            let _ = (table.column::<T>(0, first..last).is_ok(), table.column::<f64>(columns, first..last).is_ok());
            let _ = (table.read_rows(first..last, &mut block).is_ok(), table.read_rows(first..last, &mut same).is_ok());
            let _ = table.slice_rows(first..last);
        }
        for column in limits(columns) {
            let _ = (table.value::<i64>(first, column), table.feature_type(column), table.category_count(column));
        }
        if let Ok(mut blocks) = table.row_blocks::<f64>(first) {
            let _ = (blocks.next().is_some(), blocks.next_back().is_some());
        }
        #[cfg(feature = "rayon")]
        let _ = table.par_row_blocks::<f64>(first).is_ok();
    }
    let mut table = table;
    for first in limits(rows) {
        for count in limits(rows) {
            for mode in MODES {
                if table.get_block_of_rows(first, count, mode, &mut block).is_ok() {
                    table.release_block_of_rows(&mut block).unwrap();
                }
                if table.get_block_of_column_values(0, first, count, mode, &mut same).is_ok() {
                    table.release_block_of_column_values(&mut same).unwrap();
                }
                let _ = table.get_block_of_column_values(columns, first, count, mode, &mut block);
            }
            let _ = table.rows_mut::<T>(first..count).is_ok();
            let _ = table.rows_mut::<f64>(first..count).is_ok();
            let _ = table.column_mut::<T>(0, first..count).is_ok();
            let _ = table.column_mut::<f64>(0, first..count).is_ok();
            let _ = table.update_rows::<f64, _>(first..count, |_| Ok(()));
            let _ = table.update_column::<T, _>(0, first..=count, |_| Ok(()));
        }
        let _ = table.set_value(first, 0, 1.0);
        if let Ok(mut blocks) = table.row_blocks_mut::<f64>(first) {
            let _ = blocks.next().is_some();
        }
        #[cfg(feature = "rayon")]
        let _ = table.par_row_blocks_mut::<f64>(first).is_ok();
    }
    let _ = (table.fill(1.0), table.as_mut_slice().is_ok());
    if let Ok(mut view) = table.view_mut() {
        view.fill(T::small(3));
        let _ = (
            view.set_value(rows, columns, T::small(1)),
            view.reborrow().split_at_row(rows).is_ok(),
            view.try_into_slice().is_ok(),
        );
    }
    let mut dictionary = table.dictionary().clone();
    let _ = (dictionary.set_feature(0, feature::<T>().named("x")), dictionary.index_of("x"));
    let _ = table.set_dictionary(dictionary);
    let _ = table.reset_dictionary();
    for count in limits(rows) {
        let _ = table.clone().resize(count);
        let _ = table.clone().set_array(vec![T::small(1)], count);
    }
    let _ = (table.clone().free_data_memory(), table.clone().into_array().is_ok());
    let _ = table.allocate_data_memory();
}

#[test]
fn every_call_on_every_shape_returns_a_value_or_a_typed_error() {
    for_each_element!(constructors_follow_the_size);
}
