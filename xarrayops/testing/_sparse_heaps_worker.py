"""In a worker of the sparse fuzzer: SciPy's containers whose arrays are in several heaps, compared with SciPy.

``python -m xarrayops.testing._sparse_heaps_worker LIBRARY``, seeds on stdin. A seed draws a container; SciPy's own goes
through every verb, and for another library first through a conversion, and then back. All values are small whole
numbers, so that every sum is exact and results are equal whatever the order of summation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

import xarrayops as xo
from xarrayops.plugin.sparse import FORMATS
from xarrayops.testing._heaps import Heaps
from xarrayops.testing._sparse_fuzz_worker import serve
from xarrayops.testing._variant import Variant

Host = np.ndarray[Any, Any]
Random = np.random.Generator
Check = tuple[str, Callable[[], Any], Callable[[], Any]]
"""What is called, in words; the call; and SciPy's answer."""
DTYPES = ("bool", "int32", "int64", "float32", "float64", "complex64", "complex128")
COUNTS = (0, 1, 7, 60, 500, 500, 500, 3000, 30_000)
"""Entries. NumPy keeps small arrays in a cache of its own; very large ones the C library takes from the system."""
EXTENTS = (1, 6, 36, 180)
MADE = Heaps()


def run(variant: Variant, seed: int) -> tuple[str, str]:
    """Draw the container of a seed and compare every verb with SciPy: the outcome, and what is wrong."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for words, call, want in _checks(variant, np.random.default_rng(seed)):
            try:
                _compare(call(), want())
            except Exception as error:
                return "finding", f"{words}: {type(error).__name__}: {str(error)[:300]}"
    return "equal to SciPy", ""


def _checks(variant: Variant, random: Random) -> Iterator[Check]:
    shape = tuple(random.choice(EXTENTS, 2).tolist())
    dtype = str(random.choice([each for each in DTYPES if each in variant.dtypes]))
    format = str(random.choice(FORMATS))
    here, answer = drawn(random, shape, dtype, format)
    other, beside = drawn(random, shape, dtype, str(random.choice(FORMATS)))
    inner, right = drawn(random, (shape[1], 6), dtype, str(random.choice(FORMATS)))
    name = f"{format} {dtype} {shape} with {here.nnz} entries"
    yield f"xo.sparse.parts of {name}", lambda: _from_parts(here), lambda: answer
    yield f"xo.sparse.from_parts, canonicalized, of {name}", lambda: _canonicalized(here), lambda: answer
    s, t, u = (_moved(x, variant) for x in (here, other, inner))
    yield f"xo.convert of {name} and back", lambda: xo.convert(s, "numpy"), lambda: answer
    xo.sparse.validate(s)
    x, y = _whole(random, shape, dtype), _whole(random, (shape[1], 3), dtype)
    a, b, v = (variant.make(each) for each in (x, y, y[:, 0]))
    c = variant.make(y.T.copy())
    yield f"to_dense of {name}", lambda: xo.sparse.to_dense(s), answer.toarray
    for to in variant.backend.sparse.formats:
        block = _block(shape) if to == "bsr" else None
        converted = partial(xo.sparse.convert, s, to, block=block)
        yield f"convert to {to} of {name}", converted, lambda: answer
    yield f"transpose of {name}", lambda: xo.sparse.transpose(s), lambda: answer.T
    yield f"add of {name}", lambda: xo.sparse.add(s, t), lambda: answer + beside
    yield f"multiply of {name}", lambda: xo.sparse.multiply(s, t), lambda: answer.multiply(beside)
    yield f"multiply by dense of {name}", lambda: xo.sparse.multiply(s, a), lambda: answer.toarray() * x
    for axis in (None, 0, 1):
        sums = partial(answer.toarray().sum, axis=axis)
        yield f"sum over {axis} of {name}", partial(xo.sparse.sum, s, axis=axis), sums
    yield f"matmul by dense of {name}", lambda: xo.matmul(s, b), lambda: answer @ y
    yield f"matmul by a vector of {name}", lambda: xo.matmul(s, v), lambda: answer @ y[:, 0]
    yield f"matmul from the left of {name}", lambda: xo.matmul(c, xo.sparse.transpose(s)), lambda: y.T @ answer.T
    yield f"matmul by sparse of {name}", lambda: xo.matmul(s, u), lambda: answer @ right
    if dtype != "bool" and format != "bsr":  # of which all places of a block count
        p, q = _whole(random, (shape[0], 4), dtype), _whole(random, (4, shape[1]), dtype)
        left, across = variant.make(p), variant.make(q)
        sampled = lambda: _places(answer).multiply(p @ q)
        yield f"sddmm of {name}", lambda: xo.sparse.sddmm(left, across, s), sampled
    yield from _of_three_axes(variant, random, dtype)


def _of_three_axes(variant: Variant, random: Random, dtype: str) -> Iterator[Check]:
    """coo has any number of axes."""
    shape = tuple(random.choice(EXTENTS[:3], 3).tolist())
    here, answer = drawn(random, shape, dtype, "coo")
    name = f"coo {dtype} {shape} with {here.nnz} entries"
    yield f"to_dense of {name}", lambda: xo.sparse.to_dense(_moved(here, variant)), answer.toarray
    yield f"xo.sparse.from_parts, canonicalized, of {name}", lambda: _canonicalized(here), answer.toarray


def drawn(random: Random, shape: tuple[int, ...], dtype: str, format: str) -> tuple[Any, Any]:
    """A container of SciPy whose arrays are in several heaps, and the same matrix, canonical, by SciPy alone."""
    count = int(random.choice(COUNTS))
    index = str(random.choice(("int32", "int64")))
    coords = tuple(random.integers(extent, size=count).astype(index) for extent in shape)
    data = _whole(random, (count,), dtype)
    answer = scipy.sparse.coo_array((data, coords), shape=shape)
    if len(shape) == 2:
        answer = answer.tocsr()
    answer.sum_duplicates()
    if format == "coo":
        container = scipy.sparse.coo_array(shape, dtype=dtype)
        container.coords, container.data = tuple(map(MADE.copied, coords)), MADE.copied(data)
        container.has_canonical_format = False  # as it was while it was empty
        return container, answer
    container = answer.tobsr(_block(shape)) if format == "bsr" else answer.asformat(format, copy=True)
    for name in ("indptr", "indices", "data"):
        a = getattr(container, name)
        setattr(container, name, MADE.copied(a if name == "data" else a.astype(index)))
    return container, answer


def _whole(random: Random, shape: tuple[int, ...], dtype: str) -> Host:
    """Whole numbers near zero."""
    drawn = random.integers(-4, 5, shape)
    return (drawn + 1j * random.integers(-4, 5, shape) if dtype.startswith("complex") else drawn).astype(dtype)


def _block(shape: tuple[int, ...]) -> tuple[int, int]:
    return (1 if shape[0] % 2 else 2), (1 if shape[1] % 3 else 3)


def _places(s: Any) -> Any:
    """One at each place of a container, also where it stores a zero."""
    return scipy.sparse.csr_array((np.ones(s.nnz, int), s.indices, s.indptr), shape=s.shape)


def _moved(s: Any, variant: Variant) -> Any:
    """The container in another library, in a format that it has."""
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
