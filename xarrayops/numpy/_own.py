"""What only NumPy has: objects, text, dates, records, its subclasses, its other arguments. NumPy itself serves them.

A program that ran with ``import numpy as np`` runs as before with ``import xarrayops.numpy as np``: if
`xarrayops.numpy` refuses a call whose arrays are all NumPy's, or one without arrays while NumPy is the default library,
NumPy's function of the same name is called. Its result, or the class of its error, is the program's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.resolved import is_traced
from xarrayops._core.dispatch.errors import with_text
from xarrayops._core.modes.defaults import of_new_arrays
from xarrayops.errors import MixedBackends, XArrayOpsError
from xarrayops.plugin import nested


class OnlyNumPy(XArrayOpsError, TypeError):
    """An argument that only NumPy's functions take: a dtype that is not numeric, or an object of its protocols."""


def is_followed(x: Any) -> bool:
    """Whether an object that is not an array tells NumPy's functions what to return."""
    return hasattr(type(x), "__array_ufunc__") or hasattr(type(x), "__array_function__")


def is_default() -> bool:
    """Whether new arrays are NumPy's."""
    return of_new_arrays()[0] in ("numpy", find.named("numpy"))


def by_numpy(name: str, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of NumPy's function for a call that we refuse; raises the error if the call is not NumPy's.

    If NumPy's function raises too, its class of error has the text of ours, which says what to write instead.
    """
    is_refusal = isinstance(error, XArrayOpsError | OverflowError) and not isinstance(error, MixedBackends)
    function = _numpys(name.removeprefix("np.")) if is_refusal and not is_traced() else None
    if function is None or not _is_of_numpy(args, kwargs):
        raise error
    import numpy

    try:
        found = function(*args, **{key: value for key, value in kwargs.items() if key != "like"})
    except Warning:
        raise
    except Exception as theirs:
        if isinstance(error, type(theirs)):
            raise error from None
        raise with_text(type(theirs), str(error)) from error
    given = nested.leaves([*args, kwargs])
    is_of_objects = isinstance(found, numpy.ndarray) and found.dtype.hasobject
    if is_of_objects and any(find.of_container(type(x)) is not None for x in given):
        raise error  # NumPy reads a sparse container as one object
    return found


def _is_of_numpy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether all arrays of a call are NumPy's, or new arrays are, and the call can be repeated."""
    import numpy

    has_array = False
    for x in nested.leaves([*args, kwargs]):
        if find.refusal(x) is not None and not isinstance(x, numpy.ndarray | numpy.generic):
            return False  # an array of another library, which NumPy would read or refuse in its own words
        owner = find.of_class(type(x))
        if (owner is not None and owner.name != "numpy") or isinstance(x, Iterator):
            return False
        if (container := find.of_container(type(x))) is not None and container.name != "numpy":
            return False
        has_array |= owner is not None
    return has_array or is_default()


@cache
def _numpys(name: str) -> Callable[..., Any] | None:
    import numpy

    try:
        found: Callable[..., Any] = attrgetter(name)(numpy)
    except AttributeError:  # an older version
        return None
    return found
