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
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import xarrayops as xo
from tests.contract.placed_calls import calls
from xarrayops.testing import Variant

jax.config.update("jax_enable_x64", True)
PLACE, PART = sys.argv[1], int(sys.argv[2])
WANTED = sys.argv[3] if len(sys.argv) > 3 else ""
DEVICE = jax.devices()[3]
MESH = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Explicit if PLACE == "explicit" else AxisType.Auto,))


def placed(a: Any) -> jax.Array:
    """The array on the fourth device, or over a mesh: along its first axis that the mesh divides, else replicated."""
    if PLACE == "device":
        return jax.device_put(a, DEVICE)
    spec = next(([None] * i + ["x"] for i, extent in enumerate(a.shape) if extent and extent % 4 == 0), [])
    return jax.device_put(a, NamedSharding(MESH, PartitionSpec(*spec)))


def arrays(result: Any) -> list[jax.Array]:
    """All arrays of a result, those of sparse containers too."""
    return [x for x in jax.tree.leaves(result) if isinstance(x, jax.Array)]


def is_in_place(x: jax.Array) -> bool:
    return x.devices() == ({DEVICE} if PLACE == "device" else {*MESH.devices.flat})


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


def is_of_explicit_axes(name: str, error: Exception) -> bool:
    """Whether JAX asks for the sharding of a result, which it does with explicit axes only. New arrays have none."""
    asks = any(word in repr(error) for word in ("shard", "Sharding", "mesh", "PartitionSpec"))
    # jnp.reshape itself of an empty array with such axes
    is_reshape_of_nothing = type(error) is IndexError and "[0," in name and "tuple index out of range" in str(error)
    return PLACE == "explicit" and (asks or is_reshape_of_nothing) and "like=" not in name


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
            try:
                want = call(jax.numpy.asarray)
            except xo.Unsupported:
                continue
            count += 1
            try:
                got = call(placed)
            except Exception as error:
                if not is_of_explicit_axes(name, error) and not is_without_layout(name, error):
                    faults.append(("raises", name, f"{type(error).__name__}: {error}"[:300]))
                continue
        # over a mesh JAX's own x[mask] without elements is on one device
        if not all(is_in_place(x) for x in arrays(got) if x.size or PLACE == "device"):
            faults.append(("moved", name, str([x.sharding for x in arrays(got)])[:200]))
        elif "empty" not in name and not are_equal(arrays(got), arrays(want)):
            faults.append(("wrong", name, ""))
    print(json.dumps({"count": count, "faults": faults}))


main()
