"""Verb: one row of the table of operations that users call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._ops.explanation import Explanation
from xarrayops.plugin.arrays import Record


class Verb(Record):
    """One row of the table ``VERBS`` of a family.

    The table is at the end of the family's file, or in the ``__init__`` of its folder. From all tables,
    tools/generate.py writes the imports of the public modules and the lists in `xarrayops._surface`.

    Attributes
    ----------
    name : str
        The public name: "relayout", "sparse.from_dense".
    function : callable
        The function that users call.
    hook : str, optional
        The hook (see `xarrayops.plugin.hooks`) by which a backend serves the verb.
    explain : callable, optional
        ``explain(name, *args, **kwargs)`` returns the `Explanation` that `xarrayops.explain` gives; None if the verb
        never chooses among kernels.
    creates : bool
        Whether the verb creates arrays and takes ``like=`` and ``backend=``.
    results : tuple of classes
        The public classes of its results.
    """

    name: str
    function: Callable[..., Any]
    hook: str | None = None
    explain: Callable[..., Explanation] | None = None
    creates: bool = False
    results: tuple[type, ...] = ()
