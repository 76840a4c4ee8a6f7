//! Sparse rows, and columns of several types: they cross as they are stored, and are the dense values there.

use numeric_table::convert::convert_slice;
use numeric_table::prelude::*;
use numeric_table::{AosNumericTable, CsrNumericTable, RowMergedNumericTable, SoaNumericTable, bf16};
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::stream::{Convert, StreamOptions, StreamRows};
use numeric_table_execution::*;
use test_support::bits::{bits, special_values};
use test_support::tables::{LAYOUTS, POLICIES, assert_fault};
use test_support::{SmallNumber, for_each_element};

const CONVERTS: [Convert; 3] = [Convert::Auto, Convert::Control, Convert::Execution];

/// The cells of a sparse table, by rows.
struct Cells<S> {
    columns: usize,
    rows: Vec<Vec<(usize, S)>>,
}

impl<S: Element> Cells<S> {
    fn shape(&self) -> Shape {
        Shape { rows: self.rows.len(), columns: self.columns }
    }

    fn table(&self) -> CsrNumericTable {
        let cells = || self.rows.iter().flatten();
        let ends = self.rows.iter().scan(0, |end, row| {
            *end += row.len() as u32;
            Some(*end)
        });
        let offsets: Vec<u32> = [0].into_iter().chain(ends).collect();
        let indices: Vec<i64> = cells().map(|&(column, _)| column as i64).collect();
        let values: Vec<S> = cells().map(|&(_, value)| value).collect();
        CsrNumericTable::try_new(self.shape(), offsets, indices, values).unwrap()
    }

    /// The bits of all values of some rows in another type, row by row: each stored one converted by itself.
    fn dense<T: Element>(&self, rows: std::ops::Range<usize>) -> Vec<u64> {
        let mut dense = vec![bits(T::default()); rows.len() * self.columns];
        for (row, cells) in self.rows[rows].iter().enumerate() {
            for &(column, value) in cells {
                let mut converted = [T::default()];
                convert_slice(&[value], &mut converted, ConversionPolicy::Saturate).unwrap();
                dense[row * self.columns + column] = bits(converted[0]);
            }
        }
        dense
    }

    /// The bytes that should cross for some rows, in a type of a size.
    fn bytes<T: Element, D: DeviceAdapter>(&self, rows: std::ops::Range<usize>, convert: Convert) -> usize {
        let (stored, target) = (size_of::<S>(), size_of::<T>());
        let narrower = if convert == Convert::Control { target } else { stored.min(target) };
        let size = if convert == Convert::Execution { stored } else { narrower };
        let (dense, count) = (rows.len() * self.columns * size, self.rows[rows.clone()].iter().flatten().count());
        let width = |most: usize| [1, 2, 4, 8].into_iter().find(|&bytes| most >> (8 * bytes - 1) <= 1).unwrap();
        let sparse = count * (size + width(self.columns - 1)) + (rows.len() + 1) * width(count);
        match (<D::Memory as ExecutionMemory>::IS_SHARED, convert) {
            (true, _) => 0,
            (false, Convert::Control) => dense,
            _ => dense.min(sparse),
        }
    }
}

/// Some cells: rows of none, of one, of all, and of every third column.
fn cells<S: SmallNumber>(rows: usize, columns: usize) -> Cells<S> {
    let row = |row: usize| -> Vec<(usize, S)> {
        let is_stored = |column: usize| match row % 5 {
            0 | 3 => false,
            1 => column == row % columns,
            2 => row == 7,
            _ => column % 3 == row % 3,
        };
        (0..columns)
            .filter(|&column| is_stored(column))
            .map(|c| (c, S::small(((row * 7 + c) % 127 + 1) as u8)))
            .collect()
    };
    Cells { columns, rows: (0..rows).map(row).collect() }
}

/// Returns the bits of a view's values, row by row.
pub(super) fn rows_of<T: Element, D: Kernels>(
    device: &D,
    view: View<'_, T, D>,
    shape: Shape,
    layout: DataLayout,
) -> Vec<u64> {
    let mut copy = ArrayHandle::<T, D>::empty(device);
    device.convert(view, copy.prepare_for_output(shape.rows * shape.columns).unwrap(), Default::default()).unwrap();
    let values = copy.read_portal().unwrap();
    let places = (0..shape.rows).flat_map(|row| (0..shape.columns).map(move |column| (row, column)));
    let place = |(row, column)| match layout {
        DataLayout::RowMajor => row * shape.columns + column,
        _ => column * shape.rows + row,
    };
    places.map(|at| bits(values[place(at)])).collect()
}

/// Streams rows, and compares all blocks and the bytes that cross.
fn check_stream<T: Element, D: Kernels>(
    device: &D,
    rows: &(impl StreamRows + ?Sized),
    options: StreamOptions,
    dense: impl Fn(std::ops::Range<usize>) -> Vec<u64>,
    bytes: impl Fn(std::ops::Range<usize>) -> usize,
) {
    let mut stream = rows.stream_rows::<T, D>(device, options).unwrap();
    loop {
        let before = device.stats().uploads.bytes;
        let Some(block) = stream.next().unwrap() else { break };
        let range = block.row_range();
        assert_eq!(device.stats().uploads.bytes - before, bytes(range.clone()), "{range:?} {options:?}");
        assert_eq!(rows_of(device, block.view(), block.shape(), options.layout), dense(range), "{options:?}");
    }
    stream.finish().unwrap();
}

pub(crate) fn sparse_rows_cross_as_their_cells<D: Kernels>(device: &D) {
    fn check<S: SmallNumber, T: SmallNumber, D: Kernels>(device: &D) {
        let cells = cells::<S>(23, 60);
        let table = cells.table();
        for (layout, convert) in LAYOUTS.into_iter().flat_map(|layout| CONVERTS.map(|convert| (layout, convert))) {
            for (rows, slots) in [(1, 2), (4, 1), (5, 3), (100, 3)] {
                let options = StreamOptions { rows, slots, convert, layout, ..Default::default() };
                let (dense, bytes) = (|rows| cells.dense::<T>(rows), |rows| cells.bytes::<T, D>(rows, convert));
                check_stream::<T, D>(device, &table, options, dense, bytes);
            }
        }
        let before = device.stats().uploads.bytes;
        let there = table.to_device::<T, D>(device).unwrap();
        assert_eq!(device.stats().uploads.bytes - before, cells.bytes::<T, D>(0..23, Convert::Auto));
        assert_eq!((there.shape(), there.data_layout()), (cells.shape(), DataLayout::RowMajor));
        let found = rows_of(device, there.view().unwrap(), there.shape(), there.data_layout());
        assert_eq!(found, cells.dense::<T>(0..23));
    }
    check::<i16, f32, D>(device);
    check::<f64, f32, D>(device);
    check::<f32, f32, D>(device);
    check::<f32, i32, D>(device);
    check::<u8, f64, D>(device);
}

pub(crate) fn every_pair_of_types_is_the_dense_one<D: Kernels>(device: &D) {
    for_each_element!(S => {
        // Every special value, one in a row, with much room around it.
        let rows = special_values::<S>().into_iter().enumerate().map(|(row, value)| vec![(row * 13 % 40, value)]);
        let cells = Cells::<S> { columns: 40, rows: rows.collect() };
        let (table, shape) = (cells.table(), cells.shape());
        for_each_element!(T => {
            let there = table.to_device::<T, D>(device).unwrap();
            let found = rows_of(device, there.view().unwrap(), shape, there.data_layout());
            assert_eq!(found, cells.dense::<T>(0..shape.rows), "{} to {}", S::TYPE, T::TYPE);
        });
    });
}

pub(crate) fn odd_sparse_tables_cross<D: Kernels>(device: &D) {
    let check = |cells: Cells<f32>| {
        let (table, rows) = (cells.table(), cells.rows.len());
        for layout in LAYOUTS {
            let options = StreamOptions { rows: rows.div_ceil(2).max(1), layout, ..Default::default() };
            let (dense, bytes) = (|rows| cells.dense::<f64>(rows), |rows| cells.bytes::<f64, D>(rows, Convert::Auto));
            check_stream::<f64, D>(device, &table, options, dense, bytes);
        }
        let there = table.to_device::<f64, D>(device).unwrap();
        let found = rows_of(device, there.view().unwrap(), there.shape(), there.data_layout());
        assert_eq!(found, cells.dense::<f64>(0..rows));
    };
    let rows = |columns: usize, rows: Vec<Vec<(usize, f32)>>| check(Cells { columns, rows });
    rows(9, vec![vec![]; 4]); // nothing is stored
    rows(1, vec![vec![]]);
    rows(1, vec![vec![(0, 2.5)]]);
    rows(300, vec![vec![(299, 7.0)]]); // one row
    rows(6, vec![(0..6).map(|column| (column, column as f32)).collect(); 5]); // all cells, dense rows are less
    rows(40, vec![vec![(0, 0.0), (1, -0.0), (39, f32::NAN)]; 3]); // stored zeros
    for columns in [256, 257, 65_536, 65_537] {
        rows(columns, vec![vec![(0, 1.0), (columns - 1, 2.0)], vec![], vec![(columns - 1, 3.0)]]);
    }
    rows(700, vec![(0..300).map(|column| (2 * column, column as f32)).collect(); 2]); // offsets of two bytes

    // Indices and offsets of every type, and counted from one.
    let shape = Shape { rows: 2, columns: 50 };
    let expected: Vec<u64> = (0..100)
        .map(|place| bits([(3, 1.5_f64), (99, 2.5)].iter().find(|it| it.0 == place).map_or(0.0, |it| it.1)))
        .collect();
    let tables = [
        CsrNumericTable::try_new(shape, vec![0_i32, 1, 2], vec![3_u64, 49], vec![1.5_f32, 2.5]),
        CsrNumericTable::try_new(shape, vec![0_u32, 1, 2], vec![3_i64, 49], vec![1.5_f32, 2.5]),
        CsrNumericTable::try_new(shape, vec![0_i64, 1, 2], vec![3_u32, 49], vec![1.5_f32, 2.5]),
        CsrNumericTable::try_new(shape, vec![0_u64, 1, 2], vec![3_i32, 49], vec![1.5_f32, 2.5]),
        CsrNumericTable::from_one_based(shape, vec![1, 2, 3], vec![4, 50], vec![1.5_f32, 2.5]),
    ];
    for table in tables {
        let there = table.unwrap().to_device::<f64, D>(device).unwrap();
        assert_eq!(rows_of(device, there.view().unwrap(), shape, there.data_layout()), expected);
    }
    // Without rows, columns, or memory.
    for shape in [Shape { rows: 0, columns: 3 }, Shape { rows: 3, columns: 0 }] {
        let table =
            CsrNumericTable::try_new(shape, vec![0; shape.rows + 1], Vec::<i32>::new(), Vec::<f32>::new()).unwrap();
        assert_eq!(table.to_device::<f64, D>(device).unwrap().to_table().unwrap().shape(), shape);
        check_stream::<f64, D>(device, &table, StreamOptions { rows: 2, ..Default::default() }, |_| vec![], |_| 0);
    }
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 4);
    let table = CsrNumericTable::from_dictionary::<f32>(dictionary).unwrap();
    assert_fault!(table.to_device::<f32, D>(device), HandleError::Library(error) if matches!(error.kind(), ErrorKind::NotAllocated));
}

pub(crate) fn refused_values_of_sparse_and_mixed_rows_are_those_of_dense_ones<D: Kernels>(device: &D) {
    let mut cells = cells::<f64>(12, 40);
    for (row, column, value) in [(4, 7, 1e300), (4, 28, -1.0), (9, 3, 0.1), (6, 6, 300.0)] {
        let row = &mut cells.rows[row];
        row.retain(|cell| cell.0 != column);
        row.push((column, value));
        row.sort_by_key(|cell| cell.0);
    }
    let sparse = cells.table();
    refusals::<f32, D>(device, &sparse);
    refusals::<u8, D>(device, &sparse);
    refusals::<u16, D>(device, &cells_of_i32().table());

    let mut mixed = SoaNumericTable::new();
    mixed.push_column("c1", vec![1_u8, 2, 3, 4, 5]).unwrap();
    mixed.push_column("c2", vec![1_i16, 2, 3, -4, 5]).unwrap();
    mixed.push_column("c3", vec![1_i16, 2, -3, 4, 5]).unwrap();
    mixed.push_column("c4", vec![0.5_f64, 1.5, 2.5, 1e300, 4.5]).unwrap();
    refusals::<u32, D>(device, &mixed);
    refusals::<f32, D>(device, &mixed);
}

fn cells_of_i32() -> Cells<i32> {
    let mut cells = cells::<i32>(8, 30);
    cells.rows[3] = vec![(2, 5), (4, -1), (9, 1 << 20)];
    cells
}

/// Compares the errors of every policy with those of the rows as a dense table.
fn refusals<T: Element, D: Kernels>(device: &D, table: &(impl ToDevice + NumericTable)) {
    for policy in POLICIES {
        let expected = table.convert_with::<T>(policy).map(|_| ()).map_err(|error| error.to_string());
        let found = table.to_device_with::<T, D>(device, policy).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(found, expected, "{policy}");
        for (layout, convert) in LAYOUTS.into_iter().flat_map(|layout| CONVERTS.map(|convert| (layout, convert))) {
            for rows in [1, 2, 100] {
                let options = StreamOptions { rows, convert, layout, policy, ..Default::default() };
                let mut stream = table.stream_rows::<T, D>(device, options).unwrap();
                let found = loop {
                    match stream.next() {
                        Ok(Some(_)) => {}
                        Ok(None) => break Ok(()),
                        Err(error) => break Err(error.to_string()),
                    }
                };
                assert_eq!(found, expected, "{options:?}");
                if let Err(error) = expected.clone() {
                    assert_eq!(stream.next().map(|_| ()).unwrap_err().to_string(), error); // no block is skipped
                }
            }
        }
    }
}

/// A table of columns of several types, whose values count 1, 2, 3 ... row by row.
fn mixed(rows: usize) -> SoaNumericTable {
    fn column<T: SmallNumber>(table: &mut SoaNumericTable, rows: usize) {
        let at = table.column_count();
        table
            .push_column(format!("c{at}"), (0..rows).map(|row| T::small((row * 6 + at + 1) as u8)).collect::<Vec<T>>())
            .unwrap();
    }
    let mut table = SoaNumericTable::new();
    column::<u8>(&mut table, rows);
    column::<i16>(&mut table, rows);
    column::<i16>(&mut table, rows);
    column::<f64>(&mut table, rows);
    column::<u8>(&mut table, rows);
    column::<bf16>(&mut table, rows);
    table
}

/// The same as records, whose fields are in another order in memory.
#[derive(Clone, Copy)]
struct Record {
    last: bf16,
    first: u8,
    wide: f64,
    pair: [i16; 2],
    small: u8,
}
numeric_table::impl_record!(Record { first, pair, wide, small, last });

pub(crate) fn columns_of_several_types_cross_in_their_own<D: Kernels>(device: &D) {
    const ROWS: usize = 21;
    fn check<T: SmallNumber, D: Kernels>(device: &D, table: &(impl ToDevice + NumericTable)) {
        let dense = |rows: std::ops::Range<usize>| -> Vec<u64> {
            (rows.start * 6..rows.end * 6).map(|place| bits(T::small((place + 1) as u8))).collect()
        };
        let bytes = |rows: std::ops::Range<usize>, convert| {
            let sizes = [1, 2, 2, 8, 1, 2].map(|size: usize| match convert {
                Convert::Auto => size.min(size_of::<T>()),
                Convert::Control => size_of::<T>(),
                _ => size,
            });
            let sum = sizes.into_iter().sum::<usize>().min(6 * size_of::<T>());
            if <D::Memory as ExecutionMemory>::IS_SHARED { 0 } else { rows.len() * sum }
        };
        for (layout, convert) in LAYOUTS.into_iter().flat_map(|layout| CONVERTS.map(|convert| (layout, convert))) {
            for rows in [1, 4, 100] {
                let options = StreamOptions { rows, convert, layout, ..Default::default() };
                check_stream::<T, D>(device, table, options, dense, |rows| bytes(rows, convert));
            }
        }
        let before = device.stats().uploads.bytes;
        let there = table.to_device::<T, D>(device).unwrap();
        assert_eq!(device.stats().uploads.bytes - before, bytes(0..ROWS, Convert::Auto));
        assert_eq!(there.data_layout(), table.data_layout());
        assert_eq!(rows_of(device, there.view().unwrap(), there.shape(), there.data_layout()), dense(0..ROWS));
    }
    for_each_element!(T => check::<T, D>(device, &mixed(ROWS)));
    let number = |row: usize, column: usize| (row * 6 + column + 1) as u8;
    let record = |row| Record {
        last: bf16::from_f32(number(row, 5).into()),
        first: number(row, 0),
        wide: number(row, 3).into(),
        pair: [number(row, 1).into(), number(row, 2).into()],
        small: number(row, 4),
    };
    let records = AosNumericTable::from_records((0..ROWS).map(record).collect::<Vec<_>>()).unwrap();
    check::<f32, D>(device, &records);
    check::<f64, D>(device, &records);

    // Tables end to end, whose columns have different types above and below: rows of one part cross in their types.
    let (above, below) = (mixed(4), mixed(3));
    let both =
        RowMergedNumericTable::new(vec![numeric_table::table::by_ref(&above), numeric_table::table::by_ref(&below)])
            .unwrap();
    let there = both.to_device::<f32, D>(device).unwrap();
    let expected: Vec<f32> = (1..=24).chain(1..=18).map(|number| number as f32).collect();
    assert_eq!(&there.to_table().unwrap().rows::<f32>(..).unwrap()[..], expected);
}

pub(crate) fn tables_of_every_kind_go_there<D: Kernels>(device: &D) {
    fn check<D: Kernels>(device: &D, table: &dyn NumericTable) {
        let expected = table.convert::<f32>().unwrap();
        let there = table.to_device::<f32, D>(device).unwrap();
        assert_eq!((there.shape(), there.data_layout()), (table.shape(), table.data_layout()));
        assert_eq!(there.dictionary().len(), table.column_count());
        let found = there.to_table().unwrap();
        let shape = table.shape();
        assert_eq!(found.rows::<f32>(..).unwrap()[..], expected.rows::<f32>(..).unwrap()[..], "{shape}");
        let part = table.select_rows(1..shape.rows).unwrap();
        let found = part.to_device::<f32, D>(device).unwrap().to_table().unwrap();
        assert_eq!(found.rows::<f32>(..).unwrap()[..], expected.rows::<f32>(1..).unwrap()[..], "{shape}");
        let some = table.select_columns([1, 0]).unwrap();
        let found = some.to_device::<f32, D>(device).unwrap().to_table().unwrap();
        let expected = some.convert::<f32>().unwrap();
        assert_eq!(found.rows::<f32>(..).unwrap()[..], expected.rows::<f32>(..).unwrap()[..], "{shape}");
    }
    let mut cells = cells::<i16>(9, 30).table();
    let names: DataDictionary = (0..30).map(|at| Feature::new(ElementType::I16).named(format!("c{at}"))).collect();
    cells.set_dictionary(names).unwrap();
    check(device, &cells);
    let there = cells.to_device::<f64, D>(device).unwrap();
    assert_eq!(there.dictionary().feature(29).unwrap().name.as_deref(), Some("c29"));
    check(device, &mixed(7));
    for layout in LAYOUTS {
        check(device, &test_support::tables::numbered::<i16>(5, 4, layout));
        check(device, &test_support::tables::numbered::<f32>(5, 4, layout));
    }
}

/// Tables of more bytes than are packed at once: 64 MiB.
pub(crate) fn large_tables_go_there_in_blocks<D: Kernels>(device: &D) {
    let calls = || device.stats().uploads.calls;
    let is_shared = <D::Memory as ExecutionMemory>::IS_SHARED;
    let check = |there: ArrayHandle<f64, D>, expected: &[(usize, f64)], other: f64| {
        for &(place, value) in expected {
            let around = [place.saturating_sub(1), place, (place + 1).min(there.len() - 1)];
            let values = |place| expected.iter().find(|it| it.0 == place).map_or(other, |it| it.1);
            assert_eq!(there.get_values(&around).unwrap(), around.map(values), "{place} is {value}");
        }
    };

    // Eight rows are a block; there are cells at the edges of each.
    let shape = Shape { rows: 17, columns: 1 << 20 };
    let columns = [0, 70_000, shape.columns - 1];
    let offsets: Vec<u32> = (0..=shape.rows as u32).map(|row| 3 * row).collect();
    let indices: Vec<i64> = (0..shape.rows).flat_map(|_| columns.map(|column| column as i64)).collect();
    let values: Vec<f64> = (1..=3 * shape.rows as u32).map(f64::from).collect();
    let places = (0..shape.rows).flat_map(|row| columns.map(|column| row * shape.columns + column));
    let expected: Vec<(usize, f64)> = places.zip(values.clone()).collect();
    let (table, before) = (CsrNumericTable::try_new(shape, offsets, indices, values).unwrap(), calls());
    let there = table.to_device::<f64, D>(device).unwrap();
    assert_eq!((there.shape(), calls() - before), (shape, if is_shared { 0 } else { 3 }));
    check(there.into_handle(), &expected, 0.0);

    // Columns, of which a block has a part each.
    let (rows, block) = (3 << 20, (64 << 20) / 24);
    let marks = [0, block - 1, block, rows - 1];
    let (mut table, mut expected) = (SoaNumericTable::new(), Vec::new());
    for column in 0..3 {
        let mut values = vec![200.0_f64; rows];
        for (at, row) in marks.into_iter().enumerate() {
            values[row] = (4 * column + at) as f64;
            expected.push((column * rows + row, values[row]));
        }
        table.push_column(format!("c{column}"), values).unwrap();
    }
    let before = calls();
    let there = table.to_device::<f64, D>(device).unwrap();
    assert_eq!((there.data_layout(), calls() - before), (DataLayout::ColumnMajor, if is_shared { 0 } else { 2 }));
    check(there.into_handle(), &expected, 200.0);
}
