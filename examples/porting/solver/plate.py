"""A plate of several materials."""

import numpy as np


def make_plate(n, seed=0):
    """The conductivity of each cell, and the heat that it takes up."""
    rng = np.random.default_rng(seed)
    conductivity = np.ones((n, n))
    for _ in range(20):
        i, j = rng.integers(0, n, 2)
        conductivity[i : i + n // 8, j : j + n // 8] = rng.uniform(0.1, 10)
    heat = np.zeros((n, n))
    heat[n // 4, n // 4] = 1.0
    heat[n // 2 :, n // 2] = -1.0 / n
    return conductivity, heat
