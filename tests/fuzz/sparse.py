"""A seeded fuzzer of the sparse verbs: ``python -m tests.fuzz.sparse --count 20000 --backend numpy``.

Each seed gives one call with random, often invalid operands. The calls run in worker processes with limited memory. A
call must return the oracle's result or raise a clear error. A call that kills its worker, hangs, returns a wrong result
or raises an unclear error is a finding. A finding names its seed; ``--seed SEED --count 1`` repeats the call.

``--calls heaps`` instead makes valid SciPy containers whose arrays were allocated by several threads, calls every verb
and conversion with each, and compares all results with SciPy's:
``python -m tests.fuzz.sparse --calls heaps --count 10000 --backend numpy torch``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from xarrayops._system.process import Worker

WORKERS = {"hostile": "tests.fuzz.hostile_worker", "heaps": "tests.fuzz.heaps_worker"}
"""The worker module for each kind of calls."""
START_S = 120.0
CALL_S = 120.0


@dataclass
class Summary:
    """The result of the calls on one library: the count of each outcome, and the findings with their seeds."""

    library: str
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.library}: {self.outcomes.total()} calls, {len(self.findings)} findings"]
        lines += [f"  {count:7d} {outcome}" for outcome, count in self.outcomes.most_common()]
        return "\n".join(lines + [f"  {finding}" for finding in self.findings])


def fuzz(library: str, seeds: Iterable[int], *, module: str = WORKERS["hostile"], call_s: float = CALL_S) -> Summary:
    """Make the calls of the seeds on one library. A new worker replaces one that dies or hangs.

    Parameters
    ----------
    library : str
        A backend's name.
    seeds : range
        Consecutive seeds.
    module : str
        The module that the worker runs. It must call ``serve``.
    call_s : float
        The time limit of a call, in seconds.
    """
    summary, todo = Summary(library), list(seeds)
    while todo:
        worker = Worker(module, library)
        first_message = worker.answer(START_S)
        if first_message["status"] != "ready":
            raise RuntimeError(f"the worker for {library} does not start: {first_message}")
        answer = worker.ask({"seeds": [todo[0], todo[-1] + 1]}, call_s)
        while True:
            seed = todo.pop(0)
            summary.outcomes[answer["status"]] += 1
            if answer["reason"]:
                summary.findings.append(f"seed {seed}: {answer['reason']}")
            if not todo or not worker.alive:
                break
            answer = worker.answer(call_s)
        worker.close()
    return summary


def main() -> int:
    """Run the command; return 1 if there is a finding, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.sparse", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="the number of calls for each library")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--calls", choices=WORKERS, default="hostile", help="the kind of calls")
    parser.add_argument("--backend", nargs="+", default=["numpy"], help="the libraries")
    arguments = parser.parse_args()
    found = 0
    for library in arguments.backend:
        summary = fuzz(
            library, range(arguments.seed, arguments.seed + arguments.count), module=WORKERS[arguments.calls]
        )
        found += len(summary.findings)
        print(summary)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
