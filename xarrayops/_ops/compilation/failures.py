"""The error messages for functions that a compiler cannot trace."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Callable
from typing import Any

from xarrayops.errors import Unsupported

_PLACE = re.compile(r'File "([^"]+)", line (\d+)|([^\s:]+\.py):(\d+)')


def untraceable(call: str, compiler: str, error: Exception, function: Callable[..., Any]) -> Unsupported:
    """The error for a function that a compiler cannot trace: its reason, and the line of the function."""
    return Unsupported(
        f"{call}: {compiler} cannot compile it{place_of(error, function)}: {reason_of(error)}. Instead: xo.where, "
        f"xo.cond, xo.while_loop or xo.scan for control flow on values, functions of xarrayops instead of NumPy, or "
        f'when="never"'
    )


def reason_of(error: Exception) -> str:
    """The first line of an error, and the second if the first one ends with a colon."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    count = 2 if lines and lines[0].endswith(":") else 1
    return " ".join(lines[:count]).rstrip(".:") or type(error).__name__


def place_of(error: Exception, function: Callable[..., Any]) -> str:
    """The last line of the function's file that the error names, in parentheses; empty if it names none."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    numbers = [frame.lineno for frame in frames if frame.filename == code.co_filename]
    places = _PLACE.finditer(str(error))
    numbers += [int(place[2] or place[4]) for place in places if code.co_filename in (place[1], place[3])]
    if not numbers or numbers[-1] is None:
        return ""
    text = linecache.getline(code.co_filename, numbers[-1]).strip()
    return f" (line {numbers[-1]}: {text})" if text else f" (line {numbers[-1]})"
