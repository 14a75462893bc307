"""cubed: plans over NumPy chunks, with a bound on the memory of every task that is known before anything runs.

A size that depends on values is computed in the call: cubed has no unknown sizes.
"""
# The backend's functions are the public functions of the files that are imported with a star.
# ruff: noqa: F401, F403

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import cubed
import cubed.array_api

from xarrayops.plugin.backends import backend_by_name as _backend_by_name
from xarrayops.plugin.generic import HOOKS as _HOOKS
from xarrayops.plugin.host import as_dtype, can_cast, dtype_name, finfo, iinfo, isdtype, result_type
from xarrayops_backends.cubed import _blocks, _exchange
from xarrayops_backends.cubed._devices import *
from xarrayops_backends.cubed._exchange import alias_refusal, from_numpy, import_refusal, to_numpy
from xarrayops_backends.cubed._indexing import *
from xarrayops_backends.cubed._layout import *
from xarrayops_backends.cubed._linalg import *
from xarrayops_backends.cubed._random import *
from xarrayops_backends.cubed._reductions import *
from xarrayops_backends.cubed._sharding import *
from xarrayops_backends.cubed._standard import *

NAMESPACE = cubed.array_api
ARRAY_TYPES = (cubed.Array,)
WRAPS_INTEGERS = True
ORDERS_COMPLEX = True
EXTRA = "xarrayops_backends.cubed._extra"
_CREATING = ("arange", "empty", "eye", "full", "linspace", "ones", "zeros")


def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """One Spec for all arrays of a call, and clear errors."""

    @wraps(function)
    def explained(*args: Any, **kwargs: Any) -> Any:
        with _blocks.explaining(verb, (kwargs.get("device"), *args, *kwargs.values())):
            empty = _exchange.of_empty(verb, args, kwargs)
            if empty is not None:
                return empty
            return function(*args, **kwargs, **({"spec": _blocks.SPEC.get()} if verb in _CREATING else {}))

    vars(explained)["cost"] = lambda call: None  # `planned` quotes what cubed projects
    return explained


def _generic(hook: str) -> Callable[..., Any]:
    """The generic function of a hook that creates arrays."""
    return lambda *args: wrap(hook, partial(_HOOKS[hook], _backend_by_name("cubed").namespace))(*args)


attention, convolution, pooling = map(_generic, ("attention", "convolution", "pooling"))
