//! The calls: each is made with whatever its arguments may be on tables of any shape, and looks at what comes back.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::spi::{Lease, Lend, Region, Target};
use numeric_table::{
    array::{AnySlice, AnySliceMut},
    csv::CsvWriteOptions,
    files::{self, SaveOptions, TableReader, TableWriter, verify},
    npy,
    statistics::BasicStatistics,
};
use test_support::tables::{LAYOUTS, huge};

use super::suite::{Call, Table, calls};
use super::tools::{Bounded, FEW, PRINTED, SINK, Sink, check_file, columns_of, row_ranges};

use ReadWriteMode::{ReadOnly, ReadWrite, WriteOnly};

calls! {
    fn facts(table, _folder) {
        let facts = (table.shape(), table.row_count(), table.column_count(), table.data_layout(), table.element_type());
        black_box((facts, table.data_memory_status(), table.dictionary().len(), table.id()));
        let _ = black_box(table.shape().element_count());
        for column in columns_of(table.column_count()) {
            let _ = black_box((table.feature_type(column), table.category_count(column)));
            let _ = black_box(table.dictionary().feature(column));
        }
        black_box(table.dictionary().index_of("nobody"));
        black_box(format!("{:?}", table.dictionary()).len() < PRINTED);
    }

    fn dictionary_replaced(table, _folder) {
        let columns = table.column_count();
        let feature = Feature::new(T::TYPE).named("all").categorical(3);
        table.set_dictionary(DataDictionary::uniform(feature.clone(), columns)).unwrap();
        assert!(table.set_dictionary(DataDictionary::uniform(feature, columns ^ 1)).is_err());
        table.reset_dictionary().unwrap();
    }

    fn debug(table, _folder) {
        write!(Bounded(PRINTED), "{table:?} {table:#?}").unwrap();
    }

    fn printed(table, _folder) {
        let _ = write!(Bounded(PRINTED), "{table} {table:#}");
        let any: &dyn NumericTable = table;
        let _ = write!(Bounded(PRINTED), "{any}");
    }

    fn printed_as_asked(table, _folder) {
        for rows in [0, 1, 1000] {
            for width in [0, 1, 80, 1000] {
                for precision in [0, 3, 1000] {
                    let display = table.display().max_rows(rows).width(width).precision(precision);
                    let _ = write!(Bounded(PRINTED), "{display}");
                }
            }
        }
    }

    fn printed_without_limits(table, _folder) {
        // Asked for everything, a table prints much, and comes to an end.
        let mut text = Bounded(64 << 20);
        let _ = write!(text, "{}", table.display().max_rows(usize::MAX).width(usize::MAX).precision(usize::MAX));
        let _ = write!(text, "{}", table.display().max_rows(usize::MAX));
        let _ = write!(text, "{}", table.display().width(usize::MAX));
    }

    fn cloned_and_compared(table, _folder) {
        let clone = table.clone();
        black_box(clone == *table);
        black_box(*table == Table::<T>::default());
        black_box(clone.to_compact().is_ok());
    }

    fn sliced(table, _folder) {
        for range in row_ranges(table.row_count()) {
            let _ = black_box(table.slice_rows(range));
        }
    }

    fn converted(table, _folder) {
        let _ = black_box(table.convert::<T>());
        let _ = black_box(table.convert::<f64>());
        for policy in [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact] {
            let _ = black_box(table.convert_with::<i16>(policy));
            for layout in LAYOUTS {
                let _ = black_box(table.convert_to::<f64>(layout, policy));
            }
        }
        let _ = black_box(table.conversion_report::<u8>());
    }

    fn laid_out_anew(table, _folder) {
        for layout in LAYOUTS {
            let _ = black_box(table.to_layout(layout));
        }
        let _ = black_box(table.to_compact());
    }

    fn resized(table, _folder) {
        let columns = table.column_count();
        for rows in [1, 0, huge(40), 3, huge(62), usize::MAX, 2, 0] {
            let before = table.shape();
            match table.resize(rows) {
                Ok(()) => assert_eq!(table.shape(), Shape { rows, columns }),
                Err(_) => assert_eq!(table.shape(), before),
            }
        }
    }

    fn memory_freed_and_allocated(table, _folder) {
        let shape = table.shape();
        let _ = black_box(table.allocate_data_memory());
        let _ = black_box(table.free_data_memory());
        let _ = black_box(table.allocate_data_memory());
        assert_eq!(table.shape(), shape);
    }

    fn array_given_and_taken(table, _folder) {
        let _ = black_box((table.array().map(|array| array.len()), table.as_slice().map(<[T]>::len)));
        let _ = black_box(table.as_mut_slice().map(|values| values.len()));
        for rows in [0, 1, 2, usize::MAX] {
            for count in [0, 1, 6] {
                let before = table.shape();
                if table.set_array(vec![T::default(); count], rows).is_err() {
                    assert_eq!(table.shape(), before);
                }
            }
        }
        let _ = black_box(table.clone().into_array());
    }

    fn made_from_arrays(table, _folder) {
        for count in [0, 1, 6] {
            for layout in LAYOUTS {
                let _ = black_box(Table::from_array_with_layout(vec![T::default(); count], table.shape(), layout));
            }
        }
        for count in [0, 1, 6] {
            let _ = black_box(Table::from_array_with_spare_rows(vec![T::default(); count], table.shape()));
            let before = table.shape();
            if table.set_array_with_spare_rows(vec![T::default(); count], 1).is_err() {
                assert_eq!(table.shape(), before);
            }
        }
        for layout in LAYOUTS {
            let _ = black_box(Table::full_with_layout(table.shape(), T::default(), layout));
        }
        let _ = black_box(Table::<T>::from_dictionary(table.dictionary().clone()));
    }

    fn viewed(table, _folder) {
        let shape = table.shape();
        if let Ok(view) = table.view() {
            black_box((view.shape(), view.strides(), view.transposed().shape(), view.as_slice().map(<[T]>::len)));
            for index in [0, 1, usize::MAX] {
                black_box((view.value(index, 0), view.value(0, index)));
                black_box((view.row(index).is_some(), view.column(index).is_some()));
            }
            for range in row_ranges(shape.rows) {
                let _ = black_box(view.slice_rows(range));
            }
            for range in row_ranges(shape.columns) {
                let _ = black_box(view.slice_columns(range));
            }
            black_box(view.conversion_report::<u8>());
            write!(Bounded(PRINTED), "{view:?}").unwrap();
            let _ = write!(Bounded(PRINTED), "{view}");
        }
    }

    fn viewed_for_writing(table, _folder) {
        let shape = table.shape();
        if let Ok(mut view) = table.view_mut() {
            view.fill(T::default());
            let _ = black_box(view.set_value(0, 0, T::default()));
            let _ = black_box(view.set_value(usize::MAX, usize::MAX, T::default()));
            for range in row_ranges(shape.rows) {
                let _ = black_box(view.reborrow().slice_rows(range.clone()));
                let _ = black_box(view.reborrow().split_at_row(range.end));
            }
            for range in row_ranges(shape.columns) {
                let _ = black_box(view.reborrow().slice_columns(range));
            }
            let _ = black_box(view.try_into_slice());
        }
        let other = table.clone();
        if let (Ok(mut view), Ok(other)) = (table.view_mut(), other.view()) {
            let _ = black_box(view.copy_from(other));
        }
    }

    fn rows_read(table, _folder) {
        let mut block = BlockDescriptor::<f64>::new();
        for range in row_ranges(table.row_count()) {
            let _ = black_box(table.rows::<T>(range.clone()).map(|block| (block.row_count(), block.iter_rows().len())));
            let _ = black_box(table.rows::<f64>(range.clone()).map(|block| block.len()));
            let _ = black_box(table.rows_with::<u8>(range.clone(), ConversionPolicy::Exact).map(|block| block.len()));
            let _ = black_box(table.read_rows(range, &mut block).map(<[f64]>::len));
        }
    }

    fn rows_written(table, _folder) {
        for range in row_ranges(table.row_count()) {
            let _ = black_box(table.rows_mut::<T>(range.clone()).and_then(|block| block.release()));
            if let Ok(mut block) = table.rows_mut::<f64>(range) {
                block.iter_mut().for_each(|value| *value = 1.0);
                black_box(block.iter_rows_mut().len());
                let _ = black_box(block.write_back());
                block.discard();
            }
        }
    }

    fn rows_updated(table, _folder) {
        for range in row_ranges(table.row_count()) {
            let _ = black_box(table.update_rows::<f64, _>(range.clone(), |block| {
                block.fill(2.0);
                Ok(())
            }));
            let _ = black_box(table.update_rows_in_place::<T, _>(range, |block| Ok(black_box(block.len()))));
        }
        let _ = black_box(table.update_rows::<T, _>(.., |block| Ok(black_box(block.len()))));
    }

    fn row_blocks_updated(table, _folder) {
        // A table that has rows and columns has little memory, and so few blocks.
        for rows in [0, 1, 7, usize::MAX] {
            let _ = black_box(table.update_row_blocks::<f64>(rows, |block| {
                block.fill(2.0);
                Ok(())
            }));
            #[cfg(feature = "rayon")]
            let _ = black_box(table.par_update_row_blocks::<f64>(rows, |block| {
                block.fill(3.0);
                Ok(())
            }));
        }
    }

    fn regions_lent(table, _folder) {
        let Shape { rows, columns } = table.shape();
        for rows in row_ranges(rows) {
            let (region, mut lease) = (Region { rows, columns: 0..columns }, Lease::new());
            for in_place in [None, Some(T::TYPE), Some(ElementType::I64)] {
                let lent = table.lend_region(&region, in_place, &mut lease);
                if lent.is_ok_and(|is_in_place| is_in_place == in_place.is_some()) {
                    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: true };
                    let _ = black_box(table.write_lent(&mut lease, AnySlice::new(&[1.0_f32]), rule));
                    table.take_back(&mut lease).unwrap();
                }
            }
        }
    }

    fn columns_updated(table, _folder) {
        for column in columns_of(table.column_count()) {
            for range in row_ranges(table.row_count()) {
                let _ = black_box(table.update_column::<f64, _>(column, range.clone(), |block| {
                block.fill(2.0);
                Ok(())
            }));
                let updated = table.update_column_in_place::<T, _>(column, range, |block| Ok(black_box(block.len())));
                let _ = black_box(updated);
            }
        }
    }

    fn columns_read_and_written(table, _folder) {
        for column in columns_of(table.column_count()) {
            for range in row_ranges(table.row_count()) {
                let _ = black_box(table.column::<T>(column, range.clone()).map(|block| block.len()));
                let _ = black_box(table.column::<f64>(column, range.clone()).map(|block| block.len()));
                let _ = black_box(table.column_with::<u8>(column, range.clone(), ConversionPolicy::Exact));
                let _ = black_box(table.column_mut::<f64>(column, range.clone()).and_then(|block| block.release()));
                let _ = black_box(table.column_mut::<T>(column, range).and_then(|block| block.release()));
            }
        }
    }

    fn row_descriptors(table, _folder) {
        let (mut same, mut other) = (BlockDescriptor::<T>::new(), BlockDescriptor::<f64>::new());
        for mode in [ReadOnly, WriteOnly, ReadWrite] {
            for (first, count) in [(0, usize::MAX), (0, 0), (usize::MAX, usize::MAX), (1, 1)] {
                if table.get_block_of_rows(first, count, mode, &mut same).is_ok() {
                    black_box((same.row_count(), same.as_slice().len(), same.capacity()));
                    let _ = black_box(table.release_block_of_rows(&mut same));
                }
                if table.get_block_of_rows(first, count, mode, &mut other).is_ok() {
                    let _ = black_box(table.release_block_of_rows(&mut other));
                }
            }
        }
    }

    fn column_descriptors(table, _folder) {
        let (mut same, mut other) = (BlockDescriptor::<T>::new(), BlockDescriptor::<f64>::new());
        for mode in [ReadOnly, WriteOnly, ReadWrite] {
            for column in columns_of(table.column_count()) {
                for (first, count) in [(0, usize::MAX), (usize::MAX, usize::MAX), (1, 1)] {
                    if table.get_block_of_column_values(column, first, count, mode, &mut same).is_ok() {
                        let _ = black_box(table.release_block_of_column_values(&mut same));
                    }
                    if table.get_block_of_column_values(column, first, count, mode, &mut other).is_ok() {
                        let _ = black_box(table.release_block_of_column_values(&mut other));
                    }
                }
            }
        }
    }

    fn row_blocks(table, _folder) {
        for rows in [0, 1, 7, usize::MAX] {
            if let Ok(mut blocks) = table.row_blocks::<f64>(rows) {
                let _ = black_box((blocks.len(), blocks.size_hint(), blocks.next_back().map(|block| block.is_ok())));
                let _ = black_box(blocks.nth(1).map(|block| block.is_ok()));
                blocks.take(FEW).for_each(|block| drop(black_box(block)));
            }
        }
    }

    fn row_blocks_written(table, _folder) {
        for rows in [0, 1, 7, usize::MAX] {
            if let Ok(blocks) = table.row_blocks_mut::<f64>(rows) {
                black_box((blocks.len(), blocks.size_hint()));
                blocks.take(FEW).for_each(|block| drop(black_box(block.and_then(|block| block.release()))));
            }
        }
    }

    #[cfg(feature = "rayon")]
    fn parallel_row_blocks(table, _folder) {
        use rayon::prelude::*;
        for rows in [0, 1, 7, usize::MAX] {
            if let Ok(blocks) = table.par_row_blocks::<f64>(rows) {
                black_box(blocks.len());
                blocks.take(FEW).for_each(|block| drop(black_box(block)));
            }
            if let Ok(blocks) = table.par_row_blocks_mut::<f64>(rows) {
                black_box(blocks.len());
                blocks.take(FEW).for_each(|block| drop(black_box(block.and_then(|block| block.release()))));
            }
        }
    }

    fn single_values(table, _folder) {
        let Shape { rows, columns } = table.shape();
        for row in columns_of(rows) {
            for column in columns_of(columns) {
                let _ = black_box(table.value::<f64>(row, column));
                let _ = black_box(table.set_value(row, column, 1.0));
            }
        }
    }

    fn assigned(table, _folder) {
        let _ = black_box(table.fill(1.0));
        let _ = black_box(table.fill(1e300));
    }

    fn regions(table, _folder) {
        let Shape { rows, columns } = table.shape();
        for rows in row_ranges(rows) {
            for columns in row_ranges(columns) {
                let region = Region { rows: rows.clone(), columns };
                let _ = black_box((region.shape(), region.check(table.shape())));
                let mut values = [0.0_f64; 4];
                let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
                let _ = black_box(table.write_region(&region, AnySlice::new(&values), rule));
                for shape in [region.shape(), Shape { rows: 2, columns: 2 }] {
                    let target = Target::new(AnySliceMut::new(&mut values), shape, ConversionPolicy::Exact);
                    let _ = black_box(target.and_then(|target| table.read_region(&region, target)));
                    let target = Target::new(AnySliceMut::new(&mut []  as &mut [u8]), shape, ConversionPolicy::Exact);
                    let _ = black_box(target.and_then(|target| table.read_region(&region, target.allow_partial_write())));
                    let target = Target::new(AnySliceMut::new(&mut []  as &mut [u8]), shape, ConversionPolicy::Exact);
                    let fill = |target: Target<'_>| target.fill_with(&region, |row, column| (row ^ column) as u64);
                    let _ = black_box(target.and_then(fill));
                }
            }
        }
    }

    fn pieces(table, _folder) {
        let Shape { rows, columns } = table.shape();
        for (row, column) in [(0, 0), (rows, columns), (usize::MAX, 0), (0, usize::MAX)] {
            let piece = table.piece(row, column);
            let _ = black_box(piece.map(|piece| piece.map(|piece| piece.moved(row, column).region().shape())));
            let piece = table.piece_mut(row, column);
            let _ = black_box(piece.map(|piece| piece.map(|piece| piece.moved(row, column).region().shape())));
        }
        let _ = black_box((table.pieces_mut().map(|pieces| pieces.len()), table.check_writable()));
        let _ = black_box((table.uniform_type(), columns_of(columns).map(|column| table.column_type(column))));
    }

    fn archived(table, _folder) {
        if let Ok(bytes) = table.to_bytes() {
            assert_eq!(Table::<T>::from_bytes(&bytes).unwrap().shape(), table.shape());
            assert_eq!(files::from_bytes(&bytes).unwrap().shape(), table.shape());
        }
    }

    fn as_json(table, _folder) {
        if let Ok(text) = serde_json::to_string(table) {
            let _ = black_box(serde_json::from_str::<Table<T>>(&text));
        }
    }

    fn saved(table, folder) {
        let path = folder.join("table.ntb");
        check_file(table.save(&path), &path, table.shape(), |path| files::load(path));
        let saved = table.save_with(&path, SaveOptions::new().checksums(None));
        check_file(saved, &path, table.shape(), |path| files::load(path));
        let any: &dyn NumericTable = table;
        check_file(any.save(&path), &path, table.shape(), |path| files::load(path));
    }

    fn saved_in_place(table, folder) {
        let path = folder.join("table.ntb");
        std::fs::write(&path, "what was there").unwrap();
        if table.save_with(&path, SaveOptions::new().in_place(true)).is_err() {
            assert_eq!(std::fs::read(&path).unwrap(), b"what was there");
        }
    }

    fn loaded(table, folder) {
        let path = folder.join("table.ntb");
        if table.save(&path).is_err() {
            return;
        }
        assert_eq!(Table::<T>::load(&path).unwrap().shape(), table.shape());
        assert_eq!(Table::<f64>::load_cast(&path).unwrap().shape(), table.shape());
        assert!(verify(&path).unwrap());
        // SAFETY: nobody else knows the file.
        #[cfg(feature = "mmap")]
        assert_eq!(unsafe { Table::<T>::map(&path) }.unwrap().shape(), table.shape());
        let reader = TableReader::open(&path).unwrap();
        assert_eq!(reader.shape(), table.shape());
        let _ = black_box((reader.verify(), reader.load::<T>(), reader.load_cast::<f64>(), reader.load_any()));
        for range in row_ranges(table.row_count()) {
            let _ = black_box(reader.load_rows::<f64>(range));
        }
        for rows in [0, 1, 1000, usize::MAX] {
            if let Ok(mut blocks) = reader.row_blocks::<f64>(rows) {
                for _ in 0..FEW {
                    let _ = black_box(blocks.next_block().map(|block| block.map(|block| block.row_range())));
                }
            }
            #[cfg(feature = "rayon")]
            if let Ok(blocks) = reader.par_row_blocks::<f64>(rows) {
                use rayon::iter::{IndexedParallelIterator, ParallelIterator};
                black_box(blocks.take(FEW).filter_map(|block| block.ok().map(|block| block.row_range())).count());
            }
        }
        black_box(BasicStatistics::compute_file(&reader).is_ok());
    }

    fn copied_from_a_file(table, folder) {
        let [path, copy] = ["table.ntb", "copy.ntb"].map(|name| folder.join(name));
        if table.save(&path).is_err() {
            return;
        }
        let reader = TableReader::open(&path).unwrap();
        if let Ok(mut writer) = TableWriter::<T>::create(&copy, table.column_count(), None) {
            for range in row_ranges(table.row_count()) {
                let _ = black_box(writer.copy_rows(&reader, range));
            }
            let shape = writer.shape();
            check_file(writer.finish(), &copy, shape, |path| files::load(path));
        }
        if let Ok(mut writer) = TableWriter::<i16>::create(&copy, table.column_count(), None) {
            let _ = black_box(writer.copy_rows(&reader, ..));
            let shape = writer.shape();
            check_file(writer.finish(), &copy, shape, |path| files::load(path));
        }
    }

    fn written_block_by_block(table, folder) {
        let path = folder.join("table.ntb");
        if let Ok(mut writer) = TableWriter::<T>::create(&path, table.column_count(), None) {
            for count in [0, 1, 3, 4096] {
                let _ = black_box(writer.append(&vec![T::default(); count]));
            }
            let _ = black_box(writer.append_table(table));
            let shape = writer.shape();
            check_file(writer.finish(), &path, shape, |path| files::load(path));
        }
    }

    fn saved_for_numpy(table, folder) {
        let path = folder.join("table.npy");
        check_file(table.save_npy(&path), &path, table.shape(), |path| npy::load(path));
        let any: &dyn NumericTable = table;
        check_file(any.save_npy(&path), &path, table.shape(), |path| npy::load(path));
        let _ = black_box(table.write_npy(Sink(SINK)));
        let _ = black_box(any.write_npy(Sink(SINK)));
    }

    fn written_as_csv(table, folder) {
        let path = folder.join("table.csv");
        for header in [true, false] {
            let options = CsvWriteOptions::new().header(header);
            let _ = black_box(table.write_csv_to(Sink(SINK), options.clone()));
            if table.write_csv_with(&path, options).is_err() {
                assert!(!path.exists(), "a failed save left a file");
            }
            let _ = std::fs::remove_file(&path);
        }
        let any: &dyn NumericTable = table;
        let _ = black_box(any.write_csv_to(Sink(SINK), CsvWriteOptions::new()));
        let _ = black_box(table.write_csv(&path));
        let _ = std::fs::remove_file(&path);
    }

    fn written_as_csv_with_categories(table, folder) {
        let path = folder.join("table.csv");
        std::fs::write(&path, "what was there").unwrap();
        for column in columns_of(table.column_count()) {
            let options = CsvWriteOptions::new().header(false).categories(column, ["no", "yes"]).missing("?");
            let _ = black_box(table.write_csv_to(Sink(SINK), options.clone()));
            if table.write_csv_with(&path, options.in_place(true)).is_err() {
                assert_eq!(std::fs::read(&path).unwrap(), b"what was there");
            }
            std::fs::write(&path, "what was there").unwrap();
        }
    }

    fn statistics(table, _folder) {
        let any: &dyn NumericTable = table;
        if let Ok(statistics) = BasicStatistics::compute(any) {
            write!(Bounded(PRINTED), "{statistics}").unwrap();
        }
        if let Ok(mut statistics) = BasicStatistics::new(table.column_count()) {
            let _ = black_box(statistics.update_values(&[1.0_f32; 6]));
            let other = BasicStatistics::new(table.column_count());
            let _ = black_box(other.map(|other| statistics.merge(&other)));
        }
    }

    #[cfg(feature = "ndarray")]
    fn as_ndarray(table, _folder) {
        let _ = black_box(table.to_ndarray());
        let _ = black_box(table.clone().try_into_ndarray());
        if let Ok(view) = table.view() {
            let _ = black_box(view.as_ndarray().map(|array| array.dim()));
        }
        if let Ok(view) = table.view_mut() {
            let _ = black_box(view.into_ndarray().map(|array| array.dim()));
        }
        for range in row_ranges(table.row_count()) {
            let _ = black_box(table.rows::<T>(range.clone()).map(|block| block.as_ndarray().map(|array| array.dim())));
            let block = table.rows_mut::<T>(range);
            let _ = black_box(block.map(|mut block| block.as_ndarray_mut().map(|array| array.dim())));
        }
    }
}
