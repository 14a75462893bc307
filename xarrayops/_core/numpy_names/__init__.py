"""The equivalent of each NumPy name that we do not have. Imported only when a name is missing.

Names that are the same need no entry. The others have another name here, are in `xarrayops.numpy`, or have no
counterpart for a stated reason. ``docs/guides/from-numpy.md`` is written from the same tables. `missing` answers an
unknown name, and `keywords.answer` a call with unknown arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

from xarrayops._core.numpy_names import renamed, torch_names, without
from xarrayops._core.numpy_names.renamed import REMARKS, RENAMED
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.sparse import CONTAINER_VERBS, SPARSE_NAMES

__all__ = ["FFT", "LINALG", "MAIN", "METHODS", "RANDOM", "REMARKS", "Names", "missing"]


class Names(Record):
    """The answers for the names of one module of NumPy, or for the methods of its arrays."""

    renamed: Mapping[str, str]
    """Our name, without ``xo.``, by NumPy's name."""
    served: frozenset[str]
    """The names that `xarrayops.numpy` has."""
    without: Mapping[str, str]
    """The reason for each NumPy name without a counterpart."""
    module: str = ""
    """The module of `xarrayops.numpy`, with a dot after it."""

    def answer(self, name: str) -> str | None:
        """The equivalent of a name, to append to ``xarrayops has no dot``; None for an unknown name."""
        if name in self.renamed:
            remark = f" ({REMARKS[name]})" if name in REMARKS else ""
            return f". Instead: xo.{self.renamed[name]}{remark}"
        if name in self.served:
            return f". Instead: xarrayops.numpy.{self.module}{name}"
        return f": {self.without[name]}" if name in self.without else None

    def names(self) -> set[str]:
        """All names with an answer."""
        return {*self.renamed, *self.served, *self.without}


_SERVED = """
angle append array_equiv array_split asarray_chkfinite asfortranarray atleast_1d atleast_2d atleast_3d
block c_ choose column_stack copy copyto deg2rad degrees diag_indices diag_indices_from diagflat divmod dot
dsplit dstack ediff1d euler_gamma exp2 extract False_ flatnonzero fliplr flipud float_power fmax fmin fmod
frombuffer fromfunction fromiter heaviside histogram_bin_edges hsplit hstack identity index_exp indices inner
iscomplex iscomplexobj isfortran isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_ ldexp
logaddexp2 matvec mgrid modf nancumprod nancumsum nanprod ndim ogrid piecewise place polyfit
put put_along_axis putmask r_ rad2deg radians ravel ravel_multi_index real_if_close require resize rollaxis
rot90 row_stack s_ select shape sinc size spacing swapaxes transpose tri tril_indices tril_indices_from
trim_zeros triu_indices triu_indices_from True_ unravel_index unwrap vander vdot vecmat vsplit vstack
"""
"""NumPy's names that `xarrayops` lacks and `xarrayops.numpy` has. They are listed because importing it is slow."""
_SERVED_METHODS = """
astype choose clip compress conjugate copy cumprod cumsum diagonal dot imag max mean min ndim nonzero partition
put ravel real repeat reshape resize round searchsorted shape size sort squeeze std sum swapaxes take trace
transpose var
"""
"""The methods and attributes of NumPy's arrays that `xarrayops.numpy` has as functions."""

MAIN = Names(RENAMED, frozenset(_SERVED.split()), without.WITHOUT)
LINALG = Names({}, frozenset(("multi_dot", "tensorinv", "tensorsolve")), without.LINALG, "linalg.")
FFT = Names({}, frozenset(("fft2", "ifft2", "irfft2", "rfft2")), without.FFT, "fft.")
RANDOM = Names({}, frozenset(), without.RANDOM)
METHODS = Names(renamed.METHODS, frozenset(_SERVED_METHODS.split()), without.METHODS)
SPARSE = Names({}, frozenset(), without.SPARSE)
MODULES = {
    "xarrayops": MAIN,
    "xarrayops.linalg": LINALG,
    "xarrayops.fft": FFT,
    "xarrayops.sparse": SPARSE,
    "xarrayops.random": RANDOM,
}
"""The answers, by the module that lacks the names."""
OF_NUMPY = {
    "xarrayops.numpy": MAIN,
    "xarrayops.numpy.linalg": LINALG,
    "xarrayops.numpy.fft": FFT,
    "xarrayops.numpy.random": RANDOM,
}
"""The same for the modules that have NumPy's names."""


class MissingName(Record):
    """The message for a missing name, built only when it is shown: feature tests do not read it."""

    module: str
    name: str

    def __str__(self) -> str:
        if self.name.startswith("_") or not self.name.isidentifier():
            return f"module {self.module!r} has no attribute {self.name!r}"
        return _answer(self.module, self.name)


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a public module lacks, with the equivalent.

    The error does not carry the name: Python would add the most similar attribute as a suggestion.
    """
    return AttributeError(MissingName(module, name), name=None, obj=None)


def _short(module: str) -> str:
    """The module as users write it."""
    return module.replace("xarrayops.numpy", "np").replace("xarrayops", "xo")


def _answer(module: str, name: str) -> str:
    if module == "xarrayops" and find_spec(f"xarrayops.{name}") is not None:
        return f"xarrayops.{name} is not imported. Instead: import xarrayops.{name}"
    of_others = None
    if module == "xarrayops":
        of_others = f". Instead: {without.PANDAS[name]}" if name in without.PANDAS else torch_names.answer(name)
    answer = _names(module).answer(name) or of_others or _elsewhere(module, name) or _near(module, name)
    return f"{_short(module)} has no {name}{answer}"


def _names(module: str) -> Names:
    return MODULES[module] if module in MODULES else OF_NUMPY[module]


def _elsewhere(module: str, name: str) -> str | None:
    """The answer for a name that another public module has or can answer."""
    for other, names in (MODULES if module in MODULES else OF_NUMPY).items():
        if name in dir(import_module(other)):
            dense = module == "xarrayops.sparse" and name not in CONTAINER_VERBS
            near = f"xo.sparse.{SPARSE_NAMES[name]}, or " if dense and name in SPARSE_NAMES else ""
            of_dense = " of the dense array xo.sparse.to_dense(s)" if dense else ""
            return f". Instead: {near}{_short(other)}.{name}{of_dense}"
        if name in names.names():
            return names.answer(name)
    return None


def _near(module: str, name: str) -> str:
    """The most similar name of the module, or of NumPy with its answer."""
    from difflib import get_close_matches

    ours = dir(import_module(module))
    near = get_close_matches(name, [*ours, *_names(module).names()], n=1, cutoff=0.7)
    if not near:
        return f"; dir({_short(module)}) lists its names"
    if near[0] in ours:
        return f"; did you mean {_short(module)}.{near[0]}?"
    return f" and no {near[0]}{_names(module).answer(near[0])}"
