"""verify: compare a function with a reference on every library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xarrayops.testing._verify._comparison import Comparison
from xarrayops.testing._verify._report import Report
from xarrayops.testing._verify._run import setups


def verify(
    function: Callable[..., Any],
    /,
    *args: Any,
    expected: Any = None,
    keywords: Mapping[str, Any] | None = None,
    libraries: Sequence[str] | None = None,
    replay: bool = True,
    seconds: float | None = 120.0,
    progress: Callable[[str], object] | None = None,
) -> Report:
    """Compare a function on every installed library with a reference on NumPy.

    The function runs on NumPy, PyTorch, JAX with 64-bit types, Dask in chunks and array_api_strict, on PyTorch's meta
    device, and under `torch.compile` and `jax.jit`. Results, their classes, dtypes and shapes, the arguments after the
    call, and the lists, dicts, arrays and numbers of the module that the function changes are compared. In the
    function, `xarrayops.use` selects the library of new arrays; with arrays among the arguments, it also runs without,
    as its users call it. What it prints is discarded. Random numbers that the reference draws (`numpy.random`,
    `xarrayops.random`, `xarrayops.numpy.random`) are recorded and returned to the function in the same order; seeds
    must be equal, and the number of draws.

    The error budget of an element is ``16 * (spread + eps * |want|)``. The spread is measured: the reference runs five
    times with random rounding of each step (Monte Carlo arithmetic), and sums of n numbers are rounded by sqrt(n)
    units. Integers and booleans must be equal, unless random rounding changes them too.

    On a difference both run again, and the states of the variables of the user's functions are compared line by line,
    by function, name and number of assignments. The report names the first line that leaves its budget, and the kind.

    Parameters
    ----------
    function : callable
        The function under test, the port.
    *args
        Its arguments: arrays of NumPy, numbers, generators of `numpy.random`, and tuples, lists and dicts of these.
        They are copied for each run.
    expected : callable or object, optional
        The reference: the original function with the same arguments on NumPy, or its result. By default the function
        itself on NumPy.
    keywords : dict, optional
        Its keyword arguments.
    libraries : sequence of str, optional
        The ways to run, such as ``"torch"`` for all of PyTorch's, or ``"jax:jit"``; by default all.
    replay : bool
        Whether differences are replayed line by line.
    seconds : float, optional
        The time limit of each run; None for no limit. It needs the main thread and a system with interval timers, so
        there is none on Windows.
    progress : callable, optional
        It gets the name of each run when the run begins.

    Returns
    -------
    Report
        With a table in ``str()``, ``.ok`` and ``.raise_if_different()``. A run that a compiler cannot trace, that
        takes too long, or for which the library declares a gap, is not a difference, except on NumPy, where the
        reference runs. A result of another library is one on libraries with devices, and so is a tensor that NumPy
        reads.

    Raises
    ------
    Exception
        What the reference raises.
    ValueError
        No library has a name of ``libraries``, or the reference returns None and changes nothing.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> def original(x):
    ...     return x / x.sum()
    >>> report = verify(lambda x: x / xo.sum(x), np.ones(3), expected=original, libraries=["numpy"])
    >>> report.ok
    True
    """
    ways = setups(libraries)
    comparison = Comparison(function, args, dict(keywords or {}), expected, seconds)
    return comparison.report(ways, replay=replay, progress=progress or (lambda name: None))
