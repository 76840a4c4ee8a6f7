//! Counting the values that a conversion changes.

use numeric_table::convert::report_slice;
use numeric_table::internal::match_element;
use numeric_table::{ConversionReport, Element, MissingValues, NumericTable, Result};

/// How many values were changed by a conversion.
#[derive(Default)]
pub(crate) struct Losses {
    pub(crate) rounded: usize,
    pub(crate) clamped: usize,
    pub(crate) nan_to_zero: usize,
    pub(crate) infinite: usize,
    /// The row and column of the first.
    pub(crate) first: Option<(usize, usize)>,
}

impl Losses {
    fn add(&mut self, report: &ConversionReport, first_row: usize, column: usize) {
        self.rounded += report.inexact;
        self.clamped += report.below_range + report.above_range;
        self.nan_to_zero += report.nan_to_int;
        self.infinite += report.overflow_to_infinity;
        if let Some((row, _)) = report.first {
            let place = (first_row + row, column);
            self.first = Some(self.first.map_or(place, |first| first.min(place)));
        }
    }

    /// Counts the values of a block that a type does not hold.
    pub(super) fn look_at<T: Element>(&mut self, block: &dyn NumericTable, first_row: usize) -> Result<()> {
        for column in 0..block.shape().columns {
            let (array, validity) = block.column_with_validity(column, ..)?;
            if array.element_type() == T::TYPE {
                continue;
            }
            match_element!(array.element_type(), S => {
                let values = array.downcast_ref::<S>().map_or(&[][..], |values| values);
                match validity.filter(|validity| validity.has_missing()) {
                    None => self.add(&report_slice::<S, T>(values), first_row, column),
                    Some(validity) => {
                        for (run, is_present) in validity.runs() {
                            if is_present {
                                let start = run.start;
                                self.add(&report_slice::<S, T>(&values[run]), first_row + start, column);
                            }
                        }
                    }
                }
            });
        }
        Ok(())
    }

    pub(crate) fn count(&self) -> usize {
        self.rounded + self.clamped + self.nan_to_zero + self.infinite
    }

    /// Returns what was lost, in words.
    pub(crate) fn text(&self) -> String {
        let kinds = [
            (self.rounded, "rounded"),
            (self.clamped, "clamped to the range of the type"),
            (self.nan_to_zero, "NaN became 0"),
            (self.infinite, "became infinite"),
        ];
        let kinds = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let kinds: Vec<String> = kinds.collect();
        let (row, column) = self.first.unwrap_or_default();
        format!("{}; the first in row {row}, column {column}", kinds.join(", "))
    }
}
