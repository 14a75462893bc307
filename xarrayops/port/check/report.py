"""The report about a program, and `check`, which makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xarrayops._protocol.records import Record
from xarrayops.port.check.rules import findings
from xarrayops.port.check.verdict import Verdict, verdicts
from xarrayops.port.findings import Finding
from xarrayops.port.source import Program, Source


class Report(Record):
    """What stands in the way of a program on each library.

    Attributes
    ----------
    source : Source
        The program.
    findings : tuple of Finding
        What differs by library, in the order of the source.
    verdicts : tuple of Verdict
        For each backend: "ready", "small fixes", "redesign" or "stay on the CPU", with reasons.
    """

    source: Source
    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "path": self.source.path,
            "lines": len(self.source.lines),
            "findings": [{**finding._asdict(), "place": self.source.place(finding.line)} for finding in self.findings],
            "verdicts": [verdict._asdict() for verdict in self.verdicts],
        }


def check(path: str | Path) -> Report:
    r"""What stands in the way of a NumPy program on each library. Nothing is executed.

    Parameters
    ----------
    path : str or path
        A Python file or a notebook.

    Returns
    -------
    Report

    Raises
    ------
    PortError
        The file cannot be read, or it has a syntax error.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from xarrayops.port import check
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "program.py")
    ...     _ = path.write_text("import numpy as np\\ndef f():\\n    return np.zeros((2, 3)).std(axis=0)\\n")
    ...     report = check(path)
    >>> [(finding.line, finding.kind, finding.instead) for finding in report.findings if "torch" in finding.backends]
    [(3, 'method', 'np.std(np.zeros((2, 3)), axis=0)')]
    """
    program = Program.read(path)
    found = findings(program)
    return Report(program.source, found, verdicts(found))
