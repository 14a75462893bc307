"""Which modules may import which, and what `import xarrayops` loads. Imports inside functions count, too."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from xarrayops._core.backends.registry import entry_points

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "xarrayops"
COMPAT = CORE / "compat"
BACKENDS = ROOT / "backends" / "xarrayops_backends"
ARRAY_LIBRARIES = {
    *("numpy", "scipy", "torch", "torch_xla", "jax", "jaxlib", "cupy", "cupyx", "dask", "sparse", "ml_dtypes"),
    *("array_api_compat", "array_api_extra", "array_api_strict", "ndonnx", "dpnp", "tensorflow", "mlx", "pandas"),
}
HOST_SIDE = {"numpy", "ml_dtypes"}
"""The packages that the core may import inside a function, to work on host memory."""
SPARSE_SIDE = {"scipy"}
"""The packages that the host kernels of sparse matrices may import inside a function, too."""

FLOORS = (
    ("errors",),
    ("_system",),
    ("_surface",),  # generated: the lists of all functions
    ("plugin",),  # the contract
    ("_host",),
    ("plugin.host",),
    ("_generic",),
    ("plugin.generic",),
    ("_core",),
    ("plugin.backends",),
    ("standard", "linalg", "fft", "extra"),  # generated: dispatch only
    ("_ops",),
    ("sparse", "random", ""),  # the public surface: sparse, random, and the package itself
    ("numpy", "compat"),  # NumPy's names on the public functions; array-api-compat's interface
    ("_cli", "bench", "tune", "port", "testing", "__main__"),
)
"""The modules and packages directly below the package, lowest first. Each may import from its own floor and lower ones.

`plugin` defines the contract. Its modules `host`, `generic` and `backends` open higher floors to backends.
"""
DOORS = {"plugin.backends", "plugin.generic", "plugin.host"}
IMPORTED = {
    *("collections", "contextlib", "contextvars", "copyreg", "enum", "functools", "importlib", "itertools", "keyword"),
    *("math", "numbers", "operator", "re", "reprlib", "threading", "types", "typing", "warnings", "xarrayops"),
}
"""The packages that `import xarrayops` may load, besides those that Python itself loads and names with a leading _."""


def modules(folder: Path) -> dict[str, Path]:
    """The modules below a package's folder, by dotted name."""
    names = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


CORE_MODULES = modules(CORE)
BACKEND_MODULES = modules(BACKENDS)


@cache
def tree(path: Path) -> ast.Module:
    """The source of a module. The relative imports of `xarrayops.compat`, which has several names, become absolute."""
    parsed = ast.parse(path.read_text(), path)
    if COMPAT in path.parents:
        for node in ast.walk(parsed):
            if isinstance(node, ast.ImportFrom) and node.level:
                package = path.relative_to(ROOT).parts[: -node.level]
                node.module, node.level = ".".join(filter(None, (*package, node.module))), 0
    return parsed


def imported(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """The dotted names that import statements import; ``from a import b`` gives ``a.b``."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"a relative import: {ast.unparse(node)}"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def at_top_level(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when the module is imported: not function bodies, not ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        deferred = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if not deferred and not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from at_top_level(child)


def graph(nodes: dict[str, Path]) -> dict[str, set[str]]:
    """For each module, the other modules that it imports, at the top level or inside a function."""
    edges = {}
    for name, path in nodes.items():
        targets = set()
        for target in imported(ast.walk(tree(path))):
            while target and target not in nodes:
                target = target.rpartition(".")[0]
            if target:
                targets.add(target)
        edges[name] = targets - {name}
    return edges


def floor(module: str) -> int:
    name = module.removeprefix("xarrayops").removeprefix(".")
    head = name if name in DOORS else name.partition(".")[0]
    return next(i for i, names in enumerate(FLOORS) if head in names)


def upward_imports(edges: dict[str, set[str]]) -> list[str]:
    return [f"{a} imports {b}" for a in edges for b in edges[a] if floor(b) > floor(a)]


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """The modules of an import cycle, in order; empty if there is none."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        found = next((c for t in sorted(edges[module]) if (c := visit(t, [*path, module]))), [])
        done.add(module)
        return found

    return next((c for module in edges if (c := visit(module, []))), [])


def test_imports_inside_functions_are_found():
    text = "def f():\n    import numpy as np\n    from xarrayops._core.backends.registry import load\nimport os"
    assert set(imported(ast.walk(ast.parse(text)))) == {"numpy", "xarrayops._core.backends.registry.load", "os"}
    assert set(imported(at_top_level(ast.parse(text)))) == {"os"}
    assert "xarrayops._core.backends.validation" in graph(CORE_MODULES)["xarrayops._core.backends.registry"], (
        "a deferred import that exists"
    )


def test_the_search_finds_a_cycle():
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_import_cycle():
    assert cycle(graph(CORE_MODULES | BACKEND_MODULES)) == []


def test_no_module_imports_from_a_higher_floor():
    assert upward_imports(graph(CORE_MODULES)) == []
    assert upward_imports({"xarrayops._host.views": {"xarrayops._core.backends.registry"}}), "the check can fail"
    assert upward_imports({"xarrayops.plugin": {"xarrayops.plugin.host"}}), "a door is above the contract"


def test_modules_at_the_root_are_public_or_generated():
    private = {"_cli", "_core", "_generic", "_host", "_ops", "_system"}
    packages = {"bench", "compat", "numpy", "plugin", "port", "testing", "tune"}
    assert {p.parent.name for p in CORE.glob("*/__init__.py")} == private | packages
    modules = {"__init__", "__main__", "_surface", "errors", "extra", "fft", "linalg", "random", "sparse", "standard"}
    assert {p.stem for p in CORE.glob("*.py")} == modules
    assert {name for names in FLOORS for name in names} == private | packages | DOORS | modules - {"__init__"} | {""}


def test_the_core_mentions_no_backend_module():
    """Except in the generated copy of the entry points."""
    paths = (path for name, path in CORE_MODULES.items() if name != "xarrayops._surface")
    named = [str(path) for path in paths if "xarrayops_backends" in path.read_text()]
    assert not named


def is_inner(module: str) -> bool:
    """Whether `import xarrayops` may load the module; it may not load command lines and the contract suite."""
    return floor(module) < len(FLOORS) - 1


def packages(nodes: Iterator[ast.AST]) -> set[str]:
    """The root packages of all imported names."""
    return {name.partition(".")[0] for name in imported(nodes)}


def array_libraries(module: str) -> set[str]:
    """The array libraries that a module of the core imports and must not import."""
    path = CORE_MODULES[module]
    at_import = packages(at_top_level(tree(path))) - ({"numpy"} if "._host." in module else set())
    typed_only = {"numpy"} if "numpy.typing" in path.read_text() else set()
    allowed = HOST_SIDE | (SPARSE_SIDE if "._host.sparse." in module else set())
    found = ARRAY_LIBRARIES & (at_import | packages(ast.walk(tree(path))) - typed_only - allowed)
    return found - ({"array_api_compat"} if module.startswith("xarrayops.compat") else set())


def test_the_core_imports_no_array_library():
    """Only host kernels import NumPy at the top level; the core imports those kernels inside functions."""
    found = {module: array_libraries(module) for module in filter(is_inner, CORE_MODULES)}
    assert {module: libraries for module, libraries in found.items() if libraries} == {}


def test_no_module_imports_a_library_that_has_a_backend():
    """Command lines and the contract suite, too, load array libraries only through the registry."""
    libraries = set(entry_points()) - {"numpy", "scipy"}
    assert libraries >= {"torch", "jax", "cupy", "dask"}
    found = {module: libraries & packages(ast.walk(tree(path))) for module, path in CORE_MODULES.items()}
    assert {module: libraries for module, libraries in found.items() if libraries} == {}


def private(names: Iterator[str]) -> list[str]:
    """The imported names of xarrayops that are not public for backends."""
    ours = (name for name in names if name.partition(".")[0] == "xarrayops")
    return [name for name in ours if name.split(".")[1:2] not in (["errors"], ["plugin"])]


BACKEND_FILES = BACKEND_MODULES | {
    "samplearray_xarrayops": ROOT / "tests" / "sample_backend" / "samplearray_xarrayops.py"
}


def test_a_backend_imports_public_names_only():
    """Our backends import what third parties may import: `xarrayops.errors` and `xarrayops.plugin`."""
    found = {module: private(imported(ast.walk(tree(path)))) for module, path in BACKEND_FILES.items()}
    assert {module: names for module, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "statement",
    [
        "import xarrayops",
        "from xarrayops import exp",
        "from xarrayops._core.backends.registry import load",
        "import xarrayops._host",
    ],
)
def test_the_check_of_public_names_can_fail(statement):
    assert private(imported(ast.walk(ast.parse(f"def f():\n    {statement}"))))
    assert not private(imported(ast.walk(ast.parse("from xarrayops.plugin.dtypes import finfo\nimport numpy"))))


def run(code: str) -> str:
    """The output of a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True).stdout


NEW = "print(*set(sys.modules) - before)"


def roots(loaded: str) -> set[str]:
    return {name.partition(".")[0] for name in loaded.split() if not name.startswith("_")}


def test_import_loads_no_array_library():
    """The metadata of distributions and `inspect` are loaded at the first look-up, too.

    This test lists the modules that are loaded; benchmarks/peers/imports.py measures the time.
    """
    loaded = run(f"import sys; before = set(sys.modules); import xarrayops; {NEW}")
    assert "xarrayops" in roots(loaded)
    assert roots(loaded) <= IMPORTED
    assert not {"importlib.metadata", "importlib.util", "importlib.resources"} & set(loaded.split())


SETUPS = {
    "numpy": "import numpy; x = numpy.ones((2, 2))",
    "torch": "import torch, array_api_compat.torch; x = torch.ones((2, 2))",
    "jax": "import jax; x = jax.numpy.ones((2, 2)); x + x",
    "dask": "import dask.array, array_api_compat.dask.array; x = dask.array.ones((2, 2)); x + x",
}


@pytest.mark.parametrize("library", SETUPS)
def test_the_first_dispatch_loads_only_what_it_needs(library):
    """Besides the library and its array-api-compat module: the entry points, the backend, and its validation."""
    pytest.importorskip(library)
    setup = f"import sys; import xarrayops as xo; {SETUPS[library]}; before = set(sys.modules)"
    loaded = run(f"{setup}; xo.add(x, x); {NEW}")
    assert {"xarrayops", "xarrayops_backends"} <= roots(loaded)
    others = ARRAY_LIBRARIES - {library, "numpy"}
    heavy = {"concurrent", "dataclasses", "logging", "multiprocessing", "rich", "scipy", "threadpoolctl", "unittest"}
    assert not roots(loaded) & (others | heavy)
