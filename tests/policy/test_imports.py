"""Who may import whom, and what `import xarrayops` costs. Imports inside functions count like any other."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from xarrayops.registry import entry_points

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "xarrayops"
BACKENDS = ROOT / "backends" / "xarrayops_backends"
ARRAY_LIBRARIES = {
    *("numpy", "scipy", "torch", "torch_xla", "jax", "jaxlib", "cupy", "cupyx", "dask", "sparse", "ml_dtypes"),
    *("array_api_compat", "array_api_extra", "array_api_strict", "ndonnx", "dpnp", "tensorflow", "mlx", "pandas"),
}
HOST_SIDE = {"numpy", "ml_dtypes"}
"""What the core may import inside a function: the memory of the host, seen through NumPy."""
SPARSE_SIDE = {"scipy"}
"""What the host kernels of sparse matrices may import inside a function, too."""

LAYERS = (
    ("errors", "_surface", "_machine", "_gpus"),
    ("plugin", "plugin_sparse", "_devices", "_sparse_library", "_candidates", "kernels"),
    (
        "_generic",
        "_generic_attention",
        "_generic_sparse",
        "_namespace",
        "_validation",
        "_entry_points",
        "_backend",
        "_sparse_backend",
        "_loading",
        "registry",
    ),
    ("_blocks", "_default", "dispatch"),
    ("*",),  # the verbs: every module that no other layer names
    ("",),  # the public surface: the package itself
    ("__main__", "_command", "_process", "_doctor", "bench", "exchange", "port", "testing"),
)
"""Each layer may import from itself and from those above it in this list."""
IMPORTED = {
    *("collections", "contextlib", "contextvars", "copyreg", "enum", "functools", "importlib", "itertools", "keyword"),
    *("math", "numbers", "operator", "re", "reprlib", "threading", "types", "typing", "warnings", "xarrayops"),
}
"""The packages that `import xarrayops` may load, beyond what a bare interpreter has and modules that begin with _."""


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
    return ast.parse(path.read_text(), path)


def imported(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """The dotted names that import statements bring in; ``from a import b`` gives ``a.b``."""
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
    """Which of some modules each of them imports, anywhere in its text."""
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


def layer(module: str) -> int:
    head = module.removeprefix("xarrayops").removeprefix(".").partition(".")[0]
    verbs = next(i for i, names in enumerate(LAYERS) if names == ("*",))
    return next((i for i, names in enumerate(LAYERS) if head in names), verbs)


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """The modules on some cycle, in order; empty without one."""
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


def test_the_walk_sees_deferred_imports():
    text = "def f():\n    import numpy as np\n    from xarrayops.registry import load\nimport os"
    assert set(imported(ast.walk(ast.parse(text)))) == {"numpy", "xarrayops.registry.load", "os"}
    assert set(imported(at_top_level(ast.parse(text)))) == {"os"}
    assert "xarrayops._validation" in graph(CORE_MODULES)["xarrayops._loading"], "a deferred import that exists"


def test_the_search_finds_a_cycle():
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_import_cycle():
    assert cycle(graph(CORE_MODULES | BACKEND_MODULES)) == []


def test_imports_point_one_way():
    edges = graph(CORE_MODULES)
    wrong = [f"{a} imports {b}" for a in edges for b in edges[a] if layer(b) > layer(a)]
    assert not wrong


def test_the_core_names_no_backend_module():
    named = [name for name, path in CORE_MODULES.items() if "xarrayops_backends" in path.read_text()]
    assert not named


def is_inner(module: str) -> bool:
    """Whether `import xarrayops` may load the module: not a command line, not the shipped test suite."""
    return layer(module) < len(LAYERS) - 1


@pytest.mark.parametrize("module", [*filter(is_inner, CORE_MODULES)])
def test_the_core_imports_no_array_library(module):
    """Host kernels work on NumPy views; the core imports those kernels inside functions alone."""
    path = CORE_MODULES[module]
    at_import = {name.partition(".")[0] for name in imported(at_top_level(tree(path)))}
    anywhere = {name.partition(".")[0] for name in imported(ast.walk(tree(path)))}
    assert not at_import & ARRAY_LIBRARIES - ({"numpy"} if ".kernels." in module else set())
    typed_only = {"numpy"} if "numpy.typing" in path.read_text() else set()
    allowed = HOST_SIDE | (SPARSE_SIDE if ".kernels.sparse." in module else set())
    assert (anywhere & ARRAY_LIBRARIES) - typed_only <= allowed


@pytest.mark.parametrize("module", CORE_MODULES)
def test_no_module_imports_a_library_that_has_a_backend(module):
    """Command lines and suites, too, reach PyTorch and its like through the registry."""
    libraries = set(entry_points()) - {"numpy", "scipy"}
    assert libraries >= {"torch", "jax", "cupy", "dask"}
    assert not libraries & {name.partition(".")[0] for name in imported(ast.walk(tree(CORE_MODULES[module])))}


@pytest.mark.parametrize("module", BACKEND_MODULES)
def test_a_backend_stands_on_the_contract(module):
    """A backend imports the core below dispatch, and no verb: what a verb needs, the verb asks of the backend."""
    for name in imported(ast.walk(tree(BACKEND_MODULES[module]))):
        if name.partition(".")[0] == "xarrayops":
            target = next(n for n in (name, name.rpartition(".")[0]) if n in CORE_MODULES)
            assert layer(target) < layer("xarrayops.dispatch"), f"{module} imports {name}"


def run(code: str, cache: Path) -> str:
    """What a fresh interpreter prints, with bytecode kept in a folder as an installed package has it."""
    environment = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPROFILEIMPORTTIME")
    }
    command = [sys.executable, "-X", f"pycache_prefix={cache}", "-c", code]
    return subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout


NEW = "print(*set(sys.modules) - before)"


def roots(loaded: str) -> set[str]:
    return {name.partition(".")[0] for name in loaded.split() if not name.startswith("_")}


def test_import_loads_no_array_library(tmp_path):
    """Nothing heavy either: the metadata of distributions and `inspect` wait for the first look-up.

    What an import costs is the modules that it loads. How long it takes benchmarks/peers/imports.py measures.
    """
    loaded = run(f"import sys; before = set(sys.modules); import xarrayops; {NEW}", tmp_path)
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
def test_the_first_dispatch_loads_what_it_needs(library, tmp_path):
    """Beyond the library and its array-api-compat module: the entry points, the backend file, its validation."""
    pytest.importorskip(library)
    setup = f"import sys; import xarrayops as xo; {SETUPS[library]}; before = set(sys.modules)"
    loaded = run(f"{setup}; xo.add(x, x); {NEW}", tmp_path)
    assert {"xarrayops", "xarrayops_backends"} <= roots(loaded)
    others = ARRAY_LIBRARIES - {library, "numpy"}
    heavy = {"concurrent", "dataclasses", "logging", "multiprocessing", "rich", "scipy", "threadpoolctl", "unittest"}
    assert not roots(loaded) & (others | heavy)
