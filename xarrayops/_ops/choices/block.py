"""The blocks in which measured choices serve: `measured` and `choices`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from xarrayops._core.modes import tables as modes
from xarrayops._core.modes.settings import Scope, Setting
from xarrayops._ops.choices import limits

if TYPE_CHECKING:
    from xarrayops._ops.choices.measurements import Measurements

NUMERICS = ("exact", "tolerance")
ENVIRONMENT = os.environ.get("XARRAYOPS_MEASURED", "0") not in ("", "0")


setting: Setting[Measurements | None] = Setting("xo.measured", is_carried=False)
"""The choices of the open blocks; None outside of all blocks, where `current` has those of the environment."""


def current() -> Measurements | None:
    """The choices that serve here; None if the default kernels do."""
    found = setting.here(None)[2] if setting.open_blocks else None
    return of_environment() if found is None else found


def of_environment() -> Measurements | None:
    """The choices that serve outside of all blocks; None without ``XARRAYOPS_MEASURED``."""
    if not ENVIRONMENT:
        return None
    with _reading:
        return _read_environment()


_reading = Lock()


@cache
def _read_environment() -> Measurements:
    found = _of_machine("exact")
    limits.begin(found.verbs, found.least)
    modes.end((modes.EVERY,))
    return found


def _of_machine(numerics: str) -> Measurements:
    from xarrayops._ops.choices.measurements import of_machine  # here: `import xarrayops` does not need it

    return of_machine(numerics)


class _Block(Scope):
    """A block of choices. Only the functions of verbs that have some look them up."""

    def _begin(self, opened: ExitStack, values: Mapping[Setting[Any], Any]) -> None:
        found = values[setting]
        limits.begin(found.verbs, found.least)
        opened.callback(limits.end, found.verbs, found.least)


class measured(_Block):  # noqa: N801 - lower case, because it is used as a statement: with xo.measured()
    """Let measured choices serve inside a ``with`` block: for each kind of call the kernel proved to be the fastest.

    ``python -m xarrayops.tune`` measures the candidates on this machine: the kernels of the arrays' own library, and
    those of other installed libraries, which serve as engines do. A candidate displaces the default only where
    interleaved rounds in two processes prove that it is at least 1.1 times as fast, with copies, conversions and
    waiting, and where it is not slower between matrix products by the library of the arrays. Nothing is measured inside
    a call of the user, and a process reads the measurements once. Outside a block the environment variable
    ``XARRAYOPS_MEASURED=1`` does the same for a whole program.

    The measurements are kept for this machine, the CPUs that this process may use, the versions of the libraries and
    the thread settings; after a change of any of them the defaults serve, until ``tune`` runs again. Calls on fewer
    than 8192 elements, tensors that require a gradient and traced code always have the default. The first call that
    another library serves imports it. `explain` shows the choice, its gain and its date.

    Parameters
    ----------
    numerics : "exact" or "tolerance"
        "exact": only candidates whose values are those of the default. "tolerance": also candidates whose values differ
        by rounding.

    Raises
    ------
    ValueError
        ``numerics`` has another value.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> with xo.measured():
    ...     y = xo.sort(np.asarray([3.0, 1.0, 2.0]))
    >>> y
    array([1., 2., 3.])
    """

    def __init__(self, *, numerics: str = "exact") -> None:
        if numerics not in NUMERICS:
            raise ValueError(f'xo.measured: numerics must be "exact" or "tolerance"; it was {numerics!r}.')
        super().__init__()
        self._numerics = numerics

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The choices for this machine."""
        return [(setting, _of_machine(self._numerics), None)]


class choices(_Block):  # noqa: N801 - lower case, because it is used as a statement: with xo.choices(file)
    """The choices of this machine, or those of a file, which a ``with`` block pins or records.

    Without a file: the choices that `measured` uses. ``print`` shows them, and ``digest`` identifies them. With a file
    that exists, the block uses the choices in it and no others, on every machine, so that results are those of the
    machine that recorded it. With a file that does not exist, the block uses the measured choices and writes those that
    served calls to the file when it closes. ``python -m xarrayops.tune --from-log FILE`` measures the calls of a file.

    Parameters
    ----------
    file : path, optional
        A file of JSON lines, one for each kind of call.
    numerics : "exact" or "tolerance"
        As for `measured`, where the choices are not those of an existing file.

    Raises
    ------
    ValueError
        A line of the file is not a choice, or the file has none. A call raises it if the file names a kernel that its
        library does not have. Also if ``numerics`` has another value.
    OSError
        The file cannot be read, or its folder is missing.

    Examples
    --------
    >>> import xarrayops as xo
    >>> len(xo.choices().digest)
    16
    """

    def __init__(self, file: str | os.PathLike[str] | None = None, *, numerics: str = "exact") -> None:
        if numerics not in NUMERICS:
            raise ValueError(f'xo.choices: numerics must be "exact" or "tolerance"; it was {numerics!r}.')
        super().__init__()
        self._file = None if file is None else os.fspath(file)
        self._is_pinned = self._file is not None and os.path.exists(self._file)
        self._found = self._pinned(self._file) if self._file and self._is_pinned else self._recorded(numerics)

    def _pinned(self, file: str) -> Measurements:
        from xarrayops._ops.choices.measurements import Measurements, choices_of
        from xarrayops._ops.choices.verdicts import table_of

        return Measurements(table_of([each] for each in choices_of(file)), f"xo.choices({file!r})", is_pinned=True)

    def _recorded(self, numerics: str) -> Measurements:
        import errno

        from xarrayops._ops.choices.measurements import Measurements

        if self._file is not None and not os.path.isdir(os.path.dirname(self._file) or "."):
            raise FileNotFoundError(
                errno.ENOENT, "xo.choices cannot write the choices: the folder is missing", self._file
            )
        return Measurements(_of_machine(numerics).table, f"xo.choices({self._file!r})", is_recording=True)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the choices: equal digits mean the same kernels."""
        return self._found.table.digest

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The choices."""
        return [(setting, self._found, None)]

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if self._file is not None and not self._is_pinned and self._found.used and exception[0] is None:
            self._found.write(self._file)

    def __str__(self) -> str:
        return f"{self._found.table}"


def block_of_environment() -> tuple[Scope, ...]:
    """The block that ``XARRAYOPS_MEASURED=1`` stands for."""
    return (measured(),) if ENVIRONMENT else ()


if ENVIRONMENT:  # until a function that has choices is found: then the measurements are read
    modes.begin((modes.EVERY,))
