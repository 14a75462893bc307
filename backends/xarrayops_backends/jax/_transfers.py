"""Transfers: methods of JAX's arrays that report them.

`jax.transfer_guard` refuses single transfers, or logs them outside of Python, but cannot count them; it also refuses
Python's numbers in a call with an array.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xarrayops.errors import Unsupported
from xarrayops.plugin import ReportingMethods

_PULLS = ("item", "__bool__", "__int__", "__float__", "__complex__", "__index__", "__format__")
_READS = ("tolist", "__array__", "_value")
"""`_value` serves `jax.device_get` and ``repr``."""


def _kind(name: str, x: Any, *args: Any) -> str | None:
    """The kind of transfer or synchronisation of a call. A mask as an index is read, because it determines a shape."""
    if name == "__getitem__":
        entries = args[0] if isinstance(args[0], tuple) else (args[0],)
        return "wait" if any(getattr(entry, "dtype", None) == jnp.bool_ for entry in entries) else None
    return "wait" if name in _PULLS else "transfer"


@cache
def _methods() -> ReportingMethods:
    """The methods of the class of concrete arrays, which has no public name."""
    return ReportingMethods(type(jnp.zeros(())), (*_PULLS, *_READS, "__getitem__"), _kind)


def crossings(report: Callable[..., None], /) -> AbstractContextManager[Any]:
    """Let the methods of arrays report, in all threads."""
    return _methods().reporting(report)


def host_callback(function: Callable[..., Any], arrays: tuple[Any, ...], result: Any, /) -> Any:
    """`jax.pure_callback`, if an array is traced; batches of `jax.vmap` are called one by one."""
    if not any(isinstance(x, jax.core.Tracer) for x in arrays):
        return None
    if result is None:
        raise Unsupported(
            "JAX traces the arguments, so that their values are unknown here. Instead: "
            "xo.on_host(f, result=jax.ShapeDtypeStruct(shape, dtype)), or a function of the arguments that returns it"
        )
    shapes = jax.eval_shape(lambda: jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), result))

    def of_numpy(*given: Any) -> Any:
        """The result in the dtypes that were announced; those of NumPy may be wider than JAX has."""
        found = function(*map(np.asarray, given))
        return jax.tree.map(lambda x, announced: np.asarray(x, announced.dtype), found, shapes)

    return jax.pure_callback(of_numpy, shapes, *arrays, vmap_method="sequential")
