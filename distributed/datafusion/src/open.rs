//! Opens shards: returns their rows as tables, a complete file or a part at a time. The only unsafe block of this
//! crate.

use datafusion::arrow::datatypes::ArrowPrimitiveType;
use numeric_table::prelude::*;
use numeric_table::{
    ElementType, Error, Result,
    files::{self, TableReader},
    shards::{ShardInfo, Shards},
};

use crate::types::match_arrow;

/// Approximate number of bytes read at a time from row-major files.
const PART_BYTES: usize = 4 << 20;

/// How the values of files are accessed.
///
/// Invariant: `Mapped` is created only under the promise that no file is written to or truncated while an array that
/// shares its memory exists.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    Loaded,
    Mapped,
}

/// Opens a file, and checks that it is the expected one: O(columns), and 4 bytes for each checksum of values.
///
/// # Errors
/// [`ErrorKind::ShardChanged`]; [`ErrorKind::Io`]; [`ErrorKind::Format`]; [`ErrorKind::OutOfMemory`]. All but the last
/// name the file.
pub(crate) fn open(file: &ShardInfo<'_>) -> Result<Shards> {
    let own = Shards::from_paths([file.path])?;
    for found in own.files() {
        let [header, values] = [0, 1].map(|part| (file.checksums[part].into(), found.checksums[part].into()));
        let facts = [
            ("size in bytes", (file.bytes, found.bytes)),
            ("number of rows", (file.rows.len() as u64, found.rows.len() as u64)),
            ("checksum of the header", header),
            ("checksum of the values", values),
        ];
        if let Some((part, (expected, found))) = facts.into_iter().find(|(_, (expected, found))| expected != found) {
            return Err(Error::new(ErrorKind::ShardChanged { part, expected, actual: found }).in_file(file.path));
        }
    }
    Ok(own)
}

/// Returns tables that together have the rows of a file, in order. After an error, the iteration ends.
///
/// # Errors
/// Those of [`open`], and of loading values.
pub(crate) fn tables(file: &ShardInfo<'_>, access: Access) -> Result<Tables> {
    if let Access::Mapped = access {
        let own = open(file)?;
        // SAFETY: the promise that `Access::Mapped` was made with: nobody writes to the file while its arrays live.
        #[allow(unsafe_code)]
        let table = unsafe { own.map() }?;
        return Ok(Tables::Whole(Some(Box::new(table))));
    }
    if TableReader::open(file.path).is_ok_and(|reader| reader.data_layout() == DataLayout::RowMajor) {
        let own = open(file)?;
        let Shape { rows, columns } = own.shape();
        let element = own.uniform_type().unwrap_or(ElementType::U8); // for tables without columns
        let bytes = columns.saturating_mul(element.size_in_bytes());
        let rows_at_once = (PART_BYTES / bytes.max(1)).clamp(1, rows.max(1));
        return Ok(Tables::Parts { own, element, rows_at_once, next_row: 0 });
    }
    let table = files::load(file.path)?;
    open(file)?; // the loaded file is the expected one, if it still exists
    Ok(Tables::Whole(Some(table)))
}

/// Iterator over tables that together have the rows of a file.
pub(crate) enum Tables {
    Whole(Option<Box<dyn NumericTable>>),
    /// Parts of a row-major file. For each part, the library checks that the description of the file is unchanged, but
    /// does not check the values.
    Parts {
        own: Shards,
        element: ElementType,
        rows_at_once: usize,
        next_row: usize,
    },
}

impl Iterator for Tables {
    type Item = Result<Box<dyn NumericTable>>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Whole(table) => table.take().map(Ok),
            Self::Parts { own, element, rows_at_once, next_row } => {
                let row_count = own.shape().rows;
                let rows = *next_row..next_row.saturating_add(*rows_at_once).min(row_count);
                *next_row = rows.end;
                (!rows.is_empty()).then(|| {
                    match_arrow!(*element, P => {
                        own.load_rows::<<P as ArrowPrimitiveType>::Native>(rows).map(|part| Box::new(part) as _)
                    })
                })
            }
        }
    }
}
