"""The memory and the time of gradients with `xarrayops.checkpoint`, next to those without and with the library's own.

    python benchmarks/peers/checkpoint.py [--rounds 7] [--libraries torch,jax] [--layers 24] [--out FILE]

A stack of layers, each a feed-forward block with four times as many hidden features, ``x + tanh(x w1)**2 w2``. The
cases are PyTorch, JAX with the layers one after the other in a compiled function, and JAX with a scan over the layers.
Each has three contestants: the plain stack, `xarrayops.checkpoint` around each layer, and the library's own checkpoint.
The gradients are equal before anything is measured.

The memory on PyTorch is the growth of the resident set during a second call, each in a process of its own in which the
C library returns freed memory to the system; on JAX it is what XLA allocates for the compiled function, its
arguments and results. The bars: at most 0.25 of the plain memory on PyTorch and with a scan, 0.6 with JAX's layers one
after the other, and at most 1.5 of the plain time. Ends with 3 if one is missed. On CPUs JAX's own checkpoint misses
the second: XLA removes the barriers between the first and the second computation, and then keeps the products.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import MISSED, common_options, interleaved, machine, over, peak

import xarrayops as xo

ROWS, FEATURES = 2048, 256
MEMORY = {"torch": 0.25, "jax": 0.6, "jax scan": 0.25}
TIME = 1.5
OURS, OWN, PLAIN = "ours", "own", "plain"


def layer(x: Any, parameters: Any) -> Any:
    """One block."""
    first, second = parameters
    return x + xo.matmul(xo.square(xo.tanh(xo.matmul(x, first))), second)


def arrays(count: int) -> tuple[Any, list[tuple[Any, Any]]]:
    """The input and the weights of the layers, as NumPy arrays."""
    random = np.random.default_rng(0)
    x = random.standard_normal((ROWS, FEATURES), np.float32)
    shapes = (FEATURES, 4 * FEATURES), (4 * FEATURES, FEATURES)
    return x, [tuple(0.02 * random.standard_normal(shape, np.float32) for shape in shapes) for _ in range(count)]


def gradient(case: str, who: str, count: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function that computes the gradient by the input and all weights, and its arguments."""
    x, weights = arrays(count)
    library = case.partition(" ")[0]
    x, weights = xo.convert(x, library), [tuple(xo.convert(w, library) for w in pair) for pair in weights]
    step = layer if who == PLAIN else xo.checkpoint(layer) if who == OURS else own(library)

    def one_after_the_other(x: Any, weights: Any) -> Any:
        for pair in weights:
            x = step(x, pair)
        return xo.sum(xo.square(x))

    if library == "torch":
        return xo.grad(one_after_the_other, argnums=(0, 1)), (x, weights)
    import jax

    if case == "jax":
        return jax.jit(xo.grad(one_after_the_other, argnums=(0, 1))), (x, weights)
    stacked = tuple(xo.stack([pair[i] for pair in weights]) for i in range(2))

    def scanned(x: Any, weights: Any) -> Any:
        return xo.sum(xo.square(jax.lax.scan(lambda x, pair: (step(x, pair), None), x, weights)[0]))

    return jax.jit(xo.grad(scanned, argnums=(0, 1))), (x, stacked)


def own(library: str) -> Callable[..., Any]:
    """The layer in the library's own checkpoint."""
    if library == "jax":
        import jax

        return jax.checkpoint(layer)
    from torch.utils.checkpoint import checkpoint

    return lambda x, parameters: checkpoint(layer, x, parameters, use_reentrant=False)


def memory(case: str, who: str, count: int) -> float:
    """The bytes of a gradient in MB."""
    if case == "torch":
        command = [sys.executable, __file__, "--peak", who, "--layers", str(count)]
        environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(1 << 16)}
        return float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
    function, arguments = gradient(case, who, count)
    return function.lower(*arguments).compile().memory_analysis().temp_size_in_bytes / 2**20


def leaves(value: Any) -> list[Any]:
    """The arrays in a gradient, as NumPy arrays."""
    if isinstance(value, (tuple, list)):
        return [leaf for member in value for leaf in leaves(member)]
    return [np.asarray(xo.convert(value, "numpy"))]


def compared(case: str, count: int, rounds: int) -> dict[str, Any]:
    """The figures of a case."""
    functions = {who: gradient(case, who, count) for who in (OURS, OWN, PLAIN)}
    right = leaves(functions[PLAIN][0](*functions[PLAIN][1]))
    for function, arguments in functions.values():
        for mine, wanted in zip(leaves(function(*arguments)), right, strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())
    calls = {who: lambda f=f, given=given: ready(f(*given)) for who, (f, given) in functions.items()}
    times = interleaved(calls, rounds, 0.0)
    taken = over(times, PLAIN)
    used = {who: memory(case, who, count) for who in (OURS, OWN, PLAIN)}
    ratio = used[OURS] / used[PLAIN]
    return {
        "case": case,
        "MB": {who: round(value, 1) for who, value in used.items()},
        "memory / plain": round(ratio, 3),
        "time / plain": round(taken[OURS], 3),
        "own time / plain": round(taken[OWN], 3),
        "missed": ratio > MEMORY[case] or taken[OURS] > TIME,
    }


def ready(result: Any) -> Any:
    """The result, computed."""
    xo.synchronize(result[0])
    return result


def main() -> int:
    """Print a line for each case. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=7, libraries="torch,jax")
    parser.add_argument("--layers", type=int, default=24, help="the number of layers (default: 24)")
    parser.add_argument("--peak", choices=(OURS, OWN, PLAIN), help="measure only the memory of this one, on PyTorch")
    options = parser.parse_args()
    if options.peak:
        function, arguments = gradient("torch", options.peak, options.layers)
        print(peak(lambda: function(*arguments)))
        return 0
    libraries = options.libraries.split(",")
    rows = []
    for case in MEMORY:
        if case.partition(" ")[0] in libraries:
            row = compared(case, options.layers, options.rounds)
            rows.append(row)
            print(
                f"{row['case']:9} {row['memory / plain']:5.2f} of the memory, {row['time / plain']:5.2f} of the time "
                f"(the library's own: {row['own time / plain']:.2f}){'  MISSED' if row['missed'] else ''}"
            )
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(["numpy", *libraries]), "rows": rows}, indent=1) + "\n")
    return MISSED if any(row["missed"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
