"""What sparse verbs refuse, and by which words: malformed parts, operands that do not fit, mixtures, gaps."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin.sparse import FORMATS
from xarrayops.testing._foreign import foreigners
from xarrayops.testing._samples import ALL
from xarrayops.testing._sparse_cases import GENERAL, distinct
from xarrayops.testing._sparse_check import block_of, container
from xarrayops.testing._sparse_oracle import parts_of
from xarrayops.testing._table import exercises
from xarrayops.testing._variant import Variant

Use = Callable[[], Any]
REFUSALS = (xo.errors.XArrayOpsError, ValueError, TypeError)
HALVES = ("float16", "bfloat16")
COMPRESSED: dict[str, tuple[dict[str, Any], str]] = {
    "pointers that fall": ({"indptr": [0, 2, 1, 3]}, r"indptr\[2\] is 1, less than"),
    "pointers that fall below zero": ({"indptr": [0, -1, 2, 3]}, r"indptr\[1\] is -1"),
    "pointers that begin late": ({"indptr": [1, 2, 2, 3]}, r"indptr\[0\] is 1"),
    "pointers that end early": ({"indptr": [0, 2, 2, 2]}, "indptr ends with 2"),
    "pointers that end late": ({"indptr": [0, 2, 2, 9]}, "indptr ends with 9"),
    "a pointer too few": ({"indptr": [0, 2, 3]}, "indptr"),
    "no pointers": ({"indptr": []}, "indptr"),
    "an index below zero": ({"indices": [0, -1, 1]}, r"indices\[1\] is -1"),
    "an index too large": ({"indices": [0, 2, 7]}, r"indices\[2\], in (block )?(row|column) 2, is 7, but there are 4"),
    "an index far too large": ({"indices": [0, 2, 2**31 - 1]}, r"indices\[2\]"),
    "two entries at one place": ({"indices": [2, 2, 1]}, r"0 holds (block )?(row|column) 2 twice"),
    "entries out of order": ({"indices": [2, 0, 1]}, r"0 is not sorted"),
    "an index too many": ({"indices": [0, 2, 1, 1]}, r"indices|data"),
    "fewer values": ({"data": [1.0, 2.0]}, "data|entries"),
    "indices that are fractions": ({"indices": np.asarray([0.0, 2.0, 1.0])}, "indices.*float64"),
    "pointers of booleans": ({"indptr": np.asarray([False, True, True, True])}, "indptr.*bool"),
    "indices of 16 bits": ({"indices": np.asarray([0, 2, 1], "int16")}, "int16"),
    "indices of another width": ({"indices": np.asarray([0, 2, 1], "int64")}, "int64"),
    "pointers with two axes": ({"indptr": [[0, 2, 2, 3]]}, "indptr"),
    "indices with two axes": ({"indices": [[0, 2, 1]]}, "indices"),
    "indices without an axis": ({"indices": 2}, "indices"),
}
"""Parts of a matrix of 3 x 4, or 4 x 3, with three entries or blocks, that are malformed; and what the error says."""
COO: dict[str, tuple[dict[str, Any], str]] = {
    "an index below zero": ({"coords": [[0, -1, 2], [0, 2, 1]]}, r"coords\[0, 1\] is -1"),
    "an index too large": ({"coords": [[0, 0, 2], [0, 2, 7]]}, r"coords\[1, 2\] is 7, but shape\[1\] is 4"),
    "two entries at one place": ({"coords": [[0, 2, 2], [0, 1, 1]]}, r"\(2, 1\) twice"),
    "entries out of order": ({"coords": [[0, 2, 0], [0, 1, 2]]}, r"not sorted: \(0, 2\)"),
    "an axis too few": ({"coords": [[0, 0, 2]]}, "coords|extents"),
    "an axis too many": ({"coords": [[0, 0, 2]] * 3}, "coords|extents"),
    "no second axis": ({"coords": [0, 2, 1]}, "coords"),
    "fewer values": ({"data": [1.0, 2.0]}, "data|entries"),
    "indices that are fractions": ({"coords": np.asarray([[0.0, 0, 2], [0, 2, 1]])}, "coords.*float64"),
    "indices of 16 bits": ({"coords": np.asarray([[0, 0, 2], [0, 2, 1]], "int16")}, "int16"),
    "data with two axes": ({"data": [[1.0, 2.0, 3.0]]}, "data"),
}
"""The same for coo."""
FAULTS = {format: COO if format == "coo" else COMPRESSED for format in FORMATS}
LEADS_OUT = (
    *("pointers that fall", "pointers that fall below zero", "pointers that begin late", "pointers that end late"),
    *("an index below zero", "an index too large", "an index far too large"),
)
"""Those that memory would not survive: no verb may use them."""
IN_VALUES = (*LEADS_OUT, "two entries at one place", "entries out of order")
"""Those that a native container can hide."""


def malformed(format: str, change: dict[str, Any]) -> tuple[dict[str, Any], tuple[int, int]]:
    """The arrays in NumPy, one of them changed, and the shape."""
    arrays: dict[str, Any] = {"coords": [[0, 0, 2], [0, 2, 1]], "data": [1.0, 2.0, 3.0]}
    if format != "coo":
        arrays = {"indptr": [0, 2, 2, 3], "indices": [0, 2, 1], "data": [1.0, 2.0, 3.0]}
    width = "int64" if format == "coo" else "int32"
    arrays = {
        name: x if isinstance(x, np.ndarray) else np.asarray(x, "float32" if name == "data" else width)
        for name, x in (arrays | change).items()
    }
    if format == "bsr" and arrays["data"].ndim == 1:
        arrays["data"] = np.multiply.outer(arrays["data"], np.ones((2, 2), "float32"))
    rows, columns = (6, 8) if format == "bsr" else (3, 4)
    return arrays, (columns, rows) if format == "csc" else (rows, columns)


class Given:
    """What the wrong calls are made of: a dense array and containers of it."""

    def __init__(self, variant: Variant) -> None:
        self.format = variant.backend.sparse.formats[0]
        self.x = variant.array(GENERAL.dense())
        self.s = container(variant, GENERAL, self.format)
        self.other = container(variant, distinct(shape=(3, 6)), self.format)
        self.square = container(variant, distinct(shape=(4, 4)), self.format)
        self.make = variant.make


def mask(g: Given, shape: tuple[int, ...], dtype: str) -> Any:
    """A mask, right or wrong."""
    return g.make(np.ones(shape, dtype))


WRONG: dict[str, tuple[Callable[[Given], Any], str]] = {
    "from_dense: sparse": (lambda g: xo.sparse.from_dense(g.s), "is sparse.*Instead: xo.sparse.convert"),
    "from_dense: no such format": (lambda g: xo.sparse.from_dense(g.x, "dia"), "'dia'.*coo, csr, csc, bsr"),
    "from_dense: a vector": (lambda g: xo.sparse.from_dense(g.x[0, :], "csr"), "csr"),
    "from_dense: no such condition": (lambda g: xo.sparse.from_dense(g.x, g.format, where="gelu"), "gelu.*relu"),
    "from_dense: True": (lambda g: xo.sparse.from_dense(g.x, g.format, where=True), "where=True"),
    "from_dense: NaN": (lambda g: xo.sparse.from_dense(g.x, g.format, where=float("nan")), "where=nan"),
    "from_dense: a mask of numbers": (
        lambda g: xo.sparse.from_dense(g.x, g.format, where=mask(g, (4, 6), "int32")),
        "booleans.*int32",
    ),
    "from_dense: a mask of another shape": (
        lambda g: xo.sparse.from_dense(g.x, g.format, where=mask(g, (4, 1), "bool")),
        r"shape.*\(4, 1\)",
    ),
    "from_dense: less than no room": (lambda g: xo.sparse.from_dense(g.x, g.format, nnz_max=-1), "nnz_max=-1"),
    "from_dense: half an entry": (
        lambda g: xo.sparse.from_dense(g.x, g.format, nnz_max=1.5),  # type: ignore[arg-type]
        "nnz_max=1.5",
    ),
    "from_dense: blocks of csr": (lambda g: xo.sparse.from_dense(g.x, "csr", block=(2, 3)), "block.*bsr|csr"),
    "from_dense: bsr without blocks": (lambda g: xo.sparse.from_dense(g.x, "bsr"), "block|bsr"),
    "from_dense: blocks that do not fit": (lambda g: xo.sparse.from_dense(g.x, "bsr", block=(3, 3)), "3 x 3|bsr"),
    "from_dense: blocks of nothing": (lambda g: xo.sparse.from_dense(g.x, "bsr", block=(0, 3)), "0 x 3|bsr"),
    "from_dense: blocks of one number": (
        lambda g: xo.sparse.from_dense(g.x, "bsr", block=2),  # type: ignore[arg-type]
        "block|bsr",
    ),
    "from_dense: indices of 16 bits": (lambda g: xo.sparse.from_dense(g.x, g.format, index_dtype="int16"), "int16"),
    "to_dense: dense": (lambda g: xo.sparse.to_dense(g.x), "is dense.*Instead:.*xo.sparse.from_dense"),
    "to_dense: a list": (lambda g: xo.sparse.to_dense([[1.0]]), "list"),
    "parts: dense": (lambda g: xo.sparse.parts(g.x), "is dense.*Instead"),
    "validate: dense": (lambda g: xo.sparse.validate(g.x), "is dense.*Instead"),
    "convert: dense": (lambda g: xo.sparse.convert(g.x, "csr"), "is dense.*Instead"),
    "convert: no such format": (lambda g: xo.sparse.convert(g.s, "lil"), "'lil'.*coo, csr, csc, bsr"),
    "convert: bsr without blocks": (lambda g: xo.sparse.convert(g.s, "bsr"), "block|bsr"),
    "convert: blocks that do not fit": (lambda g: xo.sparse.convert(g.s, "bsr", block=(4, 5)), "4.*5|bsr"),
    "from_parts: no such format": (lambda g: xo.sparse.from_parts("dok", g.x, shape=(4, 6)), "'dok'"),
    "from_parts: an array too few": (
        lambda g: xo.sparse.from_parts("csr", g.x, g.x, shape=(4, 6)),
        "indptr, indices, data",
    ),
    "from_parts: a number": (lambda g: xo.sparse.from_parts("coo", g.x, 2.0, shape=(4, 6)), "data|coo"),
    "transpose: dense": (lambda g: xo.sparse.transpose(g.x), "is dense.*Instead"),
    "add: dense": (lambda g: xo.sparse.add(g.s, g.x), "b is dense.*Instead"),
    "add: dense first": (lambda g: xo.sparse.add(g.x, g.s), "a is dense.*Instead"),
    "add: a number": (lambda g: xo.sparse.add(g.s, 1.0), "b is"),
    "add: another shape": (lambda g: xo.sparse.add(g.s, g.other), r"\(4, 6\) and \(3, 6\)"),
    "multiply: dense by dense": (lambda g: xo.sparse.multiply(g.x, g.x), "dense"),
    "multiply: numbers": (lambda g: xo.sparse.multiply(2.0, 3.0), "multiply"),
    "multiply: another shape": (lambda g: xo.sparse.multiply(g.s, g.other), r"\(4, 6\) and \(3, 6\)"),
    "multiply: what does not broadcast": (lambda g: xo.sparse.multiply(g.s, g.x[:3, :]), r"\(3, 6\).*\(4, 6\)"),
    "multiply: what widens": (lambda g: xo.sparse.multiply(g.s, xo.stack([g.x, g.x])), r"\(2, 4, 6\)"),
    "sum: no such axis": (lambda g: xo.sparse.sum(g.s, axis=2), "axis 2.*Instead"),
    "sum: two axes": (lambda g: xo.sparse.sum(g.s, axis=(0, 1)), "axis"),  # type: ignore[arg-type]
    "sum: dense": (lambda g: xo.sparse.sum(g.x), "is dense.*Instead"),
    "matmul: inner extents": (lambda g: xo.matmul(g.s, g.x), r"(?s)\(4, 6\).*\(4, 6\)"),
    "matmul: sparse inner extents": (lambda g: xo.matmul(g.s, g.other), r"(?s)\(4, 6\).*\(3, 6\)"),
    "matmul: three axes": (lambda g: xo.matmul(g.s, xo.stack([g.x, g.x])), r"\(2, 4, 6\)"),
    "matmul: a number": (lambda g: xo.matmul(g.s, 2.0), "matmul"),
    "matmul: a list": (lambda g: xo.matmul(g.s, [1.0] * 6), "list"),
    "sddmm: a dense pattern": (lambda g: xo.sparse.sddmm(g.x, g.x, g.x), "pattern is dense.*Instead"),
    "sddmm: a sparse factor": (lambda g: xo.sparse.sddmm(g.s, g.x, g.other), "a is sparse.*Instead"),
    "sddmm: the pattern for a factor": (lambda g: xo.sparse.sddmm(g.square, g.x[:, :4], g.square), "a is sparse"),
    "sddmm: shapes": (lambda g: xo.sparse.sddmm(g.x, g.x, g.s), r"\(4, 6\), \(4, 6\) and \(4, 6\)"),
}
"""Calls that raise, and what the message says."""
MIXED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sparse.add": lambda x, s, stranger: xo.sparse.add(s, stranger),
    "sparse.multiply": lambda x, s, stranger: xo.sparse.multiply(s, stranger),
    "sparse.from_dense": lambda x, s, stranger: xo.sparse.from_dense(x, where=stranger),
    "sparse.from_parts": lambda x, s, stranger: xo.sparse.from_parts("coo", x, stranger, shape=(4, 6)),
    "matmul": lambda x, s, stranger: xo.matmul(s, stranger),
    "sparse.sddmm": lambda x, s, stranger: xo.sparse.sddmm(x, stranger, s),
}
GAPS: dict[str, Callable[[Any], Any]] = {
    "sparse.from_dense": xo.sparse.from_dense,
    "sparse.to_dense": xo.sparse.to_dense,
    "sparse.parts": xo.sparse.parts,
    "sparse.from_parts": lambda x: xo.sparse.from_parts("coo", x, x, shape=(2, 2)),
    "sparse.validate": xo.sparse.validate,
    "sparse.convert": lambda x: xo.sparse.convert(x, "csr"),
    "sparse.transpose": xo.sparse.transpose,
    "sparse.add": lambda x: xo.sparse.add(x, x),
    "sparse.multiply": lambda x: xo.sparse.multiply(x, x),
    "sparse.sum": xo.sparse.sum,
    "sparse.sddmm": lambda x: xo.sparse.sddmm(x, x, x),
}
"""Each verb on what a library without containers has: dense arrays."""


def refused(variant: Variant) -> bool:
    """Whether the library has no containers; a test of those that have ends then."""
    return variant.sparse is None or variant.traced


class SparseRefusalSuite:
    """What sparse verbs refuse."""

    @exercises(*GAPS)
    @pytest.mark.parametrize("verb", GAPS)
    def test_sparse_gap(self, variant: Variant, verb: str) -> None:
        """A library without containers says so, and the way out."""
        if variant.sparse is not None:
            pytest.skip(f"{variant} has sparse containers")
        with pytest.raises(xo.Unsupported, match="Instead"):
            GAPS[verb](variant.array(GENERAL.dense()))

    @exercises("sparse.from_parts", "sparse.validate", "sparse.to_dense", "matmul")
    @pytest.mark.parametrize(("format", "what"), [(f, what) for f in FORMATS for what in FAULTS[f]])
    def test_sparse_malformed(self, variant: Variant, format: str, what: str) -> None:
        """The first offending place is named; a container that hides it is found out by validate and by every verb."""
        if refused(variant) or format not in variant.backend.sparse.formats:
            pytest.skip(f"{variant} makes no {format} containers here")
        if variant.backend.sparse.pads and what == "pointers that end early":
            pytest.skip(f"to {variant} what comes after the last row only fills a container up")
        change, says = FAULTS[format][what]
        host, shape = malformed(format, change)
        arrays = [variant.make(x) for x in host.values()]
        with pytest.raises(xo.InvalidSparse, match=rf"xo\.sparse\.from_parts\(\"{format}\"\): .*({says})"):
            xo.sparse.from_parts(format, *arrays, shape=shape)
        if what not in IN_VALUES:
            return
        try:
            s = xo.sparse.from_parts(format, *arrays, shape=shape, check=False)
        except ValueError:
            return  # the library itself looks at it
        with pytest.raises(xo.InvalidSparse, match=rf"xo\.sparse\.validate\(.*({says})"):
            xo.sparse.validate(s, canonical=True)
        if what in LEADS_OUT and str(variant.device) == "cpu":
            x = variant.make(np.ones((shape[1], 2), "float32"))
            uses: list[Use] = [
                partial(xo.sparse.to_dense, s),
                partial(xo.matmul, s, x),
                partial(xo.sparse.sum, s, axis=0),
            ]
            for use in uses:
                with pytest.raises(xo.InvalidSparse, match=says):
                    use()

    @exercises("sparse.from_parts")
    @pytest.mark.parametrize("shape", [(3,), (3, 4, 1), (3, -4), (-3, 4), (3.5, 4), ("3", 4), (), 12, None, (2, 4)])
    def test_sparse_shapes(self, variant: Variant, shape: Any) -> None:
        """A shape that is none, or not that of the parts, raises."""
        if refused(variant):
            pytest.skip(f"{variant} makes no containers here")
        for format in set(variant.backend.sparse.formats) - {"bsr"}:
            host, _ = malformed(format, {})
            with pytest.raises(REFUSALS, match="from_parts"):
                xo.sparse.from_parts(format, *map(variant.make, host.values()), shape=shape)

    @exercises(*{f"sparse.{label.partition(':')[0]}" for label in WRONG} - {"sparse.matmul"}, "matmul")
    @pytest.mark.parametrize("wrong", WRONG)
    def test_sparse_refusals(self, variant: Variant, wrong: str) -> None:
        """What does not fit, or is no container, raises; the message says which operand, and names the verb."""
        if refused(variant):
            pytest.skip(f"{variant} makes no containers here")
        use, says = WRONG[wrong]
        with pytest.raises(REFUSALS, match=f"(?s){says}") as caught:
            use(Given(variant))
        verb = wrong.partition(":")[0]
        assert f"xo.{'' if verb == 'matmul' else 'sparse.'}{verb}" in str(caught.value), caught.value

    @exercises("sparse.from_dense", "sparse.from_parts")
    @pytest.mark.parametrize("dtype", [*ALL, *HALVES])
    def test_sparse_dtypes(self, variant: Variant, dtype: str) -> None:
        """A dtype that containers cannot hold is refused in the words of the library's own data; others are held."""
        if refused(variant):
            pytest.skip(f"{variant} makes no containers here")
        try:
            x = xo.astype(variant.array(np.abs(GENERAL.dense())), dtype)
        except xo.Unsupported:
            pytest.skip(f"{variant} has no {dtype} by its own account")
        why = variant.backend.sparse.dtype_refusal(dtype)
        for format in variant.backend.sparse.formats:
            if why is None:
                s = xo.sparse.from_dense(x, format, block=block_of(format, GENERAL.shape))
                assert s.dtype == x.dtype
                assert xo.sparse.to_dense(s).dtype == x.dtype
                continue
            p = parts_of(distinct(), format, "int32", block_of(format, GENERAL.shape))
            indices = [variant.make(a) for name, a in p.arrays.items() if name != "data"]
            data = xo.astype(variant.make(p.data), dtype)
            assert "Instead" in why
            uses: list[Use] = [
                partial(xo.sparse.from_dense, x, format, block=p.block),
                partial(xo.sparse.from_parts, format, *indices, data, shape=GENERAL.shape),
            ]
            for use in uses:
                with pytest.raises(xo.Unsupported, match=re.escape(why)):
                    use()

    @exercises(*MIXED)
    @pytest.mark.parametrize("verb", MIXED)
    def test_sparse_of_mixed_libraries(self, variant: Variant, verb: str) -> None:
        """An array of another library beside a container raises, and the message names the cure."""
        if refused(variant):
            pytest.skip(f"{variant} makes no containers here")
        g = Given(variant)
        for library, stranger in foreigners(variant).items():
            with pytest.raises(xo.MixedBackends) as caught:
                MIXED[verb](g.x, g.s, stranger)
            for part in (f"xo.{verb}", variant.backend.name, library, "xo.convert("):
                assert part in str(caught.value), f"the message lacks {part!r}: {caught.value}"

    @exercises("add", "sum")
    def test_sparse_beside_dense_verbs(self, variant: Variant) -> None:
        """Verbs of dense arrays refuse containers with classes of their own, and name what serves them."""
        if refused(variant) or variant.backend.has_sparse_layouts:
            pytest.skip(f"{variant} has no containers of classes that are not its arrays'")
        g = Given(variant)
        uses: list[Use] = [partial(xo.add, g.s, g.s), partial(xo.add, g.x, g.s), partial(xo.sum, g.s)]
        for use in uses:
            with pytest.raises(xo.Unsupported, match=r"sparse.*Instead: .*xo\.sparse"):
                use()
