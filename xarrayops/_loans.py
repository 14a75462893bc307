"""How long memory of a device lives that one library uses and another one owns.

A library gives freed memory to its next array at once, in the order of its own queue of work. Work of another library,
in another queue, may still use that memory. So the owner is kept until the other library's queue has passed the last
use. Nothing waits for that: the next exchange on a device and `synchronize` look whether it has happened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from xarrayops.plugin import Array

if TYPE_CHECKING:
    from xarrayops._backend import Backend

Mark = Callable[[], Callable[[], bool] | None]


class _Loan:
    """Kept alive by all that holds memory of an owner in another library; when it goes, the owner is kept on."""

    __slots__ = ("mark", "owner")

    def __init__(self, owner: Array, mark: Mark) -> None:
        self.owner, self.mark = owner, mark

    def __del__(self) -> None:
        _ended.append((self.owner, self.mark, None))  # and nothing else: garbage may be collected anywhere


_ended: deque[tuple[Array, Mark, Callable[[], bool] | None]] = deque()
"""Owners whose memory nobody holds any more; with the function that tells whether the work in question has ended."""


def lent(x: Array, source: Backend, y: Array, target: Backend) -> Array:
    """y, an array over device memory of x, which is kept until the target's work with it has ended."""
    own, others = source.functions["queue"](x), target.functions["queue"](y)
    if not any(queue.capturing for queue in (own, others) if queue is not None):
        settle()
    if others is None or (own is not None and own.stream is not None and own.stream == others.stream):
        return y  # in one queue, the owner's next use of the memory comes after the last use of y
    return target.functions["tie"](y, _Loan(x, others.mark))


def settle() -> None:
    """Let go of the owners whose memory no queue uses any more."""
    for _ in range(len(_ended)):
        try:
            owner, mark, passed = _ended.popleft()
        except IndexError:  # another thread was here
            return
        passed = passed or mark()
        if passed is None or not passed():
            _ended.append((owner, mark, passed))
