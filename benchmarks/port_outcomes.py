"""Running a program on a library, and comparing what it returns; the lines that have a note. For port_programs.py."""

from __future__ import annotations

import ast
import inspect
import runpy
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops.port.rewriting.edits import MARK, Returned


def run(
    path: Path, function: str, args: list[Any], library: str, limit: float, returned: Returned | None = None
) -> list[Any]:
    """What a program returns, and its arguments afterwards, as NumPy's arrays.

    With ``returned`` the function returns the arguments that it writes: they stand instead of those given.
    """
    has_arrays = any(isinstance(each, np.ndarray) for each in args)
    with warnings.catch_warnings(), limited(limit), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        given = [xo.convert(x.copy(), library, copy=True) if isinstance(x, np.ndarray) else x for x in args]
        if has_arrays:
            called = runpy.run_path(str(path))[function]
            result = called(*given)
        else:
            with xo.use(library):
                called = runpy.run_path(str(path))[function]
                result = called(*given)
        if returned is not None:
            result, given = _unpacked(result, given, list(inspect.signature(called).parameters), returned)
        return [_on_numpy(result), _on_numpy(given)]


def _unpacked(result: Any, given: list[Any], names: list[str], returned: Returned) -> tuple[Any, list[Any]]:
    """What the function returned before, and the arguments with those that it returns now."""
    has_value = returned.form == "value"
    parts = list(result) if has_value or len(returned.written) > 1 else [result]
    arrays = dict(zip(returned.written, parts[has_value:], strict=True))
    value = result if returned.form == "same" else parts[0] if has_value else None
    return value, [arrays.get(name, x) for name, x in zip(names, given, strict=True)]


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """A block that raises TimeoutError after this time."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _on_numpy(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_on_numpy(each) for each in value]
    return np.asarray(xo.convert(value, "numpy")).copy() if hasattr(value, "dtype") else value


def leaves(value: Any) -> list[Any]:
    """The members of nested lists and tuples."""
    return [leaf for each in value for leaf in leaves(each)] if isinstance(value, (list, tuple)) else [value]


def differ(x: Any, y: Any) -> bool:
    """Whether values differ by more than rounding, or in dtype or shape; numbers and 0-d arrays are alike."""
    if x is None or y is None or isinstance(x, str):
        return x is not y and x != y
    a, b = np.asarray(x), np.asarray(y)
    if a.shape != b.shape or (a.ndim > 0 and a.dtype != b.dtype):
        return True
    tolerance = 1e-4 if a.dtype in (np.float32, np.complex64) else 1e-9
    scale = float(np.nanmax(np.abs(a), initial=0, where=np.isfinite(a))) if a.dtype.kind in "fc" else 0.0
    return not np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def noted_lines(text: str) -> set[int]:
    """The lines of the statements with a note, and of those that use a variable that a statement with a note binds."""
    lines = text.splitlines()
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    noted = [each for each in statements if _has_note(lines, each)]
    bound = {
        name.id
        for each in noted
        for name in _names(each)
        if isinstance(each, ast.Assign) and isinstance(name.ctx, ast.Store)
    }
    using = [each for each in statements if bound & {name.id for name in _names(each)}]
    return {line for each in (*noted, *using) for line in _lines(each)}


def _has_note(lines: list[str], statement: ast.stmt) -> bool:
    above = statement.lineno - 1
    while above and lines[above - 1].strip().startswith("#"):
        if lines[above - 1].strip().startswith(f"# {MARK}"):
            return True
        above -= 1
    return False


def _names(statement: ast.stmt) -> list[ast.Name]:
    return [] if hasattr(statement, "body") else [n for n in ast.walk(statement) if isinstance(n, ast.Name)]


def _lines(statement: ast.stmt) -> range:
    """The lines of a statement; of a compound statement only its head."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno or statement.lineno
    return range(statement.lineno, max(last, statement.lineno) + 1)
