"""The functions that serve the calls of an operation. They are generated, so that a call costs few look-ups.

For an operation ``rms_norm(x, weight, *, eps=1e-6)`` users get::

    def rms_norm(x, weight, *, eps=_eps):
        try:
            serve = _table[type(x)]
        except KeyError:
            serve = getattr(_resolved, _find(type(x)))
        return serve(x, weight, eps=eps)

and for the arrays of a library with one kernel::

    def rms_norm(x, weight, *, eps):
        if _eager and type(weight) in _classes and ...:
            try:
                return _kernel0(x, weight, eps=eps)
            except _NotServed:
                return _choose_from_now_on(x, weight, eps=eps)
        return _choose(x, weight, eps=eps)

where ``...`` are the expressions of the kernel's requirements. ``_choose`` checks every argument and can serve every
call; it also raises for invalid calls. ``_choose_from_now_on`` does the same, and makes all later calls do so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from xarrayops.plugin.arrays import Record
from xarrayops.plugin.candidates import NotServed
from xarrayops.plugin.operations import CallTests

_number = count()


class Parameters(Record):
    """The parameters of an operation: those before the ``*`` take arrays, the others take options.

    ``optional`` has the arrays that may be omitted.
    """

    signature: inspect.Signature
    arrays: tuple[str, ...]
    options: tuple[str, ...]
    optional: frozenset[str]

    @property
    def defaults(self) -> dict[str, Any]:
        """The default values of the options that have one."""
        found = {name: self.signature.parameters[name].default for name in self.options}
        return {name: value for name, value in found.items() if value is not self.signature.empty}

    @property
    def passed(self) -> str:
        """The arguments as a call passes them on."""
        return ", ".join([*self.arrays, *(f"{name}={name}" for name in self.options)])

    @property
    def passed_to_kernel(self) -> str:
        """The arguments as they are passed to a kernel."""
        return ", ".join([*self.arrays, *(["*", *self.options] if self.options else [])])


class Guarded(Record):
    """A kernel, and expressions that are all true only if it can serve a call.

    Each expression belongs to the parameter of an array, and is ignored if that array was omitted. An expression with
    an empty name is never ignored.
    """

    function: Callable[..., Any]
    expressions: list[tuple[str, str]]


def public_function(name: str, parameters: Parameters, names: Mapping[str, Any]) -> Callable[..., Any]:
    """The function that users call. ``names`` has _table, _resolved and _find."""
    defaults = {f"_default_{each.name}": each.default for each in parameters.signature.parameters.values()}
    listed = []
    for each in (*parameters.arrays, *parameters.options):
        if each == next(iter(parameters.options), None):
            listed.append("*")
        default = parameters.signature.parameters[each].default
        listed.append(each if default is parameters.signature.empty else f"{each}=_default_{each}")
    first = parameters.arrays[0]
    lines = [
        f"def {name}({', '.join(listed)}):",
        "    try:",
        f"        serve = _table[type({first})]",
        "    except KeyError:",
        f"        serve = getattr(_resolved, _find(type({first})))",
        f"    return serve({parameters.passed})",
    ]
    return _compiled(name, lines, {**defaults, **names})


def serving_function(
    name: str, parameters: Parameters, tests: CallTests, kernels: Iterable[Guarded], names: Mapping[str, Any]
) -> Callable[..., Any]:
    """The function for the arrays of one library.

    ``names`` has _classes, _choose, _choose_from_now_on, and the names in the expressions.

    The test of each kernel precedes it.
    """
    lines = [f"def {name}({parameters.passed_to_kernel}):"]
    functions: dict[str, Any] = {}
    common = [tests.eager] if tests.eager else []
    for each in parameters.arrays:
        if each != parameters.arrays[0]:
            common.append(_if_given(f"type({each}) in _classes", each, parameters))
        if tests.eager_array:
            common.append(_if_given(tests.eager_array.format(x=each), each, parameters))
    for k, kernel in enumerate(kernels):
        functions[f"_kernel{k}"] = kernel.function
        own = [_if_given(expression, each, parameters) for each, expression in kernel.expressions]
        condition = " and ".join([*common, *own]) or "True"
        lines += [
            f"    if {condition}:",
            "        try:",
            f"            return _kernel{k}({parameters.passed})",
            "        except _NotServed:",
            f"            return _choose_from_now_on({parameters.passed})",
        ]
    lines.append(f"    return _choose({parameters.passed})")
    return _compiled(name, lines, {**functions, **tests.names, **names, "_NotServed": NotServed})


def eager_test(tests: CallTests) -> Callable[..., Any]:
    """A function of the arrays of a call that returns whether no transformation needs to see the operation."""
    each = [f"all({tests.eager_array.format(x='x')} for x in arrays if x is not None)"] if tests.eager_array else []
    expression = " and ".join([*([tests.eager] if tests.eager else []), *each]) or "True"
    return _compiled("is_eager", ["def is_eager(*arrays):", f"    return {expression}"], dict(tests.names))


def _if_given(expression: str, name: str, parameters: Parameters) -> str:
    """The expression, true for an array that was omitted."""
    return f"({name} is None or {expression})" if name in parameters.optional else expression


def _compiled(name: str, lines: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    """The function with this source, which tracebacks show."""
    import linecache  # imported here, because `import xarrayops` needs no source

    source = "\n".join(lines) + "\n"
    file = f"<xarrayops operation {name} {next(_number)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    return names[name]


def parameters_of(name: str, reference: Callable[..., Any]) -> Parameters:
    """The parameters of a reference; raises if an operation cannot have them."""
    signature = inspect.signature(reference)
    arrays, options, optional = [], [], set()
    for each in signature.parameters.values():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            raise TypeError(f"{name}: an operation has a fixed number of parameters, but this one has {each}")
        if each.kind == each.KEYWORD_ONLY:
            options.append(each.name)
            continue
        arrays.append(each.name)
        if each.default is None and len(arrays) > 1:
            optional.add(each.name)
        elif each.default is not each.empty:
            raise TypeError(
                f"{name}: {each.name}={each.default!r} is before the *, so it takes an array. "
                f"Instead: {each.name}=None for an optional array, or the parameter after the * for an option"
            )
    if not arrays:
        raise TypeError(f"{name}: the first parameter must take an array")
    return Parameters(signature, tuple(arrays), tuple(options), frozenset(optional))
