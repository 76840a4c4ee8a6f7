//! The values of a block: the table's own memory, or a converted copy.

#[cfg(feature = "rayon")]
use super::pool::Pooled;
use crate::array::{AnyArray, Array, UniqueArray};
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::trace::TraceContext;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::table::{NumericTable, Region, RegionMut, Target, Token, copy_of, lend, record_read, record_written_back};
use crate::window::{AnySlice, AnySliceMut};

/// Memory for converted blocks. It is never shared and only grows.
#[derive(Debug)]
pub(crate) struct Buffer<U> {
    array: UniqueArray<U>,
}

impl<U: Element> Buffer<U> {
    pub(super) const fn new() -> Self {
        Self { array: UniqueArray::new() }
    }

    /// Takes ownership of an array of `count` values that a table returned. The table may be of a user-defined kind, so
    /// type and length are checked.
    pub(super) fn from_any(array: AnyArray, count: usize) -> Result<Self> {
        let array =
            array.downcast::<U>().map_err(|other| Error::element_type_mismatch(U::TYPE, other.element_type()))?;
        check_count(&array, count)?;
        Ok(Self { array: UniqueArray::from_array(array)? })
    }

    pub(super) fn capacity(&self) -> usize {
        self.array.len()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn as_slice(&self) -> &[U] {
        &self.array
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn as_mut_slice(&mut self) -> &mut [U] {
        &mut self.array
    }

    pub(super) fn into_array(self) -> Array<U> {
        self.array.into_array()
    }

    /// Reads a region into the first `count` values. Allocates exactly the needed memory if there is less. On an error
    /// the old values are kept if they are `needed`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read(
        &mut self,
        table: &(impl NumericTable + ?Sized),
        region: &Region,
        count: usize,
        policy: ConversionPolicy,
        needed: bool,
    ) -> Result<()> {
        if self.capacity() >= count {
            let target = AnySliceMut::new(&mut self.as_mut_slice()[..count]);
            let target = Target::new(target, region.shape(), policy)?;
            table.read_region(region, if needed { target } else { target.allow_partial_write() })?;
            record_read(table, region, U::TYPE);
            return Ok(());
        }
        *self = Self::from_any(copy_of(table, region, U::TYPE, policy)?, count)?;
        Ok(())
    }

    /// Zeroes the first `count` values. Allocates if there are fewer.
    pub(super) fn clear(&mut self, count: usize) -> Result<()> {
        if self.capacity() < count {
            self.array = UniqueArray::from_array(Array::zeros(count)?)?;
        } else {
            self.as_mut_slice()[..count].fill(U::default());
        }
        Ok(())
    }
}

/// Checks that the number of values that a table returned is that of the block.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn check_count<U>(values: &[U], expected: usize) -> Result<()> {
    if values.len() == expected {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::LengthMismatch { expected, actual: values.len() }))
    }
}

/// The values of a block that borrows its table for reading.
#[derive(Debug)]
pub(super) enum Values<'t, U> {
    Borrowed(&'t [U]),
    Converted(Buffer<U>),
}

impl<'t, U: Element> Values<'t, U> {
    /// Borrows the region's memory, if it holds values of `U`, contiguous in row-major order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn borrow<N: NumericTable + ?Sized>(table: &'t N, region: &Region) -> Result<Option<&'t [U]>> {
        let Some(values) = lend::slice_of(table, region, U::TYPE)?.and_then(AnySlice::downcast) else {
            return Ok(None);
        };
        check_count(values, region.shape().element_count()?)?;
        Ok(Some(values))
    }

    pub(super) fn convert<N: NumericTable + ?Sized>(
        table: &'t N,
        region: &Region,
        policy: ConversionPolicy,
    ) -> Result<Self> {
        let copy = copy_of(table, region, U::TYPE, policy)?;
        Ok(Self::Converted(Buffer::from_any(copy, region.shape().element_count()?)?))
    }

    pub(super) fn as_slice(&self) -> &[U] {
        match self {
            Self::Borrowed(values) => values,
            Self::Converted(buffer) => buffer.as_slice(),
        }
    }
}

/// Writes the values of a block into its table.
type WriteTable<'t> = dyn FnMut(AnySlice<'_>, WriteRule) -> Result<()> + Send + Sync + 't;

/// The destination that a converted block is written back to.
pub(super) enum Origin<'t> {
    /// The memory of the table.
    Region(RegionMut<'t>),
    /// A table whose values for the block are not in one piece.
    Table(Box<WriteTable<'t>>),
}

impl Origin<'_> {
    fn write(&mut self, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        match self {
            Self::Region(region) => region.write(values, rule),
            Self::Table(write) => write(values, rule),
        }
    }
}

/// The values of a block that borrows its table for writing.
pub(super) enum ValuesMut<'t, U: Element> {
    Borrowed(&'t mut [U]),
    /// A copy. Its creator writes it back or discards it.
    Staged(&'t mut [U]),
    /// A copy of rows of a file. It is never written back.
    #[cfg(feature = "rayon")]
    Pooled(Box<Pooled<U>>),
    Converted(Box<Converted<'t, U>>),
}

/// A converted block. It is boxed so that in-place blocks are small and are passed in registers.
pub(super) struct Converted<'t, U: Element> {
    values: Buffer<U>,
    origin: Origin<'t>,
    policy: ConversionPolicy,
    /// Whether dropping the block writes it back.
    is_pending: bool,
    /// The traces of the thread that created the block, which another one may release.
    traces: TraceContext,
}

impl<U: Element> Converted<'_, U> {
    #[inline(never)]
    fn write_back(&mut self) -> Result<()> {
        let rule = WriteRule { policy: self.policy, keep_unchanged: true };
        self.origin.write(AnySlice::new(self.values.as_slice()), rule)?;
        self.traces.run_unless_traced(|| record_written_back(self.values.capacity(), U::TYPE));
        Ok(())
    }
}

impl<'t, U: Element> ValuesMut<'t, U> {
    /// Borrows a region of a table for writing. The block is in place if the values are of type `U` and contiguous in
    /// row-major order; otherwise it is converted.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn of_table<N: NumericTable + ?Sized>(table: &'t mut N, region: &Region) -> Result<Self> {
        match table.has_slice(region, U::TYPE, Token::new()) {
            true => Self::borrow(table, region),
            false => Self::find(table, region),
        }
    }

    /// Borrows a region that the table lends as a slice.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn borrow<N: NumericTable + ?Sized>(table: &'t mut N, region: &Region) -> Result<Self> {
        let values = lend::slice_of_mut(table, region, U::TYPE)?.and_then(AnySliceMut::downcast);
        let values = values.ok_or_else(Error::not_contiguous)?;
        check_count(values, region.shape().element_count()?)?;
        Ok(Self::Borrowed(values))
    }

    /// Does what [`of_table`](Self::of_table) does, in all cases.
    #[inline(never)]
    fn find<N: NumericTable + ?Sized>(table: &'t mut N, region: &Region) -> Result<Self> {
        if region.shape().is_empty() {
            region.check(table.shape())?;
            if !matches!(table.piece_mut(region.rows.start, region.columns.start), Ok(Some(_))) {
                return Self::of_nothing(table, region);
            }
        }
        match lend::slice_of(table, region, U::TYPE)?.is_some() {
            true => Self::borrow(table, region),
            false => Self::convert(table, region),
        }
    }

    /// Returns the values of an empty region that belongs to no piece.
    #[cold]
    fn of_nothing<N: NumericTable + ?Sized>(table: &'t mut N, region: &Region) -> Result<Self> {
        let is_in_place = lend::slice_of(table, region, U::TYPE)?.is_some();
        table.check_region_writable(region, Token::new())?;
        Ok(if is_in_place { Self::Borrowed(&mut []) } else { Self::Staged(&mut []) })
    }

    #[inline(never)]
    fn convert<N: NumericTable + ?Sized>(table: &'t mut N, region: &Region) -> Result<Self> {
        region.check(table.shape())?;
        let (row, column) = (region.rows.start, region.columns.start);
        let is_one = table.piece(row, column)?.is_some_and(|piece| piece.region().place_of(region).is_some());
        if is_one {
            let piece = table.piece_mut(row, column)?.ok_or_else(|| Error::new(ErrorKind::ReadOnlyTable))?;
            return Self::of_region(RegionMut::of_piece(piece, region).ok_or_else(Error::not_contiguous)?);
        }
        table.check_region_writable(region, Token::new())?;
        let values = copy_of(table, region, U::TYPE, ConversionPolicy::Saturate)?;
        let values = Buffer::from_any(values, region.shape().element_count()?)?;
        let region = region.clone();
        let write = move |values: AnySlice<'_>, rule| table.write_region(&region, values, rule);
        Ok(Self::converted(values, Origin::Table(Box::new(write))))
    }

    fn converted(values: Buffer<U>, origin: Origin<'t>) -> Self {
        let (policy, traces) = (ConversionPolicy::Checked, TraceContext::current());
        Self::Converted(Box::new(Converted { values, origin, policy, is_pending: true, traces }))
    }

    pub(super) fn of_region(region: RegionMut<'t>) -> Result<Self> {
        let region = match region.into_slice::<U>() {
            Ok(values) => return Ok(Self::Borrowed(values)),
            Err(region) => region,
        };
        let count = region.region().shape().element_count()?;
        let values = Buffer::from_any(region.copy(U::TYPE, ConversionPolicy::Saturate)?, count)?;
        let origin = Origin::Region(region);
        Ok(Self::converted(values, origin))
    }

    pub(super) fn set_policy(&mut self, new: ConversionPolicy) {
        if let Self::Converted(converted) = self {
            converted.policy = new;
        }
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[U] {
        match self {
            Self::Borrowed(values) | Self::Staged(values) => values,
            #[cfg(feature = "rayon")]
            Self::Pooled(values) => values.as_slice(),
            Self::Converted(converted) => converted.values.as_slice(),
        }
    }

    #[inline]
    pub(super) fn as_mut_slice(&mut self) -> &mut [U] {
        match self {
            Self::Borrowed(values) | Self::Staged(values) => values,
            #[cfg(feature = "rayon")]
            Self::Pooled(values) => values.as_mut_slice(),
            Self::Converted(converted) => converted.values.as_mut_slice(),
        }
    }

    pub(super) fn is_borrowed(&self) -> bool {
        matches!(self, Self::Borrowed(_))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn write_back(&mut self) -> Result<()> {
        match self {
            Self::Borrowed(_) | Self::Staged(_) => Ok(()),
            #[cfg(feature = "rayon")]
            Self::Pooled(_) => Ok(()),
            Self::Converted(converted) => converted.write_back(),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn release(self) -> Result<()> {
        match self {
            Self::Borrowed(_values) => Ok(()), // moved out, so that nothing is left to drop
            copy => copy.release_copy(),
        }
    }

    #[inline(never)]
    fn release_copy(mut self) -> Result<()> {
        let result = self.write_back();
        self.discard();
        result
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn discard(mut self) {
        if let Self::Converted(converted) = &mut self {
            converted.is_pending = false;
        }
    }
}

/// Writes back and ignores errors, as `BufWriter` does. Use `release` to get them. During a panic nothing is written,
/// because the values may be only partly edited.
impl<U: Element> Drop for Converted<'_, U> {
    fn drop(&mut self) {
        if self.is_pending && !std::thread::panicking() {
            let _ = self.write_back();
        }
    }
}
