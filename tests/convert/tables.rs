//! Converted tables.

use numeric_table::prelude::*;

use super::{LAYOUTS, POLICIES, Table};

#[test]
fn a_converted_table_keeps_names_and_meanings() {
    let mut table = Table::from_rows(&[[1.0_f32, 2.0]]).unwrap();
    let feature = |element| [Feature::new(element).named("a").categorical(3), Feature::new(element).ordinal()];
    table.set_dictionary(DataDictionary::from_features(feature(ElementType::F32))).unwrap();
    for policy in POLICIES {
        let converted = table.convert_with::<i16>(policy).unwrap();
        assert_eq!(converted.dictionary(), &DataDictionary::from_features(feature(ElementType::I16)));
    }
}

#[test]
fn a_table_converted_to_its_own_type_shares_its_memory() {
    for layout in LAYOUTS {
        let table = Table::full_with_layout(Shape { rows: 4, columns: 3 }, 1.5_f64, layout).unwrap();
        for policy in POLICIES {
            let same = table.slice_rows(1..3).unwrap().convert_with::<f64>(policy).unwrap();
            assert!(same.array().unwrap().shares_memory_with(table.array().unwrap()));
        }
    }
}

#[test]
fn a_converted_table_has_memory_of_its_own() {
    let table = Table::from_array(vec![1_u8, 2, 3, 4], Shape { rows: 2, columns: 2 }).unwrap();
    let mut converted = table.convert::<i8>().unwrap();
    assert_eq!(converted.data_memory_status(), MemoryStatus::InternallyAllocated);
    converted.as_mut_slice().unwrap().fill(-1);
    assert_eq!(table.as_slice().unwrap(), [1, 2, 3, 4]);
}
