"""The hooks: functions that a backend may define in addition to the functions of the standard.

Each public function in the modules of this folder declares one hook. Its docstring is the contract, and its parameters
after ``xp`` are the parameters of a backend's function. Its body serves libraries whose backend does not define the
hook: ``xp`` is their namespace, and the body uses only functions of the standard.
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
    export,
    indexing,
    layout,
    operations,
    precision,
    products,
    random,
    sets,
    sharding,
    transfers,
    transformations,
)

if TYPE_CHECKING:
    import inspect

FAMILIES = (
    *(arrays, devices, dtypes, exchange, layout, indexing, products, precision, attention, convolution, random, sets),
    *(compilation, export, operations, sharding, transfers, transformations),
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
