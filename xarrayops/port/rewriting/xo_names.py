# Long: one rewriting rule with a case for each kind of argument.
"""``--style xo``: calls of NumPy functions become calls of ours if both certainly do the same.

The names come from the tables of the page "From NumPy", the parameters from the two signatures. This module says
which functions do the same for arrays of every dtype, and what must be known of their arguments.
"""

from __future__ import annotations

import ast
import inspect

import libcst as cst

import xarrayops.numpy as theirs
from xarrayops._core.numpy_names import FFT, LINALG, MAIN
from xarrayops._core.numpy_names.keywords import RENAMED_KEYWORDS, parameters, renamed_keyword
from xarrayops._surface import EXTRA, SURFACE
from xarrayops.numpy._elementwise import SAME_BINARY, SAME_UNARY, UFUNCS
from xarrayops.plugin.dtypes import DTYPE_NAMES
from xarrayops.port.rewriting.context import Context, argument, dotted
from xarrayops.port.rewriting.reference import unproved
from xarrayops.port.source.interface import signature
from xarrayops.port.source.names import call_arguments, is_none, is_unpacked
from xarrayops.port.source.numpy_results import dtype_of
from xarrayops.port.source.value import DEFAULT_DTYPES, SCALAR, SEQUENCE, Value, words

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
_UNKNOWN = ": its arguments are not known"


class _Stays(Exception):
    """The reason why a call keeps NumPy's name."""


def call(context: Context, node: ast.Call, updated: cst.BaseExpression) -> cst.BaseExpression | None:
    """A call of one of NumPy's functions as a call of ours; a note where that is not proved."""
    name = context.numpy_name(node.func)
    if name is None or not context.is_xo or name.startswith("random."):
        return None
    if name in DTYPE_NAMES or isinstance(getattr(theirs, name, None), type):  # classes stay: ``np.float32(x)``
        return None
    try:
        ours = _ours(name)
        assert isinstance(updated, cst.Call)
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


def _ours(name: str) -> str:
    """Our name for an equivalent NumPy function; raises with the advice of the table if there is none."""
    module, _, last = name.rpartition(".")
    names = {"linalg": LINALG, "fft": FFT}.get(module, MAIN)
    ours = f"{module}." * bool(module) + names.renamed.get(last, last)
    if name in UFUNCS and UFUNCS[name].__name__ in (*SAME_UNARY, *SAME_BINARY, "pow"):
        return ours
    if name in OF_ONE_ARRAY | OF_SEVERAL | CREATION:
        return "permute_dims" if name == "transpose" else ours
    takes = f": xo.{ours} takes {', '.join(parameters(ours))}" if ours in SURFACE or ours in EXTRA else ": xo has none"
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
            raise _Stays(_UNKNOWN)
        self._theirs = theirs.parameters
        self._nodes, self._new = _bound(node, updated, theirs)
        self._parameters = parameters(ours)

    def converted(self) -> list[cst.Arg]:
        """The arguments of our function."""
        self._check_arrays()
        self._check_defaults()
        if self._name in CREATION:
            self._add_dtype()
        placed = [p for p in self._parameters.values() if p.kind is not p.KEYWORD_ONLY]
        by_position = [p.name for p in placed]
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
        if len(positional) < sum(p.default is p.empty for p in placed):
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
        if renamed is None and not _is_default(self._theirs[name], node):
            raise _Stays(f": xo.{self._verb} has no {name}=")
        return renamed

    def _check_arrays(self) -> None:
        """Check that the operands are arrays or numbers, and that several arrays have one dtype."""
        if self._name in CREATION:
            return
        verb, operands = f"xo.{self._verb}", self._operands()
        values = [self._context.value(each) for each in operands]
        for each, value in zip(operands, values, strict=True):
            if not _is_number(value) and not value.is_proved:
                raise _Stays(f": nothing proves that {ast.unparse(each)} is an array; then {verb}")
        if self._name == "where":
            mask, *values = values
            if mask.dtype_kind != "bool":
                raise _Stays(f": nothing proves that {ast.unparse(operands[0])} is a mask; then xo.where")
        if self._name in SEQUENCES and any(map(_is_number, values)):
            raise _Stays(f": {verb} takes arrays only")
        arrays = [value for value in values if value.is_array]
        if not arrays:
            raise _Stays(f": {verb} needs an array")
        dtypes = {value.dtype for value in arrays}
        if len(arrays) > 1 and (len(dtypes) > 1 or None in dtypes):
            raise _Stays(f": {verb} is the same for arrays of one dtype, which is not proved")
        is_inexact = arrays[0].dtype_kind in ("float", "complex")
        if self._name == "clip" and not is_inexact and not _are_integers(values[1:]):
            raise _Stays(": xo.clip keeps the dtype of integers")
        if self._verb == "subtract" and None in {value.dtype_kind for value in arrays}:
            raise _Stays(": PyTorch does not subtract from booleans, which is not excluded")
        if self._verb == "pow" and not is_inexact and not _is_power(operands[1]):
            raise _Stays(": powers of integers differ by library")

    def _operands(self) -> list[ast.expr]:
        """The arguments that are arrays."""
        given = [node for node in self._nodes.values() if node is not None]
        if self._name in SEQUENCES:
            if isinstance(given[0], ast.List | ast.Tuple):
                return given[0].elts
            raise _Stays(f": xo.{self._verb} takes a sequence of arrays of one dtype, which is not proved")
        if self._name == "clip":
            limits = (self._nodes[name] for name in self._nodes if name in ("a", "a_min", "a_max", "min", "max"))
            return [each for each in limits if each is not None and not is_none(each)]
        count = 3 if self._name == "where" else 2 if self._name in OF_SEVERAL | OF_TWO else 1
        if self._name == "where" and len(given) != count:
            raise _Stays(MAIN.answer("where") or ": xo.where takes three arguments")
        operands = (self._nodes.get(name) for name in list(self._theirs)[:count])
        return [each for each in operands if each is not None]

    def _check_defaults(self) -> None:
        """Check that the omitted options have the same defaults in NumPy and here."""
        first = self._context.value(next(iter(self._nodes.values())) or ast.Constant(None))
        has_axis = self._nodes.get("axis") is not None and not is_none(self._nodes["axis"])
        if self._name in FLAT and not has_axis and first.ndim != 1:
            raise _Stays(f": xo.{self._verb} needs the axis of an array of several axes")
        if self._name in REQUIRED and not has_axis and self._nodes.get("axes") is None:
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
                is_noted = unproved(self._context, self._call) is not None  # another note says that like= is missing
                raise _Stays("" if is_noted else f": xo.{self._verb} needs like=, or backend=")
            return
        for name in NUMBERS & self._nodes.keys():
            if not _is_number(self._value_of(name)):
                raise _Stays(f": nothing proves that {name} is a number")
        if "dtype" not in self._nodes:
            dtype = self._default_dtype()
            if dtype is None:
                raise _Stays(f": xo.{self._verb} needs the dtype, which is not known")
            self._set("dtype", f"{self._context.xo}.{dtype}")

    def _value_of(self, name: str) -> Value:
        """What is known of an argument."""
        return self._context.value(self._nodes[name] or ast.Constant(None))

    def _default_dtype(self) -> str | None:
        if self._name in ("zeros", "ones", "empty", "eye"):
            return "float64"
        if self._name == "full":
            return _default_of(self._value_of("fill_value"))
        if self._name == "arange":
            given = self._nodes.items()
            kinds = {_default_of(self._value_of(name)) for name, node in given if node is not None and name != "like"}
            return None if not kinds <= {"int64", "float64"} else "float64" if "float64" in kinds else "int64"
        return self._dtype_of_sequence(self._nodes.get("object", self._nodes.get("a")))

    def _dtype_of_sequence(self, node: ast.expr | None) -> str | None:
        """The dtype of a nested list of numbers."""
        if isinstance(node, ast.List | ast.Tuple):
            found = {self._dtype_of_sequence(each) for each in node.elts}
            is_known = found and None not in found and ("bool" not in found or len(found) == 1)
            return max(found, key=[*DEFAULT_DTYPES.values()].index) if is_known else None  # type: ignore[arg-type]
        return None if node is None else _default_of(self._context.value(node))

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
        if option in ("axis", "axes") and (value.is_array or isinstance(node, ast.List)):
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
        if isinstance(node, ast.List | ast.Tuple):
            new = cst.Tuple(new.elements) if isinstance(new, cst.List) else new
            is_known = _are_integers([self._context.value(each) for each in node.elts])
        elif _are_integers([value]):
            new, is_known = cst.Tuple([cst.Element(new)]), True
        else:
            is_known = isinstance(node, ast.Attribute) and node.attr == "shape" and value.kind == SEQUENCE
        if not is_known:
            raise _Stays(f": {ast.unparse(node)} must be a tuple of integers")
        return new


def _bound(
    node: ast.Call, updated: cst.Call, theirs: inspect.Signature
) -> tuple[dict[str, ast.expr | None], dict[str, cst.BaseExpression]]:
    """The arguments by NumPy parameter: in the original, and in the rewritten call."""
    if is_unpacked(node):
        raise _Stays(_UNKNOWN)
    new = {id(old): each.value for old, each in zip(call_arguments(node), updated.args, strict=True)}
    try:
        bound = theirs.bind(*node.args, **{str(each.arg): each.value for each in node.keywords}).arguments
    except TypeError as error:
        raise _Stays(f": {error}") from None
    if not all(isinstance(value, ast.expr) for value in bound.values()):
        raise _Stays(_UNKNOWN)
    return dict(bound), {key: new[id(value)] for key, value in bound.items()}


def _is_default(parameter: inspect.Parameter, node: ast.expr | None) -> bool:
    """Whether an argument is a literal equal to the default."""
    return (
        isinstance(node, ast.Constant)
        and type(node.value) is type(parameter.default)
        and (node.value == parameter.default)
    )


def _is_number(value: Value) -> bool:
    return _default_of(value) is not None


def _default_of(value: Value) -> str | None:
    """NumPy's default dtype for a number; None for other values."""
    return DEFAULT_DTYPES.get(value.dtype or "") if value.kind == SCALAR else None


def _are_integers(values: list[Value]) -> bool:
    return all(value.kind == SCALAR and value.dtype == "int" for value in values)


def _is_power(node: ast.expr) -> bool:
    """Whether an exponent is a number that is not negative."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)
