"""The results of several arrays, as type checkers see them.

Annotations only: each call returns its library's own tuple, which has these fields in this order, and is of another
class. Not NamedTuples: they are never instantiated, and seven would take a part of the time of `import xarrayops`.
"""

from __future__ import annotations

from xarrayops._protocol.types import Array


class UniqueAll(tuple[Array, Array, Array, Array]):
    """Of `unique_all`: values, first indices, where each element went, how often each value occurs."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(tuple[Array, Array]):
    """Of `unique_counts`: values, and how often each occurs."""

    values: Array
    counts: Array


class UniqueInverse(tuple[Array, Array]):
    """Of `unique_inverse`: values, and where each element went."""

    values: Array
    inverse_indices: Array


class Eigen(tuple[Array, Array]):
    """Of `eig` and `eigh`: eigenvalues, and eigenvectors in columns."""

    eigenvalues: Array
    eigenvectors: Array


class QR(tuple[Array, Array]):
    """Of `qr`: the orthonormal factor and the upper triangular one."""

    Q: Array
    R: Array


class Slogdet(tuple[Array, Array]):
    """Of `slogdet`: the sign, and the logarithm of the absolute value."""

    sign: Array
    logabsdet: Array


class SVD(tuple[Array, Array, Array]):
    """Of `svd`: left singular vectors, singular values, right singular vectors in rows."""

    U: Array
    S: Array
    Vh: Array
