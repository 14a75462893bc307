"""Arrays of all dtypes, shapes and memory layouts, with ordinary and special values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

import xarrayops as xo

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
REALS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", *INTEGERS, *REALS, *COMPLEX)
SHAPES = ((), (0,), (1,), (4,), (6,), (3, 4), (4, 4), (3, 1), (0, 4), (2, 3, 4))
NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
"""The dtype that serves where a library has no 64-bit types."""
LAYOUTS = {"contiguous": "", "reversed": "[::-1]", "strided": "[::2]", "transposed": ".T", "read-only": ""}
"""Memory layouts of operands, and the code that makes them."""


@dataclass
class Operand:
    """An array of a call: its base in C order, and how the operand is made of it."""

    base: numpy.ndarray
    layout: str = "contiguous"

    def __post_init__(self) -> None:
        self.base = numpy.asarray(self.base)

    @property
    def shape(self) -> tuple[int, ...]:
        return _laid_out(self.base, self.layout).shape

    @property
    def dtype(self) -> str:
        return self.base.dtype.name

    def narrow(self) -> Operand:
        """The operand without 64-bit types; integers keep their low half."""
        with numpy.errstate(all="ignore"):
            return Operand(self.base.astype(NARROW.get(self.dtype, self.dtype)), self.layout)

    def of(self, library: str) -> Any:
        """A new array of a library with these values, in this layout if the library has it."""
        base = self.base.copy()
        if library == "numpy":
            x = numpy.asarray(_laid_out(base, self.layout))
            x.flags.writeable = self.layout != "read-only"
            return x
        if library == "dask":
            import dask.array

            return dask.array.from_array(_laid_out(base, self.layout), chunks=2)
        if self.layout in ("strided", "transposed"):
            return _laid_out(xo.convert(base, library), self.layout)
        return xo.convert(numpy.ascontiguousarray(_laid_out(base, self.layout)).reshape(self.shape), library, copy=True)

    def code(self) -> str:
        """Python code that makes the operand with NumPy."""
        if 0 in self.base.shape:
            return f"numpy.zeros({self.base.shape}, {self.dtype!r}){LAYOUTS[self.layout]}"
        return f"numpy.array({_listed(self.base.tolist())}, {self.dtype!r}){LAYOUTS[self.layout]}"


def _laid_out(x: Any, layout: str) -> Any:
    if layout == "reversed":
        return x[::-1]
    if layout == "strided":
        return x[::2]
    return (
        (x.T if isinstance(x, numpy.ndarray) else xo.permute_dims(x, tuple(range(x.ndim))[::-1]))
        if (layout == "transposed")
        else x
    )


def _listed(values: Any) -> str:
    """A nested list as code in which ``nan`` and ``inf`` are names."""
    if isinstance(values, list):
        return f"[{', '.join(map(_listed, values))}]"
    if isinstance(values, complex):
        return f"complex({values.real}, {values.imag})"
    return repr(values)


def draw(rng: numpy.random.Generator, shape: tuple[int, ...], dtype: str, style: str, layout: str) -> Operand:
    """A random array: ``style`` is plain, ties, special or extreme."""
    if not shape:
        layout = "contiguous"
    base_shape = shape[::-1] if layout == "transposed" else shape
    if layout == "strided":
        base_shape = (2 * shape[0], *shape[1:])
    return Operand(numpy.asarray(_values(rng, base_shape, numpy.dtype(dtype), style), dtype), layout)


def _values(rng: numpy.random.Generator, shape: tuple[int, ...], dtype: numpy.dtype, style: str) -> numpy.ndarray:
    if dtype.kind == "b":
        return rng.random(shape) > 0.5
    if dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        low, high = (-2, 3) if style == "ties" else (-9, 10)
        x = rng.integers(0 if dtype.kind == "u" else low, high, shape).astype(dtype)
        if style == "extreme":
            x = _mixed(rng, x, [limits.min, limits.max, limits.max - 1, 0])
        return x
    if dtype.kind == "c":
        part = numpy.dtype("float32" if dtype == "complex64" else "float64")
        x = numpy.empty(shape, dtype)
        x.real, x.imag = (_values(rng, shape, part, style) for _ in range(2))
        return x
    x = (rng.integers(-2, 3, shape) / 2 if style == "ties" else rng.normal(size=shape).round(3) * 3).astype(dtype)
    if style == "special":
        x = _mixed(rng, x, [numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0])
    if style == "extreme":
        limits = numpy.finfo(dtype)
        x = _mixed(rng, x, [limits.max, limits.min, limits.tiny, limits.eps, -0.0])
    return x


def _mixed(rng: numpy.random.Generator, x: numpy.ndarray, special: list[Any]) -> numpy.ndarray:
    chosen = numpy.array(special, x.dtype)[rng.integers(0, len(special), x.shape)]
    return numpy.asarray(numpy.where(rng.random(x.shape) < 0.4, chosen, x), x.dtype)
