"""Run tests of other projects through our functions, and check that every failure has a known reason.

    python benchmarks/suites SUITE --checkout DIR [--libraries numpy,torch] [--out FILE.json]
    python benchmarks/suites torch-attention [--libraries numpy,torch]
    python benchmarks/suites indexing [--count 20000] [--seed 0]

DIR is a checkout of the project that the suite belongs to. Its tests stay there, and thin shims lead their calls to our
functions. The last two need no checkout. Every failing test must match a reason in reasons.py; otherwise the exit
status is 1. The counts replace those of earlier runs of the same suite on the same library.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import indexing
import torch_attention
from pytest_suites import SUITES
from results import Outcome, record, unexplained

RESULTS = Path(__file__).parent.parent / "results" / "suites.json"
LIBRARIES = "numpy,torch,jax,dask"
WITHOUT_CHECKOUT = ("indexing", "torch-attention")


def outcomes(options: argparse.Namespace, library: str) -> Iterator[Outcome]:
    """The outcome of a suite; an early one after each piece of a long suite."""
    if options.suite == "indexing":
        yield from indexing.run(library, options.count, options.seed)
    elif options.suite == "torch-attention":
        yield torch_attention.run(library, options.select)
    else:
        yield SUITES[options.suite].run(options.checkout, library, options.select)


def main() -> int:
    """Run a suite, write the counts, and return 1 if a failure has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=[*SUITES, *WITHOUT_CHECKOUT])
    parser.add_argument("--checkout", type=Path, help="of the project that the suite belongs to")
    parser.add_argument("--libraries", default=LIBRARIES)
    parser.add_argument("--select", default="", help="only the tests that match, as with pytest's -k")
    parser.add_argument("--count", type=int, default=20_000, help="of index expressions")
    parser.add_argument("--seed", type=int, default=0, help="of the first index expressions")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.suite not in WITHOUT_CHECKOUT and options.checkout is None:
        parser.error(f"{options.suite} needs --checkout")
    without_reason = 0
    for library in options.libraries.split(","):
        start = time.monotonic()
        for outcome in outcomes(options, library):
            record(options.out, options.suite, library, outcome, options.checkout, time.monotonic() - start)
        new = unexplained(options.suite, library, outcome)
        without_reason += len(new)
        print(
            f"{options.suite} on {library}: {outcome.passed} passed, {len(outcome.failures)} failed, "
            f"{outcome.skipped} skipped; failures without a reason: {len(new)}",
            *(f"  {test}: {message}" for test, message in new.items()),
            sep="\n",
            flush=True,
        )
    return 1 if without_reason else 0


if __name__ == "__main__":
    sys.exit(main())
