//! Tables as `.npy` files and streams.

use std::io::Write;
use std::path::Path;

use super::header::NpyHeader;
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, Result};
use crate::base::progress::Meter;
use crate::files::options::SaveOptions;
use crate::files::output::{Lines, Output, PayloadWriter, for_each_piece};
use crate::files::replace::replace;
use crate::lines::AnyLines;
use crate::table::NumericTable;

/// The content of a file to be written.
struct NpyContent<'a, T> {
    /// The values in the order of the file.
    lines: &'a dyn Lines<T>,
    header: Vec<u8>,
}

/// Saves a table of any kind as a NumPy file.
///
/// # Errors
/// Those of [`TableOutput::save_npy_with`](crate::TableOutput::save_npy_with).
pub(crate) fn save_npy(table: &(dyn NumericTable + '_), path: &Path, options: &SaveOptions) -> Result<()> {
    let lines = AnyLines::in_order(table)?;
    match_element!(table.one_type()?, T => save(path, &content::<T>(&lines)?, options))
}

/// Writes a table of any kind to a stream, as a NumPy file.
///
/// # Errors
/// Those of [`TableOutput::write_npy`](crate::TableOutput::write_npy).
pub(crate) fn write_npy(table: &(dyn NumericTable + '_), sink: &mut dyn Write) -> Result<()> {
    let lines = AnyLines::in_order(table)?;
    match_element!(table.one_type()?, T => write(sink, &content::<T>(&lines)?))
}

fn content<'a, T: Element>(lines: &'a AnyLines<'_>) -> Result<NpyContent<'a, T>> {
    Ok(NpyContent { lines, header: NpyHeader::encode(T::TYPE, lines.layout(), lines.table_shape())? })
}

/// Returns the number of values and their size in bytes.
fn sizes<T: Element>(content: &NpyContent<'_, T>) -> Result<(usize, u64)> {
    let count = content.lines.shape().element_count_of(T::TYPE)?;
    Ok((count, (count * size_of::<T>()) as u64))
}

/// Saves a file. Its first bytes are written last, so that an incomplete file is never taken for an array.
fn save<T: Element>(path: &Path, content: &NpyContent<'_, T>, options: &SaveOptions) -> Result<()> {
    let (_, bytes) = sizes(content)?;
    replace(path, options, |sink| {
        let output = Output { sink, path };
        let meter = Meter::start(options.hook(), bytes);
        let offset = content.header.len() as u64;
        output.begin(offset + bytes)?;
        PayloadWriter { output: &output, offset, chunk_size: 0, meter: Some(&meter) }.write(content.lines, 0)?;
        content.lines.check_unchanged()?;
        output.write(&content.header, 0)
    })
}

fn write<T: Element>(sink: &mut dyn Write, content: &NpyContent<'_, T>) -> Result<()> {
    let (count, _) = sizes(content)?;
    let failed = |source| Error::stream(source);
    sink.write_all(&content.header).map_err(failed)?;
    for_each_piece(content.lines, 0..count, &mut |bytes| sink.write_all(bytes).map_err(failed))?;
    content.lines.check_unchanged()?;
    sink.flush().map_err(failed)
}
