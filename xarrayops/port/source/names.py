# Long: one visitor with a method for each kind of node that binds names, and what is asked of calls and names.
"""Which names of a program mean a function of NumPy, of another library or of Python."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import TypeVar

import numpy

from xarrayops._core.numpy_names.renamed import RENAMED
from xarrayops.plugin.arrays import Record
from xarrayops.port.source.value import words

_THEIRS = {
    ours: theirs
    for theirs, ours in reversed(RENAMED.items())
    if hasattr(numpy, theirs) and getattr(numpy, ours, getattr(numpy, theirs)) is getattr(numpy, theirs)
} | {"cumulative_prod": "cumprod", "cumulative_sum": "cumsum", "linalg.matrix_transpose": "matrix_transpose"}
"""The established NumPy name for each of our names that NumPy lacks or has as an alias."""
IN_PLACE_FUNCTIONS = words("copyto fill_diagonal place put put_along_axis putmask random.shuffle")
"""NumPy's functions that change their first argument, besides ``np.add.at`` and so on."""
NUMPY = ("numpy", "xarrayops.numpy")
"""The modules with NumPy's names."""
FOR_ALL = ("numpy", "xarrayops", "array_api_compat", "array_api_extra")
"""The packages whose functions take arrays of every library."""
OTHER_ARRAYS = words(
    "awkward cudf cupy dask jax numpy.ma pandas pint polars scipy.sparse sparse statsmodels sympy tensorflow torch "
    "xarray"
)
"""Packages whose objects have the same methods as arrays."""
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
T = TypeVar("T")
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Binding(Record):
    """What binds a name: the dotted name of an import, another expression, or neither for all other bindings."""

    imported: str | None = None
    value: ast.expr | None = None


class Scope:
    """A module, class, function or comprehension: the bindings of its names."""

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.elsewhere: dict[str, Scope | None] = {}
        """The names that ``global`` and ``nonlocal`` bind in another scope."""
        self.captured: set[str] = set()
        """The variables that functions and classes in this scope use."""

    def of_function(self) -> Scope:
        """The scope itself, or the function, class or module around a comprehension."""
        scope = self
        while isinstance(scope.node, Comprehension) and scope.parent is not None:
            scope = scope.parent
        return scope

    def owner(self, name: str) -> Scope | None:
        """The scope that binds a name that is used here; None for builtins and unknown names."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.elsewhere:
                return scope.elsewhere[name]
            if name in scope.bindings and (scope is self or not isinstance(scope.node, ast.ClassDef)):
                return scope
            scope = scope.parent
        return None


class Names:
    """The meaning of the names of a program.

    A name that is bound in several ways has the meaning that all of them share, otherwise none; imports of
    ``try ... except ImportError`` count as the first of them.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(tree, None)
        self.packages: set[str] = set()
        """The packages that the program imports, and their modules."""
        self.stars: list[tuple[str, ast.ImportFrom]] = []
        """The modules with a star import, and the statements."""
        self.attributes: dict[str, list[ast.expr]] = {}
        """What the program assigns to attributes such as ``self.x``."""
        self._scopes: dict[ast.Name, Scope] = {}
        self._inner: dict[ast.AST, Scope] = {}
        self._resolving: set[tuple[int, str]] = set()
        self._visited: set[ast.AST] = set()
        for statement in tree.body:
            self._visit(statement, self.module)
        is_last = bool(self.stars) and self.stars[-1][0] in NUMPY  # a later one may have bound the names again
        self._star_names = frozenset(numpy.__all__ if is_last else ())
        self._has_builtins = all(module in NUMPY for module, _ in self.stars)
        for name, scope in self._scopes.items():
            owner = scope.owner(name.id)
            if owner is not None and owner is not scope.of_function():
                owner.captured.add(name.id)
        self.functions = {
            node.name: node
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and len(self.module.bindings[node.name]) == 1
        }
        """The functions that the module defines once, by name."""

    def scope_of(self, node: ast.Name) -> Scope:
        """The scope in which a name is used."""
        return self._scopes.get(node, self.module)

    def bound_to(self, node: ast.Name) -> list[ast.expr | None]:
        """The expressions that a variable is bound to, with None for each other binding."""
        owner = self.scope_of(node).owner(node.id)
        return [] if owner is None else [each.value for each in owner.bindings.get(node.id, ())]

    def inside(self, node: FunctionNode | ast.Module) -> Scope:
        """The scope of the variables of a function or of the module."""
        return self._inner.get(node, self.module)

    def resolve(self, node: ast.AST) -> str | None:
        """The dotted name that an expression means: ``numpy.linalg.norm``, ``scipy.fft.dct``, ``builtins.float``.

        None for variables and for all other expressions.
        """
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            return None if owner is None or owner.startswith("builtins.") else f"{owner}.{node.attr}"
        return self._meaning(node.id, self.scope_of(node).owner(node.id)) if isinstance(node, ast.Name) else None

    def numpy_name(self, node: ast.AST) -> str | None:
        """The NumPy name of an expression, without ``numpy.``, such as ``linalg.norm``; None for other expressions."""
        return of_numpy(self.resolve(node))

    def function_name(self, node: ast.AST) -> str | None:
        """The NumPy name of a NumPy function or of ours: "concatenate" for ``xo.concat``; None for others."""
        return numpy_name_of(self.resolve(node))

    def function(self, call: ast.Call) -> ast.FunctionDef | None:
        """The function of the module that is called; None for other calls."""
        name = call.func
        if isinstance(name, ast.Name) and self.scope_of(name).owner(name.id) is self.module:
            return self.functions.get(name.id)
        return None

    def choices(self, node: ast.AST) -> list[str]:
        """The functions of NumPy that a variable may be, if it is certainly one of them, and none works in place."""
        owner = self.scope_of(node).owner(node.id) if isinstance(node, ast.Name) else None
        if owner is None or not isinstance(node, ast.Name):
            return []
        pending, found = [binding.value for binding in owner.bindings.get(node.id, ())], set()
        while pending:
            value = pending.pop()
            if isinstance(value, ast.IfExp):
                pending += [value.body, value.orelse]
                continue
            name = None if value is None else self.numpy_name(value)
            if name is None or name in IN_PLACE_FUNCTIONS or name.endswith(".at") or name.startswith("random."):
                return []
            found.add(name)
        return sorted(found)

    def updated(self, node: ast.AST) -> ast.Call | None:
        """The call ``xo.at(x)`` of ``xo.at(x)[i].set(v)`` or another method of it; None for all other expressions."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Subscript(value=ast.Call(args=[_]) as at))):
                return at if self.resolve(at.func) == "xarrayops.at" else None
        return None

    def _meaning(self, name: str, owner: Scope | None) -> str | None:
        if owner is None:
            if name in self._star_names:
                return f"numpy.{name}"
            return f"builtins.{name}" if self._has_builtins and hasattr(builtins, name) else None
        key = (id(owner), name)
        if key in self._resolving:
            return None
        self._resolving.add(key)
        meanings = {self._of(binding) for binding in owner.bindings[name]}
        self._resolving.remove(key)
        if len(meanings) > 1 and all(binding.imported for binding in owner.bindings[name]):
            return owner.bindings[name][0].imported
        return meanings.pop() if len(meanings) == 1 else None

    def _of(self, binding: Binding) -> str | None:
        return self.resolve(binding.value) if binding.value is not None else binding.imported

    def _bind(self, name: str, scope: Scope, binding: Binding) -> None:
        target = scope.elsewhere.get(name, scope)
        if target is not None:
            target.bindings.setdefault(name, []).append(binding)

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        if node not in self._visited:
            visit = getattr(self, f"_visit_{type(node).__name__}", self._visit_children)
            visit(node, scope)

    def _visit_children(self, node: ast.AST, scope: Scope) -> None:
        """The parts of a node; handlers of exceptions and patterns have names as plain text."""
        for name in plain_names(node):
            self._bind(name, scope, Binding())
        for child in ast.iter_child_nodes(node):
            self._visit(child, scope)

    def _visit_Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            self.packages |= {root, alias.name}
            self._bind(alias.asname or root, scope, Binding(alias.name if alias.asname else root))

    def _visit_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = "." * node.level + (node.module or "")
        start = module if module.endswith(".") else f"{module}."
        self.packages |= {module.partition(".")[0], module, *(f"{start}{alias.name}" for alias in node.names)}
        for alias in node.names:
            if alias.name == "*":
                self.stars.append((module, node))
            else:
                self._bind(alias.asname or alias.name, scope, Binding(f"{start}{alias.name}"))

    def _visit_Attribute(self, node: ast.Attribute, scope: Scope) -> None:
        if node.attr == "ma" and isinstance(node.value, ast.Name):
            self.packages.add("numpy.ma")
        self._visit(node.value, scope)

    def _visit_Name(self, node: ast.Name, scope: Scope) -> None:
        self._scopes[node] = scope
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id, scope, Binding())

    def _visit_Assign(self, node: ast.Assign, scope: Scope) -> None:
        self._visit(node.value, scope)
        for target in node.targets:
            if isinstance(target, ast.Name):  # other targets bind unknown values
                self._scopes[target] = scope
                self._bind(target.id, scope, Binding(value=node.value))
            else:
                self._visit(target, scope)
            if isinstance(target, ast.Attribute):
                self.attributes.setdefault(ast.unparse(target), []).append(node.value)

    def _visit_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> None:
        self._visit(node.value, scope)
        self._scopes[node.target] = scope.of_function()
        self._bind(node.target.id, scope.of_function(), Binding(value=node.value))

    def _visit_Global(self, node: ast.Global, scope: Scope) -> None:
        scope.elsewhere |= dict.fromkeys(node.names, self.module)
        for name in node.names:
            self.module.bindings.setdefault(name, [])

    def _visit_Nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            scope.elsewhere[name] = None if scope.parent is None else scope.parent.owner(name)

    def _visit_scope(self, node: FunctionNode | ast.ClassDef | Comprehension, scope: Scope) -> None:
        """A function, class or comprehension; some of its parts belong to the scope around it."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._bind(node.name, scope, Binding())
        inner = Scope(node, scope)
        if isinstance(node, FunctionNode):
            self._inner[node] = inner
            for argument in arguments(node):
                self._bind(argument.arg, inner, Binding())
        for outside in evaluated_outside(node):
            if outside is not None:
                self._visit(outside, scope)
                self._visited.add(outside)
        for child in ast.iter_child_nodes(node):
            self._visit(child, inner)

    _visit_FunctionDef = _visit_AsyncFunctionDef = _visit_Lambda = _visit_ClassDef = _visit_scope
    _visit_ListComp = _visit_SetComp = _visit_GeneratorExp = _visit_DictComp = _visit_scope


def evaluated_outside(node: FunctionNode | ast.ClassDef | Comprehension) -> Sequence[ast.expr | ast.keyword | None]:
    """The parts that belong to the scope around it: decorators, defaults and annotations, or the first iterable."""
    if isinstance(node, Comprehension):
        return [node.generators[0].iter]
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    found = [*node.args.defaults, *node.args.kw_defaults, *(each.annotation for each in arguments(node))]
    return found if isinstance(node, ast.Lambda) else [*node.decorator_list, node.returns, *found]


def plain_names(node: ast.AST) -> list[str]:
    """The names that a handler of exceptions or a pattern binds, which are plain text in the tree."""
    return [name for name in (getattr(node, "name", None), getattr(node, "rest", None)) if isinstance(name, str)]


def last_name(node: ast.AST | None) -> str:
    """The last name of a variable or an attribute: of ``np.ndarray`` it is "ndarray"; empty for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def arguments(node: FunctionNode) -> list[ast.arg]:
    """All parameters of a function, with ``*args`` and ``**kwargs``."""
    args = node.args
    special = [each for each in (args.vararg, args.kwarg) if each is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *special]


def given_to(function: FunctionNode, args: Iterable[T], keywords: Mapping[str | None, T]) -> dict[str, T]:
    """The arguments of a call by parameter name, without unpacked ones."""
    positional = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    return dict(zip(positional, args, strict=False)) | {name: each for name, each in keywords.items() if name}


def given_by(function: FunctionNode, call: ast.Call) -> dict[str, ast.expr]:
    """The expressions of the arguments of a call, in the same way."""
    return given_to(function, call.args, {each.arg: each.value for each in call.keywords})


def call_arguments(node: ast.Call) -> list[ast.expr]:
    """The expressions of the arguments of a call, those by keyword last."""
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def has_starred(nodes: Iterable[ast.expr | None]) -> bool:
    """Whether one of the expressions is unpacked, as in ``f(*x)``."""
    return any(isinstance(each, ast.Starred) for each in nodes)


def is_unpacked(call: ast.Call) -> bool:
    """Whether a call unpacks arguments by ``*`` or ``**``."""
    return has_starred(call.args) or any(keyword.arg is None for keyword in call.keywords)


def is_none(node: ast.AST | None) -> bool:
    """Whether an expression is the literal None."""
    return isinstance(node, ast.Constant) and node.value is None


def is_foreign(name: str) -> bool:
    """Whether a dotted name is outside of the standard library, NumPy and packages that accept every library."""
    package = name.partition(".")[0]
    return bool(package) and package not in sys.stdlib_module_names and package not in (*FOR_ALL, "builtins")


def _of_ours(name: str | None) -> str | None:
    """NumPy's name for one of our functions or constants; None for those that NumPy lacks."""
    if name is None or not name.startswith("xarrayops."):
        return None
    ours = name.removeprefix("xarrayops.")
    known = _THEIRS.get(ours, ours)
    with suppress(AttributeError):
        return known if attrgetter(known)(numpy) is not None and known.partition(".")[0] != "random" else None
    return None


def numpy_name_of(name: str | None) -> str | None:
    """NumPy's name of a function of NumPy, or of one of ours with the same meaning; None for others."""
    return of_numpy(name) or _of_ours(name)


def of_numpy(name: str | None) -> str | None:
    """NumPy's name without the module: of ``numpy.linalg.norm`` it is ``linalg.norm``; None for other modules."""
    modules = (f"{module}." for module in NUMPY)
    return next((name.removeprefix(each) for each in modules if name.startswith(each)), None) if name else None
