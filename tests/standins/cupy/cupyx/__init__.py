"""The part of cupyx that holds sparse matrices."""

from cupyx import scipy  # noqa: F401
