//! Tables of more and more columns.

use numeric_table::prelude::*;
use numeric_table::table::{by_mut, by_ref};
use numeric_table::{
    AnyArray, MergedNumericTable, SoaNumericTable, dictionary::Categories, statistics::BasicStatistics,
};

use super::meter::{
    Cost::{Each, Fixed},
    check,
};
use super::{Call, begin_with, check_all, every_second};

const LEAST: usize = 40;

const ROWS: usize = 3;

fn name(column: usize) -> String {
    format!("column {column}")
}

fn names(columns: usize) -> Vec<String> {
    (0..columns).map(name).collect()
}

fn homogeneous(columns: usize) -> Table<f32> {
    let mut table = Table::full(Shape { rows: ROWS, columns }, 1.0_f32).unwrap();
    table.set_names(names(columns)).unwrap();
    table
}

fn arrays(columns: usize) -> SoaNumericTable {
    SoaNumericTable::from_columns((0..columns).map(|column| {
        let array = match column % 2 {
            0 => AnyArray::new(Array::from(vec![1.5_f32; ROWS])),
            _ => AnyArray::new(Array::from(vec![1_u8; ROWS])),
        };
        (name(column), array)
    }))
    .unwrap()
}

/// Columns of categories, every second one with the words that `word` is in.
fn words(columns: usize, word: &str) -> Table<u8> {
    let feature = |column: usize| {
        let words = if column.is_multiple_of(2) { [word, "both"] } else { ["yes", "no"] };
        Feature::new(ElementType::U8).named(name(column)).categorical(Categories::from_labels(words).unwrap())
    };
    let table = Table::full(Shape { rows: ROWS, columns }, 1_u8).unwrap();
    table.with_dictionary((0..columns).map(feature).collect()).unwrap()
}

/// What does not depend on the number of columns, or looks at each of them once.
const CALLS: &[Call] = &[
    ("facts", Fixed, |table| {
        let _ = (table.shape(), table.dictionary().len(), table.id(), table.kind(), table.data_layout());
        table.column_type(7).unwrap();
        table.feature_type(7).unwrap();
        table.category_count(7).unwrap();
    }),
    ("uniform_type, data_memory_status, Debug", Each, |table| {
        let _ = (table.uniform_type(), table.data_memory_status(), format!("{table:?}"));
    }),
    ("head", Fixed, |table| drop(table.head(2).unwrap())),
    ("tail", Fixed, |table| drop(table.tail(2).unwrap())),
    ("select_rows", Fixed, |table| drop(table.select_rows(1..2).unwrap())),
    ("by_ref", Fixed, |table| drop(by_ref(table))),
    ("select_columns, neighbours", Fixed, |table| drop(table.select_columns(3..9).unwrap())),
    ("select_columns, all", Fixed, |table| drop(table.select_columns(..).unwrap())),
    ("select_columns, every second", Each, |table| {
        let wanted = every_second(table.column_count());
        let chosen = table.select_columns(wanted).unwrap();
        assert_eq!(chosen.column_count(), table.column_count() / 2);
        assert_eq!(chosen.rows::<f64>(..).unwrap().len(), ROWS * table.column_count() / 2);
    }),
    ("select_columns, backwards", Each, |table| {
        let wanted: Vec<_> = (0..table.column_count()).rev().collect();
        drop(table.select_columns(wanted).unwrap());
    }),
    ("select_columns, by names", Each, |table| {
        let wanted: Vec<_> = every_second(table.column_count()).into_iter().map(name).collect();
        drop(table.select_columns(wanted).unwrap());
    }),
    ("drop_columns, every second", Each, |table| {
        drop(table.drop_columns(every_second(table.column_count())).unwrap());
    }),
    ("drop_columns, by names", Each, |table| {
        let dropped: Vec<_> = every_second(table.column_count()).into_iter().map(name).collect();
        drop(table.drop_columns(dropped).unwrap());
    }),
    ("with_column", Each, |table| drop(table.with_column("new", vec![1.5_f32; ROWS]).unwrap())),
    ("with_column, replaced", Each, |table| drop(table.with_column(name(7), vec![1.5_f32; ROWS]).unwrap())),
    ("hstack", Each, |table| drop(table.hstack(&[&*table]).unwrap())),
    ("vstack", Each, |table| drop(table.vstack(&[&*table]).unwrap())),
    ("vstack_unified", Each, |table| drop(table.vstack_unified(&[&*table]).unwrap())),
    ("to_table", Each, |table| drop(table.to_table().unwrap())),
    ("to_columns", Each, |table| drop(table.to_columns().unwrap())),
    ("convert", Each, |table| drop(table.convert::<f64>().unwrap())),
    ("take_rows", Each, |table| drop(table.take_rows(&[1, 0]).unwrap())),
    ("filter_rows", Each, |table| drop(table.filter_rows(&[true, false, true]).unwrap())),
    ("filter_rows_by", Each, |table| drop(table.filter_rows_by::<f32>(|row| row[0] > 0.0).unwrap())),
    ("filter_by_column", Each, |table| drop(table.filter_by_column::<f32>(5, |value| value > 0.0).unwrap())),
    ("sort_by", Each, |table| drop(table.sort_by(5).unwrap())),
    ("sample_rows, shuffle_rows, split_rows", Each, |table| {
        drop((table.sample_rows(2, 1).unwrap(), table.shuffle_rows(1).unwrap(), table.split_rows(0.5, 1).unwrap()));
    }),
    ("value, set_value", Fixed, |table| {
        let value = table.value::<u8>(1, 7).unwrap();
        table.set_value(1, 7, value).unwrap();
    }),
    ("column", Fixed, |table| drop(table.column::<f64>(7, ..).unwrap())),
    ("column_mut", Fixed, |table| table.column_mut::<u8>(7, ..).unwrap().release().unwrap()),
    ("update_column", Fixed, |table| {
        table.update_column::<f64, _>(7, .., begin_with(2.0)).unwrap();
    }),
    ("rows", Each, |table| drop(table.rows::<f64>(1..3).unwrap())),
    ("rows_mut", Each, |table| table.rows_mut::<f64>(1..3).unwrap().release().unwrap()),
    ("update_rows", Each, |table| table.update_rows::<f64, _>(1..3, begin_with(3.0)).unwrap()),
    ("update_row_blocks", Each, |table| table.update_row_blocks::<f64>(2, begin_with(4.0)).unwrap()),
    ("fill", Each, |table| table.fill(1_u8).unwrap()),
    ("blocks of rows", Each, |table| {
        let mut block = BlockDescriptor::<f64>::new();
        table.get_block_of_rows(0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
        table.release_block_of_rows(&mut block).unwrap();
    }),
    ("blocks of all columns", Each, |table| {
        let mut block = BlockDescriptor::<f32>::new();
        for column in 0..table.column_count() {
            table.get_block_of_column_values(column, 0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
            table.release_block_of_column_values(&mut block).unwrap();
        }
    }),
    ("names", Each, |table| drop(table.names())),
    ("column_index of all columns", Each, |table| {
        for column in 0..table.column_count() {
            assert_eq!(table.column_index(&name(column)).unwrap(), column);
        }
    }),
    ("column_index, unknown", Each, |table| drop(table.column_index("colum").unwrap_err())),
    ("column_named of all columns", Each, |table| {
        for column in 0..table.column_count() {
            drop(table.column_named::<f64>(&name(column), ..).unwrap());
        }
    }),
    ("rename of all columns", Each, |table| {
        for column in 0..table.column_count() {
            table.rename(&name(column), format!("other {column}")).unwrap();
        }
        for column in (0..table.column_count()).rev() {
            table.rename(&format!("other {column}"), name(column)).unwrap();
        }
    }),
    ("set_names", Each, |table| table.set_names(names(table.column_count())).unwrap()),
    ("set_dictionary", Each, |table| {
        let dictionary = table.dictionary().clone();
        table.set_dictionary(dictionary).unwrap();
    }),
    ("set_feature of all columns", Each, |table| {
        let mut dictionary = table.dictionary().clone();
        for column in 0..table.column_count() {
            let feature = dictionary.feature(column).unwrap().clone().ordinal();
            dictionary.set_feature(column, feature).unwrap();
        }
        table.set_dictionary(dictionary).unwrap();
    }),
    ("display", Each, |table| drop(table.to_string())),
    ("to_bytes", Each, |table| drop(table.to_bytes().unwrap())),
    ("BasicStatistics", Each, |table| drop(BasicStatistics::compute(table).unwrap())),
];

#[test]
fn calls_on_a_homogeneous_table_of_many_columns_cost_what_their_pages_say() {
    check_all(LEAST, |columns| Box::new(homogeneous(columns)), CALLS);
}

#[test]
fn calls_on_an_array_for_each_of_many_columns_cost_what_their_pages_say() {
    check_all(LEAST, |columns| Box::new(arrays(columns)), CALLS);
}

#[test]
fn calls_on_many_tables_side_by_side_cost_what_their_pages_say() {
    let make = |columns: usize| {
        let one = |column: usize| {
            let mut table = Table::full(Shape { rows: ROWS, columns: 1 }, 1.0_f32).unwrap();
            table.set_names([name(column)]).unwrap();
            Box::new(table) as Box<dyn NumericTable>
        };
        Box::new(MergedNumericTable::new((0..columns).map(one)).unwrap()) as Box<dyn NumericTable>
    };
    check_all(LEAST, make, CALLS);
}

#[test]
fn calls_on_a_borrowed_table_of_many_columns_cost_what_their_pages_say() {
    check_all(LEAST / 4, |columns| by_mut(Box::leak(Box::new(homogeneous(columns)))), CALLS);
}

#[test]
fn columns_that_are_not_neighbours_are_chosen_and_dropped_in_linear_time() {
    check("select_columns", Each, 3 * LEAST, arrays, |table, columns| {
        drop(table.select_columns(every_second(columns)).unwrap());
    });
    check("drop_columns", Each, 3 * LEAST, homogeneous, |table, columns| {
        drop(table.drop_columns(every_second(columns)).unwrap());
    });
    check("select_columns by names", Each, 3 * LEAST, homogeneous, |table, columns| {
        let wanted: Vec<_> = every_second(columns).into_iter().map(name).collect();
        drop(table.select_columns(wanted).unwrap());
    });
}

#[test]
fn columns_whose_words_differ_are_recoded_in_linear_time() {
    let make = |columns| (words(columns, "first"), words(columns, "second"));
    check("vstack_unified", Each, 2 * LEAST, make, |(one, other), columns| {
        let both = one.vstack_unified(&[other]).unwrap();
        assert_eq!(both.dictionary().feature(columns - 2).unwrap().category_count(), Some(3));
        drop(one.vstack_unified(&[one]).unwrap());
    });
}

#[test]
fn the_first_rows_of_many_columns_share_their_dictionary() {
    check("head", Fixed, LEAST, arrays, |table, _| {
        drop((table.head(1).unwrap(), table.tail(1).unwrap()));
        drop(table.select_rows(1..2).unwrap());
    });
}

#[test]
fn one_column_of_many_is_renamed_without_a_copy_of_the_others() {
    // Two names in a million comparisons would be found name by name: what is counted is memory.
    check("rename", Fixed, LEAST, homogeneous, |table, _| {
        table.rename("column 7", "other").unwrap();
        table.rename("other", "column 7").unwrap();
    });
    let mut table = homogeneous(100);
    let clone = table.clone();
    table.rename("column 7", "other").unwrap();
    assert_eq!((clone.column_index("column 7").unwrap(), table.column_index("other").unwrap()), (7, 7));
    assert!(clone.column_index("other").is_err() && table.column_index("column 7").is_err());
}

#[test]
fn an_array_for_each_column_is_built_and_changed_in_linear_time() {
    check("push_column", Each, LEAST, |_| (), |(), columns| drop(arrays(columns)));
    check("set_column", Each, LEAST, arrays, |table, columns| {
        for column in 0..columns {
            table.set_column(column, vec![2.5_f64; ROWS]).unwrap();
        }
        for column in 0..columns {
            table.set_column(column, vec![2.5_f32; ROWS]).unwrap();
        }
    });
    check("column_slice_mut", Each, LEAST, arrays, |table, columns| {
        for column in (0..columns).step_by(2) {
            table.column_slice_mut::<f32>(column).unwrap()[0] = 1.0;
        }
    });
    check("remove_column", Each, LEAST, arrays, |table, columns| {
        let (feature, array) = table.remove_column(columns / 2).unwrap();
        table.push_feature(feature, array).unwrap();
    });
    check("resize", Each, LEAST, arrays, |table, _| {
        table.resize(ROWS + 1).unwrap();
        table.resize(ROWS).unwrap();
    });
    check("push_row", Each, LEAST, arrays, |table, columns| table.push_row(&vec![1_u8; columns]).unwrap());
    check("clone", Each, LEAST, arrays, |table, _| drop(table.clone()));
    check("into_columns", Each, LEAST, arrays, |table, columns| {
        assert_eq!(table.clone().into_columns().unwrap().len(), columns);
    });
}

#[test]
fn a_dictionary_is_made_and_changed_in_linear_time() {
    let make = |columns: usize| homogeneous(columns).dictionary().clone();
    check("with_names", Each, LEAST, make, |dictionary, columns| drop(dictionary.with_names(names(columns)).unwrap()));
    check("with_element_type", Each, LEAST, make, |dictionary, _| {
        drop(dictionary.with_element_type(ElementType::F64).unwrap());
    });
    check("from_features", Each, LEAST, make, |dictionary, _| {
        drop(DataDictionary::from_features(dictionary.iter().cloned()));
    });
    check("index_of", Each, LEAST, make, |dictionary, columns| {
        assert!((0..columns).all(|column| dictionary.index_of(&name(column)) == Some(column)));
    });
    check("clone, ==", Fixed, LEAST, make, |dictionary, _| assert_eq!(*dictionary, dictionary.clone()));
    let same = |columns| make(columns).with_names(vec!["a"; columns]).unwrap();
    check("set_feature and index_of of repeated names", Each, LEAST, same, |dictionary, columns| {
        for column in 0..columns {
            let feature = Feature::new(ElementType::F32).named(if column % 2 == 0 { "b" } else { "a" });
            dictionary.set_feature(column, feature).unwrap();
            assert_eq!(dictionary.index_of("b"), Some(0));
            dictionary.index_of("a");
        }
    });
}
