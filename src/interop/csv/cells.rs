//! The cells of columns of several element types, which fields are stored in.

use super::parse::Taken;
use super::syntax::Syntax;
use crate::base::element::{Element, ElementType, with_elements};
use crate::interop::text::number::fast_number;
use crate::window::AnySliceMut;

macro_rules! define_cells {
    (() [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        /// Consecutive values of one column of the table.
        pub(super) enum Cells<'t> {
            $($variant(&'t mut [$native]),)*
        }

        impl<'t> Cells<'t> {
            pub(super) fn new(values: AnySliceMut<'t>) -> Self {
                match values.element_type() {
                    $(ElementType::$variant => Self::$variant(values.downcast().unwrap_or_default()),)*
                }
            }

            /// Returns an empty sequence of cells.
            pub(super) fn none(element: ElementType) -> Self {
                match element { $(ElementType::$variant => Self::$variant(&mut []),)* }
            }

            pub(super) fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }

            /// Returns the number of cells.
            pub(super) fn len(&self) -> usize {
                match self { $(Self::$variant(values) => values.len(),)* }
            }

            /// Returns the first `count` cells and the rest.
            pub(super) fn split_at(self, count: usize) -> (Self, Self) {
                match self {
                    $(Self::$variant(values) => {
                        let (head, tail) = values.split_at_mut(count);
                        (Self::$variant(head), Self::$variant(tail))
                    })*
                }
            }

            fn as_mut<T: Element>(&mut self) -> Option<&mut [T]> {
                match self { $(Self::$variant(values) => AnySliceMut::new(values).downcast(),)* }
            }

            /// Stores a number of the cells' type if the fast path can parse the field.
            #[inline(never)]
            pub(super) fn take(&mut self, row: usize, bytes: &[u8], syntax: &Syntax) -> Taken {
                match self { $(Self::$variant(values) => take::<$native>(values, row, bytes, syntax),)* }
            }
        }
    };
}
with_elements! { define_cells () }

fn take<T: Element>(values: &mut [T], row: usize, bytes: &[u8], syntax: &Syntax) -> Taken {
    match fast_number::<T>(bytes) {
        Some((value, length)) if syntax.ends_field(bytes, length) => {
            put(values, row, value);
            Taken::Stored(length)
        }
        _ => Taken::Field,
    }
}

/// Stores a value if there is a cell for it. The first records are also examined without cells.
#[inline(always)]
pub(super) fn put<T>(values: &mut [T], row: usize, value: T) {
    if let Some(cell) = values.get_mut(row) {
        *cell = value;
    }
}

/// Stores a value in all columns, which have the type `T`.
pub(super) fn fill<T: Element>(cells: &mut [Cells<'_>], row: usize, value: T) {
    for cells in cells {
        put(cells.as_mut::<T>().unwrap_or_default(), row, value);
    }
}
