"""What stands for NumPy in a program that is traced: the same functions, with arrays that count."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from xarrayops.port.trace.array import Traced, call, plain, wrapped
from xarrayops.port.trace.record import Trace, arrays_in

_RANDOM = (np.random.Generator, np.random.RandomState)


class NumPy(ModuleType):
    """A module of NumPy whose functions count in a trace."""

    def __init__(self, module: ModuleType, trace: Trace) -> None:
        super().__init__(module.__name__)
        self.__dict__.update({"_module": module, "_trace": trace, "__all__": getattr(module, "__all__", ())})

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            found = NumPy(found, self._trace) if found.__name__.startswith("numpy") else found
        elif callable(found) and not isinstance(found, type):
            found = Function(found, self._trace)
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return dir(self._module)


class Function:
    """A function of NumPy that counts its calls."""

    def __init__(self, function: Any, trace: Trace) -> None:
        self._function, self._trace = function, trace
        self.__name__ = getattr(function, "__name__", "")
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, and count it while the trace counts."""
        if not self._trace.counts:
            return self._function(*args, **kwargs)
        with self._trace.of_function():
            is_elementwise = isinstance(self._function, np.ufunc) and any(isinstance(x, Traced) for x in args)
            if is_elementwise:
                return self._function(*args, **kwargs)
            result = call(self._trace, self._function, args, kwargs)
        return Draws(result, self._trace) if isinstance(result, _RANDOM) else result

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._function, name)
        return Function(found, self._trace) if callable(found) else found


class Draws:
    """A generator of random numbers that counts its calls."""

    def __init__(self, generator: Any, trace: Trace) -> None:
        self._generator, self._trace = generator, trace

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._generator, name)
        return Function(found, self._trace) if callable(found) else found


def importer(trace: Trace) -> Callable[..., Any]:
    """The ``__import__`` of a program: it gives modules of NumPy that count, and all others as they are."""

    def load(name: str, *arguments: Any, **options: Any) -> Any:
        module = builtins.__import__(name, *arguments, **options)
        is_numpy = isinstance(module, ModuleType) and module.__name__.partition(".")[0] == "numpy"
        return NumPy(module, trace) if is_numpy else module

    return load


def foreign(trace: Trace) -> Callable[[Any], Any]:
    """What a program calls functions of other packages with: they get plain arrays, and their bytes count."""

    def counted(function: Any) -> Any:
        if not trace.counts:
            return function

        def called(*args: Any, **kwargs: Any) -> Any:
            with trace.inside:
                given, options = plain(args), plain(kwargs)
                start = perf_counter()
                result = function(*given, **options)
                seconds = perf_counter() - start
                arrays = [*arrays_in((list(given), options)), *arrays_in(result)]
                if arrays:
                    trace.add_foreign(sum(array.nbytes for array in arrays), seconds)
                return wrapped(result, trace)

        return called

    return counted
