//! Bytes compared several at a time: bit `i` of a mask belongs to byte `i` of a block.

/// Number of bytes of a block.
pub(super) const BLOCK: usize = 64;

/// Returns the mask of the bytes of a block that are one of `wanted`.
#[inline(always)]
pub(super) fn mask_of_any<const COUNT: usize>(block: &[u8; BLOCK], wanted: [u8; COUNT]) -> u64 {
    let mut found = [0_u8; BLOCK];
    for byte in wanted {
        for (found, &candidate) in found.iter_mut().zip(block) {
            *found |= all_bits_if(candidate == byte);
        }
    }
    gather(&found)
}

/// As compilers turn it into vector instructions.
#[inline(always)]
fn all_bits_if(is_equal: bool) -> u8 {
    u8::from(is_equal).wrapping_neg()
}

/// Returns the mask of the bytes that have all bits; the others have none.
#[inline(always)]
fn gather(bytes: &[u8; BLOCK]) -> u64 {
    /// Bit `i` of byte `i`.
    const DIAGONAL: u64 = 0x8040_2010_0804_0201;
    /// The highest byte of a product with this is the sum of the bytes, which have different bits.
    const SUM: u64 = 0x0101_0101_0101_0101;
    let (eights, _) = bytes.as_chunks::<8>();
    let mask_of = |eight: &[u8; 8]| (u64::from_le_bytes(*eight) & DIAGONAL).wrapping_mul(SUM) >> 56;
    eights.iter().enumerate().fold(0, |mask, (index, eight)| mask | mask_of(eight) << (8 * index))
}

/// Returns the mask with bit `i` set if an odd number of the bits up to and including it are.
#[inline(always)]
pub(super) fn parity(mut mask: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        mask ^= mask << shift;
    }
    mask
}

/// The positions of the bits of a mask, in ascending order.
pub(super) struct Bits(pub(super) u64);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let first = (self.0 != 0).then(|| self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_those_of_comparing_byte_by_byte() {
        for wanted in [[b',', b'\n', b'\r'], [0, 0x80, 0xFF], [b'"', b'"', b'"']] {
            for shift in 0..=u8::MAX {
                let mixed = |at: usize| [b',', b'\n', b'x', 0][at % 4].wrapping_add(shift) ^ at as u8;
                let block: [u8; BLOCK] = std::array::from_fn(mixed);
                let bits = block.iter().enumerate().filter(|(_, byte)| wanted.contains(*byte));
                let expected = bits.fold(0_u64, |mask, (at, _)| mask | 1 << at);
                assert_eq!(mask_of_any(&block, wanted), expected, "{block:?}");
                assert!(Bits(expected).eq((0..BLOCK).filter(|at| expected >> at & 1 == 1)));
                let odd = |at: usize| (expected & (u64::MAX >> (63 - at))).count_ones() % 2 == 1;
                assert_eq!(parity(expected), (0..BLOCK).fold(0, |mask, at| mask | u64::from(odd(at)) << at));
            }
        }
    }
}
