"""The ways in which a library runs functions, and methods that report transfers and synchronisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock, local
from typing import Any

from xarrayops.plugin.arrays import Array, Record


def _unchanged(x: Any) -> Any:
    return x


class RunMode(Record):
    """One way in which a library runs a function, for `xarrayops.testing.verify`.

    Attributes
    ----------
    label : str
        Distinguishes it from the library's other ways, such as ``"jit"``; empty for the eager one.
    place : callable
        ``place(x)`` converts an array of the library to the form that this way needs, such as several chunks.
    compiled : callable
        ``compiled(function)`` gives a function with the same meaning and arguments, compiled by the library.
    context : callable
        ``context()`` gives the context in which arrays are made and the function runs.
    traces : bool
        Whether a compiler traces the function, or the arrays have no values. Not every function can run so.
    has_values : bool
        Whether the results have values, and not only a shape and a dtype.
    has_devices : bool
        Whether the library has arrays on other devices than the CPU.
    note : str
        What a reader of a report must know about the way; empty for nothing.
    host_calls : tuple of str
        What `xarrayops.profile` calls the methods that raise for arrays on other devices than the CPU.
    """

    label: str = ""
    place: Callable[[Array], Array] = _unchanged
    compiled: Callable[[Callable[..., Any]], Callable[..., Any]] = _unchanged
    context: Callable[[], AbstractContextManager[Any]] = nullcontext
    traces: bool = False
    has_values: bool = True
    has_devices: bool = False
    host_calls: tuple[str, ...] = ()
    note: str = ""

    @property
    def eager(self) -> RunMode:
        """The eager way: the arrays themselves, without a compiler."""
        return self._replace(compiled=_unchanged)


def _nbytes_of_array(kind: str, x: Array) -> int:
    return int(x.nbytes if kind == "transfer" else x.dtype.itemsize)


class ReportingMethods:
    """Methods and properties that report transfers or waits while a context is open, for the hook ``crossings``.

    They are replaced when the first context opens, and restored when the last one closes. A method that such a method
    calls reports nothing.

    Parameters
    ----------
    cls : type
        The class of the library's arrays.
    names : tuple of str
        The methods and properties; those that the class lacks are ignored.
    kind : callable
        ``kind(name, *arguments)`` gives the kind ("transfer", "wait" or "compute") of a call, or None.
    title : str
        What reports call the class, after the name of the library.
    nbytes : callable
        ``nbytes(kind, x)`` gives the number of bytes that a call of that kind moves.
    """

    def __init__(
        self,
        cls: type,
        names: tuple[str, ...],
        kind: Callable[..., str | None],
        title: str = "Array",
        nbytes: Callable[[str, Any], int] = _nbytes_of_array,
    ) -> None:
        self._class = cls
        self._title = title
        self._nbytes = nbytes
        self._names = tuple(name for name in names if hasattr(cls, name))
        self._kind = kind
        self._reports: list[Callable[..., None]] = []
        self._originals: dict[str, Any] = {}
        self._changing = RLock()
        self._thread = local()

    @contextmanager
    def reporting(self, report: Callable[..., None]) -> Iterator[None]:
        """A context in which calls in any thread report. The receiver filters by thread."""
        with self._changing:
            self._reports.append(report)
            if len(self._reports) == 1:
                self._replace()
        try:
            yield
        finally:
            with self._changing:
                self._reports.remove(report)
                if not self._reports:
                    self._restore()

    def _replace(self) -> None:
        self._originals = {name: vars(self._class).get(name) for name in self._names}
        for name in self._names:
            found = getattr(self._class, name)
            is_property = isinstance(found, property)
            wrapped = self._reporting(name, found.fget if is_property else found)
            setattr(self._class, name, property(wrapped) if is_property else wrapped)

    def _restore(self) -> None:
        for name, original in self._originals.items():
            if original is None:  # it was inherited
                delattr(self._class, name)
            else:
                setattr(self._class, name, original)

    def _reporting(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        what = f"{self._class.__module__.partition('.')[0].removesuffix('lib')}.{self._title}.{name}"

        def reporting(x: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(self._thread, "is_inside", False):
                return method(x, *args, **kwargs)
            self._thread.is_inside = True
            try:
                kind = self._kind(name, x, *args)
                if kind is not None:
                    for report in dict.fromkeys(self._reports):
                        report(kind, what, self._nbytes(kind, x))
                return method(x, *args, **kwargs)
            finally:
                self._thread.is_inside = False

        return reporting
