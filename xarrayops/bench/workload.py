"""The definition of a workload: a function to time, its inputs, and its expected result."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from xarrayops.plugin import install_command

SIZES = ("toy", "default", "large")
"""toy: for tests of the benchmark; default: takes seconds on two cores; large: for accelerators and large machines."""
FLOATS = ("float64", "float32", "bfloat16", "float16")
"""The dtypes that ``--dtype`` accepts for a floating-point workload."""
DTYPES = (*FLOATS, "int8")

Arrays = tuple[Any, ...]


class MissingData(Exception):
    """The data of a workload are missing: the reason, and the command that installs them."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(f"{reason}. Install it: {fix}")
        self.reason = reason
        self.fix = fix


@dataclass(frozen=True)
class Case:
    """A workload at one dtype and size.

    Attributes
    ----------
    inputs : tuple of numpy.ndarray
        The inputs in the measured dtype. They are converted to each library before timing starts.
    expected : tuple of numpy.ndarray
        The expected results for these inputs, computed in float64 (integers stay integers).
    tolerance : float
        The largest error allowed, relative to the largest magnitude in each result.
    operations : float
        The operations that the task needs; 0 where it only moves data.
    nbytes : float
        The bytes that the task must move at least: each input read once, each result written once.
    """

    inputs: Arrays
    expected: Arrays
    tolerance: float
    operations: float
    nbytes: float


def _unchanged(*arrays: Any) -> Arrays:
    return arrays


def _root_tolerance(n: int) -> float:
    return 4 * math.sqrt(n)


def exactly(n: int) -> float:
    """The tolerance of results that are only moved or selected: equality."""
    return 0.0


@dataclass(frozen=True)
class Workload:
    """Something to time on every backend.

    Attributes
    ----------
    name : str
        The name that ``--workloads`` accepts and the reports show.
    function : callable
        ``function(*arrays)`` returns an array or a tuple of arrays and uses only xarrayops. A second call with the same
        inputs must give the same results.
    inputs : callable
        ``inputs(random, n)`` returns a tuple of NumPy arrays of size n, made with a `numpy.random.Generator` of fixed
        seed. Floating-point arrays are then cast to the measured dtype; others stay. May raise `MissingData`.
    expected : callable
        The expected results, computed with NumPy or SciPy only. Floating-point inputs are passed in float64.
    sizes : tuple of int, or mapping of names in `SIZES` to such tuples
        The values of n, smallest first. A single tuple serves every ``--size``; "toy" then takes its first value only.
    timed : str
        A description of what is timed.
    operations : callable
        ``operations(n)``, for throughput in FLOP/s and the compute limit. Without it, throughput counts bytes.
    nbytes : callable, optional
        ``nbytes(n, itemsize)``, the bytes that must be moved, if not all inputs and results once.
    tolerance : callable
        ``tolerance(n)`` is the largest error allowed, in units of the dtype's epsilon; 0 requires equality.
    arrange : callable
        ``arrange(*arrays)`` returns the arguments of the function, made from the converted inputs before timing starts:
        strided views or sparse containers, for example.
    dtypes : tuple of str
        The measured dtypes. ``--dtype`` can replace those in `FLOATS`.
    packages : tuple of str
        The packages that compute the inputs. The workload's digest depends on their versions.
    group : str
        The group that ``--workloads`` accepts; by default the first word of the name.

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
    tolerance: Callable[[int], float] = _root_tolerance
    arrange: Callable[..., Arrays] = _unchanged
    dtypes: tuple[str, ...] = ("float32",)
    packages: tuple[str, ...] = ()
    group: str = field(default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", self.group or self.name.split()[0])
        object.__setattr__(self, "timed", self.timed or f"{self.plain_function.__name__}(...)")

    @property
    def plain_function(self) -> Callable[..., Any]:
        """The function inside any `functools.partial`; for a callable object, its class."""
        function = self.function
        while isinstance(function, partial):
            function = function.func
        return function if hasattr(function, "__name__") else type(function)

    @property
    def unit(self) -> str:
        """The unit of throughput: "FLOP/s" or "B/s"."""
        return "FLOP/s" if self.operations else "B/s"

    def ladder(self, size: str) -> tuple[int, ...]:
        """The values of n for a name in `SIZES`."""
        if isinstance(self.sizes, Mapping):
            return self.sizes[size]
        return self.sizes[:1] if size == "toy" else self.sizes

    def selected_dtypes(self, dtypes: tuple[str, ...]) -> tuple[str, ...]:
        """The requested dtypes that the workload supports; its own where none are requested."""
        admitted = (*FLOATS, *self.dtypes) if set(self.dtypes) & set(FLOATS) else self.dtypes
        return tuple(dtype for dtype in dtypes if dtype in admitted) if dtypes else self.dtypes

    def case(self, dtype: str, n: int) -> Case:
        """The inputs and expected results at one dtype and size, the same every time."""
        random = np.random.default_rng(zlib.crc32(self.name.encode()))
        native = native_dtype(dtype)
        made = self.inputs(random, n)
        if not isinstance(made, tuple):
            raise TypeError(f"inputs of workload {self.name!r} returned {type(made).__name__}, not a tuple of arrays")
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
    """The NumPy dtype of that name; bfloat16 comes from ml_dtypes."""
    if name != "bfloat16":
        return np.dtype(name)
    try:
        return np.dtype(import_module("ml_dtypes").bfloat16)
    except ModuleNotFoundError:
        raise MissingData("NumPy has no bfloat16 without ml_dtypes", install_command("lowp")) from None


def epsilon(name: str) -> float:
    """The distance from 1 to the next larger number; 0 for integers, which are exact."""
    return {"bfloat16": 2.0**-7}.get(name) or (float(np.finfo(name).eps) if name in FLOATS else 0.0)


def _is_float(x: Any) -> bool:
    """Whether an array is floating-point. bfloat16 is, although NumPy reports it as raw bytes."""
    return bool(np.issubdtype(x.dtype, np.floating)) or x.dtype.name == "bfloat16"
