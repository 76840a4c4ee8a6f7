//! What the calls share: ranges that may lie outside, sinks that fill up.

use std::path::Path;

use numeric_table::prelude::*;

/// How many blocks of an iterator are looked at: there may be 2^64.
pub(crate) const FEW: usize = 3;

/// Ranges of rows that lie inside of some table, and some that lie inside of none.
#[allow(clippy::reversed_empty_ranges)]
pub(crate) fn row_ranges(rows: usize) -> [std::ops::Range<usize>; 7] {
    [0..rows, 0..0, rows..rows, rows.saturating_sub(1)..rows, 0..usize::MAX, usize::MAX..usize::MAX, 1..0]
}

pub(crate) fn columns_of(columns: usize) -> [usize; 4] {
    [0, columns / 2, columns.saturating_sub(1), columns]
}

/// A save that says that it worked has written a file that can be read and has the same shape.
pub(crate) fn check_file(
    saved: Result<(), Error>,
    path: &Path,
    shape: Shape,
    load: fn(&Path) -> Result<Box<dyn NumericTable>, Error>,
) {
    match saved {
        Ok(()) => assert_eq!(load(path).unwrap().shape(), shape),
        Err(_) => assert!(!path.exists(), "a failed save left a file"),
    }
    let _ = std::fs::remove_file(path);
}

/// Takes so much text and refuses what would be more.
pub(crate) struct Bounded(pub(crate) usize);

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 = self.0.checked_sub(text.len()).expect("a table prints megabytes");
        Ok(())
    }
}

/// A sink that fails after so many bytes: writing out 2^62 of anything takes centuries.
pub(crate) struct Sink(pub(crate) usize);

impl std::io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) const SINK: usize = 1 << 20;
pub(crate) const PRINTED: usize = 4 << 20;
