"""Where NumPy takes an integer by ``operator.index``, 0-d arrays of every library and NumPy's scalars serve."""

import ast
import inspect
import re
import runpy
from pathlib import Path

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as ours
from tests.unit.numpy.conftest import as_numpy, leaves, with_64_bits

TABLE = runpy.run_path(str(Path(__file__).parent / "integer_arguments.py"))
CALLS, WRITING = TABLE["CALLS"], TABLE["WRITING"]
PLACE, INTEGER = re.compile(r"\{(-?\d+)\}"), re.compile(r"n\d+")
NAMED = (
    *("axis", "axes", "axis1", "axis2", "axisa", "axisb", "axisc", "shape", "dims", "shift", "reps", "repeats", "k"),
    *("N", "M", "num", "decimals", "ddof", "minlength", "deg", "count", "offset", "ndim", "ndmin", "s", "kth"),
    *("n_children", "size", "indices_or_sections", "source", "destination", "edge_order", "dimensions", "new_shape"),
    *("pad_width", "n", "m"),
)
"""The names of parameters that take integers."""
OTHER = {
    *("np.angle.deg", "np.cov.m", "np.flip.m", "np.fliplr.m", "np.flipud.m", "np.rot90.m", "np.tril.m", "np.triu.m"),
    *(f"np.{name}.{each}" for name in ("matmul", "matvec", "vecmat", "vecdot") for each in ("axis", "axes")),
}
"""Parameters with these names that take arrays, or of which only the default is supported."""
OF_ARRAYS = ("unravel_index({5}", "take(", "repeat(", "put(")
"""Functions whose integers are elements of an array of indices: an array of another library raises MixedBackends."""
VALUES = numpy.random.default_rng(3).normal(size=(3, 4)), numpy.asarray([1.5, 2.0, 3.0])


def as_code(call):
    """The call with names for the integers in braces, and the integer of each name."""
    numbers = {f"n{i}": int(text) for i, text in enumerate(PLACE.findall(call))}
    names = iter(numbers)
    return PLACE.sub(lambda found: next(names), call), numbers


def evaluate(call, module, library, integer):
    """The leaves of the result of a call, each integer made by ``integer``."""
    code, numbers = as_code(call)
    given = {name: integer(number) for name, number in numbers.items()}
    x, v = VALUES
    arrays = {
        "x": x.copy(),
        "v": v,
        "t": numpy.arange(24.0).reshape(3, 2, 4),
        "i": numpy.asarray([[0, 1, 2, 1], [1, 1, 0, 2]]),
    }
    arrays = {name: xo.convert(value, library, copy=True) for name, value in arrays.items()}
    rng = ours.random.default_rng(0, like=arrays["x"]) if "rng" in call else None
    found = leaves(eval(code, {"np": module, "rng": rng, **arrays, **given}))
    return [as_numpy(value) for value in (found if call in CALLS else [arrays["x"]])]


def integers(library):
    """What serves as an integer beside arrays of a library, by name."""
    return {
        "0-d array": lambda n: xo.asarray(n, dtype="int64", like=xo.convert(numpy.zeros(1), library)),
        "0-d array of NumPy": lambda n: numpy.asarray(n, "int32"),
        "scalar of NumPy": lambda n: numpy.int64(n),
    }


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_zero_dimensional_arrays_serve_as_integers(library, sweeping):
    pytest.importorskip(library)
    failed, step = [], 1 if sweeping or library in ("numpy", "torch") else 4
    with with_64_bits(library):
        for call in (*CALLS, *WRITING) if step == 1 and library in ("numpy", "torch") else CALLS[::step]:
            wanted = evaluate(call, ours, library, int)
            for kind, integer in integers(library).items():
                if kind == "0-d array of NumPy" and library != "numpy" and any(name in call for name in OF_ARRAYS):
                    continue
                try:
                    found = evaluate(call, ours, library, integer)
                    assert len(found) == len(wanted)
                    for x, y in zip(found, wanted, strict=True):
                        assert x.dtype == y.dtype, (x.dtype, y.dtype)
                        numpy.testing.assert_array_equal(x, y)
                except Exception as error:
                    failed.append(f"{call}, {kind}: {type(error).__name__}: {str(error).strip()[:200]}")
    assert not failed, f"{len(failed)} calls\n" + "\n".join(failed)


def public_functions():
    """The functions of all modules, by the name in the calls; ufuncs have the same parameters, so that one serves."""
    for prefix, module in (
        ("np.", ours),
        ("np.linalg.", ours.linalg),
        ("np.fft.", ours.fft),
        ("rng.", ours.random.Generator),
    ):
        for name in dir(module):
            function = getattr(module, name)
            is_other = inspect.isclass(function) or isinstance(function, (ours.dtype, type(ours.add), type(ours.sqrt)))
            if not name.startswith("_") and callable(function) and not is_other and hasattr(function, "__name__"):
                yield f"{prefix}{name}", function


def test_the_table_has_every_integer_parameter():
    functions = dict(public_functions())
    wanted = {
        f"{name}.{each}" for name, f in functions.items() for each in inspect.signature(f).parameters if each in NAMED
    }
    found = {
        f"{name}.{each}" for call in (*CALLS, *WRITING) for name, each in bound(ast.parse(as_code(call)[0]), functions)
    }
    assert sorted(wanted - found - OTHER) == []


def bound(tree, functions):
    """The parameters that get an integer in a call, with the name of the function."""
    for node in ast.walk(tree):
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if name in functions:
            parameters = inspect.signature(functions[name]).parameters
            given = ["self"] * name.startswith("rng.") + node.args
            pairs = [*zip(parameters, given, strict=False), *((each.arg, each.value) for each in node.keywords)]
            for each, value in pairs:
                if value != "self" and any(
                    isinstance(n, ast.Name) and INTEGER.fullmatch(n.id) for n in ast.walk(value)
                ):
                    yield name, each
