"""The verb, and the choice of the kernel of a call that the user restricts, by ``implementation=`` or by engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.find import NON_ARRAY_TYPES, resolved
from xarrayops._core.backends.mixed import described
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.arguments import require_array_argument
from xarrayops._core.dispatch.errors import refuse_arguments
from xarrayops._core.dispatch.lookup import constant_while_tracing, publish
from xarrayops._core.modes import tables as modes
from xarrayops._core.modes.precision import policy, under_policy
from xarrayops._ops.attention.arguments import InvalidAttention, request, to_layout
from xarrayops._ops.engines.routes import Route
from xarrayops._ops.engines.serving import serving
from xarrayops.errors import BackendNotFound, Unsupported, available_names
from xarrayops.plugin.arrays import Array, ArrayT
from xarrayops.plugin.attention import Attention
from xarrayops.plugin.candidates import Kernel, always, first_able


def kernels(backend: Backend) -> list[Kernel]:
    """The kernels of a library; the last one is the generic function."""
    return backend.kernels("attention") or [("generic", backend.functions["attention"], always)]


@cache
def _by_engines(own: Backend) -> Callable[..., Any]:
    """The function for the arrays of a library in modes. Engines use their own kernels, not the generic function."""
    return serving(
        "attention", own, own.functions["attention"], lambda engine: first_able("attention", kernels(engine)[:-1])
    )


@constant_while_tracing
def publish_by_engines(cls: type, name: str) -> str:
    """The name in `resolved` of the function for arrays of a class and a backend while engines are active."""
    return publish(f"attention:engines:{name}", _by_engines(_backend(cls, name)))


def named(own: Backend, implementation: str) -> tuple[Backend, Kernel]:
    """The library and the kernel of an implementation. The library need not be an engine."""
    library = str(implementation).partition(":")[0]
    try:
        engine = own if registry.module_of(library) is None else find.named(library)
    except BackendNotFound as error:
        raise Unsupported(f"implementation={implementation!r}: {error}") from None
    found = {f"{own.name}:{kernel[0]}": (own, kernel) for kernel in kernels(own)}
    if engine is not own:
        found |= {f"{engine.name}:{kernel[0]}": (engine, kernel) for kernel in kernels(engine)[:-1]}
    if implementation not in found:
        raise Unsupported(f"no implementation {implementation!r}: {available_names(implementation, found)}")
    return found[implementation]


@constant_while_tracing
def publish_named(cls: type, name: str, implementation: str) -> str:
    """The name in `resolved` of the function for arrays of a class and a backend with that implementation."""
    own = _backend(cls, name)
    engine, kernel = named(own, implementation)
    if engine is not own:
        route = Route("attention", own, engine, lambda engine: first_able("attention", [kernel]))
        return publish(f"attention:{implementation}:{name}", lambda a: route((a,), {}))
    return publish(f"attention:{implementation}:{name}", first_able("attention", [kernel]))


def _backend(cls: type, name: str) -> Backend:
    """The backend of that name. The class of the arrays is needed for libraries without an entry point."""
    own = find.of_class(cls)
    return own if own is not None and own.name == name else find.named(name)  # an XLA tensor has PyTorch's class


if TYPE_CHECKING:

    class Options(TypedDict, total=False):
        """The options of `attention` except ``return_lse``."""

        layout: str
        mask: Array | None
        bias: Array | None
        causal: bool | str | int
        window: tuple[Any, ...] | None
        scale: float | None
        softcap: float | None
        q_lengths: Array | Sequence[int] | None
        kv_lengths: Array | Sequence[int] | None
        implementation: str | None


@overload
def attention(
    q: ArrayT, k: ArrayT, v: ArrayT, /, *, return_lse: Literal[False] = False, **options: Unpack[Options]
) -> ArrayT: ...


@overload
def attention(
    q: ArrayT, k: ArrayT, v: ArrayT, /, *, return_lse: Literal[True], **options: Unpack[Options]
) -> tuple[ArrayT, ArrayT]: ...


@overload
def attention(q: ArrayT, k: ArrayT, v: ArrayT, /, *, return_lse: bool, **options: Unpack[Options]) -> Any: ...


def attention(
    q: Array,
    k: Array,
    v: Array,
    /,
    *,
    layout: str = "BHSD",
    mask: Array | None = None,
    bias: Array | None = None,
    causal: bool | str | int = False,
    window: tuple[Any, ...] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    q_lengths: Array | Sequence[int] | None = None,
    kv_lengths: Array | Sequence[int] | None = None,
    return_lse: bool = False,
    implementation: str | None = None,
) -> Any:
    """Scaled dot-product attention, ``softmax(scale * q @ k.T) @ v``, the same on every library.

    The matrix of scores (queries x keys) is never stored, not even for gradients: memory grows linearly with the length
    of the sequence; on Dask with the length times the number of chunks.

    Parameters
    ----------
    q, k, v : array
        Queries, keys and values of one library and one real floating-point dtype, with the axes of ``layout``. q may
        have a multiple of the heads of k and v (grouped queries: consecutive heads of q share one of k), and v another
        head size.
    layout : "BHSD", "BSHD", "HSD" or "SHD"
        The axes: batch, heads, sequence, head size; without a batch in the last two.
    mask : array of bool, optional
        True where a query sees a key. Broadcast from the right to (B, Hq, Lq, Lk), or (Hq, Lq, Lk) without a batch, in
        any layout. For a padding mask of shape (B, Lk) pass ``mask[:, None, None, :]``, or use ``kv_lengths``.
    bias : array of floats, optional
        Added to the scores after the softcap; broadcast like the mask. A bias of -inf hides the key.
    causal : False, True, "top_left", "bottom_right" or int
        With an offset o, query i sees key j if ``j <= i + o``: an int is o itself; "top_left" is 0; "bottom_right" is
        Lk - Lq, or ``kv_length - q_length`` of each row. True is "top_left", and allowed only if Lq equals Lk.
    window : (left, right) or (left, right, anchor), optional
        Query i sees key j if ``i + o - left <= j <= i + o + right``, None for no limit. The offset o comes from
        ``causal`` or from the anchor, which takes the same values as ``causal`` and is required if causal is False and
        Lq differs from Lk.
    scale : float, optional
        The factor of the scores; default ``1 / sqrt(D)``.
    softcap : float, optional
        c > 0: scores become ``c * tanh(scores / c)``, before the bias.
    q_lengths, kv_lengths : integer array or sequence of int of shape (B,), optional
        The number of valid queries and keys of each batch item. Elements beyond may have any value, also NaN. Lengths
        beyond the sequence raise if they are Python integers, or arrays whose values can be read without a wait (NumPy,
        PyTorch on the CPU).
    return_lse : bool
        Whether to return the logsumexp of the scores as well.
    implementation : str, optional
        One of the names that ``explain("attention", ...)`` lists: always use this kernel. It may belong to another
        library, such as "jax:blocked" for NumPy arrays.

    Returns
    -------
    array
        In q's layout and dtype, with the head size of v.
    (array, array)
        With ``return_lse``, also the logsumexp: (B, Hq, Lq) in any layout, (Hq, Lq) without a batch; float64 for
        float64, else float32.

    Raises
    ------
    ValueError
        Shapes, dtypes or options do not fit each other; the message shows them.
    MixedBackends
        The arrays are of several libraries.
    Unsupported
        The requested implementation cannot serve this call.

    Notes
    -----
    Every option composes with every other: ``s = scale * q @ k.T``; ``s = softcap * tanh(s / softcap)``; ``s += bias``;
    then mask, causal, window and lengths hide keys; then softmax, in float32 or wider. A query that sees no key gives 0
    and a logsumexp of -inf. Keys and values hidden by mask, bias, causal or window have no effect if they are finite.

    Law: with ``(o1, l1)`` of the first h keys, ``(o2, l2)`` of the others, and ``l = logaddexp(l1, l2)``, each row of
    the whole is ``o1 * exp(l1 - l) + o2 * exp(l2 - l)``, and 0 where l is -inf; for the second part, the offset becomes
    ``o - h``.

    Sources: Vaswani et al. 2017, https://arxiv.org/abs/1706.03762; Dao et al. 2022, https://arxiv.org/abs/2205.14135.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> q, k, v = (np.random.default_rng(0).random((1, 8, 128, 64), dtype=np.float32) for _ in range(3))
    >>> xo.attention(q, k, v, causal=True).shape
    (1, 8, 128, 64)

    One step of decoding against a cache that is filled to different lengths:

    >>> step = q[:, :, :1]
    >>> xo.attention(step, k, v, kv_lengths=[100], causal="bottom_right").shape
    (1, 8, 1, 64)
    """
    backend = require_one_library(q, k, v, mask, bias, q_lengths, kv_lengths)
    options = (layout, mask, bias, causal, window, scale, softcap, q_lengths, kv_lengths, return_lse)
    attend = partial(_attend, backend, implementation, options)
    try:
        out, lse = under_policy(backend, (q, k, v), attend) if policy.open_blocks else attend(q, k, v)
    except Exception as error:
        refuse_arguments(error, "attention", {"q": q, "k": k, "v": v, "mask": mask, "bias": bias})
        raise
    if layout != "BHSD":
        out = to_layout(out, layout)
    if not return_lse:
        return out
    return out, lse if len(layout) == 4 else lse[0, ...]


def _attend(
    backend: Backend, implementation: str | None, options: tuple[Any, ...], q: Array, k: Array, v: Array
) -> tuple[Array, Any]:
    """The result as BHSD, and the logsumexp; ``options`` as for `request`."""
    a = checked(q, k, v, *options)
    try:
        if implementation is not None:
            serve = getattr(resolved, publish_named(type(q), backend.name, implementation))
        elif modes.state_of("attention"):
            serve = getattr(resolved, publish_by_engines(type(q), backend.name))
        else:
            serve = backend.resolve("attention")
        served: tuple[Array, Any] = serve(a)
    except Unsupported as error:
        raise Unsupported(f"{described_call(q, k, v)}: {error}") from None
    except ValueError as error:  # a kernel found lengths beyond the sequence
        raise ValueError(f"{described_call(q, k, v)}: {error}") from None
    return served


def require_one_library(q: Array, *others: Any) -> Backend:
    """The backend of all arrays; lengths may be sequences, and optional arguments None."""
    given = dict(zip(("q", "k", "v", "mask", "bias", "q_lengths", "kv_lengths"), (q, *others), strict=True))
    for name in ("q", "k", "v"):
        if type(given[name]) in NON_ARRAY_TYPES:
            require_array_argument("attention", name, given[name], "array")
    lengths = ("q_lengths", "kv_lengths")
    return find.one_of("attention", {n: x for n, x in given.items() if n not in lengths or hasattr(x, "shape")})


def checked(q: Array, k: Array, v: Array, *options: Any) -> Attention:
    """The call in the form that kernels take. Errors show the call."""
    try:
        return request(q, k, v, *options)
    except InvalidAttention as error:
        raise ValueError(f"{described_call(q, k, v)}: {error}.") from None


def described_call(q: Array, k: Array, v: Array) -> str:
    shown = (f"{name} {described(x, find.of(x))}" for name, x in zip("qkv", (q, k, v), strict=True))
    return f"xo.attention({', '.join(shown)})"
