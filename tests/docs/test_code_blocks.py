"""Every Python block of the README and of the docs runs, in the order of its page, and prints what the page shows.

A block begins with ```` ```python ````. Further words of that line say what it needs beyond NumPy: a library
(```` ```python torch jax ````), a device (```` ```python torch cuda ````), or a C++ compiler
(```` ```python tvm_ffi compiler ````). A block that says nothing always runs.
"""

from __future__ import annotations

import doctest
import re
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import xarrayops as xo
from xarrayops._system import compiler

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *(p for p in sorted(DOCS.rglob("*.md")) if "_build" not in p.parts)]
LIBRARIES = frozenset(
    (
        *("torch", "jax", "dask", "distributed", "cubed", "scipy", "sklearn", "cupy", "tvm_ffi", "onnxscript"),
        "pandas",
    )
)
DEVICES = frozenset(("cuda", "rocm", "tpu"))
COMPILER = "compiler"
_BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block: its code, where it begins, and what it needs."""

    page: Path
    line: int
    code: str
    needs: frozenset[str]

    def run(self, namespace: dict[str, Any]) -> None:
        """Run the code in the namespace of its page; compare what is printed where the block shows a session."""
        place = f"{self.page.name}:{self.line}"
        if ">>> " not in self.code:
            lines = "\n" * (self.line - 1)  # so that errors name the line of the page
            exec(compile(lines + self.code, str(self.page), "exec"), namespace)
            return
        test = doctest.DocTestParser().get_doctest(self.code, namespace, place, str(self.page), self.line - 1)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
        said: list[str] = []
        failed = runner.run(test, out=said.append, clear_globs=False).failed
        namespace.update(test.globs)
        assert not failed, f"{place}:\n{''.join(said)}"


def blocks(page: Path) -> list[Block]:
    """The Python blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        needs = frozenset(match[1].split())
        line = text.count("\n", 0, match.start(2)) + 1
        assert needs <= LIBRARIES | DEVICES | {COMPILER}, f"{page.name}:{line - 1}: unknown words {sorted(needs)}"
        found.append(Block(page, line, match[2], needs))
    return found


BY_PAGE = {page: blocks(page) for page in PAGES}
WAYS = [(page, needs) for page, found in BY_PAGE.items() for needs in sorted({b.needs for b in found}, key=sorted)]
"""A page and what some of its blocks need: those blocks, and all that need no more, run in one namespace."""


def label(way: tuple[Path, frozenset[str]]) -> str:
    page, needs = way
    return "-".join((page.relative_to(ROOT).with_suffix("").as_posix(), *sorted(needs)))


def devices() -> set[str]:
    """The kinds of devices that the installed libraries see."""
    return {device.kind for status in xo.backends() if status.backend for device in status.backend.devices()}


@pytest.mark.parametrize("way", WAYS, ids=label)
def test_blocks_run(way, checkout, monkeypatch):
    page, needs = way
    for library in sorted(needs & LIBRARIES):
        pytest.importorskip(library)
    missing = needs & DEVICES - devices() if needs & DEVICES else frozenset()
    if missing:
        pytest.skip(f"needs a device: {', '.join(sorted(missing))}")
    if COMPILER in needs:
        if compiler.find(compiler.CPP) is None:
            pytest.skip("needs a C++ compiler")
        monkeypatch.setenv("XARRAYOPS_CACHE", str(checkout / "cache"))
    monkeypatch.chdir(checkout)
    monkeypatch.setattr("sys.path", [*sys.path])
    namespace = {"__name__": "__main__"}
    with pytest.importorskip("jax").enable_x64(False) if "jax" in needs else nullcontext():  # other tests switch it on
        for block in BY_PAGE[page]:
            if block.needs <= needs:
                block.run(namespace)


def hidden(text: str) -> list[str]:
    """The fences of Python that do not begin with ```` ```python ```` at the left margin, and would not run."""
    fences = re.findall(r"^( *[`:~]{3,} *\S.*)$", text, re.MULTILINE)
    python = [fence for fence in fences if re.search(r"[`:~] *(py|\{(code|ipython|doctest|eval))", fence)]
    return [fence for fence in python if not re.match(r"```python\b", fence)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_python_is_hidden(page):
    assert not hidden(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("fence", ["```py", "  ```python", "~~~python", "```{code-block} python", ":::{eval-rst}"])
def test_hidden_python_is_found(fence):
    assert hidden(f"text\n\n{fence}\n1\n")
    assert not hidden("```python torch\n1\n```\n\n```sh\nls\n```\n")


def test_there_are_blocks_that_need_nothing():
    assert sum(not block.needs for found in BY_PAGE.values() for block in found) >= 20


def block(code: str) -> Block:
    return Block(Path("page.md"), 3, code, frozenset())


def test_a_wrong_output_fails():
    with pytest.raises(AssertionError, match=r"page\.md:3"):
        block(">>> 1 + 1\n3\n").run({})


def test_an_error_fails():
    with pytest.raises(ZeroDivisionError):
        block("1 / 0\n").run({})


def test_blocks_share_the_namespace_of_their_page():
    namespace: dict[str, object] = {}
    for code in ("x = 1\n", ">>> y = x + 1\n", "assert y == 2\n"):
        block(code).run(namespace)


def test_an_unknown_need_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python torhc\n1\n```\n")
    with pytest.raises(AssertionError, match="torhc"):
        blocks(page)
