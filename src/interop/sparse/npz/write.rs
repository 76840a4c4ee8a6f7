//! `.npz` files from tables.

use std::path::Path;

use crate::array::Array;
use crate::base::element::{Element, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::interop::npy::parts::{encode_name, encode_vector};
use crate::interop::npz::NpzOptions;
use crate::interop::npz::archive::{Archive, Member};
use crate::storage::PIECE_BYTES;
use crate::storage::byte_order::swap_if_big_endian;
use crate::storage::output::Output;
use crate::storage::position::Sink;
use crate::storage::replace::replace;
use crate::table::NumericTable;
use crate::table::csr::CsrNumericTable;
use crate::table::csr::index::Indices;

impl CsrNumericTable {
    /// Saves the table as a compressed file that `scipy.sparse.load_npz` loads. It atomically replaces an old one, as
    /// [`TableOutput::save`](crate::TableOutput::save) does. As in SciPy, offsets and indices are `i32` if that type
    /// can hold the shape and the number of values, otherwise `i64`. Names of columns are lost, because the format
    /// cannot store them.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedElementType`] for `bf16`, which NumPy does not have;
    /// [`ErrorKind::ValueNotRepresentable`] for more rows or columns than `i64` can count; [`ErrorKind::Io`] with
    /// `path`; [`ErrorKind::RenameUnsupported`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.npz");
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0_u64, 2, 3], vec![0_u64, 3, 1], vec![1.5_f32, 2.5, 3.5])?;
    /// table.save_npz(&path)?; // scipy.sparse.load_npz("matrix.npz")
    /// assert_eq!(CsrNumericTable::load_npz(&path)?.indices().downcast::<i32>(), Some(&[0, 3, 1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn save_npz(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_npz_with(path, NpzOptions::new())
    }

    /// Saves the table as [`save_npz`](Self::save_npz) does, with options.
    ///
    /// # Errors
    /// Those of [`save_npz`](Self::save_npz).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, npz::NpzOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.npz");
    /// let table = CsrNumericTable::try_new(Shape { rows: 1, columns: 4 }, vec![0, 1], vec![3], vec![7_u8])?;
    /// table.save_npz_with(&path, NpzOptions::new().compressed(false))?;
    /// assert_eq!(CsrNumericTable::load_npz(&path)?.nnz(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn save_npz_with(&self, path: impl AsRef<Path>, options: NpzOptions) -> Result<()> {
        let Shape { rows, columns } = self.shape();
        let largest = rows.max(columns).max(self.nnz());
        let i64_of = |number: usize| {
            i64::try_from(number)
                .map_err(|_| Error::limit("rows or columns of a file of SciPy", number, i64::MAX as usize))
        };
        let shape = [i64_of(rows)?, i64_of(columns)?];
        match i32::try_from(largest) {
            Ok(_) => self.save_npz_as::<i32>(path.as_ref(), &options, &shape),
            Err(_) => self.save_npz_as::<i64>(path.as_ref(), &options, &shape),
        }
    }

    fn save_npz_as<I: Element>(&self, path: &Path, options: &NpzOptions, shape: &[i64]) -> Result<()> {
        let values = self.values();
        encode_vector(values.element_type(), 0)?; // before anything is written
        let is_compressed = options.is_compressed;
        replace(path, &options.save, |sink| {
            let output = Output { sink, path };
            let (indices, offsets) = (numbers::<I>(self.indices())?, numbers::<I>(self.offsets())?);
            let bytes = size_of_val(&indices[..]) + size_of_val(&offsets[..]) + size_of_val(shape);
            let bytes = bytes + values.len() * values.element_type().size_in_bytes();
            let mut archive = Archive::new(Meter::start(options.save.hook(), bytes as u64));
            // In SciPy's order.
            write_array(&mut archive, &output, "indices.npy", &indices, is_compressed)?;
            write_array(&mut archive, &output, "indptr.npy", &offsets, is_compressed)?;
            let format = encode_name("csr")?;
            let size = format.len() as u64;
            archive.member(&output, "format.npy", size, is_compressed, |member| member.write(&format))?;
            write_array(&mut archive, &output, "shape.npy", shape, is_compressed)?;
            match_element!(values.element_type(), T => {
                write_array(&mut archive, &output, "data.npy", self.values_slice::<T>()?, is_compressed)?;
            });
            archive.finish(&output).map(drop)
        })?;
        trace::record(CopyKind::Saved, self.size_of_arrays());
        Ok(())
    }
}

/// Offsets or indices in the type of the file.
enum Numbers<'a, I> {
    Borrowed(&'a [I]),
    Copied(Array<I>),
}

impl<I> std::ops::Deref for Numbers<'_, I> {
    type Target = [I];

    fn deref(&self) -> &[I] {
        match self {
            Self::Borrowed(numbers) => numbers,
            Self::Copied(numbers) => numbers,
        }
    }
}

fn numbers<I: Element>(indices: Indices<'_>) -> Result<Numbers<'_, I>> {
    match indices.downcast() {
        Some(numbers) => Ok(Numbers::Borrowed(numbers)),
        None => Ok(Numbers::Copied(indices.to_array(0)?)),
    }
}

/// Writes an array of one dimension.
fn write_array<T: Element>(
    archive: &mut Archive,
    output: &Output<'_, impl Sink>,
    name: &str,
    values: &[T],
    is_compressed: bool,
) -> Result<()> {
    let header = encode_vector(T::TYPE, values.len())?;
    let size = (header.len() + size_of_val(values)) as u64;
    archive.member(output, name, size, is_compressed, |member| {
        member.write(&header)?;
        write_values(member, values)
    })
}

/// Writes values in their file representation, piece by piece.
fn write_values<T: Element>(member: &mut Member<'_>, values: &[T]) -> Result<()> {
    for piece in values.chunks(PIECE_BYTES / size_of::<T>()) {
        if cfg!(target_endian = "little") {
            member.write_values(bytemuck::cast_slice(piece))?;
        } else {
            let mut bytes = bytemuck::cast_slice::<T, u8>(piece).to_vec();
            swap_if_big_endian(&mut bytes, size_of::<T>());
            member.write_values(&bytes)?;
        }
    }
    Ok(())
}
