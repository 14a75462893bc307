"""Probes of conversion: the device of the result, its values, and the lifetime of its memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
from report import Probe, Wrong, accelerated, grid, libraries, on, places, seconds

import xarrayops as xo
from xarrayops._host import views
from xarrayops.plugin import Device

VIEWS: dict[str, Callable[[Any], Any]] = {
    "compact": lambda x: x,
    "transposed": lambda x: xo.permute_dims(x, (1, 0)),
    "every second column": lambda x: x[:, ::2],
}
OFFSETS = (0, 1, 2, 4)
"""Offsets in float32 elements. XLA needs an alignment of 16 bytes; views in NumPy and PyTorch begin at any element."""


def devices(probe: Probe) -> None:
    """Versions, devices with their attributes, and the candidates of attention on each library's first device.

    At least one library must see an accelerator: on the CPU the other probes would show nothing.
    """
    kinds = {name: sorted({d.kind for d in xo.backend(name).devices()}) for name in libraries()}
    seen = any(kind != "cpu" for found in kinds.values() for kind in found)
    probe.note("an accelerator", "ok" if seen else "wrong", kinds=kinds)
    for library in libraries():
        backend = xo.backend(library)

        def found(backend: Any = backend) -> dict[str, Any]:
            listed = {d.name: [d.kind, d.label, backend.device_attributes(d)] for d in backend.devices()}
            start = time.perf_counter()
            for _ in range(100):
                backend.devices()
            us = round((time.perf_counter() - start) * 1e4, 1)
            return {"versions": backend.versions, "devices": listed, "devices_us": us}

        probe.examine(library, found)

        def candidates(library: str = library) -> dict[str, Any]:
            q, k, v = (on(library, grid((2, heads, 128, 64))) for heads in (8, 2, 2))
            q, k, v = (xo.astype(x, xo.float16) for x in (q, k, v))
            listed = {c.name: c.reason if not c.ok else "can" for c in xo.explain("attention", q, k, v).candidates}
            return {"device": str(xo.device(q)), "candidates": listed}

        probe.examine(f"{library}, attention", candidates)


def placement(probe: Probe) -> None:
    """A conversion without ``device=`` stays on the same device if the target library has that device."""
    for source, target in permutations(libraries(), 2):
        for place in places(source):
            for kind, view in VIEWS.items():
                for copy in (None, True, False):
                    case = f"{source} {place.name} -> {target}, {kind}, copy={copy}"
                    probe.examine(case, lambda *given, a=(source, target, place, view, copy): _placed(*a))


def _placed(source: str, target: str, place: Device, view: Callable[[Any], Any], copy: bool | None) -> dict[str, Any]:
    host = grid((256, 1 << (14 if accelerated(source) else 8)))
    x = view(on(source, host, place))
    said = xo.explain("convert", x, target, copy=copy).summary
    y = xo.convert(x, target, copy=copy)
    here = next((d for d in xo.backend(target).devices() if (d.kind, d.index) == (place.kind, place.index)), None)
    if here is not None and xo.device(y) != here.native:
        raise Wrong(f"the result is on {xo.device(y)}, not on {here.name}; explain said: {said}")
    if here is not None and "through the host" in said:
        raise Wrong(f"explain reports a copy through the host: {said}")
    if not np.array_equal(xo.convert(y, "numpy"), view(host)):
        raise Wrong(f"the values differ; explain said: {said}")
    taken = seconds(lambda: xo.convert(x, target, copy=copy))
    return {"device": str(xo.device(y)), "gb_per_s": round(view(host).nbytes / taken / 1e9, 1), "explain": said}


def alignment(probe: Probe) -> None:
    """Memory with any alignment: the library that imports it must be able to compute with it."""
    for source, target in permutations(libraries(), 2):
        for offset in OFFSETS:

            def computed(source: str = source, target: str = target, offset: int = offset) -> dict[str, Any]:
                host = grid((257,))
                x = on(source, host)[offset : offset + 250]
                total = float(xo.sum(xo.multiply(xo.convert(x, target), 2.0)))
                if total != 2 * float(host[offset : offset + 250].sum()):
                    raise Wrong(f"the sum is {total}")
                return {"explain": xo.explain("convert", x, target).summary}

            probe.examine(f"{source} -> {target}, from element {offset} on", computed)


def from_numpy(probe: Probe) -> None:
    """The device of a converted NumPy array does not depend on the alignment of its memory."""
    for library in libraries():

        def arrived(library: str = library) -> dict[str, Any]:
            raw = np.zeros(400, np.uint8)
            start = -raw.ctypes.data % 64
            unaligned = raw[start + 16 : start + 272].view(np.float32)
            found = {str(xo.device(xo.convert(a, library))) for a in (views.aligned((64,), unaligned.dtype), unaligned)}
            if len(found) != 1:
                raise Wrong(f"aligned and unaligned memory go to different devices: {sorted(found)}")
            return {"device": found.pop()}

        probe.examine(library, arrived)


def pinned(probe: Probe) -> None:
    """Page-locked host memory is host memory to every library."""
    for target in libraries():

        def converted(target: str = target) -> dict[str, Any]:
            host = grid((64, 64))
            x = xo.pin_memory(xo.convert(host, "torch", device="cpu", copy=True))
            y = xo.convert(x, target)
            if not np.array_equal(xo.convert(y, "numpy"), host):
                raise Wrong("the values differ")
            return {"device": str(xo.device(y)), "explain": xo.explain("convert", x, target).summary}

        if "torch" in libraries() and target != "torch":
            probe.examine(f"torch -> {target}", converted)


def lifetime(probe: Probe) -> None:
    """Memory whose owner was deleted while the stream of another library still has to read it."""
    for source, target in permutations(libraries(), 2):
        large = accelerated(source) and accelerated(target)
        size, rounds = (1 << 24, 40) if large else (1000, 5)

        def kept(source: str = source, target: str = target, size: int = size, rounds: int = rounds) -> dict[str, Any]:
            order = 4096 if size > 1000 else 64
            busy = on(target, np.ones((order, order), np.float32))
            changed = 0
            for value in range(rounds):
                xo.matmul(xo.matmul(busy, busy), busy)  # keeps the reader's stream occupied
                x = xo.full((size,), float(value), like=on(source, np.zeros(1, np.float32)))
                y = xo.add(xo.convert(x, target), 0.0)
                del x
                xo.full((size,), -1.0, like=on(source, np.zeros(1, np.float32)))  # may get the same block
                changed += bool(xo.any(xo.not_equal(y, float(value))))
            if changed:
                raise Wrong(f"{changed} of {rounds} arrays changed after their owner was deleted")
            return {"arrays": rounds, "bytes": size * 4}

        probe.examine(f"{source} -> {target}", kept)


PROBES = (devices, placement, alignment, from_numpy, pinned, lifetime)
