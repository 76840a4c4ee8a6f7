//! Tables derived from a table: with another element type, in another layout, compact.

use super::Placement;
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::trace::{self, CopyKind};
use crate::convert::kernel::Origin;
use crate::convert::{ConversionPolicy, ConversionReport};
use crate::table::{
    DataLayout, HomogenNumericTable, MemoryStatus, NumericTable, Region, Shape, TableView, TableViewMut, copy_of,
};

impl<T: Element> HomogenNumericTable<T> {
    /// Converts the table under [`ConversionPolicy::Saturate`]. One pass into new memory; shares the memory if `U` is
    /// `T`.
    ///
    /// Keeps the layout, and the dictionary except for the element type. Source: DAAL `convertToHomogen`, which
    /// converts through `float`.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`], [`ErrorKind::SizeOverflow`],
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.9_f64, -7.0], [300.0, 4.0]])?;
    /// assert_eq!(table.convert::<u8>()?.as_slice()?, [1, 0, 255, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn convert<U: Element>(&self) -> Result<HomogenNumericTable<U>> {
        self.convert_with(ConversionPolicy::Saturate)
    }

    /// Converts the table under the given policy.
    ///
    /// # Errors
    /// Those of [`convert`](Self::convert); [`ErrorKind::ValueNotRepresentable`] for the first refused value in
    /// row-major order.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.0_f64, 2.0], [300.0, 4.0]])?;
    /// let error = table.convert_with::<u8>(ConversionPolicy::Checked).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the value 300 at row 1, column 0 is not representable as u8: `ConversionPolicy::Saturate` accepts it \
    ///      in calls that take a policy"
    /// );
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn convert_with<U: Element>(&self, policy: ConversionPolicy) -> Result<HomogenNumericTable<U>> {
        self.convert_to(self.placement.layout, policy)
    }

    /// Converts the table to the given layout under the given policy. One pass into new memory; shares the memory if
    /// `U` is `T` and the layout is the same.
    ///
    /// # Errors
    /// Those of [`convert_with`](Self::convert_with).
    ///
    /// # Examples
    /// Borrowing each column of a row-major table as a slice of another type:
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.5, 4.0]])?;
    /// let columns = table.convert_to::<f64>(DataLayout::ColumnMajor, ConversionPolicy::Saturate)?;
    /// assert_eq!(columns.view()?.column(0), Some(&[1.5, 3.5][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn convert_to<U: Element>(
        &self,
        layout: DataLayout,
        policy: ConversionPolicy,
    ) -> Result<HomogenNumericTable<U>> {
        let view = self.view()?;
        self.shape.element_count_of(U::TYPE)?;
        let dictionary = self.dictionary.with_element_type(U::TYPE)?;
        if self.status == MemoryStatus::NotAllocated {
            return HomogenNumericTable::unallocated(self.shape, layout).with_dictionary(dictionary);
        }
        if layout == self.placement.layout
            && let Some(shared) = self.shared_as::<U>()
        {
            return shared?.with_dictionary(dictionary);
        }
        let array = to_array(in_order_of(layout, view), policy).or_else(|error| {
            view.check(U::TYPE, policy)?; // finds the first value in row-major order in either layout
            Err(error)
        })?;
        trace::record(if T::TYPE == U::TYPE { CopyKind::Gathered } else { CopyKind::Converted }, array.size_in_bytes());
        HomogenNumericTable::internal(array, self.shape, layout).with_dictionary(dictionary)
    }

    /// Shares the memory as a table of `U`, if `U` is the stored type.
    fn shared_as<U: Element>(&self) -> Option<Result<HomogenNumericTable<U>>> {
        (T::TYPE == U::TYPE).then(|| {
            Ok(HomogenNumericTable {
                id: super::TableId::new(),
                memory: super::Memory::new(self.memory.array()?.reinterpret()?),
                status: self.status,
                shape: self.shape,
                placement: self.placement,
                dictionary: self.dictionary.clone(),
            })
        })
    }

    /// Returns the table in the given layout. One pass into new memory; shares the memory if the layout is the same.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
    /// let columns = table.to_layout(DataLayout::ColumnMajor)?;
    /// assert_eq!(columns.as_slice()?, [1, 4, 2, 5, 3, 6]);
    /// assert_eq!(columns, table); // the same values, rows and columns
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn to_layout(&self, layout: DataLayout) -> Result<Self> {
        self.convert_to(layout, ConversionPolicy::Saturate)
    }

    /// Copies the values into memory of exactly their size if they use only part of their block; otherwise shares the
    /// memory.
    ///
    /// A slice keeps the whole block of its table alive; its compact copy does not.
    ///
    /// # Errors
    /// [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let large = HomogenNumericTable::full(Shape { rows: 1000, columns: 4 }, 1.0_f32)?;
    /// let row = large.slice_rows(7..8)?.to_compact()?;
    /// assert!(!row.array()?.shares_memory_with(large.array()?));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn to_compact(&self) -> Result<Self> {
        let array = self.memory.array()?;
        if self.status == MemoryStatus::NotAllocated {
            return Ok(self.clone());
        }
        if array.is_whole_block() && array.len() == self.shape.element_count()? {
            return Ok(self.clone());
        }
        let array = self.copy_in_layout()?;
        trace::record(CopyKind::Requested, array.size_in_bytes());
        Self::internal(array, self.shape, self.placement.layout).with_dictionary(self.dictionary.clone())
    }

    /// Creates a homogeneous table from a table of any kind. Shares its memory if it is one array of `T` in either
    /// layout; otherwise converts the values row by row.
    ///
    /// # Errors
    /// Errors from reading the entire table; [`ErrorKind::OutOfMemory`].
    pub(crate) fn of_table(table: &(dyn NumericTable + '_), policy: ConversionPolicy) -> Result<Self> {
        if let Some(shared) = Self::sharing(table)? {
            return Ok(shared);
        }
        let shape = table.shape();
        let dictionary = table.dictionary().with_element_type(T::TYPE)?;
        let array = copy_of(table, &Region::whole(shape), T::TYPE, policy)?;
        let array = array.downcast().map_err(|other| Error::element_type_mismatch(T::TYPE, other.element_type()))?;
        Self::internal(array, shape, DataLayout::RowMajor).with_dictionary(dictionary)
    }

    /// Like [`of_table`](Self::of_table), but never copies. Returns `None` if a copy is needed.
    ///
    /// # Errors
    /// Those of [`NumericTable::piece`]; [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    pub(crate) fn sharing(table: &(dyn NumericTable + '_)) -> Result<Option<Self>> {
        let (shape, whole) = (table.shape(), Region::whole(table.shape()));
        shape.element_count_of(T::TYPE)?;
        let Some(piece) = table.piece(0, 0)? else { return Ok(None) };
        for layout in [table.data_layout(), DataLayout::RowMajor, DataLayout::ColumnMajor] {
            if let Some((array, range)) = piece.any_array_of(&whole, T::TYPE, layout)
                && let Some(array) = array.downcast::<T>()
            {
                let array = array.slice(range)?;
                let dictionary = table.dictionary().with_element_type(T::TYPE)?;
                let shared = Self::with_memory(array, shape, layout, table.data_memory_status());
                return shared.with_dictionary(dictionary).map(Some);
            }
        }
        Ok(None)
    }

    /// Counts the losses of a conversion to `U` by [`convert`](Self::convert). One pass, without a copy.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.0_f64, 2.5], [1e40, 4.0]])?;
    /// assert_eq!(table.conversion_report::<f32>()?.overflow_to_infinity, 1);
    /// assert_eq!(table.conversion_report::<i32>()?.first, Some((0, 1)));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn conversion_report<U: Element>(&self) -> Result<ConversionReport> {
        Ok(self.view()?.conversion_report::<U>())
    }

    /// Copies the values, without spare rows, in the order of the layout.
    pub(super) fn copy_in_layout(&self) -> Result<Array<T>> {
        to_array(in_order_of(self.placement.layout, self.view()?), ConversionPolicy::Saturate)
    }

    /// Copies into new memory for `shape`, which has at least as many rows: the table's values, zeros, and the spare
    /// rows.
    pub(super) fn copy_with_room(&self, shape: Shape) -> Result<Array<T>> {
        let Placement { layout, row_capacity, .. } = self.placement;
        let spare = self.placement.spare_rows();
        let room = Shape { rows: if spare.is_empty() { shape.rows } else { shape.rows.max(spare.end) }, ..shape };
        let mut array = Array::zeros(room.element_count_of(T::TYPE)?)?;
        let mut new = TableViewMut::new(array.mutable_data()?, room, layout)?;
        new.reborrow().slice_rows(0..self.shape.rows)?.copy_from(self.view()?)?;
        if !spare.is_empty() {
            let geometry = self.placement.geometry(Shape { rows: row_capacity, ..shape });
            let old = TableView::with_geometry(self.memory.array()?, geometry)
                .ok_or_else(|| Error::new(ErrorKind::NotAllocated))?;
            new.slice_rows(spare.clone())?.copy_from(old.slice_rows(spare)?)?;
        }
        Ok(array)
    }
}

/// Transposes a view if needed, so that its row-major order is the order of the layout.
pub(super) fn in_order_of<T: Element>(layout: DataLayout, view: TableView<'_, T>) -> TableView<'_, T> {
    match layout {
        DataLayout::RowMajor => view,
        DataLayout::ColumnMajor => view.transposed(),
    }
}

fn to_array<T: Element, U: Element>(view: TableView<'_, T>, policy: ConversionPolicy) -> Result<Array<U>> {
    let array = view.to_array(U::TYPE, policy, Origin::default())?;
    array.downcast().map_err(|other| Error::element_type_mismatch(U::TYPE, other.element_type()))
}
