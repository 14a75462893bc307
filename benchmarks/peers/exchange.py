"""What xo.convert costs beside the library's own way to take in another's memory without a copy.

    python benchmarks/peers/exchange.py [--rounds 200] [--number 2000] [--out FILE]

Arrays of 8x8 float32, on which the time is all overhead. The contestants take turns within each round, so that a slow
moment of the machine strikes all of them; the figure is the least time of all rounds, and what xo.convert adds is its
figure less that of the library's own way in the same run: ``from_dlpack``, and for JAX ``device_put``, because NumPy's
DLPack in JAX, some microseconds quicker, may abort a program that ends. Before anything is timed, each result must lie
in the memory of its source.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import timeit
from pathlib import Path
from typing import Any

import numpy as np

import xarrayops as xo

PASSAGES = {
    "numpy -> torch": ("torch.from_dlpack(host)", 'xo.convert(host, "torch")', "torch"),
    "torch -> numpy": ("np.from_dlpack(tensor)", 'xo.convert(tensor, "numpy")', "torch"),
    "numpy -> jax": ("jax.device_put(host, cpu, may_alias=True)", 'xo.convert(host, "jax")', "jax"),
}
"""Each passage as the user of the libraries and as the user of xarrayops writes it, and the library that it needs."""
BAR_NS = 1500
ALIGNMENT = 64  # XLA aliases no memory that starts elsewhere


def sources(library: str) -> dict[str, Any]:
    """The names that the statements use."""
    raw = np.zeros(8 * 8 * 4 + ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    host = raw[start : start + 8 * 8 * 4].view(np.float32).reshape(8, 8)
    host[...] = np.arange(64).reshape(8, 8)
    names: dict[str, Any] = {"xo": xo, "np": np, "host": host}
    if library == "torch":
        import torch

        return names | {"torch": torch, "tensor": torch.arange(64, dtype=torch.float32).reshape(8, 8)}
    import jax

    return names | {"jax": jax, "cpu": jax.devices("cpu")[0]}


def measure(passage: str, rounds: int, number: int) -> dict[str, float]:
    """Nanoseconds per call of the library's own function and of xo.convert: the least of all rounds."""
    *statements, library = PASSAGES[passage]
    names = sources(library)
    source = names["tensor" if passage.startswith("torch") else "host"]
    for statement in statements:
        result = eval(statement, names)
        if not (xo.shares_memory(source, result) and np.array_equal(np.asarray(result), np.asarray(source))):
            raise SystemExit(f"{passage}: {statement} is no alias of its source")
    timers = [timeit.Timer(statement, globals=names) for statement in statements]
    best = [float("inf")] * len(timers)
    for _ in range(rounds):
        best = [min(least, t.timeit(number) / number * 1e9) for least, t in zip(best, timers, strict=True)]
    return dict(zip(("native_ns", "convert_ns"), best, strict=True))


def main() -> int:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--number", type=int, default=2000)
    parser.add_argument("--libraries", default="torch,jax")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    libraries = options.libraries.split(",")
    rows = []
    print(f"{'passage':16} {'native':>8} {'convert':>8} {'adds':>8}  (at most {BAR_NS})")
    for passage in (name for name, (*_, library) in PASSAGES.items() if library in libraries):
        found = measure(passage, options.rounds, options.number)
        added = found["convert_ns"] - found["native_ns"]
        print(f"{passage:16} {found['native_ns']:8.0f} {found['convert_ns']:8.0f} {added:+8.0f}")
        figures = {name: round(value, 1) for name, value in {**found, "added_ns": added}.items()}
        rows.append({"passage": passage, **figures, "ratio": round(found["convert_ns"] / found["native_ns"], 3)})
    if options.out:
        machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
        machine |= {name: v for library in ("numpy", *libraries) for name, v in xo.backend(library).versions.items()}
        options.out.write_text(json.dumps({"machine": machine, "bar_ns": BAR_NS, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
