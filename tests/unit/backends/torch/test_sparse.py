"""PyTorch's sparse tensors: parts and containers, calls that PyTorch's own functions serve, and refusals."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops.plugin.sparse import Compaction

torch = pytest.importorskip("torch", exc_type=ImportError)

SPARSE = find.named("torch").sparse
FORMATS = ("coo", "csr", "csc", "bsr")
OWN = {verb: function for verb in SPARSE.kernels for name, function, _ in SPARSE.kernels[verb] if name == "torch"}
"""PyTorch's own functions. On the CPU they serve gradients and dtypes that NumPy lacks, on other devices all calls."""
DTYPES = [torch.int64, torch.int8, torch.float16, torch.bfloat16, torch.float64, torch.complex64]
TO_FORMAT = {
    "coo": lambda x: x.to_sparse(),
    "csr": lambda x: x.to_sparse_csr(),
    "csc": lambda x: x.to_sparse_csc(),
    "bsr": lambda x: x.to_sparse_bsr((2, 3)),
}


def sample(*shape: int, dtype: Any = None, seed: int = 0) -> Any:
    """Small integers, two thirds of them zero: sums and products are exact in every dtype."""
    draw = torch.Generator().manual_seed(seed)
    x = torch.randint(-3, 4, shape, generator=draw) * (torch.rand(shape, generator=draw) < 0.4)
    return x.to(dtype or torch.float64)


def block_of(format: str) -> tuple[int, int] | None:
    return (2, 3) if format == "bsr" else None


def dense(s: Any) -> Any:
    """The dense tensor by PyTorch's to_dense, which is exact."""
    xo.sparse.validate(s, canonical=True)
    return s.to_dense()


@pytest.mark.parametrize("format", FORMATS)
def test_parts_are_the_containers_memory(format: str) -> None:
    s = TO_FORMAT[format](sample(4, 6))
    p = xo.sparse.parts(s)
    values = s._values() if format == "coo" else s.values()
    assert p.data.data_ptr() == values.data_ptr()
    again = xo.sparse.parts(SPARSE.wrap(p))
    for name, array in p.arrays.items():
        assert again.arrays[name].data_ptr() == array.data_ptr()
        assert again.arrays[name].dtype is array.dtype
    assert (again.format, again.shape, again.block) == (format, (4, 6), block_of(format))
    assert torch.equal(SPARSE.wrap(p).to_dense(), sample(4, 6))


def test_sorted_entries_are_not_sorted_again(monkeypatch: Any) -> None:
    x = sample(4, 6)
    s = x.to_sparse().coalesce()
    reversed_ = s._indices().flip(1), s._values().flip(0)
    loose = torch.sparse_coo_tensor(*reversed_, s.shape, check_invariants=True)
    assert torch.equal(dense(OWN["convert"](loose, "csr", None)), x)
    monkeypatch.setattr(torch, "unique", None)
    csr = OWN["convert"](s, "csr", None)
    assert torch.equal(dense(csr), x)
    assert torch.equal(OWN["matmul"](s, x.T), x @ x.T)
    with pytest.raises(TypeError):
        OWN["convert"](loose, "csr", None)


def test_coo_reports_whether_it_is_sorted() -> None:
    coords, data = torch.tensor([[1, 0, 1], [0, 1, 0]]), torch.ones(3)
    loose = torch.sparse_coo_tensor(coords, data, (2, 2), check_invariants=False)
    p = xo.sparse.parts(loose)
    assert (p.sorted, p.unique) == (None, None)
    assert p.coords.tolist() == coords.tolist()
    assert not loose.is_coalesced()
    summed = xo.sparse.parts(loose.coalesce())
    assert (summed.sorted, summed.unique) == (True, True)
    assert xo.sparse.from_dense(torch.eye(2), "coo").is_coalesced()


def test_tensors_that_are_not_matrices_are_refused() -> None:
    x = sample(2, 4, 6)
    batch = torch.stack([x[0], x[0]]).to_sparse_csr()
    for s, says in (
        (batch, "batch.*one by one"),
        (x.to_sparse(2), "hybrid.*to_dense"),
        (x.to_sparse_csr(dense_dim=1), "dense axes.*to_dense"),
        (x[0].to_sparse_bsc((2, 3)), "sparse_bsc.*to_dense"),
    ):
        with pytest.raises(xo.Unsupported, match=says):
            xo.sparse.parts(s)
        with pytest.raises((xo.Unsupported, ValueError)):
            xo.matmul(s, x[0].T)


@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
def test_indices_are_narrow_by_default(format: str) -> None:
    x = sample(4, 6, dtype=torch.bfloat16)
    for options, want in (({}, torch.int32), ({"index_dtype": "int64"}, torch.int64)):
        s = xo.sparse.from_dense(x, format, block=block_of(format), **options)
        p = xo.sparse.parts(s)
        assert p.indices.dtype is p.indptr.dtype is want
        assert torch.equal(dense(s), x)


def kept(x: Any, where: Any) -> Any:
    """The elements that from_dense keeps, computed one by one with Python numbers."""
    test = {None: lambda v: v != 0, "relu": lambda v: v > 0}.get(where, lambda v: abs(v) > where)
    return torch.tensor([test(v) for v in x.flatten().tolist()]).reshape(x.shape)


@pytest.mark.parametrize(
    ("where", "dtype"),
    [
        (where, dtype)
        for where in (None, "relu", 1.5, 0, -1, 1e30, "mask")
        for dtype in DTYPES
        if where != "relu" or not dtype.is_complex
    ],
)
@pytest.mark.parametrize("format", FORMATS)
def test_from_dense_by_pytorchs_functions(where: Any, format: str, dtype: Any) -> None:
    x = sample(4, 6, dtype=dtype)
    mask = sample(4, 6, seed=1) > 0 if where == "mask" else kept(x, where)
    request = Compaction(format, mask if where == "mask" else where, block=block_of(format))
    with pytest.MonkeyPatch.context() as patch:  # as for a tensor on a GPU, which the host kernels refuse
        patch.setattr("xarrayops._host.sparse.host.refusal", lambda *_: "elsewhere")
        s = OWN["from_dense"](x, request)
    assert torch.equal(dense(s), torch.where(mask, x, 0))
    if format != "bsr":
        assert s._nnz() == int(mask.sum())


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64])
def test_thresholds_do_not_wrap(dtype: Any) -> None:
    least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    x = torch.tensor([[least, most, 0, -1]], dtype=dtype)
    for where in (0.5, 127, 126.5, 2.0**62):
        s = xo.sparse.from_dense(x, where=where)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("xarrayops._host.sparse.host.refusal", lambda *_: "elsewhere")
            own = OWN["from_dense"](x, Compaction("csr", where))
        assert own.to_dense().tolist() == s.to_dense().tolist() == [[v if abs(v) > where else 0 for v in x[0].tolist()]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_pytorchs_functions_agree_with_dense_ones(format: str, dtype: Any) -> None:
    x, y = sample(4, 6, dtype=dtype), sample(4, 6, dtype=dtype, seed=1)
    s, t = TO_FORMAT[format](x), TO_FORMAT[format](y)
    other = "csr" if format == "coo" else "coo"
    assert torch.equal(OWN["to_dense"](s), x)
    assert torch.equal(dense(OWN["transpose"](s)), x.T)
    assert torch.equal(dense(OWN["convert"](s, other, None)), x)
    assert torch.equal(dense(OWN["add"](s, t)), x + y)
    assert torch.equal(dense(OWN["multiply"](s, t)), x * y)
    assert torch.equal(dense(OWN["multiply"](s, y)), x * y)
    assert torch.equal(dense(OWN["multiply"](s, y[0])), x * y[0])
    assert torch.equal(dense(OWN["multiply"](s, 2)), x * 2)
    for axis in (0, 1, None):
        got, want = OWN["sum"](s, axis), x.sum() if axis is None else x.sum(axis)
        assert torch.equal(got, want)
        assert got.dtype is want.dtype
    exact = [each.to(torch.complex128 if dtype.is_complex else torch.float64) for each in (x, y)]
    wanted = (exact[0] @ exact[1].T).to(dtype)
    assert torch.equal(OWN["matmul"](s, y.T), wanted)
    assert torch.equal(OWN["matmul"](s, y[0]), wanted[:, 0])
    assert torch.equal(OWN["matmul"](y, OWN["transpose"](s)), (exact[1] @ exact[0].T).to(dtype))
    assert torch.equal(OWN["matmul"](y[0], OWN["transpose"](s)), wanted[:, 0])
    pattern = TO_FORMAT[format](sample(4, 6, dtype=dtype, seed=2))
    found = OWN["sddmm"](exact[0][:, :4].to(dtype), y, pattern)
    at = xo.sparse.to_dense(SPARSE.wrap(xo.sparse.parts(pattern)._replace(data=torch.ones_like(pattern.values())))) != 0
    assert torch.equal(found.to_dense(), torch.where(at, (exact[0][:, :4] @ exact[1]).to(dtype), 0))
    if dtype.is_floating_point or dtype.is_complex:
        assert torch.equal(dense(OWN["matmul"](s, OWN["transpose"](t))), wanted)


def test_sampled_product_by_pytorch_equals_ours() -> None:
    """The function for GPUs; this test runs PyTorch's CPU kernel of it."""
    from xarrayops_backends.torch._sparse import products

    a, b = sample(4, 3), sample(3, 6, seed=1)
    for format in ("csr", "csc"):
        p = xo.sparse.parts(TO_FORMAT[format](sample(4, 6, seed=2)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(products, "_sampled_on_host", products._sampled_natively)
            values = products._sampled(a, b, p)
        want = xo.sparse.sddmm(a, b, SPARSE.wrap(p))
        assert torch.equal(values, want.values())


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("format", FORMATS)
def test_concat_of_three(format: str, axis: int) -> None:
    tensors = [sample(*((n, 6) if axis == 0 else (6, n)), seed=n) for n in (6, 12, 18)]
    found = xo.sparse.concat([xo.sparse.from_dense(x, format, block=block_of(format)) for x in tensors], axis=axis)
    torch.testing.assert_close(dense(found), torch.cat(tensors, axis))


def test_conjugated_and_negated_views() -> None:
    x = sample(4, 6, dtype=torch.complex128) * (1 + 2j)
    for view in (x.conj(), x.conj().imag, x.mH):
        for format in ("coo", "csr", "csc"):
            assert torch.equal(xo.sparse.to_dense(xo.sparse.from_dense(view, format)), view)
    s = xo.sparse.from_dense(x)
    assert torch.equal(xo.matmul(s, x.mH), x @ x.mH)
    p = xo.sparse.parts(s)
    assert torch.equal(SPARSE.wrap(p._replace(data=p.data.conj())).to_dense(), x.conj())


def test_the_host_kernels_serve_plain_tensors() -> None:
    x = sample(4, 6)
    for plain, want in ((x, "torch:host"), (x.clone().requires_grad_(), "torch:torch"), (x.bfloat16(), "torch:torch")):
        assert xo.explain("sparse.from_dense", plain).chosen == want


@pytest.mark.parametrize("requires_grad", [False, True])
def test_indices_out_of_bounds_are_refused(requires_grad: bool) -> None:
    options = {"layout": torch.sparse_csr, "check_invariants": False}
    s = torch.sparse_compressed_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 9]), torch.ones(2), (2, 3), **options)
    s.requires_grad_(requires_grad)
    for call in (lambda: xo.matmul(s, torch.ones(3, 2)), lambda: xo.sparse.to_dense(s)):
        with pytest.raises(xo.InvalidSparse, match=r"indices\[1\], in row 1, is 9, but there are 3 columns"):
            call()


def test_a_kernel_missing_in_pytorch_is_refused_with_an_alternative() -> None:
    x = sample(4, 6).to(torch.float8_e4m3fn)
    s = xo.sparse.from_dense(x)
    with pytest.raises(xo.Unsupported, match=r"xo\.sparse\.add.*Float8.*Instead: another dtype"):
        xo.sparse.add(s, s)


def test_matmul_distinguishes_layouts() -> None:
    x = sample(4, 6)
    s = xo.sparse.from_dense(x)
    assert xo.matmul(x, x.T).layout is torch.strided
    assert torch.equal(xo.matmul(s, x.T), x @ x.T)
    assert torch.equal(xo.matmul(x.T, s), x.T @ x)
    assert xo.matmul(s, xo.sparse.transpose(s)).layout is torch.sparse_csr
    assert xo.matmul(xo.sparse.from_dense(x.int()), x.T).dtype is torch.float64
    with pytest.raises(ValueError, match=r"the inner sizes . and . differ"):
        xo.matmul(s, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested tensors are a prototype
        nested = torch.nested.nested_tensor([x[:2], x], layout=torch.jagged)
        with pytest.raises(xo.Unsupported, match=r"x1 is a torch\..*NestedTensor\. .*Instead: x1\.to_padded_tensor"):
            xo.matmul(nested, x.T)


def test_a_container_has_a_device_and_passes_to_other_libraries() -> None:
    pytest.importorskip("scipy")
    x = sample(4, 6)
    for format in FORMATS:
        s = TO_FORMAT[format](x)
        assert xo.device(s) == x.device
        assert not xo.is_lazy(s)
        there = xo.convert(s, "numpy")
        assert (there.toarray() == x.numpy()).all()
        assert torch.equal(xo.convert(there, "torch").to_dense(), x)
    with pytest.raises(xo.ExchangeError, match="requires a gradient"):
        xo.convert(xo.sparse.from_dense(x.requires_grad_()), "numpy")


def test_eager_calls_skip_the_wrapper_that_disables_compilation(monkeypatch: Any) -> None:
    called = []
    monkeypatch.setattr(torch.compiler, "disable", lambda function: lambda *args: called.append("kept") or args)
    guarded = SPARSE.module.untraced(lambda *args: called.append("direct") or args)
    assert guarded(1, 2) == (1, 2)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert guarded(1, 2) == (1, 2)
    assert called == ["direct", "kept"]


def test_torch_compile() -> None:
    """Dynamo does not trace sparse tensors: products with them break the graph, dense products do not."""
    x = sample(4, 6)
    s = xo.sparse.from_dense(x)
    xo.matmul(x, x.T)
    compiled = torch.compile(lambda a, b: xo.matmul(a, b), fullgraph=True, backend="eager")
    assert torch.equal(compiled(x, x.T), x @ x.T)
    refused = torch._dynamo.exc.Unsupported
    with pytest.raises(refused, match=r"(?i)sparse tensor"):
        compiled(s, x.T)
    assert torch.equal(torch.compile(lambda a, b: xo.matmul(a, b) + 1, backend="eager")(s, x.T), x @ x.T + 1)
    converting = torch.compile(lambda x: xo.sparse.from_dense(x), fullgraph=True, backend="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dynamo warns about caches in the traced code
        with pytest.raises(refused):
            converting(x)
