//! The kernels in CUDA C. They add in the same order as `closures.rs` and fuse no operations, so that the results agree
//! bit for bit.

use numeric_table_execution::cuda::{Cuda, CudaGrid, CudaKernel};
use numeric_table_execution::{HandleError, View, ViewMut};

use crate::steps::{PART, Sizes, Steps};

const SOURCE: &str = r#"
#define ITEMS(i, count) \
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (count); i += (size_t)gridDim.x * blockDim.x

extern "C" __global__ void standardize(const double* values, const double* moments, float* output, size_t rows,
                                       size_t columns) {
    for (ITEMS(i, rows * columns)) {
        size_t column = i % columns;
        output[i] = (float)((values[i] - moments[column]) * moments[columns + column]);
    }
}

extern "C" __global__ void assign(const float* values, const double* centroids, int* labels, double* distances,
                                  size_t rows, size_t columns, size_t clusters) {
    for (ITEMS(row, rows)) {
        int label = 0;
        double distance = __longlong_as_double(0x7ff0000000000000);
        for (size_t cluster = 0; cluster < clusters; ++cluster) {
            double squares = 0;
            for (size_t column = 0; column < columns; ++column) {
                double difference = (double)values[row * columns + column] - centroids[cluster * columns + column];
                squares = __dadd_rn(squares, __dmul_rn(difference, difference));
            }
            if (squares < distance) {
                label = (int)cluster;
                distance = squares;
            }
        }
        labels[row] = label;
        distances[row] = distance;
    }
}

// A block of threads per part; a thread per sum of a row.
extern "C" __global__ void sum(const float* values, const int* labels, const double* distances, double* output,
                               size_t rows, size_t columns, size_t clusters, size_t part_rows) {
    size_t first = blockIdx.x * part_rows, last = first + part_rows < rows ? first + part_rows : rows;
    double* part = output + blockIdx.x * clusters * (columns + 2);
    for (size_t column = threadIdx.x; column < columns + 2; column += blockDim.x) {
        for (size_t cluster = 0; cluster < clusters; ++cluster) {
            part[cluster * (columns + 2) + column] = 0;
        }
        for (size_t row = first; row < last; ++row) {
            double value = column < columns ? values[row * columns + column] : column == columns ? 1 : distances[row];
            part[labels[row] * (columns + 2) + column] += value;
        }
    }
}
"#;

pub(crate) struct Compiled {
    sizes: Sizes,
    standardize: CudaKernel,
    assign: CudaKernel,
    sum: CudaKernel,
}

impl Compiled {
    /// Compiles the kernels. Fails if the runtime compiler (NVRTC) is not installed.
    pub(crate) fn new(device: &Cuda, sizes: Sizes) -> Result<Self, HandleError> {
        let program = device.compile(SOURCE)?;
        let kernel = |name| program.kernel(name);
        Ok(Self { sizes, standardize: kernel("standardize")?, assign: kernel("assign")?, sum: kernel("sum")? })
    }
}

impl Steps<Cuda> for Compiled {
    fn standardize(
        &self,
        _device: &Cuda,
        rows: usize,
        (values, moments): (View<'_, f64, Cuda>, View<'_, f64, Cuda>),
        mut output: ViewMut<'_, f32, Cuda>,
    ) -> Result<(), HandleError> {
        let columns = self.sizes.columns;
        let launch = self.standardize.over(rows * columns).input(&values).input(&moments).output(&mut output);
        let launch = launch.number(rows as u64).number(columns as u64);
        // SAFETY: these are the parameters of `standardize`, which reads and writes values of these rows, and two moments
        // of each column.
        unsafe { launch.launch() }
    }

    fn assign(
        &self,
        _device: &Cuda,
        rows: usize,
        (values, centroids): (View<'_, f32, Cuda>, View<'_, f64, Cuda>),
        (mut labels, mut distances): (ViewMut<'_, i32, Cuda>, ViewMut<'_, f64, Cuda>),
    ) -> Result<(), HandleError> {
        let Sizes { columns, clusters } = self.sizes;
        let launch = self.assign.over(rows).input(&values).input(&centroids).output(&mut labels);
        let launch = launch.output(&mut distances).number(rows as u64).number(columns as u64).number(clusters as u64);
        // SAFETY: these are the parameters of `assign`, which reads these rows and all centroids, and writes a label and a
        // distance of each row.
        unsafe { launch.launch() }
    }

    fn sum(
        &self,
        _device: &Cuda,
        rows: usize,
        (values, labels, distances): (View<'_, f32, Cuda>, View<'_, i32, Cuda>, View<'_, f64, Cuda>),
        mut parts: ViewMut<'_, f64, Cuda>,
    ) -> Result<(), HandleError> {
        let Sizes { columns, clusters } = self.sizes;
        let blocks = u32::try_from(rows.div_ceil(PART)).map_err(|_| HandleError::LengthOverflow)?;
        let threads = u32::try_from((columns + 2).next_multiple_of(32)).unwrap_or(u32::MAX).min(1024);
        let grid = CudaGrid { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared_bytes: 0 };
        let launch = self.sum.on_grid(grid).input(&values).input(&labels).input(&distances).output(&mut parts);
        let sizes = [rows, columns, clusters, PART];
        let launch = sizes.into_iter().fold(launch, |launch, size| launch.number(size as u64));
        // SAFETY: these are the parameters of `sum`, which reads these rows, their labels (each of a cluster) and
        // distances, and writes as many parts as there are blocks.
        unsafe { launch.launch() }
    }
}
