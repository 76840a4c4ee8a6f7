//! Code that a user would write without this crate: the naive loop, `ndarray`, and Arrow's cast.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, UInt8Type,
};
use arrow_array::{ArrayRef, ArrowNativeTypeOp, PrimitiveArray};
use numeric_table::{Element, bf16, f16};

/// Conversion of one value as in a plain loop: `as`, or the methods of `half`.
pub(crate) trait Plain<D: Element>: Element {
    fn plain(self) -> D;
}

macro_rules! plain {
    ($($S:ty: $($D:ty),+;)*) => {$($(
        impl Plain<$D> for $S {
            #[inline(always)]
            fn plain(self) -> $D {
                self as $D
            }
        }
    )+)*};
    ($($S:ty: $($D:ty = $convert:path),+;)*) => {$($(
        impl Plain<$D> for $S {
            #[inline(always)]
            fn plain(self) -> $D {
                $convert(self)
            }
        }
    )+)*};
}

plain! {
    f32: f64, i32, u8;
    f64: f32, i32, i64;
    i16: f32, i32;
    i32: f64, i16;
    i64: f64;
    u8: f32;
}
plain! {
    f32: f32 = std::convert::identity, f16 = f16::from_f32, bf16 = bf16::from_f32;
    f64: f64 = std::convert::identity, f16 = f16::from_f64;
    u8: u8 = std::convert::identity;
    f16: f32 = f16::to_f32, f64 = f16::to_f64;
    bf16: f32 = bf16::to_f32;
}

/// Converts into existing memory, in a simple loop.
#[inline]
pub(crate) fn naive_loop<S: Plain<D>, D: Element>(source: &[S], target: &mut [D]) {
    for (target, &source) in target.iter_mut().zip(source) {
        *target = source.plain();
    }
}

/// Converts into new memory, with the threads of the rayon pool.
pub(crate) fn rayon_collect<S: Plain<D>, D: Element>(source: &[S]) -> Vec<D> {
    use rayon::prelude::*;
    source.par_iter().map(|source| source.plain()).collect()
}

/// Converts into existing memory, with values in any order.
pub(crate) fn ndarray_zip<S: Plain<D>, D: Element>(
    source: ndarray::ArrayView2<'_, S>,
    mut target: ndarray::ArrayViewMut2<'_, D>,
) {
    target.zip_mut_with(&source, |target, source| *target = source.plain());
}

/// Returns a view of values as a row-major array.
pub(crate) fn view2<T>(values: &[T], rows: usize, columns: usize) -> ndarray::ArrayView2<'_, T> {
    ndarray::ArrayView2::from_shape((rows, columns), values).expect("the length is that of the shape")
}

/// Returns a mutable view of values as a row-major array.
pub(crate) fn view2_mut<T>(values: &mut [T], rows: usize, columns: usize) -> ndarray::ArrayViewMut2<'_, T> {
    ndarray::ArrayViewMut2::from_shape((rows, columns), values).expect("the length is that of the shape")
}

/// An element type that Arrow supports: all but `bf16`.
pub(crate) trait ArrowElement: Element + ArrowNativeTypeOp {
    type Arrow: ArrowPrimitiveType<Native = Self>;
}

macro_rules! arrow_elements {
    ($($T:ty: $Arrow:ty),*) => {$(
        impl ArrowElement for $T {
            type Arrow = $Arrow;
        }
    )*};
}

arrow_elements!(
    f32: Float32Type, f64: Float64Type, i16: Int16Type, i32: Int32Type, i64: Int64Type, u8: UInt8Type, f16: Float16Type
);

/// Creates an Arrow array of the values.
pub(crate) fn arrow_array<T: ArrowElement>(values: &[T]) -> PrimitiveArray<T::Arrow> {
    PrimitiveArray::from_iter_values(values.iter().copied())
}

/// Arrow's treatment of a value that does not fit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Misfit {
    Null,
    Error,
}

/// Converts into new memory, as Arrow always does.
pub(crate) fn arrow_cast<D: ArrowElement>(array: &dyn arrow_array::Array, misfit: Misfit) -> ArrayRef {
    let options = arrow_cast::CastOptions { safe: matches!(misfit, Misfit::Null), ..Default::default() };
    arrow_cast::cast_with_options(array, &D::Arrow::DATA_TYPE, &options).expect("every value fits")
}

/// Borrows the values of an Arrow array.
pub(crate) fn arrow_values<T: ArrowElement>(array: &ArrayRef) -> &[T] {
    array.as_primitive::<T::Arrow>().values()
}
