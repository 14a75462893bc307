"""The hooks: functions that a backend may define beside those of the standard.

Each public function in the modules of this folder declares one hook. Its docstring is the contract, its parameters
after ``xp`` are those of a backend's function, and its body serves the libraries without a function of their own:
``xp`` is their namespace, and the body uses functions of the standard alone.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from xarrayops._generic.hooks import (
    arrays,
    attention,
    compilation,
    convolution,
    devices,
    dtypes,
    exchange,
    indexing,
    operations,
    precision,
    products,
    random,
    sets,
    transformations,
)

if TYPE_CHECKING:
    import inspect

FAMILIES = (
    *(arrays, devices, dtypes, exchange, indexing, products, attention, convolution, random, sets),
    *(precision, compilation, transformations, operations),
)
"""The modules, in the order of the documentation."""
HOOKS: dict[str, Callable[..., Any]] = {
    name: function
    for family in FAMILIES
    for name, function in vars(family).items()
    if isinstance(function, FunctionType) and function.__module__ == family.__name__ and not name.startswith("_")
}
"""The generic function of every hook, by name."""


def signature(hook: str) -> inspect.Signature:
    """The signature of a hook, as backends define it."""
    import inspect  # slow to import, and needed for errors and checks only

    generic = inspect.signature(HOOKS[hook])
    return generic.replace(parameters=list(generic.parameters.values())[1:])
