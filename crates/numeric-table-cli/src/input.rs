//! Opening an input of any format, and its rows a block at a time.
//!
//! Table files of one element type, shards, CSV, Parquet and Arrow files are read a block at a time. Other files are
//! loaded: `.npy`, `.npz`, sparse files, and table files of columns of several types.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use numeric_table::csv::CsvSource;
use numeric_table::files::{self, TableReader};
use numeric_table::internal::match_element;
use numeric_table::npz::NpzReader;
use numeric_table::shards::{ShardInfo, Shards};
use numeric_table::sparse::LabeledRows;
use numeric_table::table::spi::TableKind;
use numeric_table::{
    CsrNumericTable, DataDictionary, Error, ErrorKind, Feature, NumericTable, Result, TableConversion, TableSelection,
    npy,
};
use numeric_table_arrow::ipc::IpcSource;
use numeric_table_arrow::parquet::ParquetSource;

use crate::args::{InputArgs, ReadArgs};
use crate::cells::may_grow;
use crate::csv;
use crate::failure::{self, Failure, Outcome, other};
use crate::format::Format;
use crate::interrupt;
use crate::memory;
use crate::print;

/// Bytes of values, or of text, in a block of rows.
const BLOCK: usize = 16 << 20;

/// Rows that are in memory.
pub(crate) type Block = Box<dyn NumericTable>;

/// Blocks of rows, in row order.
pub(crate) type Blocks<'a> = Box<dyn Iterator<Item = Result<Block>> + 'a>;

/// An opened input.
pub(crate) struct Input {
    /// Its name as the user wrote it.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) body: Body,
    /// What standard input was copied to.
    _copy: Option<tempfile::NamedTempFile>,
}

/// The opened file.
pub(crate) enum Body {
    Table(TableReader),
    Shards(Shards),
    Csv(Box<CsvSource>),
    Parquet(Box<ParquetSource>),
    Arrow(Box<IpcSource>),
    /// A loaded table.
    Loaded(Block),
}

impl Input {
    /// Opens a file, a folder, or standard input (`-`).
    pub(crate) fn open(args: &InputArgs) -> Outcome<Self> {
        let input = Self::open_path(&args.input, &args.read)?;
        refuse_unused(&args.read, &[(args.input.as_path(), input.format)])?;
        Ok(input)
    }

    /// Opens several files or folders with the same options.
    pub(crate) fn open_several(paths: &[PathBuf], args: &ReadArgs) -> Outcome<Vec<Self>> {
        let inputs = paths.iter().map(|path| Self::open_path(path, args)).collect::<Outcome<Vec<Self>>>()?;
        let formats = paths.iter().zip(&inputs).map(|(path, input)| (path.as_path(), input.format));
        refuse_unused(args, &formats.collect::<Vec<_>>())?;
        Ok(inputs)
    }

    /// Opens a file or a folder. Options for other formats than its own have no effect: see [`refuse_unused`].
    pub(crate) fn open_path(path: &Path, args: &ReadArgs) -> Outcome<Self> {
        let name = path.display().to_string();
        let (path, copy) = if name == "-" { spool()? } else { (path.to_owned(), None) };
        let format = match args.from {
            Some(format) => format,
            None => Format::of_file(&path).map_err(|error| Error::io(&path, error))?,
        };
        let body = body(&path, format, args)?;
        // An error is not that of a note: reading the table reports it.
        if let Body::Csv(source) = &body
            && !print::is_quiet()
            && let Ok(Some(note)) = csv::blank_lines(&path, source)
        {
            print::hint(&format!("{name}: {note}"));
        }
        Ok(Self { name, path, format, body, _copy: copy })
    }

    /// Opens an input all of whose rows are needed. A CSV file that fits into memory with much room left is loaded: that
    /// reads it once, and not twice.
    pub(crate) fn open_all(args: &InputArgs) -> Outcome<Self> {
        let input = Self::open(args)?;
        let Body::Csv(source) = &input.body else { return Ok(input) };
        if input.bytes() > memory::largest_file() {
            return Ok(input);
        }
        let table = match source.load_typed() {
            Ok(table) => table,
            Err(error) if matches!(error.kind(), ErrorKind::OutOfMemory) => return Ok(input),
            Err(error) => return Err(error.into()),
        };
        Ok(Self { body: Body::Loaded(Box::new(table)), ..input })
    }

    /// Opens the beginning of a large CSV file, if it surely has this number of rows: the first rows of such a file are
    /// shown without reading it to its end. An error is left to [`Self::open`], which names the place.
    pub(crate) fn open_beginning(args: &InputArgs, rows: usize) -> Outcome<Option<Self>> {
        const LARGE: u64 = 64 << 20;
        const BEGINNING: u64 = 4 << 20;
        let is_large = std::fs::metadata(&args.input).is_ok_and(|data| data.is_file() && data.len() > LARGE);
        let is_csv = |path| Format::of_file(path).is_ok_and(|format| format == Format::Csv);
        if !is_large || args.read.from.is_some_and(|format| format != Format::Csv) || !is_csv(&args.input) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        std::fs::File::open(&args.input)?.take(BEGINNING).read_to_end(&mut bytes)?;
        let is_compressed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
        let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n').filter(|_| !is_compressed) else {
            return Ok(None);
        };
        bytes.truncate(end + 1);
        // A line feed in quotes ends no row.
        if bytes.iter().filter(|&&byte| byte == b'"').count() % 2 == 1 {
            return Ok(None);
        }
        let Ok(source) = csv::open_bytes(bytes, &args.input, &args.read.csv) else { return Ok(None) };
        if !source.describe().is_ok_and(|description| description.rows >= rows) {
            return Ok(None);
        }
        let (name, path) = (args.input.display().to_string(), args.input.clone());
        Ok(Some(Self { name, path, format: Format::Csv, body: Body::Csv(Box::new(source)), _copy: None }))
    }

    /// Returns the columns, with their names and types. Reads a CSV file to its end.
    pub(crate) fn dictionary(&self) -> Result<DataDictionary> {
        Ok(match &self.body {
            Body::Table(reader) => reader.dictionary().clone(),
            Body::Shards(shards) => shards.dictionary().clone(),
            Body::Loaded(table) => table.dictionary().clone(),
            Body::Parquet(source) => source.dictionary()?,
            Body::Arrow(source) => source.dictionary()?,
            Body::Csv(source) => csv::dictionary(source)?,
        })
    }

    /// Returns the columns with all labels of words. Reads a file to its end if these are known only there.
    pub(crate) fn dictionary_with_labels(&self) -> Result<DataDictionary> {
        let first = self.dictionary()?;
        if !may_grow(&first) {
            return Ok(first);
        }
        let mut last = None;
        for block in self.blocks()? {
            last = Some(block?.dictionary().clone());
        }
        let Some(last) = last else { return Ok(first) };
        let nullable = first.iter().map(|feature| feature.nullable);
        Ok(last
            .iter()
            .zip(nullable)
            .map(|(feature, nullable)| Feature { nullable: nullable || feature.nullable, ..feature.clone() })
            .collect())
    }

    /// Returns whether the file can hold missing values. In others, NaN stands for them.
    pub(crate) fn can_miss(&self) -> bool {
        match &self.body {
            Body::Csv(_) | Body::Parquet(_) | Body::Arrow(_) => true,
            Body::Table(_) => false,
            Body::Shards(shards) => shards.uniform_type().is_none() || shards.dictionary().has_nullable(),
            Body::Loaded(table) => match self.format {
                Format::Ntb => table.uniform_type().is_none() || table.dictionary().has_nullable(),
                Format::Npz => table.kind() != TableKind::CSR,
                _ => self.format == Format::Csv,
            },
        }
    }

    /// Returns the number of rows, if it is known without reading all of the file.
    pub(crate) fn known_rows(&self) -> Option<usize> {
        match &self.body {
            Body::Table(reader) => Some(reader.shape().rows),
            Body::Shards(shards) => Some(shards.shape().rows),
            Body::Loaded(table) => Some(table.shape().rows),
            Body::Parquet(source) => source.shape().ok().map(|shape| shape.rows),
            Body::Csv(_) | Body::Arrow(_) => None,
        }
    }

    /// Returns the number of rows, reading all of the file if that is needed.
    pub(crate) fn row_count(&self) -> Result<usize> {
        match (&self.body, self.known_rows()) {
            (_, Some(rows)) => Ok(rows),
            (Body::Csv(source), None) => Ok(source.describe()?.rows),
            _ => self.blocks()?.map(|block| Ok(block?.shape().rows)).sum(),
        }
    }

    /// Returns the size of the file on the disk, or of all files of a folder.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.body {
            Body::Shards(shards) => shards.files().map(|shard| shard.bytes).sum(),
            _ => std::fs::metadata(&self.path).map_or(0, |data| data.len()),
        }
    }

    /// Returns all rows, a block at a time.
    pub(crate) fn blocks(&self) -> Result<Blocks<'_>> {
        let blocks: Blocks<'_> = match &self.body {
            Body::Csv(source) => {
                let mut blocks = source.column_blocks(BLOCK)?;
                Box::new(std::iter::from_fn(move || {
                    blocks.next_block().map(|block| block.map(|block| Box::new(block) as Block)).transpose()
                }))
            }
            Body::Arrow(source) => {
                let rows = rows_per_block(&source.dictionary()?);
                Box::new(source.column_blocks(rows)?.map(|block| Ok(Box::new(block?) as Block)))
            }
            _ => self.ranges(0..self.known_rows().unwrap_or(0))?,
        };
        // An error ends the rows, and so does Ctrl-C.
        let mut has_failed = false;
        Ok(Box::new(blocks.map_while(move |block| {
            if has_failed {
                return None;
            }
            let block = interrupt::check().and(block);
            has_failed = block.is_err();
            Some(block)
        })))
    }

    /// Returns some rows, a block at a time. Files that can be entered anywhere are not read before these rows.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Result<Blocks<'_>> {
        if let Some(count) = self.known_rows() {
            return self.ranges(rows.start.min(count)..rows.end.min(count));
        }
        let mut first = 0;
        let blocks = self.blocks()?.map(move |block| {
            let block = block?;
            let here = first..first + block.shape().rows;
            first = here.end;
            let (start, end) = (rows.start.clamp(here.start, here.end), rows.end.clamp(here.start, here.end));
            let is_last = here.end >= rows.end;
            match (start, end) {
                (start, end) if start == here.start && end == here.end => Ok((block, is_last)),
                (start, end) if start >= end => Ok((block.head(0)?.to_table()?, is_last)),
                (start, end) => Ok((block.select_rows(start - here.start..end - here.start)?.to_table()?, is_last)),
            }
        });
        let mut is_done = false;
        Ok(Box::new(blocks.map_while(move |block: Result<(Block, bool)>| {
            if is_done {
                return None;
            }
            Some(block.map(|(block, is_last)| {
                is_done = is_last;
                block
            }))
        })))
    }

    fn ranges(&self, rows: Range<usize>) -> Result<Blocks<'_>> {
        let step = rows_per_block(&self.dictionary()?);
        let ranges = rows.clone().step_by(step).map(move |start| start..rows.end.min(start.saturating_add(step)));
        Ok(match &self.body {
            Body::Table(reader) => Box::new(ranges.map(|rows| {
                Ok(match_element!(reader.element_type(), T => Box::new(reader.load_rows::<T>(rows)?) as Block))
            })),
            Body::Loaded(table) => Box::new(ranges.map(|rows| table.select_rows(rows)?.to_table())),
            Body::Parquet(source) => {
                let mut ranges = ranges;
                let first = ranges.next().unwrap_or(0..0);
                let end = ranges.next_back().map_or(first.end, |last| last.end);
                let blocks = source.column_blocks_of(first.start..end, step)?;
                Box::new(blocks.map(|block| Ok(Box::new(block?) as Block)))
            }
            Body::Shards(shards) => match shards.uniform_type() {
                Some(element) => Box::new(ranges.map(move |rows| {
                    Ok(match_element!(element, T => Box::new(shards.load_rows::<T>(rows)?) as Block))
                })),
                None => shard_blocks(shards, ranges),
            },
            Body::Csv(_) | Body::Arrow(_) => return Err(other("such a file cannot be entered in the middle")),
        })
    }
}

/// The rows of shards of columns of several types. One file is in memory.
fn shard_blocks<'s>(shards: &'s Shards, ranges: impl Iterator<Item = Range<usize>> + 's) -> Blocks<'s> {
    let mut loaded: Option<(Range<usize>, Block)> = None;
    let mut block_of = move |rows: Range<usize>| -> Result<Vec<Block>> {
        let (mut start, mut blocks) = (rows.start, Vec::new());
        while start < rows.end {
            if !loaded.as_ref().is_some_and(|(held, _)| held.contains(&start)) {
                let shard = shards.files().find(|shard| shard.rows.contains(&start));
                let shard = shard.ok_or_else(|| other(format!("no shard has row {start}")))?;
                loaded = None; // frees the memory first
                loaded = Some((shard.rows.clone(), files::load(shard.path)?));
            }
            let Some((held, table)) = &loaded else { break };
            let end = rows.end.min(held.end);
            blocks.push(table.select_rows(start - held.start..end - held.start)?.to_table()?);
            start = end;
        }
        Ok(blocks)
    };
    Box::new(ranges.flat_map(move |rows| match block_of(rows) {
        Ok(blocks) => blocks.into_iter().map(Ok).collect::<Vec<_>>(),
        Err(error) => vec![Err(error)],
    }))
}

/// Returns how many rows of some columns make a block.
pub(crate) fn rows_per_block(dictionary: &DataDictionary) -> usize {
    let bytes: usize = dictionary.iter().map(|feature| feature.element_type.size_in_bytes()).sum();
    (BLOCK / bytes.max(1)).max(1)
}

/// Returns the error for a file that a manifest lists and that is not there.
pub(crate) fn missing_file(shard: &ShardInfo<'_>) -> Error {
    let Range { start, end } = shard.rows;
    other(format!("the file of the rows {start}..{end} is missing: copy it to this place again")).in_file(shard.path)
}

/// Refuses options that no input uses.
pub(crate) fn refuse_unused(args: &ReadArgs, inputs: &[(&Path, Format)]) -> Outcome {
    let unused = [(args.csv.used(), Format::Csv, "CSV"), (args.array.as_ref().map(|_| "--array"), Format::Npz, ".npz")];
    for (option, format, name) in unused {
        if let (Some(option), Some((path, found))) = (option, inputs.first())
            && inputs.iter().all(|(_, found)| *found != format)
        {
            let (path, found) = (path.display(), found.name());
            return Err(Failure::usage(format!("{option} is for {name} input, and the format of {path} is {found}")));
        }
    }
    Ok(())
}

fn body(path: &Path, format: Format, args: &ReadArgs) -> Outcome<Body> {
    Ok(match format {
        Format::Ntb => match TableReader::open(path) {
            Ok(reader) => Body::Table(reader),
            Err(error) => match error.kind() {
                ErrorKind::Io { .. } => return Err(error.into()),
                _ => Body::Loaded(files::load(path)?), // a table of another kind; the error of a damaged file is there
            },
        },
        Format::Shards => Body::Shards(Shards::open(path)?),
        Format::Csv => Body::Csv(Box::new(csv::open(path, &args.csv)?)),
        Format::Parquet => Body::Parquet(Box::new(ParquetSource::open(path)?)),
        Format::Arrow => Body::Arrow(Box::new(IpcSource::open(path)?)),
        Format::Npy => Body::Loaded(npy::load(path)?),
        Format::Npz => Body::Loaded(npz(path, args.array.as_deref())?),
        Format::Svmlight => Body::Loaded(Box::new(LabeledRows::load::<f64>(path)?.features)),
        Format::Mtx => Body::Loaded(Box::new(CsrNumericTable::load_mtx::<f64>(path)?)),
    })
}

/// Loads the only array of a file, the one that was asked for, or a sparse matrix.
fn npz(path: &Path, array: Option<&str>) -> Outcome<Block> {
    let mut reader = NpzReader::open(path)?;
    let all: Vec<String> = reader.names().map(str::to_owned).collect();
    let is_mask =
        |name: &&String| name.strip_suffix(".mask").is_some_and(|masked| all.iter().any(|name| name == masked));
    let names: Vec<&String> = all.iter().filter(|name| !is_mask(name)).collect();
    if let Some(array) = array {
        return Ok(reader.load_any(array)?);
    }
    match &names[..] {
        [name] if names.len() == all.len() => Ok(reader.load_any(name)?),
        _ if names.iter().any(|name| *name == "indptr") => Ok(Box::new(CsrNumericTable::load_npz(path)?)),
        _ => {
            let mut shapes = Vec::new();
            for name in &names {
                shapes.push(reader.describe(name)?.shape);
            }
            if shapes.iter().all(|shape| shape.columns == 1 && shape.rows == shapes[0].rows) && !names.is_empty() {
                return Ok(Box::new(reader.load_all_columns()?)); // one column each
            }
            let file = path.display();
            Err(Failure::usage(format!(
                "{file}: there are {} arrays: choose one by --array: {}",
                names.len(),
                names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
            )))
        }
    }
}

/// Copies standard input to a temporary file, because most formats are not read from front to back.
fn spool() -> Outcome<(PathBuf, Option<tempfile::NamedTempFile>)> {
    let mut copy = tempfile::NamedTempFile::new()?;
    failure::stdin_is_copied_to(copy.path());
    let (mut stdin, mut buffer) = (io::stdin().lock(), vec![0; 256 << 10]);
    loop {
        if interrupt::is_set() {
            return Err(Failure::Interrupted);
        }
        match stdin.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => io::Write::write_all(&mut copy, &buffer[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io(failure::STDIN, error).into()),
        }
    }
    Ok((copy.path().to_owned(), Some(copy)))
}
