//! Lines of bytes, copied from one place to another.

use std::mem::MaybeUninit;

/// Copies `count` lines of `length` bytes each, whose starts are `from_stride` and `to_stride` bytes apart. Short lines
/// of usual lengths are copied without a call.
///
/// # Safety
/// `from` must be valid for reads of `length` bytes at each of the first `count` multiples of `from_stride`, and `to`
/// for writes at those of `to_stride`. The bytes read and the bytes written must not overlap.
pub(super) unsafe fn copy_lines(
    from: *const u8,
    from_stride: usize,
    to: *mut u8,
    to_stride: usize,
    length: usize,
    count: usize,
) {
    /// # Safety
    /// The same as for [`copy_lines`], with lines of `LENGTH` bytes.
    unsafe fn copy<const LENGTH: usize>(
        from: *const u8,
        from_stride: usize,
        to: *mut u8,
        to_stride: usize,
        count: usize,
    ) {
        for line in 0..count {
            // SAFETY: the caller's promise; an array of bytes may have any address, and those of `MaybeUninit` may be
            // padding.
            unsafe {
                let line_of_bytes = from.add(line * from_stride).cast::<[MaybeUninit<u8>; LENGTH]>();
                *to.add(line * to_stride).cast() = *line_of_bytes;
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match length {
            1 => copy::<1>(from, from_stride, to, to_stride, count),
            2 => copy::<2>(from, from_stride, to, to_stride, count),
            4 => copy::<4>(from, from_stride, to, to_stride, count),
            8 => copy::<8>(from, from_stride, to, to_stride, count),
            12 => copy::<12>(from, from_stride, to, to_stride, count),
            16 => copy::<16>(from, from_stride, to, to_stride, count),
            24 => copy::<24>(from, from_stride, to, to_stride, count),
            32 => copy::<32>(from, from_stride, to, to_stride, count),
            64 => copy::<64>(from, from_stride, to, to_stride, count),
            _ => {
                for line in 0..count {
                    std::ptr::copy_nonoverlapping(from.add(line * from_stride), to.add(line * to_stride), length);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::copy_lines;

    #[test]
    fn lines_of_every_length_are_copied_and_nothing_beside_them() {
        for length in 0..100_usize {
            let (count, from_stride, to_stride) = (5, length + 3, length + 7);
            let from = (0..(count * from_stride).max(1)).map(|byte| byte as u8 | 1).collect::<Vec<_>>();
            let mut to = vec![0_u8; (count * to_stride).max(1)];
            // SAFETY: both have `count` times their strides of bytes, and the lengths are less.
            unsafe { copy_lines(from.as_ptr(), from_stride, to.as_mut_ptr(), to_stride, length, count) };
            for (at, &found) in to.iter().enumerate() {
                let (line, place) = (at / to_stride, at % to_stride);
                let expected = if place < length { from[line * from_stride + place] } else { 0 };
                assert_eq!(found, expected, "{length}: line {line}, byte {place}");
            }
        }
    }
}
