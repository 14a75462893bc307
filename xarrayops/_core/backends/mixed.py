"""Errors for calls whose arguments are not all arrays of one library: each describes the arguments and shows a fix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops._core.backends import foreign, registry
from xarrayops._core.backends.registry import Backend, describe_class
from xarrayops._surface import OWN
from xarrayops.errors import MixedBackends, NotAnArray, Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.sparse import SPARSE_NAMES


def not_an_array(verb: str, name: str, arrays: dict[str, Any]) -> NotAnArray:
    """The error for an argument that is not an array of a known library."""
    x = arrays[name]
    fix = _of_string(verb, name, x) if isinstance(x, (str, bytes)) else f" {_made_an_array(name, arrays)}."
    return NotAnArray(
        f"{written(verb)}: argument {name} is a {describe_class(type(x))}, which is not an array of "
        f"a known library.{fix}"
    )


def no_arrays(verb: str, arguments: dict[str, Any]) -> NotAnArray:
    """The error for a call without array arguments."""
    values = ", ".join(f"{name}={x!r}" for name, x in arguments.items())
    received = f"the arguments are {values}" if values else "no arrays were given"
    number = next((x for x in arguments.values() if x is not None), None)
    fix = "" if number is None else f" Instead of a number: xo.asarray({number!r}, like=x)."
    return NotAnArray(f"{written(verb)} needs an array to determine the library; {received}.{fix}")


def _of_string(verb: str, name: str, value: str | bytes) -> str:
    """What to write for a string that NumPy's function takes instead of an array."""
    from xarrayops._core.numpy_names.renamed import STRINGS  # needed for errors only

    template = STRINGS.get((verb, name))
    return "" if template is None else f" Instead: {template.format(value=value)}."


def _made_an_array(name: str, arrays: dict[str, Any]) -> str:
    """How to make an array of an argument, in the library of another argument if there is one."""
    another = next((other for other, x in arrays.items() if registry.examine(type(x)) is not None), None)
    if another is not None:
        return foreign.fix(name, arrays[name], f", like={another}")
    like = "y" if "x" in arrays else "x"
    text = foreign.fix(name, arrays[name], f", like={like}")
    return f"{text}, with {like} an array of your library" if f"like={like}" in text else text


def several_libraries(verb: str, arrays: dict[str, Any], found: dict[str, Backend]) -> MixedBackends:
    """The error for arrays of several libraries; ``found`` has the backend of each."""
    kept = _kept(arrays, found)
    is_container = registry.examine_container(type(arrays[kept])) is not None
    target = f'"{found[kept].name}"' if is_container else kept
    fixes = [f"{name} -> xo.convert({name}, {target})" for name, b in found.items() if b is not found[kept]]
    listing = "; ".join(f"{name}: {described(arrays[name], b)}" for name, b in found.items())
    fix = f"Convert to one library: {' and '.join(fixes)}."
    return MixedBackends(f"{written(verb)} was given arrays of several libraries: {listing}. {fix}")


def _kept(arrays: dict[str, Any], found: dict[str, Backend]) -> str:
    """The argument whose library the others should be converted to, so that no values leave an accelerator.

    It is ``like``, else the first on an accelerator, else the first that is not NumPy's.
    """

    def preference(name: str) -> tuple[bool, bool, bool]:
        accelerated = _if_known(lambda: _device_kind(arrays[name], found[name])) not in (None, "cpu")
        return name == "like", accelerated, found[name].name != "numpy"

    return max(found, key=preference)


def _device_kind(x: Array, backend: Backend) -> str | None:
    native = backend.functions["device"](x)
    return next((d.kind for d in backend.devices() if d.native == native), None)


def another_library(verb: str, arrays: dict[str, Any], own: Backend, backend: Backend) -> MixedBackends:
    """The error for arrays that do not belong to the library of ``backend=``."""
    listing = "; ".join(f"{name}: {described(x, own)}" for name, x in arrays.items())
    fixes = " and ".join(f'{name} -> xo.convert({name}, "{backend.name}")' for name in arrays)
    return MixedBackends(
        f"xo.{verb}(..., backend={backend.name!r}) was given arrays of another library: {listing}. Instead: {fixes}."
    )


def sparse_argument(verb: str, name: str, x: Any) -> Unsupported:
    """The error for a sparse container that is given to a function of dense arrays."""
    own = f"sparse.{SPARSE_NAMES.get(verb, verb)}"
    instead = f"{written(verb)} of the dense array xo.sparse.to_dense({name})"
    instead = f"xo.{own}, or {instead}" if own in OWN else instead
    return Unsupported(f"{written(verb)}: argument {name} is a sparse {type(x).__name__}. Instead: {instead}")


def written(verb: str) -> str:
    """A verb as users write it; a user's operation has its own namespace, as have NumPy's names (``np.diff``)."""
    return verb if "::" in verb or verb.startswith("np.") else f"xo.{verb}"


def described(x: Array, backend: Backend, *, device: bool = True) -> str:
    """Describe an array for an error, as ``numpy float64 (3, 2) on cpu``; what a tracer does not know is omitted."""
    dtype = _if_known(lambda: backend.functions["dtype_name"](x.dtype) or x.dtype)
    shape = _if_known(lambda: tuple(x.shape))
    text = " ".join([backend.name, *(str(part) for part in (dtype, shape) if part is not None)])
    if not device:
        return text
    native = _if_known(lambda: backend.functions["device"](x))
    place = _if_known(lambda: next((d.name for d in backend.devices() if d.native == native), native))
    return text if place is None else f"{text} on {place}"


def _if_known(ask: Callable[[], Any]) -> Any:
    """Call ``ask``; None if it raises, because that error must not replace the one that is reported."""
    try:
        return ask()
    except Exception:  # a library may raise any error about a tracer
        return None
