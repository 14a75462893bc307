"""Comments at the places that need a decision."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from xarrayops.port.rewriting.edits import MARK


def commented(statement: cst.CSTNode, problems: Sequence[str]) -> cst.CSTNode:
    """A statement with a comment for each problem before it; comments that are there stay alone."""
    leading = list(statement.leading_lines)  # type: ignore[attr-defined]
    known = {line.comment.value for line in leading if line.comment is not None}
    texts = [f"# {MARK}: {problem}" for problem in dict.fromkeys(problems)]
    lines = [cst.EmptyLine(comment=cst.Comment(text)) for text in texts if text not in known]
    return statement.with_changes(leading_lines=[*leading, *lines]) if lines else statement
