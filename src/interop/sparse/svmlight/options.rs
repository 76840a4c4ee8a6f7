//! Options for reading svmlight files.

#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::convert::ConversionPolicy;
#[cfg(doc)]
use crate::{
    CsrNumericTable, Error,
    sparse::{LabeledRows, SvmlightLabels},
};

/// The base of the column indices of an svmlight file.
///
/// # Examples
/// ```
/// use numeric_table::{TableDescription, sparse::{LabeledRows, SvmlightIndices, SvmlightOptions}};
/// let columns = |text: &str, from| -> Result<usize, numeric_table::Error> {
///     let options = SvmlightOptions::new().indices(from);
///     Ok(LabeledRows::read_with::<f32>(text.as_bytes(), options)?.features.column_count())
/// };
/// assert_eq!(columns("1 1:0.5 3:2\n", SvmlightIndices::FromOne)?, 3);
/// assert_eq!(columns("1 1:0.5 3:2\n", SvmlightIndices::FromZero)?, 4);
/// assert_eq!(columns("1 1:0.5 3:2\n", SvmlightIndices::Automatic)?, 3); // no index is 0
/// assert!(columns("1 0:0.5 3:2\n", SvmlightIndices::FromOne).is_err());
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SvmlightIndices {
    /// From one, as in SVM-light and LIBSVM; 0 is an error. The default.
    #[default]
    FromOne,
    /// From zero.
    FromZero,
    /// From zero if any index of the file is 0, otherwise from one: scikit-learn's `zero_based="auto"`. A zero-based
    /// file without values in its first column is misread, so set the base if you know it.
    Automatic,
}

/// Options for reading an svmlight file.
///
/// # Examples
/// ```
/// use numeric_table::{TableDescription, sparse::{LabeledRows, SvmlightOptions}};
/// let text = b"+1 1:0.5 3:2 # a comment\n-1 2:1e3\n";
/// let data = LabeledRows::read_with::<f32>(&text[..], SvmlightOptions::new().column_count(10))?;
/// assert_eq!((data.features.row_count(), data.features.column_count()), (2, 10));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SvmlightOptions {
    pub(super) columns: Option<usize>,
    pub(super) indices: SvmlightIndices,
    pub(super) is_multilabel: bool,
    pub(super) sorts: bool,
    pub(super) policy: ConversionPolicy,
}

impl SvmlightOptions {
    /// Creates the default options: the largest index determines the number of columns, indices are counted from one
    /// and ascend in each row, each row has one label, and numbers must be representable in the element type.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{TableDescription, sparse::{LabeledRows, SvmlightOptions}};
    /// let data = LabeledRows::read_with::<f32>(&b"1 7:0.5\n"[..], SvmlightOptions::new())?;
    /// assert_eq!(data.features.column_count(), 7);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new() -> Self {
        Self {
            columns: None,
            indices: SvmlightIndices::default(),
            is_multilabel: false,
            sorts: false,
            policy: ConversionPolicy::Exact,
        }
    }

    /// Sets the number of columns. A larger index is [`ErrorKind::Text`]. By default, the largest index in the file
    /// determines the number, so a test file may have fewer columns than the training file.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::sparse::{LabeledRows, SvmlightOptions};
    /// let error = LabeledRows::read_with::<f32>(&b"1 7:0.5\n"[..], SvmlightOptions::new().column_count(5)).unwrap_err();
    /// assert_eq!(error.to_string(), r#"line 1, byte 3: "7" is past the last column, whose index is 5"#);
    /// ```
    pub fn column_count(self, columns: usize) -> Self {
        Self { columns: Some(columns), ..self }
    }

    /// Sets the base of the indices.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::sparse::{LabeledRows, SvmlightIndices, SvmlightOptions};
    /// let options = SvmlightOptions::new().indices(SvmlightIndices::FromZero);
    /// let data = LabeledRows::read_with::<f32>(&b"1 0:0.5\n"[..], options)?;
    /// assert_eq!(data.features.indices().get(0), Some(0));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn indices(self, indices: SvmlightIndices) -> Self {
        Self { indices, ..self }
    }

    /// Sets whether a row may have any number of labels, separated by commas, and none if its line begins with an
    /// index. By default, a row has one label.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::sparse::{LabeledRows, SvmlightOptions};
    /// let text = b"1,3 1:0.5\n2:0.25\n";
    /// let data = LabeledRows::read_with::<f32>(&text[..], SvmlightOptions::new().multilabel(true))?;
    /// assert_eq!((data.labels.row(0), data.labels.row(1)), (&[1.0, 3.0][..], &[][..]));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn multilabel(self, is_multilabel: bool) -> Self {
        Self { is_multilabel, ..self }
    }

    /// Sets whether the indices of a row may be in any order; they are then sorted. By default, an index that is not
    /// larger than the previous one is [`ErrorKind::Text`], as in SVM-light. A repeated index is always an error.
    /// # Examples
    /// ```
    /// use numeric_table::sparse::{LabeledRows, SvmlightOptions};
    /// let data = LabeledRows::read_with::<f32>(&b"1 3:0.5 1:0.25\n"[..], SvmlightOptions::new().sort(true))?;
    /// assert_eq!(data.features.values_slice::<f32>()?, [0.25, 0.5]);
    /// assert!(LabeledRows::read::<f32>(&b"1 3:0.5 1:0.25\n"[..]).is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sort(self, sorts: bool) -> Self {
        Self { sorts, ..self }
    }

    /// Sets the treatment of values that the element type cannot hold, as `CsvOptions::policy` does. By default,
    /// [`Exact`](ConversionPolicy::Exact), they are errors, except that floats are rounded to the nearest value.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{ConversionPolicy, sparse::{LabeledRows, SvmlightOptions}};
    /// let options = SvmlightOptions::new().policy(ConversionPolicy::Saturate);
    /// let data = LabeledRows::read_with::<u8>(&b"1 1:300 2:0.5\n"[..], options)?;
    /// assert_eq!(data.features.values_slice::<u8>()?, [255, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn policy(self, policy: ConversionPolicy) -> Self {
        Self { policy, ..self }
    }
}

/// Returns the options of [`SvmlightOptions::new`].
impl Default for SvmlightOptions {
    fn default() -> Self {
        Self::new()
    }
}
