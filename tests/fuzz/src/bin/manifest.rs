//! Manifests of table files: what is refused is refused for its bytes; what is accepted can be saved if its files are
//! right, and is read again, and nothing that it says of files that are there, missing or others does more than an
//! error.
//!
//! The checksum would stop almost every mutation: an input whose first byte is 0 is that and a manifest without its
//! checksum, which is made. Others are manifests as they are.

#![no_main]

use std::fs;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use numeric_table::prelude::*;
use numeric_table::{HomogenNumericTable, files::SaveOptions, shards::Shards, statistics::BasicStatistics};
use numeric_table_fuzz::{files_of_manifests, folder_in_memory, refusal};

/// A folder with the files that the seeds list, and one that they do not list.
struct Scratch {
    manifest: PathBuf,
    copy: PathBuf,
    more: PathBuf,
    _folder: tempfile::TempDir, // goes when the main thread ends well
}

impl Scratch {
    fn new() -> Self {
        let folder = folder_in_memory();
        files_of_manifests(folder.path()).unwrap();
        let more = folder.path().join("more.ntb");
        HomogenNumericTable::from_rows(&[[7.0_f32, 8.0]]).unwrap().save_with(&more, fast()).unwrap();
        let [manifest, copy] = ["shards.ntm", "copy.ntm"].map(|name| folder.path().join(name));
        Self { manifest, copy, more, _folder: folder }
    }
}

thread_local! {
    static SCRATCH: Scratch = Scratch::new();
}

fn fast() -> SaveOptions {
    SaveOptions::new().durable(false)
}

fuzz_target!(|data: &[u8]| {
    let manifest = match data {
        [0, rest @ ..] => [rest, &crc32fast::hash(rest).to_le_bytes()].concat(),
        whole => whole.to_vec(),
    };
    SCRATCH.with(|scratch| check(scratch, &manifest));
});

fn check(scratch: &Scratch, manifest: &[u8]) {
    let _ = fs::remove_file(&scratch.copy);
    fs::write(&scratch.manifest, manifest).unwrap();
    let mut shards = match Shards::open(&scratch.manifest) {
        Ok(shards) => shards,
        Err(error) => {
            refusal(Err::<(), _>(error));
            return;
        }
    };
    check_description(scratch, &shards);
    check_rows(&shards);

    // A manifest comes to list only files that are there and are as it says.
    if shards.save_manifest_with(&scratch.copy, fast()).is_err() {
        assert!(shards.verify().is_err() && !scratch.copy.exists());
        return;
    }
    let copy = Shards::open(&scratch.copy).unwrap();
    assert!(copy.files().eq(shards.files()));
    assert_eq!(copy.dictionary(), shards.dictionary());
    let saved = fs::read(&scratch.copy).unwrap();
    shards.save_manifest_with(&scratch.manifest, fast()).unwrap();
    assert_eq!(fs::read(&scratch.manifest).unwrap(), saved);
    let before = shards.shard_count();
    let appended = shards.append_with([&scratch.more], fast());
    let again = Shards::open(&scratch.manifest).unwrap();
    assert_eq!(again.shard_count(), before + usize::from(appended.is_ok()));
    assert!(again.files().eq(shards.files()));
}

fn check_description(scratch: &Scratch, shards: &Shards) {
    let (mut end, mut paths) = (0, Vec::new());
    for file in shards.files() {
        assert_eq!(file.rows.start, end);
        end = file.rows.end;
        assert!(file.path.starts_with(scratch.manifest.parent().unwrap()));
        assert!(!file.path.components().any(|part| part.as_os_str() == ".."));
        paths.push(file.path);
    }
    assert_eq!(shards.shape(), Shape { rows: end, columns: shards.dictionary().len() });
    paths.sort();
    assert!(!paths.is_empty() && paths.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Reads what can be read without the memory for what the manifest invents.
fn check_rows(shards: &Shards) {
    let Shape { rows, columns } = shards.shape();
    let is_right = shards.verify().is_ok();
    if columns > 1000 {
        return;
    }
    let reduced = shards.reduce(&BasicStatistics::new(columns).unwrap());
    assert!(reduced.is_ok() || !is_right);
    let loaded = shards.load_rows::<f64>(..rows.min(40));
    assert!(loaded.is_ok() || !is_right);
    let mut blocks = shards.row_blocks::<f32>(3).unwrap();
    while let Ok(Some(block)) = blocks.next_block() {
        assert!(block.row_range().len() <= 3);
    }
}
