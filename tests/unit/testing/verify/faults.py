"""Pairs of an original and a port with one fault. The line of the fault ends in a comment ``fault``."""

import numpy as np

import xarrayops as xo

RNG = np.random.default_rng(7)
SQUARE = RNG.normal(size=(6, 6))
VECTOR = RNG.normal(size=40)
FAULTS = {}


def fault(kind, *args, library="numpy"):
    """Register the pair ``original`` and ``port`` that a function returns."""

    def register(pair):
        FAULTS[pair.__name__] = (kind, library, args, *pair())
        return pair

    return register


@fault("dtype", SQUARE)
def narrow_sum():
    def original(x):
        s = (x * x).sum(axis=0)
        y = np.sqrt(s)
        return y / 3

    def port(x):
        s = xo.astype(xo.sum(xo.astype(x * x, "float32"), axis=0), "float64")  # fault
        y = xo.sqrt(s)
        return y / 3

    return original, port


@fault("dtype", VECTOR, library="torch")
def default_dtype():
    def original(x):
        w = np.linspace(0.0, 1.0, 40)
        y = x * w
        return y + 1

    def port(x):
        w = xo.astype(xo.linspace(0.0, 1.0, 40), "float64")  # fault
        y = x * w
        return y + 1

    return original, port


@fault("dtype", VECTOR.astype("float32"))
def half_precision():
    def original(x):
        e = np.exp(x)
        total = e.sum()
        return e / total

    def port(x):
        e = xo.astype(xo.exp(xo.astype(x, "float16")), "float32")  # fault
        total = xo.sum(e)
        return e / total

    return original, port


@fault("alias", VECTOR)
def view_is_copied():
    def original(x):
        u = x.copy()
        v = u[1:-1]
        v += 1.0
        return u * 2

    def port(x):
        u = xo.asarray(x, copy=True)
        v = u[1:-1]
        v = v + 1.0  # fault
        return u * 2

    return original, port


@fault("alias", VECTOR, library="dask")
def view_of_dask():
    def original(x):
        u = x + 0.5
        v = u[2:]
        v[0] = 9.0
        return u.sum()

    def port(x):
        u = x + 0.5
        v = u[2:]
        v[0] = 9.0  # fault
        return u.sum()

    return original, port


@fault("alias", VECTOR)
def copy_is_a_name():
    def original(x):
        a = x + 1
        b = a.copy()
        b[0] = 50.0
        return a + b

    def port(x):
        a = x + 1
        b = a
        b[0] = 50.0  # fault
        return a + b

    return original, port


@fault("alias", VECTOR)
def argument_is_written():
    def original(x):
        y = x * 2.0
        return y + 1

    def port(x):
        x *= 2.0  # fault
        y = x
        return y + 1

    return original, port


@fault("out of bounds", VECTOR, np.asarray([0, 12, 41, 39]))
def index_error():
    def original(x, i):
        return np.take(x, i, mode="clip")

    def port(x, i):
        return x[i]  # fault

    return original, port


@fault("out of bounds", VECTOR, np.asarray([0, 12, 41, 39]), library="jax")
def clamped_index():
    def original(x, i):
        inside = i < len(x)
        return np.where(inside, x[np.where(inside, i, 0)], 0.0)

    def port(x, i):
        return x[i]  # fault

    return original, port


@fault("duplicate index", np.asarray([0, 2, 2, 1, 2]), np.asarray([1.5, 2.5, 3.5, 4.5, 5.5]))
def histogram():
    def original(i, w):
        h = np.zeros(4)
        np.add.at(h, i, w)
        return h / h.sum()

    def port(i, w):
        h = xo.zeros(4)
        h[i] += w  # fault
        return h / xo.sum(h)

    return original, port


@fault("duplicate index", np.asarray([0, 2, 2, 1, 2]), np.asarray([1.5, 2.5, 3.5, 4.5, 5.5]), library="torch")
def histogram_at():
    def original(i, w):
        h = w * 0
        np.add.at(h, i, w)
        return h / h.sum()

    def port(i, w):
        h = w * 0
        h = xo.at(h)[i].set(h[i] + w)  # fault
        return h / xo.sum(h)

    return original, port


@fault("order of summation", np.full(1_000_000, 0.1, dtype="float32"))
def one_after_the_other():
    def original(x):
        total = x.sum()
        return total / len(x)

    def port(x):
        total = np.add.accumulate(x)[-1]  # fault
        return total / len(x)

    return original, port


@fault("order of summation", np.ones(4096, dtype="float16"))
def loop_in_half_precision():
    def original(x):
        return x.sum()

    def port(x):
        total = x[0] * 0
        for each in x:
            total = total + each  # fault
        return total

    return original, port


@fault("random stream", 12)
def draws_are_swapped():
    def original(n):
        rng = np.random.default_rng(3)
        a = rng.normal(size=n)
        b = rng.random(n)
        return a + 10 * b

    def port(n):
        rng = xo.random.default_rng(3)
        b = rng.random(n)  # fault
        a = rng.normal(size=n)
        return a + 10 * b

    return original, port


@fault("random stream", 12, library="torch")
def native_draws():
    def original(n):
        x = np.random.default_rng(3).normal(size=n)
        return x * x

    def port(n):
        import torch

        x = torch.randn(n, dtype=torch.float64)  # fault
        return x * x

    return original, port


@fault("random stream", 4)
def draws_of_another_shape():
    def original(n):
        rng = np.random.RandomState(0)
        x = rng.rand(n, 3)
        return x.sum(axis=1)

    def port(n):
        rng = xo.random.default_rng(0)
        x = xo.permute_dims(rng.random((3, n)), (1, 0))  # fault
        return xo.sum(x, axis=1)

    return original, port


@fault("axis or shape", SQUARE)
def mean_along_rows():
    def original(x):
        m = x.mean(axis=0)
        return x - m

    def port(x):
        m = xo.mean(x, axis=1)  # fault
        return x - m

    return original, port


@fault("axis or shape", SQUARE)
def flipped():
    def original(x):
        y = np.flip(x, axis=0) * 2
        return y + 1

    def port(x):
        y = xo.flip(x, axis=1) * 2  # fault
        return y + 1

    return original, port


@fault("axis or shape", SQUARE)
def lost_axis():
    def original(x):
        n = np.sqrt((x * x).sum(axis=1, keepdims=True))
        return x / n

    def port(x):
        n = xo.sqrt(xo.sum(x * x, axis=1))  # fault
        return x / n

    return original, port


@fault("axis or shape", VECTOR)
def ascending():
    def original(x):
        s = np.sort(x)[::-1]
        return s[:5]

    def port(x):
        s = xo.sort(x)  # fault
        return s[:5]

    return original, port


@fault("cast", VECTOR * 10)
def truncated():
    def original(x):
        i = np.floor(x).astype("int64")
        return i * 2

    def port(x):
        i = xo.astype(x, "int64")  # fault
        return i * 2

    return original, port


@fault("cast", np.asarray([-3, 4, 260, 700]))
def wrapped():
    def original(x):
        y = np.clip(x, 0, 255).astype("uint8")
        return y // 2

    def port(x):
        y = xo.astype(x, "uint8")  # fault
        return y // 2

    return original, port


@fault("cast", np.asarray([2**31 - 5, 7, 11]))
def narrow_integers():
    def original(x):
        return np.cumsum(x)

    def port(x):
        return xo.astype(xo.cumulative_sum(xo.astype(x, "int32"), dtype="int32"), "int64")  # fault

    return original, port


@fault("bug", VECTOR)
def another_constant():
    def original(x):
        v = x.var(ddof=1)
        return (x - x.mean()) / np.sqrt(v)

    def port(x):
        v = xo.var(x)  # fault
        return (x - xo.mean(x)) / xo.sqrt(v)

    return original, port


@fault("bug", VECTOR)
def another_sign():
    def original(x):
        y = np.tanh(x) + 0.25
        return y * y

    def port(x):
        y = xo.tanh(x) - 0.25  # fault
        return y * y

    return original, port
