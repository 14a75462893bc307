"""XLA's compiler: the trace that is active, its known bugs, and the options that avoid them.

`_jit` is `jax.jit` for the functions of this backend. Nothing else here calls `jax.jit`, but for exports and GPUs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial, wraps
from threading import Thread
from typing import Any

import jax
import jax.numpy as jnp
from jaxlib import version as jaxlib_version

from xarrayops.plugin import KnownBad, affected

_jax: Any = jax  # untyped: JAX does not annotate these functions
_FUSION = "xla_cpu_experimental_ynn_fusion_type"
"""The option that lists the fusions of XLA's new kernels for CPUs, which have the bugs; none of them if it is empty."""


def _has_no_fusion() -> bool:
    """Whether the environment turns the fusions off. XLA uses the last value of a flag."""
    flags = [flag.partition("=") for flag in os.environ.get("XLA_FLAGS", "").split()]
    return [value for name, _, value in flags if name == f"--{_FUSION}"][-1:] == [""]


_fault = partial(
    KnownBad,
    library="jaxlib",
    device="cpu",
    advice="install jax 0.10.1, or 0.11.1 or newer. To keep this version, set the flag before Python starts: "
    f'export XLA_FLAGS="$XLA_FLAGS --{_FUSION}="',
    cured=_has_no_fusion,
)
CPU_BUGS: tuple[KnownBad, ...] = (
    _fault(
        versions="==0.10.2",
        condition="sums of products of transposed arrays are wrong under jax.jit, and with 7 or more axes they abort "
        "the process",
        issue="https://github.com/jax-ml/jax/issues/39103",
    ),
    _fault(
        versions=">=0.11.0.dev0,<0.11.1",
        condition="sums of products of arrays with 7 or more axes abort the process under jax.jit",
        issue="https://github.com/jax-ml/jax/issues/39257",
    ),
)


def _is_affected() -> bool:
    """Whether the compiler has one of the bugs, and the environment does not avoid it."""
    return bool(affected(CPU_BUGS, {"jaxlib": jaxlib_version.__version__})) and not _has_no_fusion()


_AVOIDS_BUGS = _is_affected()
"""Whether our programs are compiled without the fusions."""


def trace_state() -> Any:
    """The current trace, of `jax.jit`, `jax.vmap`, `jax.grad`, the body of a loop …; None outside of one."""
    current = _state()
    return None if current == _outside() else current


def _state() -> Any:
    from jax.extend import core  # it imports Pallas, which takes 20 ms

    return core.get_opaque_trace_state()  # type: ignore[no-untyped-call]


@cache
def _outside() -> Any:
    """The state without a trace, which a new thread has."""
    found: list[Any] = []
    # A new thread has no trace, even while this one traces.
    thread = Thread(target=lambda: found.append(_state()))
    thread.start()
    thread.join()
    return found[0]


def _is_compiling() -> bool:
    """Whether a function is traced for a compiler. `jax.grad` and `jax.vmap` alone run it operation by operation."""
    return isinstance(jnp.zeros(()), jax.core.Tracer)


def _jit(
    function: Callable[..., Any], /, *, has_fusions: bool = not _AVOIDS_BUGS, **settings: Any
) -> Callable[..., Any]:
    """`jax.jit`, on CPUs without the fusions of the new kernels if they have the known bugs, or are slower.

    JAX takes options for whole programs only. Inside a function that is compiled, this function becomes a part of it,
    and only the flag in the environment avoids the bugs. `jax.vmap` alone keeps the options. `jax.grad` alone refuses
    them: then the operations are compiled one by one.
    """
    settings = {"keep_unused": True} | settings  # a result that depends on no argument is on their device nevertheless
    part = _jax.jit(function, **settings)
    if has_fusions:
        return part
    whole = _jax.jit(function, compiler_options={_FUSION: ""}, **settings)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if trace_state() is not None and _is_compiling():
            return part(*args, **kwargs)
        try:
            return whole(*args, **kwargs)
        except (ValueError, jax.errors.JaxRuntimeError) as error:
            if "No such compile option" in str(error):  # a later version, without these fusions
                return part(*args, **kwargs)
            if "`compiler_options` can only be passed to top-level" not in str(error):
                raise
        with _jax.disable_jit():
            return function(*args, **kwargs)

    return call


def _with_options(function: Callable[..., Any], /) -> Callable[..., Any]:
    """The function as one program, if options are needed: parts of it, such as a loop, would be compiled without them.

    Otherwise the function itself.
    """
    return _jit(function) if _AVOIDS_BUGS else function
