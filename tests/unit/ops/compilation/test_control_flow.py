"""cond, while_loop and scan in every library: the same results, and errors that name what is wrong."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import xarrayops as xo

LIBRARIES = [name for name in ("numpy", "torch", "jax") if find_spec(name)]
library = pytest.mark.parametrize("library", LIBRARIES)


def of(library, values, dtype="float32"):
    return xo.convert(np.asarray(values, dtype), library, copy=True)


@library
def test_operands_are_nested(library):
    x = of(library, [1.0, 2.0])
    result = xo.cond(
        xo.all(xo.greater(x, 0)), lambda t: {"r": t["a"] + t["k"]}, lambda t: {"r": t["a"]}, {"a": x, "k": 3}
    )
    assert result["r"].tolist() == [4, 5]
    assert xo.cond(True, lambda x: x + 1, None, x).tolist() == [2, 3]


@library
@pytest.mark.parametrize("predicate", [1, [True], 1.0, None])
def test_a_predicate_that_is_no_truth(library, predicate):
    x = of(library, [1.0])
    given = of(library, predicate, "bool") if isinstance(predicate, list) else predicate
    with pytest.raises(TypeError, match=r"the predicate must be a bool or a 0-d boolean array"):
        xo.cond(given, lambda x: x, lambda x: x, x)


@library
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            lambda v: (v[0] + 1, xo.astype(v[1], "float16")),
            r"changed value 1 from \S*float32 \(2,\) to \S*float16 \(2,\)",
        ),
        (lambda v: (v[0] + 1, xo.concat([v[1], v[1]])), r"changed value 1 from \S*float32 \(2,\) to \S*float32 \(4,\)"),
        (lambda v: (v[0] + 1,), "returned 1 values instead of 2"),
        (lambda v: (v[0] + 1, "x"), "returned str as value 1"),
    ],
)
def test_a_body_that_changes_its_values(library, body, message):
    with pytest.raises(TypeError, match=message):
        xo.while_loop(lambda v: xo.less(v[0], 3), body, (0, of(library, [1.0, 2.0])))


@library
def test_a_condition_that_is_no_truth(library):
    with pytest.raises(TypeError, match="the condition must return a 0-d boolean array"):
        xo.while_loop(lambda x: x, lambda x: x, of(library, [1.0]))


@library
def test_a_loop_that_does_not_start(library):
    x = of(library, [1.0])
    assert xo.while_loop(lambda v: xo.greater(xo.sum(v), 10.0), lambda v: v * 2, x).tolist() == [1]


@library
def test_a_number_keeps_the_dtype_of_its_value(library):
    count, x = xo.scan(lambda v, y: ((0, v[1] + y), None), (1, of(library, 0.0)), of(library, [1.0, 2.0]))[0]
    assert (int(count), float(x)) == (0, 3.0)


@library
def test_results_of_a_scan_are_nested(library):
    xs = {"a": of(library, [1.0, 2.0, 3.0]), "b": of(library, [[1.0], [2.0], [3.0]])}
    last, found = xo.scan(lambda c, x: (c + x["a"], {"sum": c + x["a"], "b": (x["b"],)}), 0.0, xs, reverse=True)
    assert float(last) == 6
    assert found["sum"].tolist() == [6, 5, 3]
    assert found["b"][0].tolist() == [[1], [2], [3]]
    last, nothing = xo.scan(lambda c, x: (c * 2, x), of(library, [1.0]), length=5)
    assert last.tolist() == [32]
    assert nothing is None


@library
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 2}, r"the lengths differ: \[2, 3\]"),
        ({"xs": None}, "give length="),
        ({"xs": None, "length": 0}, "a loop without steps"),
        ({"xs": ()}, "give length="),
    ],
)
def test_wrong_lengths(library, options, message):
    xs = options.get("xs", of(library, [1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match=message):
        xo.scan(lambda c, x: (c, c), of(library, 1.0), xs, length=options.get("length"))
    with pytest.raises(ValueError, match="an array of xs is 0-d"):
        xo.scan(lambda c, x: (c, c), of(library, 1.0), of(library, 1.0))
    with pytest.raises(TypeError, match="must return a pair"):
        xo.scan(lambda c, x: c, of(library, 1.0), of(library, [1.0]))


@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != "numpy"])
def test_gradients_of_a_scan(library):
    xs = of(library, [1.0, 2.0, 3.0])
    product = lambda xs: xo.scan(lambda c, x: (c * x, None), of(library, 1.0), xs)[0]
    assert xo.grad(product)(xs).tolist() == [6, 3, 2]


@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != "numpy"])
def test_a_branch_under_vmap(library):
    f = lambda x: xo.cond(xo.greater(x, 0), lambda x: x * 2, lambda x: x - 1, x)
    assert xo.vmap(f)(of(library, [1.0, -1.0])).tolist() == [2, -2]


@library
def test_members_of_a_dict_in_another_order(library):
    x = of(library, [1.0])
    found = xo.while_loop(lambda v: xo.less(v["n"], 3), lambda v: {"n": v["n"] + 1, "x": v["x"] * 2}, {"x": x, "n": 0})
    assert (int(found["n"]), found["x"].tolist()) == (3, [8])
    with pytest.raises(TypeError, match="returned a dict of 'x' instead of a dict of 'x', 'n'"):
        xo.while_loop(lambda v: xo.less(v["n"], 3), lambda v: {"x": v["x"]}, {"x": x, "n": 0})
    with pytest.raises(TypeError, match=r"changed value 0 from \S*int\d+ to 1.7"):
        xo.scan(lambda c, x: (1.7, None), 1, x)


@pytest.mark.parametrize("steps", [3, 40])
def test_torch_compiles_loops(steps):
    torch = pytest.importorskip("torch", exc_type=ImportError)
    f = lambda x: xo.scan(lambda c, _: (c * 1.5, (c, {"d": c + 1})), x, length=steps)
    g = torch.compile(f, fullgraph=True, backend="aot_eager")
    x = torch.ones(2)
    for want, got in zip(torch.utils._pytree.tree_leaves(f(x)), torch.utils._pytree.tree_leaves(g(x)), strict=True):
        torch.testing.assert_close(got, want)
    none = torch.compile(
        lambda x: xo.scan(lambda c, _: (c + 1, None), x, length=steps), fullgraph=True, backend="aot_eager"
    )
    assert none(x)[0].tolist() == [1 + steps] * 2
    assert none(x)[1] is None
