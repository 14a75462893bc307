"""Operations of users: which kernel serves, and what the transformations of each library see."""

import math
from itertools import count

import dask.array as da
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import xarrayops as xo
from xarrayops.errors import BackendNotFound, MixedBackends, Unsupported
from xarrayops.plugin import NotServed, options_of, written_options

RNG = np.random.default_rng(0)
X, W = RNG.standard_normal((4, 6)), RNG.standard_normal(6)
_numbers = count()


def reference(x, weight=None, *, eps: float = 1e-6, axes: tuple[int, ...] = (-1,)):
    found = x / xo.sqrt(xo.mean(x * x, axis=axes, keepdims=True) + eps)
    return found if weight is None else found * weight


def oracle(x, weight, eps=1e-6):
    return x * weight / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


@pytest.fixture
def calls():
    return []


@pytest.fixture
def norm(calls):
    """An operation with a kernel for three libraries, which record their calls."""
    operation = xo.operation(f"tests::rms{next(_numbers)}", blockwise="(i),(i)->(i)")(reference)

    def recording(name):
        def kernel(x, weight, *, eps, axes):
            calls.append(name)
            return reference(x, weight, eps=eps, axes=axes)

        return kernel

    operation.kernel("numpy:fast", dtypes=("float32", "float64"), layout="C")(recording("fast"))
    operation.kernel("numpy:any", dtypes={"x": ("float32", "float64")})(recording("any"))
    operation.kernel("torch:fast", dtypes=("float32", "float64"), device="cpu", layout="C")(recording("torch"))
    operation.kernel("jax:fast", dtypes=("float32", "float64"))(recording("jax"))
    return operation


def test_first_kernel_that_can_serve(norm, calls):
    for x, weight, served in (
        (X, W, ["fast"]),
        (X[:, ::-1], W, ["any"]),
        (X, W.astype(np.float32), ["any"]),
        (X, None, ["fast"]),
        (X.astype(int), W, []),
        (X[:0], W, ["fast"]),
        (X[0], W, ["fast"]),
    ):
        calls.clear()
        found = norm(x, weight)
        assert calls == served
        np.testing.assert_allclose(found, oracle(x, np.ones(6) if weight is None else weight), rtol=1e-6)


def test_explain_gives_the_reasons(norm):
    explained = xo.explain(norm, X[:, ::-1], W)
    assert [each.name for each in explained.candidates] == ["numpy:fast", "numpy:any", "numpy:reference"]
    assert explained.candidates[0].reason == "x is not C-contiguous"
    assert explained.chosen == "numpy:any"
    assert xo.explain(norm.operation.name, torch.tensor(X), torch.tensor(W)).chosen == "torch:fast"
    mixed = xo.explain(norm, torch.tensor(X), torch.tensor(W).float())
    assert mixed.candidates[0].reason == "the arrays have different dtypes: float64, float32"
    meta = xo.explain(norm, torch.empty(2, 2, device="meta"))
    assert meta.candidates[0].reason == "x is on meta; the kernel runs on cpu"
    unbound = xo.operation(f"tests::rms{next(_numbers)}")(lambda x: x + 1)
    unbound.kernel("torch:own")(lambda x: 1 / 0)
    assert unbound(torch.empty(3, device="meta")).shape == (3,)
    integers = xo.explain(norm, X.astype(int))
    assert integers.candidates[0].reason == "x is int64; the kernel takes float32, float64"


def test_alignment_and_capability(calls):
    operation = xo.operation(f"tests::rms{next(_numbers)}")(lambda x, *, limit: x + 0)
    operation.kernel("numpy:aligned", aligned=64)(lambda x, *, limit: calls.append("aligned") or x + 0)
    operation.kernel("numpy:small", can=lambda call: None if call.args[0].size < call.kwargs["limit"] else "large")(
        lambda x, *, limit: calls.append("small") or x + 0
    )
    memory = np.zeros(4096, np.uint8)
    start = -memory.ctypes.data % 64
    aligned, shifted = memory[start : start + 64].view(np.float32), memory[start + 4 : start + 68].view(np.float32)
    operation(aligned, limit=10)
    operation(shifted, limit=20)
    operation(shifted, limit=10)
    assert calls == ["aligned", "small"]
    reasons = [each.reason for each in xo.explain(operation, shifted, limit=10).candidates]
    assert reasons[:2] == ["x is not aligned to 64 bytes", "large"]


@pytest.mark.parametrize("declared", [{"can": lambda call: None}, {"layout": "C"}], ids=("can", "layout"))
def test_kernel_that_finds_no_code_is_passed_over(calls, declared):
    operation = xo.operation(f"tests::rms{next(_numbers)}")(lambda x: x + 1)

    @operation.kernel("numpy:none", **declared)
    def _(x):
        calls.append("none")
        raise NotServed("no code for this")

    assert operation(np.zeros(2)).tolist() == [1, 1]
    found = len(calls)
    assert operation(np.zeros(2)).tolist() == [1, 1]
    assert len(calls) == found
    assert "no code for this" in xo.explain(operation, np.zeros(2)).candidates[0].reason


@pytest.mark.parametrize(
    "make", [torch.tensor, jnp.asarray, lambda x: da.from_array(x, chunks=2)], ids=("torch", "jax", "dask")
)
def test_other_libraries(norm, make):
    with jax.enable_x64(True):
        found = norm(make(X), make(W), eps=0.5)
        assert type(found) is type(make(X))
        np.testing.assert_allclose(np.asarray(found), oracle(X, W, 0.5), rtol=1e-12)


def test_dask_runs_by_blocks_without_a_computation(norm):
    x = da.from_array(X, chunks=(2, 3))
    with xo.strict(computes=0):
        found = norm(x, da.from_array(W, chunks=2), eps=0.5)
    assert found.chunks == ((2, 2), (6,))
    assert any("OfBlock" in str(key) or "rms" in str(key) for key in found.__dask_graph__())
    np.testing.assert_allclose(found.compute(), oracle(X, W, 0.5), rtol=1e-12)
    np.testing.assert_allclose(norm(x, eps=0.5).compute(), oracle(X, np.ones(6), 0.5), rtol=1e-12)


def test_torch_compile_export_and_autograd_see_an_operator(norm, calls):
    x, weight = torch.tensor(X), torch.tensor(W)
    compiled = torch.compile(lambda a, b: 2 * norm(a, b, eps=0.5), fullgraph=True, backend="aot_eager")
    np.testing.assert_allclose(compiled(x, weight).numpy(), 2 * oracle(X, W, 0.5), rtol=1e-12)
    assert calls == ["torch"]

    class Module(torch.nn.Module):
        def forward(self, a, b):
            return norm(a, b, eps=math.inf)

    graph = torch.export.export(Module(), (x, weight)).graph
    targets = [str(node.target) for node in graph.nodes if node.op == "call_function"]
    assert targets[0] == f"{norm.operation.name.replace('::', '.')}.default"
    leaves = x.clone().requires_grad_(), torch.nn.Parameter(weight.clone())
    assert torch.autograd.gradcheck(norm, leaves)
    assert torch.autograd.gradgradcheck(norm, leaves)
    assert torch.autograd.gradcheck(norm, leaves[:1])
    namespace, _, short = norm.operation.name.partition("::")
    operator = getattr(getattr(torch.ops, namespace), short).default
    torch.library.opcheck(operator, (leaves[0], weight, written_options({"eps": 0.5, "axes": (-1,)})))


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # PyTorch's own, for its jvp
def test_torch_func(norm):
    x, weight = torch.tensor(X), torch.tensor(W)
    batched = torch.func.vmap(norm, in_dims=(0, None))(x, weight)
    np.testing.assert_allclose(batched.numpy(), oracle(X, W), rtol=1e-12)
    _, tangent = torch.func.jvp(lambda a: norm(a, weight), (x,), (torch.ones_like(x),))
    _, expected = torch.func.jvp(lambda a: reference(a, weight), (x,), (torch.ones_like(x),))
    torch.testing.assert_close(tangent, expected)
    compiled = torch.compile(torch.func.vmap(norm, in_dims=(0, None)), backend="aot_eager")
    np.testing.assert_allclose(compiled(x, weight).numpy(), oracle(X, W), rtol=1e-12)


def test_jax_transformations_use_the_kernel_and_the_derivatives_of_the_reference(norm, calls):
    with jax.enable_x64(True):
        x, weight = jnp.asarray(X), jnp.asarray(W)
        found = jax.jit(lambda a, b: norm(a, b, eps=0.5))(x, weight)
        np.testing.assert_allclose(found, oracle(X, W, 0.5), rtol=1e-12)
        assert "jax" in calls

        def total(function):
            return lambda a: jnp.sum(jnp.cos(function(a, weight)))

        for transform in (jax.grad, jax.jacfwd, jax.hessian):
            np.testing.assert_allclose(transform(total(norm))(x), transform(total(reference))(x), rtol=1e-10)
        rows = jax.vmap(jax.grad(total(norm)))(x)
        np.testing.assert_allclose(rows, jax.vmap(jax.grad(total(reference)))(x), rtol=1e-10)


def straight_through(calls):
    """Rounding with the gradient of the identity; the second argument is unused."""
    operation = xo.operation(f"tests::rounded{next(_numbers)}")(lambda x, other=None, *, factor=1.0: xo.round(x))

    @operation.gradient
    def _(g, x, other, *, factor):
        calls.append("gradient")
        return g * factor, None

    return operation


def test_own_gradient_on_torch(calls):
    operation = straight_through(calls)
    for other in (None, torch.ones(3)):
        x = torch.tensor([0.4, 1.6, -2.0], requires_grad=True)
        operation(x, other, factor=3.0).sum().backward()
        assert x.grad.tolist() == [3, 3, 3]
    found = torch.func.vmap(torch.func.grad(lambda a: operation(a, factor=2.0)))(torch.ones(2))
    assert found.tolist() == [2, 2]
    assert len(calls) == 3
    plain = operation(torch.tensor([0.4]), factor=3.0)
    assert plain.tolist() == [0]
    assert not plain.requires_grad


def test_own_gradient_on_jax(calls):
    operation = straight_through(calls)
    x = jnp.asarray([0.4, 1.6])
    assert jax.grad(lambda a: operation(a, factor=3.0).sum())(x).tolist() == [3, 3]
    assert jax.jit(jax.vmap(jax.grad(lambda a: operation(a, a, factor=2.0))))(x).tolist() == [2, 2]


def test_several_results(calls):
    operation = xo.operation(f"tests::extrema{next(_numbers)}")(lambda x: (xo.min(x, axis=0), xo.max(x, axis=0)))
    operation.kernel("torch:own")(lambda x: (calls.append("own"), (x.amin(0), x.amax(0)))[1])
    x = torch.tensor(X, requires_grad=True)
    low, high = torch.compile(operation, fullgraph=True, backend="aot_eager")(x)
    (low.sum() + 2 * high.sum()).backward()
    wanted = np.equal(X, X.min(0)) + 2.0 * np.equal(X, X.max(0))
    np.testing.assert_array_equal(x.grad.numpy(), wanted)
    assert calls


def test_result_that_is_an_argument_is_copied_for_autograd():
    operation = xo.operation(f"tests::same{next(_numbers)}")(lambda x: x)
    operation.kernel("torch:own")(lambda x: x)
    x = torch.ones(2, requires_grad=True)
    operation(x).sum().backward()
    assert x.grad.tolist() == [1, 1]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"eps": 1e-6, "axes": (0, (1, -2)), "name": "inf'", "flag": True, "none": None, "z": 1 - 2j},
        {"high": math.inf, "low": (-math.inf,)},
    ],
)
def test_options_survive_as_text(options):
    assert options_of(written_options(options)) == options


def test_nan_survives_as_text():
    assert math.isnan(options_of(written_options({"fill": (math.nan,)}))["fill"][0])


def test_options_of_other_types_are_refused_where_a_graph_must_hold_them(norm):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match=r"option axes=\[0\] is a list"):
        norm(x, axes=[0])


def test_wrong_calls(norm):
    with pytest.raises(MixedBackends, match=r"tests::rms\d+ was given arrays of several libraries: x: numpy"):
        norm(X, torch.tensor(W))
    with pytest.raises(BackendNotFound, match=r"argument x is 1.0, but it must be an array"):
        norm(1.0, W)
    with pytest.raises(BackendNotFound, match=r"argument weight is 2, but it must be an array"):
        norm(X, 2)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'epsilon'"):
        norm(X, epsilon=1)
    with pytest.raises(Unsupported):
        norm(np.ma.masked_array(X), W)


def test_wrong_definitions(norm):
    with pytest.raises(ValueError, match="namespace::name"):
        xo.operation("norm")
    with pytest.raises(ValueError, match="is already defined, by"):
        xo.operation(norm.operation.name)(oracle)
    with pytest.raises(TypeError, match="fixed number of parameters"):
        xo.operation("tests::variadic")(lambda *arrays: arrays[0])
    with pytest.raises(TypeError, match="the first parameter must take an array"):
        xo.operation("tests::none")(lambda *, eps: eps)
    with pytest.raises(TypeError, match=r"eps=1 is before the \*"):
        xo.operation("tests::positional")(lambda x, eps=1: x)
    with pytest.raises(ValueError, match="does not have 1 inputs"):
        xo.operation("tests::blocks", blockwise="(i),(i)->(i)")(lambda x: x)
    with pytest.raises(ValueError, match="not the signature of a generalized ufunc"):
        xo.operation("tests::blocks", blockwise="i->i")(lambda x: x)
    with pytest.raises(ValueError, match='"library:kernel"'):
        norm.kernel("fast")
    with pytest.raises(BackendNotFound):
        norm.kernel("nolibrary:fast")
    with pytest.raises(ValueError, match='layout is "C", "F" or None'):
        norm.kernel("numpy:other", layout="K")
    with pytest.raises(ValueError, match="dtypes names y, which takes no array"):
        norm.kernel("numpy:other", dtypes={"y": ("float32",)})
    with pytest.raises(ValueError, match="already has a kernel numpy:fast"):
        norm.kernel("numpy:fast")(oracle)


def test_operation_may_be_defined_again_at_its_place():
    def define(value):
        def shifted(x):
            return x + value

        return xo.operation("tests::shifted")(shifted)

    x = torch.zeros(1, requires_grad=True)
    for value in (1, 2):
        operation = define(value)
        operation.kernel("torch:own")(operation.operation.reference)
        assert operation(x).tolist() == [value]


def test_kernels_may_be_added_later(norm, calls):
    x = np.ones((2, 2), np.int16)
    norm(x)
    norm.kernel("numpy:integers", dtypes=("int16",))(lambda x, weight, *, eps, axes: calls.append("integers"))
    norm(x)
    assert calls == ["integers"]


@pytest.mark.parametrize(
    "x", [X, X[1:, ::-2], X[:0], np.float32(1) + np.zeros(()), np.zeros(9, np.uint8)[1:].view(np.float32), RNG.bytes]
)
def test_address_of_a_numpy_array(x):
    x = np.frombuffer(x(8), np.int16)[1:] if callable(x) else np.asarray(x)  # read-only memory
    tests = xo.backend("numpy").module.CALL_TESTS
    assert eval(tests.address.format(x="x"), dict(tests.names), {"x": x}) == x.ctypes.data
