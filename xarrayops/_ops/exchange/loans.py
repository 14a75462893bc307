"""Keeps the owner of shared device memory alive until the borrowing library has finished with it.

A library gives freed memory to its next array at once, in the order of its own queue of work. Work of another library,
in another queue, may still use that memory. Where the owner's library can wait for another library's stream, it does.
Elsewhere the owner is kept until the other queue has reached the end that it had when the memory was given up. Nothing
waits for that: the next exchange on a device and `synchronize` look whether it has happened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from xarrayops._protocol.devices import Queue
from xarrayops._protocol.types import Array

if TYPE_CHECKING:
    from xarrayops._core.backend import Backend


class _Loan:
    """Kept alive by all that holds memory of an owner in another library; when it goes, the owner is kept on."""

    __slots__ = ("owner", "queue")

    def __init__(self, owner: Array, queue: Queue) -> None:
        self.owner, self.queue = owner, queue

    def __del__(self) -> None:
        _ended.append(_Ended(self.owner, self.queue))  # and nothing else: garbage may be collected anywhere


class _Ended(NamedTuple):
    """An owner whose memory is no longer held, and the queue whose work may still use it."""

    owner: Array
    queue: Queue
    reached: Callable[[], bool] | None = None


_ended: deque[_Ended] = deque()


def keep_owner(x: Array, source: Backend, y: Array, target: Backend) -> Array:
    """y, an array over device memory of x, which is not reused before the target's work with it has ended.

    The work meant is that in the queue that is current for y now. Who uses y in another stream orders that one before y
    is given up, as for any array of the library.
    """
    own, others = source.functions["queue"](x), target.functions["queue"](y)
    settle(*(queue for queue in (own, others) if queue is not None))
    if others is None or (own is not None and own.stream is not None and own.stream == others.stream):
        return y  # in one queue, the owner's next use of the memory comes after the last use of y
    if others.stream is not None and source.functions["outlive"](x, others.stream):
        return y
    return target.functions["tie"](y, _Loan(x, others))


def settle(*queues: Queue) -> None:
    """Let go of the owners whose memory no queue uses any more, unless a graph is captured in one of the queues."""
    if not _ended or any(queue.capturing() for queue in (*queues, *(each.queue for each in tuple(_ended)))):
        return
    marks: dict[int, Callable[[], bool]] = {}
    for _ in range(len(_ended)):
        try:
            owner, queue, reached = _ended.popleft()
        except IndexError:  # another thread was here
            return
        done = False
        try:
            if reached is None:
                reached = marks.get(id(queue.mark)) or queue.mark()
                marks[id(queue.mark)] = reached
            done = reached()
        except Exception:  # a library's state forbids it now; whoever calls here has nothing to do with that
            pass
        if not done:
            _ended.append(_Ended(owner, queue, reached))
