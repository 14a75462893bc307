"""explain returns what a call would run, and why, without running it."""

import inspect
import re
from operator import attrgetter

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import registry
from xarrayops._ops.explain import row_of
from xarrayops._ops.explanation import Candidate, Explanation
from xarrayops._surface import CREATION, EXTRA, OWN, SURFACE, TABLES

N = np.eye(2)
S = xps.ones((2, 2))


def test_the_own_function_of_a_library():
    found = xo.explain("exp", N)
    assert found == ("exp", "numpy serves its own arrays", found.candidates, "numpy:exp", None, None, None, ())
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
                "moves": None,
                "holds": None,
                "sharding": None,
            },
        ),
        "chosen": "numpy->array_api_strict",
        "action": "copy",
        "nbytes": 32,
        "reason": "copy=True",
        "warnings": (),
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
    assert xo.explain("zeros", (2, 3), backend="scipy", dtype="float32", device="cpu").chosen == "numpy:zeros"
    with pytest.raises(xo.BackendNotFound, match="nunpy"):
        xo.explain("arange", 3, backend="nunpy")


@pytest.mark.parametrize("verb", ["asarray", "from_dlpack"])
def test_creation_functions_that_convert(verb):
    for where in ({"backend": "numpy"}, {"like": N}):
        found = xo.explain(verb, S, **where)
        assert (found.verb, found.chosen, found.action) == (verb, "array_api_strict->numpy", "zero-copy")
        copied = xo.explain(verb, S, copy=True, **where)
        assert (copied.action, copied.nbytes) == ("copy", 32)
    assert xo.explain(verb, N, like=S).chosen == "numpy->array_api_strict"
    with xo.use("numpy"):
        assert xo.explain("from_dlpack", S).chosen == "array_api_strict->numpy"
        assert xo.explain("asarray", S).chosen == "array_api_strict:asarray"


def test_objects_that_asarray_cannot_convert():
    with pytest.raises(xo.BackendNotFound, match="cannot convert a value of class object"):
        xo.explain("asarray", object())
    with pytest.raises(xo.Unsupported, match="filled"):
        xo.explain("asarray", np.ma.array([1.0]), backend="numpy")


@pytest.mark.parametrize(
    ("verb", "args", "options"),
    [
        ("zeros", (3,), {"dtype": "float31"}),
        ("zeros", (3,), {"device": "mars"}),
        ("asarray", (N,), {"dtype": "float31"}),
        ("sum", (N,), {"dtype": "float31"}),
        ("astype", (N, "float31"), {}),
        ("zeros_like", (N,), {"device": "mars"}),
        ("finfo", ("float31",), {}),
        ("zeros", (3,), {"like": N, "backend": "numpy"}),
        ("can_cast", (N, xps.float32), {}),
        ("isdtype", (3, "bool"), {}),
        ("broadcast_shapes", ((2,), (3,)), {}),
    ],
)
def test_explain_raises_the_error_of_the_call(verb, args, options):
    with pytest.raises(Exception, match=r".") as expected:
        getattr(xo, verb)(*args, **options)
    with pytest.raises(type(expected.value), match=re.escape(str(expected.value))):
        xo.explain(verb, *args, **options)


@pytest.mark.parametrize("verb", ["relayout", "with_memory_format", "as_strided"])
def test_a_missing_argument_names_the_verb(verb):
    with pytest.raises(TypeError, match=rf"^xo\.{verb}: missing a required argument"):
        xo.explain(verb, N)


def test_functions_of_dtypes():
    assert xo.explain("finfo", xps.float32).chosen == "array_api_strict:finfo"
    assert xo.explain("finfo", N).chosen == "numpy:finfo"
    assert xo.explain("isdtype", "float32", ("bool", "integral")).chosen == "numpy:isdtype"
    assert xo.explain("result_type", S, xps.float32, 1.0).chosen == "array_api_strict:result_type"
    assert xo.explain("can_cast", np.float32, "float64").chosen == "numpy:can_cast"


def test_functions_of_shapes_need_no_library():
    found = xo.explain("broadcast_shapes", (2, 1), (3,))
    assert (found.chosen, found.summary) == ("xarrayops:broadcast_shapes", "no library is needed")


def test_at():
    assert xo.explain("at", N, 0, "add", 1.0).chosen == "numpy:at"
    assert xo.explain("at", S, (0, ...), "set", 1.0, copy=True).candidates[0].reason.startswith("xarrayops' generic")
    with pytest.raises(xo.MixedBackends, match=r"xo\.at .* value: array_api_strict"):
        xo.explain("at", N, 0, "add", S)
    with pytest.raises(xo.Unsupported, match="float does not fit"):
        xo.explain("at", np.zeros(3, dtype="int8"), 0, "add", 1.5)
    with pytest.raises(TypeError, match="index"):
        xo.explain("at", N)


def test_the_origin_of_a_function():
    """The library's own, completed by the backend or by array-api-compat, or xarrayops' generic function."""
    assert xo.explain("einsum", "ij->", S).candidates[0].reason == (
        "xarrayops' generic function, written on the standard alone"
    )
    assert xo.explain("einsum", "ij->", N).candidates[0].reason.endswith("completed by the backend")
    torch = pytest.importorskip("torch")
    x = torch.ones(2)
    assert xo.explain("exp", x).candidates[0].reason == "the library's own function"
    assert xo.explain("permute_dims", x, (0,)).candidates[0].reason.endswith("completed by array-api-compat")


def test_the_list_of_creation_functions():
    """They are the functions with a parameter ``like=``."""
    functions = {verb: attrgetter(verb)(xo) for verb in (*SURFACE, *EXTRA, *OWN)}
    assert {v for v, f in functions.items() if "like" in inspect.signature(f).parameters} == CREATION


def test_errors_for_invalid_arguments():
    with pytest.raises(xo.MixedBackends, match=r"xo\.matmul .* x2"):
        xo.explain("matmul", N, S)
    with pytest.raises(xo.MixedBackends, match=r"xo\.concat .* arrays\[1\]"):
        xo.explain("concat", [N, S])
    with pytest.raises(xo.BackendNotFound, match="list"):
        xo.explain("sum", [1])
    with pytest.raises(TypeError, match="x2"):
        xo.explain("matmul", N)


class TestKernels:
    """A made-up backend of array_api_strict with candidates, or an unsupported function, for a verb."""

    @pytest.fixture
    def served_by(self, backend, monkeypatch):
        def install(**members):
            made_up = backend(**members)
            monkeypatch.setitem(registry.by_class, type(S), made_up)
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

    def test_the_chosen_candidate_of_a_hook_runs(self, served_by):
        """explain and the call choose the same candidate."""
        kernels = [
            (
                "pairs",
                lambda subscripts, /, *operands: "pairs",
                lambda call: None if len(call.args) == 3 else "not two",
            ),
            ("any", lambda subscripts, /, *operands: "any", lambda call: None),
        ]
        made_up = served_by(EINSUM_CANDIDATES=kernels)
        assert xo.explain("einsum", "i,i->", S, S).chosen == "made_up:pairs"
        assert made_up.functions["einsum"]("i,i->", S, S) == "pairs"
        assert xo.explain("einsum", "i->", S).candidates[0] == Candidate("made_up:pairs", False, "not two")
        assert made_up.functions["einsum"]("i->", S) == "any"

    def test_the_refusal_function_receives_the_call_as_the_kernel_would(self, served_by):
        """Defaults are filled in and dtypes are native, as the public function passes them."""
        seen = []
        made_up = served_by(SUM_CANDIDATES=[("mine", lambda x, /, **o: seen.append(o), lambda c: seen.append(c))])
        xo.explain("sum", S, dtype="float32")
        assert seen[0].args == (S,)
        assert seen[0].kwargs == {"axis": None, "dtype": xps.float32, "keepdims": False}
        assert "completed by the backend" in made_up.origins["sum"]

    def test_every_candidate_refuses(self, served_by):
        served_by(SQUARE_CANDIDATES=[("gpu", pytest.fail, lambda call: "no GPU here")])
        found = xo.explain("square", S)
        assert (found.chosen, found.summary) == (None, "made_up cannot serve this call")
        assert "no GPU here" in str(found)

    def test_an_unsupported_function(self, served_by, unsupported):
        served_by(square=unsupported("it has no square", instead="xo.multiply(x, x)"))
        found = xo.explain("square", S)
        assert found.chosen is None
        assert found.candidates == (Candidate("made_up:square", False, "it has no square. Instead: xo.multiply(x, x)"),)


def test_the_verb_may_be_a_function():
    x = np.eye(2)
    assert xo.explain(xo.matmul, x, x) == xo.explain("matmul", x, x)
    assert xo.explain(xo.linalg.det, x).verb == "linalg.det"
    with pytest.raises(xo.Unsupported, match=r"linalg\.eigh"):
        xo.explain("eigh", x)
    s = xo.sparse.from_dense(x)
    assert xo.explain(xo.sparse.to_dense, s) == xo.explain("sparse.to_dense", s)
    assert xo.explain(xo.relayout, x, "a b -> b a").verb == "relayout"


@pytest.mark.parametrize("verb", [verb for verb in TABLES if row_of(verb).explain is None])
def test_verbs_without_a_choice(verb):
    with pytest.raises(xo.Unsupported, match=f"nothing to explain for '{verb}'"):
        xo.explain(verb, N)


def test_the_copies_of_an_update():
    read_only = np.ones(3)
    read_only.flags.writeable = False
    for x, copy, action, nbytes, reason in (
        (np.ones(3), None, "zero-copy", 0, "x is updated in place"),
        (np.ones(()), False, "zero-copy", 0, "x is updated in place"),
        (np.ones(3), True, "copy", 24, "copy=True"),
        (read_only, None, "copy", 24, "x is read-only"),
        (read_only, False, "refuse", None, "x is read-only. Instead: copy=None or copy=True, and use the result"),
    ):
        found = xo.explain("at", x, (), "set", 2.0, copy=copy)
        assert (found.action, found.nbytes, found.reason) == (action, nbytes, reason)
        assert found.candidates[0].ok is (found.chosen is not None) is (action != "refuse")
        assert (x == 1).all()
    with pytest.raises(TypeError, match="copy must be True, False or None"):
        xo.explain("at", read_only, 0, "set", 2.0, copy="no")


def test_the_copies_of_an_update_in_other_libraries(library):
    x = library.array(np.ones(3))
    writes = library.name in ("numpy", "torch")
    assert (xo.explain("at", x, [0], "add", 1.0, copy=False).chosen is not None) is writes
    assert xo.explain("at", x, [0], "add", 1.0, copy=None).action == ("zero-copy" if writes else "copy")
    assert xo.explain("to_device", x, xo.device(x)).action == "zero-copy"


def test_the_copies_of_tensors_with_gradients():
    torch = pytest.importorskip("torch")
    x, y = torch.ones(3), torch.ones(3, requires_grad=True)
    assert "requires grad" in xo.explain("at", y, 0, "set", 1.0, copy=None).reason
    assert xo.explain("at", y, 0, "set", 1.0, copy=False).chosen is None
    assert xo.explain("at", x, 0, "set", y[0], copy=None).action == "copy"
    assert xo.explain("at", x, 0, "set", y[0], copy=False).action == "zero-copy"
    assert xo.explain("to_device", x, "meta").nbytes == 12


def test_the_defaults_of_unique():
    for call in (("unique",), (xo.unique,)):
        assert xo.explain(*call, N).chosen == "numpy:unique"
        assert xo.explain(*call, N, return_inverse=True).chosen == "numpy:unique"


@pytest.mark.parametrize("verb", ["concat", "stack"])
def test_an_array_of_arrays(verb):
    assert xo.explain(verb, np.ones((2, 2, 2))).chosen == f"numpy:{verb}"


def test_wrong_calls_have_the_error_of_the_call():
    for verb, args, options in (
        ("sum", (N, 0), {}),
        ("std", (N,), {"ddof": 1}),
        ("unique", (N, True), {}),
        ("zeros", (3,), {"order": "F"}),
        ("fft.fft", (N, 3), {}),
        ("asarray", (N,), {"order": "F"}),
    ):
        with pytest.raises(TypeError) as wanted:
            attrgetter(verb)(xo)(*args, **options)
        with pytest.raises(TypeError) as found:
            xo.explain(verb, *args, **options)
        assert str(found.value) == str(wanted.value)
    with pytest.raises(TypeError, match=r"^xo\.sum: got an unexpected keyword argument 'unknown'"):
        xo.explain("sum", N, unknown=1)
