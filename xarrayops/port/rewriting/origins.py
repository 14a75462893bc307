"""Where the value of an expression comes from: a place that makes arrays, a parameter, or the outside."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xarrayops.plugin.arrays import Record
from xarrayops.port.rewriting.written import out_of, target_of
from xarrayops.port.source import Program, indices
from xarrayops.port.source.expressions import IN_PLACE_METHODS
from xarrayops.port.source.numpy_results import ARRAY_ATTRIBUTES, VIEWS
from xarrayops.port.source.values import root


class Label(Record):
    """An origin: "new", "old" (made in an earlier round of a loop), "parameter", "container" or "outside"."""

    kind: str
    what: object = None


Origins = frozenset[Label]
NONE: Origins = frozenset()
OUTSIDE = Label("outside")
CONTAINER = Label("container")
_METADATA = frozenset(["dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides"])
SHARING = frozenset(
    [
        "broadcast_arrays",
        "meshgrid",
        "split",
        "array_split",
        "hsplit",
        "vsplit",
        "dsplit",
        "unstack",
        "nan_to_num",
        "array",
        "astype",
    ]
)
"""Functions whose result may share memory with their arguments, besides those that always may."""
_ITERATES = frozenset(
    [
        "dict",
        "enumerate",
        "filter",
        "getattr",
        "iter",
        "list",
        "map",
        "max",
        "min",
        "next",
        "reversed",
        "set",
        "sorted",
        "tuple",
        "vars",
        "zip",
    ]
)
_CONTAINERS = frozenset(["append", "appendleft", "add", "extend", "insert", "update", "setdefault", "push", "put"])


class State:
    """What the variables may be at one place of a function."""

    def __init__(self) -> None:
        self.origins: dict[str, Origins] = {}
        self.stale: dict[str, frozenset[ast.AST]] = {}
        """The writes that a variable would not show if they made a new array."""
        self.shared: dict[Label, str] = {}
        """The origins that something else may refer to, with what that is."""

    def copy(self) -> State:
        """Another state with the same content."""
        other = State()
        other.origins, other.stale, other.shared = dict(self.origins), dict(self.stale), dict(self.shared)
        return other

    def joined(self, other: State | None) -> State:
        """What may be after either of two states."""
        both = self.copy()
        if other is not None:
            for name, origins in other.origins.items():
                both.origins[name] = both.origins.get(name, NONE) | origins
            for name, writes in other.stale.items():
                both.stale[name] = both.stale.get(name, frozenset()) | writes
            both.shared = {**other.shared, **self.shared}
        return both

    def same(self, other: State) -> bool:
        """Whether two states are equal."""
        return self.origins == other.origins and self.stale == other.stale and self.shared.keys() == other.shared.keys()

    def age(self, made: Label) -> None:
        """A place makes another array: what it made before is no longer the newest."""
        old = Label("old", made.what)
        for name, origins in self.origins.items():
            if made in origins:
                self.origins[name] = (origins - {made}) | {old}
        if made in self.shared:
            self.shared[old] = self.shared.pop(made)


def joined(states: Iterable[State | None]) -> State | None:
    """What may be after any of the states; None if none is reached."""
    result: State | None = None
    for state in states:
        if state is not None:
            result = state.joined(result)
    return result


class Expressions:
    """The origins of expressions of one function, and what evaluating them does to the state."""

    def __init__(self, program: Program, local: frozenset[str]) -> None:
        self.program = program
        self.local = local
        self.state = State()
        self.blocked: dict[ast.AST, str] = {}
        """By the node of a write, why it cannot make a new array."""
        self.seen: dict[ast.AST, Origins] = {}
        """By the node of a write, the origins of its array."""
        self.written: set[str] = set()
        """The parameters of which elements are written."""
        self.returning: frozenset[str] = frozenset()
        """The parameters that the function returns, so that its callers get a new array in their place."""

    def of(self, node: ast.expr | None) -> Origins:
        """The origins of the value of an expression."""
        if node is None:
            return NONE
        visit = getattr(self, f"_{type(node).__name__}", self._other)
        return visit(node)

    def _other(self, node: ast.AST) -> Origins:
        """Any other expression: its parts are evaluated, and its value is new."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.of(child)
        return NONE

    def made(self, node: ast.AST) -> Origins:
        """A new array, made at this node."""
        label = Label("new", node)
        self.state.age(label)
        return frozenset({label})

    def share(self, origins: Origins, what: str) -> None:
        """Something else refers to these arrays from now on."""
        for label in origins:
            self.state.shared.setdefault(label, what)

    def bind(self, name: str, origins: Origins) -> None:
        """A variable gets a value."""
        self.state.origins[name] = origins
        self.state.stale.pop(name, None)

    def read(self, name: str) -> Origins:
        """A variable is read: writes that it would not show cannot make a new array."""
        for write in self.state.stale.get(name, ()):
            self.blocked.setdefault(write, f"{name} may share its memory and is read later")
        return self.state.origins.get(name, frozenset({OUTSIDE}))

    def write(self, node: ast.AST, base: ast.expr) -> None:
        """Elements of an array are written."""
        self.seen.setdefault(node, NONE)
        if not isinstance(base, ast.Name):
            name = root(base)
            if name is not None:
                self.seen[node] |= self.state.origins.get(name, NONE)
                self._is_written(self.seen[node])
            self.blocked.setdefault(node, "the array is not a variable")
            return
        origins = self.read(base.id)
        self.seen[node] |= origins
        self._is_written(origins)
        reason = self._reason(base.id, origins)
        if reason is not None:
            self.blocked.setdefault(node, reason)
        for name, others in self.state.origins.items():
            if name != base.id and others & origins - {CONTAINER}:
                self.state.stale[name] = self.state.stale.get(name, frozenset()) | {node}

    def _is_written(self, origins: Origins) -> None:
        self.written |= {str(label.what) for label in origins if label.kind == "parameter"}

    def _reason(self, name: str, origins: Origins) -> str | None:
        if name not in self.local:
            return f"{name} belongs to the code around this function"
        parameters = sorted(str(label.what) for label in origins if label.kind == "parameter")
        if parameters and not (parameters == [name] and name in self.returning):
            of = "" if parameters == [name] else f"{name} may share the memory of "
            return f"{of or 'the caller passes '}{parameters[0]}" + ("" if of else ", and sees the change")
        if OUTSIDE in origins:
            return f"{name} may be an array that others refer to"
        if CONTAINER in origins:
            return f"{name} may be a list"
        return next((self.state.shared[label] for label in origins if label in self.state.shared), None)

    def _Name(self, node: ast.Name) -> Origins:
        return self.read(node.id)

    def _NamedExpr(self, node: ast.NamedExpr) -> Origins:
        origins = self.of(node.value)
        self.bind(node.target.id, origins)
        return origins

    def _BinOp(self, node: ast.BinOp) -> Origins:
        operands = self.of(node.left) | self.of(node.right)
        return self.made(node) | (operands if CONTAINER in operands else NONE)

    def _UnaryOp(self, node: ast.UnaryOp) -> Origins:
        self.of(node.operand)
        return self.made(node)

    def _Compare(self, node: ast.Compare) -> Origins:
        self._other(node)
        return self.made(node)

    def _BoolOp(self, node: ast.BoolOp) -> Origins:
        return frozenset().union(*map(self.of, node.values))

    def _IfExp(self, node: ast.IfExp) -> Origins:
        self.of(node.test)
        return self.of(node.body) | self.of(node.orelse)

    def _Subscript(self, node: ast.Subscript) -> Origins:
        base = self.of(node.value)
        self.of(node.slice)
        if self.program.names.numpy_name(node.value) is not None or self._copies(node):
            return self.made(node)
        return base

    def _copies(self, node: ast.Subscript) -> bool:
        """Whether an index surely gives a copy: a scalar, or the elements of a mask or of an array of indices."""
        values = self.program.values
        if values.of(node).ndim == 0 and values.of(node.value).is_array:
            return True
        found = [(part, values.of(part)) for part in indices.parts(node.slice)]
        return values.of(node.value).is_array and any(
            isinstance(part, ast.List)
            or (v.is_array and (v.dtype_kind == "bool" or (v.dtype_kind == "int" and v.ndim)))
            for part, v in found
        )

    def _Attribute(self, node: ast.Attribute) -> Origins:
        if self.program.names.resolve(node) is not None or node.attr in _METADATA:
            self.of(node.value)
            return NONE
        base = self.of(node.value)
        return base if node.attr in ARRAY_ATTRIBUTES else base | {OUTSIDE}

    def _Tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Origins:
        return frozenset({CONTAINER}).union(*map(self.of, node.elts))

    _List = _Set = _Tuple

    def _Dict(self, node: ast.Dict) -> Origins:
        return frozenset({CONTAINER}).union(*map(self.of, [*node.keys, *node.values]))

    def _Starred(self, node: ast.Starred) -> Origins:
        return self.of(node.value)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Origins:
        kept = dict(self.state.origins)
        targets = set()
        for generator in node.generators:
            origins = self.of(generator.iter)
            for each in ast.walk(generator.target):
                if isinstance(each, ast.Name):
                    self.bind(each.id, origins)
                    targets.add(each.id)
            for test in generator.ifs:
                self.of(test)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        result = frozenset({CONTAINER}).union(*map(self.of, parts))
        for name in targets:
            self.state.origins.pop(name, None)
            if name in kept:
                self.state.origins[name] = kept[name]
        return result

    _ListComp = _SetComp = _GeneratorExp = _DictComp = _comprehension

    def _Lambda(self, node: ast.Lambda) -> Origins:
        return frozenset({OUTSIDE})

    def _Yield(self, node: ast.Yield | ast.YieldFrom | ast.Await) -> Origins:
        self.share(self.of(node.value), "the caller gets it before the change")
        return frozenset({OUTSIDE})

    _YieldFrom = _Await = _Yield

    def _Call(self, node: ast.Call) -> Origins:
        values = [self.of(argument) for argument in node.args]
        keywords = {keyword.arg: self.of(keyword.value) for keyword in node.keywords}
        together: Origins = frozenset().union(*values, *keywords.values())
        name = self.program.names.resolve(node.func)
        target = target_of(node, self.program.names.numpy_name)
        if target is not None:
            self.write(node, target)
        if name is None:
            return self._call_of_value(node, values, together)
        if name.startswith("builtins."):
            return together | {CONTAINER} if name.removeprefix("builtins.") in _ITERATES else NONE
        numpy_name = self.program.names.function_name(node.func)
        if name == "xarrayops.at":
            return values[0] if values else NONE
        if numpy_name is None:
            if name.startswith(("math.", "cmath.")):
                return NONE
            if name.startswith("xarrayops."):
                return together | self.made(node)
            self.share(together, f"{name} gets it")
            return together | {OUTSIDE}
        return self._made_by(node, numpy_name, together)

    def _made_by(self, node: ast.Call, name: str, arguments: Origins) -> Origins:
        """The result of a function of NumPy or of a method of its arrays."""
        out = out_of(node, None)
        if name in VIEWS or name in SHARING or name.startswith("lib.stride_tricks"):
            copies = {k.arg: k.value for k in node.keywords}.get("copy")
            if name in ("array", "astype", "nan_to_num") and (
                copies is None or (isinstance(copies, ast.Constant) and copies.value is True)
            ):
                return self.made(node)
            return self.made(node) | arguments
        return self.of(out) if out is not None else self.made(node)

    def _call_of_value(self, node: ast.Call, values: list[Origins], together: Origins) -> Origins:
        """The call of a method, of a function of this program, or of anything else."""
        if not isinstance(node.func, ast.Attribute):
            self.of(node.func)
            return self.call_function(node, values, together)
        chain = node.func.value
        at = chain.value if isinstance(chain, ast.Subscript) else None
        if isinstance(at, ast.Call) and self.program.names.resolve(at.func) == "xarrayops.at":
            origins = self.of(at)
            return self.made(node) if node.func.attr == "get" else origins
        base = self.of(chain)
        method = node.func.attr
        is_array = self.program.values.of(chain).is_array
        if is_array and method in IN_PLACE_METHODS:
            self.write(node, chain)
            return NONE
        if is_array:
            return self._made_by(node, method, base)
        if method in _CONTAINERS or CONTAINER in base:
            self.share(together, "a container holds it")
            return base
        if self.program.values.of(node).fresh:
            return self.made(node)
        self.share(together, f"the method {method} gets it")
        return base | together | {OUTSIDE}

    def call_function(self, node: ast.Call, values: list[Origins], together: Origins) -> Origins:
        """The call of a function of this program."""
        raise NotImplementedError
