"""Times the jobs of main.rs with PyTorch and CuPy. Prints lines in the same format."""
import statistics
import time

import cupy
import numpy as np
import torch


def measure(job, size, run, runs=9):
    run()
    torch.cuda.synchronize()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    median = statistics.median(times)
    print(f"{job} {median * 1e3:.3f} ms {size / median / 1e9:.1f} GB/s", flush=True)


print(f"# PyTorch {torch.__version__}, CuPy {cupy.__version__}, {torch.cuda.get_device_name()}")
COUNT, COLUMNS = 1 << 28, 16  # 1 GiB of float32
host = np.arange(COUNT, dtype=np.float32)
tensor = torch.from_numpy(host)
size = host.nbytes
start = time.perf_counter()
pinned = tensor.pin_memory()
print(f"torch/pin {(time.perf_counter() - start) * 1e3:.1f} ms")
measure("torch/upload/pinned", size, lambda: pinned.cuda(non_blocking=True))
measure("torch/upload/pageable", size, lambda: tensor.cuda())
measure("cupy/upload/pageable", size, lambda: cupy.asarray(host))
device = tensor.cuda()
back = torch.empty_like(tensor)
measure("torch/download/pageable", size, lambda: back.copy_(device))
measure("torch/download/pinned", size, lambda: pinned.copy_(device))
copy = torch.empty_like(device)
measure("limit/torch/device_copy", 2 * size, lambda: copy.copy_(device))
for name, kind, width in [("f64", torch.float64, 8), ("i32", torch.int32, 4), ("i16", torch.int16, 2), ("f16", torch.float16, 2)]:
    target = torch.empty(COUNT, dtype=kind, device="cuda")
    measure(f"torch/convert/f32_{name}", COUNT * (4 + width), lambda: target.copy_(device))
    measure(f"torch/convert/{name}_f32", COUNT * (4 + width), lambda: device.copy_(target))
    del target
for columns in (4, COLUMNS, 1024):
    table = device.view(-1, columns)
    turned = torch.empty(columns, COUNT // columns, device="cuda")
    measure(f"torch/transpose/f32/{columns}_columns", 2 * size, lambda: turned.copy_(table.t()))
    del turned
table = device.view(-1, COLUMNS)


def summary():
    wide = table.double()
    return wide.mean(0), wide.var(0), table.amin(0), table.amax(0)


measure("torch/statistics/on_device", size, summary)
del device, copy, back, pinned, table
torch.cuda.empty_cache()
for name, kind, count in [("f32", torch.float32, COUNT), ("f64", torch.float64, COUNT // 2), ("i32", torch.int32, COUNT), ("u8", torch.uint8, COUNT)]:
    numbers = torch.randint(0, 255 if name == "u8" else 2**31 - 1, (count,), device="cuda").to(kind)
    flags = torch.arange(count, device="cuda") % 2 == 1
    size = count * numbers.element_size()
    measure(f"torch/sort_indices/{name}", size, lambda: torch.sort(numbers, stable=True)[1])
    measure(f"torch/reduce/sum/{name}", size, lambda: numbers.sum(dtype=kind).item())
    measure(f"torch/reduce/min/{name}", size, lambda: numbers.min().item())
    measure(f"torch/scan_inclusive/sum/{name}", size, lambda: torch.cumsum(numbers, 0, dtype=kind))
    measure(f"torch/copy_flagged/{name}", size, lambda: numbers[flags])
    measure(f"torch/unique/{name}", size, lambda: torch.unique_consecutive(numbers))
    other = cupy.from_dlpack(numbers)
    measure(f"cupy/sort_indices/{name}", size, lambda: cupy.argsort(other))
    edges = cupy.linspace(0, 2.0**31, 101)
    measure(f"cupy/histogram/100_bins/{name}", size, lambda: cupy.histogram(other, bins=edges))
    del numbers, flags, other
    torch.cuda.empty_cache()
    cupy.get_default_memory_pool().free_all_blocks()

# 16 GiB of host rows, in chunks of 64 MiB: mean, variance, minimum and maximum of 16 columns.
rows, chunk = 1 << 28, 1 << 20
host = np.full((rows, COLUMNS), 0.5, dtype=np.float32)
tensor = torch.from_numpy(host)


def torch_stream():
    total = torch.zeros(COLUMNS, dtype=torch.float64, device="cuda")
    squares = total.clone()
    low = torch.full((COLUMNS,), float("inf"), device="cuda")
    high = -low
    for first in range(0, rows, chunk):
        block = tensor[first:first + chunk].cuda(non_blocking=True)
        wide = block.double()
        total += wide.sum(0)
        squares += (wide * wide).sum(0)
        low, high = torch.minimum(low, block.amin(0)), torch.maximum(high, block.amax(0))
    return total.cpu(), squares.cpu(), low.cpu(), high.cpu()


def cupy_stream():
    total, squares = cupy.zeros(COLUMNS), cupy.zeros(COLUMNS)
    low, high = cupy.full(COLUMNS, cupy.inf), cupy.full(COLUMNS, -cupy.inf)
    for first in range(0, rows, chunk):
        block = cupy.asarray(host[first:first + chunk])
        wide = block.astype(cupy.float64)
        total += wide.sum(0)
        squares += (wide * wide).sum(0)
        low, high = cupy.minimum(low, block.min(0)), cupy.maximum(high, block.max(0))
    return total.get(), squares.get(), low.get(), high.get()


measure("torch/statistics/streamed_16_GiB", host.nbytes, torch_stream, 3)
measure("cupy/statistics/streamed_16_GiB", host.nbytes, cupy_stream, 3)
