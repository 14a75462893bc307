"""The files that the docs name exist, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xarrayops._ops.export.exporting import ADVICE

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
FOLDERS = ("xarrayops", "backends", "tests", "benchmarks", "tools", "examples", "docs")
_PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)`")
_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(?:#[^)]*)?\)")


def name(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_named_files_exist(page):
    found = _PATH.findall(page.read_text(encoding="utf-8"))
    assert not [path for path in found if not (ROOT / path).exists()]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    """Sphinx checks the links of its own pages too, but README and CONTRIBUTING are not among them."""
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    generated = [link for link in links if "generated/" in link]  # pages of the API, which the build writes
    assert not [link for link in set(links) - set(generated) if not (page.parent / link).exists()]


def test_a_missing_file_is_noticed():
    assert _PATH.findall("see `xarrayops/no_such_file.py`, or `tests/<name>.py`") == ["xarrayops/no_such_file.py"]


def test_the_advice_of_exporters_is_shown_once():
    text = " ".join((ROOT / "docs" / "guides" / "export.md").read_text(encoding="utf-8").split())
    assert text.count(ADVICE) == text.count("Instead: functions of xarrayops") == 1


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_contributing_is_short():
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) <= 80
