"""jit: compile a function with the compiler of the arrays' library or of an engine, and record when that pays off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, get_args, overload

from xarrayops._core.backends import registry
from xarrayops._ops.compilation.ledger import Ledger, When
from xarrayops._ops.compilation.programs import Options, Programs
from xarrayops._ops.transformations.arguments import name_of
from xarrayops._ops.transformed import Transformed


class Jitted(Transformed):
    """A function that `jit` returns.

    Attributes
    ----------
    ledger : Ledger
        The costs and savings of each signature.
    """

    def __init__(
        self, call: Callable[..., Any], function: Callable[..., Any], make: Callable[[], Any], programs: Programs
    ) -> None:
        super().__init__(call, function, make)
        self.ledger = Ledger(programs.entries)
        self.programs = programs


if TYPE_CHECKING:

    class JitOptions(TypedDict, total=False):
        """The options of `jit`."""

        engine: str | None
        when: When
        check: bool
        limit: int
        dynamic: Iterable[str]
        static: Iterable[str]


@overload
def jit(function: None = None, /, **options: Unpack[JitOptions]) -> Callable[[Callable[..., Any]], Jitted]: ...


@overload
def jit(function: Callable[..., Any], /, **options: Unpack[JitOptions]) -> Jitted: ...


def jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    engine: str | None = None,
    when: When = "now",
    check: bool = True,
    limit: int = 8,
    dynamic: Iterable[str] = (),
    static: Iterable[str] = (),
) -> Any:
    """The function, compiled for each signature of its calls: `jax.jit`, `torch.compile`, or an engine for NumPy.

    A signature consists of the classes, shapes, dtypes and devices of the arrays in the arguments (pytrees); all other
    arguments, by value; the values of the variables that the function and the functions it calls read; and the active
    modes, such as `use` and `precision`. All of these are constants of compiled code, so a change compiles the function
    again. Captured arrays are constants too: NumPy arrays are compared by value.

    JAX and PyTorch compile functions of their own arrays. NumPy has no compiler: ``engine=`` selects a library that has
    one, and arguments and results are passed as for `engines`; without it the function runs eagerly, as it does for
    Dask and CuPy arrays. Under `grad`, `vmap` and the transformations of the library itself, the function becomes part
    of their trace.

    Parameters
    ----------
    function : callable
        It must not write to its arguments, and must return the same for the same arguments. Without it `jit` returns a
        decorator.
    engine : str, optional
        The library that compiles, such as ``"jax"``. Default: the library of the arrays.
    when : {"now", "pays", "never"}
        "now" compiles at the first call of a signature. "pays" runs eagerly until that has taken as long as the
        compilation is expected to take, and returns to eager calls if compiled ones are not faster: the total time is
        at most about twice that of the better choice. The expectation is the last compilation of the function; before
        that, in a block of `measured`, the median of the compilations on this machine, and else a fixed time for each
        library. "never" runs eagerly.
    check : bool
        Whether to compare the first result of each signature with the function itself, which is called twice, on copies
        of the arguments. This also finds functions that write to their arguments, or whose results depend on other
        state. Arrays with more than 4 194 304 elements are compared with their copies on their device, not on the
        host. Functions that draw from PyTorch's generators are not compared.
    limit : int
        The number of signatures that are compiled; further ones run eagerly, after a warning.
    dynamic : iterable of str
        Axes whose length may change without another compilation, as ``"x:0"``, of arguments that are arrays. PyTorch
        compiles for all lengths of at least 2; JAX compiles for each length.
    static : iterable of str
        Parameters whose arrays are constants of the compiled code, compared by value.

    Returns
    -------
    callable
        ``.ledger`` has for each signature the time of the compilation, the times of one eager and one compiled call,
        the number of calls, the number of calls after which the compilation pays off, and why it was compiled again.

    Raises
    ------
    Unsupported
        By a call: the compiler cannot trace the function, for example because it branches on values (use `cond`,
        `while_loop`); the function writes to an argument, draws from a global generator of NumPy or Python, or depends
        on other state.
    XArrayOpsError
        By a call: the compiled result differs from the eager one by more than rounding.
    TypeError, ValueError
        An argument is neither an array nor a constant that can be compared; an option is invalid.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import xarrayops as xo
    >>> @xo.jit
    ... def centred(x, axis=0):
    ...     return x - xo.mean(x, axis=axis, keepdims=True)
    >>> centred(jnp.asarray([1.0, 3.0])).tolist()
    [-1.0, 1.0]
    >>> centred.ledger[0].engine
    'jax'
    """
    options = Options(engine, when, check, limit, _names(dynamic), _names(static))
    _require_valid(options)
    return partial(_jitted, options=options) if function is None else _jitted(function, options)


def _jitted(function: Callable[..., Any], options: Options) -> Jitted:
    if not callable(function):
        raise TypeError(f"xo.jit takes a function, not {type(function).__name__}")
    programs = Programs(f"xo.jit({name_of(function)})", function, options)
    call: Any = programs.caller()
    call._torchdynamo_inline = function  # inside torch.compile the function becomes part of its trace
    return Jitted(call, function, partial(_jitted, function, options), programs)


def _require_valid(options: Options) -> None:
    if options.engine is not None and registry.module_of(options.engine) is None:
        raise registry.unknown(options.engine)
    if options.when not in get_args(When):
        raise ValueError(f"xo.jit: when must be one of {get_args(When)}, not {options.when!r}")
    if type(options.limit) is not int or options.limit < 1:
        raise ValueError(f"xo.jit: limit must be a positive integer, not {options.limit!r}")
    for each in options.dynamic:
        name, colon, axis = each.partition(":")
        if not name or not colon or not axis.lstrip("-").isdigit():
            raise ValueError(f'xo.jit: dynamic takes names with an axis, such as "x:0", not {each!r}')


def _names(given: Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
