//! Writing blocks of rows as CSV.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use numeric_table::csv::CsvWriteOptions;
use numeric_table::{DataDictionary, Error, Result, TableOutput};

use super::no_rows;
use crate::failure::other;
use crate::format::has_tabs;
use crate::input::Blocks;

/// Writes blocks as CSV, compressed as the name says. Returns the number of rows.
pub(super) fn write_csv(
    blocks: Blocks<'_>,
    dictionary: &DataDictionary,
    file: &mut (dyn Write + '_),
    path: &Path,
) -> Result<usize> {
    let name = path.to_string_lossy().to_lowercase();
    let failed = |error| Error::io(path, error);
    if name.ends_with(".gz") {
        let mut encoder = GzEncoder::new(file, Compression::default());
        let rows = write_text(blocks, dictionary, &mut encoder, &name)?;
        encoder.finish().map_err(failed)?;
        return Ok(rows);
    }
    if name.ends_with(".zst") {
        let mut encoder = zstd::Encoder::new(file, 3).map_err(failed)?;
        let rows = write_text(blocks, dictionary, &mut encoder, &name)?;
        encoder.finish().map_err(failed)?;
        return Ok(rows);
    }
    write_text(blocks, dictionary, file, &name)
}

fn write_text(blocks: Blocks<'_>, dictionary: &DataDictionary, mut out: impl Write, name: &str) -> Result<usize> {
    let delimiter = if has_tabs(Path::new(name)) { b'\t' } else { b',' };
    // The header is that of the first block, and there is none if no column has a name.
    let options = |is_first: bool| {
        let options = CsvWriteOptions::new().delimiter(delimiter);
        if is_first { options } else { options.header(false) }
    };
    let (mut rows, mut is_first) = (0, true);
    for block in blocks {
        let block = block?;
        if block.shape().columns == 0 {
            return Err(other("a table without columns cannot be written as CSV"));
        }
        block.write_csv_to(&mut out, options(is_first)).map_err(|error| error.moved(rows, 0))?;
        rows += block.shape().rows;
        is_first = false;
    }
    if is_first {
        no_rows(dictionary)?.write_csv_to(&mut out, options(true))?;
    }
    Ok(rows)
}
