"""Plain technical English: words that the field does not use stay out of texts, names and comments."""

import re
from pathlib import Path
from typing import NamedTuple

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
PRODUCT = tuple(place for place in PLACES if place != "tests")
"""The places in which the sentences are checked too."""
RECORDED = ROOT / "docs" / "results"
"""Pages written from recorded results, which keep their words."""
_GAP = r"[\s#*/]+"
"""The characters between two words, also across the lines of a comment."""
_PATTERN = re.compile(rf"\b({'|'.join(AVOIDED)})\b".replace(" ", _GAP), re.IGNORECASE)


class Kind(NamedTuple):
    """A kind of sentence that plain English avoids."""

    instead: str
    pattern: str
    """A space stands for any gap between words, also across lines."""
    wrong: tuple[str, ...]
    right: tuple[str, ...] = ()


KINDS = (
    Kind(
        "is not a, has no, without",
        r"(?<!there\s)(?<!answer\s)\b(?:is|are) no (?!longer\b|more\b|less\b|\w+er\b)",
        ("x is no array", "they are no arrays", "is # no array"),
        ("there is no array", "it is no longer used", "is no larger than"),
    ),
    Kind("instead of, replaced by", r"\bin (?:the )?places? of\b", ("in the place of 0", "in place of x")),
    Kind(
        "a noun or a clause with a verb",
        r"\b(?:that|those) of\b[^.;:()]{0,160}\b(?:that|those) of\b",
        ("that of x, and those of y", "those of those of x"),
        ("that of x. Those of y", "the dtype of x and the dtype of y"),
    ),
    Kind("available, given", r"\bat hand\b", ("the case at hand",)),
    Kind("because there is no, without", r"\bfor want of\b", ("for want of a name",)),
    Kind("except, in addition to", r"\bapart from\b", ("apart from x",)),
    Kind("next to, in addition to, combined with", r"\bbeside\b(?!\.)", ("beside x",), ("besides x",)),
    Kind("8-bit integers", r"\b(?:integers|numbers) of \d+ bits\b", ("integers of 8 bits",)),
    Kind("0-d array", r"\barrays? without axes\b", ("an array without axes",)),
    Kind("pytree", r"\bnested or not\b", ("arrays, nested or not",)),
    Kind("differently from", r"\botherwise than\b", ("otherwise than x",)),
    Kind(
        "the subject first: the results are compared",
        r"(?:^|[.:] |\"\"\")(?:Compared|Counted|Tested|Measured|Kept|Shown|Returned|Checked) (?:is|are)\b",
        ("Compared are the results",),
        ("The results are compared",),
    ),
)
"""Sentences that the product avoids."""
_KINDS = tuple((kind, re.compile(kind.pattern.replace(" ", _GAP), re.IGNORECASE | re.MULTILINE)) for kind in KINDS)


def files(place: str) -> list[Path]:
    """The text files of a folder, or the file itself."""
    path = ROOT / place
    found = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
    return [file for file in found if file != Path(__file__).resolve() and "_build" not in file.parts]


def avoided_words(text: str) -> list[str]:
    """Each avoided word in a text, with the number of its line."""
    found = ((text.count("\n", 0, match.start()) + 1, match[0]) for match in _PATTERN.finditer(text))
    return [f"line {line}: {word}" for line, word in found]


def avoided_sentences(text: str) -> list[str]:
    """Each avoided kind of sentence in a text, with the number of its line and what to write."""
    found = []
    for kind, pattern in _KINDS:
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"line {line}: {' '.join(match[0].split())!r}. Instead: {kind.instead}")
    return found


@pytest.mark.parametrize("place", PLACES)
def test_no_avoided_words(place: str) -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in files(place)}
    assert texts, f"{place} has no texts"
    found = [f"{file.relative_to(ROOT)}, {word}" for file, text in texts.items() for word in avoided_words(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("place", PRODUCT)
def test_no_avoided_sentences(place: str) -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in files(place) if RECORDED not in file.parents}
    found = [f"{file.relative_to(ROOT)}, {each}" for file, text in texts.items() for each in avoided_sentences(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.instead for kind in KINDS])
def test_avoided_sentences_are_found(kind: Kind) -> None:
    for text in kind.wrong:
        found = avoided_sentences(f"first line\n{text}")
        assert len(found) == 1, found
        assert found[0].startswith("line 2: ")
        assert found[0].endswith(kind.instead)
    for text in kind.right:
        assert avoided_sentences(text) == []


@pytest.mark.parametrize("word", AVOIDED)
def test_avoided_words_are_found(word: str) -> None:
    wrapped = word.replace(" ", "\n# ")
    for text in (f"raise ValueError('it {word} it')", f"# {word.upper()}.", f"# {wrapped}"):
        assert avoided_words(f"first line\n{text}")[0].startswith("line 2: ")
    assert avoided_words(f"un{word} x{word} {word}ing") == []
