"""The report as one self-contained HTML file: the matrix, plots, and the details of each cell."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Any

from xarrayops.bench.report.page.content import content
from xarrayops.bench.results import Results

_SCRIPTS = ("dom", "numbers", "model", "matrix", "detail", "chart", "sizes", "roofline", "facts", "start")
"""In the order of their dependencies."""


def html(results: Results, baseline: Results | None = None) -> str:
    """The report as one HTML file that opens from disk.

    Parameters
    ----------
    results : Results
        The results to show.
    baseline : Results, optional
        An earlier run. Each cell then also shows its change, as `xarrayops.bench.compare.compare` judges it, and a
        table shows the differences between the two environments.
    """
    script = "\n".join(_text(f"{name}.js") for name in _SCRIPTS)
    script, style = f"(() => {{\n{script}\n}})();", _text("page.css")
    page = _text("page.html")
    for mark, text in (
        ("@STYLE_HASH@", csp_hash(style)),
        ("@SCRIPT_HASH@", csp_hash(script)),
        ("@STYLE@", style),
        ("@SCRIPT@", script),
        ("@DATA@", _embedded(content(results, baseline))),  # last, so that nothing in the data is replaced
    ):
        page = page.replace(mark, text)
    return page


def _embedded(data: Any) -> str:
    """JSON for a script element: without "<", which could end the element, and with null for NaN and infinity."""
    text = json.dumps(_finite(data), allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def csp_hash(text: str) -> str:
    """The hash of a style or script for the content security policy of the page."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
