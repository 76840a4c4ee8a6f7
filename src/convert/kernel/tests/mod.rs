//! The kernels for every pair of element types, at every level of the machine, tested against the rule for one value.
//!
//! This module has the tests' shared parts: values, their results under the rule, and memory that records its expected
//! contents. Tests are compiled for 12 types instead of 144 pairs: the other type of a pair is known only at run time.

mod beside;
mod ends;
#[cfg(feature = "rayon")]
mod exhaustive;
mod few;
mod layouts;
mod memory;
mod nan;
mod parts;
mod places;
#[cfg(target_arch = "x86_64")]
mod records;
mod streaming;
#[cfg(feature = "rayon")]
mod threads;
mod typed;
mod values;
mod windows;

use std::ops::Range;

use self::memory::Memory;
use self::typed::Calls;
use super::*;
use crate::base::error::ErrorKind;
use crate::base::number;
use crate::convert::level::{Level, with_level};
use crate::convert::{ConversionReport, WriteRule};
use crate::window::{AnyRows, AnyWindowMut, Geometry, WindowMut};

/// A small random number generator, xorshift64*. Its state is its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Returns the bits of positive infinity if the type is a float. Greater bits, ignoring the sign, are NaN.
fn infinity(element: ElementType) -> Option<u64> {
    match element {
        ElementType::F64 => Some(0x7FF0_0000_0000_0000),
        ElementType::F32 => Some(0x7F80_0000),
        ElementType::F16 => Some(0x7C00),
        ElementType::Bf16 => Some(0x7F80),
        _ => None,
    }
}

/// Returns the value with the given low bits.
fn from_bits<T: Element>(bits: u64) -> T {
    bytemuck::pod_read_unaligned(&bits.to_le_bytes()[..size_of::<T>()])
}

/// Returns random bits, a small integer, or a value that rounds, overflows or is NaN with any sign and payload, quiet
/// or not.
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
        0 => from_bits(random.next()),
        1 => T::nearest(number::Exact::Integer(i128::from(random.next() % 300) - 20)),
        _ => match (SPECIAL[random.next() as usize % SPECIAL.len()], infinity(T::TYPE)) {
            (special, Some(infinity)) if special.is_nan() => from_bits(random.next() | infinity),
            (special, _) => T::nearest(number::Exact::Float(special)),
        },
    }
}

const POLICIES: [ConversionPolicy; 3] =
    [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact];

/// Returns whether all pairs of element types are tested. All 144 take minutes without optimization, so a build with
/// debug assertions tests every fourth, unless the environment sets `NUMERIC_TABLE_EVERY_PAIR`.
fn tries_every_pair() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("NUMERIC_TABLE_EVERY_PAIR").is_some()
}

/// Returns the tested pairs. Each type is in at least three of them. One pair has equal types.
fn tried_pairs() -> impl Iterator<Item = (ElementType, ElementType)> {
    let types = ElementType::ALL;
    let all = (0..types.len()).flat_map(move |source| (0..types.len()).map(move |target| (source, target)));
    let every_pair = tries_every_pair();
    all.filter(move |(source, target)| every_pair || (source + 3 * target).is_multiple_of(4))
        .map(move |(source, target)| (types[source], types[target]))
}

/// Calls `test::<S>(target, ...)` for every tested pair of element types.
macro_rules! for_every_pair {
    ($test:ident($($argument:expr),*)) => {
        for (source, target) in tried_pairs() {
            match_element!(source, S => $test::<S>(target, $($argument),*));
        }
    };
}
use for_every_pair;

/// Returns the levels of this machine and prints the missing ones.
fn levels() -> Vec<Level> {
    let levels = Level::available();
    for name in ["Baseline", "Avx2", "Avx512"] {
        if !levels.iter().any(|level| format!("{level:?}") == format!("Level({name})")) {
            eprintln!("skipped: this machine has no level {name}");
        }
    }
    levels
}

/// Runs a test at every level of this machine.
fn at_every_level(mut test: impl FnMut()) {
    for level in levels() {
        with_level(level, &mut test);
    }
}

/// The rule for one pair, as function pointers: small functions for 144 pairs, so that the tests themselves are
/// compiled only 12 times.
struct Pair<S> {
    target: ElementType,
    convert: fn(S) -> AnyValue,
    convert_all: fn(&[S]) -> AnyArray,
    loss: fn(S) -> Loss,
    /// Returns whether two values of the target type have the same bits.
    is_same: fn(AnyValue, AnyValue) -> bool,
}

impl<S: Element> Pair<S> {
    fn to(target: ElementType) -> Self {
        fn is_same<D: Element>(one: AnyValue, other: AnyValue) -> bool {
            let [one, other] = [one, other].map(|any| D::from_any(any, ConversionPolicy::Exact, Origin::default()));
            one.unwrap().is_same(other.unwrap())
        }
        match_element!(target, D => Self {
            target,
            convert: |value| super::super::cast::<S, D>(value).into(),
            convert_all: |values| AnyArray::new(values.iter().map(|&value| super::super::cast(value)).collect::<Array<D>>()),
            loss: |value| if S::TYPE == D::TYPE { Loss::None } else { D::loss(value.exact()) },
            is_same: is_same::<D>,
        })
    }
}

/// Values, their results under the rule, and their losses.
struct Answers<S> {
    target: ElementType,
    policy: ConversionPolicy,
    values: Vec<S>,
    losses: Vec<Loss>,
    converted: AnyArray,
}

impl<S: Element> Answers<S> {
    fn new(target: ElementType, policy: ConversionPolicy, values: Vec<S>) -> Self {
        let pair = Pair::<S>::to(target);
        let losses = values.iter().map(|&value| (pair.loss)(value)).collect();
        Self { target, policy, losses, converted: (pair.convert_all)(&values), values }
    }

    /// Returns random values. Of the values that the policy rejects, one in `rarity` is kept.
    fn random(target: ElementType, policy: ConversionPolicy, count: usize, rarity: usize, random: &mut Random) -> Self {
        let pair = Pair::<S>::to(target);
        let mut next = || loop {
            let value = value(random);
            if policy.permits((pair.loss)(value)) || random.below(rarity) == 0 {
                return value;
            }
        };
        Self::new(target, policy, (0..count).map(|_| next()).collect())
    }

    fn is_refused(&self, index: usize) -> bool {
        !self.policy.permits(self.losses[index])
    }

    /// Runs a call and compares all of its effects with the rule.
    fn run(&self, case: Case, memory: &mut dyn Memory) {
        let Case { call, geometry, start, at } = case;
        let Geometry { rows, columns, .. } = geometry;
        let (count, strided) = (rows * columns, offsets(geometry));
        let (sources, places): (Vec<usize>, Vec<usize>) = match call {
            Call::Write { .. } => ((start..start + count).collect(), strided.map(|offset| at + offset).collect()),
            Call::ReadRows { gap, .. } => {
                let target = shape(rows, columns, columns + gap, 1);
                (strided.map(|offset| start + offset).collect(), offsets(target).map(|o| at + gap / 2 + o).collect())
            }
            _ => (strided.map(|offset| start + offset).collect(), (at..at + count).collect()),
        };
        let origin = Origin { row: 100, column: 10 };
        let values = &self.values[start.min(self.values.len())..];
        let window = || Window::new(values, geometry).unwrap();
        memory.clear(places.last().map_or(at, |last| last + 1));
        let result = match call {
            Call::Read => S::read(window(), memory.room(at..at + count), self.policy, origin),
            Call::ReadOver => S::read_over(window(), memory.room(at..at + count), self.policy, origin),
            Call::ReadRows { old, gap } => {
                let room = memory.room(at..at + rows * (columns + gap));
                S::read_rows(window(), (room, gap), self.policy, origin, old)
            }
            Call::ToArray => S::to_array(window(), self.target, self.policy, origin).map(|array| {
                assert_eq!(array.len(), count, "{}", self.describe(case));
                memory.copy(at, array.as_slice());
            }),
            Call::Check => S::check(window(), self.target, self.policy, origin),
            Call::Write { keep_unchanged } => {
                let rule = WriteRule { policy: self.policy, keep_unchanged };
                memory.write(at, geometry, AnySlice::new(&values[..count]), rule, origin)
            }
        };
        match (sources.iter().position(|&source| self.is_refused(source)), result.map_err(Error::into_kind)) {
            (None, Ok(())) if call == Call::Check => {}
            (None, Ok(())) => memory.expect(&places, self.converted.as_slice(), &sources),
            (Some(index), Err(ErrorKind::ValueNotRepresentable { row, column, value, target })) => {
                let place = (100 + index / columns, 10 + index % columns);
                assert_eq!((row, column, target), (place.0, place.1, self.target), "{}", self.describe(case));
                assert_eq!(value.element_type(), S::TYPE);
                let value = S::from_any(value, ConversionPolicy::Saturate, origin).unwrap();
                assert!(value.is_same(self.values[sources[index]]), "{}: {value}", self.describe(case));
                if matches!(call, Call::ReadOver | Call::ReadRows { old: OldValues::Lost, .. }) {
                    places.iter().for_each(|&place| memory.accept(place..place + 1)); // may be anything
                }
            }
            (refused, result) => panic!("{}: {refused:?}, {result:?}", self.describe(case)),
        }
        assert!(memory.is_as_expected(), "{}: {:?}", self.describe(case), memory.first_difference());
    }

    /// Compares every field of a report on a window with the rule.
    fn report(&self, geometry: Geometry, start: usize) {
        let window = Window::new(&self.values[start.min(self.values.len())..], geometry).unwrap();
        let losses = offsets(geometry).map(|offset| self.losses[start + offset]);
        let expected = report_of(losses, geometry.columns);
        let pair = (S::TYPE, self.target);
        assert_eq!(S::report(window, self.target), expected, "{pair:?}, {:?}: {geometry:?}", Level::chosen());
    }

    fn describe(&self, case: Case) -> String {
        format!("{} to {}, {}, {:?}: {case:?}", S::TYPE, self.target, self.policy, Level::chosen())
    }
}

/// Returns the report on values with these losses, row by row.
fn report_of(losses: impl Iterator<Item = Loss>, columns: usize) -> ConversionReport {
    let mut report = ConversionReport::default();
    for (index, loss) in losses.enumerate() {
        report.values += 1;
        match loss {
            Loss::None => continue,
            Loss::NanToInteger => report.nan_to_int += 1,
            Loss::BelowRange => report.below_range += 1,
            Loss::AboveRange => report.above_range += 1,
            Loss::OverflowToInfinity => report.overflow_to_infinity += 1,
            Loss::Inexact => report.inexact += 1,
        }
        report.first.get_or_insert((index / columns, index % columns));
    }
    report
}

/// One call of a kernel.
#[derive(Clone, Copy, Debug)]
struct Case {
    call: Call,
    /// The window on the values, or on the memory if the call writes into a window.
    geometry: Geometry,
    /// The index of the first value.
    start: usize,
    /// The index of the first element in the memory.
    at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Read,
    ReadOver,
    /// Into rows that are `gap` elements apart.
    ReadRows {
        old: OldValues,
        gap: usize,
    },
    ToArray,
    Check,
    Write {
        keep_unchanged: bool,
    },
}

/// Every call.
const CALLS: [Call; 6] = [
    Call::Read,
    Call::ReadOver,
    Call::ToArray,
    Call::Check,
    Call::Write { keep_unchanged: false },
    Call::Write { keep_unchanged: true },
];

const fn shape(rows: usize, columns: usize, row_stride: usize, column_stride: usize) -> Geometry {
    Geometry { rows, columns, row_stride, column_stride }
}

/// Returns the offsets of a window's elements from its first, row by row.
fn offsets(geometry: Geometry) -> impl Iterator<Item = usize> {
    let Geometry { row_stride, column_stride, .. } = geometry;
    positions(geometry).map(move |(row, column)| row * row_stride + column * column_stride)
}

fn positions(geometry: Geometry) -> impl Iterator<Item = (usize, usize)> {
    (0..geometry.rows).flat_map(move |row| (0..geometry.columns).map(move |column| (row, column)))
}

/// Returns the number of elements from the first to the last of a window, including gaps.
fn span(geometry: Geometry) -> usize {
    offsets(geometry).last().map_or(0, |last| last + 1)
}
