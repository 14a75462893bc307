"""Memory of other libraries: raw pointers and DLPack capsules."""

import ctypes

import numpy as np

KDL_CPU, KDL_CUDA, KDL_CUDA_MANAGED = 1, 2, 13
_READ_ONLY = 1
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)


class Interface:
    """An object with an array interface for NumPy, which keeps the owner of the memory alive."""

    def __init__(self, interface, owner):
        self.__array_interface__ = interface
        self.owner = owner


class Capsule:
    """An object that gives NumPy a DLPack capsule as if it were host memory."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (KDL_CPU, 0)


def at_pointer(pointer, shape, dtype, strides, owner):
    """A writable NumPy array over memory that another object owns."""
    dtype = np.dtype(dtype)
    interface = {"data": (pointer, False), "shape": shape, "typestr": dtype.str, "strides": strides, "version": 3}
    if dtype.kind == "V":  # bfloat16 has no typestr of its own
        interface["typestr"] = f"|u{dtype.itemsize}" if dtype.itemsize == 1 else f"<u{dtype.itemsize}"
    return np.asarray(Interface(interface, owner)).view(dtype)


def retarget(capsule, device):
    """Write another device into a DLPack capsule, and clear its read-only flag."""
    if _is_valid(capsule, b"dltensor_versioned"):
        tensor = _pointer_of(capsule, b"dltensor_versioned")
        flags = ctypes.c_uint64.from_address(tensor + 24)
        # CuPy has no read-only arrays: https://github.com/cupy/cupy/issues/2616
        flags.value &= ~_READ_ONLY
        tensor += 32
    else:
        tensor = _pointer_of(capsule, b"dltensor")
    (ctypes.c_int32 * 2).from_address(tensor + ctypes.sizeof(ctypes.c_void_p))[:] = device
    return capsule


class MemoryPool:
    """A pool that keeps no memory: NumPy allocates and frees it."""

    def free_bytes(self):
        return 0

    def free_all_blocks(self, stream=None):
        pass


class PinnedMemoryPool:
    def free_all_blocks(self):
        pass


_pools = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool():
    return _pools[0]


def get_default_pinned_memory_pool():
    return _pools[1]
