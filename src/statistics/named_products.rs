//! Sums of products with column names, which covariances and Gram matrices share, and the division of tables for the
//! loops of `product`.
//!
//! With few columns, several threads process groups of rows, each with its own sums, which are merged in order. With
//! many columns the sums are large, so there is a single set, whose tiles are divided among the threads. The choice
//! depends only on the number of columns, and results do not depend on the number of threads, bit for bit.

use std::borrow::Cow;
use std::ops::Range;

use serde::de;

use super::blocks::{Work, dictionary_of, fits, names_of, with_rows};
use super::double::Double;
use super::options::StatisticsOptions;
use super::product::{Products, cost};
use super::strips::{BLOCK_ROWS, Block, Center};
use crate::base::count::{rows_after, same_count};
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::number::plain_nan;
use crate::base::parallel::{self, in_order};
use crate::base::range::cut;
use crate::base::room::with_room;
use crate::dictionary::DataDictionary;
use crate::serde::numbers::{List, Numbers};
use crate::serde::remember;
use crate::table::DataLayout;
use crate::table::NumericTable;
use crate::table::packed::{PackedSymmetricMatrix, Triangle};

/// The largest number of columns for which several sets of sums are computed at a time, 68 KiB each.
const FEW_COLUMNS: usize = 128;
/// Number of rows of a group.
const GROUP_ROWS: usize = 16 * BLOCK_ROWS;
/// Approximate number of bytes of sums that wait to be merged, and of blocks: half of these are multiplied while the
/// others are read.
const HELD_BYTES: usize = 16 << 20;

/// Sums of products of columns, and the metadata of these columns.
#[derive(Clone, Debug)]
pub(super) struct NamedProducts {
    pub(super) products: Products,
    /// Number of rows that are left out because they have a missing value.
    pub(super) missing: u64,
    pub(super) dictionary: Option<DataDictionary>,
}

/// The serialized fields of both types of result. One of the types calls its `means` sums.
pub(super) struct Fields<'a> {
    pub(super) rows: u64,
    pub(super) means: List<'a, Double>,
    /// One half of the matrix, row by row. The bits of the number of rows that are left out follow, if there are any:
    /// older libraries reject this number of products.
    pub(super) products: Numbers<'a, f64>,
    pub(super) dictionary: Option<DataDictionary>,
}

impl NamedProducts {
    /// Creates the sums of the given number of columns, without rows.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn new(columns: usize, center: Center) -> Result<Self> {
        Ok(Self { products: Products::new(columns, center)?, missing: 0, dictionary: None })
    }

    /// Computes the sums of the complete rows of a table.
    ///
    /// # Errors
    /// The errors of reading the table; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn compute_with(table: &dyn NumericTable, center: Center, options: &StatisticsOptions) -> Result<Self> {
        let of = |work: &Work<'_>| Ok((compute(work, center)?, work.missing));
        let (products, missing) = Work::with_complete_rows(table, None, options, of)?;
        let dictionary = dictionary_of(table, products.columns);
        Ok(Self { products, missing, dictionary })
    }

    /// Adds the complete rows of a table. Few rows are added directly to the sums, so that large matrices are not
    /// merged for each block of rows. The choice depends only on the shape.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`](crate::ErrorKind::LengthMismatch) if the numbers of columns differ; the errors of
    /// [`add_rows`](Self::add_rows) and of reading the table. On error, nothing is added.
    pub(super) fn update_with(&mut self, table: &dyn NumericTable) -> Result<()> {
        let (columns, options) = (self.products.columns, StatisticsOptions::new());
        Work::with_complete_rows(table, Some(columns), &options, |work| self.add(work))?;
        if self.dictionary.is_none() {
            self.dictionary = dictionary_of(table, self.products.columns);
        }
        Ok(())
    }

    /// Adds complete rows, as [`update_with`](Self::update_with) does.
    ///
    /// # Errors
    /// [`ErrorKind::NotWholeRows`](crate::ErrorKind::NotWholeRows);
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded);
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory). On error, nothing is added.
    pub(super) fn add_rows<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        with_rows(rows, self.products.columns, |work| self.add(work))
    }

    /// Computes the sums of complete rows and merges them.
    ///
    /// # Errors
    /// The errors of [`add_rows`](Self::add_rows). On error, nothing is added.
    pub(super) fn merge_rows<U: Element>(&mut self, rows: &[U]) -> Result<()> {
        let found = with_rows(rows, self.products.columns, |work| {
            rows_after(self.all_rows(), work.shape.rows as u64)?;
            compute(work, self.products.center())
        })?;
        self.products.merge(&found)
    }

    /// Merges the sums of other tables into these.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`](crate::ErrorKind::LengthMismatch) if the numbers of columns differ;
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded);
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory). On error, nothing is added.
    pub(super) fn merge(&mut self, other: &Self) -> Result<()> {
        same_count(self.products.columns, other.products.columns)?;
        rows_after(self.all_rows(), other.all_rows())?;
        self.products.merge(&other.products)?;
        self.missing += other.missing;
        if self.dictionary.is_none() {
            self.dictionary.clone_from(&other.dictionary);
        }
        Ok(())
    }

    /// Adds rows: directly if they are few; otherwise computes their products and merges them.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`], and the errors of reading the rows. On error, nothing is added.
    fn add(&mut self, work: &Work<'_>) -> Result<()> {
        let rows = rows_after(work.shape.rows as u64, work.missing)?;
        rows_after(self.all_rows(), rows)?;
        let center = self.products.center();
        match work.shape {
            shape if shape.is_empty() => self.products.rows += shape.rows as u64,
            shape if shape.rows <= rows_at_once(shape.columns) => {
                let blocks = read(work, 0..shape.rows, center)?;
                self.products.add(&blocks)?;
            }
            _ => self.products.merge(&compute(work, center)?)?,
        }
        self.missing += work.missing;
        Ok(())
    }

    /// Returns the number of all rows, with those that are left out.
    fn all_rows(&self) -> u64 {
        self.products.rows + self.missing
    }

    /// Returns the size of the sums in bytes.
    pub(super) fn size_in_bytes(&self) -> usize {
        Products::bytes(self.products.columns)
    }

    /// Creates a matrix with the names of the columns. Calls `value` with each sum of products, its row and its column.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn matrix(&self, value: impl Fn(f64, usize, usize) -> f64) -> Result<PackedSymmetricMatrix> {
        let (products, columns) = (&self.products, self.products.columns);
        let mut values = with_room(columns * (columns + 1) / 2)?; // in range, as are the sums
        for row in 0..columns {
            products.for_row(row, |sum, column| values.push(plain_nan(value(sum, row, column))));
        }
        let matrix = PackedSymmetricMatrix::from_packed(values, Triangle::Lower, DataLayout::RowMajor);
        let mut matrix = matrix?;
        matrix.set_dictionary(names_of(self.dictionary.as_ref(), columns))?;
        Ok(matrix)
    }

    /// Returns the fields to serialize.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn to_fields(&self) -> Result<Fields<'_>> {
        let mut products = self.products.packed()?;
        if self.missing > 0 {
            products.try_reserve(1).map_err(|_| Error::out_of_memory(size_of_val(&products[..])))?;
            products.push(f64::from_bits(self.missing));
        }
        Ok(Fields {
            rows: self.products.rows,
            means: List(Cow::Borrowed(self.products.means())),
            products: Numbers(Cow::Owned(products)),
            dictionary: self.dictionary.clone(),
        })
    }

    /// Assembles sums from their fields and checks that they fit together.
    ///
    /// # Errors
    /// A description of the mismatch, or [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn from_fields<E: de::Error>(fields: Fields<'_>, center: Center) -> std::result::Result<Self, E> {
        let Fields { rows, means, products, dictionary } = fields;
        let (means, sums) = (&means.0, &products.0);
        let (columns, found) = (means.len(), sums.len());
        let expected = columns.checked_add(1).and_then(|next| columns.checked_mul(next)).map(|twice| twice / 2);
        let split = expected.and_then(|expected| sums.split_at_checked(expected));
        let (sums, missing) = match split {
            Some((sums, [])) => (sums, 0),
            Some((sums, [missing])) => (sums, missing.to_bits()),
            _ => return Err(E::custom(format_args!("{found} sums of products do not match {columns} columns"))),
        };
        if rows.checked_add(missing).is_none() {
            return Err(E::custom("there are more rows than can be counted"));
        }
        if !means.iter().all(|mean| mean.is_sum()) {
            return Err(E::custom(match center {
                Center::Means => "the mean of a column is larger than any mean of values",
                Center::Zero => "the sum of a column is larger than any sum of values",
            }));
        }
        let is_zero = means.iter().all(|&mean| mean == Double::ZERO) && sums.iter().all(|&sum| sum == 0.0);
        if rows == 0 && !is_zero {
            return Err(E::custom("there are no rows, but sums that are not zero"));
        }
        fits(dictionary.as_ref(), columns).map_err(E::custom)?;
        Ok(Self { products: Products::from_packed(rows, means, sums, center).map_err(remember)?, missing, dictionary })
    }
}

/// Computes the products of rows.
fn compute(work: &Work<'_>, center: Center) -> Result<Products> {
    let mut all = Products::new(work.shape.columns, center)?;
    if work.shape.is_empty() {
        all.rows = work.shape.rows as u64;
        return Ok(all);
    }
    match work.shape.columns <= FEW_COLUMNS {
        true => by_groups(work, &mut all)?,
        false => by_tiles(work, &mut all)?,
    }
    Ok(all)
}

/// Multiplies groups of rows, several at a time, each with its own sums.
fn by_groups(work: &Work<'_>, all: &mut Products) -> Result<()> {
    let (columns, center) = (work.shape.columns, all.center());
    let group = |rows: Range<usize>| {
        let mut products = Products::new(columns, center)?;
        let mut block = [Block::new(center)];
        let mut buffer = Vec::new();
        for rows in cut(rows.clone(), BLOCK_ROWS) {
            block[0].read(rows, columns, work.source, &mut buffer)?;
            products.add(&block)?;
        }
        work.rows_done(rows.len());
        Ok(products)
    };
    let at_once = (HELD_BYTES / Products::bytes(columns)).clamp(1, 1024);
    let groups = cut(0..work.shape.rows, GROUP_ROWS);
    in_order(groups, cost(work.shape.rows, columns), at_once, group, |found| all.merge(&found))
}

/// Multiplies several blocks at a time. Each thread computes some of the tiles of all of them, or reads some of the next
/// blocks.
fn by_tiles(work: &Work<'_>, all: &mut Products) -> Result<()> {
    let (columns, center) = (work.shape.columns, all.center());
    let mut groups = cut(0..work.shape.rows, rows_of_group(columns));
    let Some(mut rows) = groups.next() else { return Ok(()) };
    let (mut blocks, mut next_blocks) = (read(work, rows.clone(), center)?, Vec::new());
    loop {
        let next = groups.next();
        let pieces = next.clone().map_or(Vec::new(), |rows| pieces_of(rows, center, &mut next_blocks));
        all.add_beside(&blocks, pieces, |piece| read_piece(work, piece))?;
        work.rows_done(rows.len());
        let Some(next) = next else { return Ok(()) };
        rows = next;
        std::mem::swap(&mut blocks, &mut next_blocks);
    }
}

/// Returns the number of rows of the blocks that are multiplied together: half of those that are held, or one block.
fn rows_of_group(columns: usize) -> usize {
    (rows_at_once(columns) / 2).next_multiple_of(BLOCK_ROWS)
}

/// Returns about the number of rows of the blocks that are held at a time.
fn rows_at_once(columns: usize) -> usize {
    let block_bytes = columns.saturating_mul(BLOCK_ROWS * size_of::<f64>());
    (HELD_BYTES / block_bytes).clamp(1, 16) * BLOCK_ROWS
}

/// Reads rows as blocks, in parallel if that is faster.
fn read(work: &Work<'_>, rows: Range<usize>, center: Center) -> Result<Vec<Block>> {
    let task_count = parallel::task_count(cost(rows.len(), work.shape.columns));
    let mut blocks = Vec::new();
    let pieces = pieces_of(rows, center, &mut blocks);
    let read = |piece: Piece<'_>| read_piece(work, piece);
    match task_count {
        1 => pieces.into_iter().try_for_each(read)?,
        _ => parallel::map(pieces, read).into_iter().collect::<Result<()>>()?,
    }
    Ok(blocks)
}

/// A block, and the rows that are read into it.
type Piece<'b> = (&'b mut Block, Range<usize>);

/// Reads the rows of a block.
fn read_piece(work: &Work<'_>, (block, rows): Piece<'_>) -> Result<()> {
    block.read(rows, work.shape.columns, work.source, &mut Vec::new())
}

/// Assigns rows to blocks. Existing blocks keep their memory.
fn pieces_of(rows: Range<usize>, center: Center, blocks: &mut Vec<Block>) -> Vec<Piece<'_>> {
    let parts: Vec<_> = cut(rows, BLOCK_ROWS).collect();
    blocks.resize_with(parts.len(), || Block::new(center));
    blocks.iter_mut().zip(parts).collect()
}
