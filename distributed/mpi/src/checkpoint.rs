//! Results of single shards, kept in a folder until the job has ended.
//!
//! A file holds the question (the empty result), which shard it is, and the answer. It is written whole or not at all,
//! and used only if question and shard are the same, bit for bit: files of other jobs are ignored, and replaced. A
//! shard without checksums of its values cannot be told from another one of the same shape: its result is not kept.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use numeric_table::{Error, Partial, Result, ShardInfo, Shards};

/// The first bytes.
const MAGIC: &[u8; 8] = b"NTSHARD\n";

/// A folder of results.
pub(crate) struct Checkpoint<'a> {
    folder: &'a Path,
    /// The question, in bytes.
    question: Vec<u8>,
    /// What tells each shard from others, if something does.
    identities: Vec<Option<Vec<u8>>>,
}

impl<'a> Checkpoint<'a> {
    pub(crate) fn open<P: Partial>(folder: &'a Path, shards: &Shards, empty: &P) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))?;
        Ok(Self {
            folder,
            question: empty.empty()?.to_bytes()?,
            identities: shards.files().map(|file| known(shards, &file)).collect(),
        })
    }

    /// Computes the result of a run of shards, of those that are not kept, and keeps them.
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
        all.map_or_else(|| empty.empty(), Ok)
    }

    fn path(&self, shard: usize) -> PathBuf {
        self.folder.join(format!("shard-{shard:09}.partial"))
    }

    /// Removes what jobs that were killed have left half written.
    pub(crate) fn clean(&self) {
        let files = fs::read_dir(self.folder).into_iter().flatten().flatten().map(|file| file.path());
        let is_left = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tmp");
        files.filter(is_left).for_each(|path| drop(fs::remove_file(path))); // what stays only takes room
    }

    /// Everything before the answer, if it can be kept.
    fn head(&self, shard: usize) -> Option<Vec<u8>> {
        let identity = self.identities[shard].as_ref()?;
        let mut head = MAGIC.to_vec();
        for part in [&self.question, identity] {
            head.extend((part.len() as u64).to_le_bytes());
            head.extend(part);
        }
        Some(head)
    }

    /// Returns the result of a shard, if it is there.
    fn read<P: Partial>(&self, shard: usize) -> Result<Option<P>> {
        let Some(head) = self.head(shard) else { return Ok(None) };
        let Ok(bytes) = fs::read(self.path(shard)) else { return Ok(None) };
        Ok(bytes.strip_prefix(&head[..]).and_then(|answer| P::from_bytes(answer).ok()))
    }

    /// Keeps the result of a shard.
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

/// Returns what tells a shard from others of the same table, if it has values and checksums of them, or no values.
fn known(shards: &Shards, file: &ShardInfo<'_>) -> Option<Vec<u8>> {
    let has_values = !file.rows.is_empty() && shards.shape().columns > 0;
    (file.checksums[1] != 0 || !has_values).then(|| identity(file))
}

/// What tells a shard from others: its rows, its size and its checksums.
pub(crate) fn identity(file: &ShardInfo<'_>) -> Vec<u8> {
    let numbers = [file.rows.len() as u64, file.bytes].map(u64::to_le_bytes).concat();
    [numbers, file.checksums.map(u32::to_le_bytes).concat()].concat()
}
