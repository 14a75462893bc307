"""JAX's sparse matrices, BCOO and BCSR: the companion of the JAX backend.

JAX pads: entries whose indices lead out of the matrix fill a container up to a number of entries that is known while
tracing. What concrete calls give has none, but where ``nnz_max`` asks for it.

The host kernels serve concrete arrays in host memory, for they need not be compiled anew for each number of entries.
All else is served by `_sparse_programs`, which JAX traces and differentiates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.sparse import BCOO, BCSR, JAXSparse

from xarrayops.errors import Unsupported
from xarrayops.plugin import Array, Call
from xarrayops.plugin.sparse import Compaction, Container, Parts
from xarrayops_backends.jax import _sparse_programs as programs
from xarrayops_backends.jax._devices import _kind, device, is_lazy
from xarrayops_backends.jax._dtypes import _CONFIG, _DEFAULTED
from xarrayops_backends.jax._exchange import _SHARED, from_numpy, memory, to_numpy

FORMATS = ("coo", "csr")
PAIRS = 1 << 22
"""Pairs of an entry of each operand, at most, that a traced product of two containers looks at."""

_CUSPARSE_DTYPES = ("float32", "float64", "complex64", "complex128")
_HOST_DTYPES = frozenset(_SHARED.values())
_ON_HOST = "the host kernels serve concrete arrays in host memory, without compiling for each number of entries"


def holds(x: Any, /) -> bool:
    """Containers of all classes, those that we do not serve too."""
    return isinstance(x, JAXSparse)


def parts(s: Container, /) -> Parts:
    """BCOO keeps the indices of each entry together, so that its coords are a copy."""
    data = values(s)
    if isinstance(s, BCSR):
        p = Parts("csr", s.shape, data, s.indices, s.indptr)
    else:
        p = Parts("coo", s.shape, data, coords=_turned(s.indices))
    return p._replace(sorted=s.indices_sorted or None, unique=s.unique_indices or None)


def values(s: Container, /) -> Array:
    """The data of a container that we serve."""
    if not isinstance(s, (BCOO, BCSR)):
        raise Unsupported(f"JAX's {type(s).__name__} is neither BCOO nor BCSR. Instead: BCOO.fromdense(s.todense())")
    if s.n_batch or s.n_dense:
        way_out = "jax.vmap over the batch, or jax.experimental.sparse.bcoo_update_layout(s, n_batch=0, n_dense=0)"
        raise Unsupported(f"{s} has batch or dense axes, which no other library has. Instead: {way_out}")
    return s.data


def wrap(p: Parts, /) -> Container:
    """BCOO keeps the indices of each entry together: they are a copy of the coords."""
    known = {"indices_sorted": bool(p.sorted), "unique_indices": bool(p.unique)}
    if p.format == "csr":
        return BCSR((p.data, p.indices, p.indptr), shape=tuple(p.shape), **known)
    return BCOO((p.data, _turned(p.coords)), shape=tuple(p.shape), **known)


def _turned(x: Array) -> Array:
    """The transpose, in host memory by our own hands: JAX compiles a transposition for each number of entries."""
    return from_numpy(to_numpy(x).T, x.device) if _is_on_host(x) else x.T


def unpadded(p: Parts, /) -> Parts:
    """Without entries all of whose coords are beyond the extents, or that stand behind the last row."""
    if p.format == "coo":
        extents = np.asarray(p.shape)
        if p.coords.shape != (*extents.shape, *p.data.shape) or extents.ndim != 1 or extents.dtype.kind != "i":
            return p  # malformed, as its check reports
        padding = (p.coords >= extents[:, None]).all(axis=0)
        return p._replace(coords=p.coords[:, ~padding], data=p.data[~padding]) if padding.any() else p
    if p.indptr.size == 0 or p.indices.shape != p.data.shape or not 0 <= p.indptr.flat[-1] < p.indices.size:
        return p
    count = int(p.indptr.flat[-1])
    return p._replace(indices=p.indices[:count], data=p.data[:count])


def _is_on_host(x: Array) -> bool:
    """Whether NumPy sees the values where they are, which need not be there yet."""
    if is_lazy(x) or x.dtype not in _HOST_DTYPES:
        return False
    place = memory(x)
    return place is not None and place.device == "cpu"


def is_sound(p: Parts, /, *, canonical: bool) -> Array:
    """As one program, for single operations would be compiled one by one; at once also where the values are traced."""
    indices = {name: x for name, x in p.arrays.items() if name != "data"}
    with jax.ensure_compile_time_eval():
        return programs.is_sound(indices, p.format, tuple(p.shape), canonical)


def _arrays(x: Any) -> tuple[Array, ...]:
    """The arrays that an argument consists of."""
    leaves = jax.tree.leaves(x.where if isinstance(x, Compaction) else x)
    return tuple(leaf for leaf in leaves if hasattr(leaf, "dtype"))


def _is_traced(*args: Any) -> bool:
    return any(is_lazy(leaf) for x in args for leaf in _arrays(x))


def _on_host_refusal(call: Call, /) -> str | None:
    """Whatever the host kernels do as well."""
    return _left_to_host(call.args, call.args)


def _left_to_host(args: tuple[Any, ...], operands: tuple[Any, ...]) -> str | None:
    """Why concrete arrays are left to the host kernels; not where NumPy would promote the dtypes of operands."""
    if not all(_is_on_host(leaf) for x in args for leaf in _arrays(x)):
        return None
    values = [x.dtype if hasattr(x, "dtype") else x for x in operands if hasattr(x, "dtype") or type(x) in _DEFAULTED]
    alike = all(jnp.result_type(*values) == x for x in values if isinstance(x, np.dtype))
    return _ON_HOST if alike else None


def _sddmm_refusal(call: Call, /) -> str | None:
    """The values of the pattern do not count."""
    return _left_to_host(call.args, call.args[:2])


def _sum_refusal(call: Call, /) -> str | None:
    """NumPy sums integers in 64 bits, whether JAX has them or not."""
    fits = _CONFIG.jax_enable_x64 or jnp.issubdtype(call.args[0].dtype, jnp.inexact)
    return _on_host_refusal(call) if fits else None


def _matmul_refusal(call: Call, /) -> str | None:
    a, b = call.args
    if not (holds(a) and holds(b)) or a.nse * b.nse <= PAIRS:
        return _on_host_refusal(call)
    return (
        f"JAX finds the entries that meet among all pairs, which are {a.nse} x {b.nse} here, more than {PAIRS}. "
        "Instead: outside of jax.jit and jax.grad, or xo.sparse.to_dense of one operand"
    )


def _cusparse_refusal(call: Call, /) -> str | None:
    """Why JAX's own product serves, which gathers and scatters an intermediate of entries times columns on a GPU.

    JAX's product of BCSR calls cuSPARSE itself only behind a switch of the whole process.
    """
    a, b = call.args
    if holds(a) and holds(b):
        return "it multiplies by dense arrays"
    if _is_traced(a, b):
        return "it takes concrete arrays: JAX cannot batch its calls of cuSPARSE"
    if not all(_is_on_cuda(leaf) for x in call.args for leaf in _arrays(x)):
        return "the values are not on a CUDA device"
    s = a if holds(a) else b
    if isinstance(s, BCOO) and not s.indices_sorted:
        return "it takes rows one after the other. Instead: xo.sparse.convert(s, 'csr')"
    if s.indices.dtype != jnp.int32:
        return f"it takes int32 indices, not {s.indices.dtype}"
    dtype = jnp.result_type(a.dtype, b.dtype)
    if dtype.name not in _CUSPARSE_DTYPES:
        return f"cuSPARSE multiplies {', '.join(_CUSPARSE_DTYPES)}, not {dtype}"
    return "cuSPARSE has no empty matrices" if 0 in (*a.shape, *b.shape, s.nse) else None


def _is_on_cuda(x: Array) -> bool:
    """Whether x is on one GPU of NVIDIA; its values are not waited for."""
    place = device(x)
    return isinstance(place, jax.Device) and _kind(place) == "cuda"


def _from_dense_refusal(call: Call, /) -> str | None:
    x, request = call.args
    if _is_traced(x, request) and request.nnz_max is None:
        return "under jax.jit, grad and vmap the number of entries must not depend on values. Instead: give nnz_max"
    wide = request.index_dtype == "int64" and not _CONFIG.jax_enable_x64
    return _on_host_refusal(call) if request.nnz_max is None and not wide else None


def _from_dense(x: Array, request: Compaction, /) -> Container:
    """Room for ``nnz_max`` entries, or for as many as there are."""
    where, size = request.where, request.nnz_max
    if not _is_traced(x, request):
        found = int(programs.kept(x, where).sum())
        if size is not None and found > size:
            raise ValueError(f"x has {found} entries to keep, more than nnz_max={size}")
        size = found if size is None else size
    mask, rule = (where, None) if hasattr(where, "dtype") else (None, where)
    return programs.from_dense(x, mask, request.format, rule, size, request.index_dtype)


def _shed(result: Any) -> Any:
    """A concrete container without its padding, which stands last."""
    if not holds(result) or _is_traced(result):
        return result
    p = parts(result)
    if p.format == "csr":
        count = int(p.indptr[-1])
        return wrap(p._replace(indices=p.indices[:count], data=p.data[:count]))
    count = int((p.coords[0] < p.shape[0]).sum())
    return wrap(p._replace(coords=p.coords[:, :count], data=p.data[:count]))


def _canonical(s: Container) -> Container:
    """A concrete container made canonical; a traced one as it is, for to sort it would cost more than the verb."""
    return s if _is_traced(s) else _convert(s, programs.format_of(s), None)


def _convert(s: Container, format: str, block: None, /) -> Container:
    return _shed(programs.convert(s, format))


def _matmul(a: Container | Array, b: Container | Array, /) -> Container | Array:
    return _shed(programs.matmul(a, b))


def _transpose(s: Container, /) -> Container:
    result = programs.transpose(_canonical(s))
    return result if _is_traced(s) else _canonical(result)


def _add(a: Container, b: Container, /) -> Container:
    return _shed(programs.add(a, b))


def _multiply(a: Container, b: Container | Array | float, /) -> Container:
    return _shed(programs.multiply(_canonical(a), b))


def _sddmm(a: Array, b: Array, pattern: Container, /) -> Container:
    return _shed(programs.sddmm(a, b, pattern))


def _only(function: Callable[..., Any], refusal: Callable[[Call], str | None] = _on_host_refusal) -> list[Any]:
    """The one kernel of JAX's own."""
    return [("jax", function, refusal)]


FROM_DENSE_CANDIDATES = _only(_from_dense, _from_dense_refusal)
TO_DENSE_CANDIDATES = _only(programs.to_dense)
CONVERT_CANDIDATES = _only(_convert)
MATMUL_CANDIDATES = [("cusparse", programs.cusparse, _cusparse_refusal), *_only(_matmul, _matmul_refusal)]
TRANSPOSE_CANDIDATES = _only(_transpose)
ADD_CANDIDATES = _only(_add)
MULTIPLY_CANDIDATES = _only(_multiply)
SUM_CANDIDATES = _only(programs.sum, _sum_refusal)
SDDMM_CANDIDATES = _only(_sddmm, _sddmm_refusal)
