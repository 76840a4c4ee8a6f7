//! Conversions on a CUDA device against those of the program, of every pattern of bits or of very many. Run by
//! `cargo test -p numeric-table-execution --release --features cuda --test execution -- --ignored patterns`, on a
//! machine with a device.

use numeric_table::convert::convert_slice;
use numeric_table::prelude::*;
use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::*;
use rayon::prelude::*;
use test_support::bits::{bits, special_values};
use test_support::for_each_element;
use test_support::tables::POLICIES;

/// Values that are compared at a time.
const AT_ONCE: usize = 1 << 26;

/// Compares the conversions of some values to every type, under every policy.
fn compare<S: Element>(device: &Cuda, values: Array<S>) {
    let input = ArrayHandle::from_container(device, values.clone());
    for_each_element!(T => {
        let mut found = device.pinned::<T>(values.len()).unwrap();
        let mut expected = Array::<T>::zeros(values.len()).unwrap();
        let mut output = DeviceArray::<T, Cuda>::allocate(device, values.len()).unwrap();
        for policy in POLICIES {
            let there = device.convert(input.prepare_for_input().unwrap(), output.view_mut().unwrap(), policy);
            let here = convert_slice(&values, expected.mutable_data().unwrap(), policy);
            match (there, here) {
                (Ok(()), Ok(())) if policy == ConversionPolicy::Saturate => {
                    output.copy_to_host(.., found.mutable_data().unwrap()).unwrap();
                    let differs = |place: &usize| bits(found[*place]) != bits(expected[*place]);
                    if let Some(place) = (0..values.len()).into_par_iter().find_first(differs) {
                        panic!("{:?} to {}: {:?}, not {:?}", values[place], T::TYPE, found[place], expected[place]);
                    }
                }
                (Ok(()), Ok(())) => {}
                (Err(HandleError::Library(there)), Err(here)) => assert_eq!(there.to_string(), here.to_string()),
                (there, here) => panic!("{} to {}, {policy}: {there:?}, not {here:?}", S::TYPE, T::TYPE),
            }
        }
    });
}

#[test]
#[ignore = "takes minutes, and a device"]
fn patterns_of_f32_are_converted_like_in_the_program() {
    if !crate::cuda::is_there() {
        return;
    }
    let device = Cuda::new(0).unwrap();
    let special = special_values::<f32>().len();
    assert!(special > 0);
    for first in (0..1_u64 << 32).step_by(AT_ONCE) {
        // In an order in which refused values come late, too.
        let pattern = |i: usize| f32::from_bits((first + i as u64) as u32);
        compare(&device, Array::from_fn(AT_ONCE, pattern).unwrap());
    }
}

/// A number that looks like any other: SplitMix64.
fn noise(place: u64) -> u64 {
    let word = place.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

/// Number of values of 64 bits: 2^32, unless the environment says how many times 2^26.
fn blocks() -> u64 {
    std::env::var("NUMERIC_TABLE_PATTERNS").map_or(64, |count| count.parse().unwrap())
}

#[test]
#[ignore = "takes minutes, and a device"]
fn patterns_of_f64_are_converted_like_in_the_program() {
    if !crate::cuda::is_there() {
        return;
    }
    let device = Cuda::new(0).unwrap();
    let special = special_values::<f64>();
    for block in 0..blocks() {
        let value = |i: usize| {
            let word = noise(block << 26 | i as u64);
            match i % 4 {
                // Any bits; near whole numbers; near a special value; of the size of other types' limits.
                0 => f64::from_bits(word),
                1 => (word as i64 >> (word % 64)) as f64 + ((word >> 8) % 5) as f64 * 0.25 - 0.5,
                2 => f64::from_bits(
                    special[word as usize % special.len()].to_bits().wrapping_add((word >> 40) % 7).wrapping_sub(3),
                ),
                _ => f64::from(f32::from_bits(word as u32)) * (1.0 + ((word >> 32) % 9) as f64 * f64::EPSILON),
            }
        };
        compare(&device, Array::from_fn(AT_ONCE, value).unwrap());
    }
}

#[test]
#[ignore = "takes minutes, and a device"]
fn patterns_of_i64_and_u64_are_converted_like_in_the_program() {
    if !crate::cuda::is_there() {
        return;
    }
    let device = Cuda::new(0).unwrap();
    for block in 0..blocks() {
        // Numbers of every length, and those beside powers of two.
        let value =
            |i: usize| {
                let word = noise(block << 26 | i as u64);
                match i % 2 {
                    0 => word as i64 >> (word % 64),
                    _ => (1_i64 << (word % 63))
                        .wrapping_add((word >> 8) as i64 % 5 - 2)
                        .wrapping_mul(if word >> 63 == 0 { 1 } else { -1 }),
                }
            };
        compare(&device, Array::from_fn(AT_ONCE, value).unwrap());
        compare(&device, Array::from_fn(AT_ONCE, |i| value(i) as u64).unwrap());
    }
}

#[test]
#[ignore = "takes a device"]
fn patterns_of_narrow_types_are_converted_like_in_the_program() {
    if !crate::cuda::is_there() {
        return;
    }
    let device = Cuda::new(0).unwrap();
    compare(&device, Array::from_fn(1 << 16, |i| numeric_table::f16::from_bits(i as u16)).unwrap());
    compare(&device, Array::from_fn(1 << 16, |i| numeric_table::bf16::from_bits(i as u16)).unwrap());
    compare(&device, Array::from_fn(1 << 16, |i| i as u16).unwrap());
    compare(&device, Array::from_fn(1 << 16, |i| i as u16 as i16).unwrap());
    compare(&device, Array::from_fn(1 << 8, |i| i as u8).unwrap());
    compare(&device, Array::from_fn(1 << 8, |i| i as u8 as i8).unwrap());
    compare(&device, Array::from_fn(AT_ONCE, |i| noise(i as u64) as u32).unwrap());
    compare(&device, Array::from_fn(AT_ONCE, |i| noise(i as u64) as i32).unwrap());
}
