"""Read and check the arguments of a call of an exported function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.agreement import is_same
from xarrayops._ops.transformations.arguments import form_of
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.nested import is_array, leaves, leaves_as

if TYPE_CHECKING:
    from xarrayops._ops.export.request import Request


class Reader:
    """Finds the arrays of a call, in the order of the file."""

    def __init__(self, request: Request) -> None:
        self._parameters = request.parameters
        self._form = tuple(map(form_of, request.examples))
        self._inputs = request.inputs
        self._shapes = request.shapes

    def read(self, call: str, arguments: tuple[Any, ...]) -> tuple[Backend, tuple[Array, ...]]:
        """The library of the arrays, and the arrays.

        Raises `ValueError` if the structure, constants, shapes or dtypes differ from the examples.
        """
        arrays = self._arrays(call, arguments)
        own = find.one_of("export", dict(zip(self._inputs, arrays, strict=True)))
        self._require_fit(call, own, arrays)
        return own, arrays

    def _arrays(self, call: str, arguments: tuple[Any, ...]) -> tuple[Array, ...]:
        if not isinstance(arguments, tuple) or len(arguments) != len(self._form):
            count = len(arguments) if isinstance(arguments, tuple) else 1
            raise ValueError(f"{call}: the arguments are {', '.join(self._parameters)}, not {count} arguments")
        arrays: list[Array] = []
        for name, form, value in zip(self._parameters, self._form, arguments, strict=True):
            try:
                members = tuple(leaves_as(form, value))
            except TypeError as error:
                raise ValueError(f"{call}: the structure of {name} differs from the example: {error}") from None
            for want, got in zip(leaves(form), members, strict=True):
                if is_array(want):
                    if not is_array(got):
                        raise ValueError(f"{call}: {name} has {type(got).__name__} instead of an array")
                    arrays.append(got)
                elif got is not want and (is_array(got) or not is_same(want, got)):
                    raise ValueError(f"{call}: {name} is the constant {want!r} in the file, not {got!r}")
        return tuple(arrays)

    def _require_fit(self, call: str, own: Backend, arrays: tuple[Array, ...]) -> None:
        lengths: dict[str, int] = {}
        for name, x, (dtype, shape) in zip(self._inputs, arrays, self._shapes, strict=True):
            fits = len(x.shape) == len(shape) and all(
                n == (lengths.setdefault(size, n) if isinstance(size, str) else size)
                for n, size in zip(x.shape, shape, strict=True)
            )
            found = own.functions["dtype_name"](x.dtype)
            if not fits or found != dtype:
                wanted = f"{dtype} of shape ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
                given = f"{found} of shape {tuple(x.shape)}"
                raise ValueError(f"{call}: {name} is {given}, and the file is for {wanted}")
