"""Arrays of several libraries in one call raise, for every argument of every function, with an explanation."""

import inspect
import itertools
import re
from operator import attrgetter

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._protocol.surface import SURFACE

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


def check(call, wrong, count, verb, target):
    """Check that the call raises; the message describes each argument, and the conversion of the wrong one."""
    with pytest.raises(xo.MixedBackends) as error:
        call()
    text = str(error.value)
    assert text.startswith(f"xo.{verb} was given arrays of several libraries: ")
    listing = text.removeprefix(f"xo.{verb} was given arrays of several libraries: ").partition(". Convert to")[0]
    arguments = listing.split("; ")
    assert len(arguments) == count
    assert all(re.fullmatch(ARGUMENT, argument) for argument in arguments), arguments
    assert any(": numpy " in argument for argument in arguments)
    assert any(": array_api_strict " in argument for argument in arguments)
    assert f"{wrong} -> xo.convert({wrong}, {target})" in text
    assert isinstance(error.value, TypeError)


NAMED = [(np, xps, '"numpy"'), (xps, np, "array_api_strict")]
"""The library of the first argument, that of the wrong one, and the first as an argument of convert."""


def test_the_list_is_not_empty():
    assert len(BINARY) > 35
    assert {"add", "matmul", "linalg.solve", "linalg.cross", "isin", "vecdot", "take", "searchsorted"} <= set(BINARY)


@pytest.mark.parametrize(("first", "other", "name"), NAMED)
@pytest.mark.parametrize("verb", BINARY)
def test_two_arrays(verb, first, other, name):
    wrong = list(inspect.signature(public(verb)).parameters)[1]
    check(lambda: public(verb)(of(first, MATRIX), of(other, MATRIX)), wrong, 2, verb, name)


@pytest.mark.parametrize(("first", "other", "name"), NAMED)
@pytest.mark.parametrize(("verb", "wrong"), [(verb, name) for verb, names in OPTIONAL.items() for name in names])
def test_optional_arrays(verb, wrong, first, other, name):
    args = [of(first, MATRIX[0])] * (2 if verb == "searchsorted" else 1)
    check(lambda: public(verb)(*args, **{wrong: of(other, MATRIX[0])}), wrong, len(args) + 1, verb, name)


@pytest.mark.parametrize(("first", "other", "name"), NAMED)
@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("verb", SEQUENCES)
def test_sequences(verb, position, first, other, name):
    members = [of(first, MATRIX[0])] * 3
    members[position] = of(other, MATRIX[0])
    call = (lambda: public(verb)(members)) if SEQUENCES[verb] is list else (lambda: public(verb)(*members))
    if position == 0:
        first, name = other, next(n for f, _, n in NAMED if f is other)
    check(call, f"arrays[{position or 1}]", 3, verb, name)


@pytest.mark.parametrize("libraries", [p for p in itertools.product((np, xps), repeat=3) if len(set(p)) == 2])
def test_where(libraries):
    condition, x1, x2 = (of(library, MATRIX) for library in libraries)
    wrong = ("condition", "x1", "x2")[next(i for i in (1, 2) if libraries[i] is not libraries[0])]
    check(lambda: xo.where(condition > 0, x1, x2), wrong, 3, "where", {f: n for f, _, n in NAMED}[libraries[0]])


@pytest.mark.parametrize(("first", "other", "name"), NAMED)
def test_where_with_a_scalar_between(first, other, name):
    """NumPy's own function would accept the foreign array."""
    check(lambda: xo.where(of(first, MATRIX) > 0, of(other, MATRIX), 0.0), "x1", 2, "where", name)


@pytest.mark.parametrize(("first", "other", "name"), NAMED)
def test_einsum(first, other, name):
    check(lambda: xo.einsum("ij,jk->ik", of(first, MATRIX), of(other, MATRIX)), "operands[1]", 2, "einsum", name)


@pytest.mark.parametrize(("first", "other", "name"), NAMED)
def test_nested_lists(first, other, name):
    a, b = of(first, 1.0), of(other, 2.0)
    check(lambda: xo.asarray([[a, 1.0], [2.0, b]]), "obj[1][1]", 2, "asarray", name)
    check(lambda: xo.asarray((0.0, (a, [b]))), "obj[1][1][0]", 2, "asarray", name)


@pytest.mark.parametrize(("first", "other", "name"), NAMED)
def test_indexed_updates(first, other, name):
    x = of(first, MATRIX)
    index, value = of(other, [0, 1]), of(other, [5.0, 6.0])
    check(lambda: xo.at(x)[0].set(value), "value", 2, "at", name)
    check(lambda: xo.at(x)[index].add(1.0), "index", 2, "at", name)
    check(lambda: xo.at(x)[index, :].add(1.0), "index[0]", 2, "at", name)


@pytest.mark.parametrize(("first", "other", "name"), NAMED)
def test_namespaces_and_dtypes(first, other, name):
    check(lambda: xo.array_namespace(of(first, 1.0), 2.0, of(other, 1.0)), "arrays[2]", 2, "array_namespace", name)
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
        lambda: xo.add(t, np.float32(1)),
        lambda: xo.asarray([n[0], t[0]]),
    ):
        with pytest.raises(xo.MixedBackends, match=r"numpy \w+ \(.*\) on cpu.*torch \w+ \(.*\) on cpu|torch.*numpy"):
            call()


def test_the_message_for_three_libraries_has_two_conversions():
    torch = pytest.importorskip("torch")
    pytest.importorskip("xarrayops_backends.torch")
    with pytest.raises(
        xo.MixedBackends, match=r'arrays\[1\] -> .* and arrays\[2\] -> xo\.convert\(arrays\[2\], "numpy"\)'
    ):
        xo.concat([np.ones(2), xps.ones(2), torch.ones(2)])
