"""The cost of each function over that of the library's own function, at two sizes and in degenerate shapes.

    python benchmarks/peers/costs.py [--rounds 5] [--libraries numpy,torch,jax,dask] [--only NAME] [--again 3]
                                     [--out FILE]

On NumPy, PyTorch and JAX: our time over that of the library's own function with the same name and arguments. For
functions of the standard, array-api-compat has that function. Both results are compared before timing. The contestants
are interleaved, the least times count, and a case above its bar is measured ``--again`` times more. On Dask: the tasks
for each chunk that the scheduler gets, after Dask has fused them; the operands have 100 small chunks. With sparse
matrices: the time of a coo matrix (10**8, 4) over that of (10**3, 4) with 10**3 entries, and the bytes that it
allocates.

The bars: 3 times the library's own time; 10 tasks for each chunk; 3 times the time of the short matrix, and 1 MB and
200 bytes for each entry. A case above its bar needs a reason in `REASONS`; ends with 3 if one has none.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import tracemalloc
import warnings
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import partial
from typing import Any

import numpy as np
from measuring import MISSED, Calls, common_options, interleaved, machine

import xarrayops as xo

TIMES, TASKS = 3.0, 10.0
BYTES, BYTES_OF_ENTRY = 1_000_000, 200
_UNARY = """
abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log log10 log1p log2 logical_not
negative reciprocal round sign signbit sin sinh sqrt square tan tanh trunc cbrt exp2 deg2rad rad2deg nan_to_num sort
argsort unique flip nonzero diff trapezoid gradient nanmedian cumulative_sum cumulative_prod
"""
_BINARY = """
add atan2 copysign divide equal floor_divide greater hypot less logaddexp logical_and maximum minimum multiply nextafter
not_equal pow remainder subtract fmod heaviside vecdot isclose append
"""
_REDUCTIONS = "all any argmax argmin count_nonzero max mean min nanmax nanmean nansum prod std sum var median"
_VECTORS = """
bitwise_invert(i); bitwise_and(i, i); bitwise_left_shift(i, i); where(b, x, y); clip(x, -1.0, 1.0); unique_values(i)
unique_counts(i); unique_inverse(i); unique(i, return_inverse=True); searchsorted(e, x); isin(i, j); take(x, i)
roll(x, 3); repeat(x, 2); tile(x, (2,)); concat([x, y]); stack([x, y]); diff(x, n=5); bincount(i); histogram(x, 50)
digitize(x, e); interp(x, e, e); pad(x, 3); convolve(x, k); correlate(x, k); average(x, weights=y); quantile(x, 0.3)
outer(k, x); polyval(k, x); allclose(x, x); kron(k, x); array_equal(x, x); insert(x, 1, 2.0); delete(x, 1)
sliding_window_view(x, 3); broadcast_to(x, (2, n)); reshape(x, (2, -1)); expand_dims(x, axis=0)
"""
_MATRICES = """
sort(m, axis=0); sort(m, axis=1); argsort(m, axis=1); cumulative_sum(m, axis=0); cumulative_sum(m, axis=1)
matrix_transpose(m); flip(m, axis=1); take(m, c, axis=1); concat([m, m], axis=1); add(m, m); multiply(m, r)
diff(m, axis=0); softmax(m, axis=1); logsumexp(m, axis=1); quantile(m, 0.3, axis=0); take_along_axis(m, a, axis=1)
vecdot(m, m, axis=1); linalg.vector_norm(m, axis=1); moveaxis(m, 0, 1); matmul(m, t); einsum('ij,ij->i', m, m)
einsum('ij,jk,jk->ik', m, t, t); tril(m); triu(m); roll(m, 1, axis=0); linalg.qr(m); linalg.svdvals(m)
cov(t, rowvar=False); unique(g[:, :2], axis=0); pad(m, 1); repeat(m, 2, axis=1)
"""
_SPARSE = """
transpose(s); add(s, t); multiply(s, t); maximum(s, t); multiply(s, 2); concat([s, t], axis=0); concat([s, t], axis=1)
sum(s); sum(s, axis=0); count(s); count(s, axis=0); norm(s); norm(s, axis=0); abs(s); sqrt(s); scale(s, columns=w)
take(s, p); take(s, c, axis=1); diagonal(s); convert(s, 'csc')
from_parts('coo', *parts(s).arrays.values(), shape=s.shape, canonicalize=True)
"""


def calls_of(text: str) -> list[str]:
    """The calls of a table."""
    return [call.strip() for line in text.strip().splitlines() for call in line.split(";")]


VECTOR_CALLS = [
    *(f"{name}(x)" for name in _UNARY.split()),
    *(f"{name}(x, y)" for name in _BINARY.split()),
    *calls_of(_VECTORS),
]
MATRIX_CALLS = [*(f"{name}(m, axis={axis})" for name in _REDUCTIONS.split() for axis in (0, 1)), *calls_of(_MATRICES)]
SPARSE_CALLS = calls_of(_SPARSE)
VECTORS = {"1000": 1_000, "1000000": 1_000_000}
MATRICES = {"square": (300, 300), "short rows": (100_000, 4), "one row": (1, 400_000), "one column": (400_000, 1)}
_COMPOSED = "only xarrayops.numpy has it, composed of functions of the standard that every library has"
_CHECKS = "a short call: the checks of its arguments take longer than the library's own function"
REASONS = {
    "*: exp2(x), *": _COMPOSED,
    "*: fmod(x, y), *": _COMPOSED,
    "*: heaviside(x, y), *": _COMPOSED,
    "*: append(x, y), 1000": _COMPOSED,
    "numpy: sort(m, axis=*), square": "our sort is stable, as in the standard; NumPy's default is not",
    "torch: histogram(x, 50), 1000": _CHECKS,
    "jax: quantile(*, *": "q is read first, so that the steps are not one compiled program",
    "jax: trapezoid(x), 1000000": "two sums of slices, each of which XLA copies",
    "jax: correlate(x, k), 1000": _CHECKS,
}
"""By a pattern of the case, why a ratio is above its bar."""


def reason(case: str) -> str:
    """Why a case is above its bar; empty if that is not known."""
    return next((why for pattern, why in REASONS.items() if fnmatch(case, pattern)), "")


def values(library: str, vector: int, matrix: tuple[int, int]) -> dict[str, Any]:
    """The variables of the calls."""
    random = np.random.default_rng(0)
    rows, columns = matrix
    host = {
        "x": random.standard_normal(vector),
        "y": random.standard_normal(vector),
        "i": random.integers(0, min(vector, 60), vector),
        "j": random.integers(0, 60, 20),
        "b": random.random(vector) < 0.5,
        "e": np.linspace(-3, 3, 50),
        "k": random.standard_normal(9),
        "m": random.standard_normal(matrix),
        "t": random.standard_normal((columns, min(columns, 4))),
        "r": random.standard_normal(columns),
        "g": random.integers(0, 3, matrix),
        "a": random.integers(0, columns, matrix),
        "c": random.integers(0, columns, 5),
    }
    if library == "dask":
        import dask.array as da

        chunks = {1: vector // 100, 2: (-(-rows // 100), columns)}
        made = {name: da.from_array(x, chunks=chunks[x.ndim] if len(x) > 100 else -1) for name, x in host.items()}
    else:
        made = {name: x if library == "numpy" else xo.convert(x, library) for name, x in host.items()}
    return made | {"n": vector, "float32": "float32"}


MODULES = {
    "ours": ("xarrayops", "xarrayops.numpy"),
    "numpy": ("numpy",),
    "torch": ("array_api_compat.torch", "torch"),
    "jax": ("jax.numpy", "jax.nn"),
}
"""The functions of a library are those of the first module that has the name."""


class Functions:
    """The functions of some modules."""

    def __init__(self, library: str) -> None:
        self.modules = [importlib.import_module(name) for name in MODULES[library]]

    def __getattr__(self, name: str) -> Any:
        return next(getattr(module, name) for module in self.modules if hasattr(module, name))


def compiled(call: str) -> Any:
    """The code of a call with the namespace F."""
    return compile(f"F.{call}", call, "eval")


def leaves(result: Any) -> list[Any]:
    """The arrays of a result."""
    return [x for each in result for x in leaves(each)] if isinstance(result, (tuple, list)) else [result]


def ready(result: Any) -> Any:
    """Wait for the arrays of JAX."""
    for x in leaves(result):
        getattr(x, "block_until_ready", lambda: None)()
    return result


def agree(first: Any, second: Any) -> bool:
    """Whether two results have the same values."""
    pairs = [[np.asarray(x) for x in leaves(each)] for each in (first, second)]
    return len(pairs[0]) == len(pairs[1]) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=True)
        for a, b in zip(*pairs, strict=True)
    )


def ratio(library: str, call: str, given: dict[str, Any], rounds: int) -> float | None:
    """Our time over the library's own; None if it has no such function, or gives another result."""
    code, own = compiled(call), {"F": Functions(library), **given}
    ours = {"F": Functions("ours"), **given}
    try:
        expected = ready(eval(code, own))
    except Exception:  # its own function has another name or other arguments
        return None
    if not agree(ready(eval(code, ours)), expected):
        return None
    calls = {"own": lambda: ready(eval(code, own)), "ours": lambda: ready(eval(code, ours))}
    start = time.perf_counter()
    calls["ours"]()
    number = max(1, min(200, int(0.002 / (time.perf_counter() - start))))
    times = interleaved(calls, rounds, 0.0, number=number)
    return min(times["ours"]) / min(times["own"])


def time_ratios(library: str, options: Any) -> Iterator[tuple[str, float]]:
    """The cases of a library, and their ratios."""
    shapes = {
        **{kind: (n, (10, 10)) for kind, n in VECTORS.items()},
        **{k: (10, shape) for k, shape in MATRICES.items()},
    }
    for kind, (vector, matrix) in shapes.items():
        given = values(library, vector, matrix)
        for call in VECTOR_CALLS if kind in VECTORS else MATRIX_CALLS:
            case = f"{library}: {call}, {kind}"
            if options.only in case:
                found = ratio(library, call, given, options.rounds)
                for _ in range(options.again if found and found > TIMES else 0):
                    found = min(found, ratio(library, call, given, options.rounds) or found)
                if found:
                    yield case, found


def task_ratios(options: Any) -> Iterator[tuple[str, float]]:
    """The calls on Dask, and the tasks for each chunk of their results."""
    import dask

    given = values("dask", 10_000, (1000, 8))
    for call in (*VECTOR_CALLS, *MATRIX_CALLS):
        case = f"dask: {call}, 100 chunks"
        if options.only in case:
            try:
                found = [
                    x
                    for x in leaves(eval(compiled(call), {"F": Functions("ours"), **given}))
                    if dask.is_dask_collection(x)
                ]
            except xo.XArrayOpsError:
                continue
            tasks = {key for x in dask.optimize(*found) for key in dict(x.__dask_graph__())}
            if found:
                # a result of one chunk is made of 100, so that the larger number of both counts
                yield case, len(tasks) / max(100, *(x.npartitions for x in found), sum(x.npartitions for x in found))


def sparse_ratios(options: Any) -> Iterator[tuple[str, float, int]]:
    """The calls on coo matrices: the time with 10**8 rows over that with 10**3, and the bytes of the former."""
    operands = [coo_operands(rows) for rows in (10**3, 10**8)]
    for call in SPARSE_CALLS:
        case = f"sparse: {call}, 10**8 rows"
        if options.only in case:
            functions = {"F": xo.sparse, "parts": xo.sparse.parts}
            calls: Calls = {
                name: partial(eval, compiled(call), functions | given)
                for name, given in zip(("short", "long"), operands, strict=True)
            }
            times = interleaved(calls, options.rounds, 0.0, number=5)
            tracemalloc.start()
            calls["long"]()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            yield case, min(times["long"]) / min(times["short"]), peak


def coo_operands(rows: int) -> dict[str, Any]:
    """Two coo matrices (rows, 4) with 10**3 entries, factors of the columns, and some rows and columns."""
    random = np.random.default_rng(0)
    made = [
        xo.sparse.from_parts(
            "coo",
            np.stack([random.integers(0, rows, 1000), random.integers(0, 4, 1000)]),
            random.standard_normal(1000),
            shape=(rows, 4),
            canonicalize=True,
        )
        for _ in range(2)
    ]
    return {"s": made[0], "t": made[1], "w": np.arange(4.0), "p": np.arange(0, 999, 7), "c": np.asarray([3, 0])}


def main() -> int:
    """Print and write the ratios."""
    parser = common_options(__doc__, rounds=5, libraries="numpy,torch,jax,dask,sparse", only=True)
    parser.add_argument("--again", type=int, default=3, metavar="N")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ratios: dict[str, float] = {}
    missed: dict[str, str] = {}
    for library in options.libraries.split(","):
        if library == "sparse":
            found = [(case, ratio, TIMES) for case, ratio, nbytes in checked_bytes(options, missed)]
        elif library == "dask":
            found = [(case, ratio, TASKS) for case, ratio in task_ratios(options)]
        else:
            if library == "jax":
                importlib.import_module("jax").config.update("jax_enable_x64", True)
            found = [(case, ratio, TIMES) for case, ratio in time_ratios(library, options)]
        for case, value, bar in found:
            ratios[case] = round(value, 2)
            if value > bar:
                missed[case] = reason(case)
        print(f"{library}: {len(found)} cases, {sum(value > bar for _, value, bar in found)} above the bar", flush=True)
    for case, why in missed.items():
        print(f"{case}: {ratios[case]}  {why or 'NO REASON'}")
    if options.out:
        written = {"machine": machine(("numpy", "torch", "jax", "dask", "scipy")), "above": missed, "ratios": ratios}
        options.out.write_text(json.dumps(written, indent=1) + "\n")
    return MISSED if not all(missed.values()) else 0


def checked_bytes(options: Any, missed: dict[str, str]) -> Iterator[tuple[str, float, int]]:
    """The sparse cases; those that allocate too much are added to the missed ones."""
    for case, ratio_of_times, nbytes in sparse_ratios(options):
        if nbytes > BYTES + 2 * 1000 * BYTES_OF_ENTRY:
            missed[case] = ""
        yield case, ratio_of_times, nbytes


if __name__ == "__main__":
    sys.exit(main())
