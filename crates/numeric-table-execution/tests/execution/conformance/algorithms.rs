//! Algorithms on arrays, against those of the standard library.

use std::cmp::Ordering;

use numeric_table::Element;
use numeric_table::convert::cast;
use numeric_table_execution::*;
use test_support::bits::{Random, bits, float_format, from_bits, is_nan, special_values};
use test_support::for_each_element;
use test_support::tables::assert_fault;

/// Lengths around the sizes of blocks and runs, and more than one thread's share.
pub(crate) const COUNTS: [usize; 9] = [0, 1, 2, 4095, 4096, 4097, 70_000, 98_304, (1 << 20) + 7];

/// Returns random bits, special values, and numbers whose sum depends on the order of addition.
fn values_of<T: Element>(count: usize, seed: u64) -> Vec<T> {
    let (special, mut random) = (special_values::<T>(), Random::new(seed));
    let is_plain = seed % 2 == 1; // so that not all sums are NaN
    (0..count)
        .map(|_| match random.below(if is_plain { 2 } else { 4 }) {
            0 => cast::<f64, T>(random.below(2000) as f64 / 7.0 - 100.0),
            1 => cast::<f64, T>(1.0 / (random.below(1000) + 1) as f64),
            2 => from_bits(random.next()),
            _ => special[random.below(special.len())],
        })
        .collect()
}

/// The totals of a scan with each value, without it, and the total of all.
type Totals<T> = (Vec<T>, Vec<T>, T);

/// The totals in the order of the documentation: of values in a run, runs in a group, groups in a block, blocks in a
/// range, and ranges.
fn totals<T: Copy, A: Copy>(
    values: &[T],
    nothing: A,
    take: impl Fn(T) -> A,
    combine: impl Fn(A, A) -> A,
    give: impl Fn(A) -> T,
) -> Totals<T> {
    let mut before = [nothing; 5];
    let total = |before: &[A; 5], with: Option<A>| {
        let own = with.map_or(before[0], |value| combine(before[0], value));
        before[1..].iter().fold(own, |sum, &before| combine(before, sum))
    };
    let (mut inclusive, mut exclusive) = (Vec::new(), Vec::new());
    for (index, &value) in values.iter().enumerate() {
        for (level, size) in [16, 256, 4096, 256 * 4096].into_iter().enumerate() {
            if index > 0 && index % size == 0 {
                before[level + 1] = combine(before[level + 1], before[level]);
                before[level] = nothing;
            }
        }
        exclusive.push(give(total(&before, None)));
        inclusive.push(give(total(&before, Some(take(value)))));
        before[0] = combine(before[0], take(value));
    }
    (inclusive, exclusive, give(total(&before, None)))
}

fn expected_totals<T: Element>(values: &[T], operation: Reduction) -> Totals<T> {
    let canonical = |value: T| if is_nan(value) { cast::<f64, T>(f64::NAN) } else { value };
    let limit = |largest: bool| match float_format(T::TYPE) {
        Some(_) => cast::<f64, T>(if largest { f64::INFINITY } else { f64::NEG_INFINITY }),
        None => special_values::<T>()
            .into_iter()
            .fold(T::default(), |one, other| if (other > one) == largest { other } else { one }),
    };
    let is_negative_zero = |value: T| float_format(T::TYPE).is_some() && bits(value) == 1 << (8 * size_of::<T>() - 1);
    let best = |wanted: Ordering| {
        move |one: T, other: T| match one.partial_cmp(&other) {
            None => {
                if is_nan(one) {
                    other
                } else {
                    one
                }
            }
            Some(Ordering::Equal) => {
                if is_negative_zero(one) == (wanted == Ordering::Less) {
                    one
                } else {
                    other
                }
            }
            Some(order) => {
                if order == wanted {
                    one
                } else {
                    other
                }
            }
        }
    };
    match (operation, float_format(T::TYPE)) {
        (Reduction::Sum, None) => totals(values, 0, bits, u64::wrapping_add, from_bits),
        (Reduction::Sum, Some((11, _))) => {
            totals(values, 0.0, cast::<T, f64>, |one, other| one + other, |sum| canonical(cast(sum)))
        }
        (Reduction::Sum, _) => {
            totals(values, 0.0, cast::<T, f32>, |one, other| one + other, |sum| canonical(cast(sum)))
        }
        (Reduction::Min, _) => {
            let nothing = limit(true);
            totals(
                values,
                nothing,
                |value| if is_nan(value) { nothing } else { value },
                best(Ordering::Less),
                |value| value,
            )
        }
        _ => {
            let nothing = limit(false);
            totals(
                values,
                nothing,
                |value| if is_nan(value) { nothing } else { value },
                best(Ordering::Greater),
                |value| value,
            )
        }
    }
}

pub(crate) fn reductions_and_scans_have_one_order<D: Kernels>(device: &D) {
    fn is_same<T: Element>(found: &[T], expected: &[T]) -> bool {
        found.iter().map(|&value| bits(value)).eq(expected.iter().map(|&value| bits(value)))
    }

    for_each_element!(T => {
        for (round, count) in [0, 1, 15, 17, 4096, 4097, 20_001].into_iter().enumerate() {
            for seed in [2 * round as u64, 2 * round as u64 + 1] {
                let values = values_of::<T>(count, seed);
                let input = ArrayHandle::from_container(device, &values[..]);
                let mut output = ArrayHandle::<T, D>::empty(device);
                for operation in [Reduction::Sum, Reduction::Min, Reduction::Max] {
                    let (inclusive, exclusive, total) = expected_totals(&values, operation);
                    let view = || input.prepare_for_input().unwrap();
                    let found = device.reduce(view(), operation).unwrap();
                    assert_eq!(bits(found), bits(total), "{} {count} {operation:?}: {found}, not {total}", T::TYPE);
                    device.scan_inclusive(view(), operation, &mut output).unwrap();
                    assert!(is_same(output.read_portal().unwrap(), &inclusive), "{} {count} {operation:?}", T::TYPE);
                    assert_eq!(output.read_portal().unwrap().last().map(|&last| bits(last)), inclusive.last().map(|_| bits(total)));
                    device.scan_exclusive(view(), operation, &mut output).unwrap();
                    assert!(is_same(output.read_portal().unwrap(), &exclusive), "{} {count} {operation:?}", T::TYPE);
                }
            }
        }
    });
    // More than one range of blocks.
    let count = (1 << 20) + 4096 + 100;
    let values: Vec<f32> = (0..count).map(|index| (index % 1009) as f32 * 1e-3).collect();
    let (inclusive, _, total) = expected_totals(&values, Reduction::Sum);
    let input = ArrayHandle::from_container(device, &values[..]);
    let mut output = ArrayHandle::<f32, D>::empty(device);
    assert_eq!(device.reduce(input.prepare_for_input().unwrap(), Reduction::Sum).unwrap().to_bits(), total.to_bits());
    device.scan_inclusive(input.prepare_for_input().unwrap(), Reduction::Sum, &mut output).unwrap();
    assert!(is_same(output.read_portal().unwrap(), &inclusive));
}

pub(crate) fn values_are_copied_by_flags_and_where_they_differ<D: Kernels>(device: &D) {
    for_each_element!(T => {
        for count in [0, 1, 33, 1024, 4097, 30_001] {
            let mut random = Random::new(count as u64);
            let special = special_values::<T>();
            let mut values: Vec<T> = (0..count).map(|_| special[random.below(special.len())]).collect();
            for index in 1..count {
                if random.below(2) == 0 {
                    values[index] = values[index - 1];
                }
            }
            let input = ArrayHandle::from_container(device, &values[..]);
            let mut output = ArrayHandle::<T, D, Vec<T>>::empty(device);
            for most in [0, 1, 2, 255] {
                let flags: Vec<u8> = (0..count).map(|_| random.below(most + 1) as u8).collect();
                let there = ArrayHandle::from_container(device, &flags[..]);
                let views = (input.prepare_for_input().unwrap(), there.prepare_for_input().unwrap());
                let before = device.stats();
                let found = device.copy_flagged(views.0, views.1, &mut output).unwrap();
                assert!((device.stats() - before).downloads.bytes <= 8, "only the number crosses");
                let kept = values.iter().zip(&flags).filter(|(_, flag)| **flag != 0).map(|(&value, _)| bits(value));
                let kept: Vec<u64> = kept.collect();
                assert_eq!((found, output.len()), (kept.len(), kept.len()));
                assert!(output.read_portal().unwrap().iter().map(|&value| bits(value)).eq(kept), "{} {count}", T::TYPE);
            }
            let found = device.unique(input.prepare_for_input().unwrap(), &mut output).unwrap();
            let mut expected = values.clone();
            expected.dedup_by(|one, other| one == other || is_nan(*one) && is_nan(*other));
            assert_eq!(found, expected.len());
            let expected = expected.iter().map(|&value| bits(value));
            assert!(output.read_portal().unwrap().iter().map(|&value| bits(value)).eq(expected), "{} {count}", T::TYPE);
        }
    });
    let input = ArrayHandle::from_container(device, vec![1_u8; 3]);
    let flags = ArrayHandle::from_container(device, vec![1_u8; 4]);
    let views = || (input.prepare_for_input().unwrap(), flags.prepare_for_input().unwrap());
    let mut output = ArrayHandle::<u8, D>::empty(device);
    let result = device.copy_flagged(views().0, views().1, &mut output);
    assert_fault!(result, HandleError::LengthMismatch { have: 4, want: 3 });
    let mut fixed = ArrayHandle::from_container(device, &[0_u8][..]);
    let result = device.copy_flagged(views().0, input.prepare_for_input().unwrap(), &mut fixed);
    assert_fault!(result, HandleError::ReadOnly);
    assert_eq!(fixed.read_portal().unwrap(), [0]);
}

pub(crate) fn values_are_sorted_by_keys<D: Kernels>(device: &D) {
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

pub(crate) fn values_are_counted_between_edges<D: Kernels>(device: &D) {
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
    // Many bins: the counts of parts are not many times as many.
    let (count, bins) = (300_000, 100_000);
    let input = ArrayHandle::from_container(device, (0..count).map(|index| index as f32 * 0.5).collect::<Vec<_>>());
    let edges: Vec<f64> = (0..=bins).map(f64::from).collect();
    let view = input.prepare_for_input().unwrap();
    let before = device.stats();
    device.histogram(view, &edges, &mut counts).unwrap();
    let allocated = (device.stats() - before).allocations.bytes;
    assert!(allocated <= 8 * (count + 2 * edges.len()), "{allocated} bytes");
    assert!(counts.read_portal().unwrap().iter().rev().skip(1).all(|&count| count == 2));
    assert_eq!(counts.read_portal().unwrap().last(), Some(&3)); // with the last edge
    let input = ArrayHandle::from_container(device, vec![1_u8]);
    let wrong: [(&[f64], &str); 6] = [
        (&[], "the number of edges is 0: at least 2 are needed"),
        (&[1.0], "the number of edges is 1: at least 2 are needed"),
        (&[0.0, 1.0, 1.0], "edge 2 is 1: it must be above edge 1, 1"),
        (&[2.0, 1.0], "edge 1 is 1: it must be above edge 0, 2"),
        (&[0.0, f64::NAN], "edge 1 is NaN: it must be above edge 0, 0"),
        (&[f64::NAN, 1.0], "edge 0 is NaN: it must be a number"),
    ];
    for (edges, message) in wrong {
        let error = device.histogram(input.prepare_for_input().unwrap(), edges, &mut counts).unwrap_err();
        assert!(matches!(error, HandleError::Library(_)));
        assert_eq!(error.to_string(), message);
    }
}

pub(crate) fn values_of_every_type_are_counted<D: Kernels>(device: &D) {
    for_each_element!(T => {
        // More bins than a block of a device counts by itself, and few.
        let many: Vec<f64> = (-1050..1050).map(|edge| f64::from(edge) / 2.0).collect();
        for edges in [&many[..], &[f64::NEG_INFINITY, -0.0, 1.0, 100.0, f64::INFINITY]] {
            let mut values = special_values::<T>();
            let mut random = Random::new(59);
            values.extend((0..1500).map(|_| cast::<f64, T>(random.below(9000) as f64 / 8.0 - 500.0)));
            let input = ArrayHandle::from_container(device, &values[..]);
            let mut counts = ArrayHandle::<u64, D>::empty(device);
            device.histogram(input.prepare_for_input().unwrap(), edges, &mut counts).unwrap();
            let mut expected = vec![0_u64; edges.len() - 1];
            let last = expected.len();
            for value in values.iter().map(|&value| cast::<T, f64>(value)) {
                let is_inside = |bin: &usize| {
                    value >= edges[*bin] && (value < edges[bin + 1] || bin + 1 == last && value == edges[last])
                };
                (0..last).find(is_inside).into_iter().for_each(|bin| expected[bin] += 1);
            }
            assert_eq!(counts.read_portal().unwrap(), expected, "{}", T::TYPE);
        }
    });
}

/// Devices with memory of their own refuse outputs elsewhere, also those of the same kind and number, whose work has an
/// order of its own.
pub(crate) fn outputs_of_another_device_keep_their_values<D: Kernels>(device: &D, second: &D) {
    if <D::Memory as memory::ExecutionMemory>::IS_SHARED {
        return;
    }
    let mut bytes = ArrayHandle::<u8, D>::empty(second);
    let mut words = ArrayHandle::<u64, D>::empty(second);
    second.fill(bytes.prepare_for_output(3).unwrap(), 7).unwrap();
    second.fill(words.prepare_for_output(3).unwrap(), 7).unwrap();
    for values in [vec![], vec![1_u8], vec![1, 2, 2, 0]] {
        let input = ArrayHandle::from_container(device, values.clone());
        let flags = ArrayHandle::from_container(device, vec![0_u8; values.len()]);
        let view = || input.prepare_for_input().unwrap();
        let flags = || flags.prepare_for_input().unwrap();
        for operation in [Reduction::Sum, Reduction::Min] {
            assert_fault!(device.scan_inclusive(view(), operation, &mut bytes), HandleError::WrongDevice);
            assert_fault!(device.scan_exclusive(view(), operation, &mut bytes), HandleError::WrongDevice);
        }
        assert_fault!(device.copy_flagged(view(), view(), &mut bytes), HandleError::WrongDevice);
        assert_fault!(device.copy_flagged(view(), flags(), &mut bytes), HandleError::WrongDevice); // nothing is found
        assert_fault!(device.unique(view(), &mut bytes), HandleError::WrongDevice);
        assert_fault!(device.sort_indices(view(), &mut words), HandleError::WrongDevice);
        assert_fault!(device.histogram(view(), &[0.0, 1.0, 9.0], &mut words), HandleError::WrongDevice);
        let mut keys = ArrayHandle::from_container(device, vec![3_u8, 1, 2]);
        assert_fault!(device.sort_by_key(&mut keys, &mut words), HandleError::WrongDevice);
        assert_eq!(keys.read_portal().unwrap(), [3, 1, 2]);
    }
    assert_eq!((bytes.read_portal().unwrap(), words.read_portal().unwrap()), (&[7; 3][..], &[7; 3][..]));
    second.synchronize().unwrap();
}
