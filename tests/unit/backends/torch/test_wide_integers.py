"""uint16, uint32 and uint64 are served without the kernels that PyTorch lacks for them on CUDA.

On the CPU PyTorch has some of these kernels. A mode that refuses them shows what would fail on a GPU.
"""

from functools import cache

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing import Variant
from xarrayops.testing._suite.suite import ContractSuite
from xarrayops.testing._suite.table import Row, check_call, selected_cases, without_warnings

torch = pytest.importorskip("torch")
entries = pytest.importorskip("xarrayops_backends.torch._sparse.entries")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

WIDE = {"uint16", "uint32", "uint64"}
LACKING = """
bitwise_and bitwise_or bitwise_xor index index_add index_add_ mul mul_ roll sort argsort unique_dim _unique2
unique_consecutive
"""
LACKING = frozenset(LACKING.split())
"""The operators that refused these dtypes on an H100 with PyTorch 2.11."""


class WithoutKernels(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        arrays = [x for x in (*args, *(kwargs or {}).values()) if isinstance(x, torch.Tensor)]
        if name in LACKING and any(str(x.dtype).removeprefix("torch.") in WIDE for x in arrays):
            raise NotImplementedError(f'"{name}_cuda" not implemented for {arrays[0].dtype}')
        return function(*args, **(kwargs or {}))


@cache
def rows():
    """The rows of the contract suite, by test id."""
    found = {}
    for name in dir(ContractSuite):
        for row in getattr(getattr(ContractSuite, name), "rows", ()):
            found[f"{name}-{row}"] = row
    return found


def test_the_mode_refuses():
    x = torch.ones(3, dtype=torch.uint16)
    with WithoutKernels(), pytest.raises(NotImplementedError, match="mul_cuda"):
        x * x


@pytest.mark.parametrize("name", rows())
def test_rows(name):
    row: Row = rows()[name]
    variant = Variant("torch")
    for case in selected_cases(variant, row):
        if case.dtypes & WIDE:
            with without_warnings(), WithoutKernels():
                check_call(variant, row, case)


@pytest.mark.parametrize("dtype", sorted(WIDE | {"bool", "int8", "int64"}))
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_products_of_sparse_matrices(format, dtype):
    """The functions for dtypes that cuSPARSE lacks; the host kernels serve such tensors on the CPU."""
    rng = np.random.default_rng(4)
    a, b, c = (rng.integers(0, 200, shape).astype(dtype) for shape in ((5, 7), (7, 4), (4, 7)))
    a *= (rng.random(a.shape) < 0.5).astype(dtype)
    sparse = xo.sparse.parts(xo.sparse.from_dense(torch.from_numpy(a), format))
    rows = [xo.sparse.parts(xo.sparse.from_dense(torch.from_numpy(x), "csr")) for x in (a, b)]
    with WithoutKernels():
        dense = entries.dense_product(sparse, torch.from_numpy(b))
        found = entries.dense(entries.canonical(entries.product(*rows)))
        samples = entries.samples(sparse, torch.from_numpy(b[:5]), torch.from_numpy(c))
    for x, want in ((dense, a @ b), (found, a @ b)):
        assert x.dtype is getattr(torch, dtype)
        np.testing.assert_array_equal(x.numpy(), want)
    where = np.nonzero(a) if format == "csr" else np.nonzero(a.T)[::-1]
    np.testing.assert_array_equal(samples.numpy(), (b[:5] @ c)[where])
