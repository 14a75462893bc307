"""Parameters of functions of NumPy and PyTorch that ours reject: the error names what to use instead.

Python checks the arguments before a function runs. So our functions declare these parameters, and raise if one is
given::

    @shows_own_parameters
    def sum(x, extra: Refused = NotGiven, /, axis=None, dtype=None, keepdims=False, out: Refused = None):
        if extra is not NotGiven or out is not None:
            raise wrong_call("sum", locals())
        ...

``extra`` receives an excess positional argument. The parameters after a refused one are keyword-only for tools and in
the stubs. For Python they are not, because that makes calls faster.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from inspect import Signature

Refused = Any
"""The annotation of a parameter that accepts only its default."""
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class NotGiven:
    """The default of parameters for which None is an argument."""


def wrong_call(verb: str, given: dict[str, Any]) -> TypeError:
    """The error for arguments that NumPy or PyTorch accepts and our function does not; it shows the equivalent call."""
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
