"""A seeded fuzzer of the sparse verbs: ``python -m xarrayops.testing._sparse_fuzz --count 20000 --backend numpy``.

Calls drawn from seeds run in worker processes with little memory to spare. Each must end in a clear error or in the
oracle's answer. A call that kills its worker, hangs, answers wrongly or fails obscurely is a finding, which names the
seed; ``--seed SEED --count 1`` does it again.

``--calls heaps`` draws legal containers of SciPy instead, whose arrays were made by several threads, takes each through
every verb and conversion, and compares all answers with SciPy's:
``python -m xarrayops.testing._sparse_fuzz --calls heaps --count 10000 --backend numpy torch``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from xarrayops._system.process import Worker

WORKERS = {"hostile": "xarrayops.testing._sparse_fuzz_worker", "heaps": "xarrayops.testing._sparse_heaps_worker"}
"""What runs the seeds, by the name of the calls that it draws."""
GREETING_S = 120.0
CALL_S = 120.0


@dataclass
class Summary:
    """What came of the calls on one library: how often each outcome, and the findings, each with its seed."""

    library: str
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.library}: {self.outcomes.total()} calls, {len(self.findings)} findings"]
        lines += [f"  {count:7d} {outcome}" for outcome, count in self.outcomes.most_common()]
        return "\n".join(lines + [f"  {finding}" for finding in self.findings])


def fuzz(library: str, seeds: Iterable[int], *, module: str = WORKERS["hostile"], call_s: float = CALL_S) -> Summary:
    """The calls of seeds in a row, on one library; a worker that dies or hangs is replaced by another.

    Parameters
    ----------
    library : str
        A backend's name.
    seeds : range
        One after the other.
    module : str
        What the worker runs, which calls ``serve``.
    call_s : float
        How long a call may take.
    """
    summary, todo = Summary(library), list(seeds)
    while todo:
        worker = Worker(module, library)
        greeting = worker.answer(GREETING_S)
        if greeting["status"] != "ready":
            raise RuntimeError(f"the worker of {library} does not start: {greeting}")
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
    """The command: 1 if there is a finding."""
    parser = argparse.ArgumentParser(prog="python -m xarrayops.testing._sparse_fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many calls on each library")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--calls", choices=WORKERS, default="hostile", help="which calls are drawn")
    parser.add_argument("--backend", nargs="+", default=["numpy"], help="the libraries")
    asked = parser.parse_args()
    found = 0
    for library in asked.backend:
        summary = fuzz(library, range(asked.seed, asked.seed + asked.count), module=WORKERS[asked.calls])
        found += len(summary.findings)
        print(summary)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
