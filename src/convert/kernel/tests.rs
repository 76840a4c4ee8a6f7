//! Every pair of element types, every shape of window, against the rule for one value.

use super::*;
use crate::array::Geometry;
use crate::convert::level::{Level, with_level};
use crate::convert::rule::{self, Number};

/// A small generator whose whole state is its seed: xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

/// Random bits, small integers, and what rounds, overflows or is no number.
fn value<T: Element>(random: &mut Random) -> T {
    const SPECIAL: [f64; 12] = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        0.5,
        -0.9,
        255.5,
        65_520.0,
        2147483648.0,
        1e39,
        9.3e18,
        -1.0,
    ];
    match random.next() % 3 {
        0 => {
            let bits = random.next().to_ne_bytes();
            bytemuck::pod_read_unaligned(&bits[..size_of::<T>()])
        }
        1 => T::nearest(rule::Exact::Integer(i128::from(random.next() % 300) - 20)),
        _ => T::nearest(rule::Exact::Float(SPECIAL[random.next() as usize % SPECIAL.len()])),
    }
}

/// Windows that are contiguous, have gaps behind rows, have gaps behind values, go by columns, are empty.
fn geometries() -> Vec<Geometry> {
    let shape = |rows, columns, row_stride, column_stride| Geometry { rows, columns, row_stride, column_stride };
    let mut all = vec![shape(0, 3, 3, 1), shape(3, 0, 0, 1), shape(1, 1, 1, 1)];
    for (rows, columns) in [(1, 37), (37, 1), (5, 7), (16, 16), (3, 70)] {
        all.extend([shape(rows, columns, columns, 1), shape(rows, columns, columns + 2, 1)]);
        all.extend([shape(rows, columns, 1, rows), shape(rows, columns, 1, rows + 3)]);
    }
    all
}

const POLICIES: [ConversionPolicy; 3] =
    [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact];

/// The rule for one pair, as pointers: 144 small functions, and the tests themselves are compiled 12 times only.
struct Pair<S> {
    target: ElementType,
    convert: fn(S) -> AnyValue,
    loss: fn(S) -> Loss,
    /// Tells whether two values of the target type are the same: the same bits, or both NaN.
    is_same: fn(AnyValue, AnyValue) -> bool,
}

impl<S: Element> Pair<S> {
    fn to(target: ElementType) -> Self {
        match_element!(target, D => Self {
            target,
            convert: |value| super::super::cast::<S, D>(value).into(),
            loss: |value| if S::TYPE == D::TYPE { Loss::None } else { D::loss(value.exact()) },
            is_same: |one, other| {
                let [one, other] = [one, other].map(|any| D::from_any(any, ConversionPolicy::Exact, Origin::default()));
                one.unwrap().is_same(other.unwrap())
            },
        })
    }
}

fn values_of(slice: AnySlice<'_>) -> Vec<AnyValue> {
    dispatch!(AnySlice, slice, values => values.iter().map(|&value| AnyValue::from(value)).collect())
}

fn array_of(element: ElementType, values: &[AnyValue]) -> AnyArray {
    fn typed<T: Element>(values: &[AnyValue]) -> AnyArray {
        let convert = |&value| T::from_any(value, ConversionPolicy::Exact, Origin::default()).unwrap();
        AnyArray::new(values.iter().map(convert).collect::<Array<T>>())
    }
    match_element!(element, T => typed::<T>(values))
}

fn slice_mut(array: &mut AnyArray) -> AnySliceMut<'_> {
    dispatch!(AnyArray, array, array => AnySliceMut::new(array.mutable_data().unwrap()))
}

fn random_value(element: ElementType, random: &mut Random) -> AnyValue {
    match_element!(element, T => value::<T>(random).into())
}

fn positions(geometry: Geometry) -> impl Iterator<Item = (usize, usize)> {
    (0..geometry.rows).flat_map(move |row| (0..geometry.columns).map(move |column| (row, column)))
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
            match (offender, result) {
                (None, Ok(())) => {
                    assert!(are_same(&values_of(target.as_slice())));
                    assert!(are_same(&values_of(array.unwrap().as_slice())));
                }
                (Some((position, _)), Err(Error::ValueNotRepresentable { row, column, target: found, .. })) => {
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
            let expected = match (offender, result) {
                (None, Ok(())) => &expected,
                (Some(position), Err(Error::ValueNotRepresentable { row, column, .. })) => {
                    assert_eq!((row, column), position);
                    &before
                }
                (offender, result) => panic!("{} from {block}, {rule:?}: {offender:?}, {result:?}", T::TYPE),
            };
            assert!(values.iter().zip(expected).all(|(found, expected)| found.is_same(*expected)));
        }
    }
}

/// Runs a test at every level that this machine has.
fn at_every_level(mut test: impl FnMut()) {
    for level in Level::available() {
        with_level(level, &mut test);
    }
}

/// Every value of 8 and 16 bits; of wider types, the edges of every other type, and random bits.
fn telling_values<S: Element>(random: &mut Random) -> Vec<S> {
    let from_bits = |bits: u64| bytemuck::pod_read_unaligned(&bits.to_le_bytes()[..size_of::<S>()]);
    if size_of::<S>() <= 2 {
        return (0..1 << (8 * size_of::<S>())).map(from_bits).collect();
    }
    let mut values: Vec<S> = (0..20_000).map(|_| from_bits(random.next())).collect();
    for power in 0..=64 {
        for near in [-2, -1, 0, 1, 2] {
            let integer = (1_i128 << power) + near;
            values.extend([integer, -integer].map(|integer| S::nearest(rule::Exact::Integer(integer))));
        }
    }
    for power in -150..=130 {
        let float = 2f64.powi(power);
        // Neighbours of powers of two, and of the ties of each narrower float.
        for step in [0.0, 0.5, 2f64.powi(-8), 2f64.powi(-9), 2f64.powi(-11), 2f64.powi(-12), 2f64.powi(-24)] {
            let tie = float * (1.0 + step);
            for near in [tie.next_down(), tie, tie.next_up(), tie * (1.0 + 2f64.powi(-40))] {
                values.extend([near, -near].map(|near| S::nearest(rule::Exact::Float(near))));
            }
        }
    }
    values.extend((0..200).map(|_| value::<S>(random)));
    values
}

#[test]
fn every_pair_converts_telling_values_like_the_rule_at_every_level() {
    fn test<S: Element>(target: ElementType, random: &mut Random) {
        let (values, pair) = (telling_values::<S>(random), Pair::<S>::to(target));
        let window = Window::column(&values);
        let found = S::to_array(window, target, ConversionPolicy::Saturate, Origin::default()).unwrap();
        for (&value, found) in values.iter().zip(values_of(found.as_slice())) {
            let expected = (pair.convert)(value);
            assert!((pair.is_same)(expected, found), "{value} to {target}: {found}, not {expected}");
            let checked = S::check(Window::column(&[value]), target, ConversionPolicy::Checked, Origin::default());
            let is_permitted = ConversionPolicy::Checked.permits((pair.loss)(value));
            assert_eq!(checked.is_ok(), is_permitted, "{value} to {target}, checked");
        }
    }
    let mut random = Random(0x5EED_0003);
    at_every_level(|| {
        for &source in ElementType::ALL {
            for &target in ElementType::ALL {
                match_element!(source, S => test::<S>(target, &mut random));
            }
        }
    });
}

#[test]
fn every_pair_is_read_like_the_rule_from_every_window() {
    let mut random = Random(0x5EED_0001);
    at_every_level(|| {
        for &source in ElementType::ALL {
            for &target in ElementType::ALL {
                match_element!(source, S => reads_like_the_rule(&Pair::<S>::to(target), &mut random));
            }
        }
    });
}

#[test]
fn every_pair_is_written_like_the_rule_into_every_window() {
    let mut random = Random(0x5EED_0002);
    at_every_level(|| {
        for &table in ElementType::ALL {
            for &block in ElementType::ALL {
                match_element!(table, T => writes_like_the_rule::<T>(block, &mut random));
            }
        }
    });
}

#[test]
fn a_slice_of_the_wrong_length_is_refused() {
    let window = Window::column(&[1_u8, 2, 3]);
    let result = u8::read(window, AnySliceMut::new(&mut [0.0_f32; 2]), ConversionPolicy::Saturate, Origin::default());
    assert!(matches!(result, Err(Error::LengthMismatch { expected: 3, found: 2 })));
}
