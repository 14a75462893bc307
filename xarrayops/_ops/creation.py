# Long: asarray takes objects of many kinds, and errors name them.
"""asarray and from_dlpack, which make arrays from objects, and broadcast_shapes, which needs no library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from xarrayops._core.backends import find, foreign, registry
from xarrayops._core.backends.find import SCALARS
from xarrayops._core.backends.mixed import another_library, sparse_argument
from xarrayops._core.backends.numpy_scalars import as_number, is_numpy_scalar, with_numbers
from xarrayops._core.backends.registry import Backend
from xarrayops._core.backends.resolved import is_traced
from xarrayops._core.dispatch.arguments import array_arguments, signature
from xarrayops._core.dispatch.creation import creation, creation_backend, refuse_both
from xarrayops._core.dispatch.errors import FAILURES, refuse_arguments
from xarrayops._core.dispatch.refused import NotGiven, Refused, shows_own_parameters, wrong_call
from xarrayops._core.modes import defaults
from xarrayops._core.modes.defaults import Library, library_and_device, set_default, use
from xarrayops._ops.exchange.convert import convert, explain_convert
from xarrayops._ops.explained import explain_served
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops._ops.verb import Verb
from xarrayops.errors import ExchangeError, NotAnArray, Unsupported, XArrayOpsError
from xarrayops.plugin.arrays import Array, ArrayT
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.nested import named_members

if TYPE_CHECKING:

    class _Options(TypedDict, total=False):
        dtype: Any
        device: Any
        copy: bool | None


@overload
def asarray(obj: Any, /, *, like: ArrayT, backend: None = None, **options: Unpack[_Options]) -> ArrayT: ...


@overload
def asarray(
    obj: Any, /, *, like: None = None, backend: Library | None = None, **options: Unpack[_Options]
) -> Array: ...


@shows_own_parameters
def asarray(
    obj: Any,
    extra: Refused = NotGiven,
    /,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    like: Array | None = None,
    backend: Library | None = None,
    order: Refused = None,
) -> Array:
    """An array with the values of obj, which is a scalar, a nested sequence, a buffer or an array.

    An array stays in its library, unless ``backend=`` or ``like=`` names another library. Then it is converted.

    Raises
    ------
    MixedBackends
        A sequence contains arrays of several libraries, or not of the requested one.
    Unsupported
        The values are not numbers.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.asarray.html>
    """
    if extra is not NotGiven or order is not None:
        raise wrong_call("asarray", locals())
    try:
        if backend is not None:
            refuse_both("asarray", like, backend)
            backend, device = library_and_device(backend, device)
        if isinstance(obj, (list, tuple)):
            if not SCALARS.issuperset(map(type, obj)):  # one pass in C: most sequences hold only numbers
                obj, like = _checked_sequence(obj, like, backend)
            elif dtype is None and device is None and like is None and backend is None:
                library, default_device, floating = defaults.of_new_arrays()
                if default_device is floating is None and type(library) is str:
                    # the most common call, without the 300 ns in which `creation` applies defaults
                    return find.named(library).functions["asarray"](obj, copy=copy)
        elif type(obj) not in SCALARS:
            owner = find.of_class(type(obj))
            if owner is not None and like is None and backend in (None, owner, owner.name):
                dtype = None if dtype is None else owner.native_dtype(dtype)
                device = owner.functions["device"](obj) if device is None else owner.native_device(device)
                return owner.functions["asarray"](obj, dtype=dtype, device=device, copy=copy)
            if owner is not None and _is_foreign_number(obj, creation_backend(like, backend)[0]):
                obj = as_number(obj)
            elif type(obj).__module__ != "numpy" or not is_traced():  # torch.compile sees a tensor: PyTorch takes it
                obj, like, backend = _converted(obj, like, backend, device, copy)
                copy = None if copy else copy
        function, dtype, device = creation("asarray", like, backend, dtype, device, obj)
        return function(obj, dtype=dtype, device=device, copy=copy)
    except FAILURES as error:
        refuse_arguments(error, "asarray", {"obj": obj, "like": like})
        if isinstance(error, ValueError) and ("inhomogeneous" in str(error) or "expected sequence" in str(error)):
            raise ValueError("xo.asarray: the nested sequences have different lengths") from error
        if not isinstance(error, XArrayOpsError) and (odd := _odd_member(obj)) is not None:
            raise NotAnArray(f"xo.asarray: {odd} is not a number, and no array of numbers can hold it") from error
        raise


def _odd_member(obj: Any) -> str | None:
    """The first member of a nested sequence that is neither a number nor an array."""
    members = named_members("obj", obj, SCALARS) if isinstance(obj, (list, tuple)) and not is_traced() else ()
    for name, leaf in members:
        if find.if_array(leaf) is None and not foreign.has_buffer(leaf) and not hasattr(leaf, "__array_interface__"):
            return f"{name} = {leaf!r}"
    return None


def _converted(
    obj: Any, like: Array | None, backend: str | Backend | None, device: Any, copy: bool | None
) -> tuple[Array, Array | None, str | Backend | None]:
    """An array or a buffer, converted to the requested library; then ``like`` and ``backend``, one of which is set."""
    if find.refusal(obj) is not None:
        raise Unsupported(f"xo.asarray: {find.refusal(obj)}.")
    if find.of_container(type(obj)) is not None:
        raise sparse_argument("asarray", "obj", obj)
    source = obj if find.if_array(obj) is not None else _as_buffer(obj)
    if like is None and backend is None:
        backend = defaults.of_new_arrays()[0] if source is not obj else None
        like = obj if source is obj else None
    return convert(source, backend if like is None else like, device=device, copy=copy), like, backend


def _checked_sequence(obj: Any, like: Array | None, backend: str | Backend | None) -> tuple[Any, Array | None]:
    """The sequence, and an array of the library that its members or ``like`` determine, if any.

    NumPy scalars combined with arrays of another library count as Python numbers.
    """
    members = _arrays_within(obj)
    if not members:
        return obj, like
    arrays = {name: x for name, x in members.items() if not is_numpy_scalar(x)}
    is_given = like is not None or backend is not None
    if len(arrays) < len(members) and (arrays or is_given):
        library = creation_backend(like, backend)[0] if is_given else find.one_of("asarray", arrays)
        numbers = {name for name, x in members.items() if _is_foreign_number(x, library)}
        if numbers:
            obj = with_numbers(obj)
            members = {name: x for name, x in members.items() if name not in numbers}
    if members:
        _check_members(members, like, backend)
        like = next(iter(members.values())) if like is None and backend is None else like
    return obj, like


def _is_foreign_number(value: Any, library: Backend) -> bool:
    """Whether a value is a NumPy scalar, and the library is not NumPy."""
    return is_numpy_scalar(value) and find.of_class(type(value)) is not library


def _check_members(members: dict[str, Array], like: Array | None, backend: str | Backend | None) -> None:
    """Raise unless all arrays inside a sequence belong to the requested library."""
    found = find.one_of("asarray", members if like is None else {"like": like, **members})
    if backend is not None and backend not in (found, found.name):
        raise another_library("asarray", members, found, find.library(backend))


def _as_buffer(obj: Any) -> Array:
    """A buffer as a NumPy array. NumPy reads items by the buffer's format; other libraries read bytes as numbers."""
    import numpy as np

    if hasattr(obj, "__array_interface__") or foreign.has_buffer(obj):
        return np.asarray(obj)
    if hasattr(obj, "__dlpack__"):
        try:
            return np.from_dlpack(obj)
        except Exception as error:  # the classes of errors are those of the library, such as Arrow's
            fix = foreign.fix("obj", obj) if hasattr(type(obj), "__array__") else ""
            raise ExchangeError(
                f"xo.asarray: {registry.describe_class(type(obj))}: {str(error).rstrip('.')}. {fix}"
            ) from error
    raise NotAnArray(
        f"xo.asarray cannot convert a value of class {registry.describe_class(type(obj))}. {foreign.fix('obj', obj)}."
    )


def _arrays_within(obj: Any) -> dict[str, Any]:
    """The arrays inside nested sequences, each with a name for error messages, such as ``obj[0]``.

    They are checked because libraries convert them silently. Unsupported kinds of arrays are included: NumPy drops the
    mask of a masked array.
    """
    return {
        name: leaf
        for name, leaf in named_members("obj", obj, SCALARS)
        if find.if_array(leaf) is not None or find.refusal(leaf) is not None
    }


@overload
def from_dlpack(
    x: Any, /, *, device: Any = None, copy: bool | None = None, like: ArrayT, backend: None = None
) -> ArrayT: ...


@overload
def from_dlpack(
    x: Any, /, *, device: Any = None, copy: bool | None = None, like: None = None, backend: Library | None = None
) -> Array: ...


def from_dlpack(
    x: Any,
    /,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Array | None = None,
    backend: Library | None = None,
) -> Array:
    """An array over the memory of any object with ``__dlpack__``, by default of the default library.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.from_dlpack.html>
    """
    refuse_both("from_dlpack", like, backend)
    if backend is not None:
        backend, device = library_and_device(backend, device)
    if find.sparse_of(x) is not None:
        raise sparse_argument("from_dlpack", "x", x)
    if find.if_array(x) is not None or find.refusal(x) is not None:
        return convert(
            x, like if like is not None else backend or defaults.of_new_arrays()[0], device=device, copy=copy
        )
    if not hasattr(type(x), "__dlpack__"):
        kind = registry.describe_class(type(x))
        raise ExchangeError(
            f"xo.from_dlpack needs an object with __dlpack__; {kind} has no such method. {foreign.fix('x', x)}"
        )
    function, _, device = creation("from_dlpack", like, backend, None, device)
    return function(x, device=device, copy=copy)


_VALUES = ("obj", "start", "stop", "step", "fill_value")
"""The parameters whose values determine the default dtype."""


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which the shapes broadcast.

    Raises
    ------
    ValueError
        The shapes cannot be broadcast; the message names the axis.

    <https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.broadcast_shapes.html>
    """
    result: list[int] = []
    for shape in shapes:
        result[:0] = [1] * (len(shape) - len(result))
        for axis in range(-len(shape), 0):
            if result[axis] == 1:
                result[axis] = shape[axis]
            elif shape[axis] not in (1, result[axis]):
                listing = ", ".join(map(str, shapes))
                raise ValueError(f"shapes {listing} do not broadcast: axis {axis} is {result[axis]} and {shape[axis]}")
    return tuple(result)


def explain_creation(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain a creation function: a function of the library, or a conversion if obj is an array of another library."""
    backend, call = _creation_call(verb, *args, **kwargs)
    source = _source(verb, call.args[0])
    if source is not None and (verb == "from_dlpack" or find.of(source) is not backend):
        like = kwargs.get("like")
        where = {option: kwargs.get(option) for option in ("device", "copy")}
        target = backend.name if like is None else like
        return explain_convert("convert", source, target, **where)._replace(verb=verb)
    return explain_served(verb, backend, call)


def _creation_call(
    verb: str, /, *args: Any, like: Any = None, backend: Library | None = None, **kwargs: Any
) -> tuple[Backend, Call]:
    """The backend of a creation call (by ``like=``, by ``backend=`` or the default) and the call that it gets."""
    bound = signature(verb).bind(*args, **kwargs)
    if verb == "asarray" and like is None and backend is None:
        found = dict(array_arguments(verb, args, kwargs))
        if found:
            find.one_of(verb, found)
            like = next(iter(found.values()))
    bound.apply_defaults()
    values = [value for name, value in bound.arguments.items() if name in _VALUES]
    _, dtype, device = creation(verb, like, backend, kwargs.get("dtype"), kwargs.get("device"), *values)
    bound.arguments |= {n: v for n, v in (("dtype", dtype), ("device", device)) if n in bound.arguments}
    return creation_backend(like, backend)[0], Call(bound.args, bound.kwargs)


def _source(verb: str, x: Any) -> Any:
    """The array that asarray or from_dlpack would convert; None if the library takes x directly."""
    if verb not in ("asarray", "from_dlpack") or type(x) in SCALARS or isinstance(x, (list, tuple)):
        return None
    if find.if_array(x) is not None or find.refusal(x) is not None:
        return x
    return _as_buffer(x) if verb == "asarray" else None


def explain_broadcast_shapes(verb: str, /, *shapes: tuple[int, ...]) -> Explanation:
    """Explain `broadcast_shapes`, which needs no library. Shapes that cannot be broadcast raise."""
    broadcast_shapes(*shapes)
    candidate = Candidate(f"xarrayops:{verb}", True, "shapes are Python numbers, which need no library")
    return Explanation(verb, "no library is needed", (candidate,), candidate.name)


VERBS = (
    Verb("asarray", asarray, explain=explain_creation, creates=True),
    Verb("broadcast_shapes", broadcast_shapes, explain=explain_broadcast_shapes),
    Verb("from_dlpack", from_dlpack, explain=explain_creation, creates=True),
    Verb("set_default", set_default),
    Verb("use", use),
)
