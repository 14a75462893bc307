"""The hooks of a backend for convolutions and pooling: names, signatures and laws."""

from __future__ import annotations

from typing import Literal

from xarrayops.plugin.arrays import Array
from xarrayops.plugin.convolution import Windows


class ConvolutionHooks:
    """The hooks for convolutions and pooling; the class is a part of `Hooks`."""

    @staticmethod
    def convolution(x: Array, weights: Array, windows: Windows, groups: int, /) -> Array:
        """The sums over the windows of x of the products with the weights, for each output channel.

        x has the axes of a batch, of channels and of space; the weights have output channels, the input channels of a
        group, and space. Both have the same dtype, of real or complex floating-point numbers or of integers. Shapes
        fit, and there is at least one window.
        """
        raise NotImplementedError

    @staticmethod
    def pooling(x: Array, windows: Windows, kind: Literal["max", "sum"], /) -> Array:
        """The largest element or the sum of each window of each channel. Padding never counts.

        There is at least one window, and each has an element of x.
        """
        raise NotImplementedError
