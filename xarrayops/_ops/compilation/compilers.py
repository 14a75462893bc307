"""Choose the library that compiles for the arrays of a call, pass arrays to it, and explain the choice and its errors.

`explain_jit` compiles nothing and copies no array.
"""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.compilation.captured import Captured
from xarrayops._ops.compilation.signature import Signature, Slot, filled
from xarrayops._ops.compilation.tokens import NotConstant
from xarrayops._ops.engines import passing
from xarrayops._ops.exchange.convert import convert
from xarrayops._ops.explanation import Candidate, Explanation, chosen_name
from xarrayops._ops.transformations.arguments import library_of, name_of
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array, Record, gap_of
from xarrayops.plugin.nested import fill, is_array


class Compiler(Record):
    """The library that compiles, or why no library does."""

    own: Backend
    engine: Backend | None
    refusal: str | None = None

    @property
    def name(self) -> str:
        """The name of the library that compiles."""
        return "" if self.engine is None else self.engine.name

    def program(self, function: Callable[..., Any], signature: Signature, forms: list[Any]) -> Callable[..., Any]:
        """The compiled function of the arrays of a call; its other arguments are constants.

        ``forms`` has the form of the latest call: a retrace must not read objects of an earlier call.
        """
        form = forms[0]
        if not form[1] and all(type(x) is Slot for x in form[0]):
            return self._compiled(function, signature.dynamic_axes(form))

        def of_arrays(*arrays: Array) -> Any:
            positional, named = filled(forms[0], arrays)
            return function(*positional, **named)

        return self._compiled(of_arrays, signature.dynamic_axes(form))

    def _compiled(self, function: Callable[..., Any], dynamic_axes: tuple[tuple[int, int], ...]) -> Callable[..., Any]:
        assert self.engine is not None, "a library compiles"
        compiled = self.engine.functions["compiled"](function, dynamic_axes)
        return compiled if self.engine is self.own else _passing(compiled, self.own, self.engine)


def _passing(compiled: Callable[..., Any], own: Backend, engine: Backend) -> Callable[..., Any]:
    """The compiled function for arrays of another library."""
    program = compiled
    # The user's function may write its arguments, so it never gets immutable memory.
    give = None if own.immutable else passing.quick_passing(own, engine)
    take = passing.quick_return(own, engine)
    takes = vars(compiled).get("takes")

    def passed(x: Array) -> Array:
        if takes is not None and takes(x):
            return x
        found = None if give is None else give(x)
        return convert(x, engine.name, device=passing.device_in(x, engine)) if found is None else found

    def run(*arrays: Array) -> Any:
        nonlocal program
        result = program(*map(passed, arrays))
        program = getattr(compiled, "direct", compiled)

        def back(x: Any) -> Any:
            if not is_array(x) or find.of(x) is own:
                return x
            found = take(x, arrays)
            return passing.back(x, own, engine, arrays) if found is None else found

        return fill(result, back)

    return run


def compiler_for(own: Backend, name: str | None, arguments: Any, *, is_required: bool) -> Compiler:
    """The compiler of a call. Raises `Unsupported` if an explicitly requested engine cannot serve it."""
    engine = own if name is None else find.named(name)
    gap = gap_of(engine.functions["compiled"])
    if gap is not None and engine is not own:
        raise Unsupported(f"xo.jit: {name} cannot compile: {gap}")
    if engine is own:
        return Compiler(own, own) if gap is None else Compiler(own, None, f"{own.name}: {gap}")
    refusal = passing.obstacle(arguments, own, engine)
    if refusal is not None and is_required and not refusal.startswith(_LAZY):
        raise Unsupported(f"xo.jit: {name} cannot compile for these arguments: {refusal}")
    return Compiler(own, engine if refusal is None else None, refusal)


_LAZY = "arrays of"


def explain_jit(verb: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """The libraries that can compile the function for these arguments, the first one by default.

    Whether the compiler can trace the function is not known before it compiles.
    """
    original = getattr(function, "__wrapped__", function)
    own = library_of(verb, (args, kwargs))
    if own is None:
        return Explanation(verb, "the call has no arrays: the function runs eagerly", (), None)
    listed = tuple(_candidates(own, original, args, kwargs))
    asked = getattr(getattr(function, "programs", None), "engine", None) or own.name
    chosen = chosen_name(tuple(each for each in listed if each.name == f"{asked}:jit"))
    summary = f"{name_of(original)} runs eagerly" if chosen is None else f"{asked} compiles {name_of(original)}"
    return Explanation(verb, summary, listed, chosen)


def _candidates(
    own: Backend, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[Candidate]:
    """The arrays' own library, and the installed libraries with a compiler."""
    for engine in dict.fromkeys((own, *find.installed())):
        if engine is not own and gap_of(engine.functions["compiled"]) is not None:
            continue
        compiler = compiler_for(own, engine.name, (args, kwargs), is_required=False)
        reason = compiler.refusal or _constants(function, engine)
        copies = () if reason or engine is own else passing.copies({"args": args, **kwargs}, engine)
        yield Candidate(f"{engine.name}:jit", reason is None, reason or "", copies)


def _constants(function: Callable[..., Any], engine: Backend) -> str | None:
    """Why a variable that the function reads cannot be a constant of compiled code."""
    try:
        Captured(function).version(engine)
    except NotConstant as error:
        return str(error)
    return None


_REASON = re.compile(r"\(reason: (.*)\)")
"""The reason that a function which torch.compile must not trace gives for it."""
_PLACE = re.compile(r'File "([^"]+)", line (\d+)|([^\s:]+\.py):(\d+)')


def untraceable(call: str, compiler: str, error: Exception, function: Callable[..., Any]) -> Unsupported:
    """The error for a function that a compiler cannot trace: its reason, and the line of the function."""
    text = reason_of(error)
    if "Instead: " not in text:
        text += ". Instead: xo.where, xo.cond, xo.while_loop or xo.scan for control flow on values, functions of "
        text += 'xarrayops instead of NumPy, or when="never"'
    return Unsupported(f"{call}: {compiler} cannot compile it{place_of(error, function)}: {text}")


def reason_of(error: Exception) -> str:
    """The first line of an error, and the second if the first one ends with a colon; or the reason that it quotes."""
    quoted = _REASON.search(str(error))
    if quoted is not None:
        return quoted[1]
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    count = 2 if lines and lines[0].endswith(":") else 1
    return " ".join(lines[:count]).rstrip(".:") or type(error).__name__


def place_of(error: Exception, function: Callable[..., Any]) -> str:
    """The last line of the function's file that the error names, in parentheses; empty if it names none."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    numbers = [frame.lineno for frame in frames if frame.filename == code.co_filename]
    places = _PLACE.finditer(str(error))
    numbers += [int(place[2] or place[4]) for place in places if code.co_filename in (place[1], place[3])]
    if not numbers or numbers[-1] is None:
        return ""
    text = linecache.getline(code.co_filename, numbers[-1]).strip()
    return f" (line {numbers[-1]}: {text})" if text else f" (line {numbers[-1]})"
