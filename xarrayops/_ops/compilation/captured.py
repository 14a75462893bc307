"""The captured variables of a function: global variables, and variables of enclosing functions.

Compilers treat these values as constants, so a change requires new code. Names are found in the byte code of the
function and of the user's functions that it calls. Attributes of the user's modules and classes are followed. Variables
that a library's own functions read are not compared.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable, Hashable
from functools import cache, partial
from itertools import count
from threading import Lock
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._ops.compilation.tokens import ATOMS, NotConstant, Same, Tokens, is_of_library
from xarrayops._ops.transformed import Transformed

_MISSING = object()
_UNCHANGING: tuple[type, ...] = (
    *(*ATOMS, float, complex, type, ModuleType, FunctionType, BuiltinFunctionType, Transformed),
)
Read = tuple[Callable[[], Any], Any]
"""How to read a variable, and the value that it had."""
KEPT = 256
"""The number of sets of values that are cached."""
_UNKNOWN: list[Read] = [(bool, None)]
"""A value that never equals an earlier one."""


@cache
def _names(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """The global variables and variables of enclosing functions that code reads, with the attributes of each."""
    found: dict[tuple[str, ...], None] = {}
    chain: list[str] = []
    free = frozenset(code.co_freevars)
    for each in dis.get_instructions(code):
        if each.opname in ("PUSH_NULL", "CACHE", "EXTENDED_ARG", "NOP"):
            continue
        if each.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")) and chain:
            chain.append(str(each.argval))
            continue
        if chain:
            found[tuple(chain)] = None
        is_name = each.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        is_free = each.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF") and each.argval in free
        chain = [str(each.argval)] if is_name or is_free else []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = set(constant.co_freevars) - free
            found |= {names: None for names in _names(constant) if names[0] not in inner}
    return tuple(found)


class Captured:
    """The variables that a function reads, summarised as a number for each set of values: a guard.

    Parameters
    ----------
    function : function
        The function that is compiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.latest: tuple[list[Read], int] = _UNKNOWN, 0
        """The objects whose identity proves that no value has changed, if it can; and the number of the values."""
        self._versions: dict[Hashable, int] = {}
        self._described: dict[int, dict[str, str]] = {}
        self._numbers = count()
        self._changing = Lock()

    @property
    def current(self) -> dict[str, str]:
        """The variables with their latest values, as text."""
        return self._described.get(self.latest[1], {})

    def version(self, compiler: Backend | None) -> int:
        """The number of the current values. Raises `NotConstant` if one cannot be compared."""
        reads, version = self.latest
        for read, value in reads:
            if read() is not value:
                break
        else:
            return version
        found = _Reading(compiler)
        token = compiler, found.token_of(self._function)
        is_plain = isinstance(self._function, FunctionType) and not found.may_change
        with self._changing:
            if len(self._versions) >= KEPT:  # the tokens keep values alive
                self._versions.clear()
                self._described.clear()
            if token not in self._versions:
                self._versions[token] = next(self._numbers)
            version = self._versions[token]
            self._described[version] = found.described
            self.latest = found.reads if is_plain else _UNKNOWN, version
        return version


def token_of(value: Any) -> Hashable:
    """The token of a constant argument. Raises `NotConstant`."""
    return _Reading(None).token_of(value)


class _Reading:
    """One walk over all variables that a function reads."""

    def __init__(self, compiler: Backend | None) -> None:
        self._tokens = Tokens(compiler, self._of_function)
        self.reads: list[Read] = []
        self.may_change = False
        self.described: dict[str, str] = {}

    def token_of(self, value: Any) -> Hashable:
        return self._tokens.of(value)

    def _of_function(self, function: FunctionType, tokens: Tokens) -> Hashable:
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        if defaults:
            self.reads.append((partial(getattr, function, "__defaults__"), function.__defaults__))
        attributes = vars(function).values()
        self.may_change = self.may_change or not all(isinstance(each, _UNCHANGING) for each in defaults)
        self.may_change = self.may_change or not all(isinstance(each, FunctionType) for each in attributes)
        if _imports_of_user(function.__code__):
            raise NotConstant(f"{function.__name__} imports a module, whose variables could change unnoticed")
        return tuple(self._of_variable(function, names, tokens) for names in _names(function.__code__))

    def _of_variable(self, function: FunctionType, names: tuple[str, ...], tokens: Tokens) -> Hashable:
        shown = names[0]
        read = _reader(function, names[0])
        value = read()
        self.reads.append((read, value))
        if isinstance(value, ModuleType) and is_of_library(value):
            return names, Same(value)
        for name in names[1:]:
            if not isinstance(value, (ModuleType, type)) or is_of_library(value):
                break
            read, shown = partial(getattr, value, name, _MISSING), f"{shown}.{name}"
            value = read()
            self.reads.append((read, value))
        if value is _MISSING:
            return names, None
        try:
            token = tokens.of(value)
        except NotConstant as error:
            raise NotConstant(f"the variable {shown!r}: {error}") from None
        parts = value if type(value) is tuple else (value,)
        is_class = isinstance(value, type) and not is_of_library(value)
        is_bound = isinstance(value, BuiltinFunctionType) and not isinstance(token, Same)
        is_known = isinstance(token, Same) or all(isinstance(part, _UNCHANGING) for part in parts)
        is_known = is_known and not is_class and not is_bound
        self.may_change = self.may_change or not is_known
        if not callable(value) and not isinstance(value, ModuleType):
            self.described[shown] = _short(value)
        return names, token


@cache
def _imports_of_user(code: CodeType) -> bool:
    """Whether code imports a module of the user."""
    names = [str(each.argval) for each in dis.get_instructions(code) if each.opname == "IMPORT_NAME"]
    inner = any(_imports_of_user(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return inner or any(name in sys.modules and not is_of_library(sys.modules[name]) for name in names)


def _reader(function: FunctionType, name: str) -> Callable[[], Any]:
    """Read a variable of a function."""
    free = function.__code__.co_freevars
    if name in free:
        return partial(_content, (function.__closure__ or ())[free.index(name)])
    if name in function.__globals__ or not hasattr(builtins, name):
        return partial(function.__globals__.get, name, _MISSING)
    return partial(_either, function.__globals__, name)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is assigned later
        return _MISSING


def _either(variables: dict[str, Any], name: str) -> Any:
    return variables.get(name, getattr(builtins, name))


def _short(value: Any) -> str:
    text = repr(value) if not hasattr(value, "shape") else f"{type(value).__name__} {tuple(value.shape)}"
    return text if len(text) <= 40 else text[:37] + "..."
