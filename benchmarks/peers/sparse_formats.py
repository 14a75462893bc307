"""Sparse formats: xarrayops compared with SciPy and PyTorch, in one run.

    python benchmarks/peers/sparse_formats.py [--rounds 7] [--only TEXT] [--scale 1] [--out FILE]

Contestants are interleaved within each round. Times are medians of the rounds; ratios are medians of the ratios within
a round. Results are compared index by index before timing. All contestants use all cores. "ours" may use numba; "ours
without numba" is the same call with numba hidden. Memory is measured in a separate process: the growth of the peak
resident set during a second call, minus the bytes of the result.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from measuring import Calls, common_options, interleaved, machine, over, peak

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops._host import compiled

SEED = np.random.default_rng(0)
SIDE = 8192
MEMORY_MB = 16
WITHOUT = "ours without numba"
HAS_NUMBA = importlib.util.find_spec("numba") is not None


def dense(rows: int, columns: int, density: float) -> Any:
    """A float32 matrix with this fraction of positive elements; the others are zero."""
    x = SEED.random((rows, columns), "float32")
    x[x >= density] = 0
    return x


def torch_of(x: Any) -> Any:
    """The array as a tensor that shares its memory."""
    import torch

    torch.set_num_threads(os.cpu_count() or 1)
    return torch.from_numpy(x)


@contextmanager
def no_numba() -> Iterator[None]:
    """Hide numba."""
    loops = compiled.loops
    compiled.loops = lambda package: None  # type: ignore[assignment]
    try:
        yield
    finally:
        compiled.loops = loops


def both(call: Callable[[], Any]) -> Calls:
    """A call of ours, with and without numba."""

    def without() -> Any:
        with no_numba():
            return call()

    return {"ours": call, WITHOUT: without} if HAS_NUMBA else {"ours": call}


def from_dense(rows: int, columns: int, density: float, scale: int) -> Calls:
    """NumPy array to SciPy CSR."""
    x = dense(max(1, rows // scale), max(1, columns // scale), density)
    t = torch_of(x)
    ours = both(partial(xo.sparse.from_dense, x))
    return ours | {"scipy": partial(scipy.sparse.csr_array, x), "torch": t.to_sparse_csr}


def from_dense_fortran(rows: int, columns: int, density: float, scale: int) -> Calls:
    """NumPy array in Fortran order to SciPy CSR."""
    x = np.asfortranarray(dense(rows // scale, columns // scale, density))
    return both(partial(xo.sparse.from_dense, x)) | {"scipy": partial(scipy.sparse.csr_array, x)}


def from_tensor(rows: int, columns: int, density: float, scale: int) -> Calls:
    """PyTorch tensor to PyTorch CSR."""
    t = torch_of(dense(rows // scale, columns // scale, density))
    return both(partial(xo.sparse.from_dense, t)) | {"torch": t.to_sparse_csr}


def coo(rows: int, columns: int, density: float, scale: int) -> Calls:
    """The same matrix to COO and to CSR."""
    x = dense(rows // scale, columns // scale, density)
    csr = both(partial(xo.sparse.from_dense, x))
    return both(partial(xo.sparse.from_dense, x, "coo")) | {f"{name} csr": call for name, call in csr.items()}


def relu(rows: int, columns: int, density: float, scale: int) -> Calls:
    """Activation and conversion in one pass, in two passes, and a plain conversion of the same number of entries."""
    x = SEED.random((rows // scale, columns // scale), "float32") - np.float32(1 - density)
    kept = np.maximum(x, 0)
    t = torch_of(x)
    plain = both(partial(xo.sparse.from_dense, kept))
    return (
        both(partial(xo.sparse.from_dense, x, where="relu"))
        | {f"{name} plain": call for name, call in plain.items()}
        | {
            "scipy": lambda: scipy.sparse.csr_array(np.maximum(x, 0)),
            "torch": lambda: t.relu().to_sparse_csr(),
        }
    )


def random_matrix(entries: int) -> Any:
    """A square CSR matrix with this number of entries, 50 per row on average."""
    side = max(2, entries // 50)
    rows, columns = (SEED.integers(0, side, entries, dtype=np.int32) for _ in range(2))
    s = scipy.sparse.coo_array((SEED.random(entries, "float32"), (rows, columns)), shape=(side, side)).tocsr()
    s.sum_duplicates()
    return s


def to_csc(entries: int, scale: int) -> Calls:
    """CSR to CSC."""
    s = random_matrix(entries // scale)
    return both(partial(xo.sparse.convert, s, "csc")) | {"scipy": s.tocsc}


def from_coo(entries: int, order: str, scale: int) -> Calls:
    """COO to CSR, with sorted or shuffled entries."""
    s = random_matrix(entries // scale).tocoo()
    positions = SEED.permutation(s.nnz) if order == "shuffled" else np.arange(s.nnz)
    data, row, column = (np.ascontiguousarray(a[positions]) for a in (s.data, *s.coords))

    def fresh() -> Any:
        """A new container without cached information about its order."""
        return scipy.sparse.coo_array((data, (row, column)), shape=s.shape)

    def canonical() -> Any:
        c = fresh().tocsr()
        c.sort_indices()
        return c

    return both(lambda: xo.sparse.convert(fresh(), "csr")) | {"scipy": canonical}


def spmm(entries: int, columns: int, scale: int) -> Calls:
    """CSR times a dense matrix."""
    s = random_matrix(entries // scale)
    x = SEED.random((s.shape[1], columns), "float32")
    t = xo.sparse.convert(s, backend="torch")
    return both(lambda: xo.matmul(s, x)) | {"scipy": lambda: s @ x, "torch": partial(t.matmul, torch_of(x))}


class Case(NamedTuple):
    """Contestants, and the smallest allowed ratio of the time of one to the time of another."""

    name: str
    contestants: Callable[..., Calls]
    arguments: tuple[Any, ...]
    asked: dict[tuple[str, str], float]


def ahead(scipy: float, torch: float = 0.0, *, numba: tuple[float, float] = (0.0, 0.0)) -> dict[tuple[str, str], float]:
    """The required ratios without and with numba."""
    wanted = {
        ("scipy", WITHOUT): scipy,
        ("torch", WITHOUT): torch,
        ("scipy", "ours"): numba[0],
        ("torch", "ours"): numba[1],
    }
    return {pair: ratio for pair, ratio in wanted.items() if ratio}


CASES = (
    Case("from_dense", from_dense, (SIDE, SIDE, 0.05), ahead(4, 2, numba=(5, 3.5))),
    *(Case(f"from_dense {d}", from_dense, (SIDE // 2, SIDE // 2, d), ahead(1.5)) for d in (0.0, 0.001, 0.05, 0.5, 1.0)),
    *(
        Case(f"from_dense {rows}x{columns}", from_dense, (rows, columns, 0.05), ahead(1.5))
        for rows, columns in ((1, 10**7), (10**7, 1), (100_000, 1000))
    ),
    Case("from_dense Fortran", from_dense_fortran, (SIDE, SIDE, 0.05), ahead(1.5)),
    Case("from_dense torch", from_tensor, (SIDE, SIDE, 0.05), ahead(0, 2, numba=(0, 3))),
    Case("coo", coo, (SIDE, SIDE, 0.05), {("ours csr", "ours"): 1 / 1.3, (f"{WITHOUT} csr", WITHOUT): 1 / 1.3}),
    Case(
        "relu",
        relu,
        (SIDE, SIDE, 0.05),
        {("ours plain", "ours"): 1 / 1.15, (f"{WITHOUT} plain", WITHOUT): 1 / 1.15} | ahead(3, 3),
    ),
    Case("csr to csc", to_csc, (10**7,), ahead(1.0, numba=(1.0, 0))),
    Case("coo to csr, shuffled", from_coo, (10**7, "shuffled"), ahead(0, numba=(1.5, 0))),
    Case("coo to csr, sorted", from_coo, (10**7, "sorted"), ahead(1 / 1.2, numba=(1 / 1.2, 0))),
    Case("spmm", spmm, (10**7, 64), ahead(1.7, numba=(1.7, 1.0))),
)
MEMORY = {"csr": {}, "coo": {"format": "coo"}, "relu": {"where": "relu"}, "torch": {}}


def check(name: str, results: dict[str, Any]) -> None:
    """Check that all results agree with SciPy index by index; dense results up to rounding."""
    want = scipy.sparse.csr_array(_host(results["ours"])) if find.sparse_of(results["ours"]) else None
    for other, result in results.items():
        if want is None:
            np.testing.assert_allclose(np.asarray(result), results["ours"], rtol=1e-4, err_msg=f"{name}: {other}")
            continue
        got = scipy.sparse.csr_array(_host(result))
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(got, part), getattr(want, part), err_msg=f"{name}: {other}: {part}")


def _host(s: Any) -> Any:
    return s if scipy.sparse.issparse(s) else xo.sparse.convert(s, backend="numpy")


def measure(case: Case, rounds: int, pause: float, scale: int) -> dict[str, Any]:
    """Milliseconds by contestant, the ratios of the others' times to ours, and the required ratios."""
    calls = case.contestants(*case.arguments, scale)
    check(case.name, {name: call() for name, call in calls.items()})
    times = interleaved(calls, rounds, pause)
    asked = {
        f"{other} / {own}": {
            "asked": round(ratio, 2),
            "found": round(median(a / b for a, b in zip(times[other], times[own], strict=True)), 2),
        }
        for (other, own), ratio in case.asked.items()
        if other in times and own in times
    }
    return {
        "case": case.name,
        "ms": {name: round(median(each) * 1e3, 4) for name, each in times.items()},
        "over ours": {name: round(ratio, 3) for name, ratio in over(times).items()},
        "asked": asked,
    }


def extra(name: str, side: int) -> float:
    """The peak memory of a conversion in MB, without its result."""
    x: Any = dense(side, side, 0.05)
    x = torch_of(x) if name == "torch" else x
    call = partial(xo.sparse.from_dense, x, **MEMORY[name])
    result = sum(a.nbytes for a in xo.sparse.parts(call()).arrays.values()) / 2**20
    return peak(call) - result


def isolated_extra(name: str, side: int) -> float:
    """`extra` in a separate process."""
    command = [sys.executable, __file__, "--peak", name, "--scale", str(SIDE // side)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    """Measure, print and write the results."""
    parser = common_options(__doc__, rounds=7, pause=0.1, only=True)
    parser.add_argument("--scale", type=int, default=1, help="divide extents by this, for a trial")
    parser.add_argument("--peak", choices=MEMORY, help="measure only the memory of this case")
    options = parser.parse_args()
    if options.peak:
        print(extra(options.peak, SIDE // options.scale))
        return 0
    rows, memory = [], {}
    for case in CASES:
        if options.only in case.name:
            row = measure(case, options.rounds, options.pause, options.scale)
            rows.append(row)
            shown = ", ".join(f"{pair} {r['found']:.2f} (required {r['asked']})" for pair, r in row["asked"].items())
            print(f"{case.name:24} ours {row['ms']['ours']:9.3f} ms; {shown}", flush=True)
    for name in MEMORY:
        if options.only in f"memory {name}":
            memory[name] = round(isolated_extra(name, SIDE // options.scale), 1)
            print(f"memory {name:17} {memory[name]:9.1f} MB beyond the result (at most {MEMORY_MB})", flush=True)
    if options.out:
        described = machine(("numpy", "scipy", "torch", "numba"))
        found = {"machine": described, "rows": rows, "memory_mb": memory}
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
