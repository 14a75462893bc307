"""Random numbers of `xo.random` against the own generator of each library.

    python benchmarks/peers/random_numbers.py [--size 10000000] [--rounds 5] [--libraries numpy,torch,jax]
        [--compile 3] [--out FILE]

The contestants are interleaved within each round. First the numbers of every contestant of ours are compared with the
generic function on NumPy, bit for bit. A figure is the median over the rounds of our time divided by the library's own.
JAX is measured with its 64-bit types, and both of its contestants are compiled functions.

On PyTorch, each draw is also measured against ``torch.randn`` of float32; and ``xo.jit`` of a function with one uniform
draw against the same function without it, in new processes with an empty cache, ``--compile`` times each.

The bars: for uniform float64 numbers, at most 12 times the library's own time on NumPy without numba, 1.5 times with
it and on PyTorch, 1.3 times on JAX; at most 4 times ``torch.randn``; at most 1.5 times the time of the compilation
without the draw. Ends with 3 if one is missed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from measuring import MISSED, Calls, common_options, interleaved, machine, over

import xarrayops as xo
from xarrayops.plugin.random import Draw

BARS = {"numpy:blocks": 12.0, "numpy:compiled": 1.5, "torch": 1.5, "jax": 1.3}
"""The highest ratio for uniform numbers, by contestant."""
DRAWS = {
    "uniform": Draw("uniform", "float64"),
    "normal": Draw("normal", "float64"),
    "integers": Draw("integers", "int64", 0, 1000),
    "bits": Draw("bits", "uint64"),
}
RANDN, COMPILATION = 4.0, 1.5
"""The highest ratio over ``torch.randn``, and over a compilation without a draw."""
COMPILED = """
import sys, time, torch
import xarrayops as xo

def scaled(x):
    return xo.tanh((x - xo.mean(x, axis=0)) / xo.std(x, axis=0)) @ x.T

def plain(key, x):
    return scaled(x)

def drawn(key, x):
    return scaled(x + xo.random.default_rng(key).random(x.shape, dtype="float32"))

x = torch.randn(300, 40)
function, key = xo.jit(globals()[sys.argv[1]]), xo.random.key(3, like=x)
start = time.perf_counter()
function(key, x)
print(time.perf_counter() - start)
"""
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


def rows_over_randn(size: int, rounds: int) -> list[dict[str, Any]]:
    """The draws of PyTorch by the methods of a generator, in float32, against ``torch.randn``."""
    import torch

    rng = xo.random.default_rng(0, backend="torch", dtype="float32")
    calls: Calls = {
        "randn": lambda: torch.randn(size),
        "uniform": lambda: rng.random(size),
        "normal": lambda: rng.normal(size=size),
        "exponential": lambda: rng.exponential(size=size),
        "integers": lambda: rng.integers(0, 1000, size),
        "permutation": lambda: rng.permutation(size),
    }
    times = interleaved(calls, rounds, 0.0)
    return [
        {"numbers": f"{kind}, float32", "ours / torch.randn": round(ratio, 2), "at most": RANDN}
        for kind, ratio in over(times, "randn").items()
    ]


def compilation(rounds: int) -> dict[str, Any]:
    """The time of the first call of a compiled function with a draw, over that of the function without it."""

    def first_call(name: str) -> float:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder}
            command = [sys.executable, "-c", COMPILED, name]
            return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)

    seconds = [(first_call("plain"), first_call("drawn")) for _ in range(rounds)]
    ratio = median(drawn / plain for plain, drawn in seconds)
    return {"numbers": "uniform, compiled", "ours / without a draw": round(ratio, 2), "at most": COMPILATION}


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=5, libraries="numpy,torch,jax")
    parser.add_argument("--size", type=int, default=10_000_000)
    parser.add_argument("--compile", type=int, default=3, help="the number of compilations of each function")
    options = parser.parse_args()
    os.environ["JAX_ENABLE_X64"] = "1"
    libraries = [name for name in options.libraries.split(",") if importlib.util.find_spec(name)]
    table = [row for library in libraries for row in rows(library, options.size, options.rounds)]
    for row in table:
        bar = f"  (at most {row['at most']})" if "at most" in row else ""
        print(
            f"{row['contestant']:16} {row['numbers']:9} {row['ours / native']:6.2f} x native, {row['ns']:6.2f} ns{bar}"
        )
    of_torch = []
    if "torch" in libraries:
        of_torch = rows_over_randn(options.size, options.rounds)
        of_torch += [compilation(options.compile)] if options.compile else []
    for row in of_torch:
        kind, (what, ratio), (_, bar) = row["numbers"], *list(row.items())[1:]
        print(f"{'torch':16} {kind:20} {what} = {ratio}  (at most {bar})")
    if options.out:
        written = {"machine": machine((*libraries, "numba")), "size": options.size, "rows": table, "torch": of_torch}
        options.out.write_text(json.dumps(written, indent=1) + "\n")
    missed = [row for row in table if row["ours / native"] > row.get("at most", float("inf"))]
    return MISSED if missed or any(list(row.values())[1] > row["at most"] for row in of_torch) else 0


if __name__ == "__main__":
    sys.exit(main())
