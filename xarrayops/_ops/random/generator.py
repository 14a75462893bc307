# Long: one class with the methods of NumPy's generator; half of the lines are docstrings.
"""Generator: random numbers with the methods of NumPy's generator."""

from __future__ import annotations

import copy
import operator
import os
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.creation import broadcast_shapes
from xarrayops._ops.random import arguments, streams
from xarrayops._ops.random.arguments import FLOATING
from xarrayops._ops.random.streams import Count, Stream
from xarrayops.errors import Unsupported
from xarrayops.plugin.arrays import Array, ArrayT
from xarrayops.plugin.beta import PROPOSALS, least_shape
from xarrayops.plugin.random import Draw

Size = int | tuple[int, ...] | None


class Generator:
    """Random numbers with the methods of `numpy.random.Generator`; `default_rng` makes one.

    Every method takes ``size``: an integer, a tuple, or None for a 0-d array. Results are arrays of the
    generator's library, on its device. Each call uses a new key, in the order of the calls. Threads may share a
    generator, but then the order of their calls determines which numbers each gets; `spawn` returns independent
    generators. A forked process continues with entropy of the operating system, so that it never repeats numbers of its
    parent.
    """

    def __init__(self, backend: Backend, device: Any, dtype: str, stream: Stream, native: bool) -> None:
        self._backend = backend
        self._device = device
        self._dtype = dtype
        self._stream = stream
        self._trace = backend.functions["trace_state"]()
        self._native: tuple[int, Any] | None = None

        if native:
            self._native = os.getpid(), self._native_generator(stream)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from xarrayops._core.numpy_names.without import GENERATOR  # needed for errors only

            if name not in GENERATOR:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            why = f"xo.random's generators have no {name}: {GENERATOR[name]}"
            raise AttributeError(why, name=None, obj=None)

    def __repr__(self) -> str:
        return f"<xarrayops.random.Generator of {self._backend.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy continues with the numbers of the original."""
        if not isinstance(self._stream, Count):
            raise TypeError("xo.random: a generator of a key cannot be copied. Instead: copy the key")
        found = (device.name for device in self._backend.devices() if device.native == self._device)
        native = None if self._native is None else self._native[1]
        stream = self._stream
        return _restored, (self._backend.name, next(found, None), self._dtype, stream.root, stream.count, native)

    def __copy__(self) -> Generator:
        return copy.deepcopy(self)  # a shallow copy would share the native generator

    def random(self, size: Size = None, *, dtype: Any = None) -> Array:
        """Uniform numbers in [0, 1): multiples of 2**-53 in float64 and of 2**-24 in float32.

        Examples
        --------
        >>> import xarrayops as xo
        >>> xo.random.default_rng(0).random((2, 2), dtype="float32")
        array([[0.8423142 , 0.18237865],
               [0.22717816, 0.12072569]], dtype=float32)
        """
        return self._drawn(Draw("uniform", self._floating(dtype)), size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, *, dtype: Any = None) -> Array:
        """Normal numbers with mean ``loc`` and standard deviation ``scale``.

        ``loc`` and ``scale`` are numbers, or arrays that broadcast to ``size``. The numbers, by Algorithm AS 241 of
        Wichura (1988), are at most 8.3 in float64 and 6.4 in float32, and have the same bits on every library; with
        arrays, a compiler may round ``loc + scale * x`` once instead of twice.

        Examples
        --------
        >>> import xarrayops as xo
        >>> xo.random.default_rng(0).normal(10.0, 2.0, size=3)
        array([ 9.84919884, 11.79430975,  8.02007636])
        """
        return self._scaled("normal", loc, scale, size, dtype)

    def exponential(self, scale: Any = 1.0, size: Size = None, *, dtype: Any = None) -> Array:
        """Exponential numbers with mean ``scale``: -log(u) times scale, for uniform u in (0, 1].

        -log(u) is at most 36.8 in float64 and 16.7 in float32.

        Examples
        --------
        >>> import xarrayops as xo
        >>> bool(xo.all(xo.random.default_rng(0).exponential(size=100) >= 0))
        True
        """
        return self._scaled("exponential", 0.0, scale, size, dtype)

    def beta(self, a: Any, b: Any, size: Size = None, *, dtype: Any = None) -> Array:
        """Beta numbers, with the density proportional to ``x**(a - 1) * (1 - x)**(b - 1)`` on [0, 1].

        ``a`` and ``b`` are positive numbers, or arrays that broadcast to ``size``; they are constants for
        gradients. The numbers, by the method of Marsaglia and Tsang (2000), have the same bits on every library. Each
        takes the memory of about 60 numbers while it is computed. Elements of arrays must be in the
        range from 1.5e-306 to 7e305, in float32 from 7.6e-37 to 1.3e36; others give NaN.

        Raises
        ------
        ValueError
            A Python number is out of this range.

        Examples
        --------
        >>> import xarrayops as xo
        >>> xo.random.default_rng(0).beta(0.5, 2.0, size=3)
        array([0.01141016, 0.10355571, 0.37649604])
        """
        name = self._floating(dtype)
        given, size = self._parameters("beta", {"a": a, "b": b}, size)
        least = least_shape(name)
        for each, x in given.items():
            if not hasattr(x, "shape") and not least <= x <= 1 / least:
                raise ValueError(f"xo.random.Generator.beta: {each} must be positive and finite in {name}, not {x}.")
        functions, native = self._backend.functions, self._backend.native_dtype(name)
        shape = arguments.checked_shape(size)
        columns = [
            functions["astype"](x, native)
            if hasattr(x, "shape")
            else functions["full"]((), x, dtype=native, device=self._device)
            for x in given.values()
        ]
        shapes = [functions["broadcast_to"](x[..., None], (*shape, PROPOSALS)) for x in columns]
        numbers = (self._drawn(Draw(kind, name), (*shape, 2, PROPOSALS)) for kind in ("normal", "exponential"))
        return functions["beta_numbers"](name, functions["stack"](shapes, axis=-2), *numbers)

    def integers(
        self, low: int, high: int | None = None, size: Size = None, *, dtype: Any = int, endpoint: bool = False
    ) -> Array:
        """Integers from ``low`` to below ``high``, or from 0 to below ``low``; ``endpoint=True`` includes the last one.

        By default they have the library's default integer dtype: int64, or int32 on JAX while its 64-bit types are off.
        The limits are Python integers. Each result takes 64 bits, without rejection (Lemire 2019). So the probabilities
        of two integers differ by at most the factor ``1 + width / 2**64``.

        Raises
        ------
        ValueError
            The limits contain no integer, or one that the dtype cannot hold.

        Examples
        --------
        >>> import xarrayops as xo
        >>> xo.random.default_rng(0).integers(1, 6, size=5, endpoint=True)
        array([6, 2, 4, 6, 2])
        """
        return self._drawn(arguments.integers_draw(self._backend, low, high, dtype, endpoint=endpoint), size)

    def bits(self, size: Size = None, *, dtype: Any = "uint64") -> Array:
        """Random bits as unsigned integers: uint64, uint32, uint16 or uint8. See `xarrayops.random.bits`."""
        return self._drawn(arguments.bits_draw("random.Generator.bits", self._backend, dtype), size)

    def permutation(self, x: Any, axis: int = 0) -> Array:
        """A random permutation of the integers below x, or of the slices of an array x along an axis.

        Examples
        --------
        >>> import xarrayops as xo
        >>> xo.random.default_rng(0).permutation(5)
        array([2, 0, 3, 4, 1])
        """
        if hasattr(x, "shape"):
            return self.shuffled(x, axis)
        return self._permutation(operator.index(x))

    def shuffled(self, x: ArrayT, axis: int = 0) -> ArrayT:
        """The slices of x along an axis in random order, as a new array. NumPy's ``shuffle`` changes x itself.

        Raises
        ------
        MixedBackends
            x and the generator belong to different libraries.
        """
        self._check_library("shuffled", x)
        axis = range(x.ndim)[axis]  # type: ignore[attr-defined]
        order = self._permutation(x.shape[axis])  # type: ignore[attr-defined]
        return self._backend.functions["take"](x, order, axis=axis)

    def choice(self, a: Any, size: Size = None, replace: bool = True, p: Any = None, axis: int = 0) -> Array:
        """Random elements of an array (slices along an axis), or random integers below a number.

        Parameters
        ----------
        a : int or array
            The number of integers, or an array of the generator's library.
        size : int or tuple of int, optional
            The shape of the sample.
        replace : bool
            Whether an element may be drawn more than once.
        p : sequence of float or array, optional
            The probabilities; by default all are equal. They are divided by their sum. The sums of a sequence are the
            same on every library; the sums of an array are computed by its library, and may differ in the last bits.
        axis : int
            The axis of ``a``.

        Raises
        ------
        ValueError
            There are too few elements for a sample without replacement, or the probabilities do not fit.

        Notes
        -----
        Without replacement and with p: the elements with the smallest ``exponential / p`` (Efraimidis and Spirakis,
        Weighted random sampling with a reservoir, 2006).

        Examples
        --------
        >>> import xarrayops as xo
        >>> xo.random.default_rng(0).choice(10, 3, replace=False)
        array([6, 9, 2])
        """
        functions, shape = self._backend.functions, arguments.checked_shape(size)
        if not hasattr(a, "shape"):
            n = operator.index(a)
        else:
            self._check_library("choice", a)
            axis = range(a.ndim)[axis]
            n = a.shape[axis]
        count = prod(shape)
        if count and (n <= 0 or (not replace and count > n)):
            raise ValueError(f"xo.random.Generator.choice: {count} of {max(n, 0)} elements, replace={replace}.")
        if p is not None:
            order = places_of_weights(self, self._backend, p, n, count, replace=replace)
        elif replace:
            order = self.integers(0, max(n, 1), count, dtype=self._index_dtype())
        else:
            order = self._permutation(n)[:count]
        if not hasattr(a, "shape"):
            return functions["reshape"](order, shape)
        taken = functions["take"](a, order, axis=axis)
        return functions["reshape"](taken, (*a.shape[:axis], *shape, *a.shape[axis + 1 :]))

    def key(self) -> Array:
        """A new key at each call, for compiled functions, which then call ``default_rng(key)``.

        Examples
        --------
        >>> import xarrayops as xo
        >>> rng = xo.random.default_rng(0)
        >>> draw = lambda key: xo.random.default_rng(key).random(3)
        >>> draw(rng.key())[0] == draw(rng.key())[0]
        np.False_
        """
        key = self._next()
        return arguments.key_array(self._backend, key, self._device) if isinstance(key, tuple) else key

    def spawn(self, n: int) -> list[Generator]:
        """Generators with independent numbers, for the threads, processes or parts of a program.

        Examples
        --------
        >>> import xarrayops as xo
        >>> [float(rng.random()) for rng in xo.random.default_rng(0).spawn(2)]
        [0.15903025082737932, 0.4812663555922899]
        """
        self._check_trace()
        native = self._native is not None
        spawned = [self._stream.spawned() for _ in range(operator.index(n))]
        return [Generator(self._backend, self._device, self._dtype, stream, native) for stream in spawned]

    def _check_trace(self) -> None:
        """Raise if a compiler traces a function that did not make this generator."""
        if self._backend.functions["trace_state"]() != self._trace:
            raise Unsupported(
                f"xo.random: this generator was not made in the function that {self._backend.name} traces. The numbers "
                f"would be the same in every call. Instead: pass a key, f(rng.key(), ...), and make the generator in "
                f"the function, rng = xo.random.default_rng(key)"
            )

    def _next(self) -> Any:
        self._check_trace()
        return self._stream.next()

    def _native_generator(self, stream: Stream) -> Any:
        high, low = stream.next()
        return self._backend.functions["native_generator"]((high << 32) | low, self._device)

    def _drawn(self, draw: Draw, size: Size) -> Array:
        shape = arguments.checked_shape(size)
        functions = self._backend.functions
        if self._native is None:
            return functions["random_draw"](draw, self._next(), shape, self._device)
        self._check_trace()
        if streams.is_recording():
            raise Unsupported(
                "xo.checkpoint: a generator with native=True would draw other numbers when the function is computed "
                "again. Instead: a generator without it"
            )
        process, generator = self._native
        # A forked child would repeat the numbers of its parent.
        if process != os.getpid():
            generator = self._native_generator(self._stream)
            self._native = os.getpid(), generator
        return functions["native_draw"](generator, draw, shape, self._device)

    def _scaled(self, kind: str, loc: Any, scale: Any, size: Size, dtype: Any) -> Array:
        """Random numbers with a location and a scale, which are numbers or arrays."""
        draw, functions = Draw(kind, self._floating(dtype)), self._backend.functions
        given, size = self._parameters(kind, {"loc": loc, "scale": scale}, size)
        if not any(hasattr(x, "shape") for x in given.values()):
            return self._drawn(draw._replace(**given), size)
        x = self._drawn(draw, size)
        native = self._backend.native_dtype(draw.dtype)
        loc, scale = (functions["astype"](a, native) if hasattr(a, "shape") else a for a in given.values())
        return x * scale + loc

    def _parameters(self, method: str, given: dict[str, Any], size: Size) -> tuple[dict[str, Any], Size]:
        """The parameters of a distribution, as floats or arrays, and the size, by default that of the arrays."""
        found = {name: arguments.number_or_array(method, name, x) for name, x in given.items()}
        arrays = [x for x in found.values() if hasattr(x, "shape")]
        for x in arrays:
            self._check_library(method, x)
        shapes = [tuple(x.shape) for x in arrays]
        if size is None and arrays:
            return found, broadcast_shapes(*shapes)
        shape = arguments.checked_shape(size)
        if arrays and broadcast_shapes(shape, *shapes) != shape:
            shown = ", ".join(map(str, shapes))
            raise ValueError(f"xo.random.Generator.{method}: parameters of shape {shown} do not broadcast to {shape}.")
        return found, size

    def _permutation(self, n: int) -> Array:
        if self._native is not None:
            return self._drawn(Draw("permutation", self._index_dtype(), 0, n), (n,))
        return self._backend.functions["random_permutation"](self._next(), n, self._device)

    def _floating(self, dtype: Any) -> str:
        return self._dtype if dtype is None else arguments.dtype_among("random", self._backend, dtype, FLOATING)

    def _index_dtype(self) -> str:
        """The name of the library's index dtype."""
        defaults = self._backend.namespace.__array_namespace_info__().default_dtypes()
        return str(self._backend.functions["dtype_name"](defaults["indexing"]))

    def _check_library(self, method: str, x: Array) -> None:
        """Raise unless x belongs to the library of the generator."""
        own = self._backend.functions["empty"]((0,), dtype=self._backend.native_dtype("int32"), device=self._device)
        find.one_of(f"random.Generator.{method}", {"x": x, "rng": own})


def _restored(
    library: str, device: str | None, dtype: str, root: tuple[int, int], count: int, native: Any
) -> Generator:
    """A generator from what `Generator.__reduce__` returns."""
    backend = registry.of_root(library)
    where = None if device is None else backend.native_device(device)
    generator = Generator(backend, where, dtype, Count(root, count), False)
    if native is not None:
        generator._native = os.getpid(), native
    return generator


def places_of_weights(rng: Any, backend: Backend, p: Any, n: int, count: int, *, replace: bool) -> Array:
    """The positions of a sample, (count,), among n elements with the probabilities p, by a `Generator`."""
    functions = backend.functions
    if replace:
        u = rng.random(count)
        bounds = _bounds(backend, p, n, u)
        places = functions["searchsorted"](bounds, u, side="right")
        # The last bound is 1 and u is below it, but sums are rounded: a position beyond the end is the last element.
        return functions["clip"](places, 0, n - 1)
    # The first of independent exponential waits with rates p is i with probability p[i]; the others race on, so the
    # order of waits is a sample without replacement.
    waits = rng.exponential(size=n)
    weights = _weights(backend, p, n, waits, least=count)
    where, inf = functions["where"], float("inf")
    # The wait for a probability of 0 is infinite. The inner where avoids the warning of a division by 0.
    waits = where(weights > 0, waits / where(weights > 0, weights, 1.0), inf)
    return functions["argsort"](waits)[:count]


def _bounds(backend: Backend, p: Any, n: int, like: Array) -> Array:
    """The upper ends of the intervals of [0, 1) for the elements."""
    if not hasattr(p, "shape"):
        # In Python's floats, so that the bounds have the same bits on every library.
        sums = list(accumulate(_numbers(p, n, least=1)))
        return _array(backend, [each / sums[-1] for each in sums], like)
    sums = backend.functions["cumulative_sum"](_weights(backend, p, n, like, least=1))
    return sums / sums[-1]


def _weights(backend: Backend, p: Any, n: int, like: Array, *, least: int) -> Array:
    if not hasattr(p, "shape"):
        return _array(backend, _numbers(p, n, least=least), like)
    find.one_of("random.Generator.choice", {"p": p, "rng": like})
    if tuple(p.shape) != (n,):
        raise ValueError(f"xo.random.Generator.choice: p has shape {tuple(p.shape)}, but there are {n} elements.")
    return backend.functions["astype"](p, like.dtype)


def _numbers(p: Any, n: int, *, least: int) -> list[float]:
    numbers = [float(each) for each in p]
    if len(numbers) != n:
        raise ValueError(f"xo.random.Generator.choice: p has {len(numbers)} probabilities, but there are {n} elements.")
    if not all(0 <= each < float("inf") for each in numbers):
        raise ValueError("xo.random.Generator.choice: probabilities must be finite and not negative.")
    if sum(map(bool, numbers)) < least:
        raise ValueError(f"xo.random.Generator.choice: fewer than {least} elements have a probability above 0.")
    return numbers


def _array(backend: Backend, numbers: list[float], like: Array) -> Array:
    return backend.functions["asarray"](numbers, dtype=like.dtype, device=backend.functions["device"](like))
