"""Plain technical English: words that the field does not use stay out of texts, names and comments."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AVOIDED = ("told", "road", "mend", "mended", "by turns", "lies so")
"""Avoided as whole words. Use instead: reported, route, fix, fixed, interleaved, already in this layout."""
PLACES = (
    *("xarrayops", "backends", "benchmarks", "docs", "examples", "tests", "tools"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml"),
)
"""The folders and files that are checked, relative to the repository."""
SUFFIXES = (".py", ".pyi", ".md", ".html", ".js", ".css")
_GAP = r"[\s#*/]+"
"""The characters between two words, also across the lines of a comment."""
_PATTERN = re.compile(rf"\b({'|'.join(AVOIDED)})\b".replace(" ", _GAP), re.IGNORECASE)


def files(place: str) -> list[Path]:
    """The text files of a folder, or the file itself."""
    path = ROOT / place
    found = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
    return [file for file in found if file != Path(__file__).resolve() and "_build" not in file.parts]


def avoided_words(text: str) -> list[str]:
    """Each avoided word in a text, with the number of its line."""
    found = ((text.count("\n", 0, match.start()) + 1, match[0]) for match in _PATTERN.finditer(text))
    return [f"line {line}: {word}" for line, word in found]


@pytest.mark.parametrize("place", PLACES)
def test_no_avoided_words(place: str) -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in files(place)}
    assert texts, f"{place} has no texts"
    found = [f"{file.relative_to(ROOT)}, {word}" for file, text in texts.items() for word in avoided_words(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("word", AVOIDED)
def test_avoided_words_are_found(word: str) -> None:
    wrapped = word.replace(" ", "\n# ")
    for text in (f"raise ValueError('it {word} it')", f"# {word.upper()}.", f"# {wrapped}"):
        assert avoided_words(f"first line\n{text}")[0].startswith("line 2: ")
    assert avoided_words(f"un{word} x{word} {word}ing") == []
