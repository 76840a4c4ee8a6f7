//! Table files: whatever reads one says the same of it, and what is read can be saved and is read again.
//!
//! Checksums would stop almost every mutation, so the first byte chooses what the rest is:
//!
//! | first byte | the rest is |
//! | --- | --- |
//! | 0 to 31 | a file; its bits say what is made right before use: see [`Repair`] |
//! | 32 to 79 | a header and values, of which a file of version 1 is made; chunks of as many bytes as the first byte says, less 32 |
//! | 80 to 127 | the same for version 2; less 80 |
//! | 144 to 191 | the same for version 3; less 144 |
//! | 192 to 239 | the same for version 4; less 192 |
//! | others | together with the first byte, a file as it is |

#![no_main]

use std::fs;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use numeric_table::{
    DataLayout, Element, ElementType, Error, ErrorKind, HomogenNumericTable, NumericTable, Shape, TableOutput,
    files::{self, SaveOptions, TableReader, verify},
};
use numeric_table_fuzz::{assert_same, bytes_of, check_same_again, folder_in_memory, refusal, table_of, with_element};

type Table<T> = HomogenNumericTable<T>;

const PREAMBLE_BYTES: usize = 64;
/// No part of a multiple of 4096 bytes, or of values: chunks are cut wherever they can be.
fn options() -> SaveOptions {
    SaveOptions::new().durable(false).checksums(Some(13))
}

/// Two files in a folder of this process.
struct Scratch {
    file: PathBuf,
    copy: PathBuf,
    _folder: tempfile::TempDir, // goes when the main thread ends well
}

impl Scratch {
    fn new() -> Self {
        let folder = folder_in_memory();
        Self { file: folder.path().join("file.ntb"), copy: folder.path().join("copy.ntb"), _folder: folder }
    }
}

thread_local! {
    static SCRATCH: Scratch = Scratch::new();
}

fuzz_target!(|data: &[u8]| {
    SCRATCH.with(|scratch| {
        fs::write(&scratch.file, file_of(data)).unwrap();
        check(scratch);
    });
});

// --- files --------------------------------------------------------------------------------------------------------

/// What is made right in a file, if there is room for it: bits of the first byte.
struct Repair(u8);

impl Repair {
    const FILE_LENGTH: u8 = 1;
    const HEADER_CHECKSUM: u8 = 2;
    const CHUNK_COUNT: u8 = 4;
    const CHUNK_CHECKSUMS: u8 = 8;
    const PREAMBLE_CHECKSUM: u8 = 16;

    fn does(&self, part: u8) -> bool {
        self.0 & part != 0
    }
}

fn file_of(data: &[u8]) -> Vec<u8> {
    match data {
        [repair @ 0..32, file @ ..] => {
            let mut file = file.to_vec();
            Repair(*repair).apply(&mut file);
            file
        }
        // 0x89 begins a whole file.
        [first @ (32..128 | 144..240), low, high, rest @ ..] => {
            let (header, values) = rest.split_at(rest.len().min(u16::from_le_bytes([*low, *high]).into()));
            let (version, chunk_size) = match *first {
                first @ ..80 => (1, first - 32),
                first @ 80..128 => (2, first - 80),
                first @ 144..192 => (3, first - 144),
                first => (4, first - 192),
            };
            lay_out(version, header, values, chunk_size.into())
        }
        file => file.to_vec(),
    }
}

/// Makes a file whose preamble and checksums are right.
fn lay_out(version: u8, header: &[u8], values: &[u8], chunk_size: u32) -> Vec<u8> {
    let payload_offset = (PREAMBLE_BYTES + header.len()).next_multiple_of(4096);
    let mut file = b"\x89NTB\r\n\x1a\n".to_vec();
    file.extend([version, 0, 0, 0]);
    file.extend((header.len() as u32).to_le_bytes());
    file.extend([payload_offset, values.len(), 0].iter().flat_map(|&number| (number as u64).to_le_bytes()));
    file.extend(0_u32.to_le_bytes());
    file.extend(chunk_size.to_le_bytes());
    file.resize(PREAMBLE_BYTES, 0);
    file.extend(header);
    file.resize(payload_offset, 0);
    file.extend(values);
    if chunk_size > 0 {
        let chunks = values.len().div_ceil(chunk_size as usize);
        file.resize(file.len().next_multiple_of(8) + 8 + 4 * chunks, 0);
    }
    Repair(u8::MAX).apply(&mut file);
    file
}

impl Repair {
    fn apply(&self, file: &mut [u8]) {
        if file.len() < PREAMBLE_BYTES {
            return;
        }
        if self.does(Self::FILE_LENGTH) {
            let length = file.len() as u64;
            file[32..40].copy_from_slice(&length.to_le_bytes());
        }
        let header_end = PREAMBLE_BYTES.saturating_add(u32_at(file, 12) as usize);
        if let Some(header) = file.get(PREAMBLE_BYTES..header_end).filter(|_| self.does(Self::HEADER_CHECKSUM)) {
            let sum = crc32fast::hash(header);
            file[40..44].copy_from_slice(&sum.to_le_bytes());
        }
        let _ = self.apply_to_chunks(file);
        if self.does(Self::PREAMBLE_CHECKSUM) {
            let sum = crc32fast::hash(&file[..60]);
            file[60..64].copy_from_slice(&sum.to_le_bytes());
        }
    }

    /// Stops with `None` where there is no room.
    fn apply_to_chunks(&self, file: &mut [u8]) -> Option<()> {
        let (start, length) = (usize::try_from(u64_at(file, 16)).ok()?, usize::try_from(u64_at(file, 24)).ok()?);
        let (end, chunk_size) = (start.checked_add(length)?, u32_at(file, 44) as usize);
        let count_offset = end.checked_next_multiple_of(8)?;
        // What is written must not change what was read.
        if chunk_size == 0 || start < PREAMBLE_BYTES || count_offset.checked_add(8)? > file.len() {
            return None;
        }
        if self.does(Self::CHUNK_COUNT) {
            let count = length.div_ceil(chunk_size) as u64;
            file[count_offset..count_offset + 8].copy_from_slice(&count.to_le_bytes());
        }
        if self.does(Self::CHUNK_CHECKSUMS) {
            let (front, sums) = file.split_at_mut(count_offset + 8);
            let (sums, _) = sums.as_chunks_mut::<4>();
            for (chunk, sum) in front[start..end].chunks(chunk_size).zip(sums) {
                *sum = crc32fast::hash(chunk).to_le_bytes();
            }
        }
        Some(())
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

// --- checks -------------------------------------------------------------------------------------------------------

/// Maps a file.
fn map<T: Element>(scratch: &Scratch) -> Result<Table<T>, Error> {
    // SAFETY: nobody else knows the file, and this process writes to it only between two inputs, when no map is left.
    unsafe { Table::<T>::map(&scratch.file) }
}

fn check(scratch: &Scratch) {
    let path = &scratch.file;
    match TableReader::open(path) {
        Ok(reader) => with_element!(reader.element_type(), T => check_described::<T>(scratch, &reader)),
        Err(error) if matches!(error.kind(), ErrorKind::TableKindMismatch { .. }) => check_kind(scratch),
        Err(error) => {
            let reason = refusal(Err::<(), _>(error));
            assert_eq!(refusal(files::load(path)), reason);
            assert_eq!(refusal(verify(path)), reason);
            assert_eq!(refusal(Table::<f32>::load(path)), reason);
            assert_eq!(refusal(Table::<f64>::load_cast(path)), reason);
            assert_eq!(refusal(map::<u8>(scratch)), reason);
        }
    }
}

/// A file of a table that is not homogeneous: what it holds may be no table of its kind.
fn check_kind(scratch: &Scratch) {
    let is_other_kind = |result: Result<Table<f32>, Error>| {
        result.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::TableKindMismatch { .. }))
    };
    assert!(is_other_kind(Table::load(&scratch.file)) && is_other_kind(map(scratch)));
    match files::load(&scratch.file) {
        Err(error) => drop(refusal(Err::<(), _>(error))),
        Ok(table) => {
            let has_checksums = verify(&scratch.file).unwrap();
            let bytes = check_same_again(&*table);
            table.save_with(&scratch.copy, options()).unwrap();
            assert!(verify(&scratch.copy).unwrap());
            assert_eq!(files::load(&scratch.copy).unwrap().to_bytes().unwrap(), bytes);
            if has_checksums {
                table.save_with(&scratch.file, options()).unwrap();
                assert_eq!(fs::read(&scratch.file).unwrap(), fs::read(&scratch.copy).unwrap());
            }
        }
    }
}

/// A file that describes a table of `T` by all rules: only the checksums of its values may be wrong.
fn check_described<T: Element>(scratch: &Scratch, reader: &TableReader) {
    let path = &scratch.file;
    let mapped = map::<T>(scratch).unwrap();
    assert_eq!((mapped.shape(), mapped.data_layout()), (reader.shape(), reader.data_layout()));
    assert_eq!(mapped.dictionary(), reader.dictionary());
    check_rows(&mapped, reader);
    check_other_types::<T>(scratch);
    match files::load(path) {
        Err(error) => {
            let reason = refusal(Err::<(), _>(error));
            assert_eq!(refusal(verify(path)), reason);
            assert_eq!(refusal(reader.verify()), reason);
            assert_eq!(refusal(Table::<T>::load(path)), reason);
            assert_eq!(refusal(Table::<T>::load_cast(path)), reason);
            assert_eq!(refusal(Table::<f64>::load_cast(path)), reason);
        }
        Ok(any) => {
            assert_eq!(verify(path).unwrap(), reader.verify().unwrap());
            let loaded = table_of::<T>(&*any);
            assert_same(loaded, &mapped);
            assert_same(&Table::<T>::load(path).unwrap(), loaded);
            assert_same(&Table::<T>::load_cast(path).unwrap(), loaded);
            assert_same(&Table::<f64>::load_cast(path).unwrap(), &loaded.convert::<f64>().unwrap());
            check_saving(scratch, mapped, &*any);
        }
    }
}

/// Rows that are read from the file are those of the table.
fn check_rows<T: Element>(table: &Table<T>, reader: &TableReader) {
    let Shape { rows, columns } = table.shape();
    let by_rows = table.to_layout(DataLayout::RowMajor).unwrap();
    assert_same(&reader.load_rows::<T>(0..rows).unwrap(), &by_rows);
    let middle = rows / 3..rows - rows / 3;
    let converted = by_rows.convert::<f64>().unwrap();
    let expected = converted.slice_rows(middle.clone()).unwrap();
    assert_same(&reader.load_rows::<f64>(middle).unwrap(), &expected);

    let step = rows.div_ceil(3).max(1);
    let mut blocks = reader.row_blocks::<f64>(step).unwrap();
    let (mut next, values) = (0, converted.as_slice().unwrap());
    while let Some(block) = blocks.next_block().unwrap() {
        let found = block.row_range();
        assert_eq!(found, next..rows.min(next + step));
        let expected = &values[found.start * columns..found.end * columns];
        assert_eq!(bytemuck::cast_slice::<f64, u8>(&block), bytemuck::cast_slice::<f64, u8>(expected));
        next = found.end;
    }
    assert_eq!(next, rows);
    if let Some(end) = rows.checked_add(1) {
        assert!(
            reader.load_rows::<T>(0..end).is_err_and(|error| matches!(error.kind(), ErrorKind::RowsOutOfRange { .. }))
        );
    }
}

/// Whoever asks for another type than the file holds gets both named, before any value is looked at.
fn check_other_types<T: Element>(scratch: &Scratch) {
    fn is_mismatch<T: Element>(result: Result<Table<T>, Error>, stored: ElementType) -> bool {
        result.as_ref().is_err_and(|error| {
            matches!(
                error.kind(),
                ErrorKind::ElementTypeMismatch { expected, actual: found, .. } if *expected == T::TYPE && *found == stored
            )
        })
    }
    if T::TYPE == ElementType::F32 {
        assert!(is_mismatch(Table::<i64>::load(&scratch.file), T::TYPE) && is_mismatch(map::<i64>(scratch), T::TYPE));
    } else {
        assert!(is_mismatch(Table::<f32>::load(&scratch.file), T::TYPE) && is_mismatch(map::<f32>(scratch), T::TYPE));
    }
}

/// A table that was read is the same after it was saved, also over the file that it is mapped from.
fn check_saving<T: Element>(scratch: &Scratch, mapped: Table<T>, loaded: &(dyn NumericTable + 'static)) {
    loaded.save_with(&scratch.copy, options()).unwrap();
    assert!(verify(&scratch.copy).unwrap());
    assert_same(&Table::<T>::load(&scratch.copy).unwrap(), table_of(loaded));
    mapped.save_with(&scratch.file, options()).unwrap();
    assert_eq!(bytes_of(&mapped), bytes_of(table_of::<T>(loaded)));
    assert_eq!(fs::read(&scratch.file).unwrap(), fs::read(&scratch.copy).unwrap());
}
