//! Writing text: chunks of rows are formatted in parallel and written in order.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::table::csr::index::Indices;

/// Number of entries, and of rows, that one task formats at a time.
const CHUNK: usize = 32 << 10;

/// A byte of a value takes about as much work as this many bytes that are only copied.
const WEIGHT: usize = 16;

/// Writes `head` and then the text of all rows. `path` is the target's path in errors. Nothing is written before the
/// first chunks are formatted.
pub(super) fn write(
    writer: &mut dyn Write,
    path: Option<&Path>,
    mut head: &[u8],
    offsets: Indices<'_>,
    rows: usize,
    format: impl Fn(Range<usize>) -> Result<Vec<u8>> + Sync,
) -> Result<()> {
    let failed = |source| Error::stream(source).in_some_file(path);
    let entries = if rows == 0 { 0 } else { offsets.at(rows) };
    let wave = parallel::task_count(rows.saturating_add(entries).saturating_mul(WEIGHT)).max(1);
    let mut next = 0;
    loop {
        let mut chunks = Vec::new();
        while chunks.len() < wave && next < rows {
            let chunk = next..end_of_chunk(offsets, next, rows);
            next = chunk.end;
            chunks.push(chunk);
        }
        let texts = parallel::map(chunks, &format).into_iter().collect::<Result<Vec<_>>>()?;
        writer.write_all(std::mem::take(&mut head)).map_err(failed)?;
        texts.iter().try_for_each(|text| writer.write_all(text)).map_err(failed)?;
        if next == rows {
            return writer.flush().map_err(failed);
        }
    }
}

/// Returns the end of the chunk of rows that begins at `start`: at least one row.
fn end_of_chunk(offsets: Indices<'_>, start: usize, rows: usize) -> usize {
    let limit = offsets.at(start).saturating_add(CHUNK);
    let (mut low, mut high) = (start + 1, rows.min(start + CHUNK));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if offsets.at(middle) <= limit { low = middle } else { high = middle - 1 }
    }
    low
}
