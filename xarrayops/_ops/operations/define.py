"""operation: a function in array code, with kernels for some libraries."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from xarrayops._core.backends import registry
from xarrayops._ops.operations.definition import Declared as DeclaredKernel, Definition
from xarrayops._ops.operations.native import Native, Sources, texts
from xarrayops._ops.operations.requirements import ORDERS, Aligned, Dtypes, Requirements
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.candidates import Call, always


class Declared(Record):
    """A call of a method of `Declarations`, and the function that it decorated, if any."""

    method: str
    args: tuple[Any, ...]
    options: dict[str, Any]
    function: Callable[..., Any] | None = None


class Declarations:
    """The functions that add kernels and the gradient to an operation; see `xarrayops.operation`."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self.declared: list[Declared] = []

    def kernel(
        self,
        name: str,
        /,
        *,
        dtypes: Dtypes = None,
        device: str | None = None,
        layout: str | None = None,
        aligned: Aligned = None,
        can: Callable[[Call], str | None] = always,
    ) -> Callable[[Function], Function]:
        """Declare a kernel; see `xarrayops.operation`."""
        definition = self._definition
        library, _, kernel = name.partition(":")
        if not library or not kernel:
            raise ValueError(
                f'{definition.name}: a kernel is named "library:kernel", such as "numpy:numba", not {name!r}'
            )
        _check_library(library)
        requirements = _checked(definition, Requirements(dtypes, device, layout, aligned, can=can))

        options = {"dtypes": dtypes, "device": device, "layout": layout, "aligned": aligned, "can": can}

        def declare(function: Function) -> Function:
            definition.add(DeclaredKernel(library, kernel, lambda backend: function, requirements))
            self.declared.append(Declared("kernel", (name,), options, function))
            return function

        return declare

    def native(
        self,
        name: str,
        /,
        *,
        sources: Sources,
        entry: str,
        serves: Sequence[str],
        dtypes: Dtypes = None,
        layout: str | None = "C",
        aligned: Aligned = "dtype",
        flags: Sequence[str] = (),
        can: Callable[[Call], str | None] = always,
    ) -> None:
        """Declare a kernel in C++, CUDA or HIP; see `xarrayops.operation`."""
        definition = self._definition
        if not name or ":" in name:
            raise ValueError(f"{definition.name}: a native kernel has a name without a library, not {name!r}")
        if isinstance(serves, str):
            raise ValueError(f'{definition.name}: serves is a sequence of libraries, such as ["{serves}"]')
        for library in serves:
            _check_library(library)
        own = _checked(definition, Requirements(dtypes, layout=layout, aligned=aligned, can=can))
        contents = texts(sources, definition.reference)
        made = Native(definition, name, contents, entry, flags, own)
        for library in serves:
            definition.add(DeclaredKernel(library, name, made.function_for, made.requirements))
        definition.natives.append(made)
        options = {"sources": contents, "entry": entry, "serves": serves, "dtypes": dtypes, "layout": layout}
        self.declared.append(Declared("native", (name,), options | {"aligned": aligned, "flags": flags, "can": can}))

    def gradient(self, function: Function, /) -> Function:
        """Declare the gradient; see `xarrayops.operation`."""
        self._definition.set_gradient(function)
        self.declared.append(Declared("gradient", (function,), {}))
        return function

    def build(self) -> None:
        """Build all native kernels now.

        Raises
        ------
        BuildError
            One cannot be built.
        """
        for native in self._definition.natives:
            native.load()


if TYPE_CHECKING:
    P = ParamSpec("P")
    R_co = TypeVar("R_co", covariant=True)
    Function = TypeVar("Function", bound=Callable[..., Any])

    class Operation(Declarations, Generic[P, R_co]):
        """The function that `operation` returns."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


defined: dict[str, Definition] = {}
"""Every operation by its name."""
_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*")


def operation(name: str, /, *, blockwise: str | None = None) -> Callable[[Callable[P, R_co]], Operation[P, R_co]]:
    """Define an operation: a function in array code, to which kernels for some libraries can be added.

    The decorated function is the reference. It serves all calls that no kernel can serve, every kernel is tested
    against it (`xarrayops.testing.check_operation`), and shapes, gradients and batches are derived from it.

    Parameters
    ----------
    name : str
        ``"namespace::name"``, both Python identifiers. A name is defined once.
    blockwise : str, optional
        The signature of a generalized ufunc, such as ``"(i),(i)->(i)"``: on Dask the operation then runs block by
        block, with whole core dimensions in each block. Otherwise the reference runs on Dask arrays.

    Returns
    -------
    callable
        A decorator. The decorated function has the signature of the reference. Parameters before the ``*`` take arrays;
        except the first, they may be optional, with the default None. Keyword-only parameters take options: None,
        numbers, strings and tuples of these. It has these attributes:

        - ``kernel(name, *, dtypes=None, device=None, layout=None, aligned=None, can=None)`` declares the decorated
          function as a kernel. ``name`` is ``"library:kernel"``: the kernel gets arrays of that library. It is called
          with all arrays by position, and all options by keyword. It gets a call only if every array is as it declares:
          one of ``dtypes`` (names, which then must be the same for all arrays; or a dict from parameters to names), on
          the kind of ``device`` ("cpu", "cuda" …), contiguous in the order of ``layout`` ("C" or "F"), and at an
          address that is a multiple of ``aligned`` bytes ("dtype": of the dtype's alignment). ``can(call)`` returns
          None, or the reason why the kernel cannot serve a `Call` of `xarrayops.plugin`. Otherwise the next kernel of
          the library is
          tried, in the order of declaration, and last the reference. `explain` shows the reasons.
        - ``native(name, *, sources, entry, serves, dtypes=None, layout="C", aligned="dtype", flags=(), can=None)``
          declares a kernel in C++, or in CUDA if a source ends in ``.cu``. One build serves the libraries of
          ``serves``, as the kernel ``"library:name"`` of each, on the CPU or on CUDA devices. ``sources`` are paths of
          files, relative to the file of the reference, or a dict from names to texts. The function that the sources
          export as ``entry`` is called with the arrays, the options in their order, and an array in C order for each
          result, with the shape and dtype that the reference gives; it fills these and returns nothing. The options
          must be bool, int, float or str; the kernel does not serve calls with other options or an omitted array. The
          first call builds it with the installed compiler (CXX, else c++, g++ or clang++; NVCC or nvcc) and ``flags``;
          later processes find it in the user's cache (``XARRAYOPS_CACHE``, else ``~/.cache/xarrayops``). It needs the
          extra ``native``. Without it or a compiler the next kernel serves, and `explain` shows why.
        - ``build()`` builds all native kernels now. It raises `BuildError` if that is not possible.
        - ``gradient`` declares the decorated function ``gradient(g, *arrays, **options)``: it returns, for the
          gradient ``g`` of the result (a tuple for several results), one array for each array, or None. Without it the
          reference is differentiated.

        A kernel must not write to its arguments, and returns new arrays with the shapes and dtypes of the reference.

    Raises
    ------
    ValueError
        The name does not have that form, or is already defined.
    TypeError
        The reference has an unsupported parameter.

    Notes
    -----
    Law: ``op(*arrays, **options)`` equals ``reference(*arrays, **options)`` up to rounding, on every library.

    A plain call finds the kernel in one look-up. Under torch.compile, torch.export and autograd the operation is an
    operator of ``torch.library`` with the shapes of the reference; under torch.func the reference serves. In functions
    that JAX transforms, a kernel for JAX is traced, with the derivatives and batches of the reference.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> @xo.operation("docs::rms_norm", blockwise="(i),(i)->(i)")
    ... def rms_norm(x, weight, *, eps: float = 1e-6):
    ...     return x * weight / xo.sqrt(xo.mean(x * x, axis=-1, keepdims=True) + eps)
    >>> @rms_norm.kernel("numpy:einsum", dtypes=("float32", "float64"))
    ... def _(x, weight, *, eps):
    ...     squares = np.einsum("...i,...i->...", x, x)[..., None]
    ...     return x * weight / np.sqrt(squares / x.shape[-1] + eps)
    >>> rms_norm(np.asarray([3.0, 4.0]), np.ones(2)).round(3)
    array([0.849, 1.131])
    >>> print(xo.explain(rms_norm, np.asarray([3, 4]), np.ones(2)))
    docs::rms_norm: numpy serves its own arrays
        candidate        can  why
        numpy:einsum     no   x is int64; the kernel takes float32, float64
    ->  numpy:reference  yes  the definition, in array code
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f'an operation is named "namespace::name", such as "mylib::rms_norm", not {name!r}')

    def define(reference: Callable[P, R_co]) -> Operation[P, R_co]:
        earlier = defined.get(name)
        if earlier is not None and _place(earlier.reference) != _place(reference):
            raise ValueError(f"{name} is already defined, by {_place(earlier.reference)}")
        defined[name] = made = Definition(name, reference, blockwise)
        function: Any = made.function
        function.operation, declarations = made, Declarations(made)
        made.made_by = _rebuilt, (name, reference, blockwise, declarations.declared)
        for each in ("kernel", "native", "gradient", "build"):
            setattr(function, each, getattr(declarations, each))
        return function

    return define


def _rebuilt(
    name: str, reference: Callable[..., Any], blockwise: str | None, declared: Sequence[Declared]
) -> Definition:
    """The definition of that name, which is made if there is none."""
    if name not in defined:
        function: Any = operation(name, blockwise=blockwise)(reference)
        for each in declared:
            declare = getattr(function, each.method)(*each.args, **each.options)
            if each.function is not None:
                declare(each.function)
    return defined[name]


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _check_library(library: str) -> None:
    if registry.module_of(library) is None:
        raise registry.unknown(library)


def _checked(definition: Definition, requirements: Requirements) -> Requirements:
    """The requirements, with a tuple of dtypes."""
    if requirements.layout not in (None, *ORDERS):
        raise ValueError(f'{definition.name}: layout is "C", "F" or None, not {requirements.layout!r}')
    aligned = requirements.aligned
    if not (aligned in (None, "dtype") or (isinstance(aligned, int) and aligned > 0)):
        raise ValueError(f'{definition.name}: aligned is a number of bytes, "dtype" or None, not {aligned!r}')
    dtypes = requirements.dtypes
    if dtypes is None:
        return requirements
    if not isinstance(dtypes, dict):
        return requirements._replace(dtypes=tuple(dtypes))
    unknown = set(dtypes) - set(definition.parameters.arrays)
    if unknown:
        raise ValueError(f"{definition.name}: dtypes names {', '.join(unknown)}, which takes no array")
    return requirements
