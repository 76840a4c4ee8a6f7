//! Golden bytes of partial results: every machine computes and reads the same ones, with any byte order and any width
//! of addresses.
//!
//! They belong to one version. After a change of the format or of a result, remove the files of the kind, and run
//! the ignored test that makes new ones.

use std::path::{Path, PathBuf};

use numeric_table::{Partial, Result, prelude::*};

/// Partial results, each merged of two pieces that were computed apart.
#[derive(Default)]
pub struct GoldenPartials(Vec<Golden>);

struct Golden {
    file: PathBuf,
    bytes: Vec<u8>,
    read_and_write: fn(&[u8]) -> Result<Vec<u8>>,
}

impl GoldenPartials {
    /// Adds the result of a table of at least 200 rows. Its file has the name of the kind, and the suffix.
    pub fn push<P: Partial>(&mut self, suffix: &str, new: Result<P>, table: &dyn NumericTable) {
        let mut all = new.unwrap();
        let mut rest = all.new_like().unwrap();
        all.update(&*table.select_rows(..131).unwrap()).unwrap();
        rest.update(&*table.select_rows(131..).unwrap()).unwrap();
        all.merge(&rest).unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/golden/partials");
        self.0.push(Golden {
            file: folder.join(format!("{}{suffix}.bytes", P::NAME)),
            bytes: all.to_bytes().unwrap(),
            read_and_write: |bytes| P::from_bytes(bytes)?.to_bytes(),
        });
    }

    /// Writes the files that are not there.
    pub fn make_missing(&self) {
        for golden in self.0.iter().filter(|golden| !golden.file.exists()) {
            std::fs::create_dir_all(golden.file.parent().unwrap()).unwrap();
            std::fs::write(&golden.file, &golden.bytes).unwrap();
        }
    }

    /// Compares the computed bytes, and the bytes after reading and writing, with the files.
    pub fn check(&self) {
        assert!(!self.0.is_empty());
        for Golden { file, bytes, read_and_write } in &self.0 {
            let golden = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert!(*bytes == golden, "{} is computed otherwise", file.display());
            assert!(read_and_write(&golden).unwrap() == golden, "{} is read otherwise", file.display());
        }
    }
}
