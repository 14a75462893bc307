"""What a workload is: a function to time, its inputs, and the answer that it must give."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

SIZES = ("toy", "default", "large")
"""toy: for tests of the benchmark itself; default: seconds on two cores; large: for accelerators and big machines."""
FLOATS = ("float64", "float32", "bfloat16", "float16")
"""The dtypes in which a workload of floating-point numbers can be asked for."""
DTYPES = (*FLOATS, "int8")

Arrays = tuple[Any, ...]


class MissingData(Exception):
    """The data of a workload are not here: the reason, and the command that brings them."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(reason)
        self.fix = fix


@dataclass(frozen=True)
class Case:
    """A workload at one dtype and size.

    Attributes
    ----------
    inputs : tuple of numpy.ndarray
        In the dtype that is measured. They are converted to each library before the clock starts.
    expected : tuple of numpy.ndarray
        The answer from these very inputs, computed in float64 (integers stay integers): one array per result.
    tolerance : float
        The largest error that passes, as a part of the largest magnitude in each result.
    operations : float
        Operations that the task needs; 0 where it only moves.
    nbytes : float
        Bytes that the task must move at least: each input read once, each result written once.
    """

    inputs: Arrays
    expected: Arrays
    tolerance: float
    operations: float
    nbytes: float


def _as_they_are(*arrays: Any) -> Arrays:
    return arrays


def _root(n: int) -> float:
    return 4 * math.sqrt(n)


@dataclass(frozen=True)
class Workload:
    """Something to time on every backend.

    Attributes
    ----------
    name : str
        As ``--workloads`` takes it, and as it stands above its table.
    function : callable
        ``function(*arrays)`` gives an array or a tuple of arrays; written with xarrayops alone. It leaves its inputs as
        they are, or so that the same answer comes again.
    inputs : callable
        ``inputs(random, n)`` makes the tuple of NumPy arrays of size n from a `numpy.random.Generator`, the same every
        time. Floating-point arrays are then cast to the dtype that is measured; others stay. Raises `MissingData`.
    expected : callable
        The answer, by NumPy or SciPy alone, from the inputs with their floating-point numbers cast on to float64.
    sizes : tuple of int, or mapping of names in `SIZES` to such tuples
        What n may be, smallest first. One tuple serves every ``--size``; of it, "toy" takes the first alone.
    timed : str
        What lies between the two readings of the clock, for people.
    operations : callable
        ``operations(n)``, for throughput in FLOP/s and the compute roof; without it, throughput counts bytes.
    nbytes : callable, optional
        ``nbytes(n, itemsize)``, where the least that must be moved is not the inputs and results, once each.
    tolerance : callable
        ``tolerance(n)`` is the largest error that passes, in units of the dtype's epsilon; 0 asks for equality.
    arrange : callable
        ``arrange(*arrays)`` gives the function's arguments from the converted inputs before the clock starts: views
        with strides, sparse containers.
    dtypes : tuple of str
        In which it is measured unless ``--dtype`` says otherwise, which it can of `FLOATS` alone.
    group : str
        The first word of the name, unless said otherwise: what ``--workloads`` takes for all that share it.

    Examples
    --------
    A file for ``--workload-file``:

    >>> import xarrayops as xo
    >>> from xarrayops.bench import Workload
    >>> def gram(x):
    ...     return xo.matmul(xo.matrix_transpose(x), x)
    >>> WORKLOADS = (
    ...     Workload(
    ...         "gram",
    ...         gram,
    ...         inputs=lambda random, n: (random.standard_normal((n, 64)),),
    ...         expected=lambda x: x.T @ x,
    ...         sizes=(1_000, 100_000),
    ...         operations=lambda n: 2 * n * 64 * 64,
    ...     ),
    ... )
    """

    name: str
    function: Callable[..., Any]
    inputs: Callable[[Any, int], Arrays]
    expected: Callable[..., Any]
    sizes: tuple[int, ...] | Mapping[str, tuple[int, ...]]
    timed: str = ""
    operations: Callable[[int], float] | None = None
    nbytes: Callable[[int, int], float] | None = None
    tolerance: Callable[[int], float] = _root
    arrange: Callable[..., Arrays] = _as_they_are
    dtypes: tuple[str, ...] = ("float32",)
    group: str = field(default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", self.group or self.name.split()[0])
        object.__setattr__(self, "timed", self.timed or f"{self.plain_function.__name__}(...)")

    @property
    def plain_function(self) -> Callable[..., Any]:
        """What is timed, without arguments that a `functools.partial` has set; of a callable object, its class."""
        function = self.function
        while isinstance(function, partial):
            function = function.func
        return function if hasattr(function, "__name__") else type(function)

    @property
    def unit(self) -> str:
        """What throughput counts: "FLOP/s" or "B/s"."""
        return "FLOP/s" if self.operations else "B/s"

    def ladder(self, size: str) -> tuple[int, ...]:
        """The numbers n that a name in `SIZES` stands for."""
        if isinstance(self.sizes, Mapping):
            return self.sizes[size]
        return self.sizes[:1] if size == "toy" else self.sizes

    def asked_in(self, dtypes: tuple[str, ...]) -> tuple[str, ...]:
        """Its own dtypes where none are asked for, else the asked ones that it can be measured in."""
        admitted = (*FLOATS, *self.dtypes) if set(self.dtypes) & set(FLOATS) else self.dtypes
        return tuple(dtype for dtype in dtypes if dtype in admitted) if dtypes else self.dtypes

    def case(self, dtype: str, n: int) -> Case:
        """Inputs and answer at one dtype and size, the same ones every time."""
        random = np.random.default_rng(zlib.crc32(self.name.encode()))
        native = native_dtype(dtype)
        made = self.inputs(random, n)
        if not isinstance(made, tuple):
            raise TypeError(f"inputs of workload {self.name!r} gave {type(made).__name__}, not a tuple of arrays")
        inputs = tuple(x.astype(native) if _is_float(x) else x for x in made)
        answer = self.expected(*(x.astype(np.float64) if _is_float(x) else x for x in inputs))
        expected = tuple(map(np.asarray, answer if isinstance(answer, tuple) else (answer,)))
        written = sum(x.size * (native.itemsize if _is_float(x) else x.itemsize) for x in expected)
        return Case(
            inputs,
            expected,
            tolerance=self.tolerance(n) * epsilon(dtype),
            operations=float(self.operations(n)) if self.operations else 0.0,
            nbytes=float(self.nbytes(n, native.itemsize) if self.nbytes else sum(x.nbytes for x in inputs) + written),
        )


def native_dtype(name: str) -> Any:
    """NumPy's dtype of that name; ml_dtypes has those that NumPy lacks."""
    if name != "bfloat16":
        return np.dtype(name)
    try:
        return np.dtype(import_module("ml_dtypes").bfloat16)
    except ModuleNotFoundError:
        raise MissingData("NumPy has no bfloat16 without ml_dtypes", "pip install 'xarrayops[lowp]'") from None


def epsilon(name: str) -> float:
    """The distance from 1 to the next number; 0 for integers, which are exact."""
    return {"bfloat16": 2.0**-7}.get(name) or (float(np.finfo(name).eps) if name in FLOATS else 0.0)


def _is_float(x: Any) -> bool:
    """Also bfloat16, whose kind is that of raw bytes."""
    return bool(np.issubdtype(x.dtype, np.floating)) or x.dtype.name == "bfloat16"
