//! Results of single shards, kept in a folder until the job has ended.
//!
//! A file holds the question (the empty result), which shard it is, and the answer. It is written whole or not at all,
//! and used only if question and shard are the same, bit for bit: files of other jobs are ignored, and replaced.

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
    /// What tells each shard from others.
    identities: Vec<Vec<u8>>,
}

impl<'a> Checkpoint<'a> {
    pub(crate) fn open<P: Partial>(folder: &'a Path, shards: &Shards, empty: &P) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.to_owned(), source })?;
        Ok(Self {
            folder,
            question: empty.empty()?.to_bytes()?,
            identities: shards.files().map(|file| identity(&file)).collect(),
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

    /// Everything before the answer.
    fn head(&self, shard: usize) -> Vec<u8> {
        let mut head = MAGIC.to_vec();
        for part in [&self.question, &self.identities[shard]] {
            head.extend((part.len() as u64).to_le_bytes());
            head.extend(part);
        }
        head
    }

    /// Returns the result of a shard, if it is there.
    fn read<P: Partial>(&self, shard: usize) -> Result<Option<P>> {
        let head = self.head(shard);
        let Ok(bytes) = fs::read(self.path(shard)) else { return Ok(None) };
        Ok(bytes.strip_prefix(&head[..]).and_then(|answer| P::from_bytes(answer).ok()))
    }

    /// Keeps the result of a shard.
    fn write<P: Partial>(&self, shard: usize, answer: &P) -> Result<()> {
        let mut bytes = self.head(shard);
        bytes.extend(answer.to_bytes()?);
        let path = self.path(shard);
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, &path));
        written.map_err(|source| {
            let _ = fs::remove_file(&temporary); // the first failure is the error
            Error::Io { path, source }
        })
    }
}

/// What tells a shard from others: its rows, its size and its checksums.
pub(crate) fn identity(file: &ShardInfo<'_>) -> Vec<u8> {
    let numbers = [file.rows.len() as u64, file.bytes].map(u64::to_le_bytes).concat();
    [numbers, file.checksums.map(u32::to_le_bytes).concat()].concat()
}
