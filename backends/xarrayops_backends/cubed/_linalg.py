"""Linear algebra of matrices, each in one chunk, and of tall matrices in several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xarrayops.plugin import Array
from xarrayops.plugin.backends import backend_by_name
from xarrayops_backends.cubed import _blocks
from xarrayops_backends.cubed._blocks import xp as _xp

_numpy = backend_by_name("numpy").functions


def _of_matrices(name: str) -> Callable[..., Any]:
    function = _numpy[f"linalg.{name}"]

    def call(x: Array, /, *args: Any, **options: Any) -> Any:
        """NumPy's function of chunks that hold whole matrices."""
        batch = x.ndim - 2
        x = x.rechunk(dict(enumerate(x.shape[batch:], batch)))
        found = function(np.empty((0, *x.shape[batch:]), x.dtype), *args, **options)
        several = isinstance(found, tuple)
        results = []
        for i, result in enumerate(found if several else (found,)):
            made = _blocks.Made(
                (*x.shape[:batch], *result.shape[1:]),
                result.dtype,
                (*x.chunks[:batch], *((n,) for n in result.shape[1:])),
            )

            def kernel(block: Any, i: int = i) -> Any:
                found = function(block, *args, **options)
                return np.asarray(found[i] if several else found)

            results.append(_blocks.of_chunks(kernel, lambda at: [(*at[:batch], 0, 0)], x, like=made))
        return type(found)(*results) if several else results[0]

    return call


def _of_tall(name: str, **fixed: Any) -> Callable[..., Any]:
    whole = _of_matrices(name)

    def call(x: Array, /, **options: Any) -> Any:
        """cubed's function of a tall matrix in several chunks; NumPy's of other matrices."""
        n = x.shape[-1]
        is_reduced = options.get("mode", "reduced") == "reduced" and not options.get("full_matrices", name == "svd")
        if x.ndim == 2 and is_reduced and x.shape[0] > max(x.chunksize[0], n):
            rows = x.rechunk((max(x.chunksize[0], n), n))
            if rows.numblocks[0] > 1 and rows.chunks[0][-1] >= n:
                return getattr(_xp.linalg, name)(rows, **fixed)
        return whole(x, **options)

    return call


linalg_qr, linalg_svd, linalg_svdvals = _of_tall("qr"), _of_tall("svd", full_matrices=False), _of_tall("svdvals")
linalg_cholesky, linalg_det, linalg_diagonal, linalg_eig, linalg_eigh, linalg_eigvals, linalg_eigvalsh = map(
    _of_matrices, ("cholesky", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh")
)
linalg_inv, linalg_matrix_norm, linalg_matrix_power, linalg_slogdet, linalg_trace = map(
    _of_matrices, ("inv", "matrix_norm", "matrix_power", "slogdet", "trace")
)
