"""Run every function on arrays of JAX in another place than the default device, and print what differs.

The arguments are the place and the part of the cases. Results must be where the arguments are, and equal to those on
the default device.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from typing import Any

import jax
import numpy as np
from jax.experimental.sparse import JAXSparse
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import xarrayops as xo
from tests.contract.jax_reads import READS
from tests.contract.placed_calls import calls
from xarrayops.testing import Variant

jax.config.update("jax_enable_x64", True)
PLACE, PART = sys.argv[1], int(sys.argv[2])
WANTED = sys.argv[3] if len(sys.argv) > 3 else ""
DEVICE = jax.devices()[3]
AXES = AxisType.Explicit if PLACE == "explicit" else AxisType.Auto
MESHES = {n: jax.make_mesh((n,), ("x",), axis_types=(AXES,), devices=jax.devices()[:n]) for n in (8, 4, 2)}
MAY_READ = re.compile(
    "^(unique|intersect1d|set.*1d|union1d|nonzero|argwhere|compress|bincount|sparse|matmul [012]|convert|on_host)"
    r"|^segment_\w+\([^,]*, [^,]*\)$|^jit 1$|^shard 0$"
)
"""Calls that read values: the size of their result depends on them, as for sparse matrices and segments without a
number, or it is on the host, the first results of `xo.jit` are compared, or all devices get the array.
"""


class Placing:
    """Puts the arrays of one call on the fourth device, or over a mesh that divides the first axis of one of them."""

    def __init__(self) -> None:
        self.extents: list[int] = []

    def plain(self, a: Any) -> jax.Array:
        self.extents += np.shape(a)[:1]
        return jax.numpy.asarray(a)

    @property
    def devices(self) -> set[Any]:
        return {DEVICE} if PLACE == "device" else {*MESHES[self.size].devices.flat}

    @property
    def size(self) -> int:
        return next((n for n in MESHES if any(extent and extent % n == 0 for extent in self.extents)), 2)

    def placed(self, a: Any) -> jax.Array:
        if PLACE == "device":
            return jax.device_put(a, DEVICE)
        is_split = np.ndim(a) and len(a) and len(a) % self.size == 0
        return jax.device_put(a, NamedSharding(MESHES[self.size], PartitionSpec(*["x"] * bool(is_split))))


def arrays(result: Any) -> list[jax.Array]:
    """All arrays of a result, sparse ones as dense: programs and host kernels may store other zeros."""
    leaves = jax.tree.leaves(result, is_leaf=lambda x: isinstance(x, JAXSparse))
    return [x.todense() if isinstance(x, JAXSparse) else x for x in leaves if isinstance(x, (jax.Array, JAXSparse))]


def is_equal(got: Any, want: Any) -> bool:
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype.kind not in "biufc":  # bfloat16
        got, want = got.astype("float32"), want.astype("float32")
    return (
        got.shape == want.shape
        and got.dtype == want.dtype
        and np.allclose(got, want, rtol=1e-4, atol=1e-5, equal_nan=True)
    )


def are_equal(got: list[Any], want: list[Any]) -> bool:
    return len(got) == len(want) and all(map(is_equal, got, want))


def is_without_layout(name: str, error: Exception) -> bool:
    """A layout is that of one memory."""
    return PLACE != "device" and name.startswith("layout_of") and isinstance(error, xo.Unsupported)


def main() -> None:
    count, faults = 0, []
    for name, call in calls(Variant("jax"), part=PART):
        if not re.search(WANTED, name):
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            placing = Placing()
            try:
                want = call(placing.plain)
            except xo.Unsupported:
                continue
            count += 1
            READS.clear()
            try:
                got = call(placing.placed)
                reads = len(READS)
            except Exception as error:
                if not is_without_layout(name, error):
                    faults.append(("raises", name, f"{type(error).__name__}: {error}"[:300]))
                continue
        # over a mesh JAX's own x[mask] without elements is on one device
        if reads and not MAY_READ.search(name):
            faults.append(("reads", name, str(reads)))
        if not all(x.devices() == placing.devices for x in arrays(got) if x.size or PLACE == "device"):
            faults.append(("moved", name, str([x.sharding for x in arrays(got)])[:200]))
        elif "empty" not in name and not are_equal(arrays(got), arrays(want)):
            faults.append(("wrong", name, ""))
    print(json.dumps({"count": count, "faults": faults}))


main()
