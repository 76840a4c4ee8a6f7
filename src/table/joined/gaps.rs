//! Missing values of joined tables: those of their parts.

use std::ops::Range;

use super::Joined;
use crate::array::{AnyArray, Validity};
use crate::base::error::{Error, ErrorKind, Result};
use crate::convert::{ConversionPolicy, WriteRule, kernel};
use crate::table::{NumericTable, Region, TableDescription, Token, missing, tiling};
use crate::window::AnySlice;

impl Joined<'_> {
    /// Returns whether a refused write may be accepted table by table: some tables have missing values, or a NaN may
    /// make one.
    pub(super) fn may_have_gaps(&self, error: &Error) -> bool {
        let is_of_gap = matches!(error.kind(), ErrorKind::ReadOnlyTable | ErrorKind::ValueNotRepresentable { .. });
        is_of_gap && self.dictionary.has_nullable()
    }

    pub(super) fn joined_validity(&self, column: usize, rows: Range<usize>) -> Result<Option<Validity>> {
        let region = Region { rows, columns: column..column.saturating_add(1) };
        region.check(self.shape)?;
        let mut parts = Vec::new();
        for (table, there, _) in self.tables_of(&region) {
            let (rows, moved) = (there.rows.clone(), self.moved(table));
            let validity = self.tables[table].validity(there.columns.start, there.rows).map_err(moved)?;
            parts.push((validity, rows.len()));
        }
        if let [(_, _)] = parts[..] {
            return Ok(parts.pop().and_then(|(validity, _)| validity));
        }
        let parts: Vec<_> = parts.iter().map(|(validity, rows)| (validity.as_ref(), *rows)).collect();
        Validity::concat(&parts)
    }

    pub(super) fn joined_column(&self, column: usize, rows: &Range<usize>) -> Result<(AnyArray, Option<Validity>)> {
        let region = Region { rows: rows.clone(), columns: column..column.saturating_add(1) };
        region.check(self.shape)?;
        if let Some((table, there)) = self.only_table_of(&region) {
            let moved = self.moved(table);
            return self.tables[table].column_array(there.columns.start, &there.rows, Token::new()).map_err(moved);
        }
        let Some(validity) = self.joined_validity(column, rows.clone())? else {
            return missing::read_column(self, column, rows);
        };
        let mut parts = Vec::new();
        for (table, there, _) in self.tables_of(&region) {
            let part = self.tables[table].column_array(there.columns.start, &there.rows, Token::new());
            parts.push(part.map_err(self.moved(table))?.0);
        }
        Ok((missing::end_to_end(self.column_type(column)?, rows.len(), &parts)?, Some(validity)))
    }

    pub(super) fn write_joined_validity(&mut self, column: usize, first_row: usize, validity: &Validity) -> Result<()> {
        let rows = first_row..first_row.saturating_add(validity.len());
        let region = Region { rows, columns: column..column.saturating_add(1) };
        region.check(self.shape)?;
        // Tables that have no bitmaps, or have lent the column, refuse before any other is changed.
        let parts: Vec<_> = self.tables_of(&region).collect();
        let mut dictionary = self.dictionary.clone();
        for (table, there, place) in &parts {
            let moved = self.moved(*table);
            let part = validity.slice(place.rows.clone())?;
            if part.has_missing() && !self.tables[*table].takes_gaps(there.columns.start, Token::new()) {
                return Err(moved(missing::has_no_bitmaps()));
            }
            self.tables[*table].check_region_writable(there, Token::new()).map_err(moved)?;
        }
        for (table, there, place) in &parts {
            let (part, rows) = (validity.slice(place.rows.clone())?, there.rows.start);
            let moved = self.moved(*table);
            let written = self.tables[*table].write_validity(there.columns.start, rows, &part, Token::new());
            written.map_err(moved)?;
        }
        if validity.has_missing() {
            dictionary.set_nullable(column, true)?;
            self.dictionary = dictionary;
        }
        Ok(())
    }

    /// Calls `work` with each table, its region, and its values of row-major ones.
    fn for_each_table(
        &mut self,
        region: &Region,
        values: AnySlice<'_>,
        mut work: impl FnMut(&mut dyn NumericTable, &Region, AnySlice<'_>) -> Result<()>,
    ) -> Result<()> {
        region.check(self.shape)?;
        let new = tiling::new_values(region, values)?;
        let parts: Vec<_> = self.tables_of(region).collect();
        let mut outcome = Ok(());
        for (table, there, place) in parts {
            let part = new.cut(place.rows.clone(), place.columns.clone());
            let copy; // columns of a part are not contiguous
            let part = match part.as_slice() {
                Some(values) => values,
                None => {
                    copy = kernel::to_array(part, part.element_type(), ConversionPolicy::Saturate, region.origin())?;
                    copy.as_slice()
                }
            };
            let moved = self.moved(table);
            if let Err(error) = work(&mut *self.tables[table], &there, part) {
                outcome = tiling::earlier(outcome, Err(moved(error)));
            }
        }
        outcome
    }

    pub(super) fn prepare_each(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        self.for_each_table(region, values, |table, there, values| {
            table.prepare_write(there, values, rule, Token::new())
        })
    }

    /// Writes values into a region table by table, all or nothing.
    pub(super) fn write_each(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        self.prepare_each(region, values, rule)?;
        self.for_each_table(region, values, |table, there, values| table.write_region(there, values, rule))
    }
}
