//! The files of a table as they were when it was opened: their known properties, and the last one that was loaded.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use numeric_table::shards::{ShardInfo, Shards};
use numeric_table::{Error, ErrorKind, NumericTable};

/// The known properties of a file: its path, its rows, its bytes, its checksums.
pub(crate) type Known = (PathBuf, usize, u64, [u32; 2]);

/// Returns the known properties of all files.
pub(crate) fn known_of(shards: &Shards) -> Vec<Known> {
    let known = |file: ShardInfo<'_>| {
        // From anywhere else, the same file.
        let path = std::path::absolute(file.path).unwrap_or_else(|_| file.path.to_owned());
        (path, file.rows.len(), file.bytes, file.checksums)
    };
    shards.files().map(known).collect()
}

/// Returns the difference between a file and its known properties, if any.
pub(crate) fn change(known: &Known, found: &Known) -> Option<Error> {
    let (_, rows, bytes, [header, values]) = *known;
    let parts = [
        ("size in bytes", bytes, found.2),
        ("number of rows", rows as u64, found.1 as u64),
        ("checksum of the header", header.into(), found.3[0].into()),
        ("checksum of the values", values.into(), found.3[1].into()),
    ];
    let (part, expected, found) = parts.into_iter().find(|(_, expected, found)| expected != found)?;
    Some(Error::new(ErrorKind::ShardChanged { part, expected, actual: found }).in_file(&known.0))
}

/// The table of the most recently read file, with its index.
#[derive(Default)]
pub(crate) struct LastFile(Mutex<Option<(usize, Arc<dyn NumericTable>)>>);

impl LastFile {
    pub(crate) fn table(&self, place: usize, known: &Known) -> numeric_table::Result<Arc<dyn NumericTable>> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, table)) = &*kept()
            && *of == place
        {
            return Ok(table.clone());
        }
        *kept() = None; // frees it before more is allocated
        let table: Arc<dyn NumericTable> = Arc::from(load_known(known)?);
        *kept() = Some((place, table.clone()));
        Ok(table)
    }
}

/// Loads a file and verifies all its checksums, if it has the known properties.
pub(crate) fn load_known(known: &Known) -> numeric_table::Result<Box<dyn NumericTable>> {
    let shards = Shards::from_paths([&known.0])?;
    match known_of(&shards).into_iter().find_map(|found| change(known, &found)) {
        Some(error) => Err(error),
        None => numeric_table::files::load(&known.0),
    }
}
