//! Parts of slices, converted into new arrays, and of large memory, converted into rows: with requests for what follows.

use super::*;
use crate::convert::kernel::{part_to_array, read_rows_of};

/// Checks the bytes, or the error, of a part of the values that was converted as one column.
fn assert_part<S: Element>(answers: &Answers<S>, part: Range<usize>, found: std::result::Result<&[u8], &Error>) {
    let name = format!("{part:?} of {} to {}", S::TYPE, answers.target);
    match part.clone().find(|&index| answers.is_refused(index)) {
        None => assert!(found.unwrap() == answers.converted.as_slice().range(part).bytes(), "{name}"),
        Some(index) => {
            let error = found.unwrap_err().kind();
            assert!(
                matches!(error, ErrorKind::ValueNotRepresentable { row, column: 0, .. } if *row == index - part.start),
                "{name}: {error:?}"
            );
        }
    }
}

fn parts_become_arrays<S: Element>(target: ElementType, random: &mut Random) {
    let parts = [(0, 0..0), (1, 0..1), (700, 0..700), (700, 3..260), (700, 63..129), (40, 39..40), (40, 40..40)];
    for (turn, (count, part)) in parts.into_iter().enumerate() {
        let answers = Answers::<S>::random(target, POLICIES[turn % POLICIES.len()], count, 1000, random);
        let (values, policy) = (AnySlice::new(&answers.values), answers.policy);
        let found = part_to_array(values, part.clone(), target, policy, Origin::default());
        assert_part(&answers, part, found.as_ref().map(|array| array.as_slice().bytes()));
    }
}

#[test]
fn parts_of_slices_become_arrays_as_the_rule_says() {
    let mut random = Random(0x9A27_11E5);
    at_every_level(|| for_every_pair!(parts_become_arrays(&mut random)));
}

fn parts_of_large_memory_are_rows<S: Element>(target: ElementType, random: &mut Random) {
    // Results of 8 KiB and more, which are requested, and of less.
    let cases = [(0, 1020), (0, 2048), (3, 2049), (1, 8273)].into_iter();
    for ((start, count), policy) in cases.flat_map(|case| POLICIES.map(|policy| (case, policy))) {
        let answers = Answers::<S>::random(target, policy, start + count, 20_000, random);
        let values = AnySlice::new(&answers.values).range(start..start + count);
        let (window, origin) = (AnyWindow::of_rows(values, count, 1), Origin::default());
        match_element!(target, D => {
            let mut found = vec![D::default(); count];
            let rows = AnyRows::new(AnySliceMut::new(&mut found).into_room(), count, 1);
            let read = read_rows_of(|| usize::MAX, window, rows, answers.policy, origin, OldValues::Lost);
            let found = AnySlice::new(&found).bytes();
            assert_part(&answers, start..start + count, read.as_ref().map(|()| found));
        });
    }
}

#[test]
fn parts_of_large_memory_become_rows_as_the_rule_says() {
    let mut random = Random(0x1A26_E0FF);
    at_every_level(|| for_every_pair!(parts_of_large_memory_are_rows(&mut random)));
}
