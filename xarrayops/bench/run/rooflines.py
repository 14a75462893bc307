"""The roofs that were probed in a run: of each device and dtype, what each library reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xarrayops.bench.measure.roofline import Roofs, rated_memory

RoofPlace = tuple[str, int, str]
"""What a roof belongs to: a kind of device, its number, and a dtype."""


def device_name(kind: str, index: int) -> str:
    """A device as its roofs name it, whatever a library calls it: JAX's CPU is "cpu:0", ROCm's first GPU "cuda:0"."""
    return kind if kind in ("", "cpu") else f"{kind}:{index}"


class Probed:
    """Rates as `xarrayops.bench.measure.roofline.probe` tells them, by place and library."""

    def __init__(self) -> None:
        self._roofs: dict[RoofPlace, dict[str, Roofs]] = {}
        self._failures: dict[RoofPlace, dict[str, str]] = {}

    def knows(self, place: RoofPlace, backend: str) -> bool:
        """Whether the library was asked, whatever it answered."""
        return backend in self._roofs.get(place, {})

    def add(self, place: RoofPlace, backend: str, answer: Mapping[str, Any]) -> None:
        """Take in what a library answered, for the first time or again."""
        known = self._roofs.setdefault(place, {})
        known[backend] = Roofs.best((known.get(backend, Roofs.of({})), Roofs.of(answer)))
        if answer["status"] != "ok":
            self._failures.setdefault(place, {})[backend] = f"{answer['status']}: {answer['reason']}"

    def best(self, place: RoofPlace) -> Roofs | None:
        """The best of every library; None unless both kinds of rate are known."""
        best = Roofs.best(self._roofs.get(place, {}).values())
        return best if best.known else None

    def described(self, devices: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """For people: the best rates, which library reached them, and what the memory is rated at by its attributes.

        Libraries whose probe failed are under "failed", each with the reason.
        """
        known: dict[tuple[str, int], dict[str, Any]] = {}
        for device in devices:
            known.setdefault((device["kind"], device["index"]), {}).update(device["attributes"])
        return [
            _described(place, by, known.get(place[:2], {}), self._failures.get(place))
            for place, by in self._roofs.items()
        ]


def _described(
    place: RoofPlace,
    by: Mapping[str, Roofs],
    attributes: Mapping[str, Any],
    failed: dict[str, str] | None,
) -> dict[str, Any]:
    kind, index, dtype = place
    found: dict[str, Any] = {"device": device_name(kind, index), "dtype": dtype}
    if (rated := rated_memory(attributes)) is not None:
        found["memory_rated"] = rated
    if failed:
        found["failed"] = failed
    best = Roofs.best(by.values())
    if not best.known:
        return found
    largest = max(best.memory)
    return {
        **found,
        "memory": best.memory[largest],
        "memory_by": max(by, key=lambda name: by[name].memory.get(largest, 0.0)),
        "memory_by_bytes": {str(nbytes): rate for nbytes, rate in sorted(best.memory.items())},
        "compute": best.compute,
        "compute_by": max(by, key=lambda name: by[name].compute),
    }
