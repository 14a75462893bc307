"""Random numbers where a sharding is the device: on four devices, in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("jax", exc_type=ImportError)

PROGRAM = """
import jax, numpy as np, xarrayops as xo

mesh = jax.make_mesh((4,), ("x",))
split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
assert len(jax.devices()) == 4
DRAWS = {
    "uniform": (lambda g: g.random((8, 3), dtype="float32"), True),
    "normal": (lambda g: g.normal(1.0, 2.0, size=(8,), dtype="float32"), True),
    "integers": (lambda g: g.integers(0, 1000, size=(12,), dtype="int32"), True),
    "permutation": (lambda g: g.permutation(8), True),
    "of a shape that four does not divide": (lambda g: g.random((7,), dtype="float32"), False),
}
for what, (draw, is_split) in DRAWS.items():
    x = draw(xo.random.default_rng(3, backend="jax", device=split))
    assert x.sharding.device_set == {*jax.devices()}, (what, x.sharding)
    rows = {shard.data.shape[0] for shard in x.addressable_shards}
    assert rows == {x.shape[0] // 4 if is_split else x.shape[0]}, (what, rows)
    want = draw(xo.random.default_rng(3, backend="numpy"))
    assert np.asarray(x).tobytes() == want.astype(x.dtype).tobytes(), what

second = jax.sharding.SingleDeviceSharding(jax.devices()[1])
x = xo.random.default_rng(3, backend="jax", device=second).random((8,), dtype="float32")
assert x.devices() == {jax.devices()[1]}
"""


def test_draws_are_split_as_the_sharding():
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
