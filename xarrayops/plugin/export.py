"""The exporters of a backend: each writes a function to a file of a format, and runs the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, ClassVar, Literal

from xarrayops.plugin.arrays import Array, Record

if TYPE_CHECKING:
    from pathlib import Path

Target = Literal["onnx", "stablehlo", "pt2", "torchscript", "tensorrt"]
"""The formats."""
Run = Callable[[Sequence[Array]], Sequence[Array]]
"""A loaded file: it takes the arrays of a call and returns the arrays of the result."""


class Program(Record):
    """A function to export.

    Attributes
    ----------
    function : callable
        It takes the arrays and returns a tuple of arrays.
    arrays : tuple of Array
        Example arguments. The file gets their shapes and dtypes.
    inputs, outputs : tuple of str
        The names of the arguments and of the results: valid identifiers, all different.
    axes : tuple of dict
        For each argument, the names of its dynamic axes, by axis number. Axes with the same name have the same length.
    """

    function: Callable[..., tuple[Array, ...]]
    arrays: tuple[Array, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    axes: tuple[dict[int, str], ...]


class Exporter:
    """The base class of exporters. `xarrayops.export` loads the file, runs it and compares before it is kept."""

    name: ClassVar[str]
    """Shown to users, such as "torch.onnx"."""
    target: ClassVar[Target]
    """The format."""
    rank: ClassVar[int] = 0
    """The exporters of a target are tried in this order, after the exporters of the arrays' own library."""
    packages: ClassVar[tuple[str, ...]] = ()
    """The modules that it needs in addition to the library."""
    install: ClassVar[str] = ""
    """The requirement that installs them, such as "xarrayops[export]"."""
    library: ClassVar[str]
    """The name of the backend whose arrays a loaded file takes and returns."""
    is_deprecated: ClassVar[str] = ""
    """A warning for users; empty if there is none."""

    def refusal(self) -> str | None:
        """Why it cannot run here; None if it can."""
        from importlib.util import find_spec  # not needed by `import xarrayops`

        missing = [package for package in self.packages if find_spec(package) is None]
        if not missing:
            return None
        hint = f": pip install {self.install!r}" if self.install else ""
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed{hint}"

    def settings(self, is_wide: bool, /) -> AbstractContextManager[object]:
        """The library's settings while a file is written, loaded and compared; they may apply to the whole process.

        ``is_wide`` says that the arrays come from a library with 64-bit types.
        """
        return nullcontext()

    def running(self, is_wide: bool, /) -> AbstractContextManager[object]:
        """The settings of the library while a file runs, for this thread only."""
        return nullcontext()

    def obstacle(self, program: Program, /) -> str | None:
        """What the format cannot express in the function, found without writing a file; None if nothing is known."""
        raise NotImplementedError

    def write(self, program: Program, path: Path, /) -> None:
        """Write one file; raise if the function cannot be exported."""
        raise NotImplementedError

    def load(self, path: Path, /) -> Run:
        """The function in the file, which may be moved or deleted afterwards."""
        raise NotImplementedError

    def details(self, path: Path, /) -> dict[str, object]:
        """Details of the file for the report, such as its operators."""
        return {}
