"""The options that functions of the standard have here and not in the standard.

A generated function passes a call with such an option to the function of its operation, so that other calls cost
nothing more, and backends define the function of the standard alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

served: dict[str, Callable[..., Any]] = {}
"""The function that serves calls with options, by the verb; the operations in xarrayops/_ops add theirs."""


def with_options(verb: str, /, *args: Any, **options: Any) -> Any:
    """The result of a call of a function of the standard with options of our own."""
    return served[verb](*args, **options)
