//! Kernels that a user writes, on a device with a compiler of kernels. The fake driver has none: it knows the library's
//! kernels by their names, and runs no others.

use numeric_table::prelude::*;
use numeric_table_execution::cuda::{Cuda, CudaGrid, CudaProgram};
use numeric_table_execution::transport::Engine;
use numeric_table_execution::*;
use test_support::tables::assert_fault;

/// Compiles CUDA C. Returns `None` where nothing compiles it.
fn compile(device: &Cuda, source: &str) -> Option<Result<CudaProgram, HandleError>> {
    match device.compile(source) {
        Err(HandleError::Device(error @ DeviceError::Unavailable { .. })) => {
            eprintln!("skipped: {error}");
            None
        }
        result => Some(result),
    }
}

const KERNELS: &str = r#"
extern "C" __global__ void scale(const float* x, const unsigned char* by, double* y, long long* whole, size_t count,
                                 double add, unsigned* refused) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
        if (by[i] == 0) {
            atomicAdd(refused, 1u);
        }
        y[i] = (double)x[i] * by[i] + add;
        whole[i] = (long long)y[i];
    }
}

// The sums of runs of 64 values, in shared memory of a size that the launch says.
extern "C" __global__ void sums(const long long* values, long long* sums) {
    extern __shared__ long long parts[];
    parts[threadIdx.x] = values[blockIdx.x * 64 + threadIdx.x];
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            parts[threadIdx.x] += parts[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = parts[0];
    }
}

extern "C" __global__ void fails() {
    __trap();
}
"#;

#[test]
fn kernels_of_the_user_take_views_of_any_types_and_numbers() {
    super::need_device!();
    let device = Cuda::new(0).unwrap();
    let Some(program) = compile(&device, KERNELS) else { return };
    let program = program.unwrap();
    let (scale, sums) = (program.kernel("scale").unwrap(), program.kernel("sums").unwrap());
    drop(program); // its kernels hold it
    for count in [64, 6400, 1 << 20] {
        let (x, by): (Vec<f32>, Vec<u8>) = (0..count).map(|i| (i as f32 * 0.5, (i % 7) as u8)).unzip();
        let x = ArrayHandle::from_container(&device, Array::from(x));
        let by = ArrayHandle::from_container(&device, &by[..]);
        let mut y = ArrayHandle::<f64, _>::empty(&device);
        let mut whole = ArrayHandle::<i64, _>::empty(&device);
        let mut refused = ArrayHandle::from_container(&device, vec![0_u32]);
        let copied = x.prefetch(&[]).unwrap();
        let launched = device.submit(&[copied], |_| {
            let (x, by) = (x.prepare_for_input()?, by.prepare_for_input()?);
            let (mut y, mut whole) = (y.prepare_for_output(count)?, whole.prepare_for_output(count)?);
            let mut flag = refused.prepare_in_place()?;
            let launch = scale.over(count).input(&x).input(&by).output(&mut y).output(&mut whole);
            let launch = launch.number(count as u64).number(0.25_f64).output(&mut flag);
            // SAFETY: these are the parameters of `scale`, which reads and writes `count` values of each, and one flag.
            unsafe { launch.launch() }
        });
        device.queue().wait(Engine::Control, launched.unwrap());
        let expected = |i: usize| i as f64 * 0.5 * (i % 7) as f64 + 0.25;
        assert!(y.read_portal().unwrap().iter().enumerate().all(|(i, &y)| y == expected(i)));
        assert_eq!(refused.read_portal().unwrap(), [count.div_ceil(7) as u32]);

        let runs = count / 64;
        let mut found = ArrayHandle::<i64, _>::empty(&device);
        let (values, mut output) = (whole.prepare_for_input().unwrap(), found.prepare_for_output(runs).unwrap());
        let grid = CudaGrid { blocks: [runs as u32, 1, 1], threads: [64, 1, 1], shared_bytes: 64 * 8 };
        // SAFETY: these are the parameters of `sums`, of which each block reads 64 values and writes one.
        unsafe { sums.on_grid(grid).input(&values).output(&mut output).launch() }.unwrap();
        drop(values);
        let whole = whole.read_portal().unwrap().chunks(64).map(|run| run.iter().sum::<i64>());
        assert!(whole.eq(found.read_portal().unwrap().iter().copied()));
    }
}

#[test]
fn a_kernel_of_the_user_refuses_values() {
    super::need_device!();
    let device = Cuda::new(0).unwrap();
    let source = r#"
extern "C" __global__ void gather_4(const float* in, size_t in_count, const unsigned long long* indices, size_t count,
                                    float* out, unsigned long long* refused) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
        if (indices[i] < in_count) {
            out[i] = in[indices[i]];
        } else {
            atomicMin(refused, (unsigned long long)i);
        }
    }
}
"#;
    let Some(program) = compile(&device, source) else { return };
    let gather = program.unwrap().kernel("gather_4").unwrap();
    let input = ArrayHandle::from_container(&device, vec![0.5_f32, 1.5]);
    let mut output = ArrayHandle::<f32, _>::empty(&device);
    for (indices, expected) in [([1_u64, 0, 1, 1], None), ([1, 0, 2, 7], Some(2)), ([3, 0, 1, u64::MAX], Some(0))] {
        let indices = ArrayHandle::from_container(&device, &indices[..]);
        let (from, chosen) = (input.prepare_for_input().unwrap(), indices.prepare_for_input().unwrap());
        let mut to = output.prepare_for_output(4).unwrap();
        let launch = gather.over(4).input(&from).number(2_u64).input(&chosen).number(4_u64).output(&mut to);
        // SAFETY: these are the parameters of `gather_4`, with the refusal; it reads only values that are there.
        assert_eq!(unsafe { launch.launch_checked() }.unwrap(), expected);
    }
    assert_eq!(output.get_values(&[1, 2]).unwrap(), [0.5, 1.5]);
}

#[test]
fn what_is_wrong_with_a_program_is_said() {
    super::need_device!();
    let device = Cuda::new(0).unwrap();
    let Some(wrong) = compile(&device, "extern \"C\" __global__ void f() {\n    undeclared = 1;\n}") else { return };
    let error = wrong.unwrap_err().to_string();
    assert!(error.contains("undeclared") && error.contains("(2)"), "{error}");
    assert_fault!(
        device.compile("a\0b"),
        HandleError::Library(error) if matches!(error.kind(), ErrorKind::Other { .. })
    );
    let program = device.compile(KERNELS).unwrap();
    for name in ["none", "sca\0le", ""] {
        assert_fault!(program.kernel(name), HandleError::Device(_));
    }
    // Values of another adapter, and grids that no device has; the device goes on.
    let scale = program.kernel("sums").unwrap();
    let other = Cuda::new(0).unwrap();
    let mut foreign = ArrayHandle::<i64, _>::empty(&other);
    let mut view = foreign.prepare_for_output(64).unwrap();
    // SAFETY: nothing is launched.
    assert_fault!(unsafe { scale.over(1).output(&mut view).launch() }, HandleError::WrongDevice);
    for (blocks, threads, shared_bytes) in [(0, 64, 0), (1, 2048, 0), (1, 64, 1 << 30)] {
        let grid = CudaGrid { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared_bytes };
        // SAFETY: nothing is launched.
        assert_fault!(unsafe { program.kernel("fails").unwrap().on_grid(grid).launch() }, HandleError::Device(_));
    }
    let values = ArrayHandle::from_container(&device, vec![1_i64; 3]);
    values.prepare_for_input().unwrap();
    device.synchronize().unwrap();
}

/// By itself: the device is lost for the process.
#[test]
#[ignore = "takes a device, and takes it away"]
fn a_kernel_that_fails_takes_the_device_and_not_the_values() {
    super::need_device!();
    let device = Cuda::new(0).unwrap();
    let Some(program) = compile(&device, KERNELS) else { return };
    let kept = ArrayHandle::from_container(&device, vec![1_i32, 2, 3]);
    kept.prepare_for_input().unwrap();
    let mut there = ArrayHandle::<i32, _>::empty(&device);
    device.fill(there.prepare_for_output(3).unwrap(), 7).unwrap();
    let ahead = ArrayHandle::from_container(&device, Array::from(vec![1.5_f64; 1 << 20]));
    ahead.prefetch(&[]).unwrap();
    let fails = program.unwrap().kernel("fails").unwrap();
    // SAFETY: it has no parameters.
    unsafe { fails.over(1).launch() }.unwrap();
    let error = device.synchronize().unwrap_err();
    assert!(matches!(error, HandleError::EarlierFault(_) | HandleError::DeviceLost), "{error:?}");
    assert_fault!(device.synchronize(), HandleError::DeviceLost);
    assert_fault!(kept.prepare_for_input(), HandleError::DeviceLost);
    assert_fault!(there.read_portal(), HandleError::NoValidData | HandleError::DeviceLost);
    assert_eq!(kept.read_portal().unwrap(), [1, 2, 3]);
    assert_eq!(ahead.read_portal().unwrap()[..3], [1.5; 3]);
    drop((kept, there, ahead, fails, device));
}
