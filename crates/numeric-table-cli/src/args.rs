//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::format::Format;

/// Look into tables of numbers, convert, check and summarize them.
#[derive(Debug, Parser)]
#[command(
    name = "ntable",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  ntable info flights.ntb
  ntable head -n 5 --columns 'dep*,arr*' flights.parquet
  ntable stats --where 'delay > 0 and origin == \"OSL\"' flights.csv
  ntable convert flights.csv flights.ntb
  ntable convert - --from csv out.parquet < flights.csv

Exit codes:
  0  the command did its work
  1  verify found damage, diff found a difference, or repair left something
  2  the arguments make no sense
  3  a file could not be read or written
  130  Ctrl-C"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print JSON instead of tables: one document, or a line for each row
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show no progress bar and no notes
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Use this many threads, instead of one for each core
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what a file or folder holds: its shape, columns, types and sizes
    Info(InfoArgs),
    /// Print the first rows
    Head(HeadArgs),
    /// Print the last rows
    #[command(after_help = "\
Examples:
  ntable tail iris.csv
  ntable tail -n 3 --columns 'sepal*' --where 'species == setosa' iris.csv")]
    Tail(HeadArgs),
    /// Print some rows, chosen at random
    Sample(SampleArgs),
    /// Print the rows A..B, from row 0 on, without row B
    Rows(RowsArgs),
    /// Summarize every column: moments, quantiles, missing values, and a small histogram
    Stats(StatsArgs),
    /// Print the correlations of all pairs of columns
    Corr(CorrArgs),
    /// Write a file in another format, or with other types, columns or rows
    Convert(ConvertArgs),
    /// Compare files with their checksums, and name the damage
    Verify(VerifyArgs),
    /// Compare two tables, and print the first values that differ
    Diff(DiffArgs),
    /// Divide a file into a folder of shards
    Split(SplitArgs),
    /// Write the rows of several files, one after the other, as one
    Join(JoinArgs),
    /// List what interrupted programs left in a folder, and remove it
    Repair(RepairArgs),
    /// Measure how fast this machine reads, converts and saves a file
    Bench(BenchArgs),
    /// Print the completions for a shell
    Completions(CompletionsArgs),
    /// Print the man page
    Man(ManArgs),
}

/// The input.
#[derive(Args, Debug)]
pub(crate) struct InputArgs {
    /// A file, a folder of shards, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// How inputs are read: the same options for every command that reads some.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ReadArgs {
    /// The format of the input, which its first bytes and its name show otherwise
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) from: Option<Format>,
    /// The array to read from an .npz file
    #[arg(long, value_name = "NAME")]
    pub(crate) array: Option<String>,
    #[command(flatten)]
    pub(crate) csv: CsvArgs,
}

/// How CSV files are read.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "CSV input")]
pub(crate) struct CsvArgs {
    /// What stands between fields: one character, or `tab` [default: a comma; a tab for .tsv]
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) delimiter: Option<String>,
    /// What stands before decimals: `.` or `,`
    #[arg(long, value_name = "CHARACTER", value_parser = [".", ","])]
    pub(crate) decimal: Option<String>,
    /// The first line has the names of the columns, even if these look like numbers
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,
    /// The first line is a row, not the names of the columns
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Texts that mean a missing value [default: an empty field and NA]
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    pub(crate) missing: Vec<String>,
    /// Columns of dates, such as 2024-02-29, chosen as by --columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) date: Vec<String>,
    /// Columns of dates with times, such as 2024-02-29T12:34:56Z
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) time: Vec<String>,
    /// Columns of words, even where some look like numbers, such as 007; '*' for all
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) words: Vec<String>,
    /// Let the first N rows decide the types, instead of all rows; other rows that do not fit are errors
    #[arg(long, value_name = "N")]
    pub(crate) infer_rows: Option<usize>,
}

impl CsvArgs {
    /// Returns the name of an option that is set.
    pub(crate) fn used(&self) -> Option<&'static str> {
        let options = [
            ("--delimiter", self.delimiter.is_some()),
            ("--decimal", self.decimal.is_some()),
            ("--header", self.header),
            ("--no-header", self.no_header),
            ("--missing", !self.missing.is_empty()),
            ("--date", !self.date.is_empty()),
            ("--time", !self.time.is_empty()),
            ("--words", !self.words.is_empty()),
            ("--infer-rows", self.infer_rows.is_some()),
        ];
        options.into_iter().find(|(_, is_set)| *is_set).map(|(name, _)| name)
    }
}

/// Which columns and rows.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Choice {
    /// Columns by name, number, range or pattern: `id,x*,3..5,/^t_/`; `-name` leaves one out
    #[arg(long, short, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) columns: Vec<String>,
    /// Only rows for which this is true: `a > 3 and city == "Oslo"`
    #[arg(long, short, value_name = "EXPRESSION")]
    pub(crate) r#where: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  ntable info iris.csv\n  ntable info --json shards/ | jq .rows")]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ntable head iris.csv
  ntable head -n 3 --columns 'sepal*' --where 'species == setosa' iris.csv")]
pub(crate) struct HeadArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// How many rows
    #[arg(short = 'n', long, default_value_t = 10, value_name = "N")]
    pub(crate) rows: usize,
    #[command(flatten)]
    pub(crate) choice: Choice,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  ntable sample -n 5 --seed 7 iris.csv")]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// How many rows
    #[arg(short = 'n', long, default_value_t = 10, value_name = "N")]
    pub(crate) rows: usize,
    /// The same seed chooses the same rows
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) choice: Choice,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  ntable rows 100..120 iris.csv\n  ntable rows 140.. --columns 0,4 iris.csv")]
pub(crate) struct RowsArgs {
    /// The rows: `A..B`, `A..`, `..B` or one number
    #[arg(value_name = "A..B")]
    pub(crate) range: String,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) choice: Choice,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Quantiles of more than 2048 values are estimates with a small error of rank; all other numbers are exact.

Examples:
  ntable stats iris.csv
  ntable stats --by species --columns 'petal*' iris.csv
  ntable stats --quantiles 0.01,0.5,0.99 --json flights/ | jq '.columns[0]'")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// One line for each group of rows: those with the same word, or whole number from 0, in this column
    #[arg(long, value_name = "COLUMN")]
    pub(crate) by: Option<String>,
    /// Quantiles to print
    #[arg(long, value_name = "Q", conflicts_with = "by", value_delimiter = ',', default_value = "0.25,0.5,0.75")]
    pub(crate) quantiles: Vec<f64>,
    #[command(flatten)]
    pub(crate) choice: Choice,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Rows with a missing value in one of the columns are left out.

Example:
  ntable corr --columns 'petal*' iris.csv")]
pub(crate) struct CorrArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Covariances instead of correlations
    #[arg(long)]
    pub(crate) covariance: bool,
    #[command(flatten)]
    pub(crate) choice: Choice,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Rows are read and written a block at a time, so files may be larger than memory. Kept in memory as a whole are: .npy, \
.npz, svmlight and MatrixMarket files, and table files with --keep-types.

A table file has one type for all columns, the smallest that holds them all, unless --keep-types is given. Missing \
values become NaN in it. Without --policy, a value that the type does not hold is an error with its row and column.

Examples:
  ntable convert flights.csv flights.ntb
  ntable convert --type f32 --policy checked flights.csv flights.ntb
  ntable convert --columns 'dep*,delay' --where 'delay > 0' flights.ntb late.parquet
  ntable convert --to shards --rows-per-shard 1000000 flights.csv.gz flights
  ntable convert --from csv - flights.arrow < flights.csv
  ntable convert flights.parquet - | head")]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The file or folder to write, or `-` for standard output
    #[arg(value_name = "OUTPUT")]
    pub(crate) output: PathBuf,
    /// The format of the output, which its name shows otherwise
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Option<Format>,
    /// One type for all columns: f32, f64, i8 to i64, u8 to u64, f16 or bf16
    #[arg(long, value_name = "TYPE")]
    pub(crate) r#type: Option<String>,
    /// Keep the type of each column, and missing values, in table files and shards
    #[arg(long)]
    pub(crate) keep_types: bool,
    /// What becomes of values that the type does not hold
    #[arg(long, value_enum, default_value = "exact")]
    pub(crate) policy: Policy,
    /// The column of labels of an svmlight file
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Rows of each file of a folder of shards [default: about 256 MiB]
    #[arg(long, value_name = "N")]
    pub(crate) rows_per_shard: Option<usize>,
    /// How Parquet files are compressed [default: snappy]
    #[arg(long, value_enum)]
    pub(crate) compression: Option<Compression>,
    #[command(flatten)]
    pub(crate) choice: Choice,
}

/// What becomes of values that a type does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Policy {
    /// An error, also for values that would be rounded
    Exact,
    /// Round; other losses are errors
    Checked,
    /// Round and clamp
    Saturate,
}

/// Compression of Parquet files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Compression {
    None,
    Snappy,
    Gzip,
    Zstd,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Files of formats without checksums are read to their end. Each file has a line, also after one that is damaged. The \
exit code is 1 if something is damaged, and 3 if a file cannot be read.

Examples:
  ntable verify flights.ntb flights/
  ntable verify --quiet *.ntb || echo damaged")]
pub(crate) struct VerifyArgs {
    /// Files and folders of shards
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Two values are the same if they are equal, within one of the tolerances, both missing, or both NaN. A missing value \
differs from NaN, unless one of the files can hold no missing values, such as .npy: NaN stands for them there. Words \
are compared as words, and numbers of other types by their value. The exit code is 1 if there is a difference.

Examples:
  ntable diff old.ntb new.ntb
  ntable diff --relative 1e-9 iris.csv iris.parquet")]
pub(crate) struct DiffArgs {
    /// A file or folder
    #[arg(value_name = "A")]
    pub(crate) left: PathBuf,
    /// Another one, of any format
    #[arg(value_name = "B")]
    pub(crate) right: PathBuf,
    /// Values that are this close are the same
    #[arg(long, default_value_t = 0.0, value_name = "X")]
    pub(crate) tolerance: f64,
    /// Values that are this close, as a part of the larger one, are the same
    #[arg(long, default_value_t = 0.0, value_name = "X")]
    pub(crate) relative: f64,
    /// Compare the types of the columns too
    #[arg(long)]
    pub(crate) types: bool,
    /// How many differences to print
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) first: usize,
    /// Only these columns
    #[arg(long, short, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ntable split --parts 8 flights.ntb flights
  ntable split --rows 1000000 flights.csv flights")]
pub(crate) struct SplitArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The folder to create
    #[arg(value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Rows of each shard [default: about 256 MiB]
    #[arg(long, value_name = "N", conflicts_with = "parts")]
    pub(crate) rows: Option<usize>,
    /// How many shards
    #[arg(long, value_name = "N")]
    pub(crate) parts: Option<usize>,
}

#[derive(Args, Debug)]
#[command(
    override_usage = "ntable join [OPTIONS] <FILE>... <OUTPUT>",
    after_help = "Examples:\n  ntable join monday.ntb tuesday.ntb week.ntb\n  ntable join flights/ flights.ntb"
)]
pub(crate) struct JoinArgs {
    /// Files and folders of any format with the same columns; the last one is written
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The format of the output, which its name shows otherwise
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Option<Format>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Files that a running program uses are not listed. Without --yes, asks before it removes something. The exit code is 1 \
if something is left.

Examples:
  ntable repair flights/
  ntable repair --yes --manifest flights/")]
pub(crate) struct RepairArgs {
    /// The folder
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only list
    #[arg(long, conflicts_with = "yes")]
    pub(crate) list: bool,
    /// Replace a missing or wrong manifest by one over all complete table files of the folder
    #[arg(long)]
    pub(crate) manifest: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  ntable bench flights.csv")]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Runs of each job; the shortest counts
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) repeat: usize,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  ntable completions bash > ~/.local/share/bash-completion/completions/ntable")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  ntable man > ntable.1\n  ntable man --folder ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a page for each command to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}
