"""The sparse suite's oracle against SciPy and NumPy; the suite against wrong backends; SciPy's own classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import xarrayops as xo
from xarrayops.testing import Variant
from xarrayops.testing._suite.sparse import oracle
from xarrayops.testing._suite.sparse.cases import OPERANDS, ROWS, distinct, scattered
from xarrayops.testing._suite.sparse.check import check_sparse_row
from xarrayops.testing._suite.sparse.oracle import Entries

FORMATS = ("coo", "csr", "csc", "bsr")
A, B = scattered("float64"), distinct("float64", seed=1)
"""Two matrices of the same shape; the first is not sorted and has duplicates."""
NUMPY = Variant("numpy")


def dense(value_at: oracle.ValueAt, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape)
    for position, value in value_at.items():
        out[position] = value
    return out


def native(e: Entries, format: str) -> Any:
    """The entries as a container of SciPy, converted by SciPy."""
    coo = scipy.sparse.coo_array((e.data, tuple(e.coords)), shape=e.shape)
    return coo.asformat(format) if format != "bsr" else coo.tobsr((2, 3))


@pytest.mark.parametrize("name", [name for name, e in OPERANDS.items() if e.data.dtype.kind != "b"])
def test_conversions_of_the_oracle_equal_scipys(name: str) -> None:
    e = OPERANDS[name]
    want = native(e, "coo").toarray()
    np.testing.assert_allclose(e.dense(), want, rtol=1e-6)
    for format in FORMATS:
        block = (2, 3) if format == "bsr" and e.shape[0] % 2 == 0 and e.shape[1] % 3 == 0 else None
        if format == "bsr" and block is None:
            continue
        p = oracle.parts_of(e, format, "int64", block)
        np.testing.assert_allclose(oracle.entries_of(p).dense(), want, rtol=1e-6)
        arrays = (p.data, tuple(p.coords)) if format == "coo" else (p.data, p.indices, p.indptr)
        made = getattr(scipy.sparse, f"{format}_array")(arrays, shape=e.shape)
        np.testing.assert_allclose(made.toarray(), want, rtol=1e-6)


def test_results_of_the_oracle_equal_numpys() -> None:
    a, b, x = A.dense(), B.dense(), np.arange(24.0).reshape(6, 4)
    for got, want in (
        (oracle.transposed(A), a.T),
        (oracle.added(A, B), a + b),
        (oracle.multiplied(A, B), a * b),
        (oracle.scaled(A, x.T[0]), a * x.T[0]),
        (oracle.product(A, Entries(x.shape, np.indices(x.shape).reshape(2, -1), x.ravel())), a @ x),
        (oracle.sampled(x.T, x, Entries((4, 4), np.indices((4, 4)).reshape(2, -1), np.ones(16))), x.T @ x),
    ):
        np.testing.assert_allclose(dense(got, want.shape), want, atol=1e-12)
    np.testing.assert_allclose(oracle.times_dense(A, x), a @ x)
    np.testing.assert_allclose(oracle.times_dense(A, x[:, 0]), a @ x[:, 0])
    np.testing.assert_allclose(oracle.dense_times(x, A), x @ a)
    for axis in (None, 0, 1, -1):
        np.testing.assert_allclose(oracle.total(A, axis), a.sum(axis=axis))
    flags = scattered("bool")
    assert oracle.total(flags, None) == np.count_nonzero(flags.dense())


@pytest.mark.parametrize("format", FORMATS)
def test_the_oracle_detects_the_canonical_format(format: str) -> None:
    block = (1, 1) if format == "bsr" else None
    canonical, mixed = (oracle.parts_of(e, format, "int32", block) for e in (distinct(), scattered()))
    assert oracle.is_canonical(canonical)
    assert not oracle.is_canonical(mixed)
    twice = oracle.parts_of(Entries((2, 2), np.asarray([[1, 1], [0, 0]]), np.ones(2)), format, "int32", block)
    assert not oracle.is_canonical(twice)


@contextmanager
def replaced(verb: str, function: Callable[..., Any]) -> Iterator[None]:
    """Replace one sparse function of NumPy's backend by ``function``, whose first argument is the correct function."""
    functions = NUMPY.backend.sparse.functions
    right = functions[verb]
    functions[verb] = lambda *args: function(right, *args)
    try:
        yield
    finally:
        functions[verb] = right


def _one_index_off(right: Any, *args: Any) -> Any:
    s = right(*args)
    if s.nnz and s.format in ("csr", "csc"):
        s.indices[-1] = (s.indices[-1] + 1) % s.shape[1 if s.format == "csr" else 0]
    return s


def _a_little_off(right: Any, *args: Any) -> Any:
    return right(*args) * (1 + 1e-4)


def _reverses_order(right: Any, *args: Any) -> Any:
    s = right(*args)
    if s.format == "csr":
        reversed_ = np.concatenate([np.arange(*bounds)[::-1] for bounds in pairwise(s.indptr)] or [[]]).astype(int)
        return scipy.sparse.csr_array((s.data[reversed_], s.indices[reversed_], s.indptr), shape=s.shape)
    return s


def _writes_its_operand(right: Any, s: Any, *args: Any) -> Any:
    got = right(s, *args)
    s.data[...] = 0
    return got


def _wrong_format(right: Any, *args: Any) -> Any:
    return right(*args).tocsr()


def _dense(right: Any, *args: Any) -> Any:
    return right(*args).toarray()


def _wide(right: Any, *args: Any) -> Any:
    return right(*args).astype("complex128")


def _forgets_duplicates(right: Any, s: Any) -> Any:
    out = np.zeros(s.shape, s.dtype)
    coo = s.tocoo()
    out[tuple(coo.coords)] = coo.data
    return out


def _raises(right: Any, *args: Any) -> Any:
    raise RuntimeError("no kernel")


BROKEN = {
    "add": (_one_index_off, r"positions: unexpected entries|order:|InvalidSparse"),
    "matmul": (_a_little_off, "values:"),
    "sddmm": (_wrong_format, "format: csr, expected coo"),
    "multiply": (_wide, "dtype: complex128, .*expected float32"),
    "to_dense": (_forgets_duplicates, "values:"),
    "sum": (_writes_its_operand, "operand: the call has written to its data"),
    "transpose": (_dense, "class: numpy.ndarray is not a sparse container"),
    "take": (_reverses_order, "InvalidSparse"),
    "scale": (_a_little_off, "values:"),
    "sqrt": (_wide, "dtype: complex128, .*expected float32"),
    "norm": (lambda right, *args: right(*args) * 1.001, "values:"),
}


def failures(*verbs: str) -> dict[str, str]:
    """The messages of the rows of these verbs that fail on NumPy's backend, by verb."""
    found: dict[str, list[str]] = {}
    for row in ROWS:
        verb = row.verb.removeprefix("sparse.")
        if verb not in verbs:
            continue
        try:
            check_sparse_row(NUMPY, row)
        except AssertionError as error:
            found.setdefault(verb, []).append(str(error))
    return {verb: "\n".join(messages) for verb, messages in found.items()}


@pytest.mark.parametrize(("verb", "other"), list(pairwise([*BROKEN, next(iter(BROKEN))])))
def test_only_the_wrong_function_fails(verb: str, other: str) -> None:
    function, message = BROKEN[verb]
    with replaced(verb, function):
        found = failures(verb, other)
    assert found.keys() == {verb}
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(found[verb])


def test_unsorted_results_and_errors_fail() -> None:
    row = next(row for row in ROWS if row.verb == "sparse.sddmm")
    for function, message in ((_reverses_order, "InvalidSparse"), (_raises, "RuntimeError: no kernel")):
        with replaced("sddmm", function), pytest.raises(AssertionError, match=message):
            check_sparse_row(NUMPY, row)


@pytest.mark.parametrize("format", FORMATS)
def test_matrices_are_accepted_and_arrays_returned(format: str) -> None:
    """SciPy's matrix classes are accepted as operands; results are of SciPy's array classes."""
    old = getattr(scipy.sparse, f"{format}_matrix")(native(A, format))
    new = native(B, format)
    for got in (xo.sparse.add(old, new), xo.sparse.multiply(old, 2.0), xo.sparse.transpose(old), xo.matmul(old, new.T)):
        assert isinstance(got, scipy.sparse.sparray), type(got)
    np.testing.assert_allclose(xo.sparse.multiply(old, new).toarray(), A.dense() * B.dense())
    np.testing.assert_allclose(xo.sparse.to_dense(old), A.dense())
    assert type(xo.sparse.to_dense(old)) is np.ndarray


@pytest.mark.parametrize("format", ["dia", "lil", "dok"])
def test_unsupported_formats_raise(format: str) -> None:
    with pytest.raises(xo.Unsupported, match=r"Instead: s\.tocsr\(\)"):
        xo.sparse.to_dense(native(A, "csr").asformat(format))
