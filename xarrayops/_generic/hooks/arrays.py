"""The generic hooks: one function for each hook of `xarrayops.plugin`, written on a standard namespace ``xp``.

A backend that does not define a hook gets the one in this module, with its own namespace as ``xp``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import ModuleType
from typing import Any

from xarrayops._generic.attention import attention as attention
from xarrayops._generic.hooks.compilation import (
    compiled as compiled,
    cond as cond,
    is_transformed as is_transformed,
    random_state as random_state,
    scan as scan,
    while_loop as while_loop,
)
from xarrayops._generic.hooks.convolution import convolution as convolution, pooling as pooling
from xarrayops._generic.hooks.export import exporters as exporters
from xarrayops._generic.hooks.indexing import select as select, update as update
from xarrayops._generic.hooks.precision import (
    product_precision as product_precision,
    register_state as register_state,
    rounded as rounded,
)
from xarrayops._generic.hooks.products import matmul_int32 as matmul_int32
from xarrayops._generic.hooks.random import (
    native_draw as native_draw,
    native_generator as native_generator,
    random_draw as random_draw,
    random_keys as random_keys,
    random_permutation as random_permutation,
)
from xarrayops._generic.hooks.sets import unique as unique
from xarrayops._generic.hooks.transformations import (
    carries_mode as carries_mode,
    carry_mode as carry_mode,
    carry_operation as carry_operation,
    checkpoint as checkpoint,
    compilations as compilations,
    crossings as crossings,
    native_kernel as native_kernel,
    no_grad as no_grad,
    run_modes as run_modes,
    value_and_grad as value_and_grad,
    vjp as vjp,
    vmap as vmap,
)
from xarrayops._generic.quantization import opaque as opaque
from xarrayops.errors import Unsupported, available_names
from xarrayops.plugin.arrays import Array, Device, Gap, Memory, Queue, unsupported
from xarrayops.plugin.dtypes import DTYPE_NAMES

NAMESPACES = "xarrayops.namespaces."
"""The beginning of the names of namespaces."""


def wrap(xp: ModuleType, verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
    """No function is changed."""
    return function


def _library(xp: ModuleType) -> str:
    """The name of the library whose functions a namespace has."""
    return xp.__name__.removeprefix(NAMESPACES)


def versions(xp: ModuleType) -> dict[str, str]:
    """The version of the namespace's library."""
    import importlib

    root = _library(xp).partition(".")[0]
    return {root: str(getattr(importlib.import_module(root), "__version__", "unknown"))}


def devices(xp: ModuleType) -> list[Device]:
    """The devices that ``__array_namespace_info__`` lists."""
    return [Device(str(d), str(d), d) for d in xp.__array_namespace_info__().devices()]


def device_attributes(xp: ModuleType, device: Any, /) -> dict[str, int | str]:
    """The standard defines no device attributes."""
    return {}


def free_bytes(xp: ModuleType, device: Any, /) -> int | None:
    """The standard does not report free memory."""
    return None


def release_memory(xp: ModuleType, device: Any, /) -> None:
    """The standard defines no memory cache."""


def peak_bytes(xp: ModuleType, device: Any, call: Callable[[], Any], /) -> int | None:
    """The standard does not report peak memory."""
    return None


def precision_switches(xp: ModuleType) -> dict[str, str]:
    """The standard defines no settings."""
    return {}


def refine(xp: ModuleType, x: Array, /) -> str | None:
    """The class determines the backend."""
    return None


def refuse(xp: ModuleType, x: Array, /) -> Gap | None:
    """Every array is supported."""
    return None


def as_dtype(xp: ModuleType, name: str, /) -> Any:
    """The attribute of that name in the namespace."""
    own = {n: getattr(xp, n) for n in DTYPE_NAMES if getattr(xp, n, None) is not None}
    if name not in own:
        raise ValueError(available_names(name, own))
    return own[name]


def dtype_name(xp: ModuleType, dtype: Any, /) -> str | None:
    """The name of the attribute of the namespace that is the dtype."""
    return next((name for name in DTYPE_NAMES if hasattr(xp, name) and _same_dtype(getattr(xp, name), dtype)), None)


def _same_dtype(own: Any, dtype: Any) -> bool:
    """Equality of two dtypes. A NumPy scalar class equals its dtype, and array_api_strict warns of other classes."""
    return (isinstance(own, type) or type(own) is type(dtype)) and own == dtype


def default_floating_dtype(xp: ModuleType) -> Any:
    """As the inspection API of the standard reports it."""
    return xp.__array_namespace_info__().default_dtypes()["real floating"]


def set_default_dtype(xp: ModuleType, name: str | None, /) -> None:
    """The standard has no such setting."""


def as_device(xp: ModuleType, device: Any, /) -> Any:
    """The device of that name."""
    known = xp.__array_namespace_info__().devices()
    for candidate in known:
        if candidate == device or str(candidate) == device:
            return candidate
    if device == "cpu" and len(known) == 1:
        return known[0]
    raise ValueError(available_names(device, map(str, known)))


def device(xp: ModuleType, x: Array, /) -> Any:
    """The attribute ``device`` of the standard."""
    return x.device


def to_device(xp: ModuleType, x: Array, device: Any, /) -> Array:
    """The method ``to_device`` of the standard."""
    return x if x.device == device else x.to_device(device)


def trace_state(xp: ModuleType) -> Any:
    """The standard has no compiler."""
    return None


def is_lazy(xp: ModuleType, x: Array, /) -> bool:
    """The standard has no such query; the library is assumed to be eager."""
    return False


def compute(xp: ModuleType, *arrays: Array) -> tuple[Array, ...]:
    """Nothing is lazy."""
    return arrays


def persist(xp: ModuleType, *arrays: Array) -> tuple[Array, ...]:
    """Nothing is lazy."""
    return arrays


def returned(xp: ModuleType, x: Array, /) -> Array:
    """Functions return arrays."""
    return x


def serving_others(xp: ModuleType) -> AbstractContextManager[Any]:
    """The library gives no warnings about values."""
    return nullcontext()


def synchronize(xp: ModuleType, *arrays: Array) -> None:
    """Nothing runs behind the caller's back."""


def einsum(xp: ModuleType, subscripts: str, /, *operands: Array) -> Array:
    """Broadcast, multiply and sum. The product has an axis for every label, so it may be large."""
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if "." in subscripts:
        raise Unsupported("the generic einsum does not support an ellipsis. Instead: name every axis by a letter")
    if len(terms) != len(operands):
        raise ValueError(f"einsum {subscripts!r} has {len(terms)} terms for {len(operands)} operands")
    if "->" not in subscripts:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    if not set(output) <= set(inputs) - {","} or len(set(output)) < len(output):
        raise ValueError(f"einsum {subscripts!r}: a label of the result must be in an operand, and be unique")
    labels = output + "".join(sorted(set(inputs) - {","} - set(output)))
    product = None
    for term, operand in zip(terms, operands, strict=True):
        factor = _spread(xp, term, operand, labels)
        product = factor if product is None else xp.multiply(product, factor)
    summed = tuple(range(len(output), len(labels)))
    assert product is not None
    return xp.sum(product, axis=summed, dtype=product.dtype) if summed else product


def _spread(xp: ModuleType, term: str, operand: Array, labels: str) -> Array:
    """The operand with one axis per label; a label that occurs twice selects the diagonal."""
    if len(term) != operand.ndim:
        raise ValueError(f"einsum term {term!r} has {len(term)} axes, but the operand has shape {tuple(operand.shape)}")
    for label in sorted(set(term)):
        while term.count(label) > 1:
            first = term.index(label)
            second = term.index(label, first + 1)
            rest = [i for i in range(len(term)) if i not in (first, second)]
            operand = xp.linalg.diagonal(xp.permute_dims(operand, (*rest, first, second)))
            term = "".join(term[i] for i in rest) + label
    operand = xp.permute_dims(operand, tuple(term.index(c) for c in labels if c in term))
    extents = iter(operand.shape)
    return xp.reshape(operand, tuple(next(extents) if c in term else 1 for c in labels))


def memory(xp: ModuleType, x: Array, /) -> Memory | None:
    """The memory of an array as NumPy imports it through DLPack; None if NumPy cannot import it."""
    import numpy as np

    if not hasattr(x, "__dlpack_device__") or x.__dlpack_device__()[0] != 1:
        return None
    try:
        view = np.from_dlpack(x)
    except (BufferError, ValueError, TypeError, RuntimeError):
        return None
    return Memory(
        dtype=view.dtype.name,
        shape=view.shape,
        strides=view.strides,
        itemsize=view.itemsize,
        pointer=view.ctypes.data,
        device="cpu",
        readonly=not view.flags.writeable,
    )


def memory_offset(xp: ModuleType, x: Array, /) -> int:
    """The standard has no offset; 0 is assumed."""
    return 0


def contiguous(xp: ModuleType, x: Array, /) -> Array:
    """A copy by the host kernels, if x is in host memory and not contiguous."""
    seen = memory(xp, x)
    if seen is None or seen.is_compact:
        return x
    from xarrayops._host import permute  # imports NumPy, which `memory` has imported before

    return from_numpy(xp, permute.contiguous(to_numpy(xp, x)), x.device)


as_strided = unsupported("the standard has no strides", instead="xo.take(xo.reshape(x, (-1,)), indices), which copies")
pin_memory = unsupported("the standard has no pinned memory", instead='xo.pin_memory(xo.convert(x, "torch"))')


def export_refusal(xp: ModuleType, x: Array, /) -> str | None:
    """Every array may be converted."""
    return None


def import_refusal(xp: ModuleType, dtype: str, /) -> str | None:
    """The reason that as_dtype raises."""
    return dtype_refusal(_library(xp), partial(as_dtype, xp), dtype)


def dtype_refusal(library: str, as_dtype: Callable[[str], Any], dtype: str, /) -> str | None:
    """The hook import_refusal for a library that imports every dtype of its ``as_dtype``."""
    try:
        as_dtype(dtype)
    except ValueError as error:
        return f"{library} has no dtype {dtype}: {error}. Instead: xo.astype(x, ...) to one of its dtypes"
    except Unsupported as error:
        return str(error)
    return None


def alias_refusal(xp: ModuleType, memory: Memory, /, *, forced: bool) -> str | None:
    """Writable host memory of a known dtype can be aliased."""
    if memory.device != "cpu":
        return f"{_library(xp)} cannot import memory of device {memory.device}"
    if import_refusal(xp, memory.dtype) is not None or any(s % memory.itemsize for s in memory.strides):
        return f"memory of {memory.dtype} in an order or layout that DLPack lacks"
    return "read-only memory" if memory.readonly or memory.immutable else None


def alias(xp: ModuleType, x: Any, memory: Memory, host: Callable[[], Any], /) -> Array:
    """The standard's DLPack import."""
    return xp.from_dlpack(x)


def exporting(xp: ModuleType, x: Array, /) -> AbstractContextManager[Any]:
    """The standard needs no context."""
    return nullcontext()


def packed(xp: ModuleType, x: Array, /) -> Array:
    """A copy by the standard."""
    return xp.asarray(x, copy=True)


def queue(xp: ModuleType, x: Array, /) -> Queue | None:
    """Nothing runs behind the caller's back."""
    return None


def outlive(xp: ModuleType, x: Array, stream: int, /) -> bool:
    """The standard has no streams."""
    return False


def tie(xp: ModuleType, x: Array, owner: object, /) -> Array:
    """Never called, because there is no queue."""
    raise NotImplementedError("a backend that defines the hook queue must also define the hook tie")


def try_as_numpy(xp: ModuleType, x: Array, /) -> Any:
    """None: a plan is always needed."""
    return None


def try_from_numpy(xp: ModuleType, a: Any, /) -> Array | None:
    """None: a plan is always needed."""
    return None


def to_numpy(xp: ModuleType, x: Array, /) -> Any:
    """A host view through DLPack, or a copy if a view is not possible."""
    import numpy as np

    try:
        return np.from_dlpack(x)
    except (AttributeError, BufferError, ValueError, TypeError, RuntimeError):
        return np.asarray(x)


def from_numpy(xp: ModuleType, a: Any, device: Any, /) -> Array:
    """A copy by ``asarray`` of the namespace."""
    return xp.asarray(a.astype(a.dtype.newbyteorder("="), copy=False), device=device, copy=True)
