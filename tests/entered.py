"""The functions that a call enters."""

import inspect
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

from xarrayops._system.hooks import hooked


class Entered(NamedTuple):
    """A function, with the names of its module and of the module that called it."""

    code: CodeType
    module: str
    caller: str


def entered(call: Callable[[], Any]) -> list[Entered]:
    """The functions of Python that a call enters, in order; each generator once."""
    frames: dict[int, FrameType] = {}  # kept: another frame would get the same id
    found = []

    def record(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and id(frame) not in frames and frame.f_code is not inspect.unwrap(hooked).__code__:
            frames[id(frame)] = frame
            found.append(Entered(frame.f_code, _module_of(frame), _module_of(frame.f_back)))

    with hooked(record, "profile"):
        call()
    return found


def _module_of(frame: FrameType | None) -> str:
    return frame.f_globals.get("__name__", "") if frame else ""
