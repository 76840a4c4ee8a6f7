//! Windows as views of `ndarray`, for each version that a feature enables.

use super::{Geometry, Window, WindowMut};

/// Returns lengths and strides, in elements, in the form that `ndarray` takes.
fn lengths_and_strides(geometry: Geometry) -> ((usize, usize), (usize, usize)) {
    let Geometry { rows, columns, row_stride, column_stride } = geometry;
    ((rows, columns), (row_stride, column_stride))
}

macro_rules! define_views {
    ($feature:literal, $ndarray:ident, $as_ndarray:ident, $into_ndarray:ident) => {
        #[cfg(feature = $feature)]
        impl<'a, T: Copy> Window<'a, T> {
            /// Returns a view of the same elements; `None` for shapes without elements that `ndarray` cannot express.
            pub(crate) fn $as_ndarray(&self) -> Option<$ndarray::ArrayView2<'a, T>> {
                use $ndarray::{ArrayView2, ShapeBuilder};
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
        }

        #[cfg(feature = $feature)]
        impl<'a, T: Copy> WindowMut<'a, T> {
            /// Returns a mutable view of the same elements; the window, for shapes without elements that `ndarray`
            /// cannot express.
            pub(crate) fn $into_ndarray(mut self) -> Result<$ndarray::ArrayViewMut2<'a, T>, Self> {
                use $ndarray::{ArrayViewMut2, ShapeBuilder};
                let (lengths, strides) = lengths_and_strides(self.geometry());
                if self.geometry().is_empty() {
                    return ArrayViewMut2::from_shape(lengths, &mut []).map_err(|_| self);
                }
                // SAFETY: as for `Window`; positions are injective, no other window names these elements, and this one
                // is consumed.
                Ok(unsafe { ArrayViewMut2::from_shape_ptr(lengths.strides(strides), self.as_mut_ptr()) })
            }
        }
    };
}
define_views!("ndarray", ndarray, as_ndarray, into_ndarray);
define_views!("ndarray-016", ndarray_016, as_ndarray_016, into_ndarray_016);
