"""NumPy's module random: generators with NumPy's methods. The numbers are those of `xarrayops.random`, not NumPy's.

The module has no state: ``np.random.seed`` and ``np.random.rand`` raise and say what to write.
"""

from __future__ import annotations

from operator import index
from typing import Any

import xarrayops as xo
from xarrayops._core.numpy_names import missing
from xarrayops.numpy import _axes, _operands as ops, _results
from xarrayops.numpy._dtypes import named


class Generator:
    """Random numbers with the methods of NumPy's generator, by `xarrayops.random.default_rng`.

    The numbers are the same on every library, and differ from NumPy's. Distributions that `xarrayops.random` lacks
    raise AttributeError with what to write.
    """

    def __init__(self, generator: Any, reference: Any) -> None:
        self._generator = generator
        self._reference = reference
        """An array on the library and the device of the generator."""

    def __repr__(self) -> str:
        return f"np.random.Generator({self._generator!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"Generator has no attribute {name!r}")
        raise missing("xarrayops.numpy.random", name)

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Uniform numbers in [0, 1)."""
        return self._in_shape_of(out, size, lambda shape: self._generator.random(shape, dtype=named(dtype)))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform numbers from low to high, which broadcast."""
        low, high, shape = self._broadcast(low, high, size)
        if isinstance(low, (int, float)) and high < low:
            raise ValueError("high - low < 0")
        return self._generator.random(shape) * (high - low) + low

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Normal numbers with a mean and a standard deviation, which broadcast."""
        loc, scale, shape = self._broadcast(loc, scale, size)
        return self._generator.normal(size=shape) * scale + loc

    def standard_normal(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Normal numbers with the mean 0 and the standard deviation 1."""
        return self._in_shape_of(out, size, lambda shape: self._generator.normal(size=shape, dtype=named(dtype)))

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """The exponentials of normal numbers."""
        return xo.exp(self.normal(mean, sigma, size))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Exponential numbers with a scale, which broadcasts."""
        scale, _, shape = self._broadcast(scale, 0.0, size)
        return self._generator.exponential(size=shape) * scale

    def standard_exponential(self, size: Any = None, dtype: Any = None, method: str = "zig", out: Any = None) -> Any:
        """Exponential numbers with the scale 1; the method is always the inverse of the distribution function."""
        return self._in_shape_of(out, size, lambda shape: self._generator.exponential(size=shape, dtype=named(dtype)))

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """Beta numbers with the parameters a and b, which broadcast."""
        a, b, shape = self._broadcast(a, b, size)
        return self._generator.beta(a, b, shape)

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = None, endpoint: bool = False) -> Any:
        """Integers from low to below high, or to high with ``endpoint``."""
        low, high = (0, low) if high is None else (low, high)
        chosen = {} if dtype is None else {"dtype": named(dtype)}
        return self._generator.integers(low, high, _axes.axis_or_axes(size), endpoint=endpoint, **chosen)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """Random elements of an array, or integers below a number; the order is always random."""
        p = p if p is None or isinstance(p, (list, tuple)) else self._array(p)
        return self._generator.choice(self._population(a), _axes.axis_or_axes(size), replace, p, index(axis))

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """The slices of an array in random order, as a new array, or the integers below a number."""
        return self._generator.permutation(self._population(x), index(axis))

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """The elements in random order: all together, or each vector along an axis separately."""
        x, axis = self._array(x), _axes.axis_or_axes(axis)
        keys = self._generator.random(tuple(x.shape))
        if axis is None:
            flat = xo.take(xo.reshape(x, (-1,)), xo.argsort(xo.reshape(keys, (-1,))), axis=0)
            return _results.written("random.permuted", xo.reshape(flat, tuple(x.shape)), out)
        return _results.written("random.permuted", xo.take_along_axis(x, xo.argsort(keys, axis=axis), axis=axis), out)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle the slices of an array, in place if the library can."""
        if not ops.is_array(x):
            raise TypeError("np.random.Generator.shuffle takes an array. Instead: x = rng.permutation(x)")
        shuffled = self._generator.shuffled(x, index(axis))
        _results.overwritten("random.Generator.shuffle", x, ..., shuffled, "x = rng.permutation(x)")

    def spawn(self, n_children: int) -> list[Generator]:
        """Independent generators."""
        return [Generator(each, self._reference) for each in self._generator.spawn(index(n_children))]

    def _population(self, a: Any) -> Any:
        """What `choice` and `permutation` draw from: an array, or the number of the integers."""
        return self._array(a) if _axes.is_several(a) else index(a)

    def _array(self, x: Any) -> Any:
        """The argument as an array of the library of the generator."""
        return ops.in_library_of(self._reference, x)

    def _broadcast(self, first: Any, second: Any, size: Any) -> tuple[Any, Any, Any]:
        """The parameters, and the shape of the numbers, by default the shape of the parameters."""
        size = _axes.axis_or_axes(size)
        if isinstance(first, (int, float)) and isinstance(second, (int, float)):
            return first, second, size
        dtype = self._generator.random(0).dtype
        first, second = (ops.cast_new(each, dtype, like=self._reference) for each in (first, second))
        return first, second, tuple(xo.broadcast_shapes(first.shape, second.shape)) if size is None else size

    def _in_shape_of(self, out: Any, size: Any, draw: Any) -> Any:
        size = _axes.axis_or_axes(size)
        if out is not None and size is not None and tuple(out.shape) != (size if isinstance(size, tuple) else (size,)):
            raise ValueError("size must match out.shape when used together")
        return _results.written("random.Generator", draw(size if out is None else tuple(out.shape)), out)


def default_rng(seed: Any = None, *, like: Any = None) -> Generator:
    """A generator of the default library, or of that of ``like``, by `xarrayops.random.default_rng`.

    A generator is returned unchanged.
    """
    if isinstance(seed, Generator):
        return seed
    _results.refuse("random.default_rng", "an integer below 2**64", seed=isinstance(seed, (list, tuple)))
    is_key = ops.is_array(seed) and seed.ndim > 0
    reference = xo.zeros(0, dtype="uint8", like=seed if is_key and ops.reference(like) is None else ops.reference(like))
    seed = index(seed) if ops.is_array(seed) and not is_key else seed
    return Generator(xo.random.default_rng(seed, like=reference), reference)


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)


__all__ = ["Generator", "default_rng"]
