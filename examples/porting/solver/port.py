"""Steady heat in a plate of uneven material: the method of conjugate gradients, without a matrix.

    python port.py                # 256 x 256 cells, on NumPy
    python port.py torch 64       # 64 x 64 cells, on PyTorch

The plate comes from ``plate.py``, which stands for a reader of files.
"""

import sys

from plate import make_plate

import xarrayops as xo
import xarrayops.numpy as np


def faces(conductivity):
    """The conductivity between neighbours, vertically and horizontally; the border has a temperature of 0."""
    padded = np.pad(conductivity, 1, "edge")
    down = 2 / (1 / padded[1:, 1:-1] + 1 / padded[:-1, 1:-1])
    right = 2 / (1 / padded[1:-1, 1:] + 1 / padded[1:-1, :-1])
    return down, right


def apply(u, down, right):
    """The heat that flows out of each cell."""
    out = (down[1:] + down[:-1] + right[:, 1:] + right[:, :-1]) * u  # a new array, which is returned
    out = xo.at(out)[1:].subtract(down[1:-1] * u[:-1], copy=None)
    out = xo.at(out)[:-1].subtract(down[1:-1] * u[1:], copy=None)
    out = xo.at(out)[:, 1:].subtract(right[:, 1:-1] * u[:, :-1], copy=None)
    return xo.at(out)[:, :-1].subtract(right[:, 1:-1] * u[:, 1:], copy=None)


def solve(conductivity, heat, tolerance=1e-8, most_steps=2000):
    """The temperature of each cell, and the norm of the residual after each step."""
    down, right = faces(conductivity)
    diagonal = down[1:] + down[:-1] + right[:, 1:] + right[:, :-1]
    u = np.zeros_like(heat)
    residual = np.copy(heat)
    z = residual / diagonal
    direction = np.copy(z)
    rho = np.vdot(residual, z)
    target = tolerance * np.linalg.norm(heat)
    norms = np.zeros(most_steps, like=heat)
    for step in range(most_steps):
        flow = apply(direction, down, right)
        alpha = rho / np.vdot(direction, flow)
        u = xo.at(u)[...].add(alpha * direction, copy=None)
        residual = residual - alpha * flow
        norms = xo.at(norms)[step].set(np.linalg.norm(residual), copy=None)
        if norms[step] < target:
            break
        z = residual / diagonal
        rho, before = np.vdot(residual, z), rho
        direction = z + rho / before * direction
        u, residual, direction, rho = xo.persist(u, residual, direction, rho)  # Dask would start each step anew
    return u, norms[: step + 1]


def hottest(u, count=5):
    """The cells of the highest temperatures, the hottest first."""
    order = np.flip(np.argsort(u, axis=None), 0)[:count]
    return np.stack(np.unravel_index(order, u.shape), 1)


def run(conductivity, heat):
    """The temperature without noise of rounding, the norms of the residual, and the hottest cells."""
    u, norms = solve(conductivity, heat)
    u = np.where(np.abs(u) < 1e-12, 0, u)
    return u, norms, hottest(u)


if __name__ == "__main__":
    library = sys.argv[1] if len(sys.argv) > 1 else "numpy"
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    u, norms, cells = run(*(xo.convert(each, library) for each in make_plate(n)))
    print(f"{len(norms)} steps, residual {norms[-1]:.1e}, temperatures {np.min(u):.4f} to {np.max(u):.4f}")
    print(f"the hottest cells: {cells.tolist()}")
