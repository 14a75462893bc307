"""`rewrite`: a NumPy program for every library, with only those edits that keep its meaning."""

from __future__ import annotations

from pathlib import Path

from xarrayops.port.rewrite.edits import Edit, Rewritten, Todo
from xarrayops.port.source import PortError, Program, read

__all__ = ["Edit", "Rewritten", "Todo", "rewrite"]


def rewrite(path: str | Path) -> Rewritten:
    """Rewrite a NumPy program for every library.

    Only edits that keep the meaning are made, each with its reason. What cannot be proved gets a comment ``TODO(port)``
    with the problem. The file does not change, and rewriting the result changes nothing.

    Parameters
    ----------
    path : str or path
        A file of Python.

    Returns
    -------
    Rewritten
        The text, the edits and the places that need a decision.

    Raises
    ------
    PortError
        The file cannot be read as Python, or libcst is not installed.
    """
    source = read(path)
    if source.cells:
        raise PortError(f"{path} is a notebook. Instead: export its code with jupyter nbconvert --to script")
    try:
        from xarrayops.port.rewrite.transform import rewritten
    except ModuleNotFoundError as error:
        if error.name != "libcst":
            raise
        raise PortError('rewrite needs libcst. Instead: pip install "xarrayops[port]"') from None
    return rewritten(Program.of(source))
