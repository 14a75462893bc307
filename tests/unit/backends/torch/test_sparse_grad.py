"""Gradients through PyTorch's sparse tensors, compared with the same functions of dense tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xarrayops as xo

torch = pytest.importorskip("torch", exc_type=ImportError)

FORMATS = ("coo", "csr", "csc", "bsr")
SHAPE = (4, 6)
PLACES = [(2, 5), (0, 1), (2, 0), (2, 5), (3, 3), (0, 4), (0, 1)]
"""Unsorted entries, two of them duplicated."""
BLOCKS = [(0, 2), (0, 0), (1, 1), (1, 1)]
BLOCK = (2, 2)


def randn(*shape: int, dtype: Any = None, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype or torch.float64)


def values_of(format: str, dtype: Any = None) -> Any:
    return randn(*((len(BLOCKS), *BLOCK) if format == "bsr" else (len(PLACES),)), dtype=dtype)


def made(format: str, values: Any, index: Any = None) -> Any:
    """The container of these values at these indices, unsorted; for compressed formats only the lines are sorted."""
    if format == "coo":
        return xo.sparse.from_parts("coo", torch.tensor(PLACES).T, values, shape=SHAPE, check=False)
    order = BLOCKS if format == "bsr" else PLACES
    line = 1 if format == "csc" else 0
    by_lines = sorted(range(len(order)), key=lambda k: order[k][line])
    extent = SHAPE[line] // BLOCK[0] if format == "bsr" else SHAPE[line]
    counts = [sum(place[line] < end for place in order) for end in range(extent + 1)]
    indices = [order[k][1 - line] for k in by_lines]
    pointers, across = (torch.tensor(x, dtype=index or torch.int32) for x in (counts, indices))
    return xo.sparse.from_parts(format, pointers, across, values[by_lines], shape=SHAPE, check=False)


def scattered(format: str, values: Any) -> Any:
    """The same as a dense tensor, summed entry by entry."""
    dense = torch.zeros(SHAPE, dtype=values.dtype)
    for k, (row, column) in enumerate(BLOCKS if format == "bsr" else PLACES):
        one = torch.zeros(SHAPE, dtype=values.dtype)
        height, width = BLOCK if format == "bsr" else (1, 1)
        mask = one.clone()
        mask[row * height : (row + 1) * height, column * width : (column + 1) * width] = 1
        dense = dense + (mask * values[k] if format != "bsr" else mask * values[k].repeat(2, 3))
    return dense


TAKEN = torch.tensor([2, -1, 2, 0])


def _reversed(s: Any) -> Any:
    return xo.sparse.take(s, torch.arange(s.shape[0] - 1, -1, -1))


def _scaled(s: Any, d: Any) -> Any:
    return d[:4, None] * s * d[4:]


VERBS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[int, ...] | None]] = {
    "to_dense": (xo.sparse.to_dense, lambda s: s, None),
    "matmul, dense on the right": (xo.matmul, torch.matmul, (6, 3)),
    "matmul, dense on the left": (lambda s, d: xo.matmul(d, s), lambda s, d: d @ s, (3, 4)),
    "matmul, vector on the right": (xo.matmul, torch.matmul, (6,)),
    "matmul, vector on the left": (lambda s, d: xo.matmul(d, s), lambda s, d: d @ s, (4,)),
    "matmul, sparse twice": (
        lambda s: xo.sparse.to_dense(xo.matmul(s, xo.sparse.transpose(s))),
        lambda s: s @ s.T,
        None,
    ),
    "multiply by dense": (lambda s, d: xo.sparse.to_dense(xo.sparse.multiply(s, d)), torch.mul, SHAPE),
    "multiply by a row": (lambda s, d: xo.sparse.to_dense(xo.sparse.multiply(s, d)), torch.mul, (6,)),
    "multiply by a number": (lambda s: xo.sparse.to_dense(xo.sparse.multiply(s, 3.0)), lambda s: s * 3, None),
    "multiply by sparse": (lambda s: xo.sparse.to_dense(xo.sparse.multiply(s, s)), lambda s: s * s, None),
    "add": (
        lambda s: xo.sparse.to_dense(xo.sparse.add(s, xo.sparse.multiply(s, 2.0))),
        lambda s: s * 3,
        None,
    ),
    "transpose": (lambda s: xo.sparse.to_dense(xo.sparse.transpose(s)), lambda s: s.T, None),
    "sum": (xo.sparse.sum, torch.sum, None),
    "sum of columns": (lambda s: xo.sparse.sum(s, axis=0), lambda s: s.sum(0), None),
    "sum of rows": (lambda s: xo.sparse.sum(s, axis=1), lambda s: s.sum(1), None),
    "convert to coo": (lambda s: xo.sparse.to_dense(xo.sparse.convert(s, "coo")), lambda s: s, None),
    "convert to csr": (lambda s: xo.sparse.to_dense(xo.sparse.convert(s, "csr")), lambda s: s, None),
    "convert to csc": (lambda s: xo.sparse.to_dense(xo.sparse.convert(s, "csc")), lambda s: s, None),
    **{
        name: (lambda s, name=name: xo.sparse.to_dense(getattr(xo.sparse, name)(s)), getattr(torch, name), None)
        for name in ("abs", "square", "expm1", "sin", "tan", "tanh", "negative")
    },
    "power": (lambda s: xo.sparse.to_dense(xo.sparse.power(s, 3)), lambda s: s**3, None),
    "maximum with 0": (lambda s: xo.sparse.to_dense(xo.sparse.maximum(s, 0)), torch.relu, None),
    "maximum": (
        lambda s: xo.sparse.to_dense(xo.sparse.maximum(s, _reversed(s))),
        lambda s: torch.maximum(s, s.flip(0)),
        None,
    ),
    "scale": (lambda s, d: xo.sparse.to_dense(xo.sparse.scale(s, d[:4], d[4:])), _scaled, (10,)),
    "take rows": (lambda s: xo.sparse.to_dense(xo.sparse.take(s, TAKEN)), lambda s: s[TAKEN], None),
    "take columns": (lambda s: xo.sparse.to_dense(xo.sparse.take(s, TAKEN, axis=1)), lambda s: s[:, TAKEN], None),
    "concat": (
        lambda s: xo.sparse.to_dense(xo.sparse.concat([s, xo.sparse.multiply(s, 2.0)], axis=1)),
        lambda s: torch.cat([s, 2 * s], 1),
        None,
    ),
    "norm of rows": (
        lambda s: xo.sparse.norm(s, axis=1),
        lambda s: torch.linalg.vector_norm(s, dim=1),
        None,
    ),
    "norm": (xo.sparse.norm, torch.linalg.vector_norm, None),
    "diagonal": (xo.sparse.diagonal, torch.diagonal, None),
    "convert to bsr": (lambda s: xo.sparse.to_dense(xo.sparse.convert(s, "bsr", block=(2, 3))), lambda s: s, None),
}


def operands(format: str, verb: str, dtype: Any = None) -> list[Any]:
    shape = VERBS[verb][2]
    given = [values_of(format, dtype), *([] if shape is None else [randn(*shape, dtype=dtype, seed=1)])]
    return [x.requires_grad_() for x in given]


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("verb", VERBS)
def test_gradients_are_those_of_dense_tensors(verb: str, format: str, index: Any) -> None:
    ours, theirs, _ = VERBS[verb]
    given = operands(format, verb)
    got = ours(made(format, given[0], index), *given[1:])
    want = theirs(scattered(format, given[0]), *given[1:])
    torch.testing.assert_close(got, want)
    weights = randn(*want.shape, seed=2)
    torch.testing.assert_close(
        torch.autograd.grad((got * weights).sum(), given), torch.autograd.grad((want * weights).sum(), given)
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("verb", ["to_dense", "matmul, dense on the right", "matmul, dense on the left"])
def test_first_and_second_derivatives(verb: str, format: str, dtype: Any) -> None:
    def f(values: Any, *others: Any) -> Any:
        return VERBS[verb][0](made(format, values), *others)

    given = operands(format, verb, dtype)
    assert torch.autograd.gradcheck(f, given, fast_mode=True)
    assert torch.autograd.gradgradcheck(f, given, fast_mode=True)


@pytest.mark.parametrize("format", FORMATS)
def test_sddmm(format: str) -> None:
    pattern = made(format, values_of(format))
    a, b = randn(4, 5).requires_grad_(), randn(5, 6).requires_grad_()

    def f(a: Any, b: Any) -> Any:
        return xo.sparse.to_dense(xo.sparse.sddmm(a, b, pattern))

    torch.testing.assert_close(f(a, b), torch.where(scattered(format, values_of(format)) != 0, a @ b, 0))
    assert torch.autograd.gradcheck(f, (a, b))
    assert torch.autograd.gradgradcheck(f, (a, b), fast_mode=True)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("where", [None, "relu", 0.5, "mask"])
def test_from_dense(where: Any, format: str) -> None:
    x = randn(*SHAPE)
    x = torch.where(x.abs() < 0.2, 0, x) if where is None else x + 0.01 * x.sign()
    mask = randn(*SHAPE, seed=3) > 0
    kept = {None: x != 0, "relu": x > 0, 0.5: x.abs() > 0.5, "mask": mask}[where]
    options = {"where": mask if where == "mask" else where, "block": BLOCK if format == "bsr" else None}

    def f(x: Any) -> Any:
        return xo.sparse.to_dense(xo.sparse.from_dense(x, format, **options))

    x.requires_grad_()
    torch.testing.assert_close(f(x), torch.where(kept, x, 0), rtol=0, atol=0)
    weights = randn(*SHAPE, seed=2)
    (gradient,) = torch.autograd.grad((f(x) * weights).sum(), x)
    torch.testing.assert_close(gradient, torch.where(kept, weights, 0), rtol=0, atol=0)
    if (
        where is not None
    ):  # if where is None, the indices depend on the values, and a difference quotient would be of another function
        assert torch.autograd.gradcheck(f, x)
        assert torch.autograd.gradgradcheck(lambda x: f(x) ** 2, x, fast_mode=True)


@pytest.mark.parametrize("format", FORMATS)
def test_from_dense_keeps_its_structure_and_its_limit(format: str) -> None:
    x, block = torch.relu(randn(*SHAPE)), BLOCK if format == "bsr" else None
    plain = xo.sparse.parts(xo.sparse.from_dense(x, format, block=block))
    given = xo.sparse.parts(xo.sparse.from_dense(x.clone().requires_grad_(), format, block=block))
    for name, array in plain.arrays.items():
        assert torch.equal(given.arrays[name].detach(), array)
        assert given.arrays[name].dtype is array.dtype
    with pytest.raises(ValueError, match="more than nnz_max=1"):
        xo.sparse.from_dense(x.requires_grad_(), format, block=block, nnz_max=1)


@pytest.mark.parametrize("format", FORMATS)
def test_gradients_flow_to_the_values_of_a_container(format: str) -> None:
    values = values_of(format).requires_grad_()
    if format == "coo":
        s = made(format, values)
        assert xo.sparse.parts(s).data is values
    s, d = made(format, values), randn(6, 2)
    twice = xo.matmul(s, d).sum() + xo.matmul(s, d).sum() + xo.sparse.to_dense(s).sum()
    (got,) = torch.autograd.grad(twice, values)
    dense = scattered(format, values)
    (want,) = torch.autograd.grad(2 * (dense @ d).sum() + dense.sum(), values)
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize("format", FORMATS)
def test_pytorchs_own_functions_of_our_containers(format: str) -> None:
    """Unsorted indices are supported; duplicates of compressed tensors in PyTorch's functions are refused."""
    values, weights = values_of(format).requires_grad_(), randn(*SHAPE, seed=2)
    theirs = (made(format, values).to_dense() * weights).sum()
    if format != "coo":
        with pytest.raises(xo.Unsupported, match="duplicates"):
            torch.autograd.grad(theirs, values)
        pointers, indices = torch.tensor([0, 0, 3]), torch.tensor([2, 0, 1])
        values = torch.arange(3.0)[:, None, None].expand(3, 2, 2) if format == "bsr" else torch.arange(3.0)
        values = values.clone().requires_grad_()
        shape = {"csr": (2, 3), "csc": (3, 2), "bsr": (4, 6)}[format]
        s = xo.sparse.from_parts(format, pointers, indices, values, shape=shape, check=False)
        weights = torch.tensor([[0.0, 0.0, 0.0], [1.0, 10.0, 100.0]])
        spread = {"csr": weights, "csc": weights.T, "bsr": weights.repeat_interleave(2, 0).repeat_interleave(2, 1)}
        (got,) = torch.autograd.grad((s.to_dense() * spread[format]).sum(), values)
        assert got.reshape(3, -1)[:, 0].tolist() == [100.0, 1.0, 10.0]
    else:
        (got,) = torch.autograd.grad(theirs, values)
        (want,) = torch.autograd.grad((scattered(format, values) * weights).sum(), values)
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("format", FORMATS)
def test_containers_created_by_pytorch(format: str) -> None:
    """Leaf tensors and others; the gradient of a leaf has the indices of the leaf."""
    x, d = torch.relu(randn(*SHAPE)), randn(6, 2)
    convert: dict[str, Callable[[Any], Any]] = {
        "coo": torch.Tensor.to_sparse,
        "csr": torch.Tensor.to_sparse_csr,
        "csc": torch.Tensor.to_sparse_csc,
        "bsr": lambda x: x.to_sparse_bsr(BLOCK),
    }
    want, leaf = torch.ones(4, 2, dtype=torch.float64) @ d.T, convert[format](x).requires_grad_()
    (of_leaf,) = torch.autograd.grad(xo.matmul(leaf, d).sum(), leaf)
    assert of_leaf.layout is leaf.layout
    assert of_leaf.values().shape == leaf.values().shape
    kept = leaf.detach().to_dense() != 0
    torch.testing.assert_close(of_leaf.to_dense()[kept], want[kept])
    dense = x.clone().requires_grad_()
    (of_dense,) = torch.autograd.grad(xo.matmul(convert[format](dense), d).sum(), dense)
    torch.testing.assert_close(of_dense[kept], want[kept])


def test_duplicates_created_by_pytorch_are_summed() -> None:
    values, d = values_of("coo").requires_grad_(), randn(6, 2)
    s = torch.sparse_coo_tensor(torch.tensor(PLACES).T, values, SHAPE, check_invariants=False)
    torch.testing.assert_close(xo.matmul(s, d), scattered("coo", values) @ d)
    (got,) = torch.autograd.grad(xo.matmul(s, d).sum(), values)
    (want,) = torch.autograd.grad((scattered("coo", values) @ d).sum(), values)
    torch.testing.assert_close(got, want)
    with pytest.raises(xo.Unsupported, match="coalesce"):
        xo.sparse.parts(s).data.sum().backward()


def test_unsorted_containers_of_pytorch_are_refused_if_the_gradient_would_be_wrong() -> None:
    pointers, indices = torch.tensor([0, 2]), torch.tensor([1, 0])
    values = torch.tensor([1.0, 2.0], requires_grad=True)
    csr = {"layout": torch.sparse_csr, "check_invariants": False}
    theirs = torch.sparse_compressed_tensor(pointers, indices, values, (1, 2), **csr)
    with pytest.raises(xo.Unsupported, match=r"wrong gradient.*from_parts"):
        xo.sparse.to_dense(theirs)
    ours = xo.sparse.from_parts("csr", pointers, indices, values, shape=(1, 2), check=False)
    (xo.sparse.to_dense(ours) * torch.tensor([10.0, 1.0])).sum().backward()
    assert values.grad.tolist() == [1.0, 10.0]
    leaf = torch.sparse_compressed_tensor(pointers, indices, values.detach(), (1, 2), **csr).requires_grad_()
    (xo.sparse.to_dense(leaf) * torch.tensor([10.0, 1.0])).sum().backward()
    assert leaf.grad.to_dense().tolist() == [[10.0, 1.0]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_narrow_dtypes(dtype: Any) -> None:
    x = randn(30, 40).to(dtype).requires_grad_()
    d = randn(40, 8).to(dtype).requires_grad_()
    out = xo.matmul(xo.sparse.from_dense(x, where="relu"), d)
    assert out.dtype is dtype
    out.sum().backward()
    x64, d64 = (y.detach().double().requires_grad_() for y in (x, d))
    (torch.relu(x64) @ d64).sum().backward()
    for got, want in ((x.grad, x64.grad), (d.grad, d64.grad)):
        tolerance = 8 * torch.finfo(dtype).eps * float(want.abs().max())
        torch.testing.assert_close(got.double(), want, rtol=0, atol=tolerance)


def test_no_gradient_is_recorded_without_need() -> None:
    x = randn(*SHAPE).requires_grad_()
    with torch.no_grad():
        s = xo.sparse.from_dense(x)
    assert not s.requires_grad
    assert not xo.matmul(s, randn(6, 2)).requires_grad
    assert xo.matmul(s, x.T).requires_grad
    pattern = xo.sparse.from_dense(x)
    assert not xo.sparse.sddmm(randn(4, 2), randn(2, 6), pattern).requires_grad


@pytest.mark.parametrize("shape", [(0, 0), (0, 6), (4, 0), (4, 6)])
@pytest.mark.parametrize("format", FORMATS)
def test_nothing_kept(format: str, shape: tuple[int, int]) -> None:
    x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
    s = xo.sparse.from_dense(x, format, block=BLOCK if format == "bsr" else None)
    d = torch.ones(shape[1], 3, dtype=torch.float64, requires_grad=True)
    out = xo.matmul(s, d)
    assert out.shape == (shape[0], 3)
    (out.sum() + xo.sparse.sum(s) + xo.sparse.to_dense(xo.sparse.add(s, s)).sum()).backward()
    assert x.grad.shape == shape
    assert not x.grad.any()
    assert not d.grad.any()
