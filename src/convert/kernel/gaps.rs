//! Missing values in converted rows: NaN where a bitmap says that a value is missing.

use half::{bf16, f16};

use crate::array::Validity;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::number::Exact;
use crate::window::{AnyRows, AnyWindow, Bits};

/// Overwrites the missing values of one column of converted rows with quiet NaNs. Row 0 of the target is row `first` of
/// the bitmap. Integer types have no NaN: their rows stay unchanged.
pub(crate) fn overlay_missing(target: &mut AnyRows<'_>, column: usize, validity: &Validity, first: usize) {
    fn overlay<B: Bits>(target: &mut AnyRows<'_>, column: usize, validity: &Validity, first: usize, nan: B) {
        let rows = target.rows();
        for start in (0..rows).step_by(64) {
            let count = (rows - start).min(64);
            let mut missing = !validity.word_at(first.saturating_add(start)) & (u64::MAX >> (64 - count));
            while missing != 0 {
                let row = start + missing.trailing_zeros() as usize;
                target.row_bits::<B>(row).put(column, nan);
                missing &= missing - 1;
            }
        }
    }
    assert!(column < target.columns(), "the column is inside");
    match target.element_type() {
        ElementType::F64 => overlay::<u64>(target, column, validity, first, f64::NAN.to_bits()),
        ElementType::F32 => overlay::<u32>(target, column, validity, first, f32::NAN.to_bits()),
        ElementType::F16 => overlay::<u16>(target, column, validity, first, f16::NAN.to_bits()),
        ElementType::Bf16 => overlay::<u16>(target, column, validity, first, bf16::NAN.to_bits()),
        _ => {}
    }
}

/// Sets the flags of the NaNs in a window of one column, and clears the others.
pub(crate) fn mark_nan(window: AnyWindow<'_>, flags: &mut [bool]) {
    fn mark<T: Element>(window: AnyWindow<'_>, flags: &mut [bool]) {
        let Some(window) = window.downcast::<T>() else { return };
        let is_nan = |value: T| matches!(value.exact(), Exact::Float(value) if value.is_nan());
        for (row, flag) in flags.iter_mut().enumerate() {
            *flag = window.get(row, 0).is_some_and(is_nan);
        }
    }
    if !window.element_type().is_float() {
        return flags.fill(false);
    }
    match_element!(window.element_type(), T => mark::<T>(window, flags));
}
