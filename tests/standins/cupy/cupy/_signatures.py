"""CuPy's signatures and ufunc loops, as read by tools/cupy_signatures.py. The stand-in refuses what they refuse."""

import inspect
import json
from functools import cache, wraps
from pathlib import Path
from types import FunctionType

import numpy as np

_FILE = json.loads((Path(__file__).parents[2] / "cupy_signatures.json").read_text())
SIGNATURES, LOOPS = _FILE["signatures"], _FILE["loops"]
DEFINED = set()
"""The qualified names that the stand-in defines; all are in the file of signatures."""
_PROTOCOL = ("__dlpack__", "__dlpack_device__", "__init__")


def enforce(prefix, namespace):
    """Make the functions and classes of a module refuse the arguments that CuPy refuses."""
    for name, value in list(namespace.items()):
        borrowed = value is getattr(np, name, None) or not callable(value)
        if not name.startswith("_") and not borrowed:
            namespace[name] = _enforced(f"{prefix}.{name}", value)


def enforce_class(qualified, cls):
    """The same for the methods of a class; ``qualified`` names the class in CuPy, which may have fewer bases."""
    DEFINED.add(qualified)
    for name, value in list(vars(cls).items()):
        if (name.startswith("_") and name not in _PROTOCOL) or not isinstance(value, (FunctionType, property)):
            continue
        method = qualified if name == "__init__" else f"{qualified}.{name}"
        DEFINED.add(method)
        if isinstance(value, FunctionType) and SIGNATURES.get(method) is not None:
            setattr(cls, name, _checked(method, value, skipped=1))


def _enforced(qualified, value):
    DEFINED.add(qualified)
    if inspect.isclass(value):
        if value.__module__.startswith("cupy"):
            enforce_class(qualified, value)
        return value
    if hasattr(value, "nin"):
        value.qualified = qualified
        return value
    return _checked(qualified, value) if SIGNATURES.get(qualified) is not None else value


def _checked(qualified, function, skipped=0):
    @wraps(function)
    def checked(*args, **kwargs):
        check(qualified, args[skipped:], kwargs)
        return function(*args, **kwargs)

    return checked


def check(qualified, args, kwargs):
    """Raise TypeError if CuPy's function does not accept these arguments."""
    try:
        _signature(qualified).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{qualified}: {error}") from None


@cache
def _signature(qualified):
    return inspect.signature(eval(f"lambda {SIGNATURES[qualified]}: None"))


def results(qualified, dtypes):
    """The result dtypes of a ufunc for operands of these dtypes, from the first loop that accepts them.

    None means an operand without a dtype. Raises TypeError, like CuPy, if there is no such loop.
    """
    for inputs, outputs in _loops(qualified):
        if all(given is None or np.can_cast(given, taken) for given, taken in zip(dtypes, inputs, strict=True)):
            return outputs
    raise TypeError(f"Wrong type ({dtypes}) of arguments for {qualified}")


@cache
def _loops(qualified):
    loops = (loop.split("->") for loop in LOOPS[qualified].split())
    return [tuple([_dtype(char) for char in side] for side in loop) for loop in loops if _has_types(loop)]


def _has_types(loop):
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        return "E" not in "".join(loop)
    return True


def _dtype(char):
    if char != "E":
        return np.dtype(char)
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)
