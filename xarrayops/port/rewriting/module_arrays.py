"""Arrays of the module beside arrays of the caller: they move to the caller's library."""

from __future__ import annotations

import ast

import libcst as cst

from xarrayops.port.rewriting.context import Context, argument


def moved(context: Context, node: ast.Name, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.asarray(C, like=x)`` for an array C of the module; a note if nothing proves that x is an array."""
    meeting = context.meetings.get(node)
    if meeting is None:
        return None
    if not meeting.certain:
        context.todo(
            node,
            f"{node.id} was made by the default library when the module was loaded; "
            f"np.asarray({node.id}, like={meeting.partner}) if {meeting.partner} is an array",
        )
        return None
    context.edit(node, "creation", f"{node.id} moves to the library of {meeting.partner}")
    return context.np_call("asarray", argument(updated), argument(cst.Name(meeting.partner), "like"))
