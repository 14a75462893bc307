"""``--style xo``: NumPy's names become functions of xarrayops, where both do the same."""

import runpy
import warnings
from pathlib import Path

import numpy
import numpy as np
import pytest

import xarrayops as xo
from xarrayops.numpy._elementwise import SAME_BINARY, SAME_UNARY
from xarrayops.port import rewrite
from xarrayops.port.rewriting.xo_names import OF_ONE_ARRAY

SHARED = runpy.run_path(str(Path(__file__).parent / "conftest.py"))
X = np.arange(12.0).reshape(3, 4)

CONVERTED = {
    "np.sum(x, 0)": "xo.sum(x, axis=0)",
    "x.sum(axis=1, keepdims=True)": "xo.sum(x, axis=1, keepdims=True)",
    "np.std(x, 0, ddof=1)": "xo.std(x, axis=0, correction=1)",
    "np.var(x, ddof=1)": "xo.var(x, correction=1)",
    "x.mean(-1)": "xo.mean(x, axis=-1)",
    "np.amax(x, 1)": "xo.max(x, axis=1)",
    "np.absolute(-x)": "xo.abs(-x)",
    "np.arctan2(x, 2.0)": "xo.atan2(x, 2.0)",
    "np.power(x, 2)": "xo.pow(x, 2)",
    "np.maximum(x, 3)": "xo.maximum(x, 3)",
    "np.concatenate([np.zeros(3, like=x), np.ones(2, like=x)])": (
        "xo.concat([xo.zeros((3,), dtype=xo.float64, like=x), xo.ones((2,), dtype=xo.float64, like=x)])"
    ),
    "np.concatenate((np.ones((2, 2)), np.ones((2, 1))), 1)": "axis=1)",
    "np.stack([np.arange(3), np.arange(3)], axis=-1)": (
        "xo.stack([xo.arange(3, dtype=xo.int64, like=x), xo.arange(3, dtype=xo.int64, like=x)], axis=-1)"
    ),
    "np.where(x > 3, x, 0.0)": "xo.where(x > 3, x, 0.0)",
    "np.clip(x, 1, 3)": "xo.clip(x, 1, 3)",
    "np.reshape(x, -1)": "xo.reshape(x, (-1,))",
    "x.reshape(4, 3)": "xo.reshape(x, (4, 3))",
    "np.reshape(x, [2, 6])": "xo.reshape(x, (2, 6))",
    "np.zeros(x.shape)": "xo.zeros(x.shape, dtype=xo.float64, like=x)",
    "np.zeros(4, np.float32)": "xo.zeros((4,), dtype=xo.float32, like=x)",
    "np.empty((0, 2), dtype=x.dtype)": "xo.empty((0, 2), dtype=x.dtype, like=x)",
    "np.full((2, 2), 7)": "xo.full((2, 2), 7, dtype=xo.int64, like=x)",
    "np.eye(3)": "xo.eye(3, dtype=xo.float64, like=x)",
    "np.eye(3, 4, 1)": "xo.eye(3, 4, k=1, dtype=xo.float64, like=x)",
    "np.arange(0.5, 4)": "xo.arange(0.5, 4, dtype=xo.float64, like=x)",
    "np.array([[1, 2], [3, 4]])": "xo.asarray([[1, 2], [3, 4]], dtype=xo.int64, like=x)",
    "np.array([1, 2.5])": "xo.asarray([1, 2.5], dtype=xo.float64, like=x)",
    "np.array(x)": "xo.asarray(x, copy=True)",
    "np.asarray(x)": "xo.asarray(x)",
    "np.zeros_like(x)": "xo.zeros_like(x)",
    "np.ones_like(x, dtype=np.float32)": "xo.ones_like(x, dtype=xo.float32)",
    "x.astype(np.float32)": "xo.astype(x, xo.float32)",
    "x.astype('f4')": "xo.astype(x, xo.float32)",
    "x.astype(int)": "xo.astype(x, xo.int64)",
    "np.transpose(x, (1, 0))": "xo.permute_dims(x, (1, 0))",
    "np.expand_dims(x, 0)": "xo.expand_dims(x, 0)",
    "np.squeeze(x[None], axis=0)": "xo.squeeze(x[None], 0)",
    "np.flip(x, 0)": "xo.flip(x, axis=0)",
    "np.roll(x, 1, 0)": "xo.roll(x, 1, axis=0)",
    "np.cumsum(x, 1)": "xo.cumulative_sum(x, axis=1)",
    "np.sort(x, axis=0)": "xo.sort(x, axis=0)",
    "np.argmax(x, 1)": "xo.argmax(x, axis=1)",
    "np.linalg.norm(x)": "xo.linalg.norm(x)",
    "np.linalg.norm(x, axis=1)": "xo.linalg.norm(x, axis=1)",
    "np.linalg.inv(np.eye(3) + 1.0)": "xo.linalg.inv(xo.eye(3, dtype=xo.float64, like=x) + 1.0)",
    "np.fft.fft(x, axis=0)": "xo.fft.fft(x, axis=0)",
    "x * np.pi + np.e": "x * xo.pi + xo.e",
    "x[:, np.newaxis]": "x[:, xo.newaxis]",
    "np.sqrt(np.sum(np.square(x)))": "xo.sqrt(xo.sum(xo.square(x)))",
}


@pytest.mark.parametrize("line", CONVERTED)
def test_calls_become_ours(line, checked):
    """Neither NumPy's names nor the import are left."""
    source = f"import numpy as np\ndef f(x):\n    x.shape\n    return {line}\n"
    checked(source, X, has=CONVERTED[line], lacks=("np.", "xarrayops.numpy"), style="xo")


STAYING = {
    "another name": ("np.dot(x, x.T)", "np.dot stays: xo has none"),
    "a number or an array": ("np.sqrt(k) * x", "nothing proves that k is an array"),
    "two arrays": ("np.maximum(x, y)", "the same for arrays of one dtype"),
    "an option": ("np.sum(x, initial=1.0)", "xo.sum has no initial="),
    "several axes": ("np.cumsum(x)", "needs the axis of an array of several axes"),
    "all axes": ("np.transpose(x)", "xo.permute_dims needs the axes"),
    "no axes": ("np.squeeze(x)", "xo.squeeze needs the axes"),
    "a shape in a variable": ("np.reshape(x, k)", "k must be a tuple of integers"),
    "numbers as a mask": ("np.where(x, x, 0.0)", "nothing proves that x is a mask"),
    "integers": ("np.power(x, k)", "nothing proves that k is an array"),
    "booleans": ("np.subtract(x, 1)", "does not subtract from booleans"),
    "a function that is written with another": ("np.exp2(x)", "np.exp2 stays: xo has none"),
    "a function of other dtypes": ("np.fabs(x)", "xo.abs (it keeps the dtype)"),
    "a quotient": ("np.sinc(x)", "np.sinc stays: xo has none"),
    "a function of ours that is not a verb": ("x + np.shares_memory(x, -x)", "np.shares_memory stays: xo has none"),
    "an angle": ("np.angle(x)", "np.angle stays: xo has none"),
    "a power of float64": ("np.float_power(x, 2)", "np.float_power stays: xo has none"),
    "numbers in a sequence": ("np.stack([x[0, 0], 1.0])", "takes arrays only"),
    "repeats in a variable": ("np.repeat(x, [1, 2, 1, 2], axis=1)", "nothing proves that repeats is an integer"),
    "elements before": ("np.diff(x, prepend=0)", "prepend= may have another dtype"),
    "the axes of a trace": ("np.trace(x)", "xo.linalg.trace (over the last two axes; NumPy takes the first two)"),
}


@pytest.mark.parametrize("name", STAYING)
def test_what_is_not_proved_stays(name, checked):
    line, problem = STAYING[name]
    k = 12 if "shape" in name else 2.0
    source = f"import numpy as np\ndef f(x, y, k):\n    x.shape, y.shape\n    return {line}\n"
    checked(source, X, X + 0.5, k, todo=problem, has="np.", style="xo")


DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool", "complex128")
NARROW = ("uint8", "bool")
"""The dtypes for which NumPy's loops give float16 or int8; xo gives more precise numbers in a wider dtype."""
NO_LOOP = ("TypeError", "UFuncTypeError", "_UFuncNoLoopError")
"""The errors of a ufunc without a loop for the dtype."""
EXTRA = {
    "astype": "np.float32",
    "broadcast_to": "(2, 3, 3)",
    "cumprod": "axis=0",
    "cumsum": "axis=0",
    "expand_dims": "0",
    "moveaxis": "0, 1",
    "permute_dims": "(1, 0)",
    "repeat": "2",
    "reshape": "(9,)",
    "roll": "1",
    "squeeze": "axis=()",
    "tile": "(2, 1)",
    "transpose": "(1, 0)",
}
"""The arguments after the array."""
EXPRESSIONS = ("where(x == x, x, 0.5)", "where(x == x, 2, x)", "clip(x, 1, 3)", "power(x, 2)", "power(x, 0.5)")
SAME = sorted({*OF_ONE_ARRAY, *SAME_UNARY}) + [
    f"{name} {number}" for name in SAME_BINARY if name != "subtract" for number in (2, 0.5)
]
SAME += EXPRESSIONS


def values(dtype):
    x = numpy.asarray([[1, 0, 3], [2, 4, 1], [0, 1, 1]])
    return (x * (1 + 0.5j) if dtype == "complex128" else x * 0.25 if dtype.startswith("float") else x).astype(dtype)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A program with each function, before and after: its functions by name."""
    lines = ["import xarrayops.numpy as np"]
    for i, function in enumerate(SAME):
        name, _, number = function.partition(" ")
        call = function if function in EXPRESSIONS else f"{name}(x, {number or EXTRA.get(name, '')})"
        lines += [f"def f{i}(x):", "    x.shape", f"    return np.{call}"]
    path = tmp_path_factory.mktemp("programs") / "program.py"
    path.write_text("\n".join(lines))
    text = rewrite(path, style="xo").text
    assert "np." not in text, text
    before, after = {}, {}
    exec(path.read_text(), before)
    exec(text, after)
    return before, after


def result(function, x, library):
    """What a function returns, or the class of its error."""
    given = xo.convert(x, library, copy=True)
    try:
        found = function(given)
    except Exception as error:
        return [type(error).__name__]
    found = found if isinstance(found, tuple) else (found,)
    return [numpy.asarray(xo.convert(each, "numpy")) for each in found]


def same_numbers(wanted, found):
    """Whether two lists of arrays have the same numbers to the precision of float16, in any dtypes."""
    pairs = zip(wanted, found, strict=True)
    return all(x.shape == y.shape and numpy.allclose(x, y, rtol=1e-3, atol=1e-3, equal_nan=True) for x, y in pairs)


@pytest.mark.parametrize("library", SHARED["LIBRARIES"])
@pytest.mark.parametrize("function", SAME)
def test_our_functions_do_the_same_for_every_dtype(function, library, programs):
    """The oracle is xarrayops.numpy, which NumPy's own tests check. Where it has no loop, xo may have a result."""
    before, after = (each[f"f{SAME.index(function)}"] for each in programs)
    with SHARED["with_64_bits"](library), warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for dtype in DTYPES if library != "jax" else DTYPES[1::2]:  # JAX compiles each
            wanted = result(before, values(dtype), library)
            found = result(after, values(dtype), library)
            if isinstance(wanted[0], str):
                assert isinstance(found[0], str) or wanted[0] in NO_LOOP, (dtype, wanted)
            elif function == "astype" and isinstance(found[0], str) and dtype.startswith("complex"):
                continue  # NumPy warns and drops imaginary parts; xo.astype raises
            else:
                assert not isinstance(found[0], str), (dtype, found)
                if function == "empty_like":
                    wanted, found = ([numpy.zeros_like(each) for each in values] for values in (wanted, found))
                if dtype in NARROW:
                    assert same_numbers(wanted, found), dtype
                    continue
                assert not SHARED["differences"](wanted, found, exact=False), dtype


def test_names_of_dtypes_and_classes_stay(checked):
    source = """
import numpy as np
def f(x):
    y = np.float32(2.5)
    return isinstance(x, np.ndarray), x.dtype == np.float64, y * 1.0, np.sum(x)
"""
    checked(source, X, has=("isinstance(x, np.ndarray)", "x.dtype == np.float64", "xo.sum(x)"), style="xo")


def test_imported_names(checked):
    source = """
from numpy import sqrt, sum as total
from numpy.linalg import norm
def f(x):
    x.shape
    return sqrt(total(x)), norm(x)
"""
    checked(source, X, has="xo.sqrt(xo.sum(x)), xo.linalg.norm(x)", lacks="import sqrt", style="xo")


def test_an_import_with_a_comment_stays(checked):
    source = "import numpy as np  # numbers\ndef f(x):\n    x.shape\n    return np.sum(x)\n"
    checked(source, X, has="import xarrayops.numpy as np  # numbers", style="xo")


def test_numpy_itself_stays(checked):
    source = "import numpy as np\ndef f(x):\n    x.shape\n    return np.frompyfunc(abs, 1, 1)(1.5) + np.sum(x)\n"
    checked(source, X, todo="only NumPy has frompyfunc", has=("numpy.frompyfunc", "xo.sum(x)"), style="xo")


def test_arrays_stay_known_after_their_names_are_ours(checked):
    source = """
import numpy as np
def f(x):
    y = np.zeros(x.shape)
    y[1:] = x[1:]
    z = np.sqrt(y) + np.concatenate([y, y])[:3]
    z[z > 2] = 1
    return np.max(z, axis=0), z.std(0)
"""
    wanted = ("xo.zeros(x.shape", "xo.sqrt(y)", "xo.concat([y, y])", "xo.max(z, axis=0)", "xo.std(z, axis=0)")
    checked(source, X, has=wanted, lacks="np.", style="xo")


def test_an_unknown_style(tmp_path):
    with pytest.raises(ValueError, match="style must be one of numpy, xo, not 'torch'"):
        rewrite(tmp_path / "program.py", style="torch")
