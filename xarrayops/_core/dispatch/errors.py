"""Add the function and its arrays to the messages of errors that a library or a kernel raises.

A generated function does this::

    try:
        return f(x, ...)
    except FAILURES as error:
        add_call(error, "bincount", x)
        raise

The error stays the same object, with its class and traceback. Only a bare RuntimeError or NotImplementedError, which
libraries raise for invalid arguments, is replaced by a subclass of it: `InvalidArguments`, a ValueError, or
`Unsupported`. Calls that succeed cost nothing more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import wraps
from types import FrameType, FunctionType
from typing import Any, ParamSpec, TypeVar

from xarrayops._core.backends import find
from xarrayops._core.backends.mixed import described, sparse_argument, written
from xarrayops._core.dispatch.arguments import roles
from xarrayops.errors import InvalidArguments, NotAnArray, Unsupported, XArrayOpsError
from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.plugin.nested import named_members
from xarrayops.plugin.sparse import CONTAINER_VERBS

P = ParamSpec("P")
R = TypeVar("R")
SHOWN = 8
"""The number of members of a sequence that a message shows."""
NOT_OF_ARGUMENTS = (
    *("allocate memory", "out of memory", "CUDA error", "HIP error", "ASSERT"),
    *("Inference tensor", "autograd", "backward", "requires grad"),
)
"""Parts of the messages of a RuntimeError whose cause is the machine, or the state of the library."""
OF_DTYPES = ("not implemented for", "dtypes not supported", "not supported for dtype")
"""Parts of messages of functions that lack a dtype."""
CASTS = 'Instead: xo.convert(x, "numpy"), or xo.astype to a dtype that the function supports'
FAILURES = (
    *(ArithmeticError, AssertionError, AttributeError, IndexError, MemoryError, NotImplementedError, RuntimeError),
    *(TypeError, ValueError),
)
"""The classes of errors to which the function is added. `NotImplementedError` is the base of `Unsupported`."""


def add_call(error: Exception, verb: str, *arguments: Any) -> None:
    """Put the function and its arguments before the message of an error, unless it names the function.

    If the text of the error cannot be changed (NumPy's AxisError), raises a new error of its class, or of the nearest
    base class that takes a text. If ``axis`` is a list, where a tuple is allowed and the library does not take a list,
    the error says so. If an argument is sparse (a tensor of a sparse layout), or another array that the library's
    functions do not take, raises `Unsupported` with what to write.
    """
    if _is_traced():
        return
    _refuse_list_of_axes(error, verb, sys._getframe(1))
    given = dict(zip(roles(verb), arguments, strict=False))
    refuse_arguments(error, verb, given)
    text = str(error) or type(error).__name__
    if text.startswith((f"xo.{verb}(", f"xo.{verb}:", f"xo.{verb} ")):
        return
    shown = ", ".join(_shown(x) for x in arguments if x is not None)
    text = f"xo.{verb}({shown}): {text}{_of_devices(text, given)}"
    if type(error) in (RuntimeError, NotImplementedError) and not any(part in text for part in NOT_OF_ARGUMENTS):
        if any(part in text for part in OF_DTYPES):
            raise Unsupported(f"{text.rstrip('.')}. {CASTS}") from error
        raise (InvalidArguments if type(error) is RuntimeError else Unsupported)(text) from error
    error.args = (text, *error.args[1:])
    if str(error) != text:
        raise with_text(type(error), text) from error


def _of_devices(text: str, arguments: dict[str, Any]) -> str:
    """What to write if the error is about devices and the arrays are on several; 0-d arrays may be on any."""
    if "device" not in text:
        return ""
    members = [each for name, x in arguments.items() for each in named_members(name, x, find.SCALARS)]
    held = [(name, found) for name, x in members if (found := _device_name(x)) is not None]
    first = next((pair for pair in held if pair[1] != "cpu"), None)
    other = next((pair for pair in held if first is not None and pair[1] != first[1]), None)
    if first is None or other is None:
        return ""
    move = f"xo.to_device({other[0]}, xo.device({first[0]}))"
    return f". {first[0]} is on {first[1]}, and {other[0]} is on {other[1]}. Instead: {move}"


def _device_name(x: Any) -> str | None:
    backend = find.of_class(type(x))
    with suppress(Exception):  # it must not replace the error that is reported
        held = None if backend is None or not x.shape else backend.device_of(x)
        return None if held is None else held.name
    return None


def _refuse_list_of_axes(error: Exception, verb: str, frame: FrameType) -> None:
    """Raise if the axes of the generated function are in a list, and its library takes only a tuple."""
    axis = frame.f_locals.get("axis")
    is_cause = isinstance(error, TypeError) or "hashable" in str(error)  # JAX hashes static arguments
    if isinstance(axis, list) and is_cause and all(type(each) is int for each in axis):
        function = frame.f_globals.get(frame.f_code.co_name)
        if "tuple" in getattr(function, "__annotations__", {}).get("axis", ""):
            raise TypeError(f"xo.{verb}: axis is a list. Instead: axis={tuple(axis)}") from error


def with_text(cls: type[Exception], text: str) -> Exception:
    """An error of a class with that text, or of its nearest base class that takes a text."""
    for base in cls.__mro__:
        with suppress(Exception):  # the classes of libraries may take any arguments
            made = base(text)
            if isinstance(made, Exception) and str(made) == text:
                return made
    raise AssertionError(f"{cls} is not a class of errors")


def explaining_arrays(
    verb: str, otherwise: Callable[..., Any] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function that is not generated: if an array argument causes an error, the error says what to write.

    ``otherwise`` gets the name, the error and the arguments: it returns a result, or raises.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        assert isinstance(function, FunctionType)
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        required = names[: len(names) - len(function.__defaults__ or ())]

        @wraps(function)
        def explained(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except Exception as error:  # JAX has classes of its own
                others = [f"args[{i}]" for i in range(len(names), len(args))]
                given = {**dict(zip((*names, *others), args, strict=False)), **kwargs}
                try:
                    refuse_arguments(error, verb, given, (*required, *others))
                    raise
                except Exception as explanation:
                    if otherwise is None:
                        raise
                    return otherwise(verb, explanation, args, kwargs)

        return explained

    return decorate


def refuse_arguments(error: Exception, verb: str, arguments: dict[str, Any], required: Collection[str] = ()) -> None:
    """Raise `Unsupported` if an array, or one in a sequence, is of a kind that functions of its library do not take.

    Raises `NotAnArray` if a required argument is None, and the error is one of Python about that.
    """
    if _is_traced():
        return
    text = str(error)
    is_own = text.startswith(written(verb))
    is_explained = is_own and (isinstance(error, XArrayOpsError) or "Instead" in text)
    is_of_none = not is_own and isinstance(error, (AttributeError, IndexError, TypeError))
    for argument, x in arguments.items():
        for name, member in named_members(argument, x, find.SCALARS):
            backend = find.of_class(type(member))
            if member is None and is_of_none and argument in required:
                raise NotAnArray(f"{written(verb)}: argument {name} is None, but it must be an array") from error
            if backend is None or (backend.name == "numpy" and verb.startswith("np.")):  # errors as NumPy has them
                continue
            if backend.has_sparse_layouts and backend.sparse.holds(member):
                if verb in CONTAINER_VERBS:  # these take containers, and their own errors name them
                    return
                raise sparse_argument(verb, name, member) from error
            gap = None if is_explained else backend.functions["failure_cause"](member, error)
            if gap is not None:
                raise Unsupported(f"{written(verb)}: argument {name}: {gap.of(name)}") from error


@constant_while_tracing
def _is_traced() -> bool:
    """Whether torch.compile is tracing. Dynamo calls this function itself; it cannot trace changes of an error."""
    return sys._getframe(1).f_globals["__name__"] != __name__


def _shown(x: Any) -> str:
    """An array by its library, dtype and shape; a sequence by its first members; other arguments as they are."""
    if isinstance(x, (tuple, list)):
        members = [*map(_shown, x[:SHOWN]), *["..."] * (len(x) > SHOWN)]
        return f"[{', '.join(members)}]" if isinstance(x, list) else f"({', '.join(members)}{',' * (len(x) == 1)})"
    backend = find.of_class(type(x))
    return repr(x) if backend is None else described(x, backend, device=False)
