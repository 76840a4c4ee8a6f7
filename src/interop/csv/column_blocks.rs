//! Reading a CSV file that is larger than memory, some rows at a time, each column in its own element type.

use super::evidence::Evidence;
use super::load::Written;
use super::plan::ColumnPlan;
use super::roles::Roles;
use super::survey::{RecordRange, runs_of};
use super::typed::{Outcome, Reader, assemble};
use super::{CsvDescription, CsvSource};
use crate::base::element::ElementType;
use crate::base::error::{Error, Result};
use crate::table::NumericTable;
use crate::table::soa::SoaNumericTable;

/// The rows of a CSV file, some at a time, with columns of several types: see [`CsvSource::column_blocks`].
pub struct CsvColumnBlocks<'s> {
    source: &'s CsvSource,
    roles: &'s Roles,
    plan: ColumnPlan<'s>,
    /// The types of the columns of the file.
    elements: Vec<ElementType>,
    nullable: Vec<bool>,
    pieces: Vec<RecordRange>,
    /// The first piece of the next block.
    next: usize,
    bytes_per_block: u64,
    description: CsvDescription,
}

impl<'s> CsvColumnBlocks<'s> {
    pub(super) fn new(source: &'s CsvSource, bytes_per_block: usize) -> Result<Self> {
        if bytes_per_block == 0 {
            return Err(Error::empty_blocks());
        }
        let description = source.describe()?;
        let roles = source.roles()?;
        let is_kept: Vec<bool> = roles.columns.iter().map(|column| column.is_kept).collect();
        let elements =
            description.columns.iter().map(|column| column.element_type.unwrap_or(ElementType::F64)).collect();
        let plan = ColumnPlan::examine(roles, source.options.policy).map_err(|error| source.input.name_in(error))?;
        Ok(Self {
            source,
            roles,
            plan: plan.convert_only(&is_kept),
            elements,
            nullable: description.columns.iter().map(|column| column.nullable).collect(),
            pieces: source.survey()?.pieces().collect(),
            next: 0,
            bytes_per_block: bytes_per_block as u64,
            description,
        })
    }

    /// Returns the decisions for the columns, as [`CsvSource::describe`] does.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let source = CsvSource::from_bytes(&b"1,0.5\n3,4\n"[..])?;
    /// assert_eq!(source.column_blocks(1 << 20)?.description().rows, 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn description(&self) -> &CsvDescription {
        &self.description
    }

    /// Reads the next rows as a table. Returns `None` after the last ones. After an error, the next call retries the
    /// same rows.
    ///
    /// # Errors
    /// Those of [`CsvSource::load_typed`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::CsvSource, prelude::*};
    /// let source = CsvSource::from_bytes(&b"1,0.5\n3,4\n"[..])?;
    /// let mut blocks = source.column_blocks(1 << 20)?;
    /// assert_eq!(blocks.next_block()?.unwrap().column_slice::<i64>(0)?, [1, 3]);
    /// assert!(blocks.next_block()?.is_none());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn next_block(&mut self) -> Result<Option<SoaNumericTable>> {
        loop {
            let (mut end, mut bytes) = (self.next, 0);
            while end < self.pieces.len() && bytes < self.bytes_per_block {
                bytes += self.pieces[end].bytes.end - self.pieces[end].bytes.start;
                end += 1;
            }
            if end == self.next {
                return Ok(None);
            }
            let table = self.read(&self.pieces[self.next..end])?;
            self.next = end;
            if table.shape().rows > 0 {
                return Ok(Some(table));
            }
        }
    }

    fn read(&self, pieces: &[RecordRange]) -> Result<SoaNumericTable> {
        let first = pieces.first().map_or(0, |piece| piece.rows.start);
        let rows = pieces.iter().map(|piece| piece.rows.len()).sum();
        let (width, columns) = (self.roles.width(), self.roles.columns.len());
        let reader = Reader { source: self.source, roles: self.roles, width, rows };
        let (mut arrays, mut gaps) = (vec![None; width], vec![None; columns]);
        let seen = vec![Evidence::default(); columns];
        let runs = runs_of(pieces);
        let outcome = reader.read(&self.plan, &self.elements, seen, runs, (&mut arrays, &mut gaps))?;
        let Outcome { written, failure, .. } = outcome;
        if let Some(failure) = failure {
            return Err(self.source.error(failure));
        }
        let written: Vec<Written> = written.iter().map(|part| Written { first: part.first - first, ..*part }).collect();
        let feature = |column: usize| (self.elements[column], self.nullable[column]);
        let dictionary = self.roles.dictionary(&feature)?;
        assemble(dictionary, &self.plan, &written, (arrays, gaps))
    }
}

impl std::fmt::Debug for CsvColumnBlocks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CsvColumnBlocks")
            .field("source", &self.source)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
