//! Kinds of tables that are not the library's, small, and everything that a table can do tried on them.
//!
//! [`Ramp`] has no memory at all: it computes its values, and nobody can write them. [`Stacked`] is one table on top of
//! another: a block may or may not lie in one of them. `View` borrows what it shows. Columns of different types are in
//! `columns`, random tilings in `tiling`, a table that is written in a way of its own in `own_writer`, and tables that
//! say what is not so in `lying`. Semantics: the pages of `NumericTable`, `Piece`, `Target`, `Lease` and `BlockAccess`.

mod any_kind;
mod columns;
mod computed;
mod lying;
mod own_writer;
pub(crate) mod ramp;
mod seam;
pub(crate) mod stacked;
mod tiling;
mod view;

use numeric_table::prelude::*;

use ramp::Ramp;
use stacked::Stacked;

type Result<T, E = Error> = std::result::Result<T, E>;

/// `[[1, 2], [3, 4]]` on top of `[[5, 6], [7, 8], [9, 10]]`.
fn stacked<T: Element + From<u8>>() -> Stacked<T> {
    let row = |first: u8| [T::from(first), T::from(first + 1)];
    let head = HomogenNumericTable::from_rows(&[row(1), row(3)]).unwrap();
    let tail = HomogenNumericTable::from_rows(&[row(5), row(7), row(9)]).unwrap();
    Stacked::new(head, tail)
}

/// All values, whatever kind of table it is.
fn values_of<U: Element>(table: &dyn NumericTable) -> Vec<U> {
    table.rows::<U>(..).unwrap().to_vec()
}
