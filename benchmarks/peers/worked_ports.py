"""The worked ports in examples/porting: verified, then timed next to their originals on NumPy.

    python benchmarks/peers/worked_ports.py [--rounds 5] [--libraries numpy,torch,jax] [--only images] [--toy]
                                            [--out FILE]

`xarrayops.testing.verify` compares each port with its original first, on these libraries. Then the original on NumPy,
what ``port rewrite`` wrote, and the port as it was finished by hand run on the same input, interleaved. The results are
compared before. A ratio is the time of the original divided by that of the contestant, the median over the rounds:
above 1 the contestant is quicker. Inputs are converted before, and results stay in their library.

Ends with 3 if a port differs from its original.
"""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from measuring import MISSED, Calls, common_options, interleaved, machine, over

import xarrayops as xo
from xarrayops.bench.measure.timing import finished
from xarrayops.testing import verify

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "porting"
TOLERANCE = 1e-6
"""The largest difference of timed results from those of the original, relative to the largest element."""


class Case(NamedTuple):
    """A worked port: its function, the function that makes its inputs, and the arguments of the latter by size."""

    name: str
    function: str
    inputs: str
    small: tuple[int, ...]
    timed: dict[str, tuple[int, ...]]


CASES = (
    Case(
        *("images", "features", "make_images", (3, 40)),
        {"8 images of 64 x 64": (8, 64), "32 images of 256 x 256": (32, 256)},
    ),
    Case(
        *("signals", "analyse", "make_recording", (1, 1)),
        {"1 channel of 2 s": (1, 2), "4 channels of 20 s": (4, 20)},
    ),
    Case(*("solver", "run", "make_plate", (12,)), {"64 x 64 cells": (64,), "128 x 128 cells": (128,)}),
)


def module(name: str, file: str) -> ModuleType:
    """A file of a worked port as a module."""
    spec = importlib.util.spec_from_file_location(f"{name}_{file}", FOLDER / name / f"{file}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    sys.path.insert(0, str(FOLDER / name))  # the program imports its neighbour
    try:
        spec.loader.exec_module(found)
    finally:
        sys.path.pop(0)
    return found


def outcomes(case: Case, libraries: list[str]) -> dict[str, str]:
    """What verify finds about the port on each library."""
    original, port = module(case.name, "original"), module(case.name, "port")
    given = arrays(getattr(original, case.inputs)(*case.small))
    ways = [f"{library}:eager" for library in libraries]
    report = verify(getattr(port, case.function), *given, expected=getattr(original, case.function), libraries=ways)
    print(f"{case.name}: {report}\n", file=sys.stderr)
    return {outcome.run: outcome.status for outcome in report.outcomes}


def arrays(made: Any) -> tuple[Any, ...]:
    """The arguments of the function, from what makes them."""
    return made if isinstance(made, tuple) else (made,)


def contestants(case: Case, given: tuple[Any, ...], libraries: list[str]) -> Calls:
    """The calls to be timed, by name; those that raise, as what the tool wrote may on JAX, are left out."""
    original = getattr(module(case.name, "original"), case.function)
    found: Calls = {"original": partial(original, *given)}
    for library in libraries:
        placed = tuple(xo.convert(each, library, copy=True) for each in given)
        for file in ("rewritten", "port"):
            call = in_library(getattr(module(case.name, file), case.function), placed)
            if file == "port" or runs(call):
                found[f"{file}, {library}"] = call
    return found


def in_library(function: Callable[..., Any], placed: tuple[Any, ...]) -> Callable[[], Any]:
    """A call whose results are finished: new arrays are of the library of the arguments."""

    def call() -> Any:
        with xo.use(placed[0]):
            return finished(function(*placed))

    return call


def runs(call: Callable[[], Any]) -> bool:
    """Whether a call raises nothing."""
    try:
        call()
    except Exception as error:  # a library raises what it likes where the tool left a decision
        print(f"left out: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
        return False
    return True


def check(calls: Calls) -> None:
    """Raise an AssertionError unless all results are those of the original."""
    wanted = [np.asarray(each) for each in finished(calls["original"]())]
    for name, call in calls.items():
        got = [np.asarray(xo.convert(each, "numpy")) for each in finished(call())]
        for want, found in zip(wanted, got, strict=True):
            assert want.shape == found.shape, f"{name}: {found.shape} instead of {want.shape}"
            largest = np.abs(want).max(initial=0)
            assert np.abs(found - want).max(initial=0) <= TOLERANCE * largest, f"{name}: the result differs"


def by_hand(name: str) -> int:
    """The number of lines that were changed or added by hand, without comments."""
    texts = [(FOLDER / name / file).read_text(encoding="utf-8").splitlines() for file in ("rewritten.py", "port.py")]
    changed = [line[2:].strip() for line in difflib.ndiff(*texts) if line.startswith("+ ")]
    return sum(bool(line) and not line.startswith("#") for line in changed)


def torch_threads() -> int | None:
    """The threads that PyTorch uses, if it was measured."""
    torch = sys.modules.get("torch")
    return None if torch is None else torch.get_num_threads()


def main() -> int:
    """Run the command line."""
    parser = common_options(__doc__, rounds=5, pause=0.1, libraries="numpy,torch,jax", only=True)
    parser.add_argument("--toy", action="store_true", help="time the small inputs of verify only")
    options = parser.parse_args()
    libraries = options.libraries.split(",")
    if "torch" in libraries:
        import torch

        torch.set_default_dtype(torch.float64)
    if "jax" in libraries:
        import jax

        jax.config.update("jax_enable_x64", True)
    rows: list[dict[str, Any]] = []
    ports: dict[str, Any] = {}
    for case in CASES:
        if options.only not in case.name:
            continue
        ports[case.name] = {"lines changed by hand": by_hand(case.name), "verify": outcomes(case, libraries)}
        original = module(case.name, "original")
        for size, numbers in {"toy": case.small}.items() if options.toy else case.timed.items():
            calls = contestants(case, arrays(getattr(original, case.inputs)(*numbers)), libraries)
            check(calls)
            times = interleaved(calls, options.rounds, options.pause)
            quicker = {name: 1 / ratio for name, ratio in over(times, "original").items()}
            row = {
                "port": case.name,
                "size": size,
                "original_ms": round(1e3 * median(times["original"]), 3),
                "times as quick": {name: round(ratio, 2) for name, ratio in quicker.items()},
            }
            rows.append(row)
            print(json.dumps(row), flush=True)
    if options.out:
        load = {"load average": round(os.getloadavg()[0], 1), "torch threads": torch_threads()}
        data = {"machine": machine(["numpy", *libraries]) | load, "ports": ports, "rows": rows}
        options.out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    failed = [name for name, port in ports.items() if {"different", "raised"} & set(port["verify"].values())]
    for name in failed:
        print(f"missed: the port {name} differs from its original", file=sys.stderr)
    return MISSED if failed else 0


if __name__ == "__main__":
    sys.exit(main())
