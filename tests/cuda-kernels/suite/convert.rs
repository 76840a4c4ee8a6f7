//! Contiguous values: every pair of types, every policy.

use cuda_kernels_tests::base::element::Element;
use cuda_kernels_tests::{Emulator, Kernel};
use half::{bf16, f16};

use crate::source::{Form, convert_entry};
use crate::support::{Random, bits_of, each_pair, emulator, emulators, permits, some_values, values};

/// What the rule says of a value: the bits of the result. Equal types keep all bits.
fn expected<S: Element, T: Element>(value: S) -> u64 {
    if S::TYPE == T::TYPE { bits_of(value) } else { bits_of(T::nearest(value.exact())) }
}

/// A contiguous conversion by several blocks; returns the first refused index.
fn convert<S: Element, T: Element>(
    emulator: &Emulator,
    kernel: Kernel,
    (input, output): (&[S], &mut [T]),
    policy: i32,
) -> Option<usize> {
    assert_eq!(input.len(), output.len());
    let mut refused = u64::MAX;
    let (from, to) = (input.as_ptr() as u64, output.as_mut_ptr() as u64);
    let arguments = [from, to, input.len() as u64, policy as u64, &raw mut refused as u64];
    // SAFETY: both slices have that number of values, and the arguments are those of `convert_{S}_{T}`.
    unsafe { emulator.launch(kernel, 3, false, &arguments) };
    (refused != u64::MAX).then_some(refused as usize)
}

#[test]
fn every_value_is_converted_and_refused_as_the_rule_says() {
    fn check<S: Element, T: Element>(emulator: &Emulator, compared: &mut usize) {
        let kernel = emulator.kernel(&convert_entry(Form::Contiguous, S::TYPE, T::TYPE));
        let pair = format!("{} to {}", S::TYPE, T::TYPE);
        let input = values::<S>();
        let expected: Vec<u64> = input.iter().map(|&value| expected::<S, T>(value)).collect();
        // By groups, all at once.
        let mut output = vec![T::default(); input.len()];
        assert_eq!(convert(emulator, kernel, (&input, &mut output), 0), None);
        for ((value, &found), &expected) in input.iter().zip(&output).zip(&expected) {
            assert_eq!(bits_of(found), expected, "{pair}: {value:?} = {:#x}", bits_of(*value));
        }
        let losses: Vec<_> = input.iter().map(|&value| T::loss(value.exact())).collect();
        for policy in [0, 1, 2] {
            // One by one.
            let mut output = vec![T::default(); input.len()];
            // SAFETY: it is the kernel of these types.
            let refused = unsafe { emulator.each(kernel, &input, &mut output, policy) };
            for (((value, &found), &expected), (&refused, &loss)) in
                input.iter().zip(&output).zip(&expected).zip(refused.iter().zip(&losses))
            {
                let bits = bits_of(*value);
                assert_eq!(bits_of(found), expected, "{pair}: {value:?} = {bits:#x}");
                assert_eq!(refused, !permits(policy, loss), "{pair}: {value:?} = {bits:#x}, policy {policy}, {loss:?}");
            }
            // All at once: the first one is reported, wherever the values begin.
            let found = convert(emulator, kernel, (&input, &mut output), policy);
            assert_eq!(found, losses.iter().position(|&loss| !permits(policy, loss)), "{pair}, policy {policy}");
        }
        *compared += input.len();
    }

    let Some(emulator) = emulator() else { return };
    let mut compared = 0;
    each_pair!(check, emulator, &mut compared);
    println!("{compared} values, each with three policies");
}

#[test]
fn every_alignment_and_length_converts_all_values_and_no_others() {
    fn check<S: Element, T: Element>(emulator: &Emulator, random: &mut Random) {
        let kernel = emulator.kernel(&convert_entry(Form::Contiguous, S::TYPE, T::TYPE));
        let pool = some_values::<S>();
        let pair = format!("{} to {}", S::TYPE, T::TYPE);
        for round in 0..60 {
            let count = if round % 6 == 0 { random.below(20_000) } else { random.below(200) };
            let (from, to) = (random.below(20), random.below(20));
            let (from, to) = if round % 2 == 0 { (from, from) } else { (from, to) };
            let input: Vec<S> = (0..from + count).map(|_| pool[random.below(pool.len())]).collect();
            let mut output = vec![T::default(); to + count + 20];
            let policy = round % 3;
            let room = &mut output[to..to + count];
            let found = convert(emulator, kernel, (&input[from..], room), policy);
            let losses = input[from..].iter().map(|value| T::loss(value.exact()));
            assert_eq!(found, losses.into_iter().position(|loss| !permits(policy, loss)), "{pair}: first refused");
            let zeros = |count| std::iter::repeat_n(0, count);
            let wanted = zeros(to).chain(input[from..].iter().map(|&value| expected::<S, T>(value))).chain(zeros(20));
            assert!(output.iter().map(|&value| bits_of(value)).eq(wanted), "{pair}: {count} from {from} to {to}");
        }
    }

    for emulator in emulators() {
        each_pair!(check, emulator, &mut Random(11));
    }
}
