"""cupy.RawKernel: the source of a kernel runs on the CPU, where a C++ compiler is installed."""

import ctypes
import os
import shutil
import sys
from importlib import util
from pathlib import Path

import numpy as np

from cupy._array import ndarray
from cupy.cuda import runtime

COMPILER = next(filter(None, map(shutil.which, (os.environ.get("CXX") or "c++", "g++", "clang++"))), None)
_SCALARS = {np.dtype("float64"): ctypes.c_double, np.dtype("int64"): ctypes.c_longlong}
launched = []
"""The names of the kernels that ran."""


def _on_cpu():
    """tests/cuda_on_cpu.py, from its file: the folder of the tests may not be in the path."""
    name, file = "cuda_on_cpu", Path(__file__).parents[3] / "cuda_on_cpu.py"
    if name not in sys.modules:
        spec = util.spec_from_file_location(name, file)
        sys.modules[name] = util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


class RawKernel:
    def __init__(
        self,
        code,
        name,
        options=(),
        backend="nvrtc",
        translate_cucomplex=False,
        *,
        enable_cooperative_groups=False,
        jitify=None,
    ):
        if not isinstance(options, tuple):
            raise TypeError("options must be a tuple")
        self.code, self.name = code, name

    def __call__(self, grid, block, args, *, shared_mem=0):
        launched.append(self.name)
        _on_cpu().kernel(self.code, self.name)(grid, block, [_argument(x) for x in args])


def _argument(x):
    if not isinstance(x, ndarray):
        return _SCALARS[x.dtype](x.item())  # CuPy passes the bytes of a NumPy scalar
    if x.device.id != runtime.getDevice():
        raise runtime.CUDARuntimeError("cudaErrorIllegalAddress: the array is on another device")
    return ctypes.c_void_p(x.data.ptr)
