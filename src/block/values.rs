//! The values of a block: the table's own memory, or a converted copy.

use crate::array::{AnyArray, Array, UniqueArray};
use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::convert::{ConversionPolicy, WriteRule};
use crate::table::{NumericTable, Region, RegionMut};
use crate::window::{AnySlice, AnySliceMut};

/// Memory that is never shared, and only grows: a converted block lives in it.
#[derive(Debug)]
pub(super) struct Buffer<U> {
    array: UniqueArray<U>,
}

impl<U: Element> Buffer<U> {
    pub(super) const fn new() -> Self {
        Self { array: UniqueArray::new() }
    }

    /// Takes an array that a table has made, of `count` values. Tables may be a user's: nothing is taken on trust.
    pub(super) fn from_any(array: AnyArray, count: usize) -> Result<Self> {
        let array =
            array.downcast::<U>().map_err(|other| Error::element_type_mismatch(U::TYPE, other.element_type()))?;
        check_count(&array, count)?;
        Ok(Self { array: UniqueArray::from_array(array)? })
    }

    pub(super) fn capacity(&self) -> usize {
        self.array.len()
    }

    #[inline(always)]
    pub(super) fn as_slice(&self) -> &[U] {
        &self.array
    }

    #[inline(always)]
    pub(super) fn as_mut_slice(&mut self) -> &mut [U] {
        &mut self.array
    }

    /// Makes the first `count` values those of a region, and no more memory than needed. On an error they are what they
    /// were, if they are `needed`.
    #[inline(always)]
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
            return match needed {
                true => table.read_region(region, target, policy),
                false => table.read_region_over(region, target, policy),
            };
        }
        *self = Self::from_any(table.copy_region(region, U::TYPE, policy)?, count)?;
        Ok(())
    }

    /// Makes the first `count` values zero.
    pub(super) fn clear(&mut self, count: usize) -> Result<()> {
        if self.capacity() < count {
            self.array = UniqueArray::from_array(Array::zeros(count)?)?;
        } else {
            self.as_mut_slice()[..count].fill(U::default());
        }
        Ok(())
    }
}

/// Makes sure that a table gave as many values as the block has.
#[inline(always)]
pub(super) fn check_count<U>(values: &[U], expected: usize) -> Result<()> {
    if values.len() == expected { Ok(()) } else { Err(Error::LengthMismatch { expected, found: values.len() }) }
}

/// The values of a block that borrows its table for reading.
#[derive(Debug)]
pub(super) enum Values<'t, U> {
    Borrowed(&'t [U]),
    Converted(Buffer<U>),
}

impl<'t, U: Element> Values<'t, U> {
    /// Borrows the region's memory, if it holds values of `U` one after another.
    #[inline(always)]
    pub(super) fn borrow<N: NumericTable + ?Sized>(table: &'t N, region: &Region) -> Result<Option<&'t [U]>> {
        if U::TYPE == table.element_type()
            && let Some(values) = table.borrow_region(region)?.and_then(AnySlice::downcast::<U>)
        {
            check_count(values, region.shape().element_count()?)?;
            return Ok(Some(values));
        }
        Ok(None)
    }

    pub(super) fn convert<N: NumericTable + ?Sized>(
        table: &'t N,
        region: &Region,
        policy: ConversionPolicy,
    ) -> Result<Self> {
        let copy = table.copy_region(region, U::TYPE, policy)?;
        Ok(Self::Converted(Buffer::from_any(copy, region.shape().element_count()?)?))
    }

    pub(super) fn as_slice(&self) -> &[U] {
        match self {
            Self::Borrowed(values) => values,
            Self::Converted(buffer) => buffer.as_slice(),
        }
    }
}

/// The values of a block that borrows its table for writing.
pub(super) enum ValuesMut<'t, U: Element> {
    Borrowed(&'t mut [U]),
    /// A copy, which whoever made it writes back.
    Staged(&'t mut [U]),
    Converted {
        values: Buffer<U>,
        region: Box<dyn RegionMut<'t> + 't>,
        policy: ConversionPolicy,
        /// Whether dropping writes back.
        is_pending: bool,
    },
}

impl<'t, U: Element> ValuesMut<'t, U> {
    /// Borrows a region of a table for writing: its memory if it is of the type, and row by row without a gap.
    #[inline(always)]
    pub(super) fn of_table<N: NumericTable + ?Sized>(table: &'t mut N, region: &Region) -> Result<Self> {
        if U::TYPE == table.element_type() && table.borrow_region(region)?.is_some() {
            return Self::in_place(table.borrow_region_mut(region)?, region);
        }
        Self::of_region(table.region_mut(region)?)
    }

    #[inline(always)]
    fn in_place(values: AnySliceMut<'t>, region: &Region) -> Result<Self> {
        let mismatch = Error::element_type_mismatch(U::TYPE, values.element_type());
        let values = values.downcast::<U>().ok_or(mismatch)?;
        check_count(values, region.shape().element_count()?)?;
        Ok(Self::Borrowed(values))
    }

    pub(super) fn of_region(region: Box<dyn RegionMut<'t> + 't>) -> Result<Self> {
        let place = region.region();
        let region = if region.element_type() == U::TYPE {
            match region.into_slice() {
                Ok(slice) => return Self::in_place(slice, &place),
                Err(region) => region,
            }
        } else {
            region
        };
        let count = place.shape().element_count()?;
        let values = Buffer::from_any(region.copy(U::TYPE, ConversionPolicy::Saturate)?, count)?;
        Ok(Self::Converted { values, region, policy: ConversionPolicy::Checked, is_pending: true })
    }

    pub(super) fn set_policy(&mut self, new: ConversionPolicy) {
        if let Self::Converted { policy, .. } = self {
            *policy = new;
        }
    }

    pub(super) fn as_slice(&self) -> &[U] {
        match self {
            Self::Borrowed(values) | Self::Staged(values) => values,
            Self::Converted { values, .. } => values.as_slice(),
        }
    }

    #[inline]
    pub(super) fn as_mut_slice(&mut self) -> &mut [U] {
        match self {
            Self::Borrowed(values) | Self::Staged(values) => values,
            Self::Converted { values, .. } => values.as_mut_slice(),
        }
    }

    pub(super) fn is_borrowed(&self) -> bool {
        matches!(self, Self::Borrowed(_))
    }

    pub(super) fn write_back(&mut self) -> Result<()> {
        match self {
            Self::Borrowed(_) | Self::Staged(_) => Ok(()),
            Self::Converted { values, region, policy, .. } => {
                let rule = WriteRule { policy: *policy, keep_unchanged: true };
                region.write(AnySlice::new(values.as_slice()), rule)
            }
        }
    }

    pub(super) fn release(mut self) -> Result<()> {
        let result = self.write_back();
        self.discard();
        result
    }

    pub(super) fn discard(mut self) {
        if let Self::Converted { is_pending, .. } = &mut self {
            *is_pending = false;
        }
    }
}

/// Writes back and lets errors go, as `BufWriter` does: use `release` to see them. A panic writes nothing: the values may
/// be half-edited.
impl<U: Element> Drop for ValuesMut<'_, U> {
    fn drop(&mut self) {
        if let Self::Converted { is_pending: true, .. } = self
            && !std::thread::panicking()
        {
            let _ = self.write_back();
        }
    }
}
