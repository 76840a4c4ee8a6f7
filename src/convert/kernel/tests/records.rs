//! Whole records that become rows of `f64`: fields of any types, in any order and at any distance, against the rule.

use super::*;
use crate::base::cache::BEYOND_CACHES;
use crate::convert::kernel::RecordLoop;

/// A type, and an offset in the record.
type Field = (ElementType, usize);

fn loop_of(fields: &[Field], size: usize) -> Option<RecordLoop> {
    RecordLoop::new(fields.iter().copied(), size)
}

/// Returns fields in any order, aligned to words, and the size of the record, which may begin and end with padding.
fn fields(types: &[ElementType], random: &mut Random) -> (Vec<Field>, usize) {
    let mut end = 4 * random.below(3);
    let mut fields = Vec::new();
    for _ in 0..1 + random.below(9) {
        let element = types[random.below(types.len())];
        fields.push((element, end));
        end += element.size_in_bytes().next_multiple_of(4) + if random.below(4) == 0 { 4 * random.below(4) } else { 0 };
    }
    if random.below(3) == 0 {
        fields.reverse();
    }
    (fields, end)
}

/// Writes any value of a type, or any bits. Returns what the value converts to.
fn write<S: Element>(place: &mut [u8], random: &mut Random) -> f64 {
    let value = match random.below(2) {
        0 => value::<S>(random),
        _ => {
            place.iter_mut().for_each(|byte| *byte = random.next() as u8);
            bytemuck::pod_read_unaligned(place)
        }
    };
    place.copy_from_slice(bytemuck::bytes_of(&value));
    crate::convert::cast(value)
}

/// Converts records with a loop, and checks every place of the target.
fn check(records: &RecordLoop, fields: &[Field], size: usize, random: &mut Random) {
    let most = [40, 40, 700][random.below(3)]; // results below 8 KiB, and others, which may be requested
    let (rows, gap) = (random.below(most), [0, 0, 3][random.below(3)]);
    let (first, columns) = (random.below(3), fields.len());
    // No byte follows the last field of the last record, so that AddressSanitizer finds a read past it.
    let end = fields.iter().map(|(element, offset)| offset + element.size_in_bytes()).max().unwrap();
    let mut bytes = vec![0_u8; ((first + rows) * size).saturating_sub(size - end)];
    let stride = columns + gap;
    let (mut found, mut expected) = (vec![0.5_f64; rows * stride], vec![0.5_f64; rows * stride]);
    for row in 0..rows {
        for (column, &(element, offset)) in fields.iter().enumerate() {
            let place = &mut bytes[(first + row) * size + offset..][..element.size_in_bytes()];
            expected[row * stride + column] = match_element!(element, S => write::<S>(place, random));
        }
    }
    let memory = [0, BEYOND_CACHES][random.below(2)];
    // SAFETY: the bytes of all fields of the records from `first` on, and rows of results, none of which is shared.
    unsafe { records.convert(bytes.as_ptr().wrapping_add(first * size), rows, found.as_mut_ptr(), stride, memory) };
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&found), bits(&expected), "{rows} rows of {fields:?} in {size} bytes, {stride} apart");
}

#[test]
fn records_become_rows_as_the_rule_says() {
    let Some(level) = levels().into_iter().find(|level| level.has_avx512()) else { return };
    let mut random = Random(0x2EC0_2D50);
    let usual = [ElementType::F32, ElementType::F64, ElementType::I32];
    let all = [usual.as_slice(), &[ElementType::U32, ElementType::I64, ElementType::U64]].concat();
    let mut numbers = [0; 9];
    for turn in 0..3000 {
        let types = if turn % 2 == 0 { &usual[..] } else { &all };
        let (fields, size) = fields(types, &mut random);
        if let Some(records) = loop_of(&fields, size) {
            assert!(records.is_for(level, ElementType::F64, ConversionPolicy::Checked));
            check(&records, &fields, size, &mut random);
            numbers[fields.len()] += 1;
        }
    }
    assert_eq!(numbers[..2], [0; 2]);
    assert!(numbers[2..].iter().all(|&number| number > 20), "{numbers:?}");
}

#[test]
fn records_that_no_vector_holds_have_no_loop() {
    use ElementType::{F32, F64, I16, I64};
    let eight = |last: usize| (0..8).map(|index| (F32, if index < 7 { 4 * index } else { last })).collect::<Vec<_>>();
    assert!(loop_of(&eight(60), 100).is_some());
    assert!(loop_of(&eight(64), 100).is_none(), "the last field ends behind the vector");
    assert!(loop_of(&[(F64, 1000), (F32, 1056)], 5000).is_some(), "only the fields are in the vector");
    assert!(loop_of(&[(F64, 1000), (F64, 1060)], 5000).is_none());
    assert!(loop_of(&(0..9).map(|index| (F32, 4 * index)).collect::<Vec<_>>(), 36).is_none(), "nine results");
    assert!(loop_of(&[], 8).is_none() && loop_of(&[(F64, 0)], 8).is_none(), "fewer fields than two");
    assert!(loop_of(&[(F32, 0), (I16, 4)], 8).is_none(), "a field of another size");
    assert!(loop_of(&[(F32, 0), (F32, 6)], 12).is_none(), "a field between two words");
    assert!(loop_of(&[(F32, 0), (I64, 8)], usize::MAX / 2).is_some(), "records that are far from each other");
}

#[test]
fn loops_are_for_results_of_one_type_and_policies_that_refuse_nothing() {
    use ConversionPolicy::{Checked, Exact, Saturate};
    let [exact, rounded] =
        [ElementType::U32, ElementType::U64].map(|last| loop_of(&[(last, 0), (ElementType::F32, 8)], 16).unwrap());
    for level in levels() {
        let is_for = |records: &RecordLoop, policy| records.is_for(level, ElementType::F64, policy);
        assert_eq!([Saturate, Checked, Exact].map(|policy| is_for(&exact, policy)), [level.has_avx512(); 3]);
        let permitted = [level.has_avx512(), level.has_avx512(), false];
        assert_eq!([Saturate, Checked, Exact].map(|policy| is_for(&rounded, policy)), permitted);
        assert!(!exact.is_for(level, ElementType::F32, Saturate));
    }
}
