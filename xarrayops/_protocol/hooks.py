"""The hooks of a backend: names, signatures and laws.

`xarrayops.plugin` lists everything else that a backend module may define.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from xarrayops._protocol.attention import Attention
from xarrayops._protocol.compilation_hooks import CompilationHooks
from xarrayops._protocol.convolution_hooks import ConvolutionHooks
from xarrayops._protocol.devices import Device
from xarrayops._protocol.exchange_hooks import ExchangeHooks
from xarrayops._protocol.export_hooks import ExportHooks
from xarrayops._protocol.indexing import Index
from xarrayops._protocol.native import NativeKernel
from xarrayops._protocol.operations import Operation
from xarrayops._protocol.running import RunMode
from xarrayops._protocol.transformation_hooks import TransformationHooks
from xarrayops._protocol.types import Array, Gap
from xarrayops._surface import ROLES

if TYPE_CHECKING:
    from xarrayops._protocol.random import Draw


class Hooks(ExchangeHooks, TransformationHooks, CompilationHooks, ConvolutionHooks, ExportHooks):
    """The hooks: names, signatures and laws. The class is documentation and is never instantiated."""

    @staticmethod
    def wrap(verb: str, function: Callable[..., Any], /) -> Callable[..., Any]:
        """The function that serves a verb in place of ``function``; ``function`` itself if it needs no wrapper.

        Called once for each function of the standard and each of `WRAPPED_HOOKS` when the backend loads, and for each
        function of `EXTRA` when it is first needed; with the function of the backend, the library's or the generic
        one. A gap is not wrapped. `takes_arrays` returns whether a verb has array arguments to check. A wrapper keeps
        the signature, as with ``functools.wraps``.
        """
        raise NotImplementedError

    @staticmethod
    def versions() -> dict[str, str]:
        """Versions of the library and of its runtimes (CUDA, cuDNN, HIP), by name."""
        raise NotImplementedError

    @staticmethod
    def devices() -> list[Device]:
        """The usable devices; the CPU first if there is one."""
        raise NotImplementedError

    @staticmethod
    def device_attributes(device: Any, /) -> dict[str, int | str]:
        """Attributes of a native device, of `DEVICE_ATTRIBUTES`; unknown ones are left out."""
        raise NotImplementedError

    @staticmethod
    def free_bytes(device: Any, /) -> int | None:
        """The bytes of a native device that the library can still allocate; None if unknown."""
        raise NotImplementedError

    @staticmethod
    def release_memory(device: Any, /) -> None:
        """Release the memory of a native device that the library caches for reuse, as far as possible."""
        raise NotImplementedError

    @staticmethod
    def peak_bytes(device: Any, call: Callable[[], Any], /) -> int | None:
        """The peak memory of a call, in bytes, beyond what was allocated before; None if unknown. The call waits."""
        raise NotImplementedError

    @staticmethod
    def precision_switches() -> dict[str, str]:
        """The current values of the library's global settings that affect the precision of matrix products."""
        raise NotImplementedError

    @staticmethod
    def refine(x: Array, /) -> str | None:
        """The name of the backend of this array, if its class does not determine it (XLA tensors)."""
        raise NotImplementedError

    @staticmethod
    def refuse(x: Array, /) -> Gap | None:
        """Why this array is not supported (a NumPy array of objects), or None."""
        raise NotImplementedError

    @staticmethod
    def as_dtype(name: str, /) -> Any:
        """The native dtype with that name in the standard. Law: ``dtype_name(as_dtype(name)) == name``."""
        raise NotImplementedError

    @staticmethod
    def dtype_name(dtype: Any, /) -> str | None:
        """The name of a native dtype in the standard; None if the argument is not a dtype of the library."""
        raise NotImplementedError

    @staticmethod
    def default_floating_dtype() -> Any:
        """The native floating-point dtype of new arrays for which no dtype is given."""
        raise NotImplementedError

    @staticmethod
    def set_default_dtype(name: str | None, /) -> None:
        """Set the library's own default floating-point dtype, if it has such a setting; None restores the first one.

        Called when `xarrayops.set_default` changes a default. Compiled functions must not keep the earlier one.
        """
        raise NotImplementedError

    @staticmethod
    def carry_mode(name: str, key: str, /) -> AbstractContextManager[Any]:
        """A context in which the library's compiler keeps the code of a mode with this key separately.

        A mode is a setting such as `xarrayops.use`, its name. Functions that the compiler traced in one mode are traced
        again in another one. The key is empty outside of all blocks.
        """
        raise NotImplementedError

    @staticmethod
    def carries_mode(name: str, key: str, /) -> bool:
        """Whether a function that is traced now would be compiled for that mode alone. True outside of a trace."""
        raise NotImplementedError

    @staticmethod
    def crossings(report: Callable[..., None], /) -> AbstractContextManager[Any]:
        """A context in which the library reports where values leave it, and where the program waits for values.

        ``report(kind, what, nbytes)`` takes "transfer", "wait" or "compute", the name of the call, and the bytes, 0 if
        they are unknown. It may be called from any thread, and may raise: the error must reach the program. The context
        is that of a thread, and no context of the same hook is open around it in that thread.
        """
        raise NotImplementedError

    @staticmethod
    def compilations() -> int:
        """How often the library has compiled something since the first call of this hook."""
        raise NotImplementedError

    @staticmethod
    def carry_operation(operation: Operation, /) -> Callable[..., Any]:
        """A function that serves calls of a user's operation where a transformation of the library must see it.

        That is under a compiler, a gradient or a batch, and for arrays without values; not for plain calls. The
        function is called as ``operation.serve``. It keeps the operation's gradient, and derives from the reference
        what the library cannot find out about a kernel: shapes, gradients, batches. The generic function returns
        ``operation.serve``: the library transforms nothing.
        """
        raise NotImplementedError

    @staticmethod
    def native_kernel(native: NativeKernel, /) -> Callable[..., Any]:
        """A kernel that calls a compiled function: ``kernel(*arrays, **options)``, as of `xarrayops.operation`.

        It allocates the results, with the shapes and dtypes of the reference, and passes the current stream of the
        device. The arrays have the requirements of the kernel, and all are given. It may raise `Unsupported` if a
        package is missing. `xarrayops.plugin.native` has what such a kernel is made of.
        """
        raise NotImplementedError

    @staticmethod
    def run_modes() -> tuple[RunMode, ...]:
        """The ways in which the library runs a function: eagerly, compiled, on arrays without values."""
        raise NotImplementedError

    @staticmethod
    def as_device(device: Any, /) -> Any:
        """The native device for a name such as "cpu" or "cuda:1", or a native device itself.

        For an unknown name it raises a ValueError whose message lists the valid names; the caller adds a prefix. So
        does `as_dtype`.
        """
        raise NotImplementedError

    @staticmethod
    def device(x: Array, /) -> Any:
        """The native device of x; None if x has none yet (a tracer)."""
        raise NotImplementedError

    @staticmethod
    def to_device(x: Array, device: Any, /) -> Array:
        """x on that native device. Law: ``to_device(x, device(x)) is x``."""
        raise NotImplementedError

    @staticmethod
    def is_lazy(x: Array, /) -> bool:
        """Whether x has no values yet (a task graph or a tracer)."""
        raise NotImplementedError

    @staticmethod
    def compute(*arrays: Array) -> tuple[Array, ...]:
        """The arrays with their values computed; the arrays themselves if none is lazy."""
        raise NotImplementedError

    @staticmethod
    def persist(*arrays: Array) -> tuple[Array, ...]:
        """The arrays with their values computed, of the same library; the arrays themselves if none is a task graph."""
        raise NotImplementedError

    @staticmethod
    def synchronize(*arrays: Array) -> None:
        """Wait until the values of the arrays are computed."""
        raise NotImplementedError

    @staticmethod
    def returned(x: Array, /) -> Array:
        """An array as functions of the library return it: NumPy's return a scalar in place of an array without axes."""
        raise NotImplementedError

    @staticmethod
    def serving_others() -> AbstractContextManager[Any]:
        """A context in which the library serves arrays of other libraries, without warnings that those do not give."""
        raise NotImplementedError

    @staticmethod
    def einsum(subscripts: str, /, *operands: Array) -> Array:
        """Einstein summation in NumPy's notation."""
        raise NotImplementedError

    @staticmethod
    def matmul_int32(x1: Array, x2: Array, /) -> Array:
        """The exact matrix product of arrays of int8 or uint8, in int32. The caller has checked that the sums fit."""
        raise NotImplementedError

    @staticmethod
    def opaque(x: Array, shape: tuple[Any, ...], /) -> Array:
        """x, or x broadcast to a shape, without a gradient, as values that the library's compiler does not look into.

        A compiler that replaces a division by a constant or broadcast number by a product with its reciprocal, which
        rounds twice, must not do so with the result.
        """
        raise NotImplementedError

    @staticmethod
    def rounded(x: Array, dtype: Any, /) -> Array:
        """x in another native floating-point dtype. Law: ``astype(x, dtype)``, with the rounding that this means.

        No compiler of the library may skip the rounding where the result is widened again.
        """
        raise NotImplementedError

    @staticmethod
    def product_precision(products: str, /, *arrays: Array) -> AbstractContextManager[Any]:
        """A context for one product of floating-point arrays.

        In it, float32 is multiplied as IEEE float32 ("ieee"), or also in TF32 ("tf32"), and half types are summed in
        float32. What the library cannot keep raises `Unsupported`. Afterwards every setting is as it was before. Where
        a backend does not define the hook, half types are widened before they are multiplied.
        """
        raise NotImplementedError

    @staticmethod
    def register_state(cls: type, data: tuple[str, ...], constants: tuple[str, ...], /) -> None:
        """Let the transformations of the library take instances of a class, and return them.

        ``data`` names the attributes that are numbers or arrays, ``constants`` the others, which compiled functions
        keep. The class is made of all of them by name. Called once for each class.
        """
        raise NotImplementedError

    @staticmethod
    def attention(a: Attention, /) -> tuple[Array, Array | None]:
        """The result (B, Hq, Lq, Dv) in q's dtype, and the logsumexp (B, Hq, Lq), float32 or wider.

        Law: softmax of the scores times v, computed in float32 or wider, with memory that does not grow with Lq times
        Lk. A query that sees no key gives 0, and a logsumexp of -inf. Values beyond the lengths have no effect.
        """
        raise NotImplementedError

    @staticmethod
    def update(x: Array, index: Index, op: str, value: Any, /, *, copy: bool | None) -> Array:
        """x with ``x[index] = op(x[index], value)``. Duplicates accumulate; an index means what it means in NumPy.

        ``op`` is set, add, subtract, multiply, divide, min or max. The value is a Python number or an array, which is
        cast to the dtype of x, and read before x is written. ``copy=True`` leaves x alone, None may write it, and False
        must write it or raise `Unsupported`. An IndexError or ValueError of the library is explained by the caller.
        `Index.selection` gives the steps by which the index selects, for libraries that read indices otherwise.
        """
        raise NotImplementedError

    @staticmethod
    def select(x: Array, index: Index, /, *, copy: bool | None) -> Array:
        """The elements ``x[index]``; ``copy=False`` must give a view of x or raise `Unsupported`, None may."""
        raise NotImplementedError

    @staticmethod
    def unique(
        x: Array, /, *, return_index: bool, return_inverse: bool, return_counts: bool, axis: int | None
    ) -> Array | tuple[Array, ...]:
        """The sorted distinct elements of x, or its distinct slices along an axis, as in `xarrayops.unique`.

        One array, or a tuple of the values and of the results asked for: indices, inverse and counts.
        """
        raise NotImplementedError

    @staticmethod
    def trace_state() -> Any:
        """What the library's compiler traces at present, comparable by ``==``; None outside of a trace.

        Another value means another trace: also that of a loop or a vectorised function inside a compiled one.
        """
        raise NotImplementedError

    @staticmethod
    def random_draw(draw: Draw, key: Any, shape: tuple[int, ...], device: Any, /) -> Array:
        """The random array of a draw, on a native device or on the default one for None.

        The key is two Python integers, or an array (2,) of uint32. Law: the element with flat index i is that of the
        generic function, bit for bit: Threefry-2x32-20 of the key and of the counter i, then the steps of
        `xarrayops.plugin.random.from_bits`.
        """
        raise NotImplementedError

    @staticmethod
    def random_keys(key: Any, counters: Array, /) -> Array:
        """A key for each counter, as uint32 of shape ``(*counters.shape, 2)``: the two words of Threefry-2x32-20.

        The counters are integers in [0, 2**32). The key is as for `random_draw`.
        """
        raise NotImplementedError

    @staticmethod
    def random_permutation(key: Any, size: int, device: Any, /) -> Array:
        """The integers below ``size`` in random order, in the library's dtype of indices.

        Law: the stable `argsort` of the bits of a draw as int64.
        """
        raise NotImplementedError

    @staticmethod
    def native_generator(seed: int, device: Any, /) -> Any:
        """A generator of the library itself, for `native_draw`; the seed is in [0, 2**64)."""
        raise NotImplementedError

    @staticmethod
    def native_draw(generator: Any, draw: Draw, shape: tuple[int, ...], device: Any, /) -> Array:
        """A random array from a generator of the library, which advances. The dtype is that of the draw."""
        raise NotImplementedError


HOOKS: dict[str, Callable[..., Any]] = {
    name: member.__func__
    for hooks in Hooks.__mro__[:-1]
    for name, member in vars(hooks).items()
    if isinstance(member, staticmethod)
}
"""Every hook by name."""
WRAPPED_HOOKS = ("einsum", "unique", "update", "select")
"""The hooks that compute like functions of the standard; `wrap` is called for them too."""


def takes_arrays(verb: str, /) -> bool:
    """Whether a function of the standard, or one of `WRAPPED_HOOKS`, has array arguments.

    >>> takes_arrays("matmul"), takes_arrays("zeros"), takes_arrays("einsum")
    (True, False, True)
    """
    return verb in ROLES or verb in WRAPPED_HOOKS


def array_roles(verb: str, /) -> dict[str, str]:
    """The parameters of a function that take arrays, each with its role; empty for one that is in no table.

    A role is "array", "arrays" (a sequence), "operand" (an array or a number) or "maybe" (or None, too).

    >>> array_roles("sum"), array_roles("add")
    ({'x': 'array'}, {'x1': 'operand', 'x2': 'operand'})
    """
    return ROLES.get(verb, {})
