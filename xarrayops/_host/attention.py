# Long: one kernel: plan, blocks and threads.
"""Attention on NumPy arrays: cache-sized blocks of scores, matrix products by BLAS, threads over blocks.

Each thread has one buffer for the scores of a block of queries and a block of keys. The scores are converted to weights
in place, and the next block overwrites them. Query heads that share keys are rows of one matrix product; small problems
are combined into one stack of products.

Softmax may subtract any number from the scores of a row. Nothing is subtracted while all scores are small. From the
first block with a large score, the largest score so far is subtracted, and the sums are rescaled with every block:
Milakov and Gimelshein 2018, https://arxiv.org/abs/1805.02867.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from xarrayops._host import blas, threads, views
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.attention import Attention, has_band, has_one_offset
from xarrayops.plugin.candidates import Call

Array = np.ndarray[Any, Any]
Span = tuple[int, int]

# Queries in a block, over all heads that share keys; half as many along the edge of a band.
ROWS = 512
# The smallest number of queries in a block, used if threads would otherwise be idle or the band is narrow.
FEW_ROWS = 128
# Keys whose norms are computed in one call, which bounds the memory of their squares.
KEYS = 1 << 12
# The number of queries up to which keys times queries is faster than queries times keys.
NARROW = 16
# The queries and keys of each product, if BLAS multiplies small matrices without packing.
TILE = (128, 64)
# The number of scores in a block: in float32 they fill half of the second-level cache of a core.
SCORES = 1 << 18
# The number of multiplications up to which heads and rows of the batch are combined: calls would dominate.
TASK = 1 << 20
# The number of multiplications up to which BLAS uses one thread, in each of the two products.
CALM = 1 << 19
# The number of multiplications from which our threads are faster than one.
SPREAD_MULTIPLICATIONS = 1 << 23
# The absolute value of scores up to which nothing is subtracted. Weights are then between 3e-10 and 4e9, and the sum of
# a million of them times values between 1e-28 and 1e22 is within the range of float32.
SMALL = 22.0
FLOATS = ("float16", "bfloat16", "float32", "float64")


class Problem(Record):
    """A call with its query heads in groups: q and out are (B, Hkv, group, Lq, items), mask and bias like scores."""

    a: Attention
    q: Array
    mask: Array | None
    bias: Array | None
    out: Array
    lse: Array
    wide: np.dtype[Any]
    exp: np.ufunc
    unit: float
    """exp(score) is ``exp(unit * score)``, with the exponential above."""
    longest: dict[tuple[int, int], float]
    """The largest norm of a key, cached by the first row of the batch and the first head of a task."""


class Task(Record):
    """A block of queries of some heads and rows of the batch, and the keys that any of them sees."""

    batch: slice
    heads: slice
    queries: Span
    keys: Span
    offset: int
    height: int
    """The number of rows of its scores, over its heads and rows of the batch."""

    @property
    def step(self) -> int:
        """The number of keys in a block."""
        return max(1, min(SCORES // self.height, self.keys[1] - self.keys[0]))

    @property
    def cost(self) -> int:
        """Its scores."""
        return self.height * max(0, self.keys[1] - self.keys[0])


class State:
    """For each query of a task, the sum of weights and the weighted sum of values so far."""

    base: Array | None = None
    """The number subtracted from the scores of each query; None if nothing is subtracted."""

    def __init__(self, shape: tuple[int, ...], size: int, wide: np.dtype[Any]) -> None:
        self.weights = np.zeros(shape, wide)
        self.total = np.zeros((*shape, size), wide)


def refusal(call: Call) -> str | None:
    """Why the kernel cannot serve a call; None if it can."""
    (a,) = call.args
    return None if a.q.dtype.name in FLOATS else f"dtype {a.q.dtype} is not supported"


def attention(a: Attention, /) -> tuple[Array, Array]:
    """The result and its logsumexp, for NumPy arrays with any strides."""
    batch, heads, queries, size = a.q.shape
    shared, keys = a.k.shape[1:3]
    wide = np.dtype(np.float64 if a.q.dtype.type is np.float64 else np.float32)
    # No task has the queries beyond their length, so these initial values are their result.
    out = np.zeros((batch, heads, queries, a.v.shape[3]), a.q.dtype.newbyteorder("="))
    lse = np.full((batch, heads, queries), -math.inf, wide)
    q_lengths = None if a.q_lengths is None else require_lengths("q_lengths", a.q_lengths, queries)
    kv_lengths = None if a.kv_lengths is None else require_lengths("kv_lengths", a.kv_lengths, keys)
    # After the check of lengths, so that it also raises for empty arrays. Below, -1 in a shape needs elements.
    if not lse.size:
        return out, lse
    mask, bias = (None if x is None else _grouped(x, shared if x.shape[1] > 1 else 1) for x in (a.mask, a.bias))
    grouped = _grouped(a.q, shared), mask, bias, _grouped(out, shared), lse.reshape(batch, shared, -1, queries)
    problem = Problem(a, *grouped, wide, *_exponential(), {})
    tasks = list(_tasks(problem, q_lengths, kv_lengths))
    cost = sum(task.cost for task in tasks) * (size + a.v.shape[3])
    work = partial(_attend_all, problem, max((task.height * task.step for task in tasks), default=0))
    if cost < CALM or (cost >= SPREAD_MULTIPLICATIONS and len(tasks) == 1):
        # BLAS uses one thread anyway, or there is nothing to distribute: the threads of BLAS share the large products.
        work(tasks)
    else:
        # With or without our threads, BLAS would start its own for each of many small products.
        run = partial(threads.run, work) if cost >= SPREAD_MULTIPLICATIONS else work
        blas.with_one_thread(partial(run, tasks))
    return out, lse


def require_lengths(name: str, lengths: Array, extent: int) -> list[int]:
    """The lengths as integers; raises at the first one that is out of range."""
    numbers: list[int] = np.asarray(lengths).tolist()
    for row, length in enumerate(numbers):
        if not 0 <= length <= extent:
            raise ValueError(f"{name}[{row}] is {length}. Instead: 0 to {extent}, the extent of its axis")
    return numbers


@lru_cache(maxsize=1)
def _exponential() -> tuple[np.ufunc, float]:
    """The faster exponential, and its argument for exp(1): base 2 if NumPy has vector instructions for it."""
    found = np.lib.introspect.opt_func_info(func_name="^exp2$", signature="float32")
    current = found.get("exp2", {}).get("ff", {}).get("current", "baseline")
    # NumPy has an exp with vector instructions on more processors than an exp2.
    return (np.exp, 1.0) if current.startswith("baseline") else (np.exp2, 1 / math.log(2))


def _grouped(x: Array, shared: int) -> Array:
    """A view with the axis of heads split into heads of keys and query heads that share them."""
    batch, heads, rows, columns = x.shape
    return x.reshape(batch, shared, heads // shared, rows, columns)


def _tasks(p: Problem, q_lengths: list[int] | None, kv_lengths: list[int] | None) -> Iterator[Task]:
    """The tasks, the longest first if a band makes their lengths differ."""
    a, (batch, shared, group, queries, _) = p.a, p.q.shape
    keys = a.k.shape[2]
    offsets = [a.offset] * batch if has_one_offset(a) else np.asarray(a.offset).tolist()
    rows = max(1, (ROWS >> has_band(a)) // group)
    width = math.inf if a.left is None or a.right is None else a.left + a.right
    wanted = 2 * threads.thread_count()
    # A block of n queries sees n + width keys, of which each query sees the width only: for n > width / 2 more than a
    # third of the scores would be computed for nothing. Two tasks for each thread balance unequal tasks.
    while rows > 1 and rows * group > FEW_ROWS and (2 * rows > width or batch * shared * -(-queries // rows) < wanted):
        rows //= 2
    room = max(1, TASK // (min(rows, queries) * group * max(1, keys) * max(1, a.q.shape[3] + a.v.shape[3])))
    # Rows of the batch are combined only if all of them see the same keys and all their heads are combined: a task is a
    # rectangle of rows and heads.
    alike = q_lengths is None and kv_lengths is None and has_one_offset(a)
    together = min(room, shared)
    stacked = max(1, room // shared) if alike else 1
    for row in range(0, batch, stacked):
        count = queries if q_lengths is None else q_lengths[row]
        extent = keys if kv_lengths is None else kv_lengths[row]
        # Under a causal band later queries see more keys. The longest tasks first, so that the threads stop together.
        for begin in reversed(range(0, count, rows)):
            block = begin, min(begin + rows, count)
            seen = _seen(a, block, extent, offsets[row])
            for head in range(0, shared, together):
                places = slice(row, min(row + stacked, batch)), slice(head, min(head + together, shared))
                height = (places[0].stop - row) * (places[1].stop - head) * group * (block[1] - begin)
                yield Task(*places, block, seen, offsets[row], height)


def _seen(a: Attention, queries: Span, extent: int, offset: int) -> Span:
    """The range of keys, of ``extent`` keys, that the band lets any query of a block see."""
    # Query i sees the keys from i + offset - left to i + offset + right; the last query of the block is queries[1] - 1.
    # Both ends are clipped. The range is empty if its end precedes its start.
    first = 0 if a.left is None else queries[0] + offset - a.left
    last = extent if a.right is None else queries[1] + offset + a.right
    return min(max(0, first), extent), min(max(0, last), extent)


def _attend_all(p: Problem, size: int, tasks: Iterable[Task]) -> None:
    """The work of one thread: all its tasks with one buffer."""
    buffer = np.empty(size, p.wide)
    # The logarithm of 0 is the right answer for queries without keys; each thread has its own settings.
    with np.errstate(all="ignore"):
        for task in tasks:
            _attend(p, task, buffer)


def _attend(p: Problem, task: Task, buffer: Array) -> None:
    """Attention of one block of queries over all keys that it sees."""
    a, place = p.a, (task.batch, task.heads)
    rows = slice(*task.queries)
    q = p.q[(*place, slice(None), rows)]
    by_head = q.shape[:-1]
    batch, shared, group, count = by_head
    # The scale and the base of the exponential multiply the queries once, not the scores of every block of keys. A
    # softcap needs the quotient before tanh, so there the unit follows after it.
    q = np.multiply(q, a.scale * p.unit if a.softcap is None else a.scale / a.softcap, dtype=p.wide, order="C")
    q = q.reshape(batch, shared, group * count, a.q.shape[3])
    bound = _score_bound(p, task, q)
    state = State(q.shape[:-1], a.v.shape[3], p.wide)
    for begin in range(*task.keys, task.step):
        span = begin, min(begin + task.step, task.keys[1])
        keys = slice(*span)
        k, v = (_for_blas(x[(*place, keys)], p.wide) for x in (a.k, a.v))
        shape = (*q.shape[:-1], span[1] - begin)
        # The prefix of the buffer is contiguous for any shape, so `scores` below is a view and not a copy.
        s = buffer[: math.prod(shape)].reshape(shape)
        _multiply(q, k, s)
        scores = s.reshape(*by_head, -1)
        if a.softcap is not None:
            np.multiply(np.tanh(s, out=s), a.softcap * p.unit, out=s)
        if p.bias is not None:
            # Scores are in units of the base of the exponential, so the bias must be too.
            part = _part(p.bias, (*place, slice(None), rows, keys))
            np.add(scores, np.multiply(part, p.unit, dtype=p.wide), out=scores)
        seen = []
        if p.mask is not None:
            seen.append(_part(p.mask, (*place, slice(None), rows, keys)))
        if has_band(a):
            seen += _band(a, task, span)
        _to_weights(p, state, s, scores, seen, bound)
        # A product with ones takes a third of the time of NumPy's sum along the rows.
        state.weights += s @ np.ones(s.shape[-1], p.wide)
        state.total += s @ v
    # A query with keys has a positive sum: the largest score has the weight 1 or, if nothing is subtracted, at least
    # exp(-SMALL). So 0 means that the query sees no key. Its logarithm, -inf, is the logsumexp required then.
    empty = state.weights == 0
    lse = np.log(state.weights)
    if state.base is not None:
        # The base is in units of the exponential; the logsumexp is a natural logarithm.
        lse += state.base / p.wide.type(p.unit)
    state.total /= np.where(empty, 1, state.weights)[..., None]
    p.out[(*place, slice(None), rows)] = state.total.reshape(*by_head, -1)
    p.lse[(*place, slice(None), rows)] = lse.reshape(by_head)


def _multiply(q: Array, k: Array, s: Array) -> None:
    """``s = q @ k.T``. For many keys and few queries, BLAS takes half the time if the keys are the left operand."""
    rows, size = q.shape[-2:]
    keys = k.shape[-2]
    # One row is a product of a matrix and a vector, for which the order does not matter.
    if 1 < rows <= NARROW:
        s[...] = np.matmul(k, q.swapaxes(-1, -2)).swapaxes(-1, -2)
    # The tiles are so small that BLAS reads them without packing. The copy makes the tiles of k C-ordered once; packing
    # would do so for each product.
    elif rows % TILE[0] == keys % TILE[1] == 0 and blas.takes_as_they_lie(*TILE, size, s.dtype):
        q, k = q.reshape(*q.shape[:-2], -1, 1, TILE[0], size), k.reshape(*k.shape[:-2], 1, -1, TILE[1], size)
        tiles = s.reshape(*s.shape[:-2], rows // TILE[0], TILE[0], keys // TILE[1], TILE[1]).swapaxes(-3, -2)
        np.matmul(q, np.ascontiguousarray(k.swapaxes(-1, -2)), out=tiles)
    else:
        np.matmul(q, k.swapaxes(-1, -2), out=s)


def _to_weights(p: Problem, state: State, s: Array, scores: Array, seen: list[Array], bound: float) -> None:
    """Convert scores within that bound to weights, in place, and rescale the state to the same subtracted number.

    ``scores`` is a view of ``s`` by head.
    """
    # Invariant: weights = sum(exp(s - base)) and total = sum(exp(s - base) * v) over the keys so far, base = 0 while it
    # is None. Their quotient does not depend on base.
    small = SMALL * p.unit
    # A comparison with NaN is false, so NaN and infinities in the scores take the general path below.
    if state.base is None and (bound <= small or (s.min() >= -small and s.max() <= small)):
        p.exp(s, out=s)
        for each in seen:
            # All weights are finite here, so times False is 0.
            np.multiply(scores, each, out=scores)
        return
    if state.base is None:
        # Until now 0 was subtracted. Queries without weights so far have no base: -inf is the neutral element of the
        # maximum.
        state.base = np.where(state.weights == 0, s.dtype.type(-math.inf), s.dtype.type(0))
    for each in seen:
        # True gives +inf, which keeps the score, and False -inf, which hides it, in a tenth of the time of np.where.
        np.minimum(scores, (each - s.dtype.type(0.5)) * s.dtype.type(math.inf), out=scores)
    largest = np.maximum(state.base, s.max(axis=-1))
    # -inf - -inf is NaN. With any finite base, the weights of a row without keys are exp(-inf) = 0.
    base = np.where(largest == -math.inf, 0, largest)
    p.exp(np.subtract(s, base[..., None], out=s), out=s)
    # exp(s - old) * exp(old - new) = exp(s - new): one factor for each query moves its sums to the new base. The base
    # only grows, so the factor is at most 1 and nothing overflows.
    fade = p.exp(state.base - base)
    state.weights *= fade
    state.total *= fade[..., None]
    state.base = largest


def _score_bound(p: Problem, task: Task, q: Array) -> float:
    """A bound on the scores by Cauchy-Schwarz; inf if there is none, or if it costs more than their maximum."""
    # The norms of all keys read keys x size numbers, the maximum of the scores rows x keys.
    if p.bias is not None or p.a.softcap is not None or q.shape[-2] <= q.shape[-1]:
        return math.inf
    place = task.batch.start, task.heads.start
    if place not in p.longest:
        # All keys, also those beyond the length: if they hold NaN or large numbers, the bound is useless but not wrong.
        # Threads that come here together compute the same number.
        k = p.a.k[task.batch, task.heads]
        blocks = (_for_blas(k[..., begin : begin + KEYS, :], p.wide) for begin in range(0, k.shape[2], KEYS))
        # np.max and not max: it is NaN if any norm is NaN.
        p.longest[place] = float(np.max([_longest(block) for block in blocks], initial=0))
    return _longest(q) * p.longest[place]


def _longest(x: Array) -> float:
    """The largest norm of a row."""
    # The root is monotonic: one root of the largest sum, not one for each row.
    return math.sqrt((np.square(x) @ np.ones(x.shape[-1], x.dtype)).max())


def _band(a: Attention, task: Task, keys: Span) -> list[Array]:
    """The keys that the queries of a task see in the band, as a list of one mask; empty if they see all keys.

    It depends on ``j - i`` only, so the mask is a view of one line of booleans: each row begins one item before the row
    above.
    """
    count, width = task.queries[1] - task.queries[0], keys[1] - keys[0]
    # line[t] is for the pairs with j - i - offset = least + t; t = 0 is the last query and the first key.
    least = keys[0] - (task.queries[1] - 1) - task.offset
    line = np.ones(count + width - 1, np.bool_)
    if a.left is not None:
        line[: max(0, -a.left - least)] = False
    if a.right is not None:
        line[max(0, a.right + 1 - least) :] = False
    # Row i begins at line[count - 1 - i], because j - i falls by 1 from one query to the next.
    return [] if line.all() else [views.of(line, (count, width), (-1, 1), typestr="|b1", offset=count - 1)]


def _part(x: Array, places: tuple[slice, ...]) -> Array:
    """The part of a mask or a bias for a block; axes of extent 1 are kept."""
    return x[tuple(place if n > 1 else slice(None) for place, n in zip(places, x.shape, strict=True))]


def _for_blas(x: Array, wide: np.dtype[Any]) -> Array:
    """The matrices with dense rows, as BLAS needs them: copied if their strides differ."""
    *_, row, item = x.strides
    # A leading dimension must be positive and at least the length of a row; BLAS has no negative or overlapping
    # strides.
    fits = item == x.itemsize and row >= item * x.shape[-1] and x.flags.aligned
    return x if fits and x.dtype == wide else np.array(x, dtype=wide, order="C")
