"""The modules of a program: where a file is, which names are of the same program, and which files use NumPy itself."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from xarrayops.plugin.arrays import Record
from xarrayops.port.basics import PortError
from xarrayops.port.source.files import read
from xarrayops.port.source.names import Names, is_foreign

_MOST_STEPS = 5
"""How many modules may pass a name on by their imports."""


class ModulePlace(Record):
    """Where a file is: the name of its package (empty without one), and the folder from which it is imported."""

    package: str
    folder: Path

    @classmethod
    def of(cls, path: Path) -> ModulePlace:
        """The place of a file. The folders around it that have an ``__init__.py`` are its package."""
        folder = path.resolve().parent
        names: list[str] = []
        while (folder / "__init__.py").is_file():
            names.insert(0, folder.name)
            folder = folder.parent
        return cls(".".join(names), folder)

    def qualified(self, name: str) -> str:
        """The full name of a module in the folder of the file."""
        return f"{self.package}.{name}" if self.package else name

    def has(self, name: str) -> bool:
        """Whether a module is part of the program: of the file's package or, without a package, of its folder."""
        if name.startswith("."):
            return True
        first = name.partition(".")[0]
        if self.package:
            return first == self.package.partition(".")[0]
        is_beside = (self.folder / f"{first}.py").is_file() or (self.folder / first / "__init__.py").is_file()
        return is_beside and self.folder.name not in ("site-packages", "dist-packages") and is_foreign(first)

    def is_from_here(self, name: str) -> bool:
        """Whether a module that is loaded comes from the folder."""
        file = getattr(sys.modules[name], "__file__", None)
        return file is not None and Path(file).resolve().is_relative_to(self.folder)

    def file_of(self, name: str, steps: int = _MOST_STEPS) -> Path | None:
        """The file that defines a dotted name of the program, through packages that import it; None if not found."""
        plain = name.lstrip(".")
        folder = self.folder
        if plain != name:
            own = self.package.split(".") if self.package else []
            folder = folder.joinpath(*own[: len(own) - (len(name) - len(plain) - 1)])
        for part in plain.split("."):
            if (folder / f"{part}.py").is_file():
                return folder / f"{part}.py"
            if not (folder / part / "__init__.py").is_file():
                return _passed_on(folder / "__init__.py", part, steps)
            folder /= part
        return None


def _passed_on(file: Path, name: str, steps: int) -> Path | None:
    """The file that defines a name of a package, which may import it from another module."""
    names = _names_of(file)
    bindings = names.module.bindings.get(name, []) if names is not None else []
    sources = [each.imported for each in bindings if each.imported is not None]
    place = ModulePlace.of(file)
    if steps and sources and place.has(sources[0]):
        return place.file_of(sources[0], steps - 1)
    for module, _ in names.stars if steps and names is not None and not bindings else ():
        found = place.file_of(f"{module}.{name}", steps - 1) if place.has(module) else None
        known = None if found is None else _names_of(found)
        if known is not None and name in known.module.bindings:
            return found
    return file if bindings else None


@cache
def _names_of(file: Path) -> Names | None:
    """The names of a file; None if it cannot be read."""
    try:
        return Names(read(file).tree)
    except PortError:
        return None


def uses_numpy_itself(file: Path) -> bool:
    """Whether a file imports NumPy and is not ported."""
    names = _names_of(file)
    return names is not None and "numpy" in names.packages and "xarrayops" not in names.packages
