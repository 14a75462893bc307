"""`rewrite` with ``vectorize``: edits of whole arrays, by proof or by a call, and what stays with its reason."""

import warnings

import numpy
import pytest

from xarrayops.port import rewrite
from xarrayops.port.__main__ import main
from xarrayops.port.rewriting.edits import Rewritten
from xarrayops.port.vectorizing.offers import KIND

X = numpy.asarray([0.5, -1.25, 4.0, 9.0, -0.0, 2.5])


@pytest.fixture
def vectorized(tmp_path):
    """Rewrites the body of ``f(x)``; with ``call`` by a call of it."""

    def of(body: str, call: str | None = None, head: str = "def f(x):", **options) -> Rewritten:
        lines = [head, *(f"    {line}" for line in body.strip("\n").split("\n"))]
        path = tmp_path / "program.py"
        path.write_text("\n".join(["import numpy as np", "", *lines, ""]))
        return rewrite(path, vectorize=True, call=call, **options)

    return of


def ran(text, *args):
    """What ``f`` of a program returns for copies of the arguments."""
    namespace = {"__name__": "program"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "program.py", "exec"), namespace)
        return namespace["f"](*(x.copy() if isinstance(x, numpy.ndarray) else x for x in args))


def assert_same(result, *args):
    """The result of a rewrite has the values, dtype and shape of the original."""
    want, got = ran(result.original, *args), ran(result.text, *args)
    assert type(got) is type(want)
    numpy.testing.assert_allclose(got, want, rtol=1e-12, strict=True)


def made(result):
    return [edit.line for edit in result.edits if edit.kind == KIND]


MASKED = {
    "function": "y = np.abs(x) + 1\ny[y > 2] = np.cbrt(y[y > 2])",
    "guarded": "y = x * 1.0\ny[y > 0] = np.log(y[y > 0])",
    "complements": "y = x - 1\nm = y > 0\ny[m] = np.sqrt(y[m])\ny[~m] = 2 * y[~m]",
    "complements, the other first": "y = x - 1\nm = y > 0\ny[~m] = 2 * y[~m]\ny[m] *= 3.0",
    "augmented": "y = x - 1\ny[y > 0] /= 3.0",
    "number": "y = x - 1\ny[np.isnan(y)] = 0",
    "modulo": "y = x - 1\ny[abs(y - 1) > 2] = y[abs(y - 1) > 2] % 1",
    "integers": "y = (x * 3).astype(np.int32) - 1\ny[y > 1] = np.sqrt(y[y > 1])",
}


def test_two_numbers_keep_the_dtype(vectorized):
    result = vectorized(
        "y = x.astype(np.float32) + 0\nm = y > 0\ny[m] = 1\ny[~m] = 0\nreturn y", head="def f(x: np.ndarray):"
    )
    assert len(made(result)) == 2
    assert_same(result, X)


@pytest.mark.parametrize(("b", "count"), [("3.0", 1), ("np.asarray([1.0, 2.0, 3.0])", 0)])
def test_parameters_of_a_masked_assignment_must_be_numbers(vectorized, b, count):
    body = "y = x - 1\ny[y > 0] = y[y > 0] * (a + np.exp(b))\nreturn y"
    result = vectorized(body, call=f"f(np.asarray([0.5, 4.0, 9.0, 2.5]), 2.0, {b})", head="def f(x, a, b):")
    assert len(made(result)) == count
    assert_same(result, numpy.asarray([0.5, 4.0, 9.0, 2.5]), 2.0, eval(b, {"np": numpy}))


@pytest.mark.parametrize("name", MASKED)
def test_masked_assignments_with_a_proof(vectorized, name):
    result = vectorized(MASKED[name] + "\nreturn y", head="def f(x: np.ndarray):")
    assert len(made(result)) == 1
    assert "np.where(" in result.text
    assert "[y > " not in result.text
    assert "[m]" not in result.text
    assert_same(result, X)
    assert_same(result, X.astype(numpy.float32))


def test_large_integers_that_are_not_selected_stay_exact(vectorized):
    result = vectorized("y = x + 0\ny[y < 9] = y[y < 9] / 2\nreturn y", head="def f(x: np.ndarray):")
    assert len(made(result)) == 1
    assert_same(result, numpy.asarray([2**62 + 1, 8, 7]))


@pytest.mark.parametrize(
    "body",
    [
        "y = x * 1.0\ny[m] = np.log(y[m])",  # m may have fewer axes
        "y = x * 1.0\ny[y > 0] = m",  # m may have as many elements as the selection
        "y = x * 1.0\nv = y[y > 0] * 2\ny[y > 0] = v",
        "x[x > 0] = np.log(x[x > 0])\ny = x",  # the caller sees it
        "y = x * 1.0\ny[y > 0] = np.cumsum(y[y > 0])",
    ],
)
def test_masked_assignments_without_a_proof_stay(vectorized, body):
    result = vectorized(f"{body}\nreturn y", head="def f(x: np.ndarray, m):")
    assert made(result) == []
    assert_same(result, X, X > 0) if "m]" in body else None


ROWS = "y = x * 1.0\ny[m] = y[m] * 2\nreturn y"


def test_a_call_decides_on_the_shape_of_a_mask(vectorized):
    call = "f(np.ones((3, 2)), np.asarray({}))"
    whole = vectorized(ROWS, call.format("[[True, False]] * 3"), head="def f(x, m):")
    rows = vectorized(ROWS, call.format("[True, False, True]"), head="def f(x, m):")
    assert (made(whole), made(rows)) == ([5], [])
    assert rows.notes[0] == "line 5 of the original is not vectorized: not true in the call: np.ndim(m) == y.ndim"


def test_lines_that_the_call_does_not_reach_stay(vectorized):
    result = vectorized(
        f"if x is None:\n    return 0\nif len(x) > 9:\n    y = x * 1.0\n    y[m] = 0\n{ROWS}",
        "f(np.ones(3), np.asarray([True, False, True]))",
        head="def f(x, m):",
    )
    assert made(result) == [9 - 1 + 1 + 1]
    assert "the call does not reach it" in result.notes[0]


LOOPS = {
    "rows": "out = np.zeros((len(x), 2))\nfor i in range(len(x)):\n"
    "    out[i] = np.sqrt(np.abs(x[i])) * np.arange(2.0)\nreturn out",
    "frames": (
        "out = np.empty((4, 2))\nt = 0\nfor i in range(4):\n    part = x[t : t + 2] - x[t : t + 2].mean()\n"
        "    out[i] = part * 2\n    t += 1\nreturn out"
    ),
    "filled": (
        "out = np.empty((4, 3), dtype=complex)\nb = np.zeros(4)\nfor i in range(4):\n    b[:3] = x[i : i + 3]\n"
        "    b[1:3] -= 0.5 * b[:2]\n    b[0] *= 2\n    b[:3] *= np.ones(3)\n    out[i] = np.fft.rfft(b)\nreturn out"
    ),
    "sum": "total = 0.0\nfor i in range(len(x)):\n    total += x[i] ** 2\nreturn total",
    "sum of rows": "x = np.outer(x, x)\ntotal = np.zeros(6)\nfor row in x:\n    total += row * row.max()\nreturn total",
    "sum from a number": "y = np.outer(x, x)\ntotal = 0\nfor row in y:\n    total += row\nreturn total",
    "sum as a new array": "y = np.outer(x, x)\ntotal = 0.5\nfor row in y:\n    total = row * 2 + total\nreturn total",
    "difference": "total = 0.5\nfor i in range(6):\n    total = total - x[i]\nreturn total",
    "product": "y = np.outer(x, x)\np = np.ones(6)\nfor row in y:\n    p *= row\nreturn p",
    "maximum": "y = np.outer(x, x)\ntop = y[0]\nfor row in y:\n    top = np.maximum(top, row)\nreturn top",
    "minimum": "y = np.outer(x, x)\nleast = y[0]\nfor row in y:\n    least = np.minimum(row, least)\nreturn least",
    "neighbours": "out = np.zeros(5)\nfor i in range(5):\n    out[i] = x[i + 1] - x[i]\nreturn out",
    "columns": "x = np.outer(x, x)\nout = np.zeros(6)\nfor i, row in enumerate(x):\n"
    "    out[i] = row @ np.ones(6) + i\nreturn out",
    "branch": "out = np.zeros(6)\nfor i in range(6):\n    v = x[i] * 2\n"
    "    if n > 1:\n        v = v + 1\n    out[i] = v\nreturn out",
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_with_independent_steps(vectorized, name):
    call = "f(np.asarray([0.5, -1.25, 4.0, 9.0, -0.0, 2.5]), 2)"
    result = vectorized(LOOPS[name], call, head="def f(x: np.ndarray, n):")
    assert len(made(result)) == 1, result.notes
    assert "for " not in result.text
    assert_same(result, X, 2)


LOOPS_OVER_ROWS = {
    "sum": "total = np.zeros(x.shape[1:])\nfor i in range(len(x)):\n    total += x[i] ** 2\nreturn total",
    "each": "out = np.zeros_like(x)\nfor i in range(len(x)):\n    out[i] = x[i] - x[i].mean() * n\nreturn out",
    "rows": "m = x[0]\nfor row in x:\n    m = np.maximum(m, row)\nreturn m",
}


@pytest.mark.parametrize("name", LOOPS_OVER_ROWS)
@pytest.mark.parametrize("shape", ["(6, 4)", "(6, 4, 2)"])
def test_a_call_decides_on_the_number_of_axes(vectorized, name, shape):
    call = f"f(np.random.default_rng(0).normal(size={shape}), 2)"
    result = vectorized(LOOPS_OVER_ROWS[name], call, head="def f(x: np.ndarray, n):")
    assert len(made(result)) == 1, result.notes
    assert not result.notes
    assert "for " not in result.text
    assert_same(result, numpy.random.default_rng(1).normal(size=eval(shape)), 2)


STAY = {
    "of the step before": "y = np.zeros(6)\nfor i in range(1, 6):\n    y[i] = y[i - 1] + x[i]\nreturn y",
    "np.may_share_memory(y, np.asarray(x))": "y = x[1:]\nfor i in range(5):\n    y[i] = x[i] * 2\nreturn y",
    "np.may_share_memory(y, np.asarray(z))": "z = x * 1.0\ny = z[:]\nfor i in range(6):\n"
    "    y[i] = x[i] + np.sum(z)\nreturn y",
    "is read after the loop": "y = np.zeros(6)\nfor i in range(6):\n    v = x[i] * 2\n    y[i] = v\nreturn y + v",
    "np.where chooses for all": "y = np.zeros(6)\nfor i in range(6):\n    if x[i] > 0:\n        y[i] = 1\nreturn y",
    "each step runs print": "y = np.zeros(6)\nfor i in range(6):\n    y[i] = x[i]\n    print(i)\nreturn y",
    "works on one step at a time": "y = np.zeros(6)\nfor i in range(6):\n"
    "    y[i] = x[i] * np.sort(x[i:i+1])[0]\nreturn y",
    "another length in each step": "y = np.zeros(6)\nfor i in range(6):\n    y[i] = x[:i].sum()\nreturn y",
    "not np.may_share_memory(total, np.asarray(y))": "y = np.outer(x, x)\ntotal = y[-1]\nfor row in y:\n"
    "    total += row\nreturn total",
    "needs s of the step before": "s = 0.0\nfor i in range(6):\n    s += x[i]\n    s *= 2\nreturn s",
    "needs d of the step before": "d = 0.0\nfor i in range(6):\n    d = x[i] - d\nreturn d",
    "result_type(np.asarray(y[:6]), p)": "y = np.arange(1, 7)\np = 1.0\nfor i in range(6):\n    p *= y[i]\nreturn p",
    "result_type(np.asarray(y[:6]), s)": "y = np.full(6, 2**62)\ns = 0.0\nfor i in range(6):\n    s += y[i]\nreturn s",
    "result_type(np.asarray(y), s)": "y = np.outer(x, x).astype(np.float32)\ns = np.zeros(6)\nfor row in y:\n"
    "    s += row\nreturn s",
    "result_type(np.asarray(y), total)": "y = np.outer(x, x).astype(np.int32)\ntotal = 0\nfor row in y:\n"
    "    total += row\nreturn total",
    "not true in the call: np.all(np.asarray(p) == 1)": "p = 2.0\nfor i in range(6):\n    p *= x[i]\nreturn p",
    "not true in the call: len(y) > 0": "y = np.outer(x, x)[:0]\nm = 1.0\nfor row in y:\n    m = np.maximum(m, row)\n"
    "return m",
    "depends on values": "y = x * 1.0\nwhile y.max() > 1:\n    y = y / 2\nreturn y",
}


@pytest.mark.parametrize("reason", STAY)
def test_other_loops_stay_with_their_reason(vectorized, reason):
    call = "f(np.asarray([0.5, -1.25, 4.0, 9.0, -0.0, 2.5]))"
    result = vectorized(STAY[reason], call, head="def f(x: np.ndarray):")
    assert made(result) == []
    assert any(reason in each for each in result.notes), result.notes
    assert_same(result, X)


def test_an_edit_that_changes_the_result_is_dropped(vectorized, monkeypatch):
    from xarrayops.port import vectorizing

    right = vectorizing.masks.offers

    def wrong(context, numpy):
        first, second = right(context, numpy)
        return [first, second._replace(new=first.new)]

    monkeypatch.setattr(vectorizing.masks, "offers", wrong)
    result = vectorized("y = x - 1\ny[y > 0] = 2 * y[y > 0]\ny[y > 1] = 3 * y[y > 1]\nreturn y", "f(np.ones(3) * 3)")
    assert made(result) == [5]
    assert "line 6 of the original is not vectorized: the result of the call differs" in result.notes[0]
    assert_same(result, X)


def test_the_command_prints_the_reasons_before_the_diff(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text(
        f"import numpy as np\n\ndef f(x, m):\n    {ROWS}".replace("\ny", "\n    y").replace("\nr", "\n    r") + "\n"
    )
    call = "f(np.ones(3), np.asarray([True, False, True]))"
    assert main(["rewrite", str(path), "--vectorize", "--call", call, "--diff"]) == 0
    first, second = capsys.readouterr().out.split("\n")[:2]
    assert first.startswith("line 5: vectorized: np.where gives the same elements")
    assert not second.startswith("line 5")
    assert main(["rewrite", str(path), "--vectorize", "--diff"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("line 5 of the original is not vectorized: ")
    assert "+    y = np.where" not in out
    assert main(["rewrite", str(path), "--call", call]) == 2
    assert main(["rewrite", str(path), "--vectorize", "--call", "f(1, 2"]) == 2
    assert main(["rewrite", str(path), "--vectorize", "--call", "f(1, 2)"]) == 2
    assert "TypeError" in capsys.readouterr().err


LATER = {
    "after the loop around it": "for k in range(3):\n    for v in x:\n        last = v * 2.0\nreturn last",
    "in an inner function": "def g():\n    return last\n\nfor v in x:\n    last = v * 2.0\nreturn g()",
}


@pytest.mark.parametrize("name", LATER)
def test_a_variable_that_is_read_later_stays_that_of_the_last_step(vectorized, name):
    result = vectorized(LATER[name], head="def f(x: np.ndarray):")
    assert not made(result)
    assert any("last is read after the loop" in note for note in result.notes), result.notes
    assert_same(result, X)


def test_powers_of_the_counter_stay(vectorized):
    """Integers of Python have no greatest value."""
    body = "s = 0.0\nfor t in range(len(x)):\n    s = s + x[t] / 2**t\nreturn s"
    result = vectorized(body, call="f(np.ones(70))", head="def f(x: np.ndarray):")
    assert not made(result)
    assert_same(result, numpy.ones(70))


READ = {
    "a counter that another loop has": (
        "for i in range(len(x)):\n    y[i] = x[i]\nfor i in range(3):\n    y[i] = i",
        2,
    ),
    "a class": ("for v in x[:, None]:\n    w = v * 2\nclass K:\n    z = w[0]\ny[0] = K.z", 0),
    "by its name": ("for v in x:\n    w = v * 2\ny[0] = locals()['w']", 0),
    "a nonlocal variable": ("def g():\n    nonlocal w\n    return w\nfor v in x:\n    w = v * 2\ny[0] = g()", 0),
    "a changed counter": ("for i in range(len(x) - 1):\n    i += 1\n    y[0] += x[i]", 0),
}


@pytest.mark.parametrize("name", READ)
def test_reads_of_the_variables_of_a_loop(vectorized, name):
    body, count = READ[name]
    result = vectorized(
        f"y = np.zeros(len(x))\n{body}\nreturn y", call="f(np.arange(6.0))", head="def f(x: np.ndarray):"
    )
    assert len(made(result)) == count
    assert_same(result, X)


@pytest.mark.parametrize(
    "body", ["for v in x:\n    s[()] += v", "for v in x:\n    s[()] = v[()]", "for v in x:\n    s += v.sum(axis=-k)"]
)
def test_odd_indices_and_axes_stay(vectorized, body):
    result = vectorized(f"s, k = np.zeros(()), 1\n{body}\nreturn s", head="def f(x: np.ndarray):")
    assert not made(result)
