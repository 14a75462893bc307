"""Functions that other processes call with the modes of the tests, and the blocks that open these modes."""

import numpy as np

import xarrayops as xo
from xarrayops._ops.engines.block import active

X = np.full((1, 4096), 1 + 2**-12, dtype="float32")  # in float16 they are 1
BLOCKS = {
    "use": lambda: [xo.use("torch", device="cpu", dtype="float16")],
    "use, nested": lambda: [xo.use("torch"), xo.use(dtype="float32"), xo.use(device="cpu")],
    "precision": lambda: [xo.precision(compute="float16", output="float32")],
    "autocast": lambda: [xo.autocast("bfloat16")],
    "engines": lambda: [xo.engines("jax", "torch")],
    "all": lambda: [
        xo.use("jax", dtype="float32"),
        xo.engines("torch"),
        xo.precision(compute="float16"),
        xo.strict(transfers=None, waits=None, computes=0),
    ],
}


def report(x):
    """What each mode changes: library and dtype of new arrays, dtype and value of a product, the kernel of a sort."""
    y, z = xo.matmul(x, x.T), xo.zeros(2)
    return type(z).__module__, str(z.dtype), str(y.dtype), xo.explain("sort", x).chosen, float(y[0, 0]), active()


def adds(a, *, b=2):
    """The sum."""
    return a + b


def crosses(x):
    return float(x[0])


def compiles(n):
    """The dtype of a compiled function. JAX may not be imported before the call."""
    return str(xo.jit(lambda x: x + xo.zeros(n))(xo.ones(n)).dtype)


def fails():
    raise KeyError(str(xo.zeros(1).dtype))
