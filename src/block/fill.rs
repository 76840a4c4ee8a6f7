//! Writing one value in many places.

use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::base::value::AnyValue;
use crate::convert::kernel::Origin;
use crate::convert::{ConversionPolicy, WriteRule, check_value};
use crate::table::{NumericTable, Region, RegionMut};
use crate::window::AnySlice;

/// Writes one value everywhere in a region: all of it or nothing.
pub(super) fn fill<U: Element>(table: &mut (impl NumericTable + ?Sized), region: &Region, value: U) -> Result<()> {
    let policy = ConversionPolicy::Checked;
    table.piece(region.rows.start, region.columns.start)?;
    if region.shape().is_empty() {
        return Ok(());
    }
    match table.uniform_type() {
        Some(element) => check_value(value, element, policy, region.origin())?,
        None => region.columns.clone().try_for_each(|column| {
            let origin = Origin { row: region.rows.start, column };
            check_value(value, table.column_type(column)?, policy, origin)
        })?,
    }
    let (row, column) = (region.rows.start, region.columns.start);
    if table.piece(row, column)?.is_some_and(|piece| piece.region().place_of(region).is_some()) {
        let piece = table.piece_mut(row, column)?.ok_or(Error::ReadOnlyTable)?;
        return RegionMut::of_piece(piece, region).ok_or(Error::NotContiguous)?.fill(AnyValue::from(value), policy);
    }
    match table.pieces_mut().and_then(|pieces| RegionMut::of_pieces(pieces, region)) {
        Ok(mut region) => region.fill(AnyValue::from(value), policy),
        Err(_) => {
            table.check_writable()?;
            fill_rows(table, region, value)
        }
    }
}

/// As [`fill`], of a table that is written in a way of its own.
fn fill_rows<U: Element>(table: &mut (impl NumericTable + ?Sized), region: &Region, value: U) -> Result<()> {
    const VALUES: usize = 4096;
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    let (width, height) = (region.columns.len().min(VALUES), (VALUES / region.columns.len().max(1)).max(1));
    let values = [value; VALUES];
    for row in region.rows.clone().step_by(height) {
        for column in region.columns.clone().step_by(width.max(1)) {
            let part = Region {
                rows: row..region.rows.end.min(row.saturating_add(height)),
                columns: column..region.columns.end.min(column.saturating_add(width)),
            };
            table.write_region(&part, AnySlice::new(&values[..part.shape().element_count()?]), rule)?;
        }
    }
    Ok(())
}
