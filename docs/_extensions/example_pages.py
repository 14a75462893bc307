"""A page for each example: what it is for, its code, and what it prints when the site is built.

The output is kept below ``docs/_build`` for as long as neither the example nor the package has changed.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import xarrayops as xo

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "examples" / "generated"
KEPT = ROOT / "docs" / "_build" / "examples"
LIBRARIES = ("numpy", "torch", "jax", "dask")
"""The libraries that an example is shown on, as far as they are installed."""
TAKES_BACKENDS = ("preprocess_digits", "digits_graph", "quantized_digits")
"""The examples whose arguments are names of backends."""
ARGUMENTS = {"larger_than_memory": ["--gigabytes", "0.1"]}
"""The arguments of other examples."""


def arguments(name: str) -> list[str]:
    """The arguments with which an example is run."""
    if name not in TAKES_BACKENDS:
        return ARGUMENTS.get(name, [])
    return [status.name for status in xo.backends() if status.available and status.name in LIBRARIES]


def output(path: Path) -> str:
    """What an example prints; a failure of the example fails the build."""
    sources = [path, *sorted((ROOT / "xarrayops").rglob("*.py")), *sorted((ROOT / "backends").rglob("*.py"))]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    kept = KEPT / f"{path.stem}-{digest}.txt"
    if not kept.exists():
        command = [sys.executable, str(path), *arguments(path.stem)]
        printed = subprocess.run(command, capture_output=True, text=True, check=False)
        if printed.returncode:
            raise RuntimeError(f"{path.name} failed:\n{printed.stdout}{printed.stderr}")
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_text(printed.stdout, encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def page(path: Path, printed: str) -> str:
    """The text of a page."""
    title = path.stem.replace("_", " ").capitalize()
    described = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraphs = "\n\n".join(text for text in described.split("\n\n") if not text.startswith(" "))
    command = " ".join(["python", f"examples/{path.name}", *arguments(path.stem)])
    shown = "".join(f"   {line}\n" if line else "\n" for line in printed.splitlines())
    return (
        f"{title}\n{'=' * len(title)}\n\n{paragraphs}\n\n"
        f"``{command}`` prints:\n\n.. code-block:: text\n\n{shown}\n"
        f".. literalinclude:: /../examples/{path.name}\n   :language: python\n"
    )


def write(app: Any) -> None:
    """Run the examples side by side, and write their pages."""
    FOLDER.mkdir(exist_ok=True)
    paths = sorted((ROOT / "examples").glob("*.py"))
    with ThreadPoolExecutor(2) as pool:
        printed = list(pool.map(output, paths))
    for path, text in zip(paths, printed, strict=True):
        (FOLDER / f"{path.stem}.rst").write_text(page(path, text), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
