//! Outputs that touch no page before a kernel writes them.
//!
//! Each test runs in a process of its own, so that nothing else takes memory there.

use std::fs;
use std::process::Command;

use numeric_table::Array;
use numeric_table_execution::*;
use test_support::test_name;

/// Set in the process that a test runs in.
const CHILD: &str = "NUMERIC_TABLE_EXECUTION_MEMORY_TEST";

/// The size in bytes of each array. With 32 bits, three of 1 GiB do not fit.
const SIZE: usize = if usize::BITS == 64 { 1 << 30 } else { 1 << 27 };
const COUNT: usize = SIZE / size_of::<f64>();

fn alone(name: &str, test: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return test();
    }
    let test = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &test_name!(name), "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let printed = [test.stdout, test.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(test.status.success() && printed[0].contains("1 passed"), "{}: {}", test.status, printed.concat());
}

/// The bytes of this process that are in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

/// Fails if the process grows by more than 1 % of the output meanwhile.
fn touches_nothing<R>(what: &str, work: impl FnOnce() -> R) -> R {
    let before = resident();
    let result = work();
    let grown = resident().saturating_sub(before);
    assert!(grown < SIZE / 100, "{what}: {grown} bytes were touched");
    result
}

fn outputs<D: Kernels>(device: &D) {
    let mut handle = ArrayHandle::<f64, D>::empty(device);
    touches_nothing("a fresh output", || handle.prepare_for_output(COUNT).map(|_| ()).unwrap());
    let first = device.stats();
    touches_nothing("the same size again", || handle.prepare_for_output(COUNT).map(|_| ()).unwrap());
    touches_nothing("a smaller one", || handle.prepare_for_output(COUNT - 1000).map(|_| ()).unwrap());
    assert_eq!(device.stats() - first, TransferStats::default());
    handle.truncate(2);
    device.fill(handle.prepare_in_place().unwrap(), 1.5).unwrap();
    assert_eq!(handle.read_portal().unwrap(), [1.5, 1.5]);
}

#[test]
fn outputs_on_serial() {
    alone("outputs_on_serial", || outputs(&HostSerial));
}

#[test]
fn outputs_on_rayon() {
    alone("outputs_on_rayon", || outputs(&HostParallel));
}

#[test]
fn outputs_on_detached() {
    alone("outputs_on_detached", || outputs(&EmulatedDevice::new()));
}

fn over_an_input<D: Kernels>(device: &D) {
    // Input data that is written over: neither copied, nor carried to the device.
    let array = Array::<f64>::zeros(COUNT).unwrap();
    let mut shared = ArrayHandle::from_container(device, array.clone());
    touches_nothing("an output over a shared array", || shared.prepare_for_output(COUNT).map(|_| ()).unwrap());
    let mut whole = ArrayHandle::from_container(device, array);
    touches_nothing("an output over an array", || whole.prepare_for_output(COUNT).map(|_| ()).unwrap());
    assert_eq!((device.stats().uploads, device.stats().duplicates), Default::default());
    let mut vec = ArrayHandle::<f64, D, Vec<f64>>::empty(device);
    touches_nothing("an output into a `Vec`", || vec.prepare_for_output(COUNT).map(|_| ()).unwrap());
}

#[test]
fn outputs_over_an_input() {
    alone("outputs_over_an_input", || {
        over_an_input(&HostParallel);
        over_an_input(&EmulatedDevice::new());
    });
}
