//! Algorithms whose operations are closures, against those of the standard library.

use numeric_table_execution::*;
use test_support::bits::Random;
use test_support::tables::assert_fault;

use super::algorithms::COUNTS;

pub(crate) fn sums_and_scans_are_those_of_one_order<D: Launch>(device: &D) {
    let mut random = Random::new(41);
    for count in COUNTS {
        let values: Vec<u32> = (0..count).map(|_| random.next() as u32).collect();
        let input = ArrayHandle::from_container(device, &values[..]);
        let view = || input.prepare_for_input().unwrap();
        let sum = device.reduce_with(view(), 0, u32::wrapping_add).unwrap();
        assert_eq!(sum, values.iter().fold(0, |sum: u32, &value| sum.wrapping_add(value)));
        assert_eq!(
            device.reduce_with(view(), u32::MAX, u32::min).unwrap(),
            values.iter().copied().min().unwrap_or(u32::MAX)
        );
        let mut output = ArrayHandle::<u32, D>::empty(device);
        device.scan_inclusive_with(view(), 0, u32::wrapping_add, &mut output).unwrap();
        let mut sum = 0_u32;
        let totals = values.iter().map(|&value| {
            sum = sum.wrapping_add(value);
            sum
        });
        assert!(output.read_portal().unwrap().iter().copied().eq(totals), "{count}");
        device.scan_exclusive_with(view(), 0, u32::wrapping_add, &mut output).unwrap();
        let mut sum = 0_u32;
        let starts = values.iter().map(|&value| {
            sum = sum.wrapping_add(value);
            sum.wrapping_sub(value)
        });
        assert!(output.read_portal().unwrap().iter().copied().eq(starts), "{count}");
        // Not commutative: the last value that is not zero.
        let last = |one: u32, other: u32| if other == 0 { one } else { other };
        assert_eq!(device.reduce_with(view(), 0, last).unwrap(), values.iter().copied().fold(0, last));

        // Of floating-point numbers, in blocks of 4096: the same bits everywhere.
        let values: Vec<f32> = values.iter().map(|&value| value as f32 * 1e-3 - 7e5).collect();
        let input = ArrayHandle::from_container(device, &values[..]);
        let blocks: Vec<f32> =
            values.chunks(4096).map(|block| block.iter().fold(0.0, |sum, value| sum + value)).collect();
        let expected = blocks.iter().fold(0.0_f32, |sum, value| sum + value);
        let found = device.reduce_with(input.prepare_for_input().unwrap(), 0.0, |a, b| a + b).unwrap();
        assert_eq!(found.to_bits(), expected.to_bits());
        let mut totals = ArrayHandle::<f32, D>::empty(device);
        device.scan_inclusive_with(input.prepare_for_input().unwrap(), 0.0, |a, b| a + b, &mut totals).unwrap();
        assert_eq!(totals.read_portal().unwrap().last().map_or(0, |value| value.to_bits()), expected.to_bits());
        let mut before = 0.0_f32;
        for (block, totals) in values.chunks(4096).zip(totals.read_portal().unwrap().chunks(4096)) {
            let mut sum = 0.0_f32;
            for (value, total) in block.iter().zip(totals) {
                sum += value;
                assert_eq!(total.to_bits(), (before + sum).to_bits());
            }
            before += sum;
        }
    }
}

pub(crate) fn values_are_selected_in_their_order<D: Launch>(device: &D) {
    let mut random = Random::new(43);
    for count in COUNTS {
        let values: Vec<i16> = (0..count).map(|_| random.below(50) as i16).collect();
        let input = ArrayHandle::from_container(device, &values[..]);
        let mut output = ArrayHandle::<i16, D, Vec<i16>>::empty(device);
        for limit in [0, 1, 25, 50] {
            let before = device.stats();
            let found = device.copy_if(input.prepare_for_input().unwrap(), |value| value < limit, &mut output).unwrap();
            assert!((device.stats() - before).downloads.bytes <= 8, "only the number crosses");
            let expected: Vec<i16> = values.iter().copied().filter(|&value| value < limit).collect();
            assert_eq!(found, expected.len());
            assert!(output.read_portal().unwrap() == expected, "{count} {limit}");
        }
    }
    // A predicate may be wrong about itself: nothing worse than arbitrary values happens.
    let input = ArrayHandle::from_container(device, vec![1_u8; 10_000]);
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let keep = |_| calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed).is_multiple_of(3);
    let mut output = ArrayHandle::<u8, D>::empty(device);
    let found = device.copy_if(input.prepare_for_input().unwrap(), keep, &mut output).unwrap();
    assert_eq!((found, output.len()), (output.len(), found));
    assert_fault!(
        device.copy_if(
            input.prepare_for_input().unwrap(),
            |_| true,
            &mut ArrayHandle::from_container(device, &[0_u8][..])
        ),
        HandleError::ReadOnly
    );
}

/// All of them, for a device.
pub(crate) fn check<D: Launch>(device: &D) {
    sums_and_scans_are_those_of_one_order(device);
    values_are_selected_in_their_order(device);
}
