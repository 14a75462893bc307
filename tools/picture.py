"""The README's picture of a benchmark: the speed of each library relative to NumPy, by workload."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from xarrayops.bench.compare import break_even
from xarrayops.bench.report import tables
from xarrayops.bench.results import Results, Row

WIDTH, ROW, TOP, LEFT, RIGHT = 860, 24, 76, 250, 40
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito, safe for colour blindness
SHAPES = ("circle", "square", "diamond", "triangle")
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f } .faint { fill: #57606a } .grid { stroke: #d0d7de }
.one { stroke: #57606a } @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .faint { fill: #9198a1 }
.grid { stroke: #30363d } .one { stroke: #9198a1 } }
"""


def svg(results: Results) -> str:
    """A line for each workload at its largest size: NumPy's time over each library's. Faster libraries are right."""
    lines = _lines(results)
    places = list(dict.fromkeys(place for _, ratios in lines for place in ratios))
    ratios = [ratio for _, each in lines for ratio in each.values()]
    low, high = (math.floor(math.log2(min(ratios))), math.ceil(math.log2(max(ratios)))) if ratios else (0, 1)
    height = TOP + ROW * len(lines) + 30

    def x(ratio: float) -> float:
        return LEFT + (math.log2(ratio) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>NumPy's time over each library's, per workload</title><style>{STYLE}</style>",
        '<text x="10" y="22" font-weight="600">Times as fast as NumPy</text>',
        f'<text x="10" y="42" class="faint">{escape(_machine(results))}</text>',
    ]
    for i, place in enumerate(places):
        at = LEFT + i * 120
        parts += [_mark(at, 60, i), f'<text x="{at + 12}" y="64.5">{escape(place)}</text>']
    for power in range(low, high + 1):
        at = x(2.0**power)
        kind = "one" if power == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{height - 26}"/>')
        label = f"{2**power}" if power >= 0 else f"1/{2**-power}"
        parts.append(f'<text class="faint" x="{at:.1f}" y="{height - 8}" text-anchor="middle">{label}</text>')
    for line, (name, each) in enumerate(lines):
        y = TOP + ROW * line + ROW / 2
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4.5:.1f}" text-anchor="end">{escape(name)}</text>')
        parts += [_mark(x(ratio), y, places.index(place)) for place, ratio in each.items()]
    return "\n".join([*parts, "</svg>", ""])


def _lines(results: Results) -> list[tuple[str, dict[str, float]]]:
    numpy = break_even.baselines(results.rows)
    largest: dict[tuple[str, str], tuple[Row, Sequence[Row]]] = {}
    for head, rows in tables.groups(results.rows):
        if break_even.baseline_of(head) in numpy:
            largest[head.workload, head.dtype] = head, rows
    lines = []
    for (workload, dtype), (head, rows) in largest.items():
        base = numpy[break_even.baseline_of(head)].median_s or 0.0
        each = {row.place: base / row.median_s for row in rows if row.backend != break_even.BASELINE and row.median_s}
        if each:
            lines.append((f"{workload} {dtype}", each))
    return lines


def _machine(results: Results) -> str:
    known = results.environment
    versions = ", ".join(f"{name} {versions.get(name, '')}".strip() for name, versions in known["versions"].items())
    machine = known["machine"]
    return f"{machine.get('cpu', machine['machine'])}, {machine.get('usable_cpus', '?')} CPUs; {versions}"


def _mark(x: float, y: float, number: int) -> str:
    """A mark with a shape and a colour for each library, so that one of them is enough to distinguish it."""
    colour, shape = COLOURS[number % len(COLOURS)], SHAPES[number % len(SHAPES)]
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
    points = {
        "square": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
        "diamond": ((0, -6), (6, 0), (0, 6), (-6, 0)),
        "triangle": ((0, -5.5), (5.5, 4.5), (-5.5, 4.5)),
    }[shape]
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in points)
    return f'<polygon points="{path}" fill="{colour}"/>'
