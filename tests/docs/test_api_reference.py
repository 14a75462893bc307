"""The API reference has an entry for every public name."""

from __future__ import annotations

import importlib
import importlib.util
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import xarrayops as xo

EXTENSIONS = Path(__file__).resolve().parents[2] / "docs" / "_extensions"


def load(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", EXTENSIONS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def entries():
    """The full names of all entries."""
    found = set()
    for page in load("api_reference").pages().values():
        module = re.search(r"^\.\. currentmodule:: (\S+)$", page, re.MULTILINE)[1]
        for name in re.findall(r"^\.\. (?:auto\w+|py:\w+):: (\S+)", page, re.MULTILINE):
            found.add(name if name.startswith("xarrayops") else f"{module}.{name}")
    return found


MODULES = ("linalg", "fft", "random", "sparse", "errors", "bench", "testing")
PLUGIN_FOLDER = EXTENSIONS.parents[1] / "xarrayops" / "plugin"
PLUGIN = ("plugin", *(f"plugin.{path.stem}" for path in sorted(PLUGIN_FOLDER.glob("[a-z]*.py"))))


def names(module):
    """The names of a module that a user sees, found independently of the reference."""
    if module is xo:
        modules = ("fft", "linalg", "random", "sparse")
        return [name for name in dir(xo) if not name.startswith("_") and name not in modules]
    listed = getattr(module, "__all__", None)
    if listed is None:
        source = Path(module.__file__).read_text(encoding="utf-8")
        listed = re.findall(
            r"\b([a-zA-Z]\w*) as \1\b|^(?:def|class) ([a-zA-Z]\w*)|^([A-Z]\w*)(?:: .*)? = ", source, re.M
        )
        assert listed, f"{module.__name__} offers nothing"
        return ["".join(found) for found in listed]
    return listed


@pytest.mark.parametrize("path", ["", *MODULES, *PLUGIN])
def test_every_public_name_has_an_entry(entries, path):
    module = importlib.import_module(f"xarrayops.{path}".rstrip("."))
    prefix = "xarrayops" if path == "errors" else module.__name__  # errors are documented where users import them
    missing = [name for name in names(module) if f"{prefix}.{name}" not in entries]
    assert not missing


def test_pages_are_named_by_words():
    names = load("api_reference").pages()
    assert not [name for name in names if not re.fullmatch(r"[\w.-]+", name)]
    assert {"standard-elementwise", "standard-linear-algebra", "attention", "plugin.sparse"} <= names.keys()


def test_an_operation_of_no_family_is_refused(monkeypatch):
    """A new family must have a title, and cannot be left out silently."""
    api = load("api_reference")
    monkeypatch.delitem(api.OPERATIONS, "indexing")
    with pytest.raises(ValueError, match="'at'"):
        api.pages()


def test_every_page_is_in_the_table_of_contents():
    index = (EXTENSIONS.parent / "api" / "index.md").read_text(encoding="utf-8")
    entries = re.findall(r"^generated/(\S+)$", index, re.MULTILINE)
    pages = load("api_reference").pages()
    assert not [page for page in pages if not any(fnmatch(page, entry) for entry in entries)]
