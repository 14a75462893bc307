"""The time of `python -m xarrayops.port rewrite` over that of libcst's parse of the same file with positions.

    python benchmarks/peers/rewrite.py [--rounds 5] [--lines 1000,4000] [--out FILE]

The files are modules of SciPy, and programs of several lengths that repeat one function, copied to a temporary folder.
Both contestants run in one process, interleaved, and the times are CPU times.

The bars: the median over the rounds of each ratio is at most `OF_LIBCST`, and the ratio of the longest program is at
most `GROWTH` times that of the shortest one, so that the time is linear in the length. Ends with 3 if a bar is missed.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider
from measuring import MISSED, common_options, machine

from xarrayops.port import rewrite

OF_LIBCST, GROWTH = 4.0, 1.5
MODULES = ("scipy.linalg._decomp", "scipy.optimize._optimize", "scipy.signal._signaltools", "scipy.stats._stats_py")
FUNCTION = '''
def smoothed_{number}(image, weights, steps=3):
    """Weighted means of neighbours, without the border."""
    result = np.zeros(image.shape)
    for step in range(steps):  # a few rounds
        result[1:-1, 1:-1] = (image[:-2, 1:-1] + image[2:, 1:-1]) * weights[step]
        result[result < 0] = 0.0
        if np.any(np.isnan(result)):
            raise ValueError("not a number")
    total = result.sum(axis=0)
    total += np.linspace(0.0, 1.0, total.size)
    return np.concatenate([total, np.array([1.0, 2.0])]), result.mean()
'''


def programs(folder: Path, lengths: list[int], modules: tuple[str, ...]) -> dict[str, Path]:
    """The files: copies of modules, and programs of about these numbers of lines."""
    texts = {f"{lines} lines": _repeated(lines) for lines in lengths}
    for name in modules:
        found = importlib.util.find_spec(name)
        if found is not None and found.origin is not None:
            texts[name] = Path(found.origin).read_text(encoding="utf-8")
    paths = {name: folder / f"{name.replace(' ', '_')}.py" for name in texts}
    for name, path in paths.items():
        path.write_text(texts[name], encoding="utf-8")
    return paths


def _repeated(lines: int) -> str:
    count = max(lines // FUNCTION.count("\n"), 1)
    return "import numpy as np\n" + "\n".join(FUNCTION.replace("{number}", str(number)) for number in range(count))


def parse(path: Path) -> None:
    """Parse a file with libcst, and find the positions of all nodes."""
    MetadataWrapper(libcst.parse_module(path.read_text(encoding="utf-8"))).resolve(PositionProvider)


def measure(path: Path, rounds: int) -> dict[str, float]:
    """CPU seconds of both contestants, and the median ratio over the rounds."""
    contestants: dict[str, Callable[[Path], Any]] = {"libcst": parse, "rewrite": rewrite}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            start = time.process_time()
            call(path)
            times[name].append(time.process_time() - start)
    ratio = median(ours / theirs for ours, theirs in zip(times["rewrite"], times["libcst"], strict=True))
    return {
        "lines": path.read_text(encoding="utf-8").count("\n"),
        **{k: round(min(v), 4) for k, v in times.items()},
    } | {"rewrite / libcst": round(ratio, 3)}


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if a bar is missed."""
    parser = common_options(__doc__, rounds=5)
    parser.add_argument("--lines", default="1000,4000", help="the lengths of the programs, separated by commas")
    parser.add_argument("--modules", default=",".join(MODULES), help="separated by commas")
    options = parser.parse_args()
    lengths = [int(each) for each in options.lines.split(",")]
    modules = tuple(filter(None, options.modules.split(",")))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, path in programs(Path(folder), lengths, modules).items():
            rows.append({"program": name, **measure(path, options.rounds)})
            print(", ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    growth = rows[len(lengths) - 1]["rewrite / libcst"] / rows[0]["rewrite / libcst"]
    worst = max(row["rewrite / libcst"] for row in rows)
    is_missed = worst > OF_LIBCST or growth > GROWTH
    text = f"at most {worst} times libcst (bar {OF_LIBCST}), growth {growth:.2f} (bar {GROWTH})"
    print(f"{text}{': MISSED' if is_missed else ''}")
    if options.out:
        facts = {"machine": machine(("libcst", "scipy")), "bars": [OF_LIBCST, GROWTH], "rows": rows, "growth": growth}
        options.out.write_text(json.dumps(facts, indent=1) + "\n")
    return MISSED if is_missed else 0


if __name__ == "__main__":
    sys.exit(main())
