//! The calls, with nothing imported but the prelude: as a user writes them.

use numeric_table::prelude::*;

use super::{LOWER, VALUES};

/// Makes every call that reads, and compares what it returns with the values of the table, which are 3 x 3.
macro_rules! reading_calls {
    ($table:expr, $values:expr) => {{
        let all: [f64; 9] = $values;
        let table = &$table;
        let row = |row: usize| &all[row * 3..row * 3 + 3];
        let column = |column: usize| [all[column], all[column + 3], all[column + 6]];
        assert_eq!((table.shape(), table.row_count(), table.column_count()), (Shape { rows: 3, columns: 3 }, 3, 3));
        let _ = (table.dictionary(), table.id(), table.kind(), table.data_layout(), table.data_memory_status());
        let _ = (table.column_type(2).unwrap(), table.uniform_type(), table.feature_type(2).unwrap());
        assert_eq!(table.category_count(0).unwrap(), None);

        // Blocks.
        assert_eq!(table.rows::<f64>(1..).unwrap()[..], all[3..]);
        assert_eq!(table.rows_with::<i64>(..1, ConversionPolicy::Exact).unwrap()[0] as f64, all[0]);
        assert_eq!(table.column::<f64>(1, ..).unwrap()[..], column(1));
        assert_eq!(table.column_with::<f32>(1, ..2, ConversionPolicy::Checked).unwrap().len(), 2);
        let mut block = BlockDescriptor::<f64>::new();
        assert_eq!(table.read_rows(2.., &mut block).unwrap(), row(2));
        assert_eq!(table.read_column(0, .., &mut block).unwrap(), column(0));
        assert_eq!(table.row_blocks::<f64>(2).unwrap().map(|block| block.unwrap().len()).sum::<usize>(), 9);
        assert_eq!(table.value::<f64>(1, 1).unwrap(), all[4]);
        #[cfg(feature = "rayon")]
        assert_eq!(parallel_sum(table.par_row_blocks::<f64>(2).unwrap()), all.iter().sum::<f64>());

        // Names.
        let names = table.names().map(|name| name.map(str::to_owned)).collect::<Vec<_>>();
        if let Some(name) = names[1].as_deref() {
            assert_eq!(table.column_index(name).unwrap(), 1);
            assert_eq!(table.column_named::<f64>(name, ..).unwrap()[..], column(1));
        }

        // Some columns and rows.
        let of = |table: &dyn NumericTable| table.rows::<f64>(..).unwrap().to_vec();
        assert_eq!(of(&table.select_columns([2, 0]).unwrap())[..2], [all[2], all[0]]);
        assert_eq!(of(&table.drop_columns([0]).unwrap())[..2], all[1..3]);
        assert_eq!(of(&*table.select_rows(1..2).unwrap()), row(1));
        assert_eq!(of(&*table.head(1).unwrap()), row(0));
        assert_eq!(of(&*table.tail(1).unwrap()), row(2));
        assert_eq!(of(&*table.take_rows(&[2, 0]).unwrap()), [row(2), row(0)].concat());
        assert_eq!(of(&*table.filter_rows(&[false, true, false]).unwrap()), row(1));
        assert_eq!(of(&*table.filter_rows_by(|values: &[f64]| values[0] == all[3]).unwrap()), row(1));
        assert_eq!(of(&*table.filter_by_column(0, |value: f64| value == all[3]).unwrap()), row(1));
        assert_eq!(of(&*table.take_rows(&[2, 0, 1]).unwrap().sort_by(0).unwrap()), all);
        assert_eq!(of(&*table.sort_by(0).unwrap()), all);
        assert_eq!(table.sample_rows(2, 1).unwrap().row_count(), 2);
        assert_eq!(table.shuffle_rows(1).unwrap().row_count(), 3);
        assert_eq!(table.split_rows(0.4, 1).unwrap().1.row_count(), 2);
        assert_eq!(table.split_rows_by(0, 1.0, 1).unwrap().0.row_count(), 3);

        // More columns and rows.
        assert_eq!(table.with_column("new", vec![7_u8, 8, 9]).unwrap().value::<f64>(2, 3).unwrap(), 9.0);
        let feature = Feature::new(ElementType::F32).ordinal();
        assert_eq!(table.with_feature(feature, vec![1_f32; 3]).unwrap().column_count(), 4);
        let other = table.to_table().unwrap();
        assert_eq!(table.hstack(&[&*other, &*other]).unwrap().column_count(), 9);
        assert_eq!(of(&table.vstack(&[&*other]).unwrap()), [all, all].concat());
        assert_eq!(of(&table.vstack_unified(&[&*other]).unwrap()), [all, all].concat());

        // Other forms.
        assert_eq!(of(&*other), all);
        assert_eq!(of(&table.to_columns().unwrap()), all);
        assert_eq!(table.convert::<f64>().unwrap().rows::<f64>(..).unwrap()[..], all);
        assert_eq!(table.convert_with::<i16>(ConversionPolicy::Exact).unwrap().value::<f64>(0, 0).unwrap(), all[0]);

        // Text, archives and files.
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(table.display().max_rows(2).to_string().starts_with("3 x 3"));
        assert_eq!(of(&*from_bytes(&table.to_bytes().unwrap())), all);
        table.save(path("a.ntb")).unwrap();
        table.save_with(path("b.ntb"), SaveOptions::new().durable(false)).unwrap();
        assert_eq!(
            (of(&*files::load(path("a.ntb")).unwrap()), of(&*files::load(path("b.ntb")).unwrap())),
            (all.into(), all.into())
        );
        #[cfg(feature = "csv")]
        {
            table.write_csv(path("a.csv")).unwrap();
            table.write_csv_with(path("b.csv"), Default::default()).unwrap();
            let mut text = Vec::new();
            table.write_csv_to(&mut text, Default::default()).unwrap();
            let read = |name: &str| std::fs::read(path(name)).unwrap();
            assert_eq!((read("a.csv"), read("b.csv")), (text.clone(), text.clone()));
            assert!(text.ends_with(b"\n"));
        }
        #[cfg(feature = "npy")]
        if table.uniform_type().is_some() {
            table.save_npy(path("a.npy")).unwrap();
            table.save_npy_with(path("b.npy"), SaveOptions::new()).unwrap();
            let mut bytes = Vec::new();
            table.write_npy(&mut bytes).unwrap();
            let read = |name: &str| std::fs::read(path(name)).unwrap();
            assert_eq!((read("a.npy"), read("b.npy")), (bytes.clone(), bytes));
        }
    }};
}

/// Makes every call that writes: each sets the first value of a table that can be written, and is refused by one that
/// can not.
macro_rules! writing_calls {
    ($table:expr, $is_writable:expr) => {{
        let is_writable: bool = $is_writable;
        let table = $table;
        let mut next = 1.0_f64;
        // Calls a closure that sets the first value, and looks at the outcome.
        macro_rules! sets_the_first_value {
            (|$value:ident| $call:expr) => {{
                next += 1.0;
                let $value = next;
                let outcome: Result<(), Error> = $call;
                match outcome {
                    Ok(()) => assert_eq!((is_writable, table.value::<f64>(0, 0).unwrap()), (true, next)),
                    Err(error) => {
                        let is_refusal = matches!(error.kind(), ErrorKind::ReadOnlyTable);
                        assert!(!is_writable && is_refusal, "{error}");
                    }
                }
            }};
        }
        fn set<U: Element>(block: &mut [U], value: U) -> Result<(), Error> {
            block[0] = value;
            Ok(())
        }
        sets_the_first_value!(|value| table.set_value(0, 0, value));
        sets_the_first_value!(|value| table.update_rows(..1, |block| set::<f64>(block, value)));
        sets_the_first_value!(|value| table.update_rows_in_place(..1, |block| set::<f64>(block, value)));
        sets_the_first_value!(|value| table.update_column(0, ..1, |block| set::<f64>(block, value)));
        sets_the_first_value!(|value| table.update_column_in_place(0, ..1, |block| set::<f64>(block, value)));
        sets_the_first_value!(|value| table.update_row_blocks(2, |block| match block.row_offset() {
            0 => set::<f64>(block, value),
            _ => Ok(()),
        }));
        #[cfg(feature = "rayon")]
        sets_the_first_value!(|value| table.par_update_row_blocks(2, |block| match block.row_offset() {
            0 => set::<f64>(block, value),
            _ => Ok(()),
        }));
        sets_the_first_value!(|value| table.rows_mut::<f64>(..1).and_then(|mut block| {
            block[0] = value;
            block.release()
        }));
        sets_the_first_value!(|value| table.column_mut::<f64>(0, ..1).and_then(|mut block| {
            block[0] = value;
            block.release()
        }));
        let mut block = BlockDescriptor::<f64>::new();
        sets_the_first_value!(|value| table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).and_then(
            |()| {
                block.as_mut_slice().unwrap()[0] = value;
                table.release_block_of_rows(&mut block)
            }
        ));
        sets_the_first_value!(|value| table
            .get_block_of_column_values(0, 0, 1, ReadWriteMode::ReadWrite, &mut block)
            .and_then(|()| {
                block.as_mut_slice().unwrap()[0] = value;
                table.release_block_of_column_values(&mut block)
            }));
        // Walks over writable blocks, and fills, are refused by kinds that have no memory for each value.
        let is_refusal = |error: &Error| {
            let known =
                matches!(error.kind(), ErrorKind::NotInMemory { .. } | ErrorKind::NotStored { value: Some(_), .. });
            known || !is_writable && matches!(error.kind(), ErrorKind::ReadOnlyTable)
        };
        match table.row_blocks_mut::<f64>(2) {
            Ok(blocks) => blocks.for_each(|block| match block.and_then(BlockMut::release) {
                Ok(()) => assert!(is_writable),
                Err(error) => assert!(is_refusal(&error), "{error}"),
            }),
            Err(error) => assert!(is_refusal(&error) || matches!(error.kind(), ErrorKind::ReadOnlyTable), "{error}"),
        }
        #[cfg(feature = "rayon")]
        match table.par_row_blocks_mut::<f64>(2) {
            Ok(blocks) => drop(blocks),
            Err(error) => assert!(is_refusal(&error) || matches!(error.kind(), ErrorKind::ReadOnlyTable), "{error}"),
        }
        match table.fill(1.0_f64) {
            Ok(()) => assert_eq!((is_writable, table.value::<f64>(0, 0).unwrap()), (true, 1.0)),
            Err(error) => assert!(is_refusal(&error), "{error}"),
        }

        // Descriptions. A table that cannot be written may have a dictionary of its own, or not.
        if table.set_names(["x", "y", "z"]).is_ok() {
            table.rename("y", "w").unwrap();
            assert!(table.names().eq([Some("x"), Some("w"), Some("z")]));
            assert_eq!(table.column_named_mut::<f64>("x", ..1).map(|block| block.len()).is_ok(), is_writable);
            table.reset_dictionary().unwrap();
        }
        let is_resized = table.resize(2).is_ok();
        assert_eq!(table.row_count(), if is_resized { 2 } else { 3 });
    }};
}

/// Makes all calls on a table by value, borrowed, boxed and as a trait object.
macro_rules! every_call {
    ($make:expr, $values:expr, $is_writable:expr) => {{
        let mut table = $make;
        reading_calls!(table, $values);
        writing_calls!(&mut table, $is_writable);

        let table = &mut $make;
        reading_calls!(table, $values);
        writing_calls!(table, $is_writable);

        let mut table: Box<dyn NumericTable + '_> = Box::new($make);
        reading_calls!(table, $values);
        writing_calls!(&mut table, $is_writable);

        let table: &mut dyn NumericTable = &mut $make;
        reading_calls!(table, $values);
        writing_calls!(table, $is_writable);
    }};
}
#[cfg(feature = "rayon")]
fn parallel_sum<'b>(blocks: impl rayon::iter::ParallelIterator<Item = Result<Block<'b, f64>, Error>>) -> f64 {
    use rayon::iter::ParallelIterator;
    blocks.map(|block| block.unwrap().iter().sum::<f64>()).sum()
}

fn from_bytes(bytes: &[u8]) -> Box<dyn NumericTable> {
    numeric_table::files::from_bytes(bytes).unwrap()
}

#[test]
fn a_homogeneous_table_answers_every_call() {
    every_call!(super::homogeneous(DataLayout::RowMajor), VALUES, true);
    every_call!(super::homogeneous(DataLayout::ColumnMajor), VALUES, true);
}

#[test]
fn a_structure_of_arrays_answers_every_call() {
    every_call!(super::structure_of_arrays(), VALUES, true);
}

#[test]
fn an_array_of_structures_answers_every_call() {
    every_call!(super::records(), VALUES, true);
    let mut records = super::record_list();
    reading_calls!(super::borrowed_records(&mut records), VALUES);
    writing_calls!(&mut super::borrowed_records(&mut records), true);
}

#[test]
fn a_sparse_table_answers_every_call() {
    every_call!(super::sparse(), VALUES, true);
}

#[test]
fn packed_matrices_answer_every_call() {
    every_call!(super::symmetric(), VALUES, true);
    every_call!(super::triangular(), LOWER, true);
}

#[test]
fn merged_tables_answer_every_call() {
    every_call!(super::side_by_side(), VALUES, true);
    every_call!(super::end_to_end(), VALUES, true);
}

#[test]
fn borrowed_values_answer_every_call() {
    every_call!(super::borrowed(&VALUES), VALUES, false);
    let mut values = VALUES;
    reading_calls!(super::borrowed_mut(&mut values), VALUES);
    writing_calls!(&mut super::borrowed_mut(&mut values), true);
    let mut boxed: Box<dyn NumericTable + '_> = Box::new(super::borrowed_mut(&mut values));
    writing_calls!(&mut boxed, true);
}

#[test]
fn borrowed_tables_and_parts_of_tables_answer_every_call() {
    let mut whole = super::homogeneous(DataLayout::RowMajor);
    reading_calls!(super::by_reference(&whole), VALUES);
    writing_calls!(&mut super::by_reference(&whole), false);
    reading_calls!(super::by_mutable_reference(&mut whole), VALUES);
    writing_calls!(&mut super::by_mutable_reference(&mut whole), true);
    let whole = super::structure_of_arrays();
    reading_calls!(whole.select_rows(..).unwrap(), VALUES);
    writing_calls!(&mut whole.select_rows(..).unwrap(), false);
    reading_calls!(whole.select_columns(..).unwrap(), VALUES);
    writing_calls!(&mut whole.select_columns(..).unwrap(), false);
}

#[test]
fn a_kind_of_table_of_a_user_answers_every_call() {
    every_call!(super::custom(), VALUES, false);
}
