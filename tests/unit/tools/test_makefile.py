"""The list of targets that `make help` prints."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_list_has_every_described_target_and_no_variable():
    done = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    described = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert [line.split()[0] for line in done.stdout.splitlines()] == described
    assert "$" not in done.stdout
