"""The bytes that calls of JAX move, counted in the programs that XLA writes to a folder."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

_SIZES = {
    "pred": 1,
    "s8": 1,
    "u8": 1,
    "f16": 2,
    "s32": 4,
    "u32": 4,
    "f32": 4,
    "s64": 8,
    "u64": 8,
    "f64": 8,
    "c64": 8,
    "c128": 16,
}
_COLLECTIVE = re.compile(
    r" = (.*?) (?:all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter|collective-broadcast)(?:-start)?\("
)
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")
_LOOP = re.compile(r' while\(.*body=%([\w.-]+).*"known_trip_count":\{"n":"(\d+)"')


def moved(call: Callable[[], Any], programs: Path) -> tuple[Any, int]:
    """The result of a call, and the bytes of the results of its collective operations."""
    jax.clear_caches()
    for path in filter(Path.is_file, programs.iterdir()):
        path.unlink()
    found = jax.block_until_ready(call())
    texts = [path.read_text() for path in programs.glob("*after_optimizations.txt")]
    assert texts
    return found, sum(map(_bytes_of_program, texts))


def _bytes_of_program(text: str) -> int:
    """The bytes that the collective operations of a program receive; those of a loop count for each of its steps."""
    steps = {body: int(n) for body, n in _LOOP.findall(text)}
    total = 0
    for computation in text.split("\n\n"):
        name = computation.split(None, 1)[0].lstrip("%") if computation.strip() else ""
        for dtype, n in (array for line in _COLLECTIVE.findall(computation) for array in _ARRAY.findall(line)):
            total += steps.get(name, 1) * _SIZES[dtype] * math.prod(map(int, filter(None, n.split(","))))
    return total
