# Long: a generator for each parameter of NumPy.
"""The code of arguments, by the name of the parameter, and for a few functions by function and parameter."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from tests.fuzz.differential.draw import REDUCTIONS, Call, Draw
from tests.fuzz.differential.outcomes import evaluated
from tests.fuzz.differential.values import INTEGERS, REALS, Operand

Generator = Callable[["Draw"], "str | None"]
RANDOM = ("random", "uniform", "normal", "standard_normal", "lognormal", "exponential", "standard_exponential")
RANDOM += ("integers", "choice", "permutation", "permuted")
"""The methods of random generators: their numbers differ, so shape, dtype and range are compared."""
DTYPE_CODES = ("np.float32", "np.float64", "'float32'", "'int64'", "np.int32", "np.complex128", "bool", "float", "int")
DTYPE_CODES += ("'f4'", "np.uint8", "None", "np.float16", "complex", "'i2'", "np.dtype('float64')")
REAL = (*REALS, *INTEGERS)
SQUARES: tuple[tuple[int, ...], ...] = ((3, 3), (3, 3), (2, 3, 3), (1, 1), (0, 0), (3, 4), (4,))
MATRICES: tuple[tuple[int, ...], ...] = ((3, 4), (4, 3), (3, 3), (2, 3, 4), (1, 1), (4,), (0, 3))


def _main(d: Draw) -> str:
    if d.chance(0.07):
        return d.one_of("[1, 2, 3]", "[[1.5, 2], [3, 4]]", "2", "1.5", "[True, False]", "[]", "1j", "(1, 2.5)")
    if d.name in REDUCTIONS and d.style == "extreme" and "max" not in d.name and "min" not in d.name:
        d.style = "plain"
    return d.array()


def _one(*options: str) -> Generator:
    return lambda d: d.one_of(*options)


def _int(low: int, high: int) -> Generator:
    return lambda d: str(d.integer(low, high))


def _axis(d: Draw) -> str:
    return d.axis(several=d.name in REDUCTIONS or d.name.endswith(".reduce"))


def _shape(d: Draw) -> str:
    return d.one_of("3", "(2, 3)", "(0,)", "()", "[2, 2]", "(1, 3)", "-1", "(2, -1)", "np.asarray(3)")


def _same_size(d: Draw) -> str:
    """A shape for reshape: mostly of the size of the operand."""
    size = int(numpy.prod(d.main.shape))
    return d.one_of("-1", "(-1,)", f"({size},)", "(2, -1)", f"({size}, 1)", "(-1, 2)", "(4, 3)", "()", f"[1, {size}]")


def _sections(d: Draw) -> str:
    return d.one_of("1", "2", "3", "[1]", "[1, 3]", "(2,)", "[0, 2, 5]", "4", "[-1]", "np.asarray([1, 2])")


def _indices(d: Draw) -> str:
    size = max(int(numpy.prod(d.main.shape)), 1)
    extent = min([n for n in d.main.shape if n] or [1])
    return d.one_of(
        str(d.integer(-extent, extent - 1)),
        str([d.integer(-extent, extent - 1) for _ in range(3)]),
        d.array(values=d.rng.integers(-extent, extent, (2, 2))),
        d.array(values=d.rng.integers(0, extent, 3).astype(d.one_of("int32", "uint8"))),
        str([0, size]),
        "[]",
        "np.asarray(0)",
    )


def _along(d: Draw) -> str:
    shape = d.main.shape or (1,)
    extent = min([n for n in shape if n] or [1])
    return d.array(values=d.rng.integers(0, extent, d.one_of(shape, shape, (1,) * len(shape), (2,))))


def _permutation(d: Draw) -> str:
    ndim = len(d.main.shape)
    return d.one_of("None", str(tuple(d.rng.permutation(ndim).tolist())), str(list(range(ndim))[::-1]), "(0, 0)", "-1")


def _quantiles(d: Draw) -> str:
    if "percentile" in d.name:
        return d.one_of("50", "25.5", "[0, 50, 100]", "[[10, 20], [30, 40]]", "np.asarray([5.0, 95.0])", "101", "100")
    return d.one_of("0.5", "0.25", "[0, 0.5, 1]", "[[0.1, 0.2], [0.3, 0.4]]", "np.asarray([0.05, 0.95])", "1.5", "1")


def _sorted_vector(d: Draw) -> str:
    name = d.array(
        (4,), (6,), (1,), dtypes=REAL, style=d.style if d.style in ("plain", "ties") else "plain", plain=True
    )
    d.operands[name] = Operand(numpy.sort(d.operands[name].base))
    return name


def _vector(d: Draw) -> str:
    return d.array((4,), (6,), (1,), (0,), (4,), plain=False)


def _sequence(d: Draw) -> str:
    """Arrays to join: mostly of shapes that fit."""
    if d.chance(0.08):
        return d.array((2, 3, 4), (3, 4), (4,), ())
    shape = d.one_of((4,), (3, 4), (2, 3, 4), (), (0,), (1,))
    parts = [d.array(shape)]
    for _ in range(d.integer(0, 2)):
        other = d.one_of(shape, shape, shape, (4,), (0, *shape[1:]))
        parts.append(d.array(other, dtypes=(d.main.dtype,) if d.chance(0.5) else ()))
    if d.chance(0.1):
        parts.append(d.one_of("[1, 2, 3, 4]", "1.5", "2"))
    return f"[{', '.join(parts)}]"


def _arrays(d: Draw) -> str:
    return ", ".join(d.array() if i == 0 else d.beside() for i in range(d.integer(0, 3)))


def _mean(d: Draw) -> str | None:
    axis = d.given.get("axis", "None")
    return f"np.mean({next(iter(d.operands))}, axis={axis}, keepdims=True)" if d.operands else None


def _weights(d: Draw) -> str:
    shape = d.main.shape
    name = d.array(shape, shape, shape[-1:] if shape else (1,), dtypes=("float64", "float32", "int64"), style="plain")
    base = d.operands[name].base
    d.operands[name] = Operand(numpy.abs(base) + numpy.ones((), base.dtype))
    return name


def _where(d: Draw) -> str | None:
    return None if d.name in UFUNC_NAMES else d.mask()


def _order(d: Draw) -> str:
    return (
        d.one_of("None")
        if d.name in ("sort", "argsort", "partition", "argpartition")
        else d.one_of("'C'", "'F'", "'A'", "'K'")
    )


def _kind(d: Draw) -> str:
    if d.name == "isdtype":
        return d.one_of("'integral'", "'real floating'", "'numeric'", "('bool', 'complex floating')", "np.float32")
    if d.name == "isin":
        return d.one_of("None", "'sort'", "'table'")
    return d.one_of("None", "'quicksort'", "'stable'", "'mergesort'", "'heapsort'", "'introselect'")


def _mode(d: Draw) -> str:
    if d.name in ("convolve", "correlate"):
        return d.one_of("'full'", "'same'", "'valid'", "0", "'no'")
    if d.name == "linalg.qr":
        return d.one_of("'reduced'", "'complete'", "'r'", "'raw'")
    return d.one_of("'raise'", "'wrap'", "'clip'", "'no'")


def _padding(d: Draw) -> str:
    ndim = len(d.main.shape)
    return d.one_of(
        "1", "(1, 2)", "0", str([(i, 1) for i in range(ndim)] or 1), "((2, 1),)", "{-1: (1, 2)}", "-1", "[1]", "5"
    )


def _ddof(d: Draw) -> str | None:
    return None if "ddof" in d.given else d.one_of("0", "1", "2", "0.5", "-1", "100")


def _period(d: Draw) -> str:
    return d.one_of("6.283185307179586", "4", "5", "2.5", "360") if d.name == "unwrap" else d.one_of("3.0", "-2.5", "0")


def _any_dtype(d: Draw) -> str:
    return d.one_of(*DTYPE_CODES[:8], "'i4'", "np.uint64", "np.int8", "np.complex64") if d.chance(0.8) else d.array()


def _number_or_array(d: Draw) -> str:
    return d.number() if d.chance(0.5) else d.beside()


def _bins(d: Draw) -> str:
    if d.name == "digitize":
        return _sorted_vector(d)
    return d.one_of("3", "10", "[0, 1, 2.5]", "[-2, 0, 0, 3]", "np.asarray([-1.0, 0.0, 2.0])", "[2, 1]", "0", "1")


PARAMETERS: dict[str, Generator] = {
    **dict.fromkeys(
        [
            "a",
            "x",
            "m",
            "arr",
            "ary",
            "array",
            "f",
            "v",
            "p",
            "z",
            "y",
            "val",
            "filt",
            "obj",
            "object",
            "ar",
            "element",
            "condition",
            "prototype",
            "A",
            "object",
            "a1",
            "ar1",
            "q",
            "x1",
        ],
        _main,
    ),
    **dict.fromkeys(
        ["x2", "b", "test_elements", "values", "a2", "ar2", "B", "fill_value", "start"], lambda d: d.beside()
    ),
    **dict.fromkeys(["a_min", "a_max", "min", "max", "to_end", "to_begin", "prepend", "append"], _number_or_array),
    **dict.fromkeys(
        ("keepdims", "copy", "sparse", "rowvar", "bias", "returned", "endpoint", "equal_nan"), _one("True", "False")
    ),
    **dict.fromkeys(
        ("return_index", "return_inverse", "return_counts", "return_indices", "right"), _one("True", "False")
    ),
    **dict.fromkeys(("increasing", "deg", "invert", "density", "include_initial"), _one("True", "False")),
    "overwrite_input": lambda d: d.one_of("True", "False") if d.main.layout != "read-only" else "False",
    **dict.fromkeys(
        ("upper", "hermitian", "full_matrices", "compute_uv", "retstep", "wrap", "sorted"), _one("True", "False")
    ),
    **dict.fromkeys(
        ("subok", "assume_unique", "like", "device", "signature", "max_work", "optimize", "out"), lambda d: None
    ),
    **dict.fromkeys(("dtype", "type", "int_type", "arg1", "arg2", "type1", "type2", "to"), _one(*DTYPE_CODES)),
    **dict.fromkeys(("offset", "k"), _int(-3, 3)),
    **dict.fromkeys(("ddof", "correction"), _ddof),
    **dict.fromkeys(
        ("axis1", "axis2", "axisa", "axisb", "axisc", "source", "destination"), lambda d: d.axis(none=False)
    ),
    **dict.fromkeys(("arrays", "tup"), _sequence),
    **dict.fromkeys(("arys", "xi", "args", "arrays_and_dtypes"), _arrays),
    **dict.fromkeys(("indices", "ind"), _indices),
    **dict.fromkeys(("newshape", "shape", "size", "new_shape", "dims", "dimensions"), _shape),
    **dict.fromkeys(("N", "M", "n"), _int(0, 5)),
    **dict.fromkeys(("weights", "fweights", "aweights", "w"), _weights),
    "axis": _axis,
    "axes": _permutation,
    "where": _where,
    "initial": _one("0", "1", "-5", "2.5", "nan", "100"),
    "casting": _one("'same_kind'", "'unsafe'", "'safe'", "'no'", "'equiv'"),
    "order": _order,
    "kind": _kind,
    "stable": _one("True", "False", "None"),
    "mode": _mode,
    "mean": _mean,
    "decimals": _one("0", "1", "2", "-1", "-2", "np.asarray(1)"),
    "indices_or_sections": _sections,
    "pad_width": _padding,
    "method": _one(
        *("'linear'", "'lower'", "'higher'", "'nearest'", "'midpoint'", "'inverted_cdf'", "'hazen'", "'weibull'"),
        *("'averaged_inverted_cdf'", "'closest_observation'", "'interpolated_inverted_cdf'", "'median_unbiased'"),
        *("'normal_unbiased'", "'no'"),
    ),
    "stop": _number_or_array,
    "num": _one("0", "1", "5", "4", "np.asarray(3)", "-1", "2.0"),
    "step": _one("1", "2", "0.5", "-1", "0", "3"),
    "base": _one("10.0", "2", "2.5"),
    "minlength": _one("0", "3", "12", "-1"),
    "rtol": _one("1e-5", "0.1", "0"),
    "atol": _one("1e-8", "0.5", "0"),
    "tol": _one("100", "1", "1e-3", "None"),
    "nan": _one("0.0", "-1", "7.5"),
    "posinf": _one("None", "100", "1.5"),
    "neginf": _one("None", "-100", "-1.5"),
    "trim": _one("'f'", "'b'", "'fb'", "'FB'", "'x'"),
    "side": _one("'left'", "'right'", "'no'"),
    "edge_order": _one("1", "2"),
    "period": _period,
    "discont": _one("None", "1.0", "4.0"),
    "left": _one("-7.0", "None"),
    "dx": _one("1.0", "2", "0.5"),
    "rcond": _one("None", "1e-3"),
    "ndim": _int(1, 3),
    "ndmin": _int(0, 3),
    "ndmax": _int(0, 3),
    "norm": _one("None", "'ortho'", "'forward'", "'backward'", "'no'"),
    "s": _one("None", "(2, 3)", "(4, 4)", "(3,)", "[2, 2]"),
    "ord": _one("None", "1", "2", "inf", "-inf", "'fro'", "'nuc'", "-1", "0", "3"),
    "kth": _one("0", "1", "-1", "[0, 1]", "2", "9"),
    "repeats": _one("2", "0", "[1, 2, 0, 1]", "np.asarray([2, 1, 0, 3])", "-1", "[3]", "1", "np.asarray(2)"),
    "reps": _one("2", "(2, 1)", "()", "(1, 2, 2)", "0", "[2]", "np.asarray(2)"),
    "shift": _one("1", "-2", "(1, 2)", "[1]", "np.asarray(1)", "7", "0", "(1, -1)"),
    "mask": lambda d: d.mask(),
    "from_": _any_dtype,
    "requirements": _one("'C'", "'F'", "['C', 'W']", "None", "'X'", "['F', 'O']"),
    "beta": _one("0", "5.0", "14"),
    "indexing": _one("'xy'", "'ij'", "'no'"),
    "range": _one("(-1, 2)", "(0, 5)", "None", "(2, 2)", "(3, 1)"),
    "sorter": lambda d: None,
    "indices_or_shape": _shape,
    "ind_": _int(0, 3),
    "count": _one("-1", "2"),
    "bins": _bins,
    "UPLO": _one("'L'", "'U'"),
    "start_or_stop": _one("5", "0", "2.5", "-1", "3", "np.asarray(4)"),
    "real": _number_or_array,
    "value": lambda d: d.number() if d.chance(0.5) else d.array(),
    "imag": lambda d: None,
    "casting_": _one("'unsafe'"),
    "full": lambda d: None,
    "cov": lambda d: None,
}
"""What generates the argument of a parameter, by its name."""
FUNCTIONS: dict[str, Generator] = {
    "insert.values": lambda d: d.number() if d.chance(0.6) else d.beside(),
    "insert.obj": lambda d: d.one_of(
        "0", "1", "[0, 2]", "slice(1, 3)", "-1", "np.asarray([True, False, True, False])", "9"
    ),
    "delete.obj": lambda d: d.one_of(
        "0", "1", "[0, 2]", "slice(1, 3)", "-1", "np.asarray([True, False, True, False])", "9"
    ),
    "reshape.shape": _same_size,
    "full.fill_value": lambda d: d.one_of("0", "1.5", "nan", "2j", "True", "[1, 2, 3]", "np.asarray(2.0)", "300", "-1"),
    "expand_dims.axis": lambda d: d.axis(several=True, none=False),
    "squeeze.axis": lambda d: d.axis(several=True),
    "moveaxis.source": lambda d: d.one_of("0", "-1", "(0, 1)", "[1]", "9"),
    "moveaxis.destination": lambda d: d.one_of("0", "-1", "(1, 0)", "[0]", "(0, 0)"),
    "rot90.axes": _one("(0, 1)", "(1, 0)", "(-1, 0)", "(0, 0)"),
    "tensordot.axes": _one("0", "1", "2", "([0], [0])", "((-1,), (0,))", "[0, 0]", "-1"),
    "linalg.tensordot.axes": _one("0", "1", "2", "([0], [0])", "((-1,), (0,))"),
    "matmul.x1": lambda d: d.array((3, 4), (4, 4), (4,), (2, 3, 4), (0, 4), ()),
    "matmul.x2": lambda d: d.array((4, 3), (4, 4), (4,), (2, 4, 3), (4, 0), (5,)),
    "take_along_axis.indices": _along,
    "put_along_axis.indices": _along,
    "searchsorted.a": _sorted_vector,
    "digitize.x": lambda d: d.array(dtypes=REAL),
    "digitize.bins": _sorted_vector,
    "interp.x": lambda d: d.array(dtypes=REAL),
    "interp.xp": _sorted_vector,
    "interp.fp": lambda d: d.array([*d.operands.values()][-1].shape, dtypes=(*REAL, "complex128")),
    "bincount.x": lambda d: d.array(
        values=d.rng.integers(0, 6, d.one_of(4, 6, 0, (2, 3))).astype(
            d.one_of("int64", "int32", "uint8", "int8", "uint64", "bool")
        )
    ),
    "bincount.weights": lambda d: d.array(d.main.shape, dtypes=("float64", "float32", "int64")),
    "unravel_index.indices": lambda d: d.one_of(
        "5", "[0, 5, 3]", "11", "12", d.array(values=d.rng.integers(0, 12, (2, 3)))
    ),
    "unravel_index.shape": _one("(3, 4)", "(2, 2, 3)", "12", "(6,)", "[3, 4]"),
    "ravel_multi_index.multi_index": lambda d: d.one_of(
        "(1, 2)", "([0, 2], [1, 3])", d.array(values=d.rng.integers(0, 3, (2, 4))), "(2, 9)"
    ),
    "ravel_multi_index.dims": _one("(3, 4)", "(4, 4)", "[3, 4]"),
    "vander.x": _vector,
    "choose.a": lambda d: d.array(values=d.rng.integers(-1, 3, d.one_of((4,), (3, 4), ()))),
    "choose.choices": lambda d: f"[{d.beside()}, {d.beside()}, {d.beside()}]",
    "compress.condition": _one(
        "[True, False, True]", "[0, 1]", "[True]", "[]", "np.asarray([True, False, True, True])"
    ),
    "extract.condition": lambda d: d.array((4,), (3, 4), dtypes=("bool",)),
    "extract.arr": lambda d: d.array(d.main.shape),
    "broadcast_shapes.args": _one("(3, 1), (1, 4)", "(2,), 3", "(), (5,)", "3, (3, 1)", "(2, 3), (4,)", ""),
    "lexsort.keys": lambda d: d.one_of(
        f"[{d.array((4,), dtypes=REAL)}, {d.array((4,), dtypes=REAL)}]", d.array((2, 4), dtypes=REAL)
    ),
    "diag_indices.n": _int(0, 4),
    "tile.A": _main,
    "cross.a": lambda d: d.array((3,), (2, 3), (4, 3), (2,), (3, 4)),
    "cross.b": lambda d: d.array(d.main.shape, (3,), (2,)),
    "cross.axis": _one("-1", "0", "1"),
    "linalg.cross.x1": lambda d: d.array((3,), (2, 3), (4, 3)),
    "linalg.cross.x2": lambda d: d.array(d.main.shape, (3,)),
    "trapezoid.x": lambda d: d.beside(),
    "trapezoid.y": _main,
    "cov.y": lambda d: d.array(d.main.shape),
    "cov.m": lambda d: d.array((3, 4), (6,), (4, 4), (1, 4)),
    "cov.fweights": lambda d: d.array(values=d.rng.integers(1, 4, d.main.shape[-1:])),
    "cov.aweights": lambda d: d.array(values=d.rng.random(d.main.shape[-1:]) + 0.5),
    "corrcoef.x": lambda d: d.array((3, 4), (6,), (4, 4)),
    "corrcoef.y": lambda d: d.array(d.main.shape),
    "polyval.p": _vector,
    "polyval.x": lambda d: d.beside(),
    "polyfit.x": lambda d: d.array((6,), dtypes=("float64", "float32", "int64"), style="plain"),
    "polyfit.y": lambda d: d.array((6,), (6, 2), dtypes=("float64", "float32", "int64", "complex128")),
    "polyfit.deg": _one("0", "1", "2"),
    "polyfit.w": lambda d: d.array(values=d.rng.random(6) + 0.5),
    "convolve.a": _vector,
    "convolve.v": lambda d: d.array((4,), (1,), (3,), (8,), dtypes=(d.main.dtype,) if d.chance(0.5) else ()),
    "correlate.a": _vector,
    "correlate.v": lambda d: d.array((4,), (1,), (3,), (8,), dtypes=(d.main.dtype,) if d.chance(0.5) else ()),
    "copyto.src": lambda d: d.beside(),
    "copyto.dst": lambda d: d.array(),
    "put.v": _one("5", "[1, 2]", "2.5", "[]", "[1.5, 2, 3]"),
    "place.arr": lambda d: d.array(plain=True),
    "put.a": lambda d: d.array(plain=True),
    "place.vals": _one("[5]", "[1, 2]", "[2.5]", "[]", "7"),
    "putmask.values": _one("5", "[1, 2]", "2.5", "[1.5, 2, 3]"),
    "place.mask": lambda d: d.array(d.main.shape, dtypes=("bool", "bool", "int64")),
    "putmask.mask": lambda d: d.array(d.main.shape, dtypes=("bool", "bool", "int64")),
    "fill_diagonal.a": lambda d: d.array((4, 4), (3, 4), (3, 3, 3), (4, 3), (4,)),
    "fill_diagonal.val": _one("5", "[1, 2, 3]", "2.5", "nan", "[1, 2]"),
    "diag_indices_from.arr": lambda d: d.array((4, 4), (3, 4), (3, 3, 3), (4,)),
    "gradient.varargs": lambda d: d.one_of("", "", "2.0", "2", "0.5, 1"),
    "gradient.f": lambda d: d.array((4,), (6,), (3, 4), (4, 4), (2, 3, 4), (1,)),
    "iinfo.int_type": _one("np.int32", "'uint8'", "int", "np.int64", "5", "np.float32"),
    "finfo.dtype": _one("np.float32", "'float64'", "float", "np.float16", "np.complex64", "1.5", "np.int32"),
    "common_type.arrays": lambda d: ", ".join(d.array() for _ in range(d.integer(1, 3))),
    "ix_.args": _one("[0, 1], [2]", "[True, False], [1]", "np.asarray([1, 2])", "[]", "[[1]]", "[1.5]"),
    "issubdtype.arg2": _one(
        "np.floating", "np.integer", "np.number", "np.float64", "float", "np.complexfloating", "'i8'"
    ),
    "fix.x": lambda d: d.array(),
    "isfortran.a": lambda d: d.array(),
    "isscalar.element": lambda d: d.one_of("1", "'a'", "1j", "[1]", "None", d.array((3,))),
    "iterable.y": lambda d: d.one_of("1", "[1]", "'a'", d.array()),
    "size.axis": lambda d: d.axis(),
    "dot.b": lambda d: d.array((4, 3), (4,), (4, 4), (), (2, 4, 3)),
    "dot.a": lambda d: d.array((3, 4), (4,), (4, 4), (), (2, 3, 4)),
    "inner.b": lambda d: d.array((3, 4), (4,), (4, 4), ()),
    "inner.a": lambda d: d.array((3, 4), (4,), (4, 4), (), (2, 3, 4)),
    "vdot.b": lambda d: d.array(d.main.shape, (4,)),
    "kron.b": lambda d: d.array((2,), (2, 2), (), (3,)),
    "linspace.start": _number_or_array,
    "logspace.start": _one("0", "1", "-1", "0.5", "[0, 1]"),
    "logspace.stop": _one("2", "3.5", "-1", "[1, 2]"),
    "geomspace.start": _one("1", "0.5", "-2", "1j", "[1, 2]", "0"),
    "geomspace.stop": _one("100", "8.0", "-16", "[3, 4]"),
    "bartlett.M": _one("0", "1", "5", "8", "-1", "4.0"),
    "einsum.operands": _one("'i,i', [1, 2], [3, 4]"),
    "astype.x": lambda d: d.array(style="plain"),
    "ldexp.x2": lambda d: d.array(d.main.shape, (), dtypes=("int32", "int64", "int8")),
    "tri.k": _int(-2, 2),
    "trim_zeros.filt": lambda d: d.array((4,), (6,), (3, 4), style="ties"),
    "unstack.axis": lambda d: d.axis(none=False),
    "rollaxis.start": _one("0", "1", "2", "-1", "5"),
    "pad.mode": _one(
        *("'constant'", "'edge'", "'linear_ramp'", "'maximum'", "'mean'", "'median'", "'minimum'", "'reflect'"),
        *("'symmetric'", "'wrap'", "'no'"),
    ),
    **{f"{name}.M": _one("0", "1", "5", "8", "-1", "4.0") for name in ("blackman", "hamming", "hanning", "kaiser")},
    **{f"{name}_indices.{p}": _int(0, 4) for name in ("tril", "triu") for p in ("n", "m")},
    **{f"{name}_indices_from.arr": lambda d: d.array((3, 4), (4, 4), (0, 4), (4,)) for name in ("tril", "triu")},
    **{
        f"fft.{name}.{p}": _one("None", "2", "5", "4", "0")
        for name in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
        for p in ("n",)
    },
    **{
        f"fft.{name}.a": lambda d: d.array((4,), (6,), (3, 4), (2, 3, 4), (1,), (0, 4), dtypes=())
        for name in [
            "fft",
            "ifft",
            "rfft",
            "irfft",
            "hfft",
            "ihfft",
            "fft2",
            "ifft2",
            "rfft2",
            "irfft2",
            "fftn",
            "ifftn",
            "rfftn",
            "irfftn",
        ]
    },
    **{
        f"fft.{name}.axes": _one("None", "(0, 1)", "(-1,)", "(0,)", "(-2, -1)", "[1, 0]")
        for name in ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
    },
    **{f"fft.{name}.axes": _one("None", "0", "(0,)", "-1", "(0, 1)") for name in ("fftshift", "ifftshift")},
    **{f"fft.{name}.n": _one("5", "4", "1", "0") for name in ("fftfreq", "rfftfreq")},
    **{f"fft.{name}.d": _one("1.0", "0.5", "2") for name in ("fftfreq", "rfftfreq")},
    **{
        f"linalg.{name}.a": lambda d: d.array(*SQUARES, style="plain", plain=True)
        for name in ["cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet", "matrix_power"]
    },
    **{
        f"linalg.{name}": lambda d: d.array(*MATRICES, style="plain")
        for name in [
            "cond.x",
            "matrix_norm.x",
            "matrix_rank.A",
            "pinv.a",
            "qr.a",
            "svd.a",
            "svdvals.x",
            "diagonal.x",
            "trace.x",
            "matrix_transpose.x",
        ]
    },
    "linalg.solve.a": lambda d: d.array((3, 3), (2, 3, 3), style="plain"),
    "linalg.solve.b": lambda d: d.array((3,), (3, 2), (2, 3, 3), style="plain"),
    "linalg.lstsq.a": lambda d: d.array((4, 3), (3, 3), (3, 4), style="plain"),
    "linalg.lstsq.b": lambda d: d.array(d.main.shape[:1], (d.main.shape[0], 2), style="plain"),
    "linalg.matrix_power.n": _one("0", "1", "3", "-1", "-2", "2.0"),
    "linalg.multi_dot.arrays": lambda d: (
        f"[{d.array((3, 4), style='plain')}, {d.array((4, 2), style='plain')}, {d.array((2, 3), (2,), style='plain')}]"
    ),
    **{
        f"{name}.{p}": lambda d: None for name in ("matmul", "matvec", "vecmat", "vecdot") for p in ("axes", "keepdims")
    },
    **{f"{name}.axis": lambda d: None for name in ("matmul", "matvec", "vecmat")},
    "vecdot.axis": lambda d: d.axis(none=False),
    "linalg.tensorinv.a": lambda d: d.array((2, 3, 6), (6, 2, 3), (4, 4), style="plain"),
    "linalg.tensorinv.ind": _one("1", "2"),
    "linalg.tensorsolve.a": lambda d: d.array((2, 3, 6), (4, 4), style="plain"),
    "linalg.tensorsolve.b": lambda d: d.array(d.main.shape[:-1], style="plain"),
    "linalg.tensorsolve.axes": lambda d: None,
    "linalg.matmul.x1": lambda d: d.array((3, 4), (4, 4), (2, 3, 4)),
    "linalg.matmul.x2": lambda d: d.array((4, 3), (4, 4), (4,)),
    "linalg.cond.p": _one("None", "1", "2", "inf", "'fro'", "-2"),
    "linalg.matrix_norm.ord": _one("'fro'", "1", "2", "'nuc'", "inf", "-1"),
    "linalg.vector_norm.ord": _one("1", "2", "0", "3", "inf", "-inf", "0.5"),
    "linalg.pinv.rtol": _one("1e-3", "None"),
    "linalg.matrix_rank.rtol": _one("1e-3", "None"),
    "linalg.matrix_rank.tol": _one("None", "0.5"),
    **{f"random.{name}.size": _one("3", "(2, 3)", "()", "None", "0") for name in RANDOM},
    **{f"random.{name}.dtype": _one("np.float32", "np.float64") for name in RANDOM},
    **{f"{name}.q": _quantiles for name in ("quantile", "percentile", "nanquantile", "nanpercentile")},
    **{
        f"{name}.{p}": lambda d: d.array(d.main.shape, (4,), (), dtypes=(d.main.dtype,) if d.chance(0.5) else ())
        for name in ["array_equal", "array_equiv"]
        for p in ("a2",)
    },
    **{
        f"{name}.{p}": lambda d: d.array((4,), (3, 4), ())
        for name in ("matvec", "vecmat", "vecdot", "linalg.vecdot")
        for p in ("x1", "x2")
    },
    **{
        f"nan{name}.a": lambda d: d.array(
            dtypes=("float64", "float32", "complex128", "int64", "float16"), style=d.one_of("special", "plain")
        )
        for name in [
            "argmax",
            "argmin",
            "cumprod",
            "cumsum",
            "max",
            "mean",
            "median",
            "min",
            "percentile",
            "prod",
            "quantile",
            "std",
            "sum",
            "var",
        ]
    },
}
"""What generates an argument, by function and parameter, where the parameter's name is not enough."""
UFUNC_NAMES = {n for n in dir(numpy) if isinstance(getattr(numpy, n), numpy.ufunc)}


def argument(d: Draw, function: str, parameter: str) -> str | None:
    """The code of an argument; None to leave it out."""
    generator = FUNCTIONS.get(f"{function}.{parameter}") or PARAMETERS.get(parameter)
    if generator is None:
        raise LookupError(f"no generator for the parameter {parameter} of {function}")
    return generator(d)


def with_out(d: Draw, call: Call, function: Any) -> Call:
    """The call, sometimes with ``out=`` of the shape of the result, and for ufuncs with ``where=``."""
    if "out" not in inspect.signature(function).parameters or not d.chance(0.15):
        return call
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = evaluated(call, "numpy")[0]
    if isinstance(result, Exception) or not hasattr(result, "dtype"):
        return call
    dtype = d.one_of(result.dtype.name, result.dtype.name, result.dtype.name, "float64")
    name = "out"
    call.operands[name] = Operand(numpy.zeros(result.shape, dtype))
    d.operands = call.operands
    arguments = [*call.arguments, ("out", name)]
    if call.name in UFUNC_NAMES and "where" in inspect.signature(function).parameters and d.chance(0.4):
        arguments.append(("where", d.array(result.shape, dtypes=("bool",))))
    return type(call)(call.name, tuple(arguments), d.operands)
