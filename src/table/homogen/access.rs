//! The implementation of [`NumericTable`] for the homogeneous table.

use std::any::Any;
use std::ops::Range;

use crate::array::{AnyArrayRef, Array};
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::trace::{self, CopyKind};
use crate::convert::{ConversionPolicy, WriteRule, kernel};
use crate::dictionary::DataDictionary;
use crate::table::{
    DataLayout, HomogenNumericTable, Lease, Lend, MemoryStatus, NumericTable, Piece, PieceMut, Region, Shape, TableId,
    TableKind, TableViewMut, Target, Token, tiling,
};
use crate::window::{AnySlice, AnySliceMut, AnyWindowMut};

/// Boxes a homogeneous table for the entire crate. Inlined methods are compiled again in each codegen unit that creates
/// a vtable of them, so all other modules call this function.
impl<T: Element> HomogenNumericTable<T> {
    #[doc(hidden)]
    #[inline(never)]
    pub fn into_dyn(self) -> Box<dyn NumericTable> {
        Box::new(self)
    }
}

impl<T: Element> HomogenNumericTable<T> {
    /// Returns the range of the array that holds the values of a region, if they are contiguous in row-major order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn range_in_array(&self, region: &Region) -> Option<Range<usize>> {
        let columns = self.shape.columns;
        if self.placement.layout == DataLayout::RowMajor && region.columns.start == 0 && region.columns.end == columns {
            // Whole rows inside the table: the array holds them, so the products do not overflow.
            return Some(region.rows.start * columns..region.rows.end * columns);
        }
        let (first, part) = self.geometry().cut(&region.rows, &region.columns);
        part.is_row_major_contiguous().then(|| first..first + part.rows * part.columns)
    }

    /// Returns the range in the array of a region that is inside the table and one slice of it. `None` for any other
    /// region, and while the table has no memory. The functions below find the reason. They are separate calls, so that
    /// finding a row takes none, and the compiler need not read the table's fields again after one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn range_here(&self, region: &Region) -> Option<Range<usize>> {
        if region.is_inside(self.shape) && self.is_allocated() { self.range_in_array(region) } else { None }
    }

    /// Returns the size of the table's memory in bytes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn memory_bytes(&self) -> usize {
        self.memory.here().map_or(0, |array| array.size_in_bytes())
    }

    /// Does what [`NumericTable::read_region`] does, in all cases.
    #[inline(never)]
    fn read_piece(&self, region: &Region, target: Target<'_>) -> Result<()> {
        tiling::read(self, region, target)
    }

    /// Does what [`Lend::slice_of_mut`] does, in all cases.
    #[inline(never)]
    fn find_slice_mut(&mut self, region: &Region, element: ElementType) -> Result<Option<AnySliceMut<'_>>> {
        region.check(self.shape)?;
        let is_mutable = self.memory.array()?.has_mutable_data();
        self.check_allocated()?;
        let range = self.range_in_array(region);
        let Some(mut range) = range.filter(|_| element == T::TYPE) else { return Ok(None) };
        if self.shape.is_empty() {
            return Ok(Some(AnySliceMut::new::<T>(&mut [])));
        }
        if !is_mutable {
            self.detach()?;
            range = self.range_in_array(region).unwrap_or_default(); // copying may have changed its place
        }
        Ok(self.memory.array_mut()?.mutable_data()?.get_mut(range).map(AnySliceMut::new))
    }

    /// Does what [`Lend::lend_region`] does, in all cases.
    #[inline(never)]
    fn find_and_lend(&mut self, region: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool> {
        region.check(self.shape)?;
        let is_mutable = self.memory.array()?.has_mutable_data();
        self.check_allocated()?;
        let mut range = None;
        if let Some(wanted) = in_place {
            range = self.range_in_array(region).filter(|_| wanted == T::TYPE);
            if range.is_none() {
                return Ok(false);
            }
        }
        if !is_mutable && !self.shape.is_empty() {
            self.detach()?;
            range = range.and_then(|_| self.range_in_array(region)); // copying may have changed its place
        }
        let is_in_place = range.is_some();
        self.memory.lend(region, range, lease)?;
        Ok(is_in_place)
    }

    /// Zeroes the truncated rows that reappear in `shape`. Returns `false` if the memory must not be written because it
    /// is shared or immutable.
    fn clear_cut_rows(&mut self, shape: Shape) -> Result<bool> {
        let cut_rows = self.shape.rows..shape.rows.min(self.placement.shown_rows);
        if cut_rows.is_empty() || shape.columns == 0 {
            return Ok(true);
        }
        let geometry = self.placement.geometry(shape);
        let Ok(values) = self.memory.array_mut()?.mutable_data() else { return Ok(false) };
        let view = TableViewMut::with_geometry(values, geometry).ok_or_else(|| Error::new(ErrorKind::NotAllocated))?;
        view.slice_rows(cut_rows)?.fill(T::default());
        Ok(true)
    }
}

impl<T: Element> NumericTable for HomogenNumericTable<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn shape(&self) -> Shape {
        self.shape
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn as_any_mut(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }

    fn kind(&self) -> TableKind {
        TableKind::HOMOGENEOUS
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn uniform_type(&self) -> Option<ElementType> {
        Some(T::TYPE)
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

    fn own_dictionary(&mut self, _: Token) -> Option<&mut DataDictionary> {
        Some(&mut self.dictionary)
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
        } else if rows > self.placement.row_capacity {
            // The first time for these rows only; later for at least half as many again, so that adding rows is
            // amortized O(1).
            let grown = if self.placement.has_grown { self.shape.rows.saturating_add(self.shape.rows / 2) } else { 0 };
            self.move_to(rows, rows.max(grown))?;
            self.shape = shape;
            self.placement.shown_rows = self.placement.shown_rows.max(rows);
        } else {
            let array = self.copy_with_room(shape)?;
            trace::record(CopyKind::Unshared, array.size_in_bytes());
            self.replace_memory(array, shape, MemoryStatus::InternallyAllocated);
        }
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn id(&self) -> TableId {
        self.id
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn piece(&self, _: usize, _: usize) -> Result<Option<Piece<'_>>> {
        Ok(Some(Piece::of_array(0, 0, self.view()?, self.memory.array()?, 0)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        match self.range_here(region).and_then(|range| self.memory.here()?.get(range)) {
            Some(values) => target.read_rows(region, AnySlice::new(values), || self.memory_bytes()),
            None => self.read_piece(region, target),
        }
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        Ok(vec![PieceMut::new(0, 0, self.view_mut()?)])
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn piece_mut(&mut self, _: usize, _: usize) -> Result<Option<PieceMut<'_>>> {
        Ok(Some(PieceMut::new(0, 0, self.view_mut()?)))
    }

    // Never inlined: otherwise each module that calls it would compile all methods again, for the vtable.
    #[inline(never)]
    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    #[inline(never)]
    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slice_in_place(&self, region: &Region, element: ElementType, _: Token) -> Result<Option<AnySlice<'_>>> {
        region.check(self.shape)?;
        let array = self.memory.array()?;
        self.check_allocated()?;
        if element != T::TYPE {
            return Ok(None);
        }
        Ok(self.range_in_array(region).and_then(|range| array.get(range)).map(AnySlice::new))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_few(&self, region: &Region, target: AnySliceMut<'_>, policy: ConversionPolicy, _: Token) -> bool {
        let values = self.range_here(region).and_then(|range| self.memory.here()?.get(range));
        values.is_some_and(|values| kernel::read_few::<{ kernel::FEW_OF_TABLE }>(AnySlice::new(values), target, policy))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_slice(&self, region: &Region, element: ElementType, _: Token) -> bool {
        let is_here = element == T::TYPE && self.memory.here().is_some();
        is_here && !region.shape().is_empty() && self.range_here(region).is_some()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slice_in_place_mut(
        &mut self,
        region: &Region,
        element: ElementType,
        token: Token,
    ) -> Result<Option<AnySliceMut<'_>>> {
        if self.has_slice(region, element, token)
            && self.memory.here().is_some_and(Array::has_mutable_data)
            && let Some(range) = self.range_here(region)
        {
            let values = self.memory.here_mut().and_then(Array::own_data);
            return Ok(values.and_then(|values| values.get_mut(range)).map(AnySliceMut::new));
        }
        self.find_slice_mut(region, element)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn array_in_place(
        &self,
        region: &Region,
        element: ElementType,
        _: Token,
    ) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        region.check(self.shape)?;
        let array = self.memory.array()?;
        self.check_allocated()?;
        if element != T::TYPE {
            return Ok(None);
        }
        Ok(self.range_in_array(region).map(|range| (AnyArrayRef::new(array), range)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lend_in_place(
        &mut self,
        region: &Region,
        in_place: Option<ElementType>,
        lease: &mut Lease,
        _: Token,
    ) -> Result<bool> {
        // The caller then requests a loan that is not in place, which checks the region.
        if in_place.is_some_and(|wanted| wanted != T::TYPE) && self.memory.here().is_some() && self.is_allocated() {
            return Ok(false);
        }
        if let Some(range) = self.range_here(region)
            && self.memory.here().is_some_and(Array::has_mutable_data)
        {
            return match in_place {
                Some(_) => self.memory.lend(region, Some(range), lease).map(|()| true),
                None => self.memory.lend(region, None, lease).map(|()| false),
            };
        }
        self.find_and_lend(&region.clone(), in_place, lease)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lends_exactly(&self, _: Token) -> bool {
        true // `range_in_array` counts rows times columns
    }

    // Not inlined: each inlined call for a block in place would contain this code.
    #[inline(never)]
    fn lend_few(
        &mut self,
        region: &Region,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
        lease: &mut Lease,
        _: Token,
    ) -> bool {
        if self.memory.lends_again_to(lease)
            && let Some(range) = self.range_here(region)
            && let Some(array) = self.memory.here().filter(|array| array.has_mutable_data())
            && let Some(values) = array.get(range)
            && kernel::read_few::<{ kernel::FEW_OF_TABLE }>(AnySlice::new(values), target, policy)
        {
            self.memory.move_into(region, None, lease);
            return true;
        }
        false
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end_lease(&mut self, lease: &mut Lease, _: Token) -> Result<()> {
        self.memory.take_back(lease)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn write_lease(&mut self, lease: &mut Lease, values: AnySlice<'_>, rule: WriteRule, _: Token) -> Result<bool> {
        let (range, pairs) = (self.range_here(lease.region()), kernel::FewPairs::of(T::TYPE, values.element_type()));
        let write = |array: &mut Array<T>| {
            let old = range.and_then(|range| array.own_data()?.get_mut(range));
            old.zip(pairs).is_some_and(|(old, pairs)| pairs.write(AnySliceMut::new(old), &values, rule))
        };
        match self.memory.take_back_if(lease, write) {
            true => Ok(true),
            false => self.write_lent(lease, values, rule).map(|()| false),
        }
    }
}

impl<T: Element> Lend for HomogenNumericTable<T> {
    fn slice_of(&self, region: &Region, element: ElementType) -> Result<Option<AnySlice<'_>>> {
        self.slice_in_place(region, element, Token::new())
    }

    fn slice_of_mut(&mut self, region: &Region, element: ElementType) -> Result<Option<AnySliceMut<'_>>> {
        self.slice_in_place_mut(region, element, Token::new())
    }

    fn array_of(&self, region: &Region, element: ElementType) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        self.array_in_place(region, element, Token::new())
    }

    fn check_block_writable(&mut self) -> Result<()> {
        self.view().map(drop) // shared memory is copied only when it is written
    }

    fn lend_region(&mut self, region: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool> {
        match in_place {
            Some(wanted) if wanted != T::TYPE => self.find_and_lend(region, in_place, lease), // checks the region
            _ => self.lend_in_place(region, in_place, lease, Token::new()),
        }
    }

    fn write_lent(&mut self, lease: &mut Lease, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        let region = lease.region().clone();
        let array = self.memory.lent(lease)?;
        // `lend_region` has made the array exclusive to this table, and it cannot have been shared since.
        let values_of_table = if self.shape.is_empty() { &mut [] } else { array.mutable_data()? };
        let view = TableViewMut::with_geometry(values_of_table, self.geometry())
            .ok_or_else(|| Error::new(ErrorKind::NotAllocated))?;
        let window = view.region(&region)?.into_window();
        kernel::write(AnyWindowMut::new(window), values, rule, region.origin())
    }

    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        self.end_lease(lease, Token::new())
    }
}
