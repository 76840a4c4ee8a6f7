//! Reading a region of a table into other memory, as a trace records it.

use super::{NumericTable, Region, lend};
use crate::base::element::ElementType;
use crate::base::trace::{self, CopyKind};

/// Records that a region was read into other memory, as values of an element type.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn record_read<N: NumericTable + ?Sized>(table: &N, region: &Region, element: ElementType) {
    if trace::is_on() {
        record_now(table, region, element);
    }
}

#[cold]
#[inline(never)]
fn record_now<N: NumericTable + ?Sized>(table: &N, region: &Region, element: ElementType) {
    let (shape, dictionary) = (region.shape(), table.dictionary());
    let is_stored = match table.uniform_type() {
        Some(stored) => stored == element,
        None => dictionary.iter().skip(region.columns.start).take(shape.columns).all(|it| it.element_type == element),
    };
    let kind = match lend::slice_of(table, region, element) {
        _ if !is_stored => CopyKind::Converted,
        Ok(Some(_)) => CopyKind::Staged,
        _ => CopyKind::Gathered,
    };
    trace::record_now(kind, bytes_of(region, element));
}

/// Records that an edited copy of a region, of an element type, was written back.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn record_written_back(values: usize, element: ElementType) {
    trace::record(CopyKind::WrittenBack, values * element.size_in_bytes()); // they are in memory
}

/// Returns the size of a region's values in an element type.
fn bytes_of(region: &Region, element: ElementType) -> u64 {
    let (rows, columns) = (region.rows.len() as u64, region.columns.len() as u64);
    rows.saturating_mul(columns).saturating_mul(element.size_in_bytes() as u64)
}
