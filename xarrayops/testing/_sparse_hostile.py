"""Hostile calls of the sparse verbs, each drawn from a seed: what is called, and what may come of it.

A drawn call knows whether it is right, so that an answer is due, or wrong, so that an error is; in between lies what a
library may take or refuse. Whether parts are sound is told here by lists in plain Python, not by the checks under test.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import xarrayops as xo
from xarrayops.errors import XArrayOpsError
from xarrayops.plugin.sparse import FORMATS, INDICES, Parts
from xarrayops.testing._heaps import Heaps
from xarrayops.testing._samples import ALL
from xarrayops.testing._sparse_cases import ROWS, WHERES, SparseRow, scattered
from xarrayops.testing._sparse_check import as_stored, check_container, check_result, container
from xarrayops.testing._sparse_oracle import Entries, Host, entries_of, parts_of
from xarrayops.testing._variant import Variant

RIGHT, WRONG, EITHER, NATIVE = "right", "wrong", "either", "native"
"""What is due: an answer, an error, one of both, or whatever the library's own constructor says."""
NUMBERS = (-1, 0, 1, 2, 3, 7, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, -(2**63))
EXTENTS = (0, 1, 2, 3, 4, 6)
JUNK: tuple[Any, ...] = (None, 0, -1, 2.5, True, "csr", "", (), [1.0], {}, object(), float("nan"), 2**70, b"x", 1j)
FAR = (2**40, 1)
MADE = Heaps()
"""Every array of a drawn container is made in another heap than the one before."""
DENSE_LIMIT = 1 << 20
"""The most places of a matrix that an oracle writes down."""


class Drawn(NamedTuple):
    """A call that was drawn, in words and as a function; whether an answer or an error is due; how to check answers."""

    words: str
    call: Callable[[], Any]
    due: str
    check: Callable[[Any], None] | None = None


def draw(variant: Variant, seed: int) -> Drawn:
    """The call of a seed."""
    chance = random.Random(seed)
    return chance.choice((from_dense, from_parts, from_parts, operation, operation, operation, nonsense))(
        variant, chance
    )


def entries(variant: Variant, chance: random.Random) -> Entries:
    """Small and legal ones, in any order."""
    shape = chance.choice(EXTENTS), chance.choice(EXTENTS)
    held = [dtype for dtype in ALL if dtype in variant.dtypes and variant.backend.sparse.dtype_refusal(dtype) is None]
    dtype = chance.choice(sorted(held))
    return scattered(dtype, shape, chance.randrange(9) if all(shape) else 0, seed=chance.randrange(1 << 30))


def from_dense(variant: Variant, chance: random.Random) -> Drawn:
    """Options that fit, mostly, and what does not."""
    e = entries(variant, chance)
    host = e.dense()
    if chance.random() < 0.2:
        host = chance.choice((host[None], host[0] if len(host) else host, host.reshape(-1), np.zeros((), host.dtype)))
    format = chance.choice(("dia", None, *FORMATS, *variant.backend.sparse.formats * 3))
    block = chance.choice((None, (1, 1), (2, 3), (0, 1), (-1, 2), (2,), 3, ("a", 1), FAR))
    block = block if format == "bsr" or chance.random() < 0.1 else None
    where: Any
    known = chance.random() < 0.8
    where, keep = chance.choice(list(WHERES.values())) if known else (chance.choice(JUNK), np.asarray)
    if not known and type(where) in (int, float):
        keep = lambda x: np.abs(x) > float(where)
    room = chance.choice((None, None, None, 0, 3, 100, 2**62, -1, 1.5, True))
    width = chance.choice((None, None, "int32", "int64", "int16", "float32", "intp", 5))
    options = {"where": where, "block": block, "nnz_max": room, "index_dtype": width}
    x = variant.array(host)
    plain = format in variant.backend.sparse.formats and host.ndim == 2 and room is None and width is None
    plain = plain and known and (host.dtype.kind != "c" or where != "relu")
    due = RIGHT if plain and (_fill(block, host.shape) if format == "bsr" else block is None) else EITHER

    def check(got: Any) -> None:
        if block == FAR:
            return  # the oracle would write down every place of a block
        assert known or where is None or type(where) in (int, float), f"where={where!r} was taken"
        mask = host != 0 if where is None else keep(host)
        want = {tuple(p): host[tuple(p)].item() for p in np.argwhere(mask).tolist()}
        check_container(variant, got, want, shape=host.shape, format=format or "csr", dtype=host.dtype.name, exact=True)

    words = f"from_dense({_shown(host)}, {format!r}, {options})"
    return Drawn(words, lambda: xo.sparse.from_dense(x, format, **options), due, check)  # type: ignore[arg-type]


def _fill(block: Any, shape: tuple[int, ...]) -> bool:
    whole = isinstance(block, tuple) and len(block) == 2 and all(isinstance(b, int) and b > 0 for b in block)
    return whole and all(extent % b == 0 for extent, b in zip(shape, block, strict=True))


def from_parts(variant: Variant, chance: random.Random) -> Drawn:
    """Parts that something was done to."""
    p = _hostile_parts(variant, chance)
    arrays = [MADE.run(variant.make, x) for x in p.arrays.values()]
    tidy = chance.random() < 0.5
    known = p.format in variant.backend.sparse.formats
    held = _unpadded(variant, p) if known else None
    due = EITHER if not known else RIGHT if held is not None and _is_sound(held, canonical=not tidy) else WRONG
    fits = _widths(p) <= {*variant.backend.sparse.index_dtypes(p.format)} and math.prod(p.shape) < 2**63
    if due == RIGHT and not (fits and _is_sound(p, canonical=not tidy)):
        due = EITHER

    def check(got: Any) -> None:
        assert held is not None, "a container of a format that there is not"
        e = entries_of(held._replace(block=held.data.shape[1:] if p.format == "bsr" else None))
        check_container(variant, got, e.places, shape=p.shape, format=p.format, dtype=p.data.dtype.name)

    words = f"from_parts({_shown(p)}, canonicalize={tidy})"
    use = partial(xo.sparse.from_parts, p.format, *arrays, shape=p.shape, canonicalize=tidy)
    return Drawn(words, use, due, check)


def operation(variant: Variant, chance: random.Random) -> Drawn:
    """A verb with a container that was tampered with, or with a legal one of odd order, beside legal operands."""
    p = _hostile_parts(variant, chance)
    use = _consumer(variant, chance)
    words = f"{use.words} of {_shown(p)}"
    arrays = [MADE.run(variant.make, x) for x in p.arrays.values()]
    make = partial(xo.sparse.from_parts, p.format, *arrays, shape=p.shape, check=False)
    try:
        s = make()
    except Exception:
        return Drawn(f"unchecked {words}", make, NATIVE)
    if isinstance(getattr(s, "coords", None), tuple) and chance.random() < 0.5:  # SciPy's, an array for each axis
        s.coords = tuple(map(MADE.copied, s.coords))
        words += ", each axis in another heap"
    host = None
    with suppress(XArrayOpsError):  # parts of another rank may be what the library takes for a batch
        if chance.random() < 0.5:
            words += f", then {_tampered(chance, s)}"
        host = _native_parts(variant, s)
    sound = host is not None and _is_sound(host, canonical=False)
    if sound and host is not None:
        return use.build(words, s, host.format, entries_of(host), True)
    shape = tuple(s.shape) if len(s.shape) == 2 and min(s.shape) >= 0 else (1, 1)  # for operands that would fit
    return use.build(words, s, p.format, Entries(shape, np.zeros((2, 0), int), np.zeros(0, p.data.dtype)), False)


class _Use(NamedTuple):
    words: str
    build: Callable[[str, Any, str, Entries, bool], Drawn]


def _consumer(variant: Variant, chance: random.Random) -> _Use:
    """A conversion, or one of the rows of the contract suite, with other operands in some format."""
    format = chance.choice(variant.backend.sparse.formats)
    if chance.random() < 0.1:
        return _Use(f"convert to {format}", partial(_conversion, variant, format))
    row = chance.choice(ROWS)
    return _Use(str(row), partial(_call, variant, row, format))


def _conversion(variant: Variant, target: str, words: str, s: Any, format: str, e: Entries, sound: bool) -> Drawn:
    def check(got: Any) -> None:
        options: dict[str, Any] = {"shape": e.shape, "format": target, "dtype": e.data.dtype.name}
        check_container(variant, got, e.places, canonical=target != format, **options)

    use = partial(xo.sparse.convert, s, target, block=(1, 1) if target == "bsr" else None)
    is_open = target == format or math.prod(e.shape) >= 2**63 or len(e.shape) != 2
    due = EITHER if is_open else RIGHT if sound else WRONG
    return Drawn(words, use, due, check if sound else None)


def _call(
    variant: Variant, row: SparseRow, partner: str, words: str, s: Any, format: str, e: Entries, sound: bool
) -> Drawn:
    if max(e.shape, default=0) > DENSE_LIMIT or len(e.shape) != 2:
        return Drawn(words, lambda: row.function(*_small(variant, row.verb, s)), EITHER)
    operands = row.operands(e)
    if operands is None:
        return Drawn(words, lambda: xo.sparse.validate(s), RIGHT if sound else WRONG, lambda got: None)
    formats = [format if x is e else partner for x in operands]
    given = [s if x is e else _operand(variant, x, partner) for x in operands]
    stored = [x if x is e else as_stored(x, partner) for x in operands]

    def check(got: Any) -> None:
        check_result(variant, row, got, stored, formats)

    return Drawn(words, lambda: row.function(*given), RIGHT if sound else WRONG, check if sound else None)


def _small(variant: Variant, verb: str, s: Any) -> tuple[Any, ...]:
    """Operands for a matrix of any extent."""
    if verb == "sparse.sddmm":
        return variant.make(np.ones((1, 1))), variant.make(np.ones((1, 1))), s
    return (s, s) if verb in ("sparse.add", "sparse.multiply", "matmul") else (s,)


def _operand(variant: Variant, x: Any, format: str) -> Any:
    if isinstance(x, Entries):
        return container(variant, x, format)
    return variant.array(x) if isinstance(x, np.ndarray) else x


def nonsense(variant: Variant, chance: random.Random) -> Drawn:
    """Any verb with anything."""
    verb = chance.choice([name for name in xo.sparse.__all__ if name != "Parts"])
    e = entries(variant, chance)
    things: list[Any] = [*JUNK, variant.make(e.dense()), container(variant, e, variant.backend.sparse.formats[0])] * 2
    args = [chance.choice(things) for _ in range(chance.randrange(1, 4))]
    extra: dict[str, Any] = {"shape": chance.choice([*JUNK, e.shape])} if verb == "from_parts" else {}
    if verb == "from_parts":
        args = [chance.choice(FORMATS), *args, *args][: 3 + chance.randrange(2)]
    words = f"{verb}({', '.join(type(x).__name__ if hasattr(x, 'shape') else repr(x)[:30] for x in args)}, {extra})"
    return Drawn(words, lambda: getattr(xo.sparse, verb)(*args, **extra), EITHER)


def _hostile_parts(variant: Variant, chance: random.Random) -> Parts:
    """Legal ones, then none, one or two things done to them."""
    e, format = entries(variant, chance), chance.choice((*FORMATS, *variant.backend.sparse.formats * 3))
    widths = variant.backend.sparse.index_dtypes(format)
    fitting = [(b, c) for b in (1, 2) for c in (1, 3) if e.shape[0] % b == 0 and e.shape[1] % c == 0]
    p = parts_of(e, format, chance.choice(widths), chance.choice(fitting) if format == "bsr" else None)
    for _ in range(chance.choice((0, 1, 1, 1, 2))):
        p = chance.choice((_other_number, _other_number, _other_length, _other_dtype, _other_rank, _other_shape))(
            p, chance
        )
    return p


def _one_of_indices(p: Parts, chance: random.Random) -> str:
    return chance.choice([name for name in p.arrays if name != "data"])


def _with(p: Parts, name: str, x: Any) -> Parts:
    arrays: dict[str, Any] = {name: x}
    return p._replace(**arrays)


def _other_number(p: Parts, chance: random.Random) -> Parts:
    name = _one_of_indices(p, chance)
    x = np.array(p.arrays[name])
    if x.size and x.dtype.kind in "iu":
        low, high = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
        x.flat[chance.randrange(x.size)] = min(max(chance.choice(NUMBERS), low), high)
    return _with(p, name, x)


def _other_length(p: Parts, chance: random.Random) -> Parts:
    name = chance.choice(list(p.arrays))
    x = p.arrays[name]
    if not x.ndim:
        return p
    return _with(p, name, chance.choice((x[:-1], x[1:], np.concatenate((x, x[-1:])), x[:0], x[::-1])))


def _other_dtype(p: Parts, chance: random.Random) -> Parts:
    name = _one_of_indices(p, chance)
    dtype = chance.choice(("int8", "int16", "int32", "int64", "uint8", "float32", "bool"))
    return _with(p, name, p.arrays[name].astype(dtype))


def _other_rank(p: Parts, chance: random.Random) -> Parts:
    name = chance.choice(list(p.arrays))
    x = p.arrays[name]
    return _with(p, name, chance.choice((x[None], x[..., None], x.reshape(-1), x[0] if len(x.shape) and len(x) else x)))


def _other_shape(p: Parts, chance: random.Random) -> Parts:
    rows, columns = (*p.shape, 1, 1)[:2]
    choices = [
        (columns, rows),
        (rows, columns + 1),
        (rows + 1, columns),
        (rows, columns, 1),
        (rows,),
        (),
        (-1, columns),
    ]
    choices += [(2**40, columns), (rows, 2**40), (2**31, 2**31), (2**62, 2**62), (0, 0), (2**70, 1)]
    return p._replace(shape=chance.choice(choices))


def _tampered(chance: random.Random, s: Any) -> str:
    """Write through the parts into a container that is made, or give it another array; some libraries let nobody."""
    arrays = xo.sparse.parts(s).arrays
    name = chance.choice(list(arrays))
    number = 1 if name == "data" else chance.choice(NUMBERS)
    try:
        if chance.random() < 0.7:
            arrays[name][-1] = number
            return f"{name}[-1] = {number}"
        setattr(s, name, arrays[name][:-1])
        return f"{name} = {name}[:-1]"
    except Exception as error:
        return f"nothing ({type(error).__name__})"


def _native_parts(variant: Variant, s: Any) -> Parts | None:
    """What a container holds by now, in NumPy arrays without padding; None if that cannot be told."""
    p = xo.sparse.parts(s)
    for name, x in p.arrays.items():
        p = _with(p, name, variant.values(x))
    return _unpadded(variant, p)


def _unpadded(variant: Variant, p: Parts) -> Parts | None:
    """Without what only fills a container up, in the one library's eyes; None if that cannot be told."""
    if not variant.backend.sparse.pads:
        return p
    try:
        return variant.backend.sparse.module.unpadded(p)
    except Exception:
        return None


def _widths(p: Parts) -> set[str]:
    return {x.dtype.name for name, x in p.arrays.items() if name != "data"}


def _is_sound(p: Parts, *, canonical: bool) -> bool:
    """Whether parts are legal, by the definition of their format; ``canonical`` asks for order, too."""
    widths, shape = _widths(p), p.shape
    if len(widths) != 1 or not widths <= {*INDICES}:
        return False
    if any(extent < 0 or extent > np.iinfo(min(widths)).max for extent in shape):
        return False
    if p.format == "coo":
        coords = p.coords
        if (
            p.data.ndim != 1
            or coords is None
            or coords.ndim != 2
            or coords.shape != (len(shape), len(p.data))
            or not shape
        ):
            return False
        places = list(zip(*coords.tolist(), strict=True))
        inside = all(0 <= i < extent for place in places for i, extent in zip(place, shape, strict=True))
        return inside and (not canonical or all(a < b for a, b in pairwise(places)))
    return len(shape) == 2 and _is_compressed(p, canonical)


def _is_compressed(p: Parts, canonical: bool) -> bool:
    indptr, indices, shape = p.indptr, p.indices, p.shape
    if indptr is None or indices is None or indptr.ndim != 1 or indices.ndim != 1:
        return False
    if p.data.ndim != (3 if p.format == "bsr" else 1) or len(p.data) != len(indices):
        return False
    if p.format == "bsr":
        block = p.data.shape[1:]
        if not all(block) or any(extent % b for extent, b in zip(shape, block, strict=True)):
            return False
        shape = tuple(extent // b for extent, b in zip(shape, block, strict=True))
    along, across = shape[::-1] if p.format == "csc" else shape
    bounds, places = indptr.tolist(), indices.tolist()
    if len(bounds) != along + 1 or bounds[0] != 0 or bounds[-1] != len(places):
        return False
    if any(a > b for a, b in pairwise(bounds)) or any(not 0 <= i < across for i in places):
        return False
    lines = [places[a:b] for a, b in pairwise(bounds)]
    return not canonical or all(a < b for line in lines for a, b in pairwise(line))


def _shown(x: Host | Parts) -> str:
    if isinstance(x, Parts):
        return f"{x.format} {x.shape} " + ", ".join(f"{n}={_shown(a)}" for n, a in x.arrays.items())
    return f"{x.dtype} {x.tolist()}" if x.size < 12 else f"{x.dtype} of shape {x.shape}"
