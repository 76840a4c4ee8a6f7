//! Random sequences of changes of two bitmaps, against flags. Clones made on the way keep their states.

use numeric_table::array::Validity;
use proptest::prelude::*;
use proptest::sample::Index;
use test_support::bits::Random;

use super::{among_others, check, random_flags};

#[derive(Clone, Debug)]
enum Change {
    Set(Index, bool),
    Fill(Index, Index, bool),
    /// Copies a part of the other bitmap.
    CopyFrom(Index, Index, Index),
    Slice(Index, Index),
    Resized(usize, bool),
    /// As `Set` and `Fill`, through a writer.
    Written(Index, Index, bool),
    /// 64 rows or fewer, through a writer.
    Word(Index, u64),
    Count,
    Keep,
    Swap,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (any::<Index>(), any::<bool>()).prop_map(|(row, state)| Change::Set(row, state)),
        4 => any::<(Index, Index, bool)>().prop_map(|(start, end, state)| Change::Fill(start, end, state)),
        4 => any::<(Index, Index, Index)>().prop_map(|(start, end, at)| Change::CopyFrom(start, end, at)),
        1 => any::<(Index, Index)>().prop_map(|(start, end)| Change::Slice(start, end)),
        2 => (0_usize..301, any::<bool>()).prop_map(|(length, state)| Change::Resized(length, state)),
        3 => any::<(Index, Index, bool)>().prop_map(|(start, end, state)| Change::Written(start, end, state)),
        3 => any::<(Index, u64)>().prop_map(|(row, word)| Change::Word(row, word)),
        2 => Just(Change::Count),
        2 => Just(Change::Keep),
        2 => Just(Change::Swap),
    ]
}

/// Returns a range of `count` rows.
fn range(start: Index, end: Index, count: usize) -> std::ops::Range<usize> {
    let (first, second) = (start.index(count + 1), end.index(count + 1));
    first.min(second)..first.max(second)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_changes_has_the_states_of_the_flags(
        seed: u64, offsets in [0_usize..131, 0_usize..131], changes in prop::collection::vec(change(), 0..40),
    ) {
        let mut random = Random::quiet(seed);
        let [mut current, mut other] = offsets.map(|offset| {
            let length = random.below(301);
            let flags = random_flags(&mut random, length);
            (among_others(&mut random, offset, &flags), flags)
        });
        let mut kept: Vec<(Validity, Vec<bool>)> = Vec::new();
        for change in changes {
            let (validity, flags) = &mut current;
            let count = flags.len();
            match change {
                Change::Set(row, state) => {
                    let row = row.index(count + 2);
                    prop_assert_eq!(validity.set(row, state).is_ok(), row < count);
                    if let Some(flag) = flags.get_mut(row) {
                        *flag = state;
                    }
                }
                Change::Fill(start, end, state) => {
                    let rows = range(start, end, count);
                    validity.fill(rows.clone(), state).unwrap();
                    flags[rows].fill(state);
                }
                Change::CopyFrom(start, end, at) => {
                    let rows = range(start, end, other.1.len());
                    let at = at.index(count + 1);
                    let is_copied = validity.copy_from(at, &other.0.slice(rows.clone()).unwrap()).is_ok();
                    prop_assert_eq!(is_copied, at + rows.len() <= count);
                    if is_copied {
                        flags[at..at + rows.len()].copy_from_slice(&other.1[rows]);
                    }
                }
                Change::Slice(start, end) => {
                    let rows = range(start, end, count);
                    *validity = validity.slice(rows.clone()).unwrap();
                    *flags = flags[rows].to_vec();
                }
                Change::Resized(length, state) => {
                    *validity = validity.resized(length, state).unwrap();
                    flags.resize(length, state);
                }
                Change::Written(start, end, state) => {
                    let rows = range(start, end, count);
                    let writer = validity.need_mutable().unwrap();
                    let part = writer.part(rows.clone()).unwrap();
                    part.fill(.., state).unwrap();
                    flags[rows.clone()].fill(state);
                    if !rows.is_empty() {
                        part.set(0, !state).unwrap();
                        flags[rows.start] = !state;
                    }
                    prop_assert!(part.set(rows.len(), state).is_err() && writer.part(count..count + 1).is_err());
                    prop_assert!(writer.fill(..count + 1, state).is_err());
                    prop_assert!((0..count + 1).all(|row| writer.is_present(row) == flags.get(row).copied()));
                    let words: Vec<u64> = (0..count + 1).map(|row| writer.word_at(row)).collect();
                    prop_assert_eq!(words, (0..count + 1).map(|row| validity.word_at(row)).collect::<Vec<_>>());
                }
                Change::Word(row, word) => {
                    let start = row.index(count + 1);
                    let end = (start + (word.count_ones() as usize * 2).min(64)).min(count);
                    let writer = validity.need_mutable().unwrap();
                    writer.write_word(start..end, word).unwrap();
                    prop_assert!(writer.write_word(0..65, word).is_err());
                    (start..end).for_each(|row| flags[row] = word >> (row - start) & 1 == 1);
                }
                Change::Count => {
                    prop_assert_eq!(validity.missing_count(), flags.iter().filter(|flag| !**flag).count());
                }
                Change::Keep => kept.push(current.clone()),
                Change::Swap => std::mem::swap(&mut current, &mut other),
            }
            prop_assert_eq!(&current.0.to_flags().unwrap(), &current.1);
        }
        for (validity, flags) in kept.iter().chain([&current, &other]) {
            check(validity, flags);
        }
    }
}
