"""Exchange: a cubed array is a plan and has no memory. Export computes the values; import copies them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import cubed
import numpy as np

from xarrayops.plugin import WRAPPED_HOOKS, Array, Memory, takes_arrays
from xarrayops.plugin.backends import backend_by_name
from xarrayops.plugin.nested import fill, leaves
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp
from xarrayops_backends.cubed._devices import compute, device

_NOT_OF_EMPTY = ("concat", *WRAPPED_HOOKS)


def import_refusal(dtype: str, /) -> str | None:
    """cubed has the dtypes of the standard."""
    return None if dtype in _blocks.DTYPES else f"cubed has no arithmetic of {dtype}"


def alias_refusal(memory: Memory, /, *, forced: bool) -> str | None:
    """A later write would change the result of the plan."""
    return "a cubed array is a plan, which must not depend on memory that may change"


def to_numpy(x: Array, /) -> Any:
    """The computed values."""
    return compute(x)[0]


def from_numpy(a: Any, place: Any, /) -> Array:
    """A plan over a private copy in native byte order, in chunks that cubed chooses."""
    spec = getattr(place, "spec", None) or _blocks.SPEC.get()
    _blocks.refuse_others([a.dtype])
    a = np.array(a, dtype=a.dtype.newbyteorder("="), copy=True)
    # cubed keeps at most a megabyte in the plan itself
    return _xp.asarray(a, spec=spec) if a.nbytes <= 10**6 else cubed.from_array(a, spec=spec)


def _zeros(x: Array) -> Any:
    return np.zeros(x.shape, x.dtype)


def _hosted(values: Callable[[Array], Any], x: Any) -> Any:
    return values(x) if isinstance(x, cubed.Array) else x


def of_empty(verb: str, args: Any, options: Any, /) -> Any:
    """NumPy's results if an array is empty, which cubed often refuses; others are computed if values depend on them.

    None if no array is empty.
    """
    arrays = [x for x in leaves((args, options)) if isinstance(x, cubed.Array)]
    if verb in _NOT_OF_EMPTY or not takes_arrays(verb) or "device" in options or 0 not in [x.size for x in arrays]:
        return None
    function, place = backend_by_name("numpy").functions[verb], device(arrays[0])
    for values in (_zeros, to_numpy):
        given, named = fill((args, options), partial(_hosted, values))
        found = function(*given, **named)
        if not any(np.size(x) for x in leaves(found)):
            break
    return fill(found, lambda x: from_numpy(np.asarray(x), place) if isinstance(x, (np.ndarray, np.generic)) else x)
