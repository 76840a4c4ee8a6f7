//! The error type of the library: facts, not sentences.
//!
//! A caller's mistake, a refused allocation or a damaged archive is an [`Error`]; a broken invariant of this library is
//! a panic. Messages are lower case and name the index and the limit.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::base::copy::CopyReason;
use crate::base::element::ElementType;
use crate::base::mode::{BlockKind, ReadWriteMode};
use crate::base::shape::Shape;
#[cfg(any(feature = "csv", feature = "arrow"))]
use crate::base::text::label;
use crate::base::value::AnyValue;

/// The result of calls that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, with what was asked for and what the limit is.
///
/// A call that returns an error leaves everything as it was before the call.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0]])?;
/// let error = table.rows::<f64>(1..3).unwrap_err();
/// assert_eq!(error.to_string(), "rows 1..3 are out of range: the table has 2 rows");
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A range of rows does not lie inside the table, or runs backwards.
    #[error("rows {}..{} are out of range: the table has {row_count} rows", rows.start, rows.end)]
    RowsOutOfRange {
        /// The rows that were asked for.
        rows: Range<usize>,
        /// The number of rows that the table has.
        row_count: usize,
    },
    /// A column index is not below the number of columns.
    #[error("column {column} is out of range: the table has {column_count} columns")]
    ColumnOutOfRange {
        /// The column that was asked for.
        column: usize,
        /// The number of columns that the table has.
        column_count: usize,
    },
    /// A range of columns does not lie inside the table, or runs backwards.
    #[error("columns {}..{} are out of range: the table has {column_count} columns", columns.start, columns.end)]
    ColumnsOutOfRange {
        /// The columns that were asked for.
        columns: Range<usize>,
        /// The number of columns that the table has.
        column_count: usize,
    },
    /// A range of elements does not lie inside the array, or runs backwards.
    #[error("elements {}..{} are out of range: the array has {count} elements", range.start, range.end)]
    ElementsOutOfRange {
        /// The elements that were asked for.
        range: Range<usize>,
        /// The number of elements that the array has.
        count: usize,
    },
    /// A shape needs more bytes than can be addressed.
    #[error(
        "a table of {shape}{} values is larger than memory can be",
        element.map_or(String::new(), |of| format!(" {of}"))
    )]
    SizeOverflow {
        /// The shape that was asked for; an array counts as one column.
        shape: Shape,
        /// The element type, if one is known.
        element: Option<ElementType>,
    },
    /// The system refused to allocate the memory.
    #[error("out of memory: {bytes} bytes were refused")]
    OutOfMemory {
        /// The number of bytes that were asked for.
        bytes: usize,
    },
    /// An array holds fewer values than the shape needs.
    #[error("the array is too short: it has {have} values and the shape needs {need}")]
    ArrayTooShort {
        /// The number of values in the array.
        have: usize,
        /// The number of values that the shape needs.
        need: usize,
    },
    /// An array holds more values than the shape has room for; none of them is dropped silently.
    #[error("the array is too long: it has {have} values and the shape needs {need}")]
    ArrayTooLong {
        /// The number of values in the array.
        have: usize,
        /// The number of values that the shape needs.
        need: usize,
    },
    /// Two slices that must have the same length do not.
    #[error("lengths differ: {found} values were given for {expected}")]
    LengthMismatch {
        /// The number of values that were needed.
        expected: usize,
        /// The number of values that were given.
        found: usize,
    },
    /// A slice of rows ends in the middle of a row.
    #[error("{values} values are not whole rows of {columns} columns")]
    NotWholeRows {
        /// The number of values that were given.
        values: usize,
        /// The number of values in a row.
        columns: usize,
    },
    /// A fraction of the rows of a table is less than 0, more than 1, or no number.
    #[error("the fraction {fraction} is not between 0 and 1")]
    FractionOutOfRange {
        /// The fraction.
        fraction: f64,
    },
    /// A row that is copied into a new table has another number of values than the first one.
    #[error("row {row} has {found} values, and the first has {expected}")]
    RaggedRow {
        /// The index of the row.
        row: usize,
        /// The number of values of the first row.
        expected: usize,
        /// The number of values of this one.
        found: usize,
    },
    /// The number of rows of a statistic would overflow.
    #[error("{added} rows are too many for {rows} that are counted already: the limit is {}", u64::MAX)]
    RowCountOverflow {
        /// The number of rows that are counted already.
        rows: u64,
        /// The number of rows that were to be added.
        added: u64,
    },
    /// A quantile that was asked for is no number from 0 to 1: percentages are to be divided by 100.
    #[error("the quantile {quantile} at position {position} is not between 0 and 1")]
    QuantileOutOfRange {
        /// The position of the quantile among those that were asked for.
        position: usize,
        /// The quantile.
        quantile: f64,
    },
    /// The edges of a histogram do not ascend, or are NaN.
    #[error("edge {position} is {edge}, which is not above {before}: the edges of a histogram ascend")]
    EdgesNotAscending {
        /// The position of the edge.
        position: usize,
        /// The edge before it; of the first edge, the edge itself.
        before: f64,
        /// The edge.
        edge: f64,
    },
    /// A histogram has less than one bin.
    #[error("a histogram needs two edges or more, and has {found}")]
    TooFewEdges {
        /// The number of edges.
        found: usize,
    },
    /// Histograms that are merged have other edges.
    #[error("column {column} has other edges in the histogram that is merged")]
    UnequalEdges {
        /// The first such column.
        column: usize,
    },
    /// Sketches that are merged have other capacities.
    #[error("capacities differ: a sketch of {found} values is merged into one of {expected}")]
    UnequalCapacities {
        /// The capacity that was needed.
        expected: usize,
        /// The capacity that was given.
        found: usize,
    },
    /// Statistics of groups that are merged were grouped by another column.
    #[error("the groups are those of column {found}, not of column {expected}")]
    UnequalGroups {
        /// The column that tells the category.
        expected: usize,
        /// The column that tells it in what was given.
        found: usize,
    },
    /// A group of rows is asked for, of which there are fewer.
    #[error("category {category} is out of range: there are {categories}")]
    CategoryOutOfRange {
        /// The category.
        category: usize,
        /// The number of categories.
        categories: usize,
    },
    /// Rows are grouped by a column of which nobody says how many categories it has.
    #[error("the number of categories of column {column} is not known")]
    CategoriesNotKnown {
        /// The column.
        column: usize,
    },
    /// A value that tells a row's category is no index of a category.
    #[error(
        "{}",
        match (value.is_nan(), categories) {
            (true, 0) => format!("the category at row {row}, column {column} is missing: there are no categories"),
            (true, _) => format!(
                "the category at row {row}, column {column} is missing: whole numbers from 0 to {} are categories",
                categories - 1
            ),
            (false, 0) => format!("the value {value} at row {row}, column {column} is no category: there are none"),
            (false, _) => format!(
                "the value {value} at row {row}, column {column} is no category: whole numbers from 0 to {} are",
                categories - 1
            ),
        }
    )]
    NotACategory {
        /// The row, in the table; of rows that are added, among these.
        row: usize,
        /// The column that tells the category.
        column: usize,
        /// The value.
        value: f64,
        /// The number of categories.
        categories: usize,
    },
    /// A value must be finite, and is not.
    #[error("the value {value} at row {row}, column {column} is not finite")]
    NotFinite {
        /// The row of the value.
        row: usize,
        /// The column of the value.
        column: usize,
        /// The value: NaN, or an infinity.
        value: f64,
    },
    /// A value must be a count, or a weight that is added up like one, and is negative or not finite.
    #[error("the value {value} at row {row}, column {column} is no count: finite numbers from 0 on are")]
    NotACount {
        /// The row, in the table; of rows that are added, among these.
        row: usize,
        /// The column.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A number that an algorithm is to use is not one that it can use.
    #[error("{name} is {value}: {allowed}")]
    ParameterOutOfRange {
        /// What the number is, in words.
        name: &'static str,
        /// The number.
        value: f64,
        /// Which numbers are allowed, in words.
        allowed: &'static str,
    },
    /// The centroids of two steps of k-means that are merged are not the same.
    #[error("the centroid of cluster {cluster} is another one in the step that is merged")]
    UnequalCentroids {
        /// The first such cluster.
        cluster: usize,
    },
    /// A result needs more rows than there are.
    #[error("{rows} rows are too few: {needed} are needed")]
    TooFewRows {
        /// The number of rows.
        rows: u64,
        /// The least number that is enough.
        needed: u64,
    },
    /// The sums of a column are NaN or infinite.
    #[error("the sums of column {column} are not finite: it has a NaN, an infinity, or values that are too large")]
    SumsNotFinite {
        /// The first such column.
        column: usize,
    },
    /// A feature does not vary in a class, so that it has no normal density there, and smoothing adds nothing.
    #[error("column {column} has one value in all rows of class {class}: a variance above 0 is needed")]
    ConstantFeature {
        /// The column.
        column: usize,
        /// The class.
        class: usize,
    },
    /// To within rounding, a column is constant or a linear combination of those before it: a system of linear equations
    /// has many solutions, or the precision is too low to find the one.
    #[error(
        "column {column} is constant, or a linear combination of the columns before it, to within rounding: the condition \
         number of the features is above {condition:.1e}"
    )]
    DependentColumn {
        /// The first such column.
        column: usize,
        /// A lower bound of the condition number of the features, each scaled by its deviation.
        condition: f64,
    },
    /// The features of a regression nearly depend on each other: of its coefficients, less than six digits would be
    /// right.
    #[error(
        "the features nearly depend on each other: their condition number is {condition:.1e}, and {limit:.1e} is the largest \
         of which digits are left{}",
        if *is_extended { "" } else { "; sums in extended precision hold more" }
    )]
    IllConditioned {
        /// About the condition number of the features, each scaled to the same length.
        condition: f64,
        /// The largest one that is solved.
        limit: f64,
        /// Whether the sums have extended precision.
        is_extended: bool,
    },
    /// Two tables that must have the same shape do not.
    #[error("shapes differ: {found} was given for {expected}")]
    ShapeMismatch {
        /// The shape that was needed.
        expected: Shape,
        /// The shape that was given.
        found: Shape,
    },
    /// The table has rows, but no memory yet.
    #[error(
        "the table has rows but no memory is allocated for them: `allocate_data_memory` allocates it, `set_array` supplies it"
    )]
    NotAllocated,
    /// The table cannot be changed, or not in this way.
    #[error("the table is read-only, or cannot be changed in this way")]
    ReadOnlyTable,
    /// The table has no piece of memory for a value, and does not override how it is read or written.
    #[error("the value at row {row}, column {column} does not lie in memory")]
    NotInMemory {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// An implementation of [`NumericTable`](crate::NumericTable) returned a piece of memory that does not cover the
    /// value that was asked for.
    #[error(
        "the piece for row {row}, column {column} covers rows {}..{}, columns {}..{}",
        rows.start, rows.end, columns.start, columns.end
    )]
    MisplacedPiece {
        /// The row that was asked for.
        row: usize,
        /// The column that was asked for.
        column: usize,
        /// The rows of the piece.
        rows: Range<usize>,
        /// The columns of the piece.
        columns: Range<usize>,
    },
    /// Columns have different element types where one type is needed.
    #[error(
        "column {column} has values of {found} and column 0 of {first}: one element type is needed, which `convert` makes"
    )]
    MixedElementTypes {
        /// The first column of another type.
        column: usize,
        /// The type of column 0.
        first: ElementType,
        /// The type of that column.
        found: ElementType,
    },
    /// No column has the name.
    #[error("no column has the name {name:?}{near}")]
    UnknownColumn {
        /// The name, shortened if it is long.
        name: String,
        /// Names that are similar, in words; empty if there are none.
        near: String,
    },
    /// Two categories of a column have one word.
    #[error("category {word:?} is listed twice, with the indices {first} and {second}")]
    RepeatedCategory {
        /// The word, shortened if it is long.
        word: String,
        /// Its smaller index.
        first: usize,
        /// Its larger index.
        second: usize,
    },
    /// No array of an `.npz` file has the name.
    #[cfg(feature = "npz")]
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    #[error("{}no array has the name {name:?}{near}", prefix(path.as_deref()))]
    UnknownArray {
        /// The file, as the caller named it; `None` if the bytes do not come from one.
        path: Option<PathBuf>,
        /// The name, shortened if it is long.
        name: String,
        /// Names that are similar, in words; empty if there are none.
        near: String,
    },
    /// An array cannot have this name in an `.npz` file: NumPy would not find it again, or another array has it.
    #[cfg(feature = "npz")]
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    #[error("no array of an .npz file can have the name {name:?}: {reason}")]
    UnsupportedArrayName {
        /// The name, shortened if it is long.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Tables are joined, and there are none.
    #[error("there are no tables to join")]
    NoTables,
    /// Tables are joined that show tables within tables, more levels than are allowed: each is a call within a call.
    #[error("tables are within each other more than {limit} levels deep")]
    TooDeep {
        /// The largest number of levels.
        limit: usize,
    },
    /// Tables that are joined side by side do not have as many rows.
    #[error("table {table} has {found} rows, and the first has {expected}")]
    UnequalRows {
        /// The index of the table.
        table: usize,
        /// The number of rows of the first table.
        expected: usize,
        /// The number of rows of this one.
        found: usize,
    },
    /// Tables that are joined end to end do not have as many columns.
    #[error("table {table} has {found} columns, and the first has {expected}")]
    UnequalColumns {
        /// The index of the table.
        table: usize,
        /// The number of columns of the first table.
        expected: usize,
        /// The number of columns of this one.
        found: usize,
    },
    /// Tables that are joined end to end do not have the same element types.
    #[error("column {column} of table {table} has values of {found}, and of the first {expected}")]
    UnequalTypes {
        /// The index of the table.
        table: usize,
        /// The first column of another type.
        column: usize,
        /// The type of that column of the first table.
        expected: ElementType,
        /// The type of that column of this one.
        found: ElementType,
    },
    /// Tables that are joined end to end have columns of the same names in another order.
    #[error("column {column} of table {table} is {name:?}, which is another column of the first table")]
    NamesInAnotherOrder {
        /// The index of the table.
        table: usize,
        /// The first such column.
        column: usize,
        /// Its name, shortened if it is long.
        name: String,
    },
    /// Tables that are joined end to end have categories of other words, or of the same words in another order.
    #[error("the categories of column {column} of table {table} have no words, or others than in the first table")]
    UnequalCategories {
        /// The index of the table.
        table: usize,
        /// The column.
        column: usize,
    },
    /// A table of several that are one has a column that is described otherwise than in the first.
    #[error("column {column} of table {table} has another {part} than in the first table")]
    UnequalFeatures {
        /// The index of the table.
        table: usize,
        /// The first such column.
        column: usize,
        /// What differs, in words: `name`, `feature type`, `number of categories`.
        part: &'static str,
    },
    /// A shard is asked for, of which there are fewer.
    #[error("shard {shard} is out of range: there are {shard_count}")]
    ShardOutOfRange {
        /// The shard.
        shard: usize,
        /// The number of shards.
        shard_count: usize,
    },
    /// A file is not the one that shards were opened with, or that their manifest means: it was replaced.
    #[error("{}: the file was replaced: its {part} is {found}, and should be {expected}", path.display())]
    ShardChanged {
        /// The file.
        path: PathBuf,
        /// What differs, in words: `size in bytes`, `number of rows`, `checksum of the header`, `checksum of the
        /// values`.
        part: &'static str,
        /// What it was.
        expected: u64,
        /// What it is now.
        found: u64,
    },
    /// What went wrong with one file of several that are one table.
    #[error("{}: {source}", path.display())]
    Shard {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// An array is not as long as a packed triangle of any dimension is.
    #[error(
        "{found} values are no packed triangle: dimension {dimension} has {below}, and dimension {} has {above}",
        dimension.saturating_add(1)
    )]
    PackedLength {
        /// The number of values that were given.
        found: usize,
        /// The largest dimension for which there are enough.
        dimension: usize,
        /// The number of values that this dimension has.
        below: usize,
        /// The number of values that the next dimension has.
        above: usize,
    },
    /// A table that should be a square matrix has unequal numbers of rows and columns.
    #[error("a table of {shape} values is not square")]
    NotSquare {
        /// The shape of the table.
        shape: Shape,
    },
    /// Two cells that are one in a symmetric matrix are given values that differ as the matrix stores them. It is the
    /// first such pair in row-major order.
    #[error(
        "the value {value} at row {row}, column {column} differs from {mirrored} at row {}, column {}: the matrix is \
         symmetric",
        mirror.0, mirror.1
    )]
    UnequalMirror {
        /// The row of the cell above the diagonal.
        row: usize,
        /// The column of that cell.
        column: usize,
        /// The value of that cell.
        value: AnyValue,
        /// The row and the column of the cell below the diagonal.
        mirror: (usize, usize),
        /// The value of that cell.
        mirrored: AnyValue,
    },
    /// A cell of a triangular matrix that is always zero is given a value that is not zero as the matrix stores it. It
    /// is the first such cell in row-major order.
    #[error("the value {value} at row {row}, column {column} is not zero, and outside the triangle of the matrix")]
    OutsideTriangle {
        /// The row of the cell.
        row: usize,
        /// The column of the cell.
        column: usize,
        /// The value that it was to get.
        value: AnyValue,
    },
    /// A column of a structure of arrays has no values yet.
    #[error("column {column} has no values yet: `set_column` supplies them")]
    ColumnNotSet {
        /// The first such column that was asked for.
        column: usize,
    },
    /// A sparse table is given row offsets or column indices of a type that is none for indices.
    #[error("the {part} are {found}: the types for them are i32, u32, i64 and u64")]
    IndexType {
        /// What has the type, in words: `row offsets`, `column indices`, `row indices`.
        part: &'static str,
        /// The type.
        found: ElementType,
    },
    /// A sparse table has not one row offset more than it has rows.
    #[error("{rows} rows need one row offset more than that, and {found} were given")]
    OffsetCount {
        /// The number of rows.
        rows: usize,
        /// The number of row offsets.
        found: usize,
    },
    /// The first row offset of a sparse table is not the one that the rows are counted from.
    #[error("the first row offset is {found}, not {expected}")]
    FirstOffset {
        /// Where offsets begin: 0, or 1 if they are counted from one.
        expected: usize,
        /// The first offset.
        found: AnyValue,
    },
    /// A row of a sparse table ends before it begins.
    #[error("the row offsets descend: row {row} begins at {start} and ends at {end}")]
    DescendingOffsets {
        /// The row.
        row: usize,
        /// Its offset.
        start: AnyValue,
        /// The offset of the next row.
        end: AnyValue,
    },
    /// The row offsets of a sparse table do not end where its column indices and its values end.
    #[error("the row offsets end at {end}, and there are {indices} column indices and {values} values")]
    StoredCount {
        /// The last row offset, counted from zero.
        end: usize,
        /// The number of column indices.
        indices: usize,
        /// The number of values.
        values: usize,
    },
    /// An index of a stored value does not lie inside the sparse table.
    #[error("the {part} have {index} at position {position}{}: {} allowed", in_row(*row), indices(*first, *count))]
    IndexOutOfRange {
        /// What has the index, in words: `column indices`, `row indices`.
        part: &'static str,
        /// The row of the value, if it is known.
        row: Option<usize>,
        /// The position of the index among all of them.
        position: usize,
        /// The index.
        index: AnyValue,
        /// The first index that is allowed: 0, or 1 if they are counted from one.
        first: usize,
        /// How many indices are allowed, from the first one on.
        count: usize,
    },
    /// The column indices of a row of a sparse table do not ascend, or name a column twice.
    #[error("the column indices do not ascend: row {row} has {index} at position {position}, after {before}")]
    IndicesNotAscending {
        /// The row.
        row: usize,
        /// The position of the index among all column indices.
        position: usize,
        /// The index before it.
        before: AnyValue,
        /// The index.
        index: AnyValue,
    },
    /// A value other than zero is written to a cell that a sparse table does not store.
    #[error("the cell at row {row}, column {column} is not stored: only zero can be written to it")]
    NotStored {
        /// The first such row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// A field does not lie inside the records that it is to be a field of.
    #[error("column {column} is outside its record: a {element} at byte {offset} of {record_size}")]
    FieldOutsideRecord {
        /// The column that the field was to be.
        column: usize,
        /// The type of the field.
        element: ElementType,
        /// Where it begins in the record, in bytes.
        offset: usize,
        /// The size of a record in bytes.
        record_size: usize,
    },
    /// Columns of an array of structures are the same bytes of a record, so that they cannot be written.
    #[error("columns {first} and {second} have bytes of a record in common, so they cannot be written")]
    OverlappingFields {
        /// The first column.
        first: usize,
        /// The other column.
        second: usize,
    },
    /// Records of no bytes were asked for.
    #[error("a record must have at least one byte")]
    EmptyRecords,
    /// Bytes end in the middle of a record.
    #[error("{bytes} bytes are not whole records of {record_size} bytes")]
    NotWholeRecords {
        /// The number of bytes that were given.
        bytes: usize,
        /// The number of bytes of a record.
        record_size: usize,
    },
    /// The records of an array of structures are not of the type that was asked for.
    #[error("the records are not of type {record}: their fields or offsets are others")]
    RecordMismatch {
        /// The type that was asked for.
        record: &'static str,
    },
    /// A field is an array of more numbers than a table takes as columns.
    #[error("{columns} columns are more than the limit of {limit}")]
    TooManyColumns {
        /// The number of columns that were asked for.
        columns: usize,
        /// The largest number that is allowed.
        limit: usize,
    },
    /// A format has no place for the names of all columns.
    #[error("the header of the file would have {length} bytes, and the limit is {limit}: shorter names help")]
    HeaderTooLong {
        /// The number of bytes that were needed.
        length: usize,
        /// The largest number that is allowed.
        limit: usize,
    },
    /// Another library or format has no column of this name.
    #[error("{target} has no column named {name:?}: {reason}")]
    UnsupportedName {
        /// The column.
        column: usize,
        /// Its name, cut to at most 40 characters.
        name: String,
        /// The library or format, by its name.
        target: &'static str,
        /// What is wrong with the name.
        reason: &'static str,
    },
    /// The memory may not be written: its owner lends it for reading only.
    #[error("the array's data is immutable")]
    ImmutableData,
    /// The memory may not be written: other arrays share it.
    #[error("the array's data is shared by {owner_count} owners")]
    SharedData {
        /// The number of arrays that share the memory, this one included.
        owner_count: usize,
    },
    /// The bytes of an array cannot be read as elements of another type.
    #[error("{bytes} bytes at {alignment}-byte alignment cannot be seen as {target}")]
    NotReinterpretable {
        /// The number of bytes in the array.
        bytes: usize,
        /// The alignment of the data in bytes.
        alignment: usize,
        /// The element type that was asked for.
        target: ElementType,
    },
    /// The values are not contiguous in memory, so no single slice covers them.
    #[error("the values are not contiguous in memory")]
    NotContiguous,
    /// A view of `ndarray` runs backwards along an axis, which a view of a table cannot.
    #[error("the strides of the view are {} and {}: a table cannot be read backwards without a copy", strides.0, strides.1)]
    NegativeStride {
        /// The row stride and the column stride, in values.
        strides: (isize, isize),
    },
    /// A writable block is outstanding; the table is leased to it until it is released or dropped.
    #[error("a writable block of rows {}..{} is outstanding", rows.start, rows.end)]
    BlockOutstanding {
        /// The rows that the outstanding block covers.
        rows: Range<usize>,
    },
    /// A block is released on a table that it was not taken from.
    #[error("the block belongs to another table")]
    WrongTable,
    /// A descriptor that holds no block is released: it was released before, or the call that should have filled it
    /// failed.
    #[error("the descriptor holds no block")]
    NoBlock,
    /// A block of rows is released as a block of column values, or vice versa.
    #[error("the descriptor holds {found}, not {expected}")]
    WrongBlockKind {
        /// The kind that the call releases.
        expected: BlockKind,
        /// The kind that the descriptor holds.
        found: BlockKind,
    },
    /// A block that was taken for reading is written.
    #[error("the block is not writable: its mode is {mode}")]
    NotWritable {
        /// The mode that the block was taken with.
        mode: ReadWriteMode,
    },
    /// Blocks of zero rows were asked for, which would never reach the end of the table.
    #[error("a block must have at least one row")]
    EmptyBlocks,
    /// A dictionary has another number of features than the table has columns, or another element type.
    #[error(
        "the dictionary describes {features} features and the table has {columns} columns of {element}{}",
        found.map(|(feature, found)| format!("; feature {feature} is {found}")).unwrap_or_default()
    )]
    DictionaryMismatch {
        /// The number of features in the dictionary.
        features: usize,
        /// The number of columns in the table.
        columns: usize,
        /// The element type of the table.
        element: ElementType,
        /// The first feature with another element type, and that type.
        found: Option<(usize, ElementType)>,
    },
    /// Values of one element type were given where another is stored.
    #[error(
        "{}the element type is {found}, not {expected}{}",
        prefix(path.as_deref()),
        converter.map(|converter| format!("; `{converter}` converts")).unwrap_or_default()
    )]
    ElementTypeMismatch {
        /// The element type that was needed.
        expected: ElementType,
        /// The element type that was found.
        found: ElementType,
        /// The file that the values are in, as the caller named it; `None` if they are in no file.
        path: Option<PathBuf>,
        /// The call that converts instead of failing, if there is one.
        converter: Option<&'static str>,
    },
    /// A string is not the name of an element type.
    #[error("{name:?} is not an element type")]
    UnknownElementType {
        /// The name that was given, cut to at most 32 characters.
        name: String,
    },
    /// A value does not fit under the policy in force. It is the first such value in row-major order.
    #[error("the value {value} at row {row}, column {column} is not representable as {target}")]
    ValueNotRepresentable {
        /// The row of the value, in the table (or the index, in a slice).
        row: usize,
        /// The column of the value, in the table (0 in a slice).
        column: usize,
        /// The value that does not fit.
        value: AnyValue,
        /// The element type that it does not fit.
        target: ElementType,
    },
    /// A copy is needed, but the policy forbids it.
    #[error("a copy is needed, and was forbidden: {reason}")]
    CopyRequired {
        /// Why the copy is needed.
        reason: CopyReason,
    },
    /// Another library or format has no such element type.
    #[error("{target} has no element type {element}: convert the table first")]
    UnsupportedElementType {
        /// The element type of the table.
        element: ElementType,
        /// The library or format, by its name.
        target: &'static str,
    },
    /// An archive or a file holds a table of another kind.
    #[error("{}the table is of kind {found}, not {expected}: `load_any` and `from_bytes_any` read any kind", prefix(path.as_deref()))]
    TableKindMismatch {
        /// The name of the kind that was asked for.
        expected: &'static str,
        /// The name of the kind that is there.
        found: &'static str,
        /// The file, as the caller named it; `None` for an archive.
        path: Option<PathBuf>,
    },
    /// An archive or a file is damaged, or is not in a format of this library.
    #[error("{}bad format at byte {offset}: {reason}", prefix(path.as_deref()))]
    Format {
        /// The file, as the caller named it; `None` for bytes that come from memory or from a stream.
        path: Option<PathBuf>,
        /// The position in bytes where the damage was found.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The system failed to read or write a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file, as the caller named it.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A field or a row of a CSV file is not what the column or the table needs. It is the first such place in the
    /// file.
    #[cfg(feature = "csv")]
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    #[error("{}line {line}{}: {text:?} {reason}", prefix(path.as_deref()), column_of(*column, name.as_deref()))]
    Csv {
        /// The file, as the caller named it; `None` if the text does not come from one.
        path: Option<PathBuf>,
        /// The line of the file, counted from 1. Of a quoted field that spans several lines it is the first.
        line: u64,
        /// The column of the file, counted from 0; `None` if the error is about the whole row.
        column: Option<usize>,
        /// The name of that column, if it has one, cut to at most 40 characters.
        name: Option<String>,
        /// The text that is there, cut to at most 40 characters.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An option for reading or writing a CSV file contradicts another one, or the file.
    #[cfg(feature = "csv")]
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    #[error("{}bad option for a CSV file: {reason}", prefix(path.as_deref()))]
    CsvOption {
        /// The file that is read, as the caller named it; `None` if the text does not come from one.
        path: Option<PathBuf>,
        /// Which option is bad, and why.
        reason: String,
    },
    /// CSV cannot express a table of this shape.
    #[cfg(feature = "csv")]
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    #[error("a table of {shape} values cannot be written as CSV: {reason}")]
    CsvShape {
        /// The shape of the table.
        shape: Shape,
        /// Why it cannot be written.
        reason: String,
    },
    /// A line of a svmlight or MatrixMarket file is not what the format or the table needs. It is the first such place
    /// in the file.
    #[cfg(feature = "sparse-files")]
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    #[error("{}line {line}, byte {byte}: {text:?} {reason}", prefix(path.as_deref()))]
    SparseText {
        /// The file, as the caller named it; `None` if the text does not come from one.
        path: Option<PathBuf>,
        /// The line of the file, counted from 1.
        line: u64,
        /// The position in that line, in bytes, counted from 1.
        byte: u64,
        /// The text that is there, cut to at most 40 characters; empty at the end of a line or of the file.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A row that a svmlight file cannot express: one without labels, query and values would be a blank line.
    #[cfg(feature = "sparse-files")]
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    #[error(
        "row {row} cannot be written as svmlight: it has no label, no query and no values, which leaves a blank line"
    )]
    SvmlightRow {
        /// The row.
        row: usize,
    },
    /// A reader or writer that the caller passed in has failed.
    #[error("the stream failed: {source}")]
    Stream {
        /// The underlying error.
        source: io::Error,
    },
    /// An error of the caller's own, returned by a closure that the caller passed in: made by [`Error::other`].
    #[error(transparent)]
    Other {
        /// The caller's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An object store failed, or an object is not what it should be. `source` says which: `NotFound`; `AlreadyExists`,
    /// if it was only to be created; `Precondition`, if it was replaced since it was opened; and any other.
    #[cfg(feature = "object-store")]
    #[cfg_attr(docsrs, doc(cfg(feature = "object-store")))]
    #[error("{object}: {}", what_happened(source))]
    Store {
        /// The path of the object in its store.
        object: String,
        /// What the store says.
        source: object_store::Error,
    },
    /// Arrow values that a table cannot hold.
    #[cfg(feature = "arrow")]
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    #[error("Arrow column {column} ({}): {}", label(name, LABEL_LIMIT), label(reason, REASON_LIMIT))]
    Arrow {
        /// The column, counted from 0.
        column: usize,
        /// The name of the column in the schema.
        name: String,
        /// What is wrong with it, and in which batch or array if there are several. Rows are counted within that batch.
        reason: String,
    },
    /// Arrow itself has failed: usually a reader that the caller passed in.
    #[cfg(feature = "arrow")]
    #[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
    #[error("Arrow failed: {source}")]
    ArrowReader {
        /// The underlying error.
        source: arrow_schema::ArrowError,
    },
    /// A file cannot be replaced atomically: the file system cannot rename, or the old file is a mount point.
    /// [`SaveOptions::in_place`](crate::SaveOptions::in_place) overwrites it instead.
    #[error("{}: the file cannot be replaced at once, only written in place: {source}", path.display())]
    RenameUnsupported {
        /// The file to be replaced, as the caller named it.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl Error {
    /// Wraps any error, or a message, so that a closure that returns the library's [`Result`] can return it.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_u8, 2]])?;
    /// let result = table.update_rows::<f64, _>(.., |block| {
    ///     block[0] = "1.2.3".parse().map_err(Error::other)?;
    ///     Ok(())
    /// });
    /// let Err(Error::Other { source }) = result else { panic!("no number") };
    /// assert!(source.is::<std::num::ParseFloatError>());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other { source: error.into() }
    }

    /// Returns a [`Format`](Self::Format) error without a path: [`in_file`](Self::in_file) adds it.
    pub(crate) fn format(offset: u64, reason: impl Into<String>) -> Self {
        Self::Format { path: None, offset, reason: reason.into() }
    }

    /// Returns an [`ElementTypeMismatch`](Self::ElementTypeMismatch) without a path and without a converter.
    pub(crate) fn element_type_mismatch(expected: ElementType, found: ElementType) -> Self {
        Self::ElementTypeMismatch { expected, found, path: None, converter: None }
    }

    /// Turns an error of a table into one of a larger table that shows it so many rows down and columns to the right.
    pub(crate) fn moved(self, down: usize, right: usize) -> Self {
        self.placed(&|row| row.saturating_add(down), &|column| column.saturating_add(right))
    }

    /// Turns an error of a table into one of a part of it, which begins so many rows down and columns to the right.
    pub(crate) fn moved_back(self, down: usize, right: usize) -> Self {
        self.placed(&|row| row.saturating_sub(down), &|column| column.saturating_sub(right))
    }

    /// Gives the places that an error names other rows and columns.
    fn placed(mut self, row_of: &dyn Fn(usize) -> usize, column_of: &dyn Fn(usize) -> usize) -> Self {
        let along = |range: &mut Range<usize>, place: &dyn Fn(usize) -> usize| {
            *range = place(range.start)..place(range.end);
        };
        match &mut self {
            Self::BlockOutstanding { rows } => along(rows, row_of),
            Self::ValueNotRepresentable { row, column, .. }
            | Self::NotInMemory { row, column }
            | Self::OutsideTriangle { row, column, .. }
            | Self::NotACategory { row, column, .. }
            | Self::NotACount { row, column, .. }
            | Self::NotFinite { row, column, .. }
            | Self::NotStored { row, column } => (*row, *column) = (row_of(*row), column_of(*column)),
            Self::UnequalMirror { row, column, mirror, .. } => {
                (*row, *column) = (row_of(*row), column_of(*column));
                *mirror = (row_of(mirror.0), column_of(mirror.1));
            }
            Self::MisplacedPiece { row, column, rows, columns } => {
                (*row, *column) = (row_of(*row), column_of(*column));
                along(rows, row_of);
                along(columns, column_of);
            }
            Self::ColumnNotSet { column } => *column = column_of(*column),
            Self::OverlappingFields { first, second } => (*first, *second) = (column_of(*first), column_of(*second)),
            _ => {}
        }
        self
    }

    /// Names the file of several that an error is about, unless the error does so or is about memory.
    pub(crate) fn in_shard(self, file: &Path) -> Self {
        match self.in_file(file) {
            error @ (Self::Format { .. }
            | Self::ElementTypeMismatch { path: Some(_), .. }
            | Self::TableKindMismatch { path: Some(_), .. }
            | Self::Io { .. }
            | Self::OutOfMemory { .. }
            | Self::Shard { .. }
            | Self::ShardChanged { .. }) => error,
            other => Self::Shard { path: file.to_owned(), source: Box::new(other) },
        }
    }

    /// Adds the file that an error is about, if the variant has a path that is not set yet.
    pub(crate) fn in_file(mut self, file: &Path) -> Self {
        if let Self::Format { path: path @ None, .. } | Self::ElementTypeMismatch { path: path @ None, .. } = &mut self
        {
            *path = Some(file.to_owned());
        }
        self
    }
}

/// Returns the indices that are allowed, in words.
fn indices(first: usize, count: usize) -> String {
    match count.checked_sub(1) {
        Some(last) => format!("{first} to {} are", first.saturating_add(last)),
        None => "none is".to_owned(),
    }
}

/// Returns the beginning of a message about a file; empty if there is none.
fn prefix(path: Option<&Path>) -> String {
    path.map(|path| format!("{}: ", path.display())).unwrap_or_default()
}

#[cfg(feature = "object-store")]
fn what_happened(error: &object_store::Error) -> String {
    use object_store::Error as Store;
    match error {
        Store::NotFound { .. } => "there is no such object".to_owned(),
        Store::AlreadyExists { .. } => "there is such an object already".to_owned(),
        Store::Precondition { source, .. } => format!("the object was replaced after it was opened: {source}"),
        other => other.to_string(),
    }
}

/// Returns the part of a message that names a row, if it is known.
fn in_row(row: Option<usize>) -> String {
    row.map(|row| format!(", in row {row}")).unwrap_or_default()
}

/// Terminal columns that a foreign name takes in a message at most, escapes included.
#[cfg(any(feature = "csv", feature = "arrow"))]
const LABEL_LIMIT: usize = 40;

/// Terminal columns that a reason with foreign names in it takes in a message at most.
#[cfg(feature = "arrow")]
const REASON_LIMIT: usize = 300;

#[cfg(feature = "csv")]
fn column_of(column: Option<usize>, name: Option<&str>) -> String {
    match (column, name) {
        (Some(column), Some(name)) => format!(", column {column} ({})", label(name, LABEL_LIMIT)),
        (Some(column), None) => format!(", column {column}"),
        (None, _) => String::new(),
    }
}
