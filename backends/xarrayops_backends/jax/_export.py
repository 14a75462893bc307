"""Exports by JAX: StableHLO by jax.export, and ONNX by the package jax2onnx."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import jax

from xarrayops.plugin import Array, host
from xarrayops.plugin.export import Exporter, Program, Run
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import _lowered_for
from xarrayops_backends.jax._operations import references

_RESERVED = frozenset(("floordiv", "max", "min", "mod", "non_negative"))
"""The operators of symbolic shapes."""
_PLATFORMS = ("cpu", "cuda", "rocm", "tpu")
_jax: Any = jax  # untyped: JAX does not annotate these functions


def _dimensions(program: Program) -> list[tuple[Any, ...]]:
    """The shapes of the arguments, with symbols for the axes whose length may change."""
    names = dict.fromkeys(name for axes in program.axes for name in axes.values())
    export = import_module("jax.export")
    text = ",".join(f"{name}_" if name in _RESERVED else name for name in names)
    symbols = dict(zip(names, export.symbolic_shape(text), strict=True)) if names else {}
    return [
        tuple(symbols[axes[axis]] if axis in axes else n for axis, n in enumerate(x.shape))
        for x, axes in zip(program.arrays, program.axes, strict=True)
    ]


def _specs(program: Program) -> list[Any]:
    return [
        _jax.ShapeDtypeStruct(shape, x.dtype) for x, shape in zip(program.arrays, _dimensions(program), strict=True)
    ]


def _lowers(on: Callable[[Sequence[str]], Any], platform: str) -> bool:
    try:
        on([platform])
    except Exception:
        return False
    return True


class _JaxExporter(Exporter):
    """What the exporters of JAX share."""

    platform: str | None = None

    def settings(self, is_wide: bool, /) -> AbstractContextManager[object]:
        """64-bit types for arrays of libraries that have them, and references instead of the kernels of operations."""
        stack = ExitStack()
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        if is_wide:
            stack.enter_context(_jax.enable_x64(True))
        stack.callback(setattr, references, "wanted", references.wanted)
        references.wanted = True
        stack.enter_context(_lowered_for(self.platform, None))
        return stack

    def running(self, is_wide: bool, /) -> AbstractContextManager[object]:
        """64-bit types for arrays of libraries that have them."""
        return _jax.enable_x64(True) if is_wide else nullcontext()


class StableHlo(_JaxExporter):
    """Serialized exports of JAX."""

    name = "jax.export"
    target = "stablehlo"
    library = "jax"
    packages = ("flatbuffers",)
    install = "flatbuffers"

    def _exported(self, program: Program) -> Any:
        """The program for all platforms, or for those for which JAX can lower it; at least for that of this machine."""
        function, specs = _jax.jit(program.function), _specs(program)
        export = import_module("jax.export")

        def on(platforms: Sequence[str]) -> Any:
            return export.export(function, platforms=platforms)(*specs)

        try:
            return on(_PLATFORMS)
        except Exception:  # each platform raises its own
            own = export.default_export_platform()
            return on([own, *(each for each in _PLATFORMS if each != own and _lowers(on, each))])

    def obstacle(self, program: Program, /) -> str | None:
        """Why jax.export cannot lower the function."""
        self._exported(program)
        return None

    def write(self, program: Program, path: Path, /) -> None:
        """See `Exporter`."""
        path.write_bytes(self._exported(program).serialize())

    def load(self, path: Path, /) -> Run:
        """See `Exporter`."""
        call = _jit(import_module("jax.export").deserialize(bytearray(path.read_bytes())).call)

        def run(arrays: Sequence[Array]) -> Sequence[Array]:
            return call(*arrays)

        return run


class Jax2Onnx(host.onnx.OnnxExporter, _JaxExporter):
    """ONNX files, whose arguments are NumPy arrays."""

    name = "jax2onnx"
    platform = "cpu"  # it has no choice of platforms
    rank = 1
    packages = ("onnx", "jax2onnx")
    install = "xarrayops[export-jax]"

    def obstacle(self, program: Program, /) -> str | None:
        """Why JAX cannot trace the function. What jax2onnx supports is only known when it writes the file."""
        _jax.make_jaxpr(program.function)(*program.arrays)
        return None

    def write(self, program: Program, path: Path, /) -> None:
        """See `Exporter`."""
        inputs = [
            _jax.ShapeDtypeStruct(tuple(axes.get(axis, n) for axis, n in enumerate(x.shape)), x.dtype)
            for x, axes in zip(program.arrays, program.axes, strict=True)
        ]
        try:
            model = import_module("jax2onnx").to_onnx(
                program.function,
                inputs,
                enable_double_precision=any(x.dtype.itemsize == 8 and x.dtype.kind == "f" for x in program.arrays),
                return_mode="proto",  # with the weights, which jax2onnx writes to a second file
                input_names=list(program.inputs),
                output_names=list(program.outputs),
            )
        finally:
            # It replaces functions of JAX while it traces, and JAX would keep what it traced with them, also in others.
            _jax.clear_caches()
        path.write_bytes(model.SerializeToString())


_EXPORTERS = (StableHlo(), Jax2Onnx())


def exporters() -> tuple[Exporter, ...]:
    """The exporters of functions of JAX arrays."""
    return _EXPORTERS
