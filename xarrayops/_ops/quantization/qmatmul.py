"""qmatmul: products of quantised matrices."""

from __future__ import annotations

from xarrayops import standard as xp
from xarrayops._core.backends.mixed import described
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.errors import explaining_arrays
from xarrayops._core.modes.precision import under_policy
from xarrayops._ops.explained import explain_served
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.quantization.operands import backend_of, checked_quantized, shown
from xarrayops._ops.quantization.quantize import quantized
from xarrayops._ops.quantization.schemes import Quantized
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.products import greatest_terms


@explaining_arrays("qmatmul")
def qmatmul(x: Array | Quantized, w: Quantized, /) -> Array:
    """The matrix product of activations and quantised weights.

    Parameters
    ----------
    x : array or Quantized
        The activations, in a shape that `matmul` accepts with w. A float16, bfloat16, float32 or float64 array is
        quantised here, each row separately in the symmetric scheme (dynamic quantisation). For static
        quantisation pass ``xo.quantize(x, calibration=...)``.
    w : Quantized
        The weights: for shape (inputs, outputs) ``xo.quantize(weights, axis=-1)`` has a scale for each output.

    Returns
    -------
    array
        A new array in the shape of ``matmul(x, w.values)``: float64 if a scale is, and otherwise float32.

    Raises
    ------
    OverflowError
        Sums of this length may not fit int32. This is determined from shapes and dtypes, before anything is computed.
    TypeError
        w is not Quantized.
    ValueError
        The shapes do not fit, or an operand has several scales along the contracted axis.
    MixedBackends
        The operands are of several libraries.

    Notes
    -----
    The values are multiplied exactly, as by ``matmul(..., out_dtype="int32")``, and corrected for the zeros in int32.
    The sum becomes a floating-point number and is multiplied by the product of the two scales: two roundings, and one
    of the product of scales. So the result has the same bits on every library, and under ``jax.jit``, ``torch.compile``
    on CPUs and on Dask; a compiler may fuse a sum that follows it.

    Laws: up to these roundings, ``qmatmul(x, w) == matmul(dequantize(quantize(x, axis=-2)), dequantize(w))`` for a
    matrix x. A row of the result depends only on that row of x. For each element, with the scales sx and sw, the error
    of the product of x and the array from which w was made is at most
    ``(sw * sum(abs(x)) + sx * sum(abs(w)) + K * sx * sw / 2) / 2``, where the sums have K terms, plus 2**-13 of
    ``K * (abs(x).max() + sx) * (abs(w).max() + sw)`` for roundings.

    In a block of `precision` or `autocast`, an array x is rounded to the ``compute`` dtype before it is quantised, and
    the result has the ``output`` dtype. A quantised x and w are not affected.

    A row or a column with a NaN is NaN. The gradient with respect to x is zero: rounding is a step function.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> w = xo.quantize(np.asarray([[1.0, -0.5], [0.25, 2.0]], np.float32), axis=-1)
    >>> y = xo.qmatmul(np.asarray([[1.0, 2.0]], np.float32), w)
    >>> np.round(y, 2)
    array([[1.51, 3.49]], dtype=float32)
    """
    backend = _checked(x, w)
    if isinstance(x, Quantized):
        return _product(backend, x, w)

    def dynamic(x: Array) -> Array:
        return _product(backend, quantized(backend, x, tuple(range(x.ndim - 1)) or None, "symmetric", "int8"), w)

    return under_policy(backend, (x,), dynamic)


def _product(backend: Backend, x: Quantized, w: Quantized) -> Array:
    """The exact sums, each multiplied once by the product of its two scales."""
    left, right = _stacked(x, first=True), _stacked(w, first=False)
    scale = xp.multiply(left.scale, right.scale)
    out = xp.multiply(xp.astype(_sums(backend, left, right), scale.dtype), scale)
    rows, columns = (0 if q.values.ndim == 1 else slice(None) for q in (x, w))
    return out if x.values.ndim > 1 < w.values.ndim else out[..., rows, columns]


def _sums(backend: Backend, x: Quantized, w: Quantized) -> Array:
    """The exact sums of the products of the values without their zeros, in int32."""
    sums = backend.functions["matmul_int32"](x.values, w.values)
    if w.zero is not None:
        rows = xp.sum(x.values, axis=-1, keepdims=True, dtype="int32")
        sums = xp.subtract(sums, xp.multiply(rows, w.zero))
    if x.zero is not None:
        columns = xp.sum(w.values, axis=-2, keepdims=True, dtype="int32")
        if w.zero is not None:
            columns = xp.subtract(columns, xp.multiply(w.zero, x.values.shape[-1]))
        sums = xp.subtract(sums, xp.multiply(columns, x.zero))
    return sums


def _stacked(q: Quantized, *, first: bool) -> Quantized:
    """The operand with at least two axes, the scale and the zero with as many axes or 0-d, and the zero in int32."""

    def with_axes(part: Array) -> Array:
        if not part.ndim:
            return part
        shape = (1,) * (q.values.ndim - part.ndim) + tuple(part.shape)
        if len(shape) == 1:
            shape = (1, *shape) if first else (*shape, 1)
        return part if shape == tuple(part.shape) else xp.reshape(part, shape)

    zero = None if q.zero is None else xp.astype(with_axes(q.zero), "int32")
    values = q.values
    if values.ndim == 1:
        values = values[None, :] if first else values[:, None]
    return Quantized(values, with_axes(q.scale), zero)


def _checked(x: Array | Quantized, w: Quantized) -> Backend:
    """The backend of the operands. Raises if shapes do not fit, or the sums may not fit int32."""
    backend = checked_quantized("qmatmul", "w", w)
    if isinstance(x, Quantized):
        checked_quantized("qmatmul", "x", x)
    values = x.values if isinstance(x, Quantized) else x
    backend_of("qmatmul", {"x": values, "w": w.values})

    def call() -> str:
        activations = shown("x", backend, x) if isinstance(x, Quantized) else described(x, backend)
        return f"xo.qmatmul({activations}, {shown('w', backend, w)})"

    if not (values.ndim and w.values.ndim):
        raise ValueError(f"{call()}: an operand is 0-d")
    axis = -2 if w.values.ndim > 1 else -1
    terms, others = values.shape[-1], w.values.shape[axis]
    if terms != others and terms == terms and others == others:  # a size that Dask has not computed is NaN
        raise ValueError(f"{call()}: the contracted axes have different lengths")
    for name, q, contracted in (("x", x, -1), ("w", w, axis)):
        if isinstance(q, Quantized) and any(_varies(part, contracted) for part in (q.scale, q.zero)):
            raise ValueError(
                f"{call()}: {name} has several scales along the contracted axis. Instead: xo.quantize with axis=-2 "
                f"for a matrix x, and axis=-1 for a matrix w"
            )
    named = backend.functions["dtype_name"]
    first = named(values.dtype) if isinstance(x, Quantized) else "int8"
    zeros = sum(isinstance(q, Quantized) and q.zero is not None for q in (x, w))
    greatest = greatest_terms(first, named(w.values.dtype), zeros=zeros)
    if terms > greatest:
        raise OverflowError(
            f"{call()}: sums of {terms} products may exceed int32, sums of {greatest} cannot. Instead: the sum of the "
            f"qmatmul of parts of the axis"
        )
    return backend


def _varies(part: Array | None, axis: int) -> bool:
    """Whether a scale or a zero has several elements along an axis."""
    return part is not None and part.ndim >= -axis and part.shape[axis] != 1


def explain_qmatmul(verb: str, x: Array | Quantized, w: Quantized, /) -> Explanation:
    """The kernels that serve the exact product."""
    backend = _checked(x, w)
    values = x.values if isinstance(x, Quantized) else xp.empty_like(x, dtype="int8")
    return explain_served(verb, backend, Call((values, w.values), {}), hook="matmul_int32")
