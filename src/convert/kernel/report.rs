//! Counts of the losses of a conversion.

use super::Scalar;
use super::pair::Pair;
use super::tiles::{Scratch, dense, tiles};
use crate::base::element::ElementType;
use crate::base::parallel;
use crate::convert::ConversionReport;
use crate::convert::level::Level;
use crate::window::{AnyWindow, Part};

/// Counts the losses of reading a window as `target`. Large windows are counted in parallel.
pub(crate) fn report(window: AnyWindow<'_>, target: ElementType) -> ConversionReport {
    let pair = Pair::of(window.element_type(), target);
    let counter = Counter { pair, scalar: Scalar::of(target), level: Level::chosen() };
    let (columns, window) = (window.columns(), window.in_long_rows());
    let parts = window.parts(parallel::task_count(window.size_in_bytes()));
    let mut report = ConversionReport::default();
    let mut first = None;
    for (counts, first_of_part) in parallel::map(parts, |part| counter.count(part, window.columns())) {
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
    /// Counts the losses of a part. Also returns the row-major index of the first loss in the entire window, which has
    /// `columns` columns.
    fn count(&self, part: Part<'_>, columns: usize) -> (ConversionReport, Option<usize>) {
        let mut report = ConversionReport::default();
        let mut first = None;
        let mut scratch = Scratch::new();
        for tile in tiles(part.window.geometry(), Scratch::capacity(part.window.element_type())) {
            let values = dense(part.window.cut(tile.rows.clone(), tile.columns.clone()), &mut scratch);
            let losses = self.pair.count_losses(self.level, values);
            report.values += values.len();
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
                let place = self.scalar.first_lost(values);
                let place = place.map(|place| index(place / tile.columns.len(), place % tile.columns.len()));
                first = first.into_iter().chain(place).min();
            }
        }
        (report, first)
    }
}
