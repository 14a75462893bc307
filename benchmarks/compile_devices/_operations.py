"""The operations that no row of the contract has, on any library, and what their products must have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import xarrayops as xo


class Operation(NamedTuple):
    """A function, the shapes and dtypes of its arguments, and the names of the checks of its product."""

    function: Callable[..., Any]
    arguments: Sequence[Form] = ()
    checks: Sequence[str] = ()


class Form(NamedTuple):
    """The dtype and shape of an argument."""

    dtype: str
    shape: tuple[int, ...]


def array(dtype: str, *shape: int) -> Form:
    """The form of an array."""
    return Form(dtype, shape)


_X = array("float32", 64, 48)
_SQUARE = array("float32", 64, 64)
_IMAGES = array("float32", 8, 16, 32, 32)
_HEADS = array("bfloat16", 2, 8, 1024, 64)
_FEW = array("bfloat16", 2, 2, 1024, 64)
_KEY = array("uint32", 2)
_BYTES, _UNSIGNED = array("int8", 512, 512), array("uint8", 512, 512)


def _attention(**options: Any) -> Callable[..., Any]:
    return lambda q, k, v: xo.attention(q, k, v, **options)


def _drawn(name: str, *arguments: Any, dtype: str = "float32", **options: Any) -> Callable[..., Any]:
    def draw(key: Any) -> Any:
        return getattr(xo.random.default_rng(key), name)(*arguments, size=(1000,), dtype=dtype, **options)

    return draw


def _in_tf32(a: Any, b: Any) -> Any:
    with xo.precision(compute="float32", products="tf32"):
        return xo.matmul(a, b)


def _in_bfloat16(a: Any, b: Any) -> Any:
    with xo.autocast("bfloat16"):
        return xo.matmul(a, b)


def _sum_of_squares(x: Any) -> Any:
    return xo.sum(xo.multiply(x, x))


def _quantized_product(x: Any, w: Any) -> Any:
    return xo.qmatmul(xo.quantize(x, axis=0), xo.quantize(w, axis=1))


_ATTENTION = {
    "": (_attention(), (_HEADS,) * 3, ("fused attention", "no scores")),
    "causal": (_attention(causal=True), (_HEADS,) * 3, ("fused attention", "no scores")),
    "window": (_attention(causal=True, window=(128, 0)), (_HEADS,) * 3, ("fused attention", "no scores")),
    "of groups": (_attention(), (_HEADS, _FEW, _FEW), ("fused attention", "no scores")),
    "softcap": (_attention(softcap=30.0), (_HEADS,) * 3, ()),
    "with logsumexp": (_attention(return_lse=True), (_HEADS,) * 3, ()),
    "float32": (_attention(), (array("float32", 2, 8, 512, 64),) * 3, ("full precision",)),
    "mask": (lambda q, k, v, mask: xo.attention(q, k, v, mask=mask), (_HEADS,) * 3 + (array("bool", 1024, 1024),), ()),
    "bias": (
        lambda q, k, v, bias: xo.attention(q, k, v, bias=bias),
        (_HEADS,) * 3 + (array("bfloat16", 8, 1024, 1024),),
        (),
    ),
    "lengths": (
        lambda q, k, v, lengths: xo.attention(q, k, v, kv_lengths=lengths),
        (_HEADS,) * 3 + (array("int32", 2),),
        (),
    ),
}
_PRODUCTS = {
    "matmul float32": (xo.matmul, (array("float32", 512, 512),) * 2, ("full precision",)),
    "matmul float64": (xo.matmul, (array("float64", 512, 512),) * 2, ()),
    "matmul bfloat16": (xo.matmul, (array("bfloat16", 512, 512),) * 2, ()),
    "matmul int8": (lambda a, b: xo.matmul(a, b, out_dtype="int32"), (_BYTES, _BYTES), ("integer cores",)),
    "matmul uint8": (lambda a, b: xo.matmul(a, b, out_dtype="int32"), (_UNSIGNED, _UNSIGNED), ("integer cores",)),
    "matmul uint8 int8": (lambda a, b: xo.matmul(a, b, out_dtype="int32"), (_UNSIGNED, _BYTES), ("integer cores",)),
    "matmul int8 uint8": (lambda a, b: xo.matmul(a, b, out_dtype="int32"), (_BYTES, _UNSIGNED), ("integer cores",)),
    "matmul int8 wrapping": (xo.matmul, (_BYTES, _BYTES), ("integer cores",)),
    "matmul uint8 wrapping": (xo.matmul, (_UNSIGNED, _UNSIGNED), ("integer cores",)),
    "matmul batched uint8": (
        lambda a, b: xo.matmul(a, b, out_dtype="int32"),
        (array("uint8", 3, 512, 512),) * 2,
        ("integer cores",),
    ),
    "einsum": (lambda a, b: xo.einsum("ij,jk->ik", a, b), (_SQUARE, _SQUARE), ("full precision",)),
    "precision": (_in_tf32, (array("float32", 512, 512),) * 2, ("tf32",)),
    "autocast": (_in_bfloat16, (array("float32", 512, 512),) * 2, ()),
}
_QUANTIZATION = {
    "quantize": (lambda x: tuple(xo.quantize(x)[:2]), (_X,), ("rounded",)),
    "quantize by rows": (lambda x: tuple(xo.quantize(x, axis=0)[:2]), (_X,), ("rounded",)),
    "quantize asymmetric": (lambda x: tuple(xo.quantize(x, scheme="asymmetric")[:3]), (_X,), ("rounded",)),
    "dequantize": (lambda x: xo.dequantize(xo.quantize(x)), (_X,), ("rounded",)),
    "calibrate": (lambda x: xo.quantize(x, calibration=xo.calibrate(x)), (_X,), ("rounded",)),
    "qmatmul": (_quantized_product, (array("float32", 512, 512),) * 2, ("integer cores",)),
    "qmatmul of batches": (
        _quantized_product,
        (array("float32", 4, 128, 512), array("float32", 512, 512)),
        ("integer cores",),
    ),
}
_RANDOM = {
    **{
        f"random.{name} {dtype}": (_drawn(name, dtype=dtype), (_KEY,), ("rounded",))
        for name in ("random", "normal", "exponential")
        for dtype in ("float32", "float64")
    },
    "random.normal scaled": (_drawn("normal", 2.0, 3.0), (_KEY,), ("rounded",)),
    "random.beta": (_drawn("beta", 2.0, 3.0), (_KEY,), ("rounded",)),
    "random.integers": (_drawn("integers", 0, 10, dtype="int32"), (_KEY,), ()),
    "random.Generator.bits": (_drawn("bits", dtype="uint32"), (_KEY,), ()),
    "random.permutation": (lambda key: xo.random.default_rng(key).permutation(1000), (_KEY,), ()),
    "random.shuffled": (lambda key, x: xo.random.default_rng(key).shuffled(x), (_KEY, _X), ()),
    "random.choice": (lambda key, x: xo.random.default_rng(key).choice(x, 10), (_KEY, array("float32", 100)), ()),
    "random.bits": (lambda key: xo.random.bits(key, (1000,), dtype="uint32"), (_KEY,), ()),
    "random.split": (xo.random.split, (_KEY,), ()),
    "random.fold_in": (lambda key: xo.random.fold_in(key, 3), (_KEY,), ()),
    "random.key": (lambda x: xo.random.key(3, like=x), (_X,), ()),
    "random.default_rng": (lambda x: xo.random.default_rng(3, like=x).random(10) + x[0, 0], (_X,), ()),
}
_LAYOUT = {
    "relayout": (lambda x: xo.relayout(x, "NCHW -> NHWC"), (_IMAGES,), ()),
    "relayout in blocks": (lambda x: xo.relayout(x, "NCHW -> NCHW16c"), (_IMAGES,), ()),
    "contiguous": (xo.contiguous, (_X,), ()),
    "conv1d": (xo.conv1d, (array("float32", 8, 16, 64), array("float32", 32, 16, 3)), ("full precision",)),
    "conv2d": (xo.conv2d, (_IMAGES, array("float32", 32, 16, 3, 3)), ("full precision",)),
    "conv2d channels last": (
        lambda x, w: xo.conv2d(x, w, layout="NHWC"),
        (array("float32", 8, 32, 32, 16), array("float32", 32, 16, 3, 3)),
        ("full precision",),
    ),
    "conv3d": (xo.conv3d, (array("float32", 2, 4, 8, 8, 8), array("float32", 8, 4, 3, 3, 3)), ("full precision",)),
    **{
        f"{kind}_pool{rank}d": (
            lambda x, name=f"{kind}_pool{rank}d": getattr(xo, name)(x, 2),
            (array("float32", 2, 4, *(16,) * rank),),
            (),
        )
        for kind in ("avg", "max")
        for rank in (1, 2, 3)
    },
}
_CONTROL = {
    "max": (xo.max, (array("float32", 8, 4096),), ("keeps NaN",)),
    "at set": (lambda x, y: xo.at(x)[3:5].set(y), (_X, array("float32", 48)), ()),
    "at add": (lambda x, i: xo.at(x)[i].add(1.0), (_X, array("int32", 10)), ()),
    "at get": (lambda x, i: xo.at(x)[i].get(), (_X, array("int32", 10)), ()),
    "cond": (lambda x: xo.cond(x[0, 0] > 0, xo.sin, xo.cos, x), (_X,), ()),
    "scan": (lambda x: xo.scan(lambda carry, y: (carry + y, carry * y), x[0], x), (_X,), ()),
    "grad": (xo.grad(_sum_of_squares), (_X,), ()),
    "value_and_grad": (xo.value_and_grad(_sum_of_squares), (_X,), ()),
    "vmap": (xo.vmap(_sum_of_squares), (_X,), ()),
    "jit": (xo.jit(_sum_of_squares), (_X,), ()),
    "compute": (xo.compute, (_X,), ()),
}
OPERATIONS: dict[str, Operation] = {
    **{f"attention {name}".strip(): Operation(*each) for name, each in _ATTENTION.items()},
    **{
        name: Operation(*each)
        for group in (_PRODUCTS, _QUANTIZATION, _RANDOM, _LAYOUT, _CONTROL)
        for name, each in group.items()
    },
}
_MEMORY = "it is about the memory of arrays, which no compiled program shows"
_PROCESS = "it is about the process, and computes nothing"
NOT_COMPUTED = {
    **dict.fromkeys(
        ("as_strided", "convert", "device", "layout_of", "on_host", "persist", "pin_memory", "shares_memory"), _MEMORY
    ),
    **dict.fromkeys(("synchronize", "to_device", "with_memory_format"), _MEMORY),
    **dict.fromkeys(("array_namespace", "backend", "backends", "engines", "explain", "export", "is_lazy"), _PROCESS),
    **dict.fromkeys(("loss_scale", "no_grad", "operation", "profile", "set_default", "strict", "use"), _PROCESS),
    **dict.fromkeys(("sparse.from_parts", "sparse.validate"), "it checks the values of indices, which a tracer lacks"),
    "unique": "the shape of its result depends on values",
}
"""Why an operation is not compiled."""
