"""Where the arrays of a program come from, and which writes must therefore stay in place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from xarrayops.port.source import indices
from xarrayops.port.source.interface import IN_PLACE_METHODS, out_of
from xarrayops.port.source.names import Scope, has_starred
from xarrayops.port.source.numpy_results import ARRAY_ATTRIBUTES, VIEWS
from xarrayops.port.source.origin import CONTAINER, NONE, OUTSIDE, Label, Origins, State, parameters_in
from xarrayops.port.source.value import SCALAR, words
from xarrayops.port.source.values import Values, root
from xarrayops.port.source.walk import Called, Walker

_METADATA = words("dtype itemsize nbytes ndim shape size strides")
SHARING = words("broadcast_arrays meshgrid split array_split hsplit vsplit dsplit unstack nan_to_num array astype")
"""Functions whose result may share memory with their arguments, besides those that always may."""
_OF_ALL = words("atleast_1d atleast_2d atleast_3d broadcast_arrays meshgrid")
"""Functions whose result may share memory with any argument."""
_ITERATES = words("dict enumerate filter getattr iter list map max min next reversed set sorted tuple vars zip")
_CONTAINERS = words("append appendleft add extend insert update setdefault push put")


class OriginWalker(Walker[Origins, State]):
    """The origins of the variables of one function, and what its statements do to them."""

    unknown = frozenset({OUTSIDE})

    def __init__(self, values: Values, scope: Scope) -> None:
        super().__init__(values.names, State())
        self.values = values
        self.scope = scope
        self.blocked: dict[ast.AST, str] = {}
        """For each write, why it cannot make a new array."""
        self.seen: dict[ast.AST, Origins] = {}
        """For each write, the origins of its array."""
        self.written: set[str] = set()
        """The parameters whose elements are written."""
        self.shared: set[str] = set()
        """The parameters that something else may refer to."""
        self.results: Origins = NONE
        """What the function returns."""
        self.returning: frozenset[str] = frozenset()
        """The parameters that the function returns, so that its callers get the new array."""

    def either(self, values: Iterable[Origins]) -> Origins:
        """A value that is one of several."""
        return NONE.union(*values)

    def made(self, node: ast.AST) -> Origins:
        """A new array, made at this node."""
        label = Label("new", node)
        self.state.age(label)
        return frozenset({label})

    def share(self, origins: Origins, what: str) -> None:
        """Something else refers to these arrays from now on."""
        for label in origins:
            self.state.shared.setdefault(label, what)
        self.shared |= parameters_in(origins)

    def bind(self, name: str, value: Origins) -> None:
        """A variable gets a value."""
        self.state.origins[name] = value
        self.state.stale.pop(name, None)

    def read(self, name: str) -> Origins:
        """A variable is read: writes that it would miss cannot make a new array."""
        for write in self.state.stale.get(name, ()):
            self.blocked.setdefault(write, f"{name} may share its memory and is read later")
        return self.state.origins.get(name, self.unknown)

    def write(self, place: ast.AST, base: ast.expr) -> None:
        """Elements of an array are written."""
        if isinstance(base, ast.Name):
            origins = self.read(base.id)
            reason = self._reason(base.id, origins)
        else:
            origins = self.state.origins.get(root(base) or "", NONE)
            reason = "the array is not a variable"
        self.seen[place] = self.seen.get(place, NONE) | origins
        self.written |= parameters_in(origins)
        if reason is not None:
            self.blocked.setdefault(place, reason)
        if not isinstance(base, ast.Name):
            return
        for name, others in self.state.origins.items():
            if name != base.id and others & origins - {CONTAINER}:
                self.state.stale[name] = self.state.stale.get(name, frozenset()) | {place}

    def _reason(self, name: str, origins: Origins) -> str | None:
        """Why a write into a variable cannot make a new array."""
        if name not in self.scope.bindings:
            return f"{name} belongs to the code around this function"
        parameters = sorted(parameters_in(origins))
        if parameters == [name] and name not in self.returning:
            return f"the caller passes {name}, and sees the change"
        if parameters and parameters != [name]:
            return f"{name} may share the memory of {parameters[0]}"
        if OUTSIDE in origins:
            return f"{name} may be an array that others refer to"
        if CONTAINER in origins:
            return f"{name} may be a list"
        shared = next((what for label, what in self.state.shared.items() if label in origins), None)
        return f"an inner function uses {name}" if shared is None and name in self.scope.captured else shared

    # Statements.

    def members(self, value: Origins, target: ast.Tuple | ast.List, source: ast.expr | None) -> Sequence[Origins]:
        """The parts of a literal tuple; a grid makes new arrays, and a scan makes its second result."""
        if isinstance(source, ast.Subscript) and self.names.numpy_name(source.value) in ("mgrid", "ogrid"):
            return [self.made(each) for each in target.elts]
        function = self.names.resolve(source.func) if isinstance(source, ast.Call) else None
        if function == "xarrayops.scan" and len(target.elts) == 2:
            return [value, self.made(target.elts[1])]
        parts = source.elts if isinstance(source, ast.Tuple | ast.List) else []
        if len(parts) == len(target.elts) and not has_starred(parts):
            return [self.of(each) for each in parts]
        return [value] * len(target.elts)

    def entered(self, value: Origins) -> Origins:
        """A value from outside the function."""
        return value | self.unknown

    def returned(self, value: Origins) -> None:
        """The function returns a value."""
        self.results |= value

    def store(self, target: ast.Subscript, value: Origins, place: ast.AST) -> None:
        """Elements of an array are written, or a container gets a member."""
        if not self.values.of(target.value).is_array:
            self.share(value, "a container may hold it")
        self.write(place, target.value)

    def set_attribute(self, target: ast.Attribute, value: Origins) -> None:
        """An object refers to the value."""
        self.share(value, "an attribute refers to it")

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """The body of an inner function is a separate walk."""
        self.bind(node.name, NONE)

    def gave_up(self, body: Sequence[ast.stmt]) -> None:
        """No write is safe in a loop whose state does not converge."""
        for statement in body:
            for node in ast.walk(statement):
                self.blocked.setdefault(node, "the loop is too long to follow")

    def _AugAssign(self, node: ast.AugAssign) -> None:
        origins = self.of(node.value)
        target = node.target
        if isinstance(target, ast.Subscript):
            self.assign(target, NONE, node)
            return
        old = self.of(target)
        known = self.values.of(target)
        if isinstance(target, ast.Name) and known.kind == SCALAR:
            self.bind(target.id, NONE)
            return
        self.write(node, target)
        if isinstance(target, ast.Name):
            is_list = CONTAINER in old or any(label.kind not in ("new", "old") for label in old)
            if not known.is_array:  # a number plus an array is a new array
                origins = origins if is_list else self.made(node)
            self.state.origins[target.id] = old if known.is_array else old | origins

    def _For(self, node: ast.For | ast.AsyncFor) -> None:
        """The iterator refers to the array until the loop ends."""
        iterator = f"the loop for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
        while iterator in self.state.origins:
            iterator += " inside it"
        self.bind(iterator, self.of(node.iter))
        self.loop(node, lambda: self.read(iterator), lambda: self.assign(node.target, self.read(iterator), node))
        self.state.origins.pop(iterator, None)
        self.state.stale.pop(iterator, None)

    # Expressions.

    def _Name(self, node: ast.Name) -> Origins:
        origins = self.read(node.id)
        return NONE if self.values.of(node).kind == SCALAR else origins

    def _BinOp(self, node: ast.BinOp) -> Origins:
        operands = self.of(node.left) | self.of(node.right)
        is_list = CONTAINER in operands and isinstance(node.op, ast.Add | ast.Mult)
        is_list &= not self.values.of(node).is_array
        return self.made(node) | (operands if is_list else NONE)

    def _Compare(self, node: ast.Compare | ast.UnaryOp) -> Origins:
        self._others(node)
        return self.made(node)

    _UnaryOp = _Compare

    def _Subscript(self, node: ast.Subscript) -> Origins:
        base = self.of(node.value)
        self.of(node.slice)
        if self.names.numpy_name(node.value) is not None or self._copies(node):
            return self.made(node)
        return base

    def _copies(self, node: ast.Subscript) -> bool:
        """Whether an index certainly gives a copy: a scalar, a mask or an array of indices."""
        values = self.values
        parts = indices.parts(node.slice)
        arrays = [value for value in map(values.of, parts) if value.is_array]
        is_mask = any(value.dtype_kind == "bool" for value in arrays)
        is_list = any(isinstance(part, ast.List) for part in parts)
        is_copy = is_mask or is_list or any(value.dtype_kind == "int" and value.ndim for value in arrays)
        return values.of(node.value).is_array and (is_copy or values.of(node).ndim == 0)

    def _Attribute(self, node: ast.Attribute) -> Origins:
        base = self.of(node.value)
        if self.names.resolve(node) is not None or node.attr in _METADATA:
            return NONE
        return base if node.attr in ARRAY_ATTRIBUTES else base | self.unknown

    def gathered(self, node: ast.expr, parts: Sequence[Origins]) -> Origins:
        """A container may hold any of its parts."""
        return self.either(parts) | {CONTAINER}

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Origins:
        """Its variables do not exist afterwards; its effects on other variables stay."""
        kept = dict(self.state.origins)
        parts = self.comprehend(node)
        names = {name.id for each in node.generators for name in ast.walk(each.target) if isinstance(name, ast.Name)}
        self.state.origins = {name: each for name, each in self.state.origins.items() if name not in names}
        self.state.origins |= {name: each for name, each in kept.items() if name in names}
        return self.gathered(node, parts)

    _ListComp = _SetComp = _GeneratorExp = _DictComp = _comprehension

    def _Lambda(self, node: ast.Lambda) -> Origins:
        return self.unknown

    def _Yield(self, node: ast.Yield | ast.YieldFrom | ast.Await) -> Origins:
        self.share(self.of(node.value), "the caller gets it before the change")
        return self.unknown

    _YieldFrom = _Await = _Yield

    def call(self, call: Called[Origins]) -> Origins:
        """A call: what it keeps and what it returns."""
        node, name, _, values, _ = call
        together = self.either(call.arguments)
        if name is None:
            chosen = self.names.choices(node.func)
            return self.either([self._made_by(node, each, together) for each in chosen] or [self._call_of_value(call)])
        if name.startswith("builtins."):
            return together | {CONTAINER} if name.removeprefix("builtins.") in _ITERATES else NONE
        if name == "xarrayops.at":
            return values[0] if values else NONE
        if (numpy_name := self.names.function_name(node.func)) is not None:
            is_of_first = values and numpy_name not in _OF_ALL  # the dtype of astype is not an array
            return self._made_by(node, numpy_name, values[0] if is_of_first else together)
        if name.startswith(("math.", "cmath.")):
            return NONE
        if name.startswith("xarrayops."):
            return together | self.made(node)
        self.share(together, f"{name} gets it")
        return together | self.unknown

    def _made_by(self, node: ast.Call, name: str, arguments: Origins) -> Origins:
        """The result of a function of NumPy or of a method of its arrays."""
        out = out_of(node, None)
        if name not in VIEWS | SHARING and not name.startswith("lib.stride_tricks"):
            return self.of(out) if out is not None else self.made(node)
        copies = next((each.value for each in node.keywords if each.arg == "copy"), ast.Constant(True))
        is_copy = isinstance(copies, ast.Constant) and copies.value is True
        is_new = is_copy and name in ("array", "astype", "nan_to_num")
        return self.made(node) if is_new else self.made(node) | arguments

    def _call_of_value(self, call: Called[Origins]) -> Origins:
        """The call of a method, of a function of this program, or of anything else."""
        node, _, base, _, _ = call
        if base is None or not isinstance(node.func, ast.Attribute):
            return self.call_function(call)
        if (at := self.names.updated(node)) is not None:
            return self.made(node) if node.func.attr == "get" else self.of(at)
        method = node.func.attr
        if self.values.of(node.func.value).is_array:
            if method not in IN_PLACE_METHODS:
                return self._made_by(node, method, base)
            self.write(node, node.func.value)
            return NONE
        together = self.either(call.arguments)
        if method in _CONTAINERS or CONTAINER in base:
            self.share(together, "a container holds it")
            return base
        if self.values.of(node).fresh:
            return self.made(node)
        self.share(together, f"the method {method} gets it")
        return base | together | self.unknown

    def call_function(self, call: Called[Origins]) -> Origins:
        """The call of a function of this program."""
        raise NotImplementedError
