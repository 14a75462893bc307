"""Pairs of an original and a port that are equal but for rounding, on data that makes rounding large."""

import numpy as np

import xarrayops as xo
import xarrayops.numpy as xnp

RNG = np.random.default_rng(11)
X = RNG.normal(size=(8, 5))
V = RNG.normal(size=64)
PORTS = {}
"""By name: the arguments, the original and the port."""


def right(*args):
    """Register the pair ``original`` and ``port`` that a function returns."""

    def register(pair):
        PORTS[pair.__name__] = (args, *pair())
        return pair

    return register


@right(X)
def standardise():
    def original(x):
        return (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)

    def port(x):
        return (x - xo.mean(x, axis=0)) / xo.std(x, axis=0, correction=1)

    return original, port


@right(V * 1e-3 + 1e6)
def variance_that_cancels():
    def original(x):
        return (x * x).mean() - x.mean() ** 2

    def port(x):
        return xo.mean(x * x) - xo.mean(x) ** 2

    return original, port


@right(RNG.normal(size=100_000).astype("float32"))
def long_sum():
    def original(x):
        return x.sum(), (x * x).sum()

    def port(x):
        return xo.sum(x), xo.vecdot(x, x)

    return original, port


@right(RNG.random(20_000).astype("float32") + 1)
def native_sum():
    def original(x):
        return x.sum() / 3

    def port(x):
        return x.sum() / 3

    return original, port


@right(X)
def softmax():
    def original(x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def port(x):
        return xo.softmax(x, axis=1)

    return original, port


@right(1.0 / (np.arange(7)[:, None] + np.arange(7) + 1.0), np.ones(7))
def hilbert_system():
    def original(a, b):
        return np.linalg.solve(a, b)

    def port(a, b):
        return xo.linalg.solve(a, b)

    return original, port


@right(X)
def normal_equations():
    def original(x):
        g = x.T @ x
        return {"g": g, "det": np.linalg.det(g), "inverse": np.linalg.inv(g)}

    def port(x):
        g = xo.matrix_transpose(x) @ x
        return {"g": g, "det": xo.linalg.det(g), "inverse": xo.linalg.inv(g)}

    return original, port


@right(V)
def spectrum():
    def original(x):
        f = np.fft.rfft(x)
        return f, np.abs(f) ** 2, np.fft.irfft(f, n=64)

    def port(x):
        f = xo.fft.rfft(x)
        return f, xo.abs(f) ** 2, xo.fft.irfft(f, n=64)

    return original, port


@right(np.zeros((6, 6)) + np.eye(6), 10)
def diffusion():
    def original(u, steps):
        for _ in range(steps):
            new = u.copy()
            new[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
            u = new
        return u

    def port(u, steps):
        for _ in range(steps):
            change = 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
            u = xo.at(u)[1:-1, 1:-1].add(change)
        return u

    return original, port


@right(np.asarray([3, 0, 3, 1, 3]), np.asarray([0.1, 0.2, 0.3, 0.4, 0.5]))
def scatter():
    def original(i, w):
        h = np.zeros(4)
        np.add.at(h, i, w)
        return h

    def port(i, w):
        return xo.at(xo.zeros_like(w[:4]))[i].add(w)

    return original, port


@right(V)
def masks():
    def original(x):
        y = x.copy()
        y[y < 0] = 0.0
        return y, np.where(x > 1, 1.0, x), (x > 0).sum()

    def port(x):
        return xo.where(x < 0, 0.0, x), xo.where(x > 1, 1.0, x), xo.sum(x > 0)

    return original, port


@right(2.0)
def newton():
    def original(a):
        x = a
        while abs(x * x - a) > 1e-12:
            x = 0.5 * (x + a / x)
        return x

    return original, original


@right(V[:6], V[6:12])
def argument_is_written():
    def original(x, y):
        x[1:3] = y[1:3] * 2
        return x.sum()

    def port(x, y):
        if hasattr(x, "at"):  # an array of JAX, which is never written
            x = x.at[1:3].set(y[1:3] * 2)
        else:
            x[1:3] = y[1:3] * 2
        return xo.sum(x)

    return original, port


@right(6)
def monte_carlo():
    def original(n):
        rng = np.random.default_rng(5)
        x = rng.normal(1.0, 2.0, size=(n, 3))
        k = rng.integers(0, 10, size=n)
        return x.mean(axis=0), k * rng.random(n)

    def port(n):
        rng = xo.random.default_rng(5)
        x = rng.normal(size=(n, 3)) * 2.0 + 1.0
        k = rng.integers(0, 10, size=n)
        return xo.mean(x, axis=0), k * rng.random(n)

    return original, port


@right(5)
def earlier_generators():
    def original(n):
        np.random.seed(1)
        return np.random.rand(n, 2) + np.random.RandomState(4).randn(n, 2)

    def port(n):
        rng = xnp.random.default_rng(1)
        return rng.random((n, 2)) + rng.standard_normal((n, 2))

    return original, port


@right(X[:4, :4], X[4:8, :4])
def products():
    def original(a, b):
        return np.einsum("ij,kj->ik", a, b), np.tensordot(a, b, axes=2), np.kron(a[:2, :2], b[:2, :2])

    def port(a, b):
        return xo.einsum("ij,kj->ik", a, b), xo.tensordot(a, b, axes=2), xo.kron(a[:2, :2], b[:2, :2])

    return original, port


@right(V, np.asarray([7, -3, 7, 2, 0]))
def order_and_sets():
    def original(x, k):
        return np.sort(x)[::-1][:5], np.argsort(x), np.unique(k), np.cumsum(k), k // 2, k % 4

    def port(x, k):
        return xo.flip(xo.sort(x))[:5], xo.argsort(x), xo.unique(k), xo.cumulative_sum(k), k // 2, k % 4

    return original, port


@right(V)
def under_numpys_names():
    def original(x):
        w = np.linspace(0, 1, 64)
        return np.convolve(x, w, mode="same")[:8], np.quantile(x, [0.1, 0.5]), np.interp(0.25, w, x)

    def port(x):
        w = xnp.linspace(0, 1, 64, like=x)
        return xnp.convolve(x, w, mode="same")[:8], xnp.quantile(x, [0.1, 0.5]), xnp.interp(0.25, w, x)

    return original, port


@right(np.linspace(-2, 1, 5), np.linspace(-1, 1, 4))
def mandelbrot():
    def original(x, y):
        c = x + 1j * y[:, None]
        z = np.zeros_like(c)
        for _ in range(6):
            z = z * z + c
        return np.abs(z) < 2, z.real

    def port(x, y):
        c = x + 1j * y[:, None]
        z = xo.zeros_like(c)
        for _ in range(6):
            z = z * z + c
        return xo.abs(z) < 2, xo.real(z)

    return original, port


@right(np.asarray([1.5, np.nan, np.inf, -np.inf, -0.0]), np.asarray([[255, 3], [4, 5]], dtype="uint8"))
def special_values():
    def original(x, b):
        return np.isnan(x), x * 2, 1 / x, b + b, b.astype("float32") / 255, None, "text"

    def port(x, b):
        return xo.isnan(x), x * 2, 1 / x, b + b, xo.astype(b, "float32") / 255, None, "text"

    return original, port


@right(RNG.normal(size=(40, 3)))
def nearest():
    def original(p):
        d = ((p[:, None] - p[None]) ** 2).sum(axis=-1) + 1e9 * np.eye(len(p))
        return d.argmin(axis=1), np.sqrt(d.min(axis=1))

    def port(p):
        n = p.shape[0]
        d = xo.sum((p[:, None] - p[None]) ** 2, axis=-1) + 1e9 * xo.eye(n, like=p)
        return xo.argmin(d, axis=1), xo.sqrt(xo.min(d, axis=1))

    return original, port
