//! Lines of bytes, copied from one place to another.

use std::mem::MaybeUninit;

/// Copies `count` lines of `length` bytes each, whose starts are `from_stride` and `to_stride` bytes apart. Short lines
/// are copied without a call.
///
/// # Safety
/// `from` must be valid for reads of `length` bytes at each of the first `count` multiples of `from_stride`, and `to`
/// for writes at those of `to_stride`, also if `length` is zero. The bytes read and the bytes written must not overlap.
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
        (from, from_stride): (*const u8, usize),
        (to, to_stride): (*mut u8, usize),
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

    /// Copies the first and the last `END` bytes of each line, which may have some in common.
    ///
    /// # Safety
    /// The same as for [`copy_lines`], with lines of `END` to twice as many bytes.
    unsafe fn copy_ends<const END: usize>(
        (from, from_stride): (*const u8, usize),
        (to, to_stride): (*mut u8, usize),
        length: usize,
        count: usize,
    ) {
        // SAFETY: the caller's promise: both ends are inside of each line.
        unsafe {
            let last = length - END;
            for line in 0..count {
                let (from, to) = (from.add(line * from_stride), to.add(line * to_stride));
                let start = *from.cast::<[MaybeUninit<u8>; END]>();
                let end = *from.add(last).cast::<[MaybeUninit<u8>; END]>();
                *to.cast() = start;
                *to.add(last).cast() = end;
            }
        }
    }

    let (source, target) = ((from, from_stride), (to, to_stride));
    // SAFETY: the caller's promise.
    unsafe {
        match length {
            1 => copy::<1>(source, target, count),
            2 => copy::<2>(source, target, count),
            3 => copy_ends::<2>(source, target, length, count),
            4 => copy::<4>(source, target, count),
            5..=7 => copy_ends::<4>(source, target, length, count),
            8 => copy::<8>(source, target, count),
            9..=15 => copy_ends::<8>(source, target, length, count),
            16 => copy::<16>(source, target, count),
            17..=31 => copy_ends::<16>(source, target, length, count),
            32 => copy::<32>(source, target, count),
            33..=63 => copy_ends::<32>(source, target, length, count),
            64 => copy::<64>(source, target, count),
            65..=127 => copy_ends::<64>(source, target, length, count),
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
        for length in 0..200_usize {
            let (count, from_stride, to_stride) = (5, length + 3, length + 7);
            let from = (0..(count * from_stride).max(1)).map(|byte| (byte % 251) as u8 + 1).collect::<Vec<_>>();
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
