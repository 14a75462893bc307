"""The part of cupyx.scipy that holds sparse matrices."""

from cupyx.scipy import sparse  # noqa: F401
