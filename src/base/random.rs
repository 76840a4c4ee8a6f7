//! Random numbers that are determined by a seed, the same on every machine and in every version.
//!
//! Source: `xoshiro256++` 1.0 of Blackman and Vigna, with its state filled from the seed by `SplitMix64`, as its
//! authors advise. Numbers below a bound are unbiased, after Lemire, "Fast Random Integer Generation in an Interval".
//! It is written out here because its numbers are a promise, and because it is shorter than the tests that would pin a
//! dependency to them.

/// A random number generator.
pub(crate) struct Random {
    state: [u64; 4],
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut mixed = seed;
        Self { state: std::array::from_fn(|_| split_mix(&mut mixed)) }
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// Returns a number below `bound`, all with the same probability; 0 if `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64; // at most 64 bits
        loop {
            let product = u128::from(self.next()) * u128::from(bound);
            let (high, low) = ((product >> 64) as u64, product as u64);
            // This number of the 2^64 numbers would be one too many for some results.
            if low >= bound || low >= bound.wrapping_neg().checked_rem(bound).unwrap_or(0) {
                return high as usize; // below the bound
            }
        }
    }

    /// Shuffles values into a random order, all orders with the same probability.
    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        for left in (2..=values.len()).rev() {
            values.swap(left - 1, self.below(left));
        }
    }
}

/// Returns the next number of `SplitMix64`.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the authors' C code, which the crate `rand_xoshiro` uses in its own tests.
    #[test]
    fn the_numbers_are_those_of_the_reference() {
        let mut random = Random { state: [1, 2, 3, 4] };
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
            14_011_001_112_246_962_877,
            12_406_186_145_184_390_807,
            15_849_039_046_786_891_736,
            10_450_023_813_501_588_000,
        ];
        assert_eq!(expected.map(|_| random.next()), expected);
        let mut seed = 1_477_776_061_723_855_037;
        let expected = [1_985_237_415_132_408_290, 2_979_275_885_539_914_483, 13_511_426_838_097_143_398];
        assert_eq!(expected.map(|_| split_mix(&mut seed)), expected);
    }

    #[test]
    fn numbers_below_a_bound_are_equally_frequent() {
        let mut random = Random::new(7);
        for bound in [1, 2, 3, 5, 7, 10] {
            let mut counts = vec![0; bound];
            (0..10_000 * bound).for_each(|_| counts[random.below(bound)] += 1);
            assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{bound}: {counts:?}");
        }
        // Of three thirds of all numbers, each comes a third of the time, which one multiplication alone cannot do.
        let bound = usize::MAX / 4 * 3;
        let lower = (0..30_000).filter(|_| random.below(bound) < bound / 3).count();
        assert!((9_500..10_500).contains(&lower), "{lower}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }

    #[test]
    fn every_order_is_as_frequent() {
        let (mut random, mut counts) = (Random::new(11), [0; 27]);
        for _ in 0..6_000 {
            let mut values = [0, 1, 2];
            random.shuffle(&mut values);
            counts[values[0] * 9 + values[1] * 3 + values[2]] += 1;
        }
        let found = counts.iter().filter(|&&count| count > 0).collect::<Vec<_>>();
        assert!(found.len() == 6 && found.iter().all(|&&count| (850..1150).contains(&count)), "{found:?}");
    }
}
