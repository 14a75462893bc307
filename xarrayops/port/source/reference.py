"""The reference array of a new array: the parameter whose library it must have, for ``like=``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xarrayops.plugin.arrays import Record
from xarrayops.port.source.counted import Function, numbers
from xarrayops.port.source.names import Names, arguments, given_by, has_starred, is_none, last_name
from xarrayops.port.source.parameters import is_of_arrays, may_be_none
from xarrayops.port.source.value import ARRAY, OTHER, SCALAR, SEQUENCE, words
from xarrayops.port.source.values import Values, root

_QUESTIONS = words("isinstance hasattr callable type isscalar iterable")
_ELEMENTS = words("enumerate zip map reversed len iter list tuple sum max min sorted shape ndim size")
"""Functions of things that have elements."""


class Reference(Record):
    """A parameter that may be the reference array.

    It is certainly an array, or probably, or perhaps a number. ``like=`` accepts a number and has no effect then, so
    that a probable reference is as good on NumPy.
    """

    name: str
    certain: bool
    probable: bool


class References:
    """The reference arrays of the functions of a program."""

    def __init__(self, tree: ast.Module, values: Values) -> None:
        self._tree, self._values, self._names = tree, values, values.names
        self._of_function: dict[Function, list[Reference]] = {}
        self._read: dict[Function, _Read] = {}
        self._numbers: dict[Function, set[str]] = {}
        self._given = _arguments_of_calls(tree, self._names)

    def of(
        self, function: Function, made: ast.expr, hidden: frozenset[str] = frozenset(), partner: str | None = None
    ) -> Reference | None:
        """The best reference for an array that a function makes: certain ones first, then what fills the array.

        None if no parameter may be an array. ``hidden`` are names that mean something else at this place, and
        ``partner`` is a variable that meets the array. A probable reference must be related to one of them.
        """
        found = [each for each in self._parameters(function) if each.name not in hidden]
        fills = self._reading(function).fills(made, partner)
        named = {each.id for each in ast.walk(made) if isinstance(each, ast.Name)}
        found = [e if e.certain or e.name in fills | named else e._replace(probable=False) for e in found]
        ranked = [(not e.certain, not e.probable, e.name not in fills, e.name not in named) for e in found]
        return min(zip(ranked, range(len(found)), found, strict=True), default=(None, 0, None))[2]

    def numbers(self, function: Function) -> set[str]:
        """The variables that a function uses as numbers."""
        if function not in self._numbers:
            self._numbers[function] = numbers(function, self._reading(function).parents, self._names)
        return self._numbers[function]

    def _parameters(self, function: Function) -> list[Reference]:
        if function not in self._of_function:
            found = (self._reference(function, each) for each in arguments(function))
            self._of_function[function] = [each for each in found if each is not None]
        return self._of_function[function]

    def _reference(self, function: Function, parameter: ast.arg) -> Reference | None:
        name = parameter.arg
        special = (function.args.vararg, function.args.kwarg)
        if name in ("self", "cls") or parameter in special or self._reading(function).is_bound_again(name):
            return None
        value = self._values.parameter(function, name)
        given = [self._values.of(each).kind for each in self._given.get((function, name), ())]
        if value.kind in (SCALAR, OTHER, SEQUENCE) or {SCALAR, OTHER, SEQUENCE} & {*given}:
            return None
        may_lack = may_be_none(function, name) or self._reading(function).is_compared_with_none(name)
        is_open = may_lack or self._is_questioned(function, name)
        if value.is_proved or (given and {*given} == {ARRAY}):
            is_certain = value.is_proved or function.name.startswith("_")  # others may be called from elsewhere
            return Reference(name, is_certain and not is_open, not may_lack)
        found = self._guess(function, name, is_guess=value.is_array and not is_open)
        return found._replace(probable=False) if found is not None and may_lack else found

    def _reading(self, function: Function) -> _Read:
        if function not in self._read:
            self._read[function] = _Read(function)
        return self._read[function]

    def _is_questioned(self, function: Function, name: str) -> bool:
        """Whether the function asks what a parameter is, so that it may be several things."""
        calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and node.args)
        return any(
            isinstance(call.args[0], ast.Name) and call.args[0].id == name and last_name(call.func) in _QUESTIONS
            for call in calls
        )

    def _guess(self, function: Function, name: str, *, is_guess: bool) -> Reference | None:
        """A parameter of unknown kind that is used as an array can be, and as nothing else."""
        read = self._reading(function)
        parents, uses = read.parents, read.uses.get(name, [])
        kinds = {self._values.of(use).kind for use in uses if isinstance(use.ctx, ast.Load)}
        if kinds & {SCALAR, OTHER, SEQUENCE} or name in self.numbers(function):
            return None
        around = [parents[use] for use in uses]
        if not all(is_of_arrays(node.attr) for node in around if isinstance(node, ast.Attribute)):
            return None
        has_elements = any(_is_of_elements(use, parents[use]) for use in uses) or read.has_elements(name)
        is_calculated = any(self._is_operand(use, parents[use]) for use in uses)
        if not (is_guess or has_elements or is_calculated):
            return None
        return Reference(name, False, is_calculated and (has_elements or is_guess))

    def _is_operand(self, use: ast.Name, parent: ast.AST) -> bool:
        """Whether a variable is calculated with, or an argument of a function of NumPy."""
        match parent:
            case ast.BinOp(left=left, right=right):
                other = right if left is use else left
                return self._values.of(other).kind != OTHER and not isinstance(other, ast.JoinedStr)
            case ast.UnaryOp() | ast.AugAssign():
                return True
            case ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                return True
            case ast.Assign(targets=[ast.Subscript()]):
                return True
            case ast.Call(func=function):
                return self._names.numpy_name(function) is not None and use in parent.args
        return False


def _is_of_elements(use: ast.Name, parent: ast.AST) -> bool:
    """Whether a variable is iterated over, indexed or measured, so that it has elements."""
    match parent:
        case ast.Subscript(value=operand, slice=index):
            is_key = isinstance(index, ast.Constant) and isinstance(index.value, str)
            return operand is use and not is_key
        case ast.For(iter=operand) | ast.comprehension(iter=operand):
            return operand is use
        case ast.Attribute(attr=name):
            return name in ("shape", "ndim", "size", "dtype", "T")
        case ast.Call(func=function):
            return last_name(function) in _ELEMENTS and use in parent.args
    return False


def _is_of(value: ast.expr, name: str) -> bool:
    """Whether a value is calculated from a variable: the first argument of a call, an operand, or a part of it."""
    match value:
        case ast.Name(id=found):
            return found == name
        case ast.Call(args=[first, *_], func=ast.Attribute()):
            return _is_of(first, name) or _is_of(value.func.value, name)  # type: ignore[attr-defined]
        case ast.Call(args=[], func=ast.Attribute(value=owner)):
            return _is_of(owner, name)
        case ast.BinOp(left=left, right=right):
            return _is_of(left, name) or _is_of(right, name)
        case ast.UnaryOp(operand=part) | ast.Subscript(value=part) | ast.Attribute(value=part):
            return _is_of(part, name)
    return False


def _closure(names: set[str], sources: dict[str, set[str]]) -> set[str]:
    """The names from which some variables are calculated, directly or not."""
    found: set[str] = set()
    level = names
    while level:
        level = set().union(*(sources.get(name, set()) for name in level)) - found
        found |= level
    return found


def bindings(nodes: Iterable[ast.AST]) -> Iterable[tuple[str, ast.expr]]:
    """The variables and what is assigned to them or to their elements."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                roots = (root(each) for target in targets for each in _single(target))
                yield from ((name, value) for name in roots if name is not None)
            case ast.AugAssign(target=target, value=value):
                if (name := root(target)) is not None:
                    yield name, value
            case ast.For(target=target, iter=value):
                yield from ((name, value) for name in map(root, _single(target)) if name is not None)


def _single(target: ast.expr) -> Iterable[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _single(each)
    else:
        yield target


class _Read:
    """One function, read once: its nodes, the uses of its names, and from which names each variable is calculated."""

    def __init__(self, function: Function) -> None:
        self.parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
        self.uses: dict[str, list[ast.Name]] = {}
        self.sources: dict[str, set[str]] = {}
        self._parameters = {each.arg for each in arguments(function)}
        for node in self.parents:
            if isinstance(node, ast.Name):
                self.uses.setdefault(node.id, []).append(node)
        for name, value in bindings(self.parents):
            named = (each.id for each in ast.walk(value) if isinstance(each, ast.Name))
            self.sources.setdefault(name, set()).update(named)

    def fills(self, made: ast.expr, partner: str | None) -> set[str]:
        """The names whose values get into the variable that holds a new array, or into its partner."""
        node: ast.AST = made
        while node in self.parents and not isinstance(node, ast.stmt):
            node = self.parents[node]
        targets = node.targets if isinstance(node, ast.Assign) else []
        holders = {each.id for each in targets if isinstance(each, ast.Name)}
        partners = set() if partner is None else {partner}
        return _closure(holders | partners, self.sources) | partners

    def is_compared_with_none(self, name: str) -> bool:
        """Whether the function asks if a variable is None."""
        around = (self.parents[use] for use in self.uses.get(name, ()))
        return any(isinstance(each, ast.Compare) and any(map(is_none, each.comparators)) for each in around)

    def has_elements(self, name: str) -> bool:
        """Whether a variable that is calculated from this parameter alone has elements."""
        made = {each for each in self.sources if _closure({each}, self.sources) & self._parameters == {name}}
        return any(_is_of_elements(use, self.parents[use]) for each in made for use in self.uses.get(each, ()))

    def is_bound_again(self, name: str) -> bool:
        """Whether a parameter may become what is not made from it: ``x = np.asarray(x)`` keeps its library."""
        stores = [use for use in self.uses.get(name, ()) if not isinstance(use.ctx, ast.Load)]
        return any(not self._is_kept(use, name) for use in stores)

    def _is_kept(self, store: ast.Name, name: str) -> bool:
        match self.parents[store]:
            case ast.Assign(targets=targets, value=value):
                return store in targets and _is_of(value, name)
            case ast.AugAssign():
                return True
        return False


def _arguments_of_calls(tree: ast.Module, names: Names) -> dict[tuple[Function, str], list[ast.expr]]:
    """What the calls in the file give to each parameter of the functions of the module."""
    found: dict[tuple[Function, str], list[ast.expr]] = {}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function = names.function(call)
        if function is not None and not has_starred(call.args):
            for name, argument in given_by(function, call).items():
                found.setdefault((function, name), []).append(argument)
    return found
