"""A default dtype is a mode: it changes what functions of integers return, in its own thread and task only."""

import asyncio
import contextvars
import subprocess
import sys
import threading

import numpy as np
import pytest

import xarrayops as xo
from xarrayops import standard
from xarrayops._core.dispatch import lookup as dispatch
from xarrayops._core.modes import tables as modes

X = np.arange(1, 4)
LIBRARIES = ("numpy", "torch", "jax", "dask")
FRACTIONS = (
    *(
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cos",
        "cosh",
        "exp",
        "expm1",
        "log",
        "log10",
        "log1p",
        "log2",
    ),
    *("reciprocal", "sin", "sinh", "sqrt", "tan", "tanh", "mean", "std", "var"),
)
PAIRS = ("atan2", "copysign", "divide", "hypot", "logaddexp")
OF_ONE_ARRAY_ON_NUMPY = frozenset(FRACTIONS) - {"reciprocal", "mean", "std", "var"}
"""NumPy's ufuncs of one array are called without a check of the dtype."""


@pytest.fixture(autouse=True)
def x64():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield


def of(library, dtype, values=(1, 1)):
    pytest.importorskip(library)
    return xo.asarray(list(values), dtype=dtype, backend=library)


def dtype_of(x):
    return xo.backend(x).functions["dtype_name"](x.dtype)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.filterwarnings("ignore:divide by zero")
class TestIntegers:
    def test_without_a_default(self, library, dtype):
        x = of(library, dtype)
        default = dtype_of(xo.zeros(1, backend=library))
        exempt = OF_ONE_ARRAY_ON_NUMPY if library == "numpy" else ()
        assert {verb: dtype_of(getattr(xo, verb)(x)) for verb in FRACTIONS if verb not in exempt} == dict.fromkeys(
            (verb for verb in FRACTIONS if verb not in exempt), default
        )
        assert {verb: dtype_of(getattr(xo, verb)(x, x)) for verb in PAIRS} == dict.fromkeys(PAIRS, default)
        assert dtype_of(xo.divide(x, 2)) == dtype_of(xo.divide(2.0, x)) == dtype_of(xo.multiply(x, 0.5)) == default

    @pytest.mark.parametrize("default", ["float32", "float64"])
    def test_with_a_default(self, library, dtype, default):
        x = of(library, dtype)
        with xo.use(dtype=default):
            assert {verb: dtype_of(getattr(xo, verb)(x)) for verb in FRACTIONS} == dict.fromkeys(FRACTIONS, default)
            assert {verb: dtype_of(getattr(xo, verb)(x, x)) for verb in PAIRS} == dict.fromkeys(PAIRS, default)
            for result in (
                xo.divide(x, 2),
                xo.divide(2, x),
                xo.multiply(x, 0.5),
                xo.subtract(0.5, x),
                xo.where(xo.greater(x, 0), x, 0.5),
                xo.clip(x, min=0.5),
            ):
                assert dtype_of(result) == default
            assert dtype_of(xo.multiply(x, 1j)) == {"float32": "complex64", "float64": "complex128"}[default]
            assert dtype_of(xo.add(x, x)) == dtype_of(xo.add(x, 1)) == dtype_of(xo.maximum(x, x)) == dtype

    def test_other_dtypes_are_left_alone(self, library, dtype):
        x, half = of(library, dtype), of(library, "float16")
        with xo.use(dtype="float64"):
            assert dtype_of(xo.sqrt(half)) == dtype_of(xo.divide(half, half)) == dtype_of(xo.mean(half)) == "float16"
            assert dtype_of(xo.divide(half, 2.0)) == dtype_of(xo.multiply(half, 0.5)) == "float16"
            assert dtype_of(xo.less(x, 0.5)) == "bool"


MATRIX = (
    *("cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_norm", "pinv", "qr", "slogdet", "svd"),
    *("svdvals", "vector_norm"),
)
TRANSFORMS = ("fft", "fftn", "hfft", "ifft", "ifftn", "ihfft", "irfft", "irfftn", "rfft", "rfftn")


def dtypes_of(result):
    """The precision in bits of each floating-point number of a result."""
    bits = {"float32": 32, "complex64": 32, "float64": 64, "complex128": 64}
    return {bits[dtype_of(x)] for x in (result if isinstance(result, tuple) else (result,))}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("default", "bits"), [(None, None), ("float32", 32), ("float64", 64)])
def test_integer_matrices_and_transforms(library, default, bits):
    matrix, signal = of(library, "int32", [[2, 1], [1, 3]]), of(library, "int16", [1, 2, 3, 4])
    if default is None:
        bits = dtypes_of(xo.zeros(1, backend=library)).pop()
    with xo.use(dtype=default):
        for name in MATRIX:
            assert dtypes_of(getattr(xo.linalg, name)(matrix)) == {bits}, name
        for name in TRANSFORMS:
            assert dtypes_of(getattr(xo.fft, name)(signal)) == {bits}, name
        assert dtypes_of(xo.linalg.solve(matrix, matrix)) == {bits}
        assert dtypes_of(xo.linalg.solve(matrix, xo.astype(matrix, "float64"))) == {64}
        assert int(xo.compute(xo.linalg.matrix_rank(matrix))) == 2
        assert dtypes_of(xo.diff(signal, prepend=0.5)) == {bits}
        assert xo.result_type(signal, 1.0) == xo.add(signal, 1.0).dtype
        assert xo.result_type(signal, 1j) == xo.add(signal, 1j).dtype
        assert dtype_of(xo.diff(signal, prepend=0)) == "int16"
        assert xo.result_type(signal, 1) == signal.dtype


def test_the_first_call_of_a_library_follows_the_mode():
    """A library without a backend is found by the first array; its first call is like the others."""
    program = """
import array_api_strict as xps, numpy as np, xarrayops as xo
x = xps.asarray([1, 2])
with xo.use(dtype="float32"):
    assert [xo.divide(x, x).dtype for _ in range(2)] == [xps.float32] * 2
    assert xo.multiply(np.float64(0.5), x).dtype == xps.float32
y = xps.asarray([True])
assert xo.where(y, 1, 0).dtype == xps.int64
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("library", LIBRARIES)
def test_means_of_integers_lose_nothing(library):
    values = [2**40 + 1, 2**40 + 3, -(2**40)]
    x = of(library, "int64", values)
    expected = np.mean(np.asarray(values))
    with xo.use(dtype="float64"):
        assert float(xo.mean(x)) == pytest.approx(expected, rel=1e-15)
        assert float(xo.std(x)) == pytest.approx(np.std(np.asarray(values)), rel=1e-15)
    assert float(xo.mean(x)) == pytest.approx(expected, rel=1e-7)


def test_a_block_is_for_its_own_thread():
    seen = {}

    def look(name):
        seen[name] = xo.divide(X, 2).dtype

    with xo.use(dtype="float32"):
        thread = threading.Thread(target=look, args=("other",))
        thread.start()
        thread.join()
        look("own")
    look("after")
    assert seen == {"other": np.float64, "own": np.float32, "after": np.float64}


def test_a_block_is_for_its_own_task():
    async def look(dtype):
        with xo.use(dtype=dtype):
            await asyncio.sleep(0)
            return xo.divide(X, 2).dtype

    async def both():
        return await asyncio.gather(look("float32"), look("float64"), look("float16"))

    assert asyncio.run(both()) == [np.float32, np.float64, np.float16]


def test_a_thread_without_a_block_is_as_ever():
    """Also where a default dtype would change the answer: NumPy's float16 of uint8."""
    entered, left = threading.Event(), threading.Event()

    def hold():
        with xo.use(dtype="float64"):
            entered.set()
            left.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        entered.wait(30)
        assert modes.active()
        small = np.arange(3, dtype=np.uint8)
        assert xo.sqrt(small).dtype == np.float16
        assert xo.mean(np.arange(3, dtype=np.int32)).dtype == np.float64
    finally:
        left.set()
        thread.join()


@pytest.mark.parametrize("in_modes", [False, True])
def test_a_block_of_another_thread_may_open_or_close_while_a_function_is_looked_up(monkeypatch, in_modes):
    class Own(np.ndarray):
        pass

    x, enter = X.view(Own), dispatch._enter

    def interrupted(*args, **options):
        (modes.end if in_modes else modes.begin)()
        try:
            return enter(*args, **options)
        finally:
            (modes.begin if in_modes else modes.end)()

    def dtypes():
        with xo.use(dtype="float32"):
            inside = xo.mean(x).dtype
        return inside, xo.mean(x).dtype

    monkeypatch.setattr(dispatch, "_enter", interrupted)
    if in_modes:
        with xo.use(dtype="float32"):
            xo.mean(x)
    else:
        xo.mean(x)
    monkeypatch.undo()
    assert dtypes() == (np.float32, np.float64)


def test_a_closed_block_has_no_effect_in_contexts_that_were_copied_inside_of_it():
    with xo.use("torch", dtype="float32"):
        inside = contextvars.copy_context()
        assert inside.run(xo.mean, X).dtype == np.float32
    assert inside.run(xo.mean, X).dtype == np.float64
    with xo.use(dtype="float16"):
        assert inside.run(xo.mean, X).dtype == np.float64
        assert type(inside.run(xo.zeros, 3)) is np.ndarray


def test_a_block_may_be_closed_in_another_task():
    async def values():
        with xo.use("numpy", device="cpu", dtype="float32"):
            yield xo.mean(X).dtype

    async def run():
        generator = values()
        assert await asyncio.ensure_future(anext(generator)) == np.float32
        await generator.aclose()

    asyncio.run(run())
    assert not modes.active()
    assert xo.mean(X).dtype == np.float64


def test_one_object_may_be_entered_again_and_in_several_threads():
    block = xo.use(dtype="float32")
    seen = []

    def call():
        with block:
            with block:
                barrier.wait(30)
            barrier.wait(30)
            seen.append(xo.mean(X).dtype)
        seen.append(xo.mean(X).dtype)

    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, seen)) == ["float32"] * 4 + ["float64"] * 4
    assert not modes.active()


def test_a_block_that_cannot_open_leaves_nothing_open(monkeypatch):
    monkeypatch.setattr(modes, "begin", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError), xo.use("torch", dtype="float32"):
        pass
    monkeypatch.undo()
    assert type(xo.zeros(3)) is np.ndarray
    assert xo.mean(X).dtype == np.float64


def test_tables_are_the_plain_ones_when_no_mode_is_active():
    xo.add(X, X)
    plain = standard._add
    with xo.use(dtype="float32"):
        assert modes.active()
        assert standard._add is not plain
        with xo.use(dtype="float64"), xo.use("numpy"):
            assert xo.divide(X, 2).dtype == np.float64
        assert xo.divide(X, 2).dtype == np.float32
    assert not modes.active()
    assert standard._add is plain
    assert standard._add[np.ndarray][np.ndarray] is np.add
    with pytest.raises(ZeroDivisionError), xo.use(dtype="float32"):
        raise ZeroDivisionError
    assert not modes.active()


def test_set_default_holds_until_it_is_replaced():
    try:
        xo.set_default(dtype="float32")
        assert xo.mean(X).dtype == np.float32
        xo.set_default(dtype="float16")
        assert xo.mean(X).dtype == np.float16
    finally:
        xo.set_default()
    assert xo.mean(X).dtype == np.float64
    assert not modes.active()


def test_errors_of_arguments_stay():
    with xo.use(dtype="float32"):
        with pytest.raises(TypeError):
            xo.sqrt(X, X)
        with pytest.raises(xo.MixedBackends):
            xo.divide(X, pytest.importorskip("torch").ones(3))
        with pytest.raises(xo.BackendNotFound):
            xo.sqrt("text")
