"""The namespace of a backend is complete, follows the standard, and works with array-api-compat and -extra."""

from operator import attrgetter

import array_api_compat
import array_api_extra as xpx
import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import namespace as namespace_module, registry
from xarrayops._surface import FAMILIES, ROLES, SURFACE
from xarrayops.plugin import WRAPPED_HOOKS, Call, gap_of, takes_arrays
from xarrayops.plugin.generic import HOOKS

LIBRARIES = ("numpy", "torch", "jax", "dask", "cupy")


@pytest.fixture(params=LIBRARIES)
def namespace(request):
    status = next(s for s in xo.backends() if s.name == request.param)
    if status.backend is None:
        pytest.skip(status.reason)
    return status.backend.namespace


def test_the_namespace_is_complete(namespace):
    for verb in SURFACE:
        assert callable(attrgetter(verb)(namespace)), verb
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
        assert getattr(namespace.linalg, name) is getattr(namespace, name)
    assert namespace.__array_api_version__ == "2025.12"
    assert namespace.pi == np.pi
    assert namespace.newaxis is None
    info = namespace.__array_namespace_info__()
    assert set(info.capabilities()) >= {"boolean indexing", "data-dependent shapes", "max dimensions"}


@pytest.mark.parametrize("name", ["no_such_function", "vstack", "concatenate", "ndarray", "sort_complex", "_asarray"])
def test_names_of_the_library_are_not_in_the_namespace(namespace, name):
    assert not hasattr(namespace, name)
    with pytest.raises(AttributeError, match=rf"xarrayops\.namespaces\.{xo.backend(namespace).name} has no '{name}'"):
        getattr(namespace, name)


def test_functions_of_xarrayops_are_in_the_namespace(namespace):
    for name in ("attention", "einsum", "at", "relayout", "convert", "shares_memory", "compute"):
        assert getattr(namespace, name) is getattr(xo, name)
        assert name in dir(namespace)
    assert {*dir(namespace)} <= {*dir(xo), "xo", "__array_namespace_info__", *vars(namespace)}


@pytest.mark.parametrize("name", ["backends", "device", "export", "jit"])
def test_names_of_other_objects_of_pytorch_are_in_xo_only(namespace, name):
    assert namespace.xo is xo
    assert name not in dir(namespace)
    with pytest.raises(AttributeError, match=rf"has no '{name}'\. Instead: xp\.xo\.{name}"):
        getattr(namespace, name)


NO_ARRAYS = (-1.0, [1, 2], None, "a", (), np)


@pytest.mark.parametrize("value", NO_ARRAYS, ids=str)
def test_what_is_no_array_is_a_type_error(value):
    for call in (xo.array_namespace, xo.sum, xo.device):
        with pytest.raises(TypeError) as raised:
            call(value)
        assert isinstance(raised.value, xo.NotAnArray)


MISREAD = {
    "masked": lambda: np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[0, 1], [0, 0]]),
    "matrix": lambda: np.matrix([[1.0, 2.0], [3.0, 4.0]]),
    "sparse": lambda: pytest.importorskip("scipy.sparse").csr_array(np.eye(2)),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("kind", MISREAD)
def test_numpy_functions_refuse_arrays_that_they_would_misread(kind):
    """All functions but the elementwise ones, which masked arrays and matrices serve themselves."""
    x, numpy = MISREAD[kind](), xo.backend("numpy").namespace
    served = []
    for verb, roles in ROLES.items():
        if verb not in SURFACE or FAMILIES[verb] == "standard.elementwise":
            continue
        first, *others = roles.values()
        arguments = [[x] if first == "arrays" else x, *(x for role in others if role in ("array", "operand"))]
        arguments += [np.float32] if verb == "astype" else []
        try:
            attrgetter(verb)(numpy)(*arguments)
        except xo.Unsupported:
            continue
        served.append(verb)
    assert not served


def test_the_name_is_neutral(namespace):
    name = xo.backend(namespace).name
    assert namespace.__name__ == f"xarrayops.namespaces.{name}"
    assert namespace.linalg.__name__ == f"xarrayops.namespaces.{name}.linalg"
    assert not array_api_compat.is_numpy_namespace(namespace)
    assert not array_api_compat.is_torch_namespace(namespace)
    assert xo.array_namespace(xps.ones(1)).__name__ == "xarrayops.namespaces.array_api_strict"


class TestArrayApiExtra:
    """Functions of array-api-extra run on our namespaces; the oracle is NumPy."""

    @pytest.fixture(params=["numpy", "torch", "jax", "dask", "array_api_strict"])
    def xp(self, request):
        if request.param == "array_api_strict":
            return xo.backend(xps).namespace
        status = next(s for s in xo.backends() if s.name == request.param)
        return status.backend.namespace if status.available else pytest.skip(status.reason)

    def numpy(self, x):
        return np.asarray(xo.convert(xo.compute(x), "numpy"))

    def test_atleast_nd(self, xp):
        assert xpx.atleast_nd(xp.asarray(2.0), ndim=3, xp=xp).shape == (1, 1, 1)

    def test_cov(self, xp):
        x = [[0.0, 1.0, 2.5], [2.0, 1.0, 0.5]]
        result = self.numpy(xpx.cov(xp.asarray(x), xp=xp))
        np.testing.assert_allclose(result, np.cov(x), rtol=1e-5)

    def test_nunique(self, xp):
        count = xpx.nunique(xp.asarray([3, 1, 3, 2]), xp=xp)
        assert int(self.numpy(count)) == 3

    def test_kron_and_sinc(self, xp):
        a, b = [[1.0, 2.0]], [[3.0], [4.0]]
        product = xpx.kron(xp.asarray(a), xp.asarray(b), xp=xp)
        np.testing.assert_allclose(self.numpy(product), np.kron(a, b))
        waves = xpx.sinc(xp.asarray([0.0, 0.5, 1.0]), xp=xp)
        np.testing.assert_allclose(self.numpy(waves), np.sinc([0.0, 0.5, 1.0]), atol=1e-6)

    def test_isin(self, xp):
        found = xpx.isin(xp.asarray([1, 2, 3]), xp.asarray([2, 5]), xp=xp)
        assert self.numpy(found).tolist() == [False, True, False]

    def test_at(self, xp):
        x = xp.zeros((3,))
        np.testing.assert_array_equal(self.numpy(xpx.at(x, 1).set(2.0, xp=xp)), [0, 2, 0])


def test_a_backend_can_define_the_inspection_api(backend_module):
    class __array_namespace_info__:  # noqa: N801 - the standard's name
        def devices(self):
            return ("made up",)

    own = registry.Backend("made_up", backend_module(__array_namespace_info__=__array_namespace_info__)).namespace
    assert own.__array_namespace_info__().devices() == ("made up",)
    assert xo.backend("numpy").namespace.__array_namespace_info__().devices() == ("cpu",)
    theirs = registry.Backend("made_up", backend_module()).namespace
    assert theirs.__array_namespace_info__().devices() == xps.__array_namespace_info__().devices()


class TestCandidates:
    """Of the candidates that a backend lists, the first without a refusal serves the call."""

    def kernels(self):
        return [
            ("small", lambda x, /: "small", lambda call: None if call.args[0].ndim < 2 else "ndim is 2 or more"),
            ("float", lambda x, /: "float", lambda call: None if call.args[0].dtype == xps.float64 else "no float64"),
        ]

    @pytest.fixture
    def backend(self, backend):
        return backend(SQUARE_CANDIDATES=self.kernels(), square=lambda x, /: "never")

    def test_the_first_that_accepts_the_call_serves(self, backend):
        assert backend.functions["square"](xps.ones(2)) == "small"
        assert backend.namespace.square(xps.ones((2, 2))) == "float"

    def test_no_candidate_accepts_the_call(self, backend):
        with pytest.raises(xo.Unsupported, match="small: ndim is 2 or more; float: no float64"):
            backend.functions["square"](xps.ones((2, 2), dtype=xps.float32))

    def test_the_refusal_function_receives_the_whole_call(self, backend_module):
        seen = []
        module = backend_module(
            SUM_CANDIDATES=[("all", lambda x, /, **options: options, lambda call: seen.append(call))]
        )
        served = registry.Backend("made_up", module).functions["sum"](1, axis=2)
        assert served == {"axis": 2}
        assert seen == [Call((1,), {"axis": 2})]


class TestWrap:
    """The hook `wrap` receives every function once; the namespace and dispatch use the function that it returns."""

    @pytest.fixture
    def wrapped(self, backend, unsupported):
        seen = []

        def wrap(verb, function, /):
            seen.append((verb, function))
            return (lambda x, /: ("wrapped", function(x))) if verb in ("square", "exp", "fft.fft") else function

        gap = unsupported("it has no FFT", instead="xo.convert(x, 'numpy')")
        kernels = [("only", lambda x, /: "only", lambda call: None)]
        return backend(wrap=wrap, EXP_CANDIDATES=kernels, square=lambda x, /: "own", fft_fft=gap), seen

    def test_the_returned_function_is_used(self, wrapped):
        made_up, _ = wrapped
        assert made_up.functions["square"](0) == made_up.namespace.square(0) == ("wrapped", "own")
        assert made_up.functions["exp"](0) == ("wrapped", "only")
        assert made_up.functions["log"] is xps.log

    def test_it_receives_each_function_once(self, wrapped):
        _, seen = wrapped
        verbs = [verb for verb, _ in seen]
        assert sorted(verbs) == sorted({*SURFACE, *WRAPPED_HOOKS} - {"fft.fft"})
        assert dict(seen)["log"] is xps.log

    def test_unsupported_functions_are_not_wrapped(self, wrapped):
        made_up, _ = wrapped
        assert gap_of(made_up.functions["fft.fft"]).why == "it has no FFT"

    def test_the_origin_shows_the_wrapper(self, wrapped):
        made_up, _ = wrapped
        assert made_up.origins["square"] == "the library's own function, completed by the backend"
        assert made_up.origins["log"] == "the library's own function"
        assert made_up.origins["contiguous"] == "xarrayops' generic function, written on the standard alone"

    def test_candidates_are_looked_up_once_for_each_verb(self, backend_module, monkeypatch):
        looked_up = []
        found = namespace_module.candidates
        monkeypatch.setattr(
            namespace_module, "candidates", lambda module, verb, *source: looked_up.append(verb) or found(module, verb)
        )
        registry.Backend("made_up", backend_module())
        assert len(looked_up) == len(set(looked_up)) == len(SURFACE) + len(HOOKS)


def test_takes_arrays():
    taking = {verb for verb in SURFACE if takes_arrays(verb)}
    assert {"add", "astype", "concat", "linalg.det", "zeros_like"} <= taking
    assert taking.isdisjoint({"zeros", "arange", "asarray", "finfo", "broadcast_shapes", "fft.fftfreq"})
    assert takes_arrays("einsum")
    assert takes_arrays("update")


def test_an_unsupported_function_raises_with_its_name_and_an_alternative(backend, unsupported):
    gap = unsupported("it has no FFT", instead="xo.convert(x, 'numpy')")
    made_up = backend(fft_fft=gap, einsum=gap)
    for verb in ("fft.fft", "einsum"):
        with pytest.raises(xo.Unsupported, match=rf"xo\.{verb} .*made_up arrays: it has no FFT\. Instead: xo\.convert"):
            made_up.functions[verb](xps.ones(2))
        assert gap_of(made_up.functions[verb]) == ("it has no FFT", "xo.convert(x, 'numpy')")
    assert gap_of(made_up.functions["sum"]) is None


@pytest.mark.parametrize("library", ["torch", "numpy", "jax"])
def test_kinds_of_dtypes(library):
    """Only PyTorch also accepts a list."""
    pytest.importorskip(library)
    pytest.importorskip(f"xarrayops_backends.{library}")
    dtypes = xo.backend(library).namespace.__array_namespace_info__().dtypes
    found = dtypes(kind=("bool", "real floating"))
    assert {"bool", "float32"} <= found.keys()
    assert "int32" not in found
    if library == "torch":
        assert dtypes(kind=["bool", "real floating"]) == found


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
def test_every_listed_name_is_an_attribute(library):
    pytest.importorskip(library)
    for module in (namespace := xo.backend(library).namespace, namespace.linalg, namespace.fft):
        assert all(hasattr(module, name) for name in dir(module) if not name.startswith("__"))
    assert namespace.bartlett(5).shape == (5,)
