"""Compare `xarrayops.numpy` with NumPy: ``python -m tests.fuzz.differential --count 5 --names roll --library torch``.

Each seed gives one call of each name, on every library. A call must give NumPy's values, dtypes and shapes, must raise
where NumPy raises, and may be refused by a clear error of ours. Two libraries that answer differently are found too:
the answer of one of them is not NumPy's. What the table in `known` lists is counted. Each other difference is printed
once, with the shortest call that shows it; ``--seed SEED --count 1`` repeats a call.
"""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.differential.calls import names
from tests.fuzz.differential.outcomes import LIBRARIES
from tests.fuzz.differential.search import search


def main() -> int:
    """Run the command; return 1 if there is a difference that the table does not list, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=10, help="the number of calls of each name")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--names", nargs="+", default=names(), help="the names, such as roll fft.fft add.reduce")
    parser.add_argument("--library", nargs="+", choices=LIBRARIES, default=LIBRARIES, help="the libraries")
    parser.add_argument("--refused", action="store_true", help="print the refused calls too")
    arguments = parser.parse_args()
    found = search(arguments.names, range(arguments.seed, arguments.seed + arguments.count), arguments.library)
    print(found.report(refused=arguments.refused))
    return 1 if found.unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
