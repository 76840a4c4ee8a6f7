//! The homogeneous table as a [`NumericTable`]: sizes, dictionary, and the primitives of block access.

use std::ops::Range;

use super::region::HomogenRegion;
use crate::array::{AnyArray, AnyArrayRef, Array};
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, Result};
use crate::convert::{ConversionPolicy, WriteRule, kernel};
use crate::dictionary::DataDictionary;
use crate::table::{
    DataLayout, HomogenNumericTable, Lease, MemoryStatus, NumericTable, Region, RegionMut, Shape, TableId, TableViewMut,
};
use crate::window::{AnySlice, AnySliceMut};

impl<T: Element> HomogenNumericTable<T> {
    /// Gives where in the array the values of a region lie, if they lie one after another, row by row.
    #[inline(always)]
    fn range_in_array(&self, region: &Region) -> Result<Option<Range<usize>>> {
        region.check(self.shape)?;
        self.memory.array()?;
        self.check_allocated()?;
        let columns = self.shape.columns;
        if self.placement.layout == DataLayout::RowMajor && region.columns.start == 0 && region.columns.end == columns {
            // Whole rows, in the table: the array holds them, so that the products do not overflow.
            let rows = region.rows.start * columns..region.rows.end * columns;
            return Ok(Some(rows));
        }
        self.range_of_part(region)
    }

    fn range_of_part(&self, region: &Region) -> Result<Option<Range<usize>>> {
        let Some(values) = self.view()?.region(region)?.as_slice() else { return Ok(None) };
        if values.is_empty() {
            return Ok(Some(0..0));
        }
        let geometry = self.geometry();
        let first = region.rows.start * geometry.row_stride + region.columns.start * geometry.column_stride;
        Ok(Some(first..first + values.len()))
    }

    /// Makes the rows that were cut off, and appear again in `shape`, zero. Returns `false` if the memory must not be
    /// written: it is shared, or immutable.
    fn clear_cut_rows(&mut self, shape: Shape) -> Result<bool> {
        let cut_rows = self.shape.rows..shape.rows.min(self.placement.shown_rows);
        if cut_rows.is_empty() || shape.columns == 0 {
            return Ok(true);
        }
        let geometry = self.placement.geometry(shape);
        let Ok(values) = self.memory.array_mut()?.mutable_data() else { return Ok(false) };
        let view = TableViewMut::with_geometry(values, geometry).ok_or(Error::NotAllocated)?;
        view.rows(cut_rows)?.fill(T::default());
        Ok(true)
    }

    /// Borrows the values of a region, if they lie one after another, row by row.
    #[inline(always)]
    fn slice_of_region(&self, region: &Region) -> Result<Option<&[T]>> {
        match self.range_in_array(region)? {
            Some(range) => Ok(self.memory.array()?.get(range)),
            None => Ok(None),
        }
    }
}

impl<T: Element> NumericTable for HomogenNumericTable<T> {
    #[inline(always)]
    fn shape(&self) -> Shape {
        self.shape
    }

    #[inline(always)]
    fn element_type(&self) -> ElementType {
        T::TYPE
    }

    fn data_layout(&self) -> DataLayout {
        self.placement.layout
    }

    fn data_memory_status(&self) -> MemoryStatus {
        self.status
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn set_dictionary(&mut self, dictionary: DataDictionary) -> Result<()> {
        dictionary.check(self.shape.columns, T::TYPE)?;
        self.dictionary = dictionary;
        Ok(())
    }

    fn reset_dictionary(&mut self) {
        self.dictionary = Self::default_dictionary(self.shape.columns);
    }

    fn resize(&mut self, rows: usize) -> Result<()> {
        let shape = Shape { rows, ..self.shape };
        shape.element_count_of(T::TYPE)?;
        self.memory.array()?;
        if self.status == MemoryStatus::NotAllocated {
            let array = Array::zeros(shape.element_count()?)?;
            self.replace_memory(array, shape, MemoryStatus::InternallyAllocated);
        } else if rows <= self.placement.row_capacity && self.clear_cut_rows(shape)? {
            self.shape = shape;
            self.placement.shown_rows = self.placement.shown_rows.max(rows);
        } else {
            let array = self.copy_with_room(shape)?;
            self.replace_memory(array, shape, MemoryStatus::InternallyAllocated);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        HomogenNumericTable::to_bytes(self)
    }

    fn id(&self) -> TableId {
        self.id
    }

    #[inline(always)]
    fn borrow_region(&self, region: &Region) -> Result<Option<AnySlice<'_>>> {
        Ok(self.slice_of_region(region)?.map(AnySlice::new))
    }

    #[inline(always)]
    fn array_of_region(&self, region: &Region) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        match self.range_in_array(region)? {
            Some(range) => Ok(Some((AnyArrayRef::new(self.memory.array()?), range))),
            None => Ok(None),
        }
    }

    #[inline(always)]
    fn read_region(&self, region: &Region, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()> {
        self.view()?.region(region)?.read(target, policy, region.origin())
    }

    #[inline(always)]
    fn read_region_over(&self, region: &Region, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()> {
        match self.slice_of_region(region)? {
            Some(values) => {
                kernel::read_rows_over(AnySlice::new(values), region.columns.len(), target, policy, region.origin())
            }
            None => self.view()?.region(region)?.read_over(target, policy, region.origin()),
        }
    }

    fn copy_region(&self, region: &Region, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray> {
        region.check(self.shape)?;
        region.shape().element_count_of(element_type)?;
        self.view()?.region(region)?.to_array(element_type, policy, region.origin())
    }

    fn region_mut(&mut self, region: &Region) -> Result<Box<dyn RegionMut<'_> + '_>> {
        region.check(self.shape)?;
        Ok(Box::new(HomogenRegion::new(self.view_mut()?, region.clone())?))
    }

    #[inline(always)]
    fn borrow_region_mut(&mut self, region: &Region) -> Result<AnySliceMut<'_>> {
        let mut range = self.range_in_array(region)?.ok_or(Error::NotContiguous)?;
        if self.shape.is_empty() {
            return Ok(AnySliceMut::new::<T>(&mut []));
        }
        if !self.memory.array()?.has_mutable_data() {
            self.detach()?;
            range = self.range_in_array(region)?.ok_or(Error::NotContiguous)?; // copying may have moved the region
        }
        let values = self.memory.array_mut()?.mutable_data()?;
        values.get_mut(range).map(AnySliceMut::new).ok_or(Error::NotAllocated)
    }

    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        region.check(self.shape)?;
        if !self.memory.array()?.has_mutable_data() {
            // What is refused copies nothing.
            self.view()?.region(region)?.check_write(values, rule, region.origin())?;
        }
        self.view_mut()?.region(region)?.write(values, rule, region.origin())
    }

    #[inline(always)]
    fn lend_region(&mut self, region: &Region, in_place: bool, lease: &mut Lease) -> Result<()> {
        let mut range = self.range_in_array(region)?;
        if in_place && range.is_none() {
            return Err(Error::NotContiguous);
        }
        if !self.shape.is_empty() && !self.memory.array()?.has_mutable_data() {
            self.detach()?;
            range = self.range_in_array(region)?; // copying may have moved the region
        }
        self.memory.lend(region, range.filter(|_| in_place), lease)
    }

    fn write_lent(&mut self, lease: &mut Lease, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        let region = lease.region().clone();
        let array = self.memory.lent(lease)?;
        // `lend_region` has made the array this table's own, and nobody could share it since.
        let values_of_table = if self.shape.is_empty() { &mut [] } else { array.mutable_data()? };
        let view = TableViewMut::with_geometry(values_of_table, self.geometry()).ok_or(Error::NotAllocated)?;
        view.region(&region)?.write(values, rule, region.origin())
    }

    #[inline(always)]
    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        self.memory.take_back(lease)
    }
}
