"""Native kernels of users' operations: a compiled function over DLPack, as a backend calls it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import attrgetter
from typing import Any

from xarrayops.plugin.arrays import Array, Record

OPTION_TYPES = (bool, int, float, str)
"""The classes of the options that a native kernel takes."""
_form = attrgetter("shape", "dtype")
_KNOWN = 1024
"""The number of calls for which the shapes and dtypes of the results are cached."""


class NativeKernel(Record):
    """A compiled function, for the arrays of one library.

    ``name`` is unique. ``load`` builds the function if necessary and returns it: a tvm-ffi object, which takes objects
    with ``__dlpack__``, bool, int, float and str. ``reference`` is the array code with the same results. ``options``
    are the names of the options. ``device`` is the kind of device: "cpu", "cuda" or "rocm". The
    function is called with the arrays, the options, and an array for each result, which it fills.
    """

    name: str
    load: Callable[[], Callable[..., None]]
    reference: Callable[..., Any]
    options: tuple[str, ...]
    device: str


class Results(Record):
    """The shapes and dtypes of the results of a call, and whether they are in a tuple."""

    types: tuple[tuple[tuple[int, ...], Any], ...]
    is_tuple: bool

    @classmethod
    def of(cls, found: Any) -> Results:
        """The shapes and dtypes of the values that the reference returned."""
        is_tuple = isinstance(found, (tuple, list))
        listed = found if is_tuple else (found,)
        return cls(tuple((tuple(y.shape), y.dtype) for y in listed), is_tuple)

    def given(self, arrays: list[Array]) -> Any:
        """The results as the reference returns them."""
        return tuple(arrays) if self.is_tuple else arrays[0]


def eager_kernel(
    native: NativeKernel,
    *,
    results: Callable[..., Results],
    empty: Callable[[tuple[int, ...], Any, Array], Array],
    lent: Callable[[Array], Any] = lambda x: x,
    returned: Callable[[Array], Array] = lambda y: y,
) -> Callable[..., Any]:
    """A kernel for a library, for arrays that have values.

    Parameters
    ----------
    native : NativeKernel
        The compiled function.
    results : callable
        ``results(*arrays, **options)`` gives the results' shapes and dtypes. It is called once for all calls whose
        arrays have the same shapes and dtypes, and whose options are the same; the values of floats do not count.
    empty : callable
        ``empty(shape, dtype, x)`` gives a new array in C order on the device of x.
    lent : callable
        ``lent(x)`` gives the object with ``__dlpack__`` for an array that is only read.
    returned : callable
        ``returned(y)`` converts a result to the class that the library's own functions return.
    """
    known: dict[Hashable, Results] = {}
    names = native.options
    load = native.load

    def kernel(*arrays: Array, **options: Any) -> Any:
        values = [options[name] for name in names]
        # The type of a number too, as 1 == True; of a float alone, which may change in each call, such as a step size.
        key = (*map(_form, arrays), *(x for x in values if type(x) is not float), *map(type, values))
        found = known.get(key)
        if found is None:
            if len(known) >= _KNOWN:
                known.clear()
            found = known[key] = results(*arrays, **options)
        filled = [empty(shape, dtype, arrays[0]) for shape, dtype in found.types]
        load()(*map(lent, arrays), *values, *filled)
        return found.given([returned(y) for y in filled])

    return kernel
