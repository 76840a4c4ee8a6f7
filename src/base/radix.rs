//! Stable radix sort of 64-bit integers, in parallel.
//!
//! Least significant digit first: each pass counts the digits of every part of the items, gives each part its own slots
//! among those of each digit, and moves the items there. Passes over a digit that all items share are skipped. After
//! the leading bits, in which nearly all items differ, runs of equal ones are sorted on their own, in the cache.
//! Invariant: the result depends neither on the number of threads nor on the parts.

use super::parallel;

/// The number of bits of a digit: the slots of all digits stay in the first-level cache.
const DIGIT: u32 = 8;
/// The number of digits.
const DIGITS: usize = 1 << DIGIT;
/// Up to this number of items are sorted by comparison.
const FEW: usize = 192;
/// The number of leading bits that are sorted first, beyond those of the number of items.
const MORE_BITS: u32 = 4;

/// Sorts items by their bits from `low` on and below `high`. All bits from `high` on must be equal, and the bits below
/// `low` must ascend: the sort is stable. Uses `spare`, which has the same length, as memory.
pub(crate) fn sort(items: &mut [u64], spare: &mut [u64], low: u32, high: u32) {
    if items.len() < 2 || low >= high {
        return;
    }
    if items.len() <= FEW {
        return items.sort_unstable(); // stable, because the lower bits ascend
    }
    let useful = usize::BITS - (items.len() - 1).leading_zeros() + MORE_BITS;
    let passes = useful.min(high - low).div_ceil(DIGIT);
    let middle = high - (passes * DIGIT).min(high - low);
    let tasks = parallel::task_count(size_of_val(items).saturating_mul(2));
    let mut is_in_spare = false;
    for start in (middle..high).step_by(DIGIT as usize) {
        let width = DIGIT.min(high - start);
        let (from, to) = if is_in_spare { (&*spare, &mut *items) } else { (&*items, &mut *spare) };
        is_in_spare ^= pass(from, to, start, width, tasks);
    }
    if is_in_spare {
        copy(spare, items);
    }
    if middle > low {
        let is_same = |one: u64, other: u64| one >> middle == other >> middle;
        for_each_run(items, spare, is_same, |run, spare| sort(run, spare, low, middle));
    }
}

/// Calls `work` with each run of several items that are the same, and with equally many items of `spare`.
pub(crate) fn for_each_run(
    items: &mut [u64],
    spare: &mut [u64],
    is_same: impl Fn(u64, u64) -> bool + Sync,
    work: impl Fn(&mut [u64], &mut [u64]) + Sync,
) {
    let tasks = parallel::task_count(size_of_val(items).saturating_mul(2));
    let step = items.len().div_ceil(tasks).max(1);
    let (mut parts, mut rest, mut spare) = (Vec::with_capacity(tasks), items, spare);
    while !rest.is_empty() {
        let mut end = step.min(rest.len());
        while end < rest.len() && is_same(rest[end - 1], rest[end]) {
            end += 1;
        }
        let ((part, others), (room, more)) = (rest.split_at_mut(end), spare.split_at_mut(end));
        parts.push((part, room));
        (rest, spare) = (others, more);
    }
    parallel::map(parts, |(part, room): (&mut [u64], &mut [u64])| {
        let mut start = 0;
        while start < part.len() {
            let mut end = start + 1;
            while end < part.len() && is_same(part[end - 1], part[end]) {
                end += 1;
            }
            if end - start > 1 {
                work(&mut part[start..end], &mut room[start..end]);
            }
            start = end;
        }
    });
}

/// Moves items to `to` in the order of their digit of `width` bits from `start` on. Returns whether it did: not if all
/// items have the same digit.
fn pass(from: &[u64], to: &mut [u64], start: u32, width: u32, tasks: usize) -> bool {
    let digit = |item: u64| (item >> start) as usize & ((1 << width) - 1) & (DIGITS - 1);
    let parts = parallel::cut(from, from.len(), tasks, |items, count| items.split_at(count));
    let counts = parallel::map(parts.clone(), |items| {
        let mut counts = [[0_usize; DIGITS]; 2]; // items of the same digit often follow each other
        let (pairs, rest) = items.as_chunks::<2>();
        for &[one, other] in pairs {
            counts[0][digit(one)] += 1;
            counts[1][digit(other)] += 1;
        }
        rest.iter().for_each(|&item| counts[0][digit(item)] += 1);
        std::array::from_fn::<usize, DIGITS, _>(|digit| counts[0][digit] + counts[1][digit])
    });
    let is_shared = |digit: usize| counts.iter().map(|counts| counts[digit]).sum::<usize>() == from.len();
    if from.first().is_none_or(|&first| is_shared(digit(first))) {
        return false;
    }
    let mut slots: Vec<[&mut [u64]; DIGITS]> = parts.iter().map(|_| std::array::from_fn(|_| &mut [][..])).collect();
    let mut rest = to;
    for digit in 0..DIGITS {
        for (slots, counts) in slots.iter_mut().zip(&counts) {
            (slots[digit], rest) = std::mem::take(&mut rest).split_at_mut(counts[digit]);
        }
    }
    let moves = parts.into_iter().zip(slots).collect();
    parallel::map(moves, |(items, mut slots): (&[u64], [&mut [u64]; DIGITS])| {
        for &item in items {
            let slot = &mut slots[digit(item)];
            if let Some((first, others)) = std::mem::take(slot).split_first_mut() {
                *first = item;
                *slot = others;
            }
        }
    });
    true
}

fn copy(from: &[u64], to: &mut [u64]) {
    parallel::for_each_chunk_mut(to, &|offset, chunk| {
        let end = offset + chunk.len();
        chunk.copy_from_slice(&from[offset..end]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;
    use test_support::sized;

    /// Sorts keys of the given bits above a place of `low` bits, and compares with the sort of the standard library.
    fn assert_sorted(keys: &[u64], low: u32, bits: u32) {
        let mut items: Vec<u64> = keys.iter().enumerate().map(|(place, &key)| key << low | place as u64).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        let mut spare = vec![u64::MAX; items.len()];
        sort(&mut items, &mut spare, low, low + bits);
        assert!(items == expected, "{} keys of {bits} bits above {low}", keys.len());
    }

    #[test]
    fn any_keys_are_sorted_as_by_the_standard_library() {
        let mut random = Random::new(7);
        let large = [1000, 4096, 5000, 300_001].into_iter().take(sized(4, 1));
        for count in [0, 1, 2, 191, 192, 193].into_iter().chain(large) {
            let low = 20;
            let widths = if count > 5000 { &[1, 9, 23, 44][..] } else { &[1, 7, 8, 9, 16, 23, 32, 44] };
            for &bits in widths {
                let mut half = || random.below(1 << 31) as u64;
                let mut keys: Vec<u64> = (0..count).map(|_| (half() << 31 | half()) & ((1 << bits) - 1)).collect();
                assert_sorted(&keys, low, bits);
                let last = keys.len().saturating_sub(1);
                // Nearly all in one run; ascending; descending.
                keys.iter_mut().enumerate().for_each(|(place, key)| {
                    *key = if place == last { (1 << bits) - 1 } else { *key & ((1 << (bits / 2)) - 1) };
                });
                assert_sorted(&keys, low, bits);
                keys.sort_unstable();
                assert_sorted(&keys, low, bits);
                keys.reverse();
                assert_sorted(&keys, low, bits);
            }
        }
    }
}
