"""Dtypes that devices or libraries lack, and tests of dtypes that differ by library."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xarrayops.plugin.dtypes import DTYPE_NAMES
from xarrayops.port import advice
from xarrayops.port.findings import NUMPY_DTYPE, Finding, finding
from xarrayops.port.source import Program
from xarrayops.port.source.keys import is_dtype_key
from xarrayops.port.source.numpy_results import dtype_of
from xarrayops.port.source.value import PYTHON_NUMBERS

_ATTRIBUTES = ("kind", "name", "char", "str", "num", "byteorder", "type", "names", "fields")
_NO_DEVICE = frozenset(("object", "str", "bytes", "void", "longdouble", "clongdouble", "float128", "complex256"))
_CODES = ("O", "U", "S", "V", "M", "m", "g", "G")


def of_attribute(program: Program, node: ast.Attribute) -> Iterator[Finding]:
    """An attribute of NumPy's dtypes, or a dtype that is looked up among others."""
    if _is_dtype(program, node) and is_dtype_key(node, program.parents[node], program.names):
        what = "dtypes of arrays are other keys than those of np.dtype"
        yield finding(program, node, "dtype", what, f"np.dtype({program.text(node)})")
    if node.attr in _ATTRIBUTES and _is_dtype(program, node.value):
        instead = f"np.dtype({program.text(node.value)}).{node.attr}"
        yield finding(program, node, "dtype", f"dtypes of torch have no {node.attr}", instead, ("torch",))


def of_float64(program: Program) -> Iterator[Finding]:
    """The first array in float64."""
    made = (call for call in program.nodes(ast.Call) if program.names.numpy_name(call.func))
    float64 = next((call for call in made if program.value(call).dtype == "float64"), None)
    if float64 is not None:
        what = "the program computes in float64 from here on: JAX needs its 64-bit types, and GPUs compute it slowly"
        instead = 'jax.config.update("jax_enable_x64", True)  # or xo.use(dtype="float32") where that is enough'
        yield finding(program, float64, "dtype", what, instead, ("jax",))


def _is_dtype(program: Program, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "dtype" and program.value(node.value).is_array


def of_test(program: Program, node: ast.Compare) -> Iterator[Finding]:
    """A test of a dtype or a class."""
    sides = [node.left, *node.comparators]
    if any(_is_dtype(program, side) for side in sides) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        for side in sides:
            is_python = isinstance(side, ast.Name) and program.names.resolve(side) in PYTHON_NUMBERS
            if is_python or (isinstance(side, ast.Constant) and isinstance(side.value, str)):
                name = dtype_of(side, program.names.numpy_name)
                what = f"a dtype of torch is not equal to {program.text(side)}, without an error"
                if name in DTYPE_NAMES:  # no array of torch has another one
                    yield finding(program, side, "dtype", what, f"np.{name}", ("torch",))
    is_class = len(node.ops) == 1 and program.names.numpy_name(node.comparators[0]) == "ndarray"
    if (
        is_class
        and isinstance(node.left, ast.Call)
        and len(node.left.args) == 1
        and program.names.resolve(node.left.func) == "builtins.type"
    ):
        what = "the class of the arrays of other libraries is not np.ndarray"
        opposite = "not " if isinstance(node.ops[0], ast.IsNot | ast.NotEq) else ""
        instead = f"{opposite}isinstance({program.text(node.left.args[0])}, np.ndarray)"
        yield finding(program, node, "dtype", what, instead)


def of_dtype(program: Program, node: ast.Call) -> Iterator[Finding]:
    """A dtype that only NumPy supports, given as ``dtype=`` or to ``astype``, or that differs by library."""
    if program.names.numpy_name(node.func) in advice.COMPLEX_ON_DASK:
        instead = "np.real of the results, where they are real"
        yield finding(program, node, "dtype", advice.complex_on_dask(program, node), instead, ("dask",))
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "astype"
    given = [keyword.value for keyword in node.keywords if keyword.arg == "dtype"]
    given += node.args[:1] if is_method else []
    for dtype in given:
        if _is_only_numpy(program, dtype):
            what = f"{NUMPY_DTYPE} {program.text(dtype)}"
            instead = "numbers for names and dates; one array for each field; float64 for wider numbers"
            yield finding(program, node, "dtype", what, instead)


def _is_only_numpy(program: Program, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        code = node.value.lstrip("<>=|")
        return code[:1] in _CODES or code in _NO_DEVICE or code.startswith(("datetime64", "timedelta64"))
    if isinstance(node, ast.List):
        return bool(node.elts)
    return program.names.resolve(node) in ("builtins.object", "builtins.str", "builtins.bytes")
