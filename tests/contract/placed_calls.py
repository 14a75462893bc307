"""Calls of every public function with arrays, for arrays in another place than usual: another device, or shards.

The rows of the contract suite have the functions of the standard and those beyond it. `OWN_CALLS` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import numpy as np

import xarrayops as xo
from xarrayops._surface import CREATION, OWN
from xarrayops.plugin.nested import fill
from xarrayops.testing._suite.suite import ContractSuite, rows
from xarrayops.testing._suite.table import NativeDtype, Row, supported_cases

Make = Callable[[Any], Any]
"""Makes an array of the library from NumPy's."""

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 4)).astype("float32")
V = RNG.normal(size=6).astype("float32")
ODD = RNG.normal(size=(3, 5)).astype("float32")
MASK = X > 0
INDICES = np.asarray([5, 0, 3, 2])
Q = RNG.normal(size=(2, 2, 6, 4)).astype("float32")
SIGNAL, KERNEL = RNG.normal(size=(2, 2, 8)).astype("float32"), RNG.normal(size=(2, 2, 3)).astype("float32")
IMAGE, FILTER = RNG.normal(size=(2, 2, 8, 6)).astype("float32"), RNG.normal(size=(2, 2, 3, 3)).astype("float32")
VOLUME, BLOCK = RNG.normal(size=(2, 2, 4, 4, 4)).astype("float32"), RNG.normal(size=(2, 2, 3, 3, 3)).astype("float32")
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "arange": (5,),
    "asarray": ([1.0, 2.0, 3.0],),
    "empty": ((3, 5),),
    "eye": (5,),
    "fft.fftfreq": (5,),
    "fft.rfftfreq": (6,),
    "full": ((3, 5), 2.0),
    "geomspace": (1.0, 8.0, 4),
    "kaiser": (5, 8.6),
    "linspace": (0.0, 1.0, 5),
    "logspace": (0.0, 2.0, 5),
    "ones": ((3, 5),),
    "zeros": ((3, 5),),
}
"""The arguments of creation functions; a window takes its length."""
NEED_NO_LIKE = ("from_dlpack", "random.default_rng", "random.key", "shard")


def _sparse(m: Make, **options: Any) -> Any:
    return xo.sparse.from_dense(m(np.where(MASK, X, 0)), **options)


def _draws(generator: Any, m: Make) -> list[Any]:
    x = m(X)
    return [
        generator.normal(size=(3, 5)),
        generator.random(5),
        generator.integers(10, size=(6, 4)),
        generator.permutation(x),
        generator.choice(x, 3),
        generator.exponential(size=7),
        generator.beta(2.0, 0.5, size=3),
        generator.bits((4, 2)),
        generator.spawn(1)[0].normal(size=3),
    ]


OWN_CALLS: dict[str, tuple[Callable[[Make], Any], ...]] = {
    "array_namespace": (lambda m: xo.array_namespace(m(X)).sum(m(X), axis=0),),
    "as_strided": (lambda m: xo.as_strided(m(X), (2, 2), (4, 1)),),
    "at": (
        lambda m: xo.at(m(X))[3:5].set(7.0),
        lambda m: xo.at(m(X))[3].add(m(X[0])),
        lambda m: xo.at(m(X))[m(INDICES)].add(m(X[:4])),
        lambda m: xo.at(m(X))[m(MASK)].set(0.0),
        lambda m: xo.at(m(X))[1:, 2].max(0.5),
        lambda m: xo.at(m(X))[m(INDICES)].get(),
        lambda m: xo.at(m(X))[2].multiply(2.0, copy=None),
    ),
    "attention": (
        lambda m: xo.attention(m(Q), m(Q), m(Q)),
        lambda m: xo.attention(m(Q), m(Q), m(Q), causal=True, return_lse=True),
        lambda m: xo.attention(m(Q), m(Q), m(Q), mask=m(np.tril(np.ones((6, 6), bool)))),
        lambda m: xo.attention(m(Q), m(Q), m(Q), window=(2, 1), kv_lengths=[4, 6]),
    ),
    "autocast": (lambda m: _within(xo.autocast("bfloat16"), lambda: xo.matmul(m(X), m(X.T))),),
    "avg_pool1d": (lambda m: xo.avg_pool1d(m(SIGNAL), 2),),
    "avg_pool2d": (lambda m: xo.avg_pool2d(m(IMAGE), 2),),
    "avg_pool3d": (lambda m: xo.avg_pool3d(m(VOLUME), 2),),
    "calibrate": (lambda m: tuple(xo.calibrate([m(X), m(2 * X)])),),
    "checkpoint": (lambda m: xo.checkpoint(lambda x: xo.sin(x))(m(X)),),
    "compute": (lambda m: xo.compute(m(X)),),
    "cond": (lambda m: xo.cond(True, lambda x: xo.sin(x), lambda x: xo.cos(x), m(X)),),
    "contiguous": (lambda m: xo.contiguous(m(X), order="F"),),
    "conv1d": (lambda m: xo.conv1d(m(SIGNAL), m(KERNEL)),),
    "conv2d": (lambda m: xo.conv2d(m(IMAGE), m(FILTER), padding=1),),
    "conv3d": (lambda m: xo.conv3d(m(VOLUME), m(BLOCK)),),
    "convert": (
        lambda m: xo.convert(m(X), "numpy", copy=True),
        lambda m: xo.convert(X, m(V)),
        lambda m: xo.convert(ODD, m(X)),
        lambda m: xo.asarray(ODD.tolist(), like=m(X)),
        lambda m: xo.asarray(m(ODD), like=m(X)),
    ),
    "matmul": (
        lambda m: xo.matmul(_sparse(m), m(X.T)),
        lambda m: xo.matmul(m(X.T), _sparse(m, format="coo")),
        lambda m: xo.matmul(_sparse(m), xo.sparse.transpose(_sparse(m))),
    ),
    "carried": (lambda m: xo.carried(xo.sin)(m(X)),),
    "dequantize": (lambda m: xo.dequantize(xo.quantize(m(X), axis=0)),),
    "device": (lambda m: (xo.device(m(X)), None)[1],),
    "einsum": (lambda m: xo.einsum("ij,kj->ik", m(X), m(X)),),
    "choices": (lambda m: _within(xo.choices(), lambda: xo.sum(m(X), axis=1)),),
    "engines": (lambda m: _within(xo.engines("numpy"), lambda: xo.sum(m(X), axis=1)),),
    "grad": (lambda m: xo.grad(lambda x: xo.sum(xo.sin(x)))(m(X)),),
    "is_lazy": (lambda m: (xo.is_lazy(m(X)), None)[1],),
    "jit": (lambda m: xo.jit(lambda x: xo.sin(x) + 1, when="never")(m(X)), lambda m: xo.jit(xo.cos)(m(X))),
    "layout_of": (lambda m: (xo.layout_of(m(X)), None)[1],),
    "limits": (lambda m: _within(xo.limits(holds="1 GB"), lambda: xo.sum(m(X), axis=1)),),
    "shard": (lambda m: xo.shard(m(X), None),),
    "sharding_of": (lambda m: (xo.sharding_of(m(X)), None)[1],),
    "max_pool1d": (lambda m: xo.max_pool1d(m(SIGNAL), 2),),
    "max_pool2d": (lambda m: xo.max_pool2d(m(IMAGE), 2),),
    "max_pool3d": (lambda m: xo.max_pool3d(m(VOLUME), 2),),
    "on_host": (lambda m: xo.on_host(np.sin)(m(X)),),
    "persist": (lambda m: xo.persist(m(X)),),
    "pin_memory": (lambda m: (xo.pin_memory(m(X)), None)[1],),
    "measured": (lambda m: _within(xo.measured(), lambda: xo.sum(m(X), axis=1)),),
    "precision": (lambda m: _within(xo.precision(compute="bfloat16"), lambda: xo.matmul(m(X), m(X.T))),),
    "qmatmul": (lambda m: xo.qmatmul(m(X), xo.quantize(m(X.T), axis=-1)),),
    "quantize": (
        lambda m: tuple(xo.quantize(m(X))[:2]),
        lambda m: tuple(xo.quantize(m(X), axis=0, scheme="asymmetric")),
    ),
    "random.default_rng": (lambda m: _draws(xo.random.default_rng(3, like=m(X)), m),),
    "random.bits": (lambda m: xo.random.bits(xo.random.key(3, like=m(X)), (5,)),),
    "random.fold_in": (lambda m: xo.random.bits(xo.random.fold_in(xo.random.key(3, like=m(X)), 2), (5,)),),
    "random.key": (lambda m: xo.random.bits(xo.random.key(3, like=m(X)), (5, 3)),),
    "random.split": (lambda m: xo.random.bits(xo.random.split(xo.random.key(3, like=m(X)))[1], (5,)),),
    "relayout": (
        lambda m: xo.relayout(m(IMAGE), "NCHW -> NHWC"),
        lambda m: xo.relayout(m(IMAGE), "NCHW -> NCHW4c"),
    ),
    "scan": (lambda m: xo.scan(lambda total, x: (total + x, total * x), m(X[0]), m(X)),),
    "shares_memory": (lambda m: (xo.shares_memory(m(X), m(V)), None)[1],),
    "sparse.abs": (lambda m: xo.sparse.abs(_sparse(m)),),
    "sparse.add": (lambda m: xo.sparse.add(_sparse(m), _sparse(m)),),
    "sparse.astype": (lambda m: xo.sparse.astype(_sparse(m), "float32"),),
    "sparse.concat": (lambda m: xo.sparse.concat([_sparse(m), _sparse(m)]),),
    "sparse.convert": (lambda m: xo.sparse.convert(_sparse(m), "coo"),),
    "sparse.count": (lambda m: xo.sparse.count(_sparse(m), axis=0),),
    "sparse.diagonal": (lambda m: xo.sparse.diagonal(_sparse(m)),),
    "sparse.divide": (lambda m: xo.sparse.divide(_sparse(m), 2.0), lambda m: xo.sparse.divide(_sparse(m), m(X))),
    "sparse.expm1": (lambda m: xo.sparse.expm1(_sparse(m)),),
    "sparse.from_dense": (
        lambda m: _sparse(m),
        lambda m: _sparse(m, format="coo", where=m(MASK)),
        lambda m: _sparse(m, where="relu", nnz_max=24),
    ),
    "sparse.from_parts": (
        lambda m: xo.sparse.from_parts("csr", *xo.sparse.parts(_sparse(m)).arrays.values(), shape=X.shape),
        lambda m: xo.sparse.from_parts("coo", m(np.asarray([[0, 1], [2, 0]])), m(V[:2]), shape=(3, 3)),
    ),
    "sparse.log1p": (lambda m: xo.sparse.log1p(xo.sparse.abs(_sparse(m))),),
    "sparse.maximum": (lambda m: xo.sparse.maximum(_sparse(m), _sparse(m)),),
    "sparse.mean": (lambda m: xo.sparse.mean(_sparse(m), axis=0), lambda m: xo.sparse.mean(_sparse(m))),
    "sparse.multiply": (lambda m: xo.sparse.multiply(_sparse(m), 2.0), lambda m: xo.sparse.multiply(_sparse(m), m(X))),
    "sparse.negative": (lambda m: xo.sparse.negative(_sparse(m)),),
    "sparse.norm": (lambda m: xo.sparse.norm(_sparse(m), axis=1),),
    "sparse.parts": (lambda m: [*xo.sparse.parts(_sparse(m)).single_arrays.values()],),
    "sparse.power": (lambda m: xo.sparse.power(_sparse(m), 2),),
    "sparse.scale": (lambda m: xo.sparse.scale(_sparse(m), rows=m(V)),),
    "sparse.sddmm": (lambda m: xo.sparse.sddmm(m(X), m(X[:4].T), _sparse(m)),),
    "sparse.sign": (lambda m: xo.sparse.sign(_sparse(m)),),
    "sparse.sin": (lambda m: xo.sparse.sin(_sparse(m)),),
    "sparse.sqrt": (lambda m: xo.sparse.sqrt(_sparse(m)),),
    "sparse.square": (lambda m: xo.sparse.square(_sparse(m)),),
    "sparse.subtract": (lambda m: xo.sparse.subtract(_sparse(m), _sparse(m)),),
    "sparse.sum": (lambda m: xo.sparse.sum(_sparse(m), axis=0), lambda m: xo.sparse.sum(_sparse(m))),
    "sparse.take": (lambda m: xo.sparse.take(_sparse(m), m(INDICES)),),
    "sparse.tan": (lambda m: xo.sparse.tan(_sparse(m)),),
    "sparse.tanh": (lambda m: xo.sparse.tanh(_sparse(m)),),
    "sparse.topk": (lambda m: xo.sparse.topk(_sparse(m), 2), lambda m: xo.sparse.topk(_sparse(m), 1, axis=0)),
    "sparse.to_dense": (lambda m: xo.sparse.to_dense(_sparse(m)),),
    "sparse.transpose": (lambda m: xo.sparse.transpose(_sparse(m)),),
    "sparse.validate": (lambda m: (xo.sparse.validate(_sparse(m)), None)[1],),
    "synchronize": (lambda m: xo.synchronize(m(X)),),
    "use": (lambda m: _within(xo.use(m(X)), lambda: (xo.zeros((3, 5)), xo.arange(4), xo.asarray([1.0, 2.0]))),),
    "unique": (lambda m: xo.unique(m(INDICES), return_inverse=True),),
    "value_and_grad": (lambda m: xo.value_and_grad(lambda x: xo.sum(x * x))(m(X)),),
    "vmap": (lambda m: xo.vmap(lambda x: xo.cumulative_sum(x))(m(X)),),
    "while_loop": (lambda m: xo.while_loop(lambda x: xo.all(x < 9), lambda x: x + 1, m(V)),),
    "with_memory_format": (lambda m: xo.with_memory_format(m(IMAGE), "channels_last"),),
}
"""Calls of the functions of xarrayops that are no rows. Sparse results and None are not compared by value."""
WITHOUT_ARRAYS = {"backend", "backends", "explain", "export", "loss_scale", "no_grad", "operation", "profile"} | {
    *("set_default", "strict", "to_device")
}
"""They return no array, or move it on purpose."""


def _within(block: Any, call: Callable[[], Any]) -> Any:
    with block:
        return call()


def missing() -> set[str]:
    """The functions of xarrayops without a call here."""
    return set(OWN) - OWN_CALLS.keys() - WITHOUT_ARRAYS


def calls(variant: Any, *, part: int = 1) -> list[tuple[str, Callable[[Make], Any]]]:
    """Calls of all functions, by name. With a ``part``, one in so many of the rows, and an eighth of the others."""
    others = [*_calls_like(), *((f"{verb} {i}", f) for verb, listed in OWN_CALLS.items() for i, f in enumerate(listed))]
    return [*list(_calls_of_rows(variant))[::part], *others[:: 1 if part == 1 else 8]]


def _calls_like() -> Iterator[tuple[str, Callable[[Make], Any]]]:
    for verb in sorted(CREATION - {*NEED_NO_LIKE}):
        yield f"{verb} like=", lambda m, v=verb: attrgetter(v)(xo)(*ARGUMENTS.get(v, (5,)), like=m(X))


def _calls_of_rows(variant: Any) -> Iterator[tuple[str, Callable[[Make], Any]]]:
    """The first and every fourth case of each row: the others differ in their dtypes."""
    for row in rows(ContractSuite):
        for case in supported_cases(variant, row)[::4]:
            if case.arrays and not (row.creation and "like" not in case.kwargs):
                yield f"{row}{case}", _call_of_row(variant, row, case)


def _call_of_row(variant: Any, row: Row, case: Any) -> Callable[[Make], Any]:
    def call(m: Make) -> Any:
        def replace(item: Any) -> Any:
            if isinstance(item, np.ndarray):
                return m(item)
            return variant.backend.native_dtype(item.name) if isinstance(item, NativeDtype) else item

        args, kwargs = fill((case.args, case.kwargs), replace)
        return row.public(*args, **kwargs)

    return call
