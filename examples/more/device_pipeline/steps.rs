//! The kernels of the pipeline. Tables are row-major.

use numeric_table_execution::{HandleError, Kernels, View, ViewMut};

/// Number of rows in one partial sum.
pub(crate) const PART: usize = 256;

/// The sizes that the kernels need.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) columns: usize,
    pub(crate) clusters: usize,
}

/// How a kind of device runs the kernels, over the given number of rows.
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

    /// Finds the nearest centroid of each row, and the square of its distance; the first one on ties. The inputs are
    /// the values and the centroids, the outputs the indices of the centroids and the squares.
    fn assign(
        &self,
        device: &D,
        rows: usize,
        inputs: (View<'_, f32, D>, View<'_, f64, D>),
        outputs: (ViewMut<'_, i32, D>, ViewMut<'_, f64, D>),
    ) -> Result<(), HandleError>;

    /// Computes, for each part of the rows and each cluster, the sums of the columns, the number of rows, and the sum
    /// of their distances. The inputs are the values and the results of [`assign`](Self::assign).
    fn sum(
        &self,
        device: &D,
        rows: usize,
        inputs: (View<'_, f32, D>, View<'_, i32, D>, View<'_, f64, D>),
        output: ViewMut<'_, f64, D>,
    ) -> Result<(), HandleError>;
}
