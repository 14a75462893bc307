"""engines: the libraries whose kernels may serve the arrays of other libraries.

While a block is open, dispatch uses tables whose functions ask the engines first (`serving`). A call of an engine has
three steps: the arrays are passed to the engine (`passing`), its function runs, and the results come back. `forms`
predicts whether the results would equal those of the caller's library; `functions` has the data by function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch import lookup as dispatch
from xarrayops._ops.engines.block import active as active, engines as engines
from xarrayops._ops.verb import Verb


def _in_tables(
    verb: str, own: Backend, key: dispatch.Classes, function: Callable[..., Any], state: int
) -> Callable[..., Any]:
    """Like `serving.in_tables`, which is imported when the first block opens."""
    from xarrayops._ops.engines.serving import in_tables

    return in_tables(verb, own, key, function, state)


dispatch.changes.append(_in_tables)

VERBS = (Verb("engines", engines),)
