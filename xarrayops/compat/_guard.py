"""A function of a namespace: ours for the calls that it serves, and array-api-compat's for all others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from xarrayops._surface import ROLES
from xarrayops.compat._reasons import ARRAYS, COMPLEX, DTYPES, FLOATING, UNSIGNED
from xarrayops.errors import Unsupported

CLASSES = {"numpy": "ndarray", "cupy": "ndarray", "torch": "Tensor", "dask.array": "Array"}
"""The class of the arrays of a library, by its name in the library."""
_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@cache
def checks(library: str) -> dict[str, Callable[[Any], bool]]:
    """By the name of the calls, a check of an argument. Subclasses such as masked arrays are array-api-compat's."""
    cls = getattr(import_module(library), CLASSES[library])
    if library == "torch":
        return _checks_of_torch(cls)
    scalars: Any = import_module("numpy").generic if library == "numpy" else ()

    def is_array(x: Any) -> bool:
        return type(x) is cls or isinstance(x, scalars)

    return {ARRAYS: is_array, FLOATING: lambda x: type(x) is cls and x.dtype.kind == "f"}


def _checks_of_torch(cls: Any) -> dict[str, Callable[[Any], bool]]:
    torch = import_module("torch")
    strided, typed = torch.strided, (cls, torch.dtype, int, float, complex)
    unsigned = frozenset({torch.uint8, torch.uint16, torch.uint32, torch.uint64})

    def is_dense(x: Any) -> bool:
        return isinstance(x, cls) and x.layout is strided

    return {
        ARRAYS: is_dense,
        DTYPES: lambda x: isinstance(x, typed),
        COMPLEX: lambda x: isinstance(x, cls) and x.is_complex() and x.layout is strided,
        UNSIGNED: lambda x: isinstance(x, cls) and x.dtype in unsigned and x.layout is strided,
    }


def guarded(
    verb: str,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    serves: Callable[[Any], bool],
    is_array: Callable[[Any], bool],
    module: str,
) -> Callable[..., Any]:
    """The function of a verb in a module. ``serves`` checks the first argument; a second one must be the library's."""
    parameters = signature(ours).parameters
    count = max(1, sum(role in ("array", "operand") for role in [*(ROLES.get(verb) or {}).values()][:2]))
    is_variadic = any(each.kind is Parameter.VAR_POSITIONAL for each in parameters.values())
    most = 1 << 20 if is_variadic else sum(each.kind in _POSITIONAL for each in parameters.values())

    @wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        # Keywords are checked before the call: torch.compile cannot trace the TypeError of a wrong call.
        if (
            count <= len(args) <= most
            and serves(args[0])
            and (count == 1 or is_array(args[1]))
            and (not kwargs or parameters.keys() >= kwargs.keys())
        ):
            try:
                return ours(*args, **kwargs)
            except (TypeError, Unsupported):
                pass  # the answer or the error is array-api-compat's
        return theirs(*args, **kwargs)

    if hasattr(theirs, "reduce"):  # callers use the methods and the attributes of a ufunc
        vars(function).update({name: getattr(theirs, name) for name in dir(theirs) if not name.startswith("_")})
    function.__module__, function.__name__ = module, verb.rpartition(".")[2]
    function.__qualname__ = function.__name__
    return function
