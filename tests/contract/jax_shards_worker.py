"""Count the bytes that sharded calls of JAX move, in a process with 8 devices, and print what differs.

XLA writes its programs to the folder that the first argument names.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import xarrayops as xo
from tests.contract.jax_moves import moved
from tests.contract.jax_reads import READS
from xarrayops.plugin.sharding import described

PROGRAMS = Path(sys.argv[1])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(1024, 64)).astype("float32")
Q, K, V = (RNG.normal(size=(8, 8, 32, 8)).astype("float32") for _ in range(3))
BYTES = RNG.integers(-9, 9, size=(256, 256)).astype("int8")
ROWS, HEADS, KEYS = ("x",), (None, "x"), (None, None, "x")


def gradients(q: Any, k: Any, v: Any) -> Any:
    return jax.vjp(lambda *given: xo.attention(*given, causal=True), q, k, v)[1](q)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], int]] = {
    "attention": (lambda q, k, v: xo.attention(q, k, v, causal=True, return_lse=True), (Q, K, V), ROWS, 0),
    "attention of heads": (lambda q, k, v: xo.attention(q, k, v), (Q, K, V), HEADS, 0),
    "attention backward": (gradients, (Q, K, V), ROWS, 0),
    "attention of heads backward": (gradients, (Q, K, V), HEADS, 0),
    "ring": (lambda q, k, v: xo.attention(q, k, v, causal=True), (Q, K, V), KEYS, (K.nbytes + V.nbytes) * 7 // 8),
    "ring backward": (gradients, (Q, K, V), KEYS, (K.nbytes + V.nbytes) * 22 // 8),
    "random.normal": (
        lambda x: xo.random.default_rng(0, like=x).normal(size=(1024, 8), dtype="float32"),
        (X,),
        ROWS,
        0,
    ),
    "random.integers": (lambda x: xo.random.default_rng(0, like=x).integers(9, size=(3, 5)), (X,), ROWS, 0),
    "max": (lambda x: xo.max(x, axis=0), (X,), ROWS, X.nbytes // 100),
    "softmax": (lambda x: xo.softmax(x, axis=0), (X,), ROWS, 64 * (4 + 1 + 4)),
    "log_softmax": (lambda x: xo.log_softmax(x, axis=0), (X,), ROWS, 64 * (4 + 1 + 4)),
    "logsumexp": (lambda x: xo.logsumexp(x, axis=0), (X,), ROWS, X.nbytes // 100),
    "argmax": (lambda x: xo.argmax(x, axis=0), (X,), ROWS, X.nbytes // 40),
    "matmul of int8": (xo.matmul, (BYTES, BYTES), ROWS, BYTES.nbytes),
    "at[mask].set": (lambda x, mask: xo.at(x)[mask].set(0.0), (X, X > 0), ROWS, 0),
    "at[mask of rows].set": (lambda x, mask: xo.at(x)[mask].set(7.0), (X, X[:, 0] > 0), ROWS, 0),
}
EXACT = re.compile("^attention|random|matmul|at|argmax|^max")
"""Results that are bit-equal to those on one device."""


def main() -> None:
    faults, wanted = [], sys.argv[2]
    chosen = {name: case for name, case in CASES.items() if re.search(wanted, name)}
    for axes in (AxisType.Auto, AxisType.Explicit):
        mesh = jax.make_mesh((8,), ("x",), axis_types=(axes,))
        for name, (call, arrays, spec, most) in chosen.items():
            place = NamedSharding(mesh, PartitionSpec(*spec))
            split = [jax.device_put(a, place) for a in arrays]
            READS.clear()
            found, count = moved(lambda c=call, s=split: c(*s), PROGRAMS)
            reads = len(READS)
            want = call(*map(jax.numpy.asarray, arrays))
            if count > most or reads:
                faults.append((str(axes), name, f"{count} bytes, at most {most}; {reads} reads"))
            if name in ("attention", "attention of heads", "ring"):
                (ring,) = (each for each in xo.explain("attention", *split).candidates if each.name == "jax:ring")
                if (ring.moves, ring.sharding) != (most, described("jax", (*spec, None, None, None)[:4])):
                    faults.append((str(axes), name, f"explained as {ring}, but it moves {count} bytes"))
                if count < most:
                    faults.append((str(axes), name, f"{count} bytes, not {most}"))
            if "softmax" in name:
                candidate = next(each for each in xo.explain(name, *split, axis=0).candidates if each.ok)
                if candidate.moves != count or count != most:
                    faults.append((str(axes), name, f"explained as {candidate}, but it moves {count} bytes"))
            tolerance = 0 if EXACT.search(name) else 5e-6
            for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(want), strict=True):
                if one.dtype != other.dtype or not np.allclose(one, other, rtol=tolerance, atol=tolerance):
                    faults.append((str(axes), name, "wrong"))
                if one.sharding.device_set != place.device_set:
                    faults.append((str(axes), name, f"on {one.sharding}"))
                if re.search("attention|ring", name) and one.sharding.is_fully_replicated:
                    faults.append((str(axes), name, "whole on each device"))
    print(json.dumps({"count": len(chosen) * 2, "faults": faults}))


main()
