//! Options for reading MatrixMarket files.

use crate::convert::ConversionPolicy;
use crate::interop::sparse::row_limit::RowLimit;
#[cfg(doc)]
use crate::{CsrNumericTable, Error};

/// Options for reading a MatrixMarket file.
///
/// # Examples
/// ```
/// use numeric_table::{ConversionPolicy, CsrNumericTable, sparse::MatrixMarketOptions};
/// let text = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 300\n";
/// let options = MatrixMarketOptions::new().policy(ConversionPolicy::Saturate);
/// assert_eq!(CsrNumericTable::read_mtx_with::<u8>(&text[..], options)?.values_slice::<u8>()?, [255]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct MatrixMarketOptions {
    pub(super) policy: ConversionPolicy,
    pub(super) row_limit: RowLimit,
}

impl MatrixMarketOptions {
    /// Creates the default options: numbers must be representable in the element type, and the limit of rows depends on
    /// the length of the file.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, sparse::MatrixMarketOptions};
    /// let text = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 300\n";
    /// assert!(CsrNumericTable::read_mtx_with::<u8>(&text[..], MatrixMarketOptions::new()).is_err());
    /// ```
    pub fn new() -> Self {
        Self { policy: ConversionPolicy::Exact, row_limit: RowLimit::default() }
    }

    /// Sets the treatment of values that the element type cannot hold. By default, [`Exact`](ConversionPolicy::Exact),
    /// they are errors, except that floats are rounded to the nearest value.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{ConversionPolicy, CsrNumericTable, sparse::MatrixMarketOptions};
    /// let text = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1.5\n";
    /// let options = MatrixMarketOptions::new().policy(ConversionPolicy::Checked);
    /// assert_eq!(CsrNumericTable::read_mtx_with::<u8>(&text[..], options)?.values_slice::<u8>()?, [1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn policy(self, policy: ConversionPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Sets the largest number of rows, for which memory is allocated even if they are empty. By default, a file may
    /// have 2^20 rows plus 8 per byte, so that a file of 50 bytes cannot claim all memory.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, TableDescription, sparse::MatrixMarketOptions};
    /// let text = b"%%MatrixMarket matrix coordinate real general\n2000000 1 1\n1 1 300\n";
    /// assert!(CsrNumericTable::read_mtx::<f32>(&text[..]).is_err());
    /// let options = MatrixMarketOptions::new().max_rows(2_000_000);
    /// assert_eq!(CsrNumericTable::read_mtx_with::<f32>(&text[..], options)?.row_count(), 2_000_000);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn max_rows(self, rows: usize) -> Self {
        Self { row_limit: RowLimit::new(rows), ..self }
    }
}

/// Returns the options of [`MatrixMarketOptions::new`].
impl Default for MatrixMarketOptions {
    fn default() -> Self {
        Self::new()
    }
}
