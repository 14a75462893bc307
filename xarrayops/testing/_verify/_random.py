"""Random draws: recorded in one run, and returned in the same order in other runs, on every library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

import xarrayops as xo
import xarrayops.numpy.random
import xarrayops.random
from xarrayops._ops.transfers.ledger import line_of_user
from xarrayops.plugin.arrays import Record
from xarrayops.testing._verify._values import value

_FAMILIES = {
    **dict.fromkeys(("random", "random_sample", "ranf", "sample", "rand", "uniform"), "uniform"),
    **dict.fromkeys(("normal", "standard_normal", "randn"), "normal"),
    **dict.fromkeys(("exponential", "standard_exponential"), "exponential"),
    **dict.fromkeys(("integers", "randint", "random_integers"), "integers"),
    **dict.fromkeys(("permutation", "permuted", "shuffle", "shuffled"), "permutation"),
}
"""The distribution of methods that differ by their parameters only."""
_SCALED = {"uniform": ("low", "high"), "normal": ("loc", "scale"), "exponential": ("scale",)}
_STATE = frozenset(("seed", "get_state", "set_state", "bit_generator", "spawn", "bytes"))
_MODULES = (np.random, xarrayops.numpy.random, xarrayops.random)
_GENERATORS = (np.random.Generator, np.random.RandomState)


class _Draw(Record):
    """A recorded draw: the values before they are scaled, the scale and offset, and the line."""

    family: str
    standard: Any
    offset: Any
    scale: Any
    values: Any


class Mismatch(Record):
    """The first draw of a run that is not the next recorded one."""

    file: str
    line: int
    function: str
    why: str


class Tape:
    """The draws of one run, in order.

    Attributes
    ----------
    mismatch : Mismatch or None
        The first draw of the last run that differs from the recorded one.
    """

    def __init__(self) -> None:
        self._draws: list[_Draw] = []
        self._next = 0
        self._records = False
        self._is_drawing = False
        self._seeds: list[int | None] = []
        self._is_seeded = False
        self.mismatch: Mismatch | None = None

    @property
    def difference(self) -> str:
        """How the draws of the last run differ from the recorded ones; empty if they do not."""
        if self.mismatch is not None:
            return f"{self.mismatch.file}:{self.mismatch.line}: {self.mismatch.why}"
        if self._draws and self._seeds and not self._is_seeded:
            return f"the run seeds no generator, and the reference has the seed {self._seeds[0]}"
        made, wanted = self._next, len(self._draws)
        return (
            "" if made == wanted else f"the run makes {made} draws of random numbers, and the reference makes {wanted}"
        )

    def seeded(self, seed: Any) -> None:
        """Record the seed of a generator, or compare it with those of the reference."""
        self._is_seeded = True
        if not isinstance(seed, (int, type(None))):
            return
        if self._records:
            self._seeds.append(seed)
        elif self._seeds and seed not in self._seeds and self.mismatch is None:
            self.mismatch = Mismatch(*line_of_user(), f"the seed is {seed}, and the reference has {self._seeds[0]}")

    @contextmanager
    def replacing(self, namespaces: list[dict[str, Any]], *, records: bool = False) -> Iterator[None]:
        """A context in which the recorded draws are returned, or draws are recorded."""
        self._records, self._next, self.mismatch, self._is_seeded = records, 0, None, False
        with _generators_replaced(self, namespaces):
            yield

    def draw(self, name: str, method: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a method of a generator: its own, which is recorded, or the next recorded one."""
        if self._is_drawing:  # a method of RandomState calls others
            return method(*args, **kwargs)
        self._is_drawing = True
        try:
            found = method(*args, **kwargs)
        finally:
            self._is_drawing = False
        family = _FAMILIES.get(name, name)
        offset, scale = _scaling(name, family, args, kwargs)
        result = args[0] if name == "shuffle" else found
        if self._records:
            values = value(result).data
            standard = values if scale is None else (values - offset) / scale
            self._draws.append(_Draw(family, standard, offset, scale, values))
            return found
        why = self._differs(family, result)
        if why:
            self.mismatch = self.mismatch or Mismatch(*line_of_user(), why)
            return found
        recorded = self._draws[self._next]
        self._next += 1
        drawn = _like(recorded.values, result)
        if scale is not None and not _same((offset, scale), (recorded.offset, recorded.scale)):
            drawn = _like(recorded.standard, result) * scale + offset
        if name == "shuffle":
            args[0][...] = drawn
            return None
        return drawn

    def _differs(self, family: str, result: Any) -> str:
        """Why a draw does not match the next recorded one; empty if it does."""
        if self._next >= len(self._draws):
            return f"this is draw {self._next + 1}, and the reference made {len(self._draws)}"
        recorded = self._draws[self._next]
        shape = tuple(np.shape(recorded.values))
        if recorded.family != family:
            return f"draw {self._next + 1} is {family}, and the reference's is {recorded.family}"
        if tuple(getattr(result, "shape", ())) != shape:
            return f"draw {self._next + 1} has shape {tuple(result.shape)}, and the reference's has {shape}"
        return ""


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    numbers = (bool, int, float, np.generic, np.ndarray)
    pairs = list(zip(one, other, strict=True))
    return all(isinstance(each, numbers) for pair in pairs for each in pair) and all(np.array_equal(*p) for p in pairs)


def _scaling(name: str, family: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The offset and the scale of a draw; None for distributions that have neither."""
    parameters = _SCALED.get(family)
    if parameters is None:
        return None, None
    if name not in _SCALED:  # the standard distribution
        return 0.0, 1.0
    given = dict(zip(parameters, args, strict=False)) | {key: kwargs[key] for key in parameters if key in kwargs}
    if family == "uniform":
        low, high = given.get("low", 0.0), given.get("high", 1.0)
        return low, high - low
    return given.get("loc", 0.0), given.get("scale", 1.0)


def _like(values: Any, result: Any) -> Any:
    """Recorded values with the library, dtype and device of a result. Results without values are returned."""
    if isinstance(result, (bool, int, float)):
        return type(result)(values)
    if isinstance(result, (np.ndarray, np.generic)):
        return np.asarray(values).astype(result.dtype)[()] if np.ndim(values) == 0 else np.array(values, result.dtype)
    dtype = xo.backend(result).functions["dtype_name"](result.dtype)
    return xo.asarray(xo.convert(np.asarray(values, dtype=dtype), xo.backend(result), copy=True), like=result)


class _Generator:
    """A generator whose draws go through a tape."""

    def __init__(self, tape: Tape, generator: Any) -> None:
        self._tape = tape
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._generator, name)
        if name == "spawn":
            return lambda n: [_Generator(self._tape, each) for each in found(n)]
        if name.startswith("_") or name in _STATE or not callable(found):
            return found
        return _untraced(lambda *args, **kwargs: self._tape.draw(name, found, args, kwargs))


def _untraced(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that torch.compile calls without tracing it, as marked by `torch.compiler.disable`."""
    function._torchdynamo_disable = True  # type: ignore[attr-defined]
    return function


def _random_state(tape: Tape) -> type[np.random.RandomState]:
    """The class of NumPy's legacy generators, with the draws of its objects on a tape."""

    class RandomState(np.random.RandomState):
        def __init__(self, seed: Any = None) -> None:
            tape.seeded(seed)
            super().__init__(seed)

        def __getattribute__(self, name: str) -> Any:
            found = super().__getattribute__(name)
            if name.startswith("_") or name in _STATE or not callable(found):
                return found
            return lambda *args, **kwargs: tape.draw(name, found, args, kwargs)

    return RandomState


def through(tape: Tape, x: Any) -> Any:
    """A generator among the arguments, with its draws on the tape; everything else is returned."""
    return _Generator(tape, x) if isinstance(x, (*_GENERATORS, xarrayops.random.Generator)) else x


@contextmanager
def _generators_replaced(tape: Tape, namespaces: list[dict[str, Any]]) -> Iterator[None]:
    """A context in which random number modules, and names in other modules, return generators of the tape."""
    replacements: dict[int, Any] = {}

    def make(maker: Callable[..., Any]) -> Callable[..., Any]:
        def making(*args: Any, **kwargs: Any) -> Any:
            if args and isinstance(args[0], _Generator):
                return args[0]
            tape.seeded(args[0] if args else kwargs.get("seed"))
            return _Generator(tape, maker(*args, **kwargs))

        return _untraced(making)

    with ExitStack() as patches:
        for module in _MODULES:
            maker = module.default_rng
            replacements[id(maker)] = make(maker)
            patches.enter_context(mock.patch.object(module, "default_rng", replacements[id(maker)]))
        replacements[id(np.random.RandomState)] = _random_state(tape)
        patches.enter_context(mock.patch.object(np.random, "RandomState", replacements[id(np.random.RandomState)]))
        legacy = np.random.mtrand._rand
        for name in dir(legacy):
            drawn = getattr(np.random, name, None)
            if name.startswith("_") or name in _STATE or not callable(drawn) or isinstance(drawn, type):
                continue
            replacements[id(drawn)] = getattr(_Generator(tape, legacy), name)
            patches.enter_context(mock.patch.object(np.random, name, replacements[id(drawn)]))
        replacements[id(np.random.seed)] = seed = _seeding(tape, np.random.seed)
        patches.enter_context(mock.patch.object(np.random, "seed", seed))
        for namespace in namespaces:
            for name, found in list(namespace.items()):
                if id(found) in replacements:
                    _replace(patches, namespace, name, replacements[id(found)])
                elif through(tape, found) is not found:
                    _replace(patches, namespace, name, through(tape, found))
        yield


def _seeding(tape: Tape, seeds: Callable[..., Any]) -> Callable[..., Any]:
    def seed(seed: Any = None) -> None:
        tape.seeded(seed)
        seeds(seed)

    return seed


def _replace(patches: ExitStack, namespace: dict[str, Any], name: str, replacement: Any) -> None:
    """Bind a global variable until the patches end. PyTorch's compiler may add variables before that."""
    patches.callback(namespace.__setitem__, name, namespace[name])
    namespace[name] = replacement
