//! All `f32` values: exhaustive, but too slow to run every time.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use half::{bf16, f16};
use rayon::prelude::*;

use super::memory::are_same;
use super::*;

/// The number of values that are converted at a time.
const CHUNK: u64 = 1 << 16;

/// Up to this number of values, no progress is printed.
const SILENT: u64 = 1 << 26;

/// Compares conversions and reports at every level with the rule.
fn test_chunk<D: Element>(values: &[f32], levels: &[Level]) {
    let expected: Vec<D> = values.iter().map(|&value| number::convert(value)).collect();
    let lost = report_of(values.iter().map(|value| D::loss(value.exact())), 1);
    let (window, origin) = (Window::column(values), Origin::default());
    let mut found = vec![D::default(); values.len()];
    for &level in levels {
        with_level(level, || {
            let result = f32::read_over(window, AnySliceMut::new(&mut found), ConversionPolicy::Saturate, origin);
            assert!(result.is_ok() && f32::report(window, D::TYPE) == lost, "to {}, {level:?}", D::TYPE);
            if !are_same(&found, &expected) {
                let is_other = |&index: &usize| !found[index].is_same(expected[index]);
                let index = (0..values.len()).find(is_other).unwrap();
                let (bits, found, expected) = (values[index].to_bits(), found[index], expected[index]);
                panic!("{bits:#010x} to {}, {level:?}: {found}, not {expected}", D::TYPE);
            }
        });
    }
}

fn test_bits(bits: Range<u64>) {
    let (levels, total, done) = (Level::available(), bits.end - bits.start, AtomicU64::new(0));
    let starts: Vec<u64> = bits.step_by(CHUNK as usize).collect();
    starts.into_par_iter().for_each(|start| {
        let values: Vec<f32> = (start..start + CHUNK).map(|bits| f32::from_bits(bits as u32)).collect();
        test_chunk::<i8>(&values, &levels);
        test_chunk::<i16>(&values, &levels);
        test_chunk::<i32>(&values, &levels);
        test_chunk::<i64>(&values, &levels);
        test_chunk::<u8>(&values, &levels);
        test_chunk::<u16>(&values, &levels);
        test_chunk::<u32>(&values, &levels);
        test_chunk::<u64>(&values, &levels);
        test_chunk::<f64>(&values, &levels);
        test_chunk::<f16>(&values, &levels);
        test_chunk::<bf16>(&values, &levels);
        let done = done.fetch_add(CHUNK, Ordering::Relaxed) + CHUNK;
        if total > SILENT && done.is_multiple_of(total / 32) {
            // Not `eprintln`, which the test harness keeps until the end.
            let _ = writeln!(std::io::stderr(), "{} of 100 values looked at", done * 100 / total);
        }
    });
}

/// Takes some minutes on all cores, in release mode:
/// `cargo test --release --lib -- --ignored every_f32_bit_pattern`
#[test]
#[ignore = "takes minutes; run it in release mode"]
fn every_f32_bit_pattern_is_converted_and_counted_like_the_rule_at_every_level() {
    levels();
    test_bits(0..1 << 32);
}

#[test]
fn f32_bit_patterns_around_some_limits_are_converted_and_counted_like_the_rule_at_every_level() {
    for number in [0.0_f32, 65_520.0, 2147483648.0, f32::INFINITY] {
        for bits in [number, -number].map(|number| u64::from(number.to_bits())) {
            test_bits(bits.saturating_sub(CHUNK)..bits + CHUNK);
        }
    }
}
