//! The totals of a step of k-means: the sums of each block of rows, computed on several threads and added in order.

use std::ops::Range;

use numeric_table::internal::{Level, filled, parallel, with_room};
use numeric_table::{Element, NumericTable, Result, Shape};

use super::KMeansStep;
use crate::nearest::{AddRows, Finder};
use crate::rows::{CompleteRows, Reader, block_rows, blocks};
use crate::sum::{DOWN, Sum};

/// The largest number of blocks, and the approximate number of bytes of their sums, that a thread computes before they
/// are added to the totals; and the number of bytes of sums that wait to be added.
const RUN_BLOCKS: usize = 16;
const RUN_BYTES: usize = 1 << 20;
const HELD_BYTES: usize = 64 << 20;

/// The sums of the rows of a block.
struct BlockSums {
    rows: Range<usize>,
    /// The number of rows of each cluster.
    counts: Vec<u64>,
    /// The sum of the rows of each cluster, which may have left the range of `f64`.
    sums: Vec<f64>,
    inertia: f64,
}

/// The totals. Invariant: the total number of rows is at most `u64::MAX`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Totals {
    /// The number of rows of each cluster.
    pub(super) counts: Vec<u64>,
    /// The sum of the rows of each cluster.
    pub(super) sums: Vec<Sum>,
    pub(super) inertia: Sum,
    pub(super) non_finite_rows: u64,
    pub(super) missing_rows: u64,
}

impl Totals {
    pub(super) fn new(clusters: usize, columns: usize) -> Result<Self> {
        let sums = filled(clusters.saturating_mul(columns), Sum::default())?;
        Ok(Self { counts: filled(clusters, 0)?, sums, inertia: Sum::default(), non_finite_rows: 0, missing_rows: 0 })
    }

    pub(super) fn rows(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.non_finite_rows + self.missing_rows
    }
}

impl KMeansStep {
    /// Computes the totals of one table: the sums of each block on any thread, added in the order of the blocks.
    pub(super) fn found<T: Element + Into<f64>>(&self, table: &dyn NumericTable, shape: Shape) -> Result<Totals> {
        let mut found = Totals::new(self.cluster_count(), shape.columns)?;
        let complete = CompleteRows::of(table, shape)?;
        let block_bytes = found.sums.len().saturating_add(found.counts.len()).saturating_mul(size_of::<f64>());
        let run = block_rows(shape.columns) * (RUN_BYTES / block_bytes).clamp(1, RUN_BLOCKS);
        let runs = (0..shape.rows).step_by(run).map(|start| start..shape.rows.min(start.saturating_add(run)));
        let bytes = shape.element_count()?.saturating_mul(size_of::<f64>());
        let at_once = (HELD_BYTES / block_bytes.max(RUN_BYTES)).max(1);
        let sums = |rows| self.sums_of::<T>(table, rows);
        parallel::in_order(runs, bytes, at_once, sums, |blocks: Vec<BlockSums>| {
            blocks.into_iter().try_for_each(|block| self.add_block::<T>(table, block, &complete, &mut found))
        })?;
        Ok(found)
    }

    /// Computes the sums of each block of some rows.
    fn sums_of<T: Element + Into<f64>>(&self, table: &dyn NumericTable, rows: Range<usize>) -> Result<Vec<BlockSums>> {
        let (clusters, columns) = (self.cluster_count(), self.column_count());
        let mut reader = Reader::<T>::new(table, columns);
        let mut finder = Finder::new(&self.centroids, block_rows(columns).min(rows.len()))?;
        let mut blocks = with_room(rows.len().div_ceil(block_rows(columns)))?;
        for rows in self::blocks(rows, columns) {
            let values = reader.read(rows.clone())?;
            finder.find(values);
            let (mut counts, mut sums) = (filled(clusters, 0)?, filled(clusters * columns, 0.0)?);
            let nearest = &finder.nearest[..rows.len()];
            Level::chosen().run_long(AddRows { values, columns, nearest, counts: &mut counts, sums: &mut sums });
            let inertia = sum_of(&finder.distances[..rows.len()]);
            blocks.push(BlockSums { rows, counts, sums, inertia });
        }
        Ok(blocks)
    }

    /// Adds the sums of a block to the totals.
    fn add_block<T: Element + Into<f64>>(
        &self,
        table: &dyn NumericTable,
        block: BlockSums,
        complete: &CompleteRows,
        found: &mut Totals,
    ) -> Result<()> {
        let (columns, BlockSums { rows, counts, mut sums, inertia }) = (self.column_count(), block);
        let (count, missing) = (rows.len() as u64, complete.missing_in(rows.clone()));
        if !sums.iter().all(|sum| sum.is_finite()) {
            let mut reader = Reader::<T>::new(table, columns);
            let mut finder = Finder::new(&self.centroids, rows.len())?;
            let (count, values) = (rows.len(), reader.read(rows)?);
            finder.find(values);
            self.add_far(values, &finder.nearest[..count], &mut sums, &mut found.sums);
        }
        found.inertia.add(inertia);
        for (cluster, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            found.counts[cluster] += count;
            let places = cluster * columns..(cluster + 1) * columns;
            found.sums[places.clone()].iter_mut().zip(&sums[places]).for_each(|(total, &sum)| total.add(sum));
        }
        // A missing value is read as NaN, so such a row has no nearest centroid.
        let others = count - counts.iter().sum::<u64>();
        found.missing_rows += missing.min(others);
        found.non_finite_rows += others.saturating_sub(missing);
        Ok(())
    }

    /// Recomputes the sums of a block that left the range of `f64` from values times 2^-600, adds them to the totals,
    /// and sets them to zero. Only finite rows have a nearest centroid.
    #[cold]
    fn add_far<T: Copy + Into<f64>>(&self, values: &[T], nearest: &[u32], sums: &mut [f64], totals: &mut [Sum]) {
        let columns = self.column_count();
        for (place, (sum, total)) in sums.iter_mut().zip(totals).enumerate().filter(|(_, (sum, _))| !sum.is_finite()) {
            let (cluster, column) = ((place / columns) as u32, place % columns);
            let rows = values.chunks_exact(columns).zip(nearest).filter(|(_, nearest)| **nearest == cluster);
            rows.for_each(|(row, _)| total.add_scaled(row[column].into() * DOWN));
            *sum = 0.0;
        }
    }
}

/// Adds values in eight independent sums, always in the same order.
fn sum_of(values: &[f64]) -> f64 {
    let (whole, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for values in whole {
        (0..8).for_each(|lane| sums[lane] += values[lane]);
    }
    sums.iter_mut().zip(rest).for_each(|(sum, value)| *sum += value);
    sums.iter().sum()
}
