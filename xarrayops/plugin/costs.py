"""The rules for what an operation on split arrays moves and holds.

A rule is a function of the arguments of a call, with a `Sharding` for each array. It returns the `Cost` of the call.
`RULES` has the rules of the functions as libraries have them: `explain` shows them, and `xarrayops.limits` uses them. A
kernel with another rule has it as its attribute ``cost``: see `xarrayops.plugin.backends.following`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from math import inf, prod
from typing import Any, TypeAlias

from xarrayops.plugin.sharding import Cost, Sharding, Spec, described, shardings


class Whole:
    """The rule of functions that need whole axes: each task or device gathers the shards along them.

    Attributes
    ----------
    axes : dict
        For each argument that is gathered the axes: "axis" or "axes" (the argument of that name), "matrix" (the last
        two), "first", or "all".
    drops : bool
        Whether the result lacks these axes.
    like : str
        The argument like which the result is split; empty if the result has the gathered axes whole.
    copies : float
        The memory of the results and of the temporary arrays, in multiples of the gathered arguments.
    item : int
        The least bytes of an element of the result.
    is_worst : bool
        Whether most calls need less, so that the limit of a library does not apply, only an explicit one.
    bound : float
        A task holds at most so many times the bytes of all arguments and results of the call.
    """

    def __init__(
        self,
        axes: Mapping[str, str],
        *,
        drops: bool = False,
        like: str = "",
        copies: float = 1,
        item: int = 0,
        is_worst: bool = False,
    ) -> None:
        self.axes, self.drops, self.like, self.copies, self.item = axes, drops, like, copies, item
        self.is_worst = is_worst
        self.bound = 1 + copies * max(1, item)  # all arguments are gathered, and their elements have one byte

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The bytes of the gathered arguments, and of all that a task makes of them."""
        moves, holds, others = 0, 0.0, []
        spec: Spec | None = None
        for name, x in shardings(given):
            axes = self.axes_of(name, x, given)
            nbytes = x.gathered(axes)
            if any(x.counts[axis] > 1 for axis in axes):
                moves += nbytes
            else:
                others.append(nbytes)
            widened = max(1.0, self.item * prod(x.shard_shape) / x.shard_bytes) if x.shard_bytes else 1
            holds += nbytes * (1 + self.copies * widened)
            if name == self.like:
                spec = x.spec
            elif spec is None and x.spec is not None and name in self.axes and not self.like:
                kept = (None if i in axes else axis for i, axis in enumerate(x.spec))
                spec = tuple(axis for i, axis in enumerate(kept) if not (self.drops and i in axes))
        engine = next((x.engine for _, x in shardings(given) if x.engine), None)
        moves += all_but_largest(others) if any(x.is_scheduled for _, x in shardings(given)) else 0
        return Cost(moves, int(holds), None if spec is None else described(engine, spec))

    def axes_of(self, name: str, x: Sharding, given: Mapping[str, Any]) -> tuple[int, ...]:
        """The axes of an argument that are gathered."""
        which, ndim = self.axes.get(name), len(x.shape)
        if which is None:
            return ()
        chosen: Any = {"matrix": range(-min(2, ndim), 0), "first": 0, "all": None}.get(which, given.get(which))
        some = range(ndim) if chosen is None else (chosen,) if isinstance(chosen, int) else chosen
        return tuple(axis % ndim for axis in some if -ndim <= axis < ndim)


class Chunks:
    """The rule of lazy functions whose tasks take some chunks of each argument, and give chunks like those of results.

    The arguments include ``results``: the results of the call, which a lazy library makes without computing them.

    Attributes
    ----------
    arguments, results : int
        How many chunks of each argument, and of a result, a task holds at most.
    takes, joins : int
        How many chunks of each argument a task takes at most, and how many chunks of partial results it combines. All
        but the largest move, if the task runs where the largest is.
    item : int
        The least bytes of an element.
    is_worst : bool
    bound : float
        As for `Whole`.
    """

    def __init__(
        self,
        arguments: int = 2,
        results: int = 2,
        *,
        takes: int = 1,
        joins: int = 1,
        item: int = 0,
        is_worst: bool = False,
    ) -> None:
        self.arguments, self.results, self.takes, self.joins = arguments, results, takes, joins
        self.item, self.is_worst = item, is_worst

    @property
    def bound(self) -> float:
        """As if an array were one chunk, of elements of one byte."""
        return max(self.arguments, self.results) * max(1, self.item)

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The largest chunks. Of arrays in one sequence a task holds those of one."""
        largest: dict[str, int] = {}
        for name, x in shardings(given):
            nbytes = max(x.shard_bytes or 0, self.item * prod(x.shard_shape))
            largest[name] = max(nbytes, largest.get(name, 0))
        of_results = largest.pop("results", 0)
        results = shardings({"results": given["results"]})
        spec = described(results[0][1].engine, results[0][1].spec or ()) if results else None
        of_arguments = sum(largest.values())
        taken = all_but_largest([*largest.values()] * self.takes)
        moves = max(taken, (self.joins - 1) * of_results)
        return Cost(moves, self.arguments * of_arguments + self.results * of_results, spec)


class Either:
    """One of two rules, chosen by a test of the arguments; the first is that of most calls."""

    def __init__(self, test: Callable[[Mapping[str, Any]], bool], rule: Rule, other: Rule) -> None:
        self.test, self.rule, self.other = test, rule, other
        self.bound = max(bound(rule), bound(other))

    def __call__(self, given: Mapping[str, Any]) -> Cost:
        """The cost by the rule that the test chooses."""
        return (self.rule if self.test(given) else self.other)(given)


Rule: TypeAlias = Callable[[Mapping[str, Any]], Cost] | Whole | Chunks | Either


def bound(rule: Rule | None) -> float:
    """What a task holds at most, in multiples of the bytes of all arguments and results; infinity if it is unknown."""
    return getattr(rule, "bound", inf)


def takes_results(rule: Rule | None) -> bool:
    """Whether the arguments of a rule include the results of the call."""
    return isinstance(rule, Chunks) or (isinstance(rule, Either) and any(map(takes_results, (rule.rule, rule.other))))


def elementwise(given: Mapping[str, Any]) -> Cost:
    """Arrays that are split in the same way do not move; where a scheduler runs tasks, all chunks but the largest do.

    The result is split like the arrays.
    """
    arrays = [x for _, x in shardings(given)]
    ndim = max((len(x.shape) for x in arrays), default=0)
    specs = [(None,) * (ndim - len(x.shape)) + (x.spec or ()) for x in arrays]
    spec = tuple(next((axis for axis in axes if axis), None) for axes in zip(*specs, strict=True))
    shape = tuple(max(axes) for axes in zip(*(_on_left(x.shard_shape, ndim) for x in arrays), strict=True))
    item = min(sum(x.itemsize for x in arrays), 16)  # complex64 and float64 give complex128
    differ = any(x.engine and _on_left(x.counts, ndim) != _on_left(arrays[0].counts, ndim) for x in arrays)
    nbytes = [x.shard_bytes or 0 for x in arrays]
    engine = next((x.engine for x in arrays if x.engine), None)
    is_scheduled = any(x.is_scheduled for x in arrays)
    moves = all_but_largest(nbytes) if is_scheduled else None if differ else 0
    return Cost(moves, sum(nbytes) + prod(shape) * max(item, 8), described(engine, spec))


def all_but_largest(nbytes: Iterable[int]) -> int:
    """What moves to a task of Dask that takes arrays of these bytes: the scheduler runs it where the largest is."""
    each = list(nbytes)
    return sum(each) - max(each, default=0)


def combined(x: Sharding, axes: Collection[int]) -> int:
    """How many partial results along some axes a device receives.

    A task of Dask combines at most 4 along one axis, or 2 along each of several; all but one move.
    """
    if not x.is_scheduled:
        return int(any(x.counts[axis] > 1 for axis in axes))
    return prod(min(x.counts[axis], 4 if len(axes) == 1 else 2) for axis in axes) - 1


def reduction(given: Mapping[str, Any], values: int = 1) -> Cost:
    """The axes of the argument ``axis`` disappear; where they are split, the partial results are combined.

    A partial result has ``values`` numbers for each element of the result.
    """
    x: Sharding = given["x"]
    axes = Whole({"x": "axis"}).axes_of("x", x, given)
    item = 16 if x.is_complex and x.is_scheduled else max(x.itemsize, 8)  # sums are more precise than elements
    of_result = prod(extent for i, extent in enumerate(x.shard_shape) if i not in axes) * item
    moves = combined(x, axes) * values * of_result
    spec = [axis for i, axis in enumerate(x.spec or ()) if i not in axes]
    if given.get("keepdims"):
        spec = [None if i in axes else axis for i, axis in enumerate(x.spec or ())]
    return Cost(moves, 4 * (x.shard_bytes or 0) + _COMBINED * of_result, described(x.engine, spec))


def normalised(given: Mapping[str, Any]) -> Cost:
    """Where the axes are split, the maxima, whether these are NaN, and the sums are combined."""
    x: Sharding = given["x"]
    axes = Whole({"x": "axis"}).axes_of("x", x, given)
    rows = prod(extent for i, extent in enumerate(x.shard_shape) if i not in axes)
    moves = combined(x, axes) * rows * (2 * max(x.itemsize, 4) + 1)
    if x.is_scheduled:  # a task combines a chunk with its maxima
        moves = max(moves, rows * max(x.itemsize, 8))
    holds = 4 * prod(x.shard_shape) * max(x.itemsize, 8) + _COMBINED * rows * 8
    return Cost(moves, holds, described(x.engine, x.spec or ()))


def is_tall(x: Sharding) -> bool:
    """Whether a matrix is split along its rows alone, with at least as many rows in a shard as columns."""
    return len(x.shape) == 2 and x.counts[1] == 1 < x.counts[0] and x.shard_shape[0] >= x.shape[1]


def tall(given: Mapping[str, Any]) -> Cost:
    """The rule of TSQR (https://arxiv.org/abs/0808.2664): the small factors R of all shards move, and are factorised.

    It serves the matrices of `is_tall`. Others are whole.
    """
    x: Sharding = given["x"]
    is_reduced = given.get("mode", "reduced") == "reduced" and not given.get("full_matrices")
    if not is_reduced or not is_tall(x):
        return OF_MATRICES(given)
    factors = x.counts[0] * x.shape[1] ** 2 * x.itemsize
    return Cost(factors, 3 * ((x.shard_bytes or 0) + factors), described(x.engine, x.spec or ()))


_COMBINED = 16
"""The partial results that one task of Dask combines, at most: 2 along each of four axes."""


def _on_left(extents: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """Extents with ones in front, as for broadcasting."""
    return (1,) * (ndim - len(extents)) + extents


_ELEMENTWISE = """
abs acos acosh add asin asinh astype atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal erf exp expm1 floor floor_divide greater
greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not
logical_or logical_xor maximum minimum multiply nan_to_num negative nextafter not_equal positive pow real reciprocal
remainder round sigmoid sign signbit sin sinh sqrt square subtract tan tanh trunc where
"""
_REDUCTIONS = "all any count_nonzero max mean min nanmax nanmin nansum prod sum"
_OF_PAIRS = "argmax argmin nanmean"
_ALONG_AXIS = "sort argsort partition argpartition topk"
_QUANTILES = "median nanmedian quantile nanquantile percentile nanpercentile"
_OF_MATRICES = "cholesky eigh eigvalsh eig eigvals inv pinv qr svd svdvals solve lstsq det slogdet matrix_rank"
OF_MATRICES = Whole({"x": "matrix", "x1": "matrix", "x2": "matrix"}, copies=3)
"""The rule of functions of whole matrices: their factors and NumPy's temporary copies."""
_FOURIER = "fft ifft rfft irfft hfft ihfft"

RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE.split(), elementwise),
    **dict.fromkeys(_REDUCTIONS.split(), reduction),
    **dict.fromkeys(_OF_PAIRS.split(), partial(reduction, values=2)),  # with a place, or a count
    **dict.fromkeys(("softmax", "log_softmax"), normalised),
    **dict.fromkeys(_ALONG_AXIS.split(), Whole({"x": "axis"}, item=8)),
    **dict.fromkeys(_QUANTILES.split(), Whole({"x": "axis"}, drops=True, copies=2)),
    **{f"fft.{name}": Whole({"x": "axis"}, copies=1.5, item=16) for name in _FOURIER.split()},
    **{f"fft.{name}": Whole({"x": "axes"}, copies=2, item=16) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{f"linalg.{name}": OF_MATRICES for name in _OF_MATRICES.split()},
    "take": Whole({"x": "axis"}, like="indices", item=8),
    "take_along_axis": Whole({"x": "axis", "indices": "axis"}, like="indices"),
    "isin": Whole({"x2": "all"}, like="x1", copies=2),
    "searchsorted": Whole({"x1": "all"}, like="x2"),
    **dict.fromkeys(("histogram", "bincount"), Whole({"x": "all", "weights": "all"}, drops=True, copies=1.1)),
}
"""The rules of functions, by name. Functions that are not listed have no rule."""
