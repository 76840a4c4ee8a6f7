//! Narrow windows that interleave in memory, as fields of records do, converted together.
//!
//! They are converted a few records at a time, so that all fields of a record are read while it is in the first-level
//! cache. Each loop converts one column, or two at once: a processor stores one value or one vector in a cycle, so that
//! two values in one vector take half of the time.

use std::marker::PhantomData;
use std::ops::Range;

use super::pair::{Pair, Strided};
use crate::base::element::{Element, ElementType};
use crate::convert::fast::To;
use crate::window::{AnyRows, AnyWindow};

/// The number of columns, or pairs of them, that are converted together.
const TOGETHER: usize = 8;

/// The size in bytes of the records that are read at a time.
const BAND_BYTES: usize = 3 << 10;

/// The smallest number of records that are read at a time, so that a loop over them is worth a call.
const BAND_ROWS: usize = 16;

/// A loop over one column, or two that are neighbors, of a window and of rows of its shape.
///
/// Invariant: while both are borrowed, the loop may run over any of their rows: it was compiled for their types, and
/// the pointers and strides are those of the column, and of the next one if it converts two. The same holds for a loop
/// over two windows, which have the same number of rows.
#[derive(Clone, Copy)]
pub(super) struct Step {
    convert: Strided,
    columns: usize,
    types: (ElementType, ElementType),
    from: *const u8,
    /// In values.
    from_stride: usize,
    to: *mut u8,
    /// In values.
    to_stride: usize,
    /// The loop over this column and the next one of the target, and the first value of the next one. Both have the
    /// same distance in bytes between rows.
    joined: Option<(Joined, *const u8)>,
}

impl Step {
    /// Creates a loop from the column, the type and the stride of a window to those of rows.
    ///
    /// # Safety
    /// The loop was compiled for the types and for this number of columns, one or two. While the window and the rows
    /// are borrowed, it may run over any of their rows with these pointers and strides.
    pub(super) unsafe fn new(
        convert: Strided,
        columns: usize,
        types: (ElementType, ElementType),
        (from, from_stride): (*const u8, usize),
        (to, to_stride): (*mut u8, usize),
    ) -> Self {
        Self { convert, columns, types, from, from_stride, to, to_stride, joined: None }
    }

    /// Converts some rows.
    ///
    /// # Safety
    /// The windows and the rows must be borrowed, and have `count` rows from `first` on.
    #[inline(always)]
    pub(super) unsafe fn convert(&self, first: usize, count: usize) {
        let (from_bytes, to_bytes) = (self.record(), self.to_stride.wrapping_mul(self.types.1.size_in_bytes()));
        // SAFETY: the invariant, for one window and for two, and the caller's promise: the offsets are those of the
        // first of the rows in each window and in the rows, or zero.
        unsafe {
            let (from, to) = (self.from.add(first * from_bytes), self.to.add(first * to_bytes));
            match self.joined {
                Some((convert, other)) => {
                    convert([from, other.add(first * from_bytes)], from_bytes, to, to_bytes, count)
                }
                None => (self.convert)(from, self.from_stride, to, self.to_stride, count),
            }
        }
    }

    /// Returns the distance in bytes from a value to that of the next row. Of a window with one row it may be any
    /// number, and is not used.
    #[inline(always)]
    fn record(&self) -> usize {
        self.from_stride.wrapping_mul(self.types.0.size_in_bytes())
    }

    /// Joins this loop over one column with that over the next one, if there is a loop for both. Returns whether it
    /// did.
    ///
    /// # Safety
    /// Both loops are over the same number of rows, and into columns of the same rows.
    unsafe fn join(&mut self, next: &Self) -> bool {
        let are_single = (self.columns, next.columns) == (1, 1) && self.joined.is_none();
        let is_beside = next.to.addr() == self.to.addr() + self.types.1.size_in_bytes();
        let strides = |step: &Self| (step.record(), step.to_stride, step.types.1);
        if !are_single || !is_beside || strides(self) != strides(next) {
            return false;
        }
        self.joined = joined(self.types.0, next.types.0, self.types.1).map(|convert| (convert, next.from));
        self.joined.is_some()
    }
}

/// Narrow windows with the same rows, and the rows that they are converted into.
pub(crate) struct Interleaved<'a> {
    target: AnyRows<'a>,
    /// Invariant: the first `count` are steps from windows that are borrowed for `'a` into columns of the target, over
    /// all of its rows.
    steps: [Option<Step>; TOGETHER],
    count: usize,
    borrow: PhantomData<AnyWindow<'a>>,
}

impl<'a> Interleaved<'a> {
    /// Starts without windows.
    pub(crate) fn new(target: AnyRows<'a>) -> Self {
        Self { target, steps: [None; TOGETHER], count: 0, borrow: PhantomData }
    }

    /// Returns the element type of the target.
    pub(super) fn element_type(&self) -> ElementType {
        self.target.element_type()
    }

    /// Borrows some columns of the target, for a window that is not added.
    pub(crate) fn columns(&mut self, columns: Range<usize>) -> AnyRows<'_> {
        let rows = self.target.rows();
        self.target.cut(0..rows, columns)
    }

    /// Adds a window, which is converted into some columns under `Saturate`. Panics if the shapes differ.
    #[inline]
    pub(super) fn push(&mut self, source: AnyWindow<'a>, columns: Range<usize>) {
        let rows = self.target.rows();
        let mut target = self.target.cut(0..rows, columns);
        for step in Pair::of(source.element_type(), target.element_type()).steps(source, &mut target) {
            let last = self.steps[..self.count].last_mut().and_then(Option::as_mut);
            // SAFETY: the invariant: both are into columns of the target, over all of its rows.
            if last.is_some_and(|last| unsafe { last.join(&step) }) {
                continue;
            }
            if self.count == TOGETHER {
                // SAFETY: the invariant.
                unsafe { convert(&self.steps[..self.count], rows) };
                self.count = 0;
            }
            self.steps[self.count] = Some(step);
            self.count += 1;
        }
    }

    /// Converts the windows that were added.
    pub(crate) fn convert(&mut self) {
        let rows = self.target.rows();
        // SAFETY: the invariant.
        unsafe { convert(&self.steps[..self.count], rows) };
        self.count = 0;
    }
}

/// Converts columns, a few records at a time.
///
/// # Safety
/// The windows and the rows of the steps must be borrowed, and have `rows` rows.
unsafe fn convert(steps: &[Option<Step>], rows: usize) {
    let Some(Some(first)) = steps.first() else { return };
    let record = first.record();
    let height = (BAND_BYTES / record.max(1)).max(BAND_ROWS).min(rows);
    for start in (0..rows).step_by(height) {
        for step in steps.iter().flatten() {
            // SAFETY: the caller's promise.
            unsafe { step.convert(start, height.min(rows - start)) };
        }
    }
}

/// A loop over two columns that are converted into neighbors. Takes the first value of each column, the distance in
/// bytes to the values of the next row, the place of the first two results, the distance in bytes to the next two, and
/// the number of rows.
type Joined = unsafe fn([*const u8; 2], usize, *mut u8, usize, usize);

/// Evaluates an expression with a type, if records often have fields of it; else returns `None`.
macro_rules! match_field {
    ($element:expr, $T:ident => $body:expr) => {
        match $element {
            ElementType::F32 => {
                type $T = f32;
                $body
            }
            ElementType::F64 => {
                type $T = f64;
                $body
            }
            ElementType::I32 => {
                type $T = i32;
                $body
            }
            ElementType::I64 => {
                type $T = i64;
                $body
            }
            _ => None,
        }
    };
}

/// Returns the loop that converts two columns of these types at once. There is one for the types that records have
/// most often.
fn joined(first: ElementType, second: ElementType, target: ElementType) -> Option<Joined> {
    match_field!(first, A => match_field!(second, B => match target {
        ElementType::F32 => Some(convert_joined::<A, B, f32> as Joined),
        ElementType::F64 => Some(convert_joined::<A, B, f64> as Joined),
        _ => None,
    }))
}

/// # Safety
/// Both sources must be valid for reads of a value at each of the first `count` multiples of `from_bytes`, and `to` for
/// writes of two values of `D` at those of `to_bytes`; all must be aligned, and the sources must not overlap the
/// target.
unsafe fn convert_joined<A: Element + To<D>, B: Element + To<D>, D: Element>(
    from: [*const u8; 2],
    from_bytes: usize,
    to: *mut u8,
    to_bytes: usize,
    count: usize,
) {
    for index in 0..count {
        // SAFETY: the index is below `count`: the caller's promise. An array is aligned as its values are.
        unsafe {
            let [first, second] = from.map(|from| from.add(index * from_bytes));
            let values = [convert_one::<A, D>(first), convert_one::<B, D>(second)];
            write_both(to.add(index * to_bytes), values);
        }
    }
}

/// # Safety
/// `from` must be valid for a read of a value of `S`, and aligned.
#[inline(always)]
unsafe fn convert_one<S: Element + To<D>, D: Element>(from: *const u8) -> D {
    // SAFETY: the caller's promise. The same type is copied bit for bit.
    unsafe {
        match S::TYPE == D::TYPE {
            true => from.cast::<D>().read(),
            false => from.cast::<S>().read().to(),
        }
    }
}

/// Writes two values at once. The compiler alone would store them one by one.
///
/// # Safety
/// `to` must be valid for writes of two values of `D`, and aligned.
#[inline(always)]
unsafe fn write_both<D: Element>(to: *mut u8, values: [D; 2]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_castps_si128, _mm_set_pd, _mm_set_ps, _mm_storel_epi64, _mm_storeu_pd};
        // SAFETY: SSE2 is part of x86-64. The stores need no alignment, and write 16 or 8 bytes: two values of `D`, in
        // order, which the caller permits.
        unsafe {
            if D::TYPE == ElementType::F64 {
                let [first, second] = values.map(bytemuck::cast::<D, f64>);
                return _mm_storeu_pd(to.cast(), _mm_set_pd(second, first));
            }
            if D::TYPE == ElementType::F32 {
                let [first, second] = values.map(bytemuck::cast::<D, f32>);
                return _mm_storel_epi64(to.cast(), _mm_castps_si128(_mm_set_ps(0.0, 0.0, second, first)));
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { to.cast::<[D; 2]>().write(values) }
}
