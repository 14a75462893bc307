"""Which names of a program mean a function of NumPy, of another library or of Python."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator

import numpy

from xarrayops._core.numpy_names.renamed import RENAMED
from xarrayops.plugin.arrays import Record

_THEIRS = {
    ours: theirs
    for theirs, ours in reversed(RENAMED.items())
    if hasattr(numpy, theirs) and getattr(numpy, ours, getattr(numpy, theirs)) is getattr(numpy, theirs)
} | {"cumulative_prod": "cumprod", "cumulative_sum": "cumsum", "linalg.matrix_transpose": "matrix_transpose"}
"""NumPy's name of long standing for each of our names that NumPy lacks, or has as another name of the same function."""
NUMPY = ("numpy", "xarrayops.numpy")
"""The modules with NumPy's names."""
FOR_ALL = ("numpy", "xarrayops", "array_api_compat", "array_api_extra")
"""The packages whose functions take arrays of every library."""
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


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
        self.stars: list[tuple[str, ast.ImportFrom]] = []
        """The modules of which all names are imported, with the statements."""
        self._scopes: dict[ast.AST, Scope] = {}
        self._inner: dict[FunctionNode, Scope] = {}
        self._resolving: set[tuple[int, str]] = set()
        for statement in tree.body:
            self._visit(statement, self.module)
        self._star_names = frozenset(self._names_of_stars())

    def scope_of(self, node: ast.Name) -> Scope:
        """The scope in which a name is used."""
        return self._scopes.get(node, self.module)

    def binds(self, function: FunctionNode, name: str) -> bool:
        """Whether a name is a variable of a function itself."""
        return name in self._inner[function].bindings

    def resolve(self, node: ast.AST) -> str | None:
        """The dotted name that an expression means: ``numpy.linalg.norm``, ``scipy.fft.dct``, ``builtins.float``.

        None for variables and for all other expressions.
        """
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            return None if owner is None or owner.startswith("builtins.") else f"{owner}.{node.attr}"
        if not isinstance(node, ast.Name):
            return None
        scope = self._scopes.get(node, self.module)
        return self._meaning(node.id, scope.owner(node.id))

    def numpy_name(self, node: ast.AST) -> str | None:
        """NumPy's name that an expression means, without ``numpy.``: ``linalg.norm``; None for all others."""
        return of_numpy(self.resolve(node))

    def function_name(self, node: ast.AST) -> str | None:
        """NumPy's name of a function of NumPy or of ours: "concatenate" for ``xo.concat``; None for all others."""
        name = self.resolve(node)
        return of_numpy(name) or _of_ours(name)

    def _meaning(self, name: str, owner: Scope | None) -> str | None:
        if owner is None:
            if name in self._star_names:
                return f"numpy.{name}"
            return f"builtins.{name}" if hasattr(builtins, name) and not self._unknown_star() else None
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

    def _unknown_star(self) -> bool:
        return any(module not in NUMPY for module, _ in self.stars)

    def _names_of_stars(self) -> Iterator[str]:
        """The names that ``from numpy import *`` binds, unless a later star import may have bound them again."""
        if self.stars and self.stars[-1][0] in NUMPY:
            yield from numpy.__all__

    def _bind(self, name: str, scope: Scope, binding: Binding) -> None:
        target = scope.elsewhere.get(name, scope)
        if target is not None:
            target.bindings.setdefault(name, []).append(binding)

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        visit = getattr(self, f"_visit_{type(node).__name__}", self._visit_children)
        visit(node, scope)

    def _visit_children(self, node: ast.AST, scope: Scope) -> None:
        for child in ast.iter_child_nodes(node):
            self._visit(child, scope)

    def _visit_Import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            self._bind(alias.asname or root, scope, Binding(alias.name if alias.asname else root))

    def _visit_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.stars.append((module, node))
            else:
                self._bind(alias.asname or alias.name, scope, Binding(f"{module}.{alias.name}"))

    def _visit_Name(self, node: ast.Name, scope: Scope) -> None:
        self._scopes[node] = scope
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id, scope, Binding())

    def _visit_Assign(self, node: ast.Assign, scope: Scope) -> None:
        self._visit(node.value, scope)
        for target in node.targets:
            if isinstance(target, ast.Name):  # other targets bind what nobody knows
                self._scopes[target] = scope
                self._bind(target.id, scope, Binding(value=node.value))
            else:
                self._visit(target, scope)

    def _visit_NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> None:
        self._visit(node.value, scope)
        while isinstance(scope.node, _COMPREHENSIONS) and scope.parent is not None:
            scope = scope.parent
        self._visit_Name(node.target, scope)

    def _visit_Global(self, node: ast.Global, scope: Scope) -> None:
        scope.elsewhere |= dict.fromkeys(node.names, self.module)
        for name in node.names:
            self.module.bindings.setdefault(name, [])

    def _visit_Nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            scope.elsewhere[name] = None if scope.parent is None else scope.parent.owner(name)

    def _visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self._bind(node.name, scope, Binding())
        for outside in (*node.decorator_list, node.returns):
            if outside is not None:
                self._visit(outside, scope)
        self._enter(node, scope)

    _visit_AsyncFunctionDef = _visit_FunctionDef

    def _visit_Lambda(self, node: ast.Lambda, scope: Scope) -> None:
        self._enter(node, scope)

    def _enter(self, node: FunctionNode, scope: Scope) -> None:
        """A function: its defaults and annotations belong to the scope around it."""
        inner = self._inner[node] = Scope(node, scope)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self._visit(default, scope)
        for argument in arguments(node):
            self._bind(argument.arg, inner, Binding())
            if argument.annotation is not None:
                self._visit(argument.annotation, scope)
        for statement in node.body if isinstance(node.body, list) else [node.body]:
            self._visit(statement, inner)

    def _visit_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:
        self._bind(node.name, scope, Binding())
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self._visit(outside, scope)
        inner = Scope(node, scope)
        for statement in node.body:
            self._visit(statement, inner)

    def _visit_comprehension_of(self, node: ast.ListComp | ast.DictComp, scope: Scope) -> None:
        """A comprehension: only the first iterable belongs to the scope around it."""
        inner = Scope(node, scope)
        for i, generator in enumerate(node.generators):
            self._visit(generator.iter, inner if i else scope)
            self._visit(generator.target, inner)
            for condition in generator.ifs:
                self._visit(condition, inner)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self._visit(part, inner)

    _visit_ListComp = _visit_SetComp = _visit_GeneratorExp = _visit_DictComp = _visit_comprehension_of

    def _visit_ExceptHandler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            self._bind(node.name, scope, Binding())
        self._visit_children(node, scope)

    def _visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
        if node.name:
            self._bind(node.name, scope, Binding())
        self._visit_children(node, scope)

    _visit_MatchStar = _visit_MatchAs


def arguments(node: FunctionNode) -> list[ast.arg]:
    """All parameters of a function, with ``*args`` and ``**kwargs``."""
    args = node.args
    special = [each for each in (args.vararg, args.kwarg) if each is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *special]


def is_foreign(name: str) -> bool:
    """Whether a dotted name belongs to another package than Python's own, NumPy and those for all libraries."""
    package = name.partition(".")[0]
    return bool(package) and package not in sys.stdlib_module_names and package not in (*FOR_ALL, "builtins")


def _of_ours(name: str | None) -> str | None:
    """NumPy's name for one of our functions or constants; None for those that NumPy lacks."""
    if name is None or not name.startswith("xarrayops."):
        return None
    ours = name.removeprefix("xarrayops.")
    known = _THEIRS.get(ours, ours)
    owner: object = numpy
    for part in known.split("."):
        owner = getattr(owner, part, None)
    return None if owner is None or known.partition(".")[0] == "random" else known


def of_numpy(name: str | None) -> str | None:
    """NumPy's name without the module: of ``numpy.linalg.norm`` it is ``linalg.norm``; None for other modules."""
    for module in NUMPY:
        if name is not None and name.startswith(f"{module}."):
            return name[len(module) + 1 :]
    return None
