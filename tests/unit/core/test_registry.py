"""The registry: entry points, the backend of a class, name or namespace, and errors if there is none."""

import sys
from types import ModuleType

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import entry_points, find, registry
from xarrayops._core.modes import defaults
from xarrayops.plugin import install_command


def test_two_distributions_with_an_entry_point_for_one_package(entries, claim):
    entries(claim("numpy", "xarrayops_backends.numpy", "xarrayops"), claim("numpy", "fast_numpy", "fastnumpy"))
    with pytest.raises(xo.InvalidBackend, match="fastnumpy and xarrayops") as error:
        xo.backend("numpy")
    for word in ("'numpy'", "xarrayops_backends.numpy", "fast_numpy", "Uninstall"):
        assert word in str(error.value)


def test_an_entry_point_listed_twice_is_not_a_conflict(entries, claim):
    entries(*[claim("numpy", "xarrayops_backends.numpy", "xarrayops")] * 2)
    assert xo.backend("numpy").name == "numpy"


@pytest.mark.parametrize(
    ("root", "name"),
    [("scipy", "numpy"), ("numpy", "numpy"), ("jaxlib", "jax"), ("cupyx", "cupy"), ("torch_xla", "torch_xla")],
)
def test_packages_and_their_backend_modules(root, name):
    entry = registry.entry_points()[root]
    assert entry.value == f"xarrayops_backends.{name}"
    assert entry_points.backend_name(entry.value) == name


def test_a_backend_is_named_after_its_first_package_if_none_has_its_name(entries, claim):
    entries(claim("zebra", "animals.stripes"), claim("okapi", "animals.stripes"))
    assert entry_points.backend_name("animals.stripes") == "okapi"


def test_all_packages_of_a_module_have_one_backend():
    assert xo.backend("scipy") is xo.backend("numpy") is xo.backend(np) is xo.backend(np.zeros(1))


class TestMissing:
    """Libraries that are not installed, or fail at import."""

    @pytest.mark.parametrize(
        ("root", "extras", "hint"),
        [
            ("zebra", ["zebra", "zebra-fast", "test"], "pip install 'animals[zebra]'"),
            (
                "cupy",
                ["cupy-cuda12x", "cupy-cuda13x"],
                "'animals[cupy-cuda12x]' or pip install 'animals[cupy-cuda13x]'",
            ),
            ("torch_xla", ["torch", "torch-xla"], "pip install 'animals[torch-xla]'"),
            ("zebra", [], "Install zebra"),
            ("zebra", ["test"], "Install zebra"),
        ],
    )
    def test_the_hint_names_the_extras(self, entries, claim, root, extras, hint):
        entries(claim(root, f"no_such_package.{root}", "animals", extras))
        with pytest.raises(xo.BackendNotFound, match=f"'{root}' needs a library that is not installed") as error:
            xo.backend(root)
        assert hint in str(error.value)
        assert "no_such_package" in str(error.value)
        (status,) = xo.backends()
        assert (status.name, status.available, status.backend) == (root, False, None)
        assert status.reason == "not installed (no module no_such_package)"
        assert hint in status.hint

    def test_the_hints_of_our_own_extras(self):
        hint = registry.install_hint(registry.entry_points()["cupy"])
        assert hint.endswith(f"{install_command('cupy-cuda12x')} or {install_command('cupy-cuda13x')}")
        assert registry.install_hint(registry.entry_points()["torch"]).endswith(install_command("torch"))

    @pytest.mark.parametrize("error", ["RuntimeError", "OSError", "ImportError"])
    def test_a_library_that_fails_at_import(self, entries, claim, monkeypatch, tmp_path, error):
        (tmp_path / "broken_zebra.py").write_text(f"raise {error}('libcuda.so.1: no such file')")
        monkeypatch.syspath_prepend(tmp_path)
        entries(claim("zebra", "broken_zebra", "animals", ["zebra"]))
        with pytest.raises(xo.BackendNotFound, match="libcuda") as found:
            xo.zeros(3, backend="zebra")
        assert "cannot be imported" in str(found.value)
        assert "animals[zebra]" in str(found.value)
        assert xo.backends()[0].reason == "cannot be imported: libcuda.so.1: no such file"

    def test_a_backend_that_breaks_the_contract(self, entries, claim, backend_module):
        backend_module("bad_backend", NAMESPACE=ModuleType("empty"))
        entries(claim("zebra", "bad_backend", "animals"))
        with pytest.raises(xo.InvalidBackend, match=r"bad_backend\.py has no abs"):
            xo.backend("zebra")
        (status,) = xo.backends()
        assert "bad_backend.py has no abs" in status.reason
        assert "animals" in status.hint

    def test_no_device(self, entries, claim, backend_module):
        def devices():
            return []

        backend_module("deviceless", devices=devices)
        entries(claim("zebra", "deviceless"))
        (status,) = xo.backends()
        assert not status.available
        assert "no device" in status.reason
        assert "zebra" in status.hint
        assert status.backend is xo.backend("zebra")

    def test_unknown_names(self):
        with pytest.raises(xo.BackendNotFound, match=r"no backend 'zebra': it has .*numpy.*torch") as error:
            xo.backend("zebra")
        assert "namespace module" in str(error.value)
        assert "did you mean" not in str(error.value)

    def test_misspelt_names(self):
        def in_a_block():
            with xo.use("nupmy"):
                return xo.zeros(2)

        calls = (
            lambda: xo.backend("nupmy"),
            lambda: xo.ones(2, backend="nupmy"),
            lambda: xo.convert(np.ones(2), "nupmy"),
            in_a_block,
        )
        for call in calls:
            with pytest.raises(xo.BackendNotFound, match=r"'nupmy': it has .* did you mean 'numpy'\?") as error:
                call()
            assert "XARRAYOPS_BACKEND" not in str(error.value)
        for name, meant in {"JAX": "jax", "pytorch": "torch", "NumPy": "numpy"}.items():
            with pytest.raises(xo.BackendNotFound, match=f"did you mean '{meant}'"):
                xo.zeros(2, backend=name)

    def test_a_misspelt_name_in_the_environment(self, run):
        code = """
import xarrayops as xo
try:
    xo.zeros(2)
except xo.BackendNotFound as error:
    print(error)
"""
        message = run(code, XARRAYOPS_BACKEND="toch")
        assert "did you mean 'torch'?" in message
        assert "XARRAYOPS_BACKEND is set to it" in message

    def test_nothing_is_installed(self, entries):
        entries()
        with pytest.raises(xo.BackendNotFound, match="is xarrayops installed"):
            xo.zeros(3)


class TestArrayClasses:
    """ARRAY_TYPES decides which classes are arrays, independent of their package."""

    def test_subclasses_of_arrays(self):
        class Mine(np.ndarray):
            pass

        x = np.arange(3.0).view(Mine)
        assert xo.backend(x).name == "numpy"
        assert float(xo.sum(x)) == 3.0

    def test_a_subclass_in_a_package_without_an_entry_point(self):
        Foreign = type("Foreign", (np.ndarray,), {"__module__": "zebra.arrays"})
        assert find.of_class(Foreign).name == "numpy"

    def test_numpy_scalars_are_numpy_arrays(self):
        for scalar in (np.float32(1), np.int64(1), np.bool_(True), np.complex64(1)):
            assert xo.backend(scalar).name == "numpy"

    def test_classes_of_a_library_that_are_not_arrays(self):
        for thing in (np.dtype("f4"), np.random.default_rng(0), np.float32, np.ndarray):
            assert find.if_array(thing) is None
            with pytest.raises(xo.BackendNotFound, match=r"xo\.asarray"):
                xo.sum(thing)

    def test_a_pytorch_module_is_not_an_array(self):
        torch = pytest.importorskip("torch")
        pytest.importorskip("xarrayops_backends.torch")
        assert xo.backend(torch.ones(2)).name == "torch"
        assert xo.backend(torch.nn.Parameter(torch.ones(2))).name == "torch"
        with pytest.raises(xo.BackendNotFound, match=r"argument x is a torch\.nn\.modules\.linear\.Linear"):
            xo.sum(torch.nn.Linear(2, 2))

    def test_a_tracer_of_jax_is_an_array(self):
        jax = pytest.importorskip("jax")
        seen = []
        jax.jit(lambda x: seen.append((xo.backend(x).name, xo.is_lazy(x), xo.device(x))) or x)(jax.numpy.ones(2))
        assert seen == [("jax", True, None)]

    @pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
    @pytest.mark.parametrize(
        "call",
        [
            xo.sum,
            xo.zeros_like,
            xo.asarray,
            xo.array_namespace,
            xo.backend,
            xo.device,
            lambda x: xo.add(np.ones((1, 1)), x),
            lambda x: xo.concat([np.ones((1, 1)), x]),
            lambda x: xo.asarray([x]),
            lambda x: xo.convert(x, "numpy"),
            lambda x: xo.at(np.ones((1, 1)))[0].set(x),
        ],
    )
    def test_refused_classes(self, call):
        with pytest.raises(xo.Unsupported, match="asarray"):
            call(np.matrix([[1.0]]))
        with pytest.raises(xo.Unsupported, match="filled"):
            call(np.ma.array([[1.0]], mask=[[True]]))

    def test_a_library_without_an_entry_point(self):
        x = xps.ones(3)
        assert xo.backend(x) is xo.backend(xps)
        assert xo.backend(x).name == "array_api_strict"
        assert not xo.backend(x).has_entry_point
        assert xo.array_namespace(x).__name__ == "xarrayops.namespaces.array_api_strict"
        assert xo.backend(x).versions == {"array_api_strict": xps.__version__}
        assert {str(d) for d in xps.__array_namespace_info__().devices()} == {d.name for d in xo.backend(x).devices()}

    def test_a_refined_backend(self, entries, claim, backend_module):
        """The backend of the class can choose another backend for an array."""

        def refine(x, /):
            return "okapi" if x.ndim == 2 else None

        backend_module("zebra_backend", refine=refine)
        backend_module("okapi_backend")
        entries(claim("array_api_strict", "zebra_backend"), claim("okapi", "okapi_backend"))
        assert xo.backend(xps.ones(3)).name == "array_api_strict"
        assert xo.backend(xps.ones((3, 3))).name == "okapi"


def test_namespaces():
    import math

    import array_api_compat.numpy

    assert xo.backend(array_api_compat.numpy) is xo.backend("numpy")
    assert xo.backend(xo.backend("numpy").namespace) is xo.backend("numpy")
    with pytest.raises(xo.BackendNotFound, match="module math is not a namespace"):
        xo.backend(math)


def test_look_ups_import_no_other_library(run):
    """A look-up that fails loads no library; a look-up of a NumPy array loads only NumPy's backend."""
    code = """
import sys, xarrayops as xo
try:
    xo.sum([1, 2])
except xo.BackendNotFound:
    pass
assert "numpy" not in sys.modules
import numpy as np
xo.sum(np.ones(3))
loaded = (m for m in sys.modules if m.startswith("xarrayops_backends.") or m in ("torch", "jax", "dask"))
print(*sorted({".".join(m.split(".")[:2]) for m in loaded}))
"""
    assert run(code) == "xarrayops_backends.numpy"


def test_a_class_that_claims_a_module_does_not_load_it(run):
    """If a class names PyTorch as its module, but PyTorch was never imported, the look-up does not import it."""
    code = """
import sys, xarrayops as xo
try:
    xo.sum(type("Tensor", (), {"__module__": "torch.made_up"})())
except xo.BackendNotFound as error:
    print(error.args[0].partition(", which")[0], "torch" in sys.modules)
"""
    assert run(code) == "xo.sum: argument x is a torch.made_up.Tensor False"


def test_repr_and_attributes_of_a_backend():
    backend = xo.backend("numpy")
    assert repr(backend) == "<xarrayops backend numpy>"
    assert backend.versions["numpy"] == np.__version__
    assert [d.kind for d in backend.devices()] == ["cpu"]
    assert backend.module is sys.modules["xarrayops_backends.numpy"]
    assert not backend.immutable


def test_own_dtypes_and_foreign_ones():
    assert entry_points.dtype_backend_name(np.dtype("f4")) == "numpy"
    assert entry_points.dtype_backend_name(np.float32) == "numpy"
    assert entry_points.dtype_backend_name(xps.float32) == "array_api_strict"
    assert entry_points.dtype_backend_name(float) is None


HAMMER = """
import sys, threading
import numpy as np
sys.setswitchinterval(1e-6)
import xarrayops as xo
from xarrayops._core.backends import registry
{setup}
barrier, failures, served = threading.Barrier(16), [], []

def first_use(i):
    barrier.wait()
    try:
        served.append({call})
    except Exception as error:
        failures.append(repr(error))

threads = [threading.Thread(target=first_use, args=(i,)) for i in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
served += [*registry.by_class.values(), *registry.by_module.values()]
print(*failures, len({{b for b in served if isinstance(b, registry.Backend)}}))
"""
RACES = {
    "one backend, two classes": ("", "xo.add(np.ones(2) if i % 2 else np.float64(1), 1.0)"),
    "by class and by name": ("", "xo.add(np.ones(2), xo.asarray(1.0, backend='numpy' if i % 2 else 'scipy'))"),
    "a library without an entry point": (
        "import array_api_strict as xps\nclass Mine(type(xps.ones(2))): pass",
        "xo.backend(xps if i % 2 else xps.ones(2))",
    ),
}


@pytest.mark.parametrize("race", RACES)
def test_concurrent_first_uses_create_one_backend(run, race):
    """With two backends of one library, every later call with arrays of both would raise `MixedBackends`."""
    setup, call = RACES[race]
    code = HAMMER.format(setup=setup, call=call)
    assert [run(code) for _ in range(3)] == ["1"] * 3


def test_one_block_in_many_threads(run):
    """A `use` object may be shared by threads: each thread gets back its own default at the end of the block."""
    code = """
import sys, threading
import numpy, torch, array_api_compat.torch
sys.setswitchinterval(1e-6)
import xarrayops as xo
from xarrayops._core.modes import defaults
block, barrier, failures = xo.use("torch"), threading.Barrier(8), []

def work():
    barrier.wait()
    for _ in range(300):
        with block, xo.use("numpy"):
            if defaults.of_new_arrays()[:2] != ("numpy", None):
                failures.append("inner")
            with block:
                if defaults.of_new_arrays()[:2] != ("torch", None):
                    failures.append("again")
        if defaults.of_new_arrays()[:2] != defaults.ENVIRONMENT:
            failures.append("outside")

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*failures, defaults._place.open_blocks)
"""
    pytest.importorskip("torch")
    assert run(code, XARRAYOPS_BACKEND="") == "0"


def test_a_block_entered_in_one_thread_while_open_in_another():
    import threading

    block, inside, leave = xo.use("numpy", device="cpu"), threading.Event(), threading.Event()
    seen = []

    def other():
        with block:
            inside.set()
            leave.wait(10)
            seen.append(defaults.of_new_arrays()[:2])
        seen.append(defaults.of_new_arrays()[:2])

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(10)
    with block:
        assert defaults.of_new_arrays()[:2] == ("numpy", "cpu")
        leave.set()
        thread.join(10)
    assert seen == [("numpy", "cpu"), defaults.ENVIRONMENT]
    assert defaults.of_new_arrays()[:2] == defaults.ENVIRONMENT
