"""Calls that the shards of eight devices serve, eagerly and under jit, on meshes with both types of axes.

The arguments are the folder to which XLA writes its programs, the file of the plans, and the step between cases. It
prints what differs from NumPy, and from the bytes that `explain` states.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import xarrayops as xo
from tests.contract.jax_moves import moved

jax.config.update("jax_enable_x64", True)
PROGRAMS = Path(sys.argv[1])
RNG = np.random.default_rng(0)
ROWS = ("x",), ("a",), (("a", "b"),)
"""The first axis over a mesh of one axis, over one of two, and over both."""
TALL = RNG.normal(size=(1024, 12)).astype("float32")
BAD = TALL.astype("float64") @ np.diag(10.0 ** -np.arange(12))
COMPLEX = (TALL[:, :5] + 1j * TALL[:, 5:10]).astype("complex64")
VECTOR = RNG.normal(size=1 << 16).astype("float32")
ODD = VECTOR.copy()
ODD[:9000:3], ODD[1:9000:3], ODD[2:9000:3] = np.inf, -0.0, 0.0
HOLED = np.where(RNG.random(1 << 16) < 0.3, np.float32("nan"), VECTOR)
HUGE = np.where(VECTOR > 0, np.float32(3e38), np.float32(-3e38))
INTEGERS = RNG.integers(-(2**62), 2**62, 1 << 16)
SMALL = RNG.integers(0, 100, 1 << 16).astype("int32")
PLANE = RNG.normal(size=(1 << 14, 2, 3)).astype("float32")


def exact(got: Any, want: Any) -> None:
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def near(got: Any, want: Any, bound: float = 2e-6) -> None:
    got, want = np.asarray(got, complex), np.asarray(want, complex)
    assert got.shape == want.shape, (got.shape, want.shape)
    assert np.abs(got - want).max() <= bound * max(np.abs(want).max(), 1), np.abs(got - want).max()


def of_rows(got: Any, x: Any) -> None:
    """Q is orthonormal to rounding."""
    q, r = np.asarray(got[0]), np.asarray(got[1])
    bound = 10 * np.finfo(q.dtype).eps * np.sqrt(len(x))
    near(q.conj().T @ q, np.eye(x.shape[1]), bound)
    near(q @ r, x, bound)
    exact(r, np.triu(r))


def of_values(got: Any, x: Any) -> None:
    u, values, vh = map(np.asarray, got)
    near((u * values) @ vh, x)
    near(values, np.linalg.svd(x.astype("complex128"), compute_uv=False))


def of_halves(got: Any, want: Any) -> None:
    for one, other in zip(got, want, strict=True):
        near(one, other, 5e-6)


def of_greatest(got: Any, want: Any) -> None:
    """Of equal elements the first come first, NaN is the greatest, and zeros with a sign are equal."""
    x, k, axis, largest = want
    unsigned = x + x.dtype.type(0)
    keys = (-unsigned if x.dtype.kind == "f" else ~unsigned) if largest else unsigned
    keys = np.where(np.isnan(x), -np.inf, keys) if largest and x.dtype.kind == "f" else keys
    places = np.argsort(keys, axis=axis, stable=True).take(np.arange(k), axis=axis)
    exact(got[1], places)
    exact(got[0], np.take_along_axis(x, places, axis=axis))


Case = tuple[str, tuple[Any, ...], dict[str, Any], Callable[..., None], Any]
"""A verb, its arguments and options, a check, and what NumPy gives."""
Q = np.asarray([0.0, 0.25, 0.999, 1.0])


def tall() -> list[Case]:
    found: list[Case] = []
    for x in (TALL, BAD, COMPLEX):
        found.append(("linalg.qr", (x,), {}, of_rows, x))
        found.append(("linalg.svd", (x,), {"full_matrices": False}, of_values, x))
        found.append(("linalg.svdvals", (x,), {}, near, np.linalg.svd(x.astype("complex128"), compute_uv=False)))
    for x in (TALL, COMPLEX):
        wide = np.linalg.pinv(x.astype("complex128"))
        found.append(("linalg.pinv", (x,), {}, near, wide))
        for right in (x[:, :3], x[:, 0] ** 2):
            want = np.linalg.lstsq(x.astype("complex128"), right, rcond=None)
            solution, _, rank, values = want
            rest = right - x @ solution
            residuals = np.atleast_1d(np.sum(np.abs(rest) ** 2, axis=0))
            found.append(("linalg.lstsq", (x, right), {}, of_halves, (solution, residuals, rank, values)))
    found.append(("linalg.pinv", (BAD,), {"rtol": 1e-4}, partial(near, bound=1e-9), np.linalg.pinv(BAD, rcond=1e-4)))
    return found


def selection() -> list[Case]:
    found: list[Case] = []
    for x in (VECTOR, ODD, SMALL, VECTOR.astype("float64"), VECTOR.astype("float16"), VECTOR > 0.5):
        wide = x.astype("float64")
        middle = np.median(wide)
        found.append(("median", (x,), {}, exact if x.dtype != bool else near, middle.astype(xo.median(x).dtype)))
    for x in (VECTOR, ODD, INTEGERS, SMALL):
        for method in ("lower", "nearest", "inverted_cdf"):
            want = np.quantile(x, 0.3, method=method)
            found.append(("quantile", (x,), {"q": 0.3, "method": method}, exact, want))
    for x in (VECTOR, SMALL, HUGE):
        found.append(("quantile", (x, Q), {}, near, np.quantile(x.astype("float64"), Q)))
        found.append(
            ("percentile", (x,), {"q": 30.0, "keepdims": True}, near, [np.percentile(x.astype("float64"), 30.0)])
        )
    found.append(("nanmedian", (HOLED,), {}, exact, np.nanmedian(HOLED)))
    found.append(("nanquantile", (HOLED, Q), {}, near, np.nanquantile(HOLED, Q)))
    found.append(("nanpercentile", (HOLED,), {"q": 10.0}, near, np.nanpercentile(HOLED, 10.0)))
    found.append(("median", (HOLED,), {}, exact, np.float32("nan")))
    for axis in (0, (0, 2), None):
        found.append(("median", (PLANE,), {"axis": axis}, exact, np.median(PLANE, axis=axis)))
        want = np.quantile(PLANE, Q, axis=axis, keepdims=True)
        found.append(("quantile", (PLANE, Q), {"axis": axis, "keepdims": True}, near, want))
    return found


def counting() -> list[Case]:
    found: list[Case] = [
        ("bincount", (SMALL,), {"length": 100}, exact, np.bincount(SMALL)),
        ("bincount", (SMALL - 5,), {"length": 50}, exact, np.bincount(SMALL, minlength=55)[5:55]),
        ("bincount", (SMALL, VECTOR), {"length": 100}, near, np.bincount(SMALL, VECTOR)),
    ]
    for x in (VECTOR, SMALL, PLANE):
        found.append(("histogram", (x,), {}, of_halves, np.histogram(x)))
        found.append(
            ("histogram", (x,), {"bins": 50, "range": (-1.0, 20.0)}, of_halves, np.histogram(x, 50, (-1.0, 20.0)))
        )
        edges = np.asarray([-1.0, 0.0, 0.5, 30.0], "float32")
        found.append(("histogram", (x, edges), {"density": True}, of_halves, np.histogram(x, edges, density=True)))
    weights = np.abs(VECTOR)
    want = np.histogram(VECTOR, 20, weights=weights.astype("float64"), density=True)
    found.append(("histogram", (VECTOR,), {"bins": 20, "weights": weights, "density": True}, of_halves, want))
    return found


def sorting() -> list[Case]:
    found: list[Case] = []
    for x in (VECTOR, ODD, HOLED, INTEGERS, SMALL, VECTOR > 0):
        found.append(("sort", (x,), {}, exact, np.sort(x)))
        found.append(("argsort", (x,), {}, exact, np.argsort(x, stable=True)))
    for x in (VECTOR, SMALL):
        found.append(("sort", (x,), {"descending": True}, exact, np.sort(x)[::-1]))
        found.append(("argsort", (x,), {"descending": True}, exact, np.argsort(-x, stable=True)))
    found.append(("sort", (PLANE,), {"axis": 0}, exact, np.sort(PLANE, axis=0)))
    found.append(("argsort", (PLANE,), {"axis": -3}, exact, np.argsort(PLANE, axis=0, stable=True)))
    return found


def greatest() -> list[Case]:
    vectors = (VECTOR, ODD, HOLED, INTEGERS, SMALL, VECTOR.astype("float16"))
    calls = [(x, k, 0, largest) for x in vectors for largest in (True, False) for k in (1, 10, 1500)]
    calls += [(PLANE, 2, axis, True) for axis in (0, 1, -1)]
    return [
        ("topk", (x,), {"k": k, "axis": axis, "largest": largest}, of_greatest, (x, k, axis, largest))
        for x, k, axis, largest in calls
    ]


def of(verb: str) -> Callable[..., Any]:
    function: Any = xo
    for name in verb.split("."):
        function = getattr(function, name)
    return function


def served(case: Case, place: NamedSharding, is_explicit: bool) -> list[str]:
    """What differs for a call, eagerly and under jit: its values, the bytes that it moves, or those that it holds."""
    verb, args, options, check, want = case
    length, faults, held = len(args[0]), [], 0

    def placed(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        return jax.device_put(x, place) if len(x) == length else jax.numpy.asarray(x)

    split = [placed(x) for x in args]
    call = partial(of(verb), **{name: placed(x) for name, x in options.items()})
    candidate, *_ = xo.explain(verb, *split, **call.keywords).candidates

    def compiled() -> Any:
        nonlocal held
        program = jax.jit(call).lower(*split).compile()
        memory = program.memory_analysis()
        held = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
        return program(*split)

    for name, run in (("eager", lambda: call(*split)), ("jit", compiled)):
        try:
            got, nbytes = moved(run, PROGRAMS)
            check(got, want)
        except Exception as error:
            faults.append(f"{name}: {type(error).__name__}: {error}"[:300])
            continue
        if (name == "eager" or is_explicit) and nbytes != candidate.moves:
            faults.append(f"{name}: {nbytes} bytes moved, but {candidate.moves} stated")
    if is_explicit and held > candidate.holds:
        faults.append(f"{held} bytes held, but {candidate.holds} stated")
    return faults


def main() -> None:
    step, count, faults = int(sys.argv[3]), 0, []
    for axes in (AxisType.Auto, AxisType.Explicit):
        one = jax.make_mesh((8,), ("x",), axis_types=(axes,))
        two = jax.make_mesh((4, 2), ("a", "b"), axis_types=(axes,) * 2)
        for number, case in enumerate(globals()[sys.argv[2]]()):
            if number % step == 0:
                spec = ROWS[number // step % 3]
                place = NamedSharding(one if spec == ("x",) else two, PartitionSpec(*spec))
                count += 1
                title = f"{axes} {number} {case[0]} {case[1][0].dtype} {spec}"
                faults += [(title, fault) for fault in served(case, place, axes is AxisType.Explicit)]
    print(json.dumps({"count": count, "faults": faults}))


main()
