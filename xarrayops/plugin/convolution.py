"""The geometry of a convolution or a pooling, as backends get it."""

from __future__ import annotations

from xarrayops.plugin.arrays import Record


class Windows(Record):
    """Where the windows of a convolution or a pooling are, along the spatial axes.

    Attributes
    ----------
    shape : tuple of int
        The extents of a window.
    stride : tuple of int
        The distance from one window to the next.
    padding : tuple of pairs of int
        The number of elements added before and after each axis.
    dilation : tuple of int
        The distance between neighbouring elements of a window.
    is_channels_last : bool
        Whether the channel axis is the last axis instead of the second.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    is_channels_last: bool

    @property
    def spans(self) -> tuple[int, ...]:
        """The extents that a window covers, including the dilation."""
        return tuple(step * (n - 1) + 1 for n, step in zip(self.shape, self.dilation, strict=True))

    def counts(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """The number of windows along each spatial axis of an array."""
        sides = zip(extents, self.padding, self.spans, self.stride, strict=True)
        return tuple((n + sum(pair) - span) // stride + 1 for n, pair, span, stride in sides)
