//! The loops of k-means: find the nearest centroid of each row of a block, and sum the rows of each cluster.
//!
//! Eight rows at a time are transposed into columns of eight lanes, and compared with eight centroids at a time. Each
//! distance is a sum of squared differences, added with fused multiplications from the first column to the last, on
//! every processor (`avx2` does the same with AVX2 vectors). Differences are computed directly: the matrix product
//! `|x|² - 2xc + |c|²` loses all digits of distances that are small compared with the values.

use numeric_table::Result;
use numeric_table::internal::{Level, LongLoop};

#[cfg(target_arch = "x86_64")]
use crate::avx2;
use numeric_table::internal::filled;

/// The number of rows, and of columns of a row, that are processed together: a cache line of `f64`.
pub(crate) const LANES: usize = 8;
/// The number of centroids that are compared together: their distances stay in AVX-512 registers.
const GROUP: usize = 8;

pub(crate) type Lanes = [f64; LANES];

/// The index of rows without a nearest centroid.
pub(crate) const NONE: u32 = u32::MAX;

/// Centroids in the order that the loops need.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Centroids {
    columns: usize,
    /// Row by row.
    values: Vec<f64>,
    /// Groups of eight centroids, column by column, then the remaining centroids, row by row.
    grouped: Vec<f64>,
}

impl Centroids {
    /// Creates centroids from complete rows of at least one column.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](numeric_table::ErrorKind::OutOfMemory).
    pub(crate) fn new(values: Vec<f64>, columns: usize) -> Result<Self> {
        let mut grouped = filled(values.len(), 0.0)?;
        grouped.copy_from_slice(&values);
        let sources = values.chunks_exact(GROUP * columns);
        for (group, source) in grouped.chunks_exact_mut(GROUP * columns).zip(sources) {
            for (centroid, row) in source.chunks_exact(columns).enumerate() {
                group.iter_mut().skip(centroid).step_by(GROUP).zip(row).for_each(|(place, &value)| *place = value);
            }
        }
        Ok(Self { columns, values, grouped })
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn count(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Returns the centroids, row by row.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }
}

/// Finds the nearest centroids of the rows of blocks, with buffers that are reused.
pub(crate) struct Finder<'c> {
    level: Level,
    centroids: &'c Centroids,
    /// Eight rows as columns of eight lanes.
    lanes: Vec<Lanes>,
    /// The eight rows before they are transposed.
    #[cfg(target_arch = "x86_64")]
    rows: Vec<f64>,
    /// The index of the nearest centroid of each row of the last block; [`NONE`] for rows that are not finite.
    pub(crate) nearest: Vec<u32>,
    /// The squared distance to it; zero for rows that are not finite.
    pub(crate) distances: Vec<f64>,
}

impl<'c> Finder<'c> {
    /// Allocates buffers for blocks of up to `rows` rows.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](numeric_table::ErrorKind::OutOfMemory).
    pub(crate) fn new(centroids: &'c Centroids, rows: usize) -> Result<Self> {
        let lanes = filled(centroids.columns, [0.0; LANES])?;
        let rows = rows.next_multiple_of(LANES);
        Ok(Self {
            level: Level::chosen(),
            centroids,
            lanes,
            #[cfg(target_arch = "x86_64")]
            rows: filled(centroids.columns.saturating_mul(LANES), 0.0)?,
            nearest: filled(rows, 0)?,
            distances: filled(rows, 0.0)?,
        })
    }

    /// Finds the nearest centroids of complete rows.
    pub(crate) fn find<T: Copy + Into<f64>>(&mut self, values: &[T]) {
        let rows = values.len() / self.centroids.columns;
        self.find_near(values);
        for row in 0..rows {
            if self.distances[row] == f64::INFINITY {
                self.find_far(row, &values[row * self.centroids.columns..][..self.centroids.columns]);
            }
        }
    }

    /// Finds the nearest centroids of rows with at least one finite squared distance. The loops are compiled
    /// separately: together they would be too large for the compiler to vectorize.
    fn find_near<T: Copy + Into<f64>>(&mut self, values: &[T]) {
        let (level, columns) = (self.level, self.centroids.columns);
        let places = self.nearest.as_chunks_mut::<LANES>().0.iter_mut().zip(self.distances.as_chunks_mut::<LANES>().0);
        for (values, (nearest, distances)) in values.chunks(LANES * columns).zip(places) {
            #[cfg(target_arch = "x86_64")]
            if let Some(found) = avx2::find(level, values, self.centroids, &mut self.rows, &mut self.lanes) {
                (*nearest, *distances) = found;
                continue;
            }
            level.run_long(Turn { values, columns, lanes: &mut self.lanes });
            level.run_long(Compare { centroids: self.centroids, lanes: &self.lanes, nearest, distances });
        }
    }

    /// Finds the nearest centroid of a row without a finite squared distance: either the row is not finite, or it is so
    /// far from all centroids that squares leave the range of `f64`.
    #[cold]
    fn find_far<T: Copy + Into<f64>>(&mut self, row: usize, values: &[T]) {
        if !values.iter().all(|&value| value.into().is_finite()) {
            (self.nearest[row], self.distances[row]) = (NONE, 0.0);
            return;
        }
        /// 2^-540: squares of differences are in range, and so are sums of 2^64 of them.
        const SMALLER: f64 = f64::from_bits((1023 - 540) << 52);
        let mut best = f64::INFINITY;
        for (index, centroid) in self.centroids.values.chunks_exact(self.centroids.columns).enumerate() {
            let squares = values.iter().zip(centroid).map(|(&value, &centre)| {
                let apart = value.into() * SMALLER - centre * SMALLER;
                apart * apart
            });
            let distance: f64 = squares.sum();
            if distance < best {
                (best, self.nearest[row]) = (distance, index as u32);
            }
        }
    }
}

/// Transposes up to eight rows into columns of eight lanes.
struct Turn<'a, T> {
    values: &'a [T],
    columns: usize,
    lanes: &'a mut [Lanes],
}

impl<T: Copy + Into<f64>> LongLoop for Turn<'_, T> {
    #[inline(always)]
    fn run(self) {
        turn(self.values, self.columns, self.lanes);
    }
}

/// Finds the nearest centroids of eight rows by comparing them with all centroids.
struct Compare<'a> {
    centroids: &'a Centroids,
    lanes: &'a [Lanes],
    nearest: &'a mut [u32; LANES],
    distances: &'a mut Lanes,
}

impl LongLoop for Compare<'_> {
    #[inline(always)]
    fn run(self) {
        (*self.nearest, *self.distances) = find_among_all(self.lanes, self.centroids);
    }
}

/// Finds the nearest centroids of eight rows.
#[inline(always)]
fn find_among_all(lanes: &[Lanes], centroids: &Centroids) -> ([u32; LANES], Lanes) {
    let columns = centroids.columns;
    let (groups, rest) = centroids.grouped.split_at(centroids.count() / GROUP * GROUP * columns);
    let (mut best, mut index) = ([f64::INFINITY; LANES], [0_u64; LANES]);
    let mut first = 0;
    for group in groups.chunks_exact(GROUP * columns) {
        let found = squared_distances::<GROUP>(lanes, group);
        for (centroid, found) in found.iter().enumerate() {
            keep_nearer(found, first + centroid as u64, &mut best, &mut index);
        }
        first += GROUP as u64;
    }
    for centroid in rest.chunks_exact(columns) {
        let [found] = squared_distances::<1>(lanes, centroid);
        keep_nearer(&found, first, &mut best, &mut index);
        first += 1;
    }
    (index.map(|index| index as u32), best)
}

/// Transposes up to eight rows into columns of eight lanes. The lanes of missing rows have arbitrary values.
#[inline(always)]
fn turn<T: Copy + Into<f64>>(values: &[T], columns: usize, lanes: &mut [Lanes]) {
    if values.len() < LANES * columns {
        for (row, values) in values.chunks_exact(columns).enumerate() {
            lanes.iter_mut().zip(values).for_each(|(lanes, &value)| lanes[row] = value.into());
        }
        return;
    }
    let rows: [&[T]; LANES] = std::array::from_fn(|row| &values[row * columns..][..columns]);
    let (tiles, rest) = lanes.as_chunks_mut::<LANES>();
    for (strip, tile) in tiles.iter_mut().enumerate() {
        for (row, values) in rows.iter().enumerate() {
            let values = values.as_chunks::<LANES>().0[strip];
            for (lanes, value) in tile.iter_mut().zip(values) {
                lanes[row] = value.into();
            }
        }
    }
    let done = columns - rest.len();
    for (lanes, column) in rest.iter_mut().zip(done..) {
        (0..LANES).for_each(|row| lanes[row] = rows[row][column].into());
    }
}

/// Returns the squared distances of eight rows from `G` centroids, which are stored column by column.
#[inline(always)]
fn squared_distances<const G: usize>(lanes: &[Lanes], centroids: &[f64]) -> [Lanes; G] {
    let mut sums = [[0.0; LANES]; G];
    for (values, centres) in lanes.iter().zip(centroids.as_chunks::<G>().0) {
        for (sums, centre) in sums.iter_mut().zip(centres) {
            for (sum, value) in sums.iter_mut().zip(values) {
                let apart = value - centre;
                *sum = apart.mul_add(apart, *sum);
            }
        }
    }
    sums
}

/// Keeps the first of equal distances. A NaN distance is never nearer.
#[inline(always)]
fn keep_nearer(found: &Lanes, centroid: u64, best: &mut Lanes, index: &mut [u64; LANES]) {
    for lane in 0..LANES {
        let is_nearer = found[lane] < best[lane];
        best[lane] = if is_nearer { found[lane] } else { best[lane] };
        index[lane] = if is_nearer { centroid } else { index[lane] };
    }
}

/// Adds the rows of a block to the sums of their clusters, in the order of the rows.
pub(crate) struct AddRows<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) columns: usize,
    pub(crate) nearest: &'a [u32],
    pub(crate) counts: &'a mut [u64],
    pub(crate) sums: &'a mut [f64],
}

impl<T: Copy + Into<f64>> LongLoop for AddRows<'_, T> {
    #[inline(always)]
    fn run(self) {
        let columns = self.columns;
        for (row, &cluster) in self.values.chunks_exact(columns).zip(self.nearest) {
            if cluster == NONE {
                continue;
            }
            let cluster = cluster as usize;
            self.counts[cluster] += 1;
            let sums = &mut self.sums[cluster * columns..][..columns];
            let (strips, rest) = sums.as_chunks_mut::<LANES>();
            let (values, last) = row.as_chunks::<LANES>();
            for (sums, values) in strips.iter_mut().zip(values) {
                (0..LANES).for_each(|lane| sums[lane] += values[lane].into());
            }
            rest.iter_mut().zip(last).for_each(|(sum, &value)| *sum += value.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares rows with centroids one after another, in the order of the columns.
    fn plain<T: Copy + Into<f64>>(values: &[T], centroids: &[f64], columns: usize) -> Vec<(u32, f64)> {
        let nearest = |row: &[T]| {
            if !row.iter().all(|&value| value.into().is_finite()) {
                return (NONE, 0.0);
            }
            let distance = |centroid: &[f64]| {
                row.iter().zip(centroid).fold(0.0_f64, |sum, (&value, centre)| {
                    let apart = value.into() - centre;
                    apart.mul_add(apart, sum)
                })
            };
            let all = centroids.chunks(columns).map(distance).enumerate();
            let (best, distance) = all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            (best as u32, distance)
        };
        values.chunks(columns).map(nearest).collect()
    }

    fn found<T: Copy + Into<f64>>(level: Level, values: &[T], centroids: &[f64], columns: usize) -> Vec<(u32, f64)> {
        let rows = values.len() / columns;
        let centroids = Centroids::new(centroids.to_vec(), columns).unwrap();
        let mut finder = Finder { level, ..Finder::new(&centroids, rows).unwrap() };
        finder.find(values);
        finder.nearest.iter().copied().zip(finder.distances.iter().copied()).take(rows).collect()
    }

    #[test]
    fn every_level_finds_what_a_plain_loop_finds() {
        let value = |i: usize| ((i * 7919 % 1013) as f32 - 500.0) / 7.0;
        for (rows, columns, count) in
            [(1, 1, 1), (7, 3, 5), (8, 8, 8), (9, 17, 4), (40, 16, 11), (23, 31, 2), (37, 16, 30), (333, 5, 13)]
        {
            let values: Vec<f32> = (0..rows * columns).map(value).collect();
            let centroids: Vec<f64> = (0..count * columns).map(|i| f64::from(value(i * 31 + 5))).collect();
            let expected = plain(&values, &centroids, columns);
            for level in Level::available() {
                assert_eq!(found(level, &values, &centroids, columns), expected, "{level:?}");
            }
        }
    }

    #[test]
    fn many_centroids_are_searched_as_if_all_were_compared_at_any_scale_and_with_ties() {
        let noise = |i: usize| ((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / f64::from(1 << 24);
        let ties = |i: usize| (i * i % 7 % 3) as f64;
        for (columns, count) in [(1, 40), (3, 12), (16, 33), (40, 100)] {
            for scale in [1e-200, 1e-44, 1e-37, 1e-20, 1.0, 1e15, 1e19, 1e37, 1e100] {
                for offset in [0.0, 1.0, 1e7, -1e12] {
                    for value in [&noise as &dyn Fn(usize) -> f64, &ties] {
                        let values: Vec<f64> = (0..100 * columns).map(|i| (value(i) + offset) * scale).collect();
                        let centroid = |i: usize| (value(i % 977 + 5000) + offset) * scale; // some are repeated
                        let centroids: Vec<f64> = (0..count * columns).map(centroid).collect();
                        let expected = plain(&values, &centroids, columns);
                        assert_eq!(
                            found(Level::chosen(), &values, &centroids, columns),
                            expected,
                            "{columns} {scale} {offset}"
                        );
                    }
                }
            }
        }
    }

    /// Compares the results of every level with a plain loop. For rows that are so far away that squares leave the
    /// range, a plain loop cannot find the nearest centroid; the result of the baseline is used instead.
    fn check_every_level<T: Copy + Into<f64>>(values: &[T], centroids: &[f64], columns: usize) {
        let mut expected = plain(values, centroids, columns);
        let baseline = found(Level::available()[0], values, centroids, columns);
        for (expected, baseline) in expected.iter_mut().zip(&baseline).filter(|pair| pair.0.1 == f64::INFINITY) {
            expected.0 = baseline.0;
        }
        for level in Level::available() {
            let found = found(level, values, centroids, columns);
            assert_eq!(found, expected, "{level:?}: {columns} columns, {} centroids", centroids.len() / columns);
        }
    }

    #[test]
    fn every_level_searches_hostile_values_as_a_plain_loop_does() {
        const WILD: [f64; 12] =
            [0.0, -0.0, 1.0, -1.0, 1.0 + f64::EPSILON, 0.1, 5e-324, -1e-45, 1e-40, 3e38, f64::MAX, -1e200];
        for (columns, count) in [(1, 1), (1, 40), (2, 3), (3, 4), (5, 5), (8, 7), (16, 8), (16, 9), (33, 12), (100, 6)]
        {
            let mut state = (columns * 100 + count) as u64;
            let mut below = |limit: usize| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                (state >> 33) as usize % limit
            };
            for round in 0..20 {
                let wild = &WILD[..[3, 9, WILD.len()][round % 3]]; // ties; of any size; out of range
                let mut numbers = |count| -> Vec<f64> { (0..count).map(|_| wild[below(wild.len())]).collect() };
                let (mut values, mut centroids) = (numbers(37 * columns), numbers(count * columns));
                centroids[..columns].copy_from_slice(&values[9 * columns..][..columns]);
                centroids.copy_within(..columns, (count - 1) * columns); // the last is the first
                for strange in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    values[below(37 * columns)] = strange;
                }
                check_every_level(&values, &centroids, columns);
                check_every_level(&values.iter().map(|&value| value as f32).collect::<Vec<_>>(), &centroids, columns);
            }
        }
    }
}
