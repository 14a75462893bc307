"""Keys of random numbers, random bits, and generators."""

from __future__ import annotations

from typing import Any, overload

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes import defaults
from xarrayops._core.modes.defaults import Library
from xarrayops._ops.explained import explain_served
from xarrayops._ops.explanation import Explanation
from xarrayops._ops.random import arguments
from xarrayops._ops.random.arguments import FLOATING, KEY
from xarrayops._ops.random.generator import Generator
from xarrayops._ops.random.streams import Count, Keys, Stream, entropy
from xarrayops.plugin.arrays import Array, ArrayT
from xarrayops.plugin.candidates import Call


def default_rng(
    seed: int | Array | None = None,
    /,
    *,
    like: Array | None = None,
    backend: Library | None = None,
    device: Any = None,
    dtype: Any = None,
    native: bool = False,
) -> Generator:
    """A generator of random numbers, which are the same on every library.

    Parameters
    ----------
    seed : int, array or None
        An integer in [0, 2**64). A key: an array (2,) of uint32, as `key` or `Generator.key` return it; a key in host
        memory is read once, and serves any library. None: entropy of the operating system.
    like : array, optional
        An array that gives the library and the device, but not the dtype: the numbers do not depend on it. Numbers are
        split like it: over the devices of JAX, or in the chunks of Dask along axes of the same lengths.
    backend, device : optional
        The library and the device. By default from the key, else from `xarrayops.use` or `xarrayops.set_default`.
    dtype : optional
        The default dtype of floating-point numbers, float64 or float32. By default that of `xarrayops.use` or
        `xarrayops.set_default`, else float64, or float32 on JAX while its 64-bit types are off.
    native : bool
        Use the library's own generator. Its numbers are different on every library, and may change
        with the library's version and the device.

    Returns
    -------
    Generator

    Raises
    ------
    TypeError, ValueError
        The seed is neither an integer in [0, 2**64) nor a key.
    Unsupported
        ``native=True``, and the library has no own generator.

    Notes
    -----
    The numbers are those of Threefry-2x32-20 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2,
    3, 2011), a stateless generator: the element with flat index i is a function of only the key and i. So chunks,
    threads, devices and compilers do not affect the numbers. Call number n of a generator uses
    ``fold_in(key(seed), n)``.

    A generator counts its calls, so a compiled function must not use one from outside, and raises. Pass a key:
    ``f(rng.key(), x)``, and ``default_rng(key)`` in f.

    Examples
    --------
    >>> import xarrayops as xo
    >>> rng = xo.random.default_rng(0)
    >>> rng.random(2)
    array([0.969948  , 0.31518186])
    >>> first, second = rng.spawn(2)
    """
    if hasattr(seed, "shape"):
        if native:
            raise TypeError(f"xo.random.default_rng: native=True needs an integer as the seed, not a key; {KEY}.")
        found, where, stream = _of_key(seed, like, backend, device)
    else:
        found, where = arguments.place("random.default_rng", like, backend, device)
        words = arguments.words_of_seed(entropy() if seed is None else seed)
        stream = Count(words) if native else _stream(found, where, words)
    name = defaults.floating_dtype() or float if dtype is None else dtype
    return Generator(found, where, arguments.dtype_among("random.default_rng", found, name, FLOATING), stream, native)


def _of_key(key: Array, like: Array | None, backend: Library | None, device: Any) -> tuple[Backend, Any, Stream]:
    """The backend, the native device and the stream of a generator of a key."""
    verb = "random.default_rng"
    owner = find.one_of(verb, {"seed": key})
    words = owner.functions["key_words"](arguments.checked_key(verb, owner, key))
    if words is None:
        if like is not None:
            find.one_of(verb, {"seed": key, "like": like})
        if backend is not None or device is not None:
            raise TypeError(f"xo.{verb}: this key is traced or not in host memory. Instead: omit backend= and device=")
        return owner, owner.functions["device"](key), Keys(owner, key)
    is_placed = like is not None or backend is not None or device is not None
    found, where = arguments.place(verb, like if is_placed else key, backend, device)
    return found, where, _stream(found, where, words)


def _stream(backend: Backend, device: Any, words: tuple[int, int]) -> Stream:
    """The stream of a known key. A compiler cannot trace the lock of a count, so it gets an array."""
    traced = backend.functions["trace_state"]() is not None
    return Keys(backend, arguments.key_array(backend, words, device)) if traced else Count(words)


@overload
def key(seed: int, /, *, like: ArrayT, backend: None = None, device: Any = None) -> ArrayT: ...
@overload
def key(seed: int, /, *, like: None = None, backend: Library | None = None, device: Any = None) -> Array: ...
def key(seed: int, /, *, like: Array | None = None, backend: Library | None = None, device: Any = None) -> Array:
    """The key of a seed, an array (2,) of uint32.

    Parameters
    ----------
    seed : int
        In [0, 2**64).
    like, backend, device : optional
        As for `default_rng`.

    Raises
    ------
    TypeError, ValueError
        The seed is not an integer in [0, 2**64).

    Notes
    -----
    Law: ``key(seed)`` equals ``jax.random.key_data(jax.random.key(seed))`` with JAX's 64-bit types.

    Examples
    --------
    >>> import xarrayops as xo
    >>> xo.random.key(2**32 + 7)
    array([1, 7], dtype=uint32)
    """
    found, native = arguments.place("random.key", like, backend, device)
    return arguments.key_array(found, arguments.words_of_seed(seed), native)


def bits(key: ArrayT, /, shape: int | tuple[int, ...] = (), *, dtype: Any = "uint64") -> ArrayT:
    """Random bits: unsigned integers in which every bit is 0 or 1 with the same probability.

    Parameters
    ----------
    key : array
        A key, (2,) of uint32. The same key gives the same bits.
    shape : int or tuple of int
        The shape of the result.
    dtype : optional
        uint64, uint32, uint16 or uint8.

    Returns
    -------
    array
        On the library and device of the key.

    Raises
    ------
    ValueError
        The dtype is not one of these, or the array is not a key.

    Notes
    -----
    Law: equal to ``jax.random.bits`` for the same key, shape and dtype, where ``jax_threefry_partitionable`` is on, as
    it is by default.

    Examples
    --------
    >>> import xarrayops as xo
    >>> xo.random.bits(xo.random.key(0), 2, dtype="uint32")
    array([4070199207, 4202968722], dtype=uint32)
    """
    backend, call = _bits_call(key, shape, dtype)
    return backend.functions["random_draw"](*call)


def _bits_call(key: Array, shape: int | tuple[int, ...], dtype: Any) -> tuple[Any, tuple[Any, ...]]:
    """The backend, and the arguments of its hook."""
    backend = find.one_of("random.bits", {"key": key})
    arguments.checked_key("random.bits", backend, key)
    draw = arguments.bits_draw("random.bits", backend, dtype)
    return backend, (draw, key, arguments.checked_shape(shape), backend.functions["device"](key))


def explain_bits(verb: str, /, key: Array, shape: int | tuple[int, ...] = (), *, dtype: Any = "uint64") -> Explanation:
    """Explain `bits`: the kernels of the key's library, which generators use too."""
    backend, call = _bits_call(key, shape, dtype)
    return explain_served(verb, backend, Call(call, {}))


def split(key: ArrayT, /, num: int = 2) -> ArrayT:
    """New keys, ``(num, 2)`` of uint32, with independent random numbers. Do not use the old key again.

    Raises
    ------
    ValueError
        The key does not have shape (2,) and dtype uint32, or ``num`` is negative.

    Notes
    -----
    Laws: ``split(key, num)[i]`` equals ``fold_in(key, i)``, and ``jax.random.split(key, num)[i]`` where
    ``jax_threefry_partitionable`` is on, as it is by default.

    Examples
    --------
    >>> import xarrayops as xo
    >>> xo.random.split(xo.random.key(0))
    array([[1797259609, 2579123966],
           [ 928981903, 3453687069]], dtype=uint32)
    """
    backend = find.one_of("random.split", {"key": key})
    arguments.checked_key("random.split", backend, key)
    (count,) = arguments.checked_shape(num)
    counters = backend.functions["arange"](
        count, dtype=backend.native_dtype("int32"), device=backend.functions["device"](key)
    )
    return backend.functions["random_keys"](key, counters)


def fold_in(key: ArrayT, data: int | ArrayT, /) -> ArrayT:
    """A new key, (2,) of uint32, for an integer: the number of a step or a worker.

    Parameters
    ----------
    key : array
        A key, (2,) of uint32.
    data : int or array
        In [0, 2**32). An array of integers of shape () may be traced.

    Raises
    ------
    ValueError
        The array is not a key, data is an integer out of range, or an array of another shape.

    Notes
    -----
    Law: equal to ``jax.random.fold_in``.

    Examples
    --------
    >>> import xarrayops as xo
    >>> xo.random.fold_in(xo.random.key(0), 1)
    array([ 928981903, 3453687069], dtype=uint32)
    """
    backend = find.one_of("random.fold_in", {"key": key, "data": data})
    arguments.checked_key("random.fold_in", backend, key)
    return backend.functions["random_keys"](key, arguments.checked_counter(backend, key, data))
