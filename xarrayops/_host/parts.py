"""Functions on parts of their arrays, in several threads, and kernels with threads in one thread.

Each element is computed as without parts, so the values are the same to the last bit. Which way is faster depends on
the machine, the function and the size: measured choice decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from xarrayops._host import threads
from xarrayops.plugin.candidates import Call, Kernel, Refusal

Array = np.ndarray[Any, Any]
_FEW = "there is one thread, or one part"
# The bytes of an array in one part: few calls, and a part stays in the second-level cache.
_PART = 1 << 18


def of_elements(ufunc: np.ufunc) -> Kernel:
    """A kernel for a ufunc of compact floating-point arrays of the same shape and dtype."""

    def kernel(*arrays: Array) -> Array:
        flat = [x.reshape(-1) for x in arrays]
        out = np.empty(arrays[0].shape, ufunc(*(x[:0] for x in flat)).dtype)
        into = out.reshape(-1)

        def work(part: slice) -> None:
            ufunc(*(x[part] for x in flat), out=into[part])

        has_run = _run(work, _parts(flat[0], flat[0].itemsize))
        return out if has_run else ufunc(*arrays)

    def refuse(call: Call) -> str | None:
        first = call.args[0]
        for x in call.args:
            if type(x) is not np.ndarray or x.dtype.char not in "fd" or not x.flags.c_contiguous:
                return "the arrays are not compact, or not of float32 or float64"
            if x.shape != first.shape or x.dtype != first.dtype:
                return "the arrays have different shapes or dtypes"
        return _FEW if threads.thread_count() == 1 or first.size < 2 else None

    return "threads", _same(kernel), refuse


def of_rows(function: Callable[..., Array], default: int | None) -> Kernel:
    """A kernel for a function along an axis, by parts of the first axis; ``default`` is that of the axis."""

    def kernel(x: Array, /, *, axis: Any = default, **options: Any) -> Array:
        parts = list(_parts(x, x.nbytes // x.shape[0]))
        found: dict[int, Array] = {}

        def work(number: int) -> None:
            found[number] = function(x[parts[number]], axis=axis, **options)

        if _run(work, range(len(parts))):
            return np.concatenate([found[number] for number in range(len(parts))])
        return function(x, axis=axis, **options)

    def refuse(call: Call) -> str | None:
        x, axis = call.args[0], call.kwargs.get("axis", default)
        if type(x) is not np.ndarray or type(axis) is not int or not -x.ndim < axis < x.ndim or axis == 0:
            return "the axis is the first one, or no number"
        return _FEW if threads.thread_count() == 1 or x.shape[0] < 2 or not x.size else None

    return "threads", _same(kernel), refuse


def in_one_thread(function: Callable[..., Any], refusal: Refusal) -> Kernel:
    """A kernel of ours that does not use the pool of threads."""

    @wraps(function)
    def kernel(*args: Any, **kwargs: Any) -> Any:
        with threads.none_of_pool():
            return function(*args, **kwargs)

    return "one-thread", _same(kernel), refusal


def _same(kernel: Callable[..., Any]) -> Callable[..., Any]:
    vars(kernel)["has_same_values"] = True
    return kernel


def _parts(x: Array, item: int) -> Iterator[slice]:
    step = max(1, min(_PART // max(1, item), -(-x.shape[0] // threads.thread_count())))
    return (slice(begin, begin + step) for begin in range(0, x.shape[0], step))


def _run(compute: Callable[[Any], Any], tasks: Iterable[Any]) -> bool:
    # The settings of numpy.errstate are those of a thread. An error ends the work: the result is False, and the caller
    # computes all again with its own settings. It warns once, or calls what it set.
    settings: Any = {kind: each if each == "ignore" else "raise" for kind, each in np.geterr().items()}

    def work(some: Iterable[Any]) -> None:
        with np.errstate(**settings):
            for each in some:
                compute(each)

    try:
        threads.run(work, tasks)
    except FloatingPointError:
        return False
    return True
