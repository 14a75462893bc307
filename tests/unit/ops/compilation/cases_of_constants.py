"""Functions that compilers get wrong if they treat too much as constant, each as a sequence of calls.

A case is a function that takes an array maker and yields pairs: what a compiled function gives, and what the function
itself gives. Or the call raises an error of xarrayops: a case is right or an error, never wrong.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import types

import numpy as np

import xarrayops as xo

CASES = {}
SCALE = 2.0
TABLE = [1.0, 2.0]
SETTINGS = {"scale": 1.0}
CONSTANT = np.asarray([1.0, 2.0, 3.0], "float32")
BIG = np.ones(100_000, "float32")
module = types.ModuleType("of_the_user")
module.scale = 3.0
sys.modules["of_the_user"] = module


class Config:
    scale = 2.0


def case(function):
    CASES[function.__name__] = function
    return function


def helper(x):
    return x * SCALE


@case
def changed_shape(make, jit):
    f = jit(lambda x: xo.sum(x) / x.shape[0])
    for n in (4, 8, 4, 1):
        yield f, (make(np.ones(n)),), {}


@case
def changed_rank(make, jit):
    f = jit(lambda x: xo.sum(x, axis=-1) * x.ndim)
    for shape in ((3,), (2, 3), (2, 2, 3)):
        yield f, (make(np.ones(shape)),), {}


@case
def changed_dtype(make, jit):
    f = jit(lambda x: x * 2 if "int" in str(x.dtype) else x * 3)
    for dtype in ("float32", "int32", "float32"):
        yield f, (make(np.ones(3, dtype)),), {}


@case
def static_axis(make, jit):
    f = jit(lambda x, axis: xo.sum(x, axis=axis))
    for axis in (0, 1, -1, 0):
        yield f, (make(np.arange(4.0).reshape(2, 2)), axis), {}


@case
def static_keyword(make, jit):
    f = jit(lambda x, *, k=1, m=2: x * k + m)
    for kwargs in ({"k": 2}, {"m": 2, "k": 3}, {"k": 3, "m": 2}, {}):
        yield f, (make(np.ones(2)),), kwargs


@case
def static_numbers_of_equal_value(make, jit):
    f = jit(lambda x, k: x * k if isinstance(k, bool) else x + k if isinstance(k, int) else x - k)
    for k in (1, True, 1.0, 1):
        yield f, (make(np.ones(2) * 5), k), {}


@case
def negative_zero(make, jit):
    f = jit(lambda x, k: xo.copysign(x, xo.full_like(x, k)))
    for k in (0.0, -0.0, 0.0):
        yield f, (make(np.ones(2)), k), {}


@case
def nan_as_a_number(make, jit):
    f = jit(lambda x, k: x * k)
    for k in (float("nan"), 1.0, float("nan")):
        yield f, (make(np.ones(2)), k), {}


@case
def static_string(make, jit):
    f = jit(lambda x, how: xo.sum(x) if how == "sum" else xo.max(x))
    for how in ("sum", "max", "sum"):
        yield f, (make(np.arange(3.0)), how), {}


@case
def static_list(make, jit):
    weights = [1.0, 2.0]
    f = jit(lambda x, weights: x * weights[0] + weights[1])
    for last in (2.0, 5.0):
        weights[1] = last
        yield f, (make(np.ones(2)), weights), {}


@case
def static_function(make, jit):
    f = jit(lambda g, x: g(x))
    for k in (1.0, 2.0):
        yield f, (lambda x, k=k: x * k, make(np.ones(2))), {}


@case
def static_slice(make, jit):
    f = jit(lambda x, part: x[part])
    for part in (slice(0, 2), slice(1, 2), slice(None, None, 2)):
        yield f, (make(np.arange(4.0)), part), {}


@case
def changed_global(make, jit):
    global SCALE
    f = jit(lambda x: x * SCALE)
    for value in (2.0, 3.0, 2.0):
        SCALE = value
        yield f, (make(np.ones(2)),), {}


@case
def global_of_a_helper(make, jit):
    global SCALE
    f = jit(lambda x: helper(x) + 1)
    for value in (2.0, 5.0):
        SCALE = value
        yield f, (make(np.ones(2)),), {}


@case
def global_list(make, jit):
    f = jit(lambda x: x * TABLE[0] + len(TABLE))
    yield f, (make(np.ones(2)),), {}
    TABLE.append(3.0)
    yield f, (make(np.ones(2)),), {}
    TABLE[0] = 7.0
    yield f, (make(np.ones(2)),), {}


@case
def global_dict(make, jit):
    f = jit(lambda x: x * SETTINGS["scale"])
    for SETTINGS["scale"] in (1.0, 4.0):
        yield f, (make(np.ones(2)),), {}


@case
def attribute_of_a_module(make, jit):
    f = jit(lambda x: x * module.scale)
    for module.scale in (3.0, 5.0):
        yield f, (make(np.ones(2)),), {}


@case
def attribute_of_a_class(make, jit):
    f = jit(lambda x: x * Config.scale)
    for Config.scale in (3.0, 5.0):
        yield f, (make(np.ones(2)),), {}


@case
def closure(make, jit):
    k = 1.0
    f = jit(lambda x: x * k)
    yield f, (make(np.ones(2)),), {}
    k = 2.0
    yield f, (make(np.ones(2)),), {}


@case
def closure_of_a_closure(make, jit):
    k = 1.0

    def inner(x):
        return x + k

    f = jit(lambda x: inner(x) * 2)
    yield f, (make(np.ones(2)),), {}
    k = 10.0
    yield f, (make(np.ones(2)),), {}


@case
def captured_array_that_is_written(make, jit):
    table = np.asarray([1.0, 2.0], "float32")
    f = jit(lambda x: x * float(table[0]))
    yield f, (make(np.ones(2)),), {}
    table[0] = 5.0
    yield f, (make(np.ones(2)),), {}


@case
def captured_array_of_the_library(make, jit):
    tables = [make(np.asarray([1.0, 2.0])), make(np.asarray([3.0, 4.0]))]
    table = tables[0]
    f = jit(lambda x: x * table)
    yield f, (make(np.ones(2)),), {}
    table = tables[1]
    yield f, (make(np.ones(2)),), {}


@case
def captured_tensor_that_is_written(make, jit):
    table = make(np.asarray([1.0, 2.0]))
    f = jit(lambda x: x * table)
    yield f, (make(np.ones(2)),), {}
    if not xo.backend(table).immutable:
        table *= 3.0
    yield f, (make(np.ones(2)),), {}


@case
def captured_large_array(make, jit):
    f = jit(lambda x: x * float(BIG[0]))
    yield f, (make(np.ones(2)),), {}
    BIG[0] += 1.0
    yield f, (make(np.ones(2)),), {}


@case
def attribute_of_self(make, jit):
    class Model:
        def __init__(self):
            self.scale = 1.0

        @jit
        def __call__(self, x):
            return x * self.scale

    model = Model()
    for model.scale in (1.0, 6.0):
        yield model, (make(np.ones(2)),), {}


@case
def method_that_reads_a_global(make, jit):
    global SCALE

    class Model:
        def scaled(self, x):
            return x * SCALE

    model = Model()
    f = jit(lambda model, x: model.scaled(x))
    for value in (2.0, 9.0):
        SCALE = value
        yield f, (model, make(np.ones(2))), {}


@case
def dataclass_argument(make, jit):
    @dataclasses.dataclass
    class Options:
        k: float

    options = Options(1.0)
    f = jit(lambda options, x: x * options.k)
    for options.k in (1.0, 8.0):
        yield f, (options, make(np.ones(2))), {}


@case
def partial_argument(make, jit):
    f = jit(lambda g, x: g(x))
    for k in (1.0, 2.0):
        yield f, (functools.partial(lambda x, k: x * k, k=k), make(np.ones(2))), {}


@case
def default_that_changes(make, jit):
    def scaled(x, k=2.0):
        return x * k

    f = jit(lambda x: scaled(x))
    yield f, (make(np.ones(2)),), {}
    scaled.__defaults__ = (4.0,)
    yield f, (make(np.ones(2)),), {}
