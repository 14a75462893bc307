"""Keyword options that we add to functions of the standard.

A generated function passes a call with such an option to the function of its operation, so that other calls cost
nothing more, and backends define the function of the standard alone.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xarrayops.plugin.candidates import constant_while_tracing

MODULES = {"matmul": "xarrayops._ops.products"}
"""The module of the operation that serves a verb with options, which is imported by the first such call."""
served: dict[str, Callable[..., Any]] = {}
"""The function that serves calls with options, by the verb; those modules add theirs."""


def with_options(verb: str, /, *args: Any, **options: Any) -> Any:
    """The result of a call of a function of the standard with options of our own."""
    _load(verb)
    return served[verb](*args, **options)


@constant_while_tracing
def _load(verb: str) -> None:
    import_module(MODULES[verb])
