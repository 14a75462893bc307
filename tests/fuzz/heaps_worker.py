"""A worker of the sparse fuzzer: containers of SciPy whose arrays are in several heaps, compared with SciPy.

``python -m tests.fuzz.heaps_worker LIBRARY``, seeds on stdin. Each seed gives a SciPy container, which
is converted to the library; every verb is called with it, and the results are converted back. All values are small
integers, so that every sum is exact, independent of the order of summation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

import xarrayops as xo
from benchmarks.exchange_matrix.heaps import Heaps
from tests.fuzz.hostile_worker import serve
from xarrayops.plugin.sparse import FORMATS
from xarrayops.testing._suite.variant import Variant

Host = np.ndarray[Any, Any]
Random = np.random.Generator
Check = tuple[str, Callable[[], Any], Callable[[], Any]]
"""A description, the call, and a function that gives SciPy's result."""
DTYPES = ("bool", "int32", "int64", "float32", "float64", "complex64", "complex128")
COUNTS = (0, 1, 7, 60, 500, 500, 500, 3000, 30_000)
"""Numbers of entries. NumPy caches small arrays; the C library maps very large ones outside the heaps."""
EXTENTS = (1, 6, 36, 180)
HEAPS = Heaps()


def run(variant: Variant, seed: int) -> tuple[str, str]:
    """Compare every verb with SciPy for the container of a seed; return the outcome, and the finding or ""."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for description, call, want in _checks(variant, np.random.default_rng(seed)):
            try:
                _compare(call(), want())
            except Exception as error:
                return "finding", f"{description}: {type(error).__name__}: {str(error)[:300]}"
    return "equal to SciPy", ""


def _checks(variant: Variant, random: Random) -> Iterator[Check]:
    shape = tuple(random.choice(EXTENTS, 2).tolist())
    dtype = str(random.choice([each for each in DTYPES if each in variant.dtypes]))
    format = str(random.choice(FORMATS))
    here, expected = random_container(random, shape, dtype, format)
    other, other_expected = random_container(random, shape, dtype, str(random.choice(FORMATS)))
    inner, inner_expected = random_container(random, (shape[1], 6), dtype, str(random.choice(FORMATS)))
    name = f"{format} {dtype} {shape} with {here.nnz} entries"
    yield f"xo.sparse.parts of {name}", lambda: _from_parts(here), lambda: expected
    yield f"xo.sparse.from_parts, canonicalized, of {name}", lambda: _canonicalized(here), lambda: expected
    s, t, u = (_converted(x, variant) for x in (here, other, inner))
    yield f"xo.convert of {name} and back", lambda: xo.convert(s, "numpy"), lambda: expected
    xo.sparse.validate(s)
    x, y = _small_integers(random, shape, dtype), _small_integers(random, (shape[1], 3), dtype)
    a, b, v = (variant.make(each) for each in (x, y, y[:, 0]))
    c = variant.make(y.T.copy())
    yield f"to_dense of {name}", lambda: xo.sparse.to_dense(s), expected.toarray
    for to in variant.backend.sparse.formats:
        block = _block(shape) if to == "bsr" else None
        converted = partial(xo.sparse.convert, s, to, block=block)
        yield f"convert to {to} of {name}", converted, lambda: expected
    yield f"transpose of {name}", lambda: xo.sparse.transpose(s), lambda: expected.T
    yield f"add of {name}", lambda: xo.sparse.add(s, t), lambda: expected + other_expected
    yield f"multiply of {name}", lambda: xo.sparse.multiply(s, t), lambda: expected.multiply(other_expected)
    yield f"multiply by dense of {name}", lambda: xo.sparse.multiply(s, a), lambda: expected.toarray() * x
    for axis in (None, 0, 1):
        sums = partial(expected.toarray().sum, axis=axis)
        yield f"sum over {axis} of {name}", partial(xo.sparse.sum, s, axis=axis), sums
    yield f"matmul by dense of {name}", lambda: xo.matmul(s, b), lambda: expected @ y
    yield f"matmul by a vector of {name}", lambda: xo.matmul(s, v), lambda: expected @ y[:, 0]
    yield f"matmul from the left of {name}", lambda: xo.matmul(c, xo.sparse.transpose(s)), lambda: y.T @ expected.T
    yield f"matmul by sparse of {name}", lambda: xo.matmul(s, u), lambda: expected @ inner_expected
    yield from _checks_of_functions(variant, random, s, t, expected, other_expected, name)
    if dtype != "bool" and format != "bsr":  # bsr also stores the zeros of its blocks
        p, q = _small_integers(random, (shape[0], 4), dtype), _small_integers(random, (4, shape[1]), dtype)
        left, across = variant.make(p), variant.make(q)
        sampled = lambda: _pattern(expected).multiply(p @ q)
        yield f"sddmm of {name}", lambda: xo.sparse.sddmm(left, across, s), sampled
    yield from _checks_of_three_axes(variant, random, dtype)


def _checks_of_functions(
    variant: Variant, random: Random, s: Any, t: Any, expected: Any, other_expected: Any, name: str
) -> Iterator[Check]:
    """Checks of the elementwise functions, of selections and of functions of rows and columns."""
    first, second = expected.toarray(), other_expected.toarray()
    if first.dtype.kind != "b":
        yield f"square of {name}", lambda: xo.sparse.square(s), lambda: np.square(first)
    if first.dtype.kind in "if":
        yield f"abs of {name}", lambda: xo.sparse.abs(s), lambda: np.abs(first)
        yield f"maximum of {name}", lambda: xo.sparse.maximum(s, t), lambda: np.maximum(first, second)
    rows, columns = (_small_integers(random, (extent,), first.dtype.name) for extent in first.shape)
    factors = variant.make(rows), variant.make(columns)
    yield f"scale of {name}", lambda: xo.sparse.scale(s, *factors), lambda: rows[:, None] * first * columns
    for axis in (0, 1):
        places = random.integers(-first.shape[axis], first.shape[axis], 9)
        indices = variant.make(places)
        taken = partial(xo.sparse.take, s, indices, axis=axis)
        yield f"take along {axis} of {name}", taken, partial(np.take, first, places, axis)
        joined = partial(xo.sparse.concat, [s, t], axis=axis)
        yield f"concat along {axis} of {name}", joined, partial(np.concatenate, [first, second], axis)
        yield f"count along {axis} of {name}", partial(xo.sparse.count, s, axis=axis), partial((first != 0).sum, axis)
    yield f"diagonal of {name}", lambda: xo.sparse.diagonal(s), lambda: np.diagonal(first)


def _checks_of_three_axes(variant: Variant, random: Random, dtype: str) -> Iterator[Check]:
    """Checks of a coo container with three axes."""
    shape = tuple(random.choice(EXTENTS[:3], 3).tolist())
    here, expected = random_container(random, shape, dtype, "coo")
    name = f"coo {dtype} {shape} with {here.nnz} entries"
    yield f"to_dense of {name}", lambda: xo.sparse.to_dense(_converted(here, variant)), expected.toarray
    yield f"xo.sparse.from_parts, canonicalized, of {name}", lambda: _canonicalized(here), expected.toarray


def random_container(random: Random, shape: tuple[int, ...], dtype: str, format: str) -> tuple[Any, Any]:
    """A SciPy container whose arrays are in several heaps, and the same matrix in canonical format."""
    count = int(random.choice(COUNTS))
    index = str(random.choice(("int32", "int64")))
    coords = tuple(random.integers(extent, size=count).astype(index) for extent in shape)
    data = _small_integers(random, (count,), dtype)
    expected = scipy.sparse.coo_array((data, coords), shape=shape)
    if len(shape) == 2:
        expected = expected.tocsr()
    expected.sum_duplicates()
    if format == "coo":
        container = scipy.sparse.coo_array(shape, dtype=dtype)
        container.coords, container.data = tuple(map(HEAPS.copied, coords)), HEAPS.copied(data)
        container.has_canonical_format = False  # the empty container had set it
        return container, expected
    container = expected.tobsr(_block(shape)) if format == "bsr" else expected.asformat(format, copy=True)
    for name in ("indptr", "indices", "data"):
        a = getattr(container, name)
        setattr(container, name, HEAPS.copied(a if name == "data" else a.astype(index)))
    return container, expected


def _small_integers(random: Random, shape: tuple[int, ...], dtype: str) -> Host:
    """Integers from -4 to 4."""
    drawn = random.integers(-4, 5, shape)
    return (drawn + 1j * random.integers(-4, 5, shape) if dtype.startswith("complex") else drawn).astype(dtype)


def _block(shape: tuple[int, ...]) -> tuple[int, int]:
    return (1 if shape[0] % 2 else 2), (1 if shape[1] % 3 else 3)


def _pattern(s: Any) -> Any:
    """The value 1 at each stored position of a container, including explicit zeros."""
    return scipy.sparse.csr_array((np.ones(s.nnz, int), s.indices, s.indptr), shape=s.shape)


def _converted(s: Any, variant: Variant) -> Any:
    """The container converted to the variant's library, in a format that the library supports."""
    if variant.backend.name == "numpy":
        return s
    has = variant.backend.sparse.formats
    return xo.sparse.convert(s, None if s.format in has else has[-1], variant.backend.name)


def _from_parts(s: Any) -> Any:
    p = xo.sparse.parts(s)
    return xo.sparse.from_parts(p.format, *p.arrays.values(), shape=p.shape, check=False)


def _canonicalized(s: Any) -> Any:
    p = xo.sparse.parts(s)
    return xo.sparse.from_parts(p.format, *p.arrays.values(), shape=p.shape, canonicalize=True)


def _compare(got: Any, want: Any) -> None:
    if not isinstance(got, np.ndarray):
        got = xo.convert(got, "numpy")
    np.testing.assert_array_equal(*(x.toarray() if scipy.sparse.issparse(x) else x for x in (got, want)))


if __name__ == "__main__":
    serve(run)
