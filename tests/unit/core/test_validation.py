"""A backend module that breaks the contract raises when it is loaded; the message has file, name and signature."""

import importlib
import inspect
import pkgutil
import re
from operator import attrgetter
from types import ModuleType

import array_api_strict as xps
import pytest

import xarrayops as xo
from xarrayops import plugin
from xarrayops._core.backends import find, registry, validation
from xarrayops._core.backends.validation import validate, validate_extra, validate_hook
from xarrayops._surface import BACKENDS, SURFACE
from xarrayops.plugin import generic


def refusal(module):
    with pytest.raises(xo.InvalidBackend) as error:
        validate(module)
    return str(error.value)


def namespace_without(*names):
    lacking = ModuleType("lacking")
    public = {name for name in vars(xps) if not name.startswith("__")}
    kept = (public | {"fft", "linalg", "__array_namespace_info__"}) - set(names)
    vars(lacking).update({name: getattr(xps, name) for name in kept})
    return lacking


def test_a_valid_module(backend_module):
    validate(backend_module())


@pytest.mark.parametrize("name", sorted(set(BACKENDS.values())))
def test_our_own_modules_are_valid_since_the_registry_does_not_check_them(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(str(error))
    validate(module)
    extra = getattr(module, "EXTRA", None)
    if extra is not None:
        package = importlib.import_module(extra)
        for family in pkgutil.iter_modules(getattr(package, "__path__", ())):
            validate_extra(importlib.import_module(f"{extra}.{family.name}"))
        validate_extra(package)
    for hook, named in getattr(module, "HOOK_MODULES", {}).items():
        validate_hook(importlib.import_module(named), hook)


class TestHookModules:
    """Modules that a backend imports when a hook is first needed."""

    def served(self, backend_module, backend, **members):
        backend_module("late_hooks", **members)
        return backend(HOOK_MODULES={"memory": "late_hooks"})

    def test_a_function(self, backend_module, backend):
        found = self.served(backend_module, backend, memory=lambda x, /: "mine")
        assert "memory" not in found.functions
        assert found.functions["memory"](0) == "mine"
        assert found.own_hook("memory") is found.functions["memory"]

    def test_own_hook_before_the_function_is_needed(self, backend_module, backend):
        assert self.served(backend_module, backend, memory=lambda x, /: "mine").own_hook("memory")(0) == "mine"

    def test_kernels(self, backend_module, backend):
        kernels = [("mine", lambda x, /: "mine", lambda call: None)]
        found = self.served(backend_module, backend, MEMORY_CANDIDATES=kernels)
        assert [name for name, *_ in found.kernels("memory")] == ["mine", "generic"]
        assert found.functions["memory"](0) == "mine"

    def test_a_module_without_the_hook(self, backend_module, backend):
        with pytest.raises(xo.InvalidBackend, match=r"late_hooks\.py must define memory\(x: .* or MEMORY_CANDIDATES"):
            self.served(backend_module, backend).functions["memory"]

    def test_a_wrong_signature(self, backend_module, backend):
        with pytest.raises(xo.InvalidBackend, match=r"late_hooks\.py: memory must accept memory\(x: .*, /\)"):
            self.served(backend_module, backend, memory=lambda: "mine").functions["memory"]

    def test_a_misspelt_hook(self, backend_module):
        message = refusal(backend_module(HOOK_MODULES={"memori": "late_hooks"}))
        assert "HOOK_MODULES has 'memori', which is not a hook (did you mean memory?)" in message


@pytest.mark.parametrize("name", ["NAMESPACE", "ARRAY_TYPES"])
def test_required_data(backend_module, name):
    module = backend_module()
    delattr(module, name)
    assert refusal(module) == f"made_up_backend.py must define {name}; see xarrayops.plugin."


def test_a_missing_function(backend_module):
    message = refusal(backend_module(NAMESPACE=namespace_without("cumulative_prod")))
    assert "made_up_backend.py has no cumulative_prod and lacking has none" in message
    assert f"def cumulative_prod{SURFACE['cumulative_prod']}" in message
    assert 'cumulative_prod = unsupported("why", instead="...")' in message


def test_a_missing_extension(backend_module):
    assert "def fft_fft(x, /, *, n=None, axis=-1, norm='backward')" in refusal(
        backend_module(NAMESPACE=namespace_without("fft"))
    )


def test_the_backend_may_define_the_missing_function(backend_module):
    def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False): ...

    namespace = namespace_without("cumulative_prod")
    validate(backend_module(NAMESPACE=namespace, cumulative_prod=cumulative_prod))
    validate(backend_module(NAMESPACE=namespace, cumulative_prod=plugin.unsupported("no", instead="yes")))
    kernels = [("mine", cumulative_prod, lambda call: None)]
    validate(backend_module(NAMESPACE=namespace, CUMULATIVE_PROD_CANDIDATES=kernels))


@pytest.mark.parametrize(
    ("typo", "meant"),
    [("cumulative_pord", "cumulative_prod"), ("synchronise", "synchronize"), ("linalg_choleski", "linalg_cholesky")],
)
def test_a_misspelt_function(backend_module, typo, meant):
    def function(x, /): ...

    function.__module__ = "made_up_backend"
    message = refusal(backend_module(**{typo: function}))
    assert f"made_up_backend.py defines {typo}, which is neither" in message
    assert f"did you mean {meant}(" in message
    assert "underscore" in message


def test_private_and_imported_functions_are_ignored(backend_module):
    from math import hypot, sqrt

    def _helper(whatever): ...

    validate(backend_module(_helper=_helper, wraps=pytest.raises, root=sqrt, hypot=hypot))


@pytest.mark.parametrize(
    ("name", "expected", "function"),
    [
        ("sum", SURFACE["sum"], lambda x, /, *, axis=None, keepdims=False: x),
        ("sum", SURFACE["sum"], lambda x, /, *, axis, dtype=None, keepdims=False: x),
        ("add", SURFACE["add"], lambda x1, /: x1),
        ("add", SURFACE["add"], lambda x1, x2, x3, /: x1),
        ("add", SURFACE["add"], lambda x1, *, x2: x1),
        ("clip", SURFACE["clip"], lambda x, /, low=None, high=None: x),
        ("clip", SURFACE["clip"], lambda x, /, *bounds: x),
        ("reshape", SURFACE["reshape"], lambda x, shape, /, *, copy=None: x),
        ("broadcast_arrays", SURFACE["broadcast_arrays"], lambda arrays: arrays),
        ("linalg_svd", SURFACE["linalg.svd"], lambda x, /: x),
        ("device", "(x: 'Array', /) -> 'Any'", lambda: None),
        ("update", "copy: 'bool | None'", lambda x, index, op, value, /: x),
        ("update", "copy: 'bool | None'", lambda x, index, op, value, copy, /: x),
    ],
)
def test_a_wrong_signature(backend_module, name, expected, function):
    message = refusal(backend_module(**{name: function}))
    assert message.startswith(f"made_up_backend.py: {name} must accept {name}(")
    assert expected in message
    assert message.endswith(f"but it is {name}{inspect.signature(function)}.")


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sum", lambda *args, **kwargs: None),
        ("sum", lambda x, axis=None, dtype=None, keepdims=False, where=True: x),
        ("sum", lambda x, /, *, axis=None, **options: x),
        ("add", lambda a, b: a),
        ("add", lambda *operands: operands),
        ("add", lambda x1, x2, /, out=None: x1),
        ("reshape", lambda x, shape, copy=None: x),
        ("broadcast_arrays", lambda *x: x),
        ("update", lambda x, index, op, value, *, copy=None: x),
        ("abs", abs),
        ("min", min),
    ],
)
def test_a_signature_may_be_wider(backend_module, name, function):
    validate(backend_module(**{name: function}))


KERNEL = ("mine", lambda x, /: x, lambda call: None)


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([KERNEL[:2]], r"SQUARE_CANDIDATES\[0\] must be a tuple \(name, function, refusal\), but it is \('mine',"),
        ([KERNEL, (3, *KERNEL[1:])], r"SQUARE_CANDIDATES\[1\] must be a tuple"),
        ([KERNEL[1]], r"must be a tuple"),
        (KERNEL[1], r"SQUARE_CANDIDATES must be a list of \(name, function, refusal\)"),
        ([("mine", 3, KERNEL[2])], r"SQUARE_CANDIDATES\[0\]\[1\] must accept square\(x, /\), but it is 3\."),
        ([("mine", lambda: 0, KERNEL[2])], r"\[1\] must accept square\(x, /\), but it is square\(\)\."),
        ([("mine", KERNEL[1], None)], r"SQUARE_CANDIDATES\[0\]\[2\] must accept refusal\(call, /\), but it is None\."),
        ([("mine", KERNEL[1], lambda: None)], r"\[2\] must accept refusal\(call, /\), but it is refusal\(\)\."),
    ],
)
def test_candidates(backend_module, kernels, message):
    assert re.search(message, refusal(backend_module(SQUARE_CANDIDATES=kernels)))


def test_candidates_of_hooks(backend_module):
    def einsum(subscripts, /, *operands): ...

    validate(backend_module(EINSUM_CANDIDATES=[("mine", einsum, lambda call: None)], SQUARE_CANDIDATES=(KERNEL,)))
    message = refusal(backend_module(EINSUM_CANDIDATES=[KERNEL]))
    assert "EINSUM_CANDIDATES[0][1] must accept einsum(subscripts" in message


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("UNTRACABLE", "UNTRACEABLE"),
        ("IMUTABLE", "IMMUTABLE"),
        ("KNOWNBAD", "KNOWN_BAD"),
        ("ARRAY_TYPE", "ARRAY_TYPES"),
        ("SETTING", "SETTINGS"),
        ("MATMULL_CANDIDATES", "MATMUL_CANDIDATES"),
        ("LINALG_CHOLESKI_CANDIDATES", "LINALG_CHOLESKY_CANDIDATES"),
        ("EINSUM_CANDIDATE", "EINSUM_CANDIDATES"),
    ],
)
def test_misspelt_data(backend_module, typo, meant):
    message = refusal(backend_module(**{typo: ()}))
    assert (
        f"made_up_backend.py defines {typo}, which is not a constant of xarrayops.plugin (did you mean {meant}?)"
        in message
    )


def test_private_and_unrelated_constants_are_ignored(backend_module):
    validate(backend_module(SURFACE=SURFACE, HOOKS=generic.HOOKS, ARRAYS=(), WIDE=1, BITS={}, EMPTY=(), _IMUTABLE=True))


@pytest.mark.parametrize("types", [(), (3,), ("ndarray",), int, [int], (int, None)])
def test_array_types_are_classes(backend_module, types):
    message = refusal(backend_module(ARRAY_TYPES=types))
    assert message == f"made_up_backend.py: ARRAY_TYPES must be a tuple of classes, but it is {types!r}."


@pytest.mark.parametrize(
    ("name", "value"),
    [("IMMUTABLE", "yes"), ("UNTRACEABLE", ["nonzero"]), ("KNOWN_BAD", {}), ("SETTINGS", ())],
)
def test_data_of_a_wrong_kind(backend_module, name, value):
    assert f"{name} must be " in refusal(backend_module(**{name: value}))


def test_a_number_in_place_of_a_function(backend_module):
    assert "add must accept add(x1, x2, /), but it is 3." in refusal(backend_module(add=3))


def test_misspelt_candidates_beyond_the_standard():
    module = ModuleType("beyond")
    module.SEGMENTSUM_CANDIDATES = []
    with pytest.raises(xo.InvalidBackend, match="defines SEGMENTSUM_CANDIDATES, which no function"):
        validate_extra(module)
    del module.SEGMENTSUM_CANDIDATES
    module.SEGMENT_SUM_CANDIDATES = []
    validate_extra(module)


def test_every_expected_signature_accepts_itself():
    for text in (*SURFACE.values(), "(x1, x2, /)", "(a, *b, c, d=1, **e)"):
        signature = validation._parse(text)
        assert validation._accepts(signature, signature)


def test_the_generated_signatures_equal_the_public_signatures():
    """Public functions have the parameters of the backend's; others of our own are like=, backend= and options."""
    for verb, text in SURFACE.items():
        public = inspect.signature(attrgetter(verb)(xo))
        ours = {"like", "backend", *{"astype": {"saturate"}, "matmul": {"out_dtype"}}.get(verb, ())}
        own = [p.replace(annotation=p.empty) for n, p in public.parameters.items() if n not in ours]
        assert str(public.replace(parameters=own, return_annotation=public.empty)) == text, verb


def test_an_error_thrown_into_the_backends_is_raised():
    backends = find.installed()
    next(backends)
    with pytest.raises(xo.Unsupported, match="thrown"):
        backends.throw(xo.Unsupported("thrown"))


@pytest.mark.parametrize("table", ["settings", "shared_environment", "untraceable"])
def test_tables_of_a_backend_are_copies(table, backend_module):
    module = backend_module(**{table.upper(): {"name": {}}})
    backend = registry.Backend("made_up", module)
    getattr(backend, table).clear()
    assert getattr(backend, table) == getattr(module, table.upper()) == {"name": {}}
