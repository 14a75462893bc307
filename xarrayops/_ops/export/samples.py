"""Further arguments to compare an exported file at: other values, and other lengths of dynamic axes.

They are made from the values of the examples, so that most functions accept them: in another order, with the opposite
sign, and repeated: an n by n matrix becomes blocks on the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._ops import agreement
from xarrayops._ops.export.request import Request
from xarrayops.plugin.arrays import Array, Record

LARGE = 1 << 20
"""The maximum number of elements of the arguments at the third length."""


class Sample(Record):
    """The arrays of a call, its label in the report, and the result of the function."""

    label: str
    arrays: tuple[Array, ...]
    want: Any


class Proposal(Record):
    """Arguments that the function may or may not accept."""

    label: str
    arrays: tuple[Array, ...]


def other_lengths(request: Request) -> list[dict[str, int]]:
    """Further lengths of the dynamic axes: a shorter one if possible, a longer one, and a much longer one.

    The longer ones are different prime numbers, so that relations between the lengths of the examples do not hold.
    """
    sizes = request.sizes
    if not sizes:
        return []
    shorter = {name: max(2, n // 2) for name, n in sizes.items()}
    longer = _primes({name: 2 * n for name, n in sizes.items()})
    farther = _primes({name: 9 * n for name, n in sizes.items()})
    found = [shorter] if all(shorter[name] < n for name, n in sizes.items()) else []
    found.append(longer)
    count = sum(prod(farther.get(axes.get(i, ""), n) for i, n in enumerate(x.shape)) for x, axes in _axes(request))
    return [*found, farther] if count <= LARGE or len(found) < 2 else found


def _axes(request: Request) -> Iterator[tuple[Array, dict[int, str]]]:
    return zip(request.arrays, request.axes, strict=True)


def _primes(least: Mapping[str, int]) -> dict[str, int]:
    """Different prime numbers above these."""
    found: dict[str, int] = {}
    for name, n in least.items():
        n += 1
        while n in found.values() or any(n % k == 0 for k in range(2, int(n**0.5) + 1)):
            n += 1
        found[name] = n
    return found


def other_values(request: Request) -> Iterator[Proposal]:
    """The examples with other values."""
    yield Proposal("other values", mixed(request, {}))
    yield Proposal("opposite signs", _changed(request, {}, _opposite))


def at_lengths(request: Request, sizes: Mapping[str, int]) -> Iterator[Proposal]:
    """The examples at other lengths, beginning with those that differ most from the examples."""
    label = ", ".join(f"{name} = {n}" for name, n in sizes.items())
    yield Proposal(label, mixed(request, sizes))
    yield Proposal(label, _changed(request, sizes, _blocks))


def mixed(request: Request, sizes: Mapping[str, int]) -> tuple[Array, ...]:
    """The examples at other lengths, with their values in another order."""
    import numpy as np

    random = np.random.default_rng(0)

    def of_array(values: Any, lengths: dict[int, int]) -> Any:
        found = _wrapped(values, lengths)
        return random.permutation(found.reshape(-1)).reshape(found.shape)

    return _changed(request, sizes, of_array)


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


def _changed(
    request: Request, sizes: Mapping[str, int], change: Callable[[Any, dict[int, int]], Any]
) -> tuple[Array, ...]:
    """The examples, changed as values in host memory; arrays without host values, such as JAX keys, are unchanged."""
    found = []
    for x, axes in _axes(request):
        lengths = {axis: sizes[name] for axis, name in axes.items() if name in sizes}
        values = _values(x)
        found.append(x if values is None else _array_like(x, change(values, lengths), request.own))
    return tuple(found)


def _values(x: Array) -> Any:
    import numpy as np

    try:
        return np.array(agreement.host(x), order="C")
    except Exception:
        return None


def _array_like(x: Array, values: Any, own: Backend) -> Array:
    functions = own.functions
    return functions["astype"](functions["from_numpy"](values, functions["device"](x)), x.dtype)


def _wrapped(values: Any, lengths: Mapping[int, int]) -> Any:
    """The values at other lengths, repeated from the start after the last one."""
    import numpy as np

    for axis, length in lengths.items():
        values = np.take(values, np.arange(length), axis=axis, mode="wrap")
    return values


def _opposite(values: Any, lengths: dict[int, int]) -> Any:
    """The values with the opposite sign, and booleans inverted. Integers may be indices and are unchanged."""
    if values.dtype.kind == "b":
        return ~values
    return -values if values.dtype.kind in "fc" else values


def _blocks(values: Any, lengths: dict[int, int]) -> Any:
    """The values at other lengths, and zeros between the blocks if both axes of square matrices change."""
    import numpy as np

    found = _wrapped(values, lengths)
    rank, n = values.ndim, values.shape[-1] if values.ndim else 0
    if {rank - 2, rank - 1} <= lengths.keys() and values.shape[-2] == n:
        rows, columns = np.ogrid[: found.shape[-2], : found.shape[-1]]
        found = np.where(rows // n == columns // n, found, np.zeros((), found.dtype))
    return found
