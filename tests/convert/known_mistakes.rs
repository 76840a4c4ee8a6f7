//! What other libraries get wrong.

use numeric_table::convert::{cast, convert_slice, report_slice, try_cast};
use numeric_table::prelude::*;
use numeric_table::{bf16, f16};
use test_support::bits::{bits, from_bits};

use super::oracle;

use super::{LAYOUTS, POLICIES, Table, nans};

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
    assert_eq!(
        error.to_string(),
        "the value 9007199254740993 at row 0, column 1 is not representable as f64: `ConversionPolicy::Saturate` \
             accepts it in calls that take a policy"
    );
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
            let mut table = Table::from_array_with_layout(stored.map(f64::from_bits).to_vec(), shape, layout).unwrap();
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
        let table = Table::from_array_with_layout(vec![signalling; 4], Shape { rows: 2, columns: 2 }, layout).unwrap();
        for policy in POLICIES {
            let rows = table.rows_with::<f32>(0..2, policy).unwrap();
            assert!(rows.iter().all(|value| value.to_bits() == 0x7F80_0001));
            let column = table.column_with::<f32>(1, 0..2, policy).unwrap();
            assert!(column.iter().all(|value| value.to_bits() == 0x7F80_0001));
        }
    }
}
