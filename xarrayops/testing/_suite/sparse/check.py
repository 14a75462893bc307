"""Sparse containers made from the oracle's entries, and comparison of containers with the oracle."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends.registry import describe_class
from xarrayops._core.backends.sparse_backend import SparseBackend as SparseBackend
from xarrayops.plugin.sparse import Parts
from xarrayops.testing._suite.compare import check_array, check_values
from xarrayops.testing._suite.sparse.cases import OPERANDS, ROWS, SparseRow
from xarrayops.testing._suite.sparse.oracle import Entries, Host, ValueAt, entries_of, is_canonical, parts_of
from xarrayops.testing._suite.table import without_warnings
from xarrayops.testing._suite.variant import Variant

ULPS = 64
"""The allowed error in epsilons of the largest value; results are sums of products."""


def block_of(format: str, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """A block size that divides the shape, for bsr; else None."""
    if format != "bsr":
        return None
    return (1 if shape[0] % 2 else 2), (1 if shape[1] % 3 else 3)


def container(
    variant: Variant,
    e: Entries,
    format: str,
    width: int = 0,
    *,
    block: tuple[int, int] | None = None,
    array: Callable[[Host], Any] | None = None,
) -> Any:
    """The native container of entries, in their order and with duplicates; ``width`` selects the index dtype.

    ``array`` makes the arrays of its parts; default: `Variant.array`.
    """
    widths = variant.backend.sparse.index_dtypes(format)
    block = block if block and format == "bsr" else block_of(format, e.shape)
    p = parts_of(e, format, widths[width % len(widths)], block)
    return xo.sparse.from_parts(format, *map(array or variant.array, p.arrays.values()), shape=e.shape, check=False)


def host_parts(variant: Variant, s: Any) -> Parts:
    """The parts of a container in NumPy arrays, without padding."""
    return variant.backend.sparse.on_host(xo.sparse.parts(s))


def names(variant: Variant, p: Parts) -> dict[str, str]:
    """The dtype names of all arrays."""
    return {name: variant.backend.functions["dtype_name"](x.dtype) for name, x in p.arrays.items()}


def check_container(
    variant: Variant,
    got: Any,
    want: ValueAt,
    *,
    shape: tuple[int, ...],
    format: str,
    dtype: str,
    exact: bool = False,
    canonical: bool = True,
    index: str | None = None,
) -> None:
    """Compare a container with the oracle; the error message begins with the property that differs.

    The properties are class, format, shape, dtypes, device, laziness, canonical format (if ``canonical``), positions
    and values.
    If ``exact``, the stored positions must equal the expected ones; else zeros need not be stored. ``index`` is the
    required dtype of the indices; default: any that the library supports.
    """
    sparse = variant.backend.sparse
    assert sparse.holds(got), f"class: {describe_class(type(got))} is not a sparse container of {variant.backend.name}"
    p = xo.sparse.parts(got)
    assert p.format == format, f"format: {p.format}, expected {format}"
    assert tuple(got.shape) == tuple(p.shape) == shape, f"shape: {tuple(got.shape)}, expected {shape}"
    _check_dtypes(variant, got, p, dtype, index)
    device = xo.device(got)
    assert device == variant.device, f"device: {device}, expected {variant.device}"
    assert not xo.is_lazy(got), "lazy: the entries are not computed"
    xo.sparse.validate(got, canonical=canonical)
    host = host_parts(variant, got)
    if canonical:
        assert is_canonical(host), f"order: the entries are not sorted or not unique: {entries_of(host).positions}"
    _check_values(entries_of(host), want, exact=exact and format != "bsr")


def _check_dtypes(variant: Variant, got: Any, p: Parts, dtype: str, index: str | None) -> None:
    for name, x in p.arrays.items():
        assert isinstance(x, variant.backend.module.ARRAY_TYPES), f"class: {name} is a {describe_class(type(x))}"
    found = names(variant, p)
    own = variant.backend.functions["dtype_name"](got.dtype)
    data = found.pop("data")
    assert own == data == dtype, f"dtype: {own}, data of dtype {data}, expected {dtype}"
    wanted = variant.backend.sparse.index_dtypes(p.format) if index is None else (index,)
    assert len({*found.values()}) == 1, f"indices: of several dtypes, {found}"
    assert {*found.values()} <= {*wanted}, f"indices: {found}, expected {wanted}"


def _check_values(found: Entries, want: ValueAt, *, exact: bool) -> None:
    got = found.value_at
    extra = sorted(position for position in got.keys() - want.keys() if exact or got[position] != 0)
    assert not extra, f"positions: unexpected entries at {extra[:5]}"
    missing = sorted(want.keys() - got.keys()) if exact else []
    assert not missing, f"positions: no entries at {missing[:5]}"
    values = np.asarray([got.get(position, 0) for position in sorted(want)]).astype(found.data.dtype)
    check_values(values, np.asarray([want[position] for position in sorted(want)]), ulps=ULPS, normwise=True)


def check_entries(variant: Variant, got: Any, want: Entries, format: str, **options: Any) -> None:
    """Compare a container with entries of its shape and dtype, as `check_container` does."""
    name = want.data.dtype.name
    check_container(variant, got, want.value_at, shape=want.shape, format=format, dtype=name, **options)


def require(variant: Variant, dtype: str) -> None:
    """Skip the test if the library does not support containers of a dtype."""
    if dtype not in variant.dtypes or variant.backend.sparse.dtype_refusal(dtype) is not None:
        pytest.skip(f"{variant} does not support containers of {dtype}")


class Containers:
    """The fixture of tests that need a library with sparse containers."""

    @pytest.fixture
    def containers(self, variant: Variant) -> SparseBackend:
        """The backend of the library's sparse containers; skips the test if there is none."""
        if variant.sparse is None:
            pytest.skip(f"{variant} has no sparse containers (see test_sparse_gap)")
        return variant.sparse


def check_dense(variant: Variant, got: Any, want: Host, *, dtype: str | None) -> None:
    """Compare a dense result with the oracle's array."""
    assert not variant.backend.sparse.holds(got), f"class: {describe_class(type(got))} is sparse, not dense"
    check_array(variant, got, want, dtype=dtype, ulps=ULPS, normwise=True)


def check_sparse_row(variant: Variant, row: SparseRow) -> None:
    """Make the calls of a row: the first of `OPERANDS` in all formats, each of the others in two formats.

    The two formats depend on the operand and the row, so that all rows together test each operand in each format. A
    variant that traces makes the calls of one canonical operand: the results of others are in the order of the operand,
    because the number of entries without duplicates is not known.

    Raises
    ------
    AssertionError
        The message lists every call that failed.
    """
    failures: list[str] = []
    formats = variant.backend.sparse.formats
    tested = {"sorted": OPERANDS["sorted"]} if variant.traced else OPERANDS
    for k, (label, e) in enumerate(tested.items(), start=len(OPERANDS) - len(tested)):
        operands = row.operands(e)
        if operands is None or not _supports_dtypes(variant, operands):
            continue
        offset = k + ROWS.index(row)
        for first, step in [(offset, 0), (offset + 1, 1)] if k else product(range(len(formats)), (0, 1)):
            given = [formats[(first + step * n) % len(formats)] for n in range(len(operands))]
            try:
                check_sparse_call(variant, row, operands, given, width=step)
            except Exception as error:
                if variant.traced and isinstance(error, xo.Unsupported) and "Instead" in str(error):
                    continue  # a call that cannot be traced says what to do instead
                shown = " and ".join(f for f, x in zip(given, operands, strict=True) if isinstance(x, Entries))
                what = (str(error).splitlines() or [""])[0]
                failures.append(f"  {label}, {shown}: {type(error).__name__}: {what}")
    assert not failures, f"xo.{row} on {variant}, {len(failures)} calls:\n" + "\n".join(failures[:40])


def check_sparse_call(
    variant: Variant, row: SparseRow, operands: tuple[Any, ...], formats: list[str], *, width: int
) -> None:
    """Make one call with each sparse operand in its format; check the result, and that the operands did not change."""
    native = [variant.array(x) if isinstance(x, np.ndarray) else x for x in operands]
    for k, (x, format) in enumerate(zip(operands, formats, strict=True)):
        if isinstance(x, Entries):
            native[k] = container(variant, x, format, width * (k + 1))
    with without_warnings():
        got = variant.run(row.function, *native)
        check_result(variant, row, got, [as_stored(x, f) for x, f in zip(operands, formats, strict=True)], formats)
    for x, format, now in zip(operands, formats, native, strict=True):
        if isinstance(x, Entries):
            _check_unchanged(host_parts(variant, now), parts_of(x, format, "int64", block_of(format, x.shape)))


def check_result(variant: Variant, row: SparseRow, got: Any, operands: list[Any], formats: list[str]) -> None:
    """Compare a result with the oracle's for the operands of `as_stored`."""
    want = row.oracle(*operands)
    if not isinstance(want, dict):
        check_dense(variant, got, np.asarray(want), dtype=_dtype(variant, row, operands))
        return
    shape, dtype = row.shape(*operands), _stored_dtype(variant, _dtype(variant, row, operands))
    given = [f for x, f in zip(operands, formats, strict=True) if isinstance(x, Entries)]
    format = row.result_format(given, variant.backend.sparse.formats)
    relabelled = row.verb == "sparse.transpose" and (format != given[0] or variant.traced)
    check_container(
        variant, got, want, shape=shape, format=format, dtype=dtype, exact=row.exact, canonical=not relabelled
    )


def as_stored(x: Any, format: str) -> Any:
    """The entries of an operand as a container stores them; bsr also stores the zeros of its blocks."""
    return entries_of(parts_of(x, format, "int64", block_of(format, x.shape))) if isinstance(x, Entries) else x


def _supports_dtypes(variant: Variant, operands: tuple[Any, ...]) -> bool:
    arrays = [x.data if isinstance(x, Entries) else x for x in operands if hasattr(x, "data")]
    stored = [x.data.dtype.name for x in operands if isinstance(x, Entries)]
    refused = any(variant.backend.sparse.dtype_refusal(dtype) is not None for dtype in stored)
    return not refused and {a.dtype.name for a in arrays} <= variant.dtypes


def _dtype(variant: Variant, row: SparseRow, operands: list[Any]) -> str:
    """The dtype of a dense result, or of the dense function."""
    dtypes = [x.data.dtype if isinstance(x, Entries) else x.dtype for x in operands if hasattr(x, "data")]
    if row.dense is None:
        return np.result_type(*dtypes).name
    made = row.dense(*(variant.make(np.ones((1, 1), dtype)) for dtype in dtypes))
    name: str = variant.backend.functions["dtype_name"](made.dtype)
    return name


def _stored_dtype(variant: Variant, dtype: str) -> str:
    """The dtype of a sparse result; the default floating-point dtype if containers cannot hold the dense one."""
    if variant.backend.sparse.dtype_refusal(dtype) is None:
        return dtype
    functions = variant.backend.functions
    default: str = functions["dtype_name"](functions["default_floating_dtype"]())
    return default


def _check_unchanged(now: Parts, before: Parts) -> None:
    for name, x in before.arrays.items():
        same = np.array_equal(now.arrays[name], x, equal_nan=x.dtype.kind in "fc")
        assert same, f"operand: the call has written to its {name}"
