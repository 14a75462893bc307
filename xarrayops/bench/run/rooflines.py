"""The rooflines that were measured in a run, by device, dtype and library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xarrayops.bench.measure.roofline import Roofline, rated_memory

RooflineKey = tuple[str, int, str]
"""A kind of device, its index, and a dtype."""


def device_name(kind: str, index: int) -> str:
    """The name of a device, independent of the library: JAX calls the CPU "cpu:0", torch calls a ROCm GPU "cuda:0"."""
    return kind if kind in ("", "cpu") else f"{kind}:{index}"


class MeasuredRooflines:
    """The rates that `xarrayops.bench.measure.roofline.measure_roofline` found, by device, dtype and library."""

    def __init__(self) -> None:
        self._rooflines: dict[RooflineKey, dict[str, Roofline]] = {}
        self._failures: dict[RooflineKey, dict[str, str]] = {}

    def knows(self, key: RooflineKey, backend: str) -> bool:
        """Whether the library has answered."""
        return backend in self._rooflines.get(key, {})

    def add(self, key: RooflineKey, backend: str, answer: Mapping[str, Any]) -> None:
        """Add an answer of a library. Of repeated measurements, the best counts."""
        known = self._rooflines.setdefault(key, {})
        known[backend] = Roofline.best((known.get(backend, Roofline.of({})), Roofline.of(answer)))
        if answer["status"] != "ok":
            self._failures.setdefault(key, {})[backend] = f"{answer['status']}: {answer['reason']}"

    def best(self, key: RooflineKey) -> Roofline | None:
        """The best rates of all libraries; None unless both kinds of rate are known."""
        best = Roofline.best(self._rooflines.get(key, {}).values())
        return best if best.known else None

    def described(self, devices: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """For the reports: the best rates, the libraries that reached them, and the rated memory bandwidth.

        Libraries whose measurement failed are under "failed", each with the reason.
        """
        attributes: dict[tuple[str, int], dict[str, Any]] = {}
        for device in devices:
            attributes.setdefault((device["kind"], device["index"]), {}).update(device["attributes"])
        found = []
        for key, by in self._rooflines.items():
            kind, index, dtype = key
            rated, failed = rated_memory(attributes.get((kind, index), {})), self._failures.get(key)
            known = {"device": device_name(kind, index), "dtype": dtype, "memory_rated": rated, "failed": failed}
            best = Roofline.best(by.values())
            if best.known:
                largest = max(best.memory)
                known |= {
                    "memory": best.memory[largest],
                    "memory_by": max(by, key=lambda name: by[name].memory.get(largest, 0.0)),
                    "memory_by_bytes": {str(nbytes): rate for nbytes, rate in sorted(best.memory.items())},
                    "compute": best.compute,
                    "compute_by": max(by, key=lambda name: by[name].compute),
                }
            found.append({name: value for name, value in known.items() if value is not None})
        return found
