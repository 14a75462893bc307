"""Sparse containers of every library and format: values, positions and canonical format match the oracle."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing._suite.compare import check_unchanged
from xarrayops.testing._suite.samples import sample
from xarrayops.testing._suite.sparse import oracle
from xarrayops.testing._suite.sparse.cases import DENSE, GENERAL, HUGE, OPERANDS, ROWS, WHERES, SparseRow, distinct
from xarrayops.testing._suite.sparse.check import (
    Containers,
    SparseBackend,
    block_of,
    check_container,
    check_dense,
    check_entries,
    check_sparse_row,
    container,
    host_parts,
    names,
    require,
)
from xarrayops.testing._suite.sparse.oracle import Host, ValueAt
from xarrayops.testing._suite.table import check_raises, exercises, without_warnings
from xarrayops.testing._suite.variant import Variant, depends_on

INDICES = ("int32", "int64")
ONE_ENTRY = (1, 1)
"""A block size of one entry, so that no two entries share a block."""
N_D = distinct(shape=(2, 3, 4))
SOME_OPERANDS = pytest.mark.parametrize(
    "case", ["general", "not sorted", "duplicates that cancel", "no entries", "0 x n"]
)


def masked(x: Host, mask: Host) -> ValueAt:
    """The value of an array at each position where a mask is true."""
    return {tuple(position): x[tuple(position)].item() for position in np.argwhere(mask).tolist()}


def from_dense(x: Any, format: str, **options: Any) -> Any:
    """The container of a dense array, with a block size if the format needs one."""
    return xo.sparse.from_dense(x, format, block=block_of(format, tuple(x.shape)), **options)


@depends_on("memory", containers=True)
class SparseSuite(Containers):
    """Sparse containers and their verbs."""

    @pytest.fixture
    def sparse(self, variant: Variant, containers: SparseBackend) -> SparseBackend:
        """The backend of the library's sparse containers; skips the test if the variant cannot trace them."""
        if variant.traced and not containers.pads:
            pytest.skip(f"{variant} does not trace sparse containers")
        return containers

    @depends_on("run", "memory", containers=True)
    @exercises(*{row.verb for row in ROWS})
    @pytest.mark.parametrize("row", ROWS, ids=str)
    def test_sparse_verbs(self, variant: Variant, sparse: SparseBackend, row: SparseRow) -> None:
        """The results of each verb match the oracle, for all valid operands."""
        check_sparse_row(variant, row)

    @exercises("sparse.from_dense", "sparse.to_dense")
    @pytest.mark.parametrize("case", DENSE)
    def test_sparse_from_dense(self, variant: Variant, sparse: SparseBackend, case: str) -> None:
        """``from_dense`` stores what a condition or a mask selects, also zeros and NaN; ``to_dense`` is its inverse."""
        host = DENSE[case]
        require(variant, host.dtype.name)
        x = variant.array(host)
        with without_warnings():
            wheres = [(w, keep(host)) for w, keep in WHERES.values() if w != "relu" or host.dtype.kind != "c"]
        masks = [sample("bool", host.shape, seed=seed) for seed in range(2)]
        for format, (where, kept) in product(sparse.formats, [*wheres, *((variant.array(m), m) for m in masks)]):
            s = from_dense(x, format, where=where)
            want, index = masked(host, kept), sparse.index_dtypes(format)[0]
            check_container(
                variant, s, want, shape=host.shape, format=format, dtype=host.dtype.name, exact=True, index=index
            )
            if where is None:
                check_dense(variant, xo.sparse.to_dense(s), host, dtype=host.dtype.name)
        check_unchanged(variant, x, host)

    @exercises("sparse.from_dense")
    @pytest.mark.parametrize("index", INDICES)
    def test_sparse_index_dtypes(self, variant: Variant, sparse: SparseBackend, index: str) -> None:
        """Indices have the requested dtype, or the call raises an error that lists the supported dtypes."""
        host = GENERAL.dense()
        for format in sparse.formats:
            if index in sparse.index_dtypes(format):
                s = from_dense(variant.array(host), format, index_dtype=index)
                want = masked(host, host != 0)
                check_container(variant, s, want, shape=host.shape, format=format, dtype="float32", index=index)
            else:
                with pytest.raises(ValueError, match=rf"(?s)xo\.sparse\.from_dense.*{sparse.index_dtypes(format)[0]}"):
                    from_dense(variant.array(host), format, index_dtype=index)

    @depends_on("run", "memory", containers=True)
    @exercises("sparse.from_dense", "sparse.to_dense")
    def test_sparse_nnz_max(self, variant: Variant, sparse: SparseBackend) -> None:
        """``to_dense(from_dense(x, nnz_max=n)) == x``, also if traced; an n that is too small raises."""
        host = GENERAL.dense()
        count = int(np.count_nonzero(host))
        for format, nnz_max in product(sparse.formats, (count, count + 5)):
            got = variant.run(_round_trip, variant.array(host), format, nnz_max)
            check_dense(variant, got, host, dtype="float32")
            if not variant.traced:
                with pytest.raises(ValueError, match="nnz_max"):
                    from_dense(variant.array(host), format, nnz_max=0)

    @exercises("sparse.from_dense", "sparse.to_dense", "sparse.convert")
    def test_sparse_of_other_ranks(self, variant: Variant, sparse: SparseBackend) -> None:
        """coo supports any number of axes, or the library raises."""
        if "coo" not in sparse.formats:
            pytest.skip(f"{variant} does not support coo")
        for e in (N_D, distinct(shape=(7,), count=3), distinct(shape=(2, 0, 3))):
            host = e.dense()
            try:
                s = xo.sparse.from_dense(variant.array(host), "coo")
            except xo.Unsupported as error:
                assert "Instead" in str(error)  # noqa: PT017 - both outcomes are allowed
                continue
            check_entries(variant, s, e, "coo", exact=True)
            check_dense(variant, xo.sparse.to_dense(s), host, dtype="float32")
            with pytest.raises(ValueError, match="two axes"):
                xo.sparse.convert(s, "csr")

    @exercises("sparse.convert")
    @pytest.mark.parametrize("case", OPERANDS)
    def test_sparse_convert(self, variant: Variant, sparse: SparseBackend, case: str) -> None:
        """Conversion between all formats keeps the values and gives the canonical format."""
        e = OPERANDS[case]
        require(variant, e.data.dtype.name)
        for (k, source), target in product(enumerate(sparse.formats), sparse.formats):
            s = container(variant, e, source, k)
            got = xo.sparse.convert(s, target, block=block_of(target, e.shape))
            if source == target:
                assert got is s, f"{source}: a conversion to the same format must return its argument"
                continue
            check_entries(variant, got, e, target, exact=source != "bsr")

    @exercises("sparse.convert", "convert")
    @SOME_OPERANDS
    def test_sparse_between_libraries(self, variant: Variant, sparse: SparseBackend, case: str) -> None:
        """``sparse.convert`` and ``convert`` to NumPy and back keep the container."""
        e = OPERANDS[case]
        numpy = Variant("numpy")
        for format in sparse.formats:
            s = container(variant, oracle.canonical(e), format, block=ONE_ENTRY)
            for converted in (xo.sparse.convert(s, backend="numpy"), xo.convert(s, "numpy")):
                check_entries(numpy, converted, e, format, exact=True)
                again = xo.sparse.convert(converted, backend=variant.library)
                check_entries(variant, xo.convert(again, variant.library, device=variant.device), e, format)

    @exercises("sparse.parts", "sparse.from_parts", "shares_memory")
    @SOME_OPERANDS
    def test_sparse_parts(self, variant: Variant, sparse: SparseBackend, case: str) -> None:
        """``from_parts(parts(s))`` equals s and shares its memory."""
        e = OPERANDS[case]
        for (k, format), check in product(enumerate(sparse.formats), (False, True)):
            s = container(variant, oracle.canonical(e) if check else e, format, k, block=ONE_ENTRY)
            p = xo.sparse.parts(s)
            again = xo.sparse.from_parts(p.format, *p.arrays.values(), shape=p.shape, check=check)
            q = xo.sparse.parts(again)
            assert (q.format, q.shape, q.block, names(variant, q)) == (p.format, p.shape, p.block, names(variant, p))
            for name, x in host_parts(variant, s).arrays.items():
                assert np.array_equal(host_parts(variant, again).arrays[name], x), name
                if x.size and name != "coords":  # libraries may store coords in another shape
                    assert xo.shares_memory(p.arrays[name], q.arrays[name]), f"{format}: {name} was copied"

    @exercises("sparse.from_parts", "sparse.validate")
    @pytest.mark.parametrize("case", ["general", "not sorted", "duplicates that cancel", "bool", "int32"])
    def test_sparse_canonicalize(self, variant: Variant, sparse: SparseBackend, case: str) -> None:
        """``from_parts`` refuses unsorted entries and duplicates, unless ``canonicalize`` sorts and sums them."""
        e = OPERANDS[case]
        require(variant, e.data.dtype.name)
        for k, format in enumerate(sparse.formats):
            s = container(variant, e, format, k)
            xo.sparse.validate(s)
            arrays = xo.sparse.parts(s).arrays.values()
            make = partial(xo.sparse.from_parts, format, *arrays, shape=e.shape)
            uses = (partial(xo.sparse.validate, s, canonical=True), make)
            check_raises(xo.InvalidSparse, "twice|not sorted", *uses)
            check_entries(variant, make(canonicalize=True), e, format, exact=True)

    @exercises("sparse.add", "sparse.multiply", "sparse.sum", "sparse.transpose", "sparse.convert", "matmul")
    @pytest.mark.parametrize("case", HUGE)
    def test_sparse_of_huge_shapes(self, variant: Variant, sparse: SparseBackend, case: str) -> None:
        """Shapes of more than 2**31 elements, and an extent above int32: no dense temporary, no integer overflow."""
        e = HUGE[case]
        wide = e.shape[1] > 2**31
        for format in sparse.formats:
            if format == "bsr" or "int64" not in sparse.index_dtypes(format) or (wide and format == "csc"):
                continue  # csc would have one pointer for each of 2**31 columns
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
                transposed = xo.sparse.transpose(s)
                options = {"shape": e.shape[::-1], "format": target, "dtype": "float64"}
                relabelled = xo.sparse.parts(transposed).format == target != format  # the same arrays in another format
                got = xo.sparse.convert(transposed, target)
                check_container(variant, got, oracle.transposed(e), **options, canonical=not relabelled)


def _round_trip(x: Any, format: str, nnz_max: int) -> Any:
    return xo.sparse.to_dense(from_dense(x, format, nnz_max=nnz_max))
