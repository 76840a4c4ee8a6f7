//! A few values written back into contiguous memory, with any number of changes among them.

use super::memory::are_same;
use super::*;

/// Around the largest number of values that are written as a few, and around the steps in which they are compared.
const COUNTS: [usize; 18] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100];

/// Around the largest number of changes that are converted one by one.
const CHANGES: [usize; 7] = [0, 1, 2, 7, 8, 9, usize::MAX];

/// Writes back blocks of `U` that show values of `T`, and compares the values with the rule, one by one.
fn write_back<T: Element, U: Element>(levels: &[Level], random: &mut Random) {
    for (count, changes) in COUNTS.iter().flat_map(|&count| CHANGES.map(|changes| (count, changes.min(count)))) {
        let before: Vec<T> = (0..count).map(|_| value(random)).collect();
        let shown: Vec<U> = before.iter().map(|&value| number::convert(value)).collect();
        for policy in POLICIES {
            let mut block = shown.clone();
            let mut is_refused = false;
            let mut expected = before.clone();
            let first = random.below(count.max(1));
            for place in (0..changes).map(|index| (first + index * 7) % count) {
                let new = loop {
                    let new = value::<U>(random);
                    let is_permitted = policy.permits(T::loss(new.exact()));
                    if is_permitted || random.below(20) == 0 {
                        break new;
                    }
                };
                block[place] = new;
            }
            for ((expected, &new), shown) in expected.iter_mut().zip(&block).zip(&shown) {
                if !new.is_same(*shown) {
                    is_refused |= !policy.permits(T::loss(new.exact()));
                    *expected = number::convert(new);
                }
            }
            for (&level, offset) in levels.iter().flat_map(|level| [0, 3].map(|offset| (level, offset))) {
                let mut memory = vec![T::default(); offset];
                memory.extend_from_slice(&before);
                let rule = WriteRule { policy, keep_unchanged: true };
                let result = with_level(level, || {
                    let window = WindowMut::new(&mut memory[offset..], shape(1, count, count, 1)).unwrap();
                    T::write(window, AnySlice::new(&block), rule, Origin::default())
                });
                let case = format!("{} in {}, {level:?}, {policy}: {changes} of {count}", U::TYPE, T::TYPE);
                assert_eq!(result.is_err(), is_refused, "{case}");
                let expected = if is_refused { &before } else { &expected };
                assert!(are_same(&memory[offset..], expected), "{case}");
            }
        }
    }
}

#[test]
fn only_changes_are_checked_and_written_whatever_their_number() {
    let (levels, mut random) = (levels(), Random(0x5EED_0B01));
    write_back::<f32, f64>(&levels, &mut random);
    write_back::<f64, f32>(&levels, &mut random);
    write_back::<f64, i32>(&levels, &mut random);
    write_back::<i32, f64>(&levels, &mut random);
    write_back::<i64, f64>(&levels, &mut random);
    write_back::<u8, f32>(&levels, &mut random);
    write_back::<i8, u8>(&levels, &mut random);
    write_back::<u16, i64>(&levels, &mut random);
    write_back::<f32, half::f16>(&levels, &mut random);
    write_back::<half::f16, f32>(&levels, &mut random);
    write_back::<half::bf16, half::f16>(&levels, &mut random);
}
