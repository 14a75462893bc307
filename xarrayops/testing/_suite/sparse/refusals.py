# Long: one table of malformed operands and the error that each must raise.
"""Errors of the sparse verbs: malformed parts, invalid operands, arrays of several libraries, missing containers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin.sparse import ELEMENTWISE, FORMATS
from xarrayops.testing._suite.foreign import check_mixed
from xarrayops.testing._suite.samples import ALL
from xarrayops.testing._suite.sparse.cases import GENERAL, distinct
from xarrayops.testing._suite.sparse.check import Containers, SparseBackend, block_of, container
from xarrayops.testing._suite.sparse.oracle import parts_of
from xarrayops.testing._suite.table import cast, check_raises, exercises
from xarrayops.testing._suite.variant import Variant, depends_on

REFUSALS = (xo.errors.XArrayOpsError, ValueError, TypeError)
LOW_PRECISION = ("float16", "bfloat16")
COMPRESSED: dict[str, tuple[dict[str, Any], str]] = {
    "decreasing pointers": ({"indptr": [0, 2, 1, 3]}, r"indptr\[2\] is 1, less than"),
    "a negative pointer": ({"indptr": [0, -1, 2, 3]}, r"indptr\[1\] is -1"),
    "a first pointer above zero": ({"indptr": [1, 2, 2, 3]}, r"indptr\[0\] is 1"),
    "a last pointer too small": ({"indptr": [0, 2, 2, 2]}, "indptr ends with 2"),
    "a last pointer too large": ({"indptr": [0, 2, 2, 9]}, "indptr ends with 9"),
    "a pointer missing": ({"indptr": [0, 2, 3]}, "indptr"),
    "no pointers": ({"indptr": []}, "indptr"),
    "a negative index": ({"indices": [0, -1, 1]}, r"indices\[1\] is -1"),
    "an index too large": ({"indices": [0, 2, 7]}, r"indices\[2\], in (block )?(row|column) 2, is 7, but there are 4"),
    "an index far too large": ({"indices": [0, 2, 2**31 - 1]}, r"indices\[2\]"),
    "a duplicate entry": ({"indices": [2, 2, 1]}, r"0 has (block )?(row|column) 2 twice"),
    "unsorted entries": ({"indices": [2, 0, 1]}, r"0 is not sorted"),
    "an index in excess": ({"indices": [0, 2, 1, 1]}, r"indices|data"),
    "a value missing": ({"data": [1.0, 2.0]}, "data|entries"),
    "indices of floats": ({"indices": np.asarray([0.0, 2.0, 1.0])}, "indices.*float64"),
    "boolean pointers": ({"indptr": np.asarray([False, True, True, True])}, "indptr.*bool"),
    "indices of 16 bits": ({"indices": np.asarray([0, 2, 1], "int16")}, "int16"),
    "indices of another width": ({"indices": np.asarray([0, 2, 1], "int64")}, "int64"),
    "pointers with two axes": ({"indptr": [[0, 2, 2, 3]]}, "indptr"),
    "indices with two axes": ({"indices": [[0, 2, 1]]}, "indices"),
    "0-d indices": ({"indices": 2}, "indices"),
}
"""Malformed parts of a matrix of 3 x 4 or 4 x 3 entries or blocks, and a pattern of the error message."""
COO: dict[str, tuple[dict[str, Any], str]] = {
    "a negative index": ({"coords": [[0, -1, 2], [0, 2, 1]]}, r"coords\[0, 1\] is -1"),
    "an index too large": ({"coords": [[0, 0, 2], [0, 2, 7]]}, r"coords\[1, 2\] is 7, but shape\[1\] is 4"),
    "a duplicate entry": ({"coords": [[0, 2, 2], [0, 1, 1]]}, r"\(2, 1\) twice"),
    "unsorted entries": ({"coords": [[0, 2, 0], [0, 1, 2]]}, r"not sorted: \(0, 2\)"),
    "an axis missing": ({"coords": [[0, 0, 2]]}, "coords|extents"),
    "an axis in excess": ({"coords": [[0, 0, 2]] * 3}, "coords|extents"),
    "coords with one axis": ({"coords": [0, 2, 1]}, "coords"),
    "a value missing": ({"data": [1.0, 2.0]}, "data|entries"),
    "indices of floats": ({"coords": np.asarray([[0.0, 0, 2], [0, 2, 1]])}, "coords.*float64"),
    "indices of 16 bits": ({"coords": np.asarray([[0, 0, 2], [0, 2, 1]], "int16")}, "int16"),
    "data with two axes": ({"data": [[1.0, 2.0, 3.0]]}, "data"),
}
"""Malformed parts of a coo matrix, and a pattern of the error message."""
FAULTS = {format: COO if format == "coo" else COMPRESSED for format in FORMATS}
UNSAFE = (
    *("decreasing pointers", "a negative pointer", "a first pointer above zero", "a last pointer too large"),
    *("a negative index", "an index too large", "an index far too large"),
)
"""Faults that would cause access out of bounds: every verb must refuse them."""
IN_VALUES = (*UNSAFE, "a duplicate entry", "unsorted entries")
"""Faults in values, which a native container may have."""


def malformed(format: str, change: dict[str, Any]) -> tuple[dict[str, Any], tuple[int, int]]:
    """Parts in NumPy arrays with a change, and the shape."""
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


class Operands:
    """The operands of the invalid calls: a dense array and containers."""

    def __init__(self, variant: Variant) -> None:
        self.format = variant.backend.sparse.formats[0]
        self.x = variant.make(GENERAL.dense())
        self.s, self.other, self.square = (
            container(variant, e, self.format, array=variant.make)
            for e in (GENERAL, distinct(shape=(3, 6)), distinct(shape=(4, 4)))
        )
        self.make = variant.make

    def ones(self, shape: tuple[int, ...], dtype: str) -> Any:
        """An array of ones, as a valid or invalid mask."""
        return self.make(np.ones(shape, dtype))


sparse: Any = xo.sparse
"""The namespace without types, because the calls are wrong."""
WRONG: dict[str, tuple[Callable[[Operands], Any], str]] = {
    "from_dense: sparse": (lambda g: sparse.from_dense(g.s), "is sparse.*Instead: xo.sparse.convert"),
    "from_dense: an unknown format": (lambda g: sparse.from_dense(g.x, "dia"), "'dia'.*coo, csr, csc, bsr"),
    "from_dense: a vector": (lambda g: sparse.from_dense(g.x[0, :], "csr"), "csr"),
    "from_dense: an unknown condition": (lambda g: sparse.from_dense(g.x, g.format, where="gelu"), "gelu.*relu"),
    "from_dense: True": (lambda g: sparse.from_dense(g.x, g.format, where=True), "where=True"),
    "from_dense: NaN": (lambda g: sparse.from_dense(g.x, g.format, where=float("nan")), "where=nan"),
    "from_dense: a mask of numbers": (
        lambda g: sparse.from_dense(g.x, g.format, where=g.ones((4, 6), "int32")),
        "boolean.*int32",
    ),
    "from_dense: a mask of another shape": (
        lambda g: sparse.from_dense(g.x, g.format, where=g.ones((4, 1), "bool")),
        r"shape.*\(4, 1\)",
    ),
    "from_dense: a negative nnz_max": (lambda g: sparse.from_dense(g.x, g.format, nnz_max=-1), "nnz_max=-1"),
    "from_dense: a fractional nnz_max": (lambda g: sparse.from_dense(g.x, g.format, nnz_max=1.5), "nnz_max=1.5"),
    "from_dense: blocks of csr": (lambda g: sparse.from_dense(g.x, "csr", block=(2, 3)), "block.*bsr|csr"),
    "from_dense: bsr without blocks": (lambda g: sparse.from_dense(g.x, "bsr"), "block|bsr"),
    "from_dense: blocks that do not divide the shape": (
        lambda g: sparse.from_dense(g.x, "bsr", block=(3, 3)),
        "3 x 3|bsr",
    ),
    "from_dense: empty blocks": (lambda g: sparse.from_dense(g.x, "bsr", block=(0, 3)), "0 x 3|bsr"),
    "from_dense: a number as block": (lambda g: sparse.from_dense(g.x, "bsr", block=2), "block|bsr"),
    "from_dense: indices of 16 bits": (lambda g: sparse.from_dense(g.x, g.format, index_dtype="int16"), "int16"),
    "to_dense: dense": (lambda g: sparse.to_dense(g.x), "is dense.*Instead:.*xo.sparse.from_dense"),
    "to_dense: a list": (lambda g: sparse.to_dense([[1.0]]), "list"),
    "parts: dense": (lambda g: sparse.parts(g.x), "is dense.*Instead"),
    "validate: dense": (lambda g: sparse.validate(g.x), "is dense.*Instead"),
    "convert: dense": (lambda g: sparse.convert(g.x, "csr"), "is dense.*Instead"),
    "convert: an unknown format": (lambda g: sparse.convert(g.s, "lil"), "'lil'.*coo, csr, csc, bsr"),
    "convert: bsr without blocks": (lambda g: sparse.convert(g.s, "bsr"), "block|bsr"),
    "convert: blocks that do not divide the shape": (lambda g: sparse.convert(g.s, "bsr", block=(4, 5)), "4.*5|bsr"),
    "from_parts: an unknown format": (lambda g: sparse.from_parts("dok", g.x, shape=(4, 6)), "'dok'"),
    "from_parts: an array missing": (
        lambda g: sparse.from_parts("csr", g.x, g.x, shape=(4, 6)),
        "indptr, indices, data",
    ),
    "from_parts: a number": (lambda g: sparse.from_parts("coo", g.x, 2.0, shape=(4, 6)), "data|coo"),
    "transpose: dense": (lambda g: sparse.transpose(g.x), "is dense.*Instead"),
    "add: dense": (lambda g: sparse.add(g.s, g.x), "b is dense.*Instead"),
    "add: dense first": (lambda g: sparse.add(g.x, g.s), "a is dense.*Instead"),
    "add: a number": (lambda g: sparse.add(g.s, 1.0), "b is"),
    "add: another shape": (lambda g: sparse.add(g.s, g.other), r"\(4, 6\) and \(3, 6\)"),
    "multiply: dense by dense": (lambda g: sparse.multiply(g.x, g.x), "dense"),
    "multiply: numbers": (lambda g: sparse.multiply(2.0, 3.0), "multiply"),
    "multiply: another shape": (lambda g: sparse.multiply(g.s, g.other), r"\(4, 6\) and \(3, 6\)"),
    "multiply: shapes that do not broadcast": (lambda g: sparse.multiply(g.s, g.x[:3, :]), r"\(3, 6\).*\(4, 6\)"),
    "multiply: a third axis": (lambda g: sparse.multiply(g.s, xo.stack([g.x, g.x])), r"\(2, 4, 6\)"),
    "sum: an unknown axis": (lambda g: sparse.sum(g.s, axis=2), "axis 2.*Instead"),
    "sum: two axes": (lambda g: sparse.sum(g.s, axis=(0, 1)), "axis"),
    "sum: dense": (lambda g: sparse.sum(g.x), "is dense.*Instead"),
    "matmul: inner extents": (lambda g: xo.matmul(g.s, g.x), r"(?s)\(4, 6\).*\(4, 6\)"),
    "matmul: sparse inner extents": (lambda g: xo.matmul(g.s, g.other), r"(?s)\(4, 6\).*\(3, 6\)"),
    "matmul: three axes": (lambda g: xo.matmul(g.s, xo.stack([g.x, g.x])), r"\(2, 4, 6\)"),
    "matmul: a number": (lambda g: xo.matmul(g.s, 2.0), "matmul"),
    "matmul: a list": (lambda g: xo.matmul(g.s, [1.0] * 6), "list"),
    "sddmm: a dense pattern": (lambda g: sparse.sddmm(g.x, g.x, g.x), "pattern is dense.*Instead"),
    "sddmm: a sparse factor": (lambda g: sparse.sddmm(g.s, g.x, g.other), "a is sparse.*Instead"),
    "sddmm: the pattern as a factor": (lambda g: sparse.sddmm(g.square, g.x[:, :4], g.square), "a is sparse"),
    "abs: dense": (lambda g: sparse.abs(g.x), "is dense.*Instead"),
    "sqrt: a list": (lambda g: sparse.sqrt([1.0]), "list"),
    "power: zero": (lambda g: sparse.power(g.s, 0), "above 0.*Instead"),
    "power: a negative exponent": (lambda g: sparse.power(g.s, -1.5), "-1.5.*above 0"),
    "power: an array": (lambda g: sparse.power(g.s, g.x), "above 0"),
    "maximum: another number": (lambda g: sparse.maximum(g.s, 1), "b is 1.*Instead"),
    "maximum: dense": (lambda g: sparse.maximum(g.s, g.x), "b is dense.*Instead"),
    "maximum: another shape": (lambda g: sparse.maximum(g.s, g.other), r"\(4, 6\) and \(3, 6\)"),
    "scale: no factors": (lambda g: sparse.scale(g.s), "rows=, columns= or both"),
    "scale: a number": (lambda g: sparse.scale(g.s, rows=2.0), r"rows is one number.*Instead.*multiply\(s, 2\.0\)"),
    "scale: too many factors": (lambda g: sparse.scale(g.s, g.x[0, :]), r"rows has shape \(6,\), not \(4,\)"),
    "scale: a matrix of factors": (lambda g: sparse.scale(g.s, columns=g.x), r"columns has shape \(4, 6\)"),
    "scale: sparse factors": (lambda g: sparse.scale(g.s, g.s), "rows is sparse.*Instead"),
    "take: a list": (lambda g: sparse.take(g.s, [0]), "list"),
    "take: floats": (lambda g: sparse.take(g.s, g.x[:, 0]), "neither integers nor a mask"),
    "take: two axes of indices": (lambda g: sparse.take(g.s, g.x), "one axis"),
    "take: a short mask": (lambda g: sparse.take(g.s, g.ones((3,), "bool")), "3 items.*axis 0 of s has 4"),
    "take: an unknown axis": (lambda g: sparse.take(g.s, g.ones((4,), "bool"), axis=2), "axis 2.*Instead"),
    "concat: nothing": (lambda g: sparse.concat([]), "at least one"),
    "concat: one container": (lambda g: sparse.concat(g.s), "list or tuple"),
    "concat: dense": (lambda g: sparse.concat([g.s, g.x]), r"containers\[1\] is dense.*Instead"),
    "concat: another shape": (lambda g: sparse.concat([g.s, g.other], axis=1), r"\(4, 6\) and \(3, 6\)"),
    "concat: no axis": (lambda g: sparse.concat([g.s, g.s], axis=None), "axis None"),
    "count: an unknown axis": (lambda g: sparse.count(g.s, axis=2), "axis 2.*Instead"),
    "norm: dense": (lambda g: sparse.norm(g.x), "is dense.*Instead"),
    "subtract: dense": (lambda g: sparse.subtract(g.s, g.x), "is dense.*Instead"),
    "subtract: shapes": (lambda g: sparse.subtract(g.s, g.other), r"\(4, 6\) and \(3, 6\)"),
    "divide: sparse": (lambda g: sparse.divide(g.s, g.s), "b is sparse.*Instead"),
    "divide: shapes": (lambda g: sparse.divide(g.s, g.ones((5,), "float32")), "cannot be broadcast"),
    "mean: an unknown axis": (lambda g: sparse.mean(g.s, axis=2), "axis 2.*Instead"),
    "topk: too many": (lambda g: sparse.topk(g.s, 7), "k is 7, but axis 1 of s has 6"),
    "topk: a fraction": (lambda g: sparse.topk(g.s, 1.5), "k=1.5 is not an integer"),
    "diagonal: dense": (lambda g: sparse.diagonal(g.x), "is dense.*Instead"),
    "sddmm: shapes": (lambda g: sparse.sddmm(g.x, g.x, g.s), r"\(4, 6\), \(4, 6\) and \(4, 6\)"),
}
"""Calls that raise, and a pattern of the error message."""
MIXED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sparse.add": lambda x, s, foreign: xo.sparse.add(s, foreign),
    "sparse.multiply": lambda x, s, foreign: xo.sparse.multiply(s, foreign),
    "sparse.subtract": lambda x, s, foreign: xo.sparse.subtract(s, foreign),
    "sparse.divide": lambda x, s, foreign: xo.sparse.divide(s, foreign),
    "sparse.from_dense": lambda x, s, foreign: xo.sparse.from_dense(x, where=foreign),
    "sparse.from_parts": lambda x, s, foreign: xo.sparse.from_parts("coo", x, foreign, shape=(4, 6)),
    "matmul": lambda x, s, foreign: xo.matmul(s, foreign),
    "sparse.sddmm": lambda x, s, foreign: xo.sparse.sddmm(x, foreign, s),
    "sparse.maximum": lambda x, s, foreign: xo.sparse.maximum(s, foreign),
    "sparse.scale": lambda x, s, foreign: xo.sparse.scale(s, columns=foreign),
    "sparse.take": lambda x, s, foreign: xo.sparse.take(s, foreign),
    "sparse.concat": lambda x, s, foreign: xo.sparse.concat([s, foreign]),
}
OF_ONE = ("from_dense", "to_dense", "parts", "validate", "transpose", "sum", "count", "mean", "norm", "diagonal")
GAPS: dict[str, Callable[[Any], Any]] = {
    **{f"sparse.{verb}": getattr(xo.sparse, verb) for verb in (*OF_ONE, *ELEMENTWISE) if verb != "power"},
    "sparse.from_parts": lambda x: xo.sparse.from_parts("coo", x, x, shape=(2, 2)),
    "sparse.convert": lambda x: xo.sparse.convert(x, "csr"),
    "sparse.add": lambda x: xo.sparse.add(x, x),
    "sparse.multiply": lambda x: xo.sparse.multiply(x, x),
    "sparse.sddmm": lambda x: xo.sparse.sddmm(x, x, x),
    "sparse.power": lambda x: xo.sparse.power(x, 2),
    "sparse.maximum": lambda x: xo.sparse.maximum(x, 0),
    "sparse.scale": lambda x: xo.sparse.scale(x, x[:, 0], x[0, :]),
    "sparse.take": lambda x: xo.sparse.take(x, x[:, 0]),
    "sparse.concat": lambda x: xo.sparse.concat([x, x]),
}
"""Each verb with dense arrays, for libraries without containers."""


@depends_on(containers=True)
class SparseRefusalSuite(Containers):
    """Errors of the sparse verbs."""

    @depends_on(containers=False)
    @exercises(*GAPS)
    @pytest.mark.parametrize("verb", GAPS)
    def test_sparse_gap(self, variant: Variant, verb: str) -> None:
        """A library without containers raises, and the message says what to do instead."""
        if variant.sparse is not None:
            pytest.skip(f"{variant} has sparse containers")
        with pytest.raises(xo.Unsupported, match="Instead"):
            GAPS[verb](variant.make(GENERAL.dense()))

    @exercises("sparse.from_parts", "sparse.validate", "sparse.to_dense", "matmul")
    @pytest.mark.parametrize(("format", "what"), [(f, what) for f in FORMATS for what in FAULTS[f]])
    def test_sparse_malformed(self, variant: Variant, containers: SparseBackend, format: str, what: str) -> None:
        """The error names the first invalid item; ``validate`` and all verbs raise it for native containers, too."""
        if format not in containers.formats:
            pytest.skip(f"{variant} does not support {format}")
        if containers.pads and what == "a last pointer too small":
            pytest.skip(f"{variant} accepts padding after the last row")
        change, pattern = FAULTS[format][what]
        host, shape = malformed(format, change)
        arrays = [variant.make(x) for x in host.values()]
        with pytest.raises(xo.InvalidSparse, match=rf"xo\.sparse\.from_parts\(\"{format}\"\): .*({pattern})"):
            xo.sparse.from_parts(format, *arrays, shape=shape)
        if what not in IN_VALUES:
            return
        try:
            s = xo.sparse.from_parts(format, *arrays, shape=shape, check=False)
        except ValueError:
            return  # the library checks it
        with pytest.raises(xo.InvalidSparse, match=rf"xo\.sparse\.validate\(.*({pattern})"):
            xo.sparse.validate(s, canonical=True)
        if what in UNSAFE and str(variant.device) == "cpu":
            x = variant.make(np.ones((shape[1], 2), "float32"))
            uses = (partial(xo.sparse.to_dense, s), partial(xo.matmul, s, x), partial(xo.sparse.sum, s, axis=0))
            check_raises(xo.InvalidSparse, pattern, *uses)

    @exercises("sparse.from_parts")
    @pytest.mark.parametrize("shape", [(3,), (3, 4, 1), (3, -4), (-3, 4), (3.5, 4), ("3", 4), (), 12, None, (2, 4)])
    def test_sparse_shapes(self, variant: Variant, containers: SparseBackend, shape: Any) -> None:
        """A shape that is invalid, or does not match the parts, raises."""
        for format in set(containers.formats) - {"bsr"}:
            host, _ = malformed(format, {})
            with pytest.raises(REFUSALS, match="from_parts"):
                xo.sparse.from_parts(format, *map(variant.make, host.values()), shape=shape)

    @exercises(*{f"sparse.{label.partition(':')[0]}" for label in WRONG} - {"sparse.matmul"}, "matmul")
    @pytest.mark.parametrize("wrong", WRONG)
    def test_sparse_refusals(self, variant: Variant, containers: SparseBackend, wrong: str) -> None:
        """An invalid operand raises; the message names the operand and the verb."""
        use, pattern = WRONG[wrong]
        with pytest.raises(REFUSALS, match=f"(?s){pattern}") as caught:
            use(Operands(variant))
        verb = wrong.partition(":")[0]
        assert f"xo.{'' if verb == 'matmul' else 'sparse.'}{verb}" in str(caught.value), caught.value

    @exercises("sparse.from_dense", "sparse.from_parts")
    @pytest.mark.parametrize("dtype", [*ALL, *LOW_PRECISION])
    def test_sparse_dtypes(self, variant: Variant, containers: SparseBackend, dtype: str) -> None:
        """Containers keep the dtype, or raise with the reason that the backend declares."""
        x = cast(variant, variant.make(np.abs(GENERAL.dense())), dtype)
        why = containers.dtype_refusal(dtype)
        for format in containers.formats:
            if why is None:
                s = xo.sparse.from_dense(x, format, block=block_of(format, GENERAL.shape))
                assert s.dtype == x.dtype
                assert xo.sparse.to_dense(s).dtype == x.dtype
                continue
            p = parts_of(distinct(), format, "int32", block_of(format, GENERAL.shape))
            indices = [variant.make(a) for name, a in p.arrays.items() if name != "data"]
            data = xo.astype(variant.make(p.data), dtype)
            assert "Instead" in why
            check_raises(
                xo.Unsupported,
                re.escape(why),
                partial(xo.sparse.from_dense, x, format, block=p.block),
                partial(xo.sparse.from_parts, format, *indices, data, shape=GENERAL.shape),
            )

    @exercises(*MIXED)
    @pytest.mark.parametrize("verb", MIXED)
    def test_sparse_of_mixed_libraries(self, variant: Variant, containers: SparseBackend, verb: str) -> None:
        """An array of another library with a container raises, and the message says what to do instead."""
        g = Operands(variant)
        check_mixed(variant, verb, partial(MIXED[verb], g.x, g.s))

    @exercises("add", "sum")
    def test_containers_with_dense_verbs(self, variant: Variant, containers: SparseBackend) -> None:
        """Dense verbs refuse containers that are not arrays of the library, and name the sparse verbs."""
        if variant.backend.has_sparse_layouts:
            pytest.skip(f"{variant} has no containers of a separate class")
        g = Operands(variant)
        uses = (partial(xo.add, g.s, g.s), partial(xo.add, g.x, g.s), partial(xo.sum, g.s))
        check_raises(xo.Unsupported, r"sparse.*Instead: .*xo\.sparse", *uses)
