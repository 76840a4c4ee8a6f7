//! Columns that lie apart, converted side by side into part of every row.

use super::*;

/// Columns that are beside the ones that are written.
const GUARDS: usize = 3;

/// Checks rows of `count` columns, after the first guards, against dense rows, and that nothing else is written.
fn check(found: &AnyArray, expected: &AnyArray, count: usize) {
    match_element!(found.element_type(), D => {
        let (found, expected) = (found.downcast_ref::<D>().unwrap(), expected.downcast_ref::<D>().unwrap());
        for (index, value) in found.iter().enumerate() {
            let (row, place) = (index / (count + 2 * GUARDS), index % (count + 2 * GUARDS));
            match place.checked_sub(GUARDS).filter(|&column| column < count) {
                Some(column) => assert!(value.is_same(expected[row * count + column]), "row {row}, column {column}"),
                None => assert!(value.is_same(D::default()), "row {row}, place {place} is written"),
            }
        }
    });
}

fn columns_become_rows<S: Element>(target: ElementType, random: &mut Random) {
    let shapes = [(0, 3), (1, 1), (1, 70), (7, 2), (33, 16), (200, 5), (40, 64), (3, 65), (1100, 3)];
    for (turn, (rows, count)) in shapes.into_iter().enumerate() {
        let policy = POLICIES[(turn + random.below(3)) % 3];
        let answers = Answers::<S>::random(target, policy, rows * count, 2000, random); // row by row
        let column = |column: usize| (0..rows).map(|row| answers.values[row * count + column]).collect::<Vec<S>>();
        let columns = (0..count).map(column).collect::<Vec<_>>();
        let windows =
            columns.iter().map(|column| AnyWindow::of_rows(AnySlice::new(column), rows, 1)).collect::<Vec<_>>();
        let mut found = AnyArray::zeros(target, rows * (count + 2 * GUARDS)).unwrap();
        let room = found.need_mutable_data().unwrap().into_room();
        let mut all = AnyRows::new(room, rows, count + 2 * GUARDS);
        let is_permitted = read_columns(&windows, all.cut(0..rows, GUARDS..GUARDS + count), policy);
        assert_eq!(is_permitted, (0..rows * count).all(|index| !answers.is_refused(index)), "{policy:?}");
        if is_permitted {
            check(&found, &answers.converted, count);
        }
        // And into whole rows.
        let mut found = AnyArray::zeros(target, rows * count).unwrap();
        let rows = AnyRows::new(found.need_mutable_data().unwrap().into_room(), rows, count);
        assert!(read_columns(&windows, rows, ConversionPolicy::Saturate));
        let places = format!("{found:?}");
        assert_eq!(places, format!("{:?}", answers.converted));
    }
}

#[test]
fn columns_that_lie_apart_become_rows_as_the_rule_says() {
    let mut random = Random(0x5EED_C01D);
    at_every_level(|| for_every_pair!(columns_become_rows(&mut random)));
}
