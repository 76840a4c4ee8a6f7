//! Conversions between tables, views and `ndarray` arrays.

use ndarray::{
    ArcArray2, Array2, ArrayBase, ArrayView2, ArrayViewMut2, CowArray, CowRepr, Data, Ix2, OwnedArcRepr, OwnedRepr,
    ShapeBuilder, StrideShape, ViewRepr,
};

use super::source::Source;
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::trace::{self, CopyKind};
use crate::block::{Block, BlockMut};
use crate::table::{
    BorrowedTable, BorrowedTableMut, DataLayout, HomogenNumericTable, NumericTable, Shape, TableView, TableViewMut,
};
use crate::window::{Window, WindowMut};

/// A shared `ndarray` array, as the owner of an [`Array`].
struct SharedNdarray<A>(A);

fn overflow<T: Element>(shape: Shape) -> Error {
    Error::new(ErrorKind::SizeOverflow { shape, element: Some(T::TYPE) })
}

/// Returns whether `ndarray` can represent a shape: the product of the non-zero lengths must fit an `isize`.
fn is_expressible(shape: Shape) -> bool {
    let count = shape.rows.max(1).checked_mul(shape.columns.max(1));
    count.is_some_and(|count| isize::try_from(count).is_ok())
}

/// Copies the values of a table, in the order of its layout, to memory that `ndarray` can own.
fn to_vec<T: Element>(table: &HomogenNumericTable<T>) -> Result<Vec<T>> {
    let (view, shape) = (table.view()?, table.shape());
    if !is_expressible(shape) {
        return Err(overflow::<T>(shape));
    }
    let (count, mut values) = (shape.element_count_of(T::TYPE)?, Vec::new());
    values.try_reserve_exact(count).map_err(|_| Error::out_of_memory(count * size_of::<T>()))?;
    values.resize(count, T::default());
    TableViewMut::new(&mut values, shape, table.data_layout())?.copy_from(view)?;
    trace::record(CopyKind::Exchanged, size_of_val(&values[..]));
    Ok(values)
}

/// Takes the memory of a table if it is a `Vec` that `ndarray` can own. Otherwise leaves the table unchanged.
fn take_vec<T: Element>(table: &mut HomogenNumericTable<T>) -> Option<Vec<T>> {
    let count = table.as_slice().ok()?.len();
    if !is_expressible(table.shape()) {
        return None;
    }
    let mut values = if count == 0 { Vec::new() } else { table.take_vec()? };
    values.truncate(count); // drops the spare capacity
    Some(values)
}

/// Returns the error for a view with negative strides.
fn backwards(strides: (isize, isize)) -> Error {
    let (row, column) = strides;
    let reason =
        format!("the strides of the view are {row} and {column}: a table cannot be read backwards without a copy");
    Error::new(ErrorKind::MemoryLayout { reason })
}

// --- tables as arrays ---------------------------------------------------------------------------------

impl<'t, T: Element> TryFrom<TableView<'t, T>> for ArrayView2<'t, T> {
    type Error = Error;

    fn try_from(view: TableView<'t, T>) -> Result<Self> {
        view.window().as_ndarray().ok_or_else(|| overflow::<T>(view.shape()))
    }
}

impl<'t, T: Element> TryFrom<TableViewMut<'t, T>> for ArrayViewMut2<'t, T> {
    type Error = Error;

    fn try_from(view: TableViewMut<'t, T>) -> Result<Self> {
        let shape = view.shape();
        view.into_window().into_ndarray().map_err(|_| overflow::<T>(shape))
    }
}

impl<'b, U: Element> TryFrom<&'b Block<'_, U>> for ArrayView2<'b, U> {
    type Error = Error;

    fn try_from(block: &'b Block<'_, U>) -> Result<Self> {
        let (rows, columns) = (block.row_count(), block.column_count());
        Self::from_shape((rows, columns), block).map_err(|_| overflow::<U>(Shape { rows, columns }))
    }
}

impl<'b, U: Element> TryFrom<&'b BlockMut<'_, U>> for ArrayView2<'b, U> {
    type Error = Error;

    fn try_from(block: &'b BlockMut<'_, U>) -> Result<Self> {
        let (rows, columns) = (block.row_count(), block.column_count());
        Self::from_shape((rows, columns), block).map_err(|_| overflow::<U>(Shape { rows, columns }))
    }
}

impl<'b, U: Element> TryFrom<&'b mut BlockMut<'_, U>> for ArrayViewMut2<'b, U> {
    type Error = Error;

    fn try_from(block: &'b mut BlockMut<'_, U>) -> Result<Self> {
        let (rows, columns) = (block.row_count(), block.column_count());
        Self::from_shape((rows, columns), block).map_err(|_| overflow::<U>(Shape { rows, columns }))
    }
}

impl<T: Element> TryFrom<&HomogenNumericTable<T>> for Array2<T> {
    type Error = Error;

    fn try_from(table: &HomogenNumericTable<T>) -> Result<Self> {
        Ok(array(table.shape(), table.data_layout(), to_vec(table)?))
    }
}

impl<T: Element> TryFrom<HomogenNumericTable<T>> for Array2<T> {
    type Error = HomogenNumericTable<T>;

    fn try_from(mut table: HomogenNumericTable<T>) -> Result<Self, Self::Error> {
        let (shape, layout) = (table.shape(), table.data_layout());
        match take_vec(&mut table) {
            Some(values) => Ok(array(shape, layout, values)),
            None => Err(table),
        }
    }
}

/// Creates an array of a shape that matches the number of values and that `ndarray` can represent.
fn array<T>(shape: Shape, layout: DataLayout, values: Vec<T>) -> Array2<T> {
    let lengths = Ix2(shape.rows, shape.columns);
    let lengths: StrideShape<Ix2> = match layout {
        DataLayout::RowMajor => lengths.into(),
        DataLayout::ColumnMajor => lengths.f().into(),
    };
    match Array2::from_shape_vec(lengths, values) {
        Ok(array) => array,
        Err(_) => unreachable!("the shape has been checked, and there are as many values"),
    }
}

// --- arrays as tables ---------------------------------------------------------------------------------

/// Views the same values. No stride may be negative: [`ErrorKind::MemoryLayout`]. O(1).
impl<'t, T: Element> TryFrom<ArrayView2<'t, T>> for TableView<'t, T> {
    type Error = Error;

    fn try_from(view: ArrayView2<'t, T>) -> Result<Self> {
        let strides = strides_of(&view);
        Window::of_ndarray(view).map(Self::of_window).ok_or_else(|| backwards(strides))
    }
}

/// Views the same values. No stride may be negative: [`ErrorKind::MemoryLayout`]. O(1).
impl<'t, T: Element> TryFrom<ArrayViewMut2<'t, T>> for TableViewMut<'t, T> {
    type Error = Error;

    fn try_from(view: ArrayViewMut2<'t, T>) -> Result<Self> {
        let strides = strides_of(&view);
        WindowMut::of_ndarray_mut(view).map(Self::of_window).ok_or_else(|| backwards(strides))
    }
}

/// Borrows the values without a copy. No stride may be negative: [`ErrorKind::MemoryLayout`]. O(1).
impl<'t, T: Element> TryFrom<ArrayView2<'t, T>> for BorrowedTable<'t, T> {
    type Error = Error;

    fn try_from(view: ArrayView2<'t, T>) -> Result<Self> {
        TableView::try_from(view).map(Self::from)
    }
}

/// Borrows the values without a copy and writes them in place. No stride may be negative:
/// [`ErrorKind::MemoryLayout`]. O(1).
impl<'t, T: Element> TryFrom<ArrayViewMut2<'t, T>> for BorrowedTableMut<'t, T> {
    type Error = Error;

    fn try_from(view: ArrayViewMut2<'t, T>) -> Result<Self> {
        TableViewMut::try_from(view).map(Self::from)
    }
}

fn strides_of<S: Data>(array: &ArrayBase<S, Ix2>) -> (isize, isize) {
    (array.stride_of(ndarray::Axis(0)), array.stride_of(ndarray::Axis(1)))
}

impl<T: Element, S: Storage<Elem = T>> Source<T> for ArrayBase<S, Ix2> {
    fn is_lent(&self) -> bool {
        S::is_lent(self)
    }

    fn lengths(&self) -> (usize, usize) {
        self.dim()
    }

    fn layout(&self) -> Option<DataLayout> {
        layout_of(self)
    }

    fn share(self) -> Array<T> {
        S::share(self)
    }

    fn copy(&self) -> Result<Array<T>> {
        copy(self)
    }
}

impl<T: Element, S: Data<Elem = T>> Source<T> for &ArrayBase<S, Ix2> {
    fn is_lent(&self) -> bool {
        true
    }

    fn lengths(&self) -> (usize, usize) {
        self.dim()
    }

    fn layout(&self) -> Option<DataLayout> {
        layout_of(self)
    }

    fn share(self) -> Array<T> {
        adopt(self.to_owned())
    }

    fn copy(&self) -> Result<Array<T>> {
        copy(self)
    }
}

/// How an array owns its values.
pub trait Storage: Data + Sized {
    fn is_lent(array: &ArrayBase<Self, Ix2>) -> bool;
    fn share(array: ArrayBase<Self, Ix2>) -> Array<Self::Elem>;
}

impl<T: Element> Storage for OwnedRepr<T> {
    fn is_lent(_: &Array2<T>) -> bool {
        false
    }

    fn share(array: Array2<T>) -> Array<T> {
        adopt(array)
    }
}

impl<T: Element> Storage for OwnedArcRepr<T> {
    fn is_lent(_: &ArcArray2<T>) -> bool {
        false
    }

    fn share(array: ArcArray2<T>) -> Array<T> {
        match array.try_into_owned_nocopy() {
            Ok(alone) => adopt(alone),
            Err(shared) => Array::from_owner(SharedNdarray(shared)),
        }
    }
}

impl<T: Element> Storage for CowRepr<'_, T> {
    fn is_lent(array: &CowArray<'_, T, Ix2>) -> bool {
        array.is_view()
    }

    fn share(array: CowArray<'_, T, Ix2>) -> Array<T> {
        adopt(array.into_owned())
    }
}

impl<T: Element> Storage for ViewRepr<&T> {
    fn is_lent(_: &ArrayView2<'_, T>) -> bool {
        true
    }

    fn share(array: ArrayView2<'_, T>) -> Array<T> {
        adopt(array.to_owned())
    }
}

impl<T: Element> Storage for ViewRepr<&mut T> {
    fn is_lent(_: &ArrayViewMut2<'_, T>) -> bool {
        true
    }

    fn share(array: ArrayViewMut2<'_, T>) -> Array<T> {
        adopt(array.to_owned())
    }
}

impl<T: Element> AsRef<[T]> for SharedNdarray<ArcArray2<T>> {
    fn as_ref(&self) -> &[T] {
        self.0.as_slice_memory_order().unwrap_or_default()
    }
}

/// Returns the order in which all values are contiguous, if they are.
fn layout_of<S: Data>(array: &ArrayBase<S, Ix2>) -> Option<DataLayout> {
    if array.is_standard_layout() {
        return Some(DataLayout::RowMajor);
    }
    array.t().is_standard_layout().then_some(DataLayout::ColumnMajor)
}

/// Uses the memory of an array that is its only owner and has a layout. The table may write to it.
fn adopt<T: Element>(array: Array2<T>) -> Array<T> {
    let count = array.len();
    let (values, offset) = array.into_raw_vec_and_offset();
    let (values, first) = (Array::from(values), offset.unwrap_or(0));
    if values.len() == count { values } else { values.part(first..first + count) }
}

fn copy<S: Data<Elem: Element>>(array: &ArrayBase<S, Ix2>) -> Result<Array<S::Elem>> {
    if let (Some(_), Some(values)) = (layout_of(array), array.as_slice_memory_order()) {
        return Array::copied(values, CopyKind::Exchanged);
    }
    let mut values = Array::zeros(array.len())?;
    if let Ok(mut target) = ArrayViewMut2::from_shape(array.raw_dim(), values.mutable_data()?) {
        target.assign(array); // in the order that suits both memory layouts
    }
    trace::record(CopyKind::Exchanged, values.size_in_bytes());
    Ok(values)
}
