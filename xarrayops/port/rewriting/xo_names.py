# Long: one rewriting rule with a case for each kind of argument.
"""``--style xo``: calls of NumPy functions become calls of ours if both certainly do the same.

The names come from the tables of the page "From NumPy", the parameters from the two signatures. This module says
which functions do the same for arrays of every dtype, and what must be known of their arguments.
"""

from __future__ import annotations

import ast
import inspect

import libcst as cst

import xarrayops as xo
import xarrayops.numpy as theirs
from xarrayops._core.numpy_names import FFT, LINALG, MAIN
from xarrayops._core.numpy_names.keywords import RENAMED_KEYWORDS, parameters, renamed_keyword
from xarrayops.numpy._elementwise import SAME_BINARY, SAME_UNARY, UFUNCS
from xarrayops.plugin.dtypes import DTYPE_NAMES
from xarrayops.port.rewriting.context import Context, argument, dotted
from xarrayops.port.rewriting.reference import unproved
from xarrayops.port.source.interface import has, signature
from xarrayops.port.source.names import is_none
from xarrayops.port.source.numpy_results import dtype_of
from xarrayops.port.source.value import ARRAY, DEFAULT_DTYPES, SCALAR, SEQUENCE, Value, words

OF_ONE_ARRAY = words(
    "all amax amin any argmax argmin argsort astype broadcast_to count_nonzero cumprod cumsum diff empty_like "
    "expand_dims flip matrix_transpose max mean min moveaxis ones_like permute_dims prod ptp repeat reshape roll "
    "sort squeeze std sum tile transpose tril triu var zeros_like fft.fft fft.fftn fft.fftshift fft.ifft fft.ifftn "
    "fft.ifftshift fft.irfft fft.rfft linalg.cholesky linalg.det linalg.inv linalg.norm"
)
"""Functions of one array that do the same in both, with the options that both have."""
OF_SEVERAL = words("concat concatenate linalg.solve matmul stack where") | {"clip"}
"""Functions of several arrays: they do the same for arrays of one dtype."""
OF_TWO = frozenset(name for name, function in UFUNCS.items() if function.nin == 2)
"""Elementwise functions of two operands."""
CREATION = words("arange array asarray empty eye full ones zeros")
"""Functions that make arrays; ours get NumPy's default dtype."""
SEQUENCES = words("concat concatenate stack")
"""Functions of a sequence of arrays."""
SHAPES = ("shape", "repetitions")
REQUIRED = words("squeeze transpose permute_dims")
"""Functions whose default axes in NumPy are not ours."""
NUMBERS = words("M N fill_value k start step stop")
"""Arguments of functions that make arrays which must be numbers."""
FLAT = words("cumprod cumsum")
"""Functions that flatten an array with several axes if no axis is given."""
_KIND = "xo"


class _Stays(Exception):
    """The reason why a call keeps NumPy's name."""


def call(context: Context, node: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """A call of one of NumPy's functions as a call of ours; a note where that is not proved."""
    name = context.numpy_name(node.func)
    if name is None or not context.is_xo or not isinstance(updated, cst.Call) or name.startswith("random."):
        return None
    if _is_class(name):
        return None
    try:
        ours = _ours(name)
        arguments = _Arguments(context, node, updated, name, ours).converted()
    except _Stays as reason:
        if str(reason):
            context.todo(node, f"np.{name} stays{reason}")
        return None
    context.edit(node, _KIND, f"xo.{ours} does the same as np.{name} for these arguments")
    return context.xo_call(ours, *arguments)


def constant(context: Context, node: ast.Attribute, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """``np.pi`` as ``xo.pi``."""
    name = context.numpy_name(node)
    if name not in ("e", "inf", "nan", "newaxis", "pi") or not context.is_xo:
        return None
    context.edit(node, _KIND, f"xo.{name} is the same number" if name != "newaxis" else "xo.newaxis is also None")
    context.needs.add("xarrayops")
    return dotted(f"{context.xo}.{name}")


def _is_class(name: str) -> bool:
    """Whether a name is a dtype or a class, which stay: ``np.float32(x)``."""
    return name in DTYPE_NAMES or isinstance(getattr(theirs, name, None), type)


def _ours(name: str) -> str:
    """Our name for an equivalent NumPy function; raises with the advice of the table if there is none."""
    module, _, last = name.rpartition(".")
    names = {"linalg": LINALG, "fft": FFT}.get(module, MAIN)
    ours = f"{module}." * bool(module) + names.renamed.get(last, last)
    if name in UFUNCS and UFUNCS[name].__name__ in (*SAME_UNARY, *SAME_BINARY, "pow"):
        return ours
    if name in OF_ONE_ARRAY | OF_SEVERAL | CREATION:
        return "permute_dims" if name == "transpose" else ours
    takes = f": xo.{ours} takes {', '.join(parameters(ours))}" if has(ours, xo) else ": xo has none"
    raise _Stays(takes if last in names.served else names.answer(last) or takes)


class _Arguments:
    """The arguments of a call by the parameters of both functions."""

    def __init__(self, context: Context, node: ast.Call, updated: cst.Call, name: str, ours: str) -> None:
        self._context = context
        self._call = node
        self._name = name
        self._verb = ours
        theirs = signature(name)
        if theirs is None:
            raise _Stays(": its arguments are not known")
        self._theirs = theirs.parameters
        self._nodes, self._new = _bound(node, updated, theirs)
        self._parameters = parameters(ours)

    def converted(self) -> list[cst.Arg]:
        """The arguments of our function."""
        self._check_arrays()
        self._check_defaults()
        if self._name in CREATION:
            self._add_dtype()
        by_position = [p.name for p in self._parameters.values() if p.kind is not p.KEYWORD_ONLY]
        positional: list[cst.Arg] = []
        keywords: list[cst.Arg] = []
        for name, value in self._new.items():
            node = self._nodes[name]
            option = self._option(name, by_position, node)
            if option is None:
                continue
            new = self._value(option, node, value)
            if option in by_position:
                if by_position.index(option) != len(positional):
                    raise _Stays(f": xo.{self._verb} takes {option} by position")
                positional.append(argument(new))
            else:
                keywords.append(argument(new, option))
        required = [p for p in self._parameters.values() if p.kind is not p.KEYWORD_ONLY and p.default is p.empty]
        if len(positional) < len(required):
            raise _Stays(f": xo.{self._verb} needs more arguments")
        keywords.sort(key=lambda each: each.keyword is not None and each.keyword.value == "like")
        return positional + keywords

    def _option(self, name: str, by_position: list[str], node: ast.expr | None) -> str | None:
        """Our parameter for a NumPy parameter; None for one without an effect."""
        theirs = list(self._theirs)
        if name in self._parameters and name not in by_position:
            return name
        if theirs.index(name) < len(by_position) and name not in RENAMED_KEYWORDS:
            return by_position[theirs.index(name)]
        renamed = renamed_keyword(name, self._parameters)
        if renamed is not None:
            return renamed
        if _is_default(self._theirs[name], node):
            return None
        raise _Stays(f": xo.{self._verb} has no {name}=")

    def _check_arrays(self) -> None:
        """Check that the operands are arrays or numbers, and that several arrays have one dtype."""
        if self._name in CREATION:
            return
        operands = self._operands()
        values = [self._context.value(each) for each in operands]
        unknown = [e for e, v in zip(operands, values, strict=True) if not _is_number(v) and not v.is_proved]
        if unknown:
            raise _Stays(f": nothing proves that {ast.unparse(unknown[0])} is an array; then xo.{self._verb}")
        if self._name == "where" and values[0].dtype_kind != "bool":
            raise _Stays(f": nothing proves that {ast.unparse(operands[0])} is a mask; then xo.where")
        if self._name in SEQUENCES and any(map(_is_number, values)):
            raise _Stays(f": xo.{self._verb} takes arrays only")
        joined = values[1:] if self._name == "where" else values
        arrays = [value for value in joined if value.is_array]
        if not arrays:
            raise _Stays(f": xo.{self._verb} needs an array")
        if len(arrays) > 1 and (None in {v.dtype for v in arrays} or len({v.dtype for v in arrays}) > 1):
            raise _Stays(f": xo.{self._verb} is the same for arrays of one dtype, which is not proved")
        if self._name == "clip" and arrays[0].dtype_kind not in ("float", "complex") and not _are_integers(joined[1:]):
            raise _Stays(": xo.clip keeps the dtype of integers")
        if self._verb == "subtract" and None in {value.dtype_kind for value in arrays}:
            raise _Stays(": PyTorch does not subtract from booleans, which is not excluded")
        if self._verb == "pow" and arrays[0].dtype_kind not in ("float", "complex") and not _is_power(operands[1]):
            raise _Stays(": powers of integers differ by library")

    def _operands(self) -> list[ast.expr]:
        """The arguments that are arrays."""
        given = [node for node in self._nodes.values() if node is not None]
        if self._name in SEQUENCES:
            if not isinstance(given[0], ast.List | ast.Tuple):
                raise _Stays(f": xo.{self._verb} takes a sequence of arrays of one dtype, which is not proved")
            return given[0].elts
        count = 3 if self._name in ("where", "clip") else 2 if self._name in OF_SEVERAL | OF_TWO else 1
        if self._name == "where" and len(given) != count:
            raise _Stays(f"{MAIN.answer('where') or ': xo.where takes three arguments'}")
        names = [n for n in list(self._theirs)[:count] if self._nodes.get(n) is not None]
        if self._name == "clip":
            names = [
                n for n in self._nodes if n in ("a", "a_min", "a_max", "min", "max") and not is_none(self._nodes[n])
            ]
        return [each for name in names if (each := self._nodes[name]) is not None]

    def _check_defaults(self) -> None:
        """Check that the omitted options have the same defaults in NumPy and here."""
        first = self._context.value(next(iter(self._nodes.values())) or ast.Constant(None))
        has_axis = self._nodes.get("axis") is not None and not is_none(self._nodes["axis"])
        if self._name in FLAT and not has_axis and first.ndim != 1:
            raise _Stays(f": xo.{self._verb} needs the axis of an array of several axes")
        if self._name in REQUIRED and not (has_axis or self._nodes.get("axes") is not None):
            raise _Stays(f": xo.{self._verb} needs the axes")
        for name in ("prepend", "append"):
            if name in self._nodes:
                raise _Stays(f": {name}= may have another dtype")

    def _add_dtype(self) -> None:
        """Add NumPy's default dtype if the call names none, and a copy if NumPy makes one."""
        first = next(iter(self._nodes.values()))
        is_of_values = self._name in ("array", "asarray")
        if self._name == "array" and "copy" not in self._nodes and not isinstance(first, ast.List | ast.Tuple):
            self._set("copy", "True")
        if "like" not in self._nodes:
            if not is_of_values or first is None or not self._context.is_array(first):
                raise _Stays(f": xo.{self._verb} needs like=, or backend=" if self._is_free() else "")
            return
        for name in NUMBERS & self._nodes.keys():
            if not _is_number(self._context.value(self._nodes[name] or ast.Constant(None))):
                raise _Stays(f": nothing proves that {name} is a number")
        if "dtype" in self._nodes:
            return
        dtype = self._default_dtype()
        if dtype is None:
            raise _Stays(f": xo.{self._verb} needs the dtype, which is not known")
        self._set("dtype", f"{self._context.xo}.{dtype}")

    def _is_free(self) -> bool:
        """Whether no other note says already that ``like=`` is missing."""
        return unproved(self._context, self._call) is None

    def _default_dtype(self) -> str | None:
        if self._name in ("zeros", "ones", "empty", "eye"):
            return "float64"
        if self._name == "full":
            value = self._context.value(self._nodes["fill_value"] or ast.Constant(None))
            return DEFAULT_DTYPES.get(value.dtype or "") if value.kind == SCALAR else None
        if self._name == "arange":
            kinds = {
                self._context.value(node).dtype if self._context.value(node).kind == SCALAR else None
                for name, node in self._nodes.items()
                if node is not None and name != "like"
            }
            return None if not kinds <= {"int", "float"} else "float64" if "float" in kinds else "int64"
        return self._dtype_of_sequence(self._nodes.get("object", self._nodes.get("a")))

    def _dtype_of_sequence(self, node: ast.expr | None) -> str | None:
        """The dtype of a nested list of numbers."""
        if isinstance(node, ast.List | ast.Tuple):
            found = {self._dtype_of_sequence(each) for each in node.elts}
            ranks = [name for name in DEFAULT_DTYPES.values() if name in found]
            if None in found or not found or ("bool" in found and len(found) > 1):
                return None
            return "bool" if found == {"bool"} else [n for n in ("int64", "float64", "complex128") if n in ranks][-1]
        value = self._context.value(node) if node is not None else Value()
        return DEFAULT_DTYPES.get(value.dtype or "") if value.kind == SCALAR else None

    def _set(self, name: str, text: str) -> None:
        """Add an option that the call left out."""
        self._nodes[name] = None
        self._new[name] = cst.parse_expression(text)

    def _value(self, option: str, node: ast.expr | None, new: cst.BaseExpression) -> cst.BaseExpression:
        """The value of an argument in the form that our function accepts."""
        if node is None:
            return new
        if option == "dtype":
            return self._dtype(node, new)
        if option in SHAPES:
            return self._shape(node, new)
        value = self._context.value(node)
        if option in ("repeats", "shift", "n") and value.kind != SCALAR:
            raise _Stays(f": nothing proves that {option} is an integer")
        if option in ("source", "destination") and value.kind != SCALAR and not isinstance(node, ast.Tuple):
            raise _Stays(f": {option} must be an integer or a tuple")
        if option in ("axis", "axes") and (value.kind == ARRAY or isinstance(node, ast.List)):
            raise _Stays(f": {option} must be an integer or a tuple")
        if option == "keepdims" and not isinstance(node, ast.Constant):
            raise _Stays(": keepdims must be True or False")
        return new

    def _dtype(self, node: ast.expr, new: cst.BaseExpression) -> cst.BaseExpression:
        """``np.float32`` as ``xo.float32``; the dtype of an array stays."""
        if isinstance(node, ast.Attribute) and node.attr == "dtype" and self._context.value(node.value).is_array:
            return new
        name = dtype_of(node, self._context.names.numpy_name)
        if name not in DTYPE_NAMES:
            raise _Stays(f": the dtype {ast.unparse(node)} is not known")
        return dotted(f"{self._context.xo}.{name}")

    def _shape(self, node: ast.expr, new: cst.BaseExpression) -> cst.BaseExpression:
        """A shape as a tuple."""
        value = self._context.value(node)
        if isinstance(node, ast.List) and isinstance(new, cst.List):
            new, is_known = cst.Tuple(new.elements), self._are_extents(node.elts)
        elif isinstance(node, ast.Tuple):
            is_known = self._are_extents(node.elts)
        elif value.kind == SCALAR and value.dtype == "int":
            new, is_known = cst.Tuple([cst.Element(new)]), True
        else:
            is_known = isinstance(node, ast.Attribute) and node.attr == "shape" and value.kind == SEQUENCE
        if not is_known:
            raise _Stays(f": {ast.unparse(node)} must be a tuple of integers")
        return new

    def _are_extents(self, nodes: list[ast.expr]) -> bool:
        values = [self._context.value(each) for each in nodes]
        return all(value.kind == SCALAR and value.dtype == "int" for value in values)


def _bound(
    node: ast.Call, updated: cst.Call, theirs: inspect.Signature
) -> tuple[dict[str, ast.expr | None], dict[str, cst.BaseExpression]]:
    """The arguments by NumPy parameter: in the original, and in the rewritten call."""
    starred = any(isinstance(each, ast.Starred) for each in node.args) or any(k.arg is None for k in node.keywords)
    if starred:
        raise _Stays(": its arguments are not known")
    given = [*node.args, *(each.value for each in node.keywords)]
    new = {id(old): each.value for old, each in zip(given, updated.args, strict=True)}
    try:
        bound = theirs.bind(*node.args, **{str(each.arg): each.value for each in node.keywords}).arguments
    except TypeError as error:
        raise _Stays(f": {error}") from None
    if any(not isinstance(value, ast.expr) for value in bound.values()):
        raise _Stays(": its arguments are not known")
    return dict(bound), {key: new[id(value)] for key, value in bound.items()}


def _is_default(parameter: inspect.Parameter, node: ast.expr | None) -> bool:
    """Whether an argument is a literal equal to the default."""
    return (
        isinstance(node, ast.Constant)
        and type(node.value) is type(parameter.default)
        and (node.value == parameter.default)
    )


def _is_number(value: Value) -> bool:
    return value.kind == SCALAR and value.dtype in DEFAULT_DTYPES


def _are_integers(values: list[Value]) -> bool:
    return all(value.kind == SCALAR and value.dtype == "int" for value in values)


def _is_power(node: ast.expr) -> bool:
    """Whether an exponent is a number that is not negative."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)
