//! Formats of files, by name, by the first bytes of a file, and by the end of its name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A table file (.ntb).
    Ntb,
    /// A folder of table files, with or without its manifest (.ntm).
    Shards,
    /// Text with delimiters (.csv, .tsv), also compressed (.csv.gz, .csv.zst).
    Csv,
    /// NumPy's array (.npy).
    Npy,
    /// NumPy's arrays, or SciPy's sparse matrix (.npz).
    Npz,
    /// Parquet (.parquet).
    Parquet,
    /// A file in the IPC format of Arrow, which is Feather version 2 (.arrow, .feather).
    Arrow,
    /// svmlight or LIBSVM (.svm, .libsvm, .svmlight).
    Svmlight,
    /// MatrixMarket (.mtx).
    Mtx,
}

/// Returns what follows the last point of a name, in small letters, without the end of a compressed file.
fn end_of_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    Some(name.rsplit_once('.')?.1.to_owned())
}

/// Returns whether the name is that of a text whose fields are divided by tabs.
pub(crate) fn has_tabs(path: &Path) -> bool {
    end_of_name(path).is_some_and(|end| end == "tsv" || end == "tab")
}

impl Format {
    /// Returns its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ntb => "ntb",
            Self::Shards => "shards",
            Self::Csv => "csv",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Svmlight => "svmlight",
            Self::Mtx => "mtx",
        }
    }

    /// Returns the format that the end of a name stands for.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        Some(match &end_of_name(path)?[..] {
            "ntb" => Self::Ntb,
            "ntm" => Self::Shards,
            "csv" | "tsv" | "tab" | "txt" => Self::Csv,
            "npy" => Self::Npy,
            "npz" => Self::Npz,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "feather" | "ipc" | "arrows" => Self::Arrow,
            "svm" | "libsvm" | "svmlight" => Self::Svmlight,
            "mtx" => Self::Mtx,
            _ => return None,
        })
    }

    /// Returns the format of an existing file or folder: its first bytes decide, and for text, its name.
    pub(crate) fn of_file(path: &Path) -> std::io::Result<Self> {
        if std::fs::metadata(path)?.is_dir() {
            return Ok(Self::Shards);
        }
        let mut first = [0; 16];
        let mut file = File::open(path)?;
        let mut length = 0;
        while length < first.len() {
            match file.read(&mut first[length..])? {
                0 => break,
                more => length += more,
            }
        }
        Ok(match &first[..length] {
            [0x89, b'N', b'T', b'B', ..] => Self::Ntb,
            [0x89, b'N', b'T', b'M', ..] => Self::Shards,
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => Self::Arrow,
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Self::Npy,
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Self::Npz,
            bytes if bytes.starts_with(b"%%MatrixMarket") => Self::Mtx,
            _ => Self::of_name(path).unwrap_or(Self::Csv),
        })
    }
}
