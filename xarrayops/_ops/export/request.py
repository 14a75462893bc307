"""An export request: the function as a function of arrays only, the names of its arguments, and the dynamic axes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from keyword import iskeyword
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops import agreement
from xarrayops._ops.transformations.arguments import arrays_of, form_of, name_of, rebuilt
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.nested import VALUES, is_array

Dynamic = Mapping[str, Mapping[int, str]]


class Request:
    """The function, its examples and its results for them.

    Attributes
    ----------
    call : str
        The call, for messages.
    own : Backend
        The library of the examples.
    arrays : tuple of Array
        The arrays in the examples (pytrees). All other examples are constants.
    axes : tuple of dict
        The names of the dynamic axes of each array.
    want : nested arrays
        The results of the function.
    """

    def __init__(self, function: Callable[..., Any], examples: tuple[Any, ...], dynamic: Dynamic) -> None:
        self.call = f"xo.export({name_of(function)})"
        self.function = function
        self.arrays: tuple[Array, ...] = arrays_of(examples)
        if not self.arrays:
            raise ValueError(f"{self.call}: the examples have no array. Instead: arrays, such as numpy.asarray([1.0])")
        self.parameters = _parameters(function, len(examples))
        names = [name for each in zip(self.parameters, examples, strict=True) for name in _names(each[1], each[0])]
        self.inputs = tuple(_identifiers(names, set()))
        self.own: Backend = find.one_of("export", dict(zip(self.inputs, self.arrays, strict=True)))
        self.examples = examples
        self.axes = _axes(self.call, self.inputs, self.arrays, dynamic)
        self.want = self._checked_result()
        results = _names(self.want, "")
        if not results:
            raise Unsupported(f"{self.call}: it returns no array. Instead: return the arrays that the file must give")
        self.outputs = tuple(_identifiers([name or "result" for name in results], set(self.inputs)))

    @property
    def form(self) -> Any:
        """The results without their arrays, for `rebuilt`."""
        return form_of(self.want)

    @property
    def shapes(self) -> tuple[tuple[str | None, tuple[int | str, ...]], ...]:
        """The dtype and the shape of each array, including the names of dynamic axes."""
        dtype_name = self.own.functions["dtype_name"]
        return tuple(
            (dtype_name(x.dtype), tuple(axes.get(axis, int(n)) for axis, n in enumerate(x.shape)))
            for x, axes in zip(self.arrays, self.axes, strict=True)
        )

    @property
    def sizes(self) -> dict[str, int]:
        """The lengths of the dynamic axes in the examples, by name."""
        return {
            name: int(x.shape[axis])
            for x, axes in zip(self.arrays, self.axes, strict=True)
            for axis, name in axes.items()
        }

    def result(self, arrays: Iterable[Array]) -> Any:
        """The result of the function for other arrays."""
        return self.function(*rebuilt(self.examples, arrays))

    def program(self, *arrays: Array) -> tuple[Array, ...]:
        """The arrays of the result, for an exporter."""
        return arrays_of(self.result(arrays))

    def _checked_result(self) -> Any:
        """The result for copies of the examples. Raises if the function writes to them or depends on state."""
        given = agreement.copied(self.arrays)
        want = self.result(given)
        before, after = (dict(zip(self.inputs, arrays, strict=True)) for arrays in (self.arrays, given))
        written = agreement.first_written(before, after)
        if written is not None:
            raise Unsupported(
                f"{self.call}: it writes to {written}, but a file cannot. Instead: return the new array, as xo.at does"
            )
        changed = agreement.difference(want, self.result(agreement.copied(self.arrays)))
        if changed is not None:
            raise Unsupported(
                f"{self.call}: two calls with the same arguments differ: {changed}. Instead: the state, such as a key "
                f"of xo.random, as an argument"
            )
        return want


def _parameters(function: Callable[..., Any], count: int) -> list[str]:
    """The names of the positional parameters."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some C functions have no signature
        return [f"x{i}" for i in range(count)]
    names = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    more = next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), "x")
    return [*names, *(f"{more}[{i}]" for i in range(count - len(names)))][:count]


def _names(value: Any, name: str) -> list[str]:
    """The names of the arrays in a value, by their path: "params_layers_1_w"."""
    if isinstance(value, dict):
        members: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, (tuple, list)):
        members = zip(getattr(value, "_fields", range(len(value))), value, strict=True)
    else:
        return [name] if type(value) not in VALUES and is_array(value) else []
    return [each for key, member in members for each in _names(member, f"{name}_{key}" if name else str(key))]


def _identifiers(names: list[str], taken: set[str]) -> list[str]:
    """Names that all formats accept, all different."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"\W+", "_", name).strip("_") or "x"
        plain = f"x{plain}" if plain[0].isdigit() else plain
        plain = f"{plain}_" if iskeyword(plain) or plain == "self" else plain
        number, one = 1, plain
        while one in taken:
            number += 1
            one = f"{plain}_{number}"
        taken.add(one)
        found.append(one)
    return found


def _axes(call: str, names: tuple[str, ...], arrays: tuple[Array, ...], dynamic: Dynamic) -> tuple[dict[int, str], ...]:
    """The dynamic axes of each array, none of them negative. Raises `ValueError` for axes that do not exist."""
    unknown = [name for name in dynamic if name not in names]
    if unknown:
        raise ValueError(f"{call}: dynamic names {unknown[0]!r}, and the arrays are {', '.join(names)}")
    if not all(isinstance(axes, Mapping) for axes in dynamic.values()):
        raise TypeError(f'{call}: dynamic takes names of axes by number, such as {{"x": {{0: "n"}}}}')
    lengths: dict[str, int] = {}
    found = []
    for name, x in zip(names, arrays, strict=True):
        axes: dict[int, str] = {}
        for axis, size in dynamic.get(name, {}).items():
            if type(axis) is not int or not -len(x.shape) <= axis < len(x.shape):
                raise ValueError(f"{call}: dynamic has axis {axis!r} of {name}, whose shape is {tuple(x.shape)}")
            if not (isinstance(size, str) and size.isidentifier()):
                raise ValueError(f'{call}: the name of a dynamic axis must be an identifier, such as "n", not {size!r}')
            length = int(x.shape[axis])
            if length < 2:
                raise ValueError(
                    f"{call}: axis {axis} of {name} has length {length}, which exporters take for a constant. Instead: "
                    f"an example of length 2 or more"
                )
            if lengths.setdefault(size, length) != length:
                raise ValueError(f"{call}: axes named {size!r} have lengths {lengths[size]} and {length}")
            axes[axis % len(x.shape)] = size
        found.append(axes)
    return tuple(found)
