"""What only NumPy has, such as text and objects, is served by NumPy itself, and refused for other libraries."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest

import xarrayops as xo
import xarrayops.numpy as ours

ARRAYS = {
    "objects": numpy.array([None, 1, "a"], dtype=object),
    "decimals": numpy.array([Decimal(1), Decimal(2)]),
    "text": numpy.array(["b", "a", "b"]),
    "days": numpy.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "seconds": numpy.array([1, 2], dtype="timedelta64[s]"),
    "records": numpy.array([(3, 2.0), (1, 4.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "masked": numpy.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    "long": numpy.array([1, 2], dtype=numpy.longdouble),
    "x": numpy.arange(6.0).reshape(2, 3),
    "Decimal": Decimal,
    "Fraction": Fraction,
    "datetime": datetime,
}
CREATED = """
np.array([None] * 3)
np.array([[None] * 3]).T
np.array("text")
np.array(["a", "b"])
np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
np.array([1, "a"])
np.array([[1, 2], [3, None]])
np.array([datetime.date(2020, 1, 1)])
np.array([Fraction(1, 2)])
np.array({"a": 1})
np.array([b"a", b"b"])
np.array([1, 2], dtype=str)
np.array([1.5, 2], dtype=object)
np.array([[1, 2], [3]], dtype=object)
np.array([1, 2**70])
np.zeros(3, dtype=object)
np.empty(3, dtype=object)
np.zeros(3, dtype="i4,f8")
np.ones(2, dtype="O")
np.full(3, None)
np.full(3, "a")
np.full((2,), "a", dtype=object)
np.eye(2, dtype=object)
np.linspace(0, 1, 3, dtype=object)
np.arange("2020-01", "2020-03", dtype="datetime64[M]")
np.dtype(object)
np.dtype([("a", "i4")])
np.result_type("U3", "U5")
np.sort(np.array(["b", "a"]))
np.atleast_1d("a")
np.shape([["a", "b"]])
np.ndim([None, None])
""".strip().splitlines()
COMPUTED = """
np.where(x > 0, "pos", "neg")
np.select([x > 1], [x], "a")
np.unique(text, return_counts=True)
np.isin(text, ["a"])
np.isin(text, {"a"})
np.hstack([text, ["z"]])
np.append(text, "z")
np.insert(text, 0, "q")
np.argsort(text)
np.equal(text, "a")
np.greater(text, "a")
np.logical_and(text == "a", x[0] > 0)
np.add("a", "b")
np.array(text, dtype="U10")
np.array(text, dtype=object)
np.full_like(text, "q")
np.astype(text, object)
np.pad(text, 1, constant_values="")
np.sum(decimals)
np.add(decimals, decimals)
np.add.reduce(decimals)
np.add.outer(decimals, decimals)
np.add.accumulate(decimals)
np.dot(decimals, decimals)
np.mean(decimals)
np.power(decimals, 2)
np.linalg.norm(np.array([3, 4], dtype=object))
np.not_equal(objects, None)
np.nonzero(objects)
np.reshape(objects, (3, 1))
np.min(days)
np.diff(days)
np.sum(seconds)
np.searchsorted(days, days[1])
np.sort(records, order="a")
np.copy(records)
np.mean(masked)
np.sqrt(masked)
np.asarray(masked)
np.asanyarray(masked)
np.sqrt(long)
np.sum(x, axis=1, where=x > 1, initial=2)
np.array(x, subok=True)
""".strip().splitlines()


def _alike(found, wanted):
    """Whether two results have one class, dtype and value."""
    if isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(_alike, found, wanted))
    dtypes = [getattr(each, "dtype", None) for each in (found, wanted)]
    return type(found) is type(wanted) and dtypes[0] == dtypes[1] and repr(found) == repr(wanted)


@pytest.mark.parametrize("call", [*CREATED, *COMPUTED])
def test_numpy_serves_what_only_it_has(call):
    assert _alike(eval(call, {**ARRAYS, "np": ours}), eval(call, {**ARRAYS, "np": numpy}))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("call", ["np.dot(m, m)", "np.linalg.inv(m)", "np.asarray(m)", "np.asanyarray(m)"])
def test_matrices_stay_matrices(call):
    matrix = numpy.matrix([[1, 2], [3, 4]])
    assert _alike(eval(call, {"np": ours, "m": matrix}), eval(call, {"np": numpy, "m": matrix}))


@pytest.mark.parametrize("call", [call for call in CREATED if "dtype=str" not in call])
def test_other_default_libraries_refuse_it(call):
    pytest.importorskip("torch")
    with xo.use("torch"), pytest.raises((xo.XArrayOpsError, TypeError, ValueError, OverflowError)):
        eval(call, {**ARRAYS, "np": ours})


@pytest.mark.parametrize("call", ['np.where(t > 0, "pos", "neg")', "np.add(t, decimals)", "np.asarray([t, None])"])
def test_arrays_of_another_library_are_refused(call):
    torch = pytest.importorskip("torch")
    with pytest.raises((xo.XArrayOpsError, TypeError)):
        eval(call, {**ARRAYS, "np": ours, "t": torch.ones(2)})


@pytest.mark.parametrize(
    "call",
    [
        *("np.sqrt(s)", "np.maximum(s, 2)", "np.add(x[0], s)", "np.isnan(s)", "np.round(s)", "np.cumsum(s)"),
        *("np.log(d)", "np.clip(d, 0, 1)", "np.maximum.reduce(s)", "np.mean(s)", "np.sum(d, axis=0)"),
        *("np.asarray(s)", "np.where(s > 2, 1, 0)", "np.zeros_like(s)", "np.dot(s, s)", "np.argsort(s)"),
    ],
)
def test_data_frames_give_what_numpy_gives(call):
    pandas = pytest.importorskip("pandas")
    given = {"s": pandas.Series([1.0, 4, 9]), "d": pandas.DataFrame({"a": [1.0, 2], "b": [3.0, 4]}), "x": ARRAYS["x"]}
    found, wanted = (eval(call, {**given, "np": np}) for np in (ours, numpy))
    assert type(found) is type(wanted)
    assert repr(found) == repr(wanted)


@pytest.mark.parametrize("call", ["np.max(text)", "np.isfinite(objects)", 'np.sum(["a"])', "np.fft.fft(decimals)"])
def test_errors_have_the_class_of_numpy_and_say_what_to_write(call):
    with pytest.raises(TypeError):
        eval(call, {**ARRAYS, "np": numpy})
    with pytest.raises(TypeError, match="Instead"):
        eval(call, {**ARRAYS, "np": ours})


def test_handlers_of_floating_point_errors_are_those_of_numpy():
    with ours.errstate(divide="raise"), pytest.raises(FloatingPointError):
        ours.divide(ours.ones(2), 0.0)
    pytest.importorskip("torch")
    with xo.use("torch"), pytest.raises(xo.Unsupported, match="isfinite"):
        ours.errstate(all="raise")


def test_numpy_gets_only_the_options_that_are_given():
    pandas = pytest.importorskip("pandas")
    series, frame = pandas.Series([5, 7]), pandas.DataFrame({"a": [-1, 2**53 + 1], "b": [1.5, 2.0]})
    assert repr(ours.divmod(series, 2)) == repr(numpy.divmod(series, 2))
    assert repr(ours.abs(frame)) == repr(numpy.abs(frame))


def test_sparse_containers_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(xo.Unsupported, match="sparse"):
        ours.dot(sparse.csr_array(numpy.eye(3)), numpy.arange(3.0))


@pytest.mark.parametrize("call", ["sum(w, axis=1)", "abs(w)", "shape(w)", "transpose(w)", "sqrt(w)", "mean(w)"])
def test_functions_that_call_methods_take_sparse_containers(call):
    sparse = pytest.importorskip("scipy.sparse")
    w = sparse.csr_array(numpy.eye(3) * 4)
    want, found = (eval(f"np.{call}", {"np": np, "w": w}) for np in (numpy, ours))
    assert type(found) is type(want)
    want, found = (x.toarray() if sparse.issparse(x) else x for x in (want, found))
    assert numpy.array_equal(want, found)
