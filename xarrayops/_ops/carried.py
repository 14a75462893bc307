"""carried: a function together with the modes that are open where it is passed on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from functools import partial
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from types import coroutine
from typing import Any

from xarrayops._core.modes.defaults import of_program
from xarrayops._core.modes.settings import carried_blocks, compiling_libraries, within
from xarrayops._ops.choices.block import block_of_environment
from xarrayops._ops.engines.block import ENVIRONMENT, engines
from xarrayops._ops.transformations.arguments import name_of
from xarrayops._ops.transformed import Transformed
from xarrayops._ops.verb import Verb

Modes = Callable[[], AbstractContextManager[None]]
"""A function, which can be pickled, that opens the modes."""


class Carried(Transformed):
    """A function that `carried` returns."""

    def __reduce__(self) -> Any:
        """Always the function and the modes: what has the name in another process may have other modes."""
        return self._make, ()


def carried(function: Callable[..., Any], /) -> Callable[..., Any]:
    """The function together with the modes that are open here, for other threads, processes and machines.

    Modes hold in the thread or task that opened them, so a function that Dask, Ray or an executor calls runs without
    them. The result of ``carried`` opens them around each call: `use`, `engines`, `precision`, `autocast`, `strict`,
    `profile` and all other blocks of xarrayops, and the defaults of `set_default`, ``XARRAYOPS_BACKEND``,
    ``XARRAYOPS_ENGINES`` and ``XARRAYOPS_MEASURED`` in this process. `no_grad` is not one of these modes.

    Parameters
    ----------
    function : callable
        A function, a generator function or a coroutine function; each step of these two runs in the modes, and what
        happens between the steps does not.

    Returns
    -------
    callable
        It has the arguments, the name and the docstring of the function. pickle and cloudpickle save it if they save
        the function: pickle refuses lambdas and the functions that this one replaces under their own name.

    Raises
    ------
    TypeError
        The function is an asynchronous generator function, or no function.

    Notes
    -----
    Law: ``carried(f)(x)``, called anywhere, equals ``f(x)`` here.

    In threads of this process the crossings inside count in the ledger of the open `strict` or `profile`. In another
    process each call counts for itself: limits hold for each call, and numbers do not come back. Graphs that functions
    of xarrayops make of Dask arrays have the modes of the calls that made them, without ``carried``.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import xarrayops as xo
    >>> with xo.use("numpy", dtype="float32"), ThreadPoolExecutor() as pool:
    ...     futures = [pool.submit(f, 2) for f in (xo.ones, xo.carried(xo.ones))]
    >>> [str(future.result().dtype) for future in futures]
    ['float64', 'float32']
    """
    if not callable(function) or isasyncgenfunction(function):
        raise TypeError(f"xo.carried takes a function that is not an asynchronous generator, not {name_of(function)}")
    blocks = (of_program(), engines(*ENVIRONMENT), *block_of_environment(), *carried_blocks())
    return _in_modes(function, partial(within, blocks, compiling_libraries()))


def _in_modes(function: Callable[..., Any], modes: Modes) -> Carried:
    call: Callable[..., Any]
    if iscoroutinefunction(function):

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await coroutine(_in_steps)(function(*args, **kwargs).__await__(), modes)

    elif isgeneratorfunction(function):

        def call(*args: Any, **kwargs: Any) -> Any:
            return (yield from _in_steps(function(*args, **kwargs), modes))

    else:

        def call(*args: Any, **kwargs: Any) -> Any:
            with modes():
                return function(*args, **kwargs)

    return Carried(call, function, partial(_in_modes, function, modes))


def _in_steps(steps: Any, modes: Modes) -> Generator[Any, Any, Any]:
    """The items of a generator, each of which is made in the modes: between them the caller runs."""
    advance = partial(next, steps)
    while True:
        try:
            with modes():
                item = advance()
        except StopIteration as end:
            return end.value
        try:
            sent = yield item
        except GeneratorExit:
            with modes():
                steps.close()
            raise
        except BaseException as error:
            advance = partial(steps.throw, error)
        else:
            advance = partial(steps.send, sent)


VERBS = (Verb("carried", carried),)
