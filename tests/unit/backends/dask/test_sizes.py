"""Dask arrays of unknown sizes: unsupported calls raise one clear error, which says what to do instead."""

import numpy as np
import pytest

import xarrayops as xo

dask_array = pytest.importorskip("dask.array")


def unknown(values, chunks=2):
    """A Dask array of unknown size: a boolean filter that keeps all of the values."""
    x = dask_array.from_array(np.asarray(values), chunks=chunks)
    return x[dask_array.ones(x.shape[0], chunks=x.chunks[0]) > 0]


MATRIX = unknown(np.eye(4))
VECTOR = unknown(np.arange(4.0))
OTHER = dask_array.from_array(np.arange(4.0), chunks=4)
INDEX = dask_array.from_array(np.asarray([0, 1]))

CALLS = {
    "matmul": lambda: xo.matmul(dask_array.eye(4, chunks=2), MATRIX),
    "vecdot": lambda: xo.vecdot(VECTOR, OTHER),
    "einsum": lambda: xo.einsum("ij,jk->ik", dask_array.eye(4, chunks=2), MATRIX[:, :2]),
    "add": lambda: xo.add(VECTOR, OTHER),
    "linalg.det": lambda: xo.linalg.det(MATRIX),
    "linalg.eigh": lambda: xo.linalg.eigh(MATRIX),
    "linalg.inv": lambda: xo.linalg.inv(MATRIX),
    "linalg.qr": lambda: xo.linalg.qr(MATRIX),
    "linalg.solve": lambda: xo.linalg.solve(dask_array.eye(4), VECTOR),
    "linalg.svdvals": lambda: xo.linalg.svdvals(MATRIX),
    "linalg.diagonal": lambda: xo.linalg.diagonal(MATRIX),
    "linalg.trace": lambda: xo.linalg.trace(MATRIX),
    "fft.fft": lambda: xo.fft.fft(VECTOR),
    "fft.fftshift": lambda: xo.fft.fftshift(VECTOR),
    "argmax": lambda: xo.argmax(MATRIX),
    "cov": lambda: xo.cov(MATRIX, rowvar=False),
    "corrcoef": lambda: xo.corrcoef(MATRIX, rowvar=False),
    "broadcast_to": lambda: xo.broadcast_to(VECTOR, (2, 4)),
    "stack": lambda: xo.stack([VECTOR, OTHER]),
    "cumulative_sum": lambda: xo.cumulative_sum(VECTOR),
    "cumulative_prod": lambda: xo.cumulative_prod(MATRIX, axis=0),
    "diff": lambda: xo.diff(VECTOR),
    "flip": lambda: xo.flip(MATRIX, axis=0),
    "reshape": lambda: xo.reshape(VECTOR, (2, 2)),
    "roll": lambda: xo.roll(MATRIX, 1),
    "searchsorted": lambda: xo.searchsorted(VECTOR, OTHER),
    "sort": lambda: xo.sort(VECTOR),
    "tril": lambda: xo.tril(MATRIX),
    "unique_inverse": lambda: xo.unique_inverse(VECTOR),
    "at": lambda: xo.at(VECTOR)[INDEX].add(1.0),
}


@pytest.mark.parametrize("verb", CALLS)
def test_error_of_unknown_sizes(verb):
    with pytest.raises(
        xo.Unsupported,
        match=r"sizes .* shape \(nan.* xo\.convert\(xo\.compute\(x\), \"dask\"\).* x\.compute_chunk_sizes\(\)",
    ) as error:
        CALLS[verb]()
    assert str(error.value).startswith(f"xo.{verb} ")


def test_the_advice_of_the_error_makes_the_call_work():
    x = unknown(np.eye(4) * 2)
    for known in (xo.convert(xo.compute(x), "dask"), unknown(np.eye(4) * 2).compute_chunk_sizes()):
        assert xo.is_lazy(known)
        assert float(xo.compute(xo.linalg.det(known))) == pytest.approx(16)


def test_other_errors_are_unchanged():
    with pytest.raises(ValueError, match="mode must be"):
        xo.linalg.qr(dask_array.eye(4), mode="other")
    with pytest.raises(ValueError, match="do not fit"):
        xo.linalg.det(dask_array.ones((2, 3)))


def test_functions_without_sizes_stay_lazy():
    assert float(xo.compute(xo.sum(xo.exp(VECTOR - VECTOR)))) == 4
    assert xo.compute(xo.multiply(VECTOR, VECTOR)).tolist() == [0, 1, 4, 9]
