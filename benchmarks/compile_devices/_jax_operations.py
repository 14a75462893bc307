"""The operations on JAX: those of every library, those with transformations of JAX, and those on its sparse arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.sparse import BCSR

import xarrayops as xo
from benchmarks.compile_devices import _operations
from benchmarks.compile_devices._operations import Operation, array

_X, _SQUARE = array("float32", 64, 48), array("float32", 64, 64)
_HEADS = array("bfloat16", 2, 8, 1024, 64)
_STORED = (array("float32", 200), array("int32", 200), array("int32", 65))
"""The data, columns and row pointers of a (64, 64) matrix."""


def _gradients(q: Any, k: Any, v: Any) -> Any:
    return jax.grad(lambda *given: xo.attention(*given).astype(jnp.float32).sum(), argnums=(0, 1, 2))(q, k, v)


def _stored(function: Callable[..., Any], *, rows: bool = True, more: Sequence[Any] = ()) -> Operation:
    """An operation on a sparse matrix, by rows or by coordinates."""

    def call(data: Any, columns: Any, pointers: Any, *others: Any) -> Any:
        matrix = BCSR((data, columns, pointers), shape=(64, 64), indices_sorted=True, unique_indices=True)
        return function(matrix if rows else matrix.to_bcoo(), *others)

    return Operation(call, (*_STORED, *more))


def _count(x: Any) -> Any:
    return xo.while_loop(lambda state: state[1] < 5, lambda state: (state[0] * 2, state[1] + 1), (x, jnp.int32(0)))


_MORE = (array("float32", 64, 32),)
_ROWS = array("float32", 64)
_SPARSE = {
    **{
        f"sparse.{name}": _stored(getattr(xo.sparse, name))
        for name in (
            *("abs", "count", "diagonal", "expm1", "log1p", "mean", "negative", "norm", "parts", "sign", "sin"),
            *("sqrt", "square", "sum", "tan", "tanh", "to_dense", "transpose"),
        )
    },
    **{
        f"sparse.{name}": _stored(lambda s, name=name: getattr(xo.sparse, name)(s, s))
        for name in ("add", "maximum", "multiply", "subtract")
    },
    "sparse.divide": _stored(lambda s, y: xo.sparse.divide(s, y), more=(_SQUARE,)),
    "sparse.power": _stored(lambda s: xo.sparse.power(s, 2.0)),
    "sparse.astype": _stored(lambda s: xo.sparse.astype(s, "float64")),
    "sparse.concat": _stored(lambda s: xo.sparse.concat([s, s])),
    "sparse.convert": _stored(lambda s: xo.sparse.convert(s, format="coo")),
    "sparse.scale": _stored(lambda s, y: xo.sparse.scale(s, rows=y), more=(_ROWS,)),
    "sparse.take": _stored(lambda s, i: xo.sparse.take(s, i), more=(array("int32", 10),)),
    "sparse.topk": _stored(lambda s: xo.sparse.topk(s, 2)),
    "sparse.sddmm": _stored(lambda s, a, b: xo.sparse.sddmm(a, b, s), more=(*_MORE, array("float32", 32, 64))),
    "sparse.from_dense": Operation(lambda x: xo.sparse.from_dense(x, format="csr", nnz_max=200), (_SQUARE,)),
    "matmul csr dense": _stored(xo.matmul, more=_MORE),
    "matmul coo dense": _stored(xo.matmul, rows=False, more=_MORE),
    "matmul csr vector": _stored(xo.matmul, more=(_ROWS,)),
    "matmul dense csr": _stored(lambda s, x: xo.matmul(x, s), more=(array("float32", 32, 64),)),
    "matmul csr csr": _stored(lambda s: xo.matmul(s, s)),
}
OPERATIONS: dict[str, Operation] = {
    **_operations.OPERATIONS,
    "attention gradient": Operation(_gradients, (_HEADS,) * 3, ("fused attention",)),
    "attention vmap": Operation(
        jax.vmap(xo.attention), (array("bfloat16", 3, 2, 8, 512, 64),) * 3, ("fused attention",)
    ),
    "while_loop": Operation(_count, (_X,)),
    "checkpoint": Operation(jax.grad(lambda x: xo.sum(xo.square(xo.checkpoint(xo.sin)(x)))), (_X,)),
    **_SPARSE,
}
