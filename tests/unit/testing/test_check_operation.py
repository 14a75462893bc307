"""check_operation finds the fault of each of many bad kernels, and accuses no right one."""

import time
from itertools import count

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import as_strided

import xarrayops as xo
from xarrayops._system import compiler
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
    writes_beside_its_argument: "memory next to them",
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


NATIVE = """
#include <cmath>
#include <vector>
#include <unistd.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
using tvm::ffi::TensorView;

template <typename T, typename Row>
void each_row(TensorView x, TensorView weight, TensorView out, Row row) {
  auto a = static_cast<T*>(x.data_ptr()), w = static_cast<T*>(weight.data_ptr()), y = static_cast<T*>(out.data_ptr());
  int64_t n = weight.size(0), count = n ? x.numel() / n : 0;
  for (int64_t r = 0; r < count; ++r) row(a + r * n, w, y + r * n, n);
}
template <typename T>
double factor(const T* a, int64_t n, double eps) {
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += double(a[j]) * a[j];
  return 1 / std::sqrt(sum / n + eps);
}
#define KERNEL(NAME, ...)                                                                               \\
  template <typename T> void NAME##_of(TensorView x, TensorView weight, double eps, TensorView out) {     \\
    each_row<T>(x, weight, out, [&](T* a, T* w, T* y, int64_t n) __VA_ARGS__);                            \\
  }                                                                                                     \\
  void NAME(TensorView x, TensorView weight, double eps, TensorView out) {                              \\
    x.dtype().bits == 32 ? NAME##_of<float>(x, weight, eps, out) : NAME##_of<double>(x, weight, eps, out);  \\
  }                                                                                                     \\
  TVM_FFI_DLL_EXPORT_TYPED_FUNC(NAME, NAME)

KERNEL(right, { double f = factor(a, n, eps); for (int64_t j = 0; j < n; ++j) y[j] = T(a[j] * f * w[j]); });
KERNEL(reads_one_past_the_end, {
  double f = factor(a, n, eps); for (int64_t j = 0; j < n; ++j) y[j] = T(a[j] * f * w[j] + 0 * w[n]); });
KERNEL(reads_one_before_the_beginning, {
  double f = factor(a, n, eps); for (int64_t j = 0; j < n; ++j) y[j] = T(a[j] * f * w[j] + 0 * w[-1]); });
KERNEL(writes_one_past_the_end, {
  double f = factor(a, n, eps); for (int64_t j = 0; j < n; ++j) y[j] = T(a[j] * f * w[j]); y[n] = 0; });
KERNEL(leaves_the_last_element, {
  double f = factor(a, n, eps); for (int64_t j = 0; j + 1 < n; ++j) y[j] = T(a[j] * f * w[j]); });
KERNEL(adds_to_its_result, {
  double f = factor(a, n, eps); for (int64_t j = 0; j < n; ++j) y[j] += T(a[j] * f * w[j]); });
KERNEL(writes_its_argument, {
  double f = factor(a, n, eps); for (int64_t j = 0; j < n; ++j) { a[j] *= T(f); y[j] = a[j] * w[j]; } });
KERNEL(ignores_an_option, {
  double f = factor(a, n, 1e-3); for (int64_t j = 0; j < n; ++j) y[j] = T(a[j] * f * w[j]); });
KERNEL(shares_scratch_memory, {
  static std::vector<double> scratch(1 << 12);
  for (int64_t j = 0; j < n; ++j) scratch[j] = a[j];
  usleep(100);
  double f = factor(scratch.data(), n, eps);
  for (int64_t j = 0; j < n; ++j) y[j] = T(scratch[j] * f * w[j]); });
KERNEL(computes_in_single_precision, {
  float f = float(factor(a, n, eps)); for (int64_t j = 0; j < n; ++j) y[j] = T(float(a[j]) * f * float(w[j])); });
"""
BAD_NATIVE = {
    "reads_one_past_the_end": "nan where the reference has",
    "reads_one_before_the_beginning": "nan where the reference has",
    "writes_one_past_the_end": "it writes next to its results",
    "leaves_the_last_element": "into memory that held other values: ",
    "adds_to_its_result": "into memory that held other values: ",
    "writes_its_argument": "it writes to its arguments",
    "ignores_an_option": "eps=0.252",
    "shares_scratch_memory": "several threads disturb each other",
    "computes_in_single_precision": "elements differ",
}


@pytest.fixture(scope="module")
def native_operation(tmp_path_factory):
    """Makes an operation with one of the functions of `NATIVE`, for NumPy and PyTorch."""
    pytest.importorskip("tvm_ffi")
    if compiler.find(compiler.CPP) is None:
        pytest.skip("no C++ compiler is installed")

    def make(entry, **declared):
        operation = new_operation()
        declared = {"serves": ("numpy", "torch"), "dtypes": ("float32", "float64")} | declared
        operation.native("cpp", sources={"zoo.cc": NATIVE}, entry=entry, flags=("-O1",), **declared)
        return operation

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XARRAYOPS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield make


@pytest.mark.parametrize("entry", BAD_NATIVE)
def test_bad_native_kernel_is_found(native_operation, entry):
    with pytest.raises(AssertionError) as found:
        check_operation(native_operation(entry), SAMPLES, libraries=["numpy"])
    assert BAD_NATIVE[entry] in str(found.value)


def test_native_kernel_that_ignores_strides_is_found(native_operation):
    operation = native_operation("right", layout=None)
    with pytest.raises(AssertionError, match="with strides"):
        check_operation(operation, SAMPLES, libraries=["numpy"])


def test_native_kernel_for_memory_of_another_library_is_found(native_operation):
    operation = native_operation("writes_its_argument", serves=("torch",))
    with pytest.raises(AssertionError, match="torch:cpp, sample 0, contiguous, between other values: it writes to its"):
        check_operation(operation, SAMPLES, libraries=["torch:eager"])


def test_right_native_kernel_passes(native_operation):
    report = check_operation(native_operation("right"), SAMPLES, libraries=["numpy", "torch:eager"])
    assert set(report.calls) == {"numpy:cpp", "torch:cpp"}


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
