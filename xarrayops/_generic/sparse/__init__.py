"""Functions of sparse matrices, written once with functions of the standard and other verbs of a library."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from xarrayops._generic.sparse import arithmetic, functions, order
from xarrayops._generic.sparse.sound import is_sound as is_sound
from xarrayops.plugin.sparse import ELEMENTWISE

_WRITTEN = (
    *(functions.maximum, functions.scale, functions.take, functions.concat, functions.count, functions.norm),
    *(functions.diagonal, arithmetic.astype, arithmetic.subtract, arithmetic.divide, arithmetic.mean, order.topk),
)
# The generic function of each verb that has one; its first argument is the library.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{verb: partial(functions.elementwise, name) for verb, name in ELEMENTWISE.items()},
    **{function.__name__: function for function in _WRITTEN},
}
