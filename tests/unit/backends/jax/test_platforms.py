"""A program that is traced on this machine takes the kernels of the platform for which it is lowered."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402


def spec(dtype: str, *shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.dtype(dtype))


def lowered(function: Callable[..., Any], platform: str, *given: Any) -> str:
    """The program in StableHLO, for a platform that this machine need not have."""
    return str(jax.jit(function).trace(*given).lower(lowering_platforms=(platform,)).as_text())


def int32_product(a: Any, b: Any) -> Any:
    return xo.matmul(a, b, out_dtype="int32")


QUERIES, KEYS = spec("float32", 1, 1, 512, 64), spec("float32", 1, 1, 8192, 64)
ROWS = spec("float32", 8, 4096)
BYTES, UNSIGNED = spec("int8", 512, 512), spec("uint8", 512, 512)
SIGNED_PRODUCT = "precision = [DEFAULT, DEFAULT] : (tensor<512x512xi8>, tensor<512x512xi8>)"
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, bool]]] = {
    # what the program for CPUs contains (True), or that for accelerators (False)
    "attention": (xo.attention, (QUERIES, KEYS, KEYS), {"512x2048xf32": True, "512x8192xf32": False}),
    "max": (xo.max, (ROWS,), {"stablehlo.or": True}),
    "argmax": (lambda x: xo.argmax(x, axis=0), (ROWS,), {"stablehlo.optimization_barrier": True}),
    "matmul int8": (int32_product, (BYTES, BYTES), {SIGNED_PRODUCT: False}),
    "matmul uint8": (int32_product, (UNSIGNED, UNSIGNED), {SIGNED_PRODUCT: False}),
    "matmul of both signs": (int32_product, (UNSIGNED, BYTES), {SIGNED_PRODUCT: False}),
    "matmul uint8 wrapping": (xo.matmul, (UNSIGNED, UNSIGNED), {SIGNED_PRODUCT: False}),
    "checkpoint": (
        jax.grad(lambda x: xo.sum(xo.checkpoint(lambda y: xo.sin(xo.sin(y)))(x))),
        (ROWS,),
        {"stablehlo.optimization_barrier": False},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_kernels_are_those_of_the_platform(name: str) -> None:
    function, given, marks = CASES[name]
    for mark, on_cpu in marks.items():
        assert (mark in lowered(function, "cpu", *given)) is on_cpu
        assert (mark in lowered(function, "cuda", *given)) is not on_cpu


def test_a_maximum_on_a_gpu_is_one_reduction() -> None:
    """Its instruction keeps NaN (shown by benchmarks/compile_devices), so no second reduction looks for NaN."""
    for platform, count in (("cuda", 1), ("rocm", 1), ("tpu", 2)):
        assert lowered(xo.max, platform, ROWS).count("stablehlo.reduce(") == count


@pytest.mark.parametrize(("first", "second"), [("uint8", "uint8"), ("uint8", "int8"), ("int8", "uint8")])
@pytest.mark.parametrize(
    "shapes", [((30, 700), (700, 90)), ((2, 40, 300), (300, 50)), ((900,), (900,)), ((900,), (900, 3)), ((3, 9), (9,))]
)
def test_products_of_unsigned_numbers_through_int8(first: str, second: str, shapes: Any) -> None:
    """The kernel of accelerators, run here: exact in int32."""
    from xarrayops_backends.jax._standard.linalg import _dot_general

    random = np.random.default_rng(0)
    x, y = (
        random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
        for dtype, shape in zip((first, second), shapes, strict=True)
    )
    np.testing.assert_array_equal(_dot_general(jnp.asarray(x), jnp.asarray(y)), x.astype("int32") @ y.astype("int32"))


def test_tf32_is_named_on_cuda() -> None:
    """XLA's own kernels do not use TF32 for the precision "high". Other platforms refuse the name."""
    square = spec("float32", 64, 64)
    functions = (xo.matmul, xo.tensordot, lambda a, b: xo.einsum("ij,jk->ik", a, b), xo.vecdot)
    for function in functions:

        def product(a: Any, b: Any, function: Any = function) -> Any:
            with xo.precision(compute="float32", products="tf32"):
                return function(a, b)

        assert "tf32" in lowered(product, "cuda", square, square)
        assert "tf32" not in lowered(function, "cuda", square, square)
        for platform in ("cpu", "tpu", "rocm"):
            assert "tf32" not in lowered(product, platform, square, square)


@pytest.mark.parametrize("name", ["linalg.eig", "linalg.eigvals"])
def test_what_a_platform_lacks_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """XLA has no eigenvalues of general matrices on TPUs: benchmarks/compile_devices shows it."""
    from xarrayops_backends.jax._standard import lacking

    function = operator.attrgetter(name)(xo)
    function(jnp.eye(3))
    monkeypatch.setattr(lacking, "_platform_of", lambda x: "tpu")
    with pytest.raises(xo.errors.Unsupported, match="to_device"):
        function(jnp.eye(3))


def test_only_float64_lacks_nextafter(monkeypatch: pytest.MonkeyPatch) -> None:
    from xarrayops_backends.jax._standard import lacking

    monkeypatch.setattr(lacking, "_platform_of", lambda x: "tpu")
    x = jnp.ones(3, "float32")
    assert bool((xo.nextafter(x, 2 * x) > x).all())
    with jax.enable_x64(True), pytest.raises(xo.errors.Unsupported, match="float32"):
        xo.nextafter(jnp.ones(3, "float64"), jnp.ones(3, "float64"))


@pytest.mark.parametrize("name", ["normal", "exponential"])
def test_float64_normals_are_refused_on_tpus(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their logarithm needs the bits of float64."""
    from xarrayops_backends.jax import _random

    monkeypatch.setattr(_random, "_platform_of", lambda x: "tpu")
    with jax.enable_x64(True):
        generator = xo.random.default_rng(0, like=jnp.ones(3))
        getattr(generator, name)(size=3, dtype="float32")
        with pytest.raises(xo.errors.Unsupported, match="float32"):
            getattr(generator, name)(size=3, dtype="float64")
