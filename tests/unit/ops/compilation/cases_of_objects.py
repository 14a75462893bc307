"""Functions that read attributes, classes and defaults, which change between calls, as sequences of calls."""

from __future__ import annotations

import contextvars
import sys
import types

import numpy as np

CASES = {}
FACTOR = 2.0
imported = types.ModuleType("imported_by_a_user")
sys.modules["imported_by_a_user"] = imported


def case(function):
    CASES[function.__name__] = function
    return function


@case
def class_attribute_of_an_instance(make, jit):
    class Model:
        scale = 2.0

    model = Model()
    f = jit(lambda x: x * model.scale)
    for Model.scale in (2.0, 3.0):
        yield f, (make(np.ones(2)),), {}


@case
def property_that_reads_a_global(make, jit):
    global FACTOR

    class Model:
        @property
        def scale(self):
            return FACTOR

        @staticmethod
        def shift():
            return FACTOR

    f = jit(lambda model, x: x * model.scale + model.shift())
    for value in (2.0, 3.0):
        FACTOR = value
        yield f, (Model(), make(np.ones(2))), {}


@case
def class_that_is_instantiated_inside(make, jit):
    class Model:
        scale = 2.0

    f = jit(lambda x: x * Model().scale)
    for Model.scale in (2.0, 3.0):
        yield f, (make(np.ones(2)),), {}


@case
def class_as_an_argument(make, jit):
    class Model:
        scale = 2.0

    f = jit(lambda model, x: x * model.scale)
    for Model.scale in (2.0, 3.0):
        yield f, (Model, make(np.ones(2))), {}


@case
def mutable_default(make, jit):
    scales = [2.0]

    def scaled(x, *, scales=scales):
        return x * scales[0]

    f = jit(lambda x: scaled(x))
    for scales[0] in (2.0, 3.0):
        yield f, (make(np.ones(2)),), {}


@case
def attribute_of_a_function(make, jit):
    def helper(x):
        return x * helper.scale

    f = jit(helper)
    for helper.scale in (2.0, 3.0):
        yield f, (make(np.ones(2)),), {}


@case
def import_inside(make, jit):
    def scaled(x):
        import imported_by_a_user

        return x * imported_by_a_user.scale

    f = jit(scaled)
    for imported.scale in (2.0, 3.0):
        yield f, (make(np.ones(2)),), {}


@case
def subclass_of_a_number(make, jit):
    class Quantity(float):
        unit = 1.0

    f = jit(lambda x, k: x * k * k.unit)
    for value, unit in ((2.0, 1.0), (3.0, 1.0), (3.0, 2.0)):
        quantity = Quantity(value)
        quantity.unit = unit
        yield f, (make(np.ones(2)), quantity), {}


@case
def bound_method_of_a_dict(make, jit):
    settings = {"scale": 2.0}
    get = settings.get
    f = jit(lambda x: x * get("scale"))
    for settings["scale"] in (2.0, 3.0):
        yield f, (make(np.ones(2)),), {}


@case
def context_variable(make, jit):
    scale = contextvars.ContextVar("scale")
    f = jit(lambda x: x * scale.get())
    for value in (2.0, 3.0):
        scale.set(value)
        yield f, (make(np.ones(2)),), {}


@case
def object_that_changed_after_its_call(make, jit):
    class Options:
        def __init__(self, scale):
            self.scale = scale

    first = Options(2.0)
    f = jit(lambda x, options: x * options.scale)
    yield f, (make(np.ones(2)), first), {}
    first.scale = 3.0
    yield f, (make(np.ones(2)), Options(2.0)), {}
    yield f, (make(np.ones(2)), first), {}


@case
def compiled_function_inside(make, jit):
    scale = [2.0]
    inner = jit(lambda x: x * scale[0])
    f = jit(lambda x: inner(x) + 1)
    for scale[0] in (2.0, 3.0):
        yield f, (make(np.ones(2)),), {}


@case
def many_positional_arguments(make, jit):
    f = jit(lambda x, *others: x + sum(others))
    for count in (0, 1, 3):
        yield f, tuple(make(np.ones(2) * i) for i in range(count + 1)), {}
