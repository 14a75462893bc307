"""Keyword options that we add to functions of the standard.

A generated function passes a call with such an option to the function of its operation. So other calls cost nothing
more, and backends define only the function of the standard.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xarrayops.plugin.candidates import constant_while_tracing

MODULES = {"matmul": "xarrayops._ops.products"}
"""The module of the operation that serves a verb with options. The first such call imports it."""
served: dict[str, Callable[..., Any]] = {}
"""The functions that serve calls with options, by verb. The modules above register them."""


def with_options(verb: str, /, *args: Any, **options: Any) -> Any:
    """Call a function of the standard with options that we add."""
    _load(verb)
    return served[verb](*args, **options)


@constant_while_tracing
def _load(verb: str) -> None:
    import_module(MODULES[verb])
