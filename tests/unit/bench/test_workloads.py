"""The workloads of the benchmark: their answers, oracles and counts of operations."""

from __future__ import annotations

import math
import sys
from importlib import import_module
from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest

import xarrayops as xo
from tests.entered import entered
from xarrayops.bench import workloads
from xarrayops.bench.measure.answers import WrongAnswer, check
from xarrayops.bench.workload import SIZES
from xarrayops.bench.workloads import WORKLOADS, MissingData, graph, pipeline
from xarrayops.plugin import install_command

BY_NAME = {workload.name: workload for workload in WORKLOADS}
BACKENDS = ("numpy", "torch", "jax", "dask")
ON_SPARSE = {name for name in BY_NAME if name.startswith("sparse")} | {"pipeline graph"}
WRITES_ITS_INPUT = "relu in place"
DIFFERENTIATE = ("torch", "jax")


@pytest.fixture(params=BY_NAME)
def workload(request):
    return needed(BY_NAME[request.param])


def needed(workload):
    """The workload, if the packages that it needs are installed."""
    if workload.group == "pipeline":
        pytest.importorskip("sklearn")
    if workload.name in ON_SPARSE:
        pytest.importorskip("scipy")
    return workload


def toy(workload, dtype=None):
    dtype = dtype or workload.dtypes[-1]
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    return workload.case(dtype, workload.ladder("toy")[0])


def arguments(workload, case, backend=None):
    """The arguments of the workload, in arrays of NumPy, or of PyTorch for gradients."""
    if backend is None:
        backend = "torch" if workload.group == "gradient" else "numpy"
        pytest.importorskip(backend, exc_type=ImportError)
    return workload.arrange(*(xo.convert(x, backend) for x in case.inputs))


def called(workload, arrays):
    results = workload.function(*arrays)
    return xo.compute(*results) if isinstance(results, tuple) else (xo.compute(results),)


def cells():
    """Every workload in its own dtypes on every backend."""
    for workload in WORKLOADS:
        for dtype, backend in product(workload.dtypes, BACKENDS):
            yield pytest.param(workload, dtype, backend, id=f"{workload.name}-{dtype}-{backend}")


@pytest.mark.parametrize(("workload", "dtype", "backend"), list(cells()))
def test_answers_are_right_and_repeatable(workload, dtype, backend):
    needed(workload)
    if find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    case = toy(workload, dtype)
    if backend == "dask" and workload.name in ON_SPARSE:
        with pytest.raises(xo.Unsupported, match="dask has no supported sparse containers"):
            called(workload, arguments(workload, case, backend))
        return
    if workload.group == "gradient" and backend not in DIFFERENTIATE:
        with pytest.raises(xo.Unsupported, match="it does not differentiate functions"):
            called(workload, arguments(workload, case, backend))
        return
    if backend == "jax" and dtype == "float64" and not import_module("jax").config.jax_enable_x64:
        with pytest.raises(xo.ExchangeError, match="no float64"):
            arguments(workload, case, backend)
        return
    given = arguments(workload, case, backend)
    for _ in range(2):
        results = called(workload, given)
        assert check(case, results, dtype) <= case.tolerance
    home = "numpy" if backend == "dask" or workload.name == "convert to NumPy" else backend
    assert {xo.backend(result).name for result in results} == {home}


@pytest.mark.parametrize("place", [0, -1])
def test_slightly_wrong_answers_are_refused(workload, place):
    for dtype in workload.dtypes:
        case = toy(workload, dtype)
        right = called(workload, arguments(workload, case))
        for spoiled in range(len(right)):
            results = [np.array(xo.convert(result, "numpy")) for result in right]
            elements = results[spoiled].reshape(-1)
            elements[place] = slightly_off(elements[place], case, spoiled)
            with pytest.raises(WrongAnswer):
                check(case, tuple(results), dtype)


def slightly_off(element, case, spoiled):
    if isinstance(element, np.integer):
        return element + 1 if element < np.iinfo(element.dtype).max else element - 1
    if case.tolerance == 0:
        return np.nextafter(element, np.inf)
    return float(element) + 10 * case.tolerance * float(np.abs(case.expected[spoiled]).max())


@pytest.mark.parametrize(
    "name",
    [
        "matmul",
        "matmul transposed",
        "matmul strided",
        "elementwise",
        "axpy",
        "attention prefill",
        "attention causal",
        "attention grouped",
        "attention decode",
        "sparse spmm",
        "pipeline graph",
    ],
)
@pytest.mark.parametrize("bits", [10, 7])
def test_tf32_and_bfloat16_do_not_pass_for_float32(name, bits):
    workload = needed(BY_NAME[name])
    case = toy(workload, "float32")
    coarse = tuple(rounded(x, bits) for x in case.inputs)
    answer = workload.expected(*(x.astype("float64") if x.dtype == np.float32 else x for x in coarse))
    results = tuple(np.asarray(x, dtype="float32") for x in (answer if isinstance(answer, tuple) else (answer,)))
    with pytest.raises(WrongAnswer):
        check(case, results, "float32")


def rounded(x, bits):
    """Numbers rounded to this number of bits after the leading one; integers are unchanged."""
    if x.dtype != np.float32:
        return x
    fraction, exponent = np.frexp(x)
    return np.ldexp(np.round(fraction * 2.0 ** (bits + 1)) / 2.0 ** (bits + 1), exponent).astype("float32")


@pytest.mark.parametrize("name", ["pipeline whitening", "sum along columns"])
def test_results_of_ten_bits_do_not_pass_for_float32(name):
    workload = needed(BY_NAME[name])
    case = toy(workload, "float32")
    results = called(workload, arguments(workload, case))
    with pytest.raises(WrongAnswer):
        check(case, tuple(rounded(x, 10) for x in results), "float32")


def test_bfloat16_does_not_add_up_for_float32():
    """A running sum in bfloat16 gets stuck once a summand is less than half the distance to the next number."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    case = toy(BY_NAME["sum"], "float32")
    total = np.cumsum(case.inputs[0].astype(ml_dtypes.bfloat16))[-1]
    with pytest.raises(WrongAnswer):
        check(case, (np.asarray(total, dtype="float32"),), "float32")


def test_only_in_place_workloads_change_their_inputs(workload):
    case = toy(workload)
    before = [x.copy() for x in case.inputs]
    given = arguments(workload, case)
    results = called(workload, given)
    if workload.name == WRITES_ITS_INPUT:
        assert results[0] is given[0]
        assert not np.array_equal(before[0], case.inputs[0])
        assert (case.inputs[0] >= 0).all()
    else:
        assert all(map(np.array_equal, before, case.inputs))


def test_inputs_are_the_same_every_time(workload):
    for dtype in workload.dtypes:
        one, other = toy(workload, dtype), toy(workload, dtype)
        assert all(map(np.array_equal, one.inputs, other.inputs))
        assert all(map(np.array_equal, one.expected, other.expected))
        floats = [x.dtype.name for x in one.inputs if x.dtype.kind == "f" or x.dtype.name == "bfloat16"]
        assert set(floats) <= {dtype}


def calls_into_xarrayops(function, arrays):
    """The functions of xarrayops, outside the workload files, that a call uses."""
    found = [each for each in entered(lambda: function(*arrays)) if each.module.startswith("xarrayops")]
    return {each.code.co_name for each in found if not each.module.startswith(workloads.__name__)}


def test_no_oracle_calls_xarrayops(workload):
    case = toy(workload)
    wide = [x.astype("float64") if x.dtype.kind == "f" or x.dtype.name == "bfloat16" else x for x in case.inputs]
    assert calls_into_xarrayops(workload.function, arguments(workload, case)), "the look finds nothing"
    assert not calls_into_xarrayops(workload.expected, wide)


def pairs(n):
    """How many keys the queries of a causal prompt see, counted one by one."""
    return sum(1 for query in range(n) for key in range(n) if key <= query)


def csr_bytes(rows, stored):
    return stored * (4 + 4) + 4 * (rows + 1)


HEAD = 64
CONVOLUTION = 2 * 8 * 6 * 6 * 64 * 64 * 9, (2 * 8 * 64 * 6 * 6 + 64 * 64 * 9) * 4
"""A product for each element of a kernel, channel in and channel out; images, results and kernels."""
GRADIENT = 24 * 4 * 2 * 3 * 128 * 512, (2 * 3 * 128 + 24 * 2 * 128 * 512) * 4
"""Two products forward and two backward for each layer; x, its gradient and the weights."""
CLASSIFIER = 64 * 256 + 256 * 256 + 256 * 10
"""The weights of the classifier."""
WORK = {
    "matmul": (2 * 48 * 48 * 48, (48 * 48 + 48 * 48 + 48 * 48) * 4),
    "matmul transposed": (2 * 48 * 48 * 48, 3 * 48 * 48 * 4),
    "matmul strided": (2 * 48 * 48 * 48, 3 * 48 * 48 * 4),  # of the wider matrix only what is multiplied
    "matmul half": (2 * 48 * 48 * 48, 3 * 48 * 48 * 2),
    "matmul int8": (2 * 48 * 48 * 48, 3 * 48 * 48),
    "transpose": (0, 2 * 30 * 40 * 4),
    "relayout NCHW to NHWC": (0, 2 * 8 * 64 * 5 * 5 * 4),
    "relayout NHWC to NCHW": (0, 2 * 8 * 64 * 5 * 5 * 4),
    "elementwise": (0, (7 * 1024 + 7) * 4),
    "relu": (0, 2 * 7 * 1024 * 4),
    "relu in place": (0, 2 * 7 * 1024 * 4),
    "axpy": (0, 3 * 7 * 1024 * 4),
    "sum": (0, (40 * 40 + 1) * 4),
    "sum along columns": (0, (40 * 40 + 40) * 4),
    "argmax": (0, 40 * 40 * 4 + 40 * 8),
    "convert from NumPy": (0, 2 * 1000 * 4),
    "convert to NumPy": (0, 2 * 1000 * 4),
    "attention prefill": (8 * 16 * 16 * 2 * (2 * HEAD), 4 * 8 * 16 * HEAD * 4),
    "attention causal": (8 * pairs(16) * 2 * (2 * HEAD), 4 * 8 * 16 * HEAD * 4),
    "attention grouped": (8 * pairs(16) * 2 * (2 * HEAD), (8 + 2 + 2 + 8) * 16 * HEAD * 4),
    "attention decode": (
        32 * (16 + 12) * 2 * (2 * HEAD),
        (2 * 32 + 2 * 32 + 2 * 8 * (16 + 12)) * HEAD * 4 + 2 * 4,  # queries, results, filled keys and values; lengths
    ),
    **{f"convolution {layout}": CONVOLUTION for layout in ("NCHW", "NHWC", "NCHW16c")},
    "convolution pooling": (0, 8 * 64 * (6 * 6 + 3 * 3) * 4),
    **dict.fromkeys(("gradient", "gradient checkpointed"), GRADIENT),
    "sparse from_dense csr": (0, 40 * 40 * 4 + csr_bytes(40, 80)),
    "sparse from_dense coo": (0, 40 * 40 * 4 + 80 * (4 + 4 + 4)),
    "sparse relu": (0, 40 * 40 * 4 + csr_bytes(40, 80)),
    "sparse spmm": (80 * 64 * 2, csr_bytes(40, 80) + 2 * 40 * 64 * 4),
    "pipeline whitening": (
        2 * 1797 * 64 * 64 + 2 * 1797 * 64 * 8 + 9 * 64 * 64 * 64 + 6 * 1797 * 64,
        (1797 * 64 + 1797 * 8 + 8) * 4,
    ),
    "pipeline classifier": (2 * 90 * CLASSIFIER, (90 * 64 + CLASSIFIER + 522 + 90 * 10) * 4),
    "pipeline classifier int8": (
        2 * 90 * CLASSIFIER,
        90 * 64 * 4 + CLASSIFIER + 2 * 522 * 4 + 90 * (8 + 10),  # scales and biases of 522 outputs; digits and scores
    ),
}


def test_operations_and_bytes(workload):
    case = toy(workload)
    if workload.name == "pipeline graph":
        weights, columns, pointers, _ = case.inputs
        assert pointers[-1] == len(weights) == len(columns)
        edges = len(weights)
        operations = 20 * edges * 10 * 2 + 20 * edges * 2  # 20 steps: ten classes, and the rank
        nbytes = csr_bytes(200, edges) + 2 * 200 * 10 * 4 + 200 * 4
    else:
        operations, nbytes = WORK[workload.name]
    assert (case.operations, case.nbytes) == (operations, nbytes)
    assert workload.unit == ("FLOP/s" if operations else "B/s")


@pytest.mark.parametrize("name", ["sparse from_dense csr", "sparse from_dense coo", "sparse relu"])
def test_one_element_in_twenty_is_stored(name):
    case = toy(needed(BY_NAME[name]), "float16")
    assert len(case.expected[0]) == 40 * 40 // 20


def test_names_groups_and_sizes(workload):
    assert workload.group == workload.name.split()[0]
    assert not workload.timed.endswith("(...)")
    for size in SIZES:
        ladder = workload.ladder(size)
        assert ladder
        assert list(ladder) == sorted(set(ladder))
    assert len(workload.ladder("toy")) == 1


def test_the_default_run_is_small():
    assert len(BY_NAME) == len(WORKLOADS)
    assert sum(len(w.ladder("default")) * len(w.dtypes) for w in WORKLOADS) <= 45


def test_inputs_are_strided_where_the_library_has_strides():
    transposed, strided = (BY_NAME[f"matmul {how}"] for how in ("transposed", "strided"))
    b = arguments(transposed, toy(transposed))[1]
    assert b.strides == (4, 48 * 4)
    b = arguments(strided, toy(strided))[1]
    assert b.strides == (96 * 4, 2 * 4)


def test_int8_products_wrap():
    """The oracle of int8 is only useful if the sums exceed its range."""
    a, b = (x.astype("int64") for x in toy(BY_NAME["matmul int8"]).inputs)
    assert np.abs(a @ b).max() > 1000


def test_transpose_moves_every_element():
    x = np.arange(6.0).reshape(2, 3)
    moved = BY_NAME["transpose"].function(x)
    assert moved.tolist() == [0, 3, 1, 4, 2, 5]
    assert not xo.shares_memory(x, moved)


def test_unfilled_keys_do_not_count():
    workload = BY_NAME["attention decode"]
    case = toy(workload)
    q, k, v, lengths = case.inputs
    assert lengths.tolist() == [16, 12]
    v[1, :, 12:] = np.nan
    check(case, called(workload, (q, k, v, lengths)), "float32")


def test_amplification_of_the_digits():
    pytest.importorskip("sklearn")
    x = pipeline.load_digits().data
    kept = x[:, x.std(axis=0) > 0]
    variances = np.linalg.eigvalsh(np.corrcoef(kept, rowvar=False))[::-1]
    gaps = [variances[k] - variances[k + 1] for k in range(pipeline.COMPONENTS)]
    assert math.isclose(variances[0] / min(gaps), pipeline._AMPLIFICATION, rel_tol=0.01)


def test_missing_data_have_a_fix(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingData, match="scikit-learn") as caught:
        toy(BY_NAME["pipeline whitening"])
    assert caught.value.fix == install_command("bench")
    graph._graph.cache_clear()
    monkeypatch.setattr(graph, "find_spec", lambda name: None)
    with pytest.raises(MissingData, match="SciPy") as caught:
        toy(BY_NAME["pipeline graph"])
    assert caught.value.fix == install_command("sparse")
