"""Shardings of JAX on eight devices, with both types of axes. It prints the names of the checks that passed."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from jax import numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import xarrayops as xo

EXPLICIT = sys.argv[1] == "explicit"
MESH = jax.make_mesh((4, 2), ("rows", "columns"), axis_types=(AxisType.Explicit if EXPLICIT else AxisType.Auto,) * 2)
X = np.arange(64 * 16, dtype="float32").reshape(64, 16)
WANTED = ("jax", {"rows": 4, "columns": 2}, ("rows", None), (64, 16), (16, 16), 1024, 4, False, True, False)


def refused(call, words):
    with pytest.raises((xo.Unsupported, ValueError), match=words):
        call()


def sharding():
    x = xo.shard(jnp.asarray(X), ("rows",), mesh=MESH)
    assert xo.sharding_of(x) == WANTED
    assert x.sharding == NamedSharding(MESH, PartitionSpec("rows", None))
    assert np.array_equal(x, X)
    both = xo.shard(X, (("rows", "columns"), None), like=x)
    assert (xo.sharding_of(both).shard_shape, xo.sharding_of(both).pieces) == ((8, 16), 8)
    assert np.array_equal(both, X)
    whole = xo.shard(both, None)
    assert whole.is_fully_replicated
    assert xo.sharding_of(whole)[2:7] == ((None, None), (64, 16), (64, 16), 4096, 1)
    by_names = xo.shard(X, ("rows",), mesh={"rows": 8}, backend="jax")
    assert xo.sharding_of(by_names).pieces == 8
    for n in (64, 7):  # vectors next to a matrix are whole
        assert xo.zeros(n, like=x).is_fully_replicated
        vector = xo.asarray(X[:n, 0], like=x)
        assert vector.is_fully_replicated
        assert np.array_equal(vector, X[:n, 0])
    one = jnp.asarray(X)
    assert xo.shard(one, None) is one
    assert np.array_equal(jax.jit(lambda x: xo.shard(x, None))(one), one)
    assert xo.sharding_of(one)[:3] == (None, None, None)
    of_axes = jax.device_put(np.ones((4, 2, 2)), NamedSharding(MESH, PartitionSpec("rows", None, None)))
    assert np.array_equal(xo.asarray([1, 2, 3, 4], like=of_axes), [1, 2, 3, 4])


def tracers():
    seen = []

    def traced(x):
        seen.append(xo.sharding_of(x))
        return xo.shard(x, ("columns",), mesh=MESH), xo.shard(x, None)

    split, whole = jax.jit(traced)(xo.shard(X, ("rows",), mesh=MESH, backend="jax"))
    assert seen == [WANTED if EXPLICIT else None]
    assert xo.sharding_of(split).spec == ("columns", None)
    assert np.array_equal(split, X)
    assert np.array_equal(whole, X)


def stores():
    class Store:
        shape, dtype = X.shape, X.dtype

        def __init__(self):
            self.read = []

        def __getitem__(self, index):
            self.read.append(X[index].size)
            return X[index]

    store = Store()
    assert np.array_equal(xo.shard(store, ("rows",), mesh=MESH, backend="jax"), X)
    assert max(store.read) == X.size // 4


def refusals():
    refused(lambda: xo.shard(jnp.ones(7), ("rows",), mesh=MESH), "equal shards.*xo.pad")
    refused(lambda: xo.shard(jnp.ones(64), ("rows",), mesh={"rows": 64}), "needs 64 devices, but JAX has 8")
    refused(lambda: xo.shard(jnp.ones(8), ("rows",), like=jnp.ones(8)), "no axis 'rows'")


def limits():
    x = xo.shard(X, ("rows",), mesh=MESH, backend="jax")
    with xo.limits(moves=3071):
        refused(lambda: xo.sort(x, axis=0), r"would move 3\.1 kB on each device.*mesh={'split': 8}")
        assert np.array_equal(xo.sort(xo.shard(x, (None, "split"), mesh={"split": 8}), axis=0), np.sort(X, axis=0))
        assert np.array_equal(xo.sort(x, axis=1), X)
        assert np.array_equal(xo.sort(jnp.asarray(X), axis=0), X)
        jax.jit(lambda x: xo.exp(x))(x)
    found = xo.explain("linalg.qr", x, mode="complete").candidates[-1]
    assert found.moves == X.nbytes
    assert found.sharding == "replicated"
    found = xo.explain("convert", x, "numpy").candidates[0]
    assert found.moves == X.nbytes
    assert "gathers 4 shards on the host" in found.reason
    added = xo.explain("add", x, x).candidates[0]
    assert (added.moves, added.sharding) == (0, "(rows, None)")


def memory_of_a_device():
    """Half of what a device reports is the default limit; devices that report nothing have none."""
    from xarrayops_backends.jax import _sharding

    x = xo.shard(X, ("rows",), mesh=MESH, backend="jax")
    assert _sharding.task_limit(x) is None

    devices = [SimpleNamespace(memory_stats=lambda most=most: {"bytes_limit": most}) for most in (1000, 800)]
    placed = SimpleNamespace(sharding=SimpleNamespace(addressable_devices=devices))
    assert _sharding.task_limit(placed) == 400


for check in (sharding, tracers, stores, refusals, limits, memory_of_a_device):
    check()
    print(check.__name__)
