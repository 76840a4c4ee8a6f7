//! Parts of slices, converted into new arrays a few lines at a time.

use super::*;
use crate::convert::kernel::{part_to_array, read_rows_of};

fn parts_become_arrays<S: Element>(target: ElementType, random: &mut Random) {
    let parts = [(0, 0..0), (1, 0..1), (700, 0..700), (700, 3..260), (700, 63..129), (40, 39..40), (40, 40..40)];
    for (turn, (count, part)) in parts.into_iter().enumerate() {
        let answers = Answers::<S>::random(target, POLICIES[turn % POLICIES.len()], count, 1000, random);
        let (values, policy) = (AnySlice::new(&answers.values), answers.policy);
        let found = part_to_array(values, part.clone(), target, policy, Origin::default());
        match part.clone().find(|&index| answers.is_refused(index)) {
            None => {
                let expected = answers.converted.as_slice().range(part.clone());
                assert_eq!(found.unwrap().as_slice().bytes(), expected.bytes(), "{part:?} of {} to {target}", S::TYPE);
            }
            Some(index) => {
                let error = found.unwrap_err().into_kind();
                assert!(
                    matches!(error, ErrorKind::ValueNotRepresentable { row, column: 0, .. } if row == index - part.start),
                    "{part:?} of {} to {target}: {error:?}",
                    S::TYPE
                );
            }
        }
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
        let refused = (start..start + count).find(|&index| answers.is_refused(index));
        match_element!(target, D => {
            let mut found = vec![D::default(); count];
            let rows = AnyRows::new(AnySliceMut::new(&mut found).into_room(), count, 1);
            let read = read_rows_of(|| usize::MAX, window, rows, answers.policy, origin, OldValues::Lost);
            match refused {
                None => {
                    read.unwrap();
                    let expected = answers.converted.as_slice().range(start..start + count);
                    assert!(AnySlice::new(&found).bytes() == expected.bytes(), "{count} of {} to {target}", S::TYPE);
                }
                Some(index) => assert!(
                    matches!(read.unwrap_err().kind(), ErrorKind::ValueNotRepresentable { row, .. } if *row == index - start),
                    "{count} of {} to {target}",
                    S::TYPE
                ),
            }
        });
    }
}

#[test]
fn parts_of_large_memory_become_rows_as_the_rule_says() {
    let mut random = Random(0x1A26_E0FF);
    at_every_level(|| for_every_pair!(parts_of_large_memory_are_rows(&mut random)));
}
