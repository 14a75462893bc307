"""Transformations that are made, or only called, inside a function that torch.compile traces as a whole."""

import pytest

import xarrayops as xo

torch = pytest.importorskip("torch")


def energy(x):
    return xo.sum(x * x)


OUTER = {"grad": xo.grad(energy), "vmap": xo.vmap(xo.sin), "checkpoint": xo.checkpoint(xo.sin)}
CALLS = {
    "grad": lambda x: xo.grad(energy)(x),
    "value_and_grad": lambda x: xo.value_and_grad(energy)(x)[1],
    "vmap": lambda x: xo.vmap(xo.sin)(x),
    "checkpoint": lambda x: xo.checkpoint(xo.sin)(x),
    "grad of outside": lambda x: OUTER["grad"](x),
    "vmap of outside": lambda x: OUTER["vmap"](x),
    "checkpoint of outside": lambda x: OUTER["checkpoint"](x),
}


@pytest.mark.parametrize("f", CALLS.values(), ids=CALLS)
def test_values(f):
    torch._dynamo.reset()
    x = torch.arange(1.0, 5.0)
    assert torch.equal(torch.compile(lambda x: f(x), fullgraph=True, backend="eager")(x), f(x))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_no_grad_ends_with_its_block(backend):
    def two(x):
        with xo.no_grad():
            constant = xo.sin(x)
        return constant, xo.no_grad()(xo.cos)(x), xo.cos(x)

    torch._dynamo.reset()
    x = torch.ones(3, requires_grad=True)
    found = torch.compile(two, fullgraph=True, backend=backend)(x)
    assert [each.requires_grad for each in found] == [False, False, True]
    assert all(map(torch.equal, found, two(x)))
