"""The code of arguments, by the name of the parameter."""

from __future__ import annotations

from collections.abc import Callable

import numpy

from tests.fuzz.differential.draw import REDUCTIONS, Draw
from tests.fuzz.differential.values import INTEGERS, REALS, Operand

Generator = Callable[["Draw"], "str | None"]
RANDOM = ("random", "uniform", "beta", "normal", "standard_normal", "lognormal", "exponential", "standard_exponential")
RANDOM += ("integers", "choice", "permutation", "permuted")
"""The methods of random generators: their numbers differ, so shape, dtype and range are compared."""
DTYPE_CODES = ("np.float32", "np.float64", "'float32'", "'int64'", "np.int32", "np.complex128", "bool", "float", "int")
DTYPE_CODES += ("'f4'", "np.uint8", "None", "np.float16", "complex", "'i2'", "np.dtype('float64')")
REAL = (*REALS, *INTEGERS)
UFUNC_NAMES = {n for n in dir(numpy) if isinstance(getattr(numpy, n), numpy.ufunc)}
SQUARES: tuple[tuple[int, ...], ...] = ((3, 3), (3, 3), (2, 3, 3), (1, 1), (0, 0), (3, 4), (4,))
MATRICES: tuple[tuple[int, ...], ...] = ((3, 4), (4, 3), (3, 3), (2, 3, 4), (1, 1), (4,), (0, 3))


def main_array(d: Draw) -> str:
    if d.chance(0.07):
        return d.one_of("[1, 2, 3]", "[[1.5, 2], [3, 4]]", "2", "1.5", "[True, False]", "[]", "1j", "(1, 2.5)")
    if d.name in REDUCTIONS and d.style == "extreme" and "max" not in d.name and "min" not in d.name:
        d.style = "plain"
    return d.array()


def one_of(*options: str) -> Generator:
    return lambda d: d.one_of(*options)


def integer(low: int, high: int) -> Generator:
    return lambda d: str(d.integer(low, high))


def _axis(d: Draw) -> str:
    return d.axis(several=d.name in REDUCTIONS or d.name.endswith(".reduce"))


def _shape(d: Draw) -> str:
    return d.one_of("3", "(2, 3)", "(0,)", "()", "[2, 2]", "(1, 3)", "-1", "(2, -1)", "np.asarray(3)")


def same_size(d: Draw) -> str:
    """A shape for reshape: mostly of the size of the operand."""
    size = int(numpy.prod(d.main.shape))
    return d.one_of("-1", "(-1,)", f"({size},)", "(2, -1)", f"({size}, 1)", "(-1, 2)", "(4, 3)", "()", f"[1, {size}]")


def _sections(d: Draw) -> str:
    return d.one_of("1", "2", "3", "[1]", "[1, 3]", "(2,)", "[0, 2, 5]", "4", "[-1]", "np.asarray([1, 2])")


def indices_of(d: Draw) -> str:
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


def along(d: Draw) -> str:
    shape = d.main.shape or (1,)
    extent = min([n for n in shape if n] or [1])
    return d.array(values=d.rng.integers(0, extent, d.one_of(shape, shape, (1,) * len(shape), (2,))))


def _permutation(d: Draw) -> str:
    ndim = len(d.main.shape)
    return d.one_of("None", str(tuple(d.rng.permutation(ndim).tolist())), str(list(range(ndim))[::-1]), "(0, 0)", "-1")


def quantiles(d: Draw) -> str:
    if "percentile" in d.name:
        return d.one_of("50", "25.5", "[0, 50, 100]", "[[10, 20], [30, 40]]", "np.asarray([5.0, 95.0])", "101", "100")
    return d.one_of("0.5", "0.25", "[0, 0.5, 1]", "[[0.1, 0.2], [0.3, 0.4]]", "np.asarray([0.05, 0.95])", "1.5", "1")


def sorted_vector(d: Draw) -> str:
    name = d.array(
        (4,), (6,), (1,), dtypes=REAL, style=d.style if d.style in ("plain", "ties") else "plain", plain=True
    )
    d.operands[name] = Operand(numpy.sort(d.operands[name].base))
    return name


def vector(d: Draw) -> str:
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


def number_or_array(d: Draw) -> str:
    return d.number() if d.chance(0.5) else d.beside()


def _bins(d: Draw) -> str:
    if d.name == "digitize":
        return sorted_vector(d)
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
        main_array,
    ),
    **dict.fromkeys(
        ["x2", "b", "test_elements", "values", "a2", "ar2", "B", "fill_value", "start"], lambda d: d.beside()
    ),
    **dict.fromkeys(["a_min", "a_max", "min", "max", "to_end", "to_begin", "prepend", "append"], number_or_array),
    **dict.fromkeys(
        ("keepdims", "copy", "sparse", "rowvar", "bias", "returned", "endpoint", "equal_nan"), one_of("True", "False")
    ),
    **dict.fromkeys(
        ("return_index", "return_inverse", "return_counts", "return_indices", "right"), one_of("True", "False")
    ),
    **dict.fromkeys(("increasing", "deg", "invert", "density", "include_initial"), one_of("True", "False")),
    "overwrite_input": lambda d: d.one_of("True", "False") if d.main.layout != "read-only" else "False",
    **dict.fromkeys(
        ("upper", "hermitian", "full_matrices", "compute_uv", "retstep", "wrap", "sorted"), one_of("True", "False")
    ),
    **dict.fromkeys(
        ("subok", "assume_unique", "like", "device", "signature", "max_work", "optimize", "out"), lambda d: None
    ),
    **dict.fromkeys(("dtype", "type", "int_type", "arg1", "arg2", "type1", "type2", "to"), one_of(*DTYPE_CODES)),
    **dict.fromkeys(("offset", "k"), integer(-3, 3)),
    **dict.fromkeys(("ddof", "correction"), _ddof),
    **dict.fromkeys(
        ("axis1", "axis2", "axisa", "axisb", "axisc", "source", "destination"), lambda d: d.axis(none=False)
    ),
    **dict.fromkeys(("arrays", "tup"), _sequence),
    **dict.fromkeys(("arys", "xi", "args", "arrays_and_dtypes"), _arrays),
    **dict.fromkeys(("indices", "ind"), indices_of),
    **dict.fromkeys(("newshape", "shape", "size", "new_shape", "dims", "dimensions"), _shape),
    **dict.fromkeys(("N", "M", "n"), integer(0, 5)),
    **dict.fromkeys(("weights", "fweights", "aweights", "w"), _weights),
    "axis": _axis,
    "axes": _permutation,
    "where": _where,
    "initial": one_of("0", "1", "-5", "2.5", "nan", "100"),
    "casting": one_of("'same_kind'", "'unsafe'", "'safe'", "'no'", "'equiv'"),
    "order": _order,
    "kind": _kind,
    "stable": one_of("True", "False", "None"),
    "mode": _mode,
    "mean": _mean,
    "decimals": one_of("0", "1", "2", "-1", "-2", "np.asarray(1)"),
    "indices_or_sections": _sections,
    "pad_width": _padding,
    "method": one_of(
        *("'linear'", "'lower'", "'higher'", "'nearest'", "'midpoint'", "'inverted_cdf'", "'hazen'", "'weibull'"),
        *("'averaged_inverted_cdf'", "'closest_observation'", "'interpolated_inverted_cdf'", "'median_unbiased'"),
        *("'normal_unbiased'", "'no'"),
    ),
    "stop": number_or_array,
    "num": one_of("0", "1", "5", "4", "np.asarray(3)", "-1", "2.0"),
    "step": one_of("1", "2", "0.5", "-1", "0", "3"),
    "base": one_of("10.0", "2", "2.5"),
    "minlength": one_of("0", "3", "12", "-1"),
    "rtol": one_of("1e-5", "0.1", "0"),
    "atol": one_of("1e-8", "0.5", "0"),
    "tol": one_of("100", "1", "1e-3", "None"),
    "nan": one_of("0.0", "-1", "7.5"),
    "posinf": one_of("None", "100", "1.5"),
    "neginf": one_of("None", "-100", "-1.5"),
    "trim": one_of("'f'", "'b'", "'fb'", "'FB'", "'x'"),
    "side": one_of("'left'", "'right'", "'no'"),
    "edge_order": one_of("1", "2"),
    "period": _period,
    "discont": one_of("None", "1.0", "4.0"),
    "left": one_of("-7.0", "None"),
    "dx": one_of("1.0", "2", "0.5"),
    "rcond": one_of("None", "1e-3"),
    "ndim": integer(1, 3),
    "ndmin": integer(0, 3),
    "ndmax": integer(0, 3),
    "norm": one_of("None", "'ortho'", "'forward'", "'backward'", "'no'"),
    "s": one_of("None", "(2, 3)", "(4, 4)", "(3,)", "[2, 2]"),
    "ord": one_of("None", "1", "2", "inf", "-inf", "'fro'", "'nuc'", "-1", "0", "3"),
    "kth": one_of("0", "1", "-1", "[0, 1]", "2", "9"),
    "repeats": one_of("2", "0", "[1, 2, 0, 1]", "np.asarray([2, 1, 0, 3])", "-1", "[3]", "1", "np.asarray(2)"),
    "reps": one_of("2", "(2, 1)", "()", "(1, 2, 2)", "0", "[2]", "np.asarray(2)"),
    "shift": one_of("1", "-2", "(1, 2)", "[1]", "np.asarray(1)", "7", "0", "(1, -1)"),
    "mask": lambda d: d.mask(),
    "from_": _any_dtype,
    "requirements": one_of("'C'", "'F'", "['C', 'W']", "None", "'X'", "['F', 'O']"),
    "beta": one_of("0", "5.0", "14"),
    "indexing": one_of("'xy'", "'ij'", "'no'"),
    "range": one_of("(-1, 2)", "(0, 5)", "None", "(2, 2)", "(3, 1)"),
    "sorter": lambda d: None,
    "indices_or_shape": _shape,
    "ind_": integer(0, 3),
    "count": one_of("-1", "2"),
    "bins": _bins,
    "UPLO": one_of("'L'", "'U'"),
    "start_or_stop": one_of("5", "0", "2.5", "-1", "3", "np.asarray(4)"),
    "real": number_or_array,
    "value": lambda d: d.number() if d.chance(0.5) else d.array(),
    "imag": lambda d: None,
    "casting_": one_of("'unsafe'"),
    "full": lambda d: None,
    "cov": lambda d: None,
}
"""What generates the argument of a parameter, by its name."""
