//! Distinct values found by hashing, as long as they are few: one pass over the rows instead of a sort.

use super::distinct::Value;
use crate::array::Validity;
use crate::base::error::Result;
use crate::base::parallel;
use crate::base::room::{filled, with_room};

/// The largest number of distinct values. Their hash table fits the caches of one core.
const LIMIT: usize = 1 << 13;
const SLOT_BITS: u32 = LIMIT.ilog2() + 1;
/// The largest number of slots to look at for one key. A longer search gives up hashing: a file may be made of keys whose
/// hashes collide, and then sorting is faster.
const PROBES: usize = 64;

/// Values, numbered as they were met.
struct Found {
    /// For each hash, the number of a value plus one; 0 if the slot is free.
    slots: Vec<u16>,
    keys: Vec<u64>,
    values: Vec<Value>,
    missing: Value,
}

impl Found {
    /// Room for the values of that many rows.
    fn new(rows: usize) -> Result<Self> {
        let most = rows.min(LIMIT);
        let missing = Value { row: usize::MAX, count: 0, is_missing: true };
        Ok(Self { slots: filled(1 << SLOT_BITS, 0)?, keys: with_room(most)?, values: with_room(most)?, missing })
    }

    /// Adds rows without a value, given the first of them.
    fn add_missing(&mut self, row: usize, count: usize) {
        self.missing.row = self.missing.row.min(row);
        self.missing.count += count;
    }

    /// Adds rows with a value, given its integer and the first of them. Returns the number of the value; `None` if
    /// there are too many.
    #[inline]
    fn add(&mut self, key: u64, row: usize, count: usize) -> Option<usize> {
        const FRACTION_OF_GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;
        let hash = (key.wrapping_mul(FRACTION_OF_GOLDEN_RATIO) >> (u64::BITS - SLOT_BITS)) as usize;
        for place in hash..hash + PROBES {
            let slot = &mut self.slots[place & ((1 << SLOT_BITS) - 1)];
            let number = match slot.checked_sub(1) {
                Some(number) => usize::from(number),
                None if self.keys.len() == LIMIT => return None,
                None => {
                    self.keys.push(key);
                    self.values.push(Value { row, count: 0, is_missing: false });
                    *slot = self.keys.len() as u16; // at most `LIMIT`
                    self.keys.len() - 1
                }
            };
            if self.keys[number] == key {
                self.values[number].count += count;
                return Some(number);
            }
        }
        None
    }
}

/// Rows that follow each other: their integers, and room for the number of each row's value, or none.
struct Piece<'a> {
    start: usize,
    keys: &'a [u64],
    codes: &'a mut [i32],
}

impl<'a> Piece<'a> {
    fn split(self, middle: usize) -> (Self, Self) {
        let (keys, later_keys) = self.keys.split_at(middle);
        let room = middle.min(self.codes.len());
        let (codes, later_codes) = self.codes.split_at_mut(room);
        let later = Self { start: self.start + middle, keys: later_keys, codes: later_codes };
        (Self { start: self.start, keys, codes }, later)
    }

    /// Finds the values of these rows. Writes the number of each row's value, -1 for a missing one. Returns `None` if
    /// there are too many values.
    fn find(&mut self, validity: Option<&Validity>) -> Result<Option<Found>> {
        let mut found = Found::new(self.keys.len())?;
        for (place, (row, &key)) in (self.start..).zip(self.keys).enumerate() {
            let is_missing = validity.is_some_and(|validity| validity.is_present(row) == Some(false));
            let code = if is_missing {
                found.add_missing(row, 1);
                -1
            } else {
                let Some(number) = found.add(key, row, 1) else { return Ok(None) };
                number as i32 // at most `LIMIT`
            };
            if let Some(target) = self.codes.get_mut(place) {
                *target = code;
            }
        }
        Ok(Some(found))
    }
}

/// Returns the distinct values of a column, in ascending order, and after them the missing one, given the integers of
/// all rows. Writes the place of each row's value among them into `codes`, if it is not empty. Returns `None` if there
/// are too many values; `codes` are unspecified then.
pub(super) fn distinct(keys: &[u64], validity: Option<&Validity>, codes: &mut [i32]) -> Result<Option<Vec<Value>>> {
    let parts = parallel::task_count(size_of_val(keys));
    let pieces = parallel::cut(Piece { start: 0, keys, codes }, keys.len(), parts, Piece::split);
    let pieces = parallel::map(pieces, |mut piece| piece.find(validity).map(|found| (piece, found)));

    let mut all = Found::new(keys.len())?;
    let mut numbered = with_room(pieces.len())?;
    for piece in pieces {
        let (piece, Some(found)) = piece? else { return Ok(None) };
        all.add_missing(found.missing.row, found.missing.count);
        let mut numbers = with_room(found.keys.len())?;
        for (key, value) in found.keys.into_iter().zip(found.values) {
            let Some(number) = all.add(key, value.row, value.count) else { return Ok(None) };
            numbers.push(number);
        }
        numbered.push((piece, numbers));
    }

    let Found { keys, values, missing, .. } = all;
    let mut order: Vec<usize> = with_room(keys.len())?;
    order.extend(0..keys.len());
    order.sort_unstable_by_key(|&number| keys[number]);
    let mut ranks = filled(keys.len(), 0)?;
    (0..).zip(&order).for_each(|(rank, &number)| ranks[number] = rank);
    let last = keys.len() as i32; // at most `LIMIT`
    parallel::map(numbered, |(piece, numbers)| {
        for code in piece.codes {
            *code = usize::try_from(*code).map_or(last, |number| ranks[numbers[number]]);
        }
    });
    let mut sorted = with_room(keys.len() + 1)?;
    sorted.extend(order.into_iter().map(|number| values[number]));
    sorted.extend(Some(missing).filter(|missing| missing.count > 0));
    Ok(Some(sorted))
}
