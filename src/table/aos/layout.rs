//! The layout of records: which bytes of a record belong to which column.
//!
//! Invariant of [`RecordLayout`]: every field lies inside the record. It may be unaligned, and overlap another field:
//! tables decide how to treat those.

use super::Record;
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::dictionary::{DataDictionary, Feature, collect_columns};

/// The limit on the number of columns of one array of numbers, and of one record whose type the compiler knows.
pub(super) const COLUMN_LIMIT: usize = 1 << 16;

/// The fields of records whose structure is known only at run time: the position of each column in a record.
///
/// The columns are in the order in which the caller adds them, regardless of their offsets. Fields need not be aligned,
/// and may overlap. Bytes that belong to no field are never read.
///
/// Source: DAAL `AOSNumericTable::setFeature`, which checks nothing.
///
/// # Examples
/// ```
/// use numeric_table::{AosNumericTable, prelude::*, table::RecordLayout};
/// let layout = RecordLayout::new(8).field("x", ElementType::F32, 0)?.field("count", ElementType::U16, 4)?;
/// let bytes = [1.5_f32.to_le_bytes(), [7, 0, 99, 99], 2.5_f32.to_le_bytes(), [8, 0, 99, 99]].concat();
/// # if cfg!(target_endian = "little") {
/// let table = AosNumericTable::from_record_bytes(bytes, &layout)?;
/// assert_eq!(table.rows::<f64>(..)?[..], [1.5, 7.0, 2.5, 8.0]);
/// # }
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    size: usize,
    fields: Vec<(Feature, usize)>,
}

impl RecordLayout {
    /// Creates the layout of records of `size` bytes, without fields.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::table::RecordLayout;
    /// assert_eq!((RecordLayout::new(24).size(), RecordLayout::new(24).len()), (24, 0));
    /// ```
    pub const fn new(size: usize) -> Self {
        Self { size, fields: Vec::new() }
    }

    /// Returns the layout of records whose type the compiler knows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::RecordLayout};
    /// #[derive(Clone, Copy)]
    /// #[repr(C)]
    /// struct Flow {
    ///     bytes: f32,
    ///     ports: [u16; 2],
    /// }
    /// numeric_table::impl_record!(Flow { bytes, ports });
    /// let by_hand = RecordLayout::new(8).field("bytes", ElementType::F32, 0)?.array("ports", ElementType::U16, 4, 2)?;
    /// assert_eq!(RecordLayout::of::<Flow>(), by_hand);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn of<P: Record>() -> Self {
        let mut layout = Self::new(size_of::<P>());
        for field in P::FIELDS {
            let (name, element) = (field.name(), field.element_type());
            let is_array = field.len() != 1;
            for index in 0..field.len() {
                let name = if is_array { format!("{name}[{index}]") } else { name.to_owned() };
                let offset = field.offset() + index * element.size_in_bytes();
                layout.fields.push((Feature::new(element).named(name), offset));
            }
        }
        layout
    }

    /// Returns the layout of a table, whose fields have been checked.
    pub(super) fn of_features(size: usize, fields: impl Iterator<Item = (Feature, usize)>) -> Self {
        Self { size, fields: fields.collect() }
    }

    /// Adds a column: a number at an offset in bytes.
    ///
    /// # Errors
    /// [`ErrorKind::RecordLayout`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Error, table::RecordLayout};
    /// let error = RecordLayout::new(16).field("x", ElementType::F64, 15).unwrap_err();
    /// assert_eq!(error.to_string(), "column 0 is outside its record: a f64 at byte 15 of 16");
    /// ```
    pub fn field(self, name: impl Into<String>, element: ElementType, offset: usize) -> Result<Self> {
        self.feature(Feature::new(element).named(name), offset)
    }

    /// Adds a column with all metadata of a feature.
    ///
    /// # Errors
    /// Those of [`field`](Self::field).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Feature, table::RecordLayout};
    /// let species = Feature::new(ElementType::U8).named("species").categorical(3);
    /// assert_eq!(RecordLayout::new(4).feature(species, 3)?.offset(0)?, 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn feature(mut self, feature: Feature, offset: usize) -> Result<Self> {
        let element = feature.element_type;
        if offset.checked_add(element.size_in_bytes()).is_none_or(|end| end > self.size) {
            let (column, record_size) = (self.fields.len(), self.size);
            return Err(Error::record_layout(
                Some(column),
                format!("column {column} is outside its record: a {element} at byte {offset} of {record_size}"),
            ));
        }
        self.fields.try_reserve(1).map_err(|_| Error::out_of_memory(size_of::<(Feature, usize)>()))?;
        self.fields.push((feature, offset));
        Ok(self)
    }

    /// Adds an array of contiguous numbers: columns named `name[0]`, `name[1]` ...
    ///
    /// # Errors
    /// Those of [`field`](Self::field); [`ErrorKind::LimitExceeded`] if the array has more than 65,536 numbers.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::RecordLayout};
    /// let layout = RecordLayout::new(16).array("position", ElementType::F32, 4, 3)?;
    /// assert_eq!((layout.len(), layout.offset(2)?), (3, 12));
    /// assert_eq!(layout.dictionary()?.index_of("position[2]"), Some(2));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn array(mut self, name: &str, element: ElementType, offset: usize, count: usize) -> Result<Self> {
        if count > COLUMN_LIMIT {
            return Err(Error::limit("columns", count, COLUMN_LIMIT));
        }
        for index in 0..count {
            let offset = offset.saturating_add(index * element.size_in_bytes());
            self = self.field(format!("{name}[{index}]"), element, offset)?;
        }
        Ok(self)
    }

    /// Returns the size of a record in bytes.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::table::RecordLayout;
    /// assert_eq!(RecordLayout::new(24).size(), 24);
    /// ```
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::RecordLayout};
    /// assert_eq!(RecordLayout::new(4).field("x", ElementType::F32, 0)?.len(), 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub const fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns whether the layout has no columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::table::RecordLayout;
    /// assert!(RecordLayout::new(4).is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns the offset of a column: the number of bytes from the beginning of the record.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::RecordLayout};
    /// let layout = RecordLayout::new(8).field("b", ElementType::F32, 4)?.field("a", ElementType::F32, 0)?;
    /// assert_eq!((layout.offset(0)?, layout.offset(1)?), (4, 0)); // the order of the columns, not of the offsets
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn offset(&self, column: usize) -> Result<usize> {
        let column_count = self.fields.len();
        self.fields
            .get(column)
            .map(|&(_, offset)| offset)
            .ok_or_else(|| Error::new(ErrorKind::ColumnOutOfRange { column, column_count }))
    }

    /// Returns the columns and their offsets in bytes.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::RecordLayout};
    /// let layout = RecordLayout::new(8).field("x", ElementType::F32, 4)?;
    /// let (feature, offset) = layout.fields().next().unwrap();
    /// assert_eq!((feature.name.as_deref(), offset), (Some("x"), 4));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&Feature, usize)> {
        self.fields.iter().map(|(feature, offset)| (feature, *offset))
    }

    /// Returns the dictionary of tables with this layout.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::RecordLayout};
    /// assert_eq!(RecordLayout::new(4).field("x", ElementType::F32, 0)?.dictionary()?.index_of("x"), Some(0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn dictionary(&self) -> Result<DataDictionary> {
        collect_columns(self.fields.iter().map(|(feature, _)| Ok(feature.clone())), |error| error)
    }

    /// Returns the first two columns that share bytes of the record, if any. A table with such columns is read-only.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::RecordLayout};
    /// let layout = RecordLayout::new(8).field("word", ElementType::U32, 0)?.field("half", ElementType::U16, 2)?;
    /// assert_eq!(layout.overlap(), Some((0, 1)));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn overlap(&self) -> Option<(usize, usize)> {
        let mut order = (0..self.fields.len()).collect::<Vec<_>>();
        order.sort_by_key(|&column| self.fields[column].1);
        let end = |column: usize| self.fields[column].1 + self.fields[column].0.element_type.size_in_bytes();
        // Compare with the field that reaches furthest. Any overlap shows between neighbors in this order.
        let mut furthest = *order.first()?;
        for &column in &order[1..] {
            if self.fields[column].1 < end(furthest) {
                return Some((furthest.min(column), furthest.max(column)));
            }
            furthest = if end(column) > end(furthest) { column } else { furthest };
        }
        None
    }

    /// Returns whether every field is aligned to its size, in every record of an array whose first record is aligned.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::RecordLayout};
    /// assert!(RecordLayout::new(16).field("x", ElementType::F64, 8)?.is_aligned());
    /// assert!(!RecordLayout::new(12).field("x", ElementType::F64, 0)?.is_aligned()); // not in the second record
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn is_aligned(&self) -> bool {
        self.fields.iter().all(|(feature, offset)| {
            let size = feature.element_type.size_in_bytes();
            offset.is_multiple_of(size) && self.size.is_multiple_of(size)
        })
    }

    /// Returns a layout of the same columns in which every field is aligned and none overlaps. The fields are placed in
    /// the order of their offsets, each at the next free, aligned offset.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::RecordLayout};
    /// let packed = RecordLayout::new(12).field("x", ElementType::F64, 4)?.field("kind", ElementType::U8, 0)?;
    /// let aligned = packed.aligned()?;
    /// assert_eq!((aligned.size(), aligned.offset(0)?, aligned.offset(1)?), (16, 8, 0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn aligned(&self) -> Result<Self> {
        if self.fields.is_empty() {
            return Ok(self.clone());
        }
        let refused = |_| Error::out_of_memory(self.fields.len().saturating_mul(size_of::<(Feature, usize)>()));
        let (mut order, mut fields) = (Vec::new(), Vec::new());
        order.try_reserve_exact(self.fields.len()).map_err(refused)?;
        fields.try_reserve_exact(self.fields.len()).map_err(refused)?;
        order.extend(0..self.fields.len());
        order.sort_by_key(|&column| self.fields[column].1);
        fields.extend_from_slice(&self.fields);
        let (mut end, mut alignment) = (0_usize, 1);
        for column in order {
            let size = self.fields[column].0.element_type.size_in_bytes();
            let offset = end.next_multiple_of(size);
            fields[column].1 = offset;
            (end, alignment) = (offset + size, alignment.max(size));
        }
        Ok(Self { size: end.next_multiple_of(alignment), fields })
    }
}
