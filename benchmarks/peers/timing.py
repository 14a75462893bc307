"""The benchmark's timer compared with timeit and torch.utils.benchmark, on the same operations.

    python benchmarks/peers/timing.py [--rounds 15] [--out FILE]

Each round times a call with every timer, interleaved. The result is the median ratio of the other timer's value to ours
in the same round. The spread of our timer is the same ratio between two of our values in each round. An empty call
shows the overhead of the timer. The operations are called directly in the libraries, with their default number of
threads, so that only the timers differ.

The bar: an empty call takes less than a hundredth of a reading of ours. Ends with 3 if it is missed.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from measuring import MISSED, common_options, machine
from torch.utils.benchmark import Timer

from xarrayops.bench.measure.timing import READING_S, calls_per_reading, timed_round

BAR = 0.05
EMPTY_BAR_NS = READING_S * 1e9 / 100
SECONDS = 0.1
Call = Callable[..., Any]


def operations() -> dict[str, tuple[Call, tuple[Any, ...]]]:
    """Operations from microseconds to tens of milliseconds, in both libraries."""
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
    """The benchmark's timer."""
    return statistics.median(timed_round(call, arguments, SECONDS).samples)


def by_timeit(call: Call, arguments: tuple[Any, ...]) -> float:
    """timeit: the median of repeats that are as long as a reading of ours."""
    timer = timeit.Timer("call(*arguments)", globals={"call": call, "arguments": arguments})
    number = calls_per_reading(call, arguments)
    repeats = max(1, round(SECONDS / timer.timeit(number)))
    return statistics.median(timer.repeat(repeats, number)) / number


def by_torch(call: Call, arguments: tuple[Any, ...]) -> float:
    """PyTorch's timer, with the number of threads set explicitly because its default is one."""
    names = {"call": call, "arguments": arguments}
    timer = Timer("call(*arguments)", globals=names, num_threads=torch.get_num_threads())
    return float(timer.blocked_autorange(min_run_time=SECONDS).median)


CLOCKS = {"ours": by_ours, "ours again": by_ours, "timeit": by_timeit, "torch.utils.benchmark": by_torch}


def measure(call: Call, arguments: tuple[Any, ...], rounds: int) -> dict[str, Any]:
    """Microseconds by timer, and the ratios of the others' values to ours."""
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
    """Measure, print and write the results. Returns `MISSED` if the bar of an empty call is missed."""
    options = common_options(__doc__, rounds=15).parse_args()
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
    print(f"empty call: {overhead:.0f} ns with ours (at most {EMPTY_BAR_NS:.0f}), {bare:.0f} ns with timeit")
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
