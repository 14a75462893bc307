"""An exported function: it runs the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from xarrayops._core import registry
from xarrayops._core.dispatch import require_one_backend
from xarrayops._core.registry import Backend
from xarrayops._ops.engines import passing
from xarrayops._ops.exchange.convert import convert
from xarrayops._ops.export.report import ExportReport
from xarrayops._ops.transformations.arguments import form_of, rebuilt
from xarrayops._protocol.export_hooks import Exporter, Run
from xarrayops._protocol.nested import is_array, leaves, leaves_as
from xarrayops._protocol.types import Array
from xarrayops.errors import XArrayOpsError

if TYPE_CHECKING:
    from pathlib import Path

    from xarrayops._ops.export.request import Request


def passed(x: Array, library: Backend) -> Array:
    """An array as one of the library that writes or runs a file."""
    if registry.backend_of(x) is library:
        return x
    return convert(x, library.name, device=passing.device_in(x, library))


def is_wide(library: Backend) -> bool:
    """Whether a library has 64-bit types, which JAX lacks by default."""
    return library.functions["import_refusal"]("int64") is None


class Runner:
    """A loaded file, for arrays of any library."""

    def __init__(self, exporter: Exporter, path: Path, request: Request) -> None:
        self._exporter = exporter
        self._library = registry.backend_by_name(exporter.library)
        self._form, self._count = request.form, len(request.outputs)
        with exporter.settings(is_wide(request.own)):
            self._run: Run = exporter.load(path)

    def result(self, own: Backend, arrays: Iterable[Array]) -> Any:
        """The result of a call, in arrays of the library of its arguments."""
        given = tuple(arrays)
        with self._exporter.settings(is_wide(own)):
            found = self._run([passed(x, self._library) for x in given])
            if len(found) != self._count:
                raise XArrayOpsError(f"the file returns {len(found)} arrays, and the function {self._count}")
            return rebuilt(self._form, (self._back(y, own, given) for y in found))

    def _back(self, y: Array, own: Backend, arguments: tuple[Array, ...]) -> Array:
        if registry.backend_of(y) is own:
            return y
        functions = self._library.functions
        if not is_wide(own) and functions["dtype_name"](y.dtype) == "int64":  # an index or a count
            y = functions["astype"](y, functions["as_dtype"]("int32"))
        found: Array = passing.back(y, own, self._library, arguments)
        return found


class Exported:
    """A function in a file, which `export` returns: a call runs the file.

    Attributes
    ----------
    path : Path
        The file.
    report : ExportReport
        How it was made and checked.
    """

    def __init__(self, report: ExportReport, runner: Runner, request: Request) -> None:
        self.report = report
        self._runner = runner
        self._call = request.call
        self._shapes = request.shapes
        self._inputs = request.inputs
        self._parameters = request.parameters
        self._form = tuple(map(form_of, request.examples))

    @property
    def path(self) -> Path:
        """The file."""
        return self.report.path

    def __call__(self, /, *arguments: Any) -> Any:
        """The results for arguments as in the examples: nested in the same way, with the same constants.

        Dictionaries are read by their keys, in any order.
        """
        arrays = self._arrays(arguments)
        own = require_one_backend("export", dict(zip(self._inputs, arrays, strict=True)))
        self._require_fit(own, arrays)
        try:
            return self._runner.result(own, arrays)
        except XArrayOpsError:
            raise
        except Exception as error:  # the libraries that run files raise anything
            raise XArrayOpsError(f"{self._call}: the file does not run with these arguments: {error}") from error

    def _arrays(self, arguments: tuple[Any, ...]) -> tuple[Array, ...]:
        """The arrays in the arguments, in the order of the file. Raises `ValueError` for other arguments."""
        if len(arguments) != len(self._form):
            wanted = ", ".join(self._parameters)
            raise ValueError(f"{self._call}: the file takes the arguments {wanted}, not {len(arguments)} arguments")
        arrays: list[Array] = []
        for name, form, value in zip(self._parameters, self._form, arguments, strict=True):
            try:
                members = tuple(leaves_as(form, value))
            except TypeError as error:
                raise ValueError(f"{self._call}: {name} is nested otherwise than in the example: {error}") from None
            for want, got in zip(leaves(form), members, strict=True):
                if is_array(want):
                    if not is_array(got):
                        raise ValueError(f"{self._call}: {name} has {type(got).__name__} in the place of an array")
                    arrays.append(got)
                elif is_array(got) or not (got is want or bool(got == want)):
                    raise ValueError(f"{self._call}: {name} is the constant {want!r} in the file, not {got!r}")
        return tuple(arrays)

    def __repr__(self) -> str:
        return f"<exported function: {self.report.target} in {self.report.path}>"

    def _require_fit(self, own: Backend, arrays: tuple[Array, ...]) -> None:
        lengths: dict[str, int] = {}
        for name, x, (dtype, shape) in zip(self._inputs, arrays, self._shapes, strict=True):
            fits = len(x.shape) == len(shape) and all(
                n == (lengths.setdefault(size, n) if isinstance(size, str) else size)
                for n, size in zip(x.shape, shape, strict=True)
            )
            found = own.functions["dtype_name"](x.dtype)
            if not fits or found != dtype:
                wanted = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
                raise ValueError(
                    f"{self._call}: {name} is {found} of shape {tuple(x.shape)}, and the file is for {dtype} of shape "
                    f"{wanted}"
                )
