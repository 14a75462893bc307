"""An exported function: it runs the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.engines import passing
from xarrayops._ops.exchange.convert import convert
from xarrayops._ops.export.arguments import Reader
from xarrayops._ops.export.report import ExportReport
from xarrayops._ops.transformations.arguments import rebuilt
from xarrayops.errors import XArrayOpsError
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.export import Exporter, Run

if TYPE_CHECKING:
    from pathlib import Path

    from xarrayops._ops.export.request import Request


def passed(x: Array, library: Backend) -> Array:
    """An array, converted to the library that writes or runs a file."""
    if find.of(x) is library:
        return x
    return convert(x, library.name, device=passing.device_in(x, library))


def is_wide(library: Backend) -> bool:
    """Whether a library has 64-bit types, which JAX lacks by default."""
    return library.functions["import_refusal"]("int64") is None


class Runner:
    """A loaded file that takes arrays of any library."""

    def __init__(self, exporter: Exporter, path: Path, request: Request) -> None:
        self._exporter = exporter
        self._library = find.named(exporter.library)
        self._form, self._count = request.form, len(request.outputs)
        self._run: Run = exporter.load(path)

    def result(self, own: Backend, arrays: Iterable[Array]) -> Any:
        """The result of a call, in arrays of the library of its arguments."""
        given = tuple(arrays)
        with self._exporter.running(is_wide(own)):
            found = self._run([passed(x, self._library) for x in given])
            if len(found) != self._count:
                raise XArrayOpsError(f"the file returns {len(found)} arrays, but the function {self._count}")
            return rebuilt(self._form, (self._back(y, own, given) for y in found))

    def _back(self, y: Array, own: Backend, arguments: tuple[Array, ...]) -> Array:
        functions = self._library.functions
        if not is_wide(own) and functions["dtype_name"](y.dtype) == "int64":  # an index or a count
            y = functions["astype"](y, functions["as_dtype"]("int32"))
        if find.of(y) is own:
            return y
        found: Array = passing.back(y, own, self._library, arguments)
        return found


class Exported:
    """A function in a file, which `export` returns: a call runs the file.

    Attributes
    ----------
    path : Path
        The file.
    report : ExportReport
        How it was written and checked.
    """

    def __init__(self, report: ExportReport, runner: Runner, request: Request) -> None:
        self.report = report
        self._runner = runner
        self._call = request.call
        self._reader = Reader(request)

    @property
    def path(self) -> Path:
        """The file."""
        return self.report.path

    def __call__(self, /, *arguments: Any) -> Any:
        """The results for arguments with the same structure and constants as the examples.

        The order of dictionary keys does not matter. Results have no gradients.
        """
        own, arrays = self._reader.read(self._call, arguments)
        try:
            return self._runner.result(own, arrays)
        except XArrayOpsError:
            raise
        except Exception as error:  # the libraries that run files may raise anything
            raise XArrayOpsError(f"{self._call}: the file does not run with these arguments: {error}") from error

    def __repr__(self) -> str:
        return f"<exported function: {self.report.target} in {self.report.path}>"
