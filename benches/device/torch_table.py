"""Checks tables on a GPU beside PyTorch and CuPy: tensors become tables, and go back, in the same memory.

`python benches/device/torch_table.py`, with the Python package, PyTorch and CuPy installed. Prints a line for each
check, and exits with 1 if one has failed.
"""
import gc
import sys
import threading
import traceback
import warnings

import numpy as np

import numeric_table as nt

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

# PyTorch says so where a tensor is read-only.
warnings.simplefilter("ignore")
failures = []
checks = []


def check(work):
    checks.append(work)
    return work


def no_copy(call):
    """Runs a call, and checks that the library records no copy."""
    with nt.trace() as trace:
        result = call()
    assert (trace.nbytes, trace.copies) == (0, {}), trace.copies
    return result


def transfers_of(call):
    """Runs a call under CUPTI, the driver's own record. Returns the names of copies between program and device."""
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as record:
        call()
        torch.cuda.synchronize()
    names = [event.name for event in record.events()]
    return [name for name in names if "Memcpy" in name and ("HtoD" in name or "DtoH" in name)], names


def expected_of(values):
    wide = np.asarray(values, "f8")
    return (wide - np.nanmean(wide, 0)) / np.nanstd(wide, 0)


@check
def a_tensor_is_converted_and_standardized_in_place_and_pytorch_sees_it():
    for dtype, tolerance in [(torch.float32, 1e-5), (torch.float64, 1e-11), (torch.float16, 4e-3)]:
        for by_columns in (False, True):
            values = torch.randn(100_003, 16, device="cuda", dtype=torch.float64).mul_(3).add_(5).to(dtype)
            tensor = values.t().contiguous().t() if by_columns else values
            address, before = tensor.data_ptr(), tensor.cpu().double().numpy()
            table = no_copy(lambda: nt.DeviceTable.from_dlpack(tensor))
            assert table.order == ("F" if by_columns else "C") and table.shape == tuple(tensor.shape)
            converted = no_copy(lambda: table.astype("int16"))
            no_copy(table.standardize)
            found = tensor.cpu().double().numpy()  # PyTorch's own tensor, with nothing else done
            assert tensor.data_ptr() == address
            assert np.allclose(found, expected_of(before), atol=tolerance, rtol=tolerance)
            back = no_copy(lambda: torch.from_dlpack(table))
            assert back.data_ptr() == address and torch.equal(back, tensor) and back.dtype == dtype
            assert np.array_equal(converted.rows(0, 100), before[:100].astype("i2"))
            assert np.array_equal(table.rows(), tensor.cpu().numpy())


@check
def the_driver_records_no_transfer():
    tensor = torch.randn(1 << 20, 16, device="cuda")
    nt.DeviceTable.from_dlpack(tensor.clone()).standardize()  # loads the kernels
    nt.DeviceTable.from_dlpack(tensor).astype("float16")

    def pipeline():
        table = nt.DeviceTable.from_dlpack(tensor)
        table.astype("float16")
        table.standardize()
        torch.from_dlpack(table)

    copies, names = transfers_of(pipeline)
    assert copies == [], copies
    seen, _ = transfers_of(lambda: tensor[:10].cpu())
    if not seen:
        print("   (CUPTI records nothing here: only the record of copies counts)")
    kernels = sum("numeric" in name or "standard" in name or "convert" in name for name in names)
    print(f"   ({len(names)} records of the driver, {kernels} of the library's kernels)")


@check
def the_device_uses_no_memory_for_a_tensor():
    tensor = torch.empty(1 << 28, 1, device="cuda")  # 1 GiB
    nt.DeviceTable.from_dlpack(tensor[:10]).to_table()
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    table = nt.DeviceTable.from_dlpack(tensor)
    back = torch.from_dlpack(table)
    after = torch.cuda.mem_get_info()[0]
    assert before - after < 64 << 20, (before, after)
    del table, back


@check
def all_types_of_pytorch_go_both_ways():
    names = "float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
    for name in names:
        dtype = getattr(torch, name, None)
        if dtype is None:
            continue
        tensor = torch.arange(12, device="cuda").to(dtype).reshape(4, 3)
        table = nt.DeviceTable.from_dlpack(tensor)
        assert table.rows(dtype="float64").tolist() == np.arange(12.0).reshape(4, 3).tolist(), name
        back = torch.from_dlpack(table)
        assert (back.dtype, back.data_ptr()) == (dtype, tensor.data_ptr()), name
        one = nt.DeviceTable.from_dlpack(tensor[:, 0].contiguous())
        assert one.shape == (4, 1)
    for wrong in (torch.zeros(3, dtype=torch.bool), torch.zeros(3, dtype=torch.complex64)):
        try:
            nt.DeviceTable.from_dlpack(wrong.cuda())
        except nt.TableTypeError:
            continue
        raise AssertionError(wrong)


@check
def errors_of_tensors_are_clear():
    for tensor, error in [
        (torch.zeros(2, 2, 2, device="cuda"), nt.TableError),
        (torch.zeros(4, 4, device="cuda")[:, :2], nt.CopyRequiredError),
        (torch.zeros(4, 4, device="cuda", requires_grad=True), (BufferError, RuntimeError)),
        (torch.zeros(4), nt.TableTypeError),
    ]:
        try:
            nt.DeviceTable.from_dlpack(tensor)
        except error as found:
            print(f"   ({type(found).__name__}: {str(found)[:90]})")
            continue
        raise AssertionError(f"no {error} for {tensor.shape}")
    gaps = torch.arange(16.0, device="cuda").reshape(4, 4)[:, 1:3]
    assert np.array_equal(nt.DeviceTable.from_dlpack(gaps, copy=True).rows(), gaps.cpu().numpy())
    try:
        nt.Table(torch.zeros(3, device="cuda"))
    except nt.TableTypeError as found:
        assert "DeviceTable.from_dlpack" in str(found)


@check
def producers_on_a_side_stream_are_waited_for():
    side = torch.cuda.Stream()
    large = torch.randn(4096, 4096, device="cuda")
    torch.cuda.synchronize()
    for number in range(20):
        with torch.cuda.stream(side):
            work = large
            for _ in range(6):
                work = work @ large
                work /= work.abs().max()
            tensor = torch.full((100_000, 8), float(number), device="cuda") + 0 * work[0, 0]
            table = nt.DeviceTable.from_dlpack(tensor)  # PyTorch makes the library's stream wait
        assert (table.rows(99_000) == number).all()


@check
def consumers_on_a_side_stream_wait():
    side = torch.cuda.Stream()
    source = torch.randn(2_000_003, 16, device="cuda", dtype=torch.float64)
    expected = source.float().cpu()
    for _ in range(20):
        converted = nt.DeviceTable.from_dlpack(source).astype("float32")
        with torch.cuda.stream(side):
            found = torch.from_dlpack(converted).cpu()
        assert torch.equal(found, expected)


@check
def the_default_stream_needs_no_call():
    tensor = torch.zeros(4_000_003, 4, device="cuda")
    table = nt.DeviceTable.from_dlpack(tensor)
    for number in range(30):
        tensor.fill_(number)  # without a wait
        copy = table.astype("float64")
        tensor.fill_(-1)  # after the table was read
        assert (copy.rows(4_000_000) == number).all()
        assert (table.rows(4_000_000) == -1).all()


@check
def other_streams_are_waited_for_on_request():
    side = torch.cuda.Stream()
    tensor = torch.zeros(4_000_003, 4, device="cuda")
    table = nt.DeviceTable.from_dlpack(tensor)
    torch.cuda.synchronize()
    for number in range(1, 30):
        with torch.cuda.stream(side):
            tensor.fill_(number)
        table.wait_for(side)
        assert (table.rows(4_000_000) == number).all()


@check
def memory_outlives_its_owners():
    for _ in range(50):
        tensor = torch.full((1000, 100), 7.0, device="cuda")
        table = nt.DeviceTable.from_dlpack(tensor)
        del tensor
        again = torch.empty(1000, 100, device="cuda").fill_(1.0)  # does not get that memory
        back = torch.from_dlpack(table)
        del table
        assert (back == 7).all() and (again == 1).all()
        own = torch.from_dlpack(nt.Table(np.full((1000, 100), 3.0)).to_device(dtype="float32"))
        del back
        assert (own == 3).all()
    gc.collect()


@check
def pytorch_frees_what_tables_have_used():
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    for _ in range(20):
        table = nt.DeviceTable.from_dlpack(torch.empty(1 << 24, 4, device="cuda"))
        table.standardize()
        del table
    for _ in range(200):
        if torch.cuda.memory_allocated() <= before:
            break
        threading.Event().wait(0.01)
    assert torch.cuda.memory_allocated() <= before, (torch.cuda.memory_allocated(), before)


@check
def threads_use_one_tensor():
    tensor = torch.arange(3_000_000, device="cuda", dtype=torch.float32).reshape(-1, 3)
    table, errors = nt.DeviceTable.from_dlpack(tensor), []

    def work():
        try:
            for _ in range(50):
                assert torch.from_dlpack(table).data_ptr() == tensor.data_ptr()
                assert table.astype("int32").rows(999_999)[0, 2] == 2_999_999
                nt.DeviceTable.from_dlpack(tensor).select_columns([2, 0])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors, errors


@check
def statistics_are_those_of_the_program():
    values = np.random.default_rng(5).normal(3, 2, (200_003, 5)).astype("f4")
    table = nt.DeviceTable.from_dlpack(torch.from_numpy(values).cuda())
    expected, found = nt.statistics(nt.Table(values)), table.statistics()
    for name in ("mean", "variance", "sum"):
        assert np.allclose(getattr(found, name), getattr(expected, name), rtol=1e-13), name
    assert np.array_equal(found.minimum, expected.minimum) and np.array_equal(found.count, expected.count)


@check
def arrays_of_cupy_go_both_ways():
    if cupy is None:
        return "skipped: CuPy is not installed"
    for order in "CF":
        array = cupy.asarray(cupy.random.randn(100_003, 8).astype(cupy.float32), order=order)
        before = cupy.asnumpy(array)
        table = no_copy(lambda: nt.DeviceTable.from_dlpack(array))
        no_copy(table.standardize)
        assert np.allclose(cupy.asnumpy(array), expected_of(before), atol=1e-5, rtol=1e-5)
        back = no_copy(lambda: cupy.from_dlpack(table))
        assert back.data.ptr == array.data.ptr and (back == array).all()
        seen = cupy.asarray(table)  # by DLPack, or the CUDA array interface
        assert seen.data.ptr == array.data.ptr
        back *= 2  # in the default stream
        assert np.array_equal(table.rows(), cupy.asnumpy(array))


@check
def the_cuda_array_interface_goes_both_ways():
    class Interface:
        def __init__(self, tensor):
            self.tensor, self.__cuda_array_interface__ = tensor, tensor.__cuda_array_interface__

    tensor = torch.arange(12.0, device="cuda").reshape(4, 3)
    table = no_copy(lambda: nt.DeviceTable.from_dlpack(Interface(tensor)))
    assert table.rows().tolist() == tensor.cpu().tolist()
    found = table.__cuda_array_interface__
    assert found["data"][0] == tensor.data_ptr() and found["shape"] == (4, 3)
    if cupy is not None:
        managed = cupy.cuda.MemoryPool(cupy.cuda.malloc_managed)
        with cupy.cuda.using_allocator(managed.malloc):
            array = cupy.arange(12, dtype=cupy.float64).reshape(4, 3)
        theirs = nt.DeviceTable.from_dlpack(array)
        assert theirs.rows().tolist() == cupy.asnumpy(array).tolist()


@check
def large_tensors_are_tables():
    tensor = torch.randn(3 << 28, 4, device="cuda", dtype=torch.float32)  # 12 GiB: more than 2^31 values
    table = nt.DeviceTable.from_dlpack(tensor)
    no_copy(table.standardize)
    mean, deviation = tensor[-1000:].double().mean(0), tensor[:, 0].double().std()
    assert abs(deviation.item() - 1) < 1e-5 and mean.abs().max() < 0.2


def main():
    if torch is None or not torch.cuda.is_available():
        print("skipped: needs PyTorch and a GPU")
        return 1
    cupy_version = cupy.__version__ if cupy else "none"
    print(f"# PyTorch {torch.__version__}, CuPy {cupy_version}, {torch.cuda.get_device_name()}")
    for work in checks:
        name = work.__name__.replace("_", " ")
        try:
            said = work()
            torch.cuda.synchronize()
            print(f"{'OK' if said is None else said}: {name}", flush=True)
        except BaseException:
            failures.append(name)
            print(f"FAILED: {name}\n{traceback.format_exc()}", flush=True)
        gc.collect()
        torch.cuda.empty_cache()
    print(f"{len(checks) - len(failures)} of {len(checks)} checks passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
