//! NaN where values are missing.

use numeric_table::ConversionPolicy::Saturate;
use numeric_table::Element;
use numeric_table::convert::try_cast;
use numeric_table::internal::{overlay_nan, overlay_nan_strided};
use test_support::bits::{Random, bits, float_format, is_nan};
use test_support::for_each_element;

use super::{among_others, check, random_flags};

/// Compares bits: NaN as `f64` is converted, where a row is missing, and the value that was there elsewhere.
#[track_caller]
fn check_value<T: Element>(found: T, before: T, is_present: Option<bool>) {
    let is_nan_expected = is_present == Some(false) && float_format(T::TYPE).is_some();
    if is_nan_expected {
        assert!(is_nan(found));
        assert_eq!(bits(found), bits(try_cast::<f64, T>(f64::from_bits(0x7FF8 << 48), Saturate).unwrap()));
    } else {
        assert_eq!(bits(found), bits(before));
    }
}

#[test]
fn missing_values_become_quiet_nan_and_the_others_keep_their_bits() {
    fn check_type<T: Element>() {
        let mut random = Random::new(39);
        for _ in 0..200 {
            let (length, offset) = (random.below(301), random.below(131));
            let flags = random_flags(&mut random, length);
            let validity = among_others(&mut random, offset, &flags);
            let first_row = [random.below(length + 1), 0, length + 1, usize::MAX][random.below(4)];
            let state = |row: usize| first_row.checked_add(row).and_then(|row| flags.get(row).copied());

            let count = random.below(301);
            let before = random.values::<T>(count);
            let mut values = before.clone();
            overlay_nan(&mut values, first_row, &validity);
            (0..count).for_each(|row| check_value(values[row], before[row], state(row)));

            let stride = random.below(6);
            let column = random.below(7);
            let mut values = before.clone();
            overlay_nan_strided(&mut values, stride, column, first_row, &validity);
            for (place, value) in values.into_iter().enumerate() {
                let is_in_column = column < stride && place % stride == column;
                check_value(value, before[place], if is_in_column { state(place / stride) } else { None });
            }
            check(&validity, &flags);
        }
    }
    for_each_element!(check_type);
}
