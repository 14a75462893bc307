"""Products in the full precision of their operands.

By default JAX multiplies float32 in TF32 or bfloat16 on GPU and TPU. The option ``jax_default_matmul_precision`` takes
precedence if it is set.

Products of 8-bit integers are exact in int32, or wrap in the dtype of the operands. XLA has kernels for exact products.
On CPUs they take at most as long as products of float32 for two arrays of int8, and 3 to 5 times as long with uint8.
Inside a program, XLA may fold a transpose into a product of integers, which then takes up to 4 times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce, wraps
from string import ascii_letters
from typing import Any

import jax
import jax.numpy as jnp

from xarrayops.plugin import Array, Call
from xarrayops.plugin.host import finfo
from xarrayops.plugin.products import MAGNITUDES, exact_terms, multiplications
from xarrayops_backends.jax._compiler import _jit
from xarrayops_backends.jax._devices import _on_platform, _platform_of, is_lazy
from xarrayops_backends.jax._dtypes import _CONFIG
from xarrayops_backends.jax._shards import primal as _primal

_SMALL = 1 << 18
"""The number of multiplications of 8-bit integers up to which JAX's own product serves."""
_MANY_COLUMNS = 128
"""The columns of x2 from which on the copy of a transposed x1 takes less time than it saves."""
# The number of blocks up to which no loop is needed: each block of an unrolled loop is compiled.
_UNROLLED = 8
_SUBSCRIPTS = frozenset(f"{ascii_letters} ,.->")


def _precision() -> Any:
    return jax.lax.Precision.HIGHEST if _CONFIG.jax_default_matmul_precision is None else None


def _multiplied(function: Callable[..., Array], *arrays: Array, **options: Any) -> Array:
    """The product by a function of JAX that has ``precision``.

    "high" allows TF32 on GPUs, but XLA's own kernels use it only if it is named, which other platforms refuse.
    """
    plain = partial(function, **options, precision=_precision())
    if _CONFIG.jax_default_matmul_precision != "high" or any(x.dtype != jnp.float32 for x in arrays):
        return plain(*arrays)
    tf32 = partial(function, **options, precision=jax.lax.DotAlgorithmPreset.TF32_TF32_F32)
    found: Array = _on_platform(_platform_of(*arrays), *arrays, cuda=tf32, default=plain)
    return found


@_jit
def _dot_general(x1: Array, x2: Array, /) -> Array:
    """XLA's integer kernels: https://github.com/jax-ml/jax/issues/17688 says that the result must be int32.

    The tensor cores of GPUs multiply int8 alone. So unsigned numbers are multiplied less 128.
    """
    signed1, signed2 = map(_signed, (x1, x2))
    product = jnp.matmul(signed1, signed2, preferred_element_type=jnp.int32)
    # (a + 128) (b + 128) = a b + 128 b + 128 (a + 128), and sums wrap as the product does.
    if x1.dtype == jnp.uint8:
        columns = signed2.sum(axis=-min(x2.ndim, 2), dtype=jnp.int32)
        product += 128 * (columns if x1.ndim == 1 or x2.ndim == 1 else columns[..., None, :])
    if x2.dtype == jnp.uint8:
        rows = x1.sum(axis=-1, dtype=jnp.int32)
        product += 128 * (rows if x2.ndim == 1 else rows[..., None])
    return product


def _signed(x: Array) -> Array:
    """8-bit integers as int8; unsigned ones less 128."""
    return jax.lax.bitcast_convert_type(x ^ 128, jnp.int8) if x.dtype == jnp.uint8 else x


@_jit
def _float32(x1: Array, x2: Array, /) -> Array:
    """Products of float32 with so few terms that they are exact, compiled as a whole; many of them in a loop."""
    terms, count = exact_terms(x1.dtype.name, x2.dtype.name), x1.shape[-1]
    rows = max(0, x2.ndim - 2)

    def product(start: Any, size: int) -> Array:
        left = jax.lax.dynamic_slice_in_dim(x1, start, size, x1.ndim - 1)
        right = jax.lax.dynamic_slice_in_dim(x2, start, size, rows)
        return jnp.matmul(left.astype(jnp.float32), right.astype(jnp.float32)).astype(jnp.int32)

    def add(i: Any, total: Array) -> Array:
        return total + product(i * terms, terms)

    blocks = count // terms
    # The last block has another size, so it is outside of the loop, whose shapes are static. It may be empty, which
    # gives zeros.
    rest = product(blocks * terms, count - blocks * terms)
    if blocks > _UNROLLED:
        return jax.lax.fori_loop(0, blocks, add, rest)
    return reduce(lambda total, i: add(i, total), range(blocks), rest)


def _dot_general_refusal(call: Call) -> str | None:
    platform = _platform_of(*call.args)
    if platform is None:
        return "the platform is unknown until the program is lowered"
    if platform == "cpu" and any(x.dtype != jnp.int8 for x in call.args):
        return "for uint8 on CPUs it takes up to 5 times as long as products of float32"
    return None


def _float32_refusal(call: Call) -> str | None:
    return "the platform is unknown until the program is lowered" if _platform_of(*call.args) is None else None


@_jit
def _of_platform(x1: Array, x2: Array, /) -> Array:
    """In a program on CPUs, XLA's integer kernels may take 4 times as long as products of float32."""
    found: Array = _on_platform(None, x1, x2, cpu=_float32, default=_dot_general)
    return found


def _matmul_bytes(x1: Array, x2: Array, /) -> Array:
    """The product in the dtype of the operands, from int32: XLA's own takes 20 times as long on CPUs."""
    kernels = (kernel for _, kernel, refusal in MATMUL_INT32_CANDIDATES if refusal(Call((x1, x2), {})) is None)
    return _narrowed(next(kernels), x1, x2)


@partial(_jit, static_argnums=0)
def _narrowed(kernel: Any, x1: Array, x2: Array, /) -> Array:
    return kernel(x1, x2).astype(jnp.result_type(x1, x2))


MATMUL_INT32_CANDIDATES = [
    ("dot_general", _dot_general, _dot_general_refusal),
    ("float32", _float32, _float32_refusal),
    ("dot_general or float32", _of_platform, lambda call: None),
]


def matmul(x1: Array, x2: Array, /) -> Array:
    """In full precision."""
    if x1.dtype.name in MAGNITUDES and x2.dtype.name in MAGNITUDES and multiplications(x1, x2) > _SMALL:
        return _matmul_bytes(x1, x2)
    return _multiplied(jnp.matmul, _unfolded(x1, x2), x2)


def _is_compiled(x: Array) -> bool:
    """Whether a compiled program computes x; JAX applies its other transformations to arrays with values as well."""
    while hasattr(x := _primal(x), "batch_dim"):
        x = x.val
    return is_lazy(x)


def _itself(x: Array) -> Array:
    return x


def _unfolded(x1: Array, x2: Array) -> Array:
    """x1 in its own memory: XLA folds a transpose into a product, which on CPUs takes up to 4 times as long.

    Other operands are in their own memory already.
    """
    columns = x2.shape[1] if x1.ndim == x2.ndim == 2 else 0  # jax.export has symbolic sizes
    if not isinstance(columns, int) or columns < _MANY_COLUMNS or not _is_compiled(x1):
        return x1
    found: Array = _on_platform(_platform_of(x1, x2), x1, cpu=jax.lax.optimization_barrier, default=_itself)
    return found


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """In full precision."""
    return _multiplied(jnp.tensordot, x1, x2, axes=axes)


_ADDED = 128
"""Products that XLA adds one after the other, within the bound of sums."""


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """In full precision. XLA adds the products one after the other on CPUs, but those of a sum in blocks."""
    count = x1.shape[axis]  # jax.export has symbolic sizes
    if isinstance(count, int) and x2.shape[axis] == count > _ADDED and jnp.result_type(x1, x2).itemsize >= 4:
        x1, x2 = (jnp.moveaxis(x, axis, -1) for x in (x1, x2))
        return jnp.sum(jnp.conj(x1) * x2, axis=-1)
    return _multiplied(jnp.vecdot, x1, x2, axis=axis)


def einsum(subscripts: str, /, *operands: Array) -> Array:
    """In full precision. Labels are letters, as in NumPy: JAX accepts any character.

    Products of several operands of half precision would be rounded after each product.
    """
    for label in subscripts:
        if label not in _SUBSCRIPTS:
            raise ValueError(f"the subscripts {subscripts!r} have the label {label!r}, which is not an ASCII letter")
    if len(operands) > 2 and jnp.result_type(*operands).name in ("float16", "bfloat16"):
        wide = (x.astype(jnp.float32) for x in operands)
        return jnp.einsum(subscripts, *wide, precision=_precision()).astype(jnp.result_type(*operands))
    return _multiplied(partial(jnp.einsum, subscripts), *operands)


def _precise(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with all products, also in its derivative, in full precision; it has no precision argument."""

    @wraps(function)
    def precise(*args: Any, **kwargs: Any) -> Any:
        with jax.default_matmul_precision(_CONFIG.jax_default_matmul_precision or "highest"):
            return function(*args, **kwargs)

    return precise


linalg_matrix_power = _precise(jnp.linalg.matrix_power)
linalg_qr = _precise(jnp.linalg.qr)


def linalg_pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """Use the standard's default tolerance; JAX's default is ten times as large."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * finfo(x.dtype).eps
    return jnp.linalg.pinv(x, rtol=rtol)
