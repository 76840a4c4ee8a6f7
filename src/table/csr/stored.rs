//! Sparse rows in files and archives: offsets, indices and values, unchanged.

use super::check;
use super::{CsrNumericTable, CsrParts};
use crate::base::error::Result;
use crate::table::content::{Content, FoundContent, Stored, Values};
use crate::table::{MemoryStatus, NumericTable, TableKind};

impl Stored for CsrNumericTable {
    const KIND: TableKind = TableKind::CSR;

    fn content(&self) -> Result<Content<'_>> {
        let values = [&self.offsets, &self.indices, self.values()].map(|array| Values::Array(array.clone()));
        let (shape, dictionary) = (self.shape(), self.dictionary().clone());
        Ok(Content {
            kind: Self::KIND,
            shape,
            settings: Vec::new(),
            dictionary,
            values: values.into(),
            gaps: Vec::new(),
        })
    }

    fn from_content(mut found: FoundContent) -> Result<Self> {
        let [] = found.settings(Self::KIND)?;
        let [offsets, indices, values] = found.take_arrays(Self::KIND)?;
        let parts = CsrParts { offsets, indices, values };
        check::check(found.shape, &parts, 0)?;
        Ok(Self::from_checked(found.shape, parts, MemoryStatus::InternallyAllocated))
    }
}
