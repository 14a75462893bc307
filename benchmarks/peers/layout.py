"""Copies with reordered axes: xarrayops compared with NumPy and PyTorch, in one run.

    python benchmarks/peers/layout.py [--rounds 7] [--only TEXT] [--scale 1] [--out FILE]

Every contestant allocates its result. The contestants are interleaved within each round, after a pause in which the
idle threads of PyTorch stop spinning. The time is the median of the rounds. A plain ``x.copy()`` is the limit: it reads
and writes the same bytes in order. Results are compared before timing. All contestants use all cores.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from functools import cache, partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from measuring import common_options, interleaved, machine

import xarrayops as xo

COMPILED_BYTES = 200_000_000
"""Arrays of at least this size are also copied by a tiled loop compiled with numba."""
SMALL_CALLS = 2000
SMALL_ITEMS = 1 << 23
"""The number of calls, or of moved items, that are timed together."""


class Case(NamedTuple):
    """One copy: the array, and the new order of its axes."""

    shape: tuple[int, ...]
    dtype: str
    axes: tuple[int, ...]
    pattern: str = ""
    """The pattern for `relayout`; without a pattern, `contiguous` copies the transposed view."""

    def __str__(self) -> str:
        return f"{'x'.join(map(str, self.shape))} {self.dtype} {self.pattern or 'transposed'}"


CASES = (
    Case((8192, 8192), "float32", (1, 0)),
    Case((8192, 8192), "uint8", (1, 0)),
    Case((8192, 8192), "float16", (1, 0)),
    Case((8192, 4096), "float64", (1, 0)),
    Case((4096, 4096), "complex128", (1, 0)),
    Case((8191, 8193), "float32", (1, 0)),
    Case((12800, 12800), "float32", (1, 0)),
    Case((100, 1000000), "float32", (1, 0)),
    Case((1000000, 100), "float32", (1, 0)),
    Case((32, 64, 112, 112), "float32", (0, 2, 3, 1), "NCHW -> NHWC"),
    Case((32, 112, 112, 64), "float32", (0, 3, 1, 2), "NHWC -> NCHW"),
    Case((16, 8, 512, 64), "float32", (0, 2, 1, 3), "b h s d -> b s h d"),
    Case((64, 64, 64, 64), "float32", (3, 2, 1, 0), "a b c d -> d c b a"),
    Case((2000, 3000, 3), "uint8", (1, 0, 2), "H W c -> W H c"),
    Case((3, 2000, 3000), "float32", (1, 2, 0), "c H W -> H W c"),
    Case((2000, 3000, 3), "float32", (2, 0, 1), "H W c -> c H W"),
    Case((1000000, 4, 4), "float32", (0, 2, 1), "n i j -> n j i"),
    *(
        Case((n, n), dtype, (1, 0))
        for n in (200, 300, 400, 700, 1024, 1500)
        for dtype in ("uint8", "float32", "float64")
    ),
    Case((3, 3000000), "float32", (1, 0)),
    Case((3000000, 3), "float32", (1, 0)),
)
SMALL = tuple(Case((n, n), "float32", (1, 0)) for n in (2, 16, 64))


RATIOS = {
    "ours / copy": ("ours", "copy"),
    "numpy / ours": ("numpy", "ours"),
    "torch / ours": ("torch", "ours"),
    "torch / ours on torch": ("torch", "ours on torch"),
    "numba / ours": ("numba", "ours"),
}
"""The printed ratios: the time of the first over the time of the second."""


def contestants(case: Case) -> dict[str, Callable[[], Any]]:
    """The contestants by name. Each returns an array that `np.asarray` accepts."""
    x = (np.random.default_rng(0).random(case.shape, dtype="float32") * 100).astype(case.dtype)
    transposed = x.transpose(case.axes)
    found: dict[str, Callable[[], Any]] = {"copy": x.copy, "numpy": lambda: np.ascontiguousarray(transposed)}
    if case.pattern:
        found["ours"] = lambda: xo.relayout(x, case.pattern)
    else:
        found["ours"] = lambda: xo.contiguous(transposed)
    if case.axes == (1, 0) and x.nbytes >= COMPILED_BYTES and importlib.util.find_spec("numba"):
        found["numba"] = partial(numba_tiles(), x)
    if not importlib.util.find_spec("torch"):
        return found
    import torch

    torch.set_num_threads(os.cpu_count() or 1)
    t = torch.from_numpy(x)
    found["torch"] = lambda: t.permute(case.axes).contiguous()
    pattern = case.pattern or "a b -> b a"
    found["ours on torch"] = lambda: xo.relayout(t, pattern)
    return found


@cache
def numba_tiles() -> Callable[[Any], Any]:
    """A tiled transposed copy, compiled by numba for all cores. Tiles of 128 x 16 were the fastest of 28 sizes."""
    import numba

    @numba.njit(parallel=True)
    def transposed(x: Any) -> Any:
        rows, columns = x.shape
        out = np.empty((columns, rows), x.dtype)
        for tile in numba.prange((columns + 127) // 128):
            for j0 in range(0, rows, 16):
                for i in range(tile * 128, min(tile * 128 + 128, columns)):
                    for j in range(j0, min(j0 + 16, rows)):
                        out[i, j] = x[j, i]
        return out

    return transposed


def check(case: Case, functions: dict[str, Callable[[], Any]]) -> None:
    """Check that all results except the plain copy are equal."""
    want = functions["numpy"]()
    for name, function in functions.items():
        if name != "copy" and not np.array_equal(np.asarray(function()), want):
            raise SystemExit(f"{case}: the values of {name} differ from NumPy's")


def measure(case: Case, rounds: int, pause: float) -> dict[str, float]:
    """Seconds by contestant: the median of the rounds."""
    functions = contestants(case)
    check(case, functions)
    calls = min(SMALL_CALLS, max(1, SMALL_ITEMS // int(np.prod(case.shape))))
    times = interleaved(functions, rounds, pause, number=calls, again=False)
    return {name: median(seconds) for name, seconds in times.items()}


def row(case: Case, seconds: dict[str, float]) -> dict[str, Any]:
    """The times and ratios of one case."""
    return {
        "case": str(case),
        "ms": {name: round(value * 1e3, 4) for name, value in seconds.items()},
        **{name: round(seconds[a] / seconds[b], 2) for name, (a, b) in RATIOS.items() if a in seconds and b in seconds},
    }


def main() -> int:
    """Measure, print and write the results."""
    parser = common_options(__doc__, rounds=7, pause=0.1, only=True)
    parser.add_argument("--scale", type=int, default=1, help="divide long axes by this, for a trial")
    options = parser.parse_args()
    table = []
    print(f"{'case':42} {'copy ms':>8} " + " ".join(f"{name:>21}" for name in RATIOS))
    for case in (*CASES, *SMALL):
        if options.only in str(case):
            shape = tuple(max(n // options.scale, 1) if n > 16 else n for n in case.shape)
            table.append(row(case, measure(case._replace(shape=shape), options.rounds, options.pause)))
            shown = " ".join(f"{table[-1].get(name, float('nan')):21.2f}" for name in RATIOS)
            print(f"{table[-1]['case']:42} {table[-1]['ms']['copy']:8.3f} {shown}", flush=True)
    if options.out:
        found = {"machine": machine(("numpy", "torch", "numba")), "rows": table}
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
