"""The records of quantised arrays. They are named tuples, so that JAX and PyTorch take them apart as pytrees."""

from __future__ import annotations

from typing import Any

from xarrayops.plugin.arrays import Array, Record


class Quantized(Record):
    """An array of integers of 8 bits that stands for the real numbers ``(values - zero) * scale``.

    A named tuple: ``jax.jit``, ``jax.vmap`` and ``torch.compile`` take it as an argument or a result.

    Attributes
    ----------
    values : array
        int8 or uint8, in the shape of the quantised array.
    scale : array
        float32 or float64. It broadcasts to the shape of the values: shape () for one scale, and one axis for each axis
        of the values for several, with extent 1 along the axes that share a scale.
    zero : array or None
        The value that stands for 0, in the dtype of the values and the shape of the scale. None in the symmetric
        scheme, where 0 stands for 0.
    """

    values: Array
    scale: Array
    zero: Array | None = None


class Calibration(Record):
    """The scale and the zero with which `xarrayops.quantize` quantises arrays whose range was measured before.

    Attributes
    ----------
    scale : array
        As in `Quantized`.
    zero : array or None
        As in `Quantized`; its dtype is that of the values. None stands for the symmetric scheme, in int8.
    """

    scale: Array
    zero: Any = None
