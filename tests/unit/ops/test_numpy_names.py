"""NumPy's names: each has an answer, what it names exists, and a missing name is answered."""

import importlib
import subprocess
import sys
from operator import attrgetter

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.numpy_names import FFT, LINALG, MAIN, METHODS, MODULES, RANDOM, REMARKS

TABLES = {"numpy": MAIN, "linalg": LINALG, "fft": FFT, "random": RANDOM, "ndarray": METHODS}


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
        f"Add each to a table of xarrayops/_core/numpy_names: a new name, xarrayops.numpy, or the reason."
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
    kinds = [*table.renamed, *table.served, *table.without]
    assert len(kinds) == len(set(kinds)), "one answer for each name"


def test_remarks_are_for_renamed_names():
    assert REMARKS.keys() <= MAIN.renamed.keys()


@pytest.mark.parametrize("name", MAIN.renamed)
def test_the_other_name_exists(name):
    ours = MAIN.renamed[name]
    value = xo
    for part in ours.split("."):
        value = getattr(value, part)
    theirs = getattr(np, name, None)
    if isinstance(theirs, type) and issubclass(theirs, np.generic):
        assert np.dtype(theirs) == np.dtype(value)


def test_the_names_that_another_module_serves_are_there():
    import xarrayops.numpy

    for path, table in (("", MAIN), ("linalg.", LINALG), ("fft.", FFT), ("", METHODS)):
        assert not [name for name in table.served if attrgetter(f"{path}{name}")(xarrayops.numpy) is None]


ANSWERS = {
    "concatenate": (xo, "xo has no concatenate. Instead: xo.concat"),
    "cumsum": (xo, "xo has no cumsum. Instead: xo.cumulative_sum (an array of several axes needs axis=)"),
    "power": (xo, "xo has no power. Instead: xo.pow"),
    "transpose": (
        xo,
        "xo has no transpose. Instead: xarrayops.numpy.transpose",
    ),
    "dot": (xo, "xo has no dot. Instead: xarrayops.numpy.dot"),
    "array": (xo, "xo has no array. Instead: xo.asarray (it copies only with copy=True)"),
    "arcsin": (xo, "xo has no arcsin. Instead: xo.asin"),
    "int": (xo, "xo has no int. Instead: xo.int64"),
    "float": (xo, "xo has no float. Instead: xo.float64"),
    "object": (xo, "xo has no object: only NumPy has strings and objects"),
    "vstack": (xo, "xo has no vstack. Instead: xarrayops.numpy.vstack"),
    "nditer": (xo, "xo has no nditer: it is an iterator over elements in Python; write "),
    "multi_dot": (xo.linalg, "xo.linalg has no multi_dot. Instead: xarrayops.numpy.linalg.multi_dot"),
    "fft2": (xo.fft, "xo.fft has no fft2. Instead: xarrayops.numpy.fft.fft2"),
    "csr_array": (
        xo.sparse,
        "xo.sparse has no csr_array: containers keep the class of their library; xo.sparse.from_dense",
    ),
    "matmul": (xo.sparse, "xo.sparse has no matmul. Instead: xo.matmul"),
    "exp": (xo.sparse, "xo.sparse has no exp. Instead: xo.exp of the dense array xo.sparse.to_dense(s)"),
    "argmax": (xo.sparse, "xo.sparse has no argmax. Instead: xo.sparse.topk, or xo.argmax of the dense array"),
    "svd": (xo, "xo has no svd. Instead: xo.linalg.svd"),
    "randn": (
        xo.random,
        "xo.random has no randn: rng = xo.random.default_rng(0, like=x), then rng.normal(loc, scale, ",
    ),
    "seed": (xo.random, "xo.random has no seed: there is no global random state; rng = xo.random.default_rng(0, like="),
    "poisson": (xo.random, "xo.random has no poisson: xo.random has uniform, normal, exponential and beta numbers an"),
    "fillna": (xo, "xo has no fillna. Instead: xo.where(xo.isnan(x), value, x)"),
    "stft": (xo, "xo has no stft: it is xo.fft.rfft(xo.sliding"),
    "default_rng": (xo, "xo has no default_rng. Instead: xo.random.default_rng"),
    "concta": (xo, "xo has no concta; did you mean xo.concat?"),
    "arcsn": (xo, "xo has no arcsn and no arcsin. Instead: xo.asin"),
    "svdd": (xo.linalg, "xo.linalg has no svdd; did you mean xo.linalg.svd?"),
    "zzzqq": (xo, "xo has no zzzqq; dir(xo) lists its names"),
    "__missing__": (xo, "module 'xarrayops' has no attribute '__missing__'"),
    "a.b": (xo, "module 'xarrayops' has no attribute 'a.b'"),
    "bench.b": (xo.linalg, "module 'xarrayops.linalg' has no attribute 'bench.b'"),
    "msort": (xo, "xo has no msort: it is xo.sort(x, axis=0)"),
    "NINF": (xo, "xo has no NINF: negative infinity is -xo.inf"),
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
        ("vstack", "xarrayops.namespaces.numpy has no 'vstack'. Instead: xarrayops.numpy.vstack"),
        ("cumsum", "xarrayops.namespaces.numpy has no 'cumsum'. Instead: xo.cumulative_sum ("),
        (
            "zzzqq",
            "xarrayops.namespaces.numpy has no 'zzzqq': it has only the functions of the array API standard and ",
        ),
    ],
)
def test_a_namespace_answers_too(name, text):
    namespace = xo.array_namespace(np.ones(2))
    assert not hasattr(namespace, name)
    with pytest.raises(AttributeError) as caught:
        getattr(namespace, name)
    assert str(caught.value).startswith(text)
