"""A verb: one operation that users call, as the table of its family lists it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from xarrayops._ops.explanation import Explanation


class Verb(NamedTuple):
    """One row of a family's table ``VERBS``, which ends the file of the family, or the ``__init__`` of its folder.

    tools/generate.py reads these rows. It writes from them the imports of the public modules, the lists in
    `xarrayops._protocol.surface` and the joined table `xarrayops._ops.verbs`.

    Attributes
    ----------
    name : str
        As users write it: "relayout", "sparse.from_dense".
    function : callable
        What users call.
    hook : str, optional
        The hook of `xarrayops.plugin.Hooks` by which a backend serves the verb.
    explain : callable, optional
        ``explain(name, *args, **kwargs)`` answers `xarrayops.explain` with an `Explanation`; None where no call of the
        verb has a choice to explain.
    creates : bool
        Whether the verb makes arrays from nothing, and takes ``like=`` and ``backend=``.
    results : tuple of classes
        The public classes of its results.
    """

    name: str
    function: Callable[..., Any]
    hook: str | None = None
    explain: Callable[..., Explanation] | None = None
    creates: bool = False
    results: tuple[type, ...] = ()
