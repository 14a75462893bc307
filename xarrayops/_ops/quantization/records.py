"""The records of quantised arrays. They are named tuples, which JAX and PyTorch treat as pytrees."""

from __future__ import annotations

from typing import Any

from xarrayops.plugin.arrays import Array, Record


class Quantized(Record):
    """An array of 8-bit integers that represents the real numbers ``(values - zero) * scale``.

    A named tuple: functions under ``jax.jit``, ``jax.vmap`` and ``torch.compile`` may take and return it.

    Attributes
    ----------
    values : array
        int8 or uint8, in the shape of the quantised array.
    scale : array
        float32 or float64. It broadcasts to the shape of the values: shape () for one scale; for several, as many axes
        as the values, with extent 1 along the axes that share a scale.
    zero : array or None
        The value that represents 0, in the dtype of the values and the shape of the scale. None in the symmetric
        scheme, where 0 represents 0.
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
