//! Windows of every kind with arbitrary values: checking policies reject most of the calls.

use super::*;

/// Returns windows that are contiguous, have gaps after rows or after values, are stored by columns, or are empty.
fn geometries() -> Vec<Geometry> {
    let shape = |rows, columns, row_stride, column_stride| Geometry { rows, columns, row_stride, column_stride };
    let mut all = vec![shape(0, 3, 3, 1), shape(3, 0, 0, 1), shape(1, 1, 1, 1)];
    for (rows, columns) in [(1, 37), (37, 1), (5, 7), (16, 16), (3, 70)] {
        all.extend([shape(rows, columns, columns, 1), shape(rows, columns, columns + 2, 1)]);
        all.extend([shape(rows, columns, 1, rows), shape(rows, columns, 1, rows + 3)]);
    }
    all
}

fn values_of(slice: AnySlice<'_>) -> Vec<AnyValue> {
    match_element!(slice.element_type(), T => slice.as_slice::<T>().iter().map(|&value| value.into()).collect())
}

fn array_of(element: ElementType, values: &[AnyValue]) -> AnyArray {
    fn typed<T: Element>(values: &[AnyValue]) -> AnyArray {
        let convert = |&value| T::from_any(value, ConversionPolicy::Exact, Origin::default()).unwrap();
        AnyArray::new(values.iter().map(convert).collect::<Array<T>>())
    }
    match_element!(element, T => typed::<T>(values))
}

fn slice_mut(array: &mut AnyArray) -> AnySliceMut<'_> {
    match_element!(array.element_type(), T => AnySliceMut::new(array.downcast_mut::<T>().unwrap().mutable_data().unwrap()))
}

fn random_value(element: ElementType, random: &mut Random) -> AnyValue {
    match_element!(element, T => value::<T>(random).into())
}

fn reads_like_the_rule<S: Element>(pair: &Pair<S>, random: &mut Random) {
    for geometry in geometries() {
        let values: Vec<S> = (0..600).map(|_| value(random)).collect();
        let window = Window::new(&values, geometry).unwrap();
        let source = || positions(geometry).map(|(row, column)| window.get(row, column).unwrap());
        let expected: Vec<AnyValue> = source().map(pair.convert).collect();
        let are_same = |found: &[AnyValue]| found.iter().zip(&expected).all(|(&a, &b)| (pair.is_same)(a, b));
        for policy in POLICIES {
            let offender = positions(geometry).zip(source()).find(|&(_, value)| !policy.permits((pair.loss)(value)));
            let before = vec![AnyValue::from(77_u8); expected.len()];
            let mut target = array_of(pair.target, &before);
            let origin = Origin { row: 100, column: 10 };
            let result = S::read(window, slice_mut(&mut target), policy, origin);
            let array = S::to_array(window, pair.target, policy, origin);
            match (offender, result.map_err(Error::into_kind)) {
                (None, Ok(())) => {
                    assert!(are_same(&values_of(target.as_slice())));
                    assert!(are_same(&values_of(array.unwrap().as_slice())));
                }
                (Some((position, _)), Err(ErrorKind::ValueNotRepresentable { row, column, target: found, .. })) => {
                    assert_eq!((row, column, found), (100 + position.0, 10 + position.1, pair.target));
                    let unchanged = values_of(array_of(pair.target, &before).as_slice());
                    assert_eq!(values_of(target.as_slice()), unchanged, "a refused conversion wrote something");
                    assert!(array.is_err());
                }
                (offender, result) => panic!("{} to {}, {policy}: {offender:?}, {result:?}", S::TYPE, pair.target),
            }
        }
        let report = S::report(window, pair.target);
        let count = |kind| source().filter(|&value| (pair.loss)(value) == kind).count();
        assert_eq!(report.values, geometry.rows * geometry.columns);
        assert_eq!(report.values - report.lost(), count(Loss::None));
        assert_eq!((report.inexact, report.nan_to_int), (count(Loss::Inexact), count(Loss::NanToInteger)));
        assert_eq!((report.below_range, report.above_range), (count(Loss::BelowRange), count(Loss::AboveRange)));
        assert_eq!(report.overflow_to_infinity, count(Loss::OverflowToInfinity));
        let first = positions(geometry).zip(source()).find(|&(_, value)| (pair.loss)(value) != Loss::None);
        assert_eq!(report.first, first.map(|(position, _)| position));
    }
}

fn writes_like_the_rule<T: Element>(block: ElementType, random: &mut Random) {
    let read = Pair::<T>::to(block);
    for geometry in geometries() {
        for (policy, keep_unchanged) in POLICIES.into_iter().flat_map(|policy| [(policy, false), (policy, true)]) {
            let before: Vec<T> = (0..600).map(|_| value(random)).collect();
            let old = Window::new(&before, geometry).unwrap();
            let (mut source, mut expected, mut offender) = (Vec::new(), before.clone(), None);
            for (row, column) in positions(geometry) {
                let shown = (read.convert)(old.get(row, column).unwrap());
                // Half of the values stay as they were read, the others change.
                let new = if random.next().is_multiple_of(2) { shown } else { random_value(block, random) };
                source.push(new);
                if T::TYPE != block && keep_unchanged && (read.is_same)(shown, new) {
                    continue;
                }
                let refused = T::from_any(new, policy, Origin::default()).is_err();
                if refused && offender.is_none() {
                    offender = Some((row, column));
                }
                expected[row * geometry.row_stride + column * geometry.column_stride] =
                    T::from_any(new, ConversionPolicy::Saturate, Origin::default()).unwrap();
            }
            let mut values = before.clone();
            let window = WindowMut::new(&mut values, geometry).unwrap();
            let rule = WriteRule { policy, keep_unchanged };
            let result = T::write(window, array_of(block, &source).as_slice(), rule, Origin::default());
            let expected = match (offender, result.map_err(Error::into_kind)) {
                (None, Ok(())) => &expected,
                (Some(position), Err(ErrorKind::ValueNotRepresentable { row, column, .. })) => {
                    assert_eq!((row, column), position);
                    &before
                }
                (offender, result) => panic!("{} from {block}, {rule:?}: {offender:?}, {result:?}", T::TYPE),
            };
            assert!(values.iter().zip(expected).all(|(found, expected)| found.is_same(*expected)));
        }
    }
}

#[test]
fn every_pair_is_read_like_the_rule_from_every_window() {
    let mut random = Random(0x5EED_0001);
    at_every_level(|| {
        for (source, target) in tried_pairs() {
            match_element!(source, S => reads_like_the_rule(&Pair::<S>::to(target), &mut random));
        }
    });
}

#[test]
fn every_pair_is_written_like_the_rule_into_every_window() {
    let mut random = Random(0x5EED_0002);
    at_every_level(|| {
        for (table, block) in tried_pairs() {
            match_element!(table, T => writes_like_the_rule::<T>(block, &mut random));
        }
    });
}

#[test]
fn a_slice_of_the_wrong_length_is_refused() {
    let window = Window::column(&[1_u8, 2, 3]);
    let result = u8::read(window, AnySliceMut::new(&mut [0.0_f32; 2]), ConversionPolicy::Saturate, Origin::default());
    assert!(
        result
            .as_ref()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::LengthMismatch { expected: 3, actual: 2 }))
    );
}
