"""The sparse verbs: numbers with dtypes, memory of results, tracers, index dtypes, and error messages."""

import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

import xarrayops as xo

sparse = pytest.importorskip("scipy.sparse")
X = np.asarray([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, -4, 0]], np.float32)
S = xo.sparse.from_dense(X)


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.int64(2), np.asarray(2.0), 2, 2.0])
def test_multiplication_by_a_number(number):
    got = xo.sparse.multiply(S, number)
    np.testing.assert_array_equal(got.toarray(), X * number, strict=True)
    np.testing.assert_array_equal(xo.sparse.multiply(number, S).toarray(), X * number, strict=True)


@pytest.mark.parametrize("number", [np.float64(2), 2, 2.0])
def test_thresholds(number):
    limit = xo.sparse.from_dense(X, where=number)
    np.testing.assert_array_equal(limit.toarray(), np.where(np.abs(X) > 2, X, 0))


@pytest.mark.parametrize("number", [float("nan"), True, "gelu", 1j])
def test_invalid_conditions(number):
    with pytest.raises(ValueError, match="Instead: 'relu', a number"):
        xo.sparse.from_dense(X, where=number)


CALLS = {
    "multiply": lambda s: xo.sparse.multiply(s, 2.0),
    "multiply dense": lambda s: xo.sparse.multiply(s, X),
    "multiply sparse": lambda s: xo.sparse.multiply(s, s),
    "add": lambda s: xo.sparse.add(s, s),
    "sddmm": lambda s: xo.sparse.sddmm(np.ones((3, 2)), np.ones((2, 4)), s),
    "csr": lambda s: xo.sparse.convert(s, "csr"),
    "csc": lambda s: xo.sparse.convert(s, "csc"),
    "coo": lambda s: xo.sparse.convert(s, "coo"),
    "bsr": lambda s: xo.sparse.convert(s, "bsr", block=(1, 2)),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr"])
def test_results_share_no_memory_with_operands(format, call):
    s = xo.sparse.from_dense(X, format, block=(3, 4) if format == "bsr" else None)
    got = CALLS[call](s)
    if got is s:
        assert call == format
        return
    for a in xo.sparse.parts(got).arrays.values():
        assert not any(np.shares_memory(a, b) for b in xo.sparse.parts(s).arrays.values())


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("pair", [("uint16", "complex64"), ("uint32", "int8"), ("uint8", "complex64")])
def test_unsigned_beside_signed_and_complex_operands(library, pair):
    pytest.importorskip(library)
    unsigned, other = (xo.sparse.from_dense(xo.asarray([[0, 2], [3, 0]], dtype=d, backend=library)) for d in pair)
    for a, b in ((unsigned, other), (other, unsigned)):
        results = (xo.sparse.add(a, b), xo.sparse.multiply(a, b), xo.matmul(a, b))
        for got, want in zip(results, ([[0, 4], [6, 0]], [[0, 4], [9, 0]], [[6, 0], [0, 6]]), strict=True):
            assert xo.convert(xo.sparse.to_dense(got), "numpy").tolist() == want


def test_unsigned_operands_that_pytorch_does_not_promote():
    torch = pytest.importorskip("torch")
    x = torch.asarray([[0, 2], [3, 0]])
    operands = xo.sparse.from_dense(x.to(torch.uint64)), xo.sparse.from_dense(x)
    for function in (xo.sparse.add, xo.sparse.multiply, xo.matmul):
        with pytest.raises(xo.Unsupported, match=r"PyTorch does not promote .* Instead: xo\.astype"):
            function(*operands)


def test_promotion_follows_the_library():
    torch = pytest.importorskip("torch")
    s = xo.sparse.from_dense(torch.tensor([[0, 2], [3, 0]], dtype=torch.int32))
    got = xo.sparse.multiply(s, 0.5)
    assert got.dtype is torch.float32
    assert got.to_dense().tolist() == [[0, 1], [1.5, 0]]


class TestTracers:
    def test_values_may_be_traced_without_indices(self):
        jax = pytest.importorskip("jax")
        indptr, indices = jax.numpy.asarray([0, 1, 2]), jax.numpy.asarray([1, 0])

        def total(values):
            s = xo.sparse.from_parts("csr", indptr, indices, values, shape=(2, 2))
            xo.sparse.validate(s)
            return xo.sum(xo.matmul(s, jax.numpy.asarray([1.0, 10.0])))

        values = jax.numpy.asarray([2.0, 3.0])
        assert jax.jit(total)(values) == 23
        assert jax.grad(total)(values).tolist() == [10, 1]
        with pytest.raises(xo.InvalidSparse, match=r"indices\[0\], in row 0, is 1"):
            jax.jit(lambda v: xo.sparse.from_parts("csr", indptr, indices, v, shape=(2, 1)).data)(values)

    def test_traced_indices_need_check_false(self):
        jax = pytest.importorskip("jax")
        one = jax.numpy.asarray([1.0])

        def data_of(indices, check):
            return xo.sparse.from_parts("coo", indices, one, shape=(2, 2), check=check).data

        indices = jax.numpy.asarray([[0], [1]])
        assert jax.jit(data_of, static_argnums=1)(indices, False).tolist() == [1]
        with pytest.raises(xo.Unsupported, match=r"coords cannot be checked while traced.*Instead: check=False"):
            jax.jit(data_of, static_argnums=1)(indices, True)


class TestIndexDtypes:
    def test_jax_without_64_bits_accepts_indices_that_fit(self):
        jax = pytest.importorskip("jax")
        wide = xo.sparse.from_dense(X, index_dtype="int64")
        if not jax.config.jax_enable_x64:
            assert xo.sparse.parts(xo.convert(wide, "jax")).indices.dtype == np.int32
        np.testing.assert_array_equal(xo.convert(wide, "jax").todense(), X)

    def test_conversion_from_pytorch_to_another_format(self):
        pytest.importorskip("jax")
        torch = pytest.importorskip("torch")
        s = xo.sparse.from_dense(torch.asarray(X))
        np.testing.assert_array_equal(xo.sparse.convert(s, "coo", "jax").todense(), X)


class TestExplain:
    def test_a_container_of_the_same_library(self):
        jax = pytest.importorskip("jax")
        s = xo.sparse.from_dense(jax.numpy.asarray(X))
        assert xo.convert(s, "jax") is s
        assert xo.explain("convert", s, "jax").action == "zero-copy"
        assert xo.explain("sparse.convert", s, "csr", "jax").action == "zero-copy"

    def test_a_format_that_only_the_target_supports(self):
        jax = pytest.importorskip("jax")
        s = xo.sparse.from_dense(jax.numpy.asarray(X))
        found = xo.explain("sparse.convert", s, "csc", "numpy")
        assert "then numpy converts it to csc" in found.summary
        assert found.verb == "sparse.convert"


MESSAGES = {
    r"from_dense\(s\)": lambda: xo.sparse.to_dense(X),
    "unknown format 'torch'.*backend= for a library": lambda: xo.sparse.convert(S, "torch"),
    r"the inner sizes 4 and 3 differ": lambda: xo.matmul(S, S),
    "it takes a matrix or a vector": lambda: xo.matmul(S, np.ones((2, 4, 2))),
    "twice.*Instead: canonicalize=True": lambda: xo.sparse.from_parts(
        "csr", np.asarray([0, 2]), np.asarray([1, 1]), np.ones(2), shape=(1, 2)
    ),
    "block=2 is not a pair": lambda: xo.sparse.from_dense(X, "bsr", block=2),
    "is more than the number of elements": lambda: xo.sparse.from_dense(X, nnz_max=2**62),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_error_messages(message):
    with pytest.raises((TypeError, ValueError), match=message):
        MESSAGES[message]()


class TestUnsafeContainers:
    """Containers for which the libraries' own kernels would crash or return wrong values."""

    def test_containers_are_checked_before_conversion(self):
        torch = pytest.importorskip("torch")
        indptr, indices = torch.tensor([0, 10**8, 2]), torch.tensor([0, 1])
        s = torch.sparse_csr_tensor(indptr, indices, torch.ones(2), (2, 3), check_invariants=False)
        with pytest.raises(xo.InvalidSparse, match=r"indptr\[2\] is 2"):
            xo.sparse.convert(s, backend="numpy")
        with pytest.raises(xo.InvalidSparse, match="indptr"):
            xo.convert(s, "numpy")

    def test_parts_of_separate_arrays_are_copied(self):
        row, column = np.arange(3), np.arange(3)
        s = sparse.coo_array((np.ones(3), (row, column)), shape=(3, 3))
        coords = xo.sparse.parts(s).coords
        assert not np.shares_memory(coords, row)
        assert not np.shares_memory(coords, column)
        pytest.importorskip("torch")
        t = xo.convert(s, "torch")
        assert t._indices().untyped_storage().nbytes() <= 2 * 3 * 8

    @pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
    def test_coordinates_in_two_heaps(self, library):
        """In a separate process, because a copy of a view across two heaps would be a segmentation fault."""
        pytest.importorskip(library)
        program = f"""
            import threading, numpy as np, scipy.sparse, xarrayops as xo
            row, made = np.arange(500), []
            thread = threading.Thread(target=lambda: made.append(np.arange(500)))
            thread.start(), thread.join()
            s = scipy.sparse.coo_array((np.ones(500, "float32"), (row, made[0])))
            assert xo.sparse.parts(s).coords.tolist() == [list(range(500))] * 2
            t = xo.convert(s, "{library}")
            assert (np.asarray(xo.convert(xo.sparse.to_dense(t), "numpy")) == np.eye(500)).all()
        """
        process = subprocess.run([sys.executable, "-c", dedent(program)], capture_output=True, text=True, check=False)
        assert process.returncode == 0, f"{process.returncode}: {process.stderr[-2000:]}"

    def test_parts_are_a_view_if_the_coordinates_are_rows_of_one_array(self):
        wide = np.arange(40).reshape(4, 10)
        for coords in (wide, wide[1:3], wide[::-2, ::3], wide[:, :7].astype(np.int32)):
            s = xo.sparse.from_parts("coo", coords, np.ones(coords.shape[1]), shape=(99,) * len(coords), check=False)
            found = xo.sparse.parts(s).coords
            np.testing.assert_array_equal(found, coords)
            assert np.shares_memory(found, coords)

    @pytest.mark.parametrize(
        "rows", ["of several arrays", "at unequal strides", "of several dtypes", "of separate buffers"]
    )
    def test_parts_are_a_copy_if_the_coordinates_are_not_rows_of_one_array(self, rows):
        wide = np.arange(40).reshape(4, 10)
        coords = {
            "of several arrays": (wide[0], wide[1].copy()),
            "at unequal strides": (wide[0], wide[1], wide[3]),
            "of several dtypes": (wide[0], wide[1].view(np.uint64).astype(np.int32)),
            "of separate buffers": tuple(np.frombuffer(bytearray(x.tobytes()), np.int64) for x in wide),
        }[rows]
        s = sparse.coo_array((100,) * len(coords), dtype=float)
        s.coords, s.data = coords, np.ones(10)
        found = xo.sparse.parts(s).coords
        np.testing.assert_array_equal(found, np.stack(coords))
        assert not any(np.shares_memory(found, x) for x in coords)
        np.testing.assert_array_equal(xo.sparse.to_dense(s), s.toarray())

    @pytest.mark.parametrize("axis", [None, 0, 1])
    def test_duplicates_are_summed_in_their_own_dtype(self, axis):
        s = sparse.csr_array((1, 1), dtype=np.int8)
        s.indptr, s.indices, s.data = np.asarray([0, 2]), np.asarray([0, 0]), np.asarray([100, 100], np.int8)
        total = xo.sparse.sum(s, axis=axis)
        assert total.dtype == np.int64
        assert int(total.reshape(())) == int(xo.sparse.to_dense(s)[0, 0]) == -56

    def test_large_integers_are_exact(self):
        x = np.asarray([[2**53 + 1, -(2**53) - 2]])
        assert xo.sparse.from_dense(x, where=2**53 + 1).toarray().tolist() == [[0, -(2**53) - 2]]
        with pytest.raises(ValueError, match="beyond the range"):
            xo.sparse.from_dense(x, where=10**400)

    def test_coo_of_three_axes_is_sorted(self):
        coords = np.asarray([[1, 0, 1], [0, 1, 0], [2, 0, 2]])
        s = xo.sparse.from_parts("coo", coords, np.asarray([1.0, 2, 3]), shape=(2, 2, 3), canonicalize=True)
        xo.sparse.validate(s, canonical=True)
        want = np.zeros((2, 2, 3))
        want[1, 0, 2], want[0, 1, 0] = 4, 2
        np.testing.assert_array_equal(xo.sparse.to_dense(s), want)

    def test_sums_of_float16_are_rounded_once(self):
        torch = pytest.importorskip("torch")
        positions, ones = torch.zeros(3, 4000, dtype=torch.int64), torch.ones(4000, dtype=torch.float16)
        s = torch.sparse_coo_tensor(positions, ones, (1, 1, 1), check_invariants=False)
        assert xo.sparse.to_dense(s).item() == 4000

    def test_canonicalized_parts_are_copies(self):
        arrays = np.asarray([0, 1]), np.asarray([0]), np.ones(1)
        s = xo.sparse.from_parts("csr", *arrays, shape=(1, 1), canonicalize=True)
        assert not any(np.shares_memory(a, b) for a in arrays for b in (s.indptr, s.indices, s.data))

    @pytest.mark.parametrize("block", [(2, 2), (0, 1), (-1, -4), (3,), 2, (3.0, 1.0), (True, True)])
    def test_invalid_blocks(self, block):
        with pytest.raises(ValueError, match="block"):
            xo.sparse.convert(S, "bsr", block=block)
        with pytest.raises(ValueError, match="required for the format bsr"):
            xo.sparse.convert(S, "csr", block=(3, 4))

    def test_pointers_out_of_range_under_jit(self):
        """In a separate process, because Eigen would read out of bounds."""
        pytest.importorskip("jax")
        program = """
            import jax, jax.numpy as jnp, xarrayops as xo
            from jax.experimental.sparse import BCSR
            for far in (20, 10**8, -(10**8)):
                s = BCSR((jnp.ones(3), jnp.array([0, 1, 2]), jnp.array([0, far, 3])), shape=(2, 3))
                jax.jit(lambda s, b: xo.matmul(s, b))(s, jnp.ones((3, 2))).block_until_ready()
                made = lambda d: BCSR((d, s.indices, s.indptr), shape=(2, 3))
                try:
                    jax.grad(lambda d: xo.sum(xo.matmul(made(d), jnp.ones((3, 2)))))(jnp.ones(3))
                except xo.InvalidSparse as error:
                    assert "indptr" in str(error)
                else:
                    raise AssertionError("concrete indices must be checked")
        """
        process = subprocess.run([sys.executable, "-c", dedent(program)], capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr[-2000:]

    def test_parts_with_too_few_axes(self):
        with pytest.raises(xo.InvalidSparse, match="data has 1 axes, not 3"):
            xo.sparse.from_parts("bsr", np.zeros(2, int), np.zeros(0, int), np.zeros(0), shape=(1, 1), check=False)
        with pytest.raises(xo.InvalidSparse, match="coords has 1 axes, not 2"):
            xo.sparse.from_parts("coo", np.zeros(2, int), np.zeros(2), shape=(1, 1), check=False)

    def test_messages_for_unsupported_scipy_containers_name_the_verb(self):
        with pytest.raises(xo.Unsupported, match=r"xo\.sparse\.to_dense\(.*Instead: s\.tocoo\(\)"):
            xo.sparse.to_dense(sparse.csr_array(np.asarray([0, 1.0])))
        with pytest.raises(xo.Unsupported, match=r"xo\.matmul\(.*dok.*Instead: s\.tocsr\(\)"):
            xo.matmul(sparse.dok_array((2, 2)), np.ones(2))
