//! The sketch of one column: levels of values. Each value stands for twice as many as a value of the level below.
//!
//! A full level is sorted, and every other value moves up a level. This changes the number of values up to any point by
//! at most the weight of one of them: upwards if the first of each pair is kept, downwards if the second is. Both
//! errors are added up, and the value to keep is chosen so that they stay about equal, without randomness. Source:
//! Munro, Paterson 1980; Manku, Rajagopalan, Lindsay 1998; merging levels: Karnin, Lang, Liberty 2016.

use super::quantiles::{from_ordered, to_ordered};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::room::with_room;

/// Invariants: the weights of all values add up to `count`; each level has fewer than `capacity` values between two
/// calls; the errors account for all halvings so far.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    capacity: usize,
    /// Number of values that are not NaN.
    pub(super) count: u64,
    pub(super) nan: u64,
    pub(super) missing: u64,
    /// The smallest and the largest value, as integers in the same order as the numbers.
    extremes: Option<(i64, i64)>,
    /// A value of level `h` stands for `2^h` values.
    levels: Vec<Vec<i64>>,
    /// Largest possible overcount of the values up to any point.
    over: u64,
    /// Largest possible undercount of the values up to any point.
    under: u64,
}

impl Levels {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, count: 0, nan: 0, missing: 0, extremes: None, levels: Vec::new(), over: 0, under: 0 }
    }

    /// Reserves memory for the given number of additional values. Adding them cannot fail afterwards.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]. On error, nothing has changed.
    pub(super) fn reserve(&mut self, added: u64) -> Result<()> {
        reserve(&mut self.levels, self.capacity, self.count.saturating_add(added), 2)
    }

    /// Adds a value, for which memory was [reserved](Self::reserve).
    pub(super) fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.nan += 1;
            return;
        }
        let value = to_ordered(value);
        let (least, most) = self.extremes.unwrap_or((value, value));
        self.extremes = Some((least.min(value), most.max(value)));
        self.count += 1;
        let Some(first) = self.levels.first_mut() else { return };
        first.push(value);
        if first.len() >= self.capacity {
            self.halve_full_levels();
        }
    }

    /// Returns a sketch of the values of both.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn merged(&self, other: &Self) -> Result<Self> {
        let mut all = Self::new(self.capacity);
        (all.count, all.nan) = (self.count + other.count, self.nan + other.nan);
        all.missing = self.missing + other.missing;
        (all.over, all.under) = (self.over.saturating_add(other.over), self.under.saturating_add(other.under));
        all.extremes = match (self.extremes, other.extremes) {
            (Some(mine), Some(theirs)) => Some((mine.0.min(theirs.0), mine.1.max(theirs.1))),
            (mine, theirs) => mine.or(theirs),
        };
        reserve(&mut all.levels, self.capacity, all.count, 4)?;
        for levels in [&self.levels, &other.levels] {
            all.levels.iter_mut().zip(levels).for_each(|(all, level)| all.extend_from_slice(level));
        }
        all.halve_full_levels();
        all.levels.iter_mut().for_each(|level| level.shrink_to(self.capacity.saturating_mul(2)));
        Ok(all)
    }

    /// Halves every full level, starting with the lowest.
    fn halve_full_levels(&mut self) {
        for level in 0..self.levels.len() {
            if self.levels[level].len() < self.capacity {
                continue; // higher ones may be full after merging
            }
            let (low, high) = self.levels.split_at_mut(level + 1);
            let (Some(full), Some(next)) = (low.last_mut(), high.first_mut()) else { return };
            let keeps_second = self.over > self.under;
            let error = if keeps_second { &mut self.under } else { &mut self.over };
            *error = error.saturating_add(1_u64.checked_shl(level as u32).unwrap_or(u64::MAX));
            full.sort_unstable();
            let (pairs, rest) = full.as_chunks::<2>();
            next.extend(pairs.iter().map(|pair| pair[usize::from(keeps_second)]));
            let rest = rest.first().copied();
            full.clear();
            full.extend(rest);
        }
    }

    /// Returns the number of ranks that a quantile can be off.
    pub(super) fn rank_error(&self) -> u64 {
        self.over.max(self.under)
    }

    /// Returns the given quantiles, each from 0 to 1.
    pub(super) fn quantiles(&self, probabilities: &[f64]) -> Vec<f64> {
        let Some((least, most)) = self.extremes else { return vec![f64::NAN; probabilities.len()] };
        let mut values = self.weighted();
        values.sort_unstable();
        let mut sum = 0_u64;
        for (_, weight) in &mut values {
            sum += *weight;
            *weight = sum; // of all values up to this one
        }
        let find = |&probability: &f64| {
            let rank = (probability * self.count as f64).ceil() as u64;
            let found = match rank {
                0 | 1 => least,
                rank if rank >= self.count => most,
                rank => values.get(values.partition_point(|&(_, up_to)| up_to < rank)).map_or(most, |found| found.0),
            };
            from_ordered(found)
        };
        probabilities.iter().map(find).collect()
    }

    /// Returns the approximate number of values that are not above `value`.
    pub(super) fn rank(&self, value: f64) -> u64 {
        let Some((least, most)) = self.extremes else { return 0 };
        match to_ordered(value) {
            value if value < least => 0,
            value if value >= most => self.count,
            value => self.weighted().into_iter().filter(|found| found.0 <= value).map(|(_, weight)| weight).sum(),
        }
    }

    /// Returns all values with their weights.
    fn weighted(&self) -> Vec<(i64, u64)> {
        let levels = (0_u32..).zip(&self.levels);
        levels.flat_map(|(level, values)| values.iter().map(move |&value| (value, 1 << level))).collect()
    }

    pub(super) fn extremes(&self) -> Option<(f64, f64)> {
        self.extremes.map(|(least, most)| (from_ordered(least), from_ordered(most)))
    }
}

/// The parts of a deserialized sketch.
pub(super) struct Parts<'a> {
    pub(super) capacity: usize,
    pub(super) count: u64,
    pub(super) nan: u64,
    pub(super) missing: u64,
    /// NaN without values.
    pub(super) extremes: (f64, f64),
    /// The number of values on each level, followed by the number on all levels.
    pub(super) lengths: &'a [u64],
    pub(super) values: &'a [f64],
    pub(super) over: u64,
    pub(super) under: u64,
}

impl Levels {
    /// Returns the levels up to the last non-empty one. All results are computed from them.
    pub(super) fn used(&self) -> &[Vec<i64>] {
        let count = self.levels.iter().rposition(|level| !level.is_empty()).map_or(0, |last| last + 1);
        &self.levels[..count]
    }

    /// Returns the largest possible overcount and undercount of the values up to any point.
    pub(super) fn errors(&self) -> (u64, u64) {
        (self.over, self.under)
    }

    /// Assembles deserialized parts. The capacity must be even and at least 2.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]. The inner error describes why no sketch can have these parts.
    pub(super) fn from_parts(parts: &Parts<'_>) -> Result<std::result::Result<Self, &'static str>> {
        let Parts { capacity, count, nan, missing, lengths, over, under, .. } = *parts;
        let (least, most) = parts.extremes;
        let extremes = match count {
            0 if least.is_nan() && most.is_nan() => None,
            1.. if !least.is_nan() && !most.is_nan() => Some((to_ordered(least), to_ordered(most))),
            _ => return Ok(Err("a column without values has extremes, or one with values has none")),
        };
        let (first, last) = extremes.unwrap_or((i64::MAX, i64::MIN));
        if lengths.len() > level_count(capacity, count) || lengths.last() == Some(&0) {
            return Ok(Err("a column has more levels than its number of values allows"));
        }
        if (lengths.len() > 1) != (over > 0 || under > 0) {
            return Ok(Err("a column has errors without halved levels, or halved levels without errors"));
        }
        let mut levels = with_room(lengths.len())?;
        let (mut rest, mut weights) = (parts.values, 0_u128);
        for (level, &length) in (0_u32..).zip(lengths) {
            let split = usize::try_from(length).ok().filter(|&length| length < capacity);
            let Some((values, others)) = split.and_then(|length| rest.split_at_checked(length)) else {
                return Ok(Err("a level has more values than the sketch, or than its capacity"));
            };
            let mut own = with_room(values.len())?;
            own.extend(values.iter().map(|&value| to_ordered(value)));
            if !own.iter().all(|value| (first..=last).contains(value)) {
                return Ok(Err("a value is not between the extremes of its column"));
            }
            weights += u128::from(length) << level; // there are at most 64 levels
            levels.push(own);
            rest = others;
        }
        match weights == u128::from(count) {
            true => Ok(Ok(Self { capacity, count, nan, missing, extremes, levels, over, under })),
            false => Ok(Err("the weights of the values of a column do not add up to their count")),
        }
    }
}

/// Returns the number of levels of `count` values. A level above the first was made from a full level, whose weight is
/// at most `count`.
fn level_count(capacity: usize, count: u64) -> usize {
    (count / capacity as u64).checked_ilog2().map_or(0, |halvings| halvings as usize + 1) + 1
}

/// Reserves memory for the levels of `count` values. A level may temporarily hold `times` its capacity.
fn reserve(levels: &mut Vec<Vec<i64>>, capacity: usize, count: u64, times: usize) -> Result<()> {
    let needed = level_count(capacity, count);
    let most = capacity.saturating_mul(times);
    let out_of_memory = |values: usize| Error::out_of_memory(values.saturating_mul(size_of::<i64>()));
    levels.try_reserve(needed.saturating_sub(levels.len())).map_err(|_| out_of_memory(needed))?;
    while levels.len() < needed {
        levels.push(Vec::new());
    }
    for (level, values) in (0_u32..).zip(levels) {
        let room = usize::try_from(count >> level).map_or(most, |count| count.min(most));
        values.try_reserve(room.saturating_sub(values.len())).map_err(|_| out_of_memory(room))?;
    }
    Ok(())
}
