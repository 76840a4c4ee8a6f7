//! Values of any element type made from bits, so that every NaN, subnormal and limit can be reached and compared.

use numeric_table::prelude::*;

/// The bits of a value, in the low bits of the result.
pub fn bits<T: Element>(value: T) -> u64 {
    match size_of::<T>() {
        1 => bytemuck::cast::<T, u8>(value).into(),
        2 => bytemuck::cast::<T, u16>(value).into(),
        4 => bytemuck::cast::<T, u32>(value).into(),
        _ => bytemuck::cast(value),
    }
}

/// The value that the low bits are. The others are dropped.
pub fn from_bits<T: Element>(bits: u64) -> T {
    match size_of::<T>() {
        1 => bytemuck::cast(bits as u8),
        2 => bytemuck::cast(bits as u16),
        4 => bytemuck::cast(bits as u32),
        _ => bytemuck::cast(bits),
    }
}

/// Widths in bits of the exponent and of the fraction of a float type; `None` for integers.
pub fn float_format(element: ElementType) -> Option<(u32, u32)> {
    match element {
        ElementType::F64 => Some((11, 52)),
        ElementType::F32 => Some((8, 23)),
        ElementType::F16 => Some((5, 10)),
        ElementType::Bf16 => Some((8, 7)),
        _ => None,
    }
}

pub fn is_nan<T: Element>(value: T) -> bool {
    value.partial_cmp(&value).is_none()
}

/// The same bits, or both NaN.
pub fn is_same<T: Element>(left: T, right: T) -> bool {
    bits(left) == bits(right) || (is_nan(left) && is_nan(right))
}

/// Zeros, ones, limits and their neighbours; of floats also subnormals, infinities, quiet and signalling NaNs.
pub fn special_values<T: Element>() -> Vec<T> {
    let width = 8 * size_of::<T>() as u32;
    let sign = 1_u64 << (width - 1);
    let mut patterns =
        vec![0, 1, 2, 3, sign >> 1, sign - 2, sign - 1, sign, sign + 1, 2 * (sign - 1), 2 * (sign - 1) + 1];
    if let Some((exponent, fraction)) = float_format(T::TYPE) {
        let infinity = ((1 << exponent) - 1) << fraction;
        let one = ((1 << (exponent - 1)) - 1) << fraction;
        let smallest_normal = 1_u64 << fraction;
        let quiet = infinity | smallest_normal >> 1;
        let positives = [
            [infinity, infinity - 1, infinity + 1, quiet],
            [smallest_normal, smallest_normal - 1, one, one + 1],
            [one - 1, one + (smallest_normal >> 1), one + smallest_normal, quiet | 1],
        ];
        patterns.extend(positives.as_flattened().iter().flat_map(|&bits| [bits, bits | sign]));
    }
    patterns.into_iter().map(from_bits).collect()
}

/// Pseudo-random bits (SplitMix64). Prints its seed, which a failing test then shows.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        println!("seed {seed}");
        Self(seed)
    }

    /// For those who print the seed themselves.
    pub fn quiet(seed: u64) -> Self {
        Self(seed)
    }

    #[expect(clippy::should_implement_trait, reason = "an iterator over random bits has no use here")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn values<T: Element>(&mut self, count: usize) -> Vec<T> {
        (0..count).map(|_| from_bits(self.next() >> (64 - 8 * size_of::<T>()))).collect()
    }
}
