"""Where an array may come from, and the state of the variables at a point of a function."""

from __future__ import annotations

import ast

from xarrayops.plugin.arrays import Record


class Label(Record):
    """An origin: "new", "old" (made in an earlier round of a loop), "parameter", "container" or "outside"."""

    kind: str
    what: object = None


Origins = frozenset[Label]
NONE: Origins = frozenset()
OUTSIDE = Label("outside")
CONTAINER = Label("container")


def parameters_in(origins: Origins) -> set[str]:
    """The parameters in a set of origins."""
    return {str(label.what) for label in origins if label.kind == "parameter"}


class State:
    """The possible origins of the variables at one point of a function."""

    def __init__(self) -> None:
        self.origins: dict[str, Origins] = {}
        self.stale: dict[str, frozenset[ast.AST]] = {}
        """For each variable, the writes that it would miss if they made a new array."""
        self.shared: dict[Label, str] = {}
        """The origins that something else may refer to, with what refers to them."""

    def copy(self) -> State:
        """A copy of the state."""
        other = State()
        other.origins, other.stale, other.shared = dict(self.origins), dict(self.stale), dict(self.shared)
        return other

    def joined(self, other: State) -> State:
        """The union of two states."""
        both = self.copy()
        for name, origins in other.origins.items():
            both.origins[name] = both.origins.get(name, NONE) | origins
        for name, writes in other.stale.items():
            both.stale[name] = both.stale.get(name, frozenset()) | writes
        both.shared = {**other.shared, **self.shared}
        return both

    def same(self, other: State) -> bool:
        """Whether two states are equal."""
        return self.origins == other.origins and self.stale == other.stale and self.shared.keys() == other.shared.keys()

    def age(self, made: Label) -> None:
        """A node makes another array: its previous array is no longer "new"."""
        old = Label("old", made.what)
        for name, origins in self.origins.items():
            if made in origins:
                self.origins[name] = (origins - {made}) | {old}
        if made in self.shared:
            self.shared[old] = self.shared.pop(made)
