"""explain: what would run, and why; nothing runs."""

import inspect
from operator import attrgetter

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops import registry
from xarrayops._explain import CREATION
from xarrayops._explanation import Candidate, Explanation
from xarrayops._surface import SURFACE

N = np.eye(2)
S = xps.ones((2, 2))


def test_the_librarys_own_function():
    found = xo.explain("exp", N)
    assert found == ("exp", "numpy serves its own arrays", found.candidates, "numpy:exp", None, None, None)
    assert found.candidates == (Candidate("numpy:exp", True, "the library's own function"),)


def test_a_function_that_the_backend_completes():
    assert xo.explain("sum", N, axis=0).candidates[0].reason.endswith("completed by the backend")
    assert not xo.explain("sum", S).candidates[0].reason.endswith("completed by the backend")


def test_the_table():
    found = Explanation(
        "matmul",
        "made up",
        (Candidate("a:slow", False, "no float64"), Candidate("a:b", True, copies=("copies 8 bytes",))),
        "a:b",
    )
    assert str(found).splitlines() == [
        "matmul: made up",
        "    candidate  can  why",
        "    a:slow     no   no float64",
        "->  a:b        yes  copies 8 bytes",
    ]


def test_data():
    data = xo.explain("convert", N, xps, copy=True).as_dict()
    assert data == {
        "verb": "convert",
        "summary": "copy: copy=True",
        "candidates": (
            {
                "name": "numpy->array_api_strict",
                "ok": True,
                "reason": "copy=True",
                "copies": ("copies 32 bytes",),
            },
        ),
        "chosen": "numpy->array_api_strict",
        "action": "copy",
        "nbytes": 32,
        "reason": "copy=True",
    }


def test_frozen():
    found = xo.explain("exp", N)
    for change in (found, found.candidates[0]):
        with pytest.raises(AttributeError):
            change.reason = "other"


def test_nothing_runs():
    torch = pytest.importorskip("torch")
    pytest.importorskip("xarrayops_backends.torch")
    huge = torch.empty(10**6, 10**6, device="meta")
    assert xo.explain("matmul", huge, huge).chosen == "torch:matmul"


@pytest.mark.parametrize(
    ("verb", "meant"),
    [("matmull", "matmul"), ("linalg.dett", "linalg.det"), ("konvert", "convert"), ("ensum", "einsum")],
)
def test_unknown_verbs(verb, meant):
    with pytest.raises(xo.Unsupported, match=f"knows no verb '{verb}'; did you mean '{meant}'"):
        xo.explain(verb, N)
    with pytest.raises(xo.Unsupported, match=r"knows no verb 'zzzzzz'\.$"):
        xo.explain("zzzzzz", N)


def test_extensions_and_aliases():
    assert xo.explain("linalg.det", N).chosen == "numpy:linalg.det"
    assert xo.explain("linalg.matmul", N, N).chosen == "numpy:matmul"
    assert xo.explain("einsum", "ij->", N).chosen == "numpy:einsum"
    assert xo.explain("where", N > 0, N, 0.0).chosen == "numpy:where"


def test_creation_functions():
    assert xo.explain("zeros", (2, 3)).chosen == "numpy:zeros"
    assert xo.explain("zeros", (2, 3), like=S).chosen == "array_api_strict:zeros"
    assert xo.explain("asarray", S).chosen == "array_api_strict:asarray"
    assert xo.explain("asarray", [1, 2], dtype="int8").chosen == "numpy:asarray"
    assert xo.explain("asarray", S, backend="numpy").chosen == "numpy:asarray"
    with xo.use("nunpy"), pytest.raises(xo.BackendNotFound, match="nunpy"):
        xo.explain("arange", 3)


def test_the_list_of_creation_functions():
    """They are those whose public function takes ``like=``."""
    functions = {verb: attrgetter(verb)(xo) for verb in SURFACE}
    assert {v for v, f in functions.items() if "like" in inspect.signature(f).parameters} == CREATION


def test_errors_of_the_call_itself():
    with pytest.raises(xo.MixedBackends, match=r"xo\.matmul .* x2"):
        xo.explain("matmul", N, S)
    with pytest.raises(xo.MixedBackends, match=r"xo\.concat .* arrays\[1\]"):
        xo.explain("concat", [N, S])
    with pytest.raises(xo.BackendNotFound, match="list"):
        xo.explain("sum", [1])
    with pytest.raises(TypeError, match="x2"):
        xo.explain("matmul", N)


class TestKernels:
    """A backend that lists candidates, or a gap, for a verb; array_api_strict stands in as the library."""

    @pytest.fixture
    def served_by(self, backend, monkeypatch):
        def install(**members):
            made_up = backend(**members)
            monkeypatch.setattr(registry, "_by_class", registry._by_class | {type(S): made_up})
            return made_up

        return install

    def test_candidates(self, served_by):
        def refuse_two_dimensions(call):
            return "x has two dimensions" if call.args[0].ndim == 2 else None

        never = pytest.fail
        kernels = [("small", never, refuse_two_dimensions), ("large", never, lambda call: None)]
        served_by(SQUARE_CANDIDATES=kernels)
        found = xo.explain("square", S)
        assert found.candidates == (
            Candidate("made_up:small", False, "x has two dimensions"),
            Candidate("made_up:large", True),
        )
        assert found.chosen == "made_up:large"
        assert xo.explain("square", xps.ones(2)).chosen == "made_up:small"

    def test_none_can(self, served_by):
        served_by(SQUARE_CANDIDATES=[("gpu", pytest.fail, lambda call: "no GPU here")])
        found = xo.explain("square", S)
        assert (found.chosen, found.summary) == (None, "made_up cannot serve this call")
        assert "no GPU here" in str(found)

    def test_a_gap(self, served_by, unsupported):
        served_by(square=unsupported("it has no square", instead="xo.multiply(x, x)"))
        found = xo.explain("square", S)
        assert found.chosen is None
        assert found.candidates == (Candidate("made_up:square", False, "it has no square. Instead: xo.multiply(x, x)"),)
