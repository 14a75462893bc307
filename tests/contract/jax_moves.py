"""The bytes that calls of JAX move, counted in the programs that XLA writes to a folder."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

_SIZES = {"pred": 1, "s8": 1, "u8": 1, "s32": 4, "u32": 4, "f32": 4, "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16}
_COLLECTIVE = re.compile(
    r" = (.*?) (?:all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter|collective-broadcast)(?:-start)?\("
)
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")


def moved(call: Callable[[], Any], programs: Path) -> tuple[Any, int]:
    """The result of a call, and the bytes of the results of its collective operations."""
    jax.clear_caches()
    for path in filter(Path.is_file, programs.iterdir()):
        path.unlink()
    found = jax.block_until_ready(call())
    texts = [path.read_text() for path in programs.glob("*after_optimizations.txt")]
    assert texts
    results = [array for text in texts for line in _COLLECTIVE.findall(text) for array in _ARRAY.findall(line)]
    return found, sum(_SIZES[dtype] * math.prod(map(int, filter(None, n.split(",")))) for dtype, n in results)
