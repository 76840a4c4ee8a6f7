//! Bitmaps of missing rows against a flag for each row: every offset, every length around a word, bits beside the rows.
//!
//! Sequences of changes are in `sequences`.

mod sequences;

use numeric_table::array::Validity;
use numeric_table::trace::copies_of;
use numeric_table::{Array, ErrorKind};
use test_support::DropCount;
use test_support::bits::Random;
use test_support::sized;

use super::from_raw;

/// Returns flags: half of them set, few, most, none, all, or in long runs.
fn random_flags(random: &mut Random, count: usize) -> Vec<bool> {
    let density = [0, 3, 50, 97, 100][random.below(5)];
    let run = [1, 1, 40, 150][random.below(4)];
    let mut flags = Vec::new();
    while flags.len() < count {
        let flag = random.below(100) < density;
        flags.resize(flags.len() + 1 + random.below(run), flag);
    }
    flags.truncate(count);
    flags
}

/// Returns a bitmap of the flags from bit `offset` on, among random bits.
fn among_others(random: &mut Random, offset: usize, flags: &[bool]) -> Validity {
    let count = (offset + flags.len()).div_ceil(8) + random.below(3);
    let mut bytes: Vec<u8> = (0..count).map(|_| random.next() as u8).collect();
    for (row, flag) in flags.iter().enumerate() {
        let (byte, bit) = ((offset + row) / 8, (offset + row) % 8);
        bytes[byte] = bytes[byte] & !(1 << bit) | u8::from(*flag) << bit;
    }
    Validity::new(bytes, offset, flags.len()).unwrap()
}

/// Compares everything that can be read with the flags.
#[track_caller]
fn check(validity: &Validity, flags: &[bool]) {
    let count = flags.len();
    let missing: Vec<usize> = (0..count).filter(|&row| !flags[row]).collect();
    assert_eq!(validity.to_flags().unwrap(), flags);
    assert_eq!((validity.len(), validity.is_empty()), (count, count == 0));
    assert_eq!((validity.missing_count(), validity.has_missing()), (missing.len(), !missing.is_empty()));
    assert_eq!(validity.missing_rows().collect::<Vec<_>>(), missing);

    let word = |row: usize| {
        let flags = flags.get(row..).unwrap_or_default().iter().take(64);
        flags.enumerate().fold(0, |word, (bit, flag)| word | u64::from(*flag) << bit)
    };
    assert_eq!(validity.words().len(), count.div_ceil(64));
    assert!(validity.words().eq((0..count).step_by(64).map(word)));
    for row in (0..count).step_by(sized(1, 13)).chain([count, count + 1, count + 64, usize::MAX]) {
        assert_eq!(validity.is_present(row), flags.get(row).copied());
        assert_eq!(validity.is_missing(row), flags.get(row).map(|flag| !flag));
        assert_eq!(validity.word_at(row), word(row), "row {row}");
        let first = (row..count).find(|&row| !flags[row]);
        assert_eq!(validity.first_missing(row..usize::MAX), first);
        assert_eq!(validity.first_missing(row..first.unwrap_or(count)), None);
    }

    for first_row in [0, 1, 7, 64, count / 2, count, usize::MAX] {
        let mut part = vec![true; count % 97 + 64];
        validity.write_flags(first_row, &mut part);
        let state =
            |index: usize| first_row.checked_add(index).and_then(|row| flags.get(row).copied()).unwrap_or(false);
        assert!(part.iter().enumerate().all(|(index, flag)| *flag == state(index)));
    }

    let mut runs: Vec<(std::ops::Range<usize>, bool)> = Vec::new();
    for (row, &flag) in flags.iter().enumerate() {
        match runs.last_mut() {
            Some((rows, is_present)) if *is_present == flag => rows.end = row + 1,
            _ => runs.push((row..row + 1, flag)),
        }
    }
    assert_eq!(validity.runs().collect::<Vec<_>>(), runs);

    let mut packed = vec![0_u8; count.div_ceil(8)];
    flags.iter().enumerate().for_each(|(row, flag)| packed[row / 8] |= u8::from(*flag) << (row % 8));
    assert_eq!(validity.to_packed().unwrap()[..], packed);
    let (offset, bits) = (validity.offset(), validity.bits());
    assert!(offset < 8 && bits.len() == if count == 0 { 0 } else { (offset + count).div_ceil(8) });
    assert!((0..count).all(|row| (bits[(offset + row) / 8] >> ((offset + row) % 8) & 1 == 1) == flags[row]));
    assert_eq!(*validity, Validity::new(packed, 0, count).unwrap());
}

#[test]
fn every_offset_and_length_is_read_as_the_flags() {
    let mut random = Random::new(33);
    let lengths = [0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129];
    for offset in (0..=130).step_by(sized(1, 33)) {
        for length in lengths.into_iter().chain([random.below(300)]) {
            let flags = random_flags(&mut random, length);
            check(&among_others(&mut random, offset, &flags), &flags);
        }
    }
    for length in (0..=300).step_by(sized(1, 50)) {
        let (offset, flags) = (random.below(131), random_flags(&mut random, length));
        check(&among_others(&mut random, offset, &flags), &flags);
    }
}

#[test]
fn bitmaps_are_made_from_flags_functions_and_numbers() {
    let mut random = Random::new(34);
    for length in (0..=300).step_by(sized(1, 50)).chain([sized(1023, 63), sized(1024, 64), sized(3000, 130)]) {
        let flags = random_flags(&mut random, length);
        check(&Validity::from_flags(&flags).unwrap(), &flags);
        let mut rows = 0..;
        let from_fn = Validity::from_fn(length, |row| {
            assert_eq!(Some(row), rows.next(), "once each, in order");
            flags[row]
        });
        check(&from_fn.unwrap(), &flags);
        check(&Validity::all_present(length).unwrap(), &vec![true; length]);
        check(&Validity::all_missing(length).unwrap(), &vec![false; length]);
    }
}

#[test]
fn bitmaps_are_made_from_others_at_any_two_offsets() {
    let mut random = Random::new(35);
    for _ in 0..sized(300, 5) {
        let (length, offset) = (random.below(301), random.below(131));
        let flags = random_flags(&mut random, length);
        let validity = among_others(&mut random, offset, &flags);
        let start = random.below(length + 1);
        let end = start + random.below(length - start + 1);

        let slice = validity.slice(start..end).unwrap();
        check(&slice, &flags[start..end]);
        assert!(start == end || slice.bits().shares_memory_with(validity.bits()));

        let (other_length, other_offset) = (random.below(301), random.below(131));
        let other_flags = random_flags(&mut random, other_length);
        let other = among_others(&mut random, other_offset, &other_flags);

        let (at, mut target, mut expected) = (random.below(other_length + 1), other.clone(), other_flags.clone());
        let fits = at + slice.len() <= other_length;
        assert_eq!(target.copy_from(at, &slice).is_ok(), fits);
        if fits {
            expected[at..at + slice.len()].copy_from_slice(&flags[start..end]);
        }
        check(&target, &expected);
        check(&other, &other_flags); // a copy was written

        let is_kept = random_flags(&mut random, length);
        let kept: Vec<bool> = (0..length).filter(|&row| is_kept[row]).map(|row| flags[row]).collect();
        check(&validity.filter(&is_kept).unwrap(), &kept);

        let rows: Vec<usize> =
            (0..if length == 0 { 0 } else { random.below(200) }).map(|_| random.below(length)).collect();
        let taken: Vec<bool> = rows.iter().map(|&row| flags[row]).collect();
        check(&validity.take(&rows).unwrap(), &taken);

        let is_present = random.below(2) == 0;
        let mut resized = flags.clone();
        resized.resize(other_length, is_present);
        check(&validity.resized(other_length, is_present).unwrap(), &resized);

        let again = random_flags(&mut random, length);
        let both: Vec<bool> = flags.iter().zip(&again).map(|(first, second)| first & second).collect();
        check(&validity.and(&among_others(&mut random, other_offset, &again)).unwrap(), &both);

        let joined = [&flags[..], &vec![true; at], &flags[start..end], &other_flags].concat();
        let parts = [(Some(&validity), length), (None, at), (Some(&slice), slice.len()), (Some(&other), other_length)];
        match Validity::concat(&parts).unwrap() {
            Some(concatenated) => check(&concatenated, &joined),
            None => assert!(joined.iter().all(|flag| *flag)),
        }
    }
}

#[test]
fn bitmaps_are_equal_if_their_rows_are() {
    let mut random = Random::new(36);
    for _ in 0..sized(500, 5) {
        let length = random.below(200);
        let flags = random_flags(&mut random, length);
        let [first, second] = [random.below(70), random.below(70)].map(|at| among_others(&mut random, at, &flags));
        assert_eq!(first, second);
        if length > 0 {
            let mut third = second.clone();
            let row = random.below(length);
            third.set(row, !flags[row]).unwrap();
            assert_ne!(first, third);
            assert_ne!(first, second.slice(1..).unwrap());
        }
    }
    let validity = Validity::new(vec![0b0101_u8], 1, 3).unwrap();
    assert_eq!(format!("{validity:?}"), "Validity { len: 3, missing: [0, 2] }");
}

#[test]
fn joining_returns_nothing_if_no_row_is_missing_and_shares_a_lone_bitmap() {
    let present = Validity::all_present(9).unwrap();
    let missing = Validity::from_fn(9, |row| row != 5).unwrap();
    let empty = Validity::all_present(0).unwrap();
    assert_eq!(Validity::concat(&[]).unwrap(), None);
    assert_eq!(Validity::concat(&[(Some(&present), 9), (None, 4), (Some(&empty), 0)]).unwrap(), None);
    assert_eq!(Validity::concat(&[(None, usize::MAX)]).unwrap(), None);
    let alone = Validity::concat(&[(None, 0), (Some(&empty), 0), (Some(&missing), 9)]).unwrap().unwrap();
    assert!(alone.bits().shares_memory_with(missing.bits()));
    assert_eq!(alone, missing);
}

#[test]
fn writes_copy_shared_and_foreign_bytes_first_and_only_those_of_the_rows() {
    let drops = DropCount::new();
    let foreign = from_raw(vec![0b1010_1010_u8; 1000], &drops);
    let mut validity = Validity::new(foreign, 8 * 500 + 3, 20).unwrap();
    let clone = validity.clone();
    let flags = clone.to_flags().unwrap();

    validity.set(0, flags[0]).unwrap(); // changes nothing
    validity.fill(7..7, true).unwrap();
    validity.copy_from(20, &Validity::all_missing(0).unwrap()).unwrap();
    assert!(validity.bits().shares_memory_with(clone.bits()));

    let (_, copies) = copies_of(|| validity.set(0, !flags[0]).unwrap());
    assert_eq!(copies.total().bytes, 3);
    assert!(!validity.bits().shares_memory_with(clone.bits()));
    assert_eq!(validity.is_present(0), Some(!flags[0]));
    check(&clone, &flags);
    let ((), copies) = copies_of(|| validity.fill(3..9, true).unwrap());
    assert!(copies.is_empty()); // its own by now

    drop(clone);
    assert_eq!(drops.get(), 1);
}

#[test]
fn packed_bytes_and_shorter_bitmaps_share_memory() {
    let packed = Validity::new(vec![0b0110_1101_u8, 0b0000_0101], 0, 11).unwrap();
    assert!(packed.to_packed().unwrap().shares_memory_with(packed.bits()));
    let hidden = Validity::new(vec![0b0110_1101_u8, 0b0000_1101], 0, 11).unwrap();
    assert!(!hidden.to_packed().unwrap().shares_memory_with(hidden.bits()));
    assert!(packed.resized(5, true).unwrap().bits().shares_memory_with(packed.bits()));
    assert!(packed.resized(11, true).unwrap().bits().shares_memory_with(packed.bits()));
    let present = Validity::all_present(11).unwrap();
    assert!(present.and(&packed).unwrap().bits().shares_memory_with(packed.bits()));
    assert!(packed.and(&present).unwrap().bits().shares_memory_with(packed.bits()));
}

#[test]
#[cfg_attr(miri, ignore = "Miri ends where memory ends")]
fn hostile_numbers_are_errors_that_change_nothing() {
    const HUGE: [usize; 4] = [usize::MAX, usize::MAX - 7, usize::MAX / 2, 1 << (usize::BITS - 2)];
    let all = [HUGE, [0, 1, 7, 16]].concat();
    for (offset, length) in all.iter().flat_map(|&offset| all.iter().map(move |&length| (offset, length))) {
        match Validity::new(vec![0xFF_u8; 2], offset, length) {
            Ok(_) => assert!(offset + length <= 16),
            Err(error) => {
                let bytes = (offset as u128 + length as u128).div_ceil(8);
                assert!(length == 0 || bytes > 2);
                assert!(
                    matches!(error.kind(), ErrorKind::ArrayLength { have: 2, need } if length == 0 || *need as u128 == bytes)
                );
            }
        }
    }
    let mut validity = Validity::new(vec![0b1010_0110_u8, 0b0101_1010], 1, 13).unwrap();
    let before = validity.clone();
    for huge in HUGE {
        let huge_range =
            matches!(validity.slice(huge..).unwrap_err().kind(), ErrorKind::OutOfRange { what: "rows", .. });
        assert!(huge_range);
        assert!(validity.slice(..huge).is_err() && validity.slice(..=huge).is_err());
        #[expect(clippy::reversed_empty_ranges, reason = "that is the error")]
        let backwards = validity.slice(5..4);
        assert!(backwards.is_err());
        assert!(validity.set(huge, true).is_err());
        assert!(validity.fill(3..huge, true).is_err() && validity.fill(huge..huge, true).is_err());
        assert!(validity.copy_from(huge, &before).is_err() && validity.copy_from(1, &before).is_err());
        assert!(validity.take(&[0, huge]).is_err());
        let parts = [(None, huge), (None, huge), (None, huge), (None, huge), (None, 7), (Some(&before), 13)];
        let error = Validity::concat(&parts).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::LimitExceeded { what: "rows", .. }), "{error}");
        assert_eq!(validity.first_missing(huge..usize::MAX), None);
        validity.write_flags(huge, &mut [true; 9]);
    }
    for length in [usize::MAX, usize::MAX - 7, usize::MAX / 2] {
        if cfg!(miri) || usize::BITS == 32 {
            break; // Miri ends at an allocation that is refused; with 32 bits, one bit for each row is half a gigabyte
        }
        assert!(Validity::all_present(length).is_err() && Validity::all_missing(length).is_err());
        assert!(Validity::from_fn(length, |_| unreachable!("there is no memory")).is_err());
        assert!(validity.resized(length, true).is_err());
        assert!(Validity::concat(&[(None, length - 13), (Some(&before), 13)]).is_err());
    }
    for length in [0, 12, 14, 200] {
        assert!(matches!(
            validity.filter(&vec![true; length]).unwrap_err().kind(),
            ErrorKind::LengthMismatch { expected: 13, actual } if *actual == length
        ));
        assert!(validity.and(&Validity::all_present(length).unwrap()).is_err());
        assert!(Validity::concat(&[(Some(&validity), length)]).is_err());
    }
    let error = validity.set(13, true).unwrap_err();
    assert_eq!(error.message().to_string(), "index 13 is out of range: there are 13 rows");
    assert_eq!(validity, before);
    assert!(validity.bits().shares_memory_with(before.bits()));
}

#[test]
fn bytes_of_another_owner_are_shared() {
    static BYTES: [u8; 3] = [0b1111_0000, 0xFF, 0b0000_0001];
    let validity = Validity::new(&BYTES[..], 4, 13).unwrap();
    assert_eq!((validity.bits().as_ptr(), validity.has_missing()), (BYTES.as_ptr(), false));
    let array = Array::from(&BYTES[..]);
    let second = Validity::new(array.clone(), 9, 2).unwrap();
    assert!(second.bits().shares_memory_with(&array));
    assert_eq!((second.offset(), second.bits().len()), (1, 1));
}
