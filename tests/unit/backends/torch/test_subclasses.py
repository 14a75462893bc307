"""Which subclasses of torch.Tensor are arrays, and which tensors have no values."""

from __future__ import annotations

import numpy as np
import pytest

import xarrayops as xo

torch = pytest.importorskip("torch", exc_type=ImportError)

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.masked import masked_tensor  # noqa: E402
from torch.nested import nested_tensor  # noqa: E402
from torch.utils._pytree import tree_map  # noqa: E402

X = torch.arange(6.0).reshape(2, 3)


class Wrapper(torch.Tensor):
    """A tensor without memory of its own, as quantised tensors of third parties are."""

    @staticmethod
    def __new__(cls, held):
        made = torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype)
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda x: x.held if isinstance(x, Wrapper) else x, (args, kwargs or {}))
        return function(*args, **kwargs)


class Derived(Wrapper):
    pass


class Tagged(torch.Tensor):
    """A tensor with memory of its own, as those of torchvision."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


REFUSED = {
    "masked": (lambda: masked_tensor(X, X > 2), r"[\w\]]\.to_tensor\(value\)"),
    "nested": (lambda: nested_tensor([X[0], X[0, :2]], layout=torch.jagged), r"[\w\]]\.to_padded_tensor\(0\.0\)"),
    "wrapper": (lambda: Wrapper(X), "Wrapper has its own __torch_dispatch__.*the tensor that it holds"),
    "derived": (lambda: Derived(X), "Derived has its own __torch_dispatch__"),
}
CALLS = {
    "sum": xo.sum,
    "at": lambda x: xo.at(x)[0].set(1.0),
    "beside": lambda x: xo.add(X, x),
    "convert": lambda x: xo.convert(x, "numpy"),
    "convert to": lambda x: xo.convert(X, x),
    "from_dlpack": xo.from_dlpack,
    "like": lambda x: xo.zeros(3, like=x),
    "list": lambda x: xo.asarray([x]),
    "namespace": xo.array_namespace,
    "sparse": lambda x: xo.sparse.validate(x),
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # some of the classes are prototypes
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", REFUSED)
def test_tensors_that_dispatch_themselves_are_refused(kind, call):
    make, message = REFUSED[kind]
    with pytest.raises(xo.Unsupported, match=message):
        CALLS[call](make())


@pytest.mark.parametrize("x", [torch.nn.Parameter(X), torch.nn.Buffer(X), X.as_subclass(Tagged)])
def test_tensors_with_memory_of_their_own_are_arrays(x):
    assert xo.backend(x).name == "torch"
    assert not xo.is_lazy(x)
    assert float(xo.sum(x).detach()) == 15.0
    np.testing.assert_array_equal(xo.at(x.detach())[1:].set(0.0).numpy(), [[0, 1, 2], [0, 0, 0]])


def test_a_class_that_names_the_dispatch_of_tensors_is_an_array():
    Plain = type("Plain", (torch.Tensor,), {"__torch_dispatch__": torch._C._disabled_torch_dispatch_impl})
    assert float(xo.sum(X.as_subclass(Plain))) == 15.0


class TestTensorsWithoutValues:
    def test_meta(self):
        x = X.to("meta")
        assert xo.is_lazy(x)
        assert xo.compute(x) is xo.persist(x) is x
        with pytest.raises(xo.ExchangeError, match="x has no values: it is a meta or fake tensor"):
            xo.convert(x, "numpy")

    def test_fake(self):
        with FakeTensorMode() as mode:
            assert xo.is_lazy(torch.empty(3))
        assert xo.is_lazy(mode.from_tensor(X))

    def test_compiled(self):
        def lazy_or_not(x):
            return xo.add(x, 10.0) if xo.is_lazy(x) else x

        assert torch.equal(torch.compile(lazy_or_not, backend="eager", fullgraph=True)(X), X + 10)
        assert torch.equal(lazy_or_not(X), X)
