//! Kernels have the same results on every device, bit for bit.

use std::ops::Range;

use numeric_table::convert::convert_slice;
use numeric_table::prelude::*;
use numeric_table::table::spi::Region;
use numeric_table_execution::*;
use test_support::bits::{bits, special_values};
use test_support::for_each_element;
use test_support::tables::{LAYOUTS, POLICIES, assert_fault};

type Result<T> = std::result::Result<T, HandleError>;

pub(crate) fn all_pairs_convert_as_slices_do<D: Kernels>(device: &D) {
    for_each_element!(S => {
        let values = special_values::<S>();
        let input = ArrayHandle::from_container(device, &values[..]);
        for_each_element!(T => {
            let mut output = DeviceArray::<T, D>::allocate(device, values.len()).unwrap();
            for policy in POLICIES {
                let result = on_device::<S, T, D>(&input, &mut output, policy);
                check(of_device(result, &output), of_slices::<S, T>(&values, policy), [S::TYPE, T::TYPE], policy);
            }
        });
    });
}

/// The bits of all values, or what the error says.
type Outcome = std::result::Result<Vec<u64>, String>;

fn check(found: Outcome, expected: Outcome, pair: [ElementType; 2], policy: ConversionPolicy) {
    assert_eq!(found, expected, "{pair:?} {policy}");
}

fn on_device<S: Element, T: Element, D: Kernels>(
    input: &ArrayHandle<S, D, &[S]>,
    output: &mut DeviceArray<T, D>,
    policy: ConversionPolicy,
) -> Result<()> {
    input.device().convert(input.prepare_for_input()?, output.view_mut()?, policy)
}

fn of_device<T: Element, D: Kernels>(result: Result<()>, output: &DeviceArray<T, D>) -> Outcome {
    result.map_err(|error| error.to_string())?;
    Ok(bits_of(&output.to_array().unwrap()))
}

fn of_slices<S: Element, T: Element>(values: &[S], policy: ConversionPolicy) -> Outcome {
    let mut converted = vec![T::default(); values.len()];
    match convert_slice(values, &mut converted, policy) {
        Ok(()) => Ok(bits_of(&converted)),
        Err(error) => Err(error.to_string()),
    }
}

fn bits_of<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|&value| bits(value)).collect()
}

/// A handle with values that count up.
fn counting<D: DeviceAdapter>(device: &D, count: usize) -> ArrayHandle<i32, D, Vec<i32>> {
    ArrayHandle::from_container(device, (0..count as i32).collect())
}

pub(crate) fn tables_are_turned_and_columns_and_rows_chosen<D: Kernels>(device: &D) {
    for (rows, columns) in [(0, 0), (0, 3), (3, 0), (1, 1), (1, 7), (7, 1), (5, 3), (64, 65), (700, 900)] {
        let shape = Shape { rows, columns };
        let table = counting(device, rows * columns);
        let view = || table.prepare_for_input().unwrap();
        let mut output = ArrayHandle::<i32, D>::empty(device);

        device.transpose(view(), shape, output.prepare_for_output(rows * columns).unwrap()).unwrap();
        let turned = output.read_portal().unwrap();
        let expected = (0..columns).flat_map(|column| (0..rows).map(move |row| (row * columns + column) as i32));
        assert!(turned.iter().copied().eq(expected), "{shape}");

        let chosen: Vec<usize> = (0..columns).rev().chain(0..columns.min(1)).collect();
        for layout in LAYOUTS {
            let at = |row: usize, column: usize| match layout {
                DataLayout::RowMajor => (row * columns + column) as i32,
                _ => (column * rows + row) as i32,
            };
            let in_order = |rows: &[usize], columns: &[usize]| -> Vec<i32> {
                let rows_of = |column: usize| rows.iter().map(move |&row| at(row, column));
                let columns_of = |row: usize| columns.iter().map(move |&column| at(row, column));
                match layout {
                    DataLayout::RowMajor => rows.iter().flat_map(|&row| columns_of(row)).collect(),
                    _ => columns.iter().flat_map(|&column| rows_of(column)).collect(),
                }
            };
            let (all_rows, all_columns): (Vec<usize>, Vec<usize>) = ((0..rows).collect(), (0..columns).collect());
            let to = output.prepare_for_output(rows * chosen.len()).unwrap();
            device.gather_columns(view(), shape, layout, &chosen, to).unwrap();
            assert_eq!(output.read_portal().unwrap(), in_order(&all_rows, &chosen), "{shape} {layout}");

            let some = rows / 3..rows - rows / 4;
            let to = output.prepare_for_output(some.len() * columns).unwrap();
            device.gather_rows(view(), shape, layout, some.clone(), to).unwrap();
            assert_eq!(output.read_portal().unwrap(), in_order(&all_rows[some], &all_columns), "{shape} {layout}");
        }
    }
}

pub(crate) fn regions_are_cut_turned_and_converted_at_once<D: Kernels>(device: &D) {
    region::<i16, f32, D>(device, |i| i as i16);
    region::<f32, f32, D>(device, |i| i as f32 * 0.5);
    region::<f64, u8, D>(device, |i| if i.is_multiple_of(7) { -1.0 } else { (i % 300) as f64 });
    region::<i64, i16, D>(device, |i| if i % 11 == 5 { i64::MAX } else { i as i64 });
    region::<u8, f64, D>(device, |i| i as u8);
    let input = ArrayHandle::from_container(device, vec![1_i32; 6]);
    let mut output = ArrayHandle::<f32, D>::empty(device);
    let mut call = |shape, region: Region, count| {
        let from = (input.prepare_for_input().unwrap(), shape, DataLayout::RowMajor);
        let to = (output.prepare_for_output(count).unwrap(), DataLayout::ColumnMajor);
        device.convert_region(from, &region, to, Default::default())
    };
    let shape = Shape { rows: 2, columns: 3 };
    for (region, count) in [
        (Region { rows: 0..3, columns: 0..1 }, 3),
        (Region { rows: 0..2, columns: 2..4 }, 4),
        (Region { rows: 0..2, columns: 3..4 }, 2),
        (Region { rows: 1..usize::MAX, columns: 0..1 }, 1),
    ] {
        assert!(matches!(call(shape, region, count), Err(HandleError::Library(_))));
    }
    let region = Region { rows: 0..2, columns: 1..2 };
    assert_fault!(call(shape, region.clone(), 3), HandleError::LengthMismatch { have: 3, want: 2 });
    let wrong = Shape { rows: 2, columns: 2 };
    assert_fault!(call(wrong, region, 2), HandleError::LengthMismatch { have: 6, want: 4 });
}

/// Compares regions of tables in both layouts, under every policy, with the values one by one.
fn region<S: Element, T: Element, D: Kernels>(device: &D, value: impl Fn(usize) -> S) {
    for (rows, columns) in [(1, 1), (1, 9), (9, 1), (5, 3), (33, 70), (130, 40)] {
        let shape = Shape { rows, columns };
        let parts = [
            Region { rows: 0..rows, columns: 0..columns },
            Region { rows: rows / 3..rows, columns: 0..columns },
            Region { rows: 0..rows, columns: columns / 2..columns },
            Region { rows: rows / 2..rows / 2 + 1, columns: columns / 3..columns },
            Region { rows: rows / 4..rows - rows / 4, columns: columns / 3..columns / 3 + 1 },
            Region { rows: 0..0, columns: 0..columns },
            Region { rows: 0..rows, columns: columns..columns },
        ];
        for (layout, order) in LAYOUTS.iter().flat_map(|&layout| LAYOUTS.map(|order| (layout, order))) {
            let at = |row: usize, column: usize| match layout {
                DataLayout::RowMajor => value(row * columns + column),
                _ => value(column * rows + row),
            };
            let stored: Vec<S> = (0..rows * columns).map(&value).collect();
            let input = ArrayHandle::from_container(device, &stored[..]);
            for (part, policy) in parts.iter().flat_map(|part| POLICIES.map(|policy| (part, policy))) {
                let mut places = Vec::new();
                let mut refused = None;
                for row in part.rows.clone() {
                    for column in part.columns.clone() {
                        let mut converted = [T::default()];
                        match convert_slice(&[at(row, column)], &mut converted, policy) {
                            Ok(()) => places.push((row, column, bits(converted[0]))),
                            Err(error) if refused.is_none() => {
                                let error = error
                                    .to_string()
                                    .replace("row 0, column 0", &format!("row {row}, column {column}"));
                                refused = Some(error);
                            }
                            Err(_) => {}
                        }
                    }
                }
                if order == DataLayout::ColumnMajor {
                    places.sort_by_key(|&(row, column, _)| (column, row));
                }
                let count = part.rows.len() * part.columns.len();
                let mut output = ArrayHandle::<T, D>::empty(device);
                let from = (input.prepare_for_input().unwrap(), shape, layout);
                let to = (output.prepare_for_output(count).unwrap(), order);
                match (device.convert_region(from, part, to, policy), refused) {
                    (Ok(()), None) => {
                        let found = output.read_portal().unwrap().iter().map(|&value| bits(value));
                        assert!(found.eq(places.iter().map(|&(.., bits)| bits)), "{shape} {part:?} {layout} {order}");
                    }
                    (Err(error), Some(expected)) => assert_eq!(error.to_string(), expected, "{shape} {part:?}"),
                    (found, expected) => panic!("{found:?}, not {expected:?}: {shape} {part:?} {layout} {order}"),
                }
            }
        }
    }
}

pub(crate) fn large_arrays_are_filled_and_converted_whole<D: Kernels>(device: &D) {
    const COUNT: usize = (2 << 20) + 77; // more than one thread's share
    let mut values = ArrayHandle::<f32, D>::empty(device);
    device.fill(values.prepare_for_output(COUNT).unwrap(), 1.5).unwrap();
    let mut bytes = ArrayHandle::<u16, D>::empty(device);
    let (from, to) = (values.prepare_for_input().unwrap(), bytes.prepare_for_output(COUNT).unwrap());
    device.convert(from, to, Default::default()).unwrap();
    assert!(bytes.read_portal().unwrap().iter().all(|&value| value == 1));
    // Of several values that are refused, the first is named.
    values.write_portal().unwrap()[COUNT - 1] = 1e9;
    values.write_portal().unwrap()[COUNT - 2] = -1.0;
    values.write_portal().unwrap()[COUNT / 3] = 7e8;
    let (from, to) = (values.prepare_for_input().unwrap(), bytes.prepare_for_output(COUNT).unwrap());
    let error = device.convert(from, to, ConversionPolicy::Checked).unwrap_err();
    let place = COUNT / 3;
    assert_eq!(
        error.to_string(),
        format!(
            "the value 700000000 at row {place}, column 0 is not representable as u16: \
                 `ConversionPolicy::Saturate` accepts it in calls that take a policy"
        )
    );
}

pub(crate) fn views_that_do_not_fit_together_are_refused<D: Kernels>(device: &D) {
    let table = counting(device, 6);
    let mut output = ArrayHandle::<i32, D>::empty(device);
    let view = || table.prepare_for_input().unwrap();
    let shape = Shape { rows: 2, columns: 3 };
    let mut try_with = |count: usize, call: &dyn Fn(ViewMut<'_, i32, D>) -> Result<()>, expected: &str| {
        let result = call(output.prepare_for_output(count).unwrap());
        assert_eq!(result.unwrap_err().to_string(), expected);
    };
    let lengths =
        |have: usize, want: usize| format!("lengths differ: there are {have} values, and {want} were asked for");
    try_with(5, &|output| device.convert(view(), output, Default::default()), &lengths(5, 6));
    try_with(5, &|output| device.transpose(view(), shape, output), &lengths(5, 6));
    try_with(6, &|output| device.transpose(view(), Shape { rows: 2, columns: 4 }, output), &lengths(6, 8));
    let layout = DataLayout::RowMajor;
    let gather = |columns: &'static [usize]| {
        move |output: ViewMut<'_, i32, D>| device.gather_columns(view(), shape, layout, columns, output)
    };
    try_with(3, &gather(&[0]), &lengths(3, 2));
    try_with(2, &gather(&[3]), "column 3 is out of range: the table has 3 columns");
    let rows = |output: ViewMut<'_, i32, D>| device.gather_rows(view(), shape, layout, 1..3, output);
    try_with(6, &rows, "rows 1..3 are out of range: the table has 2 rows");
    let huge = Shape { rows: usize::MAX, columns: 2 };
    assert!(device.transpose(view(), huge, output.prepare_for_output(0).unwrap()).is_err());
}

pub(crate) fn closures_see_whole_inputs_and_whole_items<D: Launch>(device: &D) {
    const COLUMNS: usize = 5;
    for rows in [0, 1, 1000, 300_000] {
        let table = counting(device, rows * COLUMNS);
        let means = ArrayHandle::from_container(device, vec![1, 2, 3, 4, 5]);
        let mut centred = ArrayHandle::<f32, D>::empty(device);
        let inputs = [table.prepare_for_input().unwrap(), means.prepare_for_input().unwrap()];
        let output = centred.prepare_for_output(rows * COLUMNS).unwrap();
        let kernel = |items: Range<usize>, [values, means]: [&[i32]; 2], chunk: &mut [f32]| {
            assert_eq!(chunk.len(), items.len() * COLUMNS);
            let first = items.start * COLUMNS;
            assert_eq!((values.len(), means.len()), (rows * COLUMNS, COLUMNS));
            for (i, value) in chunk.iter_mut().enumerate() {
                *value = (values[first + i] - means[i % COLUMNS]) as f32;
            }
        };
        device.launch(inputs, output, rows, kernel).unwrap();
        let expected = (0..rows * COLUMNS).map(|i| (i as i32 - (i % COLUMNS) as i32 - 1) as f32);
        assert!(centred.read_portal().unwrap().iter().copied().eq(expected), "{rows} rows");

        let in_place = |_: Range<usize>, (), chunk: &mut [f32]| chunk.iter_mut().for_each(|value| *value += 1.0);
        device.launch((), centred.prepare_in_place().unwrap(), rows * COLUMNS, in_place).unwrap();
        let sum: f64 = centred.read_portal().unwrap().iter().map(|&value| f64::from(value)).sum();
        let expected: f64 = (0..rows * COLUMNS).map(|i| f64::from((i as i32 - (i % COLUMNS) as i32) as f32)).sum();
        assert!((sum - expected).abs() <= 1e-6 * expected.abs(), "{rows} rows: {sum} {expected}");
    }
}

pub(crate) fn closures_take_views_of_any_types_and_say_what_went_wrong<D: Launch>(device: &D) {
    for rows in [0, 1, 1000, 300_000] {
        let wide = ArrayHandle::from_container(device, (0..rows).map(|row| row as f64).collect::<Vec<_>>());
        let narrow = ArrayHandle::from_container(device, vec![3_u8; rows]);
        let mut sums = ArrayHandle::<f32, D>::empty(device);
        let mut pairs = ArrayHandle::<i64, D>::empty(device);
        let run = |refused: &[usize], sums: &mut ArrayHandle<f32, D>, pairs: &mut ArrayHandle<i64, D>| {
            let inputs = (wide.prepare_for_input()?, narrow.prepare_for_input()?);
            let outputs = (sums.prepare_for_output(rows)?, pairs.prepare_for_output(2 * rows)?);
            device.launch(inputs, outputs, rows, |items, (wide, narrow), (sums, pairs)| {
                assert_eq!((sums.len(), pairs.len()), (items.len(), 2 * items.len()));
                for (place, item) in items.enumerate() {
                    if refused.contains(&item) {
                        return Err(Error::other(format!("item {item}")));
                    }
                    sums[place] = (wide[item] + f64::from(narrow[item])) as f32;
                    pairs[2 * place..2 * place + 2].copy_from_slice(&[item as i64, i64::from(narrow[item])]);
                }
                Ok(())
            })
        };
        run(&[], &mut sums, &mut pairs).unwrap();
        assert!(sums.read_portal().unwrap().iter().copied().eq((0..rows).map(|row| row as f32 + 3.0)));
        assert!(pairs.read_portal().unwrap().iter().copied().eq((0..rows).flat_map(|row| [row as i64, 3])));

        // Of several errors, that of the first item.
        if rows > 2 {
            let error = run(&[rows - 1, rows / 2, rows - 2], &mut sums, &mut pairs).unwrap_err();
            assert_eq!(error.to_string(), format!("item {}", rows / 2));
        }
    }
    let mut five = ArrayHandle::<u8, D>::empty(device);
    for items in [0, 2, 3, 4, 6, usize::MAX] {
        let error =
            device.launch((), five.prepare_for_output(5).unwrap(), items, |_, (), _: &mut [u8]| {}).unwrap_err();
        assert!(
            matches!(error, HandleError::LengthMismatch { have: 5, want } if want == items),
            "{items} items: {error}"
        );
    }
}
