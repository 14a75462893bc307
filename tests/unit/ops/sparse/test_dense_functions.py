"""Functions of dense arrays refuse sparse containers of every library and format, with one error.

The calls are those of the contract suite, with containers for their matrices: all arguments, or one of them.
"""

import importlib
import pkgutil

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin.sparse import CONTAINER_VERBS
from xarrayops.testing._suite import extra, standard

TAKING_CONTAINERS = {*CONTAINER_VERBS, "convert", "from_dlpack"}
"""The last one is tested below: its cases are calls of another function."""
ROWS = {
    str(row): row
    for package in (standard, extra)
    for module in pkgutil.iter_modules(package.__path__)
    for name, rows in vars(importlib.import_module(f"{package.__name__}.{module.name}")).items()
    if name.endswith("ROWS") and isinstance(rows, list)
    for row in rows
    if not row.creation and row.verb not in TAKING_CONTAINERS
}


def of_torch(layout):
    torch = pytest.importorskip("torch")
    method = getattr(torch.Tensor, f"to_sparse_{layout}" if layout != "coo" else "to_sparse")

    def make(host):
        return method(torch.asarray(host.copy()), *([(1, 1)] if layout in ("bsr", "bsc") else []))

    return torch.asarray, make


def of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    return np.asarray, sparse.csr_array


def of_jax(name):
    containers = pytest.importorskip("jax.experimental.sparse")
    jnp = importlib.import_module("jax.numpy")
    return jnp.asarray, lambda host: getattr(containers, name).fromdense(jnp.asarray(host))


KINDS = {
    **{f"torch {layout}": (of_torch, layout) for layout in ("coo", "csr", "csc", "bsr", "bsc")},
    "scipy csr": (of_scipy,),
    "jax BCOO": (of_jax, "BCOO"),
    "jax BCSR": (of_jax, "BCSR"),
}


def is_matrix(x):
    return x.ndim == 2 and x.size > 0 and x.dtype.kind in "fi" and x.dtype.itemsize > 1


def calls(row, dense, sparse, limit):
    """The row's calls with containers for all matrices, then for each alone."""
    for case in [case for case in row.calls if any(map(is_matrix, case.arrays))][:limit]:
        matrices = [i for i, x in enumerate(case.arrays) if is_matrix(x)]
        for chosen in (matrices, *([i] for i in matrices if len(case.arrays) > 1)):
            count = iter(range(len(case.arrays)))
            yield case.filled(
                lambda x, count=count, chosen=chosen: sparse(x) if next(count) in chosen else dense(x.copy()),
                lambda name: name,
            )


@pytest.mark.more_in_sweeps
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_containers_are_refused(kind, sweeping):
    make, *args = KINDS[kind]
    dense, sparse = make(*args)
    tried, wrong = set(), []
    limit = None if sweeping else 1 if kind.startswith("jax") else 2  # JAX compiles for each shape
    for name, row in ROWS.items():
        for case in calls(row, dense, sparse, limit):
            tried.add(row.verb)
            try:
                answer = row.public(*case.args, **case.kwargs)
            except xo.Unsupported as error:
                if "sparse" in str(error) and f"xo.{row.verb}" in str(error) and "Instead: " in str(error):
                    continue
                answer = error
            except Exception as error:  # any other error is wrong, too
                answer = error
            wrong.append(f"{name}: {type(answer).__name__} {str(answer)[:80]}")
    assert len(tried) > 150
    assert not wrong, "\n".join(sorted(set(wrong)))


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")  # PyTorch's sparse layouts are in beta
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", ["asarray", "from_dlpack", "einsum", "unique", "sum", "ones_like"])
def test_other_calls_are_refused(kind, verb):
    make, *args = KINDS[kind]
    s = make(*args)[1](np.eye(3))
    with pytest.raises(xo.Unsupported, match=rf"^xo\.{verb}.* sparse .*Instead: .*xo\.sparse\.to_dense\("):
        getattr(xo, verb)(*(["ij->"] if verb == "einsum" else []), s)
