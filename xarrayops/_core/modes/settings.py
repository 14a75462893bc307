"""Values that are set inside a ``with`` block, for this thread or task only.

`_carry` makes compilers retrace a function when such a value changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from threading import Lock, local
from typing import Any, Generic, TypeVar

from xarrayops._core.backends import registry
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes import tables as modes
from xarrayops.errors import BackendNotFound
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.candidates import constant_while_tracing

T = TypeVar("T")


class Setting(Generic[T]):
    """A value that `Scope` sets: the innermost open block that sets it determines it.

    Compiled code depends on the blocks in which it was traced. Each value has a key, and a function is traced again
    when the key changes. JAX compares the keys in its own context (`_carry`). torch.compile guards on an attribute of
    the thread; it can trace neither a ContextVar nor the blocks of a task.

    The open blocks of all threads are counted, so that the variables are not read while none is open.

    Parameters
    ----------
    name : str
        The public name, such as ``"xo.use"``.
    is_carried : bool
        Whether functions that JAX compiles can depend on it.
    """

    def __init__(self, name: str, *, is_carried: bool = True) -> None:
        self.name = name
        self.is_carried = is_carried
        self.of_thread = local()
        self.open_blocks = 0
        """The number of open blocks that set it, in all threads."""
        self._counting = Lock()

    def value(self, otherwise: T) -> T:
        """The value of the innermost block."""
        if not self.open_blocks:
            return otherwise
        values: tuple[T, ...] = self._values(getattr(self.of_thread, "key", ""))
        return values[-1] if values else otherwise

    def here(self, otherwise: T) -> tuple[tuple[_Block, ...], _Block, T]:
        """The blocks here, the innermost one that sets it, and its value, for code that no compiler traces.

        The value is the same while `blocks_here` returns the same object and the innermost block is open.
        """
        blocks = blocks_here()
        for block in reversed(blocks):
            if self in block.values and block.is_open:
                return blocks, block, block.values[self].value
        return blocks, _OUTSIDE, otherwise

    @constant_while_tracing
    def _values(self, key: str) -> tuple[T, ...]:
        """The value of the innermost block. In code that torch.compile traced for a key it is a constant."""
        for block in reversed(_blocks.get()):
            if block.is_open and self in block.values:
                found = block.values[self]
                if self.is_carried:
                    _require_carried(self.name, found.key)
                return (found.value,)
        return ()

    def innermost(self, blocks: tuple[_Block, ...]) -> _Value | None:
        """The value in the innermost of some blocks that sets it."""
        for block in reversed(blocks):
            if self in block.values:
                return block.values[self]
        return None

    def count(self, change: int) -> None:
        """Count the open blocks that set it."""
        with self._counting:  # `+=` alone is not atomic
            self.open_blocks += change


class _Value(Record):
    value: Any
    key: str
    """The cache key of code that was compiled for this value; empty for the value outside of all blocks."""


class _Block:
    """One ``with`` block. A task that was started inside it sees when it is closed."""

    def __init__(self, owner: Scope | None, values: dict[Setting[Any], _Value]) -> None:
        self.owner = owner
        self.values = values
        self.closing = ExitStack()
        self.is_open = True


_blocks: ContextVar[tuple[_Block, ...]] = ContextVar("xarrayops blocks", default=())
"""The blocks around this point of the program, the innermost last."""
blocks_here = _blocks.get


def keys_here() -> tuple[tuple[str, str], ...]:
    """The cache key of code that is compiled in the open blocks: the name and the key of each setting that changes it.

    While no mode is active, other settings than those that compilers carry, such as `xo.profile`, change no code.
    """
    blocks, are_modes = _open_blocks(), modes.active()
    values = (setting for block in blocks for setting in block.values)
    settings = {setting.name: setting for setting in values if setting.is_carried or are_modes}
    found = ((name, setting.innermost(blocks)) for name, setting in sorted(settings.items()))
    return tuple((name, value.key) for name, value in found if value is not None and value.key)


def _open_blocks() -> tuple[_Block, ...]:
    return tuple([block for block in _blocks.get() if block.is_open])


class Scope:
    """The base class of ``with`` statements. One object may be entered again, and in several threads."""

    _is_mode = False
    """Whether dispatch uses other tables while a block is open."""

    def __init__(self) -> None:
        self._entered: list[_Block] = []

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """Each setting with its value in the block, and its value outside of all blocks."""
        raise NotImplementedError

    def carried(self, values: Mapping[Setting[Any], Any]) -> Scope:
        """The block as other threads and processes open it, for the values that it set here."""
        return self

    def _begin(self, opened: ExitStack, values: Mapping[Setting[Any], Any]) -> None:
        """Change what dispatch does while a block is open, for the values that it sets."""
        if self._is_mode:
            modes.begin()
            opened.callback(modes.end)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_entered": []}

    def __enter__(self) -> None:
        settings = self.settings()
        values = {each: _Value(value, "" if value == default else repr(value)) for each, value, default in settings}
        block = _Block(self, values)
        with block.closing as opened:
            for setting, (_, key) in values.items():
                if setting.is_carried:
                    opened.enter_context(_carry(setting.name, key))
                setting.count(1)
                opened.callback(setting.count, -1)
            self._begin(opened, {setting: value for setting, (value, _) in values.items()})
            block.closing = opened.pop_all()
        self._entered.append(block)
        _show((*_open_blocks(), block))

    def __exit__(self, *exception: object) -> None:
        here = [block for block in _open_blocks() if block.owner is self]
        block = (here or self._entered)[-1]  # a generator may be closed in another thread or task
        self._entered.remove(block)
        block.is_open = False
        _show(_open_blocks())
        block.closing.close()
        block.owner = None  # what keeps the closed block does not keep its owner


_OUTSIDE = _Block(None, {})
"""Stands for the block that sets a value where none does."""


def carried_blocks() -> tuple[Scope, ...]:
    """The blocks around this point of the program, the innermost last, as other threads and processes open them."""
    return tuple(
        owner.carried({setting: found.value for setting, found in block.values.items()})
        for block in _open_blocks()
        if (owner := block.owner) is not None
    )


def compiling_libraries() -> tuple[str, ...]:
    """The loaded libraries that compile functions for a mode if they are loaded before its block opens."""
    return tuple(backend.name for backend in _carriers)


@contextmanager
def within(scopes: Iterable[Scope], libraries: Iterable[str]) -> Iterator[None]:
    """Load these libraries, if they are installed, and open the blocks, except those that would change nothing here."""
    for name in libraries:
        with suppress(BackendNotFound):
            registry.load_named(name)
    with ExitStack() as opened:
        for scope in scopes:
            if any(setting.value(default) != value for setting, value, default in scope.settings()):
                opened.enter_context(scope)
        yield


def _show(blocks: tuple[_Block, ...]) -> None:
    """Make these the blocks of this thread or task."""
    for setting in {setting for block in (*_blocks.get(), *blocks) for setting in block.values}:
        found = setting.innermost(blocks)
        setting.of_thread.key = "" if found is None else found.key
    _blocks.set(blocks)


_carriers: list[Backend] = []
"""The loaded backends that define `carry_mode`."""


def _remember(backend: Backend) -> None:
    if backend.own_hook("carry_mode") is not None:
        _carriers.append(backend)


registry.on_load.append(_remember)


def _carry(name: str, key: str) -> ExitStack:
    """Open the contexts in which the imported libraries compile functions for a mode with this key.

    ``name`` is the kind of mode, such as ``"xo.use"``.
    """
    registry.load_imported()
    with ExitStack() as contexts:
        for backend in _carriers:
            contexts.enter_context(backend.functions["carry_mode"](name, key))
        return contexts.pop_all()


def _require_carried(name: str, key: str) -> None:
    """Raise if a library is compiling a function for another mode: the mode would become part of its code."""
    for backend in _carriers:
        if not backend.functions["carries_mode"](name, key):
            raise RuntimeError(
                f"{name} would become a constant of a function that {backend.name} compiles now, because the block was "
                f"opened before {backend.name} was imported, or in another task. Instead: import {backend.name} before "
                f"the block, or open the block inside the function."
            )
