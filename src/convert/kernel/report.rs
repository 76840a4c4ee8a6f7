//! Counting what a conversion loses.

use super::Scalar;
use super::erased::{ErasedWindow, Part};
use super::pair::Pair;
use super::tiles::{Scratch, dense, tiles};
use crate::array::Window;
use crate::convert::ConversionReport;
use crate::convert::level::Level;
use crate::convert::rule::Loss;
use crate::element::{Element, ElementType};
use crate::parallel;

/// Counts what reading a window as `target` would lose; in parallel if it is large.
pub(super) fn report<S: Element>(window: Window<'_, S>, target: ElementType) -> ConversionReport {
    let counter = Counter { pair: Pair::of(S::TYPE, target), scalar: Scalar::of(target), level: Level::chosen() };
    let (columns, window) = (window.columns(), ErasedWindow::new(window).in_long_rows());
    let parts = window.parts(parallel::task_count(window.size_in_bytes()));
    let mut report = ConversionReport::default();
    let mut first = None;
    for (counts, first_of_part) in parallel::map(parts, |part| counter.count::<S>(part, window.columns())) {
        report += counts;
        first = first.into_iter().chain(first_of_part).min();
    }
    report.first = first.map(|index: usize| (index / columns, index % columns));
    report
}

struct Counter<'p> {
    pair: &'p Pair,
    scalar: Scalar,
    level: Level,
}

impl Counter<'_> {
    /// Counts the losses of a part, and gives the row-major index of its first in a window of so many columns.
    fn count<S: Element>(&self, part: Part<'_>, columns: usize) -> (ConversionReport, Option<usize>) {
        let mut report = ConversionReport::default();
        let mut first = None;
        let mut scratch = Scratch::new();
        for tile in tiles(part.window.geometry(), Scratch::capacity(S::TYPE)) {
            let values = dense(part.window.cut(tile.rows.clone(), tile.columns.clone()), &mut scratch);
            let losses = self.pair.count_losses(self.level, values);
            report.values += values.count();
            if losses.lost == 0 {
                continue;
            }
            report.inexact += losses.lost - losses.unfit;
            if self.pair.target().is_float() {
                report.overflow_to_infinity += losses.unfit;
            } else {
                report.nan_to_int += losses.unfit_nan;
                report.below_range += losses.unfit_negative;
                report.above_range += losses.unfit - losses.unfit_nan - losses.unfit_negative;
            }
            let index = |row: usize, column: usize| {
                (part.row + tile.rows.start + row) * columns + part.column + tile.columns.start + column
            };
            if first.is_none_or(|first| index(0, 0) < first) {
                let is_lost = |&value: &S| self.scalar.loss(value) != Loss::None;
                let place = values.as_slice::<S>().iter().position(is_lost);
                let place = place.map(|place| index(place / tile.columns.len(), place % tile.columns.len()));
                first = first.into_iter().chain(place).min();
            }
        }
        (report, first)
    }
}
