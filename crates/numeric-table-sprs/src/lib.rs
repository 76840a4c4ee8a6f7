//! Sparse tables of [`numeric_table`] as matrices of `sprs`, and back, without a copy where possible.
//!
//! Indices of `sprs` may be `usize`, which is not an element type. With 64-bit `usize`, a `Vec<usize>` has the memory
//! layout of a `Vec<u64>`; with 32-bit `usize`, that of a `Vec<u32>`. `bytemuck` checks size and alignment.

#![forbid(unsafe_code)]

use ::sprs::{CsMatI, SpIndex};
use bytemuck::allocation::try_cast_vec;
use numeric_table::internal::with_room;
use numeric_table::table::{CsrParts, Rejected};
use numeric_table::{
    AnyArray, Array, CsrNumericTable, Element, ElementType, Error, ErrorKind, NumericTable, Result, Shape,
};

/// The README's code blocks, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// A type of indices of `sprs` matrices: `usize`, `isize`, and integers of 16, 32 and 64 bits.
///
/// # Examples
/// ```
/// use numeric_table::{CsrNumericTable, prelude::*};
/// use numeric_table_sprs::{SprsIndex, SprsTable};
/// fn columns<I: SprsIndex>(matrix: sprs::CsMatI<f64, I>) -> Result<usize, Error> {
///     Ok(CsrNumericTable::from_sprs(matrix)?.column_count())
/// }
/// assert_eq!(columns::<u16>(sprs::CsMatI::eye(3))?, 3);
/// # Ok::<(), Error>(())
/// ```
pub trait SprsIndex: SpIndex + sealed::Sealed {}

mod sealed {
    use super::{AnyArray, ElementType, Result};

    /// Conversion of indices to a table and back. The trait cannot be named outside this module, which seals
    /// [`super::SprsIndex`].
    pub trait Sealed: Sized {
        /// The type of the same size, for errors.
        const SAME: ElementType;

        /// Converts indices to those of a table: in place, with the type of the same size; 16-bit indices are widened.
        fn into_array(indices: Vec<Self>) -> Result<AnyArray>;

        /// Copies the indices of a table, unless `moved` can take their memory. Returns `None` in that case.
        fn copied(indices: &AnyArray) -> Result<Option<Vec<Self>>>;

        /// Takes the memory of indices for which `copied` has returned `None`.
        fn moved(indices: AnyArray) -> Vec<Self>;
    }
}

macro_rules! sprs_index {
    ($($index:ty as $element:ty, $variant:ident;)*) => {$(
        impl SprsIndex for $index {}

        impl sealed::Sealed for $index {
            const SAME: ElementType = ElementType::$variant;

            fn into_array(indices: Vec<Self>) -> Result<AnyArray> {
                match try_cast_vec::<Self, $element>(indices) {
                    Ok(same) => Ok(same.into()),
                    Err((_, indices)) => {
                        let mut wide = with_room(indices.len())?;
                        wide.extend(indices.iter().map(|&index| index as $element)); // wider
                        Ok(wide.into())
                    }
                }
            }

            fn copied(indices: &AnyArray) -> Result<Option<Vec<Self>>> {
                let is_same_size = size_of::<Self>() == size_of::<$element>();
                let same = indices.downcast_ref::<$element>().filter(|_| is_same_size);
                if same.is_some_and(Array::is_lone_vec) { Ok(None) } else { copied(indices, Self::SAME).map(Some) }
            }

            fn moved(indices: AnyArray) -> Vec<Self> {
                let vec = indices.downcast::<$element>().ok().and_then(|same| same.try_into_vec().ok());
                vec.and_then(|vec| try_cast_vec(vec).ok()).unwrap_or_default() // always there: `copied` has seen it
            }
        }
    )*};
}
#[cfg(target_pointer_width = "64")]
sprs_index! { usize as u64, U64; isize as i64, I64; }
#[cfg(not(target_pointer_width = "64"))]
sprs_index! { usize as u32, U32; isize as i32, I32; }
sprs_index! { u64 as u64, U64; i64 as i64, I64; u32 as u32, U32; i32 as i32, I32; u16 as u32, U16; i16 as i32, I16; }

/// Copies indices to another type. `target` is that type in errors.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for an index that the type cannot represent; [`ErrorKind::OutOfMemory`].
fn copied<I: SpIndex>(indices: &AnyArray, target: ElementType) -> Result<Vec<I>> {
    macro_rules! from {
        ($($element:ty)*) => {
            $(if let Some(indices) = indices.downcast_ref::<$element>() {
                let mut copy = with_room(indices.len())?;
                for &index in indices.iter() {
                    let same = usize::try_from(index).ok().and_then(I::try_from_usize);
                    copy.push(same.ok_or_else(|| too_large(index, target))?);
                }
                return Ok(copy);
            })*
        };
    }
    from!(i32 u32 i64 u64);
    unreachable!("a table has indices of one of the four types, not {}", indices.element_type())
}

/// Conversion of sparse tables to matrices of `sprs`, and back.
pub trait SprsTable: sealed_table::Sealed + Sized {
    /// Creates a table from a matrix. No copy, except for 16-bit indices, which become `u32` or `i32`. Offsets and
    /// indices keep their memory; `usize` becomes `u64` where it has 64 bits. A matrix in compressed sparse columns is
    /// transposed, which copies it. Offsets that do not begin at 0, as in a slice, are rebased to 0 first.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`]; for matrices that were created without checks, those of
    /// [`try_new`](CsrNumericTable::try_new).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// use numeric_table_sprs::SprsTable;
    /// let matrix = sprs::CsMat::new((2, 3), vec![0, 2, 3], vec![0, 2, 1], vec![1.5_f32, 2.5, 3.5]);
    /// let address = matrix.data().as_ptr();
    /// let table = CsrNumericTable::from_sprs(matrix)?;
    /// assert_eq!(table.rows::<f64>(..)?[..], [1.5, 0.0, 2.5, 0.0, 3.5, 0.0]);
    /// assert_eq!(table.values_slice::<f32>()?.as_ptr(), address);
    /// # Ok::<(), Error>(())
    /// ```
    fn from_sprs<N: Element, I: SprsIndex, Iptr: SprsIndex>(matrix: CsMatI<N, I, Iptr>) -> Result<Self>;

    /// Converts the table to a matrix. No copy if the table is the only owner of arrays that were created from a `Vec`
    /// of the matrix's type, as in a table that was created from a matrix. Other arrays are copied, and indices
    /// converted. The description of the columns is lost.
    ///
    /// # Errors
    /// Returns the table with [`ErrorKind::ElementTypeMismatch`] if its values are not `N`; [`ErrorKind::Unsupported`]
    /// if `I` cannot hold the number of columns, or `Iptr` the number of rows or of values; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// use numeric_table_sprs::SprsTable;
    /// let shape = Shape { rows: 2, columns: 3 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 2, 1], vec![1.5_f32, 2.5, 3.5])?;
    /// let matrix: sprs::CsMat<f32> = table.try_into_sprs()?;
    /// assert_eq!((matrix.shape(), matrix.get(0, 2)), ((2, 3), Some(&2.5)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn try_into_sprs<N: Element, I: SprsIndex, Iptr: SprsIndex>(self) -> Result<CsMatI<N, I, Iptr>, Rejected<Self>>;
}

mod sealed_table {
    pub trait Sealed {}
    impl Sealed for numeric_table::CsrNumericTable {}
}

impl SprsTable for CsrNumericTable {
    fn from_sprs<N: Element, I: SprsIndex, Iptr: SprsIndex>(matrix: CsMatI<N, I, Iptr>) -> Result<Self> {
        let is_csr = matrix.is_csr();
        let (rows, columns) = matrix.shape();
        let shape = if is_csr { Shape { rows, columns } } else { Shape { rows: columns, columns: rows } };
        let proper = (!matrix.indptr().is_proper()).then(|| matrix.indptr().to_proper().into_owned());
        let (offsets, indices, values) = matrix.into_raw_storage();
        let offsets = Iptr::into_array(proper.unwrap_or(offsets))?;
        let table = Self::try_new(shape, offsets, I::into_array(indices)?, values)?;
        if is_csr { Ok(table) } else { table.transpose() }
    }

    fn try_into_sprs<N: Element, I: SprsIndex, Iptr: SprsIndex>(self) -> Result<CsMatI<N, I, Iptr>, Rejected<Self>> {
        let copies = match Copies::<N, I, Iptr>::of(&self) {
            Ok(copies) => copies,
            Err(error) => return Err(Rejected { value: self, error }),
        };
        let Shape { rows, columns } = self.shape();
        let CsrParts { offsets, indices, values } = self.into_parts();
        let offsets = copies.offsets.unwrap_or_else(|| Iptr::moved(offsets));
        let indices = copies.indices.unwrap_or_else(|| I::moved(indices));
        let values = match (copies.values, values.downcast::<N>()) {
            (Some(values), _) => values,
            (None, values) => values.ok().and_then(|values| values.try_into_vec().ok()).unwrap_or_default(),
        };
        match CsMatI::try_new((rows, columns), offsets, indices, values) {
            Ok(matrix) => Ok(matrix),
            Err((.., refusal)) => unreachable!("a table is a matrix, if the types of indices fit: {refusal}"),
        }
    }
}

/// Copies of those parts of a table whose memory a matrix cannot take.
struct Copies<N, I, Iptr> {
    offsets: Option<Vec<Iptr>>,
    indices: Option<Vec<I>>,
    values: Option<Vec<N>>,
}

impl<N: Element, I: SprsIndex, Iptr: SprsIndex> Copies<N, I, Iptr> {
    /// Checks everything that can be rejected, and copies the parts that must be copied.
    fn of(table: &CsrNumericTable) -> Result<Self> {
        let Shape { rows, columns } = table.shape();
        let given = table.values_slice::<N>()?;
        // The requirements of `sprs` on the types, in addition to those on the numbers.
        fits::<I>(columns)?;
        fits::<Iptr>(rows.saturating_add(1))?;
        fits::<Iptr>(given.len())?;
        let array = table.values().downcast_ref::<N>();
        let values = match array.is_some_and(Array::is_lone_vec) {
            true => None,
            false => {
                let mut copy = with_room(given.len())?;
                copy.extend_from_slice(given);
                Some(copy)
            }
        };
        let (offsets, indices) = table.index_arrays();
        Ok(Self { offsets: Iptr::copied(offsets)?, indices: I::copied(indices)?, values })
    }
}

/// Checks that a type of indices can count up to `count`.
fn fits<I: SprsIndex>(count: usize) -> Result<()> {
    match I::try_from_usize(count) {
        Some(_) => Ok(()),
        None => Err(too_large(count, I::SAME)),
    }
}

/// Returns the error for an index that a type cannot hold.
fn too_large(index: impl std::fmt::Display, target: ElementType) -> Error {
    let reason = format!("the index {index} is not representable as {target}");
    Error::new(ErrorKind::Unsupported { target: "sprs", row: None, column: None, name: None, reason })
}
