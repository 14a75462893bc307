"""The kinds of array operations, and the time that a library takes for each, by size.

`python -m xarrayops.bench --all` measures them on each device, and `python -m xarrayops.port check` forecasts the time
of a program with them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy

import xarrayops as xo
from xarrayops.bench.measure.timing import calls_per_reading, timed
from xarrayops.plugin.arrays import Record

ELEMENTWISE, WITH_NUMBER = "elementwise", "elementwise with a number"
OF_ELEMENTS, COMPLEX = "arithmetic of elements", "complex"
POWER, MATH = "power", "math"
TRIGONOMETRY, REMAINDER, SELECTION = "trigonometry", "remainder", "selection"
REDUCTION, DEVIATION, EXTREME, SCAN = "reduction", "deviation", "position of an extreme", "scan"
PRODUCT, THIN_PRODUCT, VECTOR_PRODUCT = "matrix product", "product with a few rows", "product with a vector"
VIEW, BLOCK, ELEMENT = "view", "view of several axes", "element"
GATHER, MASKED, COPY, JOIN = "gather", "selection by a mask", "copy", "join"
ASSIGNMENT, SCATTER, FILL = "assignment", "scatter", "assignment by a mask"
PLACE = "assignment of several values by a mask"
CREATION, RANDOM, SORT, SEARCH = "creation", "random numbers", "sort", "search"
COUNT, HISTOGRAM = "count", "histogram"
LINALG, EIGEN, SINGULAR, FFT = "linear algebra", "eigenvalues", "singular values", "Fourier transform"
KINDS = (
    *(ELEMENTWISE, WITH_NUMBER, OF_ELEMENTS, COMPLEX, POWER, MATH, TRIGONOMETRY, REMAINDER, SELECTION),
    *(REDUCTION, DEVIATION, EXTREME, SCAN, PRODUCT, THIN_PRODUCT, VECTOR_PRODUCT, VIEW, BLOCK, ELEMENT),
    *(GATHER, MASKED, COPY, JOIN, ASSIGNMENT, SCATTER, FILL, PLACE, CREATION, RANDOM),
    *(SORT, SEARCH, COUNT, HISTOGRAM, LINALG, EIGEN, SINGULAR, FFT),
)
"""The kinds. Operations of a kind take about the same time for the same size."""
BY_ARITHMETIC = (PRODUCT, THIN_PRODUCT, LINALG, EIGEN, SINGULAR)
"""The kinds whose size is the number of additions and multiplications; the size of all others is the bytes moved."""
FEW = 8
"""The number of rows of the measured thin product: so few that the arithmetic is not most of the time."""
RATES = ("operations", "number_s", "transfer_rate")
"""What `measure_operations` returns besides the name of the device."""
_LENGTHS = (16, 1 << 12, 1 << 15, 1 << 18, 1 << 22, (1 << 22) - (1 << 12))
"""A result of 32 MiB gets new pages each time, because glibc returns such memory to the system. A shorter one reuses
pages, unless a longer one was freed before: the longest vectors are measured first."""
_ORDERS = (8, 64, 512, 2048)
_TRIALS, _MOST_S = 5, 0.1
_LONG_S = 0.2
"""Operations whose extrapolated time is longer are not measured."""
_ALIVE = 4
"""Results that exist at the same time, as in programs: the memory of the last one is not in the caches."""


class Sample(Record):
    """One operation of a kind, as a function of NumPy's interface or as an operator, a method or an index."""

    kind: str
    by_function: bool
    size: float
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def samples(np: Any, moved: Callable[[Any], Any], *, is_port: bool, length: int) -> Iterator[Sample]:
    """The operations on vectors of a length; ``moved`` converts NumPy arrays to the library of ``np``.

    In a port, elements are assigned by `xarrayops.at`, as ``python -m xarrayops.port rewrite`` writes it.
    """
    random = numpy.random.default_rng(0)
    host = numpy.linspace(0.5, 1.5, length)
    permutation = random.permutation(length)
    x, y, z = moved(host), moved(host[::-1].copy()), moved(host[: length // 2] + 1j)
    first, second = x[: length // 2], y[: length // 2]
    target, matrix = moved(host.copy()), moved(host.reshape(4, -1))
    shuffled, index, mask = moved(host[permutation]), moved(permutation), moved(permutation % 16 == 0)
    assign, put = _assignments(is_port=is_port)
    n = 8.0 * length
    yield Sample(ELEMENTWISE, False, 3 * n, lambda x, y: x + y, (x, y))
    yield Sample(ELEMENTWISE, True, 3 * n, np.add, (x, y))
    yield Sample(WITH_NUMBER, False, 2 * n, lambda x: 2.5 * x, (x,))
    yield Sample(WITH_NUMBER, True, 2 * n, lambda x: np.maximum(x, 0.5), (x,))
    yield Sample(OF_ELEMENTS, False, 24.0 * length, lambda x, y: x + y, (x[1], x[2]))
    yield Sample(COMPLEX, False, 3 * n, lambda x, y: x * y, (z, z))
    yield Sample(POWER, False, 2 * n, lambda x: x**1.7, (x,))
    yield Sample(MATH, True, 2 * n, np.exp, (x,))
    yield Sample(TRIGONOMETRY, True, 2 * n, np.sin, (x,))
    yield Sample(REMAINDER, False, 3 * n, lambda x, y: x % y, (x, y))
    yield Sample(SELECTION, True, 3 * n + length, np.where, (mask, x, y))
    yield Sample(REDUCTION, False, n, lambda x: x.sum(), (x,))
    yield Sample(REDUCTION, True, n, np.sum, (x,))
    yield Sample(DEVIATION, True, n, np.std, (x,))
    yield Sample(EXTREME, True, n, np.argmax, (shuffled,))
    yield Sample(SCAN, True, 2 * n, np.cumsum, (x,))
    yield Sample(VIEW, False, 2 * n, lambda x: x[1:-1], (x,))
    yield Sample(VIEW, True, 2 * n, lambda x: np.reshape(x, (-1, 2)), (x,))
    yield Sample(BLOCK, False, n, lambda x: x[1:-1, :-1], (matrix,))
    yield Sample(ELEMENT, False, 2 * n, lambda x: x[1], (x,))
    yield Sample(GATHER, False, 3 * n, lambda x, i: x[i], (x, index))
    yield Sample(GATHER, True, 3 * n, np.take, (x, index))
    yield Sample(MASKED, False, n, lambda x, m: x[m], (x, mask))
    yield Sample(COPY, True, 2 * n, np.copy, (x,))
    yield Sample(JOIN, True, 2 * n, lambda x, y: np.concatenate([x, y]), (first, second))
    yield Sample(ASSIGNMENT, False, 2 * n, assign, (target, y))
    yield Sample(FILL, False, n, lambda x, mask: put(x, mask, 0.5), (target, mask))
    yield Sample(SCATTER, False, 3 * n, put, (target, index, y))
    yield Sample(PLACE, False, n, put, (target, mask, moved(host[: -(-length // 16)])))
    yield Sample(CREATION, True, n, np.zeros, (length,))
    yield Sample(RANDOM, False, n, np.random.default_rng(0).random, (length,))
    yield Sample(SORT, True, 2 * n, np.sort, (shuffled,))
    yield Sample(SEARCH, True, 3 * n, np.searchsorted, (x, shuffled))
    yield Sample(COUNT, True, 2 * n, lambda i: np.bincount(i, minlength=length), (index,))
    yield Sample(HISTOGRAM, True, n, lambda x: np.histogram(x, 100), (x,))
    yield Sample(FFT, False, 2 * n, np.fft.fft, (z,))


def samples_of_matrices(np: Any, moved: Callable[[Any], Any], *, order: int) -> Iterator[Sample]:
    """The operations on square matrices of an order."""
    random = numpy.random.default_rng(0)
    host = random.standard_normal((order, order))
    a, b, v = moved(host), moved(host + host.T), moved(host[0].copy())
    few = moved(host[:FEW].copy())
    yield Sample(VECTOR_PRODUCT, False, 8.0 * (order**2 + 2 * order), lambda a, v: a @ v, (a, v))
    yield Sample(THIN_PRODUCT, False, 2.0 * FEW * order**2, lambda few, a: few @ a, (few, a))
    if order > 512:
        return
    yield Sample(PRODUCT, False, 2.0 * order**3, lambda a: a @ a, (a,))
    yield Sample(LINALG, True, float(order**3), lambda a: np.linalg.solve(a, a), (a,))
    if order <= 256:
        yield Sample(EIGEN, True, float(order**3), np.linalg.eigh, (b,))
        yield Sample(SINGULAR, True, float(order**3), np.linalg.svd, (a,))


def _assignments(*, is_port: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Assignments to a slice, and by an index that is an array."""
    if is_port:
        return (
            lambda x, y: xo.at(x)[1:-1].set(y[1:-1], copy=None),
            lambda x, index, value: xo.at(x)[index].set(value, copy=None),
        )

    def put(x: Any, index: Any, value: Any) -> Any:
        x[index] = value
        return x

    return lambda x, y: put(x, slice(1, -1), y[1:-1]), put


def measure_operations(backend: str, device: str | None = None, kinds: Collection[str] = KINDS) -> dict[str, Any]:
    """Measure the kinds of operations on a device of a library, as plain data.

    Functions are those of `xarrayops.numpy`, and for NumPy its own: those of a program before a port. A kind that the
    library or the device does not have is left out.

    Returns
    -------
    dict
        "device": its name; "operations": the kind, whether it is called as a function, and pairs of a size and seconds;
        "number_s": the seconds to take a number out of an array; "transfer_rate": the bytes per second from NumPy;
        None on the CPU.
    """
    np = numpy if backend == "numpy" else import_module("xarrayops.numpy")

    def moved(x: Any) -> Any:
        return xo.convert(x, backend, device=device)

    library = xo.backend(backend)
    found: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    with library.functions["run_modes"]()[0].context(), xo.use(backend, device=device):
        for length in _LENGTHS:
            _add(found, samples(np, moved, is_port=np is not numpy, length=length), kinds)
        for order in _ORDERS:
            _add(found, samples_of_matrices(np, moved, order=order), kinds)
        one, large = moved(numpy.ones(())), numpy.ones(_LENGTHS[-1])
        number_s = _seconds(lambda x: float(x) * one, (one,)) - _seconds(lambda x: x * one, (one,))
        is_copied = not str(xo.device(one)).startswith("cpu")
        copied_s = _seconds(lambda x: xo.convert(x, backend, device=device, copy=True), (large,)) if is_copied else 0.0
    return {
        "device": str(xo.device(one)),
        "operations": [[kind, by_function, _cleaned(sorted(points))] for (kind, by_function), points in found.items()],
        "number_s": max(number_s, 0.0),
        "transfer_rate": large.nbytes / copied_s if is_copied else None,
    }


def _add(
    found: dict[tuple[str, bool], list[tuple[float, float]]], of_size: Iterator[Sample], kinds: Collection[str]
) -> None:
    """Measure samples of these kinds. Unsupported and slow samples are left out."""
    for sample in of_size:
        points = found.get((sample.kind, sample.by_function), [])
        if sample.kind not in kinds or any(seconds * sample.size > _LONG_S * size for size, seconds in points[-1:]):
            continue
        with suppress(Exception):  # libraries raise various errors for dtypes and functions that they do not have
            seconds = _seconds(sample.function, sample.arguments)
            found.setdefault((sample.kind, sample.by_function), []).append((sample.size, seconds))


def _cleaned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The times corrected for disturbances: a smaller operation never takes longer than a larger one."""
    return [(size, min(seconds for _, seconds in points[i:])) for i, (size, _) in enumerate(points)]


def _seconds(function: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    """The shortest of a few timings of a call."""
    alive: deque[Any] = deque(maxlen=_ALIVE)

    def called(*arguments: Any) -> Any:
        result = function(*arguments)
        alive.append(result)
        return result

    for _ in range(_ALIVE + 1):  # later results reuse memory
        called(*arguments)
    calls = calls_per_reading(called, arguments)
    start, found = perf_counter(), [timed(called, arguments, calls)[0]]
    while len(found) < _TRIALS and perf_counter() - start < _MOST_S:
        found.append(timed(called, arguments, calls)[0])
    return min(found)
