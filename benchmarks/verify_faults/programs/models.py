"""Models: linear algebra, clustering, classes with fit and predict."""

import numpy as np


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def fit(self, x):
        self.mean = x.mean(axis=0)
        self.width = x.max(axis=0) - x.min(axis=0)
        return self

    def transform(self, x):
        return self.factor * (x - self.mean) / self.width


class KMeans:
    def __init__(self, k, steps):
        self.k = k
        self.steps = steps

    def fit(self, x):
        centres = x[: self.k].copy()
        for _ in range(self.steps):
            labels = ((x[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
            centres = np.stack([x[labels == j].mean(axis=0) for j in range(self.k)])
        self.centres = centres
        return self

    def predict(self, x):
        return ((x[:, None] - self.centres[None]) ** 2).sum(axis=2).argmin(axis=1)


class Running:
    def __init__(self, n):
        self.total = np.zeros(n)
        self.count = 0

    def update(self, x):
        self.total = self.total + x
        self.count += 1
        return self


def ridge(x, y, alpha):
    return np.linalg.solve(x.T @ x + alpha * np.eye(x.shape[1]), x.T @ y)


def principal(x, k):
    c = x - x.mean(axis=0)
    values = np.linalg.svd(c, compute_uv=False)
    return values[:k] ** 2 / (values**2).sum()


def power_iteration(a, steps):
    v = np.ones(a.shape[0])
    for _ in range(steps):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v, v @ a @ v


def pairwise(a, b):
    return np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=-1))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def logistic_step(w, x, y, rate):
    p = 1 / (1 + np.exp(-x @ w))
    return w - rate * x.T @ (p - y) / len(y)


def one_hot(labels, k):
    return np.eye(k)[labels]


def gram_schmidt(a):
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j] - q[:, :j] @ (q[:, :j].T @ a[:, j])
        q[:, j] = v / np.sqrt((v * v).sum())
    return q


def vandermonde(x, n):
    return np.stack([x**i for i in range(n)], axis=1)


def kernel(a, gamma):
    sq = (a * a).sum(axis=1)
    d = sq[:, None] + sq[None, :] - 2 * a @ a.T
    return np.exp(-gamma * np.maximum(d, 0))


def accuracy(a, b):
    return float((a == b).mean()), int((a == b).sum())


X = "np.sin(np.arange(30.0) ** 1.5).reshape(10, 3)"
V = "np.cos(np.arange(10.0))"
CALLS = {
    "Scaler": f"Scaler(2.5).fit({X}).transform({X} + 1)",
    "KMeans": f"KMeans(3, 4).fit({X}).predict({X} * 0.5)",
    "Running": f"Running(10).update({V}).update({V} * 2)",
    "ridge": f"ridge({X}, {V}, 0.3)",
    "principal": f"principal({X}, 2)",
    "power_iteration": f"power_iteration({X}.T @ {X}, 5)",
    "pairwise": f"pairwise({X}, {X}[:4] + 1)",
    "softmax": f"softmax({X}.astype(np.float32))",
    "logistic_step": f"logistic_step(np.ones(3), {X}, ({V} > 0).astype(float), 0.1)",
    "one_hot": "one_hot(np.array([0, 2, 1, 2]), 4)",
    "gram_schmidt": f"gram_schmidt({X})",
    "vandermonde": f"vandermonde({V}, 4)",
    "kernel": f"kernel({X}, 0.7)",
    "accuracy": "accuracy(np.array([0, 1, 2, 1]), np.array([0, 1, 1, 1]))",
}
