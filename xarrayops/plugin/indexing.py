"""NumPy's indexing in steps that mean the same in every library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from types import EllipsisType
from typing import Any

from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array, Record

BASIC = frozenset({int, slice, EllipsisType, type(None)})
"""The classes of the entries of a basic index, which selects a view."""
UFUNCS = {name: name for name in ("add", "subtract", "multiply", "divide")} | {"min": "minimum", "max": "maximum"}
"""The function of the standard that combines old and new elements, for each operation of an update except ``set``."""
_EVERYTHING = slice(None)


class Selection(Record):
    """The elements ``x[index]``, in steps that mean the same in every library.

    ``y = x[basic]``, then ``y = permute_dims(y, order)``, then ``y = y[arrays]``, where the arrays index the first
    axes; then the axes of y in ``flipped`` are reversed, and ``permute_dims(y, outward)`` is the result.
    """

    basic: tuple[Any, ...]
    """Integers, None, and slices with positive steps: one entry for each axis of x, and no ellipsis."""
    order: tuple[int, ...]
    """The axes of ``x[basic]`` that the arrays index, followed by the others."""
    arrays: tuple[Array, ...]
    """Arrays of integers and masks. A mask indexes as many axes as it has."""
    batch: tuple[int | None, ...]
    """The shape to which the arrays broadcast; None for the extents that depend on the values of a mask."""
    rest: tuple[int, ...]
    """The extents of the axes that no array indexes."""
    first: int
    """The position in the result at which NumPy puts the axes of the arrays."""
    flipped: tuple[int, ...]
    """The axes that a negative step reverses; counted when the axes of the arrays come first."""

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape of the result; None for the extents that depend on the values of a mask."""
        return (*self.rest[: self.first], *self.batch, *self.rest[self.first :])

    @property
    def inward(self) -> tuple[int, ...]:
        """The permutation of the result that puts the axes of the arrays first."""
        end = self.first + len(self.batch)
        return (*range(self.first, end), *range(self.first), *range(end, end + len(self.rest) - self.first))

    @property
    def outward(self) -> tuple[int, ...]:
        """The inverse of `inward`."""
        count = len(self.batch)
        return (*range(count, count + self.first), *range(count), *range(count + self.first, count + len(self.rest)))

    def padded(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a value with as many axes as the result: missing ones have extent 1.

        As in NumPy's assignment, further axes in front are dropped if their extent is 1.

        Raises
        ------
        ValueError
            The value does not broadcast to the shape of the result.
        """
        wanted = self.shape
        extra = len(shape) - len(wanted)
        padded = (1,) * -extra + tuple(shape[max(extra, 0) :])
        pairs = zip(padded, wanted, strict=True)
        fits = all(have in (1, want) or want is None or _is_unknown(have, want) for have, want in pairs)
        if not fits or any(extent != 1 for extent in shape[: max(extra, 0)]):
            known = str(tuple("?" if extent is None else extent for extent in wanted)).replace("'", "")
            raise ValueError(
                f"a value of shape {tuple(shape)} does not broadcast to the shape of the elements, {known}"
            )
        return padded


class Index:
    """The index of an update, as hooks receive it.

    Attributes
    ----------
    entries : tuple
        Integers, slices, None, Ellipsis, and arrays of the library of x: integers or masks, also 0-d. The user's lists
        and Python bools were converted to such arrays.
    functions : mapping
        The functions of the library of x, by name. The methods call those that move elements.
    is_basic : bool
        Whether no entry is an array. A basic index may be out of bounds; `selection` checks it.
    """

    __slots__ = ("entries", "functions", "is_basic")

    def __init__(
        self, entries: tuple[Any, ...], functions: Mapping[str, Callable[..., Any]], *, is_basic: bool
    ) -> None:
        self.entries = entries
        self.functions = functions
        self.is_basic = is_basic

    @property
    def nbytes(self) -> float:
        """The bytes of the arrays of the index; NaN if the size of one is unknown."""
        return sum(getattr(entry, "nbytes", 0) for entry in self.entries)

    def is_mask(self, array: Array) -> bool:
        """Whether an array of the index is a mask."""
        name: str | None = self.functions["dtype_name"](array.dtype)
        return name == "bool"

    def selection(self, shape: Sequence[int]) -> Selection:
        """The steps by which the index selects elements of an array of that shape.

        Raises
        ------
        IndexError
            An integer is out of bounds, the shape of a mask differs from the axes that it indexes, or the array has too
            few axes.
        """
        return _Reading(self, tuple(shape)).selection()

    def lone_mask(self, selection: Selection) -> Array | None:
        """The mask if it is the only array of the index; then no shape depends on its values until they are counted."""
        arrays = selection.arrays
        return arrays[0] if len(arrays) == 1 and self.is_mask(arrays[0]) else None

    def integers(self, selection: Selection) -> tuple[Array, ...]:
        """The arrays of the selection, masks replaced by the positions of True; one array for each axis."""
        found: list[Array] = []
        for array in selection.arrays:
            found += self.functions["nonzero"](array) if self.is_mask(array) else [array]
        _broadcast([tuple(array.shape) for array in found])
        return tuple(found)

    def counted(self, selection: Selection) -> Selection:
        """The selection with the extents that depend on the values of masks; it reads them."""
        if None not in selection.batch:
            return selection
        return selection._replace(batch=_broadcast([tuple(array.shape) for array in self.integers(selection)]))

    def arranged(self, selection: Selection, value: Array) -> Array:
        """The value with the axes of ``x[basic][arrays]``: the axes of the arrays first, none reversed."""
        f, padded = self.functions, selection.padded(value.shape)
        if padded != tuple(value.shape):
            value = f["reshape"](value, padded)
        if selection.first and selection.batch:
            value = f["permute_dims"](value, selection.inward)
        return f["flip"](value, axis=selection.flipped) if selection.flipped else value

    def restored(self, selection: Selection, y: Array) -> Array:
        """The inverse of `arranged` for the selected elements."""
        y = self.functions["flip"](y, axis=selection.flipped) if selection.flipped else y
        return self.functions["permute_dims"](y, selection.outward) if selection.first and selection.batch else y


class _Reading:
    """One pass over the entries of an index."""

    def __init__(self, index: Index, shape: tuple[int, ...]) -> None:
        self.index, self.shape = index, shape
        self.axis = 0  # of x
        self.basic: list[Any] = []
        self.of_arrays: list[int] = []  # axes of x[basic]
        self.of_rest: list[int] = []
        self.arrays: list[Array] = []
        self.rest: list[int] = []
        self.backward: list[int] = []  # among the axes that no array indexes
        self.runs: list[int] = []  # for each run of integers and arrays, the number of axes in `rest` before it

    def selection(self) -> Selection:
        in_run = False
        for entry in self._entries():
            is_fixed = not (entry is None or entry is Ellipsis or type(entry) is slice)
            if is_fixed and not in_run:
                self.runs.append(len(self.rest))
            in_run = is_fixed
            if is_fixed:
                self._fix(entry)
            elif entry is None:
                self._keep(None, 1)
            elif entry is not Ellipsis:
                self._keep(*self._sliced(entry))
                self.axis += 1
        batch = self._batch()
        return Selection(
            basic=tuple(self.basic),
            order=(*self.of_arrays, *self.of_rest),
            arrays=tuple(self.arrays),
            batch=batch,
            rest=tuple(self.rest),
            first=self.runs[0] if len(self.runs) == 1 else 0,
            flipped=tuple(len(batch) + place for place in self.backward),
        )

    def _entries(self) -> list[Any]:
        """The entries, with whole axes where the ellipsis stands or, without one, at the end.

        The ellipsis stays: it separates arrays even if it stands for no axes.
        """
        entries = self.index.entries
        taken = sum(self._axes_of(entry) for entry in entries)
        spare = len(self.shape) - taken
        if spare < 0:
            raise IndexError(f"the index has {taken} axes, and x, of shape {self.shape}, has {len(self.shape)}")
        places = [i for i, entry in enumerate(entries) if entry is Ellipsis] or [len(entries)]
        if len(places) > 1:
            raise IndexError("an index can have only one ellipsis")
        return [*entries[: places[0]], *([_EVERYTHING] * spare), *entries[places[0] :]]

    def _axes_of(self, entry: Any) -> int:
        """How many axes of x an entry indexes."""
        if entry is None or entry is Ellipsis:
            return 0
        return 1 if type(entry) in BASIC or not self.index.is_mask(entry) else int(entry.ndim)

    def _keep(self, entry: Any, extent: int) -> None:
        """An axis that no array indexes."""
        self.of_rest.append(len(self.of_arrays) + len(self.of_rest))
        self.basic.append(entry)
        self.rest.append(extent)

    def _fix(self, entry: Any) -> None:
        """An integer, or an array and the axes that it indexes."""
        if type(entry) is int:
            extent = self.shape[self.axis]
            if not -extent <= entry < extent:
                raise IndexError(f"{entry} is out of bounds for axis {self.axis} of x, of shape {self.shape}")
            self.basic.append(entry)
            self.axis += 1
            return
        count = 1
        if self.index.is_mask(entry):
            count, wanted = int(entry.ndim), self.shape[self.axis : self.axis + int(entry.ndim)]
            if not all(have == want or _is_unknown(have, want) for have, want in zip(entry.shape, wanted, strict=True)):
                raise IndexError(
                    f"a mask of shape {tuple(entry.shape)} does not index axes of shape {wanted}; "
                    f"x has shape {self.shape}"
                )
        if count == 0:  # a mask without axes indexes a new axis of extent 1
            self.basic.append(None)
            self.of_arrays.append(len(self.of_arrays) + len(self.of_rest))
            entry = self.index.functions["reshape"](entry, (1,))
        for _ in range(count):
            self.basic.append(_EVERYTHING)
            self.of_arrays.append(len(self.of_arrays) + len(self.of_rest))
        self.arrays.append(entry)
        self.axis += count

    def _sliced(self, entry: slice) -> tuple[slice, int]:
        """The slice with a positive step that selects the same elements, and their number."""
        extent = self.shape[self.axis]
        if entry.start is entry.stop is entry.step is None:
            return entry, extent
        try:
            run = range(extent)[entry]
        except (TypeError, ValueError) as error:
            if type(entry.step) is int and entry.step == 0:
                raise ValueError("the step of a slice cannot be 0") from None
            raise Unsupported(
                f"the bounds of a slice must be integers that are known, not {entry.start!r}, {entry.stop!r} and "
                f"{entry.step!r}. Instead: an array of indices, such as xo.arange(n, like=x) + start"
            ) from error
        if not run:
            return slice(0, 0, 1), 0
        if run.step > 0:
            return slice(run[0], run[-1] + 1, run.step), len(run)
        self.backward.append(len(self.rest))
        return slice(run[-1], run[0] + 1, -run.step), len(run)

    def _batch(self) -> tuple[int | None, ...]:
        """The shape to which the arrays broadcast."""
        shapes = [tuple(array.shape) for array in self.arrays if not self.index.is_mask(array)]
        count = max([1 if self.index.is_mask(array) else len(array.shape) for array in self.arrays] or [0])
        return _broadcast(shapes) if len(shapes) == len(self.arrays) else (None,) * count


def _broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which arrays of an index broadcast."""
    batch = [1] * max([len(shape) for shape in shapes] or [0])
    for shape in shapes:
        for axis, extent in enumerate(shape, len(batch) - len(shape)):
            if extent != 1 and batch[axis] not in (1, extent) and not _is_unknown(extent, batch[axis]):
                listed = ", ".join(map(str, shapes))
                raise IndexError(f"the arrays of the index have shapes {listed}, which do not broadcast")
            batch[axis] = batch[axis] if extent == 1 else extent
    return tuple(batch)


def _is_unknown(*extents: Any) -> bool:
    """Whether an extent depends on values that are not computed (Dask)."""
    return any(type(extent) is float and isnan(extent) for extent in extents)
