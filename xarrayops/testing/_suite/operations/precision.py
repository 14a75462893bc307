"""Precision policies, against a float64 oracle whose operands are rounded as the policy says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.errors import Unsupported
from xarrayops.plugin import gap_of
from xarrayops.plugin.precision import HALVES
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle
from xarrayops.testing._suite.samples import Host, sample
from xarrayops.testing._suite.table import called, exercises
from xarrayops.testing._suite.variant import Variant

POLICIES: tuple[dict[str, str], ...] = (
    {"products": "ieee"},
    {"products": "tf32"},
    {"compute": "bfloat16", "output": "float32"},
    {"compute": "bfloat16", "output": "bfloat16"},
    {"compute": "bfloat16", "accumulate": "float64", "output": "float32"},
    {"compute": "float16", "output": "float32"},
    {"compute": "float16", "output": "float16"},
    {"accumulate": "float64"},
    {"compute": "float64", "output": "float64"},
)
"""The policies that each library applies or refuses for float32 operands."""
TERMS = 600
"""So many terms that a sum in a half type has a larger error than its operands: TERMS * eps > 1."""
SIGNIFICANT = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""The significant bits of each dtype."""
A, B = (
    sample("float32", shape, low=128, high=255).round() / np.float32(128) + np.float32(2**-9 + 2**-12)
    for shape in ((4, TERMS), (TERMS, 5))
)
"""Positive numbers that all half types round down, so that the errors of products add up."""
Q, K, V = (sample("float32", (2, 3, 8, 16), low=-1, high=1, seed=i) for i in range(3))
Product = Callable[..., Any]
PRODUCTS: dict[str, tuple[Product, Product, tuple[Host, ...]]] = {
    "matmul": (xo.matmul, np.matmul, (A, B)),
    "einsum": (partial(xo.einsum, "ij,jk->ik"), np.matmul, (A, B)),
    "tensordot": (partial(xo.tensordot, axes=1), np.matmul, (A, B)),
    "vecdot": (xo.vecdot, lambda a, b: np.sum(a * b, axis=-1), (A, A[::-1])),
}
"""The function, its oracle and the operands."""


def as_rounded(x: Host, dtype: str) -> Host:
    """The nearest numbers of a dtype, ties to even, as float64; bfloat16 by its bits, because NumPy lacks it."""
    if dtype != "bfloat16":
        return x.astype(dtype).astype("float64")
    bits = x.astype("float32").view("uint32")
    nearest = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return nearest.view("float32").astype("float64")


def gap(variant: Variant, policy: dict[str, str]) -> bool:
    """Whether the library lacks a dtype of a policy, or cannot round operands of float32."""
    functions = variant.backend.functions
    dtypes = [policy.get(name) for name in ("compute", "accumulate", "output")]
    lacks = any(name is not None and functions["import_refusal"](name) is not None for name in dtypes)
    return lacks or (policy.get("compute", "float32") != "float32" and gap_of(functions["rounded"]) is not None)


@exercises("precision")
class PrecisionSuite:
    """Blocks that set the precision of products, and the scaling of losses."""

    @pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: "-".join(policy.values()))
    def test_a_product_keeps_every_policy(self, variant: Variant, policy: dict[str, str]) -> None:
        """The error comes from rounded operands, sums in the wide dtype, and one rounding of the result."""
        check_product(variant, "matmul", policy)

    @pytest.mark.parametrize("verb", PRODUCTS)
    def test_every_product_keeps_a_policy(self, variant: Variant, verb: str) -> None:
        """Products of rounded operands, in float32."""
        if gap_of(variant.backend.functions[verb]) is None:
            check_product(variant, verb, {"compute": "bfloat16", "output": "float32"})

    @pytest.mark.parametrize("output", ["float32", "bfloat16"])
    def test_attention_keeps_a_policy(self, variant: Variant, output: str) -> None:
        """Attention of rounded q, k and v. The weights may be rounded if the result has a half type."""
        policy = {"compute": "bfloat16", "output": output}
        q, k, v = map(variant.array, (Q, K, V))
        with xo.precision(**policy):
            if gap(variant, policy):
                with pytest.raises(Unsupported):
                    xo.attention(q, k, v)
                return
            got, lse = called(variant, "attention", partial(xo.attention, return_lse=True), q, k, v)
        names = variant.backend.functions["dtype_name"]
        assert (names(got.dtype), names(lse.dtype) in ("float32", "float64")) == (output, True)
        found = variant.values(got).astype("float64")
        want, exact = (
            attention_oracle(*each)[0] for each in ((as_rounded(x, "bfloat16") for x in (Q, K, V)), (Q, K, V))
        )
        assert np.abs(found - want).max() <= (2e-6 if output == "float32" else 2.0**-7)
        assert output != "float32" or np.abs(found - exact).max() > 1e-4

    def test_a_policy_leaves_integers_and_complex_numbers_alone(self, variant: Variant) -> None:
        """Their results are the same as without a block."""
        for dtype in ("int32", "complex64"):
            if dtype not in variant.dtypes:
                continue
            x = sample(dtype, (3, 3))
            with xo.precision(compute="float64", output="float64"):
                got = variant.run(xo.matmul, variant.array(x), variant.array(x))
            wide = x.astype("complex128") if dtype == "complex64" else x
            check_array(variant, got, wide @ wide, dtype=dtype, ulps=64)

    @exercises("autocast")
    @pytest.mark.parametrize("dtype", HALVES)
    def test_autocast(self, variant: Variant, dtype: str) -> None:
        """Products use a half type; sums, exponentials and norms of half types use float32; float64 is unchanged."""
        x = variant.array(sample("float32", (3, 3)))
        names = variant.backend.functions["dtype_name"]
        with xo.autocast(dtype):
            if gap(variant, {"compute": dtype}):
                with pytest.raises(Unsupported):
                    xo.matmul(x, x)
                return
            half = variant.run(xo.matmul, x, x)
            assert names(half.dtype) == dtype
            assert names(variant.run(xo.add, half, half).dtype) == dtype
            for function in (xo.sum, xo.mean, xo.exp, xo.softmax, xo.linalg.vector_norm):
                assert names(variant.run(function, half).dtype) == "float32"
            if "float64" in variant.dtypes:
                wide = variant.array(sample("float64", (3, 3)))
                assert names(variant.run(xo.matmul, wide, wide).dtype) == "float64"
            with xo.autocast(None):
                assert names(variant.run(xo.matmul, x, x).dtype) == "float32"

    @exercises("loss_scale")
    def test_loss_scale(self, variant: Variant) -> None:
        """The sequence of scales, with gradients that are and are not finite."""
        state = xo.loss_scale(8.0, growth_interval=2)
        finite, infinite = (variant.array(np.asarray([x, 2.0], "float32")) for x in (1.0, np.inf))
        scales = []
        for gradient in (finite, finite, infinite, finite, finite, finite):
            gradients, is_finite = variant.run(state.unscale, {"w": gradient, "b": [gradient, None]})
            check_array(variant, gradients["b"][0], variant.values(gradient) / _scale(variant, state), dtype="float32")
            state = variant.run(state.adjust, is_finite)
            scales.append(_scale(variant, state))
        assert scales == [8.0, 16.0, 8.0, 8.0, 16.0, 16.0]
        assert float(variant.values(variant.run(state.scale, finite))[1]) == 32.0


def check_product(variant: Variant, verb: str, policy: dict[str, str]) -> None:
    """Check a product of float32 under a policy, which the library applies or refuses."""
    function, oracle, operands = PRODUCTS[verb]
    x1, x2 = map(variant.array, operands)
    with xo.precision(**policy):
        if gap(variant, policy):
            with pytest.raises(Unsupported):
                function(x1, x2)
            return
        got = called(variant, verb, function, x1, x2)
    output = policy.get("output", "float32")
    assert variant.backend.functions["dtype_name"](got.dtype) == output
    found = variant.values(got).astype("float64")
    exact = oracle(*(x.astype("float64") for x in operands))
    want = oracle(*(as_rounded(x, policy.get("compute", "float32")) for x in operands))
    sums = TERMS * 2.0 ** -SIGNIFICANT[policy.get("accumulate", "float32")]
    if policy.get("products") == "tf32":
        sums += 2.0**-10
    bound = (sums + 1.01 * 2.0 ** -SIGNIFICANT[output]) * want  # all terms are positive
    assert np.all(np.abs(found - want) <= bound), f"errors {np.abs(found - want) / want}"
    if policy.get("compute") in HALVES and output == "float32":
        assert np.all(np.abs(found - exact) > 3 * bound), "the operands were not rounded"


def _scale(variant: Variant, state: xo.LossScale) -> float:
    """The scale as a Python number."""
    return state.value if isinstance(state.value, float) else float(variant.values(state.value))
