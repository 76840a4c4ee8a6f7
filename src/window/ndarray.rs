//! Windows as `ndarray` views.

use super::{Geometry, Window, WindowMut};

/// Returns lengths and strides, in elements, in the form that `ndarray` expects.
fn lengths_and_strides(geometry: Geometry) -> ((usize, usize), (usize, usize)) {
    let Geometry { rows, columns, row_stride, column_stride } = geometry;
    ((rows, columns), (row_stride, column_stride))
}

/// Returns the geometry of an `ndarray` view. `None` if an axis with more than one position has a negative stride.
fn geometry(lengths: (usize, usize), strides: &[isize]) -> Option<Geometry> {
    let (rows, columns) = lengths;
    if rows == 0 || columns == 0 {
        return Some(Geometry { rows, columns, row_stride: columns, column_stride: 1 });
    }
    let along = |axis: usize, length: usize| match strides.get(axis) {
        _ if length == 1 => Some(1),
        Some(&stride) => usize::try_from(stride).ok(),
        None => None,
    };
    // A separate row or column gets the strides of dense values, so that it is known to be contiguous.
    let column_stride = along(1, columns)?;
    let row_stride = if rows == 1 { columns } else { along(0, rows)? };
    Some(Geometry { rows, columns, row_stride, column_stride })
}

impl<'a, T: Copy> Window<'a, T> {
    /// Returns a view of the same elements; `None` for shapes without elements that `ndarray` cannot express.
    pub(crate) fn as_ndarray(&self) -> Option<ndarray::ArrayView2<'a, T>> {
        use ndarray::{ArrayView2, ShapeBuilder};
        let (lengths, strides) = lengths_and_strides(self.geometry());
        if self.geometry().is_empty() {
            return ArrayView2::from_shape(lengths, &[]).ok(); // the strides are up to `ndarray`
        }
        // SAFETY: the pointer is that of a slice or into one, so it is aligned and not null. Every element that
        // the lengths and the strides name lies in the slice that is borrowed for `'a` (invariant of
        // `Geometry`), so no length, stride or offset exceeds `isize::MAX`, and no other element is named:
        // memory between them may belong to other windows.
        Some(unsafe { ArrayView2::from_shape_ptr(lengths.strides(strides), self.as_ptr()) })
    }

    /// Returns a window on the elements of a view; `None` for negative strides, which windows do not support.
    pub(crate) fn of_ndarray(view: ndarray::ArrayView2<'a, T>) -> Option<Self> {
        let geometry = geometry(view.dim(), view.strides())?;
        // SAFETY: the pointer is that of the view's first element. Each position of the geometry is one of the
        // view's: the strides are the same, or those of an axis with one position, or there are no positions.
        // So the elements are those of the view, which lends them for `'a`, and no offset overflows.
        Some(unsafe { Self::from_raw_parts(view.as_ptr(), geometry) })
    }
}

impl<'a, T: Copy> WindowMut<'a, T> {
    /// Returns a mutable view of the same elements. Returns the window itself for shapes without elements that
    /// `ndarray` cannot express.
    pub(crate) fn into_ndarray(mut self) -> Result<ndarray::ArrayViewMut2<'a, T>, Self> {
        use ndarray::{ArrayViewMut2, ShapeBuilder};
        let (lengths, strides) = lengths_and_strides(self.geometry());
        if self.geometry().is_empty() {
            return ArrayViewMut2::from_shape(lengths, &mut []).map_err(|_| self);
        }
        // SAFETY: as for `Window`; positions are injective, no other window names these elements, and this one
        // is consumed.
        Ok(unsafe { ArrayViewMut2::from_shape_ptr(lengths.strides(strides), self.as_mut_ptr()) })
    }

    /// Returns a window on the elements of a mutable view; `None` for negative strides, which windows do not
    /// support.
    pub(crate) fn of_ndarray_mut(mut view: ndarray::ArrayViewMut2<'a, T>) -> Option<Self> {
        let geometry = geometry(view.dim(), view.strides())?;
        // SAFETY: as for `Window`. The view borrows its elements exclusively for `'a`, each at one position
        // only, and it is consumed.
        Some(unsafe { Self::from_raw_parts(view.as_mut_ptr(), geometry) })
    }
}
