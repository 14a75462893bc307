"""verify compares results other than plain arrays, and what a function changes besides its result."""

import enum
from collections import deque
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing import verify

X = np.linspace(-1.0, 2.0, 5)
HISTORY = []
COUNT = 0


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class AlwaysEqual:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return True

    __hash__ = None


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def items(x, n):
    for i in range(n):
        yield x + i


def in_fields(x):
    found = np.zeros(5, dtype=[("a", "f8"), ("b", "i4")])
    found["a"] = x
    return found


def record(x):
    HISTORY.append(float(x))


def count(n):
    global COUNT
    COUNT += n


def same(original, port, *args, libraries=("numpy",)):
    return verify(port, *args, expected=original, libraries=libraries, replay=False).ok


@pytest.mark.parametrize(
    ("original", "wrong"),
    [
        (lambda x: float(x.sum()), lambda x: x.sum()),
        (lambda x: x.sum(), lambda x: float(x.sum())),
        (lambda x: True, lambda x: 1),
        (lambda x: 2, lambda x: 2.0),
        (lambda x: 10**400, lambda x: 10**400 + 1),
        (lambda x: [x, x], lambda x: (x, x)),
        (lambda x: Slotted(x + 1), lambda x: Slotted(x + 2)),
        (lambda x: Slotted(x + 1), lambda x: SimpleNamespace(value=x + 1)),
        (lambda x: AlwaysEqual(x + 1), lambda x: AlwaysEqual(x + 2)),
        (lambda x: SimpleNamespace(a=x + 1), lambda x: SimpleNamespace(a=x + 2)),
        (lambda x: deque([x + 1]), lambda x: deque([x + 2])),
        (lambda x: {1, 2}, lambda x: {1, 3}),
        (lambda x: Decimal("1.5"), lambda x: Decimal("1.6")),
        (lambda x: Colour.RED, lambda x: Colour.BLUE),
        (lambda x: items(x, 3), lambda x: items(x, 2)),
        (lambda x: map(np.sin, x), lambda x: map(np.cos, x)),
        (lambda x: np.ma.masked_where(x > 1, x), lambda x: np.ma.masked_where(x > 0, x)),
        (lambda x: np.ma.masked_where(x > 9, x), lambda x: x + 0),
        (lambda x: in_fields(x), lambda x: in_fields(x + 1)),
        (lambda x: np.array(["a", "bc"]), lambda x: np.array(["a", "bd"])),
        (lambda x: np.array([None, "a"]), lambda x: np.array([None, "b"])),
        (lambda x: (x.dtype, x + 0), lambda x: (np.dtype("float32"), x + 0)),
        (lambda x: x.copy(), lambda x: x),
        (lambda x: record(x.sum()), lambda x: record(x.max())),
        (lambda x: count(1), lambda x: count(2)),
        (lambda x: x + np.random.default_rng(1).random(5), lambda x: x + np.random.default_rng(2).random(5)),
    ],
)
def test_another_result(original, wrong):
    assert same(original, original, X)
    assert not same(original, wrong, X)
    assert HISTORY == []
    assert COUNT == 0


def seeded(seed):
    np.random.seed(seed)
    return np.random.rand(3)


def test_seeds():
    assert same(lambda: seeded(1), lambda: seeded(1))
    assert not same(lambda: seeded(1), lambda: seeded(2))
    assert not same(lambda: seeded(1), lambda: np.random.rand(3))


def test_fewer_draws():
    def original(rng, n):
        return sum(rng.random() for _ in range(n)) * 0 + 1.5

    assert same(original, original, np.random.default_rng(0), 2)
    assert not same(original, lambda rng, n: rng.random() * 0 + 1.5, np.random.default_rng(0), 2)


def test_functions_in_results_are_not_compared():
    assert not same(lambda x: lambda y: x + y, lambda x: lambda y: x - y, X)


def test_nothing_to_compare():
    with pytest.raises(ValueError, match="nothing can be compared"):
        verify(lambda x: print(x.max()), X, expected=lambda x: print(x.sum()), libraries=["numpy"])


def test_arguments_in_objects():
    """Each run gets objects of its own, with arrays of its library."""
    pytest.importorskip("torch")
    given = SimpleNamespace(x=X.copy(), steps=[])

    def original(state):
        state.steps.append(len(state.steps))
        state.x = state.x + 1

    def wrong(state):
        state.x = state.x + 1

    assert same(original, original, given, libraries=["numpy", "torch:eager"])
    assert not same(original, wrong, given)
    assert not same(original, lambda state: original(state) or setattr(state, "x", xo.zeros(5)), given)
    assert given.steps == []
    np.testing.assert_array_equal(given.x, X)


def test_lists_among_the_arguments():
    assert same(lambda found: found.append(1.5), lambda found: found.append(1.5), [])
    assert not same(lambda found: found.append(1.5), lambda found: found.append(2.5), [])
    assert not same(lambda found: found.append(1.5), lambda found: None, [])


def test_shapes_alone_are_not_enough():
    pytest.importorskip("torch")
    assert not same(lambda x: x + 1, lambda x: x + 2, X, libraries=["torch:meta"])


def test_a_scalar_that_left_the_library():
    pytest.importorskip("torch")
    assert same(lambda x: x.sum(), lambda x: xo.sum(x), X, libraries=["torch:eager"])
    assert not same(lambda x: x.sum(), lambda x: xo.convert(xo.sum(x), "numpy"), X, libraries=["torch:eager"])
    scalar = lambda x: np.float64(float(xo.sum(x)))
    assert not same(lambda x: x.sum(), scalar, X, libraries=["torch:eager"])
    assert same(lambda x: (x + 1, np.sqrt(2.0)), lambda x: (x + 1, np.sqrt(2.0)), X, libraries=["torch:eager"])
