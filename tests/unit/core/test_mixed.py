"""Arrays of several libraries in one call raise, for every argument of every function, with an explanation."""

import inspect
import itertools
import re
from operator import attrgetter

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._surface import SURFACE

MATRIX = [[2.0, 1.0], [1.0, 3.0]]
OPTIONAL = {"clip": ["min", "max"], "diff": ["prepend", "append"], "searchsorted": ["sorter"]}
ARGUMENT = r"[\w\[\]]+: (numpy|array_api_strict) (float64|int64|bool) \([\d, ]*\) on \S+"
SEQUENCES = {"concat": list, "stack": list, "broadcast_arrays": tuple, "meshgrid": tuple}
BINARY = [v for v, text in SURFACE.items() if text.startswith("(x1, x2") or v in ("take", "take_along_axis", "repeat")]


def of(library, values):
    array = np.asarray(values)
    return array if library is np else xps.asarray(array.tolist())


def public(verb):
    return attrgetter(verb)(xo)


def check(call, wrong, count, asked):
    """The call raises. It names each argument with library, dtype, shape and device, and each conversion.

    NumPy's arguments are converted to the library of the first that is not NumPy's.
    """
    with pytest.raises(xo.MixedBackends) as error:
        call()
    start = f"xo.{asked} was given arrays of several libraries: "
    listing, end, fixes = str(error.value).partition(". Convert to one library: ")
    assert listing.startswith(start)
    assert end
    arguments = listing.removeprefix(start).split("; ")
    assert len(arguments) == count
    assert all(re.fullmatch(ARGUMENT, argument) for argument in arguments), arguments
    names = {library: [a.partition(":")[0] for a in arguments if f": {library} " in a] for library in LIBRARIES}
    assert wrong in names["numpy"] + names["array_api_strict"]
    kept = names["array_api_strict"][0]
    assert fixes == " and ".join(f"{name} -> xo.convert({name}, {kept})" for name in names["numpy"]) + "."
    assert isinstance(error.value, TypeError)


LIBRARIES = ("numpy", "array_api_strict")
PAIRS = [(np, xps), (xps, np)]
"""The library of the first argument, and another library."""


def test_the_list_is_not_empty():
    assert len(BINARY) > 35
    assert {"add", "matmul", "linalg.solve", "linalg.cross", "isin", "vecdot", "take", "searchsorted"} <= set(BINARY)


@pytest.mark.parametrize(("first", "other"), PAIRS)
@pytest.mark.parametrize("verb", BINARY)
def test_two_arrays(verb, first, other):
    wrong = list(inspect.signature(public(verb)).parameters)[1]
    check(lambda: public(verb)(of(first, MATRIX), of(other, MATRIX)), wrong, 2, verb)


@pytest.mark.parametrize(("first", "other"), PAIRS)
@pytest.mark.parametrize(("verb", "wrong"), [(verb, name) for verb, names in OPTIONAL.items() for name in names])
def test_optional_arrays(verb, wrong, first, other):
    args = [of(first, MATRIX[0])] * (2 if verb == "searchsorted" else 1)
    check(lambda: public(verb)(*args, **{wrong: of(other, MATRIX[0])}), wrong, len(args) + 1, verb)


@pytest.mark.parametrize(("first", "other"), PAIRS)
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("verb", SEQUENCES)
def test_sequences(verb, position, first, other):
    members = [of(first, MATRIX[0])] * 3
    members[position] = of(other, MATRIX[0])
    call = (lambda: public(verb)(members)) if SEQUENCES[verb] is list else (lambda: public(verb)(*members))
    check(call, f"arrays[{position or 1}]", 3, verb)


@pytest.mark.parametrize("places", [p for p in itertools.product((np, xps), repeat=3) if len(set(p)) == 2])
def test_where(places):
    condition, x1, x2 = (of(library, MATRIX) for library in places)
    wrong = ("condition", "x1", "x2")[next(i for i in (1, 2) if places[i] is not places[0])]
    check(lambda: xo.where(condition > 0, x1, x2), wrong, 3, "where")


@pytest.mark.parametrize(("first", "other"), PAIRS)
def test_where_with_a_scalar_between(first, other):
    """NumPy's own function would accept the foreign array."""
    check(lambda: xo.where(of(first, MATRIX) > 0, of(other, MATRIX), 0.0), "x1", 2, "where")


@pytest.mark.parametrize(("first", "other"), PAIRS)
def test_einsum(first, other):
    check(lambda: xo.einsum("ij,jk->ik", of(first, MATRIX), of(other, MATRIX)), "operands[1]", 2, "einsum")


@pytest.mark.parametrize(("first", "other"), PAIRS)
def test_nested_lists(first, other):
    a, b = of(first, 1.0), of(other, 2.0)
    check(lambda: xo.asarray([[a, 1.0], [2.0, b]]), "obj[1][1]", 2, "asarray")
    check(lambda: xo.asarray((0.0, (a, [b]))), "obj[1][1][0]", 2, "asarray")


@pytest.mark.parametrize(("first", "other"), PAIRS)
def test_indexed_updates(first, other):
    x = of(first, MATRIX)
    index, value = of(other, [0, 1]), of(other, [5.0, 6.0])
    check(lambda: xo.at(x)[0].set(value), "value", 2, "at")
    check(lambda: xo.at(x)[index].add(1.0), "index", 2, "at")
    check(lambda: xo.at(x)[index, :].add(1.0), "index[0]", 2, "at")


@pytest.mark.parametrize(("first", "other"), PAIRS)
def test_namespaces_and_dtypes(first, other):
    check(lambda: xo.array_namespace(of(first, 1.0), 2.0, of(other, 1.0)), "arrays[2]", 2, "array_namespace")
    with pytest.raises(xo.MixedBackends, match="several libraries"):
        xo.result_type(of(first, 1.0), of(other, 1.0))


def test_pytorch_and_numpy():
    """Calls with several libraries that NumPy or PyTorch itself would accept."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("xarrayops_backends.torch")
    t, n = torch.ones(2), np.ones(2)
    assert isinstance(np.where(n > 0, t, 0), np.ndarray)
    for call in (
        lambda: xo.where(n > 0, t, 0),
        lambda: xo.concat([n, t]),
        lambda: xo.add(t, np.asarray(1, dtype=np.float32)),
        lambda: xo.asarray([n[:1], t[:1]]),
    ):
        with pytest.raises(xo.MixedBackends, match=r"numpy \w+ \(.*\) on cpu.*torch \w+ \(.*\) on cpu|torch.*numpy"):
            call()


def test_the_message_for_three_libraries_has_two_conversions():
    torch = pytest.importorskip("torch")
    pytest.importorskip("xarrayops_backends.torch")
    fixes = "arrays[0] -> xo.convert(arrays[0], arrays[1]) and arrays[2] -> xo.convert(arrays[2], arrays[1])."
    with pytest.raises(xo.MixedBackends, match=re.escape(fixes)):
        xo.concat([np.ones(2), xps.ones(2), torch.ones(2)])


def test_a_sparse_container_is_kept_by_the_name_of_its_library():
    """`xo.convert` takes an array as the target, but not a container."""
    jax = pytest.importorskip("jax")
    sparse = pytest.importorskip("jax.experimental.sparse").BCOO.fromdense(jax.numpy.eye(3, dtype="float32"))
    dense = np.ones((3, 3), dtype=np.float32)
    with pytest.raises(xo.MixedBackends, match=r'Convert to one library: x2 -> xo\.convert\(x2, "jax"\)\.'):
        xo.matmul(sparse, dense)
    assert xo.matmul(sparse, xo.convert(dense, "jax")).shape == (3, 3)
