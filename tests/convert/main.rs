//! Conversions between all pairs of element types under all policies, through every public way to ask for one.
//!
//! `oracle` says what has to come out, bit for bit. Slices, single values, blocks of rows and columns in both layouts,
//! whole tables and reports must all agree with it; `Case` compares them. Semantics: the page of
//! [`ConversionPolicy`](numeric_table::ConversionPolicy); rounding is IEEE 754 `roundTiesToEven`.

mod every_value;
mod known_mistakes;
mod oracle;
mod refusals;
mod reports;
mod tables;

use std::ops::Range;

use numeric_table::ConversionReport;
use numeric_table::convert::{cast, convert_slice, report_slice, try_cast};
use numeric_table::prelude::*;
use oracle::{Loss, expected, permits};
use test_support::bits::{Random, bits, float_format, from_bits, special_values};
use test_support::for_each_element;
use test_support::tables::{LAYOUTS, POLICIES};

type Table<T> = HomogenNumericTable<T>;

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
            _ => {
                (0..self.columns).flat_map(|column| values.iter().copied().skip(column).step_by(self.columns)).collect()
            }
        };
        Table::from_array_with_layout(values, shape, layout).unwrap()
    }

    /// Compares values, or the error, with what rows and columns of the table must be under a policy.
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
        match (outcome.map_err(Error::kind), refused) {
            (Ok(found), None) => {
                assert_eq!(found.len(), rows.len() * columns.len());
                for (&found, position) in found.iter().zip(positions()) {
                    self.assert_value(found, at(position));
                }
            }
            (Err(ErrorKind::ValueNotRepresentable { row, column, value, target }), Some(position)) => {
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
            match try_cast::<S, D>(value, policy).map_err(Error::into_kind) {
                Ok(found) if is_permitted => case.assert_value(bits(found), index),
                Err(ErrorKind::ValueNotRepresentable { row: 0, column: 0, target, .. }) if !is_permitted => {
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
        // Bits 8 to 54 after the first: where bf16, f16, f32 and f64 end, and their middles lie.
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
