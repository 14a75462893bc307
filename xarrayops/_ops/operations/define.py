"""operation: a function in array code, with kernels for some libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from xarrayops._core import registry
from xarrayops._ops.operations.definition import Declared, Definition
from xarrayops._ops.operations.requirements import ORDERS, Dtypes, Requirements
from xarrayops._protocol.candidates import Call, always

if TYPE_CHECKING:
    from typing import Protocol

    P = ParamSpec("P")
    R_co = TypeVar("R_co", covariant=True)
    Function = TypeVar("Function", bound=Callable[..., Any])

    class Operation(Protocol[P, R_co]):
        """The function that `operation` returns."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
        def gradient(self, function: Function, /) -> Function: ...
        def kernel(
            self,
            name: str,
            /,
            *,
            dtypes: Dtypes = None,
            device: str | None = None,
            layout: str | None = None,
            aligned: int | None = None,
            can: Callable[[Call], str | None] = always,
        ) -> Callable[[Function], Function]: ...


defined: dict[str, Definition] = {}
"""Every operation by its name."""
_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*")


def operation(name: str, /, *, blockwise: str | None = None) -> Callable[[Callable[P, R_co]], Operation[P, R_co]]:
    """Define an operation: a function in array code, to which kernels for some libraries can be added.

    The decorated function is the reference. It serves every array that no kernel can serve, it is what every kernel is
    tested against (`xarrayops.testing.check_operation`), and shapes, gradients and batches are derived from it.

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
        those with the default None may be omitted, but not the first. Keyword-only parameters take options: None,
        numbers, strings and tuples of these. It has these attributes:

        - ``kernel(name, *, dtypes=None, device=None, layout=None, aligned=None, can=None)`` declares the decorated
          function as a kernel. ``name`` is ``"library:kernel"``: the kernel gets arrays of that library. It is called
          with all arrays by position, and all options by keyword. It gets a call only if every array is as it declares:
          one of ``dtypes`` (names, which then must be the same for all arrays; or a dict from parameters to names), on
          the kind of ``device`` ("cpu", "cuda" …), contiguous in the order of ``layout`` ("C" or "F"), and at an
          address that is a multiple of ``aligned`` bytes. ``can(call)`` returns None, or the reason against a `Call`
          of `xarrayops.plugin`. Otherwise the next kernel of the library is tried, in the order of declaration, and
          last the reference. `explain` shows the reasons.
        - ``gradient`` declares the decorated function ``gradient(g, *arrays, **options)``: it returns, for the
          gradient ``g`` of the result (a tuple for several results), one array for each array, or None. Without it the
          reference is differentiated.

        A kernel must not write to its arguments, and returns new arrays of the shapes and dtypes of the reference.

    Raises
    ------
    ValueError
        The name is not of that form, or another function has it.
    TypeError
        The reference has a parameter that an operation cannot have.

    Notes
    -----
    Law: ``op(*arrays, **options)`` equals ``reference(*arrays, **options)`` up to rounding, on every library.

    A plain call finds the kernel in one look-up. Under torch.compile, torch.export and autograd the operation is an
    operator of ``torch.library``, whose shapes are those of the reference; under torch.func the reference serves. In
    functions that JAX transforms a kernel for JAX is traced, with the derivatives and batches of the reference.

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
        function.operation = made
        function.kernel = _declaring(made)
        function.gradient = _differentiating(made)
        return function

    return define


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _declaring(definition: Definition) -> Callable[..., Any]:
    def kernel(
        name: str,
        /,
        *,
        dtypes: Dtypes = None,
        device: str | None = None,
        layout: str | None = None,
        aligned: int | None = None,
        can: Callable[[Call], str | None] = always,
    ) -> Callable[[Function], Function]:
        """Declare a kernel; see `xarrayops.operation`."""
        library, _, kernel = name.partition(":")
        if not library or not kernel:
            raise ValueError(
                f'{definition.name}: a kernel is named "library:kernel", such as "numpy:numba", not {name!r}'
            )
        if library not in registry.entry_points():
            raise registry.unknown(library)
        if layout not in (None, *ORDERS):
            raise ValueError(f'{definition.name}: layout is "C", "F" or None, not {layout!r}')
        named = dtypes if isinstance(dtypes, dict) or dtypes is None else tuple(dtypes)
        unknown = set(named if isinstance(named, dict) else ()) - set(definition.parameters.arrays)
        if unknown:
            raise ValueError(f"{definition.name}: dtypes names {', '.join(unknown)}, which takes no array")
        requirements = Requirements(named, device, layout, aligned, can)

        def declare(function: Function) -> Function:
            definition.add(Declared(library, kernel, function, requirements))
            return function

        return declare

    return kernel


def _differentiating(definition: Definition) -> Callable[..., Any]:
    def gradient(function: Function, /) -> Function:
        """Declare the gradient; see `xarrayops.operation`."""
        definition.set_gradient(function)
        return function

    return gradient
