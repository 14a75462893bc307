"""The time of `import xarrayops` and of the first call, compared with `import numpy` and a standard library module.

    python benchmarks/peers/imports.py [--rounds 40] [--out FILE]

Each round starts a fresh interpreter for each contestant, interleaved. A first round, which does not count, writes the
bytecode that an installed package has. The time is the CPU time of the statement, and the result is the minimum over
all rounds, because disturbances only make a run longer. The first call is `xo.add(x, x)` with a library that is already
imported, together with its array-api-compat module. It includes the import of the backend.

The first namespace is `array_namespace(x)` of `xarrayops.compat`, for a tensor, compared with array-api-compat's.

The bars: `import xarrayops` takes at most `OF_NUMPY` of `import numpy`, and at most `IMPORT_S`; a first call takes at
most `FIRST_CALL_S`; the first namespace takes at most `OF_COMPAT` times array-api-compat's. If `import
importlib.metadata` takes longer than `YARDSTICK_S`, the absolute bars are scaled by the same factor. Ends with 3 if a
bar is missed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from measuring import MISSED, common_options, machine

OF_NUMPY, OF_COMPAT = 0.35, 6.0
IMPORT_S, FIRST_CALL_S = 0.025, 0.040
YARDSTICK_S = 0.025
OURS, NUMPY, YARDSTICK = "import xarrayops", "import numpy", "import importlib.metadata"
IMPORT = "from time import process_time as now; t = now(); {statement}; print(now() - t)"
FIRST_CALL = """
import gc
from time import thread_time as now  # BLAS threads that spin after their start do not count
import xarrayops as xo
{setup}
gc.collect()  # of the library's objects: it may happen at any time, and takes 0.1 s for those of PyTorch
t = now(); xo.add(x, x); print(now() - t)
"""
FIRST_NAMESPACE = """
import gc
from time import thread_time as now
import torch
from {package} import array_namespace
x = torch.ones((2, 2))
gc.disable()
t = now(); array_namespace(x); print(now() - t)
"""
NAMESPACES = {"namespace": "xarrayops.compat", "namespace of array-api-compat": "array_api_compat"}
"""The packages whose first namespace of a tensor is timed."""
SETUPS = {
    "numpy": "import numpy; x = numpy.ones((2, 2))",
    "torch": "import torch, array_api_compat.torch; x = torch.ones((2, 2))",
    "jax": "import jax; x = jax.numpy.ones((2, 2)); x + x",
    "dask": "import dask.array, array_api_compat.dask.array; x = dask.array.ones((2, 2)); x + x",
}


def fresh(code: str, cache: str) -> float:
    """The number that a fresh interpreter prints, with its bytecode cached in a folder."""
    environment = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPROFILEIMPORTTIME")
    }
    command = [sys.executable, "-X", f"pycache_prefix={cache}", "-c", code]
    return float(subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout)


def measure(programs: dict[str, str], rounds: int) -> dict[str, float]:
    """Seconds of each program: the minimum over all rounds."""
    best = dict.fromkeys(programs, float("inf"))
    with tempfile.TemporaryDirectory() as cache:
        for counted in (False, *[True] * rounds):
            for name, code in programs.items():
                seconds = fresh(code, cache)
                best[name] = min(best[name], seconds) if counted else best[name]
    return best


def rows(seconds: dict[str, float]) -> list[dict[str, Any]]:
    """Each figure with its bar."""
    slower = max(1.0, seconds[YARDSTICK] / YARDSTICK_S)
    bars = {"import xarrayops, of import numpy": (seconds[OURS] / seconds[NUMPY], OF_NUMPY)}
    bars |= {"import xarrayops, seconds": (seconds[OURS], IMPORT_S * slower)}
    firsts = (name for name in SETUPS if name in seconds)
    bars |= {f"first call on {name}, seconds": (seconds[name], FIRST_CALL_S * slower) for name in firsts}
    if NAMESPACES.keys() <= seconds.keys():
        ours, theirs = (seconds[name] for name in NAMESPACES)
        bars["first namespace of a tensor, of array-api-compat's"] = (ours / theirs, OF_COMPAT)
    return [{"figure": name, "found": round(x, 4), "bar": round(bar, 4)} for name, (x, bar) in bars.items()]


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    options = common_options(__doc__, rounds=40, libraries=",".join(SETUPS)).parse_args()
    libraries = [name for name in options.libraries.split(",") if importlib.util.find_spec(name)]
    programs = {statement: IMPORT.format(statement=statement) for statement in (OURS, NUMPY, YARDSTICK)}
    programs |= {name: FIRST_CALL.format(setup=SETUPS[name]) for name in libraries}
    if "torch" in libraries:
        programs |= {name: FIRST_NAMESPACE.format(package=package) for name, package in NAMESPACES.items()}
    seconds = measure(programs, options.rounds)
    table = rows(seconds)
    for row in table:
        missed = "" if row["found"] <= row["bar"] else "  MISSED"
        print(f"{row['figure']:49} {row['found']:8.4f}  (at most {row['bar']:.4f}){missed}")
    if options.out:
        written = {"machine": machine(("numpy", *libraries)), "seconds": seconds, "rows": table}
        options.out.write_text(json.dumps(written, indent=1) + "\n")
    return MISSED if any(row["found"] > row["bar"] for row in table) else 0


if __name__ == "__main__":
    sys.exit(main())
