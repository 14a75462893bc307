"""PyTorch's fake CUDA tensors, and a mode that records what calls of them would launch on a device.

Fake tensors have a shape, a dtype and a device, and no memory. They show missing kernels, mixed devices, reads of
values, and the number of kernels.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import unittest
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from xarrayops_backends.torch import _subclasses, _tracing
from xarrayops_backends.torch._attention import conditions

import xarrayops as xo
from xarrayops._system import compiler
from xarrayops.testing._suite.variant import Variant

WAITS = (DataDependentOutputException, DynamicOutputShapeException)
"""The errors of fake tensors where real ones would wait for the device."""
_GUARD = """#include <c10/core/impl/DeviceGuardImplInterface.h>
C10_REGISTER_GUARD_IMPL(CUDA, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA>)
"""


def use_fake_cuda() -> None:
    """Let this process use fake CUDA tensors as if they were tensors of an H100. It cannot be undone."""
    if torch.cuda.is_available():
        raise RuntimeError("this needs a PyTorch that sees no GPU. Instead: CUDA_VISIBLE_DEVICES=")
    folder = Path(torch.__file__).parent
    flags = ("-std=c++20", "-O0", f"-L{folder}/lib", "-lc10")
    key = f"torch {torch.__version__}"
    ctypes.CDLL(
        str(compiler.shared_library({"guard.cpp": _GUARD}, flags=flags, includes=[f"{folder}/include"], key=key))
    )
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_name = lambda device=None: "NVIDIA H100 80GB HBM3"
    conditions.generation, conditions.cudnn_version = lambda device: 9, lambda: 91600
    # Real tensors are not traced, and their values can be read.
    _tracing._dispatch_modes = lambda: 0
    _tracing.PLAIN = _tracing.PLAIN | {FakeTensor}
    _subclasses._is_without_values = lambda x: False


@cache
def dtypes_without_kernels() -> dict[str, set[torch.dtype]]:
    """The dtypes that PyTorch's operators take on CPUs and not on CUDA, by operator, as its own tests declare them."""
    if importlib.util.find_spec("expecttest") is None:  # only the base class of its tests is needed
        stub = ModuleType("expecttest")
        stub.TestCase = unittest.TestCase
        sys.modules["expecttest"] = stub
    from torch.testing._internal.common_methods_invocations import op_db

    on_cpu: dict[str, set[torch.dtype]] = {}
    on_cuda: dict[str, set[torch.dtype]] = {}
    for entry in op_db:
        for name in {entry.name, entry.aten_name}:
            name = name.rpartition(".")[2] if name.startswith("special") else name
            on_cpu.setdefault(name, set()).update(entry.dtypes)
            on_cuda.setdefault(name, set()).update(entry.dtypesIf.get("cuda", entry.dtypes))
    return {name: dtypes - on_cuda[name] for name, dtypes in on_cpu.items() if dtypes - on_cuda[name]}


class Recorder(TorchDispatchMode):
    """Counts the operators that compute from CUDA tensors, and notes dtypes for which CUDA has no kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: Counter[str] = Counter()
        self.missing: set[str] = set()

    @property
    def kernels(self) -> int:
        """The number of operators. Views and new arrays do not count; some operators launch several kernels."""
        return self.operators.total()

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Record one operator and run it."""
        namespace, _, name = operator._schema.name.partition("::")
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor) and x.is_cuda]
        if (given or namespace == "xarrayops") and namespace != "prim" and not operator.is_view:
            self.operators[name] += 1
            lacking = dtypes_without_kernels()
            known = name if name in lacking else name.rstrip("_")
            if given and given[0].dtype in lacking.get(known, ()):
                self.missing.add(f"{known} has no kernel for {given[0].dtype}")
        return operator(*args, **(kwargs or {}))


class FakeCuda(Variant):
    """The PyTorch backend on fake CUDA tensors."""

    def make(self, a: Any) -> torch.Tensor:
        """A fake tensor of the shape and dtype of a NumPy array."""
        return torch.empty(a.shape, dtype=getattr(torch, a.dtype.name), device="cuda:0")

    @property
    def device(self) -> torch.device:
        """The fake device."""
        return torch.device("cuda:0")

    @property
    def creation(self) -> dict[str, Any]:
        """The keywords of a creation function."""
        return {"backend": "torch", "device": "cuda:0"}

    @property
    def dtypes(self) -> frozenset[str]:
        """The dtypes of PyTorch."""
        return frozenset(xo.backend("torch").namespace.__array_namespace_info__().dtypes())

    @property
    def defaults(self) -> dict[str, str]:
        """The default dtypes of PyTorch."""
        return {
            "real floating": "float32",
            "complex floating": "complex64",
            "integral": "int64",
            "indexing": "int64",
        }
