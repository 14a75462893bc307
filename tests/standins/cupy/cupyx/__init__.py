"""The part of cupyx with sparse matrices."""

from cupyx import scipy  # noqa: F401
