"""The part of cupyx.scipy with sparse matrices."""

from cupyx.scipy import sparse  # noqa: F401
