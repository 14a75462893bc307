"""The kinds of memory: how each is made in a library, and how it is recognised."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._host import views
from xarrayops.errors import XArrayOpsError
from xarrayops.plugin import Array, Memory

Host = np.ndarray[Any, Any]
LARGE = "over 2 GiB"
_LARGE_BYTES = 2**31 + 2**16
_ALIGNMENT = 64
_SHAPE = (4, 6)
_FAR = 2**40
_SPECIALS = {
    "float16": (0x8000, 0x7E01, 0xFE55, 0x7C00),
    "bfloat16": (0x8000, 0x7FC1, 0xFFA5, 0xFF80),
    "float32": (0x80000000, 0x7FC00001, 0xFFA5A5A5, 0x7F800000),
    "float64": (0x8000000000000000, 0x7FF8000000000001, 0xFFF5A5A5A5A5A5A5, 0x7FF0000000000000),
    "float8_e4m3fn": (0x80, 0x7F, 0xFF, 0x01),
    "float8_e5m2": (0x80, 0x7D, 0xFF, 0x7C),
}
"""The bits of minus zero, of NaNs with a payload (one of them signalling), and of infinity where it exists."""
_PARTS = {"complex64": "float32", "complex128": "float64"}


class CannotBeMade(Exception):
    """A library has no memory of this kind; the message gives the reason."""


class Kind(NamedTuple):
    """A kind of memory: ``view`` makes it from a compact array of any library, ``holds`` recognises it.

    ``host`` makes it from a NumPy array, where indexing cannot.
    """

    view: Callable[[Array], Array]
    holds: Callable[[Memory], bool]
    host: Callable[[Host], Host] | None = None


def _read_only(a: Host) -> Host:
    a.flags.writeable = False
    return a


def _unaligned(a: Host) -> Host:
    if a.itemsize == 1:
        raise CannotBeMade("single bytes are always aligned")
    raw = np.zeros(a.nbytes + _ALIGNMENT + 1, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT + 1
    moved: Host = raw[start : start + a.nbytes].view(a.dtype).reshape(a.shape)
    moved[...] = a
    return moved


def _big_endian(a: Host) -> Host:
    if a.itemsize == 1 or a.dtype.kind not in "iufc":
        raise CannotBeMade("the dtype has one byte order")
    return a.byteswap(inplace=True).view(a.dtype.newbyteorder(">"))


def _broadcast(a: Host) -> Host:
    """Like broadcast_to, but writable: read-only memory is another kind."""
    return views.of(a, a.shape, (0, a.itemsize), typestr=f"|V{a.itemsize}").view(a.dtype)


def _far_row(a: Host) -> Host:
    """The first row, with a stride that no access may use."""
    return views.of(a, (1, *a.shape[1:]), (_FAR, a.itemsize), typestr=f"|V{a.itemsize}").view(a.dtype)


def _permuted_compact(memory: Memory) -> bool:
    backwards = memory._replace(shape=memory.shape[::-1], strides=memory.strides[::-1])
    return backwards.is_compact and not memory.is_compact


def _itself(x: Array) -> Array:
    return x


KINDS = {
    "C": Kind(_itself, lambda m: m.is_compact),
    "F": Kind(lambda x: xo.permute_dims(x, (1, 0)), _permuted_compact),
    "sliced": Kind(lambda x: x[::2, ::3], lambda m: not m.is_compact and min(m.strides) > 0),
    "negative strides": Kind(lambda x: x[::-1, ::-2], lambda m: max(m.strides) < 0),
    "zero strides": Kind(lambda x: xo.broadcast_to(x[0, :], _SHAPE), lambda m: m.strides[0] == 0, _broadcast),
    "extent 1": Kind(lambda x: x[::4, :], lambda m: m.shape[0] == 1 and m.strides[0] != 6 * m.strides[1], _far_row),
    "0-d": Kind(lambda x: x[0, 0, ...], lambda m: m.shape == ()),
    "empty": Kind(lambda x: x[:, :0], lambda m: 0 in m.shape),
    "read-only": Kind(_itself, lambda m: m.readonly, _read_only),
    "unaligned": Kind(_itself, lambda m: not m.is_aligned(m.itemsize), _unaligned),
    "big-endian": Kind(_itself, lambda m: m.dtype.startswith(">"), _big_endian),
}
_LARGE = Kind(_itself, lambda m: m.is_compact)


def plain(dtype: str, shape: tuple[int, ...] = _SHAPE) -> Host:
    """A compact, aligned NumPy array of random bits, which begins with special values."""
    numpy = find.named("numpy")
    if numpy.functions["import_refusal"](dtype) is not None:
        raise CannotBeMade(f"NumPy has no {dtype} here")
    native = np.dtype(numpy.functions["as_dtype"](dtype))
    size = int(np.prod(shape))
    raw = np.random.default_rng(0).integers(0, 256, size * native.itemsize, dtype=np.uint8)
    if dtype == "bool":
        raw &= 1
    specials = _SPECIALS.get(_PARTS.get(dtype, dtype), ())
    if specials:
        bits = np.array(specials, dtype=f"uint{native.itemsize * 8 // (2 if dtype in _PARTS else 1)}")
        raw[: bits.nbytes] = bits.view(np.uint8)
    return numpy.functions["from_numpy"](raw.view(native).reshape(shape), None)


def _large() -> Host:
    """An aligned array of zeros, which need no memory until they are copied, and a few other values."""
    raw = np.zeros(_LARGE_BYTES + _ALIGNMENT, dtype=np.uint8)
    a = raw[-raw.ctypes.data % _ALIGNMENT :][:_LARGE_BYTES]
    a[[0, 2**31 - 1, 2**31, -1]] = (1, 2, 3, 4)
    return a


def make(library: Backend, dtype: str, kind: str, device: Any = None) -> tuple[Array, Host]:
    """An array of a library with this kind of memory, and its values as a plain NumPy array.

    ``device`` is a native device of the library; None for its host device, or else for its default device.

    Raises
    ------
    CannotBeMade
        The library has no such dtype, or no such memory.
    """
    way = KINDS.get(kind, _LARGE)
    base = _large() if kind == LARGE else plain(dtype)
    refusal = library.functions["import_refusal"](dtype)
    if refusal is not None:
        raise CannotBeMade(refusal)
    want = base if kind == LARGE else np.array(way.view(base), order="C", copy=True)
    host = way.view(base) if way.host is None else way.host(base)
    if library.name == "numpy":
        return host, want
    reasons = []
    ways: tuple[Callable[[], Array], ...] = (
        partial(_native, library, way, base, device),
        partial(_of_host, library, host, device),
    )
    for made in ways:
        try:
            x = made()
        except (XArrayOpsError, BufferError, ValueError, TypeError, RuntimeError, AttributeError) as error:
            reasons.append(" ".join(str(error).split()))
            continue
        memory = library.functions["memory"](x)
        if memory is not None and memory.pointer is None:
            xo.synchronize(x)
            memory = library.functions["memory"](x)
        if find.of(x) is library and (memory is None or way.holds(memory)):
            return x, want
        reasons.append("its arrays have another layout")
    raise CannotBeMade(f"{library.name} has no such memory: {reasons[0 if way.host is None else -1]}")


def _native(library: Backend, way: Kind, base: Host, device: Any) -> Array:
    """Made by indexing in the library: of its own memory if that is aligned, otherwise of NumPy's memory."""
    if way.view is _itself and way.host is not None:
        raise ValueError("no function of the array API standard makes it")
    x = library.functions["packed"](library.functions["from_numpy"](base, device))
    memory = library.functions["memory"](x)
    if memory is not None and not memory.is_aligned(_ALIGNMENT):
        x = xo.convert(base, library.name if library.has_entry_point else library.namespace)
    return way.view(x)


def _of_host(library: Backend, host: Host, device: Any) -> Array:
    """Made from NumPy memory with DLPack."""
    held = library.device_at("cpu", 0)
    if device is not None and (held is None or held.native != device):
        raise ValueError("no function of the array API standard makes it on a device")
    return library.namespace.from_dlpack(host)
