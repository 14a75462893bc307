"""Arguments to compare an exported file at, beside the examples: other values, and other lengths of dynamic axes.

They are made from the values of the examples, so that most functions accept them. A length has two proposals: mixed
values, and the structure of the examples, repeated: a matrix of n by n becomes blocks on the diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xarrayops._core.registry import Backend
from xarrayops._ops import agreement
from xarrayops._ops.export.request import Request
from xarrayops._protocol.records import Record
from xarrayops._protocol.types import Array


class Sample(Record):
    """The arrays of a call, its label in the report, and the result of the function."""

    label: str
    arrays: tuple[Array, ...]
    want: Any


def other_lengths(request: Request) -> list[dict[str, int]]:
    """Two further lengths of each dynamic axis: a shorter one, unless the example has two elements, and longer ones."""
    sizes = request.sizes
    if not sizes:
        return []
    shorter = {name: max(2, n // 2) for name, n in sizes.items()}
    longer = {name: 2 * n + 1 + i for i, (name, n) in enumerate(sizes.items())}
    longest = {name: 3 * n + 2 + 2 * i for i, (name, n) in enumerate(sizes.items())}
    has_shorter = all(shorter[name] < n for name, n in sizes.items())
    return [shorter, longer] if has_shorter else [longer, longest]


def mixed(request: Request, sizes: Mapping[str, int]) -> tuple[Array, ...]:
    """The examples at other lengths, with their values in another order."""
    import numpy as np

    random = np.random.default_rng(0)

    def of_array(values: Any, lengths: dict[int, int]) -> Any:
        found = _wrapped(values, lengths)
        return random.permutation(found.reshape(-1)).reshape(found.shape)

    return _changed(request, sizes, of_array)


def repeated(request: Request, sizes: Mapping[str, int]) -> tuple[Array, ...]:
    """The examples at other lengths, with their structure."""
    return _changed(request, sizes, _blocks)


def not_finite(request: Request) -> tuple[Array, ...] | None:
    """The examples with NaN and infinities; None if none has room for them."""
    import numpy as np

    changed = False

    def of_array(values: Any, lengths: dict[int, int]) -> Any:
        nonlocal changed
        if values.dtype.kind != "f" or values.size < 4:
            return values
        changed = True
        found = values.copy()
        found.reshape(-1)[[0, values.size // 2, values.size - 1]] = np.nan, np.inf, -np.inf
        return found

    arrays = _changed(request, {}, of_array)
    return arrays if changed else None


def _changed(request: Request, sizes: Mapping[str, int], change: Any) -> tuple[Array, ...]:
    return tuple(
        _array_like(x, change(_contiguous(x), {axis: sizes[name] for axis, name in axes.items() if name in sizes}), own)
        for x, axes in zip(request.arrays, request.axes, strict=True)
        for own in [request.own]
    )


def _contiguous(x: Array) -> Any:
    import numpy as np

    return np.array(agreement.host(x), order="C")


def _array_like(x: Array, values: Any, own: Backend) -> Array:
    functions = own.functions
    found: Array = functions["astype"](functions["from_numpy"](values, functions["device"](x)), x.dtype)
    return found


def _wrapped(values: Any, lengths: Mapping[int, int]) -> Any:
    """The values at other lengths, from the start again after the last one."""
    import numpy as np

    for axis, length in lengths.items():
        values = np.take(values, np.arange(length), axis=axis, mode="wrap")
    return values


def _blocks(values: Any, lengths: dict[int, int]) -> Any:
    """The values at other lengths, and zeros between the blocks if both axes of square matrices change."""
    import numpy as np

    found = _wrapped(values, lengths)
    rank, n = values.ndim, values.shape[-1] if values.ndim else 0
    if {rank - 2, rank - 1} <= lengths.keys() and values.shape[-2] == n:
        rows, columns = np.ogrid[: found.shape[-2], : found.shape[-1]]
        found = np.where(rows // n == columns // n, found, np.zeros((), found.dtype))
    return found


def proposals(request: Request, sizes: Mapping[str, int]) -> Iterator[tuple[Array, ...]]:
    """The arguments for some lengths, those first that differ most from the examples."""
    yield mixed(request, sizes)
    if sizes:
        yield repeated(request, sizes)
