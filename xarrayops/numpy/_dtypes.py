# Long: NumPy's functions about dtypes, and the handling of floating-point errors.
"""Dtypes: names that are equal to the native dtypes of every library, and that cast when called.

Also the class of all arrays, and the handling of floating-point errors.
"""

from __future__ import annotations

import builtins
from contextlib import suppress
from math import log10
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Self

import xarrayops as xo
from xarrayops._core.backends.dtype_names import DTypeName, name_of
from xarrayops._core.backends.numpy_scalars import is_numpy_scalar
from xarrayops._core.numpy_names.renamed import DTYPE_CODES, RENAMED
from xarrayops.errors import Unsupported
from xarrayops.numpy import _operands as ops, _own, _promotion
from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.plugin.dtypes import DTYPE_NAMES

_found: dict[str, tuple[str, str, int]] = {}
DTYPES: dict[str, dtype] = {}
"""The dtypes, by NumPy's names."""


class _InAnnotations:
    """What stands for a class in annotations and ``isinstance``, such as ``float64 | None`` and ``floating[Any]``."""

    __iter__: Any = None  # Python would iterate by __getitem__

    def __or__(self, other: Any) -> _Union:
        return _Union((self, other))

    def __ror__(self, other: Any) -> _Union:
        return _Union((other, self))

    def __getitem__(self, parameter: Any) -> Self:
        return self


class _Union(_InAnnotations):
    """Several classes, of which one suffices."""

    __args__: tuple[Any, ...]

    def __init__(self, members: tuple[Any, ...]) -> None:
        listed = [part for each in members for part in (each.__args__ if isinstance(each, _Union) else (each,))]
        self.__args__ = tuple(type(None) if each is None else each for each in listed)

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.__args__))

    def __call__(self, *args: Any) -> Any:
        """Never called: `typing` accepts callables only."""
        raise TypeError(f"{self!r} cannot be instantiated")

    def __instancecheck__(self, x: Any) -> bool:
        return isinstance(x, self.__args__)

    def __subclasscheck__(self, cls: Any) -> bool:
        return issubclass(cls, self.__args__)


class dtype(_InAnnotations, DTypeName):  # noqa: N801 - NumPy's name
    """A dtype by its name, with NumPy's notations: ``dtype("f4")``, ``dtype(float)``, ``dtype(x.dtype)``.

    It is equal to the native dtypes of that name on every library. A call casts its value: an array by
    `xarrayops.astype`, a number to a 0-d array, with NumPy to a scalar.
    ``isinstance(x, float64)`` is true for NumPy's scalars of the dtype, and for 0-d arrays of other libraries.
    """

    def __new__(cls, dtype: Any, align: bool = False, copy: bool = False) -> dtype:
        name = name_of(named(float if dtype is None else dtype))
        if name not in DTYPE_NAMES:
            return _only_numpys(dtype, align, copy)
        return DTYPES.get(name) or super().__new__(cls, name)  # torch.compile does not trace the creation

    def __call__(self, *values: Any) -> Any:
        """The value in this dtype; without a value it is 0."""
        if len(values) > 1:
            raise TypeError(f"np.{self.name} takes one value, not {len(values)}")
        value = values[0] if values else 0
        if ops.is_array(value) and not is_numpy_scalar(value):
            return xo.astype(value, self.name)
        value = float(value) if isinstance(value, str) else value
        value = int(value) if type(value) is float and self.kind in "iu" else value  # NaN raises ValueError
        x = ops.new_array(value, dtype=self.name)
        return x[()] if x.ndim == 0 else x

    __class_getitem__: Any = classmethod(GenericAlias)  # for annotations

    def __instancecheck__(self, x: Any) -> bool:
        return is_scalar(x) and name_of(x.dtype) == self.name

    def __subclasscheck__(self, cls: Any) -> bool:
        return name_of(cls) == self.name

    @property
    def __name__(self) -> builtins.str:
        return self.name

    @property
    def type(self) -> dtype:
        """The dtype itself, which casts when called."""
        return self

    @property
    def metadata(self) -> None:
        """None: only NumPy's own dtypes have metadata."""

    @property
    def kind(self) -> builtins.str:
        """NumPy's letter for the kind: b, u, i, f or c."""
        return _of_numpy(self.name)[0]

    @property
    def char(self) -> builtins.str:
        """NumPy's letter for the dtype, such as d for float64."""
        return _of_numpy(self.name)[1]

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return _of_numpy(self.name)[2]

    @property
    def str(self) -> builtins.str:
        """NumPy's code, such as ``<f8``."""
        return f"{'|' if self.itemsize == 1 else '<'}{self.kind}{self.itemsize}"


@constant_while_tracing
def _of_numpy(name: str) -> tuple[str, str, int]:
    """The kind, the character and the item size of NumPy's dtype; of bytes for dtypes that NumPy lacks."""
    if name not in _found:
        import numpy

        found = numpy.dtype(name if name in _promotion.DTYPES_OF_NUMPY else "V2" if name == "bfloat16" else "V1")
        _found[name] = found.kind, found.char, found.itemsize
    return _found[name]


class Kind(_InAnnotations):
    """A class of NumPy's scalars, such as ``np.floating``: for `issubdtype`, ``isinstance`` and ``issubclass``."""

    def __init__(self, name: str, kinds: str) -> None:
        self.__name__ = name
        self.names = frozenset(name for name in DTYPE_NAMES if _kind(name) in kinds.split())

    def __repr__(self) -> str:
        return f"np.{self.__name__}"

    def __instancecheck__(self, x: Any) -> bool:
        return is_scalar(x) and name_of(x.dtype) in self.names

    def __subclasscheck__(self, cls: Any) -> bool:
        return name_of(cls) in self.names


def _kind(name: str) -> str:
    return name.rstrip("0123456789") if name in _promotion.DTYPES_OF_NUMPY else "float"


def is_scalar(x: Any) -> bool:
    """Whether x is a scalar: a NumPy scalar, or a 0-d array of a library without scalars."""
    if is_numpy_scalar(x):
        return True
    return ops.is_array(x) and x.ndim == 0 and xo.backend(x).name != "numpy"


def named(dtype: Any) -> Any:
    """The name of a dtype in any of NumPy's notations; other values, such as None, are returned unchanged."""
    if dtype is None or isinstance(dtype, DTypeName):
        return None if dtype is None else dtype.name
    if isinstance(dtype, type) and dtype in ops.NUMBERS:
        return ops.NUMBERS[dtype]
    if isinstance(dtype, str):
        code = dtype.removeprefix("<").removeprefix("=").removeprefix("|")
        return DTYPE_CODES.get(code) or (dtype if code in DTYPE_NAMES else RENAMED.get(code, dtype))
    if isinstance(dtype, Kind):
        raise TypeError(f"{dtype!r} is a class of several dtypes. Instead: one of {', '.join(sorted(dtype.names))}")
    return name_of(dtype) or dtype


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether the first dtype is the second, or belongs to its kind, such as ``np.floating``."""
    first, second = _kind_of(arg1), _kind_of(arg2)
    names = first.names if isinstance(first, Kind) else {name_of(named(first))}
    return names <= second.names if isinstance(second, Kind) else names == {name_of(named(second))}


def _kind_of(arg: Any) -> Any:
    """The kind for one of NumPy's own abstract classes, such as ``numpy.floating``; others are unchanged."""
    if arg is None:
        return float
    is_of_numpy = isinstance(arg, type) and arg.__module__ == "numpy"
    return KINDS.get(arg.__name__, arg) if is_of_numpy else arg


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether a cast between dtypes is allowed, by NumPy's rules."""
    if type(from_) in ops.NUMBERS:
        raise TypeError("can_cast() does not support Python ints, floats, and complex: give a dtype or an array")
    return _promotion.casts(_name("can_cast", from_), _name("can_cast", to), casting)


def _name(function: str, obj: Any) -> str:
    """The name of a dtype, or of an array's dtype."""
    name = name_of(obj.dtype if ops.is_array(obj) else named(obj))
    if name not in DTYPE_NAMES:
        raise _own.OnlyNumPy(f"np.{function}: {obj!r} is not a dtype of numbers or an array")
    return name


def result_type(*arrays_and_dtypes: Any) -> dtype:
    """The dtype to which NumPy promotes arrays, dtypes and Python numbers."""
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    numbers = [type(x) for x in arrays_and_dtypes if type(x) in ops.NUMBERS]
    names = [_name("result_type", x) for x in arrays_and_dtypes if type(x) not in ops.NUMBERS]
    return dtype(_promotion.promoted(names or ["bool"], numbers) or xo.result_type(*names))


def promote_types(type1: Any, type2: Any, /) -> dtype:
    """The dtype to which NumPy promotes two dtypes."""
    return result_type(*(dtype(_in_native_order(each)) for each in (type1, type2)))


def _in_native_order(dtype: Any) -> Any:
    """NumPy's dtype in the byte order of this machine, in which every result of a promotion is."""
    if isinstance(dtype, builtins.str):
        return dtype.removeprefix(">")
    return dtype.newbyteorder("=") if type(dtype).__module__ == "numpy.dtypes" else dtype


def common_type(*arrays: Any) -> dtype:
    """The floating-point dtype that holds the values of all arrays; float64 for integers."""
    names = [_name("common_type", x) for x in arrays]
    if "bool" in names:
        raise TypeError("can't get common type for non-numeric array")
    return result_type("float16", *("float64" if xo.isdtype(name, "integral") else name for name in names))


class finfo:  # noqa: N801 - NumPy's name
    """The limits of a floating-point dtype, by `xarrayops.finfo`, with NumPy's attributes as Python numbers."""

    def __init__(self, dtype: Any) -> None:
        found = xo.finfo(_of_number(dtype))
        self.bits, self.dtype = found.bits, found.dtype
        self.eps, self.max, self.min = float(found.eps), float(found.max), float(found.min)
        self.smallest_normal = self.tiny = float(found.smallest_normal)
        self.smallest_subnormal = self.tiny * self.eps
        self.precision = int(-log10(self.eps))
        self.resolution = 10.0**-self.precision


def iinfo(type: Any) -> Any:
    """The limits of an integer dtype, by `xarrayops.iinfo`."""
    return xo.iinfo(_of_number(type))


def _of_number(obj: Any) -> Any:
    """The dtype of a number or an array, or the dtype itself."""
    return name_of(ops.arrays(obj)[0].dtype) if type(obj) in (int, float, complex) or ops.is_array(obj) else named(obj)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind, by `xarrayops.isdtype`."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return xo.isdtype(named(dtype), tuple(named(each) if not isinstance(each, str) else each for each in kinds))


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex, by `xarrayops.isdtype`."""
    return xo.isdtype(ops.arrays(x)[0].dtype, "complex floating")


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether it is a number, a string, or a scalar of a library (a 0-d array)."""
    return isinstance(element, (int, float, complex, str, bytes)) or is_scalar(element)


_ALIASES = (
    *("bool_", "byte", "cdouble", "csingle", "double", "half", "int_", "intc", "intp", "long", "longlong", "short"),
    *("single", "ubyte", "uint", "uintc", "uintp", "ulong", "ulonglong", "ushort"),
)
DTYPES.update((name, dtype(name)) for name in _promotion.DTYPES_OF_NUMPY)
DTYPES.update((name, dtype(RENAMED[name])) for name in _ALIASES)
_CLASSES = {
    "generic": "bool int uint float complex",
    "number": "int uint float complex",
    "integer": "int uint",
    "signedinteger": "int",
    "unsignedinteger": "uint",
    "inexact": "float complex",
    "floating": "float",
    "complexfloating": "complex",
}
KINDS = {name: Kind(name, kinds) for name, kinds in _CLASSES.items()}
"""The classes of scalars, by NumPy's names."""
_SILENT = ("ignore", "warn", None)


def _only_numpys(dtype: Any, align: bool, copy: bool) -> Any:
    """NumPy's dtype of objects, text, dates or records, if NumPy is the default library."""
    import numpy

    if _own.is_default():
        with suppress(TypeError):
            return numpy.dtype(dtype, align, copy)
    raise TypeError(f"np.dtype: {dtype!r} is not a dtype of numbers. Instead: one of {', '.join(DTYPE_NAMES)}")


def _require_silent(function: str, settings: dict[str, Any]) -> None:
    """Raise unless every library supports the settings: only NumPy raises or calls back."""
    if settings.get("call") is not None or any(value not in _SILENT for value in settings.values()):
        raise Unsupported(
            f"np.{function}: only 'ignore' and 'warn' are supported, because libraries other than NumPy "
            "never raise. Instead: test the result with np.isfinite"
        )


class errstate:  # noqa: N801 - NumPy's name
    """Floating-point errors in a ``with`` block: "ignore" or "warn" for NumPy; other libraries never warn."""

    def __new__(cls, **kwargs: Any) -> Any:
        """NumPy's context, which is a decorator too."""
        import numpy

        if not _own.is_default():
            _require_silent("errstate", kwargs)
        return numpy.errstate(**kwargs)


def seterr(all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None) -> Any:
    """Set how NumPy handles floating-point errors: "ignore" or "warn"; other libraries never warn."""
    import numpy

    settings = {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    _require_silent("seterr", settings)
    return numpy.seterr(**settings)


def geterr() -> Any:
    """How NumPy handles floating-point errors; other libraries never warn."""
    import numpy

    return numpy.geterr()


class _Arrays(type):
    """The class of `ndarray`: an array of any known library is an instance."""

    def __instancecheck__(cls, x: Any) -> bool:
        try:
            return not is_numpy_scalar(x) and ops.is_array(x)
        except Unsupported:  # a subclass of NumPy's, such as a matrix
            return True


class ndarray(metaclass=_Arrays):  # noqa: N801 - NumPy's name
    """The arrays of all known libraries, for ``isinstance(x, np.ndarray)``. It has no direct instances."""

    __class_getitem__: Any = classmethod(GenericAlias)  # for annotations

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("np.ndarray is for isinstance only. Instead: np.empty(shape, dtype)")


if not TYPE_CHECKING:
    __all__ = ops.public(globals(), hidden=("Kind", "is_scalar", "named"))
