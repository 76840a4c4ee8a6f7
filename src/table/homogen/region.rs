//! Regions of a homogeneous table: reading one, and borrowing one for writing.

use crate::array::AnyArray;
use crate::base::element::{Element, ElementType};
use crate::base::error::Result;
use crate::base::value::AnyValue;
use crate::convert::kernel::{self, Origin};
use crate::convert::{ConversionPolicy, WriteRule};
use crate::table::{Region, RegionMut, TableViewMut};
use crate::window::{AnySlice, AnySliceMut};

impl Region {
    #[inline]
    pub(super) fn origin(&self) -> Origin {
        Origin { row: self.rows.start, column: self.columns.start }
    }
}

/// A region of a homogeneous table, borrowed for writing.
pub(super) struct HomogenRegion<'t, T> {
    view: TableViewMut<'t, T>,
    region: Region,
}

impl<'t, T: Element> HomogenRegion<'t, T> {
    /// Cuts a region out of the view of a whole table.
    pub(super) fn new(table: TableViewMut<'t, T>, region: Region) -> Result<Self> {
        Ok(Self { view: table.region(&region)?, region })
    }
}

impl<'t, T: Element> RegionMut<'t> for HomogenRegion<'t, T> {
    fn region(&self) -> Region {
        self.region.clone()
    }

    fn element_type(&self) -> ElementType {
        T::TYPE
    }

    fn into_slice(self: Box<Self>) -> Result<AnySliceMut<'t>, Box<dyn RegionMut<'t> + 't>> {
        let Self { view, region } = *self;
        match view.into_slice() {
            Ok(slice) => Ok(AnySliceMut::new(slice)),
            Err(view) => Err(Box::new(Self { view, region })),
        }
    }

    fn copy(&self, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray> {
        self.view.as_view().to_array(element_type, policy, self.region.origin())
    }

    fn write(&mut self, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        self.view.write(values, rule, self.region.origin())
    }

    fn fill(&mut self, value: AnyValue, policy: ConversionPolicy) -> Result<()> {
        if !self.region.shape().is_empty() {
            self.view.fill(kernel::value_as(value, policy, self.region.origin())?);
        }
        Ok(())
    }

    fn split_at_row(self: Box<Self>, rows: usize) -> (Box<dyn RegionMut<'t> + 't>, Box<dyn RegionMut<'t> + 't>) {
        let Self { view, region } = *self;
        let rows = rows.min(region.rows.len());
        let middle = region.rows.start + rows;
        let (head, tail) = view.cut_at_row(rows);
        let head_region = Region { rows: region.rows.start..middle, ..region.clone() };
        let tail_region = Region { rows: middle..region.rows.end, ..region };
        (Box::new(Self { view: head, region: head_region }), Box::new(Self { view: tail, region: tail_region }))
    }
}
