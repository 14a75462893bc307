"""Generators and keys in functions that a compiler traces, and the defaults of generators."""

import numpy as np
import pytest

import xarrayops as xo


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield jax


def test_jax_refuses_a_generator_from_outside(jax):
    outside = xo.random.default_rng(0, backend="jax")
    x = jax.numpy.ones(3)
    uses = {
        "jit": lambda: jax.jit(lambda x: x + outside.random(3))(x),
        "vmap": lambda: jax.vmap(lambda x: x + outside.random())(x),
        "grad": lambda: jax.grad(lambda x: (x * outside.random(3)).sum())(x),
        "spawn": lambda: jax.jit(lambda x: x + outside.spawn(1)[0].random(3))(x),
        "key": lambda: jax.jit(lambda x: xo.random.default_rng(outside.key()).random(3))(x),
        "native": lambda: jax.jit(lambda x: x + xo.random.default_rng(0, like=x, native=True).random(3))(x),
    }
    native = uses.pop("native")
    for use in uses.values():
        with pytest.raises(xo.Unsupported, match=r"pass a key, f\(rng.key\(\), \.\.\.\)"):
            use()
    assert native().shape == (3,)  # made where it is used

    def loop(key, x):
        rng = xo.random.default_rng(key)
        return jax.lax.scan(lambda c, _: (c + rng.random(3), None), x, None, length=2)

    with pytest.raises(xo.Unsupported, match="pass a key"):
        jax.jit(loop)(xo.random.key(0, backend="jax"), x)


def consumed(key, x):
    """Products next to the numbers, which a compiler may contract with additions."""
    rng = xo.random.default_rng(key)
    a, b = rng.normal(1.7, 0.3, size=2000), rng.exponential(0.7, size=2000)
    return a, b, a * x + b, rng.normal(size=2000, dtype="float32")


def test_jax_contracts_no_product_in_our_numbers(jax):
    host = consumed(xo.random.key(3), 2.0)
    key = xo.random.key(3, backend="jax")
    constant = jax.jit(lambda x: consumed(xo.random.key(3, like=x), x))  # a constant key, which XLA may fold
    for found in (consumed(key, 2.0), jax.jit(consumed)(key, 2.0), constant(2.0)):
        for i in (0, 1, 3):
            np.testing.assert_array_equal(found[i], host[i])


def test_jax_maps_over_keys(jax):
    keys = xo.random.split(xo.random.key(9, backend="jax"), 3)
    want = [xo.random.default_rng(key).normal(size=500) for key in xo.random.split(xo.random.key(9), 3)]
    draw = lambda key: xo.random.default_rng(key).normal(size=500)
    np.testing.assert_array_equal(jax.jit(jax.vmap(draw))(keys), want)
    np.testing.assert_array_equal(jax.jit(lambda keys: jax.lax.map(draw, keys))(keys), want)
    step = jax.jit(lambda key, i: xo.random.bits(xo.random.fold_in(key, i), 3))
    np.testing.assert_array_equal(step(keys[0], 5), xo.random.bits(xo.random.fold_in(np.asarray(keys[0]), 5), 3))


def test_jax_without_64_bit_types():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False):
        rng, want = xo.random.default_rng(0, backend="jax"), xo.random.default_rng(0)
        for call, instead in (
            (lambda: rng.random(3, dtype="float64"), 'dtype="float32"'),
            (lambda: rng.normal(dtype="float64"), 'dtype="float32"'),
            (lambda: rng.integers(3, dtype="int64"), 'dtype="int32"'),
            (lambda: rng.bits(3), 'dtype="uint32"'),
        ):
            with pytest.raises(xo.Unsupported, match=instead):
                call()
            want.bits()  # a call that raises counts, too
        for low, high, dtype in ((-5, 1000, "int32"), (0, 2**32, "uint32"), (-(2**31), 2**31, "int32"), (3, 4, "int8")):
            found, expected = (each.integers(low, high, 2000, dtype=dtype) for each in (rng, want))
            np.testing.assert_array_equal(found, expected)
        for draw in (
            lambda rng: rng.normal(1.5, 0.2, size=300, dtype="float32"),
            lambda rng: rng.permutation(100),
            lambda rng: rng.choice(100, 7, replace=False),
            lambda rng: rng.bits(5, dtype="uint16"),
        ):
            np.testing.assert_array_equal(draw(rng), draw(want))
        for method, dtype, arguments in (
            ("random", "float32", ((2, 3),)),
            ("normal", "float32", (1.5, 0.2, 300)),
            ("exponential", "float32", (2.0, 300)),
            ("integers", "int32", (-5, 1000, 2000)),
        ):
            found, expected = getattr(rng, method)(*arguments), getattr(want, method)(*arguments, dtype=dtype)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, expected)


def test_a_seed_in_a_function_that_torch_compiles():
    """The key is a constant of uint32 there, which Inductor must be able to make."""
    torch = pytest.importorskip("torch")
    compiled = torch.compile(lambda x: x + xo.random.default_rng(5, like=x).random(4), fullgraph=True)
    np.testing.assert_array_equal(compiled(torch.zeros(4)), xo.random.default_rng(5).random(4))


def test_beta_numbers_in_compiled_functions(jax):
    """Also of a batch of keys, whose shapes have fewer elements than the numbers."""
    torch = pytest.importorskip("torch")
    draw = lambda key, a: xo.random.default_rng(key).beta(a, 2.0, dtype="float32")
    a = np.linspace(0.1, 9.0, 500, dtype=np.float32)
    want = np.stack([draw(key, a) for key in xo.random.split(xo.random.key(4), 3)])
    keys = xo.random.split(xo.random.key(4, backend="jax"), 3)
    for function in (draw, jax.jit(draw)):
        np.testing.assert_array_equal(function(keys[0], jax.numpy.asarray(a)), want[0])
    for function in (jax.vmap(draw, (0, None)), jax.jit(jax.vmap(draw, (0, None)))):
        np.testing.assert_array_equal(function(keys, jax.numpy.asarray(a)), want)
    keys, x = xo.random.split(xo.random.key(4, backend="torch"), 3), torch.from_numpy(a).requires_grad_()
    batched = torch.func.vmap(draw, (0, None))
    for function in (batched, torch.compile(batched, fullgraph=True, backend="aot_eager")):
        np.testing.assert_array_equal(function(keys, x), want)
    compiled = torch.compile(draw, fullgraph=True, backend="aot_eager")
    np.testing.assert_array_equal(compiled(keys[0], x), want[0])


def test_torch_refuses_a_generator_from_outside():
    torch = pytest.importorskip("torch")
    outside = xo.random.default_rng(0, backend="torch")
    with pytest.raises(Exception, match="pass a key"):
        torch.compile(lambda x: x + outside.random(3), fullgraph=True, backend="eager")(torch.ones(3))
    with pytest.raises(xo.Unsupported, match="pass a key"):
        torch.func.vmap(lambda x: x + outside.random())(torch.ones(3))
    assert outside.random(3).shape == (3,)


def test_torch_maps_over_keys():
    torch = pytest.importorskip("torch")
    keys = xo.random.split(xo.random.key(9, backend="torch"), 3)
    want = [xo.random.default_rng(key).normal(size=20_000) for key in xo.random.split(xo.random.key(9), 3)]
    draws = torch.func.vmap(lambda key: xo.random.default_rng(key).normal(size=20_000))
    for draw in (draws, torch.compile(draws, fullgraph=True, backend="aot_eager")):
        np.testing.assert_array_equal(draw(keys).numpy(), want)
    inside = torch.compile(lambda x: x + xo.random.default_rng(3, like=x).random(3), fullgraph=True, backend="eager")
    np.testing.assert_array_equal(inside(torch.zeros(3)).numpy(), xo.random.default_rng(3).random(3))


def test_an_exported_program_of_torch_has_no_operator_of_ours():
    torch = pytest.importorskip("torch")

    class Noise(torch.nn.Module):
        def forward(self, key, x):
            return x + xo.random.default_rng(key).random(3)

    key, x = xo.random.key(3, backend="torch"), torch.zeros(3)
    program = torch.export.export(Noise(), (key, x))
    assert not [node for node in program.graph.nodes if "xarrayops" in str(node.target)]
    np.testing.assert_array_equal(program.module()(key, x).numpy(), xo.random.default_rng(3).random(3))


def test_torch_without_values():
    torch = pytest.importorskip("torch")
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    meta = xo.random.default_rng(0, backend="torch", device="meta").normal(size=40_000)
    assert (meta.device.type, tuple(meta.shape), meta.dtype) == ("meta", (40_000,), torch.float64)
    with fake.FakeTensorMode():
        x = xo.random.default_rng(0, backend="torch").normal(size=40_000)
    assert (tuple(x.shape), x.dtype) == ((40_000,), torch.float64)


def test_the_dtype_does_not_depend_on_like():
    small = np.zeros(2, dtype=np.float32)
    assert xo.random.default_rng(0, like=small).random().dtype == "float64"
    assert xo.random.default_rng(0, dtype="float32").normal(size=2).dtype == "float32"
    with xo.use(dtype="float32"):
        rng = xo.random.default_rng(0)
    assert rng.exponential(size=2).dtype == "float32"
    with pytest.raises(ValueError, match="float64 or float32"):
        xo.random.default_rng(0, dtype="float16")
    with pytest.raises(ValueError, match="float64 or float32"):
        rng.random(3, dtype="int64")


def test_the_defaults_of_place():
    torch = pytest.importorskip("torch")
    with xo.use("torch"):
        assert isinstance(xo.random.default_rng(0).random(2), torch.Tensor)
        assert isinstance(xo.random.key(0), torch.Tensor)
    key = xo.random.key(0, backend="torch")
    assert isinstance(xo.random.default_rng(key).random(2), torch.Tensor)
    with pytest.raises(TypeError, match="native=True needs an integer"):
        xo.random.default_rng(key, native=True)
    with pytest.raises(TypeError, match="not both"):
        xo.random.default_rng(0, like=key, backend="torch")


def test_explain_names_the_kernels():
    found = xo.explain("random.bits", xo.random.key(0), 10)
    assert [each.name for each in found.candidates] == ["numpy:compiled", "numpy:blocks", "numpy:generic"]
    assert found.chosen == "numpy:blocks"
    assert "65536 elements" in found.candidates[0].reason
