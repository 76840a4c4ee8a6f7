//! Symmetric and triangular matrices that store one half.
//!
//! `packing` computes the positions of the values, `parts` splits regions, `cells` reads and writes them. Semantics:
//! DAAL `PackedSymmetricMatrix` and `PackedTriangularMatrix`. Those pack by rows only, and lose values written to one
//! of two cells that share a stored value, or to a cell that is not stored.

mod cells;
mod packing;
mod parts;
mod stored;

use std::any::Any;
use std::fmt;

use self::cells::Packed;
use self::packing::OtherHalf;
pub use self::packing::Triangle;
use super::borrow::{forwards_reading, forwards_writing};
use super::numeric_table::describe;
use super::{DataLayout, NumericTable, Rejected, TableKind};
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::value::AnyValue;

/// A symmetric matrix that stores one half: covariances, distances, kernels. It has `n * (n + 1) / 2` values of any
/// element type, in the order of DAAL or of LAPACK ([`Triangle`]).
///
/// ```text
///   lower, by rows                    row 1 as f64: 2.0 3.0 5.0
///      1  .  .
///      2  3  .     1 2 3 4 5 6
///      4  5  6
/// ```
///
/// As a table it has all `n` x `n` values. Blocks are converted copies, unless all cells of a block are stored and
/// contiguous. Reading many rows takes about twice as long as for a full matrix. Reading one row at a time is slower,
/// since each of its mirrored values is in another cache line. Writing a value writes both of its cells. If a block has
/// both cells, and their values would differ in any bit as the matrix stores them, writing fails with
/// [`ErrorKind::AsymmetricValue`], and nothing is written: change both, or the [packed values](Self::packed_mut). So
/// 2.5 and 2.0 may be written to a matrix of integers, which stores 2 for both, but 0.0 and -0.0 may not be written to
/// a matrix of floats.
///
/// Cloning shares the memory, O(1); the first write through either matrix copies it. Descriptors never borrow the
/// memory: the matrix can be used while a writable block is outstanding. Its size cannot be changed.
/// [`row_blocks_mut`](crate::BlockAccess::row_blocks_mut), which borrows disjoint blocks, fails.
///
/// Source: DAAL `PackedSymmetricMatrix`.
///
/// # Examples
/// ```
/// use numeric_table::{PackedSymmetricMatrix, prelude::*, table::Triangle};
/// let values = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let mut matrix = PackedSymmetricMatrix::from_packed(values, Triangle::Lower, DataLayout::RowMajor)?;
/// assert_eq!(matrix.rows::<f64>(..)?[..], [1.0, 2.0, 4.0, 2.0, 3.0, 5.0, 4.0, 5.0, 6.0]);
/// matrix.set_value(0, 2, 7.0)?; // and row 2, column 0
/// assert_eq!(matrix.packed::<f32>()?, [1.0, 2.0, 3.0, 7.0, 5.0, 6.0]);
///
/// let one_of_two = matrix.update_rows::<f32, _>(.., |block| {
///     block.row_mut(0)[1] = 9.0;
///     Ok(())
/// });
/// let error = one_of_two.unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::AsymmetricValue { row: 0, column: 1, mirror: (1, 0), .. }));
/// let full: Table<f32> = matrix.convert()?;
/// assert_eq!(full.as_slice()?[..3], [1.0, 2.0, 7.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PackedSymmetricMatrix(Packed);

/// A triangular matrix that stores the half that is not zero: factors of Cholesky, LU and QR. It has `n * (n + 1) / 2`
/// values of any element type, in the order of DAAL or of LAPACK ([`Triangle`]).
///
/// ```text
///   lower, by rows                    row 1 as f64: 2.0 3.0 0.0
///      1  .  .
///      2  3  .     1 2 3 4 5 6
///      4  5  6
/// ```
///
/// As a table it has all `n` x `n` values. Blocks are converted copies, unless all cells of a block are stored and
/// contiguous. Cells that are not stored must remain zero: writing a value that the matrix would not store as zero
/// there fails with [`ErrorKind::NotStored`], and nothing is written. As in a
/// [`CsrNumericTable`](crate::CsrNumericTable), 0.3, which a matrix of integers truncates to zero, may be written
/// anywhere there, and -0.0 counts as zero.
///
/// Cloning shares the memory, O(1); the first write through either matrix copies it. Descriptors never borrow the
/// memory: the matrix can be used while a writable block is outstanding. Its size cannot be changed.
/// [`row_blocks_mut`](crate::BlockAccess::row_blocks_mut), which borrows disjoint blocks, fails.
///
/// Source: DAAL `PackedTriangularMatrix`.
///
/// # Examples
/// ```
/// use numeric_table::{PackedTriangularMatrix, prelude::*, table::Triangle};
/// let values = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let mut matrix = PackedTriangularMatrix::from_packed(values, Triangle::Lower, DataLayout::RowMajor)?;
/// assert_eq!(matrix.rows::<f64>(..)?[..], [1.0, 0.0, 0.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0]);
/// matrix.set_value(2, 0, 7.0)?;
/// assert_eq!(matrix.packed::<f32>()?, [1.0, 2.0, 3.0, 7.0, 5.0, 6.0]);
/// let error = matrix.set_value(0, 2, 7.0).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::NotStored { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PackedTriangularMatrix(Packed);

macro_rules! packed_matrix {
    ($Matrix:ident, $name:literal, $kind:expr, $other:expr, $full:literal, $unequal:literal, $bad:literal) => {
        impl $Matrix {
            /// Creates a matrix from packed values: a `Vec`, an [`Array`](crate::Array), an [`AnyArray`]. No copy.
            ///
            /// # Errors
            /// [`ErrorKind::ParameterOutOfRange`], with the array, if its length is not `n * (n + 1) / 2` for any `n`.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use numeric_table::{", $name, ", prelude::*, table::{Rejected, Triangle}};")]
            /// let (upper, rows) = (Triangle::Upper, DataLayout::RowMajor);
            #[doc = concat!("let matrix = ", $name, "::from_packed(vec![1_u8, 2, 3], upper, rows)?;")]
            /// assert_eq!(matrix.dimension(), 2);
            #[doc = concat!("let refused = ", $name, "::from_packed(vec![1_u8; 7], upper, rows);")]
            /// let Rejected { value, error } = refused.unwrap_err();
            /// assert_eq!(value.len(), 7);
            /// assert_eq!(
            ///     error.to_string(),
            ///     "the number of values of a packed triangle is 7: dimension 3 has 6, and dimension 4 has 10"
            /// );
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn from_packed(
                values: impl Into<AnyArray>,
                triangle: Triangle,
                order: DataLayout,
            ) -> Result<Self, Rejected<AnyArray>> {
                Packed::of_array(values.into(), triangle, order, $other).map(Self)
            }

            /// Creates a matrix from values packed as in LAPACK, by columns. `uplo` is the half that is stored.
            ///
            /// # Errors
            /// Those of [`from_packed`](Self::from_packed).
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use numeric_table::{", $name, ", prelude::*, table::Triangle};")]
            #[doc = concat!("let matrix = ", $name, "::from_lapack(Triangle::Upper, vec![1, 2, 3, 4, 5, 6])?;")]
            /// assert_eq!(matrix.rows::<i32>(..1)?[..], [1, 2, 4]);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn from_lapack(uplo: Triangle, values: impl Into<AnyArray>) -> Result<Self, Rejected<AnyArray>> {
                Self::from_packed(values, uplo, DataLayout::ColumnMajor)
            }

            /// Creates a matrix of zeros.
            ///
            /// # Errors
            /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use numeric_table::{", $name, ", prelude::*, table::Triangle};")]
            /// let (lower, rows) = (Triangle::Lower, DataLayout::RowMajor);
            #[doc = concat!("let matrix = ", $name, "::zeros(3, ElementType::F64, lower, rows)?;")]
            /// assert_eq!(matrix.packed::<f64>()?, [0.0; 6]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn zeros(
                dimension: usize,
                element: ElementType,
                triangle: Triangle,
                order: DataLayout,
            ) -> Result<Self> {
                Packed::zeros(dimension, element, triangle, order, $other).map(Self)
            }

            /// Copies one half of a square table. The other half must have the values that the matrix implies. Keeps
            /// the dictionary. O(n²), without a copy of the full table.
            ///
            /// Missing values are read as NaN in a table of a floating-point type, and refused in one of integers.
            ///
            /// # Errors
            /// [`ErrorKind::ShapeMismatch`]; [`ErrorKind::MixedElementTypes`]; [`ErrorKind::MissingValue`];
            #[doc = concat!($bad, ";")]
            /// those of reading the table; [`ErrorKind::OutOfMemory`].
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use numeric_table::{", $name, ", prelude::*, table::Triangle};")]
            #[doc = concat!("let full = HomogenNumericTable::from_rows(&[", $full, "])?;")]
            #[doc = concat!("let matrix = ", $name, "::from_full(&full, Triangle::Lower, DataLayout::RowMajor)?;")]
            /// assert_eq!(matrix.packed::<i32>()?, [1, 2, 3]);
            #[doc = concat!("let other = HomogenNumericTable::from_rows(&[", $unequal, "])?;")]
            #[doc = concat!("assert!(", $name, "::from_full(&other, Triangle::Lower, DataLayout::RowMajor).is_err());")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn from_full(table: &dyn NumericTable, triangle: Triangle, order: DataLayout) -> Result<Self> {
                Packed::of_table(table, triangle, order, $other).map(Self)
            }

            /// Returns the number of rows, which equals the number of columns.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("# use numeric_table::{", $name, ", table::Triangle};")]
            #[doc = concat!("assert_eq!(", $name, "::from_lapack(Triangle::Upper, vec![1, 2, 3])?.dimension(), 2);")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn dimension(&self) -> usize {
                self.0.packing.dimension()
            }

            /// Returns which half is stored.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("# use numeric_table::{", $name, ", table::Triangle};")]
            #[doc = concat!("let matrix = ", $name, "::from_lapack(Triangle::Upper, vec![1, 2, 3])?;")]
            /// assert_eq!(matrix.triangle(), Triangle::Upper);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn triangle(&self) -> Triangle {
                self.0.packing.triangle
            }

            /// Returns the order in which the values are packed.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("# use numeric_table::{", $name, ", DataLayout, table::Triangle};")]
            #[doc = concat!("let matrix = ", $name, "::from_lapack(Triangle::Upper, vec![1, 2, 3])?;")]
            /// assert_eq!(matrix.order(), DataLayout::ColumnMajor);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn order(&self) -> DataLayout {
                self.0.packing.order
            }

            /// Returns the array of the packed values.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("# use numeric_table::{", $name, ", table::Triangle};")]
            #[doc = concat!("let matrix = ", $name, "::from_lapack(Triangle::Upper, vec![1, 2, 3])?;")]
            /// assert_eq!(matrix.array().len(), 3);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn array(&self) -> &AnyArray {
                &self.0.array
            }

            /// Borrows the packed values. Source: DAAL `getPackedArray`.
            ///
            /// # Errors
            /// [`ErrorKind::ElementTypeMismatch`] if the values are not of type `T`.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("# use numeric_table::{", $name, ", table::Triangle};")]
            #[doc = concat!("let matrix = ", $name, "::from_lapack(Triangle::Upper, vec![1_i16, 2, 3])?;")]
            /// assert_eq!(matrix.packed::<i16>()?, [1, 2, 3]);
            /// assert!(matrix.packed::<u16>().is_err());
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn packed<T: Element>(&self) -> Result<&[T]> {
                self.0.values()
            }

            /// Borrows the packed values for writing. Shared or immutable memory is copied first.
            ///
            /// # Errors
            /// Those of [`packed`](Self::packed); [`ErrorKind::OutOfMemory`].
            ///
            /// # Examples
            /// ```
            #[doc = concat!("# use numeric_table::{", $name, ", prelude::*, table::Triangle};")]
            #[doc = concat!("let mut matrix = ", $name, "::from_lapack(Triangle::Upper, vec![1_i16, 2, 3])?;")]
            /// matrix.packed_mut::<i16>()?[1] = 20;
            /// assert_eq!(matrix.value::<i16>(0, 1)?, 20);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn packed_mut<T: Element>(&mut self) -> Result<&mut [T]> {
                self.0.values_mut()
            }

            /// Returns the array of the packed values, without a copy.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("# use numeric_table::{", $name, ", table::Triangle};")]
            #[doc = concat!("let matrix = ", $name, "::from_lapack(Triangle::Upper, vec![1_i16, 2, 3])?;")]
            /// assert_eq!(matrix.into_packed().downcast::<i16>().unwrap()[..], [1, 2, 3]);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn into_packed(self) -> AnyArray {
                self.0.array
            }

            /// Returns one value in its own type. Works for cells that are not stored, too.
            ///
            /// # Errors
            /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`].
            ///
            /// # Examples
            /// ```
            #[doc = concat!("# use numeric_table::{", $name, ", table::Triangle};")]
            #[doc = concat!("let matrix = ", $name, "::from_lapack(Triangle::Upper, vec![1_i16, 2, 3])?;")]
            /// assert_eq!(matrix.get(0, 1)?, 2_i16.into());
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn get(&self, row: usize, column: usize) -> Result<AnyValue> {
                self.0.value_at(row, column)
            }

            /// Returns the same matrix in the given packing order. Copies the values if the order changes.
            ///
            /// # Errors
            /// [`ErrorKind::OutOfMemory`].
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use numeric_table::{", $name, ", prelude::*, table::Triangle};")]
            #[doc = concat!("let matrix = ", $name, "::from_lapack(Triangle::Upper, vec![1, 2, 3, 4, 5, 6])?;")]
            /// let by_rows = matrix.to_order(DataLayout::RowMajor)?;
            /// assert_eq!(by_rows.packed::<i32>()?, [1, 2, 4, 3, 5, 6]);
            /// assert_eq!(by_rows.rows::<i32>(..)?[..], matrix.rows::<i32>(..)?[..]);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn to_order(&self, order: DataLayout) -> Result<Self> {
                self.0.repacked(self.triangle(), order).map(Self)
            }
        }

        /// Shares the memory: O(1). The first write through either matrix copies it.
        impl Clone for $Matrix {
            fn clone(&self) -> Self {
                Self(self.0.share(self.0.packing))
            }
        }

        impl NumericTable for $Matrix {
            fn kind(&self) -> TableKind {
                $kind
            }

            forwards_reading!(self, self.0);
            forwards_writing!(self, self.0);

            fn as_any(&self) -> Option<&dyn Any> {
                Some(self)
            }

            fn as_any_mut(&mut self) -> Option<&mut dyn Any> {
                Some(self)
            }
        }

        impl fmt::Debug for $Matrix {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                describe($name, self, f)
            }
        }
    };
}

packed_matrix!(
    PackedSymmetricMatrix,
    "PackedSymmetricMatrix",
    TableKind::PACKED_SYMMETRIC,
    OtherHalf::Mirrored,
    "[1, 2], [2, 3]",
    "[1, 9], [2, 3]",
    "[`ErrorKind::AsymmetricValue`] for the first two cells, in row-major order, that differ in any bit"
);
packed_matrix!(
    PackedTriangularMatrix,
    "PackedTriangularMatrix",
    TableKind::PACKED_TRIANGULAR,
    OtherHalf::Zero,
    "[1, 0], [2, 3]",
    "[1, 9], [2, 3]",
    "[`ErrorKind::NotStored`] for the first cell, in row-major order, that is not zero outside the triangle"
);

impl PackedSymmetricMatrix {
    /// Writes one value, for both of its cells, under [`ConversionPolicy::Checked`](crate::ConversionPolicy::Checked).
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::ValueNotRepresentable`],
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{PackedSymmetricMatrix, prelude::*, table::Triangle};
    /// let mut matrix = PackedSymmetricMatrix::from_lapack(Triangle::Upper, vec![1, 2, 3])?;
    /// matrix.set(1, 0, 20)?;
    /// assert_eq!(matrix.rows::<i32>(..)?[..], [1, 20, 20, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set<T: Element>(&mut self, row: usize, column: usize, value: T) -> Result<()> {
        self.0.set(row, column, value)
    }

    /// Returns the same matrix with the given half stored. Copies the values if the half changes.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{PackedSymmetricMatrix, prelude::*, table::Triangle};
    /// let matrix = PackedSymmetricMatrix::from_lapack(Triangle::Upper, vec![1, 2, 3, 4, 5, 6])?;
    /// let lower = matrix.to_triangle(Triangle::Lower)?;
    /// assert_eq!(lower.packed::<i32>()?, [1, 2, 4, 3, 5, 6]);
    /// assert_eq!(lower.rows::<i32>(..)?[..], matrix.rows::<i32>(..)?[..]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_triangle(&self, triangle: Triangle) -> Result<Self> {
        self.0.repacked(triangle, self.order()).map(Self)
    }

    /// Returns the `uplo` argument for BLAS and LAPACK, which read by columns: the half that they find in the packed
    /// values. A lower half packed by rows is an upper half to them. Nothing needs to be repacked.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{DataLayout, PackedSymmetricMatrix, table::Triangle};
    /// let matrix = PackedSymmetricMatrix::from_packed(vec![1.0, 2.0, 3.0], Triangle::Lower, DataLayout::RowMajor)?;
    /// assert_eq!(matrix.uplo(), b'U'); // `dspmv(matrix.uplo(), n, 1.0, matrix.packed()?, ...)`
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn uplo(&self) -> u8 {
        uplo(self.triangle(), self.order())
    }
}

impl PackedTriangularMatrix {
    /// Writes one value under [`ConversionPolicy::Checked`](crate::ConversionPolicy::Checked).
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::ValueNotRepresentable`],
    /// [`ErrorKind::OutOfMemory`]; [`ErrorKind::NotStored`] if the cell is not stored and the value would not become
    /// zero.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{PackedTriangularMatrix, prelude::*, table::Triangle};
    /// let mut matrix = PackedTriangularMatrix::from_lapack(Triangle::Upper, vec![1, 2, 3])?;
    /// matrix.set(0, 1, 20)?;
    /// matrix.set(1, 0, 0)?; // the cell is zero already
    /// assert_eq!(matrix.rows::<i32>(..)?[..], [1, 20, 0, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set<T: Element>(&mut self, row: usize, column: usize, value: T) -> Result<()> {
        self.0.set(row, column, value)
    }

    /// Returns the transposed matrix: O(1), on the same memory. The half and the packing order change to the opposite.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{PackedTriangularMatrix, prelude::*, table::Triangle};
    /// let matrix = PackedTriangularMatrix::from_packed(vec![1, 2, 3], Triangle::Lower, DataLayout::RowMajor)?;
    /// let transposed = matrix.transposed();
    /// assert_eq!((transposed.triangle(), transposed.order()), (Triangle::Upper, DataLayout::ColumnMajor));
    /// assert_eq!(transposed.rows::<i32>(..)?[..], [1, 2, 0, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self(self.0.share(self.0.packing.transposed()))
    }

    /// Returns the `uplo` and `trans` arguments for BLAS and LAPACK, which read by columns. `trans` is `b'T'` if the
    /// matrix is packed by rows. Nothing needs to be repacked.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{DataLayout, PackedTriangularMatrix, table::Triangle};
    /// let matrix = PackedTriangularMatrix::from_packed(vec![1.0, 2.0, 3.0], Triangle::Lower, DataLayout::RowMajor)?;
    /// assert_eq!(matrix.uplo_and_trans(), (b'U', b'T'));
    /// assert_eq!(matrix.to_order(DataLayout::ColumnMajor)?.uplo_and_trans(), (b'L', b'N'));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn uplo_and_trans(&self) -> (u8, u8) {
        let trans = if self.order() == DataLayout::RowMajor { b'T' } else { b'N' };
        (uplo(self.triangle(), self.order()), trans)
    }
}

/// Returns the half that the packed values are in when they are read by columns.
fn uplo(triangle: Triangle, order: DataLayout) -> u8 {
    match order {
        DataLayout::RowMajor => triangle.opposite().uplo(),
        DataLayout::ColumnMajor => triangle.uplo(),
    }
}
