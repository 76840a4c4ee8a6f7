//! Entire tables: converting into a layout has the same result as converting first and changing the layout afterwards.

use super::memory::are_same;
use super::*;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, Shape, TableView};
use DataLayout::{ColumnMajor, RowMajor};

/// Without values, with one value, tall, wide, larger than a tile in one direction or both, and large enough to be cut
/// into tasks.
const SHAPES: [(usize, usize); 13] = [
    (0, 0),
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 9),
    (9, 1),
    (257, 3),
    (3, 257),
    (70, 70),
    (5000, 2),
    (2, 5000),
    (129, 65),
    (600, 700),
];

/// Returns the values converted by the rule, in the order of a layout.
fn converted<S: Element, D: Element>(view: TableView<'_, S>, layout: DataLayout) -> Vec<D> {
    let view = if layout == RowMajor { view } else { view.transposed() };
    let Shape { rows, columns } = view.shape();
    let value = |(row, column)| super::super::super::cast(view.value(row, column).unwrap());
    positions(shape(rows, columns, 0, 0)).map(value).collect()
}

fn test_table<S: Element, D: Element>(table: &HomogenNumericTable<S>) {
    let (view, pair, Shape { rows, columns }) = (table.view().unwrap(), Pair::<S>::to(D::TYPE), table.shape());
    for (policy, layout) in POLICIES.into_iter().flat_map(|policy| [(policy, RowMajor), (policy, ColumnMajor)]) {
        let case = format!("{rows} x {columns} {} in {} to {}, {layout}", S::TYPE, table.data_layout(), D::TYPE);
        let at_once = table.convert_to::<D>(layout, policy);
        let in_steps = table.convert_with::<D>(policy).and_then(|table| table.to_layout(layout));
        let is_refused =
            |&(row, column): &(usize, usize)| !policy.permits((pair.loss)(view.value(row, column).unwrap()));
        let refused = positions(shape(rows, columns, 0, 0)).find(is_refused);
        match (refused, at_once, in_steps) {
            (None, Ok(at_once), Ok(in_steps)) => {
                let expected = converted::<S, D>(view, layout);
                for found in [&at_once, &in_steps] {
                    assert_eq!((found.shape(), found.data_layout()), (table.shape(), layout), "{case}");
                    let found = converted::<D, D>(found.view().unwrap(), layout);
                    assert!(are_same(&found, &expected), "{case}, {policy}");
                }
                assert_eq!(at_once.dictionary(), in_steps.dictionary(), "{case}");
            }
            (Some(place), Err(at_once), Err(in_steps)) => {
                for error in [at_once, in_steps] {
                    let ErrorKind::ValueNotRepresentable { row, column, target, .. } = *error.kind() else {
                        panic!("{error}")
                    };
                    assert_eq!((row, column, target), (place.0, place.1, D::TYPE), "{case}, {policy}");
                }
            }
            (refused, at_once, in_steps) => panic!("{case}, {policy}: {refused:?}, {at_once:?}, {in_steps:?}"),
        }
    }
}

/// Tables of both layouts and slices of their rows: without rejected values, with a few, and with many.
fn test_pair<S: Element, D: Element>(random: &mut Random) {
    for (rows, columns) in SHAPES {
        for rarity in [usize::MAX, 1000, 1] {
            let values = Answers::<S>::random(D::TYPE, ConversionPolicy::Exact, rows * columns, rarity, random).values;
            for layout in [RowMajor, ColumnMajor] {
                let whole =
                    HomogenNumericTable::from_array_with_layout(values.clone(), Shape { rows, columns }, layout)
                        .unwrap();
                test_table::<S, D>(&whole);
                test_table::<S, D>(&whole.slice_rows(rows / 3..rows - rows / 4).unwrap());
            }
        }
    }
}

#[test]
fn converting_into_a_layout_is_converting_and_then_changing_the_layout() {
    let mut random = Random(0x5EED_0901);
    test_pair::<f64, i16>(&mut random);
    if !tries_every_pair() {
        return;
    }
    test_pair::<f32, half::f16>(&mut random);
    test_pair::<i64, u8>(&mut random);
    test_pair::<half::bf16, f64>(&mut random);
    test_pair::<u16, u16>(&mut random);
}
