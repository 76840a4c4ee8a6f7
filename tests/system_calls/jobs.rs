//! What is done to files while calls fail: one job for each way to save, add to, read and map a table.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use numeric_table::array::Validity;
use numeric_table::csv::CsvSource;
use numeric_table::files::{self, SaveOptions, TableReader, TableWriter, verify};
use numeric_table::prelude::*;
use numeric_table::shards::{Shards, ShardsWriter};
use numeric_table::{AnyArray, SoaNumericTable};
use test_support::tables::shape;

pub(crate) type Done = Result<(), Error>;

/// What an error may leave behind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Promise {
    /// The old table, complete.
    Atomic,
    /// A file that a reader refuses, or the old table, or the new one.
    InPlace,
    /// All files as they were.
    Reads,
}

/// Something that is done in a folder.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) name: &'static str,
    pub(crate) promise: Promise,
    /// Everything is on the disk when it returns.
    pub(crate) is_durable: bool,
    pub(crate) prepare: fn(&Path),
    pub(crate) run: fn(&Path) -> Done,
    /// Reads what a job has written: which of the two tables it is. Reading jobs have written nothing.
    pub(crate) read: fn(&Path) -> Result<Found, Error>,
}

/// What a reader finds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Found {
    Nothing,
    Old,
    New,
    /// Neither the old nor the new values.
    Other,
}

type Floats = HomogenNumericTable<f32>;

fn old_table() -> Floats {
    Floats::from_array(vec![7.0_f32, -1.0, 2.5], shape(3, 1)).unwrap()
}

fn new_table() -> Floats {
    Floats::from_array((0..24).map(|i| i as f32 * 0.5 + 1.0).collect::<Vec<_>>(), shape(8, 3)).unwrap()
}

/// Columns of two types with names, labels and a gap.
fn mixed_table() -> SoaNumericTable {
    let columns = [("a", AnyArray::from(vec![1_i64, i64::MAX, -3])), ("b", AnyArray::from(vec![0.1_f32, 0.2, 0.3]))];
    let mut table = SoaNumericTable::from_columns(columns).unwrap();
    let gap = Validity::from_flags(&[true, false, true]).unwrap();
    table.set_nullable_column(1, vec![0.1_f32, 0.0, 0.3], Some(gap)).unwrap();
    table
}

/// Enough for several threads.
fn large_table() -> &'static Floats {
    static TABLE: OnceLock<Floats> = OnceLock::new();
    TABLE.get_or_init(|| {
        let values: Vec<f32> = (0..1 << 20).map(|i| i as f32).collect();
        Floats::from_array(values, shape(1 << 18, 4)).unwrap()
    })
}

fn which(table: &dyn NumericTable, old: &dyn NumericTable, new: &dyn NumericTable) -> Found {
    let same = |other: &dyn NumericTable| {
        table.shape() == other.shape()
            && (0..other.column_count()).all(|column| {
                (0..other.row_count()).all(|row| {
                    table.value::<f64>(row, column).map(f64::to_bits).ok()
                        == other.value::<f64>(row, column).map(f64::to_bits).ok()
                })
            })
    };
    if same(old) {
        Found::Old
    } else if same(new) {
        Found::New
    } else {
        Found::Other
    }
}

fn read_table(folder: &Path) -> Result<Found, Error> {
    let path = folder.join("table.ntb");
    if !path.exists() {
        return Ok(Found::Nothing);
    }
    verify(&path)?;
    let table = files::load(path)?;
    Ok(match table.column_count() {
        2 => {
            if table.to_bytes()? == mixed_table().to_bytes()? {
                Found::New
            } else {
                Found::Other
            }
        }
        _ => which(&*table, &old_table(), &new_table()),
    })
}

fn read_large(folder: &Path) -> Result<Found, Error> {
    let table = files::load(folder.join("table.ntb"))?;
    if table.shape() == shape(3, 1) {
        return read_table(folder);
    }
    Ok(if table.rows::<f32>(..)?[..] == large_table().rows::<f32>(..)?[..] { Found::New } else { Found::Other })
}

fn read_npy(folder: &Path) -> Result<Found, Error> {
    let path = folder.join("table.npy");
    if !path.exists() {
        return Ok(Found::Nothing);
    }
    Ok(which(&Floats::load_npy(path)?, &old_table(), &new_table()))
}

fn read_csv(folder: &Path) -> Result<Found, Error> {
    let path = folder.join("table.csv");
    if !path.exists() {
        return Ok(Found::Nothing);
    }
    Ok(which(&CsvSource::open(path)?.load::<f32>()?, &old_table(), &new_table()))
}

fn shard(rows: std::ops::Range<usize>) -> Floats {
    new_table().slice_rows(rows).unwrap()
}

/// Rows 0 to 2 are the old table of files, all rows the new one.
fn read_shards(folder: &Path) -> Result<Found, Error> {
    let path = folder.join("many").join(Shards::MANIFEST);
    if !path.exists() {
        return Ok(Found::Nothing);
    }
    let shards = Shards::open(path)?.with_verification(true);
    Ok(which(&shards.load::<f32>()?, &shard(0..2), &new_table()))
}

fn nothing(_: &Path) {}

fn old_files(folder: &Path) {
    old_table().save(folder.join("table.ntb")).unwrap();
    old_table().save_npy(folder.join("table.npy")).unwrap();
    old_table().write_csv(folder.join("table.csv")).unwrap();
}

fn new_files(folder: &Path) {
    new_table().save(folder.join("table.ntb")).unwrap();
    new_table().save_npy(folder.join("table.npy")).unwrap();
    new_table().write_csv(folder.join("table.csv")).unwrap();
    write_shards(folder).unwrap();
}

fn link(folder: &Path) {
    old_table().save(folder.join("other.ntb")).unwrap();
    std::os::unix::fs::symlink("other.ntb", folder.join("table.ntb")).unwrap();
}

fn stream(folder: &Path) -> Done {
    let mut writer = TableWriter::<f32>::create(folder.join("table.ntb"), 3, None)?;
    writer.append(&new_table().rows::<f32>(0..5)?[..])?;
    writer.append_table(&shard(5..8))?;
    writer.finish()
}

fn copy(folder: &Path) -> Done {
    let reader = TableReader::open(folder.join("source.ntb"))?;
    let options = SaveOptions::new().checksums(None);
    let mut writer = TableWriter::<f32>::create_with(folder.join("table.ntb"), 3, None, options)?;
    writer.copy_rows(&reader, ..)?;
    writer.finish()
}

fn write_shards(folder: &Path) -> Done {
    let writer = ShardsWriter::<f32>::create(folder.join("many"), 3, None)?;
    for (index, rows) in [0..2, 2..6, 6..8].into_iter().enumerate() {
        let mut part = writer.shard(index)?;
        part.append_table(&shard(rows))?;
        part.finish()?;
    }
    writer.finish().map(drop)
}

fn one_shard(folder: &Path) {
    let writer = ShardsWriter::<f32>::create(folder.join("many"), 3, None).unwrap();
    let mut part = writer.shard(0).unwrap();
    part.append_table(&shard(0..2)).unwrap();
    part.finish().unwrap();
    writer.finish().unwrap();
    shard(2..8).save(folder.join("many/more.ntb")).unwrap();
}

fn append(folder: &Path) -> Done {
    Shards::open(folder.join("many"))?.append([folder.join("many/more.ntb")])
}

/// Without a manifest, as a killed writer leaves them.
fn two_parts(folder: &Path) {
    fs::create_dir(folder.join("many")).unwrap();
    shard(0..2).save(folder.join("many/part-000000.ntb")).unwrap();
    shard(6..8).save(folder.join("many/part-000002.ntb")).unwrap();
}

fn resume(folder: &Path) -> Done {
    let writer = ShardsWriter::<f32>::resume(folder.join("many"), 3, None)?;
    for index in writer.missing(3) {
        let mut part = writer.shard(index)?;
        part.append_table(&shard([0..2, 2..6, 6..8][index].clone()))?;
        part.finish()?;
    }
    writer.finish().map(drop)
}

fn check(table: &dyn NumericTable) {
    assert_eq!(which(table, &old_table(), &new_table()), Found::New, "wrong values");
}

fn read_all(folder: &Path) -> Done {
    let path = folder.join("table.ntb");
    check(&*files::load(&path)?);
    check(&Floats::load(&path)?);
    check(&HomogenNumericTable::<f64>::load_cast(&path)?);
    assert!(verify(&path)?);
    let reader = TableReader::open(&path)?.with_verification(true)?;
    check(&*reader.load_any()?);
    assert_eq!(reader.load_rows::<f32>(2..4)?.rows::<f32>(..)?[..], new_table().rows::<f32>(2..4)?[..]);
    check(&Floats::load_npy(folder.join("table.npy"))?);
    check(&CsvSource::open(folder.join("table.csv"))?.load::<f32>()?);
    Ok(())
}

fn map_all(folder: &Path) -> Done {
    // SAFETY: nobody else knows the folder, and its files are only replaced.
    let (table, array, shards) = unsafe {
        (
            Floats::map(folder.join("table.ntb"))?,
            Floats::map_npy(folder.join("table.npy"))?,
            Shards::open(folder.join("many"))?.map()?,
        )
    };
    check(&table);
    check(&array);
    check(&shards);
    Ok(())
}

fn read_many(folder: &Path) -> Done {
    let shards = Shards::open(folder.join("many"))?.with_verification(true);
    check(&shards.load::<f32>()?);
    assert!(shards.verify()?);
    let mut blocks = shards.row_blocks::<f32>(3)?;
    let mut rows = 0;
    while let Some(block) = blocks.next_block()? {
        assert_eq!(block[..], new_table().rows::<f32>(rows..rows + block.row_count())?[..]);
        rows += block.row_count();
    }
    check(&Shards::from_glob(folder.join("many/part-*.ntb"))?.load::<f32>()?);
    Ok(())
}

fn leftovers(folder: &Path) -> Done {
    for left in files::leftovers(folder)? {
        left.remove()?;
    }
    Ok(())
}

fn a_leftover(folder: &Path) {
    new_files(folder);
    fs::write(folder.join(".0123456789abcdef.ntb.tmp"), [0; 100]).unwrap();
}

fn no_tables(_: &Path) -> Result<Found, Error> {
    Ok(Found::Nothing)
}

const SAVE: Job = Job {
    name: "save",
    promise: Promise::Atomic,
    is_durable: true,
    prepare: old_files,
    run: |folder| new_table().save(folder.join("table.ntb")),
    read: read_table,
};

const READ: Job =
    Job { name: "read", promise: Promise::Reads, is_durable: true, prepare: new_files, run: read_all, read: no_tables };

pub(crate) const JOBS: [Job; 22] = [
    SAVE,
    Job { name: "save a new file", prepare: nothing, ..SAVE },
    Job { name: "save through a link", prepare: link, ..SAVE },
    Job { name: "save columns", run: |folder| mixed_table().save(folder.join("table.ntb")), ..SAVE },
    Job {
        name: "save without waiting for the disk",
        is_durable: false,
        run: |folder| new_table().save_with(folder.join("table.ntb"), SaveOptions::new().durable(false)),
        ..SAVE
    },
    Job {
        name: "save in place",
        promise: Promise::InPlace,
        run: |folder| new_table().save_with(folder.join("table.ntb"), SaveOptions::new().in_place(true)),
        ..SAVE
    },
    Job {
        name: "save a new file in place",
        promise: Promise::InPlace,
        prepare: nothing,
        run: |folder| new_table().save_with(folder.join("table.ntb"), SaveOptions::new().in_place(true)),
        ..SAVE
    },
    Job { name: "stream", run: stream, ..SAVE },
    Job {
        name: "copy rows",
        prepare: |folder| {
            old_files(folder);
            new_table().save_with(folder.join("source.ntb"), SaveOptions::new().checksums(None)).unwrap();
        },
        run: copy,
        ..SAVE
    },
    Job { name: "save npy", run: |folder| new_table().save_npy(folder.join("table.npy")), read: read_npy, ..SAVE },
    Job { name: "write csv", run: |folder| new_table().write_csv(folder.join("table.csv")), read: read_csv, ..SAVE },
    Job { name: "write shards", prepare: nothing, run: write_shards, read: read_shards, ..SAVE },
    Job { name: "append shards", prepare: one_shard, run: append, read: read_shards, ..SAVE },
    Job { name: "resume shards", prepare: two_parts, run: resume, read: read_shards, ..SAVE },
    READ,
    Job { name: "map", run: map_all, ..READ },
    Job { name: "read shards", run: read_many, ..READ },
    Job { name: "remove leftovers", prepare: a_leftover, run: leftovers, promise: Promise::Atomic, ..READ },
    LARGE,
    Job { name: "save in memory", is_durable: false, ..LARGE },
    Job { name: "load large", promise: Promise::Reads, prepare: large_file, run: load_large, read: no_tables, ..LARGE },
    Job {
        name: "load large in memory",
        promise: Promise::Reads,
        prepare: large_file,
        run: load_large,
        read: no_tables,
        ..LARGE
    },
];

const LARGE: Job = Job {
    name: "save large",
    promise: Promise::Atomic,
    is_durable: false,
    prepare: old_files,
    run: |folder| large_table().save_with(folder.join("table.ntb"), SaveOptions::new().durable(false)),
    read: read_large,
};

fn large_file(folder: &Path) {
    large_table().save_with(folder.join("table.ntb"), SaveOptions::new().durable(false)).unwrap();
}

fn load_large(folder: &Path) -> Done {
    let table = Floats::load(folder.join("table.ntb"))?;
    assert_eq!(table.as_slice()?, large_table().as_slice()?);
    Ok(())
}

impl Job {
    /// Enough for several threads.
    pub(crate) fn is_large(&self) -> bool {
        self.name.contains("large") || self.is_in_memory()
    }

    /// Wants a file system in memory, where files are written through a mapping.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.name.ends_with("in memory")
    }

    /// A new folder, with the files that the job begins with.
    pub(crate) fn folder(&self) -> tempfile::TempDir {
        // The disk takes its time for each file that is replaced: small files do not need it.
        let is_wanted = self.is_in_memory() || !self.is_large();
        let folder = match is_wanted && Path::new("/dev/shm").is_dir() {
            true => tempfile::tempdir_in("/dev/shm"),
            false => tempfile::tempdir(),
        };
        let folder = folder.unwrap();
        (self.prepare)(folder.path());
        folder
    }
}
