//! Borrowed tables as owned ones, so that a borrowed table can be part of a merged one.

use super::{HomogenNumericTable, NumericTable, Token};

/// Forwards the reading methods of [`NumericTable`] to `$table`.
macro_rules! forwards_reading {
    ($self:ident, $table:expr) => {
        fn shape(&$self) -> crate::base::shape::Shape {
            $table.shape()
        }

        fn dictionary(&$self) -> &crate::dictionary::DataDictionary {
            $table.dictionary()
        }

        fn id(&$self) -> crate::table::TableId {
            $table.id()
        }

        fn depth(&$self) -> usize {
            $table.depth()
        }

        fn uniform_type(&$self) -> Option<crate::base::element::ElementType> {
            $table.uniform_type()
        }

        fn data_layout(&$self) -> crate::table::DataLayout {
            $table.data_layout()
        }

        fn data_memory_status(&$self) -> crate::table::MemoryStatus {
            $table.data_memory_status()
        }

        fn piece(&$self, row: usize, column: usize) -> Result<Option<crate::table::Piece<'_>>, crate::base::error::Error> {
            $table.piece(row, column)
        }

        fn lender(&$self) -> Option<&dyn crate::table::Lend> {
            $table.lender()
        }

        fn slice_in_place(
            &$self,
            region: &crate::table::Region,
            element: crate::base::element::ElementType,
            token: crate::table::Token,
        ) -> Result<Option<crate::window::AnySlice<'_>>, crate::base::error::Error> {
            $table.slice_in_place(region, element, token)
        }

        fn array_in_place(
            &$self,
            region: &crate::table::Region,
            element: crate::base::element::ElementType,
            token: crate::table::Token,
        ) -> Result<Option<(crate::array::AnyArrayRef<'_>, std::ops::Range<usize>)>, crate::base::error::Error> {
            $table.array_in_place(region, element, token)
        }

        fn read_few(
            &$self,
            region: &crate::table::Region,
            target: crate::window::AnySliceMut<'_>,
            policy: crate::convert::ConversionPolicy,
            token: crate::table::Token,
        ) -> bool {
            $table.read_few(region, target, policy, token)
        }

        fn validity(
            &$self,
            column: usize,
            rows: std::ops::Range<usize>,
        ) -> Result<Option<crate::array::Validity>, crate::base::error::Error> {
            $table.validity(column, rows)
        }

        fn column_array(
            &$self,
            column: usize,
            rows: &std::ops::Range<usize>,
            token: crate::table::Token,
        ) -> Result<(crate::array::AnyArray, Option<crate::array::Validity>), crate::base::error::Error> {
            $table.column_array(column, rows, token)
        }

        fn stored_cells(
            &$self,
            rows: &std::ops::Range<usize>,
            token: crate::table::Token,
        ) -> Option<crate::table::csr::cells::StoredCells<'_>> {
            $table.stored_cells(rows, token)
        }

        fn read_region(
            &$self,
            region: &crate::table::Region,
            target: crate::table::Target<'_>,
        ) -> Result<(), crate::base::error::Error> {
            $table.read_region(region, target)
        }
    };
}

/// Forwards the writing methods of [`NumericTable`], except `resize`, to `$table`.
macro_rules! forwards_writing {
    ($self:ident, $table:expr) => {
        fn set_dictionary(&mut $self, dictionary: crate::dictionary::DataDictionary) -> Result<(), crate::base::error::Error> {
            $table.set_dictionary(dictionary)
        }

        fn pieces_mut(&mut $self) -> Result<Vec<crate::table::PieceMut<'_>>, crate::base::error::Error> {
            $table.pieces_mut()
        }

        fn pieces_around(
            &mut $self,
            region: &crate::table::Region,
            token: crate::table::Token,
        ) -> Result<Vec<crate::table::PieceMut<'_>>, crate::base::error::Error> {
            $table.pieces_around(region, token)
        }

        fn check_region_writable(
            &mut $self,
            region: &crate::table::Region,
            token: crate::table::Token,
        ) -> Result<(), crate::base::error::Error> {
            $table.check_region_writable(region, token)
        }

        fn own_dictionary(&mut $self, token: crate::table::Token) -> Option<&mut crate::dictionary::DataDictionary> {
            $table.own_dictionary(token)
        }

        fn piece_mut(
            &mut $self,
            row: usize,
            column: usize,
        ) -> Result<Option<crate::table::PieceMut<'_>>, crate::base::error::Error> {
            $table.piece_mut(row, column)
        }

        fn write_region(
            &mut $self,
            region: &crate::table::Region,
            values: crate::window::AnySlice<'_>,
            rule: crate::convert::WriteRule,
        ) -> Result<(), crate::base::error::Error> {
            $table.write_region(region, values, rule)
        }

        fn write_validity(
            &mut $self,
            column: usize,
            first_row: usize,
            validity: &crate::array::Validity,
            token: crate::table::Token,
        ) -> Result<(), crate::base::error::Error> {
            $table.write_validity(column, first_row, validity, token)
        }

        fn takes_gaps(&$self, column: usize, token: crate::table::Token) -> bool {
            $table.takes_gaps(column, token)
        }

        fn prepare_write(
            &mut $self,
            region: &crate::table::Region,
            values: crate::window::AnySlice<'_>,
            rule: crate::convert::WriteRule,
            token: crate::table::Token,
        ) -> Result<(), crate::base::error::Error> {
            $table.prepare_write(region, values, rule, token)
        }

        fn lender_mut(&mut $self) -> Option<&mut dyn crate::table::Lend> {
            $table.lender_mut()
        }

        fn has_slice(
            &$self,
            region: &crate::table::Region,
            element: crate::base::element::ElementType,
            token: crate::table::Token,
        ) -> bool {
            $table.has_slice(region, element, token)
        }

        fn slice_in_place_mut(
            &mut $self,
            region: &crate::table::Region,
            element: crate::base::element::ElementType,
            token: crate::table::Token,
        ) -> Result<Option<crate::window::AnySliceMut<'_>>, crate::base::error::Error> {
            $table.slice_in_place_mut(region, element, token)
        }

        fn write_lease(
            &mut $self,
            lease: &mut crate::table::Lease,
            values: crate::window::AnySlice<'_>,
            rule: crate::convert::WriteRule,
            token: crate::table::Token,
        ) -> Result<bool, crate::base::error::Error> {
            $table.write_lease(lease, values, rule, token)
        }

        fn lend_in_place(
            &mut $self,
            region: &crate::table::Region,
            in_place: Option<crate::base::element::ElementType>,
            lease: &mut crate::table::Lease,
            token: crate::table::Token,
        ) -> Result<bool, crate::base::error::Error> {
            $table.lend_in_place(region, in_place, lease, token)
        }

        fn lend_few(
            &mut $self,
            region: &crate::table::Region,
            target: crate::window::AnySliceMut<'_>,
            policy: crate::convert::ConversionPolicy,
            lease: &mut crate::table::Lease,
            token: crate::table::Token,
        ) -> bool {
            $table.lend_few(region, target, policy, lease, token)
        }

        fn end_lease(
            &mut $self,
            lease: &mut crate::table::Lease,
            token: crate::table::Token,
        ) -> Result<(), crate::base::error::Error> {
            $table.end_lease(lease, token)
        }
    };
}
pub(super) use {forwards_reading, forwards_writing};

/// Wraps a mutably borrowed table in a boxed table, without a copy. Writing to the result writes to the borrowed table.
/// The result can be part of a [`MergedNumericTable`](crate::MergedNumericTable) for as long as the borrow lasts. It
/// cannot be resized. Calling this function or [`by_ref`] on its own result borrows the original table, so nested
/// borrows do not slow down reading.
///
/// # Examples
/// ```
/// use numeric_table::{MergedNumericTable, prelude::*, table::by_mut};
/// let mut lengths = HomogenNumericTable::from_rows(&[[1.5_f32], [2.5]])?;
/// let mut counts = HomogenNumericTable::from_rows(&[[7_u8], [8]])?;
/// let mut table = MergedNumericTable::new([by_mut(&mut lengths), by_mut(&mut counts)])?;
/// table.set_value(1, 1, 9.0)?;
/// drop(table); // ends the borrow
/// assert_eq!(counts.as_slice()?, [7, 9]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn by_mut<'t>(table: &'t mut (dyn NumericTable + 't)) -> Box<dyn NumericTable + 't> {
    if table.borrowed(Token::new()).is_none() {
        return Box::new(Mutable(table));
    }
    if table.borrowed_mut(Token::new()).is_none() {
        return by_ref(table); // read-only like the table
    }
    match table.borrowed_mut(Token::new()) {
        Some(table) => Box::new(Mutable(table)),
        None => HomogenNumericTable::<f32>::default().into_dyn(), // never: checked above
    }
}

/// Wraps a borrowed table in a boxed read-only table, without a copy. Writing returns an error.
///
/// # Examples
/// ```
/// use numeric_table::{RowMergedNumericTable, prelude::*, table::by_ref};
/// let (head, tail) = (HomogenNumericTable::from_rows(&[[1_u8, 2]])?, HomogenNumericTable::from_rows(&[[3_u8, 4]])?);
/// let mut table = RowMergedNumericTable::new([by_ref(&head), by_ref(&tail), by_ref(&head)])?;
/// assert_eq!(table.rows::<u8>(..)?[..], [1, 2, 3, 4, 1, 2]);
/// assert!(matches!(table.set_value(0, 0, 9_u8).unwrap_err().kind(), ErrorKind::ReadOnlyTable));
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn by_ref<'t>(table: &'t (dyn NumericTable + 't)) -> Box<dyn NumericTable + 't> {
    Box::new(Shared(table.borrowed(Token::new()).unwrap_or(table)))
}

/// Invariant, also of [`Mutable`]: the table is not one of these two types, so calls go through at most one of them.
/// They do not count as a level of nesting, which is limited.
struct Shared<'t>(&'t (dyn NumericTable + 't));

impl NumericTable for Shared<'_> {
    forwards_reading!(self, self.0);

    fn borrowed(&self, _: Token) -> Option<&dyn NumericTable> {
        Some(self.0)
    }
}

struct Mutable<'t>(&'t mut (dyn NumericTable + 't));

impl NumericTable for Mutable<'_> {
    forwards_reading!(self, self.0);
    forwards_writing!(self, self.0);

    fn borrowed(&self, _: Token) -> Option<&dyn NumericTable> {
        Some(self.0)
    }

    fn borrowed_mut(&mut self, _: Token) -> Option<&mut dyn NumericTable> {
        Some(self.0)
    }
}
