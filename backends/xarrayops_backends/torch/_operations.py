"""Operations of users under torch.compile, autograd, vmap and export: operators of torch.library; native kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._C import _len_torch_dispatch_stack
from torch._C._functorch import peek_interpreter_stack

from xarrayops.plugin import Array, CallTests, NotServed, Operation, constant_while_tracing, options_of, written_options
from xarrayops.plugin.native import NativeKernel, Results, eager_kernel
from xarrayops_backends.torch._compilation import _is_exporting

_torch: Any = torch  # untyped: PyTorch does not annotate these functions
CALL_TESTS = CallTests(
    eager="not _is_compiling() and _transformations() is None and not _modes()",
    eager_array="not ({x}.requires_grad and _is_grad_enabled())",
    order={"C": "{x}.is_contiguous()"},
    # A tensor of ROCm is a tensor of "cuda" for PyTorch, and not for kernels.
    device={
        "cpu": "{x}.is_cpu",
        "rocm" if torch.version.hip else "cuda": "{x}.is_cuda",
        "any": "({x}.is_cpu or {x}.is_cuda)",
    },
    address="{x}.data_ptr()",
    names={
        "_is_compiling": torch.compiler.is_compiling,
        "_transformations": peek_interpreter_stack,
        "_modes": _len_torch_dispatch_stack,
        "_is_grad_enabled": torch.is_grad_enabled,
    },
)
_defined: dict[str, tuple[Operation, Any, Any]] = {}
"""The operators by name: the operation, the operator, and the library object, with which the operator ends."""
_returns_one: dict[tuple[str, str], bool] = {}
"""Whether an operation with these options returns one tensor, and not a tuple."""


def carry_operation(operation: Operation, /) -> Callable[..., Any]:
    """The operator of the operation; the reference alone if the operation has neither a kernel nor a gradient."""
    if not operation.has_kernel and operation.gradient is None:
        return operation.reference
    operator = _operator(operation)
    name = operation.name
    plain = operation.reference if operation.gradient is None else _with_gradient(operation)

    @constant_while_tracing
    def returns_one(options: str) -> bool:
        return _returns_one[name, options]

    def call(*arrays: Array | None, **options: Any) -> Any:
        if not torch.compiler.is_compiling() and peek_interpreter_stack() is not None:
            return plain(*arrays, **options)  # torch.func transforms array code itself, and operators item by item
        if _is_exporting():
            return operation.reference(*arrays, **options)  # an operator would not exist where the file is loaded
        written = written_options(options)
        results = operator(*arrays, written)
        return results[0] if returns_one(written) else tuple(results)

    return call


def _with_gradient(operation: Operation) -> Callable[..., Any]:
    """The reference with the user's gradient, as torch.func transforms it."""
    assert operation.gradient is not None
    gradient = operation.gradient

    class Differentiable(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(options: Any, *arrays: Any) -> Any:
            return operation.reference(*arrays, **dict(options))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.options, *arrays = inputs
            ctx.save_for_backward(*arrays)

        @staticmethod
        def backward(ctx: Any, *g: Any) -> Any:
            found = gradient(g[0] if len(g) == 1 else g, *ctx.saved_tensors, **dict(ctx.options))
            return (None, *(found if isinstance(found, (tuple, list)) else (found,)))

    apply: Any = Differentiable.apply
    return lambda *arrays, **options: apply(tuple(options.items()), *arrays)


def _operator(operation: Operation) -> Any:
    """The operator of the operation, which is defined again if the reference or the gradient has changed."""
    if operation.name in _defined:
        known, operator, library = _defined[operation.name]
        if (known.reference, known.gradient) == (operation.reference, operation.gradient):
            return operator
        library._destroy()
    namespace, _, short = operation.name.partition("::")
    library = _torch.library.Library(namespace, "FRAGMENT")
    taken = ", ".join(f"Tensor{'' if k == 0 else '?'} {name}" for k, name in enumerate(operation.arrays))
    library.define(f"{short}({taken}, str options) -> Tensor[]", tags=torch.Tag.pt2_compliant_tag)
    functions = _Functions(operation)
    functions.operator = operator = getattr(getattr(torch.ops, namespace), short).default
    library.impl(short, functions.of_kernel, "CompositeExplicitAutograd")
    _torch.library.register_fake(operation.name, functions.of_reference, lib=library)
    torch.library.register_autograd(operation.name, functions.backward, setup_context=_keep, lib=library)
    torch.library.register_vmap(operation.name, functions.batched, lib=library)
    _defined[operation.name] = operation, operator, library
    return operator


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    *arrays, ctx.options = inputs
    ctx.save_for_backward(*arrays)


class _Functions:
    """The functions of the operator: each returns the list of its results."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.operator: Any = None

    def of_kernel(self, *args: Any) -> list[Array]:
        """The results of the first kernel that can serve the arrays."""
        return self._listed(self.operation.serve, args)

    def of_reference(self, *args: Any) -> list[Array]:
        """The results of the reference, also of tensors without values."""
        return self._listed(self.operation.reference, args)

    def _listed(self, function: Callable[..., Any], args: tuple[Any, ...]) -> list[Array]:
        *arrays, options = args
        found = function(*arrays, **options_of(options))
        one = not isinstance(found, (tuple, list))
        _returns_one[self.operation.name, options] = one
        used = {x.untyped_storage()._cdata for x in arrays if x is not None}
        made = []
        for y in [found] if one else found:  # an operator must return new memory
            is_new = y.untyped_storage()._cdata not in used
            made.append(y if is_new else y.clone())
            used.add(made[-1].untyped_storage()._cdata)
        return made

    def backward(self, ctx: Any, grads: list[Array]) -> tuple[Any, ...]:
        """The gradients of the arrays: by the user's function, otherwise of the reference."""
        arrays, options = ctx.saved_tensors, options_of(ctx.options)
        one = _returns_one[self.operation.name, ctx.options]
        if self.operation.gradient is not None:
            found = self.operation.gradient(grads[0] if one else tuple(grads), *arrays, **options)
            given = found if isinstance(found, (tuple, list)) else (found,)
            return (*given, None)
        places = [k for k, x in enumerate(arrays) if x is not None and (x.is_floating_point() or x.is_complex())]

        def outputs(*chosen: Array) -> tuple[Array, ...]:
            filled = list(arrays)
            for place, x in zip(places, chosen, strict=True):
                filled[place] = x
            found = self.operation.reference(*filled, **options)
            return (found,) if one else tuple(found)

        values, pull = _torch.func.vjp(outputs, *(arrays[k] for k in places))
        whole = tuple(torch.zeros_like(y) if g is None else g for y, g in zip(values, grads, strict=True))
        by_place = dict(zip(places, pull(whole), strict=True))
        return (*(by_place.get(k) for k in range(len(arrays))), None)

    def batched(self, info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[list[Array], list[int]]:
        """The results of each item of a batch, stacked. Only compiled vmap gets here; see `carry_operation`."""
        *arrays, options = args
        each = (
            self.operator(*(x if d is None else x.select(d, k) for x, d in zip(arrays, in_dims, strict=False)), options)
            for k in range(info.batch_size)
        )
        stacked = [torch.stack(results) for results in zip(*each, strict=True)]
        return stacked, [0] * len(stacked)


def native_kernel(native: NativeKernel, /) -> Callable[..., Any]:
    """A native kernel. Shapes and dtypes come from the reference on tensors without values.

    tvm-ffi takes tensors without a call of ``__dlpack__``, and passes the current stream of their device.
    """

    def results(*arrays: Array, **options: Any) -> Results:
        with torch.no_grad():
            shapes = (torch.empty(x.shape, dtype=x.dtype, device="meta") for x in arrays)
            return Results.of(native.reference(*shapes, **options))

    load = native.load

    def on_device(*arguments: Any) -> None:
        # tvm-ffi passes the stream of the arguments' device, on which a kernel can only start if the device is current.
        with torch.cuda.device(arguments[0].device):
            load()(*arguments)

    placed = native if native.device == "cpu" else native._replace(load=lambda: on_device)
    return eager_kernel(placed, results=results, empty=_empty, lent=_lent)


def _empty(shape: tuple[int, ...], dtype: Any, x: Array) -> Array:
    return torch.empty(shape, dtype=dtype, device=x.device)


def _lent(x: Array) -> Array:
    """x; `NotServed` if its conjugation or negation is lazy, for which DLPack has no flags."""
    if x.is_conj() or x.is_neg():
        raise NotServed("the conjugate or the negative of a tensor is lazy. Instead: x.resolve_conj().resolve_neg()")
    return x
