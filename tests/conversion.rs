//! Conversions between all pairs of element types under all policies, through every public way to ask for one.
//!
//! `oracle` says what has to come out, bit for bit: it sees a value as an exact integer or `f64`, uses Rust's `as` for `f32`
//! and `f64`, finds the nearest `f16` and `bf16` by searching all of them, and moves the payloads of NaN as integers. Slices, single values, blocks of rows and
//! columns in both layouts, whole tables and reports must all agree with it.
//! Semantics: the page of [`ConversionPolicy`]; rounding is IEEE 754 `roundTiesToEven`.

mod common;

use std::ops::Range;

use common::bits::{Random, bits, float_format, from_bits, special_values};
use common::for_each_element;
use numeric_table::convert::{cast, convert_slice, report_slice, try_cast};
use numeric_table::{ConversionReport, bf16, f16, prelude::*};
use oracle::{Loss, expected, permits};

type Table<T> = HomogenNumericTable<T>;

const POLICIES: [ConversionPolicy; 3] =
    [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact];
const LAYOUTS: [DataLayout; 2] = [DataLayout::RowMajor, DataLayout::ColumnMajor];

/// What conversions have to give, without a line of the code under test.
mod oracle {
    use std::sync::LazyLock;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) enum Loss {
        None,
        NanToInteger,
        BelowRange,
        AboveRange,
        OverflowToInfinity,
        Inexact,
    }

    pub(crate) fn permits(policy: ConversionPolicy, loss: Loss) -> bool {
        match policy {
            ConversionPolicy::Saturate => true,
            ConversionPolicy::Checked => loss == Loss::None || loss == Loss::Inexact,
            ConversionPolicy::Exact => loss == Loss::None,
        }
    }

    /// The bits of the value that `Saturate` gives, and what it loses.
    pub(crate) fn expected(source: ElementType, target: ElementType, bits: u64) -> (u64, Loss) {
        if source == target {
            return (bits, Loss::None);
        }
        if let Some(nan) = nan(source, target, bits) {
            return (nan, Loss::None);
        }
        let number = number(source, bits);
        match range(target) {
            Some(range) => integer(number, range),
            None => float(number, target),
        }
    }

    /// What becomes of a NaN in another float type: the sign, all ones, the quiet bit, and the payload aligned on the left.
    fn nan(source: ElementType, target: ElementType, bits: u64) -> Option<u64> {
        let ((from_exponent, from_fraction), (to_exponent, to_fraction)) =
            (float_format(source)?, float_format(target)?);
        let exponent = bits >> from_fraction & ((1 << from_exponent) - 1);
        let aligned = bits << (64 - from_fraction);
        if exponent != (1 << from_exponent) - 1 || aligned == 0 {
            return None;
        }
        let negative = bits >> (from_exponent + from_fraction) & 1;
        let fraction = (aligned | 1 << 63) >> (64 - to_fraction);
        Some((negative << to_exponent | ((1 << to_exponent) - 1)) << to_fraction | fraction)
    }

    /// The limits of an integer type.
    pub(crate) fn range(element: ElementType) -> Option<(i128, i128)> {
        match element {
            ElementType::I8 => Some((i8::MIN.into(), i8::MAX.into())),
            ElementType::I16 => Some((i16::MIN.into(), i16::MAX.into())),
            ElementType::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            ElementType::I64 => Some((i64::MIN.into(), i64::MAX.into())),
            ElementType::U8 => Some((0, u8::MAX.into())),
            ElementType::U16 => Some((0, u16::MAX.into())),
            ElementType::U32 => Some((0, u32::MAX.into())),
            ElementType::U64 => Some((0, u64::MAX.into())),
            _ => None,
        }
    }

    #[derive(Clone, Copy)]
    enum Number {
        Integer(i128),
        Float(f64),
    }

    fn number(element: ElementType, bits: u64) -> Number {
        match element {
            ElementType::I8 => Number::Integer((bits as i8).into()),
            ElementType::I16 => Number::Integer((bits as i16).into()),
            ElementType::I32 => Number::Integer((bits as i32).into()),
            ElementType::I64 => Number::Integer((bits as i64).into()),
            ElementType::F64 => Number::Float(f64::from_bits(bits)),
            ElementType::F32 => Number::Float(f32::from_bits(bits as u32).into()),
            ElementType::F16 | ElementType::Bf16 => Number::Float(decode(element, bits as u16)),
            _ => Number::Integer(bits.into()),
        }
    }

    /// A 16-bit float from its sign, exponent and fraction.
    fn decode(element: ElementType, bits: u16) -> f64 {
        let (exponent_bits, fraction_bits) = float_format(element).unwrap();
        let largest = (1 << exponent_bits) - 1;
        let (exponent, fraction) = (i32::from(bits >> fraction_bits & largest), bits & ((1 << fraction_bits) - 1));
        let bias = i32::from(largest >> 1);
        let magnitude = if exponent == i32::from(largest) {
            if fraction == 0 { f64::INFINITY } else { f64::NAN }
        } else {
            let hidden = if exponent == 0 { 0 } else { 1 << fraction_bits };
            f64::from(hidden + u32::from(fraction)) * 2f64.powi(exponent.max(1) - bias - fraction_bits as i32)
        };
        if bits >> 15 == 1 { -magnitude } else { magnitude }
    }

    fn integer(number: Number, (min, max): (i128, i128)) -> (u64, Loss) {
        let (whole, has_fraction) = match number {
            Number::Integer(value) => (value, false),
            Number::Float(value) if value.is_nan() => return (0, Loss::NanToInteger),
            Number::Float(value) => (value as i128, value.is_finite() && value.fract() != 0.0), // `as` truncates, clamps
        };
        let loss = match whole {
            _ if whole < min => Loss::BelowRange,
            _ if whole > max => Loss::AboveRange,
            _ if has_fraction => Loss::Inexact,
            _ => Loss::None,
        };
        (whole.clamp(min, max) as u64, loss)
    }

    fn float(number: Number, target: ElementType) -> (u64, Loss) {
        let (bits, result) = match (target, number) {
            (ElementType::F64, Number::Integer(value)) => ((value as f64).to_bits(), value as f64),
            (ElementType::F64, Number::Float(value)) => (value.to_bits(), value),
            (ElementType::F32, Number::Integer(value)) => ((value as f32).to_bits().into(), (value as f32).into()),
            (ElementType::F32, Number::Float(value)) => ((value as f32).to_bits().into(), (value as f32).into()),
            (_, Number::Integer(value)) => nearest(target, round_to_odd(value)),
            (_, Number::Float(value)) => nearest(target, value),
        };
        let loss = match number {
            Number::Float(value) if !value.is_finite() => Loss::None,
            _ if result.is_infinite() => Loss::OverflowToInfinity,
            Number::Float(value) if result == value => Loss::None,
            Number::Integer(value) if result as i128 == value => Loss::None, // floats near integers are integers
            _ => Loss::Inexact,
        };
        (bits, loss)
    }

    /// An `f64` that lies on the same side of every 16-bit float, and of every middle of two, as the integer.
    fn round_to_odd(value: i128) -> f64 {
        let magnitude = value.unsigned_abs();
        let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
        let rest = magnitude & ((1 << excess) - 1);
        let kept = ((magnitude >> excess | u128::from(rest != 0)) << excess) as f64;
        if value < 0 { -kept } else { kept }
    }

    /// Finite values from zero up; the bits are the index.
    fn positives(element: ElementType) -> &'static [f64] {
        fn list(element: ElementType) -> Vec<f64> {
            (0..0x8000).map(|bits| decode(element, bits)).take_while(|value| value.is_finite()).collect()
        }
        static F16: LazyLock<Vec<f64>> = LazyLock::new(|| list(ElementType::F16));
        static BF16: LazyLock<Vec<f64>> = LazyLock::new(|| list(ElementType::Bf16));
        if element == ElementType::F16 { &F16 } else { &BF16 }
    }

    /// The nearest 16-bit float, of two the one with even bits, found by search.
    fn nearest(target: ElementType, value: f64) -> (u64, f64) {
        let (positives, magnitude) = (positives(target), value.abs());
        let above = positives.partition_point(|&candidate| candidate < magnitude);
        let index = if above == 0 || positives.get(above) == Some(&magnitude) {
            above
        } else {
            // Behind the largest value IEEE 754 sees the next one, and calls it infinity.
            let below = positives[above - 1];
            let next = positives.get(above).copied().unwrap_or_else(|| below + (below - positives[above - 2]));
            let (down, up) = (magnitude - below, next - magnitude); // exact where they are nearly equal
            if down < up || (down == up && above % 2 == 1) { above - 1 } else { above }
        };
        let bits = index as u16 | if value.is_sign_negative() { 0x8000 } else { 0 };
        (bits.into(), decode(target, bits))
    }
}

/// A table's values with what has to become of them, all as bits: only the calls of the crate are compiled per pair.
struct Case {
    source: ElementType,
    target: ElementType,
    values: Vec<u64>,
    columns: usize,
    expected: Vec<(u64, Loss)>,
    /// Shows a source value as the crate's errors do.
    show: fn(u64) -> String,
}

fn all_bits<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|&value| bits(value)).collect()
}

fn show<T: Element>(bits: u64) -> String {
    numeric_table::AnyValue::from(from_bits::<T>(bits)).to_string()
}

impl Case {
    /// As many rows as there are values for.
    fn new<S: Element, D: Element>(values: &[S], columns: usize) -> Self {
        Self::from_bits(S::TYPE, D::TYPE, all_bits(values), columns, show::<S>)
    }

    fn from_bits(
        source: ElementType,
        target: ElementType,
        mut values: Vec<u64>,
        columns: usize,
        show: fn(u64) -> String,
    ) -> Self {
        values.truncate(values.len() / columns * columns);
        let mask = u64::MAX >> (64 - 8 * target.size_in_bytes());
        let expected = values.iter().map(|&bits| expected(source, target, bits));
        let expected = expected.map(|(bits, loss)| (bits & mask, loss)).collect();
        Self { source, target, values, columns, expected, show }
    }

    /// The case of those values that a policy permits.
    fn permitted(&self, policy: ConversionPolicy) -> Self {
        let pairs = self.values.iter().zip(&self.expected);
        let values = pairs.filter(|(_, expected)| permits(policy, expected.1)).map(|(&value, _)| value).collect();
        Self::from_bits(self.source, self.target, values, self.columns, self.show)
    }

    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    fn values<S: Element>(&self) -> Vec<S> {
        self.values.iter().map(|&value| from_bits(value)).collect()
    }

    fn table<S: Element>(&self, layout: DataLayout) -> Table<S> {
        let shape = Shape { rows: self.rows(), columns: self.columns };
        let values = self.values::<S>();
        let values = match layout {
            DataLayout::RowMajor => values,
            DataLayout::ColumnMajor => {
                (0..self.columns).flat_map(|column| values.iter().copied().skip(column).step_by(self.columns)).collect()
            }
        };
        Table::from_array_in(values, shape, layout).unwrap()
    }

    /// Compares values, or the error, with what rows and columns of the table have to give under a policy.
    fn assert_outcome<D: Element>(
        &self,
        outcome: Result<&[D], &Error>,
        policy: ConversionPolicy,
        rows: Range<usize>,
        columns: Range<usize>,
    ) {
        self.assert_bits(outcome.map(all_bits), policy, rows, columns);
    }

    fn assert_bits(
        &self,
        outcome: Result<Vec<u64>, &Error>,
        policy: ConversionPolicy,
        rows: Range<usize>,
        columns: Range<usize>,
    ) {
        let positions = || rows.clone().flat_map(|row| columns.clone().map(move |column| (row, column)));
        let at = |(row, column)| row * self.columns + column;
        let refused = positions().find(|&position| !permits(policy, self.expected[at(position)].1));
        match (outcome, refused) {
            (Ok(found), None) => {
                assert_eq!(found.len(), rows.len() * columns.len());
                for (&found, position) in found.iter().zip(positions()) {
                    self.assert_value(found, at(position));
                }
            }
            (Err(Error::ValueNotRepresentable { row, column, value, target }), Some(position)) => {
                assert_eq!(((*row, *column), *target), (position, self.target), "{policy} from {}", self.source);
                let source = (self.show)(self.values[at(position)]);
                assert_eq!((value.element_type(), value.to_string()), (self.source, source));
            }
            (outcome, refused) => {
                let (source, target, error) = (self.source, self.target, outcome.err());
                panic!("{source} to {target}, {policy}: {error:?}, first refused: {refused:?}")
            }
        }
    }

    fn assert_value(&self, found: u64, index: usize) {
        let expected = self.expected[index].0;
        let (source, target) = (self.source, self.target);
        let shown = (found != expected).then(|| (self.show)(self.values[index]));
        assert!(found == expected, "{shown:?} from {source} to {target}: {found:#x}, not {expected:#x}");
    }

    fn count(&self, loss: Loss) -> usize {
        self.expected.iter().filter(|expected| expected.1 == loss).count()
    }

    /// Compares all counts of a report; `first` by the index in row-major order.
    fn assert_report(&self, report: &ConversionReport) {
        let first = self.expected.iter().position(|expected| expected.1 != Loss::None);
        assert_eq!(report.first, first.map(|index| (index / self.columns, index % self.columns)));
        assert_eq!(report.values, self.values.len());
        assert_eq!(report.nan_to_int, self.count(Loss::NanToInteger));
        assert_eq!(report.below_range, self.count(Loss::BelowRange));
        assert_eq!(report.above_range, self.count(Loss::AboveRange));
        assert_eq!(report.overflow_to_infinity, self.count(Loss::OverflowToInfinity));
        assert_eq!(report.inexact, self.count(Loss::Inexact));
        assert_eq!(report.lost(), self.values.len() - self.count(Loss::None));
    }
}

fn check_single_values<S: Element, D: Element>(values: &[S]) {
    let case = Case::new::<S, D>(values, 1);
    for (index, &value) in values.iter().enumerate() {
        case.assert_value(bits(cast::<S, D>(value)), index);
        for policy in POLICIES {
            let is_permitted = permits(policy, case.expected[index].1);
            match try_cast::<S, D>(value, policy) {
                Ok(found) if is_permitted => case.assert_value(bits(found), index),
                Err(Error::ValueNotRepresentable { row: 0, column: 0, target, .. }) if !is_permitted => {
                    assert_eq!(target, D::TYPE);
                }
                other => panic!("{value:?} from {} under {policy}: {other:?}", S::TYPE),
            }
        }
    }
}

fn check_slices<S: Element, D: Element>(values: &[S]) {
    let untouched = from_bits::<D>(0x5555_5555_5555_5555);
    let case = Case::new::<S, D>(values, 1);
    case.assert_report(&report_slice::<S, D>(values));
    for policy in POLICIES {
        let mut target = vec![untouched; values.len()];
        let outcome = convert_slice(values, &mut target, policy);
        if outcome.is_err() {
            assert!(all_bits(&target).iter().all(|&value| value == bits(untouched)), "half written");
        }
        case.assert_outcome(outcome.as_ref().map(|()| &target[..]), policy, 0..case.rows(), 0..1);

        let case = case.permitted(policy);
        let mut target = vec![untouched; case.rows()];
        convert_slice(&case.values::<S>(), &mut target, policy).unwrap();
        case.assert_outcome(Ok(&target), policy, 0..case.rows(), 0..1);
    }
}

fn check_tables<S: Element, D: Element>(values: &[S]) {
    const COLUMNS: usize = 19; // no power of two, and not a multiple of anything
    for policy in POLICIES {
        let case = Case::new::<S, D>(values, COLUMNS);
        for case in [case.permitted(policy), case] {
            for layout in LAYOUTS {
                check_table::<S, D>(&case, &case.table(layout), policy);
            }
        }
    }
}

fn check_table<S: Element, D: Element>(case: &Case, table: &Table<S>, policy: ConversionPolicy) {
    let (rows, columns) = (case.rows(), case.columns);
    let converted = table.convert_with::<D>(policy);
    let block = converted.as_ref().map(|table| table.rows::<D>(0..rows).unwrap());
    case.assert_outcome(block.as_deref().map_err(|error| *error), policy, 0..rows, 0..columns);
    if let Ok(converted) = &converted {
        assert_eq!((converted.element_type(), converted.data_layout()), (D::TYPE, table.data_layout()));
    }
    case.assert_report(&table.conversion_report::<D>().unwrap());
    for first in (0..rows).step_by(7) {
        let rows = first..rows.min(first + 7);
        let block = table.rows_with::<D>(rows.clone(), policy);
        case.assert_outcome(block.as_deref(), policy, rows, 0..columns);
    }
    for column in [0, 1, columns / 2, columns - 1] {
        for rows in [0..rows, rows / 3..rows / 2] {
            let block = table.column_with::<D>(column, rows.clone(), policy);
            case.assert_outcome(block.as_deref(), policy, rows, column..column + 1);
        }
    }
}

fn check_everything<S: Element>(values: &[S]) {
    for_each_element!(D => check_single_values::<S, D>(values));
    for_each_element!(D => check_slices::<S, D>(values));
    for_each_element!(D => check_tables::<S, D>(values));
}

fn every_value<S: Element>() -> Vec<S> {
    (0..1 << (8 * size_of::<S>())).map(from_bits).collect()
}

/// Powers of two, limits and middles between floats, with their neighbours; special values and random bits.
fn telling_values<S: Element>(seed: u64) -> Vec<S> {
    let mut values = special_values::<S>();
    if let Some((min, max)) = oracle::range(S::TYPE) {
        let integers = telling_integers().into_iter().filter(|value| (min..=max).contains(value));
        values.extend(integers.map(|value| from_bits::<S>(value as u64)));
    } else {
        for value in telling_floats() {
            let bits = if S::TYPE == ElementType::F64 { value.to_bits() } else { (value as f32).to_bits().into() };
            values.extend([bits.saturating_sub(1), bits, bits + 1].map(from_bits::<S>)); // one unit down and up
        }
    }
    values.extend(nans::<S>());
    values.extend(Random::new(seed).values::<S>(5000));
    values
}

/// NaNs with one bit of payload, with all from one on, and with all up to one: signalling and quiet, of either sign.
fn nans<S: Element>() -> Vec<S> {
    let Some((exponent, fraction)) = float_format(S::TYPE) else { return vec![] };
    let (all, quiet) = ((1_u64 << fraction) - 1, 1_u64 << (fraction - 1));
    let payloads = (0..fraction).flat_map(|bit| [1 << bit, all >> bit << bit, all >> bit]);
    let fractions = payloads.flat_map(|payload| [payload, payload | quiet, payload & !quiet]);
    let (infinity, sign) = (((1 << exponent) - 1) << fraction, 1 << (exponent + fraction));
    let nans = fractions.filter(|&fraction| fraction != 0).flat_map(|fraction| [fraction, fraction | sign]);
    nans.map(|bits: u64| from_bits(bits | infinity)).collect()
}

fn telling_integers() -> Vec<i128> {
    let mut values = vec![];
    for power in 0..65 {
        // Bits 8 to 54 behind the first: where bf16, f16, f32 and f64 end, and their middles lie.
        for behind in [8, 9, 10, 11, 12, 24, 25, 53, 54].into_iter().filter(|&behind| behind <= power) {
            values.extend([1, 3].map(|odd| (1_i128 << power) + (odd << (power - behind))));
        }
        values.push(1_i128 << power);
    }
    values.iter().flat_map(|&value| [value - 1, value, value + 1, -value - 1, -value, 1 - value]).collect()
}

fn telling_floats() -> Vec<f64> {
    let mut values: Vec<f64> = telling_integers().into_iter().map(|value| value as f64).collect();
    for exponent in (-150..130).chain([-1074, -1023, -1022, 1023]) {
        let power = if exponent < -1022 { f64::from_bits(1 << (exponent + 1074)) } else { 2f64.powi(exponent) };
        for behind in [8, 9, 11, 12, 24, 25] {
            values.extend([1.0, 3.0].map(|odd: f64| power * (1.0 + odd * 2f64.powi(-behind))));
        }
        values.extend([power, 1.5 * power]);
    }
    for limit in
        [127.0, 128.0, 255.0, 256.0, 32767.0, 32768.0, 65535.0, 65536.0, 65504.0, 65520.0, 2f64.powi(31), 2f64.powi(32)]
    {
        values.extend([limit - 0.5, limit + 0.5, limit + 1.0]);
    }
    values.extend([f64::from(f32::MAX), f64::from(f32::MAX) + 2f64.powi(102), f64::from(f32::MAX) + 2f64.powi(103)]);
    values.iter().flat_map(|&value| [value, -value]).collect()
}

// --- every value, every pair, every way ---------------------------------------------------------------------------

#[test]
fn every_i8_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<i8>());
}

#[test]
fn every_u8_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<u8>());
}

#[test]
fn every_i16_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<i16>());
}

#[test]
fn every_u16_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<u16>());
}

#[test]
fn every_f16_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<f16>());
}

#[test]
fn every_bf16_becomes_what_the_rules_say_in_every_type() {
    check_everything(&every_value::<bf16>());
}

#[test]
fn telling_values_of_i32_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<i32>(1));
}

#[test]
fn telling_values_of_u32_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<u32>(2));
}

#[test]
fn telling_values_of_i64_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<i64>(3));
}

#[test]
fn telling_values_of_u64_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<u64>(4));
}

#[test]
fn telling_values_of_f32_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<f32>(5));
}

#[test]
fn telling_values_of_f64_become_what_the_rules_say_in_every_type() {
    check_everything(&telling_values::<f64>(6));
}

#[test]
fn a_value_becomes_the_same_at_every_offset_and_in_every_length() {
    fn check<S: Element, D: Element>() {
        let mut values = special_values::<S>();
        let count = values.len();
        values.extend(Random::new(8).values::<S>(87 - count));
        let case = Case::new::<S, D>(&values, 1);
        let untouched = from_bits::<D>(0x2A2A_2A2A_2A2A_2A2A);
        let mut target = vec![untouched; 87];
        for offset in 0..=16 {
            for length in 0..=70 {
                let place = offset..offset + length;
                convert_slice(&values[place.clone()], &mut target[place.clone()], ConversionPolicy::Saturate).unwrap();
                for (index, found) in place.clone().zip(all_bits(&target[place.clone()])) {
                    case.assert_value(found, index);
                }
                target[place].fill(untouched);
                assert!(all_bits(&target).iter().all(|&value| value == bits(untouched)), "written outside");
            }
        }
    }
    for_each_element!(S => for_each_element!(D => check::<S, D>()));
}

#[test]
fn columns_are_read_the_same_at_every_distance() {
    fn check<S: Element, D: Element>() {
        let mut values = special_values::<S>();
        values.extend(Random::new(9).values::<S>(200));
        for columns in 1..=9 {
            let case = Case::new::<S, D>(&values, columns);
            let table = case.table::<S>(DataLayout::RowMajor);
            for column in 0..columns {
                let block = table.column::<D>(column, 1..case.rows()).unwrap();
                case.assert_outcome::<D>(Ok(&block), ConversionPolicy::Saturate, 1..case.rows(), column..column + 1);
            }
        }
    }
    for_each_element!(S => for_each_element!(D => check::<S, D>()));
}

#[test]
fn a_large_table_is_converted_as_the_rules_say() {
    fn check<S: Element, D: Element>() {
        let values = Random::new(10).values::<S>(300_007);
        let case = Case::new::<S, D>(&values, 7);
        for layout in LAYOUTS {
            let table = case.table::<S>(layout);
            let block = table.rows::<D>(0..case.rows()).unwrap();
            case.assert_outcome::<D>(Ok(&block), ConversionPolicy::Saturate, 0..case.rows(), 0..7);
            let converted = table.convert::<D>().unwrap();
            let block = converted.rows::<D>(0..case.rows()).unwrap();
            case.assert_outcome::<D>(Ok(&block), ConversionPolicy::Saturate, 0..case.rows(), 0..7);
            case.assert_report(&table.conversion_report::<D>().unwrap());
        }
    }
    check::<f64, f32>();
    check::<f32, f64>();
    check::<f32, i16>();
    check::<f16, f32>();
    check::<f64, bf16>();
    check::<i64, f32>();
    check::<u8, f32>();
}

// --- errors -------------------------------------------------------------------------------------------------------

/// Puts `-1` into a large table of zeros at two places and converts it to a type without negative numbers.
fn first_refused_of_two(layout: DataLayout, places: [(usize, usize); 2]) -> (usize, usize) {
    let mut table = Table::new_in(Shape { rows: 60_000, columns: 5 }, AllocationFlag::DoAllocate, layout).unwrap();
    let mut view = table.view_mut().unwrap();
    places.iter().for_each(|&(row, column)| view.set_value(row, column, -1.0_f64).unwrap());
    match table.convert_with::<u16>(ConversionPolicy::Checked) {
        Err(Error::ValueNotRepresentable { row, column, .. }) => (row, column),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_refused_value_in_row_major_order_is_named_in_both_layouts() {
    for layout in LAYOUTS {
        assert_eq!(first_refused_of_two(layout, [(59_999, 0), (3, 4)]), (3, 4));
        assert_eq!(first_refused_of_two(layout, [(30_000, 3), (30_000, 2)]), (30_000, 2));
        assert_eq!(first_refused_of_two(layout, [(59_999, 4), (59_999, 3)]), (59_999, 3));
    }
}

#[cfg(feature = "rayon")]
#[test]
fn the_first_refused_value_does_not_depend_on_the_number_of_threads() {
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for layout in LAYOUTS {
            assert_eq!(pool.install(|| first_refused_of_two(layout, [(59_999, 1), (40_000, 4)])), (40_000, 4));
        }
    }
}

#[test]
fn a_refused_value_is_named_by_its_index_and_the_target_stays_as_it_was() {
    let mut target = [7_u8; 4];
    let error = convert_slice(&[1.0_f32, 2.0, 256.0, f32::NAN], &mut target, ConversionPolicy::Checked).unwrap_err();
    assert_eq!(error.to_string(), "the value 256 at row 2, column 0 is not representable as u8");
    assert_eq!(target, [7; 4]);
}

#[test]
fn slices_of_different_lengths_are_refused_and_the_target_stays_as_it_was() {
    let mut target = [7_u8; 3];
    for policy in POLICIES {
        let error = convert_slice(&[1.0_f32, 2.0], &mut target, policy).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { expected: 3, found: 2 }));
        assert!(convert_slice(&[1_u8, 2], &mut target, policy).is_err());
    }
    assert_eq!(target, [7; 3]);
}

#[test]
fn a_refused_value_of_a_slice_of_rows_is_named_by_its_row_in_the_slice() {
    for layout in LAYOUTS {
        let table = Table::from_rows(&[[0_i16, 0], [0, -1], [0, 0], [-2, 0]]).unwrap().to_layout(layout).unwrap();
        let slice = table.slice_rows(2..4).unwrap();
        let error = slice.convert_with::<u8>(ConversionPolicy::Checked).unwrap_err();
        assert_eq!(error.to_string(), "the value -2 at row 1, column 0 is not representable as u8");
    }
}

#[test]
fn a_refused_value_of_a_block_is_named_by_its_place_in_the_table() {
    for layout in LAYOUTS {
        let table = Table::from_rows(&[[0_i16, 0], [0, 0], [0, -7], [0, 0]]).unwrap().to_layout(layout).unwrap();
        let message = "the value -7 at row 2, column 1 is not representable as u32";
        let rows = table.rows_with::<u32>(1..4, ConversionPolicy::Checked).unwrap_err();
        assert_eq!(rows.to_string(), message);
        let column = table.column_with::<u32>(1, 1..4, ConversionPolicy::Checked).unwrap_err();
        assert_eq!(column.to_string(), message);
    }
}

#[test]
fn a_table_without_memory_is_not_converted_and_not_reported_on() {
    let table = Table::<f32>::new(Shape { rows: 2, columns: 2 }, AllocationFlag::DoNotAllocate).unwrap();
    assert!(matches!(table.convert::<f64>(), Err(Error::NotAllocated)));
    assert!(matches!(table.conversion_report::<f64>(), Err(Error::NotAllocated)));
}

#[test]
fn a_table_without_values_is_converted_to_its_shape() {
    for (rows, columns) in [(0, 0), (0, 3), (3, 0), (usize::MAX, 0), (0, usize::MAX)] {
        for layout in LAYOUTS {
            let shape = Shape { rows, columns };
            let table = Table::<f32>::new_in(shape, AllocationFlag::DoAllocate, layout).unwrap();
            for policy in POLICIES {
                assert_eq!(table.convert_with::<u8>(policy).unwrap().shape(), shape);
            }
            assert_eq!(table.conversion_report::<u8>().unwrap(), ConversionReport::default());
        }
    }
}

// --- what others got wrong ----------------------------------------------------------------------------------------

#[test]
fn the_limits_of_64_bit_integers_are_compared_as_powers_of_two() {
    let limits =
        Table::from_rows(&[[2f64.powi(63), 2f64.powi(63).next_down(), -2f64.powi(63), 2f64.powi(64)]]).unwrap();
    let signed = limits.rows::<i64>(0..1).unwrap();
    assert_eq!(signed[..], [i64::MAX, i64::MAX - 1023, i64::MIN, i64::MAX]);
    assert_eq!(limits.conversion_report::<i64>().unwrap().above_range, 2);
    assert_eq!(limits.conversion_report::<u64>().unwrap().above_range, 1);
    assert_eq!(limits.rows::<u64>(0..1).unwrap()[..], [1 << 63, (1 << 63) - 1024, 0, u64::MAX]);
}

#[test]
fn values_between_minus_one_and_zero_are_in_range_for_unsigned_types() {
    let table = Table::from_rows(&[[-0.0_f64, -0.5, (-1f64).next_up(), -1.0]]).unwrap();
    let report = table.conversion_report::<u8>().unwrap();
    assert_eq!((report.inexact, report.below_range, report.first), (2, 1, Some((0, 1))));
    assert_eq!(table.rows::<u8>(0..1).unwrap()[..], [0; 4]);
}

#[test]
fn every_conversion_is_rounded_once() {
    let table =
        Table::from_rows(&[[1.0 + 2f64.powi(-11) + 2f64.powi(-40), 1.0 + 2f64.powi(-8) + 2f64.powi(-40)]]).unwrap();
    assert_eq!(table.rows::<f16>(0..1).unwrap()[0].to_f64(), 1.0009765625);
    assert_eq!(table.rows::<bf16>(0..1).unwrap()[1].to_f64(), 1.0078125);
    let table = Table::from_rows(&[[(1_i64 << 60) + (1 << 36) + 1, (1 << 40) + (1 << 32) + 1]]).unwrap();
    assert_eq!(table.rows::<f32>(0..1).unwrap()[0], 2f32.powi(60) + 2f32.powi(37));
    assert_eq!(table.rows::<bf16>(0..1).unwrap()[1].to_f64(), 2f64.powi(40) + 2f64.powi(33));
}

#[test]
fn integers_are_clamped_and_do_not_wrap() {
    let table = Table::from_rows(&[[-1_i32, 256, 300, i32::MIN, i32::MAX]]).unwrap();
    assert_eq!(table.rows::<u8>(0..1).unwrap()[..], [0, 255, 255, 0, 255]);
    assert_eq!(table.rows::<i8>(0..1).unwrap()[..], [-1, 127, 127, -128, 127]);
}

#[test]
fn two_to_the_53rd_and_one_is_not_exact_as_f64() {
    let table = Table::from_rows(&[[1_i64 << 53, (1 << 53) + 1]]).unwrap();
    assert!(table.convert_with::<f64>(ConversionPolicy::Checked).is_ok());
    let error = table.convert_with::<f64>(ConversionPolicy::Exact).unwrap_err();
    assert_eq!(error.to_string(), "the value 9007199254740993 at row 0, column 1 is not representable as f64");
}

/// One NaN in a slice of every length, at every place: single values, the rest of a packed loop and its middle.
#[test]
fn the_bits_of_a_nan_do_not_depend_on_its_place_or_on_the_length() {
    fn check<S: Element, D: Element>() {
        let nans = nans::<S>();
        for length in 1..=67 {
            for place in 0..length {
                let nan = nans[(length * 71 + place * 13) % nans.len()];
                let mut source = vec![S::default(); length];
                source[place] = nan;
                let mut target = vec![from_bits::<D>(0x2A2A); length];
                convert_slice(&source, &mut target, ConversionPolicy::Exact).unwrap();
                let expected = oracle::expected(S::TYPE, D::TYPE, bits(nan)).0;
                assert_eq!(bits(target[place]), expected, "{:#x} at {place} of {length}", bits(nan));
                assert_eq!(bits(cast::<S, D>(nan)), expected, "{:#x}", bits(nan));
            }
        }
    }
    macro_rules! pairs { ($($source:ty: $($target:ty)*;)*) => { $($(check::<$source, $target>();)*)* } }
    pairs! { f32: f64 f16 bf16; f64: f32 f16 bf16; f16: f32 f64 bf16; bf16: f32 f64 f16; }
}

/// A block of a narrower type shows a NaN without the end of its payload. What nobody changed stays as it is stored.
#[test]
fn a_stored_nan_keeps_a_payload_that_the_block_cannot_hold() {
    let stored = [0x7FF0_0000_0000_0001, 0xFFF8_0000_1234_5678, 0x7FF4_0000_0000_0001, 0x7FFF_FFFF_FFFF_FFFF];
    for layout in LAYOUTS {
        for policy in POLICIES {
            let shape = Shape { rows: 2, columns: 2 };
            let mut table = Table::from_array_in(stored.map(f64::from_bits).to_vec(), shape, layout).unwrap();
            let mut block = BlockDescriptor::<f32>::with_policy(policy);
            table.get_block_of_rows(0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
            table.release_block_of_rows(&mut block).unwrap();
            assert_eq!(table.as_slice().unwrap().iter().map(|value| value.to_bits()).collect::<Vec<_>>(), stored);
            table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
            assert_eq!(block.as_slice()[0].to_bits(), 0x7FC0_0000);
            block.as_mut_slice().unwrap()[0] = f32::from_bits(0x7FC0_0001); // another NaN than the one that is shown
            table.release_block_of_rows(&mut block).unwrap();
            let found: Vec<u64> = table.as_slice().unwrap().iter().map(|value| value.to_bits()).collect();
            assert_eq!((found[0], &found[1..]), (0x7FF8_0000_2000_0000, &stored[1..]), "{layout}, {policy}");
        }
    }
}

#[test]
fn a_payload_that_is_cut_off_is_no_loss_to_a_report_or_a_policy() {
    let nans = nans::<f64>();
    assert_eq!(report_slice::<f64, f32>(&nans).lost(), 0);
    assert_eq!(report_slice::<f64, f16>(&nans).lost(), 0);
    assert_eq!(report_slice::<f64, i64>(&nans).nan_to_int, nans.len());
    assert!(nans.iter().all(|&nan| try_cast::<f64, bf16>(nan, ConversionPolicy::Exact).is_ok()));
}

#[test]
fn a_signalling_nan_keeps_its_bits_in_the_same_type() {
    let signalling = f32::from_bits(0x7F80_0001);
    for layout in LAYOUTS {
        let table = Table::from_array_in(vec![signalling; 4], Shape { rows: 2, columns: 2 }, layout).unwrap();
        for policy in POLICIES {
            let rows = table.rows_with::<f32>(0..2, policy).unwrap();
            assert!(rows.iter().all(|value| value.to_bits() == 0x7F80_0001));
            let column = table.column_with::<f32>(1, 0..2, policy).unwrap();
            assert!(column.iter().all(|value| value.to_bits() == 0x7F80_0001));
        }
    }
}

// --- reports ------------------------------------------------------------------------------------------------------

/// Small slices, so that many lose nothing, or nothing but precision.
#[test]
fn a_report_tells_which_policies_would_refuse() {
    fn check<S: Element, D: Element>() {
        let mut random = Random::new(11);
        let values = [special_values::<S>(), random.values(40)].concat();
        for _ in 0..100 {
            let length = random.below(4);
            let source: Vec<S> = (0..length).map(|_| values[random.below(values.len())]).collect();
            let report = report_slice::<S, D>(&source);
            let unfit = report.nan_to_int + report.below_range + report.above_range + report.overflow_to_infinity;
            let fails = |policy| convert_slice(&source, &mut vec![D::default(); length], policy).is_err();
            assert!(!fails(ConversionPolicy::Saturate));
            assert_eq!(fails(ConversionPolicy::Checked), unfit > 0, "{source:?} from {} to {}", S::TYPE, D::TYPE);
            assert_eq!(fails(ConversionPolicy::Exact), report.lost() > 0, "{source:?} from {} to {}", S::TYPE, D::TYPE);
            assert_eq!(report.is_lossless(), report.first.is_none());
        }
    }
    for_each_element!(S => for_each_element!(D => check::<S, D>()));
}

#[test]
fn the_counts_of_two_reports_are_added() {
    let mut report = report_slice::<f64, i8>(&[1.0, 1.5, f64::NAN, 300.0]);
    report += report_slice::<f64, i8>(&[-300.0, 2.5, f64::INFINITY]);
    assert_eq!(
        (report.values, report.nan_to_int, report.below_range, report.above_range, report.inexact),
        (7, 1, 1, 2, 2)
    );
    let mut report = report_slice::<f64, f32>(&[1e39, 1.0]);
    report += report_slice::<f64, f32>(&[0.1, -1e39]);
    assert_eq!((report.values, report.overflow_to_infinity, report.inexact, report.lost()), (4, 2, 1, 3));
}

#[test]
fn of_two_reports_the_earlier_first_position_stays() {
    let at = |row: usize| report_slice::<f32, u8>(&[vec![0.0; row], vec![0.5]].concat());
    let nothing = report_slice::<f32, u8>(&[1.0]);
    for (left, right, first) in [
        (at(3), at(1), Some((1, 0))),
        (at(1), at(3), Some((1, 0))),
        (nothing, at(2), Some((2, 0))),
        (at(2), nothing, Some((2, 0))),
        (nothing, nothing, None),
    ] {
        let mut sum = left;
        sum += right;
        assert_eq!(sum.first, first);
    }
    let in_table = |rows: [[f32; 2]; 2]| Table::from_rows(&rows).unwrap().conversion_report::<u8>().unwrap();
    let mut sum = in_table([[0.0, 0.0], [0.5, 0.0]]);
    sum += in_table([[0.0, 0.5], [0.0, 0.0]]);
    assert_eq!(sum.first, Some((0, 1)));
}

#[test]
fn a_report_of_a_view_counts_only_what_the_view_shows() {
    for layout in LAYOUTS {
        let table = Table::from_rows(&[[0.5, 1.0, 2.0], [3.0, 4.0, 5.5], [300.0, 6.0, 7.0]]).unwrap();
        let table = table.to_layout(layout).unwrap();
        let view = table.view().unwrap().columns(1..3).unwrap().rows(0..2).unwrap();
        let report = view.conversion_report::<u8>();
        assert_eq!((report.values, report.lost(), report.first), (4, 1, Some((1, 1))));
        let report = table.slice_rows(1..3).unwrap().conversion_report::<u8>().unwrap();
        assert_eq!((report.values, report.inexact, report.above_range, report.first), (6, 1, 1, Some((0, 2))));
    }
}

#[test]
fn a_report_reads_as_a_sentence() {
    assert_eq!(report_slice::<u8, f32>(&[1, 2, 3]).to_string(), "0 of 3 values lose something");
    assert_eq!(ConversionReport::default().to_string(), "0 of 0 values lose something");
    assert_eq!(
        report_slice::<f64, u8>(&[1.0, 1.5]).to_string(),
        "1 of 2 values lose something, first at row 1, column 0: 1 inexact"
    );
    assert_eq!(
        report_slice::<f64, u8>(&[f64::NAN, -1.0, -2.0, 256.0, 1.5]).to_string(),
        "5 of 5 values lose something, first at row 0, column 0: 1 NaN to 0, 2 below range, 1 above range, 1 inexact"
    );
    assert_eq!(
        report_slice::<f64, f16>(&[0.0, 1e6, 0.1]).to_string(),
        "2 of 3 values lose something, first at row 1, column 0: 1 overflow to infinity, 1 inexact"
    );
}

// --- converted tables ---------------------------------------------------------------------------------------------

#[test]
fn a_converted_table_keeps_names_and_meanings() {
    let mut table = Table::from_rows(&[[1.0_f32, 2.0]]).unwrap();
    let feature = |element| [Feature::new(element).named("a").categorical(3), Feature::new(element).ordinal()];
    table.set_dictionary(DataDictionary::from_features(feature(ElementType::F32))).unwrap();
    for policy in POLICIES {
        let converted = table.convert_with::<i16>(policy).unwrap();
        assert_eq!(converted.dictionary(), &DataDictionary::from_features(feature(ElementType::I16)));
    }
}

#[test]
fn a_table_converted_to_its_own_type_shares_its_memory() {
    for layout in LAYOUTS {
        let table = Table::full_in(Shape { rows: 4, columns: 3 }, 1.5_f64, layout).unwrap();
        for policy in POLICIES {
            let same = table.slice_rows(1..3).unwrap().convert_with::<f64>(policy).unwrap();
            assert!(same.array().unwrap().shares_memory_with(table.array().unwrap()));
        }
    }
}

#[test]
fn a_converted_table_has_memory_of_its_own() {
    let table = Table::from_array(vec![1_u8, 2, 3, 4], Shape { rows: 2, columns: 2 }).unwrap();
    let mut converted = table.convert::<i8>().unwrap();
    assert_eq!(converted.data_memory_status(), MemoryStatus::InternallyAllocated);
    converted.as_mut_slice().unwrap().fill(-1);
    assert_eq!(table.as_slice().unwrap(), [1, 2, 3, 4]);
}
