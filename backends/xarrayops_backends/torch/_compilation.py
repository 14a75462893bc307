"""Compiled functions: `torch.compile`, the branches and loops that it traces, and PyTorch's own generators.

Also the ways in which PyTorch runs a function, and whether `xarrayops.export` traces one.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from threading import local
from types import FunctionType, ModuleType
from typing import Any

import array_api_compat.torch
import torch
from torch.compiler import is_compiling

from xarrayops.plugin import Array, RunMode, constant_while_tracing
from xarrayops.plugin.generic import HOOKS
from xarrayops.plugin.nested import fill, leaves_as
from xarrayops_backends.torch._tracing import transforms as _transforms

_torch: Any = torch  # untyped: PyTorch does not annotate these functions
Arrays = tuple[Array, ...]
Step = Callable[[Arrays, Arrays], tuple[Arrays, Any]]
UNROLLED = 16
"""The longest loop whose steps are compiled one by one."""


def compiled(function: Callable[..., Any], dynamic_axes: tuple[tuple[int, int], ...], /) -> Callable[..., Any]:
    """`torch.compile` without graph breaks; inside of torch.func the function itself."""

    def call(*arrays: Array) -> Any:
        return function(*arrays)

    # Dynamo keeps the programs of all functions of one code object together, and limits their number
    of = function if isinstance(function, FunctionType) else call
    own = FunctionType(of.__code__.replace(), of.__globals__, of.__name__, of.__defaults__, of.__closure__)
    own.__kwdefaults__ = of.__kwdefaults__
    options = {"guard_filter_fn": _needed}
    program = _torch.compile(own, fullgraph=True, dynamic=None if dynamic_axes else False, options=options)

    def run(*arrays: Array) -> Any:
        return function(*arrays) if _transforms() else program(*arrays)

    def first(*arrays: Array) -> Any:
        for i, axis in dynamic_axes:
            _torch._dynamo.mark_dynamic(arrays[i], axis % arrays[i].ndim)
        with warnings.catch_warnings():  # parts of the compiler are deprecated, and a warning may be an error
            warnings.simplefilter("ignore")
            result = run(*arrays)
        vars(first)["direct"] = run
        return result

    return first


def _is_own(value: Any) -> bool:
    is_module = isinstance(value, ModuleType)
    return is_module and value.__name__.partition(".")[0] in ("xarrayops", "xarrayops_backends")


def _needed(guards: Sequence[Any]) -> list[bool]:
    """Which of Dynamo's guards are kept: not those on variables of xarrayops, which are often 90 % of all guards.

    Checking them would take most of a call. The keys of `xarrayops.jit` have the modes and defaults that calls read.
    """
    own = tuple(f"{guard.name}." for guard in guards if guard.name and _is_own(guard.value))
    for guard in guards:
        if guard.guard_type == "TENSOR_MATCH":
            # PyTorch builds guards twice, and asserts that both refer to one object. A captured NumPy array gets a new
            # tensor each time.
            guard.orig_guard.obj_weakref = None
    return [not any(each in guard.name for each in own) for guard in guards]


def is_transformed() -> bool:
    """Whether Dynamo or torch.func traces."""
    return is_compiling() or _transforms()


def random_state() -> tuple[Any, Callable[[], None]]:
    """The states of the generators of the CPU and of the GPUs in use."""
    is_used = torch.cuda.is_available() and _torch.cuda.is_initialized()
    cpu, cuda = torch.get_rng_state(), torch.cuda.get_rng_state_all() if is_used else []

    def restore() -> None:
        torch.set_rng_state(cpu)
        if cuda:
            torch.cuda.set_rng_state_all(cuda)

    return [x.numpy().tobytes() for x in (cpu, *cuda)], restore


def cond(predicate: Array, if_true: Callable[..., Any], if_false: Callable[..., Any], operands: Arrays, /) -> Any:
    """`torch.cond` under torch.compile; both functions under torch.func.vmap; otherwise the chosen function."""
    if is_compiling():
        return _torch.cond(predicate, _owning(if_true), _owning(if_false), operands)
    if not torch._C._functorch.is_batchedtensor(predicate):  # type: ignore[attr-defined, unused-ignore]
        return if_true(*operands) if bool(predicate) else if_false(*operands)
    chosen = if_true(*operands)
    others = leaves_as(chosen, if_false(*operands))
    return fill(chosen, lambda x: torch.where(predicate, x, next(others)))


def _owning(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with results in new memory: operators of higher order refuse results that are arguments."""

    def call(*arrays: Array) -> Any:
        return fill(function(*arrays), torch.clone)

    return call


def while_loop(condition: Callable[..., Array], body: Callable[..., Arrays], values: Arrays, /) -> Arrays:
    """PyTorch's operator under torch.compile, otherwise a Python loop."""
    if is_compiling():
        from torch._higher_order_ops.while_loop import while_loop as operator

        return operator(condition, _owning(body), values)  # type: ignore[no-untyped-call]
    return HOOKS["while_loop"](array_api_compat.torch, condition, body, values)


def scan(
    step: Step, carry: Arrays, xs: Arrays, length: int, stacked: Callable[[list[Any]], Any], /
) -> tuple[Arrays, Any]:
    """PyTorch's operator for long loops under torch.compile, otherwise a Python loop."""
    if is_compiling() and length > UNROLLED:
        return _by_operator(step, carry, xs, length)
    return HOOKS["scan"](array_api_compat.torch, step, carry, xs, length, stacked)


def _by_operator(step: Step, carry: Arrays, xs: Arrays, length: int) -> tuple[Arrays, Any]:
    from torch._higher_order_ops.scan import scan as operator

    items = xs or (torch.arange(length, device=carry[0].device),)  # the operator needs an array of items

    def of_item(given: Arrays, row: Arrays) -> tuple[Arrays, Any]:
        after, y = step(given, row if xs else ())
        return after, () if y is None else y

    last, found = operator(_owning(of_item), carry, items)
    return last, None if found == () else found


def _without_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under torch.compile without code generation, which would take a minute with a C++ compiler."""
    torch.compiler.reset()
    return torch.compile(function, backend="aot_eager")


def _on_meta(x: Array) -> Array:
    return x.to("meta")


def compilations() -> int:
    """The graphs that Dynamo handed to a backend of `torch.compile`."""
    utils = sys.modules.get("torch._dynamo.utils")  # only a compilation imports it
    return 0 if utils is None else int(utils.counters["stats"]["unique_graphs"])


def run_modes() -> tuple[RunMode, ...]:
    """Eagerly, on the meta device, and under torch.compile."""
    meta = partial(torch.device, "meta")
    return (
        RunMode(has_devices=True, host_calls=("torch.Tensor.__array__",)),
        RunMode("meta", place=_on_meta, context=meta, traces=True, has_values=False, has_devices=True),
        RunMode("compile", compiled=_without_code, traces=True, has_devices=True),
    )


class _Thread(local):
    is_exporting = False


exporting_thread = _Thread()


@constant_while_tracing
def _is_exporting() -> bool:
    """Whether `xarrayops.export` traces a function in this thread; a constant for Dynamo.

    Then attention uses PyTorch's public function, and operations of users run their references: other kernels may not
    exist where the file is loaded. In a user's own `torch.export` they are operators, as under torch.compile.
    """
    return exporting_thread.is_exporting
