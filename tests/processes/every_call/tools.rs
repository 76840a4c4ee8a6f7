//! What the calls share: ranges that may lie outside, sinks that fill up.

use std::hint::black_box;
use std::path::Path;

use numeric_table::execution::{Kernels, StreamOptions, StreamRows};
use numeric_table::prelude::*;
use test_support::tables::LAYOUTS;

use super::Table;

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

pub(crate) fn on_device<T: Element, D: Kernels + Clone>(table: &Table<T>, device: &D) {
    let _ = black_box(table.to_device::<T, D>(device).map(|there| there.to_table()));
    if let Ok(there) = table.to_device::<f64, D>(device) {
        let Shape { rows, .. } = there.shape();
        for range in row_ranges(rows) {
            let _ = black_box(there.pull_rows::<f32>(range));
        }
        for layout in LAYOUTS {
            let _ = black_box(there.to_layout(layout));
        }
        for columns in [vec![], vec![0], vec![usize::MAX], vec![0; 5]] {
            let _ = black_box(there.select_columns(&columns));
        }
        let _ = black_box(there.convert::<u8>(ConversionPolicy::Exact));
    }
    for rows in [0, 1, 1000, usize::MAX] {
        for slots in [0, 1, 3] {
            let options = StreamOptions { rows, slots, ..StreamOptions::default() };
            if let Ok(mut stream) = table.stream_rows::<f64, D>(device, options) {
                for _ in 0..FEW {
                    let _ = black_box(stream.next().map(|block| block.map(|block| block.shape())));
                }
            }
        }
    }
}
