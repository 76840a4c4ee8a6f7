//! oneDAL's usage example for `array`, with its queue: arrays in host memory and on a device, and a kernel that adds
//! one to the other.
//!
//! ```text
//! cargo run --release -p more-examples --example shared_array_on_device                    # emulated, and on all threads
//! cargo run --release -p more-examples --features cuda --example shared_array_on_device    # and on a CUDA device
//! ```

use numeric_table::{Array, array::MemoryKind};
use numeric_table_execution::transport::{Engine, Event};
use numeric_table_execution::{DeviceArray, EmulatedDevice, HandleError, HostParallel, Kernels, Launch};

type Result<T> = std::result::Result<T, HandleError>;

static DATA: [f32; 4] = [1.0, 2.0, 3.0, 4.0];

/// A device that can add one array to another.
trait Adds: Kernels {
    /// Starts `values[i] += others[i]` after the given events, and returns the event of its completion.
    fn add(
        &self,
        values: &mut DeviceArray<f32, Self>,
        others: &DeviceArray<f32, Self>,
        after: &[Event],
    ) -> Result<Event>;
}

fn main() -> Result<()> {
    let expected = [2.0, 3.0, 4.0, 5.0];
    let found = [run(&HostParallel)?, run(&EmulatedDevice::new())?];
    assert_eq!(found, [expected; 2]);
    #[cfg(feature = "cuda")]
    match numeric_table_execution::cuda::Cuda::new(0) {
        // Without NVRTC, the kernel cannot be compiled.
        Ok(device) if matches!(device.compile(""), Err(HandleError::Device(_))) => {
            println!("\n{} has no compiler of kernels", device.name()?);
        }
        Ok(device) => {
            println!("\nthe CUDA device is {}", device.name()?);
            assert_eq!(run(&device)?, expected);
        }
        Err(reason) => println!("\nno CUDA device: {reason}"),
    }
    Ok(())
}

fn run<D: Adds>(queue: &D) -> Result<[f32; 4]> {
    println!("\non {}:", queue.id());
    // dal::array<float>::wrap(data, data_count): the user's memory, immutable, not copied.
    let arr_data = Array::from(&DATA[..]);
    // dal::array<float>::full(queue, data_count, 1.0f): the device's memory, filled there.
    let arr_ones = DeviceArray::full(queue, DATA.len(), 1.0_f32)?;
    println!("Is arr_data mutable: {}", arr_data.has_mutable_data()); // false
    let place = |kind| if kind == MemoryKind::Device { "the device's" } else { "the program's" };
    println!("The memory of arr_data is {}", place(arr_data.memory_kind()));
    println!("The memory of arr_ones is {}", place(arr_ones.memory_kind()));

    // dal::array<float> arr_mdata = arr_data: no copy.
    let arr_mdata = arr_data.clone();
    println!("arr_mdata elements count: {}", arr_mdata.len()); // 4
    println!("Is arr_mdata mutable: {}", arr_mdata.has_mutable_data()); // false

    // arr_mdata.need_mutable_data(queue): copies for the device to write; arr_data still refers to the user's memory.
    let mut arr_mdata = DeviceArray::from_slice(queue, &arr_mdata)?;

    // queue.submit(...).wait()
    let added = queue.add(&mut arr_mdata, &arr_ones, &[])?;
    queue.queue().wait(Engine::Control, added);

    let mut values = [0.0; DATA.len()];
    arr_mdata.copy_to_host(.., &mut values)?;
    println!("arr_mdata values: {values:?}"); // 2, 3, 4, 5
    println!("arr_data values: {:?}", &arr_data[..]); // unchanged
    Ok(values)
}

/// For devices that run Rust closures.
fn add_by_closure<D: Launch>(
    device: &D,
    values: &mut DeviceArray<f32, D>,
    others: &DeviceArray<f32, D>,
    after: &[Event],
) -> Result<Event> {
    let count = values.len();
    device.submit(after, |device| {
        device.launch([others.view()?], values.view_mut()?, count, |items, [others], values| {
            values.iter_mut().zip(&others[items]).for_each(|(value, other)| *value += other);
        })
    })
}

macro_rules! by_closure {
    ($($device:ty)*) => {$(
        impl Adds for $device {
            fn add(
                &self,
                values: &mut DeviceArray<f32, Self>,
                others: &DeviceArray<f32, Self>,
                after: &[Event],
            ) -> Result<Event> {
                add_by_closure(self, values, others, after)
            }
        }
    )*};
}
by_closure! { HostParallel EmulatedDevice }

/// For CUDA devices, in CUDA C.
#[cfg(feature = "cuda")]
impl Adds for numeric_table_execution::cuda::Cuda {
    fn add(
        &self,
        values: &mut DeviceArray<f32, Self>,
        others: &DeviceArray<f32, Self>,
        after: &[Event],
    ) -> Result<Event> {
        use numeric_table_execution::DeviceAdapter;
        let program = self.compile(
            r#"
            extern "C" __global__ void add(float* values, const float* others, size_t count) {
                size_t step = (size_t)gridDim.x * blockDim.x;
                for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
                    values[i] += others[i];
                }
            }"#,
        )?;
        let (kernel, count) = (program.kernel("add")?, values.len());
        self.submit(after, |_| {
            let (mut values, others) = (values.view_mut()?, others.view()?);
            let launch = kernel.over(count).output(&mut values).input(&others).number(count as u64);
            // SAFETY: these are the parameters of `add`, which reads and writes `count` values of each.
            unsafe { launch.launch() }
        })
    }
}
