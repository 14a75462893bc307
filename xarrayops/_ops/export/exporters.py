"""The exporters of a format, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import get_args

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops.errors import Unsupported, XArrayOpsError
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.export import Exporter, Target


class Tracing(Record):
    """An exporter, and the library whose arrays it traces."""

    exporter: Exporter
    tracer: Backend


def exporters_to(target: str, own: Backend) -> tuple[Tracing, ...]:
    """The exporters of a format: exporters of the arrays' own library first, then by rank.

    Raises
    ------
    ValueError
        No format has the name.
    Unsupported
        No library that exports to it is installed.
    """
    if target not in get_args(Target):
        raise ValueError(f"xo.export: target must be one of {get_args(Target)}, not {target!r}")
    found = [
        Tracing(exporter, backend)
        for backend in dict.fromkeys((own, *_installed()))
        for exporter in backend.functions["exporters"]()
        if exporter.target == target
    ]
    if not found:
        library = "jax" if target == "stablehlo" else "torch"
        raise Unsupported(
            f"xo.export: no installed library exports to {target!r}. Instead: pip install 'xarrayops[{library},export]'"
        )
    return tuple(sorted(found, key=lambda tracing: (tracing.tracer is not own, tracing.exporter.rank)))


def _installed() -> Iterator[Backend]:
    for name in registry.entry_points():
        with suppress(XArrayOpsError):
            yield find.named(name)
