# Long: one table of operands and verbs.
"""Valid operands of the sparse verbs, and one row for each way to call a verb."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.testing._suite.samples import ALL, sample
from xarrayops.testing._suite.sparse import oracle
from xarrayops.testing._suite.sparse.oracle import Entries, Host

SHAPE = (4, 6)


def distinct(dtype: str = "float32", shape: tuple[int, ...] = SHAPE, count: int = 9, *, seed: int = 0) -> Entries:
    """At most ``count`` sorted entries, without duplicates."""
    size = int(np.prod(shape))
    flat = np.sort(np.random.default_rng((seed, *shape)).permutation(size)[:count])
    return Entries(shape, np.asarray(np.unravel_index(flat, shape)), values(dtype, len(flat), seed=seed))


def scattered(dtype: str = "float32", shape: tuple[int, ...] = SHAPE, count: int = 20, *, seed: int = 0) -> Entries:
    """``count`` entries at random positions: not sorted, with duplicates."""
    random = np.random.default_rng((seed, *shape))
    coords = np.asarray([random.integers(extent, size=count) for extent in shape])
    return Entries(shape, coords, values(dtype, count, seed=seed))


def values(dtype: str, count: int, *, seed: int = 0) -> Host:
    """Small nonzero values, so that sums of products do not overflow."""
    drawn = sample(dtype, (count,), low=-2, high=2, seed=seed)
    return np.where(drawn == 0, np.ones((), dtype), drawn)


def with_data(data: list[float]) -> Entries:
    """Sorted entries with these values in float64, without duplicates."""
    return distinct("float64", count=len(data))._replace(data=np.asarray(data))


GENERAL = scattered()
OPERANDS: dict[str, Entries] = {
    "general": GENERAL,
    "0 x 0": distinct(shape=(0, 0)),
    "0 x n": distinct(shape=(0, 6)),
    "m x 0": distinct(shape=(4, 0)),
    "1 x 1": distinct(shape=(1, 1)),
    "1 x 1 without entries": distinct(shape=(1, 1), count=0),
    "one row": distinct(shape=(1, 6), count=3),
    "one column": distinct(shape=(4, 1), count=2),
    "all stored": distinct(count=24),
    "no entries": distinct(count=0),
    "empty rows": GENERAL._replace(coords=np.asarray([np.full(20, 2), GENERAL.coords[1]])),
    "empty columns": GENERAL._replace(coords=np.asarray([GENERAL.coords[0], np.full(20, 1)])),
    "sorted": distinct(),
    "not sorted": Entries(SHAPE, distinct().coords[:, ::-1], distinct().data),
    "stored zeros": with_data([0.0, 1.0, -0.0, 2.0, 0.0]),
    "duplicates that cancel": Entries(SHAPE, np.asarray([[1, 1, 3], [2, 2, 0]]), np.asarray([1.5, -1.5, 2.0])),
    "nan and inf": with_data([np.nan, np.inf, 1.0, -np.inf, 2.0, np.nan]),
    **{dtype: scattered(dtype) for dtype in ALL},
}
"""Valid operands, of dtype float32 unless the name says otherwise."""
HUGE = {
    "many rows and columns": Entries(
        (100_000, 100_000), np.asarray([[99_999, 0, 7, 7], [99_999, 3, 99_998, 5]]), np.ones(4)
    ),
    "beyond int32": Entries((3, 2**31 + 5), np.asarray([[2, 0, 2], [2**31 + 4, 2**31 - 1, 0]]), np.ones(3)),
}
"""Matrices of more than 2**31 elements; the second has an extent above the range of int32."""


def _shape_of_first_matrix(*operands: Any) -> tuple[int, ...]:
    return next(x.shape for x in operands if isinstance(x, Entries))


@dataclass(frozen=True)
class SparseRow:
    """One way to call a verb.

    Attributes
    ----------
    verb, label : str
        The verb as users write it, and a label if the verb has several rows.
    function : callable
        The function to call.
    oracle : callable
        Takes the same operands, as `Entries` and NumPy arrays; returns the expected `ValueAt` or dense array.
    operands : callable
        Takes one of `OPERANDS`; returns all operands of the call, or None if the row does not use it.
    result_format : callable, optional
        Takes the formats of the sparse operands, and those that the library supports; returns the result's format.
    exact : bool
        Whether the result must store an entry at each expected position, even if its value is zero.
    shape : callable, optional
        Takes the operands; returns the shape of the result. Default: that of the first matrix.
    dense : callable, optional
        The same function of dense arrays, which have one item here; the result must have its dtype. Default: the
        promoted dtype of the operands.
    """

    verb: str
    label: str
    function: Callable[..., Any]
    oracle: Callable[..., Any]
    operands: Callable[[Entries], tuple[Any, ...] | None]
    result_format: Callable[[list[str], tuple[str, ...]], str] = lambda given, formats: given[0]
    exact: bool = False
    shape: Callable[..., tuple[int, ...]] = _shape_of_first_matrix
    dense: Callable[..., Any] | None = None

    def __str__(self) -> str:
        return f"{self.verb} {self.label}".strip()


def _one_matrix(e: Entries) -> tuple[Entries]:
    return (e,)


def _two_matrices(e: Entries) -> tuple[Entries, Entries]:
    """The matrix, and another of the same shape and dtype."""
    return e, distinct(e.data.dtype.name, e.shape, seed=1)


def _dense(shape: Callable[[int, int], tuple[int, ...]], *, first: bool = False) -> Callable[[Entries], Any]:
    """The matrix and a dense array, whose shape is a function of the matrix's; the array is second unless ``first``."""

    def operands(e: Entries) -> tuple[Any, Any]:
        dense = sample(e.data.dtype.name, shape(*e.shape), low=-2, high=2)
        return (dense, e) if first else (e, dense)

    return operands


def _matrix_and_number(e: Entries) -> tuple[Any, ...] | None:
    kind = e.data.dtype.kind
    return None if kind == "b" else (e, 3 if kind in "iu" else 2.5)


def _product_operands(e: Entries) -> tuple[Entries, Entries]:
    return e, scattered(e.data.dtype.name, (e.shape[1], 4), 9 if e.shape[1] else 0, seed=1)


def _sddmm_operands(e: Entries) -> tuple[Any, ...]:
    dtype = e.data.dtype.name if e.data.dtype.kind in "fc" else "float32"
    return sample(dtype, (e.shape[0], 3)), sample(dtype, (3, e.shape[1]), seed=1), e


def _transposed_format(given: list[str], formats: tuple[str, ...]) -> str:
    other = {"csr": "csc", "csc": "csr"}.get(given[0], given[0])
    return other if other in formats else given[0]


def _without_blocks(given: list[str], formats: tuple[str, ...]) -> str:
    return "csr" if given[0] == "bsr" else given[0]


_row = SparseRow
_sparse = xo.sparse


def _of_kinds(operands: Callable[[Entries], Any], kinds: str) -> Callable[[Entries], Any]:
    """The operands, or None for dtypes of other kinds."""
    return lambda e: operands(e) if e.data.dtype.kind in kinds else None


def _elementwise(name: str, function: Callable[[Host], Host], kinds: str = "iufc") -> SparseRow:
    of_sparse, of_dense = getattr(_sparse, name), getattr(xo, name)
    operands = _of_kinds(_one_matrix, kinds)
    return _row(f"sparse.{name}", "", of_sparse, partial(oracle.mapped, function), operands, dense=of_dense)


def _power(exponent: float) -> SparseRow:
    raised = partial(oracle.mapped, lambda x: np.power(x, exponent))
    function, dense = lambda s: _sparse.power(s, exponent), lambda x: xo.pow(x, exponent)
    return _row("sparse.power", str(exponent), function, raised, _of_kinds(_one_matrix, "iufc"), dense=dense)


def _zero_or_more(s: Any) -> Any:
    return _sparse.maximum(s, 0)


def _quotient(x: Any, b: Any = 2.0) -> Any:
    return xo.divide(x, b)


def _greatest(place: int, s: Any) -> Any:
    """The values or the indices of up to 3 elements of each row."""
    return _sparse.topk(s, min(3, s.shape[1]))[place]


def _expected(place: int, e: Entries) -> Host:
    return oracle.greatest(e, 3)[place]


def _concat(*containers: Any, axis: int) -> Any:
    return _sparse.concat(containers, axis=axis)


def _factors(e: Entries) -> tuple[Any, ...]:
    dtype = e.data.dtype.name
    return e, *(sample(dtype, (extent,), low=-2, high=2, seed=k) for k, extent in enumerate(e.shape))


def _selection(e: Entries, *, axis: int, mask: bool) -> tuple[Entries, Host]:
    """The matrix, and a mask or indices, some of them repeated and negative."""
    extent = e.shape[axis]
    random = np.random.default_rng(extent)
    return e, random.random(extent) < 0.5 if mask else random.integers(-extent, max(extent, 1), 5 if extent else 0)


def _selected_shape(e: Entries, indices: Host, *, axis: int) -> tuple[int, ...]:
    count = int(indices.sum()) if indices.dtype == bool else len(indices)
    return (count, e.shape[1]) if axis == 0 else (e.shape[0], count)


def _neighbours(e: Entries, *, axis: int) -> tuple[Entries, Entries]:
    """The matrix, and another that can be concatenated with it along an axis."""
    shape = (3, e.shape[1]) if axis == 0 else (e.shape[0], 3)
    return e, scattered(e.data.dtype.name, shape, 5 if all(shape) else 0, seed=1)


def _joined_shape(a: Entries, b: Entries, *, axis: int) -> tuple[int, ...]:
    return (a.shape[0] + b.shape[0], a.shape[1]) if axis == 0 else (a.shape[0], a.shape[1] + b.shape[1])


def _reductions(name: str, axes: tuple[int | None, ...], found: Any, dense: Any) -> list[SparseRow]:
    verb, function = f"sparse.{name}", getattr(_sparse, name)
    return [
        _row(verb, f"axis {axis}", partial(function, axis=axis), partial(found, axis=axis), _one_matrix, dense=dense)
        for axis in axes
    ]


def _along(name: str, label: str, axis: int, *functions: Any, dense: Any = None) -> SparseRow:
    """A row whose function, oracle, operands and shape depend on an axis."""
    function, found, operands, shape = (partial(each, axis=axis) for each in functions)
    return _row(f"sparse.{name}", label, function, found, operands, _without_blocks, shape=shape, dense=dense)


ROWS = [
    _row("sparse.to_dense", "", _sparse.to_dense, Entries.dense, _one_matrix),
    _row(
        *("sparse.transpose", "", _sparse.transpose, oracle.transposed, _one_matrix, _transposed_format),
        exact=True,
        shape=lambda e: e.shape[::-1],
    ),
    *_reductions("sum", (None, 0, 1, -1), oracle.total, xo.sum),
    *_reductions("mean", (None, 0, 1), oracle.mean, xo.mean),
    _row("sparse.subtract", "", _sparse.subtract, oracle.subtracted, _of_kinds(_two_matrices, "ifc")),
    *(
        _row("sparse.divide", label, _sparse.divide, oracle.divided, operands, dense=_quotient)
        for label, operands in (
            ("by a number", _matrix_and_number),
            ("by dense", _dense(lambda m, n: (m, n))),
            ("by a row", _dense(lambda m, n: (n,))),
            ("by a column", _dense(lambda m, n: (m, 1))),
        )
    ),
    _row(
        *("sparse.astype", "", lambda s: _sparse.astype(s, "float32"), partial(oracle.mapped, lambda x: x * 1.0)),
        _of_kinds(_one_matrix, "biuf"),
        dense=lambda x: xo.astype(x, xo.float32),
    ),
    *(
        _row("sparse.topk", label, partial(_greatest, place), partial(_expected, place), operands, dense=dense)
        for place, label, operands, dense in (
            (0, "values", _of_kinds(_one_matrix, "biuf"), lambda x: x),
            (1, "indices", _of_kinds(_one_matrix, "biuf"), lambda x: xo.argmax(xo.astype(x, xo.float32))),
        )
    ),
    _row("sparse.add", "", _sparse.add, oracle.added, _two_matrices),
    _row("sparse.add", "to itself", _sparse.add, oracle.added, lambda e: (e, e)),
    _row("sparse.multiply", "by sparse", _sparse.multiply, oracle.multiplied, _two_matrices),
    _row("sparse.multiply", "by dense", _sparse.multiply, oracle.scaled, _dense(lambda m, n: (m, n))),
    _row("sparse.multiply", "by a row", _sparse.multiply, oracle.scaled, _dense(lambda m, n: (n,))),
    _row("sparse.multiply", "by a column", _sparse.multiply, oracle.scaled, _dense(lambda m, n: (m, 1))),
    _row("sparse.multiply", "by a 0-d array", _sparse.multiply, oracle.scaled, _dense(lambda m, n: ())),
    _row(
        *("sparse.multiply", "dense by sparse", _sparse.multiply, lambda b, e: oracle.scaled(e, b)),
        _dense(lambda m, n: (1, n), first=True),
    ),
    _row("sparse.multiply", "by a number", _sparse.multiply, oracle.scaled, _matrix_and_number),
    _row("matmul", "by a vector", xo.matmul, oracle.times_dense, _dense(lambda m, n: (n,))),
    _row("matmul", "by dense", xo.matmul, oracle.times_dense, _dense(lambda m, n: (n, 3))),
    _row("matmul", "by dense without columns", xo.matmul, oracle.times_dense, _dense(lambda m, n: (n, 0))),
    _row("matmul", "a vector by sparse", xo.matmul, oracle.dense_times, _dense(lambda m, n: (m,), first=True)),
    _row("matmul", "dense by sparse", xo.matmul, oracle.dense_times, _dense(lambda m, n: (3, m), first=True)),
    _row(
        *("matmul", "by sparse", xo.matmul, oracle.product, _product_operands, _without_blocks),
        shape=lambda a, b: (a.shape[0], b.shape[1]),
    ),
    _row(
        *("sparse.sddmm", "", _sparse.sddmm, oracle.sampled, _sddmm_operands), exact=True, dense=lambda a, b, pattern: a
    ),
    *(_elementwise(name, getattr(np, name)) for name in ("abs", "sign", "square")),
    *(_elementwise(name, getattr(np, name), "biufc") for name in ("sqrt", "expm1", "log1p", "sin", "tan", "tanh")),
    _elementwise("negative", np.negative, "ifc"),
    *(_power(exponent) for exponent in (2, 1.5)),
    _row(
        *("sparse.maximum", "with 0", _zero_or_more, partial(oracle.mapped, lambda x: np.maximum(x, 0))),
        _of_kinds(_one_matrix, "iuf"),
    ),
    _row("sparse.maximum", "", _sparse.maximum, oracle.larger, _of_kinds(_two_matrices, "iuf")),
    _row("sparse.scale", "", _sparse.scale, oracle.with_factors, _factors),
    *(
        _along(
            *("take", f"{what}, axis {axis}", axis, _sparse.take, oracle.selected),
            *(partial(_selection, mask=what == "mask"), _selected_shape),
            dense=lambda s, indices: s,
        )
        for what in ("indices", "mask")
        for axis in (0, 1)
    ),
    *(_along("concat", f"axis {axis}", axis, _concat, oracle.joined, _neighbours, _joined_shape) for axis in (0, 1)),
    *_reductions("count", (None, 0, 1), oracle.nonzeros, lambda x: xo.sum(x != 0)),
    *_reductions("norm", (None, 0, 1), oracle.euclidean, xo.linalg.vector_norm),
    _row("sparse.diagonal", "", _sparse.diagonal, oracle.diagonal, _one_matrix, dense=lambda x: x),
]
"""The ways to call each verb with sparse operands."""

WHERES: dict[str, tuple[Any, Callable[[Host], Host]]] = {
    "nonzero": (None, lambda x: x != 0),
    "relu": ("relu", lambda x: x > 0),
    "0": (0, lambda x: np.abs(x) > 0),
    "1.5": (1.5, lambda x: np.abs(x) > 1.5),
    "negative": (-1.0, lambda x: np.abs(x) > -1),
    "inf": (np.inf, lambda x: np.abs(x) > np.inf),
}
"""Values of ``where`` in ``from_dense``, and a function that gives the mask of stored elements."""
DENSE: dict[str, Host] = {
    "general": GENERAL.dense(),
    **{
        f"{m} x {n}": distinct(shape=(m, n), count=3).dense()
        for m, n in [(0, 0), (0, 6), (4, 0), (1, 1), (1, 6), (4, 1)]
    },
    "zeros": np.zeros(SHAPE, "float32"),
    "negative zeros": np.full(SHAPE, -0.0, "float32"),
    "all stored": distinct(count=24).dense(),
    "special": np.asarray([[np.nan, np.inf, -np.inf], [0.0, -0.0, 1.5], [-1.5, 2.0, -2.0], [5e-324, -5e-324, 0]]),
    "many rows": scattered(shape=(300, 24), count=250).dense(),
    "long rows": scattered(shape=(4, 3000), count=250).dense(),
    **{dtype: scattered(dtype).dense() for dtype in ALL},
}
"""Dense arrays that the tests convert to containers."""
