"""Another library of the process, which has device memory and a stream of its own, and exchanges it by DLPack and by
the CUDA array interface: calls of the driver and of Python's C interface, as PyTorch and CuPy make them."""

import ctypes
import os
import threading

import numpy as np
import pytest

from dlpack_structures import DELETER, Managed, Tensor, new_capsule

import numeric_table as nt

NEW, OLD = b"dltensor_versioned", b"dltensor"
USED_NEW, USED_OLD = b"used_dltensor_versioned", b"used_dltensor"
CODES = {"i": 0, "u": 1, "f": 2, "b": 6, "c": 5}


def need_device():
    """Skips a test without a device, or fails if there must be one."""
    try:
        nt.Table([[1.0]]).to_device()
    except nt.DeviceError as error:
        if os.environ.get("NT_REQUIRE_CUDA") == "1":
            raise
        pytest.skip(str(error))


def driver():
    """The driver that the package has loaded."""
    for name in ("libcuda.so", "libcuda.so.1"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise OSError("no driver")


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


_api = ctypes.pythonapi
_is_valid = _api.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_pointer = _api.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_set_name = _api.PyCapsule_SetName
_set_name.restype, _set_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]


class Library:
    """The library, with one stream."""

    def __init__(self, device=0):
        self.driver, self.device = driver(), device
        self.context, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.enter()
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)

    def call(self, name, *arguments):
        code = getattr(self.driver, name)(*arguments)
        assert code == 0, f"{name}: error {code} of the driver"

    def enter(self):
        self.call("cuCtxSetCurrent", self.context)

    def allocate(self, nbytes):
        self.enter()
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(nbytes))
        return address.value

    def free(self, address):
        self.enter()
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def write(self, address, values):
        """Starts to write values in the stream."""
        self.enter()
        values = np.asarray(values)
        values = values if values.flags.forc else np.ascontiguousarray(values)
        arguments = ctypes.c_uint64(address), ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes)
        self.call("cuMemcpyHtoDAsync_v2", *arguments, self.stream)

    def copy(self, target, source, nbytes):
        """Starts to copy bytes on the device."""
        self.enter()
        arguments = ctypes.c_uint64(target), ctypes.c_uint64(source), ctypes.c_size_t(nbytes), self.stream
        self.call("cuMemcpyDtoDAsync_v2", *arguments)

    def read(self, address, count, dtype):
        """Reads values after the work of the stream, and only that."""
        self.enter()
        values = np.empty(count, dtype)
        arguments = ctypes.c_void_p(values.ctypes.data), ctypes.c_uint64(address), ctypes.c_size_t(values.nbytes)
        self.call("cuMemcpyDtoHAsync_v2", *arguments, self.stream)
        self.synchronize()
        return values

    def synchronize(self):
        self.enter()
        self.call("cuStreamSynchronize", self.stream)

    def make_wait(self, stream):
        """Makes a stream wait for the work of this library, as the producer of a tensor does."""
        self.enter()
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 2)
        self.call("cuEventRecord", event, self.stream)
        self.call("cuStreamWaitEvent", ctypes.c_void_p(stream), event, 0)
        self.call("cuEventDestroy_v2", event)

    def control(self, command, value=0):
        """What only the fake driver has: counts, or `None`."""
        try:
            function = self.driver.fake_cuda_control
        except AttributeError:
            return None
        function.restype = ctypes.c_uint64
        return function(command, self.device, ctypes.c_uint64(value))

    def transferred(self):
        """The numbers of bytes that were copied to the device and from it, by the fake driver."""
        return self.control(7), self.control(8)


class Array:
    """An array of the library, over memory of its own, which is freed with the last user."""

    kept: dict = {}  # what tensors need until they are deleted, also after their array is gone
    graveyard: list = []  # callbacks that may be running

    def __init__(self, library, values, *, strides=None, version=(1, 0), flags=0, device=(2, 0), base=None, **fields):
        values = np.asarray(values)
        self.library, self.shape, self.dtype = library, values.shape, values.dtype
        self.version, self.flags = version, flags
        self.device, self.fields, self.strides = device, fields, strides
        self.deleted, self.threads, self.renamed, self.asked = 0, [], [], []
        self.address = library.allocate(max(values.nbytes, 1)) if base is None else base
        if strides is None and values.ndim == 2 and values.flags.f_contiguous and not values.flags.c_contiguous:
            self.strides = (1, values.shape[0])
        if values.size:
            library.write(self.address, values.ravel(order="K"))
            library.synchronize()

    def values(self):
        """The values in the order of the memory."""
        return self.library.read(self.address, int(np.prod(self.shape)), self.dtype)

    def free(self):
        self.library.free(self.address)

    def _tensor(self, context):
        shape = (ctypes.c_int64 * len(self.shape))(*self.shape)
        strides = None if self.strides is None else (ctypes.c_int64 * len(self.strides))(*self.strides)
        context += [shape, strides]
        tensor = Tensor(
            data=self.address,
            device_type=self.device[0],
            device_id=self.device[1],
            dimensions=len(self.shape),
            code=CODES[self.dtype.kind],
            bits=self.dtype.itemsize * 8,
            lanes=1,
            shape=shape,
            strides=None if strides is None else strides,
        )
        for name, value in self.fields.items():
            setattr(tensor, name, value)
        return tensor

    def capsule(self, versioned):
        context = []
        tensor = self._tensor(context)

        def delete(pointer):
            self.threads.append(threading.current_thread().name)
            Array.graveyard.append(Array.kept.pop(pointer))
            self.deleted += 1

        deleter = DELETER(delete)
        if versioned:
            managed = Versioned(*self.version, None, deleter, self.flags, tensor)
        else:
            managed = Managed(tensor, None, deleter)
        pointer = ctypes.addressof(managed)
        Array.kept[pointer] = (managed, deleter, context)
        capsule = new_capsule(pointer, NEW if versioned else OLD, None)
        self.renamed.append(capsule)
        return capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked.append((stream, max_version))
        if stream is not None:
            self.library.make_wait(stream)
        return self.capsule(max_version is not None)


class OldArray(Array):
    """An array of a library before DLPack 1.0."""

    def __dlpack__(self, *, stream=None):
        self.asked.append((stream, None))
        self.library.make_wait(stream)
        return self.capsule(False)


class Interface:
    """An array with the CUDA array interface only."""

    def __init__(self, array, stream=None, read_only=False, **fields):
        self.array = array
        size = array.dtype.itemsize
        strides = None if array.strides is None else tuple(stride * size for stride in array.strides)
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.address, read_only),
            "strides": strides,
            "stream": stream,
            "version": 3,
            **fields,
        }


class Consumed:
    """A tensor that the library has taken from an exporter of DLPack."""

    def __init__(self, exporter, stream, **options):
        self.capsule = exporter.__dlpack__(stream=stream, **options)
        self.is_versioned = _is_valid(self.capsule, NEW) == 1
        name, used, kind = (NEW, USED_NEW, Versioned) if self.is_versioned else (OLD, USED_OLD, Managed)
        self.pointer = _pointer(self.capsule, name)
        assert _set_name(self.capsule, used) == 0
        self.managed = kind.from_address(self.pointer)
        tensor = self.managed.tensor
        self.address, self.device = (tensor.data or 0) + tensor.byte_offset, (tensor.device_type, tensor.device_id)
        self.shape = tuple(tensor.shape[i] for i in range(tensor.dimensions))
        self.strides = tuple(tensor.strides[i] for i in range(tensor.dimensions))
        self.type = (tensor.code, tensor.bits, tensor.lanes)
        self.flags = self.managed.flags if self.is_versioned else 0

    def delete(self):
        self.managed.deleter(self.pointer)


def names_of(capsule):
    """Which of the four names a capsule has."""
    return [name for name in (NEW, OLD, USED_NEW, USED_OLD) if _is_valid(capsule, name) == 1]
