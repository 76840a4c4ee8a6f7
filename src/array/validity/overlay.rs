//! Values of missing rows, written among other values.

use super::Validity;
use super::bits::{ROWS, low_bits};
use crate::base::element::{Element, ElementType};

/// Returns the positive quiet NaN without a payload of a float type; `None` for integers.
fn quiet_nan<T: Element>() -> Option<T> {
    let of_type = |bytes: &[u8]| bytemuck::try_pod_read_unaligned(bytes).ok();
    match T::TYPE {
        ElementType::F64 => of_type(&0x7FF8_0000_0000_0000_u64.to_ne_bytes()),
        ElementType::F32 => of_type(&0x7FC0_0000_u32.to_ne_bytes()),
        ElementType::F16 => of_type(&0x7E00_u16.to_ne_bytes()),
        ElementType::Bf16 => of_type(&0x7FC0_u16.to_ne_bytes()),
        _ => None,
    }
}

/// Writes a quiet NaN to each value whose row is missing, of rows from `first_row` on. Changes nothing if the type has
/// no NaN, or the row does not exist.
pub fn overlay_nan<T: Element>(values: &mut [T], first_row: usize, validity: &Validity) {
    let Some(nan) = quiet_nan() else { return };
    let rows = validity.len().saturating_sub(first_row).min(values.len());
    let words = validity.view().part(first_row..validity.len()).words();
    for (values, word) in values[..rows].chunks_mut(ROWS).zip(words) {
        match !word & low_bits(values.len()) {
            0 => {}
            _ if word == 0 => values.fill(nan),
            mut missing => {
                while missing != 0 {
                    if let Some(value) = values.get_mut(missing.trailing_zeros() as usize) {
                        *value = nan;
                    }
                    missing &= missing - 1;
                }
            }
        }
    }
}

/// The same for a column of row-major values, of `stride` values each: row 0 of them is `first_row`. Values that do not
/// exist are left out.
pub fn overlay_nan_strided<T: Element>(
    values: &mut [T],
    stride: usize,
    column: usize,
    first_row: usize,
    validity: &Validity,
) {
    let (Some(nan), 1.., true) = (quiet_nan(), stride, column < stride) else { return };
    for row in validity.view().part(first_row..validity.len()).zeros() {
        let place = row.checked_mul(stride).and_then(|place| place.checked_add(column));
        match place.and_then(|place| values.get_mut(place)) {
            Some(value) => *value = nan,
            None => return,
        }
    }
}
