"""The durations of --budget and --timeout."""

from __future__ import annotations

import argparse

import pytest

from xarrayops._cli.arguments import seconds


@pytest.mark.parametrize(
    ("text", "want"),
    [("90", 90), ("90s", 90), ("5m", 300), ("1h", 3600), ("1.5h", 5400), ("0.5", 0.5), (" 2 m", 120), ("1e3", 1000)],
)
def test_durations(text, want):
    assert seconds(text) == want


@pytest.mark.parametrize(
    "text", ["", "s", "0", "0m", "-1", "-5m", "nan", "nanh", "5d", "5 min", "m5", "1h30m", "90S", "five"]
)
def test_invalid_durations(text):
    with pytest.raises(argparse.ArgumentTypeError) as raised:
        seconds(text)
    assert str(raised.value) == f"{text!r} is not a positive duration such as 90, 90s, 5m or 1h"
