//! Windows that are separate in memory, converted side by side into part of every row, and back.

use super::*;

/// Columns next to the ones that are written.
const GUARDS: usize = 3;

/// Compares rows of `count` columns, with guards before and after them, with dense rows. Checks that nothing else is
/// written.
fn check_guarded(found: &AnyArray, expected: &AnyArray, count: usize, guards: usize) {
    match_element!(found.element_type(), D => {
        let (found, expected) = (found.downcast_ref::<D>().unwrap(), expected.downcast_ref::<D>().unwrap());
        for (index, value) in found.iter().enumerate() {
            let (row, place) = (index / (count + 2 * guards), index % (count + 2 * guards));
            match place.checked_sub(guards).filter(|&column| column < count) {
                Some(column) => assert!(value.is_same(expected[row * count + column]), "row {row}, column {column}"),
                None => assert!(value.is_same(D::default()), "row {row}, place {place} is written"),
            }
        }
    });
}

fn check(found: &AnyArray, expected: &AnyArray, count: usize) {
    check_guarded(found, expected, count, 0);
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
        let is_permitted = read_beside(&windows, all.cut(0..rows, GUARDS..GUARDS + count), policy, Some(usize::MAX));
        assert_eq!(is_permitted, (0..rows * count).all(|index| !answers.is_refused(index)), "{policy:?}");
        if is_permitted {
            check_guarded(&found, &answers.converted, count, GUARDS);
        }
        // And into whole rows.
        let mut found = AnyArray::zeros(target, rows * count).unwrap();
        let rows = AnyRows::new(found.need_mutable_data().unwrap().into_room(), rows, count);
        assert!(read_beside(&windows, rows, ConversionPolicy::Saturate, None));
        let places = format!("{found:?}");
        assert_eq!(places, format!("{:?}", answers.converted));
    }
}

#[test]
fn columns_that_lie_apart_become_rows_as_the_rule_says() {
    let mut random = Random(0x5EED_C01D);
    at_every_level(|| for_every_pair!(columns_become_rows(&mut random)));
}

fn lines_become_columns<S: Element>(target: ElementType, random: &mut Random) {
    for (turn, (rows, count)) in
        [(1, 1), (64, 64), (7, 9), (70, 63), (150, 33), (600, 8), (16, 17)].into_iter().enumerate()
    {
        let policy = POLICIES[(turn + random.below(3)) % 3];
        let answers = Answers::<S>::random(target, policy, rows * count, 2000, random); // row by row
        let mut values: Vec<S> = (0..rows * count + 5).map(|_| S::default()).collect();
        let starts = (0..count).map(|column| 2 + (count - 1 - column) * rows).collect::<Vec<_>>();
        for (index, &value) in answers.values.iter().enumerate() {
            values[starts[index % count] + index / count] = value;
        }
        for guards in [0, GUARDS] {
            let mut found = AnyArray::zeros(target, rows * (count + 2 * guards)).unwrap();
            let mut all = AnyRows::new(found.need_mutable_data().unwrap().into_room(), rows, count + 2 * guards);
            let next = [0, values.len(), usize::MAX - rows].into_iter(); // fetched, if at all, and never read
            let target = all.cut(0..rows, guards..guards + count);
            let is_permitted = read_lines(AnySlice::new(&values), &starts, next, target, policy);
            assert_eq!(is_permitted, (0..rows * count).all(|index| !answers.is_refused(index)), "{policy:?}");
            if is_permitted {
                check_guarded(&found, &answers.converted, count, guards);
            }
        }
    }
}

#[test]
fn lines_that_lie_apart_become_columns_as_the_rule_says() {
    let mut random = Random(0x5EED_11E5);
    at_every_level(|| for_every_pair!(lines_become_columns(&mut random)));
}

/// Windows of one or several types, whose values are in separate memory.
struct Parts {
    arrays: Vec<AnyArray>,
    geometries: Vec<Geometry>,
}

impl Parts {
    /// Creates a part of random values for each number of columns: contiguous columns, or rows with gaps between them.
    fn random(types: &[ElementType], widths: &[usize], rows: usize, have_rows: bool, random: &mut Random) -> Self {
        let mut parts = Self { arrays: Vec::new(), geometries: Vec::new() };
        for (index, &columns) in widths.iter().enumerate() {
            let row_stride = if have_rows { columns + 1 + index % 3 } else { columns };
            let geometry = Geometry { rows, columns, row_stride, column_stride: 1 };
            let count = (rows * row_stride).max(1);
            parts.arrays.push(match_element!(types[index % types.len()], T => {
                AnyArray::from((0..count).map(|_| value::<T>(random)).collect::<Vec<T>>())
            }));
            parts.geometries.push(geometry);
        }
        parts
    }

    fn windows(&self) -> Vec<AnyWindow<'_>> {
        fn window(array: &AnyArray, geometry: Geometry) -> AnyWindow<'_> {
            match_element!(array.element_type(), T => {
                AnyWindow::new(Window::new(array.downcast_ref::<T>().unwrap().as_slice(), geometry).unwrap())
            })
        }
        self.arrays.iter().zip(&self.geometries).map(|(array, &geometry)| window(array, geometry)).collect()
    }

    fn windows_mut(&mut self) -> Vec<AnyWindowMut<'_>> {
        fn window(array: &mut AnyArray, geometry: Geometry) -> AnyWindowMut<'_> {
            match_element!(array.element_type(), T => {
                let values = array.downcast_mut::<T>().unwrap().need_mutable_data().unwrap();
                AnyWindowMut::new(WindowMut::new(values, geometry).unwrap())
            })
        }
        self.arrays.iter_mut().zip(&self.geometries).map(|(array, &geometry)| window(array, geometry)).collect()
    }

    /// All memory, including the gaps between the rows.
    fn bits(&self) -> Vec<Vec<u8>> {
        let bits = |array: &AnyArray| {
            match_element!(array.element_type(), T => {
                bytemuck::cast_slice::<T, u8>(array.downcast_ref::<T>().unwrap()).to_vec()
            })
        };
        self.arrays.iter().map(bits).collect()
    }

    fn clone_deep(&self) -> Self {
        let copy = |array: &AnyArray| match_element!(array.element_type(), T => AnyArray::from(array.downcast_ref::<T>().unwrap().to_vec()));
        Self { arrays: self.arrays.iter().map(copy).collect(), geometries: self.geometries.clone() }
    }
}

const WIDTHS: [&[usize]; 5] = [&[1, 1], &[3, 8, 1, 2], &[8, 8], &[40, 30, 5], &[70, 2]];
const ROWS: [usize; 4] = [0, 1, 5, 90];

/// The widths of windows of rows, or the number of columns. A window of one value is a column.
fn widths_for(have_rows: bool, widths: &[usize], rows: usize) -> Vec<usize> {
    let least = if rows > 1 { 1 } else { 2 };
    if have_rows { widths.iter().map(|&width| width.max(least)).collect() } else { vec![1; widths.iter().sum()] }
}

/// Reading and writing windows together has the same result as one by one.
fn together_is_one_by_one<S: Element>(target: ElementType, random: &mut Random) {
    for (turn, (widths, rows)) in WIDTHS.iter().flat_map(|widths| ROWS.map(|rows| (widths, rows))).enumerate() {
        let have_rows = turn % 2 == 0;
        let widths = widths_for(have_rows, widths, rows);
        let width = widths.iter().sum::<usize>();
        let types =
            if have_rows || turn / 4 % 2 == 0 { vec![S::TYPE] } else { vec![S::TYPE, ElementType::I16, S::TYPE] };
        let parts = Parts::random(&types, &widths, rows, have_rows, random);

        // Reading.
        for policy in POLICIES {
            let read = |each_by_itself: bool| {
                let mut found = AnyArray::zeros(target, rows * width).unwrap();
                let room = found.need_mutable_data().unwrap().into_room();
                let mut target = AnyRows::new(room, rows, width);
                let is_permitted = match each_by_itself {
                    false => read_beside(&parts.windows(), target, policy, Some(usize::MAX)),
                    true => {
                        let mut first = 0;
                        let mut read = |window: AnyWindow<'_>| {
                            let target = target.cut(0..rows, first..first + window.columns());
                            first += window.columns();
                            read_rows(window, target, policy, Origin::default(), OldValues::Lost).is_ok()
                        };
                        parts.windows().into_iter().map(&mut read).fold(true, |all, one| all & one)
                    }
                };
                (is_permitted, found)
            };
            let ((is_permitted, found), (expected_permitted, expected)) = (read(false), read(true));
            assert_eq!(is_permitted, expected_permitted, "{policy:?}");
            if is_permitted {
                check(&found, &expected, width);
            }
        }

        // Writing, of what the windows show, with some values changed.
        if types.len() > 1 {
            continue;
        }
        let mut new = AnyArray::zeros(target, rows * width).unwrap();
        let room = AnyRows::new(new.need_mutable_data().unwrap().into_room(), rows, width);
        assert!(read_beside(&parts.windows(), room, ConversionPolicy::Saturate, None));
        // Changes none of the values, all, a third, or few.
        let (changed, keep_unchanged) = ([0, 1, 3, 150][random.below(4)], random.below(5) != 0);
        match_element!(target, D => {
            for value_of in new.downcast_mut::<D>().unwrap().need_mutable_data().unwrap() {
                if changed > 0 && random.below(changed) == 0 {
                    *value_of = value::<D>(random);
                }
            }
        });
        let new = AnyWindow::of_rows(new.as_slice(), rows, width);
        for policy in POLICIES {
            let rule = WriteRule { policy, keep_unchanged };
            let (mut together, mut one_by_one) = (parts.clone_deep(), parts.clone_deep());
            if permits_beside(&parts.windows(), new, rule) {
                let mut first = 0;
                for window in parts.windows() {
                    let part = new.cut(0..rows, first..first + window.columns());
                    assert!(check_write(window, part, rule, Origin::default()).is_ok(), "{rule:?}");
                    first += window.columns();
                }
            }
            write_beside(&mut together.windows_mut(), new, rule);
            let mut first = 0;
            for window in one_by_one.windows_mut() {
                let columns = window.geometry().columns;
                write_checked(window, new.cut(0..rows, first..first + columns), rule);
                first += columns;
            }
            assert!(together.bits() == one_by_one.bits(), "{rule:?}, {widths:?}, {rows} rows");
        }
    }
}

#[test]
fn windows_beside_each_other_are_read_and_written_as_one_by_one() {
    let mut random = Random(0xB0B_51DE);
    at_every_level(|| for_every_pair!(together_is_one_by_one(&mut random)));
}

/// Groups of columns of one slice: pairs, odd columns, more loops than are run together, and a group that is too wide.
const GROUPS: [&[usize]; 4] = [&[2, 1, 3, 4], &[1; 10], &[2, 8], &[7, 1, 2]];

fn narrow_groups_become_rows<S: Element>(target: ElementType, random: &mut Random) {
    const COLUMNS: usize = 10;
    for (turn, rows) in [0, 1, 15, 16, 17, 40, 200, 400].into_iter().enumerate() {
        let answers = Answers::<S>::random(target, ConversionPolicy::Saturate, rows * COLUMNS, 1, random);
        let records = AnyWindow::of_rows(AnySlice::new(&answers.values), rows, COLUMNS);
        let groups = GROUPS[turn % GROUPS.len()];
        let mut found = AnyArray::zeros(target, rows * (COLUMNS + 2 * GUARDS)).unwrap();
        let mut all = AnyRows::new(found.need_mutable_data().unwrap().into_room(), rows, COLUMNS + 2 * GUARDS);
        let target = all.cut(0..rows, GUARDS..GUARDS + COLUMNS);
        let (mut together, mut first) = (Interleaved::new(target), 0);
        for &width in groups {
            let columns = first..first + width;
            let (window, policy) = (records.cut(0..rows, columns.clone()), ConversionPolicy::Saturate);
            first = columns.end;
            if !read_narrow(window, columns.clone(), policy, &mut together) {
                let values = together.columns(columns);
                assert!(read_rows(window, values, policy, Origin::default(), OldValues::Lost).is_ok());
            }
        }
        together.convert();
        check_guarded(&found, &answers.converted, COLUMNS, GUARDS);
    }
}

#[test]
fn narrow_groups_of_columns_become_rows_as_the_rule_says() {
    let mut random = Random(0xAB_5EED);
    at_every_level(|| for_every_pair!(narrow_groups_become_rows(&mut random)));
}

/// Returns a column of random values, [`RECORD`] bytes apart, and what they convert to.
fn field<S: Element>(target: ElementType, rows: usize, random: &mut Random) -> (AnyArray, AnyArray) {
    let answers = Answers::<S>::random(target, ConversionPolicy::Saturate, rows, 1, random);
    let stride = RECORD / size_of::<S>();
    let mut values = vec![S::default(); rows * stride];
    values.iter_mut().step_by(stride).zip(&answers.values).for_each(|(place, &value)| *place = value);
    (AnyArray::from(values), answers.converted)
}

/// The size of the records of the next test.
const RECORD: usize = 16;

#[test]
fn single_columns_of_any_two_types_become_rows_as_the_rule_says() {
    let mut random = Random(0x10_1BED);
    let types = ElementType::ALL;
    for (turn, &target) in types.iter().enumerate() {
        for (first, second) in types.iter().flat_map(|&first| types.iter().map(move |&second| (first, second))) {
            let rows = [200, 1, 5, 200, 0][if random.below(2) == 0 { 0 } else { random.below(5) }];
            let columns = [first, second, first]
                .map(|element| match_element!(element, S => field::<S>(target, rows, &mut random)));
            let mut found = AnyArray::zeros(target, rows * 5).unwrap();
            let mut all = AnyRows::new(found.need_mutable_data().unwrap().into_room(), rows, 5);
            let mut together = Interleaved::new(all.cut(0..rows, 1..4));
            // In order, or the last one first: then no column comes after the one before it.
            let order = if turn % 3 == 0 { [2, 1, 0] } else { [0, 1, 2] };
            for column in order {
                let (values, element) = (columns[column].0.as_slice(), [first, second, first][column]);
                let window = AnyWindow::of_rows(values, rows, RECORD / element.size_in_bytes()).cut(0..rows, 0..1);
                if !read_narrow(window, column..column + 1, ConversionPolicy::Saturate, &mut together) {
                    let (policy, values) = (ConversionPolicy::Saturate, together.columns(column..column + 1));
                    assert!(read_rows(window, values, policy, Origin::default(), OldValues::Lost).is_ok());
                }
            }
            together.convert();
            let size = target.size_in_bytes();
            let bytes = found.as_slice().bytes();
            for (row, place) in (0..rows).flat_map(|row| (0_usize..5).map(move |place| (row, place))) {
                let expected = match place.checked_sub(1).and_then(|column| columns.get(column)) {
                    Some((_, converted)) => &converted.as_slice().bytes()[row * size..][..size],
                    None => &[0; 8][..size],
                };
                let at = (row * 5 + place) * size;
                assert_eq!(bytes[at..][..size], *expected, "{first}, {second} to {target}: row {row}, {place}");
            }
        }
    }
}

#[test]
fn more_columns_than_fit_become_rows() {
    const COLUMNS: usize = 37; // joined in pairs; then steps are full, and converted before the others
    for (rows, target) in [(1, ElementType::F64), (300, ElementType::F64), (300, ElementType::F32)] {
        let value = |row: usize, column: usize| (row * COLUMNS + column) as i32 - 5000;
        let floats = (0..rows * COLUMNS).map(|at| value(at / COLUMNS, at % COLUMNS) as f32).collect::<Vec<_>>();
        let integers = (0..rows * COLUMNS).map(|at| value(at / COLUMNS, at % COLUMNS)).collect::<Vec<_>>();
        let mut found = AnyArray::zeros(target, rows * COLUMNS).unwrap();
        let all = AnyRows::new(found.need_mutable_data().unwrap().into_room(), rows, COLUMNS);
        let mut together = Interleaved::new(all);
        for column in 0..COLUMNS {
            let values = if column % 3 == 1 { AnySlice::new(&integers) } else { AnySlice::new(&floats) };
            let window = AnyWindow::of_rows(values, rows, COLUMNS).cut(0..rows, column..column + 1);
            assert!(read_narrow(window, column..column + 1, ConversionPolicy::Saturate, &mut together));
        }
        together.convert();
        let expected = match target {
            ElementType::F64 => AnyArray::from(floats.iter().map(|&value| f64::from(value)).collect::<Vec<_>>()),
            _ => AnyArray::from(floats.clone()),
        };
        assert_eq!(found.as_slice().bytes(), expected.as_slice().bytes(), "{rows} rows to {target}");
    }
}

#[test]
fn values_that_may_be_refused_are_not_converted_together() {
    let values = [1.5_f64, f64::NAN];
    for policy in [ConversionPolicy::Checked, ConversionPolicy::Exact] {
        let mut target = [7_i8; 2];
        let mut together = Interleaved::new(AnyRows::new(AnySliceMut::new(&mut target).into_room(), 2, 1));
        assert!(!read_narrow(AnyWindow::of_rows(AnySlice::new(&values), 2, 1), 0..1, policy, &mut together));
        together.convert();
        assert_eq!(target, [7; 2]);
    }
}
