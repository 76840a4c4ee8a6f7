//! Damaged and invented manifests of table files: opening one takes at most 5 times its size, and for each file twice
//! the path of its folder, plus 64 KiB of memory; and many writers of files keep one description of the columns.

use std::fs;
use std::path::Path;

use numeric_table::{
    files::SaveOptions,
    prelude::*,
    shards::{Shards, ShardsWriter},
};
use test_support::bits::Random;

use super::counting::measured;
use super::scratch::Scratch;

/// A manifest whose last bytes, its checksum, are missing.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// Opens a manifest within the limits; `files` is the largest number that it may have.
fn open_within_limits(path: &Path, bytes: &[u8], files: usize) -> Option<usize> {
    fs::write(path, bytes).unwrap();
    let limit = 5 * bytes.len() + files * 2 * path.as_os_str().len() + (64 << 10);
    let name = || format!("a manifest of {} bytes", bytes.len());
    let (result, peak, largest) = measured(&name, || Shards::open(path));
    assert!(peak <= limit && largest <= limit, "{}: {peak} bytes at once, {largest} for one request", name());
    match result.map_err(Error::into_kind) {
        Ok(shards) => Some(shards.shard_count()),
        Err(ErrorKind::Format { .. } | ErrorKind::OutOfMemory) => None,
        Err(other) => panic!("{other:?}"),
    }
}

/// The manifest of so many files, without its checksum, and where the first record begins.
fn manifest_of(dictionary: &DataDictionary, files: usize) -> (Vec<u8>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let (file, path) = (folder.path().join("a.ntb"), folder.path().join("shards.ntm"));
    let table = HomogenNumericTable::<f32>::from_array(Vec::new(), Shape { rows: 0, columns: dictionary.len() });
    let table = table.and_then(|table| table.with_dictionary(dictionary.clone())).unwrap();
    table.save_with(&file, SaveOptions::new().durable(false)).unwrap();
    Shards::from_paths([&file]).unwrap().save_manifest_with(&path, SaveOptions::new().durable(false)).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let start = bytes.len() - 4 - (32 + "a.ntb".len());
    bytes.truncate(start);
    bytes[16..24].copy_from_slice(&(files as u64).to_le_bytes());
    for file in 0..files {
        let name = format!("{file:x}");
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.extend(name.bytes());
        bytes.extend([1, 4132].map(u64::to_le_bytes).concat());
        bytes.extend([0; 8]);
    }
    (bytes, start)
}

#[test]
fn opening_a_manifest_takes_a_few_times_its_bytes_whatever_it_claims() {
    let scratch = Scratch::new();
    let plain = DataDictionary::uniform(Feature::new(ElementType::F32), 3);
    let named = (0..40).map(|column| Feature::new(ElementType::F32).named(format!("{column}"))).collect();
    let mut random = Random::new(41);
    // 28,673 paths are one more than a set of that size has room for.
    for (dictionary, files) in [(&plain, 1), (&named, 3), (&plain, 28_673)] {
        let (body, start) = manifest_of(dictionary, files);
        assert_eq!(open_within_limits(&scratch.path, &signed(body.clone()), files), Some(files));
        let rounds = if files > 1000 { 12 } else { 300 };
        for round in 0..rounds {
            let mut changed = body.clone();
            let at = match round % 3 {
                0 => 16 + round / 3 % (start + 8 - 16), // numbers of files, columns and bytes, and the first path
                1 => start + random.below(body.len() - start),
                _ => 16,
            };
            let claims = [u64::MAX, 1 << 62, 1 << 40, 1 << 31, 1 << 24, 0, (body.len() - start) as u64 / 32];
            let claim = claims[random.below(claims.len())].to_le_bytes();
            let room = claim.len().min(changed.len() - at);
            changed[at..at + room].copy_from_slice(&claim[..room]);
            open_within_limits(&scratch.path, &signed(changed), files);
            open_within_limits(&scratch.path, &signed(body[..at].to_vec()), files);
        }
    }
}

#[test]
fn writers_of_many_files_keep_one_description_of_their_columns() {
    let scratch = Scratch::new();
    let names = (0..4000).map(|column| Feature::new(ElementType::U8).named(format!("column {column}")));
    let names: DataDictionary = names.collect();
    let options = SaveOptions::new().durable(false);
    let write = |files: usize| {
        let folder = scratch.path.with_file_name(files.to_string());
        let writer = ShardsWriter::<u8>::create_with(folder, 4000, names.clone(), options.clone()).unwrap();
        (0..files).for_each(|file| writer.shard(file).unwrap().finish().unwrap());
        writer.finish().unwrap().shard_count()
    };
    let (_, one, _) = measured(&|| "one file".to_owned(), || write(1));
    let (_, many, _) = measured(&|| "many files".to_owned(), || write(40));
    assert!(many < 2 * one, "{many} bytes for 40 files, and {one} for one");
}
