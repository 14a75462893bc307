"""Programs that known bugs of XLA's compiler break. This script runs them.

    python known_bug_programs.py WAY FIRST STEP

It runs the programs FIRST, FIRST + STEP … by one way of `WAYS`, and compares them with NumPy in float64. It writes the
index and name before, and the index and the number of wrong elements after. A bug may end the process: the last line
then names the program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from tempfile import TemporaryDirectory
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

import xarrayops as xo

ROWS = {"float32": 33000, "float64": 16500, "bfloat16": 70000, "complex64": 17000}
"""The number of columns of a transposed operand at which a version of XLA returns wrong values."""
SHAPES = [
    ((3, 4, 1, 5, 2), 1),
    ((3, 1, 2, 2, 8, 8), 3),
    ((3, 1, 2, 2, 8, 8, 8), 3),
    ((2, 1, 3, 2, 2, 4, 8, 4), 2),
    ((3, 4, 6, 5, 4, 5, 4, 3), 2),
]
OF_ROWS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "squares of a product": lambda xp, x, m: xp.sum(xp.square(xp.matmul(m, xp.permute_dims(x, (1, 0)))), axis=0),
    "product of transposed": lambda xp, x, m: xp.sum(xp.permute_dims(x, (1, 0)) * xp.permute_dims(x, (1, 0)), axis=0),
    "weighted by rows": lambda xp, x, m: xp.sum(xp.permute_dims(x, (1, 0)) * m[:, :1], axis=0),
    "mean of squares": lambda xp, x, m: xp.mean(xp.square(xp.permute_dims(xp.matmul(x, m), (1, 0))), axis=0),
    "average": lambda xp, x, m: xp.average(xp.permute_dims(x, (1, 0)), axis=0, weights=xp.permute_dims(x, (1, 0))),
    "var": lambda xp, x, m: xp.var(xp.permute_dims(x, (1, 0)), axis=0),
    "vector_norm": lambda xp, x, m: xp.linalg.vector_norm(xp.matmul(m, xp.permute_dims(x, (1, 0))), axis=0),
    "vecdot": lambda xp, x, m: xp.vecdot(xp.permute_dims(x, (1, 0)), xp.matmul(m, xp.permute_dims(x, (1, 0))), axis=0),
    "einsum": lambda xp, x, m: xp.einsum("ij,jk,ik->i", x, m, x),
}
OF_AXES: dict[str, Callable[[Any, Any, Any, int], Any]] = {
    "sum of a product": lambda xp, x, w, axis: xp.sum(x * w, axis=axis),
    "mean of squares": lambda xp, x, w, axis: xp.mean(xp.square(x - w), axis=axis),
    "sum of a broadcast product": lambda xp, x, w, axis: xp.sum(x * w[..., :1], axis=axis),
    "transposed": lambda xp, x, w, axis: xp.sum(xp.moveaxis(x, axis, 0) * xp.moveaxis(w, axis, 0), axis=0),
    "average": lambda xp, x, w, axis: xp.average(x, axis=axis, weights=w),
    "var": lambda xp, x, w, axis: xp.var(x, axis=axis),
    "std of all": lambda xp, x, w, axis: xp.std(x),
    "vector_norm": lambda xp, x, w, axis: xp.linalg.vector_norm(x, axis=axis),
    "matrix_norm": lambda xp, x, w, axis: xp.linalg.matrix_norm(x),
    "vecdot": lambda xp, x, w, axis: xp.vecdot(x, w, axis=axis),
    "matmul": lambda xp, x, w, axis: xp.matmul(x, xp.matrix_transpose(w)),
    "tensordot": lambda xp, x, w, axis: xp.tensordot(x, w, axes=((axis, x.ndim - 1), (axis, x.ndim - 1))),
    "einsum": lambda xp, x, w, axis: xp.einsum("a...z,a...z->...", x, w),
    "trapezoid": lambda xp, x, w, axis: xp.trapezoid(x, w, axis=axis),
    "prod": lambda xp, x, w, axis: xp.prod(x, axis=axis),
    "cumulative_sum": lambda xp, x, w, axis: xp.cumulative_sum(x * w, axis=axis),
    "nanmean": lambda xp, x, w, axis: xp.nanmean(x * w, axis=axis),
    "nanvar": lambda xp, x, w, axis: xp.nanvar(x, axis=axis),
}
TOLERANCES = {"float32": 1e-4, "float64": 1e-9, "bfloat16": 5e-2, "complex64": 1e-3}


def _in_a_branch(f: Callable[..., Any], x: Any, y: Any) -> Any:
    return xo.cond(jnp.asarray(True), f, f, x, y)


def _in_a_scan(f: Callable[..., Any], x: Any, y: Any) -> Any:
    return xo.scan(lambda carry, _: (carry, f(carry, y)), x, length=1)[1][0]


def _in_a_loop(f: Callable[..., Any], x: Any, y: Any) -> Any:
    first = (0, jnp.zeros_like(f(x, y)))
    return xo.while_loop(lambda v: xo.less(v[0], 1), lambda v: (v[0] + 1, f(x, y)), first)[1]


def _in_a_gradient(f: Callable[..., Any], x: Any, y: Any) -> Any:
    """The result of the function in a scan, whose gradient is computed too. Complex numbers have none."""
    if xo.isdtype(x.dtype, "complex floating"):
        return _in_a_scan(f, x, y)

    def loss(x: Any) -> tuple[Any, Any]:
        found = _in_a_scan(f, x, y)
        return xo.sum(xo.real(found)), found

    (_, found), gradient = xo.value_and_grad(loss, has_aux=True)(x)
    assert gradient.shape == x.shape
    return found


def _exported(f: Callable[..., Any], x: Any, y: Any) -> Any:
    with TemporaryDirectory() as folder:
        return xo.export(f, x, y, target="stablehlo", path=f"{folder}/program")(x, y)


REFUSED_FROM = 8
"""The number of axes from which XLA's new kernels may raise an error that names them: no value is wrong."""
WAYS: dict[str, Callable[[Callable[..., Any], Any, Any], Any]] = {
    "eager": lambda f, x, y: f(x, y),
    "cond": _in_a_branch,
    "scan": _in_a_scan,
    "while_loop": _in_a_loop,
    "jit": lambda f, x, y: xo.jit(f)(x, y),
    "vmap": lambda f, x, y: xo.vmap(lambda x, y: _in_a_scan(f, x, y))(x[None], y[None])[0],
    "vmap of a branch": lambda f, x, y: xo.vmap(lambda p, x, y: xo.cond(p, f, f, x, y))(
        jnp.asarray([True]), x[None], y[None]
    )[0],
    "grad": _in_a_gradient,
    "checkpoint": lambda f, x, y: xo.checkpoint(f)(x, y),
    "export": _exported,
    "jax.jit": lambda f, x, y: jax.jit(f)(x, y),
}
OUR_WAYS = [way for way in WAYS if way != "jax.jit"]


def programs() -> Iterator[tuple[str, Callable[[Any, Any, Any], Any], str, tuple[int, ...], tuple[int, ...]]]:
    """The name of each program, its function, the dtype and the shapes of its two arrays."""
    for (name, f), (dtype, rows) in product(OF_ROWS.items(), ROWS.items()):
        yield f"{name}, {dtype}", f, dtype, (rows, 3), (3, 3)
    for (shape, axis), dtype, (name, g) in product(SHAPES, ROWS, OF_AXES.items()):
        yield (
            f"{name}, {dtype} {shape}, axis {axis}",
            lambda xp, x, y, g=g, axis=axis: g(xp, x, y, axis),
            dtype,
            shape,
            shape,
        )


def differing(found: Any, wanted: Any, dtype: str) -> int:
    """The number of elements that differ by more than rounding."""
    found = found.astype("complex128" if np.iscomplexobj(found) else "float64")
    return int((~(np.abs(found - wanted) <= TOLERANCES[dtype] * (1 + np.abs(wanted)))).sum())


def run(i: int, way: str) -> int:
    """Run a program by one way, and return the number of wrong elements."""
    _, f, dtype, *shapes = list(programs())[i]
    rng = np.random.default_rng(i)
    native = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    arrays = [rng.uniform(0.5, 1.5, shape).astype(native) for shape in shapes]
    exact = [np.asarray(x, "complex128" if dtype == "complex64" else "float64") for x in arrays]
    try:
        found = np.asarray(WAYS[way](partial(f, xo), *map(jnp.asarray, arrays)))
    except jax.errors.JaxRuntimeError as error:
        if "YNNPACK" not in str(error) or len(shapes[0]) < REFUSED_FROM:
            raise
        return 0
    return differing(found, np.asarray(f(np, *exact)), dtype)


def main(way: str, first: int, step: int) -> None:
    """Run the programs by this way; or, if it is "in turn", each by another way of ours."""
    jax.config.update("jax_enable_x64", True)
    for i in range(first, len(list(programs())), step):
        chosen = OUR_WAYS[i % len(OUR_WAYS)] if way == "in turn" else way
        print(json.dumps([i, f"{chosen}: {list(programs())[i][0]}"]), flush=True)
        print(json.dumps([i, run(i, chosen)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
