//! Options for importing Arrow data, and for exporting it.

use std::fmt;
use std::sync::Arc;

#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::table::{ColumnChoice, ColumnKey};
use numeric_table::{AnyValue, ConversionPolicy, DataLayout, ElementType, interop::CopyPolicy};

/// Options for creating tables from Arrow data.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::prelude::*;
/// let age: ArrayRef = Arc::new(Int32Array::from(vec![Some(31), None]));
/// let size: ArrayRef = Arc::new(Float64Array::from(vec![1.75, 1.6]));
/// let batch = RecordBatch::try_from_iter([("age", age), ("size", size)]).unwrap();
///
/// let options = ArrowOptions::new().convert(ConversionPolicy::Exact).nulls_to_nan(true);
/// let table = HomogenNumericTable::<f64>::from_record_batches([batch], options)?;
/// assert_eq!(table.rows::<f64>(0..1)?[..], [31.0, 1.75]);
/// assert!(table.value::<f64>(1, 0)?.is_nan());
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ArrowOptions {
    pub(crate) copy: CopyPolicy,
    pub(crate) conversion: Option<ConversionPolicy>,
    /// The value that replaces nulls. Without one, they are missing values, and errors in tables of one element type.
    pub(crate) null: Option<AnyValue>,
    pub(crate) layout: DataLayout,
    /// The columns to import; all by default.
    pub(crate) columns: Option<Arc<dyn ColumnChoice + Send + Sync>>,
    /// Columns whose element type the caller sets.
    pub(crate) types: Vec<(Arc<dyn ColumnKey + Send + Sync>, ElementType)>,
    pub(crate) expected_rows: usize,
}

impl ArrowOptions {
    /// Creates the default options: a row-major table, copied only if needed; no conversion. Nulls are missing values
    /// in structures of arrays, and errors in tables of one element type, which have none.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::prelude::*;
    /// let batch = HomogenNumericTable::from_rows(&[[1.5, 2.5]])?.to_record_batch()?;
    /// let table = HomogenNumericTable::<f64>::from_record_batches([batch], ArrowOptions::new())?;
    /// assert_eq!(table.as_slice()?, [1.5, 2.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new() -> Self {
        Self {
            copy: CopyPolicy::IfNeeded,
            conversion: None,
            null: None,
            layout: DataLayout::RowMajor,
            columns: None,
            types: Vec::new(),
            expected_rows: 0,
        }
    }

    /// Sets whether values are copied.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{interop::CopyPolicy, prelude::*};
    /// # use numeric_table_arrow::prelude::*;
    /// let batch = HomogenNumericTable::from_rows(&[[1], [2]])?.to_record_batch()?;
    /// let options = ArrowOptions::new().copy(CopyPolicy::Never);
    /// let shared = HomogenNumericTable::<i32>::from_record_batches([batch], options)?;
    /// assert_eq!(shared.data_memory_status(), MemoryStatus::UserAllocated);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn copy(self, copy: CopyPolicy) -> Self {
        Self { copy, ..self }
    }

    /// Converts values of other element types, under a policy. By default, they are an error.
    ///
    /// Decimals are rounded once, and the policy treats them as it treats a float of the same value. Booleans, as 0 and
    /// 1, and indices of labels need no conversion: they take the type of the table, which must hold all of them.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::prelude::*;
    /// let batch = HomogenNumericTable::from_rows(&[[1_i32, 300]])?.to_record_batch()?;
    /// let options = |policy| ArrowOptions::new().convert(policy);
    /// let load = |policy| HomogenNumericTable::<u8>::from_record_batches([&batch], options(policy));
    /// assert_eq!(load(ConversionPolicy::Saturate)?.as_slice()?, [1, 255]);
    /// let error = load(ConversionPolicy::Checked).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 0, column: 1, .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn convert(self, policy: ConversionPolicy) -> Self {
        Self { conversion: Some(policy), ..self }
    }

    /// Sets whether nulls become NaN, instead of missing values or an error. The element type of the table or column
    /// must be a float; otherwise nulls are errors. In a structure of arrays, columns of words with nulls are then
    /// `f64`.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use arrow_array::{ArrayRef, Float32Array, RecordBatch};
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::prelude::*;
    /// let column: ArrayRef = Arc::new(Float32Array::from(vec![Some(1.0), None]));
    /// let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
    /// assert!(HomogenNumericTable::<f32>::from_record_batch(&batch).is_err());
    /// let table = HomogenNumericTable::<f32>::from_record_batches([batch], ArrowOptions::new().nulls_to_nan(true))?;
    /// assert!(table.as_slice()?[1].is_nan());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nulls_to_nan(self, has_nan_for_null: bool) -> Self {
        Self { null: has_nan_for_null.then(|| f64::NAN.into()), ..self }
    }

    /// Sets the value that nulls become, instead of missing values or an error. Integers must hold it exactly; floats
    /// may round it.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use arrow_array::{ArrayRef, Int16Array, RecordBatch};
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// # use numeric_table_arrow::prelude::*;
    /// let column: ArrayRef = Arc::new(Int16Array::from(vec![Some(1), None]));
    /// let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
    /// let table = SoaNumericTable::from_record_batches([&batch], ArrowOptions::new().nulls_to(-1))?;
    /// assert_eq!(table.column_slice::<i16>(0)?, [1, -1]);
    /// assert!(SoaNumericTable::from_record_batches([batch], ArrowOptions::new().nulls_to(0.5)).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nulls_to(self, value: impl Into<AnyValue>) -> Self {
        Self { null: Some(value.into()), ..self }
    }

    /// Sets the layout of the table. Lists are rows, so a column-major table of them is a copy. Structures of arrays
    /// ignore this option.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::prelude::*;
    /// let batch = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.to_record_batch()?;
    /// let options = ArrowOptions::new().layout(DataLayout::ColumnMajor);
    /// let table = HomogenNumericTable::<i32>::from_record_batches([batch], options)?;
    /// assert_eq!(table.as_slice()?, [1, 3, 2, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn layout(self, layout: DataLayout) -> Self {
        Self { layout, ..self }
    }

    /// Chooses columns: an array or a vector of names or of numbers, or a range. The table has them in that order.
    /// Other columns are ignored, even if tables do not support their type. Has no effect on lists.
    ///
    /// Choosing columns in the reader is faster: a Parquet reader does not decode columns that the caller leaves out.
    ///
    /// # Errors
    /// From the functions that take the options: [`ErrorKind::UnknownName`], which lists similar names;
    /// [`ErrorKind::ColumnOutOfRange`], [`ErrorKind::OutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use arrow_array::{ArrayRef, Int16Array, RecordBatch, StringArray};
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::prelude::*;
    /// let note: ArrayRef = Arc::new(StringArray::from(vec!["fine", "cracked"]));
    /// let [height, width] = [[10, 20], [3, 4]].map(|values| Arc::new(Int16Array::from(values.to_vec())) as ArrayRef);
    /// let batch = RecordBatch::try_from_iter([("height", height), ("note", note), ("width", width)]).unwrap();
    /// let load = |options| HomogenNumericTable::<i16>::from_record_batches([&batch], options);
    /// assert_eq!(load(ArrowOptions::new().columns(["width", "height"]))?.as_slice()?, [3, 10, 4, 20]);
    /// let error = load(ArrowOptions::new().columns(["widht"])).unwrap_err();
    /// assert_eq!(error.to_string(), r#"no column has the name "widht"; similar names: "width""#);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn columns(self, columns: impl ColumnChoice + Send + Sync + 'static) -> Self {
        Self { columns: Some(Arc::new(columns)), ..self }
    }

    /// Sets the element type of a column of a structure of arrays, by its name or number in the schema. Its values are
    /// converted under the policy of [`convert`](Self::convert), by default [`Checked`](ConversionPolicy::Checked).
    /// Homogeneous tables ignore this option.
    ///
    /// # Errors
    /// From the functions that take the options: [`ErrorKind::UnknownName`], [`ErrorKind::ColumnOutOfRange`].
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch};
    /// # use numeric_table::{SoaNumericTable, prelude::*};
    /// # use numeric_table_arrow::prelude::*;
    /// let count: ArrayRef = Arc::new(Int64Array::from(vec![3, 4]));
    /// let price = Decimal128Array::from(vec![1999, -50]).with_precision_and_scale(10, 2).unwrap();
    /// let batch = RecordBatch::try_from_iter([("count", count), ("price", Arc::new(price))]).unwrap();
    /// let options = ArrowOptions::new().column_type("count", ElementType::U8).column_type("price", ElementType::F32);
    /// let table = SoaNumericTable::from_record_batches([batch], options)?;
    /// assert_eq!(table.column_slice::<u8>(0)?, [3, 4]);
    /// assert_eq!(table.column_slice::<f32>(1)?, [19.99, -0.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_type(mut self, column: impl ColumnKey + Send + Sync + 'static, element_type: ElementType) -> Self {
        self.types.push((Arc::new(column), element_type));
        self
    }

    /// Sets the expected number of rows of a reader. The table reserves room for them before it reads the first, so
    /// that nothing is copied while it grows. A file's footer often has the number. The reader may have more or fewer
    /// rows.
    ///
    /// Functions that take all batches at once ignore this option.
    ///
    /// # Errors
    /// From the functions that read: [`ErrorKind::OutOfMemory`], [`ErrorKind::SizeOverflow`] if there is not enough
    /// room for that number of rows.
    ///
    /// # Examples
    /// ```
    /// # use arrow_array::RecordBatchIterator;
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::prelude::*;
    /// let batch = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?.to_record_batch()?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    /// let options = ArrowOptions::new().expected_rows(2);
    /// assert_eq!(HomogenNumericTable::<u8>::read_record_batches(reader, options)?.row_count(), 2);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn expected_rows(self, rows: usize) -> Self {
        Self { expected_rows: rows, ..self }
    }
}

impl fmt::Debug for ArrowOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrowOptions")
            .field("copy", &self.copy)
            .field("conversion", &self.conversion)
            .field("null", &self.null)
            .field("layout", &self.layout)
            .field("chooses_columns", &self.columns.is_some())
            .field("types", &self.types.iter().map(|(_, element)| element).collect::<Vec<_>>())
            .field("expected_rows", &self.expected_rows)
            .finish()
    }
}

impl Default for ArrowOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Options for creating Arrow data from tables. A [`CopyPolicy`] converts into options.
///
/// # Examples
/// ```
/// use arrow_array::Array;
/// use numeric_table::prelude::*;
/// use numeric_table_arrow::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1.5, 2.5], [f64::NAN, 3.5]])?;
/// let batch = table.to_record_batch_with(ArrowExportOptions::new().nan_to_null(true))?;
/// assert_eq!((batch.column(0).null_count(), batch.column(1).null_count()), (1, 0));
/// assert!(batch.column(0).is_null(1));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ArrowExportOptions {
    pub(crate) copy: CopyPolicy,
    pub(crate) has_null_for_nan: bool,
    pub(crate) has_labels: bool,
}

impl ArrowExportOptions {
    /// Creates the default options: values are copied only if needed, missing values are null, NaN stays a value, and
    /// categories become labels.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// # use numeric_table_arrow::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1.5], [f64::NAN]])?;
    /// let batch = table.to_record_batch_with(ArrowExportOptions::new())?;
    /// assert!(!batch.schema().field(0).is_nullable());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new() -> Self {
        Self { copy: CopyPolicy::IfNeeded, has_null_for_nan: false, has_labels: true }
    }

    /// Sets whether values are copied.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{interop::CopyPolicy, prelude::*};
    /// # use numeric_table_arrow::prelude::*;
    /// let rows = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// let error = rows.to_record_batch_with(ArrowExportOptions::new().copy(CopyPolicy::Never)).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::CopyRequired { .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn copy(self, copy: CopyPolicy) -> Self {
        Self { copy, ..self }
    }

    /// Sets whether NaN becomes null. The schema then marks all columns of floats as nullable, even those without a
    /// NaN, so that all batches of a stream have one schema. Values are shared as without this option: nulls take one
    /// additional bit for each value of a column that has any.
    ///
    /// # Examples
    /// ```
    /// # use arrow_array::Array;
    /// # use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// # use numeric_table_arrow::prelude::*;
    /// let columns = [("share", AnyArray::from(vec![0.5_f32, f32::NAN])), ("count", AnyArray::from(vec![1_u8, 2]))];
    /// let options = ArrowExportOptions::new().nan_to_null(true);
    /// let batch = SoaNumericTable::from_columns(columns)?.to_record_batch_with(options)?;
    /// let nullable: Vec<bool> = batch.schema().fields().iter().map(|field| field.is_nullable()).collect();
    /// assert_eq!((nullable, batch.column(0).is_null(1)), (vec![true, false], true));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nan_to_null(self, has_null_for_nan: bool) -> Self {
        Self { has_null_for_nan, ..self }
    }
}

impl ArrowExportOptions {
    /// Sets whether columns whose categories have labels become dictionaries of these labels, with copied keys of 32
    /// bits. Every value must then be missing or the index of a label. NaN stands for a missing label and becomes null.
    /// If off, the columns are numbers, and the labels are lost. On by default.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{dictionary::Categories, prelude::*};
    /// # use numeric_table_arrow::prelude::*;
    /// let colour = Feature::new(ElementType::U8).categorical(Categories::from_labels(["red", "blue"])?);
    /// let dictionary = [colour].into_iter().collect();
    /// let table = HomogenNumericTable::from_rows(&[[1_u8], [0], [1]])?.with_dictionary(dictionary)?;
    /// assert_eq!(table.to_record_batch()?.column(0).data_type().to_string(), "Dictionary(Int32, Utf8)");
    /// let numbers = table.to_record_batch_with(ArrowExportOptions::new().labels(false))?;
    /// assert_eq!(numbers.column(0).data_type().to_string(), "UInt8");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn labels(self, has_labels: bool) -> Self {
        Self { has_labels, ..self }
    }
}

impl Default for ArrowExportOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl From<CopyPolicy> for ArrowExportOptions {
    fn from(copy: CopyPolicy) -> Self {
        Self::new().copy(copy)
    }
}
