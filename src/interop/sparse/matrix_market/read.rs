//! Tables from MatrixMarket files.

use std::io::Read;
use std::path::Path;

use super::MatrixMarketOptions;
use super::header::{Opening, Size, Symmetry};
use super::mirror::{Places, Side, mirrored};
use super::parse::{Entries, entries, is_zero, place_of};
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::parallel;
use crate::base::trace::{self, CopyKind};
use crate::interop::sparse::collected::Collected;
use crate::interop::sparse::pieces::{Local, Piece, Refusal, Text, extend, reserve};
use crate::table::Rejected;
use crate::table::csr::CsrNumericTable;

impl CsrNumericTable {
    /// Loads a MatrixMarket file (`.mtx`), with values of type `T`. Each number becomes the nearest value of `T`,
    /// rounded once, and the entries of a pattern are 1. Entries may be in any order, and several entries of one cell
    /// are summed, as [`from_triplets`](Self::from_triplets) does. The file has one half of a symmetric or
    /// skew-symmetric matrix, and the table has both. Of an `array`, all values except zeros are stored.
    ///
    /// The file is parsed in parallel, in pieces. Allocation depends on the data in the file, not on the size in its
    /// header: see [`MatrixMarketOptions::max_rows`].
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::Text`] for the first invalid line, and for data that a table cannot
    /// hold, such as complex values; [`ErrorKind::OutOfMemory`]; those of
    /// [`from_triplets`](Self::from_triplets).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.mtx");
    /// std::fs::write(&path, "%%MatrixMarket matrix coordinate real symmetric\n% 2 x 2\n2 2 2\n2 1 0.5\n2 2 4\n")?;
    /// let table = CsrNumericTable::load_mtx::<f32>(&path)?;
    /// assert_eq!(table.rows::<f64>(..)?[..], [0.0, 0.5, 0.5, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    pub fn load_mtx<T: Element>(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_mtx_with::<T>(path, MatrixMarketOptions::new())
    }

    /// Loads a MatrixMarket file as [`load_mtx`](Self::load_mtx) does, with options.
    ///
    /// # Errors
    /// Those of [`load_mtx`](Self::load_mtx).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*, sparse::MatrixMarketOptions};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.mtx");
    /// std::fs::write(&path, "%%MatrixMarket matrix coordinate integer general\n9000000 4 0\n")?;
    /// let error = CsrNumericTable::load_mtx::<i32>(&path).unwrap_err(); // too many rows for a file without entries
    /// assert!(error.to_string().contains("MatrixMarketOptions::max_rows"));
    /// let options = MatrixMarketOptions::new().max_rows(9_000_000);
    /// assert_eq!(CsrNumericTable::load_mtx_with::<i32>(&path, options)?.row_count(), 9_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    pub fn load_mtx_with<T: Element>(path: impl AsRef<Path>, options: MatrixMarketOptions) -> Result<Self> {
        read::<T>(Text::open(path.as_ref())?, &options)
    }

    /// Reads a MatrixMarket matrix from bytes in memory or any reader, to its end, as [`load_mtx`](Self::load_mtx)
    /// does.
    ///
    /// # Errors
    /// Those of [`load_mtx`](Self::load_mtx), with [`ErrorKind::Io`] for errors of the reader.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let text = b"%%MatrixMarket matrix coordinate pattern general\n2 3 2\n2 3\n1 1\n";
    /// let table = CsrNumericTable::read_mtx::<u8>(&text[..])?;
    /// assert_eq!(table.rows::<u8>(..)?[..], [1, 0, 0, 0, 0, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    pub fn read_mtx<T: Element>(reader: impl Read) -> Result<Self> {
        Self::read_mtx_with::<T>(reader, MatrixMarketOptions::new())
    }

    /// Reads a MatrixMarket matrix as [`read_mtx`](Self::read_mtx) does, with options.
    ///
    /// # Errors
    /// Those of [`read_mtx`](Self::read_mtx).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{ConversionPolicy, CsrNumericTable, prelude::*, sparse::MatrixMarketOptions};
    /// let text = b"%%MatrixMarket matrix array real general\n2 1\n0\n-7.5\n";
    /// let options = MatrixMarketOptions::new().policy(ConversionPolicy::Checked);
    /// let table = CsrNumericTable::read_mtx_with::<i8>(&text[..], options)?;
    /// assert_eq!((table.nnz(), table.get(1, 0)?), (1, Some((-7_i8).into())));
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    pub fn read_mtx_with<T: Element>(reader: impl Read, options: MatrixMarketOptions) -> Result<Self> {
        read::<T>(Text::new(reader), &options)
    }
}

fn read<T: Element>(mut text: Text<impl Read>, options: &MatrixMarketOptions) -> Result<CsrNumericTable> {
    let mut opening = Opening::default();
    let (size, first) = loop {
        let Some(mut piece) = text.next()? else {
            return Err(opening.missing().into_error(text.next_line(), text.path()));
        };
        let found = opening.read(&mut piece).map_err(|local| local.into_error(piece.line, text.path()))?;
        if let Some(size) = found {
            break (size, piece);
        }
    };
    let mut whole = Whole::<T>::new(size, options);
    let mut pieces = vec![first];
    while !pieces.is_empty() {
        let parsed = parallel::map(pieces, |piece| (entries::<T>(&piece, &size, options), piece));
        for (entries, piece) in parsed {
            let added = entries.and_then(|entries| whole.add(entries, &piece));
            added.map_err(|refusal| refusal.into_error(piece.line, text.path()))?;
        }
        pieces = text.wave(None)?;
    }
    whole.finish(&text)
}

/// The entries of all pieces so far.
struct Whole<'a, T> {
    size: Size,
    options: &'a MatrixMarketOptions,
    /// Number of entries read so far.
    seen: u128,
    places: Places,
    /// The side of the diagonal that the file has, if it has only one and that is known.
    side: Option<Side>,
    rows: Collected,
    columns: Collected,
    values: Vec<T>,
}

impl<'a, T: Element> Whole<'a, T> {
    fn new(size: Size, options: &'a MatrixMarketOptions) -> Self {
        Self {
            size,
            options,
            seen: 0,
            places: Places::new(size.shape, size.header.symmetry),
            side: None,
            rows: Collected::new(),
            columns: Collected::new(),
            values: Vec::new(),
        }
    }

    /// Appends the entries of the next piece.
    fn add(&mut self, entries: Entries<T>, piece: &Piece) -> Result<(), Refusal> {
        let left = self.size.entries - self.seen;
        if entries.values.len() as u128 > left {
            let reason = format!("is one entry more than the {} in the size", self.size.entries);
            return Err(place_of(piece, left as usize, &reason).into()); // fewer than the piece has
        }
        self.seen += entries.values.len() as u128;
        if self.size.header.is_array || self.size.header.symmetry != Symmetry::General {
            let Entries { rows, columns, values, sides } = entries;
            self.check_side(sides)?;
            let all = self.mirror(&rows, &columns, &values, piece)?;
            return self.extend(&all);
        }
        self.extend(&entries)
    }

    fn extend(&mut self, entries: &Entries<T>) -> Result<(), Refusal> {
        self.rows.extend(&entries.rows)?;
        self.columns.extend(&entries.columns)?;
        Ok(extend(&mut self.values, &entries.values)?)
    }

    /// Checks that entries off the diagonal are all on one side of it.
    fn check_side(&mut self, sides: [Option<Local>; 2]) -> Result<(), Refusal> {
        let [below, above] = sides;
        if self.size.header.symmetry == Symmetry::General {
            return Ok(());
        }
        let first = match (&below, &above) {
            (Some(below), Some(above)) if above.line < below.line => Some(Side::Above),
            (Some(_), _) => Some(Side::Below),
            (None, Some(_)) => Some(Side::Above),
            (None, None) => None,
        };
        self.side = self.side.or(first);
        let wrong = match self.side.map(Side::other) {
            Some(Side::Below) => below,
            Some(Side::Above) => above,
            None => None,
        };
        wrong.map_or(Ok(()), |local| Err(local.into()))
    }

    /// Returns the entries with their mirrored ones, and without the zeros of an array.
    fn mirror(&mut self, rows: &[u64], columns: &[u64], values: &[T], piece: &Piece) -> Result<Entries<T>, Refusal> {
        let header = self.size.header;
        let mut all = Entries { rows: Vec::new(), columns: Vec::new(), values: Vec::new(), sides: [None, None] };
        let room = values.len() * if header.symmetry == Symmetry::General { 1 } else { 2 };
        reserve(&mut all.rows, room)?;
        reserve(&mut all.columns, room)?;
        reserve(&mut all.values, room)?;
        for (at, &value) in values.iter().enumerate() {
            let (row, column) = if header.is_array { self.places.next() } else { (rows[at], columns[at]) };
            if header.is_array && is_zero(value) {
                continue;
            }
            all.push(row, column, value);
            if header.symmetry != Symmetry::General && row != column {
                let Some(other) = mirrored(value, header.symmetry, self.options.policy) else {
                    let reason = format!("also stands for its negative, which is not representable as {}", T::TYPE);
                    return Err(place_of(piece, at, &reason).into());
                };
                all.push(column, row, other);
            }
        }
        Ok(all)
    }

    fn finish(self, text: &Text<impl Read>) -> Result<CsrNumericTable> {
        let Size { shape, entries, line, .. } = self.size;
        if self.seen < entries {
            let reason = format!("the file ends after {} of {entries} entries", self.seen);
            return Err(Local::new(0, b"", reason).into_error(text.next_line(), text.path()));
        }
        let limit = self.options.row_limit.of(text.bytes_read());
        if shape.rows as u64 > limit {
            let reason = format!("rows are more than {limit}: `MatrixMarketOptions::max_rows` allows more");
            return Err(Local::new(0, shape.rows.to_string().as_bytes(), reason).into_error(line, text.path()));
        }
        let (rows, columns) = (self.rows.into_array(), self.columns.into_array());
        let table = CsrNumericTable::from_triplets(shape, rows, columns, self.values).map_err(Rejected::into_error)?;
        trace::record(CopyKind::Loaded, table.size_of_arrays());
        Ok(table)
    }
}

impl<T> Entries<T> {
    /// Adds an entry. Its memory must be reserved.
    fn push(&mut self, row: u64, column: u64, value: T) {
        self.rows.push(row);
        self.columns.push(column);
        self.values.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Outcome = Result<(Vec<usize>, Vec<usize>, Vec<i16>), String>;

    fn outcome(text: &str, size: usize) -> Outcome {
        let text = Text::new(text.as_bytes()).with_pieces_of(size);
        let table = read::<i16>(text, &MatrixMarketOptions::new()).map_err(|error| error.to_string())?;
        let (offsets, indices) = (table.offsets().iter().collect(), table.indices().iter().collect());
        Ok((offsets, indices, table.values_slice::<i16>().unwrap().to_vec()))
    }

    #[test]
    fn a_file_is_the_same_wherever_it_is_cut() {
        let texts = [
            "%%MatrixMarket matrix coordinate integer general\n% a\n\n3 4 3\n3 4 7\n%\n1 1 -2\n\n1 1 5",
            "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n3 1 7\n2 2 1\n1 3 2\n",
            "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n1 3 7\n1 2 1\n1 1 2\n",
            "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n3 1 7\n2 1 -32768\n",
            "%%MatrixMarket matrix coordinate integer general\n3 3 3\n3 1 7\n2 1 5\n",
            "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n0\n3\n",
            "%%MatrixMarket matrix array integer general\n2 2\n1\n0\n3\n4\n5\n",
            "%%MatrixMarket matrix array integer\n",
            "%%MatrixMarket matrix array integer general\n% nothing\n",
        ];
        for text in texts {
            let expected = outcome(text, 1 << 20);
            for size in 1..60 {
                assert_eq!(outcome(text, size), expected, "{text:?} in pieces of {size}");
            }
        }
    }
}
