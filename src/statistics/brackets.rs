//! Order statistics of many rows without a copy of them: brackets from a sample, one pass, and a selection among few.
//!
//! A sample of each column gives two values between which an order statistic lies almost surely. One pass over the
//! table, divided by rows, counts the values below both and collects those from one to the other, a few percent. The
//! counts show which of the collected values it is. In a column where the bounds themselves are frequent, values equal
//! to a bound are counted instead of collected. If the sample misled, or too many values would be collected, the column
//! has no result here, and the caller selects in a copy. So the results are exact, and only the time depends on the
//! sample, whose seed is fixed.
//!
//! Values are integers in the order of `f64::total_cmp`, as in `quantiles`: negative NaN is below and positive NaN
//! above all numbers. Source: Floyd and Rivest, "Expected Time Bounds for Selection".

use std::ops::Range;

use super::blocks::Work;
use super::quantiles::{put_in_place, to_ordered};
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::random::Random;
use crate::base::range::cut;
use crate::base::room::{filled, with_room};
use crate::convert::level::{Level, LongLoop};
use crate::table::{DataLayout, Region};

/// Fewer rows are copied.
const MIN_ROWS: usize = 64 << 10;
/// More probabilities are selected in a copy: each costs some comparisons for every value.
const MAX_PROBABILITIES: usize = 8;
/// Rows that are sampled together: one read.
const CLUSTER: usize = 8;
/// Values of the sample for each unit of the square root of the rows.
const SAMPLE: usize = 32;
/// The half width of a bracket in standard deviations of the rank in the sample.
const DEVIATIONS: f64 = 4.0;
/// The most columns of a row-major table that are read together.
const TOGETHER: usize = 32;
/// Rows and values that are read together: they stay in the first-level cache.
const TILE_ROWS: usize = 1024;
const TILE_VALUES: usize = 4096;
/// Places between the tiles of two columns, which spread their lines over the sets of the cache.
const APART: usize = 8;
/// One of this number of values may be collected.
const COLLECTED: usize = 4;
/// If one of this number of sampled values is a bound, values equal to a bound are counted.
const FREQUENT: usize = 32;
/// The number of brackets that are counted together: seven counts, four to an integer.
const COUNTED: usize = 3;

/// The integers of the infinities.
const LEAST: i64 = !0x7FF0_0000_0000_0000;
const GREATEST: i64 = 0x7FF0_0000_0000_0000;

/// The order statistics of a column.
pub(super) struct Selected {
    /// The number of values that are not NaN.
    pub(super) count: usize,
    /// The ranks, which ascend, and the integers of their values.
    pub(super) values: Vec<(usize, i64)>,
}

/// Returns whether tables of that many rows have results here.
pub(super) fn suits(rows: usize, probabilities: &[f64]) -> bool {
    rows >= MIN_ROWS && (1..=MAX_PROBABILITIES).contains(&probabilities.len())
}

/// Selects the values of some ranks of every column. `ranks` returns them, in ascending order, given the last rank.
/// A column without a result has to be selected in a copy.
///
/// # Errors
/// The errors of reading the table; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
pub(super) fn select(
    work: &Work<'_>,
    layout: DataLayout,
    probabilities: &[f64],
    ranks: &(dyn Fn(usize) -> Result<Vec<usize>> + Sync),
) -> Result<Vec<Option<Selected>>> {
    let (rows, columns) = (work.shape.rows, work.shape.columns);
    let together = match layout {
        DataLayout::RowMajor => TOGETHER,
        DataLayout::ColumnMajor => 1,
    };
    let groups: Vec<Range<usize>> = cut(0..columns, together).collect();
    let bytes = rows.saturating_mul(columns).saturating_mul(2 * size_of::<f64>());
    let tasks = parallel::task_count(bytes);
    let brackets = all(parallel::map(groups.clone(), |columns| brackets_of(work, columns, probabilities)))?;
    let step = rows.div_ceil(tasks.div_ceil(groups.len().max(1))).max(TILE_ROWS);
    let pieces = groups.iter().cloned().zip(&brackets);
    let pieces =
        pieces.flat_map(|(columns, brackets)| cut(0..rows, step).map(move |rows| (rows, columns.clone(), brackets)));
    let parts = all(parallel::map(pieces.collect(), |(rows, columns, brackets)| count(work, rows, columns, brackets)))?;
    let mut by_column: Vec<Vec<Counted>> = (0..columns).map(|_| Vec::new()).collect();
    let starts = groups.iter().flat_map(|columns| cut(0..rows, step).map(|_| columns.start));
    for (start, part) in starts.zip(parts) {
        part.into_iter().zip(&mut by_column[start..]).for_each(|(part, column)| column.push(part));
    }
    let brackets = brackets.into_iter().flatten();
    let columns = by_column.into_iter().zip(brackets).collect();
    all(parallel::map(columns, |(parts, brackets): (Vec<Counted>, Brackets)| {
        finish(rows, parts, &brackets.list, ranks)
    }))
}

fn all<V>(results: Vec<Result<V>>) -> Result<Vec<V>> {
    results.into_iter().collect()
}

/// Two integers. Order statistics are between them, or equal to one of them.
#[derive(Clone, Copy)]
struct Bracket {
    low: i64,
    high: i64,
}

/// The brackets of a column, which ascend.
#[derive(Default)]
struct Brackets {
    /// No two of these have a value in common, apart from bounds if `counts_bounds`.
    list: Vec<Bracket>,
    /// Whether values equal to a bound are counted, not collected.
    counts_bounds: bool,
}

/// Returns the brackets of each of some columns, in ascending order, from a sample.
fn brackets_of(work: &Work<'_>, columns: Range<usize>, probabilities: &[f64]) -> Result<Vec<Brackets>> {
    let (rows, width) = (work.shape.rows, columns.len());
    let clusters = (rows.isqrt() * SAMPLE / CLUSTER).min(rows / CLUSTER).max(1);
    let stride = rows / clusters; // at least `CLUSTER`
    let mut sample = filled(clusters * CLUSTER * width, 0.0)?;
    let tasks = parallel::task_count(size_of_val(&sample[..]).saturating_mul(8)); // cache misses
    let parts = parallel::cut((0, &mut sample[..]), clusters, tasks, |(first, values), count| {
        let (head, tail) = values.split_at_mut(count * CLUSTER * width);
        ((first, head), (first + count, tail))
    });
    let read = parallel::map(parts, |(first, values): (usize, &mut [f64])| {
        let mut random = Random::new(first as u64);
        let mut buffer = Vec::new();
        for (index, values) in values.chunks_exact_mut(CLUSTER * width).enumerate() {
            // One cluster in each of equal parts of the rows: sorted columns have good samples, too.
            let start = (first + index) * stride + random.below(stride - CLUSTER + 1);
            let region = Region { rows: start..start + CLUSTER, columns: columns.clone() };
            values.copy_from_slice(work.source.read(&region, &mut buffer)?);
        }
        Ok(())
    });
    all(read)?;
    let mut sorted = with_room(probabilities.len())?;
    sorted.extend_from_slice(probabilities);
    sorted.sort_unstable_by(f64::total_cmp);
    all(parallel::map((0..width).collect(), |column| {
        let mut values = with_room(clusters * CLUSTER)?;
        let of_column = sample[column..].iter().step_by(width).filter(|value| !value.is_nan());
        values.extend(of_column.map(|&value| to_ordered(value)));
        of_sample(&mut values, &sorted)
    }))
}

/// Returns the brackets of ascending probabilities, given a sample. Reorders the sample.
fn of_sample(sample: &mut [i64], probabilities: &[f64]) -> Result<Brackets> {
    let Some(last) = sample.len().checked_sub(1) else { return Ok(Brackets::default()) };
    let places = |probability: f64| {
        let middle = probability * last as f64;
        let width = DEVIATIONS * (last as f64 * probability * (1.0 - probability)).sqrt() + 2.0;
        let (low, high) = ((middle - width).floor(), (middle + width).ceil());
        ((low >= 0.0).then_some(low as usize), Some(high as usize).filter(|&high| high <= last))
    };
    let mut ranks = with_room(2 * probabilities.len())?;
    ranks.extend(probabilities.iter().flat_map(|&probability| <[_; 2]>::from(places(probability))).flatten());
    ranks.sort_unstable();
    ranks.dedup();
    put_in_place(sample, 0, &ranks);
    let merged = |counts_bounds: bool| -> Result<Brackets> {
        let mut list: Vec<Bracket> = with_room(probabilities.len())?;
        for &probability in probabilities {
            let (low, high) = places(probability);
            // Outside of the sample: any number, but not NaN.
            let (low, high) = (low.map_or(LEAST, |at| sample[at]), high.map_or(GREATEST, |at| sample[at]));
            let meets = |before: &Bracket| low < before.high || (low == before.high && !counts_bounds);
            match list.last_mut().filter(|before| meets(before)) {
                Some(before) => *before = Bracket { low: before.low.min(low), high: before.high.max(high) },
                None => list.push(Bracket { low, high }),
            }
        }
        Ok(Brackets { list, counts_bounds })
    };
    let brackets = merged(false)?;
    let is_bound = |value: i64| brackets.list.iter().any(|bracket| value == bracket.low || value == bracket.high);
    let bounds = sample.iter().filter(|&&value| is_bound(value)).count();
    if bounds > sample.len() / FREQUENT { merged(true) } else { Ok(brackets) }
}

/// The counts of one bracket.
#[derive(Clone, Copy, Default)]
struct Counts {
    below_low: usize,
    /// Like `below_low` if bounds are not counted; then `below_high` is like `up_to_high`.
    up_to_low: usize,
    below_high: usize,
    up_to_high: usize,
}

/// A column of some rows.
struct Counted {
    counts: Vec<Counts>,
    /// The number of NaN below and above all numbers.
    negative_nan: usize,
    positive_nan: usize,
    /// The values between the bounds of a bracket.
    collected: Vec<i64>,
    /// Whether more values would have to be collected.
    is_full: bool,
}

/// Counts and collects the values of some rows and columns.
fn count(work: &Work<'_>, rows: Range<usize>, columns: Range<usize>, brackets: &[Brackets]) -> Result<Vec<Counted>> {
    let (width, most) = (columns.len(), rows.len() / COLLECTED + TILE_ROWS);
    let mut parts = with_room(width)?;
    for brackets in brackets {
        let counts = filled(brackets.list.len(), Counts::default())?;
        parts.push(Counted { counts, negative_nan: 0, positive_nan: 0, collected: Vec::new(), is_full: false });
    }
    let step = (TILE_VALUES / width).clamp(64, TILE_ROWS);
    let mut buffer = Vec::new();
    let stride = step + APART;
    let mut tiles = filled(stride * width, 0_i64)?;
    let mut room = Room { places: [0; TILE_ROWS], inside: [0; TILE_ROWS], count: 0 };
    for rows in cut(rows, step) {
        let region = Region { rows: rows.clone(), columns: columns.clone() };
        let values = work.source.read(&region, &mut buffer)?;
        Level::chosen().run_long(Order { values, width, tiles: &mut tiles, stride });
        for ((part, brackets), tile) in parts.iter_mut().zip(brackets).zip(tiles.chunks_exact(stride)) {
            if part.is_full {
                continue;
            }
            room.count = 0;
            let tile = &tile[..(values.len() / width).min(step)];
            Level::chosen().run_long(Scan { tile, brackets, part: &mut *part, room: &mut room });
            let collected = &room.inside[..room.count];
            part.is_full = part.collected.len() + collected.len() > most;
            let bytes = size_of_val(collected);
            part.collected.try_reserve(collected.len()).map_err(|_| Error::out_of_memory(bytes))?;
            part.collected.extend_from_slice(collected);
        }
        work.done(rows.len(), columns.clone());
    }
    Ok(parts)
}

/// Memory for the values of a tile that are in brackets.
struct Room {
    /// The number of bounds below each value of the tile; odd if the value is in a bracket.
    places: [u8; TILE_ROWS],
    /// The values that are collected. Brackets have no values in common, so there is room for all of them.
    inside: [i64; TILE_ROWS],
    count: usize,
}

impl Room {
    #[inline(always)]
    fn collect(&mut self, value: i64) {
        self.inside[self.count % TILE_ROWS] = value;
        self.count += 1;
    }
}

/// The loop that converts values, stored row by row, to integers, stored column by column in tiles `stride` apart. It
/// reads the values in the order of memory, which the processor fetches in advance.
struct Order<'a> {
    values: &'a [f64],
    width: usize,
    tiles: &'a mut [i64],
    stride: usize,
}

impl LongLoop for Order<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { values, width, tiles, stride } = self;
        if width == 1 {
            tiles.iter_mut().zip(values).for_each(|(ordered, &value)| *ordered = to_ordered(value));
            return;
        }
        for (row, values) in values.chunks_exact(width).enumerate().take(stride) {
            for (tile, &value) in tiles.chunks_exact_mut(stride).zip(values) {
                tile[row] = to_ordered(value);
            }
        }
    }
}

/// The loop over a tile of one column.
struct Scan<'a> {
    tile: &'a [i64],
    brackets: &'a Brackets,
    part: &'a mut Counted,
    room: &'a mut Room,
}

impl LongLoop for Scan<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { tile, brackets, part, room } = self;
        let (mut negative, mut positive) = (0_u64, 0_u64);
        for &value in tile {
            negative += u64::from(value < LEAST);
            positive += u64::from(value > GREATEST);
        }
        part.negative_nan += negative as usize; // at most the rows of a tile
        part.positive_nan += positive as usize;
        // Loops, not `for_each`: its closure would be a function of its own, compiled without the level's instructions.
        if brackets.counts_bounds {
            for (&bracket, counts) in brackets.list.iter().zip(&mut part.counts) {
                count_bounds(bracket, tile, room, counts);
            }
            return;
        }
        for (brackets, counts) in brackets.list.chunks(COUNTED).zip(part.counts.chunks_mut(COUNTED)) {
            count_places(brackets, tile, room, counts);
        }
    }
}

/// Counts the values below, at and above the bounds of a bracket, and collects those between them.
#[inline(always)]
fn count_bounds(Bracket { low, high }: Bracket, tile: &[i64], room: &mut Room, counts: &mut Counts) {
    let (mut below_low, mut up_to_low, mut below_high, mut up_to_high) = (0_u64, 0_u64, 0_u64, 0_u64);
    for &value in tile {
        below_low += u64::from(value < low);
        up_to_low += u64::from(value <= low);
        below_high += u64::from(value < high);
        up_to_high += u64::from(value <= high);
    }
    counts.below_low += below_low as usize;
    counts.up_to_low += up_to_low as usize;
    counts.below_high += below_high as usize;
    counts.up_to_high += up_to_high as usize;
    for &value in tile {
        if low < value && value < high {
            room.collect(value);
        }
    }
}

/// Counts the values below up to [`COUNTED`] brackets and in them, and collects the latter.
#[inline(always)]
fn count_places(brackets: &[Bracket], tile: &[i64], room: &mut Room, counts: &mut [Counts]) {
    let mut limits = [[i64::MAX; 2]; COUNTED]; // above which no value is
    for (limits, bracket) in limits.iter_mut().zip(brackets) {
        *limits = [bracket.low - 1, bracket.high]; // at least that of minus infinity, minus one
    }
    // Numbers of values by place, 16 bits for each: a tile has fewer than 2^16 values.
    let (mut first, mut last) = (0_u64, 0_u64);
    for (&value, target) in tile.iter().zip(&mut room.places) {
        let mut place = 0_u64;
        for limit in limits.as_flattened() {
            place += u64::from(value > *limit);
        }
        first += if place < 4 { 1 << (16 * (place & 3)) } else { 0 };
        last += if place < 4 { 0 } else { 1 << (16 * (place & 3)) };
        *target = place as u8; // at most 6
    }
    let mut below = 0;
    for (index, counts) in counts.iter_mut().enumerate() {
        let count = |place: usize| match place {
            0..4 => (first >> (16 * place)) as u16,
            _ => (last >> (16 * (place - 4))) as u16,
        };
        below += usize::from(count(2 * index));
        counts.below_low += below;
        counts.up_to_low += below;
        below += usize::from(count(2 * index + 1));
        counts.below_high += below;
        counts.up_to_high += below;
    }
    let start = room.count;
    let (groups, rest) = tile.as_chunks::<8>();
    for (group, values) in groups.iter().enumerate() {
        let mut odd = u64::from_le_bytes(room.places.as_chunks().0[group]) & 0x0101_0101_0101_0101;
        while odd != 0 {
            room.collect(values[odd.trailing_zeros() as usize / 8]);
            odd &= odd - 1;
        }
    }
    for (index, &value) in rest.iter().enumerate() {
        if room.places[8 * groups.len() + index] % 2 == 1 {
            room.collect(value);
        }
    }
    debug_assert!(room.count - start <= tile.len());
}

/// Selects the values of the ranks of a column.
fn finish(
    rows: usize,
    parts: Vec<Counted>,
    brackets: &[Bracket],
    ranks: &(dyn Fn(usize) -> Result<Vec<usize>> + Sync),
) -> Result<Option<Selected>> {
    let sum = |count: &dyn Fn(&Counted) -> usize| parts.iter().map(count).sum::<usize>();
    let (negative_nan, positive_nan) = (sum(&|part| part.negative_nan), sum(&|part| part.positive_nan));
    let count = rows.saturating_sub(negative_nan + positive_nan);
    let Some(last) = count.checked_sub(1).filter(|_| !parts.iter().any(|part| part.is_full)) else { return Ok(None) };
    let mut counts = filled(brackets.len(), Counts::default())?;
    for (index, counts) in counts.iter_mut().enumerate() {
        *counts = Counts {
            below_low: sum(&|part| part.counts[index].below_low),
            up_to_low: sum(&|part| part.counts[index].up_to_low),
            below_high: sum(&|part| part.counts[index].below_high),
            up_to_high: sum(&|part| part.counts[index].up_to_high),
        };
    }
    let inside: usize = counts.iter().map(|counts| counts.below_high.saturating_sub(counts.up_to_low)).sum();
    let mut collected = with_room(inside)?;
    if sum(&|part| part.collected.len()) != inside {
        return Ok(None); // the table has changed
    }
    parts.iter().for_each(|part| collected.extend_from_slice(&part.collected));
    // The places of ranks: a value, or an index among the collected values, which are grouped by brackets when sorted.
    let find = |rank: usize| {
        let (place, mut start) = (rank + negative_nan, 0);
        for (bracket, counts) in brackets.iter().zip(&counts) {
            match place {
                _ if place < counts.below_low => return None,
                _ if place < counts.up_to_low => return Some((Some(bracket.low), 0)),
                _ if place < counts.below_high => return Some((None, start + place - counts.up_to_low)),
                _ if place < counts.up_to_high => return Some((Some(bracket.high), 0)),
                _ => start += counts.below_high.saturating_sub(counts.up_to_low),
            }
        }
        None
    };
    let ranks = ranks(last)?;
    let mut values = with_room(ranks.len())?;
    let mut indices = with_room(ranks.len())?;
    for &rank in &ranks {
        match find(rank) {
            None => return Ok(None),
            Some((None, index)) => indices.push(index),
            Some((Some(_), _)) => {}
        }
    }
    put_in_place(&mut collected, 0, &indices);
    let value = |rank| find(rank).map(|(value, index)| value.unwrap_or_else(|| collected[index]));
    values.extend(ranks.iter().filter_map(|&rank| Some((rank, value(rank)?))));
    Ok(Some(Selected { count, values }))
}
