"""Sparse containers, whatever format and library: what goes in comes out, in order and where it belongs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing import _sparse_oracle as oracle
from xarrayops.testing._compare import check_unchanged
from xarrayops.testing._samples import ALL, sample
from xarrayops.testing._sparse_cases import DENSE, GENERAL, HUGE, OPERANDS, ROWS, WHERES, SparseRow, distinct
from xarrayops.testing._sparse_check import (
    block_of,
    check_container,
    check_dense,
    check_sparse_row,
    container,
    host_parts,
    names,
)
from xarrayops.testing._sparse_oracle import Entries, Host, Places
from xarrayops.testing._table import exercises, quiet
from xarrayops.testing._variant import Variant

if TYPE_CHECKING:
    from xarrayops._core.sparse_backend import SparseBackend

INDICES = ("int32", "int64")
ONE = (1, 1)
"""Blocks of one entry, so that no two share a block."""
N_D = distinct(shape=(2, 3, 4))
TAKEN = pytest.mark.parametrize("what", ["general", "out of order", "duplicates that cancel", "no entries", "0 x n"])


def kept(x: Host, keep: Host) -> Places:
    """The entries of an array where a mask is true."""
    return {tuple(place): x[tuple(place)].item() for place in np.argwhere(keep).tolist()}


def in_order(e: Entries) -> Entries:
    """The same, sorted and summed."""
    places = sorted(e.places)
    coords = np.asarray(places, dtype="int64").reshape(-1, len(e.shape)).T
    return Entries(e.shape, coords, np.asarray([e.places[place] for place in places], dtype=e.data.dtype))


def held(variant: Variant, what: str) -> bool:
    """Whether the library has the dtype of that name, and containers of it."""
    return what not in ALL or (what in variant.dtypes and variant.backend.sparse.dtype_refusal(what) is None)


def made(x: Any, format: str, **options: Any) -> Any:
    """The container of a dense array, with blocks where the format needs them."""
    return xo.sparse.from_dense(x, format, block=block_of(format, tuple(x.shape)), **options)


class SparseSuite:
    """Sparse containers."""

    @pytest.fixture
    def sparse(self, variant: Variant) -> SparseBackend:
        """The sparse side of the variant's library, where it has one."""
        if variant.sparse is None:
            pytest.skip(f"{variant} has no sparse containers, as test_sparse_gap sees")
        if variant.traced:
            pytest.skip(f"{variant} traces arrays, and no containers")
        return variant.sparse

    @exercises(*{row.verb for row in ROWS})
    @pytest.mark.parametrize("row", ROWS, ids=str)
    def test_sparse_verbs(self, variant: Variant, sparse: SparseBackend, row: SparseRow) -> None:
        """Container, format, dtype, device, order and values of what each verb gives, for every legal operand."""
        check_sparse_row(variant, row)

    @exercises("sparse.from_dense", "sparse.to_dense")
    @pytest.mark.parametrize("what", DENSE)
    def test_sparse_from_dense(self, variant: Variant, sparse: SparseBackend, what: str) -> None:
        """The entries that each condition keeps, and no other; without one, the way back gives the same array."""
        if not held(variant, what):
            pytest.skip(f"{variant} holds no {what} by its own account")
        host = DENSE[what]
        x = variant.array(host)
        for format, (where, keep) in product(sparse.formats, WHERES.values()):
            if where == "relu" and host.dtype.kind == "c":
                continue
            s = made(x, format, where=where)
            with quiet():
                want = kept(host, keep(host))
            index = sparse.index_dtypes(format)[0]
            check_container(
                variant, s, want, shape=host.shape, format=format, dtype=host.dtype.name, exact=True, index=index
            )
            if where is None:
                check_dense(variant, xo.sparse.to_dense(s), host, dtype=host.dtype.name)
        check_unchanged(variant, x, host)

    @exercises("sparse.from_dense")
    @pytest.mark.parametrize("what", ["general", "zeros", "special", "0 x 6", "bool", "int32", "complex128"])
    def test_sparse_masks(self, variant: Variant, sparse: SparseBackend, what: str) -> None:
        """A mask keeps what it covers, zeros and NaN too."""
        if not held(variant, what):
            pytest.skip(f"{variant} holds no {what} by its own account")
        host = DENSE[what]
        for seed, format in product(range(2), sparse.formats):
            mask = sample("bool", host.shape, seed=seed)
            s = made(variant.array(host), format, where=variant.array(mask))
            want = kept(host, mask)
            check_container(variant, s, want, shape=host.shape, format=format, dtype=host.dtype.name, exact=True)

    @exercises("sparse.from_dense")
    @pytest.mark.parametrize("index", INDICES)
    def test_sparse_widths(self, variant: Variant, sparse: SparseBackend, index: str) -> None:
        """The width that is asked for, or an error with those that there are."""
        host = GENERAL.dense()
        for format in sparse.formats:
            if index in sparse.index_dtypes(format):
                s = made(variant.array(host), format, index_dtype=index)
                want = kept(host, host != 0)
                check_container(variant, s, want, shape=host.shape, format=format, dtype="float32", index=index)
            else:
                with pytest.raises(ValueError, match=rf"(?s)xo\.sparse\.from_dense.*{sparse.index_dtypes(format)[0]}"):
                    made(variant.array(host), format, index_dtype=index)

    @exercises("sparse.from_dense", "sparse.to_dense")
    def test_sparse_room(self, variant: Variant) -> None:
        """With ``nnz_max`` enough, the same, also where the function is traced and the library can do it."""
        if variant.sparse is None or (variant.traced and not variant.sparse.pads):
            pytest.skip(f"{variant} has no containers that it could trace")
        host = GENERAL.dense()
        count = int(np.count_nonzero(host))
        for format, room in product(variant.sparse.formats, (count, count + 5)):
            got = variant.run(_there_and_back, variant.array(host), format, room)
            check_dense(variant, got, host, dtype="float32")
            if not variant.traced:
                with pytest.raises(ValueError, match="nnz_max"):
                    made(variant.array(host), format, nnz_max=0)

    @exercises("sparse.from_dense", "sparse.to_dense", "sparse.convert")
    def test_sparse_of_other_ranks(self, variant: Variant, sparse: SparseBackend) -> None:
        """coo has any number of axes, or the library says that it has not."""
        if "coo" not in sparse.formats:
            pytest.skip(f"{variant} has no coo by its own account")
        for e in (N_D, distinct(shape=(7,), count=3), distinct(shape=(2, 0, 3))):
            host = e.dense()
            s = _unless_refused(partial(xo.sparse.from_dense, variant.array(host), "coo"))
            if s is None:
                continue
            check_container(variant, s, e.places, shape=e.shape, format="coo", dtype="float32", exact=True)
            check_dense(variant, xo.sparse.to_dense(s), host, dtype="float32")
            with pytest.raises(ValueError, match="two axes"):
                xo.sparse.convert(s, "csr")

    @exercises("sparse.convert")
    @pytest.mark.parametrize("what", OPERANDS)
    def test_sparse_convert(self, variant: Variant, sparse: SparseBackend, what: str) -> None:
        """From every format to every other: the same places, canonical."""
        e = OPERANDS[what]
        if not held(variant, e.data.dtype.name):
            pytest.skip(f"{variant} holds no {what} by its own account")
        for (k, source), target in product(enumerate(sparse.formats), sparse.formats):
            s = container(variant, e, source, k)
            block = block_of(target, e.shape)
            got = xo.sparse.convert(s, target, block=block)
            if source == target:
                assert got is s, f"{source}: not what was given"
                continue
            exact = source != "bsr"
            dtype = e.data.dtype.name
            check_container(variant, got, e.places, shape=e.shape, format=target, dtype=dtype, exact=exact)

    @exercises("sparse.convert", "convert")
    @TAKEN
    def test_sparse_between_libraries(self, variant: Variant, sparse: SparseBackend, what: str) -> None:
        """To NumPy's side and back: as `xarrayops.convert` does with containers, too."""
        e = OPERANDS[what]
        home = Variant("numpy")
        for format in sparse.formats:
            s = container(variant, in_order(e), format, block=ONE)
            for there in (xo.sparse.convert(s, backend="numpy"), xo.convert(s, "numpy")):
                options: dict[str, Any] = {"shape": e.shape, "format": format, "dtype": e.data.dtype.name}
                check_container(home, there, e.places, **options, exact=True)
                check_container(variant, xo.sparse.convert(there, backend=variant.library), e.places, **options)

    @exercises("sparse.parts", "sparse.from_parts", "shares_memory")
    @TAKEN
    def test_sparse_parts(self, variant: Variant, sparse: SparseBackend, what: str) -> None:
        """``from_parts(parts(s))`` is s, over the same memory; the arrays are those that went in."""
        e = OPERANDS[what]
        for (k, format), check in product(enumerate(sparse.formats), (False, True)):
            s = container(variant, in_order(e) if check else e, format, k, block=ONE)
            p = xo.sparse.parts(s)
            again = xo.sparse.from_parts(p.format, *p.arrays.values(), shape=p.shape, check=check)
            q = xo.sparse.parts(again)
            assert (q.format, q.shape, q.block, names(variant, q)) == (p.format, p.shape, p.block, names(variant, p))
            for name, x in host_parts(variant, s).arrays.items():
                assert np.array_equal(host_parts(variant, again).arrays[name], x), name
                if x.size and name != "coords":  # which libraries keep in another shape
                    assert xo.shares_memory(p.arrays[name], q.arrays[name]), f"{format}: {name} was copied"

    @exercises("sparse.from_parts", "sparse.validate")
    @pytest.mark.parametrize("what", ["general", "out of order", "duplicates that cancel", "bool", "int32"])
    def test_sparse_canonicalize(self, variant: Variant, sparse: SparseBackend, what: str) -> None:
        """Disorder and duplicates are refused by default, legal where asked, and put right by ``canonicalize``."""
        if not held(variant, what):
            pytest.skip(f"{variant} holds no {what} by its own account")
        e = OPERANDS[what]
        for k, format in enumerate(sparse.formats):
            s = container(variant, e, format, k)
            xo.sparse.validate(s)
            arrays = xo.sparse.parts(s).arrays.values()
            for use in (
                lambda s=s: xo.sparse.validate(s, canonical=True),
                lambda f=format, a=arrays: xo.sparse.from_parts(f, *a, shape=e.shape),
            ):
                with pytest.raises(xo.InvalidSparse, match=r"twice|not sorted"):
                    use()
            got = xo.sparse.from_parts(format, *arrays, shape=e.shape, canonicalize=True)
            options: dict[str, Any] = {"shape": e.shape, "format": format, "dtype": e.data.dtype.name}
            check_container(variant, got, e.places, **options, exact=True)

    @exercises("device", "is_lazy")
    def test_sparse_device(self, variant: Variant, sparse: SparseBackend) -> None:
        """A container is where its values are, and computed."""
        for format in sparse.formats:
            s = container(variant, GENERAL, format)
            assert xo.device(s) == variant.device
            assert not xo.is_lazy(s)

    @exercises("sparse.add", "sparse.multiply", "sparse.sum", "sparse.transpose", "sparse.convert", "matmul")
    @pytest.mark.parametrize("what", HUGE)
    def test_sparse_of_many_places(self, variant: Variant, sparse: SparseBackend, what: str) -> None:
        """More than 2**31 places, and an extent beyond int32: nothing of that size is made, nothing wraps."""
        e = HUGE[what]
        wide = e.shape[1] > 2**31
        for format in sparse.formats:
            if format == "bsr" or "int64" not in sparse.index_dtypes(format) or (wide and format == "csc"):
                continue  # csc of so many columns has as many pointers
            s = container(variant, e, format, 1)
            options: dict[str, Any] = {"shape": e.shape, "format": format, "dtype": "float64"}
            check_container(variant, xo.sparse.add(s, s), oracle.added(e, e), **options)
            check_container(variant, xo.sparse.multiply(s, s), oracle.multiplied(e, e), **options)
            check_container(variant, xo.sparse.multiply(s, 2.0), oracle.scaled(e, 2.0), **options)
            check_dense(variant, xo.sparse.sum(s), oracle.total(e, None), dtype="float64")
            check_dense(variant, xo.sparse.sum(s, axis=1), oracle.total(e, 1), dtype="float64")
            if wide:
                continue
            check_container(variant, xo.matmul(s, s), oracle.product(e, e), **options)
            x = sample("float64", (e.shape[1],))
            check_dense(variant, xo.matmul(s, variant.array(x)), oracle.times_dense(e, x), dtype="float64")
            for target in set(sparse.formats) - {"bsr"}:
                turned = xo.sparse.transpose(s)
                options = {"shape": e.shape[::-1], "format": target, "dtype": "float64"}
                relabelled = xo.sparse.parts(turned).format == target != format  # the entries lie as they did
                got = xo.sparse.convert(turned, target)
                check_container(variant, got, oracle.transposed(e), **options, canonical=not relabelled)


def _there_and_back(x: Any, format: str, room: int) -> Any:
    return xo.sparse.to_dense(made(x, format, nnz_max=room))


def _unless_refused(function: Callable[[], Any]) -> Any:
    """The result, or None where the library refuses and names the way out."""
    try:
        return function()
    except xo.Unsupported as error:
        if "Instead" not in str(error):
            raise
        return None
