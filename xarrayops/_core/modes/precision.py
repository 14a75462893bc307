"""Apply precision policies to calls: casts and products of `precision`, and the float32 of `autocast`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes.settings import Setting
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.plugin.precision import AUTOCAST, HALVES, PRODUCTS

policy: Setting[tuple[Any, ...] | None] = Setting("xo.precision")
"""The fields of the `Policy` of this thread or task: torch.compile treats a plain tuple as a constant."""
widens: Setting[bool] = Setting("xo.autocast")
"""Whether operands of half types are cast to float32 in the functions that `AUTOCAST` lists for it."""


def in_modes(
    verb: str, function: Callable[..., Any], backend: Backend, *, containers: bool = False
) -> Callable[..., Any]:
    """The function of a verb while a mode is active somewhere: it follows the policy of its thread."""
    if verb in PRODUCTS:
        return _refusing_containers(verb, function) if containers else _product(function, backend)
    return _widening(function, backend) if AUTOCAST.get(verb) == "float32" else function


def under_policy(backend: Backend, arrays: tuple[Array, ...], serve: Callable[..., Any]) -> Any:
    """The result of ``serve(*arrays)`` under the policy of this thread, which casts operands.

    If there are several results, the first has the dtype of the policy.
    """
    current = policy.value(None)
    plan = None if current is None else backend.precision_plan(current, tuple(x.dtype for x in arrays))
    if plan is None:
        return serve(*arrays)
    compute, work, output, products = plan
    hooks = backend.functions

    def operand(x: Array) -> Array:
        if compute is None:
            return x
        if x.dtype != compute:
            x = hooks["rounded"](x, compute)
        return x if x.dtype == work else hooks["astype"](x, work)

    with hooks["product_precision"](products, *arrays):
        served = serve(*map(operand, arrays))
    first, *others = served if isinstance(served, tuple) else (served,)
    if output is not None and first.dtype != output:
        first = hooks["astype"](first, output)
    return (first, *others) if isinstance(served, tuple) else first


def of_policy(backend: Backend, x: Array) -> AbstractContextManager[Any]:
    """The context in which a function without casts, or a library that serves foreign arrays, follows the policy."""
    current = policy.value(None)
    if current is None:
        return nullcontext()
    return backend.functions["product_precision"](current[3], x)


def refusal_of_engine(backend: Backend, dtype: str) -> str | None:
    """Why a library cannot serve products of foreign arrays of a dtype under the policy of this thread."""
    if policy.value(None) is None or dtype not in HALVES or backend.own_hook("product_precision") is not None:
        return None
    return f"{backend.name} does not report how it sums products of half types"


def _refusing_containers(verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The product of sparse containers, which does not support policies: it raises in a block that sets one."""

    @wraps(function)
    def product(*args: Any, **kwargs: Any) -> Any:
        if policy.value(None) is not None:
            raise Unsupported(
                f"xo.{verb}: xo.precision and xo.autocast do not support sparse containers. "
                f"Instead: dense arrays, or the call in a block of xo.autocast(None)"
            )
        return function(*args, **kwargs)

    return product


def _product(function: Callable[..., Any], backend: Backend) -> Callable[..., Any]:
    """A product that follows the policy of its thread. Arguments that are not arrays (subscripts) come first."""

    @wraps(function)
    def product(*args: Any, **kwargs: Any) -> Any:
        if policy.value(None) is None:
            return function(*args, **kwargs)
        arrays = tuple(x for x in args if hasattr(x, "dtype"))
        leading = args[: len(args) - len(arrays)]
        return under_policy(backend, arrays, lambda *cast: function(*leading, *cast, **kwargs))

    return product


def _widening(function: Callable[..., Any], backend: Backend) -> Callable[..., Any]:
    """Wrap the function: inside `autocast` it computes in float32 for operands of half types."""
    hooks = backend.functions

    @constant_while_tracing
    def is_half(dtype: Any) -> bool:
        return hooks["dtype_name"](dtype) in HALVES

    @constant_while_tracing
    def float32() -> Any:
        return hooks["as_dtype"]("float32")

    def operand(value: Any) -> Any:
        is_narrow = hasattr(value, "dtype") and is_half(value.dtype)
        return hooks["astype"](value, float32()) if is_narrow else value

    @wraps(function)
    def widening(*args: Any, **kwargs: Any) -> Any:
        if not widens.value(False):
            return function(*args, **kwargs)
        return function(*map(operand, args), **{name: operand(value) for name, value in kwargs.items()})

    return widening
