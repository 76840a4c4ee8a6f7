//! Tables from `.npz` files.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use crate::array::AnyArray;
use crate::base::element::match_element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::number::{Exact, Number};
use crate::base::shape::Shape;
use crate::interop::npy::header::NpyHeader;
use crate::interop::npy::parts::read_name;
use crate::interop::npy::values::read_stream;
use crate::interop::npz::NpzOptions;
use crate::interop::npz::failure::{failed, within};
use crate::interop::npz::zip::{Entry, Zip};
use crate::interop::sparse::row_limit::RowLimit;
use crate::storage::open::open_regular;
use crate::table::csr::CsrNumericTable;

impl CsrNumericTable {
    /// Loads a sparse matrix saved by `scipy.sparse.save_npz`. In the format `csr`, its arrays become those of the
    /// table and keep their types; in the format `csc`, the matrix is transposed. Unsorted indices are sorted, and
    /// values of one cell are summed, as [`from_unsorted`](Self::from_unsorted) does.
    ///
    /// Sizes in the file are not trusted, and checksums are verified. Compressed data may become a thousand times as
    /// large: [`NpzOptions::max_bytes`] limits it, and [`NpzOptions::max_rows`] limits a matrix that is transposed.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::Format`] with the reason and the position, also for data that a
    /// sparse table cannot hold, such as booleans and complex numbers; [`ErrorKind::OutOfMemory`]; those of
    /// [`from_unsorted`](Self::from_unsorted).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.npz");
    /// let shape = Shape { rows: 2, columns: 4 };
    /// CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 3, 1], vec![1.5_f32, 2.5, 3.5])?.save_npz(&path)?;
    /// let table = CsrNumericTable::load_npz(&path)?; // or by scipy.sparse.load_npz
    /// assert_eq!((table.shape(), table.values_slice::<f32>()?), (shape, &[1.5, 2.5, 3.5][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn load_npz(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_npz_with(path, NpzOptions::new())
    }

    /// Loads a sparse matrix as [`load_npz`](Self::load_npz) does, with options.
    ///
    /// # Errors
    /// Those of [`load_npz`](Self::load_npz); [`ErrorKind::Format`] if the arrays or the number of rows are larger than
    /// the options allow.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, npz::NpzOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.npz");
    /// CsrNumericTable::try_new(Shape { rows: 1, columns: 4 }, vec![0, 1], vec![3], vec![7_u8])?.save_npz(&path)?;
    /// assert_eq!(CsrNumericTable::load_npz_with(&path, NpzOptions::new().max_bytes(1 << 30))?.nnz(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn load_npz_with(path: impl AsRef<Path>, options: NpzOptions) -> Result<Self> {
        let path = path.as_ref();
        let (file, _) = open_regular(path).map_err(|source| Error::io(path, source))?;
        read::<File>(file, &options).map_err(|error| error.in_file(path))
    }

    /// Reads a sparse matrix as [`load_npz_with`](Self::load_npz_with) does, from bytes in memory
    /// ([`Cursor`](std::io::Cursor)) or any seekable reader.
    ///
    /// # Errors
    /// Those of [`load_npz_with`](Self::load_npz_with), with [`ErrorKind::Io`] for errors of the reader.
    ///
    /// # Examples
    /// ```
    /// use std::io::Cursor;
    /// use numeric_table::{CsrNumericTable, npz::NpzOptions, prelude::*};
    /// let error = CsrNumericTable::read_npz(Cursor::new(b"PK\x03\x04"), NpzOptions::new()).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::Format { .. }));
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn read_npz(reader: impl Read + Seek, options: NpzOptions) -> Result<Self> {
        read(reader, &options)
    }
}

fn read<R: Read + Seek>(source: R, options: &NpzOptions) -> Result<CsrNumericTable> {
    let mut file = Npz { zip: Zip::open(source, failed)?, left: options.max_bytes };
    let format = file.text("format")?;
    let is_transposed = match &format[..] {
        "csr" => false,
        "csc" => true,
        _ => {
            let reason = format!("the format is {format:?}, but only csr and csc can be read; in Python: a.tocsr()");
            return Err(Error::format(0, reason));
        }
    };
    let [rows, columns] = file.shape()?;
    // In the format `csr`, the file has an offset for each row; in `csc`, it has no data per row.
    let row_limit = options.max_rows.map(RowLimit::new).unwrap_or_default();
    let limit = match is_transposed {
        true => Some(row_limit.of(file.zip.length())),
        false => row_limit.set(),
    };
    if let Some(limit) = limit.filter(|&limit| rows as u64 > limit) {
        let reason = format!("{rows} rows are more than {limit}: `NpzOptions::max_rows` allows more");
        return Err(within(Error::format(0, reason), "shape"));
    }
    let shape = match is_transposed {
        true => Shape { rows: columns, columns: rows },
        false => Shape { rows, columns },
    };
    let lines = shape.rows.checked_add(1);
    let offsets =
        file.array("indptr", lines.ok_or_else(|| Error::new(ErrorKind::SizeOverflow { shape, element: None }))?)?;
    let end = last(&offsets)?;
    let indices = file.array("indices", end)?;
    let values = file.array("data", end)?;
    let table = CsrNumericTable::from_unsorted(shape, offsets, indices, values)?;
    if is_transposed { table.transpose() } else { Ok(table) }
}

/// Returns the last row offset, which is the number of values.
fn last(offsets: &AnyArray) -> Result<usize> {
    let last = match_element!(offsets.element_type(), T => {
        offsets.as_slice().downcast::<T>().and_then(<[T]>::last).and_then(|&last| whole(last.exact()))
    });
    last.ok_or_else(|| Error::format(0, "in \"indptr.npy\": the last number is not a number of values"))
}

/// A zip file of arrays.
struct Npz<R> {
    zip: Zip<R>,
    /// Number of bytes that may still be read.
    left: u64,
}

impl<R: Read + Seek> Npz<R> {
    /// Finds a member that is not too large.
    fn entry(&mut self, name: &str) -> Result<Entry> {
        let entry = self.zip.entry(&format!("{name}.npy"))?;
        let Some(left) = self.left.checked_sub(entry.size) else {
            let reason = format!(
                "{} bytes of \"{name}.npy\" are more than are allowed: `NpzOptions::max_bytes` sets the limit",
                entry.size
            );
            return Err(Error::format(0, reason));
        };
        self.left = left;
        Ok(entry)
    }

    fn text(&mut self, name: &str) -> Result<String> {
        let entry = self.entry(name)?;
        let mut member = self.zip.member(&entry)?;
        let text = read_name(&mut member, &failed).and_then(|text| member.finish().map(|()| text));
        text.map_err(|error| within(error, name))
    }

    fn shape(&mut self) -> Result<[usize; 2]> {
        let array = self.array("shape", 2)?;
        let sizes: Option<Vec<usize>> = match_element!(array.element_type(), T => {
            array.as_slice().downcast::<T>().and_then(|sizes| sizes.iter().map(|size| whole(size.exact())).collect())
        });
        let sizes = sizes.and_then(|sizes| <[usize; 2]>::try_from(sizes).ok());
        sizes.ok_or_else(|| Error::format(0, "in \"shape.npy\": these are not numbers of rows and columns"))
    }

    /// Reads a one-dimensional array with the given number of values.
    fn array(&mut self, name: &str, count: usize) -> Result<AnyArray> {
        let entry = self.entry(name)?;
        let mut member = self.zip.member(&entry)?;
        let array = (|| {
            let header = NpyHeader::read(&mut member, &failed)?;
            if header.shape != (Shape { rows: count, columns: 1 }) {
                let Shape { rows, columns } = header.shape;
                return Err(Error::format(0, format!("{rows} x {columns} values, but {count} are needed")));
            }
            header.check_file_length(entry.size)?;
            let array = match_element!(header.element_type, T => {
                AnyArray::new(read_stream::<T>(&header, &mut member, 0)?.into_array()?)
            });
            member.finish()?;
            Ok(array)
        })();
        array.map_err(|error| within(error, name))
    }
}

/// Returns a number as a size, if it is a valid one.
fn whole(number: Exact) -> Option<usize> {
    match number {
        Exact::Integer(number) => usize::try_from(number).ok(),
        Exact::Float(_) => None,
    }
}
