//! Every value that may distinguish one rule from another: converted, rejected and counted, among others and alone.

use super::memory::{Memory, memory};
use super::*;

/// Returns every value of 8 and 16 bits. For wider types, returns the limits of every other type, NaNs, and random
/// bits.
fn telling_values<S: Element>(random: &mut Random) -> Vec<S> {
    if size_of::<S>() <= 2 {
        return (0..1 << (8 * size_of::<S>())).map(from_bits).collect();
    }
    let mut values: Vec<S> = (0..20_000).map(|_| from_bits(random.next())).collect();
    for power in 0..=64 {
        for near in [-2, -1, 0, 1, 2] {
            let integer = (1_i128 << power) + near;
            values.extend([integer, -integer].map(|integer| S::nearest(number::Exact::Integer(integer))));
        }
    }
    for power in -150..=130 {
        let float = 2f64.powi(power);
        // Neighbors of powers of two, and of the ties of each narrower float.
        for step in [0.0, 0.5, 2f64.powi(-8), 2f64.powi(-9), 2f64.powi(-11), 2f64.powi(-12), 2f64.powi(-24)] {
            let tie = float * (1.0 + step);
            for near in [tie.next_down(), tie, tie.next_up(), tie * (1.0 + 2f64.powi(-40))] {
                values.extend([near, -near].map(|near| S::nearest(number::Exact::Float(near))));
            }
        }
    }
    values.extend((0..200).map(|_| value::<S>(random)));
    values.extend(nan::nans::<S>(random));
    values
}

/// Runs a test with the distinguishing values of each type and their results in every type.
macro_rules! for_telling_values {
    ($seed:literal, $test:ident) => {
        let (levels, mut random) = (levels(), Random($seed));
        for &source in ElementType::ALL {
            match_element!(source, S => {
                let values = telling_values::<S>(&mut random);
                for (_, target) in tried_pairs().filter(|&(tried, _)| tried == source) {
                    let answers = Answers::<S>::new(target, ConversionPolicy::Saturate, values.clone());
                    levels.iter().for_each(|&level| with_level(level, || $test(&answers)));
                }
            });
        }
    };
}

/// Compares the entire memory with the rule.
fn assert_converted<S: Element>(answers: &Answers<S>, memory: &mut dyn Memory) {
    let all: Vec<usize> = (0..answers.values.len()).collect();
    memory.expect(&all, answers.converted.as_slice(), &all);
    let (source, target) = (S::TYPE, answers.target);
    assert!(memory.is_as_expected(), "{source} to {target}, {:?}: {:?}", Level::chosen(), memory.first_difference());
}

#[test]
fn every_pair_converts_telling_values_like_the_rule_at_every_level() {
    fn test<S: Element>(answers: &Answers<S>) {
        let &Answers { target, ref values, .. } = answers;
        let array = S::to_array(Window::column(values), target, ConversionPolicy::Saturate, Origin::default()).unwrap();
        let mut memory = memory(target, values.len());
        memory.copy(0, array.as_slice());
        assert_converted(answers, &mut *memory);
    }
    for_telling_values!(0x5EED_0003, test);
}

#[test]
fn every_pair_converts_and_refuses_a_single_telling_value_like_the_rule_at_every_level() {
    fn test<S: Element>(answers: &Answers<S>) {
        let target = answers.target;
        let mut memory = memory(target, answers.values.len());
        for (index, (&value, &loss)) in answers.values.iter().zip(&answers.losses).enumerate() {
            let (window, origin) = (Window::column(std::slice::from_ref(&value)), Origin::default());
            let room = memory.room(index..index + 1);
            assert!(S::read(window, room, ConversionPolicy::Saturate, origin).is_ok(), "{value} to {target}");
            for policy in [ConversionPolicy::Checked, ConversionPolicy::Exact] {
                let is_permitted = S::check(window, target, policy, origin).is_ok();
                assert_eq!(is_permitted, policy.permits(loss), "{value} to {target}, {policy}, {:?}", Level::chosen());
            }
        }
        assert_converted(answers, &mut *memory);
    }
    for_telling_values!(0x5EED_0201, test);
}

#[test]
fn every_kind_of_loss_of_telling_values_is_counted_as_that_kind_at_every_level() {
    fn test<S: Element>(answers: &Answers<S>) {
        let report = |loss: Loss| {
            let same = answers.values.iter().zip(&answers.losses).filter(|&(_, &other)| other == loss);
            let values: Vec<S> = same.map(|(&value, _)| value).collect();
            (values.len(), S::report(Window::column(&values), answers.target))
        };
        let mut total = ConversionReport::default();
        for loss in KINDS {
            let (count, found) = report(loss);
            let first = (count > 0 && loss != Loss::None).then_some((0, 0));
            let mut expected = ConversionReport { values: count, first, ..ConversionReport::default() };
            match loss {
                Loss::None => {}
                Loss::NanToInteger => expected.nan_to_int = count,
                Loss::BelowRange => expected.below_range = count,
                Loss::AboveRange => expected.above_range = count,
                Loss::OverflowToInfinity => expected.overflow_to_infinity = count,
                Loss::Inexact => expected.inexact = count,
            }
            assert_eq!(found, expected, "{} to {}, {:?}: {loss:?}", S::TYPE, answers.target, Level::chosen());
            total += expected;
        }
        assert_eq!(total.values, answers.values.len());
        answers.report(shape(answers.values.len(), 1, 1, 1), 0);
    }
    const KINDS: [Loss; 6] =
        [Loss::None, Loss::NanToInteger, Loss::BelowRange, Loss::AboveRange, Loss::OverflowToInfinity, Loss::Inexact];
    for_telling_values!(0x5EED_0202, test);
}

#[test]
fn the_only_refused_value_is_found_wherever_it_is_in_a_chunk() {
    fn test<S: Element>(target: ElementType, levels: &[Level], random: &mut Random) {
        for policy in [ConversionPolicy::Checked, ConversionPolicy::Exact] {
            let wild = Answers::<S>::random(target, policy, 300, 1, random);
            let refused: Vec<S> = (0..300).filter(|&i| wild.is_refused(i)).map(|i| wild.values[i]).collect();
            let permitted = Answers::<S>::random(target, policy, COUNT, usize::MAX, random).values;
            let mut memory = memory(target, COUNT);
            for (&place, &offender) in PLACES.iter().zip(refused.iter().cycle()) {
                let mut values = permitted.clone();
                values[place] = offender;
                let answers = Answers::new(target, policy, values);
                for &level in levels {
                    with_level(level, || {
                        let call = CALLS[random.below(CALLS.len())];
                        let geometry = GEOMETRIES[random.below(GEOMETRIES.len())];
                        answers.run(Case { call, geometry, start: 0, at: 0 }, &mut *memory);
                        answers.report(geometry, 0);
                    });
                }
            }
        }
    }
    /// Two chunks of counters and a little more. The values checked at a time may be a half, a quarter or an eighth of
    /// a chunk.
    const COUNT: usize = 8195;
    const PLACES: [usize; 21] = [
        0, 1, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8189, 8190, 8191, 8192, 8193, 8194,
        63,
    ];
    /// Contiguous, with gaps, by columns.
    const GEOMETRIES: [Geometry; 4] =
        [shape(1, COUNT, 1, 1), shape(COUNT, 1, 1, 1), shape(COUNT / 3, 1, 3, 1), shape(90, 91, 1, 90)];
    let (levels, mut random) = (levels(), Random(0x5EED_0203));
    for_every_pair!(test(&levels, &mut random));
}
