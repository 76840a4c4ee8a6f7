//! Reading many values: in pieces that fit the processor's cache, and in parallel if there are many.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::header::{AnyHeader, NpyHeader};
use super::records::load_records;
use crate::array::Array;
use crate::base::element::{Element, ElementType};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::storage::byte_order::{swap, swap_if_big_endian};
use crate::storage::open::{open_regular, read};
use crate::storage::stored::Stored;
use crate::storage::{PIECE_BYTES, run_length};
use crate::table::HomogenNumericTable;
use crate::table::aos::AosNumericTable;
use crate::window::AnySliceMut;

/// Number of bytes to allocate before any have been read from a stream.
const FIRST_BYTES: usize = 256 << 10;

/// A source of the bytes of values, for several threads.
pub(super) trait NpyPayload: Sync {
    /// Fills a buffer with the bytes from a position in the values.
    fn fetch(&self, buffer: &mut [u8], position: usize) -> Result<()>;
}

impl NpyPayload for [u8] {
    fn fetch(&self, buffer: &mut [u8], position: usize) -> Result<()> {
        buffer.copy_from_slice(&self[position..position + buffer.len()]);
        Ok(())
    }
}

/// An open file whose header has been checked against its actual length.
pub(super) struct NpyFile {
    pub(super) file: File,
    pub(super) path: PathBuf,
    pub(super) header: NpyHeader,
}

/// An array of numbers that has not been read yet, or a table of structures.
pub(super) enum AnyFile {
    Numbers(NpyFile),
    Records(AosNumericTable),
}

impl NpyFile {
    /// Opens a file and checks everything except its values. Allocates only the bytes of its header.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], [`ErrorKind::Format`].
    pub(super) fn open(path: &Path) -> Result<Self> {
        Self::open_checked(path).map_err(|error| error.in_file(path))
    }

    fn open_checked(path: &Path) -> Result<Self> {
        let in_file = |source| Error::io(path, source);
        let (file, real_length) = open_regular(path).map_err(in_file)?;
        let header = NpyHeader::read(&mut &file, &in_file)?;
        header.check_file_length(real_length)?;
        Ok(Self { file, path: path.to_owned(), header })
    }

    /// Opens a file as [`open`](Self::open) does. Loads it if it is an array of structures.
    ///
    /// # Errors
    /// Those of [`open`](Self::open); [`ErrorKind::OutOfMemory`].
    pub(super) fn open_any(path: &Path) -> Result<AnyFile> {
        Self::open_any_checked(path).map_err(|error| error.in_file(path))
    }

    fn open_any_checked(path: &Path) -> Result<AnyFile> {
        let in_file = |source| Error::io(path, source);
        let (file, real_length) = open_regular(path).map_err(in_file)?;
        match AnyHeader::read(&mut &file, &in_file)? {
            AnyHeader::Numbers(header) => {
                header.check_file_length(real_length)?;
                Ok(AnyFile::Numbers(Self { file, path: path.to_owned(), header }))
            }
            AnyHeader::Records(header) => {
                header.check_file_length(real_length)?;
                Ok(AnyFile::Records(load_records(&file, path, &header)?))
            }
        }
    }

    /// Checks that the file holds values of the expected type.
    pub(super) fn check_type(&self, expected: ElementType) -> Result<()> {
        self.header.check_type(expected, Some("load_npy_cast")).map_err(|error| error.in_file(&self.path))
    }

    /// Loads the table, converted if the file holds another type.
    pub(super) fn load<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        load(&self.header, self)
    }
}

impl NpyPayload for NpyFile {
    fn fetch(&self, buffer: &mut [u8], position: usize) -> Result<()> {
        read(&self.file, &self.path, buffer, (self.header.length + position) as u64)
    }
}

/// Reads all values into memory allocated by the library. Converts them if they have another type.
pub(super) fn load<T: Element>(
    header: &NpyHeader,
    payload: &(impl NpyPayload + ?Sized),
) -> Result<HomogenNumericTable<T>> {
    let mut array = Array::<T>::zeros(header.shape.element_count_of(T::TYPE)?)?;
    let size = header.element_type.size_in_bytes();
    let length = (run_length(header.payload_length()) / size).max(1);
    let runs = array.mutable_data()?.chunks_mut(length).enumerate().collect();
    let done = parallel::map(runs, |(index, target)| read_run(header, payload, index * length, target));
    done.into_iter().collect::<Result<()>>()?;
    trace::record(CopyKind::Loaded, array.size_in_bytes());
    Ok(HomogenNumericTable::internal(array, header.shape, header.layout))
}

/// Reads consecutive values from index `first`.
fn read_run<T: Element>(
    header: &NpyHeader,
    payload: &(impl NpyPayload + ?Sized),
    first: usize,
    target: &mut [T],
) -> Result<()> {
    let size = header.element_type.size_in_bytes();
    let mut stored = Stored::new(header.element_type);
    let mut position = first * size;
    for piece in target.chunks_mut(PIECE_BYTES / size) {
        let length = piece.len() * size;
        if header.element_type == T::TYPE {
            let bytes = bytemuck::cast_slice_mut(piece);
            payload.fetch(bytes, position)?;
            turn(bytes, header);
            swap_if_big_endian(bytes, size);
        } else {
            let bytes = stored.room(piece.len())?;
            payload.fetch(bytes, position)?;
            turn(bytes, header);
            let shape = Shape { rows: piece.len(), columns: 1 };
            stored.convert(shape, AnySliceMut::new(piece))?;
        }
        position += length;
    }
    Ok(())
}

/// Converts the bytes of values to little-endian order.
fn turn(bytes: &mut [u8], header: &NpyHeader) {
    if header.is_big_endian {
        swap(bytes, header.element_type.size_in_bytes());
    }
}

/// Reads all values from a stream, which may end too early. Allocates at most `known` bytes, the number known to be
/// available, or twice the number of bytes read, plus 1 MiB.
pub(in crate::interop) fn read_stream<T: Element>(
    header: &NpyHeader,
    source: &mut impl Read,
    known: usize,
) -> Result<HomogenNumericTable<T>> {
    let described = format!("{} {} values", header.shape, header.element_type);
    let count = header.shape.element_count_of(T::TYPE)?;
    let array = read_parts::<T>(header.length, count, &described, source, known, |bytes| {
        turn(bytes, header);
        swap_if_big_endian(bytes, size_of::<T>());
    })?;
    trace::record(CopyKind::Loaded, array.size_in_bytes());
    Ok(HomogenNumericTable::internal(array, header.shape, header.layout))
}

/// Reads the given number of values from a stream, part by part. A part is never longer than all parts before it, or
/// than the number of bytes known to be available. Calls `turn` with the bytes of each part. `start` is the number of
/// bytes before the first value.
pub(super) fn read_parts<T: Element>(
    start: usize,
    count: usize,
    described: &str,
    source: &mut impl Read,
    known: usize,
    turn: impl Fn(&mut [u8]),
) -> Result<Array<T>> {
    let size = size_of::<T>();
    let mut parts: Vec<Array<T>> = Vec::new();
    let mut have = 0;
    while have < count {
        let mut part = Array::<T>::zeros((count - have).min(have.max(known.max(FIRST_BYTES) / size)))?;
        let bytes = bytemuck::cast_slice_mut(part.mutable_data()?);
        source.read_exact(bytes).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => {
                let reason = format!("the stream ends after this byte, before the last of {described}");
                Error::format((start + have * size) as u64, reason)
            }
            _ => Error::stream(source),
        })?;
        turn(bytes);
        have += part.len();
        parts.push(part);
    }
    match <[Array<T>; 1]>::try_from(parts) {
        Ok([whole]) => Ok(whole),
        Err(parts) => {
            let mut whole = Array::<T>::zeros(count)?;
            let mut rest = whole.mutable_data()?;
            for part in parts {
                let (now, later) = rest.split_at_mut(part.len());
                now.copy_from_slice(&part);
                rest = later;
            }
            Ok(whole)
        }
    }
}
