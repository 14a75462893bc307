"""Operations of users: a definition without kernels, and a kernel for the library."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.table import exercises
from xarrayops.testing._suite.variant import Variant

X = sample("float32")
WANT = (X - X.max()) * np.float32(0.5)
SOURCE = """
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

void shifted(tvm::ffi::TensorView x, double factor, tvm::ffi::TensorView out) {
  auto a = static_cast<const float*>(x.data_ptr());
  auto y = static_cast<float*>(out.data_ptr());
  float largest = a[0];
  for (int64_t i = 1; i < x.numel(); ++i) largest = a[i] > largest ? a[i] : largest;
  for (int64_t i = 0; i < x.numel(); ++i) y[i] = (a[i] - largest) * float(factor);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(shifted, shifted);
"""
REFUSALS = (
    *("not C-contiguous", "exposes no memory", "the kernel runs on cpu", "compiler was found", "is not installed"),
    *("compiled kernels are not supported", "XLA owns the memory"),
)
"""Accepted reasons why a C++ kernel does not serve: the array's memory, a missing installation, or the library."""
_numbers = count()


def _definition(x: Any, *, factor: float = 2.0) -> Any:
    return xo.multiply(xo.subtract(x, xo.max(x)), factor)


def _shifted() -> Any:
    """A new operation without kernels."""
    return xo.operation(f"contract::shifted{next(_numbers)}")(_definition)


@exercises("operation")
class OperationSuite:
    """Operations of users on the arrays of the library."""

    def test_operation(self, variant: Variant) -> None:
        """The definition serves, then a kernel of the library, also in a traced function."""
        x = variant.array(X)
        operation, name = _shifted(), variant.backend.name
        check_array(variant, variant.run(operation, x, factor=0.5), WANT, dtype="float32")
        if not variant.backend.has_entry_point:
            return
        calls = []

        def kernel(x: Any, *, factor: float) -> Any:
            calls.append(factor)
            return _definition(x, factor=factor)

        operation.kernel(f"{name}:own", dtypes=("float32",))(kernel)
        check_array(variant, variant.run(operation, x, factor=0.5), WANT, dtype="float32")
        assert set(calls) == {0.5}

    def test_native_kernel(self, variant: Variant) -> None:
        """A C++ kernel serves host memory if the library and this machine have what it needs."""
        if not variant.backend.has_entry_point:
            return
        operation, name = _shifted(), variant.backend.name
        operation.native("own", sources={"shifted.cc": SOURCE}, entry="shifted", serves=[name], dtypes=("float32",))
        x = variant.array(X)
        check_array(variant, variant.run(operation, x, factor=0.5), WANT, dtype="float32")
        (native, reference) = xo.explain(operation, x, factor=0.5).candidates
        assert (native.name, reference.name, reference.ok) == (f"{name}:own", f"{name}:reference", True)
        assert native.ok or any(reason in native.reason for reason in REFUSALS), native.reason
