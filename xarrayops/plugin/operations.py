"""A user-defined operation as a backend sees it, and the tests of a call before a kernel gets it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from xarrayops.plugin.arrays import Record
from xarrayops.plugin.candidates import constant_while_tracing

OPTION_TYPES = (type(None), bool, int, float, complex, str)
"""The classes of the options of an operation; options may also be tuples of them."""
_SIGNATURE = re.compile(r"\((\w+(,\w+)*)?\)(,\((\w+(,\w+)*)?\))*->\((\w+(,\w+)*)?\)(,\((\w+(,\w+)*)?\))*")
_NO_NAMES: Mapping[str, Any] = {}


class Operation(Record):
    """An operation for the arrays of one library.

    ``name`` is ``"namespace::name"``. ``arrays`` are the names of the parameters that take arrays; all functions here
    are called with one positional argument for each of them (None where it was omitted), and with the options by
    keyword. ``serve`` calls the first kernel that can serve the arrays, or the reference; the arrays have values.
    ``reference`` is the array code that defines the operation. ``gradient`` is the user's, or None:
    ``gradient(g, *arrays, **options)`` returns one array or None for each array. ``has_kernel``: whether there is a
    kernel for this library. ``blockwise`` is the signature of a generalized ufunc, such as ``"(i),(i)->(i)"``, or None:
    then ``function``, which users call, serves the blocks.
    """

    name: str
    arrays: tuple[str, ...]
    serve: Callable[..., Any]
    reference: Callable[..., Any]
    function: Callable[..., Any]
    gradient: Callable[..., Any] | None = None
    has_kernel: bool = False
    blockwise: str | None = None


class CallTests(Record):
    """Python expressions that test the arrays of a call. The function that serves an operation is generated from them.

    In each, ``{x}`` stands for an array of the library. ``eager``: true where no transformation (a trace, a gradient,
    a batch) needs to see the operation. ``eager_array``: the same for one array. ``order``: whether an array is
    contiguous, by "C" and "F". ``device``: whether it is on a device of a kind, by the kind; under "any", whether it
    has values on any device of this library. ``aligned``: whether an array is aligned as its dtype
    requires; empty if arrays of the library always are. ``address``: the address of its first element. ``names`` has
    the objects that the expressions use.
    """

    eager: str = ""
    eager_array: str = ""
    order: Mapping[str, str] = _NO_NAMES
    device: Mapping[str, str] = _NO_NAMES
    aligned: str = ""
    address: str = ""
    names: Mapping[str, Any] = _NO_NAMES


def core_dimensions(signature: str) -> list[int]:
    """The number of core dimensions of each input of a generalized ufunc.

    Raises
    ------
    ValueError
        The text is not such a signature.

    Examples
    --------
    >>> core_dimensions("(i,j),(),(j)->(i)")
    [2, 0, 1]
    """
    if not _SIGNATURE.fullmatch(signature.replace(" ", "")):
        raise ValueError(f'{signature!r} is not the signature of a generalized ufunc, such as "(i,j),(j)->(i)"')
    inputs = signature.replace(" ", "").partition("->")[0]
    return [len([name for name in each.split(",") if name]) for each in inputs[1:-1].split("),(")]


@constant_while_tracing
def written_options(options: Mapping[str, Any]) -> str:
    """The options as text, which a compiled or exported program can store.

    Raises
    ------
    TypeError
        An option is neither None, a number, a string nor a tuple of these.

    Examples
    --------
    >>> written_options({"eps": 1e-06, "axes": (0, 1)})
    "{'eps': 1e-06, 'axes': (0, 1, )}"
    """
    return f"{{{', '.join(f'{name!r}: {_written(name, value)}' for name, value in options.items())}}}"


def _written(name: str, value: Any) -> str:
    if type(value) is tuple:
        return f"({''.join(f'{_written(name, each)}, ' for each in value)})"
    if type(value) not in OPTION_TYPES:
        raise TypeError(
            f"option {name}={value!r} is a {type(value).__name__}; in a compiled function, under a gradient or a batch "
            "the options of an operation are None, numbers, strings, and tuples of these"
        )
    if type(value) is float and value - value != 0:  # Python has no literals for inf and nan
        return "{'nan'}" if value != value else "1e999" if value > 0 else "-1e999"
    return repr(value)


@lru_cache(maxsize=1024)
def options_of(written: str) -> dict[str, Any]:
    """Parse the text of `written_options`. Law: ``options_of(written_options(options)) == options``; NaN stays NaN."""
    from ast import literal_eval

    return {name: _read(value) for name, value in literal_eval(written).items()}


def _read(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_read, value))
    return float("nan") if type(value) is set else value
