"""`rewrite` with ``scan``: loops whose steps need the step before, as `xo.scan`."""

from contextlib import nullcontext
from itertools import product

import numpy
import pytest

import xarrayops as xo
from xarrayops.port import rewrite
from xarrayops.port.__main__ import main
from xarrayops.port.vectorizing.offers import KIND

X = numpy.asarray([0.5, -1.25, 4.0, 9.0, -0.0, 2.5, 3.0])
A = numpy.asarray([[0.5, 0.25], [-0.125, 0.75]])


@pytest.fixture
def scanned(tmp_path):
    """Rewrites the body of ``f(x, a)``, decided by a call of it."""

    def of(body, call="f(x, a)"):
        path = tmp_path / "program.py"
        lines = [f"    {line}" for line in body.split("\n")]
        data = f"x, a = np.asarray({X.tolist()}), np.asarray({A.tolist()})"
        path.write_text(
            "\n".join(["import numpy as np", "", data, "", "def f(x: np.ndarray, a: np.ndarray):", *lines, ""])
        )
        return rewrite(path, vectorize=True, scan=True, call=call)

    return of


def function_of(text):
    namespace = {"__name__": "program"}
    exec(compile(text, "program.py", "exec"), namespace)
    return namespace["f"]


def made(result):
    return [edit for edit in result.edits if edit.kind == KIND]


START = "y = np.zeros_like(x)\ny[0] = x[0]\n"
LOOPS = {
    "a filter": START + "for t in range(1, len(x)):\n    y[t] = 0.25 * x[t] + 0.75 * y[t - 1]\nreturn y",
    "two lags": START
    + "for t in range(2, len(x)):\n    y[t] = x[t] - x[t - 2] + 0.5 * y[t - 1] - 0.25 * y[t - 2]\nreturn y",
    "a later element": START + "for t in range(1, len(x) - 1):\n    y[t] = y[t - 1] + x[t + 1] - y[t + 1]\nreturn y",
    "two variables": "level, slope = x[0], 0.0\ny = np.empty(len(x))\nfor t in range(len(x)):\n    last = level\n"
    "    level = 0.5 * x[t] + 0.5 * (level + slope)\n    slope = 0.25 * (level - last) + 0.75 * slope\n"
    "    y[t] = level + slope\nreturn y",
    "an exchange": "a, b = x[0], x[1]\nfor v in x:\n    a, b = b, a + v * b\nreturn a * b",
    "rows": "s = np.zeros(2)\ny = np.empty((len(x), 2))\nfor t in range(len(x)):\n    s = a @ s + x[t]\n    y[t] = s\n"
    "return y",
    "a number in each row": "s = 0.0\ny = np.empty((len(x), 2))\nfor t in range(len(x)):\n    s = np.tanh(s + x[t])\n"
    "    y[t] = s\nreturn y",
    "two arrays": "y, z = np.zeros_like(x), np.zeros_like(x)\nfor t in range(1, len(x)):\n"
    "    y[t] = 0.5 * y[t - 1] + x[t]\n    z[t] = y[t] - y[t - 1] + 0.5 * z[t - 1]\nreturn y + z",
    "a first value of another dtype": "s = np.zeros(2, np.float32)\nfor t in range(2):\n"
    "    s = np.tanh(s + a[t])\nreturn s",
    "the next element": "y = np.zeros(len(x))\nfor t in range(len(x) - 1):\n    y[t + 1] = y[t] + 0.1 * x[t]\nreturn y",
    "the element before": "y = np.zeros(len(x))\nu = w = 0.0\n"
    "for t in range(len(x)):\n    y[t] = x[t] - u + 0.5 * w\n    u, w = x[t], y[t]\nreturn y + w",
    "a time of its own": "time = 0.0\ny = np.zeros_like(x)\nfor t in range(1, len(x)):\n"
    "    time = time + 0.1\n    y[t] = 0.5 * y[t - 1] + x[t] * np.sin(time)\nreturn y",
    "a counter that another loop has": "s = 0.0\nfor t in range(len(x)):\n    s = np.tanh(s + x[t])\n"
    "for t in range(3):\n    s = s + t\nreturn s",
    "items": "s = 0.0\nfor v in x:\n    s = np.tanh(s + v)\nreturn s + 0 * x",
    "numbered items": "s = 0.0\nfor t, v in enumerate(x):\n    s = np.sin(s + v * t)\nreturn s + 0 * x",
    "no array of steps": "v = a[0]\nfor _ in range(9):\n    v = a @ v\n    v = v / np.linalg.norm(v)\nreturn v",
    "numbers that change in place": "s = 0.0\nfor v in x:\n    s *= 0.5\n    s += v\nreturn s + 0 * x",
    "a dtype that stays": "d = np.zeros(2, np.float32)\ns = 0.0\nfor t in range(2):\n"
    "    d += a[t]\n    s = s + a[t, 0] + d.sum()\nreturn s",
    "the length of what it writes": "y = np.zeros_like(x)\nfor t in range(1, len(y)):\n"
    "    y[t] = y[t - 1] + x[t] / len(y)\nreturn y",
    "augmented": "y = x * 2\nfor t in range(1, len(x)):\n    y[t] += 0.5 * y[t - 1]\nreturn y",
    "other dtype": "y = np.zeros(len(x), dtype=np.int32)\nfor t in range(1, len(x)):\n"
    "    y[t] = 0.5 * y[t - 1] + x[t]\nreturn y",
    "the shape of what it writes": "y = np.zeros((3, 2))\nfor t in range(1, 3):\n"
    "    y[t] = y[t - 1] + y.shape[1] + x[t]\nreturn y",
    "columns": "s = np.zeros(2)\nfor t in range(2):\n    s = np.tanh(s + a[:, t])\nreturn s",
    "a column before the step": "s = np.zeros(2)\nfor t in range(1, 2):\n"
    "    s = np.tanh(s + a[:, t] * a[:, t - 1])\nreturn s",
    "an array with an empty index": "s = 0.0\nfor v in x:\n    s = np.tanh(s + v * a[()][0, 0])\nreturn s",
    "a row": "s = np.zeros(2)\nfor t in range(2):\n    s = np.tanh(s + a[t, 0] - a[t, 1:])\nreturn s",
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_becomes_a_scan(scanned, name):
    result = scanned(LOOPS[name])
    assert len(made(result)) == 1, result.notes
    assert "xo.scan(" in result.text
    assert not result.todos
    want = function_of(result.original)(X.copy(), A.copy())
    got = function_of(result.text)(X.copy(), A.copy())
    assert numpy.asarray(got).dtype == numpy.asarray(want).dtype
    numpy.testing.assert_array_equal(got, want)


OTHERS = {
    "shorter": X[:4],
    "three": X[:3],
    "one": X[:1],
    "float32": X.astype("float32"),
    "integers": (4 * X).astype(int),
}


RAISES = {("integers", "two variables"), ("integers", "the element before"), ("float32", "numbered items")}
"""The calls in which a variable would change its dtype: x[0] is an integer, and float32 times a counter is float64."""


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("name", LOOPS)
def test_later_calls_give_the_same_or_raise(scanned, name, kind):
    """The call that decided had other lengths and dtypes."""
    original, edited = map(function_of, (scanned(LOOPS[name]).original, scanned(LOOPS[name]).text))
    a = A.astype("float32") if kind == "float32" else A
    try:
        want = numpy.asarray(original(OTHERS[kind].copy(), a.copy()))
    except (IndexError, ValueError):
        pytest.skip("the original raises")
    args = OTHERS[kind].copy(), a.copy()
    if (kind, name) in RAISES:
        with pytest.raises(TypeError, match="dtype"):
            edited(*args)
        return
    got = numpy.asarray(edited(*args))
    assert got.dtype == want.dtype
    numpy.testing.assert_allclose(got, want, rtol=1e-6)


FOR_TORCH = "a filter", "two variables", "rows", "columns"
"""The loops that PyTorch compiles as well, which takes seconds."""


@pytest.mark.parametrize(("name", "engine"), [*product(LOOPS, ["jax"]), *product(FOR_TORCH, ["torch"])])
def test_a_compiler_runs_it(scanned, name, engine):
    library = pytest.importorskip(engine)
    result = scanned(LOOPS[name])
    compiled = xo.jit(function_of(result.text), engine=engine)
    want = function_of(result.original)(X.copy(), A.copy())
    with library.enable_x64(True) if engine == "jax" else nullcontext():
        numpy.testing.assert_allclose(compiled(X, A), want, rtol=1e-12)


def test_an_element_of_a_row_is_taken_in_the_step(scanned):
    body = "s = 0.0\nfor t, v in enumerate(a):\n    s = np.tanh(s + v[t])\nreturn s"
    result = scanned(body)
    assert len(made(result)) == 1
    with pytest.importorskip("jax").enable_x64(True):
        got = xo.jit(function_of(result.text), engine="jax")(X, A)
    assert got == pytest.approx(numpy.tanh(numpy.tanh(A[0, 0]) + A[1, 1]), rel=1e-12)


STAYS = {
    "great integers": (
        "s = 0.0\nfor t in range(len(x)):\n    s = np.tanh(s + x[t] / 2**t)\nreturn s",
        "no dtype holds",
    ),
    "a first integer": ("s = 0\nfor v in x:\n    s = 0.5 * (s + v)\nreturn s", "begin with 0.0"),
    "a first bool": ("s = False\nfor v in x:\n    s = s | (v > 5)\nreturn s", "begin with 0.0"),
    "integers of the caller": (
        "n = int(x[0])\nm = n\nfor t in range(len(x)):\n    m, n = n, m + n\nreturn m",
        "integer",
    ),
    "a sum of comparisons": (
        "s = 0.0\nfor t in range(len(x)):\n    s = s * 0.5 + x[t] * ((t > 2) + (t > 3))\nreturn s",
        "numbers or of arrays",
    ),
    "memory of a variable": (
        "y = np.zeros((7, 2))\ns = y[4]\nfor t in range(len(x)):\n    y[t] = x[t]\n    s = s + y[t]\nreturn s",
        "memory",
    ),
    "an empty index": ("s = np.zeros(())\nfor v in x:\n    s[()] = s + v\nreturn s", "each step writes s[()]"),
    "integers of Python": (
        "n = 1\ny = x * 1.0\nfor t in range(1, len(x)):\n    n = n * t\n    y[t] = y[t - 1] + 1 / n\nreturn y",
        "n begins as an integer",
    ),
    "an unknown array in place": (
        "s = 0.0\nfor v in x:\n    d = s * 0.5\n    d += v\n    s = np.tanh(d)\nreturn s",
        "in place if it is an array",
    ),
    "an output": ("s = np.zeros(2)\nfor v in a:\n    np.add(s, v, s)\n    s = np.tanh(s)\nreturn s", "np.add(s, v, s)"),
    "a range of what it writes": (
        START + "for t in range(1, int(y[0] + 3)):\n    y[t] = y[t - 1] + x[t]\nreturn y",
        "its steps change",
    ),
    "an outer loop": (
        "for k in range(2):\n    s = 0.0\n    for v in x:\n        last = s\n        s = np.tanh(s + v)\nreturn last",
        "last is read after the loop",
    ),
    "a branch": ("s = 0.0\nfor v in x:\n    if v > 0:\n        s = s + v\nreturn s", "each step runs if v > 0"),
    "a choice": ("s = 0.0\nfor v in x:\n    s = s + (v if v > 0 else -v)\nreturn s", "chooses by a value"),
    "a window": (START + "for t in range(1, len(x)):\n    y[t] = y[t - 1] + np.sum(x[t : t + 2])\nreturn y", "ends"),
    "another function": ("s = 0.0\nfor v in x:\n    s = float(s + v)\nreturn s", "may not trace float"),
    "random numbers": ("s = 0.0\nfor v in x:\n    s = s * v + np.random.rand()\nreturn 0 * s", "np.random.rand"),
    "output": ("s = 0.0\nfor v in x:\n    s = np.tanh(s + v)\n    print(s)\nreturn s", "each step runs print(s)"),
    "all elements": (START + "for t in range(1, len(x)):\n    y[t] = np.sum(y)\nreturn y", "all elements of y"),
    "another place": (
        START + "for t in range(1, len(x)):\n    y[t - 1] = y[t - 1] + y[t]\nreturn y",
        "needs y",
    ),
    "a later use": (START + "for t in range(1, len(x)):\n    v = y[t - 1] + x[t]\n    y[t] = v\nreturn v", "v is read"),
    "the counter": (START + "for t in range(1, len(x)):\n    y[t] = y[t - 1] + x[t]\nreturn y + t", "t is read"),
    "a changed end": (
        "n = len(x)\nfor t in range(n):\n    n = n - 1\n    x = x + n\nreturn x",
        "its steps change range(n)",
    ),
    "from the end": (START + "for t in range(len(x) - 2, -1, -1):\n    y[t] = y[t + 1] + x[t]\nreturn y", "runs over"),
    "no numbers": (START + "for t in range():\n    y[t] = y[t - 1] + x[t]\nreturn y", "runs over range()"),
    "another dtype": (
        "s = np.zeros(2, np.float32)\nfor t in range(2):\n    s = (s + a[t]).astype(np.float32)\nreturn s",
        "float32",
    ),
    "negative indices": (
        "y = x * 1.0\nfor t in range(len(x)):\n    y[t] = 0.5 * y[t - 1] + x[t]\nreturn y",
        "from the end",
    ),
    "shared memory": ("y = x[1:]\nfor t in range(1, len(y)):\n    y[t] = y[t - 1] + x[t]\nreturn y", "share_memory"),
    "no steps": ("s = 0.0 * x[0]\nfor t in range(len(x), 7):\n    s = s * x[t] + t\nreturn s", "len(x) < 7"),
    "a view of the state": (
        "s = np.zeros(2)\nlast = s\nfor t in range(2):\n    s += a[t]\n    s = np.tanh(s)\nreturn s + last",
        "others see s",
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_a_loop_stays_with_its_reason(scanned, name):
    body, reason = STAYS[name]
    result = scanned(body)
    assert not made(result)
    assert any(reason in note for note in result.notes), result.notes
    want, got = (function_of(text)(X.copy(), A.copy()) for text in (result.original, result.text))
    numpy.testing.assert_allclose(got, want)


def test_an_array_of_the_caller_is_shared_in_one_call(scanned):
    body = "for t in range(1, len(x)):\n    x[t] = x[t - 1] * 0.5 + a[t]\nreturn x"
    assert made(scanned(body, "f(np.ones(5), np.ones(5))"))
    shared = scanned(body, "f(*[np.ones(5)] * 2)")
    assert not made(shared)
    assert any("may_share_memory" in note for note in shared.notes)


def test_a_variable_is_no_view_of_an_array(scanned):
    """A variable of NumPy that is an element is a number."""
    body = "last = 0.0\ny = np.zeros(len(x))\nfor t in range(len(x)):\n    y[t] = x[t] - last\n    last = x[t]\n"
    result = scanned(body + "if a[0, 0] < 0:\n    last /= 2\nreturn y + last")
    assert len(made(result)) == 1
    x = X.copy()
    got = function_of(result.text)(x, -A)
    numpy.testing.assert_array_equal(got, function_of(result.original)(X.copy(), -A))
    numpy.testing.assert_array_equal(x, X)


def test_counters_of_arrays_of_integers_stay(scanned):
    body = "y = np.zeros(len(x))\nfor t in range(1, len(x)):\n    y[t] = 0.5 * y[t - 1] + x[t] * t\nreturn y"
    assert made(scanned(body, "f(x, a)"))
    result = scanned(body, "f(np.ones(5, np.uint8), a)")
    assert not made(result)
    assert any("kind in 'fc'" in note for note in result.notes)


def test_without_scan_the_note_names_it(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\n\ndef f(x: np.ndarray):\n    s = 0.0\n    for v in x:\n        s = np.tanh(s + v)\n"
    )
    (note,) = rewrite(path, vectorize=True).notes
    assert "each step needs s of the step before; --scan with --call may make it xo.scan, for a compiler" in note


def test_scan_needs_a_call(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\n")
    with pytest.raises(ValueError, match="scan needs a call"):
        rewrite(path, vectorize=True, scan=True)
    assert main(["rewrite", str(path), "--vectorize", "--scan"]) != 0
    assert (
        "--scan needs a call that decides on its edits. Instead: --vectorize --scan --call CALL"
        in capsys.readouterr().err
    )


def test_a_result_is_rewritten_to_itself(scanned, tmp_path):
    result = scanned(LOOPS["two variables"])
    again = tmp_path / "again.py"
    again.write_text(result.text)
    assert rewrite(again).text == result.text
