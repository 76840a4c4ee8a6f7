//! Statistics of the columns of a table: its division into groups of rows and columns, and blocks of rows.

use std::ops::Range;

use super::block::{BLOCK_ROWS, BlockWorkspace};
use super::blocks::{ValueSource, Work};
use super::column::ColumnStatistics;
use crate::base::element::ElementType;
use crate::base::error::Result;
use crate::base::parallel::in_order;
use crate::base::range::cut;
use crate::base::room::filled;
use crate::base::shape::Shape;
use crate::table::csr::CsrNumericTable;
use crate::table::{NumericTable, Region};
use crate::window::AnySlice;

/// Number of rows of one task, whose blocks are merged first.
pub(super) const GROUP_ROWS: usize = 16 * BLOCK_ROWS;
/// Number of columns of a row-major table that are processed together. A block of them stays in the processor's cache.
pub(super) const PANEL: usize = 32;
/// Largest number of columns of one task.
const SPAN: usize = 8 * PANEL;
/// Approximate number of results that are held before they are merged.
const RESULTS: usize = 64 << 10;

pub(super) fn empty(columns: usize) -> Result<Vec<ColumnStatistics>> {
    filled(columns, ColumnStatistics::EMPTY)
}

/// Computes the statistics of some columns of a group of rows.
pub(super) type Group<'a> = dyn Fn(Range<usize>, Range<usize>) -> Result<Vec<ColumnStatistics>> + Sync + 'a;

pub(super) fn compute(panel: usize, work: &Work<'_>) -> Result<Vec<ColumnStatistics>> {
    merge_groups(work.shape, SPAN, &|rows, columns| {
        let found = group(rows.clone(), columns.clone(), panel, work.source)?;
        work.done(rows.len(), columns);
        Ok(found)
    })
}

/// Downcasts a table to a sparse one. Comparing the ids excludes user-defined tables that return a table they contain.
pub(super) fn sparse_of(table: &dyn NumericTable) -> Option<&CsrNumericTable> {
    table.downcast_ref::<CsrNumericTable>().filter(|sparse| sparse.id() == table.id())
}

/// Divides a table into groups of rows and spans of columns, and merges their statistics in order.
pub(super) fn merge_groups(shape: Shape, span: usize, group: &Group<'_>) -> Result<Vec<ColumnStatistics>> {
    let mut all = empty(shape.columns)?;
    if shape.is_empty() {
        return Ok(all);
    }
    let spans = || cut(0..shape.columns, span);
    let pieces = cut(0..shape.rows, GROUP_ROWS).flat_map(|rows| spans().map(move |columns| (rows.clone(), columns)));
    let bytes = shape.element_count()?.saturating_mul(size_of::<f64>());
    let at_once = (RESULTS / shape.columns).max(1) * spans().count();
    let compute = |(rows, columns): (Range<usize>, Range<usize>)| Ok((columns.start, group(rows, columns)?));
    in_order(pieces, bytes, at_once, compute, |(start, columns): (usize, Vec<ColumnStatistics>)| {
        all[start..].iter_mut().zip(&columns).for_each(|(mine, theirs)| mine.merge(theirs));
        Ok(())
    })?;
    Ok(all)
}

/// Computes the statistics of some columns of some rows, block by block.
fn group(
    rows: Range<usize>,
    columns: Range<usize>,
    panel: usize,
    source: &dyn ValueSource,
) -> Result<Vec<ColumnStatistics>> {
    let mut statistics = empty(columns.len())?;
    add_blocks(rows, columns, panel, source, &mut statistics)?;
    Ok(statistics)
}

/// Adds some columns of some rows, block by block, to their statistics.
pub(super) fn add_blocks(
    rows: Range<usize>,
    columns: Range<usize>,
    panel: usize,
    source: &dyn ValueSource,
    statistics: &mut [ColumnStatistics],
) -> Result<()> {
    let mut buffer = Vec::new();
    if panel == 1 {
        let mut block = BlockWorkspace::for_columns();
        for (column, statistics) in columns.zip(statistics) {
            let region = Region { rows: rows.clone(), columns: column..column + 1 };
            match floats_of(source, &region)? {
                Some(values) => block.add_column(values, statistics),
                None => block.add_column(source.read(&region, &mut buffer)?, statistics),
            }
        }
        return Ok(());
    }
    let mut block = BlockWorkspace::new(panel.min(columns.len()));
    for panel in cut(columns.clone(), panel) {
        if !block.is_for(panel.len()) {
            block = BlockWorkspace::new(panel.len());
        }
        for rows in cut(rows.clone(), BLOCK_ROWS) {
            let region = Region { rows, columns: panel.clone() };
            let statistics = &mut statistics[panel.start - columns.start..panel.end - columns.start];
            match floats_of(source, &region)? {
                Some(values) => block.add(values, statistics),
                None => block.add(source.read(&region, &mut buffer)?, statistics),
            }
        }
    }
    Ok(())
}

/// Borrows the values of a region if they are contiguous and of type `f32`, which the loops widen themselves.
fn floats_of<'s>(source: &'s dyn ValueSource, region: &Region) -> Result<Option<&'s [f32]>> {
    Ok(source.lend(region, ElementType::F32)?.and_then(AnySlice::downcast))
}
