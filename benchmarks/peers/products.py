"""The time of products of half precision and of 8-bit integers, next to those of float32 and the library's own.

    python benchmarks/peers/products.py [--rounds 25] [--libraries numpy,torch,jax] [--sizes 256,1024] [--only TEXT]
                                        [--out FILE]

Matrices of n by n. The contestants are interleaved, 16384 / n calls at a time; a ratio is that of the least times,
because a loaded machine only adds to times. Results are checked before timing: integers are equal to NumPy's in
int64, and half precision is within the error of one rounding. The library's own products of integers wrap
around; those that take seconds at 1024 are timed at the first n only.

The bars, of which the first n is 256 and the last 1024: on NumPy integers are at least 40 times as quick as NumPy's own
at the first n, and take at most 1.25 times the time of float32 at the last; float16 takes at most 3 and 1.5 times. On
JAX's CPU integers are at least 20 times as quick as JAX's own at the first n. Ends with 3 if one is missed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from measuring import MISSED, common_options, interleaved, machine

import xarrayops as xo

Call = Callable[[], Any]
OWN = {"numpy": 40.0, "jax": 20.0}
"""The least ratio of the library's own product of integers to ours, at the first n."""
SINGLE = {"int8": {"last": 1.25}, "float16": {"first": 3.0, "last": 1.5}}
"""The greatest ratio of our product to that of float32 on NumPy, by the place of n among the sizes."""
READING_ORDER = 16384
"""Matrices of this order would be multiplied once per reading. One product of a small order is as short as waking a
thread."""
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def integers(library: str, n: int, *, is_first: bool) -> tuple[dict[str, Call], Any]:
    """The contestants with int8, and the exact product."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (n, n)).astype(np.int8) for _ in range(2))
    x, y = (xo.convert(each, library, copy=True) for each in (a, b))
    calls = {
        "ours": lambda: ready(xo.matmul(x, y, out_dtype="int32")),
        "float32": single(x, y),
    }
    if is_first:
        calls["own"] = lambda: ready(x @ y)
    return calls, np.rint(a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


def halves(library: str, n: int, dtype: str, *, is_first: bool) -> tuple[dict[str, Call], Any]:
    """The contestants with half precision, and the product in double precision."""
    rng = np.random.default_rng(0)
    wide = (rng.uniform(-1, 1, (n, n)).astype(np.float32) for _ in range(2))
    x, y = (xo.astype(xo.convert(each, library), dtype) for each in wide)
    calls = {"ours": lambda: ready(xo.matmul(x, y)), "float32": single(x, y)}
    if is_first:
        calls["own"] = lambda: ready(x @ y)
    return calls, host(x) @ host(y)


def single(x: Any, y: Any) -> Call:
    """The product of the same values in float32."""
    a, b = xo.astype(x, "float32"), xo.astype(y, "float32")
    return lambda: ready(xo.matmul(a, b))


def ready(x: Any) -> Any:
    """The array, computed."""
    xo.synchronize(x)
    return x


def host(x: Any) -> Any:
    """The values in double precision."""
    return xo.convert(x, "numpy").astype(np.float64)


def check(name: str, dtype: str, got: Any, want: Any) -> None:
    """Compare our result with the oracle."""
    error = np.max(np.abs(host(got) - want) / (1 if dtype == "int8" else np.maximum(np.abs(want), 1.0)))
    if error > (0 if dtype == "int8" else EPS[dtype]):
        raise SystemExit(f"{name}: the error is {error}")


def measure(library: str, sizes: list[int], rounds: int, only: str) -> Iterator[dict[str, Any]]:
    """A row for each dtype and size."""
    for dtype in ("int8", *EPS):
        for i, n in enumerate(sizes):
            name = f"{library} {dtype} {n}"
            if only not in name:
                continue
            make = integers if dtype == "int8" else partial(halves, dtype=dtype)
            calls, want = make(library, n, is_first=not i)
            check(name, dtype, calls["ours"](), want)
            times = interleaved(calls, rounds, 0.0, number=max(1, READING_ORDER // n))
            least = {who: min(each) for who, each in times.items()}
            ratios = {who: seconds / least["ours"] for who, seconds in least.items()}
            place = "first" if not i else "last" if n == sizes[-1] else ""
            yield {
                "case": name,
                "ours / float32": round(1 / ratios["float32"], 3),
                "own / ours": round(ratios["own"], 3) if "own" in ratios else None,
                "missed": missed(library, dtype, place, ratios),
            }


def missed(library: str, dtype: str, place: str, ratios: dict[str, float]) -> bool:
    """Whether a bar is missed."""
    if library == "numpy" and 1 / ratios["float32"] > SINGLE.get(dtype, {}).get(place, float("inf")):
        return True
    return dtype == "int8" and place == "first" and ratios["own"] < OWN.get(library, 0.0)


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=25, libraries="numpy,torch,jax", only=True)
    parser.add_argument("--sizes", default="256,1024")
    options = parser.parse_args()
    libraries, sizes = options.libraries.split(","), [int(size) for size in options.sizes.split(",")]
    rows = []
    for library in libraries:
        for row in measure(library, sizes, options.rounds, options.only):
            rows.append(row)
            own = "" if row["own / ours"] is None else f", {row['own / ours']:7.2f} times as quick as the library's own"
            flag = "  MISSED" if row["missed"] else ""
            print(f"{row['case']:20} {row['ours / float32']:6.2f} of the time of float32{own}{flag}", flush=True)
    if options.out:
        options.out.write_text(json.dumps({"machine": machine(libraries), "rows": rows}, indent=1) + "\n")
    return MISSED if any(row["missed"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
