//! Writing one value to many positions.

use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::number::Exact;
use crate::base::value::AnyValue;
use crate::convert::kernel::Origin;
use crate::convert::{ConversionPolicy, WriteRule, check_value};
use crate::table::csr::CsrNumericTable;
use crate::table::{NumericTable, Region, RegionMut, TableDescription, Token};
use crate::window::AnySlice;

/// Writes one value to every position of a region, all or nothing.
pub(super) fn fill<U: Element>(table: &mut (impl NumericTable + ?Sized), region: &Region, value: U) -> Result<()> {
    let policy = ConversionPolicy::Checked;
    table.piece(region.rows.start, region.columns.start)?;
    if region.shape().is_empty() {
        return Ok(());
    }
    let is_nan = matches!(value.exact(), Exact::Float(value) if value.is_nan());
    if is_nan && table.dictionary().has_nullable() {
        table.check_region_writable(region, Token::new())?;
        return fill_region(table, region, value); // which may make missing values
    }
    match table.uniform_type() {
        Some(element) => check_value(value, element, policy, region.origin())?,
        None => region.columns.clone().try_for_each(|column| {
            let origin = Origin { row: region.rows.start, column };
            check_value(value, table.column_type(column)?, policy, origin)
        })?,
    }
    // Check before allocating the memory of a dense table. (A user-defined table may claim to be of another kind.)
    let id = table.id();
    let sparse = table.as_any_mut().and_then(|table| table.downcast_mut::<CsrNumericTable>());
    if let Some(sparse) = sparse.filter(|sparse| sparse.id() == id) {
        return sparse.fill_stored(region, AnyValue::from(value), policy);
    }
    let (row, column) = (region.rows.start, region.columns.start);
    if table.piece(row, column)?.is_some_and(|piece| piece.region().place_of(region).is_some()) {
        let piece = table.piece_mut(row, column)?.ok_or_else(|| Error::new(ErrorKind::ReadOnlyTable))?;
        return RegionMut::of_piece(piece, region)
            .ok_or_else(Error::not_contiguous)?
            .fill(AnyValue::from(value), policy);
    }
    match table.pieces_around(region, Token::new()).and_then(|pieces| RegionMut::of_pieces(pieces, region)) {
        Ok(mut region) => region.fill(AnyValue::from(value), policy),
        Err(error) if matches!(error.kind(), ErrorKind::ReadOnlyTable | ErrorKind::NotInMemory { .. }) => {
            table.check_region_writable(region, Token::new())?;
            fill_region(table, region, value)
        }
        Err(error) => Err(error),
    }
}

/// Like [`fill`], for a table that overrides writing. Makes one call, so that it is all or nothing.
fn fill_region<U: Element>(table: &mut (impl NumericTable + ?Sized), region: &Region, value: U) -> Result<()> {
    let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    let values = Array::full(region.shape().element_count_of(U::TYPE)?, value)?;
    table.write_region(region, AnySlice::new(&values), rule)
}
