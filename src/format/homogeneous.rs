//! The file of a homogeneous table, with the element type, layout and shape from its header.

use super::file::TableFile;
use super::header::HomogeneousHeader;
use super::values::FileValues;
use crate::array::Array;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, Hint, Result};
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::table::DataLayout;

/// An open file whose values have one element type.
#[derive(Debug)]
pub(super) struct HomogeneousFile {
    pub(super) parts: TableFile,
    pub(super) element_type: ElementType,
    pub(super) layout: DataLayout,
    pub(super) shape: Shape,
}

impl HomogeneousFile {
    /// Combines a file with its decoded header.
    pub(super) fn new(parts: TableFile, header: &HomogeneousHeader) -> Self {
        let &HomogeneousHeader { element_type, layout, shape, .. } = header;
        Self { parts, element_type, layout, shape }
    }

    /// Returns the values of the file.
    pub(super) fn values<'a>(&'a self, meter: Option<&'a Meter>) -> FileValues<'a> {
        FileValues { file: &self.parts, element_type: self.element_type, position: 0, meter }
    }

    /// Reads all values, converted if the file holds another type, and compares their checksums.
    pub(super) fn load<T: Element>(&self, meter: Option<&Meter>) -> Result<Array<T>> {
        let (array, runs) = self.values(meter).load(self.shape.element_count_of(T::TYPE)?)?;
        self.parts.check_sums(runs)?;
        trace::record(CopyKind::Loaded, array.size_in_bytes());
        Ok(array)
    }

    /// Returns whether the file is row-major with values of `element`, so that its rows need no conversion.
    pub(super) fn has_rows_of(&self, element: ElementType) -> bool {
        let Shape { rows, columns } = self.shape;
        let by_rows = self.layout == DataLayout::RowMajor || rows == 1 || columns == 1;
        self.shape.is_empty() || (by_rows && self.element_type == element)
    }

    /// Returns the size in bytes of `rows` rows. `rows` must not exceed the file's number of rows.
    pub(super) fn size_of_rows(&self, rows: usize) -> u64 {
        (rows * self.shape.columns * self.element_type.size_in_bytes()) as u64
    }

    /// Checks that the file holds values of the expected type.
    pub(super) fn check_type(&self, expected: ElementType) -> Result<()> {
        match self.element_type {
            found if found == expected => Ok(()),
            found => Err(Error::element_type_mismatch(expected, found)
                .with_hint(Hint::new("load_cast", "converts"))
                .in_file(self.parts.path())),
        }
    }
}
