"""Laziness, computation, and the memory of a call. The only device is the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cubed
import numpy as np
from cubed.utils import memory_repr as _memory_repr

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Call
from xarrayops_backends.cubed import _blocks


class _Place(str):
    """The device of an array: "cpu", with the Spec of the array, for arrays made ``like=`` it."""

    __slots__ = ("spec",)
    spec: Any


def device(x: Array, /) -> Any:
    """The CPU, with the Spec of x."""
    place = _Place("cpu")
    place.spec = x.spec
    return place


def is_lazy(x: Array, /) -> bool:
    """Always True: even an array that was created from a NumPy array is a plan."""
    return True


def compute(*arrays: Array) -> tuple[Any, ...]:
    """The values as NumPy arrays, in one run."""
    with _blocks.explaining("compute"):
        return tuple(map(np.asarray, cubed.compute(*arrays)))


def persist(*arrays: Array) -> tuple[Array, ...]:
    """The arrays with their chunks in the store of their Spec."""
    with _blocks.explaining("persist"):
        cubed.compute(*arrays, _return_in_memory_array=False)
    return tuple(map(_stored, arrays))


def _stored(x: Array) -> Array:
    """x as it was computed. An array without a store is a number or a NumPy array."""
    return cubed.from_array(x._zarray.open(), spec=x.spec) if x.size and hasattr(x._zarray, "open") else x


def planned(function: Callable[..., Any], call: Call, /) -> str:
    """The memory that cubed projects for the largest task."""
    with cubed.config.set({"executor_name": "raise-if-computes"}):
        try:
            found = function(*call.args, **call.kwargs)
        except RuntimeError:
            return "a shape depends on values, which the call computes first"
    arrays = [x for x in (found if isinstance(found, (list, tuple)) else [found]) if isinstance(x, cubed.Array)]
    if not arrays:
        return ""
    needs, allowed = cubed.plan(*arrays).max_projected_mem, arrays[0].spec.allowed_mem
    text = f"cubed projects {_memory_repr(needs)} for a task, and allowed_mem is {_memory_repr(allowed)}"
    if needs > allowed:
        raise Unsupported(f"{text}. Instead: {_blocks.LESS_MEMORY}")
    return text
