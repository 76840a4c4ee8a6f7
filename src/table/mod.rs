//! Numeric tables: rows are observations, columns are features.
//!
//! Here is what every kind of table can do, [`NumericTable`]. The homogeneous table is in `homogen`, borrowed windows
//! in `view`, what a block's region is in `region`, what a table can be found in in `state`, and how memory is lent to a writable block in `lease`. Blocks
//! themselves are in `block`.
//! Semantics: DAAL `NumericTable`; seed "Generic Interfaces", life cycle of a numeric table.

mod downcast;
mod homogen;
mod lease;
mod region;
mod state;
mod view;

pub use homogen::HomogenNumericTable;
pub use lease::Lease;
pub use region::{Region, RegionMut};
pub use state::{AllocationFlag, DataLayout, MemoryStatus, TableId};
pub use view::{TableView, TableViewMut};

use std::any::Any;
use std::fmt;
use std::ops::Range;

use crate::array::{AnyArray, AnyArrayRef, Array};
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, Result};
pub use crate::base::shape::Shape;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::dictionary::{DataDictionary, FeatureType};
use crate::window::{AnySlice, AnySliceMut};

/// Every kind of numeric table.
///
/// Dyn-compatible: a pipeline holds `Box<dyn NumericTable>` and never names the element type. Blocks of rows and columns
/// are in [`BlockAccess`](crate::block::BlockAccess), which every table has; `use numeric_table::prelude::*` brings both.
///
/// A new kind of table implements this trait and nothing else. The methods from [`id`](Self::id) on are the primitives
/// that block access is built on: they speak in [`Region`]s and in slices whose element type is known at run time, and
/// they check what they are given.
///
/// Source: DAAL `NumericTable`.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
///
/// fn column_sums(table: &dyn NumericTable) -> Result<Vec<f64>, numeric_table::Error> {
///     let mut sums = vec![0.0; table.column_count()];
///     for block in table.row_blocks::<f64>(256)? {
///         for row in block?.iter_rows() {
///             sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
///         }
///     }
///     Ok(sums)
/// }
///
/// let tables: [Box<dyn NumericTable>; 2] = [
///     Box::new(HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?),
///     Box::new(HomogenNumericTable::from_rows(&[[0.5_f32, 0.25]])?),
/// ];
/// assert_eq!(column_sums(&*tables[0])?, [4.0, 6.0]);
/// assert_eq!(column_sums(&*tables[1])?, [0.5, 0.25]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub trait NumericTable: Any + Send + Sync {
    /// Gives the numbers of rows and columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.shape(), Shape { rows: 3, columns: 2 });
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn shape(&self) -> Shape;

    /// Counts the rows: observations. Source: DAAL `getNumberOfRows`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.row_count(), 3);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn row_count(&self) -> usize {
        self.shape().rows
    }

    /// Counts the columns: features. Source: DAAL `getNumberOfColumns`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.column_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn column_count(&self) -> usize {
        self.shape().columns
    }

    /// Gives the type in which values are stored.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.element_type(), ElementType::I16);
    /// assert_eq!(table.convert::<f64>()?.element_type(), ElementType::F64);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn element_type(&self) -> ElementType;

    /// Gives the order in which values are stored. Source: DAAL `getDataLayout`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.data_layout(), DataLayout::RowMajor);
    /// assert_eq!(table.to_layout(DataLayout::ColumnMajor)?.data_layout(), DataLayout::ColumnMajor);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn data_layout(&self) -> DataLayout;

    /// Tells whose memory the table uses. Source: DAAL `getDataMemoryStatus`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let shape = Shape { rows: 3, columns: 2 };
    /// let table = HomogenNumericTable::<f32>::new(shape, AllocationFlag::DoAllocate)?;
    /// assert_eq!(table.data_memory_status(), MemoryStatus::InternallyAllocated);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn data_memory_status(&self) -> MemoryStatus;

    /// Borrows the description of the columns. Source: DAAL `getDictionary`, which hands out a mutable one.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// assert_eq!(table.dictionary().len(), 2); // one feature for each column
    /// assert_eq!(table.dictionary().feature(1)?.element_type, ElementType::I16);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn dictionary(&self) -> &DataDictionary;

    /// Replaces the description of the columns; never their number or type.
    ///
    /// # Errors
    /// [`Error::DictionaryMismatch`] if it describes other columns than these; the
    /// table is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let feature = Feature::new(ElementType::I16);
    /// table.set_dictionary(DataDictionary::from_features([feature.clone().named("a"), feature.clone().named("b")]))?;
    /// assert_eq!(table.dictionary().index_of("b"), Some(1));
    /// assert!(table.set_dictionary(DataDictionary::uniform(feature, 3)).is_err()); // three columns
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn set_dictionary(&mut self, dictionary: DataDictionary) -> Result<()>;

    /// Replaces the description of the columns by the one that is made when none is given: continuous, without names.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// table.set_dictionary(DataDictionary::uniform(Feature::new(ElementType::I16).ordinal(), 2))?;
    /// table.reset_dictionary();
    /// assert_eq!(table.feature_type(1)?, FeatureType::Continuous);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn reset_dictionary(&mut self);

    /// Tells what kind of quantity a column is. Source: DAAL `getFeatureType`.
    ///
    /// # Errors
    /// [`Error::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let feature = Feature::new(ElementType::I16);
    /// table.set_dictionary(DataDictionary::from_features([feature.clone(), feature.ordinal()]))?;
    /// assert_eq!(table.feature_type(1)?, FeatureType::Ordinal);
    /// assert!(table.feature_type(2).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn feature_type(&self, column: usize) -> Result<FeatureType> {
        Ok(self.dictionary().feature(column)?.feature_type)
    }

    /// Tells how many categories a column has, if that is known. Source: DAAL `getNumberOfCategories`.
    ///
    /// # Errors
    /// [`Error::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let feature = Feature::new(ElementType::I16);
    /// table.set_dictionary(DataDictionary::from_features([feature.clone(), feature.categorical(7)]))?;
    /// assert_eq!((table.category_count(0)?, table.category_count(1)?), (None, Some(7)));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn category_count(&self, column: usize) -> Result<Option<usize>> {
        Ok(self.dictionary().feature(column)?.category_count)
    }

    /// Changes the number of rows. Values of the rows that stay are kept.
    ///
    /// | before | what happens |
    /// | --- | --- |
    /// | not allocated | zero rows are allocated |
    /// | the memory has room for the rows | no copy, unless rows appear that were cut off, in memory that is shared or immutable |
    /// | the library's memory is too small | new memory |
    /// | the user's memory is too small | new memory of the library; the user's is let go of, unchanged |
    ///
    /// What the rows show that appear depends on nothing but the table's own history: not on who shares the memory, not on
    /// the layout. They are zero, those that were cut off by an earlier call as well. There is one exception:
    /// spare rows, which a user has lent
    /// ([`from_array_with_spare_rows`](HomogenNumericTable::from_array_with_spare_rows)), show what the user put there when
    /// they appear for the first time.
    ///
    /// Cost: O(1) for fewer rows; for more, the rows that appear, or a copy of the table if one is made.
    /// Source: seed "Generic Interfaces", `resize()`; DAAL loses the values and trusts the user's memory.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`], [`Error::OutOfMemory`],
    /// [`Error::BlockOutstanding`]; the table is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2, 3], [4, 5, 6]])?;
    /// table.resize(3)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4, 5, 6, 0, 0, 0]);
    /// table.resize(1)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3]);
    /// table.resize(2)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 0, 0, 0]); // what was cut off is gone
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn resize(&mut self, rows: usize) -> Result<()>;

    /// Writes the table into an archive in memory. Source: DAAL `serialize`.
    ///
    /// # Errors
    /// [`Error::NotAllocated`], [`Error::OutOfMemory`],
    /// [`Error::BlockOutstanding`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{from_bytes_any, prelude::*};
    /// let table: &dyn NumericTable = &HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let copy = from_bytes_any(&table.to_bytes()?)?;
    /// assert_eq!((copy.shape(), copy.value::<i16>(2, 0)?), (table.shape(), 5));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn to_bytes(&self) -> Result<Vec<u8>>;

    /// Primitive: what tells this table from every other.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let id = table.id();
    /// table.resize(5)?;
    /// assert_eq!(table.id(), id);
    /// assert_ne!(table.clone().id(), id); // a clone is another table
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn id(&self) -> TableId;

    /// Primitive: borrows the values of a region, if they lie in memory one after another, row by row.
    ///
    /// # Errors
    /// As every primitive: the region is not inside, nothing is allocated, or a writable block is out.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let rows = table.borrow_region(&Region { rows: 1..3, columns: 0..2 })?.unwrap();
    /// assert_eq!(rows.downcast::<i16>(), Some(&[3_i16, 4, 5, 6][..]));
    /// assert!(table.borrow_region(&Region { rows: 0..3, columns: 1..2 })?.is_none()); // rows lie between
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn borrow_region(&self, region: &Region) -> Result<Option<AnySlice<'_>>>;

    /// Primitive: gives the array that the values of a region lie in, and where there, if they lie one after another, row by
    /// row. A read-only descriptor keeps a share of it.
    ///
    /// # Errors
    /// As [`borrow_region`](Self::borrow_region).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let (array, range) = table.array_of_region(&Region { rows: 1..3, columns: 0..2 })?.unwrap();
    /// let rows = array.downcast::<i16>().unwrap().slice(range)?;
    /// assert_eq!(rows[..], [3, 4, 5, 6]);
    /// assert!(rows.shares_memory_with(table.array()?));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn array_of_region(&self, region: &Region) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        self.borrow_region(region)?;
        Ok(None)
    }

    /// Primitive: converts the values of a region, row by row, into `target`, which has as many values.
    ///
    /// # Errors
    /// As [`borrow_region`](Self::borrow_region);
    /// [`Error::ValueNotRepresentable`] under a checking policy, with `target`
    /// unchanged.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnySliceMut, prelude::*, table::Region};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let (column, mut target) = (Region { rows: 0..3, columns: 1..2 }, [0.0_f32; 3]);
    /// table.read_region(&column, AnySliceMut::new(&mut target), ConversionPolicy::Exact)?;
    /// assert_eq!(target, [2.0, 4.0, 6.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn read_region(&self, region: &Region, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()>;

    /// As [`read_region`](Self::read_region), into memory whose old values nobody needs: on an error it may hold anything.
    /// That allows one pass where a checking policy otherwise takes two.
    ///
    /// # Errors
    /// As [`read_region`](Self::read_region).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnySliceMut, prelude::*, table::Region};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let (column, mut target) = (Region { rows: 0..3, columns: 1..2 }, [0.0_f32; 3]);
    /// table.read_region_over(&column, AnySliceMut::new(&mut target), ConversionPolicy::Exact)?;
    /// assert_eq!(target, [2.0, 4.0, 6.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn read_region_over(&self, region: &Region, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()> {
        self.read_region(region, target, policy)
    }

    /// Primitive: converts the values of a region, row by row, into new memory.
    ///
    /// # Errors
    /// As [`read_region`](Self::read_region), and [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let column = Region { rows: 0..3, columns: 1..2 };
    /// let copy = table.copy_region(&column, ElementType::F64, ConversionPolicy::Exact)?;
    /// assert_eq!(copy.downcast_ref::<f64>().unwrap()[..], [2.0, 4.0, 6.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn copy_region(&self, region: &Region, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray> {
        fn copy<U: Element>(
            table: &(impl NumericTable + ?Sized),
            region: &Region,
            policy: ConversionPolicy,
        ) -> Result<AnyArray> {
            region.check(table.shape())?;
            let mut array = Array::<U>::zeros(region.shape().element_count_of(U::TYPE)?)?;
            table.read_region(region, AnySliceMut::new(array.mutable_data()?), policy)?;
            Ok(AnyArray::new(array))
        }
        match_element!(element_type, U => copy::<U>(self, region, policy))
    }

    /// Primitive: borrows a region for writing; shared or immutable memory is copied first.
    ///
    /// # Errors
    /// As [`borrow_region`](Self::borrow_region), and [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyValue, prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let column = Region { rows: 1..3, columns: 1..2 };
    /// table.region_mut(&column)?.fill(AnyValue::from(9_u8), ConversionPolicy::Exact)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 9, 5, 9]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn region_mut(&mut self, region: &Region) -> Result<Box<dyn RegionMut<'_> + '_>>;

    /// Primitive: borrows the values of a region for writing, if they lie in memory row by row without a gap. Copies first if
    /// the memory is shared or immutable.
    ///
    /// # Errors
    /// As [`region_mut`](Self::region_mut), and [`Error::NotContiguous`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let rows = table.borrow_region_mut(&Region { rows: 1..3, columns: 0..2 })?;
    /// rows.downcast::<i16>().unwrap().fill(9);
    /// assert_eq!(table.as_slice()?, [1, 2, 9, 9, 9, 9]);
    /// assert!(table.borrow_region_mut(&Region { rows: 0..3, columns: 1..2 }).is_err()); // rows lie between
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn borrow_region_mut(&mut self, region: &Region) -> Result<AnySliceMut<'_>> {
        self.region_mut(region)?.into_slice().map_err(|_| Error::NotContiguous)
    }

    /// Primitive: converts row-major values into a region, all of them or none.
    ///
    /// # Errors
    /// As [`region_mut`](Self::region_mut); [`Error::LengthMismatch`];
    /// [`Error::ValueNotRepresentable`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnySlice, convert::WriteRule, prelude::*, table::Region};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let (column, values) = (Region { rows: 0..3, columns: 1..2 }, [20.0_f32, 40.0, 60.0]);
    /// let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    /// table.write_region(&column, AnySlice::new(&values), rule)?;
    /// assert_eq!(table.as_slice()?, [1, 20, 3, 40, 5, 60]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        self.region_mut(region)?.write(values, rule)
    }

    /// Primitive: moves the table's memory into a lease, until [`take_back`](Self::take_back) or until the lease is dropped.
    /// With `in_place`, the region must be one that [`borrow_region`](Self::borrow_region) shows, and is written in place.
    ///
    /// The default lends nothing: the table can be used while a converted block is out, and nothing is written in place.
    ///
    /// # Errors
    /// As [`region_mut`](Self::region_mut), and [`Error::NotContiguous`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::{Lease, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut lease = Lease::new();
    /// table.lend_region(&Region { rows: 1..3, columns: 0..2 }, true, &mut lease)?;
    /// assert!(matches!(table.as_slice(), Err(Error::BlockOutstanding { rows }) if rows == (1..3)));
    /// table.take_back(&mut lease)?;
    /// assert_eq!(table.as_slice()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn lend_region(&mut self, region: &Region, in_place: bool, lease: &mut Lease) -> Result<()> {
        self.region_mut(region)?;
        if in_place {
            return Err(Error::NotContiguous);
        }
        lease.reset(region);
        Ok(())
    }

    /// Primitive: converts row-major values into the region of a lease, all of them or none. The lease goes on.
    ///
    /// The default writes into the table, which has lent nothing.
    ///
    /// # Errors
    /// As [`write_region`](Self::write_region); [`Error::WrongTable`] if the lease holds the
    /// memory of another table.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnySlice, convert::WriteRule, prelude::*, table::{Lease, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut lease = Lease::new();
    /// table.lend_region(&Region { rows: 0..3, columns: 1..2 }, false, &mut lease)?;
    /// let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
    /// table.write_lent(&mut lease, AnySlice::new(&[20.0_f32, 40.0, 60.0]), rule)?;
    /// table.take_back(&mut lease)?;
    /// assert_eq!(table.as_slice()?, [1, 20, 3, 40, 5, 60]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn write_lent(&mut self, lease: &mut Lease, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        if lease.is_empty() { self.write_region(lease.region(), values, rule) } else { Err(Error::WrongTable) }
    }

    /// Primitive: moves the memory back out of a lease, which is empty afterwards.
    ///
    /// # Errors
    /// [`Error::WrongTable`] if the lease holds the memory of another table; it is as it was.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{prelude::*, table::{Lease, Region}};
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]])?;
    /// let mut lease = Lease::new();
    /// table.lend_region(&Region { rows: 1..3, columns: 0..2 }, true, &mut lease)?;
    /// let mut other = table.clone(); // which waits for the same memory
    /// assert!(matches!(other.take_back(&mut lease), Err(Error::WrongTable)));
    /// table.take_back(&mut lease)?;
    /// assert!(lease.is_empty());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        if lease.is_empty() { Ok(()) } else { Err(Error::WrongTable) }
    }
}

impl fmt::Debug for dyn NumericTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe("dyn NumericTable", self, f)
    }
}

/// Writes what a table is, never its values.
fn describe(name: &str, table: &(impl NumericTable + ?Sized), f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_struct(name)
        .field("shape", &format_args!("{}", table.shape()))
        .field("element_type", &format_args!("{}", table.element_type()))
        .field("data_layout", &table.data_layout())
        .field("data_memory_status", &table.data_memory_status())
        .finish_non_exhaustive()
}
