"""The overhead of xo.convert over the library's own zero-copy conversion.

    python benchmarks/peers/exchange.py [--rounds 200] [--number 2000] [--out FILE]

The arrays are 8x8 float32, so that the time is all overhead. The contestants are interleaved within each round, so that
a disturbance affects all of them. The time of a contestant is the minimum over all rounds; the overhead of xo.convert
is its time minus that of the library's own function in the same run. That function is ``from_dlpack``, and for JAX
``device_put``, because DLPack from NumPy to JAX, although a few microseconds faster, may abort the program at exit.
Before timing, each result is checked to share the memory of its source.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import timeit
from typing import Any

import numpy as np
from measuring import common_options

import xarrayops as xo

PASSAGES = {
    "numpy -> torch": ("torch.from_dlpack(host)", 'xo.convert(host, "torch")', "torch"),
    "torch -> numpy": ("np.from_dlpack(tensor)", 'xo.convert(tensor, "numpy")', "torch"),
    "numpy -> jax": ("jax.device_put(host, cpu, may_alias=True)", 'xo.convert(host, "jax")', "jax"),
}
"""Each conversion in the library itself and in xarrayops, and the library that it needs."""
BAR_NS = 1500
ALIGNMENT = 64  # XLA only aliases memory with this alignment


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
    """Nanoseconds per call of the library's own function and of xo.convert: the minimum over all rounds."""
    *statements, library = PASSAGES[passage]
    names = sources(library)
    source = names["tensor" if passage.startswith("torch") else "host"]
    for statement in statements:
        result = eval(statement, names)
        if not (xo.shares_memory(source, result) and np.array_equal(np.asarray(result), np.asarray(source))):
            raise SystemExit(f"{passage}: {statement} does not share the memory of its source")
    timers = [timeit.Timer(statement, globals=names) for statement in statements]
    best = [float("inf")] * len(timers)
    for _ in range(rounds):
        best = [min(least, t.timeit(number) / number * 1e9) for least, t in zip(best, timers, strict=True)]
    return dict(zip(("native_ns", "convert_ns"), best, strict=True))


def main() -> int:
    """Measure, print and write the results."""
    parser = common_options(__doc__, rounds=200, libraries="torch,jax")
    parser.add_argument("--number", type=int, default=2000)
    options = parser.parse_args()
    libraries = options.libraries.split(",")
    rows = []
    print(f"{'conversion':16} {'native':>8} {'convert':>8} {'adds':>8}  (at most {BAR_NS})")
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
