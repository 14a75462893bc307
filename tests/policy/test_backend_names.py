"""The functions of a backend are the public functions of its files, which its module imports with a star.

The files are parsed and not imported, so that the backends of libraries that are not installed are checked too. When a
backend loads, xarrayops checks the signatures, and that no other function is public.
"""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from xarrayops._core.backends.validation import OPTIONAL, REQUIRED, candidates_attribute, verb_attribute
from xarrayops._generic.hooks import HOOKS
from xarrayops._surface import EXTRA, SURFACE

SOURCES = Path(__file__).resolve().parents[2] / "backends"
BACKENDS = sorted(f"xarrayops_backends.{path.parent.name}" for path in SOURCES.glob("*/*/__init__.py"))
FUNCTIONS = {*map(verb_attribute, SURFACE | EXTRA), *HOOKS, "wrap"}
CONTRACT = {*FUNCTIONS, *map(candidates_attribute, FUNCTIONS), *REQUIRED, *OPTIONAL, "CALL_TESTS"}
"""Every name that the core reads in a backend module."""
NOT_HOOKS = {
    "xarrayops_backends.dask._attention": "its module lists the function in ATTENTION_CANDIDATES",
    "xarrayops_backends.torch._failures": "its module names the file in HOOK_MODULES",
    "xarrayops_backends.torch._xla": "its functions replace others if PyTorch/XLA is installed",
}
"""Files whose functions have the names of hooks and are not imported as hooks at the top level."""


def path_of(module):
    path = SOURCES / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def top_level(body):
    """The statements that run when a module is imported and bind names of the module."""
    for node in body:
        yield node
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            for inner in (getattr(node, field, []) for field in ("orelse", "finalbody")):
                yield from top_level(inner)
            if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
                yield from top_level(node.body)
            for handler in getattr(node, "handlers", ()):
                yield from top_level(handler.body)


def parsed(text):
    """The public names that a module defines, those that it imports with their origins, and its star imports."""
    defined, imported, stars = set(), {}, []
    for node in top_level(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Import):
            imported |= {a.asname or a.name.partition(".")[0]: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            stars.append(node.module)
        elif isinstance(node, ast.ImportFrom):
            imported |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.With):
            targets = getattr(node, "targets", None) or [getattr(node, "target", node)]
            stored = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            defined |= {name.id for name in stored if isinstance(name.ctx, ast.Store)}
    return {name for name in defined if name[0] != "_"}, {k: v for k, v in imported.items() if k[0] != "_"}, stars


@cache
def read(module):
    return parsed(path_of(module).read_text())


def functions(module):
    """The public functions that a module defines."""
    body = ast.parse(path_of(module).read_text()).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}


def foreign(module, named, files):
    """The names of the contract that a file imports from elsewhere, and that ``named`` does not import too."""
    _, imported, _ = read(module) if isinstance(module, str) else module
    at_home = {f"{file}.{name}" for file in files for name in read(file)[0]}
    return {
        name: origin
        for name, origin in imported.items()
        if name in CONTRACT and named.get(name) != origin and not (origin in at_home and origin.endswith(f".{name}"))
    }


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_file_imports_no_foreign_function_under_the_name_of_a_hook(backend):
    """For example, ``from math import prod`` would replace the library's prod."""
    _, named, stars = read(backend)
    assert len(stars) > 5
    found = {file: foreign(file, named, stars) for file in stars}
    assert {file: names for file, names in found.items() if names} == {}


def test_foreign_functions_are_found():
    jax = "xarrayops_backends.jax"
    text = (
        "from math import prod\nfrom xarrayops.plugin.host import finfo\nimport queue\nfrom functools import partial\n"
    )
    text += f"from {jax}._dtypes import as_dtype, astype as copysign\nfrom {jax}._compat import dtype_name"
    found = foreign(parsed(text), {"finfo": "xarrayops.plugin.host.finfo"}, [f"{jax}._dtypes"])
    assert found.keys() == {"prod", "queue", "copysign", "dtype_name"}
    assert parsed("try:\n    import a\nexcept E:\n    b = 1\nelse:\n    def c(): ...\n") == ({"b", "c"}, {"a": "a"}, [])


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_public_function_of_a_file_is_a_hook(backend):
    """A function whose name is misspelt is found; helpers begin with an underscore."""
    found = {file: functions(file) - CONTRACT for file in read(backend)[2]}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_hook_is_defined_once(backend):
    """So the order of the imports does not matter."""
    defined, named, stars = read(backend)
    own = {name for name, origin in named.items() if origin.rpartition(".")[0] not in stars}
    counts = Counter(name for names in (defined, own, *(read(file)[0] for file in stars)) for name in names)
    conditional = read("xarrayops_backends.torch._xla")[0] if backend == "xarrayops_backends.torch" else set()
    assert {name for name, count in counts.items() if count > 1 and name in CONTRACT} <= conditional


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_file_with_hooks_is_imported(backend):
    folder = path_of(backend).parent
    paths = {*folder.glob("_[a-z]*.py"), *folder.glob("_standard/*.py")} - {*folder.glob("_extra.py")}
    paths -= {*folder.glob("_sparse.py"), *folder.glob("*/__init__.py")}
    files = [".".join(path.relative_to(SOURCES).with_suffix("").parts) for path in paths]
    _, named, stars = read(backend)
    used = {*NOT_HOOKS, *stars, *(origin.rpartition(".")[0] for origin in named.values())}
    assert {file: names for file in files if file not in used and (names := functions(file) & FUNCTIONS)} == {}


TABLES = {
    "cupy._standard": "_CORRECTED",
    "jax._dtypes": "_WITH_DTYPE",
    "torch_xla._standard.corrections": "_TYPED",
    "torch_xla._standard.creation": "_PLACED",
}
"""The tables of the functions that ``wrap`` corrects, by their files."""


@pytest.mark.parametrize(("file", "table"), TABLES.items())
def test_every_function_in_a_table_of_corrections_exists(file, table):
    """A misspelt name would leave the function without its correction."""
    body = ast.parse(path_of(f"xarrayops_backends.{file}").read_text()).body
    (value,) = [n.value for n in body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == table]
    found = {node.value for node in ast.walk(value) if isinstance(node, ast.Constant)}
    assert len(found) > 5
    assert found <= SURFACE.keys()
