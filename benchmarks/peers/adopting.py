"""The time in which a NumPy array becomes a JAX array on the CPU, by the ways that JAX and xarrayops have.

    python benchmarks/peers/adopting.py [--sizes 4,1000000] [--rounds 15] [--out FILE]

The result of an engine becomes a JAX array in this way. A size is a number of float32. The ways are interleaved, and
the values are waited for and compared first. ``us`` is the least time; ``over ours`` is the median of the ratios to
"ours", the way that xarrayops uses for new memory (`jax.make_array_from_callback`). ``shares`` tells whether the result
has the memory of the array, which begins at a cache line; "unaligned" ways get another array, and copy it.

A compiled identity is the quickest for few elements, but it compiles each shape and dtype, which takes 30 to 130 ms.
"compiled: first call" is that time, from one call. engines.py measures whole calls.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from measuring import common_options, interleaved, machine, over
from xarrayops_backends import jax as ours

from xarrayops.plugin.host import views

Way = Callable[[Any], Any]


def ways(shape: tuple[int, ...]) -> dict[str, Way]:
    """The functions of a NumPy array."""
    device = jax.devices("cpu")[0]
    place = jax.sharding.SingleDeviceSharding(device)
    announced = jax.ShapeDtypeStruct(shape, "float32")

    held: list[Any] = []
    fill = jax.jit(lambda: jax.pure_callback(lambda: held[-1], announced))

    def filled(a: Any) -> Any:
        held[:] = [a]
        return fill()

    def from_one_array(a: Any) -> Any:
        return jax.make_array_from_single_device_arrays(shape, place, [jax.device_put(a, device)])

    return {
        "ours": lambda a: jax.make_array_from_callback(shape, place, lambda _: a),
        "device_put, may_alias": lambda a: jax.device_put(a, device, may_alias=True),
        "asarray": lambda a: jnp.asarray(a, copy=False),
        "array": jnp.array,
        "from_dlpack, copy=False": lambda a: jax.dlpack.from_dlpack(a, copy=False),
        "make_array_from_single_device_arrays": from_one_array,
        "compiled identity": jax.jit(lambda a: a, out_shardings=place),
        "compiled identity, donated": jax.jit(lambda a: a, out_shardings=place, donate_argnums=0),
        "callback that fills XLA's buffer": filled,
    }


def copying(shape: tuple[int, ...]) -> dict[str, Way]:
    """The functions of an array that begins elsewhere."""
    device = jax.devices("cpu")[0]
    place = jax.sharding.SingleDeviceSharding(device)
    return {
        "unaligned, copied by xarrayops": lambda a: ours.from_numpy(a, None),
        "unaligned, make_array_from_callback": lambda a: jax.make_array_from_callback(shape, place, lambda _: a),
        "unaligned, device_put": lambda a: jax.device_put(a, device, may_alias=False),
    }


def unaligned(size: int) -> Any:
    """Ones that begin 16 bytes after a cache line, like most of NumPy's memory."""
    whole = views.aligned((size + 4,), np.dtype("float32"))
    whole[...] = 1
    return whole[4:]


def measure(size: int, rounds: int) -> dict[str, Any]:
    """The row of a size."""
    a, b = views.aligned((size,), np.dtype("float32")), unaligned(size)
    a[...] = 1
    given = {name: (way, a) for name, way in ways(a.shape).items()}
    given |= {name: (way, b) for name, way in copying(a.shape).items()}
    start = time.perf_counter()
    jax.block_until_ready(given["compiled identity"][0](a))
    first = time.perf_counter() - start
    shares = {}
    for name, (way, x) in given.items():
        found = way(x)
        if not np.array_equal(np.asarray(found), x):
            raise SystemExit(f"{name}: the values are wrong")
        shares[name] = found.unsafe_buffer_pointer() == x.ctypes.data
    calls = {name: partial(lambda way, x: jax.block_until_ready(way(x)), *each) for name, each in given.items()}
    times = interleaved(calls, rounds, 0.0, number=200 if size < 10_000 else 10)
    return {
        "size": size,
        "us": {name: round(min(each) * 1e6, 2) for name, each in times.items()},
        "over ours": {name: round(ratio, 2) for name, ratio in over(times).items()},
        "shares": shares,
        "compiled: first call, ms": round(first * 1e3, 1),
    }


def main() -> int:
    """Measure, print and write the results."""
    parser = common_options(__doc__, rounds=15)
    parser.add_argument("--sizes", default="4,4096,1000000")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [measure(int(size), options.rounds) for size in options.sizes.split(",")]
    for row in rows:
        print(f"{row['size']} elements; compiled: first call {row['compiled: first call, ms']} ms")
        for name, us in row["us"].items():
            print(f"  {us:9.2f} us  {row['over ours'].get(name, 1.0):6.2f}  {row['shares'].get(name, '')}  {name}")
    if options.out:
        about = machine(["jax", "jaxlib", "numpy"])
        options.out.write_text(json.dumps({"machine": about, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    sys.exit(main())
