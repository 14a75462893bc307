"""The ways in which Dask runs a function."""

from __future__ import annotations

from xarrayops.plugin import Array, RunMode


def _in_chunks(x: Array) -> Array:
    """The array with two chunks along each axis, of different sizes where the size is odd."""
    return x.rechunk(tuple(max(1, -(-extent // 2)) for extent in x.shape))


def run_modes() -> tuple[RunMode, ...]:
    """On arrays of several chunks."""
    return (RunMode("chunks", place=_in_chunks),)
