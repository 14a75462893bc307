"""Functions of ours, defined in a module, with arguments, for schedulers that send them to other processes."""

import numpy as np

import xarrayops as xo


def square_sum(x):
    return xo.sum(x * x)


@xo.jit
def doubled(x):
    return x * 2


@xo.operation("tasks::shifted")
def shifted(x, *, by=1.0):
    return x + by


@shifted.kernel("numpy:own")
def _(x, *, by):
    return np.add(x, by)


def _tensor():
    import torch

    return torch.arange(4.0)


TASKS = {
    "jit, as a decorator": lambda: (doubled, np.arange(3.0)),
    "jit": lambda: (xo.jit(square_sum), np.arange(3.0)),
    "jit of a lambda": lambda: (xo.jit(lambda x: x + 1), np.arange(3.0)),
    "operation": lambda: (shifted, np.arange(3.0)),
    "grad": lambda: (xo.grad(square_sum), _tensor()),
    "vmap": lambda: (xo.vmap(square_sum), _tensor()),
    "checkpoint": lambda: (xo.checkpoint(square_sum), _tensor()),
    "on_host": lambda: (xo.on_host(square_sum), np.arange(3.0)),
    "a function of a namespace": lambda: (xo.backend("numpy").namespace.sum, np.arange(3.0)),
    "our own function": lambda: (xo.sort, np.asarray([2.0, 1.0])),
}
