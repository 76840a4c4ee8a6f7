//! Conversion between element types, by one rule per source, target and policy: see [`ConversionPolicy`].
//!
//! This module has the calls for single values ([`cast`], [`try_cast`]) and for slices ([`convert_slice`],
//! [`report_slice`]). Blocks and tables convert by the same rule. Results, including the bits of NaNs, do not depend on
//! the CPU, the length, the stride or the number of threads.

// The rule for one value is in `crate::base::number`; `fast` and `half` have the same in a form that compilers
// vectorize, `half` for the half types; `kernel` has the loops over windows of values, which must agree with the rule
// bit for bit; `level` chooses the instructions that they may use.

mod fast;
mod half;
pub(crate) mod kernel;
pub(crate) mod level;
mod magnitudes;

use std::fmt;
use std::ops::AddAssign;

use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::number::{self, Loss};
use crate::base::value::{AnyValue, match_value};
use crate::window::{AnySlice, AnySliceMut, AnyWindow, Window};
use kernel::Origin;

/// How to convert values that the target type cannot represent.
///
/// | policy | float to integer | integer to integer | float to narrower float | integer to float |
/// | --- | --- | --- | --- | --- |
/// | `Saturate` | truncates and clamps, NaN to 0 (like Rust's `as`) | clamps (unlike `as`, which wraps) | rounds to nearest even, overflow to infinity | rounds to nearest even |
/// | `Checked` | truncates; NaN, infinities and truncated values out of range are errors | values out of range are errors | finite values that become infinite are errors | values that become infinite are errors |
/// | `Exact` | values must be integral and in range | values must be in range | values must convert back equal; NaN is permitted, and zero keeps its sign | values must convert back equal |
///
/// # NaN
/// Conversions between float types permit NaN under every policy. To the same type, a NaN keeps all its bits, and a
/// signaling NaN stays signaling. To another type, it keeps its sign, becomes quiet, and keeps as many of the leading
/// bits of its payload as fit (IEEE 754-2019, 6.2.3): a wider payload is filled with zeros, a narrower one is
/// truncated. Neither `Exact` nor a [`ConversionReport`] counts that as a loss.
///
/// # Examples
/// ```
/// use numeric_table::{ConversionPolicy, convert::try_cast};
/// assert_eq!(try_cast::<f32, u8>(300.5, ConversionPolicy::Saturate)?, 255);
/// assert_eq!(try_cast::<f32, u8>(200.5, ConversionPolicy::Checked)?, 200);
/// assert!(try_cast::<f32, u8>(300.5, ConversionPolicy::Checked).is_err());
/// assert!(try_cast::<f32, u8>(200.5, ConversionPolicy::Exact).is_err());
/// let nan = try_cast::<f32, half::f16>(f32::from_bits(0x7F81_2345), ConversionPolicy::Exact)?;
/// assert_eq!(nan.to_bits(), 0x7E09); // quiet, and the first ten bits of the fraction
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConversionPolicy {
    /// Always converts to the nearest value. The default when reading.
    #[default]
    Saturate,
    /// Rejects values out of range but permits rounding. The default when writing back.
    Checked,
    /// Rejects values that would not convert back equal.
    Exact,
}

impl ConversionPolicy {
    pub(crate) fn permits(self, loss: Loss) -> bool {
        match self {
            Self::Saturate => true,
            Self::Checked => matches!(loss, Loss::None | Loss::Inexact),
            Self::Exact => loss == Loss::None,
        }
    }
}

impl fmt::Display for ConversionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Saturate => "saturate",
            Self::Checked => "checked",
            Self::Exact => "exact",
        })
    }
}

/// How the values of a block are written to a table.
///
/// # Examples
/// ```
/// use numeric_table::{ConversionPolicy, convert::WriteRule};
/// let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: true };
/// assert!(rule.keep_unchanged);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRule {
    /// How to convert values that do not fit.
    pub policy: ConversionPolicy,
    /// Whether to leave a table's value unchanged if the new value has the same bits that the table's value converts
    /// to.
    pub keep_unchanged: bool,
}

/// The losses of a [`Saturate`](ConversionPolicy::Saturate) conversion: the number of values by kind of loss, and the
/// position of the first.
///
/// Each value is counted at most once. `Checked` rejects the first four kinds, `Exact` all five.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1.0_f64, 2.5], [f64::NAN, 1e9]])?;
/// let report = table.conversion_report::<i16>()?;
/// assert_eq!((report.values, report.inexact, report.nan_to_int, report.above_range), (4, 1, 1, 1));
/// assert_eq!(report.first, Some((0, 1)));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversionReport {
    /// Number of values examined.
    pub values: usize,
    /// NaNs that become the integer 0.
    pub nan_to_int: usize,
    /// Values clamped to the smallest value of the target type, including minus infinity.
    pub below_range: usize,
    /// Values clamped to the largest value of the target type, including infinity.
    pub above_range: usize,
    /// Finite values that become infinite.
    pub overflow_to_infinity: usize,
    /// Values in range that are truncated or rounded.
    pub inexact: usize,
    /// The row and column of the first value with a loss, in row-major order.
    pub first: Option<(usize, usize)>,
}

impl ConversionReport {
    /// Returns the number of values with a loss.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::convert::report_slice;
    /// assert_eq!(report_slice::<f32, u8>(&[1.0, 1.5, -7.0]).lost(), 2);
    /// ```
    pub const fn lost(&self) -> usize {
        let out_of_range = self.below_range.saturating_add(self.above_range).saturating_add(self.overflow_to_infinity);
        self.nan_to_int.saturating_add(out_of_range).saturating_add(self.inexact)
    }

    /// Returns whether the conversion keeps every value exactly.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::convert::report_slice;
    /// assert!(report_slice::<u8, f32>(&[1, 2, 3]).is_lossless());
    /// ```
    pub const fn is_lossless(&self) -> bool {
        self.lost() == 0
    }
}

/// Adds the counts of another part of the same data. Keeps the earlier of the two first positions in row-major order.
impl AddAssign for ConversionReport {
    fn add_assign(&mut self, other: Self) {
        self.values = self.values.saturating_add(other.values);
        self.nan_to_int = self.nan_to_int.saturating_add(other.nan_to_int);
        self.below_range = self.below_range.saturating_add(other.below_range);
        self.above_range = self.above_range.saturating_add(other.above_range);
        self.overflow_to_infinity = self.overflow_to_infinity.saturating_add(other.overflow_to_infinity);
        self.inexact = self.inexact.saturating_add(other.inexact);
        self.first = self.first.into_iter().chain(other.first).min();
    }
}

impl fmt::Display for ConversionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} values lose something", self.lost(), self.values)?;
        if let Some((row, column)) = self.first {
            write!(f, ", first at row {row}, column {column}")?;
        }
        let kinds = [
            ("NaN to 0", self.nan_to_int),
            ("below range", self.below_range),
            ("above range", self.above_range),
            ("overflow to infinity", self.overflow_to_infinity),
            ("inexact", self.inexact),
        ];
        let mut separator = ": ";
        for (kind, count) in kinds.into_iter().filter(|&(_, count)| count > 0) {
            write!(f, "{separator}{count} {kind}")?;
            separator = ", ";
        }
        Ok(())
    }
}

/// Converts one value, as [`ConversionPolicy::Saturate`] does.
///
/// # Examples
/// ```
/// use numeric_table::convert::cast;
/// assert_eq!(cast::<f64, i32>(-1.9), -1);
/// assert_eq!(cast::<i32, u8>(-1), 0); // clamped; `as` would wrap to 255
/// assert_eq!(cast::<f64, half::f16>(1.0 + 2f64.powi(-11) + 2f64.powi(-40)).to_f64(), 1.0009765625); // rounded once
/// ```
pub fn cast<S: Element, D: Element>(value: S) -> D {
    if S::TYPE == D::TYPE { bytemuck::cast(value) } else { number::convert(value) }
}

/// Converts one value under the given policy.
///
/// # Errors
/// [`ErrorKind::ValueNotRepresentable`] at row 0, column 0 if the policy rejects the value.
///
/// # Examples
/// ```
/// use numeric_table::{ConversionPolicy, convert::try_cast};
/// let error = try_cast::<i64, f64>((1 << 53) + 1, ConversionPolicy::Exact).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the value 9007199254740993 at row 0, column 0 is not representable as f64: `ConversionPolicy::Saturate` \
///      accepts it in calls that take a policy"
/// );
/// ```
pub fn try_cast<S: Element, D: Element>(value: S, policy: ConversionPolicy) -> Result<D> {
    let mut target = [D::default()];
    convert_slice(&[value], &mut target, policy)?;
    Ok(target[0])
}

/// Converts a slice into another of the same length: in one pass under `Saturate`, in two under the checking policies.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`]; [`ErrorKind::ValueNotRepresentable`] with the index of the first rejected value as
/// its row. On an error the target is unchanged.
///
/// # Examples
/// ```
/// use numeric_table::{ConversionPolicy, convert::convert_slice};
/// let mut bytes = [0_u8; 3];
/// convert_slice(&[1.9_f32, -7.0, 1e9], &mut bytes, ConversionPolicy::Saturate)?;
/// assert_eq!(bytes, [1, 0, 255]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[inline]
pub fn convert_slice<S: Element, D: Element>(source: &[S], target: &mut [D], policy: ConversionPolicy) -> Result<()> {
    if source.len() != target.len() {
        return Err(other_length(target.len(), source.len()));
    }
    // The slices are created twice to stay in registers: passing one through memory doubles the time for a few
    // values.
    match kernel::read_few::<{ kernel::FEW_OF_SLICE }>(AnySlice::new(source), AnySliceMut::new(target), policy) {
        true => Ok(()),
        false => kernel::read_column(AnySlice::new(source), AnySliceMut::new(target), policy),
    }
}

/// Converts a slice as [`convert_slice`] does, but in one pass under every policy: on an error, the target may hold
/// anything.
///
/// # Errors
/// Those of [`convert_slice`].
///
/// # Examples
/// ```
/// use numeric_table::{ConversionPolicy, convert::convert_slice_over};
/// let mut bytes = [0_u8; 3];
/// convert_slice_over(&[1.0_f32, 7.0, 255.0], &mut bytes, ConversionPolicy::Exact)?;
/// assert_eq!(bytes, [1, 7, 255]);
/// assert!(convert_slice_over(&[1.0_f32, 7.5, 255.0], &mut bytes, ConversionPolicy::Exact).is_err());
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn convert_slice_over<S: Element, D: Element>(
    source: &[S],
    target: &mut [D],
    policy: ConversionPolicy,
) -> Result<()> {
    if source.len() != target.len() {
        return Err(other_length(target.len(), source.len()));
    }
    let column = AnyWindow::new(Window::column(source));
    kernel::read_over(column, AnySliceMut::new(target), policy, Origin::default())
}

impl AnyValue {
    /// Converts the value under a policy.
    ///
    /// # Errors
    /// [`ErrorKind::ValueNotRepresentable`] at row 0, column 0, if the policy refuses the value.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyValue, ConversionPolicy};
    /// let value = AnyValue::from(300_i16);
    /// assert_eq!(value.convert::<u8>(ConversionPolicy::Saturate)?, 255);
    /// assert!(value.convert::<u8>(ConversionPolicy::Checked).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn convert<T: Element>(self, policy: ConversionPolicy) -> Result<T> {
        match_value!(self, value => try_cast(value, policy))
    }
}

#[cold]
fn other_length(expected: usize, found: usize) -> Error {
    Error::new(ErrorKind::LengthMismatch { expected, actual: found })
}

/// Checks that a policy permits one value in a type known only at run time.
pub(crate) fn check_value<S: Element>(
    value: S,
    target: ElementType,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    kernel::check(AnyWindow::new(Window::column(&[value])), target, policy, origin)
}

/// Counts the losses of converting a slice, without converting it. Positions are indices, as rows of a single column.
///
/// # Examples
/// ```
/// use numeric_table::convert::report_slice;
/// let report = report_slice::<i64, f64>(&[1, (1 << 53) + 1]);
/// assert_eq!((report.inexact, report.first), (1, Some((1, 0))));
/// ```
pub fn report_slice<S: Element, D: Element>(source: &[S]) -> ConversionReport {
    kernel::report(AnyWindow::new(Window::column(source)), D::TYPE)
}
