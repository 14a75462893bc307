"""Random numbers of `xo.random` against the own generator of each library.

    python benchmarks/peers/random_numbers.py [--size 10000000] [--rounds 5] [--libraries numpy,torch,jax] [--out FILE]

The contestants are interleaved within each round. First the numbers of every contestant of ours are compared with the
generic function on NumPy, bit for bit. A figure is the median over the rounds of our time divided by the library's own.
JAX is measured with its 64-bit types, and both of its contestants are compiled functions.

The bars, for uniform float64 numbers: at most 12 times the library's own time on NumPy without numba, 1.5 times with
it, 8 times on PyTorch, 1.3 times on JAX. Ends with 3 if one is missed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from measuring import MISSED, Calls, common_options, interleaved, machine, over

import xarrayops as xo
from xarrayops.plugin.random import Draw

BARS = {"numpy:blocks": 12.0, "numpy:compiled": 1.5, "torch": 8.0, "jax": 1.3}
"""The highest ratio for uniform numbers, by contestant."""
DRAWS = {
    "uniform": Draw("uniform", "float64"),
    "normal": Draw("normal", "float64"),
    "integers": Draw("integers", "int64", 0, 1000),
    "bits": Draw("bits", "uint64"),
}
KEY = (0, 7)
CHECKED = 100_003
"""The number of elements that are compared."""


def ours(library: str, draw: Draw) -> dict[str, Callable[[int], Any]]:
    """Our contestants of a library: a function of the number of elements for each."""
    backend = xo.backend(library)
    if library == "numpy":
        kernels = {f"numpy:{name}": kernel for name, kernel, _ in backend.kernels("random_draw") if name != "generic"}
        if importlib.util.find_spec("numba") is None:
            del kernels["numpy:compiled"]
    else:
        kernels = {library: backend.functions["random_draw"]}
    device = None if library == "jax" else backend.native_device("cpu")

    def contestant(kernel: Callable[..., Any]) -> Callable[[int], Any]:
        return lambda n: ready(library, kernel(draw, KEY, (n,), device))

    return {name: contestant(kernel) for name, kernel in kernels.items()}


def native(library: str, draw: Draw) -> Callable[[int], Any]:
    """The library's own generator."""
    if library == "jax":
        import jax

        key = jax.random.key(0)
        functions: dict[str, Callable[..., Any]] = {
            "uniform": lambda key, n: jax.random.uniform(key, (n,), "float64"),
            "normal": lambda key, n: jax.random.normal(key, (n,), "float64"),
            "integers": lambda key, n: jax.random.randint(key, (n,), 0, draw.width, "int64"),
            "bits": lambda key, n: jax.random.bits(key, (n,), "uint64"),
        }
        compiled: Any = jax.jit(functions[draw.kind], static_argnums=1)
        return lambda n: ready("jax", compiled(key, n))
    backend = xo.backend(library)
    device = backend.native_device("cpu")
    generator = backend.functions["native_generator"](0, device)
    return lambda n: backend.functions["native_draw"](generator, draw, (n,), device)


def ready(library: str, x: Any) -> Any:
    """The array, computed."""
    return x.block_until_ready() if library == "jax" else x


def check(contestants: dict[str, Callable[[int], Any]], draw: Draw) -> None:
    """Compare every bit with the generic function."""
    generic = xo.backend("numpy").kernels("random_draw")[-1][1]
    want = generic(draw, KEY, (CHECKED,), None)
    for name, call in contestants.items():
        if np.asarray(call(CHECKED)).tobytes() != want.tobytes():
            raise SystemExit(f"{name}, {draw.kind}: the numbers differ from those of the generic function")


def rows(library: str, size: int, rounds: int) -> list[dict[str, Any]]:
    """A row for each kind of numbers and each of our contestants."""
    found = []
    for kind, draw in DRAWS.items():
        contestants = ours(library, draw)
        check(contestants, draw)
        everyone = {"native": native(library, draw)} | contestants
        calls: Calls = {name: partial(call, size) for name, call in everyone.items()}
        times = interleaved(calls, rounds, 0.0)
        for name, ratio in over(times, "native").items():
            bar = BARS.get(name) if kind == "uniform" else None
            nanoseconds = min(times[name]) / size * 1e9
            found.append(
                {"contestant": name, "numbers": kind, "ours / native": round(ratio, 2), "ns": round(nanoseconds, 2)}
                | ({"at most": bar} if bar else {})
            )
    return found


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=5, libraries="numpy,torch,jax")
    parser.add_argument("--size", type=int, default=10_000_000)
    options = parser.parse_args()
    os.environ["JAX_ENABLE_X64"] = "1"
    libraries = [name for name in options.libraries.split(",") if importlib.util.find_spec(name)]
    table = [row for library in libraries for row in rows(library, options.size, options.rounds)]
    for row in table:
        bar = f"  (at most {row['at most']})" if "at most" in row else ""
        print(
            f"{row['contestant']:16} {row['numbers']:9} {row['ours / native']:6.2f} x native, {row['ns']:6.2f} ns{bar}"
        )
    if options.out:
        written = {"machine": machine((*libraries, "numba")), "size": options.size, "rows": table}
        options.out.write_text(json.dumps(written, indent=1) + "\n")
    return MISSED if any(row["ours / native"] > row.get("at most", float("inf")) for row in table) else 0


if __name__ == "__main__":
    sys.exit(main())
