"""The rules bound the largest task of Dask, whose bytes are counted while it runs."""

from operator import attrgetter

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.modes import limits
from xarrayops._surface import EXTRA, SURFACE
from xarrayops.plugin.costs import RULES, Whole
from xarrayops.plugin.nested import fill, leaves
from xarrayops.plugin.sharding import Sharding, described
from xarrayops.testing import Variant
from xarrayops.testing._suite.suite import ContractSuite, rows
from xarrayops.testing._suite.table import NativeDtype, supported_cases

pytest.importorskip("dask")
from tests.unit.backends.dask.tasks import largest_task, most_moved, split

RNG = np.random.default_rng(0)
TALL, SQUARE, VECTOR = RNG.normal(size=(240, 16)), RNG.normal(size=(48, 48)), RNG.normal(size=4000)
POSITIVE = SQUARE @ SQUARE.T + np.eye(48)
INDICES = RNG.integers(0, 100, 4000)


SHORT = split(VECTOR[:300], 2)
CALLS = {
    **{verb: (split(TALL, 8, 1),) for verb in ("exp", "astype", "sign")},
    "astype": (split(TALL, 8, 1), "float32"),
    "add": (split(TALL, 8, 1), split(TALL, 8, 1)),
    **{verb: (split(TALL, 8, 2),) for verb in ("sum", "mean", "max", "prod", "all", "count_nonzero")},
    **{verb: (split(VECTOR, 8),) for verb in ("argmax", "nansum", "min", "any")},
    **{verb: (split(VECTOR, 8),) for verb in ("sort", "argsort", "median", "nanmedian")},
    **{verb: (split(TALL, 8, 2),) for verb in ("softmax", "log_softmax")},
    "topk": (split(VECTOR, 8), 3),
    "partition": (split(VECTOR, 8), 3),
    "argpartition": (split(VECTOR, 8), 3),
    "quantile": (split(VECTOR, 8), 0.25),
    "nanquantile": (split(VECTOR, 8), 0.25),
    "percentile": (split(VECTOR, 8), 25.0),
    **{f"fft.{verb}": (split(VECTOR, 8),) for verb in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{verb}": (split(SQUARE, 4, 2),) for verb in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{f"linalg.{verb}": (split(SQUARE, 3, 3),) for verb in ("eig", "eigvals", "inv", "pinv", "det", "slogdet")},
    **{f"linalg.{verb}": (split(SQUARE, 3, 3),) for verb in ("svd", "qr", "svdvals", "matrix_rank")},
    **{f"linalg.{verb}": (split(POSITIVE, 3, 3),) for verb in ("cholesky", "eigh", "eigvalsh")},
    **{f"linalg.{verb}": (split(SQUARE, 3, 3), split(SQUARE, 3, 3)) for verb in ("solve", "lstsq")},
    "take": (split(VECTOR, 8), split(INDICES, 8)),
    "take_along_axis": (split(VECTOR, 8), split(INDICES, 8)),
    "isin": (split(VECTOR, 8), split(VECTOR[:500], 4)),
    "searchsorted": (split(np.sort(VECTOR), 8), split(VECTOR, 8)),
    "histogram": (split(VECTOR, 8),),
    "bincount": (split(INDICES, 8),),
    **{f"segment_{verb}": (split(VECTOR, 8), split(INDICES, 8)) for verb in ("sum", "mean", "min")},
    "segment_max": (split(TALL, 2, 2), split(INDICES[:240], 2)),
    "cumulative_sum": (split(VECTOR, 8),),
    **{verb: (split(TALL, 8, 2),) for verb in ("flip", "matrix_transpose", "std", "var", "nonzero", "tril", "cov")},
    **{verb: (split(VECTOR, 8),) for verb in ("diag", "gradient", "trapezoid", "unique_values", "unique_all", "diff")},
    **{
        verb: (split(SQUARE, 3, 3), split(SQUARE, 3, 3))
        for verb in ("matmul", "vecdot", "kron", "tensordot", "isclose")
    },
    **{
        verb: (split(VECTOR, 8), split(VECTOR[:300], 2))
        for verb in ("convolve", "correlate", "setdiff1d", "linalg.outer")
    },
    **{verb: (split(TALL, 8, 2), 3) for verb in ("roll", "repeat", "pad", "sliding_window_view")},
    "linalg.norm": (split(SQUARE, 3, 3),),
    "linalg.matrix_power": (split(SQUARE, 3, 3), 3),
    "linalg.cond": (split(SQUARE, 3, 3),),
    "einsum": ("ij,jk->ik", split(SQUARE, 3, 3), split(SQUARE, 3, 3)),
    "reshape": (split(TALL, 8, 2), (-1,)),
    "broadcast_to": (split(VECTOR, 8), (50, 4000)),
    "concat": ([split(TALL, 8, 2)] * 20,),
    "stack": ([split(TALL, 8, 2)] * 20,),
    "digitize": (split(VECTOR, 8), split(np.sort(VECTOR[:300]), 2)),
    "delete": (split(VECTOR, 8), slice(None, None, 2)),
    "insert": (split(VECTOR, 8), 1000, 0.0),
    "lexsort": ((split(VECTOR, 8), split(VECTOR, 8)),),
    "one_hot": (split(INDICES, 8), 100),
    "cumulative_prod": (split(TALL.astype("float32"), 4, 2),),
}
OPTIONS = {
    "bincount": {"length": 100},
    **{f"segment_{verb}": {"num_segments": 100} for verb in ("sum", "mean", "min")},
    "segment_max": {"num_segments": 5},
    "cumulative_prod": {"axis": 0},
    "linalg.norm": {"ord": 2},
    "repeat": {"axis": 0},
    "sliding_window_view": {"axis": 0},
}
"""With the sizes of results, which depend on the values otherwise."""
LONG = RNG.normal(size=1 << 20)
"""Longer than a chunk may be."""
JOINING = {"kron", "nonzero", "reshape", "roll"}
"""Dask may join chunks up to the size of its configuration, so the rules are only upper bounds."""
TIMES = 6
"""A rule is at most so many times the largest task: kernels also hold temporary arrays, which are not counted."""


@pytest.mark.parametrize("verb", CALLS)
def test_no_task_moves_or_holds_more_than_the_rule_states(verb):
    args, options = CALLS[verb], OPTIONS.get(verb, {})
    (candidate,) = xo.explain(verb, *args, **options).candidates
    results = attrgetter(verb)(xo)(*args, **options)
    arrays = results if isinstance(results, tuple) else (results,)
    counted = largest_task(*arrays)
    assert counted <= candidate.holds
    assert candidate.holds <= TIMES * counted or verb in JOINING
    assert most_moved(*arrays) <= candidate.moves
    if isinstance(results, tuple):
        return
    found = xo.sharding_of(results)
    if candidate.sharding == "one chunk":
        assert found.pieces == 1
    elif found.shard_bytes is not None:
        assert described("dask", found.spec) == candidate.sharding


COMPOSED = ("apply_where", "calibrate", "dequantize", "qmatmul", "quantize")
"""Functions that only call others, which have rules."""
ROWS = [row for row in rows(ContractSuite) if not row.creation and row.verb not in COMPOSED]
WITHOUT = {
    "asarray arrays": "it is the array itself",
    "from_dlpack": "it is the array itself",
    "bincount": "the largest value is the number of counts",
    "segment_sum": "the largest value is the number of segments",
    "repeat": "the numbers of repeats, which are an array, decide the size",
    "einsum": "a diagonal, or a product of more than two arrays",
    "attention shapes": "an axis has no elements, so the generic function serves",
}
"""The rows with a case of which no rule states the bytes, and why."""
FEW = 64
"""The bytes of some numbers and positions, which rules leave out: they matter for arrays of a few bytes alone."""


def stated(row, args, kwargs, monkeypatch):
    """The results of a call, and what its rule states that it moves and holds; None if it has no rule."""
    if row.function is None:
        candidates = xo.explain(row.verb, *args, **kwargs).candidates
        return row.public(*args, **kwargs), next((each.moves, each.holds) for each in candidates if each.ok)
    found, bounds, excess, most_held = [], [], limits.excess, limits.most_held
    with monkeypatch.context() as patched, xo.limits(holds=np.inf):
        patched.setattr(limits, "excess", lambda *given: found.append(given[-1]) or excess(*given))
        patched.setattr(limits, "most_held", lambda *given: bounds.append(most_held(*given)) or np.nan)
        results = row.public(*args, **kwargs)
    for cost, bound in zip(found, bounds, strict=True):
        assert cost.holds is None or not cost.holds > bound, "the quick test of limits would not refuse the call"
    return results, tuple(max(getattr(cost, name) for cost in found) for name in ("moves", "holds"))


@pytest.mark.filterwarnings("ignore")  # NumPy's, of values
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows_of_the_contract_move_and_hold_no_more_than_their_rules(row, monkeypatch):
    """Each case, with two chunks along each axis; the first case without a tolerance."""
    variant = Variant("dask")

    def placed(item):
        if isinstance(item, NativeDtype):
            return variant.backend.native_dtype(item.name)
        return split(item, *(max(1, min(n, 2)) for n in item.shape)) if isinstance(item, np.ndarray) else item

    unstated = 0
    cases = [case for case in supported_cases(variant, row) if case.arrays]
    for i, case in enumerate(cases):
        args, kwargs = fill((case.args, case.kwargs), placed)
        results, (moves, holds) = stated(row, args, kwargs, monkeypatch)
        arrays = [x for x in leaves(results) if hasattr(x, "persist")]
        if moves is None or holds is None:
            unstated += 1
        elif arrays:
            assert largest_task(*arrays) <= holds + FEW * (i > 0), case
            assert most_moved(*arrays) <= moves + FEW, case
    assert cases
    assert not unstated or str(row) in WITHOUT


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        *(("sort", ()), ("argsort", ()), ("partition", (3,)), ("argpartition", (3,)), ("topk", (3,))),
        *(("median", ()), ("nanmedian", ()), ("quantile", (0.25,)), ("histogram", (50,))),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_rows_stay_in_chunks(verb, args, dtype):
    x = split(np.tile(LONG, 4).astype(dtype), 32)
    (candidate,) = xo.explain(verb, x, *args).candidates
    results = attrgetter(verb)(xo)(x, *args)
    counted = largest_task(*(results if isinstance(results, tuple) else (results,)))
    assert counted <= candidate.holds <= TIMES * counted
    assert candidate.holds <= 8 << 20 < x.nbytes
    with xo.limits(holds=candidate.holds):
        attrgetter(verb)(xo)(x, *args)


@pytest.mark.parametrize("counts", [(8, 1), (2, 1), (1, 1), (4, 2)])
@pytest.mark.parametrize("verb", ["qr", "svd", "svdvals"])
def test_tall_matrices_move_their_small_factors(verb, counts):
    x = split(TALL, *counts)
    options = {"full_matrices": False} if verb == "svd" else {}
    (candidate,) = xo.explain(f"linalg.{verb}", x, **options).candidates
    results = getattr(xo.linalg, verb)(x, **options)
    counted = largest_task(*(results if isinstance(results, tuple) else (results,)))
    assert counted <= candidate.holds
    tall, one = counts[1] == 1 and counts[0] > 1, 16 * 16 * 8
    of_product = one + 16 * 8 if verb == "svd" and counts == (2, 1) else 0  # Q of a large shard is multiplied in place
    assert candidate.moves == (counts[0] * one + of_product if tall else TALL.nbytes * (counts != (1, 1)))
    assert most_moved(*(results if isinstance(results, tuple) else (results,))) <= candidate.moves
    if tall and verb != "svdvals":
        assert candidate.sharding == "(axis0, None)" == described("dask", xo.sharding_of(results[0]).spec)


@pytest.mark.parametrize("verb", ["pinv", "pinv of a wide matrix", "lstsq", "lstsq of columns"])
@pytest.mark.parametrize("count", [8, 2])
def test_tall_matrices_are_solved_in_chunks(verb, count):
    """The matrix is larger than the limit, with which the call runs."""
    x, right = np.tile(TALL, (40, 1)) + RNG.normal(size=(9600, 16)), RNG.normal(size=(9600, 3))
    name, right = verb.split()[0], right if "columns" in verb else right[:, 0]
    given = (x.T if "wide" in verb else x, *((right,) if name == "lstsq" else ()))
    cuts = [(1, count) if "wide" in verb else (count, *(1,) * (each.ndim - 1)) for each in given]
    lazy = [split(each, *counts) for each, counts in zip(given, cuts, strict=True)]
    (candidate,) = xo.explain(f"linalg.{name}", *lazy).candidates
    columns = 16 + (right.size // 9600) * (name == "lstsq")
    factors, of_product = count * columns**2 * 8, (16 + 1) * 16 * 8
    assert candidate.moves == (factors + of_product if name == "pinv" else max(factors, right.nbytes // count))
    with xo.limits(holds=candidate.holds):
        results = getattr(xo.linalg, name)(*lazy)
    counted = largest_task(*(results if name == "lstsq" else (results,)))
    assert counted <= candidate.holds <= TIMES * counted
    assert most_moved(*(results if name == "lstsq" else (results,))) <= candidate.moves
    found, want = (results[0], np.linalg.lstsq(*given)[0]) if name == "lstsq" else (results, np.linalg.pinv(*given))
    np.testing.assert_allclose(found.compute(scheduler="sync"), want, atol=1e-12)
    assert candidate.sharding == described("dask", xo.sharding_of(found).spec)
    assert count == 2 or candidate.holds < x.nbytes


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("verb", ["qr", "svd", "svdvals", "pinv", "lstsq"])
def test_complex_tall_matrices_are_factorised_in_chunks(verb, dtype):
    x = (np.tile(TALL, (8, 1)) + 1j * RNG.normal(size=(1920, 16))).astype(dtype)
    right = (x[:, 0] * (1 + 2j) + x[:, 1] ** 2).astype(dtype)
    lazy = (split(x, 8, 1), *((split(right, 8),) if verb == "lstsq" else ()))
    options = {"full_matrices": False} if verb == "svd" else {}
    (candidate,) = xo.explain(f"linalg.{verb}", *lazy, **options).candidates
    results = getattr(xo.linalg, verb)(*lazy, **options)
    results = results if isinstance(results, tuple) else (results,)
    assert largest_task(*results) <= candidate.holds
    found = [each.compute(scheduler="sync") for each in results]
    wanted = {
        "qr": lambda: (found[0] @ found[1], x),
        "svd": lambda: ((found[0] * found[1]) @ found[2], x),
        "svdvals": lambda: (found[0], np.linalg.svd(x, compute_uv=False)),
        "pinv": lambda: (found[0], np.linalg.pinv(x)),
        "lstsq": lambda: (found[0], np.linalg.lstsq(x, right)[0]),
    }
    got, want = wanted[verb]()
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, atol=1e-4 if dtype == "complex64" else 1e-11)


def test_every_rule_is_of_a_function_and_gathering_ones_are_counted():
    assert RULES.keys() <= SURFACE.keys() | EXTRA.keys()
    assert WITHOUT.keys() <= set(map(str, ROWS))
    gathering = {verb for verb, rule in RULES.items() if isinstance(rule, Whole)}
    assert gathering - CALLS.keys() <= {"nanpercentile"}


def test_rules_of_shardings():
    """Bytes by hand: 8 shards of (2, 4) float32 of an array of (16, 4)."""
    x = Sharding("jax", {"rows": 8}, ("rows", None), (16, 4), (2, 4), 32, 8)
    assert RULES["sort"]({"x": x, "axis": 0}) == (256, 256 + 512, "replicated")
    assert RULES["sort"]({"x": x, "axis": 1})[::2] == (0, "(rows, None)")
    assert RULES["median"]({"x": x, "axis": 0}) == (256, 768, "replicated")
    assert RULES["median"]({"x": x, "axis": 1})[::2] == (0, "(rows,)")
    assert RULES["sum"]({"x": x, "axis": 0})[::2] == (4 * 8, "replicated")
    assert RULES["sum"]({"x": x, "axis": 1, "keepdims": True})[::2] == (0, "(rows, None)")
    assert RULES["softmax"]({"x": x, "axis": 0})[::2] == (4 * (4 + 1 + 4), "(rows, None)")
    assert RULES["softmax"]({"x": x, "axis": 1})[::2] == (0, "(rows, None)")
    assert RULES["add"]({"x1": x, "x2": 2.0}) == (0, 32 + 64, "(rows, None)")
    whole = Sharding("jax", {"rows": 8}, (None, None), (16, 4), (16, 4), 256, 1)
    assert RULES["add"]({"x1": x, "x2": whole}).moves is None
