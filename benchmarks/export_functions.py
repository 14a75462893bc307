"""For each function of the standard a function of arrays that calls it, and example arguments, to be exported.

Axis 0 of the arguments in ``dynamic`` may change its length.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import xarrayops as xo

_random = np.random.default_rng(0)


@dataclass(frozen=True)
class Example:
    """A function, its example arguments, and the names of those whose axis 0 may change."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    dynamic: tuple[str, ...] = ("x",)


def _floats(*shape: int, low: float = -2.0, high: float = 2.0) -> Any:
    return _random.uniform(low, high, shape).astype("float32")


def _integers(*shape: int, low: int = 0, high: int = 7) -> Any:
    return _random.integers(low, high, shape).astype("int32")


def _booleans(*shape: int) -> Any:
    return _random.random(shape) < 0.5


def _complex(*shape: int) -> Any:
    return (_floats(*shape) + 1j * _floats(*shape)).astype("complex64")


def _positive_definite(*shape: int) -> Any:
    a = _floats(*shape)
    return (a @ a.swapaxes(-1, -2) + 4 * np.eye(shape[-1])).astype("float32")


X, Y = _floats(6, 4), _floats(6, 4)
POSITIVE = _floats(6, 4, low=0.5, high=3.0)
WITHIN_ONE = _floats(6, 4, low=-0.9, high=0.9)
K, L = _integers(6, 4), _integers(6, 4, low=1)
P, Q = _booleans(6, 4), _booleans(6, 4)
Z = _complex(6, 4)
SQUARE = _positive_definite(5, 3, 3)
SORTED = np.sort(_floats(6))

EXAMPLES: dict[str, Example] = {}


def _of(names: str, *arguments: Any, dynamic: tuple[str, ...] = ("x",), **options: Any) -> None:
    """Add calls of one array or two, x and y."""
    for name in names.split():
        function = operator.attrgetter(name)(xo)
        if len(arguments) == 1:
            EXAMPLES[name] = Example(lambda x, f=function: f(x, **options), arguments, dynamic)
        else:
            EXAMPLES[name] = Example(lambda x, y, f=function: f(x, y, **options), arguments, (*dynamic, "y"))


def _add(name: str, function: Callable[..., Any], *arguments: Any, dynamic: tuple[str, ...] = ("x",)) -> None:
    EXAMPLES[name] = Example(function, arguments, dynamic)


_of("abs asinh atan ceil cos cosh exp expm1 floor isfinite isinf isnan negative positive round sign signbit", X)
_of("sin sinh square tan tanh trunc any all count_nonzero mean max min sum prod std var argmax argmin", X)
_of("empty_like ones_like zeros_like", X)
_add("empty_like", lambda x: xo.ones_like(xo.empty_like(x)), X)
_of("acosh", POSITIVE + 0.5)
_of("log log10 log1p log2 reciprocal sqrt", POSITIVE)
_of("acos asin atanh", WITHIN_ONE)
_of("add atan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp", X, Y)
_of("maximum minimum multiply nextafter not_equal remainder subtract", X, Y)
_of("pow", POSITIVE, Y)
_of("bitwise_and bitwise_or bitwise_xor", K, L)
_of("bitwise_left_shift bitwise_right_shift", K, L % 4)
_of("bitwise_invert", K)
_of("logical_and logical_or logical_xor", P, Q)
_of("logical_not", P)
_of("conj imag real", Z)
_of("argsort sort", X, axis=-1)
_of("cumulative_prod cumulative_sum diff flip", X, axis=-1)
_of("matrix_transpose tril triu", X)
_of("vecdot", X, Y)

_add("arange", lambda x: x + xo.reshape(xo.arange(x.shape[0], dtype="float32", like=x), (-1, 1)), X)
_add("asarray", lambda x: x + xo.asarray([1.0, 2.0, 3.0, 4.0], dtype="float32", like=x), X)
_add("astype", lambda x: xo.astype(x, "int32"), X)
_add("broadcast_arrays", lambda x, y: tuple(xo.broadcast_arrays(x, y)), X, _floats(4))
_add("broadcast_shapes", lambda x: xo.broadcast_to(x, xo.broadcast_shapes(x.shape, (1, 4))), X)
_add("broadcast_to", lambda x: xo.broadcast_to(x, (3, *x.shape)), X)
_add("can_cast", lambda x: x * (2.0 if xo.can_cast(x, "float64") else 3.0), X)
_add("clip", lambda x: xo.clip(x, -1.0, 1.0), X)
_add("concat", lambda x, y: xo.concat([x, y], axis=1), X, Y, dynamic=("x", "y"))
_add("empty", lambda x: x + xo.ones_like(xo.empty(x.shape, dtype="float32", like=x)), X)
_add("expand_dims", lambda x: xo.expand_dims(x, axis=1), X)
_add("eye", lambda x: x @ xo.eye(4, dtype="float32", like=x), X)
_add("finfo", lambda x: x * xo.finfo(x.dtype).eps, X)
_add("from_dlpack", xo.from_dlpack, X)
_add("full", lambda x: x + xo.full(x.shape, 2.0, dtype="float32", like=x), X)
_add("full_like", lambda x: xo.full_like(x, 2.0), X)
_add("iinfo", lambda x: xo.minimum(x, xo.iinfo(x.dtype).max - 1), K)
_add("isdtype", lambda x: x * (2.0 if xo.isdtype(x.dtype, "real floating") else 3.0), X)
_add("isin", xo.isin, K, _integers(3), dynamic=("x1",))
_add("linspace", lambda x: x * xo.linspace(0.0, 1.0, 4, dtype="float32", like=x), X)
_add("matmul", xo.matmul, X, _floats(4, 3), dynamic=("x1",))
_add("meshgrid", lambda x, y: tuple(xo.meshgrid(x, y)), _floats(6), _floats(4))
_add("moveaxis", lambda x: xo.moveaxis(x, 0, 1), X)
_add("nonzero", lambda x: tuple(xo.nonzero(x)), P)
_add("ones", lambda x: x + xo.ones(x.shape, dtype="float32", like=x), X)
_add("permute_dims", lambda x: xo.permute_dims(x, (1, 0)), X)
_add("repeat", lambda x: xo.repeat(x, 3, axis=1), X)
_add("reshape", lambda x: xo.reshape(x, (-1, 2, 2)), X)
_add("result_type", lambda x: xo.astype(x, xo.result_type(x, "int8")), X)
_add("roll", lambda x: xo.roll(x, 2, axis=0), X)
_add("searchsorted", xo.searchsorted, SORTED, _floats(5), dynamic=("x2",))
_add("squeeze", lambda x: xo.squeeze(x, axis=1), _floats(6, 1, 4))
_add("stack", lambda x, y: xo.stack([x, y], axis=1), X, Y, dynamic=("x", "y"))
_add("take", lambda x, y: xo.take(x, y, axis=1), X, np.asarray([0, 3, 1]))
_add("take_along_axis", lambda x, y: xo.take_along_axis(x, y, axis=1), X, _integers(6, 2, high=4), dynamic=("x", "y"))
_add("tensordot", lambda x, y: xo.tensordot(x, y, axes=1), X, _floats(4, 3))
_add("tile", lambda x: xo.tile(x, (1, 2)), X)
_add("unique_all", lambda x: tuple(xo.unique_all(x)), K)
_add("unique_counts", lambda x: tuple(xo.unique_counts(x)), K)
_add("unique_inverse", lambda x: tuple(xo.unique_inverse(x)), K)
_add("unique_values", xo.unique_values, K)
_add("unstack", lambda x: tuple(xo.unstack(x, axis=1)), X)
_add("where", lambda x, y: xo.where(x > 0, x, y), X, Y, dynamic=("x", "y"))
_add("zeros", lambda x: x + xo.zeros(x.shape, dtype="float32", like=x), X)

_of("fft.fft fft.ifft fft.fftn fft.ifftn", Z, dynamic=("x",))
EXAMPLES["fft.fftn"] = Example(lambda x: xo.fft.fftn(x, axes=(1,)), (Z,))
EXAMPLES["fft.ifftn"] = Example(lambda x: xo.fft.ifftn(x, axes=(1,)), (Z,))
_of("fft.hfft fft.irfft", Z)
_add("fft.irfftn", lambda x: xo.fft.irfftn(x, axes=(1,)), Z)
_of("fft.ihfft fft.rfft", X)
_add("fft.rfftn", lambda x: xo.fft.rfftn(x, axes=(1,)), X)
_of("fft.fftshift fft.ifftshift", X)
_add("fft.fftfreq", lambda x: x * xo.fft.fftfreq(4, dtype="float32", like=x), X)
_add("fft.rfftfreq", lambda x: x * xo.fft.rfftfreq(6, dtype="float32", like=x), X)

_of("linalg.cholesky linalg.det linalg.eigvalsh linalg.inv linalg.pinv linalg.svdvals linalg.trace", SQUARE)
_of("linalg.matrix_rank linalg.matrix_norm linalg.vector_norm linalg.diagonal", SQUARE)
_add("linalg.slogdet", lambda x: tuple(xo.linalg.slogdet(x)), SQUARE)
_add("linalg.qr", lambda x: xo.matmul(*xo.linalg.qr(x)), SQUARE)
_add("linalg.svd", lambda x: xo.linalg.svd(x)[1], SQUARE)
_add("linalg.eigh", lambda x: xo.linalg.eigh(x)[0], SQUARE)
_add("linalg.eig", lambda x: xo.sort(xo.real(xo.linalg.eig(x)[0])), SQUARE)
_add("linalg.eigvals", lambda x: xo.sort(xo.real(xo.linalg.eigvals(x))), SQUARE)
_add("linalg.matrix_power", lambda x: xo.linalg.matrix_power(x, 3), SQUARE)
_add("linalg.solve", xo.linalg.solve, SQUARE, _floats(5, 3, 2), dynamic=("x1", "x2"))
_add("linalg.cross", lambda x, y: xo.linalg.cross(x, y), _floats(6, 3), _floats(6, 3), dynamic=("x", "y"))
_add("linalg.outer", lambda x, y: xo.linalg.outer(x, y), _floats(6), _floats(4))
