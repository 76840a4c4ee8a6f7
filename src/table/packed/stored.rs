//! Packed matrices in files and archives: the packed values, and the packing.

use super::{PackedSymmetricMatrix, PackedTriangularMatrix, Triangle};
use crate::array::AnyArray;
use crate::base::error::Result;
use crate::table::content::{Content, FoundContent, Stored, Values, refusal};
use crate::table::{DataLayout, NumericTable, TableKind};

const UPPER: u64 = 0;
const LOWER: u64 = 1;
const BY_ROWS: u64 = 0;
const BY_COLUMNS: u64 = 1;

fn settings_of(triangle: Triangle, order: DataLayout) -> Vec<u64> {
    let triangle = match triangle {
        Triangle::Upper => UPPER,
        Triangle::Lower => LOWER,
    };
    let order = match order {
        DataLayout::RowMajor => BY_ROWS,
        DataLayout::ColumnMajor => BY_COLUMNS,
    };
    vec![triangle, order]
}

/// Returns the values and their packing.
fn packed(kind: TableKind, mut found: FoundContent) -> Result<(AnyArray, Triangle, DataLayout)> {
    let [values] = found.take_arrays(kind)?;
    let [triangle, order] = found.settings(kind)?;
    let triangle = match triangle {
        UPPER => Triangle::Upper,
        LOWER => Triangle::Lower,
        other => return Err(refusal(kind, format_args!("unknown triangle: {other}"))),
    };
    let order = match order {
        BY_ROWS => DataLayout::RowMajor,
        BY_COLUMNS => DataLayout::ColumnMajor,
        other => return Err(refusal(kind, format_args!("unknown order: {other}"))),
    };
    Ok((values, triangle, order))
}

macro_rules! stored {
    ($Matrix:ident, $kind:expr) => {
        impl Stored for $Matrix {
            const KIND: TableKind = $kind;

            fn content(&self) -> Result<Content<'_>> {
                let (kind, shape, dictionary) = (Self::KIND, self.shape(), self.dictionary().clone());
                let settings = settings_of(self.triangle(), self.order());
                Ok(Content {
                    kind,
                    shape,
                    settings,
                    dictionary,
                    values: vec![Values::Array(self.array().clone())],
                    gaps: Vec::new(),
                })
            }

            fn from_content(found: FoundContent) -> Result<Self> {
                let (values, triangle, order) = packed(Self::KIND, found)?;
                let matrix = Self::from_packed(values, triangle, order)?;
                Ok(Self(matrix.0.made_by_the_library()))
            }
        }
    };
}

stored!(PackedSymmetricMatrix, TableKind::PACKED_SYMMETRIC);
stored!(PackedTriangularMatrix, TableKind::PACKED_TRIANGULAR);
