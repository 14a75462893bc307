"""NumPy's names: each has an answer, the lines of code that replace them are right, and a missing name is answered."""

import importlib
import inspect
import math
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.numpy_names import FFT, LINALG, MAIN, METHODS, MODULES, RANDOM, REMARKS

KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
EXTENSIONS = [("linalg", np.linalg, LINALG), ("fft", np.fft, FFT)]
TABLES = {"numpy": MAIN, "linalg": LINALG, "fft": FFT, "random": RANDOM, "ndarray": METHODS}
LINES = [(table, name) for table, names in TABLES.items() for name in names.lines]
SINCE_2_2 = {"matvec", "vecmat"}


def public(namespace):
    return {name for name in dir(namespace) if not name.startswith("_")}


def same(namespace):
    """The names of NumPy that are ours: by the module of NumPy."""
    module = {np: xo, np.linalg: xo.linalg, np.fft: xo.fft, np.random: xo.random, np.ndarray: xo}.get(namespace)
    return set() if module is None else set(dir(module))


@pytest.mark.parametrize(
    ("namespace", "table"),
    [(np, MAIN), (np.linalg, LINALG), (np.fft, FFT), (np.random, RANDOM), (np.ndarray, METHODS)],
    ids=TABLES,
)
def test_every_name_of_numpy_has_an_answer(namespace, table):
    unanswered = public(namespace) - same(namespace) - table.names()
    assert not unanswered, (
        f"NumPy {np.__version__} has names in {namespace.__name__} without an answer: {', '.join(sorted(unanswered))}. "
        f"Add each to a table of xarrayops/_core/numpy_names: a new name, a line of code, or the reason."
    )


def test_a_name_that_has_no_answer_is_reported():
    class Newer:
        brand_new = abs = concatenate = None

    with pytest.raises(AssertionError, match=r"without an answer: brand_new\. Add each"):
        test_every_name_of_numpy_has_an_answer(Newer, MAIN._replace(without={**MAIN.without, "abs": ""}))


@pytest.mark.parametrize(("module", "table"), MODULES.items())
def test_no_answer_for_a_name_that_is_ours(module, table):
    ours = public(importlib.import_module(module)) & table.names()
    assert not ours, f"{module} has {', '.join(sorted(ours))} now: remove the answers from numpy_names"
    kinds = [*table.renamed, *table.lines, *table.without]
    assert len(kinds) == len(set(kinds)), "one answer for each name"


NUMPY_HAS = {
    f"{prefix}{name}": (getattr(theirs, name), getattr(ours, name))
    for prefix, theirs, ours in (("", np, xo), ("linalg.", np.linalg, xo.linalg), ("fft.", np.fft, xo.fft))
    for name in sorted(public(theirs) & set(dir(ours)))
}
"""By the names that are the same: NumPy's object and ours."""
OF_MEMORY = {"out", "subok", "order", "casting", "kwargs"}
"""The parameters of NumPy's functions that few remarks name: the page says that results are new arrays."""


def test_remarks_are_for_known_names():
    assert REMARKS.keys() <= MAIN.renamed.keys() | NUMPY_HAS.keys()


def listed(remark):
    return re.split(r", | and ", remark)


@pytest.mark.parametrize("name", sorted(REMARKS.keys() & NUMPY_HAS.keys()))
def test_remarks_about_arguments_are_right(name):
    """A keyword that is required is keyword-only, one that is missing is unknown, and a replacement is known."""
    found = inspect.signature(NUMPY_HAS[name][1]).parameters
    for remark in REMARKS[name].split("; "):
        if remark.endswith(" by keyword"):
            assert all(found[each].kind is found[each].KEYWORD_ONLY for each in listed(remark[:-11])), remark
        elif remark.startswith("no ") and ":" not in remark:
            assert not set(listed(remark[3:])) & found.keys(), remark
        assert set(re.findall(r"(\w+)=", remark.partition(" for ")[0])) <= found.keys(), remark


@pytest.mark.parametrize("name", [name for name, (theirs, ours) in NUMPY_HAS.items() if inspect.isfunction(ours)])
def test_what_differs_in_the_arguments_has_a_remark(name):
    """The first option that NumPy takes by position, and the parameters that ours does not have."""
    theirs, ours = NUMPY_HAS[name]
    if isinstance(theirs, np.ufunc):
        return  # all have the same parameters
    known, own = inspect.signature(theirs).parameters, inspect.signature(ours).parameters
    by_position = [p for p in known if p in own and own[p].kind is KEYWORD_ONLY is not known[p].kind]
    places = sum(p.kind is not p.KEYWORD_ONLY for p in own.values())
    lacking = {p for place, p in enumerate(known) if p not in own and place >= places} - OF_MEMORY
    assert {*by_position[:1], *lacking} <= set(re.findall(r"\w+", REMARKS.get(name, ""))), REMARKS.get(name)


@pytest.mark.parametrize("name", MAIN.renamed)
def test_the_other_name_exists(name):
    ours = MAIN.renamed[name]
    value = xo
    for part in ours.split("."):
        value = getattr(value, part)
    theirs = getattr(np, name, None)
    if isinstance(theirs, type) and issubclass(theirs, np.generic):
        assert np.dtype(theirs) == np.dtype(value)


X = np.asarray([[0.5, -1.25, 2.0, 3.5], [1.75, 0.0, -0.75, 4.0], [-2.5, 1.0, 0.25, 2.25]])
SAMPLES = {
    "x": X,
    "y": np.asarray([[1.5, 2.0, -3.0, 0.5], [0.25, 1.0, 2.0, 5.0], [3.0, -1.5, 0.75, 1.25]]),
    "v": np.asarray([0.0, 3.0, math.nan, 1.5]),
    "w": np.asarray([1.0, math.nan, 2.0, 4.0]),
    "u": np.asarray([1.0, -2.0, 3.0]),
    "a": np.asarray([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 4.0]]),
    "b": np.asarray([[1.0, 0.0, 2.0], [0.0, 2.0, 0.5], [1.0, 0.5, 3.0]]),
    "z": X[:, :3] + 1j * X[:, 1:],
    "i": np.asarray([2, 0, 1]),
    "k": np.asarray([1, 0, 1]),
    "m": np.asarray([True, False, True, True]),
    "mask": X > 1,
    "s": np.asarray([0.1, 1.0, 2.0, 5.0]),
}
PI = math.pi
FINITE = {"v": np.asarray([0.0, 3.0, 1.0, 1.5]), "w": np.asarray([1.0, 3.5, 2.0, 4.0])}
SPECIAL = np.asarray([[math.nan, math.inf, -math.inf, 0.0], [-0.0, 1.0, -2.5, 0.5], [math.inf, math.nan, 2.0, -1.0]])
KINDS = {
    "finite": FINITE,
    "special": FINITE | {"x": SPECIAL, "y": SPECIAL[::-1], "v": SPECIAL[0], "w": SPECIAL[1]},
    "vectors with NaN": {},
    "complex": {
        "x": X + 1j * X[::-1],
        "y": X[::-1] - 2j * X,
        "v": np.asarray([0.0, 3.0 + 1j, 1.0, 1.5 - 2j]),
        "w": np.asarray([1j, 3.5, 2.0 - 1j, 4.0]),
        "u": np.asarray([1.0, -2.0j, 3.0]),
        "a": np.asarray([[2.0, 1j, 0.0], [-1j, 3.0, 0.5], [0.0, 0.5, 4.0]]),
    },
    "multiples of pi": FINITE | {"v": np.asarray([0.0, PI, 2 * PI, -PI]), "x": X.round() * PI},
    "jumps": FINITE | {"v": np.asarray([0.0, 3 * PI, -4.0, 5.5])},
    "zeros": FINITE | {"x": X * 0, "y": X, "v": np.zeros(4)},
    "integers": {
        "x": np.asarray([[7, -7, 5, -5], [0, 1, 2, 3], [4, 9, -8, 6]]),
        "y": np.asarray([[3, 3, -3, -3], [1, 2, 3, 4], [5, -2, 3, 4]]),
        "v": np.asarray([0, 3, 1, 2]),
        "w": np.asarray([1, 4, 2, 5]),
        "u": np.asarray([1, -2, 3]),
    },
}
"""By kind, the samples that differ. Each line is right for all of them, raises, or has a remark."""
NOT_A_NUMBER = ("special", "vectors with NaN")
EXCEPT = {
    "divmod": ("special",),
    "histogram_bin_edges": ("complex", "zeros"),
    "item": ("complex", "integers"),
    "modf": ("integers",),
}
"""The kinds of samples for which a line has other results, as its remark says."""


def samples(kind, library):
    """The arrays that the lines name."""
    make = np.array if library == "numpy" else partial(xo.asarray, backend=library, copy=True)
    arrays = {key: make(value) for key, value in (SAMPLES | KINDS[kind]).items()}
    return arrays | {"n": 5, "np": np, "xo": xo, "math": math}


def value_of(line, scope):
    """The value of an expression; of a statement or a function in place, what the first array is then."""
    target, assigns, expression = line.partition(" = ")
    if assigns and target.isidentifier():
        return eval(expression, scope)
    value = eval(line, scope)
    changed = line.partition("(")[2].partition(",")[0].partition(")")[0] or line.partition(".")[0]
    return scope[line.partition(".")[0] if not line.startswith("np.") else changed] if value is None else value


def as_numpy(value):
    if isinstance(value, list | tuple):
        return [as_numpy(each) for each in value]
    is_plain = isinstance(value, int | float | complex | str | slice | np.generic | bytes)
    return value if is_plain else xo.convert(value, "numpy")


def compare(theirs, ours, kind, library):
    """Raise unless two lines have the same results: in value, shape and kind of dtype."""
    want = value_of(theirs, samples(kind, "numpy"))
    got = as_numpy(value_of(ours, samples(kind, library)))
    assert isinstance(got, list) == isinstance(want, list | tuple)
    got, want = (got, want) if isinstance(got, list) else ([got], [want])
    for mine, expected in zip(got, want, strict=True):
        if isinstance(expected, slice | bytes | str):
            assert mine == expected
            continue
        assert np.shape(mine) == np.shape(expected)
        assert np.asarray(mine).dtype.kind == np.asarray(expected).dtype.kind
        np.testing.assert_allclose(mine, expected, rtol=1e-6, atol=1e-6)


MAY_RAISE = ("complex", "integers")
"""The kinds of samples for which a line may raise where NumPy's does not: libraries lack some functions."""


def serves(line, kind, library):
    """Whether a line returns for a kind of samples."""
    try:
        value_of(line, samples(kind, library))
    except (TypeError, ValueError, RuntimeError, np.linalg.LinAlgError):
        return False
    return True


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("table", "name"), [row for row in LINES if hasattr(np, row[1]) or row[1] not in SINCE_2_2], ids=lambda value: value
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_the_line_that_replaces_it_is_right(table, name, library):
    """Of finite numbers it has NumPy's result. Of others it has, or raises, or its remark names the difference."""
    pytest.importorskip(library)
    theirs, ours, *remark = TABLES[table].lines[name]
    compare(theirs, ours, "finite", library)
    for kind in KINDS:
        if kind in EXCEPT.get(name, ()):
            assert remark, kind
        elif serves(theirs, kind, "numpy") and (kind not in MAY_RAISE or serves(ours, kind, library)):
            compare(theirs, ours, kind, library)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("np.dot(a, b)", "xo.matmul(b, a)"),
        ("np.fliplr(x)", "x"),
        ("np.put(v, i, 5.0)", "v = xo.at(v)[i].set(6.0)"),
        ("v.sort()", "v = v"),
        ("np.modf(x)", "(xo.trunc(x), x - xo.trunc(x))"),
        ("np.modf(x)", "(x - xo.trunc(x), xo.trunc(x))"),
        ("np.size(x)", "x.shape"),
        ("np.inner(v, w)", "xo.vecdot(v, w)"),
        ("np.correlate(v, w)", "xo.reshape(xo.vecdot(v, w), (1,))"),
        ("np.cov(x)", "(c := x - xo.mean(x, axis=1, keepdims=True)) @ c.T / (c.shape[1] - 1)"),
        (
            "np.unwrap(v)",
            "xo.concat([v[:1], v[0] + xo.cumulative_sum(xo.remainder(xo.diff(v) + xo.pi, 2 * xo.pi) - xo.pi)])",
        ),
        ("np.heaviside(x, 0.5)", "xo.where(x == 0, 0.5, xo.astype(x > 0, x.dtype))"),
        ("np.fmod(x, y)", "xo.copysign(xo.remainder(xo.abs(x), xo.abs(y)), x)"),
        ("np.trim_zeros(v)", "v[int((o := xo.nonzero(v)[0])[0]) : int(o[-1]) + 1]"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_wrong_line_is_found(theirs, ours, monkeypatch):
    monkeypatch.setitem(TABLES, "wrong", MAIN._replace(lines={"line": (theirs, ours)}))
    with pytest.raises((AssertionError, IndexError)):
        test_the_line_that_replaces_it_is_right("wrong", "line", "numpy")


def test_lines_are_replaced_by_our_functions():
    """A line here does not call NumPy, but for values that are created on the host."""
    host = {name for names in TABLES.values() for name, (_, ours, *_) in names.lines.items() if "np." in ours}
    assert host == {"frombuffer"}


ANSWERS = {
    "concatenate": (xo, "xo has no concatenate. Instead: xo.concat"),
    "cumsum": (xo, "xo has no cumsum. Instead: xo.cumulative_sum (an array of several axes needs axis=)"),
    "power": (xo, "xo has no power. Instead: xo.pow"),
    "transpose": (
        xo,
        "xo has no transpose. Instead of np.transpose(x): xo.permute_dims(x, (1, 0)) (the axes are required)",
    ),
    "dot": (xo, "xo has no dot. Instead of np.dot(a, b): xo.matmul(a, b)"),
    "array": (xo, "xo has no array. Instead: xo.asarray (it copies only with copy=True)"),
    "arcsin": (xo, "xo has no arcsin. Instead: xo.asin"),
    "int": (xo, "xo has no int. Instead: xo.int64"),
    "float": (xo, "xo has no float. Instead: xo.float64"),
    "object": (xo, "xo has no object: only NumPy has strings and objects"),
    "vstack": (xo, "xo has no vstack. Instead of np.vstack([x, y]): xo.concat([x, y]) (of vectors: xo.stack)"),
    "nditer": (xo, "xo has no nditer: it is an iterator over elements in Python; write "),
    "multi_dot": (xo.linalg, "xo.linalg has no multi_dot. Instead of np.linalg.multi_dot([a, b, a]): xo.matmul("),
    "fft2": (xo.fft, "xo.fft has no fft2. Instead of np.fft.fft2(x): xo.fft.fftn(x, axes=(-2, -1))"),
    "csr_array": (
        xo.sparse,
        "xo.sparse has no csr_array: containers stay those of their library; xo.sparse.from_dense",
    ),
    "matmul": (xo.sparse, "xo.sparse has no matmul. Instead: xo.matmul"),
    "exp": (xo.sparse, "xo.sparse has no exp. Instead: xo.exp of the dense array xo.sparse.to_dense(s)"),
    "svd": (xo, "xo has no svd. Instead: xo.linalg.svd"),
    "randn": (
        xo.random,
        "xo.random has no randn: rng = xo.random.default_rng(0, like=x), then rng.normal(loc, scale, ",
    ),
    "seed": (xo.random, "xo.random has no seed: there is no global random state; rng = xo.random.default_rng(0, like="),
    "poisson": (xo.random, "xo.random has no poisson: xo.random has uniform, normal and exponential numbers and integ"),
    "default_rng": (xo, "xo has no default_rng. Instead: xo.random.default_rng"),
    "concta": (xo, "xo has no concta; did you mean xo.concat?"),
    "arcsn": (xo, "xo has no arcsn and no arcsin. Instead: xo.asin"),
    "svdd": (xo.linalg, "xo.linalg has no svdd; did you mean xo.linalg.svd?"),
    "zzzqq": (xo, "xo has no zzzqq; dir(xo) lists its names"),
    "__missing__": (xo, "module 'xarrayops' has no attribute '__missing__'"),
    "a.b": (xo, "module 'xarrayops' has no attribute 'a.b'"),
    "bench.b": (xo.linalg, "module 'xarrayops.linalg' has no attribute 'bench.b'"),
    "msort": (xo, "xo has no msort. Instead of np.sort(x, axis=0): xo.sort(x, axis=0)"),
    "NINF": (xo, "xo has no NINF. Instead of -np.inf: -xo.inf"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_missing_name_is_answered(name):
    module, text = ANSWERS[name]
    assert not hasattr(module, name)
    assert getattr(module, name, 3) == 3
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_python_adds_no_suggestion():
    """Its own would be `argmin`: the most similar attribute."""
    last = run("import xarrayops as xo\nxo.arcsin").stderr.splitlines()[-1]
    assert last == "AttributeError: xo has no arcsin. Instead: xo.asin"


def test_a_module_that_is_not_imported_is_named():
    last = run("import xarrayops as xo\nxo.testing").stderr.splitlines()[-1]
    assert last == "AttributeError: xarrayops.testing is not imported. Instead: import xarrayops.testing"
    assert run("from xarrayops import testing").returncode == 0


def test_the_tables_are_imported_for_a_missing_name_only():
    code = "import sys, xarrayops as xo; {}print([m for m in sys.modules if 'numpy_names' in m or m == 'difflib'])"
    assert run(code.format("")).stdout == "[]\n"
    assert run(code.format("hasattr(xo, '__path'); ")).stdout != "[]\n"


def test_a_feature_test_writes_no_text():
    """A missing name with no answer in a table would be looked for among all modules and similar names."""
    code = "import sys, xarrayops as xo; assert not hasattr(xo, 'zzzqq'); print('difflib' in sys.modules)"
    assert run(code).stdout == "False\n"


def test_torch_compile_sees_no_difference():
    torch = pytest.importorskip("torch")
    compiled = torch.compile(lambda x: xo.linalg.trace(xo.add(x, x)), fullgraph=True, backend="eager")
    assert compiled(torch.ones((2, 2))) == 4.0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("vstack", "xarrayops.namespaces.numpy has no 'vstack'. Instead of np.vstack([x, y]): xo.concat([x, y])"),
        ("cumsum", "xarrayops.namespaces.numpy has no 'cumsum'. Instead: xo.cumulative_sum ("),
        (
            "zzzqq",
            "xarrayops.namespaces.numpy has no 'zzzqq': it has the functions of the array API standard and ",
        ),
    ],
)
def test_a_namespace_answers_too(name, text):
    namespace = xo.array_namespace(X)
    assert not hasattr(namespace, name)
    with pytest.raises(AttributeError) as caught:
        getattr(namespace, name)
    assert str(caught.value).startswith(text)
