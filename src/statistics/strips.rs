//! Blocks of rows, centered and divided into strips of columns, as [`product`](super::product) multiplies them.

use std::ops::Range;

use super::blocks::ValueSource;
use crate::array::Array;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::parallel;
use crate::base::range::cut;
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

/// One row of a strip. In a block, it is a cache line, because an [`Array`] begins at one: a vector that crosses two
/// lines takes two loads.
pub(super) type Lanes = [f64; STRIP];

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
    strips: Array<f64>,
    /// For each strip, the values subtracted from its columns, about their means. If nothing was subtracted, their
    /// sums.
    pub(super) shifts: Vec<Lanes>,
    /// For each strip, the sums of its centered values: zero except for rounding.
    pub(super) rests: Vec<Lanes>,
}

impl Block {
    /// Creates a block without rows.
    pub(super) fn new(center: Center) -> Self {
        Self { center, rows: 0, strips: Array::default(), shifts: Vec::new(), rests: Vec::new() }
    }

    /// Reads rows. Uses the memory of earlier rows again if it is large enough. `buffer` is used if values have to be
    /// converted.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]; the errors of reading the rows.
    pub(super) fn read(
        &mut self,
        rows: Range<usize>,
        columns: usize,
        source: &dyn ValueSource,
        buffer: &mut Vec<f64>,
    ) -> Result<()> {
        let strips = columns.div_ceil(STRIP);
        if self.shifts.len() != strips {
            (self.shifts, self.rests) = (filled(strips, [0.0; STRIP])?, filled(strips, [0.0; STRIP])?);
        }
        let count = strips.saturating_mul(rows.len()).saturating_mul(STRIP);
        if self.strips.len() < count {
            self.strips = parallel::serially(|| Array::full(count, 0.0))?; // on this thread: others read blocks too
        }
        let region = Region { rows, columns: 0..columns };
        let values = source.read(&region, buffer)?;
        self.rows = region.rows.len();
        let strips = self.strips.mutable_data()?.as_chunks_mut::<STRIP>().0;
        let (shifts, rests) = (&mut self.shifts[..], &mut self.rests[..]);
        Level::chosen().run_long(Fill { center: self.center, rows: self.rows, strips, shifts, rests, values, columns });
        Ok(())
    }

    pub(super) fn strip(&self, strip: usize) -> &[Lanes] {
        &self.strips.as_chunks::<STRIP>().0[strip * self.rows..(strip + 1) * self.rows]
    }
}

/// Subtracts the means of its columns from a strip, and sums up what is left. If nothing is to be subtracted, stores
/// the sums in `shift`, and does not change `rest`, which is zero.
#[inline(always)]
fn subtract_means(strip: &mut [Lanes], center: Center, shift: &mut Lanes, rest: &mut Lanes) {
    if center == Center::Zero {
        *shift = sum_by_lanes(strip, |values| *values);
        return;
    }
    // Relative to the first row, so that equal values have no deviations; on a part of each value, so that sums stay in
    // the range of `f64`.
    let (first, part) = (strip[0], 1.0 / strip.len() as f64);
    let means = sum_by_lanes(strip, |values| std::array::from_fn(|lane| values[lane] * part - first[lane] * part));
    *shift = std::array::from_fn(|lane| first[lane] + means[lane]);
    if shift.iter().any(|shift| !shift.is_finite()) {
        far_means(strip, part, shift);
    }
    let shift = *shift;
    *rest = sum_by_lanes(strip, |values| {
        *values = std::array::from_fn(|lane| values[lane] - shift[lane]);
        *values
    });
}

/// Recomputes from halves the means that left the range of `f64` because the difference between a value and the first
/// value exceeds it. The means of columns with a non-finite value stay infinite or NaN.
#[cold]
#[inline(never)]
fn far_means(strip: &[Lanes], part: f64, means: &mut Lanes) {
    let (first, half) = (strip[0], part / 2.0);
    for (lane, mean) in means.iter_mut().enumerate().filter(|(_, mean)| !mean.is_finite()) {
        let above: f64 = strip.iter().map(|line| line[lane] * half - first[lane] * half).sum();
        *mean = 2.0 * (first[lane] / 2.0 + above);
    }
}

/// Calls `of` for each row of a strip, which it may change. Sums the results by lanes: in four chains of rows, in the
/// same order at every level.
#[inline(always)]
fn sum_by_lanes(strip: &mut [Lanes], of: impl Fn(&mut Lanes) -> Lanes) -> Lanes {
    let add = |sums: Lanes, values: Lanes| -> Lanes { std::array::from_fn(|lane| sums[lane] + values[lane]) };
    // One row at a time: from a loop over four rows, the compiler makes vectors of several rows, with shuffles.
    let mut oldest_first = [[0.0; STRIP]; 4];
    let count = strip.len();
    for values in strip {
        let [oldest, second, third, newest] = oldest_first;
        oldest_first = [second, third, newest, add(oldest, of(values))];
    }
    let [a, b, c, d] = oldest_first;
    let [first, second, third, fourth] = match count % 4 {
        0 => [a, b, c, d],
        1 => [d, a, b, c],
        2 => [c, d, a, b],
        _ => [b, c, d, a],
    };
    add(add(first, second), add(third, fourth))
}

/// Fills a block with rows.
struct Fill<'a> {
    center: Center,
    rows: usize,
    strips: &'a mut [Lanes],
    shifts: &'a mut [Lanes],
    rests: &'a mut [Lanes],
    values: &'a [f64],
    columns: usize,
}

impl LongLoop for Fill<'_> {
    /// Fills and centers some strips at a time, which stay in the second-level cache.
    #[inline(always)]
    fn run(self) {
        let Self { center, rows, strips: all, shifts, rests, values, columns } = self;
        for near in cut(0..shifts.len(), NEAR_STRIPS) {
            let of_row = near.start * STRIP..columns.min(near.end * STRIP);
            for (r, row) in values.chunks_exact(columns).enumerate() {
                let (whole, rest) = row[of_row.clone()].as_chunks::<STRIP>();
                let mut at = near.start * rows + r;
                for values in whole {
                    all[at] = *values;
                    at += rows;
                }
                if !rest.is_empty() {
                    let mut last = [0.0; STRIP];
                    last[..rest.len()].copy_from_slice(rest);
                    all[at] = last;
                }
            }
            let strips = all[near.start * rows..near.end * rows].chunks_exact_mut(rows);
            let places = strips.zip(&mut shifts[near.clone()]).zip(&mut rests[near]);
            for ((strip, shift), rest) in places {
                subtract_means(strip, center, shift, rest);
            }
        }
    }
}
