"""Parts of sparse containers, what `from_dense` is asked for, and the hooks of a companion, with their laws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from xarrayops._protocol.types import Array

Container = Any
"""A native sparse container: of SciPy, PyTorch, CuPy or JAX."""

FORMATS = ("coo", "csr", "csc", "bsr")
INDICES = ("int32", "int64")
"""The dtypes of indices, the narrowest first."""


class SparseSupport(NamedTuple):
    """Where a library's sparse containers are served.

    ``module`` is the companion's name. ``classes`` is the package in which the classes of containers are defined; empty
    where they are the library's arrays with another layout. ``extra`` brings what the companion imports.
    """

    module: str
    classes: str = ""
    extra: str = ""


def names_of_arrays(format: str) -> tuple[str, ...]:
    """The names of the arrays of a format, in the order in which ``from_parts`` takes them."""
    return ("coords", "data") if format == "coo" else ("indptr", "indices", "data")


class Parts(NamedTuple):
    """The arrays of which a sparse container consists, native to its library and not copied.

    ``csr`` and ``csc``: ``indptr`` (rows + 1,), or for csc (columns + 1,); ``indices`` (nnz,), ``data`` (nnz,).
    ``bsr``: the same of blocks, ``data`` ``(blocks, *block)``. ``coo``: ``coords`` (ndim, nnz) and ``data`` (nnz,).
    Between a companion and the kernels ``coords`` may be a tuple of ndim arrays (nnz,): see ``seen`` above.
    """

    format: str
    shape: tuple[int, ...]
    data: Array
    indices: Array = None
    indptr: Array = None
    coords: Array = None
    block: tuple[int, int] | None = None
    sorted: bool | None = None
    """Whether the entries of each row (or column) are in order, as far as the container knows."""
    unique: bool | None = None
    """Whether no place has two entries, as far as the container knows."""

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays by name, in the order in which ``from_parts`` takes them."""
        return {name: getattr(self, name) for name in names_of_arrays(self.format)}

    @property
    def single_arrays(self) -> dict[str, Array]:
        """The same; coords that are a tuple are an array for each axis, by names such as ``coords[0]``."""
        found: dict[str, Array] = {}
        for name, x in self.arrays.items():
            found |= {f"{name}[{k}]": each for k, each in enumerate(x)} if isinstance(x, tuple) else {name: x}
        return found

    def map(self, function: Callable[[Array], Array], *, values: bool = True) -> Parts:
        """The parts with what the function gives for each single array, without ``values`` for those of indices."""
        made: dict[str, Any] = {}
        for name, x in self.arrays.items():
            if values or name != "data":
                made[name] = tuple(map(function, x)) if isinstance(x, tuple) else function(x)
        return self._replace(**made)


class Compaction(NamedTuple):
    """What ``from_dense`` is asked for, checked.

    ``where`` is None, "relu", a number or a bool array of x's shape; ``index_dtype`` is a dtype's name, or None for the
    narrowest that fits; ``block`` belongs to bsr alone.
    """

    format: str
    where: Any = None
    index_dtype: str | None = None
    block: tuple[int, int] | None = None
    nnz_max: int | None = None

    def __str__(self) -> str:
        kept = f"where of shape {tuple(self.where.shape)}" if hasattr(self.where, "shape") else f"where={self.where!r}"
        return f"{self.format}, {kept}, index_dtype={self.index_dtype}, block={self.block}, nnz_max={self.nnz_max}"


class SparseHooks:
    """The verbs of a companion: names, signatures and laws. A namespace to read, never instantiated.

    Results are canonical, that is sorted and without duplicates, but for a transpose over the same arrays. Operands
    need not be, but their indices are within bounds.
    """

    @staticmethod
    def from_dense(x: Array, request: Compaction, /) -> Container:
        """The entries of x that ``request.where`` keeps. Law: ``to_dense(from_dense(x)) == x``."""
        raise NotImplementedError

    @staticmethod
    def to_dense(s: Container, /) -> Array:
        """The array of the container's shape; duplicates are summed."""
        raise NotImplementedError

    @staticmethod
    def convert(s: Container, format: str, block: tuple[int, int] | None, /) -> Container:
        """The same matrix in another format, or, in its own, canonical."""
        raise NotImplementedError

    @staticmethod
    def matmul(a: Container | Array, b: Container | Array, /) -> Container | Array:
        """The product; sparse if both are, in the format of a (csr for bsr). A dense operand has one axis or two."""
        raise NotImplementedError

    @staticmethod
    def transpose(s: Container, /) -> Container:
        """The transpose of a matrix: csr gives csc and csc gives csr where the library has both."""
        raise NotImplementedError

    @staticmethod
    def add(a: Container, b: Container, /) -> Container:
        """The sum of two containers of one shape, in the format of a."""
        raise NotImplementedError

    @staticmethod
    def multiply(a: Container, b: Container | Array | float, /) -> Container:
        """The product element by element, in the format of a; b is dense, a number, or of the shape of a."""
        raise NotImplementedError

    @staticmethod
    def sum(s: Container, axis: int | None, /) -> Array:
        """The sum over an axis, or of all: dense, in the dtype that the standard's sum gives."""
        raise NotImplementedError

    @staticmethod
    def sddmm(a: Array, b: Array, pattern: Container, /) -> Container:
        """The places of the pattern with the elements of ``a @ b`` there."""
        raise NotImplementedError


VERBS = tuple(name for name, member in vars(SparseHooks).items() if isinstance(member, staticmethod))
"""Every verb of a companion."""
OF_CONTAINERS = ("matmul", "device", "is_lazy")
"""The verbs of the main namespace that take containers of classes of their own."""
