//! Values of every element type in every format, and tables without values.

use numeric_table::prelude::*;
use numeric_table::{bf16, f16, files};
use test_support::bits::{bits, from_bits, is_same, special_values};
use test_support::for_each_element;

use super::{
    LAYOUTS, Table, assert_same, five_columns, formats, from_json, is_bitwise_same, tables_with_every_kind_of_value,
    through_archive, through_bincode, through_bincode_reader, through_json, through_json_reader, through_json_value,
};

// --- round trips ---------------------------------------------------------------------------------------------------

#[test]
fn an_archive_keeps_every_bit_of_every_element_type() {
    fn check<T: Element>() {
        for table in tables_with_every_kind_of_value::<T>() {
            assert_same(&through_archive(&table), &table, is_bitwise_same);
        }
    }
    for_each_element!(check);
}

#[test]
fn an_archive_of_unknown_type_is_read_as_a_table_of_that_type() {
    fn check<T: Element>() {
        for table in tables_with_every_kind_of_value::<T>() {
            let found = files::from_bytes(&table.to_bytes().unwrap()).unwrap();
            assert_eq!((found.uniform_type(), found.data_layout()), (Some(T::TYPE), table.data_layout()));
            let (found, expected) =
                (found.rows::<T>(0..found.row_count()).unwrap(), table.rows::<T>(0..table.row_count()).unwrap());
            assert!(found.iter().map(|&value| bits(value)).eq(expected.iter().map(|&value| bits(value))));
        }
    }
    for_each_element!(check);
}

#[test]
fn bincode_through_serde_keeps_every_bit_of_every_element_type() {
    fn check<T: Element>() {
        for table in tables_with_every_kind_of_value::<T>() {
            assert_same(&through_bincode(&table), &table, is_bitwise_same);
            assert_same(&through_bincode_reader(&table), &table, is_bitwise_same);
        }
    }
    for_each_element!(check);
}

#[test]
fn json_keeps_every_number_of_every_element_type_and_nan_as_nan() {
    fn check<T: Element>() {
        for table in tables_with_every_kind_of_value::<T>() {
            assert_same(&through_json(&table), &table, is_same);
            assert_same(&through_json_reader(&table), &table, is_same);
            assert_same(&through_json_value(&table), &table, is_same);
        }
    }
    for_each_element!(check);
}

#[test]
fn arrays_of_every_element_type_survive_every_format() {
    fn check<T: Element>() {
        let array = Array::from(special_values::<T>());
        for through in formats::<Array<T>>() {
            let found = through(&array);
            assert_eq!(found.len(), array.len());
            assert!(found.iter().zip(&array).all(|(&found, &expected)| is_same(found, expected)));
        }
    }
    for_each_element!(check);
}

#[test]
fn json_keeps_all_values_of_the_16_bit_floats() {
    fn check<T: Element>() {
        let array = Array::from((0..=0xFFFF).map(from_bits::<T>).collect::<Vec<_>>());
        assert!(through_json(&array).iter().zip(&array).all(|(&found, &expected)| is_same(found, expected)));
    }
    check::<f16>();
    check::<bf16>();
}

/// The decimal lies so near to the middle between two `f32` that the nearest `f64` is that middle.
#[test]
fn json_rounds_a_decimal_to_f32_once() {
    let value = 7.038_531e-26_f32;
    assert_eq!(value.to_bits(), 0x15AE_43FD);
    assert_eq!(from_json::<Array<f32>>("[7.038531e-26]").unwrap()[0].to_bits(), value.to_bits());
    assert_eq!(through_json(&Array::from(vec![value]))[0].to_bits(), value.to_bits());
}

// --- what is shown is what is written ------------------------------------------------------------------------------

#[test]
fn an_archive_of_one_row_of_a_large_table_is_small() {
    let large = Table::full(Shape { rows: 100_000, columns: 4 }, 1.5_f32).unwrap();
    let row = large.slice_rows(70_000..70_001).unwrap();
    assert!(row.to_bytes().unwrap().len() <= 4 * 4 + 256);
    assert!(serde_json::to_string(&row).unwrap().len() < 400);
    assert!(bincode::serde::encode_to_vec(&row, bincode::config::standard()).unwrap().len() <= 4 * 4 + 256);
}

/// So many values that several threads copy them, each of its own value, at an odd address.
#[test]
fn a_large_archive_holds_every_value_in_its_place() {
    let rows = (8 << 20) / 20 + 7;
    let table = five_columns((0..rows as u32 * 5).collect(), DataLayout::RowMajor);
    let expected: Vec<u8> = table.as_slice().unwrap().iter().flat_map(|value| value.to_le_bytes()).collect();
    let archive = table.to_bytes().unwrap();
    assert!(archive.ends_with(&expected));
    for shift in 0..4 {
        let shifted = [&vec![0; shift], &archive[..]].concat();
        assert!(Table::<u32>::from_bytes(&shifted[shift..]).unwrap() == table, "{shift}");
    }
}

#[test]
fn a_slice_of_rows_comes_back_alone_in_both_layouts() {
    for layout in LAYOUTS {
        let table = five_columns((0..50_i16).collect(), layout);
        let slice = table.slice_rows(3..6).unwrap();
        let found = through_archive(&slice);
        assert_same(&found, &slice, is_bitwise_same);
        let expected: [i16; 5] = match layout {
            DataLayout::RowMajor => [20, 21, 22, 23, 24],
            _ => [4, 14, 24, 34, 44],
        };
        assert_eq!(&found.rows::<i16>(1..2).unwrap()[..], expected);
    }
}

#[test]
fn rows_of_a_column_major_table_are_written_without_the_gaps_between_them() {
    let table =
        Table::from_array_with_layout((0..12_u8).collect::<Vec<_>>(), Shape { rows: 4, columns: 3 }, LAYOUTS[1])
            .unwrap();
    let slice = table.slice_rows(1..3).unwrap();
    assert!(slice.as_slice().is_err(), "the values do not lie one after another");
    assert_eq!(through_archive(&slice).as_slice().unwrap(), [1, 2, 5, 6, 9, 10]);
    for through in formats::<Table<u8>>() {
        assert_eq!(through(&slice).as_slice().unwrap(), [1, 2, 5, 6, 9, 10]);
    }
}

#[test]
fn spare_capacity_is_not_written() {
    for layout in LAYOUTS {
        let mut table = five_columns((0..500_i32).collect(), layout);
        table.resize(2).unwrap();
        assert!(table.to_bytes().unwrap().len() <= 2 * 5 * 4 + 256);
        let found = through_archive(&table);
        assert_same(&found, &table, is_bitwise_same);
        assert_eq!(found.array().unwrap().len(), 10);
    }
}

#[test]
fn a_longer_array_than_the_table_needs_is_not_written_whole() {
    let table = Table::from_array_with_spare_rows(vec![7_u16; 999], Shape { rows: 1, columns: 3 }).unwrap();
    assert_eq!(through_archive(&table).as_slice().unwrap(), [7, 7, 7]);
    assert_eq!(through_json(&table).as_slice().unwrap(), [7, 7, 7]);
}

#[test]
fn an_array_window_is_written_without_the_rest_of_its_block() {
    let window = Array::from((0..100_u32).collect::<Vec<_>>()).slice(40..43).unwrap();
    for through in formats::<Array<u32>>() {
        assert_eq!(&through(&window)[..], [40, 41, 42]);
    }
}

// --- empty and missing ---------------------------------------------------------------------------------------------

#[test]
fn shapes_without_values_keep_their_rows_and_columns() {
    fn check<T: Element>() {
        for (rows, columns) in [(0, 0), (0, 7), (7, 0), (0, usize::MAX), (usize::MAX, 0)] {
            for layout in LAYOUTS {
                let shape = Shape { rows, columns };
                let table = Table::<T>::new_with_layout(shape, AllocationFlag::DoAllocate, layout).unwrap();
                assert_same(&through_archive(&table), &table, is_bitwise_same);
                for through in formats::<Table<T>>() {
                    assert_same(&through(&table), &table, is_bitwise_same);
                }
            }
        }
    }
    check::<f32>();
    check::<u8>();
    check::<bf16>();
}

#[test]
fn a_table_that_never_had_rows_needs_no_memory_to_be_written() {
    let described = DataDictionary::from_features([Feature::new(ElementType::F32).named("width")]);
    for table in [Table::<f32>::default(), Table::from_dictionary(described).unwrap()] {
        assert_eq!(table.data_memory_status(), MemoryStatus::NotAllocated);
        assert_same(&through_archive(&table), &table, is_bitwise_same);
        assert_same(&through_json(&table), &table, is_bitwise_same);
    }
}

#[test]
fn rows_without_memory_cannot_be_written() {
    let shape = Shape { rows: 2, columns: 3 };
    let table = Table::<f64>::new(shape, AllocationFlag::DoNotAllocate).unwrap();
    assert!(table.to_bytes().is_err_and(|error| matches!(error.kind(), ErrorKind::NotAllocated)));
    assert!(serde_json::to_string(&table).is_err());
    assert!(bincode::serde::encode_to_vec(&table, bincode::config::standard()).is_err());
}

#[test]
fn a_table_that_is_lent_to_a_writable_block_cannot_be_written() {
    let mut table = Table::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0]]).unwrap();
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(table.to_bytes().is_err_and(|error| matches!(error.kind(), ErrorKind::BlockOutstanding { .. })));
    assert!(serde_json::to_string(&table).is_err());
    table.release_block_of_rows(&mut block).unwrap();
    assert!(table.to_bytes().is_ok());
}

// --- what comes back -----------------------------------------------------------------------------------------------

#[test]
fn a_table_that_was_read_owns_internally_allocated_memory_that_can_be_written() {
    let table = Table::from_array(vec![1_i64, 2, 3, 4], Shape { rows: 2, columns: 2 }).unwrap();
    let reads = formats::<Table<i64>>();
    for mut found in reads.iter().map(|through| through(&table)).chain([through_archive(&table)]) {
        assert_eq!(found.data_memory_status(), MemoryStatus::InternallyAllocated);
        let array = found.array().unwrap();
        assert!(array.has_mutable_data() && !array.shares_memory_with(table.array().unwrap()));
        let address = array.as_ptr();
        found.as_mut_slice().unwrap()[0] = 9;
        assert_eq!(found.array().unwrap().as_ptr(), address, "written in place");
    }
}

#[test]
fn an_archive_may_start_at_any_address() {
    let table = Table::from_rows(&[[1.5_f64, -2.5], [0.0, f64::INFINITY]]).unwrap();
    let bytes = table.to_bytes().unwrap();
    for shift in 0..16 {
        let mut shifted = vec![0xAA; shift];
        shifted.extend(&bytes);
        assert_eq!(Table::<f64>::from_bytes(&shifted[shift..]).unwrap(), table);
    }
}
