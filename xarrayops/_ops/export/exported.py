"""The results of `export`: a function that reads its arguments and runs the file, and a report about the file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.agreement import is_same
from xarrayops._ops.engines import passing
from xarrayops._ops.exchange.convert import convert
from xarrayops._ops.export.request import Request
from xarrayops._ops.transformations.arguments import form_of, rebuilt
from xarrayops.errors import XArrayOpsError
from xarrayops.plugin.arrays import Array, Record
from xarrayops.plugin.export import Exporter, Run
from xarrayops.plugin.nested import is_array, leaves, leaves_as


class Reader:
    """Finds the arrays of a call, in the order of the file."""

    def __init__(self, request: Request) -> None:
        self._parameters = request.parameters
        self._form = tuple(map(form_of, request.examples))
        self._inputs = request.inputs
        self._shapes = request.shapes

    def read(self, call: str, arguments: tuple[Any, ...]) -> tuple[Backend, tuple[Array, ...]]:
        """The library of the arrays, and the arrays.

        Raises `ValueError` if the structure, constants, shapes or dtypes differ from the examples.
        """
        arrays = self._arrays(call, arguments)
        own = find.one_of("export", dict(zip(self._inputs, arrays, strict=True)))
        self._require_fit(call, own, arrays)
        return own, arrays

    def _arrays(self, call: str, arguments: tuple[Any, ...]) -> tuple[Array, ...]:
        if not isinstance(arguments, tuple) or len(arguments) != len(self._form):
            count = len(arguments) if isinstance(arguments, tuple) else 1
            raise ValueError(f"{call}: the arguments are {', '.join(self._parameters)}, not {count} arguments")
        arrays: list[Array] = []
        for name, form, value in zip(self._parameters, self._form, arguments, strict=True):
            try:
                members = tuple(leaves_as(form, value))
            except TypeError as error:
                raise ValueError(f"{call}: the structure of {name} differs from the example: {error}") from None
            for want, got in zip(leaves(form), members, strict=True):
                if is_array(want):
                    if not is_array(got):
                        raise ValueError(f"{call}: {name} has {type(got).__name__} instead of an array")
                    arrays.append(got)
                elif got is not want and (is_array(got) or not is_same(want, got)):
                    raise ValueError(f"{call}: {name} is the constant {want!r} in the file, not {got!r}")
        return tuple(arrays)

    def _require_fit(self, call: str, own: Backend, arrays: tuple[Array, ...]) -> None:
        lengths: dict[str, int] = {}
        for name, x, (dtype, shape) in zip(self._inputs, arrays, self._shapes, strict=True):
            fits = len(x.shape) == len(shape) and all(
                n == (lengths.setdefault(size, n) if isinstance(size, str) else size)
                for n, size in zip(x.shape, shape, strict=True)
            )
            found = own.functions["dtype_name"](x.dtype)
            if not fits or found != dtype:
                wanted = f"{dtype} of shape ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
                given = f"{found} of shape {tuple(x.shape)}"
                raise ValueError(f"{call}: {name} is {given}, and the file is for {wanted}")


class ExportReport(Record):
    """What was exported and how it was checked. ``str()`` gives text, ``as_dict()`` gives plain data.

    Attributes
    ----------
    path : Path
        The file.
    target, route : str
        The format, and the exporter that wrote the file, such as "torch.onnx".
    nbytes : int
        The size of the file.
    details : dict
        The contents of the file; for ONNX the opset, the number of nodes and the number of each operator.
    inputs, outputs : tuple of str
        The names of the arguments and of the results in the file.
    compared : dict
        For each call that was compared with the function, the largest difference, relative to the largest value.
    notes : tuple of str
        Further findings, such as results for NaN that differ.
    refused : dict
        The exporters that were tried before, with the reason why each failed.
    """

    path: Path
    target: str
    route: str
    nbytes: int
    details: dict[str, object]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    compared: dict[str, float]
    notes: tuple[str, ...]
    refused: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return self._asdict() | {"path": str(self.path)}

    def __str__(self) -> str:
        checks = ", ".join(f"{label} ({difference:.1e})" for label, difference in self.compared.items())
        lines = [f"{self.path}: {self.target} by {self.route}, {self.nbytes} bytes"]
        if self.details:
            lines.append(f"  contains: {', '.join(_shown(name, value) for name, value in self.details.items())}")
        lines.append(f"  arguments: {', '.join(self.inputs)}; results: {', '.join(self.outputs)}")
        lines.append(f"  agrees with the function, with the largest difference: {checks}")
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  {name} was not used: {reason}" for name, reason in self.refused.items()]
        return "\n".join(lines)


def _shown(name: str, value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {each}" for each, count in value.items())
    if name == "opset":
        return f"opset {value}"
    return "1 node" if (name, value) == ("nodes", 1) else f"{value} {name}"


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
        return passing.back(y, own, self._library, arguments)


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
