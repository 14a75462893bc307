"""Validates the arguments of `attention`, and converts them to the form that all kernels take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from xarrayops import standard
from xarrayops._core.backends.registry import describe_class
from xarrayops._core.dispatch.lookup import function_for
from xarrayops._ops.creation import asarray
from xarrayops.errors import available_names
from xarrayops.plugin.arrays import Array
from xarrayops.plugin.attention import Attention

LAYOUTS = ("BHSD", "BSHD", "HSD", "SHD")
"""Axes of q, k and v: batch, heads, sequence, head size. The last two have no batch."""
FLOATS = ("float32", "float16", "bfloat16", "float64")
ANCHORS = ("top_left", "bottom_right")


class InvalidAttention(ValueError):
    """Arguments are invalid. The caller adds a description of the call to the message."""


def request(
    q: Array,
    k: Array,
    v: Array,
    layout: str,
    mask: Array | None,
    bias: Array | None,
    causal: bool | str | int,
    window: tuple[Any, ...] | None,
    scale: float | None,
    softcap: float | None,
    q_lengths: Array | Sequence[int] | None,
    kv_lengths: Array | Sequence[int] | None,
    return_lse: bool,
) -> Attention:
    """The validated call in the form that all kernels take.

    Raises
    ------
    InvalidAttention
        The message says which argument is invalid, and what to do instead.
    """
    if layout not in LAYOUTS:
        raise InvalidAttention(f"no layout {layout!r}: {available_names(str(layout).upper(), LAYOUTS)}")
    if not q.ndim == k.ndim == v.ndim == len(layout):
        raise InvalidAttention(f"the layout {layout} has {len(layout)} axes; q has {q.ndim}, k {k.ndim} and v {v.ndim}")
    dtype = q.dtype
    if dtype != k.dtype or dtype != v.dtype:
        raise InvalidAttention("q, k and v must have the same dtype. Instead: xo.astype(..., q.dtype)")
    if _dtype_name(q) not in FLOATS:
        raise InvalidAttention(f"q, k and v must have a real floating-point dtype: {', '.join(FLOATS)}")
    if layout != "BHSD":
        q, k, v = (heads_first(x, layout) for x in (q, k, v))
    batch, heads, queries, size = q.shape
    keys, shared = k.shape[2], k.shape[1]
    if k.shape != (batch, shared, keys, size) or v.shape[:3] != (batch, shared, keys):
        raise InvalidAttention(f"{_SHAPES}; as BHSD they are q {_of(q)}, k {_of(k)}, v {_of(v)}")
    if heads != shared and (not shared or heads % shared):
        raise InvalidAttention(
            f"q has {heads} heads and k has {shared}: the first must be a multiple of the second. "
            f"If these are sequence lengths, the layout is not {layout}"
        )
    scores = (batch, heads, queries, keys)
    if mask is not None:
        mask = _broadcastable_to_scores("mask", mask, scores, layout, ("bool",))
    if bias is not None:
        bias = _broadcastable_to_scores("bias", bias, scores, layout, FLOATS)
    if q_lengths is not None:
        q_lengths = _lengths("q_lengths", q_lengths, batch, queries, q)
    if kv_lengths is not None:
        kv_lengths = _lengths("kv_lengths", kv_lengths, batch, keys, q)
    left = right = anchor = None
    if causal is not False or window is not None:
        left, right, anchor = _band(causal, window, queries, keys)
    offset = _offset(anchor, queries, keys, q_lengths, kv_lengths)
    scale = 1 / math.sqrt(size or 1) if scale is None else _real("scale", scale)
    softcap = None if softcap is None else _real("softcap", softcap)
    if softcap is not None and softcap <= 0:
        raise InvalidAttention(f"softcap= must be a number above 0, or None for no cap; it was {softcap!r}")
    ends = isinstance(anchor, str)
    return Attention(q, k, v, scale, mask, bias, left, right, offset, softcap, q_lengths, kv_lengths, return_lse, ends)


_SHAPES = (
    "q must have the shape (B, Hq, Lq, D), k (B, Hkv, Lk, D) and v (B, Hkv, Lk, Dv), with B, Hkv, Lk and D the same"
)


def heads_first(x: Array, layout: str) -> Array:
    """x as BHSD, a view."""
    if layout in ("BSHD", "SHD"):
        x = standard.permute_dims(x, (0, 2, 1, 3) if layout == "BSHD" else (1, 0, 2))
    return x if len(layout) == 4 else standard.expand_dims(x, 0)


def to_layout(out: Array, layout: str) -> Array:
    """A result in BHSD, converted to the requested layout; the inverse of `heads_first`."""
    if layout in ("BSHD", "SHD"):
        out = standard.permute_dims(out, (0, 2, 1, 3))
    return out if len(layout) == 4 else standard.squeeze(out, 0)


def _of(x: Array) -> tuple[int, ...]:
    return tuple(x.shape)


def _dtype_name(x: Array) -> str | None:
    return function_for("dtype_name", type(x))(x.dtype)


def _broadcastable_to_scores(
    name: str, x: Array, scores: tuple[int, ...], layout: str, dtypes: tuple[str, ...]
) -> Array:
    """A mask or a bias with four axes, each with the extent of the scores or with extent 1."""
    if not hasattr(x, "dtype"):
        raise InvalidAttention(f"{name}= must be an array; it was a {type(x).__name__}")
    if _dtype_name(x) not in dtypes:
        raise InvalidAttention(
            f"mask= must be bool, True where a query sees a key; it is {x.dtype}. Instead, for numbers to add: bias="
            if name == "mask"
            else f"bias= must have a real floating-point dtype; it is {x.dtype}. Instead, for booleans: mask="
        )
    axes = len(layout)
    shape = tuple(x.shape)
    full = (1,) * (4 - len(shape)) + shape
    if len(shape) > axes or any(n not in (1, extent) for n, extent in zip(full, scores, strict=True)):
        named = "(B, Hq, Lq, Lk)" if axes == 4 else "(Hq, Lq, Lk)"
        raise InvalidAttention(
            f"{name}= of shape {shape} does not broadcast to {named} = {scores[4 - axes :]}, which are its axes in "
            f"every layout. Instead: axes of extent 1 for the missing axes: {name}[:, None, None, :] for (B, Lk)"
        )
    return x if len(shape) == 4 else standard.reshape(x, full)


def _lengths(name: str, lengths: Array | Sequence[int], batch: int, extent: int, like: Array) -> Array:
    """The lengths of the sequences as an int32 array of q's library."""
    found: Array = lengths
    if isinstance(lengths, (list, tuple)):
        if not all(_is_integer(n) for n in lengths):
            raise InvalidAttention(f"{name}= must be an integer array, or a sequence of integers, of shape (B,)")
        if len(lengths) == batch and not all(0 <= n <= extent for n in lengths):
            raise InvalidAttention(
                f"{name}= must be from 0 to {extent}, the extent of the sequence axis; they were {lengths!r}"
            )
        found = asarray(lengths, dtype="int32", like=like)
    if not hasattr(found, "shape"):
        raise InvalidAttention(
            f"{name}= must be an integer array or a sequence of shape (B,); it was a {type(found).__name__}"
        )
    if tuple(found.shape) != (batch,):
        raise InvalidAttention(
            f"{name}= must have one length for each of the {batch} items of the batch; its shape is {_of(found)}"
        )
    dtype = _dtype_name(found) or ""
    if "int" not in dtype:
        raise InvalidAttention(f"{name}= must be integers; the dtype is {found.dtype}")
    # every library has int32, and differences of int32 lengths do not wrap
    return found if dtype == "int32" else standard.astype(found, "int32")


def _band(
    causal: Any, window: tuple[Any, ...] | None, queries: int, keys: int
) -> tuple[int | None, int | None, str | int]:
    """The number of keys that a query sees before and after its position, and the position of query 0."""
    left, right, anchor = (None, None, None) if window is None else _window(window)
    if causal is False:
        if anchor is None and queries != keys:
            raise InvalidAttention(
                f"window= needs an anchor (the position of query 0) if Lq = {queries} is not Lk = {keys}. "
                f'Instead: window=({left}, {right}, "bottom_right"), which aligns the ends, or "top_left"'
            )
        return left, right, 0 if anchor is None else anchor
    if causal is True and queries != keys:
        raise InvalidAttention(
            f"causal=True is ambiguous if Lq = {queries} is not Lk = {keys}. Instead: causal="
            '"bottom_right", where the last query sees every key (decoding with a cache), or "top_left", where the '
            "first query sees only the first key"
        )
    position = 0 if causal is True else _anchor("causal", causal)
    if anchor is not None and anchor != position:
        raise InvalidAttention(
            f"causal={causal} and the anchor of window={window} are different positions of query 0. "
            f"Instead: window= without an anchor"
        )
    return left, 0 if right is None else min(right, 0), position


def _window(window: tuple[Any, ...]) -> tuple[int | None, int | None, str | int | None]:
    ends = window[:2] if isinstance(window, (tuple, list)) and len(window) in (2, 3) else ()
    if not ends or not all(end is None or (_is_integer(end) and end >= 0) for end in ends):
        raise InvalidAttention(
            "window= must be (left, right) or (left, right, anchor): the numbers of keys that a query sees before "
            f"and after its position, integers from 0, or None for all; it was {window!r}"
        )
    return *ends, _anchor("the anchor of window", window[2]) if len(window) == 3 else None


def _anchor(name: str, anchor: Any) -> str | int:
    """A validated anchor: the position of query 0 among the keys, or "bottom_right", which aligns the ends."""
    if _is_integer(anchor):
        return anchor if isinstance(anchor, int) else int(anchor)
    if isinstance(anchor, str) and anchor in ANCHORS:
        return 0 if anchor == "top_left" else anchor
    shown = repr(anchor) if isinstance(anchor, (str, float, type(None))) else f"a {describe_class(type(anchor))}"
    raise InvalidAttention(
        f'{name} must be "top_left", "bottom_right" or an integer that is known without computation, or for '
        f'causal= True or False; it was {shown}. Instead of an array of offsets: "bottom_right" with kv_lengths='
    )


def _is_integer(x: Any) -> bool:
    """Whether x is an integer of Python, of NumPy, or symbolic in a compiler; bools and arrays are not."""
    return isinstance(x, (int, Integral)) and not isinstance(x, bool)


def _offset(
    anchor: str | int | None, queries: int, keys: int, q_lengths: Array | None, kv_lengths: Array | None
) -> int | Array:
    """The position of query 0 among the keys: a number, or one for each batch item if ends are aligned."""
    if not isinstance(anchor, str):
        return anchor or 0
    if q_lengths is None and kv_lengths is None:
        return keys - queries
    return standard.subtract(keys if kv_lengths is None else kv_lengths, queries if q_lengths is None else q_lengths)


def _real(name: str, value: Any) -> float:
    is_number = isinstance(value, Real)  # an array would lose its gradient, a tracer has no value
    if not is_number:
        raise InvalidAttention(f"{name}= must be a Python number; it was a {type(value).__name__}")
    if not -math.inf < value < math.inf:
        raise InvalidAttention(f"{name}= must be finite; it was {value!r}")
    return value if type(value) is float else float(value)
