"""Annotations of the functions that return several arrays.

The classes are never instantiated: each call returns its library's own tuple, with these fields in this order. They are
not NamedTuples, because creating seven of those would slow down `import xarrayops`.
"""

from __future__ import annotations

from typing import Generic

from xarrayops.plugin.types import ArrayT


class UniqueAll(tuple[ArrayT, ArrayT, ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `unique_all`: values, first indices, the index of each element's value, counts."""

    values: ArrayT
    indices: ArrayT
    inverse_indices: ArrayT
    counts: ArrayT


class UniqueCounts(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `unique_counts`: values and counts."""

    values: ArrayT
    counts: ArrayT


class UniqueInverse(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `unique_inverse`: values, and the index of each element's value."""

    values: ArrayT
    inverse_indices: ArrayT


class Eigen(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `eig` and `eigh`: eigenvalues, and eigenvectors in columns."""

    eigenvalues: ArrayT
    eigenvectors: ArrayT


class QR(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `qr`: the orthonormal factor and the upper triangular factor."""

    Q: ArrayT
    R: ArrayT


class Slogdet(tuple[ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `slogdet`: the sign, and the logarithm of the absolute value."""

    sign: ArrayT
    logabsdet: ArrayT


class SVD(tuple[ArrayT, ArrayT, ArrayT], Generic[ArrayT]):
    """The result of `svd`: left singular vectors, singular values, right singular vectors in rows."""

    U: ArrayT
    S: ArrayT
    Vh: ArrayT
