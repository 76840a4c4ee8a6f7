//! Parts of slices, converted into new arrays a few lines at a time.

use super::*;
use crate::convert::kernel::part_to_array;

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
