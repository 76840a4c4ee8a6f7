//! Blocks of rows, centered and divided into strips of columns, as [`product`](super::product) multiplies them.

use std::ops::Range;

use super::blocks::{ValueSource, cut};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::room::filled;
use crate::convert::level::{Level, LongLoop};
use crate::table::Region;

/// Number of rows of a block.
pub(super) const BLOCK_ROWS: usize = 256;
/// Number of columns of a strip: a cache line.
pub(super) const STRIP: usize = 8;
/// Number of strips of a block that are filled, or multiplied with every other strip, before the next ones: 240 KiB,
/// which stay in the second-level cache. A multiple of three: three tiles are computed at a time.
pub(super) const NEAR_STRIPS: usize = 15;

pub(super) type Lanes = [f64; STRIP];

/// One row of a strip: one cache line. A vector that crosses two lines takes two loads.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) Lanes);

/// The values subtracted from columns before they are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Center {
    /// The means of the columns: in a block, those of its rows; in results, those of all rows.
    Means,
    /// Nothing.
    Zero,
}

/// Some rows, centered and divided into strips.
pub(super) struct Block {
    center: Center,
    pub(super) rows: usize,
    /// The values, strip by strip and row by row. Columns past the last are zeros.
    strips: Vec<Line>,
    /// For each strip, the values subtracted from its columns, about their means. If nothing was subtracted, their
    /// sums.
    pub(super) shifts: Vec<Lanes>,
    /// For each strip, the sums of its centered values: zero except for rounding.
    pub(super) rests: Vec<Lanes>,
}

impl Block {
    /// Creates a block with room for `rows` rows.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn new(columns: usize, rows: usize, center: Center) -> Result<Self> {
        let count = columns.div_ceil(STRIP);
        let zeros = |count| filled(count, [0.0; STRIP]);
        let strips = filled(count.saturating_mul(rows), Line([0.0; STRIP]))?;
        let (shifts, rests) = (zeros(count)?, zeros(count)?);
        Ok(Self { center, rows: 0, strips, shifts, rests })
    }

    /// Reads rows. `buffer` is used if their values have to be converted.
    pub(super) fn read(
        &mut self,
        rows: Range<usize>,
        columns: usize,
        source: &dyn ValueSource,
        buffer: &mut Vec<f64>,
    ) -> Result<()> {
        let region = Region { rows, columns: 0..columns };
        let values = source.read(&region, buffer)?;
        self.rows = region.rows.len();
        Level::chosen().run_long(Fill { block: self, values, columns });
        Ok(())
    }

    /// Fills and centers some strips at a time, which stay in the second-level cache.
    #[inline(always)]
    fn fill(&mut self, values: &[f64], columns: usize) {
        let rows = self.rows;
        for near in cut(0..self.shifts.len(), NEAR_STRIPS) {
            let of_row = near.start * STRIP..columns.min(near.end * STRIP);
            for (r, row) in values.chunks_exact(columns).enumerate() {
                let (whole, rest) = row[of_row.clone()].as_chunks::<STRIP>();
                let mut at = near.start * rows + r;
                for values in whole {
                    self.strips[at].0 = *values;
                    at += rows;
                }
                if !rest.is_empty() {
                    let mut last = [0.0; STRIP];
                    last[..rest.len()].copy_from_slice(rest);
                    self.strips[at].0 = last;
                }
            }
            let strips = self.strips[near.start * rows..near.end * rows].chunks_exact_mut(rows);
            let places = strips.zip(&mut self.shifts[near.clone()]).zip(&mut self.rests[near]);
            for ((strip, shift), rest) in places {
                subtract_means(strip, self.center, shift, rest);
            }
        }
    }

    pub(super) fn strip(&self, strip: usize) -> &[Line] {
        &self.strips[strip * self.rows..(strip + 1) * self.rows]
    }
}

/// Subtracts the means of its columns from a strip, and sums up what is left. If nothing is to be subtracted, stores
/// the sums in `shift`, and does not change `rest`, which is zero.
#[inline(always)]
fn subtract_means(strip: &mut [Line], center: Center, shift: &mut Lanes, rest: &mut Lanes) {
    if center == Center::Zero {
        *shift = sum_by_lanes(strip, |_, value| *value);
        return;
    }
    // Relative to the first row, so that equal values have no deviations; on a part of each value, so that sums stay in
    // the range of `f64`.
    let (first, part) = (strip[0].0, 1.0 / strip.len() as f64);
    let means = sum_by_lanes(strip, |lane, value| *value * part - first[lane] * part);
    *shift = std::array::from_fn(|lane| first[lane] + means[lane]);
    if shift.iter().any(|shift| !shift.is_finite()) {
        far_means(strip, part, shift);
    }
    let shift = *shift;
    *rest = sum_by_lanes(strip, |lane, value| {
        *value -= shift[lane];
        *value
    });
}

/// Recomputes from halves the means that left the range of `f64` because the difference between a value and the first
/// value exceeds it. The means of columns with a non-finite value stay infinite or NaN.
#[cold]
#[inline(never)]
fn far_means(strip: &[Line], part: f64, means: &mut Lanes) {
    let (first, half) = (strip[0].0, part / 2.0);
    for (lane, mean) in means.iter_mut().enumerate().filter(|(_, mean)| !mean.is_finite()) {
        let above: f64 = strip.iter().map(|line| line.0[lane] * half - first[lane] * half).sum();
        *mean = 2.0 * (first[lane] / 2.0 + above);
    }
}

/// Calls `of` for each value of a strip, which it may change, and sums the results by lanes: in four chains of rows, in
/// the same order at every level.
#[inline(always)]
fn sum_by_lanes(strip: &mut [Line], of: impl Fn(usize, &mut f64) -> f64) -> Lanes {
    let mut sums = [[0.0; STRIP]; 4];
    let (whole, rest) = strip.as_chunks_mut::<4>();
    for rows in whole {
        for (sum, values) in sums.iter_mut().zip(rows) {
            (0..STRIP).for_each(|lane| sum[lane] += of(lane, &mut values.0[lane]));
        }
    }
    for (sum, values) in sums.iter_mut().zip(rest) {
        (0..STRIP).for_each(|lane| sum[lane] += of(lane, &mut values.0[lane]));
    }
    std::array::from_fn(|lane| (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]))
}

/// Fills a block with rows.
struct Fill<'a> {
    block: &'a mut Block,
    values: &'a [f64],
    columns: usize,
}

impl LongLoop for Fill<'_> {
    #[inline(always)]
    fn run(self) {
        self.block.fill(self.values, self.columns);
    }
}
