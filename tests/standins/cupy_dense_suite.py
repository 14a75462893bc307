"""NumPy arguments and dtypes that CuPy refuses, and our products of bfloat16, which CuPy refuses for stacks.

Run by tests/contract/test_cupy_standin.py, with the stand-in CuPy first on the path or on a machine with CuPy and a
device, so that the stand-in and CuPy refuse the same calls.
"""

from __future__ import annotations

import cupy
import cupyx.scipy.sparse
import ml_dtypes
import numpy as np
import pytest
from cupy.cuda import memory
from cupy.cuda.compiler import CompileException
from cupy.cuda.runtime import CUDARuntimeError
from xarrayops_backends.cupy import _standard

import xarrayops as xo
import xarrayops.numpy as xnp
from xarrayops import standard

pytestmark = pytest.mark.device

X = cupy.arange(24.0).reshape(2, 3, 4)
REFUSED = {
    "where= of a ufunc": lambda: cupy.add(X, X, where=X > 0),
    "order= of a ufunc": lambda: cupy.add(X, X, order="C"),
    "too few operands": lambda: cupy.add(X),
    "where= of a reduction": lambda: cupy.sum(X, where=X > 0),
    "initial= of a method": lambda: X.max(initial=0.0),
    "stable= of a sort": lambda: cupy.sort(X, stable=True),
    "mode= of take": lambda: cupy.take(X, cupy.asarray([0]), mode="clip"),
    "an index of item": lambda: X.item(0),
    "subok=": lambda: cupy.empty_like(X, subok=False),
    "device= of a creation": lambda: cupy.zeros(3, device=0),
    "rtol= of a rank": lambda: cupy.linalg.matrix_rank(X, rtol=1e-3),
    "hermitian= of pinv": lambda: cupy.linalg.pinv(X, hermitian=True),
    "out= of a stack by position": lambda: cupy.stack((X, X), 0, None, "float32", "same_kind", "C"),
    "a constructor's keyword": lambda: cupy.cuda.Stream(block=True),
    "shape= of todense": lambda: cupyx.scipy.sparse.csr_matrix(X[0]).toarray(shape=(3, 4)),
    "no loop": lambda: cupy.gcd(X, X),
    "no loop of bfloat16": lambda: cupy.bitwise_and(X.astype(ml_dtypes.bfloat16), 1),
    "bfloat16 in stacks": lambda: X.astype(ml_dtypes.bfloat16) @ X.astype(ml_dtypes.bfloat16).mT,
    "bfloat16 in einsum": lambda: cupy.einsum("bij,bkj->bik", *[X.astype(ml_dtypes.bfloat16)] * 2),
}


@pytest.mark.filterwarnings("ignore:.*Stream.__del__:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    with pytest.raises(TypeError):
        REFUSED[what]()


def test_one_kind_of_sort():
    assert cupy.sort(X, kind="stable").shape == X.shape
    for sort in (lambda: cupy.sort(X, kind="quicksort"), lambda: X.argsort(kind="mergesort")):
        with pytest.raises(ValueError, match="kind can only be None or 'stable'"):
            sort()


def test_interpolation():
    """CuPy casts both limits to the dtype of the values, and refuses strided x."""
    points, values = cupy.asarray([0.0, 1.0]), cupy.asarray([5, 7])
    assert cupy.interp(cupy.asarray([-1.0, 2.0]), points, values, 0.5, 1.5).tolist() == [0.0, 1.0]
    assert xo.interp(cupy.asarray([-1.0, 2.0]), points, values, left=0.5, right=1.5).tolist() == [0.5, 1.5]
    strided = X[0, :, ::2]
    with pytest.raises(NotImplementedError):
        cupy.interp(strided, points, values)
    wanted = np.interp(strided.get(), points.get(), values.get())
    np.testing.assert_array_equal(xo.interp(strided, points, values.astype("float64")).get(), wanted)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_functions_beyond_the_standard_of_one_kernel(dtype):
    """They keep the dtype, and are NumPy's at NaN and the infinities."""
    host = np.asarray([np.nan, np.inf, -np.inf, -0.0, 27.0, -8.0, 0.5], dtype=dtype)
    x = cupy.asarray(host)
    calls = {
        "cbrt": lambda xp, x: xp.cbrt(x),
        "isclose": lambda xp, x: xp.isclose(x, x[::-1], equal_nan=True),
        "nan_to_num": lambda xp, x: xp.nan_to_num(x, nan=1.0, neginf=-2.0),
        "nansum": lambda xp, x: xp.nansum(x[3:], axis=0, keepdims=True),
        "interp": lambda xp, x: xp.interp(x, x[3:5], x[5:], left=-1.0, right=None),
    }
    for name, call in calls.items():
        want = call(np, host)
        got = call(xo, x)
        assert got.dtype == ("bool" if name == "isclose" else dtype), name
        np.testing.assert_allclose(got.get(), want.astype(got.dtype), rtol=2 * np.finfo(dtype).eps, err_msg=name)
    assert xo.isclose(x, 0.5).tolist() == [False] * 6 + [True]
    assert xo.nansum(x[3:], axis=()).shape == (4,)
    with pytest.raises(IndexError):
        xo.nansum(x, axis=1)


def test_results_have_the_dtype_of_cupys_loop():
    """conj has no loop for bool."""
    assert cupy.conj(X > 0).dtype == "int8"
    assert cupy.sqrt(cupy.asarray([4], dtype="int8")).dtype == "float16"


def bfloat16(shape, seed):
    """Values that bfloat16 represents exactly, and the same values as float64."""
    host = (np.random.default_rng(seed).integers(-8, 9, shape) / 4).astype(ml_dtypes.bfloat16)
    return cupy.array(host), host.astype(float)


def check(found, want):
    """Sums of multiples of a sixteenth are exact in float32, so each result is rounded once."""
    assert found.dtype == ml_dtypes.bfloat16
    assert found.shape == want.shape
    np.testing.assert_array_equal(found.get().astype(float), want.astype(ml_dtypes.bfloat16).astype(float))


SHAPES = (
    ((5,), (5,)),
    ((3, 5), (5,)),
    ((3, 5), (5, 4)),
    ((2, 3, 5), (5,)),
    ((2, 3, 5), (5, 4)),
    ((5,), (2, 5, 4)),
    ((3, 5), (2, 5, 4)),
    ((2, 3, 5), (2, 5, 4)),
    ((2, 1, 3, 5), (6, 5, 4)),
    ((2, 3, 0), (2, 0, 4)),
    ((2, 0, 5), (5, 4)),
    ((0, 3, 5), (5, 4)),
    ((2, 3, 0), (0, 4)),
)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_matmul_of_bfloat16(shapes):
    (x, left), (y, right) = bfloat16(shapes[0], 0), bfloat16(shapes[1], 1)
    check(xo.matmul(x, y), left @ right)
    if x.ndim > 1:  # not compact
        check(xo.matmul(x[..., ::-1, :], y), left[..., ::-1, :] @ right)


def test_other_products_of_bfloat16():
    (x, left), (y, right) = bfloat16((2, 3, 5), 0), bfloat16((2, 5, 4), 1)
    check(xo.einsum("bij,bjk->bik", x, y), left @ right)
    check(xo.einsum("bij,bjk->ik", x, y), np.einsum("bij,bjk->ik", left, right))
    check(xo.einsum("bij->ji", x), left.sum(0).T)
    check(xo.tensordot(x, y, axes=((0, 2), (0, 1))), np.tensordot(left, right, ((0, 2), (0, 1))))
    check(xo.vecdot(x, x), np.vecdot(left, left))
    check(xo.linalg.vecdot(x, xo.matrix_transpose(y)[:, :3, :], axis=-1), np.vecdot(left, right.mT[:, :3]))


def test_products_of_mixed_dtypes():
    (x, left), (y, right) = bfloat16((2, 3, 5), 0), bfloat16((2, 5, 4), 1)
    found = xo.matmul(x, y.astype("float32"))
    assert found.dtype == "float32"
    np.testing.assert_array_equal(found.get(), left @ right)


BLOCKS = {("int8", "int8"): 1024, ("int8", "uint8"): 514, ("uint8", "int8"): 514, ("uint8", "uint8"): 258}
"""The number of terms whose sum in float32 is exact."""


def integers(random, dtype, shape, kind):
    """Random values, the extremes, or an extreme number everywhere, in a random order."""
    limits = np.iinfo(dtype)
    if kind == "random":
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    extreme = limits.min if dtype == "int8" else limits.max
    return random.choice(np.asarray({"equal": [extreme], "extremes": [limits.min, limits.max]}[kind], dtype), shape)


@pytest.mark.parametrize("dtypes", BLOCKS, ids=str)
def test_ten_thousand_exact_products_of_integers(dtypes):
    random = np.random.default_rng(0)
    for terms in (BLOCKS[dtypes] - 1, BLOCKS[dtypes], BLOCKS[dtypes] + 1, 3 * BLOCKS[dtypes] + 1):
        for kind in ("random", "equal", "extremes"):
            a = integers(random, dtypes[0], (209, 1, terms), kind)
            b = integers(random, dtypes[1], (209, terms, 1), kind)
            found = xo.matmul(cupy.array(a), cupy.array(b), out_dtype="int32")
            np.testing.assert_array_equal(found.get(), a.astype(np.int64) @ b.astype(np.int64))


@pytest.mark.parametrize(
    "options", [{"axis": -1}, {"scheme": "asymmetric"}, {"scheme": "asymmetric", "dtype": "uint8"}]
)
def test_quantised_arrays_have_the_bits_of_numpy(options):
    random = np.random.default_rng(1)
    x, w = (random.standard_normal(shape).astype(np.float32) for shape in ((30, 1100), (1100, 20)))
    own, theirs = (xo.quantize(each, **options) for each in (w, cupy.array(w)))
    for one, other in zip(own, theirs, strict=True):
        assert (one is None) == (other is None)
        assert one is None or one.tobytes() == other.get().tobytes()
    assert xo.qmatmul(x, own).tobytes() == xo.qmatmul(cupy.array(x), theirs).get().tobytes()


def test_tf32_by_the_environment(monkeypatch):
    """CuPy reads it once in a process, so a block can only refuse what it would break."""
    x = cupy.ones((2, 2), dtype=np.float32)
    monkeypatch.setenv("CUPY_TF32", "1")
    with xo.precision(), pytest.raises(xo.Unsupported, match="CUPY_TF32"):
        xo.matmul(x, x)
    with xo.precision(products="tf32"):
        assert xo.matmul(x, x).dtype == np.float32


def test_results_are_on_the_device_of_the_arrays():
    """Although another one is current."""
    if len(xo.backend("cupy").devices()) < 2:
        pytest.skip("there is one device")
    with cupy.cuda.Device(1):
        x = cupy.ones((4, 4), "float32")
    calls = {
        "add": lambda: xo.add(x, x),
        "matmul": lambda: xo.matmul(x, x),
        "sum": lambda: xo.sum(x, axis=0),
        "concat": lambda: xo.concat([x, x]),
        "where": lambda: xo.where(xo.greater(x, 0), x, 0.0),
        "sort": lambda: xo.sort(x),
        "quantile": lambda: xo.quantile(x, 0.5),
        "attention": lambda: xo.attention(x[None, None], x[None, None], x[None, None]),
    }
    assert {name: call().device.id for name, call in calls.items()} == dict.fromkeys(calls, 1)
    assert cupy.cuda.Device().id == 0


def test_arrays_without_dimensions_are_sizes():
    """CuPy's arrays have no ``__index__``; NumPy's, PyTorch's and JAX's are sizes."""
    n, x = cupy.asarray(3), cupy.arange(6)
    for made in (xnp.zeros(n, like=x), xo.random.default_rng(0, like=x).random(n), xo.zeros(n, like=x)):
        assert made.shape == (3,)
    for made in (xnp.reshape(x, (n, -1)), xo.random.default_rng(0, like=x).random((n, 2)), xnp.zeros((n, 2), like=x)):
        assert made.shape == (3, 2)
    for wrong in (cupy.asarray(3.0), cupy.asarray([3])[None]):
        with pytest.raises(TypeError):
            xo.random.default_rng(0, like=x).random(wrong)


FULL, LOST = "torch.cuda.empty_cache", "a new process with CUDA_LAUNCH_BLOCKING=1"
FAILURES = {
    "full": (memory.OutOfMemoryError(8, 64), FULL),
    "limited": (memory.OutOfMemoryError(8, 64, 70), "CUPY_GPU_MEMORY_LIMIT"),
    "full context": (CUDARuntimeError("cudaErrorMemoryAllocation: out of memory"), FULL),
    "lost": (CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered"), LOST),
    "no device": (CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected"), "_VISIBLE_DEVICES"),
    "no driver": (CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient"), "newer driver"),
    "no code": (CUDARuntimeError("cudaErrorNoKernelImageForDevice: no kernel image is available"), "a newer CUDA"),
    "other": (CUDARuntimeError("cudaErrorNotReady: device not ready"), None),
}


@pytest.mark.skipif("standin" not in cupy.__version__, reason="CuPy makes its errors of the runtime from numbers")
@pytest.mark.parametrize("what", FAILURES)
def test_errors_of_the_machine_have_their_class_and_a_note(monkeypatch, what):
    error, advice = FAILURES[what]

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setitem(standard._sin, cupy.ndarray, fail)
    for call in (lambda: xo.sin(X), lambda: xnp.sin(X), lambda: _standard._placed(fail)(3)):
        with pytest.raises(type(error)) as caught:
            call()
        notes = getattr(caught.value, "__notes__", [])
        assert len(notes) == (advice is not None)
        assert advice is None or advice in notes[0]
        vars(error).pop("__notes__", None)


@pytest.mark.parametrize(("text", "is_cause"), [('cannot open source file "vector_types.h"', True), ("a typo", False)])
def test_missing_header_files(monkeypatch, text, is_cause):
    error = CompileException(f"catastrophic error: {text}", "", "", ())
    assert xo.backend("cupy").functions["failure_cause"](X, error) is None
    assert ["pip install" in note for note in getattr(error, "__notes__", [])] == [True] * is_cause
