//! Several tables as one: the code that tables side by side and tables end to end share.
//!
//! The public types are in `merged`. A region that lies in one of the tables is passed on to it. One that spans several
//! is read and written over their pieces, or table by table where a table has no pieces.
//! Invariant: the tables have the same number of columns (end to end) or rows (side by side) when they are joined, and
//! end to end the same element type in each column. While a table is joined, other code cannot reach it to change its
//! size. A kind of table whose size changes by itself gets errors, and is never read past its end.
//! Semantics: DAAL `MergedNumericTable` and `RowMergedNumericTable`, which resize the tables that they are given.

mod gaps;
mod lending;

use std::ops::Range;

use super::across::Across;
use super::region_mut::RegionMut;
use super::tiling;
use super::{
    DataLayout, Lend, MemoryStatus, NumericTable, Piece, PieceMut, Region, Rejected, Shape, TableId, Target, Token,
};
use crate::array::{AnyArray, Validity};
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::convert::kernel::OldValues;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::dictionary::DataDictionary;
use crate::window::{AnySlice, AnySliceMut};

/// The number of values that are read table by table, without looking for their memory first.
const FEW: usize = 64;

/// A table that is part of another one.
pub(super) type Member<'t> = Box<dyn NumericTable + 't>;

/// The direction in which tables are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// End to end.
    Rows,
    /// Side by side.
    Columns,
}

impl Axis {
    fn along(self, region: &Region) -> Range<usize> {
        match self {
            Self::Rows => region.rows.clone(),
            Self::Columns => region.columns.clone(),
        }
    }

    fn at(self, row: usize, column: usize) -> usize {
        match self {
            Self::Rows => row,
            Self::Columns => column,
        }
    }

    /// Returns the end of a table along this axis.
    fn end_of(self, shape: Shape) -> usize {
        self.at(shape.rows, shape.columns)
    }

    /// Replaces the range of a region along this axis.
    fn with(self, region: &Region, along: Range<usize>) -> Region {
        match self {
            Self::Rows => Region { rows: along, ..region.clone() },
            Self::Columns => Region { columns: along, ..region.clone() },
        }
    }
}

/// Tables that are joined along an axis.
pub(super) struct Joined<'t> {
    axis: Axis,
    id: TableId,
    tables: Vec<Member<'t>>,
    /// The end of each table along the axis.
    ends: Vec<usize>,
    shape: Shape,
    /// Invariant: describes `shape.columns` columns of the element types of the tables.
    dictionary: DataDictionary,
    uniform_type: Option<ElementType>,
    layout: DataLayout,
    /// The depth of nested tables.
    depth: usize,
}

impl<'t> Joined<'t> {
    /// Starts with one table.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`] if its dictionary does not describe its columns.
    pub(super) fn of(axis: Axis, first: Member<'t>) -> Result<Self> {
        check_count(&*first)?;
        let depth = depth_with(&*first)?;
        let (shape, dictionary, layout) = (first.shape(), first.dictionary().clone(), first.data_layout());
        let (ends, uniform_type) = (vec![axis.end_of(shape)], dictionary.uniform_type());
        let (id, tables) = (TableId::new(), vec![first]);
        Ok(Self { axis, id, tables, ends, shape, dictionary, uniform_type, layout, depth })
    }

    /// Appends a table along the axis.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`] or [`ErrorKind::SizeOverflow`], each with the table. The joined tables are
    /// unchanged.
    pub(super) fn push(&mut self, table: Member<'t>) -> Result<(), Rejected<Member<'t>>> {
        let shape = match self.shape_with(&*table) {
            Ok(shape) => shape,
            Err(error) => return Err(Rejected::new(table, error)),
        };
        let described = match self.axis {
            Axis::Columns => self.dictionary.append(table.dictionary()),
            Axis::Rows => self.dictionary.add_nullable(table.dictionary()),
        };
        if let Err(error) = described {
            return Err(Rejected::new(table, error));
        }
        if self.shape.columns == 0 {
            self.uniform_type = self.dictionary.uniform_type();
        } else if table.shape().columns > 0 && self.uniform_type != table.dictionary().uniform_type() {
            self.uniform_type = None;
        }
        self.shape = shape;
        self.depth = self.depth.max(table.depth() + 1);
        if table.data_layout() != self.layout {
            self.layout = DataLayout::RowMajor;
        }
        self.ends.push(self.axis.end_of(shape));
        self.tables.push(table);
        Ok(())
    }

    /// Returns the shape with one more table.
    fn shape_with(&self, table: &dyn NumericTable) -> Result<Shape> {
        check_count(table)?;
        depth_with(table)?;
        let (mine, theirs, index) = (self.shape, table.shape(), self.tables.len());
        let too_many = |shape| Error::new(ErrorKind::SizeOverflow { shape, element: None });
        match self.axis {
            Axis::Rows => {
                if mine.columns != theirs.columns {
                    return Err(Error::unequal_columns(index, mine.columns, theirs.columns));
                }
                self.check_types(index, table.dictionary())?;
                self.dictionary.check_follower(index, table.dictionary())?;
                let rows = mine.rows.checked_add(theirs.rows);
                Ok(Shape { rows: rows.ok_or_else(|| too_many(Shape { rows: usize::MAX, ..mine }))?, ..mine })
            }
            Axis::Columns => {
                if mine.rows != theirs.rows {
                    return Err(Error::unequal_rows(index, mine.rows, theirs.rows));
                }
                let columns = mine.columns.checked_add(theirs.columns);
                let columns = columns.ok_or_else(|| too_many(Shape { columns: usize::MAX, ..mine }))?;
                Ok(Shape { columns, ..mine })
            }
        }
    }

    fn check_types(&self, table: usize, dictionary: &DataDictionary) -> Result<()> {
        if let (Some(mine), Some(theirs)) = (self.uniform_type, dictionary.uniform_type())
            && mine == theirs
        {
            return Ok(());
        }
        let pairs = self.dictionary.pairs(dictionary);
        let mut types = pairs.map(|(column, mine, theirs)| (column, mine.element_type, theirs.element_type));
        match types.find(|(_, expected, found)| expected != found) {
            Some((column, expected, found)) => Err(Error::unequal_types(table, column, expected, found)),
            None => Ok(()),
        }
    }

    pub(super) fn tables(&self) -> &[Member<'t>] {
        &self.tables
    }

    pub(super) fn into_tables(self) -> Vec<Member<'t>> {
        self.tables
    }

    /// Returns the table that has a row (end to end) or a column (side by side). O(log tables).
    fn table_at(&self, at: usize) -> Option<usize> {
        if at < self.ends[0] {
            return Some(0); // there is at least one table; most blocks are whole rows
        }
        let table = self.ends.partition_point(|&end| end <= at);
        (table < self.tables.len()).then_some(table)
    }

    fn start_of(&self, table: usize) -> usize {
        table.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// Returns the number of rows and columns by which a table is moved down and to the right.
    fn offset_of(&self, table: usize) -> (usize, usize) {
        match self.axis {
            Axis::Rows => (self.start_of(table), 0),
            Axis::Columns => (0, self.start_of(table)),
        }
    }

    /// Returns the full extent of a table, in its own rows and columns.
    fn extent_of(&self, table: usize) -> Region {
        self.axis.with(&Region::whole(self.shape), 0..self.ends[table] - self.start_of(table))
    }

    /// Converts an error of one of the tables into an error of the joined ones.
    fn moved(&self, table: usize) -> impl Fn(Error) -> Error + use<'t> {
        let (rows, columns) = self.offset_of(table);
        move |error| error.moved(rows, columns)
    }

    /// Returns the table that contains all of a region, if one does, and the region there.
    fn only_table_of(&self, region: &Region) -> Option<(usize, Region)> {
        let along = self.axis.along(region);
        let table = self.table_at(along.start)?;
        if along.start > along.end || along.end > self.ends[table] {
            return None;
        }
        let start = self.start_of(table);
        Some((table, self.axis.with(region, along.start - start..along.end - start)))
    }

    /// Returns the tables that intersect a region, each with the region there and its position in the full region.
    fn tables_of(&self, region: &Region) -> impl Iterator<Item = (usize, Region, Region)> + use<'_, 't> {
        let (whole, axis) = (region.clone(), self.axis);
        let along = axis.along(region);
        let first = self.table_at(along.start).unwrap_or(self.tables.len());
        (first..self.tables.len())
            .map(|table| (table, self.start_of(table), self.ends[table]))
            .take_while({
                let end = along.end;
                move |&(_, start, _)| start < end
            })
            .filter_map(move |(table, start, end)| {
                let common = along.start.max(start)..along.end.min(end);
                if common.is_empty() {
                    return None;
                }
                let there = axis.with(&whole, common.start - start..common.end - start);
                let place =
                    axis.with(&Region::whole(whole.shape()), common.start - along.start..common.end - along.start);
                Some((table, there, place))
            })
    }

    /// Reads a region table by table.
    fn read_each(&self, region: &Region, target: Target<'_>) -> Result<()> {
        if region.shape().is_empty() {
            return Ok(());
        }
        let Target { mut values, policy, old } = target;
        if old == OldValues::Kept {
            let read = |target: Target<'_>| self.read_each(region, target);
            let copy = tiling::new_array(region, values.element_type(), policy, &read)?;
            values.copy_from_slice(copy.as_slice());
            return Ok(());
        }
        let mut outcome = Ok(());
        for (table, there, place) in self.tables_of(region) {
            let target = Target { values: values.cut(place.rows, place.columns), policy, old: OldValues::Lost };
            if let Err(error) = self.tables[table].read_region(&there, target) {
                outcome = tiling::earlier(outcome, Err(self.moved(table)(error)));
            }
        }
        outcome
    }

    /// Returns the pieces of the tables that intersect a region. Other tables are not asked, so that their shared
    /// memory is not copied. If one of the tables cannot be written, no memory is copied.
    fn pieces_of(&mut self, region: &Region) -> Result<Vec<PieceMut<'_>>> {
        let wanted = self.tables_of(region).map(|(table, there, _)| (table, there)).collect::<Vec<_>>();
        self.check_tables(&wanted)?;
        let places =
            wanted.iter().map(|&(table, _)| (self.offset_of(table), self.extent_of(table))).collect::<Vec<_>>();
        let mut pieces = Vec::new();
        let (places, mut first) = (wanted.into_iter().zip(places), 0);
        let mut tables = &mut self.tables[..];
        for ((index, there), ((rows, columns), extent)) in places {
            let (_, from) = std::mem::take(&mut tables).split_at_mut(index - first);
            let Some((table, rest)) = from.split_first_mut() else { break }; // never: there is a table at `index`
            (tables, first) = (rest, index + 1);
            let of_table = table.pieces_around(&there, Token::new()).map_err(|error| error.moved(rows, columns))?;
            let inside = of_table.into_iter().filter_map(|piece| piece.within(&extent));
            pieces.extend(inside.map(|piece| piece.moved(rows, columns)));
        }
        Ok(pieces)
    }

    /// Checks that the tables that intersect a region can be written.
    fn check_tables_of(&mut self, region: &Region) -> Result<()> {
        let wanted = self.tables_of(region).map(|(table, there, _)| (table, there)).collect::<Vec<_>>();
        self.check_tables(&wanted)
    }

    fn check_tables(&mut self, tables: &[(usize, Region)]) -> Result<()> {
        tables.iter().try_for_each(|(table, there)| {
            let moved = self.moved(*table);
            self.tables[*table].check_region_writable(there, Token::new()).map_err(moved)
        })
    }
}

/// Checks that a table's dictionary describes all of its columns: that of a user's own kind may be wrong.
fn check_count(table: &dyn NumericTable) -> Result<()> {
    table.dictionary().check_count(table.shape().columns, || table.dictionary().uniform_type())
}

/// The limit on the depth of nested tables.
const DEPTH_LIMIT: usize = 64;

/// Returns the depth of a table that contains another one.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`].
pub(super) fn depth_with(table: &dyn NumericTable) -> Result<usize> {
    match table.depth() {
        depth if depth < DEPTH_LIMIT => Ok(depth + 1),
        _ => Err(Error::limit("levels of tables within tables", DEPTH_LIMIT + 1, DEPTH_LIMIT)),
    }
}

impl NumericTable for Joined<'_> {
    fn depth(&self) -> usize {
        self.depth
    }

    fn shape(&self) -> Shape {
        self.shape
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn uniform_type(&self) -> Option<ElementType> {
        self.uniform_type
    }

    fn data_layout(&self) -> DataLayout {
        self.layout
    }

    fn own_dictionary(&mut self, _: Token) -> Option<&mut DataDictionary> {
        Some(&mut self.dictionary)
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        let Some(table) = self.table_at(self.axis.at(row, column)) else { return Ok(None) };
        let (rows, columns) = self.offset_of(table);
        let piece = self.tables[table].piece(row - rows, column - columns).map_err(self.moved(table))?;
        let piece = piece.and_then(|piece| piece.within(&self.extent_of(table)));
        Ok(piece.map(|piece| piece.moved(rows, columns)))
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        self.pieces_of(&Region::whole(self.shape))
    }

    fn piece_mut(&mut self, row: usize, column: usize) -> Result<Option<PieceMut<'_>>> {
        let Some(table) = self.table_at(self.axis.at(row, column)) else { return Ok(None) };
        let (moved, (rows, columns), extent) = (self.moved(table), self.offset_of(table), self.extent_of(table));
        let piece = self.tables[table].piece_mut(row - rows, column - columns).map_err(moved)?;
        Ok(piece.and_then(|piece| piece.within(&extent)).map(|piece| piece.moved(rows, columns)))
    }

    fn read_region(&self, region: &Region, mut target: Target<'_>) -> Result<()> {
        target.check(region, self.shape)?;
        if let Some((table, there)) = self.only_table_of(region) {
            return self.tables[table].read_region(&there, target).map_err(self.moved(table));
        }
        if self.axis == Axis::Columns && !region.shape().is_empty() {
            if target.old == OldValues::Lost && region.shape().element_count()? <= FEW {
                return self.read_each(region, target);
            }
            let parts = self.tables_of(region).map(|(table, there, _)| (&self.tables[table], there));
            let mut across = Across::with_capacity(self.tables.len().min(region.columns.len()));
            if across.push_tables(parts) && across.read(&mut target, self.shape.rows) {
                return Ok(());
            }
        }
        match tiling::parts(&|row, column| self.piece(row, column), region) {
            Ok(parts) => tiling::read_parts(&parts, region, target),
            Err(error) => match error.kind() {
                ErrorKind::NotInMemory { .. } => self.read_each(region, target), // a table computes its values
                _ => Err(error),
            },
        }
    }

    /// Reads one row of tables side by side, table by table.
    fn read_few(&self, region: &Region, target: AnySliceMut<'_>, policy: ConversionPolicy, _: Token) -> bool {
        let Range { start: mut column, end: last } = region.columns;
        let is_row = region.rows.len() == 1 && target.len() == region.columns.len();
        if self.axis != Axis::Columns || !is_row || column == last || !region.is_inside(self.shape) {
            return false;
        }
        let mut table = self.table_at(column).unwrap_or(self.tables.len());
        let (mut start, mut rest) = (self.start_of(table), target);
        while column < last && table < self.tables.len() {
            let end = self.ends[table].min(last);
            if column < end {
                let there = Region { rows: region.rows.clone(), columns: column - start..end - start };
                let (values, later) = rest.split_at(end - column);
                if !self.tables[table].read_few(&there, values, policy, Token::new()) {
                    return false;
                }
                (column, rest) = (end, later);
            }
            (start, table) = (self.ends[table], table + 1);
        }
        column >= last
    }

    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        region.check(self.shape)?;
        tiling::new_values(region, values)?;
        if let Some((table, there)) = self.only_table_of(region) {
            let moved = self.moved(table);
            return self.tables[table].write_region(&there, values, rule).map_err(moved);
        }
        let checked = match tiling::check_write(&|row, column| self.piece(row, column), region, values, rule) {
            Err(error) if self.may_have_gaps(&error) => return self.write_each(region, values, rule),
            checked => checked?,
        };
        if region.shape().is_empty() {
            return Ok(());
        }
        RegionMut::of_pieces(self.pieces_of(region)?, region)?.write_as_checked(&checked, values, rule)
    }

    fn validity(&self, column: usize, rows: Range<usize>) -> Result<Option<Validity>> {
        self.joined_validity(column, rows)
    }

    fn column_array(&self, column: usize, rows: &Range<usize>, _: Token) -> Result<(AnyArray, Option<Validity>)> {
        self.joined_column(column, rows)
    }

    fn write_validity(&mut self, column: usize, first_row: usize, validity: &Validity, _: Token) -> Result<()> {
        self.write_joined_validity(column, first_row, validity)
    }

    fn takes_gaps(&self, column: usize, _: Token) -> bool {
        let tables = self.tables.iter().enumerate();
        tables
            .filter(|&(table, _)| self.axis == Axis::Rows || self.table_at(column) == Some(table))
            .all(|(table, of)| of.takes_gaps(column - self.offset_of(table).1, Token::new()))
    }

    fn prepare_write(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule, _: Token) -> Result<()> {
        self.prepare_each(region, values, rule)
    }

    fn pieces_around(&mut self, region: &Region, _: Token) -> Result<Vec<PieceMut<'_>>> {
        self.pieces_of(region)
    }

    fn check_region_writable(&mut self, region: &Region, _: Token) -> Result<()> {
        self.check_tables_of(region)
    }

    fn data_memory_status(&self) -> MemoryStatus {
        let mut all = self.tables.iter().map(|table| table.data_memory_status());
        let first = all.next().unwrap_or(MemoryStatus::UserAllocated);
        all.fold(first, |mine, theirs| match (mine, theirs) {
            (MemoryStatus::NotAllocated, _) | (_, MemoryStatus::NotAllocated) => MemoryStatus::NotAllocated,
            _ if mine == theirs => mine,
            _ => MemoryStatus::UserAllocated,
        })
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}
