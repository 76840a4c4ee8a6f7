//! Algorithms on devices that run closures, against those of the standard library.

use std::cmp::Ordering;

use numeric_table::Element;
use numeric_table_execution::*;
use test_support::bits::{Random, special_values};
use test_support::for_each_element;
use test_support::tables::assert_fault;

/// Lengths around the sizes of blocks and runs, and more than one thread's share.
const COUNTS: [usize; 9] = [0, 1, 2, 4095, 4096, 4097, 70_000, 98_304, (1 << 20) + 7];

pub(crate) fn sums_and_scans_are_those_of_one_order<D: Launch>(device: &D) {
    let mut random = Random::new(41);
    for count in COUNTS {
        let values: Vec<u32> = (0..count).map(|_| random.next() as u32).collect();
        let input = ArrayHandle::from_container(device, &values[..]);
        let view = || input.prepare_for_input().unwrap();
        let sum = device.reduce(view(), 0, u32::wrapping_add).unwrap();
        assert_eq!(sum, values.iter().fold(0, |sum: u32, &value| sum.wrapping_add(value)));
        assert_eq!(
            device.reduce(view(), u32::MAX, u32::min).unwrap(),
            values.iter().copied().min().unwrap_or(u32::MAX)
        );
        let mut output = ArrayHandle::<u32, D>::empty(device);
        device.scan_inclusive(view(), 0, u32::wrapping_add, &mut output).unwrap();
        let mut sum = 0_u32;
        let totals = values.iter().map(|&value| {
            sum = sum.wrapping_add(value);
            sum
        });
        assert!(output.read_portal().unwrap().iter().copied().eq(totals), "{count}");
        device.scan_exclusive(view(), 0, u32::wrapping_add, &mut output).unwrap();
        let mut sum = 0_u32;
        let starts = values.iter().map(|&value| {
            sum = sum.wrapping_add(value);
            sum.wrapping_sub(value)
        });
        assert!(output.read_portal().unwrap().iter().copied().eq(starts), "{count}");
        // Not commutative: the last value that is not zero.
        let last = |one: u32, other: u32| if other == 0 { one } else { other };
        assert_eq!(device.reduce(view(), 0, last).unwrap(), values.iter().copied().fold(0, last));

        // Of floating-point numbers, in blocks of 4096: the same bits everywhere.
        let values: Vec<f32> = values.iter().map(|&value| value as f32 * 1e-3 - 7e5).collect();
        let input = ArrayHandle::from_container(device, &values[..]);
        let blocks: Vec<f32> =
            values.chunks(4096).map(|block| block.iter().fold(0.0, |sum, value| sum + value)).collect();
        let expected = blocks.iter().fold(0.0_f32, |sum, value| sum + value);
        let found = device.reduce(input.prepare_for_input().unwrap(), 0.0, |a, b| a + b).unwrap();
        assert_eq!(found.to_bits(), expected.to_bits());
        let mut totals = ArrayHandle::<f32, D>::empty(device);
        device.scan_inclusive(input.prepare_for_input().unwrap(), 0.0, |a, b| a + b, &mut totals).unwrap();
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
        let mut sorted: Vec<i16> = values.iter().map(|value| value / 3).collect();
        sorted.sort_unstable();
        let input = ArrayHandle::from_container(device, &sorted[..]);
        device.unique(input.prepare_for_input().unwrap(), &mut output).unwrap();
        let mut expected = sorted.clone();
        expected.dedup();
        assert_eq!(output.read_portal().unwrap(), expected);
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

pub(crate) fn values_are_sorted_by_keys<D: Launch>(device: &D) {
    let mut random = Random::new(47);
    for count in COUNTS {
        let keys: Vec<u16> = (0..count).map(|_| random.below(count / 2 + 1) as u16).collect();
        let values: Vec<u64> = (0..count as u64).collect();
        let mut sorted_keys = ArrayHandle::from_container(device, keys.clone());
        let mut sorted = ArrayHandle::from_container(device, values);
        device.sort_by_key(&mut sorted_keys, &mut sorted).unwrap();
        let mut expected: Vec<u64> = (0..count as u64).collect();
        expected.sort_by_key(|&index| keys[index as usize]);
        assert!(sorted.read_portal().unwrap() == expected, "{count}");
        assert!(sorted_keys.read_portal().unwrap().is_sorted());
    }
    for_each_element!(T => {
        let mut values = special_values::<T>();
        let mut random = Random::new(5);
        values.sort_by_cached_key(|_| random.next());
        let input = ArrayHandle::from_container(device, &values[..]);
        let mut order = ArrayHandle::<u64, D>::empty(device);
        device.sort_indices(input.prepare_for_input().unwrap(), &mut order).unwrap();
        let mut expected: Vec<u64> = (0..values.len() as u64).collect();
        let is_nan = |value: T| value.partial_cmp(&value).is_none();
        expected.sort_by(|&one, &other| {
            let (one, other) = (values[one as usize], values[other as usize]);
            one.partial_cmp(&other).unwrap_or_else(|| match (is_nan(one), is_nan(other)) {
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                _ => Ordering::Equal,
            })
        });
        assert_eq!(order.read_portal().unwrap(), expected, "{}", T::TYPE);
    });
    let mut keys = ArrayHandle::from_container(device, vec![2_u8, 1]);
    let mut short = ArrayHandle::from_container(device, vec![2_u8]);
    assert_fault!(device.sort_by_key(&mut keys, &mut short), HandleError::LengthMismatch { have: 1, want: 2 });
    let fixed = [2_u8, 1];
    let mut read_only = ArrayHandle::from_container(device, &fixed[..]);
    assert_fault!(device.sort_by_key(&mut keys, &mut read_only), HandleError::ReadOnly);
    assert_fault!(device.sort_by_key(&mut read_only, &mut keys), HandleError::ReadOnly);
    assert_eq!(keys.read_portal().unwrap(), [2, 1]); // neither was changed
}

pub(crate) fn values_are_counted_between_edges<D: Launch>(device: &D) {
    let mut random = Random::new(53);
    let edges = [-10.0, -1.5, 0.0, 0.1, 3.0, 1e6, f64::INFINITY];
    let mut counts = ArrayHandle::<u64, D>::empty(device);
    for count in COUNTS {
        let special = special_values::<f32>();
        let values: Vec<f32> = (0..count)
            .map(|_| match random.below(3) {
                0 => special[random.below(special.len())],
                1 => edges[random.below(edges.len())] as f32,
                _ => random.below(100) as f32 * 0.1 - 3.0,
            })
            .collect();
        let input = ArrayHandle::from_container(device, &values[..]);
        device.histogram(input.prepare_for_input().unwrap(), &edges, &mut counts).unwrap();
        let expected: Vec<u64> = (0..edges.len() - 1)
            .map(|bin| {
                let is_last = bin + 2 == edges.len();
                let is_inside =
                    |value: f64| value >= edges[bin] && (value < edges[bin + 1] || is_last && value == edges[bin + 1]);
                values.iter().filter(|&&value| is_inside(f64::from(value))).count() as u64
            })
            .collect();
        assert_eq!(counts.read_portal().unwrap(), expected, "{count}");
    }
    let input = ArrayHandle::from_container(device, vec![1_u8]);
    for wrong in [&[][..], &[1.0], &[1.0, 1.0], &[2.0, 1.0], &[0.0, f64::NAN], &[f64::NAN, 1.0]] {
        let result = device.histogram(input.prepare_for_input().unwrap(), wrong, &mut counts);
        assert_fault!(result, HandleError::Library(_));
    }
}

/// All of them, for a device.
pub(crate) fn check<D: Launch>(device: &D) {
    sums_and_scans_are_those_of_one_order(device);
    values_are_selected_in_their_order(device);
    values_are_sorted_by_keys(device);
    values_are_counted_between_edges(device);
}
