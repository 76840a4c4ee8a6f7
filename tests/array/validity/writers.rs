//! Threads that write rows of one bitmap at the same time, also in one byte.

use std::sync::Barrier;
use std::thread;

use numeric_table::array::{Validity, ValidityMut};
use test_support::bits::Random;

use super::{among_others, check, random_flags};

#[test]
fn threads_write_neighboring_bits_of_one_byte_without_losing_any() {
    const ROUNDS: usize = 2000;
    let mut validity = among_others(&mut Random::new(37), 5, &[true; 8]);
    let writer = validity.need_mutable().unwrap();
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for row in 0..8 {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for round in 0..ROUNDS {
                    let state = (round + row) % 3 == 0;
                    match round % 3 {
                        0 => writer.set(row, state).unwrap(),
                        1 => writer.fill(row..row + 1, state).unwrap(),
                        _ => writer.part(row..).unwrap().write_word(0..1, u64::from(state)).unwrap(),
                    }
                    assert_eq!(writer.is_present(row), Some(state), "another thread wrote this row");
                }
                writer.set(row, row % 2 == 0).unwrap();
            });
        }
    });
    check(&validity, &std::array::from_fn::<_, 8, _>(|row| row % 2 == 0));
}

#[test]
fn threads_write_disjoint_ranges_that_meet_within_bytes() {
    let mut random = Random::new(38);
    for _ in 0..50 {
        let (before, after) = (random_flags(&mut random, 1000), random_flags(&mut random, 1000));
        let offset = random.below(131);
        let mut validity = among_others(&mut random, offset, &before);
        let shared = validity.clone();
        let mut cuts: Vec<usize> = (0..3).map(|_| random.below(1001)).chain([0, 1000]).collect();
        cuts.sort();
        let writer = validity.need_mutable().unwrap();
        thread::scope(|scope| {
            for (way, cut) in cuts.windows(2).enumerate() {
                let (rows, after) = (cut[0]..cut[1], &after);
                scope.spawn(move || write(writer.part(rows.clone()).unwrap(), &after[rows], way));
            }
        });
        check(&validity, &after);
        check(&shared, &before);
    }
}

/// Writes flags: row by row, by words, or in runs.
fn write(part: ValidityMut<'_>, flags: &[bool], way: usize) {
    assert_eq!((part.len(), part.is_empty()), (flags.len(), flags.is_empty()));
    let wanted = Validity::from_flags(flags).unwrap();
    match way % 3 {
        0 => flags.iter().enumerate().for_each(|(row, &flag)| part.set(row, flag).unwrap()),
        1 => {
            for (index, word) in wanted.words().enumerate() {
                part.write_word(64 * index..flags.len().min(64 * index + 64), word).unwrap();
            }
        }
        _ => wanted.runs().for_each(|(rows, flag)| part.fill(rows, flag).unwrap()),
    }
}

#[test]
fn the_count_is_right_after_a_writer_that_was_never_dropped() {
    let mut validity = Validity::all_present(20).unwrap();
    std::mem::forget(validity.need_mutable().map(|writer| writer.fill(3..9, false)));
    assert_eq!(validity.clone().missing_count(), 6);
    validity.set(0, false).unwrap(); // while the number is unknown
    assert_eq!(validity.missing_count(), 7);
    assert_eq!(validity.first_missing(1..20), Some(3));
    let mut part = validity.slice(4..).unwrap();
    assert_eq!((part.first_missing(0..9), part.missing_count()), (Some(0), 5));
    assert!(part.need_mutable().unwrap().set(16, true).is_err());
    assert!(Validity::all_present(0).unwrap().need_mutable().unwrap().set(0, true).is_err());
}
