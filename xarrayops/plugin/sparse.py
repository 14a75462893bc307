"""The contract of the sparse companion of a backend module, with laws.

A backend whose library has sparse containers names a companion module with ``SPARSE = SparseSupport(...)``. This is a
module of plain functions, like the backend itself; the first sparse call imports it.

Data and functions that a companion must define:

``FORMATS``
    The members of `FORMATS` that the library's containers support.
``holds(x, /) -> bool``
    Whether x is one of the library's sparse containers.
``parts(s, /) -> Parts``
    The arrays of a container, without a copy or a check, and without reading a value.
``wrap(p, /) -> container``
    A container that shares these arrays, without a check or a copy. Law: ``parts(wrap(p))`` has the arrays of p.

What it may define:

``INDEX_DTYPES``
    A mapping from a format to the names of its index dtypes, the narrowest first. Default: `INDICES`.
``dtype_refusal(dtype, /) -> str | None``
    Why containers cannot hold values of the dtype with that name, and what to do instead; None if they can.
``place_refusal(x, /) -> str | None``
    Why results of host kernels would not be on the device of x, whose memory is the host's. Default: None, they are.
``seen(s, /) -> Parts``
    The parts as kernels read them, if ``parts`` would copy: ``coords`` of coo may be a tuple of ndim arrays (nnz,) that
    are not adjacent in memory.
``values(s, /) -> array``
    The values, if ``seen`` would copy or wait for the other arrays.
``with_values(s, data, /) -> container``
    A container with the indices of s, which is canonical, and new values. Default: by ``seen`` and ``wrap``.
``is_sound(p, /, *, canonical) -> array``
    Whether the indices of parts on an accelerator are valid, as a boolean array of shape () of the library, without
    synchronisation. It may be False for valid parts; then the host checks them. Default: the generic `is_sound`.
``unpadded(p, /) -> Parts``
    Parts in host memory without padding entries, if the library has them.
``untraced(function, /) -> function``
    The function, excluded from compilation if the library's compiler cannot trace sparse containers.
``VERB_CANDIDATES = [(name, function, refusal), ...]`` for a VERB (in capitals)
    The kernels that may serve it, best first. The host kernels of xarrayops follow, then its generic functions.

The verbs are `ELEMENTWISE`, which take a container and numbers, and the following. Results are canonical, that is
sorted and without duplicates; a transpose over the same arrays need not be. Operands need not be canonical, but their
indices are within bounds. Exceptions: the operands of `ELEMENTWISE` and of the verbs from ``maximum`` on are canonical;
those of ``add`` and ``multiply`` are canonical in host memory.

``from_dense(x, request, /) -> container``
    The entries of x that ``request.where`` keeps. Law: ``to_dense(from_dense(x)) == x``.
``to_dense(s, /) -> array``
    The array of the container's shape; duplicates are summed.
``convert(s, format, block, /) -> container``
    The matrix in another format; for its own format, the canonical matrix.
``matmul(a, b, /) -> container or array``
    The product; if both are sparse, in the format of a, or csr if a is bsr. A dense operand has 1 or 2 axes.
``transpose(s, /) -> container``
    The transpose of a matrix. If the library has csr and csc, each becomes the other.
``add(a, b, /) -> container``
    The sum of two containers of the same shape, in the format of a.
``multiply(a, b, /) -> container``
    The elementwise product, in the format of a. b is dense, a number, or a container of the shape of a.
``sum(s, axis, /) -> array``
    The sum along an axis, or of all elements, as a dense array with the dtype of the standard's sum.
``sddmm(a, b, pattern, /) -> container``
    The elements of ``a @ b`` at the stored positions of the pattern.
``maximum(a, b, /) -> container``
    The larger value at each position of a or b, in the format of a. A number b is 0.
``scale(s, rows, columns, /) -> container``
    Each value times the factors of its row and its column. The result may share the indices of s.
``take(s, indices, axis, /) -> container``
    The selected rows or columns, in the format of s, or csr if s is bsr. Indices may be a mask, or negative.
``concat(axis, /, *containers) -> container``
    The matrices joined along an axis, in the format of the first, or csr if that is bsr.
``count(s, axis, /) -> array``
    The number of values that are not zero, with the dtype of a sum of booleans.
``norm(s, axis, /) -> array``
    The 2-norm of each column (axis 0), of each row (axis 1) or of all values, as a dense array.
``diagonal(s, /) -> array``
    The values at equal row and column, as a dense array of the dtype of s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xarrayops.plugin.arrays import Array, Record

Container = Any
"""A native sparse matrix of SciPy, PyTorch, CuPy or JAX."""

FORMATS = ("coo", "csr", "csc", "bsr")
ELEMENTWISE = {
    **{name: name for name in ("abs", "sign", "sqrt", "square", "expm1", "log1p", "sin", "tan", "tanh", "negative")},
    "power": "pow",
}
"""The verbs that apply a function of the namespace to the stored values, with the name of the function."""
INDICES = ("int32", "int64")
"""The index dtypes, the narrowest first."""


class SparseSupport(Record):
    """The companion module that serves the sparse containers of a library.

    ``module`` is its name. ``classes`` is the package that defines the classes of the containers; it is empty if they
    are the array classes of the library. ``extra`` is the extra of xarrayops that installs what the companion imports.
    """

    module: str
    classes: str = ""
    extra: str = ""


def names_of_arrays(format: str) -> tuple[str, ...]:
    """The names of the arrays of a format, in the order of the arguments of ``from_parts``."""
    return ("coords", "data") if format == "coo" else ("indptr", "indices", "data")


class Parts(Record):
    """The arrays of a sparse container, native to its library and not copied.

    ``csr`` and ``csc``: ``indptr`` (rows + 1,), or for csc (columns + 1,); ``indices`` (nnz,), ``data`` (nnz,).
    ``bsr``: the same, counted in blocks; ``data`` is ``(blocks, *block)``. ``coo``: ``coords`` (ndim, nnz) and ``data``
    (nnz,). Kernels also get ``coords`` as a tuple of ndim arrays (nnz,): see ``seen`` in `xarrayops.plugin.sparse`.
    """

    format: str
    shape: tuple[int, ...]
    data: Array
    indices: Array = None
    indptr: Array = None
    coords: Array = None
    block: tuple[int, int] | None = None
    sorted: bool | None = None
    """Whether the entries of each row (or column) are sorted; None if the container does not record it."""
    unique: bool | None = None
    """Whether there are no duplicates; None if the container does not record it."""

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays by name, in the order of the arguments of ``from_parts``."""
        return {name: getattr(self, name) for name in names_of_arrays(self.format)}

    @property
    def single_arrays(self) -> dict[str, Array]:
        """The arrays by name. If coords is a tuple, each of its arrays has its own name, such as ``coords[0]``."""
        found: dict[str, Array] = {}
        for name, x in self.arrays.items():
            found |= {f"{name}[{k}]": each for k, each in enumerate(x)} if isinstance(x, tuple) else {name: x}
        return found

    def map(self, function: Callable[[Array], Array], *, values: bool = True) -> Parts:
        """The parts with the function applied to each single array; with ``values=False`` only to the indices."""
        made: dict[str, Any] = {}
        for name, x in self.arrays.items():
            if values or name != "data":
                made[name] = tuple(map(function, x)) if isinstance(x, tuple) else function(x)
        return self._replace(**made)


class Compaction(Record):
    """The checked arguments of ``from_dense``.

    ``where`` is None, "relu", a number or a bool array of x's shape; ``index_dtype`` is the name of a dtype, or None
    for the narrowest that fits; ``block`` is for bsr only.
    """

    format: str
    where: Any = None
    index_dtype: str | None = None
    block: tuple[int, int] | None = None
    nnz_max: int | None = None

    def __str__(self) -> str:
        kept = f"where of shape {tuple(self.where.shape)}" if hasattr(self.where, "shape") else f"where={self.where!r}"
        return f"{self.format}, {kept}, index_dtype={self.index_dtype}, block={self.block}, nnz_max={self.nnz_max}"


_HOOKS = (
    *("from_dense", "to_dense", "convert", "matmul", "transpose", "add", "multiply", "sum", "sddmm", "maximum"),
    *("scale", "take", "concat", "count", "norm", "diagonal", "astype", "subtract", "divide", "mean", "topk"),
)
VERBS = (*_HOOKS, *ELEMENTWISE)
"""All verbs of a companion."""
CANONICAL_OPERANDS = frozenset((*_HOOKS[_HOOKS.index("maximum") :], *ELEMENTWISE))
"""The verbs whose operands are canonical everywhere."""
MERGED = frozenset(("add", "multiply"))
"""The verbs whose operands are canonical in host memory."""
READ_IN_PART = frozenset(("take",))
"""The verbs whose host kernel reads and checks only a part of its operand; other kernels get a canonical operand."""
CONTAINER_VERBS = ("matmul", "device", "is_lazy")
"""The verbs of the main namespace that accept containers too."""
SPARSE_NAMES = {
    **{dense: own for own, dense in ELEMENTWISE.items()},
    **dict.fromkeys(("argmax", "argmin", "argpartition", "argsort", "max", "min", "partition", "sort"), "topk"),
    "count_nonzero": "count",
    **dict.fromkeys(("diag", "linalg.diagonal"), "diagonal"),
    **dict.fromkeys(("linalg.matrix_norm", "linalg.norm", "linalg.vector_norm"), "norm"),
    **dict.fromkeys(("matrix_transpose", "permute_dims"), "transpose"),
}
"""The sparse verbs whose name differs from the function for dense arrays, and those that come nearest to it."""
