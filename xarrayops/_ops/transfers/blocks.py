"""strict and profile: blocks that count transfers, waits and computes (together: crossings).

Without an open block this costs nothing: libraries report crossings only inside blocks (the hook ``crossings``).
"""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from copy import copy
from importlib.util import find_spec
from typing import Any

from xarrayops._core.backends import registry
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes.settings import Scope, Setting
from xarrayops._ops.transfers.ledger import KINDS, Crossing, Ledger, line_of_user
from xarrayops.errors import CrossingError
from xarrayops.plugin.arrays import Record


class _Count(Record):
    """The state of one block: its ledger, the limits by kind, and for an outermost block the open hooks."""

    ledger: Ledger
    limits: dict[str, int]
    hooks: ExitStack
    inside: str


_watched: Setting[tuple[_Count, ...]] = Setting("xo.profile", is_carried=False)
"""The counts of the open blocks of this thread or task, the innermost last."""


def _report(kind: str, what: str, nbytes: int = 0) -> None:
    """Count a crossing in each open block of this thread or task; raise if it exceeds the limit of one."""
    counts = _watched.value(())
    if counts:
        lines = {inside: line_of_user(inside) for inside in {count.inside for count in counts}}
        for count in counts:
            count.ledger.add(Crossing(kind, what, *lines[count.inside], nbytes=nbytes))
        for count in reversed(counts):
            _require_limit(count, kind)


class counted_as_one(Scope):  # noqa: N801 - used as a statement
    """Count one crossing for all that a block moves, if an outer block counts."""

    def __init__(self, kind: str, what: str, nbytes: int) -> None:
        super().__init__()
        _report(kind, what, nbytes)

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """No counts inside."""
        return [(_watched, (), ())]


def _require_limit(count: _Count, kind: str) -> None:
    found, limit = count.ledger.count(kind), count.limits.get(kind)
    if limit is not None and found > limit:
        raise CrossingError(
            f"xo.strict allows {KINDS[kind]}={limit}, but the program made {found}; the last one is "
            f"{count.ledger.last[kind]}. Instead: "
            f"keep the values in their library, do this once outside of a loop, or write "
            f"xo.strict({KINDS[kind]}={found})"
        )


def _watch_loaded(backend: Backend) -> None:
    """Watch a library that is loaded inside a block."""
    counts = _watched.value(())
    if counts:
        counts[0].hooks.enter_context(backend.functions["crossings"](_report))


registry.on_load.append(_watch_loaded)


def _is_module(name: str) -> bool:
    try:
        return name in sys.modules or find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _unwatched() -> set[str]:
    """The imported libraries whose crossings are not counted, because no backend of theirs is loaded."""
    entries = registry.entry_points().items()
    return {name for name, entry in entries if name in sys.modules and entry.value not in registry.by_module}


class profile(Scope):  # noqa: N801 - lower case, because it is used as a statement: with xo.profile()
    """Count transfers and synchronisation inside a ``with`` block, and print a table by line at its end.

    Three kinds are counted. A *transfer* takes the values of an array out of its library or off its device:
    ``numpy()``, ``tolist()``, ``numpy.asarray(x)``, ``x.cpu()``, ``x.get()``, and ``client.gather(x)`` of a Dask
    cluster. A *wait* needs values before Python can continue: ``float(x)``, ``if x.any()``, ``x.item()``, a mask as an
    index, `nonzero`. A *compute* runs a task graph of Dask, in this process or on a cluster. Arrays on the CPU are
    counted like arrays on an accelerator, so a test without an accelerator finds what would be slow there. These
    crossings cost nothing for NumPy arrays and are not counted, nor are copies from NumPy to a library.

    The block is local to the thread or task. Crossings that a library cannot report are not counted: ``numpy.asarray``
    of a JAX array on the CPU, and those of a Dask cluster if `distributed` was imported inside the block. Functions
    that `jax.jit` or `torch.compile` compiled have no crossings inside.

    Parameters
    ----------
    show : bool
        Whether the table is printed when the block ends.
    inside : str
        An installed package or a module of it, such as ``"scipy.stats"``, whose own lines are shown. By default the
        line is the one of the program that calls an array library; SciPy counts as one.

    Returns
    -------
    Ledger
        Bound by ``as``, with the attributes ``transfers``, ``waits``, ``computes`` and ``crossings``.

    Raises
    ------
    ValueError
        ``inside`` is not installed.

    Warns
    -----
    UserWarning
        A library was imported inside the block, so its crossings were not counted.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> with xo.profile() as p:
    ...     total = float(xo.sum(np.ones(3)))
    transfers 0, waits 0, computes 0: no crossing was seen
    >>> p.waits
    0
    """

    def __init__(self, *, show: bool = True, inside: str = "") -> None:
        super().__init__()
        if inside and not _is_module(inside):
            raise ValueError(f"xo.profile: inside={inside!r} is not an installed package or module")
        self._show = show
        self._inside = inside
        self._unwatched: set[str] = set()
        self._limits: dict[str, int] = {}
        self._ledger: Ledger | None = None

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The counts of this block and the blocks around it."""
        around = _watched.value(())
        if self._ledger is not None and any(count.ledger is self._ledger for count in around):
            return [(_watched, around, ())]
        return [(_watched, (*around, _Count(self._ledger or Ledger(), self._limits, ExitStack(), self._inside)), ())]

    def carried(self, values: Mapping[Setting[Any], Any]) -> Scope:
        """A block that counts in the same ledger, in another process in an own one, and prints nothing."""
        found = copy(self)
        found._show, found._ledger = False, values[_watched][-1].ledger
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_ledger": None}

    def __enter__(self) -> Ledger:  # type: ignore[override]
        registry.load_imported()
        self._unwatched = _unwatched()
        super().__enter__()
        counts = _watched.value(())
        if len(counts) == 1:
            hooks = dict.fromkeys(backend.functions["crossings"] for backend in registry.by_module.values())
            try:
                for watch in hooks:  # PyTorch/XLA shares the hook of PyTorch
                    counts[0].hooks.enter_context(watch(_report))
            except BaseException:  # the program does not enter the block, so nothing would end it
                counts[0].hooks.close()
                super().__exit__(None, None, None)
                raise
        return counts[-1].ledger

    def __exit__(self, *exception: object) -> None:
        count = _watched.value(())[-1]
        count.hooks.close()
        super().__exit__(*exception)
        missed = sorted(_unwatched() - self._unwatched)
        if missed:
            registry.load_imported()
            loaded = {name: registry.by_module.get(registry.entry_points()[name].value) for name in missed}
            names = [name for name, backend in loaded.items() if backend and backend.own_hook("crossings")]
            if names:
                warnings.warn(
                    f"xo.profile: {', '.join(names)} was imported inside the block, so its crossings were not counted. "
                    f"Instead: import it before the block",
                    stacklevel=2,
                )
        if self._show:
            print(count.ledger)
        if exception[0] is None:  # the program may have caught the error
            for kind in count.limits:
                _require_limit(count, kind)


class strict(profile):  # noqa: N801 - lower case, because it is used as a statement: with xo.strict()
    """Limit the transfers and waits inside a ``with`` block, and raise at the line of the first one beyond the limit.

    `profile` describes the kinds, and what libraries report.

    Parameters
    ----------
    transfers, waits, computes : int, optional
        The numbers that are allowed; None allows any number.

    Returns
    -------
    Ledger
        Bound by ``as``: the crossings so far.

    Raises
    ------
    CrossingError
        A limit is exceeded. The message has the call and the line. It is raised again at the end of the block if the
        program caught it.
    TypeError, ValueError
        A limit is not an integer, or is negative.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> with xo.strict(transfers=0, waits=0):
    ...     y = xo.sqrt(np.ones(3))
    """

    def __init__(self, *, transfers: int | None = 0, waits: int | None = None, computes: int | None = 0) -> None:
        super().__init__(show=False)
        limits = {"transfer": transfers, "wait": waits, "compute": computes}
        for kind, limit in limits.items():
            if limit is not None and operator.index(limit) < 0:
                raise ValueError(f"xo.strict: {KINDS[kind]} must be 0 or more, or None for any number; it was {limit}")
        self._limits = {kind: limit for kind, limit in limits.items() if limit is not None}
