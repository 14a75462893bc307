"""Functions whose branches, loops, results, arguments or states a compiler may get wrong, as sequences of calls."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

import xarrayops as xo

CASES = {}
Pair = namedtuple("Pair", "a b")


def case(function):
    CASES[function.__name__] = function
    return function


@case
def branch_on_values(make, jit):
    f = jit(lambda x: x * 2 if xo.sum(x) > 0 else x - 1)
    for sign in (1.0, -1.0):
        yield f, (make(np.ones(2) * sign),), {}


@case
def number_of_an_array(make, jit):
    f = jit(lambda x: x * float(xo.max(x)))
    for k in (1.0, 2.0):
        yield f, (make(np.ones(2) * k),), {}


@case
def cond_on_values(make, jit):
    f = jit(lambda x: xo.cond(xo.greater(xo.sum(x), 0), lambda x: x * 2, lambda x: x - 1, x))
    for sign in (1.0, -1.0):
        yield f, (make(np.ones(2) * sign),), {}


@case
def loop_by_values(make, jit):
    f = jit(lambda x: xo.while_loop(lambda v: xo.less(xo.sum(v), 100.0), lambda v: v * 2, x))
    for k in (1.0, 3.0):
        yield f, (make(np.ones(2) * k),), {}


@case
def writes_its_argument(make, jit):
    def f(x):
        x = xo.at(x)[0].set(5.0, copy=False)
        return x * 2

    f = jit(f)
    yield f, (make(np.ones(3)),), {}
    yield f, (make(np.ones(3)),), {}


@case
def update_that_keeps_its_argument(make, jit):
    f = jit(lambda x: xo.at(x)[0].set(5.0))
    x = make(np.ones(3))
    yield f, (x,), {}
    yield f, (x,), {}


@case
def several_outputs(make, jit):
    f = jit(lambda x: (x, x + 1, {"n": x.shape[0], "s": xo.sum(x)}, None))
    for n in (2, 3):
        yield f, (make(np.ones(n)),), {}


@case
def nested_arguments(make, jit):
    f = jit(lambda tree: {"sum": tree["a"] + tree["b"][0], "k": tree["k"]})
    for k in (1, 2):
        yield f, ({"a": make(np.ones(2)), "b": [make(np.ones(2) * 3)], "k": k},), {}


@case
def named_tuples(make, jit):
    f = jit(lambda pair: Pair(pair.b, pair.a * 2))
    for k in (1.0, 2.0):
        yield f, (Pair(make(np.ones(2) * k), make(np.zeros(2))),), {}


@case
def order_in_a_dict(make, jit):
    f = jit(lambda tree: next(iter(tree.values())) - next(reversed(tree.values())))
    a, b = make(np.ones(2)), make(np.ones(2) * 4)
    yield f, ({"a": a, "b": b},), {}
    yield f, ({"b": b, "a": a},), {}


@case
def arrays_by_keyword(make, jit):
    f = jit(lambda *, a, b: a - b)
    a, b = make(np.ones(2)), make(np.ones(2) * 4)
    yield f, (), {"a": a, "b": b}
    yield f, (), {"b": a, "a": b}


@case
def empty_arrays(make, jit):
    f = jit(lambda x: xo.sum(x) + x.shape[0])
    for n in (0, 1, 0):
        yield f, (make(np.ones((n, 2))),), {}


@case
def arrays_without_axes(make, jit):
    f = jit(lambda x: x * 2 + 1)
    for k in (1.0, 2.0):
        yield f, (make(np.asarray(k)),), {}


@case
def strided_arrays(make, jit):
    f = jit(lambda x: xo.sum(x * 2, axis=0))
    x = make(np.arange(12.0).reshape(3, 4))
    for y in (x, xo.permute_dims(x, (1, 0)), x[:, ::2]):
        yield f, (y,), {}


@case
def values_of_nan_and_inf(make, jit):
    f = jit(lambda x: xo.where(xo.isnan(x), 0.0, x) / 2)
    yield f, (make(np.asarray([np.nan, np.inf, -np.inf, 1.0])),), {}


@case
def mode_inside(make, jit):
    def f(x):
        with xo.use(dtype="float32"):
            return x + xo.zeros(2, like=x)

    f = jit(f)
    yield f, (make(np.ones(2)),), {}


@case
def mode_outside(make, jit):
    f = jit(lambda n: xo.mean(n))
    n = make(np.arange(3))
    yield f, (n,), {}
    with xo.use(dtype="float32"):
        yield f, (n,), {}
    yield f, (n,), {}


@case
def count_of_calls(make, jit):
    calls = [0]

    def f(x):
        calls[0] += 1
        return x * calls[0]

    f = jit(f)
    yield f, (make(np.ones(2)),), {}


@case
def numbers_of_numpy(make, jit):
    f = jit(lambda x: x * float(np.random.default_rng().random()) * np.random.random())
    yield f, (make(np.ones(2)),), {}


@case
def numbers_of_a_key(make, jit):
    f = jit(lambda key, x: x + xo.random.default_rng(key).random(2, dtype="float32"))
    x = make(np.ones(2, "float32"))
    for seed in (0, 1):
        yield f, (xo.random.key(seed, like=x), x), {}


@case
def exception_of_the_function(make, jit):
    def f(x):
        if x.shape[0] > 2:
            raise KeyError("too long")
        return x * 2

    f = jit(f)
    for n in (2, 3):
        yield f, (make(np.ones(n)),), {}


@case
def result_without_arrays(make, jit):
    f = jit(lambda x: x.shape)
    for n in (2, 3):
        yield f, (make(np.ones(n)),), {}


@case
def no_arrays(make, jit):
    f = jit(lambda k: k + 1)
    for k in (1, 2):
        yield f, (k,), {}


@case
def default_library(make, jit):
    f = jit(lambda x: x * xo.sum(xo.ones(3, like=x)))
    yield f, (make(np.ones(2)),), {}
