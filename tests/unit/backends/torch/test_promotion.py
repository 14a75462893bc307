"""Promotion where PyTorch refuses: its wide unsigned integers with other kinds."""

import numpy as np
import pytest

import xarrayops as xo

torch = pytest.importorskip("torch", exc_type=ImportError)
WIDE = (torch.uint16, torch.uint32, torch.uint64)


@pytest.mark.parametrize("inexact", [torch.float16, torch.float32, torch.float64, torch.complex64], ids=str)
@pytest.mark.parametrize("wide", WIDE, ids=str)
def test_inexact_dtypes_absorb_integers(wide, inexact):
    assert xo.result_type(wide, inexact) is xo.result_type(torch.int64, inexact) is inexact
    assert xo.can_cast(wide, inexact)
    total = xo.add(torch.ones(2, dtype=wide), torch.ones(2, dtype=inexact))
    assert (total.dtype, total.tolist()) == (inexact, [2, 2])


def test_large_unsigned_integers_are_in_order():
    x, y = np.asarray([[2**63, 2**64 - 1, 0, 2**63], [1, 2**63, 2**64 - 1, 2**63]], np.uint64)
    for verb in ("less", "less_equal", "greater", "greater_equal", "equal", "maximum", "minimum"):
        found = getattr(xo, verb)(torch.from_numpy(x), torch.from_numpy(y))
        np.testing.assert_array_equal(found.numpy(), getattr(np, verb)(x, y), strict=True)


@pytest.mark.parametrize("signed", [torch.int8, torch.int64], ids=str)
def test_uint64_beside_signed_integers(signed):
    x, y = torch.ones(2, dtype=torch.uint64), torch.ones(2, dtype=signed)
    assert not xo.can_cast(torch.uint64, signed)
    for call in (xo.result_type, xo.add, xo.matmul):
        with pytest.raises(xo.Unsupported, match=r"does not promote uint64 and int\d+\. Instead: xo\.astype"):
            call(x, y)


def test_sparse_operands():
    sparse = pytest.importorskip("scipy.sparse")

    def container(dtype):
        return xo.sparse.convert(sparse.csr_array(np.eye(3, dtype=dtype)), backend="torch")

    for verb, expected in ((xo.sparse.add, 6), (xo.sparse.multiply, 3), (xo.matmul, 3)):
        total = xo.sparse.sum(verb(container("uint16"), container("complex64")))
        assert (total.dtype, total.item()) == (torch.complex64, expected)
        with pytest.raises(xo.Unsupported, match=r"xo\.astype"):
            verb(container("uint64"), container("int8"))


@pytest.mark.parametrize("given", [(None,), (None, torch.float32), ("float32",)], ids=str)
def test_what_has_no_dtype_is_refused(given):
    with pytest.raises(TypeError, match="result_type takes arrays, dtypes and numbers"):
        xo.backend("torch").namespace.result_type(*given)
