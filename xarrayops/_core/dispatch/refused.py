"""Parameters of functions of NumPy and PyTorch that ours reject: the error names what to use instead.

Python checks the arguments before a function runs. So a function has these parameters, and raises if one is given::

    @shows_own_parameters
    def sum(x, extra: Refused = NotGiven, /, axis=None, dtype=None, keepdims=False, out: Refused = None):
        if extra is not NotGiven or out is not None:
            raise wrong_call("sum", locals())
        ...

``extra`` is the place of a positional argument too many. The parameters after a refused one are keyword-only for tools
and in the stubs, though not for Python, which serves them faster then.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from inspect import Signature

Refused = Any
"""The annotation of a parameter that takes its default only."""
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class NotGiven:
    """The default of parameters for which None and all other values would be arguments."""


def wrong_call(verb: str, given: dict[str, Any]) -> TypeError:
    """The error for a call with arguments that NumPy or PyTorch takes and our function does not, with what to write."""
    from xarrayops._core.numpy_names.keywords import answer  # needed for errors only

    return TypeError(answer(verb, {name: value for name, value in given.items() if value is not NotGiven}))


class OwnParameters:
    """The link between a function and itself for `inspect`, which shows the signature without refused parameters.

    `inspect.signature` stops here, and `inspect.unwrap` goes on to a copy of the function, which ends the chain. Copy
    and signature are made when a tool asks for them: at import they would take a third of the time.
    """

    __slots__ = ("_function",)

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    @property
    def __wrapped__(self) -> FunctionType:
        shown = self._function
        same = FunctionType(shown.__code__, shown.__globals__, shown.__name__, shown.__defaults__, shown.__closure__)
        same.__annotations__, same.__kwdefaults__ = shown.__annotations__, shown.__kwdefaults__
        return same

    @property
    def __signature__(self) -> Signature:
        from inspect import signature

        whole = signature(self.__wrapped__)
        shown, keyword_only = [], False
        for parameter in whole.parameters.values():
            keyword_only |= parameter.annotation == "Refused"
            if parameter.default is NotGiven:
                parameter = parameter.replace(default=parameter.empty)
            if parameter.annotation != "Refused":
                shown.append(parameter.replace(kind=parameter.KEYWORD_ONLY) if keyword_only else parameter)
        return whole.replace(parameters=shown)


def shows_own_parameters(function: FunctionT) -> FunctionT:
    """Show `inspect.signature`, and with it `help`, a function without its refused parameters."""
    assert isinstance(function, FunctionType)
    vars(function)["__wrapped__"] = OwnParameters(function)
    return function
