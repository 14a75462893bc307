"""Our kernels for rows of the benchmark in which a library is far behind, compared with the library's own way.

    python benchmarks/peers/kernels.py [--scale 1.0] [--rounds 15] [--libraries numpy,torch,jax] [--only TEXT]
                                       [--out FILE]

The shapes are those of the benchmark's workloads, their axes times ``--scale``. The contestants are interleaved; a
ratio is that of the least times. Results are compared before timing.

The bar of a case is the least ratio of the library's time to ours. Ends with 3 if one is missed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from measuring import MISSED, common_options, interleaved, machine

import xarrayops as xo

Call = Callable[[], Any]


class Case(NamedTuple):
    """The two contestants, and the least ratio of the library's time to ours."""

    library: str
    name: str
    own: Call
    ours: Call
    bar: float


def cases(libraries: list[str], scale: float) -> Iterator[Case]:
    """The cases of the libraries; those of a library that is not asked for are not made."""
    rng = np.random.default_rng(0)
    square = rng.standard_normal((max(1, int(1500 * scale)),) * 2).astype(np.float32)
    rows = rng.standard_normal((max(1, int(512 * scale)), max(1, int(1024 * scale)))).astype(np.float32)
    if "numpy" in libraries:
        x, y = rows.copy(), rows.copy()

        def in_place() -> Any:
            return np.maximum(x, 0.0, out=x)

        yield Case("numpy", "sum of all", lambda: np.sum(square), lambda: xo.sum(square), 1.5)
        yield Case("numpy", "sum of rows", lambda: np.sum(square, axis=1), lambda: xo.sum(square, axis=1), 1.4)
        yield Case("numpy", "sort", lambda: np.sort(square, stable=True), lambda: xo.sort(square), 1.5)
        yield Case("numpy", "maximum in place", in_place, lambda: xo.at(y)[...].max(0.0, copy=None), 1.3)
    if "torch" in libraries:
        import torch

        t = torch.from_numpy(square)
        yield Case("torch", "argmax of rows", lambda: torch.argmax(t, 1), lambda: xo.argmax(t, axis=1), 1.4)
    if "jax" in libraries:
        yield from _of_jax(square, rows, scale)


def _of_jax(square: Any, rows: Any, scale: float) -> Iterator[Case]:
    import jax
    import jax.numpy as jnp

    s, x = jnp.asarray(square), jnp.asarray(rows)
    for axis, bar in ((0, 4.0), (1, 3.0)):
        yield Case(
            "jax",
            f"argmax along axis {axis}",
            lambda axis=axis: jnp.argmax(s, axis=axis).block_until_ready(),
            lambda axis=axis: xo.argmax(s, axis=axis).block_until_ready(),
            bar,
        )
    yield Case(
        "jax",
        "update of all elements",
        lambda: x.at[...].set(jnp.maximum(x[...], 0.0)).block_until_ready(),
        lambda: xo.at(x)[...].max(0.0, copy=None).block_until_ready(),
        1.5,
    )
    rng = np.random.default_rng(0)
    keys = max(2, int(4096 * scale))
    q, k, v = (
        rng.standard_normal((2, heads, n, 64)).astype(np.float32) for heads, n in ((32, 1), (8, keys), (8, keys))
    )
    q, k, v = map(jnp.asarray, (q, k, v))
    turned = [a.swapaxes(1, 2) for a in (q, k, v)]
    lengths = jnp.asarray([keys, keys * 3 // 4], dtype=jnp.int32)
    own = jax.jit(lambda q, k, v, n: jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=n).swapaxes(1, 2))
    yield Case(
        "jax",
        "attention of one query to a cache",
        lambda: own(*turned, lengths).block_until_ready(),
        lambda: xo.attention(q, k, v, kv_lengths=lengths).block_until_ready(),
        1.0,
    )


def check(case: Case) -> None:
    """Compare the results of the contestants."""
    own, ours = (np.asarray(call()) for call in (case.own, case.ours))
    tolerance = 0.0 if own.dtype.kind in "iu" else 1e-5
    if own.shape != ours.shape or not np.allclose(own, ours, rtol=tolerance, atol=tolerance):
        raise SystemExit(f"{case.library}, {case.name}: the results differ")


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=15, libraries="numpy,torch,jax", only=True)
    parser.add_argument("--scale", type=float, default=1.0, help="a factor of the axes; bars belong to 1")
    options = parser.parse_args()
    libraries = options.libraries.split(",")
    rows = []
    for case in cases(libraries, options.scale):
        if options.only not in case.name:
            continue
        check(case)
        least = {n: min(t) for n, t in interleaved({"own": case.own, "ours": case.ours}, options.rounds, 0.0).items()}
        ratio = round(least["own"] / least["ours"], 2)
        rows.append({"library": case.library, "case": case.name, "own / ours": ratio, "bar": case.bar})
        flag = "" if ratio >= case.bar else "  MISSED"
        print(f"{case.library:6} {case.name:36} {ratio:6.2f} times as fast (bar {case.bar}){flag}", flush=True)
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(libraries), "rows": rows}, indent=1) + "\n")
    return MISSED if any(row["own / ours"] < row["bar"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
