"""loss_scale: the scaling of losses for gradients in half types, as a pure state."""

from __future__ import annotations

import math
from typing import Any

from xarrayops import standard
from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.creation import asarray
from xarrayops.plugin.arrays import Array, Record
from xarrayops.plugin.nested import fill
from xarrayops.plugin.precision import HALVES


class LossScale(Record):
    """The state of loss scaling, which `loss_scale` returns. Methods return new states.

    Attributes
    ----------
    value : float or array
        The scale: a Python number at first, then a 0-d float32 array.
    steps : int or array
        The number of steps with finite gradients since the scale last changed.
    growth_factor, backoff_factor : float
        The factors of the scale after ``growth_interval`` finite steps, and after a step that is not finite.
    growth_interval : int
    """

    value: Any
    steps: Any
    growth_factor: float
    backoff_factor: float
    growth_interval: int

    def scale(self, loss: Array) -> Array:
        """The loss times the scale. A loss of a half type becomes float32, which can hold the product."""
        return standard.multiply(_wide(loss), self.value)

    def unscale(self, grads: Any) -> tuple[Any, Any]:
        """The gradients divided by the scale, and whether all of them are finite.

        Gradients of half types become float32, so that small ones do not underflow.

        Parameters
        ----------
        grads : array, or tuple, list or dict of gradients
            A pytree of arrays of one library; None stands for a missing gradient.

        Returns
        -------
        grads : as the argument
        finite : array
            A 0-d boolean array, computed without waiting; true if there are no gradients.
        """
        finite: Any = True
        inverse = 1 / self.value

        def unscaled(g: Any) -> Any:
            nonlocal finite
            g = _wide(g)
            here = standard.all(standard.isfinite(g))
            finite = here if finite is True else standard.logical_and(finite, here)
            return standard.multiply(g, inverse)

        grads = fill(grads, unscaled, kept=(type(None),))
        return grads, finite

    def adjust(self, finite: bool | Array) -> LossScale:
        """The state after a step: a smaller scale if the gradients were not finite, a greater one after many that were.

        The scales equal those of `torch.amp.GradScaler`, bit by bit. A scale that would become infinite is not changed.

        Parameters
        ----------
        finite : bool or array
            Whether the gradients were finite: the second result of `unscale`. The value of an array is not waited for.
        """
        if isinstance(finite, bool):
            if _is_python(self.value):
                return self._adjusted(finite)
            finite = asarray(finite, like=self.value)
        value, steps = _array(self.value, "float32", finite), _array(self.steps, "int32", finite) + 1
        grows = standard.greater_equal(steps, self.growth_interval)
        grown = _product(value, self.growth_factor)
        grown = standard.where(standard.logical_and(grows, standard.isfinite(grown)), grown, value)
        changed = standard.logical_or(grows, standard.logical_not(finite))
        return self._with(
            standard.where(finite, grown, _product(value, self.backoff_factor)),
            standard.where(changed, standard.zeros_like(steps), steps),
        )

    def _adjusted(self, finite: bool) -> LossScale:
        """Like `adjust`, for Python numbers."""
        if not finite:
            return self._with(_product(self.value, self.backoff_factor), 0)
        if self.steps + 1 < self.growth_interval:
            return self._with(self.value, self.steps + 1)
        grown = _product(self.value, self.growth_factor)
        return self._with(grown if math.isfinite(grown) else self.value, 0)

    def _with(self, value: Any, steps: Any) -> LossScale:
        """Not by ``_replace``, of which code compiled by PyTorch 2.11 returns an empty tuple."""
        return LossScale(value, steps, *self[2:])


def _register(backend: Backend) -> None:
    """Register the class as a pytree of a library."""
    constants = ("growth_factor", "backoff_factor", "growth_interval")
    backend.functions["register_state"](LossScale, ("value", "steps"), constants)


for _loaded in list(registry.by_module.values()):
    _register(_loaded)
registry.on_load.append(_register)


def loss_scale(
    initial: float = 2.0**15, *, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000
) -> LossScale:
    """Scale losses so that gradients in a half type do not become zero, and find the scale while training.

    The result is a pure state: its methods return what they compute and change nothing, so a training step that takes
    and returns it works under `jax.jit` and on PyTorch alike. JAX treats it as a pytree, if JAX is imported when the
    state is created; the factors and the interval are constants of compiled functions.

    Parameters
    ----------
    initial : float
        The first scale.
    growth_factor : float
        The factor of the scale after ``growth_interval`` consecutive steps with finite gradients; above 1.
    backoff_factor : float
        The factor of the scale after a step whose gradients are not finite; between 0 and 1.
    growth_interval : int
        At least 1.

    Returns
    -------
    LossScale
        ``scale(loss)``, ``unscale(grads)`` and ``adjust(finite)``.

    Raises
    ------
    ValueError
        An argument is out of its range.
    Unsupported
        By `adjust`: a factor that float32 cannot represent, on a library without float64.

    Notes
    -----
    Law: the scales of a sequence of steps equal those of `torch.amp.GradScaler`.

    Source: Micikevicius et al. 2018, Mixed Precision Training, https://arxiv.org/abs/1710.03740.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> state = xo.loss_scale(2.0**15)
    >>> grads, finite = state.unscale({"w": np.asarray([np.inf, 1.0], dtype=np.float32)})
    >>> state.adjust(bool(finite)).value
    16384.0
    """
    first = _float32(initial)
    if not (first > 0 and math.isfinite(first)):
        raise ValueError(f"xo.loss_scale: initial must be positive, and finite in float32; it was {initial!r}")
    if not growth_factor > 1:
        raise ValueError(f"xo.loss_scale: growth_factor must be above 1; it was {growth_factor!r}")
    if not 0 < backoff_factor < 1:
        raise ValueError(f"xo.loss_scale: backoff_factor must be between 0 and 1; it was {backoff_factor!r}")
    if growth_interval < 1:
        raise ValueError(f"xo.loss_scale: growth_interval must be at least 1; it was {growth_interval!r}")
    registry.load_imported()  # they treat the class as a pytree from then on
    return LossScale(first, 0, float(growth_factor), float(backoff_factor), int(growth_interval))


def _is_python(number: Any) -> bool:
    return type(number) in (int, float)


def _array(number: Any, dtype: str, like: Any) -> Any:
    """A number as an array of that dtype, on the device of another array."""
    if _is_python(number):
        return asarray(number, like=like, dtype=dtype)
    return standard.astype(number, dtype, copy=False)


def _float32(number: float) -> float:
    """The nearest number of float32."""
    import struct  # not needed by `import xarrayops`

    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.inf


def _product(value: Any, factor: float) -> Any:
    """The product of a scale and a factor, rounded to float32 once.

    GradScaler multiplies in float64. The float32 product is the same if float32 can represent the factor.
    """
    if _is_python(value):
        return _float32(value * factor)
    if factor == _float32(factor):
        return standard.multiply(value, factor)
    return standard.astype(standard.multiply(standard.astype(value, "float64"), factor), "float32")


def _wide(x: Array) -> Array:
    """x, in float32 if it has a half type."""
    backend: Backend = find.one_of("loss_scale", {"x": x})
    return standard.astype(x, "float32") if backend.functions["dtype_name"](x.dtype) in HALVES else x
