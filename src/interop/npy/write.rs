//! Tables as `.npy` files and streams.

use std::io::Write;
use std::path::Path;

use super::header::NpyHeader;
use crate::base::element::ElementType;
use crate::base::error::{Error, Result};
use crate::base::progress::Meter;
use crate::base::trace::{self, CopyKind};
use crate::interop::gaps::refuse_missing;
use crate::lines::AnyLines;
use crate::storage::options::SaveOptions;
use crate::storage::output::{Lines, Output, PayloadWriter, for_each_piece};
use crate::storage::replace::replace;
use crate::table::NumericTable;

/// The contents of a file to write.
struct NpyContent<'a> {
    /// The values in file order.
    lines: &'a dyn Lines,
    element: ElementType,
    header: Vec<u8>,
}

/// Saves a table of any kind as a NumPy file.
///
/// # Errors
/// Those of [`TableOutput::save_npy_with`](crate::TableOutput::save_npy_with).
pub(crate) fn save_npy(table: &(dyn NumericTable + '_), path: &Path, options: &SaveOptions) -> Result<()> {
    refuse_missing(table, "NumPy", options.replaces_missing())?;
    let lines = AnyLines::in_order(table)?;
    save(path, &content(&lines, table.one_type()?)?, options)
}

/// Writes a table of any kind to a stream, as a NumPy file.
///
/// # Errors
/// Those of [`TableOutput::write_npy`](crate::TableOutput::write_npy).
pub(crate) fn write_npy(table: &(dyn NumericTable + '_), sink: &mut dyn Write) -> Result<()> {
    refuse_missing(table, "NumPy", false)?;
    let lines = AnyLines::in_order(table)?;
    write(sink, &content(&lines, table.one_type()?)?)
}

fn content<'a>(lines: &'a AnyLines<'_>, element: ElementType) -> Result<NpyContent<'a>> {
    Ok(NpyContent { lines, element, header: NpyHeader::encode(element, lines.layout(), lines.table_shape())? })
}

/// Returns the number of values and their size in bytes.
fn sizes(content: &NpyContent<'_>) -> Result<(usize, u64)> {
    let count = content.lines.shape().element_count_of(content.element)?;
    Ok((count, (count * content.element.size_in_bytes()) as u64))
}

/// Saves a file. Writes its first bytes last, so that an incomplete file is never taken for an array.
fn save(path: &Path, content: &NpyContent<'_>, options: &SaveOptions) -> Result<()> {
    let (_, bytes) = sizes(content)?;
    replace(path, options, |sink| {
        let output = Output { sink, path };
        let meter = Meter::start(options.hook(), bytes);
        let offset = content.header.len() as u64;
        output.begin(offset + bytes)?;
        let payload = PayloadWriter { output: &output, offset, chunk_size: 0, meter: Some(&meter) };
        payload.write_unchanged(content.lines, content.element, 0)?;
        output.write(&content.header, 0)
    })?;
    trace::record_long(CopyKind::Saved, bytes);
    Ok(())
}

fn write(sink: &mut dyn Write, content: &NpyContent<'_>) -> Result<()> {
    let (NpyContent { lines, element, .. }, (count, bytes)) = (content, sizes(content)?);
    let failed = |source| Error::stream(source);
    sink.write_all(&content.header).map_err(failed)?;
    for_each_piece(*lines, *element, 0..count, &mut |bytes| sink.write_all(bytes).map_err(failed))?;
    lines.check_unchanged(*element)?;
    sink.flush().map_err(failed)?;
    trace::record_long(CopyKind::Saved, bytes);
    Ok(())
}
