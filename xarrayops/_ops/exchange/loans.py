"""Keep the owner of shared device memory alive until the borrowing library has finished with it.

A library reuses freed device memory for its next array immediately, in the order of its own queue of work. Work of
another library, in another queue, may still use that memory. If the owner's library can wait for the stream of the
other library, it does. Otherwise the owner is kept alive until the other queue has finished the work that it had when
the memory was released. Nothing waits for this: the next exchange on a device, and `synchronize`, check for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from xarrayops._core.backends.registry import Backend
from xarrayops.plugin.arrays import Array, Queue, Record


class _Loan:
    """An object that every borrowing array keeps alive. When it is deleted, its owner moves to the list `_ended`."""

    __slots__ = ("owner", "queue")

    def __init__(self, owner: Array, queue: Queue) -> None:
        self.owner, self.queue = owner, queue

    def __del__(self) -> None:
        _ended.append(_Ended(self.owner, self.queue))  # no other work: garbage collection may run at any point


class _Ended(Record):
    """An owner whose memory is no longer used by arrays, and the queue whose pending work may still use it."""

    owner: Array
    queue: Queue
    reached: Callable[[], bool] | None = None


_ended: deque[_Ended] = deque()


def keep_owner(x: Array, source: Backend, y: Array, target: Backend) -> Array:
    """Keep the memory of x alive for y, an alias on a device: it is not reused before the target's work has ended.

    This covers work in the queue that is current for y now. A caller that uses y in another stream must synchronise
    that stream before it deletes y, as for any array of the library.
    """
    own, others = source.functions["queue"](x), target.functions["queue"](y)
    settle(*(queue for queue in (own, others) if queue is not None))
    if others is None or (own is not None and own.stream is not None and own.stream == others.stream):
        return y  # both use one queue, so the owner's next use of the memory follows the last use of y
    if others.stream is not None and source.functions["outlive"](x, others.stream):
        return y
    return target.functions["tie"](y, _Loan(x, others))


def settle(*queues: Queue) -> None:
    """Release the owners whose memory no queue uses any more, unless one of the queues is capturing a graph."""
    if not _ended or any(queue.capturing() for queue in (*queues, *(each.queue for each in tuple(_ended)))):
        return
    marks: dict[int, Callable[[], bool]] = {}
    for _ in range(len(_ended)):
        try:
            owner, queue, reached = _ended.popleft()
        except IndexError:  # another thread took the last one
            return
        done = False
        try:
            if reached is None:
                reached = marks.get(id(queue.mark)) or queue.mark()
                marks[id(queue.mark)] = reached
            done = reached()
        except Exception:  # the library cannot answer now; this must not raise in unrelated code
            pass
        if not done:
            _ended.append(_Ended(owner, queue, reached))
