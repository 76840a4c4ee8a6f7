//! The homogeneous numeric table: all values of one type, in one shared block of memory.
//!
//! This module contains the type and its life cycle. Constructors are in `construct`, conversion and layout in
//! `transform`, and the implementation of `NumericTable` in `access`. The `Memory` that holds the array is in `lease`.
//! Semantics: DAAL `HomogenNumericTable`.

mod access;
mod construct;
pub(super) mod grow;
mod transform;

use std::fmt;
use std::ops::Range;

use super::lease::Memory;
use super::view::{TableView, TableViewMut};
use super::{DataLayout, MemoryStatus, Shape, TableId};
use crate::array::Array;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::trace::{self, CopyKind};
use crate::dictionary::{DataDictionary, Feature};
use crate::table::numeric_table::describe;
use crate::window::Geometry;

/// A table of numbers of one element type in one shared block of memory. The default type is `f32`, as in DAAL.
///
/// ```text
///  HomogenNumericTable<f32> ── dictionary: describes the columns
///    │ shape, layout
///    ▼
///  Array<f32> ── shared with clones, slices, read-only blocks; copied before the first write
/// ```
///
/// Algorithms request blocks of rows in any element type; see [`BlockAccess`](crate::block::BlockAccess). Cloning
/// shares the memory, O(1); the first write through either table copies its values and spare rows. A clone made while a
/// writable block is outstanding cannot be used until the block is released, like the table itself. It then shares the
/// returned memory.
///
/// Source: DAAL `HomogenNumericTable`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_array(vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], Shape { rows: 3, columns: 2 })?;
/// let block = table.rows::<f64>(1..3)?; // converted: 2 x 2
/// assert_eq!(block.row(1), [5.0, 6.0]);
/// assert!(table.rows::<f32>(1..3)?.is_zero_copy());
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct HomogenNumericTable<T: Element = f32> {
    id: TableId,
    /// Invariant: if the memory is allocated and not lent, the array holds every value of the `geometry`.
    memory: Memory<Array<T>>,
    status: MemoryStatus,
    shape: Shape,
    placement: Placement,
    /// Invariant: describes `shape.columns` columns of type `T`.
    dictionary: DataDictionary,
}

/// How the rows of a table are placed in its array.
#[derive(Clone, Copy, Debug)]
struct Placement {
    layout: DataLayout,
    /// The number of values from one column to the next. Used by column-major tables only.
    column_stride: usize,
    /// The number of rows that fit in the array.
    row_capacity: usize,
    /// The largest number of rows that the table has had in this array. The rows from here to the capacity are spare:
    /// when they appear, they have the values that the owner of the memory stored there. Truncated rows before this
    /// number are zero when they reappear.
    shown_rows: usize,
    /// Whether the table has outgrown its memory before: a table that grew once is expected to grow again.
    has_grown: bool,
}

impl Placement {
    /// Describes contiguous values in an array of `count` values. Room at the end is for more rows, if the rows are
    /// contiguous.
    fn dense(layout: DataLayout, shape: Shape, count: usize) -> Self {
        let row_capacity = match layout {
            DataLayout::RowMajor => count.checked_div(shape.columns).unwrap_or(usize::MAX),
            DataLayout::ColumnMajor if shape.columns == 0 => usize::MAX,
            DataLayout::ColumnMajor => shape.rows,
        };
        Self { layout, column_stride: shape.rows, row_capacity, shown_rows: shape.rows, has_grown: false }
    }

    /// Returns the rows of the array that the table has not had yet. Only row-major arrays have spare rows.
    fn spare_rows(&self) -> Range<usize> {
        match self.layout {
            DataLayout::RowMajor => self.shown_rows.min(self.row_capacity)..self.row_capacity,
            DataLayout::ColumnMajor => 0..0,
        }
    }

    fn geometry(&self, shape: Shape) -> Geometry {
        let Shape { rows, columns } = shape;
        match self.layout {
            DataLayout::RowMajor => Geometry { rows, columns, row_stride: columns, column_stride: 1 },
            DataLayout::ColumnMajor => Geometry { rows, columns, row_stride: 1, column_stride: self.column_stride },
        }
    }
}

/// Short alias of [`HomogenNumericTable`].
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table: Table<f64> = Table::from_rows(&[[1.0, 2.0]])?;
/// assert_eq!(table.shape(), Shape { rows: 1, columns: 2 });
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub type Table<T = f32> = HomogenNumericTable<T>;

/// A [`HomogenNumericTable`] of `f32`, DAAL's default type, for use in expressions: `FloatTable::new(shape, flag)`.
/// Rust applies the default type of `HomogenNumericTable` in types, as in `let table: HomogenNumericTable = ...`, but
/// not in expressions.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::FloatTable};
/// let table = FloatTable::new(Shape { rows: 3, columns: 2 }, AllocationFlag::DoAllocate)?;
/// assert_eq!(table.element_type(), ElementType::F32);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub type FloatTable = HomogenNumericTable<f32>;

impl<T: Element> HomogenNumericTable<T> {
    /// Returns the element type that corresponds to `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.element_type(), ElementType::I16);
    /// assert_eq!(table.convert::<f64>()?.element_type(), ElementType::F64);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub const fn element_type(&self) -> ElementType {
        T::TYPE
    }

    /// Borrows the array that holds the values. It may have more values than the table shows: spare rows and room for
    /// more rows.
    ///
    /// Source: DAAL `getArray`.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_array(vec![1, 2, 3, 4], Shape { rows: 2, columns: 2 })?;
    /// let shared = table.array()?.clone(); // no copy
    /// assert!(shared.shares_memory_with(table.array()?));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn array(&self) -> Result<&Array<T>> {
        let array = self.memory.array()?;
        if self.status == MemoryStatus::NotAllocated { Err(Error::new(ErrorKind::NotAllocated)) } else { Ok(array) }
    }

    /// Borrows all values as one slice, in the order of the layout.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`]; [`ErrorKind::MemoryLayout`] for a row slice of a
    /// column-major table, and for a column-major table that has room for more rows after growing
    /// ([`to_compact`](Self::to_compact) makes a contiguous copy).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// assert_eq!(HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.as_slice()?, [1, 2, 3, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn as_slice(&self) -> Result<&[T]> {
        transform::in_order_of(self.placement.layout, self.view()?).as_slice().ok_or_else(Error::not_contiguous)
    }

    /// Borrows all values as one mutable slice, in the order of the layout. Copies shared or immutable memory first.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`];
    /// [`ErrorKind::MemoryLayout`] as for [`as_slice`](Self::as_slice).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// table.as_mut_slice()?.reverse();
    /// assert_eq!(table.as_slice()?, [4, 3, 2, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.as_slice()?;
        let count = self.shape.element_count()?;
        if count == 0 {
            return Ok(&mut []);
        }
        // The values are contiguous in the order of the layout, so they are the first `count` of the array.
        Ok(&mut self.detach()?.mutable_data()?[..count])
    }

    /// Borrows the values as a two-dimensional view, for reading. Cost: O(1).
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`] if there are rows without memory; [`ErrorKind::BlockOutstanding`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// assert_eq!(table.view()?.value(1, 0), Some(3));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn view(&self) -> Result<TableView<'_, T>> {
        let array = self.memory.array()?;
        self.check_allocated()?;
        TableView::with_geometry(array, self.geometry()).ok_or_else(|| Error::new(ErrorKind::NotAllocated))
    }

    /// Borrows the values as a two-dimensional view, for writing. Copies shared or immutable memory first.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`] if there are rows without memory; [`ErrorKind::BlockOutstanding`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// let before = table.clone();
    /// table.view_mut()?.set_value(0, 0, 9)?;
    /// assert_eq!((table.as_slice()?[0], before.as_slice()?[0]), (9, 1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> Result<TableViewMut<'_, T>> {
        self.view()?;
        if self.shape.is_empty() {
            return TableViewMut::with_geometry(&mut [], self.geometry())
                .ok_or_else(|| Error::new(ErrorKind::NotAllocated));
        }
        self.detach()?;
        let geometry = self.geometry();
        let values = self.memory.array_mut()?.mutable_data()?;
        TableViewMut::with_geometry(values, geometry).ok_or_else(|| Error::new(ErrorKind::NotAllocated))
    }

    /// Replaces the memory with an array that the user provides. Keeps the columns and sets the number of rows to
    /// `rows`.
    ///
    /// An error drops the array; to keep it, pass a clone, O(1). If the array has room for more rows, use
    /// [`set_array_with_spare_rows`](Self::set_array_with_spare_rows). Source: DAAL `setArray`, which does not check
    /// the size.
    ///
    /// # Errors
    /// [`ErrorKind::ArrayLength`] if the length of the array is not exactly `rows` rows; [`ErrorKind::SizeOverflow`],
    /// [`ErrorKind::BlockOutstanding`]. On an error the table is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2]])?;
    /// table.set_array(vec![5, 6, 7, 8], 2)?;
    /// assert_eq!((table.row_count(), table.data_memory_status()), (2, MemoryStatus::UserAllocated));
    /// assert!(table.set_array(vec![1, 2, 3], 2).is_err());
    /// assert!(table.set_array(vec![1, 2, 3, 4, 5, 6], 2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn set_array(&mut self, array: impl Into<Array<T>>, rows: usize) -> Result<()> {
        let (array, shape) = (array.into(), Shape { rows, ..self.shape });
        self.memory.array()?;
        shape.check_length::<T>(array.len())?;
        self.replace_memory(array, shape, MemoryStatus::UserAllocated);
        Ok(())
    }

    /// Like [`set_array`](Self::set_array), with an array that may be longer. The additional rows are spare rows, as in
    /// [`from_array_with_spare_rows`](Self::from_array_with_spare_rows).
    ///
    /// # Errors
    /// Those of [`set_array`](Self::set_array); [`ErrorKind::ArrayLength`] if the length of the array is not a multiple
    /// of the row length, or if the layout is column-major and the array has more than `rows` rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2]])?;
    /// table.set_array_with_spare_rows(vec![5, 6, 7, 8], 1)?;
    /// assert_eq!(table.as_slice()?, [5, 6]);
    /// table.resize(2)?;
    /// assert_eq!(table.as_slice()?, [5, 6, 7, 8]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn set_array_with_spare_rows(&mut self, array: impl Into<Array<T>>, rows: usize) -> Result<()> {
        let (array, shape) = (array.into(), Shape { rows, ..self.shape });
        self.memory.array()?;
        check_spare_rows(&array, shape, self.placement.layout)?;
        self.replace_memory(array, shape, MemoryStatus::UserAllocated);
        Ok(())
    }

    /// Returns the values as an array, in the order of the layout. O(1) if they are contiguous; otherwise copies them.
    ///
    /// # Errors
    /// [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`], [`ErrorKind::OutOfMemory`]. An error drops the
    /// table; to keep it, clone it first, O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let vec = vec![1, 2, 3, 4];
    /// let address = vec.as_ptr();
    /// let table = HomogenNumericTable::from_array(vec, Shape { rows: 2, columns: 2 })?;
    /// let vec = table.into_array()?.try_into_vec().unwrap(); // the original Vec
    /// assert_eq!(vec.as_ptr(), address);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn into_array(mut self) -> Result<Array<T>> {
        self.array()?;
        let count = self.shape.element_count()?;
        if self.as_slice().is_err() {
            self = self.to_compact()?;
        }
        let array = std::mem::take(self.memory.array_mut()?);
        if array.len() == count { Ok(array) } else { array.slice(..count) }
    }

    /// Takes the `Vec` from which the table was created, if its memory is an unshared `Vec`. Otherwise leaves the table
    /// unchanged.
    #[cfg(feature = "ndarray")]
    pub(crate) fn take_vec(&mut self) -> Option<Vec<T>> {
        let array = self.memory.array_mut().ok()?;
        match std::mem::take(array).try_into_vec() {
            Ok(vec) => Some(vec),
            Err(whole) => {
                *array = whole;
                None
            }
        }
    }

    /// Allocates new zeroed memory for the table and releases the old memory.
    ///
    /// Source: DAAL `allocateDataMemory`.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`], [`ErrorKind::BlockOutstanding`]. On an error the table
    /// is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::<f32>::new(Shape { rows: 2, columns: 2 }, AllocationFlag::DoNotAllocate)?;
    /// table.allocate_data_memory()?;
    /// assert_eq!(table.as_slice()?, [0.0; 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn allocate_data_memory(&mut self) -> Result<()> {
        self.memory.array()?;
        let array = Array::zeros(self.shape.element_count_of(T::TYPE)?)?;
        self.replace_memory(array, self.shape, MemoryStatus::InternallyAllocated);
        Ok(())
    }

    /// Releases the memory. Keeps the shape and the dictionary.
    ///
    /// Source: DAAL `freeDataMemory`.
    ///
    /// # Errors
    /// [`ErrorKind::BlockOutstanding`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1, 2]])?;
    /// table.free_data_memory()?;
    /// assert_eq!((table.row_count(), table.data_memory_status()), (1, MemoryStatus::NotAllocated));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn free_data_memory(&mut self) -> Result<()> {
        self.memory.array()?;
        self.replace_memory(Array::new(), self.shape, MemoryStatus::NotAllocated);
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn geometry(&self) -> Geometry {
        self.placement.geometry(self.shape)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn check_allocated(&self) -> Result<()> {
        if self.is_allocated() { Ok(()) } else { Err(Error::new(ErrorKind::NotAllocated)) }
    }

    /// Returns whether the array holds all rows.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_allocated(&self) -> bool {
        self.status != MemoryStatus::NotAllocated || self.shape.rows == 0
    }

    /// Replaces the memory with a dense array whose length has been checked.
    fn replace_memory(&mut self, array: Array<T>, shape: Shape, status: MemoryStatus) {
        self.placement = Placement::dense(self.placement.layout, shape, array.len());
        let old = std::mem::replace(&mut self.memory, Memory::new(array));
        self.shape = shape;
        self.status = status;
        drop(old); // last, because it may call user code that panics
    }

    /// Makes the memory writable: copies the table's values and its spare rows if the memory is shared or immutable.
    fn detach(&mut self) -> Result<&mut Array<T>> {
        if !self.memory.array()?.has_mutable_data() {
            let has_spare_rows = !self.placement.spare_rows().is_empty();
            let copy = if has_spare_rows { self.copy_with_room(self.shape)? } else { self.copy_in_layout()? };
            trace::record(CopyKind::Unshared, copy.size_in_bytes());
            self.replace_memory(copy, self.shape, MemoryStatus::InternallyAllocated);
        }
        self.memory.array_mut()
    }

    fn default_dictionary(columns: usize) -> DataDictionary {
        DataDictionary::uniform(Feature::new(T::TYPE), columns)
    }
}

/// Checks that an array holds every value of a shape, and after them only complete spare rows, if the layout allows
/// any.
fn check_spare_rows<T: Element>(array: &Array<T>, shape: Shape, layout: DataLayout) -> Result<()> {
    let rows = match layout {
        DataLayout::RowMajor => array.len().checked_div(shape.columns).map_or(shape.rows, |rows| rows.max(shape.rows)),
        DataLayout::ColumnMajor => shape.rows,
    };
    Shape { rows, ..shape }.check_length::<T>(array.len()).map(drop)
}

/// Shares the memory. Cost: O(1). The first write through either table copies it.
impl<T: Element> Clone for HomogenNumericTable<T> {
    fn clone(&self) -> Self {
        Self {
            id: TableId::new(),
            memory: self.memory.share(),
            status: self.status,
            shape: self.shape,
            placement: self.placement,
            dictionary: self.dictionary.clone(),
        }
    }
}

/// Returns an unallocated table without rows and columns.
impl<T: Element> Default for HomogenNumericTable<T> {
    fn default() -> Self {
        Self::unallocated(Shape::default(), DataLayout::default())
    }
}

/// Compares shape, dictionary and values; the layout may differ. Values compare as numbers: NaN differs from itself. A
/// table whose memory is lent to a writable block differs from every other table.
impl<T: Element> PartialEq for HomogenNumericTable<T> {
    fn eq(&self, other: &Self) -> bool {
        if self.shape != other.shape || self.dictionary != other.dictionary {
            return false;
        }
        match (self.view(), other.view()) {
            (Ok(mine), Ok(theirs)) => match (mine.as_slice(), theirs.as_slice()) {
                (Some(mine), Some(theirs)) => mine == theirs,
                _ => (0..self.shape.rows).all(|row| {
                    (0..self.shape.columns).all(|column| mine.value(row, column) == theirs.value(row, column))
                }),
            },
            (Err(mine), Err(theirs)) => {
                [mine, theirs].iter().all(|error| matches!(error.kind(), ErrorKind::NotAllocated))
            }
            _ => false,
        }
    }
}

impl<T: Element> fmt::Debug for HomogenNumericTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe("HomogenNumericTable", self, f)
    }
}
