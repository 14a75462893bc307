"""The sparse part of the JAX backend: BCOO and BCSR matrices.

JAX pads its containers: padding entries have indices out of bounds, so that the number of entries is known while
tracing. Results of concrete calls have no padding, unless ``nnz_max`` requests it.

The host kernels serve concrete arrays in host memory, because they need no compilation for each number of entries.
The functions of `programs`, which JAX can trace and differentiate, serve all other calls.
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
from xarrayops_backends.jax import _shards
from xarrayops_backends.jax._devices import _index, _kind, device, is_lazy
from xarrayops_backends.jax._dtypes import _CONFIG, _DEFAULTED
from xarrayops_backends.jax._exchange import _SHARED, from_numpy, memory, to_numpy
from xarrayops_backends.jax._sparse import programs

FORMATS = ("coo", "csr")
# The maximum number of pairs of entries that a traced product of two containers compares.
PAIRS = 1 << 22

_CUSPARSE_DTYPES = ("float32", "float64", "complex64", "complex128")
_HOST_DTYPES = frozenset(_SHARED.values())
_ON_HOST = "the host kernels serve concrete arrays in host memory, without compiling for each number of entries"


def holds(x: Any, /) -> bool:
    """Whether x is a sparse container of JAX, of a supported class or not."""
    return isinstance(x, JAXSparse)


def parts(s: Container, /) -> Parts:
    """The arrays of a container. The coords of BCOO are a copy, because BCOO stores the indices entry by entry."""
    data = values(s)
    if isinstance(s, BCSR):
        p = Parts("csr", s.shape, data, s.indices, s.indptr)
    else:
        p = Parts("coo", s.shape, data, coords=_transposed(s.indices))
    return p._replace(sorted=s.indices_sorted or None, unique=s.unique_indices or None)


def values(s: Container, /) -> Array:
    """The data of a supported container."""
    if not isinstance(s, (BCOO, BCSR)):
        raise Unsupported(f"JAX's {type(s).__name__} is neither BCOO nor BCSR. Instead: BCOO.fromdense(s.todense())")
    if s.n_batch or s.n_dense:
        instead = "jax.vmap over the batch, or jax.experimental.sparse.bcoo_update_layout(s, n_batch=0, n_dense=0)"
        raise Unsupported(f"{s} has batch or dense axes, which other libraries do not have. Instead: {instead}")
    return s.data


def wrap(p: Parts, /) -> Container:
    """The container of these arrays. The indices of BCOO are a transposed copy of the coords."""
    p = p._replace(**{name: _shards.gathered(x) for name, x in p.arrays.items()})
    known = {"indices_sorted": bool(p.sorted), "unique_indices": bool(p.unique)}
    if p.format == "csr":
        return BCSR((p.data, p.indices, p.indptr), shape=tuple(p.shape), **known)
    return BCOO((p.data, _transposed(p.coords)), shape=tuple(p.shape), **known)


def with_values(s: Container, data: Array, /) -> Container:
    """A container over the indices of a canonical one."""
    return programs.with_data(s, data, canonical=True)


def _transposed(x: Array) -> Array:
    """The transpose. In host memory NumPy makes it, because JAX would compile it for each number of entries."""
    return from_numpy(to_numpy(x).T, x.device) if _is_on_host(x) else x.T


def unpadded(p: Parts, /) -> Parts:
    """Remove padding: entries with all coords out of bounds (coo), or after the last row (csr)."""
    if p.format == "coo":
        extents = np.asarray(p.shape)
        if p.coords.shape != (*extents.shape, *p.data.shape) or extents.ndim != 1 or extents.dtype.kind != "i":
            # Malformed; a later check reports it.
            return p
        padding = (p.coords >= extents[:, None]).all(axis=0)
        return p._replace(coords=p.coords[:, ~padding], data=p.data[~padding]) if padding.any() else p
    if p.indptr.size == 0 or p.indices.shape != p.data.shape or not 0 <= p.indptr.flat[-1] < p.indices.size:
        return p
    count = int(p.indptr.flat[-1])
    return p._replace(indices=p.indices[:count], data=p.data[:count])


def place_refusal(x: Array, /) -> str | None:
    """JAX may have several CPU devices; results of host kernels are on the first one."""
    return f"the values are on cpu:{_index(x.device)}, not on the first CPU device" if _index(x.device) else None


def _is_on_host(x: Array) -> bool:
    """Whether NumPy can view the values without a copy, and results are on their device, the first CPU.

    The values may still be being computed.
    """
    if is_lazy(x) or x.dtype not in _HOST_DTYPES:
        return False
    buffer = memory(x)
    return buffer is not None and buffer.device == "cpu" and place_refusal(x) is None


def is_sound(p: Parts, /, *, canonical: bool) -> Array:
    """Check the indices in one compiled program, evaluated immediately even if the values are traced."""
    indices = {name: x for name, x in p.arrays.items() if name != "data"}
    with jax.ensure_compile_time_eval():
        return programs.is_sound(indices, p.format, tuple(p.shape), canonical)


def _arrays(x: Any) -> tuple[Array, ...]:
    """The arrays in an argument."""
    leaves = jax.tree.leaves(x.where if isinstance(x, Compaction) else x)
    return tuple(leaf for leaf in leaves if hasattr(leaf, "dtype"))


def _is_traced(*args: Any) -> bool:
    return any(is_lazy(leaf) for x in args for leaf in _arrays(x))


def _on_host_refusal(call: Call, /) -> str | None:
    """Refuse calls that the host kernels serve."""
    return _host_preferred(call.args, call.args)


def _host_preferred(args: tuple[Any, ...], operands: tuple[Any, ...]) -> str | None:
    """The reason to use the host kernels for concrete arrays, or None if NumPy would promote the dtypes differently."""
    if not all(_is_on_host(leaf) for x in args for leaf in _arrays(x)):
        return None
    values = [x.dtype if hasattr(x, "dtype") else x for x in operands if hasattr(x, "dtype") or type(x) in _DEFAULTED]
    # Where promotion is needed, NumPy's rules may give another dtype than JAX's.
    alike = all(jnp.result_type(*values) == x for x in values if isinstance(x, np.dtype))
    return _ON_HOST if alike else None


def _sddmm_refusal(call: Call, /) -> str | None:
    """Refuse calls that the host kernels serve; the dtype of the pattern is ignored."""
    return _host_preferred(call.args, call.args[:2])


def _scale_refusal(call: Call, /) -> str | None:
    """Refuse calls that the host kernels serve. They keep no padding."""
    reason = _on_host_refusal(call)
    if reason is None:
        return None
    p = parts(call.args[0]).map(to_numpy)
    return reason if unpadded(p).data.shape == p.data.shape else None


def _sum_refusal(call: Call, /) -> str | None:
    """Keep integers while 64-bit types are off, because NumPy would sum them in 64 bits."""
    fits = _CONFIG.jax_enable_x64 or jnp.issubdtype(call.args[0].dtype, jnp.inexact)
    return _on_host_refusal(call) if fits else None


def _matmul_refusal(call: Call, /) -> str | None:
    a, b = call.args
    if not (holds(a) and holds(b)) or a.nse * b.nse <= PAIRS:
        return _on_host_refusal(call)
    return (
        f"JAX compares all pairs of entries, which are {a.nse} x {b.nse} here, more than {PAIRS}. "
        "Instead: call it outside of jax.jit and jax.grad, or make one operand dense by xo.sparse.to_dense"
    )


def _cusparse_refusal(call: Call, /) -> str | None:
    """Why cuSPARSE does not serve a product. JAX's own product then creates an intermediate of entries times columns.

    JAX's product of BCSR calls cuSPARSE only if an option of the whole process is set.
    """
    a, b = call.args
    if holds(a) and holds(b):
        return "it multiplies a container by a dense array, not two containers"
    if _is_traced(a, b):
        return "it takes concrete arrays only: JAX cannot batch its calls of cuSPARSE"
    if not all(_is_on_cuda(leaf) for x in call.args for leaf in _arrays(x)):
        return "the values are not on a CUDA device"
    s = a if holds(a) else b
    if isinstance(s, BCOO) and not s.indices_sorted:
        return "it needs entries sorted by row. Instead: xo.sparse.convert(s, 'csr')"
    if s.indices.dtype != jnp.int32:
        return f"it supports int32 indices, not {s.indices.dtype}"
    dtype = jnp.result_type(a.dtype, b.dtype)
    if dtype.name not in _CUSPARSE_DTYPES:
        return f"cuSPARSE supports {', '.join(_CUSPARSE_DTYPES)}, not {dtype}"
    return "cuSPARSE does not support empty matrices" if 0 in (*a.shape, *b.shape, s.nse) else None


def _is_on_cuda(x: Array) -> bool:
    """Whether x is on a single CUDA device; this does not wait for its values."""
    where = device(x)
    return isinstance(where, jax.Device) and _kind(where) == "cuda"


def _from_dense_refusal(call: Call, /) -> str | None:
    x, request = call.args
    if _is_traced(x, request) and request.nnz_max is None:
        return "under jax.jit, grad and vmap the number of entries must not depend on values. Instead: give nnz_max"
    wide = request.index_dtype == "int64" and not _CONFIG.jax_enable_x64
    return _on_host_refusal(call) if request.nnz_max is None and not wide else None


def _from_dense(x: Array, request: Compaction, /) -> Container:
    """A container with ``nnz_max`` entries, or with exactly the entries of x if it is None."""
    where, size = request.where, request.nnz_max
    x, where = (_shards.gathered(y) if isinstance(y, jax.Array) else y for y in (x, where))
    if not _is_traced(x, request):
        # Concrete arrays: a count first, so that the program gets a size that fits exactly.
        found = int(programs.kept(x, where).sum())
        if size is not None and found > size:
            raise ValueError(f"x has {found} entries to keep, more than nnz_max={size}")
        size = found if size is None else size
    mask, rule = (where, None) if hasattr(where, "dtype") else (None, where)
    return programs.from_dense(x, mask, request.format, rule, size, request.index_dtype)


def _compact(program: Callable[..., Any]) -> Callable[..., Any]:
    """The program, whose concrete results have no padding."""
    return lambda *operands: _without_padding(program(*operands))


def _without_padding(result: Any) -> Any:
    """Remove the padding of a concrete container; the padding entries are last."""
    if not holds(result) or _is_traced(result):
        return result
    p = parts(result)
    if p.format == "csr":
        count = int(p.indptr[-1])
        return wrap(p._replace(indices=p.indices[:count], data=p.data[:count]))
    count = int((p.coords[0] < p.shape[0]).sum())
    return wrap(p._replace(coords=p.coords[:, :count], data=p.data[:count]))


def _canonical(s: Container) -> Container:
    """A concrete container in canonical format; a traced one unchanged, because sorting would dominate the cost."""
    return s if _is_traced(s) else _convert(s, programs.format_of(s), None)


def _convert(s: Container, format: str, block: None, /) -> Container:
    return _without_padding(programs.convert(s, format))


def _transpose(s: Container, /) -> Container:
    result = programs.transpose(_canonical(s))
    return result if _is_traced(s) else _canonical(result)


def _multiply(a: Container, b: Container | Array | float, /) -> Container:
    return _without_padding(programs.multiply(_canonical(a), b))


def _jax_candidate(function: Callable[..., Any], refusal: Callable[[Call], str | None] = _on_host_refusal) -> list[Any]:
    """The candidate list with the kernel of JAX."""
    return [("jax", _shards.serving_explicit_axes("sparse", function), refusal)]


FROM_DENSE_CANDIDATES = _jax_candidate(_from_dense, _from_dense_refusal)
TO_DENSE_CANDIDATES = _jax_candidate(programs.to_dense)
CONVERT_CANDIDATES = _jax_candidate(_convert)
MATMUL_CANDIDATES = [
    ("cusparse", programs.cusparse, _cusparse_refusal),
    *_jax_candidate(_compact(programs.matmul), _matmul_refusal),
]
TRANSPOSE_CANDIDATES = _jax_candidate(_transpose)
ADD_CANDIDATES = _jax_candidate(_compact(programs.add))
MULTIPLY_CANDIDATES = _jax_candidate(_multiply)
SUM_CANDIDATES = _jax_candidate(programs.sum, _sum_refusal)
SCALE_CANDIDATES = _jax_candidate(programs.scale, _scale_refusal)
SDDMM_CANDIDATES = _jax_candidate(_compact(programs.sddmm), _sddmm_refusal)
