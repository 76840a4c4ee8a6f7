//! The categories of a column, found by a hash that is fast for short words.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::base::error::{Error, Result};
use crate::base::room::with_room;

/// The categories of a column, and their indices.
#[derive(Debug, Default)]
pub(super) struct Categories {
    pub(super) names: Vec<String>,
    indices: HashMap<Vec<u8>, usize, WordHash>,
}

impl Categories {
    /// Returns the index of a word.
    #[inline]
    pub(super) fn index_of(&self, word: &[u8]) -> Option<usize> {
        self.indices.get(word).copied()
    }

    pub(super) fn has(&self, word: &[u8]) -> bool {
        self.indices.contains_key(word)
    }

    /// Adds a new word.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn push(&mut self, word: &str) -> Result<()> {
        let refused = |bytes: usize| Error::out_of_memory(bytes);
        let (mut name, mut key) = (String::new(), with_room(word.len())?);
        name.try_reserve_exact(word.len()).map_err(|_| refused(word.len()))?;
        self.names.try_reserve(1).map_err(|_| refused(self.names.len().saturating_mul(size_of::<String>())))?;
        let bytes = self.names.len().saturating_mul(size_of::<(Vec<u8>, usize)>());
        self.indices.try_reserve(1).map_err(|_| refused(bytes))?;
        name.push_str(word);
        key.extend_from_slice(word.as_bytes());
        self.indices.insert(key, self.names.len());
        self.names.push(name);
        Ok(())
    }

    /// Creates categories from words. Equal words become one category.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn of(words: &[impl AsRef<str>]) -> Result<Self> {
        let mut categories = Self::default();
        for word in words {
            if !categories.has(word.as_ref().as_bytes()) {
                categories.push(word.as_ref())?;
            }
        }
        Ok(categories)
    }
}

/// A hash of words by multiplications of 64-bit integers that keep both halves of the product. Its keys are random, so
/// that a file cannot be made of words with the same hash. Source: the hash functions wyhash and foldhash.
#[derive(Clone, Copy, Debug)]
struct WordHash {
    keys: [u64; 2],
}

impl Default for WordHash {
    fn default() -> Self {
        let random = RandomState::new();
        Self { keys: [random.hash_one(0_u8), random.hash_one(1_u8)] }
    }
}

impl BuildHasher for WordHash {
    type Hasher = WordHasher;

    #[inline]
    fn build_hasher(&self) -> WordHasher {
        WordHasher { state: self.keys[0], key: self.keys[1] }
    }
}

/// The state of hashing one word.
struct WordHasher {
    state: u64,
    key: u64,
}

impl WordHasher {
    #[inline]
    fn mix(&mut self, low: u64, high: u64) {
        let product = u128::from(self.state ^ low) * u128::from(self.key ^ high);
        self.state = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for WordHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let eight = |bytes: &[u8]| bytes.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
        let four = |bytes: &[u8]| bytes.first_chunk().map_or(0, |four| u64::from(u32::from_le_bytes(*four)));
        let (mut rest, length) = (bytes, bytes.len());
        while rest.len() > 16 {
            self.mix(eight(rest), eight(&rest[8..]));
            rest = &rest[16..];
        }
        // The two ends of what is left overlap if it is short; its length is added by `write_usize`.
        match rest.len() {
            count @ 8.. => self.mix(eight(rest), eight(&rest[count - 8..])),
            count @ 4.. => self.mix(four(rest), four(&rest[count - 4..])),
            count @ 1.. => {
                let [first, middle, last] = [rest[0], rest[count / 2], rest[count - 1]].map(u64::from);
                self.mix(first | middle << 8 | last << 16, length as u64);
            }
            0 => {}
        }
    }

    #[inline]
    fn write_usize(&mut self, length: usize) {
        self.state ^= (length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let product = u128::from(self.state) * u128::from(self.key | 1);
        product as u64 ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_have_different_hashes() {
        let hash = WordHash::default();
        let mut words: Vec<Vec<u8>> = (0..20_000).map(|word| word.to_string().into_bytes()).collect();
        words.extend((0..200).map(|length| vec![b'a'; length]));
        words.extend((0..200).map(|length| vec![0; length]));
        words.extend((0..100).map(|place| (0..100).map(|at| u8::from(at == place)).collect()));
        words.extend((0..=u16::MAX).map(|word| word.to_le_bytes().to_vec()));
        words.sort();
        words.dedup();
        let hashes: HashSet<u64> = words.iter().map(|word| hash.hash_one(&word[..])).collect();
        assert!(hashes.len() + 1 >= words.len()); // two of 64 bits are hardly ever equal
    }

    #[test]
    fn words_are_numbered_in_order() {
        let categories = Categories::of(&["b", "", "a", "b", "a longer word than sixteen bytes"]).unwrap();
        assert_eq!(categories.names, ["b", "", "a", "a longer word than sixteen bytes"]);
        for (index, name) in categories.names.iter().enumerate() {
            assert_eq!(categories.index_of(name.as_bytes()), Some(index));
        }
        assert_eq!(categories.index_of(b"c"), None);
    }
}
