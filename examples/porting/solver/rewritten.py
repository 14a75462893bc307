"""Steady heat in a plate of uneven material: the method of conjugate gradients, without a matrix.

    python original.py            # 256 x 256 cells
    python original.py 64

The plate comes from ``plate.py``, which stands for a reader of files.
"""

import sys

import xarrayops as xo
import xarrayops.numpy as np
from plate import make_plate


def faces(conductivity):
    """The conductivity between neighbours, vertically and horizontally; the border has a temperature of 0."""
    padded = np.pad(conductivity, 1, "edge")
    down = 2 / (1 / padded[1:, 1:-1] + 1 / padded[:-1, 1:-1])
    right = 2 / (1 / padded[1:-1, 1:] + 1 / padded[1:-1, :-1])
    return down, right


def apply(u, down, right, out):
    """Write the heat that flows out of each cell into `out`."""
    # TODO(port): out is written in place (the caller passes out, and sees the change); JAX and Dask cannot. Instead: out = xo.at(out)[:].assign((down[1:] + down[:-1] + right[:, 1:] + right[:, :-1]) * u)  # other variables keep the old array
    out[:] = (down[1:] + down[:-1] + right[:, 1:] + right[:, :-1]) * u
    # TODO(port): out is written in place (the caller passes out, and sees the change); JAX and Dask cannot. Instead: out = xo.at(out)[1:].assign(out[1:] - down[1:-1] * u[:-1])  # other variables keep the old array
    out[1:] -= down[1:-1] * u[:-1]
    # TODO(port): out is written in place (the caller passes out, and sees the change); JAX and Dask cannot. Instead: out = xo.at(out)[:-1].assign(out[:-1] - down[1:-1] * u[1:])  # other variables keep the old array
    out[:-1] -= down[1:-1] * u[1:]
    # TODO(port): out is written in place (the caller passes out, and sees the change); JAX and Dask cannot. Instead: out = xo.at(out)[:, 1:].assign(out[:, 1:] - right[:, 1:-1] * u[:, :-1])  # other variables keep the old array
    out[:, 1:] -= right[:, 1:-1] * u[:, :-1]
    # TODO(port): out is written in place (the caller passes out, and sees the change); JAX and Dask cannot. Instead: out = xo.at(out)[:, :-1].assign(out[:, :-1] - right[:, 1:-1] * u[:, 1:])  # other variables keep the old array
    out[:, :-1] -= right[:, 1:-1] * u[:, 1:]


def solve(conductivity, heat, tolerance=1e-8, most_steps=2000):
    """The temperature of each cell, and the norm of the residual after each step."""
    down, right = faces(conductivity)
    diagonal = down[1:] + down[:-1] + right[:, 1:] + right[:, :-1]
    u = np.zeros_like(heat)
    residual = np.copy(heat)
    z = residual / diagonal
    direction = np.copy(z)
    flow = np.empty_like(heat)
    rho = np.vdot(residual, z)
    target = tolerance * np.linalg.norm(heat)
    norms = np.zeros(most_steps, like=heat)
    for step in range(most_steps):
        apply(direction, down, right, out=flow)
        alpha = rho / np.vdot(direction, flow)
        u = xo.at(u)[...].add(alpha * direction, copy=None)
        residual = xo.at(residual)[...].subtract(alpha * flow, copy=None)
        norms = xo.at(norms)[step].set(np.linalg.norm(residual), copy=None)
        if norms[step] < target:
            break
        z = xo.at(z)[...].set(np.divide(residual, diagonal), copy=None)
        rho, before = np.vdot(residual, z), rho
        direction = xo.at(direction)[...].multiply(rho / before, copy=None)
        direction = xo.at(direction)[...].add(z, copy=None)
    return u, norms[: step + 1]


def hottest(u, count=5):
    """The cells of the highest temperatures, the hottest first."""
    order = np.flip(np.argsort(u, axis=None), 0)[:count]
    return np.stack(np.unravel_index(order, u.shape), 1)


def run(conductivity, heat):
    """The temperature without noise of rounding, the norms of the residual, and the hottest cells."""
    u, norms = solve(conductivity, heat)
    # TODO(port): u is written in place (u may be a list); JAX and Dask cannot. Instead: u = xo.at(u)[np.abs(u) < 1e-12].assign(0)  # other variables keep the old array
    u[np.abs(u) < 1e-12] = 0
    return u, norms, hottest(u)


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    u, norms, cells = run(*make_plate(n))
    print(f"{len(norms)} steps, residual {norms[-1]:.1e}, temperatures {np.min(u):.4f} to {np.max(u):.4f}")
    print(f"the hottest cells: {cells.tolist()}")
