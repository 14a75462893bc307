"""The variables at a place of a function: their values, and which of them share memory."""

from __future__ import annotations

from xarrayops.port.source.value import NOTHING, SCALAR, Value, joined


class State:
    """The values of variables by name; attributes such as ``self.x`` are variables, too."""

    def __init__(self, outer: State | None = None) -> None:
        self.values: dict[str, Value] = {}
        self.stored: set[str] = set()
        """The variables whose memory something else may refer to: a container, a generator, another function."""
        self.outer = outer

    def copy(self) -> State:
        """The same variables, to be changed separately."""
        other = State(self.outer)
        other.values, other.stored = dict(self.values), set(self.stored)
        return other

    def knows(self, name: str) -> bool:
        """Whether the variable was bound here."""
        return name in self.values

    def load(self, name: str) -> Value:
        """The value of a variable."""
        value = self.values.get(name)
        if value is None:
            value = NOTHING if self.outer is None else self.outer.load(name)
        return value if value.kind == SCALAR else value._replace(views=value.views | {name}, fresh=False)

    def bind(self, name: str, value: Value) -> None:
        """Assign to a variable. Other variables keep the memory of its previous value."""
        holders = {other for other, known in self.values.items() if name in known.views and other != name}
        for other in holders:
            known = self.values[other]
            self.values[other] = known._replace(views=known.views - {name} | (holders - {other}))
        self.values[name] = value._replace(views=self._replaced(value.views, name, holders))
        self.stored.discard(name)

    def _replaced(self, views: frozenset[str], name: str, holders: set[str]) -> frozenset[str]:
        """The views of a new value without the name itself; what shared its previous memory stands for it."""
        if name not in views:
            return views
        previous = self.values[name].views if name in self.values else frozenset()
        return (views - {name} | previous - {name} | holders) - {name}

    def store(self, names: frozenset[str]) -> None:
        """Note that something else refers to the memory of these variables."""
        self.stored |= names

    def aliases(self, name: str) -> frozenset[str]:
        """The other variables that may share memory with one."""
        found = {name}
        while True:
            more = {other for other in found if other in self.values for other in self.values[other].views}
            more |= {other for other, value in self.values.items() if value.views & found}
            if more <= found:
                return frozenset(found - {name})
            found |= more

    def join(self, other: State) -> None:
        """Make this what is known after one of two branches."""
        for name, value in other.values.items():
            self.values[name] = (
                joined(self.values.get(name), value) if name in self.values else value._replace(fresh=False)
            )
        self.stored |= other.stored
