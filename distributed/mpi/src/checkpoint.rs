//! Results of single shards, saved in a folder until the job has ended.
//!
//! A file contains the prototype (the empty result), the identity of the shard, and the answer. It is written
//! atomically, and used only if prototype and shard match bit for bit. Files of other jobs are ignored and replaced. A
//! shard without checksums of its values cannot be distinguished from another one of the same shape, so its result is
//! not saved.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use numeric_table::{
    Error, Partial, Result,
    shards::{ShardInfo, Shards},
};

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"NTSHARD\n";

/// A folder of results.
pub(crate) struct Checkpoint<'a> {
    folder: &'a Path,
    /// The serialized prototype.
    prototype: Vec<u8>,
    /// The identity of each shard, if it has one.
    identities: Vec<Option<Vec<u8>>>,
}

impl<'a> Checkpoint<'a> {
    pub(crate) fn open<P: Partial>(folder: &'a Path, shards: &Shards, empty: &P) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))?;
        Ok(Self {
            folder,
            prototype: empty.new_like()?.to_bytes()?,
            identities: shards.files().map(|file| known(shards, &file)).collect(),
        })
    }

    /// Computes the result of a run of shards. Reuses saved results, and saves new ones.
    pub(crate) fn reduce<P: Partial>(&self, shards: &Shards, run: Range<usize>, empty: &P) -> Result<P> {
        let mut all: Option<P> = None;
        for shard in run {
            let own = match self.read(shard)? {
                Some(kept) => kept,
                None => {
                    let own = shards.reduce_shard(shard, empty)?;
                    self.write(shard, &own)?;
                    own
                }
            };
            match &mut all {
                Some(all) => all.merge(&own)?,
                None => all = Some(own),
            }
        }
        all.map_or_else(|| empty.new_like(), Ok)
    }

    fn path(&self, shard: usize) -> PathBuf {
        self.folder.join(format!("shard-{shard:09}.partial"))
    }

    /// Removes partly written files of killed jobs.
    pub(crate) fn clean(&self) {
        let files = fs::read_dir(self.folder).into_iter().flatten().flatten().map(|file| file.path());
        let is_left = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tmp");
        files.filter(is_left).for_each(|path| drop(fs::remove_file(path))); // files that remain only take space
    }

    /// Returns everything before the answer, if the answer can be saved.
    fn head(&self, shard: usize) -> Option<Vec<u8>> {
        let identity = self.identities[shard].as_ref()?;
        let mut head = MAGIC.to_vec();
        for part in [&self.prototype, identity] {
            head.extend((part.len() as u64).to_le_bytes());
            head.extend(part);
        }
        Some(head)
    }

    /// Returns the saved result of a shard, if there is one.
    fn read<P: Partial>(&self, shard: usize) -> Result<Option<P>> {
        let Some(head) = self.head(shard) else { return Ok(None) };
        let Ok(bytes) = fs::read(self.path(shard)) else { return Ok(None) };
        Ok(bytes.strip_prefix(&head[..]).and_then(|answer| P::from_bytes(answer).ok()))
    }

    /// Saves the result of a shard.
    fn write<P: Partial>(&self, shard: usize, answer: &P) -> Result<()> {
        let Some(mut bytes) = self.head(shard) else { return Ok(()) };
        bytes.extend(answer.to_bytes()?);
        let path = self.path(shard);
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, &path));
        written.map_err(|source| {
            let _ = fs::remove_file(&temporary); // the first failure is the error
            Error::io(path, source)
        })
    }
}

/// Returns the identity of a shard within the table, if it has no values, or values with checksums.
fn known(shards: &Shards, file: &ShardInfo<'_>) -> Option<Vec<u8>> {
    let has_values = !file.rows.is_empty() && shards.shape().columns > 0;
    (file.checksums[1] != 0 || !has_values).then(|| identity(file))
}

/// Returns the identity of a shard: its rows, its size and its checksums.
pub(crate) fn identity(file: &ShardInfo<'_>) -> Vec<u8> {
    let numbers = [file.rows.len() as u64, file.bytes].map(u64::to_le_bytes).concat();
    [numbers, file.checksums.map(u32::to_le_bytes).concat()].concat()
}
