"""Attention of split keys on eight devices: values and gradients in each case. It prints what differs.

The oracle is NumPy in double precision; its central differences along random directions give the derivatives.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import xarrayops as xo
from xarrayops.testing._suite.operations.attention_cases import qkv, random_bias, random_mask, with_values
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

Host = np.ndarray[Any, Any]
B, H, SHARED, LQ, LK = 2, 4, 2, 16, 32
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": "top_left"},
    "bottom right": {"causal": "bottom_right"},
    "offset": {"causal": 5},
    "rows without keys": {"causal": -9},
    "window": {"window": (7, 4, "bottom_right")},
    "softcap": {"softcap": 1.5, "causal": "bottom_right"},
    "scale": {"scale": -0.4},
    "mask": {"mask": random_mask(B, H, LQ, LK)},
    "mask of keys": {"mask": with_values(random_mask(B, 1, 1, LK), np.s_[1], False)},
    "bias": {"bias": random_bias(B, H, LQ, LK)},
    "bias of keys": {"bias": random_bias(1, H, 1, LK)},
    "bias of queries": {"bias": random_bias(H, LQ, 1), "causal": "bottom_right"},
    "lengths": {"q_lengths": [16, 7], "kv_lengths": [0, 19], "causal": "bottom_right"},
    "together": {
        "mask": random_mask(LQ, LK),
        "bias": random_bias(1, 1, LQ, LK),
        "softcap": 0.9,
        "window": (20, 0),
        "causal": "bottom_right",
        "kv_lengths": [32, 27],
        "layout": "BSHD",
    },
}
MESHES = {"keys": ((8,), ("keys",)), "rows and keys": ((2, 4), ("rows", "keys"))}
TOLERANCE = {"float32": 1e-5, "bfloat16": 2.0**-7}


def loss(out: Any, lse: Any, weights: Host, xp: Any) -> Any:
    """A number that depends on each element."""
    real = xp.where(xp.isfinite(lse), lse, 0.0)
    return (out.astype(real.dtype) * weights).sum() + (real * weights.mean()).sum()


def derivative(of: Callable[..., float], arrays: list[Host], n: int, direction: Host) -> float:
    """The derivative of a function along a direction of one argument."""
    up, down = ([*arrays[:n], arrays[n] + step * direction, *arrays[n + 1 :]] for step in (1e-5, -1e-5))
    return (of(*up) - of(*down)) / 2e-5


def check(name: str, options: dict[str, Any], dtype: str, mesh: Any, is_compiled: bool) -> str | None:
    """What is wrong in a case."""
    rng, options = np.random.default_rng(0), dict(options)
    layout, bias = options.get("layout", "BHSD"), options.pop("bias", None)
    hosts = [*qkv(LQ, LK, batch=B, heads=(H, SHARED), sizes=(8, 4), layout=layout), *([] if bias is None else [bias])]
    native = [jnp.asarray(x, dtype) for x in hosts]
    hosts = [np.asarray(x.astype("float32")).astype("float64") for x in native]  # as rounded
    rows = "rows" if "rows" in mesh.shape else None
    spec = (rows, None, "keys") if layout == "BHSD" else (rows, "keys")

    def placed(x: Any, *spec: Any) -> Any:
        return jax.device_put(x, NamedSharding(mesh, PartitionSpec(*spec)))

    split = [*(placed(x, *spec) for x in native[:3]), *(placed(x) for x in native[3:])]
    arrays = {k: placed(jnp.asarray(x)) if k == "mask" else x for k, x in options.items()}

    def attend(*given: Any) -> Any:
        return xo.attention(*given[:3], bias=given[3] if bias is not None else None, **arrays, return_lse=True)

    def expected(*given: Any) -> Any:
        return attention_oracle(*given[:3], bias=given[3] if bias is not None else None, **options)

    if xo.explain("attention", *split[:3], layout=layout).chosen != "jax:ring":
        return "not served by the ring"
    run = jax.jit if is_compiled else lambda f: f
    want, want_lse = expected(*hosts)
    out, lse = run(attend)(*split)
    if out.dtype != dtype or out.sharding.is_fully_replicated:
        return f"{out.dtype} on {out.sharding}"
    most = TOLERANCE[dtype]
    if not np.allclose(out.astype("float32"), want, rtol=most, atol=most) or not np.allclose(lse, want_lse, atol=1e-5):
        return f"differs by {np.abs(np.asarray(out, 'float64') - want).max()}"
    weights = rng.normal(size=want.shape).astype("float32")
    gradients = run(jax.grad(lambda *x: loss(*attend(*x), placed(weights), jnp), range(len(split))))(*split)
    for n, gradient in enumerate(gradients):
        direction = rng.normal(size=hosts[n].shape)
        true = derivative(lambda *x: float(loss(*expected(*x), weights, np)), hosts, n, direction)
        got = float((np.asarray(gradient, "float64") * direction).sum())
        scale = np.linalg.norm(np.asarray(gradient, "float64")) * np.linalg.norm(direction)
        if not abs(got - true) <= most * scale + 1e-6:
            return f"the gradient of argument {n} along a direction is {got}, not {true}"
    return None


def refusals(mesh: Any) -> list[str]:
    """Calls that no ring serves, by what their errors do not say."""
    q, k, v = (jnp.asarray(x) for x in qkv(LQ, LK, batch=8, heads=(H, SHARED)))
    mask = jnp.asarray(random_mask(LQ, LK))

    def placed(x: Any, *spec: Any) -> Any:
        return jax.device_put(x, NamedSharding(mesh, PartitionSpec(*spec)))

    of_keys = [placed(x, None, None, "keys") for x in (q, k, v)]
    calls: dict[str, Callable[[], Any]] = {
        r"mask of all keys.*xo\.shard\(mask, None\)": lambda: xo.attention(*of_keys, mask=placed(mask, None, "keys")),
        r"do not divide 3 queries.*xo\.shard\(k, None\)": lambda: xo.attention(placed(q[:, :, :3]), *of_keys[1:]),
        r"different axes.*xo\.shard\(k, xo\.sharding_of\(q\)\.spec, like=q\)": lambda: xo.attention(
            placed(q, "keys"), *of_keys[1:]
        ),
        r"would move [\d.]+ kB on each device \(limit 1\.0 kB\)": lambda: _limited(of_keys),
    }
    missing = []
    for words, call in calls.items():
        try:
            call()
            missing.append(f"{words}: it does not raise")
        except xo.Unsupported as error:
            if not re.search(words, str(error)):
                missing.append(f"{words}: {error}")
    return missing


def _limited(arrays: Any) -> None:
    with xo.limits(moves=1000):
        xo.attention(*arrays)


def main() -> None:
    part, count, faults = int(sys.argv[1]), 0, []
    cases = [(n, d, m, a) for n in OPTIONS for d in TOLERANCE for m in MESHES for a in ("Auto", "Explicit")]
    for number, (name, dtype, axes, kind) in enumerate(cases):
        is_explicit, (sizes, names) = kind == "Explicit", MESHES[axes]
        # eager and compiled in turn; what is compiled on automatic axes has no known shardings
        is_compiled = is_explicit and number % 4 == 1
        if (is_explicit == (axes == "keys") and dtype == "bfloat16") or number % part:
            continue
        mesh = jax.make_mesh(sizes, names, axis_types=(getattr(AxisType, kind),) * len(names))
        count += 1
        with jax.set_mesh(mesh):  # for the gradients of JAX's own sums
            fault = check(name, OPTIONS[name], dtype, mesh, is_compiled)
        if fault:
            faults.append((name, dtype, axes, kind, fault))
    for kind in ("Auto", "Explicit"):
        faults += refusals(jax.make_mesh((8,), ("keys",), axis_types=(getattr(AxisType, kind),)))
    print(json.dumps({"count": count, "faults": faults}))


main()
