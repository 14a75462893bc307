"""A family has the same name on every floor and in every backend."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BACKENDS = ROOT / "backends" / "xarrayops_backends"
TABLE = "docs/architecture/index.md"


def read_table(text: str) -> dict[tuple[str, str], str]:
    """The cells of the table of families, by family and floor."""
    lines = [line for line in text.partition("| family |")[2].partition("\n\n")[0].splitlines() if line.startswith("|")]
    header = text.partition("| family |")[2].partition("\n")[0]
    floors = re.findall(r"`(.+?)`", header)
    found = {}
    for line in lines[1:]:
        family, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found |= {(family, floor): cell for floor, cell in zip(floors, cells, strict=True)}
    return found


def offenders(cells: dict[tuple[str, str], str]) -> list[str]:
    """What is wrong in the table: missing files, other names without a star, files that an empty cell leaves out."""
    found = []
    for (family, floor), cell in cells.items():
        names = re.findall(r"`(.+?)`( \\\*)?", cell)
        for name, star in names:
            if not (ROOT / floor / name).exists():
                found.append(f"{family}: {floor}{name} does not exist")
            if is_of(family, name) == bool(star):
                found.append(f"{family}: {floor}{name} has {'a' if star else 'no'} star")
        if not names:
            found += [f"{family}: {path} is missing" for path in (ROOT / floor).iterdir() if is_of(family, path.name)]
    return found


def is_of(family: str, name: str) -> bool:
    """Whether a file or folder has the name of a family."""
    return Path(name).stem.removeprefix("test_").removeprefix("_") == family


def test_a_family_has_the_same_name_on_every_floor():
    cells = read_table((ROOT / TABLE).read_text())
    families, floors = ({cell[i] for cell in cells} for i in (0, 1))
    assert len(families) >= 17
    assert len(floors) == 7
    assert not offenders(cells)
    packages = {path.stem for path in (ROOT / "xarrayops" / "_ops").iterdir() if (path / "__init__.py").exists()}
    assert packages - {"engines", "choices"} <= families  # these serve all families


@pytest.mark.parametrize("cell", ["`attention.py`", "`products.py`", "`attention.py` \\*", "", "`attention/` \\*"])
def test_the_check_of_the_table_can_fail(cell):
    floor = "xarrayops/_ops/"
    assert offenders({("attention", floor): cell})
    assert not offenders({("attention", floor): "`attention/`", ("attention", "tests/policy/"): ""})


def families(library: str) -> set[str]:
    """The names of a backend's families, such as ``_layout``, and ``linalg`` for ``_standard/linalg.py``."""
    folder = BACKENDS / library
    return {path.stem for path in (*folder.glob("_[a-z]*"), *folder.glob("_standard/[a-z]*.py"))}


def test_a_family_has_the_same_file_name_in_every_backend():
    """For example, the layout functions of every backend are in `_layout`."""
    shared = {"creation", "linalg", "_devices", "_dtypes", "_exchange", "_extra", "_indexing", "_layout", "_transfers"}
    libraries = {path.parent.name for path in BACKENDS.glob("*/__init__.py")}
    assert libraries == {"cubed", "cupy", "dask", "jax", "numpy", "torch", "torch_xla"}
    of_all = set.intersection(*map(families, libraries))
    assert of_all >= {"_devices", "_exchange", "_extra", "_layout"}
    for family in shared:
        assert sum(family in families(library) for library in libraries) >= 4, family
