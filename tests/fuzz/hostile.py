"""Hostile calls of the sparse verbs: calls with random, often invalid operands, each determined by a seed.

Each call has an expected outcome: a result, an error, or either if libraries may accept or refuse the operands. Whether
parts are valid is decided with lists in plain Python, independent of the checks under test.
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
from benchmarks.exchange_matrix.heaps import Heaps
from xarrayops.errors import XArrayOpsError
from xarrayops.plugin.sparse import FORMATS, INDICES, Parts
from xarrayops.testing._suite.samples import ALL
from xarrayops.testing._suite.sparse.cases import ROWS, WHERES, SparseRow, scattered
from xarrayops.testing._suite.sparse.check import as_stored, check_container, check_result, container
from xarrayops.testing._suite.sparse.oracle import Entries, Host, entries_of, parts_of
from xarrayops.testing._suite.variant import Variant

RESULT, ERROR, EITHER, NATIVE = "result", "error", "either", "native"
"""The expected outcome: a result, an error, either, or any error of the library's own constructor."""
NUMBERS = (-1, 0, 1, 2, 3, 7, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, -(2**63))
EXTENTS = (0, 1, 2, 3, 4, 6)
JUNK: tuple[Any, ...] = (None, 0, -1, 2.5, True, "csr", "", (), [1.0], {}, object(), float("nan"), 2**70, b"x", 1j)
HUGE_BLOCK = (2**40, 1)
HEAPS = Heaps()
"""Consecutive arrays of a container are allocated in different heaps."""
PARTLY_READ = {("sparse.take", "csr", "axis 0"), ("sparse.take", "csc", "axis 1")}
"""The calls that read a part of a container: verb, format, and the end of the label."""
DENSE_LIMIT = 1 << 20
"""The largest extent of a matrix that is compared with the oracle."""


class HostileCall(NamedTuple):
    """A call with its description, its expected outcome, and a function that checks its result."""

    description: str
    call: Callable[[], Any]
    expected: str
    check: Callable[[Any], None] | None = None


def draw(variant: Variant, seed: int) -> HostileCall:
    """The call of a seed."""
    chance = random.Random(seed)
    return chance.choice((from_dense, from_parts, from_parts, operation, operation, operation, random_arguments))(
        variant, chance
    )


def entries(variant: Variant, chance: random.Random) -> Entries:
    """The entries of a small valid array, in any order."""
    shape = chance.choice(EXTENTS), chance.choice(EXTENTS)
    supported = [
        dtype for dtype in ALL if dtype in variant.dtypes and variant.backend.sparse.dtype_refusal(dtype) is None
    ]
    dtype = chance.choice(sorted(supported))
    return scattered(dtype, shape, chance.randrange(9) if all(shape) else 0, seed=chance.randrange(1 << 30))


def from_dense(variant: Variant, chance: random.Random) -> HostileCall:
    """A call of ``from_dense`` with mostly valid options."""
    e = entries(variant, chance)
    host = e.dense()
    if chance.random() < 0.2:
        host = chance.choice((host[None], host[0] if len(host) else host, host.reshape(-1), np.zeros((), host.dtype)))
    format = chance.choice(("dia", None, *FORMATS, *variant.backend.sparse.formats * 3))
    block = chance.choice((None, (1, 1), (2, 3), (0, 1), (-1, 2), (2,), 3, ("a", 1), HUGE_BLOCK))
    block = block if format == "bsr" or chance.random() < 0.1 else None
    where: Any
    known = chance.random() < 0.8
    where, keep = chance.choice(list(WHERES.values())) if known else (chance.choice(JUNK), np.asarray)
    if not known and type(where) in (int, float):
        keep = lambda x: np.abs(x) > float(where)
    nnz_max = chance.choice((None, None, None, 0, 3, 100, 2**62, -1, 1.5, True))
    index_dtype = chance.choice((None, None, "int32", "int64", "int16", "float32", "intp", 5))
    options = {"where": where, "block": block, "nnz_max": nnz_max, "index_dtype": index_dtype}
    x = variant.array(host)
    valid = format in variant.backend.sparse.formats and host.ndim == 2 and nnz_max is None and index_dtype is None
    valid = valid and known and (host.dtype.kind != "c" or where != "relu")
    expected = RESULT if valid and (_divides(block, host.shape) if format == "bsr" else block is None) else EITHER

    def check(got: Any) -> None:
        if block == HUGE_BLOCK:
            return  # too many elements for the oracle
        assert known or where is None or type(where) in (int, float), f"where={where!r} was accepted"
        mask = host != 0 if where is None else keep(host)
        want = {tuple(p): host[tuple(p)].item() for p in np.argwhere(mask).tolist()}
        check_container(variant, got, want, shape=host.shape, format=format or "csr", dtype=host.dtype.name, exact=True)

    description = f"from_dense({_shown(host)}, {format!r}, {options})"
    return HostileCall(description, lambda: xo.sparse.from_dense(x, format, **options), expected, check)  # type: ignore[arg-type]


def _divides(block: Any, shape: tuple[int, ...]) -> bool:
    valid = isinstance(block, tuple) and len(block) == 2 and all(isinstance(b, int) and b > 0 for b in block)
    return valid and all(extent % b == 0 for extent, b in zip(shape, block, strict=True))


def from_parts(variant: Variant, chance: random.Random) -> HostileCall:
    """A call of ``from_parts`` with modified parts."""
    p = _hostile_parts(variant, chance)
    arrays = [HEAPS.run(variant.make, x) for x in p.arrays.values()]
    canonicalize = chance.random() < 0.5
    known = p.format in variant.backend.sparse.formats
    stored = _unpadded(variant, p) if known else None
    valid = stored is not None and _is_valid(stored, canonical=not canonicalize)
    expected = EITHER if not known else RESULT if valid else ERROR
    supported = _index_dtypes(p) <= {*variant.backend.sparse.index_dtypes(p.format)} and math.prod(p.shape) < 2**63
    if expected == RESULT and not (supported and _is_valid(p, canonical=not canonicalize)):
        expected = EITHER

    def check(got: Any) -> None:
        assert stored is not None, "a container of an unsupported format"
        e = entries_of(stored._replace(block=stored.data.shape[1:] if p.format == "bsr" else None))
        check_container(variant, got, e.value_at, shape=p.shape, format=p.format, dtype=p.data.dtype.name)

    description = f"from_parts({_shown(p)}, canonicalize={canonicalize})"
    use = partial(xo.sparse.from_parts, p.format, *arrays, shape=p.shape, canonicalize=canonicalize)
    return HostileCall(description, use, expected, check)


def operation(variant: Variant, chance: random.Random) -> HostileCall:
    """A call of a verb with a modified container and valid other operands."""
    p = _hostile_parts(variant, chance)
    use = _consumer(variant, chance)
    description = f"{use.description} of {_shown(p)}"
    arrays = [HEAPS.run(variant.make, x) for x in p.arrays.values()]
    make = partial(xo.sparse.from_parts, p.format, *arrays, shape=p.shape, check=False)
    try:
        s = make()
    except Exception:
        return HostileCall(f"unchecked {description}", make, NATIVE)
    if isinstance(getattr(s, "coords", None), tuple) and chance.random() < 0.5:  # SciPy has an array for each axis
        s.coords = tuple(map(HEAPS.copied, s.coords))
        description += ", each axis in a different heap"
    host = None
    with suppress(XArrayOpsError):  # some libraries read additional axes as batches
        if chance.random() < 0.5:
            description += f", then {_modify(chance, s)}"
        host = _native_parts(variant, s)
    if host is not None and _is_valid(host, canonical=False):
        return use.build(description, s, host.format, entries_of(host), True)
    shape = (
        tuple(s.shape) if len(s.shape) == 2 and min(s.shape) >= 0 else (1, 1)
    )  # for the shapes of the other operands
    return use.build(description, s, p.format, Entries(shape, np.zeros((2, 0), int), np.zeros(0, p.data.dtype)), False)


class _Consumer(NamedTuple):
    description: str
    build: Callable[[str, Any, str, Entries, bool], HostileCall]


def _consumer(variant: Variant, chance: random.Random) -> _Consumer:
    """A conversion, or a row of the contract suite, with the other operands in a random format."""
    format = chance.choice(variant.backend.sparse.formats)
    if chance.random() < 0.1:
        return _Consumer(f"convert to {format}", partial(_conversion, variant, format))
    row = chance.choice(ROWS)
    return _Consumer(str(row), partial(_call, variant, row, format))


def _conversion(
    variant: Variant, target: str, description: str, s: Any, format: str, e: Entries, valid: bool
) -> HostileCall:
    def check(got: Any) -> None:
        options: dict[str, Any] = {"shape": e.shape, "format": target, "dtype": e.data.dtype.name}
        check_container(variant, got, e.value_at, canonical=target != format, **options)

    use = partial(xo.sparse.convert, s, target, block=(1, 1) if target == "bsr" else None)
    may_differ = target == format or math.prod(e.shape) >= 2**63 or len(e.shape) != 2
    expected = EITHER if may_differ else RESULT if valid else ERROR
    return HostileCall(description, use, expected, check if valid else None)


def _call(
    variant: Variant, row: SparseRow, other_format: str, description: str, s: Any, format: str, e: Entries, valid: bool
) -> HostileCall:
    if max(e.shape, default=0) > DENSE_LIMIT or len(e.shape) != 2:
        return HostileCall(description, lambda: row.function(*_small_operands(variant, row.verb, s)), EITHER)
    operands = row.operands(e)
    if operands is None:
        return HostileCall(description, lambda: xo.sparse.validate(s), RESULT if valid else ERROR, lambda got: None)
    formats = [format if x is e else other_format for x in operands]
    given = [s if x is e else _operand(variant, x, other_format) for x in operands]
    stored = [x if x is e else as_stored(x, other_format) for x in operands]

    def check(got: Any) -> None:
        check_result(variant, row, got, stored, formats)

    if valid:
        return HostileCall(description, lambda: row.function(*given), RESULT, check)
    # Of an invalid container, `take` checks only the rows of csr and the columns of csc that it selects.
    is_partly_read = (row.verb, format, row.label[-6:]) in PARTLY_READ
    return HostileCall(description, lambda: row.function(*given), EITHER if is_partly_read else ERROR)


def _small_operands(variant: Variant, verb: str, s: Any) -> tuple[Any, ...]:
    """Operands whose size does not depend on the shape of the matrix."""
    if verb == "sparse.sddmm":
        return variant.make(np.ones((1, 1))), variant.make(np.ones((1, 1))), s
    if verb in ("sparse.scale", "sparse.take"):
        return (s, *(variant.make(np.zeros(1, "int32")) for _ in range(2 if verb == "sparse.scale" else 1)))
    pairs = ("sparse.add", "sparse.multiply", "matmul", "sparse.maximum", "sparse.concat")
    return (s, s) if verb in pairs else (s,)


def _operand(variant: Variant, x: Any, format: str) -> Any:
    if isinstance(x, Entries):
        return container(variant, x, format)
    return variant.array(x) if isinstance(x, np.ndarray) else x


def random_arguments(variant: Variant, chance: random.Random) -> HostileCall:
    """A call of any verb with random arguments."""
    verb = chance.choice([name for name in xo.sparse.__all__ if name != "Parts"])
    e = entries(variant, chance)
    things: list[Any] = [*JUNK, variant.make(e.dense()), container(variant, e, variant.backend.sparse.formats[0])] * 2
    args = [chance.choice(things) for _ in range(chance.randrange(1, 4))]
    extra: dict[str, Any] = {"shape": chance.choice([*JUNK, e.shape])} if verb == "from_parts" else {}
    if verb == "from_parts":
        args = [chance.choice(FORMATS), *args, *args][: 3 + chance.randrange(2)]
    description = (
        f"{verb}({', '.join(type(x).__name__ if hasattr(x, 'shape') else repr(x)[:30] for x in args)}, {extra})"
    )
    if verb == "concat" and chance.random() < 0.7:
        args, extra = [args], {"axis": chance.choice((0, 1, *JUNK))}
    return HostileCall(description, lambda: getattr(xo.sparse, verb)(*args, **extra), EITHER)


def _hostile_parts(variant: Variant, chance: random.Random) -> Parts:
    """Valid parts with up to two modifications."""
    e, format = entries(variant, chance), chance.choice((*FORMATS, *variant.backend.sparse.formats * 3))
    index_dtypes = variant.backend.sparse.index_dtypes(format)
    blocks = [(b, c) for b in (1, 2) for c in (1, 3) if e.shape[0] % b == 0 and e.shape[1] % c == 0]
    p = parts_of(e, format, chance.choice(index_dtypes), chance.choice(blocks) if format == "bsr" else None)
    for _ in range(chance.choice((0, 1, 1, 1, 2))):
        p = chance.choice((_other_number, _other_number, _other_length, _other_dtype, _other_rank, _other_shape))(
            p, chance
        )
    return p


def _index_array_name(p: Parts, chance: random.Random) -> str:
    return chance.choice([name for name in p.arrays if name != "data"])


def _with(p: Parts, name: str, x: Any) -> Parts:
    arrays: dict[str, Any] = {name: x}
    return p._replace(**arrays)


def _other_number(p: Parts, chance: random.Random) -> Parts:
    name = _index_array_name(p, chance)
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
    name = _index_array_name(p, chance)
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


def _modify(chance: random.Random, s: Any) -> str:
    """Write to an array of an existing container or replace one, if the library allows it; return a description."""
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
    """The current parts of a container in NumPy arrays, without padding; None if the parts are too malformed."""
    p = xo.sparse.parts(s)
    for name, x in p.arrays.items():
        p = _with(p, name, variant.values(x))
    return _unpadded(variant, p)


def _unpadded(variant: Variant, p: Parts) -> Parts | None:
    """Parts without padding, for libraries that pad; None if the parts are too malformed."""
    if not variant.backend.sparse.pads:
        return p
    try:
        return variant.backend.sparse.module.unpadded(p)
    except Exception:
        return None


def _index_dtypes(p: Parts) -> set[str]:
    return {x.dtype.name for name, x in p.arrays.items() if name != "data"}


def _is_valid(p: Parts, *, canonical: bool) -> bool:
    """Whether parts are valid by the definition of their format and, if ``canonical``, in canonical format."""
    dtypes, shape = _index_dtypes(p), p.shape
    if len(dtypes) != 1 or not dtypes <= {*INDICES}:
        return False
    if any(extent < 0 or extent > np.iinfo(min(dtypes)).max for extent in shape):
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
        positions = list(zip(*coords.tolist(), strict=True))
        inside = all(0 <= i < extent for position in positions for i, extent in zip(position, shape, strict=True))
        return inside and (not canonical or all(a < b for a, b in pairwise(positions)))
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
    bounds, listed = indptr.tolist(), indices.tolist()
    if len(bounds) != along + 1 or bounds[0] != 0 or bounds[-1] != len(listed):
        return False
    if any(a > b for a, b in pairwise(bounds)) or any(not 0 <= i < across for i in listed):
        return False
    lines = [listed[a:b] for a, b in pairwise(bounds)]
    return not canonical or all(a < b for line in lines for a, b in pairwise(line))


def _shown(x: Host | Parts) -> str:
    if isinstance(x, Parts):
        return f"{x.format} {x.shape} " + ", ".join(f"{n}={_shown(a)}" for n, a in x.arrays.items())
    return f"{x.dtype} {x.tolist()}" if x.size < 12 else f"{x.dtype} of shape {x.shape}"
