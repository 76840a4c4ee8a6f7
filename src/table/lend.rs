//! Zero-copy access: slices, arrays and leases of tables that lend their own memory.
//!
//! The functions below the trait work on tables of any kind. They use the table's lender or, if it has none, its
//! pieces. Lent memory is in `lease`.

use std::ops::Range;

use super::{DataLayout, Lease, NumericTable, Region, Token};
use crate::array::AnyArrayRef;
use crate::base::element::ElementType;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::shape::Shape;
use crate::convert::WriteRule;
use crate::window::{AnySlice, AnySliceMut};

/// A table that lends its own memory: to blocks as slices and arrays, and to writable descriptors as a [`Lease`].
///
/// A kind of table that implements this trait returns itself from [`lender`](NumericTable::lender) and
/// [`lender_mut`](NumericTable::lender_mut). All methods have defaults: they lend slices and arrays of
/// [pieces](NumericTable::piece), but lend nothing to descriptors.
///
/// | table | methods to implement |
/// | --- | --- |
/// | lends its memory to descriptors | [`lend_region`](Self::lend_region), [`take_back`](Self::take_back); also [`write_lent`](Self::write_lent) if it lends to converted blocks |
/// | finds slices and arrays faster than through its pieces | [`slice_of`](Self::slice_of), [`slice_of_mut`](Self::slice_of_mut), [`array_of`](Self::array_of) |
/// | overrides [`write_region`](NumericTable::write_region) and has no pieces | [`check_block_writable`](Self::check_block_writable) |
///
/// # Examples
/// ```
/// use numeric_table::{
///     array::AnySlice, convert::WriteRule, prelude::*, table::spi::{Lease, Lend, Region, TableId, Target},
/// };
///
/// /// Hides the first row of a table; writable descriptors edit it in place.
/// struct WithoutHead(Table<f32>, TableId);
///
/// impl NumericTable for WithoutHead {
///     fn shape(&self) -> Shape {
///         Shape { rows: self.0.row_count().saturating_sub(1), ..self.0.shape() }
///     }
///
///     fn dictionary(&self) -> &DataDictionary {
///         self.0.dictionary()
///     }
///
///     fn id(&self) -> TableId {
///         self.1
///     }
///
///     fn read_region(&self, region: &Region, target: Target<'_>) -> Result<(), Error> {
///         region.check(self.shape())?;
///         self.0.read_region(&below(region), target)
///     }
///
///     fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<(), Error> {
///         region.check(self.shape())?;
///         self.0.write_region(&below(region), values, rule)
///     }
///
///     fn lender(&self) -> Option<&dyn Lend> {
///         Some(self)
///     }
///
///     fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
///         Some(self)
///     }
/// }
///
/// /// Returns the region of the inner table.
/// fn below(region: &Region) -> Region {
///     Region { rows: region.rows.start + 1..region.rows.end + 1, ..region.clone() }
/// }
///
/// impl Lend for WithoutHead {
///     fn check_block_writable(&mut self) -> Result<(), Error> {
///         self.0.check_block_writable()
///     }
///
///     fn lend_region(&mut self, region: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool, Error> {
///         region.check(self.shape())?;
///         self.0.lend_region(&below(region), in_place, lease)
///     }
///
///     fn write_lent(&mut self, lease: &mut Lease, values: AnySlice<'_>, rule: WriteRule) -> Result<(), Error> {
///         self.0.write_lent(lease, values, rule) // the region of the lease refers to the inner table
///     }
///
///     fn take_back(&mut self, lease: &mut Lease) -> Result<(), Error> {
///         self.0.take_back(lease)
///     }
/// }
///
/// let mut table = WithoutHead(Table::from_rows(&[[1.0], [2.0], [3.0]])?, TableId::new());
/// let mut block = BlockDescriptor::<f32>::new();
/// table.get_block_of_rows(1, 1, ReadWriteMode::ReadWrite, &mut block)?; // in place
/// block.as_mut_slice()?[0] = 9.0;
/// table.release_block_of_rows(&mut block)?;
/// let mut converted = BlockDescriptor::<f64>::new();
/// table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut converted)?;
/// converted.as_mut_slice()?[0] += 6.0;
/// table.release_block_of_rows(&mut converted)?;
/// assert_eq!(table.0.as_slice()?, [1.0, 8.0, 9.0]);
/// # Ok::<(), Error>(())
/// ```
pub trait Lend: NumericTable {
    /// Borrows the values of a region as one slice. Returns `None` unless they have the type `element` and are
    /// contiguous in row-major order.
    ///
    /// The default uses [`piece`](NumericTable::piece); override it only for speed. [`table::slice_of`](slice_of) calls
    /// this method, so an implementation may call that function only for another table.
    ///
    /// # Errors
    /// Those of [`piece`](NumericTable::piece) and [`Region::check`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::{Lend, Region}};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let rows = table.slice_of(&Region { rows: 1..3, columns: 0..2 }, ElementType::I16)?.unwrap();
    /// assert_eq!(rows.downcast::<i16>(), Some(&[3_i16, 4, 5, 6][..]));
    /// assert!(table.slice_of(&Region { rows: 0..3, columns: 1..2 }, ElementType::I16)?.is_none()); // not contiguous
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn slice_of(&self, region: &Region, element: ElementType) -> Result<Option<AnySlice<'_>>> {
        slice_of_piece(self, region, element)
    }

    /// Like [`slice_of`](Self::slice_of), for writing. Copies shared or immutable memory first.
    ///
    /// # Errors
    /// Those of [`pieces_mut`](NumericTable::pieces_mut) and [`Region::check`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::{Lend, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let rows = table.slice_of_mut(&Region { rows: 1..3, columns: 0..2 }, ElementType::I16)?.unwrap();
    /// rows.downcast::<i16>().unwrap().fill(9);
    /// assert_eq!(table.as_slice()?, [1, 2, 9, 9, 9, 9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn slice_of_mut(&mut self, region: &Region, element: ElementType) -> Result<Option<AnySliceMut<'_>>> {
        if self.slice_of(region, element)?.is_none() {
            return Ok(None);
        }
        slice_of_piece_mut(self, region, element)
    }

    /// Like [`slice_of`](Self::slice_of), but returns the array that holds the values, and their range in it.
    /// Descriptors keep a share of the array.
    ///
    /// # Errors
    /// Those of [`slice_of`](Self::slice_of).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::{Lend, Region}};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let (array, range) = table.array_of(&Region { rows: 1..3, columns: 0..2 }, ElementType::I16)?.unwrap();
    /// let rows = array.downcast::<i16>().unwrap().slice(range)?;
    /// assert!(rows[..] == [3, 4, 5, 6] && rows.shares_memory_with(table.array()?));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn array_of(&self, region: &Region, element: ElementType) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        array_of_piece(self, region, element)
    }

    /// Checks that blocks can be written back: returns the errors of [`write_region`](NumericTable::write_region) that
    /// do not depend on the values. [`BlockUpdate::check_writable`](crate::BlockUpdate::check_writable) calls this
    /// method, so an implementation may call that method only for another table.
    ///
    /// The default calls [`pieces_mut`](NumericTable::pieces_mut). A table that overrides
    /// [`write_region`](NumericTable::write_region) must override this method too.
    ///
    /// # Errors
    /// Those of [`pieces_mut`](NumericTable::pieces_mut).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::Lend};
    /// let shape = Shape { rows: 3, columns: 2 };
    /// let mut table = HomogenNumericTable::<f32>::new(shape, AllocationFlag::DoNotAllocate)?;
    /// assert!(matches!(table.check_block_writable().unwrap_err().kind(), ErrorKind::NotAllocated));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn check_block_writable(&mut self) -> Result<()> {
        self.pieces_mut().map(drop)
    }

    /// Moves the memory of a region into a lease, until [`take_back`](Self::take_back) is called or the lease is
    /// dropped. Returns whether the region is written in place.
    ///
    /// With `in_place`, lends memory only if the values have that type and are contiguous in row-major order, so that
    /// they can be written in place. With `None`, lends memory for a converted block, which
    /// [`write_lent`](Self::write_lent) writes.
    ///
    /// The default lends nothing: the table stays usable while a converted block is outstanding, and no block is
    /// written in place. When the block is released, it overwrites all values of the table that differ from its own,
    /// including values written in the meantime.
    ///
    /// # Errors
    /// Those of [`pieces_mut`](NumericTable::pieces_mut).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::{Lease, Lend, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut lease = Lease::new();
    /// let rows = Region { rows: 1..3, columns: 0..2 };
    /// assert!(!table.lend_region(&rows, Some(ElementType::F64), &mut lease)?);
    /// assert!(table.lend_region(&rows, Some(ElementType::I16), &mut lease)?);
    /// assert!(matches!(table.as_slice().unwrap_err().kind(), ErrorKind::BlockOutstanding { rows } if *rows == (1..3)));
    /// table.take_back(&mut lease)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn lend_region(&mut self, region: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool> {
        let shape = self.shape();
        lend_nothing(region, shape, in_place, lease, || self.check_block_writable())
    }

    /// Writes the region of a lease: converts row-major values into it, all or nothing. The memory stays lent.
    ///
    /// The default writes into the table, which has not lent anything.
    ///
    /// # Errors
    /// Those of [`write_region`](NumericTable::write_region); [`ErrorKind::WrongTable`] if the lease holds the
    /// memory of another table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{array::AnySlice, convert::WriteRule, prelude::*, table::spi::{Lease, Lend, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut lease = Lease::new();
    /// table.lend_region(&Region { rows: 0..3, columns: 1..2 }, None, &mut lease)?;
    /// let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    /// table.write_lent(&mut lease, AnySlice::new(&[20.0_f32, 40.0, 60.0]), rule)?;
    /// table.take_back(&mut lease)?;
    /// assert_eq!(table.as_slice()?, [1, 20, 3, 40, 5, 60]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn write_lent(&mut self, lease: &mut Lease, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        lease.check_empty()?;
        self.write_region(lease.region(), values, rule)
    }

    /// Moves the memory of a lease back into the table. Empties the lease.
    ///
    /// # Errors
    /// [`ErrorKind::WrongTable`] if the lease holds the memory of another table. The lease is then unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::spi::{Lease, Lend, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut lease = Lease::new();
    /// table.lend_region(&Region { rows: 1..3, columns: 0..2 }, Some(ElementType::I16), &mut lease)?;
    /// let mut other = table.clone(); // waits for the same memory
    /// assert!(matches!(other.take_back(&mut lease).unwrap_err().kind(), ErrorKind::WrongTable));
    /// table.take_back(&mut lease)?;
    /// assert!(lease.is_empty());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        lease.check_empty()
    }
}

/// Borrows the values of a region of a table of any kind as one slice. Returns `None` unless they have the type
/// `element` and are contiguous in row-major order.
///
/// Uses the table's [`lender`](NumericTable::lender) or, if it has none, the [piece](NumericTable::piece) at the
/// beginning of the region.
///
/// # Errors
/// Those of [`Lend::slice_of`].
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::spi::{Region, slice_of}};
/// let table: &dyn NumericTable = &HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
/// let rows = slice_of(table, &Region { rows: 1..3, columns: 0..2 }, ElementType::I16)?.unwrap();
/// assert_eq!(rows.downcast::<i16>(), Some(&[3_i16, 4, 5, 6][..]));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn slice_of<'t, N: NumericTable + ?Sized>(
    table: &'t N,
    region: &Region,
    element: ElementType,
) -> Result<Option<AnySlice<'t>>> {
    table.slice_in_place(region, element, Token::new())
}

/// Like [`slice_of`], for writing.
///
/// # Errors
/// Those of [`Lend::slice_of_mut`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn slice_of_mut<'t, N: NumericTable + ?Sized>(
    table: &'t mut N,
    region: &Region,
    element: ElementType,
) -> Result<Option<AnySliceMut<'t>>> {
    table.slice_in_place_mut(region, element, Token::new())
}

/// Like [`slice_of`], but returns the array that holds the values, and their range in it.
///
/// # Errors
/// Those of [`Lend::array_of`].
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::spi::{Region, array_of}};
/// let table: &dyn NumericTable = &HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
/// let (array, range) = array_of(table, &Region { rows: 1..3, columns: 0..2 }, ElementType::I16)?.unwrap();
/// assert_eq!(array.downcast::<i16>().unwrap().slice(range)?[..], [3, 4, 5, 6]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn array_of<'t, N: NumericTable + ?Sized>(
    table: &'t N,
    region: &Region,
    element: ElementType,
) -> Result<Option<(AnyArrayRef<'t>, Range<usize>)>> {
    table.array_in_place(region, element, Token::new())
}

/// Checks that a table of any kind can be written.
///
/// # Errors
/// Those of [`Lend::check_block_writable`].
pub(crate) fn check_writable<N: NumericTable + ?Sized>(table: &mut N) -> Result<()> {
    if let Some(lender) = table.lender_mut() {
        return lender.check_block_writable();
    }
    let whole = Region::whole(table.shape());
    table.check_region_writable(&whole, Token::new())
}

/// Moves the memory of a region into a lease, if the table lends it.
///
/// # Errors
/// Those of [`Lend::lend_region`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn lend_region<N: NumericTable + ?Sized>(
    table: &mut N,
    region: &Region,
    in_place: Option<ElementType>,
    lease: &mut Lease,
) -> Result<bool> {
    table.lend_in_place(region, in_place, lease, Token::new())
}

/// Writes the region of a lease: into the memory that the lease holds or, if it is empty, into the table.
///
/// # Errors
/// Those of [`Lend::write_lent`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn write_lent<N: NumericTable + ?Sized>(
    table: &mut N,
    lease: &mut Lease,
    values: AnySlice<'_>,
    rule: WriteRule,
) -> Result<bool> {
    table.write_lease(lease, values, rule, Token::new())
}

/// Moves the memory of a lease back into the table.
///
/// # Errors
/// Those of [`Lend::take_back`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn take_back<N: NumericTable + ?Sized>(table: &mut N, lease: &mut Lease) -> Result<()> {
    table.end_lease(lease, Token::new())
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn slice_by_lender<'t, N: NumericTable + ?Sized>(
    table: &'t N,
    region: &Region,
    element: ElementType,
) -> Result<Option<AnySlice<'t>>> {
    match table.lender() {
        Some(lender) => lender.slice_of(region, element),
        None => slice_of_piece(table, region, element),
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn slice_by_lender_mut<'t, N: NumericTable + ?Sized>(
    table: &'t mut N,
    region: &Region,
    element: ElementType,
) -> Result<Option<AnySliceMut<'t>>> {
    // `lender_mut` is called twice because a borrow returned from one arm of a `match` would extend over the other arm.
    if table.lender_mut().is_some() {
        return table.lender_mut().map_or(Ok(None), |lender| lender.slice_of_mut(region, element));
    }
    if slice_of(table, region, element)?.is_none() {
        return Ok(None);
    }
    slice_of_piece_mut(table, region, element)
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn array_by_lender<'t, N: NumericTable + ?Sized>(
    table: &'t N,
    region: &Region,
    element: ElementType,
) -> Result<Option<(AnyArrayRef<'t>, Range<usize>)>> {
    match table.lender() {
        Some(lender) => lender.array_of(region, element),
        None => array_of_piece(table, region, element),
    }
}

pub(super) fn lend_by_lender<N: NumericTable + ?Sized>(
    table: &mut N,
    region: &Region,
    in_place: Option<ElementType>,
    lease: &mut Lease,
) -> Result<bool> {
    if let Some(lender) = table.lender_mut() {
        return lender.lend_region(region, in_place, lease);
    }
    let shape = table.shape();
    lend_nothing(region, shape, in_place, lease, || check_writable(table))
}

/// Lends nothing. A converted block is written into the table.
fn lend_nothing(
    region: &Region,
    shape: Shape,
    in_place: Option<ElementType>,
    lease: &mut Lease,
    check_writable: impl FnOnce() -> Result<()>,
) -> Result<bool> {
    region.check(shape)?;
    if in_place.is_none() {
        check_writable()?;
        lease.reset(region);
    }
    Ok(false)
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn slice_of_piece<'t, N: NumericTable + ?Sized>(
    table: &'t N,
    region: &Region,
    element: ElementType,
) -> Result<Option<AnySlice<'t>>> {
    region.check(table.shape())?;
    let piece = table.piece(region.rows.start, region.columns.start)?;
    Ok(piece.and_then(|piece| piece.any_slice_of(region, element)))
}

/// Borrows the values of a region for writing. The caller has checked with [`slice_of`] that they are one slice.
#[cfg_attr(not(debug_assertions), inline(always))]
fn slice_of_piece_mut<'t, N: NumericTable + ?Sized>(
    table: &'t mut N,
    region: &Region,
    element: ElementType,
) -> Result<Option<AnySliceMut<'t>>> {
    let piece = table.piece_mut(region.rows.start, region.columns.start)?;
    Ok(piece.and_then(|piece| piece.into_any_slice_of(region, element)))
}

#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn array_of_piece<'t, N: NumericTable + ?Sized>(
    table: &'t N,
    region: &Region,
    element: ElementType,
) -> Result<Option<(AnyArrayRef<'t>, Range<usize>)>> {
    region.check(table.shape())?;
    let piece = table.piece(region.rows.start, region.columns.start)?;
    Ok(piece.and_then(|piece| piece.any_array_of(region, element, DataLayout::RowMajor)))
}
