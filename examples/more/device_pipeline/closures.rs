//! The kernels as Rust closures, for devices that run them.

use numeric_table_execution::{HandleError, Launch, View, ViewMut};

use crate::steps::{PART, Sizes, Steps};

pub(crate) struct Closures(pub(crate) Sizes);

impl<D: Launch> Steps<D> for Closures {
    fn standardize(
        &self,
        device: &D,
        rows: usize,
        inputs: (View<'_, f64, D>, View<'_, f64, D>),
        output: ViewMut<'_, f32, D>,
    ) -> Result<(), HandleError> {
        let columns = self.0.columns;
        device.launch(inputs, output, rows, |rows, (values, moments), output| {
            let (means, factors) = moments.split_at(columns);
            for (row, output) in values.chunks(columns).skip(rows.start).zip(output.chunks_mut(columns)) {
                for (column, (output, value)) in output.iter_mut().zip(row).enumerate() {
                    *output = ((value - means[column]) * factors[column]) as f32;
                }
            }
        })
    }

    fn assign(
        &self,
        device: &D,
        rows: usize,
        inputs: (View<'_, f32, D>, View<'_, f64, D>),
        outputs: (ViewMut<'_, i32, D>, ViewMut<'_, f64, D>),
    ) -> Result<(), HandleError> {
        let columns = self.0.columns;
        device.launch(inputs, outputs, rows, |rows, (values, centroids), (labels, distances)| {
            let found = labels.iter_mut().zip(distances);
            for (row, (label, distance)) in values.chunks(columns).skip(rows.start).zip(found) {
                (*label, *distance) = (0, f64::INFINITY);
                for (cluster, centroid) in (0..).zip(centroids.chunks(columns)) {
                    let differences = row.iter().zip(centroid).map(|(&value, center)| f64::from(value) - center);
                    let squares = differences.fold(0.0, |sum, difference| sum + difference * difference);
                    if squares < *distance {
                        (*label, *distance) = (cluster, squares);
                    }
                }
            }
        })
    }

    fn sum(
        &self,
        device: &D,
        rows: usize,
        inputs: (View<'_, f32, D>, View<'_, i32, D>, View<'_, f64, D>),
        output: ViewMut<'_, f64, D>,
    ) -> Result<(), HandleError> {
        let Sizes { columns, clusters } = self.0;
        device.launch(inputs, output, rows.div_ceil(PART), |parts, (values, labels, distances), output| {
            output.fill(0.0);
            for (part, output) in parts.zip(output.chunks_mut(clusters * (columns + 2))) {
                for row in part * PART..rows.min((part + 1) * PART) {
                    let sums = &mut output[labels[row] as usize * (columns + 2)..][..columns + 2];
                    let values = values[row * columns..][..columns].iter().map(|&value| f64::from(value));
                    let added = values.chain([1.0, distances[row]]);
                    sums.iter_mut().zip(added).for_each(|(sum, value)| *sum += value);
                }
            }
        })
    }
}
