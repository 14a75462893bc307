"""Every command of the docs that shows its output runs, and prints what the page shows.

A block begins with ```` ```console ````, and with the library that it needs, if any. Its lines are ``$ command`` and
what that prints, where ``...`` stands for any text.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *(p for p in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in p.parts)]
_BLOCK = re.compile(r"^```console([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands(page: Path) -> list[tuple[str, str, str]]:
    """The commands of a page: what each needs, the command, and its output."""
    found = []
    for needs, block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((needs.strip(), command, output))
    return found


ALL = [(page, *each) for page in PAGES for each in commands(page)]


def as_shown(shown: str, printed: str) -> bool:
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)


@pytest.mark.parametrize(
    ("page", "needs", "command", "output"),
    ALL,
    ids=[f"{page.stem}-{command.split()[3]}" for page, _, command, _ in ALL],
)
def test_commands_print_what_is_shown(page, needs, command, output, checkout):
    if needs:
        pytest.importorskip(needs)
    assert command.startswith("python ")
    run = f'"{sys.executable}" {command.removeprefix("python ")}'
    wide = {**os.environ, "COLUMNS": "400"}
    done = subprocess.run(run, shell=True, cwd=checkout, env=wide, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert as_shown(output, done.stdout), done.stdout


def test_another_output_is_noticed():
    assert as_shown("a 1\n...\nlast\n", "a 1\nmore\nlast\n")
    assert not as_shown("a 1\n...\nlast\n", "a 2\nmore\nlast\n")


def test_there_are_commands():
    assert len(ALL) >= 3
