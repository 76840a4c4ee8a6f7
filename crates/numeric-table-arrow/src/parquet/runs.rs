//! The hybrid encoding of Parquet: runs of one repeated integer, and runs of integers of some bits each.
//!
//! Indices of dictionaries and definition levels are encoded like this. Only regular bytes are decoded: for any others,
//! the caller lets the `parquet` crate decide.

use bytes::Bytes;

use super::input::varint;

/// Number of integers that are unpacked at a time: a multiple of 8, which always have whole bytes.
const BLOCK: usize = 256;

/// Integers of at most 32 bits, in runs.
pub(super) struct Runs {
    /// The bytes that follow the current run.
    bytes: Bytes,
    /// Number of bits of an integer.
    width: usize,
    run: Run,
    /// Integers that are unpacked and not yet taken: `block[next..end]`.
    block: [u32; BLOCK],
    next: usize,
    end: usize,
}

/// The rest of a run.
enum Run {
    Repeated {
        value: u32,
        count: usize,
    },
    /// Groups of 8 integers, of `width` bytes each.
    Packed {
        /// The bytes of all groups of the run.
        bytes: Bytes,
        /// The next group, and the number of all.
        group: usize,
        count: usize,
    },
}

/// Consecutive integers.
pub(super) enum Integers<'r> {
    Repeated(u32, usize),
    Each(&'r [u32]),
}

impl Runs {
    /// Takes the bytes of runs. Returns `None` if integers have more than 32 bits.
    pub(super) fn new(bytes: Bytes, width: u8) -> Option<Self> {
        let run = Run::Repeated { value: 0, count: 0 };
        (width <= 32).then(|| Self { bytes, width: width.into(), run, block: [0; BLOCK], next: 0, end: 0 })
    }

    /// Returns the next integers, at least one and at most `most`. Returns `None` if the bytes end or are irregular.
    pub(super) fn next(&mut self, most: usize) -> Option<Integers<'_>> {
        if self.next == self.end {
            while self.is_empty() {
                self.open_run()?;
            }
            match &mut self.run {
                Run::Repeated { value, count } => {
                    let now = most.min(*count);
                    *count -= now;
                    return Some(Integers::Repeated(*value, now));
                }
                Run::Packed { bytes, group, count } => {
                    let now = (*count - *group).min(BLOCK / 8);
                    unpack(bytes, *group, self.width, &mut self.block[..now * 8]);
                    *group += now;
                    (self.next, self.end) = (0, now * 8);
                }
            }
        }
        let first = self.next;
        self.next += most.min(self.end - first);
        Some(Integers::Each(&self.block[first..self.next]))
    }

    /// Returns whether the next `count` integers are all `value`. Takes them.
    pub(super) fn are_all(&mut self, mut count: usize, value: u32) -> bool {
        while count > 0 {
            count -= match self.next(count) {
                Some(Integers::Repeated(found, many)) if found == value => many,
                Some(Integers::Each(found)) if found.iter().all(|&found| found == value) => found.len(),
                _ => return false,
            };
        }
        true
    }

    fn is_empty(&self) -> bool {
        match self.run {
            Run::Repeated { count, .. } => count == 0,
            Run::Packed { group, count, .. } => group == count,
        }
    }

    fn open_run(&mut self) -> Option<()> {
        let head = self.varint()?;
        let count = usize::try_from(head >> 1).ok().filter(|&count| count > 0)?;
        self.run = if head & 1 == 1 {
            let length = count.checked_mul(self.width)?;
            if length > self.bytes.len() || count.checked_mul(8).is_none() {
                return None;
            }
            Run::Packed { bytes: self.bytes.split_to(length), group: 0, count }
        } else {
            let mut value = [0; 4];
            let stored = self.bytes.get(..self.width.div_ceil(8))?;
            value[..stored.len()].copy_from_slice(stored);
            let (value, length) = (u32::from_le_bytes(value), stored.len());
            if self.width < 32 && value >> self.width != 0 {
                return None;
            }
            let _ = self.bytes.split_to(length);
            Run::Repeated { value, count }
        };
        Some(())
    }

    /// Reads an integer of at most 32 bits, in groups of 7 bits.
    fn varint(&mut self) -> Option<u32> {
        const LONGEST: usize = 5;
        let bytes = self.bytes.get(..LONGEST).unwrap_or(&self.bytes);
        let mut rest = bytes;
        let value = u32::try_from(varint(&mut rest)?).ok()?;
        let length = bytes.len() - rest.len();
        let _ = self.bytes.split_to(length);
        Some(value)
    }
}

/// Unpacks groups of 8 integers, of `width` bits each: as many groups as `target` has room for, from group `first` on.
fn unpack(bytes: &[u8], first: usize, width: usize, target: &mut [u32]) {
    if width == 0 {
        return target.fill(0);
    }
    let mask = u64::from(u32::MAX >> (32 - width));
    let groups = target.as_chunks_mut::<8>().0.iter_mut().zip(first..).map(|(target, group)| (target, group * width));
    match width {
        ..=8 => groups.for_each(|(target, at)| {
            let word = word_at(bytes, at);
            for (index, value) in target.iter_mut().enumerate() {
                *value = (word >> (index * width) & mask) as u32;
            }
        }),
        // 4 integers at a time, which begin in the middle of a byte at most: they fit into 8 bytes.
        9..=15 => groups.for_each(|(target, at)| {
            for (half, target) in target.chunks_exact_mut(4).enumerate() {
                let bit = half * 4 * width;
                let word = word_at(bytes, at + bit / 8) >> (bit % 8);
                for (index, value) in target.iter_mut().enumerate() {
                    *value = (word >> (index * width) & mask) as u32;
                }
            }
        }),
        _ => groups.for_each(|(target, at)| {
            for (index, value) in target.iter_mut().enumerate() {
                let bit = index * width;
                *value = (word_at(bytes, at + bit / 8) >> (bit % 8) & mask) as u32;
            }
        }),
    }
}

/// Returns the 8 bytes from a position as an integer. Bytes after the end count as 0.
#[inline(always)]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let mut word = [0; 8];
            for (target, byte) in word.iter_mut().zip(bytes.iter().skip(at)) {
                *target = *byte;
            }
            u64::from_le_bytes(word)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs integers bit by bit.
    fn packed(values: &[u32], width: usize) -> Vec<u8> {
        let mut bytes = vec![0_u8; (values.len() * width).div_ceil(8)];
        for (index, value) in values.iter().enumerate() {
            for bit in 0..width {
                let at = index * width + bit;
                bytes[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
            }
        }
        bytes
    }

    /// Reads all integers, at most `most` at a time.
    fn read(runs: &mut Runs, count: usize, most: usize) -> Option<Vec<u32>> {
        let mut values = Vec::new();
        while values.len() < count {
            match runs.next(most.min(count - values.len()))? {
                Integers::Repeated(value, count) => values.extend(std::iter::repeat_n(value, count)),
                Integers::Each(some) => values.extend(some),
            }
        }
        Some(values)
    }

    #[test]
    fn integers_of_any_width_are_unpacked() {
        let mut state = 7_u64;
        for width in 0..=32 {
            let mask = if width == 0 { 0 } else { u32::MAX >> (32 - width) };
            let values: Vec<u32> = (0..1000)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 32) as u32 & mask
                })
                .collect();
            let mut bytes = vec![(125 << 1 | 1) as u8, 1]; // 125 groups of 8
            bytes[0] |= 0x80;
            bytes.extend(packed(&values, width));
            // Then 3 times the largest.
            bytes.push(3 << 1);
            bytes.extend(&mask.to_le_bytes()[..width.div_ceil(8)]);
            let all: Vec<u32> = values.iter().copied().chain([mask; 3]).collect();
            for most in [1, 7, 64, 300, 2000] {
                let mut runs = Runs::new(bytes.clone().into(), width as u8).unwrap();
                assert_eq!(read(&mut runs, 1003, most).as_ref(), Some(&all), "{width} bits");
                assert!(runs.next(1).is_none());
            }
        }
    }

    #[test]
    fn irregular_bytes_are_refused() {
        assert!(Runs::new(Bytes::new(), 33).is_none());
        for (bytes, width) in [
            (&[][..], 1),
            (&[0], 1),                                        // a run of nothing
            (&[1, 0], 1),                                     // no groups
            (&[3], 1),                                        // a group without bytes
            (&[2, 4], 2),                                     // an integer of 3 bits
            (&[2], 9),                                        // no integer
            (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0, 0], 1), // the head has too many bytes
            (&[0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0], 1),    // more than 32 bits
            (&[0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0], 32),   // 2 Gi groups
        ] {
            let mut runs = Runs::new(Bytes::copy_from_slice(bytes), width).unwrap();
            assert!(runs.next(5).is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn levels_are_compared() {
        let levels = || Runs::new(Bytes::from_static(&[20, 1, 3, 0xff, 3, 0x7f]), 1).unwrap(); // 10, 8 and 7 times 1
        assert!(levels().are_all(25, 1) && levels().are_all(0, 1));
        assert!(!levels().are_all(26, 1) && !levels().are_all(3, 0));
    }
}
