"""Engines under a precision policy: they get rounded operands, and multiply as the policy allows."""

import numpy as np
import pytest

import xarrayops as xo

torch = pytest.importorskip("torch")
RANDOM = np.random.default_rng(5)
A, B = (RANDOM.standard_normal((64, 64)).astype(np.float32) for _ in range(2))


@pytest.mark.parametrize("verb", ["matmul", "tensordot", "vecdot", "einsum"])
def test_an_engine_gets_rounded_operands(verb):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = (x.astype(ml_dtypes.bfloat16).astype(np.float64) for x in (A, B))
    function, oracle = getattr(xo, verb), {"tensordot": lambda a, b: np.tensordot(a, b, 1)}.get(verb)
    leading, options = (["ij,jk->ik"] if verb == "einsum" else []), ({"axes": 1} if verb == "tensordot" else {})
    expected = oracle(a, b) if oracle else getattr(np, verb)(*leading, a, b)
    with xo.precision(compute="bfloat16", output="float32"), xo.engines("torch"):
        assert xo.explain(verb, *leading, A, B, **options).chosen.startswith("torch:")
        found = function(*leading, A, B, **options)
    assert type(found) is np.ndarray
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert abs(function(*leading, A, B, **options) - expected).max() > 1e-3  # without a policy


def test_an_engine_multiplies_with_the_products_of_the_policy(monkeypatch):
    """A switch of the program that allows TF32 does not reach the engine's product."""
    read, seen = torch._C._get_fp32_precision_getter, []
    own = torch.matmul

    def recording(*args, **kwargs):
        seen.append(read("mkldnn", "matmul"))
        return own(*args, **kwargs)

    xo.matmul(torch.ones(2, 2), torch.ones(2, 2))
    monkeypatch.setattr(xo.backend("torch").namespace, "matmul", recording)
    monkeypatch.setattr(torch, "matmul", recording)
    torch.backends.mkldnn.matmul.fp32_precision = "tf32"
    try:
        with xo.precision(products="ieee"), xo.engines("torch"):
            xo.matmul(A, B)
        assert read("mkldnn", "matmul") == "tf32"
    finally:
        torch.backends.mkldnn.matmul.fp32_precision = "none"
    assert seen == ["ieee"]


def test_sparse_operands_are_refused_as_without_engines():
    pytest.importorskip("scipy")
    s = xo.sparse.from_dense(A)
    with xo.precision(compute="bfloat16"), xo.engines("torch"), pytest.raises(xo.Unsupported, match="sparse"):
        xo.matmul(s, B)


def test_an_engine_that_does_not_state_its_sums_of_half_types_is_passed_over(monkeypatch):
    x = torch.ones(4, 4, dtype=torch.bfloat16)
    calls = []
    numpy = xo.backend("numpy")
    monkeypatch.setattr(np, "matmul", lambda *args, **kwargs: calls.append(args))
    assert numpy.own_hook("product_precision") is None
    with xo.precision(), xo.engines("numpy"):
        assert xo.matmul(x, x).dtype == torch.bfloat16
    assert not calls
