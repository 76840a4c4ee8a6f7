//! Options for importing Arrow data.

use crate::base::copy::CopyPolicy;
use crate::base::value::AnyValue;
use crate::convert::ConversionPolicy;
use crate::table::DataLayout;

/// Options for creating tables from Arrow data.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};
/// use numeric_table::{ArrowOptions, prelude::*};
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
#[derive(Clone, Copy, Debug)]
#[must_use]
#[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
pub struct ArrowOptions {
    pub(super) copy: CopyPolicy,
    pub(super) conversion: Option<ConversionPolicy>,
    /// What stands for nulls; errors if nothing does.
    pub(super) null: Option<AnyValue>,
    pub(super) layout: DataLayout,
}

impl ArrowOptions {
    /// Creates the default options: a row-major table, copied only if needed; no conversion; nulls are errors.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ArrowOptions, prelude::*};
    /// let batch = HomogenNumericTable::from_rows(&[[1.5, 2.5]])?.to_record_batch()?;
    /// let table = HomogenNumericTable::<f64>::from_record_batches([batch], ArrowOptions::new())?;
    /// assert_eq!(table.as_slice()?, [1.5, 2.5]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new() -> Self {
        Self { copy: CopyPolicy::IfNeeded, conversion: None, null: None, layout: DataLayout::RowMajor }
    }

    /// Sets whether values are copied.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ArrowOptions, CopyPolicy, prelude::*};
    /// let batch = HomogenNumericTable::from_rows(&[[1], [2]])?.to_record_batch()?;
    /// let options = ArrowOptions::new().copy(CopyPolicy::Never);
    /// let shared = HomogenNumericTable::<i32>::from_record_batches([batch], options)?;
    /// assert_eq!(shared.data_memory_status(), MemoryStatus::UserAllocated);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn copy(self, copy: CopyPolicy) -> Self {
        Self { copy, ..self }
    }

    /// Requests that values of other element types are converted, under a policy. By default, they are an error.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ArrowOptions, prelude::*};
    /// let batch = HomogenNumericTable::from_rows(&[[1_i32, 300]])?.to_record_batch()?;
    /// let options = ArrowOptions::new();
    /// let load = |policy| HomogenNumericTable::<u8>::from_record_batches([&batch], options.convert(policy));
    /// assert_eq!(load(ConversionPolicy::Saturate)?.as_slice()?, [1, 255]);
    /// assert!(matches!(load(ConversionPolicy::Checked), Err(Error::ValueNotRepresentable { row: 0, column: 1, .. })));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn convert(self, policy: ConversionPolicy) -> Self {
        Self { conversion: Some(policy), ..self }
    }

    /// Sets whether nulls become NaN, in columns of floats. Otherwise they are errors.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use arrow_array::{ArrayRef, Float32Array, RecordBatch};
    /// # use numeric_table::{ArrowOptions, prelude::*};
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

    /// Sets the value that nulls become, instead of NaN or an error. Integers must hold it exactly; floats may round
    /// it.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use arrow_array::{ArrayRef, Int16Array, RecordBatch};
    /// # use numeric_table::{ArrowOptions, SoaNumericTable, prelude::*};
    /// let column: ArrayRef = Arc::new(Int16Array::from(vec![Some(1), None]));
    /// let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
    /// let table = SoaNumericTable::from_record_batches([&batch], ArrowOptions::new().nulls_to(-1))?;
    /// assert_eq!(table.column_as::<i16>(0)?, [1, -1]);
    /// assert!(SoaNumericTable::from_record_batches([batch], ArrowOptions::new().nulls_to(0.5)).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn nulls_to(self, value: impl Into<AnyValue>) -> Self {
        Self { null: Some(value.into()), ..self }
    }

    /// Sets the layout of the table. Lists are rows: a column-major table made from them is a copy. A structure of
    /// arrays has one layout, whatever is set.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ArrowOptions, prelude::*};
    /// let batch = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.to_record_batch()?;
    /// let options = ArrowOptions::new().layout(DataLayout::ColumnMajor);
    /// let table = HomogenNumericTable::<i32>::from_record_batches([batch], options)?;
    /// assert_eq!(table.as_slice()?, [1, 3, 2, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn layout(self, layout: DataLayout) -> Self {
        Self { layout, ..self }
    }
}

impl Default for ArrowOptions {
    fn default() -> Self {
        Self::new()
    }
}
