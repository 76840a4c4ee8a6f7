//! Writing blocks of rows to a file of any format. Every file is replaced atomically: it appears complete, or not.
//!
//! `text`: CSV; `losses`: the values that a conversion changes.

mod losses;
mod text;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use numeric_table::convert::cast;
use numeric_table::files::TableWriter;
use numeric_table::internal::{match_element, replace_file};
use numeric_table::npz;
use numeric_table::shards::{Shards, ShardsWriter};
use numeric_table::sparse::{LabeledRows, SvmlightLabels};
use numeric_table::{
    AllocationFlag, AnyArray, BlockAccess, ConversionPolicy, CsrNumericTable, DataDictionary, Element, ElementType,
    Error, Feature, MissingValues, NumericTable, Result, RowMergedNumericTable, SoaNumericTable, TableConversion,
    TableOutput, TableSelection,
};
use numeric_table_arrow::ipc::{IpcWriteOptions, save_ipc_blocks};
use numeric_table_arrow::parquet::{ParquetCompression, ParquetWriteOptions, save_parquet_blocks};

use self::losses::Losses;
use self::text::write_csv;
use crate::cells::{is_words, may_grow};
use crate::element::common;
use crate::failure::{Failure, Outcome};
use crate::format::Format;
use crate::input::{Block, Blocks};
use crate::print;

/// Room in table files for labels that are known at the end only.
const LABELS: u64 = 1 << 20;

/// How to write.
#[derive(Clone)]
pub(crate) struct Output {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    /// One type for all columns.
    pub(crate) element: Option<ElementType>,
    /// Whether each column keeps its type, in formats that may have either.
    pub(crate) keeps_types: bool,
    pub(crate) policy: ConversionPolicy,
    /// The column of labels in an svmlight file.
    pub(crate) label: Option<usize>,
    pub(crate) rows_per_shard: Option<usize>,
    pub(crate) compression: Option<ParquetCompression>,
}

/// The result of writing.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) rows: usize,
    pub(crate) element: Option<ElementType>,
    pub(crate) losses: Losses,
}

impl Output {
    /// Returns the usual way to write a format: each value exactly.
    pub(crate) fn new(path: PathBuf, format: Format) -> Self {
        let policy = ConversionPolicy::Exact;
        let (element, label, rows_per_shard, compression) = (None, None, None, None);
        Self { path, format, element, keeps_types: false, policy, label, rows_per_shard, compression }
    }

    /// Writes all blocks. `dictionary` describes the columns as far as it is known now; labels may still be added.
    pub(crate) fn write(&self, blocks: Blocks<'_>, dictionary: &DataDictionary) -> Outcome<Written> {
        let keeps_columns = matches!(self.format, Format::Csv | Format::Npz | Format::Parquet | Format::Arrow);
        if let Some(element) = self.element
            && keeps_columns
        {
            let mut written = Written { element: self.element, ..Written::default() };
            let plain = Self { element: None, ..self.clone() };
            match_element!(element, T => {
                let dictionary = dictionary.with_element_type(T::TYPE)?;
                plain.write(Box::new(self.converted::<T>(blocks, &mut written)), &dictionary)?;
            });
            return Ok(written);
        }
        let written = if is_stream(&self.path) {
            self.write_stream(blocks, dictionary)?
        } else {
            self.write_file(blocks, dictionary)?
        };
        note_lost_names(&self.path, self.format, dictionary);
        Ok(written)
    }

    fn write_file(&self, blocks: Blocks<'_>, dictionary: &DataDictionary) -> Outcome<Written> {
        if self.format != Format::Shards && self.path.is_dir() {
            let path = self.path.display();
            return Err(Failure::usage(format!("{path} is a folder: name a file in it, or write `--to shards`")));
        }
        let element = self.element.unwrap_or_else(|| common(dictionary));
        let written = match self.format {
            Format::Ntb if self.keeps_types => {
                let (table, rows) = collect(blocks, dictionary)?;
                table.to_columns()?.save(&self.path)?;
                Written { rows, ..Written::default() }
            }
            Format::Ntb => match_element!(element, T => self.write_table::<T>(blocks, dictionary)?),
            Format::Shards => {
                let blocks: Blocks<'_> = Box::new(blocks.map(|block| with_labels(block?, dictionary)));
                match self.keeps_types {
                    true => self.write_typed_shards(blocks, dictionary)?,
                    false => match_element!(element, T => self.write_shards::<T>(blocks, dictionary)?),
                }
            }
            Format::Csv => {
                let mut rows = 0;
                replace_file(&self.path, |file| {
                    rows = write_csv(blocks, dictionary, file, &self.path)?;
                    Ok(())
                })?;
                Written { rows, ..Written::default() }
            }
            Format::Parquet | Format::Arrow => self.write_arrow(blocks, dictionary)?,
            Format::Npy => match_element!(element, T => {
                let mut written = Written { element: Some(element), ..Written::default() };
                let blocks = self.converted::<T>(blocks, &mut written);
                let (table, _) = collect(Box::new(blocks), dictionary)?;
                table.convert::<T>()?.save_npy(&self.path)?;
                written
            }),
            Format::Npz => {
                let (table, rows) = collect(blocks, dictionary)?;
                npz::save_columns(&self.path, &*table)?;
                Written { rows, ..Written::default() }
            }
            Format::Svmlight => self.write_svmlight(blocks, dictionary)?,
            Format::Mtx => {
                let mut written = Written { element: Some(element), ..Written::default() };
                match_element!(element, T => {
                    let blocks = self.converted::<T>(blocks, &mut written);
                    let (table, _) = collect(Box::new(blocks), dictionary)?;
                    CsrNumericTable::from_dense::<T>(&*table)?.save_mtx(&self.path)?;
                });
                written
            }
        };
        Ok(written)
    }

    /// Text goes to standard output, a pipe or a device as it is made. Other formats are not written from front to
    /// back, and are copied.
    fn write_stream(&self, blocks: Blocks<'_>, dictionary: &DataDictionary) -> Outcome<Written> {
        if self.format == Format::Shards {
            let name = if is_stdout(&self.path) { "standard output".into() } else { self.path.to_string_lossy() };
            return Err(Failure::usage(format!("shards are a folder, which {name} is not")));
        }
        let failed = |error| Error::io(&self.path, error);
        let mut stream: Box<dyn Write> = match is_stdout(&self.path) {
            true => Box::new(io::stdout().lock()),
            false => Box::new(std::fs::OpenOptions::new().write(true).open(&self.path).map_err(failed)?),
        };
        if self.format == Format::Csv {
            let mut out = io::BufWriter::new(&mut stream);
            let rows = write_csv(blocks, dictionary, &mut out, &self.path)?;
            out.flush().map_err(failed)?;
            return Ok(Written { rows, ..Written::default() });
        }
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("output");
        let written = Self { path: path.clone(), ..self.clone() }.write_file(blocks, dictionary)?;
        io::copy(&mut std::fs::File::open(&path)?, &mut stream).map_err(failed)?;
        stream.flush().map_err(failed)?;
        Ok(written)
    }

    /// Converts blocks to one type, and counts what is lost.
    fn converted<'b, T: Element>(
        &self,
        blocks: Blocks<'b>,
        written: &'b mut Written,
    ) -> impl Iterator<Item = Result<Block>> + use<'b, T> {
        let policy = self.policy;
        blocks.map(move |block| {
            let block = block?;
            if policy != ConversionPolicy::Exact {
                written.losses.look_at::<T>(&*block, written.rows)?;
            }
            let table = block.convert_with::<T>(policy).map_err(|error| error.moved(written.rows, 0))?;
            let kept = block.dictionary().with_element_type(T::TYPE)?;
            written.rows += block.shape().rows;
            Ok(Box::new(table.with_dictionary(kept)?) as Block)
        })
    }

    fn write_table<T: Element>(&self, blocks: Blocks<'_>, dictionary: &DataDictionary) -> Outcome<Written> {
        let mut written = Written { element: Some(T::TYPE), ..Written::default() };
        let mut last = dictionary.with_element_type(T::TYPE)?;
        let mut writer = TableWriter::<T>::create(&self.path, last.len(), last.clone())?;
        if may_grow(dictionary) {
            writer.reserve_labels(LABELS)?;
        }
        for block in self.converted::<T>(blocks, &mut written) {
            let block = block?;
            writer.append_table(&*block)?;
            last = block.dictionary().clone();
        }
        if writer.dictionary() != &last {
            writer.describe(last)?; // the labels are known now
        }
        writer.finish()?;
        Ok(written)
    }

    fn rows_per_shard(&self, row_bytes: usize) -> usize {
        self.rows_per_shard.unwrap_or_else(|| ((256 << 20) / row_bytes.max(1)).max(1))
    }

    fn write_shards<T: Element>(&self, blocks: Blocks<'_>, dictionary: &DataDictionary) -> Outcome<Written> {
        let mut written = Written { element: Some(T::TYPE), ..Written::default() };
        let dictionary_of_type = dictionary.with_element_type(T::TYPE)?;
        let columns = dictionary_of_type.len();
        let most = self.rows_per_shard(columns * size_of::<T>());
        let writer = ShardsWriter::<T>::create(&self.path, columns, dictionary_of_type)?;
        let (mut index, mut shard, mut left) = (0, None, most);
        for block in self.converted::<T>(blocks, &mut written) {
            let block = block?;
            let mut start = 0;
            while start < block.shape().rows {
                let file = match &mut shard {
                    Some(file) => file,
                    None => shard.insert(writer.shard(index)?),
                };
                let end = block.shape().rows.min(start.saturating_add(left));
                file.append_table(&*block.select_rows(start..end)?)?;
                left -= end - start;
                start = end;
                if left == 0 {
                    if let Some(full) = shard.take() {
                        full.finish()?;
                    }
                    (index, left) = (index + 1, most);
                }
            }
        }
        match shard {
            Some(file) => file.finish()?,
            None if index == 0 => writer.shard(0)?.finish()?, // no rows
            None => {}
        }
        writer.finish()?;
        Ok(written)
    }

    /// Writes shards whose columns have their own types: one file for some blocks.
    fn write_typed_shards(&self, blocks: Blocks<'_>, dictionary: &DataDictionary) -> Outcome<Written> {
        let row_bytes: usize = dictionary.iter().map(|feature| feature.element_type.size_in_bytes()).sum();
        let most = self.rows_per_shard(row_bytes);
        std::fs::create_dir_all(&self.path).map_err(|error| Error::io(&self.path, error))?;
        if std::fs::read_dir(&self.path).map_err(|error| Error::io(&self.path, error))?.next().is_some() {
            let path = self.path.display();
            return Err(Failure::usage(format!("{path}: the folder is not empty; nothing was written")));
        }
        let (mut written, mut paths) = (Written::default(), Vec::new());
        let work = || -> Result<()> {
            let mut held: Vec<Block> = Vec::new();
            let mut held_rows = 0;
            let mut save = |held: &mut Vec<Block>, held_rows: &mut usize| -> Result<()> {
                let path = self.path.join(format!("part-{:06}.ntb", paths.len()));
                let (table, _) = collect(Box::new(std::mem::take(held).into_iter().map(Ok)), dictionary)?;
                table.to_columns()?.save(&path)?;
                paths.push(path);
                *held_rows = 0;
                Ok(())
            };
            for block in blocks {
                let block = block?;
                let mut start = 0;
                while start < block.shape().rows {
                    let end = block.shape().rows.min(start.saturating_add(most - held_rows));
                    held.push(block.select_rows(start..end)?.to_table()?);
                    (held_rows, start) = (held_rows + end - start, end);
                    if held_rows == most {
                        save(&mut held, &mut held_rows)?;
                    }
                }
                written.rows += block.shape().rows;
            }
            if held_rows > 0 || written.rows == 0 {
                save(&mut held, &mut held_rows)?;
            }
            Shards::from_paths(&paths)?.save_manifest(self.path.join(Shards::MANIFEST))
        };
        let done = work();
        if done.is_err() {
            for path in &paths {
                let _ = std::fs::remove_file(path); // the first error is the result
            }
            let _ = std::fs::remove_dir(&self.path);
        }
        done?;
        Ok(written)
    }

    fn write_arrow(&self, blocks: Blocks<'_>, dictionary: &DataDictionary) -> Outcome<Written> {
        let mut count = 0;
        let counted = blocks.map(|block| {
            let block = block?;
            count += block.shape().rows;
            with_gaps(block, dictionary)
        });
        let mut counted: Box<dyn Iterator<Item = Result<Block>>> = Box::new(counted);
        if self.format == Format::Arrow && may_grow(dictionary) {
            // Such a file has the words of a column once, and they are all known only at the end of the rows.
            let (table, _) = collect(counted, dictionary)?;
            counted = Box::new(std::iter::once(Ok(table)));
        }
        let mut counted = counted.peekable();
        let first = match counted.peek() {
            Some(_) => None,
            None => Some(no_rows(dictionary)),
        };
        let blocks = first.into_iter().chain(counted);
        match self.format {
            Format::Parquet => {
                let options =
                    ParquetWriteOptions::new().compression(self.compression.unwrap_or(ParquetCompression::Snappy));
                save_parquet_blocks(&self.path, blocks, options)?;
            }
            _ => save_ipc_blocks(&self.path, blocks, IpcWriteOptions::new())?,
        }
        Ok(Written { rows: count, ..Written::default() })
    }

    fn write_svmlight(&self, blocks: Blocks<'_>, dictionary: &DataDictionary) -> Outcome<Written> {
        let Some(label) = self.label else {
            return Err(Failure::usage("svmlight has a label for each row: name its column by --label"));
        };
        let mut written = Written { element: Some(ElementType::F64), ..Written::default() };
        let (table, _) = collect(Box::new(self.converted::<f64>(blocks, &mut written)), dictionary)?;
        let labels: Vec<f64> = table.column::<f64>(label, ..)?.to_vec();
        let features: Vec<usize> = (0..table.shape().columns).filter(|&column| column != label).collect();
        let features = CsrNumericTable::from_dense::<f64>(&table.select_columns(&features[..])?)?;
        LabeledRows::new(features, SvmlightLabels::from(labels))?.save(&self.path)?;
        Ok(written)
    }
}

/// Returns whether a path names standard output.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path.as_os_str() == *name)
}

/// Returns whether a path names standard output, a pipe or a device, which are written from front to back, and not
/// replaced.
pub(crate) fn is_stream(path: &Path) -> bool {
    is_stdout(path) || std::fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// Says that a format holds no names of columns, if there are some.
pub(crate) fn note_lost_names(path: &Path, format: Format, dictionary: &DataDictionary) {
    let has_names = dictionary.names().any(|name| name.is_some());
    if has_names && matches!(format, Format::Npy | Format::Mtx | Format::Svmlight) {
        let (path, format) = (path.display(), format.name());
        print::hint(&format!("{path}: the names of the columns are lost, because the format {format} has none"));
    }
}

/// Returns a block with all labels of its columns, which a file may show only after its rows, and with the types that
/// hold their numbers: all shards of a table have the same.
fn with_labels(block: Block, dictionary: &DataDictionary) -> Result<Block> {
    let is_same = |(own, all): (&Feature, &Feature)| {
        !is_words(all) || own.element_type == all.element_type && own.category_count() == all.category_count()
    };
    if block.dictionary().iter().zip(dictionary.iter()).all(is_same) {
        return Ok(block);
    }
    let mut table = SoaNumericTable::new();
    for (column, feature) in dictionary.iter().enumerate() {
        let (mut array, validity) = block.column_with_validity(column, ..)?;
        if array.element_type() != feature.element_type {
            // Numbers of labels, which `f64` holds.
            let numbers: Vec<f64> = match_element!(array.element_type(), S => {
                array.downcast_ref::<S>().map_or(&[][..], |values| values).iter().map(|&value| cast(value)).collect()
            });
            array = match_element!(feature.element_type, T => {
                AnyArray::from(numbers.into_iter().map(cast::<f64, T>).collect::<Vec<T>>())
            });
        }
        table.push_nullable(Feature { nullable: false, ..feature.clone() }, array, validity)?;
    }
    with_gaps(Box::new(table), dictionary)
}

/// Returns a block whose columns are nullable wherever those of some block may be: all blocks of a file have one
/// schema.
fn with_gaps(mut block: Block, dictionary: &DataDictionary) -> Result<Block> {
    let nullable = |column: usize| dictionary.feature(column).is_ok_and(|feature| feature.nullable);
    let own = block.dictionary();
    if own.iter().enumerate().all(|(column, feature)| feature.nullable == nullable(column)) {
        return Ok(block);
    }
    let features: Vec<Feature> = own
        .iter()
        .enumerate()
        .map(|(column, feature)| Feature { nullable: feature.nullable || nullable(column), ..feature.clone() })
        .collect();
    let mut columns: Box<SoaNumericTable> = Box::new(block.to_columns()?);
    columns.set_dictionary(DataDictionary::from_features(features))?;
    block = columns;
    Ok(block)
}

/// Returns a table of no rows.
fn no_rows(dictionary: &DataDictionary) -> Result<Block> {
    Ok(Box::new(SoaNumericTable::from_dictionary(dictionary.clone(), 0, AllocationFlag::DoAllocate)?))
}

/// Returns all rows as one table, and their number.
fn collect(blocks: Blocks<'_>, dictionary: &DataDictionary) -> Result<(Block, usize)> {
    let mut blocks = blocks.collect::<Result<Vec<Block>>>()?;
    let rows = blocks.iter().map(|block| block.shape().rows).sum();
    Ok(match blocks.len() {
        0 => (no_rows(dictionary)?, 0),
        1 => (blocks.remove(0), rows),
        _ => {
            let last = blocks.last().map(|block| block.dictionary().clone());
            let mut all = RowMergedNumericTable::new(blocks)?.to_columns()?;
            if let Some(last) = last
                && last.iter().zip(all.dictionary().iter()).all(|(last, all)| last.element_type == all.element_type)
            {
                let features = last.iter().zip(all.dictionary().iter());
                let features: Vec<Feature> =
                    features.map(|(last, all)| Feature { nullable: all.nullable, ..last.clone() }).collect();
                all.set_dictionary(DataDictionary::from_features(features))?; // it has all labels
            }
            (Box::new(all), rows)
        }
    })
}
