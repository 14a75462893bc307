"""What fake CUDA tensors and stubs show of calls on GPUs."""

import importlib.util
import sys

import pytest

import xarrayops as xo

torch = pytest.importorskip("torch", exc_type=ImportError)

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from xarrayops_backends.torch import _operations  # noqa: E402


class Calls(TorchDispatchMode):
    """The operators that run, with the dtype of their first tensor."""

    def __init__(self):
        super().__init__()
        self.dtypes = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        found = function(*args, **(kwargs or {}))
        given = [x.dtype for x in args if isinstance(x, torch.Tensor)]
        self.dtypes[function._schema.name.partition("::")[2]] = given[0] if given else None
        return found


@pytest.mark.parametrize(
    ("dtype", "computed"),
    [
        *(("float16", "float64"), ("bfloat16", "float64"), ("float32", "float64"), ("float64", "float64")),
        *(("complex64", "complex128"), ("int32", "int64")),
    ],
)
@pytest.mark.parametrize(("function", "name"), [(xo.cumulative_sum, "cumsum"), (xo.cumulative_prod, "cumprod")])
def test_cumulative_sums_on_cuda_are_computed_in_double_precision(function, name, dtype, computed):
    """CUDA accumulates columns in the dtype, one number after the other: the error would grow with their length."""
    with FakeTensorMode():
        x = torch.empty((1000, 3), dtype=getattr(torch, dtype), device="cuda")
        with Calls() as seen:
            found = function(x, axis=0)
    assert seen.dtypes[name] is getattr(torch, computed)
    assert found.dtype is (torch.int64 if dtype == "int32" else x.dtype)


@pytest.mark.parametrize(("hip", "kind", "other"), [("6.4", "rocm", "cuda"), (None, "cuda", "rocm")])
def test_the_quick_path_serves_kernels_of_the_kind_of_gpu(monkeypatch, hip, kind, other):
    """A tensor of ROCm is one of "cuda" for PyTorch; `xo.operation` tells the two apart, on both paths."""
    monkeypatch.setattr(torch.version, "hip", hip)
    spec = importlib.util.spec_from_file_location("_operations_again", _operations.__file__)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    tests = module.CALL_TESTS.device
    assert tests[kind] == "{x}.is_cuda"
    assert other not in tests


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x, i: np.take(x, i),
        lambda np, x, i: np.take(x, i, axis=0),
        lambda np, x, i: np.choose(i, torch.unbind(x)),
        lambda np, x, i: np.unravel_index(i, (2, 3)),
        lambda np, x, i: np.ravel_multi_index((i, i), (2, 3)),
    ],
)
def test_bounds_of_indices_are_asserted_on_cuda_without_a_wait(monkeypatch, call):
    """A fake tensor raises where a value is read."""
    import xarrayops.numpy as np

    asserted = []
    monkeypatch.setattr(xo, "is_lazy", lambda x: False)  # as of a real tensor
    monkeypatch.setattr(torch, "_assert_async", lambda condition, message: asserted.append((condition, message)))
    with FakeTensorMode():
        x, i = (torch.empty(shape, device="cuda", dtype=t) for shape, t in (((6, 4), torch.float32), (4, torch.int64)))
        call(np, x, i)
    assert asserted
    assert {condition.device.type for condition, _ in asserted} == {"cuda"}


def test_the_error_of_bounds_is_raised_on_the_cpu():
    require = xo.backend("torch").functions["require"]
    require(torch.tensor(True), IndexError("out of bounds"))
    with pytest.raises(IndexError, match="out of bounds"):
        require(torch.tensor(False), IndexError("out of bounds"))
