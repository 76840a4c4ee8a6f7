//! Rows across files, against one table of the same rows.

use std::sync::{Arc, Mutex};

use numeric_table::{SoaNumericTable, prelude::*, shards::Shards};
use proptest::prelude::*;
use test_support::{SmallNumber, for_each_element};

use crate::support::{counted_parts, counting, fast, in_columns};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_range_and_every_block_is_that_of_the_tables_end_to_end(
        parts in proptest::collection::vec((0_usize..5, 0_u8..3), 1..6),
        columns in 0_usize..4,
        step in 1_usize..7,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut model = Vec::new();
        let mut paths = Vec::new();
        for (index, &(rows, kind)) in parts.iter().enumerate() {
            let table = counting(model.len(), rows, columns);
            model.extend_from_slice(table.as_slice().unwrap());
            let path = folder.path().join(format!("{index}.ntb"));
            match kind {
                0 => table.save_with(&path, fast()).unwrap(),
                1 => table.to_layout(DataLayout::ColumnMajor).unwrap().save_with(&path, fast()).unwrap(),
                _ if columns == 0 => table.save_with(&path, fast()).unwrap(),
                _ => in_columns(&table).save_with(&path, fast()).unwrap(),
            }
            paths.push(path);
        }
        let shards = Shards::from_paths(&paths).unwrap();
        let rows: usize = parts.iter().map(|part| part.0).sum();
        prop_assert_eq!(shards.shape(), Shape { rows, columns });
        let whole = shards.load::<f64>().unwrap();
        prop_assert_eq!(whole.as_slice().unwrap(), &model[..]);
        for start in 0..=rows {
            for end in start..=rows {
                let found = shards.load_rows::<f32>(start..end).unwrap();
                prop_assert_eq!(found.shape(), Shape { rows: end - start, columns });
                let expected: Vec<f32> = model[start * columns..end * columns].iter().map(|&v| v as f32).collect();
                prop_assert_eq!(found.as_slice().unwrap(), &expected[..]);
            }
        }
        let (mut blocks, mut found, mut next) = (shards.row_blocks::<f64>(step).unwrap(), Vec::new(), 0);
        while let Some(block) = blocks.next_block().unwrap() {
            prop_assert_eq!(block.row_range(), next..rows.min(next + step));
            next = block.row_range().end;
            found.extend_from_slice(&block);
        }
        prop_assert_eq!((next, found), (rows, model.clone()));
        #[cfg(feature = "mmap")]
        {
            // SAFETY: nobody else knows the files.
            let mapped = unsafe { shards.map() }.unwrap();
            prop_assert_eq!(&mapped.rows::<f64>(..).unwrap()[..], &model[..]);
        }
    }
}

#[test]
fn files_of_every_element_type_are_loaded_and_converted() {
    fn check<T: SmallNumber>() {
        let folder = tempfile::tempdir().unwrap();
        let values = T::counting(12);
        for (name, part) in [("a.ntb", 0..2), ("b.ntb", 2..4)] {
            let part = values[part.start * 3..part.end * 3].to_vec();
            let table = Table::from_array(part, Shape { rows: 2, columns: 3 }).unwrap();
            table.save_with(folder.path().join(name), fast()).unwrap();
        }
        let shards = Shards::open(folder.path()).unwrap();
        assert_eq!(shards.uniform_type(), Some(T::TYPE));
        assert_eq!(shards.load::<T>().unwrap().as_slice().unwrap(), values);
        assert_eq!(shards.load_rows::<i32>(1..3).unwrap().as_slice().unwrap(), [3, 4, 5, 6, 7, 8]);
        assert_eq!(shards.load_cast::<u8>().unwrap().as_slice().unwrap(), (0..12).collect::<Vec<u8>>());
    }
    for_each_element!(check);
}

#[test]
fn what_is_loaded_has_the_names_of_the_columns() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a", "b"].map(|name| Feature::new(ElementType::F64).named(name));
    let table = counting(0, 2, 2).with_dictionary(DataDictionary::from_features(names)).unwrap();
    table.save_with(folder.path().join("a.ntb"), fast()).unwrap();
    let shards = Shards::open(folder.path()).unwrap();
    assert_eq!((shards.dictionary(), &shards.load::<f64>().unwrap()), (table.dictionary(), &table));
    assert_eq!(shards.load_rows::<u8>(1..).unwrap(), table.slice_rows(1..2).unwrap().convert::<u8>().unwrap());
}

#[test]
fn columns_of_several_types_are_read_in_one_type() {
    let folder = tempfile::tempdir().unwrap();
    for (name, first) in [("a.ntb", 1_u8), ("b.ntb", 3)] {
        let columns = SoaNumericTable::from_columns([("a", vec![first, first + 1])]).unwrap();
        let wide = SoaNumericTable::from_columns([("b", vec![0.5_f64, f64::from(first)])]).unwrap();
        let joined =
            numeric_table::MergedNumericTable::new([columns, wide].map(|t| Box::new(t) as Box<dyn NumericTable>));
        joined.unwrap().save_with(folder.path().join(name), fast()).unwrap();
    }
    let shards = Shards::open(folder.path()).unwrap();
    assert_eq!(shards.uniform_type(), None);
    assert_eq!(shards.load_rows::<f32>(1..3).unwrap().as_slice().unwrap(), [2.0, 1.0, 3.0, 0.5]);
    assert!(
        shards.load::<f64>().is_err_and(|error| matches!(error.kind(), ErrorKind::MixedElementTypes { column: 1, .. }))
    );
    assert_eq!(shards.load_cast::<f64>().unwrap().shape(), Shape { rows: 4, columns: 2 });
}

#[test]
fn ranges_and_types_that_are_not_there_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    counted_parts(folder.path(), &[2, 1], 2);
    let shards = Shards::open(folder.path()).unwrap();
    assert!(
        shards
            .load_rows::<f64>(1..4)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 3, .. }))
    );
    #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
    let backwards = shards.load_rows::<f64>(2..1);
    assert!(backwards.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::RowsOutOfRange { .. })));
    let error = shards.load::<f32>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ElementTypeMismatch { .. }));
    assert!(error.to_string().ends_with(": `load_cast` converts"));
    assert!(shards.row_blocks::<f64>(0).is_err_and(
        |error| matches!(error.kind(), ErrorKind::ParameterOutOfRange { name, .. } if name.contains("rows of a block"))
    ));
}

#[test]
fn progress_counts_all_bytes_of_values_and_never_falls() {
    let folder = tempfile::tempdir().unwrap();
    counted_parts(folder.path(), &[5, 0, 70_000], 3);
    in_columns(&counting(0, 10, 3)).save_with(folder.path().join("z.ntb"), fast()).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let hears = told.clone();
    let shards = Shards::open(folder.path()).unwrap().on_progress(move |progress| hears.lock().unwrap().push(progress));
    let bytes = shards.shape().element_count().unwrap() as u64 * 8;
    type Call = fn(&Shards);
    let calls: [Call; 5] = [
        |shards| assert!(shards.verify().unwrap()),
        |shards| drop(shards.load::<f64>().unwrap()),
        |shards| drop(shards.load_rows::<f32>(..).unwrap()),
        |shards| assert!(shards.reduce(&crate::support::Trace::default()).is_ok()),
        |shards| {
            let mut blocks = shards.row_blocks::<f64>(1000).unwrap();
            while blocks.next_block().unwrap().is_some() {}
        },
    ];
    for call in calls {
        call(&shards);
        let told = std::mem::take(&mut *told.lock().unwrap());
        assert!(told.iter().all(|progress| progress.total == Some(bytes)));
        assert!(told.windows(2).all(|pair| pair[0].done <= pair[1].done));
        assert_eq!((told[0].done, told[told.len() - 1].done), (0, bytes));
    }
}
