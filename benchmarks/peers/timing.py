"""Whether the benchmark's clock agrees with others': timeit and torch.utils.benchmark, on the same operations.

    python benchmarks/peers/timing.py [--rounds 15] [--out FILE]

Each round asks every clock for the time of a call, in turns; the figure is the median over the rounds of the other's
time over ours in the same round. Beside it stands how far our own clock is from itself: the same ratio between two
readings of ours in each round. A call that does nothing tells what the clock itself costs. Operations are those of the
libraries themselves, so that nothing but the clocks is compared, on as many threads as a library takes by itself.

The bar: a call that does nothing takes less than a hundredth of a reading of ours. Ends with 3 if it is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import MISSED, machine
from torch.utils.benchmark import Timer

from xarrayops.bench.measure.timing import READING_S, calls_per_reading, timed_round

BAR = 0.05
EMPTY_BAR_NS = READING_S * 1e9 / 100
SECONDS = 0.1
Call = Callable[..., Any]


def operations() -> dict[str, tuple[Call, tuple[Any, ...]]]:
    """From microseconds to tens of milliseconds, on both libraries."""
    random = np.random.default_rng(0)
    small, large = (random.standard_normal((n, n)).astype("float32") for n in (64, 1000))
    found: dict[str, tuple[Call, tuple[Any, ...]]] = {}
    for library, add, product, summed, host in (
        ("numpy", np.add, np.matmul, np.sum, lambda x: x),
        ("torch", torch.add, torch.matmul, torch.sum, torch.from_numpy),
    ):
        a, b = host(small), host(large)
        found |= {
            f"{library} add 64x64": (add, (a, a)),
            f"{library} matmul 64x64": (product, (a, a)),
            f"{library} add 1000x1000": (add, (b, b)),
            f"{library} sum 1000x1000": (summed, (b,)),
            f"{library} matmul 1000x1000": (product, (b, b)),
        }
    return found


def by_ours(call: Call, arguments: tuple[Any, ...]) -> float:
    """As a cell of the benchmark is timed."""
    return statistics.median(timed_round(call, arguments, SECONDS).samples)


def by_timeit(call: Call, arguments: tuple[Any, ...]) -> float:
    """The median of repeats that are as long as a reading of ours."""
    timer = timeit.Timer("call(*arguments)", globals={"call": call, "arguments": arguments})
    number = calls_per_reading(call, arguments)
    repeats = max(1, round(SECONDS / timer.timeit(number)))
    return statistics.median(timer.repeat(repeats, number)) / number


def by_torch(call: Call, arguments: tuple[Any, ...]) -> float:
    """PyTorch's own timer, which takes one thread unless told otherwise."""
    names = {"call": call, "arguments": arguments}
    timer = Timer("call(*arguments)", globals=names, num_threads=torch.get_num_threads())
    return float(timer.blocked_autorange(min_run_time=SECONDS).median)


CLOCKS = {"ours": by_ours, "ours again": by_ours, "timeit": by_timeit, "torch.utils.benchmark": by_torch}


def measure(call: Call, arguments: tuple[Any, ...], rounds: int) -> dict[str, Any]:
    """Microseconds by clock, and the others' times over ours."""
    times: dict[str, list[float]] = {name: [] for name in CLOCKS}
    for number in range(rounds):
        names = list(CLOCKS)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            times[name].append(CLOCKS[name](call, arguments))
    over = {
        name: statistics.median(a / b for a, b in zip(times[name], times["ours"], strict=True))
        for name in CLOCKS
        if name != "ours"
    }
    own = [abs(math.log(a / b)) for a, b in zip(times["ours again"], times["ours"], strict=True)]
    return {
        "us": {name: round(statistics.median(each) * 1e6, 3) for name, each in times.items()},
        "over ours": {name: round(ratio, 4) for name, ratio in over.items()},
        "own spread": round(math.expm1(statistics.median(own)), 4),
    }


def main() -> int:
    """Measure, print, and write if asked; `MISSED` if the bar of an empty call is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for name, (call, arguments) in operations().items():
        found = measure(call, arguments, options.rounds)
        allowed = max(BAR, found["own spread"])
        off = max(abs(ratio - 1) for clock, ratio in found["over ours"].items() if clock != "ours again")
        rows.append({"operation": name, **found, "allowed": allowed, "off": round(off, 4)})
        ratios = ", ".join(f"{clock} {ratio:.3f}" for clock, ratio in found["over ours"].items())
        print(f"{name:26} {found['us']['ours']:10.2f} us: {ratios}; allowed {allowed:.1%}", flush=True)
    empty = timed_round(lambda: (), (), SECONDS)
    overhead = statistics.median(empty.samples) * 1e9
    bare = min(timeit.repeat("call()", globals={"call": lambda: ()}, number=100_000)) / 100_000 * 1e9
    print(f"a call that does nothing: {overhead:.0f} ns by ours (at most {EMPTY_BAR_NS:.0f}), {bare:.0f} by timeit")
    if options.out:
        text = {
            "machine": machine(("numpy", "torch")),
            "bar": BAR,
            "rows": rows,
            "empty_ns": overhead,
            "empty_timeit_ns": bare,
        }
        options.out.write_text(json.dumps(text, indent=1) + "\n")
    return MISSED if overhead > EMPTY_BAR_NS else 0


if __name__ == "__main__":
    sys.exit(main())
