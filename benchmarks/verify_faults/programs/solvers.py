"""Solvers: steps of differential equations, integrals, iterations, state."""

import numpy as np

HISTORY = []


def euler(y, dt, n):
    path = np.zeros((n, len(y)))
    for i in range(n):
        path[i] = y
        y = y + dt * np.stack([y[1], -y[0]])
    return path


def runge_kutta(y, dt):
    f = lambda u: np.sin(u) - 0.1 * u
    k1 = f(y)
    k2 = f(y + dt / 2 * k1)
    k3 = f(y + dt / 2 * k2)
    k4 = f(y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def heat_step(u, c):
    new = u.copy()
    new[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return new


def heat_in_place(u, c):
    u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u.sum()


def jacobi(a, b, n):
    d = np.diag(a)
    x = np.zeros_like(b)
    for _ in range(n):
        x = (b - (a @ x - d * x)) / d
    return x


def simpson(y, h):
    return h / 3 * (y[0] + y[-1] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum())


def mandelbrot(c, steps):
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int32)
    for _ in range(steps):
        inside = np.abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        count = count + inside
    return count.astype(np.int32)


def rotation(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def newton(x, steps):
    for _ in range(steps):
        x = x - (x * x - 2) / (2 * x)
    return x


def grid(n):
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    return np.sin(x) * y


def life(board):
    near = sum(np.roll(board, (i, j), axis=(0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
    return ((near == 3) | ((board == 1) & (near == 2))).astype(np.int64)


def random_walk(n, seed):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(size=n))


def recorded(x):
    y = x * 2
    HISTORY.append(float(y.sum()))


def described(x):
    return f"{len(x)} values", x.max(), None, (x.min(), [x[0], 3])


def spectrum_of_potential(n):
    h = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    return np.linalg.eigvalsh(h)


def phases(n):
    return np.exp(2j * np.pi * np.arange(n) / n).astype(np.complex64)


CALLS = {
    "euler": "euler(np.array([1.0, 0.5]), 0.1, 5)",
    "runge_kutta": "runge_kutta(np.linspace(-1.0, 2.0, 7), 0.2)",
    "heat_step": "heat_step(np.sin(np.arange(12.0)), 0.2)",
    "heat_in_place": "heat_in_place(np.sin(np.arange(12.0)), 0.2)",
    "jacobi": "jacobi(np.eye(4) * 5 + np.sin(np.arange(16.0)).reshape(4, 4), np.arange(4.0) + 1, 6)",
    "simpson": "simpson(np.sin(np.arange(11.0)), 0.1)",
    "mandelbrot": "mandelbrot(np.linspace(-2, 1, 8) + 1j * np.linspace(-1, 1, 5)[:, None], 12)",
    "rotation": "rotation(0.3)",
    "newton": "newton(np.linspace(1.0, 3.0, 5), 4)",
    "grid": "grid(4)",
    "life": "life((np.arange(36).reshape(6, 6) ** 2 % 3 == 1).astype(np.int64))",
    "random_walk": "random_walk(8, 3)",
    "recorded": "recorded(np.sin(np.arange(5.0)))",
    "described": "described(np.sin(np.arange(5.0)))",
    "spectrum_of_potential": "spectrum_of_potential(5)",
    "phases": "phases(8)",
}
