//! The kernels of the pipeline. Tables are row-major.

use numeric_table::execution::{HandleError, Kernels, View, ViewMut};

/// Rows whose sums are computed as one part.
pub(crate) const PART: usize = 256;

/// What the kernels must know of the table.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) columns: usize,
    pub(crate) clusters: usize,
}

/// How a kind of device runs the kernels, over so many rows.
pub(crate) trait Steps<D: Kernels> {
    /// Standardizes values: `(x - mean) * factor`. The inputs are the values, and the means of the columns and then their
    /// factors.
    fn standardize(
        &self,
        device: &D,
        rows: usize,
        inputs: (View<'_, f64, D>, View<'_, f64, D>),
        output: ViewMut<'_, f32, D>,
    ) -> Result<(), HandleError>;

    /// Finds the nearest centroid of each row, and the square of its distance; of equal ones, the first. The inputs are the
    /// values and the centroids, the outputs the numbers of the centroids and the squares.
    fn assign(
        &self,
        device: &D,
        rows: usize,
        inputs: (View<'_, f32, D>, View<'_, f64, D>),
        outputs: (ViewMut<'_, i32, D>, ViewMut<'_, f64, D>),
    ) -> Result<(), HandleError>;

    /// Computes, for each part of the rows and each cluster, the sums of the columns, the number of rows, and the sum of
    /// their distances. The inputs are the values, and what [`assign`](Self::assign) has found.
    fn sum(
        &self,
        device: &D,
        rows: usize,
        inputs: (View<'_, f32, D>, View<'_, i32, D>, View<'_, f64, D>),
        output: ViewMut<'_, f64, D>,
    ) -> Result<(), HandleError>;
}
