"""The right ports: what the rewriter makes of the programs, with the edits that remain by hand, and faults by hand."""

from __future__ import annotations

from pathlib import Path

from xarrayops.port import rewrite

PROGRAMS = Path(__file__).parent / "programs"
WRITES = "numpy,torch:eager,torch:meta"
"""The libraries whose arrays can be written."""
ONLY = {"normalise_in_place": WRITES, "heat_in_place": WRITES, "zeroed_border": WRITES}
"""Programs that write into arrays run on these libraries."""
EDITS = {
    "signals": (
        ("np.zeros((count, size))", "np.zeros((count, size), like=x)"),
        ("frames * hann(size)", "frames * np.asarray(hann(size), like=x)"),
        ("np.zeros(1)", "np.zeros(1, like=x)"),
    ),
    "moments": (
        (
            "np.array([np.mean(x[rng.integers(0, len(x), size=len(x))])",
            "np.stack([np.mean(x[np.asarray(rng.integers(0, len(x), size=len(x)), like=x)])",
        ),
    ),
    "images": (
        ("np.arange(256, like=g)", "np.arange(256, like=image)"),
        ("image.copy()", "np.copy(image)"),
        ("return table[image]", "return np.take(table, image)"),
        ("return cdf[image]", "return np.take(cdf, image)"),
        ("numpy.packbits(image > 0.2, axis=1)", "xo.on_host(numpy.packbits)(image > 0.2, axis=1)"),
    ),
    "models": (
        ("self.total = self.total + x", "self.total = np.asarray(self.total, like=x) + x"),
        ("np.eye(k)[labels]", "np.eye(k, like=labels)[labels]"),
    ),
    "solvers": (
        ("c, s = np.cos(angle), np.sin(angle)", "c, s = float(np.cos(angle)), float(np.sin(angle))"),
        ("np.cumsum(rng.normal(size=n))", "np.cumsum(np.asarray(rng.normal(size=n), like=np.empty(0)))"),
    ),
}
"""The edits of each file by hand."""
FAULTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "random_walk": (("random", "default_rng(seed)", "default_rng(seed + 1)"),),
    "bootstrap": (("random", "default_rng(seed)", "default_rng(seed + 1)"),),
    "recorded": (("state", "HISTORY.append(float(np.sum(y)))", "HISTORY.append(float(np.max(y)))"),),
    "described": (("text", 'values"', 'elements"'),),
    "chunks": (("value", "np.sum(x[i : i + n])", "np.sum(x[i : i + n - 1])"),),
    "summary": (
        ("text", "np.std(x, axis=1), len(x))", 'np.std(x, axis=1), len(x), "other")'),
        ("class", "Summary(", "dict(mean=0, deviation=0) or Summary("),
    ),
}
"""Faults by hand: the kind, the text and what replaces it."""


def port(file: Path) -> str:
    """The right port of a file of programs."""
    text = rewrite(file).text
    for old, new in EDITS[file.stem]:
        if text.count(old) != 1:
            raise ValueError(f"{file.name}: {old!r} occurs {text.count(old)} times in the port")
        text = text.replace(old, new)
    return text
