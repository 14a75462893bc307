"""The results of several arrays, as type checkers see them.

Annotations only: each call returns its library's own tuple, which has these fields in this order, and is of another
class. Not NamedTuples: they are never instantiated, and seven would take a part of the time of `import xarrayops`.
"""

from __future__ import annotations

from typing import Generic

from xarrayops._protocol.types import ArrayT


class UniqueAll(tuple[ArrayT, ArrayT, ArrayT, ArrayT], Generic[ArrayT]):
    """Of `unique_all`: values, first indices, the index of each element's value, how often each value occurs."""

    values: ArrayT
    indices: ArrayT
    inverse_indices: ArrayT
    counts: ArrayT


class UniqueCounts(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """Of `unique_counts`: values, and how often each occurs."""

    values: ArrayT
    counts: ArrayT


class UniqueInverse(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """Of `unique_inverse`: values, and the index of each element's value."""

    values: ArrayT
    inverse_indices: ArrayT


class Eigen(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """Of `eig` and `eigh`: eigenvalues, and eigenvectors in columns."""

    eigenvalues: ArrayT
    eigenvectors: ArrayT


class QR(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """Of `qr`: the orthonormal factor and the upper triangular one."""

    Q: ArrayT
    R: ArrayT


class Slogdet(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """Of `slogdet`: the sign, and the logarithm of the absolute value."""

    sign: ArrayT
    logabsdet: ArrayT


class SVD(tuple[ArrayT, ArrayT, ArrayT], Generic[ArrayT]):
    """Of `svd`: left singular vectors, singular values, right singular vectors in rows."""

    U: ArrayT
    S: ArrayT
    Vh: ArrayT
