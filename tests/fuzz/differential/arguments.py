"""The code of arguments for a few functions, by function and parameter; `parameters` has those for all functions."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy

from tests.fuzz.differential.draw import Call, Draw
from tests.fuzz.differential.outcomes import evaluated
from tests.fuzz.differential.parameters import (
    MATRICES,
    PARAMETERS,
    RANDOM,
    REAL,
    SQUARES,
    UFUNC_NAMES,
    Generator,
    along,
    integer,
    main_array,
    number_or_array,
    one_of,
    quantiles,
    same_size,
    sorted_vector,
    vector,
)
from tests.fuzz.differential.values import Operand

FUNCTIONS: dict[str, Generator] = {
    "insert.values": lambda d: d.number() if d.chance(0.6) else d.beside(),
    "insert.obj": lambda d: d.one_of(
        "0", "1", "[0, 2]", "slice(1, 3)", "-1", "np.asarray([True, False, True, False])", "9"
    ),
    "delete.obj": lambda d: d.one_of(
        "0", "1", "[0, 2]", "slice(1, 3)", "-1", "np.asarray([True, False, True, False])", "9"
    ),
    "reshape.shape": same_size,
    "full.fill_value": lambda d: d.one_of("0", "1.5", "nan", "2j", "True", "[1, 2, 3]", "np.asarray(2.0)", "300", "-1"),
    "expand_dims.axis": lambda d: d.axis(several=True, none=False),
    "squeeze.axis": lambda d: d.axis(several=True),
    "moveaxis.source": lambda d: d.one_of("0", "-1", "(0, 1)", "[1]", "9"),
    "moveaxis.destination": lambda d: d.one_of("0", "-1", "(1, 0)", "[0]", "(0, 0)"),
    "rot90.axes": one_of("(0, 1)", "(1, 0)", "(-1, 0)", "(0, 0)"),
    "tensordot.axes": one_of("0", "1", "2", "([0], [0])", "((-1,), (0,))", "[0, 0]", "-1"),
    "linalg.tensordot.axes": one_of("0", "1", "2", "([0], [0])", "((-1,), (0,))"),
    "matmul.x1": lambda d: d.array((3, 4), (4, 4), (4,), (2, 3, 4), (0, 4), ()),
    "matmul.x2": lambda d: d.array((4, 3), (4, 4), (4,), (2, 4, 3), (4, 0), (5,)),
    "take_along_axis.indices": along,
    "put_along_axis.indices": along,
    "searchsorted.a": sorted_vector,
    "digitize.x": lambda d: d.array(dtypes=REAL),
    "digitize.bins": sorted_vector,
    "interp.x": lambda d: d.array(dtypes=REAL),
    "interp.xp": sorted_vector,
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
    "unravel_index.shape": one_of("(3, 4)", "(2, 2, 3)", "12", "(6,)", "[3, 4]"),
    "ravel_multi_index.multi_index": lambda d: d.one_of(
        "(1, 2)", "([0, 2], [1, 3])", d.array(values=d.rng.integers(0, 3, (2, 4))), "(2, 9)"
    ),
    "ravel_multi_index.dims": one_of("(3, 4)", "(4, 4)", "[3, 4]"),
    "vander.x": vector,
    "choose.a": lambda d: d.array(values=d.rng.integers(-1, 3, d.one_of((4,), (3, 4), ()))),
    "choose.choices": lambda d: f"[{d.beside()}, {d.beside()}, {d.beside()}]",
    "compress.condition": one_of(
        "[True, False, True]", "[0, 1]", "[True]", "[]", "np.asarray([True, False, True, True])"
    ),
    "extract.condition": lambda d: d.array((4,), (3, 4), dtypes=("bool",)),
    "extract.arr": lambda d: d.array(d.main.shape),
    "broadcast_shapes.args": one_of("(3, 1), (1, 4)", "(2,), 3", "(), (5,)", "3, (3, 1)", "(2, 3), (4,)", ""),
    "lexsort.keys": lambda d: d.one_of(
        f"[{d.array((4,), dtypes=REAL)}, {d.array((4,), dtypes=REAL)}]", d.array((2, 4), dtypes=REAL)
    ),
    "diag_indices.n": integer(0, 4),
    "tile.A": main_array,
    "cross.a": lambda d: d.array((3,), (2, 3), (4, 3), (2,), (3, 4)),
    "cross.b": lambda d: d.array(d.main.shape, (3,), (2,)),
    "cross.axis": one_of("-1", "0", "1"),
    "linalg.cross.x1": lambda d: d.array((3,), (2, 3), (4, 3)),
    "linalg.cross.x2": lambda d: d.array(d.main.shape, (3,)),
    "trapezoid.x": lambda d: d.beside(),
    "trapezoid.y": main_array,
    "cov.y": lambda d: d.array(d.main.shape),
    "cov.m": lambda d: d.array((3, 4), (6,), (4, 4), (1, 4)),
    "cov.fweights": lambda d: d.array(values=d.rng.integers(1, 4, d.main.shape[-1:])),
    "cov.aweights": lambda d: d.array(values=d.rng.random(d.main.shape[-1:]) + 0.5),
    "corrcoef.x": lambda d: d.array((3, 4), (6,), (4, 4)),
    "corrcoef.y": lambda d: d.array(d.main.shape),
    "polyval.p": vector,
    "polyval.x": lambda d: d.beside(),
    "polyfit.x": lambda d: d.array((6,), dtypes=("float64", "float32", "int64"), style="plain"),
    "polyfit.y": lambda d: d.array((6,), (6, 2), dtypes=("float64", "float32", "int64", "complex128")),
    "polyfit.deg": one_of("0", "1", "2"),
    "polyfit.w": lambda d: d.array(values=d.rng.random(6) + 0.5),
    "convolve.a": vector,
    "convolve.v": lambda d: d.array((4,), (1,), (3,), (8,), dtypes=(d.main.dtype,) if d.chance(0.5) else ()),
    "correlate.a": vector,
    "correlate.v": lambda d: d.array((4,), (1,), (3,), (8,), dtypes=(d.main.dtype,) if d.chance(0.5) else ()),
    "copyto.src": lambda d: d.beside(),
    "copyto.dst": lambda d: d.array(),
    "put.v": one_of("5", "[1, 2]", "2.5", "[]", "[1.5, 2, 3]"),
    "place.arr": lambda d: d.array(plain=True),
    "put.a": lambda d: d.array(plain=True),
    "place.vals": one_of("[5]", "[1, 2]", "[2.5]", "[]", "7"),
    "putmask.values": one_of("5", "[1, 2]", "2.5", "[1.5, 2, 3]"),
    "place.mask": lambda d: d.array(d.main.shape, dtypes=("bool", "bool", "int64")),
    "putmask.mask": lambda d: d.array(d.main.shape, dtypes=("bool", "bool", "int64")),
    "fill_diagonal.a": lambda d: d.array((4, 4), (3, 4), (3, 3, 3), (4, 3), (4,)),
    "fill_diagonal.val": one_of("5", "[1, 2, 3]", "2.5", "nan", "[1, 2]"),
    "diag_indices_from.arr": lambda d: d.array((4, 4), (3, 4), (3, 3, 3), (4,)),
    "gradient.varargs": lambda d: d.one_of("", "", "2.0", "2", "0.5, 1"),
    "gradient.f": lambda d: d.array((4,), (6,), (3, 4), (4, 4), (2, 3, 4), (1,)),
    "iinfo.int_type": one_of("np.int32", "'uint8'", "int", "np.int64", "5", "np.float32"),
    "finfo.dtype": one_of("np.float32", "'float64'", "float", "np.float16", "np.complex64", "1.5", "np.int32"),
    "common_type.arrays": lambda d: ", ".join(d.array() for _ in range(d.integer(1, 3))),
    "ix_.args": one_of("[0, 1], [2]", "[True, False], [1]", "np.asarray([1, 2])", "[]", "[[1]]", "[1.5]"),
    "issubdtype.arg2": one_of(
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
    "linspace.start": number_or_array,
    "logspace.start": one_of("0", "1", "-1", "0.5", "[0, 1]"),
    "logspace.stop": one_of("2", "3.5", "-1", "[1, 2]"),
    "geomspace.start": one_of("1", "0.5", "-2", "1j", "[1, 2]", "0"),
    "geomspace.stop": one_of("100", "8.0", "-16", "[3, 4]"),
    "bartlett.M": one_of("0", "1", "5", "8", "-1", "4.0"),
    "einsum.operands": one_of("'i,i', [1, 2], [3, 4]"),
    "astype.x": lambda d: d.array(style="plain"),
    "ldexp.x2": lambda d: d.array(d.main.shape, (), dtypes=("int32", "int64", "int8")),
    "tri.k": integer(-2, 2),
    "trim_zeros.filt": lambda d: d.array((4,), (6,), (3, 4), style="ties"),
    "unstack.axis": lambda d: d.axis(none=False),
    "rollaxis.start": one_of("0", "1", "2", "-1", "5"),
    "pad.mode": one_of(
        *("'constant'", "'edge'", "'linear_ramp'", "'maximum'", "'mean'", "'median'", "'minimum'", "'reflect'"),
        *("'symmetric'", "'wrap'", "'no'"),
    ),
    **{f"{name}.M": one_of("0", "1", "5", "8", "-1", "4.0") for name in ("blackman", "hamming", "hanning", "kaiser")},
    **{f"{name}indices_of.{p}": integer(0, 4) for name in ("tril", "triu") for p in ("n", "m")},
    **{f"{name}_indices_from.arr": lambda d: d.array((3, 4), (4, 4), (0, 4), (4,)) for name in ("tril", "triu")},
    **{
        f"fft.{name}.{p}": one_of("None", "2", "5", "4", "0")
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
        f"fft.{name}.axes": one_of("None", "(0, 1)", "(-1,)", "(0,)", "(-2, -1)", "[1, 0]")
        for name in ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
    },
    **{f"fft.{name}.axes": one_of("None", "0", "(0,)", "-1", "(0, 1)") for name in ("fftshift", "ifftshift")},
    **{f"fft.{name}.n": one_of("5", "4", "1", "0") for name in ("fftfreq", "rfftfreq")},
    **{f"fft.{name}.d": one_of("1.0", "0.5", "2") for name in ("fftfreq", "rfftfreq")},
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
    "linalg.matrix_power.n": one_of("0", "1", "3", "-1", "-2", "2.0"),
    "linalg.multi_dot.arrays": lambda d: (
        f"[{d.array((3, 4), style='plain')}, {d.array((4, 2), style='plain')}, {d.array((2, 3), (2,), style='plain')}]"
    ),
    **{
        f"{name}.{p}": lambda d: None for name in ("matmul", "matvec", "vecmat", "vecdot") for p in ("axes", "keepdims")
    },
    **{f"{name}.axis": lambda d: None for name in ("matmul", "matvec", "vecmat")},
    "vecdot.axis": lambda d: d.axis(none=False),
    "linalg.tensorinv.a": lambda d: d.array((2, 3, 6), (6, 2, 3), (4, 4), style="plain"),
    "linalg.tensorinv.ind": one_of("1", "2"),
    "linalg.tensorsolve.a": lambda d: d.array((2, 3, 6), (4, 4), style="plain"),
    "linalg.tensorsolve.b": lambda d: d.array(d.main.shape[:-1], style="plain"),
    "linalg.tensorsolve.axes": lambda d: None,
    "linalg.matmul.x1": lambda d: d.array((3, 4), (4, 4), (2, 3, 4)),
    "linalg.matmul.x2": lambda d: d.array((4, 3), (4, 4), (4,)),
    "linalg.cond.p": one_of("None", "1", "2", "inf", "'fro'", "-2"),
    "linalg.matrix_norm.ord": one_of("'fro'", "1", "2", "'nuc'", "inf", "-1"),
    "linalg.vector_norm.ord": one_of("1", "2", "0", "3", "inf", "-inf", "0.5"),
    "linalg.pinv.rtol": one_of("1e-3", "None"),
    "linalg.matrix_rank.rtol": one_of("1e-3", "None"),
    "linalg.matrix_rank.tol": one_of("None", "0.5"),
    **{f"random.{name}.size": one_of("3", "(2, 3)", "()", "None", "0") for name in RANDOM},
    **{f"random.{name}.dtype": one_of("np.float32", "np.float64") for name in RANDOM},
    **{f"{name}.q": quantiles for name in ("quantile", "percentile", "nanquantile", "nanpercentile")},
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
