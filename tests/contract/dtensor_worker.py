"""One of two processes that give every function a DTensor, and print what is neither refused nor right.

The arguments are the number of the process, the file by which the processes find each other, and the part of the cases.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Replicate, Shard, init_device_mesh

import xarrayops as xo
import xarrayops.numpy as xnp
from tests.contract.placed_calls import X, calls
from xarrayops.testing import Variant

RANK, STORE, PART = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
SAME_ANSWER = ("can_cast", "finfo", "iinfo", "isdtype", "result_type", "array_equal")
"""Functions that may read the dtype of an array alone."""
OTHERS: dict[str, Callable[[Any], Any]] = {
    "beside a tensor": lambda x: xo.add(torch.from_numpy(X), x),
    "copy=False": lambda x: xo.at(x)[1:3].set(0.0, copy=False),
    "engines": lambda x: _within(xo.engines("numpy", "jax"), lambda: xo.sum(x)),
    "explain": lambda x: xo.explain("convert", x, "numpy"),
    "export": lambda x: xo.export(xo.sin, x, target="pt2", path="never.pt2"),
    "from_dlpack": lambda x: xo.from_dlpack(x),
    "in a block of modes": lambda x: _within(xo.use("torch", dtype="float64"), lambda: xo.mean(x)),
    "namespace of another": lambda x: xo.convert(torch.from_numpy(X), x),
    "in a list": lambda x: xo.asarray([x, x]),
    "as an index": lambda x: xo.at(torch.from_numpy(X))[x > 0].set(0.0),
    "as a value": lambda x: xo.at(torch.from_numpy(X))[0].set(x[0]),
    "numpy.sum": lambda x: xnp.sum(x),
    "numpy.asarray": lambda x: xnp.asarray(x),
    "numpy.add": lambda x: xnp.add(x, 1),
    "torch.compile": lambda x: torch.compile(lambda y: xo.sum(y), backend="eager")(x),
}


def _within(block: Any, call: Callable[[], Any]) -> Any:
    with block:
        return call()


def main() -> None:
    dist.init_process_group("gloo", store=dist.FileStore(STORE, 2), rank=RANK, world_size=2)
    mesh = init_device_mesh("cpu", (2,))

    def made(a: Any) -> DTensor:
        whole = torch.from_numpy(np.array(a))
        if whole.ndim == 0:
            return DTensor.from_local(whole, mesh, [Replicate()], run_check=False)
        half = -(-len(whole) // 2)
        part, sizes = whole[RANK * half :][:half], {"shape": whole.shape, "stride": whole.stride()}
        return DTensor.from_local(part, mesh, [Shard(0)], run_check=False, **sizes)

    x, count, faults = made(X), 0, []
    found = [*calls(Variant("torch"), part=PART), *((name, lambda m, f=f: f(x)) for name, f in OTHERS.items())]
    for name, call in found:
        count += 1
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                got = call(made)
            except xo.Unsupported as error:
                if ".to_local()" not in str(error) or ".full_tensor()" not in str(error):
                    faults.append((name, f"does not say what to do: {error}"))
            except Exception as error:
                faults.append((name, f"{type(error).__name__}: {error}"[:300]))
            else:
                if not name.startswith(SAME_ANSWER):
                    faults.append((name, f"serves: {type(got).__name__}"))
    print(json.dumps({"count": count, "faults": faults}))
    dist.destroy_process_group()


main()
