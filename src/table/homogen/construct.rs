//! Constructors of the homogeneous table: the initialization scenarios in DAAL's developer guide.

use std::ops::RangeBounds;

use super::{Placement, check_spare_rows};
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::dictionary::DataDictionary;
use crate::table::lease::Memory;
use crate::table::{AllocationFlag, DataLayout, HomogenNumericTable, MemoryStatus, Shape, TableId, rows_of};

impl<T: Element> HomogenNumericTable<T> {
    /// Creates a row-major table. If memory is allocated, the values are zero.
    ///
    /// Source: DAAL `create(columns, rows, flag)`.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::<f64>::new(Shape { rows: 3, columns: 2 }, AllocationFlag::DoAllocate)?;
    /// assert_eq!(table.as_slice()?, [0.0; 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new(shape: Shape, allocation: AllocationFlag) -> Result<Self> {
        Self::new_with_layout(shape, allocation, DataLayout::RowMajor)
    }

    /// Like [`new`](Self::new), with the given layout.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let shape = Shape { rows: 3, columns: 2 };
    /// let (allocation, layout) = (AllocationFlag::DoAllocate, DataLayout::ColumnMajor);
    /// let table = HomogenNumericTable::<u8>::new_with_layout(shape, allocation, layout)?;
    /// assert_eq!(table.data_layout(), DataLayout::ColumnMajor);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new_with_layout(shape: Shape, allocation: AllocationFlag, layout: DataLayout) -> Result<Self> {
        let count = shape.element_count_of(T::TYPE)?;
        match allocation {
            AllocationFlag::DoNotAllocate => Ok(Self::unallocated(shape, layout)),
            AllocationFlag::DoAllocate => Ok(Self::internal(Array::zeros(count)?, shape, layout)),
        }
    }

    /// Creates a row-major table that is filled with `value`.
    ///
    /// Source: DAAL `create(columns, rows, doAllocate, constValue)`.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// assert_eq!(HomogenNumericTable::full(Shape { rows: 2, columns: 2 }, 1.5_f32)?.as_slice()?, [1.5; 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn full(shape: Shape, value: T) -> Result<Self> {
        Self::full_with_layout(shape, value, DataLayout::RowMajor)
    }

    /// Like [`full`](Self::full), with the given layout.
    ///
    /// # Errors
    /// Those of [`full`](Self::full).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::full_with_layout(Shape { rows: 2, columns: 2 }, 7, DataLayout::ColumnMajor)?;
    /// assert_eq!(table.as_slice()?, [7; 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn full_with_layout(shape: Shape, value: T, layout: DataLayout) -> Result<Self> {
        Ok(Self::internal(Array::full(shape.element_count_of(T::TYPE)?, value)?, shape, layout))
    }

    /// Creates a row-major table of zeros. Large tables take their memory from the system only as it is used.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// assert_eq!(HomogenNumericTable::<u8>::zeros(Shape { rows: 2, columns: 2 })?.as_slice()?, [0; 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn zeros(shape: Shape) -> Result<Self> {
        Self::new(shape, AllocationFlag::DoAllocate)
    }

    /// Creates a row-major table from a function that returns the value for a row and a column. The order of the calls
    /// is unspecified. Large tables are filled in several threads (feature `rayon`).
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let shape = Shape { rows: 2, columns: 3 };
    /// let table = HomogenNumericTable::from_fn(shape, |row, column| (10 * row + column) as u32)?;
    /// assert_eq!(table.as_slice()?, [0, 1, 2, 10, 11, 12]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_fn(shape: Shape, value: impl Fn(usize, usize) -> T + Sync) -> Result<Self> {
        let (count, columns) = (shape.element_count_of(T::TYPE)?, shape.columns.max(1));
        let array = Array::from_fn(count, |index| value(index / columns, index % columns))?;
        Ok(Self::internal(array, shape, DataLayout::RowMajor))
    }

    /// Creates a row-major table on memory that the user provides: a `Vec`, a box, an `Arc`, an [`Array`]. Copies
    /// nothing.
    ///
    /// Mutable memory is written in place; immutable memory is copied by the first write. An error drops the array; to
    /// keep it, pass a clone, O(1). If the array has room for more rows, use
    /// [`from_array_with_spare_rows`](Self::from_array_with_spare_rows); for part of an array, use
    /// [`slice`](Array::slice), O(1). Source: DAAL `create(ptr, columns, rows)`.
    ///
    /// # Errors
    /// [`ErrorKind::ArrayLength`] if the length of the array is not exactly the number of values of the shape;
    /// [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let shape = Shape { rows: 2, columns: 2 };
    /// assert_eq!(HomogenNumericTable::from_array(vec![1, 2, 3, 4], shape)?.value::<i64>(1, 0)?, 3);
    /// assert!(HomogenNumericTable::from_array(vec![1, 2, 3], shape).is_err());
    /// let error = HomogenNumericTable::from_array(vec![1, 2, 3, 4, 5], shape).unwrap_err();
    /// assert_eq!(error.to_string(), "the array is too long: it has 5 values and the shape needs 4");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_array(array: impl Into<Array<T>>, shape: Shape) -> Result<Self> {
        Self::from_array_with_layout(array, shape, DataLayout::RowMajor)
    }

    /// Like [`from_array`](Self::from_array), with the given layout. In a column-major array, the values of each column
    /// are contiguous.
    ///
    /// # Errors
    /// Those of [`from_array`](Self::from_array).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let shape = Shape { rows: 2, columns: 3 };
    /// let values = vec![1, 2, 3, 4, 5, 6];
    /// let table = HomogenNumericTable::from_array_with_layout(values, shape, DataLayout::ColumnMajor)?;
    /// assert_eq!(&table.rows::<i32>(0..1)?[..], [1, 3, 5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_array_with_layout(array: impl Into<Array<T>>, shape: Shape, layout: DataLayout) -> Result<Self> {
        let array = array.into();
        shape.check_length::<T>(array.len())?;
        Ok(Self::with_memory(array, shape, layout, MemoryStatus::UserAllocated))
    }

    /// Creates a row-major table on memory that the user provides, which may have room for more rows: spare rows.
    /// Copies nothing.
    ///
    /// The table has the rows of the shape. [`resize`](crate::NumericTable::resize) uses the spare rows. When a spare
    /// row first appears, in this table or in any clone, it has the values that the array holds there; from then on it
    /// is a row like any other. A column-major array cannot have spare rows because they would be between the columns.
    ///
    /// Cost: O(1). A write to shared or immutable memory copies the spare rows too.
    ///
    /// # Errors
    /// [`ErrorKind::ArrayLength`] if the length of the array is not a multiple of the row length, or too short;
    /// [`ErrorKind::SizeOverflow`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let shape = Shape { rows: 1, columns: 2 };
    /// let mut table = HomogenNumericTable::from_array_with_spare_rows(vec![1, 2, 3, 4, 5, 6], shape)?;
    /// assert_eq!(table.as_slice()?, [1, 2]);
    /// table.resize(2)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4]);
    /// table.resize(1)?; // truncates a row, which is lost
    /// table.resize(4)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 0, 0, 5, 6, 0, 0]);
    /// assert!(HomogenNumericTable::from_array_with_spare_rows(vec![1, 2, 3], shape).is_err()); // a row and a half
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_array_with_spare_rows(array: impl Into<Array<T>>, shape: Shape) -> Result<Self> {
        let array = array.into();
        check_spare_rows(&array, shape, DataLayout::RowMajor)?;
        Ok(Self::with_memory(array, shape, DataLayout::RowMajor, MemoryStatus::UserAllocated))
    }

    /// Copies rows into a new table.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(table.shape(), Shape { rows: 2, columns: 3 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_rows<const COLUMNS: usize>(rows: &[[T; COLUMNS]]) -> Result<Self> {
        let shape = Shape { rows: rows.len(), columns: COLUMNS };
        Ok(Self::internal(Array::copy_of(rows.as_flattened())?, shape, DataLayout::RowMajor))
    }

    /// Copies rows from an iterator into a new table: vectors, slices, or any other `AsRef<[T]>`. The first row
    /// determines the number of columns; without rows, the table has no columns. For arrays, whose lengths the compiler
    /// knows, use [`from_rows`](Self::from_rows).
    ///
    /// Cost: amortized O(1) per value.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalLengths`] for the first row whose length differs from the first row's;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let rows = vec![vec![1.5_f32, 2.5], vec![3.5, 4.5]];
    /// assert_eq!(HomogenNumericTable::from_row_iter(&rows)?.as_slice()?, [1.5, 2.5, 3.5, 4.5]);
    ///
    /// let squares = (1..4_i64).map(|number| [number, number * number]);
    /// assert_eq!(HomogenNumericTable::<i64>::from_row_iter(squares)?.shape(), Shape { rows: 3, columns: 2 });
    ///
    /// let error = HomogenNumericTable::<u8>::from_row_iter([&[1, 2][..], &[3]]).unwrap_err();
    /// assert_eq!(error.to_string(), "row 1 has 1 values, but the first has 2");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_row_iter<R: AsRef<[T]>>(rows: impl IntoIterator<Item = R>) -> Result<Self> {
        let (mut values, mut shape) = (Vec::<T>::new(), Shape::default());
        for row in rows {
            let row = row.as_ref();
            if shape.rows == 0 {
                shape.columns = row.len();
            } else if row.len() != shape.columns {
                return Err(Error::new(ErrorKind::UnequalLengths {
                    what: "row",
                    index: shape.rows,
                    name: None,
                    expected: shape.columns,
                    actual: row.len(),
                }));
            }
            let bytes = values.len().saturating_add(row.len()).saturating_mul(size_of::<T>());
            values.try_reserve(row.len()).map_err(|_| Error::out_of_memory(bytes))?;
            values.extend_from_slice(row);
            shape.rows = shape
                .rows
                .checked_add(1)
                .ok_or_else(|| Error::new(ErrorKind::SizeOverflow { shape, element: Some(T::TYPE) }))?;
        }
        Ok(Self::internal(Array::from(values), shape, DataLayout::RowMajor))
    }

    /// Creates an unallocated table without rows, with the columns that a dictionary describes. Use
    /// [`from_dictionary_with_layout`](Self::from_dictionary_with_layout) to set rows, memory and layout as well.
    ///
    /// Source: DAAL `create(dictionary)`, which does not check the types.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`] if a feature's type is not `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), 4);
    /// let mut table = HomogenNumericTable::<f32>::from_dictionary(dictionary)?;
    /// assert_eq!((table.shape(), table.data_memory_status()), (Shape { rows: 0, columns: 4 }, MemoryStatus::NotAllocated));
    /// table.resize(10)?;
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_dictionary(dictionary: DataDictionary) -> Result<Self> {
        dictionary.check(dictionary.len(), T::TYPE)?;
        let shape = Shape { rows: 0, columns: dictionary.len() };
        Ok(Self { dictionary, ..Self::unallocated(shape, DataLayout::RowMajor) })
    }

    /// Creates a table with the columns that a dictionary describes, and with the given number of rows and layout. If
    /// memory is allocated, the values are zero.
    ///
    /// Source: DAAL `create(dictionary, rows, flag)`.
    ///
    /// # Errors
    /// Those of [`from_dictionary`](Self::from_dictionary); [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let names = ["x", "y"].map(|name| Feature::new(ElementType::F64).named(name));
    /// let dictionary = names.into_iter().collect();
    /// let (allocation, layout) = (AllocationFlag::DoAllocate, DataLayout::ColumnMajor);
    /// let table = HomogenNumericTable::<f64>::from_dictionary_with_layout(dictionary, 3, allocation, layout)?;
    /// assert_eq!((table.shape(), table.dictionary().index_of("y")), (Shape { rows: 3, columns: 2 }, Some(1)));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_dictionary_with_layout(
        dictionary: DataDictionary,
        row_count: usize,
        allocation: AllocationFlag,
        layout: DataLayout,
    ) -> Result<Self> {
        dictionary.check(dictionary.len(), T::TYPE)?;
        Self::new_with_layout(Shape { rows: row_count, columns: dictionary.len() }, allocation, layout)?
            .with_dictionary(dictionary)
    }

    /// Creates a table on memory that the user provides, with the columns that a dictionary describes, and with the
    /// given number of rows and layout. Copies nothing: uses the memory like
    /// [`from_array_with_layout`](Self::from_array_with_layout).
    ///
    /// # Errors
    /// Those of [`from_array`](Self::from_array) and [`from_dictionary`](Self::from_dictionary).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let names = ["x", "y"].map(|name| Feature::new(ElementType::I32).named(name));
    /// let dictionary = names.into_iter().collect();
    /// let table = HomogenNumericTable::from_array_with(dictionary, vec![1, 2, 3, 4, 5, 6], 3, DataLayout::RowMajor)?;
    /// assert_eq!(table.column::<i32>(table.dictionary().index_of("y").unwrap(), ..)?[..], [2, 4, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_array_with(
        dictionary: DataDictionary,
        array: impl Into<Array<T>>,
        row_count: usize,
        layout: DataLayout,
    ) -> Result<Self> {
        dictionary.check(dictionary.len(), T::TYPE)?;
        let shape = Shape { rows: row_count, columns: dictionary.len() };
        Self::from_array_with_layout(array, shape, layout)?.with_dictionary(dictionary)
    }

    /// Sets the number and the descriptions of the columns of a table without memory, from a dictionary. A
    /// [`default`](Default::default) table has no rows or columns. Call this method and then
    /// [`resize`](crate::NumericTable::resize) or [`set_array`](Self::set_array) to give it any size.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`] if a feature's type is not `T`, or if the table has memory for a different
    /// number of columns; [`ErrorKind::SizeOverflow`]; [`ErrorKind::BlockOutstanding`]. On an error the table is
    /// unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::<f32>::default();
    /// let names = ["x", "y"].map(|name| Feature::new(ElementType::F32).named(name));
    /// table.set_dictionary_and_allocate(names.into_iter().collect())?;
    /// table.resize(3)?;
    /// assert_eq!(table.shape(), Shape { rows: 3, columns: 2 });
    /// let three_columns = DataDictionary::uniform(Feature::new(ElementType::F32), 3);
    /// assert!(table.set_dictionary_and_allocate(three_columns).is_err()); // its memory has two columns
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn set_dictionary_and_allocate(&mut self, dictionary: DataDictionary) -> Result<()> {
        self.memory.array()?;
        if self.status != MemoryStatus::NotAllocated {
            dictionary.check(self.shape.columns, T::TYPE)?;
            self.dictionary = dictionary;
            return Ok(());
        }
        dictionary.check(dictionary.len(), T::TYPE)?;
        let shape = Shape { columns: dictionary.len(), ..self.shape };
        shape.element_count_of(T::TYPE)?;
        self.replace_memory(Array::new(), shape, MemoryStatus::NotAllocated);
        self.dictionary = dictionary;
        Ok(())
    }

    /// Returns a range of rows as a table. Shares the memory and keeps the dictionary. Cost: O(1).
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::NotAllocated`], [`ErrorKind::BlockOutstanding`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// let tail = table.slice_rows(1..3)?;
    /// assert_eq!(tail.as_slice()?, [3, 4, 5, 6]);
    /// assert!(tail.array()?.shares_memory_with(table.array()?));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn slice_rows(&self, rows: impl RangeBounds<usize>) -> Result<Self> {
        let rows = rows_of(self.shape, rows)?;
        if rows.start > rows.end || rows.end > self.shape.rows {
            return Err(Error::new(ErrorKind::RowsOutOfRange { rows, row_count: self.shape.rows }));
        }
        let array = self.memory.array()?;
        self.check_allocated()?;
        let shape = Shape { rows: rows.len(), ..self.shape };
        let geometry = self.placement.geometry(shape);
        let array = if shape.is_empty() {
            array.slice(..0)?
        } else {
            let first = rows.start * geometry.row_stride;
            let last = first + (shape.rows - 1) * geometry.row_stride + (shape.columns - 1) * geometry.column_stride;
            array.slice(first..=last)?
        };
        let placement = Placement { row_capacity: shape.rows, shown_rows: shape.rows, ..self.placement };
        let dictionary = self.dictionary.clone();
        Ok(Self { id: TableId::new(), memory: Memory::new(array), status: self.status, shape, placement, dictionary })
    }

    pub(super) fn unallocated(shape: Shape, layout: DataLayout) -> Self {
        Self::with_memory(Array::new(), shape, layout, MemoryStatus::NotAllocated)
    }

    /// Creates a table on dense memory that the library allocated.
    #[doc(hidden)] // for the crates of this workspace, as the module `internal`
    pub fn internal(array: Array<T>, shape: Shape, layout: DataLayout) -> Self {
        Self::with_memory(array, shape, layout, MemoryStatus::InternallyAllocated)
    }

    pub(super) fn with_memory(array: Array<T>, shape: Shape, layout: DataLayout, status: MemoryStatus) -> Self {
        Self {
            id: TableId::new(),
            placement: Placement::dense(layout, shape, array.len()),
            memory: Memory::new(array),
            status,
            shape,
            dictionary: Self::default_dictionary(shape.columns),
        }
    }

    /// Returns the table with another dictionary for its columns. Can be chained to any constructor.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryMismatch`]. The error drops the table; to keep it, use
    /// [`set_dictionary`](crate::NumericTable::set_dictionary).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let names = ["x", "y"].map(|name| Feature::new(ElementType::F32).named(name));
    /// let table = Table::from_rows(&[[1.5_f32, 2.5]])?.with_dictionary(names.into_iter().collect())?;
    /// assert_eq!(table.dictionary().index_of("y"), Some(1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn with_dictionary(self, dictionary: DataDictionary) -> Result<Self> {
        dictionary.check(self.shape.columns, T::TYPE)?;
        Ok(Self { dictionary, ..self })
    }
}
