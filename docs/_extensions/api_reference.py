"""The API reference: a page for each family of public names, written before Sphinx reads its sources.

What is public is asked of the package: `dir` of the public modules, and the sections of ``tools/standard.pyi`` and
``tools/extra.pyi``. A new function of these tables, or a new operation in a family that exists, appears without a
change here.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import runpy
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any

import xarrayops as xo
from xarrayops._generic import hooks
from xarrayops._surface import EXTRA, FAMILIES

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "api" / "generated"
signature = runpy.run_path(str(ROOT / "tools" / "public_api.py"))["signature"]
STANDARD = "https://data-apis.org/array-api/2025.12/"
OPERATIONS = {
    "arrays": "Around an array",
    "modes": "Defaults",
    "carried": "Modes in other threads and processes",
    "exchange": "Exchange",
    "layout": "Layout",
    "attention": "Attention",
    "indexing": "Indexed update",
    "einsum": "Einstein summation",
    "quantization": "Quantisation",
    "sets": "Distinct elements",
    "explain": "Explain",
    "engines": "Engines",
    "choices": "Measured choice",
    "precision": "Precision",
    "transformations": "Gradients, batches and checkpoints",
    "compilation": "Compiled functions, branches and loops",
    "convolution": "Convolutions and pooling",
    "export": "Exports",
    "sharding": "Arrays split over devices or tasks",
    "transfers": "Transfers between host and device",
    "operations": "Your own operations",
}
"""The families of operations beyond the standard, by the module that defines them, in the order of the pages."""
SAME_FAMILY = {"explanation": "explain"}
TITLES = {
    "comparison": "Comparison of arrays",
    "counting": "Counts and segments",
    "elementwise": "Elementwise, softmax and one-hot",
    "nans": "Reductions without NaN",
    "order": "Order",
    "padding": "Padding",
    "quantiles": "Medians and quantiles",
    "sets": "Set operations",
    "shaping": "Diagonals, windows and insertion",
    "signal": "Interpolation, gradients and convolution",
    "statistics": "Statistics",
    "windows": "Windows and scales",
}
"""The pages of functions that the standard lacks, by the section of tools/extra.pyi."""
BY_HAND = {"asarray": "creation", "from_dlpack": "creation", "broadcast_shapes": "manipulation"}
"""The sections of functions that the table lists under "by hand"; the others there are of data types."""
PLUGIN = sorted(path.stem for path in (ROOT / "xarrayops" / "plugin").glob("[a-z]*.py"))
"""The modules below xarrayops.plugin."""
NUMPY = ("", ".linalg", ".fft", ".random")
"""The modules with NumPy's names, below xarrayops.numpy."""
FIRST: dict[type, ModuleType] = {}
"""The module under whose name each class was documented first."""
VALUE_SHOWN = 80
"""Characters of a constant's value that a page shows; a longer one is left out."""


def section_of() -> dict[str, str]:
    """The section of each function of the standard at the top level."""
    found, section = {}, ""
    for line in (ROOT / "tools" / "standard.pyi").read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"# section: ([\w ]+)", line):
            section = heading[1]
        elif function := re.match(r"def (\w+)\(", line):
            name = function[1]
            if section == "by hand":
                found[name] = BY_HAND.get(name, "data types")
            elif section not in ("linalg", "fft"):
                found[name] = section
    return found


def family(value: Any) -> str:
    """The family of a public operation: the name of its module, or folder, under ``_ops``."""
    _, floor, name, *_ = value.__module__.split(".")
    return SAME_FAMILY.get(name, name) if floor in ("_ops", "_core", "plugin") else floor


def public(module: ModuleType) -> list[str]:
    """The public names of a module: those that it lists, else those that it defines or imports as themselves."""
    if hasattr(module, "__all__"):
        names = module.__all__
    elif module is xo:
        names = dir(module)
    else:
        names = [name for statement in ast.parse(inspect.getsource(module)).body for name in _introduced(statement)]
    return sorted({name for name in names if not name.startswith("_")})


def _introduced(statement: ast.stmt) -> list[str]:
    """The names that a statement of a module defines or imports under their own name."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, ast.ImportFrom):
        return [alias.asname for alias in statement.names if alias.asname == alias.name]
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [target.id for target in targets if isinstance(target, ast.Name)]
    if isinstance(statement, ast.If):  # modules that are imported at their first use
        return [name for each in statement.body for name in _introduced(each)]
    return []


def pages() -> dict[str, str]:
    """The text of each page, by its name."""
    standard = section_of()
    sections: dict[str, list[str]] = {}
    beyond: dict[str, list[str]] = {}
    families: dict[str, list[str]] = {name: [] for name in OPERATIONS}
    constants, errors = [], []
    for name in public(xo):
        value = getattr(xo, name)
        if isinstance(value, ModuleType):
            continue
        if not callable(value) or isinstance(value, str):  # the name of a dtype
            constants.append(name)
        elif value.__module__ == "xarrayops.errors":
            errors.append(name)
        elif name in EXTRA:
            beyond.setdefault(FAMILIES[name].removeprefix("extra."), []).append(name)
        elif name in standard:
            sections.setdefault(standard[name], []).append(name)
        else:
            families.setdefault(family(value), []).append(name)
    found = {
        f"standard-{section.replace(' ', '-')}": _page(f"Standard: {section}", _standard(section), xo, names)
        for section, names in sections.items()
    }
    found |= {f"numpy-{topic}": _page(TITLES[topic], _NUMPY, xo, names) for topic, names in beyond.items()}
    for extension in (xo.linalg, xo.fft):
        name = extension.__name__.rpartition(".")[2]
        found[name] = _page(f"xarrayops.{name}", _standard(name), extension, public(extension))
    for name, members in families.items():
        if not members:
            continue
        if name not in OPERATIONS:
            raise ValueError(f"{members} are of the family {name!r}, which OPERATIONS of {__file__} does not name")
        found[name.replace("_", "-")] = _page(OPERATIONS[name], "", xo, members)
    found["random"] = _module_page(xo.random)
    found["sparse"] = _module_page(xo.sparse)
    found["constants"] = _page("Constants and names of dtypes", _CONSTANTS, xo, constants)
    found["errors"] = _page("Errors", inspect.getdoc(importlib.import_module("xarrayops.errors")) or "", xo, errors)
    for name in ("plugin", *(f"plugin.{part}" for part in PLUGIN)):
        found[name] = _module_page(importlib.import_module(f"xarrayops.{name}"))
    found["plugin.hooks"] += _hooks()
    found["module-numpy"] = _functions_page([importlib.import_module(f"xarrayops.numpy{part}") for part in NUMPY])
    for name in ("testing", "bench"):
        found[name] = _module_page(importlib.import_module(f"xarrayops.{name}"))
    return found


_CONSTANTS = """\
The dtypes at the top level are the standard's names, as strings: every function takes them for its ``dtype=``, whatever
the library, and ``x.dtype == xo.float32`` holds where the library's dtypes compare with strings (NumPy, CuPy, Dask and
JAX)."""


_NUMPY = "Functions that the standard lacks, under NumPy's names and with NumPy's meaning, on every library."


def _standard(section: str) -> str:
    return f"Functions of the `array API standard 2025.12 <{STANDARD}>`_: {section}. Each links to its specification."


def _module_page(module: ModuleType) -> str:
    """A page on a module, with its docstring and all of its public names."""
    return _page(module.__name__, inspect.getdoc(module) or "", module, public(module))


def _hooks() -> str:
    """Every hook by family: the signature that backends follow, and the contract."""
    lines = []
    for family in hooks.FAMILIES:
        lines += ["", title := (inspect.getdoc(family) or "").partition(".")[0], "-" * len(title), ""]
        for name in (name for name, hook in hooks.HOOKS.items() if hook.__module__ == family.__name__):
            shown = str(hooks.signature(name)).replace("'", "")
            lines += [f".. py:function:: {name}{shown}", "   :no-index:", ""]
            lines += [_indented(inspect.getdoc(hooks.HOOKS[name]) or ""), ""]
    return "\n".join(lines)


def _functions_page(modules: list[ModuleType]) -> str:
    """A page that lists the functions of several modules, each with its signature and its docstring."""
    lines = [title := modules[0].__name__, "=" * len(title), "", inspect.getdoc(modules[0]) or "", ""]
    lines += [f".. currentmodule:: {title}", ""]
    for module in modules:
        lines += [heading := f"Functions of {module.__name__}", "-" * len(heading), ""]
        for name in dir(module):
            value = getattr(module, name)
            if callable(value) and not isinstance(value, (ModuleType, str)) and inspect.getdoc(value):
                lines += [f"``{name}{signature(value)}``", _indented(inspect.getdoc(value) or ""), ""]
    return "\n".join(lines)


def _page(title: str, introduction: str, module: ModuleType, names: list[str]) -> str:
    head = [title, "=" * len(title), "", introduction, "", f".. currentmodule:: {module.__name__}", ""]
    return "\n".join([*head, *(entry(module, name) for name in names)])


def entry(module: ModuleType, name: str) -> str:
    """The directive that documents a public name; links lead to the first of several names for one class."""
    value = getattr(module, name)
    path = f"{module.__name__}.{name}"
    if isinstance(value, type) and not isinstance(value, GenericAlias):
        again = "   :no-index:\n" if module is not FIRST.setdefault(value, module) else ""
        left_out = ", ".join(_fields_without_text(value))
        return f".. autoclass:: {path}\n   :members:\n   :exclude-members: {left_out}\n{again}"
    if isinstance(value, ModuleType):
        functions = (member for member in vars(value).values() if inspect.isfunction(member))
        own = [f for f in functions if f.__module__ == value.__name__ and not f.__name__.startswith("_")]
        described = "\n".join(f".. autofunction:: {module.__name__}::{name}.{f.__name__}\n" for f in own)
        return f".. py:module:: {path}\n\n.. rubric:: {name}\n\n{inspect.getdoc(value)}\n\n{described}"
    if callable(value) and not isinstance(value, (GenericAlias, str)):
        return f".. autofunction:: {path}\n"
    shown = repr(value)
    option = f"   :value: {shown}\n" if len(shown) <= VALUE_SHOWN else ""
    return f".. py:data:: {name}\n   :module: {module.__name__}\n{option}\n{_indented(_constant_doc(module, name))}\n"


def _fields_without_text(cls: type) -> list[str]:
    """The fields of a named tuple that have no string below them; the signature shows them."""
    if not hasattr(cls, "_fields"):
        return []
    (tree,) = ast.parse(inspect.getsource(cls)).body
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    described = {
        statement.target.id
        for statement, following in itertools.pairwise(body)
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and isinstance(following, ast.Expr)
    }
    return [name for name in cls._fields if name not in described]


def _constant_doc(module: ModuleType, name: str) -> str:
    """The string that stands below a constant where it is defined."""
    tree = ast.parse(inspect.getsource(module))
    for statement, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(statement, ast.ImportFrom) and any(alias.name == name for alias in statement.names):
            return _constant_doc(importlib.import_module(str(statement.module)), name)
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            value = following.value if isinstance(following, ast.Expr) else None
            return inspect.cleandoc(str(value.value)) if isinstance(value, ast.Constant) else ""
    return ""


def _indented(text: str) -> str:
    return "".join(f"   {line}\n" if line else "\n" for line in text.splitlines())


def write(app: Any) -> None:
    """Write the pages that are new or have changed, and remove those of families that are gone."""
    FOLDER.mkdir(exist_ok=True)
    found = {f"{name}.rst": text for name, text in pages().items()}
    for name, text in found.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in FOLDER.glob("*.rst"):
        if path.name not in found:
            path.unlink()


def name_specification(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Show the bare address of a specification as a link with a name."""
    for i, line in enumerate(lines):
        if line.startswith(f"<{STANDARD}"):
            lines[i] = f"`Specification {line}`__"


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", write)
    app.connect("autodoc-process-docstring", name_specification)
    return {"parallel_read_safe": True}
