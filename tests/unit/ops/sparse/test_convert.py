"""Conversion of containers between libraries, and `explain` for sparse calls."""

import numpy as np
import pytest

import xarrayops as xo

sparse = pytest.importorskip("scipy.sparse")
X = np.asarray([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, -4, 0]], np.float32)


def made(format, backend="numpy"):
    block = (1, 2) if format == "bsr" else None
    return xo.sparse.from_dense(xo.convert(X, backend), format, block=block)


def arrays(s):
    return xo.sparse.parts(s).arrays


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo"])
def test_scipy_to_torch_shares_memory(format):
    pytest.importorskip("torch")
    s = made(format)
    if format == "coo":  # PyTorch requires 64-bit indices
        s = xo.sparse.from_parts("coo", np.stack(s.coords).astype(np.int64), s.data, shape=s.shape)
    t = xo.sparse.convert(s, backend="torch")
    for name, array in arrays(s).items():
        assert xo.shares_memory(array, arrays(t)[name]), name
    back = xo.convert(t, "numpy")
    assert xo.shares_memory(arrays(back)["data"], s.data)
    np.testing.assert_array_equal(back.toarray(), X)
    copied = xo.convert(s, "torch", copy=True)
    assert not xo.shares_memory(arrays(copied)["data"], s.data)


@pytest.mark.parametrize(("format", "supported"), [("csr", "csr"), ("coo", "coo"), ("csc", "csr"), ("bsr", "coo")])
def test_conversion_to_jax_and_back(format, supported):
    pytest.importorskip("jax")
    s = xo.sparse.convert(made(format), supported, backend="jax")
    np.testing.assert_array_equal(s.todense(), X)
    back = xo.sparse.convert(s, "csc", backend="numpy")  # a format that JAX lacks
    assert back.format == "csc"
    np.testing.assert_array_equal(back.toarray(), X)


def test_copy_false_refuses_if_coordinates_are_copied():
    pytest.importorskip("torch")
    joined = sparse.coo_array((np.ones(3), np.asarray([[0, 1, 2], [2, 0, 1]])))
    separate = sparse.coo_array((np.ones(3), (np.asarray([0, 1, 2]), np.asarray([2, 0, 1]))))
    narrow = sparse.coo_array((np.ones(3), np.asarray([[0, 1, 2], [2, 0, 1]], np.int32)))
    assert xo.explain("convert", joined, "torch", copy=False).action == "zero-copy"
    assert xo.shares_memory(joined.coords[1], xo.convert(joined, "torch", copy=False)._indices())
    for s in (separate, narrow):
        found = xo.explain("convert", s, "torch")
        assert (found.action, found.nbytes) == ("copy", 2 * 3 * 8), found
        assert xo.explain("convert", s, "torch", copy=False).action == "refuse"
        with pytest.raises(xo.ExchangeError, match=r"copy=False\): coords: copied first, .*Instead: copy=None"):
            xo.convert(s, "torch", copy=False)
        np.testing.assert_array_equal(xo.convert(s, "torch").to_dense(), s.toarray())


def test_padding_is_removed_outside_jax():
    jax = pytest.importorskip("jax")
    s = xo.sparse.from_dense(jax.numpy.asarray(X), nnz_max=9)
    assert xo.sparse.parts(s).data.shape == (9,)
    assert xo.convert(s, "numpy").nnz == 4


def test_formats_that_the_target_library_lacks():
    pytest.importorskip("jax")
    with pytest.raises(xo.Unsupported, match=r"jax has no csc containers\. Instead"):
        xo.sparse.convert(made("csc"), backend="jax")
    with pytest.raises(xo.Unsupported, match=r"jax has no bsr containers\. Instead"):
        xo.convert(made("bsr"), "jax")
    with pytest.raises(xo.Unsupported, match="dask has no supported sparse containers"):
        xo.convert(made("csr"), "dask")


def test_float16_cannot_be_converted_to_scipy():
    torch = pytest.importorskip("torch")
    s = xo.sparse.from_dense(torch.eye(3, dtype=torch.float16))
    with pytest.raises(xo.Unsupported, match=r"no float16\. Instead"):
        xo.convert(s, "numpy")


def test_containers_that_require_gradients_cannot_be_converted():
    torch = pytest.importorskip("torch")
    s = xo.sparse.from_dense(torch.eye(3, requires_grad=True))
    with pytest.raises(xo.ExchangeError, match="gradient"):
        xo.convert(s, "numpy")


def test_conversion_to_the_same_format_returns_the_container():
    s = made("csr")
    assert xo.sparse.convert(s) is s
    assert xo.sparse.convert(s, "csr", "numpy") is s
    blocks = made("bsr")
    assert xo.sparse.convert(blocks, block=(1, 2)) is blocks
    assert xo.sparse.convert(blocks, block=(3, 4)).blocksize == (3, 4)


@pytest.mark.parametrize("format", ["coo", "csr", "csc", "bsr"])
def test_a_copy_within_a_library(format):
    s = made(format)
    copied = xo.convert(s, "numpy", copy=True)
    assert xo.convert(s, "numpy") is s
    assert copied.format == format
    np.testing.assert_array_equal(copied.toarray(), s.toarray())
    for array in xo.sparse.parts(copied).single_arrays.values():
        assert not any(np.shares_memory(array, own) for own in xo.sparse.parts(s).single_arrays.values())


def test_other_formats_of_scipy():
    with pytest.raises(xo.Unsupported, match=r"dia_array.*Instead: s\.tocsr\(\)"):
        xo.sparse.convert(sparse.eye_array(3), "csr")
    with pytest.raises(xo.Unsupported, match=r"xo\.sum: argument x is a sparse csr_array\. Instead"):
        xo.sum(made("csr"))


class TestExplain:
    def test_kernels(self):
        found = xo.explain("sparse.from_dense", X)
        assert found.chosen == "numpy:host"
        assert xo.explain(xo.sparse.to_dense, made("csr")).verb == "sparse.to_dense"
        assert xo.explain("matmul", made("csr"), np.ones(4)).chosen == "numpy:host"

    def test_reasons(self):
        torch = pytest.importorskip("torch")
        x = torch.eye(3, requires_grad=True)
        named = {c.name: c for c in xo.explain("sparse.from_dense", x).candidates}
        assert named["torch:torch"].ok
        assert "gradient" in named["torch:host"].reason
        plain = xo.explain("sparse.from_dense", torch.eye(3))
        assert plain.chosen == "torch:host"

    def test_conversion(self):
        pytest.importorskip("torch")
        found = xo.explain("convert", made("csr"), "torch")
        assert (found.action, found.nbytes) == ("zero-copy", 0)
        assert xo.explain("sparse.convert", made("csr"), backend="torch").action == "zero-copy"
        copied = xo.explain("convert", made("csr"), "torch", copy=True)
        assert copied.action == "copy"
        assert copied.nbytes == sum(a.nbytes for a in arrays(made("csr")).values())
        both = xo.explain("sparse.convert", made("csr"), "csc", backend="torch")
        assert both.chosen == "numpy:host"
        assert "then numpy->torch" in both.summary

    def test_errors_of_the_call(self):
        with pytest.raises(xo.Unsupported, match=r"nothing to explain for 'sparse\.parts'"):
            xo.explain("sparse.parts", made("csr"))
        with pytest.raises(TypeError, match="is dense"):
            xo.explain("sparse.to_dense", X)


def test_backend_and_device():
    s = made("csr")
    assert xo.backend(s).name == "numpy"
    assert xo.device(s) == "cpu"
    assert not xo.is_lazy(s)
