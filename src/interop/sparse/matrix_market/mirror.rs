//! The half of a symmetric matrix that is not in its file, and the positions of the entries of an array.

use super::header::Symmetry;
use crate::base::element::Element;
use crate::base::number::{Exact, Loss};
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;

/// A side of the diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Below,
    Above,
}

impl Side {
    /// The reason to reject an entry on one side after one on the other side.
    pub(super) const REASON: &'static str =
        "is not on the same side of the diagonal as an earlier entry: a file has one half of a symmetric matrix";

    /// Returns the side of an entry; `None` on the diagonal.
    pub(super) fn of(row: u64, column: u64) -> Option<Self> {
        match row.cmp(&column) {
            std::cmp::Ordering::Less => Some(Self::Above),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(Self::Below),
        }
    }

    pub(super) fn other(self) -> Self {
        match self {
            Self::Below => Self::Above,
            Self::Above => Self::Below,
        }
    }
}

/// Returns the value on the other side of the diagonal; `None` if the type cannot represent it.
pub(super) fn mirrored<T: Element>(value: T, symmetry: Symmetry, policy: ConversionPolicy) -> Option<T> {
    if symmetry != Symmetry::Skew {
        return Some(value);
    }
    let negative = match value.exact() {
        Exact::Integer(value) => Exact::Integer(-value),
        Exact::Float(value) => Exact::Float(-value),
    };
    let is_permitted = policy == ConversionPolicy::Saturate || T::loss(negative) == Loss::None;
    is_permitted.then(|| T::nearest(negative))
}

/// The positions of the values of an array, column by column. A symmetric array starts at the diagonal in each column.
#[derive(Debug)]
pub(super) struct Places {
    shape: Shape,
    symmetry: Symmetry,
    row: usize,
    column: usize,
}

impl Places {
    pub(super) fn new(shape: Shape, symmetry: Symmetry) -> Self {
        Self { shape, symmetry, row: usize::from(symmetry == Symmetry::Skew), column: 0 }
    }

    /// Returns the position of the next value, which must exist.
    pub(super) fn next(&mut self) -> (u64, u64) {
        let place = (self.row as u64, self.column as u64);
        self.row += 1;
        if self.row == self.shape.rows {
            self.column += 1;
            self.row = match self.symmetry {
                Symmetry::General => 0,
                Symmetry::Symmetric => self.column,
                Symmetry::Skew => self.column + 1,
            };
        }
        place
    }
}
