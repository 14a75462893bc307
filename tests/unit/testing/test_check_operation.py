"""check_operation finds the fault of each of many bad kernels, and accuses no right one."""

import time
from itertools import count

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import as_strided

import xarrayops as xo
from xarrayops.testing import check_operation

RNG = np.random.default_rng(0)
SAMPLES = [
    tuple(RNG.standard_normal(shape).astype(dtype) for shape in ((6, 8), (8,))) for dtype in (np.float32, np.float64)
]
_numbers = count()


def reference(x, weight, *, eps: float = 1e-3):
    return x * weight / xo.sqrt(xo.mean(x * x, axis=-1, keepdims=True) + eps)


def new_operation():
    name = f"tests::norm{next(_numbers)}"
    return xo.operation(name, blockwise="(i),(i)->(i)")(reference)


def right(x, weight, *, eps):
    return (x * weight / np.sqrt((x * x).mean(-1, keepdims=True) + eps)).astype(x.dtype)


def writes_its_argument(x, weight, *, eps):
    found = right(x, weight, eps=eps)
    x *= 1.5
    return found


def writes_beside_its_argument(x, weight, *, eps):
    found = right(x, weight, eps=eps)
    as_strided(weight, (weight.size + 1,))[-1] = 7
    return found


def ignores_strides(x, weight, *, eps):
    steps = np.cumprod([x.itemsize, *x.shape[:0:-1]])[::-1]
    return right(as_strided(x, strides=steps), weight, eps=eps)


def has_wrong_dtype(x, weight, *, eps):
    return right(x.astype(np.float64), weight, eps=eps)


def has_wrong_shape(x, weight, *, eps):
    return right(x, weight, eps=eps)[..., None]


def returns_a_tuple(x, weight, *, eps):
    return (right(x, weight, eps=eps),)


def ignores_an_option(x, weight, *, eps):
    return right(x, weight, eps=1e-3)


def ignores_an_argument(x, weight, *, eps):
    return right(x, np.ones_like(weight), eps=eps)


def reads_past_the_end(x, weight, *, eps):
    longer = as_strided(weight, (weight.size + 1,))
    return right(x, weight + 0 * longer[-1], eps=eps).astype(x.dtype)


_scratch = {}


def shares_scratch_memory(x, weight, *, eps):
    buffer = _scratch.setdefault((x.shape, x.dtype), np.empty_like(x))
    np.multiply(x, weight, out=buffer)
    time.sleep(1e-4)
    return (buffer / np.sqrt((x * x).mean(-1, keepdims=True) + eps)).astype(x.dtype)


def returns_the_same_array(x, weight, *, eps):
    result = _scratch.setdefault(("result", x.shape, x.dtype), np.empty_like(x))
    result[...] = right(x, weight, eps=eps)
    return result


def hides_nan(x, weight, *, eps):
    return right(np.nan_to_num(x), weight, eps=eps)


def fails_on_empty_arrays(x, weight, *, eps):
    if not x.size:
        raise IndexError("index 0 is out of bounds")
    return right(x, weight, eps=eps)


def drops_the_last_element_of_odd_rows(x, weight, *, eps):
    even = x.shape[-1] // 2 * 2
    squares = (x[..., :even] ** 2).sum(-1, keepdims=True) / max(x.shape[-1], 1)
    return (x * weight / np.sqrt(squares + eps)).astype(x.dtype)


def loses_precision(x, weight, *, eps):
    return right(x.astype(np.float16), weight, eps=eps).astype(x.dtype)


BAD = {
    writes_its_argument: "it writes to its arguments",
    writes_beside_its_argument: "memory beside them",
    ignores_strides: "with strides",
    has_wrong_dtype: "dtype float64 where the reference has float32",
    has_wrong_shape: "shape (6, 8, 1) where the reference has (6, 8)",
    returns_a_tuple: "1 results in a tuple",
    ignores_an_option: "eps=0.252",
    ignores_an_argument: "elements differ",
    reads_past_the_end: "nan where the reference has",
    shares_scratch_memory: "several threads disturb each other",
    returns_the_same_array: "the results of two calls share memory",
    hides_nan: "NaN and infinities",
    fails_on_empty_arrays: "IndexError",
    drops_the_last_element_of_odd_rows: "extent 8 shortened to 7",
    loses_precision: "elements differ",
}


@pytest.mark.parametrize("kernel", BAD, ids=lambda kernel: kernel.__name__)
def test_bad_kernel_is_found(kernel):
    operation = new_operation()
    operation.kernel("numpy:bad")(kernel)
    with pytest.raises(AssertionError) as found:
        check_operation(operation, SAMPLES, libraries=["numpy"])
    assert BAD[kernel] in str(found.value)


def test_view_of_an_argument_is_found():
    operation = xo.operation("tests::flipped")(lambda x: xo.flip(x))
    operation.kernel("numpy:view")(lambda x: x[::-1])
    with pytest.raises(AssertionError, match="a result shares memory with an argument"):
        check_operation(operation, [(np.arange(5.0),)], libraries=["numpy"])


def test_bad_gradient_is_found():
    operation = new_operation()

    @operation.kernel("torch:right")
    def _(x, weight, *, eps):
        return x * weight / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)

    @operation.gradient
    def _(g, x, weight, *, eps):
        return g * weight / torch.sqrt((x * x).mean(-1, keepdim=True) + eps), (g * x).sum(0)

    with pytest.raises(AssertionError, match="the gradient of array 1 differs"):
        check_operation(operation, SAMPLES, libraries=["torch:eager"])


def test_result_of_another_library_is_found():
    operation = new_operation()
    operation.kernel("torch:bad")(lambda x, weight, *, eps: right(x.numpy(), weight.numpy(), eps=eps))
    with pytest.raises(AssertionError, match=r"result 0 is a ndarray, and not an array of torch"):
        check_operation(operation, SAMPLES, libraries=["torch:eager"])


def test_right_kernels_pass_on_every_library():
    operation = new_operation()
    floats = ("float32", "float64")
    operation.kernel("numpy:right", dtypes=floats)(right)
    operation.kernel("numpy:contiguous", dtypes=floats, layout="C", aligned=16)(right)

    @operation.kernel("torch:right", dtypes=floats, device="cpu")
    def _(x, weight, *, eps):
        return x * weight / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)

    @operation.kernel("jax:right", dtypes=floats)
    def _(x, weight, *, eps):
        import jax.numpy as jnp

        return x * weight / jnp.sqrt((x * x).mean(-1, keepdims=True) + eps)

    operation.kernel("cupy:raw")(right)
    report = check_operation(operation, [*SAMPLES, (*SAMPLES[0], {"eps": 0.5})])
    assert report.ok
    assert min(report.calls.values()) > 10
    assert set(report.calls) == {"numpy:right", "numpy:contiguous", "torch:right", "jax:right"}
    assert report.not_checked == {"cupy:raw": "cupy is not available"}


def test_a_kernel_that_serves_no_sample_is_named():
    operation = new_operation()
    operation.kernel("numpy:half", dtypes=("float16",))(right)
    report = check_operation(operation, SAMPLES, libraries=["numpy"])
    assert report.not_checked == {"numpy:half": "it can serve none of the samples"}


def test_other_functions_are_refused():
    with pytest.raises(TypeError, match=r"decorate it with xo\.operation"):
        check_operation(reference, SAMPLES)
    with pytest.raises(TypeError, match="sample 0 has 3 arrays, but the operation takes 2"):
        check_operation(new_operation(), [(1.0, 2.0, 3.0)])
    with pytest.raises(ValueError, match="at least one sample"):
        check_operation(new_operation(), [])
