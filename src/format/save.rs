//! Saving whole tables.

use std::path::Path;

use super::plan::FilePlan;
use crate::base::error::Result;
use crate::storage::options::SaveOptions;
use crate::storage::output::Output;
use crate::storage::replace::replace;
use crate::table::NumericTable;

/// Saves a table of any kind as a file.
///
/// # Errors
/// The errors of [`TableOutput::save`](crate::TableOutput::save).
pub(crate) fn save(table: &(dyn NumericTable + '_), path: &Path, options: &SaveOptions) -> Result<()> {
    let plan = FilePlan::new(table, options.chunk_size()).map_err(|error| error.in_written_file(path))?;
    replace(path, options, |sink| plan.write(&Output { sink, path }, options.hook()))
}
