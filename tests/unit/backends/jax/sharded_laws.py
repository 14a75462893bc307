"""Laws of calls that shards serve, on eight devices. It prints the names of those that hold."""

from __future__ import annotations

import math
import re
from functools import partial
from importlib import import_module
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import xarrayops as xo

AUTO, EXPLICIT = (jax.make_mesh((8,), ("x",), axis_types=(axes,)) for axes in (AxisType.Auto, AxisType.Explicit))
RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(256, 8)).astype("float32")
VECTOR = RNG.permutation(1 << 15).astype("float32")


def split(x: Any, mesh: Any = AUTO, axis: int = 0) -> Any:
    return jax.device_put(x, NamedSharding(mesh, PartitionSpec(*[None] * axis, "x")))


def moves(verb: str, *args: Any, **options: Any) -> int | None:
    candidate, *_ = xo.explain(verb, *args, **options).candidates
    return candidate.moves


def bytes_of_the_study() -> None:
    """Those that do not depend on the number of rows or elements."""
    for rows in (1024, 8192):
        assert moves("linalg.qr", split(np.zeros((rows, 64), "float32"))) == 8 * 64**2 * 4
    for n in (1 << 15, 1 << 20):
        assert moves("median", split(np.zeros(n, "float32"))) == 3 * 256 * 4 * 4
        assert moves("sort", split(np.zeros(n, "float32"))) == 6 * n // 8 * 4
        assert moves("topk", split(np.zeros(n, "float32")), 10) == 8 * 10 * (4 + 4)
        assert moves("histogram", split(np.zeros(n, "float32")), 100, range=(0, 1)) == 100 * 4


def limits() -> None:
    calls = (("linalg.qr", TALL), ("linalg.svdvals", TALL), ("median", VECTOR), ("sort", VECTOR), ("histogram", VECTOR))
    for mesh in (AUTO, EXPLICIT):
        for verb, given in calls:
            x = split(given, mesh)
            function = xo.linalg if "." in verb else xo
            function = getattr(function, verb.removeprefix("linalg."))
            nbytes = moves(verb, x)
            with xo.limits(moves=nbytes):
                function(x)
            with xo.limits(moves=nbytes - 1), pytest.raises(xo.Unsupported, match=f"xo.{verb}: it would move"):
                function(x)
            if mesh is EXPLICIT:
                with xo.limits(moves=nbytes - 1), pytest.raises(xo.Unsupported, match=f"xo.{verb}: it would move"):
                    jax.jit(function)(x)


def r_is_unique() -> None:
    """Its diagonal is not negative, so it does not depend on the shards."""
    r = np.linalg.qr(TALL.astype("float64"), mode="r")
    want = r * np.sign(np.diagonal(r))[:, None]
    for count in (2, 4, 8):
        mesh = jax.make_mesh((count,), ("x",), devices=jax.devices()[:count])
        np.testing.assert_allclose(xo.linalg.qr(split(TALL, mesh))[1], want, atol=1e-5)
    assert xo.linalg.qr(split(TALL))._fields == ("Q", "R")
    assert xo.linalg.svd(split(TALL), full_matrices=False)._fields == ("U", "S", "Vh")


def results_keep_the_rows() -> None:
    for mesh in (AUTO, EXPLICIT):
        x, v = split(TALL, mesh), split(VECTOR, mesh)
        assert xo.sharding_of(xo.linalg.qr(x).Q).spec == ("x", None)
        assert xo.sharding_of(xo.linalg.pinv(x)).spec == (None, "x")
        assert xo.sharding_of(xo.sort(v)).spec == ("x",)
        for whole in (xo.linalg.qr(x).R, xo.median(v), xo.histogram(v)[0]):
            assert whole.is_fully_replicated
            assert whole.sharding.mesh == mesh


def gradients() -> None:
    """They equal those on one device, also of equal elements, whose gradient is their mean."""
    functions = (
        xo.median,
        lambda x: xo.sum(xo.quantile(x, 0.3) ** 2),
        lambda x: xo.sum(xo.sort(x) * xo.arange(x.shape[0], like=x)),
        lambda x: xo.sum(xo.topk(x, 7)[0] ** 2),
        lambda x: xo.nanmedian(xo.where(x > 100, x, xo.nan)),
    )
    for function in functions:
        want = jax.grad(function)(jax.numpy.asarray(VECTOR))
        for gradient in (jax.grad(function), jax.jit(jax.grad(function)), jax.grad(jax.jit(function))):
            with jax.set_mesh(EXPLICIT):  # JAX differentiates no function of split arrays without it
                np.testing.assert_allclose(gradient(split(VECTOR, EXPLICIT)), want, rtol=1e-6)
    equal = jax.jit(jax.grad(xo.median))(split(np.ones(1 << 15, "float32"), EXPLICIT))
    np.testing.assert_array_equal(equal, np.full(1 << 15, 2.0**-15))

    def of_matrix(x: Any) -> Any:
        return xo.sum(xo.linalg.svdvals(x) ** 3) + xo.sum(xo.abs(xo.linalg.qr(x)[1]))

    want = jax.grad(of_matrix)(jax.numpy.asarray(TALL))
    np.testing.assert_allclose(jax.jit(jax.grad(of_matrix))(split(TALL, EXPLICIT)), want, rtol=1e-3, atol=1e-3)


def counts_of_many_elements() -> None:
    """They need more than 32 bits."""
    from xarrayops_backends.jax._sharded import selection

    x, before = split(VECTOR), moves("median", split(VECTOR))
    most, selection._COUNTED = selection._COUNTED, 1 << 15
    try:
        jax.clear_caches()
        selection.of_shards.__globals__["_program"].cache_clear()
        assert moves("median", x) == 2 * before
        assert xo.median(x) == np.median(VECTOR)
    finally:
        selection._COUNTED = most


def other_calls_are_whole() -> None:
    """Where shards would move more, or have no plan."""
    wide, square = split(TALL.T.copy(), axis=1), split(TALL[:64])
    assert moves("linalg.qr", wide) == moves("linalg.qr", square, mode="complete") * 4 == TALL.nbytes
    assert moves("median", split(VECTOR[:256])) == 1024
    assert moves("median", split(TALL), axis=1) == moves("sort", split(TALL)) == 0
    assert moves("topk", split(VECTOR), 1 << 14) == VECTOR.nbytes
    with jax.set_mesh(EXPLICIT):
        found = jax.jit(lambda x: xo.topk(x, 1 << 14))(split(VECTOR, EXPLICIT))
    np.testing.assert_array_equal(found[0], np.sort(VECTOR)[::-1][: 1 << 14])
    z = split((VECTOR + 1j)[:64])
    np.testing.assert_array_equal(xo.sort(z), np.sort(np.asarray(z)))
    np.testing.assert_array_equal(xo.bincount(split(VECTOR.astype("int32"))), np.ones(1 << 15))
    assert moves("bincount", split(VECTOR.astype("int32"))) is None


def wrong_calls() -> None:
    """They raise the errors of arrays on one device."""
    calls = (
        lambda x: xo.quantile(x, 1.5),
        lambda x: xo.quantile(x, 0.5, method="wrong"),
        lambda x: xo.median(x, axis=3),
        lambda x: xo.sort(x, axis=2),
        lambda x: xo.topk(x, 3, axis=2),
        lambda x: xo.topk(x, 1 << 16),
        lambda x: xo.bincount(x, length=5),
        lambda x: xo.bincount(xo.astype(-x - 1, "int32")),
        lambda x: xo.histogram(x, 0),
        lambda x: xo.histogram(x, 2.5),
        lambda x: xo.histogram(x, range=(2, 1)),
        lambda x: xo.histogram(x, weights=x[:8]),
        lambda x: xo.linalg.qr(x[:, None], mode="wrong"),
        lambda x: xo.linalg.lstsq(x[:, None], x[:8]),
    )
    for call in calls:
        with pytest.raises((ValueError, TypeError, IndexError)) as one:
            call(jax.numpy.asarray(VECTOR))
        with pytest.raises(type(one.value), match=re.escape(str(one.value).partition(": ")[2])):
            call(split(VECTOR))


def split_like(shape: tuple[int, ...], axis: int) -> Any:
    place = NamedSharding(EXPLICIT, PartitionSpec(*[None] * axis, "x"))
    return jax.ShapeDtypeStruct(shape, "float32", sharding=place)


def memory(function: Any, *likes: Any) -> tuple[int, int]:
    """The bytes of the temporary arrays of a compiled function, and those together with arguments and results."""
    with jax.set_mesh(EXPLICIT):
        found = jax.jit(function).lower(*likes).compile().memory_analysis()
    temporary = found.temp_size_in_bytes
    return temporary, temporary + found.argument_size_in_bytes + found.output_size_in_bytes


def memory_of_tall_matrices() -> None:
    """One shard next to arguments and results. Those of lstsq are small: two shards, the reflections and Q."""
    x, right, shard = split_like((100_000, 64), 0), split_like((100_000,), 0), 100_000 * 64 * 4 // 8
    for function in (xo.linalg.qr, partial(xo.linalg.svd, full_matrices=False), xo.linalg.svdvals, xo.linalg.pinv):
        assert memory(function, x)[0] <= 1.1 * shard
    assert memory(xo.linalg.lstsq, x, right)[1] <= 1.01 * memory(xo.linalg.qr, x)[1]


def memory_of_the_ring() -> None:
    """Attention of split keys holds two pairs of shards, and its gradient less than that of a plain loop."""
    ring = import_module("xarrayops_backends.jax._attention.ring")
    shape = (1, 8, 1 << 16, 64)
    like = split_like(shape, 2)

    def temporary(function: Any) -> int:
        return memory(function, like, like, like)[0]

    def loss(*operands: Any) -> Any:
        return xo.attention(*operands).sum()

    pair = 2 * math.prod(shape) * 4 // 8
    assert temporary(lambda *operands: xo.attention(*operands)) <= 4 * pair + 8e6
    own, ringed = temporary(jax.grad(loss, (0, 1, 2))), ring._ringed
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ring, "_ringed", ringed.fun)  # JAX differentiates its loop
        jax.clear_caches()
        assert own <= 0.65 * temporary(jax.grad(loss, (0, 1, 2)))
    jax.clear_caches()


LAWS = (bytes_of_the_study, limits, r_is_unique, results_keep_the_rows, gradients, counts_of_many_elements)
for law in (*LAWS, other_calls_are_whole, wrong_calls, memory_of_tall_matrices, memory_of_the_ring):
    law()
    print(law.__name__)
